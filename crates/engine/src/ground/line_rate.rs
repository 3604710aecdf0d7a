//! The rate of a line over time (model section 2).

use super::format::{CellTimes, Format};
use super::units::{BitRate, Span, Time};

/// The rate of a line, and its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRate {
    /// Rate at time 0, above 0.
    first: BitRate,
    /// Ascending times, each with the rate from then on.
    changes: Vec<(Time, BitRate)>,
    /// The times without a rate, [from, to); [`Time::NEVER`] ends one that lasts.
    pauses: Vec<(Time, Time)>,
}

impl LineRate {
    /// The rate `first` at time 0, with these changes in ascending order.
    pub fn new(first: BitRate, changes: Vec<(Time, BitRate)>) -> LineRate {
        let mut pauses: Vec<(Time, Time)> = Vec::new();
        let mut is_paused = false;
        for &(at, rate) in &changes {
            match (is_paused, rate.0) {
                (false, 0) => pauses.push((at, Time::NEVER)),
                (true, 1..) => pauses.last_mut().expect("it has begun").1 = at,
                (false, 1..) | (true, 0) => {}
            }
            is_paused = rate.0 == 0;
        }
        LineRate {
            first,
            changes,
            pauses,
        }
    }

    /// Number of changes at `time` or before.
    fn changes_until(&self, time: Time) -> usize {
        self.changes.partition_point(|&(at, _)| at <= time)
    }

    /// The rate at `time`, after a change at that instant.
    pub fn at(&self, time: Time) -> BitRate {
        match self.changes_until(time).checked_sub(1) {
            None => self.first,
            Some(last) => self.changes[last].1,
        }
    }

    /// The first change later than `time`.
    fn next_change(&self, time: Time) -> Option<Time> {
        let (at, _) = self.changes.get(self.changes_until(time))?;
        Some(*at)
    }

    /// The end of the latest time without a rate that begins at `time` or before; [`Time::NEVER`] if it
    /// lasts.
    pub fn pause_end(&self, time: Time) -> Option<Time> {
        let begun = self.pauses.partition_point(|&(from, _)| from <= time);
        Some(self.pauses[begun.checked_sub(1)?].1)
    }

    /// When a cell can begin that waits at `time`: at once, or when the rate is above 0 again;
    /// [`Time::NEVER`] if it never is.
    pub fn begins(&self, time: Time) -> Time {
        self.pause_end(time).map_or(time, |end| end.max(time))
    }

    /// Whether the rate, which was 0, is above 0 from `time` on.
    pub fn returns_at(&self, time: Time) -> bool {
        self.pause_end(time) == Some(time)
    }

    /// Integral of the rate over [from, to), in ticks times bit/s.
    pub fn integral(&self, from: Time, to: Time) -> u128 {
        let ends = self.changes.iter().map(|&(at, _)| at).chain([to]);
        let first = std::iter::once((Time::ZERO, self.first));
        let parts = first.chain(self.changes.iter().copied()).zip(ends);
        let of_part = |((begin, rate), end): ((Time, BitRate), Time)| {
            let ticks = end.min(to).since(begin.max(from)).0;
            u128::from(ticks) * u128::from(rate.0)
        };
        parts.map(of_part).sum()
    }
}

/// Cells that a line sends without a pause, of equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// When the first one begins.
    pub begins: Time,
    /// Time of each.
    pub takes: Span,
    /// Number of cells.
    pub n: u32,
}

impl Stretch {
    /// When the first cell has left.
    pub fn first_end(&self) -> Time {
        self.begins + self.takes
    }

    /// When the last cell has left.
    pub fn end(&self) -> Time {
        self.begins + self.takes * u64::from(self.n)
    }
}

/// Times of the cells of a line that are not all equal.
#[derive(Clone, Debug)]
pub enum LineTimes {
    /// Cells of several lengths, at one rate.
    Lengths(CellTimes),
    /// Cells at a rate that changes.
    Changing(Box<ChangingLine>),
}

