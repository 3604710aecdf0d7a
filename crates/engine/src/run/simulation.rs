//! The main loop: host events in time order, and cells that the ports move just before they could
//! matter.
//!
//! The loop has two planes. Hosts (timers, sources, delivered frames) share one event list. Cells
//! live in the feeds of the ports, and a port takes its arrivals in one go, up to a horizon.
//!
//! No unknown cell can arrive before that horizon. All that has not happened yet happens no earlier
//! than the next host event or the earliest work of any port. From there it needs a cell time and
//! the propagation delay to reach this port. Hence no topology needs an event per cell, or a heap
//! entry per cell in flight.

use crate::ground::event::WorkList;
use crate::ground::gathered::Gathered;
use crate::ground::units::{Span, Time};
use crate::host::Hosts;
use crate::network::capture::{FilePart, Origin};
use crate::network::fabric::Fabric;
use crate::network::record::TraceEntry;
use crate::network::stop::Stop;
use crate::port::{Port, PortKernel};
use crate::run::lock_step::Group;
use crate::text::scenario::MOST_POINTS;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// A running network, made by `build`.
#[derive(Debug)]
pub struct Simulation {
    /// Hosts and their events.
    pub hosts: Hosts,
    /// Everything between the stations.
    pub fabric: Fabric,
    /// Ports that can queue.
    pub ports: Vec<Port>,
    /// Ports that share a pool, and the group of each port.
    pub groups: Vec<Group>,
    group_of: Vec<Option<u32>>,
    /// Earliest work of each port.
    work: WorkList,
    distances: Distances,
    /// Shortest time from a host event to an arrival at any port; zero if no host uses it.
    to_ports: Span,
    /// Time up to which ports go, if they can, before hosts continue.
    ports_until: Time,
    /// Number of links in the network.
    pub links: usize,
    check_every: u32,
    until_check: u32,
    /// Work so far, as an equivalent number of short steps, and what it was at the last counts of
    /// points and of feeds.
    work_done: i64,
    points_counted_at: i64,
    feeds_counted_at: i64,
    /// Whether any probe or capture records.
    watched: bool,
    /// Indices of the ports and VCs with probes.
    ports_watched: Vec<usize>,
    vcs_watched: Vec<usize>,
    /// Limit on gathered data, bytes; `None`: no limit.
    memory_limit: Option<u64>,
    /// Bytes of points and drops, beyond those left by the last drain, at which the run pauses;
    /// `None`: no pause.
    pause_above: Option<u64>,
    /// Gathered data at the last check.
    pub gathered: Gathered,
    /// Number of drained points and drops, by probe index.
    pub drained: BTreeMap<usize, u64>,
    /// Traced drops that others may still precede.
    pub unordered: Vec<TraceEntry>,
    /// Gathered data that the last drain left.
    pub left_by_drain: Gathered,
}

/// `time + by`, saturating.
fn later(time: Time, by: Span) -> Time {
    Time(time.0.saturating_add(by.0))
}

/// Short steps between two checks of the request to stop and of the recorded data.
const CHECK_EVERY: u32 = 1000;

/// [`CHECK_EVERY`] if anything is recorded, plus one per place: a thousand steps can record a
/// gigabyte.
const CHECK_EVERY_WATCHED: u32 = 20;

/// Weight of a long step, in short steps. Every long step is followed by a check, but counting the
/// points of many places each time would take longer than the step.
const LONG_STEP: i64 = 1 + CHECK_EVERY_WATCHED as i64;

/// Least work between two counts of waiting runs in feeds. With more feeds, a short step pays for at
/// most one of them. So must a long step for few, as it takes few cells at a port with many inputs.
const COUNT_EVERY: i64 = 10 * LONG_STEP;

/// Largest number of upstream ports for which their progress is checked. Beyond that, checking
/// costs more than it gains.
const MAX_UPSTREAM_PORTS: usize = 4;

/// Largest number of upstream ports that a step goes through. For more, their shortest time bounds
/// the step: one port of 10 000 is almost always idle, and then no step can be longer.
const MOST_CHECKED_PORTS: usize = 256;

