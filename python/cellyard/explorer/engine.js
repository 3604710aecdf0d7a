// The engine: one instance of its WebAssembly. Texts of JSON go in and out; recorded points come as views of its memory.

/** What the engine refused: one text for each problem. */
export class Refused extends Error {
  constructor(problems) {
    super(problems.join('\n'));
    this.name = 'Refused';
    this.problems = problems;
  }
}

/** An instance of the engine. After an error that is not `Refused` it must not be used again: load another one. */
export class Engine {
  /** Loads the engine from the bytes of its WebAssembly, or from a module that was made of them. */
  static async load(source) {
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
    const engine = new Engine();
    engine.wasm = (await WebAssembly.instantiate(module, {})).exports;
    return engine;
  }

  /** The answer of a function as text; `request` is an object. */
  text(name, request) {
    try {
      if (name === 'open') this.names = [];
      const input = request === undefined ? null : new TextEncoder().encode(JSON.stringify(request));
      const at = this.wasm.room(input ? input.length : 0);
      if (input) new Uint8Array(this.wasm.memory.buffer, at, input.length).set(input);
      return this.#read(this.wasm.answer, this.wasm[name]());
    } catch (error) {
      throw new Error(this.#why(error));
    }
  }

  /** The answer of a function as an object; throws `Refused`. */
  ask(name, request) {
    return accepted(JSON.parse(this.text(name, request)));
  }

  /**
   * Goes on with the open run until so many seconds. Each of `series` has its new points as `time` and `value`, and `drops`
   * a column of numbers for each field of a dropped cell; all are copies.
   */
  advance(seconds) {
    let found;
    try {
      found = accepted(JSON.parse(this.#read(this.wasm.answer, this.wasm.advance(seconds))));
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw new Error(this.#why(error));
    }
    const at = this.wasm.points();
    const column = (from, n) => new Float64Array(this.wasm.memory.buffer, at + 8 * from, n).slice();
    for (const one of found.series) {
      one.time = column(one.from, one.n);
      one.value = column(one.from + one.n, one.n);
    }
    const { columns, from, n } = found.drops;
    found.drops.data = columns.map((_, place) => column(from + place * n, n));
    // The engine hands out each name once.
    this.names.push(...found.drops.names);
    found.drops.names = this.names;
    return found;
  }

  /** What the capture of the open run holds and was not taken yet, as bytes. */
  capture() {
    const length = this.wasm.capture();
    return new Uint8Array(this.wasm.memory.buffer, this.wasm.file(), length).slice();
  }

  #read(begins, length) {
    return new TextDecoder().decode(new Uint8Array(this.wasm.memory.buffer, begins(), length));
  }

  #why(error) {
    const length = this.wasm.panicked();
    return length ? this.#read(this.wasm.panicked_at, length) : String(error.message ?? error);
  }
}

function accepted(answer) {
  if (answer.errors) throw new Refused(answer.errors);
  return answer;
}

/** Fields of a dropped cell that are texts: numbers in `names`. */
const TEXTS = new Set(['port', 'vc', 'direction', 'reason', 'policy_state', 'pool_queues']);

/** A dropped cell as an object, from columns as `Engine.advance` hands them out. */
export function dropAt({ columns, names }, data, place) {
  const entries = columns.map((field, i) => {
    const value = data[i][place];
    if (TEXTS.has(field)) return [field, names[value] ?? null];
    return [field, Number.isNaN(value) ? null : value];
  });
  return Object.fromEntries(entries);
}
