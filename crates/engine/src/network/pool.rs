//! Shared memories of switches while the run goes on (model section 6).

use crate::ground::units::{Span, Time};
use crate::network::tally::PoolTally;

/// What the queues of a switch take of its pool.
///
/// Ports advance one after the other, so one may have begun cells at an instant at which others still
/// take arrivals. What these begins free counts only for later arrivals.
#[derive(Debug)]
pub struct PoolState {
    /// Index of the switch.
    switch: usize,
    /// S: places that no queue reserves.
    shared: u64,
    /// Sum of s over the queues, and places in use; both with what `freed` no longer takes.
    in_use: InUse,
    /// What was freed, the latest of it at `freed_at`.
    freed: InUse,
    freed_at: Time,
    /// Places that each queue takes, with what `freed_of` no longer takes; kept for traces.
    queues: Option<Vec<u64>>,
    freed_of: Vec<(usize, u64)>,
    max_used: u64,
    /// Sum of places times waiting times of all cells that have begun.
    used_time: u128,
    /// What became of the cells of the port that takes its arrivals of an instant.
    pub taken: Taken,
}

/// Places that cells take.
#[derive(Clone, Copy, Debug, Default)]
struct InUse {
    /// Of the shared part.
    shared: u64,
    /// All of them, reserves included.
    all: u64,
}

/// What became of the cells that a port took at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Cells that were still to be judged.
    pub judged: u32,
    /// Cells accepted.
    pub accepted: u32,
    /// Cells that the buffers or the policy refused.
    pub refused: u32,
}

impl PoolState {
    /// The empty pool of the switch with this index, which shares `shared` places.
    pub fn new(switch: usize, shared: u64) -> PoolState {
        PoolState {
            switch,
            shared,
            in_use: InUse::default(),
            freed: InUse::default(),
            freed_at: Time::ZERO,
            queues: None,
            freed_of: Vec::new(),
            max_used: 0,
            used_time: 0,
            taken: Taken::default(),
        }
    }

    /// Free places of the shared part and places in use, as a cell finds them that arrives at `now`.
    /// Everything that begins before `now` must have been released.
    #[inline]
    pub fn look(&mut self, now: Time) -> [u64; 2] {
        self.settle_before(now);
        [self.shared - self.in_use.shared, self.in_use.all]
    }

    /// Free places of the shared part and places in use, once all has begun that begins at the latest
    /// instant.
    pub fn look_after(&self) -> [u64; 2] {
        let taken = self.in_use.shared - self.freed.shared;
        [self.shared - taken, self.in_use.all - self.freed.all]
    }

    /// Keeps what each of `queues` queues takes.
    pub fn keep_queues(&mut self, queues: usize) {
        self.queues = Some(vec![0; queues]);
    }

    /// Places that each queue takes, as a cell finds them that arrives at `now`, if they are kept.
    pub fn queues(&mut self, now: Time) -> Vec<u64> {
        self.settle_before(now);
        self.queues.clone().unwrap_or_default()
    }

    fn settle_before(&mut self, now: Time) {
        if self.freed_at < now {
            if let Some(queues) = &mut self.queues {
                let freed = self.freed_of.drain(..);
                freed.for_each(|(queue, places)| queues[queue] -= places);
            }
            self.in_use.shared -= self.freed.shared;
            self.in_use.all -= self.freed.all;
            self.freed = InUse::default();
        }
    }

    /// A cell joins the queue with this number. It takes `places`, of which `shared` are of the shared
    /// part.
    #[inline]
    pub fn take(&mut self, queue: usize, places: u64, shared: u64) {
        if let Some(queues) = &mut self.queues {
            queues[queue] += places;
        }
        self.in_use.shared += shared;
        self.in_use.all += places;
        self.max_used = self.max_used.max(self.in_use.all);
    }

    /// A cell of this queue that has waited for `waited` begins at `at`, and leaves `places`, of which
    /// `shared` are of the shared part.
    #[inline]
    pub fn release(&mut self, at: Time, queue: usize, places: u64, shared: u64, waited: Span) {
        self.settle_before(at);
        if self.queues.is_some() {
            self.freed_of.push((queue, places));
        }
        self.freed_at = self.freed_at.max(at);
        self.freed.shared += shared;
        self.freed.all += places;
        self.used_time += u128::from(places) * u128::from(waited.0);
    }

    /// Counts at the end of the run, for ports with these refusals at contested ties. Cells that
    /// still wait add `waiting_time` to the integral.
    pub fn tally(&self, tied_refusals: Vec<u64>, waiting_time: u128) -> PoolTally {
        PoolTally {
            switch: self.switch,
            max_used: self.max_used,
            used_time: self.used_time + waiting_time,
            tied_refusals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_for_what_arrives_after_the_instant() {
        let mut pool = PoolState::new(0, 10);
        pool.keep_queues(2);
        assert_eq!(pool.look(Time(5)), [10, 0]);
        pool.take(0, 4, 3);
        assert_eq!(pool.look(Time(5)), [7, 4]);
        pool.release(Time(8), 0, 4, 3, Span(3));
        assert_eq!(pool.look(Time(8)), [7, 4]);
        assert_eq!(pool.queues(Time(8)), [4, 0]);
        pool.take(1, 2, 2);
        assert_eq!(pool.queues(Time(9)), [0, 2]);
        assert_eq!(pool.look(Time(9)), [8, 2]);
        let tally = pool.tally(vec![1], 2);
        assert_eq!((tally.max_used, tally.used_time), (6, 12 + 2));
    }
}
