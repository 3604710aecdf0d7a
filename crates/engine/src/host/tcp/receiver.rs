//! The receiver: reassembly, cumulative and selective ACKs, delayed ACKs.
//!
//! Out-of-order data are kept. The buffer never limits, because a sender keeps to rwnd by itself.
//!
//! Every segment is acknowledged at once, unless `delayed_ack` = D is set. Then in-order data are
//! acknowledged when two full segments wait (RFC 1122 section 4.2.3.2), otherwise at the next tick
//! of a grid. The grid consists of multiples of D, or of `timer_phase` + k D (the fast timer of
//! 4.4BSD). Segments that are out of order, fill a gap or are duplicates are acknowledged at once
//! (RFC 5681 section 4.2).
//!
//! Each file may have its own connection. A connection opens with its SYN or, without a
//! handshake, with the first segment beyond the end of the last one. Later arrivals of an earlier
//! connection are dropped without an answer.
//!
//! An ACK carries at most `sack_blocks` SACK blocks (RFC 2018 section 4). The first is the block
//! with the segment that triggered the ACK, unless that segment moved the cumulative ACK past
//! itself. Then follow the blocks reported first in the most recent ACKs, none twice.

use super::grid::Grid;
use super::{Ack, Deadline, MAX_SACK_BLOCKS, OPENED, SackBlock};
use crate::ground::units::{Span, Time};
use crate::text::scenario::model::{NextFile, TcpParams, TickPhase};
use std::collections::{BTreeSet, VecDeque};

/// Tolerated entries of `Receiver::recent` beyond two per block.
const SLACK: usize = 8;

/// The receiving end of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    rcv_nxt: u64,
    /// Data beyond rcv_nxt: ranges that are disjoint, not adjacent and ascending.
    held: VecDeque<SackBlock>,
    /// One byte of each block that was first in an ACK, the most recent last. Repeated entries of a
    /// block, and entries of data acknowledged since, are removed when met or when they become
    /// many.
    recent: Vec<u64>,
    sack_blocks: usize,
    delayed: Option<DelayedAck>,
    deadline: Time,
    /// First byte of the connection, and one past the last byte of its file; `u64::MAX` if there is
    /// a single connection.
    first: u64,
    end: u64,
    /// Bytes of each file, if each has its own connection.
    file_size: Option<u64>,
    /// Whether connections open with a SYN.
    handshake: bool,
}

/// Effects of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentOutcome {
    /// Bytes newly in order, summed over segments.
    pub delivered: u64,
    /// Whether the last segment had a byte that had not arrived before, in order or not.
    pub is_new: bool,
}

#[derive(Clone, Debug)]
struct DelayedAck {
    grid: Grid,
    /// Number of waiting bytes that triggers an ACK at once.
    enough: u64,
    /// Bytes in order that wait for an ACK.
    waiting: u64,
    /// One past the byte that carries a FIN, which is acknowledged at once; `u64::MAX` without a
    /// FIN.
    fin: u64,
}

impl Receiver {
    /// A receiver that expects the first byte, or a SYN. SACK blocks are sent if the recovery is
    /// SACK. `timer_phase` is the first tick of the coarse timer.
    pub fn new(params: &TcpParams, timer_phase: Span) -> Receiver {
        let files = match params.next_file {
            NextFile::NewConnection => params.file_size,
            NextFile::SameConnection => None,
        };
        let fast_phase = match params.delayed_ack_phase {
            TickPhase::Zero => Span::ZERO,
            TickPhase::Timer => timer_phase,
        };
        let mut receiver = Receiver {
            rcv_nxt: 0,
            held: VecDeque::new(),
            recent: Vec::new(),
            sack_blocks: if params.recovery.reads_blocks() {
                MAX_SACK_BLOCKS.min(params.sack_blocks as usize)
            } else {
                0
            },
            delayed: params.delayed_ack.map(|tick| DelayedAck {
                grid: Grid::new(tick, fast_phase),
                enough: 2 * params.mss,
                waiting: 0,
                fin: u64::MAX,
            }),
            deadline: Time::NEVER,
            first: 0,
            end: u64::MAX,
            file_size: files,
            handshake: params.handshake,
        };
        if params.handshake {
            // Before the SYN no data are in order.
            receiver.rcv_nxt = u64::MAX;
        } else {
            receiver.open(0);
        }
        receiver
    }

