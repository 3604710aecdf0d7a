//! The sender: everything that all loss recoveries share.
//!
//! Window: min(cwnd, rwnd) bytes from snd_una. Only full segments are sent, except the last of a
//! file. Initial cwnd = initial_window x MSS, initial ssthresh = `initial_ssthresh`, else rwnd.
//!
//! Growth: an ACK of new data adds MSS to cwnd if cwnd <= ssthresh, else MSS x MSS / cwnd. The
//! calculation is in bytes as floats, in that order (Jacobson, SIGCOMM 1988; RFC 2001 section 1;
//! 4.4BSD-Lite2, which no longer adds MSS/8). rwnd does not limit cwnd, so that halving after a
//! loss can leave it above rwnd. A bound of 2^40 bytes prevents overflow.
//!
//! Timeout: ssthresh as the recovery says, cwnd = 1 MSS, snd_nxt = snd_una (go-back-N), and the RTO
//! doubles. A cumulative ACK beyond snd_nxt moves snd_nxt up.
//!
//! Timer: a single one. ACKs of new data and fast retransmits restart it; without outstanding data
//! it stops. `grid` defines when it expires, `rtt` its length.
//!
//! Round-trip time: one segment is timed at a time, and only at its first transmission. Any
//! retransmission cancels the timing (Karn; 4.4BSD `t_rtt`).
//!
//! Files: when the last byte of a file is acknowledged, the next file begins, on a new connection
//! or the same, at once or after a gap. During a gap the deadline is that beginning.
//!
//! Handshake: a SYN takes the number before the first byte, and is timed and resent like a segment.
//! The sender answers the ACK of its SYN with an ACK, and then sends data.
//!
//! Stop: the data then end at snd_max. Data already sent are completed by the same rules.
//!
//! Not modelled: window updates, persist timer, restart after idle (sources are idle only between
//! files), giving up.

use super::core::Core;
use super::loss_recovery::LossRecovery;
use super::recovery::State;
use super::{Ack, Deadline, Segment};
use crate::ground::units::{Span, Time};
use crate::network::tally::{SenderCounters, Transfer};
use crate::text::scenario::model::{NextFile, TcpParams};

/// The sending end of a connection, or of several consecutive ones.
#[derive(Clone, Debug)]
pub struct Sender {
    core: Core,
    recovery: State,
    /// Whether a SYN is still unacknowledged.
    opening: bool,
    /// Whether the deadline is the start of the next file.
    pauses: bool,
    /// Parameters for what follows the end of a file, or the SYN.
    params: Box<TcpParams>,
    /// When the current file began.
    began: Time,
    transfers: Vec<Transfer>,
}

impl Sender {
    /// A sender that has not started. `params` must satisfy 1 <= MSS <= rwnd and MSS < 2^32.
    ///
    /// `timer_phase` is the first tick of the coarse timer. From `stop` on no new data are sent.
    /// `measured` is the measuring time, from and to.
    pub fn new(
        params: &TcpParams,
        timer_phase: Span,
        stop: Time,
        measured: (Time, Time),
    ) -> Sender {
        Sender {
            core: Core::new(params, timer_phase, stop, measured),
            recovery: State::new(params),
            opening: false,
            pauses: false,
            params: Box::new(params.clone()),
            began: Time::ZERO,
            transfers: Vec::new(),
        }
    }

    /// Opens the application and sends the initial window.
    pub fn start(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.core.advance(now);
        self.core.counters.began = Some(now);
        self.begin(now, out);
    }

    /// Begins a file, or unlimited data, on a connection that is open or has not started.
    fn begin(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.began = now;
        let core = &mut self.core;
        core.waited = Span::ZERO;
        self.opening = core.snd_max < core.first;
        if self.opening {
            core.transmit_syn(now, out);
        } else if core.snd_una >= core.file_end {
            self.file_done(now, out);
        } else {
            core.send_window(now, out);
        }
    }

