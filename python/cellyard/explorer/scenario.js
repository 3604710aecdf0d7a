// What the page needs to know of a scenario in canonical form.

/** VCs whose queue is recorded one by one, and VCs whose drops are; more would cost more than they show. */
const MOST_QUEUES = 100;
export const MOST_TRACES = 300;

/** Nodes of a VC, from its source to its sink. */
function nodesOf(vc) {
  return [vc.from, ...vc.route, vc.to];
}

/** A text with the noun of formats that call a cell so, or with "cell" if they differ. */
export function withNoun(text, formats) {
  const nouns = new Set(formats.map((format) => format.noun));
  return nouns.size === 1 ? text.replace(/(?<!memory )\bcell/g, [...nouns][0]) : text;
}

/** Whether cells of a VC, data or acknowledgements, cross a link. */
export function crosses(vc, { from, to }) {
  const nodes = nodesOf(vc);
  return nodes.some((node, i) => (node === from && nodes[i + 1] === to) || (node === to && nodes[i + 1] === from));
}

/** The port to watch: the wanted one if cells can wait there, else the one that most VCs send data through; null without ports. */
export function portOf(description, wanted) {
  const ports = description.ports.filter((port) => port.can_queue);
  const found = ports.find((port) => port.name === wanted);
  return (found ?? ports.sort((a, b) => b.data_vcs - a.data_vcs)[0] ?? description.ports[0])?.name ?? null;
}

/** VCs that cross a port; without one all. */
export function vcsAt(scenario, port) {
  if (port === null) return scenario.vcs;
  const link = scenario.links.find((one) => one.name === port);
  return scenario.vcs.filter((vc) => link && crosses(vc, link));
}

/** The pool that a port takes part in: its switch, and the ports that share it, this one first; null without. */
export function poolOf({ description, scenario }, name) {
  const shares = ({ can_queue, queues }) => can_queue && queues.some(({ places }) => places !== null);
  const port = description.ports.find((one) => one.name === name);
  const pool = scenario.switches.find((one) => one.name === port?.switch)?.pool;
  if (!pool || !shares(port)) return null;
  const others = description.ports.filter((one) => one.switch === port.switch && one !== port && shares(one));
  return { of: port.switch, port, ports: [port, ...others].map((one) => one.name) };
}

/** Cells at stations beyond which not every change is recorded, and how often it is looked at then. */
const MOST_CELLS = 1_500_000;
const SAMPLES = 4000;

/** Seconds of an interval, of a run that is too long for every change to be recorded; else null. */
export function coarseness({ expected, duration_s }) {
  return expected.station_cells > MOST_CELLS ? duration_s / SAMPLES : null;
}

/** About the longest run of which every change is recorded, in seconds with two digits. */
export function longestExact({ expected, duration_s }) {
  return Number(((duration_s * MOST_CELLS) / expected.station_cells).toPrecision(2));
}

/**
 * What is recorded for the page: queues at a port and those that share a pool with it, windows and rates, every drop, and
 * the segments of one VC. With `interval` it is samples of queues, windows and rates after so many ticks, or, as `how` says, their envelopes over so
 * many, and drops are counted in between; else each change and each drop is recorded.
 */
export function probesOf({ description, scenario }, port, chosen, interval, how = 'interval') {
  const here = vcsAt(scenario, port);
  const recorded = interval === null ? {} : { [how]: interval };
  const probes = [];
  if (port !== null) {
    probes.push({ what: 'queue', of: port, ...recorded });
    for (const vc of here.slice(0, MOST_QUEUES)) probes.push({ what: 'queue', of: port, vc: vc.name, ...recorded });
  }
  const pool = poolOf({ description, scenario }, port);
  if (pool) {
    probes.push({ what: 'pool', of: pool.of, ...recorded });
    for (const other of pool.ports.slice(1, MOST_QUEUES)) probes.push({ what: 'queue', of: other, ...recorded });
    const bounded = pool.port.queues.filter(({ alpha }) => alpha);
    for (const { class: service } of bounded) probes.push({ what: 'threshold', of: port, class: service, ...recorded });
  }
  for (const { name, traffic, class: service } of here.slice(0, MOST_QUEUES)) {
    if (traffic.kind === 'tcp') {
      probes.push({ what: 'cwnd', of: name, ...recorded }, { what: 'ssthresh', of: name, ...recorded });
    }
    if (service === 'abr') probes.push({ what: 'acr', of: name, ...recorded });
  }
  const one = here.find((vc) => vc.name === chosen && vc.traffic.kind === 'tcp');
  if (one) probes.push({ what: 'sequence', of: one.name }, { what: 'acknowledged', of: one.name });
  if (interval && port !== null) probes.push({ what: 'drops', of: port, interval });
  else for (const vc of scenario.vcs.slice(0, MOST_TRACES)) probes.push({ what: 'trace', of: vc.name });
  return probes;
}

/** The capture of the cells that a port sends and drops in [from, to), in seconds of so many ticks. */
export function captureOf(port, from, to, ticks) {
  return { what: 'capture', of: port, layer: 'cells', from: Math.floor(from * ticks), to: Math.ceil(to * ticks) };
}

/** Buffer and thresholds of the queues at a port: names and places. */
export function levelsOf(description, name) {
  const port = description.ports.find((one) => one.name === name);
  const levels = [];
  for (const { class: service, places: buffer, drop } of port?.queues ?? []) {
    const prefix = port.queues.length > 1 ? `${service} ` : '';
    if (buffer !== null) levels.push([`${prefix}buffer`, buffer]);
    for (const [field, value] of Object.entries(drop)) {
      const cells = cellsOf(value, buffer);
      if (cells !== null && !['reserve', 'k_fba', 'segment_cells'].includes(field)) levels.push([`${prefix}${label(field)}`, cells]);
    }
    if (drop.policy === 'epd' && drop.threshold === null && buffer !== null) {
      const reserve = drop.reserve?.bytes ?? drop.reserve ?? Math.min(200, Math.floor(buffer / 2));
      levels.push([`${prefix}threshold`, buffer - reserve]);
    }
  }
  return levels;
}

/** Places of a threshold, which may be a share of the buffer; null for what is none. */
function cellsOf(value, buffer) {
  if (typeof value !== 'object' || value === null) return null;
  if ('cells' in value || 'bytes' in value) return value.cells ?? value.bytes;
  if (!('fraction' in value) || buffer === null) return null;
  return (buffer * value.fraction.num) / value.fraction.den;
}

function label(field) {
  return field === 'r' ? 'R' : field.replaceAll('_', ' ');
}
