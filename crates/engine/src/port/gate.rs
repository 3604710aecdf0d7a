//! The gate of a class queue: every decision about a cell that arrives at a port is taken here (model section 6, acceptance).
//!
//! The gate knows the policer, the buffer, the drop policy and what becomes of the rest of a damaged frame. It is told a run of cells and
//! judges the first one, and how many of those behind share its fate. Kernels may leave out the question where the answer is known
//! to be *accept*: below the buffer, and below [`Gate::refusal`] for the first cell of a frame. A gate that [judges each](Gate::judges_each)
//! cell leaves no such room.

use super::drop::{Arriving, Decision, DropRule, Needs, Policy, QueueView, Together};
use super::police::{PoliceRule, Policer, Ruling};
use crate::cells::{ENDS_FRAME, Fate, FrameState, RM, Run};
use crate::rng::Stream;
use crate::scenario::{ClassQueue, RestOfFrame};
use crate::tally::DropReason;
use crate::units::Time;

/// One class queue's gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// K, cells; `u64::MAX` when unlimited.
    buffer: u64,
    /// The X beyond which what waits could not leave in the time that is told, cells.
    most: u64,
    policer: Option<Policer>,
    policy: Policy,
    rest: RestOfFrame,
    /// For the policy's draws.
    draws: Stream,
}

/// What happens to a cell that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is taken.
    Accept,
    /// It is taken; the cell at the front of its class queue is dropped in its favour, for the reason `front`.
    PushOut,
    /// It is taken; what waits of the frame at the front of its class queue is dropped in its favour, for the reason `front`.
    PushOutFrame,
    /// It is dropped.
    Refuse(DropReason),
    /// It would wait longer than time is told.
    Overdue,
}

impl Verdict {
    /// Whether the cell comes in.
    pub fn takes(self) -> bool {
        match self {
            Verdict::Accept | Verdict::PushOut | Verdict::PushOutFrame => true,
            Verdict::Refuse(_) | Verdict::Overdue => false,
        }
    }
}

/// A verdict, and how many cells of the run it holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// For each of them.
    pub verdict: Verdict,
    /// At least 1.
    pub cells: u32,
    /// Whether the cell, if it is taken, goes on with low priority (CLP = 1) though it came with high.
    pub tagged: bool,
}

impl Judgement {
    /// Of a cell that goes on as it came, or not at all.
    fn new(verdict: Verdict, cells: u32) -> Judgement {
        let tagged = false;
        Judgement {
            verdict,
            cells,
            tagged,
        }
    }
}

/// Whether the gate of `queue` is asked about every cell, lost ones and those that find the port idle too.
pub fn judges_each(queue: &ClassQueue) -> bool {
    let policy = Policy::new(&queue.drop, queue.buffer, &[]);
    queue.police.is_some() || policy.needs().every_cell
}

/// Whether the gate of `queue` may push out cells that wait.
pub fn pushes_out(queue: &ClassQueue) -> bool {
    let policy = Policy::new(&queue.drop, queue.buffer, &[]);
    policy.needs().stored_cells
}

/// The smallest X at which the policy of `queue` may refuse a frame.
pub fn smallest_refusal(queue: &ClassQueue) -> u64 {
    Policy::new(&queue.drop, queue.buffer, &[]).smallest_refusal()
}

/// Whether the gate of `queue` may turn a cell away however few wait.
pub fn refuses_any(queue: &ClassQueue) -> bool {
    queue.police.is_some() || smallest_refusal(queue) == 0
}

impl Gate {
    /// Behind `policer`, if there is one, with a buffer of `buffer` cells (`None`: unlimited), `most` of which can leave in the time that is
    /// told; the policy draws from `draws`.
    pub fn new(
        buffer: Option<u64>,
        most: u64,
        policer: Option<Policer>,
        policy: Policy,
        rest: RestOfFrame,
        draws: Stream,
    ) -> Gate {
        Gate {
            buffer: buffer.unwrap_or(u64::MAX),
            most,
            policer,
            policy,
            rest,
            draws,
        }
    }

