//! What a parameter may be and what it is when left out, in words.

use super::component::Parameter;
use super::family::Family;
use super::kind::{Default, FAIR_SHARES, Kind, MAX_CELLS, NONE};
use crate::ground::format::Format;
use crate::ground::units::BitRate;
use crate::text::notation::show::{show_bytes, show_cells, show_nanoseconds, show_rate};
use crate::text::notation::units::{self, Unit};
use crate::text::notation::words::list;

impl Kind {
    /// The units that its values take, by what they count; none without a unit.
    fn quantities(&self) -> &'static [&'static [Unit]] {
        match self {
            Kind::Rate { .. } => &[units::RATE],
            Kind::Duration { .. } => &[units::DURATION],
            Kind::Cells { .. } => &[units::CELLS],
            Kind::Places { buffer: true, .. } => &[units::CELLS, units::BYTES, units::DURATION],
            Kind::Places { .. } | Kind::Threshold => &[units::CELLS, units::BYTES],
            Kind::Bytes { .. } => &[units::BYTES],
            _ => &[],
        }
    }

    /// Names of the units that its values take in scenarios of `format`. Places of `aal5` are cells.
    pub(crate) fn units(&self, format: Format) -> Vec<&'static str> {
        let all = self.quantities();
        let all = if format.is_aal5() {
            &all[..all.len().min(1)]
        } else {
            all
        };
        let units = all.iter().copied().flatten();
        let units = units.filter(|unit| unit.size(format).is_some());
        units.map(|unit| unit.name).collect()
    }

    /// All spellings of these units that are read.
    pub(crate) fn spellings(&self) -> Vec<&'static str> {
        let units = self.quantities().iter().copied().flatten();
        units.flat_map(Unit::spellings).collect()
    }

    /// The least and the most of a quantity in scenarios of `format`, as written there; `None` of
    /// anything else.
    pub(crate) fn range(&self, format: Format) -> Option<[String; 2]> {
        Some(match *self {
            Kind::Rate { min, max, .. } => {
                [min.max(format.least_rate().0), max].map(|rate| show_rate(BitRate(rate)))
            }
            Kind::Duration { min_ns, max_ns, .. } => {
                let longest = format.clock.longest_nanoseconds();
                [min_ns, max_ns.min(longest)].map(show_nanoseconds)
            }
            Kind::Cells { min, max, .. } => [min, max].map(show_cells),
            Kind::Places { min, .. } => [min, MAX_CELLS].map(show_cells),
            Kind::Bytes { min, max } => [min, max].map(show_bytes),
            _ => return None,
        })
    }

    /// What it may be in scenarios of `format`.
    pub(crate) fn allowed(&self, format: Format) -> String {
        match self {
            Kind::Text => "at most 200 characters".into(),
            Kind::Name => "at most 64 letters, digits and _ - / > : +, not digits only".into(),
            Kind::Bool => "true or false".into(),
            Kind::Rate {
                fair_shares: true, ..
            } => self.quantity(&format!(", or \"{FAIR_SHARES}\""), format),
            Kind::Rate { zero: true, .. } => self.quantity(", or 0 bps", format),
            Kind::Duration { none: true, .. } => {
                self.quantity(&format!(", or \"{NONE}\""), format)
            }
            Kind::Rate { .. } | Kind::Duration { .. } | Kind::Bytes { .. } => {
                self.quantity("", format)
            }
            Kind::Cells {
                unlimited: true, ..
            }
            | Kind::Places { buffer: true, .. } => self.quantity(", or \"unlimited\"", format),
            Kind::Cells { .. } | Kind::Places { .. } => self.quantity("", format),
            Kind::Integer { min, max } => format!("an integer from {min} to {max}"),
            Kind::Number { min, max } => {
                format!("an integer from {min} to {max}, or \"unlimited\"")
            }
            Kind::Decimal {
                min,
                max,
                below_max,
                decimals,
            } => {
                let to = if *below_max { "to below" } else { "to" };
                format!("a number from {min} {to} {max} with at most {decimals} decimals, or a ratio, \"1/3\"")
            }
            Kind::Threshold => {
                let bytes = if format.is_aal5() { "" } else { " or bytes, \"64 kB\"," };
                format!("cells, \"800 cells\",{bytes} or a fraction of the buffer from 0 to 1")
            }
            Kind::Program => "a program of at most 4096 characters; see docs/programs.md".into(),
            Kind::Own => "a number from 0 with at most 6 decimals, \"900 cells\", \"64 kB\", a fraction of the buffer \"0.9 K\", a time \"5 ms\", or a rate \"2 Mbps\"".into(),
            Kind::Choice(choices) => list(choices.iter().map(|c| c.name)),
            Kind::Reference(families) => {
                let families: Vec<&str> = families.iter().map(|f| f.name()).collect();
                format!("the name of a {}", families.join(" or "))
            }
            Kind::One(family) => of_family(*family),
            Kind::List(item) => format!("a list, each {}", item.allowed(format)),
        }
    }

    /// A quantity within its range, and what it may be instead.
    fn quantity(&self, also: &str, format: Format) -> String {
        let [min, max] = self.range(format).unwrap_or_default();
        let units = self.units(format).join(", ");
        format!("\"{min}\" to \"{max}\"{also}; units: {units}")
    }
}

/// What a component of `family` may be.
fn of_family(family: Family) -> String {
    let components = family.components();
    match family.tag() {
        None => {
            let fields = components[0].parameters.iter().map(|p| p.name);
            format!("a table: {}", list(fields))
        }
        Some(tag) => {
            let names = list(components.iter().map(|c| c.name));
            format!("one of {names}, or a table with it as `{tag}`")
        }
    }
}

impl Parameter {
    /// The default; empty when it is required.
    pub fn default_text(&self) -> String {
        self.default.text(self.name)
    }
}

impl Default {
    /// The default of the parameter `name`; empty when it is required.
    pub(crate) fn text(&self, name: &str) -> String {
        match *self {
            Default::Required => String::new(),
            Default::Text(text) | Default::Decimal(text) | Default::Derived(text) => text.into(),
            Default::Integer(integer) => integer.to_string(),
            Default::Bool(truth) => truth.to_string(),
            Default::EmptyList => "none".into(),
            Default::AllDefaults => format!("the defaults of `{name}`"),
            Default::Multiple(times, other) => format!("{times} x {other}"),
            Default::Implied(family, otherwise) => {
                let implied = family.components().iter().filter_map(|component| {
                    let value = component.implied(name)?;
                    Some(format!("{value} for {}, ", component.name))
                });
                format!("{}else {otherwise}", implied.collect::<String>())
            }
        }
    }
}
