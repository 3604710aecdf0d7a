//! Drop policies: what a class queue refuses or pushes out before or when it is full. One file per
//! policy.
//!
//! A policy is given the time, the cell, and the parts of the queue state that it declares in
//! [`Needs`], and returns a [`Decision`]. It may keep state and take random draws from the stream
//! of its queue. To add a policy, write:
//! * its file here with a [`DropRule`];
//! * its line in [`Policy`] and in [`Policy::new`];
//! * a variant in `scenario::DropPolicy`, and an entry in the registry.

mod atm_red;
mod buckets;
mod cell_red;
mod dfba;
mod drop_from_front;
mod epd;
mod fba;
mod gcra_epd;
mod gcra_round_robin;
mod gcra_two_thresholds;
mod packet_red;
mod ppd;
pub mod program;
mod red;
mod selective_drop;
mod tail_drop;
#[cfg(test)]
pub mod testing;

use crate::ground::format::Clock;
use crate::ground::rng::Stream;
use crate::ground::units::{Ratio, Span, Time};
use crate::network::cells::{ENDS_FRAME, Run, TAGGED};
use crate::network::tally::DropReason;
use crate::text::program::Failure;
use crate::text::scenario::{ContractTerms, DropPolicy, Size, Threshold};
use enum_dispatch::enum_dispatch;

use atm_red::AtmRed;
use cell_red::CellRed;
use dfba::Dfba;
use drop_from_front::DropFromFront;
use epd::Epd;
use fba::Fba;
use gcra_epd::GcraEpd;
use gcra_round_robin::GcraRoundRobin;
use gcra_two_thresholds::GcraTwoThresholds;
use packet_red::PacketRed;
use ppd::Ppd;
use program::Programmed;
use red::Red;
use selective_drop::SelectiveDrop;
use tail_drop::TailDrop;

/// Class queue as a policy sees it, without the cell in service and before the arriving cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// X, places that the waiting cells take.
    pub waiting: u64,
    /// Y_i, places of the waiting cells of the arriving cell's VC. Valid only with
    /// [`Needs::vc_counts`].
    pub waiting_of_vc: u64,
    /// N_a, number of VCs with waiting cells. Valid only with [`Needs::vc_counts`].
    pub active_vcs: u64,
}

impl QueueView {
    /// The queue with `each` places for each that is counted.
    #[inline]
    pub fn times(self, each: u64) -> QueueView {
        QueueView {
            waiting: self.waiting * each,
            waiting_of_vc: self.waiting_of_vc * each,
            active_vcs: self.active_vcs,
        }
    }
}

/// The pool of a switch as a policy sees it before the arriving cell, in places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolView {
    /// Free places of the shared part.
    pub free: u64,
    /// Places in use.
    pub used: u64,
    /// r: places that only this queue uses.
    pub reserve: u64,
}

/// Arriving cell that a policy decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// Local number of the flow at the port.
    pub vc: u32,
    /// Bytes of the cell on the line.
    pub length: u32,
    /// Places that the cell takes in the queue.
    pub places: u32,
    /// Whether this is the first cell seen of its frame.
    pub begins: bool,
    /// Whether this cell ends its frame.
    pub eom: bool,
    /// Whether the cell has low priority (CLP = 1).
    pub tagged: bool,
    /// Whether the cell is dropped regardless of the policy, with the rest of its frame.
    /// Such cells are shown only to policies with [`Needs::every_cell`], and all of them to
    /// policies with [`Needs::lost_cells`].
    pub lost: bool,
    /// Idle time in whole cell times, if the cell finds the port idle.
    /// The number is arbitrary without [`Needs::idle_time`].
    pub idle_cells: Option<u64>,
    /// Random stream of the queue; the policy addresses draws by number.
    pub draws: Stream,
}

impl Arriving {
    /// Makes the first cell of `run`, whose frame has lost none.
    pub fn first_of(
        run: &Run,
        places: u32,
        begins: bool,
        vc: u32,
        idle_cells: Option<u64>,
        draws: Stream,
    ) -> Arriving {
        Arriving {
            vc,
            length: run.cell.bytes(),
            places,
            begins,
            eom: run.first_ends_frame(),
            tagged: run.flags & TAGGED != 0,
            lost: false,
            idle_cells,
            draws,
        }
    }
}

/// Run with one cell per cell time, about which a policy is asked before any cell is taken.
#[derive(Debug)]
pub struct AskedRun {
    /// Arrival time of the next cell.
    pub time: Time,
    /// Next cell as the policy sees it.
    pub cell: Arriving,
    /// Whether each cell is a separate frame.
    are_single: bool,
    /// Number of cells before the one that ends the frame.
    before_eom: u32,
    /// X as found by the first cell, were it the next of all; negative if it would find the port
    /// idle.
    pub waiting: i64,
}

impl AskedRun {
    /// Makes the question about `run`, whose first cell is `cell`.
    pub fn new(run: &Run, cell: Arriving, waiting: i64) -> AskedRun {
        let ends = run.flags & ENDS_FRAME != 0;
        AskedRun {
            time: run.time,
            cell,
            waiting,
            are_single: run.is_single(),
            before_eom: if ends { run.n - 1 } else { u32::MAX },
        }
    }

