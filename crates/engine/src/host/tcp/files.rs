//! Tests of consecutive files and of connections with a handshake; the test drives sender and
//! receiver.

use super::testing::{ALWAYS, MSS, ack_of, params};
use super::{Ack, OPENED, Receiver, Segment, SegmentOutcome, Sender};
use crate::ground::units::{Span, Time};
use crate::text::scenario::model::{NextFile, Recovery, TcpParams, TickPhase};

/// File size in the tests: two full segments and a short one.
const FILE: u64 = 2 * MSS + 7;

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_milliseconds(n)
}

fn files(change: impl FnOnce(&mut TcpParams)) -> TcpParams {
    let mut params = TcpParams {
        file_size: Some(FILE),
        files: Some(3),
        initial_window: 2,
        initial_ssthresh: Some(3 * MSS),
        ..params(Recovery::Reno)
    };
    change(&mut params);
    params
}

fn sender(params: &TcpParams) -> Sender {
    Sender::new(params, Span::ZERO, Time::NEVER, ALWAYS)
}

/// First byte and length of the segments sent by `f`.
fn sent(f: impl FnOnce(&mut Vec<Segment>)) -> Vec<(u64, u32)> {
    let mut out = Vec::new();
    f(&mut out);
    out.iter().map(|s| (s.seq, s.len)).collect()
}

fn acked(s: &mut Sender, now: Time, ack: u64) -> Vec<(u64, u32)> {
    let ack = Ack {
        ack,
        ..Ack::default()
    };
    sent(|out| s.on_ack(now, &ack, out))
}

fn transfers(s: &Sender) -> Vec<(Time, Time)> {
    let all = s.transfers().iter();
    all.map(|transfer| (transfer.began, transfer.done))
        .collect()
}

const M: u32 = MSS as u32;

#[test]
fn a_new_connection_begins_afresh_beyond_the_number_of_the_end() {
    let mut s = sender(&files(|_| ()));
    assert_eq!(sent(|out| s.start(ms(0), out)), [(0, M), (MSS, M)]);
    // The timer repairs the first segment. ssthresh and back-off of a finished connection must not
    // carry over.
    let expiry = s.deadline();
    sent(|out| s.on_timer(expiry, out));
    assert_eq!(s.ssthresh(), 2 * MSS);
    acked(&mut s, ms(4000), 2 * MSS);
    let next = FILE + 1;
    assert_eq!(
        acked(&mut s, ms(4010), FILE),
        [(next, M), (next + MSS, M)],
        "the initial window, at the instant at which the first file is done"
    );
    assert_eq!((s.cwnd(), s.ssthresh()), (2 * MSS, 3 * MSS));
    assert_eq!(
        s.deadline(),
        ms(4010 + 3000),
        "the initial RTO, not backed off"
    );
    assert_eq!(transfers(&s), [(ms(0), ms(4010))]);
    assert_eq!(s.counters().completed, None);
    acked(&mut s, ms(4020), next + 2 * MSS);
    acked(&mut s, ms(4030), next + FILE);
    let last = 2 * next;
    acked(&mut s, ms(4040), last + 2 * MSS);
    assert_eq!(acked(&mut s, ms(4050), last + FILE), []);
    assert_eq!(s.deadline(), Time::NEVER);
    assert_eq!(
        transfers(&s)[1..],
        [(ms(4010), ms(4030)), (ms(4030), ms(4050))]
    );
    let counters = s.counters();
    assert_eq!(
        (counters.began, counters.completed),
        (Some(ms(0)), Some(ms(4050)))
    );
    assert_eq!(counters.acknowledged, 3 * FILE);
}

#[test]
fn on_the_same_connection_only_the_window_begins_afresh() {
    let mut s = sender(&files(|p| p.next_file = NextFile::SameConnection));
    sent(|out| s.start(ms(0), out));
    // Round trips of 40 ticks and of one tick: srtt8 = 328 - 40, rttvar4 = 82 + 40 - 20.
    acked(&mut s, ms(400), 2 * MSS);
    assert_eq!(acked(&mut s, ms(410), FILE), [(FILE, M)], "one segment");
    assert_eq!((s.cwnd(), s.ssthresh()), (MSS, 3 * MSS));
    assert_eq!(
        s.deadline(),
        ms(410 + 10 * (36 + 102)),
        "what was learnt is kept"
    );
    assert_eq!(transfers(&s), [(ms(0), ms(410))]);
}

#[test]
fn a_gap_passes_before_the_next_file_and_late_acks_do_not_shorten_it() {
    let mut s = sender(&files(|p| p.file_gap = Span::from_milliseconds(50)));
    sent(|out| s.start(ms(0), out));
    acked(&mut s, ms(10), 2 * MSS);
    assert_eq!(acked(&mut s, ms(20), FILE), []);
    assert_eq!(s.deadline(), ms(70));
    for late in [MSS, FILE] {
        assert_eq!(acked(&mut s, ms(30), late), []);
    }
    assert_eq!(sent(|out| s.on_timer(ms(69), out)), []);
    let next = FILE + 1;
    assert_eq!(
        sent(|out| s.on_timer(ms(70), out)),
        [(next, M), (next + MSS, M)]
    );
    assert_eq!(s.counters().timeouts, 0);
    acked(&mut s, ms(80), next + 2 * MSS);
    acked(&mut s, ms(90), next + FILE);
    assert_eq!(transfers(&s), [(ms(0), ms(20)), (ms(70), ms(90))]);
}

