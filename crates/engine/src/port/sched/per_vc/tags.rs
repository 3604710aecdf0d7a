//! Start tags of the VCs, exact, in a tournament tree that finds the smallest in logarithmic time.
//!
//! Tags count in units of 1 / L, where L is the least common multiple of the weights: a cell (or a
//! byte) costs a VC L / weight of them. They have 64 bits if each cost is at most 2^32, as for equal
//! weights, and 128 bits otherwise.

use crate::port::sched::Turn;
use crate::text::scenario::weights;
use std::hint::select_unpredictable;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An integer that start tags are counted in.
///
/// A turn has fewer than 2^30 cells, or 2^17 bytes. With the largest cost, tags so stay below
/// [`Tag::NONE`].
pub(super) trait Tag:
    Copy
    + Ord
    + From<u64>
    + Into<u128>
    + TryFrom<u128>
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
{
    /// Tag of a VC without waiting cells.
    const NONE: Self;
    /// Value of v from which all tags are lowered by v.
    const LOWERED_AT: Self;
}

impl Tag for u64 {
    const NONE: u64 = 1 << 63;
    const LOWERED_AT: u64 = 1 << 62;
}

impl Tag for u128 {
    const NONE: u128 = 1 << 127;
    const LOWERED_AT: u128 = 1 << 126;
}

/// A VC's start tag.
#[derive(Clone, Debug)]
struct VcTag<T> {
    tag: T,
    /// Tag increase per cell: L / weight.
    cost: T,
}

/// The start tags at one port.
#[derive(Clone, Debug)]
pub(super) struct TagsOf<T> {
    vcs: Vec<VcTag<T>>,
    /// Virtual time v: the tag of the VC that went last by tag.
    virtual_time: T,
    tree: Tournament<T>,
}

/// [`TagsOf`] as wide as they must be.
#[derive(Clone, Debug)]
pub(super) enum Tags {
    Narrow(TagsOf<u64>),
    Wide(TagsOf<u128>),
}

/// Does the same with tags of both widths.
macro_rules! both {
    ($tags:expr, $of:ident => $what:expr) => {
        match $tags {
            Tags::Narrow($of) => $what,
            Tags::Wide($of) => $what,
        }
    };
}

impl Tags {
    /// Tags of VCs with these weights, or none for a VC that never has cells.
    pub(super) fn new(weights: &[Option<u64>]) -> Tags {
        let multiple = weights::common_multiple(weights.iter().copied().flatten());
        let multiple = multiple.expect("the reader has checked the weights");
        let cost = |weight: &Option<u64>| weight.map_or(1, |weight| multiple / u128::from(weight));
        let costs: Vec<u128> = weights.iter().map(cost).collect();
        if costs.iter().all(|&cost| cost <= 1 << 32) {
            Tags::Narrow(TagsOf::new(costs.into_iter().map(|cost| cost as u64)))
        } else {
            Tags::Wide(TagsOf::new(costs.into_iter()))
        }
    }

    /// Lets `vc` have waiting cells again.
    #[inline(always)]
    pub(super) fn resume(&mut self, vc: usize) {
        both!(self, tags => tags.resume(vc));
    }

    /// Removes `vc`, which has no waiting cells left.
    #[inline(always)]
    pub(super) fn leave(&mut self, vc: usize) {
        both!(self, tags => tags.tree.enter(vc, Tag::NONE));
    }

    /// The VC with the smallest tag, which becomes v. Some VC must be waiting.
    #[inline(always)]
    pub(super) fn begin_turn(&mut self) -> usize {
        both!(self, tags => tags.begin_turn())
    }

    /// Raises the tag of `vc` by `n` cells or bytes; its place follows when it [enters](Tags::enter).
    #[inline]
    pub(super) fn pay(&mut self, vc: usize, n: u64) {
        both!(self, tags => tags.vcs[vc].pay(n));
    }

    /// Gives the waiting `vc` the place of its tag.
    #[inline]
    pub(super) fn enter(&mut self, vc: usize) {
        both!(self, tags => tags.tree.enter(vc, tags.vcs[vc].tag));
    }

    /// Raises the tag of the waiting `vc` by a cell, and gives it the place of its tag.
    #[inline(always)]
    pub(super) fn pay_and_enter(&mut self, vc: usize) {
        both!(self, tags => tags.pay_and_enter(vc));
    }

    /// Sorts turns of waiting VCs whose cells cost 1 by tag and number. Returns whether each keeps
    /// its place after a cell of those before it.
    pub(super) fn put_in_order(&self, turns: &mut [Turn]) -> bool {
        both!(self, tags => tags.put_in_order(turns))
    }

    /// Accounts for `rounds` rounds of one cell, at a cost of 1, of all waiting VCs, the last of
    /// which is `last`.
    pub(super) fn take_rounds(&mut self, rounds: u64, last: usize) {
        both!(self, tags => tags.take_rounds(rounds, last));
    }

    /// Sets v so that tags are lowered after about `cells` cells at the largest cost.
    #[cfg(test)]
    pub(super) fn set_before_lowering(&mut self, cells: u64) {
        both!(self, tags => tags.set_before_lowering(cells));
    }
}

