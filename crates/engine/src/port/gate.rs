//! The gate of a class queue, which decides about every cell that arrives (model section 6,
//! acceptance).
//!
//! A gate combines the policer, the buffer, the drop policy and the rule for the rest of a damaged
//! frame. Given a run of cells, it judges the first and says how many of the following share its
//! fate. A kernel may skip the gate if the answer must be *accept*: within [`Gate::limits`]. It may
//! not skip a gate that [judges each](Gate::judges_each) cell.

use super::drop::{Arriving, AskedRuns, Decision, DropRule, Needs, Policy, PoolView, QueueView};
use super::limits::Limits;
use super::police::{PoliceRule, Policer, Ruling};
use crate::ground::place::Place;
use crate::ground::rng::Stream;
use crate::ground::units::{Ratio, Time};
use crate::network::cells::{ENDS_FRAME, Fate, FrameState, RM, Run};
use crate::network::tally::DropReason;
use crate::text::program::Failure;
use crate::text::scenario::RestOfFrame;

/// The gate of one class queue.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Buffer size K in what the kernel counts; `u64::MAX` if unlimited.
    buffer: u64,
    counted: Counted,
    /// Whether a cell may take more than one place.
    counts_bytes: bool,
    /// K in places.
    k: u64,
    /// Number of waiting cells from which a new cell could not leave within the limit of simulated
    /// time.
    overdue_from: u64,
    policer: Option<Policer>,
    policy: Policy,
    /// Needs of the policy, which never change.
    policy_needs: Needs,
    rest: RestOfFrame,
    /// Random draws for the policy.
    draws: Stream,
    /// Share of the queue in the pool of the switch, if it takes part in one. Boxed, as there may be
    /// many gates, few of them with one.
    share: Option<Box<Share>>,
}

/// What a queue may take of a pool.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// What is a place.
    pub place: Place,
    /// r: places that only this queue uses.
    pub reserve: u64,
    /// Dynamic threshold, relative to the free places of the shared part.
    pub alpha: Option<Ratio>,
}

impl Share {
    /// s: places of the shared part that a queue of `x` places takes.
    #[inline]
    fn taken(&self, x: u64) -> u64 {
        x.saturating_sub(self.reserve)
    }

    /// d: places of the shared part that `places` more than `x` need.
    #[inline]
    pub fn needs(&self, x: u64, places: u64) -> u64 {
        self.taken(x + places) - self.taken(x)
    }

    /// Whether the dynamic threshold refuses a frame at a queue of `x` places while `free` are free.
    fn refuses(&self, x: u64, free: u64) -> bool {
        self.alpha.is_some_and(|alpha| {
            u128::from(self.taken(x)) * u128::from(alpha.den)
                >= u128::from(alpha.num) * u128::from(free)
        })
    }
}

/// What the kernel counts as X and Y_i, and how many places of the queue that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Cells, each of so many places.
    Cells(u64),
    /// Places, as the cells differ.
    Places(Place),
}

/// What the gate decides about an arriving cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The cell joins the queue.
    Accept,
    /// The cell joins the queue, and the cell at the front of its class queue is dropped for the
    /// reason `front`.
    PushOut,
    /// The cell joins the queue, and the waiting cells of the frame at the front of its class queue
    /// are dropped for the reason `front`. That frame's EOM may stay; see [`Gate::spares_eom`].
    PushOutFrame,
    /// The cell is dropped.
    Refuse(DropReason),
    /// The cell would wait beyond the limit of simulated time.
    Overdue,
    /// The policy has no answer: see [`Gate::failure`].
    Failed,
}

impl Verdict {
    /// Whether the cell joins the queue.
    pub fn takes(self) -> bool {
        match self {
            Verdict::Accept | Verdict::PushOut | Verdict::PushOutFrame => true,
            Verdict::Refuse(_) | Verdict::Overdue | Verdict::Failed => false,
        }
    }
}

/// A verdict and the number of cells of the run it holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Verdict for each of these cells.
    pub verdict: Verdict,
    /// Number of cells, at least 1.
    pub cells: u32,
    /// Whether the policer or the policy lowers the priority of an accepted cell (sets CLP = 1).
    pub tagged: bool,
    /// Whether the buffer or the policy refuses the cell. Cells of frames that are discarded
    /// already, and cells that are policed, are dropped without that.
    pub refused: bool,
}

impl Judgement {
    /// A judgement that tags no cell.
    fn new(verdict: Verdict, cells: u32) -> Judgement {
        let (tagged, refused) = (false, false);
        Judgement {
            verdict,
            cells,
            tagged,
            refused,
        }
    }
}

