//! Programs: those of the examples decide as the policies that they restate, and engine and twin
//! agree on random ones.

use crate::common;
use crate::common::draws::Draws;
use crate::common::engines::agrees;
use crate::common::ports;
use crate::common::random::{self, Case};
use cellyard_engine::scenario::*;
use cellyard_engine::testing::{run_tally, run_twin};
use cellyard_engine::{Kernel, RunError};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

/// The drop policy of the example `name`.
fn example(name: &str) -> WrittenPolicy {
    let text = match name {
        "tail-drop" => include_str!("../../../../python/cellyard/examples/program-tail-drop.toml"),
        "epd" => include_str!("../../../../python/cellyard/examples/program-epd.toml"),
        "selective-drop" => {
            include_str!("../../../../python/cellyard/examples/program-selective-drop.toml")
        }
        "fba" => include_str!("../../../../python/cellyard/examples/program-fba.toml"),
        "dfba" => include_str!("../../../../python/cellyard/examples/program-dfba.toml"),
        "packet-red" => {
            include_str!("../../../../python/cellyard/examples/program-packet-red.toml")
        }
        _ => include_str!("../../../../python/cellyard/examples/program-gcra-epd.toml"),
    };
    let scenario = read_toml(text, name, &[]).expect("the examples are right");
    let switch = scenario.switches.iter().find(|s| s.name == "west");
    match &switch.expect("it is there").queues[0].drop {
        DropPolicy::Program(policy) => policy.written.clone(),
        other => panic!("{other:?} is no program"),
    }
}

/// The parameter of a program that means `threshold`.
fn parameter(threshold: Threshold) -> Json {
    match threshold {
        Threshold::Cells(cells) => json!({ "cells": cells }),
        Threshold::Bytes(bytes) => json!({ "bytes": bytes }),
        Threshold::Fraction(fraction) => json!({ "fraction": fraction }),
    }
}

/// The program of the example that restates `policy`, with its parameters. `None` if there is no
/// such example, or a factor of 0 meets a buffer without limit.
fn restated(policy: &DropPolicy, buffer: Option<u64>) -> Option<DropPolicy> {
    // The policies take no part of an unlimited buffer for a limit, not even 0 of it.
    let is_zero = |threshold: &Threshold| {
        let zero = matches!(threshold, Threshold::Fraction(fraction) if fraction.num == 0);
        zero && buffer.is_none()
    };
    let thresholds = match policy {
        DropPolicy::Dfba { low, high, .. } => vec![*low, *high],
        DropPolicy::GcraEpd { threshold, .. } => vec![*threshold],
        DropPolicy::PacketRed(red) => vec![red.min_th, red.max_th],
        _ => Vec::new(),
    };
    if thresholds.iter().any(is_zero) {
        return None;
    }
    let number = |number: u64| json!({ "number": { "num": number, "den": 1 } });
    let (mut written, parameters) = match policy {
        DropPolicy::TailDrop => (example("tail-drop"), json!({})),
        DropPolicy::Epd {
            threshold: None,
            reserve: None,
        } => (example("epd"), json!({})),
        DropPolicy::SelectiveDrop { r, z } => (
            example("selective-drop"),
            json!({ "R": parameter(*r), "Z": { "number": z } }),
        ),
        DropPolicy::Fba { r, z, k_fba: None } if z.num > 0 || buffer.is_some() => (
            example("fba"),
            json!({ "R": parameter(*r), "Z": { "number": z } }),
        ),
        DropPolicy::Dfba {
            low,
            high,
            z,
            alpha,
        } => (
            example("dfba"),
            json!({ "L": parameter(*low), "H": parameter(*high), "Z": { "number": z }, "alpha": { "number": alpha } }),
        ),
        DropPolicy::PacketRed(red) => {
            let when = match red.average {
                RedAverage::Cell => 0,
                RedAverage::Frame => 1,
                RedAverage::Idle => 2,
            };
            (
                example("packet-red"),
                json!({
                    "w_q": { "number": red.w_q }, "max_p": { "number": red.max_p },
                    "min_th": parameter(red.min_th), "max_th": parameter(red.max_th),
                    "when": number(when), "spacing": number(red.spacing.into()),
                }),
            )
        }
        DropPolicy::GcraEpd {
            threshold,
            export_tag,
        } => {
            let mut written = example("gcra-epd");
            written.export_tag = *export_tag;
            (written, json!({ "Th": parameter(*threshold) }))
        }
        _ => return None,
    };
    let given: Map<String, Json> = serde_json::from_value(parameters).expect("a table");
    for (name, value) in given {
        let value = serde_json::from_value(value).expect("a parameter");
        written.parameters.insert(name, value);
    }
    let policy = ProgramPolicy::try_from(written).expect("the example is right");
    Some(DropPolicy::Program(policy))
}

