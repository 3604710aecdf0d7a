//! Series and traces that the probes of a run have recorded, with the names of the scenario.

use crate::ground::flow::FlowKind;
use crate::ground::gathered::Gathered;
use crate::ground::units::Time;
use crate::network::record::{Points, PoolSnapshot, Statistic, TraceEntry};
use crate::network::tally::DropReason;
use crate::run::simulation::Simulation;
use crate::text::scenario::topology::{PoolTerms, Topology};
use crate::text::scenario::{Class, Observable, Probe, Scenario, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// A time series that a probe recorded.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// Quantity that was recorded, as named in the scenario: `queue`, `cwnd`, ...
    pub what: String,
    /// Name of the port or VC.
    pub of: String,
    /// Service class of the series; none when the series is not of one class.
    pub class: Option<Class>,
    /// Name of the VC when a queue was recorded for one VC, else none.
    pub vc: Option<String>,
    /// Unit of the values. In the format `ethernet`, cells are called packets here.
    pub unit: String,
    /// Which of an envelope's three series this is; none for all other series.
    pub statistic: Option<Statistic>,
    /// Times of the points: for envelopes and sums, the ends of the intervals.
    pub time_s: Vec<f64>,
    /// Values at these times, in `unit`.
    #[schemars(extend("unit" = "as `unit` says"))]
    pub value: Vec<f64>,
}

/// A dropped cell that a `trace` probe recorded, with the queue that the cell found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DroppedCell")]
pub struct Dropped {
    /// Time of the drop: when the cell arrives at the port, when it is pushed out, or when its last
    /// bit leaves the link that loses it.
    pub time_s: f64,
    /// Name of the port, or of the link that lost the cell.
    pub port: String,
    /// Name of the VC.
    pub vc: String,
    /// Flow of the VC to which the cell belongs.
    pub direction: FlowKind,
    /// Number of the frame in the flow, from 0.
    pub frame: u32,
    /// Number of the cell in the frame, from 0.
    pub cell: u32,
    /// Reason for the drop.
    pub reason: DropReason,
    /// X: cells waiting in the cell's class queue; memory cells if its pool has such, as for the other
    /// values in cells. For the reason `front`, X is that on arrival of
    /// the cell in whose favour this one was dropped. None for the reason `link`, which has no
    /// queue, and for a queue that counts bytes.
    pub waiting_cells: Option<u64>,
    /// Y_i: cells of the arriving cell's VC waiting in that queue. None for the reason `link`.
    pub waiting_of_vc_cells: Option<u64>,
    /// N_a: VCs with cells waiting in that queue. None for the reason `link`.
    pub active_vcs: Option<u64>,
    /// Limit that the queue had reached: of the drop policy (reason `policy`) or the buffer (`full`,
    /// `front`). It is a limit on Y_i for `selective-drop`, `fba`, and untagged cells of `dfba` at X
    /// < H, otherwise on X. None for other reasons, for `policy` of the RED family and of
    /// programs, and when X is not above R of `selective-drop` and `fba` or L of `dfba`. A policy
    /// that refuses frames decides at the first cell of a frame; the cells after it share its fate.
    pub threshold_cells: Option<f64>,
    /// Average queue of a policy of the RED family after this cell. None for other policies and for
    /// the reason `link`.
    pub average_queue_cells: Option<f64>,
    /// Probability that the policy's curve gives for this average, before factors and spacing. None
    /// when `average_queue_cells` is none.
    pub drop_probability: Option<f64>,
    /// Parameters of a drop policy that is a program, as written, and its state after the decision
    /// about the arriving cell: the state of the queue, then that of the cell's VC. None for other
    /// policies, for a program with neither, and for the reason `link`.
    pub policy_state: Option<String>,
    /// `waiting_cells` of a queue that counts bytes, in these. None for others.
    pub waiting_bytes: Option<u64>,
    /// `waiting_of_vc_cells` of a queue that counts bytes, in these. None for others.
    pub waiting_of_vc_bytes: Option<u64>,
    /// `threshold_cells` of a queue that counts bytes, in these. None for others.
    pub threshold_bytes: Option<f64>,
    /// `average_queue_cells` of a queue that counts bytes, in these. None for others.
    pub average_queue_bytes: Option<f64>,
    /// Free places of the shared part of the pool, if the port takes part in one; else none.
    pub free_places: Option<u64>,
    /// Dynamic threshold of the queue, in places: its reserve, and `alpha` times what is free. None
    /// without `alpha`.
    pub dynamic_threshold_places: Option<f64>,
    /// Places that each queue of the pool takes, the largest first: port, class if several classes use
    /// the port, and places. None without a pool.
    pub pool_queues: Option<String>,
}

