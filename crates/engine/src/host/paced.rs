//! ABR end systems at the hosts: frames wait before them, and their cells enter the NIC when the
//! rate allows.
//!
//! A VC with its own event queue handles arriving frames ahead of their time, so frames that its
//! source then offers lie in the future. They join the queue of frames when their time has come, or
//! before the first cell sent after it. Only then is it known whether there is room for them.

use super::traffic::{End, FrameSource, Source};
use super::{Hosts, vc_event_queues};
use crate::abr::{EndSystem, EndSystemTerms, NextCell, mbps};
use crate::cells::{ENDS_FRAME, RM, Run, TAGGED};
use crate::event::Kind;
use crate::fabric::Fabric;
use crate::flow::FlowId;
use crate::format::{Format, FrameSize};
use crate::stop::Overdue;
use crate::units::{Span, Time};
use std::collections::VecDeque;

const CELL: FrameSize = Format::AAL5.one_cell();

/// A waiting frame, possibly without its first cells.
#[derive(Clone, Copy, Debug)]
struct QueuedFrame {
    frame: u32,
    /// Number of the next cell, and cells of the frame.
    next: u32,
    cells: u32,
}

/// The last [`Hosts::earliest_rm_arrival`] on which cells were sent, kept to assert that it holds.
/// Nothing is kept in builds without assertions.
#[derive(Debug, Default)]
struct RmBound {
    /// No RM cell comes before this time.
    time: Time,
    /// The frame that went first when the bound was derived. The bound ends when another begins.
    frame: Option<u32>,
}

impl RmBound {
    fn set(&mut self, time: Time, frame: Option<u32>) {
        if cfg!(debug_assertions) {
            *self = RmBound { time, frame };
        }
    }

    /// An RM cell goes that can be back at `time`.
    fn rm_back_from(&mut self, time: Time) {
        if cfg!(debug_assertions) {
            self.time = self.time.min(time);
        }
    }

