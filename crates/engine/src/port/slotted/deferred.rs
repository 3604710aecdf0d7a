//! Fast path of the slotted kernel: arrivals first, then the decisions between them.
//!
//! With strict priority, a class gets every slot while it has cells and no higher class has. A
//! single cell of a higher class gets the first slot that begins after its arrival. So counting
//! slots is enough to know the queues at each arrival. The port queues cells by these counts, and
//! then takes all decisions together, without asking the scheduler.
//!
//! This ends where the class would run empty, or at a cell that
//! * a limit could refuse;
//! * belongs to a lower class, or to a higher class while another such cell waits;
//! * belongs to a run with one cell per cell time, for which there are faster paths.
//!
//! Conditions: strict priority; the port is busy; no cell was decided on ahead of its time; all
//! cells have one length.

use super::Slotted;
use crate::fabric::Fabric;
use crate::port::{Inputs, NextInput};
use crate::tally::raise;
use crate::units::{Span, Time};

/// Deferring decisions for fewer arrivals costs more than it saves.
const FEWEST: u64 = 4;

/// After a deferral for fewer arrivals, this many arrivals pass before the next one.
const PAUSE: u32 = 64;

/// What waits at a port while its decisions are deferred.
pub struct Deferred {
    class: usize,
    /// Start of the next slot.
    slot: Time,
    /// Waiting cells of the class, and of lower classes.
    waiting: u64,
    below: u64,
    /// Whether a cell of a higher class waits.
    above: bool,
}

impl Deferred {
    /// Passes the slots, one per `cell_time`, that begin before `limit`. Returns false, and passes
    /// none, if one of them finds no cell.
    #[inline]
    fn pass_slots(&mut self, limit: Time, cell_time: Span) -> bool {
        let slots = limit.since(self.slot).0.div_ceil(cell_time.0);
        let above = u64::from(self.above).min(slots);
        if slots - above > self.waiting {
            return false;
        }
        self.waiting -= slots - above;
        self.above &= slots == 0;
        self.slot += cell_time * slots;
        true
    }

    /// Waiting cells of all classes.
    fn total(&self) -> u64 {
        self.waiting + self.below + u64::from(self.above)
    }
}

impl Slotted {
    /// The queues now, if the next arrival may come before the decisions that follow it.
    pub(super) fn can_take_deferred(
        &mut self,
        fabric: &Fabric,
        next: &NextInput,
    ) -> Option<Deferred> {
        if self.defers && self.busy && self.decided.is_empty() {
            self.deferred(fabric, next)
        } else {
            None
        }
    }

    fn deferred(&mut self, fabric: &Fabric, next: &NextInput) -> Option<Deferred> {
        if self.before_deferring > 0 {
            self.before_deferring -= 1;
            return None;
        }
        let class = self.waiting.iter().position(|&waiting| waiting > 0)?;
        let deferred = Deferred {
            class,
            slot: self.free_at,
            waiting: self.waiting[class],
            below: self.total - self.waiting[class],
            above: false,
        };
        self.may_defer(fabric, next.feed, &deferred)
            .then_some(deferred)
    }

    /// Takes arrivals, and then the decisions between them.
    pub(super) fn take_deferred(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        mut deferred: Deferred,
        horizon: Time,
    ) {
        let mut limit = horizon;
        let before = self.accepted;
        while let Some(next) = inputs.next(limit) {
            if !deferred.pass_slots(self.decided_before(next.time), self.cell_time) {
                limit = next.time;
            } else if next.time == next.other {
                let first = inputs.coincident(next.time);
                let mut i = 0;
                while i < inputs.group.len() {
                    let feed = inputs.feed_in_turn(first, i);
                    if !self.defer(fabric, feed, &mut deferred) {
                        break;
                    }
                    i += 1;
                }
                if i < inputs.group.len() {
                    limit = next.time;
                    self.serve_deferred(fabric, deferred.class, self.decided_before(limit));
                }
                self.handle_group(fabric, inputs, first, i);
            } else if self.defer(fabric, next.feed, &mut deferred) {
                let more = fabric.feeds[next.feed].head.n > 0;
                inputs.advance_first(fabric, next.feed, more);
            } else {
                limit = next.time;
            }
        }
        if self.accepted < before + FEWEST {
            self.before_deferring = PAUSE;
        }
        self.serve_deferred(fabric, deferred.class, limit);
    }