    /// Whether the last of the next `cells` cells, at least one, ends a frame.
    fn ends_with(&self, cells: u64) -> bool {
        self.are_single || u64::from(self.before_eom) + 1 == cells
    }

    /// Moves on to the next cell, `c` later.
    pub fn next_cell(&mut self, c: Span) {
        self.time += c;
        self.cell.begins = self.are_single;
        self.before_eom = self.before_eom.wrapping_sub(1);
        self.cell.eom = self.are_single || self.before_eom == 0;
    }
}

/// Equally many cells of several runs, which take turns.
#[derive(Clone, Copy, Debug)]
pub struct AskedRuns<'a> {
    /// Runs, each of another VC, by the arrival of their first cells.
    pub runs: &'a [AskedRun],
    /// Number of cells of each run.
    pub cells: u64,
    /// Time between two cells of a run.
    pub period: Span,
    /// Lower bound on X as any of the cells finds it, if all come in.
    pub least: u64,
    /// Upper bound on X as any of the cells finds it, if all come in.
    pub most: u64,
}

impl AskedRuns<'_> {
    /// Calls `what` with the X that each of the cells finds, in their order, if all come in. One
    /// leaves in each period.
    fn each_waiting(&self, mut what: impl FnMut(i64)) {
        let growth = self.runs.len() as i64 - 1;
        let mut joined = 0;
        for _ in 0..self.cells {
            for (place, run) in (0..).zip(self.runs) {
                what(run.waiting + joined + place);
            }
            joined += growth;
        }
    }
}

/// What a policy needs to know. Kernels and queues provide nothing beyond that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Provide Y_i and N_a.
    pub vc_counts: bool,
    /// Ask about every arriving cell, even at an idle port.
    /// Without this, only first cells of frames that find the port busy are shown.
    pub every_cell: bool,
    /// Ask about cells of lost frames too, because they change the policy's state.
    /// A policy without this need may still be asked about them.
    pub lost_cells: bool,
    /// Provide the idle time of the port.
    /// Only for policies with `every_cell`: others are not asked at an idle port.
    pub idle_time: bool,
    /// Store cells, since waiting ones can be pushed out. A kernel that stores cells serves the
    /// queue.
    pub stored_cells: bool,
}

impl Needs {
    /// Only first cells of frames that find the port busy, and nothing of the queue but X.
    const NOTHING: Needs = Needs {
        vc_counts: false,
        every_cell: false,
        lost_cells: false,
        idle_time: false,
        stored_cells: false,
    };
    /// Y_i and N_a.
    const VC_COUNTS: Needs = Needs {
        vc_counts: true,
        ..Needs::NOTHING
    };
    /// Every cell that is not the rest of a lost frame.
    const EVERY_CELL: Needs = Needs {
        every_cell: true,
        ..Needs::NOTHING
    };
}

/// Answer of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Accept the cell while there is room; at the first cell of a frame, its other cells too.
    Accept,
    /// Accept this cell alone, with low priority (CLP = 1) from here on.
    /// Only for policies with [`Needs::every_cell`].
    Tag,
    /// Drop the cell; at the first cell of a frame, its other cells too.
    Refuse(DropReason),
    /// Drop this cell alone, even at the first cell of a frame; the frame is damaged.
    RefuseAlone(DropReason),
    /// Accept the cell, and drop the cell at the front of its queue instead.
    /// Only for policies with [`Needs::every_cell`] and [`Needs::stored_cells`].
    PushOut,
    /// Accept the cell, and drop all waiting cells of the frame at the front of its queue instead.
    /// Only for policies with [`Needs::every_cell`] and [`Needs::stored_cells`].
    PushOutFrame,
    /// The policy has no answer, and the run ends: see [`DropRule::failure`].
    Fail,
}

impl Decision {
    /// Refuses by policy if `refuses`, else accepts.
    fn refuse_if(refuses: bool) -> Decision {
        if refuses {
            Decision::Refuse(DropReason::Policy)
        } else {
            Decision::Accept
        }
    }
}

/// Decisions of a drop policy, with thresholds resolved for one class queue.
#[enum_dispatch]
pub trait DropRule {
    /// What the policy needs to know.
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    /// Decides on `cell`, which arrives at `now` and finds `queue`.
    fn admit(&mut self, _now: Time, _cell: &Arriving, _queue: &QueueView) -> Decision {
        Decision::Accept
    }

    /// The pool, as the next cell to decide on finds it. Without a pool it is never given.
    fn see_pool(&mut self, _pool: PoolView) {}

    /// Whether all these cells come in without a tag, in any order of those of one
    /// instant.
    /// If so, the policy updates its state as if asked about each cell. A false "no" costs only
    /// speed: the policy is then asked about one cell after the other.
    fn admits_all(&mut self, _cells: &AskedRuns) -> bool {
        false
    }

