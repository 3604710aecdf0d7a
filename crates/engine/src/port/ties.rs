//! Counts ties: cells that arrive, or are dropped, at an instant at which several inputs of a port
//! bring one (model section 3).
//!
//! A kernel meets ties where it merges its inputs, and counts them there: one per cell in
//! [`Feed::tied`], and with [`Fabric::tied`] one per drop. Two kinds of cells do not pass there.
//!
//! * *Dropped ahead*: a port drops the rest of a lost frame at once, before its cells arrive. The
//!   kernel then no longer meets them. [`Ties`] keeps them until they have arrived. At each step of
//!   the port it adds what the kernel cannot count: their own ties, and those of cells that tie
//!   with nothing else.
//! * *In bulk*: the slotted kernel may queue the cells of many inputs input by input.
//!   [`BulkTies`] compares them.
//!
//! Cells come in runs of equal distances, so that both compare runs and not cells, unless the
//! distances differ.
//!
//! [`Fabric::tied`]: crate::fabric::Fabric::tied

use crate::cells::{Feed, Run};
use crate::fabric::HopExtra;
use crate::units::{Span, Time};
use std::ops::Range;

/// Instants at equal distances, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instants {
    first: Time,
    period: Span,
    n: u64,
}

impl Instants {
    fn of(run: &Run) -> Instants {
        Instants {
            first: run.time,
            period: run.period,
            n: run.n.into(),
        }
    }

    fn at(&self, i: u64) -> Time {
        self.first + self.period * i
    }

    fn last(&self) -> Time {
        self.at(self.n - 1)
    }

    /// Number of instants before `limit`.
    fn before(&self, limit: Time) -> u64 {
        if self.first >= limit {
            0
        } else if self.last() < limit {
            self.n
        } else {
            (limit - self.first).0.div_ceil(self.period.0)
        }
    }

    /// The instants in [from, to), if there are any.
    fn within(&self, from: Time, to: Time) -> Option<Instants> {
        let skipped = self.before(from);
        let n = self.before(to).saturating_sub(skipped);
        (n > 0).then(|| Instants {
            first: self.at(skipped),
            n,
            ..*self
        })
    }

    /// The place of `time` among these instants.
    fn place(&self, time: Time) -> Option<u64> {
        if time < self.first || time > self.last() {
            return None;
        }
        let since = (time - self.first).0;
        // One instant may have no distance.
        let place = if self.n == 1 {
            0
        } else {
            since / self.period.0
        };
        (self.at(place) == time).then_some(place)
    }

    /// Calls `each` with ranges of places here whose instants are also among `others`.
    fn each_shared(&self, others: &Instants, mut each: impl FnMut(Range<u64>)) {
        if others.n == 1 {
            self.place(others.first).map(|at| each(at..at + 1));
        } else if self.n == 1 {
            others.place(self.first).map(|_| each(0..1));
        } else if self.period == others.period {
            let begin = self.first.max(others.first);
            let end = self.last().min(others.last());
            if begin <= end
                && let (Some(from), Some(_)) = (self.place(begin), others.place(begin))
            {
                each(from..from + (end - begin).0 / self.period.0 + 1);
            }
        } else if self.may_share(others)
            && let Some(near) = others.within(self.first, self.last() + Span(1))
        {
            let places = (0..near.n).filter_map(|i| self.place(near.at(i)));
            places.for_each(|at| each(at..at + 1));
        }
    }

    /// Whether the distances let any instants be equal.
    fn may_share(&self, others: &Instants) -> bool {
        let apart = self.first.0.abs_diff(others.first.0);
        let (mut a, mut b) = (self.period.0, others.period.0);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 0 || apart.is_multiple_of(a)
    }
}

/// Cells that a port has dropped before they arrive.
#[derive(Clone, Copy, Debug)]
struct DroppedAhead {
    feed: usize,
    hop: u32,
    cells: Instants,
}

/// Cells of another input that come with cells dropped ahead.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// Cells that wait in this feed.
    Feed(usize),
    /// Cells dropped ahead, with their index.
    Dropped(usize),
}

