//! Captures: traffic on links, or sent and received by hosts, as pcapng files for Wireshark.
//!
//! During the run, stations, drop sites and hosts record events here. `write` orders the events
//! before an instant by time and turns them into packets. `framing` makes the bytes of packets,
//! `pcapng` the blocks around them, `conversation` the TCP header of each segment. Capturing never
//! changes the run.

mod conversation;
mod framing;
mod pcapng;
mod write;

pub use conversation::CapturedPayload;

use crate::ground::flow::{Flow, FlowId, FlowKind};
use crate::ground::units::Time;
use crate::network::abr::Logs;
use crate::network::cells::{ENDS_FRAME, Run};
use crate::network::record::QueueSnapshot;
use crate::network::tally::DropReason;
use crate::text::options::RunError;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Carries, Layer, Observable, Scenario};
use pcapng::Direction;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use write::{File, WriteContext};

/// Provenance to write into a file, in addition to the scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// Program and version.
    pub application: &'a str,
    /// Identity of the run.
    pub run: &'a str,
}

/// The captured run.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Scenario of the run.
    pub scenario: &'a Scenario,
    /// The network of the scenario.
    pub topology: &'a Topology,
    /// Replication number, if the run is a replication.
    pub replication: Option<u64>,
    /// Further provenance.
    pub about: &'a About<'a>,
}

/// The next part of a capture file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilePart {
    /// Index of the probe in the scenario.
    pub probe: usize,
    /// Bytes that follow the previous part.
    pub bytes: Vec<u8>,
    /// When the size limit ended the file, if it did, in seconds.
    pub limited_at_s: Option<f64>,
}

/// All captures of a run.
#[derive(Debug)]
pub struct Captures {
    all: Vec<Capture>,
    /// Indices of captures, by link and by host.
    of_link: Vec<Vec<usize>>,
    of_host: Vec<Vec<usize>>,
    /// Contents of frames in transit, by flow; only if a capture needs them.
    flows: Vec<Option<FlowFrames>>,
    /// Memory of events not yet written, bytes.
    pending: u64,
    /// Whether the next offer answers a SYN.
    answers_syn: bool,
}

/// Contents of the frames of a flow in transit.
#[derive(Debug)]
struct FlowFrames {
    vc: usize,
    kind: FlowKind,
    hosts: [usize; 2],
    first: u32,
    frames: VecDeque<CapturedPayload>,
    /// Number of the last SYN.
    last_syn: u64,
    /// Number of frames that can be forgotten; a working value of `forget_frames`.
    passed: u32,
}

impl FlowFrames {
    /// Index of a frame in `frames`; beyond the end for a forgotten frame.
    fn place(&self, frame: u32) -> u32 {
        frame.wrapping_sub(self.first)
    }

    fn get(&self, frame: u32) -> &CapturedPayload {
        &self.frames[self.place(frame) as usize]
    }
}

/// One capture.
#[derive(Debug)]
struct Capture {
    probe: usize,
    layer: Layer,
    /// Index of the link or host.
    place: usize,
    window: [Time; 2],
    /// The only captured VC, if the capture is restricted to one.
    vc: Option<usize>,
    /// Cells that have left. Times are ends of transmission.
    cells: Vec<(FlowId, Run)>,
    /// All other events.
    events: Vec<Event>,
    /// By flow: the frame whose cells are leaving, and how many have left.
    leaving: FxHashMap<FlowId, (u32, u32)>,
    /// Frames with a drop already in the file.
    dropped: FxHashSet<(FlowId, u32)>,
    /// Connections whose opening is already in the file, by VC and number.
    opened: FxHashSet<(usize, u64)>,
    file: File,
}

/// An event to be written.
#[derive(Clone, Debug)]
struct Event {
    time: Time,
    flow: FlowId,
    frame: u32,
    what: EventKind,
}

