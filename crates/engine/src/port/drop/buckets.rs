//! Leaky buckets of the three GCRA policies: the common part of their pseudocode.
//!
//! Each VC has two buckets. GCRA(1) tests PCR with CDVT; without a PCR every cell conforms. GCRA(2)
//! tests the minimum rate with the limit CDVT + BT. Both test each cell; the pseudocode
//! (`gfr-leaky-bucket`, appendix) then says:
//!   conforms to both and CLP = 0:                       accept;
//!   conforms to GCRA(1) alone and CLP = 0:              tag it for what follows;
//!   CLP = 1, conforms to GCRA(1), not a frame's first:  accept, and charge GCRA(2);
//!   else:                                               discard, and the rest of the frame.
//! Unlike the F-GCRA of the standard, this tests every cell and not frames. Accepted cells charge
//! the bucket even if they do not conform, and there is no MFS. GCRA(1) is charged for a cell that
//! GCRA(2) then refuses, and the other way round.
//! The pseudocode leaves X'_2 without a value where a cell comes with CLP = 1; here it is X_2 as
//! drained until then. The flow chart (figure 4-1) leaves out GCRA(1) and CLP, and agrees
//! otherwise.
//! Tags are made only in the middle of a frame, since the first cell of a frame is refused unless
//! it conforms. So with `export_tag` a later policy that looks at first cells (`dfba`) sees no tag,
//! and `f-gcra` drops the cells that differ from the first cell of their frame.

use super::{Arriving, AskedRun, AskedRuns, Decision, QueueView};
use crate::ground::units::Time;
use crate::network::tally::DropReason;
use crate::port::police::gcra::{LeakyBucket, Test};
use crate::text::scenario::ContractTerms;

/// Buckets of one VC.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// GCRA(1), for PCR; `None` without a PCR.
    peak: Option<LeakyBucket>,
    /// GCRA(2), for the minimum rate.
    pub sustained: LeakyBucket,
}

/// Buckets of all VCs of a class queue, and the round of turns for credit.
#[derive(Clone, Debug)]
pub struct AllBuckets {
    /// Buckets by local number of the flow; `None` without a contract.
    flows: Vec<Option<Buckets>>,
    /// Local numbers of the flows with a contract, ascending.
    with_contract: Vec<usize>,
    /// Place in `with_contract` that has the next turn.
    turn: usize,
    /// Whether a tag made here stays on the cell.
    export_tag: bool,
    /// K, cells; `u64::MAX` when unlimited.
    buffer: u64,
}

/// Number of the next `turns` turns, round `of` flows, that fall on the flow after `ahead` others.
fn turns_of(ahead: usize, turns: u64, of: usize) -> u64 {
    let of = of as u64;
    turns / of + u64::from((ahead as u64) < turns % of)
}

impl AllBuckets {
    /// Creates empty buckets from the contract of each flow, by local number.
    /// A contract without a minimum rate counts as none.
    pub fn new(
        contracts: &[Option<ContractTerms>],
        export_tag: bool,
        buffer: Option<u64>,
    ) -> AllBuckets {
        let buckets = |terms: &ContractTerms| {
            Some(Buckets {
                peak: Test::peak(terms).map(Test::bucket),
                sustained: Test::sustained(terms)?.bucket(),
            })
        };
        let contracts = contracts.iter();
        let flows: Vec<_> = contracts.map(|c| c.as_ref().and_then(buckets)).collect();
        let with_contract = (0..flows.len()).filter(|&flow| flows[flow].is_some());
        AllBuckets {
            with_contract: with_contract.collect(),
            flows,
            turn: 0,
            export_tag,
            buffer: buffer.unwrap_or(u64::MAX),
        }
    }

    /// Whether the gate drops `cell` regardless of the policy, so that nothing is charged.
    /// The cell is the rest of a lost frame, or the buffer is full.
    pub fn is_dropped_anyway(&self, cell: &Arriving, queue: &QueueView) -> bool {
        cell.lost || queue.waiting >= self.buffer
    }

    /// Buckets of a flow; `None` without a contract.
    pub fn of(&mut self, flow: u32) -> Option<&mut Buckets> {
        self.flows[flow as usize].as_mut()
    }

    /// Takes a turn and returns its flow. At least one flow must have a contract.
    pub fn next_turn(&mut self) -> u32 {
        let flow = self.with_contract[self.turn];
        self.turn += 1;
        if self.turn == self.with_contract.len() {
            self.turn = 0;
        }
        flow as u32
    }

