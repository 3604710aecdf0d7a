//! Limits of a class queue: how many more cells surely neither fill the buffer nor reach what the
//! policy acts on.

use crate::ground::units::SignedTicks;

/// Limits on X, in cells (`u64`), or on the time until the last accepted cell starts
/// ([`SignedTicks`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<T> {
    /// From here on a cell of a frame already begun can be refused.
    full: T,
    /// From here on the first cell of a frame can be refused; at most `full`.
    refusal: T,
}

impl<T: Ord + Copy> Limits<T> {
    /// Limits for cells of frames already begun, and for cells that begin one.
    pub fn new(full: T, refusal: T) -> Limits<T> {
        Limits {
            full,
            refusal: refusal.min(full),
        }
    }

    /// Whether one more cell fits at `x`. The policy's limit counts if a frame `begins`.
    #[inline(always)]
    pub fn fits(&self, x: T, begins: bool) -> bool {
        x < self.of(begins)
    }

    #[inline(always)]
    fn of(&self, begins: bool) -> T {
        if begins { self.refusal } else { self.full }
    }
}

impl Limits<u64> {
    /// How many cells may join `x` waiting ones. The policy's limit counts if a frame `begins`.
    #[inline(always)]
    pub fn fit(&self, x: u64, begins: bool) -> u64 {
        self.of(begins).saturating_sub(x)
    }
}

impl Limits<SignedTicks> {
    /// By how much the time `ahead` may still grow; not positive if not even one cell may join. The
    /// policy's limit counts if a frame `begins`.
    #[inline(always)]
    pub fn fit(&self, ahead: SignedTicks, begins: bool) -> SignedTicks {
        self.of(begins).saturating_sub(ahead)
    }
}
