//! Schedulers as programs: those of the examples serve as the schedulers that they restate, and
//! engine and twin agree on random ones.

use crate::common;
use crate::common::engines::agrees;
use crate::common::formats::{in_ethernet, mtus};
use crate::common::random::{self, Case};
use crate::oracle_programs::{Words, Writer, engines_agree_or_stop, queues_of, schedulers_of};
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{run_tally, run_twin};
use cellyard_engine::{Kernel, RunError};
use proptest::prelude::*;
use serde_json::json;

/// The scheduler of the example `name`.
fn example(name: &str) -> WrittenScheduler {
    let text = match name {
        "fifo" => include_str!("../../../../python/cellyard/examples/program-scheduler-fifo.toml"),
        "strict-priority" => {
            include_str!(
                "../../../../python/cellyard/examples/program-scheduler-strict-priority.toml"
            )
        }
        "bytes" => {
            include_str!("../../../../python/cellyard/examples/program-scheduler-bytes.toml")
        }
        _ => include_str!("../../../../python/cellyard/examples/program-scheduler-per-vc.toml"),
    };
    let scenario = read_toml(text, name, &[]).expect("the examples are right");
    let switch = scenario.switches.iter().find(|s| s.name == "west");
    match &switch.expect("it is there").scheduler {
        Scheduler::Program(scheduler) => scheduler.written.clone(),
        other => panic!("{other:?} is no program"),
    }
}

/// The program of the example that restates `scheduler`.
fn restated(scheduler: &Scheduler) -> Scheduler {
    let written = match *scheduler {
        Scheduler::Fifo => example("fifo"),
        Scheduler::StrictPriority => example("strict-priority"),
        Scheduler::PerVc { class, unit } => WrittenScheduler {
            class: Some(class),
            ..example(if unit == TurnUnit::Byte {
                "bytes"
            } else {
                "per-vc"
            })
        },
        ref other => panic!("{other:?} has no example"),
    };
    Scheduler::Program(ProgramScheduler::try_from(written).expect("the example is right"))
}

/// A random network whose ports have the scheduler that `make` turns each into. No VC has a
/// guarantee, and no policy pushes cells out.
pub fn with_schedulers(mut case: Case, make: impl Fn(&Scheduler) -> Scheduler) -> Case {
    for scheduler in schedulers_of(&mut case.scenario) {
        *scheduler = make(scheduler);
    }
    for vc in &mut case.scenario.vcs {
        vc.guarantee = None;
    }
    for queue in queues_of(&mut case.scenario) {
        let pushes = matches!(
            queue.drop,
            DropPolicy::DropFromFront | DropPolicy::FrameDropFromFront
        );
        if pushes {
            queue.drop = DropPolicy::TailDrop;
        }
    }
    case
}

/// The scheduler that has an example instead of this one.
fn restatable(scheduler: &Scheduler) -> Scheduler {
    match *scheduler {
        Scheduler::PerVc { class, .. } | Scheduler::GuaranteedRate { class, .. } => {
            Scheduler::PerVc {
                class,
                unit: TurnUnit::Cell,
            }
        }
        Scheduler::Program(_) => Scheduler::Fifo,
        ref other => other.clone(),
    }
}

proptest! {
    #![proptest_config(common::config(300))]

    #[test]
    fn the_examples_serve_as_the_schedulers_they_restate(
        case in random::cases(3_000), mtu in mtus(), by_length: bool,
    ) {
        let mut case = if by_length {
            with_schedulers(in_ethernet(case, mtu, false), by_bytes)
        } else {
            with_schedulers(case, restatable)
        };
        // The unit of the examples is exact for weights from 1 to 6.
        for vc in &mut case.scenario.vcs {
            vc.weight = 1 + (vc.weight - 1) % 6;
        }
        let expected = run_twin(&case.scenario, case.replication);
        let case = with_schedulers(case, restated);
        for kernel in [Kernel::Auto, Kernel::Twin] {
            let found = run_tally(&case.scenario, case.replication, kernel, true);
            let found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let differ = common::differences(&found, &expected);
            prop_assert!(
                differ.is_empty(),
                "{kernel:?} (left) is not the scheduler (right)\n{differ}"
            );
        }
        engines_agree_or_stop(&case)?;
    }
}

