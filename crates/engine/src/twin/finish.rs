//! Counters of the twin at the end of the run, and the check that no cell is unaccounted for.

use super::*;

impl Twin<'_> {
    /// Counters of the run, including the digest.
    ///
    /// # Panics
    /// If the cell counts do not balance.
    pub(crate) fn finish(mut self) -> Tally {
        self.now = self.end;
        let mut held = vec![0u64; self.frames.len()];
        for port in self.ports.iter_mut().flatten() {
            port.finish(self.end);
            port.waiting().for_each(|c| held[c.flow.index()] += 1);
        }
        // A cell that waits or is in service at a port is held there. A cell that was sent and has
        // not reached the next place is in transit.
        for (link, line) in self.lines.iter().enumerate() {
            if let Some((cell, _)) = line.in_service
                && let Some(port) = &mut self.ports[link]
            {
                held[cell.flow.index()] += 1;
                port.transmits(line, self.end);
            }
        }
        for (cell, from) in self.events.cells_on_their_way(&self.topology) {
            let being_sent = self.lines[from]
                .in_service
                .is_some_and(|(c, _)| is_same_cell(c, cell));
            held[cell.flow.index()] += u64::from(!being_sent);
        }
        for (link, nic) in self.nics.iter().enumerate() {
            let sending = self.lines[link].in_service.iter().map(|(cell, _)| cell);
            let sending = sending.filter(|_| self.ports[link].is_none());
            for cell in nic.waiting().chain(sending) {
                self.tally.flows[cell.flow.index()].cells_not_sent += 1;
            }
        }
        for (flow, shaper) in self.shapers.iter().enumerate() {
            self.tally.flows[flow].cells_not_sent += shaper.as_ref().map_or(0, Shaper::cells);
        }
        for (flow, paced) in self.paced.iter().enumerate() {
            let Some(paced) = paced else { continue };
            self.tally.flows[flow].cells_not_sent += paced.cells();
            let vc = self.topology.flows[flow].vc;
            self.tally.vcs[vc]
                .abr
                .push(paced.end.tally(self.end, paced.cells()));
        }
        for (tally, vc) in self.tally.vcs.iter_mut().zip(&self.vcs) {
            tally.sender = vc.ends.counters();
            tally.transfers = vc.ends.transfers();
            tally.back = vc.ends.back();
        }
        for ((count, held), flow) in self.tally.flows.iter().zip(held).zip(&self.topology.flows) {
            assert_eq!(
                count.cells_sent,
                count.cells_delivered + count.cells_dropped + held,
                "cells of VC {}, {:?}",
                flow.vc,
                flow.kind
            );
        }
        for switch in 0..self.pools.len() {
            self.count_pool(switch);
        }
        self.tally.ports = (0..self.ports.len())
            .map(|link| {
                let tally = self.ports[link].take()?.tally;
                self.tally.link_line_time[link] = tally.line_time;
                self.tally.link_line_work[link] = tally.line_work;
                if can_queue(self.scenario, &self.topology, link) {
                    return Some(Box::new(tally));
                }
                self.tally.link_held[link] = tally.held;
                None
            })
            .collect();
        let pools = self.pools.into_iter().flatten();
        self.tally.pools = pools.map(|pool| pool.tally).collect();
        self.tally
    }
}

fn is_same_cell(a: Cell, b: Cell) -> bool {
    (a.flow, a.frame, a.index) == (b.flow, b.frame, b.index)
}

/// Whether cells can wait at the port of `link` (model section 6).
pub(super) fn can_queue(scenario: &Scenario, topology: &Topology, link: usize) -> bool {
    use crate::text::scenario::ProcessingKind;
    let input = match topology.inputs[link][..] {
        [] => return false,
        [input] => input,
        _ => return true,
    };
    // The shortest cell may follow the longest one.
    let lengths = topology.lengths[link];
    let rates = |link: usize| {
        let link = &scenario.links[link];
        let changes = link.changes.iter().map(|change| change.rate);
        changes.chain([link.rate])
    };
    let time = |bytes, rate| scenario.format.time_of(bytes, rate);
    let fastest = rates(input).max().expect("a rate");
    let slowest = rates(link).min().expect("a rate");
    if slowest.0 == 0 {
        return true;
    }
    let spacing = time(lengths.shortest, fastest);
    let service = time(lengths.longest, slowest);
    let switch = topology.switch_of[link].expect("a port leaves a switch");
    let bunches = scenario.switches[switch]
        .processing
        .is_some_and(|p| p.kind == ProcessingKind::Server || p.spread > Span::ZERO);
    let crossing = topology.flows.iter().filter(|f| f.path.contains(&link));
    let mut classes: Vec<Class> = crossing.map(|f| scenario.vcs[f.vc].class).collect();
    classes.dedup();
    let refuses = classes.iter().any(|&class| {
        let queue = topology.queue(scenario, link, class);
        let k = topology.places(scenario, link, class);
        let policy = Policy::new(&queue.drop, k, &[], Span::ZERO, scenario.format.clock);
        let longest = topology.place(scenario, link).of(lengths.longest);
        queue.police.is_some() || policy.smallest_refusal() == 0 || k.is_some_and(|k| k < longest)
    });
    spacing < service || bunches || refuses || classes.iter().any(|&c| c != classes[0])
}
