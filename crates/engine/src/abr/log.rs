//! What RM cells meet on their way, settled when they are delivered.
//!
//! A backward RM cell that passes a switch at an instant t reads what the port of the way there has measured and been told before t. Ports are
//! advanced one after the other, and that one may not have reached t. But nobody looks at the cell before its source does, and when the loop
//! comes to its delivery, every port has handled all that happens until t (`build/lookahead.rs` sees to it). So whatever passes is logged here,
//! ports add what they measure, and the rule of a class queue is asked in the order of time when the first cell is delivered that needs it.

use super::feedback::{FeedbackRule, Measured, Rule};
use super::rm::Rm;
use super::sites::{At, Sites};
use crate::cells::precedes;
use crate::flow::FlowId;
use crate::units::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What a port has measured in one averaging interval.
#[derive(Debug)]
pub struct Interval {
    /// Its end.
    pub end: Time,
    /// See [`Measured`].
    pub higher_cells: u64,
    /// See [`Measured`].
    pub queue_cells: u64,
    /// See [`Measured`].
    pub arrived_cells: Box<[u64]>,
}

/// A place that RM cells of a hop pass on their way to the next station, or where they arrive there.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// From the end of transmission until they are there; `None` for the next station itself, whatever delays them before it.
    pub after: Option<Span>,
    /// What forward cells tell.
    pub told: Option<At>,
    /// What backward cells are told.
    pub tells: Option<At>,
}

/// An RM cell at a place; of equal times backward cells come before forward ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: Time,
    forward: bool,
    /// Number of the entry: those of one flow come in order of time.
    number: u64,
    vc: u32,
    flow: FlowId,
    frame: u32,
    /// The bits of CCR.
    ccr: u64,
}

/// The log of one class queue.
#[derive(Debug)]
struct Log {
    rule: Rule,
    interval: Span,
    intervals: VecDeque<Interval>,
    entries: BinaryHeap<Reverse<Entry>>,
    /// Per VC: the backward cell that was marked last, and the forward one that was heard last.
    marked: Vec<Option<u32>>,
    heard: Vec<Option<u32>>,
}

/// RM cells of one flow that are under way: their numbers follow one another up to the next one to be sent.
#[derive(Clone, Debug, Default)]
struct Lane {
    cells: VecDeque<Rm>,
    next: u32,
}

impl Lane {
    fn find(&mut self, frame: u32) -> Option<&mut Rm> {
        let from_end = self.next.wrapping_sub(frame) as usize;
        let at = self.cells.len().checked_sub(from_end)?;
        self.cells.get_mut(at)
    }
}

/// All RM cells under way, and the logs of all class queues that give feedback.
#[derive(Debug, Default)]
pub struct Logs {
    logs: Vec<Log>,
    /// By flow.
    lanes: Vec<Lane>,
    /// By flow: where its backward cells are told something, and where the data around its forward ones may be marked.
    tells: Vec<Vec<At>>,
    marks: Vec<Vec<At>>,
    entries: u64,
}

impl Logs {
    /// Of a network with `flows` flows in which nothing has happened.
    pub fn new(sites: &Sites, flows: usize) -> Logs {
        let log = |site: &super::Site| {
            let terms: Vec<_> = site.subscribers.iter().map(|s| s.terms).collect();
            Log {
                rule: Rule::new(&site.feedback, site.capacity, &terms),
                interval: site.feedback.interval().unwrap_or(Span::FOREVER),
                intervals: VecDeque::new(),
                entries: BinaryHeap::new(),
                marked: vec![None; terms.len()],
                heard: vec![None; terms.len()],
            }
        };
        let flows = if sites.has_end_systems { flows } else { 0 };
        Logs {
            logs: sites.all.iter().map(log).collect(),
            lanes: vec![Lane::default(); flows],
            tells: vec![Vec::new(); flows],
            marks: vec![Vec::new(); flows],
            entries: 0,
        }
    }

    /// Backward cells of `flow` are told something there.
    pub fn expect(&mut self, flow: FlowId, at: At) {
        self.tells[flow.index()].push(at);
    }

    /// Data around forward cells of `flow` may be marked there.
    pub fn expect_marks(&mut self, flow: FlowId, at: At) {
        self.marks[flow.index()].push(at);
    }

    /// An RM cell of `flow` is sent; returns its number.
    pub fn send(&mut self, flow: FlowId, rm: Rm) -> u32 {
        let lane = &mut self.lanes[flow.index()];
        let frame = lane.next;
        lane.next = frame.wrapping_add(1);
        lane.cells.push_back(rm);
        frame
    }

