//! Checks values against the registry and turns them into records: fields in the units of the model, every
//! default filled in, in the serde form of the types in `model`. A field that is wrong is missing from its record.

use super::notation::{allowed, list};
use super::problem::{Report, shorten};
use super::quantity::{self, Fault, Part};
use super::tree::{Field, Node, Value};
use super::validate;
use crate::registry::{Component, DECIMALS, Default, Family, Kind, MAX_CELLS, Parameter};
use crate::units::{BitRate, Ratio, Span};
use serde_json::{Map, Value as Json, json};

/// The checked fields of one component.
pub(crate) type Record = Map<String, Json>;

/// Checks `node` as a component of `family`. `None` when there is no telling which component it is.
pub(crate) fn component(
    family: Family,
    node: &Node,
    path: &str,
    report: &mut Report,
) -> Option<Record> {
    let (component, fields) = identify(family, node, path, report)?;
    let mut record = Record::new();
    if let Some(tag) = family.tag() {
        record.insert(tag.into(), json!(component.name));
    }
    for field in fields {
        if component.parameter(&field.name).is_none() && family.tag() != Some(&field.name) {
            unknown_field(component, field, path, report);
        }
    }
    for parameter in component.parameters {
        let path = join(path, parameter.name);
        let value = match fields.iter().find(|f| f.name == parameter.name) {
            Some(field) => value(&parameter.kind, &field.node, &path, report),
            None if parameter.is_required() => {
                let allowed = allowed(&parameter.kind);
                report.add(&path, "is missing", allowed, None);
                None
            }
            None => Some(default(parameter, node, report)),
        };
        if let Some(value) = value {
            record.insert(parameter.name.into(), value);
        }
    }
    unused_options(component, fields, &record, path, report);
    derive(component, &mut record);
    validate::component(component, &record, path, report);
    Some(record)
}

pub(crate) fn join(path: &str, field: &str) -> String {
    if path.is_empty() {
        field.to_string()
    } else {
        format!("{path}.{field}")
    }
}

/// Which component of `family` the node is, and its fields.
fn identify<'n>(
    family: Family,
    node: &'n Node,
    path: &str,
    report: &mut Report,
) -> Option<(&'static Component, &'n [Field])> {
    let names = || family.components().iter().map(|c| c.name);
    let mut wrong = |node: &Node, path: &str, message: String, suggestion: Option<String>| {
        let allowed = allowed(&Kind::One(family));
        report.add_at(node.place, path, node.show(), message, allowed, suggestion);
    };
    match (&node.value, family.tag()) {
        (Value::Table(fields), None) => Some((&family.components()[0], fields)),
        (Value::Table(fields), Some(tag)) => {
            let path = join(path, tag);
            let Some(chosen) = node.get(tag) else {
                let allowed = list(names());
                report.add(&path, "is missing", allowed, None);
                return None;
            };
            let name = chosen.text().unwrap_or_default();
            let found = family.find(name);
            if found.is_none() {
                let suggestion = super::problem::nearest(name, names()).map(|n| format!("`{n}`"));
                let allowed = list(names());
                let message = format!("is no {}", family.name());
                report.add_at(
                    chosen.place,
                    &path,
                    chosen.show(),
                    message,
                    allowed,
                    suggestion,
                );
            }
            found.map(|c| (c, fields.as_slice()))
        }
        (Value::Text(name), Some(_)) => match family.find(name) {
            Some(found) => Some((found, &[])),
            None => {
                let suggestion = super::problem::nearest(name, names()).map(|n| format!("`{n}`"));
                wrong(node, path, format!("is no {}", family.name()), suggestion);
                None
            }
        },
        _ => {
            wrong(node, path, format!("is {}", node.kind()), None);
            None
        }
    }
}

fn unknown_field(component: &Component, field: &Field, path: &str, report: &mut Report) {
    let family = component.family;
    let elsewhere: Vec<&str> = family
        .components()
        .iter()
        .filter(|c| c.parameter(&field.name).is_some())
        .map(|c| c.name)
        .collect();
    let message = if elsewhere.is_empty() {
        "is an unknown field".to_string()
    } else {
        format!(
            "`{}` has no such field; {} has it",
            component.name,
            list(elsewhere)
        )
    };
    let names = component.parameters.iter().map(|p| p.name);
    let suggestion = report.suggest(&field.name, names.clone());
    let allowed = list(family.tag().into_iter().chain(names));
    let path = join(path, &shorten(&field.name));
    report.add_at(
        field.place,
        &path,
        field.node.show(),
        message,
        allowed,
        suggestion,
    );
}

/// Options given although the value of another parameter leaves them without a meaning.
fn unused_options(
    component: &Component,
    fields: &[Field],
    record: &Record,
    path: &str,
    report: &mut Report,
) {
    for field in fields {
        let only_with = component.parameter(&field.name).and_then(|p| p.only_with);
        let Some((other, values)) = only_with else {
            continue;
        };
        let chosen = text(record, other);
        if chosen.is_some_and(|c| !values.contains(&c)) {
            report.add(
                &join(path, &field.name),
                format!(
                    "has no meaning with {other} = \"{}\"",
                    chosen.unwrap_or_default()
                ),
                format!("with {other} = {}", list(values.iter().copied())),
                None,
            );
        }
    }
}

