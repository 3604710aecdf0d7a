//! Fast paths by which ports take many cells at once.
//!
//! Each fast path has one question, `can_take_...`, and one action. A kernel asks the questions in a
//! fixed order, found in [`super::arithmetic::Arithmetic::advance`], its `advance_judged`, and
//! [`super::slotted::Slotted::advance`]. Fast paths that take one cell, or the rest of a refused
//! frame (`judged-interleaved`, `policy-alone`, `refused-frame`, `below-limits`,
//! `queued-policy-alone`), come after these, and serve coincident cells too. The scheduler's
//! decisions have three, `alternating`, `vc-turns` and `ahead`. `far-inputs` concerns the order of
//! inputs (`order.rs`). Where none applies, cells pass the gate one by one.
//!
//! The feature `fast-paths`, used only by benches, lets a fast path be switched off and counts its
//! uses: `make ways`.

#[cfg(feature = "fast-paths")]
use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// A fast path. Each variant's comment is its condition in the table of docs/architecture.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "fast-paths",
    derive(EnumMessage, IntoStaticStr, VariantArray)
)]
#[cfg_attr(feature = "fast-paths", strum(serialize_all = "kebab-case"))]
pub enum FastPath {
    /// Arithmetic: cells of one frame, one per cell time, that come before those of any other input.
    Frame,
    /// Arithmetic: frames of two inputs that overlap, one cell per cell time each, both to their hosts.
    Pair,
    /// Arithmetic: two or more inputs that bring one cell per cell time each.
    Rounds,
    /// Arithmetic: inputs whose cells come farther apart than one per cell time and alternate.
    Interleaved,
    /// Arithmetic: cells of one run, closer together or farther apart than one per cell time, to their host.
    Series,
    /// Arithmetic: cells of one run that meet the same queue.
    Run,
    /// Arithmetic, every cell judged: as `rounds`, where the policy alone is asked.
    JudgedRounds,
    /// Arithmetic, every cell judged: inputs whose cells come at one distance of more than a cell time.
    Circle,
    /// Arithmetic, every cell judged: cells of one flow, each a run of its own.
    Singles,
    /// Arithmetic, every cell judged: cells of one run, one per cell time, at a busy port.
    JudgedRun,
    /// Arithmetic, every cell judged: cells whose counters are brought up to date once per run.
    JudgedInterleaved,
    /// Arithmetic, every cell judged: one cell of which the policy alone decides.
    PolicyAlone,
    /// Arithmetic, every cell judged: a frame that the policy alone refuses at its first cell.
    RefusedFrame,
    /// Slotted: arrivals of VCs with queues of their own while the port surely stays busy.
    Bulk,
    /// Slotted: two or more inputs that bring one cell per cell time each.
    RoundArrivals,
    /// Slotted: cells of one input, one per cell time, and the decisions between them.
    LockStep,
    /// Slotted: cells of one input, one per cell time, while decisions were taken ahead of time.
    JoinDecided,
    /// Slotted: cells of one class and single cells of those above, before the decisions between them.
    Deferred,
    /// Slotted: one cell while the queue is below all limits.
    BelowLimits,
    /// Slotted: one cell of which the policy alone decides.
    QueuedPolicyAlone,
    /// Slotted: decisions that alternate between a class with a guarantee and one above it.
    Alternating,
    /// Slotted: decisions on VCs of one weight that take turns of one cell, all to their hosts.
    VcTurns,
    /// Slotted: decisions that nothing still to arrive can change, taken ahead of time.
    Ahead,
    /// Both: inputs in 64 buckets by the time of their next cell, once more than 64 are in order.
    FarInputs,
}

impl FastPath {
    /// The answer to this question; `None` while the fast path is switched off.
    #[inline(always)]
    pub fn tried<T>(self, ask: impl FnOnce() -> Option<T>) -> Option<T> {
        let found = if self.is_on() { ask() } else { None };
        if found.is_some() {
            self.enter();
        }
        found
    }

    /// Whether this fast path applies, for a yes-or-no question; false while it is switched off.
    pub fn applies(self, ask: impl FnOnce() -> bool) -> bool {
        self.tried(|| ask().then_some(())).is_some()
    }
}

#[cfg(not(feature = "fast-paths"))]
impl FastPath {
    /// Whether the fast path is on; always, outside benches.
    pub(super) fn is_on(self) -> bool {
        true
    }

    /// Counts a use, in benches only.
    pub(super) fn enter(self) {}
}

#[cfg(feature = "fast-paths")]
mod counted {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    static ENTERED: [AtomicU64; FastPath::VARIANTS.len()] =
        [const { AtomicU64::new(0) }; FastPath::VARIANTS.len()];
    /// Index plus one of the fast path that is switched off; 0 for none.
    static OFF: AtomicU64 = AtomicU64::new(0);

    /// All fast paths; those of one kernel are in the order in which it tries them.
    pub fn all_fast_paths() -> &'static [FastPath] {
        FastPath::VARIANTS
    }

    impl FastPath {
        pub(in crate::port) fn is_on(self) -> bool {
            OFF.load(Relaxed) != self as u64 + 1
        }

        pub(in crate::port) fn enter(self) {
            ENTERED[self as usize].fetch_add(1, Relaxed);
        }

        /// Name of the fast path, as in the table.
        pub fn name(self) -> &'static str {
            self.into()
        }

        /// When this fast path applies.
        pub fn condition(self) -> &'static str {
            self.get_documentation().unwrap_or_default()
        }

        /// How often this fast path has been used so far.
        pub fn entered(self) -> u64 {
            ENTERED[self as usize].load(Relaxed)
        }

        /// Switches this fast path off for the rest of the process.
        pub fn switch_off(self) {
            OFF.store(self as u64 + 1, Relaxed);
        }
    }
}

#[cfg(feature = "fast-paths")]
pub use counted::all_fast_paths;
