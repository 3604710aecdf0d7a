//! Tests of the gate.

use super::*;
use crate::ground::format::Clock;
use crate::ground::units::{Ratio, Span};
use crate::port::drop::testing;
use crate::testing::run_tally;
use crate::text::options::Kernel;
use crate::text::scenario::{
    DropPolicy, GcraForm, Police, PoliceAction, RedParams, Scenario, Threshold, read_toml,
};

const NOW: Time = Time(5);

impl Gate {
    /// Where the policy has not been asked.
    fn judge_anew(
        &mut self,
        now: Time,
        run: &Run,
        state: &mut FrameState,
        vc: u32,
        queue: &QueueView,
        idle_cells: Option<u64>,
    ) -> Judgement {
        self.judge(now, run, state, vc, queue, idle_cells, None)
    }
}

fn every_third(every_cell: bool) -> Policy {
    let policy = testing::EveryThird {
        every_cell,
        ..Default::default()
    };
    Policy::EveryThird(policy)
}

fn draws() -> Stream {
    Stream::new(1, 0, "port", "drop")
}

fn gate(policy: &DropPolicy, rest: RestOfFrame) -> Gate {
    let buffer = Some(10);
    let policy = Policy::new(policy, buffer, &[], Span::ZERO, Clock::AAL5);
    of_cells(buffer, None, policy, rest)
}

/// A gate of a queue that counts cells, of which 99 can leave in time.
fn of_cells(
    buffer: Option<u64>,
    policer: Option<Policer>,
    policy: Policy,
    rest: RestOfFrame,
) -> Gate {
    Gate::new(
        buffer,
        Counted::Cells(1),
        99,
        policer,
        policy,
        rest,
        draws(),
    )
}

fn epd(rest: RestOfFrame) -> Gate {
    let threshold = Some(Threshold::Cells(5));
    gate(
        &DropPolicy::Epd {
            threshold,
            reserve: Some(Threshold::Cells(0)),
        },
        rest,
    )
}

/// Cells `cell` .. `cell + n` of frame `frame`, which has 12.
fn run(frame: u32, cell: u32, n: u32) -> Run {
    Run {
        time: NOW,
        period: Span(1),
        n,
        frame,
        cell: cell.into(),
        flags: if cell + n == 12 { ENDS_FRAME } else { 0 },
        ..Run::default()
    }
}

fn queue(waiting: u64) -> QueueView {
    QueueView {
        waiting,
        ..QueueView::default()
    }
}

/// The buffer or the policy refuses the first of `cells` cells.
fn refused(reason: DropReason, cells: u32) -> Judgement {
    Judgement {
        refused: true,
        ..discarded(reason, cells)
    }
}

/// Cells of a frame that is already discarded, or a cell that is policed.
fn discarded(reason: DropReason, cells: u32) -> Judgement {
    Judgement::new(Verdict::Refuse(reason), cells)
}

const ACCEPT: Judgement = Judgement {
    verdict: Verdict::Accept,
    cells: 1,
    tagged: false,
    refused: false,
};

#[test]
fn a_refused_frame_is_dropped_whole_even_when_the_port_is_idle() {
    let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::default());
    let first = gate.judge_anew(NOW, &run(7, 0, 12), &mut state, 0, &queue(6), None);
    assert_eq!(first, refused(DropReason::Policy, 12));
    let later = gate.judge_anew(NOW, &run(7, 4, 8), &mut state, 0, &queue(0), Some(0));
    assert_eq!(later, discarded(DropReason::Policy, 8));
    let next = gate.judge_anew(NOW, &run(8, 0, 12), &mut state, 0, &queue(5), None);
    assert_eq!((next, state), (ACCEPT, FrameState::accepted(8)));
}

#[test]
fn a_frame_that_finds_the_port_idle_is_never_refused() {
    let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::default());
    let first = gate.judge_anew(NOW, &run(0, 0, 12), &mut state, 0, &queue(6), Some(0));
    assert_eq!(first, ACCEPT);
}

#[test]
fn the_policy_is_asked_at_the_first_cell_only() {
    let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::accepted(0));
    let later = gate.judge_anew(NOW, &run(0, 3, 2), &mut state, 0, &queue(9), None);
    assert_eq!(later, ACCEPT);
    let full = gate.judge_anew(NOW, &run(0, 4, 2), &mut state, 0, &queue(10), None);
    assert_eq!(full, refused(DropReason::Full, 1));
    assert_eq!(state.fate, Fate::Damaged);
}