/// A line whose rate changes.
#[derive(Clone, Debug)]
pub struct ChangingLine {
    /// Rate over time.
    pub rate: LineRate,
    /// Format of its cells.
    pub format: Format,
    /// End of the run. What cannot begin before it is never sent.
    pub end: Time,
}

impl ChangingLine {
    /// Cells of `bytes`, at most `most`, that follow one another without a pause from `time` on, or
    /// from when they can begin; all take equally long. If that is not before the end of the run, they
    /// begin then, which the caller must not count as sent.
    pub fn stretch(&self, time: Time, bytes: u32, most: u32) -> Stretch {
        let begins = self.rate.begins(time);
        if begins >= self.end {
            return Stretch {
                begins: time.max(self.end),
                takes: Span(1),
                n: most,
            };
        }
        let takes = self.format.time_of(bytes, self.rate.at(begins));
        let until = self
            .rate
            .next_change(begins)
            .unwrap_or(self.end)
            .min(self.end);
        let fit = (until - begins).0.div_ceil(takes.0);
        Stretch {
            begins,
            takes,
            n: fit.min(u64::from(most)) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> LineRate {
        let at = |at, rate| (Time(at), BitRate(rate));
        LineRate::new(
            BitRate(10),
            vec![at(100, 20), at(150, 0), at(170, 0), at(200, 5)],
        )
    }

    #[test]
    fn a_change_holds_from_its_instant_on() {
        let rates = [0, 99, 100, 149, 150, 199, 200, 10_000].map(|t| rate().at(Time(t)).0);
        assert_eq!(rates, [10, 10, 20, 20, 0, 0, 5, 5]);
    }

    #[test]
    fn cells_begin_at_once_or_when_the_rate_returns() {
        let begins = [0, 149, 150, 175, 200, 300].map(|t| rate().begins(Time(t)).0);
        assert_eq!(begins, [0, 149, 200, 200, 200, 300]);
        let stays = LineRate::new(BitRate(10), rate().changes[..3].to_vec());
        assert_eq!(
            [149, 150, 500].map(|t| stays.begins(Time(t))),
            [Time(149), Time::NEVER, Time::NEVER]
        );
    }

    #[test]
    fn a_pause_of_several_changes_is_one() {
        assert_eq!(rate().pause_end(Time(149)), None);
        for t in [150, 160, 170, 199, 200, 300] {
            assert_eq!(rate().pause_end(Time(t)), Some(Time(200)), "{t}");
            assert_eq!(rate().returns_at(Time(t)), t == 200);
        }
    }

    #[test]
    fn the_integral_covers_part_of_each_rate() {
        let integral = |from, to| rate().integral(Time(from), Time(to));
        assert_eq!(integral(0, 100), 1_000);
        assert_eq!(integral(0, 300), 1_000 + 1_000 + 500);
        assert_eq!(integral(90, 110), 100 + 200);
        assert_eq!(integral(160, 190), 0);
        assert_eq!(integral(0, 0), 0);
    }

    #[test]
    fn a_stretch_ends_with_the_cell_during_which_the_rate_changes() {
        let format = Format::AAL5;
        let takes = format.time_of(53, BitRate(1_000_000));
        let change = Time(takes.0 * 3 + 1);
        let line = ChangingLine {
            rate: LineRate::new(BitRate(1_000_000), vec![(change, BitRate(500_000))]),
            format,
            end: Time(takes.0 * 9 + 1),
        };
        let first = line.stretch(Time::ZERO, 53, 9);
        assert_eq!((first.n, first.end()), (4, Time(takes.0 * 4)));
        assert_eq!(line.stretch(Time::ZERO, 53, 3).n, 3);
        // Three cells of twice the time begin before the end of the run, and the others never.
        let then = line.stretch(first.end(), 53, 5);
        assert_eq!((then.n, then.takes), (3, takes * 2));
        let never = line.stretch(then.end(), 53, 2);
        assert_eq!((never.n, never.begins), (2, then.end()));
        // A cell that would begin at the change takes the new rate.
        assert_eq!(line.stretch(Time(1), 53, 9).n, 3);
    }
}
