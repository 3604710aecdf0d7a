//! The run: events of hosts in time order, cells moved by the ports just before something could come of them.
//!
//! Two planes. Hosts (timers, sources, frames delivered) live in one event list. Cells live in the feeds of the ports; a port
//! takes its arrivals in one go, up to a horizon before which nothing unknown can arrive: whatever has not happened yet
//! happens no earlier than the next event of a host or the earliest work of any port, and needs a cell time and the propagation delay to
//! get to this port. No topology needs an event per cell, or a heap entry per cell in flight.
//!
//! A frame that arrives at a host is handled at once, ahead of its time, where that can concern nobody else: if the host's link
//! serves this VC only, there is no processing delay, and no timer of the connection expires before.

use crate::event::{EventList, Kind, WorkList};
use crate::host::connection::{Connection, FrameStage, OfTcp, Traffic, Way};
use crate::host::nic::Nic;
use crate::host::tcp::Segment;
use crate::link::{Arrival, Departure, Fabric, Next};
use crate::port::merge::{ENDS_FRAME, SINGLE_CELLS};
use crate::port::{Kernel as PortKernel, Port};
use crate::results::{self, RunResult};
use crate::scenario::{MOST_POINTS, Scenario};
use crate::tally::{DirectionTally, DropReason, Tally, VcTally};
use crate::topology::Topology;
use crate::units::Time;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which kernels the ports use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kernel {
    /// The fastest that applies, per port.
    #[default]
    Auto,
    /// `port::arithmetic` at every port; an error where it does not apply.
    A,
    /// `port::slotted` at every port.
    B,
    /// The plain reference engine: one event per cell and hop.
    Plain,
}

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Kernels.
    pub kernel: Kernel,
    /// Whether to compute the digest over all cell transmissions.
    pub digest: bool,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The scenario was not checked by the reader and does not hold together.
    #[error("{0}")]
    Scenario(String),
    /// A kernel was forced on a port that it cannot serve.
    #[error("port {port}: kernel A needs a single class and a cell time of whole ticks")]
    Kernel {
        /// Name of the link.
        port: String,
    },
    /// The probes recorded more than can be kept.
    #[error(
        "the probes have recorded more than {MOST_POINTS} points: give them a longer interval or `every`, or the run a shorter duration"
    )]
    Points,
    /// The run was asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// Runs `scenario`, as published (`None`) or as replication number r of an ensemble.
///
/// # Errors
/// See [`RunError`]. `cancel` is looked at every thousand events.
pub fn run(
    scenario: &Scenario,
    replication: Option<u64>,
    options: &Options,
    cancel: &AtomicBool,
) -> Result<RunResult, RunError> {
    let topology = Topology::new(scenario).map_err(RunError::Scenario)?;
    if options.kernel == Kernel::Plain {
        let mut tally = crate::twin::run(scenario, replication);
        tally.digest = tally.digest.filter(|_| options.digest);
        return Ok(results::assemble(
            scenario,
            &topology,
            replication,
            &tally,
            Vec::new(),
            Vec::new(),
        ));
    }
    let mut simulation = Simulation::new(scenario, &topology, replication, options)?;
    simulation.run(cancel)?;
    let (series, trace) = simulation.series(scenario, &topology);
    let tally = simulation.into_tally();
    Ok(results::assemble(
        scenario,
        &topology,
        replication,
        &tally,
        series,
        trace,
    ))
}

/// Runs `scenario` and returns the plain counters.
///
/// # Errors
/// As [`run`].
pub fn run_tally(
    scenario: &Scenario,
    replication: Option<u64>,
    kernel: Kernel,
    digest: bool,
) -> Result<Tally, RunError> {
    if kernel == Kernel::Plain {
        return Ok(crate::twin::run(scenario, replication));
    }
    let topology = Topology::new(scenario).map_err(RunError::Scenario)?;
    let mut simulation = Simulation::new(
        scenario,
        &topology,
        replication,
        &Options { kernel, digest },
    )?;
    simulation.run(&AtomicBool::new(false))?;
    Ok(simulation.into_tally())
}

