//! The two ends of a VC, and what its frames carry.

use super::source::Emissions;
use crate::aal5::{ACK_CELLS, cells_of_segment};
use crate::abr::Rm;
use crate::flow::FlowKind;
use crate::host::tcp::{Ack, News, Receiver, Segment, Sender};
use crate::host::traffic::End;
use crate::rng::Stream;
use crate::scenario::Traffic;
use crate::tally::{SenderCounters, Transfer};
use crate::units::{CELL_PAYLOAD_BYTES, Span, Time};

/// What a frame carries.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload {
    Segment(Segment),
    Ack(Ack),
    /// So many bytes of a UDP datagram.
    Datagram(u64),
    /// The single cell of a source of cells.
    Cell,
    /// What an RM cell says.
    Rm(Rm),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) cells: u32,
    pub(super) payload: Payload,
}

/// A frame that an end hands over.
pub(super) type Sent = (FlowKind, Frame);

/// What happens at the two ends.
pub(super) enum Ends {
    Tcp {
        sender: Box<Sender>,
        receiver: Box<Receiver>,
    },
    /// A UDP source, which sends the same frame again and again.
    Udp(Frame, Emissions),
    Cells(Emissions),
}

impl Ends {
    /// Those of `traffic` from `start` until before `stop`, and when they begin, if they do. `phase` is that of a timer, `draws` those of a random source.
    pub(super) fn new(
        traffic: &Traffic,
        [start, stop]: [Time; 2],
        measured: (Time, Time),
        phase: impl FnOnce(Span) -> Span,
        draws: Stream,
    ) -> (Ends, Option<Time>) {
        if let Some(emission) = traffic.cells() {
            let mut emissions = Emissions::new(emission, start, stop, draws);
            let first = emissions.next();
            return (Ends::Cells(emissions), first);
        }
        match traffic {
            Traffic::Tcp(tcp) => {
                let timers = phase(tcp.granularity);
                let ends = Ends::Tcp {
                    sender: Box::new(Sender::new(tcp, timers, stop, measured)),
                    receiver: Box::new(Receiver::new(tcp, timers)),
                };
                (ends, (start < stop).then_some(start))
            }
            Traffic::Udp(udp) => {
                let frame = Frame {
                    cells: udp.frame_cells(),
                    payload: Payload::Datagram(udp.datagram_size),
                };
                let mut emissions = Emissions::of_frames(*udp, start, stop);
                let first = emissions.next();
                (Ends::Udp(frame, emissions), first)
            }
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => {
                unreachable!("these are sources of cells")
            }
        }
    }

    /// Whether what is sent and received passes the processing of hosts.
    pub(super) fn are_processed(&self) -> bool {
        match self {
            Ends::Tcp { .. } | Ends::Udp(..) => true,
            Ends::Cells(_) => false, // They emit straight into the NIC.
        }
    }

    /// The source starts or emits: what it sends, and when it does so again.
    pub(super) fn source(&mut self, now: Time) -> (Vec<Sent>, Option<Time>) {
        match self {
            Ends::Tcp { sender, .. } => {
                let mut segments = Vec::new();
                sender.start(now, &mut segments);
                (framed(segments), None)
            }
            Ends::Udp(frame, emissions) => (vec![(FlowKind::Data, *frame)], emissions.next()),
            Ends::Cells(emissions) => {
                let cell = Frame {
                    cells: 1,
                    payload: Payload::Cell,
                };
                (vec![(FlowKind::Data, cell)], emissions.next())
            }
        }
    }

    /// The timer of `end` expires.
    pub(super) fn timer(&mut self, end: End, now: Time) -> Vec<Sent> {
        let Ends::Tcp { sender, receiver } = self else {
            unreachable!("only TCP sets timers")
        };
        let mut segments = Vec::new();
        match end {
            End::Sender => sender.on_timer(now, &mut segments),
            End::Receiver => return acknowledged(receiver.on_timer(now)),
        }
        framed(segments)
    }

    /// A good frame has arrived: what is sent then, and what it brings.
    pub(super) fn take(&mut self, payload: Payload, now: Time) -> (Vec<Sent>, News) {
        let all = |delivered| News {
            delivered,
            is_new: true,
        };
        match (payload, self) {
            (Payload::Segment(s), Ends::Tcp { receiver, .. }) => {
                let mut news = News::default();
                let ack = receiver.on_segment(now, s.seq, s.len, &mut news);
                (acknowledged(ack), news)
            }
            (Payload::Ack(ack), Ends::Tcp { sender, .. }) => {
                let mut segments = Vec::new();
                sender.on_ack(now, &ack, &mut segments);
                (framed(segments), News::default())
            }
            (Payload::Datagram(bytes), Ends::Udp(..)) => (Vec::new(), all(bytes)),
            (Payload::Cell, Ends::Cells(_)) => (Vec::new(), all(CELL_PAYLOAD_BYTES)),
            _ => unreachable!("every payload belongs to its kind of source"),
        }
    }

    /// When the timers of sender and receiver expire.
    pub(super) fn deadlines(&self) -> [Time; 2] {
        match self {
            Ends::Tcp { sender, receiver } => [sender.deadline(), receiver.deadline()],
            Ends::Udp(..) | Ends::Cells(_) => [Time::NEVER; 2],
        }
    }

    pub(super) fn counters(&self) -> SenderCounters {
        match self {
            Ends::Tcp { sender, .. } => sender.counters(),
            Ends::Udp(..) | Ends::Cells(_) => SenderCounters::default(),
        }
    }

    /// The files that were sent, in order.
    pub(super) fn transfers(&self) -> Vec<Transfer> {
        match self {
            Ends::Tcp { sender, .. } => sender.transfers().to_vec(),
            Ends::Udp(..) | Ends::Cells(_) => Vec::new(),
        }
    }
}

fn framed(segments: Vec<Segment>) -> Vec<Sent> {
    let frame = |segment: Segment| Frame {
        cells: cells_of_segment(u64::from(segment.len)),
        payload: Payload::Segment(segment),
    };
    let sent = segments.into_iter().map(|s| (FlowKind::Data, frame(s)));
    sent.collect()
}

fn acknowledged(ack: Option<Ack>) -> Vec<Sent> {
    let frame = |ack| Frame {
        cells: ACK_CELLS,
        payload: Payload::Ack(ack),
    };
    ack.map(|ack| (FlowKind::Ack, frame(ack)))
        .into_iter()
        .collect()
}
