//! Output ports of switches: gates, drop policies, schedulers, and the kernels that move cells.
//!
//! A port pulls: it takes the cells of its input feeds in time order up to a *horizon*, before
//! which nothing else can still arrive. The port's kernel, chosen once per run, decides what
//! happens to each cell:
//! * [`arithmetic`] for one class whose cells have one length: departures are computed on arrival,
//!   and nothing is stored;
//! * [`slotted`] for everything else: explicit queues, one scheduler decision per cell slot.

pub mod arithmetic;
pub mod drop;
pub mod fast_paths;
pub mod gate;
mod inputs;
mod limits;
mod measuring;
mod meter;
mod order;
pub mod police;
mod rhythm;
pub mod sched;
pub mod slotted;
pub mod watch;

use crate::ground::format::Format;
use crate::ground::units::{BitRate, Span, Time};
use crate::network::fabric::{Fabric, Next};
use crate::network::stop::FailedProgram;
use crate::network::tally::{InputRefusals, PortTally};
use arithmetic::Arithmetic;
pub use inputs::Inputs;
use inputs::NextInput;
pub use measuring::Measuring;
use measuring::measured;
pub use meter::Meter;
use slotted::{QueuedCells, Slotted};
use watch::PortProbe;

/// How a port moves cells.
#[derive(Debug)]
pub enum PortKernel {
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
    /// Per other port: shortest time from an arrival there to an arrival here that it causes,
    /// directly or through an answering host.
    pub from_ports: Vec<(u32, Span)>,
    /// Shortest of these times.
    pub shortest_from_ports: Span,
}

/// Upper bounds on how far a port advances in one step, so that no step takes long or floods the
/// feeds behind it.
#[derive(Clone, Copy, Debug)]
pub struct StepBounds {
    /// Longest step.
    pub longest: Span,
    /// Longest short step: even a thousand of these take no noticeable time. After a longer step,
    /// the simulation makes its periodic check at once.
    pub short: Span,
    /// Time that decisions ahead of their time go beyond a step when VCs are served one by one:
    /// some cells of each VC, however many there are. For other schedulers it gains nothing.
    pub ahead: Span,
}

impl StepBounds {
    /// Longest step at any rate, ms; longer ones grow feeds without benefit.
    const LONGEST_MS: u64 = 10;
    /// Most cells that can come and go in the longest step and in a short one; the longest cells
    /// if they differ. With bounds for the shortest, packets of many lengths took 1.9 times as
    /// long.
    const CELLS: [u64; 2] = [10_000, 1_000];

    /// Bounds for a port whose cells use these links; the first is its own.
    pub fn new(format: Format, links: impl Iterator<Item = BitRate> + Clone) -> StepBounds {
        let own = links.clone().next().map_or(0, |rate| rate.0);
        // The sum fits: the reader allows at most a million links of 10^12 bit/s, which is 10^18.
        let all: u64 = links.map(|rate| rate.0).sum();
        let time_of = |cells: u64, rate: u64| {
            let ticks = u128::from(cells) * format.cell_ticks_at_one_bps();
            let time = u64::try_from(ticks / u128::from(rate)).unwrap_or(u64::MAX);
            Span(time.max(1)).min(format.clock.milliseconds(StepBounds::LONGEST_MS))
        };
        let [longest, short] = StepBounds::CELLS.map(|cells| time_of(cells, all));
        StepBounds {
            longest,
            short,
            ahead: time_of(StepBounds::CELLS[0], own),
        }
    }
}

/// An output port that can queue.
#[derive(Debug)]
pub struct Port {
    /// Index of the link that the port sends on.
    pub link: usize,
    /// How soon something unknown can arrive here.
    pub lookahead: Lookahead,
    /// Upper bounds on one step.
    pub steps: StepBounds,
    /// All arrivals before this time have been taken.
    pub done: Time,
    /// Whether the report covers this port's cells and queues.
    pub can_queue: bool,
    /// Inputs that bring the cells.
    pub inputs: Inputs,
    /// Kernel that moves the cells.
    pub kernel: PortKernel,
    /// What is recorded at this port.
    pub probe: Option<Box<PortProbe>>,
    /// Measurements for feedback.
    pub meter: Option<Box<Meter>>,
    /// Readings of the counters; `None` if the measuring time is the whole run.
    pub measuring: Option<Box<Measuring>>,
    /// Hops of the flows that cross this port, for its counters.
    pub hops: Vec<u32>,
}

impl Port {
    /// Inserts newly woken inputs into the order of arrivals.
    #[inline(always)]
    pub fn wake(&mut self, fabric: &mut Fabric, index: usize) {
        if !fabric.woken[index].is_empty() {
            self.wake_inputs(fabric, index);
        }
    }

