//! Resolves names to indices: which links a flow takes, and which links feed a port.

use crate::ground::flow::{Flow, FlowId, FlowKind};
use crate::ground::format::{CellLengths, Format};
use crate::ground::place::Place;
use crate::ground::units::Span;
use crate::text::scenario::model::{Class, ClassQueue, ContractTerms, Pool, Scenario, Scheduler};
use crate::text::scenario::port;
use crate::text::scenario::rates::Offer;
use crate::text::scenario::threshold::{Size, Unit};
use rustc_hash::FxHashMap;

/// The network of a checked scenario, by index. Links, VCs and hosts are numbered as in the
/// scenario.
#[derive(Clone, Debug)]
pub struct Topology {
    /// All flows, by their number.
    pub flows: Vec<Flow>,
    /// Per VC, the ids of its flows in the order of [`FlowKind::of_vc`].
    flows_of: Vec<Vec<FlowId>>,
    /// Per link, the flows that take it, in ascending order.
    pub crossing: Vec<Vec<FlowId>>,
    /// Per port (a link that leaves a switch), the links that feed it, in scenario order. Empty for
    /// other links.
    pub inputs: Vec<Vec<usize>>,
    /// Per link, the classes of the VCs that cross it in either direction, most urgent first.
    pub classes: Vec<Vec<Class>>,
    /// Per link, the lengths of the cells that its flows send. Those of the format where none does.
    pub lengths: Vec<CellLengths>,
    /// Per link, the index of the switch it leaves, or `None` when it leaves a host.
    pub switch_of: Vec<Option<usize>>,
    /// Per link, the index of the host it leaves, or `None` when it leaves a switch.
    pub host_of: Vec<Option<usize>>,
    /// Per link, the index of the switch it enters, or `None` when it enters a host.
    pub enters: Vec<Option<usize>>,
    /// Per switch, its pool.
    pub pools: Vec<Option<PoolTerms>>,
}

/// Shared memory of a switch, with the queues that take part (model section 6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolTerms {
    /// B, places.
    pub places: u64,
    /// Sum of the reserves, places.
    pub reserved: u64,
    /// Links of the ports that take part, in scenario order.
    pub links: Vec<usize>,
}

impl PoolTerms {
    /// What a place of `pool` is called: a cell by the noun of the format, `byte`, or `memory cell`.
    pub fn noun(pool: &Pool, format: Format) -> &'static str {
        match (pool.cell, pool.buffer.unit()) {
            (Some(_), _) => "memory cell",
            (None, Unit::Bytes) => "byte",
            (None, Unit::Cells) => format.noun(),
        }
    }

    /// S: places that are no queue's reserve.
    pub fn shared(&self) -> u64 {
        self.places.saturating_sub(self.reserved)
    }
}

/// Load that cell sources offer to the NIC of a link, and the capacity of that link.
#[derive(Clone, Copy, Debug)]
pub struct HostLoad {
    /// Sum of the sources' mean rates, bits per second; over the run, if the rate of the link changes.
    pub offered_bps: f64,
    /// Mean rate of the link over the run, bits per second.
    pub rate_bps: f64,
    /// Most bits that wait at the host at any time, if the rate of the link changes.
    pub waiting_bits: Option<f64>,
}

impl HostLoad {
    /// Offered load relative to the link's mean rate.
    pub fn ratio(self) -> f64 {
        self.offered_bps / self.rate_bps
    }

    /// Whether the offered load exceeds the link's rate, at any time if that changes, by more than
    /// rounding errors of the sum.
    pub fn is_too_much(self) -> bool {
        match self.waiting_bits {
            None => self.ratio() > 1.0 + 1e-9,
            Some(bits) => bits > 1.0,
        }
    }
}

