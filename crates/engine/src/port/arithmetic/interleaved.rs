//! Fast path of the arithmetic kernel: cells of several inputs, farther apart than one per cell
//! time, that alternate.
//!
//! Rate-limited sources bring long runs of cells at individual distances, so that cells of other
//! inputs always come between two cells of one. Only the wait of each cell is new. Everything else
//! is the same for all cells of a run. Hop and sink are updated once, when the run of cells ends or
//! before anything reads them: another way of taking cells, a measurement, the end of the
//! simulation. Cells that go on to another port are passed on one by one.
//!
//! Conditions:
//! * cells of one run come farther apart than one per cell time, and none must be looked at
//!   individually when it leaves;
//! * they arrive at their host within the measuring time, or at the next port before the end of the
//!   run;
//! * X stays below the buffer, and below the policy's smallest refusal where a frame begins;
//! * no Y_i are kept, and nothing is watched.
//!
//! A cell that violates them is taken individually. With a gate that judges each cell, accepted
//! cells are taken in this way at any distance but one per cell time (`judged_in_turns.rs`).

use super::Arithmetic;
use super::route::Route;
use crate::ground::delays::Waits;
use crate::ground::units::{SignedTicks, Span, Time};
use crate::network::cells::{Fate, Run};
use crate::network::fabric::{Fabric, Next};
use crate::network::tally::raise;
use crate::port::drop::{Decision, QueueView};
use crate::port::gate::Gate;
use crate::port::{Inputs, NextInput};
use std::hint::select_unpredictable;

/// State of an input whose run, at the head of its feed, is being taken.
#[derive(Clone, Debug)]
pub struct Interleaved {
    /// Rest of the run (no cells if none is being taken), and how many of its cells have been
    /// taken.
    run: Run,
    taken: u32,
    /// Whether the next cell begins a frame, for runs with longer frames.
    begins: bool,
    /// Route of the cells; usually also that of the next run.
    route: Route,
    /// Age at the next station of a cell that does not wait.
    unhindered: Span,
    /// Ages at the next station of the cells taken: sum, smallest and largest.
    sum: u128,
    least: Span,
    most: Span,
}

impl Default for Interleaved {
    fn default() -> Interleaved {
        Interleaved {
            run: Run::default(),
            taken: 0,
            begins: false,
            route: Route::default(),
            unhindered: Span::ZERO,
            sum: 0,
            least: Span::FOREVER,
            most: Span::ZERO,
        }
    }
}

/// Whether `run`, at the head of its feed, can be taken in this way when another input's next cell
/// comes at `next`.
fn is_interleaved(kernel: &Arithmetic, run: &Run, next: Time) -> bool {
    run.n > 1
        && run.period > kernel.cell_time
        && next < run.time + run.period
        && kernel.counts.is_none()
}

impl Arithmetic {
    /// Whether the run that brings the next cell is being taken in this way, or can be.
    pub(super) fn can_take_interleaved(
        &self,
        fabric: &Fabric,
        inputs: &Inputs,
        next: &NextInput,
    ) -> bool {
        let interleaved = inputs.interleaved.get(next.input as usize);
        interleaved.is_some_and(Interleaved::is_under_way)
            || is_interleaved(self, &fabric.feeds[next.feed].head, next.other)
    }

    /// Takes cells before `horizon`, at least one, until several come together.
    #[inline(never)]
    pub(super) fn take_interleaved(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        horizon: Time,
    ) {
        inputs.each_in_turn(horizon, |interleaved, next| {
            if let Some(interleaved) = interleaved.get_mut(next.input as usize)
                && interleaved.run.n > 1
                && interleaved.step(self, fabric, next.time)
            {
                return Some(interleaved.time());
            }
            take_one(self, fabric, interleaved, next)
        });
    }
}

/// Takes the next cell when no other comes at that instant. Handles the first or last cell of a run,
/// and a cell that must be taken individually, along with those before any other input's that share
/// its fate. Returns when the following cell of its input arrives.
#[inline(never)]
fn take_one(
    kernel: &mut Arithmetic,
    fabric: &mut Fabric,
    interleaved: &mut Vec<Interleaved>,
    next: &NextInput,
) -> Option<Time> {
    let (feed, limit) = (next.feed, next.limit());
    let interleaved = of(interleaved, next.input);
    let takes_part = interleaved.is_under_way() || interleaved.join(kernel, fabric, feed);
    if takes_part && interleaved.step(kernel, fabric, interleaved.time()) {
        let next = interleaved.next_time(kernel, fabric, feed);
        // The next run can usually be taken in this way too, so it is joined before its first cell
        // comes.
        if !interleaved.is_under_way()
            && next.is_some()
            && is_interleaved(kernel, &fabric.feeds[feed].head, limit)
        {
            interleaved.join(kernel, fabric, feed);
        }
        return next;
    }
    interleaved.leave(kernel, fabric, feed);
    let more = kernel.take_another(fabric, feed, limit);
    more.then_some(fabric.feeds[feed].head.time)
}

