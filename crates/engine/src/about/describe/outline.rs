//! Summary of a scenario: totals, and VCs grouped by the paths they take.
//!
//! The size of the summary does not grow with the number of similar VCs.

use super::names::NameRange;
use super::pools::{PoolFacts, pools};
use super::programs::{ProgramFacts, SchedulerFacts, programs, schedulers};
use super::{ChosenKernel, Expected, PortDescription, describe_network};
use crate::about::memory;
use crate::ground::format::Clock;
use crate::ground::units::{BitRate, Ratio};
use crate::run::resolved::{Resolved, ResolvedQueue};
use crate::text::options::RunError;
use crate::text::scenario::fair_goodput;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{
    Class, Link, Observable, Probe, RateChange, Scenario, Scheduler, Shape, Traffic, Vc,
};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};

/// Limit on the intentionally lost frames that are listed.
const MAX_LISTED_FRAMES: usize = 8;
/// Most changes of a rate that are listed for a link.
const MAX_LISTED_CHANGES: usize = 4;

/// Summary of a scenario, without a description of each port.
#[derive(Clone, Debug, Serialize)]
pub struct Outline<'s> {
    /// Number of links.
    pub links: usize,
    /// Number of VCs.
    pub vcs: usize,
    /// Number of ports that carry anything.
    pub ports: usize,
    /// Number of ports where cells can wait.
    pub queueing_ports: usize,
    /// Simulated time.
    pub duration_s: f64,
    /// What a reader calls a cell: [`Format::noun`](crate::ground::format::Format::noun).
    pub noun: &'static str,
    /// Upper bound on data cells at ports that can queue, as in [`super::Description`].
    pub max_bottleneck_cells: u64,
    /// Predicted cost of a run.
    pub expected: Expected,
    /// Upper bound on the memory that a run needs, in bytes.
    pub memory_bytes: u64,
    /// Number of probes.
    pub probes: ProbeCounts,
    /// Sum of fair goodputs, as in [`super::Description`].
    pub fair_goodput_bps: Option<u64>,
    /// The largest possible goodput of [`fair_goodput::max_goodput`], bits per second.
    pub max_goodput_bps: Option<u64>,
    /// Rates at which the time of a cell is rounded, the lowest first. Left out in AAL5.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounded_rates: Vec<RoundedRate>,
    /// Paths of VCs, in the order of the first VC of each.
    pub ways: Vec<PathGroup<'s>>,
    /// Pools of switches. Left out without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolFacts<'s>>,
    /// Programs of queues where cells can wait.
    pub programs: Vec<ProgramFacts<'s>>,
    /// Programs that schedule.
    pub schedulers: Vec<SchedulerFacts<'s>>,
    /// Warnings, as in [`super::Description`].
    pub notes: Vec<String>,
}

/// Number of probes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProbeCounts {
    /// All probes.
    pub all: usize,
    /// Probes that write a capture.
    pub captures: usize,
    /// Probes that record each event, so that their memory is not predicted.
    pub unlimited: usize,
    /// Points of the probes that record at intervals.
    pub points: f64,
}

/// A rate at which the time of a cell is not a whole number of ticks.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RoundedRate {
    /// The rate.
    pub rate_bps: u64,
    /// How much too long the time of a cell is, relative to the exact time.
    pub error: f64,
}

/// VCs of one class and kind of traffic through the same switches, over links with equal settings.
#[derive(Clone, Debug, Serialize)]
pub struct PathGroup<'s> {
    /// Source hosts of the VCs.
    pub from: NameRange<'s>,
    /// Destination hosts of the VCs.
    pub to: NameRange<'s>,
    /// Names of the VCs.
    pub vcs: NameRange<'s>,
    /// Kind of traffic of the VCs.
    pub traffic: &'static str,
    /// Service class of the VCs.
    pub class: Class,
    /// Shaper of the VCs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// The switches on the path.
    pub route: &'s [String],
    /// The links of the first VC on the path.
    pub hops: Vec<PathHop<'s>>,
}

/// A link on a path.
#[derive(Clone, Debug, Serialize)]
pub struct PathHop<'s> {
    /// Rate of the link.
    pub rate_bps: u64,
    /// The first changes of its rate: time in seconds, and the rate from then on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<(f64, u64)>,
    /// Whether the rate changes later too.
    pub changes_more: bool,
    /// Propagation delay of the link.
    pub delay_s: f64,
    /// Numbers of the first frames that the link loses intentionally.
    pub lose_frames: &'s [u64],
    /// Whether the link loses further frames intentionally.
    pub loses_more: bool,
    /// Probability that the link loses a frame.
    pub lose_probability: Ratio,
    /// Settings of the port for the class of the path, where cells can wait.
    pub port: Option<PathPort<'s>>,
}

/// Settings of a port for one class.
#[derive(Clone, Debug, Serialize)]
pub struct PathPort<'s> {
    /// The scheduler.
    pub scheduler: &'s Scheduler,
    /// The queue of the class.
    pub queue: ResolvedQueue<'s>,
    /// The kernel that serves it.
    pub kernel: ChosenKernel,
}

