//! Traffic contracts of VCs.

use crate::ground::units::{BitRate, Span};
use serde::{Deserialize, Serialize};

/// Traffic contract for the data of a VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Peak cell rate. Absent: no limit.
    pub pcr: Option<BitRate>,
    /// Cell delay variation tolerance.
    pub cdvt: Span,
    /// Sustainable cell rate. Excludes `mcr`.
    pub scr: Option<BitRate>,
    /// Minimum cell rate. Excludes `scr`.
    pub mcr: Option<BitRate>,
    /// Maximum burst size in cells. Absent: two of the source's largest frames.
    pub mbs: Option<u64>,
    /// Maximum frame size in cells. Absent: the source's largest frame.
    pub mfs: Option<u64>,
}

/// A contract with every default filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractTerms {
    /// Peak cell rate.
    pub pcr: Option<BitRate>,
    /// Cell delay variation tolerance.
    pub cdvt: Span,
    /// Sustainable or minimum cell rate.
    pub sustained: Option<BitRate>,
    /// Minimum cell rate, where `sustained` is one.
    pub mcr: Option<BitRate>,
    /// Maximum burst size in cells.
    pub mbs: u64,
    /// Maximum frame size in cells.
    pub mfs: u64,
}
