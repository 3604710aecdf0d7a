//! The kernel for several classes, any scheduler and any rate: explicit queues, one decision per cell slot.
//!
//! When a cell's transmission ends and cells wait, the scheduler picks the next one at that instant. Such decisions are taken
//! as late as the next arrival or the horizon demands, with the order of coincident arrivals and departures
//! that the scenario states.

use super::drop::QueueView;
use super::merge::{ENDS_FRAME, SINGLE_CELLS};
use super::sched::{CLASSES, Scheduler};
use super::{FrameState, Kernel, Limits, Port, Verdict};
use crate::link::{Departure, Fabric};
use crate::probe::{Handled, Quantity};
use crate::tally::{DropReason, PortTally};
use crate::units::CellTime;
use std::collections::VecDeque;

/// A waiting cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    arrived: u64,
    age: u64,
    /// Number of the arrival at the port, over all classes.
    number: u64,
    hop: u32,
    frame: u32,
    cell: u32,
    flags: u8,
}

#[derive(Debug, Default)]
struct ClassQueue {
    /// The cells, when the class is served first come first served.
    cells: VecDeque<Cell>,
    /// The cells by local VC number, when it is scheduled per VC.
    per_vc: Vec<VecDeque<Cell>>,
    /// Y_i by local VC number, and N_a, when needed.
    of_vc: Vec<u64>,
    active: u64,
    max: u64,
}

