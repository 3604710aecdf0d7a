//! State and mechanics shared by all loss recoveries: window, timer, round-trip time and counters
//! of a sending end. For the rules, see `sender`.

use super::grid::Grid;
use super::rtt::Rtt;
use super::{OPENED, Segment};
use crate::ground::units::{Span, Time};
use crate::network::tally::SenderCounters;
use crate::text::scenario::model::TcpParams;

const MAX_CWND: f64 = (1u64 << 40) as f64;
/// Value of `Core::timed_seq` when no segment is timed.
const NOT_TIMED: u64 = u64::MAX;

/// Window, timer and counters of a sending end.
#[derive(Clone, Debug)]
pub(super) struct Core {
    /// First byte not acknowledged.
    pub snd_una: u64,
    /// Next byte to send; below `snd_max` during go-back-N.
    pub snd_nxt: u64,
    /// One past the highest byte ever sent.
    pub snd_max: u64,
    /// Congestion window, bytes.
    pub cwnd: f64,
    /// Slow-start threshold, bytes.
    pub ssthresh: f64,
    /// Bytes of a full segment.
    pub mss: u64,
    /// Receiver window, bytes.
    pub rwnd: u64,
    /// First byte of data of the connection.
    pub first: u64,
    /// First byte of the file.
    pub file_start: u64,
    /// One past the last byte of the file; `u64::MAX` for unlimited data. Until the SYN is
    /// acknowledged, the end of the SYN.
    pub file_end: u64,
    /// One past the last byte that the application hands over: `file_end` until `stop`, then the
    /// end of what was sent by then.
    pub data_end: u64,
    /// When the application stops.
    pub stop: Time,
    /// The next instant that needs action: the stop, or the start or end of the measuring time.
    mark: Time,
    /// The measuring time, and bytes acknowledged before its start and end, once these have passed.
    measured: (Time, Time),
    acked_at: [Option<u64>; 2],
    /// Bytes of data acknowledged on earlier connections.
    acked_before: u64,
    /// Consecutive duplicate ACKs that count towards a fast retransmit.
    pub dup_acks: u32,
    /// Duplicate ACKs that start a fast retransmit.
    pub dupack_threshold: u32,
    /// Counters of the sender.
    pub counters: SenderCounters,
    /// When the retransmission timer expires; [`Time::NEVER`] when none runs.
    pub deadline: Time,
    /// Tick grid of the timer.
    pub grid: Grid,
    rtt: Rtt,
    /// Time from the next tick to the expiry of a timer set now.
    beyond_next: Span,
    /// Time of the current file in timeouts before the first round-trip sample, without the part of
    /// a tick with which each began.
    pub waited: Span,
    timed_seq: u64,
    timed_at: Time,
    timed_tick: u64,
    /// Number of round trips measured, over all connections, and the last one.
    round_trips: u64,
    round_trip: Span,
}

impl Core {
    /// State before the first connection starts; see [`super::Sender::new`].
    pub fn new(params: &TcpParams, timer_phase: Span, stop: Time, measured: (Time, Time)) -> Core {
        let grid = Grid::new(params.granularity, timer_phase);
        let rtt = Rtt::new(params, &grid);
        let mut core = Core {
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            cwnd: 0.0,
            ssthresh: 0.0,
            mss: params.mss,
            rwnd: params.rwnd,
            first: 0,
            file_start: 0,
            file_end: 0,
            data_end: 0,
            stop,
            mark: Time::ZERO,
            measured,
            acked_at: [None; 2],
            acked_before: 0,
            deadline: Time::NEVER,
            beyond_next: grid.beyond_next(rtt.rto()),
            waited: Span::ZERO,
            grid,
            rtt,
            timed_seq: NOT_TIMED,
            timed_at: Time::ZERO,
            timed_tick: 0,
            round_trips: 0,
            round_trip: Span::ZERO,
            dup_acks: 0,
            dupack_threshold: params.dupack_threshold,
            counters: SenderCounters::default(),
        };
        core.open(params, 0);
        core
    }

    /// Resets the state for a new connection, whose SYN or first byte has the number `from`.
    pub fn open(&mut self, params: &TcpParams, from: u64) {
        self.acked_before = self.acknowledged();
        // A SYN takes one number.
        self.first = from + u64::from(params.handshake);
        (self.snd_una, self.snd_nxt, self.snd_max) = (from, from, from);
        if params.handshake {
            (self.file_end, self.data_end) = (self.first, self.first);
        } else {
            self.hand_over(params.file_size);
        }
        self.cwnd = (self.mss as f64 * params.initial_window as f64).min(MAX_CWND);
        self.ssthresh = params.initial_ssthresh.unwrap_or(params.rwnd) as f64;
        self.rtt = Rtt::new(params, &self.grid);
        self.beyond_next = self.grid.beyond_next(self.rtt.rto());
        self.dup_acks = 0;
        self.deadline = Time::NEVER;
        self.stop_timing();
    }

