//! A drop policy stated as a program, by walking its tree as the page has it
//! (`docs/programs.md`). Nothing is compiled, and the arithmetic is its own. `ranking` walks the
//! texts of schedulers with it.

use crate::ground::format::Clock;
use crate::ground::units::{Span, Time};
use crate::port::drop::program::{decision, of_contract, promise, surroundings};
use crate::port::drop::{Arriving, Decision, DropRule, Needs, Policy, PoolView, QueueView};
use crate::text::program::compile::Surroundings;
use crate::text::program::names::{Function, Known};
use crate::text::program::{
    Comparison, Constant, Expression, Failure, Kind, Operator, Owner, Program, Statement, Target,
    Type, Verdict, Why,
};
use crate::text::scenario::{ContractTerms, ProgramPolicy};
use std::cmp::Ordering;
use std::collections::HashMap;

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Integer(i128),
    /// Numerator, and denominator above 0.
    Decimal(i128, i128),
    Float(f64),
    Bool(bool),
    /// Above every number, as the type of its expression.
    Unlimited,
}

/// A program with its state, for one class queue.
pub(super) struct Walker {
    policy: ProgramPolicy,
    needs: Needs,
    contracts: Vec<Option<ContractTerms>>,
    never_below: Option<u64>,
    state: State,
    /// The pool as last seen.
    pool: PoolView,
    drawn: u64,
    failure: Option<Failure>,
}

/// State of a program, and the constants around it.
pub(super) struct State {
    surroundings: Surroundings,
    /// Values by the name's index, and by VC for those of a VC.
    pub(super) values: HashMap<(usize, Option<u32>), Value>,
}

impl State {
    pub(super) fn new(surroundings: Surroundings) -> State {
        State {
            surroundings,
            values: HashMap::new(),
        }
    }
}

/// One run of a text.
pub(super) struct Run<'w> {
    pub(super) state: &'w mut State,
    /// The VC.
    pub(super) vc: u32,
    /// Values of the names of the language, without K and `cell_time`.
    pub(super) known: &'w dyn Fn(Known) -> i128,
    /// The next random number, if the text may draw.
    pub(super) draw: &'w mut dyn FnMut() -> f64,
    pub(super) locals: HashMap<usize, Value>,
}

impl Walker {
    pub(super) fn new(
        policy: &ProgramPolicy,
        buffer: Option<u64>,
        contracts: &[Option<ContractTerms>],
        cell_time: Span,
        needs: Needs,
    ) -> Walker {
        Walker {
            needs,
            contracts: contracts.to_vec(),
            never_below: promise(policy, buffer),
            failure: None,
            pool: PoolView::default(),
            drawn: 0,
            state: State::new(surroundings(policy, buffer, contracts, cell_time)),
            policy: policy.clone(),
        }
    }
}

impl Walker {
    /// Keeps why there is no decision.
    fn fails(&mut self, failure: Failure) -> Decision {
        self.failure = Some(failure);
        Decision::Fail
    }
}

impl DropRule for Walker {
    fn see_pool(&mut self, pool: PoolView) {
        self.pool = pool;
    }