/// A network in motion. Built by `network`.
#[derive(Debug)]
pub struct Simulation {
    /// End of the run, ticks.
    pub(crate) end: u64,
    pub(crate) measured: (u64, u64),
    pub(crate) events: EventList,
    pub(crate) fabric: Fabric,
    pub(crate) ports: Vec<Port>,
    pub(crate) work: WorkList,
    /// Shortest time from an arrival at any port to the delivery of a frame at a host, ticks.
    pub(crate) to_host: u64,
    /// Per link; idle for links that leave a switch.
    pub(crate) nics: Vec<Nic>,
    /// Per host: processing of what is sent and of what is received.
    pub(crate) host_stages: Vec<[Option<FrameStage>; 2]>,
    /// Per host: frames in its processing stage on their way to a NIC, by direction and number.
    pub(crate) to_nics: Vec<VecDeque<(usize, u32)>>,
    pub(crate) connections: Vec<Connection>,
    /// Per link.
    pub(crate) links: usize,
    /// Segments that a sender has just asked for.
    pub(crate) segments: Vec<Segment>,
    pub(crate) arrivals: Vec<Arrival>,
}

/// How many steps pass between two looks at the request to stop.
const LOOK_EVERY: u32 = 1000;

/// A port with more ports before it is not asked what they have handled: it would cost more than it gives.
const LOOKED_BEHIND: usize = 4;

const SEND: usize = 0;
const RECEIVE: usize = 1;
const DATA: usize = 0;
const ACK: usize = 1;

impl Simulation {
    /// Runs to the end.
    fn run(&mut self, cancel: &AtomicBool) -> Result<(), RunError> {
        let mut until_look = LOOK_EVERY;
        loop {
            until_look -= 1;
            if until_look == 0 {
                until_look = LOOK_EVERY;
                if cancel.load(Ordering::Relaxed) {
                    return Err(RunError::Cancelled);
                }
                if self.recorded() > MOST_POINTS {
                    return Err(RunError::Points);
                }
            }
            let next = self.events.next_time().unwrap_or(u64::MAX).min(self.end);
            // Ports first, as long as a cell could complete a frame at a host before that event, or at the same time.
            if let Some((time, port)) = self.work.first()
                && time < self.end
                && (time + self.to_host <= next || next == self.end)
            {
                self.advance(port, time, next);
            } else if next < self.end {
                self.event();
            } else {
                break;
            }
            self.settle();
        }
        self.check();
        Ok(())
    }

    /// Handles the next event of a host.
    fn event(&mut self) {
        let Some((now, kind, index)) = self.events.pop() else {
            return;
        };
        match kind {
            Kind::SenderTimer => self.sender_timer(now, index),
            Kind::ReceiverTimer => self.receiver_timer(now, index),
            Kind::Source => self.source(now, index),
            Kind::Delivered => self.delivered(now, index),
            Kind::ToTransport => {
                if let Some((_, frame)) = self.way(index).to_transport.pop_front() {
                    self.reach_transport(index, frame, now);
                }
            }
            Kind::ToHost => {
                if let Some((_, frame)) = self.way(index).to_host.pop_front() {
                    self.host_send(index, frame, now);
                }
            }
            Kind::ToNic => {
                if let Some((direction, frame)) = self.to_nics[index].pop_front() {
                    self.nic_send(direction, frame, now);
                }
            }
        }
    }

    /// A time before which the port `index` has handled everything: what it has not is its own work, or comes from a host or from what
    /// another port has not handled. The earliest work of any port is at `time`, the next event of a host at `next`.
    fn unhandled(&self, index: usize, time: u64, next: u64) -> u64 {
        let port = &self.ports[index];
        if port.ahead.from_ports.len() > LOOKED_BEHIND {
            return port.done.max(time);
        }
        let own = port.next_work().min(next + port.ahead.from_hosts);
        let from = |&(p, takes): &(u32, u64)| self.ports[p as usize].done.max(time) + takes;
        let others = port.ahead.from_ports.iter().map(from).min();
        own.min(others.unwrap_or(u64::MAX)).max(port.done).max(time)
    }

