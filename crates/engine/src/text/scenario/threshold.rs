//! Sizes of queues, and lengths at which something begins.

use crate::ground::format::Clock;
use crate::ground::units::{BitRate, Ratio, Span};
use serde::{Deserialize, Serialize};

/// What a queue counts (model section 6, places).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Cells, each one place.
    Cells,
    /// Bytes of frames.
    Bytes,
}

impl Unit {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Cells => "cells",
            Unit::Bytes => "bytes",
        }
    }
}

impl std::ops::Not for Unit {
    type Output = Unit;

    /// The other unit.
    fn not(self) -> Unit {
        match self {
            Unit::Cells => Unit::Bytes,
            Unit::Bytes => Unit::Cells,
        }
    }
}

/// The size of a buffer, or of a part of it; a bare number is cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Size {
    /// Cells.
    Cells(u64),
    /// Bytes.
    Bytes {
        /// Number of bytes.
        bytes: u64,
    },
    /// As many bytes as a port sends in a time.
    Time {
        /// How long the port sends.
        time: Span,
    },
}

impl Size {
    /// What the queue counts.
    pub fn unit(self) -> Unit {
        match self {
            Size::Cells(_) => Unit::Cells,
            Size::Bytes { .. } | Size::Time { .. } => Unit::Bytes,
        }
    }

    /// Places of a size that is no time.
    ///
    /// # Panics
    /// If it is one: only buffers may be.
    pub fn stated(self) -> u64 {
        match self {
            Size::Cells(places) | Size::Bytes { bytes: places } => places,
            Size::Time { .. } => unreachable!("only a buffer is a time"),
        }
    }

    /// Places at a port that sends at `rate`: floor(rate x t / 8) for a time t, in memory cells of
    /// `memory_cell` bytes if that is a place.
    pub fn places(self, rate: BitRate, clock: Clock, memory_cell: Option<u32>) -> u64 {
        match self {
            Size::Cells(places) | Size::Bytes { bytes: places } => places,
            Size::Time { time } => {
                let bits_by_ticks = u128::from(rate.0) * u128::from(time.0);
                let bytes = bits_by_ticks / (8 * u128::from(clock.ticks_per_second));
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                bytes / u64::from(memory_cell.unwrap_or(1))
            }
        }
    }
}

/// A queue length, in places or as a fraction of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", from = "Written")]
pub enum Threshold {
    /// Cells.
    Cells(u64),
    /// Bytes.
    Bytes(u64),
    /// Fraction of K.
    Fraction(Ratio),
}

/// Forms in which a [`Threshold`] is read: earlier versions wrote a reserve in cells as a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u64),
    Cells { cells: u64 },
    Bytes { bytes: u64 },
    Fraction { fraction: Ratio },
}

impl From<Written> for Threshold {
    fn from(written: Written) -> Threshold {
        match written {
            Written::Number(cells) | Written::Cells { cells } => Threshold::Cells(cells),
            Written::Bytes { bytes } => Threshold::Bytes(bytes),
            Written::Fraction { fraction } => Threshold::Fraction(fraction),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_as_written_and_from_a_number_of_cells() {
        let half = Threshold::Fraction(Ratio::new(1, 2));
        for threshold in [Threshold::Cells(7), Threshold::Bytes(9), half] {
            let text = serde_json::to_string(&threshold).expect("plain data");
            assert_eq!(
                serde_json::from_str::<Threshold>(&text).expect(&text),
                threshold
            );
        }
        let of_a_number = serde_json::from_str::<Threshold>("200").expect("cells");
        assert_eq!(of_a_number, Threshold::Cells(200));
    }
}