    /// Takes the first cell of `feed` before the decisions, if it is surely accepted and changes
    /// none of them. Returns whether it did.
    #[inline]
    fn defer(&mut self, fabric: &mut Fabric, feed: usize, deferred: &mut Deferred) -> bool {
        if !self.may_defer(fabric, feed, deferred) {
            return false;
        }
        let (class, local, cell) = self.count_accepted(fabric, feed, 1);
        if class == deferred.class {
            deferred.waiting += 1;
            raise(&mut self.queues[class].max, deferred.waiting);
            self.enqueue(class, local, cell);
        } else {
            deferred.above = true;
            raise(&mut self.queues[class].max, 1);
            self.above.push(cell);
        }
        raise(&mut self.max_queue, deferred.total());
        fabric.feeds[feed].skip(1);
        true
    }

    /// Whether the first cell of `feed` is surely accepted, and belongs to the deferred class, or to
    /// a higher class while no such cell waits.
    #[inline]
    fn may_defer(&self, fabric: &Fabric, feed: usize, deferred: &Deferred) -> bool {
        let run = &fabric.feeds[feed].head;
        if run.period == self.cell_time && run.n > 1 {
            return false;
        }
        let class = fabric.hops[run.hop as usize].class as usize;
        let x = if class == deferred.class {
            deferred.waiting
        } else if class < deferred.class && !deferred.above {
            0
        } else {
            return false;
        };
        self.is_below_limits(fabric, feed, x)
    }

    /// Takes the deferred decisions before `limit`.
    fn serve_deferred(&mut self, fabric: &mut Fabric, class: usize, limit: Time) {
        let mut above = std::mem::take(&mut self.above);
        for cell in above.drain(..) {
            // Slots that begin before the cell arrives.
            let slots = (self.decided_before(cell.arrived).since(self.free_at).0)
                .div_ceil(self.cell_time.0);
            self.begin_in_order::<false>(fabric, class, slots);
            if self.free_at < limit {
                let run = self.transmit(self.free_at, &cell);
                fabric.depart(run);
            } else {
                // Another cell may come before the slot of this one.
                let hop = &fabric.hops[cell.hop as usize];
                self.enqueue(hop.class.into(), hop.local as usize, cell);
            }
        }
        self.above = above;
        self.serve_before(fabric, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slots_pass_as_one_by_one(
            waiting in 0u64..6,
            above in any::<bool>(),
            limits in proptest::collection::vec(0u64..40, 1..8),
        ) {
            const C: Span = Span(10);
            let mut deferred = Deferred { class: 2, slot: Time(100), waiting, below: 3, above };
            // Start of the next slot, cells of the class, and cells above.
            let mut one_by_one = (100, waiting, u64::from(above));
            let mut limit = 95;
            for later in limits {
                limit += later;
                let (mut slot, mut of_class, mut of_above) = one_by_one;
                let mut finds_cells = true;
                while slot < limit && finds_cells {
                    match (of_above, of_class) {
                        (1, _) => of_above = 0,
                        (_, 0) => finds_cells = false,
                        _ => of_class -= 1,
                    }
                    slot += C.0;
                }
                prop_assert_eq!(deferred.pass_slots(Time(limit), C), finds_cells);
                if finds_cells {
                    one_by_one = (slot, of_class, of_above);
                }
                let (slot, of_class, of_above) = one_by_one;
                prop_assert_eq!((deferred.slot, deferred.waiting), (Time(slot), of_class));
                prop_assert_eq!(u64::from(deferred.above), of_above);
                prop_assert_eq!(deferred.total(), 3 + of_class + of_above);
            }
        }
    }
}
