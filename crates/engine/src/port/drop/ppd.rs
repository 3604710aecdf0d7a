//! Partial packet discard: once a cell of a frame was lost, drop the rest of it, except the EOM.
//!
//! Drop a cell  <=>  X >= K, or an earlier cell of its frame was dropped and it is not the EOM.
//!   X: cells waiting in the class queue      K: buffer size [cells]
//! The EOM is kept, while there is room, so that the next frame does not merge with this one.
//! Source: Romanow and Floyd, "Dynamics of TCP traffic over ATM networks", IEEE JSAC 13(4), 1995, section 3.
//! This is tail drop with `rest_of_frame = drop-but-eom`; no frame is refused at its first cell.
//! Limits: the first cells of a damaged frame are carried for nothing; no protection of one VC
//! against another.

use super::DropRule;

/// Partial packet discard for one class queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Ppd;

impl DropRule for Ppd {
    /// There is no such X: this policy refuses nothing at the first cell of a frame.
    fn smallest_refusal(&self) -> u64 {
        u64::MAX
    }
}
