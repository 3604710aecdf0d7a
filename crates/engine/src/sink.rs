//! What reaches the host at the end of a flow.

use crate::aal5::Reassembly;
use crate::cells::{Arrival, ENDS_FRAME, Run, precedes};
use crate::delays::{DelayBins, DelaySums, Waits};
use crate::flow::FlowId;
use crate::units::{Span, Time};
use std::collections::VecDeque;

/// Where cells go from the last port on their way: the one place that says what follows when some reach a host.
#[derive(Debug, Default)]
pub struct Destinations {
    /// By flow.
    pub sinks: Vec<Sink>,
    /// Good frames that have reached their host, in the order in which that became known.
    pub arrivals: Vec<Arrival>,
}

impl Destinations {
    /// The sink of a flow.
    pub fn sink(&mut self, flow: FlowId) -> &mut Sink {
        &mut self.sinks[flow.index()]
    }

    /// The first `n` cells of `run` reach the host of `flow`, the last of them at `last`. `ages` are those of data cells within the
    /// measuring time; ages that are listed stand in the bins of the sink already.
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

/// The receiving end of one flow: reassembly and counters. What every cell needs comes first and fills a cache line, what frames need
/// the next one.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Sink {
    /// Transfer delays within the measuring time, data only.
    pub delay: DelaySums,
    /// Their distribution.
    pub bins: DelayBins,
    /// Cells that arrived before the end.
    pub cells: u64,
    /// The frame being collected.
    reassembly: Reassembly,
    frames: Frames,
}

/// What is known of the frames of a flow.
#[derive(Clone, Debug, Default)]
struct Frames {
    /// Cells of a full frame.
    cells: u32,
    /// Frames that differ: (frame, cells), ascending.
    odd: VecDeque<(u32, u32)>,
    /// Complete frames that arrived before the end.
    complete: u64,
    /// Incomplete ones.
    damaged: u64,
    /// Cells of a data flow that arrived beyond the measuring time.
    not_measured: u64,
}

impl Sink {
    /// Of a flow whose full frames have `frame_cells` cells.
    pub fn new(frame_cells: u32) -> Sink {
        let frames = Frames {
            cells: frame_cells,
            ..Frames::default()
        };
        Sink {
            frames,
            ..Sink::default()
        }
    }

    /// Notes that frame `frame` will be sent with so many cells.
    #[inline]
    pub fn expect(&mut self, frame: u32, cells: u32) {
        if cells != self.frames.cells {
            self.frames.odd.push_back((frame, cells));
        }
    }

    /// Takes `n` cells of `frame`, the last of them an EOM if `ends`; true when that completes a good frame.
    #[inline(always)]
    fn take(&mut self, frame: u32, n: u32, ends: bool) -> bool {
        self.reassembly.take(frame, n);
        if !ends {
            return false;
        }
        let frames = &mut self.frames;
        let passed = |odd: &(u32, u32)| precedes(odd.0, frame);
        while frames.odd.front().is_some_and(passed) {
            frames.odd.pop_front();
        }
        // The first that is left is this one, if it differs.
        let own = frames.odd.front().filter(|&&(odd, _)| odd == frame);
        let good = self
            .reassembly
            .end(own.map_or(frames.cells, |&(_, cells)| cells));
        if good {
            frames.complete += 1
        } else {
            frames.damaged += 1
        }
        good
    }

    /// Counts `cells` of a data flow with this age, and `others` that arrive beyond the measuring time.
    #[cold]
    pub fn measure_in_part(&mut self, age: Span, cells: u64, others: u64) {
        if cells > 0 {
            self.delay.add(Waits::Equal(age), cells);
            self.bins.add(age, cells);
        }
        self.frames.not_measured += others;
    }

    /// Cells of a frame that has been sent and not been passed by a later one.
    pub fn cells_of(&self, frame: u32) -> u32 {
        self.frames.cells_of(frame)
    }

    /// Complete frames that arrived before the end.
    pub fn frames(&self) -> u64 {
        self.frames.complete
    }

    /// Incomplete ones.
    pub fn damaged(&self) -> u64 {
        self.frames.damaged
    }

    /// Cells of a data flow that arrived within the measuring time.
    pub fn measured_cells(&self) -> u64 {
        self.cells - self.frames.not_measured
    }
}

impl Frames {
    fn cells_of(&self, frame: u32) -> u32 {
        if self.odd.is_empty() {
            return self.cells;
        }
        let before = self.odd.partition_point(|&(odd, _)| precedes(odd, frame));
        let own = self.odd.get(before).filter(|&&(odd, _)| odd == frame);
        own.map_or(self.cells, |&(_, cells)| cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As many as data and ACKs of one flow on a long path; to look at all of them for each frame takes minutes.
    #[test]
    fn frames_of_other_sizes_are_found_among_many_under_way() {
        let n = 400_000u32;
        let first = u32::MAX - n / 2;
        let cells = |i: u32| if i.is_multiple_of(3) { 12 } else { 2 + i % 2 };
        let mut sink = Sink::new(12);
        for i in 0..n {
            sink.expect(first.wrapping_add(i), cells(i));
        }
        for i in 0..n {
            let frame = first.wrapping_add(i);
            assert_eq!(sink.cells_of(frame), cells(i));
            // Each fifth lost its EOM, and the one behind it is taken for both.
            let lost = i % 5 == 0;
            let after_lost = i % 5 == 1;
            assert_eq!(sink.take(frame, cells(i), !lost), !lost && !after_lost);
        }
        assert_eq!(sink.frames() + sink.damaged(), u64::from(n - n / 5));
        assert!(sink.frames.odd.is_empty());
    }
}
