//! Fast path of the arithmetic kernel: cells of one input, or of two that overlap, that go straight
//! on.
//!
//! This is the most frequent case: cells come one per cell time, alone or beside those of one other
//! input, and their next station is their host. The start of each cell gives its arrival there. So
//! everything that a run changes, from the queue to the reassembly, is updated once.
//!
//! The fast path `frame` takes the cells of one input that come before those of any other, on their
//! way to a host or to another port. The fast path `pair` takes cells of two inputs until a third
//! brings any. First come cells of one alone, then rounds of one cell each, then the rest of the
//! longer run. A cell alone waits as long as the one before. In rounds, each input's wait grows by
//! one cell time per round, since two cells join while one leaves. Apart from that, only the leader
//! of each round matters.
//!
//! Conditions:
//! * the cells have distance c, and none must be looked at individually when it leaves;
//! * they arrive at their next station within the measuring time;
//! * X stays below the buffer, and below the policy's smallest refusal if a frame begins;
//! * no busy period began with a cell at the same instant, and nothing is watched;
//! * for two inputs: the port is busy, ties are not random, and both go to their hosts.

use super::Arithmetic;
use crate::cells::{Fate, Run};
use crate::delays::{DelayBins, Waits};
use crate::fabric::{Fabric, Hop, Next};
use crate::port::{Inputs, Leads, NextInput, TieRule};
use crate::tally::raise;
use crate::units::{Span, Time};

/// Whether the cells of `run`, at its hop `hop`, belong to one frame, come one per cell time, and
/// the first is accepted.
#[inline(always)]
fn is_straight(kernel: &Arithmetic, run: &Run, hop: &Hop) -> bool {
    let begins = hop.frame_state.frame != Some(run.frame);
    let limit = if begins { kernel.refusal } else { kernel.full };
    let t = run.time.signed();
    run.period == kernel.cell_time
        && !run.is_single()
        && !hop.one_by_one
        && (begins || hop.frame_state.fate == Fate::Accepted)
        && kernel.start - t < limit
        && t != kernel.busy_since
}

/// Cells of one frame that come before those of any other input.
pub struct LoneFrame {
    cells: u32,
    wait: Span,
    last_start: Time,
}

impl Arithmetic {
    /// The cells before the horizon of the first input's run, if the whole run comes before any
    /// cell of another input.
    #[inline(always)]
    pub(super) fn can_take_frame(&self, fabric: &Fabric, next: &NextInput) -> Option<LoneFrame> {
        let run = &fabric.feeds[next.feed].head;
        let hop = &fabric.hops[run.hop as usize];
        let last = run.last();
        if !is_straight(self, run, hop) || next.other <= last {
            return None;
        }
        // Divides only if the horizon is near.
        let cells = if last < next.horizon {
            run.n
        } else {
            run.before(next.horizon)
        };
        let c = self.cell_time;
        let free = self.start + c;
        let start = free.max(next.time.signed()).time();
        let last_start = start + c * u64::from(cells - 1);
        let beyond = c + hop.latency;
        let from = fabric.measured.0;
        let to = fabric.measured.1.min(fabric.end);
        let is_measured = start + beyond >= from && last_start + beyond < to;
        is_measured.then_some(LoneFrame {
            cells,
            wait: start - next.time,
            last_start,
        })
    }

    /// Takes these cells.
    #[inline(always)]
    pub(super) fn take_frame(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
        LoneFrame {
            cells,
            wait,
            last_start,
        }: LoneFrame,
    ) {
        let feed = &mut fabric.feeds[next.feed];
        let run = &feed.head;
        let hop = &mut fabric.hops[run.hop as usize];
        let c = self.cell_time;
        let idle = self.idle_at(next.time.signed());
        // With arrivals first, later cells join the busy period of the first.
        let joins = self.arrival_first && cells > 1;
        self.accepted += u64::from(cells);
        if idle {
            let since = if joins { next.time } else { last_start };
            self.busy_since = since.signed();
        }
        if !idle || joins {
            raise(&mut self.longest, wait.signed());
            if self.counts.is_some() {
                self.count(next.time, hop.local, cells, idle);
            }
        }
        self.start = last_start.signed();
        let waits = Waits::Equal(wait);
        self.waited(waits, cells.into());
        let beyond = c + hop.latency;
        let more = if let Next::Port { port, feed, input } = hop.next {
            let there = Run {
                time: next.time + wait + beyond,
                age: run.age + wait + beyond,
                hop: run.hop + 1,
                ..run.first(cells)
            };
            hop.count_passed(run.frame, u64::from(cells));
            fabric.push(there, port, feed, input);
            let feed = &mut fabric.feeds[next.feed];
            feed.skip(cells).then_some(feed.head.time)
        } else {
            hop.count_passed(run.frame, cells.into());
            let ages = hop.is_data.then(|| Waits::Equal(run.age + beyond + wait));
            let last = last_start + beyond;
            fabric
                .destinations
                .deliver(hop.flow, run, cells, ages, last);
            feed.skip(cells).then_some(feed.head.time)
        };
        match more {
            Some(time) => inputs.order.postpone_first(time),
            None => inputs.order.pop(),
        }
    }

