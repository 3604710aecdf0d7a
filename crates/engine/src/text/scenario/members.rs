//! Finds the list element that makes a named thing, from the written text alone.

use super::tree::{Node, Value};
use std::collections::HashMap;

/// The element of a list that makes a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Maker {
    /// Position of the element in its list.
    pub at: usize,
    /// Number of things that the element makes.
    pub makes: u64,
    /// Position of the thing among those, from 0.
    pub number: u64,
}

/// The element of the list `field` that makes the thing called `name` in results.
pub(super) fn maker(root: &Node, field: &str, name: &str) -> Option<Maker> {
    let items = root.get(field)?.items();
    let groups = Groups::of(root);
    let mut before = 0;
    for (at, item) in items.iter().enumerate() {
        let makes = groups.made(item, field)?;
        let written = item.get("name").and_then(Node::text);
        let found = match (written, field) {
            (Some(written), _) => numbered(name, written, 1, makes),
            (None, "vc") => numbered(name, "vc", before + 1, before + makes),
            (None, "link") => groups.pair(item, name),
            _ => None,
        };
        if let Some(number) = found {
            return Some(Maker { at, makes, number });
        }
        before = before.saturating_add(makes);
    }
    None
}

/// Names that results give to unnamed VCs, as in `vc1 to vc5`. Empty if `field` is not the VC list.
pub(super) fn numbered_names(root: &Node, field: &str) -> Vec<String> {
    let items = root.get(field).filter(|_| field == "vc");
    let groups = Groups::of(root);
    let (mut ranges, mut before) = (Vec::<(u64, u64)>::new(), 0_u64);
    for item in items.map_or(&[][..], Node::items) {
        let last = before.saturating_add(groups.made(item, field).unwrap_or(0));
        if item.get("name").is_none() && last > before {
            match ranges.last_mut().filter(|range| range.1 == before) {
                Some(range) => range.1 = last,
                None => ranges.push((before + 1, last)),
            }
        }
        before = last;
    }
    let shown = |(first, last)| match first == last {
        true => format!("vc{first}"),
        false => format!("vc{first} to vc{last}"),
    };
    ranges.into_iter().map(shown).collect()
}

/// The lists whose elements make things.
const LISTS: [&str; 4] = ["host", "switch", "link", "vc"];

/// The static name of the list `field`, if its elements make things.
pub(super) fn list_of(field: &str) -> Option<&'static str> {
    LISTS.into_iter().find(|&list| list == field)
}

/// The list with an element called `name`, or with an element that makes a thing of that name.
pub(super) fn list_with(root: &Node, name: &str) -> Option<&'static str> {
    LISTS.into_iter().find(|field| {
        let mut items = root.get(field).map_or(&[][..], Node::items).iter();
        items.any(|item| label(item, field).as_deref() == Some(name))
            || maker(root, field, name).is_some()
    })
}

/// Value of the field `count`.
fn count(item: &Node) -> Option<u64> {
    match item.get("count")?.value {
        Value::Integer(n) => u64::try_from(n).ok(),
        _ => None,
    }
}

/// Named hosts and switches, each with its `count` if it has one. The first of several nodes with
/// one name counts.
struct Groups<'r>(HashMap<&'r str, Option<u64>>);

impl<'r> Groups<'r> {
    fn of(root: &'r Node) -> Groups<'r> {
        let lists = ["host", "switch"]
            .into_iter()
            .filter_map(|field| root.get(field));
        let mut groups = HashMap::new();
        for node in lists.flat_map(Node::items) {
            if let Some(name) = node.get("name").and_then(Node::text) {
                groups.entry(name).or_insert_with(|| count(node));
            }
        }
        Groups(groups)
    }

    /// Number of members of the group `name`, or `None` if no such group exists.
    fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied().flatten()
    }

    /// Number of things that an element of the list `field` makes, or `None` if elements make
    /// none.
    fn made(&self, item: &Node, field: &str) -> Option<u64> {
        Some(match field {
            "host" | "switch" => count(item).unwrap_or(1),
            "link" => self.size(item),
            "vc" => count(item).unwrap_or_else(|| self.size(item)),
            _ => return None,
        })
    }

    /// Size of the larger group at the ends of a link or VC.
    fn size(&self, item: &Node) -> u64 {
        let ends = ["from", "to"]
            .into_iter()
            .filter_map(|end| item.get(end)?.text());
        ends.filter_map(|end| self.count(end)).max().unwrap_or(1)
    }

    /// Position, from 0, of the pair `name` (such as `a->b`) among the pairs that an unnamed link
    /// joins.
    fn pair(&self, link: &Node, name: &str) -> Option<u64> {
        let at = |end: &str, node: &str| {
            let end = link.get(end).and_then(Node::text)?;
            match self.count(end) {
                Some(n) => Some((n, numbered(node, end, 1, n)?)),
                None => (node == end).then_some((1, 0)),
            }
        };
        let (a, b) = name.split_once("->")?;
        let ((m, a), (n, b)) = (at("from", a)?, at("to", b)?);
        let pair = a.max(b);
        (pair % m == a && pair % n == b).then_some(pair)
    }
}

/// Position, from 0, of the number in `name` within `first` to `last`. `group` is the part of the
/// name before the number.
fn numbered(name: &str, group: &str, first: u64, last: u64) -> Option<u64> {
    let number = name.strip_prefix(group)?;
    let plain = !number.starts_with('0') && number.bytes().all(|b| b.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|_| plain)?;
    (first..=last).contains(&number).then(|| number - first)
}

/// Name of a list element, or the default name of a link.
pub(super) fn label(item: &Node, field: &str) -> Option<String> {
    let text = |name: &str| item.get(name).and_then(Node::text);
    match (text("name"), field) {
        (Some(name), _) => Some(name.to_string()),
        (None, "link") => Some(format!("{}->{}", text("from")?, text("to")?)),
        _ => None,
    }
}