    /// The first cell of `frame` goes.
    fn frame_begins(&mut self, frame: u32) {
        if cfg!(debug_assertions) && self.frame != Some(frame) {
            *self = RmBound::default();
        }
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
    /// Whether no other flow uses the NIC.
    is_alone: bool,
    frames: VecDeque<QueuedFrame>,
    /// Waiting cells of `frames`.
    waiting: u64,
    /// Future frames of a VC with an event queue, and when they join the queue.
    future_frames: VecDeque<(Time, QueuedFrame)>,
    /// Cells of the future frames.
    future_cells: u64,
    /// Runs of cells that were sent ahead of their time, in order: departure of the last cell,
    /// period, number of cells.
    sent_ahead: VecDeque<(Time, Span, u64)>,
    /// Cells of all these runs.
    sent_ahead_cells: u64,
    /// Time of the scheduled event.
    armed: Time,
    /// Checked when an RM cell arrives.
    rm_bound: RmBound,
}

impl PacedQueue {
    /// An end system that has sent nothing. It sends `flow` and `rm`, and receives the others.
    pub fn new(
        terms: EndSystemTerms,
        [flow, rm]: [FlowId; 2],
        [incoming, incoming_rm]: [FlowId; 2],
        is_alone: bool,
    ) -> PacedQueue {
        PacedQueue {
            end: EndSystem::new(terms),
            flow,
            rm,
            incoming,
            incoming_rm,
            is_alone,
            frames: VecDeque::new(),
            waiting: 0,
            future_frames: VecDeque::new(),
            future_cells: 0,
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

    /// The end system.
    pub fn end(&self) -> &EndSystem {
        &self.end
    }

    /// Cells that were sent ahead of their time and leave at `now` or later.
    fn cells_sent_ahead(&mut self, now: Time) -> u64 {
        while let Some(&(last, period, n)) = self.sent_ahead.front() {
            if last >= now {
                // Of the first run in the list some cells may have gone, of those behind it none.
                let later = last.since(now).0 / period.0.max(1) + 1;
                return self.sent_ahead_cells - n + later.min(n);
            }
            self.sent_ahead.pop_front();
            self.sent_ahead_cells -= n;
        }
        0
    }

    /// Waiting frames in order, each with its number of waiting cells.
    pub fn queue(&self) -> impl Iterator<Item = (u32, u32)> {
        let left = |frame: &QueuedFrame| (frame.frame, frame.cells - frame.next);
        self.frames.iter().map(left)
    }

    /// The first waiting or future frame.
    #[inline]
    fn first(&self) -> Option<&QueuedFrame> {
        let coming = || self.future_frames.front().map(|(_, frame)| frame);
        self.frames.front().or_else(coming)
    }

    /// Lower bound on the departure of the last cell of the first waiting frame; [`Time::ZERO`] if
    /// none waits.
    fn earliest_end_of_first(&self) -> Time {
        let first = self.frames.front();
        first.map_or(Time::ZERO, |frame| {
            self.end
                .earliest_data_cell(u64::from(frame.cells - frame.next - 1))
        })
    }

    /// Whether no other flow uses the NIC.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Number of waiting and future frames.
    pub fn frames(&self) -> usize {
        self.frames.len() + self.future_frames.len()
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
        self.future_frames
            .front()
            .map_or(Time::NEVER, |&(time, _)| time)
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
        let frame = QueuedFrame {
            frame,
            next: 0,
            cells,
        };
        if vc.event_queue.is_some() {
            let is_first = paced.data_waits_from() == Time::NEVER;
            paced.future_frames.push_back((time, frame));
            paced.future_cells += u64::from(cells);
            if is_first {
                self.send_ahead(at, time, fabric);
            }
            return;
        }
        let waited = paced.waiting > 0;
        let is_watched = vc.probe.is_some();
        // Behind other frames a new one changes nothing except for a probe.
        if self.join(at, frame, time) && (!waited || is_watched) {
            self.arm(at, time);
        }
    }

    /// Appends a frame at `time`, if there is room. All cells that go before `time` must have gone.
    fn join(&mut self, at: usize, frame: QueuedFrame, time: Time) -> bool {
        let paced = &mut self.paced[at];
        let cells = u64::from(frame.cells);
        let waiting = paced.waiting + paced.cells_sent_ahead(time);
        let fits = paced.end.queues(waiting, cells);
        if fits {
            let ends = &mut self.flows[paced.flow.index()];
            ends.frames_sent += 1;
            ends.cells_queued += cells;
            paced.frames.push_back(frame);
            paced.waiting += cells;
        }
        fits
    }

    /// Appends the future frames that come until `time`. Returns whether there was room for all.
    #[inline]
    fn join_until(&mut self, at: usize, time: Time) -> bool {
        let mut all = true;
        while let Some(&(since, frame)) = self.paced[at].future_frames.front()
            && since <= time
        {
            let paced = &mut self.paced[at];
            paced.future_frames.pop_front();
            paced.future_cells -= u64::from(frame.cells);
            all &= self.join(at, frame, since);
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
        let paced = &mut self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        if ends.kind.is_data()
            && let Some(probe) = &mut self.vcs[ends.vc].probe
        {
            probe.paced(now, mbps(paced.end.acr()), paced.waiting);
        }
        let due = paced.due().max(now);
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
        self.send_from(at, due, now, known, fabric);
        self.arm(at, now);
    }

    /// Sends ahead a frame that comes at `time` to an empty queue, unless an RM cell goes first.
    /// Others may follow at once.
    fn send_ahead(&mut self, at: usize, time: Time, fabric: &mut Fabric) {
        let due = self.paced[at].due();
        // If `due < time`, an RM cell goes first: nothing is sent yet.
        if due >= time {
            let [_, near, rm] = self.earliest_inputs(Time::ZERO, at);
            let known = [Time::ZERO, near, rm];
            self.send_from(at, due, Time::ZERO, known, fabric);
            self.arm(at, time);
        }
    }

    /// Sends the cells due from `due` on, as long as everything relevant is known (see
    /// [`Hosts::earliest_inputs`]). Cells that go after `now` are sent ahead of their time.
    #[inline]
    fn send_from(
        &mut self,
        at: usize,
        mut due: Time,
        now: Time,
        [frames_from, near, rm]: [Time; 3],
        fabric: &mut Fabric,
    ) {
        let nic = self.flows[self.paced[at].flow.index()].nic;
        loop {
            let mut limit = near;
            let end_of_first = self.paced[at].earliest_end_of_first();
            if due.max(end_of_first) >= near && rm > near {
                let bound = rm.min(self.earliest_rm_arrival(at, fabric));
                let paced = &mut self.paced[at];
                let frame = paced.first().map(|frame| frame.frame);
                paced.rm_bound.set(bound, frame);
                limit = near.max(bound);
            }
            let limit = limit.min(self.end);
            // While data wait, further frames may join them without changing what is sent.
            if due >= limit || (due >= frames_from && due < self.paced[at].data_waits_from()) {
                break;
            }
            if self.nics[nic].is_overdue() {
                return fabric.overdue(Overdue::Nic(nic));
            }
            let last = match self.join_until(at, due) {
                true => self.send_due(at, due, [now, limit], fabric),
                // The frame may have been refused, so that none waits now.
                false => due,
            };
            let paced = &self.paced[at];
            due = paced.due().max(last);
            // While the same frame continues, hardly more is known than before.
            if due >= limit && paced.first().is_none_or(|frame| frame.next > 0) {
                break;
            }
        }
    }

    /// Three times, later than `now`: before the first no frame is handed to the end system, before
    /// the second no RM cell reaches it. The third is the arrival of its first known RM cell.
    ///
    /// A later value of the second time is computed only where it matters.
    fn earliest_inputs(&self, now: Time, at: usize) -> [Time; 3] {
        let paced = &self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        let vc = &self.vcs[ends.vc];
        let alone = now + Span(1);
        // A VC with an event queue shares nothing.
        let shares = || {
            let stages = &self.stages[ends.hosts[0]];
            let waits = ends.sending.stage.is_some() || stages.iter().any(Option::is_some);
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
    /// frames.
    ///
    /// Every RM cell is in transit for at least the minimum time between hosts. Cells in transit
    /// left no earlier than the first one logged. A cell of this end that the other end turns round
    /// needs the way back as well. Any other RM cell comes no earlier than the other end can send
    /// it.
    fn earliest_rm_arrival(&self, at: usize, fabric: &Fabric) -> Time {
        let paced = &self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        let Source::Frames(source) = &self.vcs[ends.vc].source else {
            return Time::ZERO;
        };
        let under_way = |flow: FlowId, ways: u64| {
            let sent = fabric.logs.first_sent(flow);
            sent.map_or(Time::NEVER, |sent| sent + self.host_to_host * ways)
        };
        let known = under_way(paced.incoming_rm, 1).min(under_way(paced.rm, 2));
        let other_ends = &self.flows[paced.incoming.index()];
        let Some(other) = other_ends.paced.map(|i| &self.paced[i as usize]) else {
            return Time::ZERO;
        };
        let answers = source
            .answers()
            .filter(|_| ends.kind.is_data() && other_ends.sends_directly);
        let (Some(answer), Some(first)) = (answers, paced.first()) else {
            return known.min(other.end.earliest_forward_rm(u64::MAX) + self.host_to_host);
        };
        // Each frame before the next one may be answered, and so may an earlier arrival. The next
        // frame itself is not answered before its end has arrived.
        let delayed = source.deadline(End::Receiver) < Time::NEVER;
        let frames = first.frame.wrapping_sub(ends.next_received) + u32::from(delayed);
        let before = other.waiting + other.future_cells + u64::from(answer) * u64::from(frames);
        let ends_at = paced.earliest_end_of_first();
        let without = other.end.earliest_forward_rm(before);
        let with = other.end.earliest_forward_rm(before + u64::from(answer));
        known.min(without.min(with.max(ends_at + self.host_to_host)) + self.host_to_host)
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
        let first = paced.frames.front().copied();
        let left = first.map_or(0, |frame| u64::from(frame.cells - frame.next));
        let (mut n, period) = paced.end.consecutive_data(due, left, limit);
        let together = period >= nic.cell_time() && nic.is_idle_at(due);
        if !together {
            n = n.min(1);
        }
        if n == 0 {
            match paced.end.next(due, left > 0) {
                NextCell::Data => n = 1,
                NextCell::Rm { rm, out_of_rate } => {
                    paced.rm_bound.rm_back_from(due + self.host_to_host * 2);
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
