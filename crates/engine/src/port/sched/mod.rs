//! Schedulers, which decide the waiting cell that a port serves next. One file per scheduler; all
//! are pure decisions.

mod fifo;
mod guaranteed_rate;
pub mod per_vc;
pub mod program;
mod strict_priority;

use crate::ground::place::Place;
use crate::ground::units::{BitRate, Span, Time};
use crate::network::tally::CLASSES;
use crate::text::program::{Failure, SchedulerText};
use crate::text::scenario::{Class, Scheduler as Spec};
use guaranteed_rate::GuaranteedRate;
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

/// What a scheduler may look at to give the next slots of a port.
#[derive(Debug)]
pub struct Slots<'a, Q> {
    /// Start of the first slot.
    pub now: Time,
    /// Number of slots given so far, at least those in which something waited.
    pub sent: u64,
    /// Largest number of slots to give.
    pub most: u64,
    /// Cells that each VC must keep when VCs are served one by one; each has more.
    pub kept: u64,
    /// Waiting cells per class.
    pub waiting: &'a [u64; CLASSES],
    /// A scheduler that uses the queues, or more of `waiting` than whether it is 0, must
    /// [look at queues](Scheduler::looks_at_queues).
    pub queues: &'a Q,
}

/// The waiting cells of a port, as schedulers see them.
pub trait Queues {
    /// A number that grows with the arrival order of the oldest cell of `class` at the port.
    fn oldest(&self, class: usize) -> u64;
    /// How many cells at the front of the queue of `vc` go in one turn of a frame, and whether the
    /// last one ends the frame.
    fn front(&self, class: usize, vc: usize) -> (u64, bool);
    /// Bytes on the line of the first cell in the queue of `vc`.
    fn bytes(&self, class: usize, vc: usize) -> u64;
}

/// Consecutive slots of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The class.
    pub class: usize,
    /// Local number of the VC, for a class whose VCs are served one by one; else 0.
    pub vc: usize,
    /// Number of slots.
    pub slots: u64,
}

impl Turn {
    /// `slots` slots of a class that is served in order of arrival.
    pub fn of(class: usize, slots: u64) -> Turn {
        let vc = 0;
        Turn { class, vc, slots }
    }
}

/// To whom the next slots go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One turn.
    Turn(Turn),
    /// A number of rounds of the same turns.
    Rounds(u64),
}

impl Scheduler {
    /// The scheduler `spec` for a port of rate `rate`, with cells that take `cell_time`, that `flows`,
    /// by local number, cross. `place` is what a place of its queues is.
    pub fn new(
        spec: &Spec,
        rate: BitRate,
        cell_time: Span,
        place: Place,
        flows: &[FlowShare],
    ) -> Scheduler {
        match spec {
            Spec::Fifo => Scheduler::Fifo,
            Spec::StrictPriority => Scheduler::StrictPriority,
            Spec::GuaranteedRate { class, gr } => {
                Scheduler::GuaranteedRate(GuaranteedRate::new(*class as usize, *gr))
            }
            Spec::PerVc { class, unit } => Scheduler::PerVc(PerVc::new(*class, *unit, rate, flows)),
            Spec::Program(spec) => {
                let program = Programmed::new(spec, cell_time, place, flows);
                Scheduler::Program(Box::new(program))
            }
        }
    }

    /// Whether decisions depend on more than which classes have cells: on arrival order, or on
    /// queue lengths. Such a scheduler must be asked in each slot, with exactly the cells that have
    /// arrived by then. Any other may be asked earlier or later, as long as the same classes have
    /// cells.
    pub fn looks_at_queues(&self) -> bool {
        matches!(self, Scheduler::Fifo | Scheduler::Program(_))
    }

