//! Rounds at a gate that asks the policy alone about each cell.
//!
//! The policy is asked before the rounds are taken. The first question is about all cells together.
//! If the policy cannot accept them all at once, it is asked cell by cell, in their order. When it
//! refuses one, the rounds before are taken together, and the earlier cells of that round one by
//! one.

use super::Arithmetic;
use super::round_inputs::{RoundInput, RoundPlan, in_order, in_turn};
use crate::network::fabric::Fabric;
use crate::port::Inputs;
use crate::port::drop::{Decision, QueueView};
use crate::port::rhythm::ties;
use std::ops::ControlFlow;

/// A cell that the policy refuses, in the round after those that are taken.
pub struct Refused {
    round_input: u32,
    decision: Decision,
    queue: QueueView,
}

/// Asks the policy about the cells of all rounds in their order. If it refuses one, `plan` is cut
/// to the rounds that it accepts completely.
pub fn ask(
    kernel: &mut Arithmetic,
    fabric: &Fabric,
    inputs: &mut Inputs,
    plan: &mut RoundPlan,
    round_inputs: &[RoundInput],
) -> Option<Refused> {
    let mut asked = kernel.begin_asking(round_inputs.iter().map(|m| {
        let run = &fabric.feeds[inputs.feed(m.input)].head;
        let state = &fabric.hops[run.hop as usize].frame_state;
        (run, m.vc, state.frame != Some(run.frame))
    }));
    let c = plan.cell_time;
    // X never falls from one round to the next, since one cell leaves per round.
    let least = asked.iter().map(|a| a.waiting.max(0)).min();
    let most = asked.iter().map(|a| a.waiting).max();
    let bounds = [
        least.unwrap_or(0) as u64,
        (most.unwrap_or(0) + (plan.cells - plan.rounds) as i64) as u64,
    ];
    if kernel.admits_all(&asked, plan.rounds, bounds) {
        kernel.end_asking(asked);
        return None;
    }
    // X of a cell is X of its input's first cell if no other had joined, plus one per cell
    // accepted so far, minus one per round.
    let mut place = 0;
    let end = in_order(round_inputs, &mut inputs.tie, plan, |round_input, round| {
        let asked = &mut asked[round_input.number as usize];
        let queue = QueueView {
            waiting: (asked.waiting + place - round as i64) as u64,
            ..QueueView::default()
        };
        let decision = kernel.ask_about(asked, &queue);
        if decision != Decision::Accept {
            let round_input = round_input.number;
            return ControlFlow::Break((
                round,
                Refused {
                    round_input,
                    decision,
                    queue,
                },
            ));
        }
        asked.next_cell(c);
        place += 1;
        ControlFlow::Continue(())
    });
    kernel.end_asking(asked);
    let (rounds, refused) = end.break_value()?;
    plan.rounds = rounds;
    plan.cells = rounds * plan.inputs;
    Some(refused)
}

/// Takes the cells of the next round that the policy accepts, then the one that it refuses and
/// those that come at the same instant.
#[cold]
pub fn break_off(
    kernel: &mut Arithmetic,
    fabric: &mut Fabric,
    inputs: &mut Inputs,
    plan: &RoundPlan,
    round_inputs: &[RoundInput],
    refused: &Refused,
) {
    let Refused {
        round_input: number,
        queue,
        decision,
    } = refused;
    let mut is_over = false;
    for group in round_inputs.chunk_by(ties) {
        let time = group[0].time + plan.cell_time * plan.rounds;
        let (first, _) = inputs.tie.leader(time, group, |m| m.input);
        fabric.tied = group.len() > 1;
        for round_input in in_turn(group, first) {
            let feed = inputs.feed(round_input.input);
            if is_over {
                // A cell of the same instant.
                kernel.judge_one(fabric, feed);
            } else if round_input.number == *number {
                kernel.judge_by_gate(fabric, feed, queue, None, Some(*decision));
                is_over = true;
            } else {
                kernel.take_run(fabric, feed, 1);
            }
        }
        let taken = in_turn(group, first).map(|round_input| round_input.input);
        fabric.end_tie(&mut inputs.tie, inputs.first_feed, taken);
        if is_over {
            break;
        }
    }
}
