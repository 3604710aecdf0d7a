//! Probes of all that can be watched in a network.

use super::build::probe;
use cellyard_engine::scenario::*;
use cellyard_engine::units::Span;

/// Everything that can be watched.
pub fn probes(scenario: &Scenario) -> Vec<Probe> {
    let interval = Some(Span(scenario.duration.0 / 7 + 1));
    let of_switches = |l: &&Link| scenario.switches.iter().any(|s| s.name == l.from);
    let of_links = scenario.links.iter().filter(of_switches).flat_map(|l| {
        [
            probe(Observable::Queue, &l.name, None),
            probe(Observable::Queue, &l.name, interval),
            probe(Observable::Queue, &l.name, Some(scenario.duration)),
            probe(Observable::AverageQueue, &l.name, None),
            probe(Observable::AverageQueue, &l.name, interval),
            probe(Observable::Credit, &l.name, None),
            probe(Observable::Credit, &l.name, interval),
            probe(Observable::LinkShare, &l.name, interval),
            probe(Observable::Drops, &l.name, interval),
        ]
    });
    let of_vcs = scenario.vcs.iter().flat_map(|vc| {
        let tcp = matches!(vc.traffic, Traffic::Tcp(_));
        let always = [
            probe(Observable::Trace, &vc.name, None),
            probe(Observable::Goodput, &vc.name, interval),
        ];
        let of_tcp = [
            probe(Observable::Cwnd, &vc.name, None),
            probe(Observable::Cwnd, &vc.name, interval),
            probe(Observable::Ssthresh, &vc.name, interval),
            probe(Observable::Sequence, &vc.name, None),
            probe(Observable::Acknowledged, &vc.name, None),
            probe(Observable::Flight, &vc.name, interval),
            probe(Observable::Rtt, &vc.name, None),
            probe(Observable::Rto, &vc.name, None),
            probe(Observable::Delivered, &vc.name, interval),
        ];
        let of_abr = [
            probe(Observable::Acr, &vc.name, None),
            probe(Observable::HostQueue, &vc.name, None),
            probe(Observable::HostQueue, &vc.name, interval),
        ];
        let has_abr = vc.abr.is_some();
        always
            .into_iter()
            .chain(of_tcp.into_iter().filter(move |_| tcp))
            .chain(of_abr.into_iter().filter(move |_| has_abr))
    });
    of_links.chain(of_vcs).collect()
}
