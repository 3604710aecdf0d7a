//! What is watched of a VC.

use super::traffic::{FrameSource, Frames, Offered, SourceState};
use crate::flow::FlowKind;
use crate::record::{IntervalSum, Points, Steps};
use crate::units::Time;

/// A state of the source over time.
#[derive(Debug)]
pub struct StateWatch {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// What.
    pub state: SourceState,
    /// The record.
    pub record: Steps,
}

/// Time series of one VC, each with the index of its probe in the scenario.
#[derive(Debug, Default)]
pub struct VcProbe {
    /// States of the source.
    pub states: Vec<StateWatch>,
    /// Bytes delivered since the start.
    pub delivered: Vec<(usize, Steps)>,
    /// Bytes delivered per interval.
    pub goodput: Vec<(usize, IntervalSum)>,
    /// ACR of the end system that sends its data, Mb/s.
    pub acr: Vec<(usize, Steps)>,
    /// Cells that wait before it.
    pub host_queue: Vec<(usize, Steps)>,
    /// First byte of each data frame offered.
    pub sequence: Vec<(usize, Points)>,
}

impl VcProbe {
    /// `bytes` more were delivered at `now`, `all` since the start.
    pub fn delivered(&mut self, now: Time, bytes: u64, all: u64) {
        for (_, goodput) in &mut self.goodput {
            goodput.add(now, bytes as f64);
        }
        for (_, steps) in &mut self.delivered {
            steps.set(now, all as f64);
        }
    }

    /// The sending end has acted at `now`, and offers `frames`.
    pub fn acted(&mut self, now: Time, source: &Frames, frames: &[Offered]) {
        for (_, sequence) in &mut self.sequence {
            let is_data =
                |f: &&Offered| f.kind == FlowKind::Data && f.first_byte != Offered::NO_DATA;
            let data = frames.iter().filter(is_data);
            let points = data.map(|f| (now, f.first_byte as f64));
            sequence.points.extend(points);
        }
        for watch in &mut self.states {
            if let Some(bytes) = source.state(watch.state) {
                watch.record.set(now, bytes as f64);
            }
        }
    }

    /// The end system that sends the data may send at this ACR from `now` on, and so many cells wait before it.
    pub fn paced(&mut self, now: Time, acr_mbps: f64, waiting: u64) {
        for (_, acr) in &mut self.acr {
            acr.set(now, acr_mbps);
        }
        for (_, queue) in &mut self.host_queue {
            queue.set(now, waiting as f64);
        }
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.states.iter_mut().for_each(|w| w.record.finish(end));
        let steps = self.delivered.iter_mut().chain(&mut self.acr);
        let steps = steps.chain(&mut self.host_queue);
        steps.for_each(|s| s.1.finish(end));
        self.goodput.iter_mut().for_each(|g| g.1.until(end));
    }

    /// All records, with their probes.
    pub fn records(&mut self) -> impl Iterator<Item = (usize, &mut Points)> {
        let states = self.states.iter_mut().map(|w| (w.probe, &mut w.record.out));
        let steps = self.delivered.iter_mut().chain(&mut self.acr);
        let steps = steps.chain(&mut self.host_queue);
        let steps = steps.map(|s| (s.0, &mut s.1.out));
        let goodput = self.goodput.iter_mut().map(|g| (g.0, &mut g.1.out));
        let sequence = self.sequence.iter_mut().map(|s| (s.0, &mut s.1));
        states.chain(steps).chain(goodput).chain(sequence)
    }

    /// Points recorded so far.
    pub fn points(&self) -> usize {
        let steps = self.states.iter().map(|w| &w.record.out);
        let paced = self.acr.iter().chain(&self.host_queue);
        let steps = steps.chain(self.delivered.iter().chain(paced).map(|s| &s.1.out));
        let sums = self.goodput.iter().map(|g| &g.1.out);
        let sequence = self.sequence.iter().map(|s| &s.1);
        let all = steps.chain(sums).chain(sequence);
        all.map(Points::len).sum()
    }
}
