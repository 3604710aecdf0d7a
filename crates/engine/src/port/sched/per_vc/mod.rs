//! Per-VC scheduling within one class: guaranteed rates first, the rest by weight, in turns of one
//! cell or one frame.
//!
//! In each cell slot of the port, including those of other classes, every VC i with cells waiting
//! gains credit g_i (guaranteed rate / link rate). A VC without cells has no credit, but still pays
//! off a debt. So a VC that other classes kept waiting catches up before the rest. When the class
//! is served, the VC with the most credit goes and pays 1, if it has at least 1.
//! Otherwise start-time fair queueing decides. VC i has a start tag S_i, raised by exactly 1 / w_i per
//! cell served. When it becomes busy again, S_i := max(S_i, v). The VC with the smallest S_i goes, and v
//! becomes its tag. Among equal tags or credits, the smallest VC index goes.
//! With `unit = frame`, the picked VC keeps the slots of the class until its EOM has left or it has
//! no cell waiting. Frames are thus not interleaved, and VCs share fairly with frames of mixed
//! sizes. All cells of a frame are paid in the same way: from the credit, which may become
//! negative, or by the tag. With `unit = byte`, S_i rises by the bytes of a packet / w_i instead;
//! guarantees are refused there.
//! The cost of a decision grows with the logarithm of the number of VCs: see [`tags`] and
//! [`credits`].
//! Sources: `guaranteed-rate`, sections 1 and 3 (per-VC guarantees and per-frame scheduling,
//! announced there as future work); Goyal, Vin and Cheng, "Start-time fair queuing", IEEE/ACM ToN
//! 5(5), 1997.
//! Limits: Only shares out service: how much of the buffer each VC may hold is up to the drop
//! policy alone.

mod credits;
mod due;
#[cfg(test)]
mod plain;
mod tags;
#[cfg(test)]
mod tests;

use super::{FlowShare, Pattern, Queues, Slots, Turn, strict_priority};
use crate::ground::units::BitRate;
use crate::text::scenario::{Class, TurnUnit};
use credits::Credits;
use tags::Tags;

/// How the cells of a turn are paid.
#[derive(Clone, Copy, Debug)]
enum Means {
    Credit,
    Tag,
}

/// Per-VC scheduler of one class at one port. VCs are identified by their local number.
#[derive(Clone, Debug)]
pub struct PerVc {
    class: usize,
    unit: TurnUnit,
    /// Number of VCs that can have cells, and of those that have at least two.
    members: usize,
    with_two: usize,
    /// Number of VCs that have cells.
    busy: usize,
    /// Whether turns are one cell, all VCs that can have cells have one weight, and none has a
    /// guarantee.
    takes_turns: bool,
    /// The VC whose turn it is.
    turn: Option<(usize, Means)>,
    /// Number of waiting cells by VC.
    waiting: Vec<u64>,
    tags: Tags,
    credits: Credits,
}

impl PerVc {
    /// A scheduler for `class` at a port of rate `rate` that `flows`, by local number, cross.
    pub fn new(class: Class, unit: TurnUnit, rate: BitRate, flows: &[FlowShare]) -> PerVc {
        let guarantee = |f: &FlowShare| f.guarantee.filter(|_| f.class == class);
        let guarantees: Vec<_> = flows.iter().map(guarantee).collect();
        let is_member = |f: &FlowShare| f.class == class && f.sends;
        let members = || flows.iter().filter(|f| is_member(f));
        let weight = members().next().map(|first| first.weight);
        let are_equal = members().all(|f| Some(f.weight) == weight && guarantee(f).is_none());
        let weights = flows.iter().map(|f| is_member(f).then_some(f.weight));
        PerVc {
            class: class as usize,
            unit,
            members: members().count(),
            with_two: 0,
            busy: 0,
            takes_turns: are_equal && unit == TurnUnit::Cell,
            turn: None,
            waiting: vec![0; flows.len()],
            tags: Tags::new(&weights.collect::<Vec<_>>()),
            credits: Credits::new(rate, &guarantees),
        }
    }

    /// Index of the class.
    pub fn class(&self) -> usize {
        self.class
    }

    /// Whether each VC that can have cells has at least two. After the next cell of any VC, each
    /// then still has one.
    #[inline]
    pub fn all_have_two(&self) -> bool {
        self.with_two == self.members
    }

    /// To whom the next slots of the port go: see [`super::Scheduler::give`].
    #[inline]
    pub fn give<Q: Queues>(
        &mut self,
        slots: &Slots<'_, Q>,
        turns: &mut Vec<Turn>,
    ) -> Option<Pattern> {
        let class = self.class;
        let pattern = strict_priority::give(slots)?;
        if !matches!(pattern, Pattern::Turn(turn) if turn.class == class) {
            return Some(pattern);
        }
        if self.goes_by_cells() {
            if let Some(rounds) = self.rounds(slots.most, turns) {
                return Some(Pattern::Rounds(rounds));
            }
            let vc = self.next_cell(slots.sent);
            let slots = 1;
            return Some(Pattern::Turn(Turn { class, vc, slots }));
        }
        let vc = self.pick(slots.sent);
        let (frame, ends) = slots.queues.front(class, vc);
        let n = frame.min(slots.most).min(self.waiting[vc] - slots.kept);
        let cost = match self.unit {
            TurnUnit::Byte => slots.queues.bytes(class, vc),
            TurnUnit::Cell | TurnUnit::Frame => n,
        };
        self.taken(n, cost, ends && n == frame, slots.sent + n);
        let slots = n;
        Some(Pattern::Turn(Turn { class, vc, slots }))
    }

