//! What drives a VC. One file for each kind of source; the rest of the engine asks what a source can do.
//!
//! A source of *frames* is told when it starts, what frames have arrived at its ends and when its timers expire, and offers frames. A
//! source of *cells* says when its next cells come. To add a source of frames: its file here with a [`FrameSource`], its line in
//! `Others` and in [`Source::new`], and what `scenario::Traffic` asks of it.

mod cells;
mod other;
mod pace;
mod tcp;
mod two_way;
mod udp;

pub use cells::CellSource;

use crate::capture::Payload;
use crate::flow::FlowKind;
use crate::host::tcp::Segment;
use crate::rng::Stream;
use crate::scenario::Traffic;
use crate::tally::{Back, SenderCounters, Transfer};
use crate::units::{Span, Time};
use enum_dispatch::enum_dispatch;
use other::{Other, Others};
use tcp::Tcp;
use two_way::TwoWay;
use udp::Udp;

/// An end of a VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where data come from.
    Sender,
    /// Where they go.
    Receiver,
}

impl End {
    /// Where the frames of such a flow arrive.
    pub fn of_arrivals(kind: FlowKind) -> End {
        match kind {
            FlowKind::Data => End::Receiver,
            FlowKind::Ack => End::Sender,
            FlowKind::Rm | FlowKind::RmBack => unreachable!("RM cells reach no source"),
        }
    }
}

/// A frame that a source hands over.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// The flow it belongs to.
    pub kind: FlowKind,
    /// Cells.
    pub cells: u32,
    /// Number of the first byte of data that it carries, or of an ACK what it acknowledges; see `NO_DATA`.
    pub first_byte: u64,
}

impl Offered {
    /// `first_byte` of what is no data and yet in the flow of data.
    pub const NO_DATA: u64 = u64::MAX;
}

/// Where sources put what they offer.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// The frames.
    pub frames: Vec<Offered>,
    /// Room of a TCP connection for the segments that become frames; the same for all, as it is empty in between.
    segments: Vec<Segment>,
}

/// What the arrival of a frame brings to the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Bytes newly delivered to it, in order.
    pub bytes: u64,
    /// Cells of the frame, if it has data that had not arrived before.
    pub cells: u32,
}

/// A state of a source that a probe can record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// cwnd, bytes.
    Cwnd,
    /// ssthresh, bytes.
    Ssthresh,
    /// First byte that is not acknowledged.
    Acknowledged,
    /// Bytes that are sent and not acknowledged.
    Flight,
    /// Retransmission timeout, seconds.
    Rto,
}

/// What a source of frames does, both its ends. Frames of a flow are numbered in the order in which they are offered.
#[enum_dispatch]
pub trait FrameSource {
    /// It starts, or goes on of itself. Returns when it does so again; [`Time::NEVER`] for not at all.
    fn start(&mut self, now: Time, out: &mut Outbox) -> Time;

    /// Frame `frame` of its flow `kind` has arrived complete.
    fn take(&mut self, kind: FlowKind, frame: u32, now: Time, out: &mut Outbox) -> Delivery;

    /// It is `now` the time for which `end` has asked.
    fn on_timer(&mut self, end: End, now: Time, out: &mut Outbox);

    /// When `end` wants to be called; [`Time::NEVER`] for not at all.
    fn deadline(&self, end: End) -> Time;

    /// What frame `frame` of its flow `kind` carries, which was offered and has not arrived.
    fn carries(&self, kind: FlowKind, frame: u32) -> Payload;

    /// A state for probes; `None` for one that it has not.
    fn state(&self, what: SourceState) -> Option<f64>;

    /// How many round-trip times it has measured, and the last of them; `None` before the first.
    fn last_rtt(&self) -> Option<(u64, Span)> {
        None
    }

    /// What it has counted.
    fn counters(&self) -> SenderCounters;

    /// The files that it has sent, in order.
    fn transfers(&self) -> &[Transfer];

    /// Most cells that the receiving end offers for each frame of data that arrives, then or when its timer expires; `None` where it sends
    /// more than answers.
    fn answers(&self) -> Option<u32> {
        None
    }

    /// What it has counted of data that go back; `None` where only one end sends.
    fn back(&self) -> Option<Back> {
        None
    }
}

/// A source of frames.
#[enum_dispatch(FrameSource)]
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "each is boxed, and most are TCPs"
)]
pub enum Frames {
    /// A TCP connection.
    Tcp,
    /// Anything else.
    Other,
}

impl Frames {
    /// [`FrameSource::take`], in place for a TCP.
    #[inline(always)]
    pub fn take_here(
        &mut self,
        kind: FlowKind,
        frame: u32,
        now: Time,
        out: &mut Outbox,
    ) -> Delivery {
        match self {
            Frames::Tcp(tcp) => tcp.take(kind, frame, now, out),
            Frames::Other(other) => other.take(kind, frame, now, out),
        }
    }
}

/// What drives a VC.
#[derive(Debug)]
pub enum Source {
    /// A source of frames.
    Frames(Box<Frames>),
    /// A source of single cells.
    Cells(CellSource),
}

impl Source {
    /// The source of `traffic`, from `start` until before `stop`, with the measuring time. `timer_phase` tells the phase of coarse timers of a
    /// granularity, `draws` is for what the source draws.
    pub fn new(
        traffic: &Traffic,
        [start, stop]: [Time; 2],
        measured: (Time, Time),
        timer_phase: impl FnOnce(Span) -> Span,
        draws: impl FnOnce() -> Stream,
    ) -> Source {
        if let Some(emission) = traffic.cells() {
            return Source::Cells(CellSource::new(emission, start, stop, draws));
        }
        match traffic {
            Traffic::Tcp(params) => {
                let phase = timer_phase(params.granularity);
                Source::Frames(Box::new(match params.both_ways {
                    false => Tcp::new(params, phase, stop, measured).into(),
                    true => Other::new(TwoWay::new(params, phase, stop, measured)).into(),
                }))
            }
            Traffic::Udp(params) => {
                let udp = Other::new(Udp::new(*params, start, stop));
                Source::Frames(Box::new(udp.into()))
            }
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => {
                unreachable!("these are sources of cells")
            }
        }
    }

    /// When it starts or emits first, `start` and `stop` being those that it was made with; [`Time::NEVER`] when it would not before
    /// it stops.
    pub fn first_event(&self, start: Time, stop: Time) -> Time {
        let first = match self {
            Source::Frames(_) => start,
            Source::Cells(cells) => cells.next,
        };
        if first < stop { first } else { Time::NEVER }
    }

    /// The source of frames, if it is one.
    pub fn frames(&mut self) -> Option<&mut Frames> {
        match self {
            Source::Frames(frames) => Some(frames),
            Source::Cells(_) => None,
        }
    }
}
