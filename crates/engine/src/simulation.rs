//! The run: events of hosts in time order, cells moved by the ports just before something could come of them.
//!
//! Two planes. Hosts (timers, sources, frames delivered) live in one event list. Cells live in the feeds of the ports; a port
//! takes its arrivals in one go, up to a horizon before which nothing unknown can arrive: whatever has not happened yet
//! happens no earlier than the next event of a host or the earliest work of any port, and needs a cell time and the propagation delay to
//! get to this port. No topology needs an event per cell, or a heap entry per cell in flight.

use crate::capture::{Origin, Part};
use crate::event::WorkList;
use crate::fabric::Fabric;
use crate::gathered::Gathered;
use crate::host::Hosts;
use crate::port::{Kernel, Port};
use crate::record::TraceEntry;
use crate::scenario::MOST_POINTS;
use crate::stop::Stop;
use crate::units::{Span, Time};
use std::collections::BTreeMap;
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
    /// Shortest time from an event at a host to an arrival at any port; none where no host asks how far ports are.
    to_ports: Span,
    /// Shortest time from an event at a host to anything that RM cells may be told of.
    to_told: Span,
    /// Ports go as far as this, if they can, before hosts go on.
    ports_until: Time,
    /// Links of the network.
    pub links: usize,
    look_every: u32,
    until_look: u32,
    /// Short steps that as much may have been recorded in as since the points were counted last.
    uncounted: i64,
    until_count: u32,
    /// Whether anything is recorded.
    watched: bool,
    /// Where, by index: ports and VCs.
    ports_watched: Vec<usize>,
    vcs_watched: Vec<usize>,
    /// What it may gather, bytes; `None`: no limit.
    room: Option<u64>,
    /// Bytes of points and drops at which it pauses, beyond those that the last drain left; `None`: it does not.
    hold: Option<u64>,
    /// As of the last look.
    pub gathered: Gathered,
    /// Points and drops that were drained, by the index of their probe.
    pub drained: BTreeMap<usize, u64>,
    /// Traced drops that others may still precede.
    pub unordered: Vec<TraceEntry>,
    /// What the last drain left.
    pub left: Gathered,
}

/// By so much later; no further than time can tell.
fn later(time: Time, by: Span) -> Time {
    Time(time.0.saturating_add(by.0))
}

/// How many short steps pass between two looks at the request to stop, and at what the probes have recorded.
const LOOK_EVERY: u32 = 1000;

/// Likewise where something is recorded, and as many more as there are places: what a thousand steps record can be a gigabyte.
const LOOK_EVERY_WATCHED: u32 = 20;

/// After every long step there is a look, but it stands for no more than so many short ones: to count the points of many places each time
/// would take longer than the step.
const LONG_STEP: i64 = 1 + LOOK_EVERY_WATCHED as i64;

/// How many looks pass at least between two counts of what waits in feeds, which may be many.
const COUNT_EVERY: usize = 10;

/// A port with more ports before it is not asked what they have handled: it would cost more than it gives.
const LOOKED_BEHIND: usize = 4;

/// So many that a step pays for a feed or less.
fn count_every(feeds: usize) -> u32 {
    let looks = COUNT_EVERY.max(feeds / LOOK_EVERY as usize);
    u32::try_from(looks).unwrap_or(u32::MAX)
}

fn indices(chosen: impl Iterator<Item = bool>) -> Vec<usize> {
    chosen
        .enumerate()
        .filter_map(|(index, yes)| yes.then_some(index))
        .collect()
}

