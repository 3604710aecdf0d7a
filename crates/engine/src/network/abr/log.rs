//! Feedback that RM cells receive on their way, settled when they are delivered.
//!
//! A backward RM cell that passes a switch at instant t reads the state of the port in the forward
//! direction. That state includes everything the port has measured and received before t. Ports are
//! advanced one after the other, and that port may not have reached t. But the content of the cell
//! is not used before its source reads it. When the loop comes to that delivery, every port has
//! handled all events until t (`run/assembly/lookahead.rs` ensures it).
//!
//! So passing cells are logged here, and ports add their measurements. When the first cell that
//! needs an answer is delivered, the rule of the class queue is asked in order of time.

use super::feedback::{FeedbackRule, Marks, Measured, Rule};
use super::rm::Rm;
use super::sites::{Sites, SubscriberIndex};
use crate::ground::event::Earliest;
use crate::ground::flow::FlowId;
use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::network::cells::precedes;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Measurements of a port in one averaging interval.
#[derive(Debug)]
pub struct MeasuredInterval {
    /// End of the interval.
    pub end: Time,
    /// Number of cells of higher classes whose transmission began in the interval.
    pub higher_cells: u64,
    /// Number of cells of the class that wait at the end of the interval.
    pub queue_cells: u64,
    /// Number of cells of the class that arrived in the interval, per VC; see [`Measured`].
    pub arrived_cells: Box<[u64]>,
}

/// Place that RM cells of a hop pass on their way to the next station, or that station.
#[derive(Clone, Copy, Debug)]
pub struct FeedbackPoint {
    /// Time from the end of transmission until the place.
    /// `None` is the next station itself, after all that delays cells before it.
    pub after: Option<Span>,
    /// Queue that forward cells report to.
    pub reports_to: Option<SubscriberIndex>,
    /// Queue whose feedback backward cells receive.
    pub feedback_from: Option<SubscriberIndex>,
    /// Feedback for backward cells that is known beforehand.
    pub constant_marks: Marks,
}

/// RM cell at a place.
#[derive(Clone, Copy, Debug)]
struct LoggedCell {
    time: Time,
    flow: FlowId,
    frame: u32,
    ccr: f64,
}

/// RM cells at a place that the rule has not been asked about.
///
/// The order of logging two flows depends on the shortcuts that ports take, so it must not matter.
/// Each lane holds the cells of one flow, in order of time. At equal times backward cells come
/// before forward ones, and each kind in order of VC.
#[derive(Debug)]
struct LoggedCells {
    /// The lanes of backward cells by VC, then those of forward cells.
    lanes: Vec<VecDeque<LoggedCell>>,
    next: Earliest,
}

impl LoggedCells {
    /// Empty lanes for `vcs` VCs.
    fn new(vcs: usize) -> LoggedCells {
        LoggedCells {
            lanes: vec![VecDeque::new(); 2 * vcs],
            next: Earliest::new(2 * vcs),
        }
    }

    /// Adds a cell of the VC, later than all before in its direction.
    fn push(&mut self, vc: u32, forward: bool, cell: LoggedCell) {
        let vcs = self.lanes.len() / 2;
        let lane = vc as usize + if forward { vcs } else { 0 };
        match self.lanes[lane].back() {
            None => self.next.set(lane, cell.time),
            Some(last) => debug_assert!(last.time <= cell.time, "cells of a flow pass in order"),
        }
        self.lanes[lane].push_back(cell);
    }

    /// Time of the earliest cell; [`Time::NEVER`] if there is none.
    fn next_time(&self) -> Time {
        self.next.first().map_or(Time::NEVER, |(time, _)| time)
    }

    /// Takes the earliest cell, with its VC and whether it is a forward one.
    fn pop(&mut self) -> Option<(usize, bool, LoggedCell)> {
        let (_, lane) = self.next.first()?;
        let cell = self.lanes[lane].pop_front()?;
        let next = self.lanes[lane].front();
        self.next
            .set(lane, next.map_or(Time::NEVER, |next| next.time));
        let vcs = self.lanes.len() / 2;
        let forward = lane >= vcs;
        Some((if forward { lane - vcs } else { lane }, forward, cell))
    }
}

