//! Helpers for tests of policies: a policy that uses every freedom, and cells to put to any policy.

use super::tail_drop::TailDrop;
use super::{Arriving, Decision, DropRule, Needs, Policy, QueueView};
use crate::ground::format::{Clock, Format};
use crate::ground::rng::Stream;
use crate::ground::units::{BitRate, Ratio, Span, Time};
use crate::text::scenario::{ContractTerms, DropPolicy, RedAverage, RedParams, Threshold};
use std::cell::RefCell;

/// Policy that refuses every third cell that it is asked about, however few wait.
#[derive(Clone, Debug, Default)]
pub struct EveryThird {
    /// Whether the policy is asked about every cell, lost ones too.
    pub every_cell: bool,
    /// Number of cells asked about so far.
    pub asked: u64,
    /// Number of these cells that were lost anyway.
    pub lost: u64,
}

impl DropRule for EveryThird {
    fn needs(&self) -> Needs {
        Needs {
            every_cell: self.every_cell,
            lost_cells: self.every_cell,
            ..Needs::NOTHING
        }
    }

    fn admit(&mut self, _now: Time, cell: &Arriving, _queue: &QueueView) -> Decision {
        self.asked += 1;
        self.lost += u64::from(cell.lost);
        Decision::refuse_if(self.asked.is_multiple_of(3))
    }
}

thread_local! {
    static TAIL_DROP: RefCell<Option<Policy>> = const { RefCell::new(None) };
}

/// Runs `what` with `policy` in place of tail drop in this thread.
pub fn instead_of_tail_drop<T>(policy: Policy, what: impl FnOnce() -> T) -> T {
    TAIL_DROP.set(Some(policy));
    let done = what();
    TAIL_DROP.set(None);
    done
}

/// Tail drop, or the policy in place of it.
pub fn tail_drop() -> Policy {
    TAIL_DROP
        .with_borrow(Clone::clone)
        .unwrap_or_else(|| TailDrop.into())
}

/// Ticks per cell on the line of these tests, 100 Mb/s.
const TICKS: u64 = Format::AAL5.cell_time(BitRate(100_000_000)).0;

/// Contract with a minimum rate and MBS, but no PCR.
pub fn contract(mcr: u64, mbs: u64) -> ContractTerms {
    ContractTerms {
        pcr: None,
        cdvt: Span::ZERO,
        sustained: Some(BitRate(mcr)),
        mbs,
        mcr: Some(BitRate(mcr)),
        mfs: 4,
    }
}

/// A queue with X, Y_i and N_a.
pub fn queue(waiting: u64, waiting_of_vc: u64, active_vcs: u64) -> QueueView {
    QueueView {
        waiting,
        waiting_of_vc,
        active_vcs,
    }
}

/// Cell of the flow with local number `vc` that finds the port busy.
pub fn cell(vc: u32, begins: bool, eom: bool) -> Arriving {
    Arriving {
        vc,
        length: 53,
        places: 1,
        begins,
        eom,
        tagged: false,
        lost: false,
        idle_cells: None,
        draws: Stream::new(1, 0, "port", "drop"),
    }
}

/// RED parameters: w_q = `num` / `den`, thresholds 10 and 30 cells, max_p = 0.4 for a segment of 8
/// cells.
pub fn red(num: u64, den: u64) -> RedParams {
    RedParams {
        w_q: Ratio::new(num, den),
        max_p: Ratio::new(4, 10),
        min_th: Threshold::Cells(10),
        max_th: Threshold::Cells(30),
        segment_cells: Some(8),
        average: RedAverage::Cell,
        spacing: false,
        spare_short_frames: None,
    }
}

/// Driver that puts frames of four cells to a policy with K = 40. Time passes only in
/// [`Cells::wait`].
pub struct Cells {
    policy: Policy,
    now: Time,
    /// Whether cells arrive with CLP = 1.
    pub tagged: bool,
}

impl Cells {
    /// Creates a driver with two VCs.
    /// Each has a minimum rate of `mcr` cells per hundred cell times and bursts of `mbs` cells.
    pub fn new(policy: DropPolicy, mcr: u64, mbs: u64) -> Cells {
        let contract = contract(mcr * 1_000_000, mbs);
        Cells {
            policy: Policy::new(
                &policy,
                Some(40),
                &[Some(contract), Some(contract)],
                Span::ZERO,
                Clock::AAL5,
            ),
            now: Time(1_000_000),
            tagged: false,
        }
    }

    /// Lets `cells` cell times pass.
    pub fn wait(&mut self, cells: u64) {
        self.now += Span(cells * TICKS);
    }

    /// Fates of `n` frames of `vc` that all find X = `waiting`, one letter per cell.
    /// `+` is accepted, `t` accepted with a tag, `-` refused.
    pub fn frames(&mut self, vc: u32, waiting: u64, n: usize) -> Vec<String> {
        (0..n).map(|_| self.frame(vc, waiting)).collect()
    }

    fn frame(&mut self, vc: u32, waiting: u64) -> String {
        let mut lost = false;
        let of_frame = (0..4).map(|i| {
            let cell = Arriving {
                tagged: self.tagged,
                lost,
                ..cell(vc, i == 0, i == 3)
            };
            let queue = queue(waiting, 0, 0);
            let decision = self.policy.admit(self.now, &cell, &queue);
            lost |= matches!(decision, Decision::Refuse(_));
            match decision {
                _ if lost => '-',
                Decision::Tag => 't',
                _ => '+',
            }
        });
        of_frame.collect()
    }
}
