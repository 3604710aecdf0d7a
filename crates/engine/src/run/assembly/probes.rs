//! Connects the scenario's probes to ports, VCs and links.

use super::Blueprint;
use crate::ground::flow::{FlowId, FlowKind};
use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::host::traffic::{FrameSource, Source, SourceState};
use crate::host::{VcProbe, VcWatch};
use crate::network::abr::{mbps, terms};
use crate::network::observe::{LinkShareSum, Observers};
use crate::network::record::{IntervalSum, Points, Record, StepRecorder};
use crate::port::watch::{DropSums, PortProbe, Quantity, Watch, When, dynamic_threshold};
use crate::text::options::Options;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Observable, Probe, Scenario};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// Interval of a probe that needs one, by default 10 ms.
fn interval(given: Option<Span>, clock: Clock) -> Span {
    given.unwrap_or(clock.milliseconds(10))
}

/// Index of the names that probes use, built once.
pub struct Watched<'a> {
    /// Indices of VCs and links by name.
    vcs: HashMap<&'a str, usize>,
    links: HashMap<&'a str, usize>,
    /// Indices of probes by the name of the object they observe.
    probes_of: HashMap<&'a str, Vec<usize>>,
    /// Flows of VCs with a trace probe, each with the first such probe.
    traced: HashMap<FlowId, usize>,
}

impl<'a> Watched<'a> {
    /// Builds the index for the probes of `scenario`; empty without probes.
    pub fn new(scenario: &'a Scenario, topology: &Topology) -> Watched<'a> {
        let mut watched = Watched {
            vcs: HashMap::new(),
            links: HashMap::new(),
            probes_of: HashMap::new(),
            traced: HashMap::new(),
        };
        if scenario.probes.is_empty() {
            return watched;
        }
        let (vcs, links) = (scenario.vcs.iter().zip(0..), scenario.links.iter().zip(0..));
        watched.vcs.extend(vcs.map(|(vc, i)| (vc.name.as_str(), i)));
        watched
            .links
            .extend(links.map(|(link, i)| (link.name.as_str(), i)));
        for (index, probe) in scenario.probes.iter().enumerate() {
            watched.probes_of.entry(&probe.of).or_default().push(index);
            let vc = watched.vcs.get(probe.of.as_str());
            if let (Some(&vc), Observable::Trace) = (vc, probe.what) {
                for &flow in topology.flows_of(vc) {
                    watched.traced.entry(flow).or_insert(index);
                }
            }
        }
        watched
    }
}

/// When a quantity whose first value is `first` is recorded, and where to.
fn recorded(spec: &Probe, first: f64) -> (When, Record) {
    match (spec.interval, spec.every) {
        (Some(interval), _) => (When::Interval(interval, Time::ZERO), Record::of_samples()),
        (None, Some(n)) => (When::Every(n, 0), Record::of_samples()),
        (None, None) => (When::Change, Record::of_changes(spec.envelope, first)),
    }
}

impl Blueprint<'_> {
    /// Index of the VC called `name`.
    fn vc(&self, name: &str) -> Option<usize> {
        self.watched.vcs.get(name).copied()
    }

    fn probes_of(&self, name: &str) -> impl Iterator<Item = (usize, &Probe)> {
        let probes = self.watched.probes_of.get(name).into_iter().flatten();
        probes.map(|&index| (index, &self.net.scenario.probes[index]))
    }

    /// Number of the VC among the flows over `link`: that of its data flow, else of its reverse
    /// flow.
    fn local(&self, link: usize, vc: usize) -> Option<u32> {
        let crossing = &self.net.topology.crossing[link];
        let place = |kind| {
            crossing
                .binary_search(&self.net.topology.flow(vc, kind))
                .ok()
        };
        let found = FlowKind::FRAMES.into_iter().find_map(place);
        found.map(|local| local as u32)
    }

