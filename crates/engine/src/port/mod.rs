//! Output ports of switches: the gate, drop policies, schedulers, and the kernels that move cells.
//!
//! A port pulls: it takes the cells of its input feeds in time order up to a *horizon* before which nothing else can
//! still arrive. What a port does with a cell is up to its kernel, picked once per run:
//! * [`arithmetic`] for one class at a whole-tick cell time: first come first served is arithmetic, nothing is stored;
//! * [`slotted`] for everything else: explicit queues, one decision of the scheduler per cell slot.

pub mod arithmetic;
pub mod drop;
pub mod gate;
mod measuring;
mod meter;
mod order;
pub mod police;
pub mod sched;
pub mod slotted;
mod tie;
pub mod watch;
pub mod ways;

use crate::fabric::Fabric;
use crate::tally::PortTally;
use crate::units::{BitRate, CELL_BITS, Span, TICKS_PER_SECOND, Time};
use arithmetic::Arithmetic;
pub use measuring::Measuring;
use measuring::measured;
pub use meter::Meter;
use order::Order;
use slotted::{QueuedCells, Slotted};
pub use tie::{Leads, TieRule};
use watch::PortProbe;

/// The way a port moves cells.
#[derive(Debug)]
pub enum Kernel {
    /// See [`arithmetic`].
    Arithmetic(Box<Arithmetic>),
    /// See [`slotted`].
    Slotted(Box<Slotted>),
}

/// How soon something unknown can arrive at a port.
#[derive(Clone, Debug)]
pub struct Lookahead {
    /// Shortest time from an event at a host to an arrival here.
    pub from_hosts: Span,
    /// Shortest time from an arrival at another port to an arrival here that it causes, directly or through a host that
    /// answers: port and time.
    pub from_ports: Vec<(u32, Span)>,
}

/// How far a port goes ahead in one step: so long no step takes, nor grows the feeds of the ports behind it, beyond measure.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// No step is longer.
    pub longest: Span,
    /// Up to here a step is a short one, of so few cells that a thousand of them are nothing to wait for.
    pub short: Span,
}

impl Steps {
    /// A longer step grows feeds without need.
    const LONGEST: Span = Span::from_milliseconds(10);
    /// Most cells that can come and go in one step, and in a short one.
    const CELLS: [u64; 2] = [10_000, 1_000];

    /// Of a port where cells of these links, its own included, come and go.
    pub fn new(links: impl Iterator<Item = BitRate>) -> Steps {
        // A million links of 10^12 bit/s, the most that the reader lets pass, are 10^18.
        let rate: u64 = links.map(|rate| rate.0).sum();
        let time_of = |cells: u64| {
            let ticks = u128::from(cells * CELL_BITS) * u128::from(TICKS_PER_SECOND);
            let all = u64::try_from(ticks / u128::from(rate)).unwrap_or(u64::MAX);
            Span(all.max(1)).min(Steps::LONGEST)
        };
        let [longest, short] = Steps::CELLS.map(time_of);
        Steps { longest, short }
    }
}

/// The inputs of a port, as its kernel sees them.
#[derive(Debug)]
pub struct Inputs {
    /// The first feed; input i is feed `first_feed + i`.
    first_feed: usize,
    /// Those with cells to come.
    order: Order,
    /// Who goes first.
    tie: TieRule,
    /// Inputs whose cells arrive together.
    group: Vec<u32>,
    /// Inputs that take part in rounds.
    members: Vec<arithmetic::RoundInput>,
    /// By input: those whose cells are taken in turns of one.
    interleaved: Vec<arithmetic::Interleaved>,
    /// Inputs whose cells come at one distance, and when the next one does; none but while they are taken.
    turns: Vec<(Time, u32)>,
}

/// The input whose cell comes next.
#[derive(Clone, Copy, Debug)]
struct NextInput {
    /// When that cell arrives.
    time: Time,
    input: u32,
    feed: usize,
    /// When the next cell of another input arrives.
    other: Time,
    /// What arrives from here on is not taken yet.
    horizon: Time,
}

impl NextInput {
    /// What arrives before this comes from this input alone.
    #[inline(always)]
    fn limit(&self) -> Time {
        self.other.min(self.horizon)
    }
}

