//! Describes a scenario before it runs: its ports, where cells can queue, and how many cells there
//! can be.

pub(crate) mod cost;
mod names;
mod notes;
mod outline;
mod pools;
mod programs;

pub use cost::Expected;
pub use names::NameRange;
pub use outline::{Outline, PathGroup, PathHop, PathPort, outline};
pub use programs::{NameFacts, ProgramFacts, SchedulerFacts};

use crate::about::memory;
use crate::ground::flow::FlowKind;
use crate::run::resolved::{Resolved, ResolvedPort, ResolvedQueue};
use crate::text::options::{Kernel, Options, RunError};
use crate::text::scenario::fair_goodput;
use crate::text::scenario::{Scenario, Scheduler};
use serde::Serialize;

/// Description of a scenario. Lists only ports that carry anything.
#[derive(Clone, Debug, Serialize)]
pub struct Description<'s> {
    /// Number of hosts.
    pub hosts: usize,
    /// Number of switches.
    pub switches: usize,
    /// Number of links.
    pub links: usize,
    /// Number of VCs.
    pub vcs: usize,
    /// Simulated time.
    pub duration_s: f64,
    /// Upper bound on the data cells that links and cell sources can bring to ports that can queue.
    pub max_bottleneck_cells: u64,
    /// Predicted cost of a run.
    pub expected: Expected,
    /// Upper bound on the memory that a run needs, in bytes.
    pub memory_bytes: u64,
    /// Sum of the goodputs of the VCs that carry frames, at max-min fair shares of the links, in
    /// bits per second. `None` without such VCs, and for more than 2000 VCs.
    pub fair_goodput_bps: Option<u64>,
    /// Ports in the order of the links.
    pub ports: Vec<PortDescription<'s>>,
    /// Warnings about settings that are valid, but probably a mistake. Most are about settings
    /// without effect.
    pub notes: Vec<String>,
}

/// A port that carries anything.
#[derive(Clone, Debug, Serialize)]
pub struct PortDescription<'s> {
    /// Name of its link.
    pub name: &'s str,
    /// Name of its switch.
    pub switch: &'s str,
    /// Mean rate of its link over the run, bits per second.
    pub mean_rate_bps: f64,
    /// Names of the links that feed it.
    pub inputs: Vec<&'s str>,
    /// Whether cells can wait at the port.
    pub can_queue: bool,
    /// Number of VCs whose data cross the port.
    pub data_vcs: usize,
    /// Number of VCs whose ACKs cross the port.
    pub ack_vcs: usize,
    /// Upper bound on the arriving data cells.
    pub max_data_cells: u64,
    /// The scheduler that applies: the link's own or the switch's.
    pub scheduler: &'s Scheduler,
    /// The queue of each class that crosses the port, most urgent first: the link's own or the
    /// switch's.
    pub queues: Vec<ResolvedQueue<'s>>,
    /// The kernel that serves the port, if cells can wait there.
    pub kernel: Option<ChosenKernel>,
}

/// The kernel that serves a port unless another is forced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChosenKernel {
    /// `arithmetic` or `slotted`.
    pub name: &'static str,
    /// Reason against the arithmetic kernel, if another is used.
    pub because: Option<String>,
}

impl ChosenKernel {
    fn of(port: &ResolvedPort) -> ChosenKernel {
        let because = port.arithmetic.err();
        let kernel = match because {
            None => Kernel::Arithmetic,
            Some(_) => Kernel::Slotted,
        };
        ChosenKernel {
            name: kernel.name(),
            because: because.map(|because| because.to_string()),
        }
    }
}

/// Describes `scenario`.
///
/// # Errors
/// As [`crate::run`], for a scenario that the reader has not checked.
pub fn describe(scenario: &Scenario) -> Result<Description<'_>, RunError> {
    let net = Resolved::new(scenario).map_err(RunError::Scenario)?;
    Ok(describe_network(&net))
}

