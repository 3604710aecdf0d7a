//! Compares engine and twin on ABR end systems, over several trunks with different delays. Runs end
//! at any tick and are compared up to their last instant.

use crate::common::build;
use crate::common::build::{ms, us};
use crate::common::engines::{agrees, both_orders_agree, tally};
use crate::common::random::Case;
use crate::common::trunks::trunks;
use crate::common::{self, abr};
use cellyard_engine::Kernel;
use cellyard_engine::format::Format;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::run_twin;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

proptest! {
    #![proptest_config(common::config(200))]

    #[test]
    fn engine_agrees_with_the_twin_on_abr_over_trunks(net in trunks(), arrival_first in any::<bool>()) {
        agrees(&net.case(arrival_first))?;
    }
}

/// The random cases must include end systems that get answers and change their rates.
#[test]
fn abr_senders_over_trunks_are_answered_and_rise_and_fall() {
    let mut runner = TestRunner::deterministic();
    let strategy = trunks();
    let mut seen = [0usize; 4];
    for _ in 0..50 {
        let net = strategy.new_tree(&mut runner).unwrap().current();
        let tally = tally(&net.case(true), Kernel::Auto, false).expect("the kernel is chosen");
        let ends: Vec<_> = tally.vcs.iter().flat_map(|vc| &vc.abr).collect();
        seen[0] += usize::from(ends.iter().any(|end| end.backward_taken > 20));
        seen[1] += usize::from(ends.iter().any(|end| end.acr < 0.5 * 155_520_000.0 / 424.0));
        seen[2] += usize::from(ends.iter().any(|end| end.overwritten > 0));
        seen[3] += usize::from(ends.iter().any(|end| end.max_waiting > 100));
    }
    println!("{seen:?} of 50");
    assert!(seen.iter().all(|&n| n >= 5), "{seen:?}");
}

/// Three VCs share one trunk and reach their hosts after 90 us to 790 us. The rates in the last
/// backward RM cells raise those of others in the next interval, whether or not they reach their
/// source before the end.
#[test]
fn rm_cells_that_are_on_their_way_at_the_end_have_been_given_a_rate() {
    let mut net = build::network(Span::ZERO);
    net.hosts = ["s1", "s2", "s3", "d1", "d2", "d3"].map(build::host).into();
    net.switches = ["w", "e"]
        .map(|name| build::switch(name, None, DropPolicy::TailDrop))
        .into();
    let mbps = |n: u64| BitRate(n * 1_000_000);
    net.links = build::links("w", "e", mbps(75), us(400)).into();
    let senders = [(70, 0), (700, 1_300), (333, 700)];
    for (i, (delay, start)) in (1..).zip(senders) {
        let (from, to) = (format!("s{i}"), format!("d{i}"));
        let [near, far] = [delay, 90].map(us);
        net.links.extend(build::links(&from, "w", mbps(150), near));
        net.links.extend(build::links("e", &to, mbps(150), far));
        let udp = build::datagrams(9_140, mbps(150));
        let vc = build::vc(&from, &from, &to, &["w", "e"], Class::Abr, udp);
        net.vcs.push(Vc {
            start: us(start),
            abr: Some(AbrParams {
                icr: Some(mbps(10)),
                ..abr::usual()
            }),
            ..vc
        });
    }
    let feedback = Feedback::Erica(EricaParams {
        target: Ratio::new(8, 10),
        interval: us(200),
        ..abr::erica()
    });
    abr::tell(&mut net, feedback);
    for step in 0..150 {
        net.duration = us(20_000 + 130 * step);
        let case = Case::of(net.clone());
        agrees(&case).unwrap();
    }
}

/// A cell sent ahead, scheduled just before the horizon, still waits when a frame joins at that
/// instant.
#[test]
fn a_cell_sent_ahead_to_the_last_instant_known_waits_until_then() {
    let mut net = build::network(Span(13_780_000_000));
    net.hosts = ["a", "b"].map(build::host).into();
    net.switches = vec![build::switch("s", None, DropPolicy::TailDrop)];
    let cell = Format::AAL5.cell_time(build::OC3);
    net.links = vec![
        build::link("a", "s", BitRate(155_520_003), cell * 24),
        build::link("s", "a", BitRate(155_520_001), Span::ZERO),
        build::link("b", "s", build::OC3, Span::ZERO),
        build::link("s", "b", BitRate(77_760_000), cell),
    ];
    let udp = build::datagrams(245, BitRate(23_328_000));
    let mut vc = build::vc("v", "a", "b", &["s"], Class::Abr, udp);
    vc.abr = Some(AbrParams {
        icr: Some(BitRate(10_368_000)),
        tbe: 2,
        nrm: 2,
        trm: Span(1),
        rif: Ratio::new(1, 1),
        rdf: Ratio::new(0, 1),
        adtf: cell * 16 + Span(1),
        cdf: Ratio::new(0, 1),
        ..abr::usual()
    });
    net.vcs = vec![vc];
    assert_eq!(run_twin(&net, None).vcs[0].abr[0].max_waiting, 13);
    both_orders_agree(net);
}

/// Frames that answer others are sent ahead of their time, but never past an RM cell that may come
/// before.
#[test]
fn frames_sent_ahead_of_their_time_leave_room_for_rm_cells() {
    for (delay, nrm, trm) in [
        (5, 4, 100),
        (5, 32, 100_000),
        (1_000, 8, 500),
        (1_000, 32, 100_000),
    ] {
        let acks = TcpParams {
            delayed_ack: (nrm == 8).then_some(us(300)),
            initial_window: 20,
            ..build::tcp()
        };
        let (delay, duration) = (us(delay), ms(25));
        let policy = DropPolicy::TailDrop;
        let mut net = build::dumbbell(3, delay, duration, None, policy, |_| {
            Traffic::Tcp(Box::new(acks.clone()))
        });
        for vc in &mut net.vcs {
            vc.class = Class::Abr;
            vc.abr = Some(AbrParams {
                nrm,
                trm: us(trm),
                rif: Ratio::new(1, 1),
                icr: Some(BitRate(20_000_000)),
                ..abr::usual()
            });
        }
        abr::tell(&mut net, Feedback::Erica(abr::erica()));
        both_orders_agree(net);
    }
}
