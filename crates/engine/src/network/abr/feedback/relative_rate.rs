//! Relative-rate marking: by the queue length, backward RM cells say that rates must fall or must
//! not rise.
//!
//!   CI = 1  <=>  X > high      NI = 1  <=>  X > low.
//!   X: cells of the class that waited at the end of the last interval
//!   low <= high: thresholds [cells]
//! ER is not limited, and neither mark is set before the first interval has ended.
//! Source: ATM Forum, Traffic Management 4.0, section 5.10.6: relative-rate marking of backward RM
//! cells.
//! Not said there, chosen here: two thresholds, without hysteresis; the queue is read once per
//! interval.
//! Limits: all VCs get the same marks, so those with more or longer hops get less.

use super::{FeedbackRule, Marks, Measured};

/// Relative-rate marking for one class queue.
#[derive(Clone, Debug)]
pub struct RelativeRate {
    high: u64,
    low: u64,
    /// X, cells.
    queue: u64,
}

impl RelativeRate {
    /// Creates the rule with both thresholds, in cells.
    pub fn new(high: u64, low: u64) -> RelativeRate {
        RelativeRate {
            high,
            low,
            queue: 0,
        }
    }
}

impl FeedbackRule for RelativeRate {
    fn end_of_interval(&mut self, measured: &Measured<'_>) {
        self.queue = measured.queue_cells;
    }

    fn forward(&mut self, _vc: usize, _ccr: f64) {}

    fn backward(&mut self, _vc: usize) -> Marks {
        Marks {
            er: f64::INFINITY,
            ci: self.queue > self.high,
            ni: self.queue > self.low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_follow_the_queue_at_the_end_of_the_interval() {
        let mut rule = RelativeRate::new(100, 40);
        for (queue_cells, ci, ni) in [
            (40, false, false),
            (41, false, true),
            (100, false, true),
            (101, true, true),
            (0, false, false),
        ] {
            rule.end_of_interval(&Measured {
                interval_s: 0.001,
                higher_cells: 0,
                arrived_cells: &[],
                queue_cells,
            });
            rule.forward(0, 1000.0);
            let er = f64::INFINITY;
            assert_eq!(rule.backward(0), Marks { er, ci, ni }, "{queue_cells}");
        }
    }

    #[test]
    fn before_the_first_interval_has_ended_nothing_is_marked() {
        assert_eq!(RelativeRate::new(0, 0).backward(3), Marks::NONE);
    }
}
