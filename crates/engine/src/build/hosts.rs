//! Hosts, VCs and the ends of their flows.

use super::Plan;
use super::draws::stop;
use super::hops::Hops;
use crate::abr;
use crate::flow::{Flow, FlowId, FlowKind};
use crate::host::traffic::Source;
use crate::host::{FlowEnds, Hosts, Nic, Paced, TransportStage, Vc};
use crate::processing::FrameStage;
use crate::units::Time;

impl Plan<'_> {
    /// All hosts.
    pub fn hosts(&self, hops: &Hops, end: Time, measured: (Time, Time)) -> Hosts {
        let scenario = self.scenario;
        let mut probes = self.vc_probes();
        let mut first_events = Vec::new();
        let vcs = scenario.vcs.iter().enumerate().map(|(index, spec)| {
            let (start, stop) = (self.draws.start(spec), stop(spec));
            let phase = |granularity| self.draws.timer_phase(&spec.from, granularity);
            let draws = || self.draws.stream(&spec.name, spec.traffic.name());
            let source = Source::new(&spec.traffic, [start, stop], measured, phase, draws);
            first_events.push(source.first_event(start, stop));
            let probe = probes.remove(&index);
            let probe = probe.map(|specs| self.vc_probe(index, &specs, &source));
            let [data, ack] = FlowKind::FRAMES.map(|kind| self.topology.flow(index, kind));
            Vc::new(data, ack, source, probe)
        });
        let vcs = vcs.collect();
        let flows = self.topology.flows.iter().zip(&hops.first);
        let paced = self.paced();
        let mut paced_of = vec![None; self.topology.flows.len()];
        for (place, paced) in paced.iter().enumerate() {
            for flow in paced.flows() {
                paced_of[flow.index()] = Some(place as u32);
            }
        }
        let flows = flows.zip(paced_of);
        let flows = flows.map(|((flow, &first), paced)| self.flow_ends(flow, first, paced));
        let nics = scenario.links.iter().map(|l| Nic::new(l.rate.cell_time()));
        let stages = scenario.hosts.iter();
        let stages =
            stages.map(|h| [(); 2].map(|()| h.processing.map(|p| Box::new(FrameStage::new(p)))));
        Hosts::new(
            vcs,
            first_events,
            flows.collect(),
            paced,
            nics.collect(),
            stages.collect(),
            end,
            measured,
        )
    }

    /// The ABR end systems, by the flow of frames that leaves them.
    fn paced(&self) -> Vec<Paced> {
        let mut all = Vec::new();
        for (flow, id) in self.topology.flows.iter().zip(0..) {
            let abr = self.scenario.vcs[flow.vc].abr.as_ref();
            if let Some(abr) = abr.filter(|_| !flow.kind.is_rm()) {
                let other = flow.kind.opposite();
                let own = |kind| self.topology.flow(flow.vc, kind);
                let sends = [FlowId(id), own(flow.kind.rm())];
                let takes = [own(other), own(other.rm())];
                let terms = abr::terms(self.scenario, self.topology, abr, FlowId(id));
                let is_alone = self.topology.crossing[flow.path[0]].len() == 2;
                all.push(Paced::new(terms, sends, takes, is_alone));
            }
        }
        all
    }

    fn flow_ends(&self, flow: &Flow, first_hop: u32, paced: Option<u32>) -> FlowEnds {
        let (scenario, topology) = (self.scenario, self.topology);
        let vc = &scenario.vcs[flow.vc];
        let what = flow.kind.name();
        let transport = |way: &str, host: usize| TransportStage {
            stage: vc
                .traffic
                .processing()
                .map(|p| Box::new(FrameStage::new(p))),
            draws: self
                .draws
                .stream(&vc.name, &format!("transport-{way}-{what}")),
            host_draws: self.draws.stream(
                &scenario.hosts[host].name,
                &format!("{way}-{what}-{}", vc.name),
            ),
        };
        // What answers uses the NIC of the flow back: it must serve nobody else.
        let other = match vc.traffic.answers() {
            true => flow.kind.opposite(),
            false => flow.kind,
        };
        let answers_on = topology.flows[topology.flow(flow.vc, other).index()].path[0];
        let at_once = topology.crossing[answers_on].len() == 1
            && vc.traffic.processing().is_none()
            && vc.abr.is_none()
            && scenario.hosts[flow.hosts[1]].processing.is_none();
        FlowEnds::new(
            flow.vc,
            flow.kind,
            first_hop,
            flow.path[0],
            flow.hosts,
            at_once,
            paced,
            transport("send", flow.hosts[0]),
            transport("receive", flow.hosts[1]),
        )
    }
}
