//! The available bit rate service: the end systems of a VC, and the feedback of a class queue.

use crate::units::{BitRate, Ratio, Span};
use serde::{Deserialize, Serialize};

/// How the two end systems of a VC of the class ABR keep to the rate that the network allows, each in its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbrParams {
    /// Peak cell rate; the rate of the link that the end system sends on when absent.
    pub pcr: Option<BitRate>,
    /// Minimum cell rate; 0 when absent.
    pub mcr: Option<BitRate>,
    /// Initial cell rate before TBE limits it; the PCR when absent.
    pub icr: Option<BitRate>,
    /// Transient buffer exposure, cells.
    pub tbe: u64,
    /// Fixed round-trip time; that of an empty network when absent.
    pub frtt: Option<Span>,
    /// Cells per forward RM cell, itself included; a power of 2.
    pub nrm: u64,
    /// Longest time between forward RM cells of an active source.
    pub trm: Span,
    /// Rate increase factor.
    pub rif: Ratio,
    /// Rate decrease factor.
    pub rdf: Ratio,
    /// Idle time after which ACR falls to ICR.
    pub adtf: Span,
    /// Cutoff decrease factor.
    pub cdf: Ratio,
    /// Forward RM cells without a backward one before ACR is cut; TBE / Nrm, rounded up, when absent.
    pub crm: Option<u64>,
    /// How rates stand in RM cells.
    pub rates: RmRates,
    /// Cells that may wait before an end system; unlimited when absent.
    pub queue: Option<u64>,
}

/// How rates stand in RM cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RmRates {
    /// As they are.
    Exact,
    /// In the standard's 16 bits, rounded down.
    Coded,
}

/// What a class queue tells the sources of the VCs that cross it. See `abr::feedback`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Feedback {
    /// `abr::feedback::erica`.
    Erica(EricaParams),
    /// `abr::feedback::erica_plus`.
    EricaPlus(EricaPlusParams),
    /// `abr::feedback::erica_mcr`.
    EricaMcr(EricaParams),
    /// `abr::feedback::relative_rate`.
    RelativeRate {
        /// Averaging interval.
        interval: Span,
        /// Waiting cells above which rates must fall.
        high: u64,
        /// Waiting cells above which rates must not rise.
        low: u64,
    },
    /// `abr::feedback::efci`.
    Efci {
        /// Averaging interval.
        interval: Span,
        /// Waiting cells above which data cells are marked.
        threshold: u64,
    },
    /// `abr::feedback::oracle_rate`.
    OracleRate {
        /// Target utilisation, of the link's rate.
        target: Ratio,
    },
}

/// The parameters of ERICA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EricaParams {
    /// Target utilisation, of the link's rate.
    pub target: Ratio,
    /// Averaging interval.
    pub interval: Span,
    /// delta, overload up to which the largest allocation of the interval before may be given again.
    pub delta: Ratio,
    /// Whether it may be given at all.
    pub max_alloc_previous: bool,
    /// Weight of the older values in the average of the load factor; 0: no average.
    pub load_decay: Ratio,
    /// What is left per interval of a silent VC in the number of active ones; 0: nothing.
    pub active_decay: Ratio,
}

/// The parameters of ERICA+.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EricaPlusParams {
    /// T0, the queueing delay aimed at.
    pub t0: Span,
    /// a, curve of the target above it.
    pub a: Ratio,
    /// b, curve of the target below it.
    pub b: Ratio,
    /// QDLF, the least fraction of the capacity that is left for new cells.
    pub qdlf: Ratio,
    /// Averaging interval.
    pub interval: Span,
    /// delta, as in ERICA.
    pub delta: Ratio,
    /// As in ERICA.
    pub max_alloc_previous: bool,
    /// As in ERICA.
    pub load_decay: Ratio,
    /// As in ERICA.
    pub active_decay: Ratio,
}

impl EricaPlusParams {
    /// What it shares with ERICA, the target being all that there is.
    pub(crate) fn of_erica(&self) -> EricaParams {
        EricaParams {
            target: Ratio::new(1, 1),
            interval: self.interval,
            delta: self.delta,
            max_alloc_previous: self.max_alloc_previous,
            load_decay: self.load_decay,
            active_decay: self.active_decay,
        }
    }
}

impl Feedback {
    /// Its averaging interval; `None` of one that measures nothing.
    pub fn interval(&self) -> Option<Span> {
        match self {
            Feedback::Erica(params) | Feedback::EricaMcr(params) => Some(params.interval),
            Feedback::EricaPlus(params) => Some(params.interval),
            Feedback::RelativeRate { interval, .. } | Feedback::Efci { interval, .. } => {
                Some(*interval)
            }
            Feedback::OracleRate { .. } => None,
        }
    }

    /// The part of a link's rate that is aimed at.
    pub(crate) fn target(&self) -> f64 {
        match self {
            Feedback::Erica(params) | Feedback::EricaMcr(params) => params.target.as_f64(),
            Feedback::OracleRate { target } => target.as_f64(),
            Feedback::EricaPlus(_) | Feedback::RelativeRate { .. } | Feedback::Efci { .. } => 1.0,
        }
    }

    /// Whether it marks data cells.
    pub(crate) fn may_mark_data(&self) -> bool {
        match self {
            Feedback::Efci { .. } => true,
            Feedback::Erica(_)
            | Feedback::EricaPlus(_)
            | Feedback::EricaMcr(_)
            | Feedback::RelativeRate { .. }
            | Feedback::OracleRate { .. } => false,
        }
    }
}
