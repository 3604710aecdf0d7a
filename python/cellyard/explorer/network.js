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

/** Draws the network into `svg`; `pick(port)` and `choose(vc)` are called for a port and for a host that are chosen. */
export function drawNetwork(svg, { scenario, description }, { port, vc: chosen, colourOf, pick, choose }) {
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
  const focus = svg.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
  svg.replaceChildren();
  const colour = new Map();
  const vcOf = new Map();
  for (const { name, from, to } of scenario.vcs) {
    for (const end of [from, to]) {
      colour.set(end, colourOf(name));
      if (!vcOf.has(end)) vcOf.set(end, name);
    }
  }
  const trunks = new Set(
    scenario.links.filter((one) => switches.has(one.from) && switches.has(one.to)).map((one) => one.name),
  );
  const queueing = description.ports.filter((one) => one.can_queue);
  const few = queueing.length <= MOST_PORTS ? queueing : queueing.filter((one) => trunks.has(one.name));
  const ports = new Map(few.map((one) => [one.name, one]));
  for (const link of scenario.links) drawLink(svg, link, at, switches, colour);
  for (const [name, [x, y]] of at) {
    if (switches.has(name)) drawSwitch(svg, name, x, y);
    else drawHost(svg, name, x, y, { colour: colour.get(name) ?? '#777', vc: vcOf.get(name), chosen, choose });
  }
  columns.forEach((names, i) => {
    const left = names.length - shown[i].length;
    if (left)
      svg.append(
        make('text', { x: at.get(shown[i][0])[0], y: height + 10, class: 'small', 'text-anchor': 'middle' }, `${left} more`),
      );
  });
  for (const link of scenario.links) {
    if (ports.has(link.name) && at.has(link.from) && at.has(link.to))
      drawPort(svg, link, ports.get(link.name), at, port, pick);
  }
  // What had the focus has it again, so that the keyboard goes on where it was.
  [...svg.querySelectorAll('[aria-label]')].find((one) => one.getAttribute('aria-label') === focus)?.focus();
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

function drawSwitch(svg, name, x, y) {
  svg.append(make('rect', { x: x - 34, y: y - 20, width: 68, height: 40, rx: 5, class: 'switch' }));
  svg.append(make('text', { x, y: y + 4, 'text-anchor': 'middle' }, name));
}

/** A host, which stands for the first VC that begins or ends there. */
function drawHost(svg, name, x, y, { colour, vc, chosen, choose }) {
  const right = x > 500;
  const group = make('g', vc ? button(`host ${name}, VC ${vc}`, vc === chosen) : {});
  group.append(make('circle', { cx: x, cy: y, r: vc === chosen ? 8 : 6, fill: colour }));
  const text = { x: right ? x + 11 : x - 11, y: y + 4, class: 'small', 'text-anchor': right ? 'start' : 'end' };
  group.append(make('text', text, name));
  if (vc) pressed(group, () => choose(vc));
  svg.append(group);
}

function button(label, isChosen) {
  const state = isChosen ? 'true' : 'false';
  return { class: 'pick', tabindex: 0, role: 'button', 'aria-label': label, 'aria-pressed': state };
}

/** Acts at a click and at the keys that press a button. */
function pressed(group, act) {
  group.addEventListener('click', act);
  group.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      act();
    }
  });
}

function drawPort(svg, link, port, at, chosen, pick) {
  const [[x1, y1], [x2, y2]] = [at.get(link.from), at.get(link.to)];
  const long = Math.hypot(x2 - x1, y2 - y1);
  const x = x1 + ((x2 - x1) / long) * 50;
  const y = y1 + ((y2 - y1) / long) * 26 + (x2 < x1 ? 16 : 0);
  const label = `port ${link.name}, ${port.data_vcs} VCs with data`;
  const isChosen = link.name === chosen;
  const group = make('g', { ...button(label, isChosen), class: isChosen ? 'pick port chosen' : 'pick port' });
  group.append(make('title', {}, label));
  for (let i = 0; i < 3; i++) group.append(make('rect', { x: x - 11 + 8 * i, y: y - 7, width: 6, height: 14 }));
  pressed(group, () => pick(link.name));
  svg.append(group);
}
