//! The things of a scenario: what its entries stand for, names resolved to positions.

use crate::scenario::values::LONGEST_NAME;
use std::collections::{HashMap, HashSet};

/// A host or switch; hosts come first.
#[derive(Debug)]
pub(crate) struct NodeAt {
    pub name: String,
    /// Position of the element that has its values: of its entry in the file, or of its own.
    pub entry: usize,
}

/// A one-way link between two nodes.
#[derive(Debug)]
pub(crate) struct LinkAt {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub entry: usize,
    /// Whether it is the link back of a duplex entry.
    pub back: bool,
}

/// A VC with the nodes on its route, both ends included.
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
    /// The first name that is too long.
    too_long: Option<String>,
}

impl Names {
    /// The first name longer than names may be that was defined since the last call, if there is one.
    pub(super) fn take_too_long(&mut self) -> Option<String> {
        self.too_long.take()
    }

    /// False when the name is taken.
    pub(super) fn define(&mut self, name: &str, members: Vec<usize>, group: bool) -> bool {
        if self.members.contains_key(name) {
            return false;
        }
        if self.too_long.is_none() && name.chars().count() > LONGEST_NAME {
            self.too_long = Some(name.to_string());
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

    pub(super) fn is_group(&self, name: &str) -> bool {
        self.groups.contains(name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }
}

/// All things of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Things {
    pub nodes: Vec<NodeAt>,
    /// How many of the nodes are hosts.
    pub hosts: usize,
    pub links: Vec<LinkAt>,
    pub vcs: Vec<VcAt>,
    /// The link from one node to another.
    pub between: HashMap<(usize, usize), usize>,
    pub node_names: Names,
    pub link_names: Names,
    pub vc_names: Names,
}

impl Things {
    /// Whether links lead both ways between two nodes.
    pub(crate) fn joined(&self, a: usize, b: usize) -> bool {
        self.between.contains_key(&(a, b)) && self.between.contains_key(&(b, a))
    }

    /// The links that the data of a VC take; `None` where its route was wrong.
    pub(crate) fn path(&self, vc: &VcAt) -> Option<Vec<usize>> {
        let hops = vc.nodes.windows(2);
        hops.map(|w| self.between.get(&(w[0], w[1])).copied())
            .collect()
    }
}