/// Defaults that follow from other fields of the same component.
fn derive(component: &Component, record: &mut Record) {
    let is_null = |record: &Record, name: &str| record.get(name).is_some_and(Json::is_null);
    match (component.family, component.name) {
        (Family::Traffic, "tcp") if is_null(record, "min_rto") => {
            if let Some(granularity) = number(record, "granularity") {
                record.insert("min_rto".into(), json!(2 * granularity));
            }
        }
        (Family::Queue, _) if is_null(record, "rest_of_frame") => {
            let policy = record.get("drop").and_then(|d| d["policy"].as_str());
            let rest = if policy == Some("ppd") {
                "drop-but-eom"
            } else {
                "accept"
            };
            record.insert("rest_of_frame".into(), json!(rest));
        }
        (Family::Vc, _) if is_null(record, "class") => {
            let kind = record.get("traffic").and_then(|t| t["kind"].as_str());
            let class = match kind {
                Some("cbr") => "cbr",
                Some("vbr") => "vbr",
                _ => "ubr",
            };
            record.insert("class".into(), json!(class));
        }
        (Family::Scenario, _) => {
            for family in [Family::Ensemble, Family::Measure] {
                if is_null(record, family.name()) {
                    record.insert(family.name().into(), all_defaults(&family.components()[0]));
                }
            }
        }
        _ => {}
    }
}

/// A component of which nothing was given.
fn all_defaults(component: &Component) -> Json {
    let node = Node {
        value: Value::Table(Vec::new()),
        place: super::tree::Place::default(),
    };
    let mut report = Report::new("", &node, Vec::new());
    let record = component
        .parameters
        .iter()
        .map(|p| (p.name.into(), default(p, &node, &mut report)));
    Json::Object(record.collect())
}

fn default(parameter: &Parameter, around: &Node, report: &mut Report) -> Json {
    let value = match parameter.default {
        Default::Required | Default::Derived(_) => return Json::Null,
        Default::Text(text) => Value::Text(text.into()),
        Default::Integer(integer) => Value::Integer(integer.into()),
        Default::Decimal(decimal) => Value::Decimal(decimal.into()),
        Default::Bool(truth) => Value::Bool(truth),
        Default::EmptyList => Value::List(Vec::new()),
    };
    let place = around.place;
    let node = Node { value, place };
    self::value(&parameter.kind, &node, parameter.name, report).unwrap_or(Json::Null)
}

/// Checks one value.
fn value(kind: &Kind, node: &Node, path: &str, report: &mut Report) -> Option<Json> {
    match kind {
        Kind::One(family) => return component(*family, node, path, report).map(Json::Object),
        Kind::List(item) => {
            if let Value::List(items) = &node.value {
                let checked = items.iter().enumerate().map(|(i, n)| {
                    value(item, n, &format!("{path}[{i}]"), report).unwrap_or(Json::Null)
                });
                return Some(Json::Array(checked.collect()));
            }
        }
        _ => {}
    }
    match scalar(kind, node) {
        Ok(json) => Some(json),
        Err(fault) => {
            let (allowed, shown) = (allowed(kind), node.show());
            report.add_at(
                node.place,
                path,
                shown,
                fault.message,
                allowed,
                fault.suggestion,
            );
            None
        }
    }
}

