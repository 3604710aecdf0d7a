//! What a run counts: whole numbers only, filled in by the engine and, independently, by the twin.

use crate::flow::FlowKind;
use crate::host::tcp::SenderCounters;
use crate::rng::mix64;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a cell was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// Its frame was refused by the drop policy.
    Policy = 0,
    /// The buffer was full.
    Full = 1,
    /// The rest of a frame that had lost a cell.
    Rest = 2,
    /// Lost on a link on purpose.
    Link = 3,
}

impl DropReason {
    /// All reasons, by index.
    pub const ALL: [DropReason; 4] = [
        DropReason::Policy,
        DropReason::Full,
        DropReason::Rest,
        DropReason::Link,
    ];

    /// Its lower-case name.
    pub fn name(self) -> &'static str {
        ["policy", "full", "rest", "link"][self as usize]
    }
}

/// Dropped cells; the index is a [`DropReason`].
pub type Dropped = [u64; 4];

/// Counts of one class at one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassTally {
    /// Cells that arrived.
    pub arrived: u64,
    /// Cells whose last bit left before the end.
    pub sent: u64,
    /// Cells dropped, by reason.
    pub dropped: Dropped,
    /// Largest X of the class just after an acceptance.
    pub max_queue: u64,
}

/// Counts of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortTally {
    /// Cells accepted, those that found the port idle included.
    pub accepted: u64,
    /// Cells waiting or in service at the end.
    pub held: u64,
    /// Largest number of waiting cells of all classes just after an acceptance.
    pub max_queue: u64,
    /// Waiting cells integrated over time until the end, cells times ticks.
    pub queue_time: u128,
    /// By class index.
    pub classes: [ClassTally; 5],
}

impl PortTally {
    /// Sum over the classes.
    pub fn arrived(&self) -> u64 {
        self.classes.iter().map(|c| c.arrived).sum()
    }

    /// Sum over the classes.
    pub fn sent(&self) -> u64 {
        self.classes.iter().map(|c| c.sent).sum()
    }

    /// Sum over the classes, by reason.
    pub fn dropped(&self) -> Dropped {
        let mut sum = [0; 4];
        for class in &self.classes {
            for (s, d) in sum.iter_mut().zip(class.dropped) {
                *s += d;
            }
        }
        sum
    }
}

/// Cell transfer delays of one VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayTally {
    /// Cells.
    pub count: u64,
    /// Sum, ticks.
    pub sum: u128,
    /// Smallest, ticks; `u64::MAX` without cells.
    pub min: u64,
    /// Largest, ticks.
    pub max: u64,
}

impl Default for DelayTally {
    fn default() -> DelayTally {
        DelayTally {
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

impl DelayTally {
    /// `cells` cells that took `ticks` each.
    #[inline]
    pub fn add(&mut self, ticks: u64, cells: u64) {
        self.count += cells;
        self.sum += u128::from(ticks) * u128::from(cells);
        self.min = self.min.min(ticks);
        self.max = self.max.max(ticks);
    }

    /// Everything `other` holds.
    pub fn merge(&mut self, other: &DelayTally) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Mean in ticks; `None` without cells.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// Distribution of the cell transfer delays of one class, in logarithmic bins of at most 1/64 relative width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayBins {
    bins: Vec<u64>,
}

const SUB_BITS: u32 = 6;

/// Bin of a delay: exact below 128 ticks, then 64 bins per factor of two.
#[inline]
fn bin_of(ticks: u64) -> usize {
    let shift = (63 - (ticks | 1).leading_zeros()).saturating_sub(SUB_BITS);
    ((shift as usize) << SUB_BITS) + (ticks >> shift) as usize
}

impl DelayBins {
    /// `cells` cells that took `ticks` each.
    #[inline]
    pub fn add(&mut self, ticks: u64, cells: u64) {
        let bin = bin_of(ticks);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += cells;
    }

    /// The smallest bin edge that at least the fraction `p` of the cells do not exceed, in ticks; `None` without cells.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let count: u64 = self.bins.iter().sum();
        let wanted = (count as f64 * p).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.bins
            .iter()
            .position(|cells| {
                seen += cells;
                seen >= wanted
            })
            .map(upper_edge)
    }
}

/// Largest delay that falls into `bin`.
fn upper_edge(bin: usize) -> u64 {
    let (mut low, mut high) = (0u64, u64::MAX);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if bin_of(middle) <= bin {
            low = middle
        } else {
            high = middle - 1
        }
    }
    low
}

/// Counts of one VC direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionTally {
    /// Frames queued at the NIC.
    pub frames_sent: u64,
    /// Complete frames that reached the destination host.
    pub frames_delivered: u64,
    /// Reassemblies that ended with an EOM but were not exactly one frame.
    pub frames_damaged: u64,
    /// Cells whose last bit left the source host before the end.
    pub cells_sent: u64,
    /// Cells that reached the destination host.
    pub cells_delivered: u64,
    /// Cells dropped anywhere, on links too.
    pub cells_dropped: u64,
}

