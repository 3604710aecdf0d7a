//! The pace of a source with a constant rate, all the time or in bursts (model section 9): times of
//! its cells or frames.

use crate::ground::units::{Span, Time};

/// Number of cells reported as regular at once for a source without bursts, which has no end.
const TOGETHER: u64 = 256;

/// A constant-rate schedule. Cell k comes k cell times after the start of the source or burst, if
/// that is before the end of the burst. The next cell otherwise starts the next burst.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Cell time of the rate.
    cell_time: Span,
    /// Lengths of a burst and of the pause after it; `None` for a source without bursts.
    bursts: Option<[Span; 2]>,
    /// Start of the source or of the current burst.
    since: Time,
    /// Cells since that start.
    cells: u64,
}

impl Pace {
    /// A schedule from `start` on. `bursts` gives the lengths of burst and pause, if any.
    pub fn new(cell_time: Span, bursts: Option<[Span; 2]>, start: Time) -> Pace {
        Pace {
            cell_time,
            bursts,
            since: start,
            cells: 0,
        }
    }

    /// Advances by `n` cells. Returns the time of the next one.
    #[inline]
    pub fn emitted(&mut self, n: u64) -> Time {
        self.cells += n;
        let within = self.cell_time * self.cells;
        match self.bursts {
            Some([on, off]) if within >= on => {
                // No overflow: the reader limits each length to 100 000 s, and no source starts
                // later than 400 000 s.
                self.since += on + off;
                self.cells = 0;
                self.since
            }
            _ => self.since + within,
        }
    }

    /// Number of equally spaced cells, the next one included, and their spacing.
    pub fn regular(&self) -> (u64, Span) {
        let distance = self.cell_time;
        let cells = match self.bursts {
            Some([on, _]) => on.0.div_ceil(distance.0) - self.cells,
            None => TOGETHER,
        };
        (cells, distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::format::Format;
    use crate::ground::units::BitRate;

    /// Times of the first `items` items of `cells` cells each, in ticks since the start.
    fn times(rate: u64, cells: u64, bursts: Option<[Span; 2]>, items: usize) -> Vec<u64> {
        let start = Time(1000);
        let mut pace = Pace::new(Format::AAL5.cell_time(BitRate(rate)), bursts, start);
        let later = (1..items).map(|_| pace.emitted(cells).since(start).0);
        [0].into_iter().chain(later).collect()
    }

    #[test]
    fn what_would_begin_at_the_end_of_a_burst_begins_the_next() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let bursts = |on: Span| Some([on, c * 5]);
        let found = |on, cells| times(155_520_000, cells, bursts(on), 4);
        assert_eq!(found(c * 2, 1), [0, c.0, 7 * c.0, 8 * c.0]);
        assert_eq!(found(c * 2 + Span(1), 1)[..3], [0, c.0, 2 * c.0]);
        // A frame that begins in a burst is sent whole.
        assert_eq!(found(c * 4, 3), [0, 3 * c.0, 9 * c.0, 12 * c.0]);
    }

    #[test]
    fn cells_are_regular_to_the_end_of_the_burst() {
        let c = Format::AAL5.cell_time(BitRate(155_520_000));
        let mut pace = Pace::new(c, Some([c * 7 + Span(1), c]), Time::ZERO);
        assert_eq!(pace.regular(), (8, c));
        pace.emitted(3);
        assert_eq!(pace.regular(), (5, c));
    }
}
