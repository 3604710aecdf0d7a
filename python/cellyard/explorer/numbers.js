// The numbers of both variants side by side.
import { short } from './charts.js';
import { drawn, element } from './dom.js';
import { rangeOf } from './draws.js';
import { FEWEST, quantile } from './pooled.js';
import { withNoun } from './scenario.js';

const plain = (value) => (value === null || value === undefined ? '' : Math.abs(value) < 1e4 ? short(value) : value.toFixed(0));
const percent = (value) => (value === null ? '' : `${fixed(100 * value, 1)} %`);
/** A difference of percentages. */
const points = (value) => percent(value).replace('%', 'points');
const index = (value) => (value === null ? '' : fixed(value, 3));

/** A number with so many decimals, and no minus sign before zero. */
function fixed(value, decimals) {
  return (Math.round(value * 10 ** decimals) / 10 ** decimals + 0).toFixed(decimals);
}

/** A time with its unit. */
export function duration(value) {
  if (value === null || value === undefined) return '';
  return Math.abs(value) >= 1 ? `${short(value)} s` : `${short(1e3 * value)} ms`;
}

/** Rows of the table on all VCs: what it is, its value of a side, how it is written. */
const TOTALS = [
  ['efficiency', ({ totals }) => totals.efficiency, percent],
  ['fairness (Jain)', ({ totals }) => totals.fairness, index],
  ['goodput, Mb/s', ({ totals }) => totals.goodput_mbps, plain],
  ['frames lost', ({ totals }) => totals.frame_loss_ratio, percent],
  ['mean cell delay', ({ totals }) => totals.mean_cell_transfer_delay_s, duration],
  ['99th percentile of cell delay', ({ totals }) => totals.p99_cell_transfer_delay_s, duration],
  ['timeouts', ({ totals }) => totals.timeouts, plain],
  ['retransmitted segments', ({ totals }) => totals.retransmitted_segments, plain],
];

/** Rows on the watched port. */
const PORT = [
  ['link utilisation', ({ port }) => port.utilisation, percent],
  ['longest queue, cells', ({ port }) => port.max_queue_cells, plain],
  ['longest queue, bytes', ({ port }) => port.max_queue_bytes, plain],
  ['longest queue, memory cells', ({ port }) => port.max_queue_places, plain],
  ['mean queue, cells', ({ port }) => port.mean_queue_cells, plain],
  ['refusals', ({ port }) => port.refusals, plain],
  ['refusals at contested ties', ({ port }) => port.tied_refusals, plain],
];

/** A time between two bounds, which may be equal. */
function between([least, most]) {
  if (most === Infinity) return `> ${duration(least)}`;
  return least === most ? duration(least) : span(duration(least), duration(most));
}

/** Two values with one unit, if they have the same. */
function span(low, high) {
  const unit = /(?<=\d)[^\d]+$/.exec(high)?.[0] ?? '';
  return `${low.endsWith(unit) ? low.slice(0, low.length - unit.length) : low} to ${high}`;
}

/** A quantile of the completion times of all draws with its interval: `texts`, and a `range` if both ends are known. */
function pooledTime(draws, share) {
  const found = quantile(
    draws.map(({ files }) => files),
    share,
  );
  if (!found) return { texts: [] };
  const text = `all draws: ${between(found.value)}`;
  if (share === 1) return { texts: [text] };
  if (!found.low) return { texts: [text, `interval from ${FEWEST} draws on`] };
  const range = [found.low[0], found.high?.[1] ?? Infinity];
  return { texts: [text, between(range)], range: range[1] < Infinity ? range : null };
}

/** How many files of all draws have finished, or have not. */
function pooledCount(draws, haveFinished) {
  const files = draws.flatMap((one) => one.files);
  return { texts: [`all draws: ${files.filter(([, most]) => most < Infinity === haveFinished).length}`] };
}

