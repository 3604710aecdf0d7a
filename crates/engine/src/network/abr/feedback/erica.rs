//! ERICA, explicit rate indication for congestion avoidance: an equal share of the target, or the
//! rate that brings the load to it.
//!
//!   target = max(0, U capacity - higher)   z = input / target   FairShare = target / max(1, N).
//!   backward RM cell:  ER = max(FairShare, CCR / z), and at z <= 1 + delta also at least
//!                      MaxAllocPrevious; at most the target.
//!   capacity: rate of the link     higher: rate of the classes above [cells/s]
//!   input: rate of arrival for the class [cells/s]     U: target utilisation
//!   N: VCs that have sent in the interval
//!   MaxAllocPrevious: largest rate given in the interval before, at least its FairShare
//! A VC that says less than FairShare gets FairShare at most. The steps are in `shares`.
//! Source: Kalyanaraman, Jain, Fahmy, Goyal, Vandalore, The ERICA switch algorithm, IEEE/ACM Trans.
//! Networking 8(1), 2000; ATM Forum 96-1172.
//! Not said there, chosen here: see `shares`; intervals have a fixed length, with any arrivals; CCR
//! is what RM cells say, not measured.
//! Limits: a source that sends less than its ACR is given what it does not use; minimum rates are
//! ignored.

use super::shares::{ByShares, Shares};
use super::{Measured, SubscriberTerms};
use crate::text::scenario::EricaParams;

/// ERICA for one class queue.
#[derive(Clone, Debug)]
pub struct Erica {
    /// U capacity, cells per second.
    aim: f64,
    shares: Shares,
}

impl Erica {
    /// Creates the rule for a link of `capacity` cells per second.
    pub fn new(params: &EricaParams, capacity: f64, subscribers: &[SubscriberTerms]) -> Erica {
        let aim = params.target.as_f64() * capacity;
        Erica {
            aim,
            shares: Shares::equal(params, subscribers.len(), aim),
        }
    }
}

impl ByShares for Erica {
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

    /// Rule for a link of 1000 cells per second, so with a target of 900.
    fn rule(params: &EricaParams, vcs: usize) -> Erica {
        Erica::new(params, 1000.0, &vec![subscriber(0.0, 1.0); vcs])
    }

    fn er(rule: &mut Erica, vc: usize) -> f64 {
        let marks = rule.backward(vc);
        assert!(!marks.ci && !marks.ni);
        marks.er
    }

    fn greedy(rate: f64) -> Source {
        Source {
            rate,
            mcr: 0.0,
            limit: f64::INFINITY,
        }
    }

    #[test]
    fn before_anything_is_measured_the_target_is_told() {
        let mut rule = rule(&params(), 3);
        assert_eq!(er(&mut rule, 0), 900.0);
        rule.forward(1, 2000.0);
        assert_eq!(er(&mut rule, 1), 900.0);
    }

    // 800 + 550 cells on a target of 900: z = 1.5, FairShare 450; CCR / z = 533.3 and 366.7.
    #[test]
    fn overload_divides_by_the_load_but_leaves_the_fair_share() {
        let mut rule = rule(&params(), 2);
        rule.forward(0, 800.0);
        rule.forward(1, 550.0);
        second(&mut rule, &[800, 550], 0, 0);
        assert_eq!(er(&mut rule, 0), 800.0 / 1.5);
        assert_eq!(er(&mut rule, 1), 450.0);
    }

    /// Rate for VC 1, which says `ccr`, after these cells. The largest rate of the interval before
    /// is 800 / 1.5.
    fn after_largest(params: &EricaParams, cells: [u64; 2], ccr: f64) -> f64 {
        let mut rule = rule(params, 2);
        rule.forward(0, 800.0);
        second(&mut rule, &[800, 550], 0, 0);
        assert_eq!(er(&mut rule, 0), 800.0 / 1.5);
        rule.forward(1, ccr);
        second(&mut rule, &cells, 0, 0);
        er(&mut rule, 1)
    }

