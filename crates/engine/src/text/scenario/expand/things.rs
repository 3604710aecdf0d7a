//! The things that the entries of a scenario describe, with names resolved to positions.

use crate::text::scenario::values::LONGEST_NAME;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// A host or switch; hosts come first.
#[derive(Debug)]
pub(crate) struct NodeAt {
    pub name: Arc<str>,
    /// Position of the element with the node's values: an entry of the file, or the node's
    /// individual values.
    pub entry: usize,
}

/// A one-way link between two nodes.
#[derive(Debug)]
pub(crate) struct LinkAt {
    pub name: Arc<str>,
    pub from: usize,
    pub to: usize,
    pub entry: usize,
    /// Whether this is the backward link of a duplex entry.
    pub back: bool,
}

/// A VC with the nodes on its route, both ends included.
#[derive(Debug)]
pub(crate) struct VcAt {
    pub name: Arc<str>,
    pub nodes: Vec<usize>,
    pub entry: usize,
}

/// The things that a name stands for.
#[derive(Debug)]
enum NameTarget {
    One(usize),
    Group(Vec<usize>),
}

/// Things by name: single things, and groups with their members.
#[derive(Debug, Default)]
pub(crate) struct Names {
    members: FxHashMap<Arc<str>, NameTarget>,
    /// The first name that is too long.
    too_long: Option<String>,
}

impl Names {
    /// Takes the first name above the length limit defined since the last call.
    pub(super) fn take_too_long(&mut self) -> Option<String> {
        self.too_long.take()
    }

    /// Reserves room for more names.
    pub(super) fn reserve(&mut self, names: usize) {
        self.members.reserve(names);
    }

    /// Defines the name of a single thing. Returns false when it is taken.
    pub(super) fn define(&mut self, name: &Arc<str>, thing: usize) -> bool {
        self.insert(Arc::clone(name), NameTarget::One(thing))
    }

    /// Defines the name of a group. Returns false when it is taken.
    pub(super) fn define_group(&mut self, name: &str, members: Vec<usize>) -> bool {
        self.insert(name.into(), NameTarget::Group(members))
    }

    fn insert(&mut self, name: Arc<str>, members: NameTarget) -> bool {
        let is_too_long = name.chars().count() > LONGEST_NAME;
        let Entry::Vacant(place) = self.members.entry(name) else {
            return false;
        };
        if is_too_long && self.too_long.is_none() {
            self.too_long = Some(place.key().to_string());
        }
        place.insert(members);
        true
    }

    pub(crate) fn find(&self, name: &str) -> Option<&[usize]> {
        self.members.get(name).map(|members| match members {
            NameTarget::One(thing) => std::slice::from_ref(thing),
            NameTarget::Group(things) => things,
        })
    }

    pub(super) fn is_group(&self, name: &str) -> bool {
        matches!(self.members.get(name), Some(NameTarget::Group(_)))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(AsRef::as_ref)
    }
}

/// All things of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Things {
    pub nodes: Vec<NodeAt>,
    /// Number of nodes that are hosts. They come first.
    pub hosts: usize,
    pub links: Vec<LinkAt>,
    pub vcs: Vec<VcAt>,
    /// The link from one node to another.
    pub between: FxHashMap<(usize, usize), usize>,
    pub node_names: Names,
    pub link_names: Names,
    pub vc_names: Names,
}

impl Things {
    /// Whether two nodes are linked in both directions.
    pub(crate) fn joined(&self, a: usize, b: usize) -> bool {
        self.between.contains_key(&(a, b)) && self.between.contains_key(&(b, a))
    }

    /// The links that a VC's data take, or `None` if its route was wrong.
    pub(crate) fn path(&self, vc: &VcAt) -> Option<Vec<usize>> {
        let hops = vc.nodes.windows(2);
        hops.map(|w| self.between.get(&(w[0], w[1])).copied())
            .collect()
    }
}
