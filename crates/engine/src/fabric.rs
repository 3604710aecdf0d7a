//! Transmission: what leaves a station is carried to the next one, or to the host.
//!
//! A *station* is where cells are sent from: a NIC, or a port that can queue. Between two stations nothing can happen to a cell but
//! a constant delay: a port with one input whose cells are never closer than its own cell time never makes one wait. Those ports are
//! folded into the latency of the station before them; only their counters remain, and are filled in at the end.

use crate::abr::{Logs, Passing};
use crate::capture::Captures;
use crate::cells::{Feed, FrameState, FramesAt, Run};
use crate::delays::Waits;
use crate::flow::FlowId;
use crate::loss::Losses;
use crate::observe::{Leaving, Observers};
use crate::processing::SwitchStage;
use crate::record::FoundQueue;
use crate::sink::Destinations;
use crate::stop::Overdue;
use crate::tally::{DropReason, Dropped};
use crate::units::{Span, Time};

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

/// How a flow goes through one station: what is looked at for every cell. The hops of a flow stand one after the other, so the next
/// hop is the next index.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Hop {
    /// Where cells go.
    pub next: Next,
    /// From the end of the transmission here to the arrival there.
    pub latency: Span,
    /// Cells whose last bit left before the end.
    pub sent: u64,
    /// Cells that arrived at the port.
    pub arrived: u64,
    /// What the port has decided on the current frame.
    pub frame_state: FrameState,
    /// Its flow.
    pub flow: FlowId,
    /// Number of the flow among those of the port.
    pub local: u32,
    /// Class index.
    pub class: u8,
    /// Whether this is a data flow.
    pub is_data: bool,
    /// Whether its cells must be looked at when they leave, one by one unless [`HopExtra::goes_together`]: lost on purpose, delayed by a
    /// switch, counted by a probe, or summed up in a digest.
    pub one_by_one: bool,
}

impl Hop {
    /// `cells` cells of `frame` have arrived and are accepted, and leave before the end.
    pub fn let_through(&mut self, frame: u32, cells: u64) {
        self.frame_state = FrameState::accepted(frame);
        self.arrived += cells;
        self.sent += cells;
    }
}

/// A port that is folded into the latency of a hop; both times count from the end of transmission by the station.
#[derive(Clone, Copy, Debug)]
pub struct Through {
    /// Its link.
    pub link: u32,
    /// Until the arrival there.
    pub arrives: Span,
    /// Until the end of transmission there.
    pub leaves: Span,
}

/// A processing stage on the way of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Its number.
    pub stage: u32,
    /// Number of the flow among those of the link before it.
    pub local: u32,
}

/// The rest of what belongs to a hop.
#[derive(Clone, Debug, Default)]
pub struct HopExtra {
    /// The link that the station sends on.
    pub link: u32,
    /// Processing stage in front of the next port.
    pub stage: Option<Passage>,
    /// Ports without a queue on the way.
    pub through: Vec<Through>,
    /// Where RM cells are told something on the way, or tell it; for flows of RM cells.
    pub passings: Vec<Passing>,
    /// Its VC.
    pub vc: usize,
    /// Whether its cells are captured on the link of this station, or at a port without a queue on the way.
    pub captured: bool,
    /// Loss on purpose on the link of this station, when this is a data flow.
    pub lossy: bool,
    /// Whether its cells are no more than lost or counted: those of a frame share their fate, and leave together.
    pub goes_together: bool,
    /// Frame last seen beginning on a lossy link, and whether it is lost.
    pub loss: Option<(u32, bool)>,
    /// Cells dropped here.
    pub dropped: Dropped,
    /// Cells tagged here.
    pub tagged: u64,
    /// Cells that had not left when the run ended.
    pub unsent: u64,
    /// Departures so late that the end of the run comes while they are on their way.
    pub late: Vec<Time>,
    /// Frames of the cells that had not left then, or were on their way to the host.
    pub left_over: FramesAt,
}

impl HopExtra {
    /// Cells dropped by the port here; those that the link loses have left it.
    pub fn dropped_by_port(&self) -> u64 {
        self.dropped.total() - self.dropped[DropReason::Link]
    }
}

