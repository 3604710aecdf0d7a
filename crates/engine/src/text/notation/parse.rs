//! Parses text into exact quantities.

use super::show::{show_cells, show_rate};
use super::units::{BITS, BYTE_RATE, BYTES, CELLS, DURATION, RATE, Unit, have, meant};
use super::words::shorten;
use crate::ground::format::Format;
use crate::ground::units::{BitRate, Ratio};

/// Why a text is not a valid quantity.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault {
    pub message: String,
    /// Correction that the user probably meant.
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

/// Limit on the digits of a number. Its product with any unit then stays below 2^128.
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

/// Treatment of a fraction of the base unit.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum FractionRule {
    /// Reports an error.
    Refuse,
    /// Rounds to the nearest whole.
    Round,
}

/// The quantity with a decimal point in place of the comma between `number` and `behind`. `None`
/// where the comma may separate thousands.
fn with_point(number: &str, behind: &str, units: &[Unit], format: Format) -> Option<String> {
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let meant = format!("{number}.{behind}");
    let parts_thousands = digits == 3 && number != "0";
    let is_read = || quantity(&meant, units, FractionRule::Round, format).is_ok();
    let is_right = digits > 0 && !parts_thousands && is_read();
    is_right.then_some(meant)
}

/// Why `units` cannot take the unit of `text`, `unit` behind `number`, and what to write instead.
/// Bits are converted to bytes, and bytes to bits and cells.
fn unknown_unit(text: &str, number: &str, unit: &str, units: &[Unit], format: Format) -> Fault {
    let in_units = |units| quantity(text, units, FractionRule::Refuse, format).ok();
    let mut message = format!("unknown unit `{}`", shorten(unit));
    let meant = if units == RATE && have(BYTE_RATE, unit) {
        in_units(BYTE_RATE).map(|rate| show_rate(BitRate(rate)))
    } else if units == BYTES && have(BITS, unit) {
        let bytes = in_units(BITS).filter(|bits| bits % 8 == 0).map(|b| b / 8);
        let sizes = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
        let fits = |bytes: u64| {
            sizes
                .into_iter()
                .find(|(_, size)| bytes.is_multiple_of(*size))
        };
        bytes.map(|bytes| {
            let (name, size) = fits(bytes).unwrap_or(("bytes", 1));
            format!("{} {name}", bytes / size)
        })
    } else if units == CELLS && have(BYTES, unit) {
        // A buffer holds no preamble (8 bytes) and no gap between frames (12).
        let (most, unstored) = if format.is_ethernet {
            ("up to ", 20)
        } else {
            ("", 0)
        };
        let (noun, size) = (format.noun(), format.cell_bits / 8 - unstored);
        message = format!("is in bytes, but must be in {noun}s, here of {most}{size} bytes");
        let cells = in_units(BYTES).map(|bytes| bytes / size);
        cells.filter(|&cells| cells > 0).map(|cells| {
            let text = show_cells(cells);
            text.replace("cell", noun)
        })
    } else if units == CELLS && have(DURATION, unit) {
        let (noun, bits) = (format.noun(), format.cell_bits);
        let most = if format.is_ethernet { "up to " } else { "" };
        message = format!(
            "is a time, but must be in {noun}s, which take {most}{bits} bits of the line each: time x rate / {bits} bits"
        );
        None
    } else {
        meant(unit, units).map(|name| format!("{number} {name}"))
    };
    Fault {
        message,
        suggestion: meant.map(|meant| format!("\"{meant}\"")),
    }
}

