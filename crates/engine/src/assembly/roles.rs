//! What each link is to the network: a station or part of a latency, and where its cells arrive.

use crate::abr::Sites;
use crate::loss::is_lossy;
use crate::port::gate;
use crate::processing::is_constant;
use crate::scenario::Scenario;
use crate::scenario::topology::Topology;

/// The roles of all links.
pub struct Roles {
    /// Per link: its port, when it leaves a switch and is a station.
    pub port_of: Vec<Option<usize>>,
    /// The link of each port.
    pub links_of_ports: Vec<usize>,
    /// Per port: its first feed; there is one for each input.
    pub first_feed: Vec<usize>,
    /// Feeds of all ports.
    pub feeds: usize,
    /// Per link: whether cells can wait before it.
    pub can_queue: Vec<bool>,
}

impl Roles {
    /// Those in `scenario`.
    pub fn new(scenario: &Scenario, topology: &Topology, sites: &Sites) -> Roles {
        let can_queue = queueing_links(scenario, topology);
        let mut watched = vec![false; scenario.links.len()];
        let names: std::collections::HashSet<&str> =
            scenario.probes.iter().map(|p| p.of.as_str()).collect();
        for (watched, link) in watched.iter_mut().zip(&scenario.links) {
            *watched = names.contains(link.name.as_str());
        }
        let mut roles = Roles {
            port_of: vec![None; scenario.links.len()],
            links_of_ports: Vec::new(),
            first_feed: Vec::new(),
            feeds: 0,
            can_queue,
        };
        for (link, spec) in scenario.links.iter().enumerate() {
            let inputs = &topology.inputs[link];
            let is_station = roles.can_queue[link]
                || watched[link]
                || is_lossy(spec)
                || sites.of_link(link).is_some();
            if topology.switch_of[link].is_some() && !inputs.is_empty() && is_station {
                roles.port_of[link] = Some(roles.links_of_ports.len());
                roles.links_of_ports.push(link);
                roles.first_feed.push(roles.feeds);
                roles.feeds += inputs.len();
            }
        }
        roles
    }
}

/// Per link: whether cells can wait before it. Model section 6: a port cannot queue if it has one input whose cells are never closer than its
/// own cell time, and its policy refuses none of them.
pub fn queueing_links(scenario: &Scenario, topology: &Topology) -> Vec<bool> {
    let links = 0..scenario.links.len();
    links.map(|l| can_queue(scenario, topology, l)).collect()
}

/// Whether a cell can ever wait at the port that `link` is.
pub fn can_queue(scenario: &Scenario, topology: &Topology, link: usize) -> bool {
    let Some(switch) = topology.switch_of[link] else {
        return false;
    };
    let own = scenario.links[link].rate.cell_time();
    let keeps_distance = |input: usize| scenario.links[input].rate.cell_time() >= own;
    let processing = scenario.switches[switch].processing.as_ref();
    match topology.inputs[link].as_slice() {
        [] => false,
        &[input] => {
            !keeps_distance(input)
                || processing.is_some_and(|p| !is_constant(p))
                || topology.classes[link].len() > 1
                || refuses_any(scenario, topology, link)
        }
        _ => true,
    }
}

/// Whether a policer or drop policy there may refuse a cell however few wait.
fn refuses_any(scenario: &Scenario, topology: &Topology, link: usize) -> bool {
    let mut queues = topology.classes[link]
        .iter()
        .map(|&class| topology.queue(scenario, link, class));
    queues.any(|queue| gate::refuses_any(&queue))
}