/// Shortest times between hosts and ports.
#[derive(Clone, Copy, Debug)]
pub struct Distances {
    /// From an arrival at any port to the delivery of a frame at a host.
    pub to_host: Span,
    /// From an event at a host to the delivery, at any host, of frames that it sends.
    pub host_to_host: Span,
    /// From an event at a host to the first effect of a cell that it sends: its arrival at a port,
    /// or feedback to it if it is an RM cell.
    pub host_to_feedback: Span,
}

/// What a simulation is made of.
pub struct Parts {
    /// Hosts, which have sent nothing.
    pub hosts: Hosts,
    /// What lies between stations.
    pub fabric: Fabric,
    /// Ports that can queue.
    pub ports: Vec<Port>,
    /// Ports that share a pool, by pool.
    pub groups: Vec<Group>,
    /// Shortest times between them.
    pub distances: Distances,
    /// Number of links in the network.
    pub links: usize,
    /// Most bytes that the run may gather; `None` without a limit.
    pub memory_limit: Option<u64>,
    /// The run pauses when it holds more points and drops than this.
    pub pause_above: Option<u64>,
}

fn indices(chosen: impl Iterator<Item = bool>) -> Vec<usize> {
    chosen
        .enumerate()
        .filter_map(|(index, yes)| yes.then_some(index))
        .collect()
}

impl Simulation {
    /// A network at its start.
    pub fn new(parts: Parts) -> Simulation {
        let Parts {
            hosts,
            fabric,
            ports,
            groups,
            distances,
            links,
            memory_limit,
            pause_above,
        } = parts;
        let ports_watched = indices(ports.iter().map(|port| port.probe.is_some()));
        let vcs_watched = indices(hosts.vcs.iter().map(|vc| vc.probe.is_some()));
        let pools_watched = groups.iter().filter(|group| group.probe.is_some()).count();
        let places = ports_watched.len() + vcs_watched.len() + pools_watched;
        let watched = places > 0 || fabric.observers.records() || fabric.captures.is_some();
        let check_every = if watched {
            CHECK_EVERY.min(CHECK_EVERY_WATCHED + u32::try_from(places).unwrap_or(CHECK_EVERY))
        } else {
            CHECK_EVERY
        };
        let to_ports = ports.iter().map(|port| port.lookahead.from_hosts).min();
        let asks = !hosts.paced.is_empty();
        let mut group_of = Vec::new();
        for (group, number) in groups.iter().zip(0..) {
            group_of.resize(ports.len(), None);
            for &port in &group.ports {
                group_of[port as usize] = Some(number);
            }
        }
        Simulation {
            hosts,
            work: WorkList::new(ports.len()),
            groups,
            group_of,
            ports,
            distances,
            to_ports: to_ports.filter(|_| asks).unwrap_or(Span::ZERO),
            ports_until: Time::ZERO,
            links,
            check_every,
            until_check: check_every,
            work_done: 0,
            points_counted_at: 0,
            feeds_counted_at: 0,
            watched,
            ports_watched,
            vcs_watched,
            memory_limit,
            pause_above,
            gathered: Gathered::default(),
            drained: BTreeMap::new(),
            unordered: Vec::new(),
            left_by_drain: Gathered::default(),
            fabric,
        }
    }

    /// Advances until nothing is left to do before `until`, or the run ends. Returns the earliest
    /// time of pending work, at most the end.
    ///
    /// The run pauses earlier when it holds as much data as allowed; pausing changes no result.
    /// `cancel` is checked after every long step, and after a thousand short ones.
    ///
    /// # Errors
    /// The reason why the run cannot continue.
    pub fn advance_until(&mut self, until: Time, cancel: &AtomicBool) -> Result<Time, Stop> {
        let end = self.fabric.end;
        let limit = until.min(end);
        let mut full = false;
        loop {
            self.until_check -= 1;
            if self.until_check == 0 {
                self.until_check = self.check_every;
                self.work_done += i64::from(self.check_every);
                if cancel.load(Ordering::Relaxed) {
                    return Err(Stop::Cancelled);
                }
                self.check_memory()?;
                full = self.must_pause();
            }
            let next = self.hosts.next_time().unwrap_or(Time::NEVER).min(end);
            let work = self.work.first();
            let earliest = work.map_or(next, |(time, _)| time.min(next));
            if earliest >= limit || full {
                return Ok(earliest);
            }
            match work {
                Some((time, port)) if self.is_first(time, next) || next == end => {
                    match self.group_of.get(port).copied().flatten() {
                        None => self.advance(port, time, next),
                        Some(group) => self.advance_group(group as usize, time, next),
                    }
                }
                _ => {
                    if !self.hosts.paced.is_empty() {
                        self.hosts.from_ports =
                            work.map_or(Time::NEVER, |(time, _)| time + self.distances.to_host);
                        self.hosts.feedback_known_until = later(
                            later(next, self.distances.host_to_feedback),
                            self.distances.to_host,
                        );
                    }
                    self.hosts.event(&mut self.fabric);
                }
            }
            self.settle();
            if let Some(stop) = &self.fabric.stopped {
                return Err(**stop);
            }
        }
    }

