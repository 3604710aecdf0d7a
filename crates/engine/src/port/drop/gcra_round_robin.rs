//! Scheme two of `gfr-leaky-bucket`: every cell is put to the leaky buckets, and below the
//! threshold credit goes round.
//!
//! For every cell that arrives and is not the rest of a lost frame:
//!   if Q < Th: X_j := X_j - 1/MCR_j, j := the next VC         a turn's credit of one cell;
//!   accept  <=>  GCRA(1) and GCRA(2) of its VC let it in (`buckets.rs`).
//!   Q: cells waiting in the class queue    Th: congestion threshold [cells], 1000
//!   X_j: level of GCRA(2) of VC j [s]
//! So the excess is given away in equal parts: R_i = MCR_i + (R_out - sum of MCR) / N.
//! Pseudocode: as of scheme one (`gcra_epd.rs`), with these two lines in place of acceptance below
//! Th.
//! Source: `gfr-leaky-bucket`, sections 3.2 and 5.1, figure 5-1, the appendix; chapter 6 for the
//! rate.
//! Not said there, chosen here: credit that finds a bucket empty is lost, as X' is never below 0
//! (`keep_credit` keeps it). Cells of flows without a contract give and get no credit: below Th
//! they come in, above it their new frames are refused.
//! Limits: credit that a VC does not use goes to no other VC, so with idle VCs the link may not be
//! filled. Turns go over all VCs of the port, also those that have not begun.

use super::buckets::AllBuckets;
use super::{Arriving, AskedRuns, Decision, DropRule, Needs, QueueView, below, resolve};
use crate::ground::units::{Ratio, Time};
use crate::text::scenario::{ContractTerms, Threshold};

/// Scheme two for one class queue.
#[derive(Clone, Debug)]
pub struct GcraRoundRobin {
    /// Th; `None`: never reached.
    threshold: Option<Ratio>,
    keep_credit: bool,
    buckets: AllBuckets,
}

impl GcraRoundRobin {
    /// Creates the policy with `threshold` and the contract of each flow, by local number.
    pub fn new(
        threshold: Threshold,
        keep_credit: bool,
        export_tag: bool,
        buffer: Option<u64>,
        contracts: &[Option<ContractTerms>],
    ) -> GcraRoundRobin {
        GcraRoundRobin {
            threshold: resolve(threshold, buffer),
            keep_credit,
            buckets: AllBuckets::new(contracts, export_tag, buffer),
        }
    }
}

impl DropRule for GcraRoundRobin {
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
            let next = self.buckets.next_turn();
            if let Some(next) = self.buckets.of(next) {
                next.sustained.give(now, self.keep_credit);
            }
        }
        self.buckets.test(now, cell)
    }

    fn admits_all(&mut self, cells: &AskedRuns) -> bool {
        let gives = below(cells.most, self.threshold);
        let is_one_side = gives || !below(cells.least, self.threshold);
        is_one_side && !(gives && self.keep_credit) && self.buckets.take_all(cells, gives)
    }

    /// Threshold Th, cells.
    fn threshold(&self, _vc: u32, _queue: &QueueView) -> Option<f64> {
        self.threshold.map(Ratio::as_f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Cells;
    use super::*;
    use crate::text::scenario::DropPolicy;

    fn cells(keep_credit: bool) -> Cells {
        let policy = DropPolicy::GcraRoundRobin {
            threshold: Threshold::Cells(10),
            keep_credit,
            export_tag: false,
        };
        Cells::new(policy, 2, 3)
    }

    #[test]
    fn above_the_threshold_the_minimum_rate_alone_gets_in() {
        assert_eq!(cells(false).frames(0, 10, 3), ["++++", "----", "----"]);
    }

    // Each frame is charged four cells and credited two, since turns alternate between two VCs.
    #[test]
    fn below_the_threshold_credit_goes_round() {
        let mut cells = cells(false);
        let both: Vec<String> = (0..8).flat_map(|_| cells.frames(0, 9, 1)).collect();
        let taken = both.iter().filter(|f| *f == "++++").count();
        assert!((3..=6).contains(&taken), "{both:?}");
        // The other VC got half of the credit for nothing; its bucket is empty and no lower.
        assert_eq!(cells.frames(1, 10, 2), ["++++", "----"]);
    }

    #[test]
    fn credit_for_an_empty_bucket_is_lost_or_kept() {
        for (keep_credit, frames) in [
            (false, ["++++", "----", "----"]),
            (true, ["++++", "++++", "++++"]),
        ] {
            let mut cells = cells(keep_credit);
            for _ in 0..8 {
                cells.frames(0, 9, 1);
            }
            assert_eq!(cells.frames(1, 10, 3), frames, "kept: {keep_credit}");
        }
    }
}
