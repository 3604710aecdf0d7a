//! Two TCP connections on one VC: each end sends data and acknowledges those of the other.
//!
//! Frames that leave one end form one flow, because the network sees a single VC. Data of its
//! connection and ACKs of the other one are separate frames; nothing is piggybacked. At one instant
//! an end's retransmission timer goes before its delayed ACK.

use super::tcp::{of_ack, of_segment, state};
use super::{Delivery, End, FrameSource, Offered, Outbox, SourceState};
use crate::ground::flow::FlowKind;
use crate::ground::format::{Format, FrameSize};
use crate::ground::units::{Span, Time};
use crate::host::tcp::{Ack, Receiver, Segment, SegmentOutcome, Sender};
use crate::network::capture::CapturedPayload;
use crate::network::tally::{Back, SenderCounters, Transfer};
use crate::text::scenario::TcpParams;
use std::collections::VecDeque;

/// One connection, with its sending and its receiving end.
#[derive(Debug)]
struct Connection {
    sender: Sender,
    receiver: Receiver,
}

/// Contents of a frame.
#[derive(Clone, Copy, Debug)]
enum Carried {
    /// Data of the end that the flow leaves: first byte and length.
    Segment(u64, u32),
    /// An ACK of that end.
    Ack(Ack),
}

/// Contents of the frames of a flow in transit.
#[derive(Debug, Default)]
struct FramesInTransit {
    frames: VecDeque<Carried>,
    /// Number of the first of these frames.
    first: u32,
}

impl FramesInTransit {
    /// Returns the contents of frame `frame`. Removes it and all earlier frames, which were lost.
    fn take(&mut self, frame: u32) -> Carried {
        let lost = frame.wrapping_sub(self.first);
        self.first = frame.wrapping_add(1);
        self.frames.drain(..lost as usize);
        let found = self.frames.pop_front();
        found.expect("a frame that arrives has been sent")
    }
}

/// Both connections of a VC.
#[derive(Debug)]
pub struct TwoWay {
    /// What the frames look like.
    format: Format,
    /// Connections with data from the VC's `from` to its `to`, and back.
    there: Connection,
    back: Connection,
    /// Frames in transit in both directions.
    forward: FramesInTransit,
    backward: FramesInTransit,
}

impl TwoWay {
    /// Connections about to start; for the parameters, see `Tcp::new`.
    pub fn new(
        params: &TcpParams,
        format: Format,
        timer_phase: Span,
        stop: Time,
        measured: (Time, Time),
    ) -> TwoWay {
        let connection = || Connection {
            sender: Sender::new(params, timer_phase, stop, measured),
            receiver: Receiver::new(params, timer_phase),
        };
        TwoWay {
            format,
            there: connection(),
            back: connection(),
            forward: FramesInTransit::default(),
            backward: FramesInTransit::default(),
        }
    }

    /// Sender and receiver at `end`.
    fn at(&self, end: End) -> (&Sender, &Receiver) {
        match end {
            End::Sender => (&self.there.sender, &self.back.receiver),
            End::Receiver => (&self.back.sender, &self.there.receiver),
        }
    }

    /// The connection whose data leave `end`, and the one whose data reach it.
    fn of(&mut self, end: End) -> (&mut Connection, &mut Connection) {
        match end {
            End::Sender => (&mut self.there, &mut self.back),
            End::Receiver => (&mut self.back, &mut self.there),
        }
    }

    /// Offers the segments that the sender at `end` has just requested.
    fn offer_segments(&mut self, end: End, out: &mut Outbox) {
        for i in 0..out.segments.len() {
            let Segment { seq, len, .. } = out.segments[i];
            let size = self.format.segment(u64::from(len));
            self.offer(end, Carried::Segment(seq, len), size, Some(seq), out);
        }
        out.segments.clear();
    }

    /// Offers the ACK of the receiver at `end`.
    fn offer_ack(&mut self, end: End, out: &mut Outbox) {
        let mut ack = Ack::default();
        self.of(end).1.receiver.acknowledge(&mut ack);
        let size = self.format.ack(ack.n_blocks);
        self.offer(end, Carried::Ack(ack), size, None, out);
    }

    fn offer(
        &mut self,
        end: End,
        carried: Carried,
        size: FrameSize,
        first_byte: Option<u64>,
        out: &mut Outbox,
    ) {
        let (kind, flow) = match end {
            End::Sender => (FlowKind::Data, &mut self.forward),
            End::Receiver => (FlowKind::Ack, &mut self.backward),
        };
        flow.frames.push_back(carried);
        out.frames.push(Offered {
            kind,
            size,
            first_byte: first_byte.unwrap_or(Offered::NO_DATA),
        });
    }
}

impl FrameSource for TwoWay {
    fn start(&mut self, now: Time, out: &mut Outbox) -> Time {
        for end in [End::Sender, End::Receiver] {
            self.of(end).0.sender.start(now, &mut out.segments);
            self.offer_segments(end, out);
        }
        Time::NEVER
    }

    fn take(&mut self, kind: FlowKind, frame: u32, now: Time, out: &mut Outbox) -> Delivery {
        let end = End::of_arrivals(kind);
        let carried = match end {
            End::Receiver => self.forward.take(frame),
            End::Sender => self.backward.take(frame),
        };
        match carried {
            Carried::Segment(seq, len) => {
                let mut outcome = SegmentOutcome::default();
                if self.of(end).1.receiver.take(now, seq, len, &mut outcome) {
                    self.offer_ack(end, out);
                }
                Delivery {
                    bytes: outcome.delivered,
                    line_bytes: if outcome.is_new {
                        self.format.segment(u64::from(len)).line_bytes()
                    } else {
                        0
                    },
                }
            }
            Carried::Ack(ack) => {
                self.of(end).0.sender.on_ack(now, &ack, &mut out.segments);
                self.offer_segments(end, out);
                Delivery::default()
            }
        }
    }

