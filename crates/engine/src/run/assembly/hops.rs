//! Flows as chains of hops between stations, with the ports between them folded into latencies.

use super::Blueprint;
use crate::ground::flow::{Flow, FlowId};
use crate::ground::line_rate::{ChangingLine, LineTimes};
use crate::ground::units::{Span, Time};
use crate::network::abr::{FeedbackPoint, Marks};
use crate::network::capture::Captures;
use crate::network::cells::{FrameState, FramesAt};
use crate::network::fabric::{FlowStage, FoldedPort, Hop, HopExtra, Next};
use crate::network::loss::is_lossy;
use crate::network::observe::Observers;
use crate::network::processing::SwitchStage;
use crate::network::tally::DropCounts;

/// Processing stages of switches.
pub struct Stages {
    /// All stages.
    pub all: Vec<SwitchStage>,
    /// Per link: index of the stage behind it.
    of: Vec<Option<u32>>,
}

/// The hops of all flows.
pub struct Hops {
    /// Fields used for every cell.
    pub hops: Vec<Hop>,
    /// The less used part of each hop.
    pub extras: Vec<HopExtra>,
    /// Index of the first hop of each flow.
    pub first: Vec<u32>,
}

/// The path from one station to the next.
struct Leg {
    next: Next,
    latency: Span,
    folded_ports: Vec<FoldedPort>,
    stage: Option<FlowStage>,
    feedback_points: Vec<FeedbackPoint>,
    /// Index in the flow's path of the next station.
    next_at: usize,
}