/// Summarises `scenario`.
///
/// # Errors
/// As [`super::describe`].
pub fn outline(scenario: &Scenario) -> Result<Outline<'_>, RunError> {
    let net = Resolved::new(scenario).map_err(RunError::Scenario)?;
    let (topology, described) = (&net.topology, describe_network(&net));
    let carrying = net.ports().map(|(link, _)| link);
    let ports = carrying.zip(&described.ports);
    let queueing: FxHashMap<usize, &PortDescription> =
        ports.filter(|(_, port)| port.can_queue).collect();
    Ok(Outline {
        links: described.links,
        vcs: described.vcs,
        ports: described.ports.len(),
        queueing_ports: queueing.len(),
        duration_s: described.duration_s,
        noun: scenario.format.noun(),
        max_bottleneck_cells: described.max_bottleneck_cells,
        expected: described.expected,
        memory_bytes: described.memory_bytes,
        probes: probe_counts(scenario),
        fair_goodput_bps: described.fair_goodput_bps,
        max_goodput_bps: fair_goodput::max_goodput(scenario, topology).map(|rate| rate.0),
        rounded_rates: rounded_rates(scenario),
        ways: path_groups(scenario, topology, &queueing),
        pools: pools(&net),
        programs: programs(&described.ports, scenario.format.clock),
        schedulers: schedulers(&described.ports, scenario.format.clock),
        notes: described.notes,
    })
}

/// Number of probes of `scenario`.
fn probe_counts(scenario: &Scenario) -> ProbeCounts {
    let is_capture = |probe: &&Probe| probe.what == Observable::Capture;
    let is_unlimited =
        |probe: &&Probe| !is_capture(probe) && probe.interval.is_none() && probe.envelope.is_none();
    ProbeCounts {
        all: scenario.probes.len(),
        captures: scenario.probes.iter().filter(is_capture).count(),
        unlimited: scenario.probes.iter().filter(is_unlimited).count(),
        points: memory::points(scenario),
    }
}

/// The rounded rates of links and sources.
fn rounded_rates(scenario: &Scenario) -> Vec<RoundedRate> {
    let format = scenario.format;
    if format.is_aal5() {
        return Vec::new();
    }
    let links = scenario.links.iter().flat_map(Link::all_rates);
    let links = links.filter(|rate| rate.0 > 0);
    let sources = scenario.vcs.iter().filter_map(|vc| vc.traffic.peak_rate());
    let rates: BTreeSet<BitRate> = links.chain(sources).collect();
    let rounded = rates.into_iter().map(|rate| RoundedRate {
        rate_bps: rate.0,
        error: format.rounding(rate),
    });
    rounded.filter(|rounded| rounded.error > 0.0).collect()
}

/// What the VCs of one path share: switches, class, shaper and kind of traffic; and for each link,
/// rate, changes, delay and whether cells can wait.
type Common<'s> = (
    &'s [String],
    Class,
    Option<Shape>,
    Discriminant<Traffic>,
    Vec<(u64, &'s [RateChange], u64, bool)>,
);

fn path_groups<'s>(
    scenario: &'s Scenario,
    topology: &Topology,
    queueing: &FxHashMap<usize, &PortDescription<'s>>,
) -> Vec<PathGroup<'s>> {
    let mut known: FxHashMap<Common, usize> = FxHashMap::default();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let links = topology.data_path(index).iter();
        let hop = |&link: &usize| {
            let spec = &scenario.links[link];
            let waits = queueing.contains_key(&link);
            (spec.rate.0, spec.changes.as_slice(), spec.delay.0, waits)
        };
        let common = (
            vc.route.as_slice(),
            vc.class,
            vc.shape,
            discriminant(&vc.traffic),
            links.map(hop).collect(),
        );
        let way = *known.entry(common).or_insert(members.len());
        if way == members.len() {
            members.push(Vec::new());
        }
        members[way].push(index);
    }
    let way = |members: &Vec<usize>| {
        let first = &scenario.vcs[members[0]];
        let names =
            |name: fn(&Vc) -> &str| names(members.iter().map(|&vc| &scenario.vcs[vc]), name);
        let hop = |&link: &usize| {
            hop(
                &scenario.links[link],
                scenario.format.clock,
                queueing.get(&link),
                first.class,
            )
        };
        PathGroup {
            from: names(|vc| &vc.from),
            to: names(|vc| &vc.to),
            vcs: names(|vc| &vc.name),
            traffic: first.traffic.name(),
            class: first.class,
            shape: first.shape,
            route: &first.route,
            hops: topology.data_path(members[0]).iter().map(hop).collect(),
        }
    };
    members.iter().map(way).collect()
}

fn hop<'s>(
    link: &'s Link,
    clock: Clock,
    port: Option<&&PortDescription<'s>>,
    class: Class,
) -> PathHop<'s> {
    let told = link.lose_frames.len().min(MAX_LISTED_FRAMES);
    let changes = link.changes.iter().take(MAX_LISTED_CHANGES);
    PathHop {
        rate_bps: link.rate.0,
        changes: changes
            .map(|c| (c.at.as_seconds(clock), c.rate.0))
            .collect(),
        changes_more: link.changes.len() > MAX_LISTED_CHANGES,
        delay_s: link.delay.as_seconds(clock),
        lose_frames: &link.lose_frames[..told],
        loses_more: told < link.lose_frames.len(),
        lose_probability: link.lose_probability,
        port: port.map(|port| {
            let queue = port.queues.iter().find(|queue| queue.class == class);
            PathPort {
                scheduler: port.scheduler,
                queue: *queue.expect("its VCs cross it"),
                kernel: port.kernel.clone().expect("cells can wait there"),
            }
        }),
    }
}

fn names<'s>(vcs: impl Iterator<Item = &'s Vc>, name: fn(&Vc) -> &str) -> NameRange<'s> {
    let mut seen = FxHashSet::default();
    let distinct: Vec<&str> = vcs.map(name).filter(|name| seen.insert(*name)).collect();
    NameRange {
        count: distinct.len(),
        ends: [distinct[0], distinct[distinct.len() - 1]],
    }
}
