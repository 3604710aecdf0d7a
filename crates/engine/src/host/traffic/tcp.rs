//! A TCP connection: sender, receiver, and the contents of the frames between them.

use super::{Delivery, End, FrameSource, Offered, Outbox, SourceState};
use crate::ground::flow::FlowKind;
use crate::ground::format::{Clock, Format, FrameSize};
use crate::ground::units::{Span, Time};
use crate::host::tcp::{Ack, MAX_SACK_BLOCKS, OPENED, Receiver, SackBlock, SegmentOutcome, Sender};
use crate::network::capture::CapturedPayload;
use crate::network::cells::precedes;
use crate::network::tally::{SenderCounters, Transfer};
use crate::text::scenario::TcpParams;
use std::collections::VecDeque;

/// A TCP connection.
#[derive(Debug)]
pub struct Tcp {
    /// The end that sends data.
    sender: Sender,
    /// The end that receives data.
    receiver: Receiver,
    /// Contents of the data frames in transit. Frames are numbered consecutively from `first_data`
    /// on.
    data: VecDeque<Stretch>,
    first_data: u32,
    /// Contents of the ACK frames in transit: the next byte expected. Frames are numbered
    /// consecutively up to `next_ack`.
    acks: VecDeque<u64>,
    /// SACK blocks of the ACK frames that carry any, with frame number and number of blocks.
    sacks: VecDeque<(u32, u8, [SackBlock; MAX_SACK_BLOCKS])>,
    /// Number of the next ACK frame.
    next_ack: u32,
    /// What the frames look like.
    format: Format,
    /// Bytes of a full segment and its frame, and the frame of an ACK with each number of blocks.
    full: (u64, FrameSize),
    ack_sizes: [FrameSize; MAX_SACK_BLOCKS + 1],
    /// The ACK that is being sent or has just arrived. Reused, because making one for each frame
    /// costs time.
    ack: Ack,
}

impl Tcp {
    /// A connection about to start. `timer_phase` is the first tick of its timers, `stop` the time
    /// at which its application stops, and `measured` the measuring time, from and to.
    pub fn new(
        params: &TcpParams,
        format: Format,
        timer_phase: Span,
        stop: Time,
        measured: (Time, Time),
    ) -> Tcp {
        Tcp {
            sender: Sender::new(params, timer_phase, stop, measured),
            receiver: Receiver::new(params, timer_phase),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            sacks: VecDeque::new(),
            first_data: 0,
            next_ack: 0,
            format,
            full: (params.mss, format.segment(params.mss)),
            ack_sizes: std::array::from_fn(|blocks| format.ack(blocks as u8)),
            ack: Ack::default(),
        }
    }

    /// The frame of a segment of `len` bytes.
    fn size_of(&self, len: u32) -> FrameSize {
        if u64::from(len) == self.full.0 {
            self.full.1
        } else {
            self.format.segment(u64::from(len))
        }
    }

    /// Offers the segments that the sender has just requested.
    #[inline(always)]
    fn offer_segments(&mut self, out: &mut Outbox) {
        for &segment in &out.segments {
            note(&mut self.data, segment.seq, segment.len);
            out.frames.push(Offered {
                kind: FlowKind::Data,
                size: self.size_of(segment.len),
                first_byte: segment.seq,
            });
        }
        out.segments.clear();
    }

    /// Offers the receiver's ACK.
    #[inline(always)]
    fn offer_ack(&mut self, out: &mut Outbox) {
        let ack = &mut self.ack;
        self.receiver.acknowledge(ack);
        let frame = self.next_ack;
        self.next_ack = frame.wrapping_add(1);
        self.acks.push_back(ack.ack);
        if ack.n_blocks > 0 {
            self.sacks.push_back((frame, ack.n_blocks, ack.blocks));
        }
        out.frames.push(Offered {
            kind: FlowKind::Ack,
            size: self.ack_sizes[usize::from(ack.n_blocks)],
            first_byte: ack.ack,
        });
    }

    /// Returns the contents of data frame `frame`. Removes it and all earlier frames, which were
    /// lost.
    fn take_segment(&mut self, frame: u32) -> (u64, u32) {
        let lost = frame.wrapping_sub(self.first_data);
        self.first_data = frame.wrapping_add(1);
        take_after(&mut self.data, lost)
    }

