//! End systems: events at hosts, with sources, timers, processing stages and NICs.
//!
//! All hosts share one event list. A frame goes down from its source through the stages of
//! transport and host to the NIC (`send`), and up from the network to the source at the other end
//! (`receive`). Cells of single-cell sources enter the NIC directly (`emit`).
//!
//! An arriving frame is handled at once, ahead of its time, if no other VC can be affected. The
//! host's link and its processing stages must serve this VC only, and no timer at the receiving end
//! may expire before. In the same way, frames from a source go to the NIC at once, with the time at
//! which they leave the stages, if no other flow passes these stages. A UDP source then sends several
//! frames per event, since nothing can change what it sends.

mod captured;
mod emit;
mod nic;
mod paced;
mod probe;
mod receive;
mod send;
mod shape;
pub mod tcp;
pub mod traffic;
mod vc_event_queues;

pub use nic::Nic;
pub use paced::{PacedQueue, ShortestTimes};
pub use probe::{VcProbe, VcWatch};
pub use shape::Shaper;

use crate::ground::event::{EventList, Kind};
use crate::ground::flow::{Flow, FlowId, FlowKind};
use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::network::cells::Arrival;
use crate::network::fabric::Fabric;
use crate::network::processing::FrameStage;
use crate::network::tally::NicTally;
use shape::LeavingOrder;
use std::collections::VecDeque;
use traffic::{End, FrameSource, Offered, Outbox, Source};
use vc_event_queues::VcEventQueues;

/// Maximum number of frames of an independent source per event.
const FRAMES_AHEAD: u32 = 16;

/// Direction of a frame through a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the network.
    Send,
    /// From the network.
    Receive,
}

/// Processing of a flow in one direction.
#[derive(Debug)]
pub struct FlowStages {
    /// Stage of the transport, for this flow alone, with its random draws; `None`: no delay.
    pub transport: Option<Box<(FrameStage, Stream)>>,
    /// Random draws for the host's stage, if it has one.
    pub host_draws: Option<Stream>,
}

impl FlowStages {
    /// When `frame`, which reaches the stage of the host at `time`, leaves it.
    fn leaves_host(&self, stage: &mut FrameStage, time: Time, frame: u32) -> Option<Time> {
        stage.leaves(time, self.host_draws.expect("its host has a stage"), frame)
    }
}

/// A flow at its two hosts. Fields needed by frames in the plain case come first and fill a cache
/// line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct FlowEnds {
    /// Index of the VC.
    pub vc: usize,
    /// Link of the NIC that the flow leaves through.
    pub nic: usize,
    /// Source and destination host.
    pub hosts: [usize; 2],
    /// Index of the first hop, that of the NIC.
    pub first_hop: u32,
    /// Number of the next frame.
    next_frame: u32,
    /// Frames queued at the NIC.
    pub frames_sent: u64,
    /// Cells of the frames queued at the NIC.
    pub cells_queued: u64,
    /// Role of the flow in its VC.
    pub kind: FlowKind,
    /// Whether an arriving frame may be handled ahead of its time, because no other VC can be
    /// affected.
    ///
    /// No other flow passes the stages at the destination, and the flow that answers (or this flow,
    /// without answers) sends alone; or the VC has an event queue.
    pub can_handle_ahead: bool,
    /// Whether no other flow passes the NIC and the stages before it, and no shaper is there.
    pub sends_alone: bool,
    /// Whether no processing stage or shaper is on the way to the NIC, and no stage at the
    /// destination.
    sends_directly: bool,
    receives_directly: bool,
    /// Whether frames go to the NIC at once and leave it in cells of equal times: there is no ABR end
    /// system, and the rate does not change.
    pub leaves_plainly: bool,
    /// Number of the frame after the last one that reached its source; frames from this one on may
    /// be in transit.
    next_received: u32,
    /// Frames delivered to the host but not yet handled: time and number.
    delivered: VecDeque<(Time, u32)>,
    /// The ABR end system that sends this flow; for RM cells, the one that receives them.
    pub paced: Option<u32>,
    /// The transport's processing at the source.
    pub sending: FlowStages,
    /// The transport's processing at the destination.
    pub receiving: FlowStages,
    /// Frames on the way to the transport, and from the transport to the host.
    to_transport: VecDeque<u32>,
    to_host: VecDeque<u32>,
    /// The shaper that the frames pass before the NIC.
    pub shaper: Option<Box<Shaper>>,
}

