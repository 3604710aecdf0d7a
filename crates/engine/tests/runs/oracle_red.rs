//! Compares engine and twin where every queue has a policy of the RED family, or drops frames from
//! the front.

use crate::common;
use crate::common::build;
use crate::common::build::ms;
use crate::common::engines::agrees;
use crate::common::engines::result;
use crate::common::ports;
use crate::common::random::{self, Case};
use cellyard_engine::Kernel;
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{DropReason, run_twin};
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A random network with `policy` at all queues, and first come, first served within each class.
fn everywhere(policy: impl Strategy<Value = DropPolicy>) -> impl Strategy<Value = Case> {
    (random::cases(4_000), policy).prop_map(|(mut case, policy)| {
        let net = &mut case.scenario;
        let of_switches = net.switches.iter_mut().map(|s| &mut s.queues);
        for queues in of_switches.chain(net.links.iter_mut().map(|l| &mut l.queues)) {
            for queue in queues {
                queue.drop = policy.clone();
                // Dropping from the front needs a limit.
                queue.buffer = queue.buffer.or(Some(Size::Cells(9)));
            }
        }
        let of_switches = net.switches.iter_mut().map(|s| &mut s.scheduler);
        let of_links = net
            .links
            .iter_mut()
            .filter_map(|l| l.scheduler.as_deref_mut());
        for scheduler in of_switches.chain(of_links) {
            if let Scheduler::PerVc { .. } | Scheduler::Program(_) = scheduler {
                *scheduler = Scheduler::Fifo;
            }
        }
        case
    })
}

fn policy(meant: &'static str) -> BoxedStrategy<DropPolicy> {
    ports::policy(Some(9), move |name| name == meant)
}

proptest! {
    #![proptest_config(common::config(600))]

    #[test]
    fn engine_agrees_with_the_twin_on_atm_red(case in everywhere(policy("atm-red"))) {
        agrees(&case)?;
    }

    #[test]
    fn engine_agrees_with_the_twin_on_cell_red(case in everywhere(policy("cell-red"))) {
        agrees(&case)?;
    }

    #[test]
    fn engine_agrees_with_the_twin_on_packet_red(case in everywhere(policy("packet-red"))) {
        agrees(&case)?;
    }

    #[test]
    fn engine_agrees_with_the_twin_on_frames_dropped_from_the_front(case in everywhere(policy("frame-drop-from-front"))) {
        agrees(&case)?;
    }
}

/// Two sources with long pauses at a port with `min_th` 0: the average of a queue decays to 0 among
/// cells that the arithmetic kernel takes together.
#[test]
fn an_average_that_decays_to_zero_draws_as_often_in_each_engine() {
    let text = r#"
        name = "red"
        duration = "1000 ms"
        host = [{ name = "a" }, { name = "b" }, { name = "d" }]
        link = [
          { from = "a", to = "x", rate = "10 Mbps", delay = "10 us" },
          { from = "b", to = "x", rate = "10 Mbps", delay = "10 us" },
          { from = "x", to = "d", rate = "10 Mbps", delay = "10 us" },
        ]
        [[switch]]
        name = "x"
        [switch.ubr]
        buffer = "30 cells"
        [switch.ubr.drop]
        policy = "atm-red"
        w_q = 0.1
        max_p = 1
        min_th = "0 cells"
        max_th = "30 cells"
        segment_cells = "12 cells"
        average = "cell"
        [[vc]]
        from = "a"
        to = "d"
        traffic = { kind = "udp", datagram_size = "100 bytes", rate = "8 Mbps" }
        [[vc]]
        from = "b"
        to = "d"
        traffic = { kind = "udp", datagram_size = "1000 bytes", on = "5 ms", off = "50 ms" }
    "#;
    let scenario = read_toml(text, "", &[]).unwrap_or_else(|problems| panic!("{}", problems[0]));
    let replication = None;
    agrees(&Case {
        scenario,
        replication,
    })
    .unwrap();
}

/// The result of a run with `probes`.
fn watch(net: &Scenario, replication: Option<u64>, probes: Vec<Probe>) -> RunResult {
    let net = Scenario {
        probes,
        ..net.clone()
    };
    result(&net, replication, Kernel::Auto)
}

