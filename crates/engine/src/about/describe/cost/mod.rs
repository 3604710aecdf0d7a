//! Predicts the cost of a run: cells, frames and CPU time.
//!
//! Counts follow from what the sources would send if demand shared the links in proportion. A TCP
//! demands one window per round trip, after a slow start that doubles each round trip, and at most
//! its file. Other sources demand their rate.
//!
//! Most losses, timeouts and scheduler shares are ignored. A count may be off by a factor, but not by
//! orders of magnitude. TCPs that lose every frame together are found (`waiting.rs`).
//!
//! CPU time is a sum of measured costs per cell and frame. They were measured on one core of a busy
//! machine, over the examples and the rows of all studies.
//!
//! Frames count when cells are handled together. Cells count when each is handled alone: at a
//! gate that judges each or has a limit near, under a per-VC scheduler, for a probe, in turns with
//! other VCs, or at an ABR end system.
//!
//! Most runs take between half and twice the prediction. Runs whose TCPs mostly wait for timers
//! take less (`docs/command-line.md` has the counts).

mod waiting;

use crate::about::memory;
use crate::ground::flow::FlowKind;
use crate::ground::format::FrameSize;
use crate::ground::units::Span;
use crate::run::resolved::{Resolved, ResolvedQueue};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{
    AbrParams, Asked, ClassQueue, DropPolicy, Observable, Probe, Processing, Scenario, TcpParams,
    Traffic, Vc,
};
use rustc_hash::FxHashMap;
use serde::Serialize;
use waiting::EACH_STEP;

/// Predicted cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Expected {
    /// Cell transmissions over all links.
    pub cells: f64,
    /// Cell transmissions by ports that can queue, and others handled one by one.
    pub station_cells: f64,
    /// Frames handed to NICs, including ACKs, plus single cells of sources without frames.
    pub frames: f64,
    /// CPU time, seconds.
    pub cpu_s: f64,
    /// CPU time of a replication, seconds: TCPs that start at random do not lose all frames
    /// together.
    pub replication_cpu_s: f64,
}

/// CPU seconds of a run with no traffic: reading options and an empty event loop.
const EACH_RUN: f64 = 0.3e-3;
/// CPU seconds per hop of a flow, to build it and report its results.
const EACH_HOP: f64 = 1.6e-6;
/// CPU seconds per link, host and VC.
const EACH_COMPONENT: f64 = 2.0e-6;
/// CPU seconds per frame (sender, receiver and event list), or per cell of a source without frames:
/// among few VCs, and what is added among [`MANY_VCS`], whose state is seldom in a cache. Cells at
/// equal intervals and in bursts are handled as runs.
const EACH_FRAME: [f64; 2] = [0.05e-6, 0.8e-6];
const EACH_FRAME_BOTH_WAYS: [f64; 2] = [0.15e-6, 0.8e-6];
const EACH_POISSON_CELL: [f64; 2] = [0.06e-6, 0.5e-6];
const EACH_CBR_CELL: [f64; 2] = [10e-9, 30e-9];
const EACH_CELL_OF_A_BURST: [f64; 2] = [25e-9, 30e-9];
const MANY_VCS: f64 = 10_000.0;

/// CPU seconds per cell of a station.
const EACH_STATION_CELL: f64 = 2e-9;
/// Additional CPU seconds per cell that alternates with others: from a slower link to a port with
/// several inputs, or from an earlier station.
const EACH_CELL_IN_TURNS: f64 = 30e-9;
/// Additional CPU seconds per cell in a class with per-VC queues.
const EACH_CELL_BY_VC: f64 = 40e-9;
/// Additional CPU seconds per cell at a port whose rate changes, which takes them one by one; and per
/// cell of a source of cells whose host has such a link.
const EACH_CELL_AT_CHANGES: f64 = 75e-9;
const EACH_SENT_AT_CHANGES: f64 = 55e-9;
/// Additional CPU seconds per cell at a port in a pool: it passes the gate, and the ports of the pool
/// advance together.
const EACH_CELL_IN_POOL: f64 = 75e-9;
/// Additional CPU seconds per cell at a port where a probe records each cell.
const EACH_WATCHED_CELL: f64 = 45e-9;
/// Additional CPU seconds per cell at a port whose link share is recorded.
const EACH_SHARED_CELL: f64 = 25e-9;
/// CPU seconds per point that a probe records at regular intervals.
const EACH_POINT: f64 = 35e-9;