/// Everything between the stations, and what it counts.
#[derive(Debug)]
pub struct Fabric {
    /// The hops of all flows.
    pub hops: Vec<Hop>,
    /// The rest of them.
    pub extras: Vec<HopExtra>,
    /// The feeds of all ports.
    pub feeds: Vec<Feed>,
    /// Per port: inputs that got a run while they were empty.
    pub woken: Vec<Vec<u32>>,
    /// Ports that were woken since the main loop last looked.
    pub woken_ports: Vec<u32>,
    /// Processing stages of switches.
    pub stages: Vec<SwitchStage>,
    /// Per link: losses on purpose.
    pub losses: Vec<Option<Losses>>,
    /// What has reached the hosts.
    pub destinations: Destinations,
    /// RM cells under way, and what they meet.
    pub logs: Logs,
    /// What is watched.
    pub observers: Observers,
    /// What is written into files.
    pub captures: Option<Box<Captures>>,
    /// End of the run.
    pub end: Time,
    /// Until when a port may drop the rest of a frame at once: the end, or less where it is measured before.
    pub drop_until: Time,
    /// Measuring time [from, to).
    pub measured: (Time, Time),
    /// Why the run cannot go on, if so.
    pub stopped: Option<Overdue>,
}

impl Fabric {
    /// The cells of `run`, whose times are the ends of their transmission, leave the station of its hop.
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

    /// The same for cells that the end of the run, a loss or an observer may treat differently from each other.
    #[cold]
    fn depart_one_by_one(&mut self, mut run: Run) {
        let hop = &mut self.hops[run.hop as usize];
        if !hop.one_by_one {
            // It is the end of the run: most of them may still be in time.
            let n = run.before(Time(self.end.0.saturating_sub(hop.latency.0)));
            if n > 0 {
                hop.sent += u64::from(n);
                self.carry(run.first(n));
                run.skip(n);
            }
        } else if self.leaves_together(&run) {
            let hop = &mut self.hops[run.hop as usize];
            hop.sent += u64::from(run.n);
            let HopExtra { link, captured, .. } = self.extras[run.hop as usize];
            self.observers.left_together(link, hop.class as usize, run);
            if captured {
                self.capture(&run);
                self.capture_on_the_way(&run);
            }
            return self.carry(run);
        }
        while run.n > 0 {
            let one = run.first(1);
            run.skip(1);
            self.depart_one(one);
        }
    }

    /// Whether the cells of `run` leave before the end, and none of them is lost or looked at by itself.
    fn leaves_together(&mut self, run: &Run) -> bool {
        let (hop, extra) = (&self.hops[run.hop as usize], &self.extras[run.hop as usize]);
        let in_time = run.last() + hop.latency < self.end;
        extra.goes_together && in_time && (!extra.lossy || (!run.is_single() && !self.is_lost(run)))
    }

    fn depart_one(&mut self, one: Run) {
        let lost = self.is_lost(&one);
        let hop = &mut self.hops[one.hop as usize];
        let extra = &mut self.extras[one.hop as usize];
        let frame = || FramesAt::of_cells(one.frame, 1, one.is_single());
        if one.time >= self.end {
            extra.unsent += 1;
            extra.left_over.join(frame());
            return;
        }
        hop.sent += 1;
        let cell = Leaving {
            time: one.time,
            link: extra.link,
            flow: hop.flow,
            class: hop.class as usize,
            frame: one.frame,
            cell: one.cell,
        };
        self.observers.left(&cell);
        let captured = extra.captured;
        if captured {
            self.capture(&one);
        }
        if lost {
            self.observers.lost(&cell);
            if captured {
                self.capture_drop(&one, DropReason::Link, None);
            }
            return self.drop_cells(one.hop, DropReason::Link, 1);
        }
        if captured {
            self.capture_on_the_way(&one);
        }
        let (hop, extra) = (&self.hops[one.hop as usize], &self.extras[one.hop as usize]);
        for port in &extra.through {
            let (time, link) = (one.time + port.leaves, port.link);
            if time < self.end {
                self.observers.sum_up(&Leaving { time, link, ..cell });
            }
        }
        // The places that an RM cell passes come before the host: they see it even if it arrives there only after the end.
        let arrives = one.time + hop.latency;
        if !extra.passings.is_empty() && extra.stage.is_none() {
            self.pass(one.hop, one.frame, one.time, arrives);
        }
        if arrives >= self.end {
            let extra = &mut self.extras[one.hop as usize];
            extra.late.push(one.time);
            if self.hops[one.hop as usize].next == Next::Host {
                extra.left_over.join(frame());
                return;
            }
        }
        self.carry(one);
    }

