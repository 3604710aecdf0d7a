//! Rules about rates of links that change (model section 2).

use super::model::{Link, Scenario, Scheduler};
use super::network::Network;
use super::report::Report;
use crate::ground::class::Class;
use crate::ground::units::{BitRate, Span};
use crate::text::notation::show::{show_duration, show_rate};
use crate::text::scenario::topology::Topology;

/// Reports changes that are out of order or come after the end, and those of ports that cannot have
/// them. Each entry of the scenario is reported once.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let &Network {
        scenario,
        topology,
        things,
    } = network;
    for (index, (link, at)) in scenario.links.iter().zip(&things.links).enumerate() {
        if !link.changes_rate() {
            continue;
        }
        let path = format!("link[{}].changes", at.entry);
        if let Some((change, message, allowed)) = out_of_order(scenario, link) {
            report.add_once(&format!("{path}[{change}].at"), message, allowed);
        } else if let Some((message, mut allowed)) = refused(scenario, topology, index) {
            if at.back {
                allowed += "; or `duplex = false` and a separate link back, as this is the port of the way back";
            }
            report.add_once(&path, message, allowed);
        }
    }
}

/// The first change at a wrong time, why it is wrong, and what is allowed.
fn out_of_order(scenario: &Scenario, link: &Link) -> Option<(usize, String, String)> {
    let clock = scenario.format.clock;
    let (mut after, duration) = (Span::ZERO, scenario.duration);
    for (index, change) in link.changes.iter().enumerate() {
        let [at, before, end] = [change.at, after, duration].map(|t| show_duration(t, clock));
        if change.at <= after {
            let message = format!("is {at}, not after the change before it");
            return Some((index, message, format!("above {before}")));
        }
        if change.at >= duration {
            let message = format!("is {at}, not before the end of the run");
            return Some((index, message, format!("below the duration, {end}")));
        }
        after = change.at;
    }
    None
}

/// Why the rate of a port cannot change, and what is allowed.
fn refused(scenario: &Scenario, topology: &Topology, link: usize) -> Option<(String, String)> {
    topology.switch_of[link]?;
    let scheduler = topology.scheduler(scenario, link);
    let name = &scenario.links[link].name;
    let why = |what: String, or: &str| {
        let message = format!("cannot be at the port {name}: {what}");
        Some((message, format!("no changes, or {or}")))
    };
    if matches!(scheduler, Scheduler::GuaranteedRate { .. }) {
        let what = "the credit of its scheduler `guaranteed-rate` counts slots of one length";
        return why(what.into(), "another scheduler");
    }
    let mut vcs = topology.crossing[link].iter().map(|id| {
        let flow = &topology.flows[id.index()];
        (flow.kind.is_data(), &scenario.vcs[flow.vc])
    });
    let guaranteed = vcs.find(|(is_data, vc)| {
        *is_data && vc.guarantee.is_some() && scheduler.guarantees_vcs_of(vc.class)
    });
    if let Some((_, vc)) = guaranteed {
        let rate = show_rate(vc.guarantee.unwrap_or(BitRate(0)));
        let what = format!("`guarantee` of {}, {rate}, is a part of one rate", vc.name);
        return why(what, "no guarantee");
    }
    let has_feedback = topology.classes[link].contains(&Class::Abr)
        && topology
            .queue(scenario, link, Class::Abr)
            .feedback
            .is_some();
    if has_feedback {
        let what = "its feedback computes with one rate of the link";
        return why(what.into(), "no feedback there");
    }
    None
}