    fn failure(&self) -> Option<Failure> {
        self.failure
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn admit(&mut self, now: Time, cell: &Arriving, queue: &QueueView) -> Decision {
        let program = self.policy.program.clone();
        let (export_tag, never_below) = (self.policy.written.export_tag, self.never_below);
        let terms = self.contracts[cell.vc as usize].as_ref();
        let pool = self.pool;
        let known = |name| match name {
            Known::X => queue.waiting.into(),
            Known::Y => queue.waiting_of_vc.into(),
            Known::N => queue.active_vcs.into(),
            Known::Clp => cell.tagged.into(),
            Known::Begins => cell.begins.into(),
            Known::Ends => cell.eom.into(),
            Known::Lost => cell.lost.into(),
            Known::Idle => cell.idle_cells.map_or(-1, i128::from),
            Known::Length => cell.length.into(),
            Known::Places => cell.places.into(),
            Known::Free => pool.free.into(),
            Known::Pool => pool.used.into(),
            Known::Reserve => pool.reserve.into(),
            Known::Now => now.0.into(),
            of_vc => of_contract(of_vc, terms).unwrap_or_default(),
        };
        let drawn = &mut self.drawn;
        let mut draw = || {
            *drawn += 1;
            cell.draws.unit(*drawn - 1)
        };
        let mut run = Run {
            state: &mut self.state,
            vc: cell.vc,
            known: &known,
            draw: &mut draw,
            locals: HashMap::new(),
        };
        let answer = run.block(&program, &program.body);
        let (verdict, at) = match answer {
            Ok(answer) => answer.unwrap_or((Verdict::Accept, 0)),
            Err(failure) => return self.fails(failure),
        };
        let decided = decision(verdict, export_tag, queue, never_below);
        decided.unwrap_or_else(|why| self.fails(Failure { why, at }))
    }
}

type Answer = Option<(Verdict, u32)>;

impl Run<'_> {
    pub(super) fn block(
        &mut self,
        program: &Program,
        statements: &[Statement],
    ) -> Result<Answer, Failure> {
        for statement in statements {
            match statement {
                Statement::Verdict(verdict, at) => return Ok(Some((*verdict, *at))),
                Statement::Assign { target, value } => {
                    let of_type = match target {
                        Target::State(i) => program.states[*i].of_type,
                        Target::Local(i) => program.locals[*i].1,
                    };
                    let value = converted(self.value(program, value)?, of_type);
                    match *target {
                        Target::Local(i) => self.locals.insert(i, value),
                        Target::State(i) => {
                            let place = self.place(program, i);
                            self.state.values.insert(place, value)
                        }
                    };
                }
                Statement::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let way = if self.is_true(program, condition)? {
                        then
                    } else {
                        otherwise
                    };
                    if let Some(answer) = self.block(program, way)? {
                        return Ok(Some(answer));
                    }
                }
            }
        }
        Ok(None)
    }

    fn place(&self, program: &Program, state: usize) -> (usize, Option<u32>) {
        match program.states[state].owner {
            Owner::Queue => (state, None),
            Owner::Vc => (state, Some(self.vc)),
        }
    }

    fn is_true(&mut self, program: &Program, e: &Expression) -> Result<bool, Failure> {
        match self.value(program, e)? {
            Value::Bool(truth) => Ok(truth),
            other => unreachable!("a condition is {other:?}"),
        }
    }

    pub(super) fn value(&mut self, program: &Program, e: &Expression) -> Result<Value, Failure> {
        let fails = |why| Failure { why, at: e.at };
        match &e.kind {
            Kind::Constant(constant) => Ok(of_constant(*constant)),
            Kind::Parameter(i) => Ok(of_constant(self.state.surroundings.parameters[*i])),
            Kind::Bool(truth) => Ok(Value::Bool(*truth)),
            Kind::Known(name) => Ok(self.known(*name, e.of_type)),
            Kind::Local(i) => Ok(self.locals[i]),
            Kind::State(i) => {
                let state = &program.states[*i];
                let kept = self.state.values.get(&self.place(program, *i));
                Ok(kept.copied().unwrap_or(match state.of_type {
                    Type::Bool => Value::Bool(state.initial != Constant::Integer(0)),
                    of_type => converted(of_constant(state.initial), of_type),
                }))
            }
            Kind::Not(a) => Ok(Value::Bool(!self.is_true(program, a)?)),
            Kind::And(a, b) => Ok(Value::Bool(
                self.is_true(program, a)? && self.is_true(program, b)?,
            )),
            Kind::Or(a, b) => Ok(Value::Bool(
                self.is_true(program, a)? || self.is_true(program, b)?,
            )),
            Kind::Negate(a) => match self.value(program, a)? {
                Value::Integer(a) => Ok(Value::Integer(fit(a.checked_neg()).map_err(fails)?)),
                Value::Decimal(n, d) => Ok(Value::Decimal(fit(n.checked_neg()).map_err(fails)?, d)),
                Value::Float(a) => Ok(Value::Float(-a)),
                _ => Err(fails(Why::Unlimited)),
            },
            Kind::Arithmetic(operator, a, b) => {
                let a = converted(self.value(program, a)?, e.of_type);
                let b = converted(self.value(program, b)?, e.of_type);
                arithmetic(*operator, a, b).map_err(fails)
            }
            Kind::Compare(comparison, a, b) => {
                let wide = [a.of_type, b.of_type].contains(&Type::Float);
                let (a, b) = (self.value(program, a)?, self.value(program, b)?);
                let order = if wide {
                    order(converted(a, Type::Float), converted(b, Type::Float))
                } else {
                    order(a, b)
                };
                Ok(Value::Bool(holds(*comparison, order.map_err(fails)?)))
            }
            Kind::Call(Function::Sum, arguments) => {
                let [mcr, pcr, scr] = self.state.surroundings.sums;
                let sum = match arguments[0].kind {
                    Kind::Known(Known::Mcr) => mcr,
                    Kind::Known(Known::Pcr) => pcr,
                    _ => scr,
                };
                Ok(Value::Integer(sum.into()))
            }
            Kind::Call(function, arguments) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(program, argument)?);
                }
                self.call(*function, &values, e.of_type).map_err(fails)
            }
        }
    }

    fn known(&self, name: Known, of_type: Type) -> Value {
        let Surroundings {
            buffer, cell_time, ..
        } = self.state.surroundings;
        match (name, of_type) {
            (Known::K, _) => buffer.map_or(Value::Unlimited, |k| Value::Integer(k.into())),
            (Known::CellTime, _) => Value::Integer(cell_time.into()),
            (_, Type::Bool) => Value::Bool((self.known)(name) == 1),
            _ => Value::Integer((self.known)(name)),
        }
    }

    fn call(&mut self, function: Function, values: &[Value], of_type: Type) -> Result<Value, Why> {
        match function {
            Function::Min | Function::Max => {
                let (a, b) = (converted(values[0], of_type), converted(values[1], of_type));
                let first = match function {
                    Function::Min => order(a, b)?.is_le(),
                    _ => order(a, b)?.is_ge(),
                };
                Ok(if first { a } else { b })
            }
            Function::Abs => Ok(match values[0] {
                Value::Integer(a) => Value::Integer(fit(a.checked_abs())?),
                Value::Decimal(n, d) => Value::Decimal(fit(n.checked_abs())?, d),
                Value::Float(a) => Value::Float(a.abs()),
                other => other,
            }),
            Function::Floor => match values[0] {
                Value::Decimal(n, d) => {
                    let down = i128::from(n % d < 0);
                    Ok(Value::Integer(n / d - down))
                }
                Value::Float(a) => {
                    let whole = libm::floor(a);
                    // Both bounds are floats: -2^127 and 2^127.
                    if (i128::MIN as f64..-(i128::MIN as f64)).contains(&whole) {
                        Ok(Value::Integer(whole as i128))
                    } else {
                        Err(Why::Overflow)
                    }
                }
                whole => Ok(whole),
            },
            Function::Float => Ok(converted(values[0], Type::Float)),
            Function::Power => match (converted(values[0], Type::Float), values[1]) {
                (_, Value::Integer(n)) if n < 0 => Err(Why::NegativePower),
                (Value::Float(a), Value::Integer(n)) => finite(power(a, n)),
                _ => Err(Why::Unlimited),
            },
            Function::Draw => Ok(Value::Float((self.draw)())),
            Function::Sum => unreachable!("it has no value as argument"),
        }
    }
}

