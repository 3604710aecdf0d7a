//! Quantities with units as text, exactly: "155.52 Mbps", "5 us", "1000 cells", "64 KiB", 0.9, "1/3".

use crate::units::{BitRate, CELL_BITS, Ratio, Span, TICKS_PER_NANOSECOND, TICKS_PER_SECOND};

/// A unit and its size in the base unit of its quantity.
#[derive(Debug, PartialEq)]
pub(crate) struct Unit {
    pub name: &'static str,
    pub size: u64,
}

const fn unit(name: &'static str, size: u64) -> Unit {
    Unit { name, size }
}

/// Units of a rate; base: bit/s.
pub(crate) const RATE: &[Unit] = &[
    unit("bps", 1),
    unit("kbps", 1_000),
    unit("Mbps", 1_000_000),
    unit("Gbps", 1_000_000_000),
    unit("Tbps", 1_000_000_000_000),
    unit("cells/s", CELL_BITS),
];

/// Units of a length of time; base: ticks.
pub(crate) const DURATION: &[Unit] = &[
    unit("s", TICKS_PER_SECOND),
    unit("ms", TICKS_PER_SECOND / 1_000),
    unit("us", TICKS_PER_SECOND / 1_000_000),
    unit("ns", TICKS_PER_NANOSECOND),
    unit("ticks", 1),
];

/// Units of a number of cells.
pub(crate) const CELLS: &[Unit] = &[unit("cells", 1), unit("cell", 1)];

/// Units of a number of bytes.
pub(crate) const BYTES: &[Unit] = &[
    unit("bytes", 1),
    unit("byte", 1),
    unit("kB", 1_000),
    unit("MB", 1_000_000),
    unit("GB", 1_000_000_000),
    unit("KiB", 1 << 10),
    unit("MiB", 1 << 20),
    unit("GiB", 1 << 30),
];

/// No part at all.
pub(crate) const ZERO: Ratio = Ratio::new(0, 1);

/// Why a text is not the quantity asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            suggestion: None,
        }
    }
}

/// A decimal as written: digits x 10^-decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decimal {
    negative: bool,
    digits: u128,
    decimals: u32,
}

/// Most digits of a number: its product with any unit stays below 2^128.
const MAX_DIGITS: usize = 22;

fn decimal(text: &str) -> Result<Decimal, Fault> {
    let not_a_number = || Fault::new("is not a number");
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i32>().map_err(|_| not_a_number())?),
        None => (rest, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let part = part.trim_end_matches('0');
    let digits: String = whole.chars().chain(part.chars()).collect();
    if whole.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(not_a_number());
    }
    let too_long = || Fault::new("has too many digits");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(Decimal {
            negative,
            digits: 0,
            decimals: 0,
        });
    }
    let decimals = part.len() as i64 - i64::from(exponent);
    let zeros = usize::try_from((-decimals).max(0)).map_err(|_| too_long())?;
    if significant.len().saturating_add(zeros) > MAX_DIGITS || decimals > MAX_DIGITS as i64 {
        return Err(if zeros > 0 {
            Fault::new("is too large")
        } else {
            too_long()
        });
    }
    let digits: u128 = significant.parse().map_err(|_| not_a_number())?;
    Ok(Decimal {
        negative,
        digits: digits * 10u128.pow(zeros as u32),
        decimals: decimals.max(0) as u32,
    })
}

/// What to do with a part of the base unit.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part {
    /// It is an error.
    Refuse,
    /// To the nearest whole.
    Round,
}

