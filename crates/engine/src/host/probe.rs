//! What is watched of a VC.

use super::traffic::{FrameSource, Frames, Offered, SourceState};
use crate::flow::FlowKind;
use crate::record::{IntervalSum, Points, Steps};
use crate::units::Time;

/// What a probe watches of a VC, with its record.
#[derive(Debug)]
pub enum VcWatch {
    /// A state of the source.
    State(SourceState, Steps),
    /// Bytes delivered since the start.
    Delivered(Steps),
    /// Bytes delivered per interval.
    Goodput(IntervalSum),
    /// ACR of the end system that sends its data, Mb/s.
    Acr(Steps),
    /// Cells that wait before it.
    HostQueue(Steps),
    /// First byte of each data frame offered.
    Sequence(Points),
    /// Round-trip times, seconds, and how many of them were seen.
    Rtt(u64, Points),
}

impl VcWatch {
    /// Records what is due until `end`, the end of the run.
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

    /// What it has recorded.
    fn points(&mut self) -> &mut Points {
        match self {
            VcWatch::State(_, steps)
            | VcWatch::Delivered(steps)
            | VcWatch::Acr(steps)
            | VcWatch::HostQueue(steps) => &mut steps.out,
            VcWatch::Goodput(sum) => &mut sum.out,
            VcWatch::Sequence(points) | VcWatch::Rtt(_, points) => points,
        }
    }
}

/// Time series of one VC, each with the index of its probe in the scenario.
#[derive(Debug, Default)]
pub struct VcProbe {
    /// All of them.
    pub watches: Vec<(usize, VcWatch)>,
}

impl VcProbe {
    /// `bytes` more were delivered at `now`, `all` since the start.
    pub fn delivered(&mut self, now: Time, bytes: u64, all: u64) {
        for (_, watch) in &mut self.watches {
            match watch {
                VcWatch::Goodput(sum) => sum.add(now, bytes as f64),
                VcWatch::Delivered(steps) => steps.set(now, all as f64),
                _ => {}
            }
        }
    }

    /// The sending end has acted at `now`, and offers `frames`.
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
                        rtts.points.push((now, last.as_seconds()));
                    }
                }
                _ => {}
            }
        }
    }

    /// The end system that sends the data may send at this ACR from `now` on, and so many cells wait before it.
    pub fn paced(&mut self, now: Time, acr_mbps: f64, waiting: u64) {
        for (_, watch) in &mut self.watches {
            match watch {
                VcWatch::Acr(steps) => steps.set(now, acr_mbps),
                VcWatch::HostQueue(steps) => steps.set(now, waiting as f64),
                _ => {}
            }
        }
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.watches
            .iter_mut()
            .for_each(|(_, watch)| watch.finish(end));
    }

    /// All records, with their probes.
    pub fn records(&mut self) -> impl Iterator<Item = (usize, &mut Points)> {
        let watches = self.watches.iter_mut();
        watches.map(|(probe, watch)| (*probe, watch.points()))
    }
}