fn describe_network<'s>(net: &Resolved<'s>) -> Description<'s> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let seconds = scenario.duration.as_seconds(scenario.format.clock);
    let vcs = 0..scenario.vcs.len();
    let offered: Vec<f64> = vcs.map(|vc| offered_bits(net, vc, seconds)).collect();
    let mut bottleneck = 0.0;
    let mut ports = Vec::new();
    for (link, port) in net.ports() {
        let crossing = topology.crossing[link].iter();
        let flows = crossing.map(|id| &topology.flows[id.index()]);
        let data = flows.clone().filter(|flow| flow.kind.is_data());
        let brought: f64 = data.clone().map(|flow| offered[flow.vc]).sum();
        let bits = brought.min(scenario.bits_of_link(link));
        let lengths = data.clone().filter_map(|flow| {
            let traffic = &scenario.vcs[flow.vc].traffic;
            traffic.cell_lengths(flow.kind, scenario.format)
        });
        let shortest = lengths.map(|of| of.shortest).min();
        let most = shortest.map_or(0.0, |bytes| (bits / f64::from(8 * bytes)).ceil());
        if port.can_queue {
            bottleneck += most;
        }
        let inputs = topology.inputs[link].iter();
        let classes = topology.classes[link].iter();
        ports.push(PortDescription {
            name: &scenario.links[link].name,
            switch: &scenario.links[link].from,
            mean_rate_bps: scenario.mean_rate(link),
            inputs: inputs.map(|&i| scenario.links[i].name.as_str()).collect(),
            can_queue: port.can_queue,
            data_vcs: data.count(),
            ack_vcs: flows.filter(|flow| flow.kind == FlowKind::Ack).count(),
            max_data_cells: most as u64,
            scheduler: port.scheduler,
            queues: classes.map(|&class| port.queue(class)).collect(),
            kernel: port.can_queue.then(|| ChosenKernel::of(port)),
        });
    }
    let fair = fair_goodput::fair_goodputs(scenario, topology);
    Description {
        hosts: scenario.hosts.len(),
        switches: scenario.switches.len(),
        links: scenario.links.len(),
        vcs: scenario.vcs.len(),
        duration_s: seconds,
        max_bottleneck_cells: bottleneck as u64,
        expected: cost::expected(net),
        memory_bytes: memory::need(net, &Options::default()).bytes as u64,
        fair_goodput_bps: fair_goodput::sum(&fair),
        ports,
        notes: notes::notes(net, &fair),
    }
}

/// The `notes` of [`describe`], without the rest.
///
/// # Errors
/// As [`describe`].
pub fn notes(scenario: &Scenario) -> Result<Vec<String>, RunError> {
    let net = Resolved::new(scenario).map_err(RunError::Scenario)?;
    let fair = fair_goodput::fair_goodputs(scenario, &net.topology);
    Ok(notes::notes(&net, &fair))
}

/// Notes about replications of a scenario; `is_jitter_stated` is whether it states
/// `ensemble.start_jitter`, instead of leaving it to its default.
///
/// # Errors
/// As [`describe`].
pub fn replication_notes(
    scenario: &Scenario,
    is_jitter_stated: bool,
) -> Result<Vec<String>, RunError> {
    let net = Resolved::new(scenario).map_err(RunError::Scenario)?;
    Ok(notes::draws::notes(&net, is_jitter_stated))
}

