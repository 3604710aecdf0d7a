//! Reassembly of frames at a host (model section 4).

use super::Cell;

/// The cells of one flow since the last EOM.
#[derive(Clone, Default)]
pub(super) struct Reassembly {
    cells: Vec<Cell>,
}

impl Reassembly {
    /// Takes a cell. At an EOM, returns whether the collected cells are exactly one frame of
    /// `cells_of_frame` cells.
    pub(super) fn take(&mut self, cell: Cell, cells_of_frame: u32) -> Option<bool> {
        self.cells.push(cell);
        if !cell.eom {
            return None;
        }
        let collected = self.cells.drain(..).map(|c| (c.frame, c.index));
        Some(collected.eq((0..cells_of_frame).map(|index| (cell.frame, index))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::flow::FlowId;
    use crate::ground::units::Time;

    /// Verdicts at the EOMs of cells (frame, index) of frames with three cells.
    fn judged(cells: &[(u32, u32)]) -> Vec<bool> {
        let mut reassembly = Reassembly::default();
        let taken = cells.iter().filter_map(|&(frame, index)| {
            let cell = Cell {
                flow: FlowId(0),
                is_data: true,
                frame,
                index,
                eom: index == 2,
                is_rm: false,
                tagged: false,
                bytes: 53,
                left_source: Time::ZERO,
            };
            reassembly.take(cell, 3)
        });
        taken.collect()
    }

    #[test]
    fn complete_frames_are_good() {
        assert_eq!(
            judged(&[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]),
            [true, true]
        );
    }

    #[test]
    fn any_missing_cell_costs_its_frame_only() {
        assert_eq!(
            judged(&[(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]),
            [false, true]
        );
        assert_eq!(judged(&[(0, 2), (2, 0), (2, 1), (2, 2)]), [false, true]);
    }

    #[test]
    fn lost_eom_costs_two_frames() {
        assert_eq!(
            judged(&[
                (0, 0),
                (0, 1),
                (1, 0),
                (1, 1),
                (1, 2),
                (2, 0),
                (2, 1),
                (2, 2)
            ]),
            [false, true]
        );
    }
}
