//! Compares engine and twin where the gate judges each cell: policers, leaky buckets, averages, and
//! cells that are pushed out.

use crate::common;
use crate::common::build::{ms, us};
use crate::common::engines::{agrees, tally};
use crate::common::random::Case;
use crate::common::{build, ports};
use cellyard_engine::Kernel;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::DropReason;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A source: its traffic, minimum rate, the excess of its peak rate over that, and the cells of a
/// burst. Rates are in units of 100 kb/s; the peak rate may be absent.
#[derive(Clone, Debug)]
struct Source {
    traffic: Traffic,
    /// Whether the source's link is half as fast.
    slow: bool,
    /// Whether the source shares the host of the previous one.
    beside: bool,
    /// Whether the source passes another switch before the first.
    beyond: bool,
    mcr: u64,
    peak: Option<u64>,
    mbs: u64,
}

/// A rate in Mb/s, or the rate of the links.
fn rate() -> impl Strategy<Value = BitRate> {
    prop_oneof![5 => (5u64..120).prop_map(|mbps| BitRate(mbps * 1_000_000)), 1 => Just(build::OC3)]
}

/// Datagrams of one size at one rate.
fn steady() -> impl Strategy<Value = Traffic> {
    (100u64..3_000, rate()).prop_map(|(datagram_size, rate)| build::datagrams(datagram_size, rate))
}

/// Datagrams in bursts with long pauses, in which averages of RED decay and buckets empty.
fn bursts() -> impl Strategy<Value = Traffic> {
    (steady(), 50u64..2_000, 300u64..6_000).prop_map(|(traffic, on, off)| match traffic {
        Traffic::Udp(udp) => Traffic::Udp(UdpParams {
            on: Some(us(on)),
            off: us(off),
            ..udp
        }),
        other => other,
    })
}

fn source() -> impl Strategy<Value = Source> {
    let tcp = (512u64..6_000).prop_map(|mss| {
        Traffic::Tcp(Box::new(TcpParams {
            mss,
            rwnd: 30_000,
            ..build::tcp()
        }))
    });
    let udp = prop_oneof![steady(), bursts()];
    let vbr = (rate(), 1u64..3_000, 0u64..3_000)
        .prop_map(|(rate, on, off)| build::vbr(rate, us(on), us(off)));
    sending(prop_oneof![3 => tcp, 2 => udp, 1 => vbr])
}

/// A source with this traffic.
fn sending(traffic: impl Strategy<Value = Traffic>) -> impl Strategy<Value = Source> {
    let place = (
        any::<bool>(),
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.4),
    );
    // Occasionally a peak rate above every link.
    let peak = prop_oneof![3 => 0u64..600, 1 => 1_600u64..2_000];
    let contract = (1u64..300, prop::option::weighted(0.4, peak), 1u64..200);
    (traffic, place, contract).prop_map(|(traffic, (slow, beside, beyond), (mcr, peak, mbs))| {
        Source {
            traffic,
            slow,
            beside,
            beyond,
            mcr,
            peak,
            mbs,
        }
    })
}

/// Inserts the switch p before the first.
fn put_switch_before(net: &mut Scenario) {
    let first = build::switch("p", None, DropPolicy::TailDrop);
    net.switches.push(first);
    let links = build::links("p", "s", build::OC3, Span::ZERO);
    net.links.extend(links);
}

/// Halves the rate at which `host` sends.
fn slow_down(links: &mut [Link], host: &str) {
    let link = links.iter_mut().find(|link| link.from == host);
    link.expect("it has one").rate.0 /= 2;
}

/// Routes `vc` through the switch p before the first.
fn move_beyond(links: &mut [Link], vc: &mut Vc) {
    vc.route.insert(0, "p".into());
    for link in links {
        let end = match link.from == vc.from {
            true => &mut link.to,
            false if link.to == vc.from => &mut link.from,
            false => continue,
        };
        *end = "p".into();
        link.name = format!("{}-{}", link.from, link.to);
    }
}

/// `n` equal sources, which bring their cells in rounds.
fn in_step(n: usize, source: &Source) -> Vec<Source> {
    let one = Source {
        slow: false,
        beside: false,
        beyond: false,
        ..source.clone()
    };
    vec![one; n]
}

/// A policer at the switch p, which may tag cells that others judge, and a policer at the other
/// switches.
fn police() -> impl Strategy<Value = [Option<Police>; 2]> {
    [0.3, 0.2].map(|part| prop::option::weighted(part, ports::police()))
}

