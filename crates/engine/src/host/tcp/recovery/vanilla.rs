//! Vanilla: slow start and congestion avoidance; only the retransmission timer repairs losses.
//!
//! Duplicate ACKs are ignored, so a loss costs a timeout, slow start and go-back-N.
//! Source: V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988, without its later fast
//! retransmit; the "vanilla TCP" of Goyal et al., "Improving the performance of TCP over the
//! ATM-UBR service", section 3.
//! Limits: Every loss waits for the timer, with its coarse ticks.

use crate::ground::units::Time;
use crate::host::tcp::core::Core;
use crate::host::tcp::loss_recovery::LossRecovery;
use crate::host::tcp::{Ack, Segment};

/// Recovery without any state.
#[derive(Clone, Copy, Debug)]
pub(in crate::host::tcp) struct Vanilla;

impl LossRecovery for Vanilla {
    fn on_duplicate_ack(&mut self, _: &mut Core, _: Time, _: &Ack, _: &mut Vec<Segment>) {}

    /// ssthresh by the source paper: half of cwnd, but at most rwnd, and at least two segments.
    fn on_timeout(&mut self, core: &Core) -> f64 {
        let half = (core.cwnd / 2.0).min(core.rwnd as f64);
        half.max(2.0 * core.mss as f64)
    }
}

#[cfg(test)]
mod tests {
    use crate::host::tcp::testing::{MSS, NOTHING, Peer, held_back, params};
    use crate::text::scenario::model::Recovery;

    // `ubr-plus`, section 2: half of cwnd, which may be above rwnd.
    #[test]
    fn a_timeout_halves_cwnd_down_to_rwnd() {
        let mut peer = held_back(params(Recovery::Vanilla));
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 8 * MSS);
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 2 * MSS);
    }

    #[test]
    fn established_duplicate_acks_change_nothing() {
        let mut peer = Peer::established(Recovery::Vanilla, 8);
        let cwnd = peer.sender.cwnd();
        for _ in 0..7 {
            assert_eq!(peer.dup(), NOTHING);
        }
        assert_eq!(peer.sender.cwnd(), cwnd);
        assert_eq!(peer.sender.counters().duplicate_acks, 7);
        assert_eq!(peer.sender.counters().fast_retransmits, 0);
    }

    #[test]
    fn a_loss_waits_for_the_timer() {
        let mut peer = Peer::established(Recovery::Vanilla, 8);
        let first = peer.una();
        peer.dup();
        assert_eq!(peer.expire(), [first]);
        assert_eq!(peer.sender.counters().timeouts, 1);
    }
}
