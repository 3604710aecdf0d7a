//! The registry as JSON: what classes, stubs and pages outside the engine are made from.

use super::component::{Component, Formats, Parameter};
use super::family::Family;
use super::kind::Default;
use super::kind::{Choice, Kind};
use crate::ground::format::Format;
use crate::text::notation::units::QUANTITIES;
use crate::text::program::names::{DROP, Dialect, Entry, SCHEDULER};
use serde_json::{Map, Value, json};

/// The whole registry:
/// `{"families": [{"name", "help", "tag", "untagged", "components": [{"name", "help", "formula", "diagram", "source", "limits", "shorthand", "own": {"kind", "allowed", "help"},
/// "parameters": [{"name", "help", "kind", "allowed", "required", "default", "default_text", "only_with"}]}]}]}`.
///
/// Next to it `"units": [{"quantity", "units": [{"name", "also"}]}]`, with the other spellings that
/// are read.
///
/// `"programs": {"names": [{"word", "type", "help"}], "functions": ..., "verdicts": [{"word", "help"}]}` are the words of programs.
///
/// `kind` is `{"type": ...}` with `minimum`, `maximum` (as written in a scenario), `units`, `choices`, `families`,
/// `family` or `items` with `items_allowed` if they apply. `default` is null when the parameter is required, or its default is derived or set by choices; `default_text`
/// says the default in words. A choice has the defaults of other parameters that it `sets`, by name and in words.
pub fn as_json() -> Value {
    let families = Family::ALL.map(|family| {
        json!({
            "name": family.name(),
            "help": family.help(),
            "tag": family.tag(),
            "untagged": family.untagged().map(|c| c.name),
            "components": family.components().iter().map(component).collect::<Vec<_>>(),
        })
    });
    let units = QUANTITIES.map(|(quantity, units)| {
        let units = units
            .iter()
            .map(|u| json!({ "name": u.name, "also": u.also }));
        json!({ "quantity": quantity, "units": units.collect::<Vec<_>>() })
    });
    let programs = json!({ "drop": words(&DROP), "scheduler": words(&SCHEDULER) });
    json!({ "families": families, "units": units, "programs": programs })
}

fn words(dialect: &Dialect) -> Value {
    let verdicts = dialect.verdicts.iter();
    let verdicts = verdicts.map(|(word, _, help)| json!({ "word": word, "help": help }));
    json!({
        "names": dialect.names.iter().map(word).collect::<Vec<_>>(),
        "functions": dialect.functions.iter().map(word).collect::<Vec<_>>(),
        "verdicts": verdicts.collect::<Vec<_>>(),
    })
}

fn word<T>(entry: &Entry<T>) -> Value {
    json!({ "word": entry.word, "type": entry.of_type.to_string(), "help": entry.help })
}

fn component(c: &Component) -> Value {
    json!({
        "name": c.name,
        "help": c.help,
        "formula": c.formula,
        "diagram": c.diagram,
        "source": c.source,
        "limits": limits(c),
        "shorthand": c.has_shorthand(),
        "own": c.own.map(|own| json!({ "kind": kind(&own.kind), "allowed": own.kind.allowed(Format::AAL5), "help": own.help })),
        "parameters": c.parameters.iter().map(|p| parameter(c, p)).collect::<Vec<_>>(),
    })
}

/// What the component cannot do, in sentences.
fn limits(c: &Component) -> String {
    let format = match c.formats {
        Formats::Any => String::new(),
        some => format!("Defined {}.", some.words()),
    };
    let sentences = [c.limits, &format]
        .into_iter()
        .filter(|text| !text.is_empty());
    sentences.collect::<Vec<_>>().join(" ")
}

fn parameter(of: &Component, p: &Parameter) -> Value {
    let only_with = of.only_with(p.name);
    json!({
        "name": p.name,
        "help": of.help_of(p),
        "kind": kind(&p.kind),
        "allowed": p.kind.allowed(Format::AAL5),
        "required": p.is_required(),
        "default": stated_default(of, p),
        "default_text": p.default_text(),
        "only_with": only_with.map(|(parameter, values)| json!({ "parameter": parameter, "values": values })),
    })
}

/// The default, if it is one value in all scenarios.
pub(super) fn stated_default(of: &Component, p: &Parameter) -> Value {
    match of.choices_that_set(p.name).next() {
        Some(_) => Value::Null,
        None => default(&p.default),
    }
}

fn default(default: &Default) -> Value {
    match *default {
        Default::Text(text) => json!(text),
        Default::Integer(integer) => json!(integer),
        Default::Decimal(decimal) => decimal.parse().unwrap_or(Value::Null),
        Default::Bool(truth) => json!(truth),
        Default::EmptyList => json!([]),
        Default::Required
        | Default::AllDefaults
        | Default::Multiple(..)
        | Default::Implied(..)
        | Default::Derived(_) => Value::Null,
    }
}

fn kind(kind: &Kind) -> Value {
    let quantity = |name: &str| {
        let [minimum, maximum] = kind.range(Format::AAL5).unwrap_or_default();
        json!({ "type": name, "minimum": minimum, "maximum": maximum, "units": kind.units(Format::AAL5) })
    };
    match kind {
        Kind::Text => json!({ "type": "text" }),
        Kind::Name => json!({ "type": "name" }),
        Kind::Bool => json!({ "type": "bool" }),
        Kind::Rate { fair_shares, .. } => {
            let mut value = quantity("rate");
            value["fair_shares"] = json!(fair_shares);
            value
        }
        Kind::Duration { .. } => quantity("duration"),
        Kind::Cells { unlimited, .. } => {
            let mut value = quantity("cells");
            value["unlimited"] = json!(unlimited);
            value
        }
        Kind::Places { buffer, .. } => {
            let mut value = quantity("places");
            value["unlimited"] = json!(buffer);
            value
        }
        Kind::Bytes { .. } => quantity("bytes"),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => {
            json!({ "type": "number", "minimum": min, "maximum": max, "unlimited": true })
        }
        Kind::Decimal {
            min,
            max,
            below_max,
            decimals,
        } => json!({
            "type": "decimal", "minimum": min, "maximum": max, "below_maximum": below_max, "decimals": decimals,
        }),
        Kind::Program => json!({ "type": "program" }),
        Kind::Own => json!({ "type": "own" }),
        Kind::Threshold => json!({ "type": "threshold", "units": kind.units(Format::AAL5) }),
        Kind::Choice(choices) => {
            json!({ "type": "choice", "choices": choices.iter().map(choice).collect::<Vec<_>>() })
        }
        Kind::Reference(families) => json!({
            "type": "reference", "families": families.iter().map(|f| f.name()).collect::<Vec<_>>(),
        }),
        Kind::One(family) => json!({ "type": "component", "family": family.name() }),
        Kind::List(item) => {
            json!({ "type": "list", "items": self::kind(item), "items_allowed": item.allowed(Format::AAL5) })
        }
    }
}

fn choice(c: &Choice) -> Value {
    let sets = c.sets.iter();
    let sets = sets.map(|(name, default)| (name.to_string(), json!(default.text(name))));
    let sets: Map<String, Value> = sets.collect();
    json!({ "name": c.name, "help": c.help, "formula": c.formula, "source": c.source, "limits": c.limits, "sets": sets })
}
