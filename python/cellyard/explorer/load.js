// Files of the page, and workers with the engine.

/** A file next to the page, or the element of that name if the page is a single file. */
export async function asset(name, read) {
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
export class Workers {
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
