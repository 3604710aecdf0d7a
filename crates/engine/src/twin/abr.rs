//! ABR in the twin (model section 12): end systems that send cell by cell, and ports that measure
//! and give feedback.

use super::ends::Payload;
use super::event::Event;
use super::{Cell, Twin};
use crate::ground::flow::FlowId;
use crate::ground::format::Clock;
use crate::ground::format::FrameSize;
use crate::ground::units::Time;
use crate::network::abr::feedback::{FeedbackRule, Marks, Measured, Rule};
use crate::network::abr::{EndSystem, EndSystemTerms, NextCell, Site, SubscriberIndex};
use std::collections::VecDeque;

/// An end system with its waiting frames.
pub(super) struct PacedQueue {
    pub(super) end: EndSystem,
    /// Waiting frames: number, cells, and number of the next cell.
    frames: VecDeque<(u32, u32, u32)>,
    /// Time of the scheduled event.
    armed: Time,
}

impl PacedQueue {
    pub(super) fn new(terms: EndSystemTerms) -> PacedQueue {
        PacedQueue {
            end: EndSystem::new(terms),
            frames: VecDeque::new(),
            armed: Time::NEVER,
        }
    }

    /// Waiting data cells.
    pub(super) fn cells(&self) -> u64 {
        let left = |&(_, cells, next): &(u32, u32, u32)| u64::from(cells - next);
        self.frames.iter().map(left).sum()
    }
}

/// Measurements of a class queue that gives feedback.
pub(super) struct Meter {
    site: Site,
    rule: Rule,
    /// Counts since the end of the last interval: cells by VC, and transmissions of higher classes
    /// begun.
    arrived: Vec<u64>,
    higher: u64,
    /// Forward RM cells not yet given to the rule, because a backward cell of the same instant goes
    /// first.
    forward: Vec<(Time, usize, f64)>,
}

impl Meter {
    pub(super) fn new(site: Site) -> Meter {
        let terms: Vec<_> = site.subscribers.iter().map(|s| s.terms).collect();
        Meter {
            rule: Rule::new(&site.feedback, site.capacity, &terms),
            arrived: vec![0; site.subscribers.len()],
            higher: 0,
            forward: Vec::new(),
            site,
        }
    }

    /// Gives the rule the forward RM cells that arrived before `now`, ordered by time and VC
    /// number.
    fn report_forward_cells(&mut self, now: Time) {
        self.forward.sort_by_key(|&(time, vc, _)| (time, vc));
        for &(_, vc, ccr) in self.forward.iter().filter(|f| f.0 < now) {
            self.rule.forward(vc, ccr);
        }
        self.forward.retain(|f| f.0 >= now);
    }

    fn end_of_interval(&mut self, now: Time, queue_cells: u64) -> Option<Time> {
        let interval = self.site.feedback.interval()?;
        self.report_forward_cells(now);
        self.rule.end_of_interval(&Measured {
            interval_s: interval.as_seconds(Clock::AAL5),
            higher_cells: self.higher,
            arrived_cells: &self.arrived,
            queue_cells,
        });
        self.higher = 0;
        self.arrived.fill(0);
        Some(now + interval)
    }

    /// End of the first interval.
    pub(super) fn begins(&self) -> Option<Time> {
        let interval = self.site.feedback.interval()?;
        Some(Time::ZERO + interval)
    }
}

