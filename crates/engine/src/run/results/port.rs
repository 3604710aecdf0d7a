//! Results of one port.

use super::{VcResult, measuring_time, ratio};
use crate::ground::units::Span;
use crate::network::tally::{ClassTally, DropCounts, DropReason, MeasuredPort, PortTally, Tally};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Asked, Class, DropPolicy, Link, Scenario, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// One output port of a switch.
///
/// Values cover the whole run, except `efficiency` and those whose names begin with `measured`,
/// which cover the measuring time. A port that cannot queue has no `measured` values, no `refusals`
/// and no `inputs`, and its `max_queue_cells` is 0.
///
/// The cell counts balance: arrived = accepted + dropped on arrival, and accepted = sent + held +
/// pushed out (`front`). Cells that the link loses (`link`) count as sent. All other drops happen
/// on arrival.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PortResult {
    /// Name of the port, which is the name of its link.
    pub name: String,
    /// Name of the port's switch.
    pub switch: String,
    /// Rate of the outgoing link at the start of the run.
    pub rate_mbps: f64,
    /// Mean rate of the outgoing link over the run. None if the rate does not change.
    pub mean_rate_mbps: Option<f64>,
    /// Whether cells can wait: there are several inputs, an input that may be faster, or a drop policy
    /// that may refuse any cell.
    pub can_queue: bool,
    /// Cells that arrived.
    pub arrived_cells: u64,
    /// Cells accepted into the queue or directly into service.
    pub accepted_cells: u64,
    /// Cells sent: their last bit left before the end of the run.
    pub sent_cells: u64,
    /// Cells waiting or in service at the end of the run.
    pub held_cells: u64,
    /// Cells dropped, by reason.
    pub dropped_cells: DroppedCells,
    /// Cells dropped by the port, relative to cells that arrived. 0 when none arrived. Cells that
    /// the link loses count as sent.
    pub cell_loss_ratio: f64,
    /// Cells of high priority that a policer or the drop policy tagged; they continue with CLP = 1.
    pub tagged_cells: u64,
    /// Cells that the buffer or the drop policy refused on arrival. Of a refused frame, only the
    /// first cell counts.
    pub refusals: Option<u64>,
    /// Refusals at an instant at which the port accepted a cell of another input: `tie_order`
    /// decided which.
    pub tied_refusals: Option<u64>,
    /// Largest number of waiting cells, over all classes.
    pub max_queue_cells: u64,
    /// Most bytes that waited over all classes, if the queues of the port count bytes; else none.
    pub max_queue_bytes: Option<u64>,
    /// Most memory cells that were in use over all classes, if the pool of the switch has such; else
    /// none.
    pub max_queue_places: Option<u64>,
    /// Mean number of waiting cells, over all classes.
    pub mean_queue_cells: f64,
    /// Fraction of the whole run in which the link transmits. If its rate changes: what it sent,
    /// relative to what it could send.
    pub utilisation: f64,
    /// Goodput in the measuring time of the VCs whose data frames cross the port, counted as cells
    /// on the line, relative to the mean rate of the link in this time. None when no data frames
    /// cross the port, or if that rate is 0.
    pub efficiency: Option<f64>,
    /// Cells that arrived in the measuring time.
    pub measured_arrived_cells: Option<u64>,
    /// Cells whose last bit left in the measuring time.
    pub measured_sent_cells: Option<u64>,
    /// Cells that the port, not the link, dropped in the measuring time.
    pub measured_dropped_cells: Option<u64>,
    /// `measured_dropped_cells` relative to `measured_arrived_cells`. 0 when none arrived.
    pub measured_cell_loss_ratio: Option<f64>,
    /// Longest queue in the measuring time, its start included, over all classes.
    pub measured_max_queue_cells: Option<u64>,
    /// Mean number of waiting cells in the measuring time, over all classes.
    pub measured_mean_queue_cells: Option<f64>,
    /// Fraction of the measuring time in which the link transmits. If its rate changes: what it sent in
    /// this time, relative to what it could send.
    pub measured_utilisation: Option<f64>,
    /// Results of every service class that crosses the port, most urgent first.
    pub classes: Vec<PortClassResult>,
    /// Refusals of every input, in scenario order.
    pub inputs: Vec<PortInputResult>,
}

/// Refusals of one input of a port: a link over which cells reach it. Values cover the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PortInputResult {
    /// Name of the link.
    pub link: String,
    /// Cells of the input that the buffer or the drop policy refused on arrival. Of a refused
    /// frame, only the first cell counts.
    pub refusals: u64,
    /// Refusals of the input at an instant at which the port accepted a cell of another input.
    pub tied_refusals: u64,
}

