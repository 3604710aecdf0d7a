//! Results of one VC.

use super::{DroppedCells, data, frame_loss, quantile, ratio, seconds, variation};
use crate::abr::mbps;
use crate::loss::is_lossy;
use crate::scenario::topology::Topology;
use crate::scenario::{Carries, Class, Scenario, Vc};
use crate::tally::{AbrTally, Back, FlowTally, NicTally, Tally, Transfer, VcTally};
use crate::units::{CELL_BITS, Span, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// One VC: counters of its data from start to end, its goodput and delays in the measuring time.
///
/// A cell's transfer delay lasts from the end of its transmission by the source host to its arrival at the destination host.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VcResult {
    /// Name.
    pub name: String,
    /// Host that sends the data.
    pub from: String,
    /// Host that receives them.
    pub to: String,
    /// Service class.
    pub class: Class,
    /// Kind of its traffic, as in the scenario.
    pub traffic: &'static str,
    /// What its source hands to the host.
    pub carries: Carries,
    /// Bytes delivered in order, once, per measuring time, the whole of it however long the source sends; 48 bytes for each cell of a VC
    /// that carries cells.
    pub goodput_mbps: f64,
    /// The same on the line: 53 bytes for each cell of the data frames that arrived whole with data that had not arrived before, in order or
    /// not, per measuring time; of a VC that carries cells, for each of them.
    pub throughput_mbps: f64,
    /// The bytes of `goodput_mbps` from start to end.
    pub delivered_bytes: u64,
    /// Data frames handed to the source host's link.
    pub frames_sent: u64,
    /// Data frames that arrived complete.
    pub frames_delivered: u64,
    /// Data frames that arrived incomplete.
    pub frames_damaged: u64,
    /// Data frames that the network lost, whole or a part of them: by the end of the run all their cells had arrived or were dropped, and
    /// they did not arrive complete. Of those sent the rest was delivered or still under way.
    pub frames_lost: u64,
    /// Data cells sent by the source host.
    pub cells_sent: u64,
    /// Data cells handed to the host's link that had not left it when the run ended: they waited there, or were being sent.
    pub cells_not_sent: u64,
    /// Data cells that arrived.
    pub cells_delivered: u64,
    /// Data cells dropped anywhere, on links too.
    pub cells_dropped: u64,
    /// Data cells tagged on their way: they went on with CLP = 1.
    pub cells_tagged: u64,
    /// Data cells dropped over data cells sent by the host; 0 when none was sent.
    pub cell_loss_ratio: f64,
    /// Data frames lost over those lost or delivered; 0 when there are neither. None for a VC that carries cells: each is a frame, and
    /// `cell_loss_ratio` tells of them.
    pub frame_loss_ratio: Option<f64>,
    /// TCP segments sent.
    pub segments: u64,
    /// Of those, segments with data that had been sent before.
    pub retransmitted_segments: u64,
    /// Expiries of the TCP retransmission timer.
    pub timeouts: u64,
    /// TCP fast retransmits.
    pub fast_retransmits: u64,
    /// Duplicate ACKs that the TCP sender received.
    pub duplicate_acks: u64,
    /// Bytes of data acknowledged to the TCP sender in the measuring time; none for other traffic. What was delivered and not acknowledged by
    /// its end is not in it.
    pub acknowledged_bytes: Option<u64>,
    /// Bytes of a file that its TCP sends; none without a file.
    pub file_size_bytes: Option<u64>,
    /// When its TCP opened; none for other traffic, and for one that did not open before the end of the run and its own `stop`.
    pub began_s: Option<f64>,
    /// When the last byte of its last file was acknowledged, before its `stop` or after; none without a file, while one was not complete
    /// when the run ended, for one of which not all was sent before its `stop`, and with files without end.
    pub completed_s: Option<f64>,
    /// Bytes of all its files per time from `began_s` to `completed_s`.
    pub file_goodput_mbps: Option<f64>,
    /// Files that were sent and acknowledged, from start to end of the run; 0 without a file.
    pub finished_transfers: u64,
    /// Median of the durations of these transfers: half of them took no longer; none without any.
    pub p50_transfer_s: Option<f64>,
    /// 95 % quantile of them: the shortest duration that 95 % of them did not exceed.
    pub p95_transfer_s: Option<f64>,
    /// 99 % quantile of them.
    pub p99_transfer_s: Option<f64>,
    /// The longest of them.
    pub max_transfer_s: Option<f64>,
    /// These transfers, in order.
    pub transfers: Vec<TransferResult>,
    /// What its other end has sent, where both do: one element, else none. Its frames are not counted above: those of a VC's data are all
    /// that go from `from` to `to`, ACKs of the data back included.
    pub back: Vec<BackResult>,
    /// Mean transfer delay of its data cells; none when no cell arrived in the measuring time.
    pub mean_cell_transfer_delay_s: Option<f64>,
    /// Median of these delays; quantiles are from bins of at most 1/64 relative width: never too small.
    pub p50_cell_transfer_delay_s: Option<f64>,
    /// 95 % quantile of these delays.
    pub p95_cell_transfer_delay_s: Option<f64>,
    /// 99 % quantile of these delays.
    pub p99_cell_transfer_delay_s: Option<f64>,
    /// The largest of these delays.
    pub max_cell_transfer_delay_s: Option<f64>,
    /// The largest less the smallest of these delays (peak-to-peak).
    pub cell_delay_variation_s: Option<f64>,
    /// What the sources of cells at its host bring to the link that its data leave by: the sum of their mean rates over the link's. Above 1
    /// the queue there grows as long as the run lasts, and what waits in it is neither lost nor delayed by the network.
    pub host_load: f64,
    /// Cells of all VCs that waited at that link, or were being sent, when the run ended.
    pub host_queue_cells: u64,
    /// Longest queue there: the largest number of waiting cells of all VCs.
    pub max_host_queue_cells: u64,
    /// The longest time there from a frame's or cell's being handed over to the end of its transmission, those that the end of the run cut
    /// off included; 0 when nothing was handed over.
    pub max_host_delay_s: f64,
    /// Mean ACR of the end system that sends its data, from start to end; none without ABR.
    pub mean_acr_mbps: Option<f64>,
    /// Longest queue before that end system: cells of data just after a frame was handed over; none without ABR.
    pub max_paced_queue_cells: Option<u64>,
    /// Its ABR end systems: that of the sender of its data, and that of the receiver; none without ABR.
    pub end_systems: Vec<EndSystemResult>,
    /// Where its data cells can be dropped, in the order of their way: ports that can queue, and links that lose on purpose.
    pub ports: Vec<VcPortResult>,
}

