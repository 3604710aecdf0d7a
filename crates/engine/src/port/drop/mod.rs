//! Drop policies: which frames a class queue refuses before it is full. One file per policy.
//!
//! A policy is a pure decision, asked at the first cell of a frame that finds the port busy. To
//! add one: its file here, a variant in [`Policy`], a variant in `scenario::DropPolicy` and an entry in the registry.

pub mod epd;
pub mod fba;
pub mod ppd;
pub mod selective_drop;
pub mod tail_drop;

use crate::scenario::{DropPolicy, Threshold};
use crate::units::Ratio;

/// What a policy may look at: one class queue, without the cell in service and before the arriving cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// X, cells waiting.
    pub waiting: u64,
    /// Y_i, cells of the arriving cell's VC waiting. Only filled in when [`Policy::needs_vc_counts`].
    pub waiting_of_vc: u64,
    /// N_a, VCs with cells waiting. Only filled in when [`Policy::needs_vc_counts`].
    pub active_vcs: u64,
}

/// A drop policy with its thresholds resolved for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// See [`tail_drop`].
    TailDrop,
    /// See [`ppd`].
    Ppd,
    /// See [`epd`].
    Epd(epd::Epd),
    /// See [`selective_drop`].
    SelectiveDrop(selective_drop::SelectiveDrop),
    /// See [`fba`].
    Fba(fba::Fba),
}

impl Policy {
    /// The policy `spec` for a buffer of `buffer` cells (`None`: unlimited, then thresholds that are
    /// relative to the buffer are never reached).
    pub fn new(spec: &DropPolicy, buffer: Option<u64>) -> Policy {
        match *spec {
            DropPolicy::TailDrop => Policy::TailDrop,
            DropPolicy::Ppd => Policy::Ppd,
            DropPolicy::Epd { threshold, reserve } => {
                Policy::Epd(epd::Epd::new(threshold, reserve, buffer))
            }
            DropPolicy::SelectiveDrop { r, z } => {
                Policy::SelectiveDrop(selective_drop::SelectiveDrop::new(r, z, buffer))
            }
            DropPolicy::Fba { r, z, k_fba } => {
                Policy::Fba(fba::Fba::new(r, z, k_fba.or(buffer), buffer))
            }
        }
    }

    /// Whether a frame whose first cell sees `queue` is refused.
    pub fn refuses(&self, queue: &QueueView) -> bool {
        match self {
            Policy::TailDrop => tail_drop::refuses(),
            Policy::Ppd => ppd::refuses(),
            Policy::Epd(p) => p.refuses(queue),
            Policy::SelectiveDrop(p) => p.refuses(queue),
            Policy::Fba(p) => p.refuses(queue),
        }
    }

    /// The smallest X at which [`Policy::refuses`] can be true; `u64::MAX` when it never is.
    pub fn smallest_refusal(&self) -> u64 {
        match self {
            Policy::TailDrop | Policy::Ppd => u64::MAX,
            Policy::Epd(p) => p.smallest_refusal(),
            Policy::SelectiveDrop(p) => p.smallest_refusal(),
            Policy::Fba(p) => p.smallest_refusal(),
        }
    }

    /// Whether the decision looks at Y_i and N_a.
    pub fn needs_vc_counts(&self) -> bool {
        match self {
            Policy::TailDrop | Policy::Ppd | Policy::Epd(_) => false,
            Policy::SelectiveDrop(_) | Policy::Fba(_) => true,
        }
    }
}

/// `threshold` in cells as an exact fraction; `None` when it is relative to an unlimited buffer.
pub(crate) fn resolve(threshold: Threshold, buffer: Option<u64>) -> Option<Ratio> {
    match threshold {
        Threshold::Cells(cells) => Some(Ratio::new(cells, 1)),
        Threshold::Fraction(f) => buffer.map(|k| Ratio::new(f.num * k, f.den)),
    }
}

/// Whether `x > r`, exactly.
pub(crate) fn exceeds(x: u64, r: Ratio) -> bool {
    u128::from(x) * u128::from(r.den) > u128::from(r.num)
}

/// The smallest integer above `r`.
pub(crate) fn first_above(r: Option<Ratio>) -> u64 {
    r.map_or(u64::MAX, |r| r.num / r.den + 1)
}
