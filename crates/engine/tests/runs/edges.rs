//! Checks that random networks draw the edges of every parameter's range: of drop policies,
//! schedulers, policers, feedback, contracts and ABR end systems.
//!
//! The registry states the ranges, so that the lists of `common` cannot forget a parameter.

use crate::common::random;
use cellyard_engine::format::Clock;
use cellyard_engine::registry::{Component, Family, Kind, Parameter};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::collections::BTreeMap;

/// Numbers drawn for each parameter, by component and name.
type Drawn = BTreeMap<(&'static str, &'static str), Vec<f64>>;

const FAMILIES: [Family; 6] = [
    Family::Drop,
    Family::Scheduler,
    Family::Police,
    Family::Feedback,
    Family::Contract,
    Family::Abr,
];

/// A drawn value as the number that the registry's range is about.
fn number(value: &Value) -> Option<f64> {
    let ratio = |value: &Value| Some(value["num"].as_f64()? / value["den"].as_f64()?);
    let threshold = || {
        value["cells"]
            .as_f64()
            .or_else(|| ratio(&value["fraction"]))
    };
    value.as_f64().or_else(|| ratio(value)).or_else(threshold)
}

/// Notes the parameters of all components in `value`, which the field `field` holds.
fn note(value: &Value, field: &str, drawn: &mut Drawn) {
    match value {
        Value::Object(fields) => {
            let is_of = |family: &Family| field == family.name();
            if let Some(family) = FAMILIES.into_iter().find(is_of) {
                let tag = family.tag().and_then(|tag| fields.get(tag)?.as_str());
                let component = family.find(tag.unwrap_or(field));
                for parameter in component.into_iter().flat_map(|c| c.parameters) {
                    let name = component.map_or("", |component| component.name);
                    let found = fields.get(parameter.name).and_then(number);
                    drawn
                        .entry((name, parameter.name))
                        .or_default()
                        .extend(found);
                }
            }
            fields
                .iter()
                .for_each(|(key, inner)| note(inner, key, drawn));
        }
        Value::Array(items) => items.iter().for_each(|item| note(item, field, drawn)),
        _ => {}
    }
}

/// The least and the greatest value of a parameter, each with how near counts: a range may exclude
/// its bound, and a lower threshold stays below the upper one.
fn edges(parameter: &Parameter) -> Option<[(f64, f64); 2]> {
    let tick = Clock::AAL5.ticks_per_nanosecond() as f64;
    Some(match parameter.kind {
        Kind::Cells { min, max, .. } | Kind::Integer { min, max } | Kind::Rate { min, max, .. } => {
            [(min as f64, 0.0), (max as f64, 0.0)]
        }
        Kind::Places { min, .. } => [(min as f64, 0.0), (1e9, 0.0)],
        Kind::Duration { min_ns, max_ns, .. } => {
            [(min_ns as f64 * tick, tick), (max_ns as f64 * tick, 0.0)]
        }
        Kind::Decimal { min, max, .. } => [(min as f64, 1.5e-6), (max as f64, 1.5e-6)],
        Kind::Threshold => [(0.0, 1.5e-6), (1e9, 1.0)],
        _ => return None,
    })
}

/// The edges of `parameter` that are not among the numbers drawn for it. The upper edge of a rate
/// depends on the links of the network.
fn lacking(component: &Component, parameter: &Parameter, drawn: &Drawn) -> Vec<String> {
    let is_rate = matches!(parameter.kind, Kind::Rate { .. });
    let all = drawn.get(&(component.name, parameter.name));
    let is_drawn = |(edge, near): &(f64, f64)| {
        let close = |x: &f64| (x - edge).abs() <= *near;
        all.is_some_and(|all| all.iter().any(close))
    };
    let mut wanted = edges(parameter).map_or(Vec::new(), Vec::from);
    wanted.truncate(if is_rate { 1 } else { 2 });
    wanted.retain(|edge| !is_drawn(edge));
    let line = |(edge, _)| format!("{}, {} = {edge}", component.name, parameter.name);
    wanted.into_iter().map(line).collect()
}

#[test]
fn random_networks_draw_the_edges_of_every_range() {
    let mut runner = TestRunner::deterministic();
    let strategy = random::cases(300);
    let mut drawn = Drawn::new();
    for _ in 0..8_000 {
        let case = strategy.new_tree(&mut runner).expect("a case").current();
        let document = serde_json::to_value(&case.scenario).expect("a scenario is data");
        note(&document, "", &mut drawn);
    }
    let all = FAMILIES.iter().flat_map(|family| family.components());
    let lacking: Vec<String> = all
        .flat_map(|component| {
            let parameters = component.parameters.iter();
            parameters.flat_map(|parameter| lacking(component, parameter, &drawn))
        })
        .collect();
    assert!(lacking.is_empty(), "never drawn: {lacking:#?}");
}