/// a^n, the squares from the smallest on, each multiplied in if its bit of n is set.
fn power(a: f64, n: i128) -> f64 {
    let squares = std::iter::successors(Some(a), |square| Some(square * square));
    let bits = (0..127).map(|i| n >> i).take_while(|&rest| rest > 0);
    bits.zip(squares).fold(1.0, |product, (rest, square)| {
        if rest % 2 == 1 {
            product * square
        } else {
            product
        }
    })
}

fn of_constant(constant: Constant) -> Value {
    match constant {
        Constant::Integer(i) => Value::Integer(i),
        Constant::Decimal(n, d) => Value::Decimal(n, d),
        Constant::Unlimited => Value::Unlimited,
    }
}

/// `value` in a type that is as wide or wider.
fn converted(value: Value, of_type: Type) -> Value {
    match (value, of_type) {
        (Value::Integer(a), Type::Decimal) => Value::Decimal(a, 1),
        (Value::Integer(a), Type::Float) => Value::Float(a as f64),
        (Value::Decimal(n, d), Type::Float) => Value::Float(n as f64 / d as f64),
        _ => value,
    }
}

/// An integer within the limits.
fn fit(result: Option<i128>) -> Result<i128, Why> {
    match result {
        Some(i128::MAX) | None => Err(Why::Overflow),
        Some(i) => Ok(i),
    }
}

fn times(a: i128, b: i128) -> Result<i128, Why> {
    fit(a.checked_mul(b))
}

fn finite(a: f64) -> Result<Value, Why> {
    if a.is_finite() {
        Ok(Value::Float(a))
    } else {
        Err(Why::NotFinite)
    }
}

/// Sign of a limited value: -1, 0 or 1.
fn sign(a: Value) -> i32 {
    match a {
        Value::Integer(a) | Value::Decimal(a, _) => a.signum() as i32,
        Value::Float(a) if a > 0.0 => 1,
        Value::Float(a) if a < 0.0 => -1,
        Value::Float(_) | Value::Bool(_) => 0,
        Value::Unlimited => 1,
    }
}

