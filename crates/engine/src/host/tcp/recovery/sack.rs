//! SACK: fills holes known from selective acknowledgements, under control of `pipe`, the sender's
//! estimate of the bytes in flight.
//!
//! A duplicate ACK counts if a block reports data not known to have arrived. Recovery begins at the
//! `dupack_threshold`-th: ssthresh = cwnd = half, the recovery point is snd_max, and the segment at
//! snd_una is resent. Then, and at every ACK, the sender sends while cwnd - pipe >= 1 MSS: the next
//! hole, else new data that rwnd allows. The ACK of the recovery point ends recovery.
//!
//! `sack_pipe = counter` (Fall and Floyd, CCR 26(3), 1996, section 5: "Sack1"): half = max(2 MSS,
//! min(cwnd, rwnd) / 2). pipe starts as the flight minus `dupack_threshold` segments. The first
//! repair is not added, because it replaces the segment taken as lost. pipe falls by MSS per
//! counting duplicate and by 2 MSS per partial ACK (a lost segment and its repair), and rises by
//! the bytes sent.
//!
//! `sack_pipe = rfc6675`: half = max(2 MSS, flight / 2), and pipe is SetPipe of the scoreboard at
//! every ACK. Recovery also begins as soon as the segment at snd_una IsLost. NextSeg sends in this
//! order:
//!
//! 1. Holes that are lost.
//! 2. New data.
//! 3. Other holes.
//! 4. The last missing segment, unless it was resent before. This happens once per recovery, and
//!    not before an ACK beyond the first repair (RescueRxt).
//!
//! A timeout clears the scoreboard (RFC 2018 section 8). Then no recovery begins until everything
//! sent before is acknowledged (RFC 6675 section 5.1). The timer restarts at every ACK of new data.
//! Not modelled: skipping SACKed segments in go-back-N.
//!
//! Limits: A lost retransmission waits for the timer; limited transmit is not modelled.

use crate::ground::units::Time;
use crate::host::tcp::core::Core;
use crate::host::tcp::loss_recovery::LossRecovery;
use crate::host::tcp::scoreboard::Scoreboard;
use crate::host::tcp::{Ack, Segment};
use crate::text::scenario::model::{SackPipe, TcpParams};

/// State of a SACK sender.
#[derive(Clone, Debug)]
pub(in crate::host::tcp) struct Sack {
    board: Scoreboard,
    rule: SackPipe,
    recovering: bool,
    /// The ACK up to this byte ends a recovery. Outside recovery, none begins before that ACK.
    recovery_point: u64,
    /// Bytes in flight while recovering.
    pipe: u64,
    /// RescueRxt of RFC 6675: rule 4 applies once snd_una is beyond it. Initially the end of the
    /// first repair, which is still in transit before; the recovery point once the rule was used.
    rescue_after: u64,
}

impl Sack {
    /// State before the connection starts.
    pub fn new(params: &TcpParams) -> Sack {
        Sack {
            board: Scoreboard::default(),
            rule: params.sack_pipe,
            recovering: false,
            recovery_point: 0,
            pipe: 0,
            rescue_after: 0,
        }
    }
}

impl LossRecovery for Sack {
    fn only_opens_window(&self, ack: &Ack) -> bool {
        !self.recovering && ack.sack().is_empty() && self.board.is_empty()
    }

    fn on_new_ack(
        &mut self,
        core: &mut Core,
        now: Time,
        ack: &Ack,
        _acked: u64,
        out: &mut Vec<Segment>,
    ) {
        self.board.update(ack.ack, ack.sack());
        if !self.recovering {
            core.open_window();
            core.send_window(now, out);
        } else if core.snd_una >= self.recovery_point {
            self.recovering = false;
            core.send_window(now, out);
        } else {
            self.less_in_flight(core, 2 * core.mss);
            self.send_pipe(core, now, out);
        }
    }