    /// Completes a file whose last byte is acknowledged.
    #[cold]
    fn file_done(&mut self, now: Time, out: &mut Vec<Segment>) {
        let began = self.began;
        let waited = self.core.waited;
        self.transfers.push(Transfer {
            began,
            done: now,
            waited,
        });
        let sent = self.transfers.len() as u64;
        let core = &mut self.core;
        if self.params.files.is_some_and(|files| sent >= files) {
            core.counters.completed = Some(now);
            return;
        }
        let next = now + self.params.file_gap;
        if next >= core.stop {
            return;
        }
        if next > now {
            self.pauses = true;
            core.deadline = next;
        } else {
            self.next_file(now, out);
        }
    }

    /// Begins the next file.
    fn next_file(&mut self, now: Time, out: &mut Vec<Segment>) {
        let (core, params) = (&mut self.core, &self.params);
        match params.next_file {
            NextFile::NewConnection => {
                // The end of the last connection took one number.
                core.open(params, core.file_end + 1);
                self.recovery = State::new(params);
            }
            NextFile::SameConnection => {
                core.cwnd = params.mss as f64;
                core.hand_over(params.file_size);
            }
        }
        self.begin(now, out);
    }

    /// Handles the ACK of everything that was to be sent, the SYN or a file; the last `acked` bytes
    /// by `ack`.
    #[cold]
    fn reached_end(&mut self, now: Time, ack: &Ack, acked: u64, out: &mut Vec<Segment>) {
        let core = &mut self.core;
        if self.opening {
            self.opening = false;
            core.transmit_opened(out);
            core.hand_over(self.params.file_size);
            if now >= core.stop {
                core.data_end = core.snd_max;
            }
            core.send_window(now, out);
        } else {
            self.on_new_ack(now, ack, acked, out);
            self.file_done(now, out);
        }
    }