    /// Opens a connection whose data start with byte `first`.
    fn open(&mut self, first: u64) {
        self.first = first;
        self.rcv_nxt = first;
        self.end = self.file_size.map_or(u64::MAX, |size| first + size);
        self.deadline = Time::NEVER;
        if let Some(delayed) = &mut self.delayed {
            delayed.waiting = 0;
            if self.handshake {
                delayed.fin = self.end;
            }
        }
    }

    /// Takes a segment without data: a SYN, or the ACK after it. Returns whether it calls for an
    /// ACK.
    #[cold]
    fn take_opening(&mut self, seq: u64) -> bool {
        if seq == OPENED {
            return false;
        }
        if seq >= self.first {
            self.open(seq + 1);
        }
        seq + 1 == self.first
    }

    /// Takes a segment of `len` bytes from `seq` on, and updates `outcome`. Returns the ACK to send
    /// now, or `None` if it is delayed.
    #[inline]
    pub fn on_segment(
        &mut self,
        now: Time,
        seq: u64,
        len: u32,
        outcome: &mut SegmentOutcome,
    ) -> Option<Ack> {
        let calls = self.take(now, seq, len, outcome);
        calls.then(|| self.new_ack())
    }

    /// Sends the delayed ACK; to be called at the deadline. Returns `None` before the deadline.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        (now >= self.deadline).then(|| self.new_ack())
    }

    /// Like [`Receiver::on_segment`], but only returns whether an ACK is due now;
    /// [`Receiver::acknowledge`] fills it in.
    #[inline(always)]
    pub fn take(&mut self, now: Time, seq: u64, len: u32, outcome: &mut SegmentOutcome) -> bool {
        if seq == self.rcv_nxt && self.held.is_empty() {
            self.take_next(now, len, outcome)
        } else {
            let (calls, brought) = self.take_other(now, seq, len);
            outcome.delivered += brought.delivered;
            outcome.is_new = brought.is_new;
            calls
        }
    }

    /// Takes a segment with the next bytes in order. Returns whether it calls for an ACK now.
    fn take_next(&mut self, now: Time, len: u32, outcome: &mut SegmentOutcome) -> bool {
        self.rcv_nxt += u64::from(len);
        outcome.delivered += u64::from(len);
        outcome.is_new = true;
        !self.delay(now, u64::from(len))
    }

    /// Takes any other segment. Returns whether it calls for an ACK now, and its effects.
    #[inline(never)]
    fn take_other(&mut self, now: Time, seq: u64, len: u32) -> (bool, SegmentOutcome) {
        let mut outcome = SegmentOutcome::default();
        if len == 0 {
            return (self.take_opening(seq), outcome);
        }
        if seq > self.end {
            self.open(self.end + 1);
            if seq == self.rcv_nxt {
                return (self.take_next(now, len, &mut outcome), outcome);
            }
        }
        if seq < self.first {
            return (false, outcome);
        }
        let end = seq + u64::from(len);
        self.place(SackBlock { start: seq, end }, &mut outcome);
        (true, outcome)
    }

    /// Fills in the ACK to send now. Blocks beyond `n_blocks` keep old contents.
    #[inline(always)]
    pub fn acknowledge(&mut self, ack: &mut Ack) {
        if let Some(delayed) = &mut self.delayed {
            delayed.waiting = 0;
        }
        self.deadline = Time::NEVER;
        ack.ack = self.rcv_nxt;
        ack.n_blocks = 0;
        if self.held.is_empty() {
            self.recent.clear();
        } else if self.sack_blocks > 0 {
            self.report(ack);
        }
    }

    fn new_ack(&mut self) -> Ack {
        let mut ack = Ack::default();
        self.acknowledge(&mut ack);
        ack
    }

    /// When a delayed ACK is due; `Time::NEVER` if none waits.
    #[inline]
    pub fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Next byte expected in order.
    #[inline]
    #[cfg(test)]
    pub fn next_expected(&self) -> u64 {
        self.rcv_nxt
    }

    /// Whether the ACK of `len` more bytes in order must wait.
    #[inline]
    fn delay(&mut self, now: Time, len: u64) -> bool {
        let Some(delayed) = &mut self.delayed else {
            return false;
        };
        delayed.waiting += len;
        if delayed.waiting >= delayed.enough || self.rcv_nxt >= delayed.fin {
            return false;
        }
        if self.deadline == Time::NEVER {
            delayed.grid.advance(now);
            self.deadline = delayed.grid.next();
        }
        true
    }

    /// Stores a segment that meets a gap or repeats data.
    fn place(&mut self, segment: SackBlock, outcome: &mut SegmentOutcome) {
        let first = segment.start.max(self.rcv_nxt);
        let held = block_of(&self.held, first).is_some_and(|block| segment.end <= block.end);
        outcome.is_new = first < segment.end && !held;
        if segment.start > self.rcv_nxt {
            hold(&mut self.held, segment);
            if self.sack_blocks > 0 {
                self.note(segment.start);
            }
            return;
        }
        let before = self.rcv_nxt;
        self.rcv_nxt = before.max(segment.end);
        while let Some(first) = self.held.front() {
            if first.start > self.rcv_nxt {
                break;
            }
            self.rcv_nxt = self.rcv_nxt.max(first.end);
            self.held.pop_front();
        }
        outcome.delivered += self.rcv_nxt - before;
    }

    /// Makes the block that holds `byte` the first in the next ACK.
    fn note(&mut self, byte: u64) {
        let block = block_of(&self.held, byte);
        if let Some(last) = self.recent.last_mut()
            && block_of(&self.held, *last) == block
        {
            *last = byte;
        } else {
            self.recent.push(byte);
            if self.recent.len() > 2 * self.held.len() + SLACK {
                self.forget_repeated();
            }
        }
    }

    /// Keeps the most recent entry of each block.
    fn forget_repeated(&mut self) {
        let mut seen = BTreeSet::new();
        self.recent.reverse();
        self.recent
            .retain(|&byte| block_of(&self.held, byte).is_some_and(|b| seen.insert(b.start)));
        self.recent.reverse();
    }

    fn report(&mut self, ack: &mut Ack) {
        let mut at = self.recent.len();
        while at > 0 && usize::from(ack.n_blocks) < self.sack_blocks {
            at -= 1;
            match block_of(&self.held, self.recent[at]) {
                Some(block) if !ack.sack().contains(&block) => {
                    ack.blocks[usize::from(ack.n_blocks)] = block;
                    ack.n_blocks += 1;
                }
                _ => {
                    self.recent.remove(at);
                }
            }
        }
    }
}

