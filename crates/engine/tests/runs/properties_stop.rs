//! Tests of `stop`: the source offers what it would offer in a run that ends then, and a TCP
//! completes its data.

use crate::common;
use crate::common::build::{ms, us};
use crate::common::{build, engines, random};
use cellyard_engine::Kernel;
use cellyard_engine::format::Format;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{Tally, run_tally};
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;

/// What the source of VC number `vc` has offered: single cells handed to the NIC, or segments sent
/// for the first time.
fn offered(tally: &Tally, vc: usize, vcs: &[Vc]) -> u64 {
    let traffic = &vcs[vc].traffic;
    let sender = &tally.vcs[vc].sender;
    match traffic.carries() {
        Carries::Cells => tally.flows[common::flows_of(&vcs[..vc])].frames_sent,
        Carries::Frames => sender.segments - sender.retransmitted_segments,
    }
}

proptest! {
    #![proptest_config(common::config(300))]

    /// Up to the stop everything is offered. From then on there is no cell, and no byte that was
    /// not sent before.
    #[test]
    fn what_a_source_offers_until_it_stops_is_what_it_offers_in_a_run_that_ends_there(
        case in random::cases(1_500), which in any::<prop::sample::Index>(), percent in 1u64..=110,
    ) {
        let vc = which.index(case.scenario.vcs.len());
        let stop = Span((case.scenario.duration.0 / 100 * percent).max(1));
        let mut stopped = case.scenario.clone();
        stopped.vcs[vc].stop = Some(stop);
        let mut ended = case.scenario;
        ended.vcs[vc].stop = None;
        ended.duration = ended.duration.min(stop);
        let vcs = &stopped.vcs;
        for (name, engine) in engines::ALL {
            let until_stop = offered(&engine(&stopped, case.replication), vc, vcs);
            let until_end = offered(&engine(&ended, case.replication), vc, vcs);
            prop_assert_eq!(until_stop, until_end, "{}, VC {}", name, vc);
        }
    }
}

/// A TCP on a lossy link of 10 Mb/s and 5 ms.
fn lossy(tcp: TcpParams, percent: u64, stop: Span) -> Scenario {
    let mut net = build::network(ms(30_000));
    net.hosts = ["a", "b"].map(build::host).into();
    let delay = ms(5);
    net.links = build::links("a", "b", BitRate(10_000_000), delay).into();
    net.links[0].lose_probability = Ratio::new(percent, 100);
    let traffic = Traffic::Tcp(Box::new(tcp));
    net.vcs = vec![build::vc("tcp", "a", "b", &[], Class::Ubr, traffic)];
    net.vcs[0].stop = Some(stop);
    net
}

proptest! {
    #![proptest_config(common::config(100))]

    #[test]
    fn a_stopped_tcp_delivers_all_that_it_has_sent_and_is_silent_then(
        recovery in prop::sample::select(vec![
            Recovery::Vanilla, Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack,
        ]),
        rfc6675 in any::<bool>(),
        file_size in prop::option::of(1u64..200_000),
        percent in 0u64..20,
        stop_us in 1u64..500_000,
    ) {
        let tcp = TcpParams {
            recovery,
            sack_pipe: [SackPipe::Counter, SackPipe::Rfc6675][usize::from(rfc6675)],
            file_size,
            granularity: ms(10),
            min_rto: ms(20),
            initial_rto: ms(100),
            max_rto: ms(200),
            ..build::tcp()
        };
        let mss = tcp.mss;
        let net = lossy(tcp, percent, us(stop_us));
        let mut longer = net.clone();
        longer.duration = longer.duration + longer.duration;
        for (name, engine) in engines::ALL {
            let tally = &engine(&net, None).vcs[0];
            let new = (tally.sender.segments - tally.sender.retransmitted_segments) * mss;
            let sent = new.min(file_size.unwrap_or(u64::MAX));
            prop_assert!(sent > 0);
            prop_assert_eq!(tally.delivered_bytes, sent, "{}", name);
            prop_assert_eq!(tally.sender.completed.is_some(), file_size == Some(sent), "{}", name);
            // The timer expires at least every 200 ms, so everything is acknowledged by now.
            let later = &engine(&longer, None).vcs[0];
            prop_assert_eq!(later, tally, "{}", name);
        }
    }
}

