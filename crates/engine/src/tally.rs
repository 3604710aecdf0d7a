//! What a run counts: whole numbers only, filled in by the engine and, independently, by the twin.

use crate::flow::FlowId;
use crate::rng::mix64;
use crate::scenario::Class;
use crate::units::{Span, Time};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::{AddAssign, Index, IndexMut};
use strum::{EnumCount, IntoStaticStr, VariantArray};

/// Number of service classes.
pub const CLASSES: usize = Class::ALL.len();

/// Raises `most` to `found` if that is larger: seldom, and nothing is written otherwise, where [`Ord::max`] would write each time.
#[inline(always)]
pub fn raise<T: Ord>(most: &mut T, found: T) {
    if found > *most {
        *most = found;
    }
}

/// Why a cell was dropped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, EnumCount, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DropReason {
    /// It did not keep to the contract of its VC.
    Police,
    /// Its frame was refused by the drop policy.
    Policy,
    /// The buffer was full.
    Full,
    /// The rest of a frame that had lost a cell.
    Rest,
    /// Pushed out of the queue, in favour of a cell that arrived.
    Front,
    /// Lost on a link on purpose.
    Link,
}

/// Where a cell is dropped; the books of a port follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// It arrived and was not accepted.
    OnArrival,
    /// It was accepted and did not leave.
    InQueue,
    /// It was sent.
    OnLink,
}

impl DropReason {
    /// All reasons, in the order of results.
    pub const ALL: &[DropReason] = DropReason::VARIANTS;

    /// Its lower-case name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Where such cells are dropped.
    pub fn place(self) -> Where {
        match self {
            DropReason::Police | DropReason::Policy | DropReason::Full | DropReason::Rest => {
                Where::OnArrival
            }
            DropReason::Front => Where::InQueue,
            DropReason::Link => Where::OnLink,
        }
    }
}

/// Dropped cells by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped([u64; DropReason::COUNT]);

impl Index<DropReason> for Dropped {
    type Output = u64;
    fn index(&self, reason: DropReason) -> &u64 {
        &self.0[reason as usize]
    }
}

impl IndexMut<DropReason> for Dropped {
    fn index_mut(&mut self, reason: DropReason) -> &mut u64 {
        &mut self.0[reason as usize]
    }
}

impl AddAssign for Dropped {
    fn add_assign(&mut self, other: Dropped) {
        for (sum, dropped) in self.0.iter_mut().zip(other.0) {
            *sum += dropped;
        }
    }
}

impl Dropped {
    /// For all reasons.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// For the reasons of one place.
    pub fn at(&self, place: Where) -> u64 {
        let there = DropReason::ALL.iter().filter(|r| r.place() == place);
        there.map(|&reason| self[reason]).sum()
    }
}

/// Counts of one class at one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassTally {
    /// Cells that arrived.
    pub arrived: u64,
    /// Cells whose last bit left before the end.
    pub sent: u64,
    /// Cells dropped.
    pub dropped: Dropped,
    /// Cells that came with high priority and were sent on, or will be, with low (CLP = 1).
    pub tagged: u64,
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
    pub classes: [ClassTally; CLASSES],
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

    /// Sum over the classes.
    pub fn dropped(&self) -> Dropped {
        let mut sum = Dropped::default();
        for class in &self.classes {
            sum += class.dropped;
        }
        sum
    }

    /// Checks the books: arrived = accepted + dropped on arrival, accepted = sent + held + pushed out.
    ///
    /// # Panics
    /// When a cell was lost or made.
    pub fn check(&self) {
        let dropped = self.dropped();
        assert_eq!(
            self.arrived(),
            self.accepted + dropped.at(Where::OnArrival),
            "cells lost or made on arrival at a port"
        );
        assert_eq!(
            self.accepted,
            self.sent() + self.held + dropped.at(Where::InQueue),
            "cells lost or made in a port"
        );
    }
}

/// What waited before one NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicTally {
    /// Largest number of waiting cells just after a frame was queued.
    pub max_queue: u64,
    /// Longest time from the queueing of a frame to the end of its transmission, in time or not.
    pub max_delay: Span,
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
    /// `cells` cells that took `took` each.
    #[inline]
    pub fn add(&mut self, took: Span, cells: u64) {
        let ticks = took.0;
        self.count += cells;
        self.sum += u128::from(ticks) * u128::from(cells);
        if ticks < self.min {
            self.min = ticks;
        }
        raise(&mut self.max, ticks);
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

/// Distribution of cell transfer delays, in logarithmic bins of at most 1/64 relative width.
///
/// Only the factors of two that delays fall into have bins: those of a VC seldom span more than ten, which take 5 kB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayBins {
    /// Number of the first bin kept, a multiple of `BLOCK`.
    first: usize,
    /// Cells of the bins kept: whole blocks, of which the first and the last have cells.
    bins: Vec<u64>,
}

const SUB_BITS: u32 = 6;

/// Bins of a factor of two; so many come and go together.
const BLOCK: usize = 1 << SUB_BITS;