    /// Lets the port with the earliest work, at `time`, take all that cannot be preceded by anything unknown; the next event of a host is at `next`.
    fn advance(&mut self, index: usize, time: u64, next: u64) {
        let ahead = &self.ports[index].ahead;
        let mut horizon = next + ahead.from_hosts;
        for &(port, takes) in &ahead.from_ports {
            horizon = horizon.min(self.unhandled(port as usize, time, next) + takes);
        }
        let port = &mut self.ports[index];
        port.advance(&mut self.fabric, index, horizon);
        self.work.set(index, port.next_work());
        if let PortKernel::Slotted(kernel) = &port.kernel {
            debug_assert!(
                kernel.is_balanced(),
                "cells are lost or made at port {index}"
            );
        }
    }

    fn way(&mut self, direction: usize) -> &mut Way {
        &mut self.connections[direction / 2].ways[direction % 2]
    }

    /// After an event: frames that have arrived are handled or noted, and ports with new work get their event.
    fn settle(&mut self) {
        while !self.fabric.arrivals.is_empty() {
            std::mem::swap(&mut self.arrivals, &mut self.fabric.arrivals);
            for i in 0..self.arrivals.len() {
                self.arrival(self.arrivals[i]);
            }
            self.arrivals.clear();
        }
        while let Some(port) = self.fabric.woken_ports.pop() {
            let index = port as usize;
            self.ports[index].wake(&mut self.fabric, index);
            self.work.set(index, self.ports[index].next_work());
        }
    }

    /// A good frame has arrived, possibly ahead of the present.
    #[inline]
    fn arrival(&mut self, arrival: Arrival) {
        let direction = arrival.direction as usize;
        let connection = &mut self.connections[direction / 2];
        let way = &mut connection.ways[direction % 2];
        if way.at_once && way.delivered.is_empty() {
            let concerns_timer = match &connection.traffic {
                Traffic::Tcp(tcp) if direction % 2 == ACK => {
                    tcp.sender.deadline().0 <= arrival.time
                }
                _ => false,
            };
            if !concerns_timer {
                return self.reach_transport(direction, arrival.frame, arrival.time);
            }
        }
        let way = self.way(direction);
        way.delivered.push_back((arrival.time, arrival.frame));
        if way.delivered.len() == 1 {
            self.events.push(arrival.time, Kind::Delivered, direction);
        }
    }

    /// The time has come at which a frame is delivered to its host.
    fn delivered(&mut self, now: u64, direction: usize) {
        let way = self.way(direction);
        let (_, frame) = way.delivered.pop_front().expect("a delivery has its frame");
        if let Some(&(time, _)) = way.delivered.front() {
            self.events.push(time, Kind::Delivered, direction);
        }
        let way = &mut self.connections[direction / 2].ways[direction % 2];
        let mut time = now;
        let mut waits = false;
        if let Some(stage) = &mut self.host_stages[way.hosts[1]][RECEIVE] {
            time = stage.leaves(time, way.host_streams[RECEIVE], frame);
            waits = true;
        }
        if let Some(stage) = &mut way.transport[RECEIVE] {
            time = stage.leaves(time, way.transport_streams[RECEIVE], frame);
            waits = true;
        }
        if waits {
            way.to_transport.push_back((time, frame));
            self.events.push(time, Kind::ToTransport, direction);
        } else {
            self.reach_transport(direction, frame, now);
        }
    }

