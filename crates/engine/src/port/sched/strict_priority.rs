//! Strict priority: serves the most urgent class that has a cell waiting (CBR, VBR, ABR, GFR, UBR).
//! Source: `guaranteed-rate`, section 3 (GR = 0). Cells in service are not interrupted.
//! Limits: A class with enough to send keeps all less urgent classes from sending.

use super::{Pattern, Slots, Turn};
use crate::network::tally::CLASSES;

/// The most urgent class with a waiting cell.
pub fn pick(waiting: &[u64; CLASSES]) -> Option<usize> {
    (0..CLASSES).find(|&c| waiting[c] > 0)
}

/// To whom the next slots go: see [`super::Scheduler::give`].
#[inline]
pub fn give<Q>(slots: &Slots<'_, Q>) -> Option<Pattern> {
    let class = pick(slots.waiting)?;
    let n = slots.most.min(slots.waiting[class]);
    Some(Pattern::Turn(Turn::of(class, n)))
}
