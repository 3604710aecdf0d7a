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

use super::drop::QueueView;
use super::merge::{ENDS_FRAME, Order, SINGLE_CELLS, TieRule};
use super::{FrameState, Kernel, Limits, Port, Verdict, rounds};
use crate::link::{Departure, Fabric};
use crate::probe::{Handled, Quantity};
use crate::tally::{DropReason, PortTally};
use std::collections::VecDeque;

/// State of the kernel.
#[derive(Debug)]
pub struct Arithmetic {
    limits: Limits,
    class: usize,
    /// c, ticks.
    cell_time: u64,
    arrival_first: bool,
    /// S: start of the last accepted cell; before the first, long ago.
    start: i64,
    /// Start of the first cell of the busy period.
    busy_since: i64,
    /// S - t (corrected) at which X reaches K, and at which the policy may refuse.
    full: i64,
    refusal: i64,
    /// Y_i per local VC number, N_a, and the cells they count, when needed.
    counts: Option<Counts>,
    accepted: u64,
    /// Largest corrected S - t just after an acceptance.
    longest: i64,
    queue_time: u128,
}

/// Y_i and N_a: the VCs of the last accepted cells in order of acceptance.
#[derive(Debug, Default)]
pub struct Counts {
    queue: VecDeque<(u32, u32)>,
    cells: u64,
    of_vc: Vec<u64>,
    active: u64,
    /// At so many cells, those that have left are forgotten even if nobody looks.
    shorten_at: u64,
}

impl Counts {
    /// Forgets all but the last `waiting` cells.
    fn shorten(&mut self, waiting: u64) {
        while self.cells > waiting {
            let (vc, n) = self
                .queue
                .front_mut()
                .expect("the queue holds the cells it counts");
            let gone = u64::from(*n).min(self.cells - waiting);
            let of_vc = &mut self.of_vc[*vc as usize];
            *of_vc -= gone;
            self.active -= u64::from(*of_vc == 0);
            self.cells -= gone;
            *n -= gone as u32;
            if *n == 0 {
                self.queue.pop_front();
            }
        }
    }

    /// `n` cells of `vc` (its local number) join.
    pub fn add(&mut self, vc: u32, n: u32) {
        let of_vc = &mut self.of_vc[vc as usize];
        self.active += u64::from(*of_vc == 0);
        *of_vc += u64::from(n);
        self.cells += u64::from(n);
        match self.queue.back_mut() {
            Some((last, cells)) if *last == vc => *cells += n,
            _ => self.queue.push_back((vc, n)),
        }
    }
}

impl Arithmetic {
    /// For a class queue with `limits` at a port with cell time `cell_time` (ticks) that `vcs` VC directions cross. `counts`
    /// keeps Y_i and N_a even if the policy does not ask for them.
    pub fn new(
        limits: Limits,
        class: usize,
        cell_time: u64,
        arrival_first: bool,
        vcs: usize,
        counts: bool,
    ) -> Arithmetic {
        let reaches = |x: u64| -> i64 {
            let below = u128::from(x.saturating_sub(1)) * u128::from(cell_time)
                + u128::from(!arrival_first);
            i64::try_from(below).unwrap_or(i64::MAX)
        };
        let needed = counts || limits.policy.needs_vc_counts();
        Arithmetic {
            full: reaches(limits.buffer),
            refusal: reaches(limits.policy.smallest_refusal()),
            limits,
            class,
            cell_time,
            arrival_first,
            start: i64::MIN / 2,
            busy_since: i64::MIN / 2,
            counts: needed.then(|| Counts {
                of_vc: vec![0; vcs],
                ..Counts::default()
            }),
            accepted: 0,
            longest: i64::MIN,
            queue_time: 0,
        }
    }

    /// c, ticks.
    pub fn cell_time(&self) -> u64 {
        self.cell_time
    }

    /// Index of the class.
    pub fn class(&self) -> usize {
        self.class
    }

    /// Start of the last accepted cell; not before the first.
    pub fn last_start(&self) -> u64 {
        self.start as u64
    }