/// All class queues of a network.
pub fn queues_of(net: &mut Scenario) -> impl Iterator<Item = &mut ClassQueue> {
    let of_switches = net.switches.iter_mut().map(|s| &mut s.queues);
    let of_links = net.links.iter_mut().map(|l| &mut l.queues);
    of_switches.chain(of_links).flatten()
}

/// All schedulers of a network.
pub fn schedulers_of(net: &mut Scenario) -> impl Iterator<Item = &mut Scheduler> {
    let of_switches = net.switches.iter_mut().map(|s| &mut s.scheduler);
    let of_links = net
        .links
        .iter_mut()
        .filter_map(|l| l.scheduler.as_deref_mut());
    of_switches.chain(of_links)
}

/// Checks that `case` gives the same counters and digest with programs in place of the policies.
fn programs_do_the_same(mut case: Case) -> Result<(), TestCaseError> {
    let expected = run_twin(&case.scenario, case.replication);
    for queue in queues_of(&mut case.scenario) {
        if let Some(program) = restated(&queue.drop, queue.buffer.map(Size::stated)) {
            queue.drop = program;
        }
    }
    for kernel in [Kernel::Auto, Kernel::Slotted, Kernel::Twin] {
        let found = run_tally(&case.scenario, case.replication, kernel, true);
        let mut found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut expected = expected.clone();
        // A text may show that nothing is refused at an empty queue, where the policy does not say
        // so. Then a port where nothing ever waits is not in the report.
        for link in 0..found.ports.len() {
            if found.ports[link].is_none() != expected.ports[link].is_none() {
                for tally in [&mut found, &mut expected] {
                    tally.ports[link] = None;
                    tally.link_held[link] = 0;
                }
            }
        }
        let differ = common::differences(&found, &expected);
        prop_assert!(
            differ.is_empty(),
            "{kernel:?} (left) is not the policy (right)\n{differ}"
        );
    }
    agrees(&case)
}

/// A random network where every queue has the policy that `policy` makes for its buffer.
fn everywhere(
    policy: impl Strategy<Value = DropPolicy> + 'static,
    buffer: Option<u64>,
) -> impl Strategy<Value = Case> {
    (random::cases(3_000), policy).prop_map(move |(mut case, policy)| {
        for queue in queues_of(&mut case.scenario) {
            queue.drop = policy.clone();
            queue.buffer = buffer.map(Size::Cells);
        }
        case
    })
}

fn restatable(buffer: Option<u64>) -> impl Strategy<Value = DropPolicy> {
    let with = move |found: &DropPolicy| restated(found, buffer).is_some();
    // Half numbers are often met exactly, above low thresholds.
    let tenths = prop_oneof![1 => 0u64..30, 2 => prop::sample::select(vec![0u64, 5, 10, 20])];
    let twentieths = prop_oneof![0u64..=20, 0u64..=4];
    let fair = (twentieths, tenths, any::<bool>()).prop_map(|(twentieths, tenths, fba)| {
        let r = Threshold::Fraction(cellyard_engine::units::Ratio::new(twentieths * 5, 100));
        let z = cellyard_engine::units::Ratio::new(tenths, 10);
        if fba {
            DropPolicy::Fba { r, z, k_fba: None }
        } else {
            DropPolicy::SelectiveDrop { r, z }
        }
    });
    prop_oneof![
        1 => Just(DropPolicy::TailDrop),
        1 => Just(DropPolicy::Epd { threshold: None, reserve: None }),
        5 => fair.prop_filter("no example", with),
        3 => ports::rate_policy(buffer).prop_filter("no example", with),
        2 => ports::policy(buffer, |name| name == "packet-red"),
    ]
}

proptest! {
    #![proptest_config(common::config(250))]

    #[test]
    fn the_examples_decide_as_the_policies_they_restate(
        case in (5u64..60).prop_flat_map(|k| everywhere(restatable(Some(k)), Some(k)))
    ) {
        programs_do_the_same(case)?;
    }

    #[test]
    fn the_examples_decide_as_the_policies_they_restate_without_limit(
        case in everywhere(restatable(None), None)
    ) {
        programs_do_the_same(case)?;
    }
}

/// Numbers that all random programs use, and names of numbers.
const NUMBERS: [&str; 17] = [
    "now",
    "cell_time",
    "R",
    "Z",
    "T",
    "0",
    "1",
    "2",
    "3",
    "0.5",
    "1.25",
    "100",
    "123456789012345678",
    "a",
    "b",
    "seen",
    "avg",
];