    /// Fills in the contents of ACK frame `frame`. Removes it and all earlier frames.
    fn take_ack(&mut self, frame: u32) {
        self.ack.ack = take(&mut self.acks, self.next_ack.wrapping_sub(frame));
        self.ack.n_blocks = 0;
        while let Some(&(number, n_blocks, blocks)) = self.sacks.front() {
            if precedes(frame, number) {
                break;
            }
            self.sacks.pop_front();
            if number == frame {
                self.ack.n_blocks = n_blocks;
                self.ack.blocks = blocks;
                break;
            }
        }
    }
}

/// Representation of a segment in a capture.
pub(super) fn of_segment(seq: u64, len: u32) -> CapturedPayload {
    match (seq, len) {
        (OPENED, _) => CapturedPayload::Opened(seq),
        (_, 0) => CapturedPayload::Syn(seq),
        _ => CapturedPayload::Data { seq, len },
    }
}

/// Representation of an ACK in a capture.
pub(super) fn of_ack(ack: &Ack) -> CapturedPayload {
    let blocks = ack.sack().iter().map(|block| [block.start, block.end]);
    CapturedPayload::Ack {
        ack: ack.ack,
        blocks: blocks.collect(),
    }
}

/// Value of a sender's state for probes.
pub(super) fn state(sender: &Sender, what: SourceState, clock: Clock) -> f64 {
    match what {
        SourceState::Cwnd => sender.cwnd() as f64,
        SourceState::Ssthresh => sender.ssthresh() as f64,
        SourceState::Acknowledged => sender.acknowledged() as f64,
        SourceState::Flight => sender.flight() as f64,
        SourceState::Rto => sender.rto().as_seconds(clock),
    }
}

/// Consecutive segments of equal length, each of which begins where the previous one ends.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// First byte of the first segment, and one past the last byte of the last segment.
    seq: u64,
    end: u64,
    /// Bytes per segment.
    len: u32,
    /// Number of segments.
    n: u32,
}

/// Appends a segment.
#[inline(always)]
fn note(segments: &mut VecDeque<Stretch>, seq: u64, len: u32) {
    let end = seq + u64::from(len);
    match segments.back_mut() {
        Some(last) if last.end == seq && last.len == len => {
            last.end = end;
            last.n += 1;
        }
        _ => segments.push_back(Stretch {
            seq,
            end,
            len,
            n: 1,
        }),
    }
}

/// Removes the first `skipped` segments and the next one. Returns the first byte and the length of
/// the latter.
fn take_after(segments: &mut VecDeque<Stretch>, skipped: u32) -> (u64, u32) {
    let first = segments.front_mut();
    let first = first.expect("a frame that arrives has been sent");
    if skipped > 0 || first.n == 1 {
        return take_beyond(segments, skipped);
    }
    let (seq, len) = (first.seq, first.len);
    first.seq += u64::from(len);
    first.n -= 1;
    (seq, len)
}

/// [`take_after`] for the cases that empty or skip parts of the first stretch.
#[inline(never)]
fn take_beyond(segments: &mut VecDeque<Stretch>, mut skipped: u32) -> (u64, u32) {
    loop {
        let first = segments.front_mut();
        let first = first.expect("a frame that arrives has been sent");
        let Stretch { seq, len, n, .. } = *first;
        if skipped + 1 < n {
            first.seq += u64::from(skipped + 1) * u64::from(len);
            first.n -= skipped + 1;
        } else {
            segments.pop_front();
        }
        if skipped < n {
            return (seq + u64::from(skipped) * u64::from(len), len);
        }
        skipped -= n;
    }
}

/// Removes the element that is number `from_end` from the end, 1 being the last, and all before it.
/// Returns that element.
#[inline(always)]
fn take<T>(frames: &mut VecDeque<T>, from_end: u32) -> T {
    while frames.len() > from_end as usize {
        frames.pop_front();
    }
    frames
        .pop_front()
        .expect("a frame that arrives has been sent")
}

impl FrameSource for Tcp {
    fn start(&mut self, now: Time, out: &mut Outbox) -> Time {
        self.sender.start(now, &mut out.segments);
        self.offer_segments(out);
        Time::NEVER
    }