#[derive(Clone, Debug)]
enum EventKind {
    /// The last cell of a frame leaves with these flags, after `cells` cells in total.
    Frame { cells: u32, flags: u8 },
    /// A cell is dropped.
    Drop {
        cell: u32,
        flags: u8,
        reason: DropReason,
        queue: Option<QueueSnapshot>,
    },
    /// A frame reaches or leaves the host.
    Segment(Direction),
}

/// Size of a part, bytes: small enough to be written while in the cache of a core. With 8 MB a run
/// took twice as long.
const PART: u64 = 512 << 10;

/// Estimated memory of a cell, any other packet and the payload of a frame until they are written,
/// bytes.
const CELL_EVENT_BYTES: u64 = 64;
const PACKET_EVENT_BYTES: u64 = 1024;
const PAYLOAD_BYTES: u64 = 64;

/// Smallest size limit of the capture files of `scenario` that leaves room for the head of each and
/// one packet, bytes; 0 without captures.
///
/// # Errors
/// As [`crate::about::describe`].
pub fn least_capture_limit(scenario: &Scenario) -> Result<u64, RunError> {
    let topology = Topology::new(scenario).map_err(RunError::Scenario)?;
    let origin = Origin {
        scenario,
        topology: &topology,
        replication: None,
        about: &About::default(),
    };
    let captures = Captures::new(scenario, &topology, u64::MAX).into_iter();
    let limits = captures.flat_map(|captures| captures.all);
    Ok(limits
        .map(|capture| capture.least_limit(&origin))
        .max()
        .unwrap_or(0))
}

impl Captures {
    /// The captures of `scenario`, with files limited to `limit` octets; `None` without captures.
    pub fn new(scenario: &Scenario, topology: &Topology, limit: u64) -> Option<Box<Captures>> {
        let mut captures = Captures {
            all: Vec::new(),
            of_link: vec![Vec::new(); scenario.links.len()],
            of_host: vec![Vec::new(); scenario.hosts.len()],
            flows: Vec::new(),
            pending: 0,
            answers_syn: false,
        };
        let probes = scenario.probes.iter().enumerate();
        let mut probes = probes
            .filter(|(_, probe)| probe.what == Observable::Capture)
            .peekable();
        probes.peek()?;
        let vcs = numbers(scenario.vcs.iter().map(|vc| &vc.name));
        let links = numbers(scenario.links.iter().map(|link| &link.name));
        let hosts = numbers(scenario.hosts.iter().map(|host| &host.name));
        for (index, probe) in probes {
            // An Ethernet frame is one cell.
            let layer = match probe.layer.expect("a capture has a layer") {
                Layer::Cells if scenario.format.is_ethernet => Layer::Frames,
                layer => layer,
            };
            let (places, of_place) = match layer {
                Layer::Segments => (&hosts, &mut captures.of_host),
                Layer::Cells | Layer::Frames => (&links, &mut captures.of_link),
            };
            let place = places[probe.of.as_str()];
            of_place[place].push(captures.all.len());
            captures.all.push(Capture {
                probe: index,
                layer,
                place,
                window: [
                    Time::ZERO + probe.from.unwrap_or_default(),
                    probe.to.map_or(Time::NEVER, |to| Time::ZERO + to),
                ],
                vc: probe.vc.as_ref().map(|vc| vcs[vc.as_str()]),
                cells: Vec::new(),
                events: Vec::new(),
                leaving: FxHashMap::default(),
                dropped: FxHashSet::default(),
                opened: FxHashSet::default(),
                file: File::new(limit, scenario.format.clock),
            });
        }
        let captured_flows = topology.flows.iter();
        captures.flows = captured_flows
            .map(|flow| captures.flow_frames(scenario, flow))
            .collect();
        Some(Box::new(captures))
    }