#[test]
fn the_rest_of_a_damaged_frame_goes_as_the_setting_says() {
    for (rest, with_eom, room) in [
        (RestOfFrame::Accept, ACCEPT, ACCEPT),
        (
            RestOfFrame::DropButEom,
            discarded(DropReason::Rest, 3),
            ACCEPT,
        ),
        (
            RestOfFrame::Drop,
            discarded(DropReason::Rest, 4),
            discarded(DropReason::Rest, 1),
        ),
    ] {
        let mut gate = epd(rest);
        let damaged = || FrameState {
            frame: Some(0),
            fate: Fate::Damaged,
        };
        let mut state = damaged();
        assert_eq!(
            gate.judge_anew(NOW, &run(0, 8, 4), &mut state, 0, &queue(3), None),
            with_eom
        );
        let mut state = damaged();
        assert_eq!(
            gate.judge_anew(NOW, &run(0, 11, 1), &mut state, 0, &queue(3), None),
            room
        );
    }
}

#[test]
fn what_could_never_leave_is_overdue_and_not_merely_full() {
    let policy = Policy::new(&DropPolicy::TailDrop, None, &[], Span::ZERO, Clock::AAL5);
    let mut gate = Gate::new(
        None,
        Counted::Cells(1),
        6,
        None,
        policy,
        RestOfFrame::Accept,
        draws(),
    );
    assert_eq!(
        [false, true].map(|begins| gate.limits().fit(0, begins)),
        [6, 6]
    );
    let mut state = FrameState::default();
    let mut judge = |waiting, idle: bool| {
        let judged = gate.judge_anew(
            NOW,
            &run(0, 0, 12),
            &mut state,
            0,
            &queue(waiting),
            idle.then_some(0),
        );
        judged.verdict
    };
    assert_eq!([judge(5, false), judge(6, true)], [Verdict::Accept; 2]);
    assert_eq!(judge(6, false), Verdict::Overdue);
}

#[test]
fn single_cells_are_judged_one_by_one() {
    let (mut gate, mut state) = (epd(RestOfFrame::Accept), FrameState::default());
    let cells = Run {
        flags: ENDS_FRAME | crate::network::cells::SINGLE_CELLS,
        ..run(0, 0, 5)
    };
    let first = gate.judge_anew(NOW, &cells, &mut state, 0, &queue(6), None);
    assert_eq!(first, refused(DropReason::Policy, 1));
}

#[test]
fn a_policer_comes_before_the_policy_and_is_told_of_every_cell() {
    let contract = testing::contract(1_000_000, 2);
    for (action, verdicts) in [
        (PoliceAction::Tag, [Verdict::Accept; 4]),
        (
            PoliceAction::Drop,
            [
                Verdict::Accept,
                Verdict::Accept,
                Verdict::Refuse(DropReason::Police),
                Verdict::Refuse(DropReason::Police),
            ],
        ),
    ] {
        let form = GcraForm::LeakyBucket;
        let policer = Policer::new(&Police::Gcra { action, form }, &[Some(contract)]);
        let policy = Policy::new(&DropPolicy::TailDrop, None, &[], Span::ZERO, Clock::AAL5);
        let rest = RestOfFrame::Accept;
        let mut gate = of_cells(None, Some(policer), policy, rest);
        assert_eq!(
            [false, true].map(|begins| gate.limits().fit(0, begins)),
            [0, 0]
        );
        let mut state = FrameState::default();
        for (cell, verdict) in (0..).zip(verdicts) {
            let run = run(0, cell, 12 - cell);
            let judged = gate.judge_anew(NOW, &run, &mut state, 0, &queue(3), None);
            assert_eq!((judged.verdict, judged.cells), (verdict, 1));
            assert_eq!(judged.tagged, action == PoliceAction::Tag && cell >= 2);
        }
        let damaged = action == PoliceAction::Drop;
        assert_eq!(state.fate == Fate::Damaged, damaged);
    }
}

#[test]
fn the_rest_of_a_lost_frame_goes_at_once_unless_somebody_needs_each_of_its_cells() {
    let policed = Police::FGcra {
        action: PoliceAction::Tag,
    };
    for (police, cells) in [(None, 10), (Some(policed), 1)] {
        let contracts = [Some(testing::contract(1_000_000, 2))];
        let spec = DropPolicy::GcraEpd {
            threshold: Threshold::Cells(0),
            export_tag: false,
        };
        let policy = Policy::new(&spec, None, &contracts, Span::ZERO, Clock::AAL5);
        let policer = police.map(|spec| Policer::new(&spec, &contracts));
        let mut gate = of_cells(None, policer, policy, RestOfFrame::DropButEom);
        let mut state = FrameState {
            frame: Some(0),
            fate: Fate::Damaged,
        };
        let rest = gate.judge_anew(NOW, &run(0, 1, 11), &mut state, 0, &queue(3), None);
        assert_eq!(rest, discarded(DropReason::Rest, cells));
    }
}

