//! Checks written values against the registry and turns them into records with every default filled
//! in.

use super::expand::size::MOST_COMPONENTS;
use super::problem::Place;
use super::record::{Record, complete, is_left_out, join, number, object, text};
use super::report::Report;
use super::tree::{Field, Node, Value};
use super::validate;
use super::values::scalar;
use crate::ground::format::Format;
use crate::text::notation::words::{list, meant, shorten};
use crate::text::registry::{Component, Default, Family, Formats, Kind, Parameter};
use serde_json::{Value as Json, json};

/// Checks `node` as a component of `family`. Returns `None` when the component cannot be
/// identified.
pub(crate) fn component(
    family: Family,
    node: &Node,
    path: &str,
    report: &mut Report,
) -> Option<Record> {
    let (component, fields) = identify(family, node, path, report)?;
    if !component.formats.have(report.format) {
        other_format(component, node, path, report);
        return None;
    }
    let mut before = report.count();
    let mut record = Record::new();
    if let Some(tag) = component.tag() {
        record.insert(tag.into(), json!(component.name));
    }
    for field in fields {
        if component.parameter(&field.name).is_some() || family.tag() == Some(&field.name) {
            continue;
        }
        match component.own {
            None => unknown_field(component, field, path, report),
            Some(own)
                if !validate::uses(component, fields, &field.name)
                    && scalar(&own.kind, &field.node, report.format).is_err() =>
            {
                validate::unused_parameter(component, &field.name, path, report);
                before += 1; // The text can be read without it.
            }
            Some(own) => {
                let path = join(path, &shorten(&field.name));
                if let Some(value) = value(&own.kind, &field.node, &path, report) {
                    record.insert(field.name.clone(), value);
                }
            }
        }
    }
    for parameter in component.parameters {
        let value = match fields.iter().find(|f| f.name == parameter.name) {
            Some(field) => {
                let path = join(path, parameter.name);
                value(&parameter.kind, &field.node, &path, report)
            }
            None if parameter.is_required() => {
                let allowed = parameter.kind.allowed(report.format);
                report.add(&join(path, parameter.name), "is missing", allowed, None);
                None
            }
            None => {
                let chosen = |by: &str| fields.iter().find(|f| f.name == by)?.node.text();
                let set = component.set_by_choice(parameter.name, chosen);
                let from = set.unwrap_or(&parameter.default);
                Some(default(parameter, from, node.place, report))
            }
        };
        if let Some(value) = value {
            record.insert(parameter.name.into(), value);
        }
    }
    unused_options(component, fields, &record, path, report);
    fill_in(component, &mut record);
    // The text of a program means nothing without all parameters that it uses.
    if component.own.is_none() || report.count() == before {
        validate::component(component, &record, path, report);
    }
    Some(record)
}

/// The format of the scenario with this root, by which everything else in it is read. If the field
/// has a fault, which [`component`] reports, it is Ethernet if that is named, else AAL5.
pub(crate) fn format(root: &Node) -> Format {
    const FIELD: &str = "format";
    let mut report = Report::new("", root, Vec::new());
    let parameter = Family::Scenario.components()[0].parameter(FIELD);
    parameter
        .zip(root.get(FIELD))
        .and_then(|(parameter, node)| value(&parameter.kind, node, FIELD, &mut report))
        .filter(|_| report.is_empty())
        .and_then(|format| complete(&format))
        .unwrap_or_else(|| {
            let kind = root.get(FIELD).and_then(|node| node.get("kind")?.text());
            match kind {
                Some("ethernet") => Format::ETHERNET,
                _ => Format::default(),
            }
        })
}

/// Reports a component that the format lacks.
fn other_format(component: &Component, node: &Node, path: &str, report: &mut Report) {
    let family = component.family;
    let name = match family.tag() {
        Some(_) => format!("{} `{}`", noun(family), component.name),
        None => format!("`{}`", component.name),
    };
    let shown = match node.value {
        Value::Table(_) => String::new(),
        _ => node.show(),
    };
    let message = format!("the {name} is defined {}", component.formats.words());
    let formats = match component.formats {
        Formats::EqualCells => "another format",
        Formats::Standard => "format = \"aal5\" or \"ethernet\"",
        Formats::Any | Formats::Aal5 => "format = \"aal5\"",
    };
    let others = family.components().iter();
    let others = others.filter(|other| other.formats.have(report.format));
    let others: Vec<&str> = others.map(|other| other.name).collect();
    let allowed = match family.tag() {
        Some(_) if !others.is_empty() => format!("{formats}, or one of {}", list(others)),
        _ => format!("{formats}, or a scenario without it"),
    };
    report.add_at(node.place, path, shown, message, allowed, None);
}