/// State of `input`.
#[inline(always)]
pub fn of(interleaved: &mut Vec<Interleaved>, input: u32) -> &mut Interleaved {
    let input = input as usize;
    if interleaved.len() <= input {
        interleaved.resize(input + 1, Interleaved::default());
    }
    &mut interleaved[input]
}

/// Updates feed, hop and sink of `input`, whose next cells are taken in another way.
#[inline(always)]
pub fn leave(kernel: &mut Arithmetic, fabric: &mut Fabric, inputs: &mut Inputs, input: u32) {
    let feed = inputs.feed(input);
    if let Some(interleaved) = inputs.interleaved.get_mut(input as usize) {
        interleaved.leave(kernel, fabric, feed);
    }
}

/// Updates the feeds, hops and sinks of all inputs.
pub fn settle_all(kernel: &mut Arithmetic, fabric: &mut Fabric, inputs: &mut Inputs) {
    for (interleaved, feed) in inputs.interleaved.iter_mut().zip(inputs.first_feed..) {
        interleaved.settle(kernel, fabric, feed);
    }
}

impl Interleaved {
    /// Whether a run is being taken. Its feed still holds the cells that were taken since the last
    /// settling.
    pub fn is_under_way(&self) -> bool {
        self.run.n > 0
    }

    /// The next cells: the rest of the run being taken, otherwise the run at the `head` of the
    /// feed.
    pub fn next_run<'a>(&'a self, head: &'a Run) -> &'a Run {
        if self.is_under_way() { &self.run } else { head }
    }

    /// Arrival of the next cell.
    pub fn time(&self) -> Time {
        self.run.time
    }

    /// The decision of the policy behind `gate` about the next cell: see [`Gate::ask_policy`].
    #[inline(always)]
    pub fn ask_policy(&self, gate: &mut Gate, queue: &QueueView, idle: Option<u64>) -> Decision {
        let begins = self.begins || self.run.is_single();
        gate.ask_policy(&self.run, begins, self.route.vc, queue, idle)
    }

    /// Route of the cells of `hop`; call this only while no run is being taken.
    pub fn route_of(&mut self, hop: u32, kernel: &Arithmetic, fabric: &Fabric) -> &Route {
        self.route.turn_to(hop, kernel, fabric);
        &self.route
    }

    /// Begins to take the run at the head of `feed`; false if the conditions do not hold.
    #[inline(always)]
    pub fn join(&mut self, kernel: &Arithmetic, fabric: &mut Fabric, feed: usize) -> bool {
        let run = &fabric.feeds[feed].head;
        let hop = &fabric.hops[run.hop as usize];
        let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
        if hop.one_by_one
            || (kernel.judged.is_none() && run.n > 1 && run.period <= kernel.cell_time)
            || !(begins || hop.frame_state.fate == Fate::Accepted)
        {
            return false;
        }
        self.route.turn_to(run.hop, kernel, fabric);
        self.begins = begins;
        self.unhindered = run.age + self.route.beyond;
        self.run = *run;
        true
    }

    /// Takes the next cell, which alone arrives at `time`. Returns false, with no effect, near a
    /// limit or if the cell will not arrive in time.
    #[inline(always)]
    fn step(&mut self, kernel: &mut Arithmetic, fabric: &mut Fabric, time: Time) -> bool {
        let t = time.signed();
        let ahead = kernel.start - t;
        // Negative by the time that the port has been idle.
        let wait = ahead + kernel.cell_time;
        let idle = wait.0 < i64::from(!kernel.arrival_first);
        let waits = wait.max(SignedTicks::ZERO).span();
        let start = t + waits;
        let begins = self.begins || self.run.is_single();
        if !kernel.limits.fits(ahead, begins) || !self.route.is_in_time(start) {
            return false;
        }
        // No correction of S - t, since no busy period begins at this instant.
        debug_assert!(idle || kernel.busy_since < t, "cells come together");
        // Without a branch: whether the port is idle is unpredictable.
        kernel.busy_since = select_unpredictable(idle, start, kernel.busy_since);
        raise(
            &mut kernel.longest,
            select_unpredictable(idle, SignedTicks::LEAST, wait),
        );
        kernel.start = start;
        kernel.accepted += 1;
        self.go(kernel, fabric, start, waits);
        true
    }

