//! What the arithmetic kernel does with cells that arrive: as many together as meet the same fate, or watched.

use super::{Arithmetic, Interleaved, interleaved, rounds, series, straight};
use crate::cells::{Fate, FrameState, TAGGED};
use crate::fabric::Fabric;
use crate::port::Inputs;
use crate::port::drop::{Decision, QueueView};
use crate::port::gate::Verdict;
use crate::port::watch::{Outcome, PortProbe, Seen, found};
use crate::units::{Span, Time};

impl Arithmetic {
    /// Takes all arrivals before `horizon`.
    ///
    /// A function of its own: inlined beside the other kernel it was measured to be slower.
    #[inline(never)]
    pub fn advance(&mut self, inputs: &mut Inputs, fabric: &mut Fabric, horizon: Time) {
        if self.judged.is_some() {
            return self.advance_judged(inputs, fabric, horizon);
        }
        while let Some((time, input)) = inputs.order.first() {
            if time >= horizon {
                break;
            }
            let next = inputs.order.second_time();
            if !straight::take(self, fabric, inputs, (time, input), next, horizon) {
                self.advance_otherwise(inputs, fabric, horizon);
            }
        }
    }

    /// Takes arrivals before `horizon`, at least one, until one comes that may go straight on.
    #[inline(never)]
    fn advance_otherwise(&mut self, inputs: &mut Inputs, fabric: &mut Fabric, horizon: Time) {
        while let Some((time, input)) = inputs.order.first() {
            if time >= horizon {
                break;
            }
            let next = inputs.order.second_time();
            let feed = inputs.feed(input);
            if next < time + self.cell_time && rounds::run(self, fabric, inputs, horizon) {
                // It is done.
            } else if time == next {
                self.take_group(fabric, inputs, time);
            } else if inputs
                .merged
                .get(input as usize)
                .is_some_and(Interleaved::is_under_way)
                || interleaved::applies(self, &fabric.feeds[feed].head, next)
            {
                interleaved::run(self, fabric, inputs, horizon);
            } else if self.take(fabric, feed, next.min(horizon)) {
                inputs.order.postpone_first(fabric.feeds[feed].head.time);
            } else {
                inputs.order.pop();
            }
            let next = inputs.order.first().map(|(_, input)| inputs.feed(input));
            if next.is_some_and(|feed| straight::may_apply(self, &fabric.feeds[feed].head)) {
                return;
            }
        }
    }

    /// Brings feeds, hops and sinks up to date.
    pub fn settle(&mut self, inputs: &mut Inputs, fabric: &mut Fabric) {
        interleaved::settle_all(self, fabric, inputs);
    }

    /// Takes one cell of each input whose cell arrives at `time`.
    fn take_group(&mut self, fabric: &mut Fabric, inputs: &mut Inputs, time: Time) {
        let first = inputs.coincident(time);
        for i in 0..inputs.group.len() {
            interleaved::leave(self, fabric, inputs, inputs.group[i]);
        }
        for i in 0..inputs.group.len() {
            let feed = inputs.in_turn(first, i);
            self.take(fabric, feed, time + Span(1));
        }
        inputs.put_back(fabric);
    }

    /// Takes the cells at the head of `feed` that arrive before `limit`, at least one: as many as meet the same fate. Whether the feed
    /// has more.
    #[inline(always)]
    fn take(&mut self, fabric: &mut Fabric, feed: usize, limit: Time) -> bool {
        let run = fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let t = run.time.0 as i64;
        let idle = self.idle_at(t);
        let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
        let ahead = self.ahead(self.start, t);
        let calm = idle || (ahead < self.full && (!begins || ahead < self.refusal));
        let known = !begins && hop.frame_state.fate != Fate::Accepted;
        // At a distance of more than c they find an idle port idle again.
        let is_series = run.period != self.cell_time
            && (!idle || run.period < self.cell_time)
            && run.n > 1
            && run.time + run.period < limit
            && series::applies(hop);
        if !calm || known || is_series {
            return self.take_otherwise(fabric, feed, limit, calm && !known);
        }
        if begins {
            hop.frame_state = FrameState::accepted(run.frame);
        }
        let together = run.period == self.cell_time || (idle && run.period > self.cell_time);
        let n = if together { run.before(limit) } else { 1 };
        hop.arrived += u64::from(n);
        let departing = self.accept(&run, n, hop.local, fabric.end);
        fabric.depart(departing);
        fabric.feeds[feed].skip(n)
    }

    /// The same.
    #[inline(never)]
    pub(super) fn take_next(&mut self, fabric: &mut Fabric, feed: usize, limit: Time) -> bool {
        self.take(fabric, feed, limit)
    }

    /// The same for cells near a limit, of a frame that is lost, or that may be a series; `accepted` tells that the first is accepted.
    #[inline(never)]
    fn take_otherwise(
        &mut self,
        fabric: &mut Fabric,
        feed: usize,
        limit: Time,
        accepted: bool,
    ) -> bool {
        if accepted && let Some(more) = series::take(self, fabric, feed, limit) {
            return more;
        }
        self.take_carefully(fabric, feed, false).more
    }