    /// Whether the port is busy at `t` with a busy period that began before.
    pub fn is_steady_at(&self, t: u64) -> bool {
        let t = t as i64;
        !self.idle_at(t) && t != self.busy_since
    }

    /// How many cells may join before X reaches a limit, the policy's too if a frame `begins`, when one joins per cell time or more.
    pub fn room_at(&self, t: u64, begins: bool) -> u64 {
        let limit = if begins {
            self.full.min(self.refusal)
        } else {
            self.full
        };
        let ahead = self.start - t as i64;
        (limit.saturating_sub(ahead) / self.cell_time as i64).max(0) as u64
    }

    /// Where the cells of each VC are counted, if they are, before cells join from `t` on.
    pub fn counts_at(&mut self, t: u64) -> Option<&mut Counts> {
        self.forget_the_gone(t);
        self.counts.as_mut()
    }

    /// Takes note of `cells` cells that were accepted one per cell time or faster; the last one came at `time` and starts at `start`.
    pub fn accepted_in_rounds(&mut self, cells: u64, start: u64, time: u64) {
        self.accepted += cells;
        self.longest = self.longest.max((start - time) as i64);
        self.start = start as i64;
    }

    /// Adds to the time integral of the queue.
    pub fn waited(&mut self, ticks: u128) {
        self.queue_time += ticks;
    }

    /// Shortens the counts' queue when it has grown much without anybody looking.
    fn forget_the_gone(&mut self, t: u64) {
        if self
            .counts
            .as_ref()
            .is_some_and(|counts| counts.cells >= counts.shorten_at)
        {
            let waiting = self.waiting(t);
            let counts = self.counts.as_mut().expect("just looked at");
            counts.shorten(waiting);
            counts.shorten_at = 2 * waiting + 4096;
        }
    }

