//! Drop policies: what a class queue refuses or pushes out before or when it is full. One file per policy.
//!
//! A policy is told the time, the cell and as much of the queue as it declares to need, and answers; it may keep state and draw
//! from the stream of its queue. To add one: its file here with a [`DropRule`], its line in [`Policy`] and in [`Policy::new`], a
//! variant in `scenario::DropPolicy` and an entry in the registry.

mod atm_red;
mod buckets;
mod cell_red;
mod dfba;
mod drop_from_front;
mod epd;
mod fba;
mod frame_drop_from_front;
mod gcra_epd;
mod gcra_round_robin;
mod gcra_two_thresholds;
mod packet_red;
mod ppd;
mod red;
mod selective_drop;
mod tail_drop;
#[cfg(test)]
pub mod testing;

use crate::cells::{ENDS_FRAME, Run, TAGGED};
use crate::rng::Stream;
use crate::scenario::{DropPolicy, Terms, Threshold};
use crate::tally::DropReason;
use crate::units::{Ratio, Span, Time};
use enum_dispatch::enum_dispatch;

use atm_red::AtmRed;
use cell_red::CellRed;
use dfba::Dfba;
use drop_from_front::DropFromFront;
use epd::Epd;
use fba::Fba;
use frame_drop_from_front::FrameDropFromFront;
use gcra_epd::GcraEpd;
use gcra_round_robin::GcraRoundRobin;
use gcra_two_thresholds::GcraTwoThresholds;
use packet_red::PacketRed;
use ppd::Ppd;
use selective_drop::SelectiveDrop;
use tail_drop::TailDrop;

/// What a policy may look at: one class queue, without the cell in service and before the arriving cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// X, cells waiting.
    pub waiting: u64,
    /// Y_i, cells of the arriving cell's VC waiting. Only filled in where [`Needs::vc_counts`].
    pub waiting_of_vc: u64,
    /// N_a, VCs with cells waiting. Only filled in where [`Needs::vc_counts`].
    pub active_vcs: u64,
}

/// The cell in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// Number of its flow among those of the port.
    pub vc: u32,
    /// Whether it is the first one seen of its frame.
    pub begins: bool,
    /// Whether it ends its frame.
    pub eom: bool,
    /// Whether it has low priority (CLP = 1).
    pub tagged: bool,
    /// Whether it is dropped whatever the policy says, with the rest of its frame. Only cells that policies with
    /// [`Needs::every_cell`] are asked about can be; with [`Needs::lost_cells`] each of them comes.
    pub lost: bool,
    /// Where it finds the port idle: for how many whole cell times of the port that has been so, or any number without [`Needs::idle_time`].
    pub idle_cells: Option<u64>,
    /// The queue's stream for draws, which the policy addresses by number.
    pub draws: Stream,
}

impl Arriving {
    /// The first cell of `run`, none of whose frame is lost.
    pub fn first_of(
        run: &Run,
        begins: bool,
        vc: u32,
        idle_cells: Option<u64>,
        draws: Stream,
    ) -> Arriving {
        Arriving {
            vc,
            begins,
            eom: run.first_ends_frame(),
            tagged: run.flags & TAGGED != 0,
            lost: false,
            idle_cells,
            draws,
        }
    }
}

/// A run whose cells come one per cell time, about which a policy is asked before any is taken.
#[derive(Debug)]
pub struct Asked {
    /// Arrival of the next cell, and what the policy is told of it.
    pub time: Time,
    /// See `time`.
    pub cell: Arriving,
    /// Whether each cell is a frame of its own.
    are_single: bool,
    /// How many cells there are before the one that ends the frame.
    before_eom: u32,
    /// X as its first cell would find it, were it the next of all: below zero if it would not find the port busy.
    pub waiting: i64,
}

impl Asked {
    /// The cells of `run`, of the first of which the policy is told this.
    #[inline(always)]
    pub fn new(run: &Run, cell: Arriving, waiting: i64) -> Asked {
        let ends = run.flags & ENDS_FRAME != 0;
        Asked {
            time: run.time,
            cell,
            waiting,
            are_single: run.is_single(),
            before_eom: if ends { run.n - 1 } else { u32::MAX },
        }
    }