    // z is 1, or 0.5 so that CCR / z is larger. A VC that says less than FairShare gets FairShare
    // first.
    #[test]
    fn without_overload_the_largest_rate_of_the_interval_before_is_given() {
        let mut params = params();
        assert_eq!(after_largest(&params, [450, 450], 450.0), 800.0 / 1.5);
        assert_eq!(after_largest(&params, [450, 450], 449.0), 450.0);
        assert_eq!(after_largest(&params, [225, 225], 450.0), 900.0);
        params.max_alloc_previous = false;
        assert_eq!(after_largest(&params, [450, 450], 450.0), 450.0);
    }

    // 1.1 times 900 is 990.
    #[test]
    fn above_delta_the_largest_rate_is_not_given_again() {
        assert_eq!(after_largest(&params(), [500, 489], 450.0), 800.0 / 1.5);
        assert_eq!(after_largest(&params(), [500, 491], 450.0), 450.0);
    }

    #[test]
    fn within_an_interval_the_first_answer_is_repeated() {
        let mut rule = rule(&params(), 2);
        rule.forward(0, 800.0);
        second(&mut rule, &[800, 550], 0, 0);
        let first = er(&mut rule, 0);
        rule.forward(0, 10.0);
        assert_eq!(er(&mut rule, 0), first);
        second(&mut rule, &[800, 550], 0, 0);
        assert_eq!(er(&mut rule, 0), 450.0);
    }

    #[test]
    fn higher_classes_leave_the_rest_and_without_a_rest_nothing_is_given() {
        let mut rule = rule(&params(), 2);
        rule.forward(0, 300.0);
        second(&mut rule, &[300, 300], 600, 0);
        assert_eq!(er(&mut rule, 0), 150.0);
        for higher in [900, 1000] {
            rule.forward(0, 300.0);
            second(&mut rule, &[300, 0], higher, 0);
            assert_eq!(er(&mut rule, 0), 0.0);
            assert_eq!(er(&mut rule, 1), 0.0);
        }
        second(&mut rule, &[300, 300], 0, 0);
        assert_eq!(er(&mut rule, 0), 450.0, "it recovers");
    }

    #[test]
    fn without_input_the_target_bounds_a_vc() {
        let mut rule = rule(&params(), 2);
        second(&mut rule, &[0, 0], 100, 0);
        assert_eq!(er(&mut rule, 0), 800.0);
        rule.forward(1, 5000.0);
        assert_eq!(er(&mut rule, 1), 800.0);
    }

    #[test]
    fn a_silent_vc_counts_for_less_and_less_where_told_so() {
        let mut params = params();
        params.active_decay = Ratio::new(1, 2);
        params.max_alloc_previous = false;
        let mut rule = rule(&params, 2);
        second(&mut rule, &[450, 450], 0, 0);
        for n in [1.5, 1.25, 1.125] {
            second(&mut rule, &[900, 0], 0, 0);
            assert_eq!(er(&mut rule, 0), 900.0 / n);
        }
        second(&mut rule, &[450, 1], 0, 0);
        assert_eq!(er(&mut rule, 0), 450.0);
    }

    // With input 900, then 1800, on one target the averages are 900 and 1350, so z = 1.5.
    #[test]
    fn the_load_is_averaged_where_told_so() {
        let mut params = params();
        params.load_decay = Ratio::new(1, 2);
        let mut rule = rule(&params, 3);
        rule.forward(0, 900.0);
        second(&mut rule, &[900, 0, 0], 0, 0);
        assert_eq!(er(&mut rule, 0), 900.0);
        second(&mut rule, &[900, 900, 0], 0, 0);
        assert_eq!(er(&mut rule, 0), 900.0 / 1.5);
    }

    // input* = (600 + 1200) / 2 and E* = (900 + 600) / 2, so z = 1.2. F = 600 / 2 uses the E of the
    // interval itself. 480 / 1.2 is larger.
    #[test]
    fn input_and_target_are_averaged_apart() {
        let mut params = params();
        params.load_decay = Ratio::new(1, 2);
        let mut rule = rule(&params, 2);
        second(&mut rule, &[300, 300], 0, 0);
        rule.forward(0, 480.0);
        second(&mut rule, &[600, 600], 300, 0);
        assert_eq!(er(&mut rule, 0), 400.0);
    }