/** Rows of scenarios that send files, last what is said of all draws. What unfinished files leave open is a bound. */
const FILES = [
  ['files finished', ({ totals }) => totals.finished_transfers, plain, null, (draws) => pooledCount(draws, true)],
  ['files unfinished', ({ totals }) => totals.unfinished_transfers, plain, null, (draws) => pooledCount(draws, false)],
  ['goodput while a file is under way, Mb/s', ({ totals }) => totals.busy_goodput_mbps, plain],
  ...[
    ['median completion time', 'p50', 0.5],
    ['95th percentile of completion times', 'p95', 0.95],
    ['99th percentile of completion times', 'p99', 0.99],
    ['longest completion time', 'max', 1],
  ].map(([name, field, share]) => [
    name,
    ({ totals }) => totals[`${field}_transfer_s`],
    duration,
    ({ totals }) => totals[`${field}_transfer_s_above`],
    (draws) => pooledTime(draws, share),
  ]),
];

/** The table of all sides that have run, with the difference B minus A; `draws` are results of replications by side. */
export function compared(sides, draws, ports) {
  const known = sides.filter((side) => side.result);
  if (!known.length) return document.createDocumentFragment();
  const formats = known.map((side) => side.read.format);
  const results = known.map((side) => ({ ...side.result, port: side.port }));
  const reasons = Object.keys(results[0].port.dropped_cells).filter((r) => results.some((one) => one.port.dropped_cells[r]));
  const sends = results.some(({ totals }) => totals.finished_transfers || totals.unfinished_transfers);
  const dropped = reasons.map((reason) => [`cells dropped: ${reason}`, ({ port }) => port.dropped_cells[reason], plain]);
  const both = known.length === 2 && known.every((side) => !side.old);
  const count = draws?.[0].length;
  const head = ['number', ...known.map((side) => side.name), ...(known.length === 2 ? ['B - A'] : []), ...(draws ? [`${count} draws`] : [])];
  const row = ([name, value, text, above, pool]) => {
    const of = (one) => value(one) ?? null;
    const values = results.map(of);
    if (values.every((found, place) => found === null && !above?.(results[place]))) return [];
    const pooled = draws && pool && draws.map(pool);
    const cells = values.map((found, place) => {
      const bound = found === null && above?.(results[place]);
      const shown = bound ? `> ${text(bound)}` : text(found);
      return pooled ? noted(shown, ...pooled[place].texts) : ranged(shown, text, draws?.[place]?.map(of));
    });
    if (known.length === 2) {
      const apart = (a, b) => (a === null || b === null ? null : b - a);
      const pairs = both && draws?.length === 2 && !pooled ? draws[0].map((one, k) => apart(of(one), of(draws[1][k]))) : undefined;
      const written = text === percent ? points : text;
      cells.push(both ? ranged(written(apart(...values)), written, pairs) : '');
    }
    const ranges = pooled ? pooled.map(({ range }) => range ?? null) : draws?.map((results) => rangeOf(results.map(of)));
    if (ranges) cells.push(picture(ranges, values));
    return [[withNoun(name, formats), ...cells]];
  };
  const groups = [
    ['All VCs', [...(sends ? FILES : []), ...TOTALS].flatMap(row)],
    [`Port ${ports}`, [...PORT, ...dropped].flatMap(row)],
  ];
  const told = ['One run is one draw: other random draws may give other numbers.'];
  if (draws) {
    const cut = count > 10 ? ' without the lowest and the highest' : '';
    told.push(` The smaller numbers are the range of ${count} draws${cut}; for B - A, of draws in pairs.`);
    if (sends) told.push(' "All draws" takes the files of all draws together; below it are 95 % intervals.');
    told.push(element('span', { class: 'bars' }, ' Bars show the same, and dots the run shown.'));
    const jitter = Math.max(...known.map(({ read }) => read.scenario.ensemble.start_jitter / read.format.ticks_per_second));
    if (jitter) told.push(` Draws delay each start at random, by up to ${duration(jitter)} (ensemble.start_jitter); the run shown does not.`);
  }
  return table(head, groups, element('span', {}, ...told));
}

