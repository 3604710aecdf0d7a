//! Routes. Given routes are followed link by link. Others are shortest paths, the first in scenario
//! order.

use super::things::Things;
use rustc_hash::FxHashMap;

/// Limit on the total nodes of the breadth-first trees that are kept for further VCs.
const MOST_KEPT: usize = 1_000_000;

/// Finds the nodes between hosts.
pub(crate) struct Router {
    /// Per node, the nodes joined to it by links in both directions, in scenario order.
    neighbours: Vec<Vec<u32>>,
    /// Trees by start node.
    trees: FxHashMap<usize, Tree>,
    /// Number of nodes in all trees.
    kept: usize,
}

/// Shortest paths from a start, searched only as far as needed. Paths lead through switches, so the
/// start is the only host in the tree.
struct Tree {
    /// The nodes in the order found, each with the position of its parent.
    found: Vec<(u32, u32)>,
    /// Position of each node in `found`.
    position: FxHashMap<u32, u32>,
    /// Position of the next node whose neighbours are searched.
    next: usize,
}

impl Tree {
    fn new(start: usize) -> Tree {
        Tree {
            found: vec![(start as u32, 0)],
            position: FxHashMap::from_iter([(start as u32, 0)]),
            next: 0,
        }
    }

    /// The path to `to`, in reverse and without `to`. `None` when there is none.
    fn path(&mut self, to: usize, things: &Things, neighbours: &[Vec<u32>]) -> Option<Vec<usize>> {
        let before = &neighbours[to];
        let known = before
            .iter()
            .filter_map(|node| self.position.get(node))
            .min();
        let mut at = match known {
            Some(&at) => at,
            None => self.search(to, things, neighbours)?,
        };
        let mut path = Vec::new();
        loop {
            let (node, parent) = self.found[at as usize];
            path.push(node as usize);
            if at == 0 {
                return Some(path);
            }
            at = parent;
        }
    }

    /// Searches on until a neighbour of `to` is found and returns its position.
    fn search(&mut self, to: usize, things: &Things, neighbours: &[Vec<u32>]) -> Option<u32> {
        while let Some(&(node, _)) = self.found.get(self.next) {
            let mut met = None;
            for &switch in &neighbours[node as usize] {
                let at = self.found.len() as u32;
                if (switch as usize) < things.hosts || self.position.contains_key(&switch) {
                    continue;
                }
                self.position.insert(switch, at);
                self.found.push((switch, self.next as u32));
                if met.is_none() && things.joined(switch as usize, to) {
                    met = Some(at);
                }
            }
            self.next += 1;
            if met.is_some() {
                return met;
            }
        }
        None
    }
}

impl Router {
    pub(crate) fn new(things: &Things) -> Router {
        let mut neighbours = vec![Vec::new(); things.nodes.len()];
        for link in &things.links {
            if things.between.contains_key(&(link.to, link.from)) {
                neighbours[link.from].push(link.to as u32);
            }
        }
        Router {
            neighbours,
            trees: FxHashMap::default(),
            kept: 0,
        }
    }

    /// The nodes from host `from` to host `to`, including both, over `switches` if given.
    pub(crate) fn nodes(
        &mut self,
        things: &Things,
        from: usize,
        to: usize,
        switches: Option<&[usize]>,
    ) -> Result<Vec<usize>, String> {
        let name = |n: usize| &things.nodes[n].name;
        if let Some(switches) = switches {
            let nodes: Vec<usize> = [&[from], switches, &[to]].concat();
            for hop in nodes.windows(2) {
                for (a, b) in [(hop[0], hop[1]), (hop[1], hop[0])] {
                    if !things.between.contains_key(&(a, b)) {
                        return Err(format!("there is no link from {} to {}", name(a), name(b)));
                    }
                }
            }
            return Ok(nodes);
        }
        // Hosts with a single link share the tree of its other end.
        let start = match self.neighbours[from][..] {
            [only] if (only as usize) >= things.hosts => only as usize,
            _ => from,
        };
        if self.kept > MOST_KEPT {
            self.trees.clear();
            self.kept = 0;
        }
        let tree = self.trees.entry(start).or_insert_with(|| Tree::new(start));
        let before = tree.found.len();
        let path = tree.path(to, things, &self.neighbours);
        self.kept += tree.found.len() - before + 1;
        let Some(path) = path else {
            return Err(format!(
                "no path with links in both directions connects {} and {}",
                name(from),
                name(to)
            ));
        };
        let mut nodes = Vec::with_capacity(path.len() + 2);
        nodes.push(to);
        nodes.extend(path);
        if start != from {
            nodes.push(from);
        }
        nodes.reverse();
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scenario::expand::things::{LinkAt, NodeAt};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn network(nodes: usize, hosts: usize, joined: &[(usize, usize)]) -> Things {
        let mut things = Things {
            hosts,
            ..Things::default()
        };
        let node = |n| NodeAt {
            name: format!("n{n}").into(),
            entry: n,
        };
        things.nodes.extend((0..nodes).map(node));
        for &(a, b) in joined {
            for (from, to) in [(a % nodes, b % nodes), (b % nodes, a % nodes)] {
                let link = things.links.len();
                if from == to || things.between.insert((from, to), link).is_some() {
                    continue;
                }
                things.links.push(LinkAt {
                    name: "".into(),
                    from,
                    to,
                    entry: 0,
                    back: false,
                });
            }
        }
        things
    }

    /// Reference: the shortest path by plain search that avoids hosts, the first in scenario order.
    fn plain(things: &Things, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut parent = vec![None; things.nodes.len()];
        parent[from] = Some(from);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node < things.hosts && node != from {
                continue;
            }
            for link in things.links.iter().filter(|link| link.from == node) {
                if parent[link.to].is_none() {
                    parent[link.to] = Some(node);
                    queue.push_back(link.to);
                }
            }
        }
        let mut path = vec![to];
        while path[path.len() - 1] != from {
            path.push(parent[path[path.len() - 1]]?);
        }
        path.reverse();
        Some(path)
    }

    proptest! {
        #[test]
        fn routes_are_those_of_a_search_everywhere(
            nodes in 2usize..14, hosts in 2usize..8, joined in proptest::collection::vec((0usize..14, 0usize..14), 0..40)
        ) {
            let hosts = hosts.min(nodes);
            let things = network(nodes, hosts, &joined);
            let mut router = Router::new(&things);
            for (from, to) in (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b))).filter(|(a, b)| a != b) {
                prop_assert_eq!(router.nodes(&things, from, to, None).ok(), plain(&things, from, to));
            }
        }
    }

    #[test]
    fn a_route_costs_what_lies_between_not_the_network() {
        // Pairs of hosts with a direct link, and rows of switches with a host at each.
        for n in [100, 1000] {
            let pairs: Vec<_> = (0..n).map(|i| (i, n + i)).collect();
            let things = network(2 * n, 2 * n, &pairs);
            let mut router = Router::new(&things);
            pairs.iter().for_each(|&(a, b)| {
                router.nodes(&things, a, b, None).expect("they are joined");
            });
            assert!(router.kept <= 2 * n);
            let at: Vec<_> = (0..n).map(|i| (i, n + i)).collect();
            let row = (0..n - 1).map(|i| (n + i, n + i + 1));
            let things = network(2 * n, n, &at.into_iter().chain(row).collect::<Vec<_>>());
            let mut router = Router::new(&things);
            (1..n).for_each(|i| {
                router
                    .nodes(&things, i - 1, i, None)
                    .expect("they are joined");
            });
            assert!(router.kept <= 5 * n, "{}", router.kept);
        }
    }
}
