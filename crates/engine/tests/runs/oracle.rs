//! Compares engine and twin on random scenarios, under every kernel that applies, with and without
//! the digest.

use crate::common;
use crate::common::build;
use crate::common::build::{ms, us};
use crate::common::engines::{agrees, both_orders_agree, tally};
use crate::common::random::{self, Case};
use cellyard_engine::Kernel;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::run_twin;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

proptest! {
    #![proptest_config(common::config(6_000))]

    #[test]
    fn engine_agrees_with_the_twin(case in random::cases(2_000)) {
        agrees(&case)?;
    }
}

proptest! {
    #![proptest_config(common::config(600))]

    #[test]
    fn engine_agrees_with_the_twin_on_longer_runs(case in random::cases(20_000)) {
        agrees(&case)?;
    }
}

proptest! {
    #![proptest_config(common::config(400))]

    /// Equal senders, in step or a few cell times apart, as in the studies. The arithmetic kernel
    /// handles most of their cells many at a time.
    #[test]
    fn engine_agrees_with_the_twin_on_senders_in_step(
        sources in 2usize..8,
        cells_apart in prop_oneof![3 => Just(0u64), 1 => 1..40u64],
        mss in prop_oneof![Just(512), Just(1460), 2_000..9_180u64],
        buffer in 20u64..600,
        counts in any::<bool>(),
        tie_order in build::tie_orders(),
        tie_offset in 0u64..8,
        delay_us in 0u64..40,
        spread in prop::option::weighted(0.3, 0u64..4_000),
    ) {
        let drop = build::policy(counts, Some(buffer));
        let (delay, duration) = (us(delay_us), ms(30));
        let mut net = build::dumbbell(sources, delay, duration, Some(buffer), drop, |_| build::tcp_of(mss));
        for (i, vc) in net.vcs.iter_mut().enumerate() {
            vc.start = Span(68_900_000) * (cells_apart * i as u64);
        }
        (net.tie_order, net.tie_offset) = (tie_order, tie_offset);
        net.switches[0].processing = spread.map(frames_close_up);
        agrees(&Case::of(net))?;
    }
}

/// A sender in a chain: its path, and whether it sends bursts of cells at its link's rate instead
/// of TCP frames.
type Sender = (usize, bool);

/// TCPs and bursts over the chain s, t, u.
///
/// Paths take both links between switches, the first or the second, or begin at an earlier switch
/// over a link twice as fast. Each sender starts `apart` after the one before. Bursts of a higher
/// class take one of the first paths.
fn chain(
    senders: &[Sender],
    [apart, delay]: [Span; 2],
    mss: u64,
    above: Option<(usize, Span)>,
    queue: &Switch,
) -> Scenario {
    let mut net = build::network(ms(20));
    net.switches = ["s", "t", "u", "p"]
        .map(|name| Switch {
            name: name.into(),
            ..queue.clone()
        })
        .into();
    net.links = build::links("s", "t", build::OC3, delay * 20).into();
    net.links
        .extend(build::links("t", "u", build::OC3, delay * 20));
    let fast = BitRate(2 * build::OC3.0);
    net.links.extend(build::links("p", "s", fast, delay));
    let ways: [&[&str]; 5] = [
        &["s", "t", "u"],
        &["s", "t"],
        &["t", "u"],
        &["p", "s", "t", "u"],
        &["p", "s", "t"],
    ];
    let mut join = |name: &str, way: &[&str], class, traffic| {
        let (from, to) = (format!("{name}-from"), format!("{name}-to"));
        net.links
            .extend(build::links(&from, way[0], build::OC3, delay));
        net.links
            .extend(build::links(way[way.len() - 1], &to, build::OC3, delay));
        net.vcs
            .push(build::vc(name, &from, &to, way, class, traffic));
        net.hosts.extend([from, to].map(build::host));
    };
    let bursts = |on: Span| build::vbr(build::OC3, on, on * 2);
    for (i, &(way, is_bursts)) in senders.iter().enumerate() {
        let traffic = match is_bursts {
            true => bursts(us(mss)),
            false => build::tcp_of(mss),
        };
        join(&format!("v{i}"), ways[way], Class::Ubr, traffic);
    }
    if let Some((way, on)) = above {
        join("above", ways[way], Class::Vbr, bursts(on));
    }
    for (i, vc) in net.vcs.iter_mut().enumerate() {
        vc.start = apart * i as u64;
    }
    net
}

