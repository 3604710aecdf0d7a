//! Accounting of a run. Every cell that left a station is delivered, dropped, held or in transit;
//! other counters follow from these.

use crate::ground::delays::DelayTally;
use crate::ground::units::Span;
use crate::host::traffic::{FrameSource, Source};
use crate::network::cells::FramesAt;
use crate::network::fabric::{Hop, HopExtra, Next};
use crate::network::pool::PoolState;
use crate::network::tally::{
    DropReason, FlowTally, LinkDrops, PoolTally, SenderCounters, Tally, VcTally,
};
use crate::run::lock_step::Group;
use crate::run::simulation::Simulation;

impl Simulation {
    /// Brings all counters up to date at the end of the run.
    pub fn settle_all(&mut self) {
        let fabric = &mut self.fabric;
        for port in &mut self.ports {
            port.settle_at_end(fabric);
        }
        self.hosts.finish();
    }

    /// Checks at the end of the run that no cell was lost or created.
    ///
    /// # Panics
    /// If the counts do not balance.
    pub fn check(&self) {
        let fabric = &self.fabric;
        for ends in &self.hosts.flows {
            let (hop, extra) = self.hop(ends.first_hop as usize);
            let paced = ends.paced.filter(|_| !ends.kind.is_rm());
            let sink =
                &fabric.destinations.sinks[fabric.hops[ends.first_hop as usize].flow.index()];
            let shaped = ends.waiting_in_shaper();
            let shaped: u64 = shaped
                .map(|frame| u64::from(sink.size_of(frame).cells()))
                .sum();
            let waiting = paced.map_or(shaped, |at| self.hosts.paced[at as usize].waiting());
            assert_eq!(
                ends.cells_queued,
                hop.sent + extra.unsent + waiting,
                "cells lost or made at the NIC of VC {}",
                ends.vc
            );
        }
        let mut in_feeds = vec![0u64; fabric.hops.len()];
        for run in fabric.feeds.iter().flat_map(|feed| feed.runs()) {
            in_feeds[run.hop as usize] += u64::from(run.n);
        }
        for i in 0..fabric.hops.len() {
            let (hop, extra) = self.hop(i);
            let left = hop.sent - extra.dropped[DropReason::Link];
            let reached = match hop.next {
                Next::Host => {
                    fabric.destinations.sinks[hop.flow.index()].cells + extra.late.len() as u64
                }
                Next::Port { .. } => fabric.hops[i + 1].arrived + in_feeds[i + 1],
            };
            assert_eq!(
                left, reached,
                "cells lost or made between station {i} and the next"
            );
        }
        for port in &self.ports {
            port.tally(fabric).check();
        }
    }

    /// Counts of the pools.
    fn pool_tallies(&self) -> Vec<PoolTally> {
        let tally = |(group, pool): (&Group, &PoolState)| {
            let ports = group.ports.iter().map(|&port| &self.ports[port as usize]);
            let waits = ports.map(|port| port.place_time(self.fabric.end)).sum();
            // A rule has an input, even if no port takes part.
            let refusals = group.tie.refusals().into_iter().take(group.ports.len());
            pool.tally(refusals.map(|refusals| refusals.tied).collect(), waits)
        };
        self.groups
            .iter()
            .zip(&self.fabric.pools)
            .map(tally)
            .collect()
    }

    fn hop(&self, index: usize) -> (&Hop, &HopExtra) {
        (&self.fabric.hops[index], &self.fabric.extras[index])
    }

    /// Collects the counters of the run.
    pub fn tally(mut self) -> Tally {
        let vcs = self.vc_tallies();
        let fabric = &self.fabric;
        let mut tally = Tally {
            link_cells: vec![0; self.links],
            link_data_cells: vec![0; self.links],
            link_lost: vec![0; self.links],
            link_held: vec![0; self.links],
            link_line_time: vec![Span::ZERO; self.links],
            link_line_work: vec![0; self.links],
            ports: vec![None; self.links],
            pools: self.pool_tallies(),
            nics: self.hosts.nic_tallies(),
            flows: self.flow_tallies(),
            vcs,
            digest: fabric.observers.digest,
        };
        for port in &self.ports {
            let counts = port.tally(fabric);
            tally.link_line_time[port.link] = counts.line_time;
            tally.link_line_work[port.link] = counts.line_work;
            if port.can_queue {
                tally.ports[port.link] = Some(Box::new(counts));
            } else {
                tally.link_held[port.link] = counts.held;
            }
        }
        for i in 0..fabric.hops.len() {
            let (hop, extra) = self.hop(i);
            let lost = extra.dropped[DropReason::Link];
            let mut count = |link: u32, cells: u64| {
                tally.link_cells[link as usize] += cells;
                tally.link_data_cells[link as usize] += if hop.is_data { cells } else { 0 };
            };
            count(extra.link, hop.sent);
            for port in &extra.folded_ports {
                // Only late cells can still be at one of these ports: any other cell has passed all
                // of them.
                let after_end = |offset| {
                    let times = extra.late.iter().map(|&t| t + offset);
                    times.filter(|&t| t >= fabric.end).count() as u64
                };
                let unsent = after_end(port.leaves);
                let (link, sent) = (port.link as usize, hop.sent - lost - unsent);
                count(port.link, sent);
                tally.link_held[link] += unsent - after_end(port.arrives);
                let cut = extra
                    .late
                    .iter()
                    .filter(|&&t| t + port.leaves >= fabric.end);
                let cut = cut.map(|&t| fabric.end.since(t + port.arrives));
                let takes = port.leaves - port.arrives;
                tally.link_line_time[link] += cut.fold(takes * sent, |all, part| all + part);
            }
            tally.link_lost[extra.link as usize] += lost;
        }
        tally
    }