/// Ties of cells that a port has dropped ahead.
#[derive(Debug, Default)]
pub struct Ties {
    feeds: Range<usize>,
    ahead: Vec<DroppedAhead>,
    /// Scratch space.
    shared: Vec<(Range<u64>, Other)>,
}

/// What comes with each of a range of cells dropped ahead.
struct Company {
    cells: u64,
    /// Feeds that bring a cell, and the last of them.
    feeds: usize,
    feed: usize,
    /// Smallest index among cells dropped ahead by others.
    least: usize,
}

impl Ties {
    /// The ties of a port with these feeds.
    pub fn new(feeds: Range<usize>) -> Ties {
        Ties {
            feeds,
            ..Ties::default()
        }
    }

    /// Whether any dropped cells may still arrive.
    pub fn has_any_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// Whether a cell dropped ahead arrives at `time`.
    pub fn is_dropped_at(&self, time: Time) -> bool {
        self.ahead.iter().any(|a| a.cells.place(time).is_some())
    }

    /// Takes note that the cells of `run`, which `feed` brings, are dropped before they arrive. The
    /// port takes all arrivals before `horizon` now; that far, its kernel would have met them.
    #[cold]
    pub fn drop_ahead(
        &mut self,
        feed: usize,
        run: &Run,
        feeds: &mut [Feed],
        extras: &mut [HopExtra],
        horizon: Time,
    ) {
        if self.feeds.len() == 1 {
            return;
        }
        let dropped = DroppedAhead {
            feed,
            hop: run.hop,
            cells: Instants::of(run),
        };
        if let Some(cells) = dropped.cells.within(Time::ZERO, horizon) {
            self.find_shared(&cells, feed, self.feeds.clone(), feeds);
            each_company(&mut self.shared, |company| {
                let n = company.cells;
                extras[dropped.hop as usize].tied_drops += n;
                // The kernel counts other cells only if they still come together.
                if company.feeds > 0 {
                    feeds[dropped.feed].tied += n;
                }
                if company.feeds == 1 {
                    feeds[company.feed].tied += n;
                }
            });
        }
        self.ahead.push(dropped);
    }

    /// Counts ties of cells dropped ahead that arrive in [from, horizon), before the kernel takes
    /// the arrivals of that time, which stand in the feeds `active`.
    #[cold]
    pub fn count_ahead(
        &mut self,
        active: &[usize],
        feeds: &mut [Feed],
        extras: &mut [HopExtra],
        from: Time,
        horizon: Time,
    ) {
        self.ahead.retain(|dropped| dropped.cells.last() >= from);
        for index in 0..self.ahead.len() {
            let DroppedAhead { feed, hop, cells } = self.ahead[index];
            let Some(cells) = cells.within(from, horizon) else {
                continue;
            };
            self.find_shared(&cells, feed, active.iter().copied(), feeds);
            each_company(&mut self.shared, |company| {
                let n = company.cells;
                feeds[feed].tied += n;
                extras[hop as usize].tied_drops += n;
                // The kernel takes this cell for the only one of its instant.
                if company.feeds == 1 && company.least > index {
                    feeds[company.feed].tied += n;
                }
            });
        }
    }

    /// Fills `shared` with places among `cells`, which `feed` brings, at which cells of other feeds
    /// come: those in `active`, and those dropped ahead.
    fn find_shared(
        &mut self,
        cells: &Instants,
        feed: usize,
        active: impl Iterator<Item = usize>,
        feeds: &[Feed],
    ) {
        let Ties { ahead, shared, .. } = self;
        shared.clear();
        let (first, last) = (cells.first, cells.last());
        for other in active.filter(|&other| other != feed) {
            for run in feeds[other].runs() {
                if run.time > last {
                    break;
                }
                let run = Instants::of(run);
                if run.last() >= first {
                    cells.each_shared(&run, |range| shared.push((range, Other::Feed(other))));
                }
            }
        }
        for (index, other) in ahead.iter().enumerate() {
            if other.feed != feed {
                let note = |range| shared.push((range, Other::Dropped(index)));
                cells.each_shared(&other.cells, note);
            }
        }
    }
}

