// One variant's engine: runs the newest request, keeps what was recorded, and hands out what the page shows of it.
//
// In: {module} once, then {seq, request, watch, view} to run, {seq, view} to look at what was run, {seq, inspect} for
// single points, {question, number} about instants, {capture} for a file, {draw} for the result of a replication. Out:
// {seq, ...picture}, with `read` and `result` after a run; {seq, squares}, {number, answer}, {file}, {drawn}, {seq, errors},
// or {seq} if there is nothing to look at; with `broken` the worker is of no more use. A run that is too long for every
// change to be recorded is answered twice: with samples, which are soon there, and with envelopes, which have every spike.
import { Column, after, busiest, rebinned, envelope } from './bins.js';
import { Engine, Refused, dropAt } from './engine.js';
import { notesOf } from './notes.js';
import { durations } from './pooled.js';
import { captureOf, coarseness, portOf, probesOf } from './scenario.js';

/** Seconds simulated in one step, and milliseconds after which a newer request is looked for. */
const STEP = 0.05;
const PATIENCE = 40;

/** Drops that are handed out one by one; more are counted by pixel. */
const MOST_DROPS = 2000;

let loaded;
let engine;
let kept = null;
let newest = 0;
let looking = null;

self.onmessage = async ({ data }) => {
  if (data.module) {
    loaded = Engine.load(data.module);
    return;
  }
  if (data.request) newest = data.seq;
  if (data.view) looking = data;
  try {
    engine ??= await loaded;
    if (data.request) await run(data);
    else if (data.capture) self.postMessage({ file: captured(data.capture) });
    else if (data.draw) self.postMessage({ drawn: drawn(data.draw) });
    else if (data.question) self.postMessage({ number: data.number, answer: kept && answerTo(data.question) });
    else if (data.inspect) self.postMessage({ seq: data.seq, squares: inside(data.inspect) });
    else self.postMessage({ seq: data.seq, ...(kept && picture(data.view)) });
  } catch (error) {
    const broken = !(error instanceof Refused);
    self.postMessage({ seq: data.seq, errors: broken ? [String(error.message)] : error.problems, broken });
  }
};

async function run({ seq, request, watch }) {
  const began = performance.now();
  // What the file records is not shown here, and may not fit what is set.
  request.overrides.push(['probe', '[]']);
  const read = engine.ask('read_scenario', request);
  const port = portOf(read.description, watch.port);
  const every = coarseness(read.description);
  for (const how of every === null ? ['change'] : ['interval', 'envelope']) {
    const interval = every === null ? null : Math.ceil(every * read.format.ticks_per_second);
    const probes = probesOf(read, port, watch.vc, interval, how);
    engine.ask('open', { ...request, probes });
    const found = await recorded(seq);
    if (!found) return;
    const { totals, vcs, ports, pools } = found.result;
    const stated = 'tie_order' in read.tree || request.overrides.some(([path]) => path === 'tie_order');
    kept = found;
    self.postMessage({
      seq: looking.seq,
      ...picture(looking.view),
      read: { ...read, port, every, how },
      result: { totals, vcs, ports, pools },
      notes: [...read.description.notes, ...notesOf(found.result, stated)],
      engine_ms: performance.now() - began,
      points: found.points,
    });
  }
}

/** A pcapng file of the cells that a port sends and drops in [from, to), in parts. */
function captured({ request, port, from, to }) {
  request.overrides.push(['probe', '[]']);
  const { format } = engine.ask('read_scenario', request);
  engine.ask('open', { ...request, probes: [captureOf(port, from, to, format.ticks_per_second)] });
  const parts = [];
  for (let until = Math.min(STEP, to), ended = false; !ended; until = Math.min(until + STEP, to)) {
    ended = engine.advance(until).ended || until >= to;
    parts.push(engine.capture());
  }
  return parts;
}

/** The numbers of a replication, of its files, and of one of its ports. */
function drawn({ request, replication, port }) {
  engine.ask('open', { ...request, overrides: [...request.overrides, ['probe', '[]']], probes: [], replication });
  engine.advance(Number.MAX_SAFE_INTEGER);
  const { totals, ports, vcs } = JSON.parse(engine.text('finish'));
  return { totals, files: durations({ vcs }), port: ports.find((one) => one.name === port) ?? { dropped_cells: {} } };
}

/** The instant of the next or the previous drop at a port, or the window of the largest burst in a window; null without one. */
function answerTo({ what, port, time, from, to }) {
  return what === 'burst' ? burst(port, from, to) : nearestDrop(port, time, what === 'next');
}

