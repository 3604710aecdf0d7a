//! Fast path of the slotted kernel: one or more inputs that bring a cell per cell time each.
//!
//! If sources send at one rate, their cells come at fixed phases. Every cell time is like the
//! one before, except for the rotation of those that coincide, and has one decision. Consider a
//! class that gets a cell in every cell time, and had one before or gets one with the first
//! arrival. It has a cell at every decision, so no decision depends on when the later cells arrive.
//! All rounds but the last are queued, in order of arrival within each class. The decisions between
//! them are taken afterwards, as many at once as the scheduler gives.
//!
//! At most one cell leaves per round, so X after the last arrival of a class never falls from round
//! to round. So the maxima are those of the last round, which is taken cell by cell like any other.
//! If one input alone has cells of the class that gets every slot, X does not grow.
//!
//! Conditions:
//! * the port is busy;
//! * the cells of each input are a cell time apart, and no other cell comes between them;
//! * no frame of theirs has lost a cell;
//! * X stays below the buffer, and below the policy's smallest refusal if a frame begins, even if
//!   nothing left, unless one input alone has cells of the class that gets every slot;
//! * ties are not random;
//! * classes are served in order of arrival, and the scheduler does not look at queues.

use super::Slotted;
use super::queued_cells::{MOST_CELLS, QueuedCells};
use crate::ground::units::Time;
use crate::network::cells::{FrameState, Run};
use crate::network::fabric::{Fabric, Hop};
use crate::network::tally::CLASSES;
use crate::network::tie::TieRule;
use crate::port::rhythm::{Member, ties};
use crate::port::{Inputs, NextInput};

/// What a port keeps for rounds.
#[derive(Debug)]
pub struct Rounds {
    /// Whether cells may be taken in rounds at all.
    pub apply: bool,
    /// The inputs that take part.
    pub arrivals: Vec<RoundArrival>,
}

/// Input that takes part in rounds.
#[derive(Clone, Copy, Debug)]
pub struct RoundArrival {
    /// Arrival time of the first cell.
    time: Time,
    input: u32,
    local: u32,
    class: u8,
    /// Next cell of the input.
    next: QueuedCells,
}

impl Member for RoundArrival {
    const FEWEST: u32 = 3;
    const TAKES_LAST: bool = false;

    fn time(&self) -> Time {
        self.time
    }

    fn input(&self) -> u32 {
        self.input
    }
}

impl Slotted {
    /// Number of rounds before the horizon without the last one, at least two.
    /// On success `self.rounds.arrivals` lists the inputs that take part.
    pub(super) fn can_take_rounds(
        &mut self,
        fabric: &Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<u32> {
        let run = &fabric.feeds[next.feed].head;
        let is_close = run.n >= RoundArrival::FEWEST && run.period == self.cell_time;
        if is_close && self.rounds.apply && self.busy {
            let mut arrivals = std::mem::take(&mut self.rounds.arrivals);
            let rounds = self.rounds_before(inputs, fabric, next, &mut arrivals);
            self.rounds.arrivals = arrivals;
            rounds
        } else {
            None
        }
    }

    fn rounds_before(
        &self,
        inputs: &mut Inputs,
        fabric: &Fabric,
        next: &NextInput,
        arrivals: &mut Vec<RoundArrival>,
    ) -> Option<u32> {
        let c = self.cell_time;
        // Number of inputs per class, and the number of cells that may still join it.
        let mut of_class = [0; CLASSES];
        let mut rooms = [u64::MAX; CLASSES];
        let join = |time, input, run: &Run, hop: &Hop, begins| {
            let class = hop.class as usize;
            let has_one = time == next.time || of_class[class] > 0 || self.waiting[class] > 0;
            let room = self.queues[class].limits.fit(self.x(class), begins);
            of_class[class] += 1;
            rooms[class] = room.min(rooms[class]);
            (has_one && room > 0).then(|| RoundArrival {
                time,
                input,
                local: hop.local,
                class: hop.class,
                next: QueuedCells::first_of(run, 1),
            })
        };
        let rhythm = inputs.rhythm(fabric, c, next.horizon, arrivals, join)?;
        if let [arrival] = &arrivals[..] {
            let class = usize::from(arrival.class);
            if rooms[class] < MOST_CELLS.into()
                && self.decided.is_empty()
                && self.waiting[class] > 0
                && self.scheduler.serves_only(class, &self.waiting, self.total)
            {
                rooms[class] = u64::MAX;
            }
        }
        let mut rounds = rhythm.rounds(c).min(MOST_CELLS.into());
        // Divide only if a limit is near: divisions are slow.
        for arrival in &arrivals[..] {
            let class = usize::from(arrival.class);
            if rooms[class] < rounds * of_class[class] {
                rounds = rooms[class] / of_class[class];
            }
        }
        let rounds = rounds as u32;
        (rounds >= RoundArrival::FEWEST).then(|| rounds - 1)
    }

    /// Queues `rounds` rounds; each input has further cells.
    pub(super) fn take_rounds(&mut self, fabric: &mut Fabric, inputs: &mut Inputs, rounds: u32) {
        let mut arrivals = std::mem::take(&mut self.rounds.arrivals);
        let cells = u64::from(rounds);
        for arrival in &arrivals {
            let feed = &mut fabric.feeds[inputs.feed(arrival.input)];
            let hop = &mut fabric.hops[feed.head.hop as usize];
            hop.frame_state = FrameState::accepted(feed.head.frame);
            hop.arrived += cells;
            let class = arrival.class as usize;
            if self.counts[class] {
                self.queues[class].count_in(arrival.local as usize, cells);
            }
            self.waiting[class] += cells;
            feed.head.skip(rounds);
        }
        let all = cells * arrivals.len() as u64;
        self.accepted += all;
        self.total += all;
        inputs
            .order
            .postpone_many(arrivals.len(), self.cell_time * cells);
        // Each class has its own queue, so only the order within a class matters.
        if let [arrival] = &arrivals[..] {
            let queue = &mut self.queues[arrival.class as usize];
            queue.push(arrival.next.times(rounds), self.cell_time);
        } else {
            arrivals.sort_by_key(|arrival| arrival.class);
            for of_class in arrivals.chunk_by_mut(|a, b| a.class == b.class) {
                self.queue_rounds(of_class, &mut inputs.tie, rounds);
            }
        }
        self.rounds.arrivals = arrivals;
    }

    /// Appends the cells of `rounds` rounds to the queue of their class.
    fn queue_rounds(&mut self, arrivals: &mut [RoundArrival], tie: &mut TieRule, rounds: u32) {
        let c = self.cell_time;
        let queue = &mut self.queues[arrivals[0].class as usize];
        if let [arrival] = arrivals {
            queue.push(arrival.next.times(rounds), c);
            return;
        }
        queue.cells.reserve(arrivals.len() * rounds as usize);
        let together = arrivals.iter().all(|m| m.time == arrivals[0].time);
        let mut round = 0;
        while round < rounds {
            let mut same = 1;
            for group in arrivals.chunk_by_mut(ties) {
                let time = group[0].time + c * u64::from(round);
                let (first, slots) = tie.leader(time, group, |m| m.input);
                if together {
                    same = slots.min(u64::from(rounds - round)) as u32;
                }
                let (later, sooner) = group.split_at_mut(first);
                for _ in 0..same {
                    for arrival in sooner.iter_mut().chain(later.iter_mut()) {
                        queue.cells.push_back(arrival.next);
                        arrival.next.go_on(c);
                    }
                }
            }
            round += same;
        }
    }
}
