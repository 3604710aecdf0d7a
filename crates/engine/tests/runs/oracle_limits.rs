//! Compares engine and twin at the limits of shortcuts.
//!
//! The engine handles many cells at once while nothing near can come between them. Here something does.

use crate::common;
use crate::common::build;
use crate::common::build::{ms, us};
use crate::common::engines::{agrees, both_orders_agree};
use crate::common::ports;
use crate::common::random::{self, Case};
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Span};
use proptest::prelude::*;

/// A cell time at 155.52 Mb/s.
const C: Span = Span(68_900_000);

/// A sender whose VC is served individually: weight, guarantee in units of 100 kb/s, slowdown of
/// its link, and whether it shares the previous sender's host.
#[derive(Clone, Debug)]
struct OneByOne {
    weight: u64,
    guarantee: Option<u64>,
    slower: u64,
    beside: bool,
}

fn one_by_one() -> impl Strategy<Value = OneByOne> {
    let guarantee = prop::option::weighted(0.3, 1u64..40);
    (1u64..4, guarantee, 1u64..4, prop::bool::weighted(0.3)).prop_map(
        |(weight, guarantee, slower, beside)| OneByOne {
            weight,
            guarantee,
            slower,
            beside,
        },
    )
}

/// A slow sender: slowdown of its link, and the divisor of the usual rate at which it sends cells.
/// `None` stands for a TCP.
type Slow = (u64, Option<u64>);

proptest! {
    #![proptest_config(common::config(200))]

    /// Cells come more or less than one cell time apart, from many inputs, before a queue near its
    /// limit.
    #[test]
    fn engine_agrees_with_the_twin_on_cells_in_turns_of_one(
        senders in proptest::collection::vec((1u64..5, prop::option::of(1u64..7)), 2..9),
        mss in prop_oneof![Just(512), 300..4_000u64],
        apart in prop_oneof![Just(0u64), 1..68_900_000u64, (1..40u64).prop_map(|n| n * 34_450_000)],
        on in prop::option::of((50u64..3_000).prop_map(us)),
        port_slower in prop_oneof![2 => Just(1u64), 1 => 2u64..4],
        buffer in 20u64..200,
        which in 0..3,
        arrival_first in any::<bool>(),
        delay_us in 0u64..60,
    ) {
        let drop = match which {
            0 => DropPolicy::TailDrop,
            1 => DropPolicy::Ppd,
            _ => build::policy(false, Some(buffer)),
        };
        let (delay, duration) = (us(delay_us), ms(15));
        let rate = |part: u64| BitRate(build::OC3.0 / part);
        let traffic = |i: usize| {
            let (slower, part): Slow = senders[i];
            match (part, on) {
                (None, _) => build::tcp_of(mss),
                (Some(part), Some(on)) => Traffic::Vbr { rate: rate(part.max(slower)), on, off: on },
                (Some(part), None) => Traffic::Cbr { rate: rate(part.max(slower)) },
            }
        };
        let mut net = build::dumbbell(senders.len(), delay, duration, Some(buffer), drop, traffic);
        for (i, &(slower, _)) in senders.iter().enumerate() {
            net.vcs[i].start = Span(apart) * i as u64;
            let link = build::index_of(&net, &format!("a{i}"), "s");
            net.links[link].rate = rate(slower);
        }
        let link = build::index_of(&net, "s", "t");
        net.links[link].rate = rate(port_slower);
        net.arrival_first = arrival_first;
        agrees(&Case::of(net))?;
    }
}

proptest! {
    #![proptest_config(common::config(200))]

    /// Many VCs of one class are served per VC, most of them wait, and some have slower links.
    /// Cells of a higher and a lower class join.
    #[test]
    fn engine_agrees_with_the_twin_on_vcs_served_one_by_one(
        senders in proptest::collection::vec(one_by_one(), 2..12),
        mss in prop_oneof![Just(512), 300..4_000u64],
        apart in prop_oneof![Just(0u64), 1..68_900_000u64, (1..40u64).prop_map(|n| n * 34_450_000)],
        unit in random::unit(),
        others in proptest::collection::vec((prop::bool::weighted(0.7), 1u64..4, 20u64..2_000), 0..4),
        (buffer, rest_of_frame) in (prop::option::of(20u64..900), ports::rest_of_frame()),
        counts in any::<bool>(),
        arrival_first in any::<bool>(),
        delay_us in 0u64..60,
    ) {
        let drop = build::policy(counts, buffer);
        let (delay, duration) = (us(delay_us), ms(15));
        let mut net = build::dumbbell(senders.len(), delay, duration, buffer, drop, |_| build::tcp_of(mss));
        for switch in &mut net.switches {
            switch.scheduler = Scheduler::PerVc { class: Class::Abr, unit };
            switch.queues.iter_mut().for_each(|queue| queue.rest_of_frame = rest_of_frame);
        }
        let mut before = "a0".to_string();
        for (i, (vc, sender)) in net.vcs.iter_mut().zip(&senders).enumerate() {
            (vc.class, vc.weight) = (Class::Abr, sender.weight);
            vc.guarantee = sender.guarantee.map(|n| BitRate(n * 100_000));
            vc.start = Span(apart) * i as u64;
            let mut links = net.links.iter_mut().filter(|link| link.from == vc.from);
            links.next().expect("it has one").rate.0 /= sender.slower;
            if sender.beside {
                vc.from = before;
            }
            before = vc.from.clone();
        }
        for (i, (is_above, part, on)) in others.into_iter().enumerate() {
            let (from, to) = (format!("c{i}"), format!("d{i}"));
            net.links.extend(build::links(&from, "s", build::OC3, delay));
            net.links.extend(build::links("t", &to, build::OC3, delay));
            net.hosts.extend([&from, &to].map(build::host));
            let on = us(on);
            let vbr = Traffic::Vbr { rate: BitRate(build::OC3.0 / part), on, off: on * 2 };
            let class = if is_above { Class::Vbr } else { Class::Ubr };
            net.vcs.push(build::vc(&format!("other{i}"), &from, &to, &["s", "t"], class, vbr));
        }
        net.arrival_first = arrival_first;
        agrees(&Case::of(net))?;
    }
}

