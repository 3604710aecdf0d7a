//! The public interface to a run: as a whole, or step by step.

use crate::about::memory;
use crate::ground::format::Clock;
use crate::ground::units::Time;
use crate::network::capture::{About, FilePart, Origin};
use crate::network::tally::Tally;
use crate::run::assembly::build;
use crate::run::resolved::Resolved;
use crate::run::results::{self, RunResult};
use crate::run::series::{Dropped, Series, name_series};
use crate::run::simulation::Simulation;
use crate::text::options::{Kernel, Options, RunError};
use crate::text::scenario::Scenario;
use crate::twin::Twin;
use std::sync::atomic::AtomicBool;

/// Runs `scenario` as published (`None`) or as replication number r of an ensemble.
///
/// # Errors
/// See [`RunError`]. `cancel` is checked every few thousand cells.
pub fn run(
    scenario: &Scenario,
    replication: Option<u64>,
    options: &Options,
    cancel: &AtomicBool,
) -> Result<RunResult, RunError> {
    let whole = Options {
        pause_above: None,
        captures: None,
        ..*options
    };
    let mut session = Session::new(scenario, replication, &whole)?;
    session.advance_until(Time::NEVER, cancel)?;
    Ok(session.finish())
}

/// A run in progress. Pausing at any time changes no result.
pub struct Session<'a> {
    net: Resolved<'a>,
    replication: Option<u64>,
    engine: Engine<'a>,
    digest: bool,
    /// Everything before this time has happened.
    reached: Time,
}

enum Engine<'a> {
    Fast(Box<Simulation>),
    Twin(Box<Twin<'a>>),
}

impl<'a> Session<'a> {
    /// A run at its start.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn new(
        scenario: &'a Scenario,
        replication: Option<u64>,
        options: &Options,
    ) -> Result<Session<'a>, RunError> {
        let net = Resolved::new(scenario).map_err(RunError::Scenario)?;
        memory::check(&net, options)?;
        let engine = if options.kernel == Kernel::Twin {
            let memory_limit = options.memory_left();
            Engine::Twin(Box::new(Twin::new(
                scenario,
                net.topology.clone(),
                replication,
                memory_limit,
            )))
        } else {
            Engine::Fast(Box::new(build(&net, replication, options)?))
        };
        Ok(Session {
            net,
            replication,
            engine,
            digest: options.digest,
            reached: Time::ZERO,
        })
    }

    /// Clock that counts the time of the run.
    pub fn clock(&self) -> Clock {
        self.net.scenario.format.clock
    }

    /// End of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.net.scenario.duration
    }

    /// Everything before this time has happened.
    pub fn reached(&self) -> Time {
        self.reached
    }

    /// Advances until nothing is left to do before `until`, or the run ends. Returns the earliest
    /// time of pending work, at most the end.
    ///
    /// The run pauses earlier when the data it holds reach the limit `pause_above` of the options.
    /// `cancel` is checked every few thousand cells.
    ///
    /// # Errors
    /// - [`RunError::Cancelled`].
    /// - [`RunError::Points`] if the probes have recorded too much.
    /// - [`RunError::Grown`] if gathered data take too much memory.
    /// - [`RunError::Overdue`] if more waits than could leave before [`Time::LATEST`].
    pub fn advance_until(&mut self, until: Time, cancel: &AtomicBool) -> Result<Time, RunError> {
        let reached = match &mut self.engine {
            Engine::Fast(simulation) => simulation.advance_until(until, cancel),
            Engine::Twin(twin) => twin.advance_until(until, cancel),
        };
        self.reached = reached.map_err(|stop| stop.into_run_error(self.net.scenario))?;
        Ok(self.reached)
    }

    /// Records of the probes since the last call, under their names: series in the order of the
    /// probes, traced drops ordered by time and port over all calls.
    ///
    /// Two things come with a later call: the last point of each series, which may still change,
    /// and drops that others may still precede. Drained data are not in the result of
    /// [`Session::finish`]. The twin records only envelopes, and these cannot be drained.
    pub fn drain(&mut self) -> (Vec<Series>, Vec<Dropped>) {
        match &mut self.engine {
            Engine::Fast(simulation) => {
                simulation.drain(self.net.scenario, &self.net.topology, Some(self.reached))
            }
            Engine::Twin(_) => Default::default(),
        }
    }

    /// The next part of each capture file, in the order of the scenario's probes: everything since
    /// the last call, and after the end of the run all of the rest.
    ///
    /// Empty unless the options ask for captures, and always empty for the twin.
    pub fn captured(&mut self, about: &About<'_>) -> Vec<FilePart> {
        let origin = Origin {
            scenario: self.net.scenario,
            topology: &self.net.topology,
            replication: self.replication,
            about,
        };
        match &mut self.engine {
            Engine::Fast(simulation) => simulation.captured(&origin, self.reached),
            Engine::Twin(_) => Vec::new(),
        }
    }

    /// Result of a run that has reached its end.
    ///
    /// # Panics
    /// If the run has not reached its end, or the books do not balance.
    pub fn finish(mut self) -> RunResult {
        let (series, trace) = match &mut self.engine {
            Engine::Fast(simulation) => {
                simulation.finish_probes();
                simulation.drain(self.net.scenario, &self.net.topology, None)
            }
            Engine::Twin(twin) => {
                let found = twin.envelopes().into_iter();
                let series =
                    found.map(|found| name_series(found, self.net.scenario, &self.net.topology));
                (series.collect(), Vec::new())
            }
        };
        let replication = self.replication;
        let (net, tally) = self.counted();
        results::assemble(
            net.scenario,
            &net.topology,
            replication,
            &tally,
            series,
            trace,
        )
    }

    /// The network, and the plain counters at the end of the run.
    ///
    /// # Panics
    /// See [`Session::finish`].
    pub(crate) fn counted(self) -> (Resolved<'a>, Tally) {
        assert!(self.reached >= self.end(), "the run has not ended");
        let mut tally = match self.engine {
            Engine::Fast(mut simulation) => {
                simulation.settle_all();
                simulation.check();
                simulation.tally()
            }
            Engine::Twin(twin) => twin.finish(),
        };
        tally.digest = tally.digest.filter(|_| self.digest);
        (self.net, tally)
    }
}
