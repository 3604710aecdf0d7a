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