    /// Five intervals with a target of 900 and three VCs that send, so FairShare is 300 in each.
    /// Each comment gives z and the rates by the formulas of `shares`; P and M are MaxAllocPrevious
    /// and MaxAllocCurrent.
    #[test]
    fn five_intervals_by_hand() {
        let mut rule = rule(&params(), 3);
        for (vc, ccr) in [800.0, 550.0, 150.0].into_iter().enumerate() {
            rule.forward(vc, ccr);
        }
        // z = 5/3, P = 0: 800 / z, 550 / z, and FairShare above 150 / z. M = 480.
        second(&mut rule, &[800, 550, 150], 0, 0);
        assert_eq!([0, 1, 2].map(|vc| er(&mut rule, vc)), [480.0, 330.0, 300.0]);
        // z = 16/15, P = 480. VC 2 says less than FairShare and gets no more than that. M includes
        // what it would have got.
        rule.forward(0, 480.0);
        rule.forward(1, 330.0);
        rule.forward(2, 290.0);
        second(&mut rule, &[430, 300, 230], 0, 0);
        assert_eq!(er(&mut rule, 2), 300.0);
        // z = 1, P = 480 though only VC 2 received a rate before. M = 480.
        second(&mut rule, &[300, 300, 300], 0, 0);
        assert_eq!(er(&mut rule, 1), 480.0);
        // z = 1.2 is above 1 + delta, so P no longer counts, and 330 / z is below FairShare. M =
        // 300.
        second(&mut rule, &[360, 360, 360], 0, 0);
        assert_eq!(er(&mut rule, 1), 300.0);
        // z = 1, P = 300: CCR / z.
        second(&mut rule, &[300, 300, 300], 0, 0);
        assert_eq!(er(&mut rule, 1), 330.0);
    }

    // 500 / (777 / 900) is one bit above 500 x 900 / 777. When rates settle, comparisons with
    // FairShare depend on that bit.
    #[test]
    fn the_load_is_a_quotient_before_a_rate_is_divided_by_it() {
        let mut rule = rule(&params(), 2);
        rule.forward(0, 500.0);
        second(&mut rule, &[389, 388], 0, 0);
        let rate = er(&mut rule, 0);
        assert_eq!(rate, 500.0 / (777.0 / 900.0));
        assert!(rate > 500.0 * 900.0 / 777.0);
    }

    #[test]
    fn greedy_sources_come_to_equal_shares_of_the_target() {
        for start in [[800.0, 100.0], [1000.0, 1000.0], [1.0, 1.0], [900.0, 0.0]] {
            let mut rule = rule(&params(), 2);
            let rates = settle(&mut rule, &mut start.map(greedy), 30);
            assert_near(&rates, &[450.0, 450.0]);
        }
    }

    /// Settled rates of three VCs with this delta; the last VC is held at 100 elsewhere.
    fn one_held_elsewhere(delta: Ratio) -> Vec<f64> {
        let mut params = params();
        params.delta = delta;
        let mut sources = [450.0, 450.0, 100.0].map(greedy);
        sources[2].limit = 100.0;
        settle(&mut rule(&params, 3), &mut sources, 60)
    }

    #[test]
    fn a_vc_held_elsewhere_leaves_its_share() {
        let rates = one_held_elsewhere(Ratio::new(0, 10));
        assert_near(&rates, &[400.0, 400.0, 100.0]);
    }

    // Equal rates stay as they are while the load is at most 1 + delta.
    #[test]
    fn with_a_delta_the_load_may_stay_as_much_above_the_target() {
        let rates = one_held_elsewhere(Ratio::new(1, 10));
        assert_eq!(rates[0], rates[1]);
        let load = rates.iter().sum::<f64>() / 900.0;
        assert!(load > 1.005 && load <= 1.1, "{rates:?}");
    }
}
