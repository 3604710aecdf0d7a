//! The order among inputs whose cells arrive at one instant (model section 3).

use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::network::pool::Taken;
use crate::network::tally::InputRefusals;
use crate::text::scenario::TieOrder;

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
    /// By input: number of its last win, counted over all inputs; 0 before the first.
    last_won: Vec<u64>,
    /// Cells accepted at contested ties.
    wins: u64,
    /// By input: cells refused at contested ties.
    tied_refusals: Vec<u64>,
    /// Scratch space by input: whether its cell of this instant was dropped.
    is_dropped: Vec<bool>,
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
            last_won: vec![0; inputs as usize],
            wins: 0,
            tied_refusals: vec![0; inputs as usize],
            is_dropped: vec![false; inputs as usize],
        }
    }

    /// The index of the first to handle of `group`: inputs in ascending order, all with a cell at
    /// `time`. The inputs behind it follow, then those before it. This may reorder `group`.
    #[inline]
    pub fn arrange(&mut self, time: Time, group: &mut [u32]) -> usize {
        if self.order == TieOrder::Random {
            self.keyed.clear();
            let (stream, n) = (self.stream, self.inputs);
            let key = |i: u32| stream.bits(time.0.wrapping_mul(n).wrapping_add(u64::from(i)));
            self.keyed.extend(group.iter().map(|&i| (key(i), i)));
            self.keyed.sort_unstable();
            for (slot, &(_, input)) in group.iter_mut().zip(&self.keyed) {
                *slot = input;
            }
            return 0;
        }
        self.sort(group, |&input| input);
        self.leader(time, group, |&input| input).0
    }

    /// Whether [`TieRule::arrange`] and [`TieRule::sort`] leave inputs in ascending order.
    pub fn keeps_ascending(&self) -> bool {
        match self.order {
            TieOrder::Fixed | TieOrder::Rotating => true,
            TieOrder::Random => false,
            TieOrder::Fair => self.wins == 0,
        }
    }

    /// Whether the order of later instants is known as long as no cell is refused.
    pub fn is_known_ahead(&self) -> bool {
        self.order != TieOrder::Random
    }

    /// Sorts members of a tie, which come in ascending order of `input`, for [`TieRule::leader`].
    #[inline]
    pub fn sort<T>(&self, group: &mut [T], input: impl Fn(&T) -> u32) {
        if !self.keeps_ascending() {
            group.sort_unstable_by_key(|member| self.fair_key(input(member)));
        }
    }

    /// Smallest for the input that goes first in a fair order.
    fn fair_key(&self, input: u32) -> (u64, u32) {
        (self.last_won[input as usize], input)
    }

    /// Counts the refusals of an instant, whose cells were taken in the order `inputs`. `dropped`
    /// has the feeds whose cell was dropped, and whether it was refused; the feed of input i is
    /// `first_feed` + i. If the tie is contested, its winners go to the back of a fair order.
    #[inline(never)]
    pub fn settle(
        &mut self,
        inputs: impl Iterator<Item = u32>,
        first_feed: usize,
        dropped: &[(usize, bool)],
    ) {
        let refused = dropped.iter().filter(|(_, refused)| *refused);
        if refused.clone().next().is_none() {
            return;
        }
        for &(feed, _) in dropped {
            self.is_dropped[feed - first_feed] = true;
        }
        let before = self.wins;
        for input in inputs {
            if !self.is_dropped[input as usize] {
                self.wins += 1;
                self.last_won[input as usize] = self.wins;
            }
        }
        for &(feed, _) in dropped {
            self.is_dropped[feed - first_feed] = false;
        }
        if self.wins > before {
            refused.for_each(|&(feed, _)| self.tied_refusals[feed - first_feed] += 1);
        }
    }

    /// Counts the refusals of an instant at the ports of a pool, which have taken their cells in this
    /// order. If the tie is contested, ports with an accepted cell go to the back of a fair order.
    pub fn settle_ports(&mut self, taken: &[(u32, Taken)]) {
        let any = |of: fn(&Taken) -> u32| taken.iter().any(|(_, taken)| of(taken) > 0);
        let judged = taken.iter().filter(|(_, taken)| taken.judged > 0).count();
        if judged < 2 || !any(|taken| taken.accepted) || !any(|taken| taken.refused) {
            return;
        }
        for &(port, taken) in taken {
            self.tied_refusals[port as usize] += u64::from(taken.refused);
            if taken.accepted > 0 {
                self.wins += 1;
                self.last_won[port as usize] = self.wins;
            }
        }
    }

    /// Refusals of each input so far, without those at instants that are not contested.
    pub fn refusals(&self) -> Vec<InputRefusals> {
        let tied = self.tied_refusals.iter();
        tied.map(|&tied| InputRefusals { all: 0, tied }).collect()
    }

    /// The index of the first of `group` at `time`, and the number of consecutive cell times it
    /// stays first, as long as no cell is refused. The group is not empty, and was sorted by
    /// [`TieRule::sort`]. The order must be known ahead.
    pub fn leader<T>(
        &mut self,
        time: Time,
        group: &[T],
        input: impl Fn(&T) -> u32,
    ) -> (usize, u64) {
        if group.len() == 1 || self.order != TieOrder::Rotating {
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
    use crate::ground::format::Format;
    use crate::ground::units::BitRate;
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

        /// The stated rule: a list whose winners go to the back.
        #[test]
        fn a_fair_order_is_a_list_whose_winners_go_to_the_back(
            ties in proptest::collection::vec(proptest::collection::vec(0u8..4, 5), 0..30),
        ) {
            let mut rule = rule(TieOrder::Fair, 5, 3);
            let mut stated: Vec<u32> = (0..5).collect();
            let mut refused_at_ties = [0; 5];
            for (time, fates) in ties.iter().enumerate() {
                // Of each input: brings nothing, is accepted, refused, or dropped otherwise.
                let fate = |input: u32| fates[input as usize];
                let mut group: Vec<u32> = (0..5).filter(|&i| fate(i) > 0).collect();
                if group.is_empty() {
                    continue;
                }
                let first = rule.arrange(Time(time as u64), &mut group);
                group.rotate_left(first);
                let present: Vec<u32> = stated.iter().copied().filter(|&i| fate(i) > 0).collect();
                prop_assert_eq!(&group, &present);
                let dropped: Vec<(usize, bool)> = (0..5u32)
                    .filter(|&i| fate(i) > 1)
                    .map(|i| (7 + i as usize, fate(i) == 2))
                    .collect();
                rule.settle(group.iter().copied(), 7, &dropped);
                let winners: Vec<u32> = present.into_iter().filter(|&i| fate(i) == 1).collect();
                if fates.contains(&1) && fates.contains(&2) {
                    stated.retain(|i| !winners.contains(i));
                    stated.extend(&winners);
                    (0..5).filter(|&i| fate(i) == 2).for_each(|i| refused_at_ties[i as usize] += 1);
                }
            }
            let counted: Vec<u64> = rule.refusals().iter().map(|input| input.tied).collect();
            prop_assert_eq!(counted, refused_at_ties);
        }
    }
}