    /// Cells of the first two inputs, which overlap, until a third brings any.
    #[inline(always)]
    pub(super) fn can_take_pair(
        &self,
        fabric: &Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<Pair> {
        let run = &fabric.feeds[next.feed].head;
        let may_overlap = run.period == self.cell_time
            && next.other <= run.last()
            && fabric.hops[run.hop as usize].next == Next::Host;
        may_overlap
            .then(|| self.pair(fabric, inputs, next))
            .flatten()
    }

    #[inline(never)]
    fn pair(&self, fabric: &Fabric, inputs: &mut Inputs, next: &NextInput) -> Option<Pair> {
        let run = &fabric.feeds[next.feed].head;
        if is_straight(self, run, &fabric.hops[run.hop as usize]) {
            Pair::new(self, fabric, inputs, next.horizon)
        } else {
            None
        }
    }

    /// Takes these cells.
    #[inline(never)]
    pub(super) fn take_pair(&mut self, fabric: &mut Fabric, inputs: &mut Inputs, pair: &Pair) {
        if self.counts.is_some() {
            pair.count(self, fabric, &mut inputs.tie);
        }
        let leaders = pair.leaders(&mut inputs.tie);
        let taken = [pair.taken(&leaders, 0), pair.taken(&leaders, 1)];
        self.start = pair.last_start().signed();
        inputs.order.pop();
        inputs.order.pop();
        let longest = taken[0].most.max(taken[1].most);
        raise(&mut self.longest, longest.signed());
        for (m, taken) in taken.iter().enumerate() {
            let (cells, n) = (taken.cells, u64::from(taken.cells));
            self.accepted += n;
            self.waited(taken.waits(), n);
            let feed = &mut fabric.feeds[pair.feeds[m]];
            let run = &feed.head;
            let hop = &mut fabric.hops[run.hop as usize];
            hop.count_passed(run.frame, n);
            let beyond = pair.cell_time + hop.latency;
            let age = run.age + beyond;
            if hop.is_data {
                let bins = &mut fabric.destinations.sink(hop.flow).bins;
                if DelayBins::are_alike(age + taken.least, age + taken.most) {
                    bins.add(age + taken.least, n);
                } else {
                    pair.spread(m, cells, &leaders, bins, age);
                }
            }
            let ages = hop.is_data.then(|| taken.waits().longer_by(age, n));
            let last = taken.last_start + beyond;
            fabric
                .destinations
                .deliver(hop.flow, run, cells, ages, last);
            if feed.skip(cells) {
                inputs.order.insert(feed.head.time, pair.inputs[m]);
            }
        }
    }
}

/// Waits of the cells of one of the two inputs.
struct InputWaits {
    cells: u32,
    /// Sum of all waits in ticks, the shortest and the longest.
    sum: u128,
    least: Span,
    most: Span,
    /// Start of the last cell.
    last_start: Time,
}

impl InputWaits {
    #[inline(always)]
    fn waits(&self) -> Waits {
        Waits::Listed {
            sum: self.sum,
            least: self.least,
            most: self.most,
        }
    }
}

/// Cells of two inputs. Number 0 is the input whose cells come first, number 1 the other.
pub struct Pair {
    cell_time: Span,
    inputs: [u32; 2],
    feeds: [usize; 2],
    /// Arrival of the very first cell.
    begin: Time,
    /// Arrivals of the cells of the first round: coincident, or number 1 first.
    times: [Time; 2],
    /// Wait of each input's cell in the first round if it led.
    waits: [Span; 2],
    /// Cells of number 0 before the rounds, of each input in rounds, and of one input after them.
    before: u32,
    rounds: u32,
    behind: u32,
    /// Number of the input with cells after the rounds.
    longer: usize,
    /// Start of the first cell of the rounds.
    start: Time,
}

/// Leaders of the rounds: the other input where it leads, `lower` elsewhere.
struct RoundLeaders {
    lower: usize,
    other_leads: Leads,
}

impl RoundLeaders {
    /// 1 if number `m` does not lead in `round`, otherwise 0.
    #[inline(always)]
    fn follows(&self, m: usize, round: u64) -> u64 {
        u64::from((self.lower == m) == self.other_leads.at(round))
    }

