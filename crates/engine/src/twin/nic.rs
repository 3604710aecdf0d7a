//! The queue of a NIC (model section 5): first come, first served, unlimited.

use super::Cell;
use crate::flow::FlowId;
use crate::format::FrameSize;
use crate::units::Time;
use std::collections::VecDeque;

/// Waiting cells.
#[derive(Default)]
pub(super) struct Nic {
    cells: VecDeque<Cell>,
}

impl Nic {
    /// Number of waiting cells.
    pub(super) fn cells(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Queues a frame.
    pub(super) fn push(&mut self, flow: FlowId, is_data: bool, frame: u32, size: FrameSize) {
        self.cells.extend((0..size.cells()).map(|index| Cell {
            flow,
            is_data,
            frame,
            index,
            eom: index + 1 == size.cells(),
            is_rm: false,
            tagged: false,
            bytes: size.cell_bytes(),
            left_source: Time::NEVER,
        }));
    }

    /// Queues one cell.
    pub(super) fn push_cell(&mut self, cell: Cell) {
        self.cells.push_back(cell);
    }

    /// Waiting cells, in order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter()
    }

    /// Removes and returns the next cell.
    pub(super) fn pop(&mut self) -> Option<Cell> {
        self.cells.pop_front()
    }
}
