//! Probes of everything that can be recorded in a network.

use super::build::probe;
use cellyard_engine::scenario::*;
use cellyard_engine::units::Span;

/// Probes of everything that can be recorded.
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
    let sampled = |p: Probe| {
        [
            Probe {
                interval,
                ..p.clone()
            },
            p,
        ]
    };
    of_links
        .chain(of_vcs)
        .chain(of_pools(scenario).into_iter().flat_map(sampled))
        .chain(envelopes(scenario, interval))
        .chain(captures(scenario))
        .collect()
}

/// What can be recorded of pools: what is in use, and thresholds.
fn of_pools(scenario: &Scenario) -> Vec<Probe> {
    let pooled = scenario.switches.iter().filter(|s| s.pool.is_some());
    let mut found = Vec::new();
    for switch in pooled {
        found.push(probe(Observable::Pool, &switch.name, None));
        for link in scenario.links.iter().filter(|l| l.from == switch.name) {
            // The first queue of a class is the one that the port has.
            for class in Class::ALL {
                let mut queues = link.queues.iter().chain(&switch.queues);
                let queue = queues.find(|queue| queue.class == class);
                found.extend(queue.filter(|q| q.alpha.is_some()).map(|_| Probe {
                    class: Some(class),
                    ..probe(Observable::Threshold, &link.name, None)
                }));
            }
        }
    }
    found
}

/// The captures of every link and host.
pub fn captures(scenario: &Scenario) -> Vec<Probe> {
    let capture = |layer, of: &str| Probe {
        layer: Some(layer),
        ..Probe::new(Observable::Capture, of)
    };
    let links = scenario.links.iter();
    let of_links =
        links.flat_map(|l| [Layer::Cells, Layer::Frames].map(|layer| capture(layer, &l.name)));
    let hosts = scenario.hosts.iter();
    let of_hosts = hosts.map(|host| capture(Layer::Segments, &host.name));
    of_links.chain(of_hosts).collect()
}

/// Envelopes of everything that has one.
pub fn envelopes(scenario: &Scenario, interval: Option<Span>) -> Vec<Probe> {
    let of = |what, name: &str| Probe {
        envelope: interval,
        ..probe(what, name, None)
    };
    let of_switches = |l: &&Link| scenario.switches.iter().any(|s| s.name == l.from);
    let of_links = scenario.links.iter().filter(of_switches).flat_map(|l| {
        let of_vcs = scenario.vcs.iter().map(|vc| Probe {
            vc: Some(vc.name.clone()),
            ..of(Observable::Queue, &l.name)
        });
        let of_classes = Class::ALL.map(|class| Probe {
            class: Some(class),
            ..of(Observable::Queue, &l.name)
        });
        let whats = [
            Observable::Queue,
            Observable::AverageQueue,
            Observable::Credit,
        ];
        whats
            .map(|what| of(what, &l.name))
            .into_iter()
            .chain(of_classes)
            .chain(of_vcs)
            .collect::<Vec<_>>()
    });
    let of_vcs = scenario.vcs.iter().flat_map(|vc| {
        let of_tcp = [
            Observable::Cwnd,
            Observable::Ssthresh,
            Observable::Acknowledged,
            Observable::Flight,
            Observable::Rto,
        ];
        let tcp = matches!(vc.traffic, Traffic::Tcp(_));
        let of_tcp = of_tcp.into_iter().filter(move |_| tcp);
        let has_abr = vc.abr.is_some();
        let of_abr = [Observable::Acr, Observable::HostQueue].into_iter();
        let of_abr = of_abr.filter(move |_| has_abr);
        let frames = tcp || matches!(vc.traffic, Traffic::Udp(_));
        let of_frames = [Observable::Delivered].into_iter();
        let of_frames = of_frames.filter(move |_| frames);
        let whats = of_tcp.chain(of_abr).chain(of_frames);
        whats.map(|what| of(what, &vc.name)).collect::<Vec<_>>()
    });
    let with_envelope = |probe| Probe {
        envelope: interval,
        ..probe
    };
    let of_pools = of_pools(scenario).into_iter().map(with_envelope);
    of_links.chain(of_vcs).chain(of_pools).collect()
}
