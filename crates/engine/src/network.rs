//! From a scenario to the flat arrays of a simulation: stages, hops, feeds, ports, connections.

use crate::aal5::{ACK_CELLS, cells_of_segment};
use crate::event::{EventList, Kind, WorkList};
use crate::host::connection::{
    CellSource, Connection, ConnectionProbe, Emission, FrameStage, OfTcp, Tcp, TcpWatch, Traffic,
    Way,
};
use crate::host::nic::Nic;
use crate::host::tcp::{Receiver, Sender};
use crate::link::{Fabric, Hop, HopExtra, Losses, Next, Sink, SwitchStage};
use crate::port::arithmetic::Arithmetic;
use crate::port::drop::Policy;
use crate::port::merge::{Feed, Order, TieRule};
use crate::port::sched::Scheduler;
use crate::port::slotted::Slotted;
use crate::port::{FrameState, Kernel as PortKernel, Limits, Lookahead, Port};
use crate::probe::{IntervalSum, Points, PortProbe, Quantity, Steps, Watch, When};
use crate::rng::{Circle, Step, Stream};
use crate::scenario::{
    Class, Observable, Probe, Processing, ProcessingKind, Scenario, Scheduler as SchedulerSpec,
    Traffic as TrafficSpec,
};
use crate::simulation::{Kernel, Options, RunError, Simulation};
use crate::tally::DelayBins;
use crate::topology::Topology;
use crate::units::{BitRate, Span, TICKS_PER_SECOND};
use std::collections::{HashMap, VecDeque};

/// What a replication draws, applied to a scenario.
struct Draws {
    tie_offset: u64,
    /// Fraction of a tick.
    timer_phase: Option<Circle>,
}

/// What is known about a link.
struct LinkRole {
    /// Whether cells can wait before it: the link leaves a switch, and more than one input or a faster one feeds it.
    can_queue: bool,
    /// Whether it is handled as a stage of its own: it can queue, or loses frames.
    is_stage: bool,
}

impl Simulation {
    /// Builds the network of `scenario`.
    ///
    /// # Errors
    /// [`RunError::Kernel`] when the arithmetic kernel is forced on a port that it cannot serve.
    pub(crate) fn new(
        scenario: &Scenario,
        topology: &Topology,
        replication: Option<u64>,
        options: &Options,
    ) -> Result<Simulation, RunError> {
        let builder = Builder::new(scenario, topology, replication);
        builder.build(options)
    }
}

struct Builder<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    replication: Option<u64>,
    roles: Vec<LinkRole>,
    /// Per link that is a stage of a switch: its port.
    port_of: HashMap<usize, usize>,
    /// Per link: the VC directions that take it.
    directions: Vec<Vec<u32>>,
}

