//! Records of a run's probes, under the names of the scenario.

use crate::flow::FlowKind;
use crate::gathered::Gathered;
use crate::record::{Points, Statistic, TraceEntry};
use crate::scenario::topology::Topology;
use crate::scenario::{Class, Scenario};
use crate::simulation::Simulation;
use crate::tally::DropReason;
use crate::units::{TICKS_PER_SECOND, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// What a probe recorded.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// What was watched, as in the scenario: `queue`, `cwnd`, ...
    pub what: String,
    /// The port or VC.
    pub of: String,
    /// The class, when the series is of one class.
    pub class: Option<Class>,
    /// The VC, when a queue was watched for one VC.
    pub vc: Option<String>,
    /// Unit of the values.
    pub unit: String,
    /// Which of an envelope's three series it is; none for all others.
    pub statistic: Option<Statistic>,
    /// Times; of an envelope or of sums the ends of the intervals.
    pub time_s: Vec<f64>,
    /// The values at these times.
    #[schemars(extend("unit" = "as `unit` says"))]
    pub value: Vec<f64>,
}

/// A dropped cell that a `trace` probe saw: when, where, why, and the queue that it found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DroppedCell")]
pub struct Dropped {
    /// When: its arrival at the port, when it was pushed out, or when its last bit left the link that lost it.
    pub time_s: f64,
    /// The port, or the link that lost it.
    pub port: String,
    /// The VC.
    pub vc: String,
    /// Which of the VC's flows it belongs to.
    pub direction: FlowKind,
    /// Number of its frame in the flow, from 0.
    pub frame: u32,
    /// Its number in the frame, from 0.
    pub cell: u32,
    /// Why it was dropped.
    pub reason: DropReason,
    /// X, cells waiting in its class queue (for the reason `front`: when the cell in whose favour it went arrived); with the next two
    /// none for the reason `link`, where there is no queue to tell of.
    pub waiting_cells: Option<u64>,
    /// Y_i, cells of the arriving cell's VC waiting there.
    pub waiting_of_vc_cells: Option<u64>,
    /// N_a, VCs with cells waiting there.
    pub active_vcs: Option<u64>,
    /// What the drop policy (reason `policy`) or the buffer (`full`, `front`) allowed in that state: of X, or of Y_i for policies that
    /// count by VC; none for other reasons. A policy decides at the first cell of a frame; those after it share its fate.
    pub threshold_cells: Option<f64>,
    /// The average queue of a policy of the RED family after this cell; none for other policies and for the reason `link`.
    pub average_queue_cells: Option<f64>,
    /// The probability that the curve of such a policy gives for this average, before factors and spacing.
    pub drop_probability: Option<f64>,
}

/// Points of one series, identified by indices.
pub struct Found {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Class index, for a probe with a series per class.
    pub class: Option<usize>,
    /// Statistic, for an envelope.
    pub statistic: Option<Statistic>,
    /// Points of the series.
    pub points: Points,
}

impl Simulation {
    /// Brings all records up to the end of the run.
    pub fn finish_probes(&mut self) {
        let end = self.fabric.end;
        for port in &mut self.ports {
            port.finish_probe(&self.fabric);
        }
        for share in self.fabric.observers.shares.values_mut().flatten() {
            share.sum.until(end);
        }
        let probes = self.hosts.vcs.iter_mut().filter_map(|vc| vc.probe.as_mut());
        probes.for_each(|probe| probe.finish(end));
    }

    /// The probe that has recorded most, and how much. A drop counts for the first trace probe that
    /// could have seen it.
    pub fn most_recorded(&self) -> Option<(usize, u64)> {
        let mut of_probe = self.drained.clone();
        let mut add =
            |probe: usize, points: usize| *of_probe.entry(probe).or_default() += points as u64;
        let observers = &self.fabric.observers;
        for probe in self.ports.iter().filter_map(|p| p.probe.as_ref()) {
            probe.watches.iter().for_each(|w| add(w.probe, w.out.len()));
            probe
                .drops
                .iter()
                .for_each(|d| add(d.probe, d.sum.out.len()));
        }
        for share in observers.shares.values().flatten() {
            add(share.probe, share.sum.out.len());
        }
        for probe in self.hosts.vcs.iter().filter_map(|vc| vc.probe.as_ref()) {
            probe
                .recorded()
                .for_each(|(index, points)| add(index, points));
        }
        let traces = self.ports.iter().filter_map(|p| p.probe.as_ref());
        let entries = traces.flat_map(|probe| &probe.trace);
        for entry in entries.chain(&observers.lost).chain(&self.unordered) {
            if let Some(&probe) = observers.traced.get(&entry.flow) {
                add(probe, 1);
            }
        }
        of_probe.into_iter().max_by_key(|&(_, points)| points)
    }

