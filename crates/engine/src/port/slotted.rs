//! The kernel for several classes, any scheduler and any rate: explicit queues, one decision of the scheduler per cell slot.
//!
//! When a cell's transmission ends and cells wait, the scheduler picks the next one at that instant. Such decisions are taken
//! as late as the next arrival or the horizon demands, with the order of coincident arrivals and departures
//! that the scenario states.
//!
//! Queues hold runs of cells that arrived a cell time apart, most of them of one cell. Two shortcuts take many cells at
//! once, at ports whose cell time is a whole number of ticks:
//! * *decisions*: until the next arrival, as many cells go as the scheduler gives slots to one class in a row, and as
//!   the first run of that class has;
//! * *lock step*: while one input alone brings a cell per cell time to a busy port, there is one decision after
//!   each arrival, and the class of that input always has a cell that has arrived. So n arrivals may be queued before
//!   the first n - 1 decisions are taken, provided that no limit could refuse any of them; the n-th decision waits for
//!   whatever arrives before it.

use super::drop::QueueView;
use super::merge::{ENDS_FRAME, Order, Run, SINGLE_CELLS};
use super::sched::{CLASSES, Scheduler};
use super::{FrameState, Kernel, Limits, Port, Verdict};
use crate::link::{Departure, Fabric};
use crate::probe::{Handled, Quantity};
use crate::tally::{DropReason, PortTally};
use crate::units::CellTime;
use std::collections::VecDeque;

/// Waiting cells of one frame, or single cells of one VC, that arrived a cell time apart.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Of the first cell, ticks; so is `age`, its age then.
    arrived: u64,
    age: u64,
    hop: u32,
    frame: u32,
    cell: u32,
    /// Cells times 4, and the flags.
    n_and_flags: u32,
}

const FLAGS: u32 = (ENDS_FRAME | SINGLE_CELLS) as u32;
/// Most cells of one `Waiting`.
const MOST_CELLS: u32 = u32::MAX >> 2;

impl Waiting {
    /// The first `n` cells of `run`.
    #[inline(always)]
    fn first_of(run: &Run, n: u32) -> Waiting {
        let flags = if run.flags & SINGLE_CELLS != 0 || n == run.n {
            run.flags
        } else {
            run.flags & !ENDS_FRAME
        };
        Waiting {
            arrived: run.time,
            age: run.age,
            hop: run.hop,
            frame: run.frame,
            cell: run.cell,
            n_and_flags: n << 2 | u32::from(flags),
        }
    }

    #[inline(always)]
    fn n(&self) -> u32 {
        self.n_and_flags >> 2
    }

    #[inline(always)]
    fn flags(&self) -> u8 {
        (self.n_and_flags & FLAGS) as u8
    }

    /// Takes the first `n` cells off, which are not all; cells arrived `c` apart.
    #[inline(always)]
    fn split(&mut self, n: u32, c: u64) -> Waiting {
        let mut first = *self;
        first.n_and_flags = n << 2 | self.n_and_flags & FLAGS;
        self.n_and_flags -= n << 2;
        self.arrived += u64::from(n) * c;
        if self.flags() & SINGLE_CELLS != 0 {
            self.frame += n;
        } else {
            self.cell += n;
            first.n_and_flags &= !u32::from(ENDS_FRAME);
        }
        first
    }

    /// Adds `next` at the end if it continues a run of single cells that arrive `c` apart.
    #[inline(always)]
    fn join(&mut self, next: &Waiting, c: u64) -> bool {
        let goes_on = self.hop == next.hop
            && self.flags() & SINGLE_CELLS != 0
            && self.arrived + u64::from(self.n()) * c == next.arrived
            && self.frame + self.n() == next.frame
            && self.age == next.age
            && self.n() <= MOST_CELLS - next.n();
        if goes_on {
            self.n_and_flags += next.n() << 2;
        }
        goes_on
    }
}

#[derive(Debug, Default)]
struct ClassQueue {
    /// The cells, when the class is served first come first served.
    cells: VecDeque<Waiting>,
    /// Numbers of their arrival at the port over all classes, when the scheduler asks for them.
    numbers: VecDeque<u64>,
    /// The cells by local VC number, one by one, when it is scheduled per VC.
    per_vc: Vec<VecDeque<Waiting>>,
    /// Y_i by local VC number, and N_a, when needed.
    of_vc: Vec<u64>,
    active: u64,
    max: u64,
    /// The smallest X at which a cell of a frame already begun, or the first of a new one, can be refused.
    full: u64,
    refusal: u64,
}

