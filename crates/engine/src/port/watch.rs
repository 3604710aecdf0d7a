//! Probes of a port. Watching never changes the run.
//!
//! A port takes its cells one by one if each change, every n-th cell or each dropped cell is
//! recorded. Records at regular times only need everything before them to be handled.

use super::drop::QueueView;
use super::gate::Gate;
use crate::ground::flow::FlowId;
use crate::ground::units::{Ratio, Span, Time};
use crate::network::cells::Run;
use crate::network::fabric::Hop;
use crate::network::record::{IntervalSum, QueueSnapshot, Record, TraceEntry};
use crate::network::tally::DropReason;
use std::collections::HashSet;

/// A quantity that a probe can read at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Waiting cells of a class (`None`: all), or of one flow; their places if the kernel counts
    /// these.
    Queue {
        /// Class index.
        class: Option<usize>,
        /// Local number of the flow.
        vc: Option<u32>,
    },
    /// Waiting cells of a VC that does not cross the port; always 0.
    QueueOfAbsentVc,
    /// Places in use of the pool of a switch.
    Pool,
    /// Dynamic threshold of a queue in the pool: the reserve, and `alpha` times what is free.
    Threshold {
        /// r, places.
        reserve: u64,
        /// Relative to what is free.
        alpha: Ratio,
    },
    /// Credit of a guaranteed-rate scheduler, slots.
    Credit,
    /// Average queue that the drop policy of a class decides by, places; the sum over classes for
    /// `None`.
    AverageQueue {
        /// Class index.
        class: Option<usize>,
    },
}

/// The dynamic threshold of a queue, places, while `free` places of the shared part are free.
pub fn dynamic_threshold(reserve: u64, alpha: Ratio, free: u64) -> f64 {
    reserve as f64 + alpha.num as f64 * free as f64 / alpha.den as f64
}

/// When a quantity is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At this interval; the second field is the next time. The value is the one before the
    /// arrivals of that instant.
    Interval(Span, Time),
    /// After every n-th arriving cell; the second field counts.
    Every(u64, u64),
    /// Whenever the value changes.
    Change,
}

/// One watched quantity of a port.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Watched quantity.
    pub quantity: Quantity,
    /// Times of recording.
    pub when: When,
    /// Recorded series.
    pub out: Record,
    /// What a value that was read counts for: the bytes of a cell where a queue counts bytes, and
    /// the kernel cells.
    pub scale: f64,
}

/// Cells dropped per interval.
#[derive(Clone, Debug)]
pub struct DropSums {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Class index; all classes for `None`.
    pub class: Option<usize>,
    /// Sums per interval.
    pub sum: IntervalSum,
    /// Total at the last count, where drops are not counted one by one.
    pub before: u64,
}

/// Everything that is watched at one port.
#[derive(Clone, Debug, Default)]
pub struct PortProbe {
    /// Link of the port.
    pub link: u32,
    /// Watched queues and credit.
    pub watches: Vec<Watch>,
    /// Watched drops per interval.
    pub drops: Vec<DropSums>,
    /// Flows whose drops are traced.
    pub traced: HashSet<FlowId>,
    /// Traced drops of these flows.
    pub trace: Vec<TraceEntry>,
}

/// A cell at a port, for traces.
#[derive(Clone, Copy, Debug)]
pub struct TracedCell {
    flow: FlowId,
    class: usize,
    frame: u32,
    cell: u32,
}

impl TracedCell {
    /// The first cell of `run`, at `hop`.
    pub fn first_of(run: &Run, hop: &Hop) -> TracedCell {
        TracedCell::new(hop, run.frame, run.cell.number())
    }

    /// Cell `cell` of frame `frame` of the flow of `hop`.
    pub fn new(hop: &Hop, frame: u32, cell: u32) -> TracedCell {
        TracedCell {
            flow: hop.flow,
            class: hop.class as usize,
            frame,
            cell,
        }
    }
}

/// What became of an arriving cell.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Whether its feed has more cells.
    pub more: bool,
    /// Why the cell was dropped, if it was.
    pub dropped: Option<DropReason>,
    /// Whether other cells were pushed out in its favour.
    pub pushed_out: bool,
}

impl Outcome {
    /// The cell was accepted and pushed nothing out.
    pub fn accepted(more: bool) -> Outcome {
        Outcome {
            more,
            dropped: None,
            pushed_out: false,
        }
    }

