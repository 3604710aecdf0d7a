//! Fast paths, called *ways*, by which ports take many cells at once.
//!
//! Each way has one question, `can_take_...`, and one action. A kernel asks the questions in a
//! fixed order, found in [`super::arithmetic::Arithmetic::advance`], its `advance_judged`, and
//! [`super::slotted::Slotted::advance`]. Ways that take one cell (`judged-interleaved`,
//! `policy-alone`, `below-limits`, `queued-policy-alone`) come after these, and serve coincident
//! cells too. The scheduler's decisions have two ways, `alternating` and `ahead`. `far-inputs`
//! concerns the order of inputs (`order.rs`). Where no way applies, cells pass the gate one by one.
//!
//! The feature `ways`, used only by benches, lets a way be switched off and counts its uses: `make
//! ways`.

#[cfg(feature = "ways")]
use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// A fast path. Each variant's comment is its condition in the table of docs/architecture.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "ways", derive(EnumMessage, IntoStaticStr, VariantArray))]
#[cfg_attr(feature = "ways", strum(serialize_all = "kebab-case"))]
pub enum PortWay {
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
    /// Slotted: arrivals of VCs with queues of their own that cannot run empty meanwhile.
    Bulk,
    /// Slotted: two or more inputs that bring one cell per cell time each.
    RoundArrivals,
    /// Slotted: cells of one input, one per cell time, and the decisions between them.
    LockStep,
    /// Slotted: cells of one input, one per cell time, while decisions were taken ahead of time.
    JoinDecided,
    /// Slotted: one cell while the queue is below all limits.
    BelowLimits,
    /// Slotted: one cell of which the policy alone decides.
    QueuedPolicyAlone,
    /// Slotted: decisions that alternate between a class with a guarantee and one above it.
    Alternating,
    /// Slotted: decisions that nothing still to arrive can change, taken ahead of time.
    Ahead,
    /// Both: inputs in 64 buckets by the time of their next cell, once more than 64 are in order.
    FarInputs,
}

impl PortWay {
    /// The answer to this way's question; `None` while the way is switched off.
    pub fn tried<T>(self, ask: impl FnOnce() -> Option<T>) -> Option<T> {
        let found = if self.is_on() { ask() } else { None };
        if found.is_some() {
            self.enter();
        }
        found
    }

    /// Whether this way applies, for a yes-or-no question; false while the way is switched off.
    pub fn applies(self, ask: impl FnOnce() -> bool) -> bool {
        self.tried(|| ask().then_some(())).is_some()
    }
}

#[cfg(not(feature = "ways"))]
impl PortWay {
    /// Whether the way is on; always, outside benches.
    pub(super) fn is_on(self) -> bool {
        true
    }

    /// Counts a use, in benches only.
    pub(super) fn enter(self) {}
}

#[cfg(feature = "ways")]
mod counted {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    static ENTERED: [AtomicU64; PortWay::VARIANTS.len()] =
        [const { AtomicU64::new(0) }; PortWay::VARIANTS.len()];
    /// Index plus one of the way that is switched off; 0 for none.
    static OFF: AtomicU64 = AtomicU64::new(0);

    /// All ways; those of one kernel are in the order in which it tries them.
    pub fn all_ways() -> &'static [PortWay] {
        PortWay::VARIANTS
    }

    impl PortWay {
        pub(in crate::port) fn is_on(self) -> bool {
            OFF.load(Relaxed) != self as u64 + 1
        }

        pub(in crate::port) fn enter(self) {
            ENTERED[self as usize].fetch_add(1, Relaxed);
        }

        /// Name of the way, as in the table.
        pub fn name(self) -> &'static str {
            self.into()
        }

        /// When this way applies.
        pub fn condition(self) -> &'static str {
            self.get_documentation().unwrap_or_default()
        }

        /// How often this way has been used so far.
        pub fn entered(self) -> u64 {
            ENTERED[self as usize].load(Relaxed)
        }

        /// Switches this way off for the rest of the process.
        pub fn switch_off(self) {
            OFF.store(self as u64 + 1, Relaxed);
        }
    }
}

#[cfg(feature = "ways")]
pub use counted::all_ways;
