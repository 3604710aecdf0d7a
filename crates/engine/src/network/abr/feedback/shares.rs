//! Common part of the ERICA rules: from a target for the class to a rate for each VC.
//!
//! A VC has MCR_i and weight w_i; plain ERICA uses 0 and 1 for all. At the end of an interval, with
//! r_i the cells of VC i over its length:
//!   E  = target - sum of min(MCR_i, r_i), at least 0;   input = sum of max(0, r_i - MCR_i);
//!   z  = input / E;          a_i = 1 if VC i has sent in the interval, else a_i active_decay;
//!   F  = E / max(1, sum of w_i a_i);                    P := M, then M := F.
//! For a backward RM cell of VC i, the first one in an interval:
//!   e_i = max(0, CCR_i - MCR_i) / w_i.
//!   A  = max(F, e_i / z), and at z <= 1 + delta also at least P; at most E / w_i.
//!   M := max(M, A); if A > F and e_i < F, A := F.
//!   ER = min(MCR_i + w_i A, target).
//! Later ones of the interval repeat this ER.
//!   With `load_decay` = d: z = input* / E*, with input* := d input* + (1 - d) input, and E* alike.
//!   F: FairShare    e_i / z: VCShare    M, P: MaxAllocCurrent, MaxAllocPrevious
//!   z: load factor, with E the target of plain ERICA
//! Chosen here, for all rules:
//! * z averages input and target apart, since their quotient may be infinite;
//! * E = 0 counts as infinite overload, and rates fall to MCR_i;
//! * no input counts as no load, and only E bounds a VC;
//! * an allocation is bounded by E / w_i before it enters M;
//! * no rate has been given before the first interval ends, and answers are those after an interval
//!   without a cell;
//! * CCR_i is that of the last forward RM cell that arrived, 0 before the first.

use super::{FeedbackRule, Marks, Measured, SubscriberTerms};
use crate::text::scenario::EricaParams;

/// Rule that gives rates by shares of a target; an implementation only defines the target.
pub(super) trait ByShares {
    /// Target after an interval with these measurements, cells per second, at least 0.
    fn target(&self, measured: &Measured<'_>) -> f64;

    /// State of the shares.
    fn shares(&mut self) -> &mut Shares;
}

impl<T: ByShares> FeedbackRule for T {
    fn end_of_interval(&mut self, measured: &Measured<'_>) {
        let target = self.target(measured);
        self.shares().end_of_interval(measured, target);
    }

    fn forward(&mut self, vc: usize, ccr: f64) {
        self.shares().forward(vc, ccr);
    }

    fn backward(&mut self, vc: usize) -> Marks {
        Marks::rate(self.shares().explicit_rate(vc))
    }
}

/// Shares of the VCs of a class queue.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// 1 + delta.
    most_load: f64,
    max_alloc_previous: bool,
    load_decay: f64,
    active_decay: f64,
    vcs: Vec<Share>,
    /// Target for all VCs, cells per second.
    target: f64,
    /// E, target above the used MCRs.
    excess: f64,
    /// F, FairShare.
    fair: f64,
    /// input* and E*; `None` before the first interval has ended.
    averages: Option<[f64; 2]>,
    /// z, load factor.
    load: f64,
    /// P, MaxAllocPrevious.
    previous: f64,
    /// M, MaxAllocCurrent.
    current: f64,
}

/// Share of one VC.
#[derive(Clone, Debug)]
struct Share {
    mcr: f64,
    weight: f64,
    ccr: f64,
    /// a_i, activity.
    active: f64,
    /// ER given in this interval, if any.
    given: Option<f64>,
}

impl Shares {
    /// Creates the shares of VCs without minimum rates and weights, before the first interval has
    /// ended.
    pub fn equal(params: &EricaParams, vcs: usize, target: f64) -> Shares {
        let alike = (0..vcs).map(|_| (0.0, 1.0));
        Shares::new(params, alike, target)
    }

    /// Creates the shares of VCs with their minimum rates and weights, before the first interval
    /// has ended.
    pub fn weighted(params: &EricaParams, subscribers: &[SubscriberTerms], target: f64) -> Shares {
        let vcs = subscribers.iter().map(|vc| (vc.mcr, vc.weight));
        Shares::new(params, vcs, target)
    }

    fn new(params: &EricaParams, vcs: impl Iterator<Item = (f64, f64)>, target: f64) -> Shares {
        let vcs = vcs.map(|(mcr, weight)| Share {
            mcr,
            weight,
            ccr: 0.0,
            active: 0.0,
            given: None,
        });
        Shares {
            most_load: 1.0 + params.delta.as_f64(),
            max_alloc_previous: params.max_alloc_previous,
            load_decay: params.load_decay.as_f64(),
            active_decay: params.active_decay.as_f64(),
            vcs: vcs.collect(),
            target,
            excess: target,
            fair: target,
            averages: None,
            load: 0.0,
            previous: 0.0,
            current: 0.0,
        }
    }

