//! Processing stages (model section 8): delays of switches, hosts and transports that keep the order of what passes.

use crate::rng::Stream;
use crate::scenario::{Processing, ProcessingKind, ProcessingUnit};
use crate::units::{Span, Time};

/// Draw number `number` of a processing time.
fn time_of(delay: &Processing, stream: Stream, number: u64) -> Span {
    let spread = delay.spread.0;
    if spread == 0 {
        delay.mean
    } else {
        Span(delay.mean.0 - spread + stream.below(number, 2 * spread + 1))
    }
}

/// Whether all that passes is delayed alike, so that it is part of a latency.
pub fn is_constant(p: &Processing) -> bool {
    p.kind == ProcessingKind::Latency && p.spread == Span::ZERO
}

/// A switch's stage behind one input link, when its delay is not constant.
#[derive(Debug)]
pub struct SwitchStage {
    /// That link.
    pub link: usize,
    delay: Processing,
    /// By flow, of those that take the link: the draws.
    streams: Vec<Stream>,
    /// When the last cell left, if any did.
    last: Option<Time>,
    /// Likewise: the frame last seen.
    frames: Vec<Option<u32>>,
}

impl SwitchStage {
    /// An idle stage; `streams` by flow, of those that take the link.
    pub fn new(link: usize, delay: Processing, streams: Vec<Stream>) -> SwitchStage {
        SwitchStage {
            link,
            delay,
            frames: vec![None; streams.len()],
            streams,
            last: None,
        }
    }

    /// When a cell that arrives at `time` reaches the output port; `None` if the stage has more to do than time is told. `flow` is
    /// the number of its flow among those of the link. Cells must come in the order of the link.
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

/// The stage of a host or a transport: whole frames.
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

    /// When a frame that arrives at `time` leaves; `None` if the stage has more to do than time is told. `number` addresses the draw
    /// from `stream`.
    pub fn leaves(&mut self, time: Time, stream: Stream, number: u32) -> Option<Time> {
        if self.last > Time::LATEST {
            return None;
        }
        // The reader has a mean of at most 100 000 s and a spread of no more: a time of 550 000 s fits.
        let takes = time_of(&self.delay, stream, u64::from(number));
        self.last = match self.delay.kind {
            ProcessingKind::Server => time.max(self.last) + takes,
            ProcessingKind::Latency => (time + takes).max(self.last),
        };
        Some(self.last)
    }
}
