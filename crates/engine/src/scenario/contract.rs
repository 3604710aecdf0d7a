//! Traffic contracts of VCs.

use super::model::Vc;
use crate::format::Format;
use crate::units::{BitRate, Span};
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

impl Vc {
    /// The VC's contract with every default filled in.
    pub(crate) fn terms(&self, format: Format) -> Option<ContractTerms> {
        let contract = self.contract?;
        let frame = self.frame_cells(format);
        Some(ContractTerms {
            pcr: contract.pcr,
            cdvt: contract.cdvt,
            sustained: contract.scr.or(contract.mcr),
            mcr: contract.mcr,
            mbs: contract.mbs.unwrap_or(2 * frame),
            mfs: contract.mfs.unwrap_or(frame),
        })
    }

    /// Cells of the largest data frame that the VC sends.
    pub(crate) fn frame_cells(&self, format: Format) -> u64 {
        u64::from(self.traffic.frame_size(format).cells())
    }
}
