//! Captures: what a link carries or a host sends and receives, as pcapng files that Wireshark opens.
//!
//! While the run goes on, stations, drop sites and hosts record events here. `write` puts those before
//! an instant in the order of time and makes packets of them. `framing` has the bytes of packets,
//! `pcapng` the blocks around them, `conversation` the TCP header of each segment. Capturing never
//! changes the run.

mod conversation;
mod framing;
mod pcapng;
mod write;

pub use conversation::Payload;

use crate::abr::Logs;
use crate::cells::{ENDS_FRAME, Run, SINGLE_CELLS, TAGGED};
use crate::flow::{FlowId, FlowKind};
use crate::record::FoundQueue;
use crate::scenario::{Layer, Observable, Scenario};
use crate::tally::DropReason;
use crate::topology::Topology;
use crate::units::{Span, Time};
use conversation::Carried;
use pcapng::Direction;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use write::{File, Known};

/// What is written into a file about where it comes from, beside the scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// Program and version.
    pub application: &'a str,
    /// Identity of the run.
    pub run: &'a str,
}

/// The run that captures are of.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Its scenario.
    pub scenario: &'a Scenario,
    /// The network of the scenario.
    pub topology: &'a Topology,
    /// Its replication, if it is one.
    pub replication: Option<u64>,
    /// What else files say about it.
    pub about: &'a About<'a>,
}

/// The next part of the file of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// What follows the part before.
    pub bytes: Vec<u8>,
    /// When the limit ended the file, if it has.
    pub limited_at: Option<Time>,
}

/// All captures of a run.
#[derive(Debug)]
pub struct Captures {
    all: Vec<Capture>,
    /// Indices of captures, by the number of their link or host.
    of_link: Vec<Vec<usize>>,
    of_host: Vec<Vec<usize>>,
    /// By flow: what frames under way carry, where a capture asks for it.
    lanes: Vec<Option<Lane>>,
    /// Octets that a file may have.
    limit: u64,
    /// Memory of the packets of events that are not written, bytes.
    pending: u64,
    /// Whether what is offered next answers a SYN.
    answers_syn: bool,
}

/// What the frames of a flow that are under way carry.
#[derive(Debug)]
struct Lane {
    vc: usize,
    kind: FlowKind,
    hosts: [usize; 2],
    first: u32,
    frames: VecDeque<Carried>,
    /// Number of the last SYN.
    last_syn: u64,
}

impl Lane {
    fn get(&self, frame: u32) -> &Carried {
        &self.frames[frame.wrapping_sub(self.first) as usize]
    }
}

/// One capture.
#[derive(Debug)]
struct Capture {
    probe: usize,
    layer: Layer,
    /// Index of its link or host.
    place: usize,
    window: [Time; 2],
    /// The only VC, if it is of one.
    vc: Option<usize>,
    /// Cells that have left.
    cells: Vec<Cells>,
    /// Everything else.
    events: Vec<Event>,
    /// By flow: the frame whose cells leave, and how many have left.
    leaving: FxHashMap<FlowId, (u32, u32)>,
    /// Frames of which a drop is in the file.
    dropped: FxHashSet<(FlowId, u32)>,
    /// Connections whose opening is in the file, by VC and number.
    opened: FxHashSet<(usize, u64)>,
    file: File,
}

/// Cells of a frame, or single cells, that leave at equal distances.
#[derive(Clone, Copy, Debug)]
struct Cells {
    /// End of the first one's transmission.
    time: Time,
    period: Span,
    flow: FlowId,
    /// Frame of the first cell.
    frame: u32,
    n: u32,
    flags: u8,
}

impl Cells {
    fn new(flow: FlowId, run: &Run) -> Cells {
        Cells {
            time: run.time,
            period: run.period,
            flow,
            frame: run.frame,
            n: run.n,
            flags: run.flags,
        }
    }

