//! Schedulers, which decide the waiting cell that a port serves next. One file per scheduler; all
//! are pure decisions.

mod fifo;
mod guaranteed_rate;
pub mod per_vc;
pub mod program;
mod strict_priority;

use crate::program::{Failure, SchedulerText};
use crate::scenario::{Class, Scheduler as Spec};
use crate::tally::CLASSES;
use crate::units::{BitRate, Span, Time};
use guaranteed_rate::GuaranteedRate;
pub use guaranteed_rate::Turns;
use per_vc::PerVc;
use program::Programmed;

/// A scheduler with its state, for one port.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "ports have one each, and the large one is asked for each cell"
)]
pub enum Scheduler {
    /// Serves cells in order of arrival over all classes.
    Fifo,
    /// Serves the most urgent class.
    StrictPriority,
    /// Strict priority, but one class has a guarantee.
    GuaranteedRate(GuaranteedRate),
    /// Strict priority between classes, and per-VC scheduling within one.
    PerVc(PerVc),
    /// A program of the scenario.
    Program(Box<Programmed>),
}

/// Service order within one class.
#[derive(Debug)]
pub enum ClassOrder<'a> {
    /// First come first served.
    InOrder,
    /// Chosen by the per-VC scheduler.
    PerVc(&'a mut PerVc),
    /// Chosen by a program.
    Program(&'a mut Programmed),
}

/// The properties of a flow's VC that matter to a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct FlowShare {
    /// Class of the VC.
    pub class: Class,
    /// Weight of the VC.
    pub weight: u64,
    /// Guaranteed rate, if any.
    pub guarantee: Option<BitRate>,
    /// Whether the flow ever brings cells.
    pub sends: bool,
}

impl Scheduler {
    /// The scheduler `spec` for a port of rate `rate`, with cells that take `cell_time`, that `flows`,
    /// by local number, cross.
    pub fn new(spec: &Spec, rate: BitRate, cell_time: Span, flows: &[FlowShare]) -> Scheduler {
        match spec {
            Spec::Fifo => Scheduler::Fifo,
            Spec::StrictPriority => Scheduler::StrictPriority,
            Spec::GuaranteedRate { class, gr } => {
                Scheduler::GuaranteedRate(GuaranteedRate::new(*class as usize, *gr))
            }
            Spec::PerVc { class, unit } => Scheduler::PerVc(PerVc::new(*class, *unit, rate, flows)),
            Spec::Program(spec) => {
                let program = Programmed::new(spec, cell_time, flows);
                Scheduler::Program(Box::new(program))
            }
        }
    }

    /// Whether decisions depend on more than which classes have cells: on arrival order, or on
    /// queue lengths. Such a scheduler must be asked in each slot, with exactly the cells that have
    /// arrived by then. Any other may be asked earlier or later, as long as the same classes have
    /// cells.
    pub fn looks_at_queues(&self) -> bool {
        match self {
            Scheduler::Fifo | Scheduler::Program(_) => true,
            Scheduler::StrictPriority | Scheduler::GuaranteedRate(_) | Scheduler::PerVc(_) => false,
        }
    }

