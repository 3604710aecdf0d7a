//! Arrivals at the arithmetic kernel, taken together when they meet the same fate, or one by one
//! while watched.

use super::{Arithmetic, interleaved};
use crate::ground::units::{SignedTicks, Span, Time};
use crate::network::cells::{Fate, FrameState, Run, TAGGED};
use crate::network::fabric::Fabric;
use crate::port::Inputs;
use crate::port::drop::{Decision, QueueView};
use crate::port::fast_paths::FastPath;
use crate::port::gate::Verdict;
use crate::port::watch::{Outcome, PortProbe, TracedCell, queue_snapshot};

impl Arithmetic {
    /// Takes all arrivals before `horizon`, each time by the first fast path that applies.
    ///
    /// Not inlined: next to the other kernel this was measured to be slower.
    #[inline(never)]
    pub fn advance(&mut self, inputs: &mut Inputs, fabric: &mut Fabric, horizon: Time) {
        if self.judged.is_some() {
            return self.advance_judged(inputs, fabric, horizon);
        }
        while let Some(next) = inputs.next(horizon) {
            if let Some(frame) = FastPath::Frame.tried(|| self.can_take_frame(fabric, &next)) {
                self.take_frame(fabric, inputs, &next, frame);
            } else if let Some(rounds) =
                FastPath::Rhythm.tried(|| self.can_take_rounds(fabric, inputs, &next))
            {
                self.take_rounds(fabric, inputs, rounds);
            } else if next.time == next.other {
                self.take_group(fabric, inputs, next.time);
            } else if FastPath::Interleaved
                .applies(|| self.can_take_interleaved(fabric, inputs, &next))
            {
                self.take_interleaved(fabric, inputs, horizon);
            } else if let Some(series) =
                FastPath::Series.tried(|| self.can_take_series(fabric, next.feed, next.limit()))
            {
                let more = self.take_series(fabric, next.feed, series);
                inputs.advance_first(fabric, next.feed, more);
            } else {
                let more = self.take_alone(fabric, next.feed, next.limit());
                inputs.advance_first(fabric, next.feed, more);
            }
        }
    }

    /// Takes a run or one cell of `feed` before `limit`, while no other input brings any. Returns
    /// whether the feed has more.
    #[inline(always)]
    fn take_alone(&mut self, fabric: &mut Fabric, feed: usize, limit: Time) -> bool {
        match FastPath::Run.tried(
            #[inline(always)]
            || self.can_take_run(fabric, feed, limit),
        ) {
            Some(cells) => self.take_run(fabric, feed, cells),
            None => self.take_by_gate(fabric, feed, false).more,
        }
    }

    /// Brings feeds, hops and sinks up to date.
    pub fn settle(&mut self, inputs: &mut Inputs, fabric: &mut Fabric) {
        interleaved::settle_all(self, fabric, inputs);
    }

    /// Takes one cell of each input whose cell arrives at `time`.
    #[inline(never)]
    fn take_group(&mut self, fabric: &mut Fabric, inputs: &mut Inputs, time: Time) {
        let first = inputs.coincident(time);
        for i in 0..inputs.group.len() {
            interleaved::leave(self, fabric, inputs, inputs.group[i]);
        }
        fabric.tied = true;
        for i in 0..inputs.group.len() {
            let feed = inputs.feed_in_turn(first, i);
            self.take_another(fabric, feed, time + Span(1));
        }
        inputs.end_tie(fabric, first);
        inputs.put_back(fabric);
    }

    /// Does what [`Arithmetic::take_alone`] does, but out of line, for rare use.
    #[inline(never)]
    pub(super) fn take_another(&mut self, fabric: &mut Fabric, feed: usize, limit: Time) -> bool {
        self.take_alone(fabric, feed, limit)
    }

    /// How many cells at the head of `feed` before `limit` are accepted in the same way; `None`
    /// near a limit or if the frame is lost. More than one if they come one per cell time, or each
    /// finds the port idle.
    #[inline(always)]
    fn can_take_run(&self, fabric: &Fabric, feed: usize, limit: Time) -> Option<u32> {
        let run = &fabric.feeds[feed].head;
        let idle = self.is_below_limits(fabric, run)?;
        let together = run.period == self.cell_time || (idle && run.period > self.cell_time);
        Some(if together { run.before(limit) } else { 1 })
    }