/** Ranges of the draws of each variant on one scale, A above B, and the run shown as a point; nothing if they are not known. */
function picture(ranges, values) {
  const [width, row] = [150, 13];
  const all = [...ranges.flat(), ...values].filter((value) => value !== null);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (ranges.includes(null) || !(high > low)) return '';
  const x = (value) => 16 + ((value - low) / (high - low)) * (width - 22);
  const parts = ranges.flatMap(([least, most], side) => {
    const y = row * (side + 0.5) + 2;
    const name = drawn('text', { x: 0, y: y + 4 }, 'AB'[side]);
    const line = drawn('line', { x1: x(least), x2: x(most), y1: y, y2: y });
    return values[side] === null ? [name, line] : [name, line, drawn('circle', { cx: x(values[side]), cy: y, r: 3.5 })];
  });
  return drawn('svg', { class: 'ranges', width, height: row * ranges.length + 4, 'aria-hidden': 'true' }, ...parts);
}

/** A value, with the range of its draws below it. */
function ranged(shown, text, values) {
  const range = values && rangeOf(values);
  if (!range) return shown;
  return noted(shown, span(...range.map(text)));
}

/** A value, with smaller texts below it. */
function noted(shown, ...texts) {
  return element('span', {}, shown, ...texts.map((text) => element('small', {}, text)));
}

/** A table of named groups of rows; the first cell of each row is its head. */
export function table(head, groups, caption) {
  const rows = ([name, ...cells]) =>
    element('tr', {}, element('th', { scope: 'row' }, name), ...cells.map((cell) => element('td', { class: cell.localName === 'svg' && 'bars' }, cell)));
  const bodies = groups
    .filter(([, body]) => body.length)
    .map(([name, body]) => {
      const title = element('tr', {}, element('th', { scope: 'rowgroup', colspan: head.length }, name));
      return element('tbody', {}, ...(name ? [title] : []), ...body.map(rows));
    });
  const heads = element('tr', {}, ...head.map((text) => element('th', { scope: 'col', class: text.endsWith('draws') && 'bars' }, text)));
  return element('table', {}, element('caption', {}, caption), element('thead', {}, heads), ...bodies);
}

/** The numbers of each VC, and its mean queue in the view. */
export function byVc(result, queues, format) {
  const waiting = new Map(queues.map((one) => [one.vc, one.average]));
  const body = result.vcs.map((vc) => [
    vc.name,
    vc.class,
    plain(vc.goodput_mbps),
    plain(waiting.get(vc.name)),
    plain(vc.cells_dropped),
    plain(vc.timeouts),
  ]);
  const dropped = withNoun('cells dropped', [format]);
  return table(['VC', 'class', 'goodput, Mb/s', 'mean queue in view', dropped, 'timeouts'], [['', body]], 'By VC');
}

/** The mean queue in the view of each port that shares a pool. */
export function byPort(queues, unit) {
  const body = queues.map((one) => [one.of, plain(one.average)]);
  return table(['port', `mean in view, ${unit}`], [['', body]], 'Of the pool, by port');
}

/** Time of a drop, to the nanosecond: ports at 100 Gb/s drop several packets in a microsecond. */
export function instantOf({ time_s }) {
  return `${(1e3 * time_s).toFixed(6)} ms`;
}

/** A dropped cell in its frame; a packet is the only one of its frame. */
export function placeOf({ frame, cell }, { noun }) {
  return noun === 'packet' ? `packet ${frame}` : `frame ${frame}, cell ${cell}`;
}

/** Names of what a switch finds when it drops a cell. */
export const STATE = ['queue X', 'of its VC Y_i', 'active VCs N_a', 'threshold'];

/** Dropped cells, one a row. */
export function byDrop(drops, format) {
  const body = drops
    .slice(0, 200)
    .map((drop) => [
      instantOf(drop),
      drop.vc,
      placeOf(drop, format),
      drop.reason,
      plain(drop.waiting_cells ?? drop.waiting_bytes),
      plain(drop.waiting_of_vc_cells ?? drop.waiting_of_vc_bytes),
      plain(drop.active_vcs),
      plain(drop.threshold_cells ?? drop.threshold_bytes),
    ]);
  const more = drops.length > 200 ? `, the first 200 of ${drops.length}` : '';
  return table(
    ['time', 'VC', withNoun('cell', [format]), 'reason', ...STATE],
    [['', body]],
    withNoun(`Dropped cells in view${more}`, [format]),
  );
}
