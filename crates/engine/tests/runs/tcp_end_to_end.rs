//! Tests whole TCP connections over one link that loses chosen segments.
//!
//! The loss patterns are those of Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and
//! SACK TCP", CCR 26(3), 1996, section 6, and two bursts.
//!
//! The link has 100 ms. The window is 28 segments of 1000 bytes, the initial window 2, the minimum
//! RTO 1 s, and ticks are 10 ms. Every segment is acknowledged.
//!
//! The paper's link has 800 kb/s and sends a segment in 10 ms. Here 800 kb/s is the rate of the
//! data: 22 cells of 53 bytes in 10 ms are 932.8 kb/s of cells. Losses fall into a window of 16 (13
//! for the burst from 11 on).
//!
//! The tests assert sequences and counts that are visible from outside: the sender's counters, its
//! cwnd, and when each byte was delivered in order. Both engines must agree on every cell.

use crate::common::build::ms;
use crate::common::random::Case;
use crate::common::{build, engines};
use cellyard_engine::Kernel;
use cellyard_engine::format::Clock;
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{SenderCounters, Stream, Tally};
use cellyard_engine::units::{BitRate, Span};

const MSS: u64 = 1000;
const SEGMENTS: u64 = 100;
const CELL_RATE: BitRate = BitRate(932_800);
/// Round trip in milliseconds: segment 10 ms, ACK of two cells 0.9 ms, 100 ms each way.
const ROUND_TRIP: u64 = 211;

const ONE: &[u64] = &[14];
const TWO: &[u64] = &[14, 28];
const THREE: &[u64] = &[14, 26, 28];
const FOUR: &[u64] = &[14, 24, 26, 28];
const BURST: &[u64] = &[11, 12, 13, 14, 16, 17, 18, 19];

const ALL: [Recovery; 5] = [
    Recovery::Vanilla,
    Recovery::Tahoe,
    Recovery::Reno,
    Recovery::NewReno,
    Recovery::Sack,
];

fn params(recovery: Recovery) -> TcpParams {
    TcpParams {
        recovery,
        mss: MSS,
        rwnd: 28 * MSS,
        initial_window: 2,
        granularity: ms(10),
        min_rto: ms(1000),
        ..build::tcp()
    }
}

fn scenario(tcp: TcpParams, lost: &[u64], seconds: u64) -> Scenario {
    let mut net = build::network(ms(1000 * seconds));
    net.hosts = ["a", "b"].map(build::host).into();
    net.links = build::links("a", "b", CELL_RATE, ms(100)).into();
    net.links[0].lose_frames = lost.into();
    let traffic = Traffic::Tcp(Box::new(tcp));
    net.vcs = vec![build::vc("tcp", "a", "b", &[], Class::Ubr, traffic)];
    net
}

/// History of one file of 100 segments.
struct Transfer {
    counters: SenderCounters,
    /// Segments delivered in order by the end of each millisecond.
    delivered: Vec<u64>,
    /// Every value of the congestion window, in segments rounded down.
    cwnd: Vec<u64>,
}

impl Transfer {
    /// The millisecond in which `segment` was delivered in order.
    fn delivered_at(&self, segment: u64) -> u64 {
        self.delivered.partition_point(|&d| d <= segment) as u64
    }

    /// The millisecond in which the last segment was delivered.
    fn done(&self) -> u64 {
        self.delivered_at(SEGMENTS - 1)
    }

    /// Milliseconds between repairs of consecutive lost segments.
    fn between_repairs(&self, lost: &[u64]) -> Vec<u64> {
        let at = |&segment: &u64| self.delivered_at(segment);
        lost.windows(2).map(|w| at(&w[1]) - at(&w[0])).collect()
    }
}

fn probe(what: Observable, interval: Option<Span>) -> Probe {
    Probe {
        interval,
        ..Probe::new(what, "tcp")
    }
}

fn result(net: &Scenario) -> RunResult {
    engines::result(net, None, Kernel::Auto)
}

/// The counters on which both engines agree.
fn agreed(net: &Scenario) -> Tally {
    let case = Case::of(net.clone());
    engines::agrees(&case).unwrap();
    engines::engine(net, None)
}

/// Sends a file of 100 segments. Both engines must agree, and the file must arrive complete.
fn transfer(tcp: TcpParams, lost: &[u64]) -> Transfer {
    let mut tcp = tcp;
    tcp.file_size = Some(SEGMENTS * MSS);
    let mut net = scenario(tcp, lost, 8);
    let tally = agreed(&net);
    assert_eq!(tally.vcs[0].delivered_bytes, SEGMENTS * MSS, "{lost:?}");

    net.probes = vec![
        probe(Observable::Delivered, Some(ms(1))),
        probe(Observable::Cwnd, None),
    ];
    let series = result(&net).series;
    // Values after each whole millisecond. The first sample is at 0, and samples exclude events of
    // their instant.
    let samples = series[0].value.iter().skip(1);
    let delivered = samples.map(|bytes| *bytes as u64 / MSS);
    Transfer {
        counters: tally.vcs[0].sender,
        delivered: delivered.collect(),
        cwnd: series[1].value.iter().map(|v| *v as u64 / MSS).collect(),
    }
}

