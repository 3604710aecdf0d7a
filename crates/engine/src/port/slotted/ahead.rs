//! Decisions ahead of their time.
//!
//! A decision depends on which classes have cells and on nothing else that arrives, but for schedulers that look at queues. As long as every
//! class that anything can come of has some, what arrives changes no decision. So those are taken ahead of the horizon: their cells leave for the next station, and what
//! follows from them at hosts is known so much sooner. On links of 5 us, where nothing is known beyond some 17 cell times, a port then goes as
//! far in one step as what waits there lasts. A class without cells does no harm either while it is known when its next one comes: that is so
//! where its cells come from sources of cells and straight from their NICs, as those are sent on events of hosts and on nothing else.
//!
//! Who arrives meanwhile must find X, Y_i and N_a as they are then. So cells that were decided on ahead of time are counted among those that wait until they begin.
//!
//! Conditions: classes are served in the order of arrival, and the scheduler does not look at queues; no
//! cell that waits is ever pushed out; nothing is watched or measured here, and no RM cells pass; other ports are so near that it gains anything.

use super::{Slotted, queue::ClassQueue};
use crate::fabric::Fabric;
use crate::port::ways::PortWay;
use crate::tally::CLASSES;
use crate::units::{Span, Time};
use std::collections::VecDeque;

/// What can be known of the cells of a class that are still to come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Foresight {
    /// There will be none.
    #[default]
    Nothing,
    /// All before what the next event of a host may bring stand in these feeds, which bring no others.
    Feeds(Vec<usize>),
    /// Nothing.
    Unknown,
}

/// Farther away than so many cell times a port has enough to do in one step.
const NEAR: u64 = 256;

/// Whether a port with that cell time gains by decisions ahead of their time where others are so far away.
pub fn gains(cell_time: Span, away: Span) -> bool {
    away < cell_time * NEAR
}

/// Slots that were given ahead of time, one after the other, to one flow of a class; where those are not counted, to the class.
#[derive(Clone, Copy, Debug)]
struct Slots {
    start: Time,
    n: u64,
    to: To,
    /// Between two of its slots, and before the first, so many go to another.
    between: u64,
    before: u64,
    other: To,
}

/// A class, and the local number of a flow in it, 0 where those are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct To {
    /// See above.
    pub class: usize,
    /// See above.
    pub local: usize,
}

impl Slots {
    /// How many of the first `n` go to `to`.
    fn of_first(&self, n: u64) -> u64 {
        if self.between == 0 {
            n
        } else if n > self.before {
            1 + (n - 1 - self.before) / (self.between + 1)
        } else {
            0
        }
    }

    /// Takes the first `n` off, of which `to` has had so many `of_to`.
    #[inline(always)]
    fn skip(&mut self, n: u64, of_to: u64, c: Span) {
        self.start += c * n;
        self.n -= n;
        self.before = self.before + of_to * (self.between + 1) - n;
    }
}

/// Cells that were decided on ahead of time and have not begun.
#[derive(Debug, Default)]
pub struct Ahead {
    slots: VecDeque<Slots>,
    /// How many of all classes; those of each stand at its queue.
    pub total: u64,
}

impl Ahead {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The next `n` slots, the first of which begins at `start`, go to cells of `to`.
    #[inline(always)]
    pub fn push(&mut self, start: Time, n: u64, to: To) {
        self.total += n;
        match self.slots.back_mut() {
            Some(last) if last.to == to && last.between == 0 => last.n += n,
            _ => self.slots.push_back(Slots {
                start,
                n,
                to,
                between: 0,
                before: 0,
                other: to,
            }),
        }
    }

    /// The same in turns: `n` cells of `to` have as many slots, and `other` those `between` each two and so many `before` the first.
    pub fn push_turns(
        &mut self,
        start: Time,
        n: u64,
        to: To,
        before: u64,
        between: u64,
        other: To,
    ) {
        let of_other = before + (n - 1) * between;
        self.total += n + of_other;
        let next = Slots {
            start,
            n: n + of_other,
            to,
            between,
            before,
            other,
        };
        match self.slots.back_mut() {
            Some(last)
                if (last.to, last.between, last.other) == (to, before, other)
                    && before == between =>
            {
                last.n += next.n;
            }
            _ => self.slots.push_back(next),
        }
    }

    /// Those that begin before `limit`, `c` apart, do so.
    fn begin_before(&mut self, limit: Time, c: Span, queues: &mut [ClassQueue; CLASSES]) {
        while let Some(first) = self.slots.front_mut()
            && first.start < limit
        {
            let all = first.start + c * (first.n - 1) < limit;
            let n = if all {
                first.n
            } else {
                (limit - first.start).0.div_ceil(c.0)
            };
            let of_to = first.of_first(n);
            self.total -= n;
            let mut begin = |To { class, local }, n| {
                let queue = &mut queues[class];
                queue.ahead -= n;
                if n > 0 && !queue.of_vc.is_empty() {
                    queue.count_out(local, n);
                }
            };
            begin(first.to, of_to);
            begin(first.other, n - of_to);
            if all {
                self.slots.pop_front();
            } else {
                first.skip(n, of_to, c);
            }
        }
    }
}

