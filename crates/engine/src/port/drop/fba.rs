//! Fair Buffer Allocation: selective drop with a cutoff that falls as the buffer fills.
//!
//! Refuse a frame of VC i  <=>  X > R  and  Y_i N_a / X > Z (K - R) / (X - R).
//!   X:   cells waiting in the class queue     R: threshold [cells], 0 <= R <= K
//!   Y_i: cells of VC i waiting                K: buffer size [cells] (or `k_fba`)
//!   N_a: VCs with Y_i > 0                     Z: linear scale factor [-], `ubr-plus`: 0.8
//! Decided at the first cell of a frame.
//! Source: Heinanen and Kilkki, "A fair buffer allocation scheme"; `ubr-plus`, section 7, with R = 0.9 K.
//! Not said there, chosen here: no EPD threshold applies on top; a refused frame loses its EOM too.
//! Limits: needs per-VC counters; a small R with a small Z refuses so early that the link runs
//! empty.

use super::{Arriving, Decision, DropRule, Needs, QueueView, exceeds, first_above, resolve};
use crate::ground::units::{Ratio, Time};
use crate::text::scenario::Threshold;

/// Fair Buffer Allocation for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Fba {
    /// R; `None`: never reached.
    r: Option<Ratio>,
    z: Ratio,
    /// K of the formula; `None`: unlimited, nothing is ever refused.
    k: Option<u64>,
}

impl Fba {
    /// Creates the policy for a buffer of `buffer` cells; `k` is K in the formula.
    pub fn new(r: Threshold, z: Ratio, k: Option<u64>, buffer: Option<u64>) -> Fba {
        Fba {
            r: resolve(r, buffer),
            z,
            k,
        }
    }

    /// Whether X > R and Y_i N_a (X - R) > Z (K - R) X, in whole numbers; R = r.num / r.den.
    fn refuses(&self, q: &QueueView) -> bool {
        let (Some(r), Some(k)) = (self.r, self.k) else {
            return false;
        };
        if !exceeds(q.waiting, r) {
            return false;
        }
        let above = u128::from(q.waiting) * u128::from(r.den) - u128::from(r.num);
        let room = (u128::from(k) * u128::from(r.den)).saturating_sub(u128::from(r.num));
        u128::from(q.waiting_of_vc) * u128::from(q.active_vcs) * above * u128::from(self.z.den)
            > u128::from(self.z.num) * room * u128::from(q.waiting)
    }
}

impl DropRule for Fba {
    fn needs(&self) -> Needs {
        Needs::VC_COUNTS
    }

    fn admit(&mut self, _now: Time, _cell: &Arriving, queue: &QueueView) -> Decision {
        Decision::refuse_if(self.refuses(queue))
    }

    /// Cutoff for Y_i: Z (K - R) / (X - R) X / N_a, where X > R.
    fn threshold(&self, _vc: u32, q: &QueueView) -> Option<f64> {
        let (r, k) = (self.r?, self.k?);
        exceeds(q.waiting, r).then(|| {
            let (x, r) = (q.waiting as f64, r.as_f64());
            self.z.as_f64() * (k as f64 - r).max(0.0) / (x - r) * x / q.active_vcs as f64
        })
    }

    /// Smallest X above R.
    fn smallest_refusal(&self) -> u64 {
        if self.k.is_none() {
            u64::MAX
        } else {
            first_above(self.r)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::queue;
    use super::*;

    /// R = 900 of 1000 cells.
    fn policy(tenths: u64, k: u64) -> Fba {
        let z = Ratio::new(tenths, 10);
        Fba::new(Threshold::Cells(900), z, Some(k), Some(1000))
    }

    #[test]
    fn cutoff_falls_as_the_buffer_fills() {
        let p = policy(8, 1000);
        // X = 950: cutoff 0.8 x 100/50 = 1.6 shares; a share of 5 VCs is 190: 304 cells.
        assert!(!p.refuses(&queue(950, 304, 5)));
        assert!(p.refuses(&queue(950, 305, 5)));
        // X = 1000: cutoff 0.8 shares: 160 cells.
        assert!(!p.refuses(&queue(1000, 160, 5)));
        assert!(p.refuses(&queue(1000, 161, 5)));
    }

    #[test]
    fn the_threshold_is_told() {
        let p = policy(8, 1000);
        assert_eq!(p.threshold(0, &queue(950, 305, 5)), Some(304.0));
        assert_eq!(p.threshold(0, &queue(900, 900, 5)), None);
    }

    #[test]
    fn at_or_below_r_nobody_is_refused() {
        assert!(!policy(1, 1000).refuses(&queue(900, 900, 5)));
    }

    #[test]
    fn larger_k_in_the_formula_is_milder() {
        assert!(policy(8, 1000).refuses(&queue(1000, 200, 5)));
        assert!(!policy(8, 1100).refuses(&queue(1000, 200, 5)));
    }
}
