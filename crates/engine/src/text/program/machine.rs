//! The machine that runs a compiled program: operations on registers of 128 bits.
//!
//! An integer takes one register, a decimal two (numerator and denominator, the latter above 0 and
//! never reduced), a float the lower half of one (its bits), a truth value one (0 or 1).
//! Integers go from -2^127 to 2^127 - 2; [`UNLIMITED`] above them stands for K without limit, and
//! as a float infinity does. The types were checked when the program was read, so no operation
//! looks at them.

use super::{Comparison, Why};
use crate::ground::power::power;
use crate::ground::rng::Stream;
use std::cmp::Ordering;

/// Above every integer.
pub const UNLIMITED: i128 = i128::MAX;

/// Index of a register.
pub type Register = u16;

/// A number of two registers: numerator and denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Register of the numerator.
    pub num: Register,
    /// Register of the denominator.
    pub den: Register,
}

/// One operation. `to` is the register of the result; a pair takes `to` and the next one.
///
/// The representation gives the kind a byte. The compiler would otherwise store it in the spare
/// values of a truth value, and decoding that takes five more instructions per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u8)]
pub enum Op {
    AddIntegers {
        to: Register,
        a: Register,
        b: Register,
    },
    SubtractIntegers {
        to: Register,
        a: Register,
        b: Register,
    },
    MultiplyIntegers {
        to: Register,
        a: Register,
        b: Register,
    },
    AddDecimals {
        to: Register,
        a: Pair,
        b: Pair,
    },
    SubtractDecimals {
        to: Register,
        a: Pair,
        b: Pair,
    },
    MultiplyDecimals {
        to: Register,
        a: Pair,
        b: Pair,
    },
    DivideDecimals {
        to: Register,
        a: Pair,
        b: Pair,
    },
    AddFloats {
        to: Register,
        a: Register,
        b: Register,
    },
    SubtractFloats {
        to: Register,
        a: Register,
        b: Register,
    },
    MultiplyFloats {
        to: Register,
        a: Register,
        b: Register,
    },
    DivideFloats {
        to: Register,
        a: Register,
        b: Register,
    },
    NegateInteger {
        to: Register,
        a: Register,
    },
    NegateFloat {
        to: Register,
        a: Register,
    },
    MinInteger {
        to: Register,
        a: Register,
        b: Register,
    },
    MaxInteger {
        to: Register,
        a: Register,
        b: Register,
    },
    MinDecimal {
        to: Register,
        a: Pair,
        b: Pair,
    },
    MaxDecimal {
        to: Register,
        a: Pair,
        b: Pair,
    },
    MinFloat {
        to: Register,
        a: Register,
        b: Register,
    },
    MaxFloat {
        to: Register,
        a: Register,
        b: Register,
    },
    AbsInteger {
        to: Register,
        a: Register,
    },
    AbsFloat {
        to: Register,
        a: Register,
    },
    FloorDecimal {
        to: Register,
        a: Pair,
    },
    FloorFloat {
        to: Register,
        a: Register,
    },
    FloatOfInteger {
        to: Register,
        a: Register,
    },
    FloatOfDecimal {
        to: Register,
        a: Pair,
    },
    Power {
        to: Register,
        a: Register,
        n: Register,
    },
    Draw {
        to: Register,
    },
    Copy {
        to: Register,
        a: Register,
    },
    /// Reads state `state` of the VC.
    Load {
        to: Register,
        state: u16,
    },
    /// Changes state `state` of the VC.
    Store {
        state: u16,
        a: Register,
    },
    Jump {
        to: u16,
    },
    /// Jumps if the truth value is `if_is`.
    JumpIf {
        a: Register,
        if_is: bool,
        to: u16,
    },
    /// Jumps if the comparison is `if_is`.
    JumpIntegers {
        a: Register,
        how: Comparison,
        b: Register,
        if_is: bool,
        to: u16,
    },
    JumpDecimals {
        a: Pair,
        how: Comparison,
        b: Pair,
        if_is: bool,
        to: u16,
    },
    JumpFloats {
        a: Register,
        how: Comparison,
        b: Register,
        if_is: bool,
        to: u16,
    },
    /// Ends the run with this answer.
    Answer {
        answer: u16,
    },
}