#[test]
fn a_policy_can_push_out_what_waits_but_not_from_an_empty_queue() {
    let mut gate = gate(&DropPolicy::DropFromFront, RestOfFrame::Accept);
    let mut state = FrameState::default();
    let below = gate.judge_anew(NOW, &run(0, 0, 12), &mut state, 0, &queue(9), None);
    assert_eq!(below, ACCEPT);
    let full = gate.judge_anew(NOW, &run(0, 1, 11), &mut state, 0, &queue(10), None);
    assert_eq!(full.verdict, Verdict::PushOut);
    assert_eq!(state.fate, Fate::Accepted);
    assert_eq!(gate.threshold(DropReason::Front, 0, &queue(10)), Some(10.0));
}

#[test]
fn a_frame_can_be_pushed_out_and_only_drop_but_eom_spares_its_last_cell() {
    for (rest, spares) in [
        (RestOfFrame::Accept, false),
        (RestOfFrame::DropButEom, true),
        (RestOfFrame::Drop, false),
    ] {
        let mut gate = gate(&DropPolicy::FrameDropFromFront, rest);
        assert_eq!(gate.spares_eom(), spares);
        let mut state = FrameState::default();
        let mut judge = |waiting| {
            let judged = gate.judge_anew(NOW, &run(0, 0, 12), &mut state, 0, &queue(waiting), None);
            judged.verdict
        };
        assert_eq!(
            [judge(9), judge(10)],
            [Verdict::Accept, Verdict::PushOutFrame]
        );
    }
}

#[test]
fn a_cell_refused_alone_damages_its_frame_which_goes_on() {
    // p = 1 at X >= 1.
    let red = RedParams {
        min_th: Threshold::Cells(0),
        max_th: Threshold::Cells(1),
        ..testing::red(1, 1)
    };
    let mut gate = gate(&DropPolicy::CellRed(red), RestOfFrame::Accept);
    let mut state = FrameState::default();
    let first = gate.judge_anew(NOW, &run(0, 0, 12), &mut state, 0, &queue(1), None);
    assert_eq!(first, refused(DropReason::Policy, 1));
    assert_eq!(state.fate, Fate::Damaged);
    let later = gate.judge_anew(NOW, &run(0, 1, 11), &mut state, 0, &queue(0), None);
    assert_eq!(later, ACCEPT);
}

/// The average is X itself, 10, and min_th is 9, max_th 11: p = s, half of P for cells and frames alike.
fn red_at_a_full_buffer(policy: impl Fn(RedParams) -> DropPolicy) -> Vec<Verdict> {
    let red = RedParams {
        min_th: Threshold::Cells(9),
        max_th: Threshold::Cells(11),
        max_p: Ratio::new(1, 1),
        segment_cells: None,
        ..testing::red(1, 1)
    };
    let mut gate = gate(&policy(red), RestOfFrame::Accept);
    let view = QueueView {
        waiting: 10,
        waiting_of_vc: 10,
        active_vcs: 1,
    };
    let frames = 0..8;
    frames
        .map(|frame| {
            let cell = run(frame, 0, 12).first(1);
            let mut state = FrameState::default();
            gate.judge_anew(NOW, &cell, &mut state, 0, &view, None)
                .verdict
        })
        .collect()
}

// RED decides about each arrival, before the buffer is looked at: p = 1/2 for each of eight first cells.
#[test]
fn red_decides_and_draws_about_cells_that_find_the_buffer_full() {
    let expected: Vec<Verdict> = (0..8)
        .map(|n| match draws().unit(n) < 0.5 {
            true => Verdict::Refuse(DropReason::Policy),
            false => Verdict::Refuse(DropReason::Full),
        })
        .collect();
    assert!(expected.contains(&Verdict::Refuse(DropReason::Full)));
    assert!(expected.contains(&Verdict::Refuse(DropReason::Policy)));
    assert_eq!(red_at_a_full_buffer(DropPolicy::CellRed), expected);
    assert_eq!(red_at_a_full_buffer(DropPolicy::PacketRed), expected);
}

#[test]
fn a_policy_that_was_asked_before_is_not_asked_again() {
    let third = every_third(true);
    let mut gate = of_cells(Some(10), None, third, RestOfFrame::Accept);
    assert!(gate.asks_policy_alone() && gate.room(0) == 10);
    let mut state = FrameState::default();
    for cell in 0..2 {
        let decision = gate.ask_policy(&run(0, cell, 1), cell == 0, 0, &queue(1), None);
        assert_eq!(decision, Decision::Accept);
    }
    let decided = gate.ask_policy(&run(0, 2, 1), false, 0, &queue(1), None);
    let (cells, view) = (run(0, 2, 10), queue(1));
    let judged = gate.judge(NOW, &cells, &mut state, 0, &view, None, Some(decided));
    // The first cell that the gate has seen itself.
    assert_eq!(judged, refused(DropReason::Policy, 1));
    let Policy::EveryThird(rule) = &gate.policy else {
        unreachable!("it was made of one")
    };
    assert_eq!((rule.asked, rule.lost), (3, 0));
}

