//! How soon something unknown can arrive at each port: the shortest times between ports, also through hosts that answer.

use super::Plan;
use super::hops::Hops;
use crate::fabric::Next;
use crate::port::Lookahead;
use crate::units::Span;
use rustc_hash::FxHashMap;

/// The look-ahead of a network.
pub struct Ahead {
    /// Per port.
    pub of_ports: Vec<Lookahead>,
    /// Shortest time from an arrival at any port to the delivery of a frame at a host.
    pub to_host: Span,
    /// Shortest time from an event at a host to the delivery at any host of what it sends.
    pub host_to_host: Span,
    /// Shortest time from an event at a host until a cell that it sends is at a port, or an RM cell at a place where it tells something or is told.
    pub to_told: Span,
}

/// A host that sends to a port, or receives from one (`None`: from a host directly), and how long a cell takes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Reach<P> {
    host: usize,
    port: P,
    takes: Span,
}

/// The shortest times between hosts and ports.
pub fn lookahead(plan: &Plan<'_>, hops: &Hops) -> Ahead {
    let ports = plan.roles.links_of_ports.len();
    let nothing = Lookahead {
        from_hosts: Span::FOREVER,
        from_ports: Vec::new(),
    };
    let mut of_ports = vec![nothing; ports];
    let mut after = Vec::new();
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    let (mut to_host, mut host_to_host) = (Span::FOREVER, Span::FOREVER);
    let mut to_told = Span::FOREVER;
    for (flow, &first) in plan.topology.flows.iter().zip(&hops.first) {
        let first = first as usize;
        let last = (first..)
            .find(|&i| hops.hops[i].next == Next::Host)
            .expect("every flow ends at a host");
        let vc = &plan.scenario.vcs[flow.vc];
        let answers = vc.traffic.answers() || vc.abr.is_some();
        // From the last station back: the shortest time to the host.
        let mut ahead = Span::ZERO;
        for i in (first..=last).rev() {
            let hop = &hops.hops[i];
            let link = hops.extras[i].link as usize;
            let from = plan.roles.port_of[link];
            let takes = plan.cell_ticks(link) + hop.latency;
            ahead += takes;
            // What a backward RM cell is told at a place must be known when the cell is delivered.
            for passing in &hops.extras[i].passings {
                if let (Some(after), Some(_)) = (passing.after, passing.tells) {
                    to_host = to_host.min(ahead - plan.cell_ticks(link) - after);
                }
                if let (Some(after), None) = (passing.after, from) {
                    to_told = to_told.min(plan.cell_ticks(link) + after);
                }
            }
            if from.is_some() {
                to_host = to_host.min(ahead);
            }
            match (hop.next, from) {
                (Next::Port { port, .. }, Some(from)) => {
                    after.push(After {
                        port: port as usize,
                        from,
                        takes,
                    });
                }
                (Next::Port { port, .. }, None) => {
                    let from_hosts = &mut of_ports[port as usize].from_hosts;
                    *from_hosts = takes.min(*from_hosts);
                    to_told = to_told.min(takes);
                    let host = plan.topology.host_of[link];
                    sends.push(Reach {
                        host: host.expect("what is no port leaves a host"),
                        port: port as usize,
                        takes,
                    });
                }
                // What nobody answers causes nothing.
                (Next::Host, _) if !answers => {}
                (Next::Host, from) => receives.push(Reach {
                    host: flow.hosts[1],
                    port: from,
                    takes,
                }),
            }
        }
        host_to_host = host_to_host.min(ahead);
    }
    let hosts = plan.scenario.hosts.len();
    sends.sort_unstable();
    sends.dedup_by_key(|send| (send.host, send.port));
    answer_times(&mut after, &sends, &receives, [ports, hosts]);
    keep_shortest(&mut of_ports, after);
    Ahead {
        of_ports,
        to_host,
        host_to_host,
        to_told,
    }
}

/// What arrives at the port `from` may cause something to arrive at `port`, after the time that it takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct After {
    port: usize,
    from: usize,
    takes: Span,
}

/// Notes the shortest time between each two ports.
fn keep_shortest(of_ports: &mut [Lookahead], mut after: Vec<After>) {
    after.sort_unstable();
    after.dedup_by_key(|a| (a.port, a.from));
    for After { port, from, takes } in after {
        of_ports[port].from_ports.push((from as u32, takes));
    }
}

/// A host that receives from a port may answer at once to another: their distance. A host that receives from a host
/// directly may answer to anything that host receives, so it is taken as that host.
fn answer_times(
    after: &mut Vec<After>,
    sends: &[Reach<usize>],
    receives: &[Reach<Option<usize>>],
    [ports, hosts]: [usize; 2],
) {
    let mut shortest: Vec<FxHashMap<usize, Span>> = vec![FxHashMap::default(); hosts];
    let mut reached_directly = vec![false; hosts];
    for &Reach { host, port, takes } in receives {
        match port {
            Some(port) => {
                let entry = shortest[host].entry(port).or_insert(takes);
                *entry = takes.min(*entry);
            }
            None => reached_directly[host] = true,
        }
    }
    // Per port: the shortest time from any host that answers to all ports.
    let mut from_all = vec![Span::FOREVER; ports];
    for &Reach { host, port, takes } in sends {
        if reached_directly[host] {
            from_all[port] = takes.min(from_all[port]);
        }
        for (&from, &arrives) in &shortest[host] {
            // Each is part of a way that the reader keeps, with the run before it, within `Time::LATEST`: twice that fits.
            let takes = arrives + takes;
            after.push(After { port, from, takes });
        }
    }
    for (port, &takes) in from_all.iter().enumerate() {
        if takes < Span::FOREVER {
            after.extend((0..ports).map(|from| After { port, from, takes }));
        }
    }
}