/// CPU seconds per cell, including lost ones, that a policer or drop policy judges.
const EACH_JUDGED_CELL: f64 = 9e-9;
/// CPU seconds per cell, including lost ones, at a queue that sources which do not yield keep full.
const EACH_CELL_OF_TOO_MANY: f64 = 18e-9;
/// CPU seconds per cell, including lost ones, if the policy may refuse frames with the buffer
/// less than half full. A limit is always near there.
const EACH_ASKED_CELL: f64 = 6e-9;

/// CPU seconds per cell that leaves an ABR end system: its handling there and at ports, including
/// RM cells. The second cost is multiplied by the square root of the number of ABR VCs on the link.
const EACH_PACED_CELL: f64 = 35e-9;
const EACH_PACED_CELL_BY_ROOT: f64 = 7e-9;

/// Additional CPU seconds per frame that passes a shaper, since each takes an event.
const EACH_SHAPED_FRAME: f64 = 0.25e-6;

/// CPU seconds per RM cell beyond the usual one in many data cells. Each comes alone and has its
/// own events.
const EACH_RM_CELL: f64 = 300e-9;

/// Demand of a VC.
#[derive(Clone, Copy, PartialEq)]
struct Demand {
    /// Frames that the source would send, and those that it hands to its NIC in any case.
    frames: f64,
    at_once: f64,
    /// A frame.
    size: FrameSize,
    /// ACKs per frame; 0 without answers.
    acks: f64,
    /// Whether the source takes only what others leave.
    yields: bool,
    /// Fraction of its cells that get into a buffer, if every frame is lost there; 1 otherwise.
    survives: f64,
}

impl Default for Demand {
    fn default() -> Demand {
        Demand {
            frames: 0.0,
            at_once: 0.0,
            size: FrameSize::default(),
            acks: 0.0,
            yields: false,
            survives: 1.0,
        }
    }
}

/// Predicts the cost of a run of the scenario of `net`.
pub fn expected(net: &Resolved<'_>) -> Expected {
    let vcs = 0..net.scenario.vcs.len();
    let demands: Vec<Demand> = vcs
        .map(|vc| demand(net.scenario, &net.topology, vc))
        .collect();
    let mut together = demands.clone();
    waiting::lose_all_together(net, &mut together);
    let found = of_demands(net, &together);
    let alike = net.scenario.ensemble.start_jitter == Span::ZERO || demands == together;
    Expected {
        replication_cpu_s: match alike {
            true => found.cpu_s,
            false => of_demands(net, &demands).cpu_s,
        },
        ..found
    }
}