/// Calls `each` with what comes together with each cell that does not come alone.
fn each_company(shared: &mut [(Range<u64>, Other)], mut each: impl FnMut(Company)) {
    shared.sort_unstable_by_key(|(range, _)| range.start);
    let mut shared: &[(Range<u64>, Other)] = shared;
    let mut at = 0;
    loop {
        while let [(range, _), later @ ..] = shared
            && range.end <= at
        {
            shared = later;
        }
        let left = shared.iter().filter(|(range, _)| range.end > at);
        let Some(from) = left.map(|(range, _)| range.start.max(at)).next() else {
            break;
        };
        let mut company = Company {
            cells: u64::MAX,
            feeds: 0,
            feed: 0,
            least: usize::MAX,
        };
        let mut to = u64::MAX;
        for (range, other) in shared.iter().filter(|(range, _)| range.end > from) {
            if range.start > from {
                to = to.min(range.start);
                break;
            }
            to = to.min(range.end);
            match *other {
                Other::Feed(feed) => {
                    company.feeds += 1;
                    company.feed = feed;
                }
                Other::Dropped(index) => {
                    company.least = company.least.min(index);
                }
            }
        }
        company.cells = to - from;
        each(company);
        at = to;
    }
}

/// Cells that a port takes input by input, for their ties.
#[derive(Debug, Default)]
pub struct BulkTies {
    runs: Vec<BulkRun>,
    /// Distance of the cells of runs that have several; none before the first.
    period: Option<Span>,
    is_mixed: bool,
    /// Scratch space: every cell, where distances differ.
    cells: Vec<(Time, usize)>,
}

/// Cells of one feed.
#[derive(Clone, Copy, Debug)]
struct BulkRun {
    /// Ticks from a multiple of the distance to each cell, and the number of that multiple.
    phase: u64,
    first: u64,
    n: u64,
    feed: usize,
}

impl BulkTies {
    /// Adds the first `n` cells of `run`, which `feed` brings.
    #[inline]
    pub fn add(&mut self, run: &Run, n: u32, feed: usize) {
        if n > 1 {
            self.is_mixed |= *self.period.get_or_insert(run.period) != run.period;
        }
        self.runs.push(BulkRun {
            phase: run.time.0,
            first: run.period.0,
            n: n.into(),
            feed,
        });
    }

    /// Counts the ties of all cells added, and forgets these.
    pub fn count(&mut self, feeds: &mut [Feed]) {
        if self.is_mixed {
            self.count_cells(feeds);
        } else {
            self.count_runs(feeds);
        }
        self.runs.clear();
        self.period = None;
        self.is_mixed = false;
    }

    #[inline(never)]
    fn count_runs(&mut self, feeds: &mut [Feed]) {
        for run in &mut self.runs {
            run.first = 0;
            if let Some(period) = self.period {
                (run.first, run.phase) = (run.phase / period.0, run.phase % period.0);
            }
        }
        self.runs.sort_unstable_by_key(|run| (run.phase, run.first));
        for runs in self.runs.chunk_by(|a, b| a.phase == b.phase) {
            if runs.len() > 1 {
                count_in_phase(runs, feeds);
            }
        }
    }

    #[inline(never)]
    fn count_cells(&mut self, feeds: &mut [Feed]) {
        self.cells.clear();
        for run in &self.runs {
            let times = (0..run.n).map(|i| Time(run.phase + run.first * i));
            self.cells.extend(times.map(|time| (time, run.feed)));
        }
        self.cells.sort_unstable();
        for cells in self.cells.chunk_by(|a, b| a.0 == b.0) {
            if cells.len() > 1 {
                cells.iter().for_each(|&(_, feed)| feeds[feed].tied += 1);
            }
        }
    }
}

/// Counts the ties of `runs`, in ascending order, whose cells come in step.
fn count_in_phase(runs: &[BulkRun], feeds: &mut [Feed]) {
    for (i, run) in runs.iter().enumerate() {
        let end = run.first + run.n;
        // Cells of others up to `seen` have been compared.
        let (mut seen, mut tied) = (run.first, 0);
        for (k, other) in runs.iter().enumerate() {
            if other.first >= end {
                break;
            }
            let to = end.min(other.first + other.n);
            if k != i && to > seen {
                tied += to - seen.max(other.first);
                seen = to;
            }
        }
        feeds[run.feed].tied += tied;
    }
}

#[cfg(test)]
mod tests;
