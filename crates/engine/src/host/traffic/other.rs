//! Sources of frames other than plain TCP.
//!
//! They are behind a separate pointer, and their code is not inlined where sources are called. One
//! comparison there identifies a TCP, which sends almost all frames.

use super::two_way::TwoWay;
use super::udp::Udp;
use super::{Delivery, End, FrameSource, Outbox, SourceState};
use crate::ground::flow::FlowKind;
use crate::ground::units::Time;
use crate::network::capture::CapturedPayload;
use crate::network::tally::{Back, SenderCounters, Transfer};
use enum_dispatch::enum_dispatch;

/// A source other than plain TCP.
#[derive(Debug)]
pub struct Other(Box<Others>);

/// Kinds of sources other than plain TCP.
#[enum_dispatch(FrameSource)]
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "each is boxed")]
pub enum Others {
    /// A TCP connection in each direction.
    TwoWay,
    /// UDP datagrams.
    Udp,
}

impl Other {
    /// Wraps one of these sources.
    pub fn new(source: impl Into<Others>) -> Other {
        Other(Box::new(source.into()))
    }
}

impl FrameSource for Other {
    fn start(&mut self, now: Time, out: &mut Outbox) -> Time {
        self.0.start(now, out)
    }

    fn take(&mut self, kind: FlowKind, frame: u32, now: Time, out: &mut Outbox) -> Delivery {
        self.0.take(kind, frame, now, out)
    }

    fn on_timer(&mut self, end: End, now: Time, out: &mut Outbox) {
        self.0.on_timer(end, now, out);
    }

    fn deadline(&self, end: End) -> Time {
        self.0.deadline(end)
    }

    fn carries(&self, kind: FlowKind, frame: u32) -> CapturedPayload {
        self.0.carries(kind, frame)
    }

    fn state(&self, what: SourceState) -> Option<f64> {
        self.0.state(what)
    }

    fn is_independent(&self) -> bool {
        self.0.is_independent()
    }

    fn last_rtt(&self) -> Option<(u64, f64)> {
        self.0.last_rtt()
    }

    fn counters(&self) -> SenderCounters {
        self.0.counters()
    }

    fn transfers(&self) -> &[Transfer] {
        self.0.transfers()
    }

    fn back(&self) -> Option<Back> {
        self.0.back()
    }
}
