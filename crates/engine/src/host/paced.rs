//! ABR end systems at the hosts: frames wait before them, and their cells enter the NIC when they may.
//!
//! A VC with an agenda handles frames that arrive ahead of their time. What the source then offers is to come: it joins the frames that wait when
//! its time has come, or before the first cell goes after it, and only then is it known whether there is room.

use super::traffic::{End, FrameSource, Source};
use super::{Hosts, agenda};
use crate::abr::{EndSystem, Terms, Turn, mbps};
use crate::cells::{ENDS_FRAME, RM, Run, TAGGED};
use crate::event::Kind;
use crate::fabric::Fabric;
use crate::flow::FlowId;
use crate::stop::Overdue;
use crate::units::{Span, Time};
use std::collections::VecDeque;

/// A frame that waits, perhaps without its first cells.
#[derive(Clone, Copy, Debug)]
struct QueuedFrame {
    frame: u32,
    /// Its next cell, and how many it has.
    next: u32,
    cells: u32,
}

/// An end system with what waits before it.
#[derive(Debug)]
pub struct Paced {
    /// It.
    end: EndSystem,
    /// The flow of frames that leaves it, and that of its RM cells.
    flow: FlowId,
    rm: FlowId,
    /// What it receives.
    takes: FlowId,
    takes_rm: FlowId,
    /// Whether nobody else uses its NIC.
    is_alone: bool,
    frames: VecDeque<QueuedFrame>,
    /// Their cells.
    waiting: u64,
    /// Frames that will join them, of a VC with an agenda, and when.
    coming: VecDeque<(Time, QueuedFrame)>,
    /// Their cells.
    coming_cells: u64,
    /// Cells that were sent ahead of their time, in runs one after the other: when the last of each goes, their distance, and their number.
    ahead: VecDeque<(Time, Span, u64)>,
    /// The cells of all these runs.
    ahead_cells: u64,
    /// When it has an event.
    armed: Time,
    /// No RM cell comes before this time, unless one of its own or a frame behind this one goes sooner: kept to assert it.
    #[cfg(debug_assertions)]
    no_rm_before: (Time, Option<u32>),
}

impl Paced {
    /// One that has sent nothing: it sends the first two flows, of frames and of RM cells, and receives the others.
    pub fn new(
        terms: Terms,
        [flow, rm]: [FlowId; 2],
        [takes, takes_rm]: [FlowId; 2],
        is_alone: bool,
    ) -> Paced {
        Paced {
            end: EndSystem::new(terms),
            flow,
            rm,
            takes,
            takes_rm,
            is_alone,
            frames: VecDeque::new(),
            waiting: 0,
            coming: VecDeque::new(),
            coming_cells: 0,
            ahead: VecDeque::new(),
            ahead_cells: 0,
            armed: Time::NEVER,
            #[cfg(debug_assertions)]
            no_rm_before: (Time::ZERO, None),
        }
    }

    /// The flow of frames that leaves it, and the RM cells that reach it.
    pub fn flows(&self) -> [FlowId; 2] {
        [self.flow, self.takes_rm]
    }

    /// The end system.
    pub fn end(&self) -> &EndSystem {
        &self.end
    }

    /// Cells that were sent ahead of their time and have not gone before `now`.
    fn still_there(&mut self, now: Time) -> u64 {
        while let Some(&(last, period, n)) = self.ahead.front() {
            if last >= now {
                // Of the first run some may have gone, of the others none.
                let later = last.since(now).0 / period.0.max(1) + 1;
                return self.ahead_cells - n + later.min(n);
            }
            self.ahead.pop_front();
            self.ahead_cells -= n;
        }
        0
    }

    /// The frames that wait, in order, with how many of their cells do.
    pub fn queue(&self) -> impl Iterator<Item = (u32, u32)> {
        let left = |frame: &QueuedFrame| (frame.frame, frame.cells - frame.next);
        self.frames.iter().map(left)
    }

    /// The first frame that waits, or will.
    #[inline]
    fn first(&self) -> Option<&QueuedFrame> {
        let coming = || self.coming.front().map(|(_, frame)| frame);
        self.frames.front().or_else(coming)
    }

    /// A time before which the last cell of the first frame that waits does not go; [`Time::ZERO`] if none waits.
    fn first_ends(&self) -> Time {
        let first = self.frames.front();
        first.map_or(Time::ZERO, |frame| {
            self.end.goes_from(u64::from(frame.cells - frame.next - 1))
        })
    }

    /// Whether nobody else uses its NIC.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Frames of which cells wait, or will.
    pub fn frames(&self) -> usize {
        self.frames.len() + self.coming.len()
    }

    /// Cells of data that wait.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// From when on data wait, as far as it is known.
    #[inline]
    fn data_from(&self) -> Time {
        if self.waiting > 0 {
            return Time::ZERO;
        }
        self.coming.front().map_or(Time::NEVER, |&(time, _)| time)
    }

    /// When the next cell goes, if nothing comes that is not known of.
    #[inline]
    fn due(&self) -> Time {
        match self.data_from() {
            Time::ZERO => self.end.due(true),
            Time::NEVER => self.end.due(false),
            from => self.end.due(true).max(from).min(self.end.due(false)),
        }
    }
}

