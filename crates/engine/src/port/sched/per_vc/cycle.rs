//! Decisions that repeat while the same VCs have cells.
//!
//! In each slot, VC i gains credit g_i, and it pays 1 for a cell. So its credit can be the same again
//! only after a multiple of 1 / g_i slots. If then all credits are, and all tags have grown by the
//! same amount, the decisions between the two slots form a *round*, and repeat from now on.
//!
//! Meanwhile neither tags nor credits are kept up to date. That is made up for when a VC gets cells
//! or has none left, or another class gets a slot: tags and credits move on by all whole rounds, and
//! the decisions of the last round, which is not over, are taken again.

use super::PerVc;
use crate::units::BitRate;

/// Longest round that is found.
const MOST_TURNS: u64 = 4096;
/// Rounds after which tags move on in any case, so that they stay small.
const MOST_ROUNDS: u64 = 1 << 16;

/// What decisions depend on: for each VC with cells its tag, relative to v, and its credit.
type State = Vec<(u128, (u64, u64))>;

/// The decisions noted, and what repeats.
#[derive(Clone, Debug, Default)]
pub(super) struct Cycle {
    /// Slots between two looks at the state; 0 if credits are seldom or never the same again.
    interval: u64,
    /// The slot after that of the latest decision.
    next: u64,
    /// VCs of the decisions in a row that were noted.
    turns: Vec<u32>,
    /// The state before them, empty if it was not looked at, and v.
    state: State,
    virtual_time: u128,
    /// Growth of the tags in one round.
    growth: u128,
    /// Whether these decisions are a round that repeats, with the place of the next one in it, and
    /// the number of whole rounds since.
    repeats: bool,
    place: usize,
    rounds: u64,
}

impl Cycle {
    /// No decisions, at a port of rate `rate` with these guarantees.
    pub(super) fn new(rate: BitRate, guarantees: &[Option<BitRate>]) -> Cycle {
        let mut all = 0;
        for &BitRate(guarantee) in guarantees.iter().flatten().filter(|g| g.0 > 0) {
            let period = rate.0 / gcd(rate.0, guarantee);
            all = match all {
                0 => period,
                _ => (all / gcd(all, period)).saturating_mul(period),
            };
        }
        let interval = match all {
            0 => 0,
            // The work of a look grows with the number of VCs.
            _ => all.saturating_mul((guarantees.len() as u64).div_ceil(all)),
        };
        Cycle {
            interval: if interval <= MOST_TURNS { interval } else { 0 },
            ..Cycle::default()
        }
    }

    /// Whether decisions repeat.
    #[inline]
    pub(super) fn repeats(&self) -> bool {
        self.repeats
    }

    /// Whether `sent` is the slot to come.
    #[inline]
    pub(super) fn goes_on_at(&self, sent: u64) -> bool {
        self.next == sent
    }

    /// Forgets the decisions noted, which do not repeat.
    #[inline]
    pub(super) fn restart(&mut self) {
        debug_assert!(!self.repeats, "tags and credits have stayed behind");
        self.turns.clear();
        self.state.clear();
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl PerVc {
    /// Notes that `vc` got a slot, after `sent` slots of the port. Looks after each interval whether
    /// decisions repeat from now on.
    #[inline]
    pub(super) fn note_turn(&mut self, vc: usize, sent: u64) {
        let cycle = &mut self.cycle;
        if cycle.interval == 0 {
            return;
        }
        if cycle.next != sent {
            cycle.restart();
        }
        cycle.next = sent + 1;
        cycle.turns.push(vc as u32);
        if (cycle.turns.len() as u64).is_multiple_of(cycle.interval) {
            self.look_for_cycle();
        }
    }

    /// Compares the state with that before the decisions noted.
    fn look_for_cycle(&mut self) {
        let state = self.state();
        let cycle = &mut self.cycle;
        if !state.is_empty() && state == cycle.state {
            cycle.repeats = true;
            (cycle.place, cycle.rounds) = (0, 0);
            cycle.growth = self.tags.virtual_time() - cycle.virtual_time;
        } else if cycle.state.is_empty() || cycle.turns.len() as u64 + cycle.interval > MOST_TURNS {
            cycle.turns.clear();
            cycle.state = state;
            cycle.virtual_time = self.tags.virtual_time();
        }
    }

    fn state(&self) -> State {
        let with_cells = (0..self.waiting.len()).filter(|&vc| self.tags.has(vc));
        let of = |vc: usize| (self.tags.ahead(vc), self.credits.of(vc, self.cycle.next));
        with_cells.map(of).collect()
    }

    /// The VC whose oldest cell goes in this slot, which counts as taken.
    #[inline]
    pub(super) fn repeat_turn(&mut self) -> usize {
        let cycle = &mut self.cycle;
        let vc = cycle.turns[cycle.place] as usize;
        cycle.next += 1;
        cycle.place += 1;
        if cycle.place == cycle.turns.len() {
            cycle.place = 0;
            cycle.rounds += 1;
        }
        let is_last = cycle.rounds == MOST_ROUNDS;
        let sent = cycle.next;
        if !self.take(vc, 1) {
            self.leave(vc, sent);
        } else if is_last {
            self.end_cycle();
        }
        vc
    }

    /// Brings tags and credits up to date if decisions repeat, and forgets the decisions noted.
    #[inline]
    pub(super) fn end_cycle(&mut self) {
        if self.cycle.repeats {
            self.move_on();
        }
        self.cycle.restart();
    }

    /// Brings tags and credits up to date.
    #[cold]
    fn move_on(&mut self) {
        self.cycle.repeats = false;
        let place = self.cycle.place;
        let sent = self.cycle.next - place as u64;
        if self.cycle.rounds > 0 {
            let growth = self.cycle.growth * u128::from(self.cycle.rounds);
            let slots = self.cycle.turns.len() as u64 * self.cycle.rounds;
            for vc in (0..self.waiting.len()).filter(|&vc| self.tags.has(vc)) {
                self.credits.shift(vc, slots, sent);
            }
            self.tags.advance(growth);
        }
        for sent in sent..self.cycle.next {
            let (vc, means) = self.choose(sent);
            self.pay(vc, means, 1, sent + 1);
            self.tags.enter(vc);
        }
    }
}