    /// A record for the contents of the frames of `flow`, if a capture needs them.
    fn flow_frames(&self, scenario: &Scenario, flow: &Flow) -> Option<FlowFrames> {
        let of_links = flow.path.iter().flat_map(|&link| &self.of_link[link]);
        let of_hosts = flow.hosts.iter().flat_map(|&host| &self.of_host[host]);
        let has_frames =
            !flow.kind.is_rm() && scenario.vcs[flow.vc].traffic.carries() == Carries::Frames;
        let is_read = has_frames && of_links.chain(of_hosts).any(|&at| self.all[at].reads(flow));
        is_read.then(|| FlowFrames {
            vc: flow.vc,
            kind: flow.kind,
            hosts: flow.hosts,
            first: 0,
            frames: VecDeque::new(),
            last_syn: 0,
            passed: 0,
        })
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

    /// Memory of events not yet written, bytes.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Whether it is time to write the next part.
    pub fn is_full(&self) -> bool {
        self.pending > PART
    }

    /// Records that the cells of `run` leave on `link`. Times of the run are ends of transmission.
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
                self.pending += CELL_EVENT_BYTES * u64::from(run.n);
                capture.cells.push((flow, run));
            } else if self.flows[flow.index()].is_some() && capture.leaves(flow, &run) {
                self.pending += PACKET_EVENT_BYTES;
            }
        }
    }

    /// Records that the first cell of `run` is dropped at the port of `link`, or lost on that link.
    pub fn dropped(
        &mut self,
        link: u32,
        flow: FlowId,
        vc: usize,
        run: &Run,
        reason: DropReason,
        queue: Option<QueueSnapshot>,
    ) {
        for &at in &self.of_link[link as usize] {
            let capture = &mut self.all[at];
            let [from, to] = capture.window;
            let is_in = capture.is_open() && run.time >= from && run.time < to;
            if !is_in || !capture.is_of(vc) {
                continue;
            }
            if capture.layer == Layer::Frames && self.flows[flow.index()].is_none() {
                continue;
            }
            self.pending += PACKET_EVENT_BYTES;
            let what = EventKind::Drop {
                cell: run.cell.number(),
                flags: run.flags_of_first(1),
                reason,
                queue: queue.clone(),
            };
            capture.note(run.time, flow, run.frame, what);
        }
    }

    /// Whether the contents of the frames of `flow` are needed.
    pub fn follows(&self, flow: FlowId) -> bool {
        self.flows[flow.index()].is_some()
    }

    /// Records that a source hands over frame `frame` of `flow` at `now`.
    pub fn sent(&mut self, flow: FlowId, frame: u32, payload: CapturedPayload, now: Time) {
        let Some(flow_frames) = &mut self.flows[flow.index()] else {
            return;
        };
        let payload = match payload {
            CapturedPayload::Opened(_) => CapturedPayload::Opened(flow_frames.last_syn + 1),
            CapturedPayload::Ack { ack, .. } if self.answers_syn => CapturedPayload::SynAck(ack),
            payload => payload,
        };
        if let CapturedPayload::Syn(number) = payload {
            flow_frames.last_syn = number;
        }
        if flow_frames.frames.is_empty() {
            flow_frames.first = frame;
        }
        flow_frames.frames.push_back(payload);
        self.pending += PAYLOAD_BYTES;
        let host = flow_frames.hosts[0];
        self.passes_host(flow, frame, host, Direction::Outbound, now);
    }

    /// Records that a source has offered all frames of this instant.
    pub fn has_acted(&mut self) {
        self.answers_syn = false;
    }

    /// Records that frame `frame` of `flow` reaches its source at `now`.
    #[cold]
    pub fn received(&mut self, flow: FlowId, frame: u32, now: Time) {
        if let Some(flow_frames) = &self.flows[flow.index()] {
            self.answers_syn = matches!(flow_frames.get(frame), CapturedPayload::Syn(_));
            let host = flow_frames.hosts[1];
            self.passes_host(flow, frame, host, Direction::Inbound, now);
        }
    }

    fn passes_host(&mut self, flow: FlowId, frame: u32, host: usize, way: Direction, now: Time) {
        let vc = self.flows[flow.index()]
            .as_ref()
            .map(|flow_frames| flow_frames.vc);
        for &at in &self.of_host[host] {
            let capture = &mut self.all[at];
            let [from, to] = capture.window;
            let is_in = capture.is_open() && now >= from && now < to;
            if is_in && vc.is_some_and(|vc| capture.is_of(vc)) {
                self.pending += PACKET_EVENT_BYTES;
                capture.note(now, flow, frame, EventKind::Segment(way));
            }
        }
    }

    /// Writes all events before `before` and returns the next part of each file. `logs` must be
    /// settled until `before`.
    ///
    /// `taken` gives, by flow, the number after the last frame that reached its source.
    pub fn write(
        &mut self,
        origin: &Origin<'_>,
        logs: &mut Logs,
        before: Time,
        taken: impl Fn(FlowId) -> u32,
    ) -> Vec<FilePart> {
        let known = WriteContext {
            origin,
            flows: &self.flows,
            logs,
        };
        for capture in &mut self.all {
            capture.write(&known, before);
        }
        logs.forget(before);
        self.forget_frames(taken);
        self.pending = 0;
        let is_end = before >= Time::ZERO + origin.scenario.duration;
        let parts = self.all.iter_mut();
        parts
            .map(|capture| capture.file.part(capture.probe, is_end))
            .collect()
    }

    /// Forgets frames without pending events that reached their source, or were lost before a frame
    /// that did.
    fn forget_frames(&mut self, taken: impl Fn(FlowId) -> u32) {
        for (index, flow_frames) in self.flows.iter_mut().enumerate() {
            if let Some(flow_frames) = flow_frames {
                flow_frames.passed = flow_frames.place(taken(FlowId(index as u32)));
            }
        }
        for event in self.all.iter().flat_map(|capture| &capture.events) {
            if let Some(flow_frames) = &mut self.flows[event.flow.index()] {
                flow_frames.passed = flow_frames.passed.min(flow_frames.place(event.frame));
            }
        }
        for flow_frames in self.flows.iter_mut().flatten() {
            let passed = (flow_frames.passed as usize).min(flow_frames.frames.len());
            flow_frames.frames.drain(..passed);
            flow_frames.first = flow_frames.first.wrapping_add(passed as u32);
        }
        let captured_flows = &self.flows;
        let is_kept = |&(flow, frame): &(FlowId, u32)| {
            let flow_frames = captured_flows[flow.index()].as_ref();
            flow_frames.is_some_and(|flow_frames| {
                (flow_frames.place(frame) as usize) < flow_frames.frames.len()
            })
        };
        for capture in &mut self.all {
            capture.dropped.retain(is_kept);
        }
    }
}

