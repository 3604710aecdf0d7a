//! The twin: a plain reference engine, the executable form of the model page (`docs/model.md`).
//!
//! One event per cell per hop, one heap, explicit queues. It shares with the fast engine the scenario, its
//! topology, the random streams, and the pure decisions (drop policies, schedulers, TCP), each of which has tests of its own;
//! time order, links, merging, acceptance, queues, processing, losses, sources and reassembly are written again. Tests run
//! both on random scenarios and compare everything they count. Clear before fast: it keeps every frame in memory.

mod event;
mod line;
mod port;
mod reassembly;
mod source;
mod stage;

use crate::aal5::{ACK_CELLS, cells_of_segment};
use crate::host::tcp::{Ack, Receiver, Segment, Sender};
use crate::rng::{Step, Stream};
use crate::scenario::{Class, Scenario, TieOrder, Traffic};
use crate::tally::{DirectionTally, DropReason, Tally, VcTally, digest};
use crate::topology::{Direction, Topology};
use crate::units::{BitRate, CELL_BITS, CELL_PAYLOAD_BYTES, Span, TICKS_PER_SECOND, Time};
use event::{Agenda, Event, Level, Way};
use line::Line;
use port::{Port, Verdict};
use reassembly::Reassembly;
use source::Emissions;
use stage::{FrameStage, SwitchStage};
use std::collections::VecDeque;

/// One cell on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    direction: Direction,
    /// Number of its frame within the VC direction.
    frame: u32,
    /// Number within its frame.
    index: u32,
    /// Whether it ends its frame.
    eom: bool,
    /// End of its transmission by the source host.
    left_source: Time,
}

/// What a frame carries.
#[derive(Clone, Copy, Debug)]
enum Payload {
    Segment(Segment),
    Ack(Ack),
    /// The single cell of a cell source.
    Cell,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    cells: u32,
    payload: Payload,
}

/// What happens at the two ends of a VC.
enum Ends {
    Tcp {
        sender: Box<Sender>,
        receiver: Box<Receiver>,
    },
    Cells(Emissions),
}

struct Vc {
    class: Class,
    ends: Ends,
    /// When the retransmission and the delayed-ACK timer expire.
    timers: [Time; 2],
}

/// Processing at one host or, for `transport`, at the two ends of one VC.
struct Processing {
    /// By VC direction: the transport that hands its frames over, and the one that takes them.
    transport: Vec<[Option<FrameStage>; 2]>,
    /// By host: frames received, frames sent.
    host: Vec<[Option<FrameStage>; 2]>,
    /// By VC direction and way: the draws at transport and host.
    streams: Vec<[[Stream; 2]; 2]>,
}

struct Twin<'a> {
    scenario: &'a Scenario,
    topology: Topology,
    now: Time,
    end: Time,
    agenda: Agenda,
    vcs: Vec<Vc>,
    /// By VC direction: all frames so far.
    frames: Vec<Vec<Frame>>,
    processing: Processing,
    /// By link.
    lines: Vec<Line>,
    /// By link that leaves a host: cells that wait for it.
    nics: Vec<VecDeque<Cell>>,
    /// By link that reaches a switch.
    switch_stages: Vec<Option<SwitchStage>>,
    /// By link that leaves a switch.
    ports: Vec<Option<Port>>,
    /// By VC direction.
    reassembly: Vec<Reassembly>,
    tie_offset: u64,
    tie_streams: Vec<Stream>,
    tally: Tally,
}

/// Simulates `scenario` and returns what it counts, the digest included. `replication` draws what
/// `scenario.ensemble` names; without it nothing of that is drawn.
///
/// # Panics
/// When the scenario does not pass the reader's checks, or a cell is lost from the books.
pub fn run(scenario: &Scenario, replication: Option<u64>) -> Tally {
    let mut twin = Twin::new(scenario, replication);
    while let Some((time, event)) = twin.agenda.next_before(twin.end) {
        twin.now = time;
        twin.handle(event);
    }
    twin.finish()
}