fn run(recovery: Recovery, lost: &[u64]) -> Transfer {
    transfer(params(recovery), lost)
}

fn sack(sack_pipe: SackPipe, lost: &[u64]) -> Transfer {
    let tcp = TcpParams {
        sack_pipe,
        ..params(Recovery::Sack)
    };
    transfer(tcp, lost)
}

/// Numbers of retransmitted segments, timeouts, and fast retransmits.
fn repairs(run: &Transfer) -> (u64, u64, u64) {
    let c = &run.counters;
    (c.retransmitted_segments, c.timeouts, c.fast_retransmits)
}

/// As in the classic figures, each segment takes 10 ms, and all recoveries agree before the first
/// loss.
#[test]
fn without_loss_all_are_alike() {
    for recovery in ALL {
        let run = run(recovery, &[]);
        assert_eq!(repairs(&run), (0, 0, 0));
        // The first window, then the second after a round trip.
        assert_eq!([0, 1, 2].map(|n| run.delivered_at(n)), [110, 120, 320]);
        // One segment every 10 ms, once the window exceeds the path's 21 segments.
        let last = [90, 95, 99].map(|n| run.delivered_at(n));
        assert_eq!([last[1] - last[0], last[2] - last[1]], [50, 40]);
    }
}

#[test]
fn vanilla_needs_the_timer_for_any_loss() {
    for lost in [ONE, TWO, THREE, FOUR, BURST] {
        let run = run(Recovery::Vanilla, lost);
        let (_, timeouts, fast_retransmits) = repairs(&run);
        assert_eq!((timeouts, fast_retransmits), (1, 0), "{lost:?}");
    }
}

/// Go-back-N from the first hole skips what the receiver kept, once it is acknowledged.
#[test]
fn tahoe_slow_starts_and_resends_without_a_timeout() {
    for (lost, resent) in [(ONE, 1), (TWO, 3), (THREE, 5), (FOUR, 7), (BURST, 13)] {
        let run = run(Recovery::Tahoe, lost);
        assert_eq!(repairs(&run), (resent, 0, 1), "{lost:?}");
        // ssthresh is half of 16 (of 13). Up to it, each ACK adds one segment.
        let fall = run.cwnd.windows(2).position(|w| w[1] < w[0]).unwrap() + 1;
        let slow_start: Vec<u64> = (1..=6).collect();
        assert_eq!(run.cwnd[fall..fall + 6], slow_start, "{lost:?}");
    }
}

#[test]
fn reno_repairs_one_loss_and_halves_its_window() {
    let run = run(Recovery::Reno, ONE);
    assert_eq!(repairs(&run), (1, 0, 1));
    // The window is 16 when the loss is found, 8 + 3 at the retransmission, and 8 when the repair
    // is acknowledged.
    let before = run.cwnd.iter().position(|&w| w == 16).unwrap();
    assert_eq!(run.cwnd[before + 1], 11);
    let after = run
        .cwnd
        .windows(2)
        .position(|w| w[1] + 1 < w[0] && w[1] == 8);
    assert!(after.is_some(), "{:?}", run.cwnd);
}

/// With a second hole, Reno leaves recovery at the partial ACK and needs three more duplicates. A
/// window of 16 yields them, even for neighbours, and is halved twice.
#[test]
fn reno_repairs_two_losses_of_a_large_window_by_two_fast_retransmits() {
    for lost in [TWO, &[14, 15], &[14, 20]] {
        assert_eq!(repairs(&run(Recovery::Reno, lost)), (2, 0, 2), "{lost:?}");
    }
}

/// Reno fails at two losses in a window of 7, and at three in a window of 16.
#[test]
fn reno_needs_a_timeout_for_two_losses_of_a_small_window_and_for_more_of_a_large_one() {
    for lost in [&[5, 7], THREE, FOUR, BURST] {
        let reno = run(Recovery::Reno, lost);
        assert_eq!(reno.counters.timeouts, 1, "{lost:?}");
        // The last hole waits for the timer.
        let waits = reno.between_repairs(lost);
        assert!(waits.iter().any(|&w| w > 1000), "{lost:?}: {waits:?}");
    }
    assert_eq!(repairs(&run(Recovery::NewReno, &[5, 7])), (2, 0, 1));
}