    /// A frame reaches the transport.
    #[inline]
    fn reach_transport(&mut self, direction: usize, frame: u32, now: u64) {
        let index = direction / 2;
        let connection = &mut self.connections[index];
        let Traffic::Tcp(tcp) = &mut connection.traffic else {
            return;
        };
        if direction % 2 == DATA {
            let (seq, len) = tcp.take_segment(frame);
            let mut bytes = 0;
            let ack = tcp.receiver.on_segment(Time(now), seq, len, &mut bytes);
            connection.delivered_bytes += bytes;
            if now >= self.measured.0 && now < self.measured.1 {
                connection.measured_bytes += bytes;
            }
            if let Some(probe) = &mut connection.probe {
                for (_, goodput) in &mut probe.goodput {
                    goodput.add(now, bytes as f64);
                }
                probe.set(now, OfTcp::Delivered, connection.delivered_bytes);
            }
            if let Some(ack) = ack {
                let frame = connection.ways[ACK].next_frame;
                tcp.put_ack(frame, &ack);
                self.send(2 * index + ACK, now);
            }
            self.watch_receiver_timer(index);
        } else {
            let ack = tcp.take_ack(frame);
            tcp.sender.on_ack(Time(now), &ack, &mut self.segments);
            self.transmit(index, now);
        }
    }

    fn sender_timer(&mut self, now: u64, index: usize) {
        let Traffic::Tcp(tcp) = &mut self.connections[index].traffic else {
            return;
        };
        if tcp.sender_timer_at != now {
            return;
        }
        tcp.sender_timer_at = u64::MAX;
        if tcp.sender.deadline().0 == now {
            tcp.sender.on_timer(Time(now), &mut self.segments);
        }
        self.transmit(index, now);
    }

    fn receiver_timer(&mut self, now: u64, index: usize) {
        let connection = &mut self.connections[index];
        let Traffic::Tcp(tcp) = &mut connection.traffic else {
            return;
        };
        if tcp.receiver_timer_at != now {
            return;
        }
        tcp.receiver_timer_at = u64::MAX;
        if tcp.receiver.deadline().0 == now
            && let Some(ack) = tcp.receiver.on_timer(Time(now))
        {
            tcp.put_ack(connection.ways[ACK].next_frame, &ack);
            self.send(2 * index + ACK, now);
        }
        self.watch_receiver_timer(index);
    }

    /// Sees to it that the event list holds an event no later than the receiver's deadline.
    #[inline]
    fn watch_receiver_timer(&mut self, index: usize) {
        let Traffic::Tcp(tcp) = &mut self.connections[index].traffic else {
            return;
        };
        let deadline = tcp.receiver.deadline().0;
        if deadline < tcp.receiver_timer_at {
            tcp.receiver_timer_at = deadline;
            self.events.push(deadline, Kind::ReceiverTimer, index);
        }
    }

    /// Sends the segments that the sender has just asked for, and watches its timer.
    #[inline]
    fn transmit(&mut self, index: usize, now: u64) {
        for i in 0..self.segments.len() {
            let connection = &mut self.connections[index];
            let Traffic::Tcp(tcp) = &mut connection.traffic else {
                return;
            };
            let segment = self.segments[i];
            for (_, sequence) in connection.probe.iter_mut().flat_map(|p| &mut p.sequence) {
                sequence.points.push((now, segment.seq as f64));
            }
            let cells = tcp.put_segment(connection.ways[DATA].next_frame, segment);
            let sink = &mut self.fabric.sinks[2 * index + DATA];
            if cells != sink.frame_cells {
                sink.odd_frames
                    .push_back((connection.ways[DATA].next_frame, cells));
            }
            self.send(2 * index + DATA, now);
        }
        self.segments.clear();
        let connection = &mut self.connections[index];
        let Traffic::Tcp(tcp) = &mut connection.traffic else {
            return;
        };
        let deadline = tcp.sender.deadline().0;
        if deadline < tcp.sender_timer_at {
            tcp.sender_timer_at = deadline;
            self.events.push(deadline, Kind::SenderTimer, index);
        }
        if let Some(probe) = &mut connection.probe {
            probe.set(now, OfTcp::Cwnd, tcp.sender.cwnd());
            probe.set(now, OfTcp::Ssthresh, tcp.sender.ssthresh());
        }
    }