    /// Those from number `k` on.
    fn from(&self, k: u32) -> Cells {
        let frames = if self.flags & SINGLE_CELLS != 0 { k } else { 0 };
        Cells {
            time: self.time + self.period * u64::from(k),
            frame: self.frame.wrapping_add(frames),
            n: self.n - k,
            ..*self
        }
    }
}

/// Something to be written.
#[derive(Clone, Copy, Debug)]
struct Event {
    time: Time,
    flow: FlowId,
    frame: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// The last cell of a frame leaves; so many of its cells have.
    Frame { cells: u32, low_priority: bool },
    /// A cell is dropped.
    Drop {
        cell: u32,
        flags: u8,
        reason: DropReason,
        queue: Option<FoundQueue>,
    },
    /// A frame reaches the host or leaves it.
    Segment(Direction),
}

/// A part of more memory than this, in bytes, leaves the cache of a core before it is written. That was measured to double the time.
const PART: u64 = 512 << 10;

/// Estimates of the memory of a packet that is not written, bytes.
const OF_CELL: u64 = 64;
const OF_PACKET: u64 = 1024;
/// And of what a frame carries that is under way, or was when events were written last.
const OF_CARRIED: u64 = 64;

impl Captures {
    /// The captures of `scenario`, whose files may have `limit` octets; `None` without any.
    pub fn new(scenario: &Scenario, topology: &Topology, limit: u64) -> Option<Box<Captures>> {
        let mut captures = Captures {
            all: Vec::new(),
            of_link: vec![Vec::new(); scenario.links.len()],
            of_host: vec![Vec::new(); scenario.hosts.len()],
            lanes: topology.flows.iter().map(|_| None).collect(),
            limit,
            pending: 0,
            answers_syn: false,
        };
        let probes = scenario.probes.iter().enumerate();
        for (index, probe) in probes.filter(|(_, probe)| probe.what == Observable::Capture) {
            let layer = probe.layer.expect("a capture has a layer");
            let vc = probe.vc.as_ref();
            let vc = vc.and_then(|name| scenario.vcs.iter().position(|vc| vc.name == *name));
            let number = captures.all.len();
            let place = if layer == Layer::Segments {
                let place = scenario.hosts.iter().position(|h| h.name == probe.of);
                let place = place.expect("the reader has found the host");
                captures.of_host[place].push(number);
                place
            } else {
                let place = scenario.links.iter().position(|l| l.name == probe.of);
                let place = place.expect("the reader has found the link");
                captures.of_link[place].push(number);
                place
            };
            let until = probe.to.map_or(Time::NEVER, |to| Time::ZERO + to);
            let capture = Capture {
                probe: index,
                layer,
                place,
                window: [Time::ZERO + probe.from.unwrap_or_default(), until],
                vc,
                cells: Vec::new(),
                events: Vec::new(),
                leaving: FxHashMap::default(),
                dropped: FxHashSet::default(),
                opened: FxHashSet::default(),
                file: File::default(),
            };
            captures.open_lanes(&capture, scenario, topology);
            captures.all.push(capture);
        }
        (!captures.all.is_empty()).then(|| Box::new(captures))
    }

    /// Keeps what the frames carry that `capture` has.
    fn open_lanes(&mut self, capture: &Capture, scenario: &Scenario, topology: &Topology) {
        for (index, flow) in topology.flows.iter().enumerate() {
            let is_there = match capture.layer {
                Layer::Cells => false,
                Layer::Frames => flow.path.contains(&capture.place),
                Layer::Segments => flow.hosts.contains(&capture.place),
            };
            let has_frames = !flow.kind.is_rm() && scenario.vcs[flow.vc].traffic.frame().is_some();
            if is_there && has_frames && capture.is_of(flow.vc) {
                self.lanes[index].get_or_insert_with(|| Lane {
                    vc: flow.vc,
                    kind: flow.kind,
                    hosts: flow.hosts,
                    first: 0,
                    frames: VecDeque::new(),
                    last_syn: 0,
                });
            }
        }
    }

    /// Whether cells of a VC on `link` are captured.
    pub fn is_of(&self, link: u32, vc: usize) -> bool {
        let mut of_link = self.of_link[link as usize].iter();
        of_link.any(|&at| self.all[at].is_of(vc))
    }