/// Log of one class queue.
#[derive(Debug)]
struct Log {
    rule: Rule,
    interval: Span,
    intervals: VecDeque<MeasuredInterval>,
    cells: LoggedCells,
    /// Number of the latest forward and backward cell, per VC, that the rule was asked about.
    asked: Vec<[Option<u32>; 2]>,
    /// Used buffers for counts, kept for reuse.
    spare: Vec<Box<[u64]>>,
}

/// RM cells of one flow that are under way, numbered consecutively up to `next`.
#[derive(Clone, Debug, Default)]
struct RmFlow {
    /// Cells, each with the time when it was sent.
    cells: VecDeque<(Time, Rm)>,
    next: u32,
}

impl RmFlow {
    fn find(&mut self, frame: u32) -> Option<&mut Rm> {
        let from_end = self.next.wrapping_sub(frame) as usize;
        let at = self.cells.len().checked_sub(from_end)?;
        self.cells.get_mut(at).map(|(_, rm)| rm)
    }
}

/// RM cells under way, and the logs of all class queues that give feedback.
#[derive(Debug, Default)]
pub struct Logs {
    logs: Vec<Log>,
    /// Cells under way, by flow.
    flows: Vec<RmFlow>,
    /// Queues that may change cells of a flow: EFCI marks around forward cells, feedback to
    /// backward ones.
    written_at: Vec<[Vec<SubscriberIndex>; 2]>,
    /// Amount of data that has come into the logs since all of them were settled.
    gathered: usize,
    /// History of the content of RM cells, kept if a capture needs it.
    history: Option<History>,
}

/// History of the content of RM cells, by flow and number.
type History = FxHashMap<(FlowId, u32), RmHistory>;

/// History of one RM cell.
#[derive(Debug)]
struct RmHistory {
    sent: Rm,
    /// Marks added to the cell, and when.
    added: Vec<(Time, Marks)>,
    /// Delivery time of the cell, or of a later one of its flow.
    delivered: Time,
}

/// Notes that `marks` were added to RM cell `frame` of `flow` at `time`.
fn note(history: &mut Option<History>, flow: FlowId, frame: u32, time: Time, marks: Marks) {
    if let Some(history) = history
        && marks != Marks::NONE
        && let Some(cell_history) = history.get_mut(&(flow, frame))
    {
        cell_history.added.push((time, marks));
    }
}

/// Average amount of data per log at which all logs are settled.
/// Scanning many logs of which few have anything to settle would otherwise dominate.
const SETTLED_WITH: usize = 16;

impl Logs {
    /// Creates the logs of a network with `flows` flows in which nothing has happened.
    pub fn new(sites: &Sites, flows: usize) -> Logs {
        let log = |site: &super::Site| {
            let terms: Vec<_> = site.subscribers.iter().map(|s| s.terms).collect();
            Log {
                rule: Rule::new(&site.feedback, site.capacity, &terms),
                interval: site.feedback.interval().unwrap_or(Span::FOREVER),
                intervals: VecDeque::new(),
                cells: LoggedCells::new(terms.len()),
                asked: vec![[None; 2]; terms.len()],
                spare: Vec::new(),
            }
        };
        let flows = if sites.has_end_systems { flows } else { 0 };
        Logs {
            logs: sites.all.iter().map(log).collect(),
            flows: vec![RmFlow::default(); flows],
            written_at: vec![[Vec::new(), Vec::new()]; flows],
            gathered: 0,
            history: None,
        }
    }

    /// Starts to keep the history of RM cells; [`Logs::forget`] drops old parts.
    pub fn keep_history(&mut self) {
        self.history = Some(History::default());
    }

    /// Content of RM cell `frame` of `flow` just before `time`. Everything before `time` must be
    /// settled.
    pub fn content(&self, flow: FlowId, frame: u32, time: Time) -> Rm {
        let history = self.history.as_ref().expect("it is kept");
        let cell_history = &history[&(flow, frame)];
        let before = cell_history.added.iter().filter(|(added, _)| *added < time);
        before.fold(cell_history.sent, |rm, &(_, marks)| rm.marked(marks))
    }

