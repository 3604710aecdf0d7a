//! The kernel for one class served first come first served at a whole-tick cell time.
//!
//! With constant service the last accepted cell's start S fixes everything: the next cell starts at S + c (c the cell
//! time) or, if the port is idle, at once; and the starts of the waiting cells are S, S - c, S - 2c, ... So the cells waiting
//! at t are counted by dividing S - t by c, thresholds are compared as times, and no cell is stored and no departure is
//! an event: where a cell goes on to is known when it is accepted. The first cell of a busy period starts on arrival and
//! never waits, hence the correction at the very instant a busy period begins.
//!
//!   arrivals first:    X(t) = #{starts >= t}, without the first of the busy period
//!   departures first:  X(t) = #{starts > t}
//!
//! Y_i and N_a, when a policy asks for them, come from a queue of (VC, cells) that is shortened to X when it is looked at.
//! Cells of one run that arrive at distance c while no other input brings any are taken together: all see the
//! same X and wait equally long.

use super::counts::Counts;
use super::drop::QueueView;
use super::gate::{Gate, Verdict};
use super::watch::{Outcome, PortProbe, Quantity, Seen, found};
use super::{Inputs, rounds};
use crate::cells::{Fate, FrameState, Run};
use crate::fabric::Fabric;
use crate::tally::PortTally;
use crate::units::{Span, Time};

/// State of the kernel.
#[derive(Debug)]
pub struct Arithmetic {
    gate: Gate,
    class: usize,
    /// c.
    cell_time: Span,
    arrival_first: bool,
    /// S: start of the last accepted cell, ticks; before the first, long ago.
    start: i64,
    /// Start of the first cell of the busy period, ticks.
    busy_since: i64,
    /// S - t (corrected, ticks) at which X reaches K, and at which the policy may refuse.
    full: i64,
    refusal: i64,
    /// Y_i per local VC number, N_a, and the cells they count, when needed.
    counts: Option<Counts>,
    accepted: u64,
    /// Largest corrected S - t just after an acceptance.
    longest: i64,
    queue_time: u128,
}

impl Arithmetic {
    /// For the class queue behind `gate` at a port with cell time `cell_time` that `vcs` flows cross. `counts`
    /// keeps Y_i and N_a even if the policy does not ask for them.
    pub fn new(
        gate: Gate,
        class: usize,
        cell_time: Span,
        arrival_first: bool,
        vcs: usize,
        counts: bool,
    ) -> Arithmetic {
        let reaches = |x: u64| -> i64 {
            let below = u128::from(x.saturating_sub(1)) * u128::from(cell_time.0)
                + u128::from(!arrival_first);
            i64::try_from(below).unwrap_or(i64::MAX)
        };
        let needed = counts || gate.needs().vc_counts;
        Arithmetic {
            full: reaches(gate.full()),
            refusal: reaches(gate.refusal()),
            gate,
            class,
            cell_time,
            arrival_first,
            start: i64::MIN / 2,
            busy_since: i64::MIN / 2,
            counts: needed.then(|| Counts::new(vcs)),
            accepted: 0,
            longest: i64::MIN,
            queue_time: 0,
        }
    }

    /// Whether a queue behind `gate` can be served by this kernel: whatever is accepted leaves, and runs of cells can be judged
    /// together.
    pub fn serves(gate: &Gate) -> bool {
        !gate.needs().every_cell
    }

    /// c.
    pub fn cell_time(&self) -> Span {
        self.cell_time
    }

    /// Index of the class.
    pub fn class(&self) -> usize {
        self.class
    }

    /// Start of the last accepted cell; not before the first.
    pub fn last_start(&self) -> Time {
        Time(self.start as u64)
    }

    /// Whether the port is busy at `t` with a busy period that began before.
    pub fn is_steady_at(&self, t: Time) -> bool {
        let t = t.0 as i64;
        !self.idle_at(t) && t != self.busy_since
    }

    /// How many cells may join before X reaches a limit, the policy's too if a frame `begins`, when one joins per cell time or more.
    pub fn room_at(&self, t: Time, begins: bool) -> u64 {
        let limit = if begins {
            self.full.min(self.refusal)
        } else {
            self.full
        };
        let ahead = self.start - t.0 as i64;
        (limit.saturating_sub(ahead) / self.cell_time.0 as i64).max(0) as u64
    }

    /// Where the cells of each VC are counted, if they are, before cells join from `t` on.
    pub fn counts_at(&mut self, t: Time) -> Option<&mut Counts> {
        self.forget_the_gone(t);
        self.counts.as_mut()
    }

    /// Takes note of `cells` cells that were accepted one per cell time or faster; the last one came at `time` and starts at `start`.
    pub fn accepted_in_rounds(&mut self, cells: u64, start: Time, time: Time) {
        self.accepted += cells;
        self.longest = self.longest.max((start - time).0 as i64);
        self.start = start.0 as i64;
    }

