//! Tests that writing and reading preserves a scenario, in TOML and through serde.

use crate::available::end_systems;
use crate::components::*;
use crate::drawn::choice;
use cellyard_engine::format::Format;
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{left_out, pushes_out};
use cellyard_engine::units::{BitRate, Span};
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Name of host `i` on a side.
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

/// The VC between the hosts with number `i`.
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

/// Settings of a whole scenario, without a network.
fn general() -> impl Strategy<Value = Scenario> {
    let tie = choice(Family::Scenario, "scenario", "tie_order");
    let own = (
        "[ -~äµ]{0,20}",
        0u64..i64::MAX as u64,
        tie,
        any::<u32>(),
        any::<[bool; 4]>(),
    );
    let times = (span(100), span(100), span(1_000), option::of(span(1_000)));
    // Without VCs there are no fair shares, and the reader refuses them.
    let stated = (1u64..1_000_000_000).prop_map(|rate| MaxGoodput::Stated(BitRate(rate)));
    (own, times, option::of(stated)).prop_map(|(own, times, max_goodput)| {
        let (name, seed, tie_order, tie_offset, flags) = own;
        let [arrival_first, phase, offset, vbr_phase] = flags;
        let (timer_phase, start_jitter, warm_up, window) = times;
        Scenario {
            name,
            seed,
            format: Format::AAL5,
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

/// Removes drops from the front where a class is served per VC, which the reader refuses.
fn with_fronts(switches: &mut [Switch], links: &mut [Link]) {
    let of_switches = switches.iter().map(|s| &s.scheduler);
    let schedulers = of_switches.chain(links.iter().filter_map(|l| l.scheduler.as_deref()));
    let schedulers: Vec<Scheduler> = schedulers.cloned().collect();
    let is_split = |of: Class| {
        schedulers.iter().any(|scheduler| match scheduler {
            Scheduler::PerVc { class, .. } => *class == of,
            Scheduler::Program(program) => program.written.class.is_none_or(|class| class == of),
            _ => false,
        })
    };
    let of_switches = switches.iter_mut().flat_map(|s| &mut s.queues);
    for queue in of_switches.chain(links.iter_mut().flat_map(|l| &mut l.queues)) {
        if pushes_out(queue) && is_split(queue.class) {
            queue.drop = DropPolicy::Ppd;
        }
    }
}

/// Keeps feedback only where a VC with end systems crosses, since the reader refuses the rest.
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

/// Whether the VC, or the port of the switch, has what a probe records. The reader refuses other
/// probes.
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
            let scheduler = port.scheduler.as_deref().unwrap_or(&switch.scheduler);
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

/// `n` hosts at each of two switches, with VCs between them.
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