    /// The transport hands over the next frame.
    #[inline]
    fn send(&mut self, direction: usize, now: u64) {
        let way = &mut self.connections[direction / 2].ways[direction % 2];
        let frame = way.next_frame;
        way.next_frame += 1;
        if let Some(stage) = &mut way.transport[SEND] {
            let time = stage.leaves(now, way.transport_streams[SEND], frame);
            way.to_host.push_back((time, frame));
            return self.events.push(time, Kind::ToHost, direction);
        }
        self.host_send(direction, frame, now);
    }

    /// A frame to send reaches the host.
    #[inline]
    fn host_send(&mut self, direction: usize, frame: u32, now: u64) {
        let way = &mut self.connections[direction / 2].ways[direction % 2];
        let host = way.hosts[0];
        if let Some(stage) = &mut self.host_stages[host][SEND] {
            let time = stage.leaves(now, way.host_streams[SEND], frame);
            self.to_nics[host].push_back((direction, frame));
            return self.events.push(time, Kind::ToNic, host);
        }
        self.nic_send(direction, frame, now);
    }

    /// A frame is queued at its NIC.
    #[inline]
    fn nic_send(&mut self, direction: usize, frame: u32, time: u64) {
        let way = &mut self.connections[direction / 2].ways[direction % 2];
        if time >= self.end {
            return;
        }
        let cells = self.fabric.sinks[direction].cells_of(frame);
        way.frames_sent += 1;
        let hop = way.first_hop;
        let nic = &mut self.nics[way.nic];
        let flags = ENDS_FRAME;
        if let Some(exact) = nic.cell_time().exact() {
            let first = nic.send_frame(time, cells, exact);
            self.fabric.depart(
                hop,
                Departure {
                    time: first,
                    period: exact,
                    age: 0,
                    n: cells,
                    frame,
                    cell: 0,
                    flags,
                },
            );
        } else {
            for cell in 0..cells {
                let end = nic.send_cell(time);
                let flags = if cell + 1 == cells { flags } else { 0 };
                self.fabric.depart(
                    hop,
                    Departure {
                        time: end,
                        period: 1,
                        age: 0,
                        n: 1,
                        frame,
                        cell,
                        flags,
                    },
                );
            }
        }
    }

    /// A source starts or goes on.
    fn source(&mut self, now: u64, index: usize) {
        let connection = &mut self.connections[index];
        match &mut connection.traffic {
            Traffic::Tcp(tcp) => {
                tcp.sender.start(Time(now), &mut self.segments);
                self.transmit(index, now);
            }
            Traffic::Cells(source) => {
                let way = &mut connection.ways[DATA];
                let nic = &mut self.nics[way.nic];
                let mut d = Departure {
                    time: 0,
                    period: 1,
                    age: 0,
                    n: 1,
                    frame: way.next_frame,
                    cell: 0,
                    flags: SINGLE_CELLS | ENDS_FRAME,
                };
                let (regular, period) = source.regular();
                let alone = way.at_once;
                let mut left = if alone { 32 } else { 1 };
                if let Some(exact) = nic.cell_time().exact()
                    && alone
                    && regular > 1
                    && period >= exact
                    && nic.is_idle_at(now)
                {
                    // All are sent as they come.
                    let n = regular.min((self.end - now).div_ceil(period));
                    d.time = nic.send_cell(now);
                    let last = now + (n - 1) * period;
                    if n > 1 {
                        nic.send_cell(last);
                    }
                    d.period = period;
                    d.n = n as u32;
                    source.emitted(n);
                    way.frames_sent += n;
                    way.next_frame += n as u32;
                    self.fabric.depart(way.first_hop, d);
                    left = 0;
                }
                while left > 0 && source.next < self.end {
                    d.time = nic.send_cell(source.next);
                    d.frame = way.next_frame;
                    source.emitted(1);
                    way.frames_sent += 1;
                    way.next_frame += 1;
                    self.fabric.depart(way.first_hop, d);
                    left -= 1;
                }
                let next = source.next;
                self.events.push(next, Kind::Source, index);
            }
        }
    }

