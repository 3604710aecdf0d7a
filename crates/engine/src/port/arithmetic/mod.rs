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

mod arrivals;
mod circle;
mod counts;
mod interleaved;
mod judged;
mod rounds;
mod route;
mod series;
mod singles;
mod straight;

use super::drop::QueueView;
use super::gate::Gate;
use super::waits_after;
use super::watch::Quantity;
use crate::cells::Run;
use crate::delays::Waits;
use crate::tally::{PortTally, raise};
use crate::units::{SignedTicks, Span, Time};
use counts::Counts;
pub use interleaved::Interleaved;
pub use rounds::RoundInput;

/// State of the kernel.
#[derive(Debug)]
pub struct Arithmetic {
    gate: Gate,
    class: usize,
    /// c.
    cell_time: Span,
    arrival_first: bool,
    /// S: start of the last accepted cell; before the first, long ago.
    start: SignedTicks,
    /// Start of the first cell of the busy period.
    busy_since: SignedTicks,
    /// S - t (corrected) at which X reaches K, and at which the policy may refuse, unless it is asked about each cell anyway.
    full: SignedTicks,
    refusal: SignedTicks,
    /// What matters of a gate that judges each cell; such a queue is near its limits always.
    judged: Option<judged::Judged>,
    /// Y_i per local VC number, N_a, and the cells they count, when needed.
    counts: Option<Counts>,
    accepted: u64,
    /// Largest corrected S - t just after an acceptance.
    longest: SignedTicks,
    queue_time: u128,
    /// The probe knows of all starts before this.
    recorded_until: SignedTicks,
}

/// A port at an instant, for probes.
pub struct Snapshot<'a> {
    class: usize,
    waiting: u64,
    /// Y_i, where it is counted.
    by_vc: &'a [u64],
    average: f64,
}

