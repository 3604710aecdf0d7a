//! Units and their sizes in the base unit of each quantity.

use crate::units::{CELL_BITS, TICKS_PER_NANOSECOND, TICKS_PER_SECOND};

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