    /// Whether cells or frames of `link` are captured.
    pub fn is_of_link(&self, link: usize) -> bool {
        !self.of_link[link].is_empty()
    }

    /// Memory of what is not written, bytes.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Whether the next part is best written now.
    pub fn is_full(&self) -> bool {
        self.pending > PART
    }

    /// The cells of `run`, whose times are the ends of their transmission, leave on `link`.
    pub fn left(&mut self, link: u32, flow: FlowId, vc: usize, run: Run) {
        for &at in &self.of_link[link as usize] {
            let capture = &mut self.all[at];
            if !capture.is_open() || !capture.is_of(vc) {
                continue;
            }
            let Some(run) = capture.within(run) else {
                continue;
            };
            if capture.layer == Layer::Cells {
                self.pending += OF_CELL * u64::from(run.n);
                capture.cells.push(Cells::new(flow, &run));
            } else if self.lanes[flow.index()].is_some() && capture.leaves(flow, &run) {
                self.pending += OF_PACKET;
            }
        }
    }

    /// The first cell of `run` is dropped at the port that is `link`, or lost on that link.
    pub fn dropped(
        &mut self,
        link: u32,
        flow: FlowId,
        vc: usize,
        run: &Run,
        reason: DropReason,
        queue: Option<FoundQueue>,
    ) {
        for &at in &self.of_link[link as usize] {
            let capture = &mut self.all[at];
            let [from, to] = capture.window;
            let is_in = capture.is_open() && run.time >= from && run.time < to;
            if !is_in || !capture.is_of(vc) {
                continue;
            }
            if capture.layer == Layer::Frames && self.lanes[flow.index()].is_none() {
                continue;
            }
            self.pending += OF_PACKET;
            let flags = run.first(1).flags;
            let cell = run.cell;
            let what = What::Drop {
                cell,
                flags,
                reason,
                queue,
            };
            capture.note(run.time, flow, run.frame, what);
        }
    }

    /// Whether it matters what the frames of `flow` carry.
    pub fn follows(&self, flow: FlowId) -> bool {
        self.lanes[flow.index()].is_some()
    }

    /// A source hands over frame `frame` of `flow` at `now`.
    pub fn sent(&mut self, flow: FlowId, frame: u32, payload: Payload, now: Time) {
        let Some(lane) = &mut self.lanes[flow.index()] else {
            return;
        };
        let carried = match payload {
            Payload::Opened => Carried::Opened(lane.last_syn + 1),
            Payload::Segment { seq, len: 0 } => {
                lane.last_syn = seq;
                Carried::Syn(seq)
            }
            Payload::Ack { ack, .. } if self.answers_syn => Carried::SynAck(ack),
            Payload::Segment { seq, len } => Carried::Data { seq, len },
            Payload::Datagram { first, len } => Carried::Datagram { first, len },
            Payload::Ack { ack, blocks } => Carried::Ack { ack, blocks },
        };
        if lane.frames.is_empty() {
            lane.first = frame;
        }
        lane.frames.push_back(carried);
        self.pending += OF_CARRIED;
        let host = lane.hosts[0];
        self.passes_host(flow, frame, host, Direction::Outbound, now);
    }

    /// A source has offered all frames of this instant.
    pub fn has_acted(&mut self) {
        self.answers_syn = false;
    }

    /// Frame `frame` of `flow` reaches its source at `now`.
    #[cold]
    #[inline(never)]
    pub fn received(&mut self, flow: FlowId, frame: u32, now: Time) {
        if let Some(lane) = &self.lanes[flow.index()] {
            self.answers_syn = matches!(lane.get(frame), Carried::Syn(_));
            let host = lane.hosts[1];
            self.passes_host(flow, frame, host, Direction::Inbound, now);
        }
    }