    /// Service order within `class`.
    #[inline]
    pub fn class_order(&mut self, class: usize) -> ClassOrder<'_> {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::GuaranteedRate(_) => {
                ClassOrder::InOrder
            }
            Scheduler::PerVc(s) if s.class() == class => ClassOrder::PerVc(s),
            Scheduler::PerVc(_) => ClassOrder::InOrder,
            Scheduler::Program(s) if s.serves(class) => ClassOrder::Program(s),
            Scheduler::Program(_) => ClassOrder::InOrder,
        }
    }

    /// The per-VC scheduler, if the port has one.
    #[inline]
    pub fn per_vc(&self) -> Option<&PerVc> {
        match self {
            Scheduler::PerVc(s) => Some(s),
            Scheduler::Fifo
            | Scheduler::StrictPriority
            | Scheduler::GuaranteedRate(_)
            | Scheduler::Program(_) => None,
        }
    }

    /// The text of a program that failed first, and what failed, if that was before `end`.
    #[inline]
    pub fn failure(&self, end: Time) -> Option<(SchedulerText, Failure)> {
        match self {
            Scheduler::Program(s) => s.failure(end),
            Scheduler::Fifo
            | Scheduler::StrictPriority
            | Scheduler::GuaranteedRate(_)
            | Scheduler::PerVc(_) => None,
        }
    }

    /// Credit of a guaranteed-rate scheduler, slots.
    pub fn credit(&self) -> Option<f64> {
        match self {
            Scheduler::GuaranteedRate(s) => Some(s.credit()),
            Scheduler::Fifo
            | Scheduler::StrictPriority
            | Scheduler::PerVc(_)
            | Scheduler::Program(_) => None,
        }
    }

    /// Whether all decisions surely go to `class` as long as it has cells and nothing else arrives.
    #[inline]
    pub fn serves_only(&self, class: usize, waiting: &[u64; CLASSES], total: u64) -> bool {
        match self {
            Scheduler::StrictPriority => waiting[..class].iter().all(|&w| w == 0),
            Scheduler::GuaranteedRate(_) => waiting[class] == total,
            Scheduler::Fifo | Scheduler::PerVc(_) | Scheduler::Program(_) => false,
        }
    }

    /// How two classes take turns in the next slots, if they do: see [`GuaranteedRate::turns`].
    #[inline]
    pub fn turns(&self, waiting: &[u64; CLASSES]) -> Option<Turns> {
        match self {
            Scheduler::GuaranteedRate(s) => s.turns(waiting),
            Scheduler::Fifo
            | Scheduler::StrictPriority
            | Scheduler::PerVc(_)
            | Scheduler::Program(_) => None,
        }
    }

    /// Accounts for `slots` slots during which the class with a guarantee always had cells.
    #[inline]
    pub fn pass(&mut self, slots: u64) {
        match self {
            Scheduler::GuaranteedRate(s) => s.pass(slots),
            Scheduler::Fifo
            | Scheduler::StrictPriority
            | Scheduler::PerVc(_)
            | Scheduler::Program(_) => {}
        }
    }

    /// The class served next, or `None` if nothing waits; called once per cell slot in which
    /// something waits, at `now`.
    ///
    /// `waiting` counts the waiting cells per class. `oldest` returns any number that grows with
    /// the arrival order of a class's oldest cell at the port. A scheduler that uses `oldest`, or
    /// more of `waiting` than whether it is 0, must [look at queues](Scheduler::looks_at_queues).
    pub fn pick(
        &mut self,
        now: Time,
        waiting: &[u64; CLASSES],
        oldest: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        match self {
            Scheduler::Fifo => fifo::pick(waiting, oldest),
            Scheduler::StrictPriority | Scheduler::PerVc(_) => strict_priority::pick(waiting),
            Scheduler::GuaranteedRate(s) => s.pick(waiting),
            Scheduler::Program(s) if s.serves_all() => s.pick(now),
            Scheduler::Program(_) => strict_priority::pick(waiting),
        }
    }

    /// The class served in the next slots, and in how many of them, from 1 to `most`; see
    /// [`Scheduler::pick`]. Until then, `waiting` must change only by the cells served.
    #[inline]
    pub fn pick_slots(
        &mut self,
        now: Time,
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
            Scheduler::Fifo | Scheduler::Program(_) => Some((self.pick(now, waiting, oldest)?, 1)),
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
        /// Fast paths that take many cells at once rely on this.
        #[test]
        fn who_does_not_look_at_queues_decides_by_which_classes_have_cells(
            spec in specs(),
            slots in proptest::collection::vec(
                proptest::array::uniform5((any::<bool>(), 1u64..9, 1u64..9)),
                1..40,
            ),
        ) {
            let mut these = Scheduler::new(&spec, BitRate(155_520_000), Span(68_900_000), &[]);
            let mut those = these.clone();
            for slot in slots {
                let few = slot.map(|(found, n, _)| if found { n } else { 0 });
                let more = slot.map(|(found, n, others)| if found { n + others } else { 0 });
                if these.looks_at_queues() {
                    prop_assert!(!these.serves_only(0, &few, few.iter().sum()));
                } else {
                    let picked = these.pick(Time::ZERO, &few, |class| few[class]);
                    prop_assert_eq!(those.pick(Time::ZERO, &more, |class| slot[class].2), picked);
                }
            }
        }
    }
}
