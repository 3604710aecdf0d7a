//! How the arithmetic kernel serves a queue whose gate judges each cell: a policer, a leaky bucket, an average of X.
//!
//! Such a gate must see every cell, in order, with X as the cell finds it. X is a difference of times here too, and nothing that has come in is
//! taken back; so no cell need be stored. What remains of a cell is the question, its place behind the last one, and its way on.

use super::Arithmetic;
use crate::cells::{Fate, FrameState, RM, Run};
use crate::fabric::Fabric;
use crate::port::Inputs;
use crate::port::drop::{Decision, QueueView};
use crate::port::gate::Gate;
use crate::units::{Span, Time};

/// What matters of a gate that judges each cell.
#[derive(Debug)]
pub struct Judged {
    /// Whether the policy alone is asked.
    asks_policy_alone: bool,
    /// The smallest X at which a cell that it lets in is refused.
    room: u64,
    /// Whether the policy asks how long the port has been idle.
    asks_idle_time: bool,
}

impl Judged {
    /// Of `gate`, if it is such a one.
    pub fn new(gate: &Gate) -> Option<Judged> {
        gate.judges_each().then(|| Judged {
            asks_policy_alone: gate.asks_policy_alone(),
            room: gate.room(),
            asks_idle_time: gate.needs().idle_time,
        })
    }
}

impl Arithmetic {
    /// The same as [`Arithmetic::advance`], cell by cell.
    #[inline(never)]
    pub(super) fn advance_judged(
        &mut self,
        inputs: &mut Inputs,
        fabric: &mut Fabric,
        horizon: Time,
    ) {
        while let Some((time, input)) = inputs.order.first() {
            if time >= horizon {
                break;
            }
            let limit = inputs.order.second_time().min(horizon);
            if time < limit {
                let feed = inputs.feed(input);
                if self.judge_before(fabric, feed, limit) {
                    inputs.order.postpone_first(fabric.feeds[feed].head.time);
                } else {
                    inputs.order.pop();
                }
                continue;
            }
            let first = inputs.coincident(time);
            for i in 0..inputs.group.len() {
                let feed = inputs.in_turn(first, i);
                self.judge_before(fabric, feed, time + Span(1));
            }
            inputs.put_back(fabric);
        }
    }

    /// Takes the cells of `feed` that arrive before `limit`, at least one. Whether the feed has more.
    #[inline]
    fn judge_before(&mut self, fabric: &mut Fabric, feed: usize, limit: Time) -> bool {
        loop {
            if !self.judge_one(fabric, feed) {
                return false;
            }
            if fabric.feeds[feed].head.time >= limit {
                return true;
            }
        }
    }

    /// Takes the first cell of `feed`; with it the rest of its frame, if that is lost too. Whether the feed has more.
    #[inline(always)]
    fn judge_one(&mut self, fabric: &mut Fabric, feed: usize) -> bool {
        let run = &fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
        let idle = self.idle_cells(run.time);
        let queue = self.view(run.time, hop.local);
        let lost = !begins && hop.frame_state.fate != Fate::Accepted;
        let Some(judged) = &self.judged else {
            unreachable!("the gate judges each cell");
        };
        let room = idle.is_some() || queue.waiting < judged.room;
        if !judged.asks_policy_alone || lost || !room || run.flags & RM != 0 {
            return self.judge_fully(fabric, feed, &queue, idle, None);
        }
        let decision = self.gate.ask_policy(run, begins, hop.local, &queue, idle);
        if decision != Decision::Accept {
            return self.judge_fully(fabric, feed, &queue, idle, Some(decision));
        }
        if begins {
            hop.frame_state = FrameState::accepted(run.frame);
        }
        hop.arrived += 1;
        let run: Run = *run;
        let departing = self.accept(&run, 1, hop.local, fabric.end);
        fabric.depart(departing);
        fabric.feeds[feed].skip(1)
    }

    /// The same where the gate has to be asked, or the policy has `decided`.
    #[inline(never)]
    fn judge_fully(
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

    /// For how many whole cell times the port has been idle at `now`, if the policy asks; `None` where it is not.
    #[inline(always)]
    pub(super) fn idle_cells(&self, now: Time) -> Option<u64> {
        let t = now.0 as i64;
        let asks = self.judged.as_ref().is_some_and(|j| j.asks_idle_time);
        let c = self.cell_time.0 as i64;
        let cells = || (t - (self.start + c).max(0)) / c;
        self.idle_at(t)
            .then(|| if asks { cells() as u64 } else { 0 })
    }
}
