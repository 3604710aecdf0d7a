//! Drop from front, frame by frame: a cell that finds the buffer full is taken, and the front
//! frame's waiting cells are dropped instead.
//!
//! Push out all waiting cells of the front cell's frame  <=>  X >= K
//!   X  cells waiting in the class queue      K  buffer size [cells]
//! Decided cell by cell, for every cell. The cells of the frame may stand anywhere in the queue.
//! With `rest_of_frame` = `drop-but-eom`, the default here, a waiting EOM of the frame is spared
//! unless it is the front cell. A frame that is still arriving is damaged: `rest_of_frame` decides
//! about its later cells.
//! Source: Lakshman, Neidhardt and Ott, "The drop from front strategy in TCP and in TCP over ATM",
//! IEEE Infocom 1996, for the place; `cell-discard`, section 2, for variants by cell and by frame.
//! Not said there, chosen here: what has been sent of the frame stays sent. The EOM is spared so
//! that it ends what was sent, which would otherwise take the next frame with it in reassembly. The
//! arriving cell is taken even if it belongs to the dropped frame.
//! Limits: no protection of one VC against another; one queue per class, not one per VC. The front
//! frame is most often the one that is being sent. So while a greedy source overflows the buffer,
//! every frame may lose cells, where EPD refuses about every second one. The first loss is still
//! seen sooner.

use super::{Arriving, Decision, DropRule, Needs, QueueView};
use crate::ground::units::Time;

/// Drop from front by frames for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameDropFromFront {
    /// K; `None`: unlimited.
    buffer: Option<u64>,
}

impl FrameDropFromFront {
    /// Creates the policy for a buffer of `buffer` cells.
    pub fn new(buffer: Option<u64>) -> FrameDropFromFront {
        FrameDropFromFront { buffer }
    }
}

impl DropRule for FrameDropFromFront {
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
            Decision::PushOutFrame
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

    #[test]
    fn pushes_out_when_the_buffer_is_full_only() {
        let admits = |buffer, waiting| {
            FrameDropFromFront::new(buffer).admit(
                Time::ZERO,
                &cell(0, false, false),
                &queue(waiting, 0, 0),
            )
        };
        assert_eq!(admits(Some(10), 9), Decision::Accept);
        assert_eq!(admits(Some(10), 10), Decision::PushOutFrame);
        assert_eq!(admits(None, u64::MAX), Decision::Accept);
    }
}