    #[inline(always)]
    fn take(&mut self, kind: FlowKind, frame: u32, now: Time, out: &mut Outbox) -> Delivery {
        match kind {
            FlowKind::Data => {
                let (seq, len) = self.take_segment(frame);
                let mut outcome = SegmentOutcome::default();
                if self.receiver.take(now, seq, len, &mut outcome) {
                    self.offer_ack(out);
                }
                Delivery {
                    bytes: outcome.delivered,
                    line_bytes: if outcome.is_new {
                        self.size_of(len).line_bytes()
                    } else {
                        0
                    },
                }
            }
            FlowKind::Ack => {
                self.take_ack(frame);
                self.sender.on_ack(now, &self.ack, &mut out.segments);
                self.offer_segments(out);
                Delivery::default()
            }
            FlowKind::Rm | FlowKind::RmBack => unreachable!("RM cells reach no source"),
        }
    }

    fn on_timer(&mut self, end: End, now: Time, out: &mut Outbox) {
        match end {
            End::Sender => {
                self.sender.on_timer(now, &mut out.segments);
                self.offer_segments(out);
            }
            End::Receiver => {
                if now >= self.receiver.deadline() {
                    self.offer_ack(out);
                }
            }
        }
    }

    fn deadline(&self, end: End) -> Time {
        match end {
            End::Sender => self.sender.deadline(),
            End::Receiver => self.receiver.deadline(),
        }
    }

    fn carries(&self, kind: FlowKind, frame: u32) -> CapturedPayload {
        if kind.is_data() {
            let mut skipped = frame.wrapping_sub(self.first_data);
            for stretch in &self.data {
                if skipped < stretch.n {
                    let seq = stretch.seq + u64::from(skipped) * u64::from(stretch.len);
                    return of_segment(seq, stretch.len);
                }
                skipped -= stretch.n;
            }
            unreachable!("the frame was offered")
        }
        let from_end = self.next_ack.wrapping_sub(frame) as usize;
        let mut ack = Ack {
            ack: self.acks[self.acks.len() - from_end],
            ..Ack::default()
        };
        if let Some(&(_, n_blocks, blocks)) = self.sacks.iter().rfind(|sack| sack.0 == frame) {
            (ack.n_blocks, ack.blocks) = (n_blocks, blocks);
        }
        of_ack(&ack)
    }

    fn state(&self, what: SourceState) -> Option<f64> {
        Some(state(&self.sender, what, self.format.clock))
    }

    fn last_rtt(&self) -> Option<(u64, f64)> {
        let (measured, last) = self.sender.last_rtt()?;
        Some((measured, last.as_seconds(self.format.clock)))
    }

    fn counters(&self) -> SenderCounters {
        self.sender.counters()
    }

    fn transfers(&self) -> &[Transfer] {
        self.sender.transfers()
    }

    fn answers(&self) -> Option<u32> {
        Some(self.ack_sizes[0].cells())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_found_by_how_many_are_lost_before_it() {
        let sent = [
            (0, 512),
            (512, 512),
            (1024, 512),
            (1536, 100),
            (512, 512),
            (1024, 512),
            (1024, 512),
        ];
        let mut segments = VecDeque::new();
        for (seq, len) in sent {
            note(&mut segments, seq, len);
        }
        let stretches: Vec<u32> = segments.iter().map(|s| s.n).collect();
        assert_eq!(stretches, [3, 1, 2, 1]);
        // For every subset of arrivals, each segment is found, and nothing remains after the last
        // one.
        for arrive in 1u32..1 << sent.len() {
            let (mut left, mut lost) = (segments.clone(), 0);
            for (i, &segment) in sent.iter().enumerate() {
                if arrive >> i & 1 == 1 {
                    assert_eq!(take_after(&mut left, lost), segment);
                    lost = 0;
                } else {
                    lost += 1;
                }
            }
            let n: u32 = left.iter().map(|s| s.n).sum();
            assert_eq!(n, lost);
        }
    }

    #[test]
    fn a_frame_is_found_by_its_number_and_those_before_it_are_forgotten() {
        // Frames u32::MAX, 0, 1 and 2; the next one is number 3.
        let mut frames = VecDeque::from(["a", "b", "c", "d"]);
        let from_end = |frame: u32| 3u32.wrapping_sub(frame);
        assert_eq!(take(&mut frames, from_end(u32::MAX)), "a");
        assert_eq!(take(&mut frames, from_end(1)), "c");
        assert_eq!(frames, ["d"]);
    }
}