/// Numbers the names in their order.
fn numbers<'s>(names: impl Iterator<Item = &'s String>) -> FxHashMap<&'s str, usize> {
    names.map(String::as_str).zip(0..).collect()
}

impl Capture {
    /// Whether the VC is captured.
    fn is_of(&self, vc: usize) -> bool {
        self.vc.is_none_or(|only| only == vc)
    }

    /// Whether the capture needs the contents of the frames of `flow`.
    fn reads(&self, flow: &Flow) -> bool {
        let is_there = match self.layer {
            Layer::Cells => false,
            Layer::Frames => flow.path.contains(&self.place),
            Layer::Segments => flow.hosts.contains(&self.place),
        };
        is_there && self.is_of(flow.vc)
    }

    /// Whether the file is still being written.
    fn is_open(&self) -> bool {
        self.file.is_open()
    }

    fn note(&mut self, time: Time, flow: FlowId, frame: u32, what: EventKind) {
        self.events.push(Event {
            time,
            flow,
            frame,
            what,
        });
    }

    /// The cells of `run` to consider: for cell captures those in the window, for frame captures
    /// those before its end.
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

    /// Counts departing cells of a frame. Returns whether the last of them is an event.
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
        let time = run.last();
        let is_in = time >= self.window[0];
        if is_in {
            let flags = run.flags;
            self.note(time, flow, run.frame, EventKind::Frame { cells, flags });
        }
        is_in
    }
}