#[test]
fn a_policy_that_looks_at_every_cell_is_told_of_each_and_keeps_state() {
    // Refuses every third cell that it is asked about.
    let third = every_third(true);
    let mut gate = of_cells(Some(10), None, third, RestOfFrame::DropButEom);
    assert_eq!(
        [false, true].map(|begins| gate.limits().fit(0, begins)),
        [0, 0]
    );
    let mut state = FrameState::default();
    let mut verdicts = Vec::new();
    for cell in 0..12 {
        let run = run(0, cell, 12 - cell);
        let judged = gate.judge_anew(
            NOW,
            &run,
            &mut state,
            0,
            &queue(1),
            (cell == 0).then_some(0),
        );
        assert_eq!(judged.cells, 1);
        verdicts.push(judged.verdict);
    }
    let rest = Verdict::Refuse(DropReason::Rest);
    assert_eq!(verdicts[..2], [Verdict::Accept; 2]);
    assert_eq!(verdicts[2], Verdict::Refuse(DropReason::Policy));
    assert_eq!(verdicts[3..11], [rest; 8]);
    // The EOM is spared, but it is the twelfth.
    assert_eq!(verdicts[11], Verdict::Refuse(DropReason::Policy));
    let Policy::EveryThird(rule) = &gate.policy else {
        unreachable!("it was made of one")
    };
    assert_eq!((rule.asked, rule.lost), (12, 8));
}

/// So many senders over a link to a west switch, and on over a line of `rate`.
fn line(senders: u32, traffic: &str, rate: &str) -> Scenario {
    let text = format!(
        r#"
duration = "50 ms"
host = [{{ name = "source", count = {senders} }}, {{ name = "sink", count = {senders} }}]
switch = [
    {{ name = "west", ubr = {{ buffer = "60 cells", drop = "tail-drop" }} }},
    {{ name = "east", ubr = {{ buffer = "60 cells", drop = "tail-drop" }} }},
]
link = [
    {{ from = "source", to = "west", rate = "150 Mbps", delay = "5 us" }},
    {{ from = "west", to = "east", rate = "{rate}", delay = "200 us" }},
    {{ from = "east", to = "sink", rate = "100 Mbps", delay = "5 us" }},
]
vc = [{{ from = "source", to = "sink", class = "ubr", traffic = {traffic} }}]
"#
    );
    read_toml(&text, "line", &[]).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn a_policy_that_tells_no_bound_is_asked_by_all_kernels_alike() {
    let mut refused = 0;
    for (senders, traffic) in [
        (3, r#"{ kind = "tcp", mss = "536 bytes" }"#),
        (
            3,
            r#"{ kind = "tcp", mss = "9140 bytes", granularity = "1 ms" }"#,
        ),
        (3, r#"{ kind = "udp", rate = "40 Mbps" }"#),
        (2, r#"{ kind = "udp" }"#),
        (3, r#"{ kind = "cbr", rate = "13.5 Mbps" }"#),
        (2, r#"{ kind = "cbr", rate = "75 Mbps" }"#),
        // Each cell comes when the one before has left.
        (1, r#"{ kind = "cbr", rate = "100 Mbps" }"#),
        (3, r#"{ kind = "poisson", rate = "20 Mbps" }"#),
    ] {
        for rate in ["33.92 Mbps", "100 Mbps", "150 Mbps", "622.08 Mbps"] {
            for (arrival_first, every_cell) in
                [(true, false), (false, false), (true, true), (false, true)]
            {
                let mut net = line(senders, traffic, rate);
                net.arrival_first = arrival_first;
                let run = |kernel| {
                    testing::instead_of_tail_drop(every_third(every_cell), || {
                        run_tally(&net, None, kernel, false)
                    })
                };
                let twin = run(Kernel::Twin).expect("it runs");
                let dropped = twin.ports.iter().flatten().map(|port| port.dropped());
                refused += dropped.map(|cells| cells[DropReason::Policy]).sum::<u64>();
                for kernel in [Kernel::Auto, Kernel::Slotted] {
                    let found = run(kernel).expect("it runs");
                    let what = (kernel, senders, traffic, rate, arrival_first, every_cell);
                    assert_eq!(found.ports, twin.ports, "{what:?}");
                    assert_eq!(found.link_cells, twin.link_cells, "{what:?}");
                }
            }
        }
    }
    assert!(refused > 10_000, "{refused}");
}
