//! Scheduling decisions ahead of their time.
//!
//! Except for schedulers that look at queues, a decision depends only on which classes have cells,
//! and on which VCs where these are served one by one. While every class and every such VC that can
//! still receive cells has some, no arrival changes a decision. So decisions are taken ahead of the
//! horizon. Their cells leave for the next station, and hosts learn of the consequences that much
//! sooner.
//!
//! On links of 5 us nothing is known beyond some 17 cell times. There one step of a port can cover
//! everything that waits. A class without cells does no harm while the time of its next cell is
//! known. That is so if its cells come from cell sources straight through their NICs, since only
//! host events send those.
//!
//! Arrivals must find X, Y_i and N_a as they are at that time. So cells decided on ahead of time
//! count as waiting until they begin.
//!
//! Conditions:
//! * the scheduler does not look at queues;
//! * VCs that are served one by one keep a cell each, and their Y_i need not be kept;
//! * no waiting cell is ever pushed out;
//! * nothing is watched or measured here, and no RM cells pass;
//! * other ports are so near that deciding ahead gains time.

use super::{Slotted, queue::ClassQueue};
use crate::ground::units::{Span, Time};
use crate::network::fabric::Fabric;
use crate::network::tally::CLASSES;
use crate::port::fast_paths::FastPath;
use std::collections::VecDeque;

/// What is known of the cells of a class that are still to come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Foresight {
    /// No cell of the class will come.
    #[default]
    Nothing,
    /// These feeds hold every cell that comes before any consequence of the next host event.
    /// They bring no other cells.
    Feeds(Vec<usize>),
    /// Nothing is known.
    Unknown,
}

/// Beyond this distance (in cell times) deciding ahead gains nothing: a port has enough to do in
/// one step.
const NEAR: u64 = 256;

/// Whether a port with this cell time gains by deciding ahead if other ports are `away` from it.
pub fn gains(cell_time: Span, away: Span) -> bool {
    away < cell_time * NEAR
}

/// Consecutive slots given ahead of time to `to`, possibly in turns with `other`.
#[derive(Clone, Copy, Debug)]
struct Slots {
    start: Time,
    n: u64,
    to: SlotOwner,
    /// Slots of `other` between two of `to`; `before` counts those before the first.
    between: u64,
    before: u64,
    other: SlotOwner,
}

/// Receiver of a slot: a class, and a flow in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotOwner {
    /// Class of the cells.
    pub class: usize,
    /// Local number of the flow; 0 if the class does not count flows.
    pub local: usize,
}

impl Slots {
    /// Number of the first `n` slots that go to `to`.
    fn of_first(&self, n: u64) -> u64 {
        if self.between == 0 {
            n
        } else if n > self.before {
            1 + (n - 1 - self.before) / (self.between + 1)
        } else {
            0
        }
    }

    /// Removes the first `n` slots, `of_to` of which went to `to`.
    #[inline(always)]
    fn skip(&mut self, n: u64, of_to: u64, c: Span) {
        self.start += c * n;
        self.n -= n;
        self.before = self.before + of_to * (self.between + 1) - n;
    }
}

/// Cells decided on ahead of time that have not begun.
#[derive(Debug, Default)]
pub struct DecidedCells {
    slots: VecDeque<Slots>,
    /// Number of these cells over all classes; each queue holds the number of its class.
    pub total: u64,
}

impl DecidedCells {
    /// Whether no such cell is left.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Gives the next `n` slots, from `start` on, to `to`.
    #[inline(always)]
    pub fn push(&mut self, start: Time, n: u64, to: SlotOwner) {
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

    /// Gives `n` slots to `to`, from `start` on, each behind `between` slots of `other`.
    pub fn push_turns(
        &mut self,
        start: Time,
        n: u64,
        to: SlotOwner,
        between: u64,
        other: SlotOwner,
    ) {
        let n = n * (between + 1);
        self.total += n;
        match self.slots.back_mut() {
            Some(last) if (last.to, last.between, last.other) == (to, between, other) => {
                last.n += n
            }
            _ => self.slots.push_back(Slots {
                start,
                n,
                to,
                between,
                before: between,
                other,
            }),
        }
    }

    /// Begins the cells whose slots, `c` apart, start before `limit`.
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
            let mut begin = |SlotOwner { class, local }, n| {
                let queue = &mut queues[class];
                queue.beyond -= n;
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
    /// X of `class`, including cells decided on ahead of time.
    pub(super) fn x(&self, class: usize) -> u64 {
        self.waiting[class] + self.queues[class].beyond
    }

    /// Whether VCs of a class are served one by one, not by a program.
    pub fn serves_vcs(&self) -> bool {
        self.scheduler.per_vc().is_some()
    }

    /// Whether a VC that is served one by one could run empty by the next decision.
    #[inline]
    pub(super) fn is_vc_short(&self) -> bool {
        let scheduler = self.scheduler.per_vc();
        scheduler.is_some_and(|scheduler| !scheduler.all_have_two())
    }

    /// Begins the cells decided on ahead of time whose slots start before `limit`.
    pub(super) fn begin_decided_before(&mut self, limit: Time) {
        self.decided
            .begin_before(limit, self.cell_time, &mut self.queues);
    }

    /// Takes the decisions ahead of their time that no future arrival can change.
    /// They concern starts before `until` and before the end of the run. All arrivals before now
    /// must have been taken. Consequences of future host events arrive no sooner than
    /// `known_until`.
    #[inline(never)]
    pub fn decide_ahead(&mut self, fabric: &mut Fabric, until: Time, known_until: Time) {
        let mut until = until.min(fabric.end);
        while let Some(decisions) =
            FastPath::Ahead.tried(|| self.can_take_ahead(fabric, &mut until, known_until))
        {
            self.decide::<true>(fabric, decisions);
        }
    }

    /// Number of decisions, for starts before `until`, that no future arrival can change.
    /// Lowers `until` to the limit of what is known.
    fn can_take_ahead(&self, fabric: &Fabric, until: &mut Time, known_until: Time) -> Option<u64> {
        let foresight = self.foresight.as_ref().filter(|_| self.total > 0)?;
        if self.is_vc_short() {
            return None;
        }
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
            let mut ahead = DecidedCells::default();
            // Class and local number of each slot.
            let mut slots = Vec::new();
            for (n, class, local, between, in_turns) in given {
                let local = if class == 1 { local % 2 } else { 0 };
                let (to, other) = (SlotOwner { class, local }, SlotOwner { class: 2, local: 0 });
                let start = Time(1_000) + C * slots.len() as u64;
                if in_turns && between > 0 {
                    ahead.push_turns(start, n, to, between, other);
                    for _ in 0..n {
                        slots.extend((0..between).map(|_| other));
                        slots.push(to);
                    }
                } else {
                    ahead.push(start, n, to);
                    slots.extend((0..n).map(|_| to));
                }
            }
            for &SlotOwner { class, local } in &slots {
                queues[class].beyond += 1;
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
                    let of = |to: &&SlotOwner| to.class == class && local.is_none_or(|local| to.local == local);
                    slots[begun..].iter().filter(of).count() as u64
                };
                prop_assert_eq!(ahead.total, (slots.len() - begun) as u64);
                let of_class = [0, 1, 2].map(|class: usize| queues[class].beyond);
                prop_assert_eq!(of_class, [0, 1, 2].map(|class| left(class, None)));
                prop_assert_eq!(&queues[1].of_vc, &[0, 1].map(|local| left(1, Some(local))));
            }
        }
    }
}