/// Bin of a delay: exact below 128 ticks, then 64 bins per factor of two.
#[inline]
fn bin_of(ticks: u64) -> usize {
    let shift = (63 - (ticks | 1).leading_zeros()).saturating_sub(SUB_BITS);
    ((shift as usize) << SUB_BITS) + (ticks >> shift) as usize
}

impl DelayBins {
    /// `cells` cells that took `took` each.
    #[inline]
    pub fn add(&mut self, took: Span, cells: u64) {
        let bin = bin_of(took.0);
        match self.bins.get_mut(bin.wrapping_sub(self.first)) {
            Some(count) => *count += cells,
            None => self.add_beyond(bin, cells),
        }
    }

    /// The same for a bin that is not kept yet.
    #[cold]
    #[inline(never)]
    fn add_beyond(&mut self, bin: usize, cells: u64) {
        self.keep(bin, bin + 1);
        self.bins[bin - self.first] += cells;
    }

    /// Keeps the bins from `from` to before `to` as well.
    fn keep(&mut self, from: usize, to: usize) {
        let (from, to) = (from / BLOCK * BLOCK, to.next_multiple_of(BLOCK));
        if self.bins.is_empty() {
            self.first = from;
        }
        let before = self.first.saturating_sub(from);
        let len = before + self.bins.len().max(to.saturating_sub(self.first));
        if len > self.bins.len() {
            let mut bins = Vec::with_capacity(len);
            bins.resize(before, 0);
            bins.append(&mut self.bins);
            bins.resize(len, 0);
            self.first -= before;
            self.bins = bins;
        }
    }

    /// `cells` cells, of which the first took `first`, and each `more` longer than the one before.
    #[inline(always)]
    pub fn add_series(&mut self, first: Span, more: Span, cells: u64) {
        let mut took = first;
        for _ in 0..cells {
            self.add(took, 1);
            took += more;
        }
    }

    /// Everything `other` holds.
    pub fn merge(&mut self, other: &DelayBins) {
        if other.bins.is_empty() {
            return;
        }
        self.keep(other.first, other.first + other.bins.len());
        let same = &mut self.bins[other.first - self.first..];
        for (cells, more) in same.iter_mut().zip(&other.bins) {
            *cells += more;
        }
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
            .map(|place| upper_edge(self.first + place))
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

/// Counts of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowTally {
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
    /// Cells queued at the NIC whose last bit had not left the source host at the end.
    pub cells_not_sent: u64,
    /// Cells dropped anywhere, on links too.
    pub cells_dropped: u64,
    /// Cells tagged anywhere.
    pub cells_tagged: u64,
    /// Where they were dropped: links of the way with any, in its order.
    pub drops: Vec<LinkDrops>,
}

impl FlowTally {
    /// What it lost at the port of a link, or on the link.
    pub fn dropped_at(&self, link: usize) -> Dropped {
        let there = self.drops.iter().find(|drops| drops.link == link);
        there.map_or_else(Dropped::default, |drops| drops.dropped)
    }
}

/// Cells of a flow dropped at the port of a link, or on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDrops {
    /// Index of the link.
    pub link: usize,
    /// The cells, by reason.
    pub dropped: Dropped,
}

/// What a source of frames counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments that carried bytes sent before.
    pub retransmitted_segments: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmits (entries into recovery).
    pub fast_retransmits: u64,
    /// Duplicate ACKs received.
    pub duplicate_acks: u64,
    /// When it opened.
    pub began: Option<Time>,
    /// When the last byte of its file was acknowledged; none without a file.
    pub completed: Option<Time>,
}

/// Counts of one ABR end system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AbrTally {
    /// Forward RM cells sent, those out of rate included.
    pub forward_sent: u64,
    /// Forward RM cells of the other end that arrived.
    pub forward_taken: u64,
    /// Of these, turned round.
    pub backward_sent: u64,
    /// Of these, overwritten by the next one before they could be sent.
    pub overwritten: u64,
    /// Its own ones that came back.
    pub backward_taken: u64,
    /// RM cells sent out of rate.
    pub out_of_rate: u64,
    /// Frames that did not fit into its queue.
    pub refused_frames: u64,
    /// Largest number of its cells that waited just after a frame was handed over.
    pub max_waiting: u64,
    /// ACR at the end, cells per second.
    pub acr: f64,
    /// ACR, integrated over the run, cells.
    pub allowed_cells: f64,
}

/// Counts of one VC.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VcTally {
    /// Bytes delivered in order, once, to the application within the measuring time. Sources of single cells: 48 per cell.
    pub measured_bytes: u64,
    /// The same from start to end.
    pub delivered_bytes: u64,
    /// Cells of the data frames that arrived whole within the measuring time and had data that had not arrived before; of a source of
    /// single cells, those that arrived.
    pub measured_cells: u64,
    /// What its source of frames counts.
    pub sender: SenderCounters,
    /// Transfer delays of its data cells within the measuring time.
    pub delay: DelayTally,
    /// Their distribution.
    pub bins: DelayBins,
    /// Its ABR end systems, that at the sender of data first; none without ABR.
    pub abr: Vec<AbrTally>,
}

