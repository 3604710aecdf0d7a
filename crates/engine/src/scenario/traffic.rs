//! What the kinds of traffic can do. Whoever needs to know asks here, by ability and not by kind.

use super::model::{Processing, Traffic};
use crate::aal5::cells_of_segment;
use crate::units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a VC hands to its NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carries {
    /// AAL5 frames with data of an application: its goodput counts in totals, efficiency and fairness.
    Frames,
    /// Single cells, each for itself.
    Cells,
}

/// A data frame of the largest size that a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullFrame {
    /// Bytes of application data.
    pub bytes: u64,
    /// Cells.
    pub cells: u32,
}

impl Traffic {
    /// The kind's name.
    pub fn name(&self) -> &'static str {
        match self {
            Traffic::Tcp(_) => "tcp",
            Traffic::Cbr { .. } => "cbr",
            Traffic::Poisson { .. } => "poisson",
            Traffic::Vbr { .. } => "vbr",
        }
    }

    /// Its full data frame; `None` for sources of single cells.
    pub fn frame(&self) -> Option<FullFrame> {
        match self {
            Traffic::Tcp(tcp) => Some(FullFrame {
                bytes: tcp.mss,
                cells: cells_of_segment(tcp.mss),
            }),
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => None,
        }
    }

    /// Whether it sends frames or single cells.
    pub fn carries(&self) -> Carries {
        match self.frame() {
            Some(_) => Carries::Frames,
            None => Carries::Cells,
        }
    }

    /// Whether the receiving end answers, so that something flows back.
    pub fn answers(&self) -> bool {
        match self {
            Traffic::Tcp(_) => true,
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => false,
        }
    }

    /// Mean rate in bits per second, cells counted whole, that it offers whatever becomes of it; `None` when it takes what the
    /// network leaves.
    pub fn offered_rate(&self) -> Option<f64> {
        match self {
            Traffic::Tcp(_) => None,
            Traffic::Cbr { rate } | Traffic::Poisson { rate } => Some(rate.0 as f64),
            Traffic::Vbr { rate, on, off } => {
                let share = on.as_seconds() / (on.as_seconds() + off.as_seconds());
                Some(rate.0 as f64 * share)
            }
        }
    }

    /// The period over which a replication may draw its start (`Ensemble::vbr_phase`); `None` when it has none.
    pub fn start_phase(&self) -> Option<Span> {
        match self {
            Traffic::Vbr { on, off, .. } => Some(*on + *off),
            Traffic::Tcp(_) | Traffic::Cbr { .. } | Traffic::Poisson { .. } => None,
        }
    }

    /// Processing of every frame by the VC's own transport at each end.
    pub fn processing(&self) -> Option<Processing> {
        match self {
            Traffic::Tcp(tcp) => tcp.processing,
            Traffic::Cbr { .. } | Traffic::Poisson { .. } | Traffic::Vbr { .. } => None,
        }
    }
}
