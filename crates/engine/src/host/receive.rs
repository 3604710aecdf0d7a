//! Up: a frame on its way from the network to a source.

use super::traffic::{Delivery, End, FrameSource, Source};
use super::{Hosts, Way, agenda};
use crate::cells::Arrival;
use crate::event::Kind;
use crate::fabric::Fabric;
use crate::flow::FlowId;
use crate::stop::Overdue;
use crate::units::Time;

impl Hosts {
    /// Handles or notes all frames that have reached their hosts, and those that follow from them.
    #[inline]
    pub fn take_arrivals(&mut self, fabric: &mut Fabric) {
        while !fabric.arrivals.is_empty() {
            std::mem::swap(&mut self.arrivals, &mut fabric.arrivals);
            self.known_until = Time::ZERO;
            for i in 0..self.arrivals.len() {
                self.arrival(self.arrivals[i], fabric);
            }
            self.arrivals.clear();
        }
    }

    /// A good frame has arrived, possibly ahead of the present.
    #[inline]
    fn arrival(&mut self, arrival: Arrival, fabric: &mut Fabric) {
        let Arrival { flow, frame, time } = arrival;
        let ends = &mut self.flows[flow.index()];
        if ends.at_once && ends.delivered.is_empty() {
            let concerns_timer = match &self.vcs[ends.vc].source {
                Source::Frames(source) => source.deadline(End::of_arrivals(ends.kind)) <= time,
                Source::Cells(_) => false,
            };
            if !concerns_timer {
                return self.reach_source(flow, frame, time, fabric);
            }
        }
        let ends = &mut self.flows[flow.index()];
        ends.delivered.push_back((time, frame));
        if ends.delivered.len() == 1 {
            self.expect(flow, time);
        }
    }

    /// The next frame of `flow` is delivered at `time`.
    #[inline]
    fn expect(&mut self, flow: FlowId, time: Time) {
        let ends = &self.flows[flow.index()];
        match self.vcs[ends.vc].agenda {
            Some(agenda) => {
                let place = agenda::delivered(ends.kind);
                self.agendas.set(agenda, place, time);
            }
            None => self.events.push(time, Kind::Delivered, flow.index()),
        }
    }

    /// The time has come at which a frame is delivered to its host.
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
        let mut time = now;
        let mut waits = false;
        if let Some(stage) = &mut self.stages[ends.hosts[1]][Way::Receive as usize] {
            let Some(leaves) = stage.leaves(time, ends.receiving.host_draws, frame) else {
                return fabric.overdue(Overdue::Host(ends.hosts[1]));
            };
            (time, waits) = (leaves, true);
        }
        if let Some(stage) = &mut ends.receiving.stage {
            let Some(leaves) = stage.leaves(time, ends.receiving.draws, frame) else {
                return fabric.overdue(Overdue::Transport(ends.vc));
            };
            (time, waits) = (leaves, true);
        }
        if waits {
            ends.to_transport.push_back(frame);
            self.events.push(time, Kind::ToTransport, flow.index());
        } else {
            self.reach_source(flow, frame, now, fabric);
        }
    }

    /// A frame reaches the source.
    #[inline]
    pub(super) fn reach_source(
        &mut self,
        flow: FlowId,
        frame: u32,
        now: Time,
        fabric: &mut Fabric,
    ) {
        let (index, kind) = {
            let ends = &mut self.flows[flow.index()];
            ends.next_taken = frame.wrapping_add(1);
            (ends.vc, ends.kind)
        };
        let vc = &mut self.vcs[index];
        let Some(source) = vc.source.frames() else {
            return;
        };
        let Delivery { bytes, cells } = source.take(kind, frame, now, &mut self.offered);
        if kind.is_data() {
            vc.delivered_bytes += bytes;
            if now >= self.measured.0 && now < self.measured.1 {
                vc.measured_bytes += bytes;
                vc.measured_cells += u64::from(cells);
            }
            if let Some(probe) = &mut vc.probe {
                probe.delivered(now, bytes, vc.delivered_bytes);
            }
        }
        self.acted(index, End::of_arrivals(kind), now, fabric);
    }
}