    /// Forgets the history of RM cells delivered before `time`.
    pub fn forget(&mut self, time: Time) {
        if let Some(history) = &mut self.history {
            history.retain(|_, cell_history| cell_history.delivered >= time);
        }
    }

    /// Announces that place `at` may change forward, or `backward`, cells of `flow`.
    pub fn expect(&mut self, flow: FlowId, backward: bool, at: SubscriberIndex) {
        self.written_at[flow.index()][usize::from(backward)].push(at);
    }

    /// Registers an RM cell of `flow` sent at `time`; returns its number.
    pub fn send(&mut self, flow: FlowId, rm: Rm, time: Time) -> u32 {
        let rm_flow = &mut self.flows[flow.index()];
        let frame = rm_flow.next;
        rm_flow.next = frame.wrapping_add(1);
        rm_flow.cells.push_back((time, rm));
        if let Some(history) = &mut self.history {
            let cell_history = RmHistory {
                sent: rm,
                added: Vec::new(),
                delivered: Time::NEVER,
            };
            history.insert((flow, frame), cell_history);
        }
        frame
    }

    /// Logs RM cell `frame` of `flow`, which leaves a station at `left`, at each of `places`.
    /// The cell reaches the next station at `arrives`.
    pub fn log_passage(
        &mut self,
        flow: FlowId,
        frame: u32,
        left: Time,
        arrives: Time,
        places: &[FeedbackPoint],
    ) {
        let Some(rm) = self.flows[flow.index()].find(frame) else {
            return;
        };
        let Rm { backward, ccr, .. } = *rm;
        for place in places {
            if backward {
                *rm = rm.marked(place.constant_marks);
                let time = place.after.map_or(arrives, |after| left + after);
                note(&mut self.history, flow, frame, time, place.constant_marks);
            }
            let at = if backward {
                place.feedback_from
            } else {
                place.reports_to
            };
            let Some(SubscriberIndex { site, vc }) = at else {
                continue;
            };
            self.gathered += 1;
            let cell = LoggedCell {
                time: place.after.map_or(arrives, |after| left + after),
                flow,
                frame,
                ccr,
            };
            self.logs[site as usize].cells.push(vc, !backward, cell);
        }
    }

    /// Returns a buffer for the counts of `vcs` VCs. The content of a reused one is old.
    pub fn counts_buffer(&mut self, site: u32, vcs: usize) -> Box<[u64]> {
        let spare = self.logs[site as usize].spare.pop();
        spare.unwrap_or_else(|| vec![0; vcs].into_boxed_slice())
    }

    /// Adds an interval that a port has measured.
    pub fn add_interval(&mut self, site: u32, interval: MeasuredInterval) {
        self.gathered += 1 + interval.arrived_cells.len();
        self.logs[site as usize].intervals.push_back(interval);
    }

    /// Delivers RM cell `frame` of `flow` at `now`, with all the feedback that it received.
    /// The cell is removed, and so are earlier ones of its flow, which are lost.
    pub fn deliver(&mut self, flow: FlowId, frame: u32, now: Time) -> Rm {
        let rm_flow = &mut self.flows[flow.index()];
        let backward = rm_flow.find(frame).is_some_and(|rm| rm.backward);
        let way = usize::from(backward);
        for i in 0..self.written_at[flow.index()][way].len() {
            self.settle(self.written_at[flow.index()][way][i], way, frame);
        }
        let rm_flow = &mut self.flows[flow.index()];
        let from_end = rm_flow.next.wrapping_sub(frame) as usize;
        if let Some(history) = &mut self.history {
            let gone = rm_flow.cells.len().saturating_sub(from_end) as u32;
            for before in 0..=gone {
                if let Some(cell_history) = history.get_mut(&(flow, frame.wrapping_sub(before))) {
                    cell_history.delivered = now;
                }
            }
        }
        while rm_flow.cells.len() > from_end {
            rm_flow.cells.pop_front();
        }
        let (_, rm) = rm_flow
            .cells
            .pop_front()
            .expect("an RM cell that arrives has been sent");
        rm
    }

