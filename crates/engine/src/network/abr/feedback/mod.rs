//! Feedback of a class queue to ABR sources: measurements become rates and marks in RM cells. One
//! file per rule.
//!
//! A rule owns no clock and no queue. It receives the measurements of each averaging interval, and
//! the forward RM cells that reach the port. It answers what a backward RM cell that passes the
//! switch is to say. To add a rule, write:
//! * its file here with a [`FeedbackRule`];
//! * its line in [`Rule`], in [`Rule::new`] and in [`Rule::constant_marks`];
//! * a variant in `scenario::Feedback`, and an entry in the registry.
//!
//! Rates are floats, in cells per second. Both engines call this code, and sums go in order of VC,
//! so both get the same bits.

mod efci;
mod erica;
mod erica_mcr;
mod erica_plus;
mod oracle_rate;
mod relative_rate;
mod shares;
#[cfg(test)]
mod testing;

use crate::text::scenario::Feedback;
use efci::Efci;
use enum_dispatch::enum_dispatch;
use erica::Erica;
use erica_mcr::EricaMcr;
use erica_plus::EricaPlus;
use oracle_rate::OracleRate;
use relative_rate::RelativeRate;

/// Measurements of a port in one averaging interval.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Length of the interval, seconds.
    pub interval_s: f64,
    /// Number of cells of higher classes whose transmission began in the interval.
    pub higher_cells: u64,
    /// Number of cells of the class that arrived in the interval, RM cells included, per VC with
    /// ABR end systems.
    /// VCs are numbered among those of the port.
    pub arrived_cells: &'a [u64],
    /// Number of cells of the class that wait at the end of the interval.
    pub queue_cells: u64,
}

impl Measured<'_> {
    /// Rate of the higher classes, cells per second.
    fn higher(&self) -> f64 {
        self.higher_cells as f64 / self.interval_s
    }
}

/// Feedback that a backward RM cell is to carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marks {
    /// ER, the highest allowed rate, cells per second; infinite for no limit.
    pub er: f64,
    /// CI: the rate must fall.
    pub ci: bool,
    /// NI: the rate must not rise.
    pub ni: bool,
}

impl Marks {
    /// No rate limit and no marks.
    pub const NONE: Marks = Marks::rate(f64::INFINITY);

    /// Makes feedback with a rate and no marks.
    const fn rate(er: f64) -> Marks {
        Marks {
            er,
            ci: false,
            ni: false,
        }
    }
}

/// VC with ABR end systems, as the port knows it from set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubscriberTerms {
    /// MCR, cells per second.
    pub mcr: f64,
    /// PCR, cells per second.
    pub pcr: f64,
    /// Weight, above 0.
    pub weight: f64,
    /// Max-min fair rate in the whole network, cells per second; only `oracle-rate` uses it.
    pub fair: f64,
}

/// Decisions of a feedback rule. VCs are numbered among the subscribers of the port.
#[enum_dispatch]
pub trait FeedbackRule {
    /// Handles the end of an averaging interval.
    fn end_of_interval(&mut self, measured: &Measured<'_>);

    /// Handles a forward RM cell of VC number `vc` that has arrived at the port with CCR `ccr`.
    /// Cells of one instant come in order of VC.
    fn forward(&mut self, vc: usize, ccr: f64);

    /// Feedback for a backward RM cell of VC number `vc` that passes the switch now.
    /// Arrivals of this instant come later. Answers within one instant must not depend on their
    /// order.
    fn backward(&mut self, vc: usize) -> Marks;

    /// Whether data cells that pass now leave with EFCI = 1. This must depend only on measurements,
    /// not on RM cells.
    fn marks_data(&self) -> bool {
        false
    }
}

/// Feedback rule of one class queue; see the file of each variant.
#[enum_dispatch(FeedbackRule)]
#[derive(Clone, Debug)]
pub enum Rule {
    /// ERICA: equal shares of a target.
    Erica,
    /// ERICA that keeps a small queue.
    EricaPlus,
    /// ERICA with minimum rates and weights.
    EricaMcr,
    /// CI and NI by the length of the queue.
    RelativeRate,
    /// EFCI by the length of the queue.
    Efci,
    /// Max-min fair rates known beforehand.
    OracleRate,
}

impl Rule {
    /// Creates the rule `spec` for a link of `capacity` cells per second that these VCs cross.
    pub fn new(spec: &Feedback, capacity: f64, subscribers: &[SubscriberTerms]) -> Rule {
        match spec {
            Feedback::Erica(params) => Erica::new(params, capacity, subscribers).into(),
            Feedback::EricaPlus(params) => EricaPlus::new(params, capacity, subscribers).into(),
            Feedback::EricaMcr(params) => EricaMcr::new(params, capacity, subscribers).into(),
            Feedback::RelativeRate { high, low, .. } => RelativeRate::new(*high, *low).into(),
            Feedback::Efci { threshold, .. } => Efci::new(*threshold).into(),
            Feedback::OracleRate { .. } => OracleRate::new(subscribers).into(),
        }
    }

