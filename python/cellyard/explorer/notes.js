// Warnings about one finished run: the sentences of `cellyard.results.run_notes`, with which a test compares them.

const LEAST_REFUSALS = 20;
const MOST_EFFICIENCY = 1.0005;
const NO_TIMEOUT = 'the run ends before the first timeout (initial_rto)';

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** The notes on a result; refusals at ties count unless the scenario states `tie_order`. */
export function notesOf(result, statesTieOrder) {
  const found = [
    unsentCells,
    goodputBeyondLine,
    noDelivery,
    unfinishedFiles,
    initialTimeouts,
    maximumQuantile,
    neverAsked,
    efficiency,
  ].flatMap((note) => note(result));
  return statesTieOrder ? found : [...found, ...tiedRefusals(result)];
}

function unsentCells({ vcs }) {
  const overloaded = vcs.filter((vc) => vc.host_overloaded);
  return [...new Set(overloaded.map((vc) => vc.from))].flatMap((host) => {
    const own = overloaded.filter((vc) => vc.from === host);
    const left = sum(own.map((vc) => vc.cells_not_sent));
    const offered = left + sum(own.map((vc) => vc.cells_sent));
    const load = Math.max(...own.map((vc) => vc.host_load));
    const offer =
      load > 1
        ? `${load.toFixed(2)} times the capacity of its link`
        : 'more than its link carries for some time, as its rate changes';
    const what = `the host ${host} never sent ${left} of its ${offered} data cells, which count neither as lost nor as delayed`;
    return left ? [`${what}: its cell sources offer ${offer}`] : [];
  });
}

function goodputBeyondLine({ ports, measured_s, duration_s }) {
  const most = Math.max(...ports.map((port) => port.efficiency ?? 0));
  if (measured_s >= duration_s || most <= MOST_EFFICIENCY) return [];
  const { name } = ports.find((port) => port.efficiency === most);
  return [
    `the goodput through ${name} is up to ${most.toFixed(4)} of what its link can carry in the measuring time: ` +
      'data that arrived earlier, behind a gap, counts when the gap is filled; another warm-up, or none, reduces or avoids this',
  ];
}

function noDelivery({ vcs }) {
  const tcps = vcs.filter((vc) => vc.traffic === 'tcp' && vc.began_s !== null);
  const together = new Set(tcps.map((vc) => vc.began_s)).size === 1;
  if (tcps.length < 2 || !together || tcps.some((vc) => vc.delivered_bytes)) return [];
  const lostAt = tcps.map((vc) => new Set(vc.ports.filter((port) => refused(port)).map(({ port }) => port)));
  if (![...lostAt[0]].some((port) => lostAt.every((ports) => ports.has(port)))) return [];
  const meet = tcps.some((vc) => vc.timeouts)
    ? 'meet again in one buffer after each timeout'
    : `meet in one buffer, and ${NO_TIMEOUT}`;
  return [
    `no TCP delivered anything: they start at the same time, and ${meet}; ` +
      '--replications draws random start times, within ensemble.start_jitter of each other',
  ];
}

/** Cells that a port dropped for any reason but the loss of its link. */
function refused({ dropped_cells }) {
  return sum(Object.entries(dropped_cells).map(([reason, cells]) => (reason === 'link' ? 0 : cells)));
}

function unfinishedFiles({ totals, vcs }) {
  const files = vcs.filter((vc) => vc.file_size_bytes !== null);
  const left = files.filter((vc) => vc.unfinished_transfers && (vc.completed_s_above || !vc.finished_transfers));
  if (!totals.finished_transfers || !left.length) return [];
  const waiting = left.filter((vc) => vc.frames_lost && !vc.timeouts && !vc.delivered_bytes).length;
  const why = waiting ? `; ${waiting} of these delivered nothing, and ${NO_TIMEOUT}` : '';
  const what = `${left.length} of ${files.length} TCPs that send files did not finish`;
  return [`${what}: times that depend on them are bounds; run longer (duration) to know them${why}`];
}