    fn on_timer(&mut self, end: End, now: Time, out: &mut Outbox) {
        let (sender, _) = self.at(end);
        if now >= sender.deadline() {
            self.of(end).0.sender.on_timer(now, &mut out.segments);
            self.offer_segments(end, out);
        }
        let (_, receiver) = self.at(end);
        if now >= receiver.deadline() {
            self.offer_ack(end, out);
        }
    }

    fn deadline(&self, end: End) -> Time {
        let (sender, receiver) = self.at(end);
        sender.deadline().min(receiver.deadline())
    }

    fn carries(&self, kind: FlowKind, frame: u32) -> CapturedPayload {
        let flow = match kind.is_forward() {
            true => &self.forward,
            false => &self.backward,
        };
        match flow.frames[frame.wrapping_sub(flow.first) as usize] {
            Carried::Segment(seq, len) => of_segment(seq, len),
            Carried::Ack(ack) => of_ack(&ack),
        }
    }

    fn state(&self, what: SourceState) -> Option<f64> {
        Some(state(&self.there.sender, what, self.format.clock))
    }

    fn last_rtt(&self) -> Option<(u64, f64)> {
        let (measured, last) = self.there.sender.last_rtt()?;
        Some((measured, last.as_seconds(self.format.clock)))
    }

    fn counters(&self) -> SenderCounters {
        self.there.sender.counters()
    }

    fn transfers(&self) -> &[Transfer] {
        self.there.sender.transfers()
    }

    fn back(&self) -> Option<Back> {
        let sender = &self.back.sender;
        Some(Back {
            sender: sender.counters(),
            transfers: sender.transfers().to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn two_way(change: impl FnOnce(&mut TcpParams)) -> TwoWay {
        let mut params = TcpParams {
            mss: MSS,
            rwnd: 10 * MSS,
            ..TcpParams::default()
        };
        change(&mut params);
        TwoWay::new(
            &params,
            Format::AAL5,
            Span::ZERO,
            Time::NEVER,
            (Time::ZERO, Time::NEVER),
        )
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_milliseconds(n)
    }

    /// Flows, cells and first bytes of the frames that `f` offers.
    fn offered(f: impl FnOnce(&mut Outbox)) -> Vec<(FlowKind, u32, u64)> {
        let mut out = Outbox::default();
        f(&mut out);
        let frames = out.frames.iter();
        frames
            .map(|f| (f.kind, f.size.cells(), f.first_byte))
            .collect()
    }

    const NONE: u64 = Offered::NO_DATA;
    use FlowKind::{Ack as Backward, Data as Forward};

    #[test]
    fn data_of_one_connection_and_acks_of_the_other_share_a_flow() {
        let mut vc = two_way(|_| ());
        let first = offered(|out| {
            vc.start(ms(0), out);
        });
        assert_eq!(first, [(Forward, 22, 0), (Backward, 22, 0)]);
        // Data of each end reach the other end, which acknowledges them.
        let mut reach = |kind, frame, at| {
            offered(|out| {
                vc.take(kind, frame, ms(at), out);
            })
        };
        assert_eq!(reach(Forward, 0, 10), [(Backward, 2, NONE)]);
        assert_eq!(reach(Backward, 0, 11), [(Forward, 2, NONE)]);
        // The ACKs open both windows.
        let two = |kind| [(kind, 22, MSS), (kind, 22, 2 * MSS)];
        assert_eq!(reach(Backward, 1, 20), two(Forward));
        assert_eq!(reach(Forward, 1, 21), two(Backward));
        // Frame 2 forward is lost, and its segment too. A duplicate ACK answers the next segment.
        assert_eq!(reach(Forward, 3, 30), [(Backward, 2, NONE)]);
        let counted = vc.back().map(|back| back.sender.segments);
        assert_eq!((vc.counters().segments, counted), (3, Some(3)));
    }

    #[test]
    fn an_end_has_one_deadline_and_its_retransmission_goes_first() {
        let mut vc = two_way(|p| {
            p.delayed_ack = Some(Span::from_milliseconds(200));
            p.initial_rto = Span::from_milliseconds(400);
            p.min_rto = Span::from_milliseconds(400);
        });
        offered(|out| {
            vc.start(ms(0), out);
        });
        assert_eq!(
            [End::Sender, End::Receiver].map(|end| vc.deadline(end)),
            [ms(400); 2]
        );
        offered(|out| {
            vc.take(Forward, 0, ms(10), out);
        });
        assert_eq!(vc.deadline(End::Receiver), ms(200), "the ACK waits");
        assert_eq!(offered(|out| vc.on_timer(End::Receiver, ms(199), out)), []);
        assert_eq!(
            offered(|out| vc.on_timer(End::Receiver, ms(200), out)),
            [(Backward, 2, NONE)]
        );
        offered(|out| {
            vc.take(Backward, 0, ms(210), out);
        });
        assert_eq!(
            offered(|out| vc.on_timer(End::Sender, ms(400), out)),
            [(Forward, 22, 0), (Forward, 2, NONE)]
        );
    }
}
