//! Engine against twin on random scenarios: every kernel that applies, with the digest and without.

mod common;

use cellyard_engine::simulation::{Kernel, RunError, run_tally};
use cellyard_engine::tally::Tally;
use cellyard_engine::twin;
use common::random::{self, Case};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// What `kernel` counts; `None` where it is forced and does not apply.
fn tally(case: &Case, kernel: Kernel, digest: bool) -> Option<Tally> {
    match run_tally(&case.scenario, case.replication, kernel, digest) {
        Ok(tally) => Some(tally),
        Err(RunError::Kernel { .. }) if kernel == Kernel::A => None,
        Err(error) => panic!("{kernel:?}: {error}"),
    }
}

fn agrees(case: &Case) -> Result<(), TestCaseError> {
    let mut expected = twin::run(&case.scenario, case.replication);
    for digest in [true, false] {
        if !digest {
            expected.digest = None;
        }
        for kernel in [Kernel::Auto, Kernel::A, Kernel::B] {
            if let Some(found) = tally(case, kernel, digest) {
                let differ = common::differences(&found, &expected);
                prop_assert!(
                    differ.is_empty(),
                    "{kernel:?} (left), digest {digest}, is not the twin (right)\n{differ}"
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::config(4_000))]

    #[test]
    fn engine_agrees_with_the_twin(case in random::cases(2_000)) {
        agrees(&case)?;
    }
}

proptest! {
    #![proptest_config(common::config(400))]

    #[test]
    fn engine_agrees_with_the_twin_on_longer_runs(case in random::cases(20_000)) {
        agrees(&case)?;
    }
}

/// Forcing the arithmetic kernel is worth its time only where it applies.
#[test]
fn the_arithmetic_kernel_applies_to_many_random_scenarios() {
    let mut runner = TestRunner::deterministic();
    let strategy = random::cases(300);
    let applies = (0..200)
        .filter(|_| {
            let case = strategy.new_tree(&mut runner).unwrap().current();
            tally(&case, Kernel::A, false).is_some()
        })
        .count();
    println!("{applies} of 200");
    assert!(applies >= 20, "{applies} of 200");
}
