//! Event queues of single VCs: those that share nothing with others at hosts.
//!
//! If the NICs of both ends of an ABR VC serve no other VC, and nothing waits in processing stages,
//! events at its hosts concern only this VC. Other VCs are affected through ports, no sooner than
//! cells get there.
//!
//! Such events need no order relative to other VCs. Each VC has one slot per kind of event, and the
//! earliest slot is next. When its turn comes, the VC handles everything known at its ends, event
//! after event. Only the next event of each VC is in a common order.

use super::traffic::{End, Source};
use super::{FlowEnds, Hosts, PacedQueue, Vc};
use crate::ground::event::Earliest;
use crate::ground::flow::{FlowId, FlowKind};
use crate::ground::units::Time;
use crate::network::fabric::Fabric;
use crate::network::processing::FrameStage;
use std::hint::select_unpredictable;

/// Kinds of events at the ends of a VC, in the order of execution at one instant.
#[derive(Clone, Copy, Debug)]
enum EventSlot {
    Timer(End),
    Source,
    Delivered(FlowKind),
    Paced(FlowKind),
}

const SLOTS: [EventSlot; 9] = [
    EventSlot::Timer(End::Sender),
    EventSlot::Timer(End::Receiver),
    EventSlot::Source,
    EventSlot::Delivered(FlowKind::Data),
    EventSlot::Delivered(FlowKind::Ack),
    EventSlot::Delivered(FlowKind::Rm),
    EventSlot::Delivered(FlowKind::RmBack),
    EventSlot::Paced(FlowKind::Data),
    EventSlot::Paced(FlowKind::Ack),
];

/// Slot of the timer of `end`.
pub const fn timer(end: End) -> usize {
    end as usize
}

/// Slot of the source.
pub const SOURCE: usize = 2;

/// Slot of the deliveries of a flow.
pub const fn delivered(kind: FlowKind) -> usize {
    3 + kind as usize
}

/// Slot of the end system that sends a flow of frames.
pub const fn paced(kind: FlowKind) -> usize {
    7 + kind as usize
}

/// Maximum number of events in one turn.
const MAX_EVENTS_PER_TURN: usize = 1000;

/// A VC whose events at hosts concern no other VC, so that it has its own event queue.
#[derive(Debug)]
pub struct PrivateVc {
    /// Index of the VC.
    pub vc: usize,
    /// Flows of the VC, by kind.
    pub flows: [FlowId; 4],
    /// End systems of the VC, by the kind of frames that leave them.
    pub ends: [usize; 2],
}

/// Event queues of all these VCs.
#[derive(Debug)]
pub struct VcEventQueues {
    vcs: Vec<PrivateVc>,
    /// EventSlot times, by queue and slot; [`Time::NEVER`] for an empty slot.
    due: Vec<[Time; SLOTS.len()]>,
    /// Next event of each queue, except the one whose turn it is.
    next: Earliest,
    running: Option<usize>,
}

impl VcEventQueues {
    /// Empty queues.
    pub fn new(vcs: Vec<PrivateVc>) -> VcEventQueues {
        VcEventQueues {
            due: vec![[Time::NEVER; SLOTS.len()]; vcs.len()],
            next: Earliest::new(vcs.len()),
            running: None,
            vcs,
        }
    }

    /// The earliest event of all queues, and the index of its queue.
    #[inline]
    pub fn first(&self) -> Option<(Time, usize)> {
        self.next.first()
    }

    /// Sets the due time of a slot of a queue.
    #[inline]
    pub fn set(&mut self, queue: u32, slot: usize, time: Time) {
        let index = queue as usize;
        let before = std::mem::replace(&mut self.due[index][slot], time);
        if self.running == Some(index) {
            return;
        }
        let next = self.next.time(index);
        if time < next {
            self.next.set(index, time);
        } else if before == next && before < time {
            self.next.set(index, self.earliest_event(index).0);
        }
    }

    /// The earliest event of a queue, and its slot.
    #[inline]
    fn earliest_event(&self, index: usize) -> (Time, usize) {
        let due = &self.due[index];
        let mut first = (due[0], 0);
        for (slot, &time) in due.iter().enumerate().skip(1) {
            first = select_unpredictable(time < first.0, (time, slot), first);
        }
        first
    }
}

/// Gives an event queue to each VC whose events at its hosts concern no other VC and no probe.
pub(super) fn private_vcs(
    vcs: &mut [Vc],
    flows: &mut [FlowEnds],
    paced: &[PacedQueue],
    stages: &[[Option<Box<FrameStage>>; 2]],
) -> Vec<PrivateVc> {
    let mut private_vcs = Vec::new();
    for (index, vc) in vcs.iter_mut().enumerate() {
        let of = |flow: FlowId| &flows[flow.index()];
        let ends = [vc.data, vc.ack].map(|flow| of(flow).paced);
        let (Some(first), Some(second)) = (ends[0], ends[1]) else {
            continue;
        };
        let ends = [first as usize, second as usize];
        let shares = |&host: &usize| stages[host].iter().any(Option::is_some);
        let waits = |flow: FlowId| {
            of(flow).sending.transport.is_some() || of(flow).receiving.transport.is_some()
        };
        let alone = ends.iter().all(|&end| paced[end].is_alone());
        let waits = waits(vc.data) || waits(vc.ack) || of(vc.data).hosts.iter().any(shares);
        if alone && !waits && vc.probe.is_none() && matches!(vc.source, Source::Frames(_)) {
            vc.event_queue = Some(private_vcs.len() as u32);
            for flow in [vc.data, vc.ack] {
                flows[flow.index()].can_handle_ahead = true;
            }
            let [_, rm_back] = paced[first as usize].flows();
            let [_, rm] = paced[second as usize].flows();
            private_vcs.push(PrivateVc {
                vc: index,
                flows: [vc.data, vc.ack, rm, rm_back],
                ends,
            });
        }
    }
    private_vcs
}

impl Hosts {
    /// Runs a turn of the VC with this event queue: its next event, and later ones as long as all
    /// arrivals before them are known.
    pub(super) fn run_turn(&mut self, index: usize, fabric: &mut Fabric) {
        self.vc_event_queues.running = Some(index);
        self.first_sent_at = Time::NEVER;
        let limit = self.feedback_known_until.min(self.end);
        let mut next = self.vc_event_queues.earliest_event(index);
        for _ in 0..MAX_EVENTS_PER_TURN {
            let (now, slot) = next;
            self.known_until = self.arrivals_known_until(now.min(self.first_sent_at));
            self.vc_event_queues.due[index][slot] = Time::NEVER;
            let PrivateVc { vc, flows, ends } = self.vc_event_queues.vcs[index];
            match SLOTS[slot] {
                EventSlot::Timer(end) => self.timer(end, now, vc, fabric),
                EventSlot::Source => self.source(now, vc, fabric),
                EventSlot::Delivered(kind) => self.delivered(now, flows[kind as usize], fabric),
                EventSlot::Paced(kind) => self.paced(now, ends[kind as usize], fabric),
            }
            next = self.vc_event_queues.earliest_event(index);
            let known = self.arrivals_known_until(next.0.min(self.first_sent_at));
            if next.0 >= known.min(limit) || fabric.stopped.is_some() {
                break;
            }
        }
        self.vc_event_queues.running = None;
        self.vc_event_queues.next.set(index, next.0);
    }
}
