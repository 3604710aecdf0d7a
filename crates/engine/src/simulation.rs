//! The run: events of hosts in time order, cells moved by the ports just before something could come of them.
//!
//! Two planes. Hosts (timers, sources, frames delivered) live in one event list. Cells live in the feeds of the ports; a port
//! takes its arrivals in one go, up to a horizon before which nothing unknown can arrive: whatever has not happened yet
//! happens no earlier than the next event of a host or the earliest work of any port, and needs a cell time and the propagation delay to
//! get to this port. No topology needs an event per cell, or a heap entry per cell in flight.

use crate::event::WorkList;
use crate::fabric::Fabric;
use crate::host::Hosts;
use crate::port::{Kernel, Port};
use crate::scenario::MOST_POINTS;
use crate::stop::Stop;
use crate::units::{Span, Time};
use std::sync::atomic::{AtomicBool, Ordering};

/// A network in motion, made by `build`.
#[derive(Debug)]
pub struct Simulation {
    /// What happens at hosts.
    pub hosts: Hosts,
    /// What is between the stations.
    pub fabric: Fabric,
    /// Ports that can queue.
    pub ports: Vec<Port>,
    /// Their earliest work.
    work: WorkList,
    /// Shortest time from an arrival at any port to the delivery of a frame at a host.
    to_host: Span,
    /// Links of the network.
    pub links: usize,
    until_look: u32,
    /// Whether anything is recorded.
    watched: bool,
}

/// How many short steps pass between two looks at the request to stop, and at what the probes have recorded.
const LOOK_EVERY: u32 = 1000;

/// A port with more ports before it is not asked what they have handled: it would cost more than it gives.
const LOOKED_BEHIND: usize = 4;

impl Simulation {
    /// A network in which nothing has happened.
    pub fn new(
        hosts: Hosts,
        fabric: Fabric,
        ports: Vec<Port>,
        to_host: Span,
        links: usize,
    ) -> Simulation {
        let watched = ports.iter().any(|p| p.probe.is_some())
            || hosts.vcs.iter().any(|vc| vc.probe.is_some())
            || fabric.observers.records();
        Simulation {
            hosts,
            fabric,
            work: WorkList::new(ports.len()),
            ports,
            to_host,
            links,
            until_look: LOOK_EVERY,
            watched,
        }
    }

    /// Goes on until nothing is left to do before `until`, or the run ends; returns the earliest time of what is left, at most the
    /// end. Where it pauses changes nothing. `cancel` is looked at after every long step, and after a thousand short ones.
    ///
    /// # Errors
    /// Why it cannot go on.
    pub fn advance_until(&mut self, until: Time, cancel: &AtomicBool) -> Result<Time, Stop> {
        let end = self.fabric.end;
        loop {
            self.until_look -= 1;
            if self.until_look == 0 {
                self.until_look = LOOK_EVERY;
                if cancel.load(Ordering::Relaxed) {
                    return Err(Stop::Cancelled);
                }
                if self.watched && self.recorded() > MOST_POINTS {
                    return Err(Stop::Points);
                }
            }
            let next = self
                .hosts
                .events
                .next_time()
                .unwrap_or(Time::NEVER)
                .min(end);
            let work = self.work.first();
            let earliest = work.map_or(next, |(time, _)| time.min(next));
            if earliest >= until || earliest >= end {
                return Ok(earliest);
            }
            // Ports first, as long as a cell could complete a frame at a host before that event, or at the same time.
            match work {
                Some((time, port))
                    if time < end && (time + self.to_host <= next || next == end) =>
                {
                    self.advance(port, time, next);
                }
                _ => self.hosts.event(&mut self.fabric),
            }
            self.settle();
            if let Some(what) = self.fabric.stopped {
                return Err(Stop::Overdue(what));
            }
        }
    }

    /// A time before which the port `index` has handled everything: what it has not is its own work, or comes from a host or from what
    /// another port has not handled. The earliest work of any port is at `time`, the next event of a host at `next`.
    fn unhandled(&self, index: usize, time: Time, next: Time) -> Time {
        let port = &self.ports[index];
        if port.ahead.from_ports.len() > LOOKED_BEHIND {
            return port.done.max(time);
        }
        let own = port.next_work().min(next + port.ahead.from_hosts);
        let from = |&(p, takes): &(u32, Span)| self.ports[p as usize].done.max(time) + takes;
        let others = port.ahead.from_ports.iter().map(from).min();
        own.min(others.unwrap_or(Time::NEVER))
            .max(port.done)
            .max(time)
    }

    /// Lets the port with the earliest work, at `time`, take all that cannot be preceded by anything unknown; the next event of a host is at `next`.
    fn advance(&mut self, index: usize, time: Time, next: Time) {
        let Port { ahead, steps, .. } = &self.ports[index];
        let mut horizon = (next + ahead.from_hosts).min(time + steps.longest);
        for &(port, takes) in &ahead.from_ports {
            horizon = horizon.min(self.unhandled(port as usize, time, next) + takes);
        }
        let port = &mut self.ports[index];
        if horizon > time + port.steps.short {
            self.until_look = 1;
        }
        port.advance(&mut self.fabric, index, horizon);
        self.work.set(index, port.next_work());
        if let Kernel::Slotted(kernel) = &port.kernel {
            debug_assert!(
                kernel.is_balanced(),
                "cells are lost or made at port {index}"
            );
        }
    }

    /// Frames that have arrived are handled or noted, and ports with new work get into the list.
    fn settle(&mut self) {
        self.hosts.take_arrivals(&mut self.fabric);
        while let Some(port) = self.fabric.woken_ports.pop() {
            let index = port as usize;
            self.ports[index].wake(&mut self.fabric, index);
            self.work.set(index, self.ports[index].next_work());
        }
    }

    /// Points that all probes have recorded so far.
    pub fn recorded(&self) -> u64 {
        let ports = self.ports.iter().filter_map(|p| p.probe.as_deref());
        let vcs = self.hosts.vcs.iter().filter_map(|vc| vc.probe.as_deref());
        let points = ports.map(|p| p.points()).sum::<usize>()
            + vcs.map(|p| p.points()).sum::<usize>()
            + self.fabric.observers.points();
        points as u64
    }
}