impl<'a> Twin<'a> {
    fn new(scenario: &'a Scenario, replication: Option<u64>) -> Twin<'a> {
        let topology = Topology::new(scenario).expect("the scenario is consistent");
        let number = replication.unwrap_or(0);
        let stream =
            |component: &str, purpose: &str| Stream::new(scenario.seed, number, component, purpose);
        let spread = |component: &str, purpose: &str, step| {
            Stream::new(scenario.seed, 0, component, purpose).spread(number, step)
        };
        let drawn = &scenario.ensemble;
        let phase = |granularity: Span| {
            if replication.is_some() && drawn.timer_phase {
                Span(spread("", "timer-phase", Step::Golden).below(granularity.0))
            } else {
                scenario.timer_phase
            }
        };
        let tie_offset = if replication.is_some() && drawn.tie_offset {
            stream("", "tie-offset").below(0, 1 << 32)
        } else {
            scenario.tie_offset
        };

        let mut agenda = Agenda::new(scenario.arrival_first);
        let mut vcs = Vec::new();
        for (v, vc) in scenario.vcs.iter().enumerate() {
            let mut start = Time::ZERO + vc.start;
            if replication.is_some() {
                start += Span(stream(&vc.name, "start").below(0, drawn.start_jitter.0));
                if let (Traffic::Vbr { on, off, .. }, true) = (&vc.traffic, drawn.vbr_phase) {
                    let point = spread(&vc.name, "vbr-phase", Step::Silver);
                    start += Span(point.below((*on + *off).0));
                }
            }
            let ends = match &vc.traffic {
                Traffic::Tcp(tcp) => {
                    agenda.add(start, Event::Source { vc: v });
                    Ends::Tcp {
                        sender: Box::new(Sender::new(tcp, phase(tcp.granularity))),
                        receiver: Box::new(Receiver::new(tcp)),
                    }
                }
                cells => {
                    let mut emissions = Emissions::new(cells, start, stream(&vc.name, "poisson"));
                    if let Some(first) = emissions.next() {
                        agenda.add(first, Event::Source { vc: v });
                    }
                    Ends::Cells(emissions)
                }
            };
            vcs.push(Vc {
                class: vc.class,
                ends,
                timers: [Time::NEVER; 2],
            });
        }

        let links = &scenario.links;
        let link_stream = |purpose| {
            links
                .iter()
                .map(|l| stream(&l.name, purpose))
                .collect::<Vec<_>>()
        };
        let lines = links
            .iter()
            .zip(link_stream("loss"))
            .map(|(link, draws)| Line::new(link, draws))
            .collect();
        let switch_stages = links
            .iter()
            .map(|link| {
                let into = scenario.switches.iter().find(|s| s.name == link.to)?;
                let draws = scenario.vcs.iter().flat_map(|vc| {
                    let of = |way| stream(&link.name, &format!("switch-{way}-{}", vc.name));
                    ["data", "ack"].map(of)
                });
                Some(SwitchStage::new(into.processing?, draws.collect()))
            })
            .collect();
        let ports = (0..links.len())
            .map(|link| topology.switch_of[link].map(|_| Port::new(scenario, &topology, link)))
            .collect();
        let directions = 2 * scenario.vcs.len();
        Twin {
            processing: Processing::new(scenario, &topology, stream),
            now: Time::ZERO,
            end: Time::ZERO + scenario.duration,
            agenda,
            vcs,
            frames: vec![Vec::new(); directions],
            lines,
            nics: vec![VecDeque::new(); links.len()],
            switch_stages,
            ports,
            reassembly: vec![Reassembly::default(); directions],
            tie_offset,
            tie_streams: link_stream("tie"),
            tally: Tally {
                link_cells: vec![0; links.len()],
                link_data_cells: vec![0; links.len()],
                link_lost: vec![0; links.len()],
                vcs: vec![VcTally::default(); scenario.vcs.len()],
                digest: Some(0),
                ..Tally::default()
            },
            scenario,
            topology,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Timer { vc, delayed_ack } => self.timer(vc, delayed_ack),
            Event::Source { vc } => self.source(vc),
            Event::Delivery { cell } => self.cell_reaches_host(cell),
            Event::StageLeft {
                direction,
                way,
                level,
                frame,
            } => match (way, level) {
                (Way::Send, Level::Transport) => self.send_through_host(direction, frame),
                (Way::Send, Level::Host) => self.queue_at_nic(direction, frame),
                (Way::Receive, Level::Host) => self.receive_at_transport(direction, frame),
                (Way::Receive, Level::Transport) => self.take(direction, frame),
            },
            Event::Arrival { port, input, cell } => {
                let mut cells = vec![(input, cell)];
                cells.extend(self.agenda.other_arrivals(self.now, port));
                self.sort_ties(port, &mut cells);
                for (_, cell) in cells {
                    self.cell_reaches_port(port, cell);
                }
            }
            Event::Departure { link } => self.departure(link),
        }
    }

    // ---- the ends (model sections 5, 8, 9, 10) ----

    fn timer(&mut self, vc: usize, delayed_ack: bool) {
        let now = self.now;
        let Vc { ends, timers, .. } = &mut self.vcs[vc];
        let timer = &mut timers[usize::from(delayed_ack)];
        if *timer != now {
            return; // It was set anew since this event was added.
        }
        *timer = Time::NEVER;
        let Ends::Tcp { sender, receiver } = ends else {
            unreachable!("only TCP sets timers")
        };
        let mut segments = Vec::new();
        let mut ack = None;
        if delayed_ack {
            ack = receiver.on_timer(now);
        } else {
            sender.on_timer(now, &mut segments);
        }
        self.send_tcp(vc, segments, ack);
    }

    fn source(&mut self, vc: usize) {
        let mut segments = Vec::new();
        match &mut self.vcs[vc].ends {
            Ends::Tcp { sender, .. } => {
                sender.start(self.now, &mut segments);
                self.send_tcp(vc, segments, None);
            }
            Ends::Cells(emissions) => {
                if let Some(next) = emissions.next() {
                    self.agenda.add(next, Event::Source { vc });
                }
                self.send(2 * vc, 1, Payload::Cell);
            }
        }
    }

    /// Hands over what a TCP decided to send and enters its deadlines in the agenda.
    fn send_tcp(&mut self, vc: usize, segments: Vec<Segment>, ack: Option<Ack>) {
        for segment in segments {
            let cells = cells_of_segment(u64::from(segment.len));
            self.send(2 * vc, cells, Payload::Segment(segment));
        }
        if let Some(ack) = ack {
            self.send(2 * vc + 1, ACK_CELLS, Payload::Ack(ack));
        }
        let Vc { ends, timers, .. } = &mut self.vcs[vc];
        let Ends::Tcp { sender, receiver } = ends else {
            unreachable!("only TCP sends segments and ACKs")
        };
        for (timer, deadline) in [sender.deadline(), receiver.deadline()]
            .into_iter()
            .enumerate()
        {
            if deadline != timers[timer] {
                assert!(deadline > self.now, "a timer is set for later");
                timers[timer] = deadline;
                let delayed_ack = timer == 1;
                if deadline != Time::NEVER {
                    self.agenda.add(deadline, Event::Timer { vc, delayed_ack });
                }
            }
        }
    }

    /// A transport or cell source hands over a frame.
    fn send(&mut self, direction: Direction, cells: u32, payload: Payload) {
        let frame = self.frames[direction].len() as u32;
        self.frames[direction].push(Frame { cells, payload });
        if !self.enter_stage(direction, Way::Send, Level::Transport, frame) {
            self.send_through_host(direction, frame);
        }
    }

    fn send_through_host(&mut self, direction: Direction, frame: u32) {
        if !self.enter_stage(direction, Way::Send, Level::Host, frame) {
            self.queue_at_nic(direction, frame);
        }
    }

    fn queue_at_nic(&mut self, direction: Direction, frame: u32) {
        let link = self.topology.paths[direction][0];
        let cells = self.frames[direction][frame as usize].cells;
        self.count(direction).frames_sent += 1;
        self.nics[link].extend((0..cells).map(|index| Cell {
            direction,
            frame,
            index,
            eom: index + 1 == cells,
            left_source: Time::NEVER,
        }));
        if self.lines[link].in_service.is_none() {
            self.send_next_of_nic(link);
        }
    }

    fn send_next_of_nic(&mut self, link: usize) {
        match self.nics[link].pop_front() {
            Some(cell) => self.transmit(link, cell),
            None => self.lines[link].end_busy_period(),
        }
    }

    fn cell_reaches_host(&mut self, cell: Cell) {
        let direction = cell.direction;
        let class = self.vcs[direction / 2].class as usize;
        self.count(direction).cells_delivered += 1;
        if is_data(direction) && self.measuring() {
            let delay = self.now.since(cell.left_source).0;
            self.tally.vcs[direction / 2].delay.add(delay, 1);
            self.tally.class_delays[class].add(delay, 1);
        }
        let cells_of_frame = self.frames[direction][cell.frame as usize].cells;
        match self.reassembly[direction].take(cell, cells_of_frame) {
            None => {}
            Some(false) => self.count(direction).frames_damaged += 1,
            Some(true) => {
                self.count(direction).frames_delivered += 1;
                if !self.enter_stage(direction, Way::Receive, Level::Host, cell.frame) {
                    self.receive_at_transport(direction, cell.frame);
                }
            }
        }
    }

    fn receive_at_transport(&mut self, direction: Direction, frame: u32) {
        if !self.enter_stage(direction, Way::Receive, Level::Transport, frame) {
            self.take(direction, frame);
        }
    }

    /// The transport takes a good frame.
    fn take(&mut self, direction: Direction, frame: u32) {
        let (vc, now) = (direction / 2, self.now);
        let payload = self.frames[direction][frame as usize].payload;
        match (payload, &mut self.vcs[vc].ends) {
            (Payload::Segment(s), Ends::Tcp { receiver, .. }) => {
                let mut bytes = 0;
                let ack = receiver.on_segment(now, s.seq, s.len, &mut bytes);
                self.deliver(vc, bytes);
                self.send_tcp(vc, Vec::new(), ack);
            }
            (Payload::Ack(ack), Ends::Tcp { sender, .. }) => {
                let mut segments = Vec::new();
                sender.on_ack(now, &ack, &mut segments);
                self.send_tcp(vc, segments, None);
            }
            (Payload::Cell, _) => self.deliver(vc, CELL_PAYLOAD_BYTES),
            _ => unreachable!("segments and ACKs belong to TCP"),
        }
    }

    fn deliver(&mut self, vc: usize, bytes: u64) {
        let measuring = self.measuring();
        let tally = &mut self.tally.vcs[vc];
        tally.delivered_bytes += bytes;
        if measuring {
            tally.measured_bytes += bytes;
        }
    }

    /// Puts a frame into a processing stage; false when there is none on its way.
    fn enter_stage(&mut self, direction: Direction, way: Way, level: Level, frame: u32) -> bool {
        if let Ends::Cells(_) = self.vcs[direction / 2].ends {
            return false; // Cell sources emit straight into the NIC.
        }
        let ends = self.topology.ends[direction / 2];
        let host = ends[(usize::from(!is_data(direction)) + usize::from(way == Way::Receive)) % 2];
        let stage = match level {
            Level::Transport => &mut self.processing.transport[direction][way as usize],
            Level::Host => &mut self.processing.host[host][way as usize],
        };
        let Some(stage) = stage else { return false };
        let draws = self.processing.streams[direction][way as usize][level as usize];
        let leaves = stage.leave(self.now, draws, u64::from(frame));
        let event = Event::StageLeft {
            direction,
            way,
            level,
            frame,
        };
        self.agenda.add(leaves, event);
        true
    }

    // ---- the network (model sections 2, 3, 6, 7) ----

    /// The transmission of `cell` on `link` starts.
    fn transmit(&mut self, link: usize, mut cell: Cell) {
        let path = &self.topology.paths[cell.direction];
        let hop = path.iter().position(|&l| l == link).expect("on its route");
        let next = path.get(hop + 1).copied();
        let (left, lost) = self.lines[link].start(self.now, &cell);
        if hop == 0 {
            cell.left_source = left;
        }
        self.lines[link].in_service = Some((cell, lost));
        self.agenda.add(left, Event::Departure { link });
        if lost {
            return;
        }
        let reaches = left + self.scenario.links[link].delay;
        match next {
            None => self.agenda.add(reaches, Event::Delivery { cell }),
            Some(port) => {
                // What passes the stage of a link is in the order of the link: its leaving time is fixed now.
                let at_port = match &mut self.switch_stages[link] {
                    Some(stage) => stage.leave(reaches, &cell),
                    None => reaches,
                };
                let event = Event::Arrival {
                    port,
                    input: link,
                    cell,
                };
                self.agenda.add(at_port, event);
            }
        }
    }

    /// The last bit of a cell leaves `link`.
    fn departure(&mut self, link: usize) {
        let (cell, lost) = self.lines[link].in_service.take().expect("a busy line");
        let data = is_data(cell.direction);
        self.tally.link_cells[link] += 1;
        self.tally.link_data_cells[link] += u64::from(data);
        let contribution = digest(link, self.now.0, cell.direction, cell.frame, cell.index);
        let sum = self.tally.digest.get_or_insert(0);
        *sum = sum.wrapping_add(contribution);
        let class = self.vcs[cell.direction / 2].class as usize;
        if lost {
            self.count(cell.direction).cells_dropped += 1;
            self.tally.link_lost[link] += 1;
            if let Some(port) = &mut self.ports[link] {
                port.tally.classes[class].dropped[DropReason::Link as usize] += 1;
            }
        }
        match &mut self.ports[link] {
            None => {
                self.count(cell.direction).cells_sent += 1;
                self.send_next_of_nic(link);
            }
            Some(port) => match port.departure(self.now, class) {
                Some(next) => self.transmit(link, next),
                None => self.lines[link].end_busy_period(),
            },
        }
    }

    /// Puts cells that reach `port` at this instant, with their input links, into tie order.
    fn sort_ties(&self, port: usize, cells: &mut [(usize, Cell)]) {
        let inputs = &self.topology.inputs[port];
        let n = inputs.len() as u64;
        let slots = cell_slots(self.scenario.links[port].rate, self.now);
        let first = ((slots + u128::from(self.tie_offset)) % u128::from(n)) as u64;
        cells.sort_by_key(|(link, _)| {
            let input = inputs.iter().position(|i| i == link).expect("an input") as u64;
            let key = match self.scenario.tie_order {
                TieOrder::Fixed => input,
                TieOrder::Rotating => (input + n - first) % n,
                TieOrder::Random => {
                    self.tie_streams[port].bits(self.now.0.wrapping_mul(n).wrapping_add(input))
                }
            };
            (key, input)
        });
    }

    fn cell_reaches_port(&mut self, link: usize, cell: Cell) {
        let class = self.vcs[cell.direction / 2].class as usize;
        let port = self.ports[link].as_mut().expect("a port");
        match port.arrival(self.now, cell, class) {
            Verdict::Starts => self.transmit(link, cell),
            Verdict::Waits => {}
            Verdict::Dropped => self.count(cell.direction).cells_dropped += 1,
        }
    }

    // ---- counting (model section 6) ----

    fn count(&mut self, direction: Direction) -> &mut DirectionTally {
        &mut self.tally.vcs[direction / 2].directions[direction % 2]
    }

    fn measuring(&self) -> bool {
        let measure = &self.scenario.measure;
        let from = Time::ZERO + measure.warm_up;
        self.now >= from && measure.window.is_none_or(|w| self.now < from + w)
    }

    fn finish(mut self) -> Tally {
        let mut held = vec![0u64; self.frames.len()];
        for port in self.ports.iter_mut().flatten() {
            port.finish(self.end);
            port.waiting().for_each(|c| held[c.direction] += 1);
        }
        // A cell that waits or is being sent at a port is held there; one that was sent there and has
        // not reached the next place is on its way.
        for (link, line) in self.lines.iter().enumerate() {
            if let Some((cell, _)) = line.in_service
                && self.ports[link].is_some()
            {
                held[cell.direction] += 1;
            }
        }
        for (cell, from) in self.agenda.cells_on_their_way(&self.topology) {
            let being_sent = self.lines[from]
                .in_service
                .is_some_and(|(c, _)| same(c, cell));
            held[cell.direction] += u64::from(!being_sent);
        }
        for (v, vc) in self.vcs.iter().enumerate() {
            if let Ends::Tcp { sender, .. } = &vc.ends {
                self.tally.vcs[v].sender = sender.counters();
            }
            for (d, count) in self.tally.vcs[v].directions.iter().enumerate() {
                assert_eq!(
                    count.cells_sent,
                    count.cells_delivered + count.cells_dropped + held[2 * v + d],
                    "cells of VC {v}, direction {d}"
                );
            }
        }
        self.tally.ports = (0..self.ports.len())
            .map(|link| {
                let port = self.ports[link].take()?;
                can_queue(self.scenario, &self.topology, link).then_some(port.tally)
            })
            .collect();
        self.tally
    }
}

impl Processing {
    fn new(
        scenario: &Scenario,
        topology: &Topology,
        stream: impl Fn(&str, &str) -> Stream,
    ) -> Processing {
        let mut transport = Vec::new();
        let mut streams = Vec::new();
        for (v, vc) in scenario.vcs.iter().enumerate() {
            let processing = match &vc.traffic {
                Traffic::Tcp(tcp) => tcp.processing,
                _ => None,
            };
            for (d, name) in ["data", "ack"].into_iter().enumerate() {
                transport.push([(); 2].map(|()| processing.map(FrameStage::new)));
                let draws = |way: Way| {
                    let (word, end) = match way {
                        Way::Receive => ("receive", 1 - d),
                        Way::Send => ("send", d),
                    };
                    let host = &scenario.hosts[topology.ends[v][end]].name;
                    [
                        stream(host, &format!("{word}-{name}-{}", vc.name)),
                        stream(&vc.name, &format!("transport-{word}-{name}")),
                    ]
                };
                streams.push([draws(Way::Receive), draws(Way::Send)]);
            }
        }
        let of_host =
            |host: &crate::scenario::Host| [(); 2].map(|()| host.processing.map(FrameStage::new));
        Processing {
            transport,
            host: scenario.hosts.iter().map(of_host).collect(),
            streams,
        }
    }
}

fn is_data(direction: Direction) -> bool {
    direction.is_multiple_of(2)
}

fn same(a: Cell, b: Cell) -> bool {
    (a.direction, a.frame, a.index) == (b.direction, b.frame, b.index)
}

/// floor(t / cell time).
fn cell_slots(rate: BitRate, t: Time) -> u128 {
    u128::from(t.0) * u128::from(rate.0) / (u128::from(CELL_BITS) * u128::from(TICKS_PER_SECOND))
}

/// Whether cells can wait at the port `link` (model section 6).
fn can_queue(scenario: &Scenario, topology: &Topology, link: usize) -> bool {
    use crate::scenario::ProcessingKind;
    let input = match topology.inputs[link][..] {
        [] => return false,
        [input] => input,
        _ => return true,
    };
    let spacing = scenario.links[input].rate.cell_time().whole;
    let service = scenario.links[link].rate.cell_time().longest();
    let switch = topology.switch_of[link].expect("a port leaves a switch");
    let bunches = scenario.switches[switch]
        .processing
        .is_some_and(|p| p.kind == ProcessingKind::Server || p.spread > Span::ZERO);
    let mut classes: Vec<Class> = (scenario.vcs.iter().enumerate())
        .filter(|(v, _)| (0..2).any(|d| topology.paths[2 * v + d].contains(&link)))
        .map(|(_, vc)| vc.class)
        .collect();
    classes.dedup();
    spacing < service || bunches || classes.iter().any(|&c| c != classes[0])
}
