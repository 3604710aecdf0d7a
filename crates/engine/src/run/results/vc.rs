//! Results of one VC.

use super::transfers::{Durations, Files, TcpCounts, TransferTimes};
use super::{DroppedCells, data, frame_loss, quantile, ratio, variation};
use crate::ground::flow::FlowKind;
use crate::ground::format::{Clock, Format};
use crate::ground::units::Span;
use crate::network::abr::mbps;
use crate::network::loss::is_lossy;
use crate::network::tally::{AbrTally, Back, FlowTally, NicTally, Tally, Transfer, VcTally};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Carries, Class, Scenario, Vc};
use schemars::JsonSchema;
use serde::Serialize;

/// Results of one VC. Counters cover its data over the whole run; goodput and delays cover the
/// measuring time.
///
/// The transfer delay of a cell runs from the end of its transmission by the source host to its
/// arrival at the destination host. All delays are none when no cell arrived in the measuring time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VcResult {
    /// Name of the VC.
    pub name: String,
    /// Host that sends the data.
    pub from: String,
    /// Host that receives the data.
    pub to: String,
    /// Service class of the VC.
    pub class: Class,
    /// Kind of traffic, as named in the scenario.
    pub traffic: &'static str,
    /// Whether the source hands frames or single cells to the host.
    pub carries: Carries,
    /// Goodput: new bytes delivered in order, divided by the whole measuring time, even if the
    /// source sends for a shorter time. A single cell counts the bytes that it carries: 48 in AAL5.
    pub goodput_mbps: f64,
    /// Throughput on the line: bytes of whole cells (53 in AAL5), divided by the measuring time. It
    /// counts complete data frames that brought new data, in order or not. If the VC carries cells,
    /// it counts every cell that arrived.
    pub throughput_mbps: f64,
    /// New bytes delivered in order, counted as for `goodput_mbps` but over the whole run.
    pub delivered_bytes: u64,
    /// Data frames handed to the source host's link, or to the shaper before it.
    pub frames_sent: u64,
    /// Data frames that arrived complete.
    pub frames_delivered: u64,
    /// Data frames that arrived incomplete.
    pub frames_damaged: u64,
    /// Data frames that lost at least one cell, and had no cell under way when the run ended.
    /// Frames neither lost nor delivered were still under way.
    pub frames_lost: u64,
    /// Data cells sent by the source host.
    pub cells_sent: u64,
    /// Data cells at the source host when the run ended: at its link, waiting or being sent, in its
    /// shaper, or in the queue of its ABR end system.
    pub cells_not_sent: u64,
    /// Data cells that arrived at the destination host.
    pub cells_delivered: u64,
    /// Data cells dropped anywhere, including on links.
    pub cells_dropped: u64,
    /// Data cells tagged on their way; they continue with CLP = 1.
    pub cells_tagged: u64,
    /// Data cells dropped, relative to data cells sent by the source host. 0 when none was sent.
    pub cell_loss_ratio: f64,
    /// Data frames lost, relative to data frames lost or delivered. 0 when none was lost or
    /// delivered. None for a VC that carries cells.
    pub frame_loss_ratio: Option<f64>,
    /// Counters of the TCP that sends the data.
    #[serde(flatten)]
    pub tcp: TcpCounts,
    /// Duplicate ACKs that the TCP sender received.
    pub duplicate_acks: u64,
    /// Bytes of data acknowledged to the TCP sender in the measuring time, which may be fewer than
    /// delivered. None for other traffic.
    pub acknowledged_bytes: Option<u64>,
    /// Size of a file that the TCP sends. None without a file.
    pub file_size_bytes: Option<u64>,
    /// Time at which the TCP opened. None for other traffic, and for a TCP that did not open before
    /// its `stop` and the end of the run.
    pub began_s: Option<f64>,
    /// Time at which the last byte of the last file was acknowledged, before or after `stop`. None
    /// without a file, with an endless sequence of files, and for a file not completely sent before
    /// `stop` or not completely acknowledged by the end of the run.
    pub completed_s: Option<f64>,
    /// Lower bound of `completed_s`: the end of the run. None without a file, with an endless
    /// sequence of files, and when `completed_s` is known.
    pub completed_s_above: Option<f64>,
    /// Goodput of the files: bytes of all files, divided by the time from `began_s` to
    /// `completed_s`. None when `completed_s` is none or no time passed.
    pub file_goodput_mbps: Option<f64>,
    /// Upper bound of `file_goodput_mbps` when `completed_s_above` is not none: that of files
    /// completed at the end of the run, and at most the rate of the source host's link.
    pub file_goodput_mbps_below: Option<f64>,
    /// Transfers of this TCP.
    #[serde(flatten)]
    pub files: TransferTimes,
    /// Finished transfers, in order.
    pub transfers: Vec<TransferResult>,
    /// Time that a file under way at the end of the run had taken.
    pub under_way_s: Option<f64>,
    /// Results of the TCP at `to`: one element if both ends send data, otherwise empty. The
    /// counts of frames and cells above cover all frames from `from` to `to`, including ACKs for
    /// its data, but none that it sends.
    pub back: Vec<BackResult>,
    /// Mean transfer delay of the data cells.
    pub mean_cell_transfer_delay_s: Option<f64>,
    /// Median of the cell transfer delays. All quantiles of delays are rounded up, by at most 1/64.
    pub p50_cell_transfer_delay_s: Option<f64>,
    /// 95 % quantile of the cell transfer delays.
    pub p95_cell_transfer_delay_s: Option<f64>,
    /// 99 % quantile of the cell transfer delays.
    pub p99_cell_transfer_delay_s: Option<f64>,
    /// Largest cell transfer delay.
    pub max_cell_transfer_delay_s: Option<f64>,
    /// Cell delay variation (peak to peak): the largest cell transfer delay minus the smallest.
    pub cell_delay_variation_s: Option<f64>,
    /// Load of the source host's link: the sum of the mean rates of the host's sources that do not
    /// adapt, relative to the rate of the link. A shaped source counts with at most the rate of its
    /// shaper. If the rate of the link changes: what they offer in the run, relative to what the
    /// link can carry in it.
    pub host_load: f64,
    /// Whether these sources offer more than the link carries: `host_load` is above 1, or the rate
    /// changes and does not suffice for some time. Then a queue grows there, and its cells
    /// count as neither lost nor delayed.
    pub host_overloaded: bool,
    /// Cells of all VCs at the source host's link when the run ended, waiting or being sent, and in
    /// the shapers before it. Those in the queue of an ABR end system are not there yet.
    pub host_queue_cells: u64,
    /// Largest number of cells of all VCs that waited at the source host's link and in the shapers
    /// before it.
    pub max_host_queue_cells: u64,
    /// Longest time from handing a frame or cell to the source host's link, or to the shaper before
    /// it, until its last bit was sent, even after the end of the run. If a frame is in its shaper
    /// when the run ends, until it leaves the shaper. 0 when nothing was handed over.
    pub max_host_delay_s: f64,
    /// Mean ACR of the ABR end system that sends the data, over the whole run. None without ABR.
    pub mean_acr_mbps: Option<f64>,
    /// Longest queue at the ABR end system that sends the data, counted just after a frame is
    /// handed over. None without ABR.
    pub max_paced_queue_cells: Option<u64>,
    /// ABR end systems, first at the sender of the data, then at the receiver. Empty without ABR.
    pub end_systems: Vec<EndSystemResult>,
    /// Ports that can queue and links that lose cells on purpose, including the host's own link, in
    /// the order of the route.
    pub ports: Vec<VcPortResult>,
}