    fn on_duplicate_ack(&mut self, core: &mut Core, now: Time, ack: &Ack, out: &mut Vec<Segment>) {
        if !self.board.update(ack.ack, ack.sack()) {
            return;
        }
        if self.recovering {
            self.less_in_flight(core, core.mss);
            self.send_pipe(core, now, out);
            return;
        }
        core.dup_acks += 1;
        let early = self.rule == SackPipe::Rfc6675
            && self
                .board
                .is_lost(core.snd_una, core.dupack_threshold, core.mss);
        if (core.dup_acks >= core.dupack_threshold || early) && core.snd_una >= self.recovery_point
        {
            self.enter(core, now, out);
        }
    }

    fn on_timeout(&mut self, core: &Core) -> f64 {
        self.board.clear();
        self.recovering = false;
        self.recovery_point = core.snd_max;
        self.half(core)
    }
}

impl Sack {
    /// ssthresh after a loss.
    fn half(&self, core: &Core) -> f64 {
        match self.rule {
            SackPipe::Counter => core.half_window(),
            SackPipe::Rfc6675 => core.half_flight(),
        }
    }

    fn enter(&mut self, core: &mut Core, now: Time, out: &mut Vec<Segment>) {
        let flight = core.snd_max - core.snd_una;
        core.counters.fast_retransmits += 1;
        core.ssthresh = self.half(core);
        core.cwnd = core.ssthresh;
        self.recovering = true;
        self.recovery_point = core.snd_max;
        self.board.start_over();
        let hole = self.board.next_hole();
        let end = hole.map_or(core.snd_max, |h| h.end);
        let end = core.retransmit(now, core.snd_una, end, out);
        core.restart_timer();
        self.board.fill(end);
        self.rescue_after = end;
        self.pipe = match self.rule {
            SackPipe::Counter => {
                let arrived = u64::from(core.dupack_threshold) * core.mss;
                flight.saturating_sub(arrived)
            }
            SackPipe::Rfc6675 => self.counted_pipe(core),
        };
        self.send_pipe(core, now, out);
    }

    fn counted_pipe(&self, core: &Core) -> u64 {
        self.board
            .pipe(core.snd_max, core.dupack_threshold, core.mss)
    }

    /// Updates `pipe` for an ACK in recovery; by the counter's rule `bytes` left the network.
    fn less_in_flight(&mut self, core: &Core, bytes: u64) {
        self.pipe = match self.rule {
            SackPipe::Counter => self.pipe.saturating_sub(bytes),
            SackPipe::Rfc6675 => self.counted_pipe(core),
        };
    }

    fn send_pipe(&mut self, core: &mut Core, now: Time, out: &mut Vec<Segment>) {
        let cwnd = core.cwnd as u64;
        while self.pipe + core.mss <= cwnd {
            let sent = match self.rule {
                SackPipe::Counter => self
                    .send_hole(core, now, out, false)
                    .or_else(|| send_new(core, now, out)),
                SackPipe::Rfc6675 => self
                    .send_hole(core, now, out, true)
                    .or_else(|| send_new(core, now, out))
                    .or_else(|| self.send_hole(core, now, out, false))
                    .or_else(|| self.send_rescue(core, now, out)),
            };
            match sent {
                Some(bytes) => self.pipe += bytes,
                None => break,
            }
        }
    }

    fn send_hole(
        &mut self,
        core: &mut Core,
        now: Time,
        out: &mut Vec<Segment>,
        only_lost: bool,
    ) -> Option<u64> {
        let hole = self.board.next_hole()?;
        if only_lost
            && !self
                .board
                .is_lost(hole.start, core.dupack_threshold, core.mss)
        {
            return None;
        }
        let end = core.retransmit(now, hole.start, hole.end, out);
        self.board.fill(end);
        Some(end - hole.start)
    }