/// Parses `text` in the base unit of `units`, up to `u64::MAX`, as a scenario of `format` means it.
pub(crate) fn quantity(
    text: &str,
    units: &[Unit],
    part: FractionRule,
    format: Format,
) -> Result<u64, Fault> {
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
            message: "missing unit".into(),
            suggestion: (units == CELLS || units == BYTES)
                .then(|| format!("\"{number} {}\"", units[0].name)),
        });
    }
    if let Some(behind) = unit.strip_prefix(',') {
        return Err(Fault {
            message: "contains a comma".into(),
            suggestion: with_point(number, behind, units, format)
                .map(|meant| format!("\"{meant}\"")),
        });
    }
    let Some(found) = units.iter().find(|u| u.spellings().any(|s| s == unit)) else {
        return Err(unknown_unit(text, number, unit, units, format));
    };
    if value.negative && value.digits > 0 {
        return Err(Fault::new("must not be negative"));
    }
    let Some(size) = found.size(format) else {
        return Err(Fault::new(if format.is_ethernet {
            format!(
                "has the unit `{unit}`, which the format ethernet lacks: its packets differ in length"
            )
        } else {
            format!(
                "has the unit `{unit}`, which only the format ethernet has, as its cells are packets"
            )
        }));
    };
    let scale = 10u128.pow(value.decimals);
    let product = value.digits * u128::from(size);
    if product % scale != 0 && part == FractionRule::Refuse {
        return Err(Fault::new(format!(
            "is not a whole number of {}",
            units[0].name
        )));
    }
    u64::try_from((product + scale / 2) / scale).map_err(|_| Fault::new("is too large"))
}

