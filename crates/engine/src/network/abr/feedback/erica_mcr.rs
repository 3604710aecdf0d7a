//! ERICA with minimum rates: each VC has its MCR, plus a weighted share of what the target leaves
//! above all MCRs.
//!
//!   target = max(0, U capacity - higher)
//!   share of VC i = MCR_i + w_i (target - sum of MCR_j) / (sum of w_j), over active VCs.
//!   E = target - sum of min(MCR_i, r_i)    input = sum of max(0, r_i - MCR_i)    z = input / E.
//!   backward RM cell:  ER = MCR_i + max(w_i E / (sum of w_j), (CCR_i - MCR_i) / z).
//!   At z <= 1 + delta it is also at least MCR_i plus w_i times the largest (ER_j - MCR_j) / w_j
//!   that was given in the interval before; it is at most the target.
//!   r_i: rate of arrival of VC i [cells/s]    w_i: weight of VC i    others: as in `erica`
//! A VC that says less than its share gets at most the share. The steps are in `shares`.
//! Source: Vandalore, Fahmy, Jain, Goyal, Goyal, ATM Forum 98-0408, 1998: general weighted
//! fairness, weighted largest allocation.
//! Not said there, chosen here: see `shares`. All of ERICA works on the rates above MCR, load
//! factor included. MCR that a VC does not use is shared by all. A share that a VC cannot use is
//! found by z and by the largest allocation, not by activity levels.
//! Limits: as of ERICA; if the MCRs together exceed the target, each is still given, up to the
//! target.

use super::shares::{ByShares, Shares};
use super::{Measured, SubscriberTerms};
use crate::text::scenario::EricaParams;

/// ERICA with minimum rates for one class queue.
#[derive(Clone, Debug)]
pub struct EricaMcr {
    /// U capacity, cells per second.
    aim: f64,
    shares: Shares,
}

impl EricaMcr {
    /// Creates the rule for a link of `capacity` cells per second.
    pub fn new(params: &EricaParams, capacity: f64, subscribers: &[SubscriberTerms]) -> EricaMcr {
        let aim = params.target.as_f64() * capacity;
        EricaMcr {
            aim,
            shares: Shares::weighted(params, subscribers, aim),
        }
    }
}

impl ByShares for EricaMcr {
    fn target(&self, measured: &Measured<'_>) -> f64 {
        (self.aim - measured.higher()).max(0.0)
    }

    fn shares(&mut self) -> &mut Shares {
        &mut self.shares
    }
}

#[cfg(test)]
mod tests {
    use super::super::FeedbackRule;
    use super::super::testing::{Source, assert_near, params, second, settle, subscriber};
    use super::*;
    use crate::ground::units::Ratio;

    /// Converts Mb/s to cells per second.
    fn mbps(rate: f64) -> f64 {
        rate * 1e6 / 424.0
    }

    /// Asserts the rates [Mb/s] of greedy sources on a link of 149.76 Mb/s after 100 s.
    /// Each VC has an MCR and a limit [Mb/s] and a weight.
    fn settled(vcs: &[(f64, f64, f64)], wanted: [f64; 3]) {
        let subscribers: Vec<SubscriberTerms> = vcs
            .iter()
            .map(|&(mcr, _, weight)| subscriber(mbps(mcr), weight))
            .collect();
        // With a delta the load could stay above the target by as much.
        let mut params = params();
        params.delta = Ratio::new(0, 1);
        let mut rule = EricaMcr::new(&params, mbps(149.76), &subscribers);
        let mut sources: Vec<Source> = vcs
            .iter()
            .map(|&(mcr, limit, _)| Source {
                rate: mbps(limit.min(100.0)),
                mcr: mbps(mcr),
                limit: mbps(limit),
            })
            .collect();
        let rates = settle(&mut rule, &mut sources, 100);
        assert_near(&rates, &wanted.map(mbps));
    }

    const NONE: f64 = f64::INFINITY;
    /// Target, U times 149.76 Mb/s.
    const TARGET: f64 = 134.784;

    #[test]
    fn what_is_left_above_the_mcrs_is_shared_equally() {
        let share = (TARGET - 90.0) / 3.0;
        settled(
            &[(10.0, NONE, 1.0), (30.0, NONE, 1.0), (50.0, NONE, 1.0)],
            [10.0 + share, 30.0 + share, 50.0 + share],
        );
    }

    #[test]
    fn what_a_vc_held_elsewhere_leaves_is_shared_equally_above_the_mcrs() {
        let share = (TARGET - 40.0 - 60.0) / 2.0;
        settled(
            &[(10.0, NONE, 1.0), (30.0, 40.0, 1.0), (50.0, NONE, 1.0)],
            [10.0 + share, 40.0, 50.0 + share],
        );
    }

    #[test]
    fn weights_divide_what_is_left_above_the_mcrs() {
        let unit = (TARGET - 40.0) / 7.0;
        settled(
            &[(10.0, NONE, 1.0), (30.0, NONE, 2.0), (0.0, NONE, 4.0)],
            [10.0 + unit, 30.0 + 2.0 * unit, 4.0 * unit],
        );
    }

