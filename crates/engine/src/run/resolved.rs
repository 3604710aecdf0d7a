//! Ports of a scenario with their settings resolved once, for building, prediction, description and
//! warnings.

use crate::ground::format::{CellLengths, Clock};
use crate::ground::units::{BitRate, Span};
use crate::port::drop::{DropRule, Policy};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, ClassQueue, Observable, Scenario, Scheduler};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;

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
    /// Places that its cells take.
    pub places: Places,
    /// Queues of all classes, most urgent first.
    queues: [&'s ClassQueue; Class::ALL.len()],
    /// Rate of the link; with the clock, the size of a buffer in time.
    rate: BitRate,
    clock: Clock,
    /// The pool of the switch. Boxed, as there may be many ports, few of them with one.
    pool: Option<Box<PortPool>>,
    /// Whether a cell can ever wait there.
    pub can_queue: bool,
    /// Class that the arithmetic kernel can serve there, or the reason why the slotted kernel must
    /// serve the port.
    pub arithmetic: Result<Class, WhySlotted>,
}

/// What a port has of the pool of its switch.
#[derive(Clone, Copy, Debug)]
struct PortPool {
    /// Bytes of a memory cell, if that is a place.
    memory_cell: Option<u32>,
    /// S, if the port takes part.
    shared: Option<u64>,
}

impl<'s> ResolvedPort<'s> {
    /// K of a queue here, places; `None`: unlimited.
    fn k(&self, queue: &ClassQueue) -> Option<u64> {
        match queue.buffer {
            Some(size) => {
                let memory_cell = self.pool.as_ref().and_then(|pool| pool.memory_cell);
                Some(size.places(self.rate, self.clock, memory_cell))
            }
            None => Some(self.shared()? + queue.reserved()),
        }
    }

    /// S of the pool, if the port takes part in one.
    pub fn shared(&self) -> Option<u64> {
        self.pool.as_ref()?.shared
    }

    /// The queue of `class`.
    pub fn queue(&self, class: Class) -> ResolvedQueue<'s> {
        let given = self.queues[class as usize];
        ResolvedQueue {
            given,
            k: self.k(given),
            memory_cell: self.pool.as_ref().and_then(|pool| pool.memory_cell),
            places: self.places,
        }
    }
}

/// A class queue at a port.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ResolvedQueue<'s> {
    /// As the scenario gives it.
    #[serde(flatten)]
    pub given: &'s ClassQueue,
    /// K in places; `None`: unlimited.
    #[serde(rename = "places")]
    pub k: Option<u64>,
    /// Bytes of a memory cell, if that is a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_cell: Option<u32>,
    /// What cells of the port take.
    #[serde(skip)]
    pub places: Places,
}

impl Deref for ResolvedQueue<'_> {
    type Target = ClassQueue;

    fn deref(&self) -> &ClassQueue {
        self.given
    }
}

impl ResolvedQueue<'_> {
    /// The drop policy, if no VC crossed the port, to see what it needs.
    pub fn policy(&self) -> Policy {
        Policy::new(&self.drop, self.k, &[], Span::ZERO, Clock::AAL5)
    }

    /// Whether its gate must see every cell, including those of lost frames and those that find the
    /// port idle.
    pub fn judges_each(&self) -> bool {
        self.police.is_some() || self.policy().needs().every_cell
    }

    /// Whether its gate may push out waiting cells.
    pub fn pushes_out(&self) -> bool {
        self.policy().needs().stored_cells
    }

    /// The smallest number of waiting cells at which its policy may refuse a frame.
    pub fn smallest_refusal(&self) -> u64 {
        let places = self.policy().smallest_refusal();
        self.places.least_cells(places)
    }

    /// Whether its gate may refuse a cell even when none waits.
    pub fn refuses_any(&self) -> bool {
        self.police.is_some()
            || self.policy().smallest_refusal() == 0
            || self.room().is_some_and(|cells| cells == 0)
    }

    /// The largest number of cells that can wait; `None`: unlimited.
    pub fn most_cells(&self) -> Option<u64> {
        self.k.map(|k| k / self.places.shortest)
    }

    /// The number of the longest cells that can wait; `None`: unlimited.
    pub fn room(&self) -> Option<u64> {
        self.k.map(|k| k / self.places.longest)
    }
}