    /// In how many of the first `rounds` number `m` does not lead.
    #[inline(always)]
    fn followed(&self, m: usize, rounds: u64) -> u64 {
        let led = self.other_leads.before(rounds);
        if self.lower == m { led } else { rounds - led }
    }
}

/// The number of rounds before `limit`, and of the cells of the longer run that follow them. These
/// cells come before `limit` and before the next frame of the shorter run. `None` if number 1
/// brings another frame within the rounds.
///
/// The inputs have `left` cells, of which number `longer` has no fewer, and bring the first at
/// these times.
#[inline(always)]
fn rounds_and_rest(
    c: Span,
    [begin, second]: [Time; 2],
    left: [u32; 2],
    longer: usize,
    next_frames: [Time; 2],
    limit: Time,
) -> Option<[u32; 2]> {
    let rounds = left[0].min(left[1]);
    // Divides only if a limit is near.
    let last = begin + c * u64::from(rounds - 1);
    if last >= limit {
        return Some([(limit - begin).0.div_ceil(c.0) as u32, 0]);
    }
    if rounds == left[1] && next_frames[1] <= last {
        // Number 1 brings another frame before the last round is over.
        return None;
    }
    let behind = left[longer] - rounds;
    if behind > 0 {
        // The shorter input may bring another frame.
        let alone = limit.min(next_frames[1 - longer]);
        let from = if longer == 0 { begin } else { second };
        if from + c * u64::from(rounds + behind - 1) >= alone {
            let cells = (alone - from).0.div_ceil(c.0) as u32;
            return Some([rounds, cells.saturating_sub(rounds)]);
        }
    }
    Some([rounds, behind])
}

impl Pair {
    /// What can be taken of the first two inputs; at least one round.
    #[inline(always)]
    fn new(
        kernel: &Arithmetic,
        fabric: &Fabric,
        inputs: &mut Inputs,
        horizon: Time,
    ) -> Option<Pair> {
        let (time, input) = inputs.order.first()?;
        let (second, other) = inputs.order.get(1)?;
        let third = inputs.order.get(2).map_or(horizon, |(time, _)| time);
        let limit = third.min(horizon);
        let c = kernel.cell_time;
        let feeds = [inputs.feed(input), inputs.feed(other)];
        let runs = [&fabric.feeds[feeds[0]].head, &fabric.feeds[feeds[1]].head];
        let hops = [
            &fabric.hops[runs[0].hop as usize],
            &fabric.hops[runs[1].hop as usize],
        ];
        // No cell arrives at its host sooner than this.
        let to = fabric.measured.1.min(fabric.end);
        if time + c + hops[0].latency >= to
            || hops[1].next != Next::Host
            || !is_straight(kernel, runs[1], hops[1])
            || kernel.idle_at(time.signed())
            || !inputs.tie.is_known_ahead()
        {
            return None;
        }
        let before = if time == second {
            0
        } else {
            runs[0].before(second)
        };
        let begin = time + c * u64::from(before);
        if begin >= limit {
            return None;
        }
        let left = [runs[0].n - before, runs[1].n];
        let next_frames = feeds.map(|feed| fabric.feeds[feed].second_time());
        let longer = usize::from(left[1] > left[0]);
        let times = [begin, second];
        let [rounds, behind] = rounds_and_rest(c, times, left, longer, next_frames, limit)?;
        let start = (kernel.start + c).time() + c * u64::from(before);
        let pair = Pair {
            cell_time: c,
            inputs: [input, other],
            feeds,
            begin: time,
            times,
            waits: [start - begin, start - second],
            before,
            rounds,
            behind,
            longer,
            start,
        };
        let first = kernel.start.time() + c * 2 + hops[0].latency.min(hops[1].latency);
        let last = pair.last_start() + c + hops[0].latency.max(hops[1].latency);
        let has_room = kernel.has_room_for(time, false, 2 * u64::from(rounds));
        // A frame begins in the first round at the latest.
        let is_refused = |m: usize| {
            let begins = hops[m].frame_state.frame != Some(runs[m].frame);
            begins && pair.waits[m].signed() >= kernel.refusal
        };
        let is_measured = first >= fabric.measured.0 && last < fabric.measured.1.min(fabric.end);
        (has_room && is_measured && !is_refused(0) && !is_refused(1)).then_some(pair)
    }

    /// Start of the last cell of both inputs.
    #[inline(always)]
    fn last_start(&self) -> Time {
        self.start + self.cell_time * (2 * u64::from(self.rounds) + u64::from(self.behind) - 1)
    }