/// State of the kernel.
#[derive(Debug)]
pub struct Slotted {
    cell_time: CellTime,
    /// The cell time in whole ticks, or 0: then runs have one cell.
    exact: u64,
    arrival_first: bool,
    scheduler: Scheduler,
    limits: [Limits; CLASSES],
    queues: [ClassQueue; CLASSES],
    waiting: [u64; CLASSES],
    total: u64,
    /// Beginning of the busy period, cells of it so far (kept only without `exact`), and when the cell in service ends;
    /// `busy` tells whether there is one.
    since: u64,
    served: u64,
    free_at: u64,
    busy: bool,
    /// VC direction of each local number, for per-VC scheduling.
    directions: Vec<u32>,
    counts: [bool; CLASSES],
    accepted: u64,
    started: u64,
    max_queue: u64,
    queue_time: u128,
}

impl Slotted {
    /// With the limits of each class; `directions` lists the VC directions that cross the port, by local number. `counts` keeps Y_i and N_a
    /// even if no policy asks for them.
    pub fn new(
        limits: [Limits; CLASSES],
        scheduler: Scheduler,
        cell_time: CellTime,
        arrival_first: bool,
        directions: Vec<u32>,
        counts: bool,
    ) -> Slotted {
        let counts = std::array::from_fn(|c| counts || limits[c].policy.needs_vc_counts());
        let vcs = directions.len();
        let mut queues: [ClassQueue; CLASSES] = std::array::from_fn(|_| ClassQueue::default());
        for ((queue, counts), limits) in queues.iter_mut().zip(counts).zip(&limits) {
            if counts {
                queue.of_vc = vec![0; vcs];
            }
            queue.full = limits.buffer;
            queue.refusal = limits.policy.smallest_refusal().min(limits.buffer);
        }
        if let Scheduler::PerVc(s) = &scheduler {
            queues[s.class()].per_vc = vec![VecDeque::new(); vcs];
        }
        Slotted {
            cell_time,
            exact: cell_time.exact().unwrap_or(0),
            arrival_first,
            scheduler,
            limits,
            queues,
            waiting: [0; CLASSES],
            total: 0,
            since: 0,
            served: 0,
            free_at: 0,
            busy: false,
            directions,
            counts,
            accepted: 0,
            started: 0,
            max_queue: 0,
            queue_time: 0,
        }
    }

    /// When the scheduler must decide next, ticks.
    pub fn next_departure(&self) -> u64 {
        if self.total > 0 {
            self.free_at
        } else {
            u64::MAX
        }
    }

    /// Ends transmissions and begins the next ones, for all ends before `limit`.
    #[inline]
    fn serve_before(&mut self, fabric: &mut Fabric, limit: u64) {
        while self.busy && self.free_at < limit {
            if self.total == 0 {
                self.busy = false;
                break;
            }
            let ahead = limit - self.free_at;
            let decisions = if self.exact == 0 || ahead <= self.exact {
                1
            } else {
                ahead.div_ceil(self.exact).min(self.total)
            };
            self.decide(fabric, decisions);
        }
    }

    /// Takes the next `decisions` decisions; a cell is there for each.
    #[inline]
    fn decide(&mut self, fabric: &mut Fabric, mut decisions: u64) {
        while decisions > 0 {
            let queues = &self.queues;
            let oldest = |c: usize| queues[c].numbers.front().copied().unwrap_or(u64::MAX);
            let (class, slots) = self
                .scheduler
                .pick_slots(&self.waiting, oldest, decisions)
                .expect("something waits");
            decisions -= slots;
            let mut left = slots;
            while left > 0 {
                left -= self.begin_first(fabric, class, left);
            }
        }
    }

    /// Begins the transmission of the cells that go next in `class`, one after the other, at most `most`; returns their number.
    #[inline]
    fn begin_first(&mut self, fabric: &mut Fabric, class: usize, most: u64) -> u64 {
        let queue = &mut self.queues[class];
        let cells = match &mut self.scheduler {
            Scheduler::PerVc(s) if s.class() == class => {
                let direction = s.pick(self.started);
                let local = self
                    .directions
                    .iter()
                    .position(|&d| d as usize == direction)
                    .expect("it crosses the port");
                let cell = queue.per_vc[local]
                    .pop_front()
                    .expect("the scheduler counts its cells");
                s.taken(direction, cell.flags() != 0);
                cell
            }
            _ => {
                let first = queue.cells.front_mut().expect("the class has a cell");
                let cells = if u64::from(first.n()) <= most {
                    let all = *first;
                    queue.cells.pop_front();
                    all
                } else {
                    first.split(most as u32, self.exact)
                };
                if !queue.numbers.is_empty() {
                    queue.numbers.pop_front();
                }
                cells
            }
        };
        let n = u64::from(cells.n());
        if self.counts[class] {
            let local = fabric.hops[cells.hop as usize].local as usize;
            queue.of_vc[local] -= n;
            queue.active -= u64::from(queue.of_vc[local] == 0);
        }
        self.waiting[class] -= n;
        self.total -= n;
        let waited = self.free_at - cells.arrived;
        self.queue_time += u128::from(waited) * u128::from(n);
        self.begin(fabric, self.free_at, &cells);
        n
    }

