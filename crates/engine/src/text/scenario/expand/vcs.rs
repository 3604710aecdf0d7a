//! Makes VCs with their routes.

use super::groups::{Entry, Numbered, check_length, duplicate};
use super::route::Router;
use super::things::{Things, VcAt};
use crate::text::notation::words::list;
use crate::text::scenario::individual::PlacedMembers;
use crate::text::scenario::record::{Record, entries, is_left_out, number, text};
use crate::text::scenario::report::Report;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Limit on the total links on the routes of all VCs.
const MOST_HOPS: usize = 1_000_000;

/// Makes the VCs. Routes are searched only while nodes and links are correct.
pub(super) fn vcs(
    scenario: &Record,
    placed: &PlacedMembers,
    things: &mut Things,
    [nodes_right, links_right]: [bool; 2],
    report: &mut Report,
) {
    let mut routes = Routes {
        router: Router::new(things),
        links_right,
        hops: 0,
    };
    let mut unnamed = Vec::new();
    let all = entries(scenario, "vc");
    for (i, record) in placed.makers(scenario, "vc").into_iter().enumerate() {
        let Some(record) = record else { continue };
        let path = &format!("vc[{i}]");
        let entry = Entry {
            record,
            path,
            nodes_right,
        };
        let Some(mut group) = vc_group(entry, things, report) else {
            continue;
        };
        group.individual = individual_vcs(entry, i, &all, placed, things, report);
        let first = things.vcs.len();
        let Some(mut unique) = make(entry, i, &group, &mut routes, things, report) else {
            return;
        };
        let members: Vec<usize> = (first..things.vcs.len()).collect();
        match group.name {
            None => unnamed.extend(members),
            Some(name) if group.numbered => unique &= things.vc_names.define_group(name, members),
            Some(_) => {}
        }
        check_length(&format!("{path}.name"), &mut things.vc_names, report);
        if !unique {
            duplicate(&format!("{path}.name"), "VCs", report);
        }
    }
    if !unnamed.is_empty() {
        things.vc_names.define_group("vc", unnamed);
    }
}

/// The VCs that an entry makes.
struct VcGroup<'r> {
    name: Option<&'r str>,
    numbered: bool,
    /// The hosts of each VC.
    pairs: Vec<(usize, usize)>,
    /// The given switches. `None` when none or wrong ones are given.
    route: Option<Vec<usize>>,
    /// The individually set members, by number.
    individual: FxHashMap<usize, IndividualVc<'r>>,
}

/// A member with individual values.
struct IndividualVc<'r> {
    /// Position of the values.
    at: usize,
    record: &'r Record,
    /// The given switches. `None` when none or wrong ones are given.
    route: Option<Vec<usize>>,
}

fn vc_group<'r>(entry: Entry<'r>, things: &Things, report: &mut Report) -> Option<VcGroup<'r>> {
    let from = entry.hosts("from", things, report);
    let to = entry.hosts("to", things, report);
    let route = entry
        .nodes_right
        .then(|| route(entry, things, report))
        .flatten();
    let mut pairs = entry.pairs(from?, to?, "another host", report)?;
    let grouped = entry.is_grouped(things);
    let count = number(entry.record, "count");
    match count {
        Some(n) if grouped && n != pairs.len() as u64 => {
            report.add(
                &format!("{}.count", entry.path),
                format!(
                    "differs from the size of the groups, which is {}",
                    pairs.len()
                ),
                "the same number, or leave it out",
                None,
            );
            return None;
        }
        Some(n) if !grouped => pairs = vec![pairs[0]; n as usize],
        _ => {}
    }
    Some(VcGroup {
        name: text(entry.record, "name"),
        numbered: grouped || count.is_some(),
        pairs,
        route,
        individual: FxHashMap::default(),
    })
}

