//! Which accounts are due in which slot: a timing wheel (Varghese and Lauck, SOSP 1987).
//!
//! The wheel has a list for each of the next slots. An account that is due later stands in the last
//! of them, and must be entered again when its turn comes. So an account is entered and removed in
//! a few instructions, however many there are.

/// No account, or no list.
const NONE: u32 = u32::MAX;

/// Least length of the wheel, slots.
const SHORTEST: usize = 256;

/// An account's place: its list, and its neighbours there.
#[derive(Clone, Copy, Debug)]
struct Place {
    list: u32,
    before: u32,
    next: u32,
}

const NOWHERE: Place = Place {
    list: NONE,
    before: NONE,
    next: NONE,
};

/// Accounts that will be due.
#[derive(Clone, Debug)]
pub(super) struct DueAccounts {
    /// First account of the list of each slot; slot s has list s modulo their number, a power of 2.
    first: Vec<u32>,
    places: Vec<Place>,
    /// The first slot that was not looked at.
    from: u64,
}

impl DueAccounts {
    /// A wheel for `accounts` accounts, none of which is due.
    pub(super) fn new(accounts: usize) -> DueAccounts {
        let lists = SHORTEST.max((2 * accounts).next_power_of_two());
        DueAccounts {
            first: vec![NONE; lists],
            places: vec![NOWHERE; accounts],
            from: 0,
        }
    }

    #[inline]
    fn list(&self, slot: u64) -> usize {
        slot as usize & (self.first.len() - 1)
    }

    /// Lets `account` be due in `slot`, which was not looked at, and no longer in any other.
    #[inline]
    pub(super) fn enter(&mut self, account: usize, slot: u64) {
        debug_assert!(slot >= self.from, "the slot is over");
        self.leave(account);
        let list = self.list(slot.min(self.from + self.first.len() as u64 - 1));
        let next = std::mem::replace(&mut self.first[list], account as u32);
        if next != NONE {
            self.places[next as usize].before = account as u32;
        }
        self.places[account] = Place {
            list: list as u32,
            before: NONE,
            next,
        };
    }

    /// Lets `account` be due in no slot.
    #[inline]
    pub(super) fn leave(&mut self, account: usize) {
        let Place { list, before, next } = self.places[account];
        if list == NONE {
            return;
        }
        self.places[account] = NOWHERE;
        if before == NONE {
            self.first[list as usize] = next;
        } else {
            self.places[before as usize].next = next;
        }
        if next != NONE {
            self.places[next as usize].before = before;
        }
    }

    /// Whether `slot` is the first that was not looked at, and no account stands in it; then it counts
    /// as looked at.
    #[inline(always)]
    pub(super) fn pass(&mut self, slot: u64) -> bool {
        let passes = self.from == slot && self.first[self.list(slot)] == NONE;
        self.from += u64::from(passes);
        passes
    }

    /// Removes and returns an account that stands in `slot` or before, if there is one. It may be
    /// due later.
    #[inline]
    pub(super) fn next_until(&mut self, slot: u64) -> Option<usize> {
        // One turn of the wheel visits all lists.
        let lists = self.first.len() as u64;
        self.from = self.from.max((slot + 1).saturating_sub(lists));
        while self.from <= slot {
            let list = self.list(self.from);
            let account = self.first[list];
            if account != NONE {
                self.first[list] = self.places[account as usize].next;
                self.places[account as usize] = NOWHERE;
                if let Some(next) = self.places.get_mut(self.first[list] as usize) {
                    next.before = NONE;
                }
                return Some(account as usize);
            }
            self.from += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_account_comes_in_its_slot(
            accounts in prop::sample::select(vec![1usize, 64, 65, 300]),
            steps in proptest::collection::vec(
                (0usize..300, prop_oneof![4 => 1u64..200, 1 => 1u64..5_000], 0u8..4, prop_oneof![8 => 0u64..30, 1 => 0u64..2_000]),
                1..400,
            ),
        ) {
            let mut wheel = DueAccounts::new(accounts);
            let mut due = vec![None; accounts];
            let mut slot = 0;
            for (account, later, kind, passed) in steps {
                let account = account % accounts;
                if kind > 0 {
                    wheel.enter(account, slot + later);
                    due[account] = Some(slot + later);
                } else {
                    wheel.leave(account);
                    due[account] = None;
                }
                slot += passed;
                let mut found = Vec::new();
                while let Some(account) = wheel.next_until(slot) {
                    match due[account] {
                        Some(due) if due > slot => wheel.enter(account, due),
                        _ => found.push(account),
                    }
                }
                found.sort_unstable();
                let expected: Vec<usize> = (0..accounts).filter(|&a| due[a].is_some_and(|due| due <= slot)).collect();
                prop_assert_eq!(&found, &expected);
                expected.iter().for_each(|&account| due[account] = None);
            }
        }
    }
}
