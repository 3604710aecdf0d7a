//! Roles of links in the network: whether a link is a station or part of a latency, and where its
//! cells arrive.

use crate::network::abr::Sites;
use crate::network::loss::is_lossy;
use crate::run::resolved::Resolved;

/// The roles of all links.
pub struct LinkRoles {
    /// Per link: its port, if the link leaves a switch and is a station.
    pub port_of: Vec<Option<usize>>,
    /// Per port: its link.
    pub links_of_ports: Vec<usize>,
    /// Per port: its first feed. A port has one feed per input.
    pub first_feed: Vec<usize>,
    /// Total number of feeds.
    pub feeds: usize,
}

impl LinkRoles {
    /// The roles of the links of `net`.
    pub fn new(net: &Resolved<'_>, sites: &Sites) -> LinkRoles {
        let Resolved {
            scenario, topology, ..
        } = net;
        let mut watched = vec![false; scenario.links.len()];
        let names: std::collections::HashSet<&str> =
            scenario.probes.iter().map(|p| p.of.as_str()).collect();
        for (watched, link) in watched.iter_mut().zip(&scenario.links) {
            *watched = names.contains(link.name.as_str());
        }
        let mut roles = LinkRoles {
            port_of: vec![None; scenario.links.len()],
            links_of_ports: Vec::new(),
            first_feed: Vec::new(),
            feeds: 0,
        };
        for (link, spec) in scenario.links.iter().enumerate() {
            let inputs = &topology.inputs[link];
            let is_station = net.can_queue(link)
                || watched[link]
                || is_lossy(spec)
                || !topology.lengths[link].are_equal()
                || spec.changes_rate()
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
