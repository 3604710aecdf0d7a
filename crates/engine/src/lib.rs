//! Cell-by-cell simulation of TCP over cell-switched networks. The crate uses no files, clock or
//! threads, and prints nothing.
//!
//! A [`scenario::Scenario`] is plain data. [`run`] turns it into a [`results::RunResult`], and a
//! [`Session`] does so step by step. `docs/model.md` states what is simulated, decision by
//! decision; `docs/architecture.md` says how the parts fit together.

mod abr;
mod accounting;
mod assembly;
mod capture;
mod cells;
mod class;
mod delays;
mod describe;
mod event;
mod fabric;
mod fair;
mod flow;
pub mod format;
mod gathered;
mod host;
mod loss;
mod memory;
mod notation;
mod observe;
mod options;
mod port;
mod power;
mod processing;
mod program;
mod reassembly;
mod record;
pub mod registry;
mod resolved;
pub mod results;
mod rng;
pub mod scenario;
mod series;
mod session;
mod simulation;
mod sink;
mod stop;
mod stopped;
mod tally;
#[cfg(feature = "testing")]
pub mod testing;
mod tie;
mod twin;
pub mod units;

pub use capture::{About, FilePart, least_capture_limit};
pub use describe::{
    ChosenKernel, Description, Expected, NameFacts, NameRange, Outline, PathGroup, PathHop,
    PathPort, PortDescription, ProgramFacts, SchedulerFacts, describe, drawn_starts, notes,
    outline,
};
pub use memory::{beyond, check_memory};
pub use notation::{near, show_memory};
pub use options::{Kernel, Options, RunError};
pub use session::{Session, run};
pub use twin::decide::{Given, StateValue, decide};
