//! Which kernel serves a port, and why: asked when ports are built, when their memory is predicted, and by `describe`.

use crate::port::gate::{judges_each, pushes_out, refuses_any};
use crate::scenario::topology::Topology;
use crate::scenario::{Class, Observable, Scenario};
use crate::units::Span;
use std::collections::HashSet;
use std::fmt;

/// Why the slotted kernel must serve a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhySlotted {
    /// Cells of so many classes cross it.
    Classes(usize),
    /// Its scheduler has a queue for each VC.
    QueuePerVc,
    /// A probe records the credit of its scheduler.
    Credit,
    /// Its drop policy drops cells that wait.
    PushesOut,
    /// Its drop policy may refuse a frame although nothing waits.
    RefusesAny,
}

impl fmt::Display for WhySlotted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhySlotted::Classes(0) => write!(f, "no class has cells"),
            WhySlotted::Classes(n) => write!(f, "{n} classes"),
            WhySlotted::QueuePerVc => write!(f, "a queue for each VC"),
            WhySlotted::Credit => write!(f, "a probe of its credit"),
            WhySlotted::PushesOut => write!(f, "the drop policy drops cells that wait"),
            WhySlotted::RefusesAny => {
                write!(
                    f,
                    "the drop policy may refuse a frame although nothing waits"
                )
            }
        }
    }
}

/// The ports of a scenario, each with what decides which kernel serves it.
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

    /// The one class and the cell time of the port that `link` is, if the arithmetic kernel can serve it. That needs cells of one class in
    /// their order, a policy that drops no cell that waits, and nobody who asks for the credit in each slot. Unless the policy judges each
    /// cell, it must also accept what finds nothing waiting.
    ///
    /// # Errors
    /// Why the slotted kernel must serve it.
    pub fn by_arithmetic(&self, link: usize) -> Result<(Class, Span), WhySlotted> {
        let class = match *self.used_classes(link).as_slice() {
            [class] => class,
            ref classes => return Err(WhySlotted::Classes(classes.len())),
        };
        let spec = &self.scenario.links[link];
        let queue = self.topology.queue(self.scenario, link, class);
        let scheduler = self.topology.scheduler(self.scenario, link);
        if scheduler.serves_vcs_of(class) {
            Err(WhySlotted::QueuePerVc)
        } else if self.credit.contains(spec.name.as_str()) {
            Err(WhySlotted::Credit)
        } else if pushes_out(&queue) {
            Err(WhySlotted::PushesOut)
        } else if refuses_any(&queue) && !judges_each(&queue) {
            Err(WhySlotted::RefusesAny)
        } else {
            Ok((class, spec.rate.cell_time()))
        }
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