/// The cost with these demands of the VCs, apart from that of a replication.
fn of_demands(net: &Resolved<'_>, demands: &[Demand]) -> Expected {
    let (scenario, topology) = (net.scenario, &net.topology);
    let format = scenario.format;
    let seconds = scenario.duration.as_seconds(format.clock);
    let shares = shares(scenario, topology, demands);
    let rankings: FxHashMap<usize, [f64; 2]> = net
        .ports()
        .map(|(link, port)| {
            let each = waiting::ranking(net, link, port, demands, &shares[link]);
            (link, each)
        })
        .collect();
    let is_station = |link: usize| net.can_queue(link) || looks_at_each(scenario, topology, link);
    let mut looks: FxHashMap<&str, f64> = FxHashMap::default();
    for probe in &scenario.probes {
        let each = looks.entry(&probe.of).or_default();
        *each = each.max(each_cell_seen(probe));
    }
    let at_probes = |link: usize| looks.get(scenario.links[link].name.as_str());
    let abr_vcs = abr_vcs(scenario, topology);
    let mut found = Expected::default();
    let mut hops = 0;
    for (index, demand) in demands.iter().enumerate() {
        let vc = &scenario.vcs[index];
        let flow = |kind| &topology.flows[topology.flow(index, kind).index()];
        let (there, back) = (flow(FlowKind::Data), flow(FlowKind::Ack));
        let carried = |link: usize| shares[link].carried[usize::from(demand.yields)];
        let share = there.path.iter().map(|&link| carried(link));
        let share = share.fold(1.0, f64::min);
        let sent = if demand.yields {
            demand.frames * share
        } else {
            demand.frames
        };
        let acks = demand.frames * share * demand.acks;
        let both = vc.traffic.sends_both_ways();
        let ways = if both { 2.0 } else { 1.0 };
        let data = sent.max(demand.at_once);
        let frames = ways * (data + acks);
        found.frames += frames;
        found.cpu_s += frames * each_frame(&vc.traffic, scenario.vcs.len());
        if vc.traffic.cells().is_some() && scenario.links[there.path[0]].changes_rate() {
            found.cpu_s += frames * EACH_SENT_AT_CHANGES;
        }
        let of_flow = if both { [data + acks; 2] } else { [data, acks] };
        for (kind, frames) in FlowKind::FRAMES.into_iter().zip(of_flow) {
            if vc.shape_of(kind).is_some() {
                found.cpu_s += frames * EACH_SHAPED_FRAME;
            }
        }
        hops += there.path.len() + back.path.len();
        let cells = f64::from(demand.size.cells());
        let asked = demand.frames * demand.survives * cells;
        let of_data = asked * share;
        let ack = format.ack(0);
        let of_acks = acks * f64::from(ack.cells());
        let mut rm_cells = 0.0;
        if let Some(abr) = &vc.abr {
            rm_cells = rm_cells_each_way(scenario, topology, index, abr, of_data + of_acks);
            found.cpu_s += 2.0 * rm_cells * EACH_RM_CELL;
            let others = there.path.iter().map(|&link| abr_vcs[link]);
            let others = f64::from(others.max().unwrap_or(0));
            let each = EACH_PACED_CELL + EACH_PACED_CELL_BY_ROOT * others.sqrt();
            found.cpu_s += ways * (of_data + of_acks) * each;
        }
        let at_gates = there.path.iter();
        let at_gates = at_gates.map(|&link| {
            let too_many = !demand.yields && shares[link].carried[0] < 1.0;
            let queue = net.queue(link, vc.class);
            queue.map_or(0.0, |queue| {
                at_gate(queue, too_many) + in_program(&queue, demand.size.cells())
            })
        });
        found.cpu_s += at_gates.sum::<f64>() * sent * cells;
        let with = |other: f64| if both { other } else { 0.0 };
        // Cells of sources that do not yield go as far as the first link that cannot carry them.
        let lost = if demand.yields { 0.0 } else { asked };
        for (path, size, cells, lost) in [
            (
                &there.path,
                demand.size,
                of_data + with(of_acks) + rm_cells,
                lost,
            ),
            (&back.path, ack, of_acks + with(of_data) + rm_cells, 0.0),
        ] {
            let (mut slowest, mut stations, mut left) = (f64::INFINITY, 0, 1.0_f64);
            for &link in path {
                let rate = scenario.mean_rate(link);
                left = left.min(carried(link));
                let cells = cells + lost * (left - share).max(0.0);
                let cells = cells.min(seconds * rate / size.cell_bits());
                found.cells += cells;
                if is_station(link) {
                    found.station_cells += cells;
                    let from_slower = slowest < rate && topology.inputs[link].len() > 1;
                    let mut each = EACH_STATION_CELL;
                    // Cells of ABR end systems alternate everywhere; their cost above includes it.
                    if vc.abr.is_none() && (from_slower || stations > 0) {
                        each += EACH_CELL_IN_TURNS;
                    }
                    if let Some(port) = net.port(link)
                        && port.scheduler.serves_vcs_of(vc.class)
                    {
                        let is_lost = usize::from(demand.survives < 1.0);
                        each += EACH_CELL_BY_VC + rankings[&link][is_lost];
                    }
                    if scenario.links[link].changes_rate() && net.port(link).is_some() {
                        each += EACH_CELL_AT_CHANGES;
                    }
                    if topology.pool_of(link).is_some() {
                        each += EACH_CELL_IN_POOL;
                    }
                    each += at_probes(link).unwrap_or(&0.0);
                    found.cpu_s += cells * each;
                    stations += 1;
                }
                slowest = slowest.min(rate);
            }
        }
    }
    let components = scenario.links.len() + scenario.hosts.len() + scenario.vcs.len();
    found.cpu_s += EACH_RUN + EACH_HOP * hops as f64 + EACH_COMPONENT * components as f64;
    found.cpu_s += EACH_POINT * memory::points(scenario);
    found
}

