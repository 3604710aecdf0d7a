//! A policy for tests of what a policy may do: it keeps state and is asked about every cell.

use super::{Arriving, Decision, DropRule, Needs, QueueView};
use crate::units::Time;

/// Refuses every third cell that it is asked about.
#[derive(Clone, Debug, Default)]
pub struct EveryThird {
    /// Cells so far.
    pub asked: u64,
    /// Of those, cells that were lost anyway.
    pub lost: u64,
}

impl DropRule for EveryThird {
    fn needs(&self) -> Needs {
        Needs {
            every_cell: true,
            ..Needs::default()
        }
    }

    fn admit(&mut self, _now: Time, cell: &Arriving, _queue: &QueueView) -> Decision {
        self.asked += 1;
        self.lost += u64::from(cell.lost);
        Decision::refuse_if(self.asked.is_multiple_of(3))
    }
}
