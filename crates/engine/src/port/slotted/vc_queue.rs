//! Waiting cells of one VC, for classes whose VCs are served one by one.

use super::queued_cells::QueuedCells;
use crate::ground::units::{Span, Time};
use crate::network::cells::Run;
use std::collections::VecDeque;

/// Queue of one VC.
/// The first run is stored inline: another VC may have its turn after each cell, and the data
/// needed then lies together, however many VCs wait.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct VcQueue {
    /// First run; has no cells when nothing waits.
    first: QueuedCells,
    rest: VecDeque<QueuedCells>,
}

impl VcQueue {
    /// Creates an empty queue.
    pub fn new() -> VcQueue {
        VcQueue {
            first: QueuedCells::first_of(&Run::default(), 0),
            rest: VecDeque::new(),
        }
    }

    /// The first run, which must exist.
    pub fn first(&self) -> &QueuedCells {
        debug_assert!(self.first.n() > 0, "the VC has a cell");
        &self.first
    }

    /// Arrival of the first cell, or [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        if self.first.n() > 0 {
            self.first.arrived
        } else {
            Time::NEVER
        }
    }

    /// Takes the first `n` cells of the first run; the cells of a run arrived `c` apart.
    pub fn take(&mut self, n: u32, c: Span) -> QueuedCells {
        if n < self.first.n() {
            return self.first.split(n, c);
        }
        let all = self.first;
        match self.rest.pop_front() {
            Some(next) => self.first = next,
            None => self.first = QueuedCells::first_of(&Run::default(), 0),
        }
        all
    }

    /// Appends cells, merging them into the last run where they continue it at distance `c`; 0
    /// merges nothing.
    pub fn push(&mut self, cells: QueuedCells, c: Span) {
        if self.first.n() == 0 {
            self.first = cells;
            return;
        }
        // The last run is read only if needed, since it may be in no cache.
        if c == Span::ZERO || cells.begins_frame() {
            return self.rest.push_back(cells);
        }
        let last = self.rest.back_mut().unwrap_or(&mut self.first);
        if !last.join(&cells, c) {
            self.rest.push_back(cells);
        }
    }

    /// All waiting cells.
    pub fn runs(&self) -> impl Iterator<Item = &QueuedCells> {
        let first = std::iter::once(&self.first).filter(|r| r.n() > 0);
        first.chain(&self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::cells::ENDS_FRAME;

    #[test]
    fn a_frame_goes_on_until_its_eom_or_a_gap() {
        let cells = |time, frame, cell, n, flags| {
            QueuedCells::first_of(
                &Run {
                    time: Time(time),
                    n,
                    frame,
                    cell: u32::into(cell),
                    flags,
                    ..Run::default()
                },
                n,
            )
        };
        let mut queue = VcQueue::new();
        queue.push(cells(0, 7, 0, 2, 0), Span(10));
        queue.push(cells(20, 7, 2, 1, ENDS_FRAME), Span(10));
        queue.push(cells(30, 8, 0, 1, 0), Span(10));
        queue.push(cells(45, 8, 1, 1, ENDS_FRAME), Span(10));
        let runs = |q: &VcQueue| {
            q.runs()
                .map(|r| (r.frame, r.n(), r.flags()))
                .collect::<Vec<_>>()
        };
        let [frame, begun, ended] = [(7, 3, ENDS_FRAME), (8, 1, 0), (8, 1, ENDS_FRAME)];
        assert_eq!(runs(&queue), [frame, begun, ended]);
        assert_eq!((queue.take(1, Span(10)).flags(), queue.first().n()), (0, 2));
        assert_eq!(queue.take(2, Span(10)).arrived, Time(10));
        assert_eq!(runs(&queue), [begun, ended]);
        queue.take(1, Span(10));
        queue.take(1, Span(10));
        assert_eq!(queue.runs().count(), 0);
    }
}