/// Results of one class queue of a port.
///
/// Values cover the whole run, except those whose names begin with `measured`. A port that cannot
/// queue has none of these, and its `max_queue_cells` is 0.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PortClassResult {
    /// The service class.
    pub class: Class,
    /// Buffer size K: most cells that may wait. Without a buffer, the reserve and the shared part of
    /// the pool. None when unlimited, and for a queue that counts bytes or memory cells.
    pub buffer_cells: Option<u64>,
    /// Buffer size K of a queue that counts bytes. None for others, and when unlimited.
    pub buffer_bytes: Option<u64>,
    /// Buffer size K of a queue that counts memory cells. None for others.
    pub buffer_places: Option<u64>,
    /// What the drop program of the queue is asked about: `frames` (first cells of frames that find
    /// the port busy) or `cells`. None without a program.
    pub program_asked: Option<&'static str>,
    /// Cells sent: their last bit left before the end of the run.
    pub sent_cells: u64,
    /// Cells dropped, including those that the link lost.
    pub dropped_cells: u64,
    /// Cells dropped by the port, relative to cells that arrived. 0 when none arrived. Cells that
    /// the link loses count as sent.
    pub cell_loss_ratio: f64,
    /// Largest number of waiting cells of this class.
    pub max_queue_cells: u64,
    /// Most bytes that waited of this class, if its queue counts bytes; else none.
    pub max_queue_bytes: Option<u64>,
    /// Most memory cells that this class used, if its queue counts them; else none.
    pub max_queue_places: Option<u64>,
    /// Cells that arrived in the measuring time.
    pub measured_arrived_cells: Option<u64>,
    /// Cells that the port, not the link, dropped in the measuring time.
    pub measured_dropped_cells: Option<u64>,
    /// `measured_dropped_cells` relative to `measured_arrived_cells`. 0 when none arrived.
    pub measured_cell_loss_ratio: Option<f64>,
    /// Longest queue in the measuring time, its start included.
    pub measured_max_queue_cells: Option<u64>,
}

/// Cells dropped at a port, by reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DroppedCells(pub(super) DropCounts);

impl Serialize for DroppedCells {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(DropReason::ALL.len()))?;
        for &reason in DropReason::ALL {
            map.serialize_entry(reason.name(), &self.0[reason])?;
        }
        map.end()
    }
}

impl JsonSchema for DroppedCells {
    fn schema_name() -> Cow<'static, str> {
        "DroppedCells".into()
    }

    /// Returns a schema with one count for each drop reason, described by the reason's doc comment.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let reasons = DropReason::json_schema(generator);
        let described = reasons.get("oneOf").and_then(Value::as_array);
        let mut properties = Map::new();
        for reason in described.expect("every reason has a description") {
            let mut count = u64::json_schema(generator);
            count.insert("description".into(), reason["description"].clone());
            count.insert("unit".into(), "cells".into());
            let name = reason["const"].as_str().expect("a reason is a word");
            properties.insert(name.into(), count.into());
        }
        let schema = json!({
            "description": "Cells dropped at a port, by reason.",
            "type": "object",
            "properties": properties,
            "required": DropReason::ALL.iter().map(|reason| reason.name()).collect::<Vec<_>>(),
        });
        schema.try_into().expect("an object is a schema")
    }
}

/// Returns the results of all ports that a VC crosses, in the order of the links.
pub(super) fn all(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    vcs: &[VcResult],
) -> Vec<PortResult> {
    (0..scenario.links.len())
        .filter(|&link| !topology.inputs[link].is_empty())
        .map(|link| of(scenario, topology, tally, link, vcs))
        .collect()
}

