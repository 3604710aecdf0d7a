//! Tests of whole connections over one lossy link: two bursts, and the loss patterns of Fall and
//! Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996, section 6.
//!
//! The link has 800 kb/s and 100 ms, so a segment of 1000 bytes takes 10 ms. The window is 28
//! segments; ACKs take 100 ms.

use super::testing::{ALWAYS, MSS, params};
use super::{Ack, Receiver, Segment, SegmentOutcome, Sender};
use crate::ground::units::{Span, Time};
use crate::network::tally::{SenderCounters, Transfer};
use crate::text::scenario::model::{
    Estimator, NextFile, Recovery, RenoFastRetransmit, SackPipe, TcpParams,
};
use proptest::prelude::*;
use std::collections::VecDeque;

const SEGMENT_TIME: Span = Span::from_milliseconds(10);
const DELAY: Span = Span::from_milliseconds(100);
const SEGMENTS: u64 = 100;
/// Round-trip time without queueing.
const ROUND_TRIP: Span = Span::from_milliseconds(210);

/// Loss patterns: one to four losses in the window of segments 14 to 29, and a burst.
const ONE: &[u64] = &[14];
const TWO: &[u64] = &[14, 28];
const THREE: &[u64] = &[14, 26, 28];
const FOUR: &[u64] = &[14, 24, 26, 28];
const BURST: &[u64] = &[11, 12, 13, 14, 16, 17, 18, 19];

/// Record of one connection.
struct TransferRun {
    /// Segments sent, with their times.
    sent: Vec<(Time, Segment)>,
    counters: SenderCounters,
    transfers: Vec<Transfer>,
    done: Time,
}

impl TransferRun {
    fn resent(&self) -> Vec<u64> {
        let again = self.sent.iter().filter(|(_, s)| s.retransmission);
        again.map(|(_, s)| s.seq / MSS).collect()
    }

    /// Time from the first to the last retransmission.
    fn repair_time(&self) -> Span {
        let mut again = self.sent.iter().filter(|(_, s)| s.retransmission);
        let first = again.next().unwrap().0;
        again
            .next_back()
            .map_or(Span::ZERO, |(t, _)| t.since(first))
    }
}

fn transfer(params: &TcpParams, mut lost: impl FnMut(u64) -> bool) -> TransferRun {
    let mut sender = Sender::new(params, Span::ZERO, Time::NEVER, ALWAYS);
    let mut receiver = Receiver::new(params, Span::ZERO);
    let mut frames: VecDeque<(Time, Segment)> = VecDeque::new();
    let mut acks: VecDeque<(Time, Ack)> = VecDeque::new();
    let (mut sent, mut out) = (vec![], vec![]);
    let (mut free, mut entered, mut outcome) = (Time::ZERO, 0, SegmentOutcome::default());
    let mut now = Time::ZERO;
    sender.start(now, &mut out);
    loop {
        for segment in out.drain(..) {
            sent.push((now, segment));
            free = free.max(now) + SEGMENT_TIME;
            if !lost(entered) {
                frames.push_back((free + DELAY, segment));
            }
            entered += 1;
        }
        if sender.is_done() {
            break;
        }
        let frame = frames.front().map_or(Time::NEVER, |f| f.0);
        let ack = acks.front().map_or(Time::NEVER, |a| a.0);
        let held_back = receiver.deadline();
        now = frame.min(ack).min(held_back).min(sender.deadline());
        assert_ne!(now, Time::NEVER, "the connection is stuck");
        let reply = if now == sender.deadline() {
            sender.on_timer(now, &mut out);
            None
        } else if now == held_back {
            receiver.on_timer(now)
        } else if now == frame {
            let (_, s) = frames.pop_front().unwrap();
            receiver.on_segment(now, s.seq, s.len, &mut outcome)
        } else {
            let (_, ack) = acks.pop_front().unwrap();
            sender.on_ack(now, &ack, &mut out);
            None
        };
        acks.extend(reply.map(|ack| (now + DELAY, ack)));
    }
    let bytes = params.file_size.zip(params.files);
    assert_eq!(
        Some(outcome.delivered),
        bytes.map(|(size, files)| size * files)
    );
    TransferRun {
        sent,
        counters: sender.counters(),
        transfers: sender.transfers().to_vec(),
        done: now,
    }
}

fn study(recovery: Recovery) -> TcpParams {
    TcpParams {
        rwnd: 28 * MSS,
        initial_window: 2,
        file_size: Some(SEGMENTS * MSS),
        ..params(recovery)
    }
}

fn run(recovery: Recovery, lost: &[u64]) -> TransferRun {
    transfer(&study(recovery), |frame| lost.contains(&frame))
}