fn scalar(kind: &Kind, node: &Node) -> Result<Json, Fault> {
    match (kind, &node.value) {
        (Kind::Text, Value::Text(text)) => match text {
            t if t.chars().any(char::is_control) => Err(Fault::new("has a control character")),
            t if t.chars().count() > 200 => Err(Fault::new("is longer than 200 characters")),
            t => Ok(json!(t)),
        },
        (Kind::Name | Kind::Reference(_), Value::Text(text)) => name(text),
        (Kind::Bool, Value::Bool(truth)) => Ok(json!(truth)),
        (&Kind::Rate { min, max }, _) => {
            let rate = quantity(node, quantity::RATE, Part::Refuse)?;
            in_range(rate, min, max, |r| quantity::show_rate(BitRate(r)))
        }
        (&Kind::Duration { min, max }, _) => {
            let ticks = quantity(node, quantity::DURATION, Part::Round)?;
            in_range(ticks, min.0, max.0, |t| quantity::show_duration(Span(t)))
        }
        (
            Kind::Cells {
                unlimited: true, ..
            },
            Value::Text(t),
        ) if t == "unlimited" => Ok(Json::Null),
        (&Kind::Cells { min, max, .. }, _) => {
            let cells = quantity(node, quantity::CELLS, Part::Refuse)?;
            in_range(cells, min, max, quantity::show_cells)
        }
        (&Kind::Bytes { min, max }, _) => {
            let bytes = quantity(node, quantity::BYTES, Part::Refuse)?;
            in_range(bytes, min, max, quantity::show_bytes)
        }
        (&Kind::Integer { min, max }, &Value::Integer(i)) => {
            if i < i128::from(min) {
                return Err(Fault::new(format!("must be at least {min}")));
            }
            let i = u64::try_from(i).unwrap_or(u64::MAX);
            in_range(i, min, max, |i| i.to_string())
        }
        (
            &Kind::Decimal {
                min,
                max,
                below_max,
                decimals,
            },
            _,
        ) => {
            let ratio = ratio(node, decimals)?;
            let above = u128::from(ratio.num).cmp(&(u128::from(max) * u128::from(ratio.den)));
            if u128::from(ratio.num) < u128::from(min) * u128::from(ratio.den) {
                Err(Fault::new(format!("must be at least {min}")))
            } else if below_max && above.is_ge() {
                Err(Fault::new(format!("must be below {max}")))
            } else if above.is_gt() {
                Err(Fault::new(format!("must be at most {max}")))
            } else {
                Ok(json!(ratio))
            }
        }
        (Kind::Threshold, Value::Text(t)) if !t.contains('/') => {
            let cells = quantity(node, quantity::CELLS, Part::Refuse)?;
            in_range(cells, 0, MAX_CELLS, quantity::show_cells).map(|c| json!({ "cells": c }))
        }
        (Kind::Threshold, _) => {
            let fraction = ratio(node, DECIMALS)?;
            if fraction.num > fraction.den {
                let cells = (fraction.den == 1).then(|| format!("\"{} cells\"", fraction.num));
                return Err(Fault {
                    message: "is more than the whole buffer".into(),
                    suggestion: cells,
                });
            }
            Ok(json!({ "fraction": fraction }))
        }
        (Kind::Choice(choices), Value::Text(text)) => {
            let names = choices.iter().map(|c| c.name);
            if names.clone().any(|n| n == text) {
                return Ok(json!(text));
            }
            Err(Fault {
                message: "is none of the choices".into(),
                suggestion: super::problem::nearest(text, names).map(|n| format!("`{n}`")),
            })
        }
        _ => Err(Fault::new(format!("is {}", node.kind()))),
    }
}

fn name(text: &str) -> Result<Json, Fault> {
    let fits = |c: char| c.is_alphanumeric() || "_-/>:+".contains(c);
    match text {
        "" => Err(Fault::new("is empty")),
        t if t.chars().count() > 64 => Err(Fault::new("is longer than 64 characters")),
        t if t.chars().all(|c| c.is_ascii_digit()) => Err(Fault::new("has digits only")),
        t => match t.chars().find(|&c| !fits(c)) {
            Some(c) => Err(Fault::new(format!("has the character {c:?}"))),
            None => Ok(json!(t)),
        },
    }
}

/// The text of a quantity; a bare number is taken as one without unit, so that the message says so.
fn quantity(node: &Node, units: &[quantity::Unit], part: Part) -> Result<u64, Fault> {
    match &node.value {
        Value::Text(text) => quantity::parse(text, units, part),
        Value::Integer(i) => Err(Fault {
            message: "has no unit".into(),
            suggestion: quantity::parse(&i.to_string(), units, part)
                .err()
                .and_then(|f| f.suggestion),
        }),
        Value::Decimal(_) => Err(Fault::new("has no unit")),
        _ => Err(Fault::new(format!("is {}", node.kind()))),
    }
}

fn ratio(node: &Node, decimals: u32) -> Result<Ratio, Fault> {
    match &node.value {
        Value::Decimal(text) => quantity::parse_ratio(text, decimals),
        Value::Integer(i) => quantity::parse_ratio(&i.to_string(), decimals),
        Value::Text(text) if text.contains('/') => quantity::parse_ratio(text, decimals),
        _ => Err(Fault::new(format!("is {}", node.kind()))),
    }
}

fn in_range(value: u64, min: u64, max: u64, show: impl Fn(u64) -> String) -> Result<Json, Fault> {
    if value < min {
        Err(Fault::new(format!("must be at least {}", show(min))))
    } else if value > max {
        Err(Fault::new(format!("must be at most {}", show(max))))
    } else {
        Ok(json!(value))
    }
}

/// The text `name` of a record; `None` when it was wrong.
pub(crate) fn text<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
    record.get(name).and_then(Json::as_str)
}

/// The number `name` of a record; `None` when it was wrong or left out.
pub(crate) fn number(record: &Record, name: &str) -> Option<u64> {
    record.get(name).and_then(Json::as_u64)
}

/// The component `name` of a record; `None` when it was wrong or left out.
pub(crate) fn object<'r>(record: &'r Record, name: &str) -> Option<&'r Record> {
    record.get(name).and_then(Json::as_object)
}

/// The fraction `value` of a record.
pub(crate) fn fraction(value: &Json) -> Option<Ratio> {
    Some(Ratio::new(value["num"].as_u64()?, value["den"].as_u64()?))
}
