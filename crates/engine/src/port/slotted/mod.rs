//! Kernel for several classes and any scheduler: explicit queues, one scheduling decision per cell
//! slot.
//!
//! When a transmission ends and cells wait, the scheduler picks the next cell at that instant. The
//! kernel takes these decisions as late as the next arrival or the horizon demands. Coincident
//! arrivals and departures keep the order that the scenario states.
//!
//! Queues hold runs of cells that arrived a cell time apart; most runs have one cell. Three
//! fast paths take many cells at once:
//! * *patterns* (`pattern.rs`): the scheduler gives all slots until the next arrival that it can, to
//!   one class in a row or in rounds;
//! * *rounds* (`rounds.rs`): inputs that bring a cell per cell time each;
//! * *bulk* (`bulk.rs`): per-VC queues, and arrivals while the port surely stays busy.
//!
//! Cells that differ in length, or that leave at a rate that changes, are taken one by one: a
//! decision takes the time of the cell that it begins. While no cell may begin, the port is busy, and
//! its next decision falls on the end of that time.
//!
//! If ports are near each other, decisions are taken ahead of their time (`ahead.rs`).

pub mod ahead;
mod arrivals;
mod bulk;
mod leaving;
mod pattern;
mod queue;
mod queued_cells;
mod rounds;
mod vc_queue;

use super::drop::QueueView;
use super::fast_paths::FastPath;
use super::gate::Gate;
use super::sched::{ClassOrder, FlowShare, Pattern, Scheduler, Slots, Turn};
use super::waits_after;
use super::watch::Quantity;
use crate::ground::class::Class;
use crate::ground::delays::Waits;
use crate::ground::format::Format;
use crate::ground::line_rate::{ChangingLine, LineTimes};
use crate::ground::place::Place;
use crate::ground::units::{Span, Time};
use crate::network::cells::Run;
use crate::network::fabric::Fabric;
use crate::network::tally::{CLASSES, PortTally};
use crate::text::program::{Failure, SchedulerText};
use ahead::{DecidedCells, Foresight, SlotOwner};
use bulk::Bulk;
use queue::ClassQueue;
pub use queued_cells::QueuedCells;
use rounds::Rounds;
use vc_queue::VcQueue;

/// State of the slotted kernel at one port.
#[derive(Debug)]
pub struct Slotted {
    /// Time of a cell; of the longest if they differ.
    cell_time: Span,
    /// Service of cells one by one, if they differ in time.
    one_by_one: Option<Box<OneByOne>>,
    arrival_first: bool,
    scheduler: Scheduler,
    gates: [Gate; CLASSES],
    queues: [ClassQueue; CLASSES],
    /// Cells that the scheduler has not decided on, per class; `total` is their sum.
    waiting: [u64; CLASSES],
    total: u64,
    /// Cells decided on ahead of time.
    /// `foresight` says what is known of cells to come; `None` if no decision may be ahead.
    decided: DecidedCells,
    foresight: Option<[Foresight; CLASSES]>,
    /// When the next cell can begin while `busy`, else the time since which the port is idle.
    free_at: Time,
    busy: bool,
    counts: [bool; CLASSES],
    accepted: u64,
    pushed_out: u64,
    started: u64,
    max_queue: u64,
    queue_time: u128,
    /// Classes whose VCs are served one by one.
    by_vc: [bool; CLASSES],
    /// Cells that the latest push-out removed.
    last_pushed_out: Vec<QueuedCells>,
    /// Whether any queue here can be below all limits.
    has_room_below_limits: bool,
    bulk: Bulk,
    rounds: Rounds,
    /// Turns of a round, for the scheduler's answer.
    turns: Vec<Turn>,
}

/// Service of cells that differ in time.
#[derive(Debug)]
struct OneByOne {
    times: LineTimes,
    /// Transmission time of all cells that have begun.
    begun: Span,
    /// If the rate changes.
    latest: Latest,
    /// The pool in which the port takes part.
    pool: Option<PoolPlace>,
    /// If queues count places.
    places: Option<CountedPlaces>,
}