/// What a program can change and draw while it runs.
#[derive(Debug)]
pub struct Outside<'a> {
    /// States of the VC.
    pub of_vc: &'a mut [i128],
    /// Random stream.
    pub draws: Stream,
    /// Number of draws so far.
    pub drawn: &'a mut u64,
}

/// Runs `code` from the operation `at` on. Returns its answer or what failed, and the index of the
/// last operation.
///
/// This is the only caller of [`step`], so the compiler inlines it into the loop.
pub fn run(
    code: &[Op],
    mut at: usize,
    r: &mut [i128],
    outside: &mut Outside<'_>,
) -> (usize, Result<u16, Why>) {
    loop {
        match step(code[at], r, outside) {
            Ok(Next::Following) => at += 1,
            Ok(Next::At(to)) => at = usize::from(to),
            Ok(Next::Answer(answer)) => return (at, Ok(answer)),
            Err(why) => return (at, Err(why)),
        }
    }
}

impl Op {
    /// The register of the result, of operations that make one number.
    pub fn result(&mut self) -> Option<&mut Register> {
        match self {
            Op::AddIntegers { to, .. }
            | Op::SubtractIntegers { to, .. }
            | Op::MultiplyIntegers { to, .. }
            | Op::AddFloats { to, .. }
            | Op::SubtractFloats { to, .. }
            | Op::MultiplyFloats { to, .. }
            | Op::DivideFloats { to, .. }
            | Op::NegateInteger { to, .. }
            | Op::NegateFloat { to, .. }
            | Op::MinInteger { to, .. }
            | Op::MaxInteger { to, .. }
            | Op::MinFloat { to, .. }
            | Op::MaxFloat { to, .. }
            | Op::AbsInteger { to, .. }
            | Op::AbsFloat { to, .. }
            | Op::FloorDecimal { to, .. }
            | Op::FloorFloat { to, .. }
            | Op::FloatOfInteger { to, .. }
            | Op::FloatOfDecimal { to, .. }
            | Op::Power { to, .. }
            | Op::Draw { to }
            | Op::Load { to, .. } => Some(to),
            _ => None,
        }
    }

    /// Lets a jump lead to the operation `target`.
    pub fn lead_to(&mut self, target: u16) {
        match self {
            Op::Jump { to }
            | Op::JumpIf { to, .. }
            | Op::JumpIntegers { to, .. }
            | Op::JumpDecimals { to, .. }
            | Op::JumpFloats { to, .. } => *to = target,
            _ => unreachable!("only jumps lead elsewhere"),
        }
    }
}

/// What comes after an operation.
enum Next {
    /// The operation behind it.
    Following,
    /// The operation with this index.
    At(u16),
    /// Nothing: this is the answer.
    Answer(u16),
}