impl Topology {
    /// Resolves a scenario that the reader has checked.
    ///
    /// # Errors
    /// A sentence naming the VC and the missing link, if the scenario was built without the reader's checks.
    pub fn new(scenario: &Scenario) -> Result<Topology, String> {
        let nodes = Nodes::of(scenario);
        let (flows, flows_of) = flows(scenario, &nodes)?;
        let links = scenario.links.len();
        let mut crossing = vec![Vec::new(); links];
        let mut inputs = vec![Vec::new(); links];
        let mut classes = vec![Vec::new(); links];
        let mut lengths: Vec<Option<CellLengths>> = vec![None; links];
        for (flow, id) in flows.iter().zip(0..) {
            for hop in flow.path.windows(2) {
                inputs[hop[1]].push(hop[0]);
            }
            let vc = &scenario.vcs[flow.vc];
            let class = vc.class;
            let of_flow = vc.traffic.cell_lengths(flow.kind, scenario.format);
            for &link in &flow.path {
                crossing[link].push(FlowId(id));
                if classes[link].last() != Some(&class) {
                    classes[link].push(class);
                }
                let both = lengths[link].into_iter().chain(of_flow);
                lengths[link] = both.reduce(CellLengths::and);
            }
        }
        for feeding in &mut inputs {
            feeding.sort_unstable();
            feeding.dedup();
        }
        for crossing in &mut classes {
            crossing.sort_unstable();
            crossing.dedup();
        }
        let switches = scenario.switches.len();
        let any = CellLengths::of([scenario.format.one_cell()]).expect("one cell");
        let mut topology = Topology {
            lengths: lengths.into_iter().map(|of| of.unwrap_or(any)).collect(),
            flows,
            flows_of,
            crossing,
            inputs,
            classes,
            switch_of: nodes.of_links(0, Nodes::switch),
            host_of: nodes.of_links(0, Nodes::host),
            enters: nodes.of_links(1, Nodes::switch),
            pools: vec![None; switches],
        };
        topology.find_pools(scenario);
        Ok(topology)
    }

    fn find_pools(&mut self, scenario: &Scenario) {
        for (switch, spec) in scenario.switches.iter().enumerate() {
            let Some(pool) = spec.pool else { continue };
            let mut terms = PoolTerms {
                places: pool.buffer.stated(),
                ..PoolTerms::default()
            };
            for link in 0..scenario.links.len() {
                if self.switch_of[link] != Some(switch) || !self.can_wait(scenario, link) {
                    continue;
                }
                let used = self.used_classes(scenario, link);
                let reserves = used
                    .iter()
                    .map(|&class| self.reserve(scenario, link, class));
                terms.reserved += reserves.sum::<u64>();
                if !used.is_empty() {
                    terms.links.push(link);
                }
            }
            self.pools[switch] = Some(terms);
        }
    }

    /// Classes of the cells that can come to `link`. Without answers, a source sends nothing back.
    pub fn used_classes(&self, scenario: &Scenario, link: usize) -> Vec<Class> {
        let carries = |class: &Class| {
            self.crossing[link].iter().any(|id| {
                let flow = &self.flows[id.index()];
                let vc = &scenario.vcs[flow.vc];
                let sends = flow.kind.is_data() || vc.traffic.answers() || vc.abr.is_some();
                vc.class == *class && sends
            })
        };
        let classes = self.classes[link].iter().copied();
        classes.filter(carries).collect()
    }

    /// Whether a cell can wait at the port of `link`: cells come from several inputs, or of several
    /// classes, or closer than the port's cell time.
    pub fn can_wait(&self, scenario: &Scenario, link: usize) -> bool {
        let switch = self.switch_of[link].map(|switch| &scenario.switches[switch]);
        let processing = switch.and_then(|switch| switch.processing.as_ref());
        match self.inputs[link].as_slice() {
            [] => false,
            &[input] => {
                !self.keeps_distance(scenario, input, link)
                    || processing.is_some_and(|p| !p.is_constant())
                    || self.classes[link].len() > 1
            }
            _ => true,
        }
    }

    /// Whether the switch that `link` leaves has a pool.
    pub fn has_pool(&self, link: usize) -> bool {
        self.switch_of[link].is_some_and(|switch| self.pools[switch].is_some())
    }

    /// S of the pool of the switch that `link` leaves, whether its port takes part or not.
    pub fn shared(&self, link: usize) -> Option<u64> {
        let pool = self.pools[self.switch_of[link]?].as_ref()?;
        Some(pool.shared())
    }

