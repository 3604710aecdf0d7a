//! FIFO: serves the cell that arrived first, regardless of its class. Classes still have separate
//! buffers and policies.
//! Limits: No class is protected: a burst of any class delays the cells of all others.

use crate::network::tally::CLASSES;

/// The class whose oldest cell arrived first.
pub fn pick(waiting: &[u64; CLASSES], oldest: impl Fn(usize) -> u64) -> Option<usize> {
    (0..CLASSES)
        .filter(|&c| waiting[c] > 0)
        .min_by_key(|&c| oldest(c))
}
