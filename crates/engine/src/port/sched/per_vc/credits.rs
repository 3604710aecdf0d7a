//! Credits of the VCs with a guaranteed rate, and the largest of them.
//!
//! While a VC has cells waiting, its credit is a straight line over the slots of the port. So
//! nothing is updated per slot: the slot from which the credit is worth a cell is known in advance.
//! Mostly few VCs have that much credit, since each cell is paid for at once, and these are
//! compared one by one. More gather when other classes keep many VCs waiting. Then a tournament
//! finds the largest credit; each match knows until which slot its winner stays ahead. This is a
//! kinetic tournament: Basch, Guibas and Hershberger, "Data structures for mobile data", SODA 1997.

use super::due::DueAccounts;
use crate::ground::units::BitRate;

/// No account (of a VC without a guarantee, or as the winner of a match without players), or no
/// place.
const NONE: u32 = u32::MAX;

/// Up to this many credits are compared one by one.
const FEW: usize = 8;

/// Credit account of a VC with a guarantee.
#[derive(Clone, Debug)]
struct Account {
    vc: u32,
    /// Index in [`Credits::ready`]; [`NONE`] if not there.
    place: u32,
    /// Guaranteed rate, bits per second. A slot adds this much credit, in units of 1 / link rate
    /// slots.
    guarantee: u64,
    /// Price of a cell divided by the gain per slot: quotient and remainder.
    price: (u64, u64),
    /// The slot after which the credit would be worth a cell without `lacks`, had it grown ever
    /// since. `lacks` is less than a slot adds.
    worth_from: u64,
    lacks: u64,
}

impl Account {
    /// By how much the credit exceeds the price of a cell after `slots` slots. For a VC that does
    /// not wait, this assumes that it had waited.
    #[inline]
    fn excess(&self, slots: u64) -> i128 {
        let since = i128::from(slots) - i128::from(self.worth_from);
        since * i128::from(self.guarantee) - i128::from(self.lacks)
    }

    /// The number of slots after which the credit is worth a cell.
    #[inline]
    fn due(&self) -> u64 {
        self.worth_from.saturating_add(u64::from(self.lacks > 0))
    }

    /// Pays for `cells` cells, each at the price `rate`. A slot number too large for 64 bits is
    /// never reached.
    #[inline]
    fn pay(&mut self, cells: u64, rate: u64) {
        let (slots, lacks) = if cells == 1 {
            self.price
        } else {
            let (all, gain) = (
                u128::from(cells) * u128::from(rate),
                u128::from(self.guarantee),
            );
            (
                u64::try_from(all / gain).unwrap_or(u64::MAX),
                (all % gain) as u64,
            )
        };
        self.lacks += lacks;
        let carries = self.lacks >= self.guarantee;
        self.lacks -= if carries { self.guarantee } else { 0 };
        let slots = slots.saturating_add(u64::from(carries));
        self.worth_from = self.worth_from.saturating_add(slots);
    }

    /// Clears the credit of a VC without cells, but not its debt.
    fn lose_credit(&mut self, slots: u64, rate: u64) {
        if self.excess(slots) + i128::from(rate) > 0 {
            self.worth_from = slots.saturating_add(self.price.0);
            self.lacks = self.price.1;
        }
    }
}

/// Outcome of a match between two accounts: who has more credit, and until which slot that holds.
#[derive(Clone, Copy, Debug)]
struct Match {
    winner: u32,
    until: u64,
}

/// The credits at one port.
#[derive(Clone, Debug)]
pub(super) struct Credits {
    /// Link rate, bits per second; also the price of a cell.
    rate: u64,
    accounts: Vec<Account>,
    /// Slots after which the credits of waiting VCs will be worth a cell, and the accounts of those
    /// whose credit already is.
    due: DueAccounts,
    ready: Vec<u32>,
    /// Account by VC; empty if no VC has one.
    account_of: Vec<u32>,
    /// Match i is between the winners of matches 2i and 2i + 1. The second half are the accounts.
    matches: Vec<Match>,
}

impl Credits {
    /// Credits at a port of rate `rate`, given each VC's guarantee.
    pub(super) fn new(rate: BitRate, guarantees: &[Option<BitRate>]) -> Credits {
        let mut accounts = Vec::new();
        let mut account_of = vec![NONE; guarantees.len()];
        for (vc, guarantee) in guarantees.iter().enumerate() {
            if let Some(BitRate(guarantee @ 1..)) = *guarantee {
                account_of[vc] = accounts.len() as u32;
                let price = (rate.0 / guarantee, rate.0 % guarantee);
                accounts.push(Account {
                    vc: vc as u32,
                    place: NONE,
                    guarantee,
                    price,
                    worth_from: price.0,
                    lacks: price.1,
                });
            }
        }
        if accounts.is_empty() {
            account_of.clear();
        }
        let nobody = Match {
            winner: NONE,
            until: u64::MAX,
        };
        Credits {
            rate: rate.0,
            due: DueAccounts::new(accounts.len()),
            ready: Vec::new(),
            matches: vec![nobody; 2 * accounts.len()],
            accounts,
            account_of,
        }
    }

    #[inline]
    fn account_of(&self, vc: usize) -> Option<usize> {
        let account = *self.account_of.get(vc)?;
        (account != NONE).then_some(account as usize)
    }

    /// Accounts for `vc` having cells again after `slots` slots of the port.
    #[inline]
    pub(super) fn enter(&mut self, vc: usize, slots: u64) {
        if let Some(account) = self.account_of(vc) {
            self.accounts[account].lose_credit(slots, self.rate);
            self.set_waits(account, true);
            self.expect(account, slots);
        }
    }