    /// Whether a port with work at `time` goes before the next host event, at `next`. True as long
    /// as a cell could complete a frame at a host no later than that event. All work found this way
    /// is before the end.
    ///
    /// If hosts send as far ahead as nothing unknown can reach them, all ports then go as far as
    /// they can. If ports stopped as soon as possible, hosts could send almost nothing.
    fn is_first(&mut self, time: Time, next: Time) -> bool {
        if time + self.distances.to_host <= next {
            if self.to_ports > Span::ZERO {
                self.ports_until = later(next, self.to_ports).min(self.fabric.end);
            }
            return true;
        }
        time < self.ports_until && time < later(next, self.to_ports)
    }

    /// A time before which the port `index` has handled everything. Its unhandled arrivals are its
    /// own work, or come from a host or from unhandled cells of another port.
    ///
    /// The earliest work of any port is at `time`, the next host event at `next`.
    #[inline(always)]
    fn handled_until(&self, index: usize, time: Time, next: Time) -> Time {
        let port = &self.ports[index];
        if port.lookahead.from_ports.len() > MAX_UPSTREAM_PORTS {
            return port.done.max(time);
        }
        let next_work = port.next_work().min(next + port.lookahead.from_hosts);
        let from = |&(p, takes): &(u32, Span)| {
            let port = &self.ports[p as usize];
            later(port.earliest_start(port.done.max(time)), takes)
        };
        let others = port.lookahead.from_ports.iter().map(from).min();
        next_work
            .min(others.unwrap_or(Time::NEVER))
            .max(port.done)
            .max(time)
    }

    /// The time before which no unknown arrival can come to a port, and that of the consequences of
    /// host events to come. The earliest work of any port is at `time`, the next host event at `next`.
    #[inline(always)]
    fn horizon(&self, index: usize, time: Time, next: Time) -> (Time, Time) {
        let Port {
            lookahead, steps, ..
        } = &self.ports[index];
        let known_until = next + lookahead.from_hosts;
        let mut horizon = known_until.min(time + steps.longest);
        if lookahead.from_ports.len() > MOST_CHECKED_PORTS {
            horizon = horizon.min(later(time, lookahead.shortest_from_ports));
        } else {
            for &(port, takes) in &lookahead.from_ports {
                let unhandled = self.handled_until(port as usize, time, next);
                horizon = horizon.min(later(
                    self.ports[port as usize].earliest_start(unhandled),
                    takes,
                ));
            }
        }
        (horizon, known_until)
    }

    /// Lets the ports of a group, one of which has the earliest work, at `time`, take everything that
    /// no unknown arrival can precede. The next host event is at `next`.
    fn advance_group(&mut self, number: usize, time: Time, next: Time) {
        let [mut horizon, mut known_until] = [Time::NEVER; 2];
        let mut short = Span::FOREVER;
        for &port in &self.groups[number].ports {
            let (of_port, known) = self.horizon(port as usize, time, next);
            horizon = horizon.min(of_port);
            known_until = known_until.min(known);
            short = short.min(self.ports[port as usize].steps.short);
        }
        let horizon = horizon.min(self.fabric.end);
        if horizon > time + short {
            self.work_done += LONG_STEP - i64::from(self.until_check);
            self.until_check = 1;
        }
        let Simulation {
            groups,
            ports,
            fabric,
            work,
            ..
        } = self;
        let group = &mut groups[number];
        group.advance(ports, fabric, number, horizon, known_until);
        for &port in &group.ports {
            work.set(port as usize, ports[port as usize].next_work());
        }
    }