    /// The probe of the port of `link`, if anything is recorded there.
    pub fn port_probe(&self, link: usize) -> Option<Box<PortProbe>> {
        let here = self.net.topology.crossing[link].iter();
        let traced = &self.watched.traced;
        let mut probe = PortProbe {
            link: link as u32,
            traced: here
                .filter(|flow| traced.contains_key(flow))
                .copied()
                .collect(),
            ..PortProbe::default()
        };
        for (index, spec) in self.probes_of(&self.net.scenario.links[link].name) {
            let class = spec.class.map(|c| c as usize);
            let quantity = match spec.what {
                Observable::Queue => {
                    let vc = spec.vc.as_deref().map(|name| self.vc(name));
                    let local = vc.map(|vc| vc.and_then(|vc| self.local(link, vc)));
                    match local {
                        None => Quantity::Queue { class, vc: None },
                        Some(None) => Quantity::QueueOfAbsentVc,
                        Some(vc) => Quantity::Queue { class, vc },
                    }
                }
                Observable::Credit => Quantity::Credit,
                Observable::AverageQueue => Quantity::AverageQueue { class },
                Observable::Drops => {
                    probe.drops.push(DropSums {
                        probe: index,
                        class,
                        sum: IntervalSum::new(
                            interval(spec.interval, self.net.scenario.format.clock),
                            1.0,
                        ),
                        before: 0,
                    });
                    continue;
                }
                Observable::Pool
                | Observable::Threshold
                | Observable::Cwnd
                | Observable::Ssthresh
                | Observable::Sequence
                | Observable::Acknowledged
                | Observable::Flight
                | Observable::Rtt
                | Observable::Rto
                | Observable::Delivered
                | Observable::Goodput
                | Observable::Acr
                | Observable::HostQueue
                | Observable::LinkShare
                | Observable::Trace
                | Observable::Capture => continue,
            };
            let (when, out) = recorded(spec, 0.0);
            let port = self.net.port(link).expect("a port leaves a switch");
            probe.watches.push(Watch {
                probe: index,
                quantity,
                when,
                out,
                scale: match spec.what {
                    Observable::Queue => port.places.of_each().unwrap_or(1) as f64,
                    _ => 1.0,
                },
            });
        }
        let any = !(probe.watches.is_empty() && probe.drops.is_empty() && probe.traced.is_empty());
        any.then(|| Box::new(probe))
    }

    /// The probe of the pool of `switch`, if anything is recorded there.
    pub fn pool_probe(&self, switch: usize) -> Option<Box<PortProbe>> {
        let (scenario, topology) = (self.net.scenario, &self.net.topology);
        let shared = topology.pools[switch]
            .as_ref()
            .map_or(0, |pool| pool.shared());
        let name = &scenario.switches[switch].name;
        let mut probe = PortProbe::default();
        for (index, spec) in scenario.probes.iter().enumerate() {
            let link = self.watched.links.get(spec.of.as_str()).copied();
            let of_pool = spec.what == Observable::Pool && spec.of == *name;
            let of_port = spec.what == Observable::Threshold;
            let (quantity, first) = match link.filter(|_| of_port) {
                _ if of_pool => (Quantity::Pool, 0.0),
                Some(link) if topology.switch_of[link] == Some(switch) => {
                    let class = topology.class_with_alpha(scenario, link, spec.class);
                    let queue = topology.queue(scenario, link, class.expect("a threshold"));
                    let (reserve, alpha) = (queue.reserved(), queue.alpha.expect("a threshold"));
                    let quantity = Quantity::Threshold { reserve, alpha };
                    (quantity, dynamic_threshold(reserve, alpha, shared))
                }
                _ => continue,
            };
            let (when, out) = recorded(spec, first);
            probe.watches.push(Watch {
                probe: index,
                quantity,
                when,
                out,
                scale: 1.0,
            });
        }
        (!probe.watches.is_empty()).then(|| Box::new(probe))
    }

