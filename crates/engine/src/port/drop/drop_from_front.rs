//! Drop from front: a cell that finds the buffer full is taken, and the front cell of the queue is
//! dropped instead.
//!
//! Push out the front cell  <=>  X >= K
//!   X  cells waiting in the class queue      K  buffer size [cells]
//! Decided cell by cell, for every cell. A frame that loses a waiting cell while its others are
//! still arriving is damaged: `rest_of_frame` decides about those. The sender learns of the loss a
//! queueing delay earlier than under tail drop.
//! Source: Lakshman, Neidhardt and Ott, "The drop from front strategy in TCP and in TCP over ATM",
//! IEEE Infocom 1996; the plain form, which drops single cells.
//! Limits: no protection of one VC against another; one queue per class, not one per VC. The front
//! cell most often belongs to the frame that is being sent. So while a greedy source overflows the
//! buffer, every frame may lose cells, where EPD refuses about every second one. The first loss is
//! still seen sooner.

use super::{Arriving, Decision, DropRule, Needs, QueueView};
use crate::ground::units::Time;

/// Drop from front for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct DropFromFront {
    /// K; `None`: unlimited.
    buffer: Option<u64>,
}

impl DropFromFront {
    /// Creates the policy for a buffer of `buffer` cells.
    pub fn new(buffer: Option<u64>) -> DropFromFront {
        DropFromFront { buffer }
    }
}

impl DropRule for DropFromFront {
    fn needs(&self) -> Needs {
        Needs {
            every_cell: true,
            stored_cells: true,
            ..Needs::default()
        }
    }

    /// Pushes out if X >= K.
    fn admit(&mut self, _now: Time, _cell: &Arriving, queue: &QueueView) -> Decision {
        if self.buffer.is_some_and(|k| queue.waiting >= k) {
            Decision::PushOut
        } else {
            Decision::Accept
        }
    }

    /// There is no such X: every arriving cell comes in.
    fn smallest_refusal(&self) -> u64 {
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, queue};
    use super::*;

    fn admits(buffer: Option<u64>, waiting: u64) -> Decision {
        DropFromFront::new(buffer).admit(Time::ZERO, &cell(0, false, false), &queue(waiting, 0, 0))
    }

    #[test]
    fn pushes_out_when_the_buffer_is_full_only() {
        assert_eq!(admits(Some(10), 9), Decision::Accept);
        assert_eq!(admits(Some(10), 10), Decision::PushOut);
        assert_eq!(admits(None, u64::MAX), Decision::Accept);
    }
}
