//! Fast path of the arithmetic kernel with a gate that judges each cell: inputs with equal cell
//! distances, in turns.
//!
//! Sources on links of one rate bring their cells at one distance, longer than a cell time. As long
//! as they do, each input comes next after all others. These inputs stand in a circle, where no
//! input's place has to be searched. An input enters the circle when its cells start to come at
//! that distance, and leaves when one of them does not. All other inputs stay in the order of
//! arrivals.
//!
//! Conditions: no two cells come together, and no input brings one cell per cell time.

use super::judged::next_run;
use super::{Arithmetic, interleaved};
use crate::cells::Run;
use crate::fabric::Fabric;
use crate::port::{Inputs, NextInput};
use crate::units::{Span, Time};

/// Whether the cells of `run` may come between those of others.
fn can_alternate(kernel: &Arithmetic, run: &Run) -> bool {
    run.n == 1 || run.period != kernel.cell_time
}

impl Arithmetic {
    /// The distance of the first input's cells, if a cell of another input comes before its next
    /// one. The first cell comes alone.
    pub(super) fn can_take_circle(
        &self,
        fabric: &Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> Option<Span> {
        let run = next_run(inputs, fabric, next.input);
        let period = run.period;
        if run.n < 2
            || period == self.cell_time
            || next.other >= next.horizon.min(next.time + period)
        {
            return None;
        }
        let (_, other) = inputs.order.get(1)?;
        can_alternate(self, next_run(inputs, fabric, other)).then_some(period)
    }

    /// Takes cells before `horizon`, at least one, until several come together or an input brings
    /// one per cell time. The first cell comes alone, and the next of its input `period` later.
    pub(super) fn take_circle(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        period: Span,
        horizon: Time,
    ) {
        let Inputs {
            order,
            interleaved,
            circle,
            first_feed,
            ..
        } = inputs;
        let first_feed = *first_feed;
        // Index of the next input in the circle.
        let mut at = 0;
        while let Some((time, input)) = order.first() {
            let in_turn = circle.get(at).map_or(Time::NEVER, |&(time, _)| time);
            let limit = in_turn.min(order.second_time()).min(horizon);
            let feed = first_feed + input as usize;
            let interleaved_of = interleaved::of(interleaved, input);
            let run = interleaved_of.next_run(&fabric.feeds[feed].head);
            if time >= limit || !can_alternate(self, run) {
                break;
            }
            let next = self.judge_next_outlined(fabric, interleaved_of, feed, time);
            match next {
                Some(next) if next == time + period => {
                    order.pop();
                    circle.insert(at, (next, input));
                    at = (at + 1) % circle.len();
                }
                Some(next) => order.postpone_first(next),
                None => order.pop(),
            }
            // Inputs in the circle.
            let other = order
                .first()
                .map_or(Time::NEVER, |(time, _)| time)
                .min(horizon);
            while let Some((time, input)) = circle.get_mut(at) {
                if *time >= other {
                    break;
                }
                let (input, feed) = (*input, first_feed + *input as usize);
                let next = self.judge_next(fabric, &mut interleaved[input as usize], feed, *time);
                *time += period;
                let goes_on = next == Some(*time);
                if goes_on {
                    at += 1;
                } else {
                    circle.remove(at);
                }
                if at == circle.len() {
                    at = 0;
                }
                if let Some(next) = next.filter(|_| !goes_on) {
                    order.insert(next, input);
                    break;
                }
            }
        }
        circle.rotate_left(at);
        for (time, input) in circle.drain(..).rev() {
            order.insert(time, input);
        }
    }
}