    /// Takes all these cells if they are untagged and surely accepted; returns whether it did.
    /// In the middle of a frame, GCRA(2) refuses no cell, and charges it whether it conforms or not.
    /// With `gives`, each cell also takes a turn that gives credit.
    pub fn take_all(&mut self, cells: &AskedRuns, gives: bool) -> bool {
        let (period, n) = (cells.period, cells.cells);
        let given = if gives {
            n * cells.runs.len() as u64
        } else {
            0
        };
        let conforms = |run: &AskedRun| {
            let Some(buckets) = &self.flows[run.cell.vc as usize] else {
                return false;
            };
            let peak = buckets.peak.as_ref();
            let given = self.given_to(run.cell.vc, given);
            // A tag that stays on the cell would tell conforming cells from others.
            let must_conform = match self.export_tag || run.are_single {
                true => n,
                false => u64::from(run.cell.begins),
            };
            let sustained = &buckets.sustained;
            !run.cell.tagged
                && peak.is_none_or(|peak| peak.can_pass_all(run.time, period))
                && sustained.can_take_all(run.time, n, period, given, must_conform)
        };
        if cells.most >= self.buffer || !cells.runs.iter().all(conforms) {
            return false;
        }
        for run in cells.runs {
            let given = self.given_to(run.cell.vc, given);
            if let Some(buckets) = &mut self.flows[run.cell.vc as usize] {
                if let Some(peak) = &mut buckets.peak {
                    peak.pass_all(run.time, n, period);
                }
                buckets.sustained.take_all(run.time, n, period, given);
            }
        }
        if given > 0 {
            self.give_all(given, cells.runs);
        }
        true
    }

    /// Number of the next `turns` turns that fall on `flow`.
    fn given_to(&self, flow: u32, turns: u64) -> u64 {
        let of = self.with_contract.len();
        let place = self.with_contract.binary_search(&(flow as usize));
        place.map_or(0, |place| {
            turns_of((place + of - self.turn) % of, turns, of)
        })
    }

    /// Gives the credit of the next `turns` turns, except to the flows of `but`.
    fn give_all(&mut self, turns: u64, but: &[AskedRun]) {
        let of = self.with_contract.len();
        for (place, &flow) in self.with_contract.iter().enumerate() {
            if but.iter().any(|run| run.cell.vc as usize == flow) {
                continue;
            }
            if let Some(buckets) = &mut self.flows[flow] {
                let ahead = (place + of - self.turn) % of;
                buckets.sustained.give_all(turns_of(ahead, turns, of));
            }
        }
        self.turn = (self.turn + (turns % of as u64) as usize) % of;
    }

