//! Thresholds of queues.

use crate::ground::units::Ratio;
use serde::{Deserialize, Serialize};

/// A queue length, in cells or as a fraction of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// Cells.
    Cells(u64),
    /// Fraction of K.
    Fraction(Ratio),
}