    /// Points and drops recorded since the last call: series in the order of the probes, traced
    /// drops ordered by time and port over all calls.
    ///
    /// Everything before time `before` has happened. Drops from `before` on come with a later call,
    /// and so does the last point of each series, which may still change. With `None` everything is
    /// returned.
    pub fn drain(
        &mut self,
        scenario: &Scenario,
        topology: &Topology,
        before: Option<Time>,
    ) -> (Vec<Series>, Vec<Dropped>) {
        let all = before.is_none();
        let mut found: Vec<Found> = Vec::new();
        let mut add = |probe, class, statistic, points| {
            found.push(Found {
                probe,
                class,
                statistic,
                points,
            });
        };
        let mut trace = std::mem::take(&mut self.unordered);
        for probe in self.ports.iter_mut().filter_map(|p| p.probe.as_mut()) {
            for watch in &mut probe.watches {
                let parts = watch.out.take(all).into_iter();
                parts.for_each(|(statistic, points)| add(watch.probe, None, statistic, points));
            }
            for drops in &mut probe.drops {
                add(drops.probe, drops.class, None, drops.sum.out.take(all));
            }
            trace.append(&mut probe.trace);
        }
        let observers = &mut self.fabric.observers;
        for share in observers.shares.values_mut().flatten() {
            add(
                share.probe,
                Some(share.class),
                None,
                share.sum.out.take(all),
            );
        }
        trace.append(&mut observers.lost);
        for probe in self.hosts.vcs.iter_mut().filter_map(|vc| vc.probe.as_mut()) {
            let parts = probe.take(all);
            parts.for_each(|(probe, statistic, points)| add(probe, None, statistic, points));
        }
        found.sort_by_key(|one| (one.probe, one.class, one.statistic));
        // Events at one port are already in order; losses on its link come last.
        let is_lost = |entry: &TraceEntry| entry.reason == DropReason::Link;
        trace.sort_by_key(|entry| (entry.time, entry.link, is_lost(entry)));
        if let Some(before) = before {
            let ordered = trace.partition_point(|entry| entry.time < before);
            self.unordered = trace.split_off(ordered);
        }
        self.note_drained(&found, &trace);
        let series = found.into_iter().map(|found| named(found, scenario));
        let dropped = trace.iter().map(|entry| told(entry, scenario, topology));
        (series.collect(), dropped.collect())
    }

    /// Counts the points and drops that are handed out.
    fn note_drained(&mut self, found: &[Found], trace: &[TraceEntry]) {
        for one in found {
            *self.drained.entry(one.probe).or_default() += one.points.len() as u64;
        }
        let points: usize = found.iter().map(|one| one.points.len()).sum();
        self.gathered.drained += (points + trace.len()) as u64;
        for entry in trace {
            if let Some(&probe) = self.fabric.observers.traced.get(&entry.flow) {
                *self.drained.entry(probe).or_default() += 1;
            }
        }
        let (points, drops) = self.recorded();
        self.left = Gathered {
            points,
            drops,
            ..Gathered::default()
        };
    }
}

/// Series with the names of the scenario.
pub fn named(found: Found, scenario: &Scenario) -> Series {
    let spec = &scenario.probes[found.probe];
    let (what, unit) = spec.what.quantity();
    let (time_s, value) = found.points.columns();
    Series {
        what: what.into(),
        of: spec.of.clone(),
        class: found.class.map(|c| Class::ALL[c]).or(spec.class),
        vc: spec.vc.clone(),
        unit: unit.into(),
        statistic: found.statistic,
        time_s,
        value,
    }
}

fn told(entry: &TraceEntry, scenario: &Scenario, topology: &Topology) -> Dropped {
    let flow = &topology.flows[entry.flow.index()];
    let queue = entry.queue.as_ref();
    Dropped {
        time_s: entry.time.0 as f64 / TICKS_PER_SECOND as f64,
        port: scenario.links[entry.link as usize].name.clone(),
        vc: scenario.vcs[flow.vc].name.clone(),
        direction: flow.kind,
        frame: entry.frame,
        cell: entry.cell,
        reason: entry.reason,
        waiting_cells: queue.map(|q| q.waiting),
        waiting_of_vc_cells: queue.map(|q| q.waiting_of_vc),
        active_vcs: queue.map(|q| q.active_vcs),
        threshold_cells: queue.and_then(|q| q.threshold),
        average_queue_cells: queue.and_then(|q| q.average),
        drop_probability: queue.and_then(|q| q.probability),
    }
}