    /// Takes an ACK and appends the segments to send now, in order, to `out`. ACKs below snd_una or
    /// beyond what was sent are ignored.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Segment>) {
        let core = &mut self.core;
        core.advance(now);
        if ack.ack > core.snd_una {
            if ack.ack <= core.snd_max {
                let acked = core.acknowledge(now, ack.ack);
                if core.snd_una >= core.file_end {
                    return self.reached_end(now, ack, acked, out);
                }
                self.on_new_ack(now, ack, acked, out);
            }
        } else if ack.ack == core.snd_una && core.snd_max > core.snd_una {
            core.counters.duplicate_acks += 1;
            self.recovery.on_duplicate_ack(core, now, ack, out);
        }
    }

    /// Handles `ack`, which acknowledges `acked` new bytes.
    #[inline(always)]
    fn on_new_ack(&mut self, now: Time, ack: &Ack, acked: u64, out: &mut Vec<Segment>) {
        let core = &mut self.core;
        if self.recovery.only_opens_window(ack) {
            core.open_window();
            core.send_window(now, out);
        } else {
            self.recovery.on_new_ack(core, now, ack, acked, out);
        }
    }

    /// Handles the deadline: the retransmission timer expired, or the next file begins. Has no
    /// effect before the deadline.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let core = &mut self.core;
        if now < core.deadline {
            return;
        }
        core.advance(now);
        if self.pauses {
            self.pauses = false;
            core.deadline = Time::NEVER;
            return self.next_file(now, out);
        }
        let ssthresh = self.recovery.on_timeout(core);
        core.time_out(ssthresh);
        if self.opening {
            core.transmit_syn(now, out);
        } else {
            core.send_window(now, out);
        }
    }

    /// When the retransmission timer expires or the next file begins; `Time::NEVER` if neither is
    /// pending.
    #[inline]
    pub fn deadline(&self) -> Deadline {
        self.core.deadline
    }

    /// Congestion window, bytes, rounded down.
    pub fn cwnd(&self) -> u64 {
        self.core.cwnd as u64
    }

    /// Slow-start threshold, bytes, rounded down.
    pub fn ssthresh(&self) -> u64 {
        self.core.ssthresh as u64
    }

    /// First byte not acknowledged: snd_una.
    pub fn acknowledged(&self) -> u64 {
        self.core.snd_una
    }

    /// Bytes sent but not acknowledged (FlightSize of RFC 5681 section 2).
    pub fn flight(&self) -> u64 {
        self.core.flight()
    }

    /// Retransmission timeout, back-off included.
    pub fn rto(&self) -> Span {
        self.core.rto()
    }

    /// Number of round-trip times measured, and the last one; `None` before the first.
    pub fn last_rtt(&self) -> Option<(u64, Span)> {
        self.core.last_rtt()
    }

    /// Counters since the start.
    pub fn counters(&self) -> SenderCounters {
        SenderCounters {
            under_way: self.is_under_way().then_some(self.began),
            ..self.core.counted()
        }
    }

    /// Whether a file began and is not completely acknowledged.
    fn is_under_way(&self) -> bool {
        let has_begun_file = self.core.counters.began.is_some() && self.params.file_size.is_some();
        has_begun_file && (self.opening || self.core.snd_una < self.core.file_end)
    }

    /// Files sent and acknowledged, in order.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Whether all files were sent and fully acknowledged.
    #[cfg(test)]
    pub fn is_done(&self) -> bool {
        self.core.counters.completed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ALWAYS, MSS, NOTHING, Peer, RWND, ack_of, numbers, params};
    use super::*;
    use crate::text::scenario::model::{Recovery, RenoFastRetransmit};

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_milliseconds(n)
    }

    fn sender(change: impl FnOnce(&mut TcpParams)) -> Sender {
        let mut p = params(Recovery::Vanilla);
        change(&mut p);
        Sender::new(&p, Span::ZERO, Time::NEVER, ALWAYS)
    }

    /// Segment numbers sent by `f`.
    fn sent(f: impl FnOnce(&mut Vec<Segment>)) -> Vec<u64> {
        let mut out = vec![];
        f(&mut out);
        numbers(&out)
    }

    #[test]
    fn a_file_is_complete_when_its_last_byte_is_acknowledged() {
        let mut out = Vec::new();
        let mut s = sender(|p| p.file_size = Some(2 * MSS));
        s.start(ms(5), &mut out);
        s.on_ack(ms(20), &ack_of(1), &mut out);
        let so_far = s.counters();
        assert_eq!((so_far.began, so_far.completed), (Some(ms(5)), None));
        s.on_ack(ms(30), &ack_of(2), &mut out);
        s.on_ack(ms(40), &ack_of(2), &mut out);
        assert_eq!(s.counters().completed, Some(ms(30)));

        let mut empty = sender(|p| p.file_size = Some(0));
        empty.start(ms(5), &mut out);
        assert_eq!(empty.counters().completed, Some(ms(5)));

        let mut endless = sender(|_| ());
        endless.start(ms(5), &mut out);
        endless.on_ack(ms(20), &ack_of(1), &mut out);
        assert_eq!(endless.counters().completed, None);
    }

    #[test]
    fn start_sends_the_initial_window() {
        let mut s = sender(|p| p.initial_window = 3);
        assert_eq!(s.deadline(), Time::NEVER);
        assert_eq!(sent(|out| s.start(Time::ZERO, out)), [0, 1, 2]);
        assert_ne!(s.deadline(), Time::NEVER);
    }

    #[test]
    fn slow_start_adds_a_segment_per_ack_up_to_and_at_ssthresh() {
        let mut s = sender(|p| {
            p.initial_window = 2;
            p.initial_ssthresh = Some(3 * MSS);
        });
        sent(|out| s.start(Time::ZERO, out));
        assert_eq!(sent(|out| s.on_ack(ms(1), &ack_of(1), out)), [2, 3]);
        assert_eq!(s.cwnd(), 3 * MSS);
        assert_eq!(sent(|out| s.on_ack(ms(2), &ack_of(2), out)), [4, 5]);
        assert_eq!(s.cwnd(), 4 * MSS);
        assert_eq!(sent(|out| s.on_ack(ms(3), &ack_of(3), out)), [6]);
        assert_eq!(s.cwnd(), 4 * MSS + MSS / 4);
    }

    #[test]
    fn a_window_sends_full_segments_only() {
        let mut s = sender(|p| {
            p.rwnd = 4 * MSS + MSS / 2;
            p.initial_window = 10;
        });
        assert_eq!(sent(|out| s.start(Time::ZERO, out)), [0, 1, 2, 3]);
    }

    #[test]
    fn the_last_segment_of_a_file_may_be_short() {
        let mut s = sender(|p| {
            p.initial_window = 10;
            p.file_size = Some(2 * MSS + 7);
        });
        let mut out = vec![];
        s.start(Time::ZERO, &mut out);
        assert_eq!(
            out.iter().map(|s| s.len as u64).collect::<Vec<_>>(),
            [MSS, MSS, 7]
        );
        let mut ack = ack_of(2);
        s.on_ack(ms(1), &ack, &mut out);
        assert!(!s.is_done());
        ack.ack += 7;
        s.on_ack(ms(2), &ack, &mut out);
        assert!(s.is_done());
        assert_eq!(s.deadline(), Time::NEVER);
        assert_eq!(out.len(), 3);
    }

    #[test]
    fn an_empty_file_is_done_at_once() {
        let mut s = sender(|p| p.file_size = Some(0));
        assert_eq!(sent(|out| s.start(Time::ZERO, out)), NOTHING);
        assert!(s.is_done());
        assert_eq!(s.deadline(), Time::NEVER);
    }

    #[test]
    fn stopped_new_acks_open_the_window_and_send_nothing_new() {
        let stop = ms(20);
        let mut s = Sender::new(&params(Recovery::Vanilla), Span::ZERO, stop, ALWAYS);
        assert_eq!(sent(|out| s.start(ms(0), out)), [0]);
        assert_eq!(sent(|out| s.on_ack(ms(19), &ack_of(1), out)), [1, 2]);
        assert_eq!(sent(|out| s.on_ack(stop, &ack_of(2), out)), NOTHING);
        assert_eq!(s.cwnd(), 3 * MSS);
        // Data sent before are resent, and then everything is acknowledged.
        let expiry = s.deadline();
        assert_eq!(sent(|out| s.on_timer(expiry, out)), [2]);
        assert_eq!(sent(|out| s.on_ack(expiry, &ack_of(3), out)), NOTHING);
        assert_eq!(s.deadline(), Time::NEVER);
        assert_eq!((s.core.snd_una, s.core.snd_max), (3 * MSS, 3 * MSS));
        assert_eq!(s.counters().completed, None);
    }

    #[test]
    fn a_file_that_was_sent_before_the_stop_is_complete_and_one_that_was_not_never_is() {
        for (segments, completed) in [(3, Some(ms(30))), (4, None)] {
            let p = TcpParams {
                file_size: Some(segments * MSS - 1),
                initial_window: 3,
                ..params(Recovery::Vanilla)
            };
            let mut s = Sender::new(&p, Span::ZERO, ms(20), ALWAYS);
            assert_eq!(sent(|out| s.start(ms(0), out)), [0, 1, 2]);
            let all = Ack {
                ack: (3 * MSS).min(segments * MSS - 1),
                ..Ack::default()
            };
            assert_eq!(sent(|out| s.on_ack(ms(30), &all, out)), NOTHING);
            assert_eq!(s.counters().completed, completed);
            assert_eq!(s.deadline(), Time::NEVER);
        }
    }

    #[test]
    fn timeout_halves_ssthresh_and_goes_back_to_one_segment() {
        let mut peer = Peer::established(Recovery::Vanilla, 8);
        let una = peer.una();
        assert_eq!(peer.expire(), [una]);
        assert_eq!(peer.sender.cwnd(), MSS);
        assert_eq!(peer.sender.ssthresh(), 4 * MSS);
        // One round trip later two segments, both sent before.
        assert_eq!(peer.ack(una + 1), [una + 1, una + 2]);
        assert_eq!(peer.sender.counters().retransmitted_segments, 3);
    }

    #[test]
    fn ssthresh_after_a_timeout_is_at_most_rwnd_and_at_least_two_segments() {
        let mut peer = Peer::established(Recovery::Vanilla, 8);
        peer.sender.core.cwnd = 10.0 * RWND as f64;
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), RWND);
        peer.expire();
        assert_eq!(peer.sender.ssthresh(), 2 * MSS);
    }

    #[test]
    fn go_back_n_cumulative_ack_beyond_snd_nxt_moves_it_up() {
        let mut peer = Peer::established(Recovery::Vanilla, 8);
        let una = peer.una();
        peer.expire();
        // The receiver held everything except the first segment, so nothing else is resent.
        assert_eq!(peer.ack(una + 8), [una + 8, una + 9]);
        assert_eq!(peer.sender.counters().retransmitted_segments, 1);
    }

    #[test]
    fn the_timer_expires_at_the_nth_tick_after_now_and_every_new_ack_restarts_it() {
        // Ticks of 100 ms at 0, 100, ...; initial RTO 10 ticks.
        let mut s = sender(|p| {
            p.granularity = Span::from_milliseconds(100);
            p.initial_rto = Span::from_milliseconds(1000);
            p.min_rto = Span::from_milliseconds(200);
            p.initial_window = 4;
        });
        sent(|out| s.start(Time::ZERO, out));
        assert_eq!(s.deadline(), ms(1000));
        // One tick passed: m = 2, srtt8 = 16, rttvar4 = 4, RTO 6 ticks.
        sent(|out| s.on_ack(ms(150), &ack_of(1), out));
        assert_eq!(s.deadline(), ms(700));
        // At a tick: that tick has passed.
        sent(|out| s.on_ack(ms(200), &ack_of(2), out));
        assert_eq!(s.deadline(), ms(800));
        // A duplicate ACK leaves the timer alone.
        sent(|out| s.on_ack(ms(350), &ack_of(2), out));
        assert_eq!(s.deadline(), ms(800));
    }

    #[test]
    fn timeouts_back_off_until_a_sample_of_new_data() {
        let mut s = sender(|p| {
            p.granularity = Span::from_milliseconds(100);
            p.initial_rto = Span::from_milliseconds(1000);
            p.min_rto = Span::from_milliseconds(1000);
            p.initial_window = 1;
        });
        sent(|out| s.start(Time::ZERO, out));
        let mut out = vec![];
        s.on_timer(ms(999), &mut out);
        assert!(out.is_empty(), "not yet due");
        s.on_timer(ms(1000), &mut out);
        assert_eq!(s.deadline(), ms(3000));
        s.on_timer(ms(3000), &mut out);
        assert_eq!(s.deadline(), ms(7000));
        // Segment 0 was sent again: its ACK is no sample (Karn) and the back-off stays.
        s.on_ack(ms(3050), &ack_of(1), &mut out);
        assert_eq!(s.deadline(), ms(7000));
        // Segment 1 is new: a sample.
        s.on_ack(ms(3090), &ack_of(2), &mut out);
        assert_eq!(s.deadline(), ms(4000));
        assert_eq!(s.counters().timeouts, 2);
    }

    #[test]
    fn a_fast_retransmit_cancels_the_timing() {
        use RenoFastRetransmit::{MissingSegment, Nothing};
        // A fast retransmit that sends nothing does so too (model section 10).
        for (resends, segments) in [(MissingSegment, 1), (Nothing, 0)] {
            let mut s = sender(|p| {
                p.recovery = Recovery::Reno;
                p.reno_fast_retransmit = resends;
                p.granularity = Span::from_milliseconds(100);
                p.initial_rto = Span::from_milliseconds(1000);
                p.initial_window = 4;
            });
            sent(|out| s.start(Time::ZERO, out));
            for n in 10..13 {
                sent(|out| s.on_ack(ms(n), &ack_of(0), out));
            }
            assert_eq!(s.counters().retransmitted_segments, segments);
            // With a sample the RTO would be 6 + 12 ticks; it is still the initial one.
            sent(|out| s.on_ack(ms(550), &ack_of(4), out));
            assert_eq!(s.deadline(), ms(1500));
        }
    }

    #[test]
    fn acks_of_the_past_or_of_unsent_data_are_ignored() {
        let mut peer = Peer::established(Recovery::Vanilla, 8);
        let before = peer.sender.clone();
        assert_eq!(peer.ack(0), NOTHING);
        assert_eq!(peer.ack(1_000_000), NOTHING);
        assert_eq!(peer.sender.counters(), before.counters());
        assert_eq!(peer.sender.deadline(), before.deadline());
        assert_eq!(peer.sender.cwnd(), before.cwnd());
    }
}
