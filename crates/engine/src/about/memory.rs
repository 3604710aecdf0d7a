//! Memory that a run can need, estimated before it begins. The estimate is on the safe side and
//! covers what grows with sizes in the scenario.
//!
//! Not included: retransmitted frames that wait in a NIC, RM cells that the reference engine keeps,
//! probes without `interval`, and traces. They are counted as they come (`ground/gathered.rs`), and a run
//! that exceeds its limit is ended.

use crate::ground::class::Class;
use crate::ground::flow::{Flow, FlowId, FlowKind};
use crate::ground::gathered::{
    DROP_BYTES, FRAME_BYTES, KEPT_FRAME_BYTES, POINT_BYTES, TRANSFER_BYTES,
};
use crate::ground::units::Span;
use crate::port::drop::program::value_bytes;
use crate::port::sched;
use crate::run::resolved::{Resolved, ResolvedPort, ResolvedQueue};
use crate::run::results::RunResult;
use crate::text::options::{Kernel, Options, RunError};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{DropPolicy, Probe, Scenario, Scheduler, Threshold, Traffic};
use std::collections::BTreeMap;

/// Bytes of a waiting cell in a queue that keeps cells, just after its list has grown. Like the
/// constants below, this is an estimate on the safe side.
const QUEUED_CELL_BYTES: f64 = 96.0;
/// Bytes of the times of cells at a NIC that differ in length, just after their list has grown.
const KEPT_TIME_BYTES: f64 = 56.0;
/// Bytes of a point kept in a result.
const KEPT_POINT_BYTES: f64 = 16.0;
/// Bytes per link that a VC crosses: hops and sinks of its two flows, names, and results of the
/// port.
const VC_LINK_BYTES: f64 = 2_000.0;

/// Memory that a run can need.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryNeed {
    /// Total, bytes.
    pub bytes: f64,
    /// The largest part, bytes.
    pub largest: f64,
    /// Description of the largest part, and how to reduce it.
    pub cause: &'static str,
}

/// Estimates the memory of a run of the scenario of `net`.
pub fn need(net: &Resolved<'_>, options: &Options) -> MemoryNeed {
    let (scenario, topology) = (net.scenario, &net.topology);
    let twin = options.kernel == Kernel::Twin;
    let peaks: Vec<VcPeak> = (0..scenario.vcs.len())
        .map(|vc| VcPeak::of(scenario, topology, vc))
        .collect();
    let frames: f64 = peaks.iter().map(|m| m.frames).sum();
    let all_frames: f64 = peaks.iter().map(|m| m.sent).sum();
    let links_of_vcs: usize = topology.flows.iter().map(|flow| flow.path.len()).sum();
    // With `pause_above`, points are drained and none is kept.
    let most_held = options
        .pause_above
        .map_or(f64::INFINITY, |bytes| bytes as f64 / POINT_BYTES);
    let points = points(scenario).min(most_held);
    let transfers: f64 = (0..scenario.vcs.len())
        .map(|vc| transfers(scenario, topology, vc))
        .sum();
    let points_kept = if options.pause_above.is_some() {
        0.0
    } else {
        points
    };
    let parts = [
        (
            if twin {
                all_frames * KEPT_FRAME_BYTES
            } else {
                frames * FRAME_BYTES
            },
            if twin {
                "the frames that the reference engine keeps; use a shorter run, another kernel"
            } else {
                "the windows of all TCPs; use a smaller rwnd or initial_window, a larger mss, fewer VCs"
            },
        ),
        (
            waiting(net, &peaks, options) * QUEUED_CELL_BYTES,
            "what can wait in queues; use smaller buffers or windows, slower sources, a shorter run",
        ),
        (
            at_hosts(net),
            "what can wait at hosts; use slower sources, a shorter run",
        ),
        (
            in_shapers(scenario) * FRAME_BYTES,
            "what can wait in shapers; use slower sources, faster shapers, a shorter run",
        ),
        (
            points * POINT_BYTES,
            "the points of probes; use a longer interval",
        ),
        (
            links_of_vcs as f64 * VC_LINK_BYTES,
            "VCs and the links on their routes; use fewer VCs",
        ),
        (
            programs(net),
            "the states of programs; use fewer states of VCs, fewer VCs",
        ),
        (
            transfers * TRANSFER_BYTES,
            "the transfers of all VCs; use larger or fewer files, a longer file_gap, a shorter run",
        ),
        (
            options.kept_runs as f64
                * (kept(points_kept, links_of_vcs) + transfers * TRANSFER_BYTES),
            "the results kept of other runs; use fewer replications or transfers, a longer interval of probes",
        ),
    ];
    let bytes = parts.iter().map(|part| part.0).sum();
    let largest = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (largest, cause) = largest.expect("the list is not empty");
    MemoryNeed {
        bytes,
        largest,
        cause,
    }
}