impl Snapshot<'_> {
    /// What a probe asks for.
    #[inline]
    pub fn look(&self, quantity: Quantity) -> f64 {
        let elsewhere = |class: Option<usize>| class.is_some_and(|class| class != self.class);
        match quantity {
            Quantity::Queue { class, .. } | Quantity::AverageQueue { class }
                if elsewhere(class) =>
            {
                0.0
            }
            Quantity::Queue { vc: Some(vc), .. } => self.by_vc[vc as usize] as f64,
            Quantity::Queue { vc: None, .. } => self.waiting as f64,
            Quantity::AverageQueue { .. } => self.average,
            // Whoever asks for credit is not served here.
            Quantity::QueueOfAbsentVc | Quantity::Credit => 0.0,
        }
    }
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
        let reaches = |x: u64| {
            let below = u128::from(x.saturating_sub(1)) * u128::from(cell_time.0)
                + u128::from(!arrival_first);
            i64::try_from(below).map_or(SignedTicks::MOST, SignedTicks)
        };
        let needed = counts || gate.needs().vc_counts;
        let judged = judged::Judged::new(&gate, cell_time, arrival_first, needed);
        // What the policy lets in has room.
        let [full, refusal] = match &judged {
            Some(_) if gate.asks_policy_alone() => [gate.room(); 2],
            _ => [gate.full(), gate.refusal()],
        };
        Arithmetic {
            full: reaches(full),
            refusal: reaches(refusal),
            judged,
            gate,
            class,
            cell_time,
            arrival_first,
            start: SignedTicks::LONG_AGO,
            busy_since: SignedTicks::LONG_AGO,
            counts: needed.then(|| Counts::new(vcs)),
            accepted: 0,
            longest: SignedTicks::LEAST,
            queue_time: 0,
            recorded_until: SignedTicks::ZERO,
        }
    }

    /// c.
    pub fn cell_time(&self) -> Span {
        self.cell_time
    }

    /// Start of the last accepted cell; not before the first.
    pub fn last_start(&self) -> Time {
        self.start.time()
    }

    /// No cell that is accepted from now on starts before this.
    pub fn next_start(&self) -> Time {
        (self.start + self.cell_time).max(SignedTicks::ZERO).time()
    }

    /// Whether the port is busy at `t` with a busy period that began before.
    pub fn is_steady_at(&self, t: Time) -> bool {
        let t = t.signed();
        !self.idle_at(t) && t != self.busy_since
    }

    /// How long cells may join, one per cell time or more, before X reaches a limit, the policy's too if a frame `begins`: not
    /// at all if that is negative.
    fn time_left_at(&self, t: Time, begins: bool) -> SignedTicks {
        let limit = if begins {
            self.full.min(self.refusal)
        } else {
            self.full
        };
        limit.saturating_sub(self.start - t.signed())
    }

    /// Whether `cells` cells may join before X reaches a limit: see [`Arithmetic::room_at`].
    pub fn has_room_at(&self, t: Time, begins: bool, cells: u64) -> bool {
        let left = u64::try_from(self.time_left_at(t, begins).0);
        left.is_ok_and(|left| u128::from(self.cell_time.0) * u128::from(cells) <= u128::from(left))
    }

    /// How many cells may join before X reaches a limit, the policy's too if a frame `begins`, when one joins per cell time or more.
    pub fn room_at(&self, t: Time, begins: bool) -> u64 {
        (self.time_left_at(t, begins).0 / self.cell_time.0 as i64).max(0) as u64
    }

    /// Where the cells of each VC are counted, if they are, before cells join from `t` on.
    pub fn counts_at(&mut self, t: Time) -> Option<&mut Counts> {
        self.forget_the_gone(t);
        self.counts.as_mut()
    }

    /// Takes note of `cells` cells that were accepted one per cell time or faster; the last one came at `time` and starts at `start`.
    pub fn accepted_in_rounds(&mut self, cells: u64, start: Time, time: Time) {
        self.accepted += cells;
        raise(&mut self.longest, (start - time).signed());
        self.start = start.signed();
    }

    /// Adds what `cells` cells have waited to the time integral of the queue.
    fn waited(&mut self, waits: Waits, cells: u64) {
        self.queue_time += waits.sum(cells);
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

    /// Counts `n` cells of `vc` that are accepted, the first at `t`, where the cells of each VC are counted. If it finds the port idle, it
    /// does not wait.
    fn count(&mut self, t: Time, vc: u32, n: u32, idle: bool) {
        if !idle {
            self.forget_the_gone(t);
        }
        if let Some(counts) = &mut self.counts {
            if idle {
                counts.clear();
            }
            counts.add(vc, n - u32::from(idle));
        }
    }

    /// Whether a cell that arrives at `t` finds the port idle.
    fn idle_at(&self, t: SignedTicks) -> bool {
        let free = self.start + self.cell_time;
        if self.arrival_first {
            free < t
        } else {
            free <= t
        }
    }

    /// S - t, without the first cell of a busy period that begins at t.
    fn ahead(&self, start: SignedTicks, t: SignedTicks) -> SignedTicks {
        let first = if self.arrival_first && t == self.busy_since {
            self.cell_time
        } else {
            Span::ZERO
        };
        start - t - first
    }

    /// X for a corrected S - t.
    fn cells(&self, ahead: SignedTicks) -> u64 {
        let c = self.cell_time.0 as i64;
        let cells = if self.arrival_first {
            ahead.0.div_euclid(c) + 1
        } else {
            -(-ahead.0).div_euclid(c)
        };
        cells.max(0) as u64
    }

    /// X at `t`.
    fn waiting(&self, t: Time) -> u64 {
        self.cells(self.ahead(self.start, t.signed()))
    }

    /// X at `t` before anything happens then, all before it having been taken.
    pub fn waiting_just_before(&self, t: Time) -> u64 {
        self.waiting(Time(t.0 - u64::from(!self.arrival_first)))
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

    /// What probes ask for, as it is at `t`.
    pub fn snapshot(&mut self, t: Time) -> Snapshot<'_> {
        let waiting = self.waiting(t);
        Snapshot {
            class: self.class,
            waiting,
            by_vc: self.counts.as_mut().map_or(&[], |c| c.by_vc(waiting)),
            average: self.gate.average().unwrap_or(0.0),
        }
    }

    /// Counters until `time` that the hops do not have, of a run until `end`; everything before `time` has been handled.
    pub fn tally(&self, time: Time, end: Time) -> PortTally {
        let c = self.cell_time;
        let last = self.start + c;
        let t = time.signed();
        let held = if last < t {
            0
        } else {
            let [left, of_all] = [t, self.busy_since].map(|from| (last - from).span().0 / c.0);
            (left + 1).min(of_all)
        };
        // Those that start later have been counted until then, or until the end.
        let last_start = self.start.max(SignedTicks::ZERO).time();
        let [after, after_end] =
            [time, end].map(|t| waits_after(last_start.since(t), self.cell_time));
        let max_queue = self.cells(self.longest.max(SignedTicks::ZERO - c));
        let mut tally = PortTally {
            accepted: self.accepted,
            held,
            max_queue,
            queue_time: self.queue_time - (after - after_end),
            ..PortTally::default()
        };
        tally.classes[self.class].max_queue = max_queue;
        tally
    }

    /// From now on the largest queue is that from `time` on, before which everything has been handled.
    pub fn restart_largest(&mut self, time: Time) {
        let before = time.0 - u64::from(!self.arrival_first);
        self.longest = self.ahead(self.start, Time(before).signed());
    }

    /// Takes the first `n` cells of `run`, which are all accepted; returns them as they depart. More than
    /// one only if the port is idle and the cells' distance is at least c, or it is c.
    #[inline(always)]
    fn accept(&mut self, run: &Run, n: u32, vc: u32, end: Time) -> Run {
        let c = self.cell_time;
        let (at, period) = (run.time, run.period);
        let t = at.signed();
        let last_arrival = t + period * u64::from(n - 1);
        self.accepted += u64::from(n);
        if self.idle_at(t) {
            // Only at distance c and with arrivals first do later cells join the busy period of the first.
            let joins = period == c && self.arrival_first && n > 1;
            self.busy_since = if joins { t } else { last_arrival };
            self.start = last_arrival;
            if joins {
                self.longest = self.longest.max(SignedTicks::ZERO);
                if let Some(counts) = &mut self.counts {
                    counts.clear();
                    counts.add(vc, n - 1);
                }
            }
            return Run {
                time: at + c,
                age: run.age + c,
                ..run.first(n)
            };
        }
        let first = self.start + c;
        let waits = (first - t).span();
        let ahead = if n > 1 {
            first - t
        } else {
            self.ahead(first, t)
        };
        raise(&mut self.longest, ahead);
        self.forget_the_gone(at);
        if let Some(counts) = &mut self.counts {
            counts.add(vc, n);
        }
        self.start = first + c * u64::from(n - 1);
        if self.start < end.signed() {
            self.waited(Waits::Equal(waits), n.into());
        } else {
            let start_of = |i: u64| (first.time() + c * i).min(end);
            for i in 0..u64::from(n) {
                self.waited(Waits::Equal(start_of(i).since(at + period * i)), 1);
            }
        }
        Run {
            time: first.time() + c,
            age: run.age + waits + c,
            period: c,
            ..run.first(n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::drop::Policy;
    use crate::rng::Stream;
    use crate::scenario::{DropPolicy, RestOfFrame};

    #[test]
    fn there_is_room_for_as_many_cells_as_are_told() {
        let policy = Policy::new(&DropPolicy::TailDrop, Some(10), &[]);
        let draws = Stream::new(1, 0, "port", "drop");
        let gate = Gate::new(Some(10), u64::MAX, None, policy, RestOfFrame::Accept, draws);
        let mut port = Arithmetic::new(gate, 0, Span(7), true, 1, false);
        for start in [100, 130, 163, 170, 300] {
            port.start = SignedTicks(start);
            let room = port.room_at(Time(100), false);
            let found = (1..20).filter(|&cells| port.has_room_at(Time(100), false, cells));
            assert!(found.eq(1..=room), "{start}: {room}");
        }
        assert!(!port.has_room_at(Time(100), false, u64::MAX));
    }
}
