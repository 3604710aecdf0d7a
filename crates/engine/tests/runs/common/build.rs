//! Builders of scenarios with the defaults of the model.

use cellyard_engine::format::Format;
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::prelude::*;

/// Rate of OC-3, 155.52 Mb/s.
pub const OC3: BitRate = BitRate(155_520_000);

/// Milliseconds.
pub fn ms(n: u64) -> Span {
    Span::from_milliseconds(n)
}

/// Microseconds.
pub fn us(n: u64) -> Span {
    Span::from_microseconds(n)
}

/// An empty network.
pub fn network(duration: Span) -> Scenario {
    Scenario {
        name: "test".into(),
        seed: 1,
        format: Format::AAL5,
        duration,
        tie_order: TieOrder::Rotating,
        tie_offset: 0,
        arrival_first: true,
        timer_phase: Span::ZERO,
        timers: Timers::Common,
        ensemble: Ensemble {
            start_jitter: Span::ZERO,
            timer_phase: false,
            tie_offset: false,
            vbr_phase: false,
        },
        measure: Measure {
            warm_up: Span::ZERO,
            window: None,
            max_goodput: None,
        },
        hosts: Vec::new(),
        switches: Vec::new(),
        links: Vec::new(),
        vcs: Vec::new(),
        probes: Vec::new(),
    }
}

pub fn host(name: impl Into<String>) -> Host {
    Host {
        name: name.into(),
        processing: None,
    }
}

/// A switch with one policy and buffer for all classes.
pub fn switch(name: impl Into<String>, buffer: Option<u64>, drop: DropPolicy) -> Switch {
    let rest_of_frame = match drop {
        DropPolicy::Ppd => RestOfFrame::DropButEom,
        _ => RestOfFrame::Accept,
    };
    Switch {
        name: name.into(),
        processing: None,
        scheduler: Scheduler::StrictPriority,
        pool: None,
        queues: Class::ALL
            .map(|class| ClassQueue {
                class,
                buffer: buffer.map(Size::Cells),
                reserve: None,
                alpha: None,
                police: None,
                feedback: None,
                drop: drop.clone(),
                rest_of_frame,
            })
            .into(),
    }
}

pub fn link(from: &str, to: &str, rate: BitRate, delay: Span) -> Link {
    Link {
        name: format!("{from}-{to}"),
        from: from.into(),
        to: to.into(),
        rate,
        changes: Vec::new(),
        delay,
        lose_frames: Vec::new(),
        lose_probability: Ratio::new(0, 1),
        scheduler: None,
        queues: Vec::new(),
    }
}

/// The two links between `a` and `b`.
pub fn links(a: &str, b: &str, rate: BitRate, delay: Span) -> [Link; 2] {
    [link(a, b, rate, delay), link(b, a, rate, delay)]
}

pub fn vc(name: &str, from: &str, to: &str, route: &[&str], class: Class, traffic: Traffic) -> Vc {
    Vc {
        name: name.into(),
        from: from.into(),
        to: to.into(),
        route: route.iter().map(|&s| s.into()).collect(),
        class,
        weight: 1,
        guarantee: None,
        start: Span::ZERO,
        stop: None,
        contract: None,
        abr: None,
        shape: None,
        traffic,
    }
}

/// Records `what` of the port or VC `of`, for all classes and VCs there.
pub fn probe(what: Observable, of: &str, interval: Option<Span>) -> Probe {
    Probe {
        interval,
        ..Probe::new(what, of)
    }
}

/// A TCP of the first study's LAN: MSS 512 bytes, 64K window, 100 ms timer.
pub fn tcp() -> TcpParams {
    TcpParams {
        recovery: Recovery::Vanilla,
        ..TcpParams::default()
    }
}

/// Cells at equal distances.
pub fn cbr(rate: BitRate) -> Traffic {
    Traffic::Cbr { rate }
}

/// Cells at random distances.
pub fn poisson(rate: BitRate) -> Traffic {
    Traffic::Poisson { rate }
}

