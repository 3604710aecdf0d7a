//! What a run gives back: numbers with their units in their names.
//!
//! These structs are the one description of results. Their doc comments and types become the JSON Schema, the reference page and
//! the Python classes, so a comment here says what the field is, over which time, and when it is none.

mod class;
mod port;
mod totals;
mod vc;

pub use class::ClassResult;
pub use port::{DroppedCells, PortClassResult, PortResult};
pub use totals::Totals;
pub use vc::{BackResult, EndSystemResult, TransferResult, VcPortResult, VcResult};

use crate::delays::{DelayBins, DelayTally};
use crate::flow::FlowKind;
use crate::scenario::Scenario;
use crate::scenario::topology::Topology;
pub use crate::series::{Dropped, Series};
use crate::tally::{FlowTally, Tally};
use crate::units::{Span, TICKS_PER_SECOND};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunResult {
    /// Name of the scenario.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Which replication of an ensemble this is; none for a run as the scenario states it.
    pub replication: Option<u64>,
    /// Simulated time.
    pub duration_s: f64,
    /// Measuring time: goodputs and delays are of this part of the run.
    pub measured_s: f64,
    /// Digest over every cell transmission, hexadecimal; none unless it was asked for.
    pub digest: Option<String>,
    /// The whole network.
    pub totals: Totals,
    /// Every VC, in scenario order.
    pub vcs: Vec<VcResult>,
    /// Every port that a VC crosses, in the order of the links.
    pub ports: Vec<PortResult>,
    /// Every service class that carries traffic, the most urgent first.
    pub classes: Vec<ClassResult>,
    /// What the probes recorded, in scenario order.
    pub series: Vec<Series>,
    /// What the `trace` probes saw, in order of time, at one time in the order of the scenario's links.
    pub trace: Vec<Dropped>,
}

/// JSON Schema of a [`RunResult`]. Every field is always there: `required` lists all of them, in the order of the document.
pub fn json_schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings
        .into_generator()
        .into_root_schema_for::<RunResult>();
    schema.into()
}

/// The result of a run from its counters.
pub fn assemble(
    scenario: &Scenario,
    topology: &Topology,
    replication: Option<u64>,
    tally: &Tally,
    series: Vec<Series>,
    trace: Vec<Dropped>,
) -> RunResult {
    let measured_s = measuring_time(scenario).as_seconds();
    let vcs = vc::all(scenario, topology, tally, measured_s);
    RunResult {
        name: scenario.name.clone(),
        seed: scenario.seed,
        replication,
        duration_s: scenario.duration.as_seconds(),
        measured_s,
        digest: tally.digest.map(|d| format!("{d:016x}")),
        totals: totals::totals(scenario, topology, tally, &vcs),
        ports: port::all(scenario, topology, tally, &vcs),
        classes: class::all(scenario, topology, tally, &vcs),
        vcs,
        series,
        trace,
    }
}

/// From the end of the warm-up to the end of the run, or as long as the window is.
fn measuring_time(scenario: &Scenario) -> Span {
    let warm_up = scenario.measure.warm_up;
    let rest = Span(scenario.duration.0.saturating_sub(warm_up.0));
    scenario.measure.window.map_or(rest, |w| w.min(rest))
}

/// Counts of a VC's data.
fn data<'a>(vc: usize, topology: &Topology, tally: &'a Tally) -> &'a FlowTally {
    &tally.flows[topology.flow(vc, FlowKind::Data).index()]
}

fn seconds(ticks: f64) -> f64 {
    ticks / TICKS_PER_SECOND as f64
}

/// Largest delay less the smallest, in seconds; `None` without cells.
fn variation(delay: &DelayTally) -> Option<f64> {
    (delay.count > 0).then(|| seconds((delay.max - delay.min) as f64))
}

/// The delay in seconds that the fraction `p` of the cells do not exceed; `None` without cells. It is the upper end of its bin, but no more
/// than the largest delay that there was.
fn quantile(bins: &DelayBins, delay: &DelayTally, p: f64) -> Option<f64> {
    let ticks = bins.quantile(p)?;
    Some(seconds(ticks.min(delay.max) as f64))
}

/// Frames lost over those of which it is known whether they are.
fn frame_loss(lost: u64, delivered: u64) -> f64 {
    ratio(lost, lost + delivered)
}

/// `part` of `whole`; nothing of nothing is 0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// Names of the fields of a struct, in order.
    fn fields(schema: &Value) -> Vec<&str> {
        let required = schema["required"].as_array().unwrap();
        required.iter().map(|name| name.as_str().unwrap()).collect()
    }

    #[test]
    fn every_field_is_described_and_always_there() {
        let schema = json_schema();
        let parts = schema["$defs"].as_object().unwrap();
        for part in parts.values().chain([&schema]) {
            let Some(properties) = part["properties"].as_object() else {
                continue;
            };
            assert_eq!(fields(part).len(), properties.len());
            for (name, property) in properties {
                assert!(property["description"].is_string(), "{name}");
            }
        }
        assert_eq!(fields(&schema)[..3], ["name", "seed", "replication"]);
    }

    #[test]
    fn cells_are_counted_for_every_reason_that_there_is() {
        let schema = json_schema();
        let dropped = serde_json::to_string(&DroppedCells::default()).unwrap();
        let zeros = fields(&schema["$defs"]["DroppedCells"])
            .iter()
            .map(|name| format!("\"{name}\":0"))
            .collect::<Vec<_>>();
        assert_eq!(dropped, format!("{{{}}}", zeros.join(",")));
    }
}