/// Number of cells sent by two sources whose cells are one cell time of the line apart: in bursts
/// of `on`, and endless.
fn sent(kernel: Kernel, shared: bool, stop: Span) -> Option<[u64; 2]> {
    let cell = Format::AAL5.cell_time(build::OC3);
    let mut net = build::network(cell * 5_000);
    net.hosts = ["a", "b", "c"].map(build::host).into();
    net.switches = vec![build::switch("s", None, DropPolicy::TailDrop)];
    for host in ["a", "b", "c"] {
        net.links
            .extend(build::links(host, "s", build::OC3, Span::ZERO));
    }
    let half = BitRate(build::OC3.0 / 2);
    let vbr = build::vbr(half, cell * 1_000, cell * 1_000);
    let cbr = Traffic::Cbr { rate: half };
    let second = if shared { "a" } else { "b" };
    net.vcs = vec![
        build::vc("v", "a", "c", &["s"], Class::Ubr, vbr),
        build::vc("c", second, "c", &["s"], Class::Ubr, cbr),
    ];
    for vc in &mut net.vcs {
        vc.stop = Some(stop);
    }
    let tally = run_tally(&net, None, kernel, true).ok()?;
    assert_eq!(tally.vcs[0].delivered_bytes, 48 * tally.flows[0].cells_sent);
    Some([tally.flows[0].cells_sent, tally.flows[2].cells_sent])
}

#[test]
fn a_burst_is_cut_at_the_tick_of_the_stop() {
    let cell = Format::AAL5.cell_time(build::OC3);
    // One cell every two cell times: cell k is at 2 k, or at 2000 + 2 k in the second burst.
    for (stop, bursts, steady) in [
        (cell * 600, 300, 300),
        (cell * 600 + Span(1), 301, 301),
        (cell * 1_500, 500, 750),
        (cell * 2_000, 500, 1_000),
        (cell * 2_000 + Span(1), 501, 1_001),
        (cell * 2_700, 850, 1_350),
    ] {
        for kernel in [
            Kernel::Auto,
            Kernel::Arithmetic,
            Kernel::Slotted,
            Kernel::Twin,
        ] {
            for shared in [false, true] {
                let found = sent(kernel, shared, stop);
                assert_eq!(
                    found,
                    Some([bursts, steady]),
                    "{kernel:?}, {shared}, {stop:?}"
                );
            }
        }
    }
}

#[test]
fn a_source_that_is_drawn_to_start_after_its_stop_sends_nothing() {
    let kinds = [
        Traffic::Tcp(Box::new(build::tcp())),
        build::cbr(BitRate(1_000_000)),
    ];
    let mut net = build::network(ms(10));
    net.hosts = ["a", "b"].map(build::host).into();
    net.links = build::links("a", "b", BitRate(10_000_000), Span::ZERO).into();
    for (i, traffic) in kinds.into_iter().enumerate() {
        let name = format!("v{i}");
        net.vcs
            .push(build::vc(&name, "a", "b", &[], Class::Ubr, traffic));
        net.vcs[i].stop = Some(ms(1));
    }
    net.ensemble.start_jitter = ms(2);
    for (name, engine) in engines::ALL {
        let mut silent = [0, 0];
        for replication in 0..40 {
            let tally = engine(&net, Some(replication));
            for (vc, silent) in silent.iter_mut().enumerate() {
                let began = tally.vcs[vc].sender.began;
                let sent = tally.flows[2 * vc].frames_sent;
                *silent += u32::from(sent == 0);
                assert_eq!(began.is_some(), vc == 0 && sent > 0, "{name}");
            }
        }
        // Each has probability one half. At least 7 of 40 occur except with probability 1e-5.
        assert!(silent.iter().all(|&n| (7..=33).contains(&n)), "{silent:?}");
    }
}
