//! Traffic sources of VCs, with one file per kind. The rest of the engine only asks for their
//! properties.
//!
//! A source of *frames* is notified of its start, of frames that arrive at its ends and of expired
//! timers, and offers frames. A source of *cells* gives the times of its next cells.
//!
//! To add a source of frames, write its file with a [`FrameSource`], add it to `Others` and to
//! [`Source::new`], and answer what `scenario::Traffic` asks.

mod cells;
mod other;
mod pace;
mod tcp;
mod two_way;
mod udp;

pub use cells::CellSource;

use crate::ground::flow::FlowKind;
use crate::ground::format::{Format, FrameSize};
use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::host::tcp::Segment;
use crate::network::capture::CapturedPayload;
use crate::network::tally::{Back, SenderCounters, Transfer};
use crate::text::scenario::Traffic;
use enum_dispatch::enum_dispatch;
use other::{Other, Others};
use tcp::Tcp;
use two_way::TwoWay;
use udp::Udp;

/// An end of a VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end that sends data.
    Sender,
    /// The end that receives data.
    Receiver,
}

impl End {
    /// The end at which frames of such a flow arrive.
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
    /// Kind of the flow that carries the frame.
    pub kind: FlowKind,
    /// Size of the frame.
    pub size: FrameSize,
    /// Number of the first byte of data; for an ACK, the byte number that it acknowledges. See
    /// `NO_DATA`.
    pub first_byte: u64,
}

impl Offered {
    /// Value of `first_byte` for a frame without data in the flow of data.
    pub const NO_DATA: u64 = u64::MAX;
}

/// Collects the frames that sources offer.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// The frames.
    pub frames: Vec<Offered>,
    /// Buffer for the segments of a TCP connection that become frames. It is empty between calls,
    /// so all connections share it.
    segments: Vec<Segment>,
}

/// Effect of an arriving frame on the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Bytes newly delivered, in order.
    pub bytes: u64,
    /// Bytes of the frame on the line, if it has data that had not arrived before.
    pub line_bytes: u64,
}

/// A state of a source that a probe can record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// cwnd, bytes.
    Cwnd,
    /// ssthresh, bytes.
    Ssthresh,
    /// First unacknowledged byte.
    Acknowledged,
    /// Bytes sent but not acknowledged.
    Flight,
    /// Retransmission timeout, seconds.
    Rto,
}

/// A source of frames, with both ends. Frames of a flow are numbered in the order of their offers.
#[enum_dispatch]
pub trait FrameSource {
    /// Starts the source, or continues on its own. Returns when to call this again; [`Time::NEVER`]
    /// for never.
    fn start(&mut self, now: Time, out: &mut Outbox) -> Time;

    /// Takes frame `frame` of the flow `kind`, which has arrived complete.
    fn take(&mut self, kind: FlowKind, frame: u32, now: Time, out: &mut Outbox) -> Delivery;

    /// Handles the deadline of `end`, at `now`.
    fn on_timer(&mut self, end: End, now: Time, out: &mut Outbox);

    /// When `end` must be called; [`Time::NEVER`] for never.
    fn deadline(&self, end: End) -> Time;

    /// Contents of frame `frame` of the flow `kind`, which was offered and has not arrived.
    fn carries(&self, kind: FlowKind, frame: u32) -> CapturedPayload;

    /// A state for probes; `None` if the source lacks it.
    fn state(&self, what: SourceState) -> Option<f64>;

    /// Number of round-trip times measured, and the last one in seconds; `None` before the first.
    fn last_rtt(&self) -> Option<(u64, f64)> {
        None
    }

    /// Counters of the source.
    fn counters(&self) -> SenderCounters;

    /// Files sent, in order.
    fn transfers(&self) -> &[Transfer];

    /// Whether the source offers one frame of data at each start, regardless of what arrives, and
    /// has no timers.
    fn is_independent(&self) -> bool {
        false
    }

    /// Upper bound on the cells that the receiving end offers per arriving data frame, at once or
    /// at its timer. `None` if that end sends more than answers.
    fn answers(&self) -> Option<u32> {
        None
    }

    /// Counters of data sent back; `None` if only one end sends.
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
    /// Any other source of frames.
    Other,
}

impl Frames {
    /// [`FrameSource::take`], inlined for a TCP.
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

/// The traffic source of a VC.
#[derive(Debug)]
pub enum Source {
    /// A source of frames.
    Frames(Box<Frames>),
    /// A source of single cells.
    Cells(CellSource),
}

impl Source {
    /// The source of `traffic`, from `start` until before `stop`, with the measuring time.
    /// `timer_phase` gives the phase of coarse timers by granularity; `draws` provides the source's
    /// random draws.
    pub fn new(
        traffic: &Traffic,
        format: Format,
        [start, stop]: [Time; 2],
        measured: (Time, Time),
        timer_phase: impl FnOnce(Span) -> Span,
        draws: impl FnOnce() -> Stream,
    ) -> Source {
        if let Some(emission) = traffic.cells() {
            return Source::Cells(CellSource::new(emission, format, start, stop, draws));
        }
        match traffic {
            Traffic::Tcp(params) => {
                let phase = timer_phase(params.granularity);
                Source::Frames(Box::new(match params.both_ways {
                    false => Tcp::new(params, format, phase, stop, measured).into(),
                    true => Other::new(TwoWay::new(params, format, phase, stop, measured)).into(),
                }))
            }
            Traffic::Udp(params) => {
                let udp = Other::new(Udp::new(*params, format, start, stop));
                Source::Frames(Box::new(udp.into()))
            }
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => {
                unreachable!("these are sources of cells")
            }
        }
    }

    /// Time of the first start or emission; [`Time::NEVER`] if there is none before the stop.
    /// `start` and `stop` must be those given to [`Source::new`].
    pub fn first_event(&self, start: Time, stop: Time) -> Time {
        let first = match self {
            Source::Frames(_) => start,
            Source::Cells(cells) => cells.next,
        };
        if first < stop { first } else { Time::NEVER }
    }

    /// The source of frames; `None` for a source of cells.
    pub fn frames(&mut self) -> Option<&mut Frames> {
        match self {
            Source::Frames(frames) => Some(frames),
            Source::Cells(_) => None,
        }
    }
}
