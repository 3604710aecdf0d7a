//! Fast paths by which ports take many cells at once.
//!
//! Each fast path has one question, `can_take_...`, and one action. A kernel asks the questions in a
//! fixed order, found in [`super::arithmetic::Arithmetic::advance`], its `advance_judged`, and
//! [`super::slotted::Slotted::advance`]. `run` and `below-limits` come after these, and serve
//! coincident cells too. The scheduler's decisions have two, `pattern` and `ahead`.
//! `far-inputs` concerns the order of inputs (`order.rs`). Where none applies, cells pass the gate
//! one by one.
//!
//! Tests run networks with all of them off as well. The feature `fast-paths`, used only by benches,
//! lets some be switched off and counts their uses: `make ways`.

#[cfg(feature = "fast-paths")]
use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// A fast path. Each variant's comment is its condition in the table of benches/notes.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "fast-paths",
    derive(EnumMessage, IntoStaticStr, VariantArray)
)]
#[cfg_attr(feature = "fast-paths", strum(serialize_all = "kebab-case"))]
pub enum FastPath {
    /// Arithmetic: cells of one frame, one per cell time, that come before those of any other input.
    Frame,
    /// Both: one or more inputs that bring one cell per cell time each.
    Rhythm,
    /// Arithmetic: inputs whose cells alternate, farther apart than one per cell time, or each judged.
    Interleaved,
    /// Arithmetic: cells of one run, closer together or farther apart than one per cell time, to their host.
    Series,
    /// Arithmetic: cells of one run that meet the same queue.
    Run,
    /// Arithmetic, every cell judged: cells of one flow, each a separate run.
    Singles,
    /// Slotted: arrivals of VCs with their own queues while the port surely stays busy.
    Bulk,
    /// Slotted: one cell while the queue is below all limits.
    BelowLimits,
    /// Slotted: slots that go to one class in a row, or in rounds to two classes or to VCs of one weight.
    Pattern,
    /// Slotted: decisions that nothing still to arrive can change, taken ahead of time.
    Ahead,
    /// Both: inputs in buckets by the time of their next cell, once more than 64 are in order.
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
    /// Counts a use, in benches only.
    pub(super) fn enter(self) {}
}

#[cfg(not(any(feature = "fast-paths", debug_assertions)))]
impl FastPath {
    /// Whether the fast path is on; always, outside tests and benches.
    pub(super) fn is_on(self) -> bool {
        true
    }
}

#[cfg(any(feature = "fast-paths", debug_assertions))]
mod switched {
    use super::FastPath;
    use std::cell::Cell;

    thread_local! {
        /// Bit i is set while fast path number i is off on this thread.
        static OFF: Cell<u32> = const { Cell::new(0) };
    }

    impl FastPath {
        pub(in crate::port) fn is_on(self) -> bool {
            OFF.get() & (1 << self as u32) == 0
        }

        /// Switches this fast path off for the rest of the thread.
        #[cfg(feature = "fast-paths")]
        pub fn switch_off(self) {
            OFF.set(OFF.get() | 1 << self as u32);
        }
    }

    /// Does `work` on this thread with all fast paths off.
    pub fn without_fast_paths<T>(work: impl FnOnce() -> T) -> T {
        /// Restores what was off, also when a test fails.
        struct Before(u32);
        impl Drop for Before {
            fn drop(&mut self) {
                OFF.set(self.0);
            }
        }
        let _before = Before(OFF.replace(u32::MAX));
        work()
    }
}

#[cfg(any(feature = "fast-paths", debug_assertions))]
pub use switched::without_fast_paths;

#[cfg(feature = "fast-paths")]
mod counted {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    static ENTERED: [AtomicU64; FastPath::VARIANTS.len()] =
        [const { AtomicU64::new(0) }; FastPath::VARIANTS.len()];

    /// All fast paths.
    pub fn all_fast_paths() -> &'static [FastPath] {
        FastPath::VARIANTS
    }

    impl FastPath {
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
    }
}

#[cfg(feature = "fast-paths")]
pub use counted::all_fast_paths;
