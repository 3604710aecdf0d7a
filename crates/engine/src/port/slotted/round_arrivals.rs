//! Shortcut of the slotted kernel: several inputs that bring a cell per cell time each.
//!
//! Where sources send at one rate, their cells come at fixed phases. Every cell time is like the
//! one before, but for the rotation of those that coincide, and has one decision. Consider a class
//! that gets a cell in every cell time, and had one before or gets one with the first arrival. It
//! has a cell at every decision, so no decision depends on when the later cells arrive. All rounds
//! but the last are queued, in order of arrival within each class. The decisions between them are
//! taken afterwards, as many at once as the scheduler gives.
//!
//! At most one cell leaves per round, so X after the last arrival of a class never falls from round
//! to round. So the maxima are those of the last round, which is taken cell by cell like any other.
//!
//! Conditions:
//! * the port is busy;
//! * the cells of each input are a cell time apart, and no other cell comes between them;
//! * no frame of theirs has lost a cell;
//! * X stays below the buffer, and below the policy's smallest refusal if a frame begins, even if
//!   nothing left;
//! * ties are not random;
//! * classes are served in order of arrival, and the scheduler does not look at queues.

use super::Slotted;
use super::queued_cells::{MOST_CELLS, QueuedCells};
use crate::cells::{Fate, FrameState};
use crate::fabric::Fabric;
use crate::port::{Inputs, NextInput, TieRule};
use crate::tally::CLASSES;
use crate::units::Time;

/// Fewer rounds cost more to find than they save.
const FEWEST: u32 = 3;

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

impl Slotted {
    /// Number of rounds before the horizon without the last one, at least two.
    /// On success `self.round_arrivals` lists the inputs that take part.
    pub(super) fn can_take_round_arrivals(
        &mut self,
        fabric: &Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<u32> {
        let c = self.cell_time;
        let begin_together = next.other < next.time + c && fabric.feeds[next.feed].head.period == c;
        if begin_together && self.takes_rounds && self.busy && inputs.tie.is_known_ahead() {
            self.rounds_before(inputs, fabric, next.horizon)
        } else {
            None
        }
    }

    fn rounds_before(
        &mut self,
        inputs: &mut Inputs,
        fabric: &Fabric,
        horizon: Time,
    ) -> Option<u32> {
        let c = self.cell_time;
        let (begin, _) = inputs.order.first()?;
        let mut rounds = MOST_CELLS;
        let mut limit = horizon;
        let mut last_time = begin;
        // Number of inputs per class, and the number of cells that may still join it.
        let mut of_class = [0; CLASSES];
        let mut rooms = [u64::MAX; CLASSES];
        self.round_arrivals.clear();
        for i in 0.. {
            let Some((time, input)) = inputs.order.get(i) else {
                break;
            };
            if time >= begin + c || time >= horizon {
                limit = limit.min(time);
                break;
            }
            let run = &fabric.feeds[inputs.feed(input)].head;
            if run.period != c || run.n < FEWEST {
                return None;
            }
            let hop = &fabric.hops[run.hop as usize];
            let class = hop.class as usize;
            let begins = run.is_single() || hop.frame_state.frame != Some(run.frame);
            let accepted = begins || hop.frame_state.fate == Fate::Accepted;
            let has_one = time == begin || of_class[class] > 0 || self.waiting[class] > 0;
            if !accepted || !has_one {
                return None;
            }
            let queue = &self.queues[class];
            let smallest = if begins { queue.refusal } else { queue.full };
            let room = smallest.saturating_sub(self.x(class));
            if room < u64::from(FEWEST) {
                return None;
            }
            of_class[class] += 1;
            rooms[class] = room.min(rooms[class]);
            rounds = rounds.min(run.n);
            last_time = time;
            self.round_arrivals.push(RoundArrival {
                time,
                input,
                local: hop.local,
                class: hop.class,
                next: QueuedCells::first_of(run, 1),
            });
        }
        if self.round_arrivals.len() < 2 || limit <= last_time {
            return None;
        }
        // Divide only where a limit is near: divisions are slow.
        if last_time + c * u64::from(rounds - 1) >= limit {
            rounds = (limit - last_time).0.div_ceil(c.0) as u32;
        }
        for (&joining, &room) in of_class.iter().zip(&rooms) {
            if joining > 0 && room < u64::from(rounds) * joining {
                rounds = (room / joining) as u32;
            }
        }
        (rounds >= FEWEST).then(|| rounds - 1)
    }

    /// Queues `rounds` rounds; each input has further cells.
    pub(super) fn take_round_arrivals(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        rounds: u32,
    ) {
        let mut arrivals = std::mem::take(&mut self.round_arrivals);
        let cells = u64::from(rounds);
        if !inputs.tie.keeps_ascending() {
            let groups = arrivals.chunk_by_mut(|a, b| a.time == b.time);
            groups.for_each(|group| inputs.tie.sort(group, |arrival| arrival.input));
        }
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
        arrivals.sort_by_key(|arrival| arrival.class);
        for of_class in arrivals.chunk_by_mut(|a, b| a.class == b.class) {
            self.queue_rounds(of_class, &mut inputs.tie, rounds);
        }
        self.round_arrivals = arrivals;
    }

    /// Appends the cells of `rounds` rounds to the queue of their class.
    #[inline]
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
            for group in arrivals.chunk_by_mut(|a, b| a.time == b.time) {
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