    fn flow_tallies(&self) -> Vec<FlowTally> {
        let fabric = &self.fabric;
        let under_way = self.frames_under_way();
        let flows = self
            .hosts
            .flows
            .iter()
            .zip(&fabric.destinations.sinks)
            .zip(under_way);
        let mut tallies: Vec<FlowTally> = flows
            .map(|((ends, sink), under_way)| FlowTally {
                frames_sent: ends.frames_sent,
                frames_delivered: sink.frames(),
                frames_damaged: sink.damaged(),
                frames_lost: ends.frames_sent - sink.frames() - under_way,
                cells_sent: fabric.hops[ends.first_hop as usize].sent,
                cells_delivered: sink.cells,
                cells_not_sent: ends.cells_queued - fabric.hops[ends.first_hop as usize].sent,
                cells_dropped: 0,
                cells_tagged: 0,
                drops: Vec::new(),
            })
            .collect();
        for (hop, extra) in fabric.hops.iter().zip(&fabric.extras) {
            let (link, dropped) = (extra.link as usize, extra.dropped);
            let tally = &mut tallies[hop.flow.index()];
            tally.cells_dropped += dropped.total();
            tally.cells_tagged += extra.tagged;
            if dropped.total() > 0 {
                tally.drops.push(LinkDrops { link, dropped });
            }
        }
        tallies
    }

    /// Number of frames of each flow with cells in the network.
    fn frames_under_way(&self) -> Vec<u64> {
        let fabric = &self.fabric;
        let mut at_ports = vec![FramesAt::default(); fabric.hops.len()];
        // At each hop, waiting cells precede those still in the feed.
        for run in self.ports.iter().flat_map(|port| port.waiting()) {
            let frames = FramesAt::of_cells(run.frame, run.n(), run.is_single());
            at_ports[run.hop as usize].join(frames);
        }
        for run in fabric.feeds.iter().flat_map(|feed| feed.runs()) {
            let frames = FramesAt::of_cells(run.frame, run.n, run.is_single());
            at_ports[run.hop as usize].join(frames);
        }
        // The hops of a flow have consecutive indices. Cells at later hops were sent first, hence
        // the reverse order.
        let mut flows = vec![FramesAt::default(); self.hosts.flows.len()];
        let hops = fabric.hops.iter().zip(&fabric.extras).zip(at_ports);
        for ((hop, extra), at_port) in hops.rev() {
            let flow = &mut flows[hop.flow.index()];
            flow.join(extra.left_over);
            flow.join(at_port);
        }
        for paced in &self.hosts.paced {
            let [flow, _] = paced.flows();
            for (frame, cells) in paced.queue() {
                flows[flow.index()].join(FramesAt::of_cells(frame, cells, false));
            }
        }
        for (flow, ends) in flows.iter_mut().zip(&self.hosts.flows) {
            for frame in ends.waiting_in_shaper() {
                flow.join(FramesAt::of_cells(frame, 1, false));
            }
        }
        flows.into_iter().map(|flow| flow.frames).collect()
    }

    /// Counts of each VC. Takes the delay distributions instead of copying them: with many VCs they
    /// are large.
    fn vc_tallies(&mut self) -> Vec<VcTally> {
        let sinks = &mut self.fabric.destinations.sinks;
        let (hosts, end) = (&self.hosts, self.fabric.end);
        let abr = |vc: &crate::host::Vc| {
            let of_flow = |flow: crate::ground::flow::FlowId| hosts.flows[flow.index()].paced;
            let ends = [vc.data, vc.ack].into_iter().filter_map(of_flow);
            ends.map(|at| hosts.paced[at as usize].tally(end)).collect()
        };
        let of = |vc: &crate::host::Vc| {
            let sink = &mut sinks[vc.data.index()];
            let delay = DelayTally::of(sink.measured_cells(), sink.delay);
            let bins = std::mem::take(&mut sink.bins);
            match &vc.source {
                Source::Frames(frames) => VcTally {
                    sender: frames.counters(),
                    transfers: frames.transfers().to_vec(),
                    back: frames.back(),
                    measured_bytes: vc.measured_bytes,
                    delivered_bytes: vc.delivered_bytes,
                    measured_line_bytes: vc.measured_line_bytes,
                    delay,
                    bins,
                    abr: abr(vc),
                },
                Source::Cells(source) => VcTally {
                    measured_bytes: sink.measured_cells() * source.payload_bytes,
                    delivered_bytes: sink.cells * source.payload_bytes,
                    measured_line_bytes: sink.measured_cells() * source.size.line_bytes(),
                    sender: SenderCounters::default(),
                    transfers: Vec::new(),
                    back: None,
                    delay,
                    bins,
                    abr: abr(vc),
                },
            }
        };
        self.hosts.vcs.iter().map(of).collect()
    }
}
