//! Scheme one of `gfr-leaky-bucket`: EPD with leaky buckets. Above the threshold a frame gets in if
//! its VC keeps to its minimum rate.
//!
//! accept a cell  <=>  Q < Th, or GCRA(1) and GCRA(2) of its VC let it in (`buckets.rs`).
//! A first cell is let in if it conforms.
//!   Q: cells waiting in the class queue        Th: congestion threshold [cells], 1000
//! Pseudocode (appendix):                                       Here:
//!   if Q > Q_max: discard, Discarding_i, Receiving_i := 1;      the gate's full buffer, no charge.
//!   else if Discarding_i: discard;                              the gate's state of the frame,
//!                                                               `rest_of_frame` = drop.
//!   else if Q < Th: accept, Receiving_i := 1;                   nothing is charged.
//!   else GCRA(1), GCRA(2) ...;                                  `AllBuckets::test`.
//!   if EOM: Receiving_i, Discarding_i := 0;                     the gate's state of the frame.
//! Source: `gfr-leaky-bucket`, sections 3.1 and 4.1, figure 4-1 and the appendix.
//! Not said there, chosen here: the gate identifies a frame by its number, so a lost EOM does not
//! merge two frames; X >= K is full.
//! Limits: cells taken below the threshold are charged to nobody, so the VC that sends most takes
//! most of the excess.

use super::buckets::AllBuckets;
use super::{Arriving, AskedRuns, Decision, DropRule, Needs, QueueView, below, resolve};
use crate::ground::units::{Ratio, Time};
use crate::text::scenario::{ContractTerms, Threshold};

/// Scheme one for one class queue.
#[derive(Clone, Debug)]
pub struct GcraEpd {
    /// Th; `None`: never reached.
    threshold: Option<Ratio>,
    buckets: AllBuckets,
}

impl GcraEpd {
    /// Creates the policy with `threshold` and the contract of each flow, by local number.
    pub fn new(
        threshold: Threshold,
        export_tag: bool,
        buffer: Option<u64>,
        contracts: &[Option<ContractTerms>],
    ) -> GcraEpd {
        GcraEpd {
            threshold: resolve(threshold, buffer),
            buckets: AllBuckets::new(contracts, export_tag, buffer),
        }
    }
}

impl DropRule for GcraEpd {
    fn needs(&self) -> Needs {
        Needs::EVERY_CELL
    }

    fn admit(&mut self, now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        if self.buckets.is_dropped_anyway(cell, queue) || below(queue.waiting, self.threshold) {
            return Decision::Accept;
        }
        self.buckets.test(now, cell)
    }

    fn admits_all(&mut self, cells: &AskedRuns) -> bool {
        below(cells.most, self.threshold)
            || (!below(cells.least, self.threshold) && self.buckets.take_all(cells, false))
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
    use crate::ground::format::Clock;
    use crate::port::drop::Policy;
    use crate::text::scenario::DropPolicy;

    fn cells(export_tag: bool) -> Cells {
        let threshold = Threshold::Cells(10);
        // The minimum rate is two cells per hundred cell times, and a burst has three cells.
        Cells::new(
            DropPolicy::GcraEpd {
                threshold,
                export_tag,
            },
            2,
            3,
        )
    }

    #[test]
    fn below_the_threshold_all_comes_in_and_nothing_is_charged() {
        let mut cells = cells(false);
        assert_eq!(cells.frames(0, 9, 20), vec!["++++"; 20]);
        // The bucket is still empty. The first frame begins within the burst; no later one can.
        assert_eq!(cells.frames(0, 10, 2), ["++++", "----"]);
    }

    #[test]
    fn a_frame_that_has_begun_goes_on_and_is_charged() {
        let mut cells = cells(false);
        assert_eq!(cells.frames(0, 10, 1), ["++++"]);
        // The bucket holds four cells, and may hold two when a frame begins. One cell drains in
        // fifty cell times.
        cells.wait(50);
        assert_eq!(cells.frames(0, 10, 1), ["----"]);
        cells.wait(50);
        assert_eq!(cells.frames(0, 10, 1), ["++++"]);
    }

    #[test]
    fn a_tag_is_sent_on_if_asked_for() {
        // The fourth cell of a frame does not conform.
        assert_eq!(cells(true).frames(0, 10, 1), ["+++t"]);
        assert_eq!(cells(false).frames(0, 10, 1), ["++++"]);
    }

    #[test]
    fn a_cell_that_comes_tagged_cannot_begin_a_frame_above_the_threshold() {
        let mut cells = cells(true);
        cells.tagged = true;
        assert_eq!(cells.frames(0, 10, 1), ["----"]);
        assert_eq!(cells.frames(0, 9, 1), ["++++"]);
    }

    #[test]
    fn a_cell_that_finds_the_buffer_full_is_not_charged() {
        let mut policy = cells(false);
        // K = 40.
        assert_eq!(
            policy.frames(0, 40, 5),
            vec!["++++"; 5],
            "the gate drops them"
        );
        assert_eq!(policy.frames(0, 10, 1), ["++++"]);
    }

    #[test]
    fn the_threshold_is_told() {
        let policy = DropPolicy::GcraEpd {
            threshold: Threshold::Cells(10),
            export_tag: false,
        };
        let policy = Policy::new(
            &policy,
            None,
            &[],
            crate::ground::units::Span::ZERO,
            Clock::AAL5,
        );
        assert_eq!(policy.threshold(0, &QueueView::default()), Some(10.0));
    }
}
