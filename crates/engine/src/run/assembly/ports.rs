//! Builds the ports with their kernels.

use super::Blueprint;
use super::hops::Hops;
use super::measured;
use crate::ground::flow::FlowId;
use crate::ground::units::Time;
use crate::network::capture::Captures;
use crate::network::fabric::Next;
use crate::network::tally::CLASSES;
use crate::network::tie::TieRule;
use crate::port::arithmetic::Arithmetic;
use crate::port::drop::{DropRule, Policy, PoolView};
use crate::port::gate::{Counted, Gate, Share};
use crate::port::police::Policer;
use crate::port::sched::{FlowShare, Scheduler};
use crate::port::slotted::Slotted;
use crate::port::slotted::ahead::{Foresight, gains};
use crate::port::{Inputs, Lookahead, Measuring, Meter, Port, PortKernel, StepBounds};
use crate::run::resolved::ResolvedPort;
use crate::text::options::{Kernel as Wanted, Options, RunError};
use crate::text::scenario::{Class, Scheduler as Spec, TurnUnit};
use std::collections::{HashMap, HashSet};

/// Maximum number of feeds that a port looks ahead in at each step. With more, their future cells
/// count as unknown.
const MOST_FEEDS: usize = 8;

impl Blueprint<'_> {
    /// Builds all ports.
    pub fn ports(
        &self,
        all: &Hops,
        lookaheads: Vec<Lookahead>,
        captures: Option<&Captures>,
        options: &Options,
    ) -> Result<Vec<Port>, RunError> {
        let mut hops_of: Vec<Vec<u32>> = vec![Vec::new(); lookaheads.len()];
        for (extra, index) in all.extras.iter().zip(0..) {
            if let Some(port) = self.roles.port_of[extra.link as usize] {
                hops_of[port].push(index);
            }
        }
        let end = Time::ZERO + self.net.scenario.duration;
        let measured = measured(self.net.scenario);
        let mut ports = Vec::new();
        for ((index, lookahead), hops) in lookaheads.into_iter().enumerate().zip(hops_of) {
            let link = self.roles.links_of_ports[index];
            let spec = &self.net.scenario.links[link];
            let resolved = self.net.port(link).expect("a port leaves a switch");
            let probe = self.port_probe(link);
            let tie = TieRule::new(
                self.net.scenario.tie_order,
                self.net.topology.inputs[link].len(),
                self.draws.tie_offset(),
                self.cell_ticks(link),
                self.draws.stream(&spec.name, "tie"),
            );
            let meter = self.meter(link, &hops, all);
            let near = lookahead.from_ports.iter().map(|&(_, takes)| takes);
            let gains = near
                .min()
                .is_some_and(|away| gains(self.cell_ticks(link), away));
            let foresight = (gains && probe.is_none() && meter.is_none())
                .then(|| self.foresight(&hops, all))
                .flatten();
            let counts = probe.as_ref().is_some_and(|probe| probe.counts_by_vc())
                || captures.is_some_and(|captures| captures.is_of_link(link));
            let inputs = self.net.topology.inputs[link].iter();
            let rate = |&input: &usize| self.net.scenario.links[input].highest_rate();
            let rates = std::iter::once(spec.highest_rate()).chain(inputs.map(rate));
            ports.push(Port {
                link,
                lookahead,
                steps: StepBounds::new(self.net.scenario.format, rates),
                done: Time::ZERO,
                can_queue: resolved.can_queue,
                inputs: Inputs::new(self.roles.first_feed[index], tie),
                kernel: self.kernel(link, resolved, counts, foresight, options)?,
                probe,
                meter,
                measuring: Measuring::new(measured, end).map(Box::new),
                hops,
            });
        }
        Ok(ports)
    }

    /// The meter of the port of `link`, if the port gives feedback. `here` are the hops that start
    /// at the port, in the order of their flows.
    fn meter(&self, link: usize, here: &[u32], all: &Hops) -> Option<Box<Meter>> {
        let place = self.sites.of_link(link)?;
        let site = &self.sites.all[place as usize];
        let interval = site.feedback.interval()?;
        let hop_of = |flow: FlowId| {
            let found = here.binary_search_by_key(&flow, |&hop| all.hops[hop as usize].flow);
            here[found.expect("it crosses the port")]
        };
        let vcs = site.subscribers.iter().map(|s| s.flows.map(hop_of));
        let is_higher = |&&hop: &&u32| all.hops[hop as usize].class < Class::Abr as u8;
        let higher = here.iter().filter(is_higher).copied();
        let meter = Meter::new(place, interval, vcs.collect(), higher.collect());
        Some(Box::new(meter))
    }

    /// Advance knowledge, by class, of the cells still to come to the port where the hops `here`
    /// start. `None` if RM cells are among them.
    fn foresight(&self, here: &[u32], all: &Hops) -> Option<[Foresight; CLASSES]> {
        let mut found: [Foresight; CLASSES] = Default::default();
        // Classes that each feed brings, or may bring.
        let mut classes_of: HashMap<u32, HashSet<u8>> = HashMap::new();
        for &index in here {
            let hop = &all.hops[index as usize];
            let flow = &self.net.topology.flows[hop.flow.index()];
            let traffic = &self.net.scenario.vcs[flow.vc].traffic;
            if flow.kind.is_rm() {
                return None;
            }
            if !flow.kind.is_data() && !traffic.answers() {
                continue;
            }
            let Next::Port { feed, .. } = all.hops[index as usize - 1].next else {
                unreachable!("it leads to this port");
            };
            classes_of.entry(feed).or_default().insert(hop.class);
            let straight = index == all.first[hop.flow.index()] + 1;
            let known = &mut found[hop.class as usize];
            if traffic.cells().is_none() || !straight {
                *known = Foresight::Unknown;
            } else if let Foresight::Feeds(feeds) = known {
                feeds.push(feed as usize);
            } else if *known == Foresight::Nothing {
                *known = Foresight::Feeds(vec![feed as usize]);
            }
        }
        let mixed = |&feed: &usize| classes_of[&(feed as u32)].len() > 1;
        for known in &mut found {
            if let Foresight::Feeds(feeds) = known
                && (feeds.len() > MOST_FEEDS || feeds.iter().any(mixed))
            {
                *known = Foresight::Unknown;
            }
        }
        Some(found)
    }

    fn gate(&self, link: usize, port: &ResolvedPort<'_>, class: Class) -> Gate {
        let queue = port.queue(class);
        let contracts = self.net.topology.contracts(self.net.scenario, link, class);
        let policer = queue.police.as_ref();
        let policer = policer.map(|spec| Policer::new(spec, &contracts));
        let mut policy = Policy::new(
            &queue.drop,
            queue.k,
            &contracts,
            self.cell_ticks(link),
            self.net.scenario.format.clock,
        );
        // A port that takes no part in the pool finds it empty.
        if let Some(free) = self.net.topology.shared(link) {
            policy.see_pool(PoolView {
                free,
                used: 0,
                reserve: queue.reserved(),
            });
        }
        let purpose = ["drop-", class.name()].concat();
        let draws = self
            .draws
            .stream(&self.net.scenario.links[link].name, &purpose);
        let end = Time::ZERO + self.net.scenario.duration;
        let most = self.cell_ticks(link).fit_after(end);
        let place = self.net.topology.place(self.net.scenario, link);
        let mut gate = Gate::new(
            queue.k,
            queue
                .places
                .of_each()
                .map_or(Counted::Places(place), Counted::Cells),
            most,
            policer,
            policy,
            queue.rest_of_frame,
            draws,
        );
        if port.shared().is_some() {
            gate.take_part(Share {
                place,
                reserve: queue.reserved(),
                alpha: queue.alpha,
            });
        }
        gate
    }

    /// The fastest kernel that can serve the port of `link`, or the requested one. With `counts`
    /// the kernel counts cells by VC even if no policy needs it.
    fn kernel(
        &self,
        link: usize,
        port: &ResolvedPort<'_>,
        counts: bool,
        foresight: Option<[Foresight; CLASSES]>,
        options: &Options,
    ) -> Result<PortKernel, RunError> {
        let spec = &self.net.scenario.links[link];
        let cell_time = self.cell_ticks(link);
        let first = self.net.scenario.arrival_first;
        let flows = self.flow_shares(link);
        // No text of a program runs at a port that cannot queue.
        let scheduler = match port.scheduler {
            Spec::Program(_) if !port.can_queue => &Spec::StrictPriority,
            // Bytes of equal cells are cells times a constant.
            &Spec::PerVc {
                class,
                unit: TurnUnit::Byte,
            } if self.net.topology.lengths[link].are_equal() => &Spec::PerVc {
                class,
                unit: TurnUnit::Cell,
            },
            other => other,
        };
        let place = self.net.topology.place(self.net.scenario, link);
        let scheduler = Scheduler::new(scheduler, spec.rate, cell_time, place, &flows);
        match port.arithmetic {
            Ok(class) if options.kernel != Wanted::Slotted => {
                let (gate, vcs) = (self.gate(link, port, class), flows.len());
                let kernel = Arithmetic::new(gate, class as usize, cell_time, first, vcs, counts);
                return Ok(PortKernel::Arithmetic(Box::new(kernel)));
            }
            Err(because) if options.kernel == Wanted::Arithmetic => {
                return Err(RunError::Kernel {
                    port: spec.name.clone(),
                    because: because.to_string(),
                });
            }
            Ok(_) | Err(_) => {}
        }
        let gates = Class::ALL.map(|class| self.gate(link, port, class));
        let mut kernel = Box::new(Slotted::new(
            gates,
            scheduler,
            (cell_time, self.line_times(link), place),
            first,
            &flows,
            counts,
            foresight,
        ));
        if let Some(pool) = self.pool_of(link) {
            kernel.take_part(pool);
        }
        Ok(PortKernel::Slotted(kernel))
    }

    /// Parameters of the flows over `link` for its scheduler. A guarantee applies to data only.
    fn flow_shares(&self, link: usize) -> Vec<FlowShare> {
        let crossing = self.net.topology.crossing[link].iter();
        let share = |id: &crate::ground::flow::FlowId| {
            let flow = &self.net.topology.flows[id.index()];
            let vc = &self.net.scenario.vcs[flow.vc];
            FlowShare {
                class: vc.class,
                weight: vc.weight,
                guarantee: vc.guarantee.filter(|_| flow.kind.is_data()),
                sends: flow.kind.is_data() || flow.kind.is_rm() || vc.traffic.answers(),
            }
        };
        crossing.map(share).collect()
    }
}
