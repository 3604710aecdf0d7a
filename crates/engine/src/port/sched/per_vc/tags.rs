//! Start tags, and which of them is the smallest: a tournament, as deep as the logarithm of the number of VCs.

/// A start tag in its upper 96 bits, the number of its VC below: equal tags go by that. 2^64 cells pass before it overflows.
pub(super) type Tag = u128;

const VC_BITS: u32 = 32;
/// Tag of one cell at weight 1.
const UNIT: u64 = 1 << 32;
/// Tag of a VC that has no cell waiting.
const NONE: Tag = Tag::MAX;

/// The tag that `vc` begins with.
pub(super) fn zero(vc: usize) -> Tag {
    vc as Tag
}

/// What one cell of a VC adds to its tag.
pub(super) fn of_one_cell(weight: u64) -> Tag {
    Tag::from(UNIT / weight) << VC_BITS
}

/// The VC that has the tag.
#[inline(always)]
pub(super) fn owner(tag: Tag) -> usize {
    tag as u32 as usize
}

/// The tag, or if it is behind the value of `than`, that value.
#[inline(always)]
pub(super) fn not_behind(tag: Tag, than: Tag) -> Tag {
    let vcs = (1 << VC_BITS) - 1;
    tag.max(than & !vcs | tag & vcs)
}

/// The tags of the VCs that have cells waiting.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Node i is the smaller one of nodes 2i and 2i + 1. The second half are the VCs' own.
    nodes: Vec<Tag>,
}

impl Tournament {
    /// None of `vcs` waits.
    pub(super) fn new(vcs: usize) -> Tournament {
        Tournament {
            nodes: vec![NONE; 2 * vcs],
        }
    }

    /// The VC that owns `tag` waits with it.
    #[inline]
    pub(super) fn enter(&mut self, tag: Tag) {
        self.set(owner(tag), tag);
    }

    /// `vc` does not wait any more.
    #[inline]
    pub(super) fn leave(&mut self, vc: usize) {
        self.set(vc, NONE);
    }

    #[inline]
    fn set(&mut self, vc: usize, mut tag: Tag) {
        let mut at = self.nodes.len() / 2 + vc;
        self.nodes[at] = tag;
        while at > 1 {
            tag = tag.min(self.nodes[at ^ 1]);
            at /= 2;
            self.nodes[at] = tag;
        }
    }

    /// The smallest tag; there must be one.
    #[inline]
    pub(super) fn first(&self) -> Tag {
        debug_assert!(self.nodes[1] != NONE, "nothing waits");
        self.nodes[1]
    }
}
