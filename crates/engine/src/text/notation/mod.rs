//! Exact notation of values: quantities with units ("155.52 Mbps", "5 us", "1000 cells", "64 KiB"),
//! decimals and fractions (0.9, "1/3"), and names.

pub(crate) mod parse;
pub(crate) mod show;
pub(crate) mod units;
pub(crate) mod words;

pub use show::show_memory;
pub use words::near;
