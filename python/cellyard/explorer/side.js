// One variant: what its worker found, and its pictures.
import { binsOf, drawCells, drawLines, drawQueue, highest, queueColumns, short } from './charts.js';
import { element } from './dom.js';
import { STATE, byDrop, byPort, byVc, instantOf, placeOf } from './numbers.js';
import { CanvasPainter, SvgPainter } from './painter.js';
import { Runner } from './runner.js';
import { levelsOf, poolOf, vcsAt, withNoun } from './scenario.js';
import { overrides, runCommand } from './state.js';
import { theme } from './theme.js';

/** In a view of at most so many cell times, cells are drawn one by one. */
const FEW_CELLS = 300;

/** The pictures: their names, the series in them (the second kind is dashed), and their heights. */
export const KINDS = {
  queue: { label: 'queue by VC', height: 210 },
  pool: { label: 'pool by port', height: 160 },
  window: { label: 'congestion windows', height: 140, series: ['cwnd', 'ssthresh'] },
  rate: { label: 'allowed cell rates', height: 140, series: ['acr'] },
  sequence: { label: 'sequence numbers', height: 140, series: ['sequence', 'acknowledged'] },
};

export class Side {
  constructor(name, place, app, workers) {
    this.name = name;
    this.place = place;
    this.app = app;
    this.queues = [];
    this.shares = [];
    this.runner = new Runner(workers, (data) => this.heard(data));
    this.build();
  }

