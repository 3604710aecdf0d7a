//! Judged cells of several inputs that alternate, and judged cells one by one.
//!
//! As in `interleaved.rs`, only the decision and the wait of each cell are new. Everything else is
//! brought up to date once per run of accepted cells, at any distance but one per cell time.

use super::judged::next_run;
use super::{Arithmetic, Interleaved, interleaved};
use crate::ground::units::Time;
use crate::network::fabric::Fabric;
use crate::port::drop::Decision;
use crate::port::fast_paths::FastPath;
use crate::port::{Inputs, NextInput};

impl Arithmetic {
    /// Whether a cell of another input comes between the next two cells of the first one. The next
    /// cell comes alone.
    pub(super) fn can_take_judged_in_turns(
        &self,
        fabric: &Fabric,
        inputs: &Inputs,
        next: &NextInput,
    ) -> bool {
        let run = next_run(inputs, fabric, next.input);
        run.n > 1
            && run.period != self.cell_time
            && next.other < next.horizon.min(next.time + run.period)
    }

    /// Takes cells before `horizon`, at least one, until several come together.
    #[inline(never)]
    pub(super) fn take_judged_in_turns(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        horizon: Time,
    ) {
        inputs.each_in_turn(horizon, |interleaved, next| {
            self.judge_next(fabric, interleaved, next)
        });
    }

    /// Takes the next cell. Returns when the following cell of its input arrives, if there is one.
    #[inline(always)]
    pub(super) fn judge_next(
        &mut self,
        fabric: &mut Fabric,
        interleaved: &mut Vec<Interleaved>,
        next: &NextInput,
    ) -> Option<Time> {
        match interleaved.get_mut(next.input as usize) {
            Some(run) if run.is_under_way() => self.judge_step(fabric, run, next.feed, next.time),
            _ => self.judge_first(fabric, interleaved, next),
        }
    }

    /// Takes the next cell while no run of its input is being taken. Returns when the following
    /// cell of that input arrives, if there is one.
    #[inline(never)]
    fn judge_first(
        &mut self,
        fabric: &mut Fabric,
        interleaved: &mut Vec<Interleaved>,
        next: &NextInput,
    ) -> Option<Time> {
        let feed = next.feed;
        let run = &fabric.feeds[feed].head;
        // Cells that come one per cell time are mostly taken together instead.
        let may_join = || run.period != self.cell_time && self.can_interleave(run);
        if FastPath::Interleaved.applies(may_join) {
            let interleaved = interleaved::of(interleaved, next.input);
            if interleaved.join(self, fabric, feed) {
                return self.judge_step(fabric, interleaved, feed, next.time);
            }
        }
        let more = self.judge_one(fabric, feed);
        more.then_some(fabric.feeds[feed].head.time)
    }

    /// Takes the next cell of the run of `feed` that is being taken, which arrives at `time`.
    /// Returns when the following cell arrives, if there is one.
    #[inline(always)]
    fn judge_step(
        &mut self,
        fabric: &mut Fabric,
        interleaved: &mut Interleaved,
        feed: usize,
        time: Time,
    ) -> Option<Time> {
        let (idle, queue) = self.state_found(time);
        let mut decided = None;
        if self.has_room(&queue) {
            let decision = interleaved.ask_policy(&mut self.gate, &queue, idle);
            if decision == Decision::Accept && interleaved.take(self, fabric, time, idle.is_some())
            {
                return interleaved.next_time(self, fabric, feed);
            }
            decided = Some(decision);
        }
        interleaved.leave(self, fabric, feed);
        let more = self.judge_by_gate(fabric, feed, &queue, idle, decided);
        more.then_some(fabric.feeds[feed].head.time)
    }
}
