//! Transmission: carries cells that leave a station to the next one, or to the host.
//!
//! A *station* is a place that sends cells: a NIC, or a port that can queue. Between two stations a
//! cell only meets a constant delay. A port with one input, whose cells are never closer than its
//! own cell time, never makes a cell wait. Such ports are folded into the latency of the station
//! before them. Only their counters remain, and these are filled in at the end.

use crate::ground::class::Class;
use crate::ground::delays::Waits;
use crate::ground::flow::FlowId;
use crate::ground::units::{Span, Time};
use crate::network::abr::{FeedbackPoint, Logs};
use crate::network::capture::Captures;
use crate::network::cells::{Feed, FrameState, FramesAt, Run};
use crate::network::loss::Losses;
use crate::network::observe::{DepartedCell, Observers};
use crate::network::pool::PoolState;
use crate::network::processing::SwitchStage;
use crate::network::record::QueueSnapshot;
use crate::network::sink::Destinations;
use crate::network::stop::{FailedProgram, Overdue, Stop};
use crate::network::tally::{DropCounts, DropReason};
use crate::network::tie::TieRule;
use crate::text::program::Failure;

/// Where cells go after a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The destination host.
    Host,
    /// A port that can queue, over this feed.
    Port {
        /// Index of the port.
        port: u32,
        /// Index of the feed, over all ports.
        feed: u32,
        /// Input number of the port.
        input: u32,
    },
}

/// Path of a flow through one station: the fields used for every cell.
///
/// The hops of a flow have consecutive indices, so the next hop is the next index.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Hop {
    /// Where cells go.
    pub next: Next,
    /// Time from the end of transmission here to the arrival at the next station.
    pub latency: Span,
    /// Cells whose last bit left before the end of the run.
    pub sent: u64,
    /// Cells that arrived at the port.
    pub arrived: u64,
    /// The port's decision on the current frame.
    pub frame_state: FrameState,
    /// Flow that takes this hop.
    pub flow: FlowId,
    /// Number of the flow among the flows of the port.
    pub local: u32,
    /// Class index.
    pub class: u8,
    /// Whether this is a data flow.
    pub is_data: bool,
    /// Whether departing cells need individual attention, one by one unless
    /// [`HopExtra::can_leave_together`]: they may be lost deliberately, delayed, or observed.
    pub one_by_one: bool,
}

impl Hop {
    /// Records `cells` cells of `frame` as arrived, accepted and sent before the end.
    pub fn count_passed(&mut self, frame: u32, cells: u64) {
        self.frame_state = FrameState::accepted(frame);
        self.arrived += cells;
        self.sent += cells;
    }
}

/// A port folded into the latency of a hop. Both times count from the end of transmission by the
/// station.
#[derive(Clone, Copy, Debug)]
pub struct FoldedPort {
    /// Link of the port.
    pub link: u32,
    /// Time until the arrival at the port.
    pub arrives: Span,
    /// Time until the end of transmission at the port.
    pub leaves: Span,
}

/// A processing stage on the path of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowStage {
    /// Index of the stage.
    pub stage: u32,
    /// Number of the flow among the flows of the link before the stage.
    pub local: u32,
}

