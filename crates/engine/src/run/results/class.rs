//! Results of one service class.

use super::totals::frame_loss_of;
use super::{VcResult, data, quantile, ratio, variation};
use crate::ground::delays::{DelayBins, DelayTally};
use crate::ground::format::Clock;
use crate::network::tally::Tally;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, Scenario};
use schemars::JsonSchema;
use serde::Serialize;

/// Results of one service class over the whole network. Counts and delays are of the data cells of
/// its VCs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassResult {
    /// The service class.
    pub class: Class,
    /// Data cells sent by the source hosts, over the whole run.
    pub cells_sent: u64,
    /// Data cells that arrived at their destination hosts, over the whole run.
    pub cells_delivered: u64,
    /// Data cells dropped, relative to data cells sent by the source hosts. 0 when none was sent.
    pub cell_loss_ratio: f64,
    /// Data frames lost, relative to data frames lost or delivered, over the VCs that carry frames.
    /// 0 when none was lost or delivered; none when no VC of the class carries frames.
    pub frame_loss_ratio: Option<f64>,
    /// Longest queue of this class at any port, over the whole run.
    pub max_queue_cells: u64,
    /// Mean cell transfer delay in the measuring time. None when no cell arrived in it.
    pub mean_cell_transfer_delay_s: Option<f64>,
    /// 99 % quantile of the cell transfer delays, rounded up by at most 1/64. None when no cell arrived in the measuring time.
    pub p99_cell_transfer_delay_s: Option<f64>,
    /// Cell delay variation (peak to peak): the largest transfer delay minus the smallest, of the
    /// VC for which this is largest. None when no cell arrived in the measuring time.
    pub cell_delay_variation_s: Option<f64>,
}

/// Sums over the VCs of a class.
#[derive(Clone, Default)]
struct Sum {
    vcs: usize,
    sent: u64,
    delivered: u64,
    dropped: u64,
    max_queue: u64,
    delay: DelayTally,
    bins: DelayBins,
    widest: Option<f64>,
}

/// Returns the results of all classes that have VCs, most urgent first.
pub(super) fn all(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    vcs: &[VcResult],
) -> Vec<ClassResult> {
    let clock = scenario.format.clock;
    let mut sums: [Sum; Class::ALL.len()] = Default::default();
    for (i, (vc, counted)) in scenario.vcs.iter().zip(&tally.vcs).enumerate() {
        let sum = &mut sums[vc.class as usize];
        let data = data(i, topology, tally);
        sum.vcs += 1;
        sum.sent += data.cells_sent;
        sum.delivered += data.cells_delivered;
        sum.dropped += data.cells_dropped;
        sum.delay.merge(&counted.delay);
        sum.bins.merge(&counted.bins);
        let widest = sum
            .widest
            .into_iter()
            .chain(variation(&counted.delay, clock));
        sum.widest = widest.reduce(f64::max);
    }
    for port in tally.ports.iter().flatten() {
        for (sum, of_class) in sums.iter_mut().zip(&port.classes) {
            sum.max_queue = sum.max_queue.max(of_class.max_queue);
        }
    }
    let used = Class::ALL.into_iter().zip(sums);
    used.filter(|(_, sum)| sum.vcs > 0)
        .map(|(class, sum)| of(class, &sum, vcs, clock))
        .collect()
}

fn of(class: Class, sum: &Sum, vcs: &[VcResult], clock: Clock) -> ClassResult {
    ClassResult {
        class,
        cells_sent: sum.sent,
        cells_delivered: sum.delivered,
        cell_loss_ratio: ratio(sum.dropped, sum.sent),
        frame_loss_ratio: frame_loss_of(vcs.iter().filter(|vc| vc.class == class)),
        max_queue_cells: sum.max_queue,
        mean_cell_transfer_delay_s: sum.delay.mean().map(|ticks| clock.seconds(ticks)),
        p99_cell_transfer_delay_s: quantile(&sum.bins, &sum.delay, 0.99, clock),
        cell_delay_variation_s: sum.widest,
    }
}
