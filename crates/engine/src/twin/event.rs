//! Events and their order (model section 3): by time, then kind, then component.
//!
//! Changes of rates come before all others. The other kinds in their order, each with the component
//! that orders simultaneous events:
//!
//! 0. A retransmission timer expires (VC).
//! 1. A delayed-ACK timer expires (VC).
//! 2. A source starts or emits (VC).
//! 3. A cell reaches a host (flow).
//! 4. A frame leaves a receiving stage (flow).
//! 5. A frame leaves the sending stage of a transport (flow).
//! 6. A frame leaves the sending stage of a host, or a shaper (order of entry).
//! 7. An ABR end system sends (flow).
//! 8. An averaging interval ends (port).
//! 9. Cells arrive at a port (port, then tie order); kind 10 with departures first.
//! 10. A cell departs, or the first one begins at a rate that is above 0 again (link); kind 9 with
//!     departures first.

use super::Cell;
use crate::ground::flow::FlowId;
use crate::ground::units::Time;
use crate::host::traffic::End;
use crate::text::scenario::topology::Topology;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Direction of a frame through a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Towards the transport.
    Receive,
    /// Towards the network.
    Send,
}

/// Level of the processing that a frame passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Host,
    Transport,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Timer {
        vc: usize,
        end: End,
    },
    Source {
        vc: usize,
    },
    Delivery {
        cell: Cell,
    },
    StageLeft {
        flow: FlowId,
        direction: Direction,
        level: Level,
        frame: u32,
    },
    /// A frame leaves the shaper of its flow.
    Shaped {
        flow: FlowId,
    },
    Arrival {
        port: usize,
        input: usize,
        cell: Cell,
    },
    Departure {
        link: usize,
    },
    /// The rate of a link changes.
    Change {
        link: usize,
    },
    /// The first waiting cell may begin, since the rate of the link is above 0 again.
    Resume {
        link: usize,
    },
    Paced {
        flow: FlowId,
    },
    IntervalEnd {
        site: usize,
    },
}

/// Order of events: time, kind, component, and a tie-breaker within the component.
type Key = (Time, i8, usize, usize);

struct Entry(Key, Event);

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.0 == other.0
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// All future events.
pub(super) struct EventQueue {
    arrival_first: bool,
    heap: BinaryHeap<Reverse<Entry>>,
    /// Number of frames that have entered a sending stage or a shaper of a host so far.
    entries: usize,
}

impl EventQueue {
    pub(super) fn new(arrival_first: bool) -> EventQueue {
        EventQueue {
            arrival_first,
            heap: BinaryHeap::new(),
            entries: 0,
        }
    }

    pub(super) fn add(&mut self, at: Time, event: Event) {
        let (arrivals, departures) = if self.arrival_first { (9, 10) } else { (10, 9) };
        let (kind, component, then) = match event {
            Event::Timer {
                vc,
                end: End::Sender,
            } => (0, vc, 0),
            Event::Timer {
                vc,
                end: End::Receiver,
            } => (1, vc, 0),
            Event::Source { vc } => (2, vc, 0),
            Event::Delivery { cell } => (3, cell.flow.index(), 0),
            Event::StageLeft {
                flow,
                direction,
                level,
                frame,
            } => match (direction, level) {
                // A frame is in one stage at a time, and frames of a flow keep their order.
                (Direction::Receive, _) => (4, flow.index(), frame as usize),
                (Direction::Send, Level::Transport) => (5, flow.index(), frame as usize),
                // Frames of all VCs are ordered by their entry into the stage.
                (Direction::Send, Level::Host) => self.leaving(),
            },
            Event::Shaped { .. } => self.leaving(),
            Event::Paced { flow } => (7, flow.index(), 0),
            Event::IntervalEnd { site } => (8, site, 0),
            Event::Arrival { port, input, .. } => (arrivals, port, input),
            Event::Departure { link } | Event::Resume { link } => (departures, link, 0),
            Event::Change { link } => (-1, link, 0),
        };
        let key = (at, kind, component, then);
        self.heap.push(Reverse(Entry(key, event)));
    }

    /// Order of a frame that enters a sending stage or a shaper now, at the instant at which it
    /// leaves.
    fn leaving(&mut self) -> (i8, usize, usize) {
        self.entries += 1;
        (6, 0, self.entries)
    }

    /// Time of the next event.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(Entry(key, _))| key.0)
    }

    /// Removes and returns the next event, if it happens before `end`.
    pub(super) fn next_before(&mut self, end: Time) -> Option<(Time, Event)> {
        let Reverse(Entry(key, _)) = self.heap.peek()?;
        let time = key.0;
        if time >= end {
            return None;
        }
        let Reverse(Entry(_, event)) = self.heap.pop()?;
        Some((time, event))
    }

    /// Removes and returns the other cells that reach `port` at `now`, with their input links.
    pub(super) fn other_arrivals(&mut self, now: Time, port: usize) -> Vec<(usize, Cell)> {
        let mut cells = Vec::new();
        while let Some(Reverse(Entry(
            key,
            Event::Arrival {
                port: p,
                input,
                cell,
            },
        ))) = self.heap.peek()
            && key.0 == now
            && *p == port
        {
            cells.push((*input, *cell));
            self.heap.pop();
        }
        cells
    }

    /// Removes and returns all other cells that reach ports at `now`, with their ports and input links.
    pub(super) fn all_arrivals(&mut self, now: Time) -> Vec<(usize, usize, Cell)> {
        let mut cells = Vec::new();
        while let Some(Reverse(Entry(key, Event::Arrival { port, input, cell }))) = self.heap.peek()
            && key.0 == now
        {
            cells.push((*port, *input, *cell));
            self.heap.pop();
        }
        cells
    }

    /// All cells on the way to a port or host, each with the link it uses.
    pub(super) fn cells_on_their_way(
        &self,
        topology: &Topology,
    ) -> impl Iterator<Item = (Cell, usize)> {
        self.heap
            .iter()
            .filter_map(|Reverse(Entry(_, event))| match event {
                Event::Arrival { input, cell, .. } => Some((*cell, *input)),
                Event::Delivery { cell } => {
                    let path = &topology.flows[cell.flow.index()].path;
                    Some((*cell, path[path.len() - 1]))
                }
                _ => None,
            })
    }
}