/// Results of the TCP at a VC's `to` that sends data to its `from`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BackResult {
    /// Bytes of data acknowledged to this TCP in the measuring time.
    pub acknowledged_bytes: u64,
    /// Counters of the TCP.
    #[serde(flatten)]
    pub tcp: TcpCounts,
    /// Duplicate ACKs received.
    pub duplicate_acks: u64,
    /// Time at which the last byte of the last file was acknowledged. None in the cases listed for
    /// `completed_s` of the VC.
    pub completed_s: Option<f64>,
    /// Lower bound of `completed_s`, as for the VC.
    pub completed_s_above: Option<f64>,
    /// Transfers of this TCP.
    #[serde(flatten)]
    pub files: TransferTimes,
    /// Finished transfers, in order.
    pub transfers: Vec<TransferResult>,
    /// Time that a file under way at the end of the run had taken.
    pub under_way_s: Option<f64>,
}

/// A file of a TCP that was completely acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TransferResult {
    /// Number of the file within its VC, from 1.
    pub number: u64,
    /// Time at which the transfer began: with the SYN if there is a handshake, otherwise with the
    /// first segment.
    pub began_s: f64,
    /// Duration, from `began_s` until the last byte was acknowledged to the sender.
    pub duration_s: f64,
    /// Part of the duration that passed in timeouts before the connection first measured a round
    /// trip: `initial_rto` and its back-offs, without the part of a tick with which each began.
    pub initial_timeouts_s: f64,
}

