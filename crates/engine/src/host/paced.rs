//! ABR end systems at the hosts: frames wait before them, and their cells enter the NIC when the
//! rate allows.
//!
//! A VC with its own event queue handles arriving frames ahead of their time, so frames that its
//! source then offers lie in the future. They join the queue of frames when their time has come, or
//! before the first cell sent after it. Only then is it known whether there is room for them.

use super::traffic::{End, FrameSource, Source};
use super::{Hosts, vc_event_queues};
use crate::ground::event::Kind;
use crate::ground::flow::FlowId;
use crate::ground::format::{Format, FrameSize};
use crate::ground::units::{Span, Time};
use crate::network::abr::{EndSystem, EndSystemTerms, NextCell, mbps};
use crate::network::cells::{ENDS_FRAME, RM, Run, TAGGED, precedes};
use crate::network::fabric::Fabric;
use crate::network::stop::Overdue;
use crate::network::tally::AbrTally;
use std::collections::VecDeque;

const CELL: FrameSize = Format::AAL5.one_cell();

/// A waiting or future frame, possibly without its first cells.
#[derive(Clone, Copy, Debug)]
struct QueuedFrame {
    /// When the frame joins the queue.
    since: Time,
    frame: u32,
    /// Number of the next cell, and cells of the frame.
    next: u32,
    cells: u32,
}

/// A known [`Hosts::earliest_rm_arrival`].
#[derive(Clone, Copy, Debug, Default)]
struct RmBound {
    /// No RM cell comes before this time.
    time: Time,
    /// The frame with whose first cell the bound ends, since the other end may answer the frames
    /// before it. `None` if no frame matters.
    ends_with: Option<u32>,
}

impl RmBound {
    /// An RM cell goes that can be back at `time`.
    fn rm_back_from(&mut self, time: Time) {
        self.time = self.time.min(time);
    }

    /// The first cell of `frame` goes.
    fn frame_begins(&mut self, frame: u32) {
        if self.ends_with.is_some_and(|end| !precedes(frame, end)) {
            *self = RmBound::default();
        }
    }
}

/// Shortest times of a flow.
#[derive(Clone, Copy, Debug)]
pub struct ShortestTimes {
    /// From host to host.
    pub whole: Span,
    /// The last port on the path, and the time from a start there to the host.
    pub from_last: Option<(u32, Span)>,
}

impl ShortestTimes {
    /// Lower bound on the arrival at the host of a cell that has not left the last port.
    fn after_last_port(&self, fabric: &Fabric) -> Time {
        self.from_last.map_or(Time::ZERO, |(port, takes)| {
            fabric.earliest_starts[port as usize] + takes
        })
    }
}

/// An end system with its queue.
#[derive(Debug)]
pub struct PacedQueue {
    /// State of the ABR source and destination.
    end: EndSystem,
    /// Outgoing flows: frames and RM cells.
    flow: FlowId,
    rm: FlowId,
    /// Incoming flows: frames and RM cells.
    incoming: FlowId,
    incoming_rm: FlowId,
    /// Shortest times of the outgoing and of the incoming flows.
    times: [ShortestTimes; 2],
    /// Whether no other flow uses the NIC.
    is_alone: bool,
    /// Waiting frames. Behind them come the future frames of a VC with an event queue.
    frames: VecDeque<QueuedFrame>,
    /// Number of waiting frames.
    joined: usize,
    /// Waiting cells.
    waiting: u64,
    /// Runs of cells that were sent ahead of their time, in order: departure of the last cell,
    /// period, number of cells.
    sent_ahead: VecDeque<(Time, Span, u64)>,
    /// Cells of all these runs.
    sent_ahead_cells: u64,
    /// Time of the scheduled event.
    armed: Time,
    /// Before this, no RM cell arrives.
    rm_bound: RmBound,
}

impl PacedQueue {
    /// An end system that has sent nothing. It sends `flow` and `rm`, and receives the others.
    pub fn new(
        terms: EndSystemTerms,
        [flow, rm]: [FlowId; 2],
        [incoming, incoming_rm]: [FlowId; 2],
        is_alone: bool,
        times: [ShortestTimes; 2],
    ) -> PacedQueue {
        PacedQueue {
            end: EndSystem::new(terms),
            flow,
            rm,
            incoming,
            incoming_rm,
            times,
            is_alone,
            frames: VecDeque::new(),
            joined: 0,
            waiting: 0,
            sent_ahead: VecDeque::new(),
            sent_ahead_cells: 0,
            armed: Time::NEVER,
            rm_bound: RmBound::default(),
        }
    }

