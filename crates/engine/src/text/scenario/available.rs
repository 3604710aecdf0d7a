//! Rules about ABR. End systems must fit the class, source and links of their VC; feedback needs
//! VCs that use it.

use super::expand::things::Things;
use super::model::{ClassQueue, Scenario, Vc};
use super::network::Network;
use super::report::Report;
use super::traffic::Carries;
use crate::ground::class::Class;
use crate::ground::flow::{FlowId, FlowKind};
use crate::ground::units::BitRate;
use crate::text::notation::show::show_rate;
use crate::text::scenario::topology::Topology;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// Reports misplaced end systems, rates above a host's link, and feedback without an audience. Each
/// entry of the scenario is reported once. `contracts` reports MCRs whose sum exceeds a link.
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
type Misplacement = (&'static str, String, String);

/// Fault of end systems on a VC of another class, or on a VC without frames.
fn misplaced(vc: &Vc) -> Option<Misplacement> {
    vc.abr?;
    let class = vc.class.name();
    let kind = vc.traffic.name();
    let other = vc.class != Class::Abr;
    let cells = vc.traffic.carries() == Carries::Cells;
    let message = match (other, cells) {
        (true, _) => format!("requires the class abr, but the class of the VC is {class}"),
        (false, true) => format!("requires traffic with frames, but {kind} sends single cells"),
        (false, false) => return None,
    };
    let allowed = if other {
        "class = \"abr\", or no abr"
    } else {
        "traffic tcp or udp, or no abr"
    };
    Some(("abr", message, allowed.to_string()))
}

/// Fault of a rate above the link of the host at either end.
fn too_fast(scenario: &Scenario, topology: &Topology, vc: usize) -> Option<Misplacement> {
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
            format!("is above the rate of the host link {}", slowest.name),
            format!("at most {}", show_rate(slowest.rate)),
        )
    })
}

/// VCs that cross a class queue with feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum FeedbackUse {
    /// No VC of the class abr.
    #[default]
    Unused,
    /// VCs of the class abr, none with end systems. Holds the first of them.
    NoEndSystem(Reverse<usize>),
    /// At least one VC with end systems.
    Used,
}

/// Reports feedback in queues of other classes and in queues that no VC with end systems crosses.
/// Each entry is reported once. If VCs of the class abr cross the queue, their end
/// systems are missing.
fn feedback(scenario: &Scenario, topology: &Topology, things: &Things, report: &mut Report) {
    let mut places = BTreeMap::new();
    let feedback_use = |link: usize| {
        let flows = topology.crossing[link].iter();
        let of_flow = |id: &FlowId| {
            let vc = topology.flows[id.index()].vc;
            match (scenario.vcs[vc].abr, scenario.vcs[vc].class) {
                (Some(_), _) => FeedbackUse::Used,
                (None, Class::Abr) => FeedbackUse::NoEndSystem(Reverse(vc)),
                (None, _) => FeedbackUse::Unused,
            }
        };
        flows.map(of_flow).max().unwrap_or_default()
    };
    let is_abr = |queue: &ClassQueue| queue.class == Class::Abr;
    let mut use_at = vec![FeedbackUse::Unused; scenario.switches.len()];
    for (index, link) in scenario.links.iter().enumerate() {
        if let Some(switch) = topology.switch_of[index]
            && !link.queues.iter().any(is_abr)
        {
            use_at[switch] = use_at[switch].max(feedback_use(index));
        }
    }
    for (index, switch) in scenario.switches.iter().enumerate() {
        let entry = things.nodes[things.hosts + index].entry;
        note(
            &mut places,
            ("switch", entry),
            &switch.queues,
            use_at[index],
        );
    }
    for (index, link) in scenario.links.iter().enumerate() {
        let is_port = topology.switch_of[index].is_some();
        let feedback_use = if is_port {
            feedback_use(index)
        } else {
            FeedbackUse::Unused
        };
        let entry = things.links[index].entry;
        note(&mut places, ("link", entry), &link.queues, feedback_use);
    }
    for ((list, entry, class), feedback_use) in places {
        let path = format!("{list}[{entry}].{}.feedback", class.name());
        match feedback_use {
            _ if class != Class::Abr => {
                report.add(&path, "has an effect only in the class abr", "only in the queue `abr`", None);
            }
            FeedbackUse::Used => {}
            FeedbackUse::NoEndSystem(Reverse(vc)) => report.add_once(
                &format!("vc[{}].abr", things.vcs[vc].entry),
                format!(
                    "is missing: {} has the class abr, but needs `abr` to follow the feedback on its route",
                    scenario.vcs[vc].name
                ),
                "abr = {}, or no feedback on its route".into(),
            ),
            FeedbackUse::Unused => report.add(
                &path,
                "has no effect: no VC with `abr` crosses a port that it applies to",
                "a VC with `abr` there, or no feedback",
                None,
            ),
        }
    }
}

/// Audience of the feedback of a class at an entry of a list.
type FeedbackUses = BTreeMap<(&'static str, usize, Class), FeedbackUse>;

/// Records the audience of every queue with feedback.
fn note(
    places: &mut FeedbackUses,
    at: (&'static str, usize),
    queues: &[ClassQueue],
    feedback_use: FeedbackUse,
) {
    for queue in queues.iter().filter(|queue| queue.feedback.is_some()) {
        let use_at = places.entry((at.0, at.1, queue.class)).or_default();
        *use_at = feedback_use.max(*use_at);
    }
}
