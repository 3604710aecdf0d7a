//! Schedulers: which waiting cell a port serves next. One file per scheduler; all are pure decisions.

mod fifo;
mod guaranteed_rate;
pub mod per_vc;
mod strict_priority;

use crate::scenario::{Class, Scheduler as Spec};
use crate::tally::CLASSES;
use crate::units::BitRate;
use guaranteed_rate::GuaranteedRate;
pub use guaranteed_rate::Turns;
use per_vc::PerVc;

/// A scheduler with its state, for one port.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "ports have one each, and the large one is asked for each cell"
)]
pub enum Scheduler {
    /// Order of arrival over all classes.
    Fifo,
    /// The most urgent class.
    StrictPriority,
    /// A class with a guarantee.
    GuaranteedRate(GuaranteedRate),
    /// Strict priority between classes, and VC by VC within one.
    PerVc(PerVc),
}

/// How the cells of one class are served among themselves.
#[derive(Debug)]
pub enum Within<'a> {
    /// First come first served.
    InOrder,
    /// As this decides.
    PerVc(&'a mut PerVc),
}

/// What of a flow's VC matters to a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct FlowShare {
    /// Its class.
    pub class: Class,
    /// Its weight.
    pub weight: u64,
    /// Its guaranteed rate, if any.
    pub guarantee: Option<BitRate>,
}

impl Scheduler {
    /// The scheduler `spec` for a port of `rate`. `flows` are those that cross it, by local number.
    pub fn new(spec: &Spec, rate: BitRate, flows: &[FlowShare]) -> Scheduler {
        match *spec {
            Spec::Fifo => Scheduler::Fifo,
            Spec::StrictPriority => Scheduler::StrictPriority,
            Spec::GuaranteedRate { class, gr } => {
                Scheduler::GuaranteedRate(GuaranteedRate::new(class as usize, gr))
            }
            Spec::PerVc { class, unit } => Scheduler::PerVc(PerVc::new(class, unit, rate, flows)),
        }
    }

    /// Whether a decision depends on more of the queues than which classes have cells: on when the oldest cell of each arrived, or on how many
    /// wait. Such a scheduler is asked slot by slot, when all is there that has arrived by then, and nothing else; the others may be
    /// asked sooner or later, while the same classes have cells.
    pub fn looks_at_queues(&self) -> bool {
        match self {
            Scheduler::Fifo => true,
            Scheduler::StrictPriority | Scheduler::GuaranteedRate(_) | Scheduler::PerVc(_) => false,
        }
    }

