//! Output ports of switches: drop policies, schedulers, and the kernels that move cells.
//!
//! A port pulls: it takes the cells of its input feeds in time order up to a *horizon* before which nothing else can
//! still arrive. What a port does with a cell is up to its kernel, picked once per run:
//! * [`arithmetic`] for one class at a whole-tick cell time: first come first served is arithmetic, nothing is stored;
//! * [`slotted`] for everything else: explicit queues, one decision of the scheduler per cell slot.

pub mod arithmetic;
pub mod drop;
pub mod merge;
pub mod rounds;
pub mod sched;
pub mod slotted;

use crate::link::Fabric;
use crate::probe::PortProbe;
use crate::scenario::RestOfFrame;
use crate::tally::{DropReason, PortTally};
use arithmetic::Arithmetic;
use drop::{Policy, QueueView};
use merge::{Order, TieRule};
use slotted::Slotted;

/// What the port has decided on the frame of a VC direction that it saw last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameState {
    /// Frame number; `None` before the first frame.
    pub frame: Option<u32>,
    /// The decision.
    pub verdict: Verdict,
}

/// A decision on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its cells are taken while there is room.
    Accepted,
    /// All its cells are dropped.
    Refused,
    /// It has lost a cell; `rest_of_frame` decides.
    Damaged,
}

impl Default for FrameState {
    fn default() -> FrameState {
        FrameState {
            frame: None,
            verdict: Verdict::Accepted,
        }
    }
}

/// One class queue's limits.
#[derive(Clone, Debug)]
pub struct Limits {
    /// K, cells; `u64::MAX` when unlimited.
    pub buffer: u64,
    /// The drop policy.
    pub policy: Policy,
    /// What happens to the rest of a damaged frame.
    pub rest: RestOfFrame,
}

impl Limits {
    /// What happens to a cell that finds the port busy: model section 6, rules 1 to 3. `state` is that of its VC direction at this
    /// port, brought up to date. `eom` tells whether the cell ends its frame.
    pub fn judge(
        &self,
        state: &mut FrameState,
        frame: u32,
        eom: bool,
        queue: &QueueView,
    ) -> Result<(), DropReason> {
        if state.frame != Some(frame) {
            let verdict = if self.policy.refuses(queue) {
                Verdict::Refused
            } else {
                Verdict::Accepted
            };
            *state = FrameState {
                frame: Some(frame),
                verdict,
            };
        }
        match state.verdict {
            Verdict::Refused => return Err(DropReason::Policy),
            Verdict::Damaged if self.drops_rest(eom) => return Err(DropReason::Rest),
            _ => {}
        }
        if queue.waiting >= self.buffer {
            state.verdict = Verdict::Damaged;
            return Err(DropReason::Full);
        }
        Ok(())
    }

    /// Whether a later cell of a damaged frame is dropped whatever room there is.
    pub fn drops_rest(&self, eom: bool) -> bool {
        match self.rest {
            RestOfFrame::Accept => false,
            RestOfFrame::DropButEom => !eom,
            RestOfFrame::Drop => true,
        }
    }
}

/// The way a port moves cells.
#[derive(Debug)]
pub enum Kernel {
    /// See [`arithmetic`].
    Arithmetic(Box<Arithmetic>),
    /// See [`slotted`].
    Slotted(Box<Slotted>),
}

/// How soon something unknown can arrive at a port.
#[derive(Clone, Debug, Default)]
pub struct Lookahead {
    /// Shortest time from an event at a host to an arrival here, ticks.
    pub from_hosts: u64,
    /// Shortest time from an arrival at another port to an arrival here that it causes, directly or through a host that
    /// answers: port and ticks.
    pub from_ports: Vec<(u32, u64)>,
}

/// An output port that can queue.
#[derive(Debug)]
pub struct Port {
    /// The link it is.
    pub link: usize,
    /// Its first feed; input i is feed `first_feed + i`.
    pub first_feed: usize,
    /// What it must wait for.
    pub ahead: Lookahead,
    /// Inputs with cells to come.
    pub order: Order,
    /// Who goes first.
    pub tie: TieRule,
    /// All arrivals before this have been taken, ticks.
    pub done: u64,
    /// Whether `cells` and queues of this port are reported: it can queue.
    pub can_queue: bool,
    /// Its kernel.
    pub kernel: Kernel,
    /// What is recorded here.
    pub probe: Option<Box<PortProbe>>,
    /// Inputs that take part in rounds, for the arithmetic kernel's use.
    pub members: Vec<rounds::Member>,
    /// Inputs whose cells arrive together, for the kernels' use.
    pub group: Vec<u32>,
}

impl Port {
    /// Puts woken inputs into the order of arrivals.
    pub fn wake(&mut self, fabric: &mut Fabric, index: usize) {
        for i in 0..fabric.woken[index].len() {
            let input = fabric.woken[index][i];
            self.order.insert(
                fabric.feeds[self.first_feed + input as usize].head.time,
                input,
            );
        }
        fabric.woken[index].clear();
    }

    /// Takes all arrivals before `horizon`.
    pub fn advance(&mut self, fabric: &mut Fabric, index: usize, horizon: u64) {
        self.wake(fabric, index);
        let horizon = horizon.min(fabric.end);
        if horizon > self.done {
            match &self.kernel {
                Kernel::Arithmetic(_) => arithmetic::advance(self, fabric, horizon),
                Kernel::Slotted(_) => slotted::advance(self, fabric, horizon),
            }
            self.done = horizon;
        }
        self.wake(fabric, index);
    }

    /// The earliest time at which this port has anything to do, ticks.
    pub fn next_work(&self) -> u64 {
        let arrival = self.order.first().map_or(u64::MAX, |(time, _)| time);
        match &self.kernel {
            Kernel::Arithmetic(_) => arrival,
            Kernel::Slotted(k) => arrival.min(k.next_departure()),
        }
    }

    /// Counters at the end of the run, which all arrivals have reached.
    pub fn tally(&self, fabric: &Fabric) -> PortTally {
        let mut tally = match &self.kernel {
            Kernel::Arithmetic(k) => k.tally(fabric.end),
            Kernel::Slotted(k) => k.tally(fabric.end),
        };
        let all = fabric.hops.iter().zip(&fabric.extras);
        for (hop, extra) in all.filter(|(_, extra)| extra.link as usize == self.link) {
            let class = &mut tally.classes[hop.class as usize];
            class.sent += hop.sent;
            class.arrived += hop.arrived;
            for (sum, dropped) in class.dropped.iter_mut().zip(extra.dropped) {
                *sum += dropped;
            }
        }
        tally
    }
}
