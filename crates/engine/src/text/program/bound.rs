//! From which X on a program can act: what lets kernels take many cells together.
//!
//! A program acts where it gives another verdict than *accept*, or fails. While it decides about
//! frames, a change of state and a draw are acts too, since it is then not asked below the bound.
//! Conditions of the form `X > c`, for a `c` that follows from numbers, parameters and K, exclude
//! small X. This looks at the text alone, so the bound may be lower than it could be.

use super::compile::Surroundings;
use super::machine::UNLIMITED;
use super::names::Known;
use super::{Comparison, Constant, Expression, Kind, Program, Statement, Type, Verdict};
use crate::ground::units::Ratio;

/// The smallest X at which `program` can act; [`u64::MAX`] if it never does. With `state_counts`,
/// changes of state and draws are acts.
pub fn acts_from(program: &Program, surroundings: &Surroundings, state_counts: bool) -> u64 {
    let walk = Walk {
        surroundings,
        state_counts,
    };
    walk.block(&program.body, 0).acts
}

struct Walk<'s> {
    surroundings: &'s Surroundings,
    state_counts: bool,
}

/// What a part of a program does, given that it is reached only with X from some bound on.
struct Part {
    /// The smallest X at which it acts.
    acts: u64,
    /// The smallest X at which what follows it is reached; [`u64::MAX`] if nothing is.
    on: u64,
}

/// What a condition does.
struct Test {
    /// The smallest X at which its evaluation acts.
    acts: u64,
    /// The smallest X at which it is true.
    yes: u64,
    /// The smallest X at which it is false.
    no: u64,
}

