//! Compares engine and twin in other formats than AAL5, and whole runs there with theory.

use crate::common;
use crate::common::build;
use crate::common::build::us;
use crate::common::engines::{self, agrees};
use crate::common::formats::{in_ethernet, in_format, mtus};
use crate::common::random::{self, Case};
use cellyard_engine::Kernel;
use cellyard_engine::format::Format;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::run_tally;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;

/// Random formats. Cells of half of them are a multiple of 53 bytes, so that [`in_format`] finds
/// rates whose cell times are exactly those of the case.
fn formats() -> impl Strategy<Value = Format> {
    let cell = prop_oneof![
        (1u64..20).prop_map(|n| 53 * n),
        32u64..1_600,
        Just(64),
        Just(256),
    ];
    // What a cell does not carry, in bytes: nothing, a small header, or any part.
    let header = prop_oneof![Just(0u64), 1u64..32, 0u64..1_600];
    let overhead = prop_oneof![Just(0u64), 0u64..64];
    (cell, header, overhead).prop_map(|(cell, header, overhead)| {
        Format::cells(cell, cell.saturating_sub(header).max(32), overhead)
    })
}

proptest! {
    #![proptest_config(common::config(400))]

    #[test]
    fn engine_and_twin_agree_in_any_format(case in random::cases(2_000), format in formats()) {
        agrees(&in_format(case, format))?;
    }
}

proptest! {
    #![proptest_config(common::config(400))]

    /// With packets of one length and of many, up to 64 kB.
    #[test]
    fn engine_and_twin_agree_in_ethernet(
        case in random::cases(2_000),
        mtu in mtus(),
        equal in any::<bool>(),
    ) {
        agrees(&in_ethernet(case, mtu, equal))?;
    }
}

proptest! {
    #![proptest_config(common::config(100))]

    /// Equal senders at rates of Ethernet, where all cell times are exact.
    #[test]
    fn engine_and_twin_agree_on_senders_in_step_in_any_format(
        sources in 2usize..8,
        gigabits in prop::sample::select(vec![1u64, 10, 25, 40, 50, 100, 200, 400, 800]),
        format in formats(),
        mss in prop_oneof![Just(1_460), 100..9_000u64],
        buffer in 2u64..600,
        counts in any::<bool>(),
        tie_order in build::tie_orders(),
        arrival_first in any::<bool>(),
    ) {
        let drop = if counts {
            DropPolicy::SelectiveDrop { r: Threshold::Cells(buffer / 2), z: Ratio::new(6, 5) }
        } else {
            DropPolicy::Epd { threshold: None, reserve: Some(Threshold::Cells(buffer / 3)) }
        };
        let rate = BitRate(gigabits * 1_000_000_000);
        prop_assert_eq!(format.rounding(rate), 0.0);
        let duration = format.cell_time(rate) * 20_000;
        let mut net = dumbbell(format, rate, sources, mss, duration);
        net.switches[0] = build::switch("s", Some(buffer), drop);
        (net.tie_order, net.arrival_first) = (tie_order, arrival_first);
        agrees(&Case::of(net))?;
    }
}

/// TCPs over one bottleneck, all links of which have this rate.
fn dumbbell(format: Format, rate: BitRate, sources: usize, mss: u64, duration: Span) -> Scenario {
    let cell = format.cell_time(rate);
    let tcp = TcpParams {
        mss,
        rwnd: 40 * mss,
        initial_window: 4,
        granularity: cell * 500,
        min_rto: cell * 2_000,
        initial_rto: cell * 2_000,
        max_rto: cell * 20_000,
        ..build::tcp()
    };
    let delay = cell * 3;
    let mut net = build::dumbbell(sources, delay, duration, None, DropPolicy::TailDrop, |_| {
        Traffic::Tcp(Box::new(tcp.clone()))
    });
    net.format = format;
    for link in &mut net.links {
        link.rate = rate;
    }
    net
}

