//! Look-ahead: how soon an unknown cell can arrive at each port. Computed from the shortest times
//! between ports, also through hosts that answer.

use super::Blueprint;
use super::hops::Hops;
use crate::ground::flow::FlowKind;
use crate::ground::units::Span;
use crate::host::ShortestTimes;
use crate::network::fabric::Next;
use crate::port::Lookahead;
use crate::run::simulation::Distances;

/// The look-ahead of a network.
pub struct Lookaheads {
    /// Look-ahead per port.
    pub of_ports: Vec<Lookahead>,
    /// Shortest times between hosts and ports.
    pub distances: Distances,
    /// Shortest times of each flow.
    pub of_flows: Vec<ShortestTimes>,
}

/// Times along a flow from host to host.
struct HostToHost {
    /// The first port, and the time of a cell to it; `None` without a port.
    to_first: Option<(usize, Span)>,
    /// The last port, and the time from the arrival there to the host.
    from_last: Option<(usize, Span)>,
    /// Time of a cell from host to host, without queueing.
    whole: Span,
}

/// Computes the shortest times between hosts and ports.
pub fn lookahead(plan: &Blueprint<'_>, hops: &Hops) -> Lookaheads {
    let ports = plan.roles.links_of_ports.len();
    let nothing = Lookahead {
        from_hosts: Span::FOREVER,
        from_ports: Vec::new(),
        shortest_from_ports: Span::FOREVER,
    };
    let mut of_ports = vec![nothing; ports];
    let mut after = Vec::new();
    let mut ways = Vec::with_capacity(hops.first.len());
    let (mut to_host, mut host_to_host) = (Span::FOREVER, Span::FOREVER);
    let mut host_to_feedback = Span::FOREVER;
    for &first in &hops.first {
        let first = first as usize;
        let last = (first..)
            .find(|&i| hops.hops[i].next == Next::Host)
            .expect("every flow ends at a host");
        let (mut to_first, mut from_last) = (None, None);
        // Backward from the last station: `ahead` is the shortest time to the host.
        let mut ahead = Span::ZERO;
        for i in (first..=last).rev() {
            let hop = &hops.hops[i];
            let link = hops.extras[i].link as usize;
            let from = plan.roles.port_of[link];
            let takes = plan.shortest_ticks(link) + hop.latency;
            ahead += takes;
            // A backward RM cell may receive feedback here, between stations. The feedback must be
            // known when the cell is delivered.
            for point in &hops.extras[i].feedback_points {
                if let (Some(after), Some(_)) = (point.after, point.feedback_from) {
                    to_host = to_host.min(ahead - plan.shortest_ticks(link) - after);
                }
                if let (Some(after), None) = (point.after, from) {
                    host_to_feedback = host_to_feedback.min(plan.shortest_ticks(link) + after);
                }
            }
            if from.is_some() {
                to_host = to_host.min(ahead);
            }
            match (hop.next, from) {
                (Next::Port { port, .. }, Some(from)) => {
                    after.push(PortDelay {
                        port: port as usize,
                        from,
                        delay: takes,
                    });
                }
                (Next::Port { port, .. }, None) => {
                    let from_hosts = &mut of_ports[port as usize].from_hosts;
                    *from_hosts = takes.min(*from_hosts);
                    host_to_feedback = host_to_feedback.min(takes);
                    to_first = Some((port as usize, takes));
                }
                (Next::Host, from) => from_last = from.map(|port| (port, takes)),
            }
        }
        host_to_host = host_to_host.min(ahead);
        ways.push(HostToHost {
            to_first,
            from_last,
            whole: ahead,
        });
    }
    for (index, vc) in plan.net.scenario.vcs.iter().enumerate() {
        // A VC without answers causes nothing.
        if vc.traffic.answers() || vc.abr.is_some() {
            let [there, back] =
                FlowKind::FRAMES.map(|kind| &ways[plan.net.topology.flow(index, kind).index()]);
            after.extend(after_answer(there, back));
            after.extend(after_answer(back, there));
        }
    }
    keep_shortest(&mut of_ports, after);
    let of_flows = ways.iter().map(|way| ShortestTimes {
        whole: way.whole,
        from_last: way.from_last.map(|(port, takes)| (port as u32, takes)),
    });
    let of_flows = of_flows.collect();
    Lookaheads {
        of_ports,
        distances: Distances {
            to_host,
            host_to_host,
            host_to_feedback,
        },
        of_flows,
    }
}