    /// Captures the cells of `run`, which leave their station.
    #[cold]
    fn capture(&mut self, run: &Run) {
        let extra = &self.extras[run.hop as usize];
        if let Some(captures) = &mut self.captures {
            let flow = self.hops[run.hop as usize].flow;
            captures.left(extra.link, flow, extra.vc, *run);
        }
    }

    /// Captures the cells of `run`, which have left their station, at ports without a queue on the way.
    #[cold]
    fn capture_on_the_way(&mut self, run: &Run) {
        let extra = &self.extras[run.hop as usize];
        let Some(captures) = self.captures.as_mut() else {
            return;
        };
        let flow = self.hops[run.hop as usize].flow;
        for port in &extra.through {
            let there = run.later(port.leaves);
            let n = there.before(self.end);
            if n > 0 {
                captures.left(port.link, flow, extra.vc, there.first(n));
            }
        }
    }

    /// Whether cells of a hop that its port drops are captured; then they must be dropped one by one.
    pub fn captures_drops(&self, hop: u32) -> bool {
        self.extras[hop as usize].captured
    }

    /// Captures the first cell of `run`, which the port here drops or its link loses.
    #[cold]
    pub fn capture_drop(&mut self, run: &Run, reason: DropReason, queue: Option<FoundQueue>) {
        let extra = &self.extras[run.hop as usize];
        if let Some(captures) = &mut self.captures {
            let flow = self.hops[run.hop as usize].flow;
            captures.dropped(extra.link, flow, extra.vc, run, reason, queue);
        }
    }

    /// An RM cell that leaves the station of `hop` at `left` will reach the next one at `arrives`.
    #[cold]
    fn pass(&mut self, hop: u32, frame: u32, left: Time, arrives: Time) {
        let flow = self.hops[hop as usize].flow;
        let places = &self.extras[hop as usize].passings;
        self.logs.pass(flow, frame, left, arrives, places);
    }

    /// Whether the link loses the frame of this cell on purpose.
    #[inline(always)]
    fn is_lost(&mut self, one: &Run) -> bool {
        self.extras[one.hop as usize].lossy && self.loses(one)
    }

    /// The same of a link that loses frames; decided when the first cell of a frame comes.
    #[inline(never)]
    fn loses(&mut self, one: &Run) -> bool {
        let extra = &mut self.extras[one.hop as usize];
        if extra.loss.is_none_or(|(frame, _)| frame != one.frame) {
            let losses = self.losses[extra.link as usize].as_mut();
            extra.loss = Some((one.frame, losses.is_some_and(Losses::next_is_lost)));
        }
        extra.loss.is_some_and(|(_, lost)| lost)
    }

    /// Notes what the run cannot go on for; the first is told.
    #[cold]
    pub fn overdue(&mut self, what: Overdue) {
        self.stopped.get_or_insert(what);
    }

    /// The same of the class queue that a hop begins with.
    #[cold]
    pub fn overdue_at(&mut self, hop: u32) {
        let link = self.extras[hop as usize].link as usize;
        self.overdue(Overdue::Queue(link));
    }

    /// Counts `n` cells of a hop as dropped: the one place for losses of any kind.
    #[inline]
    pub fn drop_cells(&mut self, hop: u32, reason: DropReason, n: u32) {
        self.extras[hop as usize].dropped[reason] += u64::from(n);
    }

    /// Brings cells to the next station.
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

    /// Brings cells to `feed`, which is `input` of `port`; their time is that of arrival there.
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
    fn pass_stage(&mut self, at: Passage, mut rest: Run, port: u32, feed: u32, input: u32) {
        while rest.n > 0 {
            let one = rest.first(1);
            let stage = &mut self.stages[at.stage as usize];
            let Some(time) = stage.leaves(one.time, at.local as usize, one.frame, one.cell) else {
                let link = stage.link;
                return self.overdue(Overdue::Switch(link));
            };
            let from = one.hop - 1;
            if !self.extras[from as usize].passings.is_empty() {
                let left = one.time - self.hops[from as usize].latency;
                self.pass(from, one.frame, left, time);
            }
            let age = one.age + (time - one.time);
            self.push(Run { time, age, ..one }, port, feed, input);
            rest.skip(1);
        }
    }

    /// Cells reach the destination host (times are arrival times, all before the end).
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
