//! Scheme of chapter 8 of `gfr-leaky-bucket`: scheme two plus a lower threshold, below which every
//! cell gets in on account.
//!
//! For every cell of VC i that arrives and is not the rest of a lost frame:
//!   Q < L:       accept, and charge a cell: X_i := X'_i + 1/MCR_i while X'_i is below its limit,
//!                else Y_i := Y_i + 1; then give a turn's credit.
//!   L <= Q < Th: give a turn's credit, then accept  <=>  both buckets let it in (`buckets.rs`).
//!   Q >= Th:     accept  <=>  both buckets let it in.
//!   Credit of a turn, to VC j: Y_j := Y_j - 1 while Y_j > 0, else X_j := X_j - 1/MCR_j.
//!   L, Th: lower and upper threshold [cells]     X_i: level of GCRA(2) [s]
//!   Y_i: cells taken on account beyond the limit of X_i
//! The link is filled regardless of the buckets, and Y_i remembers which VC must give way later.
//! GCRA itself knows only X_i, so no VC falls below its minimum rate because of earlier excess.
//! Source: `gfr-leaky-bucket`, chapter 8, which has no pseudocode.
//! Not said there, chosen here: GCRA(1) is not asked below L; X'_i has reached its limit when it is
//! at or above it.
//! Limits: a Y_i that has grown in a long quiet time is paid off only by turns.

use super::buckets::AllBuckets;
use super::{Arriving, AskedRuns, Decision, DropRule, Needs, QueueView, below, resolve};
use crate::ground::units::{Ratio, Time};
use crate::text::scenario::{ContractTerms, Threshold};

/// Scheme of chapter 8 for one class queue.
#[derive(Clone, Debug)]
pub struct GcraTwoThresholds {
    /// L; `None`: never reached.
    low: Option<Ratio>,
    /// Th; `None`: never reached.
    threshold: Option<Ratio>,
    buckets: AllBuckets,
    /// Y_i by local number.
    on_account: Vec<u64>,
}

impl GcraTwoThresholds {
    /// Creates the policy with both thresholds and the contract of each flow, by local number.
    pub fn new(
        low: Threshold,
        threshold: Threshold,
        export_tag: bool,
        buffer: Option<u64>,
        contracts: &[Option<ContractTerms>],
    ) -> GcraTwoThresholds {
        GcraTwoThresholds {
            low: resolve(low, buffer),
            threshold: resolve(threshold, buffer),
            buckets: AllBuckets::new(contracts, export_tag, buffer),
            on_account: vec![0; contracts.len()],
        }
    }

    /// Gives a credit of one cell to the flow that has the turn.
    fn credit(&mut self, now: Time) {
        let next = self.buckets.next_turn();
        let on_account = &mut self.on_account[next as usize];
        if *on_account > 0 {
            *on_account -= 1;
        } else if let Some(next) = self.buckets.of(next) {
            next.sustained.give(now, false);
        }
    }

    /// Charges a cell of `flow` that is taken regardless of its bucket.
    fn charge(&mut self, flow: u32, now: Time) {
        match self.buckets.of(flow) {
            Some(buckets) if !buckets.sustained.is_full(now) => buckets.sustained.take(now),
            _ => self.on_account[flow as usize] += 1,
        }
    }
}

impl DropRule for GcraTwoThresholds {
    fn needs(&self) -> Needs {
        Needs::EVERY_CELL
    }

    fn admit(&mut self, now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        if self.buckets.is_dropped_anyway(cell, queue) {
            return Decision::Accept;
        }
        if below(queue.waiting, self.threshold) {
            if self.buckets.of(cell.vc).is_none() {
                return Decision::Accept;
            }
            if below(queue.waiting, self.low) {
                self.charge(cell.vc, now);
                self.credit(now);
                return Decision::Accept;
            }
            self.credit(now);
        }
        self.buckets.test(now, cell)
    }

