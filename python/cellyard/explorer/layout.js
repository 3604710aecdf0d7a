// Where hosts, switches and ports stand in the drawing of the network. Needs no browser.

/** Hosts at one side of a switch that stand one by one; equal ones of more share a place. */
const MOST_HOSTS = 6;
/** Heights of a host, of the name of a switch, of a port with a mark, and of the end of a wire without one. */
const [HOST, NAME, PORT, END] = [20, 20, 24, 8];
/** Room between what stands below each other, and the widths of a mark and of a host. */
const [GAP, MARK, DOT] = [12, 22, 8];

/** Columns of switches along the routes: the longest route counts first. */
function columnsOf(scenario) {
  const column = new Map();
  const routes = [...scenario.vcs].sort((a, b) => b.route.length - a.route.length);
  for (const { route } of routes) {
    route.forEach((name, i) => {
      if (!column.has(name)) column.set(name, i ? (column.get(route[i - 1]) ?? -1) + 1 : 0);
    });
  }
  const columns = [];
  for (const { name } of scenario.switches) if (column.has(name)) (columns[column.get(name)] ??= []).push(name);
  return columns.filter(Boolean);
}

/** Hosts that VCs begin or end at, with their switch and whether they send; of a wire between hosts the switch is null. */
function hostsOf(scenario, switches) {
  const found = new Map();
  for (const { name, from, to } of scenario.vcs) {
    for (const [host, sends] of [
      [from, true],
      [to, false],
    ]) {
      const known = found.get(host);
      if (known) known.vcs.push(name);
      else found.set(host, { name: host, sends, at: null, vcs: [name] });
    }
  }
  for (const { from, to } of scenario.links) if (found.has(from) && switches.has(to)) found.get(from).at ??= to;
  return [...found.values()];
}

/** Hosts as rows: `{label, hosts}`, with hosts of one name and different numbers as one row if there are many. */
export function rowsOf(hosts) {
  const baseOf = (name) => name.replace(/\d+$/, '');
  const groups = grouped(hosts, (host) => baseOf(host.name));
  let left = hosts.length;
  const together = new Set();
  for (const [base, members] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
    if (left <= MOST_HOSTS || members.length === 1) break;
    together.add(base);
    left -= members.length - 1;
  }
  return [...groups].flatMap(([base, members]) => {
    if (!together.has(base)) return members.map((host) => ({ label: host.name, hosts: [host] }));
    const numbers = members.map((host) => Number(host.name.slice(base.length))).sort((a, b) => a - b);
    const [first, last] = [numbers[0], numbers.at(-1)];
    const all = last - first + 1 === members.length;
    return [{ label: all ? `${base} ${first} to ${last}` : `${members.length} ${base}`, hosts: members }];
  });
}

function grouped(items, key) {
  const groups = new Map();
  for (const one of items) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
}

/**
 * The drawing of a network, `width` pixels wide: `height`, and lists of `rows` of hosts, `boxes` of switches, `wires`, and
 * `marks` of ports. `measure` gives the width of a text.
 */
export function layout({ scenario, description }, width, measure) {
  const columns = columnsOf(scenario);
  const switches = new Set(columns.flat());
  const boxes = new Map(columns.flatMap((names, column) => names.map((name) => [name, boxOf(name, column, measure)])));
  const rows = placedHosts(scenario, switches, boxes, columns.length);
  const ports = new Map(description.ports.filter((port) => port.can_queue).map((port) => [port.name, port]));
  const wires = wiresOf(scenario, boxes, rows);
  connect(wires, boxes, ports);
  for (const box of boxes.values()) measured(box);
  vertical(columns, boxes, rows);
  const height = cropped([...boxes.values()], rows);
  horizontal(columns, boxes, rows, width, measure);
  for (const box of boxes.values()) ends(box);
  // The wire of hosts that are alone at their side is level.
  for (const { places } of wires) {
    const [row, end] = places[0].row ? [places[0].row, places[1]] : [places[1].row, places[0]];
    if (row && !row.hangs && end.box?.rows.filter((one) => one.side === row.side).length === 1) row.y = end.y;
  }
  const marks = [...boxes.values()].flatMap((box) => [...box.left, ...box.right, ...box.below].filter((end) => end.ports.length));
  return { height, rows, boxes: [...boxes.values()], wires, marks };
}

