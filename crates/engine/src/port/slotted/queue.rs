//! Queue of one class.

use super::queued_cells::QueuedCells;
use super::vc_queue::VcQueue;
use crate::ground::units::Span;
use crate::network::tally::CLASSES;
use crate::port::limits::Limits;
use crate::port::sched::Queues;
use std::collections::VecDeque;

/// Waiting cells of a class, and the limits within which the kernel takes cells together.
#[derive(Debug, Default)]
pub struct ClassQueue {
    /// Cells of a class that is served in order of arrival.
    pub cells: VecDeque<QueuedCells>,
    /// Arrival number of each of `cells` over all classes of the port, if the scheduler looks at
    /// queues.
    pub numbers: VecDeque<u64>,
    /// Cells by local VC number, for a class whose VCs are served one by one.
    pub per_vc: Vec<VcQueue>,
    /// Y_i by local VC number; empty unless needed.
    pub of_vc: Vec<u64>,
    /// N_a, number of VCs with Y_i > 0; kept together with `of_vc`.
    pub active: u64,
    /// What X has beyond the waiting cells: those decided on ahead of time that have not begun, or
    /// in a kernel that counts places, which decides nothing ahead, all places of a cell but one.
    pub beyond: u64,
    /// Largest X just after an acceptance.
    pub max: u64,
    /// Limits on X within which no cell is refused.
    pub limits: Limits<u64>,
    /// Whether the policy needs the idle time of the port.
    pub asks_idle_time: bool,
}

impl ClassQueue {
    /// All waiting cells.
    pub fn runs(&self) -> impl Iterator<Item = &QueuedCells> {
        let per_vc = self.per_vc.iter().flat_map(VcQueue::runs);
        self.cells.iter().chain(per_vc)
    }

    /// Adds `n` cells to Y_i of VC `local`, and updates N_a.
    pub fn count_in(&mut self, local: usize, n: u64) {
        self.active += u64::from(self.of_vc[local] == 0);
        self.of_vc[local] += n;
    }

    /// Removes `n` cells from Y_i of VC `local`, and updates N_a.
    pub fn count_out(&mut self, local: usize, n: u64) {
        self.of_vc[local] -= n;
        self.active -= u64::from(self.of_vc[local] == 0);
    }

    /// Appends cells, merging single cells into the last run. Used only if arrival numbers are
    /// not kept.
    /// `c` is the cell time of the runs; with 0 nothing merges.
    #[inline(always)]
    pub fn push(&mut self, cells: QueuedCells, c: Span) {
        if cells.is_single()
            && c > Span::ZERO
            && let Some(last) = self.cells.back_mut()
            && last.join(&cells, c)
        {
            return;
        }
        self.cells.push_back(cells);
    }

    /// Takes the first cell; the cells of a run arrived `c` apart.
    pub fn pop_front(&mut self, c: Span) -> QueuedCells {
        self.take_front(1, c)
    }

    /// Takes up to `most` cells of the first run; the cells of a run arrived `c` apart.
    #[inline(always)]
    pub fn take_front(&mut self, most: u64, c: Span) -> QueuedCells {
        let first = self.cells.front_mut().expect("the class has a cell");
        let cells = if u64::from(first.n()) <= most {
            let all = *first;
            self.cells.pop_front();
            all
        } else {
            first.split(most as u32, c)
        };
        if !self.numbers.is_empty() {
            self.numbers.pop_front();
        }
        cells
    }

    /// Moves all cells of the frame at the front, in order, into `taken`.
    /// With `spares_eom` its EOM stays, unless it is the first cell itself. Policies that push out
    /// frames are asked about every cell, so each cell of the frame is a separate run.
    pub fn take_front_frame(&mut self, spares_eom: bool, c: Span, taken: &mut Vec<QueuedCells>) {
        let before = taken.len();
        let first = *self.cells.front().expect("the class has a cell");
        if first.is_single() {
            return taken.push(self.pop_front(c));
        }
        let is_of_it = |cells: &QueuedCells| cells.hop == first.hop && cells.frame == first.frame;
        // No cell of the frame stands behind its EOM, or behind a later frame of the same flow.
        let is_last = |cells: &QueuedCells| {
            cells.hop == first.hop && (cells.frame != first.frame || cells.ends_frame())
        };
        let end = self.cells.iter().position(is_last);
        let end = end.map_or(self.cells.len(), |last| last + 1);
        // Cells that stay move back, so that the gap is at the front.
        let mut to = end;
        for from in (0..end).rev() {
            let cell = self.cells[from];
            let spared = spares_eom && from > 0 && cell.ends_frame();
            if is_of_it(&cell) && !spared {
                debug_assert_eq!(cell.n(), 1, "each was put to the policy");
                taken.push(cell);
                continue;
            }
            to -= 1;
            self.cells[to] = cell;
            if !self.numbers.is_empty() {
                self.numbers[to] = self.numbers[from];
            }
        }
        taken[before..].reverse();
        self.cells.drain(..to);
        if !self.numbers.is_empty() {
            self.numbers.drain(..to);
        }
    }
}

