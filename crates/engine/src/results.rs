//! What a run gives back: numbers with their units in their names.

use crate::aal5::cells_of_segment;
use crate::flow::FlowKind;
use crate::scenario::{Class, Scenario, Traffic};
use crate::series::{Dropped, Series};
use crate::tally::{DelayTally, DropReason, PortTally, Tally};
use crate::topology::Topology;
use crate::units::{Span, TICKS_PER_SECOND};
use serde::Serialize;

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// Name of the scenario.
    pub name: String,
    /// Seed.
    pub seed: u64,
    /// Replication, when it was one of an ensemble.
    pub replication: Option<u64>,
    /// Simulated seconds.
    pub duration_s: f64,
    /// Measured seconds.
    pub measured_s: f64,
    /// Digest over all cell transmissions, hexadecimal, when asked for.
    pub digest: Option<String>,
    /// Over the whole network.
    pub totals: Totals,
    /// Per VC.
    pub vcs: Vec<VcResult>,
    /// Per port that carries anything.
    pub ports: Vec<PortResult>,
    /// Per class that is used.
    pub classes: Vec<ClassResult>,
    /// Recorded series.
    pub series: Vec<Series>,
    /// Traced drops.
    pub trace: Vec<Dropped>,
}

/// Over the whole network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Totals {
    /// Cell transmissions over all links.
    pub cells: u64,
    /// Data cells sent by ports that can queue.
    pub bottleneck_cells: u64,
    /// Sum of the TCP VCs' goodputs.
    pub goodput_mbps: f64,
    /// That sum over the largest possible one, when the scenario states it.
    pub efficiency: Option<f64>,
    /// Jain's index of the TCP VCs' goodputs, `None` without any.
    pub fairness: Option<f64>,
    /// Data cells dropped over data cells sent by the hosts, all VCs.
    pub cell_loss_ratio: f64,
    /// Largest queue of any port.
    pub max_queue_cells: u64,
    /// Mean cell transfer delay of the TCP VCs' data; of all VCs' data when there is no TCP.
    pub mean_cell_transfer_delay_s: Option<f64>,
    /// Its 99 % quantile, the largest of their classes (up to 1.6 % too large, never too small).
    pub p99_cell_transfer_delay_s: Option<f64>,
    /// TCP segments sent.
    pub segments: u64,
    /// Of those, segments with data sent before.
    pub retransmitted_segments: u64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
}

/// One VC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VcResult {
    /// Name.
    pub name: String,
    /// Host that sends data.
    pub from: String,
    /// Host that receives them.
    pub to: String,
    /// Service class.
    pub class: Class,
    /// `tcp`, `cbr`, `poisson` or `vbr`.
    pub traffic: &'static str,
    /// Bytes delivered in order, once, per measured time; for cell sources 48 bytes per cell.
    pub goodput_mbps: f64,
    /// The same bytes from start to end.
    pub delivered_bytes: u64,
    /// Data frames queued by the source host.
    pub frames_sent: u64,
    /// Complete data frames that arrived.
    pub frames_delivered: u64,
    /// Data frames that arrived incomplete.
    pub frames_damaged: u64,
    /// Data cells sent by the source host.
    pub cells_sent: u64,
    /// Data cells that arrived.
    pub cells_delivered: u64,
    /// Data cells dropped.
    pub cells_dropped: u64,
    /// TCP segments sent.
    pub segments: u64,
    /// Of those, with data sent before.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Duplicate ACKs received.
    pub duplicate_acks: u64,
    /// Of the data cells.
    pub mean_cell_transfer_delay_s: Option<f64>,
    /// Largest.
    pub max_cell_transfer_delay_s: Option<f64>,
    /// Largest minus smallest (peak-to-peak CDV).
    pub cell_delay_variation_s: Option<f64>,
}

