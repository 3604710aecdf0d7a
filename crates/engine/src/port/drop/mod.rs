//! Drop policies: which frames a class queue refuses before it is full. One file per policy.
//!
//! A policy is a pure decision, asked at the first cell of a frame that finds the port busy. To
//! add one: its file here with a [`DropRule`], its line in the list below, a variant in `scenario::DropPolicy` and an entry in the registry.

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
    /// Y_i, cells of the arriving cell's VC waiting. Only filled in when [`DropRule::NEEDS_VC_COUNTS`].
    pub waiting_of_vc: u64,
    /// N_a, VCs with cells waiting. Only filled in when [`DropRule::NEEDS_VC_COUNTS`].
    pub active_vcs: u64,
}

/// What a drop policy decides, its thresholds resolved for one class queue. The defaults are those of a policy that refuses nothing.
pub trait DropRule {
    /// Whether the decision looks at Y_i and N_a.
    const NEEDS_VC_COUNTS: bool = false;

    /// Whether a frame whose first cell sees `queue` is refused.
    fn refuses(&self, _queue: &QueueView) -> bool {
        false
    }

    /// Above how many cells a frame that sees `queue` is refused, for traces: cells of X, or of Y_i with
    /// [`DropRule::NEEDS_VC_COUNTS`]. `None` where no frame is refused.
    fn threshold(&self, _queue: &QueueView) -> Option<f64> {
        None
    }

    /// A true lower bound on the X at which `refuses` can be true, as close as can be: kernels take cells together below it.
    fn smallest_refusal(&self) -> u64 {
        u64::MAX
    }
}

macro_rules! policies {
    (with $buffer:ident: $($name:ident { $($parameter:ident),* } => $rule:ty = $new:expr,)*) => {
        /// A drop policy with its thresholds resolved for one class queue.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum Policy { $($name($rule),)* }

        impl Policy {
            /// The policy `spec` for a buffer of so many cells (`None`: unlimited, then thresholds that are
            /// relative to the buffer are never reached).
            pub fn new(spec: &DropPolicy, $buffer: Option<u64>) -> Policy {
                match *spec { $(DropPolicy::$name { $($parameter),* } => Policy::$name($new),)* }
            }

            /// See [`DropRule::refuses`].
            pub fn refuses(&self, queue: &QueueView) -> bool {
                match self { $(Policy::$name(rule) => rule.refuses(queue),)* }
            }

            /// See [`DropRule::threshold`].
            pub fn threshold(&self, queue: &QueueView) -> Option<f64> {
                match self { $(Policy::$name(rule) => rule.threshold(queue),)* }
            }

            /// See [`DropRule::smallest_refusal`].
            pub fn smallest_refusal(&self) -> u64 {
                match self { $(Policy::$name(rule) => rule.smallest_refusal(),)* }
            }

            /// See [`DropRule::NEEDS_VC_COUNTS`].
            pub fn needs_vc_counts(&self) -> bool {
                match self { $(Policy::$name(_) => <$rule>::NEEDS_VC_COUNTS,)* }
            }
        }
    };
}

// Name and parameters as in `scenario::DropPolicy`, and the rule made of them for a buffer of `buffer` cells.
policies! {
    with buffer:
    TailDrop {} => tail_drop::TailDrop = tail_drop::TailDrop,
    Ppd {} => ppd::Ppd = ppd::Ppd,
    Epd { threshold, reserve } => epd::Epd = epd::Epd::new(threshold, reserve, buffer),
    SelectiveDrop { r, z } => selective_drop::SelectiveDrop = selective_drop::SelectiveDrop::new(r, z, buffer),
    Fba { r, z, k_fba } => fba::Fba = fba::Fba::new(r, z, k_fba.or(buffer), buffer),
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
