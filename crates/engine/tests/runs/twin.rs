//! Tests the twin alone: runs computed by hand from the model page, and counters on random
//! scenarios.
//!
//! The twin checks conservation at every cell event of every port and, per VC direction, at the
//! end.

use crate::common;
use crate::common::build::{self, OC3};
use crate::common::build::{ms, us};
use crate::common::random;
use cellyard_engine::format::Format;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{DropReason, FlowId, Step, Stream, digest, run_twin};
use cellyard_engine::units::{BitRate, Span, Time};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Ticks of a cell at OC3.
fn cell() -> u64 {
    Format::AAL5.cell_time(OC3).0
}

/// Sum of the digests of transmissions (link, tick, flow, frame, cell).
fn digest_of(transmissions: &[(usize, u64, u32, u32, u32)]) -> u64 {
    transmissions
        .iter()
        .map(|&(link, tick, flow, frame, cell)| digest(link, Time(tick), FlowId(flow), frame, cell))
        .fold(0, u64::wrapping_add)
}

/// One cell source per start, each on its own host, into one port. Cells of a source are 1000 cell
/// times apart.
fn single_cells(starts: &[u64], buffer: u64, duration: u64) -> Scenario {
    let mut net = build::network(Span(duration));
    net.switches = vec![build::switch("s", Some(buffer), DropPolicy::TailDrop)];
    net.hosts = vec![build::host("b")];
    net.links = vec![build::link("s", "b", OC3, Span::ZERO)];
    net.links.push(build::link("b", "s", OC3, Span::ZERO));
    for (i, start) in starts.iter().enumerate() {
        let a = format!("a{i}");
        net.hosts.push(build::host(&a));
        net.links.extend(build::links(&a, "s", OC3, Span::ZERO));
        let traffic = build::cbr(BitRate(OC3.0 / 1000));
        let name = format!("v{i}");
        let mut vc = build::vc(&name, &a, "b", &["s"], Class::Ubr, traffic);
        vc.start = Span(*start);
        net.vcs.push(vc);
    }
    net
}

#[test]
fn one_segment_and_its_ack_leave_every_link_at_the_computed_ticks() {
    let c = cell();
    let d = us(5).0;
    let mut net = build::network(ms(1));
    net.hosts = ["a", "b"].map(build::host).into();
    net.switches = vec![build::switch("s", Some(10), DropPolicy::TailDrop)];
    net.links.extend(build::links("a", "s", OC3, Span(d)));
    net.links.extend(build::links("s", "b", OC3, Span(d)));
    let tcp = TcpParams {
        mss: 40, // 96 bytes with all headers: two cells
        file_size: Some(40),
        ..build::tcp()
    };
    let traffic = Traffic::Tcp(Box::new(tcp));
    net.vcs = vec![build::vc("v", "a", "b", &["s"], Class::Ubr, traffic)];

    let tally = run_twin(&net, None);
    let expected = digest_of(&[
        (0, c, 0, 0, 0),
        (0, 2 * c, 0, 0, 1),
        (2, 2 * c + d, 0, 0, 0),
        (2, 3 * c + d, 0, 0, 1),
        (3, 4 * c + 2 * d, 1, 0, 0),
        (3, 5 * c + 2 * d, 1, 0, 1),
        (1, 5 * c + 3 * d, 1, 0, 0),
        (1, 6 * c + 3 * d, 1, 0, 1),
    ]);
    assert_eq!(tally.digest, Some(expected));
    assert_eq!(tally.vcs[0].delivered_bytes, 40);
    let delay = &tally.vcs[0].delay;
    assert_eq!(
        (delay.count, delay.min, delay.max),
        (2, c + 2 * d, c + 2 * d)
    );
    assert_eq!(
        tally.ports,
        vec![None; 4],
        "one input as fast as the output"
    );
}

#[test]
fn cells_of_one_instant_go_in_tie_order() {
    let c = cell();
    // Three cells reach the port at c and leave at 2c, 3c, 4c.
    let order = |net: &Scenario| {
        let tally = run_twin(net, None);
        let orders = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let found = orders.into_iter().find(|order| {
            let mut all: Vec<_> = (0..3)
                .map(|v: u32| (2 + 2 * v as usize, c, 2 * v, 0, 0))
                .collect();
            let left = order.iter().zip(2..);
            all.extend(left.map(|(&v, slot)| (0, slot * c, 2 * v, 0, 0)));
            tally.digest == Some(digest_of(&all))
        });
        found.expect("each cell leaves once")
    };
    let mut net = single_cells(&[0, 0, 0], 10, 10 * c);
    net.tie_order = TieOrder::Fixed;
    assert_eq!(order(&net), [0, 1, 2]);
    net.tie_order = TieOrder::Rotating;
    // floor(t / cell time) = 1.
    for (offset, expected) in [(0, [1, 2, 0]), (1, [2, 0, 1]), (2, [0, 1, 2])] {
        net.tie_offset = offset;
        assert_eq!(order(&net), expected);
    }
    net.tie_order = TieOrder::Random;
    let keys = Stream::new(net.seed, 0, "s-b", "tie");
    let mut expected = [0, 1, 2];
    expected.sort_by_key(|&i| keys.bits(c * 3 + i as u64));
    assert_eq!(order(&net), expected);
}

