//! Fast path of the arithmetic kernel: rounds of cells, one from each input.
//!
//! After a common time-out, or in the steady state of a loss-free LAN, several inputs bring one
//! cell per cell time each, at fixed phases. Every cell time then repeats the one before, except
//! that coincident inputs may rotate. Each cell starts one cell time after the one before, so only
//! its delay has to be found. Feeds, hops and sinks are updated once for all rounds. Rounds last
//! until a limit is near, a run ends, another input joins or the horizon is reached.
//!
//! One input is enough if the gate judges each cell: X does not grow, and the cells leave as one run.
//!
//! Cells that go on to another port are passed on one by one in the order of their starts, since
//! cells of several VCs share the link.
//!
//! Conditions:
//! * the port is busy;
//! * all cells have distance c, and with several inputs none must be looked at individually when it
//!   leaves;
//! * cells of several inputs arrive at their next station within the measuring time;
//! * X stays below the buffer, and below the policy's smallest refusal if a frame begins;
//! * ties are not random, and nothing is watched.

use super::Arithmetic;
use super::asked_rounds::{ask, break_off};
use super::round_inputs::{RoundInput, RoundPlan, in_order, in_turn};
use crate::ground::delays::{DelayBins, Waits};
use crate::ground::units::{Span, Time};
use crate::network::cells::Run;
use crate::network::fabric::{Fabric, Next};
use crate::port::rhythm::{Rhythm, ties};
use crate::port::{Inputs, NextInput};
use std::convert::Infallible;
use std::ops::ControlFlow;

impl Arithmetic {
    /// Rounds of the inputs whose cells come within the next cell time: at least two inputs, or one
    /// if the gate judges each cell. Fills `self.round_inputs` with these inputs.
    #[inline(always)]
    pub(super) fn can_take_rounds(
        &mut self,
        fabric: &Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<RoundPlan> {
        let is_close = fabric.feeds[next.feed].head.period == self.cell_time;
        let is_alone = next.other >= next.time + self.cell_time;
        if is_close && (!is_alone || self.judged.is_some()) {
            let mut round_inputs = std::mem::take(&mut self.round_inputs);
            let plan = plan(self, fabric, inputs, next.horizon, &mut round_inputs);
            self.round_inputs = round_inputs;
            plan
        } else {
            None
        }
    }

    /// Takes these rounds. With a gate that judges each cell, takes only those up to and including
    /// the first cell that it refuses.
    pub(super) fn take_rounds(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        mut plan: RoundPlan,
    ) {
        let mut round_inputs = std::mem::take(&mut self.round_inputs);
        let refused = if self.judged.is_some() {
            ask(self, fabric, inputs, &mut plan, &round_inputs)
        } else {
            None
        };
        let alone = plan.inputs == 1;
        if alone && plan.rounds > 0 {
            let feed = inputs.feed(round_inputs[0].input);
            self.take_run(fabric, feed, plan.rounds as u32);
        } else if plan.rounds > 0 {
            let start = take(self, fabric, inputs, &plan, &mut round_inputs);
            let last = plan.last_time + plan.cell_time * (plan.rounds - 1);
            self.accepted_in_rounds(plan.cells, start, last);
            settle(self, fabric, inputs.first_feed, plan.rounds, &round_inputs);
        }
        if let Some(refused) = refused {
            break_off(self, fabric, inputs, &plan, &round_inputs, &refused);
        }
        reorder(fabric, inputs, &round_inputs);
        self.round_inputs = round_inputs;
    }
}

/// Fills `round_inputs` and returns as many rounds as all conditions allow.
#[inline(never)]
fn plan(
    kernel: &Arithmetic,
    fabric: &Fabric,
    inputs: &mut Inputs,
    horizon: Time,
    round_inputs: &mut Vec<RoundInput>,
) -> Option<RoundPlan> {
    if !kernel.is_steady_at(inputs.order.first()?.0) {
        return None;
    }
    let c = kernel.cell_time();
    let (mut begins, mut go_on, mut one_by_one) = (false, false, false);
    // Longest latency to the next station, and largest age on arrival.
    let (mut latest, mut oldest) = (Span::ZERO, Span::ZERO);
    let mut k = 0;
    let rhythm = inputs.rhythm(
        fabric,
        c,
        horizon,
        round_inputs,
        #[inline(always)]
        |time, input, run, hop, new| {
            one_by_one |= hop.one_by_one;
            if one_by_one && k > 0 {
                return None;
            }
            k += 1;
            let number = k - 1;
            let to_host = hop.next == Next::Host;
            go_on |= !to_host;
            begins |= new;
            latest = latest.max(hop.latency);
            oldest = oldest.max(run.age);
            Some(RoundInput {
                time,
                beyond: run.age + hop.latency + c,
                sum: 0,
                start: Time::ZERO,
                first_age: Span::ZERO,
                last_age: Span::ZERO,
                input,
                number,
                vc: hop.local,
                flow: hop.flow.0,
                is_data: hop.is_data && to_host,
                next: hop.next,
            })
        },
    )?;
    if !inputs.tie.keeps_ascending() {
        let numbered = round_inputs.iter_mut().zip(0..);
        numbered.for_each(|(round_input, number)| round_input.number = number);
    }
    let Rhythm {
        begin, last_time, ..
    } = rhythm;
    let k = u64::from(k);
    let mut rounds = rhythm.rounds(c);
    let plan = |rounds| RoundPlan {
        cell_time: c,
        inputs: k,
        rounds,
        cells: rounds * k,
        begin,
        last_time,
        go_on,
    };
    if k == 1 {
        // X does not grow, and the cells leave as one run.
        let fits = kernel.limits.fits(kernel.start - begin.signed(), begins);
        return (rounds > 1 && fits).then(|| plan(rounds));
    }
    if !kernel.has_room_for(begin, begins, rounds * k) {
        rounds = kernel.cells_until_limit(begin, begins) / k;
    }
    let start = kernel.last_start();
    // Sums of ages must fit into 64 bits.
    let longest = oldest + (start + c * (rounds * k + 1) + latest - begin);
    if rounds.checked_mul(longest.0).is_none() {
        rounds = u64::MAX / longest.0;
    }
    let cells = rounds * k;
    let first_arrival = start + c * 2;
    let last_arrival = start + c * (cells + 1) + latest;
    let (from, to) = fabric.measured;
    if rounds < 2 || last_arrival >= fabric.end || first_arrival < from || last_arrival >= to {
        return None;
    }
    Some(plan(rounds))
}

/// Takes the rounds; returns the start of the last cell.
#[inline(always)]
fn take(
    kernel: &mut Arithmetic,
    fabric: &mut Fabric,
    inputs: &mut Inputs,
    plan: &RoundPlan,
    round_inputs: &mut [RoundInput],
) -> Time {
    let Inputs {
        first_feed, tie, ..
    } = inputs;
    let last_start = kernel.last_start();
    let mut start = last_start + plan.cell_time;
    let mut counts = kernel.counts_at(plan.begin);
    if plan.go_on || (plan.begin != plan.last_time && counts.is_some()) {
        let mut start = start;
        let _ = in_order(round_inputs, tie, plan, |round_input, round| {
            if let Some(counts) = &mut counts {
                counts.add(round_input.vc, 1);
            }
            if let Next::Port { port, feed, input } = round_input.next {
                let mut run = fabric.feeds[*first_feed + round_input.input as usize].head;
                run.skip(round as u32);
                let there = Run {
                    hop: run.hop + 1,
                    age: round_input.beyond + (start - run.time),
                    time: start + (round_input.beyond - run.age),
                    ..run.first(1)
                };
                fabric.push(there, port, feed, input);
            }
            start += plan.cell_time;
            ControlFlow::<Infallible>::Continue(())
        });
        counts = None;
    }
    for group in round_inputs.chunk_by_mut(ties) {
        let mut round = 0;
        while round < plan.rounds {
            let time = group[0].time + plan.cell_time * round;
            let (first, slots) = tie.leader(time, group, |m| m.input);
            let rounds = slots.min(plan.rounds - round);
            if let Some(counts) = &mut counts {
                (0..rounds).for_each(|_| in_turn(group, first).for_each(|m| counts.add(m.vc, 1)));
            }
            let (later, sooner) = group.split_at_mut(first);
            let mut start = start + plan.round_time() * round;
            for round_input in sooner.iter_mut().chain(later) {
                let age = round_input.beyond + (start - time);
                if round == 0 {
                    round_input.first_age = age;
                }
                let bins = &mut fabric.destinations.sinks[round_input.flow as usize].bins;
                if rounds == 1 {
                    round_input.take(age, start, bins);
                } else {
                    round_input.take_series(age, start, rounds, plan, bins);
                }
                start += plan.cell_time;
            }
            round += rounds;
        }
        start += plan.cell_time * group.len() as u64;
    }
    last_start + plan.cell_time * plan.cells
}

impl RoundInput {
    /// Records that its next cell starts at `start` and arrives at its host with `age`.
    #[inline(always)]
    fn take(&mut self, age: Span, start: Time, bins: &mut DelayBins) {
        self.sum += age.0;
        self.start = start;
        self.last_age = age;
        if self.is_data {
            bins.add(age, 1);
        }
    }