/// A port in a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolPlace {
    /// Index of the pool.
    pub pool: u32,
    /// Number of the port there.
    pub number: u32,
}

impl PoolPlace {
    /// Number of the port's queue of `class` in the pool.
    fn queue(self, class: usize) -> usize {
        self.number as usize * CLASSES + class
    }
}

/// The latest transmission at a rate that changes.
#[derive(Debug, Default)]
struct Latest {
    /// Rate at its begin, bit/s.
    rate: u64,
    ends: Time,
    /// Transmission times of all cells that have begun, each times its rate.
    work: u128,
}

/// Queues that count places, as their cells take different numbers of them.
#[derive(Debug)]
struct CountedPlaces {
    /// Bytes of a place.
    each: u32,
    /// Largest number of waiting cells of each class.
    max_cells: [u64; CLASSES],
    /// Largest sum of X over the classes.
    max_queue: u64,
}

impl CountedPlaces {
    fn of(&self, cell: &QueuedCells) -> u64 {
        self.of_bytes(cell.cell.bytes())
    }

    /// Places of a cell of `bytes`. Only packets of Ethernet differ in them.
    #[inline]
    fn of_bytes(&self, bytes: u32) -> u64 {
        let stored = Format::ETHERNET.places(bytes);
        match self.each {
            1 => stored,
            each => stored.div_ceil(u64::from(each)),
        }
    }
}

impl Latest {
    /// Begins the transmission of a cell of `bytes` at `start`. Returns the time that it takes, and sets
    /// `next` to when the next one can begin.
    #[cold]
    fn begin(&mut self, line: &ChangingLine, start: Time, bytes: u32, next: &mut Time) -> Span {
        let rate = line.rate.at(start);
        let takes = line.format.time_of(bytes, rate);
        self.rate = rate.0;
        self.ends = start + takes;
        self.work += u128::from(takes.0) * u128::from(rate.0);
        *next = line.rate.begins(self.ends).min(Time::LATEST);
        takes
    }
}

impl OneByOne {
    /// Begins the transmission of this cell at `start`. Returns the time that it takes, and sets `next`
    /// to when the next one can begin.
    fn begin(&mut self, start: Time, cell: &QueuedCells, next: &mut Time) -> Span {
        debug_assert_eq!(cell.n(), 1, "one by one");
        let bytes = cell.cell.bytes();
        let takes = match &self.times {
            LineTimes::Lengths(times) => {
                let takes = times.of(bytes);
                *next = start + takes;
                takes
            }
            LineTimes::Changing(line) => self.latest.begin(line, start, bytes, next),
        };
        self.begun += takes;
        takes
    }

    /// How long the latest transmission goes on after `time` at a port that is busy until `free_at`, if
    /// one is in service just before `time`.
    fn in_service(&self, time: Time, free_at: Time) -> Option<Span> {
        let ends = match &self.times {
            LineTimes::Lengths(_) => free_at,
            LineTimes::Changing(_) => self.latest.ends,
        };
        (ends >= time).then(|| ends.since(time))
    }
}

