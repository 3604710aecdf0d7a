//! Group members with individually set values.
//!
//! The values of such a member are appended to its list as an element that makes nothing by itself.
//! The member takes its values from there; name and place still come from its group.

use super::members::Maker;
use super::problem::{Place, Problem};
use super::record::{Record, entries};
use super::tree::{Node, Value};
use std::collections::{HashMap, HashSet};

/// Fields that a member shares with its group and that cannot be set individually.
pub(super) const GROUP_FIELDS: [&str; 5] = ["name", "count", "from", "to", "duplex"];

/// A group member with individual values.
#[derive(Debug)]
struct MemberValues {
    list: &'static str,
    maker: Maker,
    /// Name of the member in results, at the time it was set.
    name: String,
    values: Node,
}

/// Members that overrides have set individually so far.
#[derive(Debug, Default)]
pub(super) struct IndividualMembers(Vec<MemberValues>);

impl IndividualMembers {
    /// The values of the member of the list `list` of `root` that is called `name` in results.
    pub(super) fn values(
        &mut self,
        root: &Node,
        list: &'static str,
        maker: Maker,
        name: &str,
    ) -> Option<&mut Node> {
        let same = |m: &MemberValues| (m.list, m.maker) == (list, maker);
        let at = match self.0.iter().position(same) {
            Some(at) => at,
            None => {
                self.0.push(MemberValues {
                    list,
                    maker,
                    name: name.to_string(),
                    values: root.get(list)?.items().get(maker.at)?.clone(),
                });
                self.0.len() - 1
            }
        };
        Some(&mut self.0[at].values)
    }

    /// The values of the individually set members made by the elements at `positions` of a list.
    /// Positions must ascend.
    pub(super) fn values_of_members<'a>(
        &'a mut self,
        list: &'a str,
        positions: &'a [usize],
    ) -> impl Iterator<Item = &'a mut Node> {
        let members = self
            .0
            .iter_mut()
            .filter(move |m| m.list == list && positions.binary_search(&m.maker.at).is_ok());
        members.map(|m| &mut m.values)
    }

    /// Forgets the members of a list that was replaced.
    pub(super) fn forget(&mut self, list: &str) {
        self.0.retain(|m| m.list != list);
    }

    /// Appends the values of all members to their lists.
    pub(super) fn place(self, root: &mut Node) -> PlacedMembers {
        let mut placed = PlacedMembers::default();
        for member in self.0 {
            let Some(Value::List(items)) = root.get_mut(member.list).map(|node| &mut node.value)
            else {
                continue;
            };
            placed.written.entry(member.list).or_insert(items.len());
            placed.members.push(PlacedMember {
                list: member.list,
                maker: member.maker,
                at: items.len(),
                name: member.name,
            });
            items.push(member.values);
        }
        let keys = placed.members.iter();
        placed.position = keys
            .map(|m| ((m.list, m.maker.at, m.maker.number), m.at))
            .collect();
        placed
    }
}

/// A member whose values stand at a position of its list.
#[derive(Debug)]
pub(crate) struct PlacedMember {
    pub list: &'static str,
    pub maker: Maker,
    pub at: usize,
    pub name: String,
}

impl PlacedMember {
    /// Path by which an override sets the member.
    pub(crate) fn path(&self) -> String {
        format!("{}.{}", self.list, self.name)
    }
}

/// Positions of the values of individually set members.
#[derive(Debug, Default)]
pub(crate) struct PlacedMembers {
    pub members: Vec<PlacedMember>,
    /// Number of written elements per list. A list without an entry has only written elements.
    written: HashMap<&'static str, usize>,
    position: HashMap<(&'static str, usize, u64), usize>,
}

impl PlacedMembers {
    /// The written elements of a list: those that make things.
    pub(crate) fn makers<'r>(&self, scenario: &'r Record, list: &str) -> Vec<Option<&'r Record>> {
        let mut found = entries(scenario, list);
        found.truncate(self.written.get(list).copied().unwrap_or(usize::MAX));
        found
    }

    /// The individually set members of the element at `entry`.
    pub(crate) fn of(&self, list: &str, entry: usize) -> impl Iterator<Item = &PlacedMember> {
        let members = self.members.iter();
        members.filter(move |m| m.list == list && m.maker.at == entry)
    }

    /// Position of a member's values. `number` counts from 0 among the things made by the element
    /// at `entry`.
    pub(crate) fn position(&self, list: &'static str, entry: usize, number: usize) -> usize {
        if self.position.is_empty() {
            return entry;
        }
        let key = (list, entry, number as u64);
        self.position.get(&key).copied().unwrap_or(entry)
    }

    /// Returns `problems` with member names in place of positions that nobody wrote. A problem that
    /// a member shares with its group is reported for the group.
    pub(crate) fn with_member_names(&self, problems: Vec<Problem>) -> Vec<Problem> {
        if self.members.is_empty() {
            return problems;
        }
        let key = |p: &Problem, path: String| (path, p.line, p.column, p.message.clone());
        let reported: HashSet<_> = problems.iter().map(|p| key(p, p.path.clone())).collect();
        let named = problems.into_iter().filter_map(|mut problem| {
            let found = self.members.iter().find_map(|member| {
                let position = format!("{}[{}]", member.list, member.at);
                Some((member, problem.path.strip_prefix(&position)?.to_string()))
            });
            if let Some((member, rest)) = found {
                let group = format!("{}[{}]{rest}", member.list, member.maker.at);
                if reported.contains(&key(&problem, group)) {
                    return None;
                }
                problem.path = member.path() + &rest;
            }
            Some(problem)
        });
        named.collect()
    }
}

/// Place of a value that is set outside the scenario text.
pub(super) const OUTSIDE_TEXT: Place = Place {
    line: 0,
    column: 0,
    from_override: true,
};
