//! The order in which the cells of a port's inputs arrive.
//!
//! Inputs with cells to come stand in a list sorted by (next arrival, input). An input that goes on
//! is inserted from the nearer end. Its place is a few steps from the back when all inputs are
//! active, and from the front when few are. This makes a heap unnecessary.
//!
//! Among many inputs with different rates the place is many steps from either end. Once an
//! insertion takes more than 64 steps, only the earliest inputs stay in the list. The others wait
//! in buckets (`far.rs`) until the list runs out.

mod far;

use crate::ground::units::{Span, Time};
use crate::network::cells::Feed;
use crate::port::fast_paths::FastPath;
use far::FarInputs;

/// Arrival time of an input's next cell, and the input.
type Entry = (Time, u32);

/// An insertion that takes more steps than this moves all but the earliest inputs to the buckets.
const MANY: usize = 64;

/// About this many inputs stay in the list then.
const FEW: usize = 16;

/// The inputs with cells to come, by arrival time.
///
/// The ring is sorted by (time, input). It holds at least two inputs whenever there are as many.
/// All inputs in the buckets come later than those in the ring.
#[derive(Debug)]
pub struct ArrivalOrder {
    ring: Box<[Entry]>,
    first: usize,
    len: usize,
    far: FarInputs,
}

/// Whether `a` comes before `b`. Each pair is compared as one number, which avoids a branch.
fn is_before(a: (Time, u32), b: (Time, u32)) -> bool {
    let key = |(time, input): (Time, u32)| (u128::from(time.0) << 64) | u128::from(input);
    key(a) < key(b)
}

impl Default for ArrivalOrder {
    fn default() -> ArrivalOrder {
        ArrivalOrder {
            ring: vec![(Time::ZERO, 0); 8].into_boxed_slice(),
            first: 0,
            len: 0,
            far: FarInputs::default(),
        }
    }
}

/// A ring of twice the length that holds the entries in order, from index 0.
#[cold]
fn grown(ring: &[Entry], first: usize) -> Box<[Entry]> {
    let (behind, ahead) = ring.split_at(first);
    let mut grown = [ahead, behind].concat();
    grown.resize(2 * ring.len(), (Time::ZERO, 0));
    grown.into_boxed_slice()
}

impl ArrivalOrder {
    fn at(&self, i: usize) -> usize {
        (self.first + i) & (self.ring.len() - 1)
    }

    /// Adds an input.
    #[inline(always)]
    pub fn insert(&mut self, time: Time, input: u32) {
        let entry = (time, input);
        if !self.far.is_empty() {
            return self.insert_among_many(entry);
        }
        if self.len == self.ring.len() {
            self.grow();
        }
        if self.is_near_front(entry) {
            self.first = self.at(self.ring.len() - 1);
            self.len += 1;
            self.sink_first(entry);
        } else {
            self.insert_from_back(entry);
        }
    }

    /// Whether `entry` belongs in the front half of a ring that is long enough for the choice to
    /// matter. Inputs that go on belong near the back when most bring one cell per cell time. They
    /// belong near the front when most wait for a frame still to come.
    #[inline(always)]
    fn is_near_front(&self, entry: (Time, u32)) -> bool {
        self.len > 4 && is_before(entry, self.ring[self.at(self.len / 2)])
    }

    #[inline(always)]
    fn insert_from_back(&mut self, entry: (Time, u32)) {
        let mut i = self.len;
        self.len += 1;
        while i > 0 {
            let before = self.ring[self.at(i - 1)];
            if is_before(before, entry) {
                break;
            }
            let to = self.at(i);
            self.ring[to] = before;
            i -= 1;
        }
        let to = self.at(i);
        self.ring[to] = entry;
        if self.len > i + MANY && FastPath::FarInputs.applies(|| true) {
            self.spill();
        }
    }

