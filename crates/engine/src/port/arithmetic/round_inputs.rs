//! Inputs that take part in rounds, and the order of their cells.

use crate::ground::units::{Span, Time};
use crate::network::fabric::Next;
use crate::network::tie::TieRule;
use crate::port::rhythm::{Member, ties};
use std::ops::ControlFlow;

/// An input that takes part in rounds.
#[derive(Clone, Copy, Debug)]
pub struct RoundInput {
    /// Arrival of its next cell.
    pub time: Time,
    /// Age at the next station of a cell that does not wait: its age on arrival, the cell time and
    /// the latency.
    pub beyond: Span,
    /// Sum of ages at the next station, ticks.
    pub sum: u64,
    /// Start of the last cell.
    pub start: Time,
    pub first_age: Span,
    pub last_age: Span,
    pub input: u32,
    /// Index among all inputs.
    pub number: u32,
    pub vc: u32,
    pub flow: u32,
    /// Whether delays of its cells are counted at their host.
    pub is_data: bool,
    /// Next station of its cells.
    pub next: Next,
}

/// Rounds that can be taken together.
pub struct RoundPlan {
    pub cell_time: Span,
    pub inputs: u64,
    pub rounds: u64,
    /// Number of cells in all rounds.
    pub cells: u64,
    /// First arrival of the first and of the last input.
    pub begin: Time,
    pub last_time: Time,
    /// Whether any cells go on to another port.
    pub go_on: bool,
}

impl Member for RoundInput {
    const FEWEST: u32 = 2;
    const TAKES_LAST: bool = true;

    fn time(&self) -> Time {
        self.time
    }

    fn input(&self) -> u32 {
        self.input
    }
}

impl RoundPlan {
    /// Time from the start of an input's cell to that of its next one.
    pub fn round_time(&self) -> Span {
        self.cell_time * self.inputs
    }
}

/// Calls `each` with the input and the round of every cell, in order.
pub fn in_order<B>(
    round_inputs: &[RoundInput],
    tie: &mut TieRule,
    plan: &RoundPlan,
    mut each: impl FnMut(&RoundInput, u64) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for round in 0..plan.rounds {
        in_round(round_inputs, tie, plan, round, &mut each)?;
    }
    ControlFlow::Continue(())
}

/// Calls `each` with the inputs of one round, in order.
fn in_round<B>(
    round_inputs: &[RoundInput],
    tie: &mut TieRule,
    plan: &RoundPlan,
    round: u64,
    mut each: impl FnMut(&RoundInput, u64) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for group in round_inputs.chunk_by(ties) {
        let time = group[0].time + plan.cell_time * round;
        let (first, _) = tie.leader(time, group, |m| m.input);
        in_turn(group, first).try_for_each(|round_input| each(round_input, round))?;
    }
    ControlFlow::Continue(())
}

/// Members of `group`, whose cells arrive together, in order from index `first`.
pub fn in_turn(group: &[RoundInput], first: usize) -> impl Iterator<Item = &RoundInput> {
    group[first..].iter().chain(&group[..first])
}
