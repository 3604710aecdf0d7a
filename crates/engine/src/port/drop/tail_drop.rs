//! Tail drop: refuse a cell when the buffer is full.
//!
//! Drop a cell  <=>  X >= K
//!   X  cells waiting in the class queue      K  buffer size [cells]
//! The class queue itself decides cell by cell, for every policy. This policy adds nothing, so a
//! frame may lose some cells while its others waste room.
//! Source: `ubr-plus`, section 4.
//! Not said there, chosen here: the rest of a damaged frame is taken while there is room
//! (`rest_of_frame`, default `accept`).
//! Limits: after a lost cell the rest of the frame stays in the queue, where it takes room and is
//! of no use.

use super::DropRule;

/// Tail drop for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct TailDrop;

impl DropRule for TailDrop {
    /// There is no such X: this policy refuses nothing, only the full buffer does.
    fn smallest_refusal(&self) -> u64 {
        u64::MAX
    }
}
