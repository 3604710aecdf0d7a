//! Differential Fair Buffer Allocation: random drops share the buffer in proportion to minimum
//! rates.
//!
//! At the first cell of a frame of VC i, with W_i = MCR_i / sum of MCR over the VCs of the queue:
//!   X <= L:                        accept;
//!   X >= H:                        refuse;
//!   L < X < H, CLP = 1:            refuse;
//!   L < X < H, X_i > X W_i:        refuse with probability P;
//!   else:                          accept.
//!   P = Z (alpha (X_i - X W_i) / (X (1 - W_i)) + (1 - alpha) (X - L) / (H - L)).
//!   X: cells waiting in the class queue     X_i: those of VC i     L, H: thresholds [cells]
//!   Z, alpha: weights in [0, 1]
//! Source: Goyal, Jain, Fahmy and Vandalore, Buffer management for the GFR service, ATM Forum
//! 98-0405, 1998.
//! Not said there, chosen here: tagged frames of every VC are refused between L and H, not only of
//! those above their share. Z is the same for all VCs. A VC without a contract has W_i = 0. Draw n
//! of the queue's stream is for the n-th frame that needs one.
//! Limits: rates follow buffer shares only as far as TCP does; UDP is held to H alone and to its
//! random losses.

use super::{Arriving, Decision, DropRule, Needs, QueueView, exceeds, first_above, resolve};
use crate::ground::units::{Ratio, Time};
use crate::text::scenario::{ContractTerms, Threshold};

/// Differential Fair Buffer Allocation for one class queue.
#[derive(Clone, Debug)]
pub struct Dfba {
    /// L; `None`: never reached.
    low: Option<Ratio>,
    /// H; `None`: never reached.
    high: Option<Ratio>,
    z: f64,
    alpha: f64,
    /// MCR_i by local number, bits per second.
    rates: Vec<u64>,
    /// Sum of `rates`, at least 1.
    sum: u64,
    /// Whether the latest frame that found X > L was tagged, by local number; for traces.
    tagged: Vec<bool>,
    /// Number of random draws so far.
    drawn: u64,
}

impl Dfba {
    /// Creates the policy with both thresholds, the weights of the formula, and the contract of
    /// each flow, by local number.
    pub fn new(
        [low, high]: [Threshold; 2],
        z: Ratio,
        alpha: Ratio,
        buffer: Option<u64>,
        contracts: &[Option<ContractTerms>],
    ) -> Dfba {
        let rate = |terms: &ContractTerms| terms.sustained.map(|rate| rate.0);
        let contracts = contracts.iter();
        let rates = contracts.map(|c| c.as_ref().and_then(rate).unwrap_or(0));
        let rates: Vec<u64> = rates.collect();
        // A rate is at most 1 Tb/s, so no number of flows that fits into memory overflows the sum.
        let sum = rates.iter().sum::<u64>().max(1);
        Dfba {
            low: resolve(low, buffer),
            high: resolve(high, buffer),
            z: z.as_f64(),
            alpha: alpha.as_f64(),
            tagged: vec![false; rates.len()],
            rates,
            sum,
            drawn: 0,
        }
    }

    /// P of a VC above its share; `None` for a VC that is not above it.
    fn probability(&self, vc: u32, queue: &QueueView, low: f64, high: f64) -> Option<f64> {
        let rate = self.rates[vc as usize];
        // X_i > X W_i, exactly.
        let above = u128::from(queue.waiting_of_vc) * u128::from(self.sum);
        let is_above = above > u128::from(queue.waiting) * u128::from(rate);
        is_above.then(|| {
            let share = rate as f64 / self.sum as f64;
            let (x, of_vc) = (queue.waiting as f64, queue.waiting_of_vc as f64);
            let above = of_vc - x * share;
            let unfair = above / (x * (1.0 - share));
            let loaded = (x - low) / (high - low);
            self.z * (self.alpha * unfair + (1.0 - self.alpha) * loaded)
        })
    }
}

impl DropRule for Dfba {
    fn needs(&self) -> Needs {
        Needs::VC_COUNTS
    }

    fn admit(&mut self, _now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        let Some(low) = self.low.filter(|&low| exceeds(queue.waiting, low)) else {
            return Decision::Accept;
        };
        self.tagged[cell.vc as usize] = cell.tagged;
        let high = self.high.map_or(f64::INFINITY, Ratio::as_f64);
        if queue.waiting as f64 >= high || cell.tagged {
            return Decision::refuse_if(true);
        }
        let Some(probability) = self.probability(cell.vc, queue, low.as_f64(), high) else {
            return Decision::Accept;
        };
        let draw = cell.draws.unit(self.drawn);
        self.drawn += 1;
        Decision::refuse_if(draw < probability)
    }

