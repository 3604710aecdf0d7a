//! Rates known beforehand: every backward RM cell carries the max-min fair rate of its VC in the
//! whole network.
//!
//! The rates are those of `fair`, for greedy sources. Nothing is measured: this is the reference
//! for other rules.
//! Source: Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2 (max-min flow control).
//! Not said there, chosen here: rates are shared above MCR and by weight; see `fair`.
//! Limits: capacity that a source does not use goes to no other; only the mean rates of higher
//! classes count.

use super::{FeedbackRule, Marks, Measured, SubscriberTerms};

/// Rates of the VCs of one class queue.
#[derive(Clone, Debug)]
pub struct OracleRate {
    /// Rates by VC number, cells per second.
    rates: Vec<f64>,
}

impl OracleRate {
    /// Creates the rule with the rate of each VC.
    pub fn new(subscribers: &[SubscriberTerms]) -> OracleRate {
        OracleRate {
            rates: subscribers.iter().map(|vc| vc.fair).collect(),
        }
    }
}

impl FeedbackRule for OracleRate {
    fn end_of_interval(&mut self, _measured: &Measured<'_>) {}

    fn forward(&mut self, _vc: usize, _ccr: f64) {}

    fn backward(&mut self, vc: usize) -> Marks {
        Marks::rate(self.rates[vc])
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::subscriber;
    use super::*;

    #[test]
    fn every_vc_gets_its_own_rate_in_every_case() {
        let vcs = [300.0, 20.0].map(|fair| SubscriberTerms {
            fair,
            ..subscriber(0.0, 1.0)
        });
        let mut rule = OracleRate::new(&vcs);
        rule.forward(1, 500.0);
        rule.end_of_interval(&Measured {
            interval_s: 1.0,
            higher_cells: 9,
            arrived_cells: &[1000, 1000],
            queue_cells: 100,
        });
        assert_eq!(rule.backward(1), Marks::rate(20.0));
        assert_eq!(rule.backward(0), Marks::rate(300.0));
    }
}