proptest! {
    #![proptest_config(common::config(300))]

    /// Several inputs bring one cell per cell time each, in phase or not, before hosts and before
    /// another port.
    #[test]
    fn engine_agrees_with_the_twin_on_cells_in_rounds(
        senders in proptest::collection::vec((0usize..5, prop::bool::weighted(0.2)), 2..7),
        apart in prop_oneof![Just(0u64), 1..68_900_000u64, (1..40u64).prop_map(|n| n * 34_450_000)],
        // With this delay, cells of near and far hosts reach the second switch together.
        delay in prop_oneof![Just(Span(2 * 68_900_000)), Just(us(5))],
        mss in prop_oneof![Just(512), Just(1460), 2_000..9_180u64],
        above in prop::option::of((0usize..3, (50u64..2_000).prop_map(us))),
        scheduler in prop_oneof![
            2 => Just(Scheduler::StrictPriority),
            2 => (0u64..10).prop_map(|n| Scheduler::GuaranteedRate { class: Class::Ubr, gr: Ratio::new(n, 10) }),
            1 => Just(Scheduler::Fifo),
        ],
        buffer in prop::option::of(20u64..600),
        counts in any::<bool>(),
        arrival_first in any::<bool>(),
        tie in (build::tie_orders(), 0u64..8),
        warm_up in prop_oneof![Just(Span::ZERO), (0u64..15).prop_map(ms)],
        spread in prop::option::of(0u64..4_000),
    ) {
        let queue = Switch { scheduler, ..build::switch("s", buffer, build::policy(counts, buffer)) };
        let mut net = chain(&senders, [Span(apart), delay], mss, above, &queue);
        (net.tie_order, net.tie_offset) = tie;
        net.arrival_first = arrival_first;
        net.measure.warm_up = warm_up;
        net.switches[0].processing = spread.map(frames_close_up);
        agrees(&Case::of(net))?;
    }
}

/// Processing that can let a frame begin earlier than one cell time after the previous one, by up
/// to twice the spread.
fn frames_close_up(spread_ns: u64) -> Processing {
    Processing {
        kind: ProcessingKind::Latency,
        per: ProcessingUnit::Frame,
        mean: us(10),
        spread: Span::from_nanoseconds(spread_ns),
    }
}

/// In the last round of two inputs, the next frame of the input whose cells come first may precede
/// the other's cell.
#[test]
fn a_frame_that_comes_within_the_last_round_is_not_overtaken() {
    for mss in [512, 1460] {
        let queue = build::switch("s", None, DropPolicy::TailDrop);
        let mut net = chain(
            &[0, 1, 1].map(|way| (way, false)),
            [Span(5_000_000), us(5)],
            mss,
            None,
            &queue,
        );
        net.switches[0].processing = Some(frames_close_up(1_000));
        agrees(&Case::of(net)).unwrap();
    }
}

/// Cells of a higher class, bound for a host behind the next switch, alternate with frames that
/// have a guarantee and go on to another port. The port sends both in one step, each cell by
/// itself.
#[test]
fn frames_with_a_guarantee_take_turns_with_cells_and_go_on_to_another_port() {
    for (tenths, delay) in [(1, 2 * 68_900_000), (3, 0), (5, 126_360_000)] {
        let scheduler = Scheduler::GuaranteedRate {
            class: Class::Ubr,
            gr: Ratio::new(tenths, 10),
        };
        let queue = Switch {
            scheduler,
            ..build::switch("s", None, DropPolicy::TailDrop)
        };
        let above = Some((1, us(900)));
        for senders in [&[(0, false)][..], &[(0, false), (2, false)]] {
            let net = chain(
                senders,
                [Span(5_000_000), Span(delay)],
                9_000,
                above,
                &queue,
            );
            both_orders_agree(net);
        }
    }
}