/// Most bits of data on the line that a VC sends in `seconds`; of a random source the mean.
fn offered_bits(net: &Resolved<'_>, vc: usize, seconds: f64) -> f64 {
    let scenario = net.scenario;
    let source = scenario.vcs[vc]
        .traffic
        .offered_bits(scenario.format, seconds);
    let links = net.topology.data_path(vc).iter();
    let bits = links.map(|&link| scenario.bits_of_link(link));
    let shaped = scenario.vcs[vc].shaped_bits(seconds);
    bits.fold(source.unwrap_or(shaped).min(shaped), f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scenario::read_toml;
    use serde_json::{Value, json};

    fn described(scenario: &Scenario) -> Value {
        let found = describe(scenario).expect("it can be built");
        serde_json::to_value(found).expect("it is plain data")
    }

    #[test]
    fn a_lan_queues_at_its_bottleneck_only() {
        let text = include_str!("../../../../../examples/lan-5.toml");
        let scenario = read_toml(text, "lan-5.toml", &[]).expect("the example is valid");
        let found = described(&scenario);
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
        assert_eq!(found["notes"], json!([]));
    }

    #[test]
    fn what_shapers_let_go_bounds_cells_shares_cost_and_memory() {
        let text = include_str!("../../../../../examples/lan-5.toml");
        let with = |overrides: &[(&str, &str)]| {
            let set = overrides.iter().map(|&(p, v)| (p.into(), v.into()));
            let scenario = read_toml(text, "", &set.collect::<Vec<_>>()).expect("it reads");
            described(&scenario)
        };
        let shape = ("vc.shape", "{ rate = \"1 Mbps\", burst = \"20 kB\" }");
        let udp = ("vc.traffic", "{ kind = \"udp\", rate = \"9 Mbps\" }");
        let found = with(&[shape]);
        // Five buckets of 20 000 bytes and 10 s of 1 Mb/s each, in cells of 424 bits. Of 636 bytes,
        // 512 are data.
        assert_eq!(found["max_bottleneck_cells"], 119_812);
        assert_eq!(found["fair_goodput_bps"], 4_025_157);
        let frames = |found: &Value| found["expected"]["frames"].as_f64().expect("a number");
        let data = 5.0 * (10e6 + 160e3) / (8.0 * 636.0);
        assert!(
            (frames(&found) / (2.0 * data) - 1.0).abs() < 0.01,
            "{}",
            frames(&found)
        );
        // Of 9 Mb/s, 8 wait in the shaper.
        let memory = |found: &Value| found["memory_bytes"].as_f64().expect("a number");
        let waiting = 5.0 * 80e6 / 8.0 / (23.0 * 53.0);
        let more = memory(&with(&[shape, udp])) - memory(&with(&[udp]));
        assert!((more / (128.0 * waiting) - 1.0).abs() < 0.01, "{more}");
    }

    #[test]
    fn a_port_names_its_kernel_and_why() {
        let text = include_str!("../../../../../examples/vbr-guaranteed-rate.toml");
        let kernel = |name: &str, overrides: &[(&str, &str)]| {
            let overrides: Vec<_> = overrides
                .iter()
                .map(|&(p, v)| (p.into(), v.into()))
                .collect();
            let scenario = read_toml(text, "", &overrides).expect("it reads");
            let found = described(&scenario);
            let ports = found["ports"].as_array().expect("ports are a list");
            let port = ports.iter().find(|port| port["name"] == name);
            port.expect("a port")["kernel"].clone()
        };
        let slotted = |because: &str| json!({ "name": "slotted", "because": because });
        let arithmetic = json!({ "name": "arithmetic", "because": null });
        assert_eq!(kernel("west->east", &[]), slotted("2 classes cross it"));
        assert_eq!(kernel("east->sink1", &[]), Value::Null);
        let one_class = [("vc.vbr.class", "ubr")];
        let with = |more| [one_class[0], more];
        assert_eq!(kernel("west->east", &one_class), arithmetic);
        let own = [
            (
                "switch.west.scheduler",
                "{ kind = \"per-vc\", class = \"ubr\" }",
                "its scheduler keeps a queue for each VC",
            ),
            (
                "switch.west.ubr.drop",
                "drop-from-front",
                "its drop policy drops from the queue",
            ),
            (
                "probe",
                "[{ what = \"credit\", of = \"west->east\" }]",
                "a probe records its credit",
            ),
        ];
        for (path, value, because) in own {
            assert_eq!(kernel("west->east", &with((path, value))), slotted(because));
        }
    }

    #[test]
    fn ports_tell_what_holds_there() {
        let text = include_str!("../../../../../examples/vbr-guaranteed-rate.toml");
        let own = [(
            "link.west->east.vbr".into(),
            "{ buffer = \"7 cells\", drop = \"ppd\" }".into(),
        )];
        let scenario = read_toml(text, "", &own).expect("the example is valid");
        let found = described(&scenario);
        let ports = found["ports"].as_array().expect("ports are a list");
        let port = |name: &str| {
            let port = ports.iter().find(|p| p["name"] == name).expect("a port");
            (&port["scheduler"], &port["queues"])
        };
        let (tenth, r, z) = (
            json!({ "num": 1, "den": 10 }),
            json!({ "fraction": { "num": 9, "den": 10 } }),
            json!({ "num": 8, "den": 10 }),
        );
        let own = json!({ "class": "vbr", "buffer": 7, "places": 7, "drop": { "policy": "ppd" }, "feedback": null, "police": null, "rest_of_frame": "drop-but-eom" });
        let of_switch = json!({
            "class": "ubr", "buffer": 3000, "places": 3000, "drop": { "policy": "selective-drop", "r": r, "z": z },
            "feedback": null, "police": null, "rest_of_frame": "accept",
        });
        let (scheduler, queues) = port("west->east");
        assert_eq!(
            *scheduler,
            json!({ "kind": "guaranteed-rate", "class": "ubr", "gr": tenth })
        );
        assert_eq!(*queues, json!([own, of_switch]));
        let (scheduler, queues) = port("east->sink1");
        let tail_drop = json!({ "policy": "tail-drop" });
        assert_eq!(*scheduler, json!({ "kind": "strict-priority" }));
        assert_eq!(
            *queues,
            json!([{ "class": "ubr", "buffer": null, "places": null, "drop": tail_drop, "feedback": null, "police": null, "rest_of_frame": "accept" }])
        );
    }
}
