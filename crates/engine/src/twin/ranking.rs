//! A scheduler stated as a program, by walking its trees (see [`crate::text::program`]).

use super::program::{Run, State, Value, order};
use crate::ground::units::{Span, Time};
use crate::port::sched::FlowShare;
use crate::port::sched::program::surroundings;
use crate::text::program::names::Known;
use crate::text::program::{Failure, Program, SchedulerText};
use crate::text::scenario::{Class, ProgramScheduler};
use std::collections::HashMap;

/// A scheduler with its state, for one port.
pub(super) struct Ranker {
    scheduler: ProgramScheduler,
    shares: Vec<FlowShare>,
    state: State,
}

/// A VC that waits, or did before the run of a text.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    /// Local number of the flow.
    pub(super) local: usize,
    /// Number of its first waiting cell; 0 if none waits.
    pub(super) arrival: u64,
    /// Number of its waiting cells.
    pub(super) cells: u64,
    /// Bytes on the line of its first waiting cell, or of the one that goes; 0 if there is none.
    pub(super) length: u64,
    /// Places of that cell.
    pub(super) places: u64,
}

/// What failed.
pub(super) type Failed = (SchedulerText, Failure);

impl Ranker {
    pub(super) fn new(
        scheduler: &ProgramScheduler,
        cell_time: Span,
        shares: &[FlowShare],
    ) -> Ranker {
        Ranker {
            state: State::new(surroundings(scheduler, cell_time)),
            shares: shares.to_vec(),
            scheduler: scheduler.clone(),
        }
    }

    /// The class that it serves; `None`: all.
    pub(super) fn class(&self) -> Option<Class> {
        self.scheduler.written.class
    }

    /// Runs the text for a VC that begins to wait.
    pub(super) fn arrive(&mut self, now: Time, vc: Waiting) -> Result<(), Failed> {
        let ranking = self.scheduler.ranking.clone();
        self.statements(SchedulerText::Arrive, &ranking.arrive, now, vc)
    }

    /// Runs the text for a VC that has sent a cell.
    pub(super) fn served(&mut self, now: Time, vc: Waiting) -> Result<(), Failed> {
        let ranking = self.scheduler.ranking.clone();
        self.statements(SchedulerText::Served, &ranking.served, now, vc)
    }

    fn statements(
        &mut self,
        which: SchedulerText,
        program: &Program,
        now: Time,
        vc: Waiting,
    ) -> Result<(), Failed> {
        let ran = self.with_run(now, vc, |run| run.block(program, &program.body));
        ran.map(|_| ()).map_err(|failure| (which, failure))
    }

    /// The VC that goes: of `waiting`, in the order in which they go with equal ranks.
    pub(super) fn choose(&mut self, now: Time, waiting: &[Waiting]) -> Result<usize, Failed> {
        let ranking = self.scheduler.ranking.clone();
        let expression = ranking.rank();
        let fails = |failure| (SchedulerText::Rank, failure);
        let mut best: Option<(Value, usize)> = None;
        for &vc in waiting {
            let rank = self.with_run(now, vc, |run| run.value(&ranking.rank, expression));
            let rank = rank.map_err(fails)?;
            let is_smaller = match best {
                None => true,
                Some((smallest, _)) => order(rank, smallest)
                    .map_err(|why| {
                        let at = expression.at;
                        fails(Failure { why, at })
                    })?
                    .is_lt(),
            };
            if is_smaller {
                best = Some((rank, vc.local));
            }
        }
        Ok(best.expect("a VC waits").1)
    }

    fn with_run<T>(&mut self, now: Time, vc: Waiting, what: impl FnOnce(&mut Run<'_>) -> T) -> T {
        let share = self.shares[vc.local];
        let known = |name| match name {
            Known::Length => vc.length.into(),
            Known::Places => vc.places.into(),
            Known::Arrival => vc.arrival.into(),
            Known::Waiting => vc.cells.into(),
            Known::Weight => share.weight.into(),
            Known::Number => vc.local as i128,
            Known::ClassRank => share.class as i128,
            Known::Now => now.0.into(),
            other => unreachable!("{other:?} is no name of a scheduler"),
        };
        what(&mut Run {
            state: &mut self.state,
            vc: vc.local as u32,
            known: &known,
            draw: &mut || unreachable!("a scheduler does not draw"),
            locals: HashMap::new(),
        })
    }
}
