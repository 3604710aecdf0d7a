//! How a run is asked for, and why it can fail.

use crate::notation::show::show_memory;
use crate::scenario::MOST_POINTS;
use crate::units::Time;

/// Which kernel moves the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// The fastest that applies, per port.
    #[default]
    Auto,
    /// `port::arithmetic` at every port; an error where it does not apply.
    Arithmetic,
    /// `port::slotted` at every port.
    Slotted,
    /// The plain reference engine: one event per cell and hop.
    Twin,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Kernel; 4] = [
        Kernel::Auto,
        Kernel::Arithmetic,
        Kernel::Slotted,
        Kernel::Twin,
    ];

    /// Its lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Auto => "auto",
            Kernel::Arithmetic => "arithmetic",
            Kernel::Slotted => "slotted",
            Kernel::Twin => "twin",
        }
    }
}

/// How to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Kernel.
    pub kernel: Kernel,
    /// Whether to compute the digest over all cell transmissions.
    pub digest: bool,
    /// Memory that a run may need by prediction, and that what grows with it may take, bytes; `None`: no limit.
    pub memory: Option<u64>,
    /// Results of other runs that are kept beside this one.
    pub kept_runs: u64,
    /// Of `memory`, what those that are kept already take beyond their prediction, bytes.
    pub taken: u64,
    /// Points and traced drops that a session gathers before it pauses, so that they are drained, bytes; `None`: it holds all of them.
    pub hold: Option<u64>,
    /// Whether the captures of the scenario are made, and the bytes that the file of each may have.
    pub captures: Option<u64>,
}

impl Options {
    /// Memory that what grows in a run may take, bytes; `None`: no limit.
    pub(crate) fn room(&self) -> Option<u64> {
        self.memory.map(|limit| limit.saturating_sub(self.taken))
    }
}

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The scenario was not checked by the reader and does not hold together.
    #[error("{0}")]
    Scenario(String),
    /// A kernel was forced on a port that it cannot serve.
    #[error(
        "port {port}: the arithmetic kernel cannot serve it ({because}); without --kernel each port gets the one that can"
    )]
    Kernel {
        /// Name of the link.
        port: String,
        /// Why.
        because: String,
    },
    /// The probes recorded more than can be kept.
    #[error(
        "the probes have recorded {all} points, more than {MOST_POINTS}, and {points} of them are of {probe}: give it a longer `interval`, \
         `every` or `envelope`, or the run a shorter duration"
    )]
    Points {
        /// What recorded most: quantity and what it is of.
        probe: String,
        /// How much of it.
        points: u64,
        /// All probes together.
        all: u64,
    },
    /// More waits somewhere than could leave until the latest instant that a run can tell.
    #[error(
        "{place}: what waits there could not be gone before {latest} s, the latest instant that a run can tell; it comes, or is sent \
         again, faster than it goes: a faster link or processing, longer timers, smaller windows, or a shorter run",
        latest = Time::LATEST.as_seconds()
    )]
    Overdue {
        /// Which link, host or VC, and what of it.
        place: String,
    },
    /// A run may need more memory than it is allowed.
    #[error(
        "may need {} of memory, above the limit of {} a run; {} are for {cause}; or a higher limit (memory)",
        show_memory(*need), show_memory(*limit), show_memory(*largest)
    )]
    Memory {
        /// The prediction, bytes.
        need: u64,
        /// What is allowed, bytes.
        limit: u64,
        /// The largest part of the need, bytes.
        largest: u64,
        /// What that is, and what makes it smaller.
        cause: &'static str,
    },
    /// What a run gathers has come to need more memory than it is allowed.
    #[error(
        "has come to need {} of memory, above the limit of {} a run; {} are for {cause}; or a higher limit (memory)",
        show_memory(*need), show_memory(*limit), show_memory(*largest)
    )]
    Grown {
        /// What has grown, bytes.
        need: u64,
        /// What is left to it, bytes.
        limit: u64,
        /// The largest part, bytes.
        largest: u64,
        /// What that is, and what makes it smaller.
        cause: String,
    },
    /// The run was asked to stop.
    #[error("interrupted")]
    Cancelled,
}