/// An ABR end system: source of one direction of its VC, destination of the other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EndSystemResult {
    /// Host of the end system.
    pub host: String,
    /// ACR at the end of the run.
    pub acr_mbps: f64,
    /// Mean ACR over the whole run.
    pub mean_acr_mbps: f64,
    /// Forward RM cells sent.
    pub forward_rm_cells: u64,
    /// RM cells sent that came back from the other end.
    pub answered_rm_cells: u64,
    /// Forward RM cells of the other end that were turned around.
    pub returned_rm_cells: u64,
    /// Forward RM cells of the other end that the next one overwrote before they could be turned
    /// around.
    pub overwritten_rm_cells: u64,
    /// RM cells sent out of rate, with CLP = 1.
    pub out_of_rate_rm_cells: u64,
    /// Frames dropped because they did not fit into the queue.
    pub refused_frames: u64,
    /// Longest queue, counted just after a frame is handed over.
    pub max_queue_cells: u64,
}

/// Data cells of a VC that were lost at one port of its route, or on the link behind the port.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VcPortResult {
    /// Name of the port, or of the link that lost the cells. A port has the name of its link.
    pub port: String,
    /// Data cells of the VC dropped there, by reason.
    pub dropped_cells: DroppedCells,
}

/// Returns the results of all VCs, in scenario order.
pub(super) fn all(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    measured_s: f64,
) -> Vec<VcResult> {
    let format = scenario.format;
    let hosts = hosts(scenario, topology, tally);
    let vcs = scenario.vcs.iter().zip(&tally.vcs).enumerate();
    vcs.map(|(i, (vc, counted))| {
        let data = data(i, topology, tally);
        let ports = ports(scenario, topology.data_path(i), tally, data);
        let host = &hosts[topology.data_path(i)[0]];
        let ends = end_systems(vc, counted, scenario.duration.as_seconds(format.clock));
        let files = Files::of(scenario, topology, i);
        of(
            &files,
            counted,
            data,
            host,
            ends,
            ports,
            (measured_s, format),
        )
    })
    .collect()
}

fn end_systems(vc: &Vc, tally: &VcTally, duration_s: f64) -> Vec<EndSystemResult> {
    let ends = tally.abr.iter().zip([&vc.from, &vc.to]);
    let result = |(end, host): (&AbrTally, &String)| EndSystemResult {
        host: host.clone(),
        acr_mbps: mbps(end.acr),
        mean_acr_mbps: mbps(end.allowed_cells / duration_s),
        forward_rm_cells: end.forward_sent,
        answered_rm_cells: end.backward_taken,
        returned_rm_cells: end.backward_sent,
        overwritten_rm_cells: end.overwritten,
        out_of_rate_rm_cells: end.out_of_rate,
        refused_frames: end.refused_frames,
        max_queue_cells: end.max_waiting,
    };
    ends.map(result).collect()
}

/// Load and queue of a host's outgoing link.
struct HostLink {
    load: f64,
    overloaded: bool,
    held: u64,
    counted: NicTally,
}

/// Returns load and queue of every link. Callers use only the links that leave a host.
fn hosts(scenario: &Scenario, topology: &Topology, tally: &Tally) -> Vec<HostLink> {
    let mut held = vec![0; scenario.links.len()];
    for (flow, counted) in topology.flows.iter().zip(&tally.flows) {
        let end = match flow.kind {
            FlowKind::Data => Some(0),
            FlowKind::Ack => Some(1),
            FlowKind::Rm | FlowKind::RmBack => None,
        };
        // Cells of an ABR end system have not been handed to the link.
        let paced = end.and_then(|end| tally.vcs[flow.vc].abr.get(end));
        held[flow.path[0]] += counted.cells_not_sent - paced.map_or(0, |end| end.waiting);
    }
    let loads = topology.host_loads(scenario);
    let links = loads.iter().zip(held).zip(&tally.nics);
    let found = links.map(|((load, held), &counted)| HostLink {
        load: load.ratio(),
        overloaded: load.is_too_much(),
        held,
        counted,
    });
    found.collect()
}

/// Returns the losses of a VC's data at each place where cells can be lost, in the order of the
/// route.
fn ports(
    scenario: &Scenario,
    path: &[usize],
    tally: &Tally,
    data: &FlowTally,
) -> Vec<VcPortResult> {
    let can_lose = |link: usize| tally.ports[link].is_some() || is_lossy(&scenario.links[link]);
    let places = path.iter().copied().filter(|&link| can_lose(link));
    let found = places.map(|link| VcPortResult {
        port: scenario.links[link].name.clone(),
        dropped_cells: DroppedCells(data.dropped_at(link)),
    });
    found.collect()
}

