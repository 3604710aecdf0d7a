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
use crate::tally::raise;
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
    /// 1 where departures go first: what ends at t has left when a cell comes at t.
    late: i64,
    /// By how much S - t is corrected at the beginning of a busy period.
    first: i64,
}

impl Judged {
    /// Of `gate`, if it is such a one, at a port with this cell time.
    pub fn new(gate: &Gate, cell_time: Span, arrival_first: bool) -> Option<Judged> {
        gate.judges_each().then(|| Judged {
            asks_policy_alone: gate.asks_policy_alone(),
            room: gate.room(),
            asks_idle_time: gate.needs().idle_time,
            late: i64::from(!arrival_first),
            first: if arrival_first { cell_time.0 as i64 } else { 0 },
        })
    }

    /// For how many whole cell times of `c` the port, free since `free`, has been idle at `t`, or any number where nobody asks.
    #[inline(always)]
    fn idle_cells(&self, free: i64, t: i64, c: i64) -> u64 {
        if self.asks_idle_time {
            ((t - free.max(0)) / c) as u64
        } else {
            0
        }
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
            self.judge_group(inputs, fabric, time);
        }
    }

    /// Takes one cell of each input whose cell arrives at `time`.
    #[inline(never)]
    fn judge_group(&mut self, inputs: &mut Inputs, fabric: &mut Fabric, time: Time) {
        let first = inputs.coincident(time);
        for i in 0..inputs.group.len() {
            self.judge_one(fabric, inputs.in_turn(first, i));
        }
        inputs.put_back(fabric);
    }

    /// Takes the cells of `feed` that arrive before `limit`, at least one. Whether the feed has more.
    #[inline(always)]
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
        let Some(judged) = &self.judged else {
            unreachable!("the gate judges each cell");
        };
        let run = &fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
        let (t, c) = (run.time.0 as i64, self.cell_time.0 as i64);
        let free = self.start + c;
        let is_idle = free < t + judged.late;
        // As `ahead` and `cells` have it, where none of it is below zero.
        let begun = if t == self.busy_since {
            judged.first
        } else {
            0
        };
        let ahead = self.start - t - begun;
        let waiting = if is_idle {
            0
        } else {
            (ahead + c - judged.late) as u64 / c as u64
        };
        let counts = self.counts.as_mut();
        let (waiting_of_vc, active_vcs) =
            counts.map_or((0, 0), |counts| counts.look(waiting, hop.local));
        let queue = QueueView {
            waiting,
            waiting_of_vc,
            active_vcs,
        };
        let idle = is_idle.then(|| judged.idle_cells(free, t, c));
        let lost = !begins && hop.frame_state.fate != Fate::Accepted;
        let room = is_idle || waiting < judged.room;
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
        self.accepted += 1;
        if is_idle {
            self.busy_since = t;
            self.start = t;
        } else {
            self.start = free;
            raise(&mut self.longest, ahead + c);
            self.queue_time += (free.min(fabric.end.0 as i64) - t) as u128;
            if let Some(counts) = &mut self.counts {
                counts.add_one(hop.local);
            }
        }
        let leaves = Time(self.start as u64) + self.cell_time;
        let departing = Run {
            time: leaves,
            period: self.cell_time,
            age: run.age + (leaves - run.time),
            ..run.first(1)
        };
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
    pub(super) fn idle_cells(&self, now: Time) -> Option<u64> {
        let (t, c) = (now.0 as i64, self.cell_time.0 as i64);
        let cells = |judged: &Judged| judged.idle_cells(self.start + c, t, c);
        let judged = self.judged.as_ref();
        self.idle_at(t).then(|| judged.map_or(0, cells))
    }
}
