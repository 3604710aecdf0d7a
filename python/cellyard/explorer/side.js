// One variant: its knobs, its worker, its pictures and what they say.
import { COLOURS, OTHERS, REASONS, binsOf, drawCells, drawLines, drawQueue, queueColumns, short } from './charts.js';
import { element, fill, save } from './dom.js';
import { numberAt, position, quantity, written } from './knobs.js';
import { byDrop, byVc, instantOf, placeOf } from './numbers.js';
import { CanvasPainter, SvgPainter } from './painter.js';
import { levelsOf, vcsAt, withNoun } from './scenario.js';
import { overrides, runCommand } from './state.js';

const INK = '#1d232b';
/** In a view of at most so many cell times, cells are drawn one by one. */
const FEW_CELLS = 300;
/** A request that takes longer than this many milliseconds is given up for a newer one. */
const PATIENCE = 150;

/** What a run records, by how it does. */
const RECORDED = { change: 'changes', interval: 'samples', envelope: 'envelope values' };

export class Side {
  constructor(name, place, app, workers) {
    this.name = name;
    this.place = place;
    this.app = app;
    this.workers = workers;
    this.colours = new Map();
    this.seq = 0;
    this.start();
    this.build();
  }

  start() {
    this.worker?.terminate();
    this.worker = this.workers.take();
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.onerror = (event) => this.heard({ seq: this.seq, errors: [event.message], broken: true });
    this.busy = false;
  }