    /// Accounts for `vc` having no cells left after `slots` slots of the port.
    #[inline]
    pub(super) fn leave(&mut self, vc: usize, slots: u64) {
        if let Some(account) = self.account_of(vc) {
            self.accounts[account].lose_credit(slots, self.rate);
            self.set_waits(account, false);
            self.take_off(account);
            self.due.leave(account);
        }
    }

    /// Lets `vc` pay for `cells` cells after `slots` slots.
    #[inline(always)]
    pub(super) fn pay(&mut self, vc: usize, cells: u64, slots: u64) {
        let account = self.account_of(vc).expect("it has credit");
        self.accounts[account].pay(cells, self.rate);
        self.play_again(account);
        self.expect(account, slots);
    }

    /// The VC with the largest credit after `slots` slots, if that is worth a cell. Among equal
    /// credits, the smallest VC index.
    #[inline(always)]
    pub(super) fn with_most_credit(&mut self, slots: u64) -> Option<usize> {
        let nobody = self.accounts.is_empty() || self.ready.is_empty() && self.due.pass(slots);
        if nobody {
            None
        } else {
            self.look_for_most(slots)
        }
    }

    fn look_for_most(&mut self, slots: u64) -> Option<usize> {
        while let Some(account) = self.due.next_until(slots) {
            self.look_at(account, slots);
        }
        let account = match self.ready[..] {
            [] => return None,
            [account] => account,
            [first, ref others @ ..] if others.len() < FEW => self.richest(first, others, slots),
            _ => self.play(1, slots).winner,
        };
        Some(self.accounts[account as usize].vc as usize)
    }

    /// The account with the most credit after `slots` slots, of those whose credit is worth a cell.
    fn richest(&self, first: u32, others: &[u32], slots: u64) -> u32 {
        // No number is negative, since their credit exceeds the price of a cell.
        let excess = |account: u32| {
            let account = &self.accounts[account as usize];
            let since = u128::from(slots - account.worth_from);
            since * u128::from(account.guarantee) - u128::from(account.lacks)
        };
        let mut richest = (excess(first), first);
        for &other in others {
            let excess = excess(other);
            if excess > richest.0 || (excess == richest.0 && other < richest.1) {
                richest = (excess, other);
            }
        }
        richest.1
    }

    /// Marks `account` as rich if its credit is worth a cell after `slots` slots; otherwise it is
    /// due later.
    #[inline]
    fn look_at(&mut self, account: usize, slots: u64) {
        let due = self.accounts[account].due();
        if due > slots {
            return self.due.enter(account, due);
        }
        debug_assert!(self.accounts[account].excess(slots) >= 0);
        self.accounts[account].place = self.ready.len() as u32;
        self.ready.push(account as u32);
    }

    /// Schedules when the waiting `account` will be rich, unless its credit is worth a cell after
    /// `slots` slots.
    #[inline]
    fn expect(&mut self, account: usize, slots: u64) {
        let due = self.accounts[account].due();
        if due > slots {
            self.take_off(account);
            self.due.enter(account, due);
        }
    }

    /// Removes `account` from the rich: its credit is not worth a cell.
    #[inline]
    fn take_off(&mut self, account: usize) {
        let place = std::mem::replace(&mut self.accounts[account].place, NONE);
        if place != NONE
            && let Some(last) = self.ready.pop()
            && last != account as u32
        {
            self.ready[place as usize] = last;
            self.accounts[last as usize].place = place;
        }
    }

    fn set_waits(&mut self, account: usize, waits: bool) {
        let at = self.accounts.len() + account;
        self.matches[at].winner = if waits { account as u32 } else { NONE };
        self.play_again(account);
    }

    /// Reopens all matches from `account` up to the root.
    fn play_again(&mut self, account: usize) {
        let mut at = (self.accounts.len() + account) / 2;
        while at >= 1 && self.matches[at].until > 0 {
            self.matches[at].until = 0;
            at /= 2;
        }
    }

    /// The outcome of match `at` after `slots` slots.
    #[inline]
    fn play(&mut self, at: usize, slots: u64) -> Match {
        if self.matches[at].until <= slots {
            self.replay(at, slots);
        }
        self.matches[at]
    }

    fn replay(&mut self, at: usize, slots: u64) {
        let (a, b) = (self.play(2 * at, slots), self.play(2 * at + 1, slots));
        let (winner, until) = self.compare(a.winner, b.winner, slots);
        let until = until.min(a.until).min(b.until);
        self.matches[at] = Match { winner, until };
    }

    /// The account with more credit, and the slot until which it stays ahead.
    fn compare(&self, a: u32, b: u32, slots: u64) -> (u32, u64) {
        let (Some(of_a), Some(of_b)) =
            (self.accounts.get(a as usize), self.accounts.get(b as usize))
        else {
            return (a.min(b), u64::MAX);
        };
        let lead = of_a.excess(slots) - of_b.excess(slots);
        let (winner, loser) = if lead > 0 || (lead == 0 && a < b) {
            (a, b)
        } else {
            (b, a)
        };
        let of_winner = self.accounts[winner as usize].guarantee;
        let gain = self.accounts[loser as usize]
            .guarantee
            .saturating_sub(of_winner);
        if gain == 0 {
            return (winner, u64::MAX);
        }
        // At equal credits, the smaller number wins. A lead too large for 64 bits is checked again
        // sooner than necessary.
        let needs = lead.unsigned_abs() + u128::from(winner < loser);
        let needs = u64::try_from(needs).unwrap_or(u64::MAX);
        (winner, slots.saturating_add(needs.div_ceil(gain)))
    }
}
