//! From entries to things: groups made by `count` become hosts, switches, links and VCs with names, and names
//! become positions. Refuses a scenario that would be too large before it takes the memory.

mod groups;
mod links;
mod nodes;
mod route;
pub(crate) mod size;
pub(crate) mod things;
mod vcs;

use super::record::Record;
use super::report::Report;
use things::Things;

/// Expands a scenario. `None` when it is too large.
pub(crate) fn expand(scenario: &Record, report: &mut Report) -> Option<Things> {
    if !size::fits(scenario, report) {
        return None;
    }
    let mut things = Things::default();
    let nodes_right = nodes::nodes(scenario, &mut things, report);
    let links_right = links::links(scenario, &mut things, nodes_right, report);
    vcs::vcs(scenario, &mut things, [nodes_right, links_right], report);
    Some(things)
}
