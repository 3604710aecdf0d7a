//! Service of a queue whose gate judges each cell: a policer, a leaky bucket, an average of X.
//!
//! Such a gate must see every cell, in order, with the X that the cell finds. X is still a
//! difference of times and no accepted cell is ever pushed out, so no cell is stored. Each cell
//! costs the gate's decision, its place behind the last one, and its way on.
//!
//! If the policy alone is asked, everything else is updated once per run of accepted cells
//! (`judged_in_turns.rs`). Cells that come one per cell time are taken in rounds (`rounds.rs`), and
//! cells of one flow that stand as runs of one cell together (`singles.rs`).

use super::Arithmetic;
use super::round_inputs::RoundPlan;
use crate::ground::units::{SignedTicks, Span, Time};
use crate::network::cells::{Fate, RM, Run};
use crate::network::fabric::Fabric;
use crate::network::tally::raise;
use crate::port::drop::{AskedRun, AskedRuns, Decision, QueueView};
use crate::port::fast_paths::FastPath;
use crate::port::gate::Gate;
use crate::port::{Inputs, NextInput};

/// State for a gate that judges each cell.
#[derive(Debug)]
pub struct Judged {
    /// Whether cells can be taken in turns: the policy alone is asked, and no Y_i are kept.
    can_interleave: bool,
    /// Whether the policy needs the time that the port has been idle.
    asks_idle_time: bool,
    /// One tick with departures first, otherwise 0: a cell that ends at t has then left for a cell
    /// that comes at t.
    late: Span,
    /// Correction of S - t at the beginning of a busy period.
    first: Span,
    /// Last division by the cell time.
    quotient: Quotient,
    /// Scratch space: runs whose cells the policy is asked about before any is taken.
    asked: Vec<AskedRun>,
}

/// A cached division of ticks by the cell time. From cell to cell the quotient changes by at most
/// one most often, which needs no division.
#[derive(Debug, Default)]
struct Quotient {
    cells: i64,
    ticks: i64,
}

impl Quotient {
    /// The whole cell times of `c` in `ticks`, which must not be negative.
    #[inline(always)]
    fn of(&mut self, ticks: SignedTicks, c: Span) -> u64 {
        let (ticks, c) = (ticks.0, c.0 as i64);
        let rest = ticks - self.ticks;
        // Changes the quotient by one or not at all, without a branch.
        let more = i64::from(rest >= c) - i64::from(rest < 0);
        self.cells += more;
        self.ticks += more * c;
        if !(0..c).contains(&(ticks - self.ticks)) {
            self.cells = (ticks as u64 / c as u64) as i64;
            self.ticks = self.cells * c;
        }
        self.cells as u64
    }
}

impl Judged {
    /// The state for `gate`, if it judges each cell, at a port with this cell time. `counts` says
    /// whether Y_i are kept.
    pub fn new(gate: &Gate, cell_time: Span, arrival_first: bool, counts: bool) -> Option<Judged> {
        gate.judges_each().then(|| Judged {
            can_interleave: gate.asks_policy_alone() && !counts,
            asks_idle_time: gate.needs().idle_time,
            late: Span(u64::from(!arrival_first)),
            first: if arrival_first { cell_time } else { Span::ZERO },
            quotient: Quotient::default(),
            asked: Vec::new(),
        })
    }

    /// Whole cell times `c` that the port, free since `free`, has been idle at `t`; 0 if the policy
    /// does not need it.
    #[inline(always)]
    fn idle_cells(&self, free: SignedTicks, t: SignedTicks, c: Span) -> u64 {
        if self.asks_idle_time {
            (t - free.max(SignedTicks::ZERO)).span().0 / c.0
        } else {
            0
        }
    }
}

/// The next cells of `input`: the rest of the run being taken, otherwise the run at the head of its
/// feed.
pub(super) fn next_run<'a>(inputs: &'a Inputs, fabric: &'a Fabric, input: u32) -> &'a Run {
    let head = &fabric.feeds[inputs.feed(input)].head;
    let interleaved = inputs.interleaved.get(input as usize);
    interleaved.map_or(head, |interleaved| interleaved.next_run(head))
}

impl Arithmetic {
    /// Takes all arrivals before `horizon`, each time by the first fast path that applies.
    #[inline(never)]
    pub(super) fn advance_judged(
        &mut self,
        inputs: &mut Inputs,
        fabric: &mut Fabric,
        horizon: Time,
    ) {
        while let Some(next) = inputs.next(horizon) {
            if let Some(rounds) =
                FastPath::Rhythm.tried(|| self.can_take_judged_rounds(fabric, inputs, &next))
            {
                self.take_rounds(fabric, inputs, rounds);
            } else if next.time == next.limit() {
                self.judge_group(inputs, fabric, next.time);
            } else if FastPath::Interleaved
                .applies(|| self.can_take_judged_in_turns(fabric, inputs, &next))
            {
                self.take_judged_in_turns(fabric, inputs, horizon);
            } else if FastPath::Singles.applies(|| self.can_take_singles(fabric, inputs, &next)) {
                let more = self.take_singles(fabric, inputs, &next);
                inputs.advance_first(fabric, next.feed, more);
            } else {
                match self.judge_next(fabric, &mut inputs.interleaved, &next) {
                    Some(time) => inputs.order.postpone_first(time),
                    None => inputs.order.pop(),
                }
            }
        }
    }