    fn passes_host(&mut self, flow: FlowId, frame: u32, host: usize, way: Direction, now: Time) {
        let vc = self.lanes[flow.index()].as_ref().map(|lane| lane.vc);
        for &at in &self.of_host[host] {
            let capture = &mut self.all[at];
            let [from, to] = capture.window;
            let is_in = capture.is_open() && now >= from && now < to;
            if is_in && vc.is_some_and(|vc| capture.is_of(vc)) {
                self.pending += OF_PACKET;
                capture.note(now, flow, frame, What::Segment(way));
            }
        }
    }

    /// Writes all that has happened before `before`, until when `logs` must be settled, and returns the next part of each file.
    /// `taken` has, by flow, the number behind the last frame that has reached its source.
    pub fn write(
        &mut self,
        origin: &Origin<'_>,
        logs: &mut Logs,
        before: Time,
        taken: impl Fn(FlowId) -> u32,
    ) -> Vec<Part> {
        let known = Known {
            origin,
            lanes: &self.lanes,
            logs,
            limit: self.limit,
        };
        for capture in &mut self.all {
            capture.write(&known, before);
        }
        logs.forget(before);
        self.forget_frames(taken);
        self.pending = 0;
        let parts = self.all.iter_mut();
        parts
            .map(|capture| capture.file.part(capture.probe))
            .collect()
    }

    /// Forgets what frames carry that have reached their source, or were lost before such a one, and of which no event is left.
    fn forget_frames(&mut self, taken: impl Fn(FlowId) -> u32) {
        let lanes = self.lanes.iter_mut().enumerate();
        let lanes = lanes.filter_map(|(index, lane)| Some((index, lane.as_mut()?)));
        for (index, lane) in lanes {
            let flow = FlowId(index as u32);
            let mut passed = taken(flow).wrapping_sub(lane.first);
            let events = self.all.iter().flat_map(|capture| &capture.events);
            for event in events.filter(|event| event.flow == flow) {
                passed = passed.min(event.frame.wrapping_sub(lane.first));
            }
            let passed = (passed as usize).min(lane.frames.len());
            lane.frames.drain(..passed);
            lane.first = lane.first.wrapping_add(passed as u32);
        }
        for capture in &mut self.all {
            let lanes = &self.lanes;
            capture.dropped.retain(|&(flow, frame)| {
                let lane = lanes[flow.index()].as_ref();
                lane.is_some_and(|lane| {
                    (frame.wrapping_sub(lane.first) as usize) < lane.frames.len()
                })
            });
        }
    }
}

impl Capture {
    /// Whether it is of the VC, among others or alone.
    fn is_of(&self, vc: usize) -> bool {
        self.vc.is_none_or(|only| only == vc)
    }

    /// Whether its file goes on.
    fn is_open(&self) -> bool {
        self.file.is_open()
    }

    fn note(&mut self, time: Time, flow: FlowId, frame: u32, what: What) {
        self.events.push(Event {
            time,
            flow,
            frame,
            what,
        });
    }

    /// The cells of `run` to be looked at: of cells those in its window, of frames those before its end.
    fn within(&self, mut run: Run) -> Option<Run> {
        let [from, to] = self.window;
        if run.last() >= to {
            let n = run.before(to);
            run = (n > 0).then(|| run.first(n))?;
        }
        if self.layer == Layer::Cells && run.time < from {
            let n = run.before(from);
            (n < run.n).then(|| run.skip(n))?;
        }
        Some(run)
    }

    /// Cells of a frame leave; whether the last of them is an event.
    fn leaves(&mut self, flow: FlowId, run: &Run) -> bool {
        let (frame, cells) = self.leaving.entry(flow).or_default();
        if *frame != run.frame {
            (*frame, *cells) = (run.frame, 0);
        }
        *cells += run.n;
        let cells = *cells;
        if run.flags & ENDS_FRAME == 0 {
            return false;
        }
        self.leaving.remove(&flow);
        let low_priority = run.flags & TAGGED != 0;
        let time = run.last();
        if time < self.window[0] {
            return false;
        }
        let what = What::Frame {
            cells,
            low_priority,
        };
        self.note(time, flow, run.frame, what);
        true
    }
}
