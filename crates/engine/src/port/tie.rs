//! The order among inputs whose cells arrive at one instant (model section 3).

use crate::rng::Stream;
use crate::scenario::TieOrder;
use crate::units::{Span, Time};

/// The order among inputs whose cells arrive at one instant.
#[derive(Debug)]
pub struct TieRule {
    order: TieOrder,
    inputs: u64,
    offset: u64,
    cell_time: Span,
    stream: Stream,
    /// Start and first input of the slot of the last tie, so that the next tie seldom needs a
    /// division.
    slot_start: Time,
    turn: u32,
    keyed: Vec<(u64, u32)>,
}

/// The cell times, counted from some instant, at which one of two inputs goes first. These are the
/// first `row` of each `cycle`; `passed` of the current cycle had passed at that instant.
#[derive(Clone, Copy, Debug)]
pub struct Leads {
    passed: u64,
    row: u64,
    cycle: u64,
}

impl Leads {
    /// No cell time at all.
    pub const NEVER: Leads = Leads {
        passed: 0,
        row: 0,
        cycle: 1,
    };

    /// The number of whole cycles in `times` cell times, and the rest. Divides only beyond the
    /// first cycle.
    fn place(&self, times: u64) -> (u64, u64) {
        if times < self.cycle {
            (0, times)
        } else {
            (times / self.cycle, times % self.cycle)
        }
    }

    /// Whether the input goes first at cell time `k`, counted from 0.
    pub fn at(&self, k: u64) -> bool {
        self.place(self.passed + k).1 < self.row
    }

    /// At how many of the first `n` cell times the input goes first.
    pub fn before(&self, n: u64) -> u64 {
        let end = self.passed + n;
        let (cycles, rest) = self.place(end);
        cycles * self.row + rest.min(self.row) - self.passed.min(self.row)
    }
}

impl TieRule {
    /// The rule of a port with `inputs` inputs and cell time `cell_time`; the random order draws
    /// from `stream`.
    pub fn new(
        order: TieOrder,
        inputs: usize,
        offset: u64,
        cell_time: Span,
        stream: Stream,
    ) -> TieRule {
        let inputs = (inputs as u64).max(1);
        TieRule {
            order,
            inputs,
            offset: offset % inputs,
            cell_time,
            stream,
            slot_start: Time::ZERO,
            turn: (offset % inputs) as u32,
            keyed: Vec::new(),
        }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs as usize
    }

    /// The index of the first to handle of `group`: inputs in ascending order, all with a cell at
    /// `time`. The inputs behind it follow, then those before it. For a random order, this shuffles
    /// `group` and returns 0.
    #[inline]
    pub fn arrange(&mut self, time: Time, group: &mut [u32]) -> usize {
        if !self.is_regular() {
            self.keyed.clear();
            let (stream, n) = (self.stream, self.inputs);
            let key = |i: u32| stream.bits(time.0.wrapping_mul(n).wrapping_add(u64::from(i)));
            self.keyed.extend(group.iter().map(|&i| (key(i), i)));
            self.keyed.sort_unstable();
            for (slot, &(_, input)) in group.iter_mut().zip(&self.keyed) {
                *slot = input;
            }
            0
        } else {
            self.leader(time, group, |&input| input).0
        }
    }

    /// Whether coincident cells are taken in the order of inputs, possibly rotated.
    pub fn is_regular(&self) -> bool {
        match self.order {
            TieOrder::Fixed | TieOrder::Rotating => true,
            TieOrder::Random => false,
        }
    }

    /// Whether the first place rotates; meaningful only for a regular order.
    fn rotates(&self) -> bool {
        match self.order {
            TieOrder::Fixed => false,
            TieOrder::Rotating | TieOrder::Random => true,
        }
    }

    /// The index of the first of `group` (ascending, not empty) at `time`, and the number of
    /// consecutive cell times it stays first. The order must be regular.
    pub fn leader<T>(
        &mut self,
        time: Time,
        group: &[T],
        input: impl Fn(&T) -> u32,
    ) -> (usize, u64) {
        if group.len() == 1 || !self.rotates() {
            return (0, u64::MAX);
        }
        let turn = self.turn_at(time);
        let first = group.iter().position(|m| input(m) >= turn).unwrap_or(0);
        let (turn, leader) = (u64::from(turn), u64::from(input(&group[first])));
        let turns = if leader >= turn {
            leader - turn
        } else {
            self.inputs - turn + leader
        };
        (first, turns + 1)
    }

    /// The cell times, counted from `time`, at which `other` goes before `lower`. Both bring a cell
    /// at each of them, `lower` is the smaller input, and the order must be regular.
    pub fn leads_of_other(&mut self, time: Time, [lower, other]: [u32; 2]) -> Leads {
        if !self.rotates() {
            return Leads::NEVER;
        }
        // `other` leads in consecutive turns: from the one behind `lower` to its own.
        let turn = u64::from(self.turn_at(time));
        let behind = u64::from(lower) + 1;
        Leads {
            passed: if turn >= behind { 0 } else { self.inputs } + turn - behind,
            row: u64::from(other - lower),
            cycle: self.inputs,
        }
    }

    /// The input whose turn it is to be first: (floor(time / cell time) + offset) mod inputs.
    fn turn_at(&mut self, time: Time) -> u32 {
        let cell_time = self.cell_time;
        // Times ascend within a port, but not across the fast paths of a kernel.
        let ahead = Span(time.0.wrapping_sub(self.slot_start.0));
        if ahead >= cell_time * 2 {
            let slot = time.0 / cell_time.0;
            self.slot_start = Time(slot * cell_time.0);
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
    use crate::format::Format;
    use crate::units::BitRate;
    use proptest::prelude::*;

    fn rule(order: TieOrder, inputs: usize, offset: u64) -> TieRule {
        TieRule::new(
            order,
            inputs,
            offset,
            Format::AAL5.cell_time(BitRate(155_520_000)),
            Stream::new(1, 0, "p", "tie"),
        )
    }

    proptest! {
        #[test]
        fn rotating_order_is_the_stated_one(n in 1usize..8, offset in 0u64..20, times in proptest::collection::vec(0u64..1u64<<33, 1..20)) {
            let mut times = times;
            times.sort_unstable();
            let mut rule = rule(TieOrder::Rotating, n, offset);
            for t in times {
                let mut group: Vec<u32> = (0..n as u32).collect();
                let first = rule.arrange(Time(t), &mut group);
                group.rotate_left(first);
                let slot = t / 68_900_000;
                let stated: Vec<u32> = (0..n as u64).map(|j| ((slot + offset + j) % n as u64) as u32).collect();
                prop_assert_eq!(group, stated);
            }
        }

        #[test]
        fn of_two_inputs_the_other_leads_where_it_does_in_each_round(
            [n, one, other] in [2usize..9, 0usize..9, 0usize..9],
            [time, offset, rounds] in [0u64..1 << 33, 0u64..20, 1u64..40],
            rotating in any::<bool>(),
        ) {
            let (one, other) = (one % n, other % n);
            prop_assume!(one < other);
            let pair = [one as u32, other as u32];
            let order = if rotating { TieOrder::Rotating } else { TieOrder::Fixed };
            let mut rule = rule(order, n, offset);
            let leads = rule.leads_of_other(Time(time), pair);
            for round in 0..rounds {
                let other_leads = rule.leader(Time(time + 68_900_000 * round), &pair, |&i| i).0 == 1;
                prop_assert_eq!(leads.at(round), other_leads);
                prop_assert_eq!(leads.before(round + 1) - leads.before(round), u64::from(other_leads));
            }
        }
    }
}
