//! Probes of a VC.

use super::traffic::{FrameSource, Frames, Offered, SourceState};
use crate::ground::flow::FlowKind;
use crate::ground::units::Time;
use crate::network::record::{IntervalSum, Points, Statistic, StepRecorder};

/// A quantity of a VC that a probe records, with its record.
#[derive(Debug)]
pub enum VcWatch {
    /// A state of the source.
    State(SourceState, StepRecorder),
    /// Bytes delivered since the start.
    Delivered(StepRecorder),
    /// Bytes delivered per interval.
    Goodput(IntervalSum),
    /// ACR of the end system that sends the data, Mb/s.
    Acr(StepRecorder),
    /// Cells that wait before this end system.
    HostQueue(StepRecorder),
    /// First byte of each data frame offered.
    Sequence(Points),
    /// Number of round-trip times seen, and their values in seconds.
    Rtt(u64, Points),
}

impl VcWatch {
    /// Records everything due until `end`, the end of the run.
    fn finish(&mut self, end: Time) {
        match self {
            VcWatch::State(_, steps)
            | VcWatch::Delivered(steps)
            | VcWatch::Acr(steps)
            | VcWatch::HostQueue(steps) => steps.finish(end),
            VcWatch::Goodput(sum) => sum.until(end),
            VcWatch::Sequence(_) | VcWatch::Rtt(..) => {}
        }
    }

    /// Removes and returns the recorded points, as [`Points::take`] does.
    fn take(&mut self, all: bool) -> Vec<(Option<Statistic>, Points)> {
        match self {
            VcWatch::State(_, steps)
            | VcWatch::Delivered(steps)
            | VcWatch::Acr(steps)
            | VcWatch::HostQueue(steps) => steps.out.take(all),
            VcWatch::Goodput(sum) => vec![(None, sum.out.take(all))],
            VcWatch::Sequence(points) | VcWatch::Rtt(_, points) => vec![(None, points.take(all))],
        }
    }

    /// Number of recorded points.
    fn len(&self) -> usize {
        match self {
            VcWatch::State(_, steps)
            | VcWatch::Delivered(steps)
            | VcWatch::Acr(steps)
            | VcWatch::HostQueue(steps) => steps.out.len(),
            VcWatch::Goodput(sum) => sum.out.len(),
            VcWatch::Sequence(points) | VcWatch::Rtt(_, points) => points.len(),
        }
    }
}

/// Time series of one VC, each with the index of its probe in the scenario.
#[derive(Debug, Default)]
pub struct VcProbe {
    /// Quantities by probe index.
    pub watches: Vec<(usize, VcWatch)>,
}

impl VcProbe {
    /// Records that `bytes` more were delivered at `now`, `all` since the start.
    pub fn delivered(&mut self, now: Time, bytes: u64, all: u64) {
        for (_, watch) in &mut self.watches {
            match watch {
                VcWatch::Goodput(sum) => sum.add(now, bytes as f64),
                VcWatch::Delivered(steps) => steps.set(now, all as f64),
                _ => {}
            }
        }
    }

    /// Records the state after the sending end has acted at `now` and offered `frames`.
    pub fn acted(&mut self, now: Time, source: &Frames, frames: &[Offered]) {
        for (_, watch) in &mut self.watches {
            match watch {
                VcWatch::Sequence(sequence) => {
                    let is_data =
                        |f: &&Offered| f.kind == FlowKind::Data && f.first_byte != Offered::NO_DATA;
                    let data = frames.iter().filter(is_data);
                    let points = data.map(|f| (now, f.first_byte as f64));
                    sequence.points.extend(points);
                }
                VcWatch::State(state, steps) => {
                    if let Some(value) = source.state(*state) {
                        steps.set(now, value);
                    }
                }
                VcWatch::Rtt(seen, rtts) => {
                    if let Some((measured, last)) = source.last_rtt()
                        && measured > *seen
                    {
                        *seen = measured;
                        rtts.points.push((now, last));
                    }
                }
                _ => {}
            }
        }
    }

    /// Records the ACR of the end system that sends the data, from `now` on, and the cells that
    /// wait before it.
    pub fn paced(&mut self, now: Time, acr_mbps: f64, waiting: u64) {
        for (_, watch) in &mut self.watches {
            match watch {
                VcWatch::Acr(steps) => steps.set(now, acr_mbps),
                VcWatch::HostQueue(steps) => steps.set(now, waiting as f64),
                _ => {}
            }
        }
    }

    /// Records everything due until `end`, the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.watches
            .iter_mut()
            .for_each(|(_, watch)| watch.finish(end));
    }

    /// Number of points recorded so far, by probe.
    pub fn recorded(&self) -> impl Iterator<Item = (usize, usize)> {
        let watches = self.watches.iter();
        watches.map(|(probe, watch)| (*probe, watch.len()))
    }

    /// Removes and returns the recorded points, by probe.
    pub fn take(&mut self, all: bool) -> impl Iterator<Item = (usize, Option<Statistic>, Points)> {
        let watches = self.watches.iter_mut();
        watches.flat_map(move |(probe, watch)| {
            let parts = watch.take(all).into_iter();
            parts.map(|(statistic, points)| (*probe, statistic, points))
        })
    }
}