    /// The same for one cell near a limit, or for the rest of a frame that is lost (for one cell of it when `one`).
    #[inline(never)]
    fn take_carefully(&mut self, fabric: &mut Fabric, feed: usize, one: bool) -> Outcome {
        let run = &fabric.feeds[feed].head;
        let local = fabric.hops[run.hop as usize].local;
        let idle = self.idle_cells(run.time);
        let queue = self.view(run.time, local);
        self.take_judged(fabric, feed, one, &queue, idle, None)
    }

    /// The same where the gate is to be told of `queue`, and how long the port has been `idle`; or the policy has been, and has `decided`.
    pub(super) fn take_judged(
        &mut self,
        fabric: &mut Fabric,
        feed: usize,
        one: bool,
        queue: &QueueView,
        idle: Option<u64>,
        decided: Option<Decision>,
    ) -> Outcome {
        let mut run = fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let (local, state) = (hop.local, &mut hop.frame_state);
        let gate = &mut self.gate;
        let judged = gate.judge(run.time, &run, state, local, queue, idle, decided);
        let mut dropped = None;
        let mut n = 1;
        if judged.tagged && judged.verdict.takes() {
            run.flags |= TAGGED;
            fabric.extras[run.hop as usize].tagged += 1;
        }
        match judged.verdict {
            Verdict::Accept => {
                let departing = self.accept(&run, 1, local, fabric.end);
                fabric.depart(departing);
            }
            Verdict::Refuse(reason) => {
                if fabric.captures_drops(run.hop) {
                    let queue = self.view(run.time, local);
                    let found = found(&queue, &self.gate, Some(reason));
                    fabric.capture_drop(&run, reason, Some(found));
                } else if !one {
                    n = judged.cells.min(run.before(fabric.drop_until));
                }
                fabric.drop_cells(run.hop, reason, n);
                dropped = Some(reason);
            }
            Verdict::Overdue => fabric.overdue_at(run.hop),
            Verdict::PushOut | Verdict::PushOutFrame => {
                unreachable!("such a queue is served by the slotted kernel")
            }
        }
        fabric.hops[run.hop as usize].arrived += u64::from(n);
        Outcome {
            more: fabric.feeds[feed].skip(n),
            dropped,
            pushed_out: false,
        }
    }

    /// The same as [`Arithmetic::advance`], cell by cell, for a port that is watched.
    #[cold]
    pub fn advance_watched(
        &mut self,
        inputs: &mut Inputs,
        fabric: &mut Fabric,
        probe: &mut PortProbe,
        horizon: Time,
    ) {
        while let Some((time, _)) = inputs.order.first() {
            if time >= horizon {
                break;
            }
            self.record_before(probe, time);
            let first = inputs.coincident(time);
            for i in 0..inputs.group.len() {
                let feed = inputs.in_turn(first, i);
                let run = fabric.feeds[feed].head;
                let hop = &fabric.hops[run.hop as usize];
                let (cell, local) = (Seen::first_of(&run, hop), hop.local);
                if let Some(reason) = self.take_carefully(fabric, feed, true).dropped {
                    // A cell that is refused leaves the queue as it found it.
                    let queue = self.view(time, local);
                    let found = found(&queue, &self.gate, Some(reason));
                    probe.lost(time, cell, reason, found);
                }
                if probe.watches_arrivals() {
                    let seen = self.snapshot(time);
                    probe.arrived(time, |quantity| seen.look(quantity));
                }
            }
            inputs.put_back(fabric);
        }
    }

    /// Records the samples that are due until `time`, which come before what arrives then, and whatever changes until then as cells begin
    /// to leave.
    fn record_before(&mut self, probe: &mut PortProbe, time: Time) {
        loop {
            let due = probe.next_sample().filter(|&due| due <= time);
            if probe.watches_changes() {
                self.record_starts(probe, due.unwrap_or(time));
            }
            match due {
                Some(due) => probe.sample_until(due, |t, quantity| self.snapshot(t).look(quantity)),
                None => break,
            }
        }
    }

    /// Records what changes when cells that wait begin to leave, for those that do before anything arrives at `time`.
    fn record_starts(&mut self, probe: &mut PortProbe, time: Time) {
        let limit = time.0 as i64 + i64::from(!self.arrival_first);
        while let Some(start) = self.start_from(self.recorded_until).filter(|&s| s < limit) {
            self.recorded_until = start + 1;
            let after = Time((start + i64::from(self.arrival_first)) as u64);
            let seen = self.snapshot(after);
            probe.changed(Time(start as u64), |quantity| seen.look(quantity));
        }
    }

    /// The first start of a cell that waits, at `time` or later.
    fn start_from(&self, time: i64) -> Option<i64> {
        let from = time.max(self.busy_since + 1);
        let c = self.cell_time.0 as i64;
        (from <= self.start).then(|| self.start - (self.start - from) / c * c)
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish_probe(&mut self, probe: &mut PortProbe, end: Time) {
        // Cells that would begin to leave at the end have not.
        let last = Time(end.0 - u64::from(!self.arrival_first));
        self.record_before(probe, last);
        probe.finish(end, |_, quantity| self.snapshot(last).look(quantity));
    }
}
