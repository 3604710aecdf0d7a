//! Names to indices: which links a flow takes, which links feed a port.

use crate::flow::{Flow, FlowId, FlowKind};
use crate::scenario::model::{Class, ClassQueue, Link, Scenario, Scheduler, Terms};
use crate::scenario::port;
use std::collections::HashMap;

/// The network of a checked scenario, by index: links, VCs and hosts are numbered as in the scenario.
#[derive(Clone, Debug)]
pub struct Topology {
    /// All flows, by their number.
    pub flows: Vec<Flow>,
    /// Per VC, its flows in the order of [`FlowKind::of_vc`].
    flows_of: Vec<Vec<FlowId>>,
    /// Per link, the flows that take it, ascending.
    pub crossing: Vec<Vec<FlowId>>,
    /// Per link that leaves a switch (a port), the links that feed it, in scenario order; empty for others.
    pub inputs: Vec<Vec<usize>>,
    /// Per link, the classes of the VCs that cross it either way, most urgent first.
    pub classes: Vec<Vec<Class>>,
    /// Per link, the index of the switch it leaves, or `None` when it leaves a host.
    pub switch_of: Vec<Option<usize>>,
    /// Per link, the index of the host it leaves, or `None` when it leaves a switch.
    pub host_of: Vec<Option<usize>>,
    /// Per link, the index of the switch it enters, or `None` when it enters a host.
    pub enters: Vec<Option<usize>>,
}

/// What sources of cells bring to the NIC of a link, and what that can send.
#[derive(Clone, Copy, Debug)]
pub struct HostLoad {
    /// Sum of their mean rates, bits per second.
    pub offered_bps: f64,
    /// Rate of the link, bits per second.
    pub rate_bps: f64,
}

impl HostLoad {
    /// The one over the other.
    pub fn ratio(self) -> f64 {
        self.offered_bps / self.rate_bps
    }

    /// Whether they bring more than it can send, by more than the rounding of their sum.
    pub fn is_too_much(self) -> bool {
        self.ratio() > 1.0 + 1e-9
    }
}

impl Topology {
    /// Resolves a scenario that the reader has checked.
    ///
    /// # Errors
    /// A sentence naming the VC and the missing link, if the scenario was built without the reader's checks.
    pub fn new(scenario: &Scenario) -> Result<Topology, String> {
        let hosts: HashMap<&str, usize> = index(scenario.hosts.iter().map(|h| h.name.as_str()));
        let switches: HashMap<&str, usize> =
            index(scenario.switches.iter().map(|s| s.name.as_str()));
        let (flows, flows_of) = flows(scenario, &hosts)?;
        let links = scenario.links.len();
        let mut crossing = vec![Vec::new(); links];
        let mut inputs = vec![Vec::new(); links];
        let mut classes = vec![Vec::new(); links];
        for (flow, id) in flows.iter().zip(0..) {
            for hop in flow.path.windows(2) {
                inputs[hop[1]].push(hop[0]);
            }
            for &link in &flow.path {
                crossing[link].push(FlowId(id));
                classes[link].push(scenario.vcs[flow.vc].class);
            }
        }
        for feeding in &mut inputs {
            feeding.sort_unstable();
            feeding.dedup();
        }
        for crossing in &mut classes {
            crossing.sort_unstable();
            crossing.dedup();
        }
        let leaves = |names: &HashMap<&str, usize>| {
            let find = |l: &Link| names.get(l.from.as_str()).copied();
            scenario.links.iter().map(find).collect()
        };
        let enters = |l: &Link| switches.get(l.to.as_str()).copied();
        Ok(Topology {
            flows,
            flows_of,
            crossing,
            inputs,
            classes,
            switch_of: leaves(&switches),
            host_of: leaves(&hosts),
            enters: scenario.links.iter().map(enters).collect(),
        })
    }

    /// The flow of that kind of a VC.
    pub fn flow(&self, vc: usize, kind: FlowKind) -> FlowId {
        let ids = self.flows_of[vc].iter();
        let mut found = ids.filter(|id| self.flows[id.index()].kind == kind);
        *found.next().expect("every VC has a flow of each kind")
    }

    /// All flows of a VC.
    pub fn flows_of(&self, vc: usize) -> &[FlowId] {
        &self.flows_of[vc]
    }