/// An operation on two values of one type.
fn arithmetic(operator: Operator, a: Value, b: Value) -> Result<Value, Why> {
    use Operator::{Add, Divide, Multiply, Subtract};
    if operator == Divide && sign(b) == 0 {
        return Err(Why::DivisionByZero);
    }
    match (operator, a, b) {
        (Add, Value::Unlimited, _) | (Add, _, Value::Unlimited) => Ok(Value::Unlimited),
        (Subtract, _, Value::Unlimited) => Err(Why::Unlimited),
        (Subtract, Value::Unlimited, _) => Ok(Value::Unlimited),
        (Multiply, Value::Unlimited, other) | (Multiply, other, Value::Unlimited) => {
            if sign(other) > 0 {
                Ok(Value::Unlimited)
            } else {
                Err(Why::Unlimited)
            }
        }
        (Divide, Value::Unlimited, Value::Unlimited) => Err(Why::Unlimited),
        (Divide, Value::Unlimited, b) => {
            if sign(b) > 0 {
                Ok(Value::Unlimited)
            } else {
                Err(Why::Unlimited)
            }
        }
        (Divide, Value::Float(_), Value::Unlimited) => Ok(Value::Float(0.0)),
        (Divide, _, Value::Unlimited) => Ok(Value::Decimal(0, 1)),
        (_, Value::Integer(a), Value::Integer(b)) => Ok(Value::Integer(fit(match operator {
            Add => a.checked_add(b),
            Subtract => a.checked_sub(b),
            Multiply => a.checked_mul(b),
            Divide => unreachable!("a quotient is a decimal"),
        })?)),
        (_, Value::Decimal(an, ad), Value::Decimal(bn, bd)) => {
            let (n, d) = match operator {
                Add => (
                    fit(times(an, bd)?.checked_add(times(bn, ad)?))?,
                    times(ad, bd)?,
                ),
                Subtract => (
                    fit(times(an, bd)?.checked_sub(times(bn, ad)?))?,
                    times(ad, bd)?,
                ),
                Multiply => (times(an, bn)?, times(ad, bd)?),
                Divide => (times(an, bd)?, times(ad, bn)?),
            };
            if d > 0 {
                Ok(Value::Decimal(n, d))
            } else {
                Ok(Value::Decimal(fit(n.checked_neg())?, fit(d.checked_neg())?))
            }
        }
        (_, Value::Float(a), Value::Float(b)) => finite(match operator {
            Add => a + b,
            Subtract => a - b,
            Multiply => a * b,
            Divide => a / b,
        }),
        other => unreachable!("the types were checked: {other:?}"),
    }
}

/// The order of two numbers.
pub(super) fn order(a: Value, b: Value) -> Result<Ordering, Why> {
    match (a, b) {
        (Value::Unlimited, Value::Unlimited) => Ok(Ordering::Equal),
        (Value::Unlimited, _) => Ok(Ordering::Greater),
        (_, Value::Unlimited) => Ok(Ordering::Less),
        (Value::Integer(a), Value::Integer(b)) => Ok(a.cmp(&b)),
        (Value::Float(a), Value::Float(b)) => {
            Ok(a.partial_cmp(&b).expect("no float is not a number"))
        }
        _ => match (converted(a, Type::Decimal), converted(b, Type::Decimal)) {
            (Value::Decimal(an, ad), Value::Decimal(bn, bd)) => {
                Ok(times(an, bd)?.cmp(&times(bn, ad)?))
            }
            other => unreachable!("the types were checked: {other:?}"),
        },
    }
}

fn holds(comparison: Comparison, order: Ordering) -> bool {
    match comparison {
        Comparison::Less => order == Ordering::Less,
        Comparison::AtMost => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::AtLeast => order != Ordering::Less,
        Comparison::Equal => order == Ordering::Equal,
        Comparison::Unequal => order != Ordering::Equal,
    }
}

/// The policy `spec` of the reference engine: `shared`, or its own walker for a program.
pub(super) fn policy_of(
    spec: &crate::text::scenario::DropPolicy,
    buffer: Option<u64>,
    contracts: &[Option<ContractTerms>],
    cell_time: Span,
    clock: Clock,
) -> Box<dyn DropRule> {
    let shared = Policy::new(spec, buffer, contracts, cell_time, clock);
    match spec {
        crate::text::scenario::DropPolicy::Program(policy) => {
            let needs = shared.needs();
            Box::new(Walker::new(policy, buffer, contracts, cell_time, needs))
        }
        _ => Box::new(shared),
    }
}
