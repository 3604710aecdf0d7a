//! What values a parameter takes.

use super::family::Family;

/// What values a parameter takes. Bounds are inclusive unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text of at most 200 characters, none of them a control character.
    Text,
    /// A name for a thing: at most 64 letters, digits and `_ - / > : +`, not digits only.
    Name,
    /// true or false.
    Bool,
    /// Bits per second, a cell rate.
    Rate {
        /// Smallest, bit/s.
        min: u64,
        /// Largest, bit/s.
        max: u64,
        /// Whether [`FAIR_SHARES`] is a value.
        fair_shares: bool,
        /// Whether 0, below `min`, is a value.
        zero: bool,
    },
    /// A length of time.
    Duration {
        /// Shortest, nanoseconds.
        min_ns: u64,
        /// Longest, nanoseconds.
        max_ns: u64,
        /// Whether [`NONE`] is a value, for what is then left out.
        none: bool,
    },
    /// Cells.
    Cells {
        /// Fewest.
        min: u64,
        /// Most.
        max: u64,
        /// Whether "unlimited" is a value.
        unlimited: bool,
    },
    /// Places in a queue (model section 6): cells, or bytes.
    Places {
        /// Fewest cells; bytes from the same number.
        min: u64,
        /// Whether "unlimited" is a value, and a length of time, which is as many bytes as the port
        /// sends in it.
        buffer: bool,
    },
    /// Bytes.
    Bytes {
        /// Fewest.
        min: u64,
        /// Most.
        max: u64,
    },
    /// A whole number without unit.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A whole number without unit, or "unlimited".
    Number {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// An exact decimal without unit, or a fraction as text ("1/3").
    Decimal {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Whether `max` itself is excluded.
        below_max: bool,
        /// Most decimals.
        decimals: u32,
    },
    /// A queue length: cells, bytes, or a fraction of the buffer.
    Threshold,
    /// The text of a program (`docs/programs.md`).
    Program,
    /// A parameter of a program: a number, cells, bytes, a fraction of the buffer ("0.9 K"), a time
    /// or a rate.
    Own,
    /// One of a few names.
    Choice(&'static [Choice]),
    /// The name of a thing of one of these families.
    Reference(&'static [Family]),
    /// A component of this family.
    One(Family),
    /// Any number of these.
    List(&'static Kind),
}

/// A value of [`Kind::Choice`].
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line: what it means.
    pub help: &'static str,
    /// Formula; empty when there is none.
    pub formula: &'static str,
    /// Paper, RFC or standard; may be empty.
    pub source: &'static str,
    /// What it cannot do, in a sentence; may be empty.
    pub limits: &'static str,
    /// Parameters of the component that have a meaning with this choice, though not with all.
    pub options: &'static [&'static str],
    /// Defaults of other parameters of the component with this choice, instead of the usual ones.
    pub sets: &'static [(&'static str, Default)],
}

/// A choice that says all by its name and one line.
pub(super) const fn choice(name: &'static str, help: &'static str) -> Choice {
    Choice {
        name,
        help,
        formula: "",
        source: "",
        limits: "",
        options: &[],
        sets: &[],
    }
}

/// Highest rate, 1 Tb/s.
pub(crate) const MAX_RATE: u64 = 1_000_000_000_000;
/// Longest run, nanoseconds: 100 000 s.
pub(crate) const MAX_DURATION_NS: u64 = 100_000 * MILLISECOND_NS * 1_000;
/// Nanoseconds of a microsecond and of a millisecond.
pub(super) const MICROSECOND_NS: u64 = 1_000;
pub(super) const MILLISECOND_NS: u64 = 1_000_000;
/// Most cells or bytes of a limited buffer, and largest threshold.
pub(crate) const MAX_CELLS: u64 = 1_000_000_000;
/// Most decimals of fractions and factors: the products in the drop policies stay below 2^128.
pub(crate) const DECIMALS: u32 = 6;

/// What stands for the sum of fair shares in place of a rate.
pub(crate) const FAIR_SHARES: &str = "fair shares";

/// What stands for a time that is left out, regardless of its default.
pub(crate) const NONE: &str = "none";

pub(super) const ANY_RATE: Kind = rate(1, MAX_RATE);
pub(super) const ANY_DURATION: Kind = duration(0, MAX_DURATION_NS);
pub(super) const POSITIVE_DURATION: Kind = duration(1, MAX_DURATION_NS);

pub(super) const fn integer(min: u64, max: u64) -> Kind {
    Kind::Integer { min, max }
}

pub(super) const fn bytes(min: u64, max: u64) -> Kind {
    Kind::Bytes { min, max }
}

/// Cells, not "unlimited".
pub(super) const fn cells(min: u64, max: u64) -> Kind {
    Kind::Cells {
        min,
        max,
        unlimited: false,
    }
}

/// A decimal with both bounds among its values.
pub(super) const fn decimal(min: u64, max: u64) -> Kind {
    Kind::Decimal {
        min,
        max,
        below_max: false,
        decimals: DECIMALS,
    }
}

/// A time that cannot be left out.
pub(super) const fn duration(min_ns: u64, max_ns: u64) -> Kind {
    Kind::Duration {
        min_ns,
        max_ns,
        none: false,
    }
}

/// A rate in bit/s, not "fair shares".
pub(super) const fn rate(min: u64, max: u64) -> Kind {
    Kind::Rate {
        min,
        max,
        fair_shares: false,
        zero: false,
    }
}

/// Largest integer that every TOML reader takes.
pub(super) const MAX_INTEGER: u64 = i64::MAX as u64;

/// How many like things an entry makes.
pub(super) const COUNT: Kind = integer(1, 1_000_000_000);

/// What a parameter is when left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// No default: the value must be given.
    Required,
    /// A text, quantities included: "5 us".
    Text(&'static str),
    /// A whole number.
    Integer(u64),
    /// A decimal, as written.
    Decimal(&'static str),
    /// A truth value.
    Bool(bool),
    /// No elements.
    EmptyList,
    /// A component with all its defaults.
    AllDefaults,
    /// So many times another parameter of the component, a number.
    Multiple(u64, &'static str),
    /// What the component implies that the parameter named after the family holds, else this.
    Implied(Family, &'static str),
    /// What the engine makes of it, in words.
    Derived(&'static str),
}
