// Prints pooled quantiles. Usage: node pooled.mjs <CASES; a JSON list of {runs, share} in, with results of runs, a JSON list out.
import { readFileSync } from 'node:fs';
import { durations, quantile } from '../../python/cellyard/explorer/pooled.js';

const cases = JSON.parse(readFileSync(0, 'utf8'));
const unbounded = (_, value) => (value === Infinity ? 'inf' : value);
console.log(JSON.stringify(cases.map(({ runs, share }) => quantile(runs.map(durations), share)), unbounded));