/// A scheduler with shares in bytes in place of this one.
fn by_bytes(scheduler: &Scheduler) -> Scheduler {
    let class = match *scheduler {
        Scheduler::PerVc { class, .. } | Scheduler::GuaranteedRate { class, .. } => class,
        Scheduler::Fifo | Scheduler::Program(_) => Class::Ubr,
        Scheduler::StrictPriority => return Scheduler::StrictPriority,
    };
    Scheduler::PerVc {
        class,
        unit: TurnUnit::Byte,
    }
}

proptest! {
    #![proptest_config(common::config(500))]

    #[test]
    fn engine_and_twin_agree_on_shares_in_bytes(case in random::cases(3_000), mtu in mtus(), equal: bool) {
        agrees(&with_schedulers(in_ethernet(case, mtu, equal), by_bytes))?;
    }
}

/// Words of schedulers.
const WORDS: Words = Words {
    names: &[
        "arrival",
        "waiting",
        "weight",
        "number",
        "class_rank",
        "length",
        "places",
    ],
    calls: &["-waiting", "-arrival", "min(seen, number)"],
    truths: &["flag", "true", "false"],
    first: "waiting",
    verdicts: &[],
};

/// A random scheduler as the reader takes it; `None` if it does not.
pub fn random_scheduler(seed: u64) -> Option<Scheduler> {
    let mut writer = Writer::new(seed, WORDS);
    let owner = writer.pick(&["queue", "vc"]);
    let of_avg = writer.pick(&["queue", "vc"]);
    let class = writer.pick(&[None, Some("ubr"), Some("vbr"), Some("gfr")]);
    let mut text = |once_in| {
        let is_absent = writer.draws.below(once_in) == 0;
        (!is_absent).then(|| writer.statements())
    };
    let (arrive, served) = (text(4), text(4));
    let record = json!({
        "kind": "program",
        "class": class,
        "state": format!("{owner} state seen = 0; {of_avg} state avg = 0.0\nvc state flag = false"),
        "arrive": arrive,
        "served": served,
        "rank": writer.number(),
        "R": { "cells": writer.draws.below(20) },
        "Z": { "number": { "num": writer.draws.below(30), "den": 10 } },
        "T": { "time": writer.draws.below(1_000_000) },
    });
    serde_json::from_value(record).ok()
}

proptest! {
    #![proptest_config(common::config(800))]

    #[test]
    fn engine_and_twin_agree_on_random_schedulers(case in random::cases(1_500), seed in any::<u64>()) {
        if let Some(scheduler) = random_scheduler(seed) {
            engines_agree_or_stop(&with_schedulers(case, |_| scheduler.clone()))?;
        }
    }
}

#[test]
fn most_random_schedulers_are_read() {
    let read = (0..1000).filter(|&seed| random_scheduler(seed).is_some());
    let read = read.count();
    assert!(read > 500, "{read} of 1000 are read");
}

/// The example of fair queueing with another text or parameter, or what the reader says.
fn changed(field: &str, text: &str) -> Result<Scenario, String> {
    let source = include_str!("../../../../python/cellyard/examples/program-scheduler-per-vc.toml");
    let path = format!("switch.west.scheduler.{field}");
    let text = json!(text).to_string();
    let read = read_toml(source, "per-vc", &[(path, text)]);
    read.map_err(|problems| problems.iter().map(|p| format!("{p}\n")).collect())
}

#[test]
fn a_text_that_fails_ends_the_run_at_its_place() {
    for (field, text, expected) in [
        (
            "rank",
            "S / (weight - 1)",
            "the program `rank` of the scheduler of west->east fails at line 1, column 3: division by zero\n    S / (weight - 1)\n      ^",
        ),
        (
            "served",
            "v = S\nS = S + floor(unit / (weight - weight))",
            "the program `served` of the scheduler of west->east fails at line 2, column 20: division by zero\n    S = S + floor(unit / (weight - weight))\n                       ^",
        ),
    ] {
        let scenario = changed(field, text).expect("it is right");
        for kernel in [Kernel::Auto, Kernel::Twin] {
            let error = run_tally(&scenario, None, kernel, false).expect_err("it fails");
            assert!(matches!(error, RunError::Program { .. }));
            assert_eq!(error.to_string(), expected, "{kernel:?}");
        }
    }
}

