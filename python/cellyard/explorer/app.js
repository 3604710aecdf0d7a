// The page: its state, its controls, and the two variants side by side.
import { element, fill } from './dom.js';
import { Draws, DRAWS } from './draws.js';
import { Engine } from './engine.js';
import { groupsOf } from './knobs.js';
import { Workers, asset } from './load.js';
import { compared, duration } from './numbers.js';
import { Panel } from './panel.js';
import { longestExact } from './scenario.js';
import { shareMenu } from './share.js';
import { KINDS, Side } from './side.js';
import { fresh, fromFragment, toFragment, variant } from './state.js';
import { COLOURED, coloured, scheme, theme } from './theme.js';
import { View } from './view.js';

const $ = (id) => document.getElementById(id);

class App extends View {
  constructor(files, components, workers) {
    super();
    this.files = files;
    this.families = components;
    this.workers = workers;
    this.places = new Map();
    this.portPlaces = new Map();
    this.state = this.begun();
    this.panel = new Panel(this, { few: $('few'), rest: $('more'), hint: $('hint') });
    this.sides = ['A', 'B'].map((name, place) => new Side(name, place, this, workers));
    this.draws = new Draws(workers);
    for (const kind of Object.keys(KINDS)) $(kind).append(...this.sides.map((side) => side.figures[kind]));
    $('problems').append(...this.sides.map((side) => side.problem));
    $('lists').append(...this.sides.map((side) => side.lists));
    this.saved = shareMenu($('files'), this);
    this.controls();
    window.addEventListener('hashchange', () => this.opened());
    // The page becomes narrower also when a scroll bar comes.
    let width = $('first').clientWidth;
    new ResizeObserver(() => {
      if ($('first').clientWidth === width) return;
      width = $('first').clientWidth;
      this.look();
      this.drawNetwork();
    }).observe($('first'));
    scheme.addEventListener('change', () => this.redraw());
    this.changed();
  }

  /** The state of the address; what is wrong with it is said, and the first story shown. */
  begun() {
    const story = new URLSearchParams(location.hash.slice(1)).get('story');
    const found = this.files.stories.find((one) => one.name === story);
    if (found) return fresh(...found.sides, { story: found.name });
    try {
      const state = fromFragment(location.hash, (name) => Object.hasOwn(this.files.examples, name));
      if (state) return { ...state, sides: state.sides.map((side) => ({ ...side, base: this.nameOf(side.base) })) };
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

  /** The name of a scenario that this page has, or its text. */
  nameOf(base) {
    return Object.keys(this.files.examples).find((name) => this.files.examples[name] === base) ?? base;
  }

  /** The state with the text of a scenario in place of a name that other pages may not have. */
  get selfContained() {
    const { opened } = this.files;
    return { ...this.state, sides: this.state.sides.map((side) => (side.base === opened ? { ...side, base: this.text(opened) } : side)) };
  }

  get story() {
    return this.files.stories.find((one) => one.name === this.state.story);
  }

  controls() {
    const names = Object.keys(this.files.examples);
    fill($('scenario'), [['', 'from the link'], ...names.map((name) => [name, name])]);
    fill($('story'), [['', 'none'], ...this.files.stories.map((one) => [one.name, one.title])]);
    $('scenario').onchange = ({ target }) => {
      if (target.value) this.become(fresh(variant(target.value), variant(target.value), { both: this.state.both }));
    };
    $('story').onchange = ({ target }) => {
      const story = this.files.stories.find((one) => one.name === target.value);
      this.become(story ? fresh(...story.sides, { story: story.name }) : { ...this.state, story: null });
    };
    const act = {
      both: () => this.become({ ...this.state, both: !this.state.both }),
      all: () => this.zoom(null, null),
      step: () => this.move(0.05),
      play: () => this.play(),
      before: () => this.toDrop('previous'),
      after: () => this.toDrop('next'),
      fit: () => this.fit(),
      draws: () => this.draw(),
      toB: () => this.copy(0, 1),
      toA: () => this.copy(1, 0),
    };
    for (const [id, acts] of Object.entries(act)) $(id).onclick = acts;
    $('port').onchange = ({ target }) => this.pick(target.value);
    $('vc').onchange = ({ target }) => this.become({ ...this.state, vc: target.value || null });
    document.addEventListener('click', ({ target }) => {
      if (!$('save').contains(target)) $('save').open = false;
    });
    $('save').addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') $('save').open = false;
    });
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
    const { both, story, sides } = this.state;
    $('both').setAttribute('aria-pressed', String(both));
    document.body.classList.toggle('one', !both);
    for (const part of [this.saved[1], this.sides[1].lists, $('toB'), $('toA')]) part.hidden = !both;
    if (!both) this.sides[1].problem.textContent = '';
    this.sides[1].isShown = both;
    $('story').value = story ?? '';
    $('scenario').value = Object.hasOwn(this.files.examples, sides[0].base) ? sides[0].base : '';
    this.tell(this.story);
    this.explain(null);
    this.eachShown((side) => this.run(side));
  }