    /// Adds to the time integral of the queue.
    pub fn waited(&mut self, ticks: u128) {
        self.queue_time += ticks;
    }

    /// Shortens the counts' queue when it has grown much without anybody looking.
    fn forget_the_gone(&mut self, t: Time) {
        if self.counts.as_ref().is_some_and(Counts::is_long) {
            let waiting = self.waiting(t);
            self.counts
                .as_mut()
                .expect("just looked at")
                .forget(waiting);
        }
    }

    /// Whether a cell that arrives at `t` finds the port idle.
    #[inline(always)]
    fn idle_at(&self, t: i64) -> bool {
        let free = self.start + self.cell_time.0 as i64;
        if self.arrival_first {
            free < t
        } else {
            free <= t
        }
    }

    /// S - t, without the first cell of a busy period that begins at t.
    #[inline(always)]
    fn ahead(&self, start: i64, t: i64) -> i64 {
        start
            - t
            - if self.arrival_first && t == self.busy_since {
                self.cell_time.0 as i64
            } else {
                0
            }
    }

    /// X for a corrected S - t.
    fn cells(&self, ahead: i64) -> u64 {
        let c = self.cell_time.0 as i64;
        let cells = if self.arrival_first {
            ahead.div_euclid(c) + 1
        } else {
            -(-ahead).div_euclid(c)
        };
        cells.max(0) as u64
    }

    /// X at `t`.
    fn waiting(&self, t: Time) -> u64 {
        self.cells(self.ahead(self.start, t.0 as i64))
    }

    /// The queue as the policy sees it at `t`.
    fn view(&mut self, t: Time, vc: u32) -> QueueView {
        let waiting = self.waiting(t);
        let counts = self.counts.as_mut();
        let (waiting_of_vc, active_vcs) = counts.map_or((0, 0), |c| c.look(waiting, vc));
        QueueView {
            waiting,
            waiting_of_vc,
            active_vcs,
        }
    }