#[test]
fn the_reader_points_at_the_mistake() {
    for (field, text, expected) in [
        (
            "rank",
            "S + wait",
            "unknown name `wait` (column 5); did you mean `waiting`?\n    S + wait\n        ^",
        ),
        (
            "rank",
            "S = 3",
            "expected an operator or the end, not `=` (column 3)",
        ),
        (
            "rank",
            "S > v",
            "a rank is a number, not a truth value (column 3)",
        ),
        (
            "rank",
            "draw()",
            "`draw` does not exist in a scheduler (column 1)",
        ),
        (
            "served",
            "x = 1\nS = S + floor(unit)",
            "`x` is assigned but never used (line 1, column 1)",
        ),
        ("served", "accept", "`accept` is no statement (column 1)"),
        (
            "served",
            "S = S + 1",
            "unused parameter: the program does not read it",
        ),
        ("arrive", "S = max(S, w)", "unknown name `w` (column 12)"),
        (
            "state",
            "queue state v = 0; S = 0",
            "expected `queue state` or `vc state`, not `S` (column 20)",
        ),
        (
            "state",
            "queue state weight = 0",
            "`weight` is a name of the language (column 13)",
        ),
        (
            "unit",
            "0.5 K",
            "a scheduler has no buffer to be a fraction of",
        ),
        ("ranks", "3 cells", "did you mean `rank`?"),
    ] {
        let found = changed(field, text).expect_err(text);
        assert!(found.contains(expected), "{field} = {text}: {found}");
    }
}

#[test]
fn a_scheduler_is_written_as_it_was_read() {
    for name in ["fifo", "strict-priority", "per-vc"] {
        let mut scenario = changed("rank", "S").expect("it is right");
        let written = ProgramScheduler::try_from(example(name)).expect("it is right");
        scenario.switches[1].scheduler = Scheduler::Program(written);
        let text = write_toml(&scenario);
        let again = read_toml(&text, name, &[]).expect("it can be read");
        assert_eq!(again, scenario, "{text}");
    }
}

/// Cells of one input that arrive as the cell before them leaves do not wait.
#[test]
fn no_text_runs_at_a_port_that_cannot_queue() {
    let source = include_str!("../../../../python/cellyard/examples/program-scheduler-per-vc.toml");
    let fails = r#"{ kind = "program", state = "vc state a = 0.0", served = "a = 1.0 / waiting", rank = "0" }"#;
    let changes = [
        ("link.east->sink1.scheduler", fails),
        ("link.east->sink1.lose_frames", "[0]"),
        ("duration", "\"100 ms\""),
    ];
    let changes = changes.map(|(path, text)| (path.to_string(), text.to_string()));
    let scenario = read_toml(source, "it", &changes).expect("it is right");
    for kernel in [Kernel::Auto, Kernel::Twin] {
        let ran = run_tally(&scenario, Some(0), kernel, true);
        assert!(ran.is_ok(), "{kernel:?}: {:?}", ran.err());
    }
}

/// By hand from section 6 of the model page. Both VCs always have packets of 1288 bytes waiting, which
/// take 1.0304 ms. After one of another class, the tags of `a` are 0, 1, those of `b` 0, 1/3, 2/3, 1:
/// so a, b, b, b, and then `a` again, which is named first. With five packets, `a` has had two.
#[test]
fn a_vc_wins_its_ties_with_any_weights() {
    const TEXT: &str = r#"
duration = "7200 us"
format = "ethernet"
host = [{ name = "first" }, { name = "a" }, { name = "b" }, { name = "z" }]
switch = [{ name = "s", scheduler = "per-vc" }]
link = [
    { from = "first", to = "s", rate = "1 Gbps" },
    { from = "a", to = "s", rate = "1 Gbps" },
    { from = "b", to = "s", rate = "1 Gbps" },
    { name = "out", from = "s", to = "z", rate = "10 Mbps" },
]
[[vc]]
from = "first"
to = "z"
class = "cbr"
stop = "1 us"
traffic = { kind = "udp", datagram_size = "1222 bytes" }
[[vc]]
from = "a"
to = "z"
weight = 1
traffic = { kind = "udp", datagram_size = "1222 bytes", rate = "1 Gbps" }
[[vc]]
from = "b"
to = "z"
weight = 3
traffic = { kind = "udp", datagram_size = "1222 bytes", rate = "1 Gbps" }
"#;
    let built_in = read_toml(TEXT, "", &[]).expect("it is right");
    let mut restating = built_in.clone();
    for scheduler in schedulers_of(&mut restating) {
        *scheduler = restated(scheduler);
    }
    for (name, engine) in common::engines::ALL {
        for scenario in [&built_in, &restating] {
            let delivered = engine(scenario, None).vcs;
            let packets = delivered.iter().map(|vc| vc.delivered_bytes / 1222);
            assert_eq!(packets.collect::<Vec<_>>(), [1, 2, 3], "{name}");
        }
    }
}
