//! Random networks of ABR end systems whose VCs cross one to three trunks. Delays and starts differ
//! by VC, and runs end at any tick.

use super::abr;
use super::build;
use super::build::{ms, us};
use super::random::Case;
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A trunk: a link between two switches.
#[derive(Clone, Copy, Debug)]
pub struct Trunk {
    rate: BitRate,
    delay: Span,
}

/// A VC between two hosts that no other VC uses.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Whether the VC sends TCP segments instead of UDP datagrams.
    is_tcp: bool,
    /// The first trunk on the path, and the number of trunks to cross. The end of the chain may
    /// shorten the path.
    first: usize,
    trunks: usize,
    /// Delay of the links of each host.
    delays: [Span; 2],
    start: Span,
}

/// ABR senders over a chain of trunks.
#[derive(Clone, Debug)]
pub struct Trunks {
    feedback: Feedback,
    abr: AbrParams,
    trunks: Vec<Trunk>,
    senders: Vec<Sender>,
    /// Delay of TCP ACKs, and rate of the UDP sources.
    delayed_ack: Option<Span>,
    udp: BitRate,
    /// Cells of a higher class over the first trunk: the times for which they are on and off.
    above: Option<(Span, Span)>,
    buffer: Option<u64>,
    /// Run time beyond six times the longest delay.
    lasts: Span,
}

impl Trunks {
    /// Builds the network.
    pub fn case(&self, arrival_first: bool) -> Case {
        let delays = self.senders.iter().flat_map(|sender| sender.delays);
        let longest = delays.max().unwrap_or(Span::ZERO);
        let mut net = build::network(self.lasts + longest * 6);
        net.arrival_first = arrival_first;
        let switches: Vec<String> = (0..=self.trunks.len()).map(|i| format!("s{i}")).collect();
        let switch = |name: &String| build::switch(name, self.buffer, DropPolicy::TailDrop);
        net.switches = switches.iter().map(switch).collect();
        for (ends, trunk) in switches.windows(2).zip(&self.trunks) {
            let links = build::links(&ends[0], &ends[1], trunk.rate, trunk.delay);
            net.links.extend(links);
        }
        for (i, sender) in self.senders.iter().enumerate() {
            let first = sender.first % self.trunks.len();
            let last = (first + sender.trunks).min(self.trunks.len());
            let traffic = match sender.is_tcp {
                true => Traffic::Tcp(Box::new(self.tcp())),
                false => Traffic::Udp(self.udp()),
            };
            let vc = self.join(&mut net, i, &switches[first..=last], sender.delays);
            net.vcs.push(Vc {
                class: Class::Abr,
                abr: Some(self.abr),
                start: sender.start,
                traffic,
                ..vc
            });
        }
        if let Some((on, off)) = self.above {
            let vc = self.join(
                &mut net,
                self.senders.len(),
                &switches[..2],
                [Span::ZERO; 2],
            );
            net.vcs.push(Vc {
                class: Class::Vbr,
                traffic: build::vbr(BitRate(self.trunks[0].rate.0 / 3 * 2), on, off),
                ..vc
            });
        }
        abr::tell(&mut net, self.feedback);
        Case::of(net)
    }

    /// Adds two hosts at the ends of `route`, and returns a VC from one to the other.
    fn join(&self, net: &mut Scenario, number: usize, route: &[String], delays: [Span; 2]) -> Vc {
        let hosts = [format!("a{number}"), format!("b{number}")];
        let ends = [&route[0], &route[route.len() - 1]];
        for ((host, switch), delay) in hosts.iter().zip(ends).zip(delays) {
            let links = build::links(host, switch, build::OC3, delay);
            net.links.extend(links);
        }
        let route: Vec<&str> = route.iter().map(String::as_str).collect();
        let none = Traffic::Cbr { rate: BitRate(1) };
        let name = format!("v{number}");
        let vc = build::vc(&name, &hosts[0], &hosts[1], &route, Class::Ubr, none);
        net.hosts.extend(hosts.map(build::host));
        vc
    }

