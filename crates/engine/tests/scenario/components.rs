//! Random components of scenarios, from which `round_trip.rs` makes networks.

use crate::drawn::{Scale, choice, component};
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Ratio, Span};
use proptest::option;
use proptest::prelude::*;
use proptest::sample;
use serde_json::json;

pub fn span(most_ms: u64) -> impl Strategy<Value = Span> {
    let ticks = Span::from_milliseconds(most_ms).0;
    prop_oneof![
        (1..=ticks).prop_map(Span),
        (1..=most_ms).prop_map(Span::from_milliseconds),
        (1..=most_ms * 1_000).prop_map(Span::from_microseconds),
    ]
}

pub fn fraction() -> impl Strategy<Value = Ratio> {
    prop_oneof![
        Just(Ratio::new(0, 1)),
        (1u64..10).prop_map(|n| Ratio::new(n, 10)),
        (1u64..1_000, 1_000u64..1_000_000).prop_map(|(n, d)| Ratio::new(n, d)),
    ]
}

pub fn threshold() -> impl Strategy<Value = Threshold> {
    prop_oneof![
        (0u64..=1_000).prop_map(Threshold::Cells),
        fraction().prop_map(Threshold::Fraction),
    ]
}

/// A program with parameters of every kind.
fn program() -> impl Strategy<Value = DropPolicy> {
    let parameters = (
        0u64..1_000,
        fraction(),
        fraction(),
        0u64..10_000_000,
        1u64..1_000_000_000,
    );
    let options = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        option::of(threshold()),
    );
    (parameters, options).prop_map(|((r, z, part, time, rate), (short, cells, tags, below))| {
        let short_form = "X > R and Y * N > Z * X and X > F and now > T and MCR < C";
        let statements = format!("if {short_form} {{\n    refuse\n}}\n");
        let record = json!({
            "refuse": short.then_some(short_form), "program": (!short).then_some(statements),
            "asked": if cells { "cells" } else { "frames" }, "export_tag": tags, "never_below": below,
            "R": { "cells": r }, "Z": { "number": z }, "F": { "fraction": part },
            "T": { "time": time }, "C": { "rate": rate },
        });
        DropPolicy::Program(serde_json::from_value(record).expect("the program is right"))
    })
}

/// Usual values for a queue of `buffer` cells.
fn scale(buffer: Option<u64>) -> Scale {
    Scale {
        buffer,
        cell: 1_000_000,
        is_wide: false,
    }
}

/// A contract that satisfies any queue.
pub fn contract() -> impl Strategy<Value = Contract> {
    let rates = (option::of(1_000u64..1_000_000), 1u64..=1_000, any::<bool>());
    let cells = option::of(2_000u64..100_000);
    (rates, span(10), cells, option::of(2_000u64..3_000)).prop_map(
        |((pcr, rate, variable), cdvt, mbs, mfs)| Contract {
            pcr: pcr.map(BitRate),
            cdvt,
            scr: variable.then_some(BitRate(rate)),
            mcr: (!variable).then_some(BitRate(rate)),
            mbs,
            mfs,
        },
    )
}

/// Queues of some classes, most urgent first.
pub fn queues() -> impl Strategy<Value = Vec<ClassQueue>> {
    let queue = option::of(1_000u64..10_000).prop_flat_map(|buffer| {
        let policy = component(Family::Drop, scale(buffer), |_| true);
        (
            Just(buffer),
            option::of(component(Family::Police, scale(buffer), |_| true)),
            prop_oneof![14 => policy, 1 => program().boxed()],
            option::of(component(Family::Feedback, scale(buffer), |_| true)),
            choice(Family::Queue, "queue", "rest_of_frame"),
        )
    });
    prop::collection::vec(option::of(queue), 5).prop_map(|all| {
        let of_class = |(class, queue): (Class, Option<_>)| {
            let (buffer, police, drop, feedback, rest_of_frame): (_, _, _, Option<Feedback>, _) =
                queue?;
            Some(ClassQueue {
                class,
                buffer,
                police,
                drop,
                feedback: feedback.filter(|_| class == Class::Abr),
                rest_of_frame,
            })
        };
        Class::ALL
            .into_iter()
            .zip(all)
            .filter_map(of_class)
            .collect()
    })
}

pub fn class() -> impl Strategy<Value = Class> {
    prop::sample::select(Class::ALL.to_vec())
}

pub fn unit() -> impl Strategy<Value = ProcessingUnit> {
    prop_oneof![Just(ProcessingUnit::Cell), Just(ProcessingUnit::Frame)]
}

/// A program that schedules, with and without each optional text.
fn ranking() -> impl Strategy<Value = Scheduler> {
    (option::of(class()), any::<bool>(), any::<bool>()).prop_map(|(class, arrives, serves)| {
        let record = json!({
            "class": class,
            "state": (arrives || serves).then_some("vc state S = 0"),
            "arrive": arrives.then_some("S = max(S, 1)"),
            "served": serves.then_some("S = S + 1"),
            "rank": if arrives || serves { "S + T" } else { "number + T" },
            "T": { "time": 1_000 },
        });
        Scheduler::Program(serde_json::from_value(record).expect("the program is right"))
    })
}