    /// Whether a cell that arrives at `t` finds the port idle.
    #[inline(always)]
    fn idle_at(&self, t: i64) -> bool {
        let free = self.start + self.cell_time as i64;
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
                self.cell_time as i64
            } else {
                0
            }
    }

    /// X for a corrected S - t.
    fn cells(&self, ahead: i64) -> u64 {
        let c = self.cell_time as i64;
        let cells = if self.arrival_first {
            ahead.div_euclid(c) + 1
        } else {
            -(-ahead).div_euclid(c)
        };
        cells.max(0) as u64
    }

    /// X at `t`.
    pub fn waiting(&self, t: u64) -> u64 {
        self.cells(self.ahead(self.start, t as i64))
    }

    /// The queue as the policy sees it at `t`.
    pub fn view(&mut self, t: u64, vc: u32) -> QueueView {
        let waiting = self.waiting(t);
        let (waiting_of_vc, active_vcs) = match &mut self.counts {
            Some(counts) => {
                counts.shorten(waiting);
                (counts.of_vc[vc as usize], counts.active)
            }
            None => (0, 0),
        };
        QueueView {
            waiting,
            waiting_of_vc,
            active_vcs,
        }
    }

    /// What a probe asks for.
    pub fn look(&mut self, t: u64, quantity: Quantity) -> f64 {
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
    pub fn tally(&self, end: u64) -> PortTally {
        let c = self.cell_time as i64;
        let last = self.start + c;
        let held = if last < end as i64 {
            0
        } else {
            ((last - end as i64) / c + 1).min((last - self.busy_since) / c)
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

    /// Takes `n` cells that arrive from `t` at distance `period` and are all accepted; returns their departure. More than
    /// one only if the port is idle and `period` >= c, or `period` = c.
    #[inline(always)]
    fn accept(&mut self, t: u64, n: u32, period: u64, vc: u32, end: u64) -> (u64, u64) {
        let c = self.cell_time;
        let at = t as i64;
        let last_arrival = at + i64::from(n - 1) * period as i64;
        self.accepted += u64::from(n);
        if self.idle_at(at) {
            // Only at distance c and with arrivals first do later cells join the busy period of the first.
            let joins = period == c && self.arrival_first && n > 1;
            self.busy_since = if joins { at } else { last_arrival };
            self.start = last_arrival;
            if joins {
                self.longest = self.longest.max(0);
                if let Some(counts) = &mut self.counts {
                    counts.shorten(0);
                    counts.add(vc, n - 1);
                }
            }
            return (t + c, period);
        }
        let first = self.start + c as i64;
        let waits = (first - at) as u64;
        let ahead = if n > 1 {
            first - at
        } else {
            self.ahead(first, at)
        };
        self.longest = self.longest.max(ahead);
        self.forget_the_gone(t);
        if let Some(counts) = &mut self.counts {
            counts.add(vc, n);
        }
        self.start = first + i64::from(n - 1) * c as i64;
        self.queue_time += if self.start < end as i64 {
            u128::from(waits) * u128::from(n)
        } else {
            let wait_of = |i: u64| {
                let arrives = t + i * period;
                (first as u64 + i * c).min(end).saturating_sub(arrives)
            };
            (0..u64::from(n)).map(|i| u128::from(wait_of(i))).sum()
        };
        (first as u64 + c, c)
    }
}

/// Takes all arrivals before `horizon`.
pub fn advance(port: &mut Port, fabric: &mut Fabric, horizon: u64) {
    if port.probe.is_some() {
        return advance_watched(port, fabric, horizon);
    }
    let Kernel::Arithmetic(kernel) = &mut port.kernel else {
        unreachable!("called for this kernel only")
    };
    let first_feed = port.first_feed;
    while let Some((time, input)) = port.order.first() {
        if time >= horizon {
            break;
        }
        let next = port.order.second_time();
        if next < time + kernel.cell_time
            && rounds::run(
                kernel,
                fabric,
                &mut port.order,
                &mut port.tie,
                &mut port.members,
                first_feed,
                horizon,
            )
        {
            continue;
        }
        if time < next {
            let feed = first_feed + input as usize;
            if take(kernel, fabric, feed, next.min(horizon)) {
                port.order.postpone_first(fabric.feeds[feed].head.time);
            } else {
                port.order.pop();
            }
        } else {
            take_group(
                kernel,
                fabric,
                &mut port.order,
                &mut port.tie,
                &mut port.group,
                first_feed,
                time,
            );
        }
    }
}

/// Takes one cell of each input whose cell arrives at `time`.
fn take_group(
    kernel: &mut Arithmetic,
    fabric: &mut Fabric,
    order: &mut Order,
    tie: &mut TieRule,
    group: &mut Vec<u32>,
    first_feed: usize,
    time: u64,
) {
    order.pop_group(time, group);
    tie.arrange(time, group);
    for &input in group.iter() {
        take(kernel, fabric, first_feed + input as usize, time + 1);
    }
    // In the order of their numbers, so that each is inserted at the back.
    group.sort_unstable();
    for &input in group.iter() {
        let head = &fabric.feeds[first_feed + input as usize].head;
        if head.n > 0 {
            order.insert(head.time, input);
        }
    }
}

/// Takes the cells at the head of `feed` that arrive before `limit`, at least one: as many as meet the same fate.
#[inline(always)]
fn take(kernel: &mut Arithmetic, fabric: &mut Fabric, feed: usize, limit: u64) -> bool {
    let run = fabric.feeds[feed].head;
    let hop = &mut fabric.hops[run.hop as usize];
    let t = run.time as i64;
    let idle = kernel.idle_at(t);
    let single = run.flags & SINGLE_CELLS != 0;
    let begins = single || hop.frame_state.frame != Some(run.frame);
    let ahead = kernel.ahead(kernel.start, t);
    let calm = idle || (ahead < kernel.full && (!begins || ahead < kernel.refusal));
    let known = !begins && hop.frame_state.verdict != Verdict::Accepted;
    if calm && !known {
        if begins {
            hop.frame_state = FrameState {
                frame: Some(run.frame),
                verdict: Verdict::Accepted,
            };
        }
        let together = run.period == kernel.cell_time || (idle && run.period > kernel.cell_time);
        let n = if together { run.before(limit) } else { 1 };
        hop.arrived += u64::from(n);
        let vc = hop.local;
        let (time, period) = kernel.accept(run.time, n, run.period, vc, fabric.end);
        let flags = if single || n == run.n {
            run.flags
        } else {
            run.flags & !ENDS_FRAME
        };
        let age = run.age + (time - run.time);
        let d = Departure {
            time,
            period,
            age,
            n,
            frame: run.frame,
            cell: run.cell,
            flags,
        };
        fabric.depart(run.hop as usize, d);
        fabric.feeds[feed].skip(n)
    } else {
        take_carefully(kernel, fabric, feed, false)
    }
}

/// The same for one cell near a limit, or for the rest of a frame that is lost (for one cell of it when `one`).
#[inline(never)]
fn take_carefully(kernel: &mut Arithmetic, fabric: &mut Fabric, feed: usize, one: bool) -> bool {
    let run = fabric.feeds[feed].head;
    let hop = &mut fabric.hops[run.hop as usize];
    let eom = run.ends_frame(0);
    let single = run.flags & SINGLE_CELLS != 0;
    let idle = kernel.idle_at(run.time as i64);
    let queue = kernel.view(run.time, hop.local);
    if idle && (single || hop.frame_state.frame != Some(run.frame)) {
        hop.frame_state = FrameState {
            frame: Some(run.frame),
            verdict: Verdict::Accepted,
        };
    }
    match kernel
        .limits
        .judge(&mut hop.frame_state, run.frame, eom, &queue)
    {
        Ok(()) => {
            hop.arrived += 1;
            let vc = hop.local;
            let (time, period) = kernel.accept(run.time, 1, run.period, vc, fabric.end);
            let flags = if eom {
                run.flags
            } else {
                run.flags & !ENDS_FRAME
            };
            let age = run.age + (time - run.time);
            let d = Departure {
                time,
                period,
                age,
                n: 1,
                frame: run.frame,
                cell: run.cell,
                flags,
            };
            fabric.depart(run.hop as usize, d);
            fabric.feeds[feed].skip(1)
        }
        Err(reason) => {
            // A verdict on the rest of the frame holds for all its cells, whenever they arrive.
            let n = match reason {
                DropReason::Policy if !single => run.n,
                DropReason::Rest if !single => {
                    let eom_is_kept =
                        run.flags & ENDS_FRAME != 0 && !kernel.limits.drops_rest(true);
                    run.n - u32::from(eom_is_kept)
                }
                _ => 1,
            };
            let n = if one {
                1
            } else {
                n.min(run.before(fabric.end))
            };
            hop.arrived += u64::from(n);
            fabric.extras[run.hop as usize].dropped[reason as usize] += u64::from(n);
            fabric.feeds[feed].skip(n)
        }
    }
}

/// The same as [`advance`], cell by cell, for a port that is watched.
#[cold]
fn advance_watched(port: &mut Port, fabric: &mut Fabric, horizon: u64) {
    let mut probe = port.probe.take().expect("only watched ports come here");
    let Kernel::Arithmetic(kernel) = &mut port.kernel else {
        unreachable!("called for this kernel only")
    };
    while let Some((time, _)) = port.order.first() {
        if time >= horizon {
            break;
        }
        probe.sample_until(time, |t, quantity| kernel.look(t, quantity));
        port.order.pop_group(time, &mut port.group);
        port.tie.arrange(time, &mut port.group);
        for &input in &port.group {
            let feed = port.first_feed + input as usize;
            let run = fabric.feeds[feed].head;
            let hop = &fabric.hops[run.hop as usize];
            let dropped = fabric.extras[run.hop as usize].dropped;
            let queue = kernel.view(time, hop.local);
            let (direction, class) = (hop.direction, kernel.class);
            take_carefully(kernel, fabric, feed, true);
            let after = fabric.extras[run.hop as usize].dropped;
            let handled = Handled {
                time,
                direction,
                class,
                frame: run.frame,
                cell: run.cell,
                queue: (queue.waiting, queue.waiting_of_vc, queue.active_vcs),
                dropped: Handled::reason(&dropped, &after),
            };
            probe.handled(handled, |t, quantity| kernel.look(t, quantity));
        }
        for &input in &port.group {
            let head = &fabric.feeds[port.first_feed + input as usize].head;
            if head.n > 0 {
                port.order.insert(head.time, input);
            }
        }
    }
    port.probe = Some(probe);
}
