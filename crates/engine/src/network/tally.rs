//! Counters of a run. The engine and its twin fill them in independently. All are whole numbers,
//! except for the rates of ABR end systems.

use crate::ground::delays::{DelayBins, DelayTally};
use crate::ground::flow::FlowId;
use crate::ground::rng::mix64;
use crate::ground::units::{Span, Time};
use crate::text::scenario::Class;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::{AddAssign, Index, IndexMut};
use strum::{EnumCount, IntoStaticStr, VariantArray};

/// Number of service classes.
pub const CLASSES: usize = Class::ALL.len();

/// Raises `most` to `found` if `found` is larger. Raising is rare, and unlike [`Ord::max`] nothing
/// is written otherwise.
pub fn raise<T: Ord>(most: &mut T, found: T) {
    if found > *most {
        *most = found;
    }
}

/// Reason why a cell was dropped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, EnumCount, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DropReason {
    /// Policed: the cell violated the contract of its VC.
    Police,
    /// Refused by the drop policy: the cell alone, or the frame that it belongs to.
    Policy,
    /// Dropped because the buffer was full.
    Full,
    /// Rest of a frame that had already lost a cell.
    Rest,
    /// Pushed out of the queue in favour of an arriving cell.
    Front,
    /// Lost on a link on purpose.
    Link,
}

/// Place where a cell is dropped; the cell balance of a port depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// On arrival: the cell was not accepted.
    OnArrival,
    /// In the queue: the cell was accepted and did not leave.
    InQueue,
    /// On the link: the cell was sent.
    OnLink,
}

impl DropReason {
    /// All reasons, in the order of results.
    pub const ALL: &[DropReason] = DropReason::VARIANTS;

    /// Returns the lower-case name of the reason.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the place where cells are dropped for this reason.
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
pub struct DropCounts([u64; DropReason::COUNT]);

impl Index<DropReason> for DropCounts {
    type Output = u64;
    fn index(&self, reason: DropReason) -> &u64 {
        &self.0[reason as usize]
    }
}

impl IndexMut<DropReason> for DropCounts {
    fn index_mut(&mut self, reason: DropReason) -> &mut u64 {
        &mut self.0[reason as usize]
    }
}

impl AddAssign for DropCounts {
    fn add_assign(&mut self, other: DropCounts) {
        for (sum, dropped) in self.0.iter_mut().zip(other.0) {
            *sum += dropped;
        }
    }
}

impl DropCounts {
    /// Returns the number of cells dropped for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the number of cells dropped at one place.
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
    /// Cells dropped, by reason.
    pub dropped: DropCounts,
    /// Cells of high priority that were tagged: sent, or to be sent, with low priority (CLP = 1).
    pub tagged: u64,
    /// Largest number of waiting cells of the class just after an acceptance.
    pub max_queue: u64,
    /// Largest X of a queue whose cells differ in places; 0 of any other.
    pub max_places: u64,
}

impl ClassTally {
    /// Returns the number of cells dropped by the port. Cells lost by the link are excluded, as the
    /// port has sent them.
    pub fn dropped_by_port(&self) -> u64 {
        self.dropped.total() - self.dropped.at(Where::OnLink)
    }
}

/// Cells of one input that a port refused: the buffer or the drop policy dropped them on arrival.
/// Of a refused frame, only the first counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputRefusals {
    /// All of them.
    pub all: u64,
    /// Those refused at a contested tie, where the port accepted a cell of another input.
    pub tied: u64,
}

/// Counts of the pool of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolTally {
    /// Index of the switch.
    pub switch: usize,
    /// Largest number of places in use just after an acceptance.
    pub max_used: u64,
    /// Time integral of the places in use.
    pub used_time: u128,
    /// By port of the pool: its refusals at contested ties of the pool.
    pub tied_refusals: Vec<u64>,
}

/// Counts of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortTally {
    /// Cells accepted, including those that found the port idle.
    pub accepted: u64,
    /// Cells waiting or in service at the end.
    pub held: u64,
    /// Largest number of waiting cells of all classes just after an acceptance.
    pub max_queue: u64,
    /// Largest number of places that waiting cells of all classes took just after an acceptance, if
    /// they differ in places; else 0.
    pub max_places: u64,
    /// Time integral of the number of waiting cells until the end, in cells times ticks.
    pub queue_time: u128,
    /// Time in which the port transmits.
    pub line_time: Span,
    /// If the rate of the link changes: this time, each cell's times its rate in bit/s. Else 0.
    pub line_work: u128,
    /// Counts of each class, by class index.
    pub classes: [ClassTally; CLASSES],
    /// Refusals of each input, in the order of the port's inputs.
    pub refusals: Vec<InputRefusals>,
    /// Counts of the measuring time alone.
    pub measured: MeasuredPort,
}

