//! Tests that irrelevant changes change nothing: the order of hosts and switches, unconnected
//! networks, and probes.

use crate::common;
use crate::common::build::us;
use crate::common::build::{self, probe};
use crate::common::draws::Draws;
use crate::common::engines::result;
use crate::common::pools::pooled;
use crate::common::probes::{envelopes, probes};
use crate::common::{engines, formats, invariants, random};
use cellyard_engine::format::Format;
use cellyard_engine::registry::Family;
use cellyard_engine::results::Series;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{DropCounts, DropReason, MeasuredPort, Tally, left_out};
use cellyard_engine::units::{BitRate, Span, Time};
use cellyard_engine::{self as simulation, Kernel, Options, Session};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::sync::atomic::AtomicBool;

/// A separate network with traffic of every kind.
fn island(base: Scenario) -> Scenario {
    let mut net = base;
    let rate = BitRate(20_000_000);
    let delay = us(5);
    net.hosts.extend(["ia", "ib"].map(build::host));
    net.switches
        .push(build::switch("is", Some(5), DropPolicy::TailDrop));
    net.links.extend(build::links("ia", "is", rate, delay));
    net.links
        .extend(build::links("is", "ib", BitRate(9_000_000), delay));
    let kinds = [
        Traffic::Tcp(Box::new(build::tcp())),
        build::poisson(BitRate(3_000_000)),
        build::cbr(BitRate(2_000_000)),
    ];
    for (i, traffic) in kinds.into_iter().enumerate() {
        let name = format!("iv{i}");
        net.vcs
            .push(build::vc(&name, "ia", "ib", &["is"], Class::Ubr, traffic));
    }
    net
}

/// The part of `tally` that covers the first `links` links and `vcs` of the scenario.
fn front(mut tally: Tally, links: usize, vcs: &[Vc]) -> Tally {
    tally.link_cells.truncate(links);
    tally.link_data_cells.truncate(links);
    tally.link_lost.truncate(links);
    tally.link_held.truncate(links);
    tally.link_line_time.truncate(links);
    tally.link_line_work.truncate(links);
    tally.ports.truncate(links);
    tally.nics.truncate(links);
    tally.vcs.truncate(vcs.len());
    tally.flows.truncate(common::flows_of(vcs));
    // The digest sums over everything.
    tally.digest = None;
    tally
}

/// Time average of a step function, from its first to its last point.
fn mean_of_steps(series: &Series) -> f64 {
    let areas = series.time_s.windows(2).zip(&series.value);
    let area: f64 = areas.map(|(t, value)| (t[1] - t[0]) * value).sum();
    area / (series.time_s.last().expect("it ends") - series.time_s[0])
}

#[test]
fn random_scenarios_are_watched_by_every_probe() {
    let mut runner = TestRunner::deterministic();
    let strategy = random::cases(1_500);
    let draw = |number| {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let net = match number % 10 {
            0 => pooled(case, &mut Draws(number), None).scenario,
            _ => case.scenario,
        };
        let probes = probes(&net);
        Scenario { probes, ..net }
    };
    let drawn: Vec<Scenario> = (0..300).map(draw).collect();
    let left_out = left_out(&drawn, &[Family::Probe]);
    assert!(left_out.is_empty(), "not in {}: {left_out:#?}", file!());
}