pub fn scheduler() -> impl Strategy<Value = Scheduler> {
    prop_oneof![4 => component(Family::Scheduler, scale(None), |_| true), 1 => ranking().boxed()]
}

pub fn processing(
    per: impl Strategy<Value = ProcessingUnit>,
) -> impl Strategy<Value = Option<Processing>> {
    let kind = prop_oneof![Just(ProcessingKind::Server), Just(ProcessingKind::Latency)];
    option::of((kind, per, 1u64..1_000_000, 0u64..1_000_000).prop_map(
        |(kind, per, mean, spread)| Processing {
            kind,
            per,
            mean: Span(mean),
            spread: Span(spread.min(mean)),
        },
    ))
}

/// TCP parameters with random times; the rest are defaults.
pub fn timers() -> impl Strategy<Value = TcpParams> {
    let timer = || span(1_000).prop_map(|t| Span(t.0.max(Span::from_microseconds(1).0)));
    let estimator = choice(Family::Traffic, "tcp", "estimator");
    (timer(), timer(), timer(), option::of(timer()), estimator).prop_map(
        |(granularity, min_rto, initial_rto, delayed_ack, estimator)| TcpParams {
            // The smallest RTO must be at least one tick.
            granularity: Span(granularity.0.min(min_rto.0)),
            min_rto,
            initial_rto,
            delayed_ack,
            estimator,
            ..TcpParams::default()
        },
    )
}

/// TCP parameters with random recovery options; the rest are defaults.
pub fn recovery() -> impl Strategy<Value = TcpParams> {
    let recovery = choice(Family::Traffic, "tcp", "recovery");
    let options = (1u32..=1_000, 1u32..=4, any::<bool>(), any::<bool>());
    (recovery, options).prop_map(|(recovery, (dupacks, blocks, rfc6675, nothing))| {
        let mut tcp = TcpParams {
            recovery,
            ..TcpParams::default()
        };
        if recovery != Recovery::Vanilla {
            tcp.dupack_threshold = dupacks;
        }
        if recovery == Recovery::Sack {
            tcp.sack_blocks = blocks;
            tcp.sack_pipe = [SackPipe::Counter, SackPipe::Rfc6675][usize::from(rfc6675)];
        }
        if recovery == Recovery::Reno && nothing {
            tcp.reno_fast_retransmit = RenoFastRetransmit::Nothing;
            tcp.reno_window = RenoWindow::BsdLite2;
        }
        tcp
    })
}

pub fn tcp() -> impl Strategy<Value = Traffic> {
    let sizes = (
        1u64..=65_487,
        65_487u64..10_000_000,
        1u64..1_000,
        option::of(1u64..1 << 30),
        option::of((
            1u64..1 << 40,
            option::of(1u64..=1_000_000_000),
            span(1_000),
            any::<bool>(),
        )),
    );
    let own = processing(Just(ProcessingUnit::Frame));
    (recovery(), timers(), sizes, own).prop_map(|(recovery, timers, sizes, processing)| {
        let (mss, rwnd, initial_window, initial_ssthresh, files) = sizes;
        let default = TcpParams::default();
        let (file_size, files, file_gap, other) = match files {
            Some((size, files, gap, other)) => (Some(size), files, gap, other),
            None => (None, default.files, default.file_gap, false),
        };
        Traffic::Tcp(Box::new(TcpParams {
            profile: [Profile::Year1996, Profile::Linux][usize::from(mss % 2 == 0)],
            mss,
            rwnd,
            initial_window,
            initial_ssthresh,
            granularity: timers.granularity,
            min_rto: timers.min_rto,
            initial_rto: timers.initial_rto,
            estimator: timers.estimator,
            delayed_ack: timers.delayed_ack,
            delayed_ack_phase: [TickPhase::Zero, TickPhase::Timer][usize::from(other)],
            file_size,
            files,
            file_gap,
            next_file: [NextFile::NewConnection, NextFile::SameConnection][usize::from(other)],
            handshake: other,
            both_ways: other,
            processing,
            ..recovery
        }))
    })
}

pub fn udp() -> impl Strategy<Value = Traffic> {
    let bursts = option::of((span(500), span(500)));
    (1u64..=65_499, 1u64..=1_000_000, bursts).prop_map(|(datagram_size, rate, bursts)| {
        let mut udp = UdpParams {
            datagram_size,
            rate: BitRate(rate),
            on: bursts.map(|(on, _)| on),
            off: Span::ZERO,
        };
        if let Some((on, pause)) = bursts {
            // Leave room for the last frame of a burst.
            let frame = u128::from(8 * udp.frame(Format::AAL5).line_bytes())
                * u128::from(Clock::AAL5.ticks_per_second);
            let frames = (u128::from(on.0) * u128::from(rate)).div_ceil(frame);
            let needed = (frames * frame).div_ceil(u128::from(rate)) as u64;
            udp.off = Span(needed.saturating_sub(on.0) + pause.0);
        }
        Traffic::Udp(udp)
    })
}