/// Random cases must often let the arithmetic kernel apply, or forcing it tests nothing.
#[test]
fn the_arithmetic_kernel_applies_to_many_random_scenarios() {
    let mut runner = TestRunner::deterministic();
    let strategy = random::cases(300);
    let applies = (0..200)
        .filter(|_| {
            let case = strategy.new_tree(&mut runner).unwrap().current();
            tally(&case, Kernel::Arithmetic, false).is_some()
        })
        .count();
    println!("{applies} of 200");
    assert!(applies >= 20, "{applies} of 200");
}

/// Random cases must often queue at hosts, or the comparison of host queues tests nothing.
#[test]
fn much_waits_at_hosts_in_many_random_scenarios() {
    let mut runner = TestRunner::deterministic();
    let strategy = random::cases(2_000);
    let left = |case: &Case| {
        let tally = tally(case, Kernel::Auto, false).expect("the kernel is chosen");
        let not_sent: u64 = tally.flows.iter().map(|flow| flow.cells_not_sent).sum();
        let longest = tally.nics.iter().map(|nic| nic.max_queue).max();
        not_sent > 100 && longest.is_some_and(|cells| cells > 100)
    };
    let crowded = (0..400)
        .filter(|_| left(&strategy.new_tree(&mut runner).unwrap().current()))
        .count();
    println!("{crowded} of 400");
    assert!(crowded >= 20, "{crowded} of 400");
}

fn tcp(params: TcpParams) -> Traffic {
    Traffic::Tcp(Box::new(params))
}

#[test]
fn a_cell_source_overtakes_a_frame_that_is_still_in_processing() {
    let mut net = build::network(ms(20));
    net.hosts = ["a", "b"].map(build::host).into();
    net.hosts[1].processing = Some(Processing {
        kind: ProcessingKind::Latency,
        per: ProcessingUnit::Frame,
        mean: us(100),
        spread: Span::ZERO,
    });
    net.links = build::links("a", "b", BitRate(10_000_000), Span::ZERO).into();
    let cells = build::cbr(BitRate(499_998));
    net.vcs = vec![
        build::vc("v0", "b", "a", &[], Class::Ubr, cells),
        build::vc("v1", "a", "b", &[], Class::Ubr, tcp(build::tcp())),
    ];
    both_orders_agree(net);
}

/// A port slightly faster than its only input cannot queue. Each cell takes the longest cell time.
/// But if cells come exactly that far apart, the busy period continues and some take a tick
/// less.
#[test]
fn ports_slightly_faster_than_their_input_round_as_the_model_says() {
    for (input, output) in [(10_000_000, 10_000_003), (155_520_000, 155_520_001)] {
        let mut net = build::network(ms(20));
        net.hosts = ["a", "b"].map(build::host).into();
        net.switches = vec![build::switch("s", Some(10), DropPolicy::TailDrop)];
        net.links = build::links("a", "s", BitRate(input), Span::ZERO).into();
        net.links
            .extend(build::links("s", "b", BitRate(output), Span::ZERO));
        net.vcs = vec![build::vc(
            "v",
            "a",
            "b",
            &["s"],
            Class::Ubr,
            tcp(build::tcp()),
        )];
        both_orders_agree(net);
    }
}

/// The link between the switches is faster than the last port. Cells of a frame come one cell time
/// of that port apart. Another cell follows sooner, before the last decision on that frame.
#[test]
fn a_faster_link_brings_the_next_run_early() {
    let delay = us(200);
    let mut net = build::fast_between(delay, delay, ms(20));
    let poisson = build::poisson(BitRate(20_000_000));
    net.vcs = vec![
        build::vc("v0", "a", "d", &["s", "t"], Class::Ubr, tcp(build::tcp())),
        build::vc("v1", "b", "d", &["s", "t"], Class::Ubr, poisson.clone()),
        build::vc("v2", "c", "d", &["t"], Class::Vbr, poisson),
    ];
    both_orders_agree(net);
}