/// Counts of one VC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VcTally {
    /// Data and ACK direction.
    pub directions: [DirectionTally; 2],
    /// Bytes delivered in order, once, to the application within the measuring time. Cell sources: 48 per cell.
    pub measured_bytes: u64,
    /// The same from start to end.
    pub delivered_bytes: u64,
    /// TCP sender.
    pub sender: SenderCounters,
    /// Transfer delays of its data cells within the measuring time.
    pub delay: DelayTally,
}

impl VcTally {
    /// Counts of one of its flows.
    pub fn flow(&self, kind: FlowKind) -> &DirectionTally {
        match kind {
            FlowKind::Data => &self.directions[0],
            FlowKind::Ack => &self.directions[1],
        }
    }
}

/// Everything a run counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Per link: cells whose last bit left before the end.
    pub link_cells: Vec<u64>,
    /// Per link: those of them that belong to data directions.
    pub link_data_cells: Vec<u64>,
    /// Per link: cells lost on it on purpose.
    pub link_lost: Vec<u64>,
    /// Per link: counts of the port, when the link leaves a switch and the port can queue.
    pub ports: Vec<Option<PortTally>>,
    /// Per VC.
    pub vcs: Vec<VcTally>,
    /// By class index: transfer delays of the data cells that arrived within the measuring time.
    pub class_delays: [DelayBins; 5],
    /// Sum of [`digest`] over all cell transmissions that ended before the end, when asked for.
    pub digest: Option<u64>,
}

/// Contribution of one cell transmission to the digest: `tick` is when its last bit leaves `link`.
/// Sums of it do not depend on the order of summation.
#[inline]
pub fn digest(link: usize, tick: u64, direction: usize, frame: u32, cell: u32) -> u64 {
    let who = mix64(((direction as u64) << 40) ^ ((link as u64) << 8) ^ 0x5bd1_e995);
    let what = mix64((u64::from(frame) << 16) ^ u64::from(cell) ^ who);
    mix64(tick ^ what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_monotone_contiguous_and_narrow() {
        let mut last = 0;
        for ticks in 0..200_000u64 {
            let bin = bin_of(ticks);
            assert!(bin == last || bin == last + 1, "{ticks}");
            last = bin;
        }
        for ticks in [1u64 << 20, (1 << 40) + 12345, u64::MAX / 3] {
            let edge = upper_edge(bin_of(ticks));
            assert!(edge >= ticks && (edge - ticks) as f64 <= ticks as f64 / 64.0);
        }
    }

    #[test]
    fn quantiles_of_an_even_spread() {
        let mut d = DelayBins::default();
        for t in 1..=1000 {
            d.add(t * 1000, 1);
        }
        let p99 = d.quantile(0.99).unwrap() as f64;
        assert!((990_000.0..=990_000.0 * 1.016).contains(&p99), "{p99}");
        assert_eq!(DelayBins::default().quantile(0.5), None);
    }

    #[test]
    fn digest_tells_every_field() {
        let base = digest(1, 2, 3, 4, 5);
        for other in [
            digest(2, 2, 3, 4, 5),
            digest(1, 3, 3, 4, 5),
            digest(1, 2, 4, 4, 5),
            digest(1, 2, 3, 5, 5),
            digest(1, 2, 3, 4, 6),
        ] {
            assert_ne!(base, other);
        }
    }
}