    /// Why a cell was dropped: the arriving one, or those pushed out.
    pub fn reason(&self) -> Option<DropReason> {
        self.dropped
            .or(self.pushed_out.then_some(DropReason::Front))
    }
}

/// The state of `queue`, with the limit that applied if a cell was dropped for `reason`. `vc` is the
/// local number of the arriving cell's flow.
#[cold]
pub fn queue_snapshot(
    queue: &QueueView,
    gate: &Gate,
    reason: Option<DropReason>,
    vc: u32,
) -> QueueSnapshot {
    let threshold = reason.and_then(|reason| gate.threshold(reason, vc, queue));
    let queue = gate.in_places(queue);
    QueueSnapshot {
        waiting: queue.waiting,
        waiting_of_vc: queue.waiting_of_vc,
        active_vcs: queue.active_vcs,
        counts_bytes: gate.counts_bytes(),
        threshold,
        average: gate.average(),
        probability: gate.probability(),
        policy_state: gate.policy_state(vc),
        pool: None,
    }
}

impl PortProbe {
    /// Number of points recorded so far.
    pub fn points(&self) -> usize {
        let watched: usize = self.watches.iter().map(|w| w.out.len()).sum();
        let dropped: usize = self.drops.iter().map(|d| d.sum.out.len()).sum();
        watched + dropped
    }

    /// Whether the port must take cells one by one for this probe.
    pub fn sees_each_cell(&self) -> bool {
        !self.traced.is_empty() || self.watches_arrivals()
    }

    /// Whether this probe needs Y_i or N_a.
    pub fn counts_by_vc(&self) -> bool {
        let of_vc = |w: &Watch| matches!(w.quantity, Quantity::Queue { vc: Some(_), .. });
        !self.traced.is_empty() || self.watches.iter().any(of_vc)
    }

    /// When the next regular sample is due or an interval of drops ends.
    pub fn next_due(&self) -> Option<Time> {
        let ends = self.drops.iter().map(|drops| drops.sum.due());
        ends.chain(self.next_sample()).min()
    }

    /// Ends the drop intervals that are due by `time`, before which everything has been handled.
    /// `dropped` returns the total drops of a class (`None`: all).
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

    /// Takes the samples due by `time`, each before the arrivals of its instant. All watches are
    /// sampled together in time order, since a port cannot look back past the last sample.
    pub fn sample_until(&mut self, time: Time, mut look: impl FnMut(Time, Quantity) -> f64) {
        while let Some(due) = self.next_sample().filter(|&due| due <= time) {
            for watch in &mut self.watches {
                if let When::Interval(interval, next) = &mut watch.when
                    && *next == due
                {
                    watch
                        .out
                        .sample(due, watch.scale * look(due, watch.quantity));
                    *next += *interval;
                }
            }
        }
    }

    /// Whether any quantity is recorded on each change.
    pub fn watches_changes(&self) -> bool {
        self.watches.iter().any(|w| w.when == When::Change)
    }

    /// Records changes at `time`.
    pub fn changed(&mut self, time: Time, look: impl Fn(Quantity) -> f64) {
        for watch in self.watches.iter_mut().filter(|w| w.when == When::Change) {
            watch.out.change(time, watch.scale * look(watch.quantity));
        }
    }

    /// Whether any quantity is recorded on arrivals.
    pub fn watches_arrivals(&self) -> bool {
        let at_times = |w: &Watch| matches!(w.when, When::Interval(..));
        !self.watches.iter().all(at_times)
    }

    /// Records quantities after the port has handled a cell that arrived at `time`.
    pub fn arrived(&mut self, time: Time, look: impl Fn(Quantity) -> f64) {
        for watch in &mut self.watches {
            match &mut watch.when {
                When::Interval(..) => {}
                When::Every(n, count) => {
                    *count += 1;
                    if *count == *n {
                        *count = 0;
                        watch.out.sample(time, watch.scale * look(watch.quantity));
                    }
                }
                When::Change => watch.out.change(time, watch.scale * look(watch.quantity)),
            }
        }
    }

    /// Counts and traces a cell that was dropped at `time` for `reason`. `queue` returns the state
    /// that it found. For a pushed-out cell, it is the state that the arriving cell found.
    pub fn lost(
        &mut self,
        time: Time,
        dropped: TracedCell,
        reason: DropReason,
        queue: impl FnOnce() -> QueueSnapshot,
    ) {
        let of_class = |d: &&mut DropSums| d.class.is_none_or(|c| c == dropped.class);
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
                queue: Some(queue()),
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
