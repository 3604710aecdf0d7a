//! Credits of the VCs with a guaranteed rate, and which of them is the largest.
//!
//! While a VC has cells waiting its credit is a straight line over the slots of the port, so nothing needs doing in a slot. The
//! largest is kept in a tournament whose matches know until which slot their winner stays ahead (a kinetic tournament:
//! Basch, Guibas and Hershberger, "Data structures for mobile data", SODA 1997). It is played only once a credit can be worth a cell: what the
//! richest is short of one does not grow faster than the largest guarantee.

use crate::units::BitRate;

/// No account: of a VC without a guarantee, or as the winner where nobody plays.
const NONE: u32 = u32::MAX;

/// What a VC with a guarantee has.
#[derive(Clone, Debug)]
struct Account {
    vc: u32,
    waits: bool,
    /// Bits per second: what a slot adds.
    guarantee: u64,
    /// Credit at slot 0 if it had grown ever since; in units of 1 / link rate slots.
    at_zero: i128,
}

impl Account {
    /// Credit after `slots` slots; of a VC that does not wait, if it had waited.
    #[inline]
    fn credit(&self, slots: u64) -> i128 {
        self.at_zero + (u128::from(slots) * u128::from(self.guarantee)) as i128
    }

    /// A VC without cells has no credit, though it may have a debt.
    fn lose_credit(&mut self, slots: u64) {
        self.at_zero -= self.credit(slots).max(0);
    }
}

/// Who has more of two accounts, and from which slot on that must be asked again.
#[derive(Clone, Copy, Debug)]
struct Match {
    winner: u32,
    until: u64,
}

/// The credits at one port.
#[derive(Clone, Debug)]
pub(super) struct Credits {
    /// Link rate, bits per second: what a cell costs.
    rate: u64,
    accounts: Vec<Account>,
    /// The largest guarantee, or 1.
    fastest: u64,
    /// Before so many slots no credit is worth a cell.
    none_before: u64,
    /// By VC; empty when nobody has an account.
    account_of: Vec<u32>,
    /// Match i is between the winners of matches 2i and 2i + 1. The second half are the accounts.
    matches: Vec<Match>,
}

impl Credits {
    /// At a port of `rate`, with each VC's guarantee.
    pub(super) fn new(rate: BitRate, guarantees: &[Option<BitRate>]) -> Credits {
        let mut accounts = Vec::new();
        let mut account_of = vec![NONE; guarantees.len()];
        for (vc, guarantee) in guarantees.iter().enumerate() {
            if let Some(BitRate(guarantee @ 1..)) = *guarantee {
                account_of[vc] = accounts.len() as u32;
                accounts.push(Account {
                    vc: vc as u32,
                    waits: false,
                    guarantee,
                    at_zero: 0,
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
            fastest: accounts.iter().map(|a| a.guarantee).max().unwrap_or(1),
            none_before: u64::MAX,
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

    /// `vc` has cells waiting again, after `slots` slots of the port.
    #[inline]
    pub(super) fn enter(&mut self, vc: usize, slots: u64) {
        if let Some(account) = self.account_of(vc) {
            self.accounts[account].lose_credit(slots);
            self.set_waits(account, true);
            self.none_before = self
                .none_before
                .min(self.slots_to_gain(self.rate.into(), slots));
        }
    }

    /// `vc` has none any more.
    #[inline]
    pub(super) fn leave(&mut self, vc: usize, slots: u64) {
        if let Some(account) = self.account_of(vc) {
            self.accounts[account].lose_credit(slots);
            self.set_waits(account, false);
        }
    }

    /// `vc` pays for `cells`.
    #[inline]
    pub(super) fn pay(&mut self, vc: usize, cells: u64) {
        let account = self.account_of(vc).expect("it has credit");
        self.accounts[account].at_zero -= i128::from(cells) * i128::from(self.rate);
        self.play_again(account);
    }

    /// The VC with the largest credit after `slots` slots, if that is worth a cell. Equal credits: the smallest number.
    #[inline]
    pub(super) fn richest(&mut self, slots: u64) -> Option<usize> {
        if slots < self.none_before {
            return None;
        }
        let winner = self.play(1, slots).winner;
        let Some(account) = self.accounts.get(winner as usize) else {
            self.none_before = u64::MAX;
            return None;
        };
        let missing = i128::from(self.rate) - account.credit(slots);
        if missing <= 0 {
            return Some(account.vc as usize);
        }
        self.none_before = self.slots_to_gain(missing, slots);
        None
    }

    /// After how many slots, at the earliest, somebody has gained `credit`, more than 0, since `slots`.
    #[inline]
    fn slots_to_gain(&self, credit: i128, slots: u64) -> u64 {
        let credit = u64::try_from(credit).unwrap_or(u64::MAX);
        slots.saturating_add(credit.div_ceil(self.fastest))
    }

    fn set_waits(&mut self, account: usize, waits: bool) {
        self.accounts[account].waits = waits;
        let at = self.accounts.len() + account;
        self.matches[at].winner = if waits { account as u32 } else { NONE };
        self.play_again(account);
    }

    /// All matches on the way of `account` are open.
    fn play_again(&mut self, account: usize) {
        let mut at = (self.accounts.len() + account) / 2;
        while at >= 1 && self.matches[at].until > 0 {
            self.matches[at].until = 0;
            at /= 2;
        }
    }

    /// Match `at` after `slots` slots.
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

    /// Which of two has more, and until when.
    fn compare(&self, a: u32, b: u32, slots: u64) -> (u32, u64) {
        let (Some(of_a), Some(of_b)) =
            (self.accounts.get(a as usize), self.accounts.get(b as usize))
        else {
            return (a.min(b), u64::MAX);
        };
        let lead = of_a.credit(slots) - of_b.credit(slots);
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
        // With as much as the winner, the smaller number goes. A lead so large that 64 bits do not hold it is looked at again sooner.
        let needs = lead.unsigned_abs() + u128::from(winner < loser);
        let needs = u64::try_from(needs).unwrap_or(u64::MAX);
        (winner, slots.saturating_add(needs.div_ceil(gain)))
    }
}
