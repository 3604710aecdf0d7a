//! Reads text or Python values into a checked scenario.

use super::expand::expand;
use super::flows::Flows;
use super::individual::{IndividualMembers, PlacedMembers};
use super::model::{MaxGoodput, Scenario};
use super::network::Network;
use super::problem::Problem;
use super::report::Report;
use super::tree::{self, Node};
use super::{
    available, changes, check, contracts, from_record, overrides, pool, probes, push_out, shape,
    syntax, time_limit, weights,
};
use crate::text::registry::Family;
use crate::text::scenario::fair_goodput;
use crate::text::scenario::topology::Topology;

/// Reads a scenario from TOML text, fills in every default and expands every group.
///
/// `file` names the text in messages. `overrides` are set first. Each is a dotted path with a TOML
/// value or bare words (`2000 cells`). Paths look like `switch.west.ubr.buffer`,
/// `vc.0.traffic.mss`, `vc.vc3.start`, `vc.*.start` or `link.rate`.
///
/// # Errors
/// All problems of the text, in its order; of more than 50 the first, and a last one that says how many more there are.
pub fn read_toml(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    read(syntax::from_toml(text, file)?, file, overrides)
}

/// Reads a scenario from values with the fields of the TOML form. `overrides` work as in
/// [`read_toml`].
///
/// # Errors
/// All problems, as of [`read_toml`]; they have no lines.
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
    let mut individual = IndividualMembers::default();
    for (path, value) in overrides {
        let applied = overrides::apply(&mut root, &mut individual, path, value);
        problems.extend(applied.err().map(|p| *p));
    }
    let placed = individual.place(&mut root);
    resolve(&root, &placed, file, problems).map_err(|found| placed.with_member_names(found))
}

fn resolve(
    root: &Node,
    placed: &PlacedMembers,
    file: &str,
    problems: Vec<Problem>,
) -> Result<Scenario, Vec<Problem>> {
    let mut report = Report::new(file, root, problems);
    report.format = check::format(root);
    if let Some(record) = check::component(Family::Scenario, root, "", &mut report)
        && let Some(things) = expand(&record, placed, &mut report)
    {
        let flows = Flows::new(&record, &things, report.format);
        flows.check_sources(&mut report);
        flows.check_bursts(&mut report);
        flows.check_guarantees(&mut report);
        let probes = probes::probes(&record, &things, &flows, &mut report);
        if report.is_empty() {
            let mut scenario = from_record::scenario(&record, &things, &flows, probes);
            pool::in_memory_cells(&mut scenario);
            let topology = Topology::new(&scenario).expect("routes have been found");
            let network = Network {
                scenario: &scenario,
                topology: &topology,
                things: &things,
            };
            pool::check(&network, &mut report);
            push_out::check(&network, &mut report);
            super::places::check(&network, &mut report);
            weights::check(&network, &mut report);
            contracts::check(&network, &mut report);
            available::check(&network, &mut report);
            changes::check(&network, &mut report);
            shape::check(&network, &mut report);
            time_limit::check(&network, &mut report);
            max_goodput(&scenario, &topology, &mut report);
            if report.is_empty() {
                return Ok(scenario);
            }
        }
    }
    Err(report.into_problems())
}

/// Reports an efficiency relative to fair shares whose sum is unknown.
fn max_goodput(scenario: &Scenario, topology: &Topology, report: &mut Report) {
    if scenario.measure.max_goodput == Some(MaxGoodput::FairShares)
        && let Some((message, allowed)) = fair_goodput::unknown(scenario, topology)
    {
        report.add("measure.max_goodput", message, allowed, None);
    }
}
