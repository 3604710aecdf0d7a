//! A shortcut of the arithmetic kernel where the gate judges each cell: cells of one flow, each a run of its own, while no other input brings any.
//!
//! A port that takes cells of several flows in turns hands them on one by one, and no two of a flow have waited equally long. So they stand
//! before the next port as runs of one cell. Only the question and the wait are new with each of them; hop, sink and
//! counters are brought up to date once for all that are taken in one go.
//!
//! Conditions: as in `interleaved.rs`, but for the distance of the cells. The first cell that is not let in ends it.

use super::{Arithmetic, Interleaved};
use crate::cells::{Fate, Feed, FrameState, RM, Run};
use crate::delays::Waits;
use crate::fabric::{Fabric, Next};
use crate::port::drop::Decision;
use crate::units::{Span, Time};

/// Whether the next two cells of `feed`, before `limit`, are such ones.
#[inline(always)]
pub fn apply(feed: &Feed, limit: Time) -> bool {
    let head = &feed.head;
    let second = feed.get(1);
    head.n == 1 && second.is_some_and(|run| run.hop == head.hop && run.time < limit)
}

/// Takes the cells of `feed` of which that holds and which arrive before `limit`, and then the one that the policy does not let in. Whether the feed has
/// more; `None` if there is none, and then nothing has happened.
#[inline(never)]
pub fn judge(
    kernel: &mut Arithmetic,
    fabric: &mut Fabric,
    merged: &mut Interleaved,
    feed: usize,
    limit: Time,
) -> Option<bool> {
    let index = fabric.feeds[feed].head.hop;
    let hop = &fabric.hops[index as usize];
    let (flow, mut state) = (hop.flow, hop.frame_state);
    if hop.one_by_one || !kernel.may_merge_any() {
        return None;
    }
    let route = merged.route_of(index, kernel, fabric);
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
        let t = run.time.0 as i64;
        let (idle, queue) = kernel.found(run.time);
        let start = kernel.start_of(t, idle.is_some());
        if !kernel.has_room(&queue) || !route.is_in_time(start) {
            break;
        }
        let decision = kernel.gate.ask_policy(run, begins, route.vc, &queue, idle);
        if decision != Decision::Accept {
            refused = Some((queue, idle, decision));
            break;
        }
        kernel.take_place(t, idle.is_some());
        state = FrameState::accepted(run.frame);
        cells += 1;
        let wait = Span((start - t) as u64);
        kernel.waited(Waits::Equal(wait), 1);
        let age = run.age + route.beyond + wait;
        let arrives = Time(start as u64) + route.beyond;
        if let Next::Port { port, feed, input } = route.next {
            let there = Run {
                time: arrives,
                period: kernel.cell_time,
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
        let cells = cells as u64;
        let hop = &mut fabric.hops[index as usize];
        hop.frame_state = state;
        hop.arrived += cells;
        hop.sent += cells;
    }
    match refused {
        Some((queue, idle, decision)) => {
            Some(kernel.judge_fully(fabric, feed, &queue, idle, Some(decision)))
        }
        None => (cells > 0).then_some(more),
    }
}
