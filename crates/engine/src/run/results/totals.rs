//! Results of the whole network.

use super::transfers::{Durations, Files, TcpCounts, TransferTimes, covered};
use super::{VcResult, frame_loss, quantile, ratio};
use crate::ground::delays::{DelayBins, DelayTally};
use crate::ground::format::Clock;
use crate::ground::units::BitRate;
use crate::network::tally::Tally;
use crate::text::scenario::fair_goodput::max_goodput;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Carries, Class, Scenario};
use schemars::JsonSchema;
use serde::Serialize;

/// Results of the whole network.
///
/// Goodput, efficiency, fairness and delays cover the VCs that carry frames, in the measuring time.
/// All other values cover the whole run. Goodput is relative to the whole measuring time, even if a
/// VC sends in a part of it only. For the goodput of a file see `file_goodput_mbps` of its VC.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Totals {
    /// Cell transmissions, summed over all links.
    pub cells: u64,
    /// Data cells sent by the ports that can queue.
    pub bottleneck_cells: u64,
    /// Sum of the goodputs of the VCs that carry frames.
    pub goodput_mbps: f64,
    /// `goodput_mbps` divided by `max_goodput_mbps`. None when that is none or 0.
    pub efficiency: Option<f64>,
    /// Largest possible sum of goodputs: a rate in the scenario, or the sum of fair shares of the
    /// links. None when the scenario has neither.
    pub max_goodput_mbps: Option<f64>,
    /// Jain's fairness index (sum x)^2 / (n sum x^2) of the goodputs of the VCs that carry frames.
    /// None when nothing was delivered.
    pub fairness: Option<f64>,
    /// Data cells dropped, relative to data cells that hosts sent, over all VCs. 0 when none was
    /// sent.
    pub cell_loss_ratio: f64,
    /// Data frames lost, relative to data frames lost or delivered, over the VCs that carry frames.
    /// 0 when none was lost or delivered; none when no VC carries frames.
    pub frame_loss_ratio: Option<f64>,
    /// Longest queue at any port, over all its classes. `classes` has that of each class.
    pub max_queue_cells: u64,
    /// Mean transfer delay of the data cells of the VCs that carry frames, or of all VCs when none
    /// does. None when no such cell arrived in the measuring time.
    pub mean_cell_transfer_delay_s: Option<f64>,
    /// 99 % quantile of the same delays, rounded up by at most 1/64. None when
    /// `mean_cell_transfer_delay_s` is none, or when VCs that carry cells share a
    /// class with VCs that carry frames.
    pub p99_cell_transfer_delay_s: Option<f64>,
    /// Counters of all TCPs.
    #[serde(flatten)]
    pub tcp: TcpCounts,
    /// Transfers of all VCs.
    #[serde(flatten)]
    pub files: TransferTimes,
    /// Goodput from `from` to `to` of all VCs with files, over the time of the whole run in which a
    /// file was under way. None without such time.
    pub busy_goodput_mbps: Option<f64>,
}