fn sack(sack_pipe: SackPipe, lost: &[u64]) -> TransferRun {
    let params = TcpParams {
        sack_pipe,
        ..study(Recovery::Sack)
    };
    transfer(&params, |frame| lost.contains(&frame))
}

#[test]
fn vanilla_needs_the_timer_for_any_loss() {
    for lost in [ONE, TWO, THREE, FOUR, BURST] {
        let run = run(Recovery::Vanilla, lost);
        assert_eq!(run.counters.timeouts, 1, "{lost:?}");
        assert_eq!(run.resent()[0], lost[0]);
    }
}

#[test]
fn tahoe_slow_starts_and_resends_without_a_timeout() {
    let resent: [(&[u64], &[u64]); 5] = [
        (ONE, &[14]),
        (TWO, &[14, 28, 29]),
        (THREE, &[14, 26, 27, 28, 29]),
        (FOUR, &[14, 24, 25, 26, 27, 28, 29]),
        (BURST, &[11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]),
    ];
    for (lost, resent) in resent {
        let run = run(Recovery::Tahoe, lost);
        assert_eq!(run.counters.timeouts, 0, "{lost:?}");
        assert_eq!(run.counters.fast_retransmits, 1, "{lost:?}");
        assert_eq!(run.resent(), resent);
    }
    // Slow start from the hole: one segment, then two, then four.
    let run = run(Recovery::Tahoe, ONE);
    let first = run.sent.iter().position(|(_, s)| s.retransmission).unwrap();
    let bursts = run.sent[first..].chunk_by(|a, b| b.0.since(a.0) < DELAY);
    let bursts: Vec<usize> = bursts.map(<[_]>::len).take(3).collect();
    assert_eq!(bursts, [1, 2, 4]);
}

#[test]
fn reno_repairs_one_loss_without_a_timeout() {
    let run = run(Recovery::Reno, ONE);
    assert_eq!(run.counters.timeouts, 0);
    assert_eq!(run.resent(), ONE);
}

/// Two losses cost Reno a timeout only in windows of less than 10 segments (Fall and Floyd section
/// 6). The window is 16 here, and 7 in the next test.
#[test]
fn reno_repairs_two_losses_of_a_large_window_by_two_fast_retransmits() {
    for lost in [TWO, &[14, 15]] {
        let run = run(Recovery::Reno, lost);
        assert_eq!(run.counters.fast_retransmits, 2, "{lost:?}");
        assert_eq!(run.counters.timeouts, 0, "{lost:?}");
        assert_eq!(run.resent(), lost);
    }
}

#[test]
fn reno_needs_a_timeout_for_two_losses_of_a_small_window_and_for_more() {
    for lost in [&[5, 7], THREE, FOUR, BURST] {
        assert_eq!(run(Recovery::Reno, lost).counters.timeouts, 1, "{lost:?}");
    }
    assert_eq!(run(Recovery::NewReno, &[5, 7]).counters.timeouts, 0);
}

#[test]
fn newreno_repairs_one_hole_per_round_trip_without_a_timeout() {
    for lost in [ONE, TWO, THREE, FOUR, BURST] {
        let run = run(Recovery::NewReno, lost);
        assert_eq!(run.counters.timeouts, 0, "{lost:?}");
        assert_eq!(run.counters.fast_retransmits, 1, "{lost:?}");
        assert_eq!(run.resent(), lost, "nothing but the lost segments");
        let round_trips = lost.len() as u64 - 1;
        assert_eq!(run.repair_time(), Span(round_trips * ROUND_TRIP.0));
    }
}

#[test]
fn sack_repairs_up_to_four_holes_within_about_a_round_trip() {
    for lost in [ONE, TWO, THREE, FOUR] {
        let counter = sack(SackPipe::Counter, lost);
        assert!(counter.repair_time() < ROUND_TRIP, "{lost:?}");
        let rfc6675 = sack(SackPipe::Rfc6675, lost);
        // New data go before holes that are not yet known to be lost.
        assert!(rfc6675.repair_time().0 < 3 * ROUND_TRIP.0 / 2, "{lost:?}");
        for run in [counter, rfc6675] {
            assert_eq!(run.counters.timeouts, 0, "{lost:?}");
            assert_eq!(run.resent(), lost, "nothing but the lost segments");
        }
    }
}

/// The counter treats lost segments as data in flight, so it never falls below cwnd if more than
/// half of the window is lost. RFC 6675 leaves lost segments out.
#[test]
fn only_rfc6675_repairs_a_burst_of_most_of_the_window_without_a_timeout() {
    assert_eq!(sack(SackPipe::Counter, BURST).counters.timeouts, 1);
    let run = sack(SackPipe::Rfc6675, BURST);
    assert_eq!(run.counters.timeouts, 0);
    assert_eq!(run.resent(), BURST);
}

