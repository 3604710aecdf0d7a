//! Fast path for per-VC queues: arrivals of many inputs at once.
//!
//! An arrival changes the scheduler's state only if its VC has no cell. So all cells that come while
//! the port surely stays busy are queued input by input, and the decisions between them are taken
//! afterwards. A VC takes part in these from the arrival of its next cell on: it pauses where that
//! cell has not arrived by the decision on the one before, and resumes when it arrives.
//!
//! No limit is near, so meanwhile only the maximum of X matters. X grows within a slot and falls by
//! one at its end, so the maximum follows from the arrivals in each slot. They are counted only if
//! X could set a new maximum were no cell to leave.
//!
//! Conditions: the port is busy, with a cell for each decision; no higher class waits; all cells are
//! of the class and of frames that have lost none; X stays below the buffer, and below the policy's
//! smallest refusal if a frame begins.
//!
//! Looking beyond the first cell that does not meet them is wasted. So each look reaches at most
//! twice as far as the previous one was of use.

use super::Slotted;
use super::leaving::Leaving;
use super::queued_cells::{MOST_CELLS, QueuedCells};
use crate::ground::units::{Span, Time};
use crate::network::cells::{Fate, FrameState};
use crate::network::fabric::Fabric;
use crate::network::tally::raise;
use crate::port::order::ArrivalOrder;
use crate::port::sched::Scheduler;
use crate::port::sched::per_vc::PerVc;
use crate::port::{Inputs, NextInput};

/// With fewer waiting cells, looking costs more than it saves.
const FEWEST: u64 = 4;

/// What a port keeps for cells taken in bulk.
#[derive(Debug)]
pub struct Bulk {
    /// Whether cells may be taken in bulk at all: a class has per-VC scheduling, and all cells have
    /// one length.
    pub applies: bool,
    /// How far beyond the next arrival to look.
    reach: Span,
    /// Number of arrivals in each slot from now on.
    arrivals: Vec<u32>,
    /// When VCs without cells get those that have been queued.
    resumptions: ArrivalOrder,
    /// Cells that have left for their host.
    pub leaving: Leaving,
}

impl Bulk {
    /// No cells of `vcs` VCs.
    pub fn new(applies: bool, cell_time: Span, vcs: usize) -> Bulk {
        Bulk {
            applies,
            reach: cell_time,
            arrivals: Vec::new(),
            resumptions: ArrivalOrder::default(),
            leaving: Leaving::new(if applies { vcs } else { 0 }),
        }
    }
}

/// Arrivals taken in bulk: those before `limit`, at most `cells` of them.
pub struct BulkArrivals {
    limit: Time,
    cells: u64,
    class: usize,
}

