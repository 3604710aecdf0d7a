//! Reno: fast retransmit and fast recovery.
//!
//! Entry, at the `dupack_threshold`-th duplicate ACK: ssthresh = max(2 MSS, min(cwnd, rwnd) / 2),
//! cwnd = ssthresh + 3 MSS, and the segment at snd_una is resent. Each further duplicate adds MSS
//! to cwnd, and new data are sent as the window allows. The first ACK of new data ends recovery
//! with cwnd = ssthresh.
//!
//! Source: RFC 2001 sections 3 and 4; 4.4BSD-Lite2 `tcp_input`.
//!
//! There is no guard, as in BSD, so duplicates caused by go-back-N after a timeout can start a
//! (false) fast retransmit.
//!
//! Option `reno_window = bsd-lite2`: ssthresh, also after a timeout, is a whole number of segments.
//! cwnd stays inflated if exactly the threshold of duplicates came. The ACK that ends recovery also
//! opens the window like any other.
//!
//! Option `reno_fast_retransmit = nothing`: the segment is not resent and the timer runs on;
//! everything else is unchanged, and the timing of a segment is cancelled. BSD cancels it before it
//! sends. This reproduces published tables in which fast retransmit cannot have repaired the hole.
//!
//! Limits: Several losses in one window usually end in a timeout; duplicates of data already
//! received can start a needless recovery.

use crate::ground::units::Time;
use crate::host::tcp::core::Core;
use crate::host::tcp::loss_recovery::LossRecovery;
use crate::host::tcp::{Ack, Segment};
use crate::text::scenario::model::{RenoFastRetransmit, RenoWindow, TcpParams};

/// State of a Reno sender.
#[derive(Clone, Copy, Debug)]
pub(in crate::host::tcp) struct Reno {
    recovering: bool,
    resend: RenoFastRetransmit,
    window: RenoWindow,
    /// Whether more duplicates came than the number that starts a recovery.
    more: bool,
}

impl Reno {
    /// State before the connection starts.
    pub fn new(params: &TcpParams) -> Reno {
        Reno {
            recovering: false,
            resend: params.reno_fast_retransmit,
            window: params.reno_window,
            more: false,
        }
    }

    /// Ends recovery at the first ACK of new data.
    #[cold]
    fn leave(&mut self, core: &mut Core) {
        self.recovering = false;
        match self.window {
            RenoWindow::Rfc2001 => core.cwnd = core.ssthresh,
            RenoWindow::BsdLite2 => {
                if self.more {
                    core.cwnd = core.cwnd.min(core.ssthresh);
                }
                core.open_window();
            }
        }
    }

    /// ssthresh after a loss, bytes.
    fn half(&self, core: &Core) -> f64 {
        let half = core.half_window();
        match self.window {
            RenoWindow::Rfc2001 => half,
            RenoWindow::BsdLite2 => {
                let mss = core.mss as f64;
                (half / mss).floor() * mss
            }
        }
    }
}

impl LossRecovery for Reno {
    fn only_opens_window(&self, _: &Ack) -> bool {
        !self.recovering
    }