/// Everything a run counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Per link: cells whose last bit left before the end.
    pub link_cells: Vec<u64>,
    /// Per link: those of them that belong to data flows.
    pub link_data_cells: Vec<u64>,
    /// Per link: cells lost on it on purpose.
    pub link_lost: Vec<u64>,
    /// Per link: cells in service at the end at its port, when it leaves a switch and the port cannot queue.
    pub link_held: Vec<u64>,
    /// Per link: counts of the port, when the link leaves a switch and the port can queue.
    pub ports: Vec<Option<PortTally>>,
    /// Per link: what waited before its NIC, when the link leaves a host.
    pub nics: Vec<NicTally>,
    /// Per flow.
    pub flows: Vec<FlowTally>,
    /// Per VC.
    pub vcs: Vec<VcTally>,
    /// Sum of [`digest`] over all cell transmissions that ended before the end, when asked for.
    pub digest: Option<u64>,
}

/// Contribution of one cell transmission to the digest: at `time` its last bit leaves `link`.
/// Sums of it do not depend on the order of summation.
#[inline]
pub fn digest(link: usize, time: Time, flow: FlowId, frame: u32, cell: u32) -> u64 {
    let who = mix64((u64::from(flow.0) << 40) ^ ((link as u64) << 8) ^ 0x5bd1_e995);
    let what = mix64((u64::from(frame) << 16) ^ u64::from(cell) ^ who);
    mix64(time.0 ^ what)
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
            d.add(Span(t * 1000), 1);
        }
        let p99 = d.quantile(0.99).unwrap() as f64;
        assert!((990_000.0..=990_000.0 * 1.016).contains(&p99), "{p99}");
        assert_eq!(DelayBins::default().quantile(0.5), None);
    }

    #[test]
    fn a_series_is_its_cells_wherever_the_bins_begin() {
        let (mut series, mut cells) = (DelayBins::default(), DelayBins::default());
        for first in [1u64 << 30, 1 << 20, 1 << 34] {
            series.add_series(Span(first), Span(first / 3), 7);
            for i in 0..7 {
                cells.add(Span(first + i * (first / 3)), 1);
            }
        }
        assert_eq!(series, cells);
        assert_eq!(series.quantile(0.0), Some(upper_edge(bin_of(1 << 20))));
    }

    // 99 of 100 cells are fast: so is the quantile of all, though not the largest of the parts.
    #[test]
    fn a_quantile_of_merged_bins_is_that_of_all_cells() {
        let (mut fast, mut slow) = (DelayBins::default(), DelayBins::default());
        fast.add(Span(100), 99);
        slow.add(Span(100_000), 1);
        for (mut one, other) in [(fast.clone(), &slow), (slow.clone(), &fast)] {
            one.merge(other);
            assert_eq!(one.quantile(0.99), Some(100));
            assert_eq!(one.quantile(1.0), slow.quantile(0.99));
        }
    }

    #[test]
    fn bins_kept_do_not_depend_on_the_order_of_delays_and_are_few() {
        let delays = [1u64 << 30, 1 << 20, (1 << 25) + 7, 1 << 31, 3];
        let of = |ticks: &[u64]| {
            let mut found = DelayBins::default();
            ticks.iter().for_each(|&t| found.add(Span(t), 1));
            found
        };
        let mut turned = delays;
        for _ in &delays {
            turned.rotate_left(1);
            assert_eq!(of(&turned), of(&delays));
            let (mut left, right) = (of(&turned[..2]), of(&turned[2..]));
            left.merge(&right);
            left.merge(&DelayBins::default());
            assert_eq!(left, of(&delays));
        }
        // A factor of 100 between delays of a millisecond and more: seven or eight factors of two.
        assert_eq!(
            of(&[25_272_000_000, 2_527_200_000_000]).bins.len(),
            8 * BLOCK
        );
        assert_eq!(of(&[u64::MAX]).quantile(0.5), Some(u64::MAX));
    }

    #[test]
    fn digest_tells_every_field() {
        let base = digest(1, Time(2), FlowId(3), 4, 5);
        for other in [
            digest(2, Time(2), FlowId(3), 4, 5),
            digest(1, Time(3), FlowId(3), 4, 5),
            digest(1, Time(2), FlowId(4), 4, 5),
            digest(1, Time(2), FlowId(3), 5, 5),
            digest(1, Time(2), FlowId(3), 4, 6),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn every_reason_is_counted_at_one_place() {
        let mut dropped = Dropped::default();
        for (cells, &reason) in (1..).zip(DropReason::ALL) {
            dropped[reason] = cells;
        }
        assert_eq!(dropped.at(Where::OnArrival), 1 + 2 + 3 + 4);
        assert_eq!(dropped.at(Where::InQueue), dropped[DropReason::Front]);
        assert_eq!(dropped.at(Where::OnLink), dropped[DropReason::Link]);
        assert_eq!(dropped.total(), 21);
    }
}