/// Runs one operation.
fn step(op: Op, r: &mut [i128], outside: &mut Outside<'_>) -> Result<Next, Why> {
    let next = |jumps: bool, to: u16| {
        if jumps { Next::At(to) } else { Next::Following }
    };
    match op {
        Op::AddIntegers { to, a, b } => set(r, to, add(get(r, a), get(r, b))?),
        Op::SubtractIntegers { to, a, b } => set(r, to, subtract(get(r, a), get(r, b))?),
        Op::MultiplyIntegers { to, a, b } => set(r, to, multiply(get(r, a), get(r, b))?),
        Op::AddDecimals { to, a, b } => {
            let sum = sum_of(pair(r, a), pair(r, b), add)?;
            set_pair(r, to, sum);
        }
        Op::SubtractDecimals { to, a, b } => {
            let difference = sum_of(pair(r, a), pair(r, b), subtract)?;
            set_pair(r, to, difference);
        }
        Op::MultiplyDecimals { to, a, b } => {
            let product = product_of(pair(r, a), pair(r, b))?;
            set_pair(r, to, product);
        }
        Op::DivideDecimals { to, a, b } => {
            let quotient = divide(pair(r, a), pair(r, b))?;
            set_pair(r, to, quotient);
        }
        Op::AddFloats { to, a, b } => {
            let (a, b) = (float(r, a), float(r, b));
            set_float(r, to, a + b, || [a, b])?;
        }
        Op::SubtractFloats { to, a, b } => {
            let (a, b) = (float(r, a), float(r, b));
            if b == f64::INFINITY {
                return Err(Why::Unlimited);
            }
            set_float(r, to, a - b, || [a; 2])?;
        }
        Op::MultiplyFloats { to, a, b } => {
            let (a, b) = (float(r, a), float(r, b));
            if (a == f64::INFINITY && b <= 0.0) || (b == f64::INFINITY && a <= 0.0) {
                return Err(Why::Unlimited);
            }
            set_float(r, to, a * b, || [a, b])?;
        }
        Op::DivideFloats { to, a, b } => {
            let (a, b) = (float(r, a), float(r, b));
            if b == 0.0 {
                return Err(Why::DivisionByZero);
            }
            if a == f64::INFINITY && (b < 0.0 || b == f64::INFINITY) {
                return Err(Why::Unlimited);
            }
            set_float(r, to, a / b, || [a; 2])?;
        }
        Op::NegateInteger { to, a } => set(r, to, subtract(0, get(r, a))?),
        Op::NegateFloat { to, a } => {
            let a = float(r, a);
            if a == f64::INFINITY {
                return Err(Why::Unlimited);
            }
            set(r, to, bits(-a));
        }
        Op::MinInteger { to, a, b } => set(r, to, get(r, a).min(get(r, b))),
        Op::MaxInteger { to, a, b } => set(r, to, get(r, a).max(get(r, b))),
        Op::MinDecimal { to, a, b } => {
            let (a, b) = (pair(r, a), pair(r, b));
            set_pair(r, to, if compare(a, b)?.is_le() { a } else { b });
        }
        Op::MaxDecimal { to, a, b } => {
            let (a, b) = (pair(r, a), pair(r, b));
            set_pair(r, to, if compare(a, b)?.is_ge() { a } else { b });
        }
        Op::MinFloat { to, a, b } => {
            let (a, b) = (float(r, a), float(r, b));
            set(r, to, bits(if a <= b { a } else { b }));
        }
        Op::MaxFloat { to, a, b } => {
            let (a, b) = (float(r, a), float(r, b));
            set(r, to, bits(if a >= b { a } else { b }));
        }
        Op::AbsInteger { to, a } => {
            let a = get(r, a);
            set(r, to, if a < 0 { subtract(0, a)? } else { a });
        }
        Op::AbsFloat { to, a } => set(r, to, bits(float(r, a).abs())),
        Op::FloorDecimal { to, a } => {
            let (num, den) = pair(r, a);
            set(
                r,
                to,
                if num == UNLIMITED {
                    num
                } else {
                    num.div_euclid(den)
                },
            );
        }
        Op::FloorFloat { to, a } => set(r, to, floor(float(r, a))?),
        Op::FloatOfInteger { to, a } => set(r, to, bits(to_float(get(r, a)))),
        Op::FloatOfDecimal { to, a } => {
            let (num, den) = pair(r, a);
            let quotient = if num == UNLIMITED {
                f64::INFINITY
            } else {
                to_float(num) / to_float(den)
            };
            set(r, to, bits(quotient));
        }
        Op::Power { to, a, n } => {
            let result = power_of(float(r, a), get(r, n))?;
            set(r, to, bits(result));
        }
        Op::Draw { to } => {
            let draw = outside.draws.unit(*outside.drawn);
            *outside.drawn += 1;
            set(r, to, bits(draw));
        }
        Op::Copy { to, a } => set(r, to, get(r, a)),
        Op::Load { to, state } => set(r, to, outside.of_vc[usize::from(state)]),
        Op::Store { state, a } => outside.of_vc[usize::from(state)] = get(r, a),
        Op::Jump { to } => return Ok(Next::At(to)),
        Op::JumpIf { a, if_is, to } => return Ok(next((get(r, a) != 0) == if_is, to)),
        Op::JumpIntegers {
            a,
            how,
            b,
            if_is,
            to,
        } => {
            let holds = how.holds(get(r, a).cmp(&get(r, b)));
            return Ok(next(holds == if_is, to));
        }
        Op::JumpDecimals {
            a,
            how,
            b,
            if_is,
            to,
        } => {
            let holds = how.holds(compare(pair(r, a), pair(r, b))?);
            return Ok(next(holds == if_is, to));
        }
        Op::JumpFloats {
            a,
            how,
            b,
            if_is,
            to,
        } => {
            let (a, b) = (float(r, a), float(r, b));
            let order = if a < b {
                Ordering::Less
            } else if a > b {
                Ordering::Greater
            } else {
                Ordering::Equal
            };
            return Ok(next(how.holds(order) == if_is, to));
        }
        Op::Answer { answer } => return Ok(Next::Answer(answer)),
    }
    Ok(Next::Following)
}