    #[inline(never)]
    fn wake_inputs(&mut self, fabric: &mut Fabric, index: usize) {
        for i in 0..fabric.woken[index].len() {
            let input = fabric.woken[index][i];
            let time = fabric.feeds[self.inputs.feed(input)].head.time;
            debug_assert!(time >= self.done, "a cell arrives before the horizon");
            self.inputs.order.insert(time, input);
        }
        fabric.woken[index].clear();
    }

    /// [`Port::advance`] for a port in a pool.
    #[inline(never)]
    pub fn advance_in_pool(
        &mut self,
        fabric: &mut Fabric,
        index: usize,
        horizon: Time,
        known_until: Time,
    ) {
        self.advance(fabric, index, horizon, known_until);
    }

    /// Takes all arrivals before `horizon`. Consequences of host events still to come arrive no
    /// sooner than `known_until`.
    #[inline(always)]
    pub fn advance(&mut self, fabric: &mut Fabric, index: usize, horizon: Time, known_until: Time) {
        self.wake(fabric, index);
        let horizon = horizon.min(fabric.end);
        if self.meter.is_some() || self.probe.is_some() || self.measuring.is_some() {
            self.take_and_measure_before(fabric, horizon);
        } else {
            self.take_before(fabric, horizon);
        }
        if let PortKernel::Slotted(k) = &mut self.kernel {
            let beyond = match k.serves_vcs() {
                true => self.steps.ahead,
                false => self.steps.longest,
            };
            k.decide_ahead(fabric, horizon + beyond, known_until);
            if let Some((text, failure)) = k.failure(fabric.end) {
                fabric.fails(self.link, FailedProgram::Scheduler(text), failure);
            }
        }
        if let Some(start) = fabric.earliest_starts.get_mut(index) {
            *start = self.earliest_start(self.done);
        }
        self.wake(fabric, index);
    }