    /// Goes on to the cell after this one, `c` later.
    #[inline(always)]
    pub fn go_on(&mut self, c: Span) {
        self.time += c;
        self.cell.begins = self.are_single;
        self.before_eom = self.before_eom.wrapping_sub(1);
        self.cell.eom = self.are_single || self.before_eom == 0;
    }
}

/// So many cells of each of some runs, which take turns.
#[derive(Clone, Copy, Debug)]
pub struct Together<'a> {
    /// The runs, of as many VCs.
    pub runs: &'a [Asked],
    /// Cells of each.
    pub cells: u64,
    /// Their distance.
    pub period: Span,
    /// X as any of them finds it is no less, and no more, if all come in.
    pub least: u64,
    /// See `least`.
    pub most: u64,
}

/// What a policy needs to be told. Kernels and queues do no more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Y_i and N_a.
    pub vc_counts: bool,
    /// Every cell that arrives, those that find the port idle too, instead of the first cell of each frame that finds the port busy.
    pub every_cell: bool,
    /// Among them those of lost frames, which change what the policy knows. One that does not need them may be asked about them all the same.
    pub lost_cells: bool,
    /// How long the port has been idle. For policies with `every_cell` only: others are not asked where they find it so.
    pub idle_time: bool,
    /// That the cells which wait can be pushed out. Such a queue is served by a kernel that stores them.
    pub stored_cells: bool,
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The cell may come in while there is room; at the first cell of a frame: its others too.
    Accept,
    /// The same with low priority from here on (CLP = 1); for this cell alone. For policies with [`Needs::every_cell`] only.
    Tag,
    /// It is dropped; at the first cell of a frame: its others too.
    Refuse(DropReason),
    /// It is dropped alone, at the first cell of a frame too, which is damaged.
    RefuseAlone(DropReason),
    /// It comes in, and the cell at the front of its queue is dropped in its favour. For policies with [`Needs::every_cell`] and
    /// [`Needs::stored_cells`] only.
    PushOut,
    /// The same with all that waits of the frame at the front.
    PushOutFrame,
}

impl Decision {
    /// A refusal by the policy, or none.
    fn refuse_if(refuses: bool) -> Decision {
        if refuses {
            Decision::Refuse(DropReason::Policy)
        } else {
            Decision::Accept
        }
    }
}

/// What a drop policy decides, its thresholds resolved for one class queue.
#[enum_dispatch]
pub trait DropRule {
    /// What it must be told.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// What becomes of `cell`, which arrives at `now` and sees `queue`.
    fn admit(&mut self, _now: Time, _cell: &Arriving, _queue: &QueueView) -> Decision {
        Decision::Accept
    }

    /// Whether all these cells come in without a tag, in whatever order they take turns. If so, it takes note of them as if it had been asked about each. To say that
    /// they do not costs speed only: then it is asked about one after the other.
    fn admits_all(&mut self, _cells: &Together) -> bool {
        false
    }

    /// Above how many cells a frame that sees `queue` is refused, for traces: cells of X, or of Y_i with
    /// [`Needs::vc_counts`]. `None` where no frame is refused.
    fn threshold(&self, _queue: &QueueView) -> Option<f64> {
        None
    }

    /// The average queue that it decides by, cells; `None` where it keeps none.
    fn average(&self) -> Option<f64> {
        None
    }

    /// The drop or mark probability that its curve gives for this average; `None` where it has no curve.
    fn probability(&self) -> Option<f64> {
        None
    }

    /// A true lower bound on the X at which a cell that it is asked about can be refused, as close as can be: kernels take cells
    /// together below it, and ports where nothing ever waits are left out of the run unless it is 0. To say too little costs speed
    /// only: the kernel that skips no question serves what says 0. A policy with [`Needs::every_cell`] may say 1 if it refuses nothing
    /// where nothing has ever waited.
    fn smallest_refusal(&self) -> u64 {
        0
    }
}