/// `text` in the base unit of `units`, at most `u64::MAX`.
pub(crate) fn parse(text: &str, units: &[Unit], part: Part) -> Result<u64, Fault> {
    let text = text.trim();
    let number_end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && text[i + 1..].starts_with(|n: char| n.is_ascii_digit() || n == '-' || n == '+');
            !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '_') || exponent)
        })
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = text.split_at(number_end);
    let unit = unit.trim();
    if number.is_empty() {
        return Err(Fault::new("is not a number with a unit"));
    }
    let value = decimal(&number.replace('_', ""))?;
    if unit.is_empty() {
        return Err(Fault {
            message: "has no unit".into(),
            suggestion: (units == CELLS || units == BYTES)
                .then(|| format!("\"{number} {}\"", units[0].name)),
        });
    }
    let Some(found) = units.iter().find(|u| u.name == unit) else {
        let names = units.iter().map(|u| u.name);
        return Err(Fault {
            message: format!("has the unknown unit `{}`", super::problem::shorten(unit)),
            suggestion: super::problem::nearest(unit, names).map(|n| format!("\"{number} {n}\"")),
        });
    };
    if value.negative && value.digits > 0 {
        return Err(Fault::new("must not be negative"));
    }
    let scale = 10u128.pow(value.decimals);
    let product = value.digits * u128::from(found.size);
    if product % scale != 0 && part == Part::Refuse {
        return Err(Fault::new(format!(
            "is not a whole number of {}",
            units[0].name
        )));
    }
    u64::try_from((product + scale / 2) / scale).map_err(|_| Fault::new("is too large"))
}

/// A plain decimal, or a fraction "n/d", with at most `decimals` decimals (d at most 10^decimals).
pub(crate) fn parse_ratio(text: &str, decimals: u32) -> Result<Ratio, Fault> {
    let text = text.trim();
    let most = 10u64.pow(decimals);
    let too_fine = || Fault::new(format!("has more than {decimals} decimals"));
    if let Some((num, den)) = text.split_once('/') {
        let parse = |t: &str| t.trim().parse::<u64>();
        let (Ok(num), Ok(den)) = (parse(num), parse(den)) else {
            return Err(Fault::new("is not a fraction of two whole numbers"));
        };
        return match den {
            0 => Err(Fault::new("divides by 0")),
            den if den > most => Err(too_fine()),
            den => Ok(Ratio::new(num, den)),
        };
    }
    let value = decimal(&text.replace('_', ""))?;
    if value.negative && value.digits > 0 {
        return Err(Fault::new("must not be negative"));
    }
    if value.decimals > decimals {
        return Err(too_fine());
    }
    let num = u64::try_from(value.digits).map_err(|_| Fault::new("is too large"))?;
    Ok(Ratio::new(num, 10u64.pow(value.decimals)))
}

/// `value / scale` as a decimal; `scale` is a power of ten.
fn show_decimal(value: u64, scale: u64) -> String {
    let part = value % scale;
    if part == 0 {
        return (value / scale).to_string();
    }
    let width = scale.ilog10() as usize;
    let text = format!("{}.{part:0width$}", value / scale);
    text.trim_end_matches('0').to_string()
}

/// A rate as it is written in a scenario.
pub(crate) fn show_rate(rate: BitRate) -> String {
    match rate.0 {
        r if r < 1_000 => format!("{r} bps"),
        r if r < 1_000_000 => format!("{} kbps", show_decimal(r, 1_000)),
        r if r < 1_000_000_000 => format!("{} Mbps", show_decimal(r, 1_000_000)),
        r if r < 1_000_000_000_000 => format!("{} Gbps", show_decimal(r, 1_000_000_000)),
        r => format!("{} Tbps", show_decimal(r, 1_000_000_000_000)),
    }
}

/// A length of time as it is written in a scenario: in ticks unless it is a whole number of nanoseconds.
pub(crate) fn show_duration(span: Span) -> String {
    if !span.0.is_multiple_of(TICKS_PER_NANOSECOND) {
        return format!("{} ticks", span.0);
    }
    match span.0 / TICKS_PER_NANOSECOND {
        0 => "0 s".into(),
        ns if ns < 1_000 => format!("{ns} ns"),
        ns if ns < 1_000_000 => format!("{} us", show_decimal(ns, 1_000)),
        ns if ns < 1_000_000_000 => format!("{} ms", show_decimal(ns, 1_000_000)),
        ns => format!("{} s", show_decimal(ns, 1_000_000_000)),
    }
}

/// A number of cells as it is written in a scenario.
pub(crate) fn show_cells(cells: u64) -> String {
    format!("{cells} {}", if cells == 1 { "cell" } else { "cells" })
}

/// A number of bytes as it is written in a scenario.
pub(crate) fn show_bytes(bytes: u64) -> String {
    format!("{bytes} {}", if bytes == 1 { "byte" } else { "bytes" })
}

