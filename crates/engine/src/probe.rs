//! What may be watched during a run. A probe never changes the run: it only makes a port take its cells one by one.

use crate::flow::FlowKind;
use crate::host::connection::ConnectionProbe;
use crate::port::Kernel;
use crate::port::drop::{Policy, QueueView};
use crate::scenario::{Class, Observable, Scenario};
use crate::simulation::Simulation;
use crate::tally::{DropReason, Dropped as Tallied};
use crate::topology::Topology;
use crate::units::{Span, TICKS_PER_SECOND};
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
    /// Times.
    pub time_s: Vec<f64>,
    /// The values at these times.
    #[schemars(extend("unit" = "as `unit` says"))]
    pub value: Vec<f64>,
}

/// A dropped cell that a `trace` probe saw: when, where, why, and the queue that it found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DroppedCell")]
pub struct Dropped {
    /// When: its arrival at the port, or when its last bit left the link that lost it.
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
    /// X, cells waiting in its class queue; with the next two none for the reason `link`, where there is no queue to tell of.
    pub waiting_cells: Option<u64>,
    /// Y_i, cells of its VC waiting there.
    pub waiting_of_vc_cells: Option<u64>,
    /// N_a, VCs with cells waiting there.
    pub active_vcs: Option<u64>,
    /// What the drop policy (reason `policy`) or the buffer (`full`) allows in that state: of X, or of Y_i for policies that count
    /// by VC; none for other reasons. A policy decides at the first cell of a frame; those after it share its fate.
    pub threshold_cells: Option<f64>,
}

/// Points of a series before they get their names.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// Ticks and values.
    pub points: Vec<(u64, f64)>,
}

impl Points {
    /// Times in seconds and values.
    pub fn columns(&self) -> (Vec<f64>, Vec<f64>) {
        self.points
            .iter()
            .map(|&(t, v)| (t as f64 / TICKS_PER_SECOND as f64, v))
            .unzip()
    }

    /// Records a value that stays the same until the next change; several changes at one instant leave the last.
    pub fn change(&mut self, time: u64, value: f64) {
        match self.points.last_mut() {
            Some((_, last)) if *last == value => {}
            Some((t, last)) if *t == time => *last = value,
            _ => self.points.push((time, value)),
        }
    }
}

/// A quantity that stays the same between its changes, recorded at every change or at regular times.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Distance of the regular times and the next one.
    regular: Option<(u64, u64)>,
    value: f64,
    /// The record.
    pub out: Points,
}

impl Steps {
    /// Begins with `value`; regular times are the multiples of `interval`.
    pub fn new(interval: Option<Span>, value: f64) -> Steps {
        Steps {
            regular: interval.map(|i| (i.0, 0)),
            value,
            out: Points::default(),
        }
    }

    /// Records what is due at or before `time`: the value before the changes of that instant.
    pub fn until(&mut self, time: u64) {
        if let Some((interval, next)) = &mut self.regular {
            while *next <= time {
                self.out.points.push((*next, self.value));
                *next += *interval;
            }
        }
    }

    /// It becomes `value` at `time`; times must not go back.
    pub fn set(&mut self, time: u64, value: f64) {
        match self.regular {
            Some(_) => self.until(time),
            None => self.out.change(time, value),
        }
        self.value = value;
    }
}

/// Sums per interval, each recorded at the interval's end.
#[derive(Clone, Debug)]
pub struct IntervalSum {
    interval: u64,
    until: u64,
    sum: f64,
    scale: f64,
    /// The finished intervals.
    pub out: Points,
}

impl IntervalSum {
    /// Sums over intervals of `interval` ticks, multiplied by `scale`.
    pub fn new(interval: u64, scale: f64) -> IntervalSum {
        IntervalSum {
            interval,
            until: interval,
            sum: 0.0,
            scale,
            out: Points::default(),
        }
    }

    /// Ends the intervals that end at or before `time`.
    pub fn until(&mut self, time: u64) {
        while time >= self.until {
            self.out.points.push((self.until, self.sum * self.scale));
            self.sum = 0.0;
            self.until += self.interval;
        }
    }

    /// Adds `value` at `time`; times must not go back.
    pub fn add(&mut self, time: u64, value: f64) {
        self.until(time);
        self.sum += value;
    }
}

/// What a port can be asked at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Waiting cells of a class (all when `None`), or of the VC with a local number.
    Queue {
        /// Class index.
        class: Option<usize>,
        /// Local number of the VC direction.
        vc: Option<u32>,
    },
    /// Credit of a guaranteed-rate scheduler, slots.
    Credit,
}

/// When a quantity is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Every so many ticks; the second number is the next time. The value is that before the arrivals of that instant.
    Interval(u64, u64),
    /// After every n-th arriving cell; the second number counts.
    Every(u64, u64),
    /// After every arriving cell that changed it.
    Change,
}