    /// What policer and policy must be told.
    pub fn needs(&self) -> Needs {
        let needs = self.policy.needs();
        Needs {
            every_cell: needs.every_cell || self.policer.is_some(),
            lost_cells: needs.lost_cells || self.policer.is_some(),
            ..needs
        }
    }

    /// Whether it is asked about every cell, lost ones and those that find the port idle too.
    pub fn judges_each(&self) -> bool {
        self.needs().every_cell
    }

    /// The smallest X at which a cell of an accepted frame can be refused: 0 where the policy is asked about every cell.
    pub fn full(&self) -> u64 {
        if self.needs().every_cell {
            0
        } else {
            self.buffer.min(self.most)
        }
    }

    /// The smallest X at which the first cell of a frame can be refused.
    pub fn refusal(&self) -> u64 {
        self.full().min(self.policy.smallest_refusal())
    }

    /// Whether every cell is put to the policy, and to nothing before it.
    pub fn asks_policy_alone(&self) -> bool {
        self.policy.needs().every_cell && self.policer.is_none()
    }

    /// The smallest X at which a cell that the policy lets in is refused.
    pub fn room(&self) -> u64 {
        self.buffer.min(self.most)
    }

    /// What the policy alone says about the first cell of `run`, none of whose frame is lost; see [`Gate::judge`]. If that is *accept* and there
    /// is room, the cell is taken. Otherwise it is to be told to [`Gate::judge`].
    #[inline(always)]
    pub fn ask_policy(
        &mut self,
        run: &Run,
        begins: bool,
        vc: u32,
        queue: &QueueView,
        idle_cells: Option<u64>,
    ) -> Decision {
        let cell = self.first_of(run, begins, vc, idle_cells);
        self.ask_policy_of(run.time, &cell, queue)
    }

    /// The same of a cell that is known, which arrives at `now`.
    #[inline(always)]
    pub fn ask_policy_of(&mut self, now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        match &mut self.policy {
            // By name, so that it becomes part of the loop over cells.
            Policy::AtmRed(policy) => policy.admit(now, cell, queue),
            // With copies, so that what the loop asks about need not stand in memory.
            policy => ask_other(policy, now, *cell, *queue),
        }
    }

    /// Whether the policy lets in all these cells: see [`DropRule::admits_all`].
    pub fn admits_all(&mut self, cells: &Together) -> bool {
        self.policy.admits_all(cells)
    }

    /// What the policy is told of the first cell of `run`, none of whose frame is lost.
    pub fn first_of(&self, run: &Run, begins: bool, vc: u32, idle_cells: Option<u64>) -> Arriving {
        Arriving::first_of(run, begins, vc, idle_cells, self.draws)
    }

