//! Units and their sizes in the base unit of each quantity.

use super::words::nearest;
use crate::ground::format::Format;

/// A unit and its size in the base unit of its quantity.
#[derive(Debug, PartialEq)]
pub(crate) struct Unit {
    /// Spelling that Cellyard writes.
    pub name: &'static str,
    /// Other accepted spellings.
    pub also: &'static [&'static str],
    /// Lower-case spellings that are not accepted, but show what was meant.
    meant: &'static [&'static str],
    size: Size,
}

/// Size of a unit.
#[derive(Debug, PartialEq)]
enum Size {
    /// A number of base units, the same in every format.
    Whole(u64),
    /// A number of nanoseconds; the base unit is the tick.
    Nanoseconds(u64),
    /// One cell per second; the base unit is bit/s.
    CellRate,
    /// One cell of the format `ethernet`, whose cells are packets.
    Packet,
}

impl Unit {
    /// Every accepted spelling.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }

    /// Size in the base unit, in scenarios of `format`; `None` if that lacks the unit.
    pub(crate) fn size(&self, format: Format) -> Option<u64> {
        match self.size {
            Size::Whole(size) => Some(size),
            Size::Nanoseconds(ns) => Some(format.clock.nanoseconds(ns).0),
            Size::CellRate => Some(format.cell_bits).filter(|_| !format.is_ethernet),
            Size::Packet => Some(1).filter(|_| format.is_ethernet),
        }
    }
}

const fn unit(
    name: &'static str,
    also: &'static [&'static str],
    meant: &'static [&'static str],
    size: u64,
) -> Unit {
    sized(name, also, meant, Size::Whole(size))
}

const fn sized(
    name: &'static str,
    also: &'static [&'static str],
    meant: &'static [&'static str],
    size: Size,
) -> Unit {
    Unit {
        name,
        also,
        meant,
        size,
    }
}

/// Units of rate; the base unit is bit/s.
pub(crate) const RATE: &[Unit] = &[
    unit("bps", &["bit/s", "b/s"], &["bits/s", "bits"], 1),
    unit(
        "kbps",
        &["kbit/s", "kb/s"],
        &["kbits/s", "kbit", "kb"],
        1_000,
    ),
    unit(
        "Mbps",
        &["Mbit/s", "Mb/s"],
        &["mbits/s", "mbit", "mb"],
        1_000_000,
    ),
    unit(
        "Gbps",
        &["Gbit/s", "Gb/s"],
        &["gbits/s", "gbit", "gb"],
        1_000_000_000,
    ),
    unit(
        "Tbps",
        &["Tbit/s", "Tb/s"],
        &["tbits/s", "tbit", "tb"],
        1_000_000_000_000,
    ),
    sized("cells/s", &[], &["cell/s", "cps"], Size::CellRate),
];

/// Units of time; the base unit is the tick.
pub(crate) const DURATION: &[Unit] = &[
    sized(
        "s",
        &[],
        &["sec", "secs", "second", "seconds"],
        Size::Nanoseconds(1_000_000_000),
    ),
    sized(
        "ms",
        &[],
        &["msec", "msecs", "millisecond", "milliseconds"],
        Size::Nanoseconds(1_000_000),
    ),
    // Accept both the micro sign and the Greek letter, which look alike.
    sized(
        "us",
        &["\u{b5}s", "\u{3bc}s"],
        &["usec", "usecs", "microsecond", "microseconds"],
        Size::Nanoseconds(1_000),
    ),
    sized(
        "ns",
        &[],
        &["nsec", "nsecs", "nanosecond", "nanoseconds"],
        Size::Nanoseconds(1),
    ),
    unit("ticks", &[], &["tick"], 1),
];

/// Units of cell counts.
pub(crate) const CELLS: &[Unit] = &[
    unit("cells", &[], &[], 1),
    unit("cell", &[], &[], 1),
    sized("packets", &["packet"], &[], Size::Packet),
];

