//! Shapers: engine and twin on random networks, and departures worked by hand.

use crate::common;
use crate::common::build;
use crate::common::engines::{self, agrees, result};
use crate::common::formats::{in_ethernet, in_format, mtus};
use crate::common::random::{self, Case};
use cellyard_engine::Kernel;
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Span};
use proptest::collection::vec;
use proptest::prelude::*;

/// A shaper relative to its network: a rate in percent of the first link's and some bit/s more,
/// bytes beyond the longest frame, and whether it has both ways.
type Drawn = Option<(u64, u64, u64, bool)>;

fn shapers() -> impl Strategy<Value = Vec<Drawn>> {
    // At a simple part of the link's rate, frames leave at instants at which others come or leave.
    let simple = proptest::sample::select(vec![10u64, 20, 25, 50, 100, 200]);
    let percent = prop_oneof![2 => simple, 1 => 1u64..20, 1 => 20u64..300];
    let more = prop_oneof![2 => Just(0u64), 1 => 1u64..100_000];
    let beyond = prop_oneof![Just(0u64), 1u64..100, 100u64..20_000];
    let one = (percent, more, beyond, any::<bool>());
    vec(proptest::option::weighted(0.7, one), 8)
}

/// The case with these shapers at VCs that can have one. Without `delays`, its hosts and TCPs
/// process nothing.
fn shaped(mut case: Case, shapers: &[Drawn], delays: bool) -> Case {
    let net = &mut case.scenario;
    let (format, base) = (net.format, net.links[0].rate.0);
    let kinds = net.vcs.iter_mut().zip(shapers);
    for (vc, drawn) in kinds {
        let frames = vc.traffic.carries() == Carries::Frames && vc.abr.is_none();
        let Some((percent, more, beyond, both_ways)) = drawn.filter(|_| frames) else {
            continue;
        };
        // The longest frame of the VC is of its data, or an ACK with four blocks.
        let data = vc.traffic.frame(format).expect("it has frames").size;
        vc.shape = Some(Shape {
            rate: BitRate((base / 100 * percent + more).max(1)),
            burst: data.longer(format.ack(4)).line_bytes() + beyond,
            both_ways: both_ways && vc.traffic.answers(),
        });
    }
    if !delays {
        net.hosts.iter_mut().for_each(|host| host.processing = None);
        for vc in &mut net.vcs {
            if let Traffic::Tcp(tcp) = &mut vc.traffic {
                tcp.processing = None;
            }
        }
    }
    case
}

proptest! {
    #![proptest_config(common::config(500))]

    #[test]
    fn engine_and_twin_agree_on_shapers(
        case in random::cases(2_000),
        drawn in shapers(),
        delays in any::<bool>(),
    ) {
        agrees(&shaped(case, &drawn, delays))?;
    }

    /// With packets of one length and of many.
    #[test]
    fn engine_and_twin_agree_on_shapers_in_ethernet(
        mtu in mtus(),
        case in random::cases(2_000),
        equal in any::<bool>(),
        drawn in shapers(),
        delays in any::<bool>(),
    ) {
        agrees(&shaped(in_ethernet(case, mtu, equal), &drawn, delays))?;
    }

    #[test]
    fn engine_and_twin_agree_on_shapers_of_equal_cells(
        case in random::cases(2_000),
        cell in 32u64..1_600,
        drawn in shapers(),
        delays in any::<bool>(),
    ) {
        agrees(&shaped(in_format(case, Format::cells(cell, 32, 0)), &drawn, delays))?;
    }
}