/// Bursts of cells with pauses.
pub fn vbr(rate: BitRate, on: Span, off: Span) -> Traffic {
    Traffic::Vbr { rate, on, off }
}

/// Datagrams without a pause.
pub fn datagrams(datagram_size: u64, rate: BitRate) -> Traffic {
    Traffic::Udp(UdpParams {
        datagram_size,
        rate,
        on: None,
        off: Span::ZERO,
    })
}

/// Tail drop without a buffer; with one, a policy that counts cells by VC or one that does not.
pub fn policy(counts: bool, buffer: Option<u64>) -> DropPolicy {
    match (counts, buffer) {
        (_, None) => DropPolicy::TailDrop,
        (true, Some(cells)) => DropPolicy::SelectiveDrop {
            r: Threshold::Cells(cells / 2),
            z: Ratio::new(6, 5),
        },
        (false, Some(_)) => DropPolicy::Epd {
            threshold: None,
            reserve: Some(Threshold::Cells(15)),
        },
    }
}

/// Endless data in segments of this size.
pub fn tcp_of(mss: u64) -> Traffic {
    Traffic::Tcp(Box::new(TcpParams { mss, ..tcp() }))
}

/// EPD with a threshold in cells.
pub fn epd(threshold: u64) -> DropPolicy {
    DropPolicy::Epd {
        threshold: Some(Threshold::Cells(threshold)),
        reserve: None,
    }
}

/// The first study's network: `sources` hosts a0, a1, ... send to as many hosts b0, b1, ... over
/// the switches s and t. All links are equal.
pub fn dumbbell(
    sources: usize,
    delay: Span,
    duration: Span,
    buffer: Option<u64>,
    drop: DropPolicy,
    traffic: impl Fn(usize) -> Traffic,
) -> Scenario {
    let mut net = network(duration);
    net.switches = ["s", "t"]
        .map(|name| switch(name, buffer, drop.clone()))
        .into();
    for i in 0..sources {
        let (a, b) = (format!("a{i}"), format!("b{i}"));
        net.hosts.extend([host(&a), host(&b)]);
        net.links.extend(links(&a, "s", OC3, delay));
        net.links.extend(links("t", &b, OC3, delay));
        let name = format!("vc{i}");
        net.vcs
            .push(vc(&name, &a, &b, &["s", "t"], Class::Ubr, traffic(i)));
    }
    net.links.extend(links("s", "t", OC3, delay));
    net
}

/// A network whose middle link is twice as fast as all others.
///
/// Hosts a and b are at switch s, c and d at t. Cells of a and b reach t faster than t can send
/// them to d. The links of a and b have the delay `near`, all others `far`.
pub fn fast_between(near: Span, far: Span, duration: Span) -> Scenario {
    let mut net = network(duration);
    net.hosts = ["a", "b", "c", "d"].map(host).into();
    net.switches = ["s", "t"]
        .map(|name| switch(name, None, DropPolicy::TailDrop))
        .into();
    for (from, to, delay) in [
        ("a", "s", near),
        ("b", "s", near),
        ("c", "t", far),
        ("t", "d", far),
    ] {
        net.links.extend(links(from, to, OC3, delay));
    }
    let fast = BitRate(2 * OC3.0);
    net.links.extend(links("s", "t", fast, far));
    net
}

/// Index of the link from `from` to `to`.
pub fn index_of(scenario: &Scenario, from: &str, to: &str) -> usize {
    let found = |l: &Link| l.from == from && l.to == to;
    scenario.links.iter().position(found).expect("a link")
}

/// Every order at ties.
pub fn tie_orders() -> impl Strategy<Value = TieOrder> {
    prop_oneof![
        3 => Just(TieOrder::Fair),
        3 => Just(TieOrder::Rotating),
        1 => Just(TieOrder::Fixed),
        1 => Just(TieOrder::Random),
    ]
}