  build() {
    const label = `variant ${this.name}`;
    const canvas = (what) => element('canvas', { tabindex: 0, role: 'img', 'aria-label': `${what}, ${label}` });
    this.notes = element('ul', { class: 'notes', 'aria-live': 'polite' });
    this.pictures = {
      queue: canvas('queue by VC'),
      window: canvas('congestion windows'),
      rate: canvas('allowed cell rates'),
      sequence: canvas('sequence numbers'),
    };
    this.heights = { queue: 210, window: 130, rate: 130, sequence: 130 };
    this.knobs = element('div', {});
    this.hint = element('p', { class: 'hint', 'aria-live': 'polite' });
    this.problem = element('p', { class: 'problem', role: 'alert' });
    this.legend = element('ul', { class: 'legend' });
    this.why = element('p', { class: 'why', 'aria-live': 'polite', hidden: true });
    this.tables = element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `tables of ${label}` });
    this.command = element('code', {});
    const other = this.place ? 'A' : 'B';
    this.copy = element('button', {}, `Copy to ${other}`);
    this.copy.onclick = () => this.app.copy(this.place, 1 - this.place);
    const tables = element('details', {}, element('summary', {}, 'The pictures as tables'), this.tables);
    const command = element('details', {}, element('summary', {}, 'The same run on the command line'), this.command);
    tables.ontoggle = () => this.tell();
    this.details = tables;
    this.element = element(
      'section',
      { class: 'side', 'aria-label': `Variant ${this.name}` },
      element('h2', {}, `Variant ${this.name} `, this.copy),
      this.knobs,
      this.hint,
      this.problem,
      this.notes,
      this.pictures.queue,
      this.legend,
      this.why,
      this.pictures.window,
      this.pictures.rate,
      this.pictures.sequence,
      tables,
      command,
    );
    // Rows are numbered, as a part that is hidden would move those after it up.
    [...this.element.children].forEach((part, row) => {
      part.style.gridRow = row + 1;
    });
    for (const picture of Object.values(this.pictures)) this.listen(picture);
    this.pictures.queue.onclick = (event) => this.clicked(event);
    const help = ({ target }) => {
      const id = target.htmlFor || target.dataset.knob || target.id;
      if (this.hints?.has(id)) this.hint.textContent = this.hints.get(id);
    };
    this.knobs.addEventListener('focusin', help);
    this.knobs.addEventListener('pointerover', help);
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

  /** Runs the variant as it stands; while one run is under way only the newest waits. */
  run() {
    const { base, set } = this.variant;
    const request = { toml: this.app.text(base), overrides: overrides(set) };
    this.copy.hidden = !this.app.state.both;
    this.send({ request, watch: { port: this.app.state.port, vc: this.app.state.vc }, view: this.view() });
  }

  view() {
    const { from, to } = this.app.state;
    return { from, to, n: binsOf(this.pictures.queue.clientWidth) };
  }

  look() {
    if (this.read || this.busy) this.send({ view: this.view() });
  }

  send(message) {
    if (this.busy) {
      if (message.request || !this.waiting?.request) this.waiting = message;
      else this.waiting.view = message.view;
      return;
    }
    this.busy = true;
    this.waiting = null;
    this.asked = performance.now();
    this.worker.postMessage({ seq: ++this.seq, ...message });
    clearTimeout(this.late);
    this.late = setTimeout(() => this.next(), PATIENCE);
  }

  /** Sends what waits: at once when nothing is under way, and a newer run also in place of one that takes long. */
  next() {
    if (this.busy && !this.waiting?.request) {
      this.late = setTimeout(() => this.next(), PATIENCE);
      return;
    }
    this.busy = false;
    if (this.waiting) this.send(this.waiting);
  }

  heard(data) {
    if (data.seq !== this.seq) return;
    if (data.squares) return this.drawSquares(data.squares);
    this.busy = false;
    clearTimeout(this.late);
    if (data.errors) {
      this.problem.textContent = data.broken
        ? `The engine stopped with an error and was restarted: ${data.errors.join('\n')}`
        : data.errors.join('\n');
      if (data.broken) this.start();
    } else if (data.series) {
      if (data.read) this.problem.textContent = '';
      this.show(data);
    }
    this.next();
  }

  show(data) {
    if (data.read) {
      this.read = data.read;
      this.result = data.result;
      this.end = data.end;
      this.notes.replaceChildren(...data.notes.map((note) => element('li', {}, `note: ${note}`)));
      this.port = data.result.ports.find((port) => port.name === data.read.port);
      this.drawKnobs();
      this.command.textContent = this.commandLine();
    }
    this.picture = data;
    this.why.hidden = true;
    this.rank();
    this.draw();
    if (data.read) this.app.ran();
    this.tell();
    const took = performance.now() - this.asked;
    (window.timings ??= []).push({ side: this.name, ms: took, engine: data.engine_ms });
    if (data.read && !this.app.warned) {
      const { every, how } = data.read;
      const recorded = `${data.points.toLocaleString('en')} ${RECORDED[how]} recorded`;
      const note = every
        ? ` The run is long, so it is shown in intervals of ${short(1e3 * every)} ms. Choose a shorter duration to see every change.`
        : '';
      this.app.say(`${this.name}: ${recorded}, shown after ${took.toFixed(0)} ms.${note}`);
    }
  }

  /** Colours by VC: of more than twelve the ones with the longest queues have their own, the others share one. */
  rank() {
    const { port } = this.read;
    const found = this.picture.series.filter((one) => one.what === 'queue' && one.of === port && one.vc);
    for (const one of found) one.average = one.mean.reduce((sum, value) => sum + value, 0) / one.mean.length;
    const vcs = vcsAt(this.read.scenario, port).map((vc) => vc.name);
    if (vcs.length > COLOURS.length && this.ranked !== this.read) {
      const average = new Map(found.map((one) => [one.vc, one.average]));
      this.largest = [...vcs].sort((a, b) => (average.get(b) ?? 0) - (average.get(a) ?? 0)).slice(0, COLOURS.length);
    } else if (vcs.length <= COLOURS.length) this.largest = vcs;
    this.ranked = this.read;
    this.colours = new Map(vcs.map((vc) => [vc, OTHERS]));
    this.largest.forEach((vc, place) => this.colours.set(vc, COLOURS[place]));
    this.queues = found
      .filter((one) => this.largest.includes(one.vc))
      .map((one) => ({ ...one, colour: this.colours.get(one.vc) }));
    const rest = found.filter((one) => !this.largest.includes(one.vc));
    if (rest.length) {
      const mean = rest[0].mean.map((_, k) => rest.reduce((sum, one) => sum + one.mean[k], 0));
      this.queues.push({
        vc: 'others',
        mean,
        colour: OTHERS,
        average: mean.reduce((sum, value) => sum + value, 0) / mean.length,
      });
    }
  }

  get isClose() {
    const { from, to } = this.picture.view;
    const link = this.read.scenario.links.find((one) => one.name === this.read.port);
    return !this.read.every && to - from < (FEW_CELLS * this.read.format.cell_bits) / link.rate;
  }

  draw() {
    if (this.isClose) {
      const { view } = this.picture;
      this.worker.postMessage({ seq: this.seq, inspect: { of: this.read.port, to: view.to } });
    } else this.at = this.drawQueueOn(new CanvasPainter(this.pictures.queue, this.heights.queue));
    for (const name of ['window', 'rate', 'sequence']) {
      const series = this.lines(name);
      this.pictures[name].hidden = !series.length;
      if (series.length) this.drawLinesOn(new CanvasPainter(this.pictures[name], this.heights[name]), name);
    }
    this.drawLegend();
  }

  /** Draws the queue again where the other variant changed the common scale. */
  rescale() {
    if (this.picture && this.scale !== this.app.longest && !this.isClose) {
      this.at = this.drawQueueOn(new CanvasPainter(this.pictures.queue, this.heights.queue));
    }
  }

  drawQueueOn(painter) {
    const levels = levelsOf(this.read.description, this.read.port);
    const most = this.app.longest;
    this.scale = most;
    const shown = levels.filter(([, cells]) => cells <= 5 * Math.max(most, 10));
    const counts = this.picture.counts[this.read.port] ?? {};
    const unit = withNoun('cells waiting', [this.read.format]);
    return drawQueue(painter, this.picture, this.queues, { levels: shown, counts, ink: INK, top: most, unit });
  }

  /** Series of a picture with their colours. */
  lines(name) {
    const whats = { window: ['cwnd', 'ssthresh'], rate: ['acr'], sequence: ['sequence', 'acknowledged'] }[name];
    return this.picture.series
      .filter((one) => whats.includes(one.what) && (name === 'sequence' || this.largest.includes(one.of)))
      .map((one) => ({ ...one, colour: this.colours.get(one.of), dash: one.what === whats[1] ? [3, 3] : undefined }));
  }

  drawLinesOn(painter, name) {
    const units = {
      window: 'cwnd (dashed: ssthresh), bytes',
      rate: 'allowed cell rate',
      sequence: `${this.app.state.vc}: sequence (dashed: acknowledged), bytes`,
    };
    const series = this.lines(name);
    const unit = name === 'rate' ? `${units.rate}, ${series[0].unit}` : units[name];
    return drawLines(painter, this.picture.view, series, { ink: INK, unit });
  }

  /** Single cells, once their points are here. */
  drawSquares(points) {
    this.cells = queueColumns(points, this.picture.view);
    this.at = this.drawCellsOn(new CanvasPainter(this.pictures.queue, this.heights.queue));
  }

  get dropsHere() {
    return (this.picture.drops ?? []).filter((drop) => drop.port === this.read.port);
  }

  drawCellsOn(painter) {
    const colourOf = (vc) => this.colours.get(vc) ?? OTHERS;
    const unit = withNoun('position in the queue (single cells)', [this.read.format]);
    return drawCells(painter, this.picture.view, this.cells, this.dropsHere, { ink: INK, colourOf, unit });
  }

  clicked(event) {
    const near = this.dropsHere
      .map((drop) => [Math.abs(this.at.x(drop.time_s) - event.offsetX), drop])
      .filter(([distance]) => distance < 8)
      .sort((a, b) => a[0] - b[0] || a[1].cell - b[1].cell)[0];
    this.why.hidden = !near;
    if (!near) return;
    const drop = near[1];
    const state = [
      ['X', drop.waiting_cells],
      ['Y_i', drop.waiting_of_vc_cells],
      ['N_a', drop.active_vcs],
      ['threshold', drop.threshold_cells],
    ]
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => `${name} = ${short(value)}`)
      .join(', ');
    const program = drop.policy_state ? `; program: ${drop.policy_state}` : '';
    this.why.textContent = `${drop.vc}, ${placeOf(drop, this.read.format)}: dropped at ${instantOf(drop)}, reason ${drop.reason}. ${state}${program}`;
  }

  drawLegend() {
    const swatch = (colour) => {
      const made = element('span', { class: 'swatch' });
      made.style.background = colour;
      return made;
    };
    const items = this.queues.map(({ vc, colour }) => {
      if (vc === 'others') return element('li', {}, swatch(colour), vc);
      const button = element(
        'button',
        { 'aria-pressed': String(this.app.state.vc === vc), title: `sequence numbers of ${vc}` },
        swatch(colour),
        vc,
      );
      button.onclick = () => this.app.choose(vc);
      return element('li', {}, button);
    });
    const reasons = Object.keys(this.picture.counts[this.read.port] ?? {});
    items.push(
      ...reasons.map((reason) =>
        element('li', {}, swatch(REASONS[reason]), reason === 'any' ? 'dropped' : `dropped: ${reason}`),
      ),
    );
    this.legend.replaceChildren(...items);
  }

  tell() {
    if (!this.details.open || !this.result) return;
    const parts = [byVc(this.result, this.queues, this.read.format)];
    if (this.dropsHere.length) parts.push(byDrop(this.dropsHere, this.read.format));
    this.tables.replaceChildren(...parts);
  }

  commandLine() {
    const { base, set } = this.variant;
    const known = Object.hasOwn(this.app.files.examples, base);
    const file = known ? `${base}.toml` : 'scenario.toml';
    const first = known && base !== this.app.files.opened ? `cellyard example ${base} > ${file}\n` : '';
    return `${first}${runCommand(file, set)}`;
  }

  /** The knobs, built anew when another scenario or component is chosen, so that a slider under way keeps its place. */
  drawKnobs() {
    const groups = this.app.groups(this.place, this.read.tree);
    const shape = JSON.stringify(groups.map((group) => group.knobs.map((knob) => [knob.paths, knob.original])));
    if (shape !== this.shape) {
      this.shape = shape;
      this.refresh = new Map();
      this.hints = new Map();
      const main = groups.flatMap((group) => group.knobs.filter((knob) => isMain(knob)).map((knob) => [group, knob]));
      const rest = groups
        .map((group) => [group, group.knobs.filter((knob) => !isMain(knob))])
        .filter(([, knobs]) => knobs.length);
      const lists = rest.map(([group, knobs]) =>
        element(
          'details',
          {},
          element('summary', {}, group.title),
          this.list(
            knobs.map((knob) => [group, knob]),
            false,
          ),
        ),
      );
      const more = element('details', {}, element('summary', {}, 'Everything else'), ...lists);
      this.knobs.replaceChildren(this.list(main, true), more);
    }
    const values = new Map(groups.flatMap((group) => group.knobs).map((knob) => [knob.paths[0], knob]));
    for (const [path, refresh] of this.refresh) if (values.has(path)) refresh(values.get(path));
  }

  list(entries, titled) {
    const list = element('div', { class: 'knobs' });
    for (const [group, knob] of entries) list.append(...this.knob(group, knob, titled));
    return list;
  }

  knob(group, knob, titled) {
    const id = `${this.name}-${knob.paths[0]}`;
    const label = element('label', { for: id });
    label.textContent = titled && group.title !== 'Run' ? `${group.title}: ${knob.label}` : knob.label;
    this.hints.set(
      id,
      `${label.textContent}: ${knob.help} Allowed: ${knob.allowed}. ${knob.default ? `Default: ${knob.default}.` : 'It has no default.'}`,
    );
    const changed = (value) => this.app.set(this.place, knob, value.trim() === '' || value === knob.original ? null : value);
    if (knob.choices) {
      const select = element('select', { id, class: 'wide' });
      const none = knob.original === null ? [['', `default: ${knob.default}`]] : [];
      fill(select, [...none, ...knob.choices.map((name) => [name, name])]);
      select.onchange = () => changed(select.value);
      this.refresh.set(knob.paths[0], ({ value }) => {
        select.value = componentName(value, knob) ?? '';
        this.mark(label, knob);
      });
      return [label, select];
    }
    if (knob.lines) {
      const text = element('textarea', { id, class: 'wide', rows: 1, spellcheck: 'false' });
      text.onchange = () => changed(text.value);
      this.refresh.set(knob.paths[0], ({ value }) => {
        if (document.activeElement !== text) text.value = value;
        text.rows = Math.min(30, value.trimEnd().split('\n').length);
        this.mark(label, knob);
      });
      return [label, text];
    }
    const box = element('input', {
      id,
      class: knob.slider ? '' : 'wide',
      placeholder: knob.default,
      spellcheck: 'false',
      autocomplete: 'off',
    });
    box.onchange = () => changed(box.value);
    if (!knob.slider) {
      this.refresh.set(knob.paths[0], ({ value }) => {
        if (document.activeElement !== box) box.value = value;
        this.mark(label, knob);
      });
      return [label, box];
    }
    const slider = element('input', { type: 'range', min: 0, max: 1000, 'aria-label': label.textContent, 'data-knob': id });
    slider.oninput = () => {
      const { unit, whole } = knob.slider;
      box.value = written(numberAt(knob.slider, Number(slider.value)), unit, whole);
      changed(box.value);
    };
    this.refresh.set(knob.paths[0], ({ value }) => {
      if (document.activeElement !== box) box.value = value;
      const now = quantity(value || knob.default);
      if (document.activeElement !== slider && now) slider.value = position(knob.slider, now.number);
      this.mark(label, knob);
    });
    return [label, slider, box];
  }

  /** Names of knobs in which the variants differ are bold. */
  mark(label, knob) {
    const [a, b] = this.app.state.sides;
    const [path] = knob.paths;
    label.classList.toggle('differs', this.app.state.both && (a.base !== b.base || a.set[path] !== b.set[path]));
  }

  saveToml() {
    if (this.read) save(`cellyard-${this.name}.toml`, new Blob([this.read.toml], { type: 'application/toml' }));
  }

  savePng() {
    const shown = Object.values(this.pictures).filter((picture) => !picture.hidden);
    const whole = element('canvas', {});
    whole.width = Math.max(...shown.map((picture) => picture.width));
    whole.height = shown.reduce((sum, picture) => sum + picture.height, 0);
    const context = whole.getContext('2d');
    context.fillStyle = '#ffffff';
    context.fillRect(0, 0, whole.width, whole.height);
    let top = 0;
    for (const picture of shown) {
      context.drawImage(picture, 0, top);
      top += picture.height;
    }
    whole.toBlob((blob) => save(`cellyard-${this.name}.png`, blob));
  }

  /** Saves the cells of the watched port in the window shown, which a worker of its own runs again. */
  saveCapture() {
    if (!this.read) return;
    if (typeof this.read.scenario.format === 'object') {
      this.problem.textContent = 'Captures are defined for the formats aal5 and ethernet only.';
      return;
    }
    const { base, set } = this.variant;
    const { from, to } = this.picture.view;
    const request = { toml: this.app.text(base), overrides: overrides(set) };
    const worker = this.workers.take();
    worker.onmessage = ({ data }) => {
      worker.terminate();
      if (data.errors) this.problem.textContent = data.errors.join('\n');
      else save(`cellyard-${this.name}.pcapng`, new Blob(data.file, { type: 'application/octet-stream' }));
    };
    worker.postMessage({ capture: { request, port: this.read.port, from, to } });
  }

  /** The pictures as drawings of SVG. */
  svg() {
    if (!this.picture) return [];
    const width = this.pictures.queue.clientWidth;
    const painters = [new SvgPainter(width, this.heights.queue)];
    if (this.isClose && this.cells) this.drawCellsOn(painters[0]);
    else this.drawQueueOn(painters[0]);
    for (const name of ['window', 'rate', 'sequence']) {
      if (this.pictures[name].hidden) continue;
      const painter = new SvgPainter(width, this.heights[name]);
      this.drawLinesOn(painter, name);
      painters.push(painter);
    }
    return painters;
  }
}

/** Knobs that are shown at once: what the file states, but for names and places; the rest is folded. */
function isMain(knob) {
  if (knob.value !== '' && knob.original === null) return true;
  return knob.stated && !knob.folded && !/\.(lose|granularity|warm)/.test(knob.paths[0]);
}

function componentName(value, knob) {
  if (knob.choices.includes(value)) return value;
  return knob.component ? knob.choices.find((name) => name === knob.original) : value;
}
