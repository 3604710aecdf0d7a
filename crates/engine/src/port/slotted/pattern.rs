//! Fast path of the slotted kernel: slots that go to the same classes or VCs in each of many rounds.
//!
//! Someone who gets k slots in a row in a round of r slots sends, from one round to the next, cells
//! that came k cell times apart in r cell times. So those of a round wait equally long, and r - k cell
//! times longer in the next round. The statistics of a run are then updated once.
//!
//! Conditions:
//! * the turns of a round are those of VCs, or of two classes, of which the second one gets one slot;
//! * the cells of VCs, and those of the first class, go on to their hosts and arrive there within the
//!   measuring time, and none is to be looked at by itself when it leaves;
//! * the cells of the first class are all of one run.
//!
//! Cells of the second class that do not go on like this leave one by one. If another condition is
//! not met, all slots are taken one by one.

use super::Slotted;
use super::ahead::SlotOwner;
use super::queued_cells::QueuedCells;
use crate::ground::delays::Waits;
use crate::ground::units::{Span, Time};
use crate::network::fabric::{Fabric, Next};
use crate::port::sched::Turn;

/// Whether cells of `hop` whose transmissions end from `first` to `last` are all treated alike.
/// They must go to their host within the measuring time, and none may need individual treatment.
pub(super) fn reach_host_alike(fabric: &Fabric, hop: u32, first: Time, last: Time) -> bool {
    let hop = &fabric.hops[hop as usize];
    let (from, to) = fabric.measured;
    hop.next == Next::Host
        && !hop.one_by_one
        && first + hop.latency >= from
        && last + hop.latency < to.min(fabric.end)
}

impl Slotted {
    /// Begins the cells of `rounds` rounds of `self.turns`, and returns their number.
    #[inline(never)]
    pub(super) fn begin_rounds<const AHEAD: bool>(
        &mut self,
        fabric: &mut Fabric,
        rounds: u64,
    ) -> u64 {
        let turns = std::mem::take(&mut self.turns);
        let round: u64 = turns.iter().map(|turn| turn.slots).sum();
        if self.leave_alike(fabric, &turns, rounds, round) {
            self.begin_apart_in_rounds::<AHEAD>(fabric, &turns, rounds, round);
        } else {
            for turn in (0..rounds).flat_map(|_| &turns) {
                self.begin::<AHEAD>(fabric, *turn);
            }
        }
        self.turns = turns;
        rounds * round
    }

    /// Whether the cells of these turns meet the conditions.
    fn leave_alike(&self, fabric: &Fabric, turns: &[Turn], rounds: u64, round: u64) -> bool {
        let start = self.free_at + self.cell_time;
        let end = self.free_at + self.cell_time * (rounds * round);
        let alike = |turn: &Turn| {
            let queue = &self.queues[turn.class];
            let run = if self.by_vc[turn.class] {
                Some(queue.per_vc[turn.vc].first())
            } else {
                let covers = |run: &&QueuedCells| u64::from(run.n()) >= rounds * turn.slots;
                queue.cells.front().filter(covers)
            };
            run.is_some_and(|run| reach_host_alike(fabric, run.hop, start, end))
        };
        match turns {
            [first, last] if !self.by_vc[last.class] => last.slots == 1 && alike(first),
            _ => turns.iter().all(alike),
        }
    }

    /// Begins the cells of these turns, each turn in all rounds before the next one.
    fn begin_apart_in_rounds<const AHEAD: bool>(
        &mut self,
        fabric: &mut Fabric,
        turns: &[Turn],
        rounds: u64,
        round: u64,
    ) {
        let (c, start) = (self.cell_time, self.free_at);
        let (mut before, mut first) = (0, SlotOwner::default());
        for turn in turns {
            let mut at = start + c * before;
            let mut left = rounds * turn.slots;
            self.waiting[turn.class] -= left;
            self.total -= left;
            while left > 0 {
                let slots = left;
                let (cells, to) = self.take_cells::<AHEAD>(fabric, Turn { slots, ..*turn });
                let n = u64::from(cells.n());
                if before == 0 {
                    first = to;
                } else if AHEAD && !self.by_vc[turn.class] {
                    self.decided
                        .push_turns(at - c * before, n, to, before, first);
                }
                self.begin_apart(fabric, cells, at, (turn.slots, c * round));
                at += c * (round * n);
                left -= n;
            }
            before += turn.slots;
        }
        if AHEAD && self.by_vc[first.class] {
            self.decided.push(start, rounds * round, first);
        }
        self.free_at = start + c * (rounds * round);
    }
    /// Begins the transmission of `cells`: `in_a_row` of them from `start` on, and again every `apart`.
    #[inline(always)]
    fn begin_apart(
        &mut self,
        fabric: &mut Fabric,
        cells: QueuedCells,
        start: Time,
        (in_a_row, apart): (u64, Span),
    ) {
        let c = self.cell_time;
        let n = u64::from(cells.n());
        let rounds = n.div_ceil(in_a_row);
        let end = start + apart * (rounds - 1) + c * in_a_row;
        if n == 1 || !reach_host_alike(fabric, cells.hop, start + c, end) {
            debug_assert_eq!(in_a_row, 1, "all are alike otherwise");
            let (mut at, mut rest) = (start, cells);
            for left in (0..n).rev() {
                let cell = if left > 0 { rest.split(1, c) } else { rest };
                let run = self.transmit(at, &cell);
                fabric.depart(run);
                at += apart;
            }
            return;
        }
        self.started += n;
        let (wait, step) = (start - cells.arrived, apart - c * in_a_row);
        let series = Waits::Series { first: wait, step };
        let waits = if in_a_row == 1 {
            series
        } else {
            let [least, most] = series.range(rounds);
            let sum = series.sum(rounds) * u128::from(in_a_row);
            Waits::Listed { sum, least, most }
        };
        self.waited(waits, n);
        let hop = &mut fabric.hops[cells.hop as usize];
        hop.sent += n;
        let beyond = cells.age + c + hop.latency;
        if hop.is_data && in_a_row > 1 {
            let bins = &mut fabric.destinations.sink(hop.flow).bins;
            (0..rounds).for_each(|round| bins.add(wait + beyond + step * round, in_a_row));
        }
        let ages = hop.is_data.then(|| waits.longer_by(beyond, n));
        let run = cells.leaving(start, c);
        let last = end + hop.latency;
        fabric
            .destinations
            .deliver(hop.flow, &run, n as u32, ages, last);
    }
}