    /// Begins the transmission of `cells` at `start`, one after the other.
    #[inline(always)]
    fn begin(&mut self, fabric: &mut Fabric, start: u64, cells: &Waiting) {
        let n = cells.n();
        self.started += u64::from(n);
        let (time, period) = if self.exact > 0 {
            self.free_at = start + u64::from(n) * self.exact;
            (start + self.exact, self.exact)
        } else {
            self.served += 1;
            self.free_at = self.since + self.cell_time.end_of(self.served);
            (self.free_at, self.cell_time.longest())
        };
        let d = Departure {
            time,
            period,
            age: cells.age + (time - cells.arrived),
            n,
            frame: cells.frame,
            cell: cells.cell,
            flags: cells.flags(),
        };
        fabric.depart(cells.hop as usize, d);
    }

    /// Handles the first cell of `feed`, which arrives now; with it the rest of its frame, if that is lost too and not to be looked at
    /// `one` by one. False when the feed is then empty.
    #[inline]
    fn arrive(&mut self, fabric: &mut Fabric, feed: usize, one: bool) -> bool {
        let run = &fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let class = hop.class as usize;
        let local = hop.local as usize;
        let single = run.flags & SINGLE_CELLS != 0;
        let begins = single || hop.frame_state.frame != Some(run.frame);
        let x = self.waiting[class];
        let queue = &self.queues[class];
        let calm = x < queue.full && (!begins || x < queue.refusal);
        let known = !begins && hop.frame_state.verdict != Verdict::Accepted;
        if begins && (calm || !self.busy) {
            hop.frame_state = FrameState {
                frame: Some(run.frame),
                verdict: Verdict::Accepted,
            };
        }
        if !calm || known {
            let view = self.view(class, local);
            let eom = run.ends_frame(0);
            let state = &mut hop.frame_state;
            if let Err(reason) = self.limits[class].judge(state, run.frame, eom, &view) {
                // A verdict on the rest of the frame holds for all its cells, whenever they arrive.
                let n = match reason {
                    _ if one || single => 1,
                    DropReason::Policy => run.n,
                    DropReason::Rest => {
                        let drops_eom = self.limits[class].drops_rest(true);
                        run.n - u32::from(run.flags & ENDS_FRAME != 0 && !drops_eom)
                    }
                    _ => 1,
                };
                let n = n.min(run.before(fabric.end));
                hop.arrived += u64::from(n);
                fabric.extras[run.hop as usize].dropped[reason as usize] += u64::from(n);
                return fabric.feeds[feed].skip(n);
            }
        }
        hop.arrived += 1;
        self.accepted += 1;
        let cell = Waiting::first_of(run, 1);
        if self.busy {
            let direction = hop.direction as usize;
            self.wait(class, local, direction, cell);
            let queue = &mut self.queues[class];
            queue.max = queue.max.max(self.waiting[class]);
            self.max_queue = self.max_queue.max(self.total);
        } else {
            // It never waits: it is not among the Y_i.
            self.busy = true;
            self.since = cell.arrived;
            self.served = 0;
            self.begin(fabric, cell.arrived, &cell);
        }
        fabric.feeds[feed].skip(1)
    }

    /// Puts cells into their queue.
    #[inline(always)]
    fn wait(&mut self, class: usize, local: usize, direction: usize, cells: Waiting) {
        let queue = &mut self.queues[class];
        let n = u64::from(cells.n());
        if self.counts[class] {
            queue.active += u64::from(queue.of_vc[local] == 0);
            queue.of_vc[local] += n;
        }
        self.waiting[class] += n;
        self.total += n;
        match &mut self.scheduler {
            Scheduler::PerVc(s) if s.class() == class => {
                s.on_arrival(direction, self.started);
                return queue.per_vc[local].push_back(cells);
            }
            // Cells leave one by one, each with its number.
            Scheduler::Fifo => queue.numbers.push_back(self.accepted),
            _ => {
                if cells.flags() & SINGLE_CELLS != 0
                    && self.exact > 0
                    && let Some(last) = queue.cells.back_mut()
                    && last.join(&cells, self.exact)
                {
                    return;
                }
            }
        }
        queue.cells.push_back(cells);
    }

