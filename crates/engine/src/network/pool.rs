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

    fn settle_before(&mut self, now: Time) {
        if self.freed_at < now {
            self.in_use.shared -= self.freed.shared;
            self.in_use.all -= self.freed.all;
            self.freed = InUse::default();
        }
    }

    /// A cell joins a queue. It takes `places`, of which `shared` are of the shared part.
    #[inline]
    pub fn take(&mut self, places: u64, shared: u64) {
        self.in_use.shared += shared;
        self.in_use.all += places;
        self.max_used = self.max_used.max(self.in_use.all);
    }

    /// A cell that has waited for `waited` begins at `at`, and leaves `places`, of which `shared` are
    /// of the shared part.
    #[inline]
    pub fn release(&mut self, at: Time, places: u64, shared: u64, waited: Span) {
        self.settle_before(at);
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
        assert_eq!(pool.look(Time(5)), [10, 0]);
        pool.take(4, 3);
        assert_eq!(pool.look(Time(5)), [7, 4]);
        pool.release(Time(8), 4, 3, Span(3));
        assert_eq!(pool.look(Time(8)), [7, 4]);
        pool.take(2, 2);
        assert_eq!(pool.look(Time(8)), [5, 6]);
        assert_eq!(pool.look(Time(9)), [8, 2]);
        let tally = pool.tally(vec![1], 2);
        assert_eq!((tally.max_used, tally.used_time), (6, 12 + 2));
    }
}
