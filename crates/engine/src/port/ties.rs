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
        let (begin, end) = (self.first.max(others.first), self.last().min(others.last()));
        if begin > end {
            return;
        }
        if others.n == 1 {
            if let Some(at) = self.place(begin) {
                each(at..at + 1);
            }
        } else if self.n == 1 {
            if others.place(begin).is_some() {
                each(0..1);
            }
        } else if self.period == others.period {
            let period = self.period.0;
            let apart = self.first.0.abs_diff(others.first.0);
            // Divides only where it must.
            if apart == 0 || (apart >= period && apart.is_multiple_of(period)) {
                // Divides only where the runs overlap in part.
                let is_all = begin == self.first && end == self.last();
                let from = if is_all {
                    0
                } else {
                    (begin - self.first).0 / period
                };
                let n = if is_all {
                    self.n
                } else {
                    (end - begin).0 / period + 1
                };
                each(from..from + n);
            }
        } else if self.may_share(others)
            && let Some(near) = others.within(begin, end + Span(1))
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

/// What comes with each of some cells dropped ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Company {
    cells: u64,
    /// Number of feeds that bring a cell, and the sum of their indices: of one feed, its index.
    feeds: usize,
    feed_sum: usize,
    /// Smallest index among cells dropped ahead by others.
    least: usize,
}

impl Company {
    fn none(cells: u64) -> Company {
        Company {
            cells,
            feeds: 0,
            feed_sum: 0,
            least: usize::MAX,
        }
    }

    fn add(&mut self, other: Other) {
        match other {
            Other::Feed(feed) => {
                self.feeds += 1;
                self.feed_sum += feed;
            }
            Other::Dropped(index) => self.least = self.least.min(index),
        }
    }

    /// The cells of `feed`, which come with all these, are dropped ahead too.
    fn drop_feed(&mut self, feed: usize) {
        self.feeds -= 1;
        self.feed_sum -= feed;
    }

    fn is_none(&self) -> bool {
        self.feeds == 0 && self.least == usize::MAX
    }
}

/// What comes with cells dropped ahead.
#[derive(Clone, Debug)]
struct Shared {
    /// What comes with all of the cells.
    all: Company,
    /// What comes with a range of them.
    part: Vec<(Range<u64>, Other)>,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            all: Company::none(0),
            part: Vec::new(),
        }
    }
}

impl Shared {
    fn clear(&mut self, cells: u64) {
        self.all = Company::none(cells);
        self.part.clear();
    }

    #[inline]
    fn add(&mut self, range: Range<u64>, other: Other) {
        if range == (0..self.all.cells) {
            self.all.add(other);
        } else {
            self.part.push((range, other));
        }
    }

    /// Calls `each` with what comes together with each cell that does not come alone.
    #[inline]
    fn each_company(&mut self, mut each: impl FnMut(Company)) {
        if self.part.is_empty() {
            if !self.all.is_none() {
                each(self.all);
            }
            return;
        }
        self.part.sort_unstable_by_key(|(range, _)| range.start);
        let (mut at, mut over) = (0, 0);
        while at < self.all.cells {
            while self
                .part
                .get(over)
                .is_some_and(|(range, _)| range.end <= at)
            {
                over += 1;
            }
            let (mut company, mut to) = (self.all, self.all.cells);
            for (range, other) in &self.part[over..] {
                if range.start > at {
                    to = to.min(range.start);
                    break;
                }
                if range.end > at {
                    to = to.min(range.end);
                    company.add(*other);
                }
            }
            company.cells = to - at;
            if !company.is_none() {
                each(company);
            }
            at = to;
        }
    }
}

/// Feeds by the phase of their cells: the time from a multiple of one distance to the cell. Cells of
/// different phases never tie. A slot stands for many phases, so cells that share one may.
#[derive(Debug, Default)]
struct Phases {
    period: Span,
    /// Whether cells have other distances, so that phases tell nothing.
    is_mixed: bool,
    /// Feed of each slot, and the use in which it was entered.
    slots: Vec<(u64, usize)>,
    uses: u64,
}

impl Phases {
    const SLOTS: usize = 1 << 12;
    /// Stands for several feeds.
    const SEVERAL: usize = usize::MAX;

    /// Removes all feeds.
    fn begin(&mut self, period: Span) {
        self.slots.resize(Phases::SLOTS, (0, 0));
        self.uses += 1;
        self.period = period;
        self.is_mixed = false;
    }

