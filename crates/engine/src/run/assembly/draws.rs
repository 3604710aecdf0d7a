//! Random draws of a replication, applied to a scenario (model section 9), and the random streams
//! of components.

use crate::ground::rng::{Circle, Step, Stream};
use crate::ground::units::{Span, Time};
use crate::text::scenario::{Scenario, Timers, Vc};

/// Random draws of one run.
pub struct Draws<'a> {
    scenario: &'a Scenario,
    replication: Option<u64>,
}

impl<'a> Draws<'a> {
    /// Draws for `scenario` as published (`None`) or as a replication.
    pub fn new(scenario: &'a Scenario, replication: Option<u64>) -> Draws<'a> {
        Draws {
            scenario,
            replication,
        }
    }

    /// Random stream of `component` for `purpose`.
    pub fn stream(&self, component: &str, purpose: &str) -> Stream {
        let replication = self.replication.unwrap_or(0);
        Stream::new(self.scenario.seed, replication, component, purpose)
    }

    /// Evenly spread draw of the replication.
    fn spread(&self, component: &str, purpose: &str, step: Step) -> Circle {
        Stream::new(self.scenario.seed, 0, component, purpose)
            .spread(self.replication.unwrap_or(0), step)
    }

    /// Offset of the rotating tie order.
    pub fn tie_offset(&self) -> u64 {
        if self.replication.is_some() && self.scenario.ensemble.tie_offset {
            self.stream("", "tie-offset").below(0, 1 << 32)
        } else {
            self.scenario.tie_offset
        }
    }

    /// First tick at `host` of coarse timers with this granularity.
    pub fn timer_phase(&self, host: &str, granularity: Span) -> Span {
        let common = self.common_phase(granularity);
        match self.scenario.timers {
            Timers::Common => common,
            Timers::Own => common + self.own_phase(host, granularity),
        }
    }

    /// Offset of the ticks of `host`, if hosts have separate phases.
    fn own_phase(&self, host: &str, granularity: Span) -> Span {
        Span(self.stream(host, "timer-phase").below(0, granularity.0))
    }

    /// First tick common to all hosts.
    fn common_phase(&self, granularity: Span) -> Span {
        if self.replication.is_some() && self.scenario.ensemble.timer_phase {
            Span(
                self.spread("", "timer-phase", Step::Golden)
                    .below(granularity.0),
            )
        } else {
            self.scenario.timer_phase
        }
    }

    /// When the source of `vc` starts.
    pub fn start(&self, vc: &Vc) -> Time {
        let mut start = Time::ZERO + vc.start;
        if self.replication.is_some() {
            let ensemble = &self.scenario.ensemble;
            let jitter = ensemble.start_jitter.0;
            start += Span(self.stream(&vc.name, "start").below(0, jitter));
            if let Some(period) = vc.traffic.start_phase()
                && ensemble.vbr_phase
            {
                let phase = self.spread(&vc.name, "vbr-phase", Step::Silver);
                start += Span(phase.below(period.0));
            }
        }
        start
    }
}

/// When the source of `vc` stops, or [`Time::NEVER`]. The stop is never random.
pub fn stop(vc: &Vc) -> Time {
    vc.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop)
}
