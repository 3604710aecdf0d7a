//! Start tags in a tournament tree that finds the smallest in logarithmic time.

use std::hint::select_unpredictable;

/// A start tag.
pub(super) type Tag = u64;

/// Tag of one cell at weight 1.
pub(super) const UNIT: Tag = 1 << 32;
/// Value of v from which all tags are lowered by v. A turn has fewer than 2^30 cells, so tags stay
/// below [`NONE`].
pub(super) const LOWERED_AT: Tag = 1 << 62;
/// Tag of a VC without waiting cells.
const NONE: Tag = 1 << 63;

/// The VCs with waiting cells, by tag. Equal tags go by VC index.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Tags of the players. Player i is the winner of players 2i and 2i + 1. The second half are
    /// the VCs in ascending order; each round has a power of 2 of players.
    tags: Vec<Tag>,
    /// VC of each player.
    vcs: Vec<u32>,
    winner: (Tag, u32),
}

impl Tournament {
    /// A tournament of `vcs` VCs without waiting cells.
    pub(super) fn new(vcs: usize) -> Tournament {
        let players = 2 * vcs.next_power_of_two().max(2);
        Tournament {
            tags: vec![NONE; players],
            vcs: vec![0; players],
            winner: (NONE, 0),
        }
    }

    /// Sets the tag of the waiting `vc`.
    #[inline]
    pub(super) fn enter(&mut self, vc: usize, tag: Tag) {
        let (mut tag, mut player) = (tag, vc as u32);
        let players = self.tags.len();
        let (tags, vcs) = (&mut self.tags[..], &mut self.vcs[..players]);
        let mut at = players / 2 + vc;
        // All indices are below `players`, an even number. Stating this here saves bounds checks.
        while at > 1 && at < players && at ^ 1 < players {
            (tags[at], vcs[at]) = (tag, player);
            let (other, of_other) = (tags[at ^ 1], vcs[at ^ 1]);
            // The left player wins if tags are equal.
            let loses = other < tag + (at & 1) as Tag;
            tag = select_unpredictable(loses, other, tag);
            player = select_unpredictable(loses, of_other, player);
            at /= 2;
        }
        self.winner = (tag, player);
    }

    /// Changes the tags of all waiting VCs, which keep their order.
    pub(super) fn shift(&mut self, to: impl Fn(Tag) -> Tag) {
        let tags = self.tags.iter_mut().chain([&mut self.winner.0]);
        tags.filter(|tag| **tag != NONE)
            .for_each(|tag| *tag = to(*tag));
    }

    /// Whether `vc` has waiting cells.
    pub(super) fn has(&self, vc: usize) -> bool {
        self.tags[self.tags.len() / 2 + vc] != NONE
    }

    /// Removes `vc`, which has no waiting cells left.
    #[inline]
    pub(super) fn leave(&mut self, vc: usize) {
        self.enter(vc, NONE);
    }

    /// The VC with the smallest tag, and that tag; some VC must be waiting.
    #[inline]
    pub(super) fn first(&self) -> (usize, Tag) {
        let (tag, vc) = self.winner;
        debug_assert!(tag != NONE, "nothing waits");
        (vc as usize, tag)
    }
}