    #[inline]
    fn slot(&self, time: Time) -> usize {
        let phase = time.0 % self.period.0.max(1);
        // The highest bits of a product with an odd number depend on all bits.
        (phase.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Phases::SLOTS.ilog2())) as usize
    }

    /// Enters cells of `feed`. Returns whether they may tie with cells entered before.
    #[inline]
    fn enter(&mut self, cells: &Instants, feed: usize) -> bool {
        self.is_mixed |= cells.n > 1 && cells.period != self.period;
        let slot = self.slot(cells.first);
        let slot = &mut self.slots[slot];
        if slot.0 != self.uses {
            *slot = (self.uses, feed);
            return self.is_mixed;
        }
        if slot.1 != feed {
            slot.1 = Phases::SEVERAL;
        }
        self.is_mixed || slot.1 != feed
    }

    /// Whether the cell of `feed` at `time`, and others of its run, may tie with cells entered.
    fn may_tie(&self, time: Time, feed: usize) -> bool {
        let (uses, other) = self.slots[self.slot(time)];
        self.is_mixed || (uses == self.uses && other != feed)
    }
}

/// Ties of cells that a port has dropped ahead.
#[derive(Debug, Default)]
pub struct Ties {
    feeds: Range<usize>,
    ahead: Vec<DroppedAhead>,
    /// Scratch space: what comes with the latest cells dropped ahead, with the time of their drop,
    /// the horizon, and their place in `ahead`. Afterwards others may be dropped that are in step
    /// with them.
    shared: Shared,
    latest: Option<((Time, Time, Instants), usize)>,
    /// Phases of the cells before a horizon, where there are many feeds.
    phases: Phases,
    entered_until: Time,
}