    /// Rounds as in [`Arithmetic::can_take_rounds`], if each input brings more than one cell. Of
    /// several inputs, none has lost its last frame.
    fn can_take_judged_rounds(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<RoundPlan> {
        let is_close = next_run(inputs, fabric, next.input).period == self.cell_time;
        (is_close && self.can_go_round(inputs, fabric, next))
            .then(|| self.can_take_rounds(fabric, inputs, next))
            .flatten()
    }

    #[inline(never)]
    fn can_go_round(&self, inputs: &mut Inputs, fabric: &Fabric, next: &NextInput) -> bool {
        let limit = next.horizon.min(next.time + self.cell_time);
        let (mut members, mut all_accepted) = (0, true);
        while let Some((time, input)) = inputs.order.get(members) {
            if time >= limit {
                break;
            }
            let run = next_run(inputs, fabric, input);
            if run.period != self.cell_time || !self.can_interleave(run) {
                return false;
            }
            // A flow that lost its last frame is likely to lose another.
            all_accepted &= fabric.hops[run.hop as usize].frame_state.fate == Fate::Accepted;
            members += 1;
            if members > 1 && !all_accepted {
                return false;
            }
        }
        members > 0
    }

    /// The questions to the policy about the cells of `runs`, which arrive within one cell time at
    /// a busy port. Each run comes with the local number of its flow, and whether it continues no
    /// frame.
    pub(super) fn begin_asking<'a>(
        &mut self,
        runs: impl Iterator<Item = (&'a Run, u32, bool)>,
    ) -> Vec<AskedRun> {
        let judged = self.judged.as_mut();
        let mut asked = judged.map_or(Vec::new(), |judged| std::mem::take(&mut judged.asked));
        asked.clear();
        for (run, vc, is_new) in runs {
            let waiting = self.steady_queue(run.time);
            let begins = is_new || run.is_single();
            let cell = self.gate.first_of(run, begins, vc, None);
            asked.push(AskedRun::new(run, cell, waiting));
        }
        asked
    }

    /// Whether the policy accepts `cells` cells of each of `runs`, one per cell time, with X within
    /// these bounds. If so, the policy has taken note of all of them.
    #[inline]
    pub(super) fn admits_all(
        &mut self,
        runs: &[AskedRun],
        cells: u64,
        [least, most]: [u64; 2],
    ) -> bool {
        let period = self.cell_time;
        self.gate.admits_all(&AskedRuns {
            runs,
            cells,
            period,
            least,
            most,
        })
    }

    /// X at `time`, or -1 if the port is idle by then. Less than a cell time earlier, the port was
    /// busy with a busy period that had begun before.
    fn steady_queue(&mut self, time: Time) -> i64 {
        let Some(judged) = &mut self.judged else {
            unreachable!("the gate judges each cell");
        };
        let c = self.cell_time;
        let behind = self.start + c * 2 - time.signed() - judged.late;
        judged.quotient.of(behind, c) as i64 - 1
    }

    /// Returns the memory of `asked` for the next use.
    pub(super) fn end_asking(&mut self, asked: Vec<AskedRun>) {
        if let Some(judged) = &mut self.judged {
            judged.asked = asked;
        }
    }

    /// The decision of the policy about the next cell of a run.
    #[inline(always)]
    pub(super) fn ask_about(&mut self, asked: &AskedRun, queue: &QueueView) -> Decision {
        self.gate.ask_policy_of(asked.time, &asked.cell, queue)
    }

    /// Takes one cell of each input whose cell arrives at `time`.
    #[inline(never)]
    fn judge_group(&mut self, inputs: &mut Inputs, fabric: &mut Fabric, time: Time) {
        inputs.order.group(time, &mut inputs.group);
        let first = inputs.tie.arrange(time, &mut inputs.group);
        fabric.tied = true;
        for i in 0..inputs.group.len() {
            let feed = inputs.feed_in_turn(first, i);
            let next = NextInput {
                time,
                input: (feed - inputs.first_feed) as u32,
                feed,
                other: time,
                horizon: time,
            };
            self.judge_next(fabric, &mut inputs.interleaved, &next);
        }
        inputs.end_tie(fabric, first);
        // Inputs keep their places until all have been handled.
        for _ in 0..inputs.group.len() {
            let Some((_, input)) = inputs.order.first() else {
                unreachable!("so many are there");
            };
            let head = &fabric.feeds[inputs.feed(input)].head;
            let interleaved = inputs.interleaved.get(input as usize);
            if let Some(run) = interleaved.filter(|run| run.is_under_way()) {
                inputs.order.postpone_first(run.time());
            } else if head.n > 0 {
                inputs.order.postpone_first(head.time);
            } else {
                inputs.order.pop();
            }
        }
    }

    /// Whether the cells of `run` may be taken in turns. An RM cell always is a separate run.
    pub(super) fn can_interleave(&self, run: &Run) -> bool {
        debug_assert!(run.n == 1 || run.flags & RM == 0);
        run.n > 1 && self.can_interleave_any()
    }

    /// Whether any run may be taken in turns, apart from RM cells.
    pub(super) fn can_interleave_any(&self) -> bool {
        self.judged
            .as_ref()
            .is_some_and(|judged| judged.can_interleave)
    }

    /// Takes the first cell of `feed`, and with it the rest of its frame if that is lost too.
    /// Returns whether the feed has more.
    #[inline(always)]
    pub(super) fn judge_one(&mut self, fabric: &mut Fabric, feed: usize) -> bool {
        let run = &fabric.feeds[feed].head;
        let (idle, mut queue) = self.state_found(run.time);
        let hop = &fabric.hops[run.hop as usize];
        if let Some(counts) = &mut self.counts {
            (queue.waiting_of_vc, queue.active_vcs) = counts.look(queue.waiting, hop.local);
        }
        self.judge_by_gate(fabric, feed, &queue, idle, None)
    }

    /// Start of a cell that arrives at `t`, if it is accepted; `idle` says whether it finds the
    /// port idle.
    pub(super) fn start_of(&self, t: SignedTicks, idle: bool) -> SignedTicks {
        if idle { t } else { self.start + self.cell_time }
    }

    /// Puts an accepted cell, which arrives at `t`, behind the last one.
    pub(super) fn join_queue(&mut self, t: SignedTicks, idle: bool) {
        let start = self.start_of(t, idle);
        if idle {
            self.busy_since = t;
        } else {
            let ahead = self.ahead(start, t);
            raise(&mut self.longest, ahead);
        }
        self.start = start;
        self.accepted += 1;
    }

    /// The state that a cell finds at `time`: the whole cell times for which the port has been idle
    /// (`None` if busy), and X.
    #[inline(always)]
    pub(super) fn state_found(&mut self, time: Time) -> (Option<u64>, QueueView) {
        let Some(judged) = &mut self.judged else {
            unreachable!("the gate judges each cell");
        };
        let (t, c) = (time.signed(), self.cell_time);
        let free = self.start + c;
        if free < t + judged.late {
            return (Some(judged.idle_cells(free, t, c)), QueueView::default());
        }
        // Equals `ahead` and `cells`, simplified for values that are not negative.
        let begun = if t == self.busy_since {
            judged.first
        } else {
            Span::ZERO
        };
        let waiting = judged.quotient.of(free - t - begun - judged.late, c);
        let queue = QueueView {
            waiting,
            ..QueueView::default()
        };
        (None, queue)
    }

    /// Whether a cell that finds `queue` and that the policy accepts has room.
    pub(super) fn has_room(&self, queue: &QueueView) -> bool {
        self.gate.room(queue.waiting) > 0
    }

    /// Takes the first cell of `feed` through the gate; `decided` is the policy's decision if it
    /// has been asked. Returns whether the feed has more.
    #[inline(never)]
    pub(super) fn judge_by_gate(
        &mut self,
        fabric: &mut Fabric,
        feed: usize,
        queue: &QueueView,
        idle: Option<u64>,
        decided: Option<Decision>,
    ) -> bool {
        let outcome = self.take_judged(fabric, feed, false, queue, idle, decided);
        outcome.more
    }

    /// Whole cell times that the port has been idle at `now`, if the policy needs them; `None` if
    /// the port is busy.
    pub(super) fn idle_cells(&self, now: Time) -> Option<u64> {
        let (t, c) = (now.signed(), self.cell_time);
        let cells = |judged: &Judged| judged.idle_cells(self.start + c, t, c);
        let judged = self.judged.as_ref();
        self.idle_at(t).then(|| judged.map_or(0, cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_times_are_counted_as_by_a_division_wherever_the_last_ones_were() {
        let c = 7;
        let mut quotient = Quotient::default();
        for last in 0..40 {
            for ticks in (0..40).chain([1 << 40]) {
                quotient.of(SignedTicks(last), Span(c));
                assert_eq!(
                    quotient.of(SignedTicks(ticks), Span(c)),
                    ticks as u64 / c,
                    "{last} {ticks}"
                );
            }
        }
    }
}
