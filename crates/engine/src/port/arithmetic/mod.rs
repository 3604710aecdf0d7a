//! The kernel for one class, served first come first served at a whole-tick cell time.
//!
//! With constant service, the start S of the last accepted cell determines everything. The next
//! cell starts at S + c (c: the cell time), or at once if the port is idle. The waiting cells start
//! at S, S - c, S - 2c, and so on. So X(t) follows from dividing S - t by c, and thresholds on X
//! become thresholds on S - t. No cell is stored and no departure is an event: a cell is passed on
//! when it is accepted. The first cell of a busy period starts on arrival and never waits, hence a
//! correction at the very instant a busy period begins.
//!
//! * arrivals first: X(t) = #{starts >= t}, without the first cell of the busy period
//! * departures first: X(t) = #{starts > t}
//!
//! If a policy needs Y_i and N_a, they come from a queue of (VC, cells), which is shortened to X
//! whenever it is read. Cells of one run that arrive at distance c, while no other input brings
//! any, are taken together: all find the same X and wait equally long.

mod arrivals;
mod asked_rounds;
mod counts;
mod frame;
mod interleaved;
mod judged;
mod judged_in_turns;
mod round_inputs;
mod rounds;
mod route;
mod series;
mod singles;

use super::drop::QueueView;
use super::gate::Gate;
use super::limits::Limits;
use super::waits_after;
use super::watch::Quantity;
use crate::ground::delays::Waits;
use crate::ground::units::{SignedTicks, Span, Time};
use crate::network::cells::Run;
use crate::network::tally::{PortTally, raise};
use counts::Counts;
pub use interleaved::Interleaved;
use round_inputs::RoundInput;

/// State of the kernel.
#[derive(Debug)]
pub struct Arithmetic {
    gate: Gate,
    class: usize,
    /// Cell time c.
    cell_time: Span,
    arrival_first: bool,
    /// Start S of the last accepted cell; long ago before the first.
    start: SignedTicks,
    /// Start of the first cell of the current or last busy period.
    busy_since: SignedTicks,
    /// Limits on the corrected S - t. If the policy alone is asked about each cell, they stand for
    /// the room.
    limits: Limits<SignedTicks>,
    /// State for a gate that judges each cell; near its limits at all times.
    judged: Option<judged::Judged>,
    /// Y_i per local VC number and N_a, if needed.
    counts: Option<Counts>,
    accepted: u64,
    /// Largest corrected S - t just after an acceptance.
    longest: SignedTicks,
    queue_time: u128,
    /// All starts before this have been recorded by the probe.
    recorded_until: SignedTicks,
    /// Scratch for `rounds.rs`: the inputs that take part.
    round_inputs: Vec<RoundInput>,
}

/// State of a port at an instant, for probes.
pub struct Snapshot<'a> {
    class: usize,
    waiting: u64,
    /// Y_i, if counted.
    by_vc: &'a [u64],
    average: f64,
}

impl Snapshot<'_> {
    /// The value of `quantity`.
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
            // Unreachable for `Credit`: ports with a credit probe use the slotted kernel.
            Quantity::QueueOfAbsentVc | Quantity::Credit => 0.0,
            Quantity::Pool | Quantity::Threshold { .. } => {
                unreachable!("the pool has them, no port")
            }
        }
    }
}

