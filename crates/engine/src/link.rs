//! Transmission: what leaves a NIC or a port is carried to the next port that can queue, or to the host.
//!
//! Between two such stages nothing can happen to a cell but a constant delay: a port with one input whose cells are never
//! closer than its own cell time never makes one wait. Those ports are folded into the latency of
//! the stage before them; only their counters remain, and are filled in at the end.

use crate::aal5::Reassembly;
use crate::port::FrameState;
use crate::port::merge::{ENDS_FRAME, Feed, Run, SINGLE_CELLS};
use crate::probe::{IntervalSum, TraceEntry};
use crate::rng::Stream;
use crate::scenario::{Processing, ProcessingKind, ProcessingUnit};
use crate::tally::{DelayBins, DelayTally, DropReason, digest};
use crate::units::Ratio;
use std::collections::{HashMap, VecDeque};

/// Where cells go after a stage.
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

/// How a VC direction goes through one stage (a NIC or a port that can queue): what is looked at for every cell. The hops of a
/// direction stand one after the other, so the next hop is the next index.
#[derive(Clone, Debug)]
pub struct Hop {
    /// Where cells go.
    pub next: Next,
    /// From the end of the transmission here to the arrival there, ticks.
    pub latency: u64,
    /// Cells whose last bit left before the end.
    pub sent: u64,
    /// Cells that arrived at the port.
    pub arrived: u64,
    /// What the port has decided on the current frame.
    pub frame_state: FrameState,
    /// VC direction.
    pub direction: u32,
    /// Number of the direction among those of the port.
    pub local: u32,
    /// Class index.
    pub class: u8,
    /// Whether this is the data direction.
    pub is_data: bool,
    /// Whether its cells must be looked at one by one when they leave: lost on purpose, delayed by a switch, or counted by a probe.
    pub one_by_one: bool,
}

/// The rest of what belongs to a hop.
#[derive(Clone, Debug, Default)]
pub struct HopExtra {
    /// The link the stage sends on.
    pub link: u32,
    /// Processing stage in front of the next port.
    pub stage: Option<u32>,
    /// Ports without a queue on the way: link, and from the end of transmission here to the end of transmission there.
    pub through: Vec<(u32, u64)>,
    /// Loss on purpose on the link of this stage, when this is a data direction.
    pub lossy: bool,
    /// Frame last seen beginning on a lossy link, and whether it is lost.
    pub loss: Option<(u32, bool)>,
    /// Cells dropped here, by reason.
    pub dropped: [u64; 4],
    /// Departures so late that the end of the run comes while they are on their way.
    pub late: Vec<u64>,
}

/// Cells that leave a stage.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// End of the first cell's transmission, ticks.
    pub time: u64,
    /// Distance of the ends of transmission, ticks.
    pub period: u64,
    /// Time since the first cell left its source host; the same for all.
    pub age: u64,
    /// Cells.
    pub n: u32,
    /// Frame number of the first cell.
    pub frame: u32,
    /// Number of the first cell within its frame.
    pub cell: u32,
    /// As in [`Run`].
    pub flags: u8,
}

/// Losses on purpose of one link.
#[derive(Debug)]
pub struct Losses {
    /// Data frames that have begun so far.
    pub count: u64,
    /// Numbers to lose, ascending.
    pub frames: Vec<u64>,
    /// Probability to lose any.
    pub probability: Ratio,
    /// For the probability.
    pub stream: Stream,
}

impl Losses {
    /// Whether the data frame that begins now is lost.
    fn next_is_lost(&mut self) -> bool {
        let number = self.count;
        self.count += 1;
        let listed = self.frames.binary_search(&number).is_ok();
        listed || (self.probability.num > 0 && self.stream.unit(number) < self.probability.as_f64())
    }
}

/// A switch's processing stage behind one input link, when its delay is not constant.
#[derive(Debug)]
pub struct SwitchStage {
    /// The delay.
    pub delay: Processing,
    /// The draws of each VC direction.
    pub streams: Vec<Stream>,
    /// When the last cell left, if any did.
    pub last: Option<u64>,
    /// Per VC direction: the frame last seen.
    pub frames: Vec<Option<u32>>,
}

impl SwitchStage {
    /// When a cell that arrives at `time` reaches the output port.
    fn leaves(&mut self, time: u64, direction: u32, frame: u32, cell: u32) -> u64 {
        let seen = &mut self.frames[direction as usize];
        let first_of_frame = *seen != Some(frame);
        *seen = Some(frame);
        let per_cell = self.delay.per == ProcessingUnit::Cell;
        let number = u64::from(frame)
            .wrapping_mul(1 << 12)
            .wrapping_add(if per_cell { u64::from(cell) } else { 0 });
        let takes = processing_time(&self.delay, self.streams[direction as usize], number);
        let earliest = self.last.map_or(0, |last| last + 1);
        let leaves = match self.delay.kind {
            ProcessingKind::Latency => time + takes,
            ProcessingKind::Server => {
                let takes = if per_cell || first_of_frame { takes } else { 0 };
                time.max(self.last.unwrap_or(0)) + takes
            }
        }
        .max(earliest);
        self.last = Some(leaves);
        leaves
    }
}