    /// The outgoing flow of frames, and the incoming flow of RM cells.
    pub fn flows(&self) -> [FlowId; 2] {
        [self.flow, self.incoming_rm]
    }

    /// Forgets the runs that were sent ahead of their time and have left before `now`.
    #[inline]
    fn forget_sent_before(&mut self, now: Time) {
        while let Some(&(last, _, n)) = self.sent_ahead.front()
            && last < now
        {
            self.sent_ahead.pop_front();
            self.sent_ahead_cells -= n;
        }
    }

    /// Cells that were sent ahead of their time and leave at `now` or later.
    fn cells_sent_ahead(&self, now: Time) -> u64 {
        self.sent_ahead.front().map_or(0, |&(last, period, n)| {
            // Of the first run in the list some cells may have gone, of those behind it none.
            let later = last.since(now).0 / period.0.max(1) + 1;
            self.sent_ahead_cells - n + later.min(n)
        })
    }

    /// Whether a frame of `cells` cells fits into the queue at `now`; counts the result. Cells sent
    /// ahead are counted only if their number matters.
    fn queues(&mut self, cells: u64, now: Time) -> bool {
        self.forget_sent_before(now);
        let most = self.waiting + self.sent_ahead_cells + cells;
        if self.end.has_queued(most) {
            return true;
        }
        let waiting = self.waiting + self.cells_sent_ahead(now);
        self.end.queues(waiting, cells)
    }

    /// Counts of the end system at the end of the run.
    pub fn tally(&self, end: Time) -> AbrTally {
        let later = |&(last, period, n): &(Time, Span, u64)| {
            let gone = last < end;
            if gone {
                0
            } else {
                n.min(last.since(end).0 / period.0.max(1) + 1)
            }
        };
        let sent_ahead: u64 = self.sent_ahead.iter().map(later).sum();
        self.end.tally(end, self.waiting + sent_ahead)
    }

    /// Waiting frames in order, each with its number of waiting cells.
    pub fn queue(&self) -> impl Iterator<Item = (u32, u32)> {
        let left = |frame: &QueuedFrame| (frame.frame, frame.cells - frame.next);
        self.frames.range(..self.joined).map(left)
    }

    /// The first waiting or future frame.
    #[inline]
    fn first(&self) -> Option<&QueuedFrame> {
        self.frames.front()
    }

    /// Lower bound on the departure of the last cell of the first waiting frame; [`Time::ZERO`] if
    /// none waits.
    fn earliest_end_of_first(&self) -> Time {
        let first = self.first().filter(|_| self.joined > 0);
        first.map_or(Time::ZERO, |frame| {
            self.end
                .earliest_data_cell(u64::from(frame.cells - frame.next - 1))
        })
    }

    /// Lower bound on the time at which data cell number `n` waits, counted from 1. Behind the
    /// waiting and future frames come `others`: numbers of cells, each with its earliest time.
    /// If there are fewer than `n` cells, the time is [`Time::NEVER`], and as many are missing as
    /// the second number says.
    fn waits_from(&self, n: u64, others: [(u64, Time); 2]) -> (Time, u64) {
        if n <= self.waiting {
            return (Time::ZERO, 0);
        }
        let future = self.frames.range(self.joined..);
        let future = future.map(|frame| (u64::from(frame.cells), frame.since));
        let mut missing = n - self.waiting;
        for (cells, time) in future.chain(others) {
            if missing <= cells {
                return (time, 0);
            }
            missing -= cells;
        }
        (Time::NEVER, missing)
    }

    /// Whether no other flow uses the NIC.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Number of waiting and future frames.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Waiting data cells.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Time from which data wait, as far as known.
    #[inline]
    fn data_waits_from(&self) -> Time {
        if self.waiting > 0 {
            return Time::ZERO;
        }
        self.first().map_or(Time::NEVER, |frame| frame.since)
    }

    /// When the next cell goes, if nothing unknown arrives.
    #[inline]
    fn due(&self) -> Time {
        match self.data_waits_from() {
            Time::ZERO => self.end.due(true),
            Time::NEVER => self.end.due(false),
            from => self.end.due(true).max(from).min(self.end.due(false)),
        }
    }
}