/// State of the kernel.
#[derive(Debug)]
pub struct Slotted {
    cell_time: CellTime,
    arrival_first: bool,
    scheduler: Scheduler,
    limits: [Limits; CLASSES],
    queues: [ClassQueue; CLASSES],
    waiting: [u64; CLASSES],
    total: u64,
    /// Beginning of the busy period, cells of it so far, and when the cell in service ends; `busy` tells whether there is one.
    since: u64,
    served: u64,
    free_at: u64,
    busy: bool,
    /// VC direction of each local number, for per-VC scheduling.
    directions: Vec<u32>,
    counts: [bool; CLASSES],
    accepted: u64,
    started: u64,
    numbers: u64,
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
        for (queue, counts) in queues.iter_mut().zip(counts) {
            if counts {
                queue.of_vc = vec![0; vcs];
            }
        }
        if let Scheduler::PerVc(s) = &scheduler {
            queues[s.class()].per_vc = vec![VecDeque::new(); vcs];
        }
        Slotted {
            cell_time,
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
            numbers: 0,
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
            let start = self.free_at;
            let cell = self.next_cell();
            self.queue_time += u128::from(start - cell.arrived);
            self.begin(fabric, start, cell);
        }
    }

    /// Takes the cell that goes next off its queue.
    #[inline]
    fn next_cell(&mut self) -> Cell {
        let queues = &self.queues;
        let oldest = |c: usize| match queues[c].cells.front() {
            Some(cell) => cell.number,
            None => u64::MAX,
        };
        let class = self
            .scheduler
            .pick(&self.waiting, oldest)
            .expect("something waits");
        let queue = &mut self.queues[class];
        let cell = match &mut self.scheduler {
            Scheduler::PerVc(s) if s.class() == class => {
                let direction = s.pick();
                let local = self
                    .directions
                    .iter()
                    .position(|&d| d as usize == direction)
                    .expect("it crosses the port");
                let cell = queue.per_vc[local]
                    .pop_front()
                    .expect("the scheduler counts its cells");
                s.taken(direction, cell.flags != 0);
                cell
            }
            _ => queue
                .cells
                .pop_front()
                .expect("the class has a cell waiting"),
        };
        self.waiting[class] -= 1;
        self.total -= 1;
        cell
    }

    /// Begins the transmission of `cell` at `start`.
    #[inline]
    fn begin(&mut self, fabric: &mut Fabric, start: u64, cell: Cell) {
        let hop = &fabric.hops[cell.hop as usize];
        let (class, local) = (hop.class as usize, hop.local as usize);
        if self.counts[class] && cell.arrived != u64::MAX {
            let queue = &mut self.queues[class];
            queue.of_vc[local] -= 1;
            queue.active -= u64::from(queue.of_vc[local] == 0);
        }
        self.started += 1;
        self.served += 1;
        self.free_at = self.since + self.cell_time.end_of(self.served);
        let time = self.free_at;
        let arrived = if cell.arrived == u64::MAX {
            start
        } else {
            cell.arrived
        };
        let age = cell.age + (time - arrived);
        let Cell {
            frame,
            cell: number,
            flags,
            ..
        } = cell;
        let d = Departure {
            time,
            period: self.cell_time.longest(),
            age,
            n: 1,
            frame,
            cell: number,
            flags,
        };
        fabric.depart(cell.hop as usize, d);
    }

    /// Handles the first cell of `feed`, which arrives now.
    #[inline]
    fn arrive(&mut self, fabric: &mut Fabric, feed: usize) {
        let run = fabric.feeds[feed].head;
        let hop = &mut fabric.hops[run.hop as usize];
        let class = hop.class as usize;
        let local = hop.local as usize;
        let eom = run.ends_frame(0);
        let single = run.flags & SINGLE_CELLS != 0;
        let flags = if single {
            SINGLE_CELLS | ENDS_FRAME
        } else if eom {
            ENDS_FRAME
        } else {
            0
        };
        hop.arrived += 1;
        if !self.busy && (single || hop.frame_state.frame != Some(run.frame)) {
            hop.frame_state = FrameState {
                frame: Some(run.frame),
                verdict: Verdict::Accepted,
            };
        }
        let view = self.view(class, local);
        match self.limits[class].judge(&mut hop.frame_state, run.frame, eom, &view) {
            Err(reason) => fabric.extras[run.hop as usize].dropped[reason as usize] += 1,
            Ok(()) => {
                self.accepted += 1;
                self.numbers += 1;
                let mut cell = Cell {
                    arrived: run.time,
                    age: run.age,
                    number: self.numbers,
                    hop: run.hop,
                    frame: run.frame,
                    cell: run.cell,
                    flags,
                };
                if self.busy {
                    let direction = hop.direction as usize;
                    self.wait(class, local, direction, cell);
                } else {
                    // It never waits: it is not among the Y_i.
                    cell.arrived = u64::MAX;
                    self.busy = true;
                    self.since = run.time;
                    self.served = 0;
                    self.begin(fabric, run.time, cell);
                }
            }
        }
        fabric.feeds[feed].skip(1);
    }

    #[inline]
    fn wait(&mut self, class: usize, local: usize, direction: usize, cell: Cell) {
        let queue = &mut self.queues[class];
        if self.counts[class] {
            queue.active += u64::from(queue.of_vc[local] == 0);
            queue.of_vc[local] += 1;
        }
        match &mut self.scheduler {
            Scheduler::PerVc(s) if s.class() == class => {
                s.on_arrival(direction);
                queue.per_vc[local].push_back(cell);
            }
            _ => queue.cells.push_back(cell),
        }
        self.waiting[class] += 1;
        self.total += 1;
        queue.max = queue.max.max(self.waiting[class]);
        self.max_queue = self.max_queue.max(self.total);
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

    /// Whether every accepted cell is waiting or has been in service.
    pub fn is_balanced(&self) -> bool {
        let stored =
            |q: &ClassQueue| q.cells.len() + q.per_vc.iter().map(VecDeque::len).sum::<usize>();
        self.accepted == self.started + self.queues.iter().map(stored).sum::<usize>() as u64
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
        let waiting_since = |cell: &Cell| u128::from(end - cell.arrived);
        let held = |q: &ClassQueue| {
            q.cells
                .iter()
                .chain(q.per_vc.iter().flatten())
                .map(waiting_since)
                .sum::<u128>()
        };
        let in_service = u64::from(self.busy && self.free_at >= end);
        let mut tally = PortTally {
            accepted: self.accepted,
            held: self.total + in_service,
            max_queue: self.max_queue,
            queue_time: self.queue_time + self.queues.iter().map(held).sum::<u128>(),
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
    let mut probe = port.probe.take();
    let Kernel::Slotted(kernel) = &mut port.kernel else {
        unreachable!("called for this kernel only")
    };
    while let Some((time, input)) = port.order.first() {
        if time >= horizon {
            break;
        }
        if let Some(probe) = &mut probe {
            sample_before(probe, kernel, fabric, time);
        }
        kernel.serve_before(fabric, if kernel.arrival_first { time } else { time + 1 });
        if time < port.order.second_time() {
            port.order.pop();
            port.group.clear();
            port.group.push(input);
        } else {
            port.order.pop_group(time, &mut port.group);
            port.tie.arrange(time, &mut port.group);
        }
        for &input in &port.group {
            let feed = port.first_feed + input as usize;
            match &mut probe {
                None => kernel.arrive(fabric, feed),
                Some(probe) => arrive_watched(probe, kernel, fabric, feed),
            }
        }
        if port.group.len() > 1 {
            port.group.sort_unstable();
        }
        for &input in &port.group {
            let head = &fabric.feeds[port.first_feed + input as usize].head;
            if head.n > 0 {
                port.order.insert(head.time, input);
            }
        }
    }
    if let Some(probe) = &mut probe {
        sample_before(probe, kernel, fabric, horizon - 1);
    }
    kernel.serve_before(fabric, horizon);
    port.probe = probe;
}

/// Records samples due until `time`, each after the decisions before it.
#[cold]
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

#[cold]
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
    kernel.arrive(fabric, feed);
    let after = fabric.extras[run.hop as usize].dropped;
    let handled = Handled {
        time: run.time,
        direction,
        class,
        frame: run.frame,
        cell: run.cell,
        queue: (queue.waiting, queue.waiting_of_vc, queue.active_vcs),
        dropped: DropReason::ALL
            .into_iter()
            .find(|&r| after[r as usize] > dropped[r as usize]),
    };
    probe.handled(handled, |_, quantity| kernel.look(quantity));
}
