//! Makes one-way links.

use super::groups::{Entry, check_length, duplicate};
use super::things::{LinkAt, Things};
use crate::ground::class::Class;
use crate::text::scenario::individual::PlacedMembers;
use crate::text::scenario::record::{Record, entries, text};
use crate::text::scenario::report::Report;
use serde_json::Value as Json;
use std::fmt::Write;
use std::sync::Arc;

/// Makes the links. Returns false when a node or link is wrong, so that routes cannot be found.
pub(super) fn links(
    scenario: &Record,
    placed: &PlacedMembers,
    things: &mut Things,
    nodes_right: bool,
    report: &mut Report,
) -> bool {
    let mut right = nodes_right;
    let all = entries(scenario, "link");
    for (i, record) in placed.makers(scenario, "link").into_iter().enumerate() {
        let path = &format!("link[{i}]");
        let entry = record.map(|record| Entry {
            record,
            path,
            nodes_right,
        });
        let Some((entry, pairs)) = entry.and_then(|e| Some((e, pairs(e, things, report)?))) else {
            right = false;
            continue;
        };
        right &= entry.record.contains_key("duplex");
        let made = make(entry, i, &pairs, placed, things);
        if made.second {
            let [from, to] = ["from", "to"].map(|end| text(entry.record, end).unwrap_or_default());
            report.add(
                path,
                format!("second link between {from} and {to}"),
                "at most one link in each direction between two nodes; `duplex` makes both",
                None,
            );
            right = false;
        } else if !made.unique {
            duplicate(&format!("{path}.name"), "links", report);
        }
        check_length(&format!("{path}.name"), &mut things.link_names, report);
        port_settings(entry, things, report);
        for member in placed.of("link", i) {
            if let Some(&Some(record)) = all.get(member.at) {
                let path = &format!("link[{}]", member.at);
                port_settings(
                    Entry {
                        record,
                        path,
                        ..entry
                    },
                    things,
                    report,
                );
            }
        }
    }
    right
}

/// The pairs of nodes that the links of an entry join.
fn pairs(entry: Entry<'_>, things: &Things, report: &mut Report) -> Option<Vec<(usize, usize)>> {
    let from = entry.end("from", things, report);
    let to = entry.end("to", things, report);
    entry.pairs(from?, to?, "another host or switch", report)
}

/// Outcome for the links of an entry.
struct Made {
    /// Whether all names were new.
    unique: bool,
    /// Whether a link joins two nodes that were already joined.
    second: bool,
}

/// Makes the links of the entry at position `at`.
fn make(
    entry: Entry<'_>,
    at: usize,
    pairs: &[(usize, usize)],
    placed: &PlacedMembers,
    things: &mut Things,
) -> Made {
    let duplex = entry.record.get("duplex") == Some(&Json::Bool(true));
    let backs = &[false, true][..1 + usize::from(duplex)];
    let grouped = entry.is_grouped(things);
    let own_name = text(entry.record, "name");
    let mut members: [Vec<usize>; 2] = Default::default();
    let mut made = Made {
        unique: true,
        second: false,
    };
    let more = pairs.len() * backs.len();
    things.links.reserve(more);
    things.between.reserve(more);
    things.link_names.reserve(more);
    let mut name = String::new();
    for &back in backs.iter().filter(|_| grouped) {
        members[usize::from(back)].reserve(pairs.len());
    }
    for (k, &(a, b)) in pairs.iter().enumerate() {
        for &back in backs {
            let (from, to) = if back { (b, a) } else { (a, b) };
            let suffix = if back { "-back" } else { "" };
            name.clear();
            match own_name {
                None => name.extend([&things.nodes[from].name, "->", &things.nodes[to].name]),
                Some(written) if grouped => {
                    write!(name, "{written}{}{suffix}", k + 1).expect("a text takes everything")
                }
                Some(written) => name.extend([written, suffix]),
            }
            let name = Arc::from(name.as_str());
            let link = things.links.len();
            made.second |= things.between.insert((from, to), link).is_some();
            made.unique &= things.link_names.define(&name, link);
            if grouped {
                members[usize::from(back)].push(link);
            }
            things.links.push(LinkAt {
                name,
                from,
                to,
                entry: placed.position("link", at, k),
                back,
            });
        }
    }
    if grouped {
        for &back in backs {
            let members = std::mem::take(&mut members[usize::from(back)]);
            let name = group_name(entry.record, back);
            made.unique &= things.link_names.define_group(&name, members);
        }
    }
    made
}

/// Group name of all links of an entry in one direction.
fn group_name(entry: &Record, back: bool) -> String {
    let [from, to] = ["from", "to"].map(|end| text(entry, end).unwrap_or_default());
    match (text(entry, "name"), back) {
        (None, false) => format!("{from}->{to}"),
        (None, true) => format!("{to}->{from}"),
        (Some(name), false) => name.to_string(),
        (Some(name), true) => format!("{name}-back"),
    }
}

/// Reports scheduler and class queues of links that do not leave a switch.
fn port_settings(entry: Entry<'_>, things: &Things, report: &mut Report) {
    let Some(last) = things.links.last() else {
        return;
    };
    let leaves_host = (if last.back { last.to } else { last.from }) < things.hosts;
    for field in ["scheduler"].into_iter().chain(Class::ALL.map(Class::name)) {
        if leaves_host && entry.record.get(field).is_some_and(|v| !v.is_null()) {
            report.add(
                &format!("{}.{field}", entry.path),
                "applies only to a port, but this link leaves a host",
                "on a link that leaves a switch, or on the switch",
                None,
            );
        }
    }
}