impl Hosts {
    /// Queues a frame before the end system of its flow at `time`. For a VC with an
    /// event queue `time` may lie in the future.
    pub(super) fn queue_at_end_system(
        &mut self,
        at: usize,
        frame: u32,
        cells: u32,
        time: Time,
        fabric: &mut Fabric,
    ) {
        let paced = &mut self.paced[at];
        let vc = &self.vcs[self.flows[paced.flow.index()].vc];
        let is_first = paced.frames.is_empty();
        paced.frames.push_back(QueuedFrame {
            since: time,
            frame,
            next: 0,
            cells,
        });
        if vc.event_queue.is_some() {
            if is_first {
                self.send_ahead(at, time, fabric);
            }
            return;
        }
        let is_watched = vc.probe.is_some();
        // Behind other frames a new one changes nothing except for a probe.
        if self.join_until(at, time) && (is_first || is_watched) {
            self.arm(at, time);
        }
    }

    /// The future frames that come until `time` join the queue. Returns whether there was room for
    /// all. All cells that go before must have gone.
    #[inline]
    fn join_until(&mut self, at: usize, time: Time) -> bool {
        let mut all = true;
        while let paced = &mut self.paced[at]
            && let Some(&QueuedFrame { since, cells, .. }) = paced.frames.get(paced.joined)
            && since <= time
        {
            let cells = u64::from(cells);
            if paced.queues(cells, since) {
                let ends = &mut self.flows[paced.flow.index()];
                ends.frames_sent += 1;
                ends.cells_queued += cells;
                paced.joined += 1;
                paced.waiting += cells;
            } else {
                paced.frames.remove(paced.joined);
                all = false;
            }
        }
        all
    }

    /// Ends the run: the frames that come until then join their queues.
    pub fn finish(&mut self) {
        for at in 0..self.paced.len() {
            self.join_until(at, self.end);
        }
    }

    /// Reschedules the event of an end system after a possible change.
    fn arm(&mut self, at: usize, now: Time) {
        let due = self.paced[at].due();
        self.arm_at(at, now, due);
    }

    /// Reschedules the event of an end system whose next cell is due at `due`.
    fn arm_at(&mut self, at: usize, now: Time, due: Time) {
        let paced = &mut self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        if ends.kind.is_data()
            && let Some(probe) = &mut self.vcs[ends.vc].probe
        {
            probe.paced(now, mbps(paced.end.acr()), paced.waiting);
        }
        let due = due.max(now);
        if let Some(queue) = self.vcs[ends.vc].event_queue {
            paced.armed = due;
            return self
                .vc_event_queues
                .set(queue, vc_event_queues::paced(ends.kind), due);
        }
        if due < paced.armed && due < self.end {
            paced.armed = due;
            self.events.push(due, Kind::Paced, at);
        }
    }

    /// Handles the event of an end system that may have cells to send.
    pub(super) fn paced(&mut self, now: Time, at: usize, fabric: &mut Fabric) {
        let paced = &mut self.paced[at];
        if paced.armed != now {
            return;
        }
        paced.armed = Time::NEVER;
        let due = paced.due().max(now);
        let known = self.earliest_inputs(now, at);
        let due = self.send_from(at, due, now, known, fabric);
        self.arm_at(at, now, due);
    }

    /// Sends ahead a frame that comes at `time` to an empty queue, unless an RM cell goes first.
    /// Others may follow at once.
    fn send_ahead(&mut self, at: usize, time: Time, fabric: &mut Fabric) {
        let due = self.paced[at].due();
        // If `due < time`, an RM cell goes first: nothing is sent yet.
        if due >= time {
            let [_, near, rm] = self.earliest_inputs(Time::ZERO, at);
            let known = [Time::ZERO, near, rm];
            let due = self.send_from(at, due, Time::ZERO, known, fabric);
            self.arm_at(at, time, due);
        }
    }