pub fn traffic() -> impl Strategy<Value = Traffic> {
    let rate = || (1u64..=1_000_000).prop_map(BitRate);
    prop_oneof![
        3 => tcp(),
        1 => rate().prop_map(|rate| Traffic::Cbr { rate }),
        1 => rate().prop_map(|rate| Traffic::Poisson { rate }),
        1 => (rate(), span(500), span(500)).prop_map(|(rate, on, pause)| {
            // Leave room for the last cell of a burst.
            let cell = u128::from(Format::AAL5.cell_bits) * u128::from(Clock::AAL5.ticks_per_second);
            let cells = (u128::from(on.0) * u128::from(rate.0)).div_ceil(cell);
            let needed = (cells * cell).div_ceil(u128::from(rate.0)) as u64;
            let off = Span(needed.saturating_sub(on.0) + pause.0);
            Traffic::Vbr { rate, on, off }
        }),
        1 => udp(),
    ]
}

/// A one-way link between two nodes, with port settings if `port`.
pub fn link(from: String, to: String, port: bool) -> impl Strategy<Value = Link> {
    let losses = (prop::collection::vec(0u64..1_000, 0..4), fraction());
    let settings = (option::of(scheduler()), queues());
    (1_000_000u64..1_000_000_000, span(300), losses, settings).prop_map(
        move |(rate, delay, (lose_frames, lose_probability), (scheduler, queues))| Link {
            name: format!("{from}->{to}"),
            from: from.clone(),
            to: to.clone(),
            rate: BitRate(rate),
            delay,
            lose_frames,
            lose_probability,
            scheduler: scheduler.filter(|_| port).map(Box::new),
            queues: if port { queues } else { Vec::new() },
        },
    )
}

pub fn probes() -> impl Strategy<Value = Vec<Probe>> {
    let port = |what, class, vc, interval, every| Probe {
        class,
        vc,
        interval,
        every,
        ..Probe::new(what, "w->e")
    };
    let queue = (
        option::of(class()),
        any::<bool>(),
        option::of(span(100)),
        1u64..100,
    )
        .prop_map(move |(class, vc, interval, every)| {
            let vc = vc.then(|| "v0".to_string());
            let every = interval.is_none().then_some(every);
            port(Observable::Queue, class, vc, interval, every)
        });
    let share = (option::of(class()), span(100), any::<bool>()).prop_map(
        move |(class, interval, drops)| {
            let what = if drops {
                Observable::Drops
            } else {
                Observable::LinkShare
            };
            port(what, class, None, Some(interval), None)
        },
    );
    const SAMPLED_AT_PORT: &[Observable] = &[Observable::Credit, Observable::AverageQueue];
    let sampled = (sample::select(SAMPLED_AT_PORT), class(), 1u64..100).prop_map(
        move |(what, class, every)| {
            let class = (what == Observable::AverageQueue).then_some(class);
            port(what, class, None, None, Some(every))
        },
    );
    const SAMPLED_OF_VC: &[Observable] = &[
        Observable::Delivered,
        Observable::Cwnd,
        Observable::Ssthresh,
        Observable::Acknowledged,
        Observable::Flight,
        Observable::Rto,
        Observable::Acr,
        Observable::HostQueue,
    ];
    let of_vc = prop_oneof![
        1 => Just((Observable::Trace, None)),
        1 => Just((Observable::Sequence, None)),
        1 => Just((Observable::Rtt, None)),
        4 => (sample::select(SAMPLED_OF_VC), option::of(span(100))),
        1 => span(100).prop_map(|i| (Observable::Goodput, Some(i)))
    ];
    let of_vc = (of_vc, any::<bool>()).prop_map(|((what, interval), enveloped)| Probe {
        interval: interval.filter(|_| !enveloped || what == Observable::Goodput),
        envelope: interval.filter(|_| enveloped && what != Observable::Goodput),
        ..Probe::new(what, "v0")
    });
    const LAYERS: &[(Layer, &str)] = &[
        (Layer::Cells, "w->e"),
        (Layer::Frames, "w->e"),
        (Layer::Segments, "a0"),
    ];
    let window = [0u64..100, 100..200].map(|ms| option::of(ms.prop_map(Span::from_milliseconds)));
    let capture = (sample::select(LAYERS), any::<bool>(), window).prop_map(
        |((layer, of), vc, [from, to])| Probe {
            layer: Some(layer),
            vc: vc.then(|| "v0".to_string()),
            from,
            to,
            ..Probe::new(Observable::Capture, of)
        },
    );
    prop::collection::vec(
        prop_oneof![1 => queue, 1 => share, 1 => sampled, 4 => of_vc, 1 => capture],
        0..5,
    )
}