function initialTimeouts({ totals, vcs }) {
  const least = totals.p99_transfer_s;
  const all = vcs.flatMap((vc) => [vc, ...vc.back].flatMap(({ transfers }) => transfers));
  const slow = least === null ? [] : all.filter((one) => one.duration_s >= least);
  if (!slow.length || slow.some((one) => 2 * one.initial_timeouts_s < one.duration_s)) return [];
  const { duration_s, initial_timeouts_s } = slow.reduce((most, one) => (one.duration_s > most.duration_s ? one : most));
  return [
    `\`initial_rto\` decides p99_transfer_s: of the slowest file's ${digits(duration_s)} s, ${digits(initial_timeouts_s)} s ` +
      'passed in timeouts before a first round-trip sample, and at least half of the time of each file from p99 on',
  ];
}

/** A number with three significant digits. */
function digits(number) {
  return String(Number(number.toPrecision(3)));
}

/** The quantile that the page shows. */
function maximumQuantile({ totals, vcs }) {
  const values = sum(vcs.map((vc) => vc.cells_delivered));
  if (totals.p99_cell_transfer_delay_s === null || values < 2 || values >= 100) return [];
  return [
    `p99_cell_transfer_delay_s is the maximum of at most ${values} values: ` +
      'a 99 % quantile is smaller only with 100 values or more',
  ];
}

function neverAsked({ ports }) {
  const programs = ports.flatMap(({ name, arrived_cells, classes }) =>
    classes.filter((queue) => queue.program_asked && arrived_cells).map((queue) => [name, queue]),
  );
  const wasAsked = ([, queue]) => queue.program_asked === 'cells' || queue.max_queue_cells || queue.cell_loss_ratio;
  if (!programs.length || programs.some(wasAsked)) return [];
  const [port, ...others] = new Set(programs.map(([name]) => name));
  return [
    `the program at ${port}${others.length ? ` and ${others.length} more` : ''} was never asked: it is asked about first cells ` +
      'of frames that find the port busy, and no cell waited; asked = "cells" asks about every cell',
  ];
}

function efficiency({ totals, vcs }) {
  if (totals.efficiency === null && vcs.some((vc) => vc.carries === 'frames')) {
    return totals.max_goodput_mbps === 0
      ? ['no efficiency: the fair shares of the links add up to zero, because sources of cells take the whole capacity']
      : ['no efficiency: the scenario sets no measure.max_goodput (a rate, or "fair shares" of links that keep their rates)'];
  }
  if ((totals.efficiency ?? 0) <= MOST_EFFICIENCY) return [];
  const most = totals.efficiency.toFixed(3);
  return [`efficiency is up to ${most}: more was delivered than measure.max_goodput gives as the maximum`];
}

function tiedRefusals({ ports }) {
  const queues = ports.filter((port) => port.can_queue);
  const tied = sum(queues.map((port) => port.tied_refusals));
  const refused = sum(queues.map((port) => port.refusals));
  if (refused < LEAST_REFUSALS || 2 * tied < refused) return [];
  const { name, inputs } = queues.reduce((most, port) => (port.tied_refusals > most.tied_refusals ? port : most));
  const who = `${name} refused ${refusedMostAndLeast(inputs)}`;
  const order = 'the order of cells that arrived at the same instant (`tie_order`)';
  return [`${order} decided ${tied} of ${refused} refusals; ${who}; the results may depend on it`];
}

function refusedMostAndLeast(inputs) {
  const refused = inputs.filter((one) => one.tied_refusals).sort((a, b) => b.tied_refusals - a.tied_refusals);
  const [most, least] = [refused[0], refused.at(-1)];
  if (refused.length === 1) return `only ${most.link} (${most.tied_refusals} cells) of ${inputs.length} inputs`;
  const never = inputs.length - refused.length;
  if (most.tied_refusals === least.tied_refusals) {
    return `${most.tied_refusals} cells of each of ${refused.length} inputs${never ? `, and none of ${never} others` : ''}`;
  }
  const text = `${most.link} most (${most.tied_refusals} cells) and ${least.link} least (${least.tied_refusals})`;
  return text + (never ? `, and never ${never} of ${inputs.length} inputs` : '');
}
