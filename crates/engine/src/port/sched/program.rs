//! A scheduler that a scenario states as a program; [`crate::text::program`] says what its texts mean.
//!
//! Every choice computes the ranks of all VCs that wait, so that its cost grows with their number.

use super::{FlowShare, Pattern, Slots, Turn, strict_priority};
use crate::ground::place::Place;
use crate::ground::rng::Stream;
use crate::ground::units::{Span, Time};
use crate::network::tally::CLASSES;
use crate::text::program::compile::{Code, Surroundings, compile};
use crate::text::program::machine::{Outside, Register, compare, float_of, run};
use crate::text::program::names::Known;
use crate::text::program::{Failure, SchedulerText, Type, Why};
use crate::text::scenario::ProgramScheduler;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// A scheduler as a compiled program with its state, for one port. VCs are identified by their local
/// number.
#[derive(Clone, Debug)]
pub struct Programmed {
    /// The class that it serves; [`CLASSES`] for all.
    class: usize,
    code: Box<Code>,
    /// First register and type of the rank, and where it is in the text.
    rank: (Register, Type, u32),
    vcs: Vec<VcState>,
    /// States of the VCs.
    of_vcs: Vec<i128>,
    /// Class and number of the VCs that wait, in ascending order.
    waiting: Vec<(usize, usize)>,
    /// Format of the cells, if queues count bytes.
    place: Place,
    /// A stream for the machine; schedulers have no draws.
    no_draws: Stream,
    /// What failed first, and when.
    failure: Option<(Time, SchedulerText, Failure)>,
}

#[derive(Clone, Debug)]
struct VcState {
    class: usize,
    weight: u64,
    /// Waiting cells: the number of each at the port, and its bytes on the line.
    cells: VecDeque<(u64, u32)>,
}

/// A rank: numerator and denominator, or the bits of a float.
type Rank = (i128, i128);

/// Constants of `scheduler` at a port whose cells take `cell_time`.
pub fn surroundings(scheduler: &ProgramScheduler, cell_time: Span) -> Surroundings {
    let parameters = scheduler.written.parameters.values();
    Surroundings {
        // The reader allows no fractions of K.
        parameters: parameters.map(|p| p.at(None)).collect(),
        buffer: None,
        cell_time: cell_time.0,
        sums: [0; 3],
    }
}

/// Bytes of the values that `scheduler` keeps at a port: registers, and the states of `flows` flows.
pub fn value_bytes(scheduler: &ProgramScheduler, flows: usize) -> usize {
    let constants = surroundings(scheduler, Span::ZERO);
    let code = compile(&scheduler.ranking.texts(), &constants);
    (code.registers.len() + code.of_vc.len() * flows) * size_of::<i128>()
}

impl Programmed {
    /// The scheduler for a port that `flows`, by local number, cross. `place` is what a place of its
    /// queues is.
    pub fn new(
        spec: &ProgramScheduler,
        cell_time: Span,
        place: Place,
        flows: &[FlowShare],
    ) -> Programmed {
        let ranking = &spec.ranking;
        let code = compile(&ranking.texts(), &surroundings(spec, cell_time));
        let (_, locals) = &code.texts[SchedulerText::Rank.place()];
        let of_vc = code.of_vc.iter().map(|&(_, start)| start);
        let vc = |flow: &FlowShare| VcState {
            class: flow.class as usize,
            weight: flow.weight,
            cells: VecDeque::new(),
        };
        Programmed {
            class: spec.written.class.map_or(CLASSES, |class| class as usize),
            rank: (locals[0], ranking.rank.locals[0].1, ranking.rank().at),
            vcs: flows.iter().map(vc).collect(),
            of_vcs: flows.iter().flat_map(|_| of_vc.clone()).collect(),
            waiting: Vec::new(),
            place,
            no_draws: Stream::new(0, 0, "", ""),
            failure: None,
            code: Box::new(code),
        }
    }

    /// Whether it serves the VCs of `class`.
    pub fn serves(&self, class: usize) -> bool {
        self.class == CLASSES || self.class == class
    }

    /// The text that failed first, and what failed, if that was before `end`. Decisions may be taken
    /// ahead of time.
    pub fn failure(&self, end: Time) -> Option<(SchedulerText, Failure)> {
        let (time, text, failure) = self.failure?;
        (time < end).then_some((text, failure))
    }

