//! Writes events as packets of a file.

use super::conversation::CapturedSegment;
use super::framing::{self, CellHeader, ERF, ETHERNET, IP, Packet};
use super::pcapng::{self, Direction};
use super::{Capture, Event, EventKind, FilePart, FlowFrames, Origin};
use crate::ground::flow::{Flow, FlowId};
use crate::ground::format::Clock;
use crate::ground::units::Time;
use crate::network::abr::Logs;
use crate::network::cells::{ENDS_FRAME, RM, Run, SINGLE_CELLS, TAGGED};
use crate::network::record::QueueSnapshot;
use crate::network::tally::DropReason;
use crate::text::scenario::{Layer, write_toml};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Knowledge of the run needed to write events.
pub struct WriteContext<'a> {
    pub origin: &'a Origin<'a>,
    /// Contents of frames in transit, by flow.
    pub flows: &'a [Option<FlowFrames>],
    /// Contents of RM cells.
    pub logs: &'a Logs,
}

/// Interface numbers: for carried packets, and for dropped or incomplete ones.
const CARRIED: u32 = 0;
const DROPPED: u32 = 1;

/// Room for the remark on the last packet of a file that reaches its limit, with its option and the
/// end of options, octets.
const REMARK_BYTES: usize = 96;

/// Bound on what [`Capture::least_limit`] does not count: headers, comments and the remark of a
/// packet, the identity of the run, octets.
const MOST_BESIDE_DATA: u64 = 1_000;

/// A file in progress.
#[derive(Debug)]
pub struct File {
    out: Vec<u8>,
    /// Octets already handed out.
    before: u64,
    /// Maximum number of octets.
    limit: u64,
    limited_at: Option<Time>,
    clock: Clock,
    /// Comment of the next packet.
    comment: String,
    /// The last packet, which is held back.
    last: Option<LastPacket>,
}

/// The last packet of a file so far. It gets the remark that the file ends if the next one does not
/// fit.
#[derive(Debug)]
struct LastPacket {
    /// Where the packet and its options begin in the octets not yet handed out.
    places: [usize; 2],
    way: Option<Direction>,
    comment: String,
}

impl File {
    /// An empty file.
    pub fn new(limit: u64, clock: Clock) -> File {
        File {
            out: Vec::new(),
            before: 0,
            limit,
            limited_at: None,
            clock,
            comment: String::new(),
            last: None,
        }
    }

    /// Whether more can be written.
    pub fn is_open(&self) -> bool {
        self.limited_at.is_none()
    }

    /// Takes the bytes written since the last part, up to the last packet or, at the end of the
    /// run, all.
    pub fn part(&mut self, probe: usize, is_end: bool) -> FilePart {
        let mut bytes = std::mem::take(&mut self.out);
        if let Some(last) = self.last.as_mut().filter(|_| !is_end) {
            self.out = bytes.split_off(last.places[0]);
            last.places = [0, last.places[1] - last.places[0]];
        }
        self.before += bytes.len() as u64;
        FilePart {
            probe,
            bytes,
            limited_at_s: self.limited_at.map(|time| time.as_seconds(self.clock)),
        }
    }

    fn is_begun(&self) -> bool {
        self.before > 0 || !self.out.is_empty()
    }

    /// Writes a packet with the prepared comment. If it does not fit, the one before ends the file and
    /// says so. So each packet leaves room for that remark.
    fn packet(&mut self, interface: u32, time: Time, way: Option<Direction>, packet: &Packet<'_>) {
        if !self.is_open() {
            return;
        }
        let (begin, clock) = (self.out.len(), self.clock);
        let data = |out: &mut Vec<u8>| framing::append(packet, (time, clock), out);
        let ns = clock.nanoseconds_until(time);
        let options = pcapng::packet(interface, ns, way, &self.comment, &mut self.out, data);
        if self.before + (self.out.len() + REMARK_BYTES) as u64 <= self.limit {
            self.last = Some(LastPacket {
                places: [begin, options],
                way,
                comment: std::mem::take(&mut self.comment),
            });
            return;
        }
        self.out.truncate(begin);
        self.limited_at = Some(time);
        self.comment.clear();
        if let Some(last) = self.last.take() {
            self.comment = last.comment;
            self.begin_remark();
            let limit = self.limit;
            let _ = write!(
                self.comment,
                "the capture ends here: its limit of {limit} bytes is reached"
            );
            pcapng::end_packet(last.places, last.way, &self.comment, &mut self.out);
        }
    }

