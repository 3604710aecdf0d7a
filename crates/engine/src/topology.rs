//! Names to indices: which links a VC direction takes, which links feed a port.

use crate::scenario::{Class, ClassQueue, DropPolicy, Link, RestOfFrame, Scenario, Scheduler};
use std::collections::HashMap;

/// A VC direction: `2 * vc` carries data, `2 * vc + 1` ACKs.
pub type Direction = usize;

/// The network of a checked scenario, by index: links, VCs and hosts are numbered as in the scenario.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Per VC direction, the links from host to host.
    pub paths: Vec<Vec<usize>>,
    /// Per link that leaves a switch (a port), the links that feed it, in scenario order; empty for others.
    pub inputs: Vec<Vec<usize>>,
    /// Per link, the classes of the VCs that cross it either way, most urgent first.
    pub classes: Vec<Vec<Class>>,
    /// Per link, the index of the switch it leaves, or `None` when it leaves a host.
    pub switch_of: Vec<Option<usize>>,
    /// Per link, the index of the host it leaves, or `None` when it leaves a switch.
    pub host_of: Vec<Option<usize>>,
    /// Per VC, the indices of its two hosts.
    pub ends: Vec<[usize; 2]>,
}

impl Topology {
    /// Resolves a scenario that the reader has checked.
    ///
    /// # Errors
    /// A sentence naming the VC and the missing link, if the scenario was built without the reader's checks.
    pub fn new(scenario: &Scenario) -> Result<Topology, String> {
        let hosts: HashMap<&str, usize> = index(scenario.hosts.iter().map(|h| h.name.as_str()));
        let switches: HashMap<&str, usize> =
            index(scenario.switches.iter().map(|s| s.name.as_str()));
        let mut between: HashMap<(&str, &str), usize> = HashMap::new();
        for (i, link) in scenario.links.iter().enumerate() {
            between.entry((&link.from, &link.to)).or_insert(i);
        }
        let mut paths = Vec::with_capacity(2 * scenario.vcs.len());
        let mut ends = Vec::with_capacity(scenario.vcs.len());
        for vc in &scenario.vcs {
            let host = |name: &str| {
                hosts
                    .get(name)
                    .copied()
                    .ok_or_else(|| format!("vc {}: no host named {name}", vc.name))
            };
            ends.push([host(&vc.from)?, host(&vc.to)?]);
            let mut nodes = vec![vc.from.as_str()];
            nodes.extend(vc.route.iter().map(String::as_str));
            nodes.push(&vc.to);
            for _ in 0..2 {
                let path: Result<Vec<usize>, String> = nodes
                    .windows(2)
                    .map(|w| {
                        between.get(&(w[0], w[1])).copied().ok_or_else(|| {
                            format!("vc {}: no link from {} to {}", vc.name, w[0], w[1])
                        })
                    })
                    .collect();
                paths.push(path?);
                nodes.reverse();
            }
        }
        let mut inputs = vec![Vec::new(); scenario.links.len()];
        let mut classes = vec![Vec::new(); scenario.links.len()];
        for (direction, path) in paths.iter().enumerate() {
            for hop in path.windows(2) {
                inputs[hop[1]].push(hop[0]);
            }
            for &link in path {
                classes[link].push(scenario.vcs[direction / 2].class);
            }
        }
        for feeding in &mut inputs {
            feeding.sort_unstable();
            feeding.dedup();
        }
        for crossing in &mut classes {
            crossing.sort_unstable();
            crossing.dedup();
        }
        let leaves = |names: &HashMap<&str, usize>| {
            scenario
                .links
                .iter()
                .map(|l| names.get(l.from.as_str()).copied())
                .collect()
        };
        Ok(Topology {
            paths,
            inputs,
            classes,
            switch_of: leaves(&switches),
            host_of: leaves(&hosts),
            ends,
        })
    }

    /// The scheduler of the port that `link` is, which must leave a switch.
    pub fn scheduler<'a>(&self, scenario: &'a Scenario, link: usize) -> &'a Scheduler {
        let own = scenario.links[link].scheduler.as_ref();
        own.unwrap_or_else(|| &scenario.switches[self.port_switch(link)].scheduler)
    }

    /// The class queue of `class` at the port that `link` is: the link's own, else the switch's, else unlimited tail drop.
    pub fn queue(&self, scenario: &Scenario, link: usize, class: Class) -> ClassQueue {
        let of_link: &Link = &scenario.links[link];
        let of_switch = &scenario.switches[self.port_switch(link)].queues;
        let found = of_link
            .queues
            .iter()
            .chain(of_switch)
            .find(|q| q.class == class);
        found.cloned().unwrap_or(ClassQueue {
            class,
            buffer: None,
            drop: DropPolicy::TailDrop,
            rest_of_frame: RestOfFrame::Accept,
        })
    }

    fn port_switch(&self, link: usize) -> usize {
        self.switch_of[link].expect("a port is a link that leaves a switch")
    }
}

fn index<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    names.enumerate().map(|(i, name)| (name, i)).collect()
}