#[test]
fn no_file_begins_at_the_stop_or_later() {
    for (gap, files_begun) in [(9, 2), (10, 1), (11, 1)] {
        let params = files(|p| p.file_gap = Span::from_milliseconds(gap));
        let mut s = Sender::new(&params, Span::ZERO, ms(30), ALWAYS);
        sent(|out| s.start(ms(0), out));
        acked(&mut s, ms(10), 2 * MSS);
        acked(&mut s, ms(20), FILE);
        let due = s.deadline();
        if files_begun == 2 {
            assert_eq!(due, ms(29));
            assert_eq!(sent(|out| s.on_timer(due, out)).len(), 2);
        } else {
            assert_eq!(due, Time::NEVER);
        }
        assert_eq!(transfers(&s), [(ms(0), ms(20))]);
        assert_eq!(s.counters().completed, None, "of three files");
    }
}

#[test]
fn acks_of_an_earlier_connection_are_no_duplicates_of_the_next() {
    let mut s = sender(&files(|_| ()));
    sent(|out| s.start(ms(0), out));
    acked(&mut s, ms(10), 2 * MSS);
    acked(&mut s, ms(20), FILE);
    for _ in 0..5 {
        assert_eq!(acked(&mut s, ms(30), FILE), []);
    }
    assert_eq!(s.counters().duplicate_acks, 0);
    for _ in 0..3 {
        acked(&mut s, ms(40), FILE + 1);
    }
    assert_eq!(s.counters().fast_retransmits, 1, "its own are");
}

/// ACK numbers with which a receiver answers `segments`, and the bytes they deliver.
fn answers(r: &mut Receiver, segments: &[(u64, u32)]) -> (Vec<Option<u64>>, u64) {
    let mut outcome = SegmentOutcome::default();
    let acks = segments.iter().map(|&(seq, len)| {
        let ack = r.on_segment(ms(1), seq, len, &mut outcome);
        ack.map(|ack| ack.ack)
    });
    (acks.collect(), outcome.delivered)
}

#[test]
fn a_receiver_drops_what_comes_late_of_a_connection_that_is_over() {
    let mut r = Receiver::new(&files(|_| ()), Span::ZERO);
    let whole = [(0, M), (MSS, M), (2 * MSS, 7)];
    assert_eq!(
        answers(&mut r, &whole),
        (vec![Some(MSS), Some(2 * MSS), Some(FILE)], FILE)
    );
    // The end of a connection is acknowledged again as long as no later one is open.
    assert_eq!(answers(&mut r, &[(2 * MSS, 7)]), (vec![Some(FILE)], 0));
    let next = FILE + 1;
    // The second segment of the next connection comes first.
    let late = [(next + MSS, M), (0, M), (2 * MSS, 7), (next, M), (next, M)];
    let told = vec![
        Some(next),
        None,
        None,
        Some(next + 2 * MSS),
        Some(next + 2 * MSS),
    ];
    assert_eq!(answers(&mut r, &late), (told, 2 * MSS));
}

#[test]
fn on_the_same_connection_late_segments_are_duplicates() {
    let params = files(|p| p.next_file = NextFile::SameConnection);
    let mut r = Receiver::new(&params, Span::ZERO);
    let segments = [(0, M), (MSS, M), (2 * MSS, 7), (FILE, M), (0, M)];
    let (acks, bytes) = answers(&mut r, &segments);
    assert_eq!(acks[3..], [Some(FILE + MSS), Some(FILE + MSS)]);
    assert_eq!(bytes, FILE + MSS);
}

#[test]
fn a_handshake_precedes_the_data_and_is_a_sample() {
    let mut s = sender(&files(|p| p.handshake = true));
    assert_eq!(sent(|out| s.start(ms(0), out)), [(0, 0)]);
    assert_eq!(s.deadline(), ms(3000));
    assert_eq!(
        acked(&mut s, ms(400), 1),
        [(OPENED, 0), (1, M), (1 + MSS, M)],
        "the ACK, and the initial window"
    );
    // The sample is 40 ticks.
    assert_eq!(s.deadline(), ms(400 + 1230));
    acked(&mut s, ms(410), 1 + 2 * MSS);
    // The SYN of the next connection takes the number after the end of this one.
    let syn = 1 + FILE + 1;
    assert_eq!(acked(&mut s, ms(420), 1 + FILE), [(syn, 0)]);
    assert_eq!(
        acked(&mut s, ms(430), 1 + FILE),
        [],
        "a late ACK opens nothing"
    );
    assert_eq!(acked(&mut s, ms(440), syn + 1).len(), 3);
    acked(&mut s, ms(450), syn + 1 + 2 * MSS);
    acked(&mut s, ms(460), syn + 1 + FILE);
    assert_eq!(transfers(&s), [(ms(0), ms(420)), (ms(420), ms(460))]);
    assert_eq!(s.counters().acknowledged, 2 * FILE, "bytes of data alone");
    // Three SYNs and two times three segments.
    assert_eq!(s.counters().segments, 9);
}

