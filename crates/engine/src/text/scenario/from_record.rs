//! Builds the model from records without faults and from the things they describe.
//!
//! One conversion serves all things that an entry makes; names are filled in afterwards.

use super::check;
use super::expand::things::{NodeAt, Things};
use super::flows::Flows;
use super::model::*;
use super::record::{Record, complete, entries, field, object};
use super::report::Report;
use super::tree;
use crate::ground::class::Class;
use crate::ground::format::Format;
use crate::ground::units::{BitRate, Ratio, Span};
use crate::text::registry::Family;
use serde_json::{Value as Json, json};

/// Builds the scenario if nothing is wrong with it.
pub(crate) fn scenario(
    record: &Record,
    things: &Things,
    flows: &Flows<'_>,
    probes: Vec<Probe>,
) -> Scenario {
    let (hosts, switches) = things.nodes.split_at(things.hosts);
    Scenario {
        name: field(record, "name"),
        seed: field(record, "seed"),
        format: field(record, "format"),
        duration: field(record, "duration"),
        tie_order: field(record, "tie_order"),
        tie_offset: field(record, "tie_offset"),
        arrival_first: field(record, "arrival_first"),
        timer_phase: field(record, "timer_phase"),
        timers: field(record, "timers"),
        ensemble: field(record, "ensemble"),
        measure: field(record, "measure"),
        hosts: self::hosts(record, hosts),
        switches: self::switches(record, switches),
        links: links(record, things),
        vcs: vcs(record, things, flows),
        probes,
    }
}

/// Applies `make` to each entry of `list`.
fn made<T>(scenario: &Record, list: &str, make: impl Fn(&Record) -> T) -> Vec<T> {
    let records = entries(scenario, list).into_iter().flatten();
    records.map(make).collect()
}

fn hosts(scenario: &Record, hosts: &[NodeAt]) -> Vec<Host> {
    let made = made(scenario, "host", |record| Host {
        name: String::new(),
        processing: field(record, "processing"),
    });
    let host = |at: &NodeAt| Host {
        name: at.name.to_string(),
        ..made[at.entry].clone()
    };
    hosts.iter().map(host).collect()
}

fn switches(scenario: &Record, switches: &[NodeAt]) -> Vec<Switch> {
    let made = made(scenario, "switch", |record| Switch {
        name: String::new(),
        processing: field(record, "processing"),
        scheduler: field(record, "scheduler"),
        pool: field(record, "pool"),
        queues: queues(record),
    });
    let switch = |at: &NodeAt| Switch {
        name: at.name.to_string(),
        ..made[at.entry].clone()
    };
    switches.iter().map(switch).collect()
}

fn queues(record: &Record) -> Vec<ClassQueue> {
    let of_class = |class: Class| {
        let queue = object(record, class.name())?;
        Some(ClassQueue {
            class,
            buffer: field(queue, "buffer"),
            reserve: field(queue, "reserve"),
            alpha: field(queue, "alpha"),
            police: field(queue, "police"),
            drop: field(queue, "drop"),
            feedback: field(queue, "feedback"),
            rest_of_frame: field(queue, "rest_of_frame"),
        })
    };
    Class::ALL.into_iter().filter_map(of_class).collect()
}

/// Builds the links. Losses, scheduler and queues apply to the forward link; the backward link
/// shares only rate, changes and delay.
fn links(scenario: &Record, things: &Things) -> Vec<Link> {
    let made = made(scenario, "link", |record| {
        let there = Link {
            name: String::new(),
            from: String::new(),
            to: String::new(),
            rate: field(record, "rate"),
            changes: field(record, "changes"),
            delay: field(record, "delay"),
            lose_frames: field(record, "lose_frames"),
            lose_probability: field(record, "lose_probability"),
            scheduler: field(record, "scheduler"),
            queues: queues(record),
        };
        let back = Link {
            lose_frames: Vec::new(),
            lose_probability: Ratio::new(0, 1),
            scheduler: None,
            queues: Vec::new(),
            ..there.clone()
        };
        [there, back]
    });
    let links = things.links.iter().map(|at| Link {
        name: at.name.to_string(),
        from: things.nodes[at.from].name.to_string(),
        to: things.nodes[at.to].name.to_string(),
        ..made[at.entry][usize::from(at.back)].clone()
    });
    links.collect()
}

/// Values common to all VCs of an entry.
#[derive(Clone, Copy)]
struct VcValues {
    class: Class,
    weight: u64,
    guarantee: Option<BitRate>,
    start: Span,
    stop: Option<Span>,
    contract: Option<Contract>,
    abr: Option<AbrParams>,
    shape: Option<Shape>,
}

fn vcs(scenario: &Record, things: &Things, flows: &Flows<'_>) -> Vec<Vc> {
    let name = |&node: &usize| things.nodes[node].name.to_string();
    let made = made(scenario, "vc", |record| VcValues {
        class: field(record, "class"),
        weight: field(record, "weight"),
        guarantee: field(record, "guarantee"),
        start: field(record, "start"),
        stop: field(record, "stop"),
        contract: field(record, "contract"),
        abr: field(record, "abr"),
        shape: field(record, "shape"),
    });
    let vcs = things.vcs.iter().enumerate().map(|(index, at)| {
        let values = made[at.entry];
        let last = at.nodes.len() - 1;
        Vc {
            name: at.name.to_string(),
            from: name(&at.nodes[0]),
            to: name(&at.nodes[last]),
            route: at.nodes[1..last].iter().map(name).collect(),
            class: values.class,
            weight: values.weight,
            guarantee: values.guarantee,
            start: values.start,
            stop: values.stop,
            contract: values.contract,
            abr: values.abr,
            shape: values.shape,
            traffic: flows.traffic(index).expect("nothing is wrong").clone(),
        }
    });
    vcs.collect()
}

impl Default for TcpParams {
    /// TCP parameters with the defaults of the registry.
    fn default() -> TcpParams {
        TcpParams::of_profile(Profile::default(), Format::AAL5)
    }
}

impl TcpParams {
    /// TCP parameters with the defaults of a profile, in the ticks of `format`.
    pub fn of_profile(profile: Profile, format: Format) -> TcpParams {
        let node = tree::from_json(&json!({ "kind": "tcp", "profile": profile }));
        let mut report = Report::new("", &node, Vec::new());
        report.format = format;
        let record = check::component(Family::Traffic, &node, "", &mut report);
        match record.and_then(|record| complete(&Json::Object(record))) {
            Some(Traffic::Tcp(tcp)) => *tcp,
            _ => unreachable!("the registry has the fields of the model"),
        }
    }
}