/// Computes the totals from the counters and the results of the VCs.
pub(super) fn totals(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    vcs: &[VcResult],
) -> Totals {
    let max_goodput = max_goodput(scenario, topology);
    let frames = vcs.iter().filter(|vc| vc.carries == Carries::Frames);
    let shares: Vec<f64> = frames.map(|vc| vc.goodput_mbps).collect();
    // An empty sum of floats is -0.
    let goodput_mbps = 0.0 + shares.iter().sum::<f64>();
    let sum = |f: fn(&VcResult) -> u64| vcs.iter().map(f).sum::<u64>();
    let queues = tally.ports.iter().flatten();
    let queueing = tally.link_data_cells.iter().zip(&tally.ports);
    let clock = scenario.format.clock;
    let (mean_delay, p99_delay) = delays(tally, vcs, clock);
    let transfers = tally.vcs.iter().enumerate().flat_map(|(i, vc)| {
        let files = Files::of(scenario, topology, i);
        let there = files.transfers(&vc.transfers, &vc.sender);
        let back = vc.back.as_ref();
        let back = back.map(|back| files.transfers(&back.transfers, &back.sender));
        [Some(there), back].into_iter().flatten()
    });
    let durations = Durations::of(transfers, clock);
    let senders = tally.vcs.iter().flat_map(|vc| {
        let back = vc.back.iter().map(|back| &back.sender);
        back.chain([&vc.sender])
    });
    Totals {
        cells: tally.link_cells.iter().sum(),
        bottleneck_cells: queueing
            .filter_map(|(cells, port)| port.as_ref().map(|_| cells))
            .sum(),
        goodput_mbps,
        efficiency: max_goodput
            .filter(|most| most.0 > 0)
            .map(|most| goodput_mbps / most.as_mbps()),
        max_goodput_mbps: max_goodput.map(BitRate::as_mbps),
        fairness: fairness(&shares),
        cell_loss_ratio: ratio(sum(|v| v.cells_dropped), sum(|v| v.cells_sent)),
        frame_loss_ratio: frame_loss_of(vcs),
        max_queue_cells: queues.map(|port| port.max_queue).max().unwrap_or(0),
        mean_cell_transfer_delay_s: mean_delay,
        p99_cell_transfer_delay_s: p99_delay,
        tcp: TcpCounts::of(senders),
        files: durations.times(),
        busy_goodput_mbps: busy_goodput(scenario, topology, tally, vcs),
    }
}

/// Returns the goodput of the files over the time in which one was under way, in Mb/s.
fn busy_goodput(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    vcs: &[VcResult],
) -> Option<f64> {
    let sending = || (0..vcs.len()).filter(|&i| vcs[i].file_size_bytes.is_some());
    let under_way = sending().flat_map(|i| {
        let files = Files::of(scenario, topology, i);
        files.under_way(&tally.vcs[i].transfers, &tally.vcs[i].sender)
    });
    let seconds = covered(under_way).as_seconds(scenario.format.clock);
    let bytes: u64 = sending().map(|i| vcs[i].delivered_bytes).sum();
    (seconds > 0.0).then(|| bytes as f64 * 8e-6 / seconds)
}

/// Returns mean and 99 % quantile of the delays in seconds, over the VCs that carry frames, or over
/// all VCs when none does.
fn delays(tally: &Tally, vcs: &[VcResult], clock: Clock) -> (Option<f64>, Option<f64>) {
    let any_frames = vcs.iter().any(|vc| vc.carries == Carries::Frames);
    let mut delay = DelayTally::default();
    let mut bins = DelayBins::default();
    let mut judged = [false; Class::ALL.len()];
    let mut others = [false; Class::ALL.len()];
    for (vc, counted) in vcs.iter().zip(&tally.vcs) {
        if vc.carries == Carries::Frames || !any_frames {
            delay.merge(&counted.delay);
            bins.merge(&counted.bins);
            judged[vc.class as usize] = true;
        } else {
            others[vc.class as usize] = true;
        }
    }
    let mut pairs = judged.iter().zip(others);
    let mixed = pairs.any(|(&judged, other)| judged && other);
    let p99 = quantile(&bins, &delay, 0.99, clock).filter(|_| !mixed);
    (delay.mean().map(|ticks| clock.seconds(ticks)), p99)
}

/// Returns the frame loss ratio of the VCs that carry frames; `None` without such VCs.
pub(super) fn frame_loss_of<'a>(vcs: impl IntoIterator<Item = &'a VcResult>) -> Option<f64> {
    let frames = vcs.into_iter().filter(|vc| vc.carries == Carries::Frames);
    let counts = frames.map(|vc| (vc.frames_lost, vc.frames_delivered));
    let sum = counts.reduce(|sum, next| (sum.0 + next.0, sum.1 + next.1));
    sum.map(|(lost, delivered)| frame_loss(lost, delivered))
}

/// Returns Jain's fairness index (sum x)^2 / (n sum x^2); `None` when nothing was delivered.
fn fairness(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
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
