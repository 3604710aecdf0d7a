// The page: its state, its controls, and the two variants side by side.
import { element, fill, save } from './dom.js';
import { Engine } from './engine.js';
import { groupsOf } from './knobs.js';
import { drawNetwork } from './network.js';
import { compared } from './numbers.js';
import { svgFile } from './painter.js';
import { Side } from './side.js';
import { fresh, fromFragment, toFragment, variant } from './state.js';

const $ = (id) => document.getElementById(id);

/** A file beside the page, or the element of that name where the page is a single file. */
async function asset(name, read) {
  const inline = document.getElementById(`file:${name}`);
  if (inline) return read === 'json' ? JSON.parse(inline.textContent) : unpacked(inline.textContent);
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} could not be loaded (${answer.status}): it must be in the folder of this page.`);
  return read === 'json' ? answer.json() : answer.arrayBuffer();
}

/** The bytes of a text in base 64 that gzip has compressed. */
function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

/** Starts workers with the engine: the first two at once, so that they load while it is compiled. */
class Workers {
  constructor() {
    const inline = document.getElementById('file:worker.js');
    this.source = inline && URL.createObjectURL(new Blob([inline.textContent], { type: 'text/javascript' }));
    this.ready = [this.fresh(), this.fresh()];
  }

  fresh() {
    return this.source ? new Worker(this.source) : new Worker('worker.js', { type: 'module' });
  }

  /** A worker that has the module. */
  take() {
    const worker = this.ready.pop() ?? this.fresh();
    worker.postMessage({ module: this.module });
    return worker;
  }
}

class App {
  constructor(files, components, workers) {
    this.files = files;
    this.families = components;
    this.state = this.begun();
    this.sides = ['A', 'B'].map((name, place) => new Side(name, place, this, workers));
    this.sides.forEach((side) => $('sides').append(side.element));
    this.controls();
    window.addEventListener('hashchange', () => this.opened());
    let width = window.innerWidth;
    window.addEventListener('resize', () => {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      this.look();
    });
    this.changed();
  }

  /** The state of the address; what is wrong with it is said, and the first story shown. */
  begun() {
    const story = new URLSearchParams(location.hash.slice(1)).get('story');
    const found = this.files.stories.find((one) => one.name === story);
    if (found) return fresh(...found.sides, { story: found.name });
    try {
      const known = (name) => Object.hasOwn(this.files.examples, name);
      const state = fromFragment(location.hash, known);
      if (state) return state;
    } catch (error) {
      this.say(error.message);
      this.warned = true;
    }
    const { opened } = this.files;
    if (opened) return fresh(variant(opened), variant(opened), { both: false });
    return fresh(...this.files.stories[0].sides, { story: this.files.stories[0].name });
  }

  opened() {
    if (location.hash === this.written) return;
    this.state = this.begun();
    this.changed();
  }

  /** Text of a variant's scenario. */
  text(base) {
    return Object.hasOwn(this.files.examples, base) ? this.files.examples[base] : base;
  }

  controls() {
    const names = Object.keys(this.files.examples);
    fill($('scenario'), [['', 'choose one'], ...names.map((name) => [name, name])]);
    fill($('story'), [['', 'none'], ...this.files.stories.map((one) => [one.name, one.title])]);
    $('scenario').onchange = ({ target }) => {
      if (target.value) this.become(fresh(variant(target.value), variant(target.value), { both: this.state.both }));
    };
    $('story').onchange = ({ target }) => {
      const story = this.files.stories.find((one) => one.name === target.value);
      if (story) this.become(fresh(...story.sides, { story: story.name }));
      else this.become({ ...this.state, story: null });
    };
    $('both').onclick = () => this.become({ ...this.state, both: !this.state.both });
    $('all').onclick = () => this.zoom(null, null);
    $('step').onclick = () => this.move(0.05);
    $('play').onclick = () => this.play();
    $('share').onclick = () => this.share();
    $('toml').onclick = () => this.eachShown((side) => side.saveToml());
    $('png').onclick = () => this.eachShown((side) => side.savePng());
    $('pcapng').onclick = () => this.eachShown((side) => side.saveCapture());
    $('svg').onclick = () =>
      save('cellyard.svg', new Blob([svgFile(this.shown.flatMap((side) => side.svg()))], { type: 'image/svg+xml' }));
  }

  get shown() {
    return this.sides.filter((side, place) => place === 0 || this.state.both);
  }

  eachShown(act) {
    this.shown.forEach(act);
  }

  become(state) {
    this.state = state;
    this.changed();
  }

  /** Shows the state: everything is run again, and the address says it. */
  changed() {
    this.address();
    const { both, story } = this.state;
    $('both').setAttribute('aria-pressed', String(both));
    $('sides').classList.toggle('one', !both);
    this.sides[1].element.hidden = !both;
    $('story').value = story ?? '';
    $('scenario').value = Object.hasOwn(this.files.examples, this.state.sides[0].base) ? this.state.sides[0].base : '';
    this.tell(this.files.stories.find((one) => one.name === story));
    this.eachShown((side) => side.run());
  }

  address() {
    const fragment = toFragment(this.state);
    try {
      history.replaceState(null, '', fragment ?? '#');
    } catch {
      // A frame of a notebook has no address of its own.
    }
    this.written = location.hash;
  }

  tell(story) {
    $('told').hidden = !story;
    if (!story) return;
    const parts = [element('h2', {}, story.title)];
    parts.push(...story.text.map((sentence) => element('p', {}, sentence)));
    parts.push(element('p', {}, element('b', {}, 'Try: '), story.attempt));
    $('told').replaceChildren(...parts);
  }

  /** A value of a variant is set, or taken back with null. */
  set(place, knob, value) {
    const set = { ...this.state.sides[place].set };
    for (const path of knob.paths) {
      if (value === null) delete set[path];
      else set[path] = value;
      if (knob.component) {
        for (const other of Object.keys(set)) if (other.startsWith(`${path}.`)) delete set[other];
      }
    }
    this.state.sides[place] = { ...this.state.sides[place], set };
    this.address();
    this.sides[place].run();
  }

  copy(from, to) {
    this.state.sides[to] = structuredClone(this.state.sides[from]);
    this.changed();
  }

  groups(place, tree) {
    return groupsOf(tree, this.families, this.state.sides[place].set);
  }

  pick(port) {
    this.become({ ...this.state, port });
  }

  choose(vc) {
    this.become({ ...this.state, vc: this.state.vc === vc ? null : vc });
  }

  /** A side has run: the network and the numbers follow. */
  ran() {
    const first = this.sides[0];
    if (first.read) {
      const colourOf = (vc) => first.colours.get(vc) ?? '#777';
      const { port } = first.read;
      const acts = { pick: (name) => this.pick(name), choose: (name) => this.choose(name) };
      drawNetwork($('network'), first.read, { port, vc: this.state.vc, colourOf, ...acts });
    }
    this.eachShown((side) => side.rescale());
    $('compared').replaceChildren(compared(this.shown));
  }

  /** The longest queue of all variants, so that they have one scale. */
  get longest() {
    return Math.max(...this.shown.map((side) => side.port?.max_queue_cells ?? 0));
  }

  get view() {
    const end = Math.max(...this.shown.map((side) => side.end ?? 0));
    return { from: this.state.from ?? 0, to: this.state.to ?? end, end };
  }

  zoom(from, to) {
    this.state.from = from;
    this.state.to = to;
    this.look();
  }

  look() {
    this.address();
    this.eachShown((side) => side.look());
  }

  /** Zooms around an instant; `by` below 1 goes closer. */
  zoomAt(time, by) {
    const { from, to, end } = this.view;
    const span = Math.min(end, Math.max(2e-6, (to - from) * by));
    const begin = Math.min(Math.max(0, time - ((time - from) / (to - from)) * span), end - span);
    this.zoom(begin, begin + span);
  }

  /** Moves the window by a share of its width. */
  move(share) {
    const { from, to, end } = this.view;
    const span = to - from < end ? to - from : end / 20;
    const begin = to - from < end ? Math.min(Math.max(0, from + share * span), end - span) : 0;
    this.zoom(begin, begin + span);
    return begin + span < end;
  }

  play() {
    const playing = $('play').getAttribute('aria-pressed') === 'true';
    $('play').setAttribute('aria-pressed', String(!playing));
    $('play').textContent = playing ? 'Play' : 'Pause';
    clearInterval(this.clock);
    if (playing) return;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.clock = setInterval(() => this.move(calm ? 0.5 : 0.04) || this.play(), calm ? 1000 : 60);
  }

  async share() {
    if (!toFragment(this.state)) {
      this.say('This scenario is too long for a link: save its TOML instead.');
      return;
    }
    try {
      await navigator.clipboard.writeText(location.href);
      this.say('Link copied.');
    } catch {
      this.say(`Link: ${location.href}`);
    }
  }

  say(text) {
    $('say').textContent = text;
  }
}

async function begin() {
  try {
    if (typeof WebAssembly === 'undefined') throw new Error('The engine needs WebAssembly, which this browser does not support.');
    const workers = new Workers();
    const [files, bytes] = await Promise.all([asset('examples.json', 'json'), asset('engine.wasm')]);
    workers.module = await WebAssembly.compile(bytes);
    const { build, components } = (await Engine.load(workers.module)).ask('describe_engine');
    $('engine').textContent = `Engine ${build}.`;
    window.explorer = new App(files, components.families, workers);
  } catch (error) {
    $('say').textContent = error.message;
    $('say').className = 'problem';
  }
}

begin();
