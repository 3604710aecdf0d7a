//! The two ends of a VC, and the contents of its frames.

use super::source::Emissions;
use crate::ground::flow::FlowKind;
use crate::ground::format::{Format, FrameSize};
use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::host::tcp::{Ack, Receiver, Segment, SegmentOutcome, Sender};
use crate::host::traffic::End;
use crate::network::abr::Rm;
use crate::network::tally::{Back, SenderCounters, Transfer};
use crate::text::scenario::Traffic;

/// Contents of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload {
    Segment(Segment),
    Ack(Ack),
    /// A UDP datagram with this number of bytes.
    Datagram(u64),
    /// The single cell of a source of cells.
    Cell,
    /// Contents of an RM cell.
    Rm(Rm),
}

impl Payload {
    /// The frame with these contents.
    pub(super) fn size(&self, format: Format) -> FrameSize {
        match self {
            Payload::Segment(segment) => format.segment(u64::from(segment.len)),
            Payload::Ack(ack) => format.ack(ack.n_blocks),
            Payload::Datagram(bytes) => format.datagram(*bytes),
            Payload::Cell | Payload::Rm(_) => format.one_cell(),
        }
    }
}

/// Contents of a frame that an end hands over, with the kind of its flow.
pub(super) type Sent = (FlowKind, Payload);

/// State of the two ends.
pub(super) enum Ends {
    Tcp {
        sender: Box<Sender>,
        receiver: Box<Receiver>,
    },
    /// Sender and receiver of the connection with data from `from` to `to`, and of the one back.
    TwoWay {
        there: Box<(Sender, Receiver)>,
        back: Box<(Sender, Receiver)>,
    },
    /// A UDP source, which sends identical datagrams, and the bytes of each.
    Udp(u64, Emissions),
    /// A source of cells, and the bytes that each carries.
    Cells(u64, Emissions),
}

impl Ends {
    /// The ends of `traffic` from `start` until before `stop`, and their start time, if any.
    /// `phase` gives the phase of a timer, `draws` the draws of a random source.
    pub(super) fn new(
        traffic: &Traffic,
        format: Format,
        [start, stop]: [Time; 2],
        measured: (Time, Time),
        phase: impl FnOnce(Span) -> Span,
        draws: Stream,
    ) -> (Ends, Option<Time>) {
        if let Some(emission) = traffic.cells() {
            let mut emissions = Emissions::new(emission, format, start, stop, draws);
            let first = emissions.next();
            return (Ends::Cells(format.cell_payload_bytes, emissions), first);
        }
        match traffic {
            Traffic::Tcp(tcp) => {
                let timers = phase(tcp.granularity);
                let sender = || Sender::new(tcp, timers, stop, measured);
                let receiver = || Receiver::new(tcp, timers);
                let ends = match tcp.both_ways {
                    false => Ends::Tcp {
                        sender: Box::new(sender()),
                        receiver: Box::new(receiver()),
                    },
                    true => Ends::TwoWay {
                        there: Box::new((sender(), receiver())),
                        back: Box::new((sender(), receiver())),
                    },
                };
                (ends, (start < stop).then_some(start))
            }
            Traffic::Udp(udp) => {
                let mut emissions = Emissions::of_frames(*udp, format, start, stop);
                let first = emissions.next();
                (Ends::Udp(udp.datagram_size, emissions), first)
            }
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => {
                unreachable!("these are sources of cells")
            }
        }
    }

    /// Whether frames pass the processing of hosts.
    pub(super) fn are_processed(&self) -> bool {
        match self {
            Ends::Tcp { .. } | Ends::TwoWay { .. } | Ends::Udp(..) => true,
            Ends::Cells(..) => false, // Cells enter the NIC directly.
        }
    }

    /// Starts or continues the source. Returns what it sends, and when to call this again.
    pub(super) fn source(&mut self, now: Time) -> (Vec<Sent>, Option<Time>) {
        match self {
            Ends::Tcp { sender, .. } => {
                let mut segments = Vec::new();
                sender.start(now, &mut segments);
                (framed(FlowKind::Data, segments), None)
            }
            Ends::TwoWay { there, back } => {
                let mut sent = Vec::new();
                for (kind, (sender, _)) in
                    [(FlowKind::Data, &mut **there), (FlowKind::Ack, &mut **back)]
                {
                    let mut segments = Vec::new();
                    sender.start(now, &mut segments);
                    sent.extend(framed(kind, segments));
                }
                (sent, None)
            }
            Ends::Udp(bytes, emissions) => {
                let datagram = Payload::Datagram(*bytes);
                (vec![(FlowKind::Data, datagram)], emissions.next())
            }
            Ends::Cells(_, emissions) => (vec![(FlowKind::Data, Payload::Cell)], emissions.next()),
        }
    }

