//! From entries to things: groups made by `count` become hosts, switches, links and VCs with names, and names
//! become positions. Refuses a scenario that would be too large before it takes the memory.

use super::check::{Record, number, text};
use super::model::{Host, Link, Switch, TcpParams, Vc};
use super::notation::list;
use super::problem::Report;
use super::route::Router;
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};
use std::mem::size_of;

/// Most hosts, switches, links and VCs of a scenario together.
const MOST_COMPONENTS: u64 = 200_000;
/// Most links on the routes of all VCs together.
const MOST_HOPS: usize = 1_000_000;

/// A host or switch; hosts come first.
#[derive(Debug)]
pub(crate) struct NodeAt {
    pub name: String,
    /// Position of its entry in the file.
    pub entry: usize,
}

/// A one-way link between two nodes.
#[derive(Debug)]
pub(crate) struct LinkAt {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub entry: usize,
    /// Whether it is the way back of a duplex entry.
    pub back: bool,
}

/// A VC with the nodes on its way, both ends included.
#[derive(Debug)]
pub(crate) struct VcAt {
    pub name: String,
    pub nodes: Vec<usize>,
    pub entry: usize,
}

/// Things by name: a thing alone, or the members of a group.
#[derive(Debug, Default)]
pub(crate) struct Names {
    members: HashMap<String, Vec<usize>>,
    groups: HashSet<String>,
}

impl Names {
    /// False when the name is taken.
    fn define(&mut self, name: &str, members: Vec<usize>, group: bool) -> bool {
        if self.members.contains_key(name) {
            return false;
        }
        self.members.insert(name.to_string(), members);
        if group {
            self.groups.insert(name.to_string());
        }
        true
    }

    pub(crate) fn find(&self, name: &str) -> Option<&[usize]> {
        self.members.get(name).map(Vec::as_slice)
    }

    fn is_group(&self, name: &str) -> bool {
        self.groups.contains(name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }
}

/// The scenario's things.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub nodes: Vec<NodeAt>,
    /// How many of the nodes are hosts.
    pub hosts: usize,
    pub links: Vec<LinkAt>,
    pub vcs: Vec<VcAt>,
    pub between: HashMap<(usize, usize), usize>,
    pub node_names: Names,
    pub link_names: Names,
    pub vc_names: Names,
}

impl Expanded {
    /// The links that the data of a VC take; `None` where its route was wrong.
    pub(crate) fn path(&self, vc: &VcAt) -> Option<Vec<usize>> {
        let hops = vc.nodes.windows(2);
        hops.map(|w| self.between.get(&(w[0], w[1])).copied())
            .collect()
    }
}

/// The entries of one list of the scenario; `None` for those that are no table at all.
pub(crate) fn entries<'r>(scenario: &'r Record, list: &str) -> Vec<Option<&'r Record>> {
    let items = scenario.get(list).and_then(Json::as_array);
    items.map_or(Vec::new(), |items| {
        items.iter().map(Json::as_object).collect()
    })
}

/// Expands a scenario. `None` when it is too large. Routes are looked for only while nodes and links are right.
pub(crate) fn expand(scenario: &Record, report: &mut Report) -> Option<Expanded> {
    if !fits(scenario, report) {
        return None;
    }
    let mut out = Expanded::default();
    let nodes_right = nodes(scenario, &mut out, report);
    let links_right = links(scenario, &mut out, nodes_right, report);
    vcs(scenario, &mut out, nodes_right, links_right, report);
    Some(out)
}

