//! From text or Python values to a checked scenario.

use super::check::{self, Record, number, object, text};
use super::expand::{Expanded, entries, expand};
use super::flows::Flows;
use super::model::*;
use super::problem::{Problem, Report};
use super::tree::{self, Node};
use super::{overrides, quantity};
use crate::record::MOST_POINTS;
use crate::registry::Family;
use crate::units::{BitRate, Span};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// Reads a scenario from TOML text, every default filled in and every group expanded.
///
/// `file` names the text in messages. `overrides` are set first: a dotted path
/// (`switch.west.ubr.buffer`, `vc.0.traffic.mss`, `vc.*.start`, `link.rate`) and a TOML value or bare words
/// (`2000 cells`).
///
/// # Errors
/// All problems of the text, in its order.
pub fn read_toml(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    read(tree::from_toml(text, file)?, file, overrides)
}

/// Reads a scenario from values with the same fields as the TOML form; `overrides` as in [`read_toml`].
///
/// # Errors
/// All problems; they have no lines.
pub fn read_json(
    value: &serde_json::Value,
    overrides: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    read(tree::from_json(value), "scenario", overrides)
}

fn read(
    mut root: Node,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    let mut problems = Vec::new();
    for (path, value) in overrides {
        problems.extend(overrides::apply(&mut root, path, value).err().map(|p| *p));
    }
    resolve(&root, file, problems)
}

fn resolve(root: &Node, file: &str, problems: Vec<Problem>) -> Result<Scenario, Vec<Problem>> {
    let mut report = Report::new(file, root, problems);
    if let Some(scenario) = check::component(Family::Scenario, root, "", &mut report)
        && let Some(network) = expand(&scenario, &mut report)
    {
        let flows = Flows::new(&scenario, &network);
        flows.check_sources(&mut report);
        flows.check_bursts(&mut report);
        flows.check_guarantees(&mut report);
        let probes = probes(&scenario, &network, &flows, &mut report);
        if report.is_empty() {
            flows.check_reach(&mut report);
        }
        if report.is_empty() {
            return Ok(build(&scenario, &network, &flows, probes));
        }
    }
    Err(report.into_problems())
}

/// The probes, those of groups one for each member.
fn probes(
    scenario: &Record,
    network: &Expanded,
    flows: &Flows<'_>,
    report: &mut Report,
) -> Vec<Probe> {
    let mut out = Vec::new();
    let mut points = 0u64;
    let vc_entries = entries(scenario, "vc");
    for (i, entry) in entries(scenario, "probe").into_iter().enumerate() {
        let Some((entry, of)) = entry.and_then(|e| Some((e, text(e, "of")?))) else {
            continue;
        };
        let what = text(entry, "what").unwrap_or_default();
        let of_tcp = matches!(
            what,
            "cwnd" | "ssthresh" | "sequence" | "delivered" | "goodput"
        );
        let of_vc = of_tcp || what == "trace";
        let (names, kind) = if of_vc {
            (&network.vc_names, "VC")
        } else {
            (&network.link_names, "link")
        };
        let path = format!("probe[{i}].of");
        let Some(members) = names.find(of) else {
            let suggestion = report.suggest(of, names.all());
            report.add(
                &path,
                format!("no {kind} has this name"),
                format!("the name of a {kind}"),
                suggestion,
            );
            continue;
        };
        let is_tcp = |vc: usize| {
            let traffic = vc_entries[network.vcs[vc].entry].and_then(|e| object(e, "traffic"));
            traffic.is_none_or(|t| text(t, "kind") == Some("tcp"))
        };
        if of_tcp && !members.iter().all(|&vc| is_tcp(vc)) {
            report.add(
                &path,
                format!("has no {what}: it is no TCP"),
                "a VC with TCP traffic",
                None,
            );
        }
        if !of_vc
            && members
                .iter()
                .any(|&l| network.links[l].from < network.hosts)
        {
            report.add(&path, "leaves a host", "a link that leaves a switch", None);
        }
        let has_credit = |link: usize| {
            let scheduler = flows.port(&network.links[link], "scheduler");
            scheduler.is_none_or(|s| text(s, "kind") == Some("guaranteed-rate"))
        };
        if what == "credit" && !members.iter().all(|&link| has_credit(link)) {
            report.add(
                &path,
                "has no credit: its scheduler is not guaranteed-rate",
                "a port with the scheduler guaranteed-rate",
                None,
            );
        }
        if let (Some(interval), Some(duration)) =
            (number(entry, "interval"), number(scenario, "duration"))
        {
            points =
                points.saturating_add((duration / interval).saturating_mul(members.len() as u64));
            if points > MOST_POINTS {
                report.add(
                    &format!("probe[{i}].interval"),
                    format!("makes {points} points with the probes before it"),
                    format!("at most {MOST_POINTS} points in all"),
                    None,
                );
                points = 0;
            }
        }
        let vc = text(entry, "vc");
        if let Some(name) = vc {
            let path = format!("probe[{i}].vc");
            match network.vc_names.find(name) {
                Some([vc]) if network.vcs[*vc].name == name => {}
                Some(_) => report.add(&path, "is a group", "one of its members", None),
                None => {
                    let suggestion = report.suggest(name, network.vc_names.all());
                    report.add(&path, "no VC has this name", "the name of a VC", suggestion);
                }
            }
        }
        for &member in members {
            let name = if of_vc {
                &network.vcs[member].name
            } else {
                &network.links[member].name
            };
            out.push(Probe {
                what: model(json!(what)),
                of: name.clone(),
                class: entry
                    .get("class")
                    .filter(|c| !c.is_null())
                    .map(|c| model(c.clone())),
                vc: vc.map(str::to_string),
                interval: number(entry, "interval").map(Span),
                every: number(entry, "every"),
            });
        }
    }
    out
}

