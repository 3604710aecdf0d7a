//! A shortcut of the arithmetic kernel: cells of several inputs that come farther apart than one per cell time, in turns of one.
//!
//! Sources that are held to a rate each bring long runs of cells at a distance of their own, so that no cell of one comes without those of others
//! between. Then only the wait of each cell is new: what its run says of it, and what is counted at its hop and its sink, is the same for all cells
//! of the run, and is brought up to date once, when the run ends or anybody looks: another way of taking cells, who measures, the end of all.
//!
//! Conditions: cells of one run come farther apart than one per cell time; they go on to their host without another station, where they arrive within the measuring time; X stays below the
//! buffer, and below the policy's smallest refusal where a frame begins; no Y_i are kept; nothing is watched. A cell of which they do not hold is
//! taken by itself.

use super::Arithmetic;
use crate::cells::{Arrival, ENDS_FRAME, Fate, FrameState, Run};
use crate::fabric::{Fabric, Next};
use crate::port::Inputs;
use crate::tally::raise;
use crate::units::{Span, Time};

/// An input whose run at the head of its feed is being taken.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// Cells of the run that have been taken, and that are left; none of a run that is not being taken.
    taken: u32,
    left: u32,
    /// Arrival of the next one.
    time: Time,
    period: Span,
    /// Index of the flow.
    flow: u32,
    is_data: bool,
    /// S - t from which on the next cell is to be taken by itself.
    limit: i64,
    /// The same from which on each is.
    later_limit: i64,
    /// Starts before which, and from which on, cells do not arrive within the measuring time.
    from: i64,
    to: i64,
    /// Age of a cell at its host that does not wait.
    age: Span,
    /// Ages of those that have been taken.
    sum: u128,
    least: Span,
    most: Span,
}

/// Whether the cells of `run`, at the head of its feed, are of that kind, where the next cell of another input comes at `next`.
#[inline(always)]
pub fn applies(kernel: &Arithmetic, run: &Run, next: Time) -> bool {
    run.n > 1
        && run.period > kernel.cell_time
        && next < run.time + run.period
        && kernel.counts.is_none()
}

/// Takes cells that arrive before `horizon`, at least one, until several come together.
#[inline(never)]
pub fn run(kernel: &mut Arithmetic, fabric: &mut Fabric, inputs: &mut Inputs, horizon: Time) {
    while let Some((time, input)) = inputs.order.first() {
        let next = inputs.order.second_time();
        if time >= horizon || time == next {
            break;
        }
        let feed = inputs.feed(input);
        if inputs.merged.len() <= input as usize {
            inputs.merged.resize(input as usize + 1, Merged::default());
        }
        let merged = &mut inputs.merged[input as usize];
        let takes_part = merged.left > 0 || merged.join(kernel, fabric, feed);
        let more = if takes_part && merged.step(kernel, fabric, time) {
            if merged.left > 0 || merged.goes_on(kernel, fabric, feed) {
                inputs.order.postpone_first(merged.time);
                continue;
            }
            merged.settle(kernel, fabric, feed)
        } else {
            merged.leave(kernel, fabric, feed);
            kernel.take_next(fabric, feed, next.min(horizon))
        };
        if more {
            inputs.order.postpone_first(fabric.feeds[feed].head.time);
        } else {
            inputs.order.pop();
        }
    }
}

/// Brings up to date what is known of `input` elsewhere; its cells are taken in another way.
#[inline(always)]
pub fn leave(kernel: &Arithmetic, fabric: &mut Fabric, inputs: &mut Inputs, input: u32) {
    let feed = inputs.feed(input);
    if let Some(merged) = inputs.merged.get_mut(input as usize) {
        merged.leave(kernel, fabric, feed);
    }
}

/// Brings up to date what is known of all inputs elsewhere.
pub fn settle_all(kernel: &Arithmetic, fabric: &mut Fabric, inputs: &mut Inputs) {
    for (merged, feed) in inputs.merged.iter_mut().zip(inputs.first_feed..) {
        merged.settle(kernel, fabric, feed);
    }
}

impl Merged {
    /// Whether a run is being taken: one of a period above the cell time. Its feed still has the cells that have been taken since it was settled.
    #[inline(always)]
    pub fn is_under_way(&self) -> bool {
        self.left > 0
    }