impl Blueprint<'_> {
    /// Stages of switches with processing that is not constant, one per input link.
    pub fn switch_stages(&self) -> Stages {
        let mut all = Vec::new();
        let of = (0..self.net.scenario.links.len()).map(|number| {
            let switch = &self.net.scenario.switches[self.net.topology.enters[number]?];
            let delay = switch.processing.filter(|p| !p.is_constant())?;
            let link = &self.net.scenario.links[number].name;
            let crossing = self.net.topology.crossing[number].iter();
            let draws = crossing.map(|id| {
                let flow = &self.net.topology.flows[id.index()];
                let vc = &self.net.scenario.vcs[flow.vc].name;
                let purpose = format!("switch-{}-{vc}", flow.kind.name());
                self.draws.stream(link, &purpose)
            });
            all.push(SwitchStage::new(number, delay, draws.collect()));
            Some(all.len() as u32 - 1)
        });
        let of = of.collect();
        Stages { all, of }
    }

    /// Constant processing of the switch that `link` enters.
    fn entry(&self, link: usize) -> Span {
        let switch = self.net.topology.enters[link].map(|s| &self.net.scenario.switches[s]);
        let delay = switch.and_then(|s| s.processing);
        delay
            .filter(|processing| processing.is_constant())
            .map_or(Span::ZERO, |delay| delay.mean)
    }

    /// Cell time of `link` at the rate of time 0; of its longest cells if they differ.
    pub fn cell_ticks(&self, link: usize) -> Span {
        self.net.topology.cell_time(self.net.scenario, link)
    }

    /// Shortest time of a cell of `link`.
    pub fn shortest_ticks(&self, link: usize) -> Span {
        let shortest = self.net.topology.lengths[link].shortest;
        let scenario = self.net.scenario;
        let fastest = scenario.links[link].highest_rate();
        scenario.format.time_of(shortest, fastest)
    }

    /// Times of the cells of `link`, if they differ.
    pub fn line_times(&self, link: usize) -> Option<LineTimes> {
        let scenario = self.net.scenario;
        let (spec, format) = (&scenario.links[link], scenario.format);
        if spec.changes_rate() {
            return Some(LineTimes::Changing(Box::new(ChangingLine {
                rate: spec.rates(),
                format,
                end: Time::ZERO + scenario.duration,
            })));
        }
        let topology = &self.net.topology;
        let one_by_one = !topology.lengths[link].are_equal() || topology.pool_of(link).is_some();
        one_by_one.then(|| LineTimes::Lengths(format.cell_times(spec.rate)))
    }

    /// Builds the hops of all flows.
    pub fn hops(
        &self,
        stages: &Stages,
        observers: &Observers,
        captures: Option<&Captures>,
    ) -> Hops {
        let mut hops = Hops {
            hops: Vec::new(),
            extras: Vec::new(),
            first: Vec::new(),
        };
        for (flow, id) in self.net.topology.flows.iter().zip(0..) {
            hops.first.push(hops.hops.len() as u32);
            let mut at = 0;
            while at < flow.path.len() {
                let leg = self.leg((FlowId(id), flow), at, stages);
                let next_at = leg.next_at;
                let seen = (observers, captures);
                self.add_hop(&mut hops, FlowId(id), flow.path[at], leg, seen);
                at = next_at;
            }
        }
        hops
    }

    /// The leg from the station at index `at` of the flow's path to the next station, or to the
    /// host.
    fn leg(&self, (id, flow): (FlowId, &Flow), at: usize, stages: &Stages) -> Leg {
        let links = &self.net.scenario.links;
        let mut leg = Leg {
            next: Next::Host,
            latency: Span::ZERO,
            folded_ports: Vec::new(),
            stage: None,
            feedback_points: Vec::new(),
            next_at: at + 1,
        };
        loop {
            let from = flow.path[leg.next_at - 1];
            leg.latency += links[from].delay;
            let Some(&link) = flow.path.get(leg.next_at) else {
                return leg;
            };
            leg.latency += self.entry(from);
            if let Some(point) = self.feedback_point((id, flow), leg.next_at, leg.latency) {
                leg.feedback_points.push(point);
            }
            if let Some(port) = self.roles.port_of[link] {
                let input = self.net.topology.inputs[link].binary_search(&from);
                let input = input.expect("it feeds the port");
                let local = || self.net.topology.crossing[from].binary_search(&id);
                leg.stage = stages.of[from].map(|stage| FlowStage {
                    stage,
                    local: local().expect("it takes the link") as u32,
                });
                leg.next = Next::Port {
                    port: port as u32,
                    feed: (self.roles.first_feed[port] + input) as u32,
                    input: input as u32,
                };
                return leg;
            }
            // Cells find the port idle, so each takes one cell time (rounded up).
            let arrives = leg.latency;
            leg.latency += self.cell_ticks(link);
            leg.folded_ports.push(FoldedPort {
                link: link as u32,
                arrives,
                leaves: leg.latency,
            });
            leg.next_at += 1;
        }
    }

    /// Feedback that RM cells of a flow meet at index `at` of its path. `after` is the time since
    /// the departure from the previous station, used if that time is certain.
    fn feedback_point(
        &self,
        (id, flow): (FlowId, &Flow),
        at: usize,
        after: Span,
    ) -> Option<FeedbackPoint> {
        if !flow.kind.is_rm() {
            return None;
        }
        let is_station = self.roles.port_of[flow.path[at]].is_some();
        let point = FeedbackPoint {
            after: (!is_station).then_some(after),
            reports_to: self.sites.reports_to(&self.net.topology, id, at),
            feedback_from: self.sites.feedback_from(&self.net.topology, id, at),
            constant_marks: self.sites.constant_marks(&self.net.topology, id, at),
        };
        let does_nothing = point.reports_to.is_none()
            && point.feedback_from.is_none()
            && point.constant_marks == Marks::NONE;
        (!does_nothing).then_some(point)
    }

    fn add_hop(
        &self,
        hops: &mut Hops,
        flow: FlowId,
        link: usize,
        leg: Leg,
        (seen, captures): (&Observers, Option<&Captures>),
    ) {
        let of = &self.net.topology.flows[flow.index()];
        let local = self.net.topology.crossing[link].binary_search(&flow);
        let lossy = of.kind.is_data() && is_lossy(&self.net.scenario.links[link]);
        let shared = seen.link_shares.contains_key(&(link as u32));
        let captured = captures.is_some_and(|captures| {
            let through = leg.folded_ports.iter().map(|port| port.link);
            let mut links = through.chain([link as u32]);
            links.any(|link| captures.is_of(link, of.vc))
        });
        let only_logs = leg.stage.is_none()
            && !leg.feedback_points.is_empty()
            && !(lossy || shared || captured || seen.digest.is_some());
        let by_itself =
            leg.stage.is_some() || !leg.feedback_points.is_empty() || seen.digest.is_some();
        hops.hops.push(Hop {
            next: leg.next,
            latency: leg.latency,
            sent: 0,
            arrived: 0,
            frame_state: FrameState::default(),
            flow,
            local: local.expect("it takes the link") as u32,
            class: self.net.scenario.vcs[of.vc].class as u8,
            is_data: of.kind.is_data(),
            one_by_one: lossy || shared || captured || by_itself,
        });
        hops.extras.push(HopExtra {
            link: link as u32,
            stage: leg.stage,
            folded_ports: leg.folded_ports,
            feedback_points: leg.feedback_points,
            vc: of.vc,
            captured,
            lossy,
            can_leave_together: (lossy || shared || captured) && !by_itself,
            only_logs,
            loss: None,
            dropped: DropCounts::default(),
            refusals: 0,
            tagged: 0,
            unsent: 0,
            late: Vec::new(),
            left_over: FramesAt::default(),
        });
    }
}
