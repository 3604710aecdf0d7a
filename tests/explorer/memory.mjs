// Usage: node memory.mjs ENGINE.wasm <TEXTS; a JSON object of scenarios in, for each the megabytes of a fresh engine that has read
// and opened it, and the first error.
import { readFileSync } from 'node:fs';
import { Engine } from '../../python/cellyard/explorer/engine.js';

const module = await WebAssembly.compile(readFileSync(process.argv[2]));
const found = {};
for (const [name, toml] of Object.entries(JSON.parse(readFileSync(0, 'utf8')))) {
  const engine = await Engine.load(module);
  const errors = ['read_scenario', 'open'].flatMap((call) => JSON.parse(engine.text(call, { toml, overrides: [] })).errors ?? []);
  found[name] = [engine.wasm.memory.buffer.byteLength / 1e6, errors[0] ?? ''];
}
console.log(JSON.stringify(found));