impl Simulation {
    /// A network in which nothing has happened.
    pub fn new(
        mut hosts: Hosts,
        fabric: Fabric,
        ports: Vec<Port>,
        [to_host, host_to_host, to_told]: [Span; 3],
        links: usize,
        room: Option<u64>,
        hold: Option<u64>,
    ) -> Simulation {
        hosts.host_to_host = host_to_host;
        let ports_watched = indices(ports.iter().map(|port| port.probe.is_some()));
        let vcs_watched = indices(hosts.vcs.iter().map(|vc| vc.probe.is_some()));
        let places = ports_watched.len() + vcs_watched.len();
        let watched = places > 0 || fabric.observers.records() || fabric.captures.is_some();
        let look_every = if watched {
            LOOK_EVERY.min(LOOK_EVERY_WATCHED + u32::try_from(places).unwrap_or(LOOK_EVERY))
        } else {
            LOOK_EVERY
        };
        let to_ports = ports.iter().map(|port| port.ahead.from_hosts).min();
        let asks = !hosts.paced.is_empty();
        Simulation {
            hosts,
            work: WorkList::new(ports.len()),
            ports,
            to_host,
            to_told,
            to_ports: to_ports.filter(|_| asks).unwrap_or(Span::ZERO),
            ports_until: Time::ZERO,
            links,
            look_every,
            until_look: look_every,
            uncounted: 0,
            until_count: count_every(fabric.feeds.len()),
            watched,
            ports_watched,
            vcs_watched,
            room,
            hold,
            gathered: Gathered::default(),
            drained: BTreeMap::new(),
            unordered: Vec::new(),
            left: Gathered::default(),
            fabric,
        }
    }

    /// Goes on until nothing is left to do before `until`, or the run ends; returns the earliest time of what is left, at most the
    /// end. It pauses sooner when it holds as much as it is to. Where it pauses changes nothing. `cancel` is looked at after every long
    /// step, and after a thousand short ones.
    ///
    /// # Errors
    /// Why it cannot go on.
    pub fn advance_until(&mut self, until: Time, cancel: &AtomicBool) -> Result<Time, Stop> {
        let end = self.fabric.end;
        let limit = until.min(end);
        let mut full = false;
        loop {
            self.until_look -= 1;
            if self.until_look == 0 {
                self.until_look = self.look_every;
                self.uncounted += i64::from(self.look_every);
                if cancel.load(Ordering::Relaxed) {
                    return Err(Stop::Cancelled);
                }
                self.weigh()?;
                full = self.is_full();
            }
            let next = self.hosts.next_time().unwrap_or(Time::NEVER).min(end);
            let work = self.work.first();
            let earliest = work.map_or(next, |(time, _)| time.min(next));
            if earliest >= limit || full {
                return Ok(earliest);
            }
            match work {
                Some((time, port)) if self.is_first(time, next) || next == end => {
                    self.advance(port, time, next);
                }
                _ => {
                    if !self.hosts.paced.is_empty() {
                        self.hosts.from_ports =
                            work.map_or(Time::NEVER, |(time, _)| time + self.to_host);
                        self.hosts.told_until = later(later(next, self.to_told), self.to_host);
                    }
                    self.hosts.event(&mut self.fabric);
                }
            }
            self.settle();
            if let Some(what) = self.fabric.stopped {
                return Err(Stop::Overdue(what));
            }
        }
    }

    /// Whether a port with work at `time` goes before the next event of a host, at `next`: as long as a cell could complete a frame at a host before
    /// that event, or at the same time. Whatever it has to do then is before the end, as something is.
    ///
    /// Where hosts send as far ahead as nothing unknown can reach them, all ports then go as far as they can: were they left just where they must
    /// be, hosts could send hardly anything.
    fn is_first(&mut self, time: Time, next: Time) -> bool {
        if time + self.to_host <= next {
            if self.to_ports > Span::ZERO {
                self.ports_until = later(next, self.to_ports).min(self.fabric.end);
            }
            return true;
        }
        time < self.ports_until && time < later(next, self.to_ports)
    }

    /// A time before which the port `index` has handled everything: what it has not is its own work, or comes from a host or from what
    /// another port has not handled. The earliest work of any port is at `time`, the next event of a host at `next`.
    fn unhandled(&self, index: usize, time: Time, next: Time) -> Time {
        let port = &self.ports[index];
        if port.ahead.from_ports.len() > LOOKED_BEHIND {
            return port.done.max(time);
        }
        let own = port.next_work().min(next + port.ahead.from_hosts);
        let from = |&(p, takes): &(u32, Span)| {
            let port = &self.ports[p as usize];
            later(port.starts_from(port.done.max(time)), takes)
        };
        let others = port.ahead.from_ports.iter().map(from).min();
        own.min(others.unwrap_or(Time::NEVER))
            .max(port.done)
            .max(time)
    }