    /// Starts another remark in the comment.
    fn begin_remark(&mut self) {
        if !self.comment.is_empty() {
            self.comment.push_str("; ");
        }
    }
}

/// Sort key of an event, so that the order of recording does not matter.
///
/// The order is by time, then departures before drops and receptions before sends, then by flow,
/// frame and cell.
fn key(event: &Event) -> (Time, bool, FlowId, u32, u32) {
    let (is_second, cell) = match event.what {
        EventKind::Frame { .. } => (false, 0),
        EventKind::Drop { cell, .. } => (true, cell),
        EventKind::Segment(way) => (way == Direction::Outbound, 0),
    };
    (event.time, is_second, event.flow, event.frame, cell)
}

impl Capture {
    /// Writes the events before `before`. At one instant, departing cells come first.
    pub fn write(&mut self, known: &WriteContext<'_>, before: Time) {
        if !self.file.is_begun() {
            self.begin(known.origin);
        }
        let mut events: Vec<Event> = self.events.extract_if(.., |e| e.time < before).collect();
        events.sort_by_key(key);
        let mut events = events.into_iter().peekable();
        let (cells, due) = self.due_cells(before);
        for (time, index, k) in due {
            while let Some(event) = events.next_if(|event| event.time < time) {
                self.write_event(known, &event);
            }
            let (flow, mut cell) = cells[index as usize];
            cell.skip(k);
            let (frame, flags) = (cell.frame, cell.flags_of_first(1));
            self.write_cell(known, (flow, frame, time), flags, CARRIED);
        }
        for event in events {
            self.write_event(known, &event);
        }
        if !self.file.is_open() {
            self.cells.clear();
            self.events.clear();
        }
    }

    /// Removes the cells that depart before `before`, and returns two lists. The first has the runs
    /// of cells. The second has an entry for each cell, ordered by time: its time, the index of its
    /// run, and its number in that run. No two cells leave a link at one instant.
    #[allow(clippy::type_complexity)] // the two lists described above
    fn due_cells(&mut self, before: Time) -> (Vec<(FlowId, Run)>, Vec<(Time, u32, u32)>) {
        let cells = std::mem::take(&mut self.cells);
        let mut due = Vec::new();
        for (&(flow, run), index) in cells.iter().zip(0..) {
            let n = run.before(before);
            due.extend((0..n).map(|k| (run.time + run.period * u64::from(k), index, k)));
            if n < run.n {
                let mut later = run;
                later.skip(n);
                self.cells.push((flow, later));
            }
        }
        // A stable sort is fast because most cells are in order.
        due.sort_by_key(|&(time, ..)| time);
        (cells, due)
    }

    /// Size limit with room for the head and any packet, octets. `origin` may lack the identity of
    /// the run.
    pub fn least_limit(mut self, origin: &Origin<'_>) -> u64 {
        self.begin(origin);
        let (scenario, reads) = (origin.scenario, |flow: &&Flow| self.reads(flow));
        let sizes = origin.topology.flows.iter().filter(reads).map(|flow| {
            let size = scenario.vcs[flow.vc].traffic.frame_size(scenario.format);
            size.line_bits() / 8.0
        });
        let longest = sizes.fold(0.0, f64::max) as u64;
        self.file.out.len() as u64 + longest + MOST_BESIDE_DATA
    }

