//! Fast path of the slotted kernel: VCs of one weight that take turns of one cell.
//!
//! While all of k VCs have cells, every k-th slot goes to the same VC. Cells of one frame then start
//! k cell times apart, so each waits longer than the one before by a constant. So the statistics of
//! a frame are updated once.
//!
//! Conditions:
//! * no VC of the class has a guarantee, and all have one weight and turns of one cell;
//! * no class above has cells;
//! * each VC that has cells keeps one;
//! * all go on to their hosts and arrive there within the measuring time;
//! * no cell is to be looked at by itself when it leaves.

use super::Slotted;
use super::ahead::SlotOwner;
use super::alternating::reach_host_alike;
use crate::fabric::Fabric;
use crate::port::sched::Scheduler;

/// Fewer rounds cost more to find than they save.
const FEWEST: u64 = 2;

impl Slotted {
    /// Number of rounds of turns in the next decisions, at most `most`, if there are any.
    /// On success `self.turn_order` lists the VCs.
    #[inline]
    pub(super) fn can_take_vc_turns(&mut self, fabric: &Fabric, most: u64) -> Option<u64> {
        let scheduler = self.scheduler.per_vc()?;
        if scheduler.can_take_turns(most / FEWEST) {
            self.vc_turns(fabric, most)
        } else {
            None
        }
    }

    fn vc_turns(&mut self, fabric: &Fabric, most: u64) -> Option<u64> {
        let scheduler = self.scheduler.per_vc()?;
        let class = scheduler.class();
        if self.waiting[..class].iter().any(|&waiting| waiting > 0) {
            return None;
        }
        let least = scheduler.turns(&mut self.turn_order)?;
        let vcs = self.turn_order.len() as u64;
        let rounds = (most / vcs).min(least - 1);
        let (c, start) = (self.cell_time, self.free_at);
        let end = start + c * (rounds * vcs);
        let queues = &self.queues[class].per_vc;
        let applies = |&vc: &u32| {
            let hop = queues[vc as usize].first().hop;
            reach_host_alike(fabric, hop, start + c, end)
        };
        (rounds >= FEWEST && self.turn_order.iter().all(applies)).then_some(rounds)
    }

    /// Takes these decisions and returns their number.
    pub(super) fn take_vc_turns<const AHEAD: bool>(
        &mut self,
        fabric: &mut Fabric,
        rounds: u64,
    ) -> u64 {
        let order = std::mem::take(&mut self.turn_order);
        let Scheduler::PerVc(scheduler) = &mut self.scheduler else {
            unreachable!("its VCs take turns")
        };
        let class = scheduler.class();
        scheduler.take_turns(&order, rounds);
        let vcs = order.len() as u64;
        let slots = rounds * vcs;
        let (c, start) = (self.cell_time, self.free_at);
        self.waiting[class] -= slots;
        self.total -= slots;
        if AHEAD {
            self.queues[class].decided += slots;
            self.decided
                .push(start, slots, SlotOwner { class, local: 0 });
        }
        for (place, &vc) in (0..).zip(&order) {
            let mut at = start + c * place;
            let mut left = rounds as u32;
            while left > 0 {
                let queue = &mut self.queues[class];
                let cells = queue.per_vc[vc as usize].take(left, c);
                let n = cells.n();
                if !AHEAD && self.counts[class] {
                    queue.count_out(vc as usize, n.into());
                }
                self.begin_apart(fabric, cells, at, c * vcs);
                at += c * (vcs * u64::from(n));
                left -= n;
            }
        }
        self.free_at = start + c * slots;
        self.turn_order = order;
        slots
    }
}
