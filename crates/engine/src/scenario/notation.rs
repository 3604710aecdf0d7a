//! What values of each kind look like, in words.

use super::quantity;
pub(crate) use super::quantity::{show_bytes, show_cells, show_duration, show_rate};
use crate::registry::Kind;
use crate::units::BitRate;

/// Names of the units that a value of `kind` takes; none without a unit.
pub(crate) fn units_of(kind: &Kind) -> Vec<&'static str> {
    let units = match kind {
        Kind::Rate { .. } => quantity::RATE,
        Kind::Duration { .. } => quantity::DURATION,
        Kind::Cells { .. } | Kind::Threshold => quantity::CELLS,
        Kind::Bytes { .. } => quantity::BYTES,
        _ => &[],
    };
    units.iter().map(|u| u.name).collect()
}

/// What a parameter of `kind` may be, in words.
pub(crate) fn allowed(kind: &Kind) -> String {
    let range = |min: String, max: String, also: &str| {
        let units = units_of(kind).join(", ");
        format!("\"{min}\" to \"{max}\"{also}; units: {units}")
    };
    match kind {
        Kind::Text => "at most 200 characters".into(),
        Kind::Name => "at most 64 letters, digits and _ - / > : +, not digits only".into(),
        Kind::Bool => "true or false".into(),
        &Kind::Rate { min, max } => range(show_rate(BitRate(min)), show_rate(BitRate(max)), ""),
        &Kind::Duration { min, max } => range(show_duration(min), show_duration(max), ""),
        &Kind::Cells {
            min,
            max,
            unlimited,
        } => {
            let also = if unlimited { ", or \"unlimited\"" } else { "" };
            range(show_cells(min), show_cells(max), also)
        }
        &Kind::Bytes { min, max } => range(show_bytes(min), show_bytes(max), ""),
        Kind::Integer { min, max } => format!("an integer from {min} to {max}"),
        Kind::Decimal {
            min,
            max,
            below_max,
            decimals,
        } => {
            let to = if *below_max { "to below" } else { "to" };
            format!("a number from {min} {to} {max} with at most {decimals} decimals")
        }
        Kind::Threshold => "cells, \"800 cells\", or a fraction of the buffer from 0 to 1".into(),
        Kind::Choice(choices) => list(choices.iter().map(|c| c.name)),
        Kind::Reference(families) => {
            format!(
                "the name of a {}",
                families
                    .iter()
                    .map(|f| f.name())
                    .collect::<Vec<_>>()
                    .join(" or ")
            )
        }
        Kind::One(family) => match family.tag() {
            None => format!(
                "a table: {}",
                list(family.components()[0].parameters.iter().map(|p| p.name))
            ),
            Some(tag) => {
                format!(
                    "a table with `{tag}`, one of {}",
                    list(family.components().iter().map(|c| c.name))
                )
            }
        },
        Kind::List(item) => format!("a list, each {}", allowed(item)),
    }
}

/// Names with commas between.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}
