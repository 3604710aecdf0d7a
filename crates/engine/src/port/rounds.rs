//! A shortcut of the arithmetic kernel: many cells of several inputs at once.
//!
//! After a common time-out, or in the steady state of a loss-free LAN, several inputs bring a cell per cell time each, at fixed
//! phases. Then every cell time is like the one before: the same inputs in the same order, but for the rotation of those that
//! coincide. As long as no limit is near, no run ends, no other input joins and the horizon is not reached, such rounds need
//! no look at feeds, hops and sinks: the start of each cell is one cell time after the one before, and all that is needed of it is its
//! delay. Everything else is brought up to date once for all rounds.
//!
//! Conditions: the port is busy; all cells have distance c; all go on to their host without another stage; X stays below the buffer, and
//! below the policy's smallest refusal if a frame begins; ties are not random; nothing is watched.

use super::arithmetic::Arithmetic;
use super::merge::{ENDS_FRAME, Order, SINGLE_CELLS, TieRule};
use super::{FrameState, Verdict};
use crate::link::{Fabric, Next};

/// An input that takes part.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its next arrival, ticks.
    time: u64,
    /// What a cell's age at its host has beyond its start and before its arrival: see `run`.
    beyond: u64,
    /// Sum of ages.
    sum: u64,
    /// Start of the last cell.
    start: u64,
    first_age: u64,
    last_age: u64,
    input: u32,
    vc: u32,
    is_data: bool,
}

/// Takes as many whole rounds as possible; false if there is none, and then nothing has happened.
#[inline]
pub fn run(
    kernel: &mut Arithmetic,
    fabric: &mut Fabric,
    order: &mut Order,
    tie: &mut TieRule,
    members: &mut Vec<Member>,
    first_feed: usize,
    horizon: u64,
) -> bool {
    let c = kernel.cell_time();
    let Some((begin, _)) = order.first() else {
        return false;
    };
    if !tie.is_regular() || !kernel.is_steady_at(begin) || fabric.digest.is_some() {
        return false;
    }
    // Who takes part, and how many rounds it allows.
    members.clear();
    let mut limit = horizon;
    let mut begins = false;
    let mut rounds = u32::MAX;
    let mut latest = 0;
    for i in 0.. {
        let Some((time, input)) = order.get(i) else {
            break;
        };
        if time >= begin + c || time >= horizon {
            limit = limit.min(time);
            break;
        }
        let run = &fabric.feeds[first_feed + input as usize].head;
        let hop = &fabric.hops[run.hop as usize];
        let new = run.flags & SINGLE_CELLS != 0 || hop.frame_state.frame != Some(run.frame);
        let accepted = new || hop.frame_state.verdict == Verdict::Accepted;
        if run.period != c || hop.next != Next::Host || hop.one_by_one || !accepted {
            return false;
        }
        begins |= new;
        rounds = rounds.min(run.n);
        latest = latest.max(hop.latency);
        members.push(Member {
            time,
            beyond: run.age + hop.latency + c,
            sum: 0,
            start: 0,
            first_age: 0,
            last_age: 0,
            input,
            vc: hop.local,
            is_data: hop.is_data,
        });
    }
    let k = members.len() as u64;
    let last_time = members.last().map_or(0, |m| m.time);
    if k < 2 || limit <= last_time {
        return false;
    }
    let rounds = u64::from(rounds)
        .min((limit - last_time).div_ceil(c))
        .min(kernel.room_at(begin, begins) / k);
    let cells = rounds * k;
    let start = kernel.last_start();
    let first_arrival = start + 2 * c;
    let last_arrival = start + (cells + 1) * c + latest;
    let (from, to) = fabric.measured;
    if rounds < 2 || last_arrival >= fabric.end || first_arrival < from || last_arrival >= to {
        return false;
    }

    // The rounds.
    let mut next_start = start;
    let bins = &mut fabric.class_delays[kernel.class()];
    let mut counts = kernel.counts_at(begin);
    for round in 0..rounds {
        let shift = round * c;
        let mut take = |member: &mut Member| {
            next_start += c;
            let age = member.beyond + next_start - (member.time + shift);
            member.sum += age;
            member.start = next_start;
            if round == 0 {
                member.first_age = age;
            }
            member.last_age = age;
            if member.is_data {
                bins.add(age, 1);
            }
            if let Some(counts) = &mut counts {
                counts.add(member.vc, 1);
            }
        };
        let mut at = 0;
        while at < members.len() {
            let time = members[at].time;
            let tied = members[at..].iter().take_while(|m| m.time == time).count();
            let group = &mut members[at..at + tied];
            at += tied;
            if tied == 1 {
                take(&mut group[0]);
            } else {
                let split = tie.split(time + shift, group.iter().map(|m| m.input));
                let (later, sooner) = group.split_at_mut(split);
                sooner.iter_mut().for_each(&mut take);
                later.iter_mut().for_each(&mut take);
            }
        }
    }

    // What follows from them.
    kernel.accepted_in_rounds(cells, next_start, last_time + (rounds - 1) * c);
    for member in members.iter() {
        let feed = &mut fabric.feeds[first_feed + member.input as usize];
        let run = feed.head;
        let hop = &mut fabric.hops[run.hop as usize];
        let n = rounds as u32;
        hop.frame_state = FrameState {
            frame: Some(run.frame),
            verdict: Verdict::Accepted,
        };
        hop.arrived += rounds;
        hop.sent += rounds;
        kernel.waited(u128::from(member.sum) - u128::from(rounds) * u128::from(member.beyond));
        let direction = hop.direction;
        let arrival = member.start + c + hop.latency;
        let ends = run.flags & ENDS_FRAME != 0 && n == run.n;
        let sink = &mut fabric.sinks[direction as usize];
        if member.is_data {
            sink.delay.count += rounds;
            sink.delay.sum += u128::from(member.sum);
            sink.delay.min = sink.delay.min.min(member.first_age);
            sink.delay.max = sink.delay.max.max(member.last_age);
        }
        sink.cells += rounds;
        if run.flags & SINGLE_CELLS != 0 {
            sink.frames += rounds;
            sink.measured_cells += rounds;
        } else {
            let complete = sink.take(run.frame, n, ends);
            if complete {
                fabric.arrivals.push(crate::link::Arrival {
                    direction,
                    frame: run.frame,
                    time: arrival,
                });
            }
        }
        fabric.feeds[first_feed + member.input as usize].skip(n);
    }
    for _ in 0..k {
        order.pop();
    }
    for member in members.iter() {
        let head = &fabric.feeds[first_feed + member.input as usize].head;
        if head.n > 0 {
            order.insert(head.time, member.input);
        }
    }
    true
}
