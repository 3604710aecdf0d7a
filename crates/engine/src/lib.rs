//! Cell-by-cell simulation of TCP over cell-switched networks: no files, no clock, no threads, no printing.
//!
//! A [`scenario::Scenario`] is plain data; [`simulation::run`] makes a [`results::RunResult`] of it. `docs/model.md` states what is
//! simulated, decision by decision.

pub mod aal5;
mod class;
mod describe;
pub mod event;
pub mod flow;
pub mod host;
pub mod link;
mod network;
mod notation;
pub mod port;
pub mod probe;
pub mod registry;
pub mod results;
pub mod rng;
pub mod scenario;
pub mod simulation;
pub mod tally;
pub mod topology;
pub mod twin;
pub mod units;

pub use describe::describe;
pub use notation::nearest;
