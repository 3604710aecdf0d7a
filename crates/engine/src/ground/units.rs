//! Types for instants, lengths of time, rates and exact decimals. Times are in ticks of the
//! [`Clock`](crate::ground::format::Clock) of the scenario's format.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant of simulated time, in ticks since the start of the run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A length of simulated time, in ticks.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(pub u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any event.
    pub const NEVER: Time = Time(u64::MAX);
    /// Time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Zero length.
    pub const ZERO: Span = Span(0);
    /// Longer than any run, but safe to add to a time.
    pub const FOREVER: Span = Span(u64::MAX / 4);
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, rhs: Span) -> Time {
        Time(self.0 + rhs.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, rhs: Span) {
        self.0 += rhs.0;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, rhs: Span) -> Time {
        Time(self.0 - rhs.0)
    }
}

impl Sub for Time {
    type Output = Span;
    /// Time from the earlier `rhs` to `self`.
    fn sub(self, rhs: Time) -> Span {
        Span(self.0 - rhs.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, rhs: Span) -> Span {
        Span(self.0 + rhs.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, rhs: Span) {
        self.0 += rhs.0;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, rhs: Span) -> Span {
        Span(self.0 - rhs.0)
    }
}

impl Span {
    /// Number of spans of this length that fit one after another between `time` and
    /// [`Time::LATEST`].
    pub fn fit_after(self, time: Time) -> u64 {
        Time::LATEST.since(time).0 / self.0
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, rhs: u64) -> Span {
        Span(self.0 * rhs)
    }
}

/// A signed number of ticks: an instant, possibly before the run, or a difference of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignedTicks(pub i64);

impl SignedTicks {
    /// Zero ticks.
    pub const ZERO: SignedTicks = SignedTicks(0);
    /// The minimum. Do not calculate with it.
    pub const LEAST: SignedTicks = SignedTicks(i64::MIN);
    /// The maximum. Do not calculate with it.
    pub const MOST: SignedTicks = SignedTicks(i64::MAX);
    /// Long before any run, but safe for additions and subtractions.
    pub const LONG_AGO: SignedTicks = SignedTicks(i64::MIN / 2);

    /// This instant, which must not be before the start of the run.
    pub fn time(self) -> Time {
        Time(self.0 as u64)
    }

    /// This length, which must not be negative.
    pub fn span(self) -> Span {
        Span(self.0 as u64)
    }

    /// `self - rhs`, saturating at [`SignedTicks::LEAST`] and [`SignedTicks::MOST`].
    pub fn saturating_sub(self, rhs: SignedTicks) -> SignedTicks {
        SignedTicks(self.0.saturating_sub(rhs.0))
    }
}

impl Time {
    /// This instant as signed ticks.
    pub fn signed(self) -> SignedTicks {
        SignedTicks(self.0 as i64)
    }
}

impl Span {
    /// This length as signed ticks.
    pub fn signed(self) -> SignedTicks {
        SignedTicks(self.0 as i64)
    }
}

impl Add<Span> for SignedTicks {
    type Output = SignedTicks;
    fn add(self, rhs: Span) -> SignedTicks {
        SignedTicks(self.0 + rhs.0 as i64)
    }
}

impl Sub<Span> for SignedTicks {
    type Output = SignedTicks;
    fn sub(self, rhs: Span) -> SignedTicks {
        SignedTicks(self.0 - rhs.0 as i64)
    }
}

impl Sub for SignedTicks {
    type Output = SignedTicks;
    fn sub(self, rhs: SignedTicks) -> SignedTicks {
        SignedTicks(self.0 - rhs.0)
    }
}

/// A rate in bits per second. Rates are cell rates: each cell counts with all its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BitRate(pub u64);

impl BitRate {
    /// Megabits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// An exact non-negative decimal as a fraction: 0.8 is 8/10. Thresholds are compared by
/// cross-multiplication, so rounding never decides which frame is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ratio {
    /// Numerator.
    pub num: u64,
    /// Denominator, never 0.
    pub den: u64,
}

impl Ratio {
    /// `num / den`.
    pub const fn new(num: u64, den: u64) -> Ratio {
        Ratio { num, den }
    }

    /// The nearest float.
    pub fn as_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// floor(self x n).
    pub fn floor_of(self, n: u64) -> u64 {
        (u128::from(self.num) * u128::from(n) / u128::from(self.den)) as u64
    }
}
