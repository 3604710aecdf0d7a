//! The upward path of a frame, from the network to a source.

use super::traffic::{Delivery, End, FrameSource, Source};
use super::{Direction, Hosts, vc_event_queues};
use crate::ground::event::Kind;
use crate::ground::flow::FlowId;
use crate::ground::units::Time;
use crate::network::cells::Arrival;
use crate::network::fabric::Fabric;
use crate::network::stop::Overdue;

impl Hosts {
    /// Handles or stores all frames that have reached their hosts, and the frames that follow from
    /// them.
    #[inline]
    pub fn take_arrivals(&mut self, fabric: &mut Fabric) {
        while !fabric.destinations.arrivals.is_empty() {
            std::mem::swap(&mut self.arrivals, &mut fabric.destinations.arrivals);
            self.known_until = Time::ZERO;
            if !self.paced.is_empty() {
                self.note_rm_cells();
            }
            let mut i = 0;
            while let Some(&arrival) = self.arrivals.get(i) {
                self.arrival(arrival, fabric);
                i += 1;
            }
            self.arrivals.clear();
        }
    }

    /// Stores the RM cells among the arrivals. A source that sends because of another arrival must
    /// know all of them.
    #[inline(never)]
    fn note_rm_cells(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.retain(|&arrival| {
            let is_rm = self.flows[arrival.flow.index()].kind.is_rm();
            if is_rm {
                self.note(arrival);
            }
            !is_rm
        });
        self.arrivals = arrivals;
    }

    /// Handles a complete frame that has arrived, possibly ahead of its time.
    #[inline]
    fn arrival(&mut self, arrival: Arrival, fabric: &mut Fabric) {
        let Arrival { flow, frame, time } = arrival;
        let ends = &self.flows[flow.index()];
        if !ends.can_handle_ahead || !ends.delivered.is_empty() {
            return self.note(arrival);
        }
        if ends.receives_directly {
            return match self.concerns_timer(flow, time) {
                true => self.note(arrival),
                false => self.hand_to_source(flow, frame, time, fabric),
            };
        }
        // No other flow passes these stages, so earlier frames have passed them already.
        let Some(time) = self.leaves_stages(flow, frame, time, fabric) else {
            return;
        };
        if !self.flows[flow.index()].to_transport.is_empty() || self.concerns_timer(flow, time) {
            self.wait_in_stages(flow, frame, time);
        } else if time < self.end {
            self.reach_source(flow, frame, time, fabric);
        }
    }

    /// Whether a timer of the end that receives `flow` expires at or before `time`.
    #[inline]
    fn concerns_timer(&self, flow: FlowId, time: Time) -> bool {
        let ends = &self.flows[flow.index()];
        match &self.vcs[ends.vc].source {
            Source::Frames(source) => source.deadline(End::of_arrivals(ends.kind)) <= time,
            Source::Cells(_) => false,
        }
    }

    /// Stores a frame for delivery at its time.
    #[inline]
    fn note(&mut self, arrival: Arrival) {
        let Arrival { flow, frame, time } = arrival;
        let ends = &mut self.flows[flow.index()];
        ends.delivered.push_back((time, frame));
        if ends.delivered.len() == 1 {
            self.expect(flow, time);
        }
    }

    /// Schedules the next delivery of `flow` at `time`.
    #[inline]
    fn expect(&mut self, flow: FlowId, time: Time) {
        let ends = &self.flows[flow.index()];
        match self.vcs[ends.vc].event_queue {
            Some(queue) => {
                let slot = vc_event_queues::delivered(ends.kind);
                self.vc_event_queues.set(queue, slot, time);
            }
            None => self.events.push(time, Kind::Delivered, flow.index()),
        }
    }

    /// Delivers the next frame of a flow to its host.
    pub(super) fn delivered(&mut self, now: Time, flow: FlowId, fabric: &mut Fabric) {
        let ends = &mut self.flows[flow.index()];
        let first = ends.delivered.pop_front();
        let (_, frame) = first.expect("a delivery has its frame");
        if let Some(&(time, _)) = ends.delivered.front() {
            self.expect(flow, time);
        }
        let ends = &mut self.flows[flow.index()];
        if ends.kind.is_rm() {
            return self.take_rm(flow, frame, now, fabric);
        }
        if ends.receives_directly {
            return self.reach_source(flow, frame, now, fabric);
        }
        if let Some(time) = self.leaves_stages(flow, frame, now, fabric) {
            self.wait_in_stages(flow, frame, time);
        }
    }

    /// When a frame delivered to its host at `time` leaves the stages before the transport; `None`
    /// if the run cannot continue.
    #[inline]
    fn leaves_stages(
        &mut self,
        flow: FlowId,
        frame: u32,
        mut time: Time,
        fabric: &mut Fabric,
    ) -> Option<Time> {
        let ends = &mut self.flows[flow.index()];
        let host = ends.hosts[1];
        if let Some(stage) = &mut self.stages[host][Direction::Receive as usize] {
            let Some(leaves) = ends.receiving.leaves_host(stage, time, frame) else {
                fabric.overdue(Overdue::Host(host));
                return None;
            };
            time = leaves;
        }
        if let Some(own) = &mut ends.receiving.transport {
            let (stage, draws) = &mut **own;
            let leaves = stage.leaves(time, *draws, frame);
            if leaves.is_none() {
                fabric.overdue(Overdue::Transport(ends.vc));
            }
            return leaves;
        }
        Some(time)
    }

    /// Schedules a frame that leaves the stages before the transport at `time`.
    #[inline]
    fn wait_in_stages(&mut self, flow: FlowId, frame: u32, time: Time) {
        self.flows[flow.index()].to_transport.push_back(frame);
        self.events.push(time, Kind::ToTransport, flow.index());
    }

    /// Hands a frame to the source.
    #[inline(never)]
    pub(super) fn reach_source(
        &mut self,
        flow: FlowId,
        frame: u32,
        now: Time,
        fabric: &mut Fabric,
    ) {
        self.hand_to_source(flow, frame, now, fabric);
    }

    /// [`Hosts::reach_source`] inlined for the most frequent caller: the call took 3 % of all
    /// instructions on a LAN.
    #[inline(always)]
    fn hand_to_source(&mut self, flow: FlowId, frame: u32, now: Time, fabric: &mut Fabric) {
        let (index, kind) = {
            let ends = &mut self.flows[flow.index()];
            ends.next_received = frame.wrapping_add(1);
            (ends.vc, ends.kind)
        };
        let vc = &mut self.vcs[index];
        let Some(source) = vc.source.frames() else {
            return;
        };
        if let Some(captures) = &mut fabric.captures {
            captures.received(flow, frame, now);
        }
        let Delivery { bytes, line_bytes } = source.take_here(kind, frame, now, &mut self.offered);
        if kind.is_data() {
            vc.delivered_bytes += bytes;
            if now >= self.measured.0 && now < self.measured.1 {
                vc.measured_bytes += bytes;
                vc.measured_line_bytes += line_bytes;
            }
            if let Some(probe) = &mut vc.probe {
                probe.delivered(now, bytes, vc.delivered_bytes);
            }
        }
        self.follow_up(index, End::of_arrivals(kind), now, fabric);
    }
}