    /// The switch of the pool in which the port of `link` takes part, and that pool.
    pub fn pool_of(&self, link: usize) -> Option<(usize, &PoolTerms)> {
        let switch = self.switch_of[link]?;
        let pool = self.pools[switch].as_ref()?;
        pool.links.contains(&link).then_some((switch, pool))
    }

    /// The flow of kind `kind` of a VC.
    pub fn flow(&self, vc: usize, kind: FlowKind) -> FlowId {
        let ids = self.flows_of[vc].iter();
        let mut found = ids.filter(|id| self.flows[id.index()].kind == kind);
        *found.next().expect("every VC has a flow of each kind")
    }

    /// All flows of a VC.
    pub fn flows_of(&self, vc: usize) -> &[FlowId] {
        &self.flows_of[vc]
    }

    /// The links of a VC's data, from host to host.
    pub fn data_path(&self, vc: usize) -> &[usize] {
        &self.flows[self.flow(vc, FlowKind::Data).index()].path
    }

    /// Time of a cell on `link` at the rate of time 0; of the longest that its flows send if they
    /// differ.
    pub fn cell_time(&self, scenario: &Scenario, link: usize) -> Span {
        let rate = scenario.links[link].rate;
        scenario.format.time_of(self.lengths[link].longest, rate)
    }

    /// Whether the cells of `port` that come over `input` are as far apart as they take on the
    /// port, at any rates of the two. The shortest cell may follow the longest one.
    pub fn keeps_distance(&self, scenario: &Scenario, input: usize, port: usize) -> bool {
        let [input, out] = [input, port].map(|link| &scenario.links[link]);
        let time = |bytes, rate| scenario.format.time_of(bytes, rate);
        let lengths = self.lengths[port];
        let slowest = out.lowest_rate();
        slowest.0 > 0
            && time(lengths.shortest, input.highest_rate()) >= time(lengths.longest, slowest)
    }

    /// Per link, the load that cell sources offer to its NIC. Links that leave a switch have none,
    /// nor do sources that start at the end of the run or later.
    pub fn host_loads(&self, scenario: &Scenario) -> Vec<HostLoad> {
        let load = |link: usize| HostLoad {
            offered_bps: 0.0,
            rate_bps: scenario.mean_rate(link),
            waiting_bits: None,
        };
        let mut loads: Vec<HostLoad> = (0..scenario.links.len()).map(load).collect();
        for (index, vc) in scenario.vcs.iter().enumerate() {
            let link = self.data_path(index)[0];
            let offer = vc.offer(scenario.duration, scenario.format.clock);
            loads[link].offered_bps +=
                offer.map_or(0.0, |offer| match scenario.links[link].changes_rate() {
                    true => {
                        offer.bps * ((offer.to - offer.from).0 as f64 / scenario.duration.0 as f64)
                    }
                    false => offer.bps,
                });
        }
        for (link, spec) in scenario.links.iter().enumerate() {
            if spec.changes_rate() && self.host_of[link].is_some() {
                loads[link].waiting_bits = Some(self.bits_ahead(scenario, link));
            }
        }
        loads
    }

    /// Most bits of sources that do not adapt that wait before `link` at any time, if all of them get
    /// there at once.
    pub fn bits_ahead(&self, scenario: &Scenario, link: usize) -> f64 {
        let flows = self.crossing[link].iter();
        let flows = flows.map(|id| &self.flows[id.index()]);
        let data = flows.filter(|flow| flow.kind.is_data());
        let clock = scenario.format.clock;
        let offer = |flow: &Flow| scenario.vcs[flow.vc].offer(scenario.duration, clock);
        let offers = data.filter_map(offer);
        let (spec, sum) = (&scenario.links[link], |sum, offer: Offer| sum + offer.bps);
        if !spec.changes_rate() && offers.clone().fold(0.0, sum) <= spec.rate.0 as f64 {
            return 0.0;
        }
        let offers: Vec<Offer> = offers.collect();
        spec.bits_ahead(&offers, scenario.duration, clock)
    }

