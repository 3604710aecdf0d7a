//! What a scenario amounts to before it runs: its ports, where cells can queue, how many there can be.

use crate::aal5::cells_of_segment;
use crate::options::RunError;
use crate::port::drop::{DropRule, Policy};
use crate::scenario::{Class, DropPolicy, Scenario, Scheduler, Traffic};
use crate::topology::Topology;
use crate::units::CELL_BITS;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// `{"hosts", "switches", "links", "vcs", "duration_s", "max_bottleneck_cells", "ports": [{"name", "switch", "inputs",
/// "can_queue", "data_vcs", "ack_vcs", "max_data_cells"}], "notes"}`, for the ports that carry anything.
///
/// The cells are an upper bound: what the links and the cell sources can bring in the simulated time. Notes are sentences
/// about what is allowed and hardly meant, most of it settings without effect.
///
/// # Errors
/// As [`crate::simulation::run`], for a scenario that the reader has not checked.
pub fn describe(scenario: &Scenario) -> Result<Value, RunError> {
    let topology = Topology::new(scenario).map_err(RunError::Scenario)?;
    let can_queue = crate::build::queueing_links(scenario, &topology);
    let seconds = scenario.duration.as_seconds();
    let cells = |bits_per_second: f64| bits_per_second * seconds / CELL_BITS as f64;
    let offered = |vc: usize| {
        let mean = match &scenario.vcs[vc].traffic {
            Traffic::Tcp(_) => f64::INFINITY,
            Traffic::Cbr { rate } | Traffic::Poisson { rate } => rate.0 as f64,
            Traffic::Vbr { rate, on, off } => {
                rate.0 as f64 * on.as_seconds() / (on.as_seconds() + off.as_seconds())
            }
        };
        let links = topology.paths[2 * vc].iter();
        links.fold(mean, |least, &l| least.min(scenario.links[l].rate.0 as f64))
    };
    let mut bottleneck = 0.0;
    let mut ports = Vec::new();
    for link in (0..scenario.links.len()).filter(|&l| !topology.inputs[l].is_empty()) {
        let crossing = |side: usize| -> Vec<usize> {
            let vcs = 0..scenario.vcs.len();
            vcs.filter(|vc| topology.paths[2 * vc + side].contains(&link))
                .collect()
        };
        let brought: f64 = crossing(0).into_iter().map(offered).sum();
        let most = cells(brought.min(scenario.links[link].rate.0 as f64)).ceil();
        if can_queue[link] {
            bottleneck += most;
        }
        let inputs = topology.inputs[link].iter();
        ports.push(json!({
            "name": scenario.links[link].name,
            "switch": scenario.links[link].from,
            "inputs": inputs.map(|&i| scenario.links[i].name.as_str()).collect::<Vec<_>>(),
            "can_queue": can_queue[link],
            "data_vcs": crossing(0).len(),
            "ack_vcs": crossing(1).len(),
            "max_data_cells": most as u64,
        }));
    }
    Ok(json!({
        "hosts": scenario.hosts.len(),
        "switches": scenario.switches.len(),
        "links": scenario.links.len(),
        "vcs": scenario.vcs.len(),
        "duration_s": seconds,
        "max_bottleneck_cells": bottleneck as u64,
        "ports": ports,
        "notes": notes(scenario, &topology),
    }))
}

/// What is allowed and hardly meant: shares that no scheduler looks at, schedulers for classes that nobody uses, policies
/// that never refuse, shares that a common buffer undoes, frames that never fit, sources that never start.
fn notes(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut notes = unused_shares(scenario, topology);
    notes.extend(idle_sources(scenario, topology));
    // Settings are made for all ports of a switch, or for one port.
    let at_switches = scenario.switches.iter().enumerate().map(|(index, switch)| {
        let ports: Vec<usize> = (0..scenario.links.len())
            .filter(|&link| topology.switch_of[link] == Some(index))
            .collect();
        (&switch.name, Some(&switch.scheduler), &switch.queues, ports)
    });
    let at_ports = scenario
        .links
        .iter()
        .enumerate()
        .map(|(link, own)| (&own.name, own.scheduler.as_ref(), &own.queues, vec![link]));
    for (name, scheduler, queues, ports) in at_switches.chain(at_ports) {
        let used: BTreeSet<Class> = ports
            .into_iter()
            .flat_map(|l| &topology.classes[l])
            .copied()
            .collect();
        if used.is_empty() {
            continue;
        }
        if let Some(Scheduler::GuaranteedRate { class, .. } | Scheduler::PerVc { class, .. }) =
            scheduler
            && !used.contains(class)
        {
            notes.push(format!(
                "the scheduler of {name} is for the class {}, which no VC has there",
                class.name()
            ));
        }
        for queue in queues.iter().filter(|q| used.contains(&q.class)) {
            let policy = Policy::new(&queue.drop, queue.buffer);
            if let Some(Scheduler::PerVc { class, .. }) = scheduler
                && queue.class == *class
                && queue.buffer.is_some()
                && !policy.needs().vc_counts
            {
                notes.push(format!(
                    "the VCs of the class {} share one buffer at {name}: when it is full, arrivals decide who gets \
                     in, and thereby the shares; a drop policy that counts by VC keeps them apart",
                    class.name()
                ));
            }
            let never = Policy::new(&queue.drop, None).smallest_refusal() == u64::MAX;
            let meant = !matches!(queue.drop, DropPolicy::TailDrop | DropPolicy::Ppd);
            if queue.buffer.is_none() && never && meant {
                notes.push(format!(
                    "the drop policy of the class {} of {name} refuses nothing: its buffer is unlimited",
                    queue.class.name()
                ));
            }
        }
    }
    notes
}