/// Compares the estimate of a run with the limit in `options`.
///
/// # Errors
/// [`RunError::Memory`] if the run may need more.
pub fn check(net: &Resolved<'_>, options: &Options) -> Result<(), RunError> {
    let need = need(net, options);
    match options.memory.filter(|&limit| need.bytes > limit as f64) {
        None => Ok(()),
        Some(limit) => Err(RunError::Memory {
            need: need.bytes as u64,
            limit,
            largest: need.largest as u64,
            cause: need.cause,
        }),
    }
}

/// Compares the estimate of a run of `scenario` with the limit in `options`, as a [`crate::Session`] does.
///
/// # Errors
/// [`RunError::Memory`] if the run may need more; [`RunError::Scenario`] as [`crate::run`].
pub fn check_memory(scenario: &Scenario, options: &Options) -> Result<(), RunError> {
    let net = Resolved::new(scenario).map_err(RunError::Scenario)?;
    check(&net, options)
}

/// Bytes of the values that programs keep: 16 for each register, and for each state of a VC at each
/// port that the VC crosses.
fn programs(net: &Resolved<'_>) -> f64 {
    let at_port = |(link, port): (usize, &ResolvedPort<'_>)| {
        let flows = net.topology.crossing[link].len();
        let of_class = |&class: &Class| {
            let queue = port.queue(class);
            match &queue.drop {
                DropPolicy::Program(policy) => value_bytes(policy, queue.k, flows),
                _ => 0,
            }
        };
        let of_scheduler = match port.scheduler {
            Scheduler::Program(scheduler) => sched::program::value_bytes(scheduler, flows),
            _ => 0,
        };
        let classes = net.topology.classes[link].iter();
        (of_scheduler + classes.map(of_class).sum::<usize>()) as f64
    };
    net.ports().map(at_port).sum()
}

/// Bytes of a kept result.
fn kept(points: f64, links_of_vcs: usize) -> f64 {
    points * KEPT_POINT_BYTES + links_of_vcs as f64 * VC_LINK_BYTES
}

/// Bytes of a result beyond the prediction: traced drops, and points of probes without `interval`.
pub fn beyond(scenario: &Scenario, result: &RunResult) -> u64 {
    let recorded: usize = result.series.iter().map(|series| series.value.len()).sum();
    let more = (recorded as f64 - points(scenario)).max(0.0);
    (more * KEPT_POINT_BYTES + result.trace.len() as f64 * DROP_BYTES) as u64
}

/// Upper bound on the files that a VC can send. Each file takes at least a round trip and its
/// cells' time on the slowest link.
fn transfers(scenario: &Scenario, topology: &Topology, vc: usize) -> f64 {
    let Traffic::Tcp(tcp) = &scenario.vcs[vc].traffic else {
        return 0.0;
    };
    let Some(size) = tcp.file_size else {
        return 0.0;
    };
    let (format, clock) = (scenario.format, scenario.format.clock);
    let path = topology.data_path(vc);
    let back = &topology.flows[topology.flow(vc, FlowKind::Ack).index()].path;
    let delays = path
        .iter()
        .chain(back)
        .map(|&link| scenario.links[link].delay);
    let slowest = path
        .iter()
        .map(|&link| scenario.links[link].highest_rate().0)
        .min();
    let last = match size % tcp.mss {
        0 => 0.0,
        rest => format.segment(rest).line_bits(),
    };
    let bits = (size / tcp.mss) as f64 * format.segment(tcp.mss).line_bits() + last;
    let takes = bits / slowest.unwrap_or(1) as f64
        + delays.map(|delay| delay.as_seconds(clock)).sum::<f64>()
        + tcp.file_gap.as_seconds(clock);
    let most = scenario.duration.as_seconds(clock) / takes + 1.0;
    let ways = if tcp.both_ways { 2.0 } else { 1.0 };
    ways * tcp.files.map_or(most, |files| most.min(files as f64))
}

/// Points of probes that record at intervals.
pub fn points(scenario: &Scenario) -> f64 {
    let clock = scenario.format.clock;
    let seconds = scenario.duration.as_seconds(clock);
    let recorded = |probe: &Probe| match (probe.interval, probe.envelope) {
        (Some(interval), _) => seconds / interval.as_seconds(clock),
        (None, Some(interval)) => 3.0 * (seconds / interval.as_seconds(clock)).ceil(),
        (None, None) => 0.0,
    };
    scenario.probes.iter().map(recorded).sum()
}