    fn on_new_ack(
        &mut self,
        core: &mut Core,
        now: Time,
        _ack: &Ack,
        _acked: u64,
        out: &mut Vec<Segment>,
    ) {
        self.leave(core);
        core.send_window(now, out);
    }

    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, _: &Ack, out: &mut Vec<Segment>) {
        core.dup_acks += 1;
        if self.recovering {
            self.more = true;
            core.cwnd += core.mss as f64;
            core.send_window(now, out);
        } else if core.dup_acks == core.dupack_threshold {
            (self.recovering, self.more) = (true, false);
            core.counters.fast_retransmits += 1;
            core.ssthresh = self.half(core);
            core.cwnd = core.ssthresh + 3.0 * core.mss as f64;
            match self.resend {
                RenoFastRetransmit::MissingSegment => core.fast_retransmit(now, out),
                RenoFastRetransmit::Nothing => core.stop_timing(),
            }
        }
    }

    fn on_timeout(&mut self, core: &Core) -> f64 {
        self.recovering = false;
        self.half(core)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tcp::testing::{MSS, NOTHING, Peer, held_back, params};
    use crate::text::scenario::model::Recovery;

    // RFC 2001 section 3 step 1 and 4.4BSD `tcp_timers`: half of the window in use, however far
    // duplicates have inflated cwnd.
    #[test]
    fn a_timeout_halves_the_window_in_use() {
        let mut peer = held_back(params(Recovery::Reno));
        for _ in 0..30 {
            peer.dup();
        }
        assert!(peer.sender.cwnd() > 30 * MSS);
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
    }

    /// Window of 8 segments, the first lost, in fast recovery after three duplicates.
    fn recovering() -> Peer {
        let mut peer = Peer::established(Recovery::Reno, 8);
        let una = peer.una();
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), [una]);
        peer
    }

    // RFC 2001 section 4 step 1.
    #[test]
    fn established_third_dup_ack_enters_fast_recovery() {
        let peer = recovering();
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
        assert_eq!(peer.sender.cwnd(), 7 * MSS);
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
    }

    // RFC 2001 section 4 step 2.
    #[test]
    fn recovering_dup_ack_inflates_and_sends_as_the_window_allows() {
        let mut peer = recovering();
        let una = peer.una();
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.sender.cwnd(), 8 * MSS);
        assert_eq!(peer.dup(), [una + 8]);
        assert_eq!(peer.dup(), [una + 9]);
    }

    // RFC 2001 section 4 step 3.
    #[test]
    fn recovering_new_ack_deflates_to_ssthresh() {
        let mut peer = recovering();
        let una = peer.una();
        for _ in 0..4 {
            peer.dup();
        }
        // una + 8 .. una + 10 are outstanding.
        assert_eq!(peer.ack(una + 8), [una + 11]);
        assert_eq!(peer.sender.cwnd(), 4 * MSS);
        // Congestion avoidance from the second ACK on: cwnd <= ssthresh still adds one segment.
        peer.ack(una + 9);
        peer.ack(una + 10);
        assert_eq!(peer.sender.cwnd(), 5 * MSS + MSS / 5);
    }

    #[test]
    fn recovering_partial_ack_leaves_recovery() {
        let mut peer = recovering();
        let una = peer.una();
        assert_eq!(peer.ack(una + 1), NOTHING);
        assert_eq!(peer.sender.cwnd(), 4 * MSS);
        assert_eq!(peer.dup(), NOTHING, "no inflation outside recovery");
        assert_eq!(peer.sender.cwnd(), 4 * MSS);
    }

    // RFC 2001 section 3 step 1: at least two segments.
    #[test]
    fn ssthresh_is_at_least_two_segments() {
        let mut peer = Peer::established(Recovery::Reno, 2);
        for _ in 0..3 {
            peer.dup();
        }
        assert_eq!(peer.sender.ssthresh(), 2 * MSS);
    }

    #[test]
    fn recovering_timeout_leaves_recovery() {
        let mut peer = recovering();
        let una = peer.una();
        assert_eq!(peer.expire(), [una]);
        assert_eq!(peer.sender.cwnd(), MSS);
        assert_eq!(peer.dup(), NOTHING, "no inflation after a timeout");
        assert_eq!(peer.sender.cwnd(), MSS);
    }

    #[test]
    fn go_back_n_duplicates_start_a_false_fast_retransmit() {
        let mut peer = Peer::established(Recovery::Reno, 8);
        let una = peer.una();
        peer.expire();
        assert_eq!(peer.ack(una + 1), [una + 1, una + 2]);
        peer.dup();
        peer.dup();
        assert_eq!(peer.dup(), [una + 1]);
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
    }

    #[test]
    fn option_nothing_enters_recovery_without_the_retransmission() {
        let mut peer = Peer::with(
            TcpParams {
                reno_fast_retransmit: RenoFastRetransmit::Nothing,
                ..params(Recovery::Reno)
            },
            8,
        );
        let (una, deadline) = (peer.una(), peer.sender.deadline());
        for _ in 0..3 {
            assert_eq!(peer.dup(), NOTHING);
        }
        assert_eq!(peer.sender.cwnd(), 7 * MSS);
        assert_eq!(peer.dup(), NOTHING);
        assert_eq!(peer.dup(), [una + 8]);
        assert_eq!(peer.sender.deadline(), deadline, "the timer runs on");
        assert_eq!(peer.expire(), [una]);
    }

    fn lite2(window: u64) -> Peer {
        let params = TcpParams {
            reno_window: RenoWindow::BsdLite2,
            ..params(Recovery::Reno)
        };
        Peer::with(params, window)
    }

    // 4.4BSD-Lite2 `tcp_input`: the window shrinks if t_dupacks > tcprexmtthresh, and then opens.
    #[test]
    fn lite2_leaves_the_window_inflated_after_exactly_the_threshold() {
        for (duplicates, cwnd) in [(3, 7.0 + 1.0 / 7.0), (4, 5.0), (5, 5.0)] {
            let mut peer = lite2(8);
            let una = peer.una();
            for _ in 0..duplicates {
                peer.dup();
            }
            peer.ack(una + 8);
            assert_eq!(
                peer.sender.cwnd(),
                (cwnd * MSS as f64) as u64,
                "{duplicates}"
            );
        }
    }

    // 4.4BSD-Lite2 `tcp_input` and `tcp_timers`: win = min(snd_wnd, snd_cwnd) / 2 / t_maxseg.
    #[test]
    fn lite2_ssthresh_is_whole_segments() {
        let mut peer = lite2(9);
        for _ in 0..3 {
            peer.dup();
        }
        assert_eq!(
            (peer.sender.ssthresh(), peer.sender.cwnd()),
            (4 * MSS, 7 * MSS)
        );
        let mut peer = lite2(9);
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 2 * MSS, "at least two");
    }
}
