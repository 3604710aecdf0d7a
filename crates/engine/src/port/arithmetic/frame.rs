//! Fast path of the arithmetic kernel: cells of one input that go straight on.
//!
//! This is the most frequent case: cells of one frame come one per cell time, before those of any
//! other input, and leave for a host or another port. All wait equally long. The start of each cell
//! gives its arrival at the next station. So everything that a run changes, from the queue to the
//! reassembly, is updated once.
//!
//! Conditions:
//! * the cells have distance c, and none must be looked at individually when it leaves;
//! * they arrive at their next station within the measuring time;
//! * X stays below the buffer, and below the policy's smallest refusal if a frame begins;
//! * no busy period began with a cell at the same instant, and nothing is watched.

use super::Arithmetic;
use crate::ground::delays::Waits;
use crate::ground::units::{Span, Time};
use crate::network::cells::{Fate, Run};
use crate::network::fabric::{Fabric, Hop, Next};
use crate::network::tally::raise;
use crate::port::{Inputs, NextInput};

/// Whether the cells of `run`, at its hop `hop`, belong to one frame, come one per cell time, and
/// the first is accepted.
#[inline(always)]
fn is_straight(kernel: &Arithmetic, run: &Run, hop: &Hop) -> bool {
    let begins = hop.frame_state.frame != Some(run.frame);
    let t = run.time.signed();
    run.period == kernel.cell_time
        && !run.is_single()
        && !hop.one_by_one
        && (begins || hop.frame_state.fate == Fate::Accepted)
        && kernel.limits.fits(kernel.start - t, begins)
        && t != kernel.busy_since
}

/// Cells of one frame that come before those of any other input.
pub struct LoneFrame {
    cells: u32,
    wait: Span,
    last_start: Time,
}

impl Arithmetic {
    /// The cells before the horizon of the first input's run, if the whole run comes before any
    /// cell of another input.
    #[inline(always)]
    pub(super) fn can_take_frame(&self, fabric: &Fabric, next: &NextInput) -> Option<LoneFrame> {
        let run = &fabric.feeds[next.feed].head;
        let hop = &fabric.hops[run.hop as usize];
        let last = run.last();
        if !is_straight(self, run, hop) || next.other <= last {
            return None;
        }
        // Divides only if the horizon is near.
        let cells = if last < next.horizon {
            run.n
        } else {
            run.before(next.horizon)
        };
        let c = self.cell_time;
        let free = self.start + c;
        let start = free.max(next.time.signed()).time();
        let last_start = start + c * u64::from(cells - 1);
        let beyond = c + hop.latency;
        let from = fabric.measured.0;
        let to = fabric.measured.1.min(fabric.end);
        let is_measured = start + beyond >= from && last_start + beyond < to;
        is_measured.then_some(LoneFrame {
            cells,
            wait: start - next.time,
            last_start,
        })
    }

    /// Takes these cells.
    #[inline(always)]
    pub(super) fn take_frame(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
        LoneFrame {
            cells,
            wait,
            last_start,
        }: LoneFrame,
    ) {
        let feed = &mut fabric.feeds[next.feed];
        let run = &feed.head;
        let hop = &mut fabric.hops[run.hop as usize];
        let c = self.cell_time;
        let idle = self.idle_at(next.time.signed());
        // With arrivals first, later cells join the busy period of the first.
        let joins = self.arrival_first && cells > 1;
        self.accepted += u64::from(cells);
        if idle {
            let since = if joins { next.time } else { last_start };
            self.busy_since = since.signed();
        }
        if !idle || joins {
            raise(&mut self.longest, wait.signed());
            if self.counts.is_some() {
                self.count(next.time, hop.local, cells, idle);
            }
        }
        self.start = last_start.signed();
        let waits = Waits::Equal(wait);
        self.waited(waits, cells.into());
        let beyond = c + hop.latency;
        let more = if let Next::Port { port, feed, input } = hop.next {
            let there = Run {
                time: next.time + wait + beyond,
                age: run.age + wait + beyond,
                hop: run.hop + 1,
                ..run.first(cells)
            };
            hop.count_passed(run.frame, u64::from(cells));
            fabric.push(there, port, feed, input);
            let feed = &mut fabric.feeds[next.feed];
            feed.skip(cells).then_some(feed.head.time)
        } else {
            hop.count_passed(run.frame, cells.into());
            let ages = hop.is_data.then(|| Waits::Equal(run.age + beyond + wait));
            let last = last_start + beyond;
            fabric
                .destinations
                .deliver(hop.flow, run, cells, ages, last);
            feed.skip(cells).then_some(feed.head.time)
        };
        match more {
            Some(time) => inputs.order.postpone_first(time),
            None => inputs.order.pop(),
        }
    }
}