/// Bytes of cells of sources that do not adapt that wait at hosts: at NICs that keep their times, and
/// before ports that keep cells.
fn at_hosts(net: &Resolved<'_>) -> f64 {
    let (scenario, topology) = (net.scenario, &net.topology);
    let of_link = |link: usize| {
        let next = |id: &FlowId| topology.flows[id.index()].path.get(1).copied();
        let mut behind = topology.crossing[link].iter().filter_map(next);
        let mut each = 0.0;
        if behind.any(|port| net.can_queue(port)) {
            each += QUEUED_CELL_BYTES;
        }
        if !topology.lengths[link].are_equal() {
            each += KEPT_TIME_BYTES;
        }
        let is_host = topology.host_of[link].is_some() && each > 0.0;
        let bits = is_host.then(|| topology.bits_ahead(scenario, link));
        each * bits.unwrap_or(0.0) / f64::from(8 * topology.lengths[link].shortest)
    };
    (0..scenario.links.len()).map(of_link).sum()
}

/// Most frames of UDP sources that wait in shapers: those of a burst, and what the sources offer
/// above the rates of their shapers. Frames of TCPs count with their windows.
fn in_shapers(scenario: &Scenario) -> f64 {
    let clock = scenario.format.clock;
    let seconds = scenario.duration.as_seconds(clock);
    let waiting = scenario.vcs.iter().map(|vc| {
        let (Traffic::Udp(udp), Some(shape)) = (&vc.traffic, vc.shape) else {
            return 0.0;
        };
        let burst = udp.on.map_or(0.0, |on| on.as_seconds(clock).min(seconds));
        let above = vc.traffic.offered_rate().unwrap_or(0.0) - shape.rate.0 as f64;
        let bits = udp.rate.0 as f64 * burst + above.max(0.0) * seconds;
        let most = vc.traffic.most_under_way(scenario.format, seconds).frames;
        most.min(bits / udp.frame(scenario.format).line_bits() + 1.0)
    });
    waiting.sum()
}

/// Upper bounds for one VC.
struct VcPeak {
    /// Frames in transit at once. Zero for sources other than TCP, which make frames as they send
    /// them.
    frames: f64,
    /// Frames in total.
    sent: f64,
    /// Data cells in transit at once.
    cells: f64,
}

impl VcPeak {
    fn of(scenario: &Scenario, topology: &Topology, vc: usize) -> VcPeak {
        let traffic = &scenario.vcs[vc].traffic;
        let format = scenario.format;
        let seconds = scenario.duration.as_seconds(format.clock);
        let load = traffic.most_under_way(format, seconds);
        let Traffic::Tcp(tcp) = traffic else {
            return VcPeak {
                frames: 0.0,
                sent: load.frames,
                cells: load.cells,
            };
        };
        // Each segment that leaves the NIC can, once acknowledged, release two new ones.
        let first = topology.data_path(vc)[0];
        let shortest = tcp.file_size.map_or(tcp.mss, |size| size.min(tcp.mss));
        let of_frame = format.segment(shortest).line_bits();
        let acknowledged = scenario.bits_of_link(first) / of_frame;
        let sent = tcp.initial_window as f64 + 2.0 * acknowledged;
        let sent = if tcp.both_ways { 2.0 * sent } else { sent };
        let frames = load.frames.min(sent);
        VcPeak {
            frames,
            sent,
            cells: frames * load.cells / load.frames,
        }
    }
}

/// Cells that can wait at ports that keep them one by one. Other ports need no memory for waiting
/// cells.
fn waiting(net: &Resolved<'_>, peaks: &[VcPeak], options: &Options) -> f64 {
    let keeps_cells = |port: &ResolvedPort<'_>| match options.kernel {
        Kernel::Auto | Kernel::Arithmetic => port.arithmetic.is_err(),
        Kernel::Slotted | Kernel::Twin => true,
    };
    let ports = net.ports().filter(|(_, port)| keeps_cells(port));
    let mut in_pools: BTreeMap<usize, (f64, u64)> = BTreeMap::new();
    let mut elsewhere = 0.0;
    for (link, port) in ports {
        let cells = waiting_at(net, peaks, link, port);
        match net.topology.pool_of(link) {
            None => elsewhere += cells,
            Some((switch, _)) => {
                let (all, shortest) = in_pools.entry(switch).or_insert((0.0, u64::MAX));
                *all += cells;
                *shortest = port.places.shortest.min(*shortest);
            }
        }
    }
    let held = in_pools.into_iter().map(|(switch, (cells, shortest))| {
        let pool = net.topology.pools[switch].as_ref();
        cells.min(pool.map_or(0, |pool| pool.places / shortest) as f64)
    });
    elsewhere + held.sum::<f64>()
}