/// Data of a hop that is not needed for every cell.
#[derive(Clone, Debug, Default)]
pub struct HopExtra {
    /// The link that the station sends on.
    pub link: u32,
    /// Processing stage before the next port.
    pub stage: Option<FlowStage>,
    /// Ports without a queue on the way to the next station.
    pub folded_ports: Vec<FoldedPort>,
    /// Places on the way where RM cells are marked or read; empty for other flows.
    pub feedback_points: Vec<FeedbackPoint>,
    /// VC of the flow.
    pub vc: usize,
    /// Whether cells are captured on the link of this station, or at a port without a queue on the
    /// way.
    pub captured: bool,
    /// Whether the link of this station deliberately loses frames of this flow; data flows only.
    pub lossy: bool,
    /// Whether cells are at most lost, captured or counted. Cells of a frame then share their fate
    /// and leave together.
    pub can_leave_together: bool,
    /// Whether nothing but feedback needs the cells of this hop.
    pub only_logs: bool,
    /// Latest frame that began on a lossy link, and whether it is lost.
    pub loss: Option<(u32, bool)>,
    /// Cells dropped here.
    pub dropped: DropCounts,
    /// Cells refused by the port; of a refused frame, only the first.
    pub refusals: u64,
    /// Cells tagged here.
    pub tagged: u64,
    /// Cells that had not left when the run ended.
    pub unsent: u64,
    /// Departures of cells that were still in transit when the run ended.
    pub late: Vec<Time>,
    /// Frames of cells that had not left at the end, or were in transit to the host.
    pub left_over: FramesAt,
}

impl HopExtra {
    /// Cells dropped by the port. Cells lost on the link are excluded: they have left the port.
    pub fn dropped_by_port(&self) -> u64 {
        self.dropped.total() - self.dropped[DropReason::Link]
    }
}

/// What went wrong at an instant at which several inputs bring a cell.
#[derive(Debug, Default)]
pub struct AtTie {
    /// Feeds whose cell was dropped on arrival, and whether it was refused.
    pub dropped: Vec<(usize, bool)>,
    /// Hops of which a frame that still arrives was damaged by a push-out.
    pub damaged: Vec<u32>,
}

/// Everything between the stations, with its counters.
#[derive(Debug)]
pub struct Fabric {
    /// The hops of all flows.
    pub hops: Vec<Hop>,
    /// The less used part of each hop, by hop.
    pub extras: Vec<HopExtra>,
    /// The feeds of all ports.
    pub feeds: Vec<Feed>,
    /// Per port: inputs that received a run while empty.
    pub woken: Vec<Vec<u32>>,
    /// Ports that were woken since the main loop last looked.
    pub woken_ports: Vec<u32>,
    /// Processing stages of the switches.
    pub stages: Vec<SwitchStage>,
    /// Per link: deliberate losses.
    pub losses: Vec<Option<Losses>>,
    /// Receiving ends of the flows.
    pub destinations: Destinations,
    /// RM cells in transit, and what affects them.
    pub logs: Logs,
    /// Probes and digests on links.
    pub observers: Observers,
    /// Pools of the switches.
    pub pools: Vec<PoolState>,
    /// Packet captures.
    pub captures: Option<Box<Captures>>,
    /// End of the run.
    pub end: Time,
    /// Time until which a port may drop the rest of a frame at once: the end of the run, or an
    /// earlier instant at which the port is measured.
    pub drop_until: Time,
    /// Per port, with ABR VCs only: no cell that has not left it starts before this time.
    pub earliest_starts: Vec<Time>,
    /// Whether a port judges cells that several inputs bring at one instant.
    pub tied: bool,
    /// What went wrong at that instant so far.
    pub at_tie: AtTie,
    /// Measuring time, [from, to).
    pub measured: (Time, Time),
    /// Why the run cannot continue, if so.
    pub stopped: Option<Box<Stop>>,
}

impl Fabric {
    /// Sends the cells of `run` from the station of its hop. Times of the run are ends of
    /// transmission.
    #[inline(always)]
    pub fn depart(&mut self, run: Run) {
        let hop = &mut self.hops[run.hop as usize];
        let late = run.last() + hop.latency >= self.end;
        if late || hop.one_by_one {
            return self.depart_one_by_one(run);
        }
        hop.sent += u64::from(run.n);
        self.carry(run);
    }

