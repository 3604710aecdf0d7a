//! Cell-by-cell simulation of TCP over cell-switched networks. The crate uses no files, clock or
//! threads, and prints nothing.
//!
//! A [`scenario::Scenario`] is plain data. [`run`] turns it into a [`results::RunResult`], and a
//! [`Session`] does so step by step. `docs/model.md` states what is simulated, decision by
//! decision; `docs/architecture.md` says how the parts fit together.

mod about;
mod ground;
mod host;
mod network;
mod port;
mod run;
#[doc(hidden)]
pub mod testing;
mod text;
mod twin;

pub use about::describe::{
    ChosenKernel, Description, Expected, NameFacts, NameRange, Outline, PathGroup, PathHop,
    PathPort, PortDescription, ProgramFacts, SchedulerFacts, describe, notes, outline,
    replication_notes,
};
pub use about::memory::{beyond, check_memory};
pub use about::session::{Session, run};
pub use ground::{format, units};
pub use network::capture::{About, FilePart, least_capture_limit};
pub use run::results;
pub use text::notation::{near, show_memory};
pub use text::options::{Kernel, Options, RunError};
pub use text::{registry, scenario};
pub use twin::decide::{Given, StateValue, decide};