/// A checked value as a type of the model.
fn model<T: DeserializeOwned>(value: Json) -> T {
    serde_json::from_value(value).expect("the registry has the fields of the model")
}

/// The field `name` of a checked record as a type of the model.
fn field<T: DeserializeOwned>(record: &Record, name: &str) -> T {
    model(record.get(name).cloned().unwrap_or(Json::Null))
}

fn queues(record: &Record) -> Vec<ClassQueue> {
    let of_class = |class: Class| {
        let mut queue = object(record, class.name())?.clone();
        queue.insert("class".into(), json!(class));
        Some(model(Json::Object(queue)))
    };
    Class::ALL.into_iter().filter_map(of_class).collect()
}

fn build(scenario: &Record, network: &Expanded, flows: &Flows<'_>, probes: Vec<Probe>) -> Scenario {
    let record =
        |list: &str| -> Vec<&Record> { entries(scenario, list).into_iter().flatten().collect() };
    let (hosts, switches) = network.nodes.split_at(network.hosts);
    let (host, switch, link, vc) = (
        record("host"),
        record("switch"),
        record("link"),
        record("vc"),
    );
    let name = |node: usize| network.nodes[node].name.clone();
    // One conversion for all the things that an entry makes.
    let switch: Vec<Switch> = switch
        .into_iter()
        .map(|record| Switch {
            name: String::new(),
            processing: field(record, "processing"),
            scheduler: field(record, "scheduler"),
            queues: queues(record),
        })
        .collect();
    let traffic: HashMap<usize, Traffic> = vc
        .iter()
        .enumerate()
        .filter_map(|(i, vc)| Some((i, traffic(object(vc, "traffic")?))))
        .collect();
    Scenario {
        name: field(scenario, "name"),
        seed: field(scenario, "seed"),
        duration: field(scenario, "duration"),
        tie_order: field(scenario, "tie_order"),
        tie_offset: field(scenario, "tie_offset"),
        arrival_first: field(scenario, "arrival_first"),
        timer_phase: field(scenario, "timer_phase"),
        ensemble: field(scenario, "ensemble"),
        measure: field(scenario, "measure"),
        hosts: hosts
            .iter()
            .map(|at| Host {
                name: at.name.clone(),
                processing: field(host[at.entry], "processing"),
            })
            .collect(),
        switches: switches
            .iter()
            .map(|at| Switch {
                name: at.name.clone(),
                ..switch[at.entry].clone()
            })
            .collect(),
        links: network
            .links
            .iter()
            .map(|at| {
                let record = link[at.entry];
                let there = !at.back;
                Link {
                    name: at.name.clone(),
                    from: name(at.from),
                    to: name(at.to),
                    rate: field(record, "rate"),
                    delay: field(record, "delay"),
                    lose_frames: if there {
                        field(record, "lose_frames")
                    } else {
                        Vec::new()
                    },
                    lose_probability: if there {
                        field(record, "lose_probability")
                    } else {
                        quantity::ZERO
                    },
                    scheduler: if there {
                        field(record, "scheduler")
                    } else {
                        None
                    },
                    queues: if there { queues(record) } else { Vec::new() },
                }
            })
            .collect(),
        vcs: network
            .vcs
            .iter()
            .map(|at| {
                let record = vc[at.entry];
                let mut traffic = traffic[&at.entry].clone();
                if let (Traffic::Vbr { rate, .. }, Some(of_source)) =
                    (&mut traffic, flows.source_rate(at))
                {
                    *rate = BitRate(of_source);
                }
                let last = at.nodes.len() - 1;
                Vc {
                    name: at.name.clone(),
                    from: name(at.nodes[0]),
                    to: name(at.nodes[last]),
                    route: at.nodes[1..last].iter().map(|&n| name(n)).collect(),
                    class: field(record, "class"),
                    weight: field(record, "weight"),
                    guarantee: field(record, "guarantee"),
                    start: field(record, "start"),
                    traffic,
                }
            })
            .collect(),
        probes,
    }
}

/// Traffic as the model has it; the rate of a VBR source given by its amplitude is filled in later.
fn traffic(record: &Record) -> Traffic {
    let mut record = record.clone();
    if record.remove("amplitude").is_some() && record["rate"].is_null() {
        record.insert("rate".into(), json!(0));
    }
    model(Json::Object(record))
}
