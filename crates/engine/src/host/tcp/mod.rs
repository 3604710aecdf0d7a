//! TCP as a pure state machine: told the time and what arrived, it says what to send and when it
//! wants to be called again. It owns no clock, queue or random stream. Sequence numbers are byte
//! offsets from 0; a SYN and the end of a connection that another follows take one each.
//!
//! | file | content |
//! |---|---|
//! | `sender`, `core` | window, sending, go-back-N, timer: what all recoveries share |
//! | `loss_recovery` | what each loss recovery must answer |
//! | `recovery/` | one loss recovery each, and the list of them |
//! | `scoreboard` | what a SACK sender knows of the receiver's buffer |
//! | `receiver` | reassembly, ACKs, SACK blocks, delayed ACKs |
//! | `rtt`, `grid` | retransmission timeout, the ticks it is counted in |
//!
//! Another recovery is a file in `recovery/` with an implementation of `LossRecovery`, its lines in `recovery/mod.rs`, and its name
//! in `scenario::model::Recovery`.

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

pub use receiver::{News, Receiver};
pub use sender::Sender;

use crate::units::Time;

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First byte, counted from 0.
    pub seq: u64,
    /// Bytes of data; none in a SYN, whose number is before the first byte, and in the ACK that follows it ([`OPENED`]).
    pub len: u32,
    /// Whether any of these bytes was sent before.
    pub retransmission: bool,
}

/// In place of the first byte, in the ACK with which a connection is open.
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
    /// How many of `blocks` are used.
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

/// When a pure component next wants to be called, `Time::NEVER` for not at all.
pub type Deadline = Time;
