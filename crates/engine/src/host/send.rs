//! The downward path of a frame, from a source to the NIC.

use super::{Direction, FlowEnds, Hosts};
use crate::ground::event::Kind;
use crate::ground::flow::FlowId;
use crate::ground::format::FrameSize;
use crate::ground::line_rate::Stretch;
use crate::ground::units::{Span, Time};
use crate::network::cells::{ENDS_FRAME, Run};
use crate::network::fabric::Fabric;
use crate::network::stop::Overdue;

impl FlowEnds {
    /// The cells of a frame, without the times of their transmission.
    #[inline]
    fn whole_frame(&self, frame: u32, size: FrameSize) -> Run {
        Run {
            age: Span::ZERO,
            n: size.cells(),
            frame,
            cell: size.first_cell(),
            hop: self.first_hop,
            flags: ENDS_FRAME,
            ..Run::default()
        }
    }
}

/// Sends the first cells of what is left of a frame at the times of `stretch`.
fn depart(left: &mut Run, stretch: Stretch, fabric: &mut Fabric) {
    fabric.depart(Run {
        time: stretch.first_end(),
        period: stretch.takes,
        ..left.first(stretch.n)
    });
    left.skip(stretch.n);
}

impl Hosts {
    /// Sends the next frame of a source.
    #[inline(always)]
    pub(super) fn send(&mut self, flow: FlowId, size: FrameSize, now: Time, fabric: &mut Fabric) {
        let ends = &mut self.flows[flow.index()];
        let frame = ends.next_frame;
        ends.next_frame = frame.wrapping_add(1);
        fabric.destinations.sinks[flow.index()].expect(frame, size);
        if ends.sends_directly {
            return self.queue_frame(flow, frame, size, now, fabric);
        }
        self.send_through_stages(flow, frame, size, now, fabric)
    }

    /// [`Hosts::send`] with processing stages on the way.
    #[inline(never)]
    fn send_through_stages(
        &mut self,
        flow: FlowId,
        frame: u32,
        size: FrameSize,
        now: Time,
        fabric: &mut Fabric,
    ) {
        let ends = &mut self.flows[flow.index()];
        if ends.sends_alone {
            let time = self.reaches_nic(flow, frame, now, fabric);
            return time.map_or((), |time| self.queue_frame(flow, frame, size, time, fabric));
        }
        if let Some(own) = &mut ends.sending.transport {
            let (stage, draws) = &mut **own;
            let Some(time) = stage.leaves(now, *draws, frame) else {
                return fabric.overdue(Overdue::Transport(ends.vc));
            };
            ends.to_host.push_back(frame);
            return self.events.push(time, Kind::ToHost, flow.index());
        }
        self.host_send(flow, frame, now, fabric);
    }

    /// When a frame handed over now reaches its NIC, if no other flow passes a stage on the way.
    /// `None` if not before the end.
    fn reaches_nic(
        &mut self,
        flow: FlowId,
        frame: u32,
        now: Time,
        fabric: &mut Fabric,
    ) -> Option<Time> {
        let ends = &mut self.flows[flow.index()];
        let mut time = now;
        if let Some(own) = &mut ends.sending.transport {
            let (stage, draws) = &mut **own;
            let Some(leaves) = stage.leaves(time, *draws, frame) else {
                fabric.overdue(Overdue::Transport(ends.vc));
                return None;
            };
            time = leaves;
        }
        if time >= self.end {
            return None;
        }
        let host = ends.hosts[0];
        if let Some(stage) = &mut self.stages[host][Direction::Send as usize] {
            let leaves = ends.sending.leaves_host(stage, time, frame);
            if leaves.is_none() {
                fabric.overdue(Overdue::Host(host));
            }
            return leaves;
        }
        Some(time)
    }

    /// Takes a frame to send from the transport to the host's stage.
    pub(super) fn host_send(&mut self, flow: FlowId, frame: u32, now: Time, fabric: &mut Fabric) {
        let ends = &self.flows[flow.index()];
        let host = ends.hosts[0];
        if let Some(stage) = &mut self.stages[host][Direction::Send as usize] {
            let Some(time) = ends.sending.leaves_host(stage, now, frame) else {
                return fabric.overdue(Overdue::Host(host));
            };
            self.to_nics[host].push_back((flow, frame));
            let index = self.leaving.enter_stage(host);
            return self.events.push(time, Kind::ToNic, index);
        }
        self.nic_send(flow, frame, now, fabric);
    }

    /// Takes a frame to its shaper, if it has one, and else to its NIC.
    pub(super) fn nic_send(&mut self, flow: FlowId, frame: u32, time: Time, fabric: &mut Fabric) {
        let size = fabric.destinations.sinks[flow.index()].size_of(frame);
        if self.flows[flow.index()].shaper.is_some() {
            return self.shape(flow, frame, size, time, fabric);
        }
        self.queue_frame(flow, frame, size, time, fabric);
    }

    /// Queues a frame at its NIC that leaves its shaper at `now` and was handed over at `since`.
    #[cold]
    pub(super) fn queue_shaped(
        &mut self,
        flow: FlowId,
        frame: u32,
        size: FrameSize,
        [since, now]: [Time; 2],
        fabric: &mut Fabric,
    ) {
        let ends = &self.flows[flow.index()];
        let nic = &mut self.nics[ends.nic];
        if nic.is_overdue() {
            return fabric.overdue(Overdue::Nic(ends.nic));
        }
        let mut left = ends.whole_frame(frame, size);
        nic.send_shaped(since, now, size, |stretch| {
            depart(&mut left, stretch, fabric)
        });
    }

    /// Queues a frame at its NIC, or at the end system before it.
    #[inline(always)]
    fn queue_frame(
        &mut self,
        flow: FlowId,
        frame: u32,
        size: FrameSize,
        time: Time,
        fabric: &mut Fabric,
    ) {
        let ends = &mut self.flows[flow.index()];
        let cells = size.cells();
        if time >= self.end {
            return;
        }
        if !ends.leaves_plainly {
            return self.queue_otherwise(flow, frame, size, time, fabric);
        }
        if self.nics[ends.nic].is_overdue() {
            return fabric.overdue(Overdue::Nic(ends.nic));
        }
        ends.frames_sent += 1;
        ends.cells_queued += u64::from(cells);
        let nic = &mut self.nics[ends.nic];
        let whole = ends.whole_frame(frame, size);
        let first = nic.send_frame(time, size);
        fabric.depart(Run {
            time: first,
            period: nic.cell_time(),
            ..whole
        });
    }

    /// Queues a frame before an ABR end system, or at a NIC whose rate changes.
    #[cold]
    fn queue_otherwise(
        &mut self,
        flow: FlowId,
        frame: u32,
        size: FrameSize,
        time: Time,
        fabric: &mut Fabric,
    ) {
        let ends = &mut self.flows[flow.index()];
        if let Some(paced) = ends.paced {
            return self.queue_at_end_system(paced as usize, frame, size.cells(), time, fabric);
        }
        ends.frames_sent += 1;
        ends.cells_queued += u64::from(size.cells());
        let mut left = ends.whole_frame(frame, size);
        let nic = &mut self.nics[ends.nic];
        nic.send_in_stretches(time, size, |stretch| depart(&mut left, stretch, fabric));
    }
}