#[test]
fn newreno_repairs_one_hole_per_round_trip_without_a_timeout() {
    for lost in [ONE, TWO, THREE, FOUR, BURST] {
        let run = run(Recovery::NewReno, lost);
        assert_eq!(repairs(&run), (lost.len() as u64, 0, 1), "{lost:?}");
        for wait in run.between_repairs(lost) {
            assert!(wait.abs_diff(ROUND_TRIP) <= 1, "{lost:?}: {wait}");
        }
    }
}

/// Two losses ten apart in a window of 28, which rwnd bounds. No ACK in recovery opens the window
/// by ten segments.
#[test]
fn newreno_sends_no_burst_at_a_partial_ack() {
    let mut tcp = params(Recovery::NewReno);
    tcp.file_size = Some(SEGMENTS * MSS);
    let mut net = scenario(tcp, &[50, 60], 8);
    net.probes = vec![probe(Observable::Sequence, None)];
    let sent = &result(&net).series[0].time_s;
    let at_once = sent.chunk_by(|a, b| a == b).map(<[f64]>::len);
    assert_eq!(at_once.max(), Some(2), "a repair and a new segment");
}

#[test]
fn sack_repairs_up_to_four_holes_within_about_a_round_trip() {
    for lost in [ONE, TWO, THREE, FOUR] {
        let counter = sack(SackPipe::Counter, lost);
        let rfc6675 = sack(SackPipe::Rfc6675, lost);
        for run in [&counter, &rfc6675] {
            assert_eq!(repairs(run), (lost.len() as u64, 0, 1), "{lost:?}");
        }
        let from_first_to_last =
            |run: &Transfer| run.between_repairs(lost).into_iter().sum::<u64>();
        assert!(from_first_to_last(&counter) < ROUND_TRIP, "{lost:?}");
        // New data precede holes that are not yet known to be lost.
        assert!(
            2 * from_first_to_last(&rfc6675) < 3 * ROUND_TRIP,
            "{lost:?}"
        );
    }
}

/// The counter of 1996 counts lost segments as in flight. Each duplicate subtracts one, the first
/// partial ACK two. With thirteen it repairs seven lost segments, one more than half. With eight it
/// never falls below cwnd. RFC 6675 excludes lost segments.
#[test]
fn only_rfc6675_repairs_a_burst_of_most_of_the_window_without_a_timeout() {
    let seven = sack(SackPipe::Counter, &BURST[..7]);
    assert_eq!(repairs(&seven), (7, 0, 1));
    assert_eq!(sack(SackPipe::Counter, BURST).counters.timeouts, 1);
    let run = sack(SackPipe::Rfc6675, BURST);
    assert_eq!(repairs(&run), (BURST.len() as u64, 0, 1));
}

/// The window is full when the loss is found. Only the lost segment is retransmitted. The last one
/// sent is not, since nothing shows that it is lost (RFC 6675 section 5 step 4.3).
#[test]
fn rfc6675_resends_no_more_than_the_lost_segment_of_a_full_window() {
    for lost in [&[60], &[70], &[SEGMENTS - 10]] {
        let run = sack(SackPipe::Rfc6675, lost);
        assert!(run.cwnd.iter().any(|&window| window >= 28), "{lost:?}");
        assert_eq!(repairs(&run), (1, 0, 1), "{lost:?}");
    }
}

/// Fall and Floyd section 6, four losses: Reno waits for its timer and does worse than Tahoe.
#[test]
fn four_losses_order_the_recoveries() {
    let done = |recovery| run(recovery, FOUR).done();
    let [vanilla, tahoe, reno, newreno, sack] = ALL.map(done);
    assert!(sack < newreno && newreno < tahoe && tahoe < vanilla && vanilla < reno);
}

/// Mean number of segments delivered in 5 s when `losses` random segments of the window of 16 are
/// lost, with common random numbers over 60 cases.
///
/// The receiver window is too large to matter. If it limited the sender in recovery, NewReno would
/// leave with two segments of window and Reno with a burst (RFC 6582 section 3.2 step 3).
fn mean_delivered(recovery: Recovery, losses: usize) -> f64 {
    let draws = 60;
    let tcp = TcpParams {
        rwnd: 100 * MSS,
        ..params(recovery)
    };
    let delivered = |draw: u64| {
        let stream = Stream::new(draw, 0, "window", "losses");
        let mut window: Vec<u64> = (14..30).collect();
        for i in 0..losses {
            window.swap(i, i + stream.below(i as u64, (16 - i) as u64) as usize);
        }
        let net = scenario(tcp.clone(), &window[..losses], 5);
        engines::engine(&net, None).vcs[0].delivered_bytes / MSS
    };
    (0..draws).map(delivered).sum::<u64>() as f64 / draws as f64
}