/// A drop policy at one class queue.
#[enum_dispatch(DropRule)]
#[derive(Clone, Debug)]
pub enum Policy {
    /// See the file of that name, here and below.
    TailDrop,
    /// Partial packet discard.
    Ppd,
    /// Early packet discard.
    Epd,
    /// Selective drop.
    SelectiveDrop,
    /// Fair Buffer Allocation.
    Fba,
    /// Drop from front.
    DropFromFront,
    /// Scheme one.
    GcraEpd,
    /// Scheme two.
    GcraRoundRobin,
    /// The scheme of chapter 8.
    GcraTwoThresholds,
    /// Differential Fair Buffer Allocation.
    Dfba,
    /// ATM-RED.
    AtmRed,
    /// RED by single cells.
    CellRed,
    /// RED by whole frames.
    PacketRed,
    /// Drop from front, by frames.
    FrameDropFromFront,
    #[cfg(test)]
    EveryThird(testing::EveryThird),
}

impl Policy {
    /// The policy `spec` for a buffer of so many cells (`None`: unlimited, then thresholds that are relative to the buffer are
    /// never reached), and flows with these contracts, by local number.
    pub fn new(spec: &DropPolicy, buffer: Option<u64>, contracts: &[Option<Terms>]) -> Policy {
        match *spec {
            #[cfg(test)]
            DropPolicy::TailDrop => testing::tail_drop(),
            #[cfg(not(test))]
            DropPolicy::TailDrop => TailDrop.into(),
            DropPolicy::Ppd => Ppd.into(),
            DropPolicy::Epd { threshold, reserve } => Epd::new(threshold, reserve, buffer).into(),
            DropPolicy::SelectiveDrop { r, z } => SelectiveDrop::new(r, z, buffer).into(),
            DropPolicy::Fba { r, z, k_fba } => Fba::new(r, z, k_fba.or(buffer), buffer).into(),
            DropPolicy::DropFromFront => DropFromFront::new(buffer).into(),
            DropPolicy::GcraEpd {
                threshold,
                export_tag,
            } => GcraEpd::new(threshold, export_tag, buffer, contracts).into(),
            DropPolicy::GcraRoundRobin {
                threshold,
                keep_credit,
                export_tag,
            } => GcraRoundRobin::new(threshold, keep_credit, export_tag, buffer, contracts).into(),
            DropPolicy::GcraTwoThresholds {
                low,
                threshold,
                export_tag,
            } => GcraTwoThresholds::new(low, threshold, export_tag, buffer, contracts).into(),
            DropPolicy::Dfba {
                low,
                high,
                z,
                alpha,
            } => Dfba::new([low, high], z, alpha, buffer, contracts).into(),
            DropPolicy::AtmRed(red) => AtmRed::new(&red, buffer, contracts.len()).into(),
            DropPolicy::CellRed(red) => CellRed::new(&red, buffer).into(),
            DropPolicy::PacketRed(red) => PacketRed::new(&red, buffer).into(),
            DropPolicy::FrameDropFromFront => FrameDropFromFront::new(buffer).into(),
        }
    }
}

/// `threshold` in cells as an exact fraction; `None` when it is relative to an unlimited buffer.
fn resolve(threshold: Threshold, buffer: Option<u64>) -> Option<Ratio> {
    match threshold {
        Threshold::Cells(cells) => Some(Ratio::new(cells, 1)),
        Threshold::Fraction(f) => buffer.map(|k| Ratio::new(f.num * k, f.den)),
    }
}

/// Whether `x > r`, exactly.
fn exceeds(x: u64, r: Ratio) -> bool {
    u128::from(x) * u128::from(r.den) > u128::from(r.num)
}

/// Whether `x < r`, exactly; always where `r` is never reached.
fn below(x: u64, r: Option<Ratio>) -> bool {
    r.is_none_or(|r| u128::from(x) * u128::from(r.den) < u128::from(r.num))
}

/// The smallest integer above `r`.
fn first_above(r: Option<Ratio>) -> u64 {
    r.map_or(u64::MAX, |r| r.num / r.den + 1)
}