    fn admits_all(&mut self, cells: &AskedRuns) -> bool {
        let gives = below(cells.most, self.threshold);
        let is_one_side = gives || !below(cells.least, self.threshold);
        // Credit goes to the buckets only if no cell is on account.
        let pays = gives && self.on_account.iter().any(|&cells| cells > 0);
        is_one_side && !pays && !below(cells.least, self.low) && self.buckets.take_all(cells, gives)
    }

    /// Threshold Th, cells.
    fn threshold(&self, _vc: u32, _queue: &QueueView) -> Option<f64> {
        self.threshold.map(Ratio::as_f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AskedRun;
    use super::super::testing::{Cells, cell, contract};
    use super::*;
    use crate::ground::units::Span;
    use crate::network::cells::Run;
    use crate::text::scenario::DropPolicy;

    fn cells() -> Cells {
        let policy = DropPolicy::GcraTwoThresholds {
            low: Threshold::Cells(5),
            threshold: Threshold::Cells(10),
            export_tag: false,
        };
        Cells::new(policy, 2, 3)
    }

    #[test]
    fn below_the_lower_threshold_all_comes_in_on_account() {
        let mut cells = cells();
        assert_eq!(cells.frames(0, 4, 20), vec!["++++"; 20]);
        // The bucket is full, but not above its limit: a cell at the limit conforms.
        assert_eq!(cells.frames(0, 10, 2), ["++++", "----"]);
    }

    #[test]
    fn what_is_on_account_is_paid_before_credit_counts() {
        let mut cells = cells();
        cells.frames(0, 4, 20);
        // Credit between the thresholds pays Y first. So after the frame that the full bucket lets
        // in, no frame begins.
        let told = cells.frames(0, 7, 10);
        assert_eq!(
            (told[0].as_str(), &told[1..]),
            ("++++", &vec!["----".to_string(); 9][..])
        );
    }

    // Credit to VC 0 must reduce Y_j while Y_j > 0. For cells that are taken together it would go
    // to the bucket instead.
    #[test]
    fn while_a_vc_has_cells_on_account_none_are_taken_together() {
        for (cells_below, together) in [(0, true), (20, false)] {
            let contracts = [3, 100].map(|mbs| Some(contract(1_000_000, mbs)));
            let thresholds = [5, 10].map(Threshold::Cells);
            let [low, high] = thresholds;
            let mut policy = GcraTwoThresholds::new(low, high, false, Some(40), &contracts);
            let now = Time(1_000_000);
            let mut admit = |vc, waiting| {
                let queue = QueueView {
                    waiting,
                    ..QueueView::default()
                };
                policy.admit(now, &cell(vc, true, false), &queue)
            };
            // VC 0 comes in below L, and its bucket holds two of the cells. VC 1 fills its bucket
            // if no credit is given.
            for (vc, waiting, cells) in [(0, 4, cells_below), (1, 10, 5)] {
                for _ in 0..cells {
                    assert_eq!(admit(vc, waiting), Decision::Accept);
                }
            }
            assert_eq!(policy.on_account[0] > 0, cells_below > 0);
            let run = Run {
                time: now,
                n: 2,
                ..Run::default()
            };
            let cells = AskedRuns {
                runs: &[AskedRun::new(&run, cell(1, false, false), 7)],
                cells: 2,
                period: Span(1),
                least: 7,
                most: 8,
            };
            assert_eq!(policy.admits_all(&cells), together);
        }
    }

    #[test]
    fn between_the_thresholds_it_is_scheme_two() {
        assert_eq!(cells().frames(0, 10, 2), ["++++", "----"]);
        let mut two = Cells::new(
            DropPolicy::GcraRoundRobin {
                threshold: Threshold::Cells(10),
                keep_credit: false,
                export_tag: false,
            },
            2,
            3,
        );
        assert_eq!(cells().frames(0, 7, 30), two.frames(0, 7, 30));
    }
}
