//! The engines a test can be given.

use cellyard_engine::Kernel;
use cellyard_engine::scenario::Scenario;
use cellyard_engine::testing::Tally;
use cellyard_engine::testing::run_tally;
use cellyard_engine::testing::run_twin;

/// Runs a scenario, as a replication or not.
pub type Engine = fn(&Scenario, Option<u64>) -> Tally;

/// Every engine, with its name.
pub const ALL: [(&str, Engine); 2] = [("twin", run_twin), ("engine", engine)];

/// The fast engine, with the kernels it chooses.
pub fn engine(scenario: &Scenario, replication: Option<u64>) -> Tally {
    run_tally(scenario, replication, Kernel::Auto, true).expect("a run without errors")
}