/// Cells that can wait at the port of `link`: windows, coinciding bursts, and arrivals above the
/// port's rate. Input links and buffers limit the total.
fn waiting_at(net: &Resolved<'_>, peaks: &[VcPeak], link: usize, port: &ResolvedPort<'_>) -> f64 {
    let (scenario, topology) = (net.scenario, &net.topology);
    let format = scenario.format;
    let seconds = scenario.duration.as_seconds(format.clock);
    let lasts = |burst: Span| burst.as_seconds(format.clock).min(seconds);
    let data = || {
        let flows = topology.crossing[link]
            .iter()
            .map(|id| &topology.flows[id.index()]);
        let brings = |flow: &&Flow| {
            let both = || scenario.vcs[flow.vc].traffic.sends_both_ways();
            flow.kind.is_data() || flow.kind == FlowKind::Ack && both()
        };
        flows.filter(brings).map(|flow| flow.vc)
    };
    // What a pause on the way has held back comes at once.
    let mut before: Vec<usize> = data()
        .flat_map(|vc| {
            topology
                .data_path(vc)
                .iter()
                .copied()
                .take_while(|&l| l != link)
        })
        .filter(|&before| scenario.links[before].changes_rate())
        .collect();
    before.sort_unstable();
    before.dedup();
    let held_back = before.iter().map(|&l| topology.bits_ahead(scenario, l));
    let above = topology.bits_ahead(scenario, link) + held_back.sum::<f64>();
    let above = format.most_cells_in(above);
    let of_class = |&class: &Class| {
        let of_class = data().filter(|&vc| scenario.vcs[vc].class == class);
        let cells = of_class.map(|vc| match &scenario.vcs[vc].traffic {
            Traffic::Vbr { rate, on, .. } => format.cells_in(rate.0 as f64 * lasts(*on)),
            Traffic::Tcp(_) => peaks[vc].cells,
            Traffic::Cbr { .. } | Traffic::Poisson { .. } => 1.0,
            Traffic::Udp(udp) => {
                let burst = udp.on.map_or(0.0, lasts);
                let size = udp.frame(format);
                let frames = 1.0 + udp.rate.0 as f64 * burst / size.line_bits();
                frames * f64::from(size.cells())
            }
        });
        (cells.sum::<f64>() + above).min(most_let_in(net, link, port.queue(class)))
    };
    let inputs = topology.inputs[link].iter();
    let bits: f64 = inputs.map(|&i| scenario.bits_of_link(i)).sum();
    let waits: f64 = topology.classes[link].iter().map(of_class).sum();
    waits.min(format.most_cells_in(bits))
}

/// Cells that `queue`, at the port of `link`, can hold at once: its buffer, or less under a policy
/// with minimum rates.
///
/// Such a policy accepts above its threshold only a burst and the rest of a frame of each VC. This
/// bound holds if the link can carry these rates in addition to the other classes.
fn most_let_in(net: &Resolved<'_>, link: usize, queue: ResolvedQueue<'_>) -> f64 {
    let (scenario, topology, class) = (net.scenario, &net.topology, queue.class);
    let format = scenario.format;
    let buffer = queue
        .most_cells()
        .map_or(f64::INFINITY, |cells| cells as f64);
    let Some(threshold) = queue.drop.abilities().rates_above else {
        return buffer;
    };
    let threshold = match threshold {
        Threshold::Cells(cells) | Threshold::Bytes(cells) => cells as f64,
        Threshold::Fraction(f) => f.as_f64() * buffer,
    };
    if !keeps_up(scenario, topology, link, class) {
        return buffer;
    }
    let flows = topology.crossing[link]
        .iter()
        .zip(topology.contracts(scenario, link, class));
    let of_flows = flows.map(|(id, contract)| {
        let vc = &scenario.vcs[topology.flows[id.index()].vc];
        let burst = contract.and_then(|terms| {
            let cdvt = terms.cdvt.as_seconds(format.clock);
            let tolerated = format.cells_in(cdvt * terms.sustained?.0 as f64);
            Some(terms.mbs as f64 + tolerated)
        });
        burst.unwrap_or(0.0) + vc.frame_cells(format) as f64
    });
    (threshold + of_flows.sum::<f64>()).min(buffer)
}

/// Whether the link can carry the sustained rates of a class in addition to the other classes. A
/// TCP of another class may take the whole link.
fn keeps_up(scenario: &Scenario, topology: &Topology, link: usize, class: Class) -> bool {
    let flows = topology.crossing[link]
        .iter()
        .zip(topology.contracts(scenario, link, class));
    let rates = flows.map(|(id, contract)| {
        let flow = &topology.flows[id.index()];
        let vc = &scenario.vcs[flow.vc];
        if vc.class == class {
            contract
                .and_then(|terms| terms.sustained)
                .map_or(0.0, |rate| rate.0 as f64)
        } else if flow.kind.is_data() || vc.traffic.answers() {
            vc.offered_rate().unwrap_or(vc.shaped_bits_per_second())
        } else {
            0.0
        }
    });
    rates.sum::<f64>() <= scenario.links[link].lowest_rate().0 as f64
}

#[cfg(test)]
mod tests;