proptest! {
    #![proptest_config(common::config(300))]

    #[test]
    fn order_of_hosts_and_switches_changes_nothing(case in formats::cases(1_500), turn in 1usize..5) {
        let mut turned = case.scenario.clone();
        let n = turned.hosts.len();
        turned.hosts.rotate_left(turn % n);
        turned.switches.reverse();
        for (name, engine) in engines::ALL {
            let differ = common::differences(
                &engine(&case.scenario, case.replication),
                &engine(&turned, case.replication),
            );
            prop_assert!(differ.is_empty(), "{name}\n{differ}");
        }
    }

    #[test]
    fn unrelated_components_move_nobodys_draws(case in formats::cases(1_500)) {
        let (links, vcs) = (case.scenario.links.len(), &case.scenario.vcs);
        let more = island(case.scenario.clone());
        for (name, engine) in engines::ALL {
            let differ = common::differences(
                &front(engine(&case.scenario, case.replication), links, vcs),
                &front(engine(&more, case.replication), links, vcs),
            );
            prop_assert!(differ.is_empty(), "{name}\n{differ}");
        }
    }

    #[test]
    fn what_is_measured_does_not_change_the_run(case in formats::cases(1_500)) {
        let mut unmeasured = case.scenario.clone();
        unmeasured.measure.warm_up = Span::ZERO;
        unmeasured.measure.window = None;
        for (name, engine) in engines::ALL {
            let (a, b) = (engine(&case.scenario, case.replication), engine(&unmeasured, case.replication));
            prop_assert_eq!(a.digest, b.digest, "{}", name);
            for (a, b) in a.vcs.iter().zip(&b.vcs) {
                prop_assert!(a.measured_bytes <= b.measured_bytes && a.delay.count <= b.delay.count);
                prop_assert_eq!(b.measured_bytes, b.delivered_bytes);
            }
        }
    }

    #[test]
    fn books_of_every_port_balance(case in formats::cases(1_500)) {
        let case = case.readable();
        for kernel in [Kernel::Auto, Kernel::Slotted, Kernel::Twin] {
            let ports = result(&case.scenario, case.replication, kernel).ports;
            let balance = ports.iter().try_for_each(invariants::port);
            prop_assert!(balance.is_ok(), "{kernel:?}: {balance:?}");
        }
    }

    #[test]
    fn what_flows_lost_is_what_ports_and_links_dropped(case in formats::cases(1_500)) {
        for (name, engine) in engines::ALL {
            let tally = engine(&case.scenario, case.replication);
            for link in 0..case.scenario.links.len() {
                let mut of_flows = DropCounts::default();
                for flow in &tally.flows {
                    of_flows += flow.dropped_at(link);
                }
                match &tally.ports[link] {
                    Some(port) => prop_assert_eq!(of_flows, port.dropped(), "{}, link {}", name, link),
                    None => {
                        prop_assert_eq!(of_flows[DropReason::Link], tally.link_lost[link], "{}, link {}", name, link);
                        prop_assert_eq!(of_flows.total(), tally.link_lost[link], "{}, link {}", name, link);
                    }
                }
            }
        }
    }

    #[test]
    fn every_vc_tells_where_all_of_its_losses_were_and_how_late_its_cells_came(case in formats::cases(1_500)) {
        for kernel in [Kernel::Auto, Kernel::Slotted, Kernel::Twin] {
            for vc in result(&case.scenario, case.replication, kernel).vcs {
                let counts = vc.ports.iter().map(|there| serde_json::to_value(&there.dropped_cells).expect("counts"));
                let at = |counts: serde_json::Value| -> u64 {
                    counts.as_object().expect("by reason").values().filter_map(|n| n.as_u64()).sum()
                };
                prop_assert_eq!(counts.map(at).sum::<u64>(), vc.cells_dropped, "{:?}", vc);
                prop_assert_eq!(vc.cell_loss_ratio, vc.cells_dropped as f64 / vc.cells_sent.max(1) as f64);
                let quantiles = [
                    vc.p50_cell_transfer_delay_s,
                    vc.p95_cell_transfer_delay_s,
                    vc.p99_cell_transfer_delay_s,
                    vc.max_cell_transfer_delay_s,
                ];
                prop_assert!(quantiles.is_sorted(), "{:?}", vc);
                let none = quantiles.iter().filter(|delay| delay.is_none()).count();
                prop_assert!(none == 0 || none == quantiles.len(), "{:?}", vc);
            }
        }
    }

    /// Port counts of three consecutive measuring times add up to those of the whole run.
    #[test]
    fn what_ports_measure_adds_up(case in formats::cases(1_500), cuts in [1u64..100, 1u64..100], cells in any::<bool>()) {
        let net = &case.scenario;
        let cell_time = net.format.cell_time(net.links[0].rate).0;
        // At whole cell times, cells come and go exactly at the bounds.
        let at = |part: u64| {
            let time = net.duration.0 / 100 * part;
            if cells { (time / cell_time).max(1) * cell_time } else { time + 1 }
        };
        let cuts = [at(cuts[0].min(cuts[1])), at(cuts[0].max(cuts[1]))];
        prop_assume!(cuts[0] < cuts[1] && cuts[1] < net.duration.0);
        let bounds = [0, cuts[0], cuts[1], net.duration.0];
        for (name, engine) in engines::ALL {
            let measured = |from: u64, to: u64| {
                let mut net = net.clone();
                net.measure.warm_up = Span(from);
                net.measure.window = Some(Span(to - from));
                engine(&net, case.replication).ports
            };
            let parts: Vec<_> = bounds.windows(2).map(|part| measured(part[0], part[1])).collect();
            for (link, all) in measured(0, net.duration.0).iter().enumerate() {
                let Some(all) = all else { continue };
                let parts: Vec<_> = parts.iter().flat_map(|part| &part[link]).collect();
                let sum = |count: fn(&MeasuredPort) -> u64| parts.iter().map(|part| count(&part.measured)).sum::<u64>();
                let most = parts.iter().map(|part| part.measured.max_queue).max();
                prop_assert_eq!(all.arrived(), sum(MeasuredPort::arrived), "{}", name);
                prop_assert_eq!(all.sent(), sum(|m| m.sent), "{}", name);
                prop_assert_eq!(all.classes.iter().map(|c| c.dropped_by_port()).sum::<u64>(), sum(MeasuredPort::dropped), "{}", name);
                prop_assert_eq!(all.queue_time, parts.iter().map(|part| part.measured.queue_time).sum::<u128>(), "{}", name);
                prop_assert_eq!(Some(all.max_queue), most, "{}", name);
                prop_assert!(parts.iter().all(|part| part.max_queue == all.max_queue && part.queue_time == all.queue_time), "{}", name);
            }
        }
    }

    /// At a port that cannot queue, every cell that has arrived leaves one cell time later, and
    /// nothing else does.
    #[test]
    fn ports_that_cannot_queue_hold_what_they_send_next(case in random::cases(1_500)) {
        for (name, engine) in engines::ALL {
            let tally = engine(&case.scenario, case.replication);
            let from_switch = |l: &Link| case.scenario.switches.iter().any(|s| s.name == l.from);
            for (i, link) in case.scenario.links.iter().enumerate() {
                let cell_time = Format::AAL5.cell_time(link.rate);
                if tally.ports[i].is_some() || !from_switch(link) {
                    continue;
                }
                let mut longer = case.scenario.clone();
                longer.duration += cell_time;
                let later = engine(&longer, case.replication);
                let arrived = tally.link_cells[i] + tally.link_held[i];
                prop_assert_eq!(later.link_cells[i], arrived, "{}, link {}", name, i);
            }
        }
    }

    #[test]
    fn series_and_traces_are_the_same_under_each_kernel(case in formats::cases(1_500)) {
        let mut watched = case.scenario.clone();
        watched.probes = probes(&watched);
        let watch = |kernel| {
            let run = result(&watched, case.replication, kernel);
            (run.series, run.trace)
        };
        let (one, other) = (watch(Kernel::Auto), watch(Kernel::Slotted));
        for (a, b) in one.0.iter().zip(&other.0) {
            prop_assert_eq!(a, b);
        }
        prop_assert_eq!(one, other);
    }

    #[test]
    fn envelopes_are_those_of_the_twin_under_each_kernel(case in formats::cases(1_500), part in 1u64..100, cells in 0u64..40) {
        let net = &case.scenario;
        // With whole cell times, cells come and go exactly at the ends of intervals.
        let interval = match cells {
            0 => Span(net.duration.0 / part + 1),
            _ => Span(net.format.cell_time(net.links[0].rate).0 * cells),
        };
        let probes = envelopes(net, Some(interval));
        // The arithmetic kernel serves no port whose credit is recorded.
        for with_credit in [true, false] {
            let wanted = |p: &&Probe| with_credit || p.what != Observable::Credit;
            let watched = Scenario { probes: probes.iter().filter(wanted).cloned().collect(), ..net.clone() };
            let series = |kernel| {
                result(&watched, case.replication, kernel).series
            };
            let expected = series(Kernel::Twin);
            for kernel in [Kernel::Auto, Kernel::Slotted] {
                let found = series(kernel);
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert_eq!(found, expected, "{:?}", kernel);
                }
                prop_assert_eq!(found.len(), expected.len());
            }
        }
    }

    #[test]
    fn samples_at_regular_times_do_not_hang_on_whether_each_cell_is_seen(case in formats::cases(1_500), part in 1u64..100, cells in 0u64..40) {
        let case = case.readable();
        let net = &case.scenario;
        // With whole cell times, cells come and go exactly at the samples.
        let interval = |link: &Link| Some(match cells {
            0 => Span(net.duration.0 / part + 1),
            _ => Span(net.format.cell_time(link.rate).0 * cells),
        });
        let of_switches = net.links.iter().filter(|l| net.switches.iter().any(|s| s.name == l.from));
        let regular: Vec<Probe> = of_switches
            .flat_map(|l| {
                let of = |what| probe(what, &l.name, interval(l));
                let of_vc = |vc: &Vc| Probe { vc: Some(vc.name.clone()), ..of(Observable::Queue) };
                let of_vcs: Vec<Probe> = net.vcs.iter().map(of_vc).collect();
                let whats = [Observable::Queue, Observable::AverageQueue, Observable::Credit, Observable::Drops, Observable::LinkShare];
                whats.map(of).into_iter().chain(of_vcs)
            })
            .collect();
        // The arithmetic kernel serves no port whose credit is recorded.
        for with_credit in [true, false] {
            let wanted = |p: &&Probe| with_credit || p.what != Observable::Credit;
            let probes: Vec<Probe> = regular.iter().filter(wanted).cloned().collect();
            let ports = probes.iter().filter(|p| p.what == Observable::Drops);
            let changes = ports.map(|p| probe(Observable::Queue, &p.of, None)).collect();
            let alone = Scenario { probes: probes.clone(), ..net.clone() };
            let seen = Scenario { probes: [probes, changes].concat(), ..net.clone() };
            for kernel in [Kernel::Auto, Kernel::Slotted] {
                let run = |net| result(net, case.replication, kernel);
                let (alone, seen) = (run(&alone), run(&seen));
                for (a, b) in alone.series.iter().zip(&seen.series) {
                    prop_assert_eq!(a, b, "{:?}", kernel);
                }
                prop_assert_eq!((alone.totals, alone.ports), (seen.totals, seen.ports));
            }
        }
    }

    #[test]
    fn a_queue_recorded_at_every_change_has_the_mean_of_the_books(case in formats::cases(1_500)) {
        let mut watched = case.scenario.clone();
        watched.probes = probes(&watched);
        watched.probes.retain(|p| p.what == Observable::Queue && (p.interval, p.envelope) == (None, None));
        for kernel in [Kernel::Auto, Kernel::Slotted] {
            let run = result(&watched, case.replication, kernel);
            for series in &run.series {
                let port = run.ports.iter().find(|p| p.name == series.of);
                let (mean, of_books) = (mean_of_steps(series), port.map_or(0.0, |p| p.mean_queue_cells));
                let equal = (mean - of_books).abs() <= 1e-9 * mean.max(1.0);
                prop_assert!(equal, "{kernel:?} {}: {mean}, {of_books}", series.of);
            }
        }
    }

    #[test]
    fn what_is_drained_whenever_much_is_held_is_what_is_recorded_in_one_go(case in formats::cases(1_500), hold in 0u64..20_000) {
        let mut watched = case.scenario.clone();
        watched.probes = probes(&watched);
        for kernel in [Kernel::Auto, Kernel::Slotted] {
            let options = Options { kernel, pause_above: Some(hold), ..Options::default() };
            let never = AtomicBool::new(false);
            let whole = simulation::run(&watched, case.replication, &options, &never).expect("it runs");
            let mut session = Session::new(&watched, case.replication, &options).expect("it can be built");
            let mut points = vec![(Vec::new(), Vec::new()); whole.series.len()];
            let mut trace = Vec::new();
            let mut add = |series: Vec<Series>, dropped: Vec<_>| {
                for (all, part) in points.iter_mut().zip(series) {
                    all.0.extend(part.time_s);
                    all.1.extend(part.value);
                }
                trace.extend(dropped);
            };
            while session.advance_until(Time::NEVER, &never).expect("it runs") < session.end() {
                let (series, dropped) = session.drain();
                add(series, dropped);
            }
            let rest = session.finish();
            add(rest.series, rest.trace);
            prop_assert_eq!(trace, whole.trace);
            for (points, series) in points.into_iter().zip(whole.series) {
                prop_assert_eq!(points, (series.time_s, series.value), "{}", series.what);
            }
            prop_assert_eq!((rest.totals, rest.vcs), (whole.totals, whole.vcs));
        }
    }

    #[test]
    fn probes_change_nothing(case in formats::cases(1_500)) {
        let mut watched = case.scenario.clone();
        watched.probes = probes(&watched);
        for (name, engine) in &engines::ALL {
            let differ = common::differences(
                &engine(&watched, case.replication),
                &engine(&case.scenario, case.replication),
            );
            prop_assert!(differ.is_empty(), "{name}\n{differ}");
        }
    }
}
