//! Common parts of the tests of the rules.

use super::{FeedbackRule, Measured, SubscriberTerms};
use crate::ground::units::{Ratio, Span};
use crate::text::scenario::EricaParams;

/// VC whose PCR is never reached.
pub fn subscriber(mcr: f64, weight: f64) -> SubscriberTerms {
    SubscriberTerms {
        mcr,
        pcr: 1e9,
        weight,
        fair: 0.0,
    }
}

/// Parameters with U = 0.9, delta = 0.1 and no averages.
pub fn params() -> EricaParams {
    EricaParams {
        target: Ratio::new(9, 10),
        interval: Span::from_milliseconds(1000),
        delta: Ratio::new(1, 10),
        max_alloc_previous: true,
        load_decay: Ratio::new(0, 1),
        active_decay: Ratio::new(0, 1),
    }
}

/// Ends an interval of one second, after which `queue_cells` wait.
pub fn second(
    rule: &mut impl FeedbackRule,
    arrived_cells: &[u64],
    higher_cells: u64,
    queue_cells: u64,
) {
    rule.end_of_interval(&Measured {
        interval_s: 1.0,
        higher_cells,
        arrived_cells,
        queue_cells,
    });
}

/// Source that sends as fast as it may.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Current rate, cells per second.
    pub rate: f64,
    /// Lower bound of the rate, cells per second.
    pub mcr: f64,
    /// Upper bound of the rate, set elsewhere, cells per second.
    pub limit: f64,
}

/// Runs sources and rule for so many seconds, and returns the rates at the end.
/// In each second every VC has one forward and one backward RM cell.
pub fn settle(rule: &mut impl FeedbackRule, sources: &mut [Source], seconds: usize) -> Vec<f64> {
    for _ in 0..seconds {
        for (vc, source) in sources.iter().enumerate() {
            rule.forward(vc, source.rate);
        }
        let arrived: Vec<u64> = sources.iter().map(|s| s.rate.round() as u64).collect();
        second(rule, &arrived, 0, 0);
        for (vc, source) in sources.iter_mut().enumerate() {
            let er = rule.backward(vc).er;
            source.rate = er.min(source.limit).max(source.mcr);
        }
    }
    sources.iter().map(|source| source.rate).collect()
}

/// Asserts that each rate is as wanted within one cell per second, the error of counting whole
/// cells.
pub fn assert_near(rates: &[f64], wanted: &[f64]) {
    for (rate, want) in rates.iter().zip(wanted) {
        assert!((rate - want).abs() <= 1.0, "{rates:?} {wanted:?}");
    }
    assert_eq!(rates.len(), wanted.len());
}
