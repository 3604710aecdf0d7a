//! The tick grid of a coarse timer: ticks at phase + k granularity, k = 0, 1, 2, ...
//!
//! Nothing happens at a tick. A deadline is computed when a timer is set, so a fine granularity
//! costs nothing. Timers expire as in 4.4BSD, where `tcp_slowtimo` counts all timers down at the
//! same instants. A timer set to n ticks expires at the n-th tick strictly after `now`. That is
//! between n - 1 and n granularities later. A tick at `now` itself has passed.

use crate::ground::units::{Span, Time};

/// Tick grid of a timer, and the position of the present in it. Time must not decrease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    granularity: u64,
    passed: u64,
    next: u64,
}

impl Grid {
    /// A grid at the start of the run, when no tick has passed. `phase` is taken modulo the
    /// granularity, and a granularity of 0 counts as 1.
    pub fn new(granularity: Span, phase: Span) -> Grid {
        let granularity = granularity.0.max(1);
        Grid {
            granularity,
            passed: 0,
            next: phase.0 % granularity,
        }
    }

    /// Moves the present to `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if now.0 >= self.next {
            let ticks = (now.0 - self.next) / self.granularity + 1;
            self.passed += ticks;
            self.next += ticks * self.granularity;
        }
    }

    /// Ticks at or before the present.
    #[inline]
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// The first tick after the present.
    #[inline]
    pub fn next(&self) -> Time {
        Time(self.next)
    }

    /// Time from [`Grid::next`] to the `n`-th tick after the present (n = 0 counts as 1).
    pub fn beyond_next(&self, n: u64) -> Span {
        Span(n.saturating_sub(1).saturating_mul(self.granularity))
    }

    /// Length of `n` ticks.
    pub fn length_of(&self, n: u64) -> Span {
        Span(n.saturating_mul(self.granularity))
    }

    /// `length` in ticks, rounded up.
    pub fn ticks_of(&self, length: Span) -> u64 {
        length.0.div_ceil(self.granularity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tick_at_now_has_passed() {
        let mut grid = Grid::new(Span(100), Span(30));
        assert_eq!((grid.passed(), grid.next()), (0, Time(30)));
        grid.advance(Time(29));
        assert_eq!((grid.passed(), grid.next()), (0, Time(30)));
        grid.advance(Time(30));
        assert_eq!((grid.passed(), grid.next()), (1, Time(130)));
        grid.advance(Time(529));
        assert_eq!((grid.passed(), grid.next()), (5, Time(530)));
    }

    #[test]
    fn a_phase_of_whole_granularities_is_no_phase() {
        assert_eq!(Grid::new(Span(100), Span(230)).next(), Time(30));
    }

    proptest! {
        /// Compares the grid with a walk over every tick.
        #[test]
        fn grid_matches_counting_ticks(
            granularity in 1u64..50,
            phase in 0u64..50,
            steps in proptest::collection::vec(0u64..200, 1..30),
            n in 1u64..10,
        ) {
            let mut grid = Grid::new(Span(granularity), Span(phase));
            let ticks: Vec<u64> =
                (0..8000).map(|k| phase % granularity + k * granularity).collect();
            let mut now = 0;
            for step in steps {
                now += step;
                grid.advance(Time(now));
                let after: Vec<u64> = ticks.iter().copied().filter(|&t| t > now).collect();
                prop_assert_eq!(grid.passed() as usize, ticks.len() - after.len());
                prop_assert_eq!(grid.next(), Time(after[0]));
                prop_assert_eq!(grid.next() + grid.beyond_next(n), Time(after[n as usize - 1]));
            }
        }
    }
}
