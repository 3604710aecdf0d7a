//! Cells of one run that leave in bulk for their host, at any times.
//!
//! Only the wait of each cell is new. Everything else is the same for all cells of a run. Hop, sink
//! and counts are updated once, when the run or the bulk ends.

use super::Slotted;
use super::pattern::reach_host_alike;
use super::queued_cells::QueuedCells;
use crate::ground::delays::Waits;
use crate::ground::flow::FlowId;
use crate::ground::units::{Span, Time};
use crate::network::fabric::Fabric;

/// Cells of one VC that have left.
#[derive(Clone, Debug, Default)]
struct LeavingCells {
    /// Number of cells, and of those that follow in the run.
    n: u32,
    follow: u32,
    flow: FlowId,
    is_data: bool,
    /// Age at the host of a cell that does not wait.
    unhindered: Span,
    /// Waits: sum, the shortest (the first), and the longest (the last).
    sum: u128,
    least: Span,
    most: Span,
    first: Option<QueuedCells>,
}

/// Cells of all VCs that have left.
#[derive(Debug)]
pub struct Leaving {
    by_vc: Vec<LeavingCells>,
    /// VCs with such cells.
    vcs: Vec<u32>,
}

impl Leaving {
    /// No cells of `vcs` VCs.
    pub fn new(vcs: usize) -> Leaving {
        Leaving {
            by_vc: vec![LeavingCells::default(); vcs],
            vcs: Vec::new(),
        }
    }
}

impl Slotted {
    /// Begins the transmission of one cell of `vc`, taken in bulk before `limit`, now. `follow` is
    /// the number of cells behind it in its run.
    pub(super) fn begin_in_bulk(
        &mut self,
        fabric: &mut Fabric,
        class: usize,
        vc: usize,
        (cell, follow): (QueuedCells, u32),
        limit: Time,
    ) {
        let (start, c) = (self.free_at, self.cell_time);
        let leaving = &mut self.bulk.leaving.by_vc[vc];
        let wait = start - cell.arrived;
        if leaving.n == 0 {
            if !reach_host_alike(fabric, cell.hop, start + c, limit + c) {
                if self.counts[class] {
                    self.queues[class].count_out(vc, 1);
                }
                let run = self.transmit(start, &cell);
                return fabric.depart(run);
            }
            let hop = &fabric.hops[cell.hop as usize];
            *leaving = LeavingCells {
                n: 0,
                follow: follow + 1,
                flow: hop.flow,
                is_data: hop.is_data,
                unhindered: cell.age + c + hop.latency,
                sum: 0,
                least: wait,
                most: wait,
                first: Some(cell),
            };
            self.bulk.leaving.vcs.push(vc as u32);
        }
        self.started += 1;
        self.free_at = start + c;
        leaving.n += 1;
        leaving.follow -= 1;
        leaving.sum += u128::from(wait.0);
        leaving.most = wait;
        if leaving.is_data {
            let bins = &mut fabric.destinations.sink(leaving.flow).bins;
            bins.add(leaving.unhindered + wait, 1);
        }
        if leaving.follow == 0 {
            self.deliver_leaving(fabric, class, vc, Some(&cell));
        }
    }

    /// Delivers the cells that have left in bulk.
    pub(super) fn end_bulk(&mut self, fabric: &mut Fabric, class: usize) {
        while let Some(vc) = self.bulk.leaving.vcs.pop() {
            self.deliver_leaving(fabric, class, vc as usize, None);
        }
    }

    /// Delivers the cells of `vc` that have left, if there are any. `last` is the last of their run
    /// if it has left.
    fn deliver_leaving(
        &mut self,
        fabric: &mut Fabric,
        class: usize,
        vc: usize,
        last: Option<&QueuedCells>,
    ) {
        let leaving = &mut self.bulk.leaving.by_vc[vc];
        let Some(first) = leaving.first.take() else {
            return;
        };
        let n = std::mem::take(&mut leaving.n);
        let waits = Waits::Listed {
            sum: leaving.sum,
            least: leaving.least,
            most: leaving.most,
        };
        let unhindered = leaving.unhindered;
        let c = self.cell_time;
        let start = first.arrived + c * u64::from(n - 1) + leaving.most;
        self.waited(waits, n.into());
        if self.counts[class] {
            self.queues[class].count_out(vc, n.into());
        }
        let hop = &mut fabric.hops[first.hop as usize];
        hop.sent += u64::from(n);
        let ages = hop.is_data.then(|| waits.longer_by(unhindered, n.into()));
        let run = first.until(last.unwrap_or(&first), n).leaving(start, c);
        let arrives = start + c + hop.latency;
        fabric
            .destinations
            .deliver(hop.flow, &run, n, ages, arrives);
    }
}
