//! `f-gcra`: the frame-based GCRA of the GFR service, with the conformance of its cells.
//!
//! A cell conforms  <=>  it passes GCRA(1/PCR, CDVT), has the CLP of the first cell of its frame,
//! and ends the frame or is one of its first MFS - 1.
//! A frame of CLP = 0 is eligible  <=>  at its first cell X' <= L:
//!   L = BT + CDVT, BT = (MBS - 1)(1/MCR - 1/PCR), X' = max(0, X - (t - LPT)).
//! For every conforming cell of an eligible frame: X := X' + 1/MCR, LPT := t. Cells of other frames
//! do not change X or LPT.
//! A cell that does not conform is dropped. Frames of CLP = 0 that are not eligible are tagged
//! (GFR.2) or dropped, whole.
//! Source: ITU-T I.371.1, F-GCRA(T, f); ATM Forum, Traffic Management 4.1 (GFR).
//! The sources leave open, and this file chooses: one CDVT serves both tests; cells that do not
//! conform change no state; frames of CLP = 1 pass under either action, since the user has marked
//! them as the first to lose.
//! Limits: MBS must hold a frame (MBS >= MFS); otherwise a frame of that size is eligible only if
//! it finds the bucket empty.

use super::gcra::{LeakyBucket, Test};
use super::{PoliceRule, Ruling};
use crate::ground::units::Time;
use crate::port::drop::Arriving;
use crate::text::scenario::{ContractTerms, PoliceAction};

/// The policer of frames.
#[derive(Clone, Debug)]
pub struct FramePolicer {
    action: PoliceAction,
    /// Contract of each flow, by local number.
    flows: Vec<Option<Contract>>,
}

#[derive(Clone, Debug)]
struct Contract {
    peak: Option<LeakyBucket>,
    bucket: LeakyBucket,
    /// Maximum frame size MFS, cells.
    most_cells: u64,
    /// State of the current frame: its cells so far, the CLP of its first cell, and whether it is
    /// eligible.
    cells: u64,
    tagged: bool,
    eligible: bool,
}

impl FramePolicer {
    /// A policer for these contracts of the flows, by local number. A contract without an MCR is
    /// ignored.
    pub fn new(action: PoliceAction, contracts: &[Option<ContractTerms>]) -> FramePolicer {
        let contract = |terms: &ContractTerms| {
            Some(Contract {
                peak: Test::peak(terms).map(Test::bucket),
                bucket: Test::sustained(terms)?.bucket(),
                most_cells: terms.mfs,
                cells: 0,
                tagged: false,
                eligible: false,
            })
        };
        let contracts = contracts.iter();
        FramePolicer {
            action,
            flows: contracts.map(|c| c.as_ref().and_then(contract)).collect(),
        }
    }
}