/// Draw number `number` of a processing time, ticks.
pub fn processing_time(delay: &Processing, stream: Stream, number: u64) -> u64 {
    let spread = delay.spread.0;
    if spread == 0 {
        delay.mean.0
    } else {
        delay.mean.0 - spread + stream.below(number, 2 * spread + 1)
    }
}

/// A frame that has arrived at its destination host.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// VC direction.
    pub direction: u32,
    /// Frame number.
    pub frame: u32,
    /// Arrival of the EOM's last bit, ticks.
    pub time: u64,
}

/// What reaches the hosts of one VC direction.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    /// The frame being collected.
    pub reassembly: Reassembly,
    /// Cells of a full frame.
    pub frame_cells: u32,
    /// Frames that differ: (frame, cells), ascending.
    pub odd_frames: VecDeque<(u32, u32)>,
    /// Cells that arrived before the end.
    pub cells: u64,
    /// Complete frames that arrived before the end.
    pub frames: u64,
    /// Incomplete ones.
    pub damaged: u64,
    /// Cells of a cell source that arrived within the measuring time.
    pub measured_cells: u64,
    /// Transfer delays within the measuring time, data only.
    pub delay: DelayTally,
}

impl Sink {
    /// Takes `n` cells of `frame`, the last of them an EOM if `ends`; true when that completes a good frame.
    #[inline(always)]
    pub fn take(&mut self, frame: u32, n: u32, ends: bool) -> bool {
        self.reassembly.take(frame, n);
        if !ends {
            return false;
        }
        while self.odd_frames.front().is_some_and(|&(odd, _)| odd < frame) {
            self.odd_frames.pop_front();
        }
        let good = self.reassembly.end(self.cells_of(frame));
        if good {
            self.frames += 1
        } else {
            self.damaged += 1
        }
        good
    }

    /// Cells of a frame that has been sent and not been passed by a later one.
    pub fn cells_of(&self, frame: u32) -> u32 {
        if self.odd_frames.is_empty() {
            return self.frame_cells;
        }
        let odd = self.odd_frames.iter().find(|&&(odd, _)| odd == frame);
        odd.map_or(self.frame_cells, |&(_, cells)| cells)
    }
}

/// Everything between the stages, and what it counts.
#[derive(Debug)]
pub struct Fabric {
    /// The hops of all VC directions.
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
    /// Per VC direction.
    pub sinks: Vec<Sink>,
    /// Good frames that have reached their host, in the order in which that became known.
    pub arrivals: Vec<Arrival>,
    /// By class index.
    pub class_delays: [DelayBins; 5],
    /// Shares of watched links: probe, class, cells per interval.
    pub shares: HashMap<u32, Vec<(usize, Option<usize>, IntervalSum)>>,
    /// VCs whose drops are traced.
    pub traced_vcs: Vec<usize>,
    /// Their cells that links lost on purpose, with the link.
    pub lost: Vec<(u32, TraceEntry)>,
    /// End of the run, ticks.
    pub end: u64,
    /// Measuring time [from, to), ticks.
    pub measured: (u64, u64),
    /// Sum of the cells' digests, when asked for.
    pub digest: Option<u64>,
}

impl Fabric {
    /// Cells leave the stage `hop`.
    #[inline(always)]
    pub fn depart(&mut self, hop_index: usize, d: Departure) {
        let hop = &mut self.hops[hop_index];
        let last = d.time + u64::from(d.n - 1) * d.period;
        if last + hop.latency >= self.end || hop.one_by_one || self.digest.is_some() {
            return self.depart_one_by_one(hop_index, d);
        }
        hop.sent += u64::from(d.n);
        self.carry(hop_index, d);
    }

