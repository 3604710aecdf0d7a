//! Helpers of the unit tests: a sender driven by the test, in terms of segment numbers.

use super::{Ack, MAX_SACK_BLOCKS, SackBlock, Segment, Sender};
use crate::ground::units::{Span, Time};
use crate::text::scenario::model::{Recovery, TcpParams};

/// Bytes of a segment in the tests.
pub const MSS: u64 = 1000;
/// No segment sent.
pub const NOTHING: [u64; 0] = [];
/// A measuring time without end.
pub const ALWAYS: (Time, Time) = (Time::ZERO, Time::NEVER);
/// Receiver window in the tests.
pub const RWND: u64 = 100 * MSS;

/// Basic parameters of the tests.
pub fn params(recovery: Recovery) -> TcpParams {
    TcpParams {
        recovery,
        mss: MSS,
        rwnd: RWND,
        granularity: Span::from_milliseconds(10),
        min_rto: Span::from_milliseconds(1000),
        ..TcpParams::default()
    }
}

/// A sender with cwnd = 20 segments, of which rwnd allows 8 to be outstanding.
pub fn held_back(params: TcpParams) -> Peer {
    let params = TcpParams {
        rwnd: 8 * MSS,
        initial_ssthresh: Some(RWND),
        ..params
    };
    Peer::with(params, 20)
}

/// The cumulative ACK of all segments before `number`.
pub fn ack_of(number: u64) -> Ack {
    Ack {
        ack: number * MSS,
        ..Ack::default()
    }
}

/// Numbers of the segments.
pub fn numbers(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|s| s.seq / MSS).collect()
}

/// A sender whose far end the test plays; 1 ms passes between calls.
pub struct Peer {
    pub sender: Sender,
    pub now: Time,
    una: u64,
}

impl Peer {
    /// A sender whose cwnd has just reached `window` segments in slow start (ssthresh is rwnd). All
    /// of them are outstanding: segments `una()` .. `una() + window`.
    pub fn established(recovery: Recovery, window: u64) -> Peer {
        Peer::with(params(recovery), window)
    }

    /// Like `established`, with these parameters.
    pub fn with(params: TcpParams, window: u64) -> Peer {
        let mut peer = Peer {
            sender: Sender::new(&params, Span::ZERO, Time::NEVER, ALWAYS),
            now: Time::ZERO,
            una: 0,
        };
        peer.sender.start(peer.now, &mut vec![]);
        for number in 1..=window - params.initial_window {
            peer.ack(number);
        }
        assert_eq!(peer.sender.cwnd(), window * params.mss);
        peer
    }

    /// The first unacknowledged segment.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Acknowledges all segments before `number`; returns the segments sent.
    pub fn ack(&mut self, number: u64) -> Vec<u64> {
        self.sack(number, &[])
    }

    /// Sends a duplicate ACK; returns the segments sent.
    pub fn dup(&mut self) -> Vec<u64> {
        self.ack(self.una)
    }

    /// Sends an ACK with blocks of segments [first, last]; returns the segments sent.
    pub fn sack(&mut self, number: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        self.now += Span::from_milliseconds(1);
        let mut ack = ack_of(number);
        for (slot, &(first, last)) in ack.blocks.iter_mut().zip(blocks) {
            *slot = SackBlock {
                start: first * MSS,
                end: (last + 1) * MSS,
            };
        }
        ack.n_blocks = blocks.len().min(MAX_SACK_BLOCKS) as u8;
        let mut out = vec![];
        self.sender.on_ack(self.now, &ack, &mut out);
        self.una = self.una.max(number);
        numbers(&out)
    }

    /// Lets the retransmission timer expire; returns the segments sent.
    pub fn expire(&mut self) -> Vec<u64> {
        self.now = self.sender.deadline();
        let mut out = vec![];
        self.sender.on_timer(self.now, &mut out);
        numbers(&out)
    }
}