/// Counts of one class at one port within the measuring time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredClass {
    /// Cells that arrived.
    pub arrived: u64,
    /// Cells dropped by the port. Cells lost by the link are excluded, as the port has sent them.
    pub dropped: u64,
    /// Largest X of the class, including X when the measuring time begins.
    pub max_queue: u64,
}

/// Counts of one port within the measuring time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredPort {
    /// Cells whose last bit left.
    pub sent: u64,
    /// Largest number of waiting cells of all classes, including those waiting when the measuring
    /// time begins.
    pub max_queue: u64,
    /// Time integral of the number of waiting cells over the measuring time, in cells times ticks.
    pub queue_time: u128,
    /// Time in which the port transmits.
    pub line_time: Span,
    /// See [`PortTally::line_work`].
    pub line_work: u128,
    /// Counts of each class, by class index.
    pub classes: [MeasuredClass; CLASSES],
}

impl MeasuredPort {
    /// Returns the number of cells of all classes that arrived.
    pub fn arrived(&self) -> u64 {
        self.classes.iter().map(|c| c.arrived).sum()
    }

    /// Returns the number of cells of all classes that the port dropped.
    pub fn dropped(&self) -> u64 {
        self.classes.iter().map(|c| c.dropped).sum()
    }
}

impl PortTally {
    /// Returns the number of cells of all classes that arrived.
    pub fn arrived(&self) -> u64 {
        self.classes.iter().map(|c| c.arrived).sum()
    }

    /// Returns the number of cells of all classes that were sent.
    pub fn sent(&self) -> u64 {
        self.classes.iter().map(|c| c.sent).sum()
    }

    /// Returns the dropped cells of all classes, by reason.
    pub fn dropped(&self) -> DropCounts {
        let mut sum = DropCounts::default();
        for class in &self.classes {
            sum += class.dropped;
        }
        sum
    }

    /// Returns the number of cells whose last bit has left, from the cell balance.
    pub fn left(&self) -> u64 {
        self.accepted - self.held - self.dropped().at(Where::InQueue)
    }

    /// Checks the cell balance: arrived = accepted + dropped on arrival, and accepted = sent + held
    /// + pushed out.
    ///
    /// # Panics
    ///
    /// Panics when a cell was lost or created.
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

/// Counts of the queue at one NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicTally {
    /// Largest number of waiting cells just after a frame was queued.
    pub max_queue: u64,
    /// Longest time from queueing a frame to the end of its transmission, which may be after the
    /// end of the run.
    pub max_delay: Span,
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
    /// Frames queued at the NIC that can no longer be complete. All their cells have arrived or
    /// were dropped, and the host found no good frame.
    pub frames_lost: u64,
    /// Cells whose last bit left the source host before the end.
    pub cells_sent: u64,
    /// Cells that reached the destination host.
    pub cells_delivered: u64,
    /// Cells queued at the NIC whose last bit had not left the source host at the end.
    pub cells_not_sent: u64,
    /// Cells dropped anywhere, including on links.
    pub cells_dropped: u64,
    /// Cells tagged anywhere.
    pub cells_tagged: u64,
    /// Drops at each link of the route that has any, in the order of the route.
    pub drops: Vec<LinkDrops>,
}

impl FlowTally {
    /// Returns the cells dropped at the port of a link or on the link.
    pub fn dropped_at(&self, link: usize) -> DropCounts {
        let there = self.drops.iter().find(|drops| drops.link == link);
        there.map_or_else(DropCounts::default, |drops| drops.dropped)
    }
}

/// Cells of a flow dropped at the port of a link, or on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDrops {
    /// Index of the link.
    pub link: usize,
    /// The cells, by reason.
    pub dropped: DropCounts,
}

/// Counters of a source of frames.
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
    /// Bytes of data acknowledged to the source within the measuring time.
    pub acknowledged: u64,
    /// Time at which the source opened.
    pub began: Option<Time>,
    /// Time at which the last byte of the last file was acknowledged; none without a file, or with
    /// an endless sequence of files.
    pub completed: Option<Time>,
    /// Time at which the file under way began; none between files and without a file.
    pub under_way: Option<Time>,
}

