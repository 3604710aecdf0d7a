//! Rule: the latest instant that a run could compute must be representable.

use super::model::{Processing, ProcessingKind, ProcessingUnit, Scenario, Vc};
use super::network::Network;
use super::report::Report;
use super::traffic::Load;
use crate::ground::class::Class;
use crate::ground::flow::FlowKind;
use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::text::scenario::topology::Topology;

/// Reports VCs whose cells could travel longer than simulated time can represent.
///
/// The bound counts everything that can wait at once at each link and processing stage. Each entry
/// of the scenario is reported once.
pub(crate) fn check(network: &Network<'_>, report: &mut Report) {
    let loads = Loads::new(network.scenario, network.topology);
    let most = Time::LATEST.as_seconds(network.scenario.format.clock);
    let noun = network.scenario.format.noun();
    for (vc, at) in network.things.vcs.iter().enumerate() {
        let latest = loads.latest(vc);
        if latest > most {
            report.add_once(
                &format!("vc[{}]", at.entry),
                format!("could still have {noun}s in transit after {latest:.2e} s"),
                format!("at most {most} s: a shorter run, fewer or slower sources, smaller windows, faster links"),
            );
        }
    }
}

/// Upper bounds on the load at each place.
struct Loads<'s> {
    scenario: &'s Scenario,
    topology: &'s Topology,
    vcs: Vec<Load>,
    links: Vec<Load>,
    hosts: Vec<Load>,
    /// Longest wait for each link, seconds.
    waits: Vec<f64>,
}

impl<'s> Loads<'s> {
    fn new(scenario: &'s Scenario, topology: &'s Topology) -> Loads<'s> {
        let format = scenario.format;
        // A source sends from its start to its stop.
        let active = |vc: &Vc| {
            let to = vc
                .stop
                .map_or(scenario.duration, |t| t.min(scenario.duration));
            Span(to.0.saturating_sub(vc.start.0)).as_seconds(format.clock)
        };
        let vcs: Vec<Load> = scenario
            .vcs
            .iter()
            .map(|vc| vc.traffic.most_under_way(format, active(vc)))
            .collect();
        let mut links = vec![Load::default(); scenario.links.len()];
        let mut hosts = vec![Load::default(); scenario.hosts.len()];
        let mut bits = vec![[0.0; Class::ALL.len()]; scenario.links.len()];
        for flow in &topology.flows {
            let vc = &scenario.vcs[flow.vc];
            // Nothing flows back from a source without answers.
            if !flow.kind.is_data() && !vc.traffic.answers() && vc.abr.is_none() {
                continue;
            }
            let load = vcs[flow.vc];
            for &link in &flow.path {
                let class = vc.class;
                bits[link][class as usize] += load.bits;
                links[link].cells += load.cells;
                links[link].frames += load.frames;
            }
            if flow.kind.is_data() {
                for host in flow.hosts {
                    hosts[host].frames += load.frames;
                }
            }
        }
        let mut waits = vec![0.0; scenario.links.len()];
        for (link, classes) in topology.classes.iter().enumerate() {
            for &class in classes {
                let buffer =
                    topology.switch_of[link].and_then(|_| topology.places(scenario, link, class));
                let longest = f64::from(topology.lengths[link].longest) * 8.0;
                let most = buffer.map_or(f64::INFINITY, |k| (k + 1) as f64 * longest);
                let bits = bits[link][class as usize];
                waits[link] += f64::min(bits, most) / scenario.links[link].rate.0 as f64;
            }
            // Nothing begins after the end there.
            let spec = &scenario.links[link];
            if spec.changes_rate() {
                let longest = topology.lengths[link].longest;
                let rates = spec.all_rates().filter(|rate| rate.0 > 0);
                let slowest = rates.min().expect("the first is above 0");
                let takes = scenario.format.time_of(longest, slowest);
                waits[link] = takes.as_seconds(scenario.format.clock);
            }
        }
        Loads {
            scenario,
            topology,
            vcs,
            links,
            hosts,
            waits,
        }
    }

    /// Latest arrival of a VC's last cell, in seconds.
    fn latest(&self, vc: usize) -> f64 {
        let scenario = self.scenario;
        let clock = scenario.format.clock;
        let mut latest = scenario.duration.as_seconds(clock);
        for kind in FlowKind::FRAMES {
            let flow = &self.topology.flows[self.topology.flow(vc, kind).index()];
            for &link in &flow.path {
                latest += self.waits[link] + scenario.links[link].delay.as_seconds(clock);
                if let Some(switch) = self.topology.enters[link] {
                    latest += stage(
                        scenario.switches[switch].processing,
                        self.links[link],
                        clock,
                    );
                }
            }
            if let Some(shape) = scenario.vcs[vc].shape_of(kind) {
                latest += self.vcs[vc].bits / shape.rate.0 as f64;
            }
            for host in flow.hosts {
                latest += stage(scenario.hosts[host].processing, self.hosts[host], clock);
            }
        }
        latest + 4.0 * stage(scenario.vcs[vc].traffic.processing(), self.vcs[vc], clock)
    }
}

/// Longest time, in seconds, in a processing stage through which all of `load` passes.
fn stage(processing: Option<Processing>, load: Load, clock: Clock) -> f64 {
    processing.map_or(0.0, |p| {
        let time = p.mean.as_seconds(clock) + p.spread.as_seconds(clock);
        let items = match (p.kind, p.per) {
            (ProcessingKind::Latency, _) => 1.0,
            (ProcessingKind::Server, ProcessingUnit::Cell) => load.cells,
            (ProcessingKind::Server, ProcessingUnit::Frame) => load.frames,
        };
        time * items
    })
}
