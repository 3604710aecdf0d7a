//! EFCI: data cells that pass a congested queue are marked, and their destination informs the
//! source (CI).
//!
//!   EFCI = 1  <=>  X > threshold.
//!   X: cells of the class that waited at the end of the last interval
//! ER is not limited, and no mark is set before the first interval has ended. Backward RM cells are
//! left alone.
//! Source: ATM Forum, Traffic Management 4.0, sections 5.10.5 (rules 1 and 2) and 5.10.6.
//! Simplified: the standard's destination remembers EFCI of the last data cell before a forward RM
//! cell. Here the mark is what a data cell in the place of that RM cell would carry. The two differ
//! where the queue crosses the threshold between them.
//! Limits: as relative-rate marking, and the mark goes the longer way over the destination.

use super::{FeedbackRule, Marks, Measured};

/// EFCI marking for one class queue.
#[derive(Clone, Debug)]
pub struct Efci {
    threshold: u64,
    /// X, cells.
    queue: u64,
}

impl Efci {
    /// Creates the rule with the threshold in cells.
    pub fn new(threshold: u64) -> Efci {
        Efci {
            threshold,
            queue: 0,
        }
    }
}

impl FeedbackRule for Efci {
    fn end_of_interval(&mut self, measured: &Measured<'_>) {
        self.queue = measured.queue_cells;
    }

    fn forward(&mut self, _vc: usize, _ccr: f64) {}

    fn backward(&mut self, _vc: usize) -> Marks {
        Marks::NONE
    }

    fn marks_data(&self) -> bool {
        self.queue > self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_marked_above_the_threshold_and_nothing_goes_back_directly() {
        let mut rule = Efci::new(100);
        assert!(!rule.marks_data());
        for (queue_cells, marks) in [(100, false), (101, true), (0, false)] {
            rule.end_of_interval(&Measured {
                interval_s: 0.001,
                higher_cells: 0,
                arrived_cells: &[],
                queue_cells,
            });
            assert_eq!(rule.marks_data(), marks, "{queue_cells}");
            assert_eq!(rule.backward(0), Marks::NONE);
        }
    }
}
