//! Merging the inputs of a port in time order, with the tie rule.
//!
//! Each input is a queue of *runs*: cells at equal distances that belong to one frame (or are frames of one cell each).
//! The inputs that have cells wait in a list sorted by (next arrival, input). An input that goes on is inserted from the
//! nearer end: its place is a few steps from the back when all inputs are active, from the front when few are. No heap.

use crate::rng::Stream;
use crate::scenario::TieOrder;
use crate::units::CellTime;
use std::collections::VecDeque;

/// The last cell of the run is an EOM.
pub const ENDS_FRAME: u8 = 1;
/// Every cell of the run is a frame of its own; `frame` numbers the first.
pub const SINGLE_CELLS: u8 = 2;

/// Cells that arrive one after the other at equal distances on one link.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// Arrival of the first cell, ticks.
    pub time: u64,
    /// Distance of arrivals, ticks.
    pub period: u64,
    /// Time since the first cell left its source host, ticks; the same for all cells of the run.
    pub age: u64,
    /// Cells.
    pub n: u32,
    /// Frame number within the VC direction.
    pub frame: u32,
    /// Number of the first cell within its frame.
    pub cell: u32,
    /// Index of the hop (port and VC direction) at which the run arrives.
    pub hop: u32,
    /// `ENDS_FRAME`, `SINGLE_CELLS`.
    pub flags: u8,
}

impl Run {
    /// Takes the first `n` cells off.
    #[inline]
    pub fn skip(&mut self, n: u32) {
        self.time += u64::from(n) * self.period;
        self.n -= n;
        if self.flags & SINGLE_CELLS != 0 {
            self.frame += n;
        } else {
            self.cell += n;
        }
    }

    /// Whether the cell that is `i` cells into the run ends a frame.
    #[inline]
    pub fn ends_frame(&self, i: u32) -> bool {
        self.flags & SINGLE_CELLS != 0 || (self.flags & ENDS_FRAME != 0 && i + 1 == self.n)
    }

    /// How many of the run's cells arrive before `limit`.
    #[inline]
    pub fn before(&self, limit: u64) -> u32 {
        if self.time >= limit {
            0
        } else if self.n == 1 || self.time + self.period >= limit {
            1
        } else {
            ((limit - self.time).div_ceil(self.period)).min(u64::from(self.n)) as u32
        }
    }
}

/// What one link brings to a port: the run being taken and those behind it.
#[derive(Debug, Default)]
pub struct Feed {
    /// The run whose cells arrive next; empty (`n == 0`) when nothing is known to come.
    pub head: Run,
    queue: VecDeque<Run>,
}

impl Feed {
    /// Appends a run, later than all before; true when the feed was empty.
    #[inline]
    pub fn push(&mut self, run: Run) -> bool {
        if self.head.n == 0 {
            self.head = run;
            true
        } else {
            self.queue.push_back(run);
            false
        }
    }

    /// When the first cell of the run behind the head arrives; `u64::MAX` when none is known.
    #[inline]
    pub fn second_time(&self) -> u64 {
        self.queue.front().map_or(u64::MAX, |run| run.time)
    }

    /// Takes `n` cells off the head; false when the feed is then empty.
    #[inline]
    pub fn skip(&mut self, n: u32) -> bool {
        self.head.skip(n);
        if self.head.n == 0 {
            match self.queue.pop_front() {
                Some(run) => self.head = run,
                None => return false,
            }
        }
        true
    }

    /// Cells that are still to arrive, from `time` on or not: for counting what is in flight.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        std::iter::once(&self.head)
            .filter(|r| r.n > 0)
            .chain(&self.queue)
    }
}

/// The inputs with cells to come, in the order in which those arrive: a ring sorted by (time, input).
#[derive(Debug)]
pub struct Order {
    ring: Box<[(u64, u32)]>,
    first: usize,
    len: usize,
}

impl Default for Order {
    fn default() -> Order {
        Order {
            ring: vec![(0, 0); 8].into_boxed_slice(),
            first: 0,
            len: 0,
        }
    }
}

impl Order {
    #[inline(always)]
    fn at(&self, i: usize) -> usize {
        (self.first + i) & (self.ring.len() - 1)
    }

    /// Adds an input.
    #[inline(always)]
    pub fn insert(&mut self, time: u64, input: u32) {
        if self.len == self.ring.len() {
            self.grow();
        }
        let entry = (time, input);
        if self.is_near_front(entry) {
            self.first = self.at(self.ring.len() - 1);
            self.len += 1;
            self.sink_first(entry);
        } else {
            self.insert_from_back(entry);
        }
    }

