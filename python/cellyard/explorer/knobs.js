// Knobs of any scenario: what its file states and what the engine's registry knows of each parameter.

const NUMERIC = new Set(['duration', 'rate', 'cells', 'places', 'bytes', 'integer', 'decimal', 'threshold', 'number', 'own']);
const QUANTITY = /^([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?) ?([A-Za-z/]*)$/i;

/** Classes with a queue: the tables `ubr`, `abr`, ... of a switch or a link. */
const CLASSES = ['cbr', 'vbr', 'abr', 'gfr', 'ubr'];

/** Number and unit of a text such as "1000 cells", or null. */
export function quantity(text) {
  const match = QUANTITY.exec(String(text).trim());
  return match && { number: Number(match[1]), unit: match[2] };
}

/** A number as a knob writes it: whole, or with three significant digits. */
export function written(number, unit, whole) {
  const rounded = whole ? Math.max(1, Math.round(number)) : Number(number.toPrecision(3));
  return unit ? `${rounded} ${unit}` : String(rounded);
}

/** Words for names of parameters, if people say something else. */
const WORDS = {
  count: 'number',
  drop: 'drop policy',
  feedback: 'rate feedback',
  recovery: 'loss recovery',
  rwnd: 'receiver window',
  mss: 'segment size',
  mtu: 'MTU',
  class: 'service class',
  guarantee: 'guaranteed rate',
  refuse: 'condition',
  start: 'start time',
  stop: 'stop time',
  min_rto: 'minimum RTO',
  initial_rto: 'initial RTO',
};

/**
 * The groups of knobs of a scenario: `{title, knobs}`, each knob with its paths, label, help, allowed values, the text of
 * its value, and either choices or a slider. `tree` is the file as data, `set` what is set over it.
 */
export function groupsOf(tree, families, set) {
  const of = (family) => families.find((one) => one.name === family);
  const groups = [];
  const top = of('scenario').components[0].parameters.filter((p) => ['duration', 'format', 'seed', 'tie_order'].includes(p.name));
  groups.push({ title: 'Run', knobs: knobsOf(top, tree, '', set, of) });
  const switches = new Set((tree.switch ?? []).map((one) => one.name));
  for (const [family, what] of [
    ['host', 'Hosts'],
    ['switch', 'Switch'],
    ['link', 'Link'],
    ['vc', 'VCs'],
  ]) {
    const parameters = of(family).components[0].parameters;
    const entries = tree[family] ?? [];
    entries.forEach((entry, place) => {
      const name = entry.name ?? (entry.from ? `${entry.from}->${entry.to}` : `${place + 1}`);
      const path = `${family}.${place}.`;
      const knobs = knobsOf(parameters, entry, path, set, of);
      const trunk = family === 'link' && switches.has(entry.from) && switches.has(entry.to);
      const classes = CLASSES.filter((one) => entry[one] !== undefined || `${family}.${place}.${one}` in set);
      for (const knob of knobs) {
        // Of links those between switches come first: there cells wait.
        Object.assign(knob, { family, trunk, at: name, folded: family === 'link' && !trunk });
        knob.label = phrase(knob, { family, name, classes, alone: entries.length === 1 });
      }
      if (knobs.length) groups.push({ title: `${what} ${name}`, knobs });
    });
  }
  tieCounts(groups, tree);
  return groups.filter((group) => group.knobs.length);
}

/** A parameter as people name it: what it is, in which component, and where. */
function phrase({ label, inside }, { family, name, classes, alone }) {
  if (family === 'host') return label === 'number' ? `number of ${name} hosts` : `${label} of ${name}`;
  if (family === 'vc') {
    const what = inside.map((one) => one.toUpperCase()).join(' ');
    return alone ? `${label}${what && ` of ${what}`}` : `${label} of ${name}`;
  }
  if (family === 'switch' && label === 'number') return `number of ${name} switches`;
  const components = inside.filter((one) => !CLASSES.includes(one) || classes.length > 1);
  return `${label} of ${[components.join(' '), name].filter(Boolean).join(' at ')}`;
}

function knobsOf(parameters, entry, path, set, of) {
  const found = [];
  for (const one of parameters) {
    const parameter = withDefaultHere(one, entry, path, set);
    const here = path + parameter.name;
    const stated = entry?.[parameter.name];
    const { type, family, choices } = parameter.kind;
    if (type === 'component') found.push(...ofComponent(parameter, of(family), stated, here, set, of));
    else if (type === 'choice') found.push(choice(parameter, choices, stated, here, set));
    else if (type === 'bool') found.push(choice(parameter, [{ name: 'true' }, { name: 'false' }], stated, here, set));
    else if (type === 'program') found.push({ ...described(parameter, stated, here, set), lines: true });
    else if (NUMERIC.has(type)) {
      if (parameter.name === 'count' && stated === undefined) continue;
      found.push(numeric(parameter, stated, here, set));
    }
  }
  return found;
}

/** A component is a choice of its kind, and the parameters of that kind; a queue is there if the file has one. */
function ofComponent(parameter, family, stated, path, set, of) {
  if (!family) return [];
  if (!family.tag) {
    const table = path in set ? inlineTable(set[path]) : stated;
    if (table === undefined || typeof table !== 'object') return [];
    return knobsOf(family.components[0].parameters, table, `${path}.`, set, of).map((knob) => within(knob, parameter));
  }
  if (
    stated === undefined &&
    !(path in set) &&
    CLASSES.every((name) => !path.includes(`.${name}.`)) &&
    !path.endsWith('.scheduler')
  )
    return [];
  const original = typeof stated === 'object' ? (stated[family.tag] ?? family.untagged ?? undefined) : stated;
  const now = set[path] ?? original;
  // What a table without the tag means cannot be chosen by its name: it needs fields.
  const choices = family.components.filter((one) => one.name !== family.untagged || one.name === original);
  const knob = choice(parameter, choices, original, path, set);
  knob.component = true;
  const component = family.components.find((one) => one.name === now);
  const inner = typeof stated === 'object' && now === original ? stated : {};
  const parameters = component ? [...withChosenDefaults(component.parameters, inner, path, set), ...ownOf(component, family, inner)] : [];
  const more = knobsOf(parameters, inner, `${path}.`, set, of);
  return [knob, ...more.map((one) => within(one, { name: component.name }))];
}

/** Fields next to a parameter that decide its default, such as "cbr for cbr, vbr for vbr, else ubr". */
const DECIDING = { class: 'traffic', rest_of_frame: 'drop', tie_order: 'format' };

/** A parameter with the default that it has next to what is stated and set. */
function withDefaultHere(parameter, entry, path, set) {
  const field = DECIDING[parameter.name];
  const [, last] = /, else (\S+)$/.exec(parameter.default_text) ?? [];
  if (!field || !last) return parameter;
  const stated = set[path + field] ?? entry?.[field] ?? (field === 'format' ? 'aal5' : 'tail-drop');
  const table = typeof stated === 'object' ? stated : inlineTable(stated);
  const name = table.kind ?? table.policy ?? stated;
  const cases = parameter.default_text.split(', ').map((one) => /^(\S+) for (\S+)$/.exec(one));
  return { ...parameter, default_text: cases.find((one) => one?.[2] === name)?.[1] ?? last };
}

/** Parameters with the defaults that chosen values of others set, such as the profile of a TCP. */
function withChosenDefaults(parameters, inner, path, set) {
  const chosen = parameters.flatMap(({ name, kind, default_text }) => {
    const now = set[`${path}.${name}`] ?? inner?.[name] ?? default_text;
    return (kind.choices ?? []).filter((one) => one.name === String(now) && one.sets);
  });
  const sets = Object.assign({}, ...chosen.map((one) => one.sets));
  return parameters.map((one) => (one.name in sets ? { ...one, default_text: sets[one.name] } : one));
}

/** Parameters with names of the file's own, which only a program has. */
function ownOf(component, family, inner) {
  const known = new Set([family.tag, ...component.parameters.map((one) => one.name)]);
  const help = 'A parameter of the program.';
  const allowed = 'a number, cells, a fraction of the buffer ("0.9 K"), a time or a rate';
  const kind = { type: 'own' };
  return Object.keys(inner ?? {})
    .filter((name) => !known.has(name))
    .map((name) => ({ name, help, allowed, default_text: '', kind }));
}

/** The fields of an inline table of TOML without tables in it. */
function inlineTable(text) {
  const fields = [...text.matchAll(/([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|([^,}]+))/g)];
  return Object.fromEntries(fields.map(([, name, quoted, bare]) => [name, quoted ?? bare.trim()]));
}

function within(knob, { name }) {
  return { ...knob, inside: [name, ...knob.inside] };
}

function described(parameter, stated, path, set) {
  return {
    paths: [path],
    inside: [],
    label: WORDS[parameter.name] ?? (parameter.name.length === 1 ? parameter.name.toUpperCase() : parameter.name.replaceAll('_', ' ')),
    help: parameter.help,
    allowed: parameter.allowed,
    stated: stated !== undefined,
    original: stated === undefined ? null : String(stated),
    default: parameter.default_text,
    value: set[path] ?? (stated === undefined ? '' : String(stated)),
  };
}

function choice(parameter, choices, stated, path, set) {
  const names = choices.map((one) => one.name);
  return { ...described(parameter, stated, path, set), choices: names };
}

function numeric(parameter, stated, path, set) {
  const knob = described(parameter, stated, path, set);
  const begin = quantity(stated ?? parameter.default_text);
  const { type } = parameter.kind;
  if (!begin || ['seed', 'tie_offset'].includes(parameter.name)) return knob;
  const whole = ['integer', 'cells', 'places', 'bytes', 'number'].includes(type) || /^(cell|byte)s?$/.test(begin.unit);
  if (begin.unit === 'K') {
    return { ...knob, slider: { min: 0, max: 1, step: 0.01, unit: 'K', whole: false, log: false } };
  }
  const isShare = !begin.unit && (type === 'decimal' || type === 'threshold');
  if (isShare) {
    const most = Number(parameter.kind.maximum ?? 1) > 1 ? Math.max(2, 2 * begin.number) : 1;
    return { ...knob, slider: { min: 0, max: most, step: most / 100, unit: '', whole: false, log: false } };
  }
  if (begin.number <= 0) return knob;
  if (parameter.name === 'count' || type === 'integer') {
    const max = Math.max(20, 2 * begin.number);
    return { ...knob, slider: { min: 1, max, step: 1, unit: '', whole: true, log: false } };
  }
  return {
    ...knob,
    slider: { min: begin.number / 20, max: begin.number * 20, step: 0, unit: begin.unit, whole, log: true },
  };
}

/** Groups that VCs join are of one size: their counts are one knob, named after the senders. */
function tieCounts(groups, tree) {
  const index = new Map((tree.host ?? []).map((host, place) => [host.name, place]));
  const counts = () => groups.flatMap((group) => group.knobs).filter((knob) => /^host\.\d+\.count$/.test(knob.paths[0]));
  const knobAt = (path) => counts().find((knob) => knob.paths.includes(path));
  for (const vc of tree.vc ?? []) {
    const [from, to] = [vc.from, vc.to].map((name) => knobAt(`host.${index.get(name)}.count`));
    if (!from || !to || from === to) continue;
    from.paths = [...new Set([...from.paths, ...to.paths])];
    for (const group of groups) group.knobs = group.knobs.filter((knob) => knob !== to);
  }
  const left = counts();
  for (const knob of left) {
    const here = (name) => knob.paths.includes(`host.${index.get(name)}.count`);
    const senders = [...new Set((tree.vc ?? []).map((vc) => vc.from).filter(here))];
    if (senders.length > 1) knob.label = `number of hosts each of ${senders.join(', ')}`;
    else if (left.length === 1) knob.label = senders.length ? 'number of senders' : 'number of receivers';
    else if (senders.length) knob.label = `number of ${senders[0]} hosts`;
  }
}

/** Where a slider of 0 to 1000 stands for a number. */
export function position({ min, max, log }, number) {
  const share = log ? Math.log(number / min) / Math.log(max / min) : (number - min) / (max - min);
  return Math.round(1000 * Math.min(1, Math.max(0, share)));
}

/** The number for where a slider stands: the inverse of `position`. */
export function numberAt({ min, max, step, log }, place) {
  const share = place / 1000;
  if (log) return min * (max / min) ** share;
  const number = min + (max - min) * share;
  return step ? Math.round(number / step) * step : number;
}
