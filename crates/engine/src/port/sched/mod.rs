//! Schedulers: which waiting cell a port serves next. One file per scheduler; all are pure decisions.

pub mod fifo;
pub mod guaranteed_rate;
pub mod per_vc;
pub mod strict_priority;

use crate::scenario::{Class, Scheduler as Spec};
use crate::units::BitRate;

/// Number of service classes.
pub const CLASSES: usize = Class::ALL.len();

/// A scheduler with its state, for one port.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduler {
    /// See [`fifo`].
    Fifo,
    /// See [`strict_priority`].
    StrictPriority,
    /// See [`guaranteed_rate`].
    GuaranteedRate(guaranteed_rate::GuaranteedRate),
    /// See [`per_vc`]: strict priority between classes, and this within one.
    PerVc(per_vc::PerVc),
}

impl Scheduler {
    /// The scheduler `spec` for a port of `rate`. `vcs` lists, by VC direction index, weight and guaranteed rate of
    /// what crosses the port in a per-VC class (weight 0: does not).
    pub fn new(spec: &Spec, rate: BitRate, vcs: &[(u64, Option<BitRate>)]) -> Scheduler {
        match *spec {
            Spec::Fifo => Scheduler::Fifo,
            Spec::StrictPriority => Scheduler::StrictPriority,
            Spec::GuaranteedRate { class, gr } => {
                Scheduler::GuaranteedRate(guaranteed_rate::GuaranteedRate::new(class as usize, gr))
            }
            Spec::PerVc { class, unit } => {
                Scheduler::PerVc(per_vc::PerVc::new(class as usize, unit, rate, vcs))
            }
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
            Scheduler::StrictPriority => {
                let class = strict_priority::pick(waiting)?;
                Some((class, most.min(waiting[class])))
            }
            Scheduler::GuaranteedRate(s) => s.pick_slots(waiting, most),
            Scheduler::Fifo | Scheduler::PerVc(_) => Some((self.pick(waiting, oldest)?, 1)),
        }
    }
}
