// What the page shows, as plain data: it stands in the address, so that a link gives the same picture.
// The address may come from anybody: it is read with limits, and what is not known is left out.

const LONGEST = 8192;
const MOST_SETS = 60;
/** As long as the engine lets a program be; every other value is shorter. */
const LONGEST_VALUE = 4096;
/** Paths, and names as the engine allows them: of a port two of 64 characters, and what joins them. */
const NAME = /^[\p{Alphabetic}\p{N}_\-/>:+.]{1,200}$/u;

/** A variant: the name of an example or the text of a scenario, and what is set in it. */
export function variant(base, set = {}) {
  return { base, set };
}

/** A fresh state with two variants. */
export function fresh(a, b, more = {}) {
  return { sides: [a, b], both: true, port: null, vc: null, from: null, to: null, story: null, ...more };
}

/** The state as the fragment of an address, or null when a link cannot hold it. A base that both variants have is there once. */
export function toFragment(state) {
  const [a, b] = state.sides;
  const sides = [a, a.base === b.base ? { set: b.set } : b];
  const text = `#${encodeURIComponent(JSON.stringify({ ...state, sides }))}`;
  try {
    fromFragment(text, () => true);
  } catch {
    return null;
  }
  return text;
}

/**
 * The state of a fragment. Null if there is none; throws an error with a message for people if it cannot be used.
 * `known` says whether an example has this name.
 */
export function fromFragment(fragment, known) {
  const text = fragment.replace(/^#/, '');
  if (!text) return null;
  if (fragment.length > LONGEST) throw new Error(`The link is longer than ${LONGEST} characters.`);
  let data;
  try {
    data = JSON.parse(decodeURIComponent(text));
  } catch {
    throw new Error('This is not a valid explorer link: it cannot be read.');
  }
  if (typeof data !== 'object' || data === null || !Array.isArray(data.sides) || data.sides.length !== 2) {
    throw new Error('This is not a valid explorer link: it does not describe two variants.');
  }
  const [first, second] = data.sides;
  const same = typeof second === 'object' && second !== null && !Object.hasOwn(second, 'base') ? { ...second, base: first?.base } : second;
  const [a, b] = [first, same].map((side) => sideOf(side, known));
  const instant = (value) => (Number.isFinite(value) && value >= 0 && value <= 100000 ? value : null);
  const name = (value) => (typeof value === 'string' && NAME.test(value) ? value : null);
  return fresh(a, b, {
    both: data.both !== false,
    port: name(data.port),
    vc: name(data.vc),
    from: instant(data.from),
    to: instant(data.to),
    story: name(data.story),
  });
}

function sideOf(side, known) {
  if (typeof side !== 'object' || side === null || typeof side.base !== 'string') {
    throw new Error('This is not a valid explorer link: a variant has no scenario.');
  }
  if (!side.base.includes('\n') && !known(side.base)) {
    throw new Error('The link names an example that this page does not have.');
  }
  const entries = Object.entries(typeof side.set === 'object' && side.set !== null ? side.set : {});
  if (entries.length > MOST_SETS) throw new Error(`The link sets more than ${MOST_SETS} values.`);
  for (const [path, value] of entries) {
    if (!NAME.test(path) || typeof value !== 'string' || value.length > LONGEST_VALUE) {
      throw new Error('The link sets a value that this page cannot read.');
    }
  }
  return variant(side.base, Object.fromEntries(entries));
}

/** Paths and values as the engine and `--set` take them: components before what is in them. */
export function overrides(set) {
  return Object.entries(set).sort(([a], [b]) => a.split('.').length - b.split('.').length);
}

/** The command that runs a file with these values, for a shell. A file that begins with a minus sign is no option. */
export function runCommand(file, set) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const path = file.startsWith('-') ? `./${file}` : file;
  const sets = overrides(set).map(([name, value]) => ` --set ${quoted(`${name}=${value}`)}`);
  return `cellyard run ${/^[\w./-]+$/.test(path) ? path : quoted(path)}${sets.join('')}`;
}