impl<'a> Builder<'a> {
    fn new(
        scenario: &'a Scenario,
        topology: &'a Topology,
        replication: Option<u64>,
    ) -> Builder<'a> {
        let links = scenario.links.len();
        let mut directions = vec![Vec::new(); links];
        for (direction, path) in topology.paths.iter().enumerate() {
            for &link in path {
                directions[link].push(direction as u32);
            }
        }
        let roles = (0..links).map(|l| role(scenario, topology, l)).collect();
        let mut builder = Builder {
            scenario,
            topology,
            replication,
            roles,
            port_of: HashMap::new(),
            directions,
        };
        for link in 0..links {
            let used = !builder.topology.inputs[link].is_empty();
            if used && builder.roles[link].is_stage {
                let port = builder.port_of.len();
                builder.port_of.insert(link, port);
            }
        }
        builder
    }

    fn stream(&self, component: &str, purpose: &str) -> Stream {
        Stream::new(
            self.scenario.seed,
            self.replication.unwrap_or(0),
            component,
            purpose,
        )
    }

    /// The replication's evenly spread draw.
    fn spread(&self, component: &str, purpose: &str, step: Step) -> Circle {
        Stream::new(self.scenario.seed, 0, component, purpose)
            .spread(self.replication.unwrap_or(0), step)
    }

    fn draws(&self) -> Draws {
        let ensemble = &self.scenario.ensemble;
        let drawn = self.replication.is_some();
        let tie_offset = if drawn && ensemble.tie_offset {
            self.stream("", "tie-offset").below(0, 1 << 32)
        } else {
            self.scenario.tie_offset
        };
        let timer_phase =
            (drawn && ensemble.timer_phase).then(|| self.spread("", "timer-phase", Step::Golden));
        Draws {
            tie_offset,
            timer_phase,
        }
    }

    /// Constant processing of the switch that `link` enters, and whether there is processing that is not constant.
    fn entry(&self, link: usize) -> (u64, Option<Processing>) {
        let to = &self.scenario.links[link].to;
        let switch = self.scenario.switches.iter().find(|s| &s.name == to);
        match switch.and_then(|s| s.processing) {
            None => (0, None),
            Some(p) if is_constant(&p) => (p.mean.0, None),
            Some(p) => (0, Some(p)),
        }
    }

    fn cell_ticks(&self, link: usize) -> u64 {
        self.scenario.links[link].rate.cell_time().whole
    }

    fn build(self, options: &Options) -> Result<Simulation, RunError> {
        let Builder {
            scenario, topology, ..
        } = self;
        let draws = self.draws();
        let links = scenario.links.len();
        let mut links_of_ports = vec![0; self.port_of.len()];
        for (&link, &port) in &self.port_of {
            links_of_ports[port] = link;
        }

        // Feeds: one per port and input.
        let mut first_feed = Vec::new();
        let mut feeds = 0;
        for &link in &links_of_ports {
            first_feed.push(feeds);
            feeds += topology.inputs[link].len();
        }

        // Switch stages, one per input link that has one.
        let mut stages = Vec::new();
        let mut stage_of: HashMap<usize, u32> = HashMap::new();
        for link in 0..links {
            if let (_, Some(delay)) = self.entry(link) {
                stage_of.insert(link, stages.len() as u32);
                let streams = (0..topology.paths.len()).map(|direction| {
                    let purpose = format!(
                        "switch-{}-{}",
                        WAYS[direction % 2],
                        scenario.vcs[direction / 2].name
                    );
                    self.stream(&scenario.links[link].name, &purpose)
                });
                let frames = vec![None; topology.paths.len()];
                stages.push(SwitchStage {
                    delay,
                    streams: streams.collect(),
                    last: None,
                    frames,
                });
            }
        }

        let shares = self.link_shares();
        // Hops.
        let mut hops: Vec<Hop> = Vec::new();
        let mut extras: Vec<HopExtra> = Vec::new();
        let mut first_hops = Vec::new();
        let mut lookaheads: Vec<Lookahead> = links_of_ports
            .iter()
            .map(|_| Lookahead {
                from_hosts: NEVER,
                from_ports: Vec::new(),
            })
            .collect();
        // Hosts that send to a port: host, port, time. Hosts that receive from one (or directly from a host): host, port, time.
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        let mut to_host = vec![u64::MAX; links_of_ports.len()];
        for (direction, path) in topology.paths.iter().enumerate() {
            first_hops.push(hops.len());
            let is_data = direction % 2 == 0;
            let class = scenario.vcs[direction / 2].class as u8;
            let mut at = 0;
            while at < path.len() {
                let link = path[at];
                let mut latency = 0;
                let mut through = Vec::new();
                let mut stage = None;
                let mut next_at = at + 1;
                let next = loop {
                    latency += scenario.links[path[next_at - 1]].delay.0;
                    let Some(&next_link) = path.get(next_at) else {
                        break Next::Host;
                    };
                    latency += self.entry(path[next_at - 1]).0;
                    if let Some(&port) = self.port_of.get(&next_link) {
                        let from = path[next_at - 1];
                        let input = topology.inputs[next_link]
                            .binary_search(&from)
                            .expect("it feeds the port");
                        stage = stage_of.get(&from).copied();
                        let feed = (first_feed[port] + input) as u32;
                        break Next::Port {
                            port: port as u32,
                            feed,
                            input: input as u32,
                        };
                    }
                    // Its cells find the port idle, so each takes a cell time rounded up.
                    latency += scenario.links[next_link].rate.cell_time().longest();
                    through.push((next_link as u32, latency));
                    next_at += 1;
                };
                if let Next::Port { port, .. } = next {
                    let takes = self.cell_ticks(link) + latency;
                    let ahead = &mut lookaheads[port as usize];
                    match self.port_of.get(&link) {
                        Some(&from) => after_port(ahead, from, takes),
                        None => {
                            ahead.from_hosts = ahead.from_hosts.min(takes);
                            let host =
                                topology.host_of[link].expect("what is no port leaves a host");
                            sends.push((host, port, takes));
                        }
                    }
                }
                if next == Next::Host {
                    let end = topology.ends[direction / 2];
                    let host = end[1 - direction % 2];
                    let takes = self.cell_ticks(link) + latency;
                    let from = self.port_of.get(&link).copied();
                    receives.push((host, from, takes));
                }
                let local = self.directions[link]
                    .binary_search(&(direction as u32))
                    .expect("it takes the link");
                let lossy = is_data && is_lossy(scenario, link);
                hops.push(Hop {
                    next,
                    latency,
                    sent: 0,
                    arrived: 0,
                    frame_state: FrameState::default(),
                    direction: direction as u32,
                    local: local as u32,
                    class,
                    is_data,
                    one_by_one: lossy || stage.is_some() || shares.contains_key(&(link as u32)),
                });
                extras.push(HopExtra {
                    link: link as u32,
                    stage,
                    through,
                    lossy,
                    ..HopExtra::default()
                });
                at = next_at;
            }
            // From the last stage back: the shortest time to the host.
            let mut ahead = 0;
            let first = first_hops[direction];
            for (hop, extra) in hops[first..].iter().zip(&extras[first..]).rev() {
                let link = extra.link as usize;
                ahead += self.cell_ticks(link) + hop.latency;
                if let Some(&port) = self.port_of.get(&link) {
                    to_host[port] = to_host[port].min(ahead);
                }
            }
        }

        answer_times(&mut lookaheads, sends, receives, scenario.hosts.len());
        let mut ports = Vec::new();
        for (index, (&link, ahead)) in links_of_ports.iter().zip(lookaheads).enumerate() {
            ports.push(Port {
                link,
                first_feed: first_feed[index],
                order: Order::default(),
                tie: TieRule::new(
                    scenario.tie_order,
                    topology.inputs[link].len(),
                    draws.tie_offset,
                    scenario.links[link].rate.cell_time(),
                    self.stream(&scenario.links[link].name, "tie"),
                ),
                done: 0,
                can_queue: self.roles[link].can_queue,
                kernel: self.kernel(link, options)?,
                probe: self.port_probe(link),
                members: Vec::new(),
                group: Vec::new(),
                ahead,
            });
        }

        let connections: Vec<Connection> = (0..scenario.vcs.len())
            .map(|vc| self.connection(vc, &draws, &first_hops))
            .collect();
        let mut events = EventList::default();
        for (index, connection) in connections.iter().enumerate() {
            let start = match &connection.traffic {
                Traffic::Tcp(_) => connection.start,
                Traffic::Cells(source) => source.next,
            };
            events.push(start, Kind::Source, index);
        }
        let sinks = (0..topology.paths.len())
            .map(|d| sink(scenario, d))
            .collect();
        let measured_from = scenario.measure.warm_up.0;
        let measured_to = scenario
            .measure
            .window
            .map_or(u64::MAX, |w| measured_from + w.0);
        let loss = |link: usize| {
            let l = &scenario.links[link];
            is_lossy(scenario, link).then(|| {
                let mut frames = l.lose_frames.clone();
                frames.sort_unstable();
                Losses {
                    count: 0,
                    frames,
                    probability: l.lose_probability,
                    stream: self.stream(&l.name, "loss"),
                }
            })
        };
        let end = scenario.duration.0;
        let measured = (measured_from, measured_to);
        Ok(Simulation {
            end,
            measured,
            events,
            fabric: Fabric {
                hops,
                extras,
                feeds: (0..feeds).map(|_| Feed::default()).collect(),
                woken: vec![Vec::new(); ports.len()],
                woken_ports: Vec::new(),
                stages,
                losses: (0..links).map(loss).collect(),
                sinks,
                arrivals: Vec::new(),
                class_delays: std::array::from_fn(|_| DelayBins::default()),
                shares,
                traced_vcs: self.traced_vcs(),
                lost: Vec::new(),
                end,
                measured,
                digest: options.digest.then_some(0),
            },
            work: WorkList::new(ports.len()),
            to_host: to_host.iter().copied().min().unwrap_or(NEVER),
            ports,
            nics: scenario
                .links
                .iter()
                .map(|l| Nic::new(l.rate.cell_time()))
                .collect(),
            host_stages: scenario
                .hosts
                .iter()
                .map(|h| [(); 2].map(|()| h.processing.map(FrameStage::new)))
                .collect(),
            to_nics: vec![VecDeque::new(); scenario.hosts.len()],
            connections,
            links,
            segments: Vec::new(),
            arrivals: Vec::new(),
        })
    }

    fn kernel(&self, link: usize, options: &Options) -> Result<PortKernel, RunError> {
        let Builder {
            scenario, topology, ..
        } = self;
        let rate = scenario.links[link].rate;
        let cell_time = rate.cell_time();
        let limits = |class: Class| {
            let queue = topology.queue(scenario, link, class);
            Limits {
                buffer: queue.buffer.unwrap_or(u64::MAX),
                policy: Policy::new(&queue.drop, queue.buffer),
                rest: queue.rest_of_frame,
            }
        };
        let spec = topology.scheduler(scenario, link);
        // Nothing comes back to a cell source.
        let carries = |d: u32| d.is_multiple_of(2) || is_tcp(&scenario.vcs[d as usize / 2].traffic);
        let class_of = |d: u32| scenario.vcs[d as usize / 2].class;
        let crossing = self.directions[link].iter().filter(|&&d| carries(d));
        let mut used: Vec<Class> = crossing.map(|&d| class_of(d)).collect();
        used.sort_unstable();
        used.dedup();
        let per_vc = |c: Class| matches!(spec, SchedulerSpec::PerVc { class, .. } if *class == c);
        let watched = self.watches_counts(link);
        let directions = &self.directions[link];
        if let (&[class], Some(exact)) = (used.as_slice(), cell_time.exact())
            && !per_vc(class)
            && options.kernel != Kernel::Slotted
            && !self.watches_credit(link)
        {
            let first = scenario.arrival_first;
            let kernel = Arithmetic::new(
                limits(class),
                class as usize,
                exact,
                first,
                directions.len(),
                watched,
            );
            return Ok(PortKernel::Arithmetic(Box::new(kernel)));
        }
        if options.kernel == Kernel::Arithmetic {
            return Err(RunError::Kernel {
                port: scenario.links[link].name.clone(),
            });
        }
        let vcs: Vec<(u64, Option<BitRate>)> = (0..topology.paths.len())
            .map(|d| {
                let vc = &scenario.vcs[d / 2];
                let crosses = directions.binary_search(&(d as u32)).is_ok() && per_vc(vc.class);
                let guarantee = if d % 2 == 0 { vc.guarantee } else { None };
                if crosses {
                    (vc.weight, guarantee)
                } else {
                    (0, None)
                }
            })
            .collect();
        let scheduler = Scheduler::new(
            spec,
            rate,
            if matches!(spec, SchedulerSpec::PerVc { .. }) {
                &vcs
            } else {
                &[]
            },
        );
        let limits = Class::ALL.map(limits);
        let kernel = Slotted::new(
            limits,
            scheduler,
            cell_time,
            scenario.arrival_first,
            directions.clone(),
            watched,
        );
        Ok(PortKernel::Slotted(Box::new(kernel)))
    }

    fn connection(&self, index: usize, draws: &Draws, first_hops: &[usize]) -> Connection {
        let Builder {
            scenario, topology, ..
        } = self;
        let vc = &scenario.vcs[index];
        let mut start = vc.start.0;
        if self.replication.is_some() {
            start += self
                .stream(&vc.name, "start")
                .below(0, scenario.ensemble.start_jitter.0);
            if let TrafficSpec::Vbr { on, off, .. } = &vc.traffic
                && scenario.ensemble.vbr_phase
            {
                start += self
                    .spread(&vc.name, "vbr-phase", Step::Silver)
                    .below(on.0 + off.0);
            }
        }
        let emission = |emission| Traffic::Cells(CellSource::new(emission, start));
        let traffic = match &vc.traffic {
            TrafficSpec::Tcp(params) => {
                let phase = match draws.timer_phase {
                    Some(point) => Span(point.below(params.granularity.0)),
                    None => scenario.timer_phase,
                };
                let tcp = Tcp::new(
                    Sender::new(params, phase),
                    Receiver::new(params),
                    params.mss,
                );
                Traffic::Tcp(Box::new(tcp))
            }
            TrafficSpec::Cbr { rate } => emission(Emission::Periodic {
                cell_time: rate.cell_time(),
            }),
            TrafficSpec::Poisson { rate } => emission(Emission::Poisson {
                mean: CellSource::mean_gap(rate.0),
                stream: self.stream(&vc.name, "poisson"),
            }),
            TrafficSpec::Vbr { rate, on, off } => emission(Emission::Bursts {
                cell_time: rate.cell_time(),
                on: on.0,
                off: off.0,
            }),
        };
        let processing = if let TrafficSpec::Tcp(params) = &vc.traffic {
            params.processing
        } else {
            None
        };
        let way = |side: usize| {
            let direction = 2 * index + side;
            let nic = topology.paths[direction][0];
            let ends = topology.ends[index];
            let hosts = if side == 0 { ends } else { [ends[1], ends[0]] };
            let what = WAYS[side];
            let transport = |way: &str| self.stream(&vc.name, &format!("transport-{way}-{what}"));
            let host = |at: usize, way: &str| {
                self.stream(
                    &scenario.hosts[hosts[at]].name,
                    &format!("{way}-{what}-{}", vc.name),
                )
            };
            // A TCP answers on the other direction's NIC: it must serve nobody else.
            let answers_on = match &vc.traffic {
                TrafficSpec::Tcp(_) => topology.paths[2 * index + 1 - side][0],
                _ => nic,
            };
            let delayed =
                matches!(&vc.traffic, TrafficSpec::Tcp(p) if side == 0 && p.delayed_ack.is_some());
            let at_once = self.directions[answers_on].len() == 1
                && processing.is_none()
                && !delayed
                && scenario.hosts[hosts[1]].processing.is_none();
            Way {
                first_hop: first_hops[direction],
                nic,
                next_frame: 0,
                frames_sent: 0,
                hosts,
                at_once,
                delivered: Default::default(),
                to_transport: Default::default(),
                to_host: Default::default(),
                transport: [(); 2].map(|()| processing.map(FrameStage::new)),
                transport_streams: [transport("send"), transport("receive")],
                host_streams: [host(0, "send"), host(1, "receive")],
            }
        };
        Connection {
            ways: [way(0), way(1)],
            probe: self.connection_probe(index, &traffic),
            traffic,
            start,
            measured_bytes: 0,
            delivered_bytes: 0,
        }
    }

    fn connection_probe(&self, index: usize, traffic: &Traffic) -> Option<Box<ConnectionProbe>> {
        let tcp = match traffic {
            Traffic::Tcp(tcp) => Some(tcp),
            Traffic::Cells(_) => None,
        };
        let name = &self.scenario.vcs[index].name;
        let mut probe = ConnectionProbe::default();
        let mut any = false;
        for (i, p) in self
            .scenario
            .probes
            .iter()
            .enumerate()
            .filter(|(_, p)| &p.of == name)
        {
            any = true;
            let mut watch = |quantity, bytes: u64| {
                probe.steps.push(TcpWatch {
                    probe: i,
                    quantity,
                    record: Steps::new(p.interval, bytes as f64),
                });
            };
            match (p.what, tcp) {
                (Observable::Cwnd, Some(tcp)) => watch(OfTcp::Cwnd, tcp.sender.cwnd()),
                (Observable::Ssthresh, Some(tcp)) => watch(OfTcp::Ssthresh, tcp.sender.ssthresh()),
                (Observable::Delivered, Some(_)) => watch(OfTcp::Delivered, 0),
                (Observable::Sequence, Some(_)) => probe.sequence.push((i, Points::default())),
                (Observable::Goodput, _) => {
                    let interval = interval(p.interval);
                    let mbps = 8e-6 * TICKS_PER_SECOND as f64 / interval as f64;
                    probe.goodput.push((i, IntervalSum::new(interval, mbps)));
                }
                _ => {}
            }
        }
        any.then(|| Box::new(probe))
    }

    fn watches_credit(&self, link: usize) -> bool {
        let name = &self.scenario.links[link].name;
        self.scenario
            .probes
            .iter()
            .any(|p| p.what == Observable::Credit && &p.of == name)
    }

    /// Whether a probe wants Y_i of this port.
    fn watches_counts(&self, link: usize) -> bool {
        self.port_probe(link).is_some()
    }

    fn port_probe(&self, link: usize) -> Option<Box<PortProbe>> {
        let scenario = self.scenario;
        let name = &scenario.links[link].name;
        let mut probe = PortProbe::default();
        let local = |vc: &str| {
            let index = scenario.vcs.iter().position(|v| v.name == vc)?;
            let find = |d: usize| self.directions[link].binary_search(&(d as u32)).ok();
            find(2 * index)
                .or_else(|| find(2 * index + 1))
                .map(|l| l as u32)
        };
        for (i, p) in scenario.probes.iter().enumerate() {
            if p.what == Observable::Trace {
                if let Some(vc) = scenario.vcs.iter().position(|v| v.name == p.of)
                    && local(&p.of).is_some()
                {
                    probe.traced_vcs.push(vc as u32);
                }
                continue;
            }
            if &p.of != name {
                continue;
            }
            let class = p.class.map(|c| c as usize);
            let when = match (p.interval, p.every) {
                (Some(interval), _) => When::Interval(interval.0, 0),
                (None, Some(n)) => When::Every(n, 0),
                (None, None) => When::Change,
            };
            let quantity = match p.what {
                Observable::Queue => Quantity::Queue {
                    class,
                    vc: p.vc.as_deref().and_then(local),
                },
                Observable::Credit => Quantity::Credit,
                Observable::Drops => {
                    probe
                        .drops
                        .push((i, class, IntervalSum::new(interval(p.interval), 1.0)));
                    continue;
                }
                _ => continue,
            };
            probe.watches.push(Watch {
                probe: i,
                quantity,
                when,
                out: Points::default(),
            });
        }
        let any =
            !(probe.watches.is_empty() && probe.drops.is_empty() && probe.traced_vcs.is_empty());
        any.then(|| Box::new(probe))
    }

    /// VCs with a trace probe.
    fn traced_vcs(&self) -> Vec<usize> {
        let probes = self.scenario.probes.iter();
        let traced = probes.filter(|p| p.what == Observable::Trace);
        let find = |p: &Probe| self.scenario.vcs.iter().position(|vc| vc.name == p.of);
        traced.filter_map(find).collect()
    }

    /// Link-share probes: per link, by class.
    fn link_shares(&self) -> HashMap<u32, Vec<(usize, Option<usize>, IntervalSum)>> {
        let mut shares: HashMap<u32, Vec<_>> = HashMap::new();
        for (i, p) in self
            .scenario
            .probes
            .iter()
            .enumerate()
            .filter(|(_, p)| p.what == Observable::LinkShare)
        {
            let Some(link) = self.scenario.links.iter().position(|l| l.name == p.of) else {
                continue;
            };
            let interval = interval(p.interval);
            let cells = interval as f64 / self.cell_ticks(link) as f64;
            let classes = match p.class {
                Some(class) => vec![class],
                None => self.topology.classes[link].clone(),
            };
            for class in classes {
                let sum = IntervalSum::new(interval, 1.0 / cells);
                shares
                    .entry(link as u32)
                    .or_default()
                    .push((i, Some(class as usize), sum));
            }
        }
        shares
    }
}

