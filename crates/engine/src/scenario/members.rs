//! Which element of a list makes the thing that results call by a name, told from what is written alone.

use super::tree::{Node, Value};
use std::collections::HashMap;

/// The element of a list that makes a thing.
pub(super) struct Maker {
    /// Its position.
    pub at: usize,
    /// How many things it makes, all alike.
    pub makes: u64,
}

/// The element of the list `field` that makes what results call `name`.
pub(super) fn maker(root: &Node, field: &str, name: &str) -> Option<Maker> {
    let items = root.get(field)?.items();
    let groups = Groups::of(root);
    let mut before = 0;
    for (at, item) in items.iter().enumerate() {
        let makes = match field {
            "host" | "switch" => count(item).unwrap_or(1),
            "link" => groups.size(item),
            "vc" => count(item).unwrap_or_else(|| groups.size(item)),
            _ => return None,
        };
        let own = item.get("name").and_then(Node::text);
        let found = match (own, field) {
            (Some(own), _) => is_numbered(name, own, 1, makes),
            (None, "vc") => is_numbered(name, "vc", before + 1, before + makes),
            (None, "link") => groups.are_ends(item, name),
            _ => false,
        };
        if found {
            return Some(Maker { at, makes });
        }
        before = before.saturating_add(makes);
    }
    None
}

/// The list that has an element called `name`, or one that makes a thing called so.
pub(super) fn list_with(root: &Node, name: &str) -> Option<&'static str> {
    let lists = ["host", "switch", "link", "vc"];
    lists.into_iter().find(|field| {
        let mut items = root.get(field).map_or(&[][..], Node::items).iter();
        items.any(|item| label(item, field).as_deref() == Some(name))
            || maker(root, field, name).is_some()
    })
}

/// How many the field `count` asks for.
fn count(item: &Node) -> Option<u64> {
    match item.get("count")?.value {
        Value::Integer(n) => u64::try_from(n).ok(),
        _ => None,
    }
}

/// The nodes that are groups, with how many each has; the first of a name counts.
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

    /// How many the group `name` has; `None` if it is no group.
    fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied().flatten()
    }

    /// The larger of the groups at the ends of a link or VC.
    fn size(&self, item: &Node) -> u64 {
        let ends = ["from", "to"]
            .into_iter()
            .filter_map(|end| item.get(end)?.text());
        ends.filter_map(|end| self.count(end)).max().unwrap_or(1)
    }

    /// Whether `name` is `a->b`, with a node of each end of a link without a name.
    fn are_ends(&self, link: &Node, name: &str) -> bool {
        let is_at = |end: &str, node: &str| {
            let end = link.get(end).and_then(Node::text);
            end.is_some_and(|end| match self.count(end) {
                Some(n) => is_numbered(node, end, 1, n),
                None => node == end,
            })
        };
        name.split_once("->")
            .is_some_and(|(a, b)| is_at("from", a) && is_at("to", b))
    }
}

/// Whether `name` is `group` with a number from `first` to `last` behind it.
fn is_numbered(name: &str, group: &str, first: u64, last: u64) -> bool {
    let number = name.strip_prefix(group);
    let plain = number.filter(|n| !n.starts_with('0') && n.bytes().all(|b| b.is_ascii_digit()));
    plain
        .and_then(|n| n.parse().ok())
        .is_some_and(|n: u64| (first..=last).contains(&n))
}

/// What an element of a list goes by: its name, or the default name of a link.
pub(super) fn label(item: &Node, field: &str) -> Option<String> {
    let text = |name: &str| item.get(name).and_then(Node::text);
    match (text("name"), field) {
        (Some(name), _) => Some(name.to_string()),
        (None, "link") => Some(format!("{}->{}", text("from")?, text("to")?)),
        _ => None,
    }
}
