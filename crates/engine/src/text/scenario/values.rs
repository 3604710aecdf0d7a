//! Checks single values: texts, names, quantities, numbers, choices.

use super::tree::{Node, Value};
use crate::ground::format::{Clock, Format};
use crate::ground::units::{BitRate, Ratio, Span};
use crate::text::notation::parse::{self, Fault, FractionRule};
use crate::text::notation::show::{show_bytes, show_cells, show_duration, show_rate};
use crate::text::notation::units::{self, Unit};
use crate::text::notation::words::meant;
use crate::text::program::MOST_CHARACTERS;
use crate::text::registry::{
    Choice, DECIMALS, FAIR_SHARES, Family, Kind, MAX_CELLS, MAX_DURATION_NS, MAX_RATE, NONE,
};
use serde_json::{Value as Json, json};

/// The value of `node` in the unit of the model. `kind` must be one without parts, and the scenario
/// of `format`.
pub(crate) fn scalar(kind: &Kind, node: &Node, format: Format) -> Result<Json, Fault> {
    let quantity = |units, part| quantity(node, units, part, format);
    match (kind, &node.value) {
        (Kind::Text, Value::Text(text)) => any_text(text),
        (Kind::Name, Value::Text(text)) => name(text),
        (Kind::Reference(families), Value::Text(text)) => reference(families, text),
        (Kind::Bool, Value::Bool(truth)) => Ok(json!(truth)),
        (
            Kind::Rate {
                fair_shares: true, ..
            },
            Value::Text(t),
        ) if t == FAIR_SHARES => Ok(json!(FAIR_SHARES)),
        (&Kind::Rate { min, max, zero, .. }, _) => {
            let part = match node.place.in_text() {
                true => FractionRule::Refuse,
                false => FractionRule::Round,
            };
            let rate = quantity(units::RATE, part)?;
            if zero && rate == 0 {
                return Ok(json!(0));
            }
            let min = min.max(format.least_rate().0);
            in_range(rate, min, max, |r| show_rate(BitRate(r)))
        }
        (Kind::Duration { none: true, .. }, Value::Text(t)) if t == NONE => Ok(Json::Null),
        (&Kind::Duration { min_ns, max_ns, .. }, _) => {
            let ticks = quantity(units::DURATION, FractionRule::Round)?;
            duration(ticks, [min_ns, max_ns], format.clock)
        }
        (
            Kind::Cells {
                unlimited: true, ..
            }
            | Kind::Places { buffer: true, .. },
            Value::Text(t),
        ) if t == "unlimited" => Ok(Json::Null),
        (Kind::Number { .. }, Value::Text(t)) if t == "unlimited" => Ok(Json::Null),
        (&Kind::Cells { min, max, .. }, _) => {
            let cells = quantity(units::CELLS, FractionRule::Refuse)?;
            in_range(cells, min, max, show_cells)
        }
        (&Kind::Places { min, buffer }, _) => places(node, min, buffer, format),
        (&Kind::Bytes { min, max }, _) => {
            let bytes = quantity(units::BYTES, FractionRule::Refuse)?;
            in_range(bytes, min, max, show_bytes)
        }
        (&(Kind::Integer { min, max } | Kind::Number { min, max }), &Value::Integer(i)) => {
            integer(i, min, max)
        }
        (&(Kind::Integer { min, max } | Kind::Number { min, max }), Value::Decimal(text))
            if !node.place.in_text() =>
        {
            integer(parse::whole(text)?, min, max)
        }
        (
            &Kind::Decimal {
                min,
                max,
                below_max,
                decimals,
            },
            _,
        ) => decimal(ratio(node, decimals)?, min, max, below_max),
        (Kind::Threshold, _) => threshold(node, format),
        (Kind::Program, Value::Text(text)) => program_text(text),
        (Kind::Own, _) => own(node, format),
        (Kind::Choice(choices), Value::Text(text)) => choice(choices, text),
        // A name of digits, which an override or a program need not quote.
        (Kind::Choice(choices), Value::Integer(number)) if !node.place.in_text() => {
            choice(choices, &number.to_string())
        }
        _ => Err(wrong_kind(node)),
    }
}

