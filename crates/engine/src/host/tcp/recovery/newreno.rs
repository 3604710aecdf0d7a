//! NewReno: fast recovery that repairs one hole per round trip.
//!
//! Rules of RFC 6582 section 3.2:
//!
//! * Entry: at the `dupack_threshold`-th duplicate ACK, if the ACK covers more than `recover`, the
//!   highest byte sent when the last recovery began or the timer expired. Then
//!   ssthresh = max(2 MSS, flight / 2), cwnd = ssthresh + 3 MSS, recover = snd_max. The segment at
//!   snd_una is resent.
//! * Each further duplicate: cwnd += MSS, and one new segment if the window allows.
//! * Full ACK (at or beyond recover): cwnd = min(ssthresh, max(flight, MSS) + MSS), and recovery
//!   ends.
//! * Partial ACK: the next missing segment is resent. cwnd decreases by the bytes acknowledged, and
//!   increases by MSS if that was at least an MSS. Then one new segment if the window allows.
//!
//! For further duplicates and partial ACKs the RFCs allow one new segment (RFC 5681 section 3.2
//! step 5, RFC 6582 section 3.2 step 3), not all that fits the window. The difference matters if
//! rwnd limits the sender: duplicates then inflate cwnd beyond rwnd, and a partial ACK would open
//! the window by all that it acknowledges.
//!
//! Every partial ACK restarts the timer, the "slow-but-steady" variant of RFC 6582 section 4. The
//! "impatient" variant restarts it only at the first. With a minimum RTO of a second, that variant
//! times out if there are more holes to repair than round trips in this second.
//!
//! Choices beyond the RFC: the first recovery of a connection needs no guard, because without a SYN
//! no byte precedes the first. A partial ACK leaves cwnd at one MSS or more.
//!
//! Limits: One lost segment is repaired for each round trip.

use crate::ground::units::Time;
use crate::host::tcp::core::Core;
use crate::host::tcp::loss_recovery::LossRecovery;
use crate::host::tcp::{Ack, Segment};

/// State of a NewReno sender.
#[derive(Clone, Copy, Debug)]
pub(in crate::host::tcp) struct NewReno {
    recovering: bool,
    /// One past the highest byte sent at the last entry or timeout.
    recover: Option<u64>,
}

impl NewReno {
    /// State before the connection starts.
    pub fn new() -> NewReno {
        NewReno {
            recovering: false,
            recover: None,
        }
    }
}

impl LossRecovery for NewReno {
    fn only_opens_window(&self, _: &Ack) -> bool {
        !self.recovering
    }

    fn on_new_ack(
        &mut self,
        core: &mut Core,
        now: Time,
        _ack: &Ack,
        acked: u64,
        out: &mut Vec<Segment>,
    ) {
        if Some(core.snd_una) >= self.recover {
            let flight = (core.snd_max - core.snd_una).max(core.mss) as f64;
            core.cwnd = core.ssthresh.min(flight + core.mss as f64);
            self.recovering = false;
            core.send_window(now, out);
        } else {
            deflate(core, acked);
            core.retransmit(now, core.snd_una, u64::MAX, out);
            core.send_next(now, core.window_end(), out);
        }
    }

    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, _: &Ack, out: &mut Vec<Segment>) {
        core.dup_acks += 1;
        if self.recovering {
            core.cwnd += core.mss as f64;
            core.send_next(now, core.window_end(), out);
        } else if core.dup_acks == core.dupack_threshold && Some(core.snd_una) > self.recover {
            self.recovering = true;
            self.recover = Some(core.snd_max);
            core.counters.fast_retransmits += 1;
            core.ssthresh = core.half_flight();
            core.cwnd = core.ssthresh + 3.0 * core.mss as f64;
            core.fast_retransmit(now, out);
        }
    }

    fn on_timeout(&mut self, core: &Core) -> f64 {
        self.recovering = false;
        self.recover = Some(core.snd_max);
        core.half_flight()
    }
}

/// Deflates the window at a partial ACK.
fn deflate(core: &mut Core, acked: u64) {
    let mss = core.mss as f64;
    core.cwnd -= acked as f64;
    if acked >= core.mss {
        core.cwnd += mss;
    }
    core.cwnd = core.cwnd.max(mss);
}

#[cfg(test)]
mod tests {
    use crate::ground::units::Span;
    use crate::host::tcp::testing::{MSS, NOTHING, Peer, held_back, params};
    use crate::text::scenario::model::Recovery;

