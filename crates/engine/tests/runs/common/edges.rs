//! Edges of the ranges that the registry allows, and strategies that draw them often.

use cellyard_engine::format::Clock;
use cellyard_engine::units::{Ratio, Span};
use proptest::prelude::*;
use std::fmt::Debug;

/// Most cells of a limited buffer, and largest threshold.
pub const MOST_CELLS: u64 = 1_000_000_000;
/// Largest TBE and CRM.
pub const MOST_TBE: u64 = 16_777_215;
/// Longest time that a parameter can be, 100 000 s.
pub const LONGEST: Span = Span::from_milliseconds(100_000_000);
/// Shortest time above 0, 1 ns.
pub const SHORTEST: Span = Span(Clock::AAL5.ticks_per_nanosecond());
/// Smallest decimal above 0.
pub const LEAST: Ratio = Ratio::new(1, 1_000_000);
pub const ZERO: Ratio = Ratio::new(0, 1);
pub const ONE: Ratio = Ratio::new(1, 1);

/// Mostly a value of `usual`, otherwise one of `edges`. Boxed, because trees of random networks are
/// large.
pub fn or_edge<T: Clone + Debug + 'static>(
    usual: impl Strategy<Value = T> + 'static,
    edges: impl Into<Vec<T>>,
) -> BoxedStrategy<T> {
    prop_oneof![6 => usual, 1 => proptest::sample::select(edges.into())].boxed()
}

/// Tenths from `least` to `most`, or one of `edges`.
pub fn tenths(least: u64, most: u64, edges: impl Into<Vec<Ratio>>) -> BoxedStrategy<Ratio> {
    or_edge((least..=most).prop_map(|n| Ratio::new(n, 10)), edges)
}
