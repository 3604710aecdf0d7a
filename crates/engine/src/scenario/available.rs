//! Rules about ABR: end systems against the class, the source and the links of their VC; feedback against the VCs that it is for.

use super::expand::things::Things;
use super::model::{ClassQueue, Scenario, Vc};
use super::network::Network;
use super::report::Report;
use super::traffic::Carries;
use crate::class::Class;
use crate::flow::FlowKind;
use crate::notation::show::show_rate;
use crate::topology::Topology;
use crate::units::BitRate;
use std::collections::{BTreeMap, HashSet};

/// Reports end systems that their VC cannot have, rates above the links of its hosts, and feedback that nobody listens to; each entry of the
/// scenario once. MCRs that are together more than a link has are told with those of contracts.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let Network {
        scenario,
        topology,
        things,
    } = *network;
    let mut reported = HashSet::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let entry = things.vcs[index].entry;
        let fault = misplaced(vc).or_else(|| too_fast(scenario, topology, index));
        if let Some((field, message, allowed)) = fault
            && reported.insert(entry)
        {
            report.add(&format!("vc[{entry}].{field}"), message, allowed, None);
        }
    }
    feedback(scenario, topology, things, report);
}

/// A field, what is wrong with it, and what is allowed.
type Fault = (&'static str, String, String);

/// End systems of a VC of another class, or of one without frames.
fn misplaced(vc: &Vc) -> Option<Fault> {
    vc.abr?;
    let class = vc.class.name();
    let kind = vc.traffic.name();
    let other = vc.class != Class::Abr;
    let cells = vc.traffic.carries() == Carries::Cells;
    let message = match (other, cells) {
        (true, _) => format!("is for the class abr, but that of the VC is {class}"),
        (false, true) => format!("holds frames back, but {kind} sends single cells"),
        (false, false) => return None,
    };
    let allowed = if other {
        "class = \"abr\", or no abr"
    } else {
        "traffic with frames, as tcp or udp, or no abr"
    };
    Some(("abr", message, allowed.to_string()))
}

/// A rate above the link of the host at either end.
fn too_fast(scenario: &Scenario, topology: &Topology, vc: usize) -> Option<Fault> {
    let abr = scenario.vcs[vc].abr?;
    let ends = FlowKind::FRAMES.map(|kind| &topology.flows[topology.flow(vc, kind).index()]);
    let links = ends.map(|flow| &scenario.links[flow.path[0]]);
    let slowest = links.into_iter().min_by_key(|link| link.rate)?;
    let rates = [
        ("abr.pcr", abr.pcr),
        ("abr.mcr", abr.mcr),
        ("abr.icr", abr.icr),
    ];
    let fast = |&(_, rate): &(_, Option<BitRate>)| rate.is_some_and(|r| r > slowest.rate);
    rates.into_iter().find(fast).map(|(field, _)| {
        (
            field,
            format!("is above the rate of {}, a link of a host", slowest.name),
            format!("at most {}", show_rate(slowest.rate)),
        )
    })
}

/// Feedback in queues of other classes, and in those that no VC with end systems crosses; each entry once.
fn feedback(scenario: &Scenario, topology: &Topology, things: &Things, report: &mut Report) {
    let mut places = BTreeMap::new();
    let listens = |link: usize| {
        let mut flows = topology.crossing[link].iter();
        flows.any(|id| scenario.vcs[topology.flows[id.index()].vc].abr.is_some())
    };
    let is_abr = |queue: &ClassQueue| queue.class == Class::Abr;
    let mut heard = vec![false; scenario.switches.len()];
    for (index, link) in scenario.links.iter().enumerate() {
        if let Some(switch) = topology.switch_of[index] {
            heard[switch] |= !link.queues.iter().any(is_abr) && listens(index);
        }
    }
    for (index, switch) in scenario.switches.iter().enumerate() {
        let entry = things.nodes[things.hosts + index].entry;
        note(&mut places, ("switch", entry), &switch.queues, heard[index]);
    }
    for (index, link) in scenario.links.iter().enumerate() {
        let listens = topology.switch_of[index].is_some() && listens(index);
        let entry = things.links[index].entry;
        note(&mut places, ("link", entry), &link.queues, listens);
    }
    for ((list, entry, class), listens) in places {
        let (message, allowed) = if class != Class::Abr {
            ("is for the class abr alone", "in the queue `abr`")
        } else if !listens {
            (
                "is for nobody: no VC with `abr` crosses a port that it holds for",
                "a VC with `abr` there, or no feedback",
            )
        } else {
            continue;
        };
        let path = format!("{list}[{entry}].{}.feedback", class.name());
        report.add(&path, message, allowed, None);
    }
}

/// Whether anybody listens to the feedback of a class at an entry of a list.
type Places = BTreeMap<(&'static str, usize, Class), bool>;

/// Takes down the feedback of these queues.
fn note(places: &mut Places, at: (&'static str, usize), queues: &[ClassQueue], listens: bool) {
    for queue in queues.iter().filter(|queue| queue.feedback.is_some()) {
        *places.entry((at.0, at.1, queue.class)).or_default() |= listens;
    }
}
