//! Routes: given ones are followed link by link, others are the shortest, the first in scenario order.

use super::things::Things;
use std::collections::{HashMap, VecDeque};

/// Breadth-first trees kept for further VCs.
const MOST_TREES: usize = 16;
const NONE: u32 = u32::MAX;

/// Finds the nodes between hosts.
pub(crate) struct Router {
    /// Per node, the nodes to which links lead both ways, in scenario order.
    neighbours: Vec<Vec<u32>>,
    /// Per start, the parent of each node in the tree of shortest paths.
    trees: HashMap<usize, Vec<u32>>,
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
            trees: HashMap::new(),
        }
    }

    /// The nodes from host `from` to host `to`, both included, over `switches` if given.
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
        // Hosts with one link share the tree of the node it leads to.
        let start = match self.neighbours[from][..] {
            [only] if (only as usize) >= things.hosts => only as usize,
            _ => from,
        };
        if !self.trees.contains_key(&start) {
            if self.trees.len() >= MOST_TREES {
                self.trees.clear();
            }
            let tree = self.tree(start, things.hosts);
            self.trees.insert(start, tree);
        }
        let tree = &self.trees[&start];
        let mut nodes = vec![to];
        let mut node = to;
        while node != start {
            if tree[node] == NONE {
                return Err(format!(
                    "there is no path of links both ways between {} and {}",
                    name(from),
                    name(to)
                ));
            }
            node = tree[node] as usize;
            nodes.push(node);
        }
        if start != from {
            nodes.push(from);
        }
        nodes.reverse();
        Ok(nodes)
    }

    /// Parents on the shortest paths from `start`; paths do not lead through hosts.
    fn tree(&self, start: usize, hosts: usize) -> Vec<u32> {
        let mut parent = vec![NONE; self.neighbours.len()];
        parent[start] = start as u32;
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if node < hosts && node != start {
                continue;
            }
            for &next in &self.neighbours[node] {
                if parent[next as usize] == NONE {
                    parent[next as usize] = node as u32;
                    queue.push_back(next as usize);
                }
            }
        }
        parent
    }
}