/// Cells of one run come closer together, or farther apart, than the port sends them, up to its
/// limits and until it is idle.
#[test]
fn runs_at_other_distances_than_the_cell_time_wait_as_the_model_says() {
    let burst = build::vbr(BitRate(100_000_000), us(300), ms(3));
    let epd = DropPolicy::Epd {
        threshold: None,
        reserve: Some(Threshold::Cells(30)),
    };
    for (buffer, drop) in [
        (None, DropPolicy::TailDrop),
        (Some(23), DropPolicy::TailDrop),
        (Some(60), epd),
    ] {
        let mut net = build::network(ms(30));
        net.hosts = ["a", "b", "c", "d"].map(build::host).into();
        net.switches = vec![build::switch("s", buffer, drop)];
        let delay = us(50);
        for (host, rate) in [("a", 155_520_000), ("b", 10_000_000), ("c", 155_520_000)] {
            net.links
                .extend(build::links(host, "s", BitRate(rate), delay));
        }
        net.links
            .extend(build::links("s", "d", BitRate(33_920_000), delay));
        net.vcs = vec![
            build::vc("v0", "a", "d", &["s"], Class::Ubr, tcp(build::tcp())),
            build::vc("v1", "b", "d", &["s"], Class::Ubr, tcp(build::tcp())),
            build::vc("v2", "c", "d", &["s"], Class::Ubr, burst.clone()),
        ];
        net.measure.warm_up = ms(2);
        both_orders_agree(net);
    }
}

/// So many VCs that cells of several leave their queues before the first is sent.
#[test]
fn many_vcs_take_turns_as_the_model_says() {
    for (buffer, unit) in [
        (None, TurnUnit::Cell),
        (Some(500), TurnUnit::Cell),
        (Some(500), TurnUnit::Frame),
    ] {
        let mut net = build::network(ms(15));
        let switch = build::switch("s", buffer, DropPolicy::TailDrop);
        net.switches = vec![Switch {
            scheduler: Scheduler::PerVc {
                class: Class::Ubr,
                unit,
            },
            ..switch
        }];
        net.hosts = vec![build::host("b")];
        let (rate, delay) = (BitRate(155_520_000), us(5));
        net.links = build::links("s", "b", rate, delay).into();
        for i in 0..100 {
            let host = format!("a{i}");
            net.links.extend(build::links(&host, "s", rate, delay));
            let traffic = match i % 10 {
                8 => build::cbr(BitRate(2_000_000)),
                9 => build::poisson(BitRate(1_000_000)),
                _ => tcp(build::tcp()),
            };
            let class = if i % 25 == 8 { Class::Vbr } else { Class::Ubr };
            let vc = build::vc(&format!("v{i}"), &host, "b", &["s"], class, traffic);
            net.vcs.push(Vc {
                weight: 1 + i % 3,
                guarantee: (i % 7 == 0 && class == Class::Ubr).then_some(BitRate(500_000)),
                start: us(7 * i),
                ..vc
            });
            net.hosts.push(build::host(host));
        }
        both_orders_agree(net);
    }
}

/// A retransmission by v1 and a delayed ACK of v0 are due at one tick and leave by one NIC.
#[test]
fn timers_of_one_instant_go_retransmission_first() {
    let mut net = build::network(ms(1_100));
    net.hosts = ["a", "b"].map(build::host).into();
    net.links = build::links("a", "b", BitRate(10_000_000), Span::ZERO).into();
    net.links[0].lose_frames = vec![0];
    let delayed = TcpParams {
        delayed_ack: Some(ms(100)),
        file_size: Some(512),
        ..build::tcp()
    };
    let lossy = TcpParams {
        initial_rto: ms(1_000),
        ..build::tcp()
    };
    net.vcs = vec![
        build::vc("v0", "b", "a", &[], Class::Ubr, tcp(delayed)),
        build::vc("v1", "a", "b", &[], Class::Ubr, tcp(lossy)),
    ];
    net.vcs[0].start = ms(950);
    let tally = run_twin(&net, None);
    assert_eq!(tally.vcs[1].sender.timeouts, 1);
    // The ACK of two cells waits for the segment's twelve.
    net.duration = ms(1_000) + net.format.cell_time(net.links[0].rate) * 13;
    let acks = run_twin(&net, None).flows[1].clone();
    assert_eq!((acks.frames_sent, acks.cells_sent), (1, 0));
    both_orders_agree(net);
}