#[test]
fn a_lost_syn_goes_again_at_the_timer_and_is_no_sample() {
    let mut s = sender(&files(|p| p.handshake = true));
    sent(|out| s.start(ms(0), out));
    assert_eq!(sent(|out| s.on_timer(ms(3000), out)), [(0, 0)]);
    assert_eq!(s.deadline(), ms(9000));
    let counters = s.counters();
    assert_eq!((counters.timeouts, counters.retransmitted_segments), (1, 1));
    assert_eq!(
        acked(&mut s, ms(3010), 1),
        [(OPENED, 0), (1, M)],
        "cwnd is one segment"
    );
    assert_eq!(s.deadline(), ms(3010 + 6000), "backed off (Karn)");
    assert_eq!(s.ssthresh(), 2 * MSS);
}

#[test]
fn after_the_stop_a_connection_still_opens_and_sends_nothing() {
    let params = files(|p| p.handshake = true);
    let mut s = Sender::new(&params, Span::ZERO, ms(5), ALWAYS);
    sent(|out| s.start(ms(0), out));
    assert_eq!(acked(&mut s, ms(10), 1), [(OPENED, 0)]);
    assert_eq!(s.deadline(), Time::NEVER);
    assert_eq!(transfers(&s), []);
    assert_eq!(s.counters().segments, 1, "what goes after the stop is none");
}

#[test]
fn a_receiver_answers_each_syn_and_the_fin_at_once() {
    let params = files(|p| {
        p.handshake = true;
        p.delayed_ack = Some(Span::from_milliseconds(200));
    });
    let mut r = Receiver::new(&params, Span::ZERO);
    let opening = [(0, 0), (0, 0), (OPENED, 0)];
    assert_eq!(answers(&mut r, &opening), (vec![Some(1), Some(1), None], 0));
    let data = [(1, M), (1 + MSS, M), (1 + 2 * MSS, 7)];
    assert_eq!(
        answers(&mut r, &data),
        (vec![None, Some(1 + 2 * MSS), Some(1 + FILE)], FILE)
    );
    // Late segments of the connection open nothing, whether before or after the SYN of the next
    // one.
    let syn = 1 + FILE + 1;
    let late = [
        (OPENED, 0),
        (syn, 0),
        (0, 0),
        (OPENED, 0),
        (1, M),
        (1 + MSS, M),
    ];
    let told = vec![None, Some(syn + 1), None, None, None, None];
    assert_eq!(answers(&mut r, &late), (told, 0));
    // Without a handshake the receiver cannot tell where a file ends.
    let plain = TcpParams {
        handshake: false,
        ..params
    };
    let mut r = Receiver::new(&plain, Span::ZERO);
    let data = [(0, M), (MSS, M), (2 * MSS, 7)];
    assert_eq!(answers(&mut r, &data).0, [None, Some(2 * MSS), None]);
    assert_eq!(r.deadline(), ms(200));
}

#[test]
fn fast_ticks_begin_with_the_coarse_ones_where_they_are_to() {
    for (phase, first) in [(TickPhase::Zero, 50), (TickPhase::Timer, 30)] {
        let params = TcpParams {
            delayed_ack: Some(Span::from_milliseconds(50)),
            delayed_ack_phase: phase,
            granularity: Span::from_milliseconds(200),
            ..params(Recovery::Reno)
        };
        // Coarse ticks are at 130 ms, 330 ms and so on; every fourth tick of the fast timer
        // coincides with one.
        let mut r = Receiver::new(&params, Span::from_milliseconds(130));
        assert_eq!(answers(&mut r, &[(0, M)]).0, [None]);
        assert_eq!(r.deadline(), ms(first));
    }
}

#[test]
fn bytes_are_acknowledged_within_the_measuring_time() {
    let measured = (ms(20), ms(40));
    let mut s = Sender::new(&params(Recovery::Reno), Span::ZERO, Time::NEVER, measured);
    let mut out = Vec::new();
    s.start(ms(0), &mut out);
    let mut told = Vec::new();
    // An ACK at the start of the measuring time counts, one at the end does not.
    for (at, segments) in [(10, 1), (20, 2), (30, 3), (40, 5)] {
        s.on_ack(ms(at), &ack_of(segments), &mut out);
        told.push(s.counters().acknowledged / MSS);
    }
    assert_eq!(told, [0, 1, 2, 2]);
}