    /// H where X >= H. Between L and H, it is L for a tagged frame and X W_i, the limit on X_i, for
    /// others. Cells.
    fn threshold(&self, vc: u32, queue: &QueueView) -> Option<f64> {
        let low = self.low.filter(|&low| exceeds(queue.waiting, low))?;
        let (x, vc) = (queue.waiting as f64, vc as usize);
        let high = self.high.map(Ratio::as_f64).filter(|&high| x >= high);
        Some(match high {
            Some(high) => high,
            None if self.tagged[vc] => low.as_f64(),
            None => x * self.rates[vc] as f64 / self.sum as f64,
        })
    }

    /// Smallest X above L.
    fn smallest_refusal(&self) -> u64 {
        first_above(self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, contract};
    use super::*;
    use crate::network::tally::DropReason;

    /// Policy for three VCs with 1, 3 and no Mb/s; L = 100, H = 200, Z = 1, alpha = 1/2.
    fn policy() -> Dfba {
        weighted(Ratio::new(1, 1), Ratio::new(1, 2))
    }

    /// Policy for these VCs and thresholds with another Z and alpha.
    fn weighted(z: Ratio, alpha: Ratio) -> Dfba {
        let contracts = [
            Some(contract(1_000_000, 1)),
            Some(contract(3_000_000, 1)),
            None,
        ];
        let thresholds = [100, 200].map(Threshold::Cells);
        Dfba::new(thresholds, z, alpha, None, &contracts)
    }

    fn cell(vc: u32, tagged: bool) -> Arriving {
        Arriving {
            tagged,
            ..testing::cell(vc, true, false)
        }
    }

    fn queue(waiting: u64, waiting_of_vc: u64) -> QueueView {
        testing::queue(waiting, waiting_of_vc, 1)
    }

    /// Number of refused frames out of a thousand.
    fn refused(vc: u32, tagged: bool, view: QueueView) -> usize {
        let mut policy = policy();
        let refusal = Decision::Refuse(DropReason::Policy);
        let told = (0..1000).map(|_| policy.admit(Time::ZERO, &cell(vc, tagged), &view));
        told.filter(|&decision| decision == refusal).count()
    }

    #[test]
    fn the_four_regions() {
        assert_eq!(refused(0, true, queue(100, 100)), 0);
        assert_eq!(refused(1, false, queue(200, 0)), 1000);
        assert_eq!(refused(1, true, queue(101, 0)), 1000);
        assert_eq!(
            refused(1, false, queue(160, 120)),
            0,
            "its share: 3/4 of 160"
        );
    }

    // W = 1/4 and 3/4.
    #[test]
    fn traces_have_the_limit_that_refused() {
        let mut policy = policy();
        let mut limit = |vc, tagged, view: QueueView| {
            policy.admit(Time::ZERO, &cell(vc, tagged), &view);
            policy.threshold(vc, &view)
        };
        assert_eq!(limit(0, false, queue(160, 100)), Some(40.0));
        assert_eq!(limit(1, false, queue(160, 140)), Some(120.0));
        assert_eq!(limit(2, false, queue(160, 16)), Some(0.0));
        assert_eq!(limit(0, true, queue(160, 100)), Some(100.0));
        assert_eq!(limit(0, false, queue(160, 100)), Some(40.0));
        assert_eq!(limit(0, true, queue(200, 100)), Some(200.0));
        assert_eq!(limit(0, true, queue(100, 100)), None);
    }

    // X = 160, W = 1/4, X_i = 100: (100 - 40) / 120 = 0.5; (160 - 100) / 100 = 0.6; P = 0.55.
    #[test]
    fn above_its_share_a_vc_loses_at_random() {
        let refused = refused(0, false, queue(160, 100));
        assert!((500..600).contains(&refused), "{refused}");
        let p = policy().probability(0, &queue(160, 100), 100.0, 200.0);
        assert!((p.unwrap() - 0.55).abs() < 1e-12);
    }

    // The share gives 0.5 and the load 0.6. P = 0.5 (0.9 x 0.5 + 0.1 x 0.6) = 0.255.
    #[test]
    fn alpha_weights_the_share_and_the_rest_the_load() {
        let policy = weighted(Ratio::new(1, 2), Ratio::new(9, 10));
        let p = policy.probability(0, &queue(160, 100), 100.0, 200.0);
        assert!((p.unwrap() - 0.255).abs() < 1e-12);
    }

    #[test]
    fn without_a_contract_there_is_no_share() {
        let p = policy().probability(2, &queue(160, 16), 100.0, 200.0);
        assert!((p.unwrap() - (0.5 * 0.1 + 0.5 * 0.6)).abs() < 1e-12);
        assert_eq!(policy().smallest_refusal(), 101);
    }
}