    /// Sends cells that the end of the run, a loss or an observer may treat differently from each
    /// other.
    #[cold]
    fn depart_one_by_one(&mut self, mut run: Run) {
        let hop = &mut self.hops[run.hop as usize];
        if !hop.one_by_one {
            // The end of the run is near, but most cells may still be in time.
            let n = run.before(Time(self.end.0.saturating_sub(hop.latency.0)));
            if n > 0 {
                hop.sent += u64::from(n);
                self.carry(run.first(n));
                run.skip(n);
            }
        } else if self.extras[run.hop as usize].only_logs
            && run.n == 1
            && run.time + hop.latency < self.end
        {
            hop.sent += 1;
            let arrives = run.time + hop.latency;
            self.log_rm_cell(run.hop, run.frame, run.time, arrives);
            return self.carry(run);
        } else if self.leaves_together(&run) {
            let hop = &mut self.hops[run.hop as usize];
            hop.sent += u64::from(run.n);
            let HopExtra { link, captured, .. } = self.extras[run.hop as usize];
            self.observers
                .record_departures(link, hop.class as usize, run);
            if captured {
                self.capture(&run);
                self.capture_on_the_way(&run);
            }
            return self.carry(run);
        }
        while run.n > 0 {
            let cell = run.first(1);
            run.skip(1);
            self.depart_one(cell);
        }
    }

    /// Whether all cells of `run` leave before the end, and none is lost or needs individual
    /// attention.
    fn leaves_together(&mut self, run: &Run) -> bool {
        let (hop, extra) = (&self.hops[run.hop as usize], &self.extras[run.hop as usize]);
        let in_time = run.last() + hop.latency < self.end;
        extra.can_leave_together
            && in_time
            && (!extra.lossy || (!run.is_single() && !self.is_lost(run)))
    }

    fn depart_one(&mut self, cell: Run) {
        let lost = self.is_lost(&cell);
        let hop = &mut self.hops[cell.hop as usize];
        let extra = &mut self.extras[cell.hop as usize];
        let frame = || FramesAt::of_cells(cell.frame, 1, cell.is_single());
        if cell.time >= self.end {
            extra.unsent += 1;
            extra.left_over.join(frame());
            return;
        }
        hop.sent += 1;
        let departed = DepartedCell {
            time: cell.time,
            link: extra.link,
            flow: hop.flow,
            class: hop.class as usize,
            frame: cell.frame,
            cell: cell.cell,
        };
        self.observers.record_departure(&departed);
        let captured = extra.captured;
        if captured {
            self.capture(&cell);
        }
        if lost {
            self.observers.record_loss(&departed);
            if captured {
                self.capture_drop(&cell, DropReason::Link, None);
            }
            return self.drop_cells(cell.hop, DropReason::Link, 1);
        }
        if captured {
            self.capture_on_the_way(&cell);
        }
        let (hop, extra) = (
            &self.hops[cell.hop as usize],
            &self.extras[cell.hop as usize],
        );
        for port in &extra.folded_ports {
            let (time, link) = (cell.time + port.leaves, port.link);
            if time < self.end {
                self.observers.add_to_digest(&DepartedCell {
                    time,
                    link,
                    ..departed
                });
            }
        }
        // An RM cell meets these places before the host, even if it reaches the host only after the
        // end.
        let arrives = cell.time + hop.latency;
        if !extra.feedback_points.is_empty() && extra.stage.is_none() {
            self.log_rm_cell(cell.hop, cell.frame, cell.time, arrives);
        }
        if arrives >= self.end {
            let extra = &mut self.extras[cell.hop as usize];
            extra.late.push(cell.time);
            if self.hops[cell.hop as usize].next == Next::Host {
                extra.left_over.join(frame());
                return;
            }
        }
        self.carry(cell);
    }

    /// Captures the cells of `run` as they leave their station.
    #[cold]
    fn capture(&mut self, run: &Run) {
        let extra = &self.extras[run.hop as usize];
        if let Some(captures) = &mut self.captures {
            let flow = self.hops[run.hop as usize].flow;
            captures.left(extra.link, flow, extra.vc, *run);
        }
    }