/// Names of the directions of a VC.
const WAYS: [&str; 2] = ["data", "ack"];

/// Far beyond any run, and yet safe to add to.
const NEVER: u64 = u64::MAX / 4;

fn after_port(ahead: &mut Lookahead, port: usize, takes: u64) {
    match ahead
        .from_ports
        .iter_mut()
        .find(|(p, _)| *p as usize == port)
    {
        Some((_, shortest)) => *shortest = takes.min(*shortest),
        None => ahead.from_ports.push((port as u32, takes)),
    }
}

/// A host that receives from a port may answer at once to another: their distance. A host that receives from a host
/// directly may answer to anything that host receives, so it is taken as that host.
fn answer_times(
    lookaheads: &mut [Lookahead],
    sends: Vec<(usize, u32, u64)>,
    receives: Vec<(usize, Option<usize>, u64)>,
    hosts: usize,
) {
    let mut shortest: Vec<HashMap<usize, u64>> = vec![HashMap::new(); hosts];
    let mut reached_directly = vec![false; hosts];
    for (host, from, takes) in receives {
        match from {
            Some(port) => {
                let entry = shortest[host].entry(port).or_insert(takes);
                *entry = takes.min(*entry);
            }
            None => reached_directly[host] = true,
        }
    }
    let ports = lookaheads.len();
    for (host, port, takes) in sends {
        let ahead = &mut lookaheads[port as usize];
        if reached_directly[host] {
            (0..ports).for_each(|from| after_port(ahead, from, takes));
        }
        for (&from, &arrives) in &shortest[host] {
            after_port(ahead, from, arrives + takes);
        }
    }
    for ahead in lookaheads {
        ahead.from_ports.sort_unstable();
    }
}