    /// Records its next cells, one per round. Each waits longer than the one before by the cells of
    /// all other inputs.
    #[inline(always)]
    fn take_series(
        &mut self,
        age: Span,
        start: Time,
        rounds: u64,
        plan: &RoundPlan,
        bins: &mut DelayBins,
    ) {
        let more = plan.round_time() - plan.cell_time;
        self.sum += rounds * age.0 + rounds * (rounds - 1) / 2 * more.0;
        self.start = start + plan.round_time() * (rounds - 1);
        self.last_age = age + more * (rounds - 1);
        if self.is_data {
            bins.add_series(age, more, rounds);
        }
    }
}

/// Updates feeds, hops and sinks after `rounds` rounds.
#[inline(always)]
fn settle(
    kernel: &mut Arithmetic,
    fabric: &mut Fabric,
    first_feed: usize,
    rounds: u64,
    round_inputs: &[RoundInput],
) {
    let c = kernel.cell_time();
    for round_input in round_inputs {
        let feed = &mut fabric.feeds[first_feed + round_input.input as usize];
        let run = feed.head;
        let hop = &mut fabric.hops[run.hop as usize];
        let n = rounds as u32;
        hop.count_passed(run.frame, rounds);
        let ages = Waits::Listed {
            sum: round_input.sum.into(),
            least: round_input.first_age,
            most: round_input.last_age,
        };
        kernel.queue_time += ages.sum_shorter_by(round_input.beyond, rounds);
        if round_input.next == Next::Host {
            let last = round_input.start + c + hop.latency;
            let ages = round_input.is_data.then_some(ages);
            fabric.destinations.deliver(hop.flow, &run, n, ages, last);
        }
        fabric.feeds[first_feed + round_input.input as usize].skip(n);
    }
}

/// Moves the inputs, which come first, to the places of their next cells.
fn reorder(fabric: &Fabric, inputs: &mut Inputs, round_inputs: &[RoundInput]) {
    for _ in 0..round_inputs.len() {
        inputs.order.pop();
    }
    for round_input in round_inputs {
        let head = &fabric.feeds[inputs.feed(round_input.input)].head;
        if head.n > 0 {
            inputs.order.insert(head.time, round_input.input);
        }
    }
}
