//! Measurements of a port that gives feedback: differences of existing counters over each averaging
//! interval.

use super::PortKernel;
use crate::ground::class::Class;
use crate::ground::units::{Span, Time};
use crate::network::abr::MeasuredInterval;
use crate::network::fabric::Fabric;

/// The measurements of one class queue.
#[derive(Debug)]
pub struct Meter {
    /// Index of the class queue among those that give feedback.
    site: u32,
    interval: Span,
    /// End of the current interval.
    pub due: Time,
    /// Per VC with ABR end systems: the hops of its two flows at this port, and the cells that had
    /// arrived when the interval began.
    vcs: Vec<([u32; 2], u64)>,
    /// Hops of the flows of higher classes at this port.
    higher: Vec<u32>,
    higher_before: u64,
}

impl Meter {
    /// A meter for the class queue `site`. `vcs` holds the hops of the two flows of each VC,
    /// `higher` the hops of all flows of higher classes.
    pub fn new(site: u32, interval: Span, vcs: Vec<[u32; 2]>, higher: Vec<u32>) -> Meter {
        Meter {
            site,
            interval,
            due: Time::ZERO + interval,
            vcs: vcs.into_iter().map(|hops| (hops, 0)).collect(),
            higher,
            higher_before: 0,
        }
    }

    /// Ends an interval. The port has handled everything before the end of the interval, and
    /// nothing at it.
    pub fn end_of_interval(&mut self, kernel: &PortKernel, fabric: &mut Fabric) {
        let end = self.due;
        let (waiting_higher, queue_cells) = match kernel {
            PortKernel::Arithmetic(kernel) => (0, kernel.waiting_just_before(end)),
            PortKernel::Slotted(kernel) => {
                let higher = Class::ALL.into_iter().filter(|&c| c < Class::Abr);
                let waiting = higher.map(|class| kernel.waiting_of(class)).sum();
                (waiting, kernel.waiting_of(Class::Abr))
            }
        };
        let begun = |&hop: &u32| {
            fabric.hops[hop as usize].arrived - fabric.extras[hop as usize].dropped_by_port()
        };
        let higher = self.higher.iter().map(begun).sum::<u64>() - waiting_higher;
        let mut arrived_cells = fabric.logs.counts_buffer(self.site, self.vcs.len());
        for (cells, (hops, before)) in arrived_cells.iter_mut().zip(&mut self.vcs) {
            let arrived = hops.map(|hop| fabric.hops[hop as usize].arrived);
            let all = arrived[0] + arrived[1];
            *cells = all - std::mem::replace(before, all);
        }
        let ended = MeasuredInterval {
            end,
            higher_cells: higher - self.higher_before,
            queue_cells,
            arrived_cells,
        };
        fabric.logs.add_interval(self.site, ended);
        self.higher_before = higher;
        self.due = end + self.interval;
    }
}