/// Places that the cells of a port take in its queues (model section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// Of the shortest cell.
    pub shortest: u64,
    /// Of the longest cell.
    pub longest: u64,
}

impl Places {
    /// One place for each cell.
    pub const ONE: Places = Places {
        shortest: 1,
        longest: 1,
    };

    /// Places of each cell, if all take equally many.
    pub fn of_each(self) -> Option<u64> {
        (self.shortest == self.longest).then_some(self.longest)
    }

    /// The smallest number of cells that may take `places`.
    pub fn least_cells(self, places: u64) -> u64 {
        places.div_ceil(self.longest)
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
    /// The rate of the link changes.
    Changes,
    /// The policy sees every cell, and counts bytes.
    JudgesBytes,
    /// The port shares the pool of its switch.
    Pool,
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
            WhySlotted::Changes => "the rate of its link changes",
            WhySlotted::Pool => "it shares the pool of its switch",
            WhySlotted::JudgesBytes => "its policy sees every cell and counts bytes",
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
            let place = topology.place(scenario, link);
            let CellLengths { shortest, longest } = topology.lengths[link];
            let places = Places {
                shortest: place.of(shortest),
                longest: place.of(longest),
            };
            let is_watched = credit.contains(scenario.links[link].name.as_str());
            let used_class = used_class(scenario, &topology, link);
            let mut port = ResolvedPort {
                scheduler,
                places,
                queues: Class::ALL.map(|class| topology.queue(scenario, link, class)),
                rate: scenario.links[link].rate,
                clock: scenario.format.clock,
                pool: topology.has_pool(link).then(|| {
                    Box::new(PortPool {
                        memory_cell: topology.memory_cell(scenario, link),
                        shared: topology.pool_of(link).map(|(_, pool)| pool.shared()),
                    })
                }),
                can_queue: false,
                arithmetic: used_class,
            };
            port.can_queue = can_queue(scenario, &topology, link, &port);
            port.arithmetic = used_class.and_then(|class| {
                if port.shared().is_some() {
                    return Err(WhySlotted::Pool);
                }
                let queue = port.queue(class);
                if !topology.lengths[link].are_equal() {
                    return Err(WhySlotted::Lengths);
                }
                if scenario.links[link].changes_rate() {
                    return Err(WhySlotted::Changes);
                }
                if places != Places::ONE && queue.judges_each() {
                    return Err(WhySlotted::JudgesBytes);
                }
                why_slotted(scheduler, class, queue, is_watched).map_or(Ok(class), Err)
            });
            Some(port)
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
    pub fn queue(&self, link: usize, class: Class) -> Option<ResolvedQueue<'s>> {
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
    port: &ResolvedPort<'_>,
) -> bool {
    let mut refuses = topology.classes[link]
        .iter()
        .map(|&class| port.queue(class).refuses_any());
    topology.can_wait(scenario, link)
        || (!topology.inputs[link].is_empty() && refuses.any(|any| any))
}

/// The only class whose cells cross `link`. The reverse flow of a source without answers carries
/// nothing and does not count.
fn used_class(scenario: &Scenario, topology: &Topology, link: usize) -> Result<Class, WhySlotted> {
    let used = topology.used_classes(scenario, link);
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
    queue: ResolvedQueue<'_>,
    credit_is_watched: bool,
) -> Option<WhySlotted> {
    if scheduler.serves_vcs_of(class) {
        Some(WhySlotted::QueuePerVc)
    } else if credit_is_watched {
        Some(WhySlotted::Credit)
    } else if queue.pushes_out() {
        Some(WhySlotted::PushesOut)
    } else if queue.refuses_any() && !queue.judges_each() || queue.room() == Some(0) {
        Some(WhySlotted::RefusesAny)
    } else {
        None
    }
}