    /// Captures the cells of `run` at ports without a queue after their station.
    #[cold]
    fn capture_on_the_way(&mut self, run: &Run) {
        let extra = &self.extras[run.hop as usize];
        let Some(captures) = self.captures.as_mut() else {
            return;
        };
        let flow = self.hops[run.hop as usize].flow;
        for port in &extra.folded_ports {
            let there = run.later(port.leaves);
            let n = there.before(self.end);
            if n > 0 {
                captures.left(port.link, flow, extra.vc, there.first(n));
            }
        }
    }

    /// Whether drops at the port of this hop are captured; if so, cells must be dropped one by one.
    pub fn captures_drops(&self, hop: u32) -> bool {
        self.extras[hop as usize].captured
    }

    /// Captures the first cell of `run`, dropped by the port or lost on its link.
    #[cold]
    pub fn capture_drop(&mut self, run: &Run, reason: DropReason, queue: Option<QueueSnapshot>) {
        let extra = &self.extras[run.hop as usize];
        if let Some(captures) = &mut self.captures {
            let flow = self.hops[run.hop as usize].flow;
            captures.dropped(extra.link, flow, extra.vc, run, reason, queue);
        }
    }

    /// Logs an RM cell that leaves the station of `hop` at `left` and reaches the next one at
    /// `arrives`.
    #[cold]
    fn log_rm_cell(&mut self, hop: u32, frame: u32, left: Time, arrives: Time) {
        let flow = self.hops[hop as usize].flow;
        let places = &self.extras[hop as usize].feedback_points;
        self.logs.log_passage(flow, frame, left, arrives, places);
    }

    /// Whether the link deliberately loses the frame of this cell.
    #[inline(always)]
    fn is_lost(&mut self, cell: &Run) -> bool {
        self.extras[cell.hop as usize].lossy && self.loses(cell)
    }

    /// [`Fabric::is_lost`] for a lossy link. The first cell of a frame decides for the whole frame.
    #[inline(never)]
    fn loses(&mut self, cell: &Run) -> bool {
        let extra = &mut self.extras[cell.hop as usize];
        if extra.loss.is_none_or(|(frame, _)| frame != cell.frame) {
            let losses = self.losses[extra.link as usize].as_mut();
            extra.loss = Some((cell.frame, losses.is_some_and(Losses::next_is_lost)));
        }
        extra.loss.is_some_and(|(_, lost)| lost)
    }

    /// Records why the run cannot continue; only the first reason is reported.
    #[cold]
    pub fn overdue(&mut self, what: Overdue) {
        self.stopped.get_or_insert(Box::new(Stop::Overdue(what)));
    }

    /// Records that the program of the class queue at the start of this hop has failed.
    #[cold]
    pub fn fails_at(&mut self, hop: u32, failure: Failure) {
        let link = self.extras[hop as usize].link as usize;
        let class = Class::ALL[usize::from(self.hops[hop as usize].class)];
        self.fails(link, FailedProgram::Drop(class), failure);
    }

    /// Records that a program at the port of `link` has failed.
    #[cold]
    pub fn fails(&mut self, link: usize, which: FailedProgram, failure: Failure) {
        self.stopped
            .get_or_insert(Box::new(Stop::Program(link, which, failure)));
    }

    /// Records that the class queue at the start of this hop is overdue.
    #[cold]
    pub fn overdue_at(&mut self, hop: u32) {
        let link = self.extras[hop as usize].link as usize;
        self.overdue(Overdue::Queue(link));
    }

    /// Counts `n` cells that `feed` brings to the port of `hop` as dropped on arrival, the first of
    /// them now. That one is `refused`, or its frame was discarded already, or it is policed.
    pub fn drop_arriving(
        &mut self,
        feed: usize,
        hop: u32,
        reason: DropReason,
        n: u32,
        refused: bool,
    ) {
        self.drop_cells(hop, reason, n);
        // A push-out at this instant may have damaged the frame of a cell still to be judged.
        let refused = refused || (reason == DropReason::Rest && self.at_tie.damaged.contains(&hop));
        self.extras[hop as usize].refusals += u64::from(refused);
        if self.tied {
            self.at_tie.dropped.push((feed, refused));
        }
    }