impl Twin<'_> {
    /// Queues a frame before the end system of its flow.
    pub(super) fn queue_at_end_system(&mut self, flow: FlowId, frame: u32, size: FrameSize) {
        let paced = self.paced[flow.index()].as_mut().expect("an ABR VC");
        let waiting = paced.cells();
        let cells = size.cells();
        if paced.end.queues(waiting, u64::from(cells)) {
            paced.frames.push_back((frame, cells, 0));
            self.count(flow).frames_sent += 1;
            self.arm(flow);
        }
    }

    /// Schedules the event of an end system.
    fn arm(&mut self, flow: FlowId) {
        let paced = self.paced[flow.index()].as_mut().expect("an ABR VC");
        let due = paced.end.due(!paced.frames.is_empty()).max(self.now);
        if due < paced.armed {
            paced.armed = due;
            self.events.add(due, Event::Paced { flow });
        }
    }

    /// Handles the event of an end system that may have a cell to send.
    pub(super) fn paced(&mut self, flow: FlowId) {
        let now = self.now;
        let paced = self.paced[flow.index()].as_mut().expect("an ABR VC");
        if paced.armed != now {
            return;
        }
        paced.armed = Time::NEVER;
        let data = !paced.frames.is_empty();
        if paced.end.due(data) > now {
            return self.arm(flow); // ACR has fallen since.
        }
        let is_data = self.kind(flow).is_data();
        let cell = Cell {
            flow,
            is_data,
            frame: 0,
            index: 0,
            eom: true,
            is_rm: false,
            tagged: false,
            bytes: self.scenario.format.one_cell().cell_bytes(),
            left_source: Time::NEVER,
        };
        let paced = self.paced[flow.index()].as_mut().expect("an ABR VC");
        let cell = match paced.end.next(now, data) {
            NextCell::Data => {
                let first = paced.frames.front_mut().expect("data wait");
                let (frame, cells, index) = *first;
                first.2 += 1;
                let eom = index + 1 == cells;
                if eom {
                    paced.frames.pop_front();
                }
                Cell {
                    frame,
                    index,
                    eom,
                    ..cell
                }
            }
            NextCell::Rm { rm, out_of_rate } => {
                let vc = self.vc(flow);
                let flow = self.topology.flow(vc, self.kind(flow).rm());
                let frame = self.frames[flow.index()].len() as u32;
                self.keep(flow, Payload::Rm(rm));
                self.count(flow).frames_sent += 1;
                Cell {
                    flow,
                    is_data: false,
                    is_rm: true,
                    frame,
                    tagged: out_of_rate,
                    ..cell
                }
            }
        };
        self.queue_cell_at_nic(cell);
        self.arm(flow);
    }

    /// Takes an RM cell that reaches the end system of its VC.
    pub(super) fn take_rm(&mut self, flow: FlowId, frame: u32) {
        let Payload::Rm(rm) = self.frames[flow.index()][frame as usize].payload else {
            unreachable!("flows of RM cells carry these")
        };
        let outgoing = self.kind(flow).opposite().frames();
        let outgoing = self.topology.flow(self.vc(flow), outgoing);
        let paced = self.paced[outgoing.index()].as_mut().expect("an ABR VC");
        paced.end.take(self.now, rm);
        self.arm(outgoing);
    }

    /// Handles the ABR part of a cell's arrival at a port, before any decision on the cell:
    /// measurement and feedback.
    pub(super) fn passes(&mut self, link: usize, cell: Cell) {
        let path = self.path(cell.flow);
        let at = path.iter().position(|&l| l == link).expect("on its route");
        if let Some(SubscriberIndex { site, vc }) =
            self.sites.reports_to(&self.topology, cell.flow, at)
        {
            self.meters[site as usize].arrived[vc as usize] += 1;
        }
        let Payload::Rm(rm) = self.frames[cell.flow.index()][cell.frame as usize].payload else {
            return;
        };
        if !rm.backward {
            if let Some(SubscriberIndex { site, vc }) =
                self.sites.reports_to(&self.topology, cell.flow, at)
            {
                let report = (self.now, vc as usize, rm.ccr);
                let meter = &mut self.meters[site as usize];
                meter.forward.push(report);
                if meter.rule.marks_data() {
                    let rm = rm.marked(Marks {
                        ci: true,
                        ..Marks::NONE
                    });
                    self.frames[cell.flow.index()][cell.frame as usize].payload = Payload::Rm(rm);
                }
            }
            return;
        }
        if let Some(SubscriberIndex { site, vc }) =
            self.sites.feedback_from(&self.topology, cell.flow, at)
        {
            let meter = &mut self.meters[site as usize];
            meter.report_forward_cells(self.now);
            let marks = meter.rule.backward(vc as usize);
            let rm = rm.marked(marks);
            self.frames[cell.flow.index()][cell.frame as usize].payload = Payload::Rm(rm);
        }
    }

    /// Counts a transmission of `class` that begins at a port.
    pub(super) fn begins_at(&mut self, link: usize, class: usize) {
        use crate::text::scenario::Class;
        for meter in &mut self.meters {
            if meter.site.link == link && class < Class::Abr as usize {
                meter.higher += 1;
            }
        }
    }

    /// Ends an averaging interval.
    pub(super) fn interval_ends(&mut self, site: usize) {
        let link = self.meters[site].site.link;
        let port = self.ports[link].as_ref().expect("a port");
        let queue = port.waiting_of(crate::text::scenario::Class::Abr as usize);
        if let Some(next) = self.meters[site].end_of_interval(self.now, queue) {
            self.events.add(next, Event::IntervalEnd { site });
        }
    }

    /// Queues a single cell at its NIC.
    fn queue_cell_at_nic(&mut self, cell: Cell) {
        let link = self.path(cell.flow)[0];
        if self.is_free_at(link) > Time::LATEST {
            return self.is_overdue(crate::network::stop::Overdue::Nic(link));
        }
        self.nics[link].push_cell(cell);
        self.begin_at_nic(link);
        self.watch_nic(link, self.is_free_at(link).since(self.now));
    }
}
