//! Tail drop: refuse a cell when the buffer is full.
//!
//! Drop a cell  <=>  X >= K
//!   X  cells waiting in the class queue      K  buffer size [cells]
//! Decided cell by cell, for every policy, by the class queue itself: this policy adds nothing, so a frame may
//! lose some cells and waste the room its other cells take.
//! Source: `ubr-plus`, section 4.
//! Not said there, chosen here: the rest of a damaged frame is taken while there is room
//! (`rest_of_frame`, default `accept`).
//! Limits: A lost cell leaves the rest of its frame in the queue, where it takes room and is of no
//! use.

use super::DropRule;

/// Tail drop: never refuses a whole frame.
#[derive(Clone, Debug, PartialEq)]
pub struct TailDrop;

impl DropRule for TailDrop {
    /// Never.
    fn smallest_refusal(&self) -> u64 {
        u64::MAX
    }
}