/// Whether the number of things is within bounds, from the counts alone.
fn fits(scenario: &Record, report: &mut Report) -> bool {
    let mut sizes: HashMap<&str, u64> = HashMap::new();
    let mut largest = (0, String::new());
    let mut totals = [0u64; 4];
    for (kind, name) in ["host", "switch"].into_iter().enumerate() {
        for (i, entry) in entries(scenario, name).into_iter().enumerate() {
            let count = entry.and_then(|e| number(e, "count")).unwrap_or(1);
            totals[kind] = totals[kind].saturating_add(count);
            if let Some(name) = entry.and_then(|e| text(e, "name")) {
                sizes.insert(name, count);
            }
            if count > largest.0 {
                largest = (count, format!("{name}[{i}].count"));
            }
        }
    }
    let between = |entry: &Record| {
        let size = |end| text(entry, end).and_then(|n| sizes.get(n)).copied();
        size("from").unwrap_or(1).max(size("to").unwrap_or(1))
    };
    for entry in entries(scenario, "link").into_iter().flatten() {
        let ways = 1 + u64::from(entry.get("duplex") == Some(&Json::Bool(true)));
        totals[2] = totals[2].saturating_add(between(entry).saturating_mul(ways));
    }
    for (i, entry) in entries(scenario, "vc").into_iter().enumerate() {
        let Some(entry) = entry else { continue };
        let count = number(entry, "count").unwrap_or(1);
        totals[3] = totals[3].saturating_add(between(entry).max(count));
        if count > largest.0 {
            largest = (count, format!("vc[{i}].count"));
        }
    }
    let all = totals.iter().fold(0u64, |a, &b| a.saturating_add(b));
    if all <= MOST_COMPONENTS {
        return true;
    }
    // The plain data alone; names are short.
    let name = 16;
    let each = [
        size_of::<Host>() + name,
        size_of::<Switch>() + name,
        size_of::<Link>() + 3 * name,
        size_of::<Vc>() + size_of::<TcpParams>() + 4 * name,
    ];
    let bytes: f64 = totals
        .iter()
        .zip(each)
        .map(|(&n, each)| n as f64 * each as f64)
        .sum();
    let need = if bytes < 1e9 {
        format!("{:.0} MB", bytes / 1e6)
    } else {
        format!("{:.1} GB", bytes / 1e9)
    };
    report.add(
        &largest.1,
        format!("makes {all} components in all, whose description alone would take {need}"),
        format!("at most {MOST_COMPONENTS} hosts, switches, links and VCs together"),
        None,
    );
    false
}

/// The names of `count` like things; without a count, the name itself.
fn numbered(name: &str, count: Option<u64>) -> Vec<String> {
    match count {
        None => vec![name.to_string()],
        Some(n) => (1..=n).map(|i| format!("{name}{i}")).collect(),
    }
}

fn nodes(scenario: &Record, out: &mut Expanded, report: &mut Report) -> bool {
    let mut right = true;
    for family in ["host", "switch"] {
        for (i, entry) in entries(scenario, family).into_iter().enumerate() {
            let Some((entry, name)) = entry.and_then(|e| Some((e, text(e, "name")?))) else {
                right = false;
                continue;
            };
            let count = number(entry, "count");
            let first = out.nodes.len();
            let names = numbered(name, count);
            let members = (first..first + names.len()).collect();
            let mut unique = count.is_none() || out.node_names.define(name, members, true);
            for name in names {
                unique &= out.node_names.define(&name, vec![out.nodes.len()], false);
                out.nodes.push(NodeAt { name, entry: i });
            }
            if !unique {
                duplicate(&format!("{family}[{i}].name"), "hosts and switches", report);
                right = false;
            }
        }
        if family == "host" {
            out.hosts = out.nodes.len();
        }
    }
    right
}

fn duplicate(path: &str, what: &str, report: &mut Report) {
    report.add(
        path,
        "is a duplicate name",
        format!("names are unique among {what}, with their groups and the numbered names of these"),
        None,
    );
}

/// The nodes that `end` of an entry names.
fn ends<'o>(
    out: &'o Expanded,
    entry: &Record,
    path: &str,
    end: &str,
    nodes_right: bool,
    report: &mut Report,
) -> Option<&'o [usize]> {
    let name = text(entry, end)?;
    let found = out.node_names.find(name);
    if found.is_none() && nodes_right {
        let suggestion = report.suggest(name, out.node_names.all());
        report.add(
            &format!("{path}.{end}"),
            "no host or switch has this name",
            "a name or group from [[host]] or [[switch]]",
            suggestion,
        );
    }
    found
}

/// The pairs of two groups: pairwise, or each with the only one of the other side.
fn pairs(
    from: &[usize],
    to: &[usize],
    path: &str,
    report: &mut Report,
) -> Option<Vec<(usize, usize)>> {
    if from.len() > 1 && to.len() > 1 && from.len() != to.len() {
        report.add(
            &format!("{path}.to"),
            format!(
                "is a group of {}, and `from` one of {}",
                to.len(),
                from.len()
            ),
            "groups of the same size, or a single one",
            None,
        );
        return None;
    }
    let n = from.len().max(to.len());
    let pairs = (0..n).map(|i| (from[i % from.len()], to[i % to.len()]));
    if pairs.clone().any(|(a, b)| a == b) {
        report.add(
            &format!("{path}.to"),
            "is the same as `from`",
            "another host or switch",
            None,
        );
        return None;
    }
    Some(pairs.collect())
}