    /// Moves `entry` to its place from the front; the first place is free.
    #[inline(always)]
    fn sink_first(&mut self, entry: (Time, u32)) {
        let mut i = 1;
        while i < self.len {
            let next = self.ring[self.at(i)];
            if is_before(entry, next) {
                break;
            }
            let to = self.at(i - 1);
            self.ring[to] = next;
            i += 1;
        }
        let to = self.at(i - 1);
        self.ring[to] = entry;
        if i > MANY && FastPath::FarInputs.applies(|| true) {
            self.spill();
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.ring = grown(&self.ring, self.first);
        self.first = 0;
    }

    /// Inserts `entry` when the buckets are not empty.
    #[inline(never)]
    fn insert_among_many(&mut self, entry: Entry) {
        if entry.0 >= self.far.from() {
            self.far.push(entry);
        } else {
            if self.len == self.ring.len() {
                self.grow();
            }
            self.insert_from_back(entry);
        }
        self.fill();
    }

    /// Moves all but the earliest inputs to the buckets. Inputs with equal times move together.
    #[cold]
    fn spill(&mut self) {
        let (from, _) = self.ring[self.at(FEW)];
        let comes_before = |&i: &usize| self.ring[self.at(i)].0 < from;
        let stay = (0..FEW).rev().find(comes_before).map_or(0, |i| i + 1);
        let mask = self.ring.len() - 1;
        let go = (stay..self.len).map(|i| self.ring[(self.first + i) & mask]);
        self.far.take_in(go);
        self.len = stay;
        self.fill();
    }

    /// Refills the ring from the buckets when it holds fewer than two inputs.
    fn fill(&mut self) {
        if self.len < 2 && !self.far.is_empty() {
            self.bring(2);
        }
    }

    /// Refills the ring from the buckets until it holds `n` inputs, or all there are.
    fn bring(&mut self, n: usize) {
        while self.len < n && !self.far.is_empty() {
            let entries = self.far.next();
            while self.len + entries.len() > self.ring.len() {
                self.ring = grown(&self.ring, self.first);
                self.first = 0;
            }
            let mask = self.ring.len() - 1;
            for entry in entries.drain(..) {
                self.ring[(self.first + self.len) & mask] = entry;
                self.len += 1;
            }
        }
    }

    /// The next arrival and its input.
    #[inline(always)]
    pub fn first(&self) -> Option<(Time, u32)> {
        (self.len > 0).then(|| self.ring[self.first & (self.ring.len() - 1)])
    }

    /// The `i`-th arrival from now (from 0), and its input.
    pub fn get(&mut self, i: usize) -> Option<(Time, u32)> {
        if i >= self.len && !self.far.is_empty() {
            self.bring(i + 1);
        }
        (i < self.len).then(|| self.ring[self.at(i)])
    }

    /// Time of the arrival after the next one.
    pub fn second_time(&self) -> Time {
        if self.len > 1 {
            self.ring[self.at(1)].0
        } else {
            Time::NEVER
        }
    }

    /// Moves the first input to the place of its next arrival, at `time`.
    #[inline(always)]
    pub fn postpone_first(&mut self, time: Time) {
        let at = self.at(0);
        let entry = (time, self.ring[at].1);
        if self.len == 1 || is_before(entry, self.ring[self.at(1)]) {
            self.ring[at] = entry;
        } else if self.far.is_empty() && self.ring[self.at(self.len - 1)] < entry {
            // In a full ring, the place behind the last is the one that the first leaves.
            let end = self.at(self.len);
            self.ring[end] = entry;
            self.first = self.at(1);
        } else if !self.far.is_empty() {
            self.first = self.at(1);
            self.len -= 1;
            if entry.0 >= self.far.from() {
                self.far.push(entry);
            } else {
                self.insert_from_back(entry);
            }
            self.fill();
        } else if self.is_near_front(entry) {
            self.sink_first(entry);
        } else {
            self.pop();
            self.insert_from_back(entry);
        }
    }

    /// Repeatedly lets the first input bring its next cell, until `horizon` or until two cells
    /// arrive together.
    ///
    /// `bring` is given the arrival time of the cell, that of the next cell of another input, and
    /// the input. It returns when the input's following cell arrives, if any. The loop favours an
    /// input that goes to the back after each cell, the most frequent case.
    pub fn each_in_turn(
        &mut self,
        horizon: Time,
        mut bring: impl FnMut(Time, Time, u32) -> Option<Time>,
    ) {
        while self.len > 0 {
            let (len, mask) = (self.len, self.ring.len() - 1);
            let are_many = len > 1 && self.far.is_empty();
            let ring = &mut *self.ring;
            let mut first = self.first & mask;
            let mut last = ring[(first + len - 1) & mask].0;
            let brought = loop {
                let (time, input) = ring[first];
                let second = (first + 1) & mask;
                let next = if len > 1 { ring[second].0 } else { Time::NEVER };
                if time >= horizon || time == next {
                    self.first = first;
                    return;
                }
                match bring(time, next, input) {
                    Some(time) if are_many && time > last => {
                        last = time;
                        // In a full ring, the place behind the last is the one that the first
                        // leaves.
                        ring[(first + len) & mask] = (time, input);
                        first = second;
                    }
                    other => break other,
                }
            };
            self.first = first;
            self.go_on(brought);
        }
    }

    /// Moves the first input to `next`, its following arrival, or removes it if there is none.
    #[inline(never)]
    fn go_on(&mut self, next: Option<Time>) {
        match next {
            Some(time) => self.postpone_first(time),
            None => self.pop(),
        }
    }

    /// Delays the next arrivals of the first `n` inputs by `by`, which must not change the order.
    /// The caller has looked at the input behind them, so that one stands in the ring if it exists.
    pub fn postpone_many(&mut self, n: usize, by: Span) {
        for i in 0..n {
            let at = self.at(i);
            self.ring[at].0 += by;
        }
        debug_assert!(
            self.far.is_empty() || self.ring[self.at(n - 1)].0 < self.far.from(),
            "the inputs in the buckets come later"
        );
    }

    /// Removes the first input.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.first = self.at(1);
        self.len -= 1;
        self.fill();
    }

