//! Fast path of the slotted kernel: two classes that alternate, one of them with a guarantee.
//!
//! A class is guaranteed every k-th slot. While it and a class above it both have cells, all slots
//! between go to the class above. If that class's cells came a cell time apart, they wait equally
//! long from one guaranteed slot to the next, and a cell time longer behind it. Cells of one frame
//! of the guaranteed class start k cell times apart, so each waits k - 1 cell times longer than the
//! one before. So the statistics of a run are updated once.
//!
//! Conditions:
//! * the cells above are single cells of one run;
//! * these cells, and those of a guaranteed frame, go on to their host and arrive there within the
//!   measuring time;
//! * no cell is to be looked at by itself when it leaves.
//!
//! Guaranteed cells that do not meet these conditions leave one by one.

use super::Slotted;
use super::ahead::SlotOwner;
use super::queued_cells::QueuedCells;
use crate::delays::Waits;
use crate::fabric::{Fabric, Next};
use crate::port::sched::Turns;
use crate::units::{Span, Time};

/// Fewer rounds cost more to find than they save.
const FEWEST: u64 = 2;

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

/// Decisions that alternate between two classes.
pub struct AlternatingSlots {
    turns: Turns,
    rounds: u64,
    slots: u64,
}

impl Slotted {
    /// Alternation in the next decisions, at most `most`, if there is any.
    #[inline(always)]
    pub(super) fn can_take_alternating(
        &self,
        fabric: &Fabric,
        most: u64,
    ) -> Option<AlternatingSlots> {
        if most > 1 {
            self.alternating(fabric, self.scheduler.turns(&self.waiting)?, most)
        } else {
            None
        }
    }

    fn alternating(&self, fabric: &Fabric, turns: Turns, most: u64) -> Option<AlternatingSlots> {
        let run = self.queues[turns.above].cells.front()?;
        // The block is `before` cells above, one guaranteed cell, and then rounds of both.
        let round = turns.between + 1;
        let rounds = (most.checked_sub(turns.before + 1)? / round)
            .min(u64::from(run.n()).checked_sub(turns.before)? / turns.between)
            .min(self.waiting[turns.guaranteed] - 1);
        let (c, start) = (self.cell_time, self.free_at);
        let slots = turns.before + 1 + rounds * round;
        let end = start + c * slots;
        let applies = rounds >= FEWEST
            && run.is_single()
            && reach_host_alike(fabric, run.hop, start + c, end);
        applies.then_some(AlternatingSlots {
            turns,
            rounds,
            slots,
        })
    }

    /// Takes these decisions and returns their number.
    #[inline(never)]
    pub(super) fn take_alternating<const AHEAD: bool>(
        &mut self,
        fabric: &mut Fabric,
        &AlternatingSlots {
            turns,
            rounds,
            slots,
        }: &AlternatingSlots,
    ) -> u64 {
        let Turns {
            guaranteed,
            above,
            before,
            between,
        } = turns;
        let (c, start) = (self.cell_time, self.free_at);
        let end = start + c * slots;
        self.scheduler.pass(slots);
        let cells = before + rounds * between;
        self.waiting[above] -= cells;
        self.waiting[guaranteed] -= rounds + 1;
        self.total -= slots;
        let blocks = [before, between, rounds];
        let other = self.begin_above::<AHEAD>(fabric, above, blocks);
        let apart = c * (between + 1);
        let mut at = start + c * before;
        let mut block = before;
        let mut left = rounds + 1;
        while left > 0 {
            let queue = &mut self.queues[guaranteed];
            let cells = queue.take_front(left, c);
            let n = u64::from(cells.n());
            let to = self.count_taken::<AHEAD>(fabric, guaranteed, cells.hop, n);
            if AHEAD {
                let first = Time(at.0 - (c * block).0);
                self.decided.push_turns(first, n, to, block, between, other);
                block = between;
            }
            self.begin_apart(fabric, cells, at, apart);
            at += apart * n;
            left -= n;
        }
        self.free_at = end;
        slots
    }

    /// Begins the transmission of the first cells of class `above`, and returns their flow.
    /// These are `before` cells ahead of the first guaranteed one, and `between` cells in each of
    /// `rounds` rounds.
    fn begin_above<const AHEAD: bool>(
        &mut self,
        fabric: &mut Fabric,
        above: usize,
        [before, between, rounds]: [u64; 3],
    ) -> SlotOwner {
        let c = self.cell_time;
        let n = before + rounds * between;
        let queue = &mut self.queues[above];
        let cells = queue.take_front(n, c);
        let to = self.count_taken::<AHEAD>(fabric, above, cells.hop, n);
        let wait = self.free_at - cells.arrived;
        let hop = &mut fabric.hops[cells.hop as usize];
        self.started += n;
        hop.sent += n;
        let of_rounds = Waits::Series {
            first: wait + c,
            step: c,
        };
        let waits = Waits::Listed {
            sum: Waits::Equal(wait).sum(before) + of_rounds.sum(rounds) * u128::from(between),
            least: if before > 0 { wait } else { wait + c },
            most: wait + c * rounds,
        };
        let beyond = cells.age + c + hop.latency;
        if hop.is_data {
            let bins = &mut fabric.destinations.sink(hop.flow).bins;
            if before > 0 {
                bins.add(wait + beyond, before);
            }
            for round in 1..=rounds {
                bins.add(wait + beyond + c * round, between);
            }
        }
        let ages = hop.is_data.then(|| waits.longer_by(beyond, n));
        // Each cell is a frame of its own, so the arrival time of the last one is not used.
        let run = cells.leaving(self.free_at, c);
        fabric
            .destinations
            .deliver(hop.flow, &run, n as u32, ages, Time::NEVER);
        self.waited(waits, n);
        to
    }

    /// Begins the transmission of `cells`, the first at `start` and then one every `apart`.
    #[inline(always)]
    pub(super) fn begin_apart(
        &mut self,
        fabric: &mut Fabric,
        cells: QueuedCells,
        start: Time,
        apart: Span,
    ) {
        let c = self.cell_time;
        let n = cells.n();
        let last = start + apart * u64::from(n - 1);
        if n == 1 || !reach_host_alike(fabric, cells.hop, start + c, last + c) {
            let (mut at, mut rest) = (start, cells);
            for left in (0..n).rev() {
                let cell = if left > 0 { rest.split(1, c) } else { rest };
                let run = self.transmit(at, &cell);
                fabric.depart(run);
                at += apart;
            }
            return;
        }
        self.started += u64::from(n);
        let waits = Waits::Series {
            first: start - cells.arrived,
            step: Span(apart.0 - c.0),
        };
        self.waited(waits, n.into());
        let hop = &mut fabric.hops[cells.hop as usize];
        hop.sent += u64::from(n);
        let beyond = cells.age + c + hop.latency;
        let ages = hop.is_data.then(|| waits.longer_by(beyond, n.into()));
        let run = cells.leaving(start, c);
        let last = last + c + hop.latency;
        fabric.destinations.deliver(hop.flow, &run, n, ages, last);
    }
}