/// Two hosts with a line of 100 Mb/s between them, and UDPs from `a` to `b` that offer its whole
/// rate, with these shapers and starts.
fn two_hosts(format: Format, duration: Span, vcs: &[(Shape, Span)]) -> Scenario {
    let rate = BitRate(100_000_000);
    let mut net = build::network(duration);
    net.format = format;
    net.hosts = ["a", "b"].map(build::host).into();
    net.links = build::links("a", "b", rate, Span::ZERO).into();
    for (i, &(shape, start)) in vcs.iter().enumerate() {
        let name = format!("v{i}");
        let traffic = build::datagrams(1_472, rate);
        let vc = build::vc(&name, "a", "b", &[], Class::Ubr, traffic);
        let shape = Some(shape);
        net.vcs.push(Vc { shape, start, ..vc });
        net.probes.push(Probe::new(Observable::Delivered, &name));
    }
    net
}

fn shape(rate: u64, burst: u64) -> Shape {
    Shape {
        rate: BitRate(rate),
        burst,
        both_ways: false,
    }
}

/// The ticks at which frames of each VC arrive. Engine and twin agree, digests included.
fn arrivals(net: &Scenario) -> Vec<Vec<u64>> {
    agrees(&Case::of(net.clone())).expect("they agree");
    let second = net.format.clock.ticks_per_second as f64;
    let found = result(net, None, Kernel::Auto);
    let series = found.series.iter().map(|series| {
        // The first point is the value at the start, and the last one that at the end.
        let before = series.value.iter();
        let changes = series.time_s.iter().zip(&series.value).skip(1).zip(before);
        let changes = changes.filter(|((_, bytes), before)| bytes > before);
        changes
            .map(|((time, _), _)| (time * second).round() as u64)
            .collect()
    });
    series.collect()
}

/// A packet of 1538 bytes takes 123.04 us on the line, and 1230.4 us to fill. Packet k is handed
/// over at 123.04 k us. The bucket holds three, so that packet k leaves when it has got k - 2.
#[test]
fn packets_leave_when_the_bucket_holds_them() {
    let format = Format::ETHERNET;
    let ns = |n: u64| format.clock.nanoseconds(n).0;
    let net = |us: u64| {
        let duration = Span(ns(1_000 * us));
        two_hosts(
            format,
            duration,
            &[(shape(10_000_000, 3 * 1_538), Span::ZERO)],
        )
    };
    let found = arrivals(&net(20_000));
    let leaves = |k: u64| match k {
        0..=2 => ns(123_040 * k),
        _ => ns(1_230_400 * (k - 2)),
    };
    let expected: Vec<u64> = (0..19).map(|k| leaves(k) + ns(123_040)).collect();
    assert_eq!(found, [expected]);
    // Ten packets were handed over by the end of this run. The last seven wait, and the last of them
    // leaves the shaper 7 x 1230.4 - 9 x 123.04 us after it came.
    let net = Scenario {
        duration: Span(ns(1_230_400)),
        ..net(1)
    };
    for (name, run) in engines::ALL {
        let tally = run(&net, None);
        let flow = &tally.flows[0];
        let found = (flow.frames_sent, flow.cells_sent, flow.cells_not_sent);
        assert_eq!(found, (10, 3, 7), "{name}");
        assert_eq!(tally.nics[0].max_queue, 7, "{name}");
        assert_eq!(tally.nics[0].max_delay, Span(ns(7_505_440)), "{name}");
    }
}

/// A frame of 32 cells has 1696 bytes, which 7 000 003 bit/s fill in no whole number of ticks. The
/// bucket holds 304 bytes more than a frame, so that nothing is lost by rounding.
#[test]
fn departures_at_a_rate_that_divides_no_second_are_exact() {
    let (rate, burst) = (7_000_003u64, 2_000u64);
    let duration = Clock::AAL5.milliseconds(100);
    let net = two_hosts(
        Format::AAL5,
        Span(duration.0),
        &[(shape(rate, burst), Span::ZERO)],
    );
    let line = 32 * Format::AAL5.cell_time(BitRate(100_000_000)).0;
    let second = u128::from(Clock::AAL5.ticks_per_second);
    let leaves = |k: u64| {
        let bytes = u128::from((1_696 * (k + 1)).saturating_sub(burst));
        (8 * bytes * second).div_ceil(u128::from(rate)) as u64
    };
    let found = &arrivals(&net)[0];
    assert_eq!(found.len(), 52);
    let expected: Vec<u64> = (0..52).map(|k| leaves(k) + line).collect();
    assert_eq!(*found, expected);
}

