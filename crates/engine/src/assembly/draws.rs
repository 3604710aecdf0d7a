//! What a replication draws, applied to a scenario (model section 9), and the streams of its parts.

use crate::rng::{Circle, Step, Stream};
use crate::scenario::{Scenario, Timers, Vc};
use crate::units::{Span, Time};

/// The draws of one run.
pub struct Draws<'a> {
    scenario: &'a Scenario,
    replication: Option<u64>,
}

impl<'a> Draws<'a> {
    /// Those of `scenario` as stated (`None`) or as a replication.
    pub fn new(scenario: &'a Scenario, replication: Option<u64>) -> Draws<'a> {
        Draws {
            scenario,
            replication,
        }
    }

    /// The stream of `component` for `purpose`.
    pub fn stream(&self, component: &str, purpose: &str) -> Stream {
        let replication = self.replication.unwrap_or(0);
        Stream::new(self.scenario.seed, replication, component, purpose)
    }

    /// The replication's evenly spread draw.
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

    /// First tick of coarse timers of such a granularity at `host`.
    pub fn timer_phase(&self, host: &str, granularity: Span) -> Span {
        let common = self.common_phase(granularity);
        match self.scenario.timers {
            Timers::Common => common,
            Timers::Own => common + self.own_phase(host, granularity),
        }
    }

    /// By how much the ticks of `host` are later, where hosts have phases of their own.
    fn own_phase(&self, host: &str, granularity: Span) -> Span {
        Span(self.stream(host, "timer-phase").below(0, granularity.0))
    }

    /// First tick of those that all hosts have in common.
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

/// When the source of `vc` stops, which nothing draws; [`Time::NEVER`] for not at all.
pub fn stop(vc: &Vc) -> Time {
    vc.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop)
}
