//! The registry as JSON, and the JSON Schema of scenarios.

use super::{Choice, Component, Default, Family, Kind, Parameter};
use crate::scenario::notation::{self, show_bytes, show_cells, show_duration, show_rate};
use crate::units::BitRate;
use serde_json::{Map, Value, json};

/// The whole registry:
/// `{"families": [{"name", "help", "tag", "components": [{"name", "help", "formula", "source", "shorthand",
/// "parameters": [{"name", "help", "kind", "allowed", "required", "default", "default_text", "only_with"}]}]}]}`.
///
/// `kind` is `{"type": ...}` with `minimum`, `maximum` (as written in a scenario), `units`, `choices`, `families`,
/// `family` or `items` where they apply. `default` is null when the parameter is required or its default is derived; `default_text`
/// says the default in words.
pub fn as_json() -> Value {
    let families = Family::ALL.map(|family| {
        json!({
            "name": family.name(),
            "help": family.help(),
            "tag": family.tag(),
            "components": family.components().iter().map(component).collect::<Vec<_>>(),
        })
    });
    json!({ "families": families })
}

fn component(c: &Component) -> Value {
    json!({
        "name": c.name,
        "help": c.help,
        "formula": c.formula,
        "source": c.source,
        "shorthand": c.has_shorthand(),
        "parameters": c.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn parameter(p: &Parameter) -> Value {
    json!({
        "name": p.name,
        "help": p.help,
        "kind": kind(&p.kind),
        "allowed": notation::allowed(&p.kind),
        "required": p.is_required(),
        "default": default(&p.default),
        "default_text": default_text(&p.default),
        "only_with": p.only_with.map(|(parameter, values)| json!({ "parameter": parameter, "values": values })),
    })
}

fn default(default: &Default) -> Value {
    match *default {
        Default::Required | Default::Derived(_) => Value::Null,
        Default::Text(text) => json!(text),
        Default::Integer(integer) => json!(integer),
        Default::Decimal(decimal) => decimal.parse().unwrap_or(Value::Null),
        Default::Bool(truth) => json!(truth),
        Default::EmptyList => json!([]),
    }
}

/// The default in words; empty when the parameter is required.
pub(super) fn default_text(default: &Default) -> String {
    match *default {
        Default::Required => String::new(),
        Default::Text(text) | Default::Decimal(text) | Default::Derived(text) => text.into(),
        Default::Integer(integer) => integer.to_string(),
        Default::Bool(truth) => truth.to_string(),
        Default::EmptyList => "none".into(),
    }
}

fn kind(kind: &Kind) -> Value {
    let range = |name: &str, min: String, max: String, units: Vec<&str>| json!({ "type": name, "minimum": min, "maximum": max, "units": units });
    match kind {
        Kind::Text => json!({ "type": "text" }),
        Kind::Name => json!({ "type": "name" }),
        Kind::Bool => json!({ "type": "bool" }),
        &Kind::Rate { min, max } => range(
            "rate",
            show_rate(BitRate(min)),
            show_rate(BitRate(max)),
            notation::units_of(kind),
        ),
        &Kind::Duration { min, max } => range(
            "duration",
            show_duration(min),
            show_duration(max),
            notation::units_of(kind),
        ),
        &Kind::Cells {
            min,
            max,
            unlimited,
        } => {
            let mut value = range(
                "cells",
                show_cells(min),
                show_cells(max),
                notation::units_of(kind),
            );
            value["unlimited"] = json!(unlimited);
            value
        }
        &Kind::Bytes { min, max } => range(
            "bytes",
            show_bytes(min),
            show_bytes(max),
            notation::units_of(kind),
        ),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Decimal {
            min,
            max,
            below_max,
            decimals,
        } => json!({
            "type": "decimal", "minimum": min, "maximum": max, "below_maximum": below_max, "decimals": decimals,
        }),
        Kind::Threshold => json!({ "type": "threshold", "units": notation::units_of(kind) }),
        Kind::Choice(choices) => {
            json!({ "type": "choice", "choices": choices.iter().map(choice).collect::<Vec<_>>() })
        }
        Kind::Reference(families) => json!({
            "type": "reference", "families": families.iter().map(|f| f.name()).collect::<Vec<_>>(),
        }),
        Kind::One(family) => json!({ "type": "component", "family": family.name() }),
        Kind::List(item) => json!({ "type": "list", "items": self::kind(item) }),
    }
}

fn choice(c: &Choice) -> Value {
    json!({ "name": c.name, "help": c.help, "formula": c.formula, "source": c.source })
}

/// The JSON Schema (draft 2020-12) of a scenario as TOML or JSON. It knows fields, kinds, units and choices; ranges
/// of quantities and what concerns several fields are left to the reader.
pub fn json_schema() -> Value {
    let mut definitions = Map::new();
    for family in Family::ALL {
        definitions.insert(family.name().into(), family_schema(family));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cellyard scenario",
        "$ref": "#/$defs/scenario",
        "$defs": definitions,
    })
}

fn family_schema(family: Family) -> Value {
    let components = family.components();
    let Some(tag) = family.tag() else {
        return component_schema(&components[0], None);
    };
    let shorthands: Vec<&str> = components
        .iter()
        .filter(|c| c.has_shorthand())
        .map(|c| c.name)
        .collect();
    let tables = components.iter().map(|c| component_schema(c, Some(tag)));
    let shorthand =
        json!({ "enum": shorthands, "description": "By its name alone, with every default." });
    let forms: Vec<Value> = (!shorthands.is_empty())
        .then_some(shorthand)
        .into_iter()
        .chain(tables)
        .collect();
    json!({ "description": family.help(), "oneOf": forms })
}

fn component_schema(component: &Component, tag: Option<&str>) -> Value {
    let mut properties = Map::new();
    if let Some(tag) = tag {
        properties.insert(tag.into(), json!({ "const": component.name }));
    }
    for p in component.parameters {
        let mut schema = kind_schema(&p.kind);
        schema["description"] = json!(p.help);
        if !default(&p.default).is_null() {
            schema["default"] = default(&p.default);
        }
        properties.insert(p.name.into(), schema);
    }
    let required = component
        .parameters
        .iter()
        .filter(|p| p.is_required())
        .map(|p| p.name);
    let required: Vec<&str> = tag.into_iter().chain(required).collect();
    json!({
        "type": "object",
        "description": component.help,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn kind_schema(kind: &Kind) -> Value {
    // A number, and the unit behind it.
    let quantity = |alternatives: &str| {
        let units = notation::units_of(kind).join("|");
        let pattern = format!(
            r"^\s*(\+?[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9]+)?\s*({units}){alternatives})\s*$"
        );
        json!({ "type": "string", "pattern": pattern })
    };
    match kind {
        Kind::Text => json!({ "type": "string", "maxLength": 200 }),
        Kind::Name | Kind::Reference(_) => {
            json!({ "type": "string", "minLength": 1, "maxLength": 64 })
        }
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Rate { .. } | Kind::Duration { .. } | Kind::Bytes { .. } => quantity(""),
        Kind::Cells { unlimited, .. } => quantity(if *unlimited { "|unlimited" } else { "" }),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Decimal {
            min,
            max,
            below_max,
            ..
        } => {
            let upper = if *below_max {
                "exclusiveMaximum"
            } else {
                "maximum"
            };
            let fraction = json!({ "type": "string", "pattern": "^[0-9]+/[0-9]+$" });
            json!({ "anyOf": [{ "type": "number", "minimum": min, upper: max }, fraction] })
        }
        Kind::Threshold => {
            let fraction = json!({ "type": "string", "pattern": "^[0-9]+/[0-9]+$" });
            json!({ "anyOf": [quantity(""), { "type": "number", "minimum": 0, "maximum": 1 }, fraction] })
        }
        Kind::Choice(choices) => {
            json!({ "enum": choices.iter().map(|c| c.name).collect::<Vec<_>>() })
        }
        Kind::One(family) => json!({ "$ref": format!("#/$defs/{}", family.name()) }),
        Kind::List(item) => json!({ "type": "array", "items": kind_schema(item) }),
    }
}