/// Least number of in-rate cells, including the RM cell, between two forward RM cells that Trm
/// triggers (model section 12, rule 3a).
const LEAST_BY_TIME: f64 = 3.0;

/// RM cells of a VC in each direction beyond one per `Nrm` data cells.
///
/// Backward RM cells count among the cells after which the next forward RM cell is due. So each RM
/// cell brings 2 / Nrm others. With Nrm = 2 they never end: as many circulate as data cells have
/// started. Each pair then takes one round trip, as fast as PCR and the links allow.
fn rm_cells_each_way(
    scenario: &Scenario,
    topology: &Topology,
    index: usize,
    abr: &AbrParams,
    data_cells: f64,
) -> f64 {
    let vc = &scenario.vcs[index];
    let path = topology.data_path(index).iter();
    let slowest = path.map(|&link| scenario.mean_rate(link));
    let most = abr.pcr.map_or(f64::INFINITY, |pcr| pcr.0 as f64);
    let (format, clock) = (scenario.format, scenario.format.clock);
    let rate = format.cells_in(slowest.fold(most, f64::min));
    let from = vc.start.as_seconds(clock);
    let seconds = (scenario.duration.as_seconds(clock) - from).max(0.0);
    let most = rate * seconds;
    if abr.nrm == 2 && data_cells > 0.0 {
        let round = round_trip(scenario, topology, index, format.one_cell());
        let going_round = data_cells.ceil();
        return most.min(2.0 * going_round * seconds / round);
    }
    let by_time = abr.trm.as_seconds(clock) * rate < LEAST_BY_TIME;
    let cells = if by_time {
        LEAST_BY_TIME
    } else {
        abr.nrm as f64
    };
    most.min(data_cells / (cells - 2.0).max(1.0))
}

/// CPU seconds that `probe` takes for each cell of its port, if it records a port.
fn each_cell_seen(probe: &Probe) -> f64 {
    match (probe.what, probe.interval) {
        (Observable::LinkShare, _) => EACH_SHARED_CELL,
        (_, None) => EACH_WATCHED_CELL,
        (_, Some(_)) => 0.0,
    }
}

/// CPU seconds per frame of a source, or per cell of a source without frames, among `vcs` VCs.
fn each_frame(traffic: &Traffic, vcs: usize) -> f64 {
    let [among_few, added] = match traffic {
        Traffic::Tcp(_) if traffic.sends_both_ways() => EACH_FRAME_BOTH_WAYS,
        Traffic::Tcp(_) | Traffic::Udp(_) => EACH_FRAME,
        Traffic::Cbr { .. } => EACH_CBR_CELL,
        Traffic::Poisson { .. } => EACH_POISSON_CELL,
        Traffic::Vbr { .. } => EACH_CELL_OF_A_BURST,
    };
    among_few + added * (vcs as f64 / MANY_VCS).min(1.0)
}

