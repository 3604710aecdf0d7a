//! Start tags, and which of them is the smallest: a tournament, as deep as the logarithm of the number of VCs.

use std::hint::select_unpredictable;

/// A start tag.
pub(super) type Tag = u64;

/// Tag of one cell at weight 1.
pub(super) const UNIT: Tag = 1 << 32;
/// Once v is as large as this, all tags are lowered by v. A turn has fewer than 2^30 cells, so tags stay below [`NONE`].
pub(super) const LOWERED_AT: Tag = 1 << 62;
/// In place of the tag of a VC that does not wait.
const NONE: Tag = 1 << 63;

/// A VC with its tag.
#[derive(Clone, Copy, Debug)]
struct Player {
    tag: Tag,
    vc: u32,
}

/// The VCs that have cells waiting, by tag. Equal tags go by the number of the VC.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Match i is between the winners of matches 2i and 2i + 1, of which there are a power of 2 in each round; behind the last match
    /// follow the VCs, those with smaller numbers to the left.
    matches: Vec<[Player; 2]>,
    winner: Player,
}

impl Tournament {
    /// None of `vcs` waits.
    pub(super) fn new(vcs: usize) -> Tournament {
        let nobody = Player { tag: NONE, vc: 0 };
        Tournament {
            matches: vec![[nobody; 2]; vcs.next_power_of_two()],
            winner: nobody,
        }
    }

    /// `vc` waits with `tag`.
    #[inline]
    pub(super) fn enter(&mut self, vc: usize, tag: Tag) {
        let mut player = Player { tag, vc: vc as u32 };
        let mut at = self.matches.len() + vc;
        while at > 1 {
            let sides = &mut self.matches[at / 2];
            let right = at % 2;
            sides[right] = player;
            let other = sides[1 - right];
            // The left one wins if tags are equal.
            let loses = other.tag < player.tag + right as Tag;
            player.tag = select_unpredictable(loses, other.tag, player.tag);
            player.vc = select_unpredictable(loses, other.vc, player.vc);
            at /= 2;
        }
        self.winner = player;
    }

    /// `vc` does not wait any more.
    #[inline]
    pub(super) fn leave(&mut self, vc: usize) {
        self.enter(vc, NONE);
    }

    /// The VC with the smallest tag, and that; there must be one.
    #[inline]
    pub(super) fn first(&self) -> (usize, Tag) {
        debug_assert!(self.winner.tag != NONE, "nothing waits");
        (self.winner.vc as usize, self.winner.tag)
    }
}