/// An exact decimal as it is written in a scenario: a decimal when it reads back as the same fraction,
/// otherwise the fraction as text.
pub(crate) fn show_ratio(ratio: Ratio) -> String {
    let power_of_ten = 10u64.pow(ratio.den.ilog10()) == ratio.den;
    if power_of_ten && (ratio.den == 1 || !ratio.num.is_multiple_of(10)) {
        show_decimal(ratio.num, ratio.den)
    } else {
        format!("\"{}/{}\"", ratio.num, ratio.den)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(text: &str, units: &[Unit]) -> String {
        parse(text, units, Part::Refuse).unwrap_err().message
    }

    #[test]
    fn quantities_are_exact() {
        let rate = |t| parse(t, RATE, Part::Refuse);
        assert_eq!(rate("155.52 Mbps"), Ok(155_520_000));
        assert_eq!(rate("0.2Mbps"), Ok(200_000));
        assert_eq!(rate("1.5e3 kbps"), Ok(1_500_000));
        assert_eq!(rate("353_207.5 cells/s"), Ok(149_759_980));
        assert_eq!(parse("5 us", DURATION, Part::Round), Ok(126_360_000));
        assert_eq!(parse("0.5 ns", DURATION, Part::Round), Ok(12_636));
        assert_eq!(parse("64 KiB", BYTES, Part::Refuse), Ok(65_536));
        assert_eq!(parse("+1 cell", CELLS, Part::Refuse), Ok(1));
    }

    #[test]
    fn faults_say_what_is_wrong() {
        assert_eq!(message("5", RATE), "has no unit");
        assert_eq!(message("5 mbps", RATE), "has the unknown unit `mbps`");
        assert_eq!(message("-5 Mbps", RATE), "must not be negative");
        assert_eq!(message("fast", RATE), "is not a number with a unit");
        assert_eq!(message("1.2.3 Mbps", RATE), "is not a number");
        assert_eq!(message("0.5 bps", RATE), "is not a whole number of bps");
        assert_eq!(message("1e30 bps", RATE), "is too large");
        assert_eq!(message("1e-30 bps", RATE), "has too many digits");
        assert_eq!(message("1e20 bps", RATE), "is too large");
        let fault = parse("5 mbps", RATE, Part::Refuse).unwrap_err();
        assert_eq!(fault.suggestion.as_deref(), Some("\"5 Mbps\""));
        let fault = parse("1000", CELLS, Part::Refuse).unwrap_err();
        assert_eq!(fault.suggestion.as_deref(), Some("\"1000 cells\""));
    }

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(parse_ratio("0.8", 6), Ok(Ratio::new(8, 10)));
        assert_eq!(parse_ratio("0.80", 6), Ok(Ratio::new(8, 10)));
        assert_eq!(parse_ratio("1e-3", 6), Ok(Ratio::new(1, 1000)));
        assert_eq!(parse_ratio("1/3", 6), Ok(Ratio::new(1, 3)));
        assert!(parse_ratio("1/0", 6).is_err());
        assert!(parse_ratio("0.1234567", 6).is_err());
        assert!(parse_ratio("inf", 6).is_err());
        assert!(parse_ratio("-0.1", 6).is_err());
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(value in any::<u64>(), small in 0u64..10_000_000, den in 1u64..=1_000_000) {
            for v in [value, small] {
                prop_assert_eq!(parse(&show_rate(BitRate(v)), RATE, Part::Refuse), Ok(v));
                prop_assert_eq!(parse(&show_duration(Span(v)), DURATION, Part::Round), Ok(v));
                prop_assert_eq!(parse(&show_cells(v), CELLS, Part::Refuse), Ok(v));
                prop_assert_eq!(parse(&show_bytes(v), BYTES, Part::Refuse), Ok(v));
            }
            for d in [den, 1, 10, 1000, 1_000_000] {
                let ratio = Ratio::new(small, d);
                prop_assert_eq!(parse_ratio(show_ratio(ratio).trim_matches('"'), 6), Ok(ratio));
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = parse(&text, DURATION, Part::Round);
            let _ = parse_ratio(&text, 6);
        }
    }
}