/// One port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortResult {
    /// Name of its link.
    pub name: String,
    /// Its switch.
    pub switch: String,
    /// Its rate.
    pub rate_mbps: f64,
    /// Whether cells can wait there: several inputs, or a faster one.
    pub can_queue: bool,
    /// Cells that arrived.
    pub arrived_cells: u64,
    /// Cells accepted.
    pub accepted_cells: u64,
    /// Cells sent.
    pub sent_cells: u64,
    /// Cells there at the end.
    pub held_cells: u64,
    /// Cells dropped, by reason.
    pub dropped_cells: DroppedCells,
    /// Largest number of waiting cells.
    pub max_queue_cells: u64,
    /// Mean number of waiting cells.
    pub mean_queue_cells: f64,
    /// Share of the cell slots used.
    pub utilisation: f64,
    /// Sum of the goodputs of its TCP VCs' data, each divided by the payload share of its frames, over the rate; `None` without any.
    pub efficiency: Option<f64>,
    /// Per class that crosses it.
    pub classes: Vec<PortClassResult>,
}

/// Cells dropped at a port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DroppedCells {
    /// Their frame was refused by the policy.
    pub policy: u64,
    /// The buffer was full.
    pub full: u64,
    /// The rest of frames that had lost a cell.
    pub rest: u64,
    /// Pushed out in favour of cells that arrived.
    pub front: u64,
    /// Lost on the link on purpose.
    pub link: u64,
}

/// One class at a port.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PortClassResult {
    /// The class.
    pub class: Class,
    /// K, `None`: unlimited.
    pub buffer_cells: Option<u64>,
    /// Cells sent.
    pub sent_cells: u64,
    /// Cells dropped, for any reason.
    pub dropped_cells: u64,
    /// Largest number waiting.
    pub max_queue_cells: u64,
}

/// One class over the whole network, data direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassResult {
    /// The class.
    pub class: Class,
    /// Cells sent by the hosts.
    pub cells_sent: u64,
    /// Cells that arrived.
    pub cells_delivered: u64,
    /// Dropped over sent.
    pub cell_loss_ratio: f64,
    /// Mean.
    pub mean_cell_transfer_delay_s: Option<f64>,
    /// 99 % quantile, up to 1.6 % too large.
    pub p99_cell_transfer_delay_s: Option<f64>,
    /// Largest minus smallest within a VC, the largest of all VCs.
    pub cell_delay_variation_s: Option<f64>,
}

fn seconds(ticks: f64) -> f64 {
    ticks / TICKS_PER_SECOND as f64
}