    /// Writes the blocks before the first packet.
    fn begin(&mut self, origin: &Origin<'_>) {
        let Origin {
            scenario,
            topology,
            replication,
            about,
        } = *origin;
        let draws =
            replication.map_or("no replication".to_string(), |r| format!("replication {r}"));
        let summary = format!(
            "Simulated by Cellyard, not recorded from a network. Scenario {}, seed {}, {draws}; run {}. \
             The model has neither payload, which reads \"(not simulated)\", nor addresses, which are made up. \
             Packets that the model does not have say so in their comment.",
            scenario.name, scenario.seed, about.run
        );
        let out = &mut self.file.out;
        pcapng::section(about.application, &[summary, write_toml(scenario)], out);
        let name = &scenario.probes[self.probe].of;
        let vcs = "VC n of the scenario, counted from 0, has VPI n / 65504 and VCI 32 + n % 65504";
        if self.layer == Layer::Segments {
            let what = "segments and datagrams that the transports of this host send and receive";
            pcapng::interface(IP, name, what, None, out);
        } else {
            let link = &scenario.links[self.place];
            let speed = (!link.changes_rate()).then_some(link.rate.0);
            let (link_type, what) = match self.layer {
                _ if scenario.format.is_ethernet => {
                    let what = "Ethernet frames, each at the end of the gap after it";
                    (ETHERNET, what.to_string())
                }
                Layer::Cells => {
                    let what =
                        "cells, each at the end of its transmission; payload of RM cells only";
                    (ERF, format!("{what}; {vcs}"))
                }
                _ => {
                    let what = "AAL5 frames, each at the end of the transmission of its last cell";
                    (ERF, format!("{what}; {vcs}"))
                }
            };
            pcapng::interface(link_type, name, &what, speed, out);
            let drops = format!("{name} drops");
            let what = "dropped at this port, lost on its link, or incomplete";
            pcapng::interface(link_type, &drops, what, None, out);
        }
        if self.layer != Layer::Cells {
            let flows = topology.flows.iter().filter(|flow| self.reads(flow));
            let hosts: BTreeSet<usize> = flows.flat_map(|flow| flow.hosts).collect();
            let named =
                |&host: &usize| (framing::address(host), scenario.hosts[host].name.as_str());
            pcapng::names(hosts.iter().map(named), &mut self.file.out);
        }
    }

    fn write_event(&mut self, known: &WriteContext<'_>, event: &Event) {
        let Origin {
            scenario, topology, ..
        } = *known.origin;
        let of = &topology.flows[event.flow.index()];
        let place = (event.flow, event.frame);
        match event.what {
            EventKind::Drop {
                cell,
                flags,
                reason,
                ref queue,
            } => {
                if self.layer == Layer::Frames && !self.dropped.insert(place) {
                    return;
                }
                explain_drop(&mut self.file.comment, reason, queue.as_ref());
                let (vc, kind, frame) = (&scenario.vcs[of.vc].name, of.kind.name(), event.frame);
                let _ = write!(self.file.comment, "; {vc} {kind} frame {frame} cell {cell}");
                if self.layer == Layer::Frames {
                    self.write_frame(known, event, flags, DROPPED);
                } else {
                    self.write_cell(known, (event.flow, frame, event.time), flags, DROPPED);
                }
            }
            EventKind::Frame { cells, flags } => {
                let whole = known.flow_frames(event.flow).get(event.frame);
                let whole = whole.size(scenario.format).cells();
                if cells == whole {
                    self.write_frame(known, event, flags, CARRIED);
                } else if !self.dropped.contains(&place) {
                    let comment = &mut self.file.comment;
                    let _ = write!(comment, "incomplete: {cells} of {whole} cells left");
                    self.write_frame(known, event, flags, DROPPED);
                }
            }
            EventKind::Segment(direction) => {
                let segment = known.segment(event);
                self.open(&segment, of.vc, event.time);
                let packet = Packet::Ip(&segment.ip);
                self.file
                    .packet(CARRIED, event.time, Some(direction), &packet);
            }
        }
    }

    fn write_cell(
        &mut self,
        known: &WriteContext<'_>,
        (flow, frame, time): (FlowId, u32, Time),
        flags: u8,
        interface: u32,
    ) {
        let file = &mut self.file;
        let header = known.header(flow, flags);
        if flags & RM == 0 {
            return file.packet(interface, time, None, &Packet::Cell(header));
        }
        let rm = known.logs.content(flow, frame, time);
        file.begin_remark();
        let way = if rm.backward { "backward" } else { "forward" };
        let _ = write!(
            file.comment,
            "RM cell, {way}: ER {:.1}, CCR {:.1}, MCR {:.1} cells/s",
            rm.er, rm.ccr, rm.mcr
        );
        for (name, is_set) in [("BN", rm.bn), ("CI", rm.ci), ("NI", rm.ni)] {
            if is_set {
                let _ = write!(file.comment, ", {name}");
            }
        }
        file.packet(interface, time, None, &Packet::Rm(header, &rm));
    }

