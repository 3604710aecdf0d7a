//! The queue of a NIC (model section 5): frames first come first served, without limit.

use super::Cell;
use crate::flow::FlowId;
use crate::units::Time;
use std::collections::VecDeque;

/// Frames that wait, the first of them perhaps without its first cells.
#[derive(Default)]
pub(super) struct Nic {
    frames: VecDeque<Queued>,
    cells: u64,
}

struct Queued {
    flow: FlowId,
    is_data: bool,
    frame: u32,
    next: u32,
    cells: u32,
}

impl Nic {
    /// Cells that wait.
    pub(super) fn cells(&self) -> u64 {
        self.cells
    }

    /// Queues a frame of so many cells.
    pub(super) fn push(&mut self, flow: FlowId, is_data: bool, frame: u32, cells: u32) {
        self.cells += u64::from(cells);
        self.frames.push_back(Queued {
            flow,
            is_data,
            frame,
            next: 0,
            cells,
        });
    }

    /// How many cells of which flow wait, by frame.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (FlowId, u64)> {
        let left = |frame: &Queued| u64::from(frame.cells - frame.next);
        self.frames
            .iter()
            .map(move |frame| (frame.flow, left(frame)))
    }

    /// Takes the cell that goes next.
    pub(super) fn pop(&mut self) -> Option<Cell> {
        let first = self.frames.front_mut()?;
        let cell = Cell {
            flow: first.flow,
            is_data: first.is_data,
            frame: first.frame,
            index: first.next,
            eom: first.next + 1 == first.cells,
            tagged: false,
            left_source: Time::NEVER,
        };
        first.next += 1;
        self.cells -= 1;
        if cell.eom {
            self.frames.pop_front();
        }
        Some(cell)
    }
}