/// Default interval of probes that need one: 10 ms.
fn interval(given: Option<Span>) -> u64 {
    given.unwrap_or(Span::from_milliseconds(10)).0
}

fn is_constant(p: &Processing) -> bool {
    p.kind == ProcessingKind::Latency && p.spread == Span::ZERO
}

fn is_tcp(traffic: &TrafficSpec) -> bool {
    matches!(traffic, TrafficSpec::Tcp(_))
}

fn is_lossy(scenario: &Scenario, link: usize) -> bool {
    let link = &scenario.links[link];
    !link.lose_frames.is_empty() || link.lose_probability.num > 0
}

/// Per link: whether cells can wait before it.
pub(crate) fn queueing_links(scenario: &Scenario, topology: &Topology) -> Vec<bool> {
    (0..scenario.links.len())
        .map(|l| role(scenario, topology, l).can_queue)
        .collect()
}

/// Model section 6: a port cannot queue if it has one input whose cells are never closer than its own cell time.
fn role(scenario: &Scenario, topology: &Topology, link: usize) -> LinkRole {
    if topology.switch_of[link].is_none() {
        return LinkRole {
            can_queue: false,
            is_stage: true,
        };
    }
    let own = scenario.links[link].rate.cell_time();
    let switch = &scenario.switches[topology.switch_of[link].expect("it leaves a switch")];
    let keeps_distance = |input: usize| {
        let of_input = scenario.links[input].rate.cell_time();
        let both_whole = own.exact().is_some() && own == of_input;
        both_whole || of_input.whole >= own.longest()
    };
    let can_queue = match topology.inputs[link].as_slice() {
        [] => false,
        &[input] => {
            !keeps_distance(input)
                || switch.processing.as_ref().is_some_and(|p| !is_constant(p))
                || topology.classes[link].len() > 1
        }
        _ => true,
    };
    // At a cell time that is not whole, cells that come at exactly the rounded distance form busy periods.
    let uneven = own.exact().is_none()
        && topology.inputs[link]
            .iter()
            .any(|&i| scenario.links[i].rate.cell_time().whole == own.longest());
    let watched = scenario
        .probes
        .iter()
        .any(|p| p.of == scenario.links[link].name);
    LinkRole {
        can_queue,
        is_stage: can_queue || uneven || watched || is_lossy(scenario, link),
    }
}

fn sink(scenario: &Scenario, direction: usize) -> Sink {
    let frame_cells = match (&scenario.vcs[direction / 2].traffic, direction % 2) {
        (_, 1) => ACK_CELLS,
        (TrafficSpec::Tcp(params), _) => cells_of_segment(params.mss),
        _ => 1,
    };
    Sink {
        frame_cells,
        ..Sink::default()
    }
}
