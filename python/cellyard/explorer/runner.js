// The worker of a variant: sends it what is to be run or looked at, the newest in place of what still waits.

/** A request that takes longer than this many milliseconds is given up for a newer one. */
const PATIENCE = 150;

export class Runner {
  /** `heard` is called with each answer to the newest message. */
  constructor(workers, heard) {
    this.workers = workers;
    this.heard = heard;
    this.seq = 0;
    this.questions = new Map();
    this.start();
  }

  start() {
    this.worker?.terminate();
    for (const answer of this.questions.values()) answer(null);
    this.questions.clear();
    this.worker = this.workers.take();
    this.worker.onmessage = ({ data }) => this.answered(data);
    this.worker.onerror = (event) => this.answered({ seq: this.seq, errors: [event.message], broken: true });
    this.busy = false;
  }

  /** Sends a message now, or once nothing else is under way. */
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

  /** The answer to a question about what was run, or null when the worker ended before it. */
  ask(question) {
    return new Promise((resolve) => {
      const number = this.questions.size ? Math.max(...this.questions.keys()) + 1 : 1;
      this.questions.set(number, resolve);
      this.worker.postMessage({ question, number });
    });
  }

  answered(data) {
    if (data.number) {
      this.questions.get(data.number)?.(data.answer);
      this.questions.delete(data.number);
      return;
    }
    if (data.seq !== this.seq) return;
    this.busy = false;
    clearTimeout(this.late);
    this.heard(data);
    this.next();
  }
}
