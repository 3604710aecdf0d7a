// The network as a drawing: hosts, switches, wires, and the ports that can be picked.
import { drawn } from './dom.js';
import { SIZE, layout } from './layout.js';

let context;

/** Width of a text as the drawing writes it. */
function measure(text) {
  context ??= document.createElement('canvas').getContext('2d');
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  return context.measureText(text).width;
}

/** Draws the network into `svg`; `pick(port)` and `choose(vc)` are called for a port and for a host that are chosen. */
export function drawNetwork(svg, read, { port, vc, colourOf, pick, choose }) {
  const width = Math.max(300, svg.clientWidth || 900);
  const { height, rows, boxes, wires, marks } = layout(read, width, measure);
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('height', height);
  const focus = svg.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
  const parts = [
    ...wires.flatMap((wire) => drawWire(wire, port, boxes)),
    ...boxes.map(drawSwitch),
    ...rows.map((row) => drawHosts(row, { vc, colourOf, choose })),
    ...marks.map((mark) => drawPort(mark, port, pick)),
  ];
  svg.replaceChildren(...parts);
  // Who chose it has drawn it again, so that the keyboard goes on where it was.
  if (focus) [...svg.querySelectorAll('[aria-label]')].find((one) => one.getAttribute('aria-label') === focus)?.focus();
}

/** A rate as people write it. */
export function rateText(rate) {
  const [unit, size] = rate >= 1e9 ? ['Gb/s', 1e9] : rate >= 1e6 ? ['Mb/s', 1e6] : ['kb/s', 1e3];
  return `${Number((rate / size).toPrecision(5))} ${unit}`;
}

/** How many VCs send data. */
export function vcsText(count) {
  return `${count} ${count === 1 ? 'VC' : 'VCs'} with data`;
}

function drawWire({ places, links }, port, boxes) {
  const [[x1, y1], [x2, y2]] = places.map(({ row, x, y }) => (row ? [row.x, row.y] : [x, y]));
  const chosen = links.some((link) => link.name === port);
  const trunk = places.every(({ box }) => box);
  const line = drawn('line', { x1, y1, x2, y2, class: `wire${trunk ? ' trunk' : ''}${chosen ? ' chosen' : ''}` });
  const parts = [line];
  // The rate is written where no other wire crosses.
  const [a, b] = places.map(({ box }) => box?.column);
  const alone = trunk && [a, b].every((column) => boxes.filter((box) => box.column === column).length === 1);
  const text = `${rateText(links[0].rate)}${links[0].changes ? ' at first' : ''}`;
  if (alone && Math.abs(x2 - x1) > measure(text) + 12) {
    parts.push(drawn('text', { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 7, class: 'small', 'text-anchor': 'middle' }, text));
  }
  return parts;
}

function drawSwitch({ name, x, y, width, height }) {
  const box = drawn('rect', { x, y, width, height, rx: 6, class: 'switch' });
  return drawn('g', {}, box, drawn('text', { x: x + width / 2, y: y + 15, 'text-anchor': 'middle' }, name));
}

/** A row of hosts, which stands for the first of its VCs. */
function drawHosts({ label, hosts, x, y, side }, { vc, colourOf, choose }) {
  const vcs = hosts.flatMap((host) => host.vcs);
  const first = vcs.includes(vc) ? vc : vcs[0];
  const group = drawn('g', button(`${hosts.length > 1 ? 'hosts' : 'host'} ${label}: follow ${first}`, vcs.includes(vc)));
  const colours = hosts.length > 1 ? [0, 1, 2].map((k) => colourOf(vcs[k % vcs.length])) : [colourOf(first)];
  colours.forEach((fill, k) => {
    group.append(drawn('circle', { cx: x + (side === 'left' ? -3 : 3) * k, cy: y, r: vcs.includes(vc) ? 7 : 5.5, fill, class: 'host' }));
  });
  const away = 11 + 3 * (colours.length - 1);
  const text = { x: side === 'left' ? x - away : x + away, y: y + 4, class: 'small', 'text-anchor': side === 'left' ? 'end' : 'start' };
  group.append(drawn('text', text, label));
  pressed(group, () => choose(first));
  return group;
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

/** The mark of a port inside its switch: three bars that stand for a queue. Ports to equal hosts share one. */
function drawPort({ x, y, side, ports }, chosen, pick) {
  const isChosen = ports.some((port) => port.name === chosen);
  const here = ports.find((port) => port.name === chosen) ?? ports.reduce((most, port) => (port.data_vcs > most.data_vcs ? port : most));
  const others = ports.length > 1 ? `, one of ${ports.length} to equal hosts` : '';
  const carries = here.data_vcs ? vcsText(here.data_vcs) : 'acknowledgements only';
  const label = `port ${here.name}${others}, ${carries}`;
  const group = drawn('g', { ...button(label, isChosen), class: `pick port${isChosen ? ' chosen' : ''}${here.data_vcs ? '' : ' idle'}` });
  const left = side === 'left' ? x : side === 'right' ? x - SIZE.width : x - SIZE.width / 2;
  const top = side === 'below' ? y - SIZE.height : y - SIZE.height / 2;
  group.append(drawn('title', {}, label), drawn('rect', { x: left, y: top, ...SIZE, class: 'target' }));
  for (let i = 0; i < 3; i++) group.append(drawn('rect', { x: left + 3 + 6 * i, y: top + 5, width: 4, height: 14, class: 'bar' }));
  pressed(group, () => pick(here.name));
  return group;
}
