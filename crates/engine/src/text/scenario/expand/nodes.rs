//! Makes hosts and switches.

use super::groups::{Numbered, check_length, duplicate};
use super::things::{NodeAt, Things};
use crate::text::scenario::individual::PlacedMembers;
use crate::text::scenario::record::{Record, number, text};
use crate::text::scenario::report::Report;
use std::sync::Arc;

/// Makes the hosts, then the switches. Returns false when one has no name or a name that is taken.
pub(super) fn nodes(
    scenario: &Record,
    placed: &PlacedMembers,
    things: &mut Things,
    report: &mut Report,
) -> bool {
    let hosts_right = family("host", scenario, placed, things, report);
    things.hosts = things.nodes.len();
    let switches_right = family("switch", scenario, placed, things, report);
    hosts_right && switches_right
}

fn family(
    family: &'static str,
    scenario: &Record,
    placed: &PlacedMembers,
    things: &mut Things,
    report: &mut Report,
) -> bool {
    let mut right = true;
    for (i, entry) in placed.makers(scenario, family).into_iter().enumerate() {
        let Some((entry, name)) = entry.and_then(|e| Some((e, text(e, "name")?))) else {
            right = false;
            continue;
        };
        let count = number(entry, "count");
        let first = things.nodes.len();
        let makes = count.unwrap_or(1) as usize;
        let members = (first..first + makes).collect();
        let known = &mut things.node_names;
        known.reserve(makes);
        let mut unique = count.is_none() || known.define_group(name, members);
        let mut numbered = Numbered::new(name);
        for k in 0..makes {
            let name = match count {
                None => Arc::from(name),
                Some(_) => numbered.name(k + 1),
            };
            unique &= known.define(&name, things.nodes.len());
            let entry = placed.position(family, i, k);
            things.nodes.push(NodeAt { name, entry });
        }
        let at_name = format!("{family}[{i}].name");
        check_length(&at_name, &mut things.node_names, report);
        if !unique {
            duplicate(&at_name, "hosts and switches", report);
            right = false;
        }
    }
    right
}
