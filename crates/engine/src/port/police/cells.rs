//! `gcra`: usage parameter control of single cells.
//!
//! A cell conforms  <=>  it passes GCRA(1/PCR, CDVT) and, with CLP = 0, GCRA(1/SCR, BT + CDVT)
//! A cell that fails the PCR test is dropped. A cell that fails only the SCR test is tagged, CLP :=
//! 1, or dropped. The state of a test changes only with cells that pass all tests applying to them.
//! For a tagged cell, that is the PCR test.
//! Source: ATM Forum, Traffic Management 4.0, section 4.4 and the conformance definitions VBR.1 to
//! VBR.3; ITU-T I.371.
//! Limits: Ignores frames. It damages them, and the rest of a damaged frame uses up the contract.

use super::gcra::{Gcra, Test};
use super::{PoliceRule, Ruling};
use crate::ground::units::Time;
use crate::port::drop::Arriving;
use crate::text::scenario::{ContractTerms, GcraForm, PoliceAction};

/// The policer of cells.
#[derive(Clone, Debug)]
pub struct CellPolicer {
    action: PoliceAction,
    /// Tests of each flow, by local number.
    flows: Vec<Option<Tests>>,
}

#[derive(Clone, Debug)]
struct Tests {
    peak: Option<Gcra>,
    sustained: Option<Gcra>,
}

impl CellPolicer {
    /// A policer for these contracts of the flows, by local number.
    pub fn new(
        action: PoliceAction,
        form: GcraForm,
        contracts: &[Option<ContractTerms>],
    ) -> CellPolicer {
        let gcra = |test: Option<Test>| test.map(|test| Gcra::new(test, form));
        let tests = |terms: &ContractTerms| Tests {
            peak: gcra(Test::peak(terms)),
            sustained: gcra(Test::sustained(terms)),
        };
        CellPolicer {
            action,
            flows: contracts.iter().map(|c| c.as_ref().map(tests)).collect(),
        }
    }
}

impl PoliceRule for CellPolicer {
    fn judge(&mut self, now: Time, cell: &Arriving) -> Ruling {
        let Some(tests) = &mut self.flows[cell.vc as usize] else {
            return Ruling::Pass;
        };
        if tests.peak.as_ref().is_some_and(|peak| !peak.conforms(now)) {
            return Ruling::Drop;
        }
        let sustained = tests.sustained.as_mut().filter(|_| !cell.tagged);
        let ruling = match sustained {
            Some(sustained) if sustained.conforms(now) => {
                sustained.take(now);
                Ruling::Pass
            }
            Some(_) => Ruling::of(self.action),
            None => Ruling::Pass,
        };
        if let Some(peak) = tests.peak.as_mut().filter(|_| ruling != Ruling::Drop) {
            peak.take(now);
        }
        ruling
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::cell;
    use super::*;
    use crate::ground::format::Format;
    use crate::ground::units::{BitRate, Span};

    const TICKS: u64 = Format::AAL5.cell_time(BitRate(150_000_000)).0;

    fn policer(action: PoliceAction) -> CellPolicer {
        let terms = ContractTerms {
            pcr: Some(BitRate(150_000_000)),
            cdvt: Span::ZERO,
            sustained: Some(BitRate(15_000_000)),
            mbs: 2,
            mcr: None,
            mfs: 1,
        };
        CellPolicer::new(action, GcraForm::LeakyBucket, &[Some(terms), None])
    }

    /// The rulings for cells at these times, in cell times.
    fn rulings(policer: &mut CellPolicer, cells: &[(u64, bool)]) -> Vec<Ruling> {
        let cells = cells.iter();
        cells
            .map(|&(at, tagged)| policer.judge(Time(at * TICKS), &cell(true, true, tagged)))
            .collect()
    }

    #[test]
    fn above_the_sustained_rate_cells_are_tagged_or_dropped() {
        use Ruling::{Drop, Pass, Tag};
        let cells = [(0, false), (1, false), (2, false), (3, false), (20, false)];
        let tagged = rulings(&mut policer(PoliceAction::Tag), &cells);
        assert_eq!(tagged, [Pass, Pass, Tag, Tag, Pass]);
        let dropped = rulings(&mut policer(PoliceAction::Drop), &cells);
        assert_eq!(dropped, [Pass, Pass, Drop, Drop, Pass]);
    }

    #[test]
    fn above_the_peak_rate_cells_are_dropped_with_any_action() {
        let twice = [(0, false), (0, false), (1, true), (1, true)];
        use Ruling::{Drop, Pass};
        for action in [PoliceAction::Tag, PoliceAction::Drop] {
            assert_eq!(
                rulings(&mut policer(action), &twice),
                [Pass, Drop, Pass, Drop]
            );
        }
    }

    #[test]
    fn cells_of_low_priority_do_not_use_up_the_sustained_rate() {
        let mut policer = policer(PoliceAction::Drop);
        let cells = [
            (0, true),
            (1, true),
            (2, true),
            (3, false),
            (4, false),
            (5, false),
        ];
        use Ruling::{Drop, Pass};
        assert_eq!(
            rulings(&mut policer, &cells),
            [Pass, Pass, Pass, Pass, Pass, Drop]
        );
    }

    #[test]
    fn a_flow_without_a_contract_passes() {
        let back = Arriving {
            vc: 1,
            ..cell(true, true, false)
        };
        let mut policer = policer(PoliceAction::Drop);
        assert!((0..9).all(|_| policer.judge(Time::ZERO, &back) == Ruling::Pass));
    }
}
