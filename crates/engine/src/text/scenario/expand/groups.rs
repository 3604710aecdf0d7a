//! Groups: numbered names, the nodes at an entry's ends, and the pairs of two groups.

use super::things::{Names, Things};
use crate::text::notation::words::{list, shorten};
use crate::text::scenario::record::{Record, text};
use crate::text::scenario::report::Report;
use crate::text::scenario::values::LONGEST_NAME;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

/// Generates the names of a group's things: a common text and a number. The buffer is reused
/// because there may be very many.
pub(super) struct Numbered {
    name: String,
    /// Length of the common text.
    stem: usize,
}

impl Numbered {
    pub(super) fn new(group: &str) -> Numbered {
        Numbered {
            name: group.to_string(),
            stem: group.len(),
        }
    }

    /// The name of the thing with the given number.
    pub(super) fn name(&mut self, number: usize) -> Arc<str> {
        self.name.truncate(self.stem);
        write!(self.name, "{number}").expect("a text takes everything");
        Arc::from(self.name.as_str())
    }
}

pub(super) fn duplicate(path: &str, what: &str, report: &mut Report) {
    report.add(
        path,
        "duplicate name",
        format!("a name that is unique among {what}, including groups and their numbered members"),
        None,
    );
}

/// Reports that an entry made a name above the length limit, which nobody could write.
pub(super) fn check_length(path: &str, names: &mut Names, report: &mut Report) {
    if let Some(made) = names.take_too_long() {
        report.add(
            path,
            format!(
                "creates the name `{}`, which is longer than {LONGEST_NAME} characters",
                shorten(&made)
            ),
            "a shorter name: created names include member numbers, `-back`, or both ends of an unnamed link",
            None,
        );
    }
}

/// Limit on the hosts, or groups of hosts, that a message lists by name.
const FEW_NAMES: usize = 8;

/// Number of hosts above which a message does not look through their names.
const FEW_HOSTS: usize = 64;

/// An entry of links or VCs with its path, `link[3]`.
#[derive(Clone, Copy)]
pub(super) struct Entry<'r> {
    pub record: &'r Record,
    pub path: &'r str,
    /// Whether all nodes are correct, so that names can be looked up.
    pub nodes_right: bool,
}

/// Allowed values of an end that must be a host. Hosts are listed by name if they are few.
fn allowed_hosts(things: &Things) -> String {
    let any = "a host: a name or group from [[host]]".to_string();
    if things.hosts > FEW_HOSTS {
        return any;
    }
    let names = &things.node_names;
    let mut hosts: Vec<(usize, &str)> = Vec::new();
    let mut grouped: HashSet<usize> = HashSet::new();
    for name in names.all() {
        let nodes = names.find(name).unwrap_or_default();
        if nodes.iter().all(|&n| n < things.hosts) && !nodes.is_empty() {
            hosts.push((nodes[0], name));
            if names.is_group(name) {
                grouped.extend(nodes);
            }
        }
    }
    hosts.retain(|(first, name)| names.is_group(name) || !grouped.contains(first));
    hosts.sort_unstable();
    if (1..=FEW_NAMES).contains(&hosts.len()) {
        format!("a host: {}", list(hosts.into_iter().map(|(_, name)| name)))
    } else {
        any
    }
}

impl Entry<'_> {
    /// The nodes that `end` of the entry names.
    pub fn end<'o>(
        &self,
        end: &str,
        things: &'o Things,
        report: &mut Report,
    ) -> Option<&'o [usize]> {
        let name = text(self.record, end)?;
        let found = things.node_names.find(name);
        if found.is_none() && self.nodes_right {
            let suggestion = report.suggest(name, things.node_names.all());
            report.add(
                &format!("{}.{end}", self.path),
                "no host or switch has this name",
                "a name or group from [[host]] or [[switch]]",
                suggestion,
            );
        }
        found
    }

    /// The hosts that `end` of the entry names.
    pub fn hosts<'o>(
        &self,
        end: &str,
        things: &'o Things,
        report: &mut Report,
    ) -> Option<&'o [usize]> {
        let name = text(self.record, end)?;
        let are_hosts = |nodes: &[usize]| nodes.iter().all(|&n| n < things.hosts);
        let found = things.node_names.find(name);
        if let Some(nodes) = found
            && are_hosts(nodes)
        {
            return found;
        }
        if found.is_some() || self.nodes_right {
            let names = things.node_names.all();
            let hosts = names.filter(|name| things.node_names.find(name).is_some_and(are_hosts));
            let suggestion = report.suggest(name, hosts);
            let message = match found {
                Some(_) => "names a switch, not a host",
                None => "no host has this name",
            };
            let path = format!("{}.{end}", self.path);
            report.add(&path, message, allowed_hosts(things), suggestion);
        }
        None
    }

    /// Whether an end of the entry is a group.
    pub fn is_grouped(&self, things: &Things) -> bool {
        let group = |end| text(self.record, end).is_some_and(|n| things.node_names.is_group(n));
        group("from") || group("to")
    }

    /// The pairs of two groups.
    ///
    /// Groups of equal size pair off; a single node pairs with every member of the other side. No
    /// node pairs with itself; `another` says what is allowed instead.
    pub fn pairs(
        &self,
        from: &[usize],
        to: &[usize],
        another: &str,
        report: &mut Report,
    ) -> Option<Vec<(usize, usize)>> {
        let (m, n) = (from.len(), to.len());
        let at_to = format!("{}.to", self.path);
        if m > 1 && n > 1 && m != n {
            report.add(
                &at_to,
                format!("names a group of {n}, but `from` is a group of {m}"),
                "groups of the same size, or a single node",
                None,
            );
            return None;
        }
        let pairs = (0..m.max(n)).map(|i| (from[i % m], to[i % n]));
        if pairs.clone().any(|(a, b)| a == b) {
            report.add(&at_to, "is the same as `from`", another, None);
            return None;
        }
        Some(pairs.collect())
    }
}