    /// Lets the port with the earliest work, at `time`, take everything that no unknown arrival can
    /// precede. The next host event is at `next`.
    fn advance(&mut self, index: usize, time: Time, next: Time) {
        let (horizon, known_until) = self.horizon(index, time, next);
        let port = &mut self.ports[index];
        if horizon > time + port.steps.short {
            self.work_done += LONG_STEP - i64::from(self.until_check);
            self.until_check = 1;
        }
        port.advance(&mut self.fabric, index, horizon, known_until);
        self.work.set(index, port.next_work());
        if let PortKernel::Slotted(kernel) = &port.kernel {
            debug_assert!(
                kernel.is_balanced(),
                "cells are lost or made at port {index}"
            );
        }
    }

    /// Processes or records arrived frames, and lists ports with new work.
    fn settle(&mut self) {
        self.hosts.take_arrivals(&mut self.fabric);
        while let Some(port) = self.fabric.woken_ports.pop() {
            let index = port as usize;
            self.ports[index].wake(&mut self.fabric, index);
            self.work.set(index, self.ports[index].next_work());
        }
    }

    /// Counts the gathered data, and stops the run if they exceed the limit.
    fn check_memory(&mut self) -> Result<(), Stop> {
        if !self.hosts.paced.is_empty() {
            let next = self.hosts.next_time().unwrap_or(Time::NEVER);
            let work = self.work.first().map_or(Time::NEVER, |(time, _)| time);
            let before = next.min(work).min(self.fabric.end).0.saturating_sub(1);
            self.fabric.logs.settle_until(Time(before));
        }
        if self.watched && self.work_done - self.points_counted_at >= i64::from(self.check_every) {
            self.points_counted_at = self.work_done;
            if let Some(captures) = &self.fabric.captures {
                self.gathered.captured = captures.pending();
            }
            (self.gathered.points, self.gathered.drops) = self.recorded();
            if self.gathered.recorded() > MOST_POINTS {
                self.gathered.largest_probe = self.most_recorded();
                return Err(Stop::Points(self.gathered));
            }
        }
        let Some(limit) = self.memory_limit else {
            return Ok(());
        };
        let feeds = self.fabric.feeds.len();
        if self.work_done - self.feeds_counted_at >= COUNT_EVERY.max(feeds as i64) {
            self.feeds_counted_at = self.work_done;
            let feeds = self.fabric.feeds.iter().map(|feed| feed.behind());
            let paced = self.hosts.paced.iter().map(|paced| paced.frames());
            let rms = self.fabric.logs.in_transit();
            let frames = feeds.sum::<usize>() + paced.sum::<usize>() + rms;
            self.gathered.frames = (frames + self.hosts.events.pending()) as u64;
        }
        if self.gathered.bytes() > limit as f64 {
            self.gathered.largest_probe = self.most_recorded();
            return Err(Stop::Grown(self.gathered, limit));
        }
        Ok(())
    }

    /// Whether enough was recorded since the last drain to pause.
    fn must_pause(&self) -> bool {
        let Some(pause_above) = self.pause_above else {
            return false;
        };
        let recorded = |gathered: &Gathered| gathered.parts()[0] + gathered.parts()[1];
        let since = recorded(&self.gathered) - recorded(&self.left_by_drain);
        let captures = self.fabric.captures.as_ref();
        since > pause_above as f64 || captures.is_some_and(|captures| captures.is_full())
    }

    /// The next part of each capture: what happened before `before`, or everything.
    pub fn captured(&mut self, origin: &Origin<'_>, before: Time) -> Vec<FilePart> {
        let fabric = &mut self.fabric;
        let Some(captures) = &mut fabric.captures else {
            return Vec::new();
        };
        self.gathered.captured = 0;
        fabric.logs.settle_all(Time(before.0.saturating_sub(1)));
        let flows = &self.hosts.flows;
        captures.write(origin, &mut fabric.logs, before, |flow| {
            flows[flow.index()].next_received()
        })
    }

    /// Points of series and traced drops of all probes that are not yet drained.
    pub fn recorded(&self) -> (u64, u64) {
        let ports = || {
            let watched = self.ports_watched.iter();
            let of_ports = watched.filter_map(|&port| self.ports[port].probe.as_deref());
            of_ports.chain(
                self.groups
                    .iter()
                    .filter_map(|group| group.probe.as_deref()),
            )
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
