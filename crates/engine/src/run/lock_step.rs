//! Ports that share a pool advance together, from one arrival at any of them to the next.
//!
//! Before a cell arrives at one, all of them have begun all that they begin earlier, so that the pool
//! has what is free at that instant. Arrivals of one instant come port by port, in the order of the
//! tie rule.

use crate::ground::units::{Span, Time};
use crate::network::fabric::Fabric;
use crate::network::pool::{PoolState, Taken};
use crate::network::tie::TieRule;
use crate::port::Port;
use crate::port::watch::{PortProbe, Quantity, dynamic_threshold};

/// The ports of a pool.
#[derive(Debug)]
pub struct Group {
    /// Ports of its switch that take part, in scenario order.
    pub ports: Vec<u32>,
    /// Rule for the order of ports at one instant.
    pub tie: TieRule,
    /// What is recorded of the pool.
    pub probe: Option<Box<PortProbe>>,
    /// Scratch space: numbers of the ports at which cells arrive at one instant, and what becomes of
    /// these cells.
    arrivals: Vec<u32>,
    taken: Vec<(u32, Taken)>,
}

impl Group {
    /// The group of these ports.
    pub fn new(ports: Vec<u32>, tie: TieRule, probe: Option<Box<PortProbe>>) -> Group {
        Group {
            ports,
            tie,
            probe,
            arrivals: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Lets the ports take all arrivals before `horizon`. `pool` is the index of their pool.
    /// Consequences of host events still to come arrive no sooner than `known_until`.
    pub fn advance(
        &mut self,
        ports: &mut [Port],
        fabric: &mut Fabric,
        pool: usize,
        horizon: Time,
        known_until: Time,
    ) {
        while fabric.stopped.is_none() {
            let time = self.next_arrivals(ports, horizon);
            if let Some(departs) = self.sample_until_work(ports, fabric, pool, time) {
                for &port in &self.ports {
                    let index = port as usize;
                    if ports[index].next_work() == departs {
                        ports[index].advance_in_pool(fabric, index, departs + Span(1), known_until);
                    }
                }
                self.record_changes(fabric, pool, departs);
                continue;
            }
            for &port in &self.ports {
                let index = port as usize;
                if self.arrivals.is_empty() || ports[index].next_work() < time {
                    ports[index].advance_in_pool(fabric, index, time, known_until);
                }
            }
            if self.arrivals.is_empty() {
                return;
            }
            let first = match self.arrivals.len() {
                1 => 0,
                _ => self.tie.arrange(time, &mut self.arrivals),
            };
            self.arrivals.rotate_left(first);
            self.taken.clear();
            for &number in &self.arrivals {
                let index = self.ports[number as usize] as usize;
                fabric.pools[pool].taken = Taken::default();
                ports[index].advance_in_pool(fabric, index, time + Span(1), known_until);
                self.taken.push((number, fabric.pools[pool].taken));
            }
            if self.taken.len() > 1 {
                self.tie.settle_ports(&self.taken);
            }
            self.record_changes(fabric, pool, time);
        }
    }

    /// If the pool is watched, takes the samples that are due before anything else happens. Returns the
    /// instant of the next departure if it comes before `arrives`: then only that instant may be handled.
    fn sample_until_work(
        &mut self,
        ports: &[Port],
        fabric: &Fabric,
        pool: usize,
        arrives: Time,
    ) -> Option<Time> {
        let probe = self.probe.as_mut()?;
        let works = self
            .ports
            .iter()
            .map(|&port| ports[port as usize].next_work());
        let first = works.min().map_or(arrives, |work| work.min(arrives));
        let found = &fabric.pools[pool];
        probe.sample_until(first, |_, quantity| look(found, quantity));
        (first < arrives).then_some(first)
    }

    /// Records what has changed by the end of the instant `time`, if that is watched.
    fn record_changes(&mut self, fabric: &Fabric, pool: usize, time: Time) {
        if let Some(probe) = &mut self.probe {
            probe.changed(time, |quantity| look(&fabric.pools[pool], quantity));
        }
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish_probe(&mut self, found: &PoolState, end: Time) {
        if let Some(probe) = &mut self.probe {
            probe.finish(end, |_, quantity| look(found, quantity));
        }
    }

    /// Finds the ports at which the next cells before `horizon` arrive, and returns when they do;
    /// `horizon` without any.
    fn next_arrivals(&mut self, ports: &[Port], horizon: Time) -> Time {
        let mut time = horizon;
        self.arrivals.clear();
        for (&port, number) in self.ports.iter().zip(0..) {
            let arrives = ports[port as usize].next_arrival();
            if arrives < time {
                time = arrives;
                self.arrivals.clear();
            }
            if arrives == time && time < horizon {
                self.arrivals.push(number);
            }
        }
        time
    }
}

/// Current value of a probed quantity of a pool.
fn look(pool: &PoolState, quantity: Quantity) -> f64 {
    let [free, used] = pool.look_after();
    match quantity {
        Quantity::Pool => used as f64,
        Quantity::Threshold { reserve, alpha } => dynamic_threshold(reserve, alpha, free),
        other => unreachable!("a port has {other:?}"),
    }
}
