//! What is watched at a port. Watching never changes the run.
//!
//! Where each change, every n-th cell or each dropped cell is recorded, the port takes its cells one by
//! one. What is recorded at regular times only needs everything before that time to be handled.

use super::drop::QueueView;
use super::gate::Gate;
use crate::cells::Run;
use crate::fabric::Hop;
use crate::flow::FlowId;
use crate::record::{FoundQueue, IntervalSum, Record, TraceEntry};
use crate::tally::DropReason;
use crate::units::{Span, Time};
use std::collections::HashSet;

/// What a port can be asked at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Waiting cells of a class (all when `None`), or of the flow with a local number.
    Queue {
        /// Class index.
        class: Option<usize>,
        /// Local number of the flow.
        vc: Option<u32>,
    },
    /// Waiting cells of a VC that does not cross the port, which are none.
    QueueOfAbsentVc,
    /// Credit of a guaranteed-rate scheduler, slots.
    Credit,
    /// The average queue that the drop policy of a class decides by (of all, when `None`, the sum), cells.
    AverageQueue {
        /// Class index.
        class: Option<usize>,
    },
}

/// When a quantity is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At these distances; the second is the next time. The value is that before the arrivals of that instant.
    Interval(Span, Time),
    /// After every n-th arriving cell; the second number counts.
    Every(u64, u64),
    /// Whenever it changes.
    Change,
}

/// One watched quantity of a port.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// What.
    pub quantity: Quantity,
    /// When.
    pub when: When,
    /// The record.
    pub out: Record,
}

/// Cells dropped per interval.
#[derive(Clone, Debug)]
pub struct Drops {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Class index; all when `None`.
    pub class: Option<usize>,
    /// The sums.
    pub sum: IntervalSum,
    /// Cells that had been dropped when they were counted last, where they are not counted one by one.
    pub before: u64,
}

/// All that is watched at one port.
#[derive(Clone, Debug, Default)]
pub struct PortProbe {
    /// The port's link.
    pub link: u32,
    /// Queues and credit.
    pub watches: Vec<Watch>,
    /// Cells dropped per interval.
    pub drops: Vec<Drops>,
    /// Flows whose drops are traced.
    pub traced: HashSet<FlowId>,
    /// Their dropped cells.
    pub trace: Vec<TraceEntry>,
}

/// A cell at a port, for traces.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    flow: FlowId,
    class: usize,
    frame: u32,
    cell: u32,
}

impl Seen {
    /// The first cell of `run`, at `hop`.
    pub fn first_of(run: &Run, hop: &Hop) -> Seen {
        Seen::new(hop, run.frame, run.cell)
    }

    /// Cell `cell` of frame `frame` of the flow of `hop`.
    pub fn new(hop: &Hop, frame: u32, cell: u32) -> Seen {
        Seen {
            flow: hop.flow,
            class: hop.class as usize,
            frame,
            cell,
        }
    }
}

/// What became of a cell that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Whether its feed has more.
    pub more: bool,
    /// Why it was dropped, if it was.
    pub dropped: Option<DropReason>,
    /// Whether others were pushed out in its favour.
    pub pushed_out: bool,
}

impl Outcome {
    /// It was accepted, and nobody had to give way.
    pub fn accepted(more: bool) -> Outcome {
        Outcome {
            more,
            dropped: None,
            pushed_out: false,
        }
    }

    /// Why a cell was dropped: the one that arrived, or those that were pushed out.
    pub fn reason(&self) -> Option<DropReason> {
        self.dropped
            .or(self.pushed_out.then_some(DropReason::Front))
    }
}

/// A queue with what its gate allowed there, if a cell was dropped for `reason`.
pub fn found(queue: &QueueView, gate: &Gate, reason: Option<DropReason>) -> FoundQueue {
    let threshold = reason.and_then(|reason| gate.threshold(reason, queue));
    FoundQueue {
        waiting: queue.waiting,
        waiting_of_vc: queue.waiting_of_vc,
        active_vcs: queue.active_vcs,
        threshold,
        average: gate.average(),
        probability: gate.probability(),
    }
}

impl PortProbe {
    /// Points of series recorded so far.
    pub fn points(&self) -> usize {
        let watched: usize = self.watches.iter().map(|w| w.out.len()).sum();
        let dropped: usize = self.drops.iter().map(|d| d.sum.out.len()).sum();
        watched + dropped
    }

