//! One decision of a drop policy that is a program, for values that the caller gives.

use super::program::{Run, State, Value};
use crate::ground::units::Span;
use crate::port::drop::program::{promise, surroundings};
use crate::text::program::names::{DROP, Known};
use crate::text::program::{Failure, Owner, Shown, Verdict, Why, show};
use crate::text::scenario::{DropPolicy, Scenario, Size};
use std::collections::HashMap;

/// Value of a state, by its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StateValue {
    /// A whole number.
    Integer(i128),
    /// A number; infinite for what is above every number, as K of a queue without limit.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

/// What a program is given for one decision.
pub struct Given<'a> {
    /// Values of the names that the program uses, except K, which is the buffer of the queue.
    pub known: &'a HashMap<String, i128>,
    /// Sums of MCR, PCR and SCR over the VCs of the queue, bit/s.
    pub sums: [u64; 3],
    /// States by name: changed by the program.
    pub states: &'a mut HashMap<String, StateValue>,
    /// The next random number, from 0 to below 1.
    pub draw: &'a mut dyn FnMut() -> f64,
}

/// The verdict of the program at the first queue of the first switch, from the evaluator of the
/// reference engine. Fails if a run would end, with the reason and the place in the text.
///
/// # Panics
/// If the queue has no program, or `given` lacks a name that the program uses.
pub fn decide(scenario: &Scenario, given: Given<'_>) -> Result<&'static str, (String, Shown)> {
    let queue = &scenario.switches[0].queues[0];
    let DropPolicy::Program(policy) = &queue.drop else {
        panic!("the queue has no program");
    };
    let k = queue.buffer.map(Size::stated);
    let program = &*policy.program;
    let mut around = surroundings(policy, k, &[], Span::ZERO);
    around.sums = given.sums;
    if let Some(&time) = given.known.get("cell_time") {
        around.cell_time = time as u64;
    }
    let mut state = State::new(around);
    let place = |owner| (owner == Owner::Vc).then_some(0);
    for (i, named) in program.states.iter().enumerate() {
        let value = match given.states[&named.name] {
            StateValue::Integer(a) => Value::Integer(a),
            StateValue::Float(f64::INFINITY) => Value::Unlimited,
            StateValue::Float(a) => Value::Float(a),
            StateValue::Bool(a) => Value::Bool(a),
        };
        state.values.insert((i, place(named.owner)), value);
    }
    let known = |name: Known| given.known[name.word()];
    let answer = Run {
        state: &mut state,
        vc: 0,
        known: &known,
        draw: given.draw,
        locals: HashMap::new(),
    }
    .block(program, &program.body);
    for (i, named) in program.states.iter().enumerate() {
        let value = match state.values[&(i, place(named.owner))] {
            Value::Integer(a) => StateValue::Integer(a),
            Value::Float(a) => StateValue::Float(a),
            Value::Bool(a) => StateValue::Bool(a),
            Value::Unlimited => StateValue::Float(f64::INFINITY),
            Value::Decimal(..) => unreachable!("no state is a decimal"),
        };
        given.states.insert(named.name.clone(), value);
    }
    let text = policy.written.program.as_deref().unwrap_or_default();
    let failure = |Failure { why, at }| (why.words().to_string(), show(text, at));
    let (verdict, at) = answer.map_err(failure)?.unwrap_or((Verdict::Accept, 0));
    let waiting = given.known.get(Known::X.word());
    let below = promise(policy, k).zip(waiting);
    if below.is_some_and(|(bound, &x)| x <= i128::from(bound))
        && matches!(verdict, Verdict::Refuse | Verdict::RefuseCell)
    {
        let why = Why::BelowBound;
        return Err(failure(Failure { why, at }));
    }
    let mut words = DROP.verdicts.iter();
    let found = words.find(|(_, of, _)| *of == verdict);
    Ok(found.expect("every verdict has a word").0)
}