    /// Ends an instant whose cells the inputs brought in the order `taken`, and settles its tie by
    /// the rule `tie` of the port. The feed of input i is `first_feed` + i.
    #[inline(always)]
    pub fn end_tie(
        &mut self,
        tie: &mut TieRule,
        first_feed: usize,
        taken: impl Iterator<Item = u32>,
    ) {
        self.tied = false;
        if !self.at_tie.dropped.is_empty() || !self.at_tie.damaged.is_empty() {
            tie.settle(taken, first_feed, &self.at_tie.dropped);
            self.at_tie.dropped.clear();
            self.at_tie.damaged.clear();
        }
    }

    /// Counts a waiting cell of `hop` as pushed out. It may have `damaged` a frame that still
    /// arrives.
    pub fn push_out(&mut self, hop: u32, damaged: bool) {
        self.drop_cells(hop, DropReason::Front, 1);
        if self.tied && damaged {
            self.at_tie.damaged.push(hop);
        }
    }

    /// Counts `n` cells of a hop as dropped. All losses of any kind are counted here.
    #[inline]
    fn drop_cells(&mut self, hop: u32, reason: DropReason, n: u32) {
        self.extras[hop as usize].dropped[reason] += u64::from(n);
    }

    /// Carries cells to the next station.
    #[inline(always)]
    fn carry(&mut self, run: Run) {
        let hop = &self.hops[run.hop as usize];
        let there = run.later(hop.latency);
        match hop.next {
            Next::Host => self.reach_host(there),
            Next::Port { port, feed, input } => {
                let stage = if hop.one_by_one {
                    self.extras[run.hop as usize].stage
                } else {
                    None
                };
                let there = Run {
                    hop: run.hop + 1,
                    ..there
                };
                match stage {
                    Some(passage) => self.pass_stage(passage, there, port, feed, input),
                    None => self.push(there, port, feed, input),
                }
            }
        }
    }

    /// Appends cells to `feed`, which is `input` of `port`. Times of the run are arrival times.
    #[inline(always)]
    pub fn push(&mut self, run: Run, port: u32, feed: u32, input: u32) {
        if self.feeds[feed as usize].push(run) {
            let woken = &mut self.woken[port as usize];
            if woken.is_empty() {
                self.woken_ports.push(port);
            }
            woken.push(input);
        }
    }

    #[cold]
    fn pass_stage(&mut self, at: FlowStage, mut rest: Run, port: u32, feed: u32, input: u32) {
        while rest.n > 0 {
            let cell = rest.first(1);
            let stage = &mut self.stages[at.stage as usize];
            let Some(time) =
                stage.leaves(cell.time, at.local as usize, cell.frame, cell.cell.number())
            else {
                let link = stage.link;
                return self.overdue(Overdue::Switch(link));
            };
            let from = cell.hop - 1;
            if !self.extras[from as usize].feedback_points.is_empty() {
                let left = cell.time - self.hops[from as usize].latency;
                self.log_rm_cell(from, cell.frame, left, time);
            }
            let age = cell.age + (time - cell.time);
            self.push(Run { time, age, ..cell }, port, feed, input);
            rest.skip(1);
        }
    }

    /// Delivers cells to the destination host. Times are arrival times, all before the end.
    #[inline(always)]
    fn reach_host(&mut self, run: Run) {
        let hop = &self.hops[run.hop as usize];
        let flow = hop.flow;
        let last = run.last();
        let (from, to) = self.measured;
        let ages = if !hop.is_data {
            None
        } else if run.time >= from && last < to {
            Some(Waits::Equal(run.age))
        } else {
            let n = run.before(to) - run.before(from);
            let sink = self.destinations.sink(flow);
            sink.measure_in_part(run.age, u64::from(n), u64::from(run.n - n));
            None
        };
        self.destinations.deliver(flow, &run, run.n, ages, last);
    }
}
