//! The twin: a plain reference engine, the executable form of the model page (`docs/model.md`).
//!
//! This engine has one event per cell and hop, one heap, and explicit queues. Shared with the fast
//! engine are the scenario, its topology, the random streams, and the pure decisions (drop
//! policies, schedulers, TCP), each with its own tests. Written again are time order, links,
//! merging, acceptance, queues, processing, losses, sources and reassembly.
//!
//! Tests run both engines on random scenarios and compare all counters. Clarity comes before speed:
//! the twin keeps every frame in memory.

mod abr;
pub mod decide;
mod ends;
mod event;
mod finish;
mod line;
mod nic;
mod pool;
mod port;
mod processing;
mod program;
mod ranking;
mod reassembly;
mod setup;
mod shaper;
mod source;
mod stage;
mod watch;

use crate::ground::flow::{FlowId, FlowKind};
use crate::ground::format::FrameSize;
use crate::ground::gathered::Gathered;
use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::host::traffic::End;
use crate::network::abr::Sites;
use crate::network::stop::{FailedProgram, Overdue, Stop};
use crate::network::tally::{DropCounts, DropReason, FlowTally, LinkDrops, Tally, digest};
use crate::port::drop::{DropRule, Policy};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, Scenario, TieOrder};
use abr::{Meter, PacedQueue};
use ends::{Ends, Payload, Sent};
use event::{Direction, Event, EventQueue, Level};
use line::Line;
use nic::Nic;
use pool::{Pool, Taken};
use port::{Port, Verdict};
use processing::Processing;
use reassembly::Reassembly;
use shaper::Shaper;
use stage::SwitchStage;
use std::sync::atomic::{AtomicBool, Ordering};
use watch::Watch;

/// A cell in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    flow: FlowId,
    is_data: bool,
    /// Number of the frame within the flow.
    frame: u32,
    /// Number of the cell within the frame.
    index: u32,
    /// Whether the cell ends its frame.
    eom: bool,
    /// Whether the cell is an RM cell.
    is_rm: bool,
    /// Whether the cell has low priority (CLP = 1).
    tagged: bool,
    /// Bytes on the line.
    bytes: u32,
    /// End of transmission by the source host.
    left_source: Time,
}

struct Vc {
    class: Class,
    ends: Ends,
    /// Expiry of the timers of the sending and the receiving end.
    timers: [Time; 2],
}

/// A frame of a flow.
#[derive(Clone, Copy, Debug)]
struct Frame {
    size: FrameSize,
    payload: Payload,
}

/// A running twin.
pub(crate) struct Twin<'a> {
    scenario: &'a Scenario,
    topology: Topology,
    now: Time,
    end: Time,
    events: EventQueue,
    vcs: Vec<Vc>,
    /// All frames so far, by flow.
    frames: Vec<Vec<Frame>>,
    /// By flow and frame: cells that have neither arrived nor been dropped.
    outstanding: Vec<Vec<u32>>,
    processing: Processing,
    /// By flow: its shaper, if it has one.
    shapers: Vec<Option<Shaper>>,
    /// By flow: the end system that sends the flow, for VCs with ABR.
    paced: Vec<Option<PacedQueue>>,
    /// Class queues that give feedback, and their measurements.
    sites: Sites,
    meters: Vec<Meter>,
    /// Lines by link.
    lines: Vec<Line>,
    /// NICs by link; used for links that leave a host.
    nics: Vec<Nic>,
    /// Processing stages by link; used for links that enter a switch.
    switch_stages: Vec<Option<SwitchStage>>,
    /// Ports by link; used for links that leave a switch.
    ports: Vec<Option<Port>>,
    /// By switch: its pool, if it has one.
    pools: Vec<Option<Pool>>,
    /// Reassembly by flow.
    reassembly: Vec<Reassembly>,
    tie_offset: u64,
    tie_streams: Vec<Stream>,
    tally: Tally,
    /// Limit on the memory of frames, bytes; `None`: no limit.
    memory_limit: Option<u64>,
    gathered: Gathered,
    /// Quantities of probes with an envelope; the twin records nothing else.
    watches: Vec<Watch>,
    /// Why the run cannot continue, if so.
    stopped: Option<Stop>,
}