    /// Limit above which a frame of the flow with local number `vc` that finds `queue` is refused,
    /// for traces; `None` if none is refused.
    /// The limit is on X, or on Y_i where the policy compares counts by VC.
    fn threshold(&self, _vc: u32, _queue: &QueueView) -> Option<f64> {
        None
    }

    /// Why the latest decision was [`Decision::Fail`], if so.
    fn failure(&self) -> Option<Failure> {
        None
    }

    /// Average and curve of a policy of the RED family.
    fn red(&self) -> Option<&Red> {
        None
    }

    /// Average queue length that the policy uses, cells; `None` if it keeps none.
    fn average(&self) -> Option<f64> {
        self.red().map(Red::average)
    }

    /// Drop or mark probability of the policy's curve for the current average; `None` without a
    /// curve.
    fn probability(&self) -> Option<f64> {
        self.red().map(Red::curve)
    }

    /// Parameters and state of the policy, with the state of the VC with this local number; for
    /// traces. `None` if the policy is no program.
    fn state(&self, _vc: u32) -> Option<String> {
        None
    }

    /// Lower bound on the X at which a cell that the policy is asked about can be refused.
    /// Kernels take cells together below it. Ports where nothing ever waits are left out of the run
    /// unless it is 0. A bound that is too low costs only speed: with 0, the kernel that skips no
    /// question serves the port. A policy with [`Needs::every_cell`] may return 1 if it refuses
    /// nothing if no cell has ever waited.
    fn smallest_refusal(&self) -> u64 {
        self.red().map_or(0, Red::smallest_refusal)
    }
}

/// Drop policy at one class queue; see the file of each variant.
#[enum_dispatch(DropRule)]
#[derive(Clone, Debug)]
pub enum Policy {
    /// Tail drop.
    TailDrop,
    /// Partial packet discard.
    Ppd,
    /// Early packet discard.
    Epd,
    /// Selective drop.
    SelectiveDrop,
    /// Fair Buffer Allocation.
    Fba,
    /// Drop from front, by cells or by frames.
    DropFromFront,
    /// Scheme one of `gfr-leaky-bucket`.
    GcraEpd,
    /// Scheme two of `gfr-leaky-bucket`.
    GcraRoundRobin,
    /// Scheme of chapter 8 of `gfr-leaky-bucket`.
    GcraTwoThresholds,
    /// Differential Fair Buffer Allocation.
    Dfba,
    /// ATM-RED.
    AtmRed,
    /// RED by single cells.
    CellRed,
    /// RED by whole frames.
    PacketRed,
    /// Program of the scenario.
    Programmed,
    #[cfg(test)]
    EveryThird(testing::EveryThird),
}

impl Policy {
    /// Creates the policy `spec` for a buffer of `buffer` places and flows with these contracts, by
    /// local number, on a link that takes `cell_time` for a cell.
    /// With an unlimited buffer (`None`), thresholds relative to the buffer are never reached.
    pub fn new(
        spec: &DropPolicy,
        buffer: Option<u64>,
        contracts: &[Option<ContractTerms>],
        cell_time: Span,
        clock: Clock,
    ) -> Policy {
        match *spec {
            DropPolicy::Program(ref policy) => {
                Programmed::new(policy, buffer, contracts, cell_time, clock).into()
            }
            #[cfg(test)]
            DropPolicy::TailDrop => testing::tail_drop(),
            #[cfg(not(test))]
            DropPolicy::TailDrop => TailDrop.into(),
            DropPolicy::Ppd => Ppd.into(),
            DropPolicy::Epd { threshold, reserve } => Epd::new(threshold, reserve, buffer).into(),
            DropPolicy::SelectiveDrop { r, z } => SelectiveDrop::new(r, z, buffer).into(),
            DropPolicy::Fba { r, z, k_fba } => {
                Fba::new(r, z, k_fba.map(Size::stated).or(buffer), buffer).into()
            }
            DropPolicy::DropFromFront => DropFromFront::cell(buffer).into(),
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
            DropPolicy::FrameDropFromFront => DropFromFront::frame(buffer).into(),
        }
    }
}

/// Converts `threshold` to an exact number of places; `None` if relative to an unlimited buffer.
fn resolve(threshold: Threshold, buffer: Option<u64>) -> Option<Ratio> {
    match threshold {
        Threshold::Cells(places) | Threshold::Bytes(places) => Some(Ratio::new(places, 1)),
        Threshold::Fraction(f) => buffer.map(|k| Ratio::new(f.num * k, f.den)),
    }
}

/// Whether `x > r`, exactly.
fn exceeds(x: u64, r: Ratio) -> bool {
    u128::from(x) * u128::from(r.den) > u128::from(r.num)
}

/// Whether `x < r`, exactly; always true without `r`, which is then never reached.
fn below(x: u64, r: Option<Ratio>) -> bool {
    r.is_none_or(|r| u128::from(x) * u128::from(r.den) < u128::from(r.num))
}

/// Smallest integer above `r`; without `r`, [`u64::MAX`].
fn first_above(r: Option<Ratio>) -> u64 {
    r.map_or(u64::MAX, |r| r.num / r.den + 1)
}