/// One watched quantity of a port.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// What.
    pub quantity: Quantity,
    /// When.
    pub when: When,
    /// The record.
    pub out: Points,
}

/// A cell that was dropped, by indices.
#[derive(Clone, Copy, Debug)]
pub struct TraceEntry {
    /// Ticks.
    pub time: u64,
    /// VC direction.
    pub direction: u32,
    /// Frame number.
    pub frame: u32,
    /// Cell number.
    pub cell: u32,
    /// Why.
    pub reason: DropReason,
    /// X, Y_i, N_a; `None` for a cell that a link lost.
    pub queue: Option<(u64, u64, u64)>,
}

/// Most points that the probes of a run may record together: they are kept until its end.
pub const MOST_POINTS: u64 = 10_000_000;

/// All that is watched at one port.
#[derive(Clone, Debug, Default)]
pub struct PortProbe {
    /// Queues and credit.
    pub watches: Vec<Watch>,
    /// Cells dropped per interval: probe, class, sums.
    pub drops: Vec<(usize, Option<usize>, IntervalSum)>,
    /// VCs whose drops are traced.
    pub traced_vcs: Vec<u32>,
    /// Their dropped cells.
    pub trace: Vec<TraceEntry>,
}

/// A cell that a port has handled.
#[derive(Clone, Copy, Debug)]
pub struct Handled {
    /// Arrival, ticks.
    pub time: u64,
    /// VC direction.
    pub direction: u32,
    /// Class index.
    pub class: usize,
    /// Frame number.
    pub frame: u32,
    /// Cell number.
    pub cell: u32,
    /// X, Y_i, N_a before it.
    pub queue: (u64, u64, u64),
    /// Why it was dropped, if it was.
    pub dropped: Option<DropReason>,
}

impl Handled {
    /// Why a cell was dropped on arrival, from the counters before and after. What the link behind the port loses is not
    /// dropped on arrival, whichever kernel counts it when.
    pub fn reason(before: &Tallied, after: &Tallied) -> Option<DropReason> {
        DropReason::ALL
            .into_iter()
            .filter(|&reason| reason != DropReason::Link)
            .find(|&reason| after[reason as usize] > before[reason as usize])
    }
}

impl PortProbe {
    /// Points recorded so far.
    fn points(&self) -> usize {
        let watched: usize = self.watches.iter().map(|w| w.out.points.len()).sum();
        let dropped: usize = self.drops.iter().map(|d| d.2.out.points.len()).sum();
        watched + dropped + self.trace.len()
    }

    /// When the next regular sample is due, ticks.
    pub fn next_sample(&self) -> Option<u64> {
        let due = |w: &Watch| {
            if let When::Interval(_, next) = w.when {
                Some(next)
            } else {
                None
            }
        };
        self.watches.iter().filter_map(due).min()
    }

    /// Records what is due at or before `time`, before the arrivals of that instant.
    pub fn sample_until(&mut self, time: u64, mut look: impl FnMut(u64, Quantity) -> f64) {
        for watch in &mut self.watches {
            if let When::Interval(interval, next) = &mut watch.when {
                while *next <= time {
                    watch.out.points.push((*next, look(*next, watch.quantity)));
                    *next += *interval;
                }
            }
        }
    }

    /// Records after a cell has been handled.
    pub fn handled(&mut self, cell: Handled, mut look: impl FnMut(u64, Quantity) -> f64) {
        for watch in &mut self.watches {
            match &mut watch.when {
                When::Interval(..) => {}
                When::Every(n, count) => {
                    *count += 1;
                    if *count == *n {
                        *count = 0;
                        watch
                            .out
                            .points
                            .push((cell.time, look(cell.time, watch.quantity)));
                    }
                }
                When::Change => watch.out.change(cell.time, look(cell.time, watch.quantity)),
            }
        }
        let Some(reason) = cell.dropped else { return };
        for (_, class, sum) in &mut self.drops {
            if class.is_none_or(|c| c == cell.class) {
                sum.add(cell.time, 1.0);
            }
        }
        if self.traced_vcs.contains(&(cell.direction / 2)) {
            let Handled {
                time,
                direction,
                frame,
                cell,
                queue,
                ..
            } = cell;
            self.trace.push(TraceEntry {
                time,
                direction,
                frame,
                cell,
                reason,
                queue: Some(queue),
            });
        }
    }

    /// Records what is due until the end of the run.
    pub fn finish(&mut self, end: u64, look: impl FnMut(u64, Quantity) -> f64) {
        self.sample_until(end, look);
        for (_, _, sum) in &mut self.drops {
            sum.until(end);
        }
    }
}

impl Simulation {
    /// Points that all probes have recorded so far.
    pub(crate) fn recorded(&self) -> u64 {
        let ports = self.ports.iter().filter_map(|p| p.probe.as_deref());
        let connections = self.connections.iter().filter_map(|c| c.probe.as_deref());
        let shares = self.fabric.shares.values().flatten();
        let points = ports.map(PortProbe::points).sum::<usize>()
            + connections.map(ConnectionProbe::points).sum::<usize>()
            + shares.map(|s| s.2.out.points.len()).sum::<usize>()
            + self.fabric.lost.len();
        points as u64
    }

