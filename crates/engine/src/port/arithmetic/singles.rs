//! Fast path of the arithmetic kernel with a gate that judges each cell: cells of one flow, each a
//! separate run, while no other input brings any.
//!
//! A port that takes cells of several flows in turns passes them on one by one, and no two of a
//! flow have waited equally long. So they reach the next port as runs of one cell. Only the
//! decision, the wait and the age differ from cell to cell. The route is looked up once, and hop
//! and feed are updated once for all of them.
//!
//! Conditions: as in `interleaved.rs`, at any distance of the cells. The first refused cell ends
//! it.

use super::{Arithmetic, Interleaved, interleaved};
use crate::ground::delays::Waits;
use crate::network::cells::{Fate, FrameState, RM, Run};
use crate::network::fabric::{Fabric, Next};
use crate::port::drop::Decision;
use crate::port::{Inputs, NextInput};

impl Arithmetic {
    /// Whether the next two cells of the first input are runs of one flow, and come before any
    /// other.
    pub(super) fn can_take_singles(
        &self,
        fabric: &Fabric,
        inputs: &Inputs,
        next: &NextInput,
    ) -> bool {
        let feed = &fabric.feeds[next.feed];
        let head = &feed.head;
        let interleaved = inputs.interleaved.get(next.input as usize);
        head.n == 1
            && head.period != self.cell_time
            && self.can_interleave_any()
            && !fabric.hops[head.hop as usize].one_by_one
            && !interleaved.is_some_and(Interleaved::is_under_way)
            && feed
                .get(1)
                .is_some_and(|run| run.hop == head.hop && run.time < next.limit())
    }

    /// Takes such cells, and then the one that the policy refuses, if any; at least one cell.
    /// Returns whether the feed has more.
    #[inline(never)]
    pub(super) fn take_singles(
        &mut self,
        fabric: &mut Fabric,
        inputs: &mut Inputs,
        next: &NextInput,
    ) -> bool {
        let (feed, limit) = (next.feed, next.limit());
        let interleaved = interleaved::of(&mut inputs.interleaved, next.input);
        let index = fabric.feeds[feed].head.hop;
        let hop = &fabric.hops[index as usize];
        let (flow, mut state) = (hop.flow, hop.frame_state);
        let route = interleaved.route_of(index, self, fabric);
        let mut cells = 0;
        let mut refused = None;
        while let Some(run) = fabric.feeds[feed].get(cells) {
            let begins = run.is_single() || state.frame != Some(run.frame);
            if run.n != 1
                || run.time >= limit
                || run.hop != index
                || run.flags & RM != 0
                || !(begins || state.fate == Fate::Accepted)
            {
                break;
            }
            let t = run.time.signed();
            let (idle, queue) = self.state_found(run.time);
            let start = self.start_of(t, idle.is_some());
            if !self.has_room(&queue) || !route.is_in_time(start) {
                break;
            }
            let decision = self.gate.ask_policy(run, begins, route.vc, &queue, idle);
            if decision != Decision::Accept {
                refused = Some((queue, idle, decision));
                break;
            }
            self.join_queue(t, idle.is_some());
            state = FrameState::accepted(run.frame);
            cells += 1;
            let wait = (start - t).span();
            self.waited(Waits::Equal(wait), 1);
            let age = run.age + route.beyond + wait;
            let arrives = start.time() + route.beyond;
            if let Next::Port { port, feed, input } = route.next {
                let there = Run {
                    time: arrives,
                    period: self.cell_time,
                    age,
                    hop: index + 1,
                    ..*run
                };
                fabric.push(there, port, feed, input);
                continue;
            }
            let run = *run;
            let age = route.is_data.then_some(Waits::Equal(age));
            fabric.destinations.deliver(flow, &run, 1, age, arrives);
        }
        let mut more = true;
        if cells > 0 {
            more = fabric.feeds[feed].skip_runs(cells);
            let hop = &mut fabric.hops[index as usize];
            hop.arrived += cells as u64;
            hop.sent += cells as u64;
            hop.frame_state = state;
        }
        match refused {
            Some((queue, idle, decision)) => {
                self.judge_by_gate(fabric, feed, &queue, idle, Some(decision))
            }
            None if cells > 0 => more,
            None => self.judge_one(fabric, feed),
        }
    }
}