    /// Hands over a file of `file_size` bytes after the data sent so far, or unlimited data.
    pub fn hand_over(&mut self, file_size: Option<u64>) {
        self.file_start = self.snd_max;
        self.file_end = file_size.map_or(u64::MAX, |size| self.snd_max + size);
        self.data_end = self.file_end;
    }

    /// Moves the present to `now`.
    pub fn advance(&mut self, now: Time) {
        self.grid.advance(now);
        if now >= self.mark {
            self.pass_marks(now);
        }
    }

    /// Records the bytes acknowledged at the start and end of the measuring time. At the stop, cuts
    /// the data at what has been sent.
    #[cold]
    fn pass_marks(&mut self, now: Time) {
        let acked = self.acknowledged();
        let ends = [self.measured.0, self.measured.1];
        for (at, end) in self.acked_at.iter_mut().zip(ends) {
            if now >= end {
                at.get_or_insert(acked);
            }
        }
        if now >= self.stop {
            self.data_end = self.snd_max;
        }
        let ahead = ends.into_iter().chain([self.stop]).filter(|&t| t > now);
        self.mark = ahead.min().unwrap_or(Time::NEVER);
    }

    /// Bytes of data acknowledged so far.
    fn acknowledged(&self) -> u64 {
        self.acked_before + self.snd_una.saturating_sub(self.first)
    }

    /// Counters so far.
    pub fn counted(&self) -> SenderCounters {
        let acked = self.acknowledged();
        let [from, to] = self.acked_at.map(|at| at.unwrap_or(acked));
        SenderCounters {
            acknowledged: to - from,
            ..self.counters
        }
    }

    /// Retransmission timeout, back-off included.
    pub fn rto(&self) -> Span {
        self.grid.length_of(self.rtt.rto())
    }

    /// Number of round-trip times measured, and the last one; `None` before the first.
    pub fn last_rtt(&self) -> Option<(u64, Span)> {
        (self.round_trips > 0).then_some((self.round_trips, self.round_trip))
    }

    /// Bytes sent but not acknowledged (FlightSize of RFC 5681 section 2).
    pub fn flight(&self) -> u64 {
        self.snd_max - self.snd_una
    }

    /// Moves snd_una to `ack`, takes the round-trip sample and restarts the timer. Returns the
    /// bytes acknowledged.
    #[inline]
    pub fn acknowledge(&mut self, now: Time, ack: u64) -> u64 {
        let acked = ack - self.snd_una;
        self.snd_una = ack;
        self.snd_nxt = self.snd_nxt.max(ack);
        if ack > self.timed_seq {
            let ticks = self.grid.passed() - self.timed_tick;
            self.round_trips += 1;
            self.round_trip = now.since(self.timed_at);
            self.rtt.sample(ticks, self.round_trip, &self.grid);
            self.beyond_next = self.grid.beyond_next(self.rtt.rto());
            self.timed_seq = NOT_TIMED;
        }
        self.dup_acks = 0;
        self.restart_timer();
        acked
    }

    /// Opens the window for one ACK of new data: slow start or congestion avoidance.
    #[inline]
    pub fn open_window(&mut self) {
        let mss = self.mss as f64;
        let more = if self.cwnd <= self.ssthresh {
            mss
        } else {
            mss * mss / self.cwnd
        };
        self.cwnd = (self.cwnd + more).min(MAX_CWND);
    }

    /// Half of the window in use, min(cwnd, rwnd) / 2, but at least two segments (RFC 2001 section
    /// 3 step 1).
    pub fn half_window(&self) -> f64 {
        let window = self.cwnd.min(self.rwnd as f64);
        (window / 2.0).max(2.0 * self.mss as f64)
    }

    /// Half of the bytes in flight, but at least two segments (RFC 5681 equation 4).
    pub fn half_flight(&self) -> f64 {
        (self.flight() as f64 / 2.0).max(2.0 * self.mss as f64)
    }

