// The network as a drawing: hosts, switches, links, and the ports that can be picked.

const SVG = 'http://www.w3.org/2000/svg';
/** Hosts that are drawn in a column, and ports beyond which only those between switches are. */
const MOST = 12;
const MOST_PORTS = 8;

function make(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

/** Where hosts and switches stand: columns along the longest route, rows in the order of the scenario. */
function placed(scenario) {
  const column = new Map();
  const routes = [...scenario.vcs].sort((a, b) => b.route.length - a.route.length);
  for (const { route } of routes) {
    route.forEach((name, i) => {
      if (!column.has(name)) column.set(name, i ? (column.get(route[i - 1]) ?? 0) + 1 : 1);
    });
  }
  for (const vc of scenario.vcs) {
    if (!column.has(vc.from)) column.set(vc.from, (column.get(vc.route[0]) ?? 1) - 1);
    if (!column.has(vc.to)) column.set(vc.to, (column.get(vc.route.at(-1)) ?? 0) + 1);
  }
  const columns = [];
  for (const [name, place] of column) (columns[place] ??= []).push(name);
  return columns.filter(Boolean);
}

/** Draws the network into `svg`; `pick(port)` is called for a port that is chosen. */
export function drawNetwork(svg, { scenario, description }, { port, colourOf, pick }) {
  const columns = placed(scenario);
  const switches = new Set(scenario.switches.map((one) => one.name));
  const shown = columns.map((names) => names.filter((name, i) => switches.has(name) || i < MOST));
  const rows = Math.max(...shown.map((names) => names.length), 2);
  const height = Math.max(110, Math.min(230, 17 * rows + 20));
  const below = columns.some((names, i) => names.length > shown[i].length) ? 14 : 0;
  const at = new Map();
  shown.forEach((names, i) => {
    const x = 110 + (i * 780) / Math.max(1, shown.length - 1);
    names.forEach((name, k) => at.set(name, [x, (height * (k + 0.5)) / names.length]));
  });
  svg.setAttribute('viewBox', `0 0 1000 ${height + below}`);
  svg.replaceChildren();
  const colour = new Map();
  for (const vc of scenario.vcs) for (const end of [vc.from, vc.to]) colour.set(end, colourOf(vc.name));
  const trunks = new Set(scenario.links.filter((one) => switches.has(one.from) && switches.has(one.to)).map((one) => one.name));
  const queueing = description.ports.filter((one) => one.can_queue);
  const few = queueing.length <= MOST_PORTS ? queueing : queueing.filter((one) => trunks.has(one.name));
  const ports = new Map(few.map((one) => [one.name, one]));
  for (const link of scenario.links) drawLink(svg, link, at, switches, colour);
  for (const [name, [x, y]] of at) drawNode(svg, name, x, y, switches, colour);
  columns.forEach((names, i) => {
    const left = names.length - shown[i].length;
    if (left) svg.append(make('text', { x: at.get(shown[i][0])[0], y: height + 10, class: 'small', 'text-anchor': 'middle' }, `${left} more`));
  });
  for (const link of scenario.links) {
    if (ports.has(link.name) && at.has(link.from) && at.has(link.to)) drawPort(svg, link, ports.get(link.name), at, port, pick);
  }
}

function drawLink(svg, link, at, switches, colour) {
  const [begin, end] = [at.get(link.from), at.get(link.to)];
  if (!begin || !end || begin[0] > end[0]) return;
  const trunk = switches.has(link.from) && switches.has(link.to);
  const ink = trunk ? 'currentColor' : (colour.get(switches.has(link.from) ? link.to : link.from) ?? 'currentColor');
  const line = { x1: begin[0], y1: begin[1], x2: end[0], y2: end[1], stroke: ink, 'stroke-width': trunk ? 3 : 1.5 };
  svg.append(make('line', line));
  if (!trunk) return;
  const text = `${Number((link.rate / 1e6).toPrecision(5))} Mb/s`;
  const middle = { x: (begin[0] + end[0]) / 2, y: (begin[1] + end[1]) / 2 - 12, class: 'small', 'text-anchor': 'middle' };
  svg.append(make('text', middle, text));
}

function drawNode(svg, name, x, y, switches, colour) {
  if (switches.has(name)) {
    svg.append(make('rect', { x: x - 34, y: y - 20, width: 68, height: 40, rx: 5, class: 'switch' }));
    svg.append(make('text', { x, y: y + 4, 'text-anchor': 'middle' }, name));
    return;
  }
  const right = x > 500;
  svg.append(make('circle', { cx: x, cy: y, r: 6, fill: colour.get(name) ?? '#777' }));
  svg.append(make('text', { x: right ? x + 11 : x - 11, y: y + 4, class: 'small', 'text-anchor': right ? 'start' : 'end' }, name));
}

function drawPort(svg, link, port, at, chosen, pick) {
  const [[x1, y1], [x2, y2]] = [at.get(link.from), at.get(link.to)];
  const long = Math.hypot(x2 - x1, y2 - y1);
  const x = x1 + ((x2 - x1) / long) * 50;
  const y = y1 + ((y2 - y1) / long) * 26 + (x2 < x1 ? 16 : 0);
  const state = link.name === chosen ? 'chosen' : '';
  const label = `port ${link.name}, ${port.data_vcs} VCs with data`;
  const group = make('g', { class: `port ${state}`, tabindex: 0, role: 'button', 'aria-label': label, 'aria-pressed': state ? 'true' : 'false' });
  group.append(make('title', {}, label));
  for (let i = 0; i < 3; i++) group.append(make('rect', { x: x - 11 + 8 * i, y: y - 7, width: 6, height: 14 }));
  group.addEventListener('click', () => pick(link.name));
  group.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      pick(link.name);
    }
  });
  svg.append(group);
}
