//! Writing and reading preserves a scenario, in TOML and through serde.

use crate::common::changes::{changed, changes};
use crate::common::components::entry;
use crate::common::draws::Draws;
use crate::common::formats::in_ethernet;
use crate::common::hostile::hostile;
use crate::common::pools::pooled;
use crate::common::probes::probes;
use crate::common::random;
use cellyard_engine::format::Format;
use cellyard_engine::registry::Family;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::left_out;
use cellyard_engine::units::{BitRate, Span};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::HashSet;

fn read(net: &Scenario) -> Result<Scenario, Vec<Problem>> {
    read_toml(&write_toml(net), "written.toml", &[])
}

/// Sets options that the chosen values of others ignore to their defaults, as the reader does.
fn set_ignored_options(tcp: &mut TcpParams) {
    let traffic = Traffic::Tcp(Box::new(tcp.clone()));
    let component = entry(Family::Traffic, &traffic);
    let defaults = TcpParams::of_profile(tcp.profile, Format::AAL5);
    let [mut values, defaults] =
        [&*tcp, &defaults].map(|tcp| serde_json::to_value(tcp).expect("data"));
    for parameter in component.parameters {
        let only_with = component.only_with(parameter.name);
        if only_with.is_some_and(|(by, names)| !names.iter().any(|name| values[by] == *name)) {
            values[parameter.name] = defaults[parameter.name].clone();
        }
    }
    *tcp = serde_json::from_value(values).expect("the same fields");
}

/// A few probes of `net`, with random restrictions. The reader may refuse some.
fn some_probes(net: &Scenario, draws: &mut Draws) -> Vec<Probe> {
    let all = probes(net);
    let mut some: Vec<Probe> = (0..8)
        .map(|_| all[draws.below(all.len())].clone())
        .collect();
    for probe in &mut some {
        let [from, to] = [0, 100].map(|ms| Span::from_milliseconds(ms + draws.below(100) as u64));
        let component = entry(Family::Probe, probe);
        let has = |field| component.parameter(field).is_some();
        match draws.below(6) {
            0 if has("class") => probe.class = Some(draws.one_of(&Class::ALL)),
            1 if has("vc") => probe.vc = Some(net.vcs[0].name.clone()),
            2 if has("every") => {
                (probe.every, probe.interval) = (Some(1 + draws.below(99) as u64), None);
            }
            3 if has("from") => {
                (probe.from, probe.to) = (draws.chance(50).then_some(from), Some(to))
            }
            _ => {}
        }
    }
    some
}

/// Random and hostile networks that the reader accepts, all but some of their probes.
fn scenario() -> impl Strategy<Value = Scenario> {
    let settings = ("[ -~äµ]{0,20}", 0u64..i64::MAX as u64, any::<u32>());
    let parts = (random::cases(300), settings, any::<u64>(), changes());
    parts.prop_map(|(case, (name, seed, tie_offset), number, drawn)| {
        let draws = &mut Draws(number);
        let case = match draws.below(8) {
            0 => in_ethernet(case.readable(), 1_500, false),
            6 => pooled(in_ethernet(case.readable(), 1_500, false), draws, Some(254)),
            7 => pooled(case.readable(), draws, None),
            1 => changed(case.readable(), &drawn, true),
            2 => case.readable(),
            _ => hostile(case, draws),
        };
        let mut net = case.scenario;
        (net.name, net.seed, net.tie_offset) = (name, seed, tie_offset.into());
        net.measure.max_goodput = match draws.below(3) {
            0 => None,
            1 if net.links.iter().all(|link| link.changes.is_empty()) => {
                Some(MaxGoodput::FairShares)
            }
            1 => None,
            _ => Some(MaxGoodput::Stated(BitRate(
                draws.magnitude(1, 1_000_000_000),
            ))),
        };
        for vc in &mut net.vcs {
            if let Traffic::Tcp(tcp) = &mut vc.traffic {
                set_ignored_options(tcp);
            }
        }
        net.probes = some_probes(&net, draws);
        let number = |problem: Problem| {
            let (number, _) = problem.path.strip_prefix("probe[")?.split_once(']')?;
            number.parse::<usize>().ok()
        };
        let problems = read(&net).err().unwrap_or_default();
        let refused: HashSet<usize> = problems.into_iter().filter_map(number).collect();
        let mut at = 0..;
        net.probes
            .retain(|_| !at.next().is_some_and(|i| refused.contains(&i)));
        net
    })
}

#[test]
fn random_scenarios_are_read_and_have_every_component_and_choice() {
    let mut runner = TestRunner::deterministic();
    let strategy = scenario();
    let draw = |_| strategy.new_tree(&mut runner).unwrap().current();
    let drawn: Vec<Scenario> = (0..500).map(draw).filter(|net| read(net).is_ok()).collect();
    assert!(drawn.len() > 400, "{}", drawn.len());
    // A scenario as data names formats in other ways.
    let families = Family::ALL.into_iter().filter(|&f| f != Family::Format);
    let left_out = left_out(&drawn, &families.collect::<Vec<_>>());
    assert!(left_out.is_empty(), "not in {}: {left_out:#?}", file!());
}

proptest! {
    #[test]
    fn written_scenarios_read_back_the_same(net in scenario()) {
        match read(&net) {
            Ok(again) => prop_assert_eq!(again, net),
            Err(problems) => prop_assume!(false, "{}", problems[0]),
        }
    }

    #[test]
    fn serde_keeps_every_field(net in scenario()) {
        let json = serde_json::to_string(&net).expect("plain data");
        prop_assert_eq!(serde_json::from_str::<Scenario>(&json).expect("its own form"), net);
    }

    #[test]
    fn toml_and_json_of_the_same_fields_agree(net in scenario()) {
        let value: serde_json::Value = toml::from_str(&write_toml(&net)).expect("TOML");
        prop_assert_eq!(read_json(&value, &[]).ok(), read(&net).ok());
    }

    #[test]
    fn no_text_panics(text in "(duration|\\[\\[(host|link|vc)\\]\\]|(name|from|to|rate|count|traffic) = (\"[a-z0-9 ]{0,6}\"|[0-9.]{1,4}|\\{kind = \"(tcp|vbr)\"\\})|[a-z=\\[\\]{}\"\n]{0,5}\n){0,30}") {
        let _ = read_toml(&text, "noise.toml", &[]);
    }
}
