// Prints the explorer's notes on results. Usage: node notes.mjs <RESULTS; a JSON list of results in, a JSON list of lists out.
import { readFileSync } from 'node:fs';
import { notesOf } from '../../python/cellyard/explorer/notes.js';

console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map((result) => notesOf(result, false))));
