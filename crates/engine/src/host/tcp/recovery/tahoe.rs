//! Tahoe: fast retransmit, then slow start.
//!
//! At the `dupack_threshold`-th duplicate ACK: ssthresh = max(2 MSS, min(cwnd, rwnd) / 2),
//! cwnd = 1 MSS, snd_nxt = snd_una (go-back-N), and the sender sends. Further duplicates are
//! ignored.
//!
//! Duplicates caused by go-back-N are ignored too: a fast retransmit needs an ACK beyond the
//! highest byte sent when the last one began or the timer expired. Without this guard, eight losses
//! in a window make Tahoe send all later data twice, because each false fast retransmit causes the
//! next (S. Floyd, "TCP and successive fast retransmits", 1995).
//!
//! Source: Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3),
//! 1996, section 2, whose Tahoe goes back to snd_una and slow-starts. (4.3BSD resumes where it
//! was.)
//!
//! Limits: After each loss the window is one segment again.

use crate::ground::units::Time;
use crate::host::tcp::core::Core;
use crate::host::tcp::loss_recovery::LossRecovery;
use crate::host::tcp::{Ack, Segment};

/// State of a Tahoe sender.
#[derive(Clone, Copy, Debug)]
pub(in crate::host::tcp) struct Tahoe {
    /// One past the highest byte sent at the last fast retransmit or timeout.
    recover: Option<u64>,
}

impl Tahoe {
    /// State before the connection starts.
    pub fn new() -> Tahoe {
        Tahoe { recover: None }
    }
}

impl LossRecovery for Tahoe {
    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, _: &Ack, out: &mut Vec<Segment>) {
        core.dup_acks += 1;
        if core.dup_acks == core.dupack_threshold && Some(core.snd_una) > self.recover {
            self.recover = Some(core.snd_max);
            core.counters.fast_retransmits += 1;
            core.ssthresh = core.half_window();
            core.cwnd = core.mss as f64;
            core.snd_nxt = core.snd_una;
            core.fast_retransmit(now, out);
        }
    }

    fn on_timeout(&mut self, core: &Core) -> f64 {
        self.recover = Some(core.snd_max);
        core.half_window()
    }
}

#[cfg(test)]
mod tests {
    use crate::ground::units::Span;
    use crate::host::tcp::testing::{MSS, NOTHING, Peer, held_back, params};
    use crate::text::scenario::model::Recovery;

    // Fall and Floyd section 2: fast retransmit, then slow start.
    #[test]
    fn established_third_dup_ack_retransmits_and_slow_starts() {
        let mut peer = Peer::established(Recovery::Tahoe, 8);
        let una = peer.una();
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), [una]);
        assert_eq!(peer.sender.cwnd(), MSS);
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
        assert_eq!(peer.sender.counters().timeouts, 0);
    }

    #[test]
    fn retransmitted_further_dup_acks_send_nothing() {
        let mut peer = Peer::established(Recovery::Tahoe, 8);
        for _ in 0..3 {
            peer.dup();
        }
        for _ in 0..4 {
            assert_eq!(peer.dup(), NOTHING);
        }
        assert_eq!(peer.sender.cwnd(), MSS);
    }

    #[test]
    fn retransmitted_cumulative_ack_of_all_goes_on_in_slow_start() {
        let mut peer = Peer::established(Recovery::Tahoe, 8);
        let una = peer.una();
        for _ in 0..3 {
            peer.dup();
        }
        assert_eq!(peer.ack(una + 8), [una + 8, una + 9]);
        assert_eq!(peer.sender.cwnd(), 2 * MSS);
    }

    // RFC 2001 section 3: half of the window in use, both at a timeout and at the third duplicate.
    #[test]
    fn a_timeout_halves_the_window_in_use() {
        let mut peer = held_back(params(Recovery::Tahoe));
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
    }

    #[test]
    fn established_third_dup_ack_restarts_the_timer() {
        let mut peer = Peer::established(Recovery::Tahoe, 8);
        let before = peer.sender.deadline();
        peer.now += Span::from_milliseconds(100);
        peer.dup();
        peer.dup();
        assert_eq!(peer.sender.deadline(), before);
        peer.dup();
        // The time moves from 7 ms to 110 ms; with ticks of 10 ms, the tick at 110 ms has passed.
        let later = Span::from_milliseconds(110);
        assert_eq!(peer.sender.deadline(), before + later);
    }

    // Duplicates of data resent by go-back-N are no sign of loss (Floyd 1995).
    #[test]
    fn go_back_n_duplicates_start_nothing() {
        let mut peer = Peer::established(Recovery::Tahoe, 8);
        let una = peer.una();
        for _ in 0..3 {
            peer.dup();
        }
        peer.ack(una + 4);
        for _ in 0..5 {
            assert_eq!(peer.dup(), NOTHING);
        }
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
    }

    #[test]
    fn a_new_ack_between_restarts_the_count() {
        let mut peer = Peer::established(Recovery::Tahoe, 8);
        peer.dup();
        peer.dup();
        let una = peer.una();
        peer.ack(una + 1);
        peer.dup();
        peer.dup();
        assert_eq!(peer.sender.counters().fast_retransmits, 0);
        assert_eq!(peer.dup(), [una + 1]);
    }
}