fn links(scenario: &Record, out: &mut Expanded, nodes_right: bool, report: &mut Report) -> bool {
    let mut right = nodes_right;
    for (i, entry) in entries(scenario, "link").into_iter().enumerate() {
        let path = format!("link[{i}]");
        let pairs = entry.and_then(|entry| {
            let from = ends(out, entry, &path, "from", nodes_right, report);
            let to = ends(out, entry, &path, "to", nodes_right, report);
            let pairs = pairs(from?, to?, &path, report)?;
            Some((entry, pairs, text(entry, "from")?, text(entry, "to")?))
        });
        let Some((entry, pairs, from, to)) = pairs else {
            right = false;
            continue;
        };
        right &= entry.contains_key("duplex");
        let duplex = entry.get("duplex") == Some(&Json::Bool(true));
        let grouped = out.node_names.is_group(from) || out.node_names.is_group(to);
        let own_name = text(entry, "name");
        let mut members: [Vec<usize>; 2] = Default::default();
        let (mut unique, mut second) = (true, false);
        for (k, &(a, b)) in pairs.iter().enumerate() {
            for back in [false, true].into_iter().take(1 + usize::from(duplex)) {
                let (from, to) = if back { (b, a) } else { (a, b) };
                let suffix = if back { "-back" } else { "" };
                let name = match own_name {
                    None => format!("{}->{}", out.nodes[from].name, out.nodes[to].name),
                    Some(name) if grouped => format!("{name}{}{suffix}", k + 1),
                    Some(name) => format!("{name}{suffix}"),
                };
                let at = out.links.len();
                second |= out.between.insert((from, to), at).is_some();
                unique &= out.link_names.define(&name, vec![at], false);
                members[usize::from(back)].push(at);
                out.links.push(LinkAt {
                    name,
                    from,
                    to,
                    entry: i,
                    back,
                });
            }
        }
        if grouped {
            let group = |back| match (own_name, back) {
                (None, false) => format!("{from}->{to}"),
                (None, true) => format!("{to}->{from}"),
                (Some(name), false) => name.to_string(),
                (Some(name), true) => format!("{name}-back"),
            };
            let [there, back] = members;
            unique &= out.link_names.define(&group(false), there, true);
            unique &= back.is_empty() || out.link_names.define(&group(true), back, true);
        }
        if second {
            report.add(
                &path,
                format!("is a second link between {from} and {to}"),
                "one link each way between two nodes (`duplex` makes both)",
                None,
            );
            right = false;
        } else if !unique {
            duplicate(&format!("{path}.name"), "links", report);
        }
        port_settings(entry, &path, out.links.last(), out.hosts, report);
    }
    right
}

/// Scheduler and class queues are for links that leave a switch.
fn port_settings(
    entry: &Record,
    path: &str,
    last: Option<&LinkAt>,
    hosts: usize,
    report: &mut Report,
) {
    let leaves_host = last.is_some_and(|l| (if l.back { l.to } else { l.from }) < hosts);
    for field in ["scheduler", "cbr", "vbr", "abr", "gfr", "ubr"] {
        if leaves_host && entry.get(field).is_some_and(|v| !v.is_null()) {
            report.add(
                &format!("{path}.{field}"),
                "belongs to a port, but the link leaves a host",
                "at links that leave a switch, or at the switch",
                None,
            );
        }
    }
}