impl FlowEnds {
    /// Number of the frame after the last one that reached its source.
    pub fn next_received(&self) -> u32 {
        self.next_received
    }

    /// A flow that has sent nothing. `stages` say how its frames are processed at the source
    /// and at the destination.
    pub fn new(flow: &Flow, first_hop: u32, stages: [FlowStages; 2]) -> FlowEnds {
        let [sending, receiving] = stages;
        FlowEnds {
            vc: flow.vc,
            kind: flow.kind,
            first_hop,
            nic: flow.path[0],
            hosts: flow.hosts,
            next_frame: 0,
            next_received: 0,
            frames_sent: 0,
            cells_queued: 0,
            can_handle_ahead: false,
            sends_alone: false,
            sends_directly: false,
            receives_directly: false,
            leaves_plainly: true,
            paced: None,
            sending,
            receiving,
            delivered: VecDeque::new(),
            to_transport: VecDeque::new(),
            to_host: VecDeque::new(),
            shaper: None,
        }
    }
}

/// A VC at its hosts.
#[derive(Debug)]
pub struct Vc {
    /// The data flow.
    pub data: FlowId,
    /// The reverse flow.
    pub ack: FlowId,
    /// Source of the traffic.
    pub source: Source,
    /// Due times of the timer events of both ends in the event list.
    timer_at: [Time; 2],
    /// When the source starts or continues on its own.
    source_at: Time,
    /// Bytes delivered within the measuring time.
    pub measured_bytes: u64,
    /// Bytes delivered from start to end.
    pub delivered_bytes: u64,
    /// Bytes on the line of frames with new data that arrived within the measuring time.
    pub measured_line_bytes: u64,
    /// Probes of this VC.
    pub probe: Option<Box<VcProbe>>,
    /// Index of the event queue, if events of this VC are there instead of in the event list.
    event_queue: Option<u32>,
}

impl Vc {
    /// A VC that has not started.
    pub fn new(data: FlowId, ack: FlowId, source: Source, probe: Option<Box<VcProbe>>) -> Vc {
        Vc {
            data,
            ack,
            source,
            timer_at: [Time::NEVER; 2],
            source_at: Time::NEVER,
            measured_bytes: 0,
            delivered_bytes: 0,
            measured_line_bytes: 0,
            probe,
            event_queue: None,
        }
    }
}

/// All hosts.
#[derive(Debug)]
pub struct Hosts {
    /// Pending events.
    pub events: EventList,
    /// VCs, by index.
    pub vcs: Vec<Vc>,
    /// Flows, by index.
    pub flows: Vec<FlowEnds>,
    /// ABR end systems, in the order of the flows of frames that leave them.
    pub paced: Vec<PacedQueue>,
    /// NICs by link; idle for links that leave a switch.
    nics: Vec<Nic>,
    /// Processing stages per host: for sending and for receiving.
    stages: Vec<[Option<Box<FrameStage>>; 2]>,
    /// Per host: frames in its sending stage on the way to a NIC.
    to_nics: Vec<VecDeque<(FlowId, u32)>>,
    /// Order in which frames leave stages and shapers of a host at one instant.
    leaving: LeavingOrder,
    /// End of the run.
    end: Time,
    /// Events of VCs that share nothing with others here.
    vc_event_queues: VcEventQueues,
    /// Time before which no arrival that is still unknown can reach a host.
    known_until: Time,
    /// Time before which nothing that is at a port, or on the way to one, reaches a host.
    pub from_ports: Time,
    /// An RM cell delivered before this time finds all feedback for it known.
    pub feedback_known_until: Time,
    /// When the first cell was sent in the current turn of an event queue.
    first_sent_at: Time,
    /// Shortest time from an event at a host to the delivery, at any host, of frames that it sends.
    host_to_host: Span,
    /// Measuring time, [from, to).
    measured: (Time, Time),
    /// Frames that a source has just offered, and frames that have just arrived.
    offered: Outbox,
    arrivals: Vec<Arrival>,
}

/// What hosts are made of.
pub struct HostParts {
    /// VCs, by index.
    pub vcs: Vec<Vc>,
    /// Start of the source of each VC, [`Time::NEVER`] for none.
    pub first_events: Vec<Time>,
    /// Flows, by index.
    pub flows: Vec<FlowEnds>,
    /// ABR end systems, in the order of the flows of frames that leave them.
    pub paced: Vec<PacedQueue>,
    /// NICs by link.
    pub nics: Vec<Nic>,
    /// Processing stages per host: for sending and for receiving.
    pub stages: Vec<[Option<Box<FrameStage>>; 2]>,
    /// End of the run.
    pub end: Time,
    /// Measuring time, [from, to).
    pub measured: (Time, Time),
    /// Shortest time from an event at a host to the delivery, at any host, of frames that it sends.
    pub host_to_host: Span,
}