impl Slotted {
    /// X of `class`.
    pub(super) fn x(&self, class: usize) -> u64 {
        self.waiting[class] + self.queues[class].ahead
    }

    /// Cells that were decided on ahead of time begin, if they do so before `limit`.
    pub(super) fn begin_decided_before(&mut self, limit: Time) {
        self.ahead
            .begin_before(limit, self.cell_time, &mut self.queues);
    }

    /// Takes decisions ahead of their time, for starts before `until` and the end of the run, as long as nothing that is still to arrive could change
    /// them; everything that arrives before now has been taken. What follows from events of hosts that are still to come arrives no sooner than `known_until`.
    #[inline(never)]
    pub fn decide_ahead(&mut self, fabric: &mut Fabric, until: Time, known_until: Time) {
        let mut until = until.min(fabric.end);
        while let Some(decisions) =
            PortWay::Ahead.tried(|| self.can_take_ahead(fabric, &mut until, known_until))
        {
            self.decide::<true>(fabric, decisions);
        }
    }

    /// How many decisions nothing that is still to arrive can change, for starts before `until`, which comes down to what is known.
    fn can_take_ahead(&self, fabric: &Fabric, until: &mut Time, known_until: Time) -> Option<u64> {
        let foresight = self.foresight.as_ref().filter(|_| self.total > 0)?;
        let mut cells = u64::MAX;
        for (foresight, &waiting) in foresight.iter().zip(&self.waiting) {
            match foresight {
                Foresight::Nothing => {}
                _ if waiting > 0 => cells = cells.min(waiting),
                Foresight::Feeds(feeds) => {
                    let heads = feeds.iter().map(|&feed| &fabric.feeds[feed].head);
                    let next = heads.filter(|run| run.n > 0).map(|run| run.time).min();
                    let next = next.unwrap_or(Time::NEVER).min(known_until);
                    *until = self.decided_before(next).min(*until);
                }
                Foresight::Unknown => return None,
            }
        }
        let slots = until.since(self.free_at).0.div_ceil(self.cell_time.0);
        (slots > 0).then_some(slots.min(cells))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const C: Span = Span(10);

    proptest! {
        #[test]
        fn cells_begin_as_one_by_one(
            given in proptest::collection::vec((1u64..5, 0usize..2, 0usize..3, 0u64..4, any::<bool>()), 1..20),
            limits in proptest::collection::vec(0u64..40, 1..20),
        ) {
            let mut queues: [ClassQueue; CLASSES] = Default::default();
            queues[1].of_vc = vec![0; 2];
            let mut ahead = Ahead::default();
            // Class and local number of each slot.
            let mut slots = Vec::new();
            for (n, class, before, between, in_turns) in given {
                let local = if class == 1 { before % 2 } else { 0 };
                let (to, other) = (To { class, local }, To { class: 2, local: 0 });
                let start = Time(1_000) + C * slots.len() as u64;
                if in_turns && between > 0 {
                    let before = if before == 2 { between } else { before as u64 };
                    ahead.push_turns(start, n, to, before, between, other);
                    slots.extend((0..before).map(|_| other));
                    for i in 0..n {
                        slots.push(to);
                        let more = if i + 1 < n { between } else { 0 };
                        slots.extend((0..more).map(|_| other));
                    }
                } else {
                    ahead.push(start, n, to);
                    slots.extend((0..n).map(|_| to));
                }
            }
            for &To { class, local } in &slots {
                queues[class].ahead += 1;
                if class == 1 {
                    queues[class].count_in(local, 1);
                }
            }
            let mut limit = Time(1_000);
            for later in limits {
                limit += Span(later);
                ahead.begin_before(limit, C, &mut queues);
                let begun = (limit.0 - 1_000).div_ceil(C.0).min(slots.len() as u64) as usize;
                let left = |class, local: Option<usize>| {
                    let of = |to: &&To| to.class == class && local.is_none_or(|local| to.local == local);
                    slots[begun..].iter().filter(of).count() as u64
                };
                prop_assert_eq!(ahead.total, (slots.len() - begun) as u64);
                let of_class = [0, 1, 2].map(|class: usize| queues[class].ahead);
                prop_assert_eq!(of_class, [0, 1, 2].map(|class| left(class, None)));
                prop_assert_eq!(&queues[1].of_vc, &[0, 1].map(|local| left(1, Some(local))));
            }
        }
    }
}
