//! Start tags, and which of them is the smallest: a tournament, as deep as the logarithm of the number of VCs. It also tells whose credit is due first
//! (`credits.rs`): there the tag is a number of slots.

use std::hint::select_unpredictable;

/// A start tag.
pub(super) type Tag = u64;

/// Tag of one cell at weight 1.
pub(super) const UNIT: Tag = 1 << 32;
/// Once v is as large as this, all tags are lowered by v. A turn has fewer than 2^30 cells, so tags stay below [`NONE`].
pub(super) const LOWERED_AT: Tag = 1 << 62;
/// In place of the tag of a VC that does not wait.
const NONE: Tag = 1 << 63;
/// The largest tag.
pub(super) const LATEST: Tag = NONE - 1;

/// The VCs that have cells waiting, by tag. Equal tags go by the number of the VC.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Player i is the winner of the match between players 2i and 2i + 1, of whom there are a power of 2 in each round. The second half
    /// are the VCs, those with smaller numbers to the left. Here are their tags.
    tags: Vec<Tag>,
    /// Which VC a player is.
    vcs: Vec<u32>,
    winner: (Tag, u32),
}

impl Tournament {
    /// None of `vcs` waits.
    pub(super) fn new(vcs: usize) -> Tournament {
        let players = 2 * vcs.next_power_of_two();
        Tournament {
            tags: vec![NONE; players],
            vcs: vec![0; players],
            winner: (NONE, 0),
        }
    }

    /// `vc` waits with `tag`.
    #[inline]
    pub(super) fn enter(&mut self, vc: usize, tag: Tag) {
        let (mut tag, mut player) = (tag, vc as u32);
        let players = self.tags.len();
        let (tags, vcs) = (&mut self.tags[..], &mut self.vcs[..players]);
        let mut at = players / 2 + vc;
        // All are below `players`, an even number: said here, it is not checked again.
        while at > 1 && at < players && at ^ 1 < players {
            (tags[at], vcs[at]) = (tag, player);
            let (other, of_other) = (tags[at ^ 1], vcs[at ^ 1]);
            // The left one wins if tags are equal.
            let loses = other < tag + (at & 1) as Tag;
            tag = select_unpredictable(loses, other, tag);
            player = select_unpredictable(loses, of_other, player);
            at /= 2;
        }
        self.winner = (tag, player);
    }

    /// `vc` does not wait any more.
    #[inline]
    pub(super) fn leave(&mut self, vc: usize) {
        self.enter(vc, NONE);
    }

    /// The smallest tag, larger than any if nothing waits.
    #[inline]
    pub(super) fn smallest(&self) -> Tag {
        self.winner.0
    }

    /// The VC with the smallest tag, and that; there must be one.
    #[inline]
    pub(super) fn first(&self) -> (usize, Tag) {
        let (tag, vc) = self.winner;
        debug_assert!(tag != NONE, "nothing waits");
        (vc as usize, tag)
    }
}
