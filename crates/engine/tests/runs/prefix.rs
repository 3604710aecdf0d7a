//! Tests that a run equals the beginning of a longer one up to its last instant. The end of a run
//! must not affect what happens before.

use crate::common::engines::result;
use crate::common::probes::probes;
use crate::common::random::Case;
use crate::common::trunks::trunks;
use crate::common::{self, engines, formats};
use cellyard_engine::Kernel;
use cellyard_engine::results::Series;
use cellyard_engine::scenario::Scenario;
use cellyard_engine::testing::{MeasuredPort, Tally};
use proptest::prelude::*;

/// The points of a series before `end_s`. A step function also has a point at the end of its run.
fn before(series: &Series, end_s: f64) -> (Vec<f64>, Vec<f64>) {
    let points = series.time_s.iter().zip(&series.value);
    points.filter(|&(&time, _)| time < end_s).unzip()
}

/// Runs `case` for its duration and for twice that, and compares everything before the end of the
/// first.
fn is_the_beginning_of_a_longer_run(mut case: Case) -> Result<(), TestCaseError> {
    let net = &mut case.scenario;
    net.probes = probes(net);
    let measured = net.measure.warm_up.min(net.duration);
    net.measure.warm_up = measured;
    net.measure.window = Some(net.duration - measured);
    let longer = Scenario {
        duration: net.duration * 2,
        ..net.clone()
    };
    let end_s = net.duration.as_seconds(net.format.clock);
    for kernel in [Kernel::Auto, Kernel::Slotted] {
        let [short, long] =
            [&case.scenario, &longer].map(|net| result(net, case.replication, kernel));
        for (a, b) in short.series.iter().zip(&long.series) {
            let (of, what) = (&a.of, &a.what);
            prop_assert_eq!(
                before(a, end_s),
                before(b, end_s),
                "{:?}: {} of {}",
                kernel,
                what,
                of
            );
        }
        let drops = long.trace.iter().filter(|drop| drop.time_s < end_s);
        let drops: Vec<_> = drops.cloned().collect();
        prop_assert_eq!(&short.trace, &drops, "{:?}", kernel);
    }
    let unwatched = |net: &Scenario| Scenario {
        probes: Vec::new(),
        ..net.clone()
    };
    for (name, engine) in engines::ALL {
        let run = |net: &Scenario| engine(&unwatched(net), case.replication);
        let (short, long) = (run(&case.scenario), run(&longer));
        for (a, b) in short.vcs.iter().zip(&long.vcs) {
            prop_assert_eq!(a.measured_bytes, b.measured_bytes, "{}", name);
            prop_assert_eq!(a.measured_line_bytes, b.measured_line_bytes, "{}", name);
            prop_assert_eq!(&a.delay, &b.delay, "{}", name);
        }
        let measured = |tally: &Tally| -> Vec<Option<MeasuredPort>> {
            let ports = tally.ports.iter();
            ports.map(|port| Some(port.as_ref()?.measured)).collect()
        };
        prop_assert_eq!(measured(&short), measured(&long), "{}", name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::config(200))]

    #[test]
    fn a_run_is_the_beginning_of_a_longer_one(case in formats::cases(1_500)) {
        is_the_beginning_of_a_longer_run(case)?;
    }
}

proptest! {
    #![proptest_config(common::config(60))]

    #[test]
    fn a_run_of_abr_over_trunks_is_the_beginning_of_a_longer_one(net in trunks(), arrival_first in any::<bool>()) {
        is_the_beginning_of_a_longer_run(net.case(arrival_first))?;
    }
}