    /// How the cells of `class` are served among themselves.
    #[inline]
    pub fn within(&mut self, class: usize) -> Within<'_> {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::GuaranteedRate(_) => {
                Within::InOrder
            }
            Scheduler::PerVc(s) if s.class() == class => Within::PerVc(s),
            Scheduler::PerVc(_) => Within::InOrder,
        }
    }

    /// What serves the VCs of a class one by one, with strict priority between classes.
    #[inline]
    pub fn per_vc(&self) -> Option<&PerVc> {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::GuaranteedRate(_) => None,
            Scheduler::PerVc(s) => Some(s),
        }
    }

    /// Credit of a guaranteed rate, slots.
    pub fn credit(&self) -> Option<f64> {
        match self {
            Scheduler::GuaranteedRate(s) => Some(s.credit()),
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::PerVc(_) => None,
        }
    }

    /// Whether all decisions fall on `class` for as long as nothing else arrives and it has cells; `None` where cells must be taken
    /// one by one, as where it [looks at queues](Scheduler::looks_at_queues).
    #[inline]
    pub fn serves_only(&self, class: usize, waiting: &[u64; CLASSES], total: u64) -> Option<bool> {
        match self {
            Scheduler::PerVc(s) if s.class() == class => None,
            Scheduler::StrictPriority | Scheduler::PerVc(_) => {
                Some(waiting[..class].iter().all(|&w| w == 0))
            }
            Scheduler::GuaranteedRate(_) => Some(waiting[class] == total),
            Scheduler::Fifo => None,
        }
    }

    /// How two classes take turns in the next slots, if they do: see [`GuaranteedRate::turns`].
    #[inline]
    pub fn turns(&self, waiting: &[u64; CLASSES]) -> Option<Turns> {
        match self {
            Scheduler::GuaranteedRate(s) => s.turns(waiting),
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::PerVc(_) => None,
        }
    }

    /// Takes note of `slots` slots that all went to `class`, as no cell of another class waited, or in which cells of the class with a guarantee always waited.
    #[inline]
    pub fn alone(&mut self, class: usize, slots: u64) {
        match self {
            Scheduler::GuaranteedRate(s) => s.alone(class, slots),
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::PerVc(_) => {}
        }
    }

    /// The class served next, or `None` when nothing waits. `waiting` counts the waiting cells of each class;
    /// `oldest` tells when the oldest cell of a class arrived (any number that grows with the order of
    /// arrival at the port). Who uses that, or more of `waiting` than where it is 0, [looks at queues](Scheduler::looks_at_queues). Called
    /// once per cell slot in which something waits.
    pub fn pick(
        &mut self,
        waiting: &[u64; CLASSES],
        oldest: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        match self {
            Scheduler::Fifo => fifo::pick(waiting, oldest),
            Scheduler::StrictPriority | Scheduler::PerVc(_) => strict_priority::pick(waiting),
            Scheduler::GuaranteedRate(s) => s.pick(waiting),
        }
    }

    /// The same for several slots in a row, at most `most`, in which the number of waiting cells falls by the cells served only:
    /// the class that is served in the next slots, and in how many.
    #[inline]
    pub fn pick_slots(
        &mut self,
        waiting: &[u64; CLASSES],
        oldest: impl Fn(usize) -> u64,
        most: u64,
    ) -> Option<(usize, u64)> {
        match self {
            Scheduler::StrictPriority | Scheduler::PerVc(_) => {
                let class = strict_priority::pick(waiting)?;
                Some((class, most.min(waiting[class])))
            }
            Scheduler::GuaranteedRate(s) => s.pick_slots(waiting, most),
            Scheduler::Fifo => Some((self.pick(waiting, oldest)?, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ProcessingUnit;
    use crate::units::Ratio;
    use proptest::prelude::*;

    fn specs() -> impl Strategy<Value = Spec> {
        let class = || proptest::sample::select(Class::ALL.to_vec());
        let unit = ProcessingUnit::Cell;
        prop_oneof![
            Just(Spec::Fifo),
            Just(Spec::StrictPriority),
            (class(), 0u64..10).prop_map(|(class, tenths)| Spec::GuaranteedRate {
                class,
                gr: Ratio::new(tenths, 10),
            }),
            class().prop_map(move |class| Spec::PerVc { class, unit }),
        ]
    }

    proptest! {
        /// What takes many cells at once relies on it.
        #[test]
        fn who_does_not_look_at_queues_decides_by_which_classes_have_cells(
            spec in specs(),
            slots in proptest::collection::vec(
                proptest::array::uniform5((any::<bool>(), 1u64..9, 1u64..9)),
                1..40,
            ),
        ) {
            let mut these = Scheduler::new(&spec, BitRate(155_520_000), &[]);
            let mut those = these.clone();
            for slot in slots {
                let few = slot.map(|(some, n, _)| if some { n } else { 0 });
                let more = slot.map(|(some, n, others)| if some { n + others } else { 0 });
                if these.looks_at_queues() {
                    prop_assert_eq!(these.serves_only(0, &few, few.iter().sum()), None);
                } else {
                    let picked = these.pick(&few, |class| few[class]);
                    prop_assert_eq!(those.pick(&more, |class| slot[class].2), picked);
                }
            }
        }
    }
}