    /// Handles the end of an interval; the next one has this target, at least 0.
    pub fn end_of_interval(&mut self, measured: &Measured<'_>, target: f64) {
        let (mut reserved, mut input, mut weights) = (0.0, 0.0, 0.0);
        for (vc, &cells) in self.vcs.iter_mut().zip(measured.arrived_cells) {
            let rate = cells as f64 / measured.interval_s;
            let kept = rate.min(vc.mcr);
            reserved += kept;
            input += rate - kept;
            vc.active = if cells > 0 {
                1.0
            } else {
                vc.active * self.active_decay
            };
            weights += vc.weight * vc.active;
            vc.given = None;
        }
        self.target = target;
        self.excess = (target - reserved).max(0.0);
        self.fair = self.excess / weights.max(1.0);
        self.load = self.load_of(input, self.excess);
        self.previous = self.current;
        self.current = self.fair;
    }

    /// z after an interval with this input and E.
    fn load_of(&mut self, input: f64, excess: f64) -> f64 {
        let decay = self.load_decay;
        let [old_input, old_excess] = self.averages.unwrap_or([input, excess]);
        let input = decay * old_input + (1.0 - decay) * input;
        let excess = decay * old_excess + (1.0 - decay) * excess;
        self.averages = Some([input, excess]);
        if excess > 0.0 {
            input / excess
        } else {
            f64::INFINITY
        }
    }

    /// Stores the CCR of a forward RM cell of `vc`.
    pub fn forward(&mut self, vc: usize, ccr: f64) {
        self.vcs[vc].ccr = ccr;
    }

    /// Returns the ER for `vc`.
    pub fn explicit_rate(&mut self, vc: usize) -> f64 {
        let Share {
            mcr, weight, ccr, ..
        } = self.vcs[vc];
        if let Some(er) = self.vcs[vc].given {
            return er;
        }
        let above_mcr = (ccr - mcr).max(0.0) / weight;
        let amount = self.allocate(above_mcr, self.excess / weight);
        let er = (mcr + weight * amount).min(self.target);
        self.vcs[vc].given = Some(er);
        er
    }

    /// Computes A for a VC with `above_mcr` = e_i, at most `most`.
    fn allocate(&mut self, above_mcr: f64, most: f64) -> f64 {
        let by_load = if self.load > 0.0 {
            above_mcr / self.load
        } else {
            f64::INFINITY
        };
        let mut amount = self.fair.max(by_load);
        if self.max_alloc_previous && self.load <= self.most_load {
            amount = amount.max(self.previous);
        }
        amount = amount.min(most);
        self.current = self.current.max(amount);
        if amount > self.fair && above_mcr < self.fair {
            amount = self.fair;
        }
        amount
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::params;
    use super::*;
    use crate::ground::units::Ratio;
    use proptest::prelude::*;

    /// CCR of the forward RM cell and number of arriving cells, per VC, in an interval.
    type Interval = Vec<(f64, u64)>;

    const VCS: usize = 5;

    fn intervals() -> impl Strategy<Value = Vec<Interval>> {
        let vc = (0.0..2000.0, prop_oneof![Just(0), 0_u64..1000]);
        proptest::collection::vec(proptest::collection::vec(vc, VCS), 1..8)
    }

    fn order() -> impl Strategy<Value = Vec<usize>> {
        Just((0..VCS).collect::<Vec<_>>()).prop_shuffle()
    }

    fn shares(vcs: &[(f64, f64)], load_decay: u64, active_decay: u64) -> Shares {
        let mut params = params();
        params.load_decay = Ratio::new(load_decay, 10);
        params.active_decay = Ratio::new(active_decay, 10);
        Shares::new(&params, vcs.iter().copied(), 1500.0)
    }

    proptest! {
        #[test]
        fn the_order_of_backward_cells_within_an_interval_does_not_matter(
            vcs in proptest::collection::vec((0.0..500.0, 1.0..4.0), VCS),
            intervals in intervals(),
            orders in proptest::collection::vec(order(), 8),
            decays in (0_u64..10, 0_u64..10),
            target in prop_oneof![Just(0.0), 0.0..2000.0],
        ) {
            let mut one = shares(&vcs, decays.0, decays.1);
            let mut other = one.clone();
            for (interval, order) in intervals.iter().zip(&orders) {
                let arrived_cells: Vec<u64> = interval.iter().map(|&(_, cells)| cells).collect();
                let measured = Measured {
                    interval_s: 1.0,
                    higher_cells: 0,
                    arrived_cells: &arrived_cells,
                    queue_cells: 0,
                };
                let mut rates = [[0.0; VCS]; 2];
                for (vc, &(ccr, _)) in interval.iter().enumerate() {
                    one.forward(vc, ccr);
                    other.forward(vc, ccr);
                }
                one.end_of_interval(&measured, target);
                other.end_of_interval(&measured, target);
                for &vc in order {
                    rates[1][vc] = other.explicit_rate(vc);
                }
                for (vc, rates) in rates[0].iter_mut().enumerate() {
                    *rates = one.explicit_rate(vc);
                }
                prop_assert_eq!(rates[0].map(f64::to_bits), rates[1].map(f64::to_bits));
                for er in rates[0] {
                    prop_assert!((0.0..=target).contains(&er), "{} of {}", er, target);
                }
            }
        }
    }
}
