// Random draws: replications of both variants, in their own workers, and the ranges of their numbers.

export const DRAWS = 20;
const MOST_WORKERS = 4;

/**
 * The range of numbers: between the values whose ranks are nearest to the 5 % and the 95 % quantile, as
 * `cellyard.statistics.ranges.interval` has it. Null without values, or if one is not known.
 */
export function rangeOf(values) {
  if (!values.length || values.some((value) => value === null || value === undefined)) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const out = Math.floor((sorted.length + 9) / 20);
  return [sorted[out], sorted.at(-1 - out)];
}

/** Draws under way or done. */
export class Draws {
  constructor(workers) {
    this.takes = workers;
    this.workers = [];
    this.results = null;
  }

  /** Ends the draws, and forgets them. */
  stop() {
    for (const worker of this.workers) worker.terminate();
    this.workers = [];
    this.results = null;
  }

  /** Ends the draws, and keeps the first replications, if all variants have run at least two of them. */
  keep() {
    this.stop();
    let count = 0;
    while (this.found.every((results) => results[count])) count += 1;
    if (count > 1) this.results = this.found.map((results) => results.slice(0, count));
  }

  /**
   * Runs the draws of each variant, `{request, port}`; `told` is called with how many of how many are done, `failed` with a
   * message. The results stand in `results`: a list for each variant, in the order of the replications.
   */
  start(variants, told, failed) {
    this.stop();
    const numbers = Array.from({ length: DRAWS }, (_, replication) => replication);
    const jobs = numbers.flatMap((replication) => variants.map((variant, place) => ({ ...variant, place, replication })));
    this.found = variants.map(() => []);
    let done = 0;
    let given = 0;
    const next = (worker) => {
      const job = jobs[given++];
      if (!job) return;
      worker.job = job;
      worker.postMessage({ draw: { request: job.request, port: job.port, replication: job.replication } });
    };
    const most = Math.min(MOST_WORKERS, navigator.hardwareConcurrency || 2, jobs.length);
    for (let i = 0; i < most; i++) {
      const worker = this.takes.take();
      this.workers.push(worker);
      worker.onmessage = ({ data }) => {
        if (data.errors) {
          this.stop();
          failed(data.errors.join('\n'));
          return;
        }
        this.found[worker.job.place][worker.job.replication] = data.drawn;
        done += 1;
        if (done === jobs.length) this.keep();
        told(done, jobs.length);
        next(worker);
      };
      next(worker);
    }
  }
}