/// A segment without loss takes its cells on the line, so goodput is mss / (cells x cell bytes) of
/// the rate.
#[test]
fn goodput_without_loss_is_the_line_less_headers_and_padding() {
    for (format, mss, cells) in [
        (Format::cells(256, 240, 4), 1_460, 7),
        (Format::cells(256, 256, 0), 1_460, 6),
        (Format::cells(64, 56, 0), 9_000, 162),
        (Format::cells(1_538, 1_500, 0), 1_460, 1),
        (Format::ETHERNET, 1_460, 1),
        (Format::ethernet(9_000), 8_960, 1),
        (Format::ethernet(65_535), 65_495, 1),
    ] {
        assert_eq!(format.segment(mss).cells(), cells);
        let rate = BitRate(10_000_000_000);
        let mut net = dumbbell(format, rate, 2, mss, format.cell_time(rate) * 200_000);
        let warm_up = format.cell_time(rate) * 20_000;
        net.measure.warm_up = warm_up;
        let most = mss as f64 / (f64::from(cells) * format.cell_bits as f64 / 8.0);
        for (name, run) in engines::ALL {
            let tally = run(&net, None);
            let delivered: u64 = (0..2).map(|vc| tally.vcs[vc].measured_bytes).sum();
            let measured = Span(net.duration.0 - warm_up.0).as_seconds(format.clock);
            let part = 8.0 * delivered as f64 / measured / rate.0 as f64;
            // Some frames are on their way at either end of the measuring time.
            assert!(
                (part / most - 1.0).abs() < 2e-3,
                "{name}: {part} is not {most}"
            );
        }
    }
}

/// A jumbo frame by hand: 8960 bytes of data and 40 of headers take 9038 bytes on the line. At 1 Gb/s
/// that is 72 304 ns on each of the three links, which are 1 us long.
#[test]
fn a_jumbo_frame_takes_its_bytes_on_each_link() {
    let rate = BitRate(1_000_000_000);
    let format = Format::ethernet(9_000);
    let ns = |ns| format.clock.nanoseconds(ns);
    let segment = Traffic::Tcp(Box::new(TcpParams {
        mss: 8_960,
        file_size: Some(8_960),
        ..build::tcp()
    }));
    // UDP and IP add 28 bytes.
    let datagram = build::datagrams(8_972, BitRate(1_000_000));
    for traffic in [segment, datagram] {
        let delay = ns(1_000);
        let mut net = build::dumbbell(1, delay, ns(1_000_000), None, DropPolicy::TailDrop, |_| {
            traffic.clone()
        });
        net.format = format;
        for link in &mut net.links {
            link.rate = rate;
        }
        let middle = build::index_of(&net, "s", "t");
        for (name, run) in engines::ALL {
            let tally = run(&net, None);
            assert_eq!(tally.link_line_time[middle], ns(72_304), "{name}");
            // From the end of the first transmission on, as the transfer delay counts.
            let empty = ns(2 * 72_304 + 3 * 1_000).0;
            let delay = &tally.vcs[0].delay;
            assert_eq!(
                (delay.min, delay.max, delay.count),
                (empty, empty, 1),
                "{name}"
            );
        }
    }
}

/// Packets that fit are sent alike under every MTU.
#[test]
fn a_longer_mtu_that_no_packet_uses_changes_no_digest() {
    let rate = BitRate(1_000_000_000);
    let duration = Format::ETHERNET.cell_time(rate) * 20_000;
    let mut net = dumbbell(Format::ETHERNET, rate, 3, 1_460, duration);
    net.switches[0] = build::switch("s", Some(30), DropPolicy::TailDrop);
    let mut digests = [1_500, 1_501, 9_000, 65_535].map(|mtu| {
        net.format = Format::ethernet(mtu);
        let tally = run_tally(&net, None, Kernel::Auto, true).expect("it runs");
        assert!(tally.link_cells.iter().sum::<u64>() > 1_000);
        tally.digest.expect("it was asked for")
    });
    digests.sort_unstable();
    assert_eq!(digests[0], digests[3]);
}