    /// The recorded series, in the order of the scenario's probes, and the traced drops in order of time.
    pub(crate) fn series(
        &mut self,
        scenario: &Scenario,
        topology: &Topology,
    ) -> (Vec<Series>, Vec<Dropped>) {
        let end = self.end;
        let mut found: Vec<(usize, Option<usize>, Points)> = Vec::new();
        let mut trace = Vec::new();
        for port in &mut self.ports {
            let Some(mut probe) = port.probe.take() else {
                continue;
            };
            match &mut port.kernel {
                Kernel::Arithmetic(k) => probe.finish(end, |t, q| k.look(t, q)),
                Kernel::Slotted(k) => probe.finish(end, |_, q| k.look(q)),
            }
            found.extend(probe.watches.into_iter().map(|w| (w.probe, None, w.out)));
            found.extend(
                probe
                    .drops
                    .into_iter()
                    .map(|(p, class, sum)| (p, class, sum.out)),
            );
            trace.extend(
                probe
                    .trace
                    .iter()
                    .map(|e| named(e, port.link, topology, scenario)),
            );
        }
        for (probe, class, mut sum) in self.fabric.shares.drain().flat_map(|(_, sums)| sums) {
            sum.until(end);
            found.push((probe, class, sum.out));
        }
        for connection in &mut self.connections {
            let Some(probe) = connection.probe.take() else {
                continue;
            };
            for mut watch in probe.steps {
                watch.record.until(end);
                found.push((watch.probe, None, watch.record.out));
            }
            for (p, mut sum) in probe.goodput {
                sum.until(end);
                found.push((p, None, sum.out));
            }
            found.extend(
                probe
                    .sequence
                    .into_iter()
                    .map(|(p, points)| (p, None, points)),
            );
        }
        found.sort_by_key(|&(probe, class, _)| (probe, class));
        let lost = std::mem::take(&mut self.fabric.lost);
        trace.extend(
            lost.iter()
                .map(|(link, e)| named(e, *link as usize, topology, scenario)),
        );
        trace.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let series = found.into_iter().map(|(probe, class, points)| {
            let spec = &scenario.probes[probe];
            let (what, unit) = match spec.what {
                Observable::Queue => ("queue", "cells"),
                Observable::Cwnd => ("cwnd", "bytes"),
                Observable::Ssthresh => ("ssthresh", "bytes"),
                Observable::Sequence => ("sequence", "bytes"),
                Observable::Delivered => ("delivered", "bytes"),
                Observable::Goodput => ("goodput", "Mb/s"),
                Observable::LinkShare => ("link-share", "fraction of slots"),
                Observable::Drops => ("drops", "cells"),
                Observable::Credit => ("credit", "slots"),
                Observable::Trace => ("trace", "cells"),
            };
            let (time_s, value) = points.columns();
            Series {
                what: what.into(),
                of: spec.of.clone(),
                class: class.map(|c| Class::ALL[c]).or(spec.class),
                vc: spec.vc.clone(),
                unit: unit.into(),
                time_s,
                value,
            }
        });
        (series.collect(), trace)
    }
}

fn named(entry: &TraceEntry, link: usize, topology: &Topology, scenario: &Scenario) -> Dropped {
    let (waiting_cells, waiting_of_vc_cells, active_vcs) = entry.queue.unwrap_or_default();
    let of_queue = |cells: u64| entry.queue.map(|_| cells);
    let class = scenario.vcs[entry.direction as usize / 2].class;
    let threshold_cells = match entry.reason {
        DropReason::Policy => {
            let queue = topology.queue(scenario, link, class);
            Policy::new(&queue.drop, queue.buffer).threshold(&QueueView {
                waiting: waiting_cells,
                waiting_of_vc: waiting_of_vc_cells,
                active_vcs,
            })
        }
        DropReason::Full => topology
            .queue(scenario, link, class)
            .buffer
            .map(|k| k as f64),
        DropReason::Rest | DropReason::Link => None,
    };
    Dropped {
        time_s: entry.time as f64 / TICKS_PER_SECOND as f64,
        port: scenario.links[link].name.clone(),
        vc: scenario.vcs[entry.direction as usize / 2].name.clone(),
        direction: if entry.direction.is_multiple_of(2) {
            FlowKind::Data
        } else {
            FlowKind::Ack
        },
        frame: entry.frame,
        cell: entry.cell,
        reason: entry.reason,
        waiting_cells: of_queue(waiting_cells),
        waiting_of_vc_cells: of_queue(waiting_of_vc_cells),
        active_vcs: of_queue(active_vcs),
        threshold_cells,
    }
}