impl Hosts {
    /// Hosts that have sent nothing.
    pub fn new(parts: HostParts) -> Hosts {
        let HostParts {
            mut vcs,
            first_events,
            mut flows,
            paced,
            nics,
            stages,
            end,
            measured,
            host_to_host,
        } = parts;
        let mut events = EventList::default();
        let private_vcs = vc_event_queues::private_vcs(&mut vcs, &mut flows, &paced, &stages);
        let mut queues = VcEventQueues::new(private_vcs);
        for (index, &time) in first_events.iter().enumerate() {
            vcs[index].source_at = time;
            match vcs[index].event_queue {
                Some(queue) => queues.set(queue, vc_event_queues::SOURCE, time),
                None if time == Time::NEVER => {}
                None => events.push(time, Kind::Source, index),
            }
        }
        for ends in &mut flows {
            let has_none = |end: usize, direction: Direction| {
                stages[ends.hosts[end]][direction as usize].is_none()
            };
            ends.sends_directly = ends.sending.transport.is_none()
                && has_none(0, Direction::Send)
                && ends.shaper.is_none();
            ends.receives_directly =
                ends.receiving.transport.is_none() && has_none(1, Direction::Receive);
        }
        let mut has_shaper = vec![false; stages.len()];
        for ends in flows.iter().filter(|ends| ends.shaper.is_some()) {
            has_shaper[ends.hosts[0]] = true;
        }
        Hosts {
            events,
            vcs,
            flows,
            paced,
            nics,
            to_nics: vec![VecDeque::new(); stages.len()],
            leaving: LeavingOrder::new(has_shaper),
            stages,
            end,
            vc_event_queues: queues,
            known_until: Time::ZERO,
            from_ports: Time::ZERO,
            feedback_known_until: Time::ZERO,
            first_sent_at: Time::NEVER,
            host_to_host,
            measured,
            offered: Outbox::default(),
            arrivals: Vec::new(),
        }
    }

    /// Counts of waiting cells before each NIC, by link.
    pub fn nic_tallies(&self) -> Vec<NicTally> {
        self.nics.iter().map(Nic::tally).collect()
    }