/// Long and short packets alternate on a full link of 1.6 Gb/s: 1516 and 84 bytes every 1600 byte
/// times u. The n-th short packet comes 1516 u before the n-th long one. The long one before it
/// left 1432 u after the packets of its period set out, so the short one waits 1348 u for it. It
/// leaves as the long one comes, which does not wait.
#[test]
fn a_short_packet_waits_for_the_rest_of_a_long_one() {
    let format = Format::ETHERNET;
    let rate = BitRate(1_600_000_000);
    let byte = format.time_of(1, rate);
    let delay = byte * 1_000;
    let periods = 500;
    let duration = byte * 1_600 * periods + delay * 4;
    let traffic = |source| {
        let (datagram_size, megabits) = [(1_450u64, 1_516u64), (6, 84)][source];
        build::datagrams(datagram_size, BitRate(megabits * 1_000_000))
    };
    let mut net = build::dumbbell(2, delay, duration, None, DropPolicy::TailDrop, traffic);
    net.format = format;
    for link in &mut net.links {
        link.rate = rate;
    }
    let middle = build::index_of(&net, "s", "t");
    for (name, run) in engines::ALL {
        let tally = run(&net, None);
        let [long, short] = [0, 1].map(|vc| &tally.vcs[vc].delay);
        // Three delays of links, and transmissions at s and t.
        let empty = |bytes: u64| (delay * 3 + byte * 2 * bytes).0;
        assert_eq!((long.min, long.max), (empty(1_516), empty(1_516)), "{name}");
        let waits = empty(84) + (byte * 1_348).0;
        assert_eq!((short.min, short.max), (empty(84), waits), "{name}");
        let others = u128::from(short.count - 1) * u128::from(waits);
        assert_eq!(short.sum, u128::from(short.min) + others, "{name}");
        let port = tally.ports[middle].as_ref().expect("it can queue");
        assert_eq!(port.max_queue, 1, "{name}");
        // From the first arrival, 84 bytes after the start, the link sends all the time except for
        // what comes between the first short packet and the first long one.
        let sent = tally.link_line_time[middle];
        let idle = byte * (84 + 1_516 - 168) + delay;
        assert_eq!(sent + idle, duration, "{name}");
    }
}

/// Whether cells can wait at the port to the sink, with the rate of its only input and its own, bit/s.
fn waits_at_sink(tcp: TcpParams, [input, port]: [u64; 2]) -> bool {
    let delay = us(1);
    let mut net = build::dumbbell(1, delay, delay * 10, None, DropPolicy::TailDrop, |_| {
        Traffic::Tcp(Box::new(tcp.clone()))
    });
    net.format = Format::ETHERNET;
    let [into, out] = [("s", "t"), ("t", "b0")].map(|(from, to)| build::index_of(&net, from, to));
    (net.links[into].rate, net.links[out].rate) = (BitRate(input), BitRate(port));
    let found = [Kernel::Auto, Kernel::Twin].map(|kernel| {
        let tally = run_tally(&net, None, kernel, false).expect("it runs");
        tally.ports[out].is_some()
    });
    assert_eq!(found[0], found[1], "engine and twin");
    found[0]
}

#[test]
fn a_port_with_one_input_queues_where_a_short_packet_may_follow_a_long_one() {
    let tcp = || TcpParams {
        mss: 1_460,
        ..build::tcp()
    };
    let equal = |tcp| waits_at_sink(tcp, [1_000_000_000; 2]);
    assert!(!equal(tcp()));
    let handshake = || TcpParams {
        handshake: true,
        ..tcp()
    };
    assert!(equal(handshake()));
    for (sack_blocks, recovery) in [(1, Recovery::Sack), (4, Recovery::NewReno)] {
        // Only ACKs are longer, and they go the other way.
        assert!(!equal(TcpParams {
            sack_blocks,
            recovery,
            ..tcp()
        }));
    }
    let both_ways = true;
    assert!(equal(TcpParams { both_ways, ..tcp() }));
    for (file_size, waits) in [(1_460 * 7, false), (1_460 * 7 + 1, true), (1_459, false)] {
        let file_size = Some(file_size);
        assert_eq!(equal(TcpParams { file_size, ..tcp() }), waits);
    }
    // A SYN of 84 bytes takes as long on the input as a full packet of 1538 on the port.
    for (input, waits) in [(84_000_000, false), (84_000_001, true)] {
        assert_eq!(waits_at_sink(handshake(), [input, 1_538_000_000]), waits);
    }
}