    fn tcp(&self) -> TcpParams {
        TcpParams {
            mss: 1_460,
            initial_window: 20,
            delayed_ack: self.delayed_ack,
            ..build::tcp()
        }
    }

    fn udp(&self) -> UdpParams {
        UdpParams {
            datagram_size: 2_000,
            rate: self.udp,
            on: None,
            off: Span::ZERO,
        }
    }
}

fn microseconds(least: u64, most: u64) -> impl Strategy<Value = Span> {
    (least..most).prop_map(us)
}

fn end_systems() -> impl Strategy<Value = AbrParams> {
    let rates = (
        option::weighted(0.3, 20u64..150),
        option::weighted(0.5, 1u64..=10),
        option::weighted(0.3, 0u64..10),
    );
    let counts = (
        1u32..=6,
        prop_oneof![Just(16_777_215u64), 10..2_000u64],
        1u64..5_000,
        any::<bool>(),
    );
    (rates, counts).prop_map(|((pcr, icr, mcr), (nrm, tbe, trm, coded))| {
        let mbps = |n: u64| BitRate(n * 1_000_000);
        AbrParams {
            pcr: pcr.map(mbps),
            icr: icr.map(|n| mbps(n * 2)),
            mcr: mcr.map(mbps),
            nrm: 1 << nrm,
            tbe,
            trm: us(trm * 10),
            rates: if coded {
                RmRates::Coded
            } else {
                RmRates::Exact
            },
            ..abr::usual()
        }
    })
}

/// Random feedback. In half of the networks, an ERICA whose answers to one VC raise what others get
/// in the next interval.
fn feedback() -> impl Strategy<Value = Feedback> {
    let remembers = (7u64..=10, 1u64..=5, microseconds(50, 1_500), any::<bool>());
    let remembers = remembers.prop_map(|(target, delta, interval, for_mcr)| {
        let erica = EricaParams {
            target: Ratio::new(target, 10),
            delta: Ratio::new(delta, 10),
            interval,
            ..abr::erica()
        };
        match for_mcr {
            true => Feedback::EricaMcr(erica),
            false => Feedback::Erica(erica),
        }
    });
    prop_oneof![abr::feedback(build::OC3.0), remembers]
}

/// Random networks that end at any tick.
pub fn trunks() -> impl Strategy<Value = Trunks> {
    let delay = || prop_oneof![microseconds(0, 30), microseconds(30, 3_000)];
    let rate = prop_oneof![
        Just(build::OC3),
        (1u64..4).prop_map(|n| BitRate(build::OC3.0 / n))
    ];
    let trunk = (rate, delay()).prop_map(|(rate, delay)| Trunk { rate, delay });
    let delays = prop_oneof![Just([us(5); 2]), [delay(), delay()]];
    let start = prop_oneof![Just(Span::ZERO), microseconds(0, 3_000)];
    let sender = (
        prop::bool::weighted(0.4),
        0usize..3,
        1usize..=3,
        delays,
        start,
    );
    let sender = sender.prop_map(|(is_tcp, first, trunks, delays, start)| Sender {
        is_tcp,
        first,
        trunks,
        delays,
        start,
    });
    let parts = (
        option::weighted(0.3, microseconds(10, 2_000)),
        prop_oneof![2 => Just(build::OC3), 1 => (1u64..150).prop_map(|n| BitRate(n * 1_000_000))],
        option::weighted(0.3, (microseconds(100, 5_000), microseconds(100, 5_000))),
        option::weighted(0.3, 20u64..2_000),
        (ms(3).0..ms(20).0).prop_map(Span),
    );
    let shape = (vec(trunk, 1..=3), vec(sender, 1..=6));
    (feedback(), end_systems(), shape, parts).prop_map(
        |(feedback, abr, (trunks, senders), (delayed_ack, udp, above, buffer, lasts))| Trunks {
            feedback,
            abr,
            trunks,
            senders,
            delayed_ack,
            udp,
            above,
            buffer,
            lasts,
        },
    )
}
