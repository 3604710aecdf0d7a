//! Results of a run: numbers with their units in their names.
//!
//! These structs are the only description of results. Their doc comments and types become the JSON
//! Schema, the reference page and the Python classes. A doc comment here therefore says what the
//! field is, over which time, and when it is none.

mod class;
mod pool;
mod port;
mod totals;
mod transfers;
mod vc;

pub use class::ClassResult;
pub use pool::{PoolPortResult, PoolResult};
pub use port::{DroppedCells, PortClassResult, PortInputResult, PortResult};
pub use totals::Totals;
pub use transfers::{TcpCounts, TransferTimes};
pub use vc::{BackResult, EndSystemResult, TransferResult, VcPortResult, VcResult};

use crate::ground::delays::{DelayBins, DelayTally};
use crate::ground::flow::FlowKind;
use crate::ground::format::Clock;
use crate::ground::units::Span;
use crate::network::tally::{FlowTally, Tally};
pub use crate::run::series::{Dropped, Series};
use crate::text::scenario::Scenario;
use crate::text::scenario::topology::Topology;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;

/// Result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunResult {
    /// Name of the scenario.
    pub name: String,
    /// Seed of all random draws.
    pub seed: u64,
    /// Index of this replication in its ensemble, from 0. None without an ensemble.
    pub replication: Option<u64>,
    /// Simulated time.
    pub duration_s: f64,
    /// Length of the measuring time, over which goodputs and delays are measured.
    pub measured_s: f64,
    /// Digest of every cell transmission, as hexadecimal text. None unless requested.
    pub digest: Option<String>,
    /// Results of the whole network.
    pub totals: Totals,
    /// Results of every VC, in scenario order.
    pub vcs: Vec<VcResult>,
    /// Results of every port that a VC crosses, in the order of the links.
    pub ports: Vec<PortResult>,
    /// Results of the pool of every switch that has one, in scenario order.
    pub pools: Vec<PoolResult>,
    /// Results of every service class that has VCs, most urgent first.
    pub classes: Vec<ClassResult>,
    /// Time series that the probes recorded, in scenario order.
    pub series: Vec<Series>,
    /// Dropped cells that the `trace` probes recorded, in order of time, then of the links in the
    /// scenario.
    pub trace: Vec<Dropped>,
}

/// Returns the JSON Schema of a [`RunResult`]. Every field is always present, so `required` lists
/// all of them in document order.
pub fn json_schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings
        .into_generator()
        .into_root_schema_for::<RunResult>();
    schema.into()
}

/// Builds the result of a run from its counters.
pub fn assemble(
    scenario: &Scenario,
    topology: &Topology,
    replication: Option<u64>,
    tally: &Tally,
    series: Vec<Series>,
    trace: Vec<Dropped>,
) -> RunResult {
    let clock = scenario.format.clock;
    let measured_s = measuring_time(scenario).as_seconds(clock);
    let vcs = vc::all(scenario, topology, tally, measured_s);
    RunResult {
        name: scenario.name.clone(),
        seed: scenario.seed,
        replication,
        duration_s: scenario.duration.as_seconds(clock),
        measured_s,
        digest: tally.digest.map(|d| format!("{d:016x}")),
        totals: totals::totals(scenario, topology, tally, &vcs),
        ports: port::all(scenario, topology, tally, &vcs),
        pools: pool::all(scenario, topology, tally),
        classes: class::all(scenario, topology, tally, &vcs),
        vcs,
        series,
        trace,
    }
}

/// Returns the length of the measuring time. The measuring time begins when the warm-up ends; it
/// lasts until the end of the run or for the given window, whichever is shorter.
fn measuring_time(scenario: &Scenario) -> Span {
    let warm_up = scenario.measure.warm_up;
    let rest = Span(scenario.duration.0.saturating_sub(warm_up.0));
    scenario.measure.window.map_or(rest, |w| w.min(rest))
}

/// Returns the counters of a VC's data flow.
fn data<'a>(vc: usize, topology: &Topology, tally: &'a Tally) -> &'a FlowTally {
    &tally.flows[topology.flow(vc, FlowKind::Data).index()]
}

/// Returns the largest delay minus the smallest, in seconds; `None` without cells.
fn variation(delay: &DelayTally, clock: Clock) -> Option<f64> {
    (delay.count > 0).then(|| clock.seconds((delay.max - delay.min) as f64))
}

/// Returns the delay in seconds that the fraction `p` of the cells do not exceed; `None` without
/// cells. The value is the upper end of a bin, limited to the largest observed delay.
fn quantile(bins: &DelayBins, delay: &DelayTally, p: f64, clock: Clock) -> Option<f64> {
    let ticks = bins.quantile(p)?;
    Some(clock.seconds(ticks.min(delay.max) as f64))
}

/// Returns the frame loss ratio. Frames still under way at the end are in neither count.
fn frame_loss(lost: u64, delivered: u64) -> f64 {
    ratio(lost, lost + delivered)
}

/// Returns `part` divided by `whole`, or 0 when `whole` is 0.
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

    /// Returns the names of the fields of a struct, in order.
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
