//! Traffic contracts of VCs.

use super::model::Vc;
use crate::units::{BitRate, Span};
use serde::{Deserialize, Serialize};

/// What is agreed on the data of a VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Peak cell rate; none when absent.
    pub pcr: Option<BitRate>,
    /// Cell delay variation tolerance.
    pub cdvt: Span,
    /// Sustainable cell rate; excludes `mcr`.
    pub scr: Option<BitRate>,
    /// Minimum cell rate; excludes `scr`.
    pub mcr: Option<BitRate>,
    /// Maximum burst size, cells; two of the largest frames of the source when absent.
    pub mbs: Option<u64>,
    /// Maximum frame size, cells; the largest frame of the source when absent.
    pub mfs: Option<u64>,
}

/// A contract with every default filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// PCR.
    pub pcr: Option<BitRate>,
    /// CDVT.
    pub cdvt: Span,
    /// SCR or MCR.
    pub sustained: Option<BitRate>,
    /// MBS, cells.
    pub mbs: u64,
    /// MFS, cells.
    pub mfs: u64,
}

impl Vc {
    /// Its contract with every default filled in.
    pub(crate) fn terms(&self) -> Option<Terms> {
        let contract = self.contract?;
        let frame = self.frame_cells();
        Some(Terms {
            pcr: contract.pcr,
            cdvt: contract.cdvt,
            sustained: contract.scr.or(contract.mcr),
            mbs: contract.mbs.unwrap_or(2 * frame),
            mfs: contract.mfs.unwrap_or(frame),
        })
    }

    /// Cells of its largest data frame.
    pub(crate) fn frame_cells(&self) -> u64 {
        self.traffic
            .frame()
            .map_or(1, |frame| u64::from(frame.cells))
    }
}