    /// Lets the port with the earliest work, at `time`, take all that cannot be preceded by anything unknown; the next event of a host is at `next`.
    fn advance(&mut self, index: usize, time: Time, next: Time) {
        let Port { ahead, steps, .. } = &self.ports[index];
        let known_until = next + ahead.from_hosts;
        let mut horizon = known_until.min(time + steps.longest);
        for &(port, takes) in &ahead.from_ports {
            let unhandled = self.unhandled(port as usize, time, next);
            horizon = horizon.min(later(
                self.ports[port as usize].starts_from(unhandled),
                takes,
            ));
        }
        let port = &mut self.ports[index];
        if horizon > time + port.steps.short {
            self.uncounted += LONG_STEP - i64::from(self.until_look);
            self.until_look = 1;
        }
        port.advance(&mut self.fabric, index, horizon, known_until);
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

    /// Counts what has gathered, and stops the run when that is too much.
    fn weigh(&mut self) -> Result<(), Stop> {
        if !self.hosts.paced.is_empty() {
            let next = self.hosts.next_time().unwrap_or(Time::NEVER);
            let work = self.work.first().map_or(Time::NEVER, |(time, _)| time);
            let before = next.min(work).min(self.fabric.end).0.saturating_sub(1);
            self.fabric.logs.settle_until(Time(before));
        }
        if self.watched && self.uncounted >= i64::from(self.look_every) {
            self.uncounted = 0;
            if let Some(captures) = &self.fabric.captures {
                self.gathered.captured = captures.pending();
            }
            (self.gathered.points, self.gathered.drops) = self.recorded();
            if self.gathered.recorded() > MOST_POINTS {
                self.gathered.most = self.most_recorded();
                return Err(Stop::Points(self.gathered));
            }
        }
        let Some(room) = self.room else {
            return Ok(());
        };
        self.until_count -= 1;
        if self.until_count == 0 {
            self.until_count = count_every(self.fabric.feeds.len());
            let feeds = self.fabric.feeds.iter().map(|feed| feed.behind());
            let paced = self.hosts.paced.iter().map(|paced| paced.frames());
            let rms = self.fabric.logs.under_way();
            let frames = feeds.sum::<usize>() + paced.sum::<usize>() + rms;
            self.gathered.frames = (frames + self.hosts.events.pending()) as u64;
        }
        if self.gathered.bytes() > room as f64 {
            self.gathered.most = self.most_recorded();
            return Err(Stop::Grown(self.gathered, room));
        }
        Ok(())
    }

    /// Whether so much was recorded since the last drain that the next is due.
    fn is_full(&self) -> bool {
        let Some(hold) = self.hold else {
            return false;
        };
        let recorded = |gathered: &Gathered| gathered.parts()[0] + gathered.parts()[1];
        let since = recorded(&self.gathered) - recorded(&self.left);
        let captures = self.fabric.captures.as_ref();
        since > hold as f64 || captures.is_some_and(|captures| captures.is_full())
    }

    /// The next part of each capture: what has happened before `before`, or all of it.
    pub fn captured(&mut self, origin: &Origin<'_>, before: Time) -> Vec<Part> {
        let fabric = &mut self.fabric;
        let Some(captures) = &mut fabric.captures else {
            return Vec::new();
        };
        self.gathered.captured = 0;
        fabric.logs.settle_all(Time(before.0.saturating_sub(1)));
        let flows = &self.hosts.flows;
        captures.write(origin, &mut fabric.logs, before, |flow| {
            flows[flow.index()].next_taken()
        })
    }

    /// Points of series and traced drops that all probes have recorded so far and nobody has drained.
    pub fn recorded(&self) -> (u64, u64) {
        let ports = || {
            let watched = self.ports_watched.iter();
            watched.filter_map(|&port| self.ports[port].probe.as_deref())
        };
        let observers = &self.fabric.observers;
        let mut points = ports().map(|p| p.points()).sum::<usize>() + observers.points();
        for &vc in &self.vcs_watched {
            let probe = self.hosts.vcs[vc].probe.iter();
            let recorded = probe.flat_map(|probe| probe.recorded());
            points += recorded.map(|(_, points)| points).sum::<usize>();
        }
        let drops = ports().map(|p| p.trace.len()).sum::<usize>()
            + observers.lost.len()
            + self.unordered.len();
        (points as u64, drops as u64)
    }
}