/// The individually set members of the entry at position `at`.
fn individual_vcs<'r>(
    entry: Entry<'r>,
    at: usize,
    all: &[Option<&'r Record>],
    placed: &PlacedMembers,
    things: &Things,
    report: &mut Report,
) -> FxHashMap<usize, IndividualVc<'r>> {
    let mut found = FxHashMap::default();
    for member in placed.of("vc", at) {
        let Some(record) = all.get(member.at).copied().flatten() else {
            continue;
        };
        let path = &format!("vc[{}]", member.at);
        let member_entry = Entry {
            record,
            path,
            ..entry
        };
        let right = entry.nodes_right;
        let made = IndividualVc {
            at: member.at,
            record,
            route: right.then(|| route(member_entry, things, report)).flatten(),
        };
        found.insert(member.maker.number as usize, made);
    }
    found
}

/// The switches of a given route. `None` when none or wrong ones are given.
fn route(entry: Entry<'_>, things: &Things, report: &mut Report) -> Option<Vec<usize>> {
    let given = entry.record.get("route")?.as_array()?;
    let mut switches: Vec<usize> = Vec::new();
    let mut passed = FxHashSet::default();
    for (k, name) in given.iter().enumerate() {
        let name = name.as_str()?;
        let path = format!("{}.route[{k}]", entry.path);
        match things.node_names.find(name) {
            None => {
                let suggestion = report.suggest(name, things.node_names.all());
                let known = things.nodes[things.hosts..].iter().take(10);
                let known = list(known.map(|n| n.name.as_ref()));
                report.add(&path, "no switch has this name", known, suggestion);
            }
            Some(&[node]) if node < things.hosts => {
                let message = "names a host, but a route lists only switches";
                report.add(&path, message, "a switch", None);
            }
            Some(&[node]) if !passed.insert(node) => {
                report.add(&path, "is listed twice", "each switch at most once", None);
            }
            Some(&[node]) => switches.push(node),
            Some(_) => report.add(&path, "names a group", "one of its members", None),
        }
    }
    (switches.len() == given.len()).then_some(switches)
}

/// Routes found so far.
struct Routes {
    router: Router,
    links_right: bool,
    hops: usize,
}

/// Makes the VCs of the entry at position `at`. Returns whether all names were new, or `None` when
/// the routes got too long.
fn make(
    entry: Entry<'_>,
    at: usize,
    group: &VcGroup<'_>,
    routes: &mut Routes,
    things: &mut Things,
    report: &mut Report,
) -> Option<bool> {
    let can_be = |route: Option<&[usize]>, record| {
        routes.links_right && (route.is_some() || is_left_out(record, "route"))
    };
    let mut reachable = can_be(group.route.as_deref(), entry.record);
    let mut unique = true;
    things.vcs.reserve(group.pairs.len());
    things.vc_names.reserve(group.pairs.len());
    let mut numbered = Numbered::new(group.name.unwrap_or("vc"));
    for (k, &(from, to)) in group.pairs.iter().enumerate() {
        let vc = things.vcs.len();
        let name = match group.name {
            None => numbered.name(vc + 1),
            Some(_) if group.numbered => numbered.name(k + 1),
            Some(name) => Arc::from(name),
        };
        unique &= things.vc_names.define(&name, vc);
        let mut nodes = None;
        let individual = group.individual.get(&k);
        let route = individual
            .map_or(&group.route, |individual| &individual.route)
            .as_deref();
        if individual.map_or(reachable, |individual| {
            reachable && can_be(route, individual.record)
        }) {
            match routes.router.nodes(things, from, to, route) {
                Ok(found) => nodes = Some(found),
                Err(message) => {
                    // One report, for the first of a group, is enough.
                    reachable = false;
                    let field = if route.is_some() { ".route" } else { "" };
                    let allowed = "links in both directions along the whole route";
                    let at = individual.map_or(at, |individual| individual.at);
                    report.add(&format!("vc[{at}]{field}"), message, allowed, None);
                }
            }
        }
        let nodes = nodes.unwrap_or_else(|| vec![from, to]);
        routes.hops += nodes.len();
        if routes.hops > MOST_HOPS {
            let allowed = format!("at most {MOST_HOPS} links in total");
            report.add(
                entry.path,
                "makes the routes of all VCs together too long",
                allowed,
                None,
            );
            return None;
        }
        things.vcs.push(VcAt {
            name,
            nodes,
            entry: individual.map_or(at, |individual| individual.at),
        });
    }
    Some(unique)
}