fn vcs(
    scenario: &Record,
    out: &mut Expanded,
    nodes_right: bool,
    links_right: bool,
    report: &mut Report,
) {
    let mut router = Router::new(out);
    let mut hops = 0;
    let mut unnamed = Vec::new();
    for (i, entry) in entries(scenario, "vc").into_iter().enumerate() {
        let Some(entry) = entry else { continue };
        let path = format!("vc[{i}]");
        let from = host_ends(out, entry, &path, "from", nodes_right, report);
        let to = host_ends(out, entry, &path, "to", nodes_right, report);
        let route = nodes_right
            .then(|| route(out, entry, &path, report))
            .flatten();
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        let group = |end| text(entry, end).is_some_and(|n| out.node_names.is_group(n));
        let grouped = group("from") || group("to");
        let count = number(entry, "count");
        let Some(mut pairs) = pairs(from, to, &path, report) else {
            continue;
        };
        match count {
            Some(n) if grouped && n != pairs.len() as u64 => {
                report.add(
                    &format!("{path}.count"),
                    format!("differs from the {} members of the groups", pairs.len()),
                    "left out, or the same",
                    None,
                );
                continue;
            }
            Some(n) if !grouped => pairs = vec![pairs[0]; n as usize],
            _ => {}
        }
        let own_name = text(entry, "name");
        let numbered = grouped || count.is_some();
        let first = out.vcs.len();
        let mut unique = true;
        let mut reachable =
            links_right && (route.is_some() || entry.get("route") == Some(&Json::Null));
        for (k, &(from, to)) in pairs.iter().enumerate() {
            let name = match own_name {
                None => format!("vc{}", first + k + 1),
                Some(name) if numbered => format!("{name}{}", k + 1),
                Some(name) => name.to_string(),
            };
            unique &= out.vc_names.define(&name, vec![first + k], false);
            let mut nodes = vec![from, to];
            if reachable {
                match router.nodes(out, from, to, route.as_deref()) {
                    Ok(found) => nodes = found,
                    Err(message) => {
                        // The first of a group speaks for all.
                        reachable = false;
                        let field = if route.is_some() {
                            format!("{path}.route")
                        } else {
                            path.clone()
                        };
                        let allowed = "links in both directions along the whole route";
                        report.add(&field, message, allowed, None);
                    }
                }
            }
            hops += nodes.len();
            if hops > MOST_HOPS {
                report.add(
                    &path,
                    "makes the routes too long",
                    format!("{MOST_HOPS} links in all"),
                    None,
                );
                return;
            }
            out.vcs.push(VcAt {
                name,
                nodes,
                entry: i,
            });
        }
        let members: Vec<usize> = (first..out.vcs.len()).collect();
        match own_name {
            None => unnamed.extend(members),
            Some(name) if numbered => unique &= out.vc_names.define(name, members, true),
            Some(_) => {}
        }
        if !unique {
            duplicate(&format!("{path}.name"), "VCs", report);
        }
    }
    if !unnamed.is_empty() {
        out.vc_names.define("vc", unnamed, true);
    }
}

/// Like [`ends`], and all of them hosts.
fn host_ends<'o>(
    out: &'o Expanded,
    entry: &Record,
    path: &str,
    end: &str,
    nodes_right: bool,
    report: &mut Report,
) -> Option<&'o [usize]> {
    let found = ends(out, entry, path, end, nodes_right, report)?;
    if found.iter().all(|&n| n < out.hosts) {
        return Some(found);
    }
    report.add(&format!("{path}.{end}"), "is a switch", "a host", None);
    None
}

/// The switches of a route that the entry gives; `None` when it gives none or a wrong one.
fn route(out: &Expanded, entry: &Record, path: &str, report: &mut Report) -> Option<Vec<usize>> {
    let given = entry.get("route")?.as_array()?;
    let mut switches: Vec<usize> = Vec::new();
    for (k, name) in given.iter().enumerate() {
        let name = name.as_str()?;
        let path = format!("{path}.route[{k}]");
        match out.node_names.find(name) {
            None => {
                let suggestion = report.suggest(name, out.node_names.all());
                let switches = out.nodes[out.hosts..]
                    .iter()
                    .take(10)
                    .map(|n| n.name.as_str());
                report.add(&path, "no switch has this name", list(switches), suggestion);
            }
            Some(&[node]) if node < out.hosts => {
                report.add(
                    &path,
                    "is a host: routes lead through switches",
                    "a switch",
                    None,
                );
            }
            Some(&[node]) if switches.contains(&node) => {
                report.add(&path, "closes a loop", "each switch at most once", None);
            }
            Some(&[node]) => switches.push(node),
            Some(_) => report.add(&path, "is a group", "one of its members", None),
        }
    }
    (switches.len() == given.len()).then_some(switches)
}