    /// Takes all arrivals before `horizon`, like `take_before`. On the way, this ends averaging
    /// intervals, takes regular samples and reads the counters at the bounds of the measuring time.
    #[inline(never)]
    fn take_and_measure_before(&mut self, fabric: &mut Fabric, horizon: Time) {
        loop {
            let due = self
                .next_measurement()
                .unwrap_or(fabric.end)
                .min(fabric.end);
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
                self.sample_until(fabric, due.max(self.quiet_until(horizon)));
            }
        }
        self.take_before(fabric, horizon);
        fabric.drop_until = fabric.end;
    }

    /// Reads the counters at the bounds of the measuring time up to `time`; everything before that
    /// has been handled.
    fn measure_until(&mut self, fabric: &Fabric, time: Time) {
        while let Some(due) = self.measuring_due().filter(|&due| due <= time) {
            let counted = self.counted(fabric, due);
            match &mut self.kernel {
                PortKernel::Arithmetic(k) => k.restart_largest(due),
                PortKernel::Slotted(k) => k.restart_largest(due),
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

    /// A time, at most `horizon`, before which no cell comes or goes, no averaging interval ends,
    /// and no bound of the measuring time falls.
    fn quiet_until(&self, horizon: Time) -> Time {
        let measured = self.meter.as_ref().map_or(Time::NEVER, |meter| meter.due);
        let bound = self.measuring_due().unwrap_or(Time::NEVER);
        let last = horizon.min(measured).min(bound).0.saturating_sub(1);
        self.next_cell().min(Time(last))
    }

    /// The next end of an averaging interval, bound of the measuring time, or record due for a
    /// probe that does not see each cell.
    fn next_measurement(&self) -> Option<Time> {
        let probe = self.probe.as_ref().filter(|probe| !probe.sees_each_cell());
        let sample = probe.and_then(|probe| probe.next_due());
        let measured = self.meter.as_ref().map(|meter| meter.due);
        let bound = self.measuring_due();
        measured.into_iter().chain(sample).chain(bound).min()
    }

    /// Records what is due up to `time`, if the probe does not see each cell. Everything before
    /// `time` has been handled.
    fn sample_until(&mut self, fabric: &mut Fabric, time: Time) {
        let probe = self.probe.as_mut().filter(|probe| !probe.sees_each_cell());
        let Some(probe) = probe else {
            return;
        };
        match &mut self.kernel {
            PortKernel::Arithmetic(k) => {
                probe.sample_until(time, |time, q| k.snapshot(time).look(q))
            }
            PortKernel::Slotted(k) => k.sample_before(probe, fabric, time),
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
                (PortKernel::Arithmetic(k), Some(p)) if p.sees_each_cell() => {
                    k.advance_watched(inputs, fabric, p, horizon);
                }
                (PortKernel::Slotted(k), Some(p)) if p.sees_each_cell() => {
                    k.advance_watched(inputs, fabric, p, horizon);
                }
                (PortKernel::Arithmetic(k), _) => k.advance(inputs, fabric, horizon),
                (PortKernel::Slotted(k), _) => k.advance(inputs, fabric, horizon),
            }
            self.done = horizon;
        }
    }

    /// The cells waiting in queues here; none for the arithmetic kernel, which passes cells on when
    /// it accepts them.
    pub fn waiting(&self) -> impl Iterator<Item = &QueuedCells> {
        let slotted = match &self.kernel {
            PortKernel::Arithmetic(_) => None,
            PortKernel::Slotted(k) => Some(k.runs()),
        };
        slotted.into_iter().flatten()
    }

    /// The earliest time at which a cell arrives here, or at which the scheduler has a departure to
    /// decide.
    fn next_cell(&self) -> Time {
        let arrival = self.next_arrival();
        match &self.kernel {
            PortKernel::Arithmetic(_) => arrival,
            PortKernel::Slotted(k) => arrival.min(k.next_departure()),
        }
    }

    /// The earliest time at which a cell arrives here.
    pub fn next_arrival(&self) -> Time {
        self.inputs.order.first().map_or(Time::NEVER, |(t, _)| t)
    }

    /// Places times waiting times until `end` of all cells that wait at a port in a pool.
    pub fn place_time(&self, end: Time) -> u128 {
        match &self.kernel {
            PortKernel::Arithmetic(_) => 0,
            PortKernel::Slotted(k) => k.place_time(end),
        }
    }

    /// The earliest time at which this port has anything to do.
    pub fn next_work(&self) -> Time {
        let work = self.next_cell();
        self.meter
            .as_ref()
            .map_or(work, |meter| work.min(meter.due))
    }

    /// A lower bound for the start of any cell that arrives at `time` or later, or that the
    /// scheduler has yet to pick.
    #[inline]
    pub fn earliest_start(&self, time: Time) -> Time {
        let next = match &self.kernel {
            PortKernel::Arithmetic(k) => k.next_start(),
            PortKernel::Slotted(k) => k.next_start(),
        };
        next.max(time)
    }

    /// Brings everything up to date at the end of the run, up to which all arrivals have been
    /// taken.
    pub fn settle_at_end(&mut self, fabric: &mut Fabric) {
        self.settle(fabric);
        self.measure_until(fabric, fabric.end);
    }

    /// Brings feeds, hops and sinks up to date; they may lag while a kernel takes runs of cells.
    fn settle(&mut self, fabric: &mut Fabric) {
        match &mut self.kernel {
            PortKernel::Arithmetic(k) => k.settle(&mut self.inputs, fabric),
            PortKernel::Slotted(_) => {}
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
            PortKernel::Arithmetic(k) => k.finish_probe(probe, end),
            PortKernel::Slotted(k) => probe.finish(end, |_, q| k.look(q)),
        }
    }

    /// Counters at the end of the run.
    pub fn tally(&self, fabric: &Fabric) -> PortTally {
        let mut tally = self.counted(fabric, fabric.end);
        tally.refusals = self.refusals(fabric);
        match &self.measuring {
            Some(measuring) => measuring.complete(&mut tally),
            None => tally.measured = measured(None, &tally),
        }
        tally
    }

    /// Refusals of each input.
    fn refusals(&self, fabric: &Fabric) -> Vec<InputRefusals> {
        let mut refusals = self.inputs.tie.refusals();
        for &index in &self.hops {
            let Next::Port { input, .. } = fabric.hops[index as usize - 1].next else {
                unreachable!("it leads to this port");
            };
            refusals[input as usize].all += fabric.extras[index as usize].refusals;
        }
        refusals
    }

    /// Counters up to `time`, before which everything has been handled. Largest queues count from
    /// their last restart. Cells sent per class are correct only at the end of the run.
    fn counted(&self, fabric: &Fabric, time: Time) -> PortTally {
        let mut tally = match &self.kernel {
            PortKernel::Arithmetic(k) => k.tally(time, fabric.end),
            PortKernel::Slotted(k) => k.tally(time),
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

/// Time that cells still wait after an instant, added up. One cell starts every `c`, the last of
/// them `last` after the instant: `last` + (`last` - c) + ..., over the positive terms.
fn waits_after(last: Span, c: Span) -> u128 {
    let (last, c) = (u128::from(last.0), u128::from(c.0));
    let cells = last.div_ceil(c);
    cells * last - c * (cells * cells.saturating_sub(1) / 2)
}

/// Cells of `class` (`None`: all) that the port of these `hops` has dropped so far.
fn dropped_by(hops: &[u32], fabric: &Fabric, class: Option<usize>) -> u64 {
    let of_class = |&&hop: &&u32| {
        class.is_none_or(|class| usize::from(fabric.hops[hop as usize].class) == class)
    };
    let here = |&hop: &u32| fabric.extras[hop as usize].dropped_by_port();
    hops.iter().filter(of_class).map(here).sum()
}