    /// Runs the pseudocode from `GCRA(1)` on.
    /// A flow without a contract has no guaranteed rate, and its new frames are refused.
    #[inline]
    pub fn test(&mut self, now: Time, cell: &Arriving) -> Decision {
        let Some(buckets) = self.flows[cell.vc as usize].as_mut() else {
            return Decision::refuse_if(cell.begins);
        };
        let peak = buckets.peak.as_mut();
        let conforms_1 = peak.is_none_or(|peak| peak.take_if_conforms(now));
        let bucket = &mut buckets.sustained;
        let conforms_2 = !cell.tagged && bucket.take_if_conforms(now);
        if conforms_1 && conforms_2 {
            return Decision::Accept;
        }
        if conforms_1 && !cell.begins {
            bucket.take(now);
            return if self.export_tag && !cell.tagged {
                Decision::Tag
            } else {
                Decision::Accept
            };
        }
        Decision::Refuse(DropReason::Policy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::cell;
    use super::super::{DropRule, Policy};
    use super::*;
    use crate::ground::format::{Clock, Format};
    use crate::ground::units::{BitRate, Span};
    use crate::network::cells::Run;
    use crate::text::scenario::{DropPolicy, Threshold};
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Cell time at 150 Mb/s.
    const C: Span = Format::AAL5.cell_time(BitRate(150_000_000));

    fn policies(export_tag: bool) -> [DropPolicy; 4] {
        let threshold = Threshold::Cells(100);
        let round_robin = |keep_credit| DropPolicy::GcraRoundRobin {
            threshold,
            keep_credit,
            export_tag,
        };
        [
            DropPolicy::GcraEpd {
                threshold,
                export_tag,
            },
            round_robin(false),
            round_robin(true),
            DropPolicy::GcraTwoThresholds {
                low: Threshold::Cells(40),
                threshold,
                export_tag,
            },
        ]
    }

    // A cell that finds X >= K = 120 is lost for lack of room and charges nothing. So the cells may
    // not all be charged together.
    #[test]
    fn cells_of_which_one_may_find_no_room_are_not_taken_together() {
        let contract = ContractTerms {
            pcr: None,
            cdvt: Span::ZERO,
            sustained: Some(BitRate(10_000_000)),
            mbs: 100,
            mcr: None,
            mfs: 1,
        };
        for of in policies(false) {
            // X is above all thresholds, and the bucket is not empty.
            let mut policy =
                Policy::new(&of, Some(120), &[Some(contract)], Span::ZERO, Clock::AAL5);
            let queue = QueueView {
                waiting: 110,
                ..QueueView::default()
            };
            policy.admit(Time(C.0), &cell(0, true, false), &queue);
            let run = Run {
                time: Time(2 * C.0),
                n: 2,
                ..Run::default()
            };
            let asked = [AskedRun::new(&run, cell(0, false, false), 110)];
            let mut together = |most| {
                policy.admits_all(&AskedRuns {
                    runs: &asked,
                    cells: 2,
                    period: C,
                    least: 110,
                    most,
                })
            };
            assert_eq!([together(120), together(119)], [false, true], "{of:?}");
        }
    }

    /// Whether three cells, one per cell time from cell time `at` on, are taken together.
    fn takes_three(buckets: &mut AllBuckets, at: u64, begins: bool) -> bool {
        let run = Run {
            time: Time(C.0 * at),
            n: 3,
            ..Run::default()
        };
        let cells = AskedRuns {
            runs: &[AskedRun::new(&run, cell(0, begins, false), 0)],
            cells: 3,
            period: C,
            least: 0,
            most: 3,
        };
        buckets.take_all(&cells, false)
    }

    // MBS = 1 and CDVT = 0, so only an empty bucket lets a frame begin. Its other cells exceed the
    // limit, and are charged all the same, unless some would be tagged.
    #[test]
    fn only_the_first_cell_of_a_frame_must_conform() {
        let contract = ContractTerms {
            pcr: None,
            cdvt: Span::ZERO,
            sustained: Some(BitRate(10_000_000)),
            mbs: 1,
            mcr: None,
            mfs: 1,
        };
        for (export_tag, taken) in [(false, [true, true, false]), (true, [false; 3])] {
            let mut buckets = AllBuckets::new(&[Some(contract)], export_tag, None);
            let first = buckets.test(Time::ZERO, &cell(0, true, false));
            assert_eq!(first, Decision::Accept);
            // At 10 of 150 Mb/s one cell drains in 15 cell times, so the bucket stays above zero.
            let found = [(1, false), (4, false), (7, true)]
                .map(|(at, begins)| takes_three(&mut buckets, at, begins));
            assert_eq!(found, taken, "{export_tag}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn cells_that_come_in_together_leave_what_they_leave_one_after_the_other(
            policy in 0usize..4,
            (export_tag, begins) in (any::<bool>(), vec(any::<bool>(), 6)),
            flows in vec((1u64..60, 1u64..400, prop::option::of(1u64..300), 0u8..8), 1..6),
            before in vec((0u32..6, 0u64..40, 0u64..200), 0..150),
            pause in 0u64..200,
            (runs, cells, x) in (1usize..6, 1u64..40, 0u64..200),
            phases in vec(0u64..C.0, 6),
        ) {
            let terms = |&(mbps, mbs, pcr, has): &(u64, u64, Option<u64>, u8)| (has > 0).then(|| ContractTerms {
                pcr: pcr.map(|pcr| BitRate(pcr * 1_000_000)),
                cdvt: C,
                sustained: Some(BitRate(mbps * 1_000_000)),
                mbs,
                mcr: None,
                mfs: 1,
            });
            let contracts: Vec<_> = flows.iter().map(terms).collect();
            let mut policy = Policy::new(&policies(export_tag)[policy], Some(300), &contracts, Span::ZERO, Clock::AAL5);
            let mut now = Time::ZERO;
            let queue = |waiting| QueueView { waiting, ..QueueView::default() };
            for (vc, gap, waiting) in before {
                now += C * gap;
                policy.admit(now, &cell(vc % flows.len() as u32, false, false), &queue(waiting));
            }
            now += C * pause;
            let runs = runs.min(flows.len());
            let asked: Vec<_> = (0..runs).map(|vc| {
                let run = Run { time: now + Span(phases[vc]), n: 100, ..Run::default() };
                AskedRun::new(&run, cell(vc as u32, begins[vc], false), x as i64)
            }).collect();
            let most = x + cells * runs as u64;
            let together = AskedRuns { runs: &asked, cells, period: C, least: x, most };
            let mut other = policy.clone();
            if !other.admits_all(&together) {
                prop_assert_eq!(format!("{policy:?}"), format!("{other:?}"));
                return Ok(());
            }
            for round in 0..cells {
                for (place, run) in asked.iter().enumerate() {
                    let waiting = x + round * (runs as u64 - 1) + place as u64;
                    let cell = Arriving { begins: run.cell.begins && round == 0, ..run.cell };
                    let decision = policy.admit(run.time + C * round, &cell, &queue(waiting));
                    prop_assert_eq!(decision, Decision::Accept);
                }
            }
            prop_assert_eq!(format!("{policy:?}"), format!("{other:?}"));
        }
    }
}
