//! Expands entries to things.
//!
//! Groups made by `count` become hosts, switches, links and VCs with names, and names become
//! positions. Too large a scenario is refused before it takes the memory.

mod groups;
mod links;
mod nodes;
mod route;
pub(crate) mod size;
pub(crate) mod things;
mod vcs;

use super::individual::{OUTSIDE_TEXT, PlacedMembers};
use super::record::Record;
use super::report::Report;
use things::Things;

/// Expands a scenario. Returns `None` when it is too large.
pub(crate) fn expand(
    scenario: &Record,
    placed: &PlacedMembers,
    report: &mut Report,
) -> Option<Things> {
    if !size::fits(scenario, placed, report) {
        return None;
    }
    let mut things = Things::default();
    let nodes_right = nodes::nodes(scenario, placed, &mut things, report);
    let links_right = links::links(scenario, placed, &mut things, nodes_right, report);
    let right = [nodes_right, links_right];
    vcs::vcs(scenario, placed, &mut things, right, report);
    if report.is_empty() {
        members(placed, &things, report);
    }
    Some(things)
}

/// Reports individually set members that do not exist or have another name once all overrides are
/// set.
fn members(placed: &PlacedMembers, things: &Things, report: &mut Report) {
    for member in &placed.members {
        let has_values = |entry: usize, name: &str| entry == member.at && name == member.name;
        let found = match member.list {
            "link" => {
                let mut links = things.links.iter();
                links.any(|link| has_values(link.entry, &link.name))
            }
            "vc" => things.vcs.iter().any(|vc| has_values(vc.entry, &vc.name)),
            list => {
                let (hosts, switches) = things.nodes.split_at(things.hosts);
                let mut nodes = if list == "host" { hosts } else { switches }.iter();
                nodes.any(|node| has_values(node.entry, &node.name))
            }
        };
        if !found {
            let message = "sets a member that does not exist after the other overrides";
            let allowed =
                "overrides of a group's `count`, `name` and ends before overrides of its members";
            report.add_at(
                OUTSIDE_TEXT,
                &member.path(),
                String::new(),
                message,
                allowed,
                None,
            );
        }
    }
}