impl PoliceRule for FramePolicer {
    fn judge(&mut self, now: Time, cell: &Arriving) -> Ruling {
        let Some(of) = &mut self.flows[cell.vc as usize] else {
            return Ruling::Pass;
        };
        if cell.begins {
            of.cells = 0;
            of.tagged = cell.tagged;
            of.eligible = !cell.tagged && of.bucket.conforms(now);
        }
        of.cells += 1;
        let at_peak = of.peak.as_ref().is_none_or(|peak| peak.conforms(now));
        let in_size = cell.eom || of.cells < of.most_cells;
        if !(at_peak && cell.tagged == of.tagged && in_size) {
            return Ruling::Drop;
        }
        let ruling = if of.eligible {
            of.bucket.take(now);
            Ruling::Pass
        } else if of.tagged {
            Ruling::Pass
        } else {
            Ruling::of(self.action)
        };
        if let Some(peak) = of.peak.as_mut().filter(|_| ruling != Ruling::Drop) {
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

    /// A policer for frames of 4 cells, an MCR of a fifteenth of the line, and an MBS of `mbs`
    /// cells.
    fn policer(action: PoliceAction, mbs: u64) -> FramePolicer {
        let terms = ContractTerms {
            pcr: None,
            cdvt: Span::ZERO,
            sustained: Some(BitRate(10_000_000)),
            mbs,
            mcr: None,
            mfs: 4,
        };
        FramePolicer::new(action, &[Some(terms)])
    }

    /// The rulings for a frame of `cells` cells that begins at cell time `at` with CLP `tagged`.
    fn frame(policer: &mut FramePolicer, at: u64, cells: u64, tagged: bool) -> Vec<Ruling> {
        let of_frame = 0..cells;
        of_frame
            .map(|i| {
                let cell = cell(i == 0, i + 1 == cells, tagged);
                policer.judge(Time((at + i) * TICKS), &cell)
            })
            .collect()
    }

    #[test]
    fn a_frame_is_eligible_as_a_whole() {
        use Ruling::{Drop, Pass, Tag};
        for (action, ruling) in [(PoliceAction::Tag, Tag), (PoliceAction::Drop, Drop)] {
            let mut policer = policer(action, 5);
            // The second frame begins with 4 cells minus what has drained in the bucket, which is
            // at most BT.
            assert_eq!(frame(&mut policer, 0, 4, false), [Pass; 4]);
            assert_eq!(frame(&mut policer, 4, 4, false), [Pass; 4]);
            assert_eq!(frame(&mut policer, 8, 4, false), [ruling; 4]);
            // The bucket got 8 cells, worth 15 cell times each; 4 of them must have drained.
            assert_eq!(frame(&mut policer, 59, 4, false), [ruling; 4]);
            assert_eq!(frame(&mut policer, 63, 4, false), [Pass; 4]);
        }
    }

    // In cell times: 1/PCR = 3, 1/MCR = 15, CDVT = 0, BT = 3 (15 - 3) = 36. After cells at 0, 3, 6
    // and 9, X = 51 at 9. At 12, X' = 48 > 36, so the frame there is not eligible. At 24, X' = 36,
    // so the next one is eligible. Its first cell conforms to the PCR unless the cell at 23 was
    // charged.
    #[test]
    fn cells_of_a_frame_that_is_dropped_do_not_count_for_the_peak_rate() {
        use Ruling::{Drop, Pass, Tag};
        for (action, at_12_23_24) in [
            (PoliceAction::Drop, [Drop, Drop, Pass]),
            (PoliceAction::Tag, [Tag, Tag, Drop]),
        ] {
            let terms = ContractTerms {
                pcr: Some(BitRate(50_000_000)),
                cdvt: Span::ZERO,
                sustained: Some(BitRate(10_000_000)),
                mbs: 4,
                mcr: None,
                mfs: 4,
            };
            let mut policer = FramePolicer::new(action, &[Some(terms)]);
            let mut judge =
                |at: u64, begins, eom| policer.judge(Time(at * TICKS), &cell(begins, eom, false));
            let first = [0, 3, 6, 9].map(|at| judge(at, at == 0, at == 9));
            assert_eq!(first, [Pass; 4]);
            let later = [(12, true, false), (23, false, true), (24, true, false)];
            let later = later.map(|(at, begins, eom)| judge(at, begins, eom));
            assert_eq!(later, at_12_23_24);
        }
    }

    #[test]
    fn frames_that_the_user_tagged_pass_and_use_nothing_up() {
        let mut policer = policer(PoliceAction::Drop, 4);
        assert_eq!(frame(&mut policer, 0, 4, true), [Ruling::Pass; 4]);
        assert_eq!(frame(&mut policer, 4, 4, false), [Ruling::Pass; 4]);
    }

    #[test]
    fn a_frame_that_is_too_long_or_changes_its_priority_loses_cells() {
        use Ruling::{Drop, Pass};
        let mut long = policer(PoliceAction::Tag, 100);
        let rulings = frame(&mut long, 0, 6, false);
        assert_eq!(rulings, [Pass, Pass, Pass, Drop, Drop, Pass]);
        let mut mixed = policer(PoliceAction::Tag, 100);
        let rulings = [(true, false), (false, true), (false, false)];
        let rulings =
            rulings.map(|(begins, tagged)| mixed.judge(Time::ZERO, &cell(begins, false, tagged)));
        assert_eq!(rulings, [Pass, Drop, Pass]);
    }
}