function boxOf(name, column, measure) {
  return { name, column, left: [], right: [], below: [], rows: [], wide: measure(name) + 14 };
}

/** Rows of hosts, each at the left, at the right, or below its switch. */
function placedHosts(scenario, switches, boxes, columns) {
  const hosts = hostsOf(scenario, switches).map((host) => {
    const box = boxes.get(host.at);
    const side = host.sends ? 'left' : 'right';
    if (!box || columns === 1) return { ...host, box, side };
    if (box.column === 0) return { ...host, box, side: 'left' };
    if (box.column === columns - 1) return { ...host, box, side: 'right' };
    return { ...host, box, side, hangs: true };
  });
  return [...grouped(hosts, (host) => `${host.side} ${host.at}`).values()].flatMap((members) => {
    const [{ side, box, hangs }] = members;
    const rows = rowsOf(members).map((row) => ({ ...row, side, box, hangs }));
    box?.rows.push(...rows);
    return rows;
  });
}

/** A wire for the links of both directions, and one for all hosts of a row: `{ends, links}`, links from the first end. */
function wiresOf(scenario, boxes, rows) {
  const row = new Map(rows.flatMap((one) => one.hosts.map((host) => [host.name, one])));
  const wires = new Map();
  const ends = new Map();
  for (const link of scenario.links) {
    const [from, to] = [link.from, link.to].map((name) => boxes.get(name) ?? row.get(name));
    if (!from || !to) continue;
    for (const end of [from, to]) if (!ends.has(end)) ends.set(end, ends.size);
    const key = [ends.get(from), ends.get(to)].sort((a, b) => a - b).join(' ');
    const wire = wires.get(key) ?? { ends: [from, to], links: [] };
    wire.links.push(link);
    wires.set(key, wire);
  }
  return [...wires.values()];
}

/** Gives each wire its ends at the edges of switches, with the ports whose cells leave there. */
function connect(wires, boxes, ports) {
  for (const wire of wires) {
    wire.places = wire.ends.map((end, place) => {
      const other = wire.ends[1 - place];
      if (!boxes.has(end.name)) return { row: end };
      const here = wire.links.filter((link) => link.from === end.name && ports.has(link.name));
      const side = boxes.has(other.name) ? (other.column < end.column ? 'left' : 'right') : other.hangs ? 'below' : other.side;
      const found = { box: end, side, other, wire, ports: here.map((link) => ports.get(link.name)) };
      end[side].push(found);
      return found;
    });
  }
}

const tall = (end) => (end.ports.length ? PORT : END);
const sum = (values) => values.reduce((total, value) => total + value, 0);

function measured(box) {
  const edge = Math.max(...['left', 'right'].map((side) => sum(box[side].map(tall))));
  const marks = (side) => (box[side].some((end) => end.ports.length) ? MARK : 6);
  box.width = Math.max(box.wide, marks('left') + marks('right') + 4, box.below.filter((end) => end.ports.length).length * MARK);
  box.height = NAME + Math.max(12, edge) + (box.below.some((end) => end.ports.length) ? PORT : 0);
  const count = (side, hangs) => box.rows.filter((row) => row.side === side && Boolean(row.hangs) === hangs).length;
  box.beside = Math.max(count('left', false), count('right', false)) * HOST;
  box.hanging = Math.max(count('left', true), count('right', true)) * HOST;
}

/** Moves everything up to the upper edge; returns the height of the drawing. */
function cropped(boxes, rows) {
  const tops = [...boxes.map((box) => box.y), ...rows.map((row) => row.y - HOST / 2)];
  const bottoms = [...boxes.map((box) => box.y + box.height), ...rows.map((row) => row.y + HOST / 2)];
  const up = Math.min(...tops) - GAP;
  for (const one of [...boxes, ...rows]) one.y -= up;
  return Math.max(...bottoms) - up + GAP;
}