    /// Service order within `class`.
    #[inline]
    pub fn class_order(&mut self, class: usize) -> ClassOrder<'_> {
        match self {
            Scheduler::PerVc(s) if s.class() == class => ClassOrder::PerVc(s),
            Scheduler::Program(s) if s.serves(class) => ClassOrder::Program(s),
            _ => ClassOrder::InOrder,
        }
    }

    /// The per-VC scheduler, if the port has one.
    #[inline]
    pub fn per_vc(&self) -> Option<&PerVc> {
        match self {
            Scheduler::PerVc(s) => Some(s),
            _ => None,
        }
    }

    /// The text of a program that failed first, and what failed, if that was before `end`.
    #[inline]
    pub fn failure(&self, end: Time) -> Option<(SchedulerText, Failure)> {
        match self {
            Scheduler::Program(s) => s.failure(end),
            _ => None,
        }
    }

    /// Credit of a guaranteed-rate scheduler, slots.
    pub fn credit(&self) -> Option<f64> {
        match self {
            Scheduler::GuaranteedRate(s) => Some(s.credit()),
            _ => None,
        }
    }

    /// Whether all decisions surely go to `class` as long as it has cells and nothing else arrives.
    #[inline]
    pub fn serves_only(&self, class: usize, waiting: &[u64; CLASSES], total: u64) -> bool {
        match self {
            Scheduler::StrictPriority => waiting[..class].iter().all(|&w| w == 0),
            Scheduler::GuaranteedRate(_) => waiting[class] == total,
            _ => false,
        }
    }

    /// To whom the next slots go, from 1 to `slots.most`, which count as given; `None` if nothing
    /// waits. Until they are over, `slots.waiting` must change only by the cells served. With
    /// [`Pattern::Rounds`], `turns` holds the turns of one round.
    #[inline]
    pub fn give<Q: Queues>(
        &mut self,
        slots: Slots<'_, Q>,
        turns: &mut Vec<Turn>,
    ) -> Option<Pattern> {
        match self {
            Scheduler::Fifo => fifo::pick(slots.waiting, |class| slots.queues.oldest(class))
                .map(|class| Pattern::Turn(Turn::of(class, 1))),
            Scheduler::StrictPriority => strict_priority::give(&slots),
            Scheduler::GuaranteedRate(s) => s.give(&slots, turns),
            Scheduler::PerVc(s) => s.give(&slots, turns),
            Scheduler::Program(s) => s.give(&slots),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::Ratio;
    use crate::text::scenario::TurnUnit;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const RATE: BitRate = BitRate(1_000_000);

    fn specs() -> impl Strategy<Value = Spec> {
        let class = || proptest::sample::select(Class::ALL.to_vec());
        let unit = proptest::sample::select(vec![TurnUnit::Cell, TurnUnit::Frame, TurnUnit::Byte]);
        prop_oneof![
            Just(Spec::Fifo),
            Just(Spec::StrictPriority),
            (class(), 0u64..10).prop_map(|(class, tenths)| Spec::GuaranteedRate {
                class,
                gr: Ratio::new(tenths, 10),
            }),
            (class(), unit).prop_map(|(class, unit)| Spec::PerVc { class, unit }),
        ]
    }

    /// VCs, each with its class and its waiting cells: their numbers, and whether they end a frame.
    struct Waiting(Vec<(Class, VecDeque<(u64, bool)>)>);

    impl Waiting {
        fn of_class(&self, class: usize) -> impl Iterator<Item = usize> {
            let is_of_it = move |&vc: &usize| self.0[vc].0 as usize == class;
            (0..self.0.len()).filter(is_of_it)
        }

        fn counts(&self) -> [u64; CLASSES] {
            let count = |class| {
                self.of_class(class)
                    .map(|vc| self.0[vc].1.len() as u64)
                    .sum()
            };
            std::array::from_fn(count)
        }

        /// The VC with the oldest cell of `class`, and the number of that cell.
        fn oldest_vc(&self, class: usize) -> Option<(u64, usize)> {
            let first = |vc: usize| Some((self.0[vc].1.front()?.0, vc));
            self.of_class(class).filter_map(first).min()
        }
    }

    impl Queues for Waiting {
        fn oldest(&self, class: usize) -> u64 {
            self.oldest_vc(class).expect("the class has a cell").0
        }

        fn front(&self, _: usize, vc: usize) -> (u64, bool) {
            let cells = &self.0[vc].1;
            let ends = cells.iter().position(|cell| cell.1);
            (
                ends.map_or(cells.len(), |end| end + 1) as u64,
                ends.is_some(),
            )
        }

        fn bytes(&self, _: usize, _: usize) -> u64 {
            1
        }
    }

    fn slots_of<'a>(
        waiting: &'a [u64; CLASSES],
        queues: &'a Waiting,
        most: u64,
        sent: u64,
    ) -> Slots<'a, Waiting> {
        Slots {
            now: Time::ZERO,
            sent,
            most,
            kept: 0,
            waiting,
            queues,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Whether slots are asked for one by one or together makes no difference.
        #[test]
        fn slots_given_together_are_those_given_one_by_one(
            spec in specs(),
            vcs in proptest::collection::vec((proptest::sample::select(Class::ALL.to_vec()), 1u64..3), 1..6),
            equal: bool,
            steps in proptest::collection::vec((0usize..6, 0u64..30, 1u64..12, 1u64..60), 1..30),
        ) {
            // A packet is one cell, and has no guarantee.
            let of_packets = matches!(spec, Spec::PerVc { unit: TurnUnit::Byte, .. });
            let share = |&(class, weight): &(Class, u64)| FlowShare {
                class,
                weight: if equal { 1 } else { weight },
                guarantee: (!equal && !of_packets).then_some(BitRate(RATE.0 / 10)),
                sends: true,
            };
            let shares: Vec<_> = vcs.iter().map(share).collect();
            let mut together = Scheduler::new(&spec, RATE, Span(1), Place::Cell, &shares);
            let mut by_one = together.clone();
            let mut waiting = Waiting(vcs.iter().map(|vc| (vc.0, VecDeque::new())).collect());
            let (mut number, mut sent) = (0, 0);
            for (vc, cells, frame, most) in steps {
                let vc = vc % vcs.len();
                let frame = if of_packets { 1 } else { frame };
                for _ in 0..cells {
                    number += 1;
                    waiting.0[vc].1.push_back((number, number % frame == 0));
                    for scheduler in [&mut together, &mut by_one] {
                        if let ClassOrder::PerVc(s) = scheduler.class_order(vcs[vc].0 as usize) {
                            s.on_arrival(vc, 1, sent);
                        }
                    }
                }
                let counts = waiting.counts();
                if counts == [0; CLASSES] {
                    continue;
                }
                let mut turns = Vec::new();
                let pattern = together.give(slots_of(&counts, &waiting, most, sent), &mut turns);
                let given: Vec<Turn> = match pattern.expect("something waits") {
                    Pattern::Turn(turn) => vec![turn],
                    Pattern::Rounds(rounds) => (0..rounds).flat_map(|_| turns.clone()).collect(),
                };
                let total: u64 = given.iter().map(|turn| turn.slots).sum();
                prop_assert!((1..=most).contains(&total));
                for turn in given.iter().flat_map(|turn| (0..turn.slots).map(move |_| turn)) {
                    let one = Turn { slots: 1, ..*turn };
                    let counts = waiting.counts();
                    let pattern = by_one.give(slots_of(&counts, &waiting, 1, sent), &mut turns);
                    prop_assert_eq!(pattern, Some(Pattern::Turn(one)));
                    let vc = match by_one.class_order(turn.class) {
                        ClassOrder::InOrder => waiting.oldest_vc(turn.class).expect("it has a cell").1,
                        _ => turn.vc,
                    };
                    waiting.0[vc].1.pop_front();
                    sent += 1;
                }
                prop_assert_eq!(together.credit(), by_one.credit());
            }
        }

        /// Fast paths that take many cells at once rely on this.
        #[test]
        fn who_does_not_look_at_queues_decides_by_which_classes_have_cells(
            spec in specs(),
            slots in proptest::collection::vec(
                proptest::array::uniform5((any::<bool>(), 1u64..9, 1u64..9)),
                1..40,
            ),
        ) {
            // A class whose VCs are served one by one has none here.
            prop_assume!(!matches!(spec, Spec::PerVc { .. }));
            let mut these = Scheduler::new(&spec, RATE, Span(1), Place::Cell, &[]);
            let mut those = these.clone();
            for slot in slots {
                let few = slot.map(|(found, n, _)| if found { n } else { 0 });
                let more = slot.map(|(found, n, others)| if found { n + others } else { 0 });
                if these.looks_at_queues() {
                    prop_assert!(!these.serves_only(0, &few, few.iter().sum()));
                } else {
                    let none = Waiting(Vec::new());
                    let picked = these.give(slots_of(&few, &none, 1, 0), &mut Vec::new());
                    prop_assert_eq!(those.give(slots_of(&more, &none, 1, 0), &mut Vec::new()), picked);
                }
            }
        }
    }
}