    /// The same for cells that the end of the run, a loss or the digest may treat differently from each other.
    #[cold]
    #[inline(never)]
    fn depart_one_by_one(&mut self, hop_index: usize, d: Departure) {
        for i in 0..d.n {
            let single = d.flags & SINGLE_CELLS != 0;
            let one = Departure {
                time: d.time + u64::from(i) * d.period,
                n: 1,
                frame: d.frame + if single { i } else { 0 },
                cell: d.cell + if single { 0 } else { i },
                flags: if single || i + 1 == d.n {
                    d.flags
                } else {
                    d.flags & !ENDS_FRAME
                },
                ..d
            };
            let hop = &mut self.hops[hop_index];
            let extra = &mut self.extras[hop_index];
            let lost = extra.lossy && {
                if extra.loss.is_none_or(|(frame, _)| frame != one.frame) {
                    let losses = self.losses[extra.link as usize].as_mut();
                    extra.loss = Some((one.frame, losses.is_some_and(Losses::next_is_lost)));
                }
                extra.loss.is_some_and(|(_, lost)| lost)
            };
            if one.time >= self.end {
                continue;
            }
            hop.sent += 1;
            for (_, class, sum) in self.shares.get_mut(&extra.link).into_iter().flatten() {
                if class.is_none_or(|c| c == hop.class as usize) {
                    sum.add(one.time, 1.0);
                }
            }
            if let Some(sum) = &mut self.digest {
                let (direction, end) = (hop.direction as usize, self.end);
                *sum = sum.wrapping_add(digest(
                    extra.link as usize,
                    one.time,
                    direction,
                    one.frame,
                    one.cell,
                ));
                for &(link, offset) in extra
                    .through
                    .iter()
                    .filter(|t| one.time + t.1 < end && !lost)
                {
                    *sum = sum.wrapping_add(digest(
                        link as usize,
                        one.time + offset,
                        direction,
                        one.frame,
                        one.cell,
                    ));
                }
            }
            if lost {
                let vc = (hop.direction / 2) as usize;
                if self.traced_vcs.contains(&vc) {
                    let entry = TraceEntry {
                        time: one.time,
                        direction: hop.direction,
                        frame: one.frame,
                        cell: one.cell,
                        reason: DropReason::Link,
                        queue: None,
                    };
                    self.lost.push((extra.link, entry));
                }
                extra.dropped[DropReason::Link as usize] += 1;
                continue;
            }
            if one.time + hop.latency >= self.end {
                extra.late.push(one.time);
                if hop.next == Next::Host {
                    continue;
                }
            }
            self.carry(hop_index, one);
        }
    }

    /// Brings cells to the next stage.
    #[inline(always)]
    fn carry(&mut self, hop_index: usize, d: Departure) {
        let hop = &self.hops[hop_index];
        let time = d.time + hop.latency;
        let age = d.age + hop.latency;
        match hop.next {
            Next::Host => self.reach_host(hop_index, Departure { time, age, ..d }),
            Next::Port { port, feed, input } => {
                let run = Run {
                    time,
                    period: d.period,
                    age,
                    n: d.n,
                    frame: d.frame,
                    cell: d.cell,
                    hop: hop_index as u32 + 1,
                    flags: d.flags,
                };
                if hop.one_by_one
                    && let Some(stage) = self.extras[hop_index].stage
                {
                    self.pass_stage(stage, run, port, feed, input);
                } else {
                    self.push(run, port, feed, input);
                }
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, run: Run, port: u32, feed: u32, input: u32) {
        if self.feeds[feed as usize].push(run) {
            let woken = &mut self.woken[port as usize];
            if woken.is_empty() {
                self.woken_ports.push(port);
            }
            woken.push(input);
        }
    }

    #[cold]
    fn pass_stage(&mut self, stage: u32, run: Run, port: u32, feed: u32, input: u32) {
        let direction = self.hops[run.hop as usize].direction;
        let mut rest = run;
        while rest.n > 0 {
            let eom = rest.ends_frame(0);
            let leaves =
                self.stages[stage as usize].leaves(rest.time, direction, rest.frame, rest.cell);
            let flags = if eom {
                rest.flags
            } else {
                rest.flags & !ENDS_FRAME
            };
            let one = Run {
                time: leaves,
                age: rest.age + (leaves - rest.time),
                n: 1,
                flags,
                ..rest
            };
            self.push(one, port, feed, input);
            rest.skip(1);
        }
    }

    /// Cells reach the destination host (times are arrival times, all before the end).
    #[inline(always)]
    fn reach_host(&mut self, hop_index: usize, d: Departure) {
        let hop = &self.hops[hop_index];
        let direction = hop.direction;
        let last = d.time + u64::from(d.n - 1) * d.period;
        let sink = &mut self.sinks[direction as usize];
        sink.cells += u64::from(d.n);
        if hop.is_data {
            let (from, to) = self.measured;
            let n = if d.time >= from && last < to {
                u64::from(d.n)
            } else {
                (0..u64::from(d.n))
                    .filter(|i| (from..to).contains(&(d.time + i * d.period)))
                    .count() as u64
            };
            if n > 0 {
                sink.delay.add(d.age, n);
                self.class_delays[hop.class as usize].add(d.age, n);
                if d.flags & SINGLE_CELLS != 0 {
                    sink.measured_cells += n;
                }
            }
        }
        if d.flags & SINGLE_CELLS != 0 {
            sink.frames += u64::from(d.n);
            return;
        }
        if sink.take(d.frame, d.n, d.flags & ENDS_FRAME != 0) {
            self.arrivals.push(Arrival {
                direction,
                frame: d.frame,
                time: last,
            });
        }
    }
}
