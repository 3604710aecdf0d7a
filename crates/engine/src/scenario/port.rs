//! Ports: which settings hold at one, and what its scheduler can do.

use super::model::{ClassQueue, DropPolicy, RestOfFrame, Scheduler};
use crate::class::Class;

/// The scheduler of a port, in whatever form: the link's own, else that of the switch it leaves.
pub(crate) fn scheduler<T>(own: Option<T>, of_switch: Option<T>) -> Option<T> {
    own.or(of_switch)
}

/// The queue of `class` at a port: the link's own, else that of the switch it leaves, else unlimited tail drop.
pub(crate) fn queue(own: &[ClassQueue], of_switch: &[ClassQueue], class: Class) -> ClassQueue {
    let mut queues = own.iter().chain(of_switch);
    let found = queues.find(|q| q.class == class);
    found.cloned().unwrap_or(ClassQueue {
        class,
        buffer: None,
        drop: DropPolicy::TailDrop,
        rest_of_frame: RestOfFrame::Accept,
    })
}

impl DropPolicy {
    /// Whether it drops from the front of its queue. One that does without being named here is stopped as soon as it does.
    pub(crate) fn pushes_out(&self) -> bool {
        matches!(self, DropPolicy::DropFromFront)
    }
}

impl Scheduler {
    /// The class that it treats unlike the others.
    pub(crate) fn class(&self) -> Option<Class> {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority => None,
            Scheduler::GuaranteedRate { class, .. } | Scheduler::PerVc { class, .. } => {
                Some(*class)
            }
        }
    }

    /// Whether it serves the VCs of `class` one by one, by weights and guarantees of their own.
    pub(crate) fn serves_vcs_of(&self, class: Class) -> bool {
        match self {
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::GuaranteedRate { .. } => false,
            Scheduler::PerVc { class: served, .. } => *served == class,
        }
    }

    /// Whether it has a credit that can be recorded.
    pub(crate) fn has_credit(&self) -> bool {
        match self {
            Scheduler::GuaranteedRate { .. } => true,
            Scheduler::Fifo | Scheduler::StrictPriority | Scheduler::PerVc { .. } => false,
        }
    }
}
