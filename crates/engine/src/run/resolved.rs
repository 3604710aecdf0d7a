//! Ports of a scenario with their settings resolved once, for building, prediction, description and
//! warnings.

use crate::network::processing::is_constant;
use crate::port::gate::{judges_each, pushes_out, refuses_any};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, ClassQueue, Observable, Scenario, Scheduler};
use std::collections::HashSet;
use std::fmt;

/// A checked scenario, with its network by index and its ports.
#[derive(Clone, Debug)]
pub struct Resolved<'s> {
    /// The scenario as read.
    pub scenario: &'s Scenario,
    /// Links, flows and nodes by index.
    pub topology: Topology,
    /// Per link: its port, if the link leaves a switch.
    ports: Vec<Option<ResolvedPort<'s>>>,
}

/// Resolved settings of a port: those of the port, else of its switch, else the defaults.
#[derive(Clone, Debug)]
pub struct ResolvedPort<'s> {
    /// Scheduler of the port.
    pub scheduler: &'s Scheduler,
    /// Queues of all classes, most urgent first.
    queues: [&'s ClassQueue; Class::ALL.len()],
    /// Whether a cell can ever wait there.
    pub can_queue: bool,
    /// Class that the arithmetic kernel can serve there, or the reason why the slotted kernel must
    /// serve the port.
    pub arithmetic: Result<Class, WhySlotted>,
}

impl<'s> ResolvedPort<'s> {
    /// The queue of `class`.
    pub fn queue(&self, class: Class) -> &'s ClassQueue {
        self.queues[class as usize]
    }
}

/// Why the slotted kernel must serve a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhySlotted {
    /// The number of classes that cross the port is not one.
    Classes(usize),
    /// The scheduler has a queue per VC.
    QueuePerVc,
    /// A probe records the credit of the scheduler.
    Credit,
    /// The drop policy drops waiting cells.
    PushesOut,
    /// The drop policy may refuse a frame at an empty queue.
    RefusesAny,
    /// Cells of the port differ in length.
    Lengths,
}

impl fmt::Display for WhySlotted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WhySlotted::Classes(0) => "no VC crosses it",
            WhySlotted::Classes(n) => return write!(f, "{n} classes cross it"),
            WhySlotted::QueuePerVc => "its scheduler keeps a queue for each VC",
            WhySlotted::Credit => "a probe records its credit",
            WhySlotted::PushesOut => "its drop policy drops from the queue",
            WhySlotted::Lengths => "its packets differ in length",
            WhySlotted::RefusesAny => "its drop policy may refuse a frame when nothing waits",
        })
    }
}

impl<'s> Resolved<'s> {
    /// Resolves a scenario that the reader has checked.
    ///
    /// # Errors
    /// See [`Topology::new`].
    pub fn new(scenario: &'s Scenario) -> Result<Resolved<'s>, String> {
        let topology = Topology::new(scenario)?;
        let probes = scenario.probes.iter();
        let of_credit = probes.filter(|probe| probe.what == Observable::Credit);
        let credit: HashSet<&str> = of_credit.map(|probe| probe.of.as_str()).collect();
        let port = |link: usize| {
            topology.switch_of[link]?;
            let scheduler = topology.scheduler(scenario, link);
            let queues = Class::ALL.map(|class| topology.queue(scenario, link, class));
            let is_watched = credit.contains(scenario.links[link].name.as_str());
            Some(ResolvedPort {
                scheduler,
                can_queue: can_queue(scenario, &topology, link, &queues),
                arithmetic: used_class(scenario, &topology, link).and_then(|class| {
                    if !topology.lengths[link].are_equal() {
                        return Err(WhySlotted::Lengths);
                    }
                    let queue = queues[class as usize];
                    why_slotted(scheduler, class, queue, is_watched).map_or(Ok(class), Err)
                }),
                queues,
            })
        };
        Ok(Resolved {
            ports: (0..scenario.links.len()).map(port).collect(),
            scenario,
            topology,
        })
    }

    /// Port of `link`, if the link leaves a switch.
    pub fn port(&self, link: usize) -> Option<&ResolvedPort<'s>> {
        self.ports[link].as_ref()
    }

    /// Queue of `class` at the port of `link`, if the link leaves a switch.
    pub fn queue(&self, link: usize, class: Class) -> Option<&'s ClassQueue> {
        self.port(link).map(|port| port.queue(class))
    }

    /// Whether a cell can ever wait for `link` at a switch.
    pub fn can_queue(&self, link: usize) -> bool {
        self.port(link).is_some_and(|port| port.can_queue)
    }

    /// Ports that carry cells, with the indices of their links.
    pub fn ports(&self) -> impl Iterator<Item = (usize, &ResolvedPort<'s>)> {
        let ports = self.ports.iter().zip(&self.topology.inputs).enumerate();
        ports.filter_map(|(link, (port, inputs))| {
            Some((link, port.as_ref()?)).filter(|_| !inputs.is_empty())
        })
    }
}

/// Whether a cell can ever wait at the port of `link`.
///
/// A port cannot queue if cells of at most one class come from a single input, never closer than
/// the port's cell time, and its policer and policy refuse none of them (model section 6).
fn can_queue(
    scenario: &Scenario,
    topology: &Topology,
    link: usize,
    queues: &[&ClassQueue; Class::ALL.len()],
) -> bool {
    let switch = topology.switch_of[link].map(|switch| &scenario.switches[switch]);
    let processing = switch.and_then(|switch| switch.processing.as_ref());
    let classes = &topology.classes[link];
    match topology.inputs[link].as_slice() {
        [] => false,
        &[input] => {
            !topology.keeps_distance(scenario, input, link)
                || processing.is_some_and(|p| !is_constant(p))
                || classes.len() > 1
                || classes
                    .iter()
                    .any(|&class| refuses_any(queues[class as usize]))
        }
        _ => true,
    }
}

/// The only class whose cells cross `link`. The reverse flow of a source without answers carries
/// nothing and does not count.
fn used_class(scenario: &Scenario, topology: &Topology, link: usize) -> Result<Class, WhySlotted> {
    let crossing = topology.crossing[link].iter();
    let flows = crossing.map(|id| &topology.flows[id.index()]);
    let carries = flows.filter_map(|flow| {
        let vc = &scenario.vcs[flow.vc];
        (flow.kind.is_data() || vc.traffic.answers() || vc.abr.is_some()).then_some(vc.class)
    });
    let mut used: Vec<Class> = carries.collect();
    used.sort_unstable();
    used.dedup();
    match used[..] {
        [class] => Ok(class),
        _ => Err(WhySlotted::Classes(used.len())),
    }
}

/// Why the arithmetic kernel cannot serve a port crossed only by cells of `class`; `None` if it
/// can.
///
/// The kernel needs cells served in order of arrival, a policy that drops no waiting cell, and no
/// probe of the credit in each slot. Unless the policy judges each cell, it must also accept every
/// frame at an empty queue.
fn why_slotted(
    scheduler: &Scheduler,
    class: Class,
    queue: &ClassQueue,
    credit_is_watched: bool,
) -> Option<WhySlotted> {
    if scheduler.serves_vcs_of(class) {
        Some(WhySlotted::QueuePerVc)
    } else if credit_is_watched {
        Some(WhySlotted::Credit)
    } else if pushes_out(queue) {
        Some(WhySlotted::PushesOut)
    } else if refuses_any(queue) && !judges_each(queue) {
        Some(WhySlotted::RefusesAny)
    } else {
        None
    }
}
