//! Builds a simulation from a scenario, as flat arrays of stations, hops, feeds, ports, hosts and
//! probes.

mod draws;
mod hops;
mod hosts;
mod lookahead;
mod pools;
mod ports;
mod probes;
mod roles;

use crate::ground::flow::{FlowId, FlowKind};
use crate::ground::units::Time;
use crate::network::abr::{Logs, Sites, SubscriberIndex};
use crate::network::capture::Captures;
use crate::network::cells::Feed;
use crate::network::fabric::{AtTie, Fabric};
use crate::network::loss::Losses;
use crate::network::sink::{Destinations, Sink};
use crate::run::resolved::Resolved;
use crate::run::simulation::{Parts, Simulation};
use crate::text::options::{Options, RunError};
use crate::text::scenario::Scenario;
use draws::Draws;
use probes::Watched;
use roles::LinkRoles;

/// Common inputs for building all parts of the network.
struct Blueprint<'a> {
    net: &'a Resolved<'a>,
    sites: Sites,
    roles: LinkRoles,
    watched: Watched<'a>,
    draws: Draws<'a>,
}

/// Builds the network of `net` as published (`None`) or as a replication.
///
/// # Errors
/// [`RunError::Kernel`] if the arithmetic kernel is forced on a port that it cannot serve.
pub fn build(
    net: &Resolved<'_>,
    replication: Option<u64>,
    options: &Options,
) -> Result<Simulation, RunError> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut sites = Sites::new(scenario, topology);
    sites.split_off_constant(topology, |link| !net.can_queue(link));
    let plan = Blueprint {
        net,
        roles: LinkRoles::new(net, &sites),
        sites,
        watched: Watched::new(scenario, topology),
        draws: Draws::new(scenario, replication),
    };
    let end = Time::ZERO + scenario.duration;
    let measured = measured(scenario);
    let stages = plan.switch_stages();
    let observers = plan.observers(options);
    let captures = options.captures;
    let captures = captures.and_then(|limit| Captures::new(scenario, topology, limit));
    let hops = plan.hops(&stages, &observers, captures.as_deref());
    let lookaheads = lookahead::lookahead(&plan, &hops);
    let hosts = plan.hosts(&hops, &lookaheads, end, measured);
    let feeds = plan.roles.feeds;
    let ports = plan.ports(&hops, lookaheads.of_ports, captures.as_deref(), options)?;
    let mut logs = plan.logs();
    if captures.is_some() {
        logs.keep_history();
    }
    let losses = scenario.links.iter().map(|link| {
        let stream = || plan.draws.stream(&link.name, "loss");
        Losses::of(link, stream)
    });
    let has_abr = scenario.vcs.iter().any(|vc| vc.abr.is_some());
    let fabric = Fabric {
        feeds: (0..feeds).map(|_| Feed::default()).collect(),
        woken: vec![Vec::new(); ports.len()],
        woken_ports: Vec::new(),
        stages: stages.all,
        losses: losses.collect(),
        destinations: Destinations {
            sinks: plan.sinks(),
            arrivals: Vec::new(),
        },
        hops: hops.hops,
        extras: hops.extras,
        pools: plan.pools(!observers.traced.is_empty() || captures.is_some()),
        observers,
        captures,
        logs,
        end,
        drop_until: end,
        earliest_starts: vec![Time::ZERO; if has_abr { ports.len() } else { 0 }],
        tied: false,
        at_tie: AtTie::default(),
        measured,
        stopped: None,
    };
    Ok(Simulation::new(Parts {
        hosts,
        fabric,
        ports,
        groups: plan.groups(),
        distances: lookaheads.distances,
        links: scenario.links.len(),
        memory_limit: options.memory_left(),
        pause_above: options.pause_above,
    }))
}

/// The measuring time, [from, to).
fn measured(scenario: &Scenario) -> (Time, Time) {
    let from = Time::ZERO + scenario.measure.warm_up;
    let to = scenario.measure.window.map_or(Time::NEVER, |w| from + w);
    (from, to)
}

impl Blueprint<'_> {
    /// Builds the logs of RM cells for all places that they meet.
    fn logs(&self) -> Logs {
        let mut logs = Logs::new(&self.sites, self.net.topology.flows.len());
        for (flow, id) in self.net.topology.flows.iter().zip(0..) {
            if flow.kind.is_rm() {
                for at in 1..flow.path.len() {
                    let read = self.sites.feedback_from(&self.net.topology, FlowId(id), at);
                    let marked = self.sites.reports_to(&self.net.topology, FlowId(id), at);
                    let may_mark = |at: &SubscriberIndex| {
                        self.sites.all[at.site as usize].feedback.may_mark_data()
                    };
                    for (backward, at) in [(true, read), (false, marked.filter(may_mark))] {
                        at.into_iter()
                            .for_each(|at| logs.expect(FlowId(id), backward, at));
                    }
                }
            }
        }
        logs
    }

    /// Builds the receiving ends of all flows.
    fn sinks(&self) -> Vec<Sink> {
        let scenario = self.net.scenario;
        let full_frame = |flow: &crate::ground::flow::Flow| match flow.kind {
            FlowKind::Data => scenario.vcs[flow.vc].traffic.frame_size(scenario.format),
            FlowKind::Ack => scenario.format.ack(0),
            FlowKind::Rm | FlowKind::RmBack => scenario.format.one_cell(),
        };
        let flows = self.net.topology.flows.iter();
        flows.map(|flow| Sink::new(full_frame(flow))).collect()
    }
}