/// An arrival at port `from` may cause one at `port`, no sooner than `delay` later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PortDelay {
    port: usize,
    from: usize,
    delay: Span,
}

/// Stores the shortest time for each pair of ports.
fn keep_shortest(of_ports: &mut [Lookahead], mut after: Vec<PortDelay>) {
    after.sort_unstable();
    after.dedup_by_key(|a| (a.port, a.from));
    for PortDelay { port, from, delay } in after {
        let lookahead = &mut of_ports[port];
        lookahead.from_ports.push((from as u32, delay));
        lookahead.shortest_from_ports = lookahead.shortest_from_ports.min(delay);
    }
}

/// Delay from the last port of `way` to the first port that the answer of its host reaches.
///
/// The host answers at once. The answer travels on `back`. If `back` has no port, the other host
/// answers in turn, and that answer reaches the first port of `way`.
///
/// A VC answers only its own arrivals; other VCs at its hosts can only delay it. RM cells take the
/// paths of frames.
fn after_answer(way: &HostToHost, back: &HostToHost) -> Option<PortDelay> {
    let (from, arrives) = way.from_last?;
    // No overflow: the duration of the run and the delays of both ways of a VC add up to less than
    // `Time::LATEST`. The reader checks this (`text/scenario/time_limit.rs`).
    let (port, delay) = match back.to_first {
        Some((port, delay)) => (port, arrives + delay),
        None => {
            let (port, delay) = way.to_first?;
            (port, arrives + back.whole + delay)
        }
    };
    Some(PortDelay { port, from, delay })
}

#[cfg(test)]
mod tests {
    use crate::ground::format::Format;
    use crate::ground::units::{BitRate, Span};
    use crate::run::assembly::build;
    use crate::run::resolved::Resolved;
    use crate::text::options::Options;
    use crate::text::scenario::read_toml;

    /// Per port that can queue: the ports that may cause an arrival there, with the minimum time.
    fn causes(text: &str) -> Vec<Vec<(u32, Span)>> {
        let scenario = read_toml(text, "", &[]).expect("it reads");
        let net = Resolved::new(&scenario).expect("it holds together");
        let built = build(&net, None, &Options::default()).expect("any kernel");
        let ports = built.ports.into_iter();
        ports.map(|port| port.lookahead.from_ports).collect()
    }

    /// Scenario with pairs of hosts: a port that can queue on the way there, and none on the way
    /// back.
    fn pairs(of_a: &str, from: &str) -> String {
        format!(
            r#"
duration = "1 s"
host = [{{ name = "a"{of_a} }}, {{ name = "b", count = 3 }}]
switch = [{{ name = "s" }}]
link = [
    {{ from = "a", to = "s", rate = "100 Mbps", delay = "1 ms" }},
    {{ from = "s", to = "b", rate = "10 Mbps", delay = "2 ms" }},
]
vc = [{{ from = "{from}", to = "b", traffic = {{ kind = "tcp" }} }}]
"#
        )
    }

    #[test]
    fn where_no_port_is_on_the_way_back_a_port_hears_from_itself_a_round_trip_later() {
        let cell = |mbps: u64| Format::AAL5.cell_time(BitRate(mbps * 1_000_000));
        // A round trip has two propagation delays and two cell times of each link. On the way back
        // the faster link follows the slower one, so no cell can queue there.
        let round = Span::from_milliseconds(6) + cell(10) * 2 + cell(100) * 2;
        let expected: Vec<_> = (0..3).map(|port| vec![(port, round)]).collect();
        assert_eq!(causes(&pairs(", count = 3", "a")), expected);
    }

    #[test]
    fn vcs_that_share_a_host_cause_nothing_of_each_other() {
        let found = causes(&pairs("", "a"));
        // The three ports to the hosts `b` carry data. The ACKs share the link back to `a`, so it
        // has a port that can queue as well.
        let mut of_data = found.iter().filter(|causes| causes.len() == 1);
        assert_eq!(found.len(), 4);
        assert_eq!(of_data.clone().count(), 3, "{found:?}");
        assert!(of_data.all(|causes| causes[0].0 == of_data_back(&found)));
    }

    /// The port that all three others lead to.
    fn of_data_back(found: &[Vec<(u32, Span)>]) -> u32 {
        let back = found.iter().position(|causes| causes.len() == 3);
        back.expect("the ACKs of all share it") as u32
    }
}