    /// Asks the rule at a place in order of time, until it has been asked about cell `frame` of the
    /// VC.
    /// `way` is 0 for forward cells and 1 for backward ones.
    fn settle(&mut self, at: SubscriberIndex, way: usize, frame: u32) {
        let log = &mut self.logs[at.site as usize];
        let is_past = |last: u32| last == frame || precedes(frame, last);
        while !log.asked[at.vc as usize][way].is_some_and(is_past) {
            let asked = log.ask_next(&mut self.flows, &mut self.history);
            assert!(asked, "a cell that is delivered has passed");
        }
    }

    /// Settles all logs until `time` if much has gathered, so that entries that no delivery needs
    /// do not pile up.
    /// Everything until `time` must be known.
    pub fn settle_until(&mut self, time: Time) {
        if self.gathered >= SETTLED_WITH * self.logs.len() {
            self.settle_all(time);
        }
    }

    /// Asks all rules about everything until `time`, all of which must be known.
    pub fn settle_all(&mut self, time: Time) {
        self.gathered = 0;
        for log in &mut self.logs {
            while log.cells.next_time() <= time && log.ask_next(&mut self.flows, &mut self.history)
            {
            }
            log.end_intervals(time);
        }
    }

    /// Sending time of the first RM cell of `flow` that may be under way.
    pub fn first_sent(&self, flow: FlowId) -> Option<Time> {
        let first = self.flows[flow.index()].cells.front();
        first.map(|&(sent, _)| sent)
    }

    /// Number of RM cells under way, including lost ones sent since the latest delivered one of
    /// their flow.
    pub fn in_transit(&self) -> usize {
        self.flows.iter().map(|rm_flow| rm_flow.cells.len()).sum()
    }
}

impl Log {
    /// Asks the rule about the earliest logged RM cell; false if there is none.
    fn ask_next(&mut self, flows: &mut [RmFlow], history: &mut Option<History>) -> bool {
        let Some((vc, forward, cell)) = self.cells.pop() else {
            return false;
        };
        self.end_intervals(cell.time);
        self.asked[vc][usize::from(!forward)] = Some(cell.frame);
        let marks = if forward {
            self.rule.forward(vc, cell.ccr);
            Marks {
                ci: self.rule.marks_data(),
                ..Marks::NONE
            }
        } else {
            self.rule.backward(vc)
        };
        note(history, cell.flow, cell.frame, cell.time, marks);
        if let Some(rm) = flows[cell.flow.index()].find(cell.frame) {
            *rm = rm.marked(marks);
        }
        true
    }

    /// Passes to the rule the intervals that end at `time` or before.
    fn end_intervals(&mut self, time: Time) {
        while self.intervals.front().is_some_and(|i| i.end <= time) {
            let Some(ended) = self.intervals.pop_front() else {
                return;
            };
            self.rule.end_of_interval(&Measured {
                interval_s: self.interval.as_seconds(Clock::AAL5),
                higher_cells: ended.higher_cells,
                arrived_cells: &ended.arrived_cells,
                queue_cells: ended.queue_cells,
            });
            self.spare.push(ended.arrived_cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_instant_backward_cells_come_first_and_vcs_by_their_numbers_whichever_was_logged_first()
     {
        let mut cells = LoggedCells::new(3);
        for (forward, vc, time) in [
            (true, 2, 1000),
            (true, 0, 1000),
            (false, 1, 1000),
            (false, 0, 1000),
            (false, 0, 1001),
            (true, 1, 999),
        ] {
            let cell = LoggedCell {
                time: Time(time),
                flow: FlowId(vc),
                frame: 0,
                ccr: 0.0,
            };
            cells.push(vc, forward, cell);
        }
        let order: Vec<_> = std::iter::from_fn(|| cells.pop())
            .map(|(vc, forward, cell)| (cell.time.0, forward, vc))
            .collect();
        assert_eq!(
            order,
            [
                (999, true, 1),
                (1000, false, 0),
                (1000, false, 1),
                (1000, true, 0),
                (1000, true, 2),
                (1001, false, 0)
            ]
        );
        assert_eq!(cells.next_time(), Time::NEVER);
    }
}