impl Arithmetic {
    /// A kernel for the class queue behind `gate`, at a port that `vcs` flows cross. `counts` keeps
    /// Y_i and N_a even if the policy does not need them.
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
        // The policy is asked about every cell anyway, so only room is a limit.
        let limits = match &judged {
            Some(_) if gate.asks_policy_alone() => Limits::new(gate.room(0), u64::MAX),
            _ => gate.limits(),
        };
        Arithmetic {
            limits: Limits::new(reaches(limits.fit(0, false)), reaches(limits.fit(0, true))),
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
            round_inputs: Vec::new(),
        }
    }

    /// Cell time c.
    pub fn cell_time(&self) -> Span {
        self.cell_time
    }

    /// Start of the last accepted cell; undefined before the first.
    pub fn last_start(&self) -> Time {
        self.start.time()
    }

    /// A lower bound for the starts of all cells still to be accepted.
    pub fn next_start(&self) -> Time {
        (self.start + self.cell_time).max(SignedTicks::ZERO).time()
    }

    /// Whether the port is busy at `t` with a busy period that began earlier.
    pub fn is_steady_at(&self, t: Time) -> bool {
        let t = t.signed();
        !self.idle_at(t) && t != self.busy_since
    }

    /// The growth of S - t that is left at `t` before X reaches a limit, ticks; negative if it is
    /// exceeded. Cells must join one per cell time or faster. The limit includes the policy's if a
    /// frame `begins`.
    fn time_left_at(&self, t: Time, begins: bool) -> SignedTicks {
        self.limits.fit(self.start - t.signed(), begins)
    }

    /// Whether `cells` cells may join before X reaches a limit: see [`Arithmetic::cells_until_limit`].
    pub fn has_room_for(&self, t: Time, begins: bool, cells: u64) -> bool {
        let left = u64::try_from(self.time_left_at(t, begins).0);
        left.is_ok_and(|left| u128::from(self.cell_time.0) * u128::from(cells) <= u128::from(left))
    }

    /// How many cells may join before X reaches a limit, if they come one per cell time or faster.
    /// The limit includes the policy's if a frame `begins`.
    pub fn cells_until_limit(&self, t: Time, begins: bool) -> u64 {
        (self.time_left_at(t, begins).0 / self.cell_time.0 as i64).max(0) as u64
    }

    /// The counts per VC, if kept, for cells that join from `t` on.
    pub fn counts_at(&mut self, t: Time) -> Option<&mut Counts> {
        self.forget_departed(t);
        self.counts.as_mut()
    }

    /// Accounts for `cells` accepted cells that came one per cell time or faster. The last of them
    /// came at `time` and starts at `start`.
    pub fn accepted_in_rounds(&mut self, cells: u64, start: Time, time: Time) {
        self.accepted += cells;
        raise(&mut self.longest, (start - time).signed());
        self.start = start.signed();
    }

    /// Adds the waits of `cells` cells to the time integral of the queue.
    fn waited(&mut self, waits: Waits, cells: u64) {
        self.queue_time += waits.sum(cells);
    }

    /// Shortens the counts if they have grown long since they were last read.
    fn forget_departed(&mut self, t: Time) {
        if self.counts.as_ref().is_some_and(Counts::is_long) {
            let waiting = self.waiting(t);
            self.counts
                .as_mut()
                .expect("just looked at")
                .forget(waiting);
        }
    }

    /// Counts `n` accepted cells of `vc`, the first at `t`, if counts are kept. The first cell is
    /// left out if it finds the port `idle`, since it does not wait.
    fn count(&mut self, t: Time, vc: u32, n: u32, idle: bool) {
        if !idle {
            self.forget_departed(t);
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

    /// The corrected S - t: without the first cell of a busy period that begins at `t`.
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

    /// X at `t`, before anything happens at that instant. Everything before `t` has been taken.
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

    /// The state at `t`, for probes.
    pub fn snapshot(&mut self, t: Time) -> Snapshot<'_> {
        let waiting = self.waiting(t);
        Snapshot {
            class: self.class,
            waiting,
            by_vc: self.counts.as_mut().map_or(&[], |c| c.by_vc(waiting)),
            average: self.gate.average().unwrap_or(0.0),
        }
    }

    /// Counters up to `time` that hops do not keep, for a run that ends at `end`. Everything before
    /// `time` has been handled.
    pub fn tally(&self, time: Time, end: Time) -> PortTally {
        let c = self.cell_time;
        let last = self.start + c;
        let t = time.signed();
        let (held, unsent) = if last < t {
            (0, Span::ZERO)
        } else {
            let [left, of_all] = [t, self.busy_since].map(|from| (last - from).span());
            ((left.0 / c.0 + 1).min(of_all.0 / c.0), left.min(of_all))
        };
        // The integral already has the waits of later starters up to their start or the end of the
        // run.
        let last_start = self.start.max(SignedTicks::ZERO).time();
        let [after, after_end] =
            [time, end].map(|t| waits_after(last_start.since(t), self.cell_time));
        let max_queue = self.cells(self.longest.max(SignedTicks::ZERO - c));
        let mut tally = PortTally {
            accepted: self.accepted,
            held,
            max_queue,
            queue_time: self.queue_time - (after - after_end),
            line_time: c * self.accepted - unsent,
            ..PortTally::default()
        };
        tally.classes[self.class].max_queue = max_queue;
        tally
    }

    /// Restarts the largest queue at `time`; everything before that has been handled.
    pub fn restart_largest(&mut self, time: Time) {
        let before = time.0 - u64::from(!self.arrival_first);
        self.longest = self.ahead(self.start, Time(before).signed());
    }

    /// Takes the first `n` cells of `run`, all accepted, and returns them as they depart. `n` may
    /// exceed 1 only if the distance of the cells is c, or if it is larger and the port is idle.
    #[inline(always)]
    fn accept(&mut self, run: &Run, n: u32, vc: u32, end: Time) -> Run {
        let c = self.cell_time;
        let (at, period) = (run.time, run.period);
        let t = at.signed();
        let last_arrival = t + period * u64::from(n - 1);
        self.accepted += u64::from(n);
        if self.idle_at(t) {
            // Later cells join the busy period of the first only at distance c and with arrivals
            // first.
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
        self.forget_departed(at);
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
    use crate::ground::format::Clock;
    use crate::ground::rng::Stream;
    use crate::port::drop::Policy;
    use crate::port::gate::Counted;
    use crate::text::scenario::{DropPolicy, RestOfFrame};

    #[test]
    fn there_is_room_for_as_many_cells_as_are_told() {
        let policy = Policy::new(
            &DropPolicy::TailDrop,
            Some(10),
            &[],
            Span::ZERO,
            Clock::AAL5,
        );
        let draws = Stream::new(1, 0, "port", "drop");
        let gate = Gate::new(
            Some(10),
            Counted::Cells(1),
            u64::MAX,
            None,
            policy,
            RestOfFrame::Accept,
            draws,
        );
        let mut port = Arithmetic::new(gate, 0, Span(7), true, 1, false);
        for start in [100, 130, 163, 170, 300] {
            port.start = SignedTicks(start);
            let room = port.cells_until_limit(Time(100), false);
            let found = (1..20).filter(|&cells| port.has_room_for(Time(100), false, cells));
            assert!(found.eq(1..=room), "{start}: {room}");
        }
        assert!(!port.has_room_for(Time(100), false, u64::MAX));
    }
}