impl Gate {
    /// A gate behind `policer`, if any, with a buffer of `buffer` places (`None`: unlimited). At most
    /// `overdue_from` cells can leave within the limit of simulated time. The policy takes its
    /// random draws from `draws`.
    pub fn new(
        buffer: Option<u64>,
        counted: Counted,
        overdue_from: u64,
        policer: Option<Policer>,
        policy: Policy,
        rest: RestOfFrame,
        draws: Stream,
    ) -> Gate {
        Gate {
            buffer: buffer.map_or(u64::MAX, |k| match counted {
                Counted::Cells(of_each) => k / of_each,
                Counted::Places(_) => k,
            }),
            counted,
            counts_bytes: counted != Counted::Cells(1),
            k: buffer.unwrap_or(u64::MAX),
            overdue_from,
            policer,
            policy_needs: policy.needs(),
            policy,
            rest,
            draws,
            share: None,
        }
    }

    /// From now on its queue takes part in a pool.
    pub fn take_part(&mut self, share: Share) {
        self.share = Some(Box::new(share));
    }

    /// The share of a queue in a pool.
    #[inline]
    pub fn share(&self) -> &Share {
        self.share.as_deref().expect("the port is in a pool")
    }

    /// Places of a queue of which the kernel has counted `counted`.
    #[inline]
    pub fn places_of(&self, counted: u64) -> u64 {
        counted * self.counted.of_each()
    }

    /// What the policer and the policy need to see.
    pub fn needs(&self) -> Needs {
        let needs = self.policy_needs;
        Needs {
            every_cell: needs.every_cell || self.policer.is_some(),
            lost_cells: needs.lost_cells || self.policer.is_some(),
            ..needs
        }
    }

    /// Whether the gate must see every cell, including those of lost frames and those that find the
    /// port idle.
    pub fn judges_each(&self) -> bool {
        self.needs().every_cell
    }

    /// Limits on X within which no cell is refused; 0 if the gate judges each cell.
    pub fn limits(&self) -> Limits<u64> {
        match self.counted {
            Counted::Cells(of_each) if !self.needs().every_cell && self.share.is_none() => {
                let refusal = self.policy.smallest_refusal();
                Limits::new(self.room(0), refusal.div_ceil(of_each))
            }
            Counted::Cells(_) | Counted::Places(_) => Limits::new(0, 0),
        }
    }

    /// Whether the policy sees every cell and no policer stands before it.
    pub fn asks_policy_alone(&self) -> bool {
        self.policy_needs.every_cell && self.policer.is_none()
    }

    /// How many cells that the policy accepts may join `x` waiting ones.
    #[inline]
    pub fn room(&self, x: u64) -> u64 {
        self.buffer.min(self.overdue_from).saturating_sub(x)
    }

    /// The decision of the policy alone about the first cell of `run`, whose frame has lost no
    /// cell. The cell is accepted if the decision is *accept* and there is room. Otherwise the
    /// caller must pass the decision to [`Gate::judge`].
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

    /// The decision of the policy alone about a prepared `cell` that arrives at `now`; see
    /// [`Gate::ask_policy`].
    #[inline(always)]
    pub fn ask_policy_of(&mut self, now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        match &mut self.policy {
            // Named, so that this call is inlined into the loop over cells.
            Policy::AtmRed(policy) => policy.admit(now, cell, queue),
            // Passed by value, so that the loop can keep `cell` and `queue` in registers.
            policy => ask_other(policy, now, *cell, *queue),
        }
    }

    /// Whether the policy accepts all these cells: see [`DropRule::admits_all`].
    pub fn admits_all(&mut self, cells: &AskedRuns) -> bool {
        self.policy.admits_all(cells)
    }

    /// What the policy sees of the first cell of `run`, whose frame has lost no cell.
    pub fn first_of(&self, run: &Run, begins: bool, vc: u32, idle_cells: Option<u64>) -> Arriving {
        Arriving::first_of(run, 1, begins, vc, idle_cells, self.draws)
    }