impl Hosts {
    /// A frame joins those that wait before the end system of its flow at `time`: of a VC with an agenda that may be ahead of the present.
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
        if vc.agenda.is_some() {
            let is_first = paced.data_from() == Time::NEVER;
            paced.coming.push_back((time, frame));
            paced.coming_cells += u64::from(cells);
            if is_first {
                self.send_ahead(at, time, fabric);
            }
            return;
        }
        let waited = paced.waiting > 0;
        let is_watched = vc.probe.is_some();
        // Behind others it changes nothing but what a probe sees.
        if self.join(at, frame, time) && (!waited || is_watched) {
            self.arm(at, time);
        }
    }

    /// A frame joins those that wait, if there is room, at `time`, before which all has gone that goes before it.
    fn join(&mut self, at: usize, frame: QueuedFrame, time: Time) -> bool {
        let paced = &mut self.paced[at];
        let cells = u64::from(frame.cells);
        let waiting = paced.waiting + paced.still_there(time);
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

    /// Those that come until `time` join the frames that wait; whether there was room for all.
    #[inline]
    fn join_until(&mut self, at: usize, time: Time) -> bool {
        let mut all = true;
        while let Some(&(since, frame)) = self.paced[at].coming.front()
            && since <= time
        {
            let paced = &mut self.paced[at];
            paced.coming.pop_front();
            paced.coming_cells -= u64::from(frame.cells);
            all &= self.join(at, frame, since);
        }
        all
    }

    /// The run has ended: nothing is to come any more.
    pub fn finish(&mut self) {
        for at in 0..self.paced.len() {
            self.join_until(at, self.end);
        }
    }

    /// Sets the event of an end system, of which something may have changed.
    fn arm(&mut self, at: usize, now: Time) {
        let paced = &mut self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        if ends.kind.is_data()
            && let Some(probe) = &mut self.vcs[ends.vc].probe
        {
            probe.paced(now, mbps(paced.end.acr()), paced.waiting);
        }
        let due = paced.due().max(now);
        if let Some(agenda) = self.vcs[ends.vc].agenda {
            paced.armed = due;
            return self.agendas.set(agenda, agenda::paced(ends.kind), due);
        }
        if due < paced.armed && due < self.end {
            paced.armed = due;
            self.events.push(due, Kind::Paced, at);
        }
    }

    /// An end system may have cells to send.
    pub(super) fn paced(&mut self, now: Time, at: usize, fabric: &mut Fabric) {
        let paced = &mut self.paced[at];
        if paced.armed != now {
            return;
        }
        paced.armed = Time::NEVER;
        let due = paced.due().max(now);
        let known = self.nothing_before(now, at);
        self.send_from(at, due, now, known, fabric);
        self.arm(at, now);
    }

    /// The first frame to wait at an end system comes at `time`: it is sent if no RM cell comes before. Others may follow it at once.
    fn send_ahead(&mut self, at: usize, time: Time, fabric: &mut Fabric) {
        let due = self.paced[at].due();
        // Else an RM cell goes before.
        if due >= time {
            let [_, near, rm] = self.nothing_before(Time::ZERO, at);
            let known = [Time::ZERO, near, rm];
            self.send_from(at, due, Time::ZERO, known, fabric);
            self.arm(at, time);
        }
    }

    /// Sends what is due from `due` on, as far as all is known that matters: see [`Hosts::nothing_before`]. What goes after `now` goes ahead of
    /// its time.
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
            let first_ends = self.paced[at].first_ends();
            if due.max(first_ends) >= near && rm > near {
                let bound = rm.min(self.no_rm_before(at, fabric));
                #[cfg(debug_assertions)]
                {
                    let paced = &mut self.paced[at];
                    paced.no_rm_before = (bound, paced.first().map(|frame| frame.frame));
                }
                limit = near.max(bound);
            }
            let limit = limit.min(self.end);
            // As long as data wait, others may join them.
            if due >= limit || (due >= frames_from && due < self.paced[at].data_from()) {
                break;
            }
            if self.nics[nic].is_overdue() {
                return fabric.overdue(Overdue::Nic(nic));
            }
            let last = match self.join_until(at, due) {
                true => self.send_due(at, due, [now, limit], fabric),
                // It may be that none waits now.
                false => due,
            };
            let paced = &self.paced[at];
            due = paced.due().max(last);
            // As long as the same frame goes on, hardly more is known than before.
            if due >= limit && paced.first().is_none_or(|frame| frame.next > 0) {
                break;
            }
        }
    }

    /// Times, later than `now`, before which no frame is handed over to an end system, and before which no RM cell comes for it either; and when
    /// the first RM cell comes that is known of. Whether the second time could be later is asked where it matters.
    fn nothing_before(&self, now: Time, at: usize) -> [Time; 3] {
        let paced = &self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        let vc = &self.vcs[ends.vc];
        let alone = now + Span(1);
        // Whose VC has an agenda, shares nothing.
        let shares = || {
            let stages = &self.stages[ends.hosts[0]];
            let waits = ends.sending.stage.is_some() || stages.iter().any(Option::is_some);
            !paced.is_alone || waits || vc.probe.is_some()
        };
        if vc.agenda.is_none() && shares() {
            return [alone; 3];
        }
        let Source::Frames(source) = &vc.source else {
            return [alone; 3];
        };
        let (end, source_at) = match ends.kind.is_data() {
            true => (End::Sender, vc.source_at),
            false => (End::Receiver, Time::NEVER),
        };
        let [frame, rm] = [paced.takes, paced.takes_rm].map(|flow| {
            let delivered = &self.flows[flow.index()].delivered;
            delivered.front().map_or(Time::NEVER, |&(time, _)| time)
        });
        let near = rm.min(self.known_until);
        let frames_from = frame.min(source.deadline(end)).min(source_at);
        [frames_from.min(near).max(alone), near.max(alone), rm]
    }

    /// A time before which no RM cell reaches an end system of a VC whose source offers frames.
    ///
    /// Each is on its way at least as long as anything. Those that are under way have been sent so long ago at most; what one of its own may cause at the
    /// other end has the way back as well. Any other comes no earlier than that end can send it.
    fn no_rm_before(&self, at: usize, fabric: &Fabric) -> Time {
        let paced = &self.paced[at];
        let ends = &self.flows[paced.flow.index()];
        let Source::Frames(source) = &self.vcs[ends.vc].source else {
            return Time::ZERO;
        };
        let under_way = |flow: FlowId, ways: u64| {
            let sent = fabric.logs.first_sent(flow);
            sent.map_or(Time::NEVER, |sent| sent + self.host_to_host * ways)
        };
        let told = under_way(paced.takes_rm, 1).min(under_way(paced.rm, 2));
        let other_ends = &self.flows[paced.takes.index()];
        let Some(other) = other_ends.paced.map(|i| &self.paced[i as usize]) else {
            return Time::ZERO;
        };
        let answers = source
            .answers()
            .filter(|_| ends.kind.is_data() && other_ends.is_direct);
        let (Some(answer), Some(first)) = (answers, paced.first()) else {
            return told.min(other.end.no_forward_before(u64::MAX) + self.host_to_host);
        };
        // Each frame before the one that goes next may be answered, and so may one that has arrived before; the next one itself not before its end
        // is there.
        let delayed = source.deadline(End::Receiver) < Time::NEVER;
        let frames = first.frame.wrapping_sub(ends.next_taken) + u32::from(delayed);
        let before = other.waiting + other.coming_cells + u64::from(answer) * u64::from(frames);
        let ends_at = paced.first_ends();
        let without = other.end.no_forward_before(before);
        let with = other.end.no_forward_before(before + u64::from(answer));
        told.min(without.min(with.max(ends_at + self.host_to_host)) + self.host_to_host)
    }

    /// Sends what is due at `due`, `now` or later, and data behind it before `limit`; returns when the last cell went.
    fn send_due(
        &mut self,
        at: usize,
        due: Time,
        [now, limit]: [Time; 2],
        fabric: &mut Fabric,
    ) -> Time {
        self.sent_from = self.sent_from.min(due);
        let paced = &mut self.paced[at];
        let ends = &mut self.flows[paced.flow.index()];
        let nic = &mut self.nics[ends.nic];
        let first = paced.frames.front().copied();
        let left = first.map_or(0, |frame| u64::from(frame.cells - frame.next));
        let (mut n, period) = paced.end.data_in_a_row(due, left, limit);
        let together = period >= nic.cell_time() && nic.is_idle_at(due);
        if !together {
            n = n.min(1);
        }
        if n == 0 {
            match paced.end.next(due, left > 0) {
                Turn::Data => n = 1,
                Turn::Rm { rm, out_of_rate } => {
                    #[cfg(debug_assertions)]
                    {
                        let back = due + self.host_to_host * 2;
                        paced.no_rm_before.0 = paced.no_rm_before.0.min(back);
                    }
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
        #[cfg(debug_assertions)]
        if cell == 0 && paced.no_rm_before.1 != Some(frame.frame) {
            paced.no_rm_before.0 = Time::ZERO;
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
            paced.ahead.push_back((last, period, n));
            paced.ahead_cells += n;
        }
        let time = nic.send_regular(due, n, period);
        fabric.depart(Run {
            time,
            period: if n > 1 { period } else { Span(1) },
            n: n as u32,
            frame: number,
            cell,
            hop: ends.first_hop,
            flags: if ends_frame { ENDS_FRAME } else { 0 },
            ..Run::default()
        });
        last
    }

    /// An RM cell of `flow` reaches its host.
    pub(super) fn take_rm(&mut self, flow: FlowId, frame: u32, now: Time, fabric: &mut Fabric) {
        let rm = fabric.logs.deliver(flow, frame, now);
        let at = self.flows[flow.index()].paced.expect("an ABR VC") as usize;
        #[cfg(debug_assertions)]
        assert!(
            now >= self.paced[at].no_rm_before.0,
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