    fn send_rescue(&mut self, core: &mut Core, now: Time, out: &mut Vec<Segment>) -> Option<u64> {
        if core.snd_una <= self.rescue_after {
            return None;
        }
        let end = self.board.last_missing_end(core.snd_max)?;
        self.rescue_after = self.recovery_point;
        // Segments begin at multiples of MSS from the start of their file. The last one may be
        // short.
        let before = end - 1 - core.file_start;
        let seq = core.file_start + before / core.mss * core.mss;
        core.retransmit(now, seq, end, out);
        Some(end - seq)
    }
}

fn send_new(core: &mut Core, now: Time, out: &mut Vec<Segment>) -> Option<u64> {
    let seq = core.snd_nxt;
    core.send_next(now, core.snd_una + core.rwnd, out)
        .then(|| core.snd_nxt - seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::Span;
    use crate::host::tcp::testing::{ALWAYS, MSS, NOTHING, Peer, held_back, params};
    use crate::host::tcp::{Ack, SackBlock, Sender};
    use crate::text::scenario::model::Recovery;

    fn with(rule: SackPipe, window: u64) -> Peer {
        Peer::with(
            TcpParams {
                sack_pipe: rule,
                ..params(Recovery::Sack)
            },
            window,
        )
    }

    /// Window of 8 segments, the first lost: in recovery after three duplicates.
    fn recovering(rule: SackPipe) -> Peer {
        let mut peer = with(rule, 8);
        let una = peer.una();
        assert_eq!(peer.sack(una, &[(una + 1, una + 1)]), NOTHING);
        assert_eq!(peer.sack(una, &[(una + 1, una + 2)]), NOTHING);
        assert_eq!(peer.sack(una, &[(una + 1, una + 3)]), [una]);
        peer
    }

    // Fall and Floyd section 5.
    #[test]
    fn established_third_dup_ack_enters_recovery() {
        let peer = recovering(SackPipe::Counter);
        assert_eq!(peer.sender.cwnd(), 4 * MSS, "no inflation");
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
    }

    // The counter uses half of the window in use (RFC 2001), RFC 6675 section 5 step 4.2 half of
    // the flight. Both also hold at a timeout.
    #[test]
    fn ssthresh_is_half_of_what_the_rule_says() {
        // At the timeout the values are half of a window of 4 and of a flight of 8.
        for (rule, later) in [(SackPipe::Counter, 2), (SackPipe::Rfc6675, 4)] {
            let params = TcpParams {
                sack_pipe: rule,
                ..params(Recovery::Sack)
            };
            let mut peer = held_back(params);
            let una = peer.una();
            for last in 1..4 {
                peer.sack(una, &[(una + 1, una + last)]);
            }
            assert_eq!(peer.sender.ssthresh(), 4 * MSS, "{rule:?}");
            peer.expire();
            assert_eq!(peer.sender.ssthresh(), later * MSS, "{rule:?}");
        }
    }

    // RFC 6298 rule 5.3 and 4.4BSD: a repair restarts the timer, at the entry and at every partial
    // ACK.
    #[test]
    fn entry_and_partial_acks_restart_the_timer() {
        for rule in [SackPipe::Counter, SackPipe::Rfc6675] {
            let mut peer = with(rule, 8);
            let una = peer.una();
            let before = peer.sender.deadline();
            peer.now += Span::from_milliseconds(100);
            peer.sack(una, &[(una + 2, una + 2)]);
            peer.sack(una, &[(una + 2, una + 3)]);
            assert_eq!(peer.sender.deadline(), before, "{rule:?}");
            peer.sack(una, &[(una + 2, una + 4)]);
            let entered = peer.sender.deadline();
            assert!(entered > before, "{rule:?}");
            peer.now += Span::from_milliseconds(100);
            peer.sack(una + 1, &[(una + 2, una + 4)]);
            assert!(peer.sender.deadline() > entered, "{rule:?}");
        }
    }

    // RFC 6675 section 2: a duplicate ACK must report data not known to have arrived.
    #[test]
    fn dup_acks_without_news_do_not_count() {
        let mut peer = with(SackPipe::Counter, 8);
        let una = peer.una();
        for _ in 0..5 {
            assert_eq!(peer.sack(una, &[(una + 1, una + 1)]), NOTHING);
            assert_eq!(peer.dup(), NOTHING);
        }
        assert_eq!(peer.sender.counters().duplicate_acks, 10);
        assert_eq!(peer.sender.counters().fast_retransmits, 0);
    }

    #[test]
    fn recovering_counter_sends_new_data_once_pipe_is_below_cwnd() {
        let mut peer = recovering(SackPipe::Counter);
        let una = peer.una();
        // pipe = 8 - 3 = 5, cwnd 4: the first duplicate leaves no room, each further one does.
        assert_eq!(peer.sack(una, &[(una + 1, una + 4)]), NOTHING);
        for last in 5..8 {
            let sent = peer.sack(una, &[(una + 1, una + last)]);
            assert_eq!(sent, [una + last + 3]);
        }
    }

    #[test]
    fn recovering_counter_fills_holes_before_new_data_and_partial_acks_count_twice() {
        let mut peer = with(SackPipe::Counter, 12);
        let una = peer.una();
        // una, una + 2 and una + 4 are lost.
        peer.sack(una, &[(una + 1, una + 1)]);
        peer.sack(una, &[(una + 3, una + 3), (una + 1, una + 1)]);
        let older = [(una + 3, una + 3), (una + 1, una + 1)];
        let blocks =
            |peer: &mut Peer, last| peer.sack(una, &[(una + 5, una + last), older[0], older[1]]);
        // pipe = 12 - 3 = 9, cwnd 6.
        assert_eq!(blocks(&mut peer, 5), [una]);
        for last in 6..9 {
            assert_eq!(blocks(&mut peer, last), NOTHING);
        }
        assert_eq!(blocks(&mut peer, 9), [una + 2]);
        assert_eq!(blocks(&mut peer, 10), [una + 4]);
        assert_eq!(blocks(&mut peer, 11), [una + 12]);
        let last = (una + 5, una + 11);
        assert_eq!(
            peer.sack(una + 2, &[last, older[0]]),
            [una + 13, una + 14],
            "pipe 6 - 2"
        );
        assert_eq!(peer.sack(una + 4, &[last]), [una + 15, una + 16]);
        // The ACK of the recovery point ends recovery.
        assert_eq!(peer.sack(una + 12, &[]), [una + 17]);
        assert_eq!(peer.sender.cwnd(), 6 * MSS);
        assert_eq!(peer.sender.counters().fast_retransmits, 1);
    }

    #[test]
    fn recovering_new_data_keep_to_the_receiver_window() {
        let mut peer = Peer::with(
            TcpParams {
                rwnd: 8 * MSS,
                ..params(Recovery::Sack)
            },
            8,
        );
        let una = peer.una();
        for last in 1..8 {
            let sent = peer.sack(una, &[(una + 1, una + last)]);
            assert_eq!(sent, if last == 3 { vec![una] } else { vec![] });
        }
    }

    // RFC 6675 section 5.1.
    #[test]
    fn timeout_bars_recovery_until_all_is_acknowledged() {
        let mut peer = recovering(SackPipe::Counter);
        let una = peer.una();
        assert_eq!(peer.expire(), [una]);
        assert_eq!(peer.ack(una + 1), [una + 1, una + 2]);
        for last in 3..8 {
            assert_eq!(peer.sack(una + 1, &[(una + 3, una + last)]), NOTHING);
        }
        assert_eq!(peer.ack(una + 8), [una + 8, una + 9, una + 10]);
        peer.sack(una + 8, &[(una + 9, una + 9)]);
        peer.sack(una + 8, &[(una + 9, una + 10)]);
        assert_eq!(peer.sack(una + 8, &[(una + 9, una + 11)])[0], una + 8);
    }

    // RFC 6675 section 5 step 2: IsLost starts recovery before the threshold.
    #[test]
    fn rfc6675_more_than_two_segments_above_start_recovery_at_once() {
        for (rule, entries) in [(SackPipe::Counter, 0), (SackPipe::Rfc6675, 1)] {
            let mut peer = with(rule, 8);
            let una = peer.una();
            peer.sack(una, &[(una + 1, una + 3)]);
            assert_eq!(peer.sender.counters().fast_retransmits, entries);
        }
    }

    // RFC 6675 section 4, SetPipe: lost segments are not in the pipe.
    #[test]
    fn rfc6675_pipe_leaves_out_what_is_lost() {
        let mut peer = recovering(SackPipe::Rfc6675);
        let una = peer.una();
        // pipe = 4 not SACKed + 1 sent again; cwnd 4.
        assert_eq!(peer.sack(una, &[(una + 1, una + 4)]), NOTHING);
        assert_eq!(peer.sack(una, &[(una + 1, una + 5)]), [una + 8]);
        assert_eq!(peer.sack(una, &[(una + 1, una + 6)]), [una + 9]);
    }

    // RFC 6675 section 4, NextSeg rules 1 to 3.
    #[test]
    fn rfc6675_next_is_a_lost_hole_then_new_data_then_another_hole() {
        let mut peer = with(SackPipe::Rfc6675, 16);
        let una = peer.una();
        // una, una + 2 and una + 14 are lost; the first two by three segments above.
        peer.sack(una, &[(una + 1, una + 1)]);
        let sent = peer.sack(una, &[(una + 3, una + 13), (una + 1, una + 1)]);
        // pipe = 2 (una + 14, una + 15) and the segments sent; cwnd 8: rules 1 and 2.
        assert_eq!(sent, [una, una + 2, una + 16, una + 17, una + 18, una + 19]);
        let sent = peer.sack(una, &[(una + 15, una + 15), (una + 3, una + 13)]);
        assert_eq!(sent, [una + 20], "one segment above: not yet lost");
    }

    #[test]
    fn rfc6675_holes_not_yet_lost_follow_when_there_are_no_new_data() {
        let mut peer = at_the_end(0);
        let una = peer.una();
        // una and una + 6 are lost.
        peer.sack(una, &[(una + 1, una + 1)]);
        assert_eq!(peer.sack(una, &[(una + 1, una + 4)]), [una]);
        // pipe = una + 6, una + 7 and una.
        assert_eq!(
            peer.sack(una, &[(una + 7, una + 7), (una + 1, una + 5)]),
            [una + 6]
        );
    }

    /// A sender at the end of a file of 15 segments minus `short` bytes, with the last 8 segments
    /// outstanding.
    fn at_the_end(short: u64) -> Peer {
        let params = TcpParams {
            sack_pipe: SackPipe::Rfc6675,
            file_size: Some(15 * MSS - short),
            ..params(Recovery::Sack)
        };
        let peer = Peer::with(params, 8);
        assert_eq!(peer.una() + 8, 15);
        peer
    }

    /// `at_the_end` in recovery: the first of the 8 segments was lost and resent at the third
    /// duplicate.
    fn recovering_at_the_end(short: u64) -> Peer {
        let mut peer = at_the_end(short);
        let una = peer.una();
        peer.sack(una, &[(una + 1, una + 1)]);
        peer.sack(una, &[(una + 1, una + 2)]);
        assert_eq!(peer.sack(una, &[(una + 1, una + 3)]), [una]);
        peer
    }

    // RFC 6675 section 5 step 4.3: RescueRxt prevents a premature rescue retransmission.
    #[test]
    fn rfc6675_nothing_is_rescued_while_the_first_repair_is_on_its_way() {
        let mut peer = recovering_at_the_end(0);
        let una = peer.una();
        for last in 4..8 {
            assert_eq!(peer.sack(una, &[(una + 1, una + last)]), NOTHING);
        }
        assert_eq!(peer.ack(una + 8), NOTHING);
        assert_eq!(peer.sender.counters().retransmitted_segments, 1);
    }

    // RescueRxt also holds if rwnd, not the end of a file, prevents new data.
    #[test]
    fn rfc6675_nothing_is_rescued_where_the_receiver_window_is_full() {
        let params = TcpParams {
            sack_pipe: SackPipe::Rfc6675,
            ..params(Recovery::Sack)
        };
        let mut peer = held_back(params);
        let una = peer.una();
        for last in 1..8 {
            let sent = peer.sack(una, &[(una + 1, una + last)]);
            assert_eq!(sent, if last == 3 { vec![una] } else { vec![] });
        }
    }

    // RFC 6675 section 4, NextSeg rule 4: HighACK must be greater than RescueRxt, not equal.
    #[test]
    fn rfc6675_an_ack_of_the_first_repair_alone_rescues_nothing() {
        let mut peer = at_the_end(0);
        let una = peer.una();
        // una, una + 1 and una + 7 are lost.
        peer.sack(una, &[(una + 2, una + 2)]);
        peer.sack(una, &[(una + 2, una + 3)]);
        assert_eq!(peer.sack(una, &[(una + 2, una + 4)]), [una]);
        assert_eq!(peer.sack(una, &[(una + 2, una + 5)]), [una + 1]);
        assert_eq!(peer.sack(una, &[(una + 2, una + 6)]), NOTHING);
        assert_eq!(peer.ack(una + 1), NOTHING);
        assert_eq!(peer.ack(una + 7), [una + 7]);
    }

    // NextSeg rule 4: the segment with the highest byte outstanding, also when it is short.
    #[test]
    fn rfc6675_rescues_the_last_segment_once_when_nothing_else_can_be_sent() {
        for short in [0, 400] {
            let mut peer = recovering_at_the_end(short);
            let una = peer.una();
            assert_eq!(peer.sack(una, &[(una + 1, una + 4)]), NOTHING);
            // una + 5 to una + 7 are lost.
            assert_eq!(peer.ack(una + 5), [una + 7], "{short}");
            assert_eq!(peer.ack(una + 6), NOTHING, "{short}");
        }
    }

    // After a handshake, data and hence segments begin with byte 1.
    #[test]
    fn rfc6675_rescues_a_whole_segment_wherever_the_file_begins() {
        let params = TcpParams {
            sack_pipe: SackPipe::Rfc6675,
            handshake: true,
            initial_window: 8,
            file_size: Some(8 * MSS),
            ..params(Recovery::Sack)
        };
        let mut sender = Sender::new(&params, Span::ZERO, Time::NEVER, ALWAYS);
        let mut now = Time::ZERO;
        sender.start(now, &mut vec![]);
        let mut acked = |segments: u64, held: Option<(u64, u64)>| {
            now += Span::from_milliseconds(1);
            let mut ack = Ack {
                ack: 1 + segments * MSS,
                ..Ack::default()
            };
            if let Some((first, last)) = held {
                ack.n_blocks = 1;
                ack.blocks[0] = SackBlock {
                    start: 1 + first * MSS,
                    end: 1 + (last + 1) * MSS,
                };
            }
            let mut out = vec![];
            sender.on_ack(now, &ack, &mut out);
            let data = out.iter().filter(|s| s.len > 0);
            data.map(|s| (s.seq, s.len)).collect::<Vec<_>>()
        };
        assert_eq!(acked(0, None).len(), 8);
        for last in 1..3 {
            assert_eq!(acked(0, Some((1, last))), []);
        }
        assert_eq!(acked(0, Some((1, 3))), [(1, MSS as u32)]);
        assert_eq!(acked(0, Some((1, 4))), []);
        assert_eq!(acked(5, None), [(1 + 7 * MSS, MSS as u32)]);
    }
}
