//! Parameters of the available bit rate (ABR) service: end systems of a VC, feedback of a class
//! queue.

use crate::ground::units::{BitRate, Ratio, Span};
use serde::{Deserialize, Serialize};

/// Parameters of the two ABR end systems of a VC. Each adapts its sending direction to the rate
/// that the network allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbrParams {
    /// Peak cell rate. Absent: the rate of the link that the end system sends on.
    pub pcr: Option<BitRate>,
    /// Minimum cell rate. Absent: 0.
    pub mcr: Option<BitRate>,
    /// Initial cell rate before TBE limits it. Absent: the PCR.
    pub icr: Option<BitRate>,
    /// Transient buffer exposure, cells.
    pub tbe: u64,
    /// Fixed round-trip time. Absent: the round-trip time of the empty network.
    pub frtt: Option<Span>,
    /// Cells per forward RM cell, including the RM cell; a power of 2.
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
    /// Number of forward RM cells without a backward one before ACR is cut. Absent: TBE / Nrm,
    /// rounded up.
    pub crm: Option<u64>,
    /// Encoding of rates in RM cells.
    pub rates: RmRates,
    /// Limit on the cells that wait before an end system. Absent: unlimited.
    pub queue: Option<u64>,
}

/// Encoding of rates in RM cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RmRates {
    /// Exact values.
    Exact,
    /// The standard's 16-bit format, rounded down.
    Coded,
}

/// Feedback that a class queue gives to the sources of the VCs that cross it. See `abr::feedback`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Feedback {
    /// ERICA (`abr::feedback::erica`).
    Erica(EricaParams),
    /// ERICA+ (`abr::feedback::erica_plus`).
    EricaPlus(EricaPlusParams),
    /// ERICA with minimum cell rates (`abr::feedback::erica_mcr`).
    EricaMcr(EricaParams),
    /// Relative rate marking (`abr::feedback::relative_rate`).
    RelativeRate {
        /// Averaging interval.
        interval: Span,
        /// Waiting cells above which rates must fall.
        high: u64,
        /// Waiting cells above which rates must not rise.
        low: u64,
    },
    /// EFCI marking (`abr::feedback::efci`).
    Efci {
        /// Averaging interval.
        interval: Span,
        /// Waiting cells above which data cells are marked.
        threshold: u64,
    },
    /// Explicit rates known beforehand (`abr::feedback::oracle_rate`).
    OracleRate {
        /// Target utilisation, as a fraction of the link's rate.
        target: Ratio,
    },
}

/// The parameters of ERICA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EricaParams {
    /// Target utilisation, as a fraction of the link's rate.
    pub target: Ratio,
    /// Averaging interval.
    pub interval: Span,
    /// delta: the overload up to which the largest allocation of the previous interval may be given
    /// again.
    pub delta: Ratio,
    /// Whether the largest allocation of the previous interval may be given again.
    pub max_alloc_previous: bool,
    /// Weight of older values in the average of the load factor. 0 turns averaging off.
    pub load_decay: Ratio,
    /// Fraction that a silent VC keeps per interval in the count of active VCs. 0 drops it at once.
    pub active_decay: Ratio,
}

/// The parameters of ERICA+.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EricaPlusParams {
    /// T0: the target queueing delay.
    pub t0: Span,
    /// a: shape of the target curve above T0.
    pub a: Ratio,
    /// b: shape of the target curve below T0.
    pub b: Ratio,
    /// QDLF: the least fraction of the capacity that is left for new cells.
    pub qdlf: Ratio,
    /// Averaging interval.
    pub interval: Span,
    /// delta, as in [`EricaParams`].
    pub delta: Ratio,
    /// Whether the previous largest allocation may be given again, as in [`EricaParams`].
    pub max_alloc_previous: bool,
    /// Weight of older load factors, as in [`EricaParams`].
    pub load_decay: Ratio,
    /// Fraction that a silent VC keeps, as in [`EricaParams`].
    pub active_decay: Ratio,
}

impl EricaPlusParams {
    /// The parameters shared with ERICA. The target is the whole capacity.
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
    /// Averaging interval, or `None` when the algorithm measures nothing.
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

    /// Target fraction of a link's rate.
    pub(crate) fn target(&self) -> f64 {
        match self {
            Feedback::Erica(params) | Feedback::EricaMcr(params) => params.target.as_f64(),
            Feedback::OracleRate { target } => target.as_f64(),
            Feedback::EricaPlus(_) | Feedback::RelativeRate { .. } | Feedback::Efci { .. } => 1.0,
        }
    }

    /// Whether the algorithm marks data cells.
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
