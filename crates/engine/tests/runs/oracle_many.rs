//! Compares engine and twin in networks larger than the usual random ones.
//!
//! If very many sources share a link, distant arrivals are kept in buckets, and cells of many
//! VCs are chosen together.

use crate::common;
use crate::common::build::{ms, us};
use crate::common::engines::{agrees, both_orders_agree};
use crate::common::random::{self, Case};
use crate::common::{build, ports};
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;

/// A cell time at 155.52 Mb/s.
const C: Span = Span(68_900_000);

/// One of many senders: its traffic, and when it begins.
#[derive(Clone, Debug)]
struct Sender {
    kind: Kind,
    /// Rate in thousandths of an equal share of the link.
    part: u64,
    /// Slowdown of the sender's own link, and the cells of a burst.
    slower: u64,
    burst: u64,
    start: Span,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Regular,
    Bursts,
    Datagrams,
    Tcp,
}

fn sender() -> impl Strategy<Value = Sender> {
    let kind = prop_oneof![
        7 => Just(Kind::Regular),
        1 => Just(Kind::Bursts),
        1 => Just(Kind::Datagrams),
        1 => Just(Kind::Tcp),
    ];
    let start = prop_oneof![
        1 => (0u64..300).prop_map(|cells| C * cells),
        3 => (0..300 * C.0).prop_map(Span),
    ];
    let slower = prop_oneof![1 => Just(1u64), 1 => 1u64..20];
    (kind, 200u64..2_500, slower, 3u64..60, start).prop_map(|(kind, part, slower, burst, start)| {
        Sender {
            kind,
            part,
            slower,
            burst,
            start,
        }
    })
}

impl Sender {
    fn traffic(&self, count: usize, mss: u64) -> Traffic {
        let rate = BitRate(build::OC3.0 * self.part / (1_000 * count as u64));
        match self.kind {
            Kind::Regular => Traffic::Cbr { rate },
            Kind::Bursts => build::vbr(
                BitRate(build::OC3.0 / self.slower),
                C * self.burst * self.slower,
                C * self.burst * count as u64,
            ),
            Kind::Datagrams => build::datagrams(mss, rate),
            Kind::Tcp => Traffic::Tcp(Box::new(TcpParams {
                mss,
                rwnd: 10 * mss,
                ..build::tcp()
            })),
        }
    }
}

/// Senders of which a percentage share one rate, a cell time apart or in phase.
fn senders() -> impl Strategy<Value = Vec<Sender>> {
    let alike = prop_oneof![2 => Just(0u64), 1 => 20..100u64];
    (prop::collection::vec(sender(), 66..200), alike, 1u64..8).prop_map(
        |(mut senders, alike, steps)| {
            for (i, sender) in (0u64..).zip(&mut senders) {
                if i * 53 % 100 < alike {
                    sender.part = 1_000;
                    sender.start = C * (i % steps);
                }
            }
            senders
        },
    )
}

fn policy(buffer: Option<u64>) -> impl Strategy<Value = DropPolicy> {
    prop_oneof![
        3 => Just(DropPolicy::TailDrop),
        1 => Just(build::policy(false, buffer.or(Some(0)))),
        2 => Just(build::policy(true, buffer.or(Some(0)))),
        1 => ports::rate_policy(buffer),
        2 => ports::red_policy(buffer),
    ]
}

fn scheduler() -> impl Strategy<Value = Scheduler> {
    let unit = random::unit();
    let class = Class::Ubr;
    prop_oneof![
        4 => Just(Scheduler::StrictPriority),
        1 => (1u64..10).prop_map(move |n| Scheduler::GuaranteedRate { class, gr: Ratio::new(n, 10) }),
        1 => Just(Scheduler::Fifo),
        3 => unit.prop_map(move |unit| Scheduler::PerVc { class, unit }),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let queue = prop_oneof![1 => Just(None), 3 => (20u64..400).prop_map(Some)]
        .prop_flat_map(|buffer| (Just(buffer), policy(buffer)));
    let ties = (build::tie_orders(), 0u64..300);
    let classes = prop_oneof![2 => Just(0u64), 1 => 1..100u64];
    let shape = (
        prop_oneof![3 => Just(1u64), 1 => 2..4u64],
        0u64..60,
        prop_oneof![Just(512u64), 300..3_000u64],
    );
    (
        senders(),
        queue,
        scheduler(),
        ties,
        any::<bool>(),
        classes,
        shape,
    )
        .prop_map(
            |(senders, (buffer, drop), scheduler, ties, arrival_first, percent, shape)| {
                let (port_slower, delay, mss) = shape;
                let count = senders.len();
                let delay = us(delay);
                let duration = C * 2_500 + delay * 4;
                let traffic = |i: usize| senders[i].traffic(count, mss);
                let mut net = build::dumbbell(count, delay, duration, buffer, drop, traffic);
                for switch in &mut net.switches {
                    switch.scheduler = scheduler.clone();
                }
                for (i, (vc, sender)) in net.vcs.iter_mut().zip(&senders).enumerate() {
                    vc.start = sender.start;
                    vc.weight = 1 + i as u64 % 3;
                    vc.guarantee = (i % 5 == 0).then_some(BitRate(100_000 * (1 + i as u64 % 7)));
                    vc.contract = Some(Contract {
                        pcr: None,
                        cdvt: C,
                        scr: None,
                        mcr: Some(BitRate(build::OC3.0 / count as u64)),
                        mbs: None,
                        mfs: None,
                    });
                    if (i as u64 * 37) % 100 < percent {
                        vc.class = Class::Vbr;
                    }
                    let own = net.links.iter_mut().find(|link| link.from == vc.from);
                    own.expect("it has one").rate.0 /= sender.slower;
                }
                let link = build::index_of(&net, "s", "t");
                net.links[link].rate.0 /= port_slower;
                (net.tie_order, net.tie_offset) = ties;
                net.arrival_first = arrival_first;
                Case::of(net)
            },
        )
}

proptest! {
    #![proptest_config(common::config(80))]

    #[test]
    fn engine_agrees_with_the_twin_on_many_senders(case in cases()) {
        agrees(&case)?;
    }
}

proptest! {
    #![proptest_config(common::config(100))]

    /// More ports than one scan covers, more feeding ports than are asked for progress, and longer
    /// paths.
    #[test]
    fn engine_agrees_with_the_twin_on_larger_networks(case in random::networks(2_000, 8, 14)) {
        agrees(&case)?;
    }
}

/// Cells that wait for hours. The ages of the cells that the port could send in one step have a sum
/// beyond 64 bits.
#[test]
fn sums_of_ages_do_not_overflow() {
    let delay = ms(3_000_000);
    let cells = |_| Traffic::Cbr { rate: build::OC3 };
    let mut net = build::dumbbell(2, delay, delay * 4, None, DropPolicy::TailDrop, cells);
    for vc in &mut net.vcs {
        vc.stop = Some(C * 4_000);
    }
    both_orders_agree(net);
}