    /// The links of a VC's data, from host to host.
    pub fn data_path(&self, vc: usize) -> &[usize] {
        &self.flows[self.flow(vc, FlowKind::Data).index()].path
    }

    /// Per link: what sources of cells hand to its NIC, whatever becomes of it; nothing for links that leave a switch. A source that
    /// starts at the end of the run or later hands over nothing.
    pub fn host_loads(&self, scenario: &Scenario) -> Vec<HostLoad> {
        let load = |link: &Link| HostLoad {
            offered_bps: 0.0,
            rate_bps: link.rate.0 as f64,
        };
        let mut loads: Vec<HostLoad> = scenario.links.iter().map(load).collect();
        for (index, vc) in scenario.vcs.iter().enumerate() {
            if vc.start < scenario.duration {
                loads[self.data_path(index)[0]].offered_bps +=
                    vc.traffic.offered_rate().unwrap_or(0.0);
            }
        }
        loads
    }

    /// The scheduler of the port that `link` is, which must leave a switch: the link's own, else the switch's.
    pub fn scheduler<'a>(&self, scenario: &'a Scenario, link: usize) -> &'a Scheduler {
        let switch = &scenario.switches[self.port_switch(link)];
        let own = scenario.links[link].scheduler.as_ref();
        port::scheduler(own, Some(&switch.scheduler)).expect("a switch has one")
    }

    /// The class queue of `class` at the port that `link` is: the link's own, else the switch's, else unlimited tail drop.
    pub fn queue(&self, scenario: &Scenario, link: usize, class: Class) -> ClassQueue {
        let switch = &scenario.switches[self.port_switch(link)];
        port::queue(&scenario.links[link].queues, &switch.queues, class)
    }

    /// The contracts of the flows that cross `link`, by their number there: those of the data of VCs of `class`.
    pub fn contracts(&self, scenario: &Scenario, link: usize, class: Class) -> Vec<Option<Terms>> {
        let contract = |id: &FlowId| {
            let flow = &self.flows[id.index()];
            let vc = &scenario.vcs[flow.vc];
            let is_told = flow.kind.is_data() && vc.class == class;
            vc.terms().filter(|_| is_told)
        };
        self.crossing[link].iter().map(contract).collect()
    }

    fn port_switch(&self, link: usize) -> usize {
        self.switch_of[link].expect("a port is a link that leaves a switch")
    }
}

/// All flows, and those of each VC.
type Flows = (Vec<Flow>, Vec<Vec<FlowId>>);

fn flows(scenario: &Scenario, hosts: &HashMap<&str, usize>) -> Result<Flows, String> {
    let mut between: HashMap<(&str, &str), usize> = HashMap::new();
    for (i, link) in scenario.links.iter().enumerate() {
        between.entry((&link.from, &link.to)).or_insert(i);
    }
    let mut flows = Vec::with_capacity(FlowKind::FRAMES.len() * scenario.vcs.len());
    let mut flows_of = Vec::with_capacity(scenario.vcs.len());
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let host = |name: &str| {
            let found = hosts.get(name).copied();
            found.ok_or_else(|| format!("vc {}: no host named {name}", vc.name))
        };
        let hosts = [host(&vc.from)?, host(&vc.to)?];
        let mut nodes = vec![vc.from.as_str()];
        nodes.extend(vc.route.iter().map(String::as_str));
        nodes.push(&vc.to);
        let link = |from: &str, to: &str| {
            let found = between.get(&(from, to)).copied();
            found.ok_or_else(|| format!("vc {}: no link from {from} to {to}", vc.name))
        };
        let mut own = Vec::new();
        for &kind in FlowKind::of_vc(vc.abr.is_some()) {
            let hops = nodes.windows(2);
            let (path, hosts): (Result<Vec<usize>, String>, _) = if kind.is_forward() {
                (hops.map(|w| link(w[0], w[1])).collect(), hosts)
            } else {
                let back = hops.rev().map(|w| link(w[1], w[0]));
                (back.collect(), [hosts[1], hosts[0]])
            };
            own.push(FlowId(flows.len() as u32));
            flows.push(Flow {
                vc: index,
                kind,
                path: path?,
                hosts,
            });
        }
        flows_of.push(own);
    }
    Ok((flows, flows_of))
}

fn index<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    names.enumerate().map(|(i, name)| (name, i)).collect()
}