/// With four losses Reno waits for its timer and is worse than Tahoe (Fall and Floyd section 6).
#[test]
fn four_losses_order_the_recoveries() {
    let done = |recovery| run(recovery, FOUR).done;
    assert!(done(Recovery::Sack) < done(Recovery::NewReno));
    assert!(done(Recovery::NewReno) < done(Recovery::Tahoe));
    assert!(done(Recovery::Tahoe) < done(Recovery::Reno));
    assert!(done(Recovery::Tahoe) < done(Recovery::Vanilla));
}

fn any_recovery() -> impl Strategy<Value = Recovery> {
    prop_oneof![
        Just(Recovery::Vanilla),
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::NewReno),
        Just(Recovery::Sack),
    ]
}

fn any_params() -> impl Strategy<Value = TcpParams> {
    let coarse = (1u64..500, 1u64..2000);
    let shape = (1u64..5, 1u64..60, 1u64..80_000, 1u32..=4, 1u32..5);
    let choices = (any::<[bool; 3]>(), proptest::option::of(1u64..300));
    (any_recovery(), coarse, shape, choices).prop_map(|(recovery, coarse, shape, choices)| {
        let (tick, min_rto) = coarse;
        let (initial_window, rwnd, file_size, sack_blocks, dupack_threshold) = shape;
        let ([rfc6675, rfc6298, nothing], delayed_ack) = choices;
        let mut p = params(recovery);
        p.granularity = Span::from_milliseconds(tick);
        p.min_rto = Span::from_milliseconds(min_rto);
        p.initial_window = initial_window;
        p.rwnd = rwnd * MSS;
        p.file_size = Some(file_size);
        p.sack_blocks = sack_blocks;
        p.dupack_threshold = dupack_threshold;
        p.delayed_ack = delayed_ack.map(Span::from_milliseconds);
        if rfc6675 {
            p.sack_pipe = SackPipe::Rfc6675;
        }
        if rfc6298 {
            p.estimator = Estimator::Rfc6298;
        }
        if nothing {
            p.reno_fast_retransmit = RenoFastRetransmit::Nothing;
        }
        p
    })
}

proptest! {
    /// With any losses, the file arrives once and in order. Every segment is a whole one of the MSS
    /// grid, and none reaches beyond the receiver window.
    #[test]
    fn every_transfer_ends_with_the_whole_file(
        params in any_params(),
        losses in proptest::collection::vec(any::<u8>(), 0..400),
        percent in 0u8..40,
    ) {
        let lost = |frame: u64| {
            losses.get(frame as usize).is_some_and(|draw| u32::from(*draw) * 100 < u32::from(percent) * 256)
        };
        let run = transfer(&params, lost);
        let file = params.file_size.unwrap();
        let mut highest = 0;
        for (_, s) in &run.sent {
            prop_assert_eq!(s.seq % MSS, 0);
            prop_assert_eq!(u64::from(s.len), MSS.min(file - s.seq));
            prop_assert_eq!(s.retransmission, s.seq < highest);
            highest = highest.max(s.seq + u64::from(s.len));
        }
        prop_assert_eq!(highest, file);
        prop_assert_eq!(run.counters.segments, run.sent.len() as u64);
        prop_assert_eq!(run.counters.retransmitted_segments, run.resent().len() as u64);
    }

    /// With any losses, all files arrive once, in order and one after another. Each takes at least
    /// a round trip.
    #[test]
    fn files_follow_each_other_until_all_are_done(
        params in any_params(),
        several in (1u64..6, 1u64..20_000, 0u64..2_000, any::<[bool; 2]>()),
        losses in proptest::collection::vec(any::<u8>(), 0..400),
        percent in 0u8..40,
    ) {
        let (files, size, gap, [same, handshake]) = several;
        let params = TcpParams {
            file_size: Some(size),
            files: Some(files),
            file_gap: Span::from_milliseconds(gap),
            next_file: [NextFile::NewConnection, NextFile::SameConnection][usize::from(same)],
            handshake,
            ..params
        };
        let lost = |frame: u64| {
            losses.get(frame as usize).is_some_and(|draw| u32::from(*draw) * 100 < u32::from(percent) * 256)
        };
        let run = transfer(&params, lost);
        prop_assert_eq!(run.transfers.len() as u64, files);
        prop_assert_eq!(run.counters.acknowledged, files * size);
        prop_assert_eq!(run.counters.completed, Some(run.done));
        let mut next = Time::ZERO;
        for transfer in &run.transfers {
            prop_assert_eq!(transfer.began, next);
            prop_assert!(transfer.done.since(transfer.began) >= ROUND_TRIP);
            next = transfer.done + params.file_gap;
        }
    }
}