    /// Number of rounds in the next `most` slots, if all waiting VCs have a turn of one cell in each
    /// of them, in the order of `turns`. They count as given, and leave each VC a cell.
    ///
    /// Their tags grow by one amount, and no tag is further behind the first than that.
    #[inline]
    fn rounds(&mut self, most: u64, turns: &mut Vec<Turn>) -> Option<u64> {
        let may = self.takes_turns && self.busy as u64 <= most / 2 && self.with_two == self.busy;
        if may {
            self.take_rounds(most, turns)
        } else {
            None
        }
    }

    fn take_rounds(&mut self, most: u64, turns: &mut Vec<Turn>) -> Option<u64> {
        let (class, slots) = (self.class, 1);
        let waits = |&(_, &waiting): &(usize, &u64)| waiting > 0;
        let waiting = || self.waiting.iter().enumerate().filter(waits);
        turns.clear();
        turns.extend(waiting().map(|(vc, _)| Turn { class, vc, slots }));
        let least = waiting().map(|(_, &cells)| cells).min()?;
        let rounds = (most / turns.len() as u64).min(least - 1);
        if rounds < 2 || !self.tags.put_in_order(turns) {
            return None;
        }
        for turn in &*turns {
            self.take(turn.vc, rounds);
        }
        self.tags.take_rounds(rounds, turns.last()?.vc);
        Some(rounds)
    }

    /// Accounts for `n` cells of `vc` that joined its queue when the port had begun to send `sent`
    /// cells.
    #[inline]
    pub fn on_arrival(&mut self, vc: usize, n: u64, sent: u64) {
        if self.expect(vc, n) {
            self.resume(vc, sent);
        }
    }

    /// Counts `n` cells of `vc` as waiting that may arrive later. Returns whether the VC had none:
    /// it must [resume](PerVc::resume) when the first of them arrives. If a later one has not
    /// arrived when its turn comes, the VC must [pause](PerVc::pause).
    #[inline]
    pub fn expect(&mut self, vc: usize, n: u64) -> bool {
        let waiting = &mut self.waiting[vc];
        self.with_two += usize::from(*waiting < 2 && *waiting + n >= 2);
        *waiting += n;
        *waiting == n
    }

    /// Lets `vc` have cells when the port had begun to send `sent` cells.
    pub fn resume(&mut self, vc: usize, sent: u64) {
        self.busy += 1;
        self.tags.resume(vc);
        self.credits.enter(vc, sent);
    }

    /// Lets `vc`, whose further cells have not arrived, have none when the port had begun to send
    /// `sent` cells.
    pub fn pause(&mut self, vc: usize, sent: u64) {
        self.turn = None;
        self.leave(vc, sent);
    }

    /// The VC whose oldest cell goes in this slot, after `sent` slots of the port. Some cell must
    /// be waiting.
    #[inline]
    pub fn pick(&mut self, sent: u64) -> usize {
        if let Some((vc, _)) = self.turn {
            return vc;
        }
        let chosen = self.choose(sent);
        self.turn = Some(chosen);
        chosen.0
    }

    /// The VC whose turn begins in this slot, and how that is paid.
    #[inline(always)]
    fn choose(&mut self, sent: u64) -> (usize, Means) {
        if let Some(vc) = self.credits.with_most_credit(sent + 1) {
            return (vc, Means::Credit);
        }
        (self.tags.begin_turn(), Means::Tag)
    }

    /// Whether a turn is one cell; then [`PerVc::next_cell`] can be used.
    #[inline]
    pub fn goes_by_cells(&self) -> bool {
        self.unit == TurnUnit::Cell
    }

    /// The VC whose oldest cell goes in this slot, after `sent` slots of the port. Only for turns
    /// of one cell; the cell counts as taken.
    #[inline]
    pub fn next_cell(&mut self, sent: u64) -> usize {
        let (vc, means) = self.choose(sent);
        let goes_on = self.take(vc, 1);
        match means {
            Means::Tag if goes_on => self.tags.pay_and_enter(vc),
            _ => self.pay(vc, means, 1, sent + 1),
        }
        if !goes_on {
            self.leave(vc, sent + 1);
        }
        vc
    }

    /// Accounts for `n` taken cells, charged as `cost`, of the VC chosen by [`PerVc::pick`]. The port
    /// has then begun to send `sent` cells. `eom` says whether the last one ends a frame.
    #[inline]
    pub fn taken(&mut self, n: u64, cost: u64, eom: bool, sent: u64) {
        let (vc, means) = self.turn.expect("it has been picked");
        self.pay(vc, means, cost, sent);
        if !self.take(vc, n) {
            self.leave(vc, sent);
        } else if eom || self.goes_by_cells() {
            self.tags.enter(vc);
        } else {
            return;
        }
        self.turn = None;
    }

    /// Pays `cost` for cells of `vc`, after which the port has begun to send `sent` cells.
    #[inline(always)]
    fn pay(&mut self, vc: usize, means: Means, cost: u64, sent: u64) {
        match means {
            Means::Credit => self.credits.pay(vc, cost, sent),
            Means::Tag => self.tags.pay(vc, cost),
        }
    }

    /// Takes `n` cells of `vc`. Returns whether it has more.
    #[inline]
    fn take(&mut self, vc: usize, n: u64) -> bool {
        let waiting = &mut self.waiting[vc];
        self.with_two -= usize::from(*waiting >= 2 && *waiting - n < 2);
        *waiting -= n;
        *waiting > 0
    }

    /// Accounts for `vc` having no cells left when the port has begun to send `sent` cells.
    #[inline]
    fn leave(&mut self, vc: usize, sent: u64) {
        self.busy -= 1;
        self.tags.leave(vc);
        self.credits.leave(vc, sent);
    }
}