    /// Feedback of the rule `spec` to each VC, if it is the same for all measurements; else `None`.
    /// `never_waits` says that no cell ever waits at the queue, and `alone` that no cells of higher
    /// classes come.
    pub fn constant_marks(
        spec: &Feedback,
        capacity: f64,
        subscribers: &[SubscriberTerms],
        never_waits: bool,
        alone: bool,
    ) -> Option<Vec<Marks>> {
        // A single VC gets all of a constant target: F = E, and A is at least F and at most E.
        let gets_all = alone && subscribers.len() == 1;
        let is_plain = |vc: &SubscriberTerms| vc.mcr == 0.0 && vc.weight == 1.0;
        let is_known = match spec {
            Feedback::Erica(_) => gets_all,
            Feedback::EricaMcr(_) => gets_all && subscribers.iter().all(is_plain),
            Feedback::EricaPlus(_) => gets_all && never_waits,
            Feedback::RelativeRate { .. } | Feedback::Efci { .. } => never_waits,
            Feedback::OracleRate { .. } => true,
        };
        let mut rule = Rule::new(spec, capacity, subscribers);
        is_known.then(|| (0..subscribers.len()).map(|vc| rule.backward(vc)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{params, subscriber};
    use super::*;
    use crate::ground::units::{Ratio, Span};
    use crate::text::scenario::EricaPlusParams;
    use proptest::prelude::*;

    const INTERVAL: Span = Span::from_milliseconds(1000);

    /// One rule of each kind.
    fn rules() -> [Feedback; 6] {
        let erica = params();
        let plus = EricaPlusParams {
            t0: Span::from_milliseconds(10),
            a: Ratio::new(23, 20),
            b: Ratio::new(21, 20),
            qdlf: Ratio::new(1, 2),
            interval: INTERVAL,
            delta: erica.delta,
            max_alloc_previous: true,
            load_decay: erica.load_decay,
            active_decay: Ratio::new(1, 2),
        };
        [
            Feedback::Erica(erica),
            Feedback::EricaMcr(erica),
            Feedback::EricaPlus(plus),
            Feedback::RelativeRate {
                interval: INTERVAL,
                high: 1,
                low: 0,
            },
            Feedback::Efci {
                interval: INTERVAL,
                threshold: 0,
            },
            Feedback::OracleRate {
                target: Ratio::new(9, 10),
            },
        ]
    }

    /// Whether the feedback of each rule is known beforehand.
    fn known(vcs: &[SubscriberTerms], never_waits: bool, alone: bool) -> [bool; 6] {
        rules().map(|rule| Rule::constant_marks(&rule, 1000.0, vcs, never_waits, alone).is_some())
    }

    #[test]
    fn what_one_vc_is_told_that_never_waits_is_known_beforehand() {
        let single = [subscriber(0.0, 1.0)];
        assert_eq!(known(&single, true, true), [true; 6]);
        let expected = [true, true, false, false, false, true];
        assert_eq!(known(&single, false, true), expected);
        let expected = [false, false, false, true, true, true];
        assert_eq!(known(&single, true, false), expected);
        assert_eq!(known(&[single[0], single[0]], true, true), expected);
        for vc in [subscriber(1.0, 1.0), subscriber(0.0, 2.0)] {
            assert_eq!(
                known(&[vc], true, true),
                [true, false, true, true, true, true]
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_known_beforehand_is_passed_on_in_every_case(
            vcs in proptest::collection::vec((prop_oneof![Just(0.0), 0.0..500.0], prop_oneof![Just(1.0), 1.0..4.0]), 1..3),
            never_waits in any::<bool>(),
            alone in any::<bool>(),
            intervals in proptest::collection::vec((0.0..3000.0, prop_oneof![Just(0), 0_u64..3000], 0_u64..1100, 0_u64..100), 1..12),
        ) {
            let vcs: Vec<_> = vcs.into_iter().map(|(mcr, weight)| subscriber(mcr, weight)).collect();
            for spec in rules() {
                let Some(known) = Rule::constant_marks(&spec, 1000.0, &vcs, never_waits, alone) else { continue };
                let mut rule = Rule::new(&spec, 1000.0, &vcs);
                for &(ccr, cells, higher_cells, queue_cells) in &intervals {
                    for (vc, &known) in known.iter().enumerate() {
                        prop_assert_eq!(rule.backward(vc), known);
                        rule.forward(vc, ccr);
                        prop_assert!(!rule.marks_data());
                    }
                    rule.end_of_interval(&Measured {
                        interval_s: 1.0,
                        higher_cells: if alone { 0 } else { higher_cells },
                        arrived_cells: &vec![cells; vcs.len()],
                        queue_cells: if never_waits { 0 } else { queue_cells },
                    });
                }
            }
        }
    }
}
