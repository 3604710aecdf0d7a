//! Feedback of a class queue to ABR sources: what its port has measured becomes rates, and marks in RM cells. One file per rule.
//!
//! A rule owns no clock and no queue: it is told of the end of each averaging interval with what was measured, of forward RM cells that
//! reach the port, and is asked what a backward RM cell that passes the switch is to say. To add one: its file here with a
//! [`FeedbackRule`], its line in [`Rule`], in [`Rule::new`] and in [`Rule::known`], a variant in `scenario::Feedback` and an entry in the registry.
//!
//! Rates are floats, in cells per second. Both engines ask the same code, and sums go by the number of the VC: so they get the same bits.

mod efci;
mod erica;
mod erica_mcr;
mod erica_plus;
pub mod fair;
mod oracle_rate;
mod relative_rate;
mod shares;
#[cfg(test)]
mod testing;

use crate::scenario::Feedback;
use efci::Efci;
use enum_dispatch::enum_dispatch;
use erica::Erica;
use erica_mcr::EricaMcr;
use erica_plus::EricaPlus;
use oracle_rate::OracleRate;
use relative_rate::RelativeRate;

/// What a port has measured in one averaging interval.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Its length, seconds.
    pub interval_s: f64,
    /// Cells of higher classes whose transmission began in it.
    pub higher_cells: u64,
    /// Cells of the class that arrived in it, RM cells included, for each VC with ABR end systems, by its number among those of the port.
    pub arrived_cells: &'a [u64],
    /// Cells of the class that wait at its end.
    pub queue_cells: u64,
}

impl Measured<'_> {
    /// Rate of the higher classes, cells per second.
    fn higher(&self) -> f64 {
        self.higher_cells as f64 / self.interval_s
    }
}

/// What a backward RM cell is to say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marks {
    /// The highest rate, cells per second; infinite where none is told.
    pub er: f64,
    /// CI.
    pub ci: bool,
    /// NI.
    pub ni: bool,
}

impl Marks {
    /// Nothing.
    pub const NONE: Marks = Marks::rate(f64::INFINITY);

    /// A rate, and no marks.
    const fn rate(er: f64) -> Marks {
        Marks {
            er,
            ci: false,
            ni: false,
        }
    }
}

/// A VC with ABR end systems as the port knows it from its set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subscriber {
    /// MCR, cells per second.
    pub mcr: f64,
    /// PCR, cells per second.
    pub pcr: f64,
    /// Its weight, above 0.
    pub weight: f64,
    /// Its max-min fair rate in the whole network, cells per second; only `oracle-rate` looks at it.
    pub fair: f64,
}

/// What a feedback rule decides. VCs are numbered among the subscribers of the port.
#[enum_dispatch]
pub trait FeedbackRule {
    /// An averaging interval has ended.
    fn end_of_interval(&mut self, measured: &Measured<'_>);

    /// A forward RM cell of VC number `vc` that says `ccr` has arrived at the port. Of one instant, the one with the lowest number comes first.
    fn forward(&mut self, vc: usize, ccr: f64);

    /// What a backward RM cell of VC number `vc`, which passes the switch now, is to say: before what arrives at this instant. What is told to one VC must not
    /// depend on whether another of this instant was told before it.
    fn backward(&mut self, vc: usize) -> Marks;

    /// Whether data cells that pass now leave with EFCI = 1: by what was measured, whatever RM cells have said.
    fn marks_data(&self) -> bool {
        false
    }
}

/// The feedback of one class queue.
#[enum_dispatch(FeedbackRule)]
#[derive(Clone, Debug)]
pub enum Rule {
    /// See the file of that name, here and below.
    Erica,
    /// ERICA that keeps a small queue.
    EricaPlus,
    /// ERICA with minimum rates and weights.
    EricaMcr,
    /// CI and NI by the queue.
    RelativeRate,
    /// EFCI by the queue.
    Efci,
    /// Rates known beforehand.
    OracleRate,
}

impl Rule {
    /// The rule `spec` for a link of `capacity` cells per second that these VCs cross.
    pub fn new(spec: &Feedback, capacity: f64, subscribers: &[Subscriber]) -> Rule {
        match spec {
            Feedback::Erica(params) => Erica::new(params, capacity, subscribers).into(),
            Feedback::EricaPlus(params) => EricaPlus::new(params, capacity, subscribers).into(),
            Feedback::EricaMcr(params) => EricaMcr::new(params, capacity, subscribers).into(),
            Feedback::RelativeRate { high, low, .. } => RelativeRate::new(*high, *low).into(),
            Feedback::Efci { threshold, .. } => Efci::new(*threshold).into(),
            Feedback::OracleRate { .. } => OracleRate::new(subscribers).into(),
        }
    }

    /// What the rule `spec` tells each VC whatever is measured and said, at a queue where no cell waits if it `never_waits`, and of no class above which any cell
    /// comes if it is `alone`; `None` if that is not known beforehand.
    pub fn known(
        spec: &Feedback,
        capacity: f64,
        subscribers: &[Subscriber],
        never_waits: bool,
        alone: bool,
    ) -> Option<Vec<Marks>> {
        // The one VC gets all of a target that stays as it is: F = E, and A is at least F and at most E.
        let gets_all = alone && subscribers.len() == 1;
        let is_plain = |vc: &Subscriber| vc.mcr == 0.0 && vc.weight == 1.0;
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
    use crate::scenario::EricaPlusParams;
    use crate::units::{Ratio, Span};
    use proptest::prelude::*;

    const INTERVAL: Span = Span::from_milliseconds(1000);

    /// One of each kind.
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

    /// Which of them are known beforehand.
    fn known(vcs: &[Subscriber], never_waits: bool, alone: bool) -> [bool; 6] {
        rules().map(|rule| Rule::known(&rule, 1000.0, vcs, never_waits, alone).is_some())
    }

    #[test]
    fn what_one_vc_is_told_that_never_waits_is_known_beforehand() {
        let one = [subscriber(0.0, 1.0)];
        assert_eq!(known(&one, true, true), [true; 6]);
        let told = [true, true, false, false, false, true];
        assert_eq!(known(&one, false, true), told);
        let told = [false, false, false, true, true, true];
        assert_eq!(known(&one, true, false), told);
        assert_eq!(known(&[one[0], one[0]], true, true), told);
        for vc in [subscriber(1.0, 1.0), subscriber(0.0, 2.0)] {
            assert_eq!(
                known(&[vc], true, true),
                [true, false, true, true, true, true]
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_known_beforehand_is_told_whatever_happens(
            vcs in proptest::collection::vec((prop_oneof![Just(0.0), 0.0..500.0], prop_oneof![Just(1.0), 1.0..4.0]), 1..3),
            never_waits in any::<bool>(),
            alone in any::<bool>(),
            intervals in proptest::collection::vec((0.0..3000.0, prop_oneof![Just(0), 0_u64..3000], 0_u64..1100, 0_u64..100), 1..12),
        ) {
            let vcs: Vec<_> = vcs.into_iter().map(|(mcr, weight)| subscriber(mcr, weight)).collect();
            for spec in rules() {
                let Some(known) = Rule::known(&spec, 1000.0, &vcs, never_waits, alone) else { continue };
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