/// The TCP at the other end of a VC, whose data go from `to` to `from`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BackResult {
    /// Bytes of data acknowledged to it in the measuring time.
    pub acknowledged_bytes: u64,
    /// Segments sent.
    pub segments: u64,
    /// Of those, segments with data that had been sent before.
    pub retransmitted_segments: u64,
    /// Expiries of its retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Duplicate ACKs that it received.
    pub duplicate_acks: u64,
    /// When the last byte of its last file was acknowledged.
    pub completed_s: Option<f64>,
    /// Files that were sent and acknowledged.
    pub finished_transfers: u64,
    /// Median of the durations of these transfers.
    pub p50_transfer_s: Option<f64>,
    /// 95 % quantile of them.
    pub p95_transfer_s: Option<f64>,
    /// 99 % quantile of them.
    pub p99_transfer_s: Option<f64>,
    /// The longest of them.
    pub max_transfer_s: Option<f64>,
}

/// A file that a TCP sent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TransferResult {
    /// Which file of its VC it is, the first being 1.
    pub number: u64,
    /// When it began: with the SYN where there is a handshake, else with its first segment.
    pub began_s: f64,
    /// From then until its last byte was acknowledged to the sender.
    pub duration_s: f64,
}

/// An ABR end system: source of one direction of its VC, destination of the other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EndSystemResult {
    /// Its host.
    pub host: String,
    /// ACR at the end.
    pub acr_mbps: f64,
    /// Mean ACR, from start to end.
    pub mean_acr_mbps: f64,
    /// Forward RM cells that it sent.
    pub forward_rm_cells: u64,
    /// Of these, that came back.
    pub answered_rm_cells: u64,
    /// Forward RM cells of the other end that it turned round.
    pub returned_rm_cells: u64,
    /// Forward RM cells of the other end that the next one overwrote before they could be turned round.
    pub overwritten_rm_cells: u64,
    /// RM cells that it sent out of rate, with CLP = 1.
    pub out_of_rate_rm_cells: u64,
    /// Frames that did not fit into the queue before it, and were dropped there.
    pub refused_frames: u64,
    /// Longest queue of cells before it, just after a frame was handed over.
    pub max_queue_cells: u64,
}