    /// Sends the cells due from `due` on, as long as everything relevant is known (see
    /// [`Hosts::earliest_inputs`]). Cells that go after `now` are sent ahead of their time. Returns
    /// when the next cell is due.
    #[inline]
    fn send_from(
        &mut self,
        at: usize,
        mut due: Time,
        now: Time,
        [frames_from, near, rm]: [Time; 3],
        fabric: &mut Fabric,
    ) -> Time {
        let nic = self.flows[self.paced[at].flow.index()].nic;
        loop {
            let mut limit = near;
            let paced = &self.paced[at];
            let end_of_first = due.max(paced.earliest_end_of_first());
            if end_of_first >= near && rm > near {
                if end_of_first >= paced.rm_bound.time {
                    self.paced[at].rm_bound = self.earliest_rm_arrival(at, fabric);
                }
                limit = near.max(self.paced[at].rm_bound.time);
            }
            let limit = limit.min(self.end);
            // While data wait, further frames may join them without changing what is sent.
            if due >= limit || (due >= frames_from && due < self.paced[at].data_waits_from()) {
                return due;
            }
            if self.nics[nic].is_overdue() {
                fabric.overdue(Overdue::Nic(nic));
                return due;
            }
            let last = match self.join_until(at, due) {
                true => self.send_due(at, due, [now, limit], fabric),
                // The frame may have been refused, so that none waits now.
                false => due,
            };
            let paced = &self.paced[at];
            due = paced.due().max(last);
            // While the same frame continues, little more is known than before.
            if due >= limit && paced.first().is_none_or(|frame| frame.next > 0) {
                return due;
            }
        }
    }

    /// Three times, later than `now`: before the first no frame is handed to the end system, before
    /// the second no RM cell reaches it. The third is the arrival of its first known RM cell.
    ///
    /// A later value of the second time is computed only if it matters.
    fn earliest_inputs(&self, now: Time, at: usize) -> [Time; 3] {
        let paced = &self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        let vc = &self.vcs[ends.vc];
        let alone = now + Span(1);
        // A VC with an event queue shares nothing.
        let shares = || {
            let stages = &self.stages[ends.hosts[0]];
            let waits = ends.sending.transport.is_some() || stages.iter().any(Option::is_some);
            !paced.is_alone || waits || vc.probe.is_some()
        };
        if vc.event_queue.is_none() && shares() {
            return [alone; 3];
        }
        let Source::Frames(source) = &vc.source else {
            return [alone; 3];
        };
        let (end, source_at) = match ends.kind.is_data() {
            true => (End::Sender, vc.source_at),
            false => (End::Receiver, Time::NEVER),
        };
        let [frame, rm] = [paced.incoming, paced.incoming_rm].map(|flow| {
            let delivered = &self.flows[flow.index()].delivered;
            delivered.front().map_or(Time::NEVER, |&(time, _)| time)
        });
        let near = rm.min(self.known_until);
        let frames_from = frame.min(source.deadline(end)).min(source_at);
        [frames_from.min(near).max(alone), near.max(alone), rm]
    }

    /// Lower bound on the arrival of any RM cell at an end system of a VC whose source offers
    /// frames; [derivation](../../../docs/horizons.md).
    fn earliest_rm_arrival(&self, at: usize, fabric: &Fabric) -> RmBound {
        let paced = &self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        let Source::Frames(source) = &self.vcs[ends.vc].source else {
            return RmBound::default();
        };
        let [there, back] = paced.times.map(|times| times.whole);
        let own = self.first_arrival(paced.rm, paced.times[0], fabric);
        let known = self
            .first_arrival(paced.incoming_rm, paced.times[1], fabric)
            .min(Time(own.0.saturating_add(back.0)));
        let other_ends = &self.flows[paced.incoming.index()];
        let Some(other) = other_ends.paced.map(|i| &self.paced[i as usize]) else {
            return RmBound::default();
        };
        let answers = source
            .answers()
            .filter(|_| ends.kind.is_data() && other_ends.sends_directly);
        let (Some(answer), Some(first)) = (answers, paced.first()) else {
            let forward = other.end.earliest_forward_rm(|_| Time::ZERO);
            return RmBound {
                time: known.min(forward + back),
                ends_with: None,
            };
        };
        let answer = u64::from(answer);
        // Each frame before the next one may be answered, and so may an earlier arrival. The next
        // frame itself is not answered before its end has arrived.
        let mut ends_with = None;
        let waits_from = |n: u64| {
            let answered_from = self.first_frame_arrival(paced.flow, paced.times[0], fabric);
            let delayed_until = source.deadline(End::Receiver);
            let delayed = u64::from(delayed_until < Time::NEVER);
            let frames = u64::from(first.frame.wrapping_sub(ends.next_received));
            let ends_at = paced.earliest_end_of_first();
            let answers = [
                (
                    answer * (frames + delayed),
                    answered_from.min(delayed_until),
                ),
                (answer, ends_at + there),
            ];
            let (time, missing) = other.waits_from(n, answers);
            // So many frames behind the next one have too few answers.
            let others = missing.saturating_sub(1) / answer.max(1);
            ends_with = Some(first.frame.wrapping_add(1 + others as u32));
            time
        };
        let forward = other.end.earliest_forward_rm(waits_from);
        RmBound {
            time: known.min(forward + back),
            ends_with,
        }
    }