/// Two shapers fill a byte per microsecond. From their second packets on, both let one go every
/// 1538 us at the same tick: the one whose packet came first, though its VC is the second.
#[test]
fn frames_that_leave_at_one_tick_leave_in_the_order_in_which_they_came() {
    let format = Format::ETHERNET;
    let ns = |n: u64| format.clock.nanoseconds(n).0;
    let vcs = [
        (shape(8_000_000, 1_539), Span(ns(1_000))),
        (shape(8_000_000, 1_538), Span::ZERO),
    ];
    let [late, early] = &arrivals(&two_hosts(format, Span(ns(20_000_000)), &vcs))[..] else {
        panic!("two VCs");
    };
    let line = 123_040;
    let at = |place: u64| {
        (1..12)
            .map(move |k| ns(1_538_000 * k + place * line))
            .collect::<Vec<u64>>()
    };
    assert_eq!(early[0], ns(line));
    assert_eq!(early[1..12], at(1));
    assert_eq!(late[0], ns(2 * line));
    assert_eq!(late[1..12], at(2));
}

/// A packet of 1250 bytes takes 100 us on the line. The second VC hands two packets to the host at 0
/// and 100 us, each of which spends 10 us there. The second of them leaves its shaper at the instant
/// at which the packet of the first VC, without a shaper, leaves the host's stage.
#[test]
fn stages_and_shapers_let_go_at_one_tick_in_the_order_in_which_frames_came() {
    let format = Format::ETHERNET;
    let us = |n: u64| Span(format.clock.nanoseconds(1_000 * n).0);
    for (burst, start, first, second) in [(1_250, 1_250, 1, 0), (2_395, 105, 0, 1)] {
        let vcs = [shape(8_000_000, burst); 2].map(|shape| (shape, Span::ZERO));
        let mut net = two_hosts(format, us(5_000), &vcs);
        net.hosts[0].processing = Some(Processing {
            kind: ProcessingKind::Latency,
            per: ProcessingUnit::Frame,
            mean: us(10),
            spread: Span::ZERO,
        });
        for vc in &mut net.vcs {
            vc.traffic = build::datagrams(1_184, BitRate(100_000_000));
        }
        net.vcs[0].shape = None;
        net.vcs[0].start = us(start);
        net.vcs[0].stop = Some(us(start + 1));
        net.vcs[1].stop = Some(us(101));
        let found = arrivals(&net);
        let leaves = start + 10;
        assert_eq!(found[1][0], us(110).0);
        assert_eq!(found[first].last(), Some(&us(leaves + 100).0), "{burst}");
        assert_eq!(found[second].last(), Some(&us(leaves + 200).0), "{burst}");
    }
}

/// A TCP gets the rate of its shaper and no more, and its ACKs only with `both_ways`.
#[test]
fn a_shaped_tcp_gets_the_rate_of_its_shaper() {
    let duration = Clock::AAL5.milliseconds(2_000);
    for both_ways in [false, true] {
        let mut net = two_hosts(
            Format::AAL5,
            Span(duration.0),
            &[(shape(10_000_000, 20_000), Span::ZERO)],
        );
        net.vcs[0].traffic = build::tcp_of(512);
        net.vcs[0].shape.as_mut().expect("a shaper").both_ways = both_ways;
        let found = result(&net, None, Kernel::Auto);
        let throughput = found.vcs[0].throughput_mbps;
        // What the full bucket gives at the start, 20 000 bytes in 2 s.
        assert!((9.9..=10.08).contains(&throughput), "{throughput}");
        assert_eq!(found.vcs[0].tcp.timeouts, 0);
    }
}
