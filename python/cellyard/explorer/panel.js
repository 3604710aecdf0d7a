// The knobs: a row for each value, with a column for each variant. The few that matter come first. The browser keeps no
// values of them, since it would store all at each change of the address.
import { element, fill } from './dom.js';
import { numberAt, position, quantity, written } from './knobs.js';

/** Knobs that are not folded. */
const MOST = 8;

export class Panel {
  constructor(app, { few, rest, hint }) {
    this.app = app;
    this.few = few;
    this.rest = rest;
    this.rows = [];
    const help = ({ target }) => {
      const text = this.helps?.get(target.htmlFor || target.dataset.knob || target.id);
      if (text) hint.textContent = text;
    };
    for (const part of [few, rest]) {
      part.addEventListener('focusin', help);
      part.addEventListener('pointerover', help);
    }
  }

  /** Rows of what the variants shown have: `{label, title, cells}`, in a cell the knob of a variant. */
  rowsOf(sides) {
    const rows = new Map();
    for (const { place, groups } of sides) {
      for (const { title, knobs } of groups) {
        for (const knob of knobs) {
          const key = `${knob.paths[0]} ${knob.at} ${knob.inside}`;
          const row = rows.get(key) ?? { key, label: '', title, cells: new Map() };
          // A variant with more classes names them.
          if (knob.label.length > row.label.length) row.label = knob.label;
          row.cells.set(place, knob);
          rows.set(key, row);
        }
      }
    }
    return [...rows.values()];
  }

  /** Shows the knobs; they are built anew only when there are others, so that a slider under way keeps its place. */
  draw() {
    const sides = this.app.shown.filter((side) => side.read);
    this.rows = this.rowsOf(sides);
    const ranked = this.rows.map((row) => [this.rank(row, sides[0].read.port), row]);
    const kept = ranked.filter(([rank]) => rank !== null).sort((a, b) => a[0] - b[0]);
    const few = kept.slice(0, MOST).map(([, row]) => row);
    const shape = JSON.stringify([
      sides.map((side) => side.place),
      few.map((row) => row.key),
      this.rows.map((row) => [row.key, row.label, [...row.cells].map(([place, knob]) => [place, knob.original, knob.default])]),
    ]);
    if (shape !== this.shape) {
      this.shape = shape;
      this.refresh = new Map();
      this.elements = new Map();
      this.helps = new Map();
      const places = sides.map((side) => side.place);
      this.few.replaceChildren(...this.list(few, places));
      const groups = new Map();
      for (const row of this.rows.filter((one) => !few.includes(one))) groups.set(row.title, [...(groups.get(row.title) ?? []), row]);
      this.rest.replaceChildren(
        ...[...groups].map(([title, rows]) => element('details', {}, element('summary', {}, title), ...this.list(rows, places))),
      );
    }
    for (const row of this.rows) for (const [place, knob] of row.cells) this.refresh.get(`${place} ${row.key}`)(knob);
    for (const row of this.rows) this.elements.get(row.key).classList.toggle('differs', this.differs(row));
  }

  /** How soon a knob comes, the first 0; null for one that is folded. */
  rank({ cells }, port) {
    const [knob] = cells.values();
    const [path] = knob.paths;
    const story = this.app.story?.knobs ?? [];
    if (story.includes(path)) return 0;
    const isMain = (knob.stated || knob.value !== '') && !knob.folded && !/\.(lose|granularity|warm)/.test(path);
    const here = port !== null && (port === knob.at || port.split('->')[0].replace(/\d+$/, '') === knob.at?.replace(/\d+$/, ''));
    if (here && knob.family !== 'host' && ['buffer', 'drop policy'].includes(knob.label.split(' of ')[0])) return 1;
    if (!isMain) return null;
    if (path.startsWith('host.')) return 2;
    if (path.endsWith('.recovery')) return 3;
    if (knob.trunk) return 4;
    return path === 'duration' ? 5 : 6;
  }

  list(rows, places) {
    return rows.map((row) => {
      const label = element('div', { class: 'label' }, row.label);
      const cells = places.map((place) => {
        const knob = row.cells.get(place);
        return knob ? this.cell(row, place, knob) : element('div', { class: 'none' }, 'none here');
      });
      const knob = element('div', { class: 'knob' }, label, element('div', { class: 'cells' }, ...cells));
      this.elements.set(row.key, knob);
      return knob;
    });
  }

