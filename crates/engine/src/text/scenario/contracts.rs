//! Rules about contracts and minimum rates: they must fit the VC's source and the links and queues
//! on its route.

use super::contract::ContractTerms;
use super::model::{ClassQueue, Police, Scenario, Vc};
use super::network::Network;
use super::report::Report;
use crate::ground::class::Class;
use crate::ground::flow::FlowKind;
use crate::ground::units::BitRate;
use crate::text::notation::show::{show_cells, show_rate};
use rustc_hash::FxHashMap;
use std::fmt::{self, Display, Formatter};

/// Reports contracts that a full frame cannot keep, minimum rates that exceed a link, and VCs
/// without a contract that a class queue requires. Each entry of the scenario is reported once.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let &Network {
        scenario,
        topology,
        things,
    } = network;
    let mut sums: FxHashMap<usize, u64> = FxHashMap::default();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let entry = things.vcs[index].entry;
        let terms = vc.terms(scenario.format);
        let frame = vc.frame_cells(scenario.format);
        let faults = terms.as_ref().and_then(|terms| burst(frame, terms));
        let mut found: Vec<ContractFault> = faults.into_iter().collect();
        for kind in FlowKind::FRAMES {
            for &link in &topology.flows[topology.flow(index, kind).index()].path {
                let minimum = minimum(vc, kind);
                found.extend(minimum.and_then(|mcr| sum(scenario, link, mcr, &mut sums)));
            }
        }
        for &link in topology.data_path(index) {
            if topology.switch_of[link].is_some() {
                let queue = topology.queue(scenario, link, vc.class);
                let place = Place(vc.class, &scenario.links[link].name);
                found.extend(asked(queue, &place, terms.as_ref()));
                found.extend(size(queue, &place, frame, terms.as_ref()));
            }
        }
        for fault in found {
            let path = format!("vc[{entry}].{}", fault.field);
            report.add_once(&path, fault.message, fault.allowed);
        }
    }
}

/// A class queue as messages name it: by class and port.
struct Place<'s>(Class, &'s str);

impl Display for Place<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "{} of {}", self.0.name(), self.1)
    }
}

struct ContractFault {
    field: &'static str,
    message: String,
    allowed: String,
}

/// Fault of a burst size that does not hold one frame of `frame` cells.
fn burst(frame: u64, terms: &ContractTerms) -> Option<ContractFault> {
    (terms.sustained.is_some() && terms.mbs < frame).then(|| ContractFault {
        field: "contract.mbs",
        message: format!("is less than one frame, which has {}", show_cells(frame)),
        allowed: format!("at least {}", show_cells(frame)),
    })
}

/// The minimum rate of a flow and the field that sets it. For data, the larger of contract and end
/// systems counts. End systems apply in both directions.
fn minimum(vc: &Vc, kind: FlowKind) -> Option<(&'static str, BitRate)> {
    let contract = vc.contract.filter(|_| kind.is_data());
    let contract = contract.and_then(|contract| contract.mcr);
    let ends = vc.abr.and_then(|abr| abr.mcr);
    let fields = [("contract.mcr", contract), ("abr.mcr", ends)];
    let given = fields
        .into_iter()
        .filter_map(|(field, mcr)| Some((field, mcr?)));
    given.max_by_key(|&(_, mcr)| mcr)
}

/// Reports minimum rates whose sum exceeds a link, once, at the VC that crosses the limit.
fn sum(
    scenario: &Scenario,
    link: usize,
    (field, mcr): (&'static str, BitRate),
    sums: &mut FxHashMap<usize, u64>,
) -> Option<ContractFault> {
    let spec = &scenario.links[link];
    let sum = sums.entry(link).or_default();
    let before = *sum;
    *sum = sum.saturating_add(mcr.0);
    (before <= spec.rate.0 && *sum > spec.rate.0).then(|| ContractFault {
        field,
        message: format!(
            "brings the minimum rates on {} to {} in total, above the rate of the link",
            spec.name,
            show_rate(BitRate(*sum))
        ),
        allowed: format!("at most {} in total", show_rate(spec.rate)),
    })
}

/// Fault of frames, of up to `frame` cells, that are so large that a frame policer cuts them.
fn size(
    queue: &ClassQueue,
    place: &Place<'_>,
    frame: u64,
    terms: Option<&ContractTerms>,
) -> Option<ContractFault> {
    let polices = matches!(queue.police, Some(Police::FGcra { .. }));
    (polices && terms.is_some_and(|terms| terms.mfs < frame)).then(|| ContractFault {
        field: "contract.mfs",
        message: format!(
            "is less than one frame, which has {} and would be cut by the policer f-gcra at the queue {place}",
            show_cells(frame)
        ),
        allowed: format!("at least {}", show_cells(frame)),
    })
}

/// Fault of a VC without the contract that `queue` requires.
fn asked(
    queue: &ClassQueue,
    place: &Place<'_>,
    terms: Option<&ContractTerms>,
) -> Option<ContractFault> {
    let has_minimum = terms.is_some_and(|t| t.sustained.is_some());
    let has_any = has_minimum || terms.is_some_and(|t| t.pcr.is_some());
    let lacks = |who: &str, what: &str| ContractFault {
        field: "contract",
        message: match terms {
            None => format!("is missing, but {who} at the queue {place} needs it"),
            Some(_) => format!("missing {what}: {who} at the queue {place} needs it"),
        },
        allowed: format!("a contract with {what}"),
    };
    match queue.police {
        Some(Police::Gcra { .. }) if !has_any => {
            return Some(lacks("the policer gcra", "pcr, scr or mcr"));
        }
        Some(Police::FGcra { .. }) if !has_minimum => {
            return Some(lacks("the policer f-gcra", "mcr or scr"));
        }
        Some(Police::Gcra { .. } | Police::FGcra { .. }) | None => {}
    }
    let policy = queue
        .drop
        .abilities()
        .asks_for_rates
        .filter(|_| !has_minimum)?;
    Some(lacks(&format!("the drop policy {policy}"), "mcr or scr"))
}
