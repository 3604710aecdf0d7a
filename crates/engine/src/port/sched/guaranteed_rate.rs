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

use super::strict_priority;
use crate::tally::CLASSES;
use crate::units::Ratio;

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

/// How two classes share the slots while both have cells: `above` gets `before` slots first, then
/// `guaranteed` gets one after every `between` slots of `above`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The class with the guarantee, served one slot at a time.
    pub guaranteed: usize,
    /// The class that gets the other slots.
    pub above: usize,
    /// Slots for `above` before the first guaranteed one.
    pub before: u64,
    /// Slots for `above` between two guaranteed ones, at least 1.
    pub between: u64,
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

    /// The class served in this slot.
    pub fn pick(&mut self, waiting: &[u64; CLASSES]) -> Option<usize> {
        if waiting[self.class] == 0 {
            self.credit = 0;
        } else {
            self.credit += self.gr.num;
            if self.credit >= self.gr.den {
                self.credit -= self.gr.den;
                return Some(self.class);
            }
        }
        strict_priority::pick(waiting)
    }

    /// The class served in the next slots, and in how many of them, from 1 to `most`. Until then,
    /// `waiting` must change only by the cells served.
    #[inline]
    pub fn pick_slots(&mut self, waiting: &[u64; CLASSES], most: u64) -> Option<(usize, u64)> {
        let Ratio { num, den } = self.gr;
        if waiting[self.class] == 0 {
            self.credit = 0;
        } else if self.credit + num >= den {
            self.credit = self.credit + num - den;
            return Some((self.class, 1));
        }
        let class = strict_priority::pick(waiting)?;
        let mut slots = most.min(waiting[class]);
        if waiting[self.class] > 0 && num > 0 {
            // Until the credit reaches 1.
            if slots > 1 {
                slots = slots.min((den - self.credit - 1) / num);
            }
            self.credit += slots * num;
        }
        Some((class, slots))
    }

    /// How the guaranteed class and one above it share the next slots. `None` unless both wait and
    /// the number of slots between two guaranteed ones is constant.
    #[inline]
    pub fn turns(&self, waiting: &[u64; CLASSES]) -> Option<Turns> {
        if self.between == 0 || waiting[self.class] == 0 {
            return None;
        }
        let above = strict_priority::pick(waiting).filter(|&above| above < self.class)?;
        Some(Turns {
            guaranteed: self.class,
            above,
            before: (self.gr.den - self.credit - 1) / self.gr.num,
            between: self.between,
        })
    }

    /// Accounts for `slots` slots during which the guaranteed class always had cells.
    pub fn pass(&mut self, slots: u64) {
        let Ratio { num, den } = self.gr;
        let gained = slots.checked_mul(num);
        self.credit = match gained.and_then(|gained| gained.checked_add(self.credit)) {
            Some(credit) => credit % den,
            None => {
                let gained = u128::from(slots) * u128::from(num);
                ((u128::from(self.credit) + gained) % u128::from(den)) as u64
            }
        };
    }

    /// Credit in slots.
    pub fn credit(&self) -> f64 {
        self.credit as f64 / self.gr.den as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_slots_at_once_are_those_one_by_one(
            num in 0u64..10, vbr in 0u64..30, ubr in 0u64..30, most in proptest::collection::vec(1u64..12, 1..40),
        ) {
            let (mut at_once, mut by_one) = (GuaranteedRate::new(4, Ratio::new(num, 10)), GuaranteedRate::new(4, Ratio::new(num, 10)));
            let mut waiting = [0, vbr, 0, 0, ubr];
            for most in most {
                let picked = at_once.pick_slots(&waiting, most);
                let slots = picked.map_or(1, |(_, slots)| slots);
                prop_assert!((1..=most).contains(&slots));
                for _ in 0..slots {
                    prop_assert_eq!(by_one.pick(&waiting), picked.map(|(class, _)| class));
                    if let Some((class, _)) = picked {
                        waiting[class] -= 1;
                    }
                }
                prop_assert_eq!(&at_once, &by_one);
            }
        }

        #[test]
        fn turns_are_the_slots_one_by_one(num in 0u64..10, credit in 0u64..10, rounds in 0u64..5) {
            let mut by_one = GuaranteedRate::new(4, Ratio::new(num, 10));
            by_one.credit = credit % by_one.gr.den;
            let waiting = [0, 1, 0, 0, 1];
            let Some(turns) = by_one.turns(&waiting) else {
                prop_assert!(num == 0 || 10 % num > 0);
                return Ok(());
            };
            let Turns { guaranteed, above, before, between } = turns;
            prop_assert_eq!((guaranteed, above), (4, 1));
            let mut at_once = by_one.clone();
            at_once.pass(before + 1 + rounds * (between + 1));
            for round in 0..=rounds {
                for _ in 0..if round == 0 { before } else { between } {
                    prop_assert_eq!(by_one.pick(&waiting), Some(1));
                }
                prop_assert_eq!(by_one.pick(&waiting), Some(4));
            }
            prop_assert_eq!(at_once, by_one);
        }

        #[test]
        fn the_guaranteed_class_alone_gains_and_pays(num in 0u64..10, slots in 1u64..50) {
            let (mut at_once, mut by_one) = (GuaranteedRate::new(4, Ratio::new(num, 10)), GuaranteedRate::new(4, Ratio::new(num, 10)));
            let mut waiting = [0; CLASSES];
            waiting[4] = slots;
            at_once.pass(slots);
            for _ in 0..slots {
                prop_assert_eq!(by_one.pick(&waiting), Some(4));
            }
            prop_assert_eq!(at_once, by_one);
        }

        #[test]
        fn both_sides_get_their_share_over_any_window(num in 0u64..100, start in 0usize..300, n in 1usize..600) {
            let gr = Ratio::new(num, 100);
            let mut s = GuaranteedRate::new(4, gr);
            // Anything may happen before the window; here the other classes are idle in every third
            // slot.
            for i in 0..start {
                s.pick(&[0, u64::from(i % 3 > 0), 0, 0, 1]);
            }
            let ubr = (0..n).filter(|_| s.pick(&[0, 1, 0, 0, 1]) == Some(4)).count() as u64;
            let n = n as u64;
            prop_assert!(ubr + 1 >= num * n / 100);
            prop_assert!(n - ubr + 1 >= (100 - num) * n / 100);
        }
    }

    #[test]
    fn each_side_takes_what_the_other_leaves() {
        let mut s = GuaranteedRate::new(4, Ratio::new(1, 10));
        assert_eq!(s.pick(&[0, 0, 0, 0, 5]), Some(4));
        assert_eq!(s.pick(&[0, 5, 0, 0, 0]), Some(1));
        assert_eq!(s.pick(&[0; CLASSES]), None);
    }

    #[test]
    fn credit_is_lost_when_the_class_is_empty() {
        let mut s = GuaranteedRate::new(4, Ratio::new(4, 10));
        s.pick(&[0, 1, 0, 0, 1]);
        assert!(s.credit() > 0.3);
        s.pick(&[0, 1, 0, 0, 0]);
        assert_eq!(s.credit(), 0.0);
    }
}
