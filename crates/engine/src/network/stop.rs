//! Why a run stops before its end.

use crate::ground::class::Class;
use crate::ground::gathered::Gathered;
use crate::text::program::{Failure, SchedulerText};

/// The reason for a stop, by indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run was asked to stop.
    Cancelled,
    /// The probes have recorded too many points.
    Points(Gathered),
    /// Gathered data take more than this many bytes.
    Grown(Gathered, u64),
    /// More waits here than could leave before [`crate::ground::units::Time::LATEST`].
    Overdue(Overdue),
    /// A program at the port of this link has failed.
    Program(usize, FailedProgram, Failure),
}

/// A program of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedProgram {
    /// The drop policy of a class queue.
    Drop(Class),
    /// A text of the scheduler.
    Scheduler(SchedulerText),
}

/// A place whose backlog could not leave before [`crate::ground::units::Time::LATEST`] (model section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overdue {
    /// The NIC of a link.
    Nic(usize),
    /// A class queue at the port of a link.
    Queue(usize),
    /// The processing of the switch that a link enters.
    Switch(usize),
    /// The processing of a host.
    Host(usize),
    /// The processing of a VC's transport.
    Transport(usize),
    /// A shaper of a VC.
    Shaper(usize),
}