/// Words of random programs.
pub struct Words {
    /// Names that are numbers, besides [`NUMBERS`].
    pub names: &'static [&'static str],
    /// Other expressions that are numbers.
    pub calls: &'static [&'static str],
    /// Truth values.
    pub truths: &'static [&'static str],
    /// The name that is compared most often.
    pub first: &'static str,
    /// Verdicts.
    pub verdicts: &'static [&'static str],
}

/// Words of drop policies that are asked about frames.
const OF_FRAMES: Words = Words {
    names: &[
        "X", "Y", "N", "K", "MCR", "PCR", "SCR", "CDVT", "MBS", "CLP", "length", "places", "free",
        "pool", "reserve",
    ],
    calls: &["draw()", "sum(MCR)", "-X"],
    truths: &["begins", "ends", "lost", "has_contract", "true", "false"],
    first: "X",
    verdicts: &["accept", "refuse"],
};

/// Words of drop policies that are asked about cells.
const OF_CELLS: Words = Words {
    verdicts: &[
        "accept",
        "refuse",
        "tag",
        "refuse_cell",
        "push_out_cell",
        "push_out_frame",
    ],
    ..OF_FRAMES
};

/// A random program from the grammar. Types are mostly right, since what the reader refuses tests
/// nothing here.
pub struct Writer {
    pub draws: Draws,
    pub text: String,
    pub words: Words,
    locals: Vec<&'static str>,
    depth: usize,
}

impl Writer {
    pub fn new(seed: u64, words: Words) -> Writer {
        Writer {
            draws: Draws(seed),
            text: String::new(),
            words,
            locals: Vec::new(),
            depth: 0,
        }
    }

    /// The statements of a random text.
    pub fn statements(&mut self) -> String {
        self.locals.clear();
        self.block(0);
        std::mem::take(&mut self.text)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.draws.one_of(from)
    }

    pub fn number(&mut self) -> String {
        self.depth += 1;
        let leaf = self.depth > 4 || self.draws.below(3) == 0;
        let text = if leaf {
            let chosen = self.pick(&[self.words.names, &NUMBERS].concat());
            match chosen {
                "a" | "b" if !self.locals.contains(&chosen) => "4".into(),
                _ => chosen.to_string(),
            }
        } else {
            let (a, b) = (self.number(), self.number());
            match self.draws.below(14) {
                0 | 1 => format!("({a} + {b})"),
                2 | 3 => format!("({a} - {b})"),
                4 | 5 => format!("{a} * {b}"),
                6 => format!("({a} / {b})"),
                7 => format!("min({a}, {b})"),
                8 => format!("max({a}, {b})"),
                9 => format!("abs({a})"),
                10 => format!("floor({a})"),
                11 => format!("float({a})"),
                12 => format!("power({a}, floor(min(abs({b}), 9)))"),
                _ => self.pick(self.words.calls).to_string(),
            }
        };
        self.depth -= 1;
        text
    }

    fn truth(&mut self) -> String {
        self.depth += 1;
        let text = match self.draws.below(if self.depth > 3 { 6 } else { 10 }) {
            0..=3 => {
                let how = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{} {how} {}", self.number(), self.number())
            }
            4 => {
                let bound = match self.words.first {
                    "X" => self.pick(&["R", "3", "K - 2", "K / 2", "T"]),
                    _ => self.pick(&["R", "3", "Z"]),
                };
                format!("{} > {bound}", self.words.first)
            }
            5 => self.pick(self.words.truths).to_string(),
            6 => format!("not ({})", self.truth()),
            7 => format!("({} or {})", self.truth(), self.truth()),
            _ => format!("({} and {})", self.truth(), self.truth()),
        };
        self.depth -= 1;
        text
    }

    fn block(&mut self, level: usize) {
        let statements = 1 + self.draws.below(3);
        for _ in 0..statements {
            match self.draws.below(8) {
                0 if level < 3 => self.choice(level),
                1 | 2 if level < 3 => self.choice(level),
                3 => self.assign("seen", |number| format!("floor({number})")),
                4 => self.assign("avg", |number| format!("float({number})")),
                5 if level == 0 => {
                    let name = self.pick(&["a", "b"]);
                    self.assign(name, |number| number);
                    self.locals.push(name);
                }
                _ => {}
            }
        }
        if self.draws.below(2) == 0 && !self.words.verdicts.is_empty() {
            let verdict = self.pick(self.words.verdicts);
            self.text += verdict;
            self.text += "\n";
        }
    }

