//! Input of the rules that look at the whole network.

use super::expand::things::{LinkAt, Things};
use super::model::Scenario;
use crate::text::scenario::topology::Topology;

/// A scenario that has been read, with its topology and the entries behind its things.
pub(crate) struct Network<'n> {
    pub scenario: &'n Scenario,
    pub topology: &'n Topology,
    pub things: &'n Things,
}

impl Network<'_> {
    /// The links that leave a switch, each with its index.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (usize, &LinkAt)> {
        let links = self.things.links.iter().enumerate();
        links.filter(|&(link, _)| self.topology.switch_of[link].is_some())
    }

    /// The entry of `switch` among those of the scenario.
    pub(crate) fn entry_of_switch(&self, switch: usize) -> usize {
        self.things.nodes[self.things.hosts + switch].entry
    }

    /// Where the setting of the port of `link` is written: at the link, if that has its own, or else
    /// at the switch.
    pub(crate) fn place_of_setting(&self, link: usize, link_has_own: bool) -> String {
        let at = &self.things.links[link];
        if link_has_own {
            format!("link[{}]", at.entry)
        } else {
            format!("switch[{}]", self.things.nodes[at.from].entry)
        }
    }
}