/// Adds a range to disjoint ascending ranges, and merges it with those it overlaps or touches.
/// Cheap at the end, where new data arrive.
pub(super) fn hold(held: &mut VecDeque<SackBlock>, range: SackBlock) {
    let (mut start, mut end) = (range.start, range.end);
    let mut from = held.len();
    if held.back().is_some_and(|last| last.end >= start) {
        from = held.partition_point(|b| b.end < start);
    }
    let mut to = from;
    while let Some(b) = held.get(to)
        && b.start <= end
    {
        start = start.min(b.start);
        end = end.max(b.end);
        to += 1;
    }
    let joined = SackBlock { start, end };
    if from == to {
        held.insert(from, joined);
    } else {
        held[from] = joined;
        if to > from + 1 {
            held.drain(from + 1..to);
        }
    }
}

/// The range that holds `byte`.
fn block_of(held: &VecDeque<SackBlock>, byte: u64) -> Option<SackBlock> {
    let last = held.back()?;
    if last.start <= byte {
        return (byte < last.end).then_some(*last);
    }
    let block = held[held.partition_point(|b| b.end <= byte)];
    (block.start <= byte).then_some(block)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, params};
    use super::*;
    use crate::text::scenario::model::Recovery;
    use proptest::prelude::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_milliseconds(n)
    }

    fn receiver(recovery: Recovery, delayed_ack: Option<Span>) -> Receiver {
        Receiver::new(
            &TcpParams {
                delayed_ack,
                ..params(recovery)
            },
            Span::ZERO,
        )
    }

    /// Delivers segment number `number`. Returns the ACK in segment numbers, with blocks as [first,
    /// last].
    fn arrive(r: &mut Receiver, now: Time, number: u64) -> Option<(u64, Vec<(u64, u64)>)> {
        let ack = r.on_segment(
            now,
            number * MSS,
            MSS as u32,
            &mut SegmentOutcome::default(),
        )?;
        let blocks = ack.sack().iter();
        Some((
            ack.ack / MSS,
            blocks.map(|b| (b.start / MSS, b.end / MSS - 1)).collect(),
        ))
    }

    #[test]
    fn every_segment_is_acknowledged_at_once() {
        let mut r = receiver(Recovery::Vanilla, None);
        for n in 0..5 {
            assert_eq!(arrive(&mut r, ms(n), n), Some((n + 1, vec![])));
        }
        assert_eq!(r.deadline(), Time::NEVER);
    }

    #[test]
    fn data_out_of_order_are_kept_and_delivered_with_the_gap() {
        let mut r = receiver(Recovery::Vanilla, None);
        let mut outcome = SegmentOutcome::default();
        for (number, is_new) in [(1, true), (3, true), (2, true), (2, false), (1, false)] {
            let ack = r.on_segment(ms(0), number * MSS, MSS as u32, &mut outcome);
            assert_eq!(ack, Some(Ack::default()));
            let delivered = 0;
            assert_eq!(
                outcome,
                SegmentOutcome { delivered, is_new },
                "segment {number}"
            );
        }
        let ack = r.on_segment(ms(0), 0, MSS as u32, &mut outcome).unwrap();
        let delivered = 4 * MSS;
        assert_eq!(
            (ack.ack, outcome),
            (
                delivered,
                SegmentOutcome {
                    delivered,
                    is_new: true
                }
            )
        );
        r.on_segment(ms(0), 0, MSS as u32, &mut outcome);
        assert_eq!(
            outcome,
            SegmentOutcome {
                delivered,
                is_new: false
            }
        );
        assert_eq!(r.next_expected(), 4 * MSS);
    }

    // RFC 1122 section 4.2.3.2; the fast timer ticks at 0, 200, 400 ms ...
    #[test]
    fn delayed_acks_every_second_segment_or_next_tick() {
        let mut r = receiver(Recovery::Vanilla, Some(Span::from_milliseconds(200)));
        assert_eq!(arrive(&mut r, ms(10), 0), None);
        assert_eq!(r.deadline(), ms(200));
        assert_eq!(arrive(&mut r, ms(20), 1), Some((2, vec![])));
        assert_eq!(r.deadline(), Time::NEVER);
        assert_eq!(arrive(&mut r, ms(200), 2), None);
        assert_eq!(r.deadline(), ms(400), "the tick at 200 ms has passed");
        assert_eq!(r.on_timer(ms(399)), None);
        assert_eq!(r.on_timer(ms(400)).map(|a| a.ack), Some(3 * MSS));
        assert_eq!(r.deadline(), Time::NEVER);
        assert_eq!(r.on_timer(ms(600)), None);
    }

    // RFC 5681 section 4.2: out-of-order segments, and one that fills a gap.
    #[test]
    fn delayed_acks_do_not_wait_around_a_gap() {
        let mut r = receiver(Recovery::Vanilla, Some(Span::from_milliseconds(200)));
        assert_eq!(arrive(&mut r, ms(10), 0), None);
        assert_eq!(arrive(&mut r, ms(11), 2), Some((1, vec![])));
        assert_eq!(r.deadline(), Time::NEVER, "acknowledged with the other");
        assert_eq!(arrive(&mut r, ms(12), 1), Some((3, vec![])));
        assert_eq!(arrive(&mut r, ms(13), 1), Some((3, vec![])), "a duplicate");
    }

    // RFC 2018 section 4: the first block holds the segment that triggered the ACK.
    #[test]
    fn first_block_holds_the_segment_then_the_most_recent_others() {
        let mut r = receiver(Recovery::Sack, None);
        arrive(&mut r, ms(0), 0);
        assert_eq!(arrive(&mut r, ms(1), 2), Some((1, vec![(2, 2)])));
        assert_eq!(arrive(&mut r, ms(2), 6), Some((1, vec![(6, 6), (2, 2)])));
        assert_eq!(
            arrive(&mut r, ms(3), 4),
            Some((1, vec![(4, 4), (6, 6), (2, 2)]))
        );
        assert_eq!(
            arrive(&mut r, ms(4), 8),
            Some((1, vec![(8, 8), (4, 4), (6, 6)])),
            "three blocks at most"
        );
        assert_eq!(
            arrive(&mut r, ms(5), 3),
            Some((1, vec![(2, 4), (8, 8), (6, 6)])),
            "joined blocks count once"
        );
        assert_eq!(
            arrive(&mut r, ms(6), 1),
            Some((5, vec![(8, 8), (6, 6)])),
            "a gap filled moves the ACK"
        );
    }

    #[test]
    fn duplicate_of_held_data_is_reported_first_again() {
        let mut r = receiver(Recovery::Sack, None);
        arrive(&mut r, ms(0), 2);
        arrive(&mut r, ms(1), 4);
        assert_eq!(arrive(&mut r, ms(2), 2), Some((0, vec![(2, 2), (4, 4)])));
    }

    #[test]
    fn only_a_sack_connection_sends_blocks() {
        let mut r = receiver(Recovery::NewReno, None);
        assert_eq!(arrive(&mut r, ms(1), 2), Some((0, vec![])));
        assert!(r.recent.is_empty(), "nothing is remembered for them");
    }

    #[test]
    fn blocks_hold_their_first_byte_and_not_the_one_after_their_last() {
        let blocks = [(10, 20), (30, 40)].map(|(start, end)| SackBlock { start, end });
        let held = VecDeque::from(blocks);
        let found = [9, 10, 19, 20, 29, 30, 39, 40].map(|byte| block_of(&held, byte));
        let [first, last] = blocks.map(Some);
        assert_eq!(found, [None, first, first, None, None, last, last, None]);
        assert_eq!(block_of(&VecDeque::new(), 0), None);
    }

    /// Reference receiver with one flag per segment and the full history of first blocks.
    struct Naive {
        have: Vec<bool>,
        history: Vec<usize>,
        sack_blocks: usize,
    }

    impl Naive {
        fn next(&self) -> usize {
            self.have.iter().position(|h| !h).unwrap()
        }

        fn block(&self, byte: usize) -> (u64, u64) {
            let first = (0..byte).rev().find(|&i| !self.have[i]).unwrap() + 1;
            let end = (byte..).find(|&i| !self.have[i]).unwrap();
            (first as u64, end as u64)
        }

        fn arrive(&mut self, start: usize, end: usize) -> (u64, Vec<(u64, u64)>) {
            if start > self.next() {
                self.history.push(start);
            }
            self.have[start..end].fill(true);
            let mut blocks = vec![];
            for &byte in self.history.iter().rev() {
                if byte > self.next() && blocks.len() < self.sack_blocks {
                    let block = self.block(byte);
                    if !blocks.contains(&block) {
                        blocks.push(block);
                    }
                }
            }
            (self.next() as u64, blocks)
        }
    }

    proptest! {
        /// Tries any order, overlap and repetition of segments.
        #[test]
        fn receiver_matches_a_bitmap(
            segments in proptest::collection::vec((0usize..60, 1usize..8), 1..150),
            sack_blocks in 1u32..=4,
        ) {
            let mut r = Receiver::new(&TcpParams { sack_blocks, ..params(Recovery::Sack) }, Span::ZERO);
            let mut naive = Naive {
                have: vec![false; 80],
                history: vec![],
                sack_blocks: sack_blocks as usize,
            };
            let (mut outcome, mut most_held) = (SegmentOutcome::default(), 0);
            for (start, len) in segments {
                let is_new = naive.have[start..start + len].contains(&false);
                let ack = r
                    .on_segment(Time::ZERO, start as u64, len as u32, &mut outcome)
                    .unwrap();
                let blocks = ack.sack().iter().map(|b| (b.start, b.end)).collect::<Vec<_>>();
                prop_assert_eq!((ack.ack, blocks), naive.arrive(start, start + len));
                prop_assert_eq!(outcome, SegmentOutcome { delivered: ack.ack, is_new });
                most_held = most_held.max(r.held.len());
                prop_assert!(r.recent.len() <= 2 * most_held + SLACK);
            }
        }
    }
}