    /// Lock step: takes cells of `feed`, which arrive from now on before `limit` while no other input brings any, and the
    /// decisions between them. `None` when the conditions do not hold, otherwise whether the feed has more.
    #[inline]
    fn lock_step(&mut self, fabric: &mut Fabric, feed: usize, limit: u64) -> Option<bool> {
        let run = &fabric.feeds[feed].head;
        let c = self.exact;
        if run.n < 2 || run.period != c || run.time + c >= limit || !self.busy {
            return None;
        }
        let hop = &mut fabric.hops[run.hop as usize];
        let class = hop.class as usize;
        // Whether all decisions fall on this class.
        let alone = match &self.scheduler {
            Scheduler::StrictPriority => self.waiting[..class].iter().all(|&w| w == 0),
            Scheduler::GuaranteedRate(_) => self.waiting[class] == self.total,
            Scheduler::Fifo | Scheduler::PerVc(_) => return None,
        };
        let state = hop.frame_state;
        let begins = run.flags & SINGLE_CELLS != 0 || state.frame != Some(run.frame);
        let queue = &mut self.queues[class];
        let smallest = if begins { queue.refusal } else { queue.full };
        let room = smallest.saturating_sub(self.waiting[class]);
        let n = run.before(limit).min(MOST_CELLS);
        let n = if alone {
            n
        } else {
            n.min(room.min(1 << 30) as u32)
        };
        if room == 0 || n < 2 || (!begins && state.verdict != Verdict::Accepted) {
            return None;
        }
        debug_assert!(run.time <= self.free_at && self.free_at <= run.time + c);
        hop.frame_state = FrameState {
            frame: Some(run.frame),
            verdict: Verdict::Accepted,
        };
        let cells = Waiting::first_of(run, n);
        let n = u64::from(n);
        hop.arrived += n;
        self.accepted += n;
        let (local, direction) = (hop.local as usize, hop.direction as usize);
        let x = self.waiting[class];
        self.max_queue = self.max_queue.max(self.total + 1);
        self.wait(class, local, direction, cells);
        if alone {
            let queue = &mut self.queues[class];
            queue.max = queue.max.max(x + 1);
            // A link faster than the port may bring its next run before the last decision.
            let last = self.free_at + (n - 1) * c;
            let all = last < limit && last < fabric.feeds[feed].second_time();
            let mut left = n - u64::from(!all);
            if let Scheduler::GuaranteedRate(s) = &mut self.scheduler {
                s.alone(class, left);
            }
            while left > 0 {
                left -= self.begin_first(fabric, class, left);
            }
        } else {
            self.decide(fabric, n - 1);
            // X never falls from one arrival to the next.
            let queue = &mut self.queues[class];
            queue.max = queue.max.max(self.waiting[class]);
        }
        Some(fabric.feeds[feed].skip(n as u32))
    }

    #[inline]
    fn view(&self, class: usize, local: usize) -> QueueView {
        let queue = &self.queues[class];
        let waiting_of_vc = if self.counts[class] {
            queue.of_vc[local]
        } else {
            0
        };
        QueueView {
            waiting: self.waiting[class],
            waiting_of_vc,
            active_vcs: queue.active,
        }
    }

    /// All that waits.
    fn runs(&self) -> impl Iterator<Item = &Waiting> {
        self.queues
            .iter()
            .flat_map(|q| q.cells.iter().chain(q.per_vc.iter().flatten()))
    }

    /// Whether every accepted cell is waiting or has been in service.
    pub fn is_balanced(&self) -> bool {
        self.accepted == self.started + self.runs().map(|r| u64::from(r.n())).sum::<u64>()
    }

    /// What a probe asks for.
    pub fn look(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Queue { vc: Some(vc), .. } => {
                let of_vc = |q: &ClassQueue| q.of_vc.get(vc as usize).copied().unwrap_or(0);
                self.queues.iter().map(of_vc).sum::<u64>() as f64
            }
            Quantity::Queue {
                class: Some(class), ..
            } => self.waiting[class] as f64,
            Quantity::Queue { .. } => self.total as f64,
            Quantity::Credit => match &self.scheduler {
                Scheduler::GuaranteedRate(s) => s.credit(),
                _ => 0.0,
            },
        }
    }

    /// Counters that the hops do not have, at the end of the run.
    pub fn tally(&self, end: u64) -> PortTally {
        let waited = |run: &Waiting| {
            let since = |i: u64| u128::from(end - (run.arrived + i * self.exact));
            (0..u64::from(run.n())).map(since).sum::<u128>()
        };
        let in_service = u64::from(self.busy && self.free_at >= end);
        let mut tally = PortTally {
            accepted: self.accepted,
            held: self.total + in_service,
            max_queue: self.max_queue,
            queue_time: self.queue_time + self.runs().map(waited).sum::<u128>(),
            ..PortTally::default()
        };
        for (class, queue) in tally.classes.iter_mut().zip(&self.queues) {
            class.max_queue = queue.max;
        }
        tally
    }
}