#[inline]
fn get(r: &[i128], a: Register) -> i128 {
    r[usize::from(a)]
}

#[inline]
fn set(r: &mut [i128], to: Register, value: i128) {
    r[usize::from(to)] = value;
}

#[inline]
fn pair(r: &[i128], a: Pair) -> (i128, i128) {
    (get(r, a.num), get(r, a.den))
}

#[inline]
fn set_pair(r: &mut [i128], to: Register, (num, den): (i128, i128)) {
    set(r, to, num);
    set(r, to + 1, den);
}

#[inline]
fn float(r: &[i128], a: Register) -> f64 {
    float_of(get(r, a))
}

/// The float that a register holds.
#[inline]
pub fn float_of(register: i128) -> f64 {
    f64::from_bits(register as u64)
}

/// The register that holds `float`.
#[inline]
pub fn bits(float: f64) -> i128 {
    i128::from(float.to_bits())
}

/// Sets a float that must be finite unless one of `from` is unlimited.
#[inline]
fn set_float(
    r: &mut [i128],
    to: Register,
    value: f64,
    from: impl Fn() -> [f64; 2],
) -> Result<(), Why> {
    if !value.is_finite() && !from().contains(&f64::INFINITY) {
        return Err(Why::NotFinite);
    }
    set(r, to, bits(value));
    Ok(())
}

/// `a` in 64 bits, if it fits.
#[inline]
fn short(a: i128) -> Option<i64> {
    (i128::from(a as i64) == a).then_some(a as i64)
}

#[inline]
fn add(a: i128, b: i128) -> Result<i128, Why> {
    match (short(a), short(b)) {
        (Some(a), Some(b)) => Ok(i128::from(a) + i128::from(b)),
        _ => add_long(a, b),
    }
}

#[cold]
fn add_long(a: i128, b: i128) -> Result<i128, Why> {
    if a == UNLIMITED || b == UNLIMITED {
        return Ok(UNLIMITED);
    }
    limited(a.checked_add(b))
}

#[inline]
fn subtract(a: i128, b: i128) -> Result<i128, Why> {
    match (short(a), short(b)) {
        (Some(a), Some(b)) => Ok(i128::from(a) - i128::from(b)),
        _ => subtract_long(a, b),
    }
}

#[cold]
fn subtract_long(a: i128, b: i128) -> Result<i128, Why> {
    match (a, b) {
        (_, UNLIMITED) => Err(Why::Unlimited),
        (UNLIMITED, _) => Ok(UNLIMITED),
        _ => limited(a.checked_sub(b)),
    }
}

#[inline]
fn multiply(a: i128, b: i128) -> Result<i128, Why> {
    match (short(a), short(b)) {
        (Some(a), Some(b)) => Ok(i128::from(a) * i128::from(b)),
        _ => multiply_long(a, b),
    }
}

