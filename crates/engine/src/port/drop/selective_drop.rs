//! Selective drop: refuse a new frame of a VC that holds more than its share of the buffer.
//!
//! Refuse a frame of VC i  <=>  X > R  and  Y_i N_a > Z X.
//!   X:   cells waiting in the class queue     R: threshold [cells], 0 <= R <= K
//!   Y_i: cells of VC i waiting                K: buffer size [cells]
//!   N_a: VCs with Y_i > 0                     Z: load-ratio cutoff [-], `ubr-plus`: 0.8
//! Decided at the first cell of a frame.
//! Source: `ubr-plus`, section 6 and figure 3, with R = 0.9 K.
//! Not said there, chosen here: no EPD threshold applies on top; a refused frame loses its EOM too.
//! Limits: needs per-VC counters; no protection against sources that do not respond.

use super::{Arriving, Decision, DropRule, Needs, QueueView, exceeds, first_above, resolve};
use crate::ground::units::{Ratio, Time};
use crate::text::scenario::Threshold;

/// Selective drop for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectiveDrop {
    /// R; `None`: never reached.
    r: Option<Ratio>,
    z: Ratio,
}

impl SelectiveDrop {
    /// Creates the policy for a buffer of `buffer` cells, with threshold `r` and cutoff `z`.
    pub fn new(r: Threshold, z: Ratio, buffer: Option<u64>) -> SelectiveDrop {
        SelectiveDrop {
            r: resolve(r, buffer),
            z,
        }
    }

    /// Whether X > R and Y_i N_a > Z X, in whole numbers.
    fn refuses(&self, q: &QueueView) -> bool {
        self.r.is_some_and(|r| exceeds(q.waiting, r))
            && u128::from(q.waiting_of_vc) * u128::from(q.active_vcs) * u128::from(self.z.den)
                > u128::from(self.z.num) * u128::from(q.waiting)
    }
}

impl DropRule for SelectiveDrop {
    fn needs(&self) -> Needs {
        Needs::VC_COUNTS
    }

    fn admit(&mut self, _now: Time, _cell: &Arriving, queue: &QueueView) -> Decision {
        Decision::refuse_if(self.refuses(queue))
    }

    /// Cutoff for Y_i: Z X / N_a, where X > R.
    fn threshold(&self, _vc: u32, q: &QueueView) -> Option<f64> {
        let above = self.r.is_some_and(|r| exceeds(q.waiting, r));
        above.then(|| self.z.as_f64() * q.waiting as f64 / q.active_vcs as f64)
    }

    /// Smallest X above R.
    fn smallest_refusal(&self) -> u64 {
        first_above(self.r)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::queue;
    use super::*;

    fn policy(z: Ratio) -> SelectiveDrop {
        SelectiveDrop::new(Threshold::Fraction(Ratio::new(9, 10)), z, Some(1000))
    }

    #[test]
    fn below_r_nobody_is_refused() {
        assert!(!policy(Ratio::new(8, 10)).refuses(&queue(900, 900, 1)));
    }

    #[test]
    fn above_r_only_vcs_above_z_times_their_share() {
        let p = policy(Ratio::new(8, 10));
        // The share of each of 5 VCs in 905 cells is 181; Z = 0.8 of it is 144.8.
        assert!(!p.refuses(&queue(905, 144, 5)));
        assert!(p.refuses(&queue(905, 145, 5)));
    }

    #[test]
    fn the_threshold_is_z_times_a_share() {
        let p = policy(Ratio::new(8, 10));
        assert_eq!(p.threshold(0, &queue(905, 200, 5)), Some(0.8 * 905.0 / 5.0));
        assert_eq!(p.threshold(0, &queue(900, 900, 5)), None);
    }

    #[test]
    fn equality_is_not_above() {
        // Y_i = 160 gives Y_i N_a = 800 = 0.8 X, which is not above.
        assert!(!policy(Ratio::new(8, 10)).refuses(&queue(1000, 160, 5)));
        assert!(policy(Ratio::new(8, 10)).refuses(&queue(1000, 161, 5)));
    }
}
