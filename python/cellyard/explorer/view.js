// What is looked at: the window of time, the port and the VC, and the network in which they are chosen.
import { element, fill } from './dom.js';
import { drawNetwork, rateText, vcsText } from './network.js';
import { MOST_TRACES, vcsAt } from './scenario.js';
import { theme } from './theme.js';

const $ = (id) => document.getElementById(id);

/** VCs and ports that a list has at most. */
const MOST_LISTED = 1000;

/** The part of the page that needs no run: it works on the `sides` and the `state` of the page. */
export class View {
  /** The longest queue of all variants, so that they have one scale. */
  get longest() {
    return Math.max(...this.shown.map(({ port }) => port?.max_queue_places ?? port?.max_queue_bytes ?? port?.max_queue_cells ?? 0));
  }

  /** The most that a pool held in any variant. */
  get fullest() {
    return Math.max(0, ...this.shown.map(({ pool }) => pool?.max_used_places ?? 0));
  }

  get view() {
    const end = Math.max(...this.shown.map((side) => side.end ?? 0));
    return { from: this.state.from ?? 0, to: this.state.to ?? end, end };
  }

  zoom(from, to) {
    this.state.from = from;
    this.state.to = to;
    this.found = undefined;
    this.explain(null);
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

  /** Variants shown that have run. */
  get ready() {
    return this.shown.filter((side) => side.read);
  }

  /** The ports watched, which variants with different networks may have. */
  get portNames() {
    return [...new Set(this.ready.map((side) => side.read.port))].filter(Boolean).join(' and ');
  }

  /** Goes to the next or the previous drop of any variant, seen from the middle of the window, and says why it happened. */
  async toDrop(what) {
    const { from, to, end } = this.view;
    const sides = this.ready;
    const time = this.found !== undefined && this.found > from && this.found < to ? this.found : what === 'next' ? from - 1e-12 : to;
    const answers = await Promise.all(sides.map((side) => side.runner.ask({ what, port: side.read.port, time })));
    const known = answers.map((answer, place) => [answer, sides[place]]).filter(([answer]) => answer !== null);
    known.sort(([a], [b]) => (what === 'next' ? a - b : b - a));
    if (!known.length) {
      const isPartial = sides.some(({ read }) => !read.every && read.scenario.vcs.length > MOST_TRACES);
      const whose = isPartial ? ` of the first ${MOST_TRACES} VCs` : '';
      this.say(`There is no ${what === 'next' ? 'later' : 'earlier'} drop${whose} at ${this.portNames}.`);
      return;
    }
    const [[drop, side]] = known;
    this.say('');
    const close = side.read.every ? 8 * side.read.every : 0.6 * side.closeSpan;
    const span = Math.min(to - from, close, end);
    const begin = Math.min(Math.max(0, drop - span / 2), end - span);
    this.zoom(begin, begin + span);
    this.found = drop;
    this.sought = side;
  }

  /** Says why the drop happened that was looked for, once its window is there. */
  tellSought(side) {
    if (this.sought !== side || !side.picture.drops) return;
    const drop = side.dropsHere.find((one) => Math.abs(one.time_s - this.found) < 1e-12);
    if (drop) this.explain(side.why(drop));
    this.sought = null;
  }

  /** Zooms to the largest burst in the window. */
  async fit() {
    const { from, to } = this.view;
    const sides = this.ready;
    const answers = await Promise.all(sides.map((side) => side.runner.ask({ what: 'burst', port: side.read.port, from, to })));
    const windows = answers.filter(Boolean);
    if (!windows.length) {
      this.say(`Nothing waits at ${this.portNames} in this window.`);
      return;
    }
    const [begin, end] = [Math.min(...windows.map(([time]) => time)), Math.max(...windows.map(([, time]) => time))];
    const fits = end - begin > 0.95 * (to - from);
    this.say(fits ? 'The largest burst takes nearly all of this window.' : '');
    if (!fits) this.zoom(begin, end);
  }

  /** Lists of the ports where cells can wait, and of the TCPs at the port shown. */
  list() {
    const { read } = this.sides[0];
    for (const id of ['before', 'after', 'fit']) $(id).disabled = read.port === null;
    const ports = read.description.ports.filter((port) => port.can_queue || port.name === read.port).slice(0, MOST_LISTED);
    const options = (some) => some.map(({ name }) => element('option', { value: name }, name));
    const [data, acks] = [ports.filter((port) => port.data_vcs), ports.filter((port) => !port.data_vcs)];
    const groups = [
      ['Ports with data', data],
      ['Ports with acknowledgements only', acks],
    ];
    $('port').replaceChildren(
      ...groups.filter(([, some]) => some.length).map(([label, some]) => element('optgroup', { label }, ...options(some))),
    );
    if (read.port === null) fill($('port'), [['', 'none: there is no switch']]);
    $('port').value = read.port ?? '';
    const { data_vcs } = read.description.ports.find((port) => port.name === read.port) ?? {};
    const { rate } = read.scenario.links.find((link) => link.name === read.port) ?? {};
    $('about').textContent = rate ? `${rateText(rate)}, ${vcsText(data_vcs)}` : '';
    const tcps = vcsAt(read.scenario, read.port).filter((vc) => vc.traffic.kind === 'tcp');
    fill($('vc'), [['', 'no VC'], ...tcps.slice(0, MOST_LISTED).map(({ name }) => [name, name])]);
    $('vc').value = tcps.some((vc) => vc.name === this.state.vc) ? this.state.vc : '';
  }

  drawNetwork() {
    const { read, old } = this.sides[0];
    if (!read) return;
    const acts = { pick: (name) => this.pick(name), choose: (name) => this.choose(name), colourOf: (vc) => this.colourOf(vc) };
    drawNetwork($('network'), read, { port: read.port, vc: this.state.vc, ...acts });
    $('network').classList.toggle('old', old);
  }

  /** Colours of the VCs, of the reasons of drops, and of the ports of a pool. */
  legend() {
    const swatch = (colour) => {
      const made = element('span', { class: 'swatch' });
      made.style.background = colour;
      return made;
    };
    const chooser = (name, colour, attributes, act) => {
      const button = element('button', attributes, swatch(colour), name);
      button.onclick = act;
      return element('li', {}, button);
    };
    const sides = this.ready;
    const { others, reasons } = theme();
    const rest = (averagesOf, places) =>
      sides.some((side) => averagesOf(side).size > places.size) ? [element('li', {}, swatch(others), 'others')] : [];
    const vcs = [...this.places.keys()].map((vc) => {
      const pressed = String(this.state.vc === vc);
      return chooser(vc, this.colourOf(vc), { 'aria-pressed': pressed, title: `follow ${vc}` }, () => this.choose(vc));
    });
    const found = new Set(sides.flatMap((side) => Object.keys(side.picture.counts[side.read.port] ?? {})));
    const drops = [...found].map((reason) => element('li', {}, swatch(reasons[reason]), reason === 'any' ? 'dropped' : `dropped: ${reason}`));
    $('legend').replaceChildren(...vcs, ...rest((side) => side.averages, this.places), ...drops);
    const ports = [...this.portPlaces.keys()].map((port) =>
      chooser(port, this.colourOf(port, this.portPlaces), { title: `show the queue of ${port}` }, () => this.pick(port)),
    );
    $('ports').replaceChildren(...ports, ...rest((side) => side.portAverages, this.portPlaces));
  }

  /** A sentence on a dropped cell, or none. */
  explain(text) {
    $('why').hidden = !text;
    $('why').textContent = text ?? '';
  }

  say(text) {
    $('say').textContent = text;
  }
}