    // E = 900 - 300 - 100, input = 500 + 100, z = 1.2, F = 250; 360 / 1.2 = 300; 100 / 1.2 is less
    // than F.
    #[test]
    fn one_step_by_hand() {
        let vcs = [subscriber(300.0, 1.0), subscriber(100.0, 1.0)];
        let mut rule = EricaMcr::new(&params(), 1000.0, &vcs);
        assert_eq!(rule.backward(0).er, 900.0, "nothing is measured");
        rule.forward(0, 660.0);
        rule.forward(1, 200.0);
        second(&mut rule, &[800, 200], 0, 0);
        assert!((rule.backward(0).er - (300.0 + 360.0 / 1.2)).abs() < 1e-9);
        assert_eq!(rule.backward(1).er, 350.0);
    }

    // VC 1 sends 60 of its 100: E = 900 - 300 - 60, input = 600, F = 270.
    #[test]
    fn what_a_vc_leaves_of_its_mcr_is_for_all() {
        let vcs = [subscriber(300.0, 1.0), subscriber(100.0, 1.0)];
        let mut rule = EricaMcr::new(&params(), 1000.0, &vcs);
        rule.forward(0, 900.0);
        second(&mut rule, &[900, 60], 0, 0);
        assert!((rule.backward(0).er - (300.0 + 600.0 * 540.0 / 600.0)).abs() < 1e-9);
        assert_eq!(rule.backward(1).er, 370.0);
    }

    // By hand from section 12 of the model page. All values are sums of powers of 2, so that every
    // operation is exact: E = 1024 - 2 x 256, input = 2 x 256, z = 1, F = E / 2 = 256. In the first
    // interval VC 0 has e = 384, which becomes MaxAllocPrevious of the second.
    #[test]
    fn the_last_bit_of_a_rate_next_to_the_fair_share_decides() {
        let mut params = params();
        params.target = Ratio::new(1, 1);
        let vcs = [subscriber(256.0, 1.0), subscriber(256.0, 1.0)];
        for (ccr, second_er) in [
            // e < FairShare: the allocation of 384 is cut to FairShare.
            (512.0_f64.next_down(), 512.0),
            // e = FairShare is not less, and above it neither.
            (512.0, 640.0),
            (512.0_f64.next_up(), 640.0),
        ] {
            let mut rule = EricaMcr::new(&params, 1024.0, &vcs);
            rule.forward(0, 640.0);
            rule.forward(1, 512.0);
            second(&mut rule, &[512, 512], 0, 0);
            assert_eq!([0, 1].map(|vc| rule.backward(vc).er), [640.0, 512.0]);
            rule.forward(1, ccr);
            second(&mut rule, &[512, 512], 0, 0);
            assert_eq!([0, 1].map(|vc| rule.backward(vc).er), [640.0, second_er]);
        }
    }

    // E = 512, input = 768, z = 1.5 is above 1 + delta: MaxAllocPrevious does not count, and e = 384 has
    // the VCShare 256, just FairShare. Weights 1 and 3 divide E = 512 by 4: F = 128, and e = 384 / 3 = 128
    // of VC 1 is just FairShare again.
    #[test]
    fn a_vc_share_next_to_the_fair_share_is_compared_by_weight() {
        let mut params = params();
        params.target = Ratio::new(1, 1);
        let of = |weight: f64| [subscriber(256.0, 1.0), subscriber(256.0, weight)];
        let mut rule = EricaMcr::new(&params, 1024.0, &of(1.0));
        rule.forward(0, 896.0);
        rule.forward(1, 640.0);
        second(&mut rule, &[640, 640], 0, 0);
        // 640 / 1.5 in the first interval.
        assert_eq!(rule.backward(0).er, 256.0 + 640.0 / 1.5);
        assert_eq!(rule.backward(1).er, 512.0);
        for (ccr, er) in [
            (640.0_f64.next_down(), 640.0),
            (640.0, 256.0 + 3.0 * 512.0 / 3.0),
        ] {
            let mut rule = EricaMcr::new(&params, 1024.0, &of(3.0));
            rule.forward(0, 512.0);
            rule.forward(1, 640.0);
            second(&mut rule, &[512, 512], 0, 0);
            // e of VC 0 is 256: its allocation of 256 is MaxAllocPrevious next.
            assert_eq!([0, 1].map(|vc| rule.backward(vc).er), [512.0, 640.0]);
            rule.forward(1, ccr);
            second(&mut rule, &[512, 512], 0, 0);
            // VC 1 may have 256 above its MCR by its weight of 3, but at most E / 3 of it.
            assert_eq!([0, 1].map(|vc| rule.backward(vc).er), [512.0, er]);
        }
    }

    #[test]
    fn mcrs_above_the_target_leave_nothing_to_share() {
        let vcs = [subscriber(600.0, 1.0), subscriber(400.0, 1.0)];
        let mut rule = EricaMcr::new(&params(), 1000.0, &vcs);
        rule.forward(0, 800.0);
        second(&mut rule, &[800, 400], 0, 0);
        assert_eq!(rule.backward(0).er, 600.0);
        assert_eq!(rule.backward(1).er, 400.0);
        second(&mut rule, &[800, 400], 700, 0);
        assert_eq!(rule.backward(0).er, 200.0, "the target");
    }
}