  build() {
    this.pictures = {};
    this.figures = {};
    this.captions = {};
    for (const [kind, { label }] of Object.entries(KINDS)) {
      const canvas = element('canvas', { tabindex: 0, role: 'img', 'aria-label': `${label}, variant ${this.name}` });
      this.captions[kind] = element('figcaption', {}, element('b', {}, this.name));
      this.pictures[kind] = canvas;
      this.figures[kind] = element('figure', {}, this.captions[kind], canvas);
      this.listen(canvas);
    }
    this.pictures.queue.addEventListener('click', (event) => this.clicked(event));
    this.problem = element('p', { class: 'problem', role: 'alert' });
    this.tables = element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `tables of variant ${this.name}` });
    this.details = element('details', {}, element('summary', {}, `Pictures of ${this.name} as tables`), this.tables);
    this.details.ontoggle = () => this.tell();
    this.command = element('code', {});
    const summary = element('summary', {}, `Run ${this.name} on the command line`);
    this.lists = element('div', {}, this.details, element('details', {}, summary, this.command));
  }

  /** Takes all pictures off the page, or makes room for them again; those that have nothing leave when they are drawn. */
  set isShown(shown) {
    const all = Object.values(this.figures);
    if (!shown || all.every(({ hidden }) => hidden)) for (const figure of all) figure.hidden = !shown;
  }

  listen(picture) {
    const instant = (event) => this.at?.time(event.offsetX) ?? 0;
    picture.onwheel = (event) => {
      event.preventDefault();
      this.app.zoomAt(instant(event), event.deltaY > 0 ? 1.4 : 1 / 1.4);
    };
    let from = null;
    picture.onpointerdown = (event) => {
      from = [event.offsetX, this.app.view];
      picture.setPointerCapture(event.pointerId);
    };
    picture.onpointerup = () => {
      from = null;
    };
    picture.onpointermove = (event) => {
      if (!from || !this.at) return;
      const [x, view] = from;
      const span = view.to - view.from;
      if (span >= view.end) return;
      const begin = Math.min(Math.max(0, view.from - ((event.offsetX - x) / this.at.width) * span), view.end - span);
      this.app.zoom(begin, begin + span);
    };
    picture.onkeydown = (event) => {
      const { from: begin, to } = this.app.view;
      const act = {
        '+': () => this.app.zoomAt((begin + to) / 2, 0.5),
        '-': () => this.app.zoomAt((begin + to) / 2, 2),
        0: () => this.app.zoom(null, null),
        ArrowLeft: () => this.app.move(-0.1),
        ArrowRight: () => this.app.move(0.1),
      }[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    };
  }

  get variant() {
    return this.app.state.sides[this.place];
  }

  get request() {
    const { base, set } = this.variant;
    return { toml: this.app.text(base), overrides: overrides(set) };
  }

  /** Runs the variant as it stands. What is shown is old until the new run is there. */
  run() {
    this.old = true;
    this.dim();
    this.runner.send({ request: this.request, watch: { port: this.app.state.port, vc: this.app.state.vc }, view: this.view() });
  }

  dim() {
    for (const figure of Object.values(this.figures)) figure.classList.toggle('old', this.old);
  }

  view() {
    const { from, to } = this.app.state;
    return { from, to, n: binsOf(this.pictures.queue.clientWidth) };
  }

  look() {
    if (this.read || this.runner.busy) this.runner.send({ view: this.view() });
  }

  heard(data) {
    if (data.squares) this.drawSquares(data.squares);
    else if (data.errors) {
      const text = data.errors.join('\n');
      this.problem.textContent = data.broken ? `The engine of ${this.name} stopped with an error and was restarted: ${text}` : text;
      if (data.broken) this.runner.start();
    } else if (data.series) this.show(data);
  }

  show(data) {
    this.picture = data;
    if (data.read) {
      this.problem.textContent = '';
      this.read = data.read;
      this.result = data.result;
      this.end = data.end;
      this.notes = data.notes;
      this.port = data.result.ports.find((port) => port.name === data.read.port) ?? { dropped_cells: {} };
      this.figures.queue.hidden = data.read.port === null;
      const pool = poolOf(data.read, data.read.port);
      this.pool = pool && { ...data.result.pools.find((one) => one.switch === pool.of), ...pool };
      this.command.textContent = this.commandLine();
      this.old = false;
      this.dim();
      this.app.ran(this);
    } else {
      this.draw();
      this.app.tellSought(this);
    }
    this.tell();
    (window.timings ??= []).push({ side: this.name, ms: performance.now() - this.runner.asked, engine: data.engine_ms });
  }

  /** Names of the VCs that cross the port, and the mean queue of each in the view. */
  get averages() {
    const found = new Map(vcsAt(this.read.scenario, this.read.port).map((vc) => [vc.name, 0]));
    for (const { vc, mean } of this.queueSeries) found.set(vc, average(mean));
    return found;
  }

  get queueSeries() {
    return this.picture.series.filter((one) => one.what === 'queue' && one.of === this.read.port && one.vc);
  }

  /** The mean queue in the view of each port of the pool. */
  get portAverages() {
    return new Map(this.portSeries.map(({ of, mean }) => [of, average(mean)]));
  }

  /** Whole queues of the ports that share a pool, that of the watched port first. */
  get portSeries() {
    return (this.pool?.ports ?? []).flatMap((port) => this.wholeQueueOf(port) ?? []);
  }

  wholeQueueOf(port) {
    return this.picture.series.find((one) => one.what === 'queue' && one.of === port && !one.vc);
  }

  /** Series of a stack with the colours of what `key` names; those without one are added up. */
  stacked(series, key, places) {
    const isOne = (one) => places.has(one[key]);
    const stack = series
      .filter(isOne)
      .map((one) => ({ ...one, average: average(one.mean), colour: this.app.colourOf(one[key], places) }));
    const rest = series.filter((one) => !isOne(one));
    if (rest.length) {
      const mean = rest[0].mean.map((_, k) => rest.reduce((sum, one) => sum + one.mean[k], 0));
      stack.push({ [key]: 'others', mean, colour: theme().others, average: average(mean) });
    }
    return stack;
  }

  /** The instants between which single cells are drawn. */
  get closeSpan() {
    const link = this.read.scenario.links.find((one) => one.name === this.read.port);
    return (FEW_CELLS * this.read.format.cell_bits) / link.rate;
  }

  /** Whether each of a few cells is drawn, which needs a queue that counts them. */
  get isClose() {
    const { from, to } = this.picture.view;
    const { port, every, format } = this.read;
    return port !== null && !every && this.wholeQueueOf(port)?.unit === `${format.noun}s` && to - from < this.closeSpan;
  }

  draw() {
    this.queues = this.stacked(this.queueSeries, 'vc', this.app.places);
    this.shares = this.stacked(this.portSeries, 'of', this.app.portPlaces);
    this.caption();
    if (this.isClose) {
      const { view } = this.picture;
      this.runner.worker.postMessage({ seq: this.runner.seq, inspect: { of: this.read.port, to: view.to } });
    } else this.at = this.drawQueueOn(new CanvasPainter(this.pictures.queue, KINDS.queue.height));
    for (const kind of ['pool', 'window', 'rate', 'sequence']) {
      const shown = kind === 'pool' ? this.shares : this.lines(kind);
      this.figures[kind].hidden = !shown.length;
      if (shown.length) this.drawOn(new CanvasPainter(this.pictures[kind], KINDS[kind].height), kind);
    }
  }

  drawOn(painter, kind) {
    if (kind === 'pool') this.drawPoolOn(painter);
    else if (kind !== 'queue') this.drawLinesOn(painter, kind);
    else if (this.isClose && this.cells) this.drawCellsOn(painter);
    else this.drawQueueOn(painter);
  }

  /** What sets this variant apart stands above each of its pictures. */
  caption() {
    const text = this.app.panel.apart(this.place);
    for (const caption of Object.values(this.captions)) caption.replaceChildren(element('b', {}, this.name), text && ` ${text}`);
  }

  drawQueueOn(painter) {
    const { description, port, format } = this.read;
    const total = this.wholeQueueOf(port);
    const top = this.app.longest;
    const levels = near(levelsOf(description, port), top);
    const unit = `${total?.unit ?? `${format.noun}s`} waiting`;
    return drawQueue(painter, this.picture.view, this.queues, { total, levels, counts: this.picture.counts[port], top, unit, ...theme() });
  }

  drawPoolOn(painter) {
    const { series, view } = this.picture;
    const [total, ...bounds] = ['pool', 'threshold'].flatMap((what) => series.filter((one) => one.what === what));
    const top = this.app.fullest;
    const levels = near([['pool', this.pool.buffer_places]], top);
    const isSeen = bounds.some(({ lo }) => lo.some((value) => value <= highest(top, levels)));
    const threshold = isSeen ? ' (dashed: threshold)' : ' (below the threshold)';
    const unit = `${total.unit} held${bounds.length ? threshold : ''}`;
    return drawQueue(painter, view, this.shares, { total, levels, bounds, top, unit, ...theme() });
  }

  /** Series of a picture with their colours. */
  lines(kind) {
    const whats = KINDS[kind].series;
    return this.picture.series
      .filter((one) => whats.includes(one.what) && (kind === 'sequence' || this.app.places.has(one.of)))
      .map((one) => ({ ...one, colour: this.app.colourOf(one.of), dash: one.what === whats[1] ? [3, 3] : undefined }));
  }

  drawLinesOn(painter, kind) {
    const series = this.lines(kind);
    const unit = {
      window: 'cwnd (dashed: ssthresh), bytes',
      rate: `allowed cell rate, ${series[0].unit}`,
      sequence: `${this.app.state.vc}: sent (dashed: acknowledged), bytes`,
    }[kind];
    return drawLines(painter, this.picture.view, series, { unit, ...theme() });
  }

  /** Single cells, once their points are here. */
  drawSquares(points) {
    this.cells = queueColumns(points, this.picture.view);
    this.at = this.drawCellsOn(new CanvasPainter(this.pictures.queue, KINDS.queue.height));
  }

  get dropsHere() {
    return (this.picture.drops ?? []).filter((drop) => drop.port === this.read.port);
  }

  drawCellsOn(painter) {
    const colourOf = (vc) => this.app.colourOf(vc);
    const unit = withNoun('position in the queue (single cells)', [this.read.format]);
    return drawCells(painter, this.picture.view, this.cells, this.dropsHere, { colourOf, unit, ...theme() });
  }

  clicked(event) {
    if (!this.at || !this.picture) return;
    const near = this.dropsHere
      .map((drop) => [Math.abs(this.at.x(drop.time_s) - event.offsetX), drop])
      .filter(([distance]) => distance < 8)
      .sort((a, b) => a[0] - b[0] || a[1].cell - b[1].cell)[0];
    this.app.explain(near && this.why(near[1]));
  }

  /** Why a cell was dropped: what the switch found. */
  why(drop) {
    const values = [
      drop.waiting_cells ?? drop.waiting_bytes,
      drop.waiting_of_vc_cells ?? drop.waiting_of_vc_bytes,
      drop.active_vcs,
      drop.threshold_cells ?? drop.threshold_bytes,
    ];
    const state = STATE.map((name, place) => [name, values[place]])
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => `${name} = ${short(value)}`)
      .join(', ');
    const program = drop.policy_state ? `; program: ${drop.policy_state}` : '';
    const pool = drop.pool_queues ? `; ${drop.free_places} places of the pool are free, and its queues hold: ${drop.pool_queues}` : '';
    return `${this.name}: ${drop.vc}, ${placeOf(drop, this.read.format)}: dropped at ${instantOf(drop)}, reason ${drop.reason}; ${state}${program}${pool}`;
  }

  tell() {
    if (!this.details.open || !this.result) return;
    const parts = [byVc(this.result, this.queues, this.read.format)];
    if (this.pool) parts.push(byPort(this.shares, this.portSeries[0].unit));
    if (this.dropsHere.length) parts.push(byDrop(this.dropsHere, this.read.format));
    this.tables.replaceChildren(...parts);
  }

  commandLine() {
    const { base, set } = this.variant;
    const saved = `cellyard-${this.name}.toml`;
    if (!Object.hasOwn(this.app.files.examples, base)) return `# after "Save TOML" of ${this.name}:\n${runCommand(saved, {})}`;
    const file = `${base}.toml`;
    const first = base !== this.app.files.opened ? `cellyard example ${base} > ${file}\n` : '';
    return `${first}${runCommand(file, set)}`;
  }

  /** The pictures shown: canvas, caption, and the same as a drawing of SVG. */
  get shownPictures() {
    const kinds = Object.keys(KINDS).filter((kind) => this.picture && !this.figures[kind].hidden);
    return kinds.map((kind) => {
      const painter = new SvgPainter(this.pictures[kind].clientWidth, KINDS[kind].height);
      this.drawOn(painter, kind);
      return { canvas: this.pictures[kind], caption: this.captions[kind].textContent, painter };
    });
  }
}

/** Levels that are not so far above the longest queue that it could not be seen. */
function near(levels, longest) {
  return levels.filter(([, places]) => places <= 5 * Math.max(longest, 10));
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