    /// Fills `group` with the inputs whose next cell arrives at `time`, in ascending order, without
    /// removing them.
    pub fn group(&mut self, time: Time, group: &mut Vec<u32>) {
        group.clear();
        while let Some((_, input)) = self.get(group.len()).filter(|&(t, _)| t == time) {
            group.push(input);
        }
    }

    /// Moves all inputs whose next cell arrives at `time` into `group`, in ascending order.
    #[inline(always)]
    pub fn pop_group(&mut self, time: Time, group: &mut Vec<u32>) {
        self.pop_before(time + Span(1), group);
    }

    /// Moves all inputs whose next cell arrives before `limit` into `group`.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time, group: &mut Vec<u32>) {
        group.clear();
        while let Some((_, input)) = self.first().filter(|&(time, _)| time < limit) {
            group.push(input);
            self.pop();
        }
    }

    /// Whether `n` inputs, the last of them `entry`, come before all others and fit into the ring.
    fn go_first(&self, entry: (Time, u32), n: usize) -> bool {
        let first = self.first().is_none_or(|first| entry < first);
        first && self.far.is_empty() && self.len + n <= self.ring.len()
    }

    /// Puts those inputs of `group` back whose feeds have more cells; the feed of input i is
    /// `first_feed` + i. This is fastest for ascending inputs, each of which is then inserted at
    /// the back.
    #[inline]
    pub fn put_back(&mut self, group: &[u32], feeds: &[Feed], first_feed: usize) {
        let head = |input: u32| &feeds[first_feed + input as usize].head;
        if let Some(&last) = group.last()
            && self.go_first((head(last).time, last), group.len())
            && group
                .iter()
                .all(|&i| head(i).n > 0 && head(i).time == head(last).time)
        {
            for &input in group.iter().rev() {
                self.first = self.at(self.ring.len() - 1);
                self.len += 1;
                self.ring[self.first] = (head(last).time, input);
            }
            return;
        }
        for &input in group.iter() {
            let head = head(input);
            if head.n > 0 {
                self.insert(head.time, input);
            }
        }
    }
}

#[cfg(test)]
mod tests;