/// Several sources of one class before one link. Each begins two cell times after the previous one.
fn cases() -> impl Strategy<Value = Case> {
    let queue =
        prop_oneof![1 => Just(None), 4 => (5u64..60).prop_map(Some), 2 => (60u64..200).prop_map(Some)].prop_flat_map(|buffer| {
            let policy = prop_oneof![
                1 => Just(DropPolicy::TailDrop),
                3 => ports::rate_policy(buffer),
                3 => ports::red_policy(buffer),
                1 => Just(DropPolicy::DropFromFront),
                1 => Just(DropPolicy::FrameDropFromFront),
            ];
            (Just(buffer), policy, police(), ports::rest_of_frame())
        });
    let ties = (build::tie_orders(), 0u64..8);
    let sources = prop_oneof![
        3 => prop::collection::vec(source(), 1..6),
        1 => (2usize..6, source()).prop_map(|(n, source)| in_step(n, &source)),
        3 => (sending(steady()), prop::collection::vec(sending(bursts()), 1..3)).prop_map(|(one, all)| [vec![one], all].concat()),
    ];
    let times = (
        prop_oneof![3 => 0u64..30, 1 => 30..1_000u64],
        prop_oneof![Just(0), 0..8_000u64],
        prop::option::of(1..3_000u64),
        prop_oneof![3 => Just(12), 1 => Just(60)],
    );
    (queue, sources, ties, any::<bool>(), times).prop_map(
        |((buffer, drop, [police_before, police], rest), sources, ties, arrival_first, times)| {
            let (delay, warm_up, window, lasts) = times;
            let delay = us(delay);
            let traffic = |i: usize| sources[i].traffic.clone();
            let duration = ms(lasts) + delay * 6;
            let mut net = build::dumbbell(sources.len(), delay, duration, buffer, drop, traffic);
            put_switch_before(&mut net);
            let mut before: Option<(String, Vec<String>)> = None;
            for (i, (vc, source)) in net.vcs.iter_mut().zip(&sources).enumerate() {
                match before.take().filter(|_| source.beside) {
                    Some(way) => (vc.from, vc.route) = way,
                    None if source.beyond => move_beyond(&mut net.links, vc),
                    None => {}
                }
                before = Some((vc.from.clone(), vc.route.clone()));
                vc.start = Span(137_800_000) * i as u64;
                vc.contract = Some(Contract {
                    pcr: source
                        .peak
                        .map(|above| BitRate((source.mcr + above) * 100_000)),
                    cdvt: us(source.mbs),
                    scr: None,
                    mcr: Some(BitRate(source.mcr * 100_000)),
                    mbs: Some(source.mbs),
                    mfs: None,
                });
                if source.slow {
                    slow_down(&mut net.links, &format!("a{i}"));
                }
            }
            for switch in &mut net.switches {
                let is_before = switch.name == "p";
                for queue in &mut switch.queues {
                    queue.police = if is_before { police_before } else { police };
                    queue.rest_of_frame = rest;
                }
            }
            (net.tie_order, net.tie_offset) = ties;
            net.arrival_first = arrival_first;
            net.measure.warm_up = us(warm_up);
            net.measure.window = window.map(us);
            Case::of(net)
        },
    )
}

proptest! {
    #![proptest_config(common::config(1_200))]

    #[test]
    fn engine_agrees_with_the_twin_where_each_cell_is_judged(case in cases()) {
        agrees(&case)?;
    }
}

/// Frames of a slow source follow those of a fast one behind a switch, within one look ahead.
///
/// Cells of the slow source come farther apart. The queue made by a third source lasts meanwhile.
#[test]
fn cells_of_one_input_at_another_distance_do_not_go_with_those_before_them() {
    let red = DropPolicy::AtmRed(RedParams {
        w_q: Ratio::new(1, 1),
        max_p: Ratio::new(1, 10),
        min_th: Threshold::Cells(1_000),
        max_th: Threshold::Cells(2_000),
        segment_cells: Some(1),
        average: RedAverage::Cell,
        spacing: false,
        spare_short_frames: Some(false),
    });
    let traffic =
        |i: usize| build::datagrams(2_000, BitRate([40_000_000, 30_000_000, 155_520_000][i]));
    let delay = ms(2);
    let mut net = build::dumbbell(3, delay, ms(12), None, red, traffic);
    put_switch_before(&mut net);
    for vc in &mut net.vcs[..2] {
        move_beyond(&mut net.links, vc);
    }
    slow_down(&mut net.links, "a1");
    net.vcs[2].stop = Some(ms(2));
    agrees(&Case::of(net)).unwrap();
}

/// Two sources at half the link's rate alternate, out of step.
///
/// Every other cell of a third source, at a third of the rate, coincides with a cell of the first
/// two.
#[test]
fn a_cell_that_comes_with_one_of_those_in_turns_is_no_sooner_than_that() {
    let red = DropPolicy::AtmRed(RedParams {
        w_q: Ratio::new(1, 10),
        max_p: Ratio::new(1, 10),
        min_th: Threshold::Cells(20),
        max_th: Threshold::Cells(100),
        segment_cells: Some(1),
        average: RedAverage::Cell,
        spacing: false,
        spare_short_frames: Some(false),
    });
    let traffic = |_| build::datagrams(2_000, build::OC3);
    let duration = ms(12);
    let mut net = build::dumbbell(3, Span::ZERO, duration, None, red, traffic);
    let cell_time = 68_900_000;
    net.vcs[1].start = Span(cell_time / 2);
    for (host, part) in [("a0", 2), ("a1", 2), ("a2", 3)] {
        let link = net.links.iter_mut().find(|link| link.from == host);
        link.expect("it has one").rate.0 /= part;
    }
    agrees(&Case::of(net)).unwrap();
}

/// The random cases must include many tagged and refused cells.
#[test]
fn cells_are_tagged_and_refused_in_many_of_these() {
    let mut runner = TestRunner::deterministic();
    let strategy = cases();
    let mut seen = [0usize; 3];
    for _ in 0..100 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let tally = tally(&case, Kernel::Auto, false).expect("the kernel is chosen");
        let classes = || tally.ports.iter().flatten().flat_map(|port| &port.classes);
        let dropped = |reason| classes().any(|class| class.dropped[reason] > 0);
        seen[0] += usize::from(classes().any(|class| class.tagged > 0));
        seen[1] += usize::from(dropped(DropReason::Police));
        seen[2] += usize::from(dropped(DropReason::Policy));
    }
    println!("{seen:?} of 100");
    assert!(seen.iter().all(|&n| n >= 5), "{seen:?}");
}
