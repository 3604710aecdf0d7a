//! Compares engine and twin where several classes share a link between nearby hosts. The scheduler
//! then decides ahead of time.

use crate::common;
use crate::common::build;
use crate::common::build::{ms, us};
use crate::common::engines::{agrees, tally};
use crate::common::random::Case;
use cellyard_engine::Kernel;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::DropReason;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Cells or frames of a higher class: their source, and the sender whose link they share, if any.
#[derive(Clone, Debug)]
struct Above {
    class: Class,
    traffic: Traffic,
    beside: Option<usize>,
}

fn above() -> impl Strategy<Value = Above> {
    let microseconds = |most: u64| (20..most).prop_map(us);
    let rate =
        prop_oneof![2 => Just(build::OC3), 3 => (5u64..150).prop_map(|n| BitRate(n * 1_000_000))];
    let traffic =
        (rate, 0..5, microseconds(4_000), microseconds(4_000)).prop_map(|(rate, kind, on, off)| {
            match kind {
                0 => Traffic::Cbr { rate },
                1 => Traffic::Poisson { rate },
                2 => Traffic::Udp(UdpParams {
                    datagram_size: 4_000,
                    rate,
                    on: Some(on),
                    off: off + ms(2),
                }),
                _ => Traffic::Vbr { rate, on, off },
            }
        });
    let class = prop::sample::select(vec![Class::Cbr, Class::Vbr, Class::Vbr]);
    (class, traffic, prop::option::weighted(0.2, 0usize..6)).prop_map(|(class, traffic, beside)| {
        Above {
            class,
            traffic,
            beside,
        }
    })
}

fn scheduler() -> impl Strategy<Value = Scheduler> {
    let class = || prop_oneof![4 => Just(Class::Ubr), 1 => Just(Class::Vbr)];
    let unit = prop_oneof![3 => Just(TurnUnit::Cell), 1 => Just(TurnUnit::Frame)];
    prop_oneof![
        1 => Just(Scheduler::StrictPriority),
        3 => (class(), unit).prop_map(|(class, unit)| Scheduler::PerVc { class, unit }),
        3 => (class(), 1u64..40).prop_map(|(class, n)| Scheduler::GuaranteedRate { class, gr: Ratio::new(n, 40) }),
    ]
}

fn policy() -> impl Strategy<Value = (Option<u64>, DropPolicy)> {
    (prop::option::of(20u64..900), 0..4).prop_map(|(buffer, which)| {
        let drop = match (buffer, which) {
            (None, _) | (_, 0) => DropPolicy::TailDrop,
            (_, 1..=2) => build::policy(which == 2, buffer),
            _ => DropPolicy::DropFromFront,
        };
        (buffer, drop)
    })
}

/// Weights and guarantees in Mb/s of VCs served one by one: the first VC has the first, and so on in
/// turns. Half of the time all have weight 1, and no guarantee.
fn shares() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let share = (1u64..4, prop_oneof![Just(0u64), 1u64..40]);
    prop_oneof![Just(vec![(1, 0)]), proptest::collection::vec(share, 1..4),]
}

/// TCPs or datagram sources over two switches, alongside cells of other classes.
fn cases() -> impl Strategy<Value = Case> {
    let senders = proptest::collection::vec(prop::option::weighted(0.2, 5u64..120), 1..6);
    let frames = (
        prop_oneof![Just(512u64), 300..4_000u64],
        0u64..40,
        2u64..60_000,
    );
    let order = (build::tie_orders(), 0u64..8, any::<bool>());
    let others = proptest::collection::vec(above(), 0..4);
    let scheduler = (scheduler(), shares());
    (senders, frames, others, policy(), scheduler, order).prop_map(
        |(
            senders,
            (mss, delay, apart),
            others,
            (buffer, drop),
            (scheduler, shares),
            (tie, offset, arrival_first),
        )| {
            let count = senders.len();
            let (delay, duration) = (us(delay), ms(25));
            let traffic = |i: usize| match senders[i] {
                Some(mbps) => build::datagrams(mss, BitRate(mbps * 1_000_000)),
                None => build::tcp_of(mss),
            };
            let by_vc = matches!(scheduler, Scheduler::PerVc { .. });
            // Pushing out a cell needs one front for all VCs.
            let drop = match drop {
                DropPolicy::DropFromFront if by_vc => DropPolicy::TailDrop,
                other => other,
            };
            let mut net = build::dumbbell(count, delay, duration, buffer, drop, traffic);
            for (i, vc) in net.vcs.iter_mut().enumerate() {
                vc.start = Span::from_nanoseconds(apart) * i as u64;
                if by_vc {
                    let (weight, mbps) = shares[i % shares.len()];
                    vc.weight = weight;
                    vc.guarantee = (mbps > 0).then_some(BitRate(mbps * 1_000_000));
                }
            }
            for switch in &mut net.switches {
                switch.scheduler = scheduler.clone();
            }
            for (i, above) in others.into_iter().enumerate() {
                let to = format!("d{i}");
                let from = match above.beside {
                    Some(sender) => format!("a{}", sender % count),
                    None => format!("c{i}"),
                };
                net.links.extend(build::links("t", &to, build::OC3, delay));
                net.hosts.push(build::host(&to));
                if above.beside.is_none() {
                    net.links
                        .extend(build::links(&from, "s", build::OC3, delay));
                    net.hosts.push(build::host(&from));
                }
                let name = format!("above{i}");
                let (class, traffic) = (above.class, above.traffic);
                net.vcs
                    .push(build::vc(&name, &from, &to, &["s", "t"], class, traffic));
            }
            (net.tie_order, net.tie_offset) = (tie, offset);
            net.arrival_first = arrival_first;
            Case::of(net)
        },
    )
}

proptest! {
    #![proptest_config(common::config(400))]

    #[test]
    fn engine_agrees_with_the_twin_on_classes_of_near_hosts(case in cases()) {
        agrees(&case)?;
    }
}

/// The random cases must include ports where several classes wait at once and some cells are lost.
#[test]
fn cells_of_several_classes_wait_at_once() {
    let mut runner = TestRunner::deterministic();
    let strategy = cases();
    let mut seen = [0usize; 2];
    for _ in 0..50 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let tally = tally(&case, Kernel::Auto, false).expect("the kernel is chosen");
        let ports = || tally.ports.iter().flatten();
        let both = ports().any(|port| {
            let waits = port.classes.iter().filter(|class| class.max_queue > 10);
            waits.count() > 1
        });
        let mut classes = ports().flat_map(|port| &port.classes);
        let reasons = [DropReason::Full, DropReason::Policy, DropReason::Front];
        let lost = classes.any(|class| reasons.iter().any(|&reason| class.dropped[reason] > 0));
        seen[0] += usize::from(both);
        seen[1] += usize::from(lost);
    }
    println!("{seen:?} of 50");
    assert!(seen.iter().all(|&n| n >= 5), "{seen:?}");
}