fn of(
    scenario: &Scenario,
    topology: &Topology,
    tally: &Tally,
    link: usize,
    vcs: &[VcResult],
) -> PortResult {
    let spec = &scenario.links[link];
    let sent = tally.link_cells[link];
    let counted = tally.ports[link].as_deref();
    let through = passed_through(topology, tally, link);
    let port = counted.unwrap_or(&through);
    let duration = scenario.duration;
    let line_mbps = line_rates(scenario, topology, link, vcs);
    let measured = counted.map(|counted| &counted.measured);
    let measured_time = measuring_time(scenario);
    let begin = scenario.measure.warm_up;
    let measuring = [begin, begin + measured_time];
    let mean_mbps = spec.mean_rate(measuring) / 1e6;
    let whole = [Span::ZERO, duration];
    let unit = topology.unit(scenario, link);
    let memory = topology.memory_cell(scenario, link).is_some();
    let of_each = topology.places_of_each(scenario, link);
    let in_places = |cells: u64, places: u64| of_each.map_or(places, |each| cells * each);
    let in_bytes = |cells, places| (unit == Unit::Bytes).then(|| in_places(cells, places));
    let in_memory = |cells, places| memory.then(|| in_places(cells, places));
    let classes = topology.classes[link].iter().map(|&class| {
        let of_class = &port.classes[class as usize];
        let measured = measured.map(|measured| &measured.classes[class as usize]);
        let queue = topology.queue(scenario, link, class);
        let k = topology.places(scenario, link, class);
        PortClassResult {
            class,
            buffer_cells: k.filter(|_| unit == Unit::Cells && !memory),
            buffer_bytes: k.filter(|_| unit == Unit::Bytes),
            buffer_places: k.filter(|_| memory),
            program_asked: match &queue.drop {
                DropPolicy::Program(policy) => Some(match policy.written.asked {
                    Asked::Frames => "frames",
                    Asked::Cells => "cells",
                }),
                _ => None,
            },
            sent_cells: counted.map_or(sent, |_| of_class.sent),
            dropped_cells: of_class.dropped.total(),
            cell_loss_ratio: ratio(of_class.dropped_by_port(), of_class.arrived),
            max_queue_cells: of_class.max_queue,
            max_queue_bytes: in_bytes(of_class.max_queue, of_class.max_places),
            max_queue_places: in_memory(of_class.max_queue, of_class.max_places),
            measured_arrived_cells: measured.map(|m| m.arrived),
            measured_dropped_cells: measured.map(|m| m.dropped),
            measured_cell_loss_ratio: measured.map(|m| ratio(m.dropped, m.arrived)),
            measured_max_queue_cells: measured.map(|m| m.max_queue),
        }
    });
    let refusals = counted.map(|counted| counted.refusals.as_slice());
    let links = topology.inputs[link].iter();
    let inputs = links.zip(refusals.unwrap_or_default());
    let inputs = inputs.map(|(&input, refusals)| PortInputResult {
        link: scenario.links[input].name.clone(),
        refusals: refusals.all,
        tied_refusals: refusals.tied,
    });
    let arrived = counted.map_or(port.accepted, PortTally::arrived);
    let dropped = port.classes.iter().map(ClassTally::dropped_by_port).sum();
    PortResult {
        name: spec.name.clone(),
        switch: spec.from.clone(),
        rate_mbps: spec.rate.as_mbps(),
        mean_rate_mbps: spec.changes_rate().then(|| spec.mean_rate(whole) / 1e6),
        can_queue: counted.is_some(),
        arrived_cells: arrived,
        accepted_cells: port.accepted,
        sent_cells: sent,
        held_cells: port.held,
        dropped_cells: DroppedCells(port.dropped()),
        cell_loss_ratio: ratio(dropped, arrived),
        tagged_cells: port.classes.iter().map(|class| class.tagged).sum(),
        refusals: refusals.map(|inputs| inputs.iter().map(|input| input.all).sum()),
        tied_refusals: refusals.map(|inputs| inputs.iter().map(|input| input.tied).sum()),
        max_queue_cells: port.max_queue,
        max_queue_bytes: in_bytes(port.max_queue, port.max_places),
        max_queue_places: in_memory(port.max_queue, port.max_places),
        mean_queue_cells: port.queue_time as f64 / duration.0 as f64,
        utilisation: part_sent(
            spec,
            whole,
            tally.link_line_time[link],
            tally.link_line_work[link],
        ),
        efficiency: (!line_mbps.is_empty() && mean_mbps > 0.0)
            .then(|| line_mbps.iter().sum::<f64>() / mean_mbps),
        measured_arrived_cells: measured.map(MeasuredPort::arrived),
        measured_sent_cells: measured.map(|m| m.sent),
        measured_dropped_cells: measured.map(MeasuredPort::dropped),
        measured_cell_loss_ratio: measured.map(|m| ratio(m.dropped(), m.arrived())),
        measured_max_queue_cells: measured.map(|m| m.max_queue),
        measured_mean_queue_cells: measured.map(|m| m.queue_time as f64 / measured_time.0 as f64),
        measured_utilisation: measured
            .map(|m| part_sent(spec, measuring, m.line_time, m.line_work)),
        classes: classes.collect(),
        inputs: inputs.collect(),
    }
}

/// Returns which part of what a link could send in [from, to) it sent: it took `time`, of which `work`
/// is the integral of the rates of its cells if the rate changes. 0 without a rate.
fn part_sent(link: &Link, [from, to]: [Span; 2], time: Span, work: u128) -> f64 {
    if !link.changes_rate() {
        return time.0 as f64 / (to - from).0 as f64;
    }
    match link.integral([from, to]) {
        0 => 0.0,
        capacity => work as f64 / capacity as f64,
    }
}

/// Returns the counters of a port that cannot queue. All cells that arrive pass, except those in
/// service at the end.
fn passed_through(topology: &Topology, tally: &Tally, link: usize) -> PortTally {
    let held = tally.link_held[link];
    let mut through = PortTally {
        accepted: tally.link_cells[link] + held,
        held,
        ..PortTally::default()
    };
    // A port that cannot queue carries one class.
    if let &[class] = topology.classes[link].as_slice() {
        let lost = &mut through.classes[class as usize].dropped[DropReason::Link];
        *lost = tally.link_lost[link];
    }
    through
}

/// Returns the goodput in Mb/s of each VC whose data frames cross a link, counted as cells on the
/// line. A VC without files is taken to send full frames alone.
fn line_rates(scenario: &Scenario, topology: &Topology, link: usize, vcs: &[VcResult]) -> Vec<f64> {
    let flows = topology.crossing[link].iter();
    flows
        .map(|id| &topology.flows[id.index()])
        .filter(|flow| flow.kind.is_data())
        .filter_map(|flow| {
            let unit = scenario.vcs[flow.vc].traffic.unit(scenario.format)?;
            Some(vcs[flow.vc].goodput_mbps * unit.line_bytes as f64 / unit.bytes as f64)
        })
        .collect()
}
