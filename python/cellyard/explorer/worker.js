// One variant's engine: runs the newest request, keeps what was recorded, and hands out what the page shows of it.
//
// In: {module} once, then {seq, request, watch, view} to run, {seq, view} to look at what was run, {seq, inspect} for
// single points. Out: {seq, ...picture}, with `read` and `result` after a run; {seq, squares} or {seq, errors}; with
// `broken` the worker is of no more use.
import { Column, after, envelope } from './bins.js';
import { Engine, Refused, dropAt } from './engine.js';
import { portOf, probesOf, sampling } from './scenario.js';

/** Seconds simulated in one step, and milliseconds after which a newer request is looked for. */
const STEP = 0.05;
const PATIENCE = 40;

/** Drops that are handed out one by one; more are counted by pixel. */
const MOST_DROPS = 2000;

let loaded;
let engine;
let kept = null;
let newest = 0;

self.onmessage = async ({ data }) => {
  if (data.module) {
    loaded = Engine.load(data.module);
    return;
  }
  if (data.request) newest = data.seq;
  try {
    engine ??= await loaded;
    if (data.request) await run(data);
    else if (data.inspect) self.postMessage({ seq: data.seq, squares: inside(data.inspect) });
    else self.postMessage(kept ? { seq: data.seq, ...picture(data.view) } : { seq: data.seq, errors: [] });
  } catch (error) {
    const broken = !(error instanceof Refused);
    self.postMessage({ seq: data.seq, errors: broken ? [String(error.message)] : error.problems, broken });
  }
};

async function run({ seq, request, watch, view }) {
  const began = performance.now();
  // What the file records is not shown here, and may not fit what is set.
  request.overrides.push(['probe', '[]']);
  const read = engine.ask('read_scenario', request);
  const port = portOf(read.description, watch.port);
  const every = sampling(read.description);
  engine.ask('open', { ...request, probes: probesOf(read.scenario, port, watch.vc, every) });
  const found = { series: new Map(), drops: null, points: 0, end: 0 };
  let looked = performance.now();
  for (let until = STEP, ended = false; !ended; until += STEP) {
    const step = engine.advance(until);
    ended = step.ended;
    found.end = step.end;
    step.series.forEach((one) => keep(found, one, one.time, one.value));
    keepDrops(found, step.drops);
    if (performance.now() - looked > PATIENCE) {
      await new Promise((resume) => setTimeout(resume));
      if (newest !== seq) return;
      looked = performance.now();
    }
  }
  const result = JSON.parse(engine.text('finish'));
  result.series.forEach((one) => keep(found, one, one.time_s, one.value));
  kept = found;
  const { totals, vcs, ports } = result;
  self.postMessage({
    seq,
    ...picture(view),
    read: { ...read, port, every },
    result: { totals, vcs, ports },
    engine_ms: performance.now() - began,
    points: found.points,
  });
}

function keep(found, { what, of, vc, unit }, time, value) {
  const name = `${what} ${of} ${vc ?? ''}`;
  if (!found.series.has(name)) {
    found.series.set(name, { what, of, vc, unit, time: new Column(), value: new Column() });
  }
  const series = found.series.get(name);
  series.time.add(time);
  series.value.add(value);
  found.points += time.length;
}

function keepDrops(found, { columns, names, data }) {
  found.drops ??= { columns, data: columns.map(() => new Column()) };
  found.drops.names = names;
  data.forEach((piece, place) => found.drops.data[place].add(piece));
}

/** What lies in a view: bins of each series, and drops by pixel and reason, or one by one where they are few. */
function picture({ from, to, n }) {
  const end = Math.min(to ?? kept.end, kept.end);
  const begin = Math.max(0, Math.min(from ?? 0, end));
  const series = [...kept.series.values()].map(({ what, of, vc, unit, time, value }) => {
    return { what, of, vc, unit, ...envelope(time.all, value.all, begin, end, n) };
  });
  return { view: { from: begin, to: end, n }, end: kept.end, series, ...drops(begin, end, n) };
}

/** Drops in [from, to): counts by port, reason and pixel, and the drops themselves where they are few. */
function drops(from, to, n) {
  const { columns, names, data } = kept.drops;
  const column = (name) => data[columns.indexOf(name)].all;
  const [time, port, reason] = ['time_s', 'port', 'reason'].map(column);
  const first = from > 0 ? after(time, from) : 0;
  const last = after(time, to);
  const counts = {};
  const count = (place, why, when, cells) => {
    const bins = ((counts[place] ??= {})[why] ??= new Uint32Array(n));
    bins[Math.min(n - 1, Math.floor(((when - from) / (to - from)) * n))] += cells;
  };
  for (let i = first; i < last; i++) count(names[port[i]], names[reason[i]], time[i], 1);
  for (const one of kept.series.values()) {
    if (one.what !== 'drops') continue;
    for (let i = after(one.time.all, from), end = after(one.time.all, to); i < end; i++) {
      if (one.value.all[i]) count(one.of, 'any', one.time.all[i], one.value.all[i]);
    }
  }
  const few = last - first <= MOST_DROPS;
  const all = data.map((one) => one.all);
  return { counts, drops: few ? Array.from({ length: last - first }, (_, i) => dropAt(kept.drops, all, first + i)) : null };
}

/** The points of each queue by VC at a port, from the beginning of the run up to `to`. */
function inside({ of, to }) {
  const series = [...kept.series.values()].filter((one) => one.what === 'queue' && one.of === of && one.vc);
  return series.map(({ vc, time, value }) => {
    const last = after(time.all, to);
    return { vc, time: time.all.slice(0, last), value: value.all.slice(0, last) };
  });
}