    /// Begins with the run at the head of `feed`; false if the conditions do not hold.
    #[inline(always)]
    fn join(&mut self, kernel: &Arithmetic, fabric: &mut Fabric, feed: usize) -> bool {
        let run = &fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
        if hop.next != Next::Host
            || hop.one_by_one
            || (run.n > 1 && run.period <= kernel.cell_time)
            || !(begins || hop.frame_state.fate == Fate::Accepted)
        {
            return false;
        }
        let lowest = kernel.full.min(kernel.refusal);
        let beyond = kernel.cell_time + hop.latency;
        let to = fabric.measured.1.min(fabric.end);
        *self = Merged {
            taken: 0,
            left: run.n,
            time: run.time,
            period: run.period,
            flow: hop.flow.0,
            is_data: hop.is_data,
            limit: if begins { lowest } else { kernel.full },
            later_limit: if run.is_single() { lowest } else { kernel.full },
            from: fabric.measured.0.0 as i64 - beyond.0 as i64,
            to: to.0 as i64 - beyond.0 as i64,
            age: run.age + beyond,
            sum: 0,
            least: Span::FOREVER,
            most: Span::ZERO,
        };
        true
    }

    /// Takes the next cell, which arrives at `time`; false if that is not to be done here, and then nothing has happened.
    #[inline(always)]
    fn step(&mut self, kernel: &mut Arithmetic, fabric: &mut Fabric, time: Time) -> bool {
        let t = time.0 as i64;
        let (from, to) = (self.from, self.to);
        let wait = if kernel.idle_at(t) {
            if t < from || t >= to {
                return false;
            }
            kernel.busy_since = t;
            kernel.start = t;
            0
        } else {
            let start = kernel.start + kernel.cell_time.0 as i64;
            if kernel.ahead(kernel.start, t) >= self.limit || start < from || start >= to {
                return false;
            }
            let ahead = kernel.ahead(start, t);
            raise(&mut kernel.longest, ahead);
            kernel.start = start;
            let wait = (start - t) as u64;
            kernel.queue_time += u128::from(wait);
            wait
        };
        kernel.accepted += 1;
        let age = self.age + Span(wait);
        if self.is_data {
            self.sum += u128::from(age.0);
            self.least = self.least.min(age);
            self.most = self.most.max(age);
            fabric.sinks[self.flow as usize].bins.add(age, 1);
        }
        self.limit = self.later_limit;
        self.taken += 1;
        self.left -= 1;
        self.time += self.period;
        true
    }

    /// Whether cells have joined the run, all of which has been taken, since it began to be.
    #[inline(always)]
    fn goes_on(&mut self, kernel: &Arithmetic, fabric: &Fabric, feed: usize) -> bool {
        if self.period > kernel.cell_time {
            self.left = fabric.feeds[feed].head.n - self.taken;
        }
        self.left > 0
    }

    /// The rest of the run is not being taken any more.
    #[inline(always)]
    fn leave(&mut self, kernel: &Arithmetic, fabric: &mut Fabric, feed: usize) {
        self.settle(kernel, fabric, feed);
        self.left = 0;
    }

    /// Counts the cells that have been taken, and takes them off `feed`. Whether that has more.
    #[inline(always)]
    fn settle(&mut self, kernel: &Arithmetic, fabric: &mut Fabric, feed: usize) -> bool {
        let n = self.taken;
        if n == 0 {
            return true;
        }
        self.taken = 0;
        let run = &fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let cells = u64::from(n);
        hop.frame_state = FrameState::accepted(run.frame);
        hop.arrived += cells;
        hop.sent += cells;
        let sink = &mut fabric.sinks[self.flow as usize];
        sink.cells += cells;
        if self.is_data {
            sink.delay.add_series(self.sum, self.least, self.most);
            (self.sum, self.least, self.most) = (0, Span::FOREVER, Span::ZERO);
        }
        if run.is_single() {
            sink.count_frames(cells);
        } else if sink.take(run.frame, n, run.flags_of_first(n) & ENDS_FRAME != 0) {
            // Its last cell is the last one that the kernel has taken.
            fabric.arrivals.push(Arrival {
                flow: hop.flow,
                frame: run.frame,
                time: kernel.last_start() + kernel.cell_time + hop.latency,
            });
        }
        fabric.feeds[feed].skip(n)
    }
}