impl<T: Tag> VcTag<T> {
    #[inline]
    fn pay(&mut self, n: u64) {
        self.tag += self.cost * n.into();
    }
}

impl<T: Tag> TagsOf<T> {
    fn new(costs: impl ExactSizeIterator<Item = T>) -> TagsOf<T> {
        TagsOf {
            tree: Tournament::new(costs.len()),
            vcs: costs
                .map(|cost| VcTag {
                    tag: 0.into(),
                    cost,
                })
                .collect(),
            virtual_time: 0.into(),
        }
    }

    #[inline(always)]
    fn resume(&mut self, vc: usize) {
        let v = &mut self.vcs[vc];
        v.tag = v.tag.max(self.virtual_time);
        self.tree.enter(vc, v.tag);
    }

    #[inline(always)]
    fn pay_and_enter(&mut self, vc: usize) {
        let v = &mut self.vcs[vc];
        v.tag += v.cost;
        self.tree.enter(vc, v.tag);
    }

    #[inline(always)]
    fn begin_turn(&mut self) -> usize {
        let (vc, tag) = self.tree.first();
        self.virtual_time = tag;
        self.lower();
        vc
    }

    /// Subtracts v from all tags before they become too large. This loses nothing: tags of waiting
    /// VCs are at least v, and how far others are behind never matters.
    #[inline]
    fn lower(&mut self) {
        if self.virtual_time >= T::LOWERED_AT {
            self.lower_now();
        }
    }

    #[cold]
    fn lower_now(&mut self) {
        let by = self.virtual_time;
        for v in &mut self.vcs {
            v.tag = v.tag.max(by) - by;
        }
        self.tree.shift(|tag| tag - by);
        self.virtual_time = 0.into();
    }

    fn put_in_order(&self, turns: &mut [Turn]) -> bool {
        let key = |turn: &Turn| (self.vcs[turn.vc].tag, turn.vc);
        turns.sort_unstable_by_key(key);
        turns
            .first()
            .zip(turns.last())
            .is_some_and(|(first, last)| {
                let (tag, vc) = key(first);
                key(last) < (tag + T::from(1), vc)
            })
    }

    fn take_rounds(&mut self, rounds: u64, last: usize) {
        for (vc, v) in self.vcs.iter_mut().enumerate() {
            if self.tree.has(vc) {
                v.tag += rounds.into();
            }
        }
        self.tree.shift(|tag| tag + rounds.into());
        self.virtual_time = self.vcs[last].tag - T::from(1);
        self.lower();
    }

    #[cfg(test)]
    fn set_before_lowering(&mut self, cells: u64) {
        let most = self.vcs.iter().map(|v| v.cost).max().expect("a VC");
        self.virtual_time = T::LOWERED_AT - most * cells.into();
    }
}

/// The VCs with waiting cells, by tag. Equal tags go by VC index.
#[derive(Clone, Debug)]
struct Tournament<T> {
    /// Tags of the players. Player i is the winner of players 2i and 2i + 1. The second half are
    /// the VCs in ascending order; each round has a power of 2 of players.
    tags: Vec<T>,
    /// VC of each player.
    vcs: Vec<u32>,
    winner: (T, u32),
}

impl<T: Tag> Tournament<T> {
    /// A tournament of `vcs` VCs without waiting cells.
    fn new(vcs: usize) -> Tournament<T> {
        let players = 2 * vcs.next_power_of_two().max(2);
        Tournament {
            tags: vec![T::NONE; players],
            vcs: vec![0; players],
            winner: (T::NONE, 0),
        }
    }

    /// Sets the tag of the waiting `vc`.
    #[inline(always)]
    fn enter(&mut self, vc: usize, tag: T) {
        let (mut tag, mut player) = (tag, vc as u32);
        let players = self.tags.len();
        let (tags, vcs) = (&mut self.tags[..], &mut self.vcs[..players]);
        let mut at = players / 2 + vc;
        // All indices are below `players`, an even number. Stating this here saves bounds checks.
        while at > 1 && at < players && at ^ 1 < players {
            (tags[at], vcs[at]) = (tag, player);
            let (other, of_other) = (tags[at ^ 1], vcs[at ^ 1]);
            // The left player wins if tags are equal.
            let loses = other < tag + ((at & 1) as u64).into();
            tag = select_unpredictable(loses, other, tag);
            player = select_unpredictable(loses, of_other, player);
            at /= 2;
        }
        self.winner = (tag, player);
    }

    /// Changes the tags of all waiting VCs, which keep their order.
    fn shift(&mut self, to: impl Fn(T) -> T) {
        let tags = self.tags.iter_mut().chain([&mut self.winner.0]);
        tags.filter(|tag| **tag != T::NONE)
            .for_each(|tag| *tag = to(*tag));
    }

    /// Whether `vc` has waiting cells.
    fn has(&self, vc: usize) -> bool {
        self.tags[self.tags.len() / 2 + vc] != T::NONE
    }

    /// The VC with the smallest tag, and that tag; some VC must be waiting.
    #[inline]
    fn first(&self) -> (usize, T) {
        let (tag, vc) = self.winner;
        debug_assert!(tag != T::NONE, "nothing waits");
        (vc as usize, tag)
    }
}