    /// RM cell `frame` of `flow`, which leaves a station at `left`, will reach `places`, the next station at `arrives`.
    pub fn pass(
        &mut self,
        flow: FlowId,
        frame: u32,
        left: Time,
        arrives: Time,
        places: &[Passing],
    ) {
        let Some(&mut Rm { backward, ccr, .. }) = self.lanes[flow.index()].find(frame) else {
            return;
        };
        for place in places {
            let at = if backward { place.tells } else { place.told };
            let Some(At { site, vc }) = at else { continue };
            self.entries += 1;
            self.logs[site as usize].entries.push(Reverse(Entry {
                time: place.after.map_or(arrives, |after| left + after),
                forward: !backward,
                number: self.entries,
                vc,
                flow,
                frame,
                ccr: ccr.to_bits(),
            }));
        }
    }

    /// A port has measured.
    pub fn measured(&mut self, site: u32, interval: Interval) {
        self.logs[site as usize].intervals.push_back(interval);
    }

    /// RM cell `frame` of `flow` is delivered, with all that it was told; it goes, and those before it, which are lost.
    pub fn deliver(&mut self, flow: FlowId, frame: u32) -> Rm {
        let lane = &mut self.lanes[flow.index()];
        let backward = lane.find(frame).is_some_and(|rm| rm.backward);
        let places = if backward { &self.tells } else { &self.marks };
        for i in 0..places[flow.index()].len() {
            let places = if backward { &self.tells } else { &self.marks };
            self.settle(places[flow.index()][i], frame, backward);
        }
        let lane = &mut self.lanes[flow.index()];
        let from_end = lane.next.wrapping_sub(frame) as usize;
        while lane.cells.len() > from_end {
            lane.cells.pop_front();
        }
        let rm = lane.cells.pop_front();
        rm.expect("an RM cell that arrives has been sent")
    }

    /// Asks the rule at a place in the order of time, until cell `frame` of its VC, backward or forward, has been there.
    fn settle(&mut self, at: At, frame: u32, backward: bool) {
        let log = &mut self.logs[at.site as usize];
        let is_past = |last: u32| last == frame || precedes(frame, last);
        loop {
            let last = if backward { &log.marked } else { &log.heard };
            if last[at.vc as usize].is_some_and(is_past) {
                return;
            }
            let Some(Reverse(entry)) = log.entries.pop() else {
                unreachable!("a cell that is delivered has passed")
            };
            log.ask(entry, &mut self.lanes);
        }
    }

    /// Asks all rules about everything until `time`, all of which is known: so that what nobody waits for does not gather.
    pub fn settle_until(&mut self, time: Time) {
        for log in &mut self.logs {
            while log.entries.peek().is_some_and(|entry| entry.0.time <= time) {
                let entry = log.entries.pop();
                entry
                    .into_iter()
                    .for_each(|Reverse(entry)| log.ask(entry, &mut self.lanes));
            }
            log.end_intervals(time);
        }
    }

    /// How many RM cells are under way, those that were lost since the last one of their flow that arrived included.
    pub fn under_way(&self) -> usize {
        self.lanes.iter().map(|lane| lane.cells.len()).sum()
    }
}

impl Log {
    /// Asks the rule about an RM cell at its place, the earliest of those that are left.
    fn ask(&mut self, entry: Entry, lanes: &mut [Lane]) {
        self.end_intervals(entry.time);
        let vc = entry.vc as usize;
        let rm = lanes[entry.flow.index()].find(entry.frame);
        if !entry.forward {
            let marks = self.rule.backward(vc);
            self.marked[vc] = Some(entry.frame);
            if let Some(rm) = rm {
                *rm = rm.marked(marks.er, marks.ci, marks.ni);
            }
            return;
        }
        self.rule.forward(vc, f64::from_bits(entry.ccr));
        self.heard[vc] = Some(entry.frame);
        if let Some(rm) = rm.filter(|_| self.rule.marks_data()) {
            *rm = rm.marked(f64::INFINITY, true, false);
        }
    }

    /// Tells the rule of the intervals that end at `time` or before.
    fn end_intervals(&mut self, time: Time) {
        while self
            .intervals
            .front()
            .is_some_and(|ended| ended.end <= time)
        {
            let Some(ended) = self.intervals.pop_front() else {
                unreachable!("there is a first one")
            };
            self.rule.end_of_interval(&Measured {
                interval_s: self.interval.as_seconds(),
                higher_cells: ended.higher_cells,
                arrived_cells: &ended.arrived_cells,
                queue_cells: ended.queue_cells,
            });
        }
    }
}
