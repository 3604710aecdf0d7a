//! Random components of a family, from the kinds and ranges that the registry states for their
//! parameters.

use super::draws::Draws;
use crate::common::edges::MOST_CELLS;
use cellyard_engine::format::Clock;
use cellyard_engine::registry::{Component, Default, Family, Kind, Parameter};
use cellyard_engine::testing::is_allowed;
use cellyard_engine::units::Ratio;
use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::fmt::Debug;
use std::mem::discriminant;

/// Largest denominator of a decimal.
const MILLION: u64 = 1_000_000;

/// Where usual values lie. One value in seven is an edge of its range.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// K of the queue to which the component belongs.
    pub buffer: Option<u64>,
    /// Ticks of a cell time.
    pub cell: u64,
    /// Whether cells and times are spread over all orders of magnitude of their ranges.
    pub is_wide: bool,
}

/// A random component of `family` with a name that is `meant`. Programs have other generators.
pub fn component<T: DeserializeOwned + Debug>(
    family: Family,
    scale: Scale,
    meant: impl Fn(&str) -> bool,
) -> BoxedStrategy<T> {
    let all = family.components().iter();
    let all: Vec<_> = all.filter(|c| c.own.is_none() && meant(c.name)).collect();
    (select(all), any::<u64>().no_shrink())
        .prop_map(move |(component, seed)| draw(component, scale, &mut Draws(seed)))
        .boxed()
}

/// A random value of the choice `parameter` of a component.
pub fn choice<T: DeserializeOwned + Debug>(
    family: Family,
    component: &str,
    parameter: &str,
) -> impl Strategy<Value = T> + use<T> {
    let parameter = family.find(component).and_then(|c| c.parameter(parameter));
    let Some(Kind::Choice(choices)) = parameter.map(|parameter| parameter.kind) else {
        panic!("a choice of {component}")
    };
    select(choices).prop_map(|choice| serde_json::from_value(json!(choice.name)).expect("a value"))
}

/// The entry of a component in the registry.
pub fn entry(family: Family, of: &impl Serialize) -> &'static Component {
    let values = serde_json::to_value(of).expect("a component is data");
    let name = family.tag().and_then(|tag| values[tag].as_str());
    name.and_then(|name| family.find(name)).expect("an entry")
}

/// Draws all parameters of the component `of` again. A program stays as it is.
pub fn redraw<T: Serialize + DeserializeOwned>(
    family: Family,
    of: &mut T,
    scale: Scale,
    draws: &mut Draws,
) {
    let component = entry(family, of);
    if component.own.is_none() {
        *of = draw(component, scale, draws);
    }
}

/// Draws until the rules of the reader allow the values together.
fn draw<T: DeserializeOwned>(component: &Component, scale: Scale, draws: &mut Draws) -> T {
    let family = component.family;
    let queue = &Family::Queue.components()[0];
    for _ in 0..10_000 {
        let mut values = Map::new();
        let tag = family.tag().expect("a family of several components");
        values.insert(tag.into(), component.name.into());
        let mut before = None;
        for parameter in component.parameters {
            let is_limit = matches!(
                parameter.kind,
                Kind::Threshold | Kind::Cells { .. } | Kind::Places { .. }
            );
            let this = discriminant(&parameter.kind);
            let value = match (&before, parameter.default) {
                (_, Default::Derived(_)) if draws.chance(50) => Value::Null,
                (Some((kind, same)), _) if *kind == this && draws.chance(20) => Value::clone(same),
                _ => scale.value(parameter, draws),
            };
            before = is_limit.then(|| (this, value.clone())).or(before);
            values.insert(parameter.name.into(), value);
        }
        if is_allowed(component, &values)
            && (family != Family::Drop || {
                let of_queue = json!({ "buffer": scale.buffer, "drop": values });
                is_allowed(queue, of_queue.as_object().expect("a table"))
            })
        {
            let found = serde_json::from_value(Value::Object(values));
            return found.unwrap_or_else(|error| panic!("{}: {error}", component.name));
        }
    }
    panic!("{}: no values that the reader allows", component.name)
}

impl Scale {
    /// A value in the form of the model.
    fn value(self, parameter: &Parameter, draws: &mut Draws) -> Value {
        match parameter.kind {
            Kind::Bool => draws.chance(50).into(),
            Kind::Choice(choices) => match parameter.default {
                Default::Text(usual) if draws.chance(50) => usual.into(),
                _ => draws.one_of(choices).name.into(),
            },
            Kind::Cells { min, max, .. } => self.cells(min, max, draws).into(),
            Kind::Places { min, .. } => self.cells(min, MOST_CELLS, draws).into(),
            Kind::Threshold => self.threshold(draws),
            Kind::Decimal {
                min,
                max,
                below_max,
                ..
            } => json!(decimal(min, max, below_max, draws)),
            Kind::Duration { min_ns, max_ns, .. } => {
                let [least, most] =
                    [min_ns, max_ns].map(|ns| ns * Clock::AAL5.ticks_per_nanosecond());
                self.ticks(least, most, draws).into()
            }
            kind => panic!("no random value of {kind:?} for `{}`", parameter.name),
        }
    }

    /// A queue length up to the buffer, in cells or as a fraction.
    pub fn threshold(self, draws: &mut Draws) -> Value {
        let most = self.buffer.unwrap_or(1_000_000_000);
        match draws.chance(50) {
            true => json!({ "cells": self.cells(0, most, draws) }),
            false => json!({ "fraction": decimal(0, 1, false, draws) }),
        }
    }

    /// Cells: usually few, often fewer than in a frame.
    fn cells(self, least: u64, most: u64, draws: &mut Draws) -> u64 {
        let buffer = self.buffer.unwrap_or(40).clamp(least, most);
        match draws.below(7) {
            0 => draws.one_of(&[least, most, buffer]),
            _ if self.is_wide => draws.magnitude(least + 1, most + 1) - 1,
            1..=3 => most.min(least + draws.below(12) as u64),
            _ => most.min(least + draws.below(60) as u64),
        }
    }

    /// A time: usually whole cell times.
    fn ticks(self, least: u64, most: u64, draws: &mut Draws) -> u64 {
        match draws.below(7) {
            0 => draws.one_of(&[
                least.max(1),
                least + Clock::AAL5.ticks_per_nanosecond(),
                most,
            ]),
            _ if self.is_wide => draws.magnitude(least.max(1), most),
            1 => least + draws.below(200 * self.cell as usize) as u64,
            _ => least + draws.below(200) as u64 * self.cell,
        }
    }
}

/// A decimal: usually tenths and halves, at most 3.
pub fn decimal(min: u64, max: u64, below_max: bool, draws: &mut Draws) -> Ratio {
    let last = Ratio::new(max * MILLION - 1, MILLION);
    let (num, den) = match draws.below(14) {
        0 => return Ratio::new(min, 1),
        1 if below_max || draws.chance(30) => return last,
        1 => return Ratio::new(max, 1),
        2 => (1, MILLION),
        3 => (1 + draws.below(9) as u64, 100),
        4 => (
            1 + draws.below(999) as u64,
            1_000 + draws.below(999_000) as u64,
        ),
        5 | 6 => (draws.below(2 * (max.min(3) - min) as usize + 1) as u64, 2),
        _ => (draws.below(10 * (max.min(3) - min) as usize + 1) as u64, 10),
    };
    match below_max && num == den * (max - min) {
        true => last,
        false => Ratio::new(num + min * den, den),
    }
}
