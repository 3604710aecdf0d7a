//! Parts of the engine on their own: ns per operation.

use crate::cases::bottleneck_cells;
use crate::measure::timed;
use crate::networks::{Dumbbell, Place, TWO_HOPS, read};
use cellyard_engine::describe;
use cellyard_engine::scenario::{TcpParams, Traffic};
use cellyard_engine::testing::{EventList, Kind};
use cellyard_engine::testing::{Receiver, SegmentOutcome, Sender};
use cellyard_engine::units::{Span, Time};
use std::hint::black_box;

/// One part.
pub struct Part {
    /// Name on the command line and in the table.
    pub name: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// Longest time of an operation, ns.
    pub goal: f64,
    /// Operations of one run.
    pub operations: u64,
    work: fn(u64) -> u64,
}

impl Part {
    /// CPU time of an operation, ns.
    pub fn ns(&self) -> f64 {
        let (sum, seconds) = timed(|| (self.work)(black_box(self.operations)));
        black_box(sum);
        seconds * 1e9 / self.operations as f64
    }
}

/// The parts. At the speed aimed at for a LAN, 150 million cells per second, a frame of 12 cells takes 80 ns with all that
/// belongs to it: the first two goals are its halves.
pub const PARTS: [Part; 7] = [
    Part {
        name: "part-tcp",
        operation: "segment and ACK through receiver and sender",
        goal: 40.0,
        operations: 2_000_000,
        work: tcp_rounds,
    },
    Part {
        name: "part-events",
        operation: "event taken and another put in its place, 32 pending",
        goal: 40.0,
        operations: 2_000_000,
        work: event_list,
    },
    Part {
        name: "part-reading",
        operation: "scenario of 18 hosts read",
        goal: 1e6,
        operations: 200,
        work: reading,
    },
    Part {
        name: "part-reading-100",
        operation: "scenario of 200 hosts read",
        goal: 1e7,
        operations: 20,
        work: reading_many,
    },
    Part {
        name: "part-star-reading",
        operation: "scenario of 10 000 VCs read",
        goal: 5e7,
        operations: 3,
        work: |times| {
            (0..times)
                .map(|_| read(black_box(&star())).vcs.len() as u64)
                .sum()
        },
    },
    Part {
        name: "part-star-describing",
        operation: "the same described",
        goal: 3e8,
        operations: 3,
        work: |times| {
            let scenario = read(&star());
            let described = || {
                describe(black_box(&scenario))
                    .expect("it is checked")
                    .ports
                    .len()
            };
            (0..times).map(|_| described() as u64).sum()
        },
    },
    Part {
        name: "part-star-building",
        operation: "the same built, run for 1 us, and its results made",
        goal: 5e8,
        operations: 3,
        work: |times| {
            let scenario = read(&star());
            (0..times)
                .map(|_| bottleneck_cells(black_box(&scenario)))
                .sum()
        },
    },
];

/// 10 000 TCPs over one bottleneck, each with its own hosts and links, for a microsecond.
fn star() -> String {
    let link = |from, to| {
        format!("{{ from = \"{from}\", to = \"{to}\", rate = \"155.52 Mbps\", delay = \"5 us\" }}")
    };
    let links = [
        link("source", "west"),
        link("west", "east"),
        link("east", "sink"),
    ]
    .join(", ");
    format!(
        "duration = \"1 us\"\n\
         host = [{{ name = \"source\", count = 10000 }}, {{ name = \"sink\", count = 10000 }}]\n\
         switch = [{{ name = \"west\" }}, {{ name = \"east\" }}]\n\
         link = [{links}]\n\
         vc = [{{ from = \"source\", to = \"sink\", traffic = \"tcp\" }}]\n"
    )
}

fn lan_tcp() -> TcpParams {
    let scenario = Dumbbell::vanilla(Place::Lan, 1, None, "tail-drop").scenario();
    match &scenario.vcs[0].traffic {
        Traffic::Tcp(params) => TcpParams::clone(params),
        _ => unreachable!("the VC carries TCP"),
    }
}

/// A full window goes round: the oldest segment arrives, its ACK comes back, the sender answers.
fn tcp_rounds(rounds: u64) -> u64 {
    let params = lan_tcp();
    let mut sender = Sender::new(&params, Span::ZERO, Time::NEVER, (Time::ZERO, Time::NEVER));
    let mut receiver = Receiver::new(&params, Span::ZERO);
    let mut flying = std::collections::VecDeque::new();
    let mut sent = Vec::new();
    let mut news = SegmentOutcome::default();
    let mut now = Time::ZERO;
    sender.start(now, &mut sent);
    for _ in 0..rounds {
        flying.extend(sent.drain(..));
        now += Span::from_microseconds(33);
        let segment = flying.pop_front().expect("no segment is lost");
        let ack = receiver.on_segment(now, segment.seq, segment.len, &mut news);
        sender.on_ack(now, &ack.expect("ACKs are not delayed"), &mut sent);
    }
    news.delivered
}

fn event_list(operations: u64) -> u64 {
    let mut list = EventList::default();
    let mut x = 1u64;
    let mut step = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x & 0xffff_ffff
    };
    for vc in 0..32 {
        list.push(Time(step()), Kind::Delivered, vc);
    }
    for _ in 0..operations {
        let (now, kind, vc) = list.pop().expect("32 events are pending");
        list.push(now + Span(step()), kind, vc);
    }
    list.next_time().map_or(0, |time| time.0)
}

fn reading(times: u64) -> u64 {
    (0..times)
        .map(|_| read(black_box(TWO_HOPS)).vcs.len() as u64)
        .sum()
}

fn reading_many(times: u64) -> u64 {
    let network = Dumbbell::vanilla(Place::Lan, 100, Some(1_000), "epd");
    (0..times)
        .map(|_| black_box(network).scenario().vcs.len() as u64)
        .sum()
}