fn multiply_long(a: i128, b: i128) -> Result<i128, Why> {
    if a == UNLIMITED || b == UNLIMITED {
        return if a > 0 && b > 0 {
            Ok(UNLIMITED)
        } else {
            Err(Why::Unlimited)
        };
    }
    limited(a.checked_mul(b))
}

/// A result below [`UNLIMITED`].
fn limited(result: Option<i128>) -> Result<i128, Why> {
    result
        .filter(|&result| result != UNLIMITED)
        .ok_or(Why::Overflow)
}

/// Sum or difference of two fractions, by `combine`.
#[inline]
fn sum_of(
    (an, ad): (i128, i128),
    (bn, bd): (i128, i128),
    combine: fn(i128, i128) -> Result<i128, Why>,
) -> Result<(i128, i128), Why> {
    if an == UNLIMITED || bn == UNLIMITED {
        return Ok((combine(an, bn)?, 1));
    }
    let num = combine(multiply(an, bd)?, multiply(bn, ad)?)?;
    Ok((num, multiply(ad, bd)?))
}

/// Product of two fractions.
#[inline]
fn product_of((an, ad): (i128, i128), (bn, bd): (i128, i128)) -> Result<(i128, i128), Why> {
    let num = multiply(an, bn)?;
    Ok((
        num,
        if num == UNLIMITED {
            1
        } else {
            multiply(ad, bd)?
        },
    ))
}

/// Quotient of two fractions.
#[inline]
fn divide((an, ad): (i128, i128), (bn, bd): (i128, i128)) -> Result<(i128, i128), Why> {
    if bn == 0 {
        return Err(Why::DivisionByZero);
    }
    if bn == UNLIMITED {
        return if an == UNLIMITED {
            Err(Why::Unlimited)
        } else {
            Ok((0, 1))
        };
    }
    if an == UNLIMITED {
        return if bn > 0 {
            Ok((UNLIMITED, 1))
        } else {
            Err(Why::Unlimited)
        };
    }
    let (num, den) = (multiply(an, bd)?, multiply(ad, bn)?);
    if den > 0 {
        Ok((num, den))
    } else {
        Ok((subtract(0, num)?, subtract(0, den)?))
    }
}

/// Order of two fractions.
#[inline]
pub fn compare((an, ad): (i128, i128), (bn, bd): (i128, i128)) -> Result<Ordering, Why> {
    if an == UNLIMITED || bn == UNLIMITED {
        return Ok(an.cmp(&bn));
    }
    Ok(multiply(an, bd)?.cmp(&multiply(bn, ad)?))
}

/// The float nearest to an integer; infinity for [`UNLIMITED`].
#[inline]
pub fn to_float(a: i128) -> f64 {
    match short(a) {
        Some(a) => a as f64,
        None => to_float_long(a),
    }
}

#[cold]
fn to_float_long(a: i128) -> f64 {
    if a == UNLIMITED {
        f64::INFINITY
    } else {
        a as f64
    }
}

/// The largest integer that is at most `a`.
fn floor(a: f64) -> Result<i128, Why> {
    /// 2^127.
    const TOO_LARGE: f64 = (1u128 << 127) as f64;
    if a == f64::INFINITY {
        return Ok(UNLIMITED);
    }
    let floor = libm::floor(a);
    if (-TOO_LARGE..TOO_LARGE).contains(&floor) {
        Ok(floor as i128)
    } else {
        Err(Why::Overflow)
    }
}

/// `base` multiplied `n` times.
fn power_of(base: f64, n: i128) -> Result<f64, Why> {
    let n = u128::try_from(n).map_err(|_| Why::NegativePower)?;
    if base == f64::INFINITY || n == UNLIMITED as u128 {
        return Err(Why::Unlimited);
    }
    let result = power(base, n);
    if result.is_finite() {
        Ok(result)
    } else {
        Err(Why::NotFinite)
    }
}
