//! The JSON Schema of scenarios.

use super::component::Component;
use super::family::Family;
use super::json::stated_default;
use super::kind::{FAIR_SHARES, Kind, NONE};
use crate::text::notation::units::{BYTES, CELLS, DURATION, RATE, Unit};
use crate::text::program::MOST_CHARACTERS;
use serde_json::{Map, Value, json};

const FRACTION: &str = "^[0-9]+/[0-9]+$";

/// The JSON Schema (draft 2020-12) of a scenario as TOML or JSON. It knows fields, kinds, units and choices; ranges
/// of quantities and what concerns several fields are left to the reader.
pub fn json_schema() -> Value {
    let mut definitions = Map::new();
    for family in Family::ALL {
        let components = family.components();
        let Some(tag) = family.tag() else {
            let schema = component_schema(&components[0], None);
            definitions.insert(family.name().into(), schema);
            continue;
        };
        definitions.insert(family.name().into(), family_schema(family, tag));
        for component in components {
            let schema = component_schema(component, Some(tag));
            definitions.insert(definition(family, component), schema);
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cellyard scenario",
        "$ref": "#/$defs/scenario",
        "$defs": definitions,
    })
}

/// The name of the definition of a component among others of its family.
fn definition(family: Family, component: &Component) -> String {
    format!("{}.{}", family.name(), component.name)
}

/// The schema of a family whose components exclude each other. A table is checked only against the component that
/// its tag names, so that an error is about a field of that component.
fn family_schema(family: Family, tag: &str) -> Value {
    let components = family.components();
    let tags: Vec<&str> = components.iter().map(|c| c.name).collect();
    let mut forms = Vec::new();
    let mut chosen = Vec::new();
    for component in components {
        let of = json!({ "$ref": format!("#/$defs/{}", definition(family, component)) });
        let named =
            json!({ "required": [tag], "properties": { tag: { "const": component.name } } });
        chosen.push(json!({ "if": named, "then": of }));
        forms.push(of);
    }
    let shorthands: Vec<&str> = components
        .iter()
        .filter(|c| c.has_shorthand())
        .map(|c| c.name)
        .collect();
    let otherwise = if shorthands.is_empty() {
        json!({ "type": "object" })
    } else {
        let names = json!({ "enum": shorthands, "description": "The name alone: every parameter has its default." });
        forms.insert(0, names.clone());
        names
    };
    // Editors complete from the alternatives of `anyOf`, and do not look into `then`. The first one accepts anything.
    forms.insert(0, json!({}));
    let mut table = json!({ "properties": { tag: { "enum": tags } } });
    match family.untagged() {
        None => table["required"] = json!([tag]),
        Some(component) => {
            let of = json!({ "$ref": format!("#/$defs/{}", definition(family, component)) });
            chosen.push(json!({ "if": { "required": [tag] }, "else": of }));
        }
    }
    table["allOf"] = json!(chosen);
    json!({
        "description": family.help(),
        "anyOf": forms,
        "if": { "type": "object" },
        "then": table,
        "else": otherwise,
    })
}

fn component_schema(component: &Component, tag: Option<&str>) -> Value {
    let mut properties = Map::new();
    if let Some(tag) = tag {
        properties.insert(tag.into(), json!({ "const": component.name }));
    }
    for p in component.parameters {
        let mut schema = kind_schema(&p.kind);
        schema["description"] = json!(component.help_of(p));
        let default = stated_default(component, p);
        if !default.is_null() {
            schema["default"] = default;
        }
        properties.insert(p.name.into(), schema);
    }
    let required = component
        .parameters
        .iter()
        .filter(|p| p.is_required())
        .map(|p| p.name);
    let required: Vec<&str> = component.tag().into_iter().chain(required).collect();
    let others = component.own.map(|own| {
        let mut schema = kind_schema(&own.kind);
        schema["description"] = json!(own.help);
        schema
    });
    json!({
        "type": "object",
        "description": component.help,
        "properties": properties,
        "required": required,
        "additionalProperties": others.unwrap_or(json!(false)),
    })
}

fn kind_schema(kind: &Kind) -> Value {
    // A number, and the unit behind it.
    let pattern = |alternatives: &str| {
        let units = kind.spellings().join("|");
        format!(
            r"^\s*(\+?[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9]+)?\s*({units}){alternatives})\s*$"
        )
    };
    let quantity =
        |alternatives: &str| json!({ "type": "string", "pattern": pattern(alternatives) });
    match kind {
        Kind::Text => json!({ "type": "string", "maxLength": 200 }),
        Kind::Name | Kind::Reference(_) => {
            json!({ "type": "string", "minLength": 1, "maxLength": 64 })
        }
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Rate {
            fair_shares: true, ..
        } => quantity(&format!("|{FAIR_SHARES}")),
        Kind::Duration { none: true, .. } => quantity(&format!("|{NONE}")),
        Kind::Rate { .. } | Kind::Duration { .. } | Kind::Bytes { .. } => quantity(""),
        Kind::Cells {
            unlimited: true, ..
        }
        | Kind::Places { buffer: true, .. } => quantity("|unlimited"),
        Kind::Cells { .. } | Kind::Places { .. } => quantity(""),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => {
            json!({ "type": ["integer", "string"], "minimum": min, "maximum": max, "pattern": "^unlimited$" })
        }
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
            json!({ "type": ["number", "string"], "minimum": min, upper: max, "pattern": FRACTION })
        }
        Kind::Threshold => {
            let text = format!("{}|{FRACTION}", pattern(""));
            json!({ "type": ["number", "string"], "minimum": 0, "maximum": 1, "pattern": text })
        }
        Kind::Program => json!({ "type": "string", "maxLength": MOST_CHARACTERS }),
        Kind::Own => {
            let units: Vec<&str> = [CELLS, BYTES, DURATION, RATE]
                .into_iter()
                .flatten()
                .flat_map(Unit::spellings)
                .collect();
            let text = format!(
                r"^\s*\+?[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9]+)?\s*({})\s*$|^[0-9]+/[0-9]+(\s*K)?$|^[0-9]+(\.[0-9]+)?\s*K$",
                units.join("|")
            );
            json!({ "type": ["number", "string"], "minimum": 0, "pattern": text })
        }
        Kind::Choice(choices) => {
            json!({ "enum": choices.iter().map(|c| c.name).collect::<Vec<_>>() })
        }
        Kind::One(family) => json!({ "$ref": format!("#/$defs/{}", family.name()) }),
        Kind::List(item) => json!({ "type": "array", "items": kind_schema(item) }),
    }
}