impl Slotted {
    /// Arrivals from now on that may be queued before the decisions between them are taken.
    pub(super) fn can_take_bulk(
        &mut self,
        fabric: &Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<BulkArrivals> {
        if self.busy && self.bulk.applies && self.total + self.decided.total >= FEWEST {
            self.bulk_arrivals(fabric, inputs, next)
        } else {
            None
        }
    }

    fn bulk_arrivals(
        &mut self,
        fabric: &Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<BulkArrivals> {
        let scheduler = self.scheduler.per_vc()?;
        let class = scheduler.class();
        let is_alone = self.decided.total == self.queues[class].beyond;
        if !is_alone || self.waiting[..class].iter().any(|&waiting| waiting > 0) {
            return None;
        }
        let time = next.time;
        // Until then each decision finds one of the cells that wait now.
        let busy_until = self.free_at + self.cell_time * self.waiting[class];
        let horizon = next.horizon.min(time + self.bulk.reach).min(busy_until);
        if horizon <= time {
            return None;
        }
        let (limit, cells) = self.bulk_limit(scheduler, inputs, fabric, horizon);
        let of_use = (limit.since(time) * 2).max(self.cell_time);
        if limit < horizon || of_use > self.bulk.reach {
            self.bulk.reach = of_use;
        }
        (limit > time).then_some(BulkArrivals {
            limit,
            cells,
            class,
        })
    }

    /// Takes these arrivals and the decisions between them.
    pub(super) fn take_bulk(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        bulk: BulkArrivals,
    ) {
        let BulkArrivals {
            limit,
            cells,
            class,
        } = bulk;
        let before = self.x(class);
        let others = self.total + self.decided.total - before;
        // Whether the arrivals could set a new maximum, so that their slots matter.
        let is_near = before + cells > self.queues[class].max.min(self.max_queue - others);
        inputs.order.pop_before(limit, &mut inputs.group);
        for &input in &inputs.group {
            self.queue_before(fabric, inputs.feed(input), limit, is_near);
        }
        inputs.group.sort_unstable();
        inputs.put_back(fabric);
        if is_near {
            let most = self.most_waiting(before);
            raise(&mut self.queues[class].max, most);
            raise(&mut self.max_queue, most + others);
        }
        self.serve_bulk(fabric, class, limit);
    }

    /// Time, at most `horizon`, before which all arrivals may be taken in bulk, and a bound on
    /// their number.
    fn bulk_limit(
        &self,
        scheduler: &PerVc,
        inputs: &mut Inputs,
        fabric: &Fabric,
        horizon: Time,
    ) -> (Time, u64) {
        let class = scheduler.class();
        let queue = &self.queues[class];
        let x = self.x(class);
        // X after all cells counted so far, and whether any of them begins a frame.
        let (mut after, mut any_begins) = (x, false);
        let mut limit = horizon;
        for i in 0.. {
            let Some((_, input)) = inputs.order.get(i).filter(|&(time, _)| time < limit) else {
                break;
            };
            for run in fabric.feeds[inputs.feed(input)].runs() {
                let n = u64::from(run.before(limit));
                if n == 0 {
                    break;
                }
                let hop = &fabric.hops[run.hop as usize];
                let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
                any_begins |= begins;
                let room = queue.limits.fit(after, any_begins);
                let goes_on = begins || hop.frame_state.fate == Fate::Accepted;
                if usize::from(hop.class) != class || !goes_on || n > room {
                    limit = run.time;
                    break;
                }
                after += n;
            }
        }
        (limit, after - x)
    }

    /// Number of cells that still begin before an arrival at `time`, if the port stays busy.
    #[inline]
    fn slot_of(&self, time: Time) -> u64 {
        let decided = self.cell_time * self.decided.total;
        let ahead = (self.decided_before(time) + decided).since(self.free_at);
        ahead.0.div_ceil(self.cell_time.0)
    }

    /// Queues the cells that `feed` brings before `limit`; with `notes` counts them per slot.
    #[inline]
    fn queue_before(&mut self, fabric: &mut Fabric, feed: usize, limit: Time, notes: bool) {
        loop {
            let run = &fabric.feeds[feed].head;
            let n = match run.before(limit) {
                0 => break,
                n if run.period == self.cell_time => n.min(MOST_CELLS),
                _ => 1,
            };
            let hop = &mut fabric.hops[run.hop as usize];
            hop.frame_state = FrameState::accepted(run.frame);
            hop.arrived += u64::from(n);
            self.accepted += u64::from(n);
            if notes {
                let slot = self.slot_of(run.time) as usize;
                let end = slot + n as usize;
                if self.bulk.arrivals.len() < end {
                    self.bulk.arrivals.resize(end, 0);
                }
                self.bulk.arrivals[slot..end]
                    .iter_mut()
                    .for_each(|a| *a += 1);
            }
            let (class, local) = (hop.class as usize, hop.local as usize);
            let (time, cells) = (run.time, QueuedCells::first_of(run, n));
            self.queue_in_bulk(class, local, time, cells);
            if !fabric.feeds[feed].skip(n) {
                break;
            }
        }
    }

    /// Queues cells of a VC, the first of which arrives at `time`.
    #[inline(always)]
    fn queue_in_bulk(&mut self, class: usize, local: usize, time: Time, cells: QueuedCells) {
        let n = u64::from(cells.n());
        self.count_waiting(class, local, n);
        let Scheduler::PerVc(scheduler) = &mut self.scheduler else {
            unreachable!("only its cells are taken in bulk");
        };
        if scheduler.expect(local, n) {
            self.bulk.resumptions.insert(time, local as u32);
        }
        self.queues[class].per_vc[local].push(cells, self.cell_time);
    }

    /// Takes the decisions before `limit`, all on queued cells of `class` as they arrive.
    fn serve_bulk(&mut self, fabric: &mut Fabric, class: usize, limit: Time) {
        if !self.decided.is_empty() {
            self.begin_decided_before(limit);
        }
        let mut begun = 0;
        while self.free_at < limit {
            // What arrives before this has arrived at the decision.
            let arrived = self.free_at + Span(u64::from(self.arrival_first));
            let next = self.resume_before(arrived);
            let cells = self.begin_turn(fabric, class, limit, (arrived, next));
            begun += cells;
        }
        self.waiting[class] -= begun;
        self.total -= begun;
        self.resume_before(limit);
        self.end_bulk(fabric, class);
    }

    /// Begins the cells of the next turn in bulk, and returns their number. Cells that come before
    /// `arrived` have arrived, and the `next` VC resumes later.
    #[inline(always)]
    fn begin_turn(
        &mut self,
        fabric: &mut Fabric,
        class: usize,
        limit: Time,
        (arrived, next): (Time, Time),
    ) -> u64 {
        let c = self.cell_time;
        let Scheduler::PerVc(scheduler) = &mut self.scheduler else {
            unreachable!("only its cells are taken in bulk");
        };
        if scheduler.goes_by_cells() {
            let vc = scheduler.next_cell(self.started);
            let of_vc = &mut self.queues[class].per_vc[vc];
            let follow = of_vc.first().n() - 1;
            let cell = of_vc.take(1, c);
            self.pause_from(class, vc, self.started + 1, arrived);
            self.begin_in_bulk(fabric, class, vc, (cell, follow), limit);
            return 1;
        }
        let vc = scheduler.pick(self.started);
        let of_vc = &mut self.queues[class].per_vc[vc];
        let first = of_vc.first();
        // A VC loses its turn if its next cell has not arrived, even if that is a cell of the
        // same run.
        let n = if first.arrived + c < arrived {
            let slots = (limit - self.free_at).0.div_ceil(c.0);
            let most = slots.min((next - arrived).0 / c.0 + 1);
            most.min(first.of_one_frame().into())
        } else {
            1
        };
        let cells = of_vc.take(n as u32, c);
        scheduler.taken(n, n, cells.ends_frame(), self.started + n);
        self.pause_from(class, vc, self.started + n, arrived + c * (n - 1));
        if self.counts[class] {
            self.queues[class].count_out(vc, n);
        }
        let run = self.transmit(self.free_at, &cells);
        fabric.depart(run);
        n
    }

    /// Lets `vc` pause if its next cell comes at `time` or later, when the port had begun to send
    /// `sent` cells.
    #[inline(always)]
    fn pause_from(&mut self, class: usize, vc: usize, sent: u64, time: Time) {
        let next = self.queues[class].per_vc[vc].next_arrival();
        if next >= time && next != Time::NEVER {
            let Scheduler::PerVc(scheduler) = &mut self.scheduler else {
                unreachable!("only its cells are taken in bulk");
            };
            scheduler.pause(vc, sent);
            self.bulk.resumptions.insert(next, vc as u32);
        }
    }

    /// Lets the VCs have cells whose first one arrives before `arrived`. Returns when that of the
    /// next VC does.
    #[inline(always)]
    fn resume_before(&mut self, arrived: Time) -> Time {
        loop {
            let Some((time, vc)) = self.bulk.resumptions.first() else {
                return Time::NEVER;
            };
            if time >= arrived {
                return time;
            }
            self.bulk.resumptions.pop();
            let Scheduler::PerVc(scheduler) = &mut self.scheduler else {
                unreachable!("only its cells are taken in bulk");
            };
            scheduler.resume(vc as usize, self.started);
        }
    }

    /// Largest X of a class that had `x` cells before the counted arrivals; clears the counts.
    #[inline]
    fn most_waiting(&mut self, mut x: u64) -> u64 {
        let mut most = 0;
        for &arrivals in &self.bulk.arrivals {
            x += u64::from(arrivals);
            most = most.max(x);
            // After the last arrival the class may run empty.
            x = x.saturating_sub(1);
        }
        self.bulk.arrivals.clear();
        most
    }
}
