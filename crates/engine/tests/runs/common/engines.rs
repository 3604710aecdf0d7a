//! The engines that a test can use.

use super::random::Case;
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::Scenario;
#[cfg(debug_assertions)]
use cellyard_engine::testing::without_fast_paths;
use cellyard_engine::testing::{Tally, run_tally, run_twin};
use cellyard_engine::{Kernel, Options, RunError, run};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

/// Options of a run under `kernel`.
pub fn under(kernel: Kernel) -> Options {
    Options {
        kernel,
        ..Options::default()
    }
}

/// The result of `net` under `kernel`.
pub fn result(net: &Scenario, replication: Option<u64>, kernel: Kernel) -> RunResult {
    let never = AtomicBool::new(false);
    run(net, replication, &under(kernel), &never).expect("it runs")
}

/// Runs a scenario, as a replication or not.
pub type Engine = fn(&Scenario, Option<u64>) -> Tally;

/// Every engine, with its name.
pub const ALL: [(&str, Engine); 3] = [
    ("twin", run_twin),
    ("engine", engine),
    ("engine, cell by cell", by_cells),
];

/// The fast engine as users get it: with the kernels it chooses, without a digest.
pub fn engine(scenario: &Scenario, replication: Option<u64>) -> Tally {
    run_tally(scenario, replication, Kernel::Auto, false).expect("a run without errors")
}

/// The fast engine with a digest. The digest handles each departing cell individually, so most
/// shortcuts do not apply.
pub fn by_cells(scenario: &Scenario, replication: Option<u64>) -> Tally {
    run_tally(scenario, replication, Kernel::Auto, true).expect("a run without errors")
}

/// The counters under `kernel`, or `None` if it is forced and does not apply.
pub fn tally(case: &Case, kernel: Kernel, digest: bool) -> Option<Tally> {
    match run_tally(&case.scenario, case.replication, kernel, digest) {
        Ok(tally) => Some(tally),
        Err(RunError::Kernel { .. }) if kernel == Kernel::Arithmetic => None,
        Err(error) => panic!("{kernel:?}: {error}"),
    }
}

/// Checks that every kernel that applies has the twin's counters, with and without the digest.
pub fn agrees(case: &Case) -> Result<(), TestCaseError> {
    let mut expected = run_twin(&case.scenario, case.replication);
    for digest in [true, false] {
        if !digest {
            expected.digest = None;
        }
        for kernel in [Kernel::Auto, Kernel::Arithmetic, Kernel::Slotted] {
            if let Some(found) = tally(case, kernel, digest) {
                let differ = super::differences(&found, &expected);
                prop_assert!(
                    differ.is_empty(),
                    "{kernel:?} (left), digest {digest}, is not the twin (right)\n{differ}"
                );
            }
        }
    }
    #[cfg(debug_assertions)]
    if let Some(found) = without_fast_paths(|| tally(case, Kernel::Auto, false)) {
        let differ = super::differences(&found, &expected);
        prop_assert!(
            differ.is_empty(),
            "without fast paths (left), is not the twin (right)\n{differ}"
        );
    }
    Ok(())
}

/// Checks that all engines agree on `net`, not replicated, under both orders of coincident arrivals
/// and departures.
pub fn both_orders_agree(mut net: Scenario) {
    for arrival_first in [true, false] {
        net.arrival_first = arrival_first;
        let case = Case::of(net.clone());
        agrees(&case).unwrap();
    }
}