    fn write_frame(&mut self, known: &WriteContext<'_>, event: &Event, flags: u8, interface: u32) {
        let format = known.origin.scenario.format;
        let frame = known.flow_frames(event.flow).get(event.frame);
        let segment = known.segment(event);
        let packet = if format.is_ethernet {
            Packet::Ethernet(&segment.ip)
        } else {
            let header = known.header(event.flow, flags);
            Packet::Frame(header, frame.size(format).cells(), &segment.ip)
        };
        self.file.packet(interface, event.time, None, &packet);
    }

    /// Writes the handshake of a connection before its first segment, if the model has none.
    fn open(&mut self, first: &CapturedSegment<'_>, vc: usize, time: Time) {
        let Some((connection, params)) = first.opened_unseen() else {
            return;
        };
        if !self.opened.insert((vc, connection)) {
            return;
        }
        for ip in first.handshake(params) {
            let way = match ip.hosts[0] == self.place {
                true => Direction::Outbound,
                false => Direction::Inbound,
            };
            let comment = &mut self.file.comment;
            comment.push_str("not simulated: the model has no handshake for this connection");
            self.file.packet(CARRIED, time, Some(way), &Packet::Ip(&ip));
        }
    }
}

impl WriteContext<'_> {
    /// Contents of the frames of a flow.
    fn flow_frames(&self, flow: FlowId) -> &FlowFrames {
        let flow_frames = self.flows[flow.index()].as_ref();
        flow_frames.expect("frames are recorded if it is known what they carry")
    }

    /// Segment or datagram in the frame of an event.
    fn segment(&self, event: &Event) -> CapturedSegment<'_> {
        let flow_frames = self.flow_frames(event.flow);
        let way = (flow_frames.kind, flow_frames.hosts);
        let payload = flow_frames.get(event.frame);
        CapturedSegment::new(
            self.origin.scenario,
            flow_frames.vc,
            way,
            payload,
            event.frame,
        )
    }

    /// Header of a cell with these flags, or of the cells of a frame.
    fn header(&self, flow: FlowId, flags: u8) -> CellHeader {
        CellHeader {
            vc: self.origin.topology.flows[flow.index()].vc,
            ends_frame: flags & ENDS_FRAME != 0 && flags & SINGLE_CELLS == 0,
            low_priority: flags & TAGGED != 0,
        }
    }
}

/// Appends why a cell was dropped, and the state of its queue.
fn explain_drop(comment: &mut String, reason: DropReason, queue: Option<&QueueSnapshot>) {
    let _ = write!(comment, "dropped: {}", reason.name());
    let Some(queue) = queue else { return };
    let _ = write!(
        comment,
        "; queue X={} Y_i={} N_a={}{}",
        queue.waiting,
        queue.waiting_of_vc,
        queue.active_vcs,
        if queue.counts_bytes { " (bytes)" } else { "" }
    );
    for (name, value) in [
        ("threshold", queue.threshold),
        ("average", queue.average),
        ("probability", queue.probability),
    ] {
        if let Some(value) = value {
            let _ = write!(comment, " {name}={value}");
        }
    }
    if let Some(pool) = &queue.pool {
        let _ = write!(comment, " free={}", pool.free);
    }
    if let Some(state) = &queue.policy_state {
        let _ = write!(comment, "; program {state}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_of_a_drop_ends_with_the_state_of_a_program() {
        let queue = QueueSnapshot {
            waiting: 810,
            waiting_of_vc: 132,
            active_vcs: 5,
            counts_bytes: false,
            threshold: None,
            average: None,
            probability: None,
            policy_state: Some("R = 800 cells, seen = 3".into()),
            pool: None,
        };
        let mut comment = String::new();
        explain_drop(&mut comment, DropReason::Policy, Some(&queue));
        assert_eq!(
            comment,
            "dropped: policy; queue X=810 Y_i=132 N_a=5; program R = 800 cells, seen = 3"
        );
    }
}
