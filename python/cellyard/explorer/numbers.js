// The numbers of both variants beside each other.
import { element } from './dom.js';
import { short } from './charts.js';
import { withNoun } from './scenario.js';

const percent = (value) => (value === null ? '' : `${(100 * value).toFixed(1)} %`);
const plain = (value) => (value === null || value === undefined ? '' : short(value));
const milliseconds = (value) => (value === null || value === undefined ? '' : `${short(1e3 * value)} ms`);

/** Rows of the table: what it is, its value of a side, how it is written. */
const ROWS = [
  ['efficiency', ({ totals }) => totals.efficiency, percent],
  ['fairness (Jain)', ({ totals }) => totals.fairness, (value) => (value === null ? '' : value.toFixed(3))],
  ['goodput, Mb/s', ({ totals }) => totals.goodput_mbps, plain],
  ['frames lost', ({ totals }) => totals.frame_loss_ratio, percent],
  ['longest queue, cells', ({ port }) => port.max_queue_cells, plain],
  ['mean queue, cells', ({ port }) => port.mean_queue_cells, plain],
  ['refusals', ({ port }) => port.refusals, plain],
  ['refusals at contested ties', ({ port }) => port.tied_refusals, plain],
  ['link utilisation', ({ port }) => port.utilisation, percent],
  ['mean cell delay', ({ totals }) => totals.mean_cell_transfer_delay_s, milliseconds],
  ['99th percentile of cell delay', ({ totals }) => totals.p99_cell_transfer_delay_s, milliseconds],
  ['timeouts', ({ totals }) => totals.timeouts, plain],
  ['retransmitted segments', ({ totals }) => totals.retransmitted_segments, plain],
];

/** The table of all sides that have run, with the difference B minus A. */
export function compared(sides) {
  const known = sides.filter((side) => side.result);
  if (!known.length) return document.createDocumentFragment();
  const formats = known.map((side) => side.read.format);
  const results = known.map((side) => ({ ...side.result, port: side.port }));
  const reasons = Object.keys(results[0].port.dropped_cells).filter((r) => results.some((one) => one.port.dropped_cells[r]));
  const rows = [
    ...ROWS,
    ...reasons.map((reason) => [`cells dropped: ${reason}`, ({ port }) => port.dropped_cells[reason], plain]),
  ];
  const both = known.length === 2;
  const head = ['number', ...known.map((side) => side.name), ...(both ? ['B - A'] : [])];
  const body = rows.map(([name, value, text]) => {
    const values = results.map((one) => value(one) ?? null);
    const cells = values.map(text);
    if (both) cells.push(values.includes(null) ? '' : text(values[1] - values[0]));
    return [withNoun(name, formats), ...cells];
  });
  return table(head, body, 'One run of each variant with one seed: small differences may be due to chance.');
}

/** A table; the first cell of each row is its head. */
export function table(head, body, caption) {
  const rows = body.map(([name, ...cells]) => {
    return element('tr', {}, element('th', { scope: 'row' }, name), ...cells.map((text) => element('td', {}, text)));
  });
  const heads = element('tr', {}, ...head.map((text) => element('th', { scope: 'col' }, text)));
  return element('table', {}, element('caption', {}, caption), element('thead', {}, heads), element('tbody', {}, ...rows));
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
  return table(['VC', 'class', 'goodput, Mb/s', 'mean queue in view', dropped, 'timeouts'], body, 'By VC');
}

/** Time of a drop, to the nanosecond: ports at 100 Gb/s drop several packets in a microsecond. */
export function instantOf({ time_s }) {
  return `${(1e3 * time_s).toFixed(6)} ms`;
}

/** A dropped cell in its frame; a packet is the only one of its frame. */
export function placeOf({ frame, cell }, { noun }) {
  return noun === 'packet' ? `packet ${frame}` : `frame ${frame}, cell ${cell}`;
}

/** Dropped cells, one a row. */
export function byDrop(drops, format) {
  const body = drops
    .slice(0, 200)
    .map((drop) => [
      instantOf(drop),
      drop.vc,
      placeOf(drop, format),
      drop.reason,
      plain(drop.waiting_cells),
      plain(drop.waiting_of_vc_cells),
      plain(drop.active_vcs),
      plain(drop.threshold_cells),
    ]);
  const more = drops.length > 200 ? `, the first 200 of ${drops.length}` : '';
  return table(
    ['time', 'VC', withNoun('cell', [format]), 'reason', 'X', 'Y_i', 'N_a', 'threshold'],
    body,
    withNoun(`Dropped cells in view${more}`, [format]),
  );
}
