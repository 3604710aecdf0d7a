//! TCP as a pure state machine. Given the time and the arrivals, it returns what to send and when
//! to call it again.
//!
//! The machine owns no clock, queue or random stream. Sequence numbers are byte offsets from 0. A
//! SYN, and the end of a connection that another one follows, take one number each.
//!
//! * `sender`, `core`: parts shared by all recoveries (window, sending, go-back-N, timer).
//! * `loss_recovery`: interface of a loss recovery.
//! * `recovery/`: the loss recoveries, one file each, and the list of them.
//! * `scoreboard`: a SACK sender's view of the receiver's buffer.
//! * `receiver`: reassembly, ACKs, SACK blocks, delayed ACKs.
//! * `rtt`, `grid`: retransmission timeout, and the ticks that count it.
//!
//! To add a recovery, implement `LossRecovery` in a new file in `recovery/`, list it in
//! `recovery/mod.rs`, and name it in `scenario::model::Recovery`.

mod core;
#[cfg(test)]
mod files;
mod grid;
mod loss_recovery;
#[cfg(test)]
mod losses;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod sender;
#[cfg(test)]
mod testing;

pub use receiver::{Receiver, SegmentOutcome};
pub use sender::Sender;

use crate::ground::units::Time;

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First byte, counted from 0.
    pub seq: u64,
    /// Bytes of data. Zero for a SYN, whose number is just before the first byte, and for the ACK
    /// after it ([`OPENED`]).
    pub len: u32,
    /// Whether any of these bytes was sent before.
    pub retransmission: bool,
}

/// Stands for the first byte in the ACK that completes a handshake.
pub const OPENED: u64 = u64::MAX;

/// Half-open byte range [start, end) that the receiver holds beyond the cumulative ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// Most SACK blocks that fit in an ACK (RFC 2018 section 3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Ack {
    /// Next byte expected.
    pub ack: u64,
    /// Number of `blocks` in use.
    pub n_blocks: u8,
    /// SACK blocks, the most recent first.
    pub blocks: [SackBlock; MAX_SACK_BLOCKS],
}

impl Ack {
    /// The SACK blocks carried.
    pub fn sack(&self) -> &[SackBlock] {
        &self.blocks[..self.n_blocks as usize]
    }
}

/// When a pure component must be called next; `Time::NEVER` for never.
pub type Deadline = Time;