/// The text of a program, whose grammar [`super::validate`] checks.
fn program_text(text: &str) -> Result<Json, Fault> {
    let is_bad = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if text.chars().count() > MOST_CHARACTERS {
        Err(Fault::new(format!(
            "is longer than {MOST_CHARACTERS} characters"
        )))
    } else if text.chars().any(is_bad) {
        Err(Fault::new("contains a control character"))
    } else {
        Ok(json!(text))
    }
}

/// A parameter of a program, by its unit.
fn own(node: &Node, format: Format) -> Result<Json, Fault> {
    /// Largest number without unit.
    const LARGEST: u64 = 1_000_000_000_000;
    let Some(text) = node.text() else {
        let number = ratio(node, DECIMALS)?;
        return decimal(number, 0, LARGEST, false).map(|r| json!({ "number": r }));
    };
    if let Some(fraction) = text.strip_suffix('K') {
        let fraction = parse::ratio(fraction, DECIMALS)?;
        return decimal(fraction, 0, 1000, false).map(|r| json!({ "fraction": r }));
    }
    if text.contains('/')
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b'/' || b == b' ')
    {
        return decimal(parse::ratio(text, DECIMALS)?, 0, LARGEST, false)
            .map(|r| json!({ "number": r }));
    }
    let unit = unit_of(text);
    if units::have(units::DURATION, unit) {
        let ticks = quantity(node, units::DURATION, FractionRule::Round, format)?;
        duration(ticks, [0, MAX_DURATION_NS], format.clock).map(|t| json!({ "time": t }))
    } else if units::have(units::RATE, unit) {
        let rate = quantity(node, units::RATE, FractionRule::Refuse, format)?;
        in_range(rate, 0, MAX_RATE, |r| show_rate(BitRate(r))).map(|r| json!({ "rate": r }))
    } else if counts_bytes(unit, format) {
        let bytes = quantity(node, units::BYTES, FractionRule::Refuse, format)?;
        in_range(bytes, 0, MAX_CELLS, show_bytes).map(|b| json!({ "bytes": b }))
    } else {
        let cells = quantity(node, units::CELLS, FractionRule::Refuse, format)?;
        in_range(cells, 0, MAX_CELLS, show_cells).map(|c| json!({ "cells": c }))
    }
}

/// The unit of a quantity, as written.
fn unit_of(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || " ._+-".contains(c))
        .trim()
}

/// Whether a queue of `format` may count what has this unit: bytes, which cells of `aal5` are not
/// counted in.
fn counts_bytes(unit: &str, format: Format) -> bool {
    !format.is_aal5() && units::have(units::BYTES, unit)
}

/// Places in a queue: cells, bytes, or for a `buffer` the bytes that its port sends in a time.
fn places(node: &Node, min: u64, buffer: bool, format: Format) -> Result<Json, Fault> {
    let unit = node.text().map_or("", unit_of);
    if counts_bytes(unit, format) {
        let bytes = quantity(node, units::BYTES, FractionRule::Refuse, format)?;
        return in_range(bytes, min, MAX_CELLS, show_bytes).map(|b| json!({ "bytes": b }));
    }
    if buffer && !format.is_aal5() && units::have(units::DURATION, unit) {
        let ticks = quantity(node, units::DURATION, FractionRule::Round, format)?;
        return duration(ticks, [1, MAX_DURATION_NS], format.clock).map(|t| json!({ "time": t }));
    }
    let cells = quantity(node, units::CELLS, FractionRule::Refuse, format)?;
    in_range(cells, min, MAX_CELLS, show_cells)
}

fn integer(i: i128, min: u64, max: u64) -> Result<Json, Fault> {
    if i < i128::from(min) {
        return Err(Fault::new(format!("must be at least {min}")));
    }
    let i = u64::try_from(i).unwrap_or(u64::MAX);
    in_range(i, min, max, |i| i.to_string())
}

fn wrong_kind(node: &Node) -> Fault {
    Fault::new(format!("must not be {}", node.kind()))
}

fn any_text(text: &str) -> Result<Json, Fault> {
    if text.chars().any(char::is_control) {
        Err(Fault::new("contains a control character"))
    } else if text.chars().count() > 200 {
        Err(Fault::new("is longer than 200 characters"))
    } else {
        Ok(json!(text))
    }
}