    /// Whether the first cell of `run` finds the port idle; `None` if it is near a limit or its
    /// frame is lost.
    #[inline(always)]
    pub(super) fn is_below_limits(&self, fabric: &Fabric, run: &Run) -> Option<bool> {
        let state = &fabric.hops[run.hop as usize].frame_state;
        let t = run.time.signed();
        let idle = self.idle_at(t);
        let begins = run.is_single() || state.frame != Some(run.frame);
        let ahead = self.ahead(self.start, t);
        let is_below = idle || self.limits.fits(ahead, begins);
        (is_below && (begins || state.fate == Fate::Accepted)).then_some(idle)
    }

    /// Takes the first `n` cells of `feed`. Returns whether it has more.
    #[inline(always)]
    pub(super) fn take_run(&mut self, fabric: &mut Fabric, feed: usize, n: u32) -> bool {
        let run = fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        hop.frame_state = FrameState::accepted(run.frame);
        hop.arrived += u64::from(n);
        let departing = self.accept(&run, n, hop.local, fabric.end);
        fabric.depart(departing);
        fabric.feeds[feed].skip(n)
    }

    /// Takes one cell through the gate, or the rest of a lost frame (if `one_at_a_time`, a single
    /// cell of it).
    #[inline(never)]
    fn take_by_gate(&mut self, fabric: &mut Fabric, feed: usize, one_at_a_time: bool) -> Outcome {
        let run = &fabric.feeds[feed].head;
        let local = fabric.hops[run.hop as usize].local;
        let idle = self.idle_cells(run.time);
        let queue = self.view(run.time, local);
        self.take_judged(fabric, feed, one_at_a_time, &queue, idle, None)
    }

    /// Takes one cell through the gate, or the rest of a lost frame, given `queue` and the `idle`
    /// time in cells. `decided` is the policy's decision if it has been asked.
    pub(super) fn take_judged(
        &mut self,
        fabric: &mut Fabric,
        feed: usize,
        one_at_a_time: bool,
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
                    let snapshot = queue_snapshot(&queue, &self.gate, Some(reason), local);
                    fabric.capture_drop(&run, reason, Some(snapshot));
                } else if !one_at_a_time {
                    n = judged.cells.min(run.before(fabric.drop_until));
                }
                fabric.drop_arriving(feed, run.hop, reason, n, judged.refused);
                dropped = Some(reason);
            }
            Verdict::Overdue => fabric.overdue_at(run.hop),
            Verdict::Failed => fabric.fails_at(run.hop, self.gate.failure()),
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

    /// Takes all arrivals before `horizon` one by one, for a watched port; see
    /// [`Arithmetic::advance`].
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
            fabric.tied = inputs.group.len() > 1;
            for i in 0..inputs.group.len() {
                let feed = inputs.feed_in_turn(first, i);
                let run = fabric.feeds[feed].head;
                let hop = &fabric.hops[run.hop as usize];
                let (cell, local) = (TracedCell::first_of(&run, hop), hop.local);
                if let Some(reason) = self.take_by_gate(fabric, feed, true).dropped {
                    // A refused cell leaves the queue as it found it.
                    let queue = self.view(time, local);
                    let snapshot = || queue_snapshot(&queue, &self.gate, Some(reason), local);
                    probe.lost(time, cell, reason, snapshot);
                }
                if probe.watches_arrivals() {
                    let seen = self.snapshot(time);
                    probe.arrived(time, |quantity| seen.look(quantity));
                }
            }
            inputs.end_tie(fabric, first);
            inputs.put_back(fabric);
        }
    }

    /// Records the samples due by `time`, before the arrivals of that instant, and all changes
    /// until then as waiting cells start.
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

    /// Records the changes as waiting cells start before the arrivals at `time`.
    fn record_starts(&mut self, probe: &mut PortProbe, time: Time) {
        let limit = time.signed() + Span(u64::from(!self.arrival_first));
        while let Some(start) = self.start_from(self.recorded_until).filter(|&s| s < limit) {
            self.recorded_until = start + Span(1);
            let start = start.time();
            let seen = self.snapshot(start + Span(u64::from(self.arrival_first)));
            probe.changed(start, |quantity| seen.look(quantity));
        }
    }

    /// The first start of a waiting cell at `time` or later.
    fn start_from(&self, time: SignedTicks) -> Option<SignedTicks> {
        let from = time.max(self.busy_since + Span(1));
        let c = self.cell_time;
        (from <= self.start).then(|| self.start - c * ((self.start - from).span().0 / c.0))
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish_probe(&mut self, probe: &mut PortProbe, end: Time) {
        // With departures first, a cell that would start at the end has not.
        let last = Time(end.0 - u64::from(!self.arrival_first));
        self.record_before(probe, last);
        probe.finish(end, |_, quantity| self.snapshot(last).look(quantity));
    }
}
