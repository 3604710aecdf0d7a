//! Results of the pool of a switch.

use crate::network::tally::{PoolTally, Tally};
use crate::text::scenario::Scenario;
use crate::text::scenario::topology::{PoolTerms, Topology};
use schemars::JsonSchema;
use serde::Serialize;

/// The memory that the queues of a switch share.
///
/// Values cover the whole run. Cells in service take no place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoolResult {
    /// Name of the switch.
    pub switch: String,
    /// What a place is: `cell`, `packet`, `byte` or `memory cell`.
    pub place: &'static str,
    /// B: places of the pool, reserves included.
    pub buffer_places: u64,
    /// Sum of the reserves of all queues that take part.
    pub reserved_places: u64,
    /// Most places in use just after a cell was accepted.
    pub max_used_places: u64,
    /// Mean number of places in use.
    pub mean_used_places: f64,
    /// Ports that take part, in scenario order.
    pub ports: Vec<PoolPortResult>,
}

/// A port that takes part in a pool. Values cover the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PoolPortResult {
    /// Name of the port.
    pub port: String,
    /// Cells that the port refused on arrival, for any reason. Of a refused frame, only the first
    /// cell counts.
    pub refusals: u64,
    /// Refusals at contested ties of the pool: cells came to several of its ports at one instant, and
    /// one was accepted and another refused. Another `tie_order` may refuse others.
    pub tied_refusals: u64,
}

/// Returns the results of all pools, in the order of the switches.
pub(super) fn all(scenario: &Scenario, topology: &Topology, tally: &Tally) -> Vec<PoolResult> {
    let pool = |counts: &PoolTally| {
        let terms = topology.pools[counts.switch].as_ref().expect("a pool");
        let pool = scenario.switches[counts.switch].pool.expect("a pool");
        let ports = terms.links.iter().zip(&counts.tied_refusals);
        let ports = ports.map(|(&link, &tied_refusals)| PoolPortResult {
            port: scenario.links[link].name.clone(),
            refusals: tally.ports[link]
                .as_ref()
                .map_or(0, |port| port.refusals.iter().map(|input| input.all).sum()),
            tied_refusals,
        });
        PoolResult {
            switch: scenario.switches[counts.switch].name.clone(),
            place: PoolTerms::noun(&pool, scenario.format),
            buffer_places: terms.places,
            reserved_places: terms.reserved,
            max_used_places: counts.max_used,
            mean_used_places: counts.used_time as f64 / scenario.duration.0 as f64,
            ports: ports.collect(),
        }
    };
    tally.pools.iter().map(pool).collect()
}