/// Number of ABR VCs per link.
fn abr_vcs(scenario: &Scenario, topology: &Topology) -> Vec<u32> {
    let mut found = vec![0; scenario.links.len()];
    for (index, _) in scenario
        .vcs
        .iter()
        .enumerate()
        .filter(|(_, vc)| vc.abr.is_some())
    {
        for &link in topology.data_path(index) {
            found[link] += 1;
        }
    }
    found
}

/// CPU seconds that the gate of `queue` takes per arriving cell. `too_many` means that sources
/// which do not yield keep a queue with a limit full.
fn at_gate(queue: ResolvedQueue<'_>, too_many: bool) -> f64 {
    if queue.judges_each() {
        EACH_JUDGED_CELL
    } else if too_many && queue.k.is_some() {
        EACH_CELL_OF_TOO_MANY
    } else if queue.smallest_refusal() < queue.room().unwrap_or(u64::MAX) / 2 {
        EACH_ASKED_CELL
    } else {
        0.0
    }
}

/// CPU seconds of the program of `queue`, if its policy is one, per cell of a frame of `cells` cells.
fn in_program(queue: &ClassQueue, cells: u32) -> f64 {
    let DropPolicy::Program(policy) = &queue.drop else {
        return 0.0;
    };
    let asked = match policy.written.asked {
        Asked::Cells => 1.0,
        Asked::Frames => 1.0 / f64::from(cells.max(1)),
    };
    asked * policy.program.steps as f64 * EACH_STEP
}

/// Whether cells are handled one by one when they leave `link`: the link loses some or changes
/// its rate, or a switch delays each by its own time.
fn looks_at_each(scenario: &Scenario, topology: &Topology, link: usize) -> bool {
    let switch = topology.enters[link].map(|s| &scenario.switches[s]);
    let delay = switch.and_then(|s| s.processing);
    let spec = &scenario.links[link];
    crate::network::loss::is_lossy(spec)
        || spec.changes_rate()
        || delay.is_some_and(|p| !p.is_constant())
}

/// Demand on a link.
#[derive(Clone, Copy)]
struct LinkDemand {
    /// Cells of sources that do not yield, then cells of sources that do.
    cells: [f64; 2],
    /// Time from the first start to the last stop, in seconds.
    from: f64,
    to: f64,
}

/// What a link carries.
struct LinkShare {
    /// Fraction of the demand that the link can carry: first for sources that do not yield, then
    /// for those that take what is left.
    carried: [f64; 2],
    /// Demand relative to the rate of the link.
    load: f64,
}

/// What each link carries.
fn shares(scenario: &Scenario, topology: &Topology, demands: &[Demand]) -> Vec<LinkShare> {
    let nothing = LinkDemand {
        cells: [0.0; 2],
        from: f64::INFINITY,
        to: 0.0,
    };
    let mut asked = vec![nothing; scenario.links.len()];
    for (index, demand) in demands.iter().enumerate() {
        let (from, to) = active(scenario, &scenario.vcs[index]);
        for &link in topology.data_path(index) {
            let asked = &mut asked[link];
            asked.cells[usize::from(demand.yields)] +=
                demand.frames * scenario.format.length_in_cells(demand.size);
            asked.from = asked.from.min(from);
            asked.to = asked.to.max(to);
        }
    }
    let share = |(asked, link): (&LinkDemand, usize)| {
        let seconds = (asked.to - asked.from).max(0.0);
        let most = scenario.format.cells_in(seconds * scenario.mean_rate(link));
        let [firm, yielding] = asked.cells;
        // Yielding sources get something between the bursts of others.
        let left = (most - firm).max(0.1 * most);
        LinkShare {
            carried: [(firm, most), (yielding, left)]
                .map(|(asked, most)| most.min(asked) / asked.max(f64::MIN_POSITIVE)),
            load: (firm + yielding) / most.max(f64::MIN_POSITIVE),
        }
    };
    asked.iter().zip(0..).map(share).collect()
}