/// Longest name, in characters.
pub(crate) const LONGEST_NAME: usize = 64;

fn too_long() -> Fault {
    Fault::new(format!("is longer than {LONGEST_NAME} characters"))
}

fn name(text: &str) -> Result<Json, Fault> {
    let fits = |c: char| c.is_alphanumeric() || "_-/>:+".contains(c);
    match text {
        "" => Err(Fault::new("is empty")),
        t if t.chars().count() > LONGEST_NAME => Err(too_long()),
        t if t.chars().all(|c| c.is_ascii_digit()) => Err(Fault::new("contains only digits")),
        t => match t.chars().find(|&c| !fits(c)) {
            Some(c) => Err(Fault::new(format!("contains the character {c:?}"))),
            None => Ok(json!(t)),
        },
    }
}

/// Checks the name of another component. Patterns are allowed only in override paths; the message
/// says what selects several things here.
fn reference(families: &[Family], text: &str) -> Result<Json, Fault> {
    if !text.contains('*') {
        return name(text);
    }
    let group = "patterns are not allowed; to select several, use the name of their group";
    let unnamed = ", or `vc` for all unnamed VCs";
    let also = if families == [Family::Vc] {
        unnamed
    } else {
        ""
    };
    Err(Fault::new(format!("{group}{also}")))
}

fn choice(choices: &[Choice], text: &str) -> Result<Json, Fault> {
    let names = choices.iter().map(|c| c.name);
    if names.clone().any(|n| n == text) {
        return Ok(json!(text));
    }
    Err(Fault {
        message: "is not one of the choices".into(),
        suggestion: meant(text, names),
    })
}

fn decimal(ratio: Ratio, min: u64, max: u64, below_max: bool) -> Result<Json, Fault> {
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

fn threshold(node: &Node, format: Format) -> Result<Json, Fault> {
    if let Some(text) = node.text().filter(|t| !t.contains('/')) {
        if counts_bytes(unit_of(text), format) {
            let bytes = quantity(node, units::BYTES, FractionRule::Refuse, format)?;
            return in_range(bytes, 0, MAX_CELLS, show_bytes).map(|b| json!({ "bytes": b }));
        }
        let cells = quantity(node, units::CELLS, FractionRule::Refuse, format)?;
        return in_range(cells, 0, MAX_CELLS, show_cells).map(|c| json!({ "cells": c }));
    }
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

/// Parses a quantity. A bare number is read as a quantity without a unit, so that the message says
/// that the unit is missing.
fn quantity(node: &Node, units: &[Unit], part: FractionRule, format: Format) -> Result<u64, Fault> {
    match &node.value {
        Value::Text(text) => parse::quantity(text, units, part, format),
        Value::Integer(i) => Err(Fault {
            message: "missing unit".into(),
            suggestion: parse::quantity(&i.to_string(), units, part, format)
                .err()
                .and_then(|f| f.suggestion),
        }),
        Value::Decimal(_) => Err(Fault::new("missing unit")),
        _ => Err(wrong_kind(node)),
    }
}

/// A length of time, which must be in this range of nanoseconds.
fn duration(ticks: u64, range_ns: [u64; 2], clock: Clock) -> Result<Json, Fault> {
    let [min, max] = range_ns.map(|ns| clock.nanoseconds_or_longest(ns).0);
    in_range(ticks, min, max, |t| show_duration(Span(t), clock))
}

fn ratio(node: &Node, decimals: u32) -> Result<Ratio, Fault> {
    match &node.value {
        Value::Decimal(text) if node.place.in_text() => parse::ratio(text, decimals),
        Value::Decimal(text) => parse::rounded_ratio(text, decimals),
        Value::Integer(i) => parse::ratio(&i.to_string(), decimals),
        Value::Text(text) if is_ratio(text) => parse::ratio(text, decimals),
        _ => Err(wrong_kind(node)),
    }
}

/// Whether a text is a ratio, or a whole number in quotes.
fn is_ratio(text: &str) -> bool {
    text.contains('/') || (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
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