/// Takes all arrivals and decisions before `horizon`.
pub fn advance(port: &mut Port, fabric: &mut Fabric, horizon: u64) {
    if port.probe.is_some() {
        return advance_watched(port, fabric, horizon);
    }
    let Kernel::Slotted(kernel) = &mut port.kernel else {
        unreachable!("called for this kernel only")
    };
    while let Some((time, input)) = port.order.first() {
        if time >= horizon {
            break;
        }
        kernel.serve_before(fabric, if kernel.arrival_first { time } else { time + 1 });
        let next = port.order.second_time();
        if time < next {
            let feed = port.first_feed + input as usize;
            let more = match kernel.lock_step(fabric, feed, next.min(horizon)) {
                Some(more) => more,
                None => kernel.arrive(fabric, feed, false),
            };
            if more {
                port.order.postpone_first(fabric.feeds[feed].head.time);
            } else {
                port.order.pop();
            }
            continue;
        }
        port.order.pop_group(time, &mut port.group);
        port.tie.arrange(time, &mut port.group);
        for &input in &port.group {
            kernel.arrive(fabric, port.first_feed + input as usize, false);
        }
        reinsert(&mut port.order, &mut port.group, fabric, port.first_feed);
    }
    kernel.serve_before(fabric, horizon);
}

/// The same as [`advance`], cell by cell, for a port that is watched.
#[cold]
fn advance_watched(port: &mut Port, fabric: &mut Fabric, horizon: u64) {
    let mut probe = port.probe.take().expect("only watched ports come here");
    let Kernel::Slotted(kernel) = &mut port.kernel else {
        unreachable!("called for this kernel only")
    };
    while let Some((time, _)) = port.order.first() {
        if time >= horizon {
            break;
        }
        sample_before(&mut probe, kernel, fabric, time);
        kernel.serve_before(fabric, if kernel.arrival_first { time } else { time + 1 });
        port.order.pop_group(time, &mut port.group);
        port.tie.arrange(time, &mut port.group);
        for &input in &port.group {
            arrive_watched(&mut probe, kernel, fabric, port.first_feed + input as usize);
        }
        reinsert(&mut port.order, &mut port.group, fabric, port.first_feed);
    }
    sample_before(&mut probe, kernel, fabric, horizon - 1);
    kernel.serve_before(fabric, horizon);
    port.probe = Some(probe);
}

/// Puts the inputs of `group` back into the order of arrivals, as far as they have more.
#[inline]
fn reinsert(order: &mut Order, group: &mut [u32], fabric: &Fabric, first_feed: usize) {
    // In the order of their numbers, so that each is inserted at the back.
    group.sort_unstable();
    for &input in group.iter() {
        let head = &fabric.feeds[first_feed + input as usize].head;
        if head.n > 0 {
            order.insert(head.time, input);
        }
    }
}

/// Records samples due until `time`, each after the decisions before it.
fn sample_before(
    probe: &mut crate::probe::PortProbe,
    kernel: &mut Slotted,
    fabric: &mut Fabric,
    time: u64,
) {
    while let Some(due) = probe.next_sample().filter(|&due| due <= time) {
        kernel.serve_before(fabric, if kernel.arrival_first { due } else { due + 1 });
        probe.sample_until(due, |_, quantity| kernel.look(quantity));
    }
}

fn arrive_watched(
    probe: &mut crate::probe::PortProbe,
    kernel: &mut Slotted,
    fabric: &mut Fabric,
    feed: usize,
) {
    let run = fabric.feeds[feed].head;
    let hop = &fabric.hops[run.hop as usize];
    let (direction, class) = (hop.direction, hop.class as usize);
    let dropped = fabric.extras[run.hop as usize].dropped;
    let queue = kernel.view(class, hop.local as usize);
    kernel.arrive(fabric, feed, true);
    let after = fabric.extras[run.hop as usize].dropped;
    let handled = Handled {
        time: run.time,
        direction,
        class,
        frame: run.frame,
        cell: run.cell,
        queue: (queue.waiting, queue.waiting_of_vc, queue.active_vcs),
        dropped: Handled::reason(&dropped, &after),
    };
    probe.handled(handled, |_, quantity| kernel.look(quantity));
}
