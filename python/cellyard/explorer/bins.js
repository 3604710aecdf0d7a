// Recorded points as what a screen can show: for each pixel the least, the largest and the mean value.

/**
 * The envelope of a step function in `n` equal bins of [from, to): no spike is lost at any zoom.
 * `time` grows; `value[i]` holds from `time[i]` on, and before the first point the value is 0.
 */
export function envelope(time, value, from, to, n) {
  const lo = new Float32Array(n);
  const hi = new Float32Array(n);
  const mean = new Float32Array(n);
  const width = (to - from) / n;
  let next = after(time, from);
  let now = next ? value[next - 1] : 0;
  for (let bin = 0; bin < n; bin++) {
    const end = from + (bin + 1) * width;
    let begun = from + bin * width;
    let least = now;
    let largest = now;
    let sum = 0;
    for (; next < time.length && time[next] < end; next++) {
      sum += now * (time[next] - begun);
      begun = time[next];
      now = value[next];
      if (now < least) least = now;
      if (now > largest) largest = now;
    }
    lo[bin] = least;
    hi[bin] = largest;
    mean[bin] = (sum + now * (end - begun)) / width;
  }
  return { lo, hi, mean };
}

/**
 * The same of an envelope: `least`, `mean` and `greatest` are of intervals that follow each other from 0 on, and end at
 * `time`.
 */
export function rebinned({ time, least, mean, greatest }, from, to, n) {
  const lo = new Float32Array(n);
  const hi = new Float32Array(n);
  const means = new Float32Array(n);
  const width = (to - from) / n;
  let next = after(time, from);
  for (let bin = 0; bin < n; bin++) {
    const [begin, end] = [from + bin * width, from + (bin + 1) * width];
    let [low, high, sum] = [Infinity, -Infinity, 0];
    for (let place = next; place < time.length; place++) {
      const begun = Math.max(begin, place ? time[place - 1] : 0);
      if (begun >= end) break;
      if (least[place] < low) low = least[place];
      if (greatest[place] > high) high = greatest[place];
      sum += mean[place] * (Math.min(end, time[place]) - begun);
      if (time[place] <= end) next = place + 1;
    }
    [lo[bin], hi[bin]] = low <= high ? [low, high] : [0, 0];
    means[bin] = sum / width;
  }
  return { lo, hi, mean: means };
}

/** A bin is busy when its queue is above this share of the longest; bursts are apart by more than this share of the view. */
const BUSY = 0.02;
const APART = 0.02;

/** The first and the last bin of the largest burst, of the greatest and the mean queue in each bin; null without a queue. */
export function busiest(hi, mean) {
  const least = BUSY * hi.reduce((most, value) => Math.max(most, value), 0);
  let best = null;
  let now = null;
  for (let k = 0; k < hi.length; k++) {
    if (!(hi[k] > least)) continue;
    if (!now || k - now.last > APART * hi.length + 1) now = { first: k, last: k, sum: 0 };
    now.last = k;
    now.sum += mean[k];
    if (!best || now.sum > best.sum) best = now;
  }
  return best && [best.first, best.last];
}

/** How many of the times are at or before `limit`. */
export function after(time, limit) {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The columns of pieces joined: arrays that grow by doubling. */
export class Column {
  constructor() {
    this.data = new Float64Array(1024);
    this.length = 0;
  }

  add(piece) {
    if (this.length + piece.length > this.data.length) {
      const room = new Float64Array(Math.max(2 * this.data.length, this.length + piece.length));
      room.set(this.data.subarray(0, this.length));
      this.data = room;
    }
    this.data.set(piece, this.length);
    this.length += piece.length;
  }

  /** All values so far, as a view. */
  get all() {
    return this.data.subarray(0, this.length);
  }
}