    /// Whether the way of `entry` to its place is shorter from the front, in a ring that is long enough for that to matter. Inputs
    /// that go on belong near the back when most bring a cell per cell time, and near the front when most wait for a frame that
    /// is still to come.
    #[inline(always)]
    fn is_near_front(&self, entry: (u64, u32)) -> bool {
        self.len > 8 && entry < self.ring[self.at(self.len / 2)]
    }

    #[inline(always)]
    fn insert_from_back(&mut self, entry: (u64, u32)) {
        let mut i = self.len;
        self.len += 1;
        while i > 0 {
            let before = self.ring[self.at(i - 1)];
            if before < entry {
                break;
            }
            let to = self.at(i);
            self.ring[to] = before;
            i -= 1;
        }
        let to = self.at(i);
        self.ring[to] = entry;
    }

    /// Puts `entry` where it belongs; the first place is free.
    #[inline(always)]
    fn sink_first(&mut self, entry: (u64, u32)) {
        let mut i = 1;
        while i < self.len {
            let next = self.ring[self.at(i)];
            if entry < next {
                break;
            }
            let to = self.at(i - 1);
            self.ring[to] = next;
            i += 1;
        }
        let to = self.at(i - 1);
        self.ring[to] = entry;
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![(0, 0); 2 * self.ring.len()];
        for (i, entry) in ring.iter_mut().enumerate().take(self.len) {
            *entry = self.ring[self.at(i)];
        }
        *self = Order {
            ring: ring.into_boxed_slice(),
            first: 0,
            len: self.len,
        };
    }

    /// The next arrival and its input.
    #[inline(always)]
    pub fn first(&self) -> Option<(u64, u32)> {
        (self.len > 0).then(|| self.ring[self.first & (self.ring.len() - 1)])
    }

    /// The arrival that is number `i` from now, and its input.
    #[inline(always)]
    pub fn get(&self, i: usize) -> Option<(u64, u32)> {
        (i < self.len).then(|| self.ring[self.at(i)])
    }

    /// Time of the arrival after the next one.
    #[inline(always)]
    pub fn second_time(&self) -> u64 {
        if self.len > 1 {
            self.ring[self.at(1)].0
        } else {
            u64::MAX
        }
    }

    /// The first input's next cell arrives at `time` instead.
    #[inline(always)]
    pub fn postpone_first(&mut self, time: u64) {
        let at = self.at(0);
        let entry = (time, self.ring[at].1);
        if self.len == 1 || entry < self.ring[self.at(1)] {
            self.ring[at] = entry;
        } else if self.is_near_front(entry) {
            self.sink_first(entry);
        } else {
            self.pop();
            self.insert_from_back(entry);
        }
    }

    /// Takes the first input off.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.first = self.at(1);
        self.len -= 1;
    }

    /// Takes off all inputs whose next cell arrives at `time`, in order of input, into `group`.
    #[inline(always)]
    pub fn pop_group(&mut self, time: u64, group: &mut Vec<u32>) {
        group.clear();
        while let Some((t, input)) = self.first() {
            if t != time {
                break;
            }
            group.push(input);
            self.pop();
        }
    }
}

/// Who goes first among inputs whose cells arrive at one instant.
#[derive(Debug)]
pub struct TieRule {
    order: TieOrder,
    inputs: u64,
    offset: u64,
    cell_time: CellTime,
    stream: Stream,
    /// Beginning and first input of the slot of the last tie, so that the next one seldom needs a division.
    slot_start: u64,
    turn: u32,
    keyed: Vec<(u64, u32)>,
}

impl TieRule {
    /// For a port with `inputs` inputs and cell time `cell_time`; `stream` is for the random order.
    pub fn new(
        order: TieOrder,
        inputs: usize,
        offset: u64,
        cell_time: CellTime,
        stream: Stream,
    ) -> TieRule {
        let inputs = (inputs as u64).max(1);
        TieRule {
            order,
            inputs,
            offset: offset % inputs,
            cell_time,
            stream,
            slot_start: 0,
            turn: (offset % inputs) as u32,
            keyed: Vec::new(),
        }
    }

    /// Puts `group` (inputs in ascending order, all with a cell arriving at `time`) into the order in which they are taken.
    #[inline]
    pub fn arrange(&mut self, time: u64, group: &mut [u32]) {
        if self.order == TieOrder::Random {
            self.keyed.clear();
            let (stream, n) = (self.stream, self.inputs);
            let key = |i: u32| stream.bits(time.wrapping_mul(n).wrapping_add(u64::from(i)));
            self.keyed.extend(group.iter().map(|&i| (key(i), i)));
            self.keyed.sort_unstable();
            for (slot, &(_, input)) in group.iter_mut().zip(&self.keyed) {
                *slot = input;
            }
        } else {
            let split = self.split(time, group.iter().copied());
            group.rotate_left(split);
        }
    }