/// Units of byte counts.
pub(crate) const BYTES: &[Unit] = &[
    unit("bytes", &["B"], &["octets", "octet"], 1),
    unit("byte", &[], &[], 1),
    unit("kB", &[], &[], 1_000),
    unit("MB", &[], &[], 1_000_000),
    unit("GB", &[], &[], 1_000_000_000),
    unit("KiB", &[], &["k"], 1 << 10),
    unit("MiB", &[], &["m"], 1 << 20),
    unit("GiB", &[], &["g"], 1 << 30),
];

/// Units of bytes per second, which scenarios lack; the base unit is bit/s.
pub(super) const BYTE_RATE: &[Unit] = &[
    unit("B/s", &["Bps", "byte/s", "bytes/s"], &[], 8),
    unit("kB/s", &["kBps", "KB/s", "KBps"], &[], 8_000),
    unit("MB/s", &["MBps"], &[], 8_000_000),
    unit("GB/s", &["GBps"], &[], 8_000_000_000),
    unit("TB/s", &["TBps"], &[], 8_000_000_000_000),
];

/// Units of bits, which scenarios lack; the base unit is the bit.
pub(super) const BITS: &[Unit] = &[
    unit("bit", &["bits"], &[], 1),
    unit("kbit", &["kbits"], &[], 1_000),
    unit("Mbit", &["Mbits", "Mb"], &[], 1_000_000),
    unit("Gbit", &["Gbits", "Gb"], &[], 1_000_000_000),
];

/// Whether `units` have one that is spelt `word`.
pub(crate) fn have(units: &[Unit], word: &str) -> bool {
    units.iter().any(|u| u.spellings().any(|s| s == word))
}

/// All quantities that are written with a unit.
pub(crate) const QUANTITIES: [(&str, &[Unit]); 4] = [
    ("rate", RATE),
    ("time", DURATION),
    ("cells", CELLS),
    ("bytes", BYTES),
];

/// The unit probably meant by an unknown one.
///
/// Candidates match except for case, match a known other spelling, or misspell a longer name. The
/// first letter must match, since it holds the power of ten. There is none if the word may mean
/// bytes instead of bits, or bits instead of bytes, since a capital `B` means bytes.
pub(crate) fn meant(word: &str, units: &[Unit]) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let names_bytes = lower.contains("byte") || lower.contains("octet");
    let may_be_bits = lower.contains("bit") || (word.contains('b') && !names_bytes);
    if units == RATE && (names_bytes || word.contains('B')) || units == BYTES && may_be_bits {
        return None;
    }
    let is =
        |u: &&Unit| u.spellings().any(|s| s.to_lowercase() == lower) || u.meant.contains(&&*lower);
    if let Some(unit) = units.iter().find(is) {
        return Some(unit.name);
    }
    let first = lower.chars().next();
    let long = |name: &&'static str| name.len() > 2 && name.to_lowercase().chars().next() == first;
    nearest(word, units.iter().map(|u| u.name).filter(long))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_belongs_to_one_unit() {
        for (quantity, units) in QUANTITIES {
            let spelt: Vec<_> = units.iter().flat_map(Unit::spellings).collect();
            let meant = units.iter().flat_map(|u| u.meant.iter().copied());
            let mut all: Vec<_> = spelt.into_iter().chain(meant).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{quantity}");
        }
    }

    #[test]
    fn no_suggestion_changes_the_power_of_ten() {
        for (word, units, name) in [
            ("usec", DURATION, Some("us")),
            ("sec", DURATION, Some("s")),
            ("MS", DURATION, Some("ms")),
            ("\u{b5}sec", DURATION, None),
            ("m", DURATION, None),
            ("min", DURATION, None),
            ("mbit/s", RATE, Some("Mbps")),
            ("Mpbs", RATE, Some("Mbps")),
            ("kps", RATE, Some("kbps")),
            ("cellls", CELLS, Some("cells")),
            ("b", BYTES, None),
            ("mib", BYTES, None),
            ("KB", BYTES, Some("kB")),
            ("Octets", BYTES, Some("bytes")),
            ("MBPS", RATE, None),
            ("MB", RATE, None),
            ("Mbytes/s", RATE, None),
        ] {
            assert_eq!(meant(word, units), name, "{word}");
        }
    }
}