    /// Lower bound on the arrival of the first RM cell of `flow` that is under way;
    /// [`Time::NEVER`] if there is none.
    fn first_arrival(&self, flow: FlowId, times: ShortestTimes, fabric: &Fabric) -> Time {
        let Some(sent) = fabric.logs.first_sent(flow) else {
            return Time::NEVER;
        };
        if let Some(&(time, _)) = self.flows[flow.index()].delivered.front() {
            return time;
        }
        (sent + times.whole).max(times.after_last_port(fabric))
    }

    /// Lower bound on the time at which the first frame of `flow` that is under way is handed over
    /// at its host. Frames handled ahead of their time do not count.
    fn first_frame_arrival(&self, flow: FlowId, times: ShortestTimes, fabric: &Fabric) -> Time {
        let ends = &self.flows[flow.index()];
        // One of these may be the first.
        if !self.arrivals.is_empty() || !ends.to_transport.is_empty() {
            return Time::ZERO;
        }
        let delivered = ends.delivered.front().map(|&(time, _)| time);
        delivered.unwrap_or_else(|| times.after_last_port(fabric))
    }

    /// Sends the cell due at `due`, which is `now` or later, and data behind it before `limit`.
    /// Returns when the last cell goes.
    fn send_due(
        &mut self,
        at: usize,
        due: Time,
        [now, limit]: [Time; 2],
        fabric: &mut Fabric,
    ) -> Time {
        self.first_sent_at = self.first_sent_at.min(due);
        let paced = &mut self.paced[at];
        let ends = &mut self.flows[paced.flow.index()];
        let nic = &mut self.nics[ends.nic];
        let first = paced.first().filter(|_| paced.joined > 0);
        let left = first.map_or(0, |frame| u64::from(frame.cells - frame.next));
        let (mut n, period) = paced.end.consecutive_data(due, left, limit);
        let together = nic.sends_at_once(due, period);
        if !together {
            n = n.min(1);
        }
        if n == 0 {
            match paced.end.next(due, left > 0) {
                NextCell::Data => n = 1,
                NextCell::Rm { rm, out_of_rate } => {
                    let [there, back] = paced.times.map(|times| times.whole);
                    paced.rm_bound.rm_back_from(due + there + back);
                    let (flow, tagged) = (paced.rm, if out_of_rate { TAGGED } else { 0 });
                    let time = nic.send_cell(due);
                    let ends = &mut self.flows[flow.index()];
                    let frame = fabric.logs.send(flow, rm, due);
                    ends.frames_sent += 1;
                    ends.cells_queued += 1;
                    fabric.depart(Run {
                        time,
                        period: Span(1),
                        n: 1,
                        frame,
                        hop: ends.first_hop,
                        cell: CELL.first_cell(),
                        flags: RM | ENDS_FRAME | tagged,
                        ..Run::default()
                    });
                    return due;
                }
            }
        } else {
            paced.end.sent_data(n, due + period * (n - 1));
        }
        let frame = paced.frames.front_mut().expect("data wait");
        let cell = frame.next;
        if cell == 0 {
            paced.rm_bound.frame_begins(frame.frame);
        }
        frame.next += n as u32;
        let ends_frame = frame.next == frame.cells;
        let number = frame.frame;
        if ends_frame {
            paced.frames.pop_front();
            paced.joined -= 1;
        }
        paced.waiting -= n;
        let last = due + period * (n - 1);
        if last > now {
            paced.sent_ahead.push_back((last, period, n));
            paced.sent_ahead_cells += n;
        }
        let time = nic.send_regular(due, n, period);
        fabric.depart(Run {
            time,
            period: if n > 1 { period } else { Span(1) },
            n: n as u32,
            frame: number,
            cell: CELL.first_cell().after(cell),
            hop: ends.first_hop,
            flags: if ends_frame { ENDS_FRAME } else { 0 },
            ..Run::default()
        });
        last
    }

