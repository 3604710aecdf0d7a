//! Formats quantities as a scenario writes them.

use crate::ground::format::Clock;
use crate::ground::units::{BitRate, Ratio, Span};

/// Formats `value / scale` as a decimal. `scale` is a power of ten.
fn show_decimal(value: u64, scale: u64) -> String {
    let part = value % scale;
    if part == 0 {
        return (value / scale).to_string();
    }
    let width = scale.ilog10() as usize;
    let text = format!("{}.{part:0width$}", value / scale);
    text.trim_end_matches('0').to_string()
}

/// Formats a rate.
pub(crate) fn show_rate(rate: BitRate) -> String {
    match rate.0 {
        r if r < 1_000 => format!("{r} bps"),
        r if r < 1_000_000 => format!("{} kbps", show_decimal(r, 1_000)),
        r if r < 1_000_000_000 => format!("{} Mbps", show_decimal(r, 1_000_000)),
        r if r < 1_000_000_000_000 => format!("{} Gbps", show_decimal(r, 1_000_000_000)),
        r => format!("{} Tbps", show_decimal(r, 1_000_000_000_000)),
    }
}

/// Formats a length of time, in ticks of `clock` unless it is a whole number of nanoseconds.
pub(crate) fn show_duration(span: Span, clock: Clock) -> String {
    let nanosecond = clock.ticks_per_nanosecond();
    if !span.0.is_multiple_of(nanosecond) {
        return format!("{} ticks", span.0);
    }
    show_nanoseconds(span.0 / nanosecond)
}

/// Formats a length of time that is a whole number of nanoseconds.
pub(crate) fn show_nanoseconds(ns: u64) -> String {
    match ns {
        0 => "0 s".into(),
        ns if ns < 1_000 => format!("{ns} ns"),
        ns if ns < 1_000_000 => format!("{} us", show_decimal(ns, 1_000)),
        ns if ns < 1_000_000_000 => format!("{} ms", show_decimal(ns, 1_000_000)),
        ns => format!("{} s", show_decimal(ns, 1_000_000_000)),
    }
}

/// Formats a number of cells.
pub(crate) fn show_cells(cells: u64) -> String {
    format!("{cells} {}", if cells == 1 { "cell" } else { "cells" })
}

/// Formats a number of bytes.
pub(crate) fn show_bytes(bytes: u64) -> String {
    format!("{bytes} {}", if bytes == 1 { "byte" } else { "bytes" })
}

/// Formats an amount of memory, which is only known roughly.
pub fn show_memory(bytes: u64) -> String {
    let (unit, name) = match bytes {
        1_000_000_000.. => (1e9, "GB"),
        1_000_000.. => (1e6, "MB"),
        _ => (1e3, "kB"),
    };
    format!("{:.1} {name}", bytes as f64 / unit)
}

/// Formats a ratio: as a decimal if that reads back as the same fraction, otherwise as the
/// fraction.
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
    use super::super::parse::{FractionRule, quantity, ratio};
    use super::super::units::{BYTES, CELLS, DURATION, RATE};
    use super::*;
    use crate::ground::format::Format;
    use proptest::prelude::*;

    #[test]
    fn memory_has_a_unit_of_its_size() {
        let shown = [1, 1_000, 500_000_000, 51_200_000_000].map(show_memory);
        assert_eq!(shown, ["0.0 kB", "1.0 kB", "500.0 MB", "51.2 GB"]);
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(value in any::<u64>(), small in 0u64..10_000_000, den in 1u64..=1_000_000) {
            for v in [value, small] {
                prop_assert_eq!(quantity(&show_rate(BitRate(v)), RATE, FractionRule::Refuse, Format::AAL5), Ok(v));
                prop_assert_eq!(quantity(&show_duration(Span(v), Clock::AAL5), DURATION, FractionRule::Round, Format::AAL5), Ok(v));
                prop_assert_eq!(quantity(&show_cells(v), CELLS, FractionRule::Refuse, Format::AAL5), Ok(v));
                prop_assert_eq!(quantity(&show_bytes(v), BYTES, FractionRule::Refuse, Format::AAL5), Ok(v));
            }
            for d in [den, 1, 10, 1000, 1_000_000] {
                let value = Ratio::new(small, d);
                prop_assert_eq!(ratio(show_ratio(value).trim_matches('"'), 6), Ok(value));
            }
        }
    }
}
