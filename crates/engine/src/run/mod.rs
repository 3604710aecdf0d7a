//! A run from its start to its results.

pub mod accounting;
pub mod assembly;
pub mod lock_step;
pub mod resolved;
pub mod results;
pub mod series;
pub mod simulation;
