// Runs scenarios with the engine in WebAssembly. Usage: node run.mjs ENGINE.wasm <REQUESTS; a JSON list of requests in,
// for each a line of JSON out: the text of its result, the points of each series and the traced drops, or errors.
import { readFileSync } from 'node:fs';
import { Engine, Refused, dropAt } from '../../python/cellyard/explorer/engine.js';

const engine = await Engine.load(readFileSync(process.argv[2]));
for (const request of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    console.log(JSON.stringify(run(request)));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.log(JSON.stringify({ errors: error.problems }));
  }
}

function run(request) {
  engine.ask('open', request);
  const series = {};
  const drops = [];
  const add = (what, of, vc, time, value) => {
    const whole = (series[`${what} ${of} ${vc ?? ''}`] ??= { time: [], value: [] });
    whole.time.push(...time);
    whole.value.push(...value);
  };
  for (let until = 0.05, ended = false; !ended; until += 0.05) {
    const step = engine.advance(until);
    ended = step.ended;
    for (let i = 0; i < step.drops.n; i++) drops.push(dropAt(step.drops, step.drops.data, i));
    step.series.forEach(({ what, of, vc, time, value }) => add(what, of, vc, time, value));
  }
  const result = engine.text('finish');
  // What was not settled before the end comes with the result.
  const rest = JSON.parse(result);
  drops.push(...rest.trace);
  rest.series.forEach(({ what, of, vc, time_s, value }) => add(what, of, vc, time_s, value));
  return { result, series, drops };
}
