//! Arrivals that are far ahead, in buckets.
//!
//! Each bucket is for a time span of the same length. A bucket is sorted when its turn comes, with
//! the few inputs in it. Inputs after the last bucket wait unsorted. When all buckets are empty,
//! these are spread over them anew, so that about half of them fill half the buckets. The number of
//! buckets follows that of the inputs. The cost per input thus does not grow with their number,
//! unless most come at the same time.

use super::{Entry, FEW};
use crate::ground::units::Time;

/// Least number of buckets.
const LEAST_BUCKETS: usize = 64;

/// Inputs with cells to come, none of them before `from`.
#[derive(Debug, Default)]
pub struct FarInputs {
    len: usize,
    /// No cell here comes before this.
    from: Time,
    /// Start of the first bucket; each is 2^`shift` ticks long.
    begin: Time,
    shift: u32,
    /// Buckets; none until the first use. Their number is a power of two.
    buckets: Vec<Vec<Entry>>,
    /// Index of the bucket whose turn is next. All before it are empty.
    turn: usize,
    /// Inputs after the last bucket.
    later: Vec<Entry>,
}

impl FarInputs {
    /// Whether there are no inputs here.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inputs whose cell comes before this do not belong here.
    pub fn from(&self) -> Time {
        self.from
    }

    /// Adds an input whose cell comes no sooner than `from`.
    pub fn push(&mut self, entry: Entry) {
        self.len += 1;
        self.put(entry);
    }

    fn put(&mut self, entry: Entry) {
        let bucket = (entry.0 - self.begin).0 >> self.shift;
        let place = usize::try_from(bucket).unwrap_or(usize::MAX);
        match self.buckets.get_mut(place) {
            Some(entries) => entries.push(entry),
            None => self.later.push(entry),
        }
    }

    /// Adds inputs whose cells may come before those here, and spreads all anew.
    pub fn take_in(&mut self, entries: impl Iterator<Item = Entry>) {
        for bucket in &mut self.buckets {
            self.later.append(bucket);
        }
        self.later.extend(entries);
        self.len = self.later.len();
        self.spread();
    }

    /// Spreads the waiting inputs over the buckets, which are empty.
    fn spread(&mut self) {
        let Some(first) = self.later.iter().map(|entry| entry.0).min() else {
            return;
        };
        // About half of all inputs come by then; they get at most half of the buckets.
        let middle = self.middle();
        let bits = u64::BITS - (middle - first).0.leading_zeros();
        let buckets = (self.later.len() / FEW).next_power_of_two();
        self.buckets
            .resize_with(buckets.max(LEAST_BUCKETS), Vec::new);
        self.shift = (bits + 1).saturating_sub(self.buckets.len().ilog2());
        self.begin = first;
        self.from = first;
        self.turn = 0;
        let mut later = std::mem::take(&mut self.later);
        for entry in later.drain(..) {
            self.put(entry);
        }
        // Reuses the memory of the old list.
        later.append(&mut self.later);
        self.later = later;
    }

    /// The median time of a small sample of the waiting inputs.
    fn middle(&self) -> Time {
        let mut few = [Time::ZERO; 9];
        let step = self.later.len().div_ceil(few.len()).max(1);
        let found = few.iter_mut().zip(self.later.iter().step_by(step));
        let found = found.map(|(few, entry)| *few = entry.0).count();
        few[..found].sort_unstable();
        few[found / 2]
    }

    /// Removes and returns the earliest inputs, in order, at least one; all others come later. The
    /// caller must drain the list.
    pub fn next(&mut self) -> &mut Vec<Entry> {
        let filled = |far: &FarInputs| {
            let mut ahead = far.turn..far.buckets.len();
            ahead.find(|&bucket| !far.buckets[bucket].is_empty())
        };
        let bucket = filled(self).unwrap_or_else(|| {
            self.spread();
            0
        });
        self.turn = bucket + 1;
        let end = (self.turn as u64).saturating_mul(1 << self.shift);
        self.from = Time(self.begin.0.saturating_add(end));
        let entries = &mut self.buckets[bucket];
        entries.sort_unstable();
        self.len -= entries.len();
        entries
    }
}