    /// Restarts the timer, or stops it if no data are outstanding.
    #[inline]
    pub fn restart_timer(&mut self) {
        self.deadline = if self.snd_una == self.snd_max {
            Time::NEVER
        } else {
            self.expiry()
        };
    }

    /// One past the last byte that the window allows: min(cwnd, rwnd) from snd_una.
    #[inline]
    pub fn window_end(&self) -> u64 {
        self.snd_una + (self.cwnd as u64).min(self.rwnd)
    }

    /// Sends everything from snd_nxt on that the window allows.
    #[inline]
    pub fn send_window(&mut self, now: Time, out: &mut Vec<Segment>) {
        let right = self.window_end();
        while self.send_next(now, right, out) {}
    }

    /// Sends the segment at snd_nxt if there is one and it ends at or before `right`.
    #[inline]
    pub fn send_next(&mut self, now: Time, right: u64, out: &mut Vec<Segment>) -> bool {
        let len = self.mss.min(self.data_end - self.snd_nxt);
        let end = self.snd_nxt + len;
        if len == 0 || end > right {
            return false;
        }
        self.transmit(now, self.snd_nxt, len, out);
        self.snd_nxt = end;
        true
    }

    /// Resends the segment at snd_una and restarts the timer (4.4BSD `tcp_input`: the timer is
    /// stopped, the timing cancelled, and output starts the timer again).
    pub fn fast_retransmit(&mut self, now: Time, out: &mut Vec<Segment>) {
        let end = self.retransmit(now, self.snd_una, u64::MAX, out);
        self.snd_nxt = self.snd_nxt.max(end);
        self.restart_timer();
    }

    /// Resends up to one segment of earlier data from `seq`, but not beyond `end`. Returns the end
    /// of the segment.
    pub fn retransmit(&mut self, now: Time, seq: u64, end: u64, out: &mut Vec<Segment>) -> u64 {
        let len = self.mss.min(end.min(self.data_end) - seq);
        self.stop_timing();
        self.transmit(now, seq, len, out);
        seq + len
    }

    /// Cancels the timing of a segment (Karn's rule).
    pub fn stop_timing(&mut self) {
        self.timed_seq = NOT_TIMED;
    }

    /// Sends the SYN, whose number is just before the first byte.
    pub fn transmit_syn(&mut self, now: Time, out: &mut Vec<Segment>) {
        let seq = self.first - 1;
        let retransmission = self.snd_max > seq;
        out.push(Segment {
            seq,
            len: 0,
            retransmission,
        });
        self.counters.segments += 1;
        self.counters.retransmitted_segments += u64::from(retransmission);
        if !retransmission {
            self.time(now, seq);
        }
        (self.snd_nxt, self.snd_max) = (self.first, self.first);
        if self.deadline == Time::NEVER {
            self.deadline = self.expiry();
        }
    }

    /// Sends the ACK that completes a handshake. It does not count as a segment.
    pub fn transmit_opened(&mut self, out: &mut Vec<Segment>) {
        out.push(Segment {
            seq: OPENED,
            len: 0,
            retransmission: false,
        });
    }

    /// Starts to time the round trip of the segment sent now from `seq` on.
    #[inline]
    fn time(&mut self, now: Time, seq: u64) {
        self.timed_seq = seq;
        self.timed_at = now;
        self.timed_tick = self.grid.passed();
    }

    #[inline]
    fn transmit(&mut self, now: Time, seq: u64, len: u64, out: &mut Vec<Segment>) {
        let retransmission = seq < self.snd_max;
        out.push(Segment {
            seq,
            len: len as u32,
            retransmission,
        });
        self.counters.segments += 1;
        if retransmission {
            self.counters.retransmitted_segments += 1;
        } else {
            if self.timed_seq == NOT_TIMED {
                self.time(now, seq);
            }
            self.snd_max = seq + len;
        }
        if self.deadline == Time::NEVER {
            self.deadline = self.expiry();
        }
    }

    pub fn time_out(&mut self, ssthresh: f64) {
        self.counters.timeouts += 1;
        if self.rtt.is_initial() {
            self.waited += self.beyond_next;
        }
        self.ssthresh = ssthresh;
        self.cwnd = self.mss as f64;
        self.snd_nxt = self.snd_una;
        self.dup_acks = 0;
        self.stop_timing();
        self.rtt.back_off();
        self.beyond_next = self.grid.beyond_next(self.rtt.rto());
        self.deadline = self.expiry();
    }

    #[inline]
    fn expiry(&self) -> Time {
        Time(self.grid.next().0.saturating_add(self.beyond_next.0))
    }
}