impl Slotted {
    /// Creates the kernel of a port that `flows` cross, with one gate per class.
    /// `times` are those of cells that differ, which take places as `place` says.
    /// `counts` keeps Y_i and N_a even if no policy needs them. `foresight` permits decisions ahead
    /// of their time.
    pub fn new(
        gates: [Gate; CLASSES],
        mut scheduler: Scheduler,
        (cell_time, times, place): (Span, Option<LineTimes>, Place),
        arrival_first: bool,
        flows: &[FlowShare],
        counts: bool,
        foresight: Option<[Foresight; CLASSES]>,
    ) -> Slotted {
        let vcs = flows.len();
        let counts = std::array::from_fn(|c| counts || gates[c].needs().vc_counts);
        let queues = std::array::from_fn(|class| ClassQueue {
            of_vc: vec![0; if counts[class] { vcs } else { 0 }],
            per_vc: match scheduler.class_order(class) {
                ClassOrder::InOrder => Vec::new(),
                ClassOrder::PerVc(_) | ClassOrder::Program(_) => vec![VcQueue::new(); vcs],
            },
            limits: gates[class].limits(),
            asks_idle_time: gates[class].needs().idle_time,
            ..ClassQueue::default()
        });
        let by_vc = std::array::from_fn(|class| {
            !matches!(scheduler.class_order(class), ClassOrder::InOrder)
        });
        let in_order = scheduler.per_vc().is_none() && !scheduler.looks_at_queues();
        let can_be_below_limits =
            |flow: &FlowShare| gates[flow.class as usize].limits().fits(0, false);
        let changes = matches!(times, Some(LineTimes::Changing(_)));
        // Each cell that may find a pause goes through the gate.
        let has_room_below_limits = !changes && flows.iter().any(can_be_below_limits);
        let stays = gates.iter().all(|gate| !gate.needs().stored_cells);
        let counts_vcs = scheduler.per_vc().is_some_and(|s| counts[s.class()]);
        let goes_ahead = !scheduler.looks_at_queues() && !counts_vcs && stays && times.is_none();
        let counts_places = gates.iter().any(Gate::counts_places);
        let one_by_one = times.map(|times| {
            Box::new(OneByOne {
                times,
                begun: Span::ZERO,
                latest: Latest::default(),
                pool: None,
                places: counts_places.then_some(CountedPlaces {
                    each: place.bytes(),
                    max_cells: [0; CLASSES],
                    max_queue: 0,
                }),
            })
        });
        let takes_bulk = scheduler.per_vc().is_some() && one_by_one.is_none();
        Slotted {
            bulk: Bulk::new(takes_bulk, cell_time, vcs),
            one_by_one,
            has_room_below_limits,
            rounds: Rounds {
                apply: in_order && has_room_below_limits && !counts_places,
                arrivals: Vec::new(),
            },
            turns: Vec::new(),
            cell_time,
            arrival_first,
            scheduler,
            gates,
            queues,
            waiting: [0; CLASSES],
            total: 0,
            decided: DecidedCells::default(),
            foresight: foresight.filter(|_| goes_ahead),
            free_at: Time::ZERO,
            busy: false,
            counts,
            accepted: 0,
            pushed_out: 0,
            started: 0,
            max_queue: 0,
            queue_time: 0,
            by_vc,
            last_pushed_out: Vec::new(),
        }
    }

    /// From now on its port takes part in a pool. It serves cells one by one.
    pub fn take_part(&mut self, pool: PoolPlace) {
        let each = self.one_by_one.as_mut().expect("one by one");
        each.pool = Some(pool);
    }

    /// What failed first in the program that schedules.
    #[inline]
    pub fn failure(&self, end: Time) -> Option<(SchedulerText, Failure)> {
        self.scheduler.failure(end)
    }

    /// When the scheduler must decide next.
    pub fn next_departure(&self) -> Time {
        if self.total > 0 {
            self.free_at
        } else {
            Time::NEVER
        }
    }

    /// Lower bound on the start of any cell that the scheduler decides on from now on.
    pub fn next_start(&self) -> Time {
        self.free_at
    }

    /// Takes all decisions that fall on transmission ends before `limit`.
    #[inline]
    fn serve_before(&mut self, fabric: &mut Fabric, limit: Time) {
        if !self.decided.is_empty() {
            self.begin_decided_before(limit);
        }
        while self.busy && self.free_at < limit {
            if self.total == 0 {
                self.busy = false;
                break;
            }
            let ahead = limit - self.free_at;
            let decisions = if ahead <= self.cell_time || self.one_by_one.is_some() {
                1
            } else {
                ahead.0.div_ceil(self.cell_time.0).min(self.total)
            };
            self.decide::<false>(fabric, decisions);
        }
    }