/// Start and stop of a VC's source, in seconds.
fn active(scenario: &Scenario, vc: &Vc) -> (f64, f64) {
    let end = vc
        .stop
        .map_or(scenario.duration, |stop| stop.min(scenario.duration));
    let clock = scenario.format.clock;
    (vc.start.as_seconds(clock), end.as_seconds(clock))
}

/// Demand of a VC during its active time.
fn demand(scenario: &Scenario, topology: &Topology, index: usize) -> Demand {
    let vc = &scenario.vcs[index];
    let (from, to) = active(scenario, vc);
    let active = to - from;
    if active <= 0.0 {
        return Demand::default();
    }
    let format = scenario.format;
    if let Some(rate) = vc.traffic.offered_rate() {
        let size = vc.traffic.frame_size(format);
        let shaped = vc.shaped_bits(scenario.duration.as_seconds(format.clock) - from);
        return Demand {
            frames: (rate * active).min(shaped) / size.line_bits(),
            size,
            ..Demand::default()
        };
    }
    let Some(tcp) = vc.traffic.tcp() else {
        return Demand::default();
    };
    let size = vc.traffic.frame_size(format);
    let path = topology.data_path(index).iter();
    let slowest = path
        .map(|&l| scenario.mean_rate(l))
        .fold(f64::INFINITY, f64::min);
    let round = round_trip(scenario, topology, index, size);
    let file = tcp
        .file_size
        .map_or(f64::INFINITY, |bytes| bytes.div_ceil(tcp.mss) as f64);
    let files = tcp.files.map_or(f64::INFINITY, |files| files as f64);
    // The slowest link and the shaper bound the number of frames.
    let bits = (active * slowest).min(vc.shaped_bits(active));
    let most = (file * files).min(bits / size.line_bits() + 1.0);
    let window = tcp.rwnd.div_ceil(tcp.mss) as f64;
    Demand {
        frames: in_rounds(tcp, window, active / round).min(most),
        at_once: (tcp.initial_window as f64).min(window).min(file),
        size,
        acks: acks_per_segment(tcp),
        yields: true,
        ..Demand::default()
    }
}

/// ACKs per segment of a TCP that always has another segment in flight.
pub(super) fn acks_per_segment(tcp: &TcpParams) -> f64 {
    if tcp.delayed_ack.is_some() { 0.5 } else { 1.0 }
}

/// Frames that a TCP may send in `rounds` round trips: windows that double, then full windows.
fn in_rounds(tcp: &TcpParams, window: f64, rounds: f64) -> f64 {
    let first = (tcp.initial_window as f64).min(window);
    let doubling = (window / first).log2();
    let started = first * (2f64.powf(rounds.min(doubling)) - 1.0);
    started + first + window * (rounds - doubling).max(0.0)
}

/// Time from a frame to its ACK without queueing, in seconds.
pub(super) fn round_trip(
    scenario: &Scenario,
    topology: &Topology,
    index: usize,
    frame: FrameSize,
) -> f64 {
    let vc: &Vc = &scenario.vcs[index];
    let format = scenario.format;
    let mean_s = |p: Processing| p.mean.as_seconds(format.clock);
    let mut time = 4.0 * vc.traffic.processing().map_or(0.0, mean_s);
    for kind in FlowKind::FRAMES {
        let flow = &topology.flows[topology.flow(index, kind).index()];
        let size = if kind.is_data() { frame } else { format.ack(0) };
        let cell_bits = size.cell_bits();
        let mut slowest = f64::INFINITY;
        for &link in &flow.path {
            let spec = &scenario.links[link];
            let rate = scenario.mean_rate(link);
            slowest = slowest.min(rate);
            time += spec.delay.as_seconds(format.clock) + cell_bits / rate;
            let switch = topology.enters[link].and_then(|s| scenario.switches[s].processing);
            time += switch.map_or(0.0, mean_s);
        }
        time += (f64::from(size.cells()) - 1.0) * cell_bits / slowest;
        let hosts = flow.hosts.map(|host| scenario.hosts[host].processing);
        time += hosts.into_iter().flatten().map(mean_s).sum::<f64>();
    }
    time
}