    /// Window of 8 segments, in fast recovery after three duplicates.
    fn recovering() -> Peer {
        let mut peer = Peer::established(Recovery::NewReno, 8);
        let una = peer.una();
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), [una]);
        peer
    }

    // RFC 6582 section 3.2 steps 1 and 2.
    #[test]
    fn established_third_dup_ack_enters_fast_recovery() {
        let peer = recovering();
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
        assert_eq!(peer.sender.cwnd(), 7 * MSS);
    }

    // RFC 5681 equation 4: half of the flight, not of an unused window.
    #[test]
    fn ssthresh_is_half_of_the_flight() {
        let mut peer = held_back(params(Recovery::NewReno));
        for _ in 0..3 {
            peer.dup();
        }
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
    }

    // RFC 5681 equation 4 at a timeout, however far duplicates have inflated cwnd.
    #[test]
    fn a_timeout_halves_the_flight() {
        let mut peer = held_back(params(Recovery::NewReno));
        for _ in 0..30 {
            peer.dup();
        }
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
        assert_eq!(peer.sender.cwnd(), MSS);
    }

    // RFC 6582 section 3.2 step 2, "for each additional duplicate ACK".
    #[test]
    fn recovering_dup_ack_inflates_and_sends_as_the_window_allows() {
        let mut peer = recovering();
        let una = peer.una();
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), [una + 8]);
        assert_eq!(peer.sender.cwnd(), 9 * MSS);
    }

    // RFC 6582 section 3.2 step 3, partial acknowledgments.
    #[test]
    fn recovering_partial_ack_repairs_the_next_hole_and_stays() {
        let mut peer = recovering();
        let una = peer.una();
        for _ in 0..4 {
            peer.dup(); // cwnd 11, una + 8 .. una + 10 sent
        }
        // cwnd 11 - 3 + 1 = 9 from una + 3: one more new segment.
        assert_eq!(peer.ack(una + 3), [una + 3, una + 11]);
        assert_eq!(peer.sender.cwnd(), 9 * MSS);
        assert_eq!(peer.dup(), [una + 12]);
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
    }

    // RFC 6582 section 3.2 step 3, "send a new segment". rwnd keeps 8 of 20 segments in flight.
    // Duplicates inflate cwnd until the window is open by all that the partial ACK acknowledged.
    #[test]
    fn recovering_each_ack_sends_one_new_segment_at_most() {
        let mut peer = held_back(params(Recovery::NewReno));
        let una = peer.una();
        for n in 1..8 {
            assert_eq!(peer.dup(), if n == 3 { vec![una] } else { vec![] });
        }
        assert_eq!(peer.sender.cwnd(), 11 * MSS);
        // cwnd 11 - 4 + 1 = 8 from una + 4, of which 4 are outstanding.
        assert_eq!(peer.ack(una + 4), [una + 4, una + 8]);
        assert_eq!(peer.sender.cwnd(), 8 * MSS);
        assert_eq!(peer.dup(), [una + 9]);
        assert_eq!(peer.ack(una + 6), [una + 6, una + 10]);
    }

    #[test]
    fn a_large_partial_ack_leaves_one_segment_of_window() {
        let mut peer = Peer::established(Recovery::NewReno, 40);
        let una = peer.una();
        for _ in 0..3 {
            peer.dup();
        }
        assert_eq!(peer.ack(una + 39), [una + 39]);
        assert_eq!(peer.sender.cwnd(), MSS);
    }

    // RFC 6582 section 3.2 step 3, full acknowledgments, option 1.
    #[test]
    fn recovering_full_ack_leaves_recovery_without_a_burst() {
        let mut peer = recovering();
        let una = peer.una();
        // Nothing is in flight: one segment more than max(flight, MSS).
        assert_eq!(peer.ack(una + 8), [una + 8, una + 9]);
        assert_eq!(peer.sender.cwnd(), 2 * MSS);
    }

    #[test]
    fn recovering_full_ack_with_much_in_flight_sets_cwnd_to_ssthresh() {
        let mut peer = recovering();
        let una = peer.una();
        for _ in 0..5 {
            peer.dup(); // una + 8 .. una + 11
        }
        peer.ack(una + 8);
        assert_eq!(peer.sender.cwnd(), 4 * MSS);
    }

    // RFC 6582 section 4, the slow-but-steady variant.
    #[test]
    fn every_partial_ack_restarts_the_timer() {
        let mut peer = recovering();
        let una = peer.una();
        let mut deadline = peer.sender.deadline();
        for n in 1..4 {
            peer.now += Span::from_milliseconds(100);
            peer.ack(una + n);
            assert!(peer.sender.deadline() > deadline);
            deadline = peer.sender.deadline();
        }
    }

    // RFC 6582 section 3.2 step 1: the ACK must cover more than recover.
    #[test]
    fn dup_acks_that_do_not_cover_more_than_recover_start_nothing() {
        let mut peer = Peer::established(Recovery::NewReno, 8);
        let una = peer.una();
        peer.expire();
        peer.ack(una + 8);
        for _ in 0..5 {
            assert_eq!(peer.dup(), NOTHING);
        }
        assert_eq!(peer.sender.counters().fast_retransmits, 0);
        peer.ack(una + 9);
        for _ in 0..3 {
            peer.dup();
        }
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
    }

    // RFC 6582 section 3.2 step 4.
    #[test]
    fn recovering_timeout_leaves_recovery() {
        let mut peer = recovering();
        let una = peer.una();
        assert_eq!(peer.expire(), [una]);
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.sender.cwnd(), MSS);
    }
}