/// Ranking after Fall and Floyd 1996.
///
/// One loss separates only those that need the timer or slow start. With several, SACK loses least,
/// then NewReno. Tahoe retransmits too much. Reno mostly waits for its timer with a window halved
/// twice and comes last but Vanilla, or last from three losses on.
#[test]
fn losses_in_a_window_order_the_recoveries() {
    let [vanilla, tahoe, reno, newreno, sack] = ALL.map(|r| mean_delivered(r, 1));
    assert!(1.1 * vanilla < tahoe && 1.1 * tahoe < reno);
    assert!((newreno / reno - 1.0).abs() < 0.01 && (sack / reno - 1.0).abs() < 0.01);
    for losses in 2..=5 {
        let means = ALL.map(|recovery| mean_delivered(recovery, losses));
        let [vanilla, tahoe, reno, newreno, sack] = means;
        let [last, before_last] = if losses == 2 {
            [vanilla, reno]
        } else {
            [reno, vanilla]
        };
        let order = [last, before_last, tahoe, newreno, sack];
        assert!(
            order.is_sorted_by(|less, more| 1.02 * less < *more),
            "{losses} losses: {means:?}"
        );
    }
}

/// Both ends send files over one VC. Each flow carries a frame per segment of one connection and
/// per ACK of the other.
#[test]
fn both_ways_share_the_vc_and_keep_their_own_books() {
    let own = TcpParams {
        file_size: Some(SEGMENTS * MSS),
        files: Some(3),
        both_ways: true,
        ..params(Recovery::Reno)
    };
    let net = scenario(own, &[], 30);
    let tally = agreed(&net);
    let vc = &tally.vcs[0];
    let back = vc.back.as_ref().expect("both ends send");
    assert_eq!((vc.transfers.len(), back.transfers.len()), (3, 3));
    let bytes = 3 * SEGMENTS * MSS;
    assert_eq!(vc.delivered_bytes, bytes, "what goes back is not in it");
    assert_eq!(
        (vc.sender.acknowledged, back.sender.acknowledged),
        (bytes, bytes)
    );
    // A segment and an ACK in each direction give equal frame counts.
    let frames = [0, 1].map(|flow| tally.flows[flow].frames_sent);
    assert_eq!(frames, [vc.sender.segments + back.sender.segments; 2]);
}

/// Sender probes must follow from the segments and the rules: Vanilla, one loss, one timeout.
#[test]
fn probes_of_the_sender_agree_with_each_other_and_with_the_rules() {
    let tcp = TcpParams {
        file_size: Some(SEGMENTS * MSS),
        ..params(Recovery::Vanilla)
    };
    let initial = tcp.initial_rto.as_seconds(Clock::AAL5);
    let mut net = scenario(tcp, ONE, 8);
    let watched = [
        Observable::Sequence,
        Observable::Acknowledged,
        Observable::Flight,
        Observable::Rtt,
        Observable::Rto,
    ];
    net.probes = watched.map(|what| probe(what, None)).into();
    let series = result(&net).series;
    let [sequence, acknowledged, flight, rtt, rto] = &series[..] else {
        panic!("a series for each probe");
    };

    assert!(acknowledged.value.is_sorted());
    assert_eq!(acknowledged.value.last(), Some(&((SEGMENTS * MSS) as f64)));
    // FlightSize is sent but unacknowledged data, whether retransmitted or not.
    for (&now, &bytes) in flight.time_s.iter().zip(&flight.value) {
        let sent = sequence.time_s.partition_point(|&t| t <= now);
        let sent = sequence.value[..sent].iter().copied().reduce(f64::max);
        let sent = sent.map_or(0.0, |first| first + MSS as f64);
        let at = acknowledged.time_s.partition_point(|&t| t <= now) - 1;
        assert_eq!(bytes, sent - acknowledged.value[at], "at {now} s");
    }
    // The window in which a segment is lost.
    assert_eq!(
        flight.value.iter().copied().reduce(f64::max),
        Some(16_000.0)
    );

    // A segment of 22 cells and an ACK of 2 on the empty path. Later ones wait behind others of
    // their window.
    let empty = 24.0 * 424.0 / 932_800.0 + 0.2;
    assert!((rtt.value[0] - empty).abs() < 1e-9, "{}", rtt.value[0]);
    assert_eq!(rtt.time_s[0], rtt.value[0]);
    assert!(
        rtt.value
            .iter()
            .all(|&s| s >= rtt.value[0] && s < empty + 0.16)
    );
    // Only one segment is timed at a time.
    let apart = rtt.time_s.windows(2).zip(&rtt.value[1..]);
    assert!(apart.into_iter().all(|(t, &s)| t[1] - t[0] >= s - 1e-9));

    // The first sample, the timeout, and the first sample after it.
    assert_eq!(rto.value[..4], [initial, 1.0, 2.0, 1.0]);
}
