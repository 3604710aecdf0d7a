//! The leaky buckets of the three GCRA policies: the part of their pseudocode that they share.
//!
//! For each VC two buckets, GCRA(1) of PCR and CDVT, which decides nothing without a PCR, and GCRA(2) of the minimum rate, with the limit CDVT +
//! BT. A cell is put to both; the pseudocode (`gfr-leaky-bucket`, appendix) then says
//!   conforms to both and CLP = 0                        accept
//!   conforms to GCRA(1) alone and CLP = 0               tag it for what follows
//!   CLP = 1, conforms to GCRA(1), not a frame's first   accept, and charge GCRA(2)
//!   else                                                discard, and the rest of the frame
//! Unlike the standard's F-GCRA it tests every cell, not frames; it takes cells that do not conform, charges the bucket for them, and
//! knows no MFS; GCRA(1) is charged for a cell that GCRA(2) then refuses, and the other way round.
//! The pseudocode leaves X'_2 without a value where a cell comes with CLP = 1; here it is X_2 as drained until then. The flow
//! chart (figure 4-1) leaves GCRA(1) and CLP out and says the same of what remains.
//! A tag is only ever made in the middle of a frame: the first cell of a frame that does not conform is refused. So with `export_tag` a policy that
//! looks at first cells (`dfba`) sees none of them, and `f-gcra` drops the cells that differ from their frame's first.

use super::{Arriving, Decision, QueueView};
use crate::port::police::gcra::{LeakyBucket, Test};
use crate::scenario::Terms;
use crate::tally::DropReason;
use crate::units::Time;

/// The buckets of one VC.
#[derive(Clone, Debug)]
pub struct Buckets {
    /// GCRA(1); `None` without a PCR.
    peak: Option<LeakyBucket>,
    /// GCRA(2).
    pub sustained: LeakyBucket,
}

/// The buckets of all VCs of a class queue, and whose turn it is to be given credit.
#[derive(Clone, Debug)]
pub struct AllBuckets {
    /// By local number of the flow; `None` without a contract.
    flows: Vec<Option<Buckets>>,
    /// Local numbers of those with one.
    with_contract: Vec<usize>,
    /// Place in `with_contract` whose turn is next.
    turn: usize,
    /// Whether a tag that is made here goes on with the cell.
    export_tag: bool,
    /// K, cells; `u64::MAX` when unlimited.
    buffer: u64,
}

impl AllBuckets {
    /// With the contract of each flow, by local number; one without a minimum rate is none.
    pub fn new(contracts: &[Option<Terms>], export_tag: bool, buffer: Option<u64>) -> AllBuckets {
        let buckets = |terms: &Terms| {
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

    /// Whether the gate drops `cell` whatever the policy says, as the rest of a lost frame or for want of room, so that nothing is charged.
    pub fn is_beyond_hope(&self, cell: &Arriving, queue: &QueueView) -> bool {
        cell.lost || queue.waiting >= self.buffer
    }

    /// The buckets of a flow; `None` without a contract.
    pub fn of(&mut self, flow: u32) -> Option<&mut Buckets> {
        self.flows[flow as usize].as_mut()
    }

    /// The flow whose turn it is; the next one's is next. There must be one with a contract.
    pub fn next_turn(&mut self) -> u32 {
        let flow = self.with_contract[self.turn];
        self.turn += 1;
        if self.turn == self.with_contract.len() {
            self.turn = 0;
        }
        flow as u32
    }

    /// From `GCRA(1)` on to the end of the pseudocode; a flow without a contract has no rate that is guaranteed, and its new frames are
    /// refused.
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