    /// What a probe asks for.
    pub fn look(&mut self, t: Time, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Queue {
                class: Some(class), ..
            } if class != self.class => 0.0,
            Quantity::Queue { vc: Some(vc), .. } => self.view(t, vc).waiting_of_vc as f64,
            Quantity::Queue { .. } => self.waiting(t) as f64,
            Quantity::Credit => 0.0,
        }
    }

    /// Counters that the hops do not have, at the end of the run.
    pub fn tally(&self, end: Time) -> PortTally {
        let c = self.cell_time.0 as i64;
        let last = self.start + c;
        let end = end.0 as i64;
        let held = if last < end {
            0
        } else {
            ((last - end) / c + 1).min((last - self.busy_since) / c)
        };
        let max_queue = self.cells(self.longest.max(-c));
        let mut tally = PortTally {
            accepted: self.accepted,
            held: held as u64,
            max_queue,
            queue_time: self.queue_time,
            ..PortTally::default()
        };
        tally.classes[self.class].max_queue = max_queue;
        tally
    }

    /// Takes the first `n` cells of `run`, which are all accepted; returns them as they depart. More than
    /// one only if the port is idle and the cells' distance is at least c, or it is c.
    #[inline(always)]
    fn accept(&mut self, run: &Run, n: u32, vc: u32, end: Time) -> Run {
        let c = self.cell_time;
        let (at, period) = (run.time, run.period);
        let t = at.0 as i64;
        let last_arrival = t + i64::from(n - 1) * period.0 as i64;
        self.accepted += u64::from(n);
        if self.idle_at(t) {
            // Only at distance c and with arrivals first do later cells join the busy period of the first.
            let joins = period == c && self.arrival_first && n > 1;
            self.busy_since = if joins { t } else { last_arrival };
            self.start = last_arrival;
            if joins {
                self.longest = self.longest.max(0);
                if let Some(counts) = &mut self.counts {
                    counts.shorten(0);
                    counts.add(vc, n - 1);
                }
            }
            return Run {
                time: at + c,
                age: run.age + c,
                ..run.first(n)
            };
        }
        let first = self.start + c.0 as i64;
        let waits = (first - t) as u64;
        let ahead = if n > 1 {
            first - t
        } else {
            self.ahead(first, t)
        };
        self.longest = self.longest.max(ahead);
        self.forget_the_gone(at);
        if let Some(counts) = &mut self.counts {
            counts.add(vc, n);
        }
        self.start = first + i64::from(n - 1) * c.0 as i64;
        self.queue_time += if self.start < end.0 as i64 {
            u128::from(waits) * u128::from(n)
        } else {
            let wait_of = |i: u64| {
                let arrives = at + period * i;
                (first as u64 + i * c.0)
                    .min(end.0)
                    .saturating_sub(arrives.0)
            };
            (0..u64::from(n)).map(|i| u128::from(wait_of(i))).sum()
        };
        Run {
            time: Time(first as u64) + c,
            age: run.age + Span(waits) + c,
            period: c,
            ..run.first(n)
        }
    }

    /// Takes all arrivals before `horizon`.
    pub fn advance(&mut self, inputs: &mut Inputs, fabric: &mut Fabric, horizon: Time) {
        while let Some((time, input)) = inputs.order.first() {
            if time >= horizon {
                break;
            }
            let next = inputs.order.second_time();
            if next < time + self.cell_time && rounds::run(self, fabric, inputs, horizon) {
                continue;
            }
            if time < next {
                let feed = inputs.feed(input);
                if self.take(fabric, feed, next.min(horizon)) {
                    inputs.order.postpone_first(fabric.feeds[feed].head.time);
                } else {
                    inputs.order.pop();
                }
            } else {
                self.take_group(fabric, inputs, time);
            }
        }
    }

    /// Takes one cell of each input whose cell arrives at `time`.
    fn take_group(&mut self, fabric: &mut Fabric, inputs: &mut Inputs, time: Time) {
        inputs.coincident(time);
        for i in 0..inputs.group.len() {
            let feed = inputs.feed(inputs.group[i]);
            self.take(fabric, feed, time + Span(1));
        }
        inputs.put_back(fabric);
    }

    /// Takes the cells at the head of `feed` that arrive before `limit`, at least one: as many as meet the same fate. Whether the feed
    /// has more.
    #[inline(always)]
    fn take(&mut self, fabric: &mut Fabric, feed: usize, limit: Time) -> bool {
        let run = fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let t = run.time.0 as i64;
        let idle = self.idle_at(t);
        let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
        let ahead = self.ahead(self.start, t);
        let calm = idle || (ahead < self.full && (!begins || ahead < self.refusal));
        let known = !begins && hop.frame_state.fate != Fate::Accepted;
        if !calm || known {
            return self.take_carefully(fabric, feed, false).more;
        }
        if begins {
            hop.frame_state = FrameState::accepted(run.frame);
        }
        let together = run.period == self.cell_time || (idle && run.period > self.cell_time);
        let n = if together { run.before(limit) } else { 1 };
        hop.arrived += u64::from(n);
        let departing = self.accept(&run, n, hop.local, fabric.end);
        fabric.depart(departing);
        fabric.feeds[feed].skip(n)
    }

    /// The same for one cell near a limit, or for the rest of a frame that is lost (for one cell of it when `one`).
    #[inline(never)]
    fn take_carefully(&mut self, fabric: &mut Fabric, feed: usize, one: bool) -> Outcome {
        let run = fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let idle = self.idle_at(run.time.0 as i64);
        let (local, state) = (hop.local, &mut hop.frame_state);
        let queue = self.view(run.time, local);
        let judged = self.gate.judge(run.time, &run, state, local, &queue, idle);
        let mut dropped = None;
        let mut n = 1;
        match judged.verdict {
            Verdict::Accept => {
                let departing = self.accept(&run, 1, local, fabric.end);
                fabric.depart(departing);
            }
            Verdict::Refuse(reason) => {
                if !one {
                    n = judged.cells.min(run.before(fabric.end));
                }
                fabric.drop_cells(run.hop, reason, n);
                dropped = Some(reason);
            }
            Verdict::PushOut => unreachable!("such a queue is served by the slotted kernel"),
        }
        fabric.hops[run.hop as usize].arrived += u64::from(n);
        Outcome {
            more: fabric.feeds[feed].skip(n),
            dropped,
            pushed_out: None,
        }
    }

    /// The same as [`Arithmetic::advance`], cell by cell, for a port that is watched.
    #[cold]
    pub fn advance_watched(
        &mut self,
        inputs: &mut Inputs,
        fabric: &mut Fabric,
        probe: &mut PortProbe,
        horizon: Time,
    ) {
        while let Some((time, _)) = inputs.order.first() {
            if time >= horizon {
                break;
            }
            probe.sample_until(time, |t, quantity| self.look(t, quantity));
            inputs.coincident(time);
            for i in 0..inputs.group.len() {
                let feed = inputs.feed(inputs.group[i]);
                let run = fabric.feeds[feed].head;
                let hop = &fabric.hops[run.hop as usize];
                let cell = Seen::first_of(&run, hop);
                let queue = self.view(time, hop.local);
                let outcome = self.take_carefully(fabric, feed, true);
                let reason = outcome.reason();
                let threshold = reason.and_then(|reason| self.gate.threshold(reason, &queue));
                let look = |t, quantity| self.look(t, quantity);
                probe.handled(time, cell, &outcome, found(&queue, threshold), look);
            }
            inputs.put_back(fabric);
        }
    }
}