/// What a VC lost at one port on its way, or on the link behind it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VcPortResult {
    /// The port, or the link that lost its cells: the name of the link.
    pub port: String,
    /// Data cells of the VC dropped there, by reason.
    pub dropped_cells: DroppedCells,
}

/// Of all VCs, in scenario order.
pub(super) fn all(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    measured_s: f64,
) -> Vec<VcResult> {
    let hosts = hosts(scenario, topology, tally);
    let vcs = scenario.vcs.iter().zip(&tally.vcs).enumerate();
    vcs.map(|(i, (vc, counted))| {
        let data = data(i, topology, tally);
        let ports = ports(scenario, topology.data_path(i), tally, data);
        let host = &hosts[topology.data_path(i)[0]];
        let ends = end_systems(vc, counted, scenario.duration.as_seconds());
        of(vc, counted, data, host, ends, ports, measured_s)
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

/// A link that leaves a host.
struct HostLink {
    load: f64,
    held: u64,
    counted: NicTally,
}

/// Of all links; only those that leave a host are asked for.
fn hosts(scenario: &Scenario, topology: &Topology, tally: &Tally) -> Vec<HostLink> {
    let mut held = vec![0; scenario.links.len()];
    for (flow, counted) in topology.flows.iter().zip(&tally.flows) {
        held[flow.path[0]] += counted.cells_not_sent;
    }
    let loads = topology.host_loads(scenario);
    let links = loads.iter().zip(held).zip(&tally.nics);
    let found = links.map(|((load, held), &counted)| HostLink {
        load: load.ratio(),
        held,
        counted,
    });
    found.collect()
}

/// What the data of a VC lost on their way, at each place where they can be lost.
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
    vc: &Vc,
    tally: &VcTally,
    data: &FlowTally,
    host: &HostLink,
    end_systems: Vec<EndSystemResult>,
    ports: Vec<VcPortResult>,
    measured_s: f64,
) -> VcResult {
    let durations = Durations::of([&tally.transfers]);
    let rate = |count: u64, megabits: f64| match measured_s > 0.0 {
        true => count as f64 * megabits / measured_s,
        false => 0.0,
    };
    VcResult {
        name: vc.name.clone(),
        from: vc.from.clone(),
        to: vc.to.clone(),
        class: vc.class,
        traffic: vc.traffic.name(),
        carries: vc.traffic.carries(),
        goodput_mbps: rate(tally.measured_bytes, 8e-6),
        throughput_mbps: rate(tally.measured_cells, CELL_BITS as f64 * 1e-6),
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
        frame_loss_ratio: vc
            .traffic
            .frame()
            .map(|_| frame_loss(data.frames_lost, data.frames_delivered)),
        segments: tally.sender.segments,
        retransmitted_segments: tally.sender.retransmitted_segments,
        timeouts: tally.sender.timeouts,
        fast_retransmits: tally.sender.fast_retransmits,
        duplicate_acks: tally.sender.duplicate_acks,
        acknowledged_bytes: vc.traffic.tcp().map(|_| tally.sender.acknowledged),
        file_size_bytes: vc.traffic.file_size(),
        began_s: tally.sender.began.map(at),
        completed_s: tally.sender.completed.map(at),
        file_goodput_mbps: file_goodput(tally),
        finished_transfers: durations.number(),
        p50_transfer_s: durations.quantile(50),
        p95_transfer_s: durations.quantile(95),
        p99_transfer_s: durations.quantile(99),
        max_transfer_s: durations.quantile(100),
        transfers: transfers(tally),
        back: tally.back.iter().map(back).collect(),
        mean_cell_transfer_delay_s: tally.delay.mean().map(seconds),
        p50_cell_transfer_delay_s: quantile(&tally.bins, &tally.delay, 0.5),
        p95_cell_transfer_delay_s: quantile(&tally.bins, &tally.delay, 0.95),
        p99_cell_transfer_delay_s: quantile(&tally.bins, &tally.delay, 0.99),
        max_cell_transfer_delay_s: (tally.delay.count > 0).then(|| seconds(tally.delay.max as f64)),
        cell_delay_variation_s: variation(&tally.delay),
        host_load: host.load,
        host_queue_cells: host.held,
        max_host_queue_cells: host.counted.max_queue,
        max_host_delay_s: seconds(host.counted.max_delay.0 as f64),
        mean_acr_mbps: end_systems.first().map(|end| end.mean_acr_mbps),
        max_paced_queue_cells: end_systems.first().map(|end| end.max_queue_cells),
        end_systems,
        ports,
    }
}

fn at(time: Time) -> f64 {
    seconds(time.0 as f64)
}

fn back(counted: &Back) -> BackResult {
    let durations = Durations::of([&counted.transfers]);
    BackResult {
        acknowledged_bytes: counted.sender.acknowledged,
        segments: counted.sender.segments,
        retransmitted_segments: counted.sender.retransmitted_segments,
        timeouts: counted.sender.timeouts,
        fast_retransmits: counted.sender.fast_retransmits,
        duplicate_acks: counted.sender.duplicate_acks,
        completed_s: counted.sender.completed.map(at),
        finished_transfers: durations.number(),
        p50_transfer_s: durations.quantile(50),
        p95_transfer_s: durations.quantile(95),
        p99_transfer_s: durations.quantile(99),
        max_transfer_s: durations.quantile(100),
    }
}

fn transfers(tally: &VcTally) -> Vec<TransferResult> {
    let numbered = tally.transfers.iter().zip(1..);
    let told = numbered.map(|(transfer, number)| TransferResult {
        number,
        began_s: at(transfer.began),
        duration_s: seconds(transfer.done.since(transfer.began).0 as f64),
    });
    told.collect()
}

/// How long transfers took, the shortest first.
pub(super) struct Durations(Vec<Span>);

impl Durations {
    /// Those of the transfers of some TCPs.
    pub(super) fn of<'a>(tcps: impl IntoIterator<Item = &'a Vec<Transfer>>) -> Durations {
        let transfers = tcps.into_iter().flatten();
        let mut found: Vec<Span> = transfers.map(|t| t.done.since(t.began)).collect();
        found.sort_unstable();
        Durations(found)
    }

    /// How many there are.
    pub(super) fn number(&self) -> u64 {
        self.0.len() as u64
    }

    /// The shortest that so many per cent of all do not exceed, in seconds; `None` without any.
    pub(super) fn quantile(&self, percent: usize) -> Option<f64> {
        let rank = (self.0.len() * percent).div_ceil(100);
        let found = self.0.get(rank.checked_sub(1)?)?;
        Some(seconds(found.0 as f64))
    }
}

/// `None` as well for a file without bytes, which takes no time.
fn file_goodput(tally: &VcTally) -> Option<f64> {
    let took = tally.sender.completed?.since(tally.sender.began?);
    (took > Span::ZERO).then(|| tally.delivered_bytes as f64 * 8e-6 / seconds(took.0 as f64))
}