    /// Judges the first cell of `run`, which arrives at `now`, and updates `state`, the frame state
    /// of its flow at this port.
    ///
    /// `vc` is the local number of the flow. `idle_cells` is `None` if the port is busy. Otherwise it
    /// is the number of whole cell times since the port became idle (any number if the policy does
    /// not need it). `decided` is the decision of the policy if it has already been asked. A kernel
    /// that counts places compares the number of waiting cells with [`Gate::overdue_from`] itself.
    #[expect(clippy::too_many_arguments, reason = "what a decision needs")]
    #[inline(always)]
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
        if self.counts_bytes {
            self.judge_by::<true, false>(now, run, state, vc, queue, idle_cells, decided, 0)
        } else {
            self.judge_by::<false, false>(now, run, state, vc, queue, idle_cells, decided, 0)
        }
    }

    /// [`Gate::judge`] of a queue in a pool that has `free` places in its shared part, and `used` ones in
    /// all.
    #[expect(clippy::too_many_arguments, reason = "what a decision needs")]
    pub fn judge_in_pool(
        &mut self,
        now: Time,
        run: &Run,
        state: &mut FrameState,
        vc: u32,
        queue: &QueueView,
        idle_cells: Option<u64>,
        [free, used]: [u64; 2],
    ) -> Judgement {
        let reserve = self.share().reserve;
        self.policy.see_pool(PoolView {
            free,
            used,
            reserve,
        });
        self.judge_by::<true, true>(now, run, state, vc, queue, idle_cells, None, free)
    }

    /// [`Gate::judge`] of a queue that counts bytes or, without `BYTES`, cells; with `POOL` of one in
    /// a pool, whose shared part has `free` places.
    #[expect(clippy::too_many_arguments, reason = "what a decision needs")]
    fn judge_by<const BYTES: bool, const POOL: bool>(
        &mut self,
        now: Time,
        run: &Run,
        state: &mut FrameState,
        vc: u32,
        queue: &QueueView,
        idle_cells: Option<u64>,
        decided: Option<Decision>,
        free: u64,
    ) -> Judgement {
        let idle = idle_cells.is_some();
        let begins = run.is_single() || state.frame != Some(run.frame);
        if begins {
            *state = FrameState::accepted(run.frame);
        }
        let eom = run.first_ends_frame();
        let places = match self.counted {
            Counted::Places(place) if BYTES || POOL => place.of(run.cell.bytes()),
            Counted::Cells(of_each) if BYTES => of_each,
            _ => 1,
        };
        let mut cell = Arriving::first_of(run, places as u32, begins, vc, idle_cells, self.draws);
        let is_rm = run.flags & RM != 0;
        let ruling = match &mut self.policer {
            Some(policer) if !is_rm => policer.judge(now, &cell),
            _ => Ruling::Pass,
        };
        cell.tagged |= ruling == Ruling::Tag;
        let known = match ruling {
            Ruling::Drop => Some(DropReason::Police),
            Ruling::Pass | Ruling::Tag => self.forced_drop(state.fate, eom),
        };
        cell.lost = known.is_some();
        let mut decision = decided.unwrap_or(Decision::Accept);
        let asks = self.policy_needs.every_cell || (begins && !idle);
        if decided.is_none() && !is_rm && asks {
            decision = if BYTES {
                self.policy.admit(now, &cell, &self.in_places(queue))
            } else {
                self.policy.admit(now, &cell, queue)
            };
        }
        if decision == Decision::Fail {
            return Judgement::new(Verdict::Failed, 1);
        }
        if let Some(reason) = known {
            if state.fate == Fate::Accepted {
                state.fate = Fate::Damaged;
            }
            return Judgement::new(Verdict::Refuse(reason), self.rest_of(run, reason));
        }
        let mut full = !idle && self.lacks_room::<BYTES>(places, queue.waiting);
        if POOL && !idle {
            let (share, x) = (*self.share(), self.places_of(queue.waiting));
            let needs = share.needs(x, places);
            let lets_in = matches!(decision, Decision::Accept | Decision::Tag);
            if begins && !is_rm && lets_in && needs > 0 && share.refuses(x, free) {
                decision = Decision::Refuse(DropReason::Policy);
            }
            full |= needs > free;
        }
        let may_push_out = || queue.waiting > 0 && (!BYTES || places <= self.k);
        let verdict = match decision {
            Decision::Refuse(reason) => {
                if begins {
                    let cells = self.refuse_frame(run, state, reason);
                    let refused = true;
                    return Judgement {
                        refused,
                        ..Judgement::new(Verdict::Refuse(reason), cells)
                    };
                }
                state.fate = Fate::Damaged;
                Verdict::Refuse(reason)
            }
            Decision::RefuseAlone(reason) => {
                state.fate = Fate::Damaged;
                Verdict::Refuse(reason)
            }
            Decision::PushOut if may_push_out() => Verdict::PushOut,
            Decision::PushOutFrame if may_push_out() => Verdict::PushOutFrame,
            _ if !full && !idle && self.is_overdue::<BYTES>(queue.waiting) => Verdict::Overdue,
            _ if full => {
                state.fate = Fate::Damaged;
                Verdict::Refuse(DropReason::Full)
            }
            _ => Verdict::Accept,
        };
        Judgement {
            verdict,
            cells: 1,
            refused: matches!(verdict, Verdict::Refuse(_)),
            tagged: ruling == Ruling::Tag || decision == Decision::Tag,
        }
    }

    /// Refuses the frame that begins with `run`. Returns how many cells of the run are dropped.
    fn refuse_frame(&self, run: &Run, state: &mut FrameState, reason: DropReason) -> u32 {
        state.frame = Some(run.frame);
        state.fate = Fate::Refused(reason);
        self.rest_of(run, reason)
    }

    /// Whether the first cell of `run` is the rest of a frame that is discarded already.
    pub fn discards(&self, run: &Run, state: &FrameState) -> bool {
        !run.is_single()
            && state.frame == Some(run.frame)
            && self
                .forced_drop(state.fate, run.first_ends_frame())
                .is_some()
    }

    /// Why a cell is dropped regardless of room, given the fate of its frame so far.
    fn forced_drop(&self, fate: Fate, eom: bool) -> Option<DropReason> {
        match fate {
            Fate::Accepted => None,
            Fate::Refused(reason) => Some(reason),
            Fate::Damaged => self.drops_rest(eom).then_some(DropReason::Rest),
        }
    }

    /// How many cells of `run` are dropped at once as the rest of a refused or damaged frame,
    /// including the first. Just one if the policer or the policy must see each lost cell.
    fn rest_of(&self, run: &Run, reason: DropReason) -> u32 {
        if run.is_single() || self.needs().lost_cells {
            return 1;
        }
        let ends = run.flags & ENDS_FRAME != 0;
        let spared = reason == DropReason::Rest && ends && !self.drops_rest(true);
        run.n - u32::from(spared)
    }

    /// Whether a later cell of a damaged frame is dropped regardless of room.
    fn drops_rest(&self, eom: bool) -> bool {
        match self.rest {
            RestOfFrame::Accept => false,
            RestOfFrame::DropButEom => !eom,
            RestOfFrame::Drop => true,
        }
    }

    /// Whether the EOM cell survives when its frame is pushed out.
    pub fn spares_eom(&self) -> bool {
        match self.rest {
            RestOfFrame::DropButEom => true,
            RestOfFrame::Accept | RestOfFrame::Drop => false,
        }
    }

    fn is_overdue<const BYTES: bool>(&self, counted: u64) -> bool {
        counted >= self.overdue_from && !(BYTES && self.counts_places())
    }

    /// Number of waiting cells from which a new cell could not leave within the limit of simulated
    /// time.
    pub fn overdue_from(&self) -> u64 {
        self.overdue_from
    }

    /// Whether the queue lacks room for `places`, where a kernel has counted `waiting`.
    pub fn lacks_room<const BYTES: bool>(&self, places: u64, waiting: u64) -> bool {
        if BYTES && self.counts_places() {
            places > self.buffer.saturating_sub(waiting)
        } else {
            waiting >= self.buffer
        }
    }

    /// A queue in places, of one in what the kernel counts.
    pub fn in_places(&self, queue: &QueueView) -> QueueView {
        queue.times(self.counted.of_each())
    }

    /// Whether a cell may take more than one place: the queue counts bytes.
    #[inline]
    pub fn counts_bytes(&self) -> bool {
        self.counts_bytes
    }

    /// Whether the kernel must count places.
    pub fn counts_places(&self) -> bool {
        matches!(self.counted, Counted::Places(_))
    }

    /// The average queue the policy decides by, places, if it keeps one.
    pub fn average(&self) -> Option<f64> {
        self.policy.average()
    }

    /// The drop probability on the policy's curve at the current average, if it has one.
    pub fn probability(&self) -> Option<f64> {
        self.policy.probability()
    }

    /// Why the policy had no answer.
    #[cold]
    pub fn failure(&self) -> Failure {
        self.policy.failure().expect("it failed")
    }

    /// Parameters and state of the policy, with the state of the VC with local number `vc`, if it
    /// is a program.
    pub fn policy_state(&self, vc: u32) -> Option<String> {
        self.policy.state(vc)
    }

    /// The limit on X or Y_i that applied when a cell of the flow with local number `vc`, which found
    /// `queue`, was dropped for `reason`; for traces.
    pub fn threshold(&self, reason: DropReason, vc: u32, queue: &QueueView) -> Option<f64> {
        match reason {
            DropReason::Policy => self
                .policy
                .threshold(vc, &queue.times(self.counted.of_each())),
            DropReason::Full | DropReason::Front => Some(self.k as f64),
            DropReason::Police | DropReason::Rest | DropReason::Link => None,
        }
    }
}

impl Counted {
    /// Places of what the kernel counts one by one.
    fn of_each(self) -> u64 {
        match self {
            Counted::Cells(of_each) => of_each,
            Counted::Places(_) => 1,
        }
    }
}

/// The decision of `policy` about `cell`, which arrives at `now`; kept out of line.
#[inline(never)]
fn ask_other(policy: &mut Policy, now: Time, cell: Arriving, queue: QueueView) -> Decision {
    match policy {
        // Named, to save a call.
        Policy::GcraRoundRobin(policy) => policy.admit(now, &cell, &queue),
        policy => policy.admit(now, &cell, &queue),
    }
}

#[cfg(test)]
mod tests;