impl Inputs {
    /// Inputs without cells.
    pub fn new(first_feed: usize, tie: TieRule) -> Inputs {
        Inputs {
            first_feed,
            order: Order::default(),
            tie,
            group: Vec::new(),
            members: Vec::new(),
            interleaved: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// The feed of `input`.
    #[inline(always)]
    fn feed(&self, input: u32) -> usize {
        self.first_feed + input as usize
    }

    /// Takes the inputs whose next cell arrives at `time` off the order into `group`; returns who is first in it: see
    /// [`Inputs::in_turn`].
    #[inline]
    fn coincident(&mut self, time: Time) -> usize {
        self.order.pop_group(time, &mut self.group);
        self.tie.arrange(time, &mut self.group)
    }

    /// The feed of the input that is number `i` of `group` to be handled, when the one at `first` is the first.
    #[inline(always)]
    fn in_turn(&self, first: usize, i: usize) -> usize {
        let (at, n) = (first + i, self.group.len());
        self.feed(self.group[if at < n { at } else { at - n }])
    }

    /// Who brings the next cell, if it comes before `horizon`.
    #[inline(always)]
    fn next(&self, horizon: Time) -> Option<NextInput> {
        let (time, input) = self.order.first().filter(|&(time, _)| time < horizon)?;
        Some(NextInput {
            time,
            input,
            feed: self.feed(input),
            other: self.order.second_time(),
            horizon,
        })
    }

    /// The first input, of which cells at the head of `feed` were taken, goes on if that has `more`.
    #[inline(always)]
    fn go_on(&mut self, fabric: &Fabric, feed: usize, more: bool) {
        if more {
            self.order.postpone_first(fabric.feeds[feed].head.time);
        } else {
            self.order.pop();
        }
    }

    /// Puts the inputs of `group` back, as far as they have more.
    #[inline]
    fn put_back(&mut self, fabric: &Fabric) {
        if !self.tie.is_regular() {
            self.group.sort_unstable();
        }
        self.order
            .put_back(&self.group, &fabric.feeds, self.first_feed);
    }
}

/// An output port that can queue.
#[derive(Debug)]
pub struct Port {
    /// The link it is.
    pub link: usize,
    /// What it must wait for.
    pub ahead: Lookahead,
    /// How far it goes in one step.
    pub steps: Steps,
    /// All arrivals before this have been taken.
    pub done: Time,
    /// Whether `cells` and queues of this port are reported: it can queue.
    pub can_queue: bool,
    /// Where cells come from.
    pub inputs: Inputs,
    /// Its kernel.
    pub kernel: Kernel,
    /// What is recorded here.
    pub probe: Option<Box<PortProbe>>,
    /// What is measured here, for feedback.
    pub meter: Option<Box<Meter>>,
    /// Where the measuring time is not the whole run.
    pub measuring: Option<Box<Measuring>>,
    /// The hops of the flows that cross it, for its counters.
    pub hops: Vec<u32>,
}

impl Port {
    /// Puts woken inputs into the order of arrivals.
    #[inline(always)]
    pub fn wake(&mut self, fabric: &mut Fabric, index: usize) {
        if !fabric.woken[index].is_empty() {
            self.wake_some(fabric, index);
        }
    }

    #[inline(never)]
    fn wake_some(&mut self, fabric: &mut Fabric, index: usize) {
        for i in 0..fabric.woken[index].len() {
            let input = fabric.woken[index][i];
            let time = fabric.feeds[self.inputs.feed(input)].head.time;
            debug_assert!(time >= self.done, "a cell arrives before the horizon");
            self.inputs.order.insert(time, input);
        }
        fabric.woken[index].clear();
    }

    /// Takes all arrivals before `horizon`. What follows from events of hosts that are still to come arrives no sooner than `known_until`.
    pub fn advance(&mut self, fabric: &mut Fabric, index: usize, horizon: Time, known_until: Time) {
        self.wake(fabric, index);
        let horizon = horizon.min(fabric.end);
        if self.meter.is_some() || self.probe.is_some() || self.measuring.is_some() {
            self.take_and_look_before(fabric, horizon);
        } else {
            self.take_before(fabric, horizon);
        }
        if let Kernel::Slotted(k) = &mut self.kernel {
            k.decide_ahead(fabric, horizon + self.steps.longest, known_until);
        }
        self.wake(fabric, index);
    }

    /// The same as `take_before`, with the end of each averaging interval, each regular sample and the bounds of the measuring time before
    /// `horizon`.
    #[inline(never)]
    fn take_and_look_before(&mut self, fabric: &mut Fabric, horizon: Time) {
        loop {
            let due = self.next_look().unwrap_or(fabric.end).min(fabric.end);
            fabric.drop_until = due;
            if due >= horizon {
                break;
            }
            if self.next_cell() < due {
                self.take_before(fabric, due);
            }
            self.settle(fabric);
            self.measure_until(fabric, due);
            if let Some(meter) = self.meter.as_mut().filter(|meter| meter.due == due) {
                meter.end_of_interval(&self.kernel, fabric);
            }
            if self.probe.is_some() {
                self.sample_until(fabric, due.max(self.nothing_until(horizon)));
            }
        }
        self.take_before(fabric, horizon);
        fabric.drop_until = fabric.end;
    }

    /// Takes note of the bounds of the measuring time until `time`, before which everything has been handled.
    fn measure_until(&mut self, fabric: &Fabric, time: Time) {
        while let Some(due) = self.measuring_due().filter(|&due| due <= time) {
            let counted = self.counted(fabric, due);
            match &mut self.kernel {
                Kernel::Arithmetic(k) => k.restart_largest(due),
                Kernel::Slotted(k) => k.restart_largest(due),
            }
            if let Some(measuring) = &mut self.measuring {
                measuring.look(counted);
            }
        }
    }

    fn measuring_due(&self) -> Option<Time> {
        self.measuring
            .as_ref()
            .and_then(|measuring| measuring.due())
    }

    /// Until then, before `horizon`, no cell comes or goes, nor does an averaging interval end, or the measuring time begin or end.
    fn nothing_until(&self, horizon: Time) -> Time {
        let measured = self.meter.as_ref().map_or(Time::NEVER, |meter| meter.due);
        let bound = self.measuring_due().unwrap_or(Time::NEVER);
        let last = horizon.min(measured).min(bound).0.saturating_sub(1);
        self.next_cell().min(Time(last))
    }

    /// When the next averaging interval ends, the measuring time begins or ends, or a probe that does not see each cell has something to record.
    fn next_look(&self) -> Option<Time> {
        let probe = self.probe.as_ref().filter(|probe| !probe.sees_each_cell());
        let sample = probe.and_then(|probe| probe.next_due());
        let measured = self.meter.as_ref().map(|meter| meter.due);
        let bound = self.measuring_due();
        measured.into_iter().chain(sample).chain(bound).min()
    }

    /// Records what is due until `time`, all before which has been handled, if the probe does not see each cell.
    fn sample_until(&mut self, fabric: &mut Fabric, time: Time) {
        let probe = self.probe.as_mut().filter(|probe| !probe.sees_each_cell());
        let Some(probe) = probe else {
            return;
        };
        match &mut self.kernel {
            Kernel::Arithmetic(k) => probe.sample_until(time, |time, q| k.snapshot(time).look(q)),
            Kernel::Slotted(k) => k.sample_before(probe, fabric, time),
        }
        let hops = &self.hops;
        probe.count_drops(time, |class| dropped_by(hops, fabric, class));
    }

    /// Takes all arrivals before `horizon` of inputs that are awake.
    #[inline(always)]
    fn take_before(&mut self, fabric: &mut Fabric, horizon: Time) {
        if horizon > self.done {
            let inputs = &mut self.inputs;
            match (&mut self.kernel, &mut self.probe) {
                (Kernel::Arithmetic(k), Some(p)) if p.sees_each_cell() => {
                    k.advance_watched(inputs, fabric, p, horizon);
                }
                (Kernel::Slotted(k), Some(p)) if p.sees_each_cell() => {
                    k.advance_watched(inputs, fabric, p, horizon);
                }
                (Kernel::Arithmetic(k), _) => k.advance(inputs, fabric, horizon),
                (Kernel::Slotted(k), _) => k.advance(inputs, fabric, horizon),
            }
            self.done = horizon;
        }
    }

    /// The cells of queues that wait here. What the arithmetic kernel has accepted has left for the next station ahead of its time.
    pub fn waiting(&self) -> impl Iterator<Item = &QueuedCells> {
        let slotted = match &self.kernel {
            Kernel::Arithmetic(_) => None,
            Kernel::Slotted(k) => Some(k.runs()),
        };
        slotted.into_iter().flatten()
    }

    /// The earliest time at which a cell arrives here, or leaves what the scheduler has yet to decide.
    fn next_cell(&self) -> Time {
        let arrival = self.inputs.order.first().map_or(Time::NEVER, |(t, _)| t);
        match &self.kernel {
            Kernel::Arithmetic(_) => arrival,
            Kernel::Slotted(k) => arrival.min(k.next_departure()),
        }
    }

    /// The earliest time at which this port has anything to do.
    pub fn next_work(&self) -> Time {
        let work = self.next_cell();
        self.meter
            .as_ref()
            .map_or(work, |meter| work.min(meter.due))
    }

    /// No cell that arrives at `time` or later, nor any on which the scheduler has yet to decide, starts before this.
    #[inline]
    pub fn starts_from(&self, time: Time) -> Time {
        let next = match &self.kernel {
            Kernel::Arithmetic(k) => k.next_start(),
            Kernel::Slotted(k) => k.next_start(),
        };
        next.max(time)
    }

    /// Brings everything up to date at the end of the run, which all arrivals have reached.
    pub fn settle_at_end(&mut self, fabric: &mut Fabric) {
        self.settle(fabric);
        self.measure_until(fabric, fabric.end);
    }

    /// Brings feeds, hops and sinks up to date, which they may not be where runs of cells are being taken.
    fn settle(&mut self, fabric: &mut Fabric) {
        match &mut self.kernel {
            Kernel::Arithmetic(k) => k.settle(&mut self.inputs, fabric),
            Kernel::Slotted(_) => {}
        }
    }

    /// Records what is due until `end`, the end of the run.
    pub fn finish_probe(&mut self, fabric: &Fabric) {
        let (hops, end) = (&self.hops, fabric.end);
        let Some(probe) = &mut self.probe else {
            return;
        };
        if !probe.sees_each_cell() {
            probe.count_drops(end, |class| dropped_by(hops, fabric, class));
        }
        match &mut self.kernel {
            Kernel::Arithmetic(k) => k.finish_probe(probe, end),
            Kernel::Slotted(k) => probe.finish(end, |_, q| k.look(q)),
        }
    }

    /// Counters at the end of the run.
    pub fn tally(&self, fabric: &Fabric) -> PortTally {
        let mut tally = self.counted(fabric, fabric.end);
        match &self.measuring {
            Some(measuring) => measuring.complete(&mut tally),
            None => tally.measured = measured(None, &tally),
        }
        tally
    }

    /// Counters until `time`, before which everything has been handled, the largest queues since they were restarted; what was sent by class
    /// is right at the end of the run only.
    fn counted(&self, fabric: &Fabric, time: Time) -> PortTally {
        let mut tally = match &self.kernel {
            Kernel::Arithmetic(k) => k.tally(time, fabric.end),
            Kernel::Slotted(k) => k.tally(time),
        };
        for &index in &self.hops {
            let hop = &fabric.hops[index as usize];
            let class = &mut tally.classes[hop.class as usize];
            class.sent += hop.sent;
            class.arrived += hop.arrived;
            class.dropped += fabric.extras[index as usize].dropped;
            class.tagged += fabric.extras[index as usize].tagged;
        }
        tally
    }
}

/// How long cells wait from an instant on that start one every `c`, the last of them `last` after it: `last`, `last - c`, and so on, added up as far
/// as they are positive.
fn waits_after(last: Span, c: Span) -> u128 {
    let (last, c) = (u128::from(last.0), u128::from(c.0));
    let cells = last.div_ceil(c);
    cells * last - c * (cells * cells.saturating_sub(1) / 2)
}

/// Cells of a class, or of all, that the port where `hops` begin has dropped so far.
fn dropped_by(hops: &[u32], fabric: &Fabric, class: Option<usize>) -> u64 {
    let of_class = |&&hop: &&u32| {
        class.is_none_or(|class| usize::from(fabric.hops[hop as usize].class) == class)
    };
    let here = |&hop: &u32| fabric.extras[hop as usize].dropped_by_port();
    hops.iter().filter(of_class).map(here).sum()
}
