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

    /// Whether it asks when the oldest cell of a class arrived: see [`Scheduler::pick`].
    pub fn asks_for_order(&self) -> bool {
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
    /// one by one.
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
    /// arrival at the port). Called once per cell slot in which something waits.
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