fn variation(delay: &DelayTally) -> Option<f64> {
    (delay.count > 0).then(|| seconds((delay.max - delay.min) as f64))
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Jain's fairness index (sum x)^2 / (n sum x^2); `None` when nobody gets anything.
pub fn fairness(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// The result of a run from its counters.
pub fn assemble(
    scenario: &Scenario,
    topology: &Topology,
    replication: Option<u64>,
    tally: &Tally,
    series: Vec<Series>,
    trace: Vec<Dropped>,
) -> RunResult {
    let warm_up = scenario.measure.warm_up;
    let rest = Span(scenario.duration.0.saturating_sub(warm_up.0));
    let measured = scenario.measure.window.map_or(rest, |w| w.min(rest));
    let measured_s = measured.as_seconds();
    let goodput = |bytes: u64| {
        if measured_s > 0.0 {
            bytes as f64 * 8e-6 / measured_s
        } else {
            0.0
        }
    };

    let vcs: Vec<VcResult> = scenario
        .vcs
        .iter()
        .zip(&tally.vcs)
        .enumerate()
        .map(|(index, (vc, t))| {
            let data = &tally.flows[topology.flow(index, FlowKind::Data).index()];
            VcResult {
                name: vc.name.clone(),
                from: vc.from.clone(),
                to: vc.to.clone(),
                class: vc.class,
                traffic: vc.traffic.name(),
                goodput_mbps: goodput(t.measured_bytes),
                delivered_bytes: t.delivered_bytes,
                frames_sent: data.frames_sent,
                frames_delivered: data.frames_delivered,
                frames_damaged: data.frames_damaged,
                cells_sent: data.cells_sent,
                cells_delivered: data.cells_delivered,
                cells_dropped: data.cells_dropped,
                segments: t.sender.segments,
                retransmitted_segments: t.sender.retransmitted_segments,
                timeouts: t.sender.timeouts,
                fast_retransmits: t.sender.fast_retransmits,
                duplicate_acks: t.sender.duplicate_acks,
                mean_cell_transfer_delay_s: t.delay.mean().map(seconds),
                max_cell_transfer_delay_s: (t.delay.count > 0).then(|| seconds(t.delay.max as f64)),
                cell_delay_variation_s: variation(&t.delay),
            }
        })
        .collect();

    let ports: Vec<PortResult> = (0..scenario.links.len())
        .filter(|&link| !topology.inputs[link].is_empty())
        .map(|link| port_result(scenario, topology, tally, link, &vcs))
        .collect();

    let classes = Class::ALL
        .into_iter()
        .filter(|&c| scenario.vcs.iter().any(|vc| vc.class == c));
    let classes: Vec<ClassResult> = classes
        .map(|class| class_result(scenario, topology, tally, class))
        .collect();

    let is_tcp = |i: &usize| matches!(scenario.vcs[*i].traffic, Traffic::Tcp(_));
    let tcps: Vec<usize> = (0..vcs.len()).filter(is_tcp).collect();
    let shares: Vec<f64> = tcps.iter().map(|&i| vcs[i].goodput_mbps).collect();
    // An empty sum of floats is -0.
    let goodput_mbps = 0.0 + shares.iter().sum::<f64>();
    let judged: Vec<usize> = if tcps.is_empty() {
        (0..vcs.len()).collect()
    } else {
        tcps
    };
    let mut delay = DelayTally::default();
    for &i in &judged {
        delay.merge(&tally.vcs[i].delay);
    }
    let of_class = |c: &Class| judged.iter().any(|&i| scenario.vcs[i].class == *c);
    let judged_classes = Class::ALL.into_iter().filter(of_class);
    // Distributions are kept by class: with other sources in a class of the TCPs, theirs alone is not known.
    let mixed = (0..vcs.len()).any(|i| !judged.contains(&i) && of_class(&scenario.vcs[i].class));
    let p99 = judged_classes
        .filter_map(|c| tally.class_delays[c as usize].quantile(0.99))
        .max()
        .filter(|_| !mixed);
    let sum = |f: fn(&VcResult) -> u64| vcs.iter().map(f).sum::<u64>();
    let queues = || tally.ports.iter().flatten();
    let can_queue = |link: &usize| tally.ports[*link].is_some();
    let totals = Totals {
        cells: tally.link_cells.iter().sum(),
        bottleneck_cells: (0..scenario.links.len())
            .filter(can_queue)
            .map(|l| tally.link_data_cells[l])
            .sum(),
        goodput_mbps,
        efficiency: scenario
            .measure
            .max_goodput
            .map(|best| goodput_mbps / best.as_mbps()),
        fairness: fairness(&shares),
        cell_loss_ratio: ratio(sum(|v| v.cells_dropped), sum(|v| v.cells_sent)),
        max_queue_cells: queues().map(|p| p.max_queue).max().unwrap_or(0),
        mean_cell_transfer_delay_s: delay.mean().map(seconds),
        p99_cell_transfer_delay_s: p99.map(|t| seconds(t.min(delay.max) as f64)),
        segments: sum(|v| v.segments),
        retransmitted_segments: sum(|v| v.retransmitted_segments),
        timeouts: sum(|v| v.timeouts),
        fast_retransmits: sum(|v| v.fast_retransmits),
    };
    RunResult {
        name: scenario.name.clone(),
        seed: scenario.seed,
        replication,
        duration_s: scenario.duration.as_seconds(),
        measured_s,
        digest: tally.digest.map(|d| format!("{d:016x}")),
        totals,
        vcs,
        ports,
        classes,
        series,
        trace,
    }
}

fn port_result(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    link: usize,
    vcs: &[VcResult],
) -> PortResult {
    let of = &scenario.links[link];
    let classes = &topology.classes[link];
    let sent = tally.link_cells[link];
    let mut through = PortTally {
        accepted: sent,
        ..PortTally::default()
    };
    // A port that cannot queue carries one class.
    if let &[class] = classes.as_slice() {
        let lost = &mut through.classes[class as usize].dropped[DropReason::Link];
        *lost = tally.link_lost[link];
    }
    let counted = tally.ports[link].as_ref();
    let port = counted.unwrap_or(&through);
    let dropped = port.dropped();
    let duration = scenario.duration;
    let cell_seconds = of.rate.cell_time().whole as f64 / TICKS_PER_SECOND as f64;
    let line_mbps: Vec<f64> = (0..vcs.len())
        .filter(|&i| topology.data_path(i).contains(&link))
        .filter_map(|i| match &scenario.vcs[i].traffic {
            Traffic::Tcp(p) => {
                Some(vcs[i].goodput_mbps * f64::from(53 * cells_of_segment(p.mss)) / p.mss as f64)
            }
            _ => None,
        })
        .collect();
    PortResult {
        name: of.name.clone(),
        switch: of.from.clone(),
        rate_mbps: of.rate.as_mbps(),
        can_queue: counted.is_some(),
        arrived_cells: counted.map_or(sent, PortTally::arrived),
        accepted_cells: port.accepted,
        sent_cells: sent,
        held_cells: port.held,
        dropped_cells: DroppedCells {
            policy: dropped[DropReason::Policy],
            full: dropped[DropReason::Full],
            rest: dropped[DropReason::Rest],
            front: dropped[DropReason::Front],
            link: dropped[DropReason::Link],
        },
        max_queue_cells: port.max_queue,
        mean_queue_cells: port.queue_time as f64 / duration.0 as f64,
        utilisation: sent as f64 * cell_seconds / duration.as_seconds(),
        efficiency: (!line_mbps.is_empty())
            .then(|| line_mbps.iter().sum::<f64>() / of.rate.as_mbps()),
        classes: classes
            .iter()
            .map(|&class| {
                let t = &port.classes[class as usize];
                PortClassResult {
                    class,
                    buffer_cells: topology.queue(scenario, link, class).buffer,
                    sent_cells: if counted.is_some() { t.sent } else { sent },
                    dropped_cells: t.dropped.total(),
                    max_queue_cells: t.max_queue,
                }
            })
            .collect(),
    }
}

fn class_result(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    class: Class,
) -> ClassResult {
    let mut delay = DelayTally::default();
    let mut widest = f64::NEG_INFINITY;
    let (mut sent, mut delivered, mut dropped) = (0, 0, 0);
    for (index, (_, t)) in scenario
        .vcs
        .iter()
        .zip(&tally.vcs)
        .enumerate()
        .filter(|(_, (vc, _))| vc.class == class)
    {
        let data = &tally.flows[topology.flow(index, FlowKind::Data).index()];
        delay.merge(&t.delay);
        widest = widest.max(variation(&t.delay).unwrap_or(f64::NEG_INFINITY));
        sent += data.cells_sent;
        delivered += data.cells_delivered;
        dropped += data.cells_dropped;
    }
    let p99 = tally.class_delays[class as usize].quantile(0.99);
    ClassResult {
        class,
        cells_sent: sent,
        cells_delivered: delivered,
        cell_loss_ratio: ratio(dropped, sent),
        mean_cell_transfer_delay_s: delay.mean().map(seconds),
        p99_cell_transfer_delay_s: p99.map(|t| seconds(t.min(delay.max) as f64)),
        cell_delay_variation_s: widest.is_finite().then_some(widest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_of_equal_and_single_shares() {
        assert_eq!(fairness(&[3.0; 5]), Some(1.0));
        assert_eq!(fairness(&[1.0, 0.0, 0.0, 0.0, 0.0]), Some(0.2));
        assert_eq!(fairness(&[0.0; 5]), None);
    }
}
