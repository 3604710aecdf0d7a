//! Options of a run, and the errors that can end it.

use crate::text::notation::show::show_memory;
use crate::text::scenario::MOST_POINTS;

/// Which kernel moves the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// The fastest kernel that can serve each port.
    #[default]
    Auto,
    /// `port::arithmetic` at every port; an error if it cannot serve the port.
    Arithmetic,
    /// `port::slotted` at every port.
    Slotted,
    /// The plain reference engine, with one event per cell and hop.
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

    /// Lower-case name of the kernel.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Auto => "auto",
            Kernel::Arithmetic => "arithmetic",
            Kernel::Slotted => "slotted",
            Kernel::Twin => "twin",
        }
    }
}

/// Options of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Kernel that moves the cells.
    pub kernel: Kernel,
    /// Whether to compute the digest over all cell transmissions.
    pub digest: bool,
    /// Limit on the predicted memory of a run, and on what grows during it, bytes; `None`: no
    /// limit.
    pub memory: Option<u64>,
    /// Number of results of other runs kept in memory in addition to this one.
    pub kept_runs: u64,
    /// Part of `memory` that kept results take beyond their prediction, bytes.
    pub memory_taken: u64,
    /// Points and traced drops after which a session pauses to be drained, bytes; `None`: it keeps
    /// all.
    pub pause_above: Option<u64>,
    /// Size limit of each capture file, bytes; `None`: the scenario's captures are not made. Below
    /// [`least_capture_limit`](crate::least_capture_limit) a file may have its head only.
    pub captures: Option<u64>,
}

impl Options {
    /// Memory left for what grows in a run, bytes; `None`: no limit.
    pub(crate) fn memory_left(&self) -> Option<u64> {
        self.memory
            .map(|limit| limit.saturating_sub(self.memory_taken))
    }
}

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The scenario is inconsistent, and was not checked by the reader.
    #[error("{0}")]
    Scenario(String),
    /// A kernel was forced on a port that it cannot serve.
    #[error(
        "the arithmetic kernel cannot serve the port {port}: {because}; leave out --kernel to choose a kernel for each port"
    )]
    Kernel {
        /// Name of the link.
        port: String,
        /// Reason.
        because: String,
    },
    /// The probes recorded more points than can be kept.
    #[error(
        "the probes have recorded {all} points, above the limit of {MOST_POINTS}; {points} of them come from {probe}: use a longer \
         `interval`, `every` or `envelope` there, or a shorter duration"
    )]
    Points {
        /// Probe with the most points: its quantity and where it records.
        probe: String,
        /// Points of this probe.
        points: u64,
        /// Points of all probes.
        all: u64,
    },
    /// More waits somewhere than could leave before the latest representable instant.
    #[error(
        "the backlog of {place} could not leave before {latest} s, the limit of simulated time; \
         use a faster link or processing, longer timers, smaller windows, or a shorter run"
    )]
    Overdue {
        /// The link, host or VC, and its part where cells or frames wait.
        place: String,
        /// Latest representable instant, s.
        latest: u64,
    },
    /// A program of a drop policy or scheduler has no answer.
    #[error("the {place} fails at line {line}, column {column}: {why}\n{caret}")]
    Program {
        /// The program, with its queue or scheduler.
        place: String,
        /// What is wrong.
        why: &'static str,
        /// Line of the text, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// That line, and a caret under the column.
        caret: String,
    },
    /// The predicted memory exceeds the limit.
    #[error(
        "may need {} of memory, above the limit of {} per run; {} are for {cause}, or a higher memory limit",
        show_memory(*need), show_memory(*limit), show_memory(*largest)
    )]
    Memory {
        /// Predicted memory, bytes.
        need: u64,
        /// Limit, bytes.
        limit: u64,
        /// Largest part of the prediction, bytes.
        largest: u64,
        /// Description of the largest part, and how to reduce it.
        cause: &'static str,
    },
    /// Data gathered during the run exceeds the memory limit.
    #[error(
        "needs more memory than the limit of {1} per run: {0} when it was stopped; {2} are for {cause}, or a higher memory limit",
        show_memory(*need), show_memory(*limit), show_memory(*largest)
    )]
    Grown {
        /// Memory of the gathered data, bytes.
        need: u64,
        /// Memory left for gathered data, bytes.
        limit: u64,
        /// The largest part, bytes.
        largest: u64,
        /// Description of the largest part, and how to reduce it.
        cause: String,
    },
    /// The run was asked to stop.
    #[error("interrupted")]
    Cancelled,
}