    /// Whether it must see each cell.
    pub fn sees_each_cell(&self) -> bool {
        !self.traced.is_empty() || self.watches_arrivals()
    }

    /// Whether it asks for Y_i or N_a.
    pub fn counts_by_vc(&self) -> bool {
        let of_vc = |w: &Watch| matches!(w.quantity, Quantity::Queue { vc: Some(_), .. });
        !self.traced.is_empty() || self.watches.iter().any(of_vc)
    }

    /// When the next regular sample is due, or an interval of drops ends.
    pub fn next_due(&self) -> Option<Time> {
        let ends = self.drops.iter().map(|drops| drops.sum.due());
        ends.chain(self.next_sample()).min()
    }

    /// Ends the intervals of drops that end at or before `time`. The port has handled all that arrived before; `dropped` tells how many cells of
    /// a class, or of all, it has dropped.
    pub fn count_drops(&mut self, time: Time, dropped: impl Fn(Option<usize>) -> u64) {
        for drops in self.drops.iter_mut().filter(|d| d.sum.due() <= time) {
            let now = dropped(drops.class);
            drops.sum.add_before_due((now - drops.before) as f64);
            drops.before = now;
            drops.sum.until(time);
        }
    }

    /// When the next regular sample is due.
    pub fn next_sample(&self) -> Option<Time> {
        let due = |w: &Watch| match w.when {
            When::Interval(_, next) => Some(next),
            When::Every(..) | When::Change => None,
        };
        self.watches.iter().filter_map(due).min()
    }

    /// Records what is due at or before `time`, before the arrivals of that instant. Samples are taken in the order of time over all watches,
    /// as a port forgets what it was before the last one.
    pub fn sample_until(&mut self, time: Time, mut look: impl FnMut(Time, Quantity) -> f64) {
        while let Some(due) = self.next_sample().filter(|&due| due <= time) {
            for watch in &mut self.watches {
                if let When::Interval(interval, next) = &mut watch.when
                    && *next == due
                {
                    watch.out.sample(due, look(due, watch.quantity));
                    *next += *interval;
                }
            }
        }
    }

    /// Whether anything is recorded whenever it changes.
    pub fn watches_changes(&self) -> bool {
        self.watches.iter().any(|w| w.when == When::Change)
    }

    /// Records changes at `time`.
    pub fn changed(&mut self, time: Time, look: impl Fn(Quantity) -> f64) {
        for watch in self.watches.iter_mut().filter(|w| w.when == When::Change) {
            watch.out.change(time, look(watch.quantity));
        }
    }

    /// Whether anything is recorded when a cell arrives, whatever becomes of it.
    pub fn watches_arrivals(&self) -> bool {
        let at_times = |w: &Watch| matches!(w.when, When::Interval(..));
        !self.watches.iter().all(at_times)
    }

    /// Records after a cell that arrived at `time` has been handled.
    pub fn arrived(&mut self, time: Time, look: impl Fn(Quantity) -> f64) {
        for watch in &mut self.watches {
            match &mut watch.when {
                When::Interval(..) => {}
                When::Every(n, count) => {
                    *count += 1;
                    if *count == *n {
                        *count = 0;
                        watch.out.sample(time, look(watch.quantity));
                    }
                }
                When::Change => watch.out.change(time, look(watch.quantity)),
            }
        }
    }

    /// Counts and traces `dropped`, which was dropped at `time` for `reason`. `queue` is what it found, or, where it was pushed out, what the
    /// cell found that took its place.
    pub fn lost(&mut self, time: Time, dropped: Seen, reason: DropReason, queue: FoundQueue) {
        let of_class = |d: &&mut Drops| d.class.is_none_or(|c| c == dropped.class);
        for drops in self.drops.iter_mut().filter(of_class) {
            drops.sum.add(time, 1.0);
        }
        if self.traced.contains(&dropped.flow) {
            self.trace.push(TraceEntry {
                time,
                link: self.link,
                flow: dropped.flow,
                frame: dropped.frame,
                cell: dropped.cell,
                reason,
                queue: Some(queue),
            });
        }
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish(&mut self, end: Time, look: impl FnMut(Time, Quantity) -> f64) {
        self.sample_until(end, look);
        for watch in self.watches.iter_mut().filter(|w| w.when == When::Change) {
            watch.out.close(end);
        }
        for drops in &mut self.drops {
            drops.sum.until(end);
        }
    }
}
