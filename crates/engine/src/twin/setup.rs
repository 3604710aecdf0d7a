//! Builds the twin of a run at its start.

use super::abr::{Meter, PacedQueue};
use super::ends::Ends;
use super::event::{Event, EventQueue};
use super::line::Line;
use super::nic::Nic;
use super::pool::pools;
use super::port::Port;
use super::processing::Processing;
use super::reassembly::Reassembly;
use super::shaper::Shaper;
use super::stage::SwitchStage;
use super::{Twin, Vc};
use crate::ground::flow::{Flow, FlowId};
use crate::ground::gathered::Gathered;
use crate::ground::rng::{Step, Stream};
use crate::ground::units::{Span, Time};
use crate::network::abr::{Sites, terms};
use crate::network::tally::{FlowTally, NicTally, Tally, VcTally};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Scenario, Timers};

/// Random draws of a replication.
#[derive(Clone, Copy)]
struct Draws<'a> {
    scenario: &'a Scenario,
    /// Number of the replication. `None` for a run as published: it draws only what every run
    /// draws, as replication 0.
    replication: Option<u64>,
}

impl Draws<'_> {
    fn stream(self, component: &str, purpose: &str) -> Stream {
        let replication = self.replication.unwrap_or(0);
        Stream::new(self.scenario.seed, replication, component, purpose)
    }

    /// An evenly spread part of `span` for this replication.
    fn spread(self, component: &str, purpose: &str, step: Step, span: Span) -> Span {
        let shared = Stream::new(self.scenario.seed, 0, component, purpose);
        let point = shared.spread(self.replication.unwrap_or(0), step);
        Span(point.below(span.0))
    }

    fn timer_phase(self, host: &str, granularity: Span) -> Span {
        let offset = self.stream(host, "timer-phase").below(0, granularity.0);
        match self.scenario.timers {
            Timers::Common => self.common_phase(granularity),
            Timers::Own => self.common_phase(granularity) + Span(offset),
        }
    }

    fn common_phase(self, granularity: Span) -> Span {
        if self.replication.is_some() && self.scenario.ensemble.timer_phase {
            self.spread("", "timer-phase", Step::Golden, granularity)
        } else {
            self.scenario.timer_phase
        }
    }

    fn tie_offset(self) -> u64 {
        if self.replication.is_some() && self.scenario.ensemble.tie_offset {
            self.stream("", "tie-offset").below(0, 1 << 32)
        } else {
            self.scenario.tie_offset
        }
    }

    fn start(self, vc: &crate::text::scenario::Vc) -> Time {
        let mut start = Time::ZERO + vc.start;
        if self.replication.is_some() {
            let drawn = &self.scenario.ensemble;
            let jitter = self.stream(&vc.name, "start");
            start += Span(jitter.below(0, drawn.start_jitter.0));
            if let (Some(period), true) = (vc.traffic.start_phase(), drawn.vbr_phase) {
                start += self.spread(&vc.name, "vbr-phase", Step::Silver, period);
            }
        }
        start
    }
}