proptest! {
    #![proptest_config(common::config(200))]

    #[test]
    fn each_cell_pushed_out_with_its_frame_is_traced(case in everywhere(policy("frame-drop-from-front"))) {
        let net = &case.scenario;
        let probes = net.vcs.iter().map(|vc| build::probe(Observable::Trace, &vc.name, None));
        let found = watch(net, case.replication, probes.collect());
        let tally = run_twin(net, case.replication);
        let ports = tally.ports.iter().flatten();
        let pushed_out: u64 = ports.map(|port| port.dropped()[DropReason::Front]).sum();
        let traced = found.trace.iter().filter(|cell| cell.reason == DropReason::Front);
        prop_assert_eq!(traced.count() as u64, pushed_out);
    }
}

/// With w_q = 1 the average equals the X that the latest cell found: one less than the cells behind
/// it.
#[test]
fn the_average_queue_is_recorded() {
    let red = RedParams {
        w_q: Ratio::new(1, 1),
        max_p: Ratio::new(1, 1),
        min_th: Threshold::Cells(998),
        max_th: Threshold::Cells(999),
        segment_cells: Some(1),
        average: RedAverage::Cell,
        spacing: false,
        spare_short_frames: None,
    };
    let cells = build::poisson(BitRate(70_000_000));
    let duration = ms(20);
    let net = build::dumbbell(
        2,
        Span::ZERO,
        duration,
        None,
        DropPolicy::AtmRed(red),
        |_| cells.clone(),
    );
    let probes = [Observable::Queue, Observable::AverageQueue].map(|what| Probe {
        every: Some(1),
        ..build::probe(what, "s-t", None)
    });
    let found = watch(&net, None, probes.into());
    let [waiting, average] = [0, 1].map(|i| found.series[i].value.as_slice());
    assert!(waiting.len() > 6_000 && waiting.iter().any(|&x| x > 5.0));
    for (x, avg) in waiting.iter().zip(average) {
        assert_eq!(*avg, (x - 1.0).max(0.0));
    }
}

/// With w_q = 1 the average equals the X that the cell found. The curve rises by 1/16 per cell from
/// X = 2 to 10.
#[test]
fn a_traced_drop_has_the_average_and_the_probability_of_its_curve() {
    let red = |policy: fn(RedParams) -> DropPolicy| {
        policy(RedParams {
            w_q: Ratio::new(1, 1),
            max_p: Ratio::new(1, 2),
            min_th: Threshold::Cells(2),
            max_th: Threshold::Cells(10),
            segment_cells: None,
            average: RedAverage::Cell,
            spacing: false,
            spare_short_frames: None,
        })
    };
    let policies = [
        (red(DropPolicy::AtmRed), true),
        (red(DropPolicy::CellRed), true),
        (red(DropPolicy::PacketRed), true),
        (DropPolicy::TailDrop, false),
    ];
    for (policy, has_curve) in policies {
        let cells = build::poisson(BitRate(90_000_000));
        let duration = ms(20);
        let net = build::dumbbell(2, Span::ZERO, duration, Some(9), policy, |_| cells.clone());
        let probe = build::probe(Observable::Trace, &net.vcs[0].name, None);
        let found = watch(&net, None, vec![probe]);
        assert!(found.trace.len() > 100, "{}", found.trace.len());
        for drop in found.trace {
            let x = drop.waiting_cells.expect("a queue") as f64;
            let p = if x < 2.0 { 0.0 } else { (x - 2.0) / 16.0 };
            assert_eq!(drop.average_queue_cells, has_curve.then_some(x));
            assert_eq!(drop.drop_probability, has_curve.then_some(p));
        }
    }
}

/// Number of networks, out of 60, that drop cells for `reason`.
fn bites(policy: impl Strategy<Value = DropPolicy>, reason: DropReason) -> usize {
    let mut runner = TestRunner::deterministic();
    let cases = everywhere(policy);
    let drops = |_: &usize| {
        let case = cases.new_tree(&mut runner).expect("a case").current();
        let tally = run_twin(&case.scenario, case.replication);
        let mut ports = tally.ports.iter().flatten();
        ports.any(|port| port.dropped()[reason] > 0)
    };
    (0..60).filter(drops).count()
}

#[test]
fn they_drop_something_in_many_random_networks() {
    let found = [
        ("atm-red", bites(policy("atm-red"), DropReason::Policy)),
        ("cell-red", bites(policy("cell-red"), DropReason::Policy)),
        (
            "packet-red",
            bites(policy("packet-red"), DropReason::Policy),
        ),
        (
            "from the front",
            bites(policy("frame-drop-from-front"), DropReason::Front),
        ),
    ];
    println!("of 60 networks: {found:?}");
    assert!(
        found.iter().all(|&(_, networks)| networks >= 8),
        "{found:?}"
    );
}