  /** Runs a side: its draws, and what stands there of it, are old. */
  run(side) {
    this.draws.stop();
    side.run();
    $('network').classList.toggle('old', this.sides[0].old);
    this.number();
  }

  address() {
    const fragment = toFragment(this.selfContained) ?? toFragment(this.state);
    try {
      history.replaceState(null, '', fragment ?? '#');
    } catch {
      // A frame of a notebook has no address.
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
    this.run(this.sides[place]);
  }

  copy(from, to) {
    this.state.sides[to] = structuredClone(this.state.sides[from]);
    this.changed();
  }

  pick(port) {
    this.become({ ...this.state, port });
  }

  choose(vc) {
    this.become({ ...this.state, vc: this.state.vc === vc ? null : vc });
  }

  /** A side has run: colours, knobs, pictures, the network and the numbers follow. */
  ran(side) {
    side.groups = groupsOf(side.read.tree, this.families, this.state.sides[side.place].set);
    this.recolour();
    this.panel.draw();
    // The other variant follows if it has the same scale, colours or captions.
    const common = JSON.stringify([this.longest, this.fullest, [...this.places], [...this.portPlaces], this.panel.apart(0), this.panel.apart(1)]);
    for (const one of this.ready) if (one === side || common !== this.common) one.draw();
    this.common = common;
    if (side.place === 0) {
      this.list();
      this.drawNetwork();
    }
    this.number();
    this.note();
    const { every, description } = side.read;
    const most = longestExact(description);
    if (!this.warned) this.say(every ? `Shown in intervals of ${duration(every)}. Runs of up to about ${duration(most)} show every change.` : '');
  }

  /** Notes of the runs, with the variant if the other does not have them. */
  note() {
    const sides = this.ready;
    const notes = new Map();
    for (const { name, notes: found } of sides) for (const note of found) notes.set(note, [...(notes.get(note) ?? []), name]);
    const items = [...notes].map(([note, names]) => `note${names.length < sides.length ? ` on ${names[0]}` : ''}: ${note}`);
    $('notes').replaceChildren(...items.map((text) => element('li', {}, text)));
  }

  redraw() {
    for (const one of this.shown) if (one.read) one.draw();
    this.drawNetwork();
    this.legend();
  }

  /** Colours over both variants, by VC and by port of a pool: of many those with the longest queues have their own, the others share one. */
  recolour() {
    this.places = coloured(this.largest((side) => side.averages), this.places);
    this.portPlaces = coloured(this.largest((side) => side.portAverages), this.portPlaces);
    this.legend();
  }

  /** Names of the longest of all variants' queues, no more than there are colours. */
  largest(averagesOf) {
    const sums = new Map();
    for (const side of this.ready) {
      for (const [name, average] of averagesOf(side)) sums.set(name, (sums.get(name) ?? 0) + average);
    }
    const names = [...sums.keys()];
    return names.length <= COLOURED ? names : names.sort((a, b) => sums.get(b) - sums.get(a)).slice(0, COLOURED);
  }

  /** The colour of a name that has one of these `places`, else that of all others. */
  colourOf(name, places = this.places) {
    const { vcs, others } = theme();
    return places.has(name) ? vcs[places.get(name)] : others;
  }

  /** The draws of both variants, or the end of those under way, of which the finished ones are kept. */
  draw() {
    if (this.draws.workers.length) {
      this.draws.keep();
      this.number();
      return;
    }
    const variants = this.shown.filter((side) => side.read).map((side) => ({ request: side.request, port: side.read.port }));
    const told = (done, all) => {
      if (done === all) this.number();
      else $('draws').textContent = `Stop: ${done} of ${all} runs`;
    };
    $('draws').textContent = 'Stop';
    this.draws.start(variants, told, (message) => {
      this.number();
      this.say(message);
    });
  }

  number() {
    $('draws').textContent = this.draws.workers.length ? 'Stop' : `Run ${DRAWS} draws`;
    $('compared').replaceChildren(compared(this.shown, this.draws.results, this.portNames));
    $('compared').classList.toggle('old', this.shown.some((side) => side.old));
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