    /// Number (0 or 1) of the lower input, and both inputs in ascending order.
    #[inline(always)]
    fn ascending(&self) -> (usize, [u32; 2]) {
        let [a, b] = self.inputs;
        if a < b { (0, [a, b]) } else { (1, [b, a]) }
    }

    /// Leaders of the rounds.
    #[inline(always)]
    fn leaders(&self, tie: &mut TieRule) -> RoundLeaders {
        if self.times[1] < self.times[0] {
            return RoundLeaders {
                lower: 1,
                other_leads: Leads::NEVER,
            };
        }
        let (lower, inputs) = self.ascending();
        RoundLeaders {
            lower,
            other_leads: tie.leads_of_other(self.times[0], inputs),
        }
    }

    /// Calls `each` with a leader and the number of consecutive rounds it leads, for all rounds.
    #[inline(always)]
    fn in_turns(&self, tie: &mut TieRule, mut each: impl FnMut(usize, u64)) {
        let rounds = u64::from(self.rounds);
        if self.times[1] < self.times[0] {
            return each(1, rounds);
        }
        let (lower, _) = self.ascending();
        let mut members = [lower, 1 - lower];
        tie.sort(&mut members, |&m| self.inputs[m]);
        let mut round = 0;
        while round < rounds {
            let time = self.times[0] + self.cell_time * round;
            let (first, slots) = tie.leader(time, &members, |&m| self.inputs[m]);
            let n = slots.min(rounds - round);
            each(members[first], n);
            round += n;
        }
    }

    /// Counts the cells of each VC, in their order.
    #[inline(never)]
    fn count(&self, kernel: &mut Arithmetic, fabric: &Fabric, tie: &mut TieRule) {
        let vcs = self.feeds.map(|feed| {
            let hop = fabric.feeds[feed].head.hop;
            fabric.hops[hop as usize].local
        });
        let Some(counts) = kernel.counts_at(self.begin) else {
            return;
        };
        if self.before > 0 {
            counts.add(vcs[0], self.before);
        }
        self.in_turns(tie, |leader, n| {
            for _ in 0..n {
                counts.add(vcs[leader], 1);
                counts.add(vcs[1 - leader], 1);
            }
        });
        if self.behind > 0 {
            counts.add(vcs[self.longer], self.behind);
        }
    }

    /// The cells of number `m` and their waits. Before the rounds, all wait equally long. In each
    /// round the wait is one cell time longer than in the round before, and another one longer if
    /// the other leads.
    #[inline(always)]
    fn taken(&self, leaders: &RoundLeaders, m: usize) -> InputWaits {
        let (c, wait) = (self.cell_time, self.waits[m]);
        let rounds = u64::from(self.rounds);
        let before = if m == 0 { self.before } else { 0 };
        let behind = if m == self.longer { self.behind } else { 0 };
        let cells = before + self.rounds + behind;
        let [first, last] = [0, rounds - 1].map(|round| leaders.follows(m, round));
        let more =
            rounds * (rounds - 1) / 2 + leaders.followed(m, rounds) + u64::from(behind) * rounds;
        let sum = u128::from(wait.0) * u128::from(cells) + u128::from(c.0) * u128::from(more);
        let first = if before > 0 { wait } else { wait + c * first };
        let (last, last_start) = if behind > 0 {
            (wait + c * rounds, self.last_start())
        } else {
            let place = 2 * (rounds - 1) + last;
            (wait + c * (rounds - 1 + last), self.start + c * place)
        };
        InputWaits {
            cells,
            sum,
            least: first,
            most: last,
            last_start,
        }
    }

    /// Counts the delays of the cells of number `m` in several `bins`; `age` is the delay of a cell
    /// that does not wait.
    ///
    /// Delays never fall from one cell to the next: a cell that leads in the round after one it
    /// followed in waits equally long.
    #[inline(never)]
    fn spread(
        &self,
        m: usize,
        cells: u32,
        leaders: &RoundLeaders,
        bins: &mut DelayBins,
        age: Span,
    ) {
        let (c, age) = (self.cell_time, age + self.waits[m]);
        let before = if m == 0 { u64::from(self.before) } else { 0 };
        let rounds = u64::from(self.rounds);
        let delay = |cell: u64| {
            let more = match cell.checked_sub(before) {
                None => 0,
                Some(round) if round < rounds => round + leaders.follows(m, round),
                Some(_) => rounds,
            };
            age + c * more
        };
        // All rounds before `round` stay below the limit; `round` itself does only if `m` leads in
        // it.
        let below = |limit: Span| {
            let round = (limit - age).0.div_ceil(c.0) - 1;
            before + round + 1 - leaders.follows(m, round)
        };
        bins.add_rising(u64::from(cells), delay, below);
    }
}
