// The pictures: queue by VC, single cells in the queue, and lines over time. Each draws with a painter of painter.js.

/** Room for the scale on the left, above and below. */
const LEFT = 58;
const TOP = 26;
const BOTTOM = 22;

/** Places of a picture: pixels of an instant and of a value, and back. */
export function frame(painter, view, low, high) {
  const width = painter.width - LEFT - 8;
  const height = painter.height - TOP - BOTTOM;
  return {
    left: LEFT,
    width,
    x: (time) => LEFT + ((time - view.from) / (view.to - view.from)) * width,
    bin: (k) => LEFT + (k * width) / view.n,
    y: (value) => TOP + height * (1 - (value - low) / (high - low || 1)),
    time: (x) => view.from + ((x - LEFT) / width) * (view.to - view.from),
    bottom: TOP + height,
  };
}

/** How many bins a canvas of this width shows. */
export function binsOf(width) {
  return Math.max(100, Math.min(1200, Math.round(width - LEFT - 8)));
}

function axes(painter, at, view, low, high, { ink, unit }) {
  painter.line([at.left, TOP, at.left, at.bottom, at.left + at.width, at.bottom], ink);
  for (const value of ticks(low, high, 4)) {
    painter.line([at.left - 4, at.y(value), at.left, at.y(value)], ink);
    painter.text(at.left - 6, at.y(value) + 4, short(value), ink, 'end');
  }
  let free = 0;
  for (const { time, text } of timeMarks(view, Math.max(2, Math.floor(at.width / 90)))) {
    const x = at.x(time);
    const half = painter.measure(text) / 2;
    painter.line([x, at.bottom, x, at.bottom + 4], ink);
    const middle = Math.max(half, Math.min(x, painter.width - half));
    if (middle - half < free) continue;
    painter.text(middle, at.bottom + 16, text, ink, 'middle');
    free = middle + half + 6;
  }
  painter.text(at.left + 4, TOP - 4, unit, ink);
}

/** Units of time, the largest first: the number in a second, and the name. */
const UNITS = [
  [1, 's'],
  [1e3, 'ms'],
  [1e6, '\u00b5s'],
  [1e9, 'ns'],
];

/**
 * Marks of the time axis, `{time, text}`: the first is an instant, each other has the unit of the marks. When instants
 * would have many digits, the others are distances from the first.
 */
export function timeMarks({ from, to }, most) {
  const [scale, name] = UNITS.find(([scale]) => (to - from) * scale > 0.5) ?? UNITS.at(-1);
  const marks = ticks(from * scale, to * scale, most);
  const step = marks.length > 1 ? marks[1] - marks[0] : 1;
  const digits = Math.ceil(Math.log10(Math.max(1, Math.abs(marks.at(-1)) / step)));
  const plain = (value) => String(Number(value.toPrecision(10)));
  if (digits < 4) return marks.map((mark) => ({ time: mark / scale, text: `${plain(mark)} ${name}` }));
  const [first] = marks;
  const [large, larger] = UNITS.find(([other]) => (first / scale) * other >= 1) ?? [scale, name];
  return marks.map((mark, place) => ({
    time: mark / scale,
    text: place ? `+${plain(Number((mark - first).toPrecision(6)))} ${name}` : `${plain((first / scale) * large)} ${larger}`,
  }));
}

/** Round values in [low, high], some `most` of them. */
export function ticks(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((one) => one >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}

/** A value as a scale shows it. */
export function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(4)));
}

/** The highest value in a picture of queues of at most `top` places with these levels. */
export function highest(top, levels) {
  return Math.max(10, top, ...levels.map(([, places]) => places)) * 1.04;
}

/**
 * Queues stacked, the mean of each pixel; the thin line is the largest value of `total`. `levels` are [name, places] of
 * lines across, `bounds` series of dashed lines; drops are marks above, by reason.
 */
export function drawQueue(painter, view, queues, { total, levels, bounds = [], counts = {}, top, ...looks }) {
  const { ink, reasons } = looks;
  const most = highest(top, levels);
  const at = frame(painter, view, 0, most);
  const base = new Float64Array(view.n);
  const wide = at.width / view.n + 0.4;
  for (const { mean, colour } of queues) {
    for (let k = 0; k < view.n; k++) {
      if (mean[k] <= 0) continue;
      const next = base[k] + mean[k];
      painter.rect(at.bin(k), at.y(next), wide, at.y(base[k]) - at.y(next), colour);
      base[k] = next;
    }
  }
  if (total) painter.line(stepsOf(total.hi, at, view), looks.soft, { width: 0.7 });
  for (const one of bounds) {
    for (const points of piecesOf(one, at, view, most)) painter.line(points, ink, { width: 1.5, dash: [3, 3] });
  }
  for (const [, cells] of levels) painter.line([at.left, at.y(cells), at.left + at.width, at.y(cells)], ink, { dash: [5, 4] });
  // A name stands left of those that it would touch.
  const names = [];
  for (const [name, cells] of levels) {
    const y = at.y(cells);
    const text = `${name} ${short(cells)}`;
    const near = names.filter((one) => Math.abs(one.y - y) < 14).map((one) => one.left - 8);
    const x = Math.min(at.left + at.width - 4, ...near);
    names.push({ y, left: x - painter.measure(text) });
    painter.text(x, y - 3, text, ink, 'end', looks.back);
  }
  for (const [reason, bins] of Object.entries(counts)) {
    bins.forEach((count, k) => count && painter.rect(at.bin(k), 0, Math.max(1.5, wide), 9, reasons[reason] ?? looks.soft));
  }
  axes(painter, at, view, 0, most, looks);
  return at;
}

