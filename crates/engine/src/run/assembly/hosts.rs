//! Hosts, VCs and the ends of their flows.

use super::Blueprint;
use super::draws::stop;
use super::hops::Hops;
use super::lookahead::Lookaheads;
use crate::ground::flow::{Flow, FlowId, FlowKind};
use crate::ground::units::Time;
use crate::host::traffic::Source;
use crate::host::{
    FlowEnds, FlowStages, HostParts, Hosts, Nic, PacedQueue, Shaper, ShortestTimes, Vc,
};
use crate::network::abr;
use crate::network::processing::FrameStage;

impl Blueprint<'_> {
    /// Builds all hosts.
    pub fn hosts(
        &self,
        hops: &Hops,
        lookaheads: &Lookaheads,
        end: Time,
        measured: (Time, Time),
    ) -> Hosts {
        let scenario = self.net.scenario;
        let mut probes = self.vc_probes();
        let mut first_events = Vec::new();
        let vcs = scenario.vcs.iter().enumerate().map(|(index, spec)| {
            let (start, stop) = (self.draws.start(spec), stop(spec));
            let phase = |granularity| self.draws.timer_phase(&spec.from, granularity);
            let draws = || self.draws.stream(&spec.name, spec.traffic.name());
            let source = Source::new(
                &spec.traffic,
                scenario.format,
                [start, stop],
                measured,
                phase,
                draws,
            );
            first_events.push(source.first_event(start, stop));
            let probe = probes.remove(&index);
            let probe = probe.map(|specs| self.vc_probe(index, &specs, &source));
            let [data, ack] = FlowKind::FRAMES.map(|kind| self.net.topology.flow(index, kind));
            Vc::new(data, ack, source, probe)
        });
        let vcs = vcs.collect();
        let flows = self.net.topology.flows.iter().zip(&hops.first);
        let paced = self.paced(&lookaheads.of_flows);
        let mut paced_of = vec![None; self.net.topology.flows.len()];
        for (place, paced) in paced.iter().enumerate() {
            for flow in paced.flows() {
                paced_of[flow.index()] = Some(place as u32);
            }
        }
        let flows = flows.zip(paced_of);
        let at_hosts = self.flows_at_hosts();
        let flows =
            flows.map(|((flow, &first), paced)| self.flow_ends(flow, first, paced, &at_hosts));
        let mut has_shapers = vec![false; scenario.links.len()];
        for flow in &self.net.topology.flows {
            has_shapers[flow.path[0]] |= scenario.vcs[flow.vc].shape_of(flow.kind).is_some();
        }
        let nics = has_shapers.into_iter().enumerate();
        let nics = nics.map(|(link, has_shapers)| {
            let longest = self.net.topology.lengths[link].longest;
            let cell = (longest, self.cell_ticks(link));
            Nic::new(cell, self.line_times(link), has_shapers)
        });
        let stages = scenario.hosts.iter();
        let stages =
            stages.map(|h| [(); 2].map(|()| h.processing.map(|p| Box::new(FrameStage::new(p)))));
        Hosts::new(HostParts {
            vcs,
            first_events,
            flows: flows.collect(),
            paced,
            nics: nics.collect(),
            stages: stages.collect(),
            end,
            measured,
            host_to_host: lookaheads.distances.host_to_host,
        })
    }

    /// Builds the ABR end systems, in the order of the flows of frames that leave them.
    fn paced(&self, times: &[ShortestTimes]) -> Vec<PacedQueue> {
        let mut all = Vec::new();
        for (flow, id) in self.net.topology.flows.iter().zip(0..) {
            let abr = self.net.scenario.vcs[flow.vc].abr.as_ref();
            if let Some(abr) = abr.filter(|_| !flow.kind.is_rm()) {
                let other = flow.kind.opposite();
                let flow_of = |kind| self.net.topology.flow(flow.vc, kind);
                let sends = [FlowId(id), flow_of(flow.kind.rm())];
                let takes = [flow_of(other), flow_of(other.rm())];
                let terms = abr::terms(self.net.scenario, &self.net.topology, abr, FlowId(id));
                let is_alone = self.net.topology.crossing[flow.path[0]].len() == 2;
                all.push(PacedQueue::new(
                    terms,
                    sends,
                    takes,
                    is_alone,
                    [sends[1], takes[1]].map(|rm| times[rm.index()]),
                ));
            }
        }
        all
    }

    /// Per host: the number of flows that begin there, and that end there.
    fn flows_at_hosts(&self) -> Vec<[usize; 2]> {
        let mut flows_at = vec![[0; 2]; self.net.scenario.hosts.len()];
        for flow in &self.net.topology.flows {
            for (way, &host) in flow.hosts.iter().enumerate() {
                flows_at[host][way] += 1;
            }
        }
        flows_at
    }

    fn flow_ends(
        &self,
        flow: &Flow,
        first_hop: u32,
        paced: Option<u32>,
        at_hosts: &[[usize; 2]],
    ) -> FlowEnds {
        let (scenario, topology) = (self.net.scenario, &self.net.topology);
        let vc = &scenario.vcs[flow.vc];
        let what = flow.kind.name();
        let stages = |way: &str, host: usize| FlowStages {
            transport: vc.traffic.processing().map(|spec| {
                let purpose = format!("transport-{way}-{what}");
                let draws = self.draws.stream(&vc.name, &purpose);
                Box::new((FrameStage::new(spec), draws))
            }),
            host_draws: scenario.hosts[host].processing.map(|_| {
                let purpose = format!("{way}-{what}-{}", vc.name);
                self.draws.stream(&scenario.hosts[host].name, &purpose)
            }),
        };
        // The answering flow uses the NIC and the stages of the way back, which must serve no other
        // flow.
        let other = match vc.traffic.answers() {
            true => flow.kind.opposite(),
            false => flow.kind,
        };
        let other = &topology.flows[topology.flow(flow.vc, other).index()];
        // Whether no other flow passes the stage of the host where a flow begins, or ends.
        let is_alone = |flow: &Flow, way: usize| {
            let host = flow.hosts[way];
            scenario.hosts[host].processing.is_none() || at_hosts[host][way] == 1
        };
        let sends_alone = |flow: &Flow| {
            vc.abr.is_none()
                && vc.shape_of(flow.kind).is_none()
                && topology.crossing[flow.path[0]].len() == 1
                && is_alone(flow, 0)
        };
        let [from, to] = flow.hosts;
        let stages = [stages("send", from), stages("receive", to)];
        let mut ends = FlowEnds::new(flow, first_hop, stages);
        ends.can_handle_ahead = sends_alone(other) && is_alone(flow, 1);
        ends.sends_alone = sends_alone(flow);
        ends.paced = paced;
        ends.leaves_plainly = paced.is_none() && !scenario.links[flow.path[0]].changes_rate();
        let shape = vc.shape_of(flow.kind);
        ends.shaper = shape.map(|shape| Box::new(Shaper::new(shape, scenario.format)));
        ends
    }
}