/// Parses a plain decimal with at most `decimals` decimals, or a fraction "n/d" with d at most
/// 10^decimals.
pub(crate) fn ratio(text: &str, decimals: u32) -> Result<Ratio, Fault> {
    let text = text.trim();
    let most = 10u64.pow(decimals);
    let too_fine = || Fault::new(format!("has more than {decimals} decimals"));
    if let Some((num, den)) = text.split_once('/') {
        let parse = |t: &str| t.trim().parse::<u64>();
        let (Ok(num), Ok(den)) = (parse(num), parse(den)) else {
            return Err(Fault::new("is not a fraction of two whole numbers"));
        };
        return match den {
            0 => Err(Fault::new("has the denominator 0")),
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

/// Parses a decimal that may have been computed, such as 0.1 + 0.2, and rounds it to `decimals`
/// decimals.
///
/// A nonzero value never rounds to 0, unless it is rounding noise: less than a thousandth of the
/// last decimal.
pub(crate) fn rounded_ratio(text: &str, decimals: u32) -> Result<Ratio, Fault> {
    /// Above this, decimals to be rounded are negligible relative to the number.
    const LARGE: f64 = 1e9;
    let exact = ratio(text, decimals);
    let number = text.trim().replace('_', "").parse::<f64>();
    let Some(x) = number.ok().filter(|x| exact.is_err() && x.abs() < LARGE) else {
        return exact;
    };
    let rounded = ratio(&format!("{x:.0$}", decimals as usize), decimals);
    let vanishes = rounded.as_ref().is_ok_and(|r| r.num == 0);
    let least = 10f64.powi(-(decimals as i32));
    if vanishes && x.abs() * 1000.0 >= least {
        exact
    } else {
        rounded
    }
}

/// Parses a whole number written as a decimal, such as 3.0 or 1e3.
pub(crate) fn whole(text: &str) -> Result<i128, Fault> {
    let value = decimal(&text.trim().replace('_', ""))?;
    let digits = i128::try_from(value.digits).map_err(|_| Fault::new("is too large"))?;
    match value.decimals {
        0 if value.negative => Ok(-digits),
        0 => Ok(digits),
        _ => Err(Fault::new("is not a whole number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quantity(text: &str, units: &[Unit], part: FractionRule) -> Result<u64, Fault> {
        super::quantity(text, units, part, Format::AAL5)
    }

    fn message(text: &str, units: &[Unit]) -> String {
        quantity(text, units, FractionRule::Refuse)
            .unwrap_err()
            .message
    }

    #[test]
    fn quantities_are_exact() {
        let rate = |t| quantity(t, RATE, FractionRule::Refuse);
        assert_eq!(rate("155.52 Mbps"), Ok(155_520_000));
        assert_eq!(rate("0.2Mbps"), Ok(200_000));
        assert_eq!(rate("1.5e3 kbps"), Ok(1_500_000));
        assert_eq!(rate("353_207.5 cells/s"), Ok(149_759_980));
        assert_eq!(
            quantity("5 us", DURATION, FractionRule::Round),
            Ok(126_360_000)
        );
        assert_eq!(
            quantity("0.5 ns", DURATION, FractionRule::Round),
            Ok(12_636)
        );
        assert_eq!(quantity("64 KiB", BYTES, FractionRule::Refuse), Ok(65_536));
        assert_eq!(rate("155.52 Mb/s"), rate("155.52 Mbit/s"));
        assert_eq!(quantity("512 B", BYTES, FractionRule::Refuse), Ok(512));
        for micro in ["5 \u{b5}s", "5\u{3bc}s"] {
            assert_eq!(
                quantity(micro, DURATION, FractionRule::Round),
                Ok(126_360_000)
            );
        }
        assert_eq!(quantity("+1 cell", CELLS, FractionRule::Refuse), Ok(1));
    }

    #[test]
    fn faults_say_what_is_wrong() {
        assert_eq!(message("5", RATE), "missing unit");
        assert_eq!(message("5 mbps", RATE), "unknown unit `mbps`");
        assert_eq!(message("-5 Mbps", RATE), "must not be negative");
        assert_eq!(message("fast", RATE), "is not a number with a unit");
        assert_eq!(message("1.2.3 Mbps", RATE), "is not a number");
        assert_eq!(message("0.5 bps", RATE), "is not a whole number of bps");
        assert_eq!(message("1e30 bps", RATE), "is too large");
        assert_eq!(message("1e-30 bps", RATE), "has too many digits");
        assert_eq!(message("1e20 bps", RATE), "is too large");
        let fault = quantity("5 mbps", RATE, FractionRule::Refuse).unwrap_err();
        assert_eq!(fault.suggestion.as_deref(), Some("\"5 Mbps\""));
        for (text, meant) in [
            ("155,52 Mbps", Some("\"155.52 Mbps\"")),
            ("1,500 Mbps", None),
            ("0,125 Gbps", Some("\"0.125 Gbps\"")),
            ("1,5,0 Mbps", None),
            ("10, Mbps", None),
        ] {
            let fault = quantity(text, RATE, FractionRule::Refuse).unwrap_err();
            assert_eq!(fault.message, "contains a comma");
            assert_eq!(fault.suggestion.as_deref(), meant);
        }
        let fault = quantity("1000", CELLS, FractionRule::Refuse).unwrap_err();
        assert_eq!(fault.suggestion.as_deref(), Some("\"1000 cells\""));
    }

    #[test]
    fn advice_converts_bits_bytes_and_cells() {
        let suggestion = |text: &str, units: &[Unit], format| {
            let fault = super::quantity(text, units, FractionRule::Refuse, format).unwrap_err();
            fault.suggestion.map(|s| s.trim_matches('"').to_string())
        };
        for (text, units, meant) in [
            ("1 MBps", RATE, Some("8 Mbps")),
            ("1.5 MB/s", RATE, Some("12 Mbps")),
            ("125 KB/s", RATE, Some("1 Mbps")),
            ("1 MBPS", RATE, None),
            ("1 Mb", BYTES, Some("125 kB")),
            ("1 Mbit", BYTES, Some("125 kB")),
            ("64 kbit", BYTES, Some("8 kB")),
            ("1 bit", BYTES, None),
            ("1 kb", BYTES, None),
            ("100 kB", CELLS, Some("1886 cells")),
            ("53 B", CELLS, Some("1 cell")),
            ("52 bytes", CELLS, None),
            ("50 ms", CELLS, None),
            ("20 packets", CELLS, None),
        ] {
            assert_eq!(
                suggestion(text, units, Format::AAL5).as_deref(),
                meant,
                "{text}"
            );
        }
        // 1500 bytes of IP, 14 of addresses and type and 4 of check sequence; 20 more on the line.
        for (text, packets) in [
            ("1517 bytes", None),
            ("1518 bytes", Some("1 packet")),
            ("300 kB", Some("197 packets")),
        ] {
            assert_eq!(
                suggestion(text, CELLS, Format::ETHERNET).as_deref(),
                packets
            );
        }
        let on_ethernet =
            |text| super::quantity(text, CELLS, FractionRule::Refuse, Format::ETHERNET);
        let told = |text| on_ethernet(text).expect_err("it has another unit").message;
        assert!(told("300 kB").contains("here of up to 1518 bytes"));
        assert!(
            told("50 ms")
                .contains("take up to 12304 bits of the line each: time x rate / 12304 bits")
        );
        assert!(message("50 ms", CELLS).contains("time x rate / 424 bits"));
        assert!(message("100 kB", CELLS).contains("here of 53 bytes"));
        assert!(message("20 packets", CELLS).contains("only the format ethernet"));
        assert_eq!(on_ethernet("20 packets"), Ok(20));
    }

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(ratio("0.8", 6), Ok(Ratio::new(8, 10)));
        assert_eq!(ratio("0.80", 6), Ok(Ratio::new(8, 10)));
        assert_eq!(ratio("1e-3", 6), Ok(Ratio::new(1, 1000)));
        assert_eq!(ratio("1/3", 6), Ok(Ratio::new(1, 3)));
        assert!(ratio("1/0", 6).is_err());
        assert!(ratio("0.1234567", 6).is_err());
        assert!(ratio("inf", 6).is_err());
        assert!(ratio("-0.1", 6).is_err());
    }

    #[test]
    fn computed_decimals_are_rounded() {
        let rounded = |x: f64| rounded_ratio(&x.to_string(), 6);
        assert_eq!(rounded(0.1 + 0.2), Ok(Ratio::new(3, 10)));
        assert_eq!(rounded(1.0 / 6.0), Ok(Ratio::new(166_667, 1_000_000)));
        assert_eq!(rounded(0.5), Ok(Ratio::new(5, 10)));
        assert_eq!(rounded(0.3 - 0.2 - 0.1).map(|r| r.num), Ok(0));
        assert_eq!(rounded(4e-7), Err(Fault::new("has more than 6 decimals")));
        assert_eq!(rounded(-4e-7), Err(Fault::new("must not be negative")));
        assert_eq!(rounded(6e-7), Ok(Ratio::new(1, 1_000_000)));
        assert_eq!(rounded(1e12 + 0.5), Ok(Ratio::new(10_000_000_000_005, 10)));
        assert_eq!(rounded(-0.1), Err(Fault::new("must not be negative")));
        assert_eq!(rounded(1e300), Err(Fault::new("has too many digits")));
        assert!(rounded_ratio("inf", 6).is_err() && rounded_ratio("nan", 6).is_err());
        assert_eq!((whole("3.0"), whole("-1e3")), (Ok(3), Ok(-1000)));
        assert_eq!(whole("2.5"), Err(Fault::new("is not a whole number")));
    }

    proptest! {
        /// Advice on a unit means the same as what was written, as far as that has one meaning.
        #[test]
        fn advice_is_never_wrong_by_eight(
            number in 1u64..2000, prefix in "[kKMGT]?", letter in "b|B|bit|bits|byte|bytes",
            end in "|/s|ps",
        ) {
            let text = format!("{number} {prefix}{letter}{end}");
            let is_bytes = letter == "B" || letter.starts_with("byte");
            let scale = 1000u64.pow(" kMGT".find(&prefix.replace('K', "k")).unwrap_or(0) as u32);
            let scale = if prefix.is_empty() { 1 } else { scale };
            for (units, unit_bits) in [(RATE, 1), (BYTES, 8)] {
                let read = |text: &str| quantity(text, units, FractionRule::Refuse);
                let Err(fault) = read(&text) else { continue };
                let Some(meant) = fault.suggestion else { continue };
                let bits = number * scale * if is_bytes { 8 } else { 1 };
                prop_assert_eq!(read(meant.trim_matches('"')), Ok(bits / unit_bits), "{}", text);
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = quantity(&text, DURATION, FractionRule::Round);
            let _ = (ratio(&text, 6), rounded_ratio(&text, 6), whole(&text));
        }
    }
}