/// With fewer feeds, comparing each is faster than entering their phases.
const MANY_FEEDS: usize = 16;

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

    /// Whether a cell dropped ahead comes with that of `feed` at `time`, which is before `horizon`.
    pub fn is_dropped_at(&self, time: Time, feed: usize, horizon: Time) -> bool {
        let is_entered = self.entered_until == horizon;
        !self.ahead.is_empty()
            && (!is_entered || self.phases.may_tie(time, feed))
            && self.ahead.iter().any(|a| a.cells.place(time).is_some())
    }

    /// Whether cells of `feed` may tie with others before `horizon`.
    fn may_tie(&mut self, cells: &Instants, feed: usize, feeds: &[Feed], horizon: Time) -> bool {
        if self.feeds.len() < MANY_FEEDS {
            return true;
        }
        if self.entered_until != horizon {
            self.entered_until = horizon;
            self.phases.begin(cells.period);
            for other in self.feeds.clone() {
                let runs = feeds[other].runs().take_while(|run| run.time < horizon);
                for run in runs {
                    self.phases.enter(&Instants::of(run), other);
                }
            }
            for dropped in &self.ahead {
                self.phases.enter(&dropped.cells, dropped.feed);
            }
        }
        self.phases.may_tie(cells.first, feed)
    }

    /// Takes note at `now` that the cells of `run`, which `feed` brings later, are dropped before
    /// they arrive. The port takes all arrivals before `horizon` in this step; that far, its kernel
    /// would have met them.
    #[cold]
    pub fn drop_ahead(
        &mut self,
        now: Time,
        feed: usize,
        run: &Run,
        feeds: &mut [Feed],
        extras: &mut [HopExtra],
        horizon: Time,
    ) {
        if self.feeds.len() == 1 {
            return;
        }
        // The others have arrived, since a port takes cells in the order of time.
        self.ahead.retain(|dropped| dropped.cells.last() >= now);
        let dropped = DroppedAhead {
            feed,
            hop: run.hop,
            cells: Instants::of(run),
        };
        if let Some(cells) = dropped.cells.within(Time::ZERO, horizon)
            && self.may_tie(&cells, feed, feeds, horizon)
        {
            let latest = (now, horizon, cells);
            match self.latest {
                Some((same, place)) if same == latest => {
                    self.shared.all.drop_feed(feed);
                    self.shared.all.add(Other::Dropped(place));
                    debug_assert!(self.is_shared(&cells, feed, feeds));
                }
                _ => self.find_shared(&cells, feed, self.feeds.clone(), feeds),
            }
            self.latest = Some((latest, self.ahead.len()));
            self.shared.each_company(|company| {
                let n = company.cells;
                extras[dropped.hop as usize].tied_drops += n;
                // The kernel counts other cells only if they still come together.
                if company.feeds > 0 {
                    feeds[dropped.feed].tied += n;
                }
                if company.feeds == 1 {
                    feeds[company.feed_sum].tied += n;
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
            if !self.may_tie(&cells, feed, feeds, horizon) {
                continue;
            }
            self.latest = None;
            self.find_shared(&cells, feed, active.iter().copied(), feeds);
            self.shared.each_company(|company| {
                let n = company.cells;
                feeds[feed].tied += n;
                extras[hop as usize].tied_drops += n;
                // The kernel takes this cell for the only one of its instant.
                if company.feeds == 1 && company.least > index {
                    feeds[company.feed_sum].tied += n;
                }
            });
        }
    }

    /// Whether `shared` is what [`Ties::find_shared`] finds for cells dropped in this step.
    fn is_shared(&mut self, cells: &Instants, feed: usize, feeds: &[Feed]) -> bool {
        let mut kept = self.shared.clone();
        self.find_shared(cells, feed, self.feeds.clone(), feeds);
        let mut found = self.shared.clone();
        let [mut by_kept, mut by_found] = [Vec::new(), Vec::new()];
        kept.each_company(|company| by_kept.push(company));
        found.each_company(|company| by_found.push(company));
        by_kept == by_found
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
        shared.clear(cells.n);
        let (first, last) = (cells.first, cells.last());
        for other in active.filter(|&other| other != feed) {
            let mut i = 0;
            while let Some(run) = feeds[other].get(i)
                && run.time <= last
            {
                let run = Instants::of(run);
                if run.last() >= first {
                    cells.each_shared(&run, |range| shared.add(range, Other::Feed(other)));
                }
                i += 1;
            }
        }
        for (index, other) in ahead.iter().enumerate() {
            if other.feed != feed {
                cells.each_shared(&other.cells, |range| {
                    shared.add(range, Other::Dropped(index))
                });
            }
        }
    }
}

/// Cells that a port takes input by input, for their ties.
#[derive(Debug, Default)]
pub struct BulkTies {
    runs: Vec<(Instants, usize)>,
    /// Distance of the cells of runs that have several; none before the first.
    period: Option<Span>,
    phases: Phases,
    /// Scratch space: runs by phase.
    in_phase: Vec<BulkRun>,
    shared: Vec<Range<u64>>,
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

impl BulkRun {
    fn end(&self) -> u64 {
        self.first + self.n
    }
}

impl BulkTies {
    /// Adds the first `n` cells of `run`, which `feed` brings.
    #[inline]
    pub fn add(&mut self, run: &Run, n: u32, feed: usize) {
        let cells = Instants {
            n: n.into(),
            ..Instants::of(run)
        };
        if n > 1 {
            self.period.get_or_insert(run.period);
        }
        self.runs.push((cells, feed));
    }

    /// Counts the ties of all cells added, and forgets these.
    pub fn count(&mut self, feeds: &mut [Feed]) {
        // Without a distance, cells tie only at equal times.
        self.phases.begin(self.period.unwrap_or(Span::FOREVER));
        let mut may_tie = false;
        for (cells, feed) in &self.runs {
            may_tie |= self.phases.enter(cells, *feed);
        }
        if self.phases.is_mixed {
            self.count_cells(feeds);
        } else if may_tie {
            self.count_runs(feeds);
        }
        self.runs.clear();
        self.period = None;
    }

    fn count_runs(&mut self, feeds: &mut [Feed]) {
        let period = self.period.unwrap_or(Span::FOREVER).0;
        let in_phase = |&(cells, feed): &(Instants, usize)| BulkRun {
            phase: cells.first.0 % period,
            first: cells.first.0 / period,
            n: cells.n,
            feed,
        };
        self.in_phase.clear();
        self.in_phase.extend(self.runs.iter().map(in_phase));
        self.in_phase
            .sort_unstable_by_key(|run| (run.phase, run.first));
        for runs in self.in_phase.chunk_by(|a, b| a.phase == b.phase) {
            if runs.len() > 1 {
                count_in_phase(runs, &mut self.shared, feeds);
            }
        }
    }

    fn count_cells(&mut self, feeds: &mut [Feed]) {
        self.cells.clear();
        for (cells, feed) in &self.runs {
            let times = (0..cells.n).map(|i| (cells.at(i), *feed));
            self.cells.extend(times);
        }
        self.cells.sort_unstable();
        for cells in self.cells.chunk_by(|a, b| a.0 == b.0) {
            if cells.len() > 1 {
                cells.iter().for_each(|&(_, feed)| feeds[feed].tied += 1);
            }
        }
    }
}

/// Counts the ties of `runs`, in ascending order, whose cells come in step. Fills `shared` with the
/// multiples at which several runs have a cell.
fn count_in_phase(runs: &[BulkRun], shared: &mut Vec<Range<u64>>, feeds: &mut [Feed]) {
    shared.clear();
    // Runs so far have cells until this multiple. What a run has before that is shared.
    let mut reached = 0;
    for run in runs {
        let end = run.end();
        let to = end.min(reached);
        reached = reached.max(end);
        match shared.last_mut() {
            Some(last) if run.first <= last.end => last.end = last.end.max(to),
            _ if run.first < to => shared.push(run.first..to),
            _ => {}
        }
    }
    let mut from = 0;
    for run in runs {
        while shared.get(from).is_some_and(|s| s.end <= run.first) {
            from += 1;
        }
        let of_run = shared[from..].iter().take_while(|s| s.start < run.end());
        let tied = of_run.map(|s| s.end.min(run.end()) - s.start.max(run.first));
        feeds[run.feed].tied += tied.sum::<u64>();
    }
}

#[cfg(test)]
mod tests;
