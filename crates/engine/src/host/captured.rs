//! Data for captures about the frames that sources offer.

use super::FlowEnds;
use super::traffic::{FrameSource, Frames, Outbox};
use crate::ground::flow::{FlowId, FlowKind};
use crate::ground::units::Time;
use crate::network::capture::Captures;

/// Passes on the frames that a source offers at `now`. They get the next numbers of their flows,
/// data and reverse.
#[cold]
pub fn offered(
    captures: &mut Captures,
    source: &Frames,
    out: &Outbox,
    flows: &[FlowEnds],
    [data, ack]: [FlowId; 2],
    now: Time,
) {
    let mut next = [data, ack].map(|flow| flows[flow.index()].next_frame);
    for offered in &out.frames {
        let (flow, next) = match offered.kind {
            FlowKind::Data => (data, &mut next[0]),
            _ => (ack, &mut next[1]),
        };
        let frame = *next;
        *next = frame.wrapping_add(1);
        if captures.follows(flow) {
            captures.sent(flow, frame, source.carries(offered.kind, frame), now);
        }
    }
    captures.has_acted();
}