/// Three sources bring a cell in every cell time, in step, to a port with room for one waiting cell.
/// One cell leaves in each. Worked by hand: at the first instant a starts, b waits and c is refused,
/// so the order becomes c a b. At the second, the queue is full before the departure, all are
/// refused, and the tie is not contested. With departures first, c is accepted, a and b are refused,
/// and c goes to the back: a b c. Then a wins, then b, and so on.
#[test]
fn a_fair_order_gives_each_place_to_the_input_that_won_longest_ago() {
    let c = cell();
    let rows = |instants: u64, arrival_first: bool| {
        let mut net = single_cells(&[0, 0, 0], 1, (instants + 1) * c);
        for vc in &mut net.vcs {
            vc.traffic = build::cbr(net.links[0].rate);
        }
        (net.tie_order, net.arrival_first) = (TieOrder::Fair, arrival_first);
        let tally = run_twin(&net, None);
        let port = tally.ports[0].clone().unwrap();
        port.refusals
            .iter()
            .map(|r| (r.all, r.tied))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(1, false), [(0, 0), (0, 0), (1, 1)]);
    assert_eq!(rows(2, false), [(1, 1), (1, 1), (1, 1)]);
    assert_eq!(rows(3, false), [(1, 1), (2, 2), (2, 2)]);
    assert_eq!(rows(4, false), [(2, 2), (2, 2), (3, 3)]);
    assert_eq!(rows(5, false), [(3, 3), (3, 3), (3, 3)]);
    // Arrivals first: the place is free again only after the instant.
    assert_eq!(rows(2, true), [(1, 0), (1, 0), (2, 1)]);
}

#[test]
fn coincident_departure_makes_room_only_when_it_goes_first() {
    let c = cell();
    // At c one cell starts and one waits. The third comes at 2c, when the first leaves.
    let mut net = single_cells(&[0, 0, c], 1, 10 * c);
    for (arrival_first, dropped) in [(true, 1), (false, 0)] {
        net.arrival_first = arrival_first;
        let tally = run_twin(&net, None);
        let port = tally.ports[0].as_ref().unwrap();
        assert_eq!(port.dropped()[DropReason::Full], dropped);
        assert_eq!(port.queue_time, u128::from(c * (2 - dropped)));
        assert_eq!(port.max_queue, 1);
    }
}

#[test]
fn nothing_counts_at_or_after_the_end() {
    let c = cell();
    let at = |duration| {
        let tally = run_twin(&single_cells(&[0, 0], 10, duration), None);
        let port = tally.ports[0].clone().unwrap();
        (tally.link_cells[0], port.held, port.arrived())
    };
    assert_eq!(at(c), (0, 0, 0));
    assert_eq!(at(c + 1), (0, 2, 2));
    assert_eq!(at(2 * c), (0, 2, 2));
    assert_eq!(at(2 * c + 1), (1, 1, 2));
    assert_eq!(at(3 * c + 1), (2, 0, 2));
}

#[test]
fn replications_draw_starts_from_their_named_stream() {
    let c = cell();
    let mut net = single_cells(&[0], 10, 500 * c);
    net.ensemble.start_jitter = Span(100 * c);
    for (replication, number) in [(None, 0), (Some(0), 0), (Some(7), 7)] {
        let drawn = Stream::new(net.seed, number, "v0", "start").below(0, 100 * c);
        let start = if replication.is_some() { drawn } else { 0 };
        let expected = digest_of(&[(2, start + c, 0, 0, 0), (0, start + 2 * c, 0, 0, 0)]);
        assert_eq!(run_twin(&net, replication).digest, Some(expected));
    }
}

/// Without an ensemble, or without `vbr_phase`, bursts begin at the start.
#[test]
fn replications_draw_the_phase_of_bursts_evenly_over_the_period() {
    let c = cell();
    let mut net = single_cells(&[0], 10, 500 * c);
    net.vcs[0].traffic = build::vbr(net.links[0].rate, Span(c), Span(199 * c));
    let period = 200 * c;
    let runs = |net: &Scenario, replication| {
        let expected = |start| {
            let cell = |k: u64, at| [(2, at + c, 0, k as u32, 0), (0, at + 2 * c, 0, k as u32, 0)];
            let starts = (0..3).map(|k| start + k * period);
            let all: Vec<_> = (0..).zip(starts).flat_map(|(k, at)| cell(k, at)).collect();
            let within = all
                .into_iter()
                .filter(|e| e.1 < 500 * c)
                .collect::<Vec<_>>();
            digest_of(&within)
        };
        (run_twin(net, replication).digest, expected)
    };
    let (found, expected) = runs(&net, Some(3));
    assert_eq!(found, Some(expected(0)));
    net.ensemble.vbr_phase = true;
    let (found, expected) = runs(&net, None);
    assert_eq!(found, Some(expected(0)));
    for replication in [0, 1, 7] {
        let start = Stream::new(net.seed, 0, "v0", "vbr-phase")
            .spread(replication, Step::Silver)
            .below(period);
        let (found, expected) = runs(&net, Some(replication));
        assert_eq!(found, Some(expected(start)));
    }
}

