//! Observers of departing cells. The digest and traces of losses need each cell; shares of links do
//! not.

use crate::ground::flow::FlowId;
use crate::ground::format::CellOfFrame;
use crate::ground::units::Time;
use crate::network::cells::Run;
use crate::network::record::{IntervalSum, TraceEntry};
use crate::network::tally::{DropReason, digest};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// A departing cell.
#[derive(Clone, Copy, Debug)]
pub struct DepartedCell {
    /// When the last bit leaves.
    pub time: Time,
    /// Index of the link.
    pub link: u32,
    /// Flow of the cell.
    pub flow: FlowId,
    /// Class index.
    pub class: usize,
    /// Frame number.
    pub frame: u32,
    /// Cell of the frame.
    pub cell: CellOfFrame,
}

/// Cells of one class on a link, counted per interval by a probe.
#[derive(Clone, Debug)]
pub struct LinkShareSum {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Class index.
    pub class: usize,
    /// Bytes of the longest cells of the link.
    pub longest: u32,
    /// Sums per interval, in the longest cells.
    pub sum: IntervalSum,
}

impl LinkShareSum {
    /// Adds a cell of `bytes` that leaves at `time`.
    fn add(&mut self, time: Time, bytes: u32) {
        let length = f64::from(bytes) / f64::from(self.longest);
        self.sum.add(time, length);
    }
}

/// All observations on links.
#[derive(Debug, Default)]
pub struct Observers {
    /// Sum of the cells' digests, if requested.
    pub digest: Option<u64>,
    /// Shares by link.
    pub link_shares: FxHashMap<u32, Vec<LinkShareSum>>,
    /// Flows whose drops are traced, each with the first probe that traces it.
    pub traced: HashMap<FlowId, usize>,
    /// Cells of traced flows that links lost deliberately.
    pub lost: Vec<TraceEntry>,
}

impl Observers {
    /// Records that a cell leaves a station.
    pub fn record_departure(&mut self, cell: &DepartedCell) {
        for share in self.shares_of(cell.link, cell.class) {
            share.add(cell.time, cell.cell.bytes());
        }
        self.add_to_digest(cell);
    }

    /// Counts the cells of `run` as they leave a station. Times of the run are ends of
    /// transmission.
    pub fn record_departures(&mut self, link: u32, class: usize, run: Run) {
        for share in self.shares_of(link, class) {
            if run.cell.bytes() == share.longest {
                share.sum.add_cells(run);
            } else {
                debug_assert_eq!(run.n, 1, "a frame of one cell");
                share.add(run.time, run.cell.bytes());
            }
        }
    }

    /// Shares of `class` on `link`.
    fn shares_of(&mut self, link: u32, class: usize) -> impl Iterator<Item = &mut LinkShareSum> {
        let shares = self.link_shares.get_mut(&link).into_iter().flatten();
        shares.filter(move |share| share.class == class)
    }

    /// Adds a cell to the digest as it leaves a station or a port that cannot queue.
    pub fn add_to_digest(&mut self, cell: &DepartedCell) {
        if let Some(sum) = &mut self.digest {
            let cell_digest = digest(
                cell.link as usize,
                cell.time,
                cell.flow,
                cell.frame,
                cell.cell.number(),
            );
            *sum = sum.wrapping_add(cell_digest);
        }
    }

    /// Records that a departed cell is lost on its link.
    pub fn record_loss(&mut self, cell: &DepartedCell) {
        if self.traced.contains_key(&cell.flow) {
            self.lost.push(TraceEntry {
                time: cell.time,
                link: cell.link,
                flow: cell.flow,
                frame: cell.frame,
                cell: cell.cell.number(),
                reason: DropReason::Link,
                queue: None,
            });
        }
    }

    /// Whether any share or trace is recorded.
    pub fn records(&self) -> bool {
        !self.link_shares.is_empty() || !self.traced.is_empty()
    }

    /// Number of points of shares recorded so far.
    pub fn points(&self) -> usize {
        let shares = self.link_shares.values().flatten();
        shares.map(|s| s.sum.out.len()).sum()
    }
}