/** Places rows and switches above each other. */
function vertical(columns, boxes, rows) {
  const whole = (box) => Math.max(box.height, box.beside) + (box.hanging ? box.hanging + GAP : 0);
  const stacks = columns.map((names) => names.map((name) => boxes.get(name)));
  const loose = rows.filter((row) => !row.box);
  // A switch that has hosts below stands in the middle alone, so the same room is kept above it.
  const need = (stack) =>
    stack.length === 1 ? 2 * whole(stack[0]) - Math.max(stack[0].height, stack[0].beside) : sum(stack.map(whole)) + GAP * (stack.length - 1);
  const height = Math.max(60, HOST * loose.length, ...stacks.map(need)) + 2 * GAP;
  for (const stack of stacks) {
    const free = (height - sum(stack.map(whole))) / (stack.length + 1);
    let top = stack.length === 1 ? (height - Math.max(stack[0].height, stack[0].beside)) / 2 : free;
    for (const box of stack) {
      const middle = top + Math.max(box.height, box.beside) / 2;
      box.y = middle - box.height / 2;
      for (const side of ['left', 'right']) {
        const beside = box.rows.filter((row) => row.side === side && !row.hangs);
        beside.forEach((row, k) => {
          row.y = middle + HOST * (k - (beside.length - 1) / 2);
        });
        const hanging = box.rows.filter((row) => row.side === side && row.hangs);
        hanging.forEach((row, k) => {
          row.y = box.y + box.height + GAP + HOST * (k + 0.5);
        });
      }
      top += whole(box) + free;
    }
  }
  for (const side of ['left', 'right']) {
    const here = loose.filter((row) => row.side === side);
    here.forEach((row, k) => {
      row.y = (height * (k + 0.5)) / here.length;
    });
  }
}

function horizontal(columns, boxes, rows, width, measure) {
  const margin = (side) => Math.max(30, ...rows.filter((row) => row.side === side && !row.hangs).map((row) => measure(row.label) + 2 * DOT + 4));
  const [left, right] = [margin('left'), width - margin('right')];
  const widths = columns.map((names) => Math.max(...names.map((name) => boxes.get(name).width)));
  const room = Math.max(4, (right - left - sum(widths)) / (columns.length + 1));
  let x = left;
  columns.forEach((names, column) => {
    x += room;
    for (const name of names) boxes.get(name).x = x + (widths[column] - boxes.get(name).width) / 2;
    x += widths[column];
  });
  for (const row of rows) {
    row.x = row.side === 'left' ? left : right;
    if (row.hangs) row.x = row.box.x + row.box.width / 2 + (row.side === 'left' ? -DOT : DOT);
  }
}

/** Gives each end of a wire at a switch its place: in the order of what is at the other end. */
function ends(box) {
  const middle = (end) => (end.height ? end.y + end.height / 2 : end.y);
  for (const side of ['left', 'right']) {
    const here = box[side].sort((a, b) => middle(a.other) - middle(b.other));
    let y = box.y + NAME + (Math.max(12, box.height - NAME) - sum(here.map(tall))) / 2;
    if (here.length === 1 && !here[0].ports.length) y = box.y + box.height / 2 - END / 2;
    for (const end of here) {
      end.x = side === 'left' ? box.x : box.x + box.width;
      end.y = y + tall(end) / 2;
      y += tall(end);
    }
  }
  const marked = box.below.filter((end) => end.ports.length);
  for (const end of box.below) {
    end.x = end.ports.length ? box.x + (box.width * (marked.indexOf(end) + 0.5)) / marked.length : end.other.x;
    end.y = box.y + box.height;
  }
}

/** Width and height of the mark of a port. */
export const SIZE = { width: MARK, height: PORT };