impl Queues for [ClassQueue; CLASSES] {
    #[inline]
    fn oldest(&self, class: usize) -> u64 {
        self[class].numbers.front().copied().unwrap_or(u64::MAX)
    }

    #[inline]
    fn front(&self, class: usize, vc: usize) -> (u64, bool) {
        let first = self[class].per_vc[vc].first();
        (first.of_one_frame().into(), first.ends_frame())
    }

    #[inline]
    fn bytes(&self, class: usize, vc: usize) -> u64 {
        self[class].per_vc[vc].first().cell.bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::units::Time;
    use crate::network::cells::{ENDS_FRAME, Run, SINGLE_CELLS};

    /// Builds a queue of numbered cells, each given by hop, frame, number in the frame, and flags.
    fn queue(cells: &[(u32, u32, u32, u8)]) -> ClassQueue {
        let mut queue = ClassQueue::default();
        for (number, &(hop, frame, cell, flags)) in (0..).zip(cells) {
            let run = Run {
                time: Time(100 * number),
                hop,
                frame,
                cell: cell.into(),
                n: 1,
                flags,
                ..Run::default()
            };
            queue.cells.push_back(QueuedCells::first_of(&run, 1));
            queue.numbers.push_back(number);
        }
        queue
    }

    /// Cells taken and cells left, each as hop, frame and number; then the arrival numbers left.
    type Found = (Vec<(u32, u32, u32)>, Vec<(u32, u32, u32)>, Vec<u64>);

    fn take(mut queue: ClassQueue, spares_eom: bool) -> Found {
        let mut taken = Vec::new();
        queue.take_front_frame(spares_eom, Span(10), &mut taken);
        let identity = |cell: &QueuedCells| (cell.hop, cell.frame, cell.cell.number());
        let left = queue.cells.iter().map(identity).collect();
        (
            taken.iter().map(identity).collect(),
            left,
            queue.numbers.into_iter().collect(),
        )
    }

    #[test]
    fn the_frame_at_the_front_goes_and_the_cells_between_stay() {
        let cells = [
            (0, 7, 3, 0),
            (1, 7, 0, 0),
            (0, 7, 4, 0),
            (0, 7, 5, ENDS_FRAME),
            (1, 7, 1, ENDS_FRAME),
            (0, 8, 0, 0),
        ];
        let (taken, left, numbers) = take(queue(&cells), false);
        assert_eq!(taken, [(0, 7, 3), (0, 7, 4), (0, 7, 5)]);
        assert_eq!(left, [(1, 7, 0), (1, 7, 1), (0, 8, 0)]);
        assert_eq!(numbers, [1, 4, 5]);
        let (taken, left, numbers) = take(queue(&cells), true);
        assert_eq!(taken, [(0, 7, 3), (0, 7, 4)]);
        assert_eq!(left, [(1, 7, 0), (0, 7, 5), (1, 7, 1), (0, 8, 0)]);
        assert_eq!(numbers, [1, 3, 4, 5]);
    }

    #[test]
    fn a_frame_without_an_eom_ends_where_another_begins_or_the_queue_does() {
        let cells = [
            (0, 7, 0, 0),
            (0, 7, 1, 0),
            (1, 7, 0, 0),
            (0, 8, 0, ENDS_FRAME),
        ];
        let (taken, left, _) = take(queue(&cells), true);
        assert_eq!(taken, [(0, 7, 0), (0, 7, 1)]);
        assert_eq!(left, [(1, 7, 0), (0, 8, 0)]);
        let (taken, left, _) = take(queue(&cells[..3]), true);
        assert_eq!((taken.len(), left), (2, vec![(1, 7, 0)]));
    }

    #[test]
    fn an_eom_at_the_front_is_not_spared_and_single_cells_go_alone() {
        let cells = [(0, 7, 5, ENDS_FRAME), (0, 8, 0, 0)];
        let (taken, left, numbers) = take(queue(&cells), true);
        assert_eq!((taken, left), (vec![(0, 7, 5)], vec![(0, 8, 0)]));
        assert_eq!(numbers, [1]);
        let single = [(0, 7, 0, ENDS_FRAME | SINGLE_CELLS), (1, 0, 0, 0)];
        let (taken, left, _) = take(queue(&single), true);
        assert_eq!((taken, left), (vec![(0, 7, 0)], vec![(1, 0, 0)]));
    }
}