    /// Accounts for a cell of `vc`, of `bytes` on the line, that joined its queue at `now`, as the
    /// cell with the number `arrival` that the port has accepted.
    pub fn on_arrival(&mut self, vc: usize, arrival: u64, bytes: u32, now: Time) {
        let state = &mut self.vcs[vc];
        state.cells.push_back((arrival, bytes));
        if state.cells.len() == 1 {
            let entry = (state.class, vc);
            let place = self.waiting.partition_point(|&other| other < entry);
            self.waiting.insert(place, entry);
            self.run(SchedulerText::Arrive, vc, bytes, now);
        }
    }

    /// To whom the next slot goes: see [`super::Scheduler::give`].
    pub fn give<Q>(&mut self, slots: &Slots<'_, Q>) -> Option<Pattern> {
        let turn = match strict_priority::pick(slots.waiting)? {
            class if self.serves(class) => self.next_turn(slots.now),
            class => Turn::of(class, 1),
        };
        Some(Pattern::Turn(turn))
    }

    /// Takes the first cell of the VC that goes at `now`. Some cell that it serves must be waiting.
    fn next_turn(&mut self, now: Time) -> Turn {
        let vc = self.choose(now).expect("something waits");
        let state = &mut self.vcs[vc];
        let (class, slots) = (state.class, 1);
        let (_, bytes) = state.cells.pop_front().expect("it waits");
        if state.cells.is_empty() {
            self.waiting.retain(|&entry| entry != (class, vc));
        }
        self.run(SchedulerText::Served, vc, bytes, now);
        Turn { class, vc, slots }
    }

    /// The waiting VC with the smallest rank; the first one if a rank fails.
    fn choose(&mut self, now: Time) -> Option<usize> {
        let mut best: Option<(Rank, usize)> = None;
        for i in 0..self.waiting.len() {
            let (_, vc) = self.waiting[i];
            let bytes = self.vcs[vc].cells[0].1;
            if !self.run(SchedulerText::Rank, vc, bytes, now) {
                break;
            }
            let rank = self.rank();
            match best.map_or(Ok(Ordering::Less), |(best, _)| self.compare(rank, best)) {
                Ok(Ordering::Less) => best = Some((rank, vc)),
                Ok(_) => {}
                Err(why) => {
                    let at = self.rank.2;
                    let failure = Failure { why, at };
                    self.failure
                        .get_or_insert((now, SchedulerText::Rank, failure));
                    break;
                }
            }
        }
        let first = self.waiting.first().map(|&(_, vc)| vc);
        best.map(|(_, vc)| vc).or(first)
    }

    /// The rank that the latest run has computed.
    fn rank(&self) -> Rank {
        let (register, of_type, _) = self.rank;
        let at = usize::from(register);
        let registers = &self.code.registers;
        match of_type {
            Type::Decimal => (registers[at], registers[at + 1]),
            _ => (registers[at], 1),
        }
    }

    fn compare(&self, a: Rank, b: Rank) -> Result<Ordering, Why> {
        match self.rank.1 {
            Type::Float => {
                let order = float_of(a.0).partial_cmp(&float_of(b.0));
                Ok(order.unwrap_or(Ordering::Equal))
            }
            Type::Decimal => compare(a, b),
            Type::Integer | Type::Bool => Ok(a.0.cmp(&b.0)),
        }
    }

    /// Runs a text for `vc` and a cell of `bytes`, and returns whether that succeeds.
    fn run(&mut self, which: SchedulerText, vc: usize, bytes: u32, now: Time) -> bool {
        self.look(vc, bytes, now);
        let states = self.code.of_vc.len();
        let start = self.code.texts[which.place()].0;
        let mut outside = Outside {
            of_vc: &mut self.of_vcs[vc * states..(vc + 1) * states],
            draws: self.no_draws,
            drawn: &mut 0,
        };
        let code = &mut *self.code;
        let (at, answer) = run(&code.ops, start, &mut code.registers, &mut outside);
        if let Err(why) = answer {
            let at = code.places[at];
            self.failure
                .get_or_insert((now, which, Failure { why, at }));
        }
        answer.is_ok()
    }

    /// Sets the names that the texts read.
    fn look(&mut self, vc: usize, bytes: u32, now: Time) {
        let state = &self.vcs[vc];
        for &(name, register) in &self.code.names {
            let value = match name {
                Known::Length => bytes.into(),
                Known::Places => self.place.of(bytes).into(),
                Known::Arrival => state.cells.front().map_or(0, |&(number, _)| number).into(),
                Known::Waiting => state.cells.len() as i128,
                Known::Weight => state.weight.into(),
                Known::Number => vc as i128,
                Known::ClassRank => state.class as i128,
                Known::Now => now.0.into(),
                other => unreachable!("{other:?} is no name of a scheduler"),
            };
            self.code.registers[usize::from(register)] = value;
        }
    }
}
