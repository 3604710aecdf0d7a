//! Cell-RED: random early detection that drops single cells without regard to frames.
//!
//! Drop a cell <=> draw < p (`red.rs`), with `max_p` divided by the cells of one segment.
//! The frame of the cell is damaged: `rest_of_frame` decides about its other cells.
//! Source: Elloumi and Afifi, RED algorithm in ATM networks, IEEE ATM Workshop 1997; only its
//! abstract was at hand. It proposes and compares a cell based and a packet based RED.
//! `cell-discard`, section 2.3, calls the former inefficient.
//! Not said there, chosen here: average, curve, draws and the division of `max_p` are those of
//! `atm-red`. Cells dropped by a policer or as the rest of a damaged frame are not decided on. A
//! cell that finds the buffer full is decided on: RED decides about each arrival.
//! Limits: each drop costs a frame, but frees the room of one cell unless `rest_of_frame` drops the
//! rest.

use super::red::Red;
use super::{Arriving, AskedRuns, Decision, DropRule, Needs, QueueView};
use crate::ground::units::Time;
use crate::network::tally::DropReason;
use crate::text::scenario::RedParams;

/// Cell-RED for one class queue.
#[derive(Clone, Debug)]
pub struct CellRed {
    red: Red,
}

impl CellRed {
    /// Creates the policy for a buffer of `buffer` cells.
    pub fn new(params: &RedParams, buffer: Option<u64>) -> CellRed {
        CellRed {
            red: Red::new(params, buffer),
        }
    }
}

impl DropRule for CellRed {
    fn needs(&self) -> Needs {
        self.red.needs()
    }

    fn admit(&mut self, _now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        self.red.sees(cell, queue.waiting);
        if cell.lost {
            return Decision::Accept;
        }
        let p = self.red.probability();
        if self.red.marks(p, cell.draws) {
            Decision::RefuseAlone(DropReason::Policy)
        } else {
            Decision::Accept
        }
    }

    fn admits_all(&mut self, cells: &AskedRuns) -> bool {
        self.red.passes_all(cells, cells.runs.len() as u64)
    }

    fn red(&self) -> Option<&Red> {
        Some(&self.red)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, queue, red};
    use super::*;

    fn admits(policy: &mut CellRed, waiting: u64, lost: bool) -> Decision {
        let cell = Arriving {
            lost,
            ..cell(0, true, false)
        };
        policy.admit(Time::ZERO, &cell, &queue(waiting, 0, 0))
    }

    #[test]
    fn a_cell_is_dropped_alone() {
        let mut policy = CellRed::new(&red(1, 1), Some(40));
        let alone = Decision::RefuseAlone(DropReason::Policy);
        assert_eq!(admits(&mut policy, 40, false), alone);
        assert_eq!(admits(&mut policy, 9, false), Decision::Accept);
        // The cell is lost anyway, but the average includes it.
        assert_eq!(admits(&mut policy, 40, true), Decision::Accept);
        assert_eq!(policy.average(), Some(40.0));
    }

    // p = 0.4 / 8 / 2 = 0.025; the standard deviation of 10 000 random draws is 15.6.
    #[test]
    fn between_the_thresholds_cells_are_dropped_at_random() {
        let mut policy = CellRed::new(&red(1, 1), Some(40));
        let decisions = (0..10_000).map(|_| admits(&mut policy, 20, false));
        let dropped = decisions.filter(|&d| d != Decision::Accept).count();
        assert!(dropped.abs_diff(250) < 78, "{dropped}");
    }
}