    /// Time of the next event.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        let private = self.vc_event_queues.first().map(|(time, _)| time);
        match (private, self.events.next_time()) {
            (Some(private), Some(other)) => Some(private.min(other)),
            (private, other) => private.or(other),
        }
    }

    /// Time before which no unknown arrival can reach a host, if nothing is sent before `time`.
    #[inline]
    fn arrivals_known_until(&self, time: Time) -> Time {
        let sent = Time(time.0.saturating_add(self.host_to_host.0));
        self.from_ports.min(sent)
    }

    /// Handles the next event. For a VC with an event queue, handles the following ones too.
    #[inline]
    pub fn event(&mut self, fabric: &mut Fabric) {
        if let Some((time, index)) = self.vc_event_queues.first()
            && self.events.next_time().is_none_or(|other| time <= other)
        {
            return self.run_turn(index, fabric);
        }
        let Some((now, kind, index)) = self.events.pop() else {
            return;
        };
        self.known_until = self.arrivals_known_until(now);
        match kind {
            Kind::SenderTimer => self.timer(End::Sender, now, index, fabric),
            Kind::ReceiverTimer => self.timer(End::Receiver, now, index, fabric),
            Kind::Source => self.source(now, index, fabric),
            Kind::Delivered => self.delivered(now, FlowId(index as u32), fabric),
            Kind::ToTransport => {
                if let Some(frame) = self.flows[index].to_transport.pop_front() {
                    self.reach_source(FlowId(index as u32), frame, now, fabric);
                }
            }
            Kind::ToHost => {
                if let Some(frame) = self.flows[index].to_host.pop_front() {
                    self.host_send(FlowId(index as u32), frame, now, fabric);
                }
            }
            Kind::ToNic => self.leave_towards_nic(index, now, fabric),
            Kind::Paced => self.paced(now, index, fabric),
        }
    }

    /// Starts or continues a source.
    fn source(&mut self, now: Time, index: usize, fabric: &mut Fabric) {
        if self.can_offer_ahead(index, fabric) {
            return self.offer_ahead(now, index, fabric);
        }
        match &mut self.vcs[index].source {
            Source::Frames(frames) => {
                let again = frames.start(now, &mut self.offered);
                self.vcs[index].source_at = again;
                if again < self.end {
                    match self.vcs[index].event_queue {
                        Some(queue) => {
                            self.vc_event_queues
                                .set(queue, vc_event_queues::SOURCE, again)
                        }
                        None => self.events.push(again, Kind::Source, index),
                    }
                }
                self.follow_up(index, End::Sender, now, fabric);
                if again == Time::NEVER {
                    self.other_end_began(index, now, fabric);
                }
            }
            Source::Cells(_) => self.emit(now, index, fabric),
        }
    }

    /// Whether frames of this source may be sent ahead of their time: nothing influences the source,
    /// no other flow passes the stages on the way to the NIC, and nothing watches.
    fn can_offer_ahead(&self, index: usize, fabric: &Fabric) -> bool {
        let vc = &self.vcs[index];
        matches!(&vc.source, Source::Frames(frames) if frames.is_independent())
            && self.flows[vc.data.index()].sends_alone
            && vc.probe.is_none()
            && fabric.captures.is_none()
    }

    /// Sends the next frames of an independent source, each at its time.
    fn offer_ahead(&mut self, mut now: Time, index: usize, fabric: &mut Fabric) {
        let data = self.vcs[index].data;
        for _ in 0..FRAMES_AHEAD {
            let Source::Frames(frames) = &mut self.vcs[index].source else {
                return;
            };
            let next = frames.start(now, &mut self.offered);
            while let Some(offered) = self.offered.frames.pop() {
                self.send(data, offered.size, now, fabric);
            }
            now = next;
            if now >= self.end {
                return;
            }
        }
        self.events.push(now, Kind::Source, index);
    }

    /// Handles the case that the receiving end also began to send and set its timer.
    #[inline(never)]
    fn other_end_began(&mut self, index: usize, now: Time, fabric: &mut Fabric) {
        self.follow_up(index, End::Receiver, now, fabric);
    }

    /// Handles a timer event of `end`.
    fn timer(&mut self, end: End, now: Time, index: usize, fabric: &mut Fabric) {
        let vc = &mut self.vcs[index];
        if vc.timer_at[end as usize] != now {
            return;
        }
        vc.timer_at[end as usize] = Time::NEVER;
        let Some(frames) = vc.source.frames() else {
            return;
        };
        if frames.deadline(end) == now {
            frames.on_timer(end, now, &mut self.offered);
        }
        self.follow_up(index, end, now, fabric);
    }

    /// Follows up an action of `end` of a VC: schedules its timer, and sends the frames that it
    /// offers.
    #[inline(always)]
    fn follow_up(&mut self, index: usize, end: End, now: Time, fabric: &mut Fabric) {
        let vc = &mut self.vcs[index];
        let Source::Frames(frames) = &vc.source else {
            return;
        };
        if end == End::Sender
            && let Some(probe) = &mut vc.probe
        {
            probe.acted(now, frames, &self.offered.frames);
        }
        // The event list always holds an event no later than the deadline.
        let deadline = frames.deadline(end);
        if deadline < vc.timer_at[end as usize] {
            vc.timer_at[end as usize] = deadline;
            let kind = match end {
                End::Sender => Kind::SenderTimer,
                End::Receiver => Kind::ReceiverTimer,
            };
            match vc.event_queue {
                Some(queue) => {
                    self.vc_event_queues
                        .set(queue, vc_event_queues::timer(end), deadline)
                }
                None => self.events.push(deadline, kind, index),
            }
        }
        let (data, ack) = (vc.data, vc.ack);
        if let Some(captures) = &mut fabric.captures {
            captured::offered(
                captures,
                frames,
                &self.offered,
                &self.flows,
                [data, ack],
                now,
            );
        }
        let mut i = 0;
        while let Some(&Offered { kind, size, .. }) = self.offered.frames.get(i) {
            let flow = match kind {
                FlowKind::Data => data,
                FlowKind::Ack => ack,
                FlowKind::Rm | FlowKind::RmBack => unreachable!("no source offers RM cells"),
            };
            self.send(flow, size, now, fabric);
            i += 1;
        }
        self.offered.frames.clear();
    }
}