    /// Takes the next cell, which arrives at `time` and is accepted; `idle` says whether it finds
    /// the port idle. Returns false, with no effect, if the cell will not arrive in time.
    #[inline(always)]
    pub fn take(
        &mut self,
        kernel: &mut Arithmetic,
        fabric: &mut Fabric,
        time: Time,
        idle: bool,
    ) -> bool {
        let t = time.signed();
        let start = kernel.start_of(t, idle);
        if !self.route.is_in_time(start) {
            return false;
        }
        kernel.join_queue(t, idle);
        self.go(kernel, fabric, start, (start - t).span());
        true
    }

    /// Accounts for the next cell, which starts at `start` after `wait`, and passes it on.
    #[inline(always)]
    fn go(&mut self, kernel: &mut Arithmetic, fabric: &mut Fabric, start: SignedTicks, wait: Span) {
        let age = self.unhindered + wait;
        self.sum += u128::from(age.0);
        match self.route.next {
            Next::Host if self.route.is_data => {
                self.least = self.least.min(age);
                self.most = self.most.max(age);
                fabric.destinations.sinks[self.route.flow as usize]
                    .bins
                    .add(age, 1);
            }
            Next::Host => {}
            Next::Port { port, feed, input } => {
                let there = Run {
                    time: start.time() + self.route.beyond,
                    period: kernel.cell_time,
                    age,
                    hop: self.run.hop + 1,
                    ..self.run.first(1)
                };
                fabric.push(there, port, feed, input);
            }
        }
        self.begins = false;
        self.taken += 1;
        self.run.skip(1);
    }

    /// When the next cell of `feed` arrives, after one of the run has been taken; `None` if there
    /// is none.
    #[inline(always)]
    pub fn next_time(
        &mut self,
        kernel: &mut Arithmetic,
        fabric: &mut Fabric,
        feed: usize,
    ) -> Option<Time> {
        if self.is_under_way() || self.goes_on(kernel, fabric, feed) {
            return Some(self.run.time);
        }
        let more = self.settle(kernel, fabric, feed);
        more.then_some(fabric.feeds[feed].head.time)
    }

    /// Takes over cells that have joined the run at the head of `feed` since it was begun. Returns
    /// whether there are any; all cells known before have been taken.
    #[inline(always)]
    fn goes_on(&mut self, kernel: &Arithmetic, fabric: &Fabric, feed: usize) -> bool {
        if kernel.judged.is_some() || self.run.period > kernel.cell_time {
            let run = &fabric.feeds[feed].head;
            self.run.n = run.n - self.taken;
            self.run.flags = run.flags;
        }
        self.is_under_way()
    }

    /// Stops taking the run, after updating feed, hop and sink.
    #[inline(always)]
    pub fn leave(&mut self, kernel: &mut Arithmetic, fabric: &mut Fabric, feed: usize) {
        self.settle(kernel, fabric, feed);
        self.run.n = 0;
    }

    /// Counts the cells taken at hop and sink, and removes them from `feed`. Returns whether that
    /// has more.
    #[inline(always)]
    fn settle(&mut self, kernel: &mut Arithmetic, fabric: &mut Fabric, feed: usize) -> bool {
        let n = self.taken;
        if n == 0 {
            return true;
        }
        self.taken = 0;
        let run = &fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let cells = u64::from(n);
        hop.count_passed(run.frame, cells);
        let ages = Waits::Listed {
            sum: self.sum,
            least: self.least,
            most: self.most,
        };
        // Ages differ only by the waits.
        kernel.queue_time += ages.sum_shorter_by(self.unhindered, cells);
        if self.route.next == Next::Host {
            // If a frame ends here, its last cell is the last that the kernel has taken.
            let last = kernel.last_start() + self.route.beyond;
            let ages = self.route.is_data.then_some(ages);
            fabric.destinations.deliver(hop.flow, run, n, ages, last);
        }
        (self.sum, self.least, self.most) = (0, Span::FOREVER, Span::ZERO);
        fabric.feeds[feed].skip(n)
    }
}