impl<'a> Twin<'a> {
    /// A twin at the start of the run. With `replication`, random draws replace what
    /// `scenario.ensemble` names. Frames of the run may take `memory_limit` bytes.
    pub(crate) fn new(
        scenario: &'a Scenario,
        topology: Topology,
        replication: Option<u64>,
        memory_limit: Option<u64>,
    ) -> Twin<'a> {
        let draws = Draws {
            scenario,
            replication,
        };
        let stream = |component: &str, purpose: &str| draws.stream(component, purpose);
        let (links, flows) = (&scenario.links, topology.flows.len());
        let (vcs, mut events) = vcs(draws);
        let sites = Sites::new(scenario, &topology);
        let meters: Vec<Meter> = sites.all.iter().cloned().map(Meter::new).collect();
        for (site, meter) in meters.iter().enumerate() {
            if let Some(ends) = meter.begins() {
                events.add(ends, Event::IntervalEnd { site });
            }
        }
        for (link, spec) in links.iter().enumerate() {
            for change in &spec.changes {
                events.add(Time::ZERO + change.at, Event::Change { link });
            }
        }
        let line = |link| Line::new(link, scenario.format, stream(&link.name, "loss"));
        let port = |link: usize| {
            topology.switch_of[link].map(|_| Port::new(scenario, &topology, link, stream))
        };
        let mut twin = Twin {
            processing: Processing::new(scenario, &topology, stream),
            shapers: shapers(scenario, &topology),
            paced: paced(scenario, &topology),
            meters,
            sites,
            now: Time::ZERO,
            end: Time::ZERO + scenario.duration,
            events,
            vcs,
            frames: vec![Vec::new(); flows],
            outstanding: vec![Vec::new(); flows],
            lines: links.iter().map(line).collect(),
            nics: links.iter().map(|_| Nic::default()).collect(),
            switch_stages: switch_stages(draws, &topology),
            ports: (0..links.len()).map(port).collect(),
            pools: pools(scenario, &topology, |switch| stream(switch, "pool-tie")),
            reassembly: vec![Reassembly::default(); flows],
            tie_offset: draws.tie_offset(),
            tie_streams: links.iter().map(|l| stream(&l.name, "tie")).collect(),
            tally: Tally {
                link_cells: vec![0; links.len()],
                link_data_cells: vec![0; links.len()],
                link_lost: vec![0; links.len()],
                link_held: vec![0; links.len()],
                link_line_time: vec![Span::ZERO; links.len()],
                link_line_work: vec![0; links.len()],
                nics: vec![NicTally::default(); links.len()],
                flows: vec![FlowTally::default(); flows],
                vcs: vec![VcTally::default(); scenario.vcs.len()],
                digest: Some(0),
                ..Tally::default()
            },
            scenario,
            topology,
            memory_limit,
            gathered: Gathered::default(),
            watches: Vec::new(),
            stopped: None,
        };
        twin.begin_watches();
        twin
    }
}

/// Builds the VCs, and schedules the starts of their sources.
fn vcs(draws: Draws<'_>) -> (Vec<Vc>, EventQueue) {
    let mut events = EventQueue::new(draws.scenario.arrival_first);
    let measure = &draws.scenario.measure;
    let from = Time::ZERO + measure.warm_up;
    let measured = (from, measure.window.map_or(Time::NEVER, |w| from + w));
    let mut vcs = Vec::new();
    for (v, vc) in draws.scenario.vcs.iter().enumerate() {
        let stream = draws.stream(&vc.name, vc.traffic.name());
        let phase = |granularity| draws.timer_phase(&vc.from, granularity);
        let stop = vc.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        let active = [draws.start(vc), stop];
        let (ends, begins) = Ends::new(
            &vc.traffic,
            draws.scenario.format,
            active,
            measured,
            phase,
            stream,
        );
        if let Some(begins) = begins {
            events.add(begins, Event::Source { vc: v });
        }
        vcs.push(Vc {
            class: vc.class,
            ends,
            timers: [Time::NEVER; 2],
        });
    }
    (vcs, events)
}

/// By flow: its shaper.
fn shapers(scenario: &Scenario, topology: &Topology) -> Vec<Option<Shaper>> {
    let of = |flow: &Flow| {
        let shape = scenario.vcs[flow.vc].shape_of(flow.kind)?;
        Some(Shaper::new(shape, scenario.format))
    };
    topology.flows.iter().map(of).collect()
}

/// By flow: the end system that sends the flow, stored for flows of frames only. RM cells use that
/// of the frames in their direction.
fn paced(scenario: &Scenario, topology: &Topology) -> Vec<Option<PacedQueue>> {
    let flows = topology.flows.iter().zip(0..);
    let end = flows.map(|(flow, id)| {
        let abr = scenario.vcs[flow.vc].abr.as_ref();
        let abr = abr.filter(|_| !flow.kind.is_rm())?;
        Some(PacedQueue::new(terms(scenario, topology, abr, FlowId(id))))
    });
    end.collect()
}

/// By link into a switch: the processing behind it.
fn switch_stages(draws: Draws<'_>, topology: &Topology) -> Vec<Option<SwitchStage>> {
    let scenario = draws.scenario;
    let stage = |(link, crossing): (&crate::text::scenario::Link, &Vec<FlowId>)| {
        let into = scenario.switches.iter().find(|s| s.name == link.to)?;
        let of_flows = crossing.iter().map(|id| {
            let flow = &topology.flows[id.index()];
            let (kind, vc) = (flow.kind.name(), &scenario.vcs[flow.vc].name);
            let draws = draws.stream(&link.name, &format!("switch-{kind}-{vc}"));
            (*id, draws)
        });
        Some(SwitchStage::new(into.processing?, of_flows.collect()))
    };
    scenario
        .links
        .iter()
        .zip(&topology.crossing)
        .map(stage)
        .collect()
}
