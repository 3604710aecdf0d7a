//! The engines a test can be given.

use cellyard_engine::scenario::Scenario;
use cellyard_engine::tally::Tally;
use cellyard_engine::twin;

/// Runs a scenario, as a replication or not.
pub type Engine = fn(&Scenario, Option<u64>) -> Tally;

/// Every engine, with its name.
pub const ALL: [(&str, Engine); 1] = [("twin", twin::run)];
