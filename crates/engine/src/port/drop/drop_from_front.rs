//! Drop from front, by cells and by frames: a cell that finds the buffer full is taken, and what is
//! at the front of the queue is dropped instead.
//!
//! Push out the front cell, or all waiting cells of its frame, until X + p <= K  <=>  X + p > K
//!   X  places taken in the class queue      K  buffer size [places]
//!   p  places of the arriving cell; with p > K nothing is pushed out
//! Decided cell by cell, for every cell. A frame that loses a waiting cell while its others are
//! still arriving is damaged: `rest_of_frame` decides about those. The sender learns of the loss a
//! queueing delay earlier than under tail drop.
//! By frames: the cells of the frame may stand anywhere in the queue. With `rest_of_frame` =
//! `drop-but-eom`, the default there, a waiting EOM of the frame is spared unless it is the front
//! cell.
//! Source: Lakshman, Neidhardt and Ott, "The drop from front strategy in TCP and in TCP over ATM",
//! IEEE Infocom 1996, whose plain form drops single cells; `cell-discard`, section 2, for variants
//! by cell and by frame.
//! Not said there, chosen here, by frames: what has been sent of the frame stays sent. The EOM is
//! spared so that it ends what was sent, which would otherwise take the next frame with it in
//! reassembly. The arriving cell is taken even if it belongs to the dropped frame.
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
    /// What happens to the front of a full queue.
    push_out: Decision,
}

impl DropFromFront {
    /// Creates the policy that drops the front cell of a buffer of `buffer` places.
    pub fn cell(buffer: Option<u64>) -> DropFromFront {
        let push_out = Decision::PushOut;
        DropFromFront { buffer, push_out }
    }

    /// Creates the policy that drops the front frame of a buffer of `buffer` places.
    pub fn frame(buffer: Option<u64>) -> DropFromFront {
        let push_out = Decision::PushOutFrame;
        DropFromFront { buffer, push_out }
    }
}

impl DropRule for DropFromFront {
    fn needs(&self) -> Needs {
        Needs {
            stored_cells: true,
            ..Needs::EVERY_CELL
        }
    }

    /// Pushes out if X + p > K.
    fn admit(&mut self, _now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        match self.buffer {
            Some(k) if queue.waiting + u64::from(cell.places) > k => self.push_out,
            _ => Decision::Accept,
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
        let pairs = [
            (DropFromFront::cell as fn(_) -> _, Decision::PushOut),
            (DropFromFront::frame, Decision::PushOutFrame),
        ];
        for (of, push_out) in pairs {
            let admits = |buffer, waiting| {
                of(buffer).admit(Time::ZERO, &cell(0, false, false), &queue(waiting, 0, 0))
            };
            assert_eq!(admits(Some(10), 9), Decision::Accept);
            assert_eq!(admits(Some(10), 10), push_out);
            assert_eq!(admits(None, u64::MAX), Decision::Accept);
        }
    }
}
