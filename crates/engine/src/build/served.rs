//! Which ports arithmetic can serve: asked when they are built, and before, when their memory is predicted.

use crate::port::gate::{judges_each, pushes_out, refuses_any};
use crate::scenario::{Class, Observable, Scenario};
use crate::topology::Topology;
use crate::units::Span;
use std::collections::HashSet;

/// The ports of a scenario, each with what decides whether arithmetic can serve it.
pub struct Served<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    /// Names of the links whose scheduler's credit is watched, slot by slot.
    credit: HashSet<&'a str>,
}

impl<'a> Served<'a> {
    /// Those of `scenario`.
    pub fn new(scenario: &'a Scenario, topology: &'a Topology) -> Served<'a> {
        let probes = scenario.probes.iter();
        let of_credit = probes.filter(|probe| probe.what == Observable::Credit);
        Served {
            scenario,
            topology,
            credit: of_credit.map(|probe| probe.of.as_str()).collect(),
        }
    }

    /// The one class and the cell time of the port that `link` is, if arithmetic can serve it: cells of one class in their order, a
    /// policy that lets stay what has come in and, unless it judges each cell, lets in what finds no other waiting, and nobody who asks for the credit in each slot.
    pub fn by_arithmetic(&self, link: usize) -> Option<(Class, Span)> {
        let &[class] = self.used_classes(link).as_slice() else {
            return None;
        };
        let spec = &self.scenario.links[link];
        let queue = self.topology.queue(self.scenario, link, class);
        let scheduler = self.topology.scheduler(self.scenario, link);
        let served = !scheduler.serves_vcs_of(class)
            && !self.credit.contains(spec.name.as_str())
            && !pushes_out(&queue)
            && (judges_each(&queue) || !refuses_any(&queue));
        served.then_some((class, spec.rate.cell_time()))
    }

    /// The classes of the flows over `link` that can carry anything: nothing comes back to a source that is not answered.
    fn used_classes(&self, link: usize) -> Vec<Class> {
        let crossing = self.topology.crossing[link].iter();
        let flows = crossing.map(|id| &self.topology.flows[id.index()]);
        let carries = flows.filter_map(|flow| {
            let vc = &self.scenario.vcs[flow.vc];
            (flow.kind.is_data() || vc.traffic.answers() || vc.abr.is_some()).then_some(vc.class)
        });
        let mut used: Vec<Class> = carries.collect();
        used.sort_unstable();
        used.dedup();
        used
    }
}
