//! Parts of the engine that its own tests and benches reach for; not for use elsewhere.

pub use crate::event::{EventList, Kind};
pub use crate::flow::{FlowId, FlowKind};
pub use crate::host::tcp::{News, Receiver, Sender};
pub use crate::rng::{Step, Stream};
pub use crate::tally::{
    AbrTally, DropReason, Dropped, FlowTally, LinkDrops, SenderCounters, Tally, Transfer, VcTally,
    Where, digest,
};
pub use crate::topology::Topology;

use crate::options::{Kernel, Options, RunError};
use crate::scenario::Scenario;
use crate::session::Session;
use crate::units::Time;
use std::sync::atomic::AtomicBool;

/// Runs `scenario` and returns the plain counters.
///
/// # Errors
/// As [`crate::run`].
pub fn run_tally(
    scenario: &Scenario,
    replication: Option<u64>,
    kernel: Kernel,
    digest: bool,
) -> Result<Tally, RunError> {
    let options = Options {
        kernel,
        digest,
        ..Options::default()
    };
    let mut session = Session::new(scenario, replication, &options)?;
    session.advance_until(Time::NEVER, &AtomicBool::new(false))?;
    Ok(session.tally())
}

/// What the twin counts, the digest included.
///
/// # Panics
/// When the scenario does not pass the reader's checks, or a cell is lost from the books.
pub fn run_twin(scenario: &Scenario, replication: Option<u64>) -> Tally {
    run_tally(scenario, replication, Kernel::Twin, true).expect("the scenario is consistent")
}