impl Walk<'_> {
    /// A block that is reached with X from `from` on.
    fn block(&self, statements: &[Statement], from: u64) -> Part {
        let (mut acts, mut on) = (u64::MAX, from);
        for statement in statements {
            if on == u64::MAX {
                break;
            }
            let part = self.statement(statement, on);
            acts = acts.min(part.acts);
            on = part.on;
        }
        Part { acts, on }
    }

    fn statement(&self, statement: &Statement, from: u64) -> Part {
        match statement {
            Statement::Verdict(Verdict::Accept, _) => Part {
                acts: u64::MAX,
                on: u64::MAX,
            },
            Statement::Verdict(..) => Part {
                acts: from,
                on: u64::MAX,
            },
            Statement::Assign { target, value } => {
                let is_state = matches!(target, super::Target::State(_));
                let acts = (is_state && self.state_counts) || self.can_act(value);
                Part {
                    acts: if acts { from } else { u64::MAX },
                    on: from,
                }
            }
            Statement::If {
                condition,
                then,
                otherwise,
            } => {
                let test = self.test(condition, from);
                let then = self.block(then, test.yes);
                let otherwise = self.block(otherwise, test.no);
                Part {
                    acts: test.acts.min(then.acts).min(otherwise.acts),
                    on: then.on.min(otherwise.on),
                }
            }
        }
    }

    /// A condition that is evaluated with X from `from` on.
    fn test(&self, e: &Expression, from: u64) -> Test {
        match &e.kind {
            Kind::Bool(truth) => Test {
                acts: u64::MAX,
                yes: if *truth { from } else { u64::MAX },
                no: if *truth { u64::MAX } else { from },
            },
            Kind::Not(inner) => {
                let Test { acts, yes, no } = self.test(inner, from);
                Test {
                    acts,
                    yes: no,
                    no: yes,
                }
            }
            Kind::And(a, b) => {
                let a = self.test(a, from);
                let b = self.test_if(b, a.yes);
                Test {
                    acts: a.acts.min(b.acts),
                    yes: b.yes,
                    no: a.no.min(b.no),
                }
            }
            Kind::Or(a, b) => {
                let a = self.test(a, from);
                let b = self.test_if(b, a.no);
                Test {
                    acts: a.acts.min(b.acts),
                    yes: a.yes.min(b.yes),
                    no: b.no,
                }
            }
            Kind::Compare(how, a, b) => {
                if let Some(at) = self.limit(*how, a, b) {
                    return Test {
                        acts: u64::MAX,
                        yes: from.max(at.yes),
                        no: from.max(at.no),
                    };
                }
                Test {
                    acts: if self.can_act(e) { from } else { u64::MAX },
                    yes: from,
                    no: from,
                }
            }
            _ => Test {
                acts: if self.can_act(e) { from } else { u64::MAX },
                yes: from,
                no: from,
            },
        }
    }

    /// As [`Walk::test`], for a condition that may never be evaluated.
    fn test_if(&self, e: &Expression, from: u64) -> Test {
        if from == u64::MAX {
            return Test {
                acts: u64::MAX,
                yes: u64::MAX,
                no: u64::MAX,
            };
        }
        self.test(e, from)
    }

    /// From which X on a comparison of X with a constant is true, and from which on it is false.
    fn limit(&self, how: Comparison, a: &Expression, b: &Expression) -> Option<Test> {
        let is_x = |e: &Expression| e.kind == Kind::Known(Known::X);
        let (how, constant) = if is_x(a) {
            (how, self.constant(b)?)
        } else if is_x(b) {
            let mirrored = match how {
                Comparison::Less => Comparison::Greater,
                Comparison::AtMost => Comparison::AtLeast,
                Comparison::Greater => Comparison::Less,
                Comparison::AtLeast => Comparison::AtMost,
                same => same,
            };
            (mirrored, self.constant(a)?)
        } else {
            return None;
        };
        // The smallest X above the constant, and the smallest that is not below.
        let (above, from) = match constant {
            None => (u64::MAX, u64::MAX),
            Some(r) => (r.num / r.den + 1, r.num.div_ceil(r.den)),
        };
        let (yes, no) = match how {
            Comparison::Greater => (above, 0),
            Comparison::AtLeast => (from, 0),
            Comparison::Less => (0, from),
            Comparison::AtMost => (0, above),
            Comparison::Equal => (from, 0),
            Comparison::Unequal => (0, from),
        };
        Some(Test {
            acts: u64::MAX,
            yes,
            no,
        })
    }

    /// The value of `e` if it follows from numbers, parameters and K without a negative number; the
    /// inner `None` is an unlimited value.
    fn constant(&self, e: &Expression) -> Option<Option<Ratio>> {
        let given = match e.kind {
            Kind::Constant(constant) => constant,
            Kind::Parameter(i) => self.surroundings.parameters[i],
            Kind::Known(Known::K) => match self.surroundings.buffer {
                Some(k) => Constant::Integer(k.into()),
                None => Constant::Unlimited,
            },
            _ => return self.computed(e),
        };
        match given {
            Constant::Unlimited => Some(None),
            Constant::Integer(i) => ratio(i, 1).map(Some),
            Constant::Decimal(num, den) => ratio(num, den).map(Some),
        }
    }

    /// The value of an operation on constants, as the compiler computes it.
    fn computed(&self, e: &Expression) -> Option<Option<Ratio>> {
        if !self.is_constant(e) {
            return None;
        }
        let (num, den) = super::compile::value_of(e, self.surroundings)?;
        if num == UNLIMITED {
            Some(None)
        } else {
            ratio(num, den).map(Some)
        }
    }

    /// Whether `e` is made of numbers, parameters and K alone.
    fn is_constant(&self, e: &Expression) -> bool {
        match &e.kind {
            Kind::Constant(_) | Kind::Parameter(_) | Kind::Known(Known::K) => true,
            Kind::Negate(a) => self.is_constant(a),
            Kind::Arithmetic(_, a, b) => self.is_constant(a) && self.is_constant(b),
            Kind::Call(_, all) => !all.is_empty() && all.iter().all(|a| self.is_constant(a)),
            _ => false,
        }
    }

    /// Whether the evaluation of `e` can fail, or draw where that counts.
    fn can_act(&self, e: &Expression) -> bool {
        match &e.kind {
            Kind::Constant(_)
            | Kind::Bool(_)
            | Kind::Known(_)
            | Kind::Parameter(_)
            | Kind::State(_)
            | Kind::Local(_) => false,
            Kind::Not(a) => self.can_act(a),
            Kind::And(a, b) | Kind::Or(a, b) => self.can_act(a) || self.can_act(b),
            // Products of decimals may be too large.
            Kind::Compare(_, a, b) => {
                let small = |e: &Expression| e.of_type != Type::Decimal;
                let known = small(a) && small(b);
                !known || self.can_act(a) || self.can_act(b)
            }
            Kind::Call(super::names::Function::Sum, _) => false,
            Kind::Call(super::names::Function::Draw, _) => self.state_counts,
            _ => self.computed(e).is_none(),
        }
    }
}

/// num / den, if both fit.
fn ratio(num: i128, den: i128) -> Option<Ratio> {
    Some(Ratio::new(
        u64::try_from(num).ok()?,
        u64::try_from(den).ok()?,
    ))
}