/// An acknowledged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Time at which the transfer began.
    pub began: Time,
    /// Time at which the last byte was acknowledged.
    pub done: Time,
    /// Time in timeouts of the connection before its first round-trip sample, without the part of a
    /// tick with which each began.
    pub waited: Span,
}

/// Counts of a TCP that sends data from a VC's `to` to its `from`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Back {
    /// Counters of the sender.
    pub sender: SenderCounters,
    /// Files that the TCP has sent, in order.
    pub transfers: Vec<Transfer>,
}

/// Counts of one ABR end system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AbrTally {
    /// Forward RM cells sent, including those out of rate.
    pub forward_sent: u64,
    /// Forward RM cells received from the other end.
    pub forward_taken: u64,
    /// Forward RM cells of the other end that were turned around.
    pub backward_sent: u64,
    /// Forward RM cells of the other end that the next one overwrote before they could be turned
    /// around.
    pub overwritten: u64,
    /// RM cells of this end system that came back.
    pub backward_taken: u64,
    /// RM cells sent out of rate.
    pub out_of_rate: u64,
    /// Frames that did not fit into the queue of the end system.
    pub refused_frames: u64,
    /// Largest number of cells waiting in that queue just after a frame was handed over.
    pub max_waiting: u64,
    /// Data cells waiting in that queue at the end.
    pub waiting: u64,
    /// ACR at the end, in cells per second.
    pub acr: f64,
    /// ACR integrated over the run, in cells.
    pub allowed_cells: f64,
}

/// Counts of one VC.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VcTally {
    /// New bytes delivered in order to the application within the measuring time. Sources of single
    /// cells: what each of them carries.
    pub measured_bytes: u64,
    /// New bytes delivered in order to the application, from start to end of the run.
    pub delivered_bytes: u64,
    /// Bytes on the line of the data frames that arrived complete within the measuring time and
    /// contained new data. For a source of single cells: of the cells that arrived.
    pub measured_line_bytes: u64,
    /// Counters of the source of frames.
    pub sender: SenderCounters,
    /// Files that the source has sent, in order.
    pub transfers: Vec<Transfer>,
    /// Counts of the TCP at the other end; none if only one end sends.
    pub back: Option<Back>,
    /// Transfer delays of the data cells within the measuring time.
    pub delay: DelayTally,
    /// Distribution of these delays.
    pub bins: DelayBins,
    /// ABR end systems, that of the sender of data first; empty without ABR.
    pub abr: Vec<AbrTally>,
}

/// All counters of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Per link: cells whose last bit left before the end.
    pub link_cells: Vec<u64>,
    /// Per link: data cells whose last bit left before the end.
    pub link_data_cells: Vec<u64>,
    /// Per link: cells deliberately lost.
    pub link_lost: Vec<u64>,
    /// Per link: cells in service at the end, for links that leave a switch and whose port cannot
    /// queue.
    pub link_held: Vec<u64>,
    /// Per link: time in which it transmits, for links that leave a switch.
    pub link_line_time: Vec<Span>,
    /// Per port of a link whose rate changes: see [`PortTally::line_work`]. Else 0.
    pub link_line_work: Vec<u128>,
    /// Per link: counts of the port, for links that leave a switch and whose port can queue.
    pub ports: Vec<Option<Box<PortTally>>>,
    /// Counts of each pool in which a port takes part, in the order of the switches.
    pub pools: Vec<PoolTally>,
    /// Per link: counts of the NIC's queue, for links that leave a host.
    pub nics: Vec<NicTally>,
    /// Counts of each flow.
    pub flows: Vec<FlowTally>,
    /// Counts of each VC.
    pub vcs: Vec<VcTally>,
    /// Sum of [`digest`] over all cell transmissions that ended before the end; none unless
    /// requested.
    pub digest: Option<u64>,
}

/// Contribution of one cell transmission to the digest. The cell's last bit leaves `link` at
/// `time`.
///
/// Contributions are added, so the digest does not depend on their order.
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
        for &reason in DropReason::ALL {
            let mut dropped = DropCounts::default();
            dropped[reason] = 3;
            let of = |place| if reason.place() == place { 3 } else { 0 };
            for place in [Where::OnArrival, Where::InQueue, Where::OnLink] {
                assert_eq!(dropped.at(place), of(place), "{reason:?}");
            }
            assert_eq!(dropped.total(), 3);
        }
    }
}