/// Identifies the component of `family` that the node describes, and returns its fields.
fn identify<'n>(
    family: Family,
    node: &'n Node,
    path: &str,
    report: &mut Report,
) -> Option<(&'static Component, &'n [Field])> {
    let format = report.format;
    let allowed = || Kind::One(family).allowed(format);
    match (&node.value, family.tag()) {
        (Value::Table(fields), None) => Some((&family.components()[0], fields)),
        (Value::Table(fields), Some(tag)) => {
            let path = join(path, tag);
            let names = list(family.components().iter().map(|c| c.name));
            let Some(chosen) = node.get(tag) else {
                let (message, suggestion) = match family.untagged() {
                    None => untagged(family, tag, fields),
                    Some(component) => match another_with(component, fields) {
                        None => return Some((component, fields)),
                        Some(other) => {
                            let suggestion = format!("`{tag} = \"{}\"`", other.name);
                            ("is missing".into(), Some(suggestion))
                        }
                    },
                };
                report.add(&path, message, names, suggestion);
                return None;
            };
            let found = find(family, chosen, &path, names, report);
            found.map(|c| (c, fields.as_slice()))
        }
        (Value::Text(_), Some(_)) => {
            find(family, node, path, allowed(), report).map(|c| (c, &[][..]))
        }
        _ => {
            let message = format!("must not be {}", node.kind());
            report.add_at(node.place, path, node.show(), message, allowed(), None);
            None
        }
    }
}

/// The component of the family that has one of `fields`, which `component` lacks.
fn another_with(component: &Component, fields: &[Field]) -> Option<&'static Component> {
    let mut lacking = fields.iter().map(|field| field.name.as_str());
    lacking.find_map(|name| match component.parameter(name) {
        Some(_) => None,
        None => {
            let mut all = component.family.components().iter();
            all.find(|other| other.parameter(name).is_some())
        }
    })
}

/// Message and suggestion for a table without its `tag`. The message names the first field that no
/// component of the family has. The suggestion is `tag` if the value of that field is the name of a
/// component, or if the field's name resembles `tag`.
fn untagged(family: Family, tag: &str, fields: &[Field]) -> (String, Option<String>) {
    let known = |name: &str| {
        family
            .components()
            .iter()
            .any(|c| c.parameter(name).is_some())
    };
    let Some(unknown) = fields.iter().find(|field| !known(&field.name)) else {
        return ("is missing".into(), None);
    };
    let names_one = unknown
        .node
        .text()
        .is_some_and(|text| family.find(text).is_some());
    let suggestion = match names_one {
        true => Some(format!("`{tag}`")),
        false => meant(&unknown.name, [tag]),
    };
    let message = format!(
        "is missing, and `{}` is an unknown field",
        shorten(&unknown.name)
    );
    (message, suggestion)
}

/// The component of `family` that `name` names, or a problem in `report`.
fn find(
    family: Family,
    name: &Node,
    path: &str,
    allowed: String,
    report: &mut Report,
) -> Option<&'static Component> {
    let text = name.text().unwrap_or_default();
    let found = family.find(text);
    if found.is_none() {
        let suggestion = meant(text, family.components().iter().map(|c| c.name));
        let message = format!("unknown {}", noun(family));
        report.add_at(name.place, path, name.show(), message, allowed, suggestion);
    }
    found
}

/// What messages call a component of `family`.
fn noun(family: Family) -> &'static str {
    match family {
        Family::Drop => "drop policy",
        Family::Police => "policer",
        Family::Traffic => "kind of traffic",
        _ => family.name(),
    }
}

/// Path to a field `name` inside a table of `component`, such as `ubr.drop` of a switch. The last
/// table that has the field wins.
fn within(component: &Component, name: &str) -> Option<String> {
    let has = |family: Family| {
        let components = family.components();
        components.iter().any(|c| c.parameter(name).is_some())
    };
    let tables = component.parameters.iter().rev();
    let found = tables
        .filter(|p| matches!(p.kind, Kind::One(family) if has(family)))
        .map(|p| format!("`{}.{name}`", p.name));
    found.into_iter().next()
}

fn unknown_field(component: &Component, field: &Field, path: &str, report: &mut Report) {
    let family = component.family;
    let others = family.components().iter();
    let elsewhere: Vec<&str> = others
        .filter(|c| c.parameter(&field.name).is_some())
        .map(|c| c.name)
        .collect();
    let message = if elsewhere.is_empty() {
        "unknown field".to_string()
    } else {
        let others = list(elsewhere);
        format!("is not a field of `{}`, but of {others}", component.name)
    };
    let names = component.parameters.iter().map(|p| p.name);
    let nearest = report.suggest(&field.name, names.clone());
    let suggestion = nearest.or_else(|| within(component, &field.name));
    let allowed = list(family.tag().into_iter().chain(names));
    let path = join(path, &shorten(&field.name));
    let shown = field.node.show();
    report.add_at(field.place, &path, shown, message, allowed, suggestion);
}