    /// Whether the order of coincident arrivals is that of the inputs, possibly rotated.
    pub fn is_regular(&self) -> bool {
        self.order != TieOrder::Random
    }

    /// Which of `inputs` (ascending, at least one) is first at `time`, when the order is regular.
    #[inline(always)]
    pub fn split(&mut self, time: u64, mut inputs: impl Iterator<Item = u32>) -> usize {
        if self.order == TieOrder::Fixed {
            return 0;
        }
        let first = self.turn_at(time);
        inputs.position(|i| i >= first).unwrap_or(0)
    }

    /// (floor(time / cell time) + offset) mod inputs: the input whose turn it is to be first.
    #[inline(always)]
    fn turn_at(&mut self, time: u64) -> u32 {
        let Some(cell_time) = self.cell_time.exact() else {
            let CellTime { whole, part, of } = self.cell_time;
            let total = u128::from(whole) * u128::from(of) + u128::from(part);
            let slot = (u128::from(time) * u128::from(of) / total) as u64;
            return ((slot + self.offset) % self.inputs) as u32;
        };
        let ahead = time.wrapping_sub(self.slot_start);
        if ahead >= 2 * cell_time {
            let slot = time / cell_time;
            self.slot_start = slot * cell_time;
            self.turn = ((slot + self.offset) % self.inputs) as u32;
        } else if ahead >= cell_time {
            self.slot_start += cell_time;
            self.turn += 1;
            if u64::from(self.turn) == self.inputs {
                self.turn = 0;
            }
        }
        self.turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;
    use proptest::prelude::*;

    fn rule(order: TieOrder, inputs: usize, offset: u64) -> TieRule {
        TieRule::new(
            order,
            inputs,
            offset,
            BitRate(155_520_000).cell_time(),
            Stream::new(1, 0, "p", "tie"),
        )
    }

    proptest! {
        #[test]
        fn order_matches_a_sorted_list(entries in proptest::collection::btree_map(0u32..20, 0u64..6, 0..20)) {
            let mut order = Order::default();
            for (&input, &time) in &entries {
                order.insert(time, input);
            }
            let mut sorted: Vec<_> = entries.iter().map(|(&i, &t)| (t, i)).collect();
            sorted.sort_unstable();
            let mut group = Vec::new();
            let mut popped = Vec::new();
            while let Some((time, _)) = order.first() {
                order.pop_group(time, &mut group);
                popped.extend(group.iter().map(|&i| (time, i)));
            }
            prop_assert_eq!(popped, sorted);
        }

        #[test]
        fn inputs_that_go_on_stay_in_order(inputs in 1u32..40, steps in proptest::collection::vec((0u64..100, any::<bool>()), 0..300)) {
            let mut order = Order::default();
            let mut sorted: Vec<(u64, u32)> = Vec::new();
            for input in 0..inputs {
                order.insert(u64::from(input % 7), input);
                sorted.push((u64::from(input % 7), input));
            }
            for (later, in_place) in steps {
                sorted.sort_unstable();
                let (time, input) = sorted[0];
                prop_assert_eq!(order.first(), Some((time, input)));
                prop_assert_eq!(order.second_time(), sorted.get(1).map_or(u64::MAX, |e| e.0));
                if in_place {
                    order.postpone_first(time + later);
                } else {
                    order.pop();
                    order.insert(time + later, input);
                }
                sorted[0].0 = time + later;
            }
        }

        #[test]
        fn rotating_order_is_the_stated_one(n in 1usize..8, offset in 0u64..20, times in proptest::collection::vec(0u64..1u64<<33, 1..20)) {
            let mut times = times;
            times.sort_unstable();
            let mut rule = rule(TieOrder::Rotating, n, offset);
            for t in times {
                let mut group: Vec<u32> = (0..n as u32).collect();
                rule.arrange(t, &mut group);
                let slot = t / 68_900_000;
                let stated: Vec<u32> = (0..n as u64).map(|j| ((slot + offset + j) % n as u64) as u32).collect();
                prop_assert_eq!(group, stated);
            }
        }
    }

    #[test]
    fn cells_before_a_limit() {
        let run = Run {
            time: 100,
            period: 10,
            n: 5,
            ..Run::default()
        };
        assert_eq!(
            [99, 100, 101, 110, 111, 140, 141, 999].map(|l| run.before(l)),
            [0, 0, 1, 1, 2, 4, 5, 5]
        );
    }
}