#[test]
fn a_cell_time_is_rounded_up_to_a_whole_number_of_ticks() {
    let rate = BitRate(7_000_003);
    let arrival = cell();
    let mut net = single_cells(&[0, 0], 10, 1000 * arrival);
    net.links[0].rate = rate;
    net.tie_order = TieOrder::Fixed;
    let takes = (424 * 25_272_000_000_000u64).div_ceil(rate.0);
    let ends = [1, 2].map(|k| arrival + k * takes);
    let expected = digest_of(&[
        (2, arrival, 0, 0, 0),
        (4, arrival, 2, 0, 0),
        (0, ends[0], 0, 0, 0),
        (0, ends[1], 2, 0, 0),
    ]);
    assert_eq!(run_twin(&net, None).digest, Some(expected));
}

#[test]
fn a_refused_frame_stays_refused_when_the_port_has_become_idle() {
    let c = cell();
    // EPD with threshold 0. At c the cell of v0 is in service and that of v1 waits. The frame of v2
    // begins at 2c and finds X = 1 > 0. Even its last cell is refused, long after the port is idle.
    let mut net = single_cells(&[0, 0], 10, 100 * c);
    let epd = build::epd(0);
    net.switches[0] = build::switch("s", Some(10), epd);
    net.hosts.push(build::host("a2"));
    net.links.extend(build::links("a2", "s", OC3, Span::ZERO));
    let traffic = Traffic::Tcp(Box::new(build::tcp()));
    let mut vc = build::vc("v2", "a2", "b", &["s"], Class::Ubr, traffic);
    vc.start = Span(c);
    net.vcs.push(vc);
    let tally = run_twin(&net, None);
    let port = tally.ports[0].as_ref().unwrap();
    assert_eq!(port.dropped()[DropReason::Policy], 12);
    assert_eq!(port.sent(), 2);
}

proptest! {
    #![proptest_config(common::config(300))]

    #[test]
    fn books_balance_and_runs_repeat(case in random::cases(3_000)) {
        let first = run_twin(&case.scenario, case.replication);
        let again = run_twin(&case.scenario, case.replication);
        let differ = common::differences(&first, &again);
        prop_assert!(differ.is_empty(), "{differ}");
    }
}

/// The random scenarios must cover everything worth testing.
///
/// They must drop for every reason, time out, retransmit, damage frames, and lose last cells of
/// frames. They must also end with frames in flight and queue in several classes.
#[test]
fn random_scenarios_make_everything_happen() {
    let mut runner = TestRunner::deterministic();
    let strategy = random::cases(3_000);
    let runs = 400;
    let mut reasons = vec![0usize; DropReason::ALL.len()];
    let mut seen = [0usize; 10];
    for _ in 0..runs {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let tally = run_twin(&case.scenario, case.replication);
        let ports = || tally.ports.iter().flatten();
        for (count, &reason) in reasons.iter_mut().zip(DropReason::ALL) {
            *count += usize::from(ports().any(|p| p.dropped()[reason] > 0));
        }
        let tcps = || tally.vcs.iter().filter(|v| v.sender.segments > 0);
        let happened = [
            tally.flows.iter().any(|f| f.frames_damaged > 0),
            tally.flows.iter().any(|f| f.frames_lost > f.frames_damaged),
            tally
                .flows
                .iter()
                .any(|f| f.frames_sent > f.frames_delivered + f.frames_lost),
            tcps().any(|v| v.sender.timeouts > 0),
            tcps().any(|v| v.sender.fast_retransmits > 0),
            tcps().any(|v| v.sender.segments > 50),
            ports().any(|p| p.max_queue > 20),
            ports().any(|p| p.classes.iter().filter(|c| c.max_queue > 0).count() > 1),
            // Every second flow carries the returning frames.
            tally
                .flows
                .iter()
                .skip(1)
                .step_by(2)
                .any(|f| f.cells_dropped > 0),
            tally
                .vcs
                .iter()
                .any(|v| v.delay.count > 0 && v.delay.max > v.delay.min),
        ];
        for (count, happened) in seen.iter_mut().zip(happened) {
            *count += usize::from(happened);
        }
    }
    println!("{reasons:?} {seen:?}");
    assert!(seen.iter().all(|&n| n >= runs / 50), "{seen:?} of {runs}");
    for (count, reason) in reasons.into_iter().zip(DropReason::ALL) {
        assert!(count >= runs / 50, "{count} of {runs} drop for {reason:?}");
    }
}