    /// Takes the next `decisions` decisions; a cell must be waiting for each. With `AHEAD` it takes
    /// fewer where a VC has come down to one cell.
    fn decide<const AHEAD: bool>(&mut self, fabric: &mut Fabric, mut decisions: u64) {
        while decisions > 0 && !(AHEAD && self.is_vc_short()) {
            let pattern = self.give_slots(decisions, AHEAD);
            decisions -= match pattern {
                Pattern::Turn(turn) => {
                    self.begin::<AHEAD>(fabric, turn);
                    turn.slots
                }
                Pattern::Rounds(rounds) => self.begin_rounds::<AHEAD>(fabric, rounds),
            };
        }
    }

    /// To whom the next slots go, at most `most`. If `ahead`, each VC keeps a cell.
    #[inline(always)]
    fn give_slots(&mut self, most: u64, ahead: bool) -> Pattern {
        let slots = Slots {
            now: self.free_at,
            sent: self.started,
            most: if FastPath::Pattern.is_on() { most } else { 1 },
            kept: u64::from(ahead),
            waiting: &self.waiting,
            queues: &self.queues,
        };
        let pattern = self.scheduler.give(slots, &mut self.turns);
        let pattern = pattern.expect("something waits");
        if !matches!(pattern, Pattern::Turn(Turn { slots: 1, .. })) {
            FastPath::Pattern.enter();
        }
        pattern
    }

    /// Begins the transmission of the cells of `turn`, one after the other.
    #[inline(always)]
    fn begin<const AHEAD: bool>(&mut self, fabric: &mut Fabric, turn: Turn) {
        self.waiting[turn.class] -= turn.slots;
        self.total -= turn.slots;
        let mut left = turn.slots;
        while left > 0 {
            let (cells, to) = self.take_cells::<AHEAD>(
                fabric,
                Turn {
                    slots: left,
                    ..turn
                },
            );
            let n = u64::from(cells.n());
            left -= n;
            if AHEAD {
                self.decided.push(self.free_at, n, to);
            }
            if let Some(each) = &self.one_by_one {
                if let Some(places) = &each.places {
                    self.queues[turn.class].beyond -= places.of(&cells) - 1;
                }
                if let Some(place) = each.pool {
                    self.release(fabric, place, turn.class, &cells);
                }
            }
            let run = self.transmit(self.free_at, &cells);
            fabric.depart(run);
        }
    }

    /// Takes up to `turn.slots` cells of one run from a queue, and returns them with their flow. They
    /// leave Y_i and N_a, or with `AHEAD` stay in those and in X until they begin.
    #[inline(always)]
    fn take_cells<const AHEAD: bool>(
        &mut self,
        fabric: &Fabric,
        turn: Turn,
    ) -> (QueuedCells, SlotOwner) {
        let Turn { class, vc, slots } = turn;
        let queue = &mut self.queues[class];
        let cells = if self.by_vc[class] {
            queue.per_vc[vc].take(slots as u32, self.cell_time)
        } else {
            queue.take_front(slots, self.cell_time)
        };
        let n = u64::from(cells.n());
        let mut local = 0;
        if self.counts[class] {
            local = fabric.hops[cells.hop as usize].local as usize;
            if !AHEAD {
                let places = match &self.one_by_one {
                    Some(each) => each.places.as_ref().map_or(n, |places| places.of(&cells)),
                    None => n,
                };
                queue.count_out(local, places);
            }
        }
        if AHEAD {
            queue.beyond += n;
        }
        (cells, SlotOwner { class, local })
    }

    /// Adds what `cells` cells have waited to the time integral of the queues.
    fn waited(&mut self, waits: Waits, cells: u64) {
        self.queue_time += waits.sum(cells);
    }