impl<'a> Twin<'a> {
    /// Advances until nothing is left to do before `until`, or the run ends. Returns the earliest
    /// time of pending work, at most the end.
    ///
    /// # Errors
    /// The reason why the run cannot continue.
    pub(crate) fn advance_until(&mut self, until: Time, cancel: &AtomicBool) -> Result<Time, Stop> {
        while let Some((time, event)) = self.events.next_before(until.min(self.end)) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Stop::Cancelled);
            }
            self.now = time;
            self.handle(event);
            self.watch();
            if let Some(stop) = self.stopped {
                return Err(stop);
            }
            if let Some(memory_limit) = self.memory_limit
                && self.gathered.bytes() > memory_limit as f64
            {
                return Err(Stop::Grown(self.gathered, memory_limit));
            }
        }
        Ok(self
            .events
            .next_time()
            .map_or(self.end, |t| t.min(self.end)))
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Timer { vc, end } => self.timer(vc, end),
            Event::Source { vc } => self.source(vc),
            Event::Delivery { cell } => self.cell_reaches_host(cell),
            Event::StageLeft {
                flow,
                direction,
                level,
                frame,
            } => match (direction, level) {
                (Direction::Send, Level::Transport) => self.send_through_host(flow, frame),
                (Direction::Send, Level::Host) => self.send_through_shaper(flow, frame),
                (Direction::Receive, Level::Host) => self.receive_at_transport(flow, frame),
                (Direction::Receive, Level::Transport) => self.take(flow, frame),
            },
            Event::Shaped { flow } => self.leave_shaper(flow),
            Event::Arrival { port, input, cell } => match self.pool_of(port) {
                None => {
                    let mut cells = vec![(input, cell)];
                    cells.extend(self.events.other_arrivals(self.now, port));
                    self.cells_reach_port(port, cells);
                }
                Some(switch) => {
                    let mut cells = vec![(port, input, cell)];
                    cells.extend(self.events.all_arrivals(self.now));
                    let (here, elsewhere): (Vec<_>, Vec<_>) = cells
                        .into_iter()
                        .partition(|&(port, ..)| self.pool_of(port) == Some(switch));
                    for (port, input, cell) in elsewhere {
                        self.events
                            .add(self.now, Event::Arrival { port, input, cell });
                    }
                    self.cells_reach_pool(switch, here);
                }
            },
            Event::Departure { link } => self.departure(link),
            Event::Change { link } => self.rate_changes(link),
            Event::Resume { link } => self.resume(link),
            Event::Paced { flow } => self.paced(flow),
            Event::IntervalEnd { site } => self.interval_ends(site),
        }
    }

    // ---- the ends (model sections 5, 8, 9, 10) ----

    fn timer(&mut self, vc: usize, end: End) {
        let now = self.now;
        let Vc { ends, timers, .. } = &mut self.vcs[vc];
        let timer = &mut timers[end as usize];
        if *timer != now {
            return; // The timer was set again since this event was added.
        }
        *timer = Time::NEVER;
        let sent = ends.timer(end, now);
        self.hand_over(vc, sent);
    }

    fn source(&mut self, vc: usize) {
        let (sent, again) = self.vcs[vc].ends.source(self.now);
        if let Some(again) = again {
            self.events.add(again, Event::Source { vc });
        }
        self.hand_over(vc, sent);
    }

    /// Sends frames that the ends of a VC hand over, and schedules their deadlines.
    fn hand_over(&mut self, vc: usize, sent: Vec<Sent>) {
        for (kind, payload) in sent {
            self.send(self.topology.flow(vc, kind), payload);
        }
        let Vc { ends, timers, .. } = &mut self.vcs[vc];
        for (end, deadline) in [End::Sender, End::Receiver]
            .into_iter()
            .zip(ends.deadlines())
        {
            let timer = &mut timers[end as usize];
            if deadline != *timer {
                assert!(deadline > self.now, "a timer is set for later");
                *timer = deadline;
                if deadline != Time::NEVER {
                    self.events.add(deadline, Event::Timer { vc, end });
                }
            }
        }
    }

    /// Sends a frame that a source hands over.
    fn send(&mut self, flow: FlowId, sent: Payload) {
        let frame = self.frames[flow.index()].len() as u32;
        self.keep(flow, sent);
        if !self.enter_stage(flow, Direction::Send, Level::Transport, frame) {
            self.send_through_host(flow, frame);
        }
    }

    /// Stores a frame, which gets the next number of its flow.
    fn keep(&mut self, flow: FlowId, payload: Payload) {
        let size = payload.size(self.scenario.format);
        self.frames[flow.index()].push(Frame { size, payload });
        self.outstanding[flow.index()].push(size.cells());
        self.gathered.kept_frames += 1;
    }

    fn send_through_host(&mut self, flow: FlowId, frame: u32) {
        if !self.enter_stage(flow, Direction::Send, Level::Host, frame) {
            self.send_through_shaper(flow, frame);
        }
    }

    fn send_through_shaper(&mut self, flow: FlowId, frame: u32) {
        let link = self.path(flow)[0];
        let size = self.frames[flow.index()][frame as usize].size;
        if self.paced[flow.index()].is_some() {
            return self.queue_at_end_system(flow, frame, size);
        }
        self.count(flow).frames_sent += 1;
        let vc = self.vc(flow);
        let Some(shaper) = &mut self.shapers[flow.index()] else {
            return self.queue_at_nic(flow, frame, self.now);
        };
        if shaper.is_overdue() {
            return self.is_overdue(Overdue::Shaper(vc));
        }
        let leaves = shaper.take(self.now, frame, size);
        self.events.add(leaves, Event::Shaped { flow });
        self.watch_nic(link, leaves.since(self.now));
    }

    /// Hands the first frame that waits in the shaper of `flow` to the NIC.
    fn leave_shaper(&mut self, flow: FlowId) {
        let shaper = self.shapers[flow.index()].as_mut().expect("it is shaped");
        let (frame, _, since) = shaper.waiting.pop_front().expect("a frame waits");
        self.queue_at_nic(flow, frame, since);
    }

    /// Queues a frame at its NIC that was handed over at `since`.
    fn queue_at_nic(&mut self, flow: FlowId, frame: u32, since: Time) {
        let link = self.path(flow)[0];
        let size = self.frames[flow.index()][frame as usize].size;
        let is_data = self.kind(flow).is_data();
        if self.is_free_at(link) > Time::LATEST {
            return self.is_overdue(Overdue::Nic(link));
        }
        self.nics[link].push(flow, is_data, frame, size);
        self.begin_at_nic(link);
        self.watch_nic(link, self.is_free_at(link).since(since));
    }

    /// When the NIC of `link` will have sent all cells that it has now.
    fn is_free_at(&self, link: usize) -> Time {
        self.lines[link].is_free_after(&self.nics[link], self.now, self.end)
    }

    /// Updates the largest queue of a host after an arrival, and its delay, which was `takes` for
    /// this one.
    fn watch_nic(&mut self, link: usize, takes: Span) {
        let of_link = |flow: &FlowId| self.path(*flow)[0] == link;
        let flows = (0..self.shapers.len() as u32).map(FlowId).filter(of_link);
        let shapers = flows.filter_map(|flow| self.shapers[flow.index()].as_ref());
        let waiting = self.nics[link].cells() + shapers.map(Shaper::cells).sum::<u64>();
        let tally = &mut self.tally.nics[link];
        tally.max_queue = tally.max_queue.max(waiting);
        tally.max_delay = tally.max_delay.max(takes);
    }

    /// Records that the run cannot continue.
    fn is_overdue(&mut self, what: Overdue) {
        self.stopped.get_or_insert(Stop::Overdue(what));
    }

    /// Sends the next cell of a NIC if nothing is in service and the rate is above 0.
    fn begin_at_nic(&mut self, link: usize) {
        let line = &self.lines[link];
        if line.in_service.is_none() && !line.is_paused {
            self.send_next_of_nic(link);
        }
    }

    fn send_next_of_nic(&mut self, link: usize) {
        match self.nics[link].pop() {
            Some(cell) => self.transmit(link, cell),
            None => self.lines[link].end_busy_period(),
        }
    }

    fn cell_reaches_host(&mut self, cell: Cell) {
        let flow = cell.flow;
        let vc = self.vc(flow);
        self.count(flow).cells_delivered += 1;
        if cell.is_data && self.measuring() {
            let delay = self.now.since(cell.left_source);
            let tally = &mut self.tally.vcs[vc];
            tally.delay.add(delay);
            tally.bins.add(delay, 1);
        }
        let cells_of_frame = self.frames[flow.index()][cell.frame as usize].size.cells();
        let is_last = self.is_last_of_frame(&cell);
        match self.reassembly[flow.index()].take(cell, cells_of_frame) {
            None => self.count(flow).frames_lost += u64::from(is_last),
            Some(false) => {
                let count = self.count(flow);
                count.frames_damaged += 1;
                count.frames_lost += u64::from(is_last);
            }
            Some(true) => {
                self.count(flow).frames_delivered += 1;
                if cell.is_rm {
                    return self.take_rm(flow, cell.frame);
                }
                if !self.enter_stage(flow, Direction::Receive, Level::Host, cell.frame) {
                    self.receive_at_transport(flow, cell.frame);
                }
            }
        }
    }

    fn receive_at_transport(&mut self, flow: FlowId, frame: u32) {
        if !self.enter_stage(flow, Direction::Receive, Level::Transport, frame) {
            self.take(flow, frame);
        }
    }

    /// Gives a complete frame to the source at the end of the flow.
    fn take(&mut self, flow: FlowId, frame: u32) {
        let vc = self.vc(flow);
        let Frame { payload, size } = self.frames[flow.index()][frame as usize];
        let kind = self.kind(flow);
        let (sent, outcome) = self.vcs[vc].ends.take(kind, payload, self.now);
        let measuring = self.measuring();
        let tally = &mut self.tally.vcs[vc];
        // The reverse flow is counted only by its sender.
        if kind.is_data() {
            tally.delivered_bytes += outcome.delivered;
        }
        if measuring && kind.is_data() {
            tally.measured_bytes += outcome.delivered;
            let is_new = u64::from(outcome.is_new);
            tally.measured_line_bytes += is_new * size.line_bytes();
        }
        self.hand_over(vc, sent);
    }

    /// Puts a frame into a processing stage. Returns false if there is none on the frame's path.
    fn enter_stage(
        &mut self,
        flow: FlowId,
        direction: Direction,
        level: Level,
        frame: u32,
    ) -> bool {
        if !self.vcs[self.vc(flow)].ends.are_processed() {
            return false;
        }
        let [from, to] = self.topology.flows[flow.index()].hosts;
        let host = match direction {
            Direction::Send => from,
            Direction::Receive => to,
        };
        if self.processing.is_overdue(flow, host, direction, level) {
            self.is_overdue(match level {
                Level::Transport => Overdue::Transport(self.vc(flow)),
                Level::Host => Overdue::Host(host),
            });
            return true;
        }
        let left = self
            .processing
            .leave(self.now, flow, host, direction, level, frame);
        let Some(leaves) = left else { return false };
        let event = Event::StageLeft {
            flow,
            direction,
            level,
            frame,
        };
        self.events.add(leaves, event);
        true
    }

    // ---- the network (model sections 2, 3, 6, 7) ----

    /// Starts the transmission of `cell` on `link`.
    fn transmit(&mut self, link: usize, mut cell: Cell) {
        let path = &self.topology.flows[cell.flow.index()].path;
        let hop = path.iter().position(|&l| l == link).expect("on its route");
        let next = path.get(hop + 1).copied();
        let (left, lost) = self.lines[link].start(self.now, &cell);
        if hop == 0 {
            cell.left_source = left;
        }
        self.lines[link].in_service = Some((cell, lost));
        self.begins_at(link, self.vcs[self.vc(cell.flow)].class as usize);
        self.events.add(left, Event::Departure { link });
        if lost {
            return;
        }
        let reaches = left + self.scenario.links[link].delay;
        match next {
            None => self.events.add(reaches, Event::Delivery { cell }),
            Some(port) => {
                // Cells pass the stage behind a link in the order of the link, so the leaving time
                // is already known.
                let at_port = match &mut self.switch_stages[link] {
                    Some(stage) if stage.is_overdue() => {
                        return self.is_overdue(Overdue::Switch(link));
                    }
                    Some(stage) => stage.leave(reaches, &cell),
                    None => reaches,
                };
                let event = Event::Arrival {
                    port,
                    input: link,
                    cell,
                };
                self.events.add(at_port, event);
            }
        }
    }

    /// Handles the departure of a cell's last bit from `link`.
    fn departure(&mut self, link: usize) {
        let (cell, lost) = self.lines[link].in_service.take().expect("a busy line");
        self.tally.link_cells[link] += 1;
        self.tally.link_data_cells[link] += u64::from(cell.is_data);
        let contribution = digest(link, self.now, cell.flow, cell.frame, cell.index);
        let sum = self.tally.digest.get_or_insert(0);
        *sum = sum.wrapping_add(contribution);
        let class = self.vcs[self.vc(cell.flow)].class as usize;
        if lost {
            self.count_drop(&cell, link, DropReason::Link);
            self.tally.link_lost[link] += 1;
            if let Some(port) = &mut self.ports[link] {
                port.tally.classes[class].dropped[DropReason::Link] += 1;
            }
        }
        match &mut self.ports[link] {
            None => {
                self.count(cell.flow).cells_sent += 1;
                if !self.lines[link].is_paused {
                    self.send_next_of_nic(link);
                }
            }
            Some(port) => {
                port.departure(self.now, class, &self.lines[link]);
                if !self.lines[link].is_paused {
                    self.send_next_of_port(link);
                }
            }
        }
    }

    fn send_next_of_port(&mut self, link: usize) {
        let port = self.ports[link].as_mut().expect("a port");
        let next = port.next_cell(self.now);
        if let Some(switch) = self.pool_of(link) {
            self.count_pool(switch);
        }
        self.note_failure(link);
        match next {
            Some(next) => self.transmit(link, next),
            None => self.lines[link].end_busy_period(),
        }
    }

    /// The rate of a link changes (model section 2).
    fn rate_changes(&mut self, link: usize) {
        let line = &mut self.lines[link];
        let is_zero = line.rate_at(self.now).0 == 0;
        if is_zero {
            line.is_paused = true;
            if let Some(port) = &mut self.ports[link] {
                port.busy = true;
            }
        } else if line.is_paused {
            self.events.add(self.now, Event::Resume { link });
        }
    }

    /// Begins what waits for a link whose rate is above 0 again.
    fn resume(&mut self, link: usize) {
        self.lines[link].is_paused = false;
        if self.lines[link].in_service.is_some() {
            return;
        }
        match self.ports[link] {
            Some(_) => self.send_next_of_port(link),
            None => self.begin_at_nic(link),
        }
    }

    /// Records what has failed in the program that schedules at the port of `link`.
    fn note_failure(&mut self, link: usize) {
        if let Some((text, failure)) = self.ports[link].as_ref().and_then(|port| port.failed) {
            let program = FailedProgram::Scheduler(text);
            self.stopped
                .get_or_insert(Stop::Program(link, program, failure));
        }
    }

    /// Handles the cells that reach `port` at this instant, each with its input link.
    fn cells_reach_port(&mut self, port: usize, cells: Vec<(usize, Cell)>) -> Taken {
        let inputs = &self.topology.inputs[port];
        let place = |link| inputs.iter().position(|&i| i == link).expect("an input");
        let mut cells: Vec<(usize, Cell)> = cells.into_iter().map(|(l, c)| (place(l), c)).collect();
        self.sort_ties(port, &mut cells);
        let class = |cell: &Cell| self.vcs[self.vc(cell.flow)].class as usize;
        let here = self.ports[port].as_ref().expect("a port");
        let discarded: Vec<bool> = cells
            .iter()
            .map(|(_, cell)| here.discards(cell, class(cell)))
            .collect();
        let judged = discarded.iter().filter(|discarded| !**discarded).count();
        let (mut accepted, mut refused) = (Vec::new(), Vec::new());
        for ((input, cell), discarded) in cells.into_iter().zip(discarded) {
            match self.cell_reaches_port(port, cell) {
                _ if discarded => {}
                Some(Verdict::Starts | Verdict::Waits) => accepted.push(input),
                // No order could have saved a cell that is policed.
                Some(Verdict::Dropped(DropReason::Police)) => {}
                Some(Verdict::Dropped(_)) => refused.push(input),
                // The run stops.
                Some(Verdict::Overdue | Verdict::Failed(_)) | None => {}
            }
        }
        let here = self.ports[port].as_mut().expect("a port");
        here.settle(&accepted, &refused);
        Taken {
            judged,
            accepted: accepted.len(),
            refused: refused.len(),
        }
    }

    /// Sorts cells that reach `port` at this instant, with the numbers of their inputs, into tie
    /// order.
    fn sort_ties(&self, port: usize, cells: &mut [(usize, Cell)]) {
        let inputs = &self.topology.inputs[port];
        let n = inputs.len() as u64;
        let slots = self.now.0 / self.topology.cell_time(self.scenario, port).0;
        let first = (slots + self.tie_offset) % n;
        let fair_order = &self.ports[port].as_ref().expect("a port").fair_order;
        cells.sort_by_key(|&(input, _)| {
            let fair_place = fair_order.iter().position(|&i| i == input);
            let input = input as u64;
            let key = match self.scenario.tie_order {
                TieOrder::Fixed => input,
                TieOrder::Rotating => (input + n - first) % n,
                TieOrder::Random => {
                    self.tie_streams[port].bits(self.now.0.wrapping_mul(n).wrapping_add(input))
                }
                TieOrder::Fair => fair_place.expect("an input") as u64,
            };
            (key, input)
        });
    }

    /// Handles an arriving cell. Returns its fate, or `None` if it is not judged.
    fn cell_reaches_port(&mut self, link: usize, cell: Cell) -> Option<Verdict> {
        // The other arrivals of the instant at which a run stops are not judged.
        if self.stopped.is_some() {
            return None;
        }
        let class = self.vcs[self.vc(cell.flow)].class as usize;
        self.passes(link, cell);
        let pool = self.pool_view(link);
        let port = self.ports[link].as_mut().expect("a port");
        let (verdict, pushed_out, tags) = port.arrival(self.now, cell, class, pool);
        if let Some(switch) = self.pool_of(link) {
            self.count_pool(switch);
        }
        self.note_failure(link);
        self.count(cell.flow).cells_tagged += u64::from(tags);
        let tagged = cell.tagged || tags;
        match verdict {
            Verdict::Starts => self.transmit(link, Cell { tagged, ..cell }),
            Verdict::Waits => {}
            Verdict::Dropped(reason) => self.count_drop(&cell, link, reason),
            Verdict::Overdue => self.is_overdue(Overdue::Queue(link)),
            Verdict::Failed(failure) => {
                let program = FailedProgram::Drop(Class::ALL[class]);
                self.stopped
                    .get_or_insert(Stop::Program(link, program, failure));
            }
        }
        for other in pushed_out {
            self.count_drop(&other, link, DropReason::Front);
        }
        Some(verdict)
    }

    // ---- names ----

    fn vc(&self, flow: FlowId) -> usize {
        self.topology.flows[flow.index()].vc
    }

    fn kind(&self, flow: FlowId) -> FlowKind {
        self.topology.flows[flow.index()].kind
    }

    fn path(&self, flow: FlowId) -> &[usize] {
        &self.topology.flows[flow.index()].path
    }

    // ---- counting (model section 6) ----

    fn count(&mut self, flow: FlowId) -> &mut FlowTally {
        &mut self.tally.flows[flow.index()]
    }

    /// Notes that a cell of a frame arrived or was dropped. Returns whether it was the last one of
    /// its frame.
    fn is_last_of_frame(&mut self, cell: &Cell) -> bool {
        let left = &mut self.outstanding[cell.flow.index()][cell.frame as usize];
        *left -= 1;
        *left == 0
    }

    /// Counts a cell dropped at the port of `link`, or lost on the link.
    fn count_drop(&mut self, cell: &Cell, link: usize, reason: DropReason) {
        let is_last = self.is_last_of_frame(cell);
        let flow = cell.flow.index();
        let path = &self.topology.flows[flow].path;
        let tally = &mut self.tally.flows[flow];
        tally.frames_lost += u64::from(is_last);
        tally.cells_dropped += 1;
        let known = tally.drops.iter().position(|drops| drops.link == link);
        let at = known.unwrap_or_else(|| {
            let dropped = DropCounts::default();
            tally.drops.push(LinkDrops { link, dropped });
            let place = |link| path.iter().position(|&l| l == link);
            tally.drops.sort_by_key(|drops| place(drops.link));
            let place = tally.drops.iter().position(|drops| drops.link == link);
            place.expect("it was just put in")
        });
        tally.drops[at].dropped[reason] += 1;
    }

    fn measuring(&self) -> bool {
        let measure = &self.scenario.measure;
        let from = Time::ZERO + measure.warm_up;
        self.now >= from && measure.window.is_none_or(|w| self.now < from + w)
    }
}
