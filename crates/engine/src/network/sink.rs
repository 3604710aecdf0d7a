//! Receiving ends of flows at their destination hosts.

use crate::ground::delays::{DelayBins, DelaySums, Waits};
use crate::ground::flow::FlowId;
use crate::ground::format::FrameSize;
use crate::ground::reassembly::Reassembly;
use crate::ground::units::{Span, Time};
use crate::network::cells::{Arrival, ENDS_FRAME, Run, precedes};
use std::collections::VecDeque;

/// Destinations of cells after the last port: the single place that handles cells reaching a host.
#[derive(Debug, Default)]
pub struct Destinations {
    /// Receiving ends, by flow.
    pub sinks: Vec<Sink>,
    /// Complete frames that have reached their host, in the order of discovery.
    pub arrivals: Vec<Arrival>,
}

impl Destinations {
    /// Receiving end of a flow.
    pub fn sink(&mut self, flow: FlowId) -> &mut Sink {
        &mut self.sinks[flow.index()]
    }

    /// Delivers the first `n` cells of `run` to the host of `flow`, the last of them at `last`.
    ///
    /// `ages` are those of data cells within the measuring time. Listed ages must already be in the
    /// bins of the sink.
    #[inline(always)]
    pub fn deliver(&mut self, flow: FlowId, run: &Run, n: u32, ages: Option<Waits>, last: Time) {
        let sink = &mut self.sinks[flow.index()];
        let cells = u64::from(n);
        sink.cells += cells;
        if let Some(ages) = ages {
            sink.delay.add(ages, cells);
            match ages {
                Waits::Equal(age) => sink.bins.add(age, cells),
                Waits::Series { first, step } => sink.bins.add_series(first, step, cells),
                Waits::Listed { .. } => {}
            }
        }
        if run.is_single() {
            sink.frames.complete += cells;
        } else if sink.take(run.frame, n, run.flags_of_first(n) & ENDS_FRAME != 0) {
            self.arrivals.push(Arrival {
                flow,
                frame: run.frame,
                time: last,
            });
        }
    }
}

/// The receiving end of one flow: reassembly and counters. Fields needed for every cell fill the
/// first cache line, fields for frames the next.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Sink {
    /// Transfer delays within the measuring time, data only.
    pub delay: DelaySums,
    /// Distribution of these delays.
    pub bins: DelayBins,
    /// Cells that arrived before the end.
    pub cells: u64,
    /// The frame being collected.
    reassembly: Reassembly,
    frames: Frames,
}

/// Frames of a flow, sent and received.
#[derive(Clone, Debug, Default)]
struct Frames {
    /// A full frame.
    full: FrameSize,
    /// Frames of another size, with their numbers, which ascend.
    odd: VecDeque<(u32, FrameSize)>,
    /// Complete frames that arrived before the end.
    complete: u64,
    /// Incomplete frames.
    damaged: u64,
    /// Cells of a data flow that arrived outside the measuring time.
    not_measured: u64,
}

impl Sink {
    /// The receiving end of a flow with these full frames.
    pub fn new(full: FrameSize) -> Sink {
        let frames = Frames {
            full,
            ..Frames::default()
        };
        Sink {
            frames,
            ..Sink::default()
        }
    }

    /// Announces that frame `frame` will be sent with this size.
    #[inline]
    pub fn expect(&mut self, frame: u32, size: FrameSize) {
        if size != self.frames.full {
            self.frames.odd.push_back((frame, size));
        }
    }

    /// Takes `n` cells of `frame`, the last of them an EOM if `ends`. True if this completes a good
    /// frame.
    #[inline(always)]
    fn take(&mut self, frame: u32, n: u32, ends: bool) -> bool {
        self.reassembly.take(frame, n);
        if !ends {
            return false;
        }
        let frames = &mut self.frames;
        let passed = |odd: &(u32, FrameSize)| precedes(odd.0, frame);
        while frames.odd.front().is_some_and(passed) {
            frames.odd.pop_front();
        }
        // The first remaining entry is for this frame, if its size differs.
        let found = frames.odd.front().filter(|&&(odd, _)| odd == frame);
        let good = self
            .reassembly
            .end(found.map_or(frames.full, |&(_, size)| size).cells());
        if good {
            frames.complete += 1
        } else {
            frames.damaged += 1
        }
        good
    }

    /// Counts `cells` data cells of this age, and `others` that arrive outside the measuring time.
    #[cold]
    pub fn measure_in_part(&mut self, age: Span, cells: u64, others: u64) {
        if cells > 0 {
            self.delay.add(Waits::Equal(age), cells);
            self.bins.add(age, cells);
        }
        self.frames.not_measured += others;
    }

    /// Size of `frame`, which must have been sent and not yet followed by a later frame.
    pub fn size_of(&self, frame: u32) -> FrameSize {
        self.frames.size_of(frame)
    }

    /// Complete frames that arrived before the end.
    pub fn frames(&self) -> u64 {
        self.frames.complete
    }

    /// Incomplete frames.
    pub fn damaged(&self) -> u64 {
        self.frames.damaged
    }

    /// Cells of a data flow that arrived within the measuring time.
    pub fn measured_cells(&self) -> u64 {
        self.cells - self.frames.not_measured
    }
}

impl Frames {
    fn size_of(&self, frame: u32) -> FrameSize {
        if self.odd.is_empty() {
            return self.full;
        }
        let before = self.odd.partition_point(|&(odd, _)| precedes(odd, frame));
        let found = self.odd.get(before).filter(|&&(odd, _)| odd == frame);
        found.map_or(self.full, |&(_, size)| size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::format::Format;

    // The number of frames is that of data and ACKs of one flow on a long path. A linear search per
    // frame would take minutes.
    #[test]
    fn frames_of_other_sizes_are_found_among_many_under_way() {
        let n = 400_000u32;
        let first = u32::MAX - n / 2;
        let cells = |i: u32| if i.is_multiple_of(3) { 12 } else { 2 + i % 2 };
        let size = |cells: u32| Format::AAL5.segment(u64::from(48 * cells) - 56);
        let mut sink = Sink::new(size(12));
        for i in 0..n {
            sink.expect(first.wrapping_add(i), size(cells(i)));
        }
        for i in 0..n {
            let frame = first.wrapping_add(i);
            assert_eq!(sink.size_of(frame), size(cells(i)));
            // Every fifth frame loses its EOM, and the next frame is merged with it.
            let lost = i % 5 == 0;
            let after_lost = i % 5 == 1;
            assert_eq!(sink.take(frame, cells(i), !lost), !lost && !after_lost);
        }
        assert_eq!(sink.frames() + sink.damaged(), u64::from(n - n / 5));
        assert!(sink.frames.odd.is_empty());
    }
}
