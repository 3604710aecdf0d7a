//! Processing stages (model section 8): delays in switches, hosts and transports that preserve
//! order.

use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::text::scenario::{Processing, ProcessingKind, ProcessingUnit};

/// Random processing time number `number` of `stream`.
fn time_of(delay: &Processing, stream: Stream, number: u64) -> Span {
    let spread = delay.spread.0;
    if spread == 0 {
        delay.mean
    } else {
        Span(delay.mean.0 - spread + stream.below(number, 2 * spread + 1))
    }
}

/// Processing stage of a switch behind one input link, with a delay that is not constant.
#[derive(Debug)]
pub struct SwitchStage {
    /// Index of the input link.
    pub link: usize,
    delay: Processing,
    /// Random draws, by flow among those of the link.
    streams: Vec<Stream>,
    /// Departure of the last cell; `None` before the first.
    last: Option<Time>,
    /// Latest frame, by flow among those of the link.
    frames: Vec<Option<u32>>,
}

impl SwitchStage {
    /// An idle stage; `streams` by flow among those of the link.
    pub fn new(link: usize, delay: Processing, streams: Vec<Stream>) -> SwitchStage {
        SwitchStage {
            link,
            delay,
            frames: vec![None; streams.len()],
            streams,
            last: None,
        }
    }

    /// When a cell that arrives at `time` reaches the output port. `None` if the backlog reaches
    /// beyond [`Time::LATEST`].
    ///
    /// `flow` is the number of the flow among those of the link. Cells must come in the order of
    /// the link.
    pub fn leaves(&mut self, time: Time, flow: usize, frame: u32, cell: u32) -> Option<Time> {
        if self.last > Some(Time::LATEST) {
            return None;
        }
        let seen = &mut self.frames[flow];
        let first_of_frame = *seen != Some(frame);
        *seen = Some(frame);
        let per_cell = self.delay.per == ProcessingUnit::Cell;
        let number = u64::from(frame)
            .wrapping_mul(1 << 12)
            .wrapping_add(if per_cell { u64::from(cell) } else { 0 });
        let takes = time_of(&self.delay, self.streams[flow], number);
        let earliest = self.last.map_or(Time::ZERO, |last| last + Span(1));
        let leaves = match self.delay.kind {
            ProcessingKind::Latency => time + takes,
            ProcessingKind::Server => {
                let pays = per_cell || first_of_frame;
                let takes = if pays { takes } else { Span::ZERO };
                time.max(self.last.unwrap_or(Time::ZERO)) + takes
            }
        }
        .max(earliest);
        self.last = Some(leaves);
        self.last
    }
}

/// Processing stage of a host or a transport, for whole frames.
#[derive(Clone, Debug)]
pub struct FrameStage {
    delay: Processing,
    last: Time,
}

impl FrameStage {
    /// An idle stage.
    pub fn new(delay: Processing) -> FrameStage {
        FrameStage {
            delay,
            last: Time::ZERO,
        }
    }

    /// When a frame that arrives at `time` leaves. `None` if the backlog reaches beyond
    /// [`Time::LATEST`]. `number` selects the draw from `stream`.
    pub fn leaves(&mut self, time: Time, stream: Stream, number: u32) -> Option<Time> {
        if self.last > Time::LATEST {
            return None;
        }
        // No overflow: the reader limits the mean to 100 000 s and the spread to the mean, so times
        // up to 550 000 s occur, and they fit.
        let takes = time_of(&self.delay, stream, u64::from(number));
        self.last = match self.delay.kind {
            ProcessingKind::Server => time.max(self.last) + takes,
            ProcessingKind::Latency => (time + takes).max(self.last),
        };
        Some(self.last)
    }
}
