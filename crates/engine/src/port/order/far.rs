//! Arrivals that are not soon, in buckets.
//!
//! There are 64 buckets, each for a stretch of time of the same length. One is sorted when its turn comes, with the few that lie in it. What comes
//! after the last bucket waits unsorted; when all are empty, it is spread over them anew, about half of it over half of them. So what an input costs does
//! not grow with their number, unless most come at once.

use super::Entry;
use crate::units::Time;

const BUCKETS: usize = u64::BITS as usize;

/// Inputs with cells to come, none of them before a certain time.
#[derive(Debug, Default)]
pub struct Far {
    len: usize,
    /// No cell comes before this.
    from: Time,
    /// When the first bucket begins; each is 2^`shift` ticks long.
    begin: Time,
    shift: u32,
    /// A bit for each bucket with anything in it, the first one the lowest.
    filled: u64,
    /// None before anything has come.
    buckets: Vec<Vec<Entry>>,
    /// What comes after the last bucket.
    later: Vec<Entry>,
}

impl Far {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What comes before this belongs elsewhere.
    pub fn from(&self) -> Time {
        self.from
    }

    /// Adds an input of which a cell comes no sooner than it may.
    #[inline(always)]
    pub fn push(&mut self, entry: Entry) {
        self.len += 1;
        self.put(entry);
    }

    #[inline(always)]
    fn put(&mut self, entry: Entry) {
        let bucket = (entry.0 - self.begin).0 >> self.shift;
        let place = usize::try_from(bucket).unwrap_or(usize::MAX);
        match self.buckets.get_mut(place) {
            Some(entries) => {
                entries.push(entry);
                self.filled |= 1 << bucket;
            }
            None => self.later.push(entry),
        }
    }

    /// Adds inputs whose cells may come sooner than those that are here; the first of them does.
    pub fn take_in(&mut self, entries: impl Iterator<Item = Entry>) {
        for bucket in &mut self.buckets {
            self.later.append(bucket);
        }
        self.filled = 0;
        self.later.extend(entries);
        self.len = self.later.len();
        self.spread();
    }

    /// Spreads what waits over the buckets, which are empty.
    fn spread(&mut self) {
        let Some(first) = self.later.iter().map(|entry| entry.0).min() else {
            return;
        };
        // About half of all come until then: half as many buckets, or less, are for these.
        let middle = self.middle();
        let bits = u64::BITS - (middle - first).0.leading_zeros();
        self.shift = (bits + 1).saturating_sub(BUCKETS.ilog2());
        self.begin = first;
        self.from = first;
        self.buckets.resize_with(BUCKETS, Vec::new);
        let mut later = std::mem::take(&mut self.later);
        for entry in later.drain(..) {
            self.put(entry);
        }
        // Its room is of use again.
        later.append(&mut self.later);
        self.later = later;
    }

    /// The middle one of a few of those that wait.
    fn middle(&self) -> Time {
        let mut few = [Time::ZERO; 9];
        let step = self.later.len().div_ceil(few.len()).max(1);
        let found = few.iter_mut().zip(self.later.iter().step_by(step));
        let found = found.map(|(few, entry)| *few = entry.0).count();
        few[..found].sort_unstable();
        few[found / 2]
    }

    /// The earliest of them, in order, one at least; those that are left come after all of these. What is handed out is to be taken.
    pub fn next(&mut self) -> &mut Vec<Entry> {
        if self.filled == 0 {
            self.spread();
        }
        let bucket = self.filled.trailing_zeros();
        self.filled &= self.filled - 1;
        let end = u64::from(bucket + 1).saturating_mul(1 << self.shift);
        self.from = Time(self.begin.0.saturating_add(end));
        let entries = &mut self.buckets[bucket as usize];
        entries.sort_unstable();
        self.len -= entries.len();
        entries
    }
}