    fn assign(&mut self, name: &str, made: fn(String) -> String) {
        let number = self.number();
        self.text += &format!("{name} = {}\n", made(number));
    }

    fn choice(&mut self, level: usize) {
        let condition = self.truth();
        self.text += &format!("if {condition} {{\n");
        self.block(level + 1);
        if self.draws.below(2) == 0 {
            self.text += "} else {\n";
            self.block(level + 1);
        }
        self.text += "}\n";
    }
}

/// A random program as the reader takes it; `None` if it does not.
fn random_program(seed: u64) -> Option<DropPolicy> {
    let cells = seed.is_multiple_of(2);
    let mut writer = Writer::new(seed, if cells { OF_CELLS } else { OF_FRAMES });
    let owner = writer.pick(&["queue", "vc"]);
    writer.text +=
        &format!("{owner} state seen = 0\nqueue state avg = 0.0\nvc state flag = false\n");
    writer.block(0);
    let text = if writer.draws.below(3) == 0 {
        // The two names of state do not exist in the short form.
        let condition = writer.truth().replace("seen", "2").replace("avg", "0.5");
        json!({ "refuse": condition })
    } else {
        json!({ "program": writer.text })
    };
    let mut record = json!({
        "policy": "program",
        "asked": if cells { "cells" } else { "frames" },
        "export_tag": writer.draws.below(2) == 0,
        "R": { "cells": writer.draws.below(20) },
        "Z": { "number": { "num": writer.draws.below(30), "den": 10 } },
        "T": { "fraction": { "num": writer.draws.below(10), "den": 10 } },
    });
    for (name, value) in text.as_object().expect("a table") {
        record[name] = value.clone();
    }
    serde_json::from_value(record).ok()
}

/// The case with the program of `seed` at all queues; `None` if the reader does not take it.
pub fn with_program(mut case: Case, seed: u64) -> Option<Case> {
    let program = random_program(seed)?;
    let pushes = |policy: &DropPolicy| {
        let DropPolicy::Program(policy) = policy else {
            return false;
        };
        policy.written.text().contains("push_out")
    };
    for queue in queues_of(&mut case.scenario) {
        queue.drop = program.clone();
        if pushes(&program) {
            queue.buffer = queue.buffer.or(Some(Size::Cells(9)));
        }
    }
    if pushes(&program) {
        for scheduler in schedulers_of(&mut case.scenario) {
            if let Scheduler::PerVc { .. } | Scheduler::Program(_) = scheduler {
                *scheduler = Scheduler::Fifo;
            }
        }
    }
    Some(case)
}

/// Checks that all engines agree on `case`, or that a program stops all of them. Returns whether
/// the runs end.
pub fn engines_agree_or_stop(case: &Case) -> Result<bool, TestCaseError> {
    let twin = run_tally(&case.scenario, case.replication, Kernel::Twin, true);
    let stops = |error: &RunError| matches!(error, RunError::Program { .. });
    match twin {
        Err(error) if stops(&error) => {
            for kernel in [Kernel::Auto, Kernel::Slotted] {
                let found = run_tally(&case.scenario, case.replication, kernel, false);
                prop_assert!(
                    found.as_ref().is_err_and(stops),
                    "{kernel:?} goes on; the twin: {error}"
                );
            }
            Ok(false)
        }
        Err(error) => Err(TestCaseError::fail(error.to_string())),
        Ok(_) => agrees(case).map(|()| true),
    }
}

proptest! {
    #![proptest_config(common::config(800))]

    #[test]
    fn engine_and_twin_agree_on_random_programs(case in random::cases(1_500), seed in any::<u64>()) {
        if let Some(case) = with_program(case, seed) {
            engines_agree_or_stop(&case)?;
        }
    }
}

#[test]
fn most_random_programs_are_read() {
    let read = (0..1000)
        .filter(|&seed| random_program(seed).is_some())
        .count();
    assert!(read > 500, "{read} of 1000 are read");
}

#[test]
fn a_program_that_fails_where_several_cells_arrive_at_once_ends_the_run_in_every_engine() {
    let text = include_str!("../../../../python/cellyard/examples/program-tail-drop.toml");
    let text = text.replace("\"accept\"", "\"if Y / (X - 500) >= 1 { refuse }\"");
    let scenario = read_toml(&text, "failing", &[]).expect("the program is right");
    for kernel in [Kernel::Auto, Kernel::Slotted, Kernel::Twin] {
        let found = run_tally(&scenario, Some(0), kernel, false);
        assert!(
            matches!(found, Err(RunError::Program { .. })),
            "{kernel:?} goes on"
        );
    }
}
