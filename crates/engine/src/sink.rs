//! What reaches the host at the end of a flow.

use crate::aal5::Reassembly;
use crate::cells::precedes;
use crate::tally::{DelayBins, DelayTally};
use std::collections::VecDeque;

/// The receiving end of one flow: reassembly and counters.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    /// The frame being collected.
    reassembly: Reassembly,
    /// Cells of a full frame.
    pub frame_cells: u32,
    /// Frames that differ: (frame, cells), ascending.
    odd_frames: VecDeque<(u32, u32)>,
    /// Cells that arrived before the end.
    pub cells: u64,
    /// Complete frames that arrived before the end.
    pub frames: u64,
    /// Incomplete ones.
    pub damaged: u64,
    /// Single cells that arrived within the measuring time.
    pub measured_cells: u64,
    /// Transfer delays within the measuring time, data only.
    pub delay: DelayTally,
    /// Their distribution.
    pub bins: DelayBins,
}

impl Sink {
    /// Of a flow whose full frames have `frame_cells` cells.
    pub fn new(frame_cells: u32) -> Sink {
        Sink {
            frame_cells,
            ..Sink::default()
        }
    }

    /// Notes that frame `frame` will be sent with so many cells.
    #[inline]
    pub fn expect(&mut self, frame: u32, cells: u32) {
        if cells != self.frame_cells {
            self.odd_frames.push_back((frame, cells));
        }
    }

    /// Takes `n` cells of `frame`, the last of them an EOM if `ends`; true when that completes a good frame.
    #[inline(always)]
    pub fn take(&mut self, frame: u32, n: u32, ends: bool) -> bool {
        self.reassembly.take(frame, n);
        if !ends {
            return false;
        }
        let passed = |odd: &(u32, u32)| precedes(odd.0, frame);
        while self.odd_frames.front().is_some_and(passed) {
            self.odd_frames.pop_front();
        }
        let good = self.reassembly.end(self.cells_of(frame));
        if good {
            self.frames += 1
        } else {
            self.damaged += 1
        }
        good
    }

    /// Cells of a frame that has been sent and not been passed by a later one.
    pub fn cells_of(&self, frame: u32) -> u32 {
        if self.odd_frames.is_empty() {
            return self.frame_cells;
        }
        let odd = self.odd_frames.iter().find(|&&(odd, _)| odd == frame);
        odd.map_or(self.frame_cells, |&(_, cells)| cells)
    }
}