    /// Every cell that left a NIC has been delivered, dropped, is held by a port or on its way.
    fn check(&self) {
        let mut in_feeds = vec![0u64; self.fabric.hops.len()];
        for feed in &self.fabric.feeds {
            for run in feed.runs() {
                in_feeds[run.hop as usize] += u64::from(run.n);
            }
        }
        for (i, hop) in self.fabric.hops.iter().enumerate() {
            let extra = &self.fabric.extras[i];
            let left = hop.sent - extra.dropped[DropReason::Link as usize];
            let reached = match hop.next {
                Next::Host => {
                    self.fabric.sinks[hop.direction as usize].cells + extra.late.len() as u64
                }
                Next::Port { .. } => self.fabric.hops[i + 1].arrived + in_feeds[i + 1],
            };
            assert_eq!(
                left, reached,
                "cells lost or made between stage {i} and the next"
            );
        }
        for port in &self.ports {
            let tally = port.tally(&self.fabric);
            let link = tally.dropped()[DropReason::Link as usize];
            let dropped: u64 = tally.dropped().iter().sum::<u64>() - link;
            assert_eq!(
                tally.arrived(),
                tally.accepted + dropped,
                "cells lost or made on arrival at a port"
            );
            assert_eq!(
                tally.accepted,
                tally.sent() + tally.held,
                "cells lost or made in a port"
            );
        }
    }

    /// The counters.
    fn into_tally(self) -> Tally {
        let mut tally = Tally {
            link_cells: vec![0; self.links],
            link_data_cells: vec![0; self.links],
            link_lost: vec![0; self.links],
            ports: vec![None; self.links],
            vcs: vec![VcTally::default(); self.connections.len()],
            class_delays: self.fabric.class_delays.clone(),
            digest: self.fabric.digest,
        };
        for port in self.ports.iter().filter(|p| p.can_queue) {
            tally.ports[port.link] = Some(port.tally(&self.fabric));
        }
        for (direction, sink) in self.fabric.sinks.iter().enumerate() {
            let vc = &mut tally.vcs[direction / 2];
            if direction % 2 == DATA {
                vc.delay = sink.delay;
            }
            let way = &self.connections[direction / 2].ways[direction % 2];
            vc.directions[direction % 2] = DirectionTally {
                frames_sent: way.frames_sent,
                frames_delivered: sink.frames,
                frames_damaged: sink.damaged,
                cells_sent: self.fabric.hops[way.first_hop].sent,
                cells_delivered: sink.cells,
                cells_dropped: 0,
            };
        }
        for (hop, extra) in self.fabric.hops.iter().zip(&self.fabric.extras) {
            let mut count = |link: usize, cells: u64| {
                tally.link_cells[link] += cells;
                tally.link_data_cells[link] += if hop.is_data { cells } else { 0 };
            };
            count(extra.link as usize, hop.sent);
            for &(link, offset) in &extra.through {
                let late = extra
                    .late
                    .iter()
                    .filter(|&&t| t + offset >= self.end)
                    .count() as u64;
                count(
                    link as usize,
                    hop.sent - extra.dropped[DropReason::Link as usize] - late,
                );
            }
            tally.link_lost[extra.link as usize] += extra.dropped[DropReason::Link as usize];
            let direction = hop.direction as usize;
            tally.vcs[direction / 2].directions[direction % 2].cells_dropped +=
                extra.dropped.iter().sum::<u64>();
        }
        for (vc, (connection, sink)) in tally.vcs.iter_mut().zip(
            self.connections
                .iter()
                .zip(self.fabric.sinks.iter().step_by(2)),
        ) {
            match &connection.traffic {
                Traffic::Tcp(tcp) => {
                    vc.sender = tcp.sender.counters();
                    vc.measured_bytes = connection.measured_bytes;
                    vc.delivered_bytes = connection.delivered_bytes;
                }
                Traffic::Cells(_) => {
                    let payload = crate::units::CELL_PAYLOAD_BYTES;
                    vc.measured_bytes = sink.measured_cells * payload;
                    vc.delivered_bytes = sink.cells * payload;
                }
            }
        }
        tally
    }
}
