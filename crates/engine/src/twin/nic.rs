//! The queue of a NIC (model section 5): first come, first served, unlimited.

use super::Cell;
use crate::ground::flow::FlowId;
use crate::ground::format::FrameSize;
use crate::ground::units::Time;
use std::collections::{BTreeMap, VecDeque};

/// Waiting cells.
#[derive(Default)]
pub(super) struct Nic {
    cells: VecDeque<Cell>,
    /// Number of these cells, by their bytes on the line.
    lengths: BTreeMap<u32, u64>,
}

impl Nic {
    /// Number of waiting cells.
    pub(super) fn cells(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Queues a frame.
    pub(super) fn push(&mut self, flow: FlowId, is_data: bool, frame: u32, size: FrameSize) {
        for index in 0..size.cells() {
            self.push_cell(Cell {
                flow,
                is_data,
                frame,
                index,
                eom: index + 1 == size.cells(),
                is_rm: false,
                tagged: false,
                bytes: size.cell_bytes(),
                left_source: Time::NEVER,
            });
        }
    }

    /// Queues one cell.
    pub(super) fn push_cell(&mut self, cell: Cell) {
        *self.lengths.entry(cell.bytes).or_default() += 1;
        self.cells.push_back(cell);
    }

    /// Numbers of waiting cells, by their bytes on the line.
    pub(super) fn lengths(&self) -> impl Iterator<Item = (u32, u64)> {
        self.lengths.iter().map(|(&bytes, &cells)| (bytes, cells))
    }

    /// Waiting cells, in order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter()
    }

    /// Removes and returns the next cell.
    pub(super) fn pop(&mut self) -> Option<Cell> {
        let cell = self.cells.pop_front()?;
        let of_length = self.lengths.get_mut(&cell.bytes);
        *of_length.expect("it was counted") -= 1;
        Some(cell)
    }
}
