//! What the reader makes of a scenario is written and read back as the same scenario, by TOML and by serde.

use crate::available::{end_systems, feedback};
use crate::red;
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{left_out, pushes_out};
use cellyard_engine::units::{BitRate, CELL_BITS, Ratio, Span, TICKS_PER_SECOND};
use proptest::option;
use proptest::prelude::*;
use proptest::sample;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

fn span(most_ms: u64) -> impl Strategy<Value = Span> {
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

fn threshold() -> impl Strategy<Value = Threshold> {
    prop_oneof![
        (0u64..=1_000).prop_map(Threshold::Cells),
        fraction().prop_map(Threshold::Fraction),
    ]
}

fn drop_policy() -> impl Strategy<Value = DropPolicy> {
    prop_oneof![
        Just(DropPolicy::TailDrop),
        Just(DropPolicy::Ppd),
        (option::of(threshold()), option::of(0u64..=1_000))
            .prop_map(|(threshold, reserve)| DropPolicy::Epd { threshold, reserve }),
        (threshold(), fraction()).prop_map(|(r, z)| DropPolicy::SelectiveDrop { r, z }),
        (threshold(), fraction(), option::of(10_000u64..20_000))
            .prop_map(|(r, z, k_fba)| DropPolicy::Fba { r, z, k_fba }),
        Just(DropPolicy::DropFromFront),
        Just(DropPolicy::FrameDropFromFront),
        red::policy(Some(1_000)),
        (threshold(), any::<bool>()).prop_map(|(threshold, export_tag)| DropPolicy::GcraEpd {
            threshold,
            export_tag
        }),
        (threshold(), any::<bool>(), any::<bool>()).prop_map(
            |(threshold, keep_credit, export_tag)| DropPolicy::GcraRoundRobin {
                threshold,
                keep_credit,
                export_tag
            }
        ),
        (threshold(), any::<bool>()).prop_map(|(threshold, export_tag)| {
            DropPolicy::GcraTwoThresholds {
                low: threshold,
                threshold,
                export_tag,
            }
        }),
        (threshold(), fraction(), fraction()).prop_map(|(low, z, alpha)| DropPolicy::Dfba {
            low,
            high: low,
            z,
            alpha
        }),
    ]
}

fn police() -> impl Strategy<Value = Police> {
    let action = || prop_oneof![Just(PoliceAction::Tag), Just(PoliceAction::Drop)];
    let form = prop_oneof![
        Just(GcraForm::LeakyBucket),
        Just(GcraForm::VirtualScheduling)
    ];
    prop_oneof![
        (action(), form).prop_map(|(action, form)| Police::Gcra { action, form }),
        action().prop_map(|action| Police::FGcra { action }),
    ]
}

/// A contract that any queue may ask for.
fn contract() -> impl Strategy<Value = Contract> {
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

fn rest_of_frame() -> impl Strategy<Value = RestOfFrame> {
    prop_oneof![
        Just(RestOfFrame::Accept),
        Just(RestOfFrame::DropButEom),
        Just(RestOfFrame::Drop)
    ]
}

/// Queues of some classes, most urgent first.
fn queues() -> impl Strategy<Value = Vec<ClassQueue>> {
    let buffer = option::of(1_000u64..10_000);
    let queue = (
        buffer,
        option::of(police()),
        drop_policy(),
        option::of(feedback()),
        rest_of_frame(),
    );
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

fn class() -> impl Strategy<Value = Class> {
    prop::sample::select(Class::ALL.to_vec())
}

fn unit() -> impl Strategy<Value = ProcessingUnit> {
    prop_oneof![Just(ProcessingUnit::Cell), Just(ProcessingUnit::Frame)]
}

fn scheduler() -> impl Strategy<Value = Scheduler> {
    let below_one = fraction().prop_filter("below 1", |r| r.num < r.den);
    prop_oneof![
        Just(Scheduler::Fifo),
        Just(Scheduler::StrictPriority),
        (class(), below_one).prop_map(|(class, gr)| Scheduler::GuaranteedRate { class, gr }),
        (class(), unit()).prop_map(|(class, unit)| Scheduler::PerVc { class, unit }),
    ]
}

fn processing(
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

/// The times that a TCP keeps, in parameters that are else the defaults.
fn timers() -> impl Strategy<Value = TcpParams> {
    let timer = || span(1_000).prop_map(|t| Span(t.0.max(Span::from_microseconds(1).0)));
    let estimator = prop::sample::select(vec![
        Estimator::Bsd,
        Estimator::BsdLite2,
        Estimator::Rfc6298,
    ]);
    (timer(), timer(), timer(), option::of(timer()), estimator).prop_map(
        |(granularity, min_rto, initial_rto, delayed_ack, estimator)| TcpParams {
            // The smallest RTO is a tick at least.
            granularity: Span(granularity.0.min(min_rto.0)),
            min_rto,
            initial_rto,
            delayed_ack,
            estimator,
            ..TcpParams::default()
        },
    )
}

/// A recovery with its options, in parameters that are else the defaults.
fn recovery() -> impl Strategy<Value = TcpParams> {
    let recovery = prop::sample::select(vec![
        Recovery::Vanilla,
        Recovery::Tahoe,
        Recovery::Reno,
        Recovery::NewReno,
        Recovery::Sack,
    ]);
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

fn tcp() -> impl Strategy<Value = Traffic> {
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

fn udp() -> impl Strategy<Value = Traffic> {
    let bursts = option::of((span(500), span(500)));
    (1u64..=65_499, 1u64..=1_000_000, bursts).prop_map(|(datagram_size, rate, bursts)| {
        let mut udp = UdpParams {
            datagram_size,
            rate: BitRate(rate),
            on: bursts.map(|(on, _)| on),
            off: Span::ZERO,
        };
        if let Some((on, pause)) = bursts {
            // Room for the last frame of a burst.
            let frame =
                u128::from(udp.frame_cells() as u64 * CELL_BITS) * u128::from(TICKS_PER_SECOND);
            let frames = (u128::from(on.0) * u128::from(rate)).div_ceil(frame);
            let needed = (frames * frame).div_ceil(u128::from(rate)) as u64;
            udp.off = Span(needed.saturating_sub(on.0) + pause.0);
        }
        Traffic::Udp(udp)
    })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let rate = || (1u64..=1_000_000).prop_map(BitRate);
    prop_oneof![
        3 => tcp(),
        1 => rate().prop_map(|rate| Traffic::Cbr { rate }),
        1 => rate().prop_map(|rate| Traffic::Poisson { rate }),
        1 => (rate(), span(500), span(500)).prop_map(|(rate, on, pause)| {
            // Room for the last cell of a burst.
            let cell = u128::from(CELL_BITS) * u128::from(TICKS_PER_SECOND);
            let cells = (u128::from(on.0) * u128::from(rate.0)).div_ceil(cell);
            let needed = (cells * cell).div_ceil(u128::from(rate.0)) as u64;
            let off = Span(needed.saturating_sub(on.0) + pause.0);
            Traffic::Vbr { rate, on, off }
        }),
        1 => udp(),
    ]
}

/// One-way link between two nodes, with what it may have at a port.
fn link(from: String, to: String, port: bool) -> impl Strategy<Value = Link> {
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
            scheduler: scheduler.filter(|_| port),
            queues: if port { queues } else { Vec::new() },
        },
    )
}

fn probes() -> impl Strategy<Value = Vec<Probe>> {
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

/// Name of the host number `i` of a side.
fn node(side: &str, i: usize) -> String {
    format!("{side}{i}")
}

/// Links of `n` hosts at each of two switches.
fn links(n: usize) -> Vec<BoxedStrategy<Link>> {
    let mut links = vec![
        link("w".into(), "e".into(), true).boxed(),
        link("e".into(), "w".into(), true).boxed(),
    ];
    for i in 0..n {
        for (host, switch) in [(node("a", i), "w"), (node("b", i), "e")] {
            links.push(link(host.clone(), switch.into(), false).boxed());
            links.push(link(switch.into(), host, true).boxed());
        }
    }
    links
}

fn host(name: String) -> impl Strategy<Value = Host> {
    processing(Just(ProcessingUnit::Frame)).prop_map(move |processing| Host {
        name: name.clone(),
        processing,
    })
}

fn switch(name: &'static str) -> impl Strategy<Value = Switch> {
    (processing(unit()), scheduler(), queues()).prop_map(move |(processing, scheduler, queues)| {
        Switch {
            name: name.into(),
            processing,
            scheduler,
            queues,
        }
    })
}

/// The VC between the hosts number `i`.
fn vc(i: usize) -> impl Strategy<Value = Vc> {
    let own = (
        class(),
        1u64..1_000_000,
        option::of(1u64..100_000),
        (span(5_000), option::of(span(5_000))),
        (contract(), option::of(end_systems()), traffic()),
    );
    own.prop_map(
        move |(class, weight, guarantee, (start, lasts), (contract, abr, traffic))| Vc {
            name: node("v", i),
            from: node("a", i),
            to: node("b", i),
            route: vec!["w".into(), "e".into()],
            class,
            weight,
            guarantee: guarantee.map(BitRate),
            start,
            stop: lasts.map(|lasts| start + lasts),
            contract: Some(contract),
            abr: abr.filter(|_| class == Class::Abr && traffic.carries() == Carries::Frames),
            traffic,
        },
    )
}

/// What holds for a whole scenario, without a network.
fn general() -> impl Strategy<Value = Scenario> {
    let tie = prop::sample::select(vec![TieOrder::Fixed, TieOrder::Rotating, TieOrder::Random]);
    let own = (
        "[ -~äµ]{0,20}",
        0u64..i64::MAX as u64,
        tie,
        any::<u32>(),
        any::<[bool; 4]>(),
    );
    let times = (span(100), span(100), span(1_000), option::of(span(1_000)));
    // A scenario of nothing has no fair shares, which the reader refuses.
    let stated = (1u64..1_000_000_000).prop_map(|rate| MaxGoodput::Stated(BitRate(rate)));
    (own, times, option::of(stated)).prop_map(|(own, times, max_goodput)| {
        let (name, seed, tie_order, tie_offset, flags) = own;
        let [arrival_first, phase, offset, vbr_phase] = flags;
        let (timer_phase, start_jitter, warm_up, window) = times;
        Scenario {
            name,
            seed,
            duration: Span::from_milliseconds(3_000),
            timers: [Timers::Common, Timers::Own][seed as usize % 2],
            tie_order,
            tie_offset: tie_offset.into(),
            arrival_first,
            timer_phase,
            ensemble: Ensemble {
                start_jitter,
                timer_phase: phase,
                tie_offset: offset,
                vbr_phase,
            },
            measure: Measure {
                warm_up,
                window,
                max_goodput,
            },
            hosts: Vec::new(),
            switches: Vec::new(),
            links: Vec::new(),
            vcs: Vec::new(),
            probes: Vec::new(),
        }
    })
}

/// No class is served VC by VC and dropped from its front: the reader refuses that.
fn with_fronts(switches: &mut [Switch], links: &mut [Link]) {
    let of_switches = switches.iter().map(|s| &s.scheduler);
    let schedulers = of_switches.chain(links.iter().filter_map(|l| l.scheduler.as_ref()));
    let per_vc = schedulers.filter_map(|scheduler| match scheduler {
        Scheduler::PerVc { class, .. } => Some(*class),
        _ => None,
    });
    let per_vc: Vec<Class> = per_vc.collect();
    let of_switches = switches.iter_mut().flat_map(|s| &mut s.queues);
    for queue in of_switches.chain(links.iter_mut().flat_map(|l| &mut l.queues)) {
        if pushes_out(queue) && per_vc.contains(&queue.class) {
            queue.drop = DropPolicy::Ppd;
        }
    }
}

/// Feedback only where a VC with end systems crosses: the reader refuses the rest.
fn with_listeners(vcs: &[Vc], switches: &mut [Switch], links: &mut [Link]) {
    let has_abr = |queues: &[ClassQueue]| queues.iter().any(|q| q.class == Class::Abr);
    let silence = |queues: &mut Vec<ClassQueue>| {
        for queue in queues {
            queue.feedback = None;
        }
    };
    let heard = |link: &Link| {
        let mut listening = vcs.iter().filter(|vc| vc.abr.is_some());
        let is_switch = |name: &str| name == "w" || name == "e";
        is_switch(&link.from)
            && listening.any(|vc| is_switch(&link.to) || link.to == vc.from || link.to == vc.to)
    };
    for switch in switches {
        let mut ports = links.iter().filter(|link| link.from == switch.name);
        if !ports.any(|link| heard(link) && !has_abr(&link.queues)) {
            silence(&mut switch.queues);
        }
    }
    for link in links {
        if !heard(link) {
            silence(&mut link.queues);
        }
    }
}

/// Whether the VC, or the port of the switch, has what a probe records: the reader refuses the others.
fn is_there(probe: &Probe, vc: &Vc, port: &Link, switch: &Switch) -> bool {
    match probe.what {
        Observable::Cwnd
        | Observable::Ssthresh
        | Observable::Sequence
        | Observable::Acknowledged
        | Observable::Flight
        | Observable::Rtt
        | Observable::Rto => matches!(vc.traffic, Traffic::Tcp(_)),
        Observable::Delivered | Observable::Goodput => vc.traffic.carries() == Carries::Frames,
        Observable::Acr | Observable::HostQueue => vc.abr.is_some(),
        Observable::Credit => {
            let scheduler = port.scheduler.as_ref().unwrap_or(&switch.scheduler);
            matches!(scheduler, Scheduler::GuaranteedRate { .. })
        }
        Observable::AverageQueue => {
            let mut queues = port.queues.iter().chain(&switch.queues);
            let queue = queues.find(|queue| Some(queue.class) == probe.class);
            queue.is_some_and(|queue| {
                let drop = &queue.drop;
                matches!(
                    drop,
                    DropPolicy::AtmRed(_) | DropPolicy::CellRed(_) | DropPolicy::PacketRed(_)
                )
            })
        }
        Observable::Queue | Observable::LinkShare | Observable::Drops | Observable::Trace => true,
        Observable::Capture => {
            let has_frames = vc.traffic.carries() == Carries::Frames;
            probe.layer == Some(Layer::Cells) || probe.vc.is_none() || has_frames
        }
    }
}

/// `n` hosts at each of two switches, VCs between them.
fn scenario() -> impl Strategy<Value = Scenario> {
    (1usize..4).prop_flat_map(|n| {
        let hosts: Vec<_> = (0..n)
            .flat_map(|i| [host(node("a", i)), host(node("b", i))])
            .collect();
        let switches: Vec<_> = ["w", "e"].map(switch).into();
        let vcs: Vec<_> = (0..n).map(vc).collect();
        let things = (hosts, switches, links(n), vcs, probes());
        (general(), things).prop_map(|(general, things)| {
            let (hosts, mut switches, mut links, vcs, mut probes) = things;
            with_fronts(&mut switches, &mut links);
            with_listeners(&vcs, &mut switches, &mut links);
            probes.retain(|probe| is_there(probe, &vcs[0], &links[0], &switches[0]));
            Scenario {
                hosts,
                switches,
                links,
                vcs,
                probes,
                ..general
            }
        })
    })
}

#[test]
fn random_scenarios_have_every_component_and_choice() {
    let mut runner = TestRunner::deterministic();
    let strategy = scenario();
    let draw = |_| strategy.new_tree(&mut runner).unwrap().current();
    let drawn: Vec<Scenario> = (0..1_000).map(draw).collect();
    let left_out = left_out(&drawn, &Family::ALL);
    assert!(left_out.is_empty(), "not in {}: {left_out:#?}", file!());
}

proptest! {
    #[test]
    fn written_scenarios_read_back_the_same(scenario in scenario()) {
        let text = write_toml(&scenario);
        match read_toml(&text, "written.toml", &[]) {
            Ok(read) => prop_assert_eq!(read, scenario),
            Err(problems) => prop_assert!(false, "{:#?}\n{}", problems, text),
        }
    }

    #[test]
    fn serde_keeps_every_field(scenario in scenario()) {
        let json = serde_json::to_string(&scenario).expect("plain data");
        prop_assert_eq!(serde_json::from_str::<Scenario>(&json).expect("its own form"), scenario);
    }

    #[test]
    fn toml_and_json_of_the_same_fields_agree(scenario in scenario()) {
        let text = write_toml(&scenario);
        let value: serde_json::Value = toml::from_str(&text).expect("TOML");
        prop_assert_eq!(read_json(&value, &[]), Ok(scenario));
    }

    #[test]
    fn no_text_panics(text in "(duration|\\[\\[(host|link|vc)\\]\\]|(name|from|to|rate|count|traffic) = (\"[a-z0-9 ]{0,6}\"|[0-9.]{1,4}|\\{kind = \"(tcp|vbr)\"\\})|[a-z=\\[\\]{}\"\n]{0,5}\n){0,30}") {
        let _ = read_toml(&text, "noise.toml", &[]);
    }
}