/// Datagrams of the given size at a rate so high that they follow each other at once.
fn datagrams(datagram_size: u64) -> Traffic {
    build::datagrams(datagram_size, build::OC3)
}

/// A VC to d in the network of `build::fast_between`.
fn to_d(name: &str, from: &str, class: Class, traffic: Traffic) -> Vc {
    let route: &[&str] = if from == "c" { &["t"] } else { &["s", "t"] };
    build::vc(name, from, "d", route, class, traffic)
}

/// The next run of a faster link comes exactly when the last cell of the previous one is decided.
/// With arrivals first, it finds that cell waiting.
#[test]
fn a_run_that_comes_with_the_last_decision_finds_the_last_cell() {
    let mut net = build::fast_between(C * 50, C * 50, ms(2));
    let cells = build::cbr(BitRate(1_000_000));
    // Half a cell time separates the last cells of v0 and v1, and the last cell of v2 from the
    // first of v0.
    let half = Span(C.0 / 2);
    let vcs = [
        ("v0", "a", Class::Ubr, datagrams(512), C * 100),
        ("v1", "b", Class::Ubr, cells.clone(), C * 111 + half),
        ("v2", "c", Class::Vbr, cells, C * 150),
    ];
    for (name, from, class, traffic, start) in vcs {
        let stop = Some(start + Span(1));
        net.vcs.push(Vc {
            start,
            stop,
            ..to_d(name, from, class, traffic)
        });
    }
    both_orders_agree(net);
}

/// With two inputs in rounds, one input's next frame comes exactly with a cell of the other. The
/// frame is of another source, on a link twice as fast.
#[test]
fn a_frame_that_comes_with_the_last_cell_of_a_round_takes_its_turn() {
    let mut net = build::fast_between(Span::ZERO, C * 100, ms(2));
    let half = Span(C.0 / 2);
    let vcs = [
        ("v0", "a", true, 512, C * 60),
        ("v1", "b", true, 512, C * 71 + half),
        ("v2", "c", false, 2_000, C * 5),
    ];
    for (name, from, is_one, size, start) in vcs {
        let stop = is_one.then_some(start + Span(1));
        let frames = datagrams(size);
        net.vcs.push(Vc {
            start,
            stop,
            ..to_d(name, from, Class::Ubr, frames)
        });
    }
    for (order, offset) in [
        (TieOrder::Fixed, 0),
        (TieOrder::Rotating, 0),
        (TieOrder::Rotating, 1),
        (TieOrder::Fair, 0),
    ] {
        (net.tie_order, net.tie_offset) = (order, offset);
        both_orders_agree(net.clone());
    }
}

/// Frames of two sources begin together. At each threshold, either can be the first that is
/// refused.
#[test]
fn of_two_frames_that_begin_together_the_second_finds_one_cell_more() {
    for threshold in 1..30 {
        let epd = build::epd(threshold);
        let duration = ms(1);
        let mut net = build::dumbbell(2, C * 40, duration, Some(500), epd, |_| datagrams(400));
        for offset in [0, 1] {
            net.tie_offset = offset;
            both_orders_agree(net.clone());
        }
    }
}

/// Cells come closer together than the port sends them. The first comes less than one cell time of
/// the port after the beginning.
#[test]
fn a_series_begins_in_the_first_cell_time_of_all() {
    let mut net = build::network(ms(5));
    net.hosts = ["a", "b"].map(build::host).into();
    net.switches = vec![build::switch("s", None, DropPolicy::TailDrop)];
    net.links = build::links("a", "s", build::OC3, C * 5).into();
    let slow = BitRate(build::OC3.0 / 12);
    net.links.extend(build::links("s", "b", slow, C * 5));
    let traffic = build::tcp_of(512);
    net.vcs = vec![build::vc("v", "a", "b", &["s"], Class::Ubr, traffic)];
    both_orders_agree(net);
}