    /// The scheduler of the port that sends on `link`: the link's own, else the switch's. `link`
    /// must leave a switch.
    pub fn scheduler<'a>(&self, scenario: &'a Scenario, link: usize) -> &'a Scheduler {
        let switch = &scenario.switches[self.port_switch(link)];
        let of_link = scenario.links[link].scheduler.as_deref();
        port::scheduler(of_link, Some(&switch.scheduler)).expect("a switch has one")
    }

    /// The class queue of `class` at the port that sends on `link`: the link's own, else the
    /// switch's, else unlimited tail drop.
    pub fn queue<'s>(&self, scenario: &'s Scenario, link: usize, class: Class) -> &'s ClassQueue {
        let switch = &scenario.switches[self.port_switch(link)];
        port::queue(&scenario.links[link].queues, &switch.queues, class)
    }

    /// What the queues of the port of `link` count: what the pool of its switch counts, else what a
    /// class with a limit does, else cells.
    pub fn unit(&self, scenario: &Scenario, link: usize) -> Unit {
        if scenario.format.is_aal5() {
            return Unit::Cells;
        }
        if let Some(pool) = &scenario.switches[self.port_switch(link)].pool {
            return pool.buffer.unit();
        }
        let classes = self.classes[link].iter();
        let mut limits = classes.filter_map(|&class| self.queue(scenario, link, class).buffer);
        limits.next().map_or(Unit::Cells, Size::unit)
    }

    /// Bytes of a memory cell of the switch that `link` leaves, if that is a place.
    pub fn memory_cell(&self, scenario: &Scenario, link: usize) -> Option<u32> {
        let pool = scenario.switches[self.port_switch(link)].pool.as_ref()?;
        pool.cell
    }

    /// What is a place in the queues of the port of `link`.
    pub fn place(&self, scenario: &Scenario, link: usize) -> Place {
        if scenario.format.is_aal5() {
            return Place::Cell;
        }
        let each = self.memory_cell(scenario, link);
        match (each, self.unit(scenario, link)) {
            (Some(each), _) => scenario.format.place(each),
            (None, Unit::Bytes) => scenario.format.place(1),
            (None, Unit::Cells) => Place::Cell,
        }
    }

    /// The class of whose dynamic threshold a probe at the port of `link` records: the given one, else
    /// the only one with `alpha`.
    pub fn class_with_alpha(
        &self,
        scenario: &Scenario,
        link: usize,
        given: Option<Class>,
    ) -> Option<Class> {
        let has_alpha = |class: &Class| self.queue(scenario, link, *class).alpha.is_some();
        match given {
            Some(class) => Some(class).filter(has_alpha),
            None => {
                let mut found = Class::ALL.into_iter().filter(has_alpha);
                found.next().filter(|_| found.next().is_none())
            }
        }
    }

    /// Places of each cell in the queues of the port of `link`, if all take equally many.
    pub fn places_of_each(&self, scenario: &Scenario, link: usize) -> Option<u64> {
        let (place, lengths) = (self.place(scenario, link), self.lengths[link]);
        let of_each = place.of(lengths.longest);
        (place.of(lengths.shortest) == of_each).then_some(of_each)
    }

    /// K of `class` at the port of `link`, in places; `None`: unlimited.
    pub fn places(&self, scenario: &Scenario, link: usize, class: Class) -> Option<u64> {
        let Some(buffer) = self.queue(scenario, link, class).buffer else {
            let (_, pool) = self.pool_of(link)?;
            return Some(pool.shared() + self.reserve(scenario, link, class));
        };
        let (rate, clock) = (scenario.links[link].rate, scenario.format.clock);
        Some(buffer.places(rate, clock, self.memory_cell(scenario, link)))
    }

    /// r of `class` at the port of `link`, in places.
    pub fn reserve(&self, scenario: &Scenario, link: usize, class: Class) -> u64 {
        self.queue(scenario, link, class).reserved()
    }

    /// The contracts of the flows that cross `link`, by their number there. Only data flows of VCs
    /// of `class` have one.
    pub fn contracts(
        &self,
        scenario: &Scenario,
        link: usize,
        class: Class,
    ) -> Vec<Option<ContractTerms>> {
        let contract = |id: &FlowId| {
            let flow = &self.flows[id.index()];
            let vc = &scenario.vcs[flow.vc];
            let has_contract = flow.kind.is_data() && vc.class == class;
            vc.terms(scenario.format).filter(|_| has_contract)
        };
        self.crossing[link].iter().map(contract).collect()
    }

    fn port_switch(&self, link: usize) -> usize {
        self.switch_of[link].expect("a port is a link that leaves a switch")
    }
}