    /// Takes an RM cell of `flow` that reaches its host.
    pub(super) fn take_rm(&mut self, flow: FlowId, frame: u32, now: Time, fabric: &mut Fabric) {
        let rm = fabric.logs.deliver(flow, frame, now);
        let at = self.flows[flow.index()].paced.expect("an ABR VC") as usize;
        debug_assert!(
            now >= self.paced[at].rm_bound.time,
            "an RM cell comes before the bound"
        );
        let end = &mut self.paced[at].end;
        debug_assert!(
            end.has_sent_before(now),
            "cells have gone that this RM cell comes before"
        );
        end.take(now, rm);
        self.arm(at, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::BitRate;
    use crate::run::assembly::build;
    use crate::run::resolved::Resolved;
    use crate::run::simulation::Simulation;
    use crate::text::options::Options;
    use crate::text::scenario::read_toml;

    /// Two VCs of two hosts to another. Their cells queue at the port `s` to `b` only.
    fn two_vcs() -> Simulation {
        let text = r#"
duration = "1 s"
host = [{ name = "a", count = 2 }, { name = "b" }]
switch = [{ name = "s", abr = { feedback = "erica" } }]
link = [
    { from = "a", to = "s", rate = "100 Mbps", delay = "1 ms" },
    { from = "s", to = "b", rate = "10 Mbps", delay = "2 ms" },
]
vc = [{ from = "a", to = "b", class = "abr", abr = {}, traffic = "tcp" }]
"#;
        let scenario = read_toml(text, "", &[]).expect("it reads");
        let net = Resolved::new(&scenario).expect("it holds together");
        build(&net, None, &Options::default()).expect("any kernel")
    }

    fn cell(mbps: u64) -> Span {
        Format::AAL5.cell_time(BitRate(mbps * 1_000_000))
    }

    #[test]
    fn an_rm_cell_comes_no_sooner_than_its_last_port_can_send_it() {
        let Simulation {
            mut hosts,
            mut fabric,
            ..
        } = two_vcs();
        let whole = Span::from_milliseconds(3) + cell(100) + cell(10);
        let from_port = Span::from_milliseconds(2) + cell(10);
        let (rm, times) = (hosts.paced[0].rm, hosts.paced[0].times);
        assert_eq!(times.map(|times| times.whole), [whole; 2]);
        // Behind the slower link no cell waits, so there is no port on the way back.
        assert_eq!(
            times.map(|times| times.from_last),
            [Some((0, from_port)), None]
        );
        assert_eq!(hosts.first_arrival(rm, times[0], &fabric), Time::NEVER);
        let NextCell::Rm { rm: content, .. } = hosts.paced[0].end.next(Time::ZERO, true) else {
            unreachable!("the first cell is an RM cell");
        };
        let sent = Time(1_000);
        fabric.logs.send(rm, content, sent);
        assert_eq!(hosts.first_arrival(rm, times[0], &fabric), sent + whole);
        let start = sent + Span::from_milliseconds(50);
        fabric.earliest_starts[0] = start;
        let bound = hosts.first_arrival(rm, times[0], &fabric);
        assert_eq!(bound, start + from_port);
        let arrival = start + from_port + cell(10) * 7;
        hosts.flows[rm.index()].delivered.push_back((arrival, 0));
        assert_eq!(hosts.first_arrival(rm, times[0], &fabric), arrival);
    }

    #[test]
    fn data_wait_in_the_order_in_which_they_come() {
        let mut hosts = two_vcs().hosts;
        let frame = |since, cells| QueuedFrame {
            since: Time(since),
            frame: 0,
            next: 0,
            cells,
        };
        let queue = &mut hosts.paced[0];
        queue.frames = [frame(0, 2), frame(100, 3), frame(200, 1)].into();
        (queue.joined, queue.waiting) = (1, 2);
        let others = [(4, Time(300)), (1, Time(900))];
        let from = |n| queue.waits_from(n, others).0;
        assert_eq!([1, 2].map(from), [Time::ZERO; 2]);
        assert_eq!([3, 5, 6].map(from), [100, 100, 200].map(Time));
        assert_eq!([7, 10, 11].map(from), [300, 300, 900].map(Time));
        assert_eq!(queue.waits_from(14, others), (Time::NEVER, 3));
    }
}
