//! Shortcut for per-VC queues: arrivals of many inputs at once.
//!
//! Between two arrivals of a VC, the VC loses at most one cell per slot. While that cannot empty
//! its queue, no decision depends on when the later cell arrives. The VC waits anyway, and the
//! scheduler's state for it changes only when it begins to wait. So all cells before the first one
//! that could find its VC empty are queued input by input. The decisions between them are taken
//! afterwards.
//!
//! No limit is near, so meanwhile only the maximum of X matters. X grows within a slot and falls by
//! one at its end, so the maximum follows from the arrivals in each slot. They are counted only if
//! X could set a new maximum were no cell to leave.
//!
//! Conditions: the port is busy; no higher class waits; all cells are of the class and of frames
//! that have lost none; X stays below all limits.
//!
//! Looking beyond the first cell that could find its VC empty is wasted. So each look reaches at
//! most twice as far as the previous one was of use.

use super::Slotted;
use super::queued_cells::{MOST_CELLS, QueuedCells};
use crate::cells::{Fate, FrameState, Run};
use crate::fabric::Fabric;
use crate::port::sched::per_vc::PerVc;
use crate::port::{Inputs, NextInput};
use crate::tally::raise;
use crate::units::Time;

/// Arrivals taken in bulk: those before `limit`, at most `cells` of them.
pub struct Bulk {
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
    ) -> Option<Bulk> {
        if self.busy && self.takes_bulk {
            self.bulk(fabric, inputs, next)
        } else {
            None
        }
    }

    fn bulk(&mut self, fabric: &Fabric, inputs: &mut Inputs, next: &NextInput) -> Option<Bulk> {
        let scheduler = self.scheduler.per_vc()?;
        let class = scheduler.class();
        if self.waiting[..class].iter().any(|&waiting| waiting > 0) {
            return None;
        }
        let time = next.time;
        let horizon = next.horizon.min(time + self.bulk_reach);
        let (limit, cells) = self.bulk_limit(scheduler, inputs, fabric, horizon);
        let of_use = (limit.since(time) * 2).max(self.cell_time);
        if limit < horizon || of_use > self.bulk_reach {
            self.bulk_reach = of_use;
        }
        (limit > time).then_some(Bulk {
            limit,
            cells,
            class,
        })
    }

    /// Takes these arrivals and the decisions between them.
    pub(super) fn take_bulk(&mut self, fabric: &mut Fabric, inputs: &mut Inputs, bulk: Bulk) {
        let Bulk {
            limit,
            cells,
            class,
        } = bulk;
        let before = self.waiting[class];
        let others = self.total - before;
        // Whether the arrivals could set a new maximum, so that their slots matter.
        let is_near = before + cells > self.queues[class].max.min(self.max_queue - others);
        inputs.order.pop_before(limit, &mut inputs.group);
        for &input in &inputs.group {
            self.queue_before(fabric, inputs.feed(input), limit, is_near);
        }
        self.bulk_ties.count(&mut fabric.feeds);
        inputs.group.sort_unstable();
        inputs.put_back(fabric);
        if is_near {
            let most = self.most_waiting(before);
            raise(&mut self.queues[class].max, most);
            raise(&mut self.max_queue, most + others);
        }
        self.serve_before(fabric, limit);
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
        let refusal = self.queues[class].refusal;
        let all = refusal.saturating_sub(self.waiting[class]);
        let mut room = all;
        let mut limit = horizon;
        for i in 0.. {
            let Some((_, input)) = inputs.order.get(i).filter(|&(time, _)| time < limit) else {
                break;
            };
            // Cells counted so far of the latest hop.
            let (mut hop_index, mut passed) = (u32::MAX, 0);
            for run in fabric.feeds[inputs.feed(input)].runs() {
                let n = u64::from(run.before(limit));
                if n == 0 {
                    break;
                }
                if run.hop != hop_index {
                    (hop_index, passed) = (run.hop, 0);
                }
                let hop = &fabric.hops[run.hop as usize];
                let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
                // A flow of another class has no cell waiting there, so it fails the test below.
                let waiting = scheduler.waiting(hop.local as usize) + passed;
                if n > room
                    || !(begins || hop.frame_state.fate == Fate::Accepted)
                    || !self.never_empties(run, n, waiting)
                {
                    limit = run.time;
                    break;
                }
                room -= n;
                passed += n;
            }
        }
        (limit, all - room)
    }

    /// Whether a VC with `waiting` cells surely has one left when each of the first `n` cells of
    /// `run` arrives.
    #[inline]
    fn never_empties(&self, run: &Run, n: u64, waiting: u64) -> bool {
        let (decisions, last) = if run.period > self.cell_time {
            let last = run.time + run.period * (n - 1);
            ((waiting + n).checked_sub(2), last)
        } else {
            (waiting.checked_sub(1), run.time)
        };
        let Some(decisions) = decisions else {
            return false;
        };
        // Compares with the decisions still to come before the last arrival, like `slot_of` but
        // without a division.
        let ahead = self.decided_before(last).since(self.free_at);
        u128::from(ahead.0) <= u128::from(decisions) * u128::from(self.cell_time.0)
    }

    /// Number of decisions still to come before an arrival at `time`, if the port stays busy.
    #[inline]
    fn slot_of(&self, time: Time) -> u64 {
        let ahead = self.decided_before(time).since(self.free_at);
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
            self.bulk_ties.add(run, n, feed);
            if notes {
                let slot = self.slot_of(run.time) as usize;
                let end = slot + n as usize;
                if self.arrivals.len() < end {
                    self.arrivals.resize(end, 0);
                }
                self.arrivals[slot..end].iter_mut().for_each(|a| *a += 1);
            }
            let (class, local) = (hop.class as usize, hop.local as usize);
            self.enqueue(class, local, QueuedCells::first_of(run, n));
            if !fabric.feeds[feed].skip(n) {
                break;
            }
        }
    }

    /// Largest X of a class that had `x` cells before the counted arrivals; clears the counts.
    #[inline]
    fn most_waiting(&mut self, mut x: u64) -> u64 {
        let mut most = 0;
        for &arrivals in &self.arrivals {
            x += u64::from(arrivals);
            most = most.max(x);
            // After the last arrival the class may run empty.
            x = x.saturating_sub(1);
        }
        self.arrivals.clear();
        most
    }
}
