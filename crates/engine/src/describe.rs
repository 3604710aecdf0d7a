//! What a scenario amounts to before it runs: its ports, where cells can queue, how many there can be.

use crate::scenario::{Scenario, Traffic};
use crate::simulation::RunError;
use crate::topology::Topology;
use crate::units::CELL_BITS;
use serde_json::{Value, json};

/// `{"hosts", "switches", "links", "vcs", "duration_s", "max_bottleneck_cells", "ports": [{"name", "switch", "inputs",
/// "can_queue", "data_vcs", "ack_vcs", "max_data_cells"}]}`, for the ports that carry anything.
///
/// The cells are an upper bound: what the links and the cell sources can bring in the simulated time.
///
/// # Errors
/// As [`crate::simulation::run`], for a scenario that the reader has not checked.
pub fn describe(scenario: &Scenario) -> Result<Value, RunError> {
    let topology = Topology::new(scenario).map_err(RunError::Scenario)?;
    let can_queue = crate::network::queueing_links(scenario, &topology);
    let seconds = scenario.duration.as_seconds();
    let cells = |bits_per_second: f64| bits_per_second * seconds / CELL_BITS as f64;
    let offered = |vc: usize| {
        let mean = match &scenario.vcs[vc].traffic {
            Traffic::Tcp(_) => f64::INFINITY,
            Traffic::Cbr { rate } | Traffic::Poisson { rate } => rate.0 as f64,
            Traffic::Vbr { rate, on, off } => {
                rate.0 as f64 * on.as_seconds() / (on.as_seconds() + off.as_seconds())
            }
        };
        let links = topology.paths[2 * vc].iter();
        links.fold(mean, |least, &l| least.min(scenario.links[l].rate.0 as f64))
    };
    let mut bottleneck = 0.0;
    let mut ports = Vec::new();
    for link in (0..scenario.links.len()).filter(|&l| !topology.inputs[l].is_empty()) {
        let crossing = |side: usize| -> Vec<usize> {
            let vcs = 0..scenario.vcs.len();
            vcs.filter(|vc| topology.paths[2 * vc + side].contains(&link))
                .collect()
        };
        let brought: f64 = crossing(0).into_iter().map(offered).sum();
        let most = cells(brought.min(scenario.links[link].rate.0 as f64)).ceil();
        if can_queue[link] {
            bottleneck += most;
        }
        let inputs = topology.inputs[link].iter();
        ports.push(json!({
            "name": scenario.links[link].name,
            "switch": scenario.links[link].from,
            "inputs": inputs.map(|&i| scenario.links[i].name.as_str()).collect::<Vec<_>>(),
            "can_queue": can_queue[link],
            "data_vcs": crossing(0).len(),
            "ack_vcs": crossing(1).len(),
            "max_data_cells": most as u64,
        }));
    }
    Ok(json!({
        "hosts": scenario.hosts.len(),
        "switches": scenario.switches.len(),
        "links": scenario.links.len(),
        "vcs": scenario.vcs.len(),
        "duration_s": seconds,
        "max_bottleneck_cells": bottleneck as u64,
        "ports": ports,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::read_toml;

    #[test]
    fn a_lan_queues_at_its_bottleneck_only() {
        let text = include_str!("../../../examples/lan-5.toml");
        let scenario = read_toml(text, "lan-5.toml", &[]).expect("the example is valid");
        let found = describe(&scenario).expect("it can be built");
        let queueing: Vec<&str> = found["ports"]
            .as_array()
            .expect("ports are a list")
            .iter()
            .filter(|port| port["can_queue"] == true && port["data_vcs"] != 0)
            .filter_map(|port| port["name"].as_str())
            .collect();
        assert_eq!(queueing, ["west->east"]);
        // 10 s at 155.52 Mb/s and 424 bits a cell.
        assert_eq!(found["max_bottleneck_cells"], 3_667_925);
    }
}