    /// Probes by the index of their VC.
    pub fn vc_probes(&self) -> HashMap<usize, Vec<(usize, &Probe)>> {
        let mut found: HashMap<usize, Vec<_>> = HashMap::new();
        for (index, probe) in self.net.scenario.probes.iter().enumerate() {
            if let Some(vc) = self.vc(&probe.of) {
                found.entry(vc).or_default().push((index, probe));
            }
        }
        found
    }

    /// Builds the records of `probes` for VC number `vc` with this source.
    pub fn vc_probe(&self, vc: usize, probes: &[(usize, &Probe)], source: &Source) -> Box<VcProbe> {
        let acr_mbps = self.net.scenario.vcs[vc].abr.as_ref().map_or(0.0, |abr| {
            let flow = self.net.topology.flow(vc, FlowKind::Data);
            mbps(terms(self.net.scenario, &self.net.topology, abr, flow).icr)
        });
        let clock = self.net.scenario.format.clock;
        let mut probe = VcProbe::default();
        for &(index, spec) in probes {
            let steps = |value| StepRecorder::new(spec.interval, spec.envelope, value);
            let state = |state: SourceState| {
                let value = match source {
                    Source::Frames(frames) => frames.state(state),
                    Source::Cells(_) => None,
                };
                VcWatch::State(state, steps(value.unwrap_or(0.0)))
            };
            let watch = match spec.what {
                Observable::Cwnd => state(SourceState::Cwnd),
                Observable::Ssthresh => state(SourceState::Ssthresh),
                Observable::Acknowledged => state(SourceState::Acknowledged),
                Observable::Flight => state(SourceState::Flight),
                Observable::Rto => state(SourceState::Rto),
                Observable::Rtt => VcWatch::Rtt(0, Points::default()),
                Observable::Delivered => VcWatch::Delivered(steps(0.0)),
                Observable::Sequence => VcWatch::Sequence(Points::default()),
                Observable::Acr => VcWatch::Acr(steps(acr_mbps)),
                Observable::HostQueue => VcWatch::HostQueue(steps(0.0)),
                Observable::Goodput => {
                    let interval = interval(spec.interval, clock);
                    let mbps = 8e-6 * clock.ticks_per_second as f64 / interval.0 as f64;
                    VcWatch::Goodput(IntervalSum::new(interval, mbps))
                }
                Observable::Queue
                | Observable::Pool
                | Observable::Threshold
                | Observable::LinkShare
                | Observable::Drops
                | Observable::Credit
                | Observable::AverageQueue
                | Observable::Trace
                | Observable::Capture => continue,
            };
            probe.watches.push((index, watch));
        }
        Box::new(probe)
    }

    /// Builds the observers of all links.
    pub fn observers(&self, options: &Options) -> Observers {
        let clock = self.net.scenario.format.clock;
        let mut link_shares: FxHashMap<u32, Vec<LinkShareSum>> = FxHashMap::default();
        for (probe, spec) in self.net.scenario.probes.iter().enumerate() {
            if spec.what != Observable::LinkShare {
                continue;
            }
            let Some(&link) = self.watched.links.get(spec.of.as_str()) else {
                continue;
            };
            let interval = interval(spec.interval, clock);
            let cells = interval.0 as f64 / self.cell_ticks(link).0 as f64;
            let classes = match spec.class {
                Some(class) => vec![class],
                None => self.net.topology.classes[link].clone(),
            };
            let link_shares = link_shares.entry(link as u32).or_default();
            link_shares.extend(classes.into_iter().map(|class| LinkShareSum {
                probe,
                class: class as usize,
                longest: self.net.topology.lengths[link].longest,
                sum: IntervalSum::new(interval, 1.0 / cells),
            }));
        }
        Observers {
            digest: options.digest.then_some(0),
            link_shares,
            traced: self.watched.traced.clone(),
            lost: Vec::new(),
        }
    }
}