  cell(row, place, knob) {
    const id = `${'AB'[place]}-${knob.paths[0]}`;
    const name = `${row.label}, variant ${'AB'[place]}`;
    const ends = knob.default ? `Default: ${knob.default}.` : 'It has no default.';
    this.helps.set(id, `${row.label} (${knob.paths.join(', ')}): ${knob.help} Allowed: ${knob.allowed}. ${ends}`);
    const changed = (value) => this.app.set(place, knob, value.trim() === '' || value === knob.original ? null : value);
    const [input, refresh, more = []] = knob.choices
      ? this.choice(knob, { id, 'aria-label': name }, changed)
      : knob.lines
        ? this.lines({ id, 'aria-label': name }, changed)
        : this.box(knob, { id, 'aria-label': name }, changed);
    this.refresh.set(`${place} ${row.key}`, refresh);
    return element('div', { class: `cell side${'AB'[place]}` }, input, ...more);
  }

  choice(knob, attributes, changed) {
    const select = element('select', { ...attributes, autocomplete: 'off' });
    // The default is chosen by stating nothing.
    const unstated = knob.original === null ? knob.default : null;
    const others = knob.choices.filter((one) => one !== unstated).map((one) => [one, one]);
    fill(select, unstated === null ? others : [['', unstated], ...others]);
    select.onchange = () => changed(select.value);
    const refresh = (now) => {
      const name = componentName(now);
      select.value = !name || name === unstated ? '' : name;
    };
    return [select, refresh];
  }

  lines(attributes, changed) {
    const text = element('textarea', { ...attributes, autocomplete: 'off', rows: 1, spellcheck: 'false' });
    text.onchange = () => changed(text.value);
    const refresh = ({ value }) => {
      if (document.activeElement !== text) text.value = value;
      const long = value.trimEnd().split('\n');
      text.rows = Math.min(30, Math.max(2, long.length + long.filter((line) => line.length > 24).length));
    };
    return [text, refresh];
  }

  box(knob, attributes, changed) {
    const box = element('input', { ...attributes, placeholder: knob.default, spellcheck: 'false', autocomplete: 'off' });
    box.onchange = () => changed(box.value);
    const slider = element('input', { type: 'range', min: 0, max: 1000, autocomplete: 'off', 'aria-label': `${attributes['aria-label']}, slider`, 'data-knob': attributes.id });
    slider.oninput = () => {
      const { unit, whole } = knob.slider;
      box.value = written(numberAt(knob.slider, Number(slider.value)), unit, whole);
      changed(box.value);
    };
    const refresh = ({ value, default: initial }) => {
      if (document.activeElement !== box) box.value = value;
      const now = quantity(value || initial);
      if (knob.slider && document.activeElement !== slider && now) slider.value = position(knob.slider, now.number);
    };
    return [box, refresh, knob.slider ? [slider] : []];
  }

  /** Whether the variants differ in a row. */
  differs({ cells }) {
    if (!this.app.state.both) return false;
    const [a, b] = [0, 1].map((place) => cells.get(place));
    // A default of what the other variant does not have is no difference.
    return a && b ? (a.value || a.default) !== (b.value || b.default) : Boolean((a ?? b).value);
  }

  /** The first values in which a variant differs from the other, as a few words. */
  apart(place) {
    const differing = this.rows.filter((row) => row.cells.has(place) && this.differs(row));
    const texts = differing.map(({ label, cells }) => `${label}: ${cells.get(place).value || cells.get(place).default}`);
    const brief = texts.filter((text) => text.length < 70 && !text.includes('\n')).slice(0, 2);
    // Knobs do not show everything in which scenarios can differ.
    const [a, b] = this.app.sides.map((side) => side.read?.toml);
    if (!differing.length) return this.app.state.both && place && a === b ? 'the same as A' : '';
    return brief.join(', ') + (differing.length > brief.length && brief.length ? ', ...' : '');
  }
}

function componentName({ value, choices, component, original }) {
  if (choices.includes(value)) return value;
  return component ? choices.find((name) => name === original) : value;
}