    /// Handles an expired timer of `end`.
    pub(super) fn timer(&mut self, end: End, now: Time) -> Vec<Sent> {
        let mut segments = Vec::new();
        match (self, end) {
            (Ends::Tcp { sender, .. }, End::Sender) => {
                sender.on_timer(now, &mut segments);
                framed(FlowKind::Data, segments)
            }
            (Ends::Tcp { receiver, .. }, End::Receiver) => {
                acknowledged(FlowKind::Ack, receiver.on_timer(now))
            }
            // Before its time a sender or receiver does nothing.
            (Ends::TwoWay { there, back }, End::Sender) => {
                there.0.on_timer(now, &mut segments);
                let mut sent = framed(FlowKind::Data, segments);
                sent.extend(acknowledged(FlowKind::Data, back.1.on_timer(now)));
                sent
            }
            (Ends::TwoWay { there, back }, End::Receiver) => {
                back.0.on_timer(now, &mut segments);
                let mut sent = framed(FlowKind::Ack, segments);
                sent.extend(acknowledged(FlowKind::Ack, there.1.on_timer(now)));
                sent
            }
            (Ends::Udp(..) | Ends::Cells(..), _) => unreachable!("only TCP sets timers"),
        }
    }

    /// Takes a complete frame of a flow of this kind. Returns what is sent in response, and the
    /// data delivered.
    pub(super) fn take(
        &mut self,
        kind: FlowKind,
        payload: Payload,
        now: Time,
    ) -> (Vec<Sent>, SegmentOutcome) {
        let all = |delivered| SegmentOutcome {
            delivered,
            is_new: true,
        };
        let answer = kind.opposite();
        match (payload, self) {
            (Payload::Segment(s), Ends::Tcp { receiver, .. }) => receives(receiver, s, now, answer),
            (Payload::Ack(ack), Ends::Tcp { sender, .. }) => acts_on(sender, &ack, now, answer),
            (Payload::Segment(s), Ends::TwoWay { there, back }) => {
                let connection = if kind.is_data() { there } else { back };
                receives(&mut connection.1, s, now, answer)
            }
            (Payload::Ack(ack), Ends::TwoWay { there, back }) => {
                // The ACK of data travels on the flow of the other direction.
                let connection = if kind.is_data() { back } else { there };
                acts_on(&mut connection.0, &ack, now, answer)
            }
            (Payload::Datagram(bytes), Ends::Udp(..)) => (Vec::new(), all(bytes)),
            (Payload::Cell, Ends::Cells(bytes, _)) => (Vec::new(), all(*bytes)),
            _ => unreachable!("every payload belongs to its kind of source"),
        }
    }

    /// When the timers of both ends expire.
    pub(super) fn deadlines(&self) -> [Time; 2] {
        match self {
            Ends::Tcp { sender, receiver } => [sender.deadline(), receiver.deadline()],
            Ends::TwoWay { there, back } => [
                there.0.deadline().min(back.1.deadline()),
                back.0.deadline().min(there.1.deadline()),
            ],
            Ends::Udp(..) | Ends::Cells(..) => [Time::NEVER; 2],
        }
    }

    pub(super) fn counters(&self) -> SenderCounters {
        match self {
            Ends::Tcp { sender, .. } => sender.counters(),
            Ends::TwoWay { there, .. } => there.0.counters(),
            Ends::Udp(..) | Ends::Cells(..) => SenderCounters::default(),
        }
    }

    /// Completed files, in order.
    pub(super) fn transfers(&self) -> Vec<Transfer> {
        match self {
            Ends::Tcp { sender, .. } => sender.transfers().to_vec(),
            Ends::TwoWay { there, .. } => there.0.transfers().to_vec(),
            Ends::Udp(..) | Ends::Cells(..) => Vec::new(),
        }
    }

    /// Counters of data sent back.
    pub(super) fn back(&self) -> Option<Back> {
        match self {
            Ends::TwoWay { back, .. } => Some(Back {
                sender: back.0.counters(),
                transfers: back.0.transfers().to_vec(),
            }),
            Ends::Tcp { .. } | Ends::Udp(..) | Ends::Cells(..) => None,
        }
    }
}

/// Gives a segment to a receiver, which answers on the flow of kind `answer`.
fn receives(
    receiver: &mut Receiver,
    s: Segment,
    now: Time,
    answer: FlowKind,
) -> (Vec<Sent>, SegmentOutcome) {
    let mut outcome = SegmentOutcome::default();
    let ack = receiver.on_segment(now, s.seq, s.len, &mut outcome);
    (acknowledged(answer, ack), outcome)
}

/// Gives an ACK to a sender, which sends on the flow of kind `answer`.
fn acts_on(
    sender: &mut Sender,
    ack: &Ack,
    now: Time,
    answer: FlowKind,
) -> (Vec<Sent>, SegmentOutcome) {
    let mut segments = Vec::new();
    sender.on_ack(now, ack, &mut segments);
    (framed(answer, segments), SegmentOutcome::default())
}

fn framed(kind: FlowKind, segments: Vec<Segment>) -> Vec<Sent> {
    let sent = segments.into_iter().map(|s| (kind, Payload::Segment(s)));
    sent.collect()
}

fn acknowledged(kind: FlowKind, ack: Option<Ack>) -> Vec<Sent> {
    let sent = ack.map(|ack| (kind, Payload::Ack(ack)));
    sent.into_iter().collect()
}
