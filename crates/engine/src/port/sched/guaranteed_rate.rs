//! Guaranteed rate: strict priority, but one class gets at least a fraction of the cell slots.
//!
//! In each slot, if the guaranteed class has no cell waiting, credit := 0. Otherwise credit :=
//! credit + GR, and if credit >= 1 the class goes and credit := credit - 1. In all other cases
//! strict priority decides.
//!   GR  guaranteed fraction of the slots [-], 0 <= GR < 1.
//! Over any N slots with both sides waiting, the class gets at least floor(GR N) - 1 slots and the
//! others at least floor((1 - GR) N) - 1. Each side also takes what the other leaves. Credit is
//! below 1 after every decision, so no cap is needed.
//! Source: `guaranteed-rate`, section 3 (a credit per slot; the text leaves the algorithm open).
//! Limits: Only one class has a guarantee. Credit is lost when its queue is empty, and slots that
//! others leave go by priority.

use super::{Pattern, Slots, Turn, strict_priority};
use crate::ground::units::Ratio;

/// Guaranteed-rate scheduler with its credit.
#[derive(Clone, Debug, PartialEq)]
pub struct GuaranteedRate {
    class: usize,
    gr: Ratio,
    /// Credit in units of 1 / gr.den slots.
    credit: u64,
    /// Slots between two guaranteed ones if that number is constant, else 0.
    between: u64,
}

impl GuaranteedRate {
    /// Guarantees the fraction `gr` to the class with index `class`.
    pub fn new(class: usize, gr: Ratio) -> GuaranteedRate {
        GuaranteedRate {
            class,
            gr,
            credit: 0,
            between: if gr.num > 0 && gr.den.is_multiple_of(gr.num) {
                gr.den / gr.num - 1
            } else {
                0
            },
        }
    }

    /// The class served in the next slots, up to `most`; see [`super::Scheduler::give`].
    #[inline]
    pub fn give<Q>(&mut self, slots: &Slots<'_, Q>, turns: &mut Vec<Turn>) -> Option<Pattern> {
        let Ratio { num, den } = self.gr;
        let waiting = slots.waiting;
        let waits = waiting[self.class] > 0;
        if !waits {
            self.credit = 0;
        } else if self.credit + num >= den {
            self.credit = self.credit + num - den;
            return Some(Pattern::Turn(Turn::of(self.class, 1)));
        }
        let class = strict_priority::pick(waiting)?;
        let mut n = slots.most.min(waiting[class]);
        if waits && num > 0 {
            // Until the credit reaches 1.
            let until = (den - self.credit - 1) / num;
            if until == self.between && class != self.class {
                let rounds = (slots.most / (until + 1))
                    .min(waiting[class] / until)
                    .min(waiting[self.class]);
                if rounds > 1 {
                    // One slot in `until + 1` is worth the credit of all, which so stays.
                    turns.clear();
                    turns.extend([Turn::of(class, until), Turn::of(self.class, 1)]);
                    return Some(Pattern::Rounds(rounds));
                }
            }
            n = n.min(until);
            self.credit += n * num;
        }
        Some(Pattern::Turn(Turn::of(class, n)))
    }

    /// Credit in slots.
    pub fn credit(&self) -> f64 {
        self.credit as f64 / self.gr.den as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::Time;
    use crate::network::tally::CLASSES;
    use proptest::prelude::*;

    /// Class of the next slot.
    fn next(scheduler: &mut GuaranteedRate, waiting: [u64; CLASSES]) -> Option<usize> {
        let slots = Slots {
            now: Time::ZERO,
            sent: 0,
            most: 1,
            kept: 0,
            waiting: &waiting,
            queues: &(),
        };
        match scheduler.give(&slots, &mut Vec::new())? {
            Pattern::Turn(turn) => Some(turn.class),
            Pattern::Rounds(_) => unreachable!("one slot is no round"),
        }
    }

    proptest! {
        #[test]
        fn both_sides_get_their_share_over_any_window(num in 0u64..100, start in 0usize..300, n in 1usize..600) {
            let gr = Ratio::new(num, 100);
            let mut s = GuaranteedRate::new(4, gr);
            // Anything may happen before the window; here the other classes are idle in every third
            // slot.
            for i in 0..start {
                next(&mut s, [0, u64::from(i % 3 > 0), 0, 0, 1]);
            }
            let ubr = (0..n).filter(|_| next(&mut s, [0, 1, 0, 0, 1]) == Some(4)).count() as u64;
            let n = n as u64;
            prop_assert!(ubr + 1 >= num * n / 100);
            prop_assert!(n - ubr + 1 >= (100 - num) * n / 100);
        }
    }

    #[test]
    fn each_side_takes_what_the_other_leaves() {
        let mut s = GuaranteedRate::new(4, Ratio::new(1, 10));
        assert_eq!(next(&mut s, [0, 0, 0, 0, 5]), Some(4));
        assert_eq!(next(&mut s, [0, 5, 0, 0, 0]), Some(1));
        assert_eq!(next(&mut s, [0; CLASSES]), None);
    }

    #[test]
    fn credit_is_lost_when_the_class_is_empty() {
        let mut s = GuaranteedRate::new(4, Ratio::new(4, 10));
        next(&mut s, [0, 1, 0, 0, 1]);
        assert!(s.credit() > 0.3);
        next(&mut s, [0, 1, 0, 0, 0]);
        assert_eq!(s.credit(), 0.0);
    }

    // By hand: a slot is worth 3/10, so the class goes in slots 4, 7 and 10 of each ten.
    #[test]
    fn slots_between_two_guaranteed_ones_may_differ() {
        let mut s = GuaranteedRate::new(4, Ratio::new(3, 10));
        let order: Vec<_> = (1..=20)
            .filter(|_| next(&mut s, [0, 9, 0, 0, 9]) == Some(4))
            .collect();
        assert_eq!(order, [4, 7, 10, 14, 17, 20]);
    }
}
