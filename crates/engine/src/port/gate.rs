//! The gate of a class queue: every decision about a cell that arrives at a port is taken here (model section 6, acceptance).
//!
//! The gate knows the policer, the buffer, the drop policy and what becomes of the rest of a damaged frame. It is told a run of cells and
//! judges the first one, and how many of those behind share its fate. Kernels may leave out the question where the answer is known
//! to be *accept*: below the buffer, and below [`Gate::refusal`] for the first cell of a frame.

use super::drop::{Arriving, Decision, DropRule, Needs, Policy, QueueView};
use super::police::{PoliceRule, Policer, Ruling};
use crate::cells::{ENDS_FRAME, Fate, FrameState, RM, Run, TAGGED};
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

/// Whether the gate of `queue` may turn a cell away however few wait.
pub fn refuses_any(queue: &ClassQueue) -> bool {
    let policy = Policy::new(&queue.drop, queue.buffer, &[]);
    queue.police.is_some() || policy.smallest_refusal() == 0
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
            ..needs
        }
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
    /// is room, the cell is taken. Otherwise it is to be told to [`Gate::judge_decided`].
    #[inline]
    pub fn ask_policy(
        &mut self,
        run: &Run,
        begins: bool,
        vc: u32,
        queue: &QueueView,
        idle_cells: Option<u64>,
    ) -> Decision {
        let cell = Arriving {
            vc,
            begins,
            eom: run.first_ends_frame(),
            tagged: run.flags & TAGGED != 0,
            lost: false,
            idle_cells,
            draws: self.draws,
        };
        self.policy.admit(run.time, &cell, queue)
    }

    /// Judges the first cell of `run`, which arrives at `now`, `state` being that of its flow at this port, which is brought up to
    /// date. `vc` is the flow's number among those of the port; `idle_cells` tells, if the cell finds the port idle, since how many whole cell times,
    /// any number where no policy asks for every cell.
    pub fn judge(
        &mut self,
        now: Time,
        run: &Run,
        state: &mut FrameState,
        vc: u32,
        queue: &QueueView,
        idle_cells: Option<u64>,
    ) -> Judgement {
        self.judge_decided(now, run, state, vc, queue, idle_cells, None)
    }

    /// The same where the policy has been asked, and has `decided`.
    #[expect(clippy::too_many_arguments, reason = "what a decision needs")]
    pub fn judge_decided(
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
        let mut cell = Arriving {
            vc,
            begins,
            eom,
            tagged: run.flags & TAGGED != 0,
            lost: false,
            idle_cells,
            draws: self.draws,
        };
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
    /// they arrive, unless the policy has to see each.
    fn rest_of(&self, run: &Run, reason: DropReason) -> u32 {
        if run.is_single() || self.needs().every_cell {
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

    /// What was allowed, of X or of Y_i, where a cell that found `queue` has just been dropped for `reason`; for traces.
    pub fn threshold(&self, reason: DropReason, queue: &QueueView) -> Option<f64> {
        match reason {
            DropReason::Policy => self.policy.threshold(queue),
            DropReason::Full | DropReason::Front => Some(self.buffer as f64),
            DropReason::Police | DropReason::Rest | DropReason::Link => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::drop::testing;
    use crate::scenario::{DropPolicy, GcraForm, Police, PoliceAction, Threshold};
    use crate::units::Span;

    const NOW: Time = Time(5);

    fn draws() -> Stream {
        Stream::new(1, 0, "port", "drop")
    }

    fn gate(policy: &DropPolicy, rest: RestOfFrame) -> Gate {
        let buffer = Some(10);
        let policy = Policy::new(policy, buffer, &[]);
        Gate::new(buffer, 99, None, policy, rest, draws())
    }

    fn epd(rest: RestOfFrame) -> Gate {
        let threshold = Some(Threshold::Cells(5));
        gate(
            &DropPolicy::Epd {
                threshold,
                reserve: 0,
            },
            rest,
        )
    }

    /// Cells `cell` .. `cell + n` of frame `frame`, which has 12.
    fn run(frame: u32, cell: u32, n: u32) -> Run {
        Run {
            time: NOW,
            period: Span(1),
            n,
            frame,
            cell,
            flags: if cell + n == 12 { ENDS_FRAME } else { 0 },
            ..Run::default()
        }
    }

    fn queue(waiting: u64) -> QueueView {
        QueueView {
            waiting,
            ..QueueView::default()
        }
    }

    fn refused(reason: DropReason, cells: u32) -> Judgement {
        Judgement::new(Verdict::Refuse(reason), cells)
    }

    const ACCEPT: Judgement = Judgement {
        verdict: Verdict::Accept,
        cells: 1,
        tagged: false,
    };

    #[test]
    fn a_refused_frame_is_dropped_whole_even_when_the_port_is_idle() {
        let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::default());
        let first = gate.judge(NOW, &run(7, 0, 12), &mut state, 0, &queue(6), None);
        assert_eq!(first, refused(DropReason::Policy, 12));
        let later = gate.judge(NOW, &run(7, 4, 8), &mut state, 0, &queue(0), Some(0));
        assert_eq!(later, refused(DropReason::Policy, 8));
        let next = gate.judge(NOW, &run(8, 0, 12), &mut state, 0, &queue(5), None);
        assert_eq!((next, state), (ACCEPT, FrameState::accepted(8)));
    }

    #[test]
    fn a_frame_that_finds_the_port_idle_is_never_refused() {
        let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::default());
        let first = gate.judge(NOW, &run(0, 0, 12), &mut state, 0, &queue(6), Some(0));
        assert_eq!(first, ACCEPT);
    }

    #[test]
    fn the_policy_is_asked_at_the_first_cell_only() {
        let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::accepted(0));
        let later = gate.judge(NOW, &run(0, 3, 2), &mut state, 0, &queue(9), None);
        assert_eq!(later, ACCEPT);
        let full = gate.judge(NOW, &run(0, 4, 2), &mut state, 0, &queue(10), None);
        assert_eq!(full, refused(DropReason::Full, 1));
        assert_eq!(state.fate, Fate::Damaged);
    }

    #[test]
    fn the_rest_of_a_damaged_frame_goes_as_the_setting_says() {
        for (rest, with_eom, room) in [
            (RestOfFrame::Accept, ACCEPT, ACCEPT),
            (
                RestOfFrame::DropButEom,
                refused(DropReason::Rest, 3),
                ACCEPT,
            ),
            (
                RestOfFrame::Drop,
                refused(DropReason::Rest, 4),
                refused(DropReason::Rest, 1),
            ),
        ] {
            let mut gate = epd(rest);
            let damaged = || FrameState {
                frame: Some(0),
                fate: Fate::Damaged,
            };
            let mut state = damaged();
            assert_eq!(
                gate.judge(NOW, &run(0, 8, 4), &mut state, 0, &queue(3), None),
                with_eom
            );
            let mut state = damaged();
            assert_eq!(
                gate.judge(NOW, &run(0, 11, 1), &mut state, 0, &queue(3), None),
                room
            );
        }
    }

    #[test]
    fn what_could_never_leave_is_overdue_and_not_merely_full() {
        let policy = Policy::new(&DropPolicy::TailDrop, None, &[]);
        let mut gate = Gate::new(None, 6, None, policy, RestOfFrame::Accept, draws());
        assert_eq!((gate.full(), gate.refusal()), (6, 6));
        let mut state = FrameState::default();
        let mut judge = |waiting, idle: bool| {
            let judged = gate.judge(
                NOW,
                &run(0, 0, 12),
                &mut state,
                0,
                &queue(waiting),
                idle.then_some(0),
            );
            judged.verdict
        };
        assert_eq!([judge(5, false), judge(6, true)], [Verdict::Accept; 2]);
        assert_eq!(judge(6, false), Verdict::Overdue);
    }

    #[test]
    fn single_cells_are_judged_one_by_one() {
        let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::default());
        let cells = Run {
            flags: ENDS_FRAME | crate::cells::SINGLE_CELLS,
            ..run(0, 0, 5)
        };
        let first = gate.judge(NOW, &cells, &mut state, 0, &queue(6), None);
        assert_eq!(first, refused(DropReason::Policy, 1));
    }

    #[test]
    fn a_policer_comes_before_the_policy_and_is_told_of_every_cell() {
        let contract = testing::contract(1_000_000, 2);
        for (action, verdicts) in [
            (PoliceAction::Tag, [Verdict::Accept; 4]),
            (
                PoliceAction::Drop,
                [
                    Verdict::Accept,
                    Verdict::Accept,
                    Verdict::Refuse(DropReason::Police),
                    Verdict::Refuse(DropReason::Police),
                ],
            ),
        ] {
            let form = GcraForm::LeakyBucket;
            let policer = Policer::new(&Police::Gcra { action, form }, &[Some(contract)]);
            let policy = Policy::new(&DropPolicy::TailDrop, None, &[]);
            let rest = RestOfFrame::Accept;
            let mut gate = Gate::new(None, 99, Some(policer), policy, rest, draws());
            assert_eq!((gate.full(), gate.refusal()), (0, 0));
            let mut state = FrameState::default();
            for (cell, verdict) in (0..).zip(verdicts) {
                let run = run(0, cell, 12 - cell);
                let judged = gate.judge(NOW, &run, &mut state, 0, &queue(3), None);
                assert_eq!((judged.verdict, judged.cells), (verdict, 1));
                assert_eq!(judged.tagged, action == PoliceAction::Tag && cell >= 2);
            }
            let damaged = action == PoliceAction::Drop;
            assert_eq!(state.fate == Fate::Damaged, damaged);
        }
    }

    #[test]
    fn a_policy_can_push_out_what_waits_but_not_from_an_empty_queue() {
        let mut gate = gate(&DropPolicy::DropFromFront, RestOfFrame::Accept);
        let mut state = FrameState::default();
        let below = gate.judge(NOW, &run(0, 0, 12), &mut state, 0, &queue(9), None);
        assert_eq!(below, ACCEPT);
        let full = gate.judge(NOW, &run(0, 1, 11), &mut state, 0, &queue(10), None);
        assert_eq!(full.verdict, Verdict::PushOut);
        assert_eq!(state.fate, Fate::Accepted);
        assert_eq!(gate.threshold(DropReason::Front, &queue(10)), Some(10.0));
    }

    #[test]
    fn a_policy_that_looks_at_every_cell_is_told_of_each_and_keeps_state() {
        // Refuses every third cell that it is asked about.
        let third = Policy::EveryThird(testing::EveryThird::default());
        let mut gate = Gate::new(Some(10), 99, None, third, RestOfFrame::DropButEom, draws());
        assert_eq!((gate.full(), gate.refusal()), (0, 0));
        let mut state = FrameState::default();
        let mut verdicts = Vec::new();
        for cell in 0..12 {
            let run = run(0, cell, 12 - cell);
            let judged = gate.judge(
                NOW,
                &run,
                &mut state,
                0,
                &queue(1),
                (cell == 0).then_some(0),
            );
            assert_eq!(judged.cells, 1);
            verdicts.push(judged.verdict);
        }
        let rest = Verdict::Refuse(DropReason::Rest);
        assert_eq!(verdicts[..2], [Verdict::Accept; 2]);
        assert_eq!(verdicts[2], Verdict::Refuse(DropReason::Policy));
        assert_eq!(verdicts[3..11], [rest; 8]);
        // The EOM is spared, but it is the twelfth.
        assert_eq!(verdicts[11], Verdict::Refuse(DropReason::Policy));
        let Policy::EveryThird(rule) = &gate.policy else {
            unreachable!("it was made of one")
        };
        assert_eq!((rule.asked, rule.lost), (12, 8));
    }
}