/// Points that a probe has recorded, before they get their names.
pub struct RecordedSeries {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Class of the series, for a probe that has a series of each class.
    pub class: Option<usize>,
    /// Series of an envelope to which the points belong.
    pub statistic: Option<Statistic>,
    /// The points.
    pub points: Points,
}

impl Simulation {
    /// Brings all records up to the end of the run.
    pub fn finish_probes(&mut self) {
        let end = self.fabric.end;
        for port in &mut self.ports {
            port.finish_probe(&self.fabric);
        }
        for (group, pool) in self.groups.iter_mut().zip(&self.fabric.pools) {
            group.finish_probe(pool, end);
        }
        for share in self.fabric.observers.link_shares.values_mut().flatten() {
            share.sum.until(end);
        }
        let probes = self.hosts.vcs.iter_mut().filter_map(|vc| vc.probe.as_mut());
        probes.for_each(|probe| probe.finish(end));
    }

    /// Returns the probe that has recorded most, and the number of its points. Drops count for the
    /// first trace that could have seen one.
    pub fn most_recorded(&self) -> Option<(usize, u64)> {
        let mut of_probe = self.drained.clone();
        let mut add =
            |probe: usize, points: usize| *of_probe.entry(probe).or_default() += points as u64;
        let observers = &self.fabric.observers;
        let of_ports = self.ports.iter().filter_map(|p| p.probe.as_ref());
        for probe in of_ports.chain(self.groups.iter().filter_map(|g| g.probe.as_ref())) {
            probe.watches.iter().for_each(|w| add(w.probe, w.out.len()));
            probe
                .drops
                .iter()
                .for_each(|d| add(d.probe, d.sum.out.len()));
        }
        for share in observers.link_shares.values().flatten() {
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

    /// Returns what was recorded since the last call. Series follow the order of the probes in the
    /// scenario. Traced drops are in order of time and port over all calls. With `before`, drops at
    /// or after that time are kept for a later call, as is the last point of each series, which may
    /// still change. Everything must already have happened up to `before`. `None` returns
    /// everything.
    pub fn drain(
        &mut self,
        scenario: &Scenario,
        topology: &Topology,
        before: Option<Time>,
    ) -> (Vec<Series>, Vec<Dropped>) {
        let all = before.is_none();
        let mut found: Vec<RecordedSeries> = Vec::new();
        let mut add = |probe, class, statistic, points| {
            found.push(RecordedSeries {
                probe,
                class,
                statistic,
                points,
            });
        };
        let mut trace = std::mem::take(&mut self.unordered);
        let of_ports = self.ports.iter_mut().filter_map(|p| p.probe.as_mut());
        let of_pools = self.groups.iter_mut().filter_map(|g| g.probe.as_mut());
        for probe in of_ports.chain(of_pools) {
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
        for share in observers.link_shares.values_mut().flatten() {
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
        found.sort_by_key(|record| (record.probe, record.class, record.statistic));
        // Drops at one port stay in order; losses on its link come last.
        let is_lost = |entry: &TraceEntry| entry.reason == DropReason::Link;
        trace.sort_by_key(|entry| (entry.time, entry.link, is_lost(entry)));
        if let Some(before) = before {
            let ordered = trace.partition_point(|entry| entry.time < before);
            self.unordered = trace.split_off(ordered);
        }
        self.note_drained(&found, &trace);
        let series = found
            .into_iter()
            .map(|found| name_series(found, scenario, topology));
        let dropped = trace
            .iter()
            .map(|entry| dropped_cell(entry, scenario, topology));
        (series.collect(), dropped.collect())
    }

    /// Counts the points and drops that are handed out.
    fn note_drained(&mut self, found: &[RecordedSeries], trace: &[TraceEntry]) {
        for record in found {
            *self.drained.entry(record.probe).or_default() += record.points.len() as u64;
        }
        let points: usize = found.iter().map(|record| record.points.len()).sum();
        self.gathered.drained += (points + trace.len()) as u64;
        for entry in trace {
            if let Some(&probe) = self.fabric.observers.traced.get(&entry.flow) {
                *self.drained.entry(probe).or_default() += 1;
            }
        }
        let (points, drops) = self.recorded();
        self.left_by_drain = Gathered {
            points,
            drops,
            ..Gathered::default()
        };
    }
}

/// Returns the series of the points found, with the names of the scenario.
pub fn name_series(found: RecordedSeries, scenario: &Scenario, topology: &Topology) -> Series {
    let spec = &scenario.probes[found.probe];
    let (time_s, value) = found.points.columns(scenario.format.clock);
    Series {
        what: spec.what.name().into(),
        of: spec.of.clone(),
        class: found.class.map(|c| Class::ALL[c]).or(spec.class),
        vc: spec.vc.clone(),
        unit: unit_of(spec, scenario, topology),
        statistic: found.statistic,
        time_s,
        value,
    }
}

/// Returns the unit of what a probe records, which may depend on the link.
fn unit_of(spec: &Probe, scenario: &Scenario, topology: &Topology) -> String {
    let usual = spec.what.unit(scenario.format);
    let mut switches = scenario.switches.iter();
    if let (Observable::Pool, Some(switch)) = (spec.what, switches.find(|s| s.name == spec.of))
        && let Some(pool) = &switch.pool
    {
        return format!("{}s", PoolTerms::noun(pool, scenario.format));
    }
    let mut links = scenario.links.iter();
    let Some(link) = links.position(|link| link.name == spec.of) else {
        return usual;
    };
    match spec.what {
        Observable::Queue | Observable::AverageQueue | Observable::Threshold
            if topology.unit(scenario, link) == Unit::Bytes =>
        {
            "bytes".into()
        }
        Observable::Queue | Observable::AverageQueue | Observable::Threshold
            if topology.has_pool(link) && topology.memory_cell(scenario, link).is_some() =>
        {
            "memory cells".into()
        }
        Observable::LinkShare if scenario.links[link].changes_rate() => {
            format!("{usual} at the first rate")
        }
        _ => usual,
    }
}

fn dropped_cell(entry: &TraceEntry, scenario: &Scenario, topology: &Topology) -> Dropped {
    let flow = &topology.flows[entry.flow.index()];
    let queue = entry.queue.as_ref();
    let pool = queue.and_then(|queue| queue.pool.as_ref());
    let unit = |link| topology.unit(scenario, link);
    let counts_bytes = queue.is_some() && unit(entry.link as usize) == Unit::Bytes;
    let [cells, bytes] = [false, true].map(|of| queue.filter(|_| counts_bytes == of));
    Dropped {
        time_s: entry.time.as_seconds(scenario.format.clock),
        port: scenario.links[entry.link as usize].name.clone(),
        vc: scenario.vcs[flow.vc].name.clone(),
        direction: flow.kind,
        frame: entry.frame,
        cell: entry.cell,
        reason: entry.reason,
        waiting_cells: cells.map(|q| q.waiting),
        waiting_of_vc_cells: cells.map(|q| q.waiting_of_vc),
        active_vcs: queue.map(|q| q.active_vcs),
        threshold_cells: cells.and_then(|q| q.threshold),
        average_queue_cells: cells.and_then(|q| q.average),
        drop_probability: queue.and_then(|q| q.probability),
        policy_state: queue.and_then(|q| q.policy_state.clone()),
        waiting_bytes: bytes.map(|q| q.waiting),
        waiting_of_vc_bytes: bytes.map(|q| q.waiting_of_vc),
        threshold_bytes: bytes.and_then(|q| q.threshold),
        average_queue_bytes: bytes.and_then(|q| q.average),
        free_places: pool.map(|pool| pool.free),
        dynamic_threshold_places: pool.and_then(|pool| pool.threshold),
        pool_queues: pool.map(|pool| pool_queues(pool, entry.link as usize, scenario, topology)),
    }
}

/// Returns the queues of the pool of the port of `link` that take places, the largest first.
fn pool_queues(
    pool: &PoolSnapshot,
    link: usize,
    scenario: &Scenario,
    topology: &Topology,
) -> String {
    let (_, terms) = topology.pool_of(link).expect("the port is in a pool");
    let classes = pool.queues.chunks(Class::ALL.len());
    let queues = terms.links.iter().zip(classes).flat_map(|(&port, places)| {
        let of_port = Class::ALL.iter().zip(places);
        of_port.map(move |(class, &places)| (places, port, class))
    });
    let mut queues: Vec<_> = queues.filter(|&(places, ..)| places > 0).collect();
    queues.sort_by_key(|&(places, port, _)| (std::cmp::Reverse(places), port));
    let shown = queues.into_iter().map(|(places, port, class)| {
        let name = &scenario.links[port].name;
        match topology.classes[port].len() {
            1 => format!("{name} {places}"),
            _ => format!("{name} {} {places}", class.name()),
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}