/// Sources that start after the end, and frames that are longer than a buffer on their way.
fn idle_sources(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut notes = Vec::new();
    let late = scenario
        .vcs
        .iter()
        .filter(|vc| vc.start >= scenario.duration);
    let late: Vec<&str> = late.map(|vc| vc.name.as_str()).collect();
    if !late.is_empty() {
        notes.push(format!(
            "no data from {}: the start is the end of the run or later",
            some(&late)
        ));
    }
    let mut cut: BTreeMap<(&str, u64, u64), Vec<&str>> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let Traffic::Tcp(tcp) = &vc.traffic else {
            continue;
        };
        let cells = u64::from(cells_of_segment(tcp.mss));
        for &link in &topology.paths[2 * index] {
            let buffer = topology.switch_of[link]
                .and_then(|_| topology.queue(scenario, link, vc.class).buffer);
            // One cell is in service.
            if let Some(buffer) = buffer.filter(|&k| k + 1 < cells) {
                let name = scenario.links[link].name.as_str();
                cut.entry((name, cells, buffer)).or_default().push(&vc.name);
            }
        }
    }
    for ((link, cells, buffer), vcs) in cut {
        notes.push(format!(
            "a frame of {} has {cells} cells, more than the {buffer} that can wait at {link}",
            some(&vcs)
        ));
    }
    notes
}

/// The first of some names, and how many more there are.
fn some(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_string(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
        [] => String::new(),
    }
}

/// Guarantees and weights of VCs that no port serves one by one, each class told once.
fn unused_shares(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut unused: BTreeMap<(&str, Class), Vec<&str>> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let mut ports = topology.paths[2 * index]
            .iter()
            .filter(|&&link| topology.switch_of[link].is_some());
        let served = ports.any(|&link| {
            let scheduler = topology.scheduler(scenario, link);
            matches!(scheduler, Scheduler::PerVc { class, .. } if *class == vc.class)
        });
        for (field, given) in [
            ("guarantee", vc.guarantee.is_some()),
            ("weight", vc.weight != 1),
        ] {
            if given && !served {
                unused.entry((field, vc.class)).or_default().push(&vc.name);
            }
        }
    }
    let sentence = |((field, class), names): (&(&str, Class), &Vec<&str>)| {
        format!(
            "the {field} of {} has no effect: no port on the way has a per-vc scheduler for the class {}",
            some(names),
            class.name()
        )
    };
    unused.iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::read_toml;

    #[test]
    fn a_lan_queues_at_its_bottleneck_only() {
        let text = include_str!("../../../examples/lan-5.toml");
        let scenario = read_toml(text, "lan-5.toml", &[]).expect("the example is valid");
        let found = describe(&scenario).expect("it can be built");
        let queueing: Vec<&str> = found["ports"]
            .as_array()
            .expect("ports are a list")
            .iter()
            .filter(|port| port["can_queue"] == true && port["data_vcs"] != 0)
            .filter_map(|port| port["name"].as_str())
            .collect();
        assert_eq!(queueing, ["west->east"]);
        // 10 s at 155.52 Mb/s and 424 bits a cell.
        assert_eq!(found["max_bottleneck_cells"], 3_667_925);
        assert_eq!(found["notes"], json!([]));
    }

    #[test]
    fn settings_without_effect_are_noted() {
        let text = include_str!("../../../examples/lan-5.toml");
        let notes = |overrides: &[(&str, &str)]| -> Vec<String> {
            let own: Vec<_> = overrides
                .iter()
                .map(|&(k, v)| (k.to_string(), v.to_string()))
                .collect();
            let scenario = read_toml(text, "lan-5.toml", &own).expect("the example is valid");
            let found = describe(&scenario).expect("it can be built");
            serde_json::from_value(found["notes"].clone()).expect("notes are sentences")
        };
        let guarantee = ("vc.guarantee", "10 Mbps");
        let unused = "the guarantee of vc1 and 4 more has no effect: no port on the way has a per-vc scheduler for the class ubr";
        assert_eq!(notes(&[guarantee]), [unused]);
        assert_eq!(notes(&[guarantee, ("vc.weight", "2")]).len(), 2);
        let per_vc = |class| {
            let scheduler = "switch.west.scheduler";
            [
                guarantee,
                (scheduler, "per-vc"),
                ("switch.west.scheduler.class", class),
            ]
        };
        let shared = &notes(&per_vc("ubr"))[..];
        assert!(
            matches!(shared, [one] if one.starts_with("the VCs of the class ubr share one buffer at west"))
        );
        let mut apart = per_vc("ubr").to_vec();
        apart.push(("switch.west.ubr.drop", "selective-drop"));
        assert!(notes(&apart).is_empty());
        let nobody = "the scheduler of west is for the class gfr, which no VC has there";
        assert_eq!(notes(&per_vc("gfr")), [unused, nobody]);
        let unlimited =
            "the drop policy of the class ubr of west refuses nothing: its buffer is unlimited";
        assert_eq!(
            notes(&[("switch.west.ubr.buffer", "unlimited")]),
            [unlimited]
        );
        let late = "no data from vc1 and 4 more: the start is the end of the run or later";
        assert_eq!(notes(&[("vc.start", "10 s")]), [late]);
        let mss = ("vc.traffic.mss", "65000 bytes");
        let long = "a frame of vc1 and 4 more has 1356 cells, more than the 1000 that can wait at west->east";
        assert_eq!(notes(&[mss]), [long]);
        assert!(notes(&[mss, ("switch.west.ubr.buffer", "1355 cells")]).is_empty());
    }
}