function stepsOf(values, at, view) {
  const points = [];
  for (let k = 0; k < view.n; k++) points.push(at.bin(k + 0.5), at.y(values[k]));
  return points;
}

/** Pieces of a line from the least to the largest value of each pixel, cut when even the least is above `most`. */
export function piecesOf({ lo, hi }, at, view, most) {
  const pieces = [];
  for (let k = 0; k < view.n; k++) {
    if (lo[k] > most) continue;
    if (!k || lo[k - 1] > most) pieces.push([]);
    const points = pieces.at(-1);
    points.push(at.bin(k + 0.5), at.y(lo[k]));
    if (hi[k] !== lo[k]) points.push(at.bin(k + 0.5), at.y(Math.min(hi[k], most)));
  }
  return pieces;
}

/** Lines over time: from the least to the largest value of each pixel. Series are `{lo, hi, colour, dash}`. */
export function drawLines(painter, view, series, looks) {
  let most = 0;
  for (const { hi } of series) for (const value of hi) if (value > most) most = value;
  const high = most * 1.05 || 1;
  const at = frame(painter, view, 0, high);
  for (const one of series) {
    const [points] = piecesOf(one, at, view, high);
    painter.line(points, one.colour, { width: one.dash ? 1 : 1.6, dash: one.dash });
  }
  axes(painter, at, view, 0, high, looks);
  return at;
}

/** Single cells as squares, in the order in which they wait, and dropped cells as crosses. */
export function drawCells(painter, view, columns, drops, { colourOf, ...looks }) {
  const sizes = columns.map((column) => column.cells.length);
  const found = drops.map((drop) => (drop.waiting_cells ?? 0) + 1);
  const high = [...sizes, ...found].reduce((most, size) => Math.max(most, size), 4) + 1;
  const low = Math.max(0, sizes.reduce((least, size) => Math.min(least, size), high - 24) - 2);
  const at = frame(painter, view, low, high);
  for (const { from, to, cells } of columns) {
    const x = at.x(Math.max(from, view.from));
    const width = at.x(Math.min(to, view.to)) - x;
    for (let place = Math.floor(low); place < cells.length; place++) {
      const y = at.y(place + 1);
      const tall = at.y(place) - y;
      painter.rect(
        x,
        y,
        Math.max(0.5, width - Math.min(0.4, width / 4)),
        tall - Math.min(1, tall / 4),
        colourOf(cells[place]),
      );
    }
  }
  for (const drop of drops) {
    const x = at.x(drop.time_s);
    const y = at.y((drop.waiting_cells ?? high - 2) + 0.5);
    const colour = looks.reasons[drop.reason] ?? looks.soft;
    painter.line([x - 4, y - 4, x + 4, y + 4], colour, { width: 2 });
    painter.line([x - 4, y + 4, x + 4, y - 4], colour, { width: 2 });
  }
  axes(painter, at, view, low, high, looks);
  return at;
}

/**
 * The queue between each two changes in the view, its cells in order: `{from, to, cells}`. `points` are those of each VC's
 * queue from the beginning of the run.
 */
export function queueColumns(points, view) {
  const places = points.map(() => 0);
  const before = points.map(() => 0);
  const waiting = [];
  const columns = [];
  let first = 0;
  let now = 0;
  for (;;) {
    let next = Infinity;
    for (let i = 0; i < points.length; i++) {
      if (places[i] < points[i].time.length) next = Math.min(next, points[i].time[places[i]]);
    }
    if (Math.min(next, view.to) > view.from) {
      columns.push({ from: now, to: Math.min(next, view.to), cells: waiting.slice(first) });
    }
    if (next >= view.to) return columns;
    now = next;
    for (let i = 0; i < points.length; i++) {
      if (points[i].time[places[i]] !== next) continue;
      const value = points[i].value[places[i]++];
      for (let n = before[i]; n < value; n++) waiting.push(points[i].vc);
      for (let n = value; n < before[i]; n++) {
        const place = waiting.indexOf(points[i].vc, first);
        if (place > first) waiting.splice(place, 1);
        else first += 1;
      }
      before[i] = value;
    }
    if (first > 100000) {
      waiting.splice(0, first);
      first = 0;
    }
  }
}