/// Reports options that have no effect because of the choice made in another parameter.
fn unused_options(
    component: &Component,
    fields: &[Field],
    record: &Record,
    path: &str,
    report: &mut Report,
) {
    for field in fields {
        let Some((other, choices)) = component.only_with(&field.name) else {
            continue;
        };
        if let Some(chosen) = text(record, other).filter(|c| !choices.contains(c)) {
            report.add(
                &join(path, &field.name),
                format!("has no effect with {other} = \"{chosen}\""),
                format!("only with {other} = {}", list(choices)),
                None,
            );
        }
    }
}

/// Fills in defaults that follow from other fields of the same component.
fn fill_in(component: &Component, record: &mut Record) {
    for parameter in component.parameters {
        if is_left_out(record, parameter.name)
            && let Some(value) = following(parameter, record)
        {
            record.insert(parameter.name.into(), value);
        }
    }
}

fn following(parameter: &Parameter, record: &Record) -> Option<Json> {
    match parameter.default {
        Default::Multiple(times, other) => number(record, other).map(|n| json!(times * n)),
        Default::Implied(family, otherwise) => {
            let chosen = object(record, family.name())
                .and_then(|component| family.find(text(component, family.tag()?)?));
            let implied = chosen.and_then(|c| c.implied(parameter.name));
            Some(json!(implied.unwrap_or(otherwise)))
        }
        _ => None,
    }
}

/// The default `from` as if written at `place`, or null when it follows from something else.
fn default(parameter: &Parameter, from: &Default, place: Place, report: &mut Report) -> Json {
    if let Some(known) = report.defaults.get(&std::ptr::from_ref(from)) {
        return known.clone();
    }
    let value = match *from {
        Default::Text(text) => Value::Text(text.into()),
        Default::Integer(integer) => Value::Integer(integer.into()),
        Default::Decimal(decimal) => Value::Decimal(decimal.into()),
        Default::Bool(truth) => Value::Bool(truth),
        Default::EmptyList => Value::List(Vec::new()),
        Default::AllDefaults => Value::Table(Vec::new()),
        Default::Required | Default::Multiple(..) | Default::Implied(..) | Default::Derived(_) => {
            return Json::Null;
        }
    };
    let node = Node { value, place };
    let read = self::value(&parameter.kind, &node, parameter.name, report).unwrap_or(Json::Null);
    report.defaults.insert(from, read.clone());
    read
}

/// Checks one value.
fn value(kind: &Kind, node: &Node, path: &str, report: &mut Report) -> Option<Json> {
    match (kind, &node.value) {
        (Kind::One(family), _) => {
            return component(*family, node, path, report).map(Json::Object);
        }
        (Kind::List(Kind::One(_)), Value::List(items)) if items.len() as u64 > MOST_COMPONENTS => {
            let message = format!("has {} elements", items.len());
            let allowed = format!("at most {MOST_COMPONENTS}");
            report.add_at(node.place, path, String::new(), message, allowed, None);
            return None;
        }
        (Kind::List(item), Value::List(items)) => {
            let checked = items.iter().enumerate().map(|(i, n)| {
                value(item, n, &format!("{path}[{i}]"), report).unwrap_or(Json::Null)
            });
            return Some(Json::Array(checked.collect()));
        }
        _ => {}
    }
    let fault = match scalar(kind, node, report.format) {
        Ok(json) => return Some(json),
        Err(fault) => fault,
    };
    let (allowed, shown) = (kind.allowed(report.format), node.show());
    let suggestion = fault
        .suggestion
        .filter(|s| is_allowed(kind, s, node, report.format));
    report.add_at(node.place, path, shown, fault.message, allowed, suggestion);
    None
}

/// Whether a suggested value would be accepted. Quantities, which are in quotes, may be out of
/// range even with the right unit.
fn is_allowed(kind: &Kind, suggestion: &str, instead_of: &Node, format: Format) -> bool {
    let quantity = suggestion
        .strip_prefix('"')
        .and_then(|s| s.strip_suffix('"'));
    quantity.is_none_or(|text| {
        let value = Value::Text(text.to_string());
        let place = instead_of.place;
        scalar(kind, &Node { value, place }, format).is_ok()
    })
}