    /// Judges the first cell of `run`, which arrives at `now`, `state` being that of its flow at this port, which is brought up to
    /// date. `vc` is the flow's number among those of the port; `idle_cells` tells, if the cell finds the port idle, since how many whole cell times,
    /// or any number where the policy does not ask; `decided` is what the policy has said, if it has been asked.
    #[expect(clippy::too_many_arguments, reason = "what a decision needs")]
    pub fn judge(
        &mut self,
        now: Time,
        run: &Run,
        state: &mut FrameState,
        vc: u32,
        queue: &QueueView,
        idle_cells: Option<u64>,
        decided: Option<Decision>,
    ) -> Judgement {
        let idle = idle_cells.is_some();
        let begins = run.is_single() || state.frame != Some(run.frame);
        if begins {
            *state = FrameState::accepted(run.frame);
        }
        let eom = run.first_ends_frame();
        let mut cell = Arriving::first_of(run, begins, vc, idle_cells, self.draws);
        let is_rm = run.flags & RM != 0;
        let ruling = match &mut self.policer {
            Some(policer) if !is_rm => policer.judge(now, &cell),
            _ => Ruling::Pass,
        };
        cell.tagged |= ruling == Ruling::Tag;
        let known = match ruling {
            Ruling::Drop => Some(DropReason::Police),
            Ruling::Pass | Ruling::Tag => self.known(state.fate, eom),
        };
        cell.lost = known.is_some();
        let mut decision = decided.unwrap_or(Decision::Accept);
        let asks = self.policy.needs().every_cell || (begins && !idle);
        if decided.is_none() && !is_rm && asks {
            decision = self.policy.admit(now, &cell, queue);
        }
        if let Some(reason) = known {
            if state.fate == Fate::Accepted {
                state.fate = Fate::Damaged;
            }
            return Judgement::new(Verdict::Refuse(reason), self.rest_of(run, reason));
        }
        let full = !idle && queue.waiting >= self.buffer;
        let verdict = match decision {
            Decision::Refuse(reason) => {
                if begins {
                    state.fate = Fate::Refused(reason);
                    return Judgement::new(Verdict::Refuse(reason), self.rest_of(run, reason));
                }
                state.fate = Fate::Damaged;
                Verdict::Refuse(reason)
            }
            Decision::RefuseAlone(reason) => {
                state.fate = Fate::Damaged;
                Verdict::Refuse(reason)
            }
            Decision::PushOut if queue.waiting > 0 => Verdict::PushOut,
            Decision::PushOutFrame if queue.waiting > 0 => Verdict::PushOutFrame,
            _ if !full && !idle && queue.waiting >= self.most => Verdict::Overdue,
            _ if full => {
                state.fate = Fate::Damaged;
                Verdict::Refuse(DropReason::Full)
            }
            _ => Verdict::Accept,
        };
        Judgement {
            verdict,
            cells: 1,
            tagged: ruling == Ruling::Tag || decision == Decision::Tag,
        }
    }

    /// Why a cell is dropped whatever room there is, given the fate of its frame so far.
    fn known(&self, fate: Fate, eom: bool) -> Option<DropReason> {
        match fate {
            Fate::Accepted => None,
            Fate::Refused(reason) => Some(reason),
            Fate::Damaged => self.drops_rest(eom).then_some(DropReason::Rest),
        }
    }

    /// How many cells of `run` are dropped with the first one of them, as the rest of a frame that was refused or damaged: all, whenever
    /// they arrive, unless somebody has to see each.
    fn rest_of(&self, run: &Run, reason: DropReason) -> u32 {
        if run.is_single() || self.needs().lost_cells {
            return 1;
        }
        let ends = run.flags & ENDS_FRAME != 0;
        let spared = reason == DropReason::Rest && ends && !self.drops_rest(true);
        run.n - u32::from(spared)
    }

    /// Whether a later cell of a damaged frame is dropped whatever room there is.
    fn drops_rest(&self, eom: bool) -> bool {
        match self.rest {
            RestOfFrame::Accept => false,
            RestOfFrame::DropButEom => !eom,
            RestOfFrame::Drop => true,
        }
    }

    /// Whether the EOM of a frame that is pushed out is spared.
    pub fn spares_eom(&self) -> bool {
        match self.rest {
            RestOfFrame::DropButEom => true,
            RestOfFrame::Accept | RestOfFrame::Drop => false,
        }
    }

    /// The average queue that the policy decides by, cells, if it keeps one.
    pub fn average(&self) -> Option<f64> {
        self.policy.average()
    }

    /// The probability of its curve for this average, if the policy has one.
    pub fn probability(&self) -> Option<f64> {
        self.policy.probability()
    }

    /// What was allowed, of X or of Y_i, where a cell that found `queue` has just been dropped for `reason`; for traces.
    pub fn threshold(&self, reason: DropReason, queue: &QueueView) -> Option<f64> {
        match reason {
            DropReason::Policy => self.policy.threshold(queue),
            DropReason::Full | DropReason::Front => Some(self.buffer as f64),
            DropReason::Police | DropReason::Rest | DropReason::Link => None,
        }
    }
}

/// What `policy` says about `cell`, which arrives at `now`.
#[inline(never)]
fn ask_other(policy: &mut Policy, now: Time, cell: Arriving, queue: QueueView) -> Decision {
    match policy {
        // By name: a call less.
        Policy::GcraRoundRobin(policy) => policy.admit(now, &cell, &queue),
        policy => policy.admit(now, &cell, &queue),
    }
}

#[cfg(test)]
mod tests;
