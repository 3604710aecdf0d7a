//! Who looks at cells when they leave a station: the digest and traces of losses, which need each cell by itself, and shares of links, which need not.

use crate::cells::Run;
use crate::flow::FlowId;
use crate::record::{IntervalSum, TraceEntry};
use crate::tally::{DropReason, digest};
use crate::units::Time;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// A cell that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// When its last bit leaves.
    pub time: Time,
    /// The link.
    pub link: u32,
    /// Its flow.
    pub flow: FlowId,
    /// Class index.
    pub class: usize,
    /// Frame number.
    pub frame: u32,
    /// Cell number.
    pub cell: u32,
}

/// Cells of a link that a probe counts per interval.
#[derive(Clone, Debug)]
pub struct Share {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Class index.
    pub class: usize,
    /// The sums.
    pub sum: IntervalSum,
}

/// All that is watched on links.
#[derive(Debug, Default)]
pub struct Observers {
    /// Sum of the cells' digests, when asked for.
    pub digest: Option<u64>,
    /// By link.
    pub shares: FxHashMap<u32, Vec<Share>>,
    /// Flows whose drops are traced, and the first probe that does.
    pub traced: HashMap<FlowId, usize>,
    /// Their cells that links lost on purpose.
    pub lost: Vec<TraceEntry>,
}

impl Observers {
    /// A cell leaves a station.
    pub fn left(&mut self, cell: &Leaving) {
        for sum in self.shares_of(cell.link, cell.class) {
            sum.add(cell.time, 1.0);
        }
        self.sum_up(cell);
    }

    /// The cells of `run`, whose times are the ends of their transmission, leave a station.
    pub fn left_together(&mut self, link: u32, class: usize, run: Run) {
        for sum in self.shares_of(link, class) {
            sum.add_cells(run);
        }
    }

    /// The sums that cells of `class` on `link` belong to.
    fn shares_of(&mut self, link: u32, class: usize) -> impl Iterator<Item = &mut IntervalSum> {
        let shares = self.shares.get_mut(&link).into_iter().flatten();
        let of_class = shares.filter(move |share| share.class == class);
        of_class.map(|share| &mut share.sum)
    }

    /// The digest of a cell that leaves a station, or a port without one.
    pub fn sum_up(&mut self, cell: &Leaving) {
        if let Some(sum) = &mut self.digest {
            let own = digest(
                cell.link as usize,
                cell.time,
                cell.flow,
                cell.frame,
                cell.cell,
            );
            *sum = sum.wrapping_add(own);
        }
    }

    /// A cell that has left is lost on its link.
    pub fn lost(&mut self, cell: &Leaving) {
        if self.traced.contains_key(&cell.flow) {
            self.lost.push(TraceEntry {
                time: cell.time,
                link: cell.link,
                flow: cell.flow,
                frame: cell.frame,
                cell: cell.cell,
                reason: DropReason::Link,
                queue: None,
            });
        }
    }

    /// Whether it records anything.
    pub fn records(&self) -> bool {
        !self.shares.is_empty() || !self.traced.is_empty()
    }

    /// Points of shares recorded so far.
    pub fn points(&self) -> usize {
        let shares = self.shares.values().flatten();
        shares.map(|s| s.sum.out.len()).sum()
    }
}