/// Hosts and switches by name, and the ends of each link.
struct Nodes<'s> {
    /// Number per name. Hosts come before switches.
    number: FxHashMap<&'s str, usize>,
    hosts: usize,
    /// Per link, the nodes that it leaves and enters.
    ends: Vec<[Option<usize>; 2]>,
}

impl<'s> Nodes<'s> {
    fn of(scenario: &'s Scenario) -> Nodes<'s> {
        let hosts = scenario.hosts.iter().map(|h| h.name.as_str());
        let names = hosts.chain(scenario.switches.iter().map(|s| s.name.as_str()));
        let number: FxHashMap<&str, usize> = names.zip(0..).collect();
        let of = |name: &String| number.get(name.as_str()).copied();
        let ends = scenario.links.iter().map(|l| [of(&l.from), of(&l.to)]);
        Nodes {
            ends: ends.collect(),
            number,
            hosts: scenario.hosts.len(),
        }
    }

    /// The index of a node among the hosts, if it is a host.
    fn host(&self, node: usize) -> Option<usize> {
        (node < self.hosts).then_some(node)
    }

    /// The index of a node among the switches, if it is a switch.
    fn switch(&self, node: usize) -> Option<usize> {
        node.checked_sub(self.hosts)
    }

    /// Applies `what` per link to the node at an end: 0 is the node that it leaves, 1 the node that
    /// it enters.
    fn of_links(
        &self,
        end: usize,
        what: fn(&Nodes<'s>, usize) -> Option<usize>,
    ) -> Vec<Option<usize>> {
        let node = |ends: &[Option<usize>; 2]| what(self, ends[end]?);
        self.ends.iter().map(node).collect()
    }
}

/// All flows, and those of each VC.
type Flows = (Vec<Flow>, Vec<Vec<FlowId>>);

fn flows(scenario: &Scenario, nodes: &Nodes) -> Result<Flows, String> {
    let mut between = FxHashMap::default();
    between.reserve(scenario.links.len());
    for (i, ends) in nodes.ends.iter().enumerate() {
        between.entry(*ends).or_insert(i);
    }
    let mut flows = Vec::with_capacity(FlowKind::FRAMES.len() * scenario.vcs.len());
    let mut flows_of = Vec::with_capacity(scenario.vcs.len());
    let mut names: Vec<&str> = Vec::new();
    let mut way: Vec<Option<usize>> = Vec::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        names.clear();
        names.push(&vc.from);
        names.extend(vc.route.iter().map(String::as_str));
        names.push(&vc.to);
        way.clear();
        way.extend(names.iter().map(|name| nodes.number.get(name).copied()));
        let host = |at: usize| {
            let found = way[at].and_then(|node| nodes.host(node));
            found.ok_or_else(|| format!("vc {}: no host named {}", vc.name, names[at]))
        };
        let hosts = [host(0)?, host(names.len() - 1)?];
        let link = |a: usize, b: usize| {
            let ends = way[a].and(way[b]).map(|_| [way[a], way[b]]);
            let found = ends.and_then(|ends| between.get(&ends)).copied();
            found
                .ok_or_else(|| format!("vc {}: no link from {} to {}", vc.name, names[a], names[b]))
        };
        let kinds = FlowKind::of_vc(vc.abr.is_some());
        let mut ids = Vec::with_capacity(kinds.len());
        for &kind in kinds {
            let hops = names.len() - 1;
            let mut path = Vec::with_capacity(hops);
            for at in 0..hops {
                path.push(if kind.is_forward() {
                    link(at, at + 1)?
                } else {
                    link(hops - at, hops - at - 1)?
                });
            }
            ids.push(FlowId(flows.len() as u32));
            flows.push(Flow {
                vc: index,
                kind,
                path,
                hosts: if kind.is_forward() {
                    hosts
                } else {
                    [hosts[1], hosts[0]]
                },
            });
        }
        flows_of.push(ids);
    }
    Ok((flows, flows_of))
}