function nearestDrop(port, time, forward) {
  const found = [];
  const seek = (times, isOne) => {
    const step = forward ? 1 : -1;
    let i = after(times, time) - (forward ? 0 : 1);
    if (!forward) while (i >= 0 && times[i] >= time) i--;
    while (i >= 0 && i < times.length && !isOne(i)) i += step;
    if (i >= 0 && i < times.length) found.push(times[i]);
  };
  const { columns, names, data } = kept.drops;
  const column = (name) => data[columns.indexOf(name)].all;
  const ports = column('port');
  seek(column('time_s'), (i) => names[ports[i]] === port);
  for (const { what, of, parts } of kept.series.values()) {
    if (what === 'drops' && of === port) seek(parts.value.time.all, (i) => parts.value.value.all[i] > 0);
  }
  if (!found.length) return null;
  return forward ? Math.min(...found) : Math.max(...found);
}

/** Looks closer until the largest burst takes most of the window. */
function burst(port, from, to) {
  const queue = [...kept.series.values()].find((one) => one.what === 'queue' && one.of === port && !one.vc);
  let window = [from, to];
  for (let round = 0; queue && round < 8; round++) {
    const n = 500;
    const { hi, mean } = bins(queue.parts, ...window, n);
    const found = busiest(hi, mean);
    if (!found) return round ? window : null;
    const wide = (window[1] - window[0]) / n;
    const [begin, end] = [found[0] - 0.03 * n, found[1] + 1 + 0.03 * n].map((bin) => window[0] + bin * wide);
    const next = [Math.max(window[0], begin), Math.min(window[1], end)];
    const enough = next[1] - next[0] > 0.7 * (window[1] - window[0]);
    window = next;
    if (enough) return window;
  }
  return queue ? window : null;
}

/** What the open run records until its end, with its result; nothing when a newer run is asked for meanwhile. */
async function recorded(seq) {
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
      if (newest !== seq) return null;
      looked = performance.now();
    }
  }
  found.result = JSON.parse(engine.text('finish'));
  found.result.series.forEach((one) => keep(found, one, one.time_s, one.value));
  return found;
}

/** Keeps points of a series: its values, or those of an envelope by their statistic. */
function keep(found, { what, of, vc, class: service, unit, statistic }, time, value) {
  const name = `${what} ${of} ${vc ?? ''} ${service ?? ''}`;
  if (!found.series.has(name)) found.series.set(name, { what, of, vc, unit, parts: {} });
  const part = (found.series.get(name).parts[statistic ?? 'value'] ??= { time: new Column(), value: new Column() });
  part.time.add(time);
  part.value.add(value);
  found.points += time.length;
}

function keepDrops(found, { columns, names, data }) {
  found.drops ??= { columns, data: columns.map(() => new Column()) };
  found.drops.names = names;
  data.forEach((piece, place) => found.drops.data[place].add(piece));
}

/** What lies in a view: bins of each series, and drops by pixel and reason, or one by one if they are few. */
function picture({ from, to, n }) {
  const end = Math.min(to ?? kept.end, kept.end);
  const begin = Math.max(0, Math.min(from ?? 0, end));
  const series = [...kept.series.values()].map(({ what, of, vc, unit, parts }) => {
    return { what, of, vc, unit, ...bins(parts, begin, end, n) };
  });
  return { view: { from: begin, to: end, n }, end: kept.end, series, ...drops(begin, end, n) };
}

/** A series in `n` bins of [from, to). */
function bins({ value, min, mean, max }, from, to, n) {
  if (value) return envelope(value.time.all, value.value.all, from, to, n);
  const parts = { time: mean.time.all, least: min.value.all, mean: mean.value.all, greatest: max.value.all };
  return rebinned(parts, from, to, n);
}

/** Drops in [from, to): counts by port, reason and pixel, and the drops themselves if they are few. */
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
    const { time, value } = one.parts.value;
    for (let i = after(time.all, from), end = after(time.all, to); i < end; i++) {
      if (value.all[i]) count(one.of, 'any', time.all[i], value.all[i]);
    }
  }
  const few = last - first <= MOST_DROPS;
  const all = data.map((one) => one.all);
  return { counts, drops: few ? Array.from({ length: last - first }, (_, i) => dropAt(kept.drops, all, first + i)) : null };
}

/** The points of each queue by VC at a port, from the beginning of the run up to `to`. */
function inside({ of, to }) {
  const series = [...kept.series.values()].filter((one) => one.what === 'queue' && one.of === of && one.vc);
  return series.map(({ vc, parts }) => {
    const { time, value } = parts.value;
    const last = after(time.all, to);
    return { vc, time: time.all.slice(0, last), value: value.all.slice(0, last) };
  });
}