    /// Begins the transmission of `cells` at `start`, back to back, and returns the run that
    /// leaves.
    #[inline(always)]
    fn transmit(&mut self, start: Time, cells: &QueuedCells) -> Run {
        let n = u64::from(cells.n());
        self.started += n;
        let cell_time = match &mut self.one_by_one {
            None => {
                self.free_at = start + self.cell_time * n;
                self.cell_time
            }
            Some(each) => each.begin(start, cells, &mut self.free_at),
        };
        self.waited(Waits::Equal(start - cells.arrived), n);
        cells.leaving(start, cell_time)
    }

    /// Brings the times without a rate up to date at an arrival: if no cell may begin, the port is busy
    /// until one may.
    #[cold]
    fn pause_at(&mut self, now: Time) {
        let line = self.one_by_one.as_ref().map(|each| &each.times);
        let Some(LineTimes::Changing(line)) = line else {
            return;
        };
        let Some(end) = line.rate.pause_end(now) else {
            return;
        };
        self.busy = end >= self.decided_before(now);
        self.free_at = self.free_at.max(end.min(Time::LATEST));
    }

    /// Idle time of the port at `now`, in whole cell times; `None` while it is busy.
    /// Returns 0 if the policy of `class` does not need the value.
    #[inline]
    fn idle_cells(&self, class: usize, now: Time) -> Option<u64> {
        let asks = self.queues[class].asks_idle_time;
        let cells = || (now - self.free_at).0 / self.cell_time.0;
        (!self.busy).then(|| if asks { cells() } else { 0 })
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
            waiting: self.x(class),
            waiting_of_vc,
            active_vcs: queue.active,
        }
    }

    /// What a cell takes of the queues and their maxima, if they count places.
    #[inline]
    fn places(&self) -> Option<&CountedPlaces> {
        self.one_by_one.as_ref()?.places.as_ref()
    }

    /// The pool in which the port takes part.
    #[inline]
    fn pool(&self) -> Option<PoolPlace> {
        self.one_by_one.as_ref()?.pool
    }

    /// Gives the places of a cell that begins now back to the pool. It has left its queue.
    #[cold]
    fn release(&self, fabric: &mut Fabric, at: PoolPlace, class: usize, cell: &QueuedCells) {
        let share = self.gates[class].share();
        let (x, places) = (
            self.gates[class].places_of(self.x(class)),
            share.place.of(cell.cell.bytes()),
        );
        let waited = self.free_at - cell.arrived;
        let (queue, shared) = (at.queue(class), share.needs(x, places));
        let pool = &mut fabric.pools[at.pool as usize];
        pool.release(self.free_at, queue, places, shared, waited);
    }

    /// Places times waiting times until `end` of all cells that wait.
    pub fn place_time(&self, end: Time) -> u128 {
        let of_queue = |(queue, gate): (&ClassQueue, &Gate)| {
            let place = gate.share().place;
            let waits = |cells: &QueuedCells| {
                let each = |i: u64| u128::from(end.since(cells.arrived + self.cell_time * i).0);
                let all: u128 = (0..u64::from(cells.n())).map(each).sum();
                all * u128::from(place.of(cells.cell.bytes()))
            };
            queue.runs().map(waits).sum::<u128>()
        };
        self.queues.iter().zip(&self.gates).map(of_queue).sum()
    }

    /// All waiting cells; those of one flow come in order.
    pub fn runs(&self) -> impl Iterator<Item = &QueuedCells> {
        self.queues.iter().flat_map(ClassQueue::runs)
    }

    /// Whether every accepted cell is waiting, has been in service or was pushed out.
    pub fn is_balanced(&self) -> bool {
        let waiting: u64 = self.runs().map(|r| u64::from(r.n())).sum();
        self.accepted == self.started + waiting + self.pushed_out
    }

    /// Number of waiting cells of `class`.
    pub fn waiting_of(&self, class: Class) -> u64 {
        self.waiting[class as usize]
    }

    /// Current value of a probed quantity.
    pub fn look(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Queue { vc: Some(vc), .. } => {
                let of_vc = |q: &ClassQueue| q.of_vc.get(vc as usize).copied().unwrap_or(0);
                self.queues.iter().map(of_vc).sum::<u64>() as f64
            }
            Quantity::Queue {
                class: Some(class), ..
            } if self.places().is_some() => self.x(class) as f64,
            Quantity::Queue {
                class: Some(class), ..
            } => self.waiting[class] as f64,
            Quantity::Queue { .. } if self.places().is_some() => {
                (0..CLASSES).map(|class| self.x(class)).sum::<u64>() as f64
            }
            Quantity::Queue { .. } => self.total as f64,
            Quantity::QueueOfAbsentVc => 0.0,
            Quantity::Pool | Quantity::Threshold { .. } => {
                unreachable!("the pool has them, no port")
            }
            Quantity::Credit => self.scheduler.credit().unwrap_or(0.0),
            Quantity::AverageQueue { class } => {
                let gates = self.gates.iter().enumerate();
                let wanted = gates.filter(|(i, _)| class.is_none_or(|class| class == *i));
                wanted.filter_map(|(_, gate)| gate.average()).sum()
            }
        }
    }

    /// Counters of the port up to `time` that hops do not keep. Everything before `time` must have
    /// been handled.
    pub fn tally(&self, time: Time) -> PortTally {
        let waited = |run: &QueuedCells| {
            let since = |i: u64| u128::from((time - (run.arrived + self.cell_time * i)).0);
            (0..u64::from(run.n())).map(since).sum::<u128>()
        };
        let waited = self.queue_time + self.runs().map(waited).sum::<u128>();
        // The cell in service, and those that were decided on ahead of time.
        let sends = self.busy && self.free_at >= time;
        let (mut line_time, mut line_work, mut in_service, mut ahead) = (Span::ZERO, 0, 0, 0);
        match &self.one_by_one {
            Some(each) => {
                let left = each.in_service(time, self.free_at).filter(|_| self.busy);
                let unsent = left.unwrap_or(Span::ZERO);
                in_service = u64::from(left.is_some());
                line_time = each.begun - unsent;
                line_work = each.latest.work - u128::from(unsent.0) * u128::from(each.latest.rate);
            }
            None => {
                line_time += self.cell_time * self.started;
                if sends {
                    let last_start = self.free_at.since(time + self.cell_time);
                    in_service = (self.free_at - time).0 / self.cell_time.0 + 1;
                    ahead = waits_after(last_start, self.cell_time);
                    line_time = line_time - (self.free_at - time);
                }
            }
        }
        let mut tally = PortTally {
            accepted: self.accepted,
            held: self.total + in_service,
            max_queue: self.max_queue,
            queue_time: waited - ahead,
            line_time,
            line_work,
            ..PortTally::default()
        };
        for (class, queue) in tally.classes.iter_mut().zip(&self.queues) {
            class.max_queue = queue.max;
        }
        if let Some(places) = self.places() {
            tally.max_places = places.max_queue;
            for (class, &max) in tally.classes.iter_mut().zip(&places.max_cells) {
                class.max_places = std::mem::replace(&mut class.max_queue, max);
            }
        }
        tally
    }

    /// Restarts the maximum queue lengths at `time`. Everything before `time` must have been
    /// handled.
    pub fn restart_largest(&mut self, time: Time) {
        self.begin_decided_before(time);
        self.max_queue = self.total + self.decided.total;
        match &mut self.one_by_one {
            Some(each) if each.places.is_some() => {
                let places = each.places.as_mut().expect("it is there");
                places.max_cells = self.waiting;
            }
            _ => {
                for class in 0..CLASSES {
                    self.queues[class].max = self.x(class);
                }
            }
        }
    }
}