fn of(
    files: &Files,
    tally: &VcTally,
    data: &FlowTally,
    host: &HostLink,
    end_systems: Vec<EndSystemResult>,
    ports: Vec<VcPortResult>,
    (measured_s, format): (f64, Format),
) -> VcResult {
    let vc = files.vc;
    let clock = format.clock;
    let quantile = |p| quantile(&tally.bins, &tally.delay, p, clock);
    let durations = Durations::of([files.transfers(&tally.transfers, &tally.sender)], clock);
    let rate = |count: u64, megabits: f64| match measured_s > 0.0 {
        true => count as f64 * megabits / measured_s,
        false => 0.0,
    };
    // Whole cells if all have one length: a larger unit has other rounding errors.
    let line_unit = match format.is_ethernet {
        true => 1,
        false => format.cell_bits / 8,
    };
    VcResult {
        name: vc.name.clone(),
        from: vc.from.clone(),
        to: vc.to.clone(),
        class: vc.class,
        traffic: vc.traffic.name(),
        carries: vc.traffic.carries(),
        goodput_mbps: rate(tally.measured_bytes, 8e-6),
        throughput_mbps: rate(
            tally.measured_line_bytes / line_unit,
            (8 * line_unit) as f64 * 1e-6,
        ),
        delivered_bytes: tally.delivered_bytes,
        frames_sent: data.frames_sent,
        frames_delivered: data.frames_delivered,
        frames_damaged: data.frames_damaged,
        frames_lost: data.frames_lost,
        cells_sent: data.cells_sent,
        cells_not_sent: data.cells_not_sent,
        cells_delivered: data.cells_delivered,
        cells_dropped: data.cells_dropped,
        cells_tagged: data.cells_tagged,
        cell_loss_ratio: ratio(data.cells_dropped, data.cells_sent),
        frame_loss_ratio: (vc.traffic.carries() == Carries::Frames)
            .then(|| frame_loss(data.frames_lost, data.frames_delivered)),
        tcp: TcpCounts::of([&tally.sender]),
        duplicate_acks: tally.sender.duplicate_acks,
        acknowledged_bytes: vc.traffic.tcp().map(|_| tally.sender.acknowledged),
        file_size_bytes: vc.traffic.file_size(),
        began_s: tally.sender.began.map(|at| at.as_seconds(clock)),
        completed_s: tally.sender.completed.map(|at| at.as_seconds(clock)),
        completed_s_above: files.completed_above(&tally.sender),
        file_goodput_mbps: file_goodput(tally, clock),
        file_goodput_mbps_below: files.goodput_below(&tally.sender),
        files: durations.times(),
        transfers: transfers(&tally.transfers, clock),
        under_way_s: files.under_way_s(&tally.sender),
        back: tally
            .back
            .iter()
            .map(|counted| back(counted, files, clock))
            .collect(),
        mean_cell_transfer_delay_s: tally.delay.mean().map(|ticks| clock.seconds(ticks)),
        p50_cell_transfer_delay_s: quantile(0.5),
        p95_cell_transfer_delay_s: quantile(0.95),
        p99_cell_transfer_delay_s: quantile(0.99),
        max_cell_transfer_delay_s: (tally.delay.count > 0)
            .then(|| clock.seconds(tally.delay.max as f64)),
        cell_delay_variation_s: variation(&tally.delay, clock),
        host_load: host.load,
        host_overloaded: host.overloaded,
        host_queue_cells: host.held,
        max_host_queue_cells: host.counted.max_queue,
        max_host_delay_s: host.counted.max_delay.as_seconds(clock),
        mean_acr_mbps: end_systems.first().map(|end| end.mean_acr_mbps),
        max_paced_queue_cells: end_systems.first().map(|end| end.max_queue_cells),
        end_systems,
        ports,
    }
}

fn back(counted: &Back, files: &Files, clock: Clock) -> BackResult {
    let durations = Durations::of(
        [files.transfers(&counted.transfers, &counted.sender)],
        clock,
    );
    BackResult {
        acknowledged_bytes: counted.sender.acknowledged,
        tcp: TcpCounts::of([&counted.sender]),
        duplicate_acks: counted.sender.duplicate_acks,
        completed_s: counted.sender.completed.map(|at| at.as_seconds(clock)),
        completed_s_above: files.completed_above(&counted.sender),
        files: durations.times(),
        transfers: transfers(&counted.transfers, clock),
        under_way_s: files.under_way_s(&counted.sender),
    }
}

fn transfers(finished: &[Transfer], clock: Clock) -> Vec<TransferResult> {
    let numbered = finished.iter().zip(1..);
    let results = numbered.map(|(transfer, number)| TransferResult {
        number,
        began_s: transfer.began.as_seconds(clock),
        duration_s: transfer.done.since(transfer.began).as_seconds(clock),
        initial_timeouts_s: transfer.waited.as_seconds(clock),
    });
    results.collect()
}

/// Returns the goodput of a VC's files in Mb/s. `None` also for a file without bytes, which takes
/// no time.
fn file_goodput(tally: &VcTally, clock: Clock) -> Option<f64> {
    let took = tally.sender.completed?.since(tally.sender.began?);
    (took > Span::ZERO).then(|| tally.delivered_bytes as f64 * 8e-6 / took.as_seconds(clock))
}
