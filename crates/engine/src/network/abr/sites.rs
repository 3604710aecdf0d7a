//! Set-up of ABR VCs (model section 12): terms of end systems, and the class queues that give them
//! feedback. ABR exists in AAL5 only, so cells and ticks are those of [`Format::AAL5`].

use super::end_system::EndSystemTerms;
use super::feedback::{Marks, Rule, SubscriberTerms};
use crate::ground::class::Class;
use crate::ground::fair::{FairVc, fair_rates};
use crate::ground::flow::{FlowId, FlowKind};
use crate::ground::format::Format;
use crate::ground::units::{BitRate, Span};
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{AbrParams, Feedback, Scenario, Vc};
use rustc_hash::FxHashMap;

/// Converts cells per second to megabits per second.
pub fn mbps(cells_per_second: f64) -> f64 {
    cells_per_second * (Format::AAL5.cell_bits as f64 * 1e-6)
}

/// Converts a bit rate to cells per second.
fn cells_per_second(rate: BitRate) -> f64 {
    Format::AAL5.cells_in(rate.0 as f64)
}

/// Class queue that gives feedback.
#[derive(Clone, Debug)]
pub struct Site {
    /// Link of the port.
    pub link: usize,
    /// Feedback rule and its parameters.
    pub feedback: Feedback,
    /// Capacity of the link, cells per second.
    pub capacity: f64,
    /// VCs with ABR end systems that cross the queue, in order of VC number.
    pub subscribers: Vec<Subscriber>,
}

/// VC with ABR end systems at a class queue that gives feedback.
#[derive(Clone, Debug)]
pub struct Subscriber {
    /// Index of the VC.
    pub vc: usize,
    /// Flows of the VC over the link: what the source or receiver sends, and the RM cells in that
    /// direction.
    pub flows: [FlowId; 2],
    /// Parameters of the VC that the port knows.
    pub terms: SubscriberTerms,
}

/// All class queues that give feedback, in the order of their links.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    /// Class queues, except those that were set apart.
    pub all: Vec<Site>,
    /// Whether any VC has ABR end systems.
    pub has_end_systems: bool,
    /// Place of each link in `all`.
    of_link: Vec<Option<u32>>,
    /// Feedback per link and VC that is the same throughout the run.
    constant_marks: FxHashMap<(usize, usize), Marks>,
}

/// Place where RM cells of a VC report a rate to a class queue, or receive its feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscriberIndex {
    /// Place of the queue in [`Sites::all`].
    pub site: u32,
    /// Place of the VC among the subscribers of the queue.
    pub vc: u32,
}

impl Sites {
    /// Collects the class queues of `scenario` that give feedback.
    pub fn new(scenario: &Scenario, topology: &Topology) -> Sites {
        let mut sites = Sites {
            all: Vec::new(),
            has_end_systems: scenario.vcs.iter().any(|vc| vc.abr.is_some()),
            of_link: vec![None; scenario.links.len()],
            constant_marks: FxHashMap::default(),
        };
        if !sites.has_end_systems {
            return sites;
        }
        for (link, spec) in scenario.links.iter().enumerate() {
            if topology.switch_of[link].is_none() {
                continue;
            }
            let queue = topology.queue(scenario, link, Class::Abr);
            let subscribers = subscribers(scenario, topology, link);
            let Some(feedback) = queue.feedback.filter(|_| !subscribers.is_empty()) else {
                continue;
            };
            sites.of_link[link] = Some(sites.all.len() as u32);
            sites.all.push(Site {
                link,
                feedback,
                capacity: cells_per_second(spec.rate),
                subscribers,
            });
        }
        let asks = |site: &Site| matches!(site.feedback, Feedback::OracleRate { .. });
        if sites.all.iter().any(asks) {
            sites.share(scenario, topology);
        }
        sites
    }

    /// Sets queues apart whose answers are known beforehand, so that nothing is measured or
    /// reported there.
    /// `never_wait` says whether no cell ever waits for a link.
    pub fn split_off_constant(&mut self, topology: &Topology, never_wait: impl Fn(usize) -> bool) {
        self.of_link.fill(None);
        let mut kept = Vec::new();
        for site in self.all.drain(..) {
            let Site { link, capacity, .. } = site;
            let terms: Vec<_> = site.subscribers.iter().map(|s| s.terms).collect();
            let alone = topology.classes[link].iter().all(|&c| c >= Class::Abr);
            match Rule::constant_marks(&site.feedback, capacity, &terms, never_wait(link), alone) {
                Some(marks) => {
                    let vcs = site.subscribers.iter().map(|s| (link, s.vc));
                    self.constant_marks.extend(vcs.zip(marks));
                }
                None => {
                    self.of_link[link] = Some(kept.len() as u32);
                    kept.push(site);
                }
            }
        }
        self.all = kept;
    }

    /// Queue that a forward cell of `flow` reports to at place `at` of its path: that of the port
    /// there.
    pub fn reports_to(
        &self,
        topology: &Topology,
        flow: FlowId,
        at: usize,
    ) -> Option<SubscriberIndex> {
        let flow = &topology.flows[flow.index()];
        self.at(flow.vc, flow.path[at])
    }

    /// Queue whose feedback a backward cell of `flow` receives at place `at` of its path.
    /// This is the queue of the port over which the opposite flow leaves the same switch.
    pub fn feedback_from(
        &self,
        topology: &Topology,
        flow: FlowId,
        at: usize,
    ) -> Option<SubscriberIndex> {
        let (vc, link) = way_there(topology, flow, at);
        self.at(vc, link)
    }

    /// Feedback for `flow` at place `at` that is the same throughout the run.
    /// Returns [`Marks::NONE`] if it is not known beforehand.
    pub fn constant_marks(&self, topology: &Topology, flow: FlowId, at: usize) -> Marks {
        let (vc, link) = way_there(topology, flow, at);
        self.constant_marks
            .get(&(link, vc))
            .copied()
            .unwrap_or(Marks::NONE)
    }

    /// Place in `all` of the class queue at `link`, if it gives feedback.
    pub fn of_link(&self, link: usize) -> Option<u32> {
        self.of_link[link]
    }

    fn at(&self, vc: usize, link: usize) -> Option<SubscriberIndex> {
        let site = self.of_link[link]?;
        let subscribers = &self.all[site as usize].subscribers;
        let vc = subscribers.binary_search_by_key(&vc, |s| s.vc).ok()? as u32;
        Some(SubscriberIndex { site, vc })
    }

    /// Gives every VC its max-min fair rate, assuming that all VCs always have data.
    fn share(&mut self, scenario: &Scenario, topology: &Topology) {
        let rates = self.fair_rates(scenario, topology, |_| f64::INFINITY);
        for site in &mut self.all {
            for subscriber in &mut site.subscribers {
                let flow = &topology.flows[subscriber.flows[0].index()];
                if flow.kind.is_data() {
                    let place = rates.binary_search_by_key(&subscriber.vc, |&(vc, _)| vc);
                    subscriber.terms.fair = rates[place.expect("it is an ABR VC")].1;
                }
            }
        }
    }

    /// Max-min fair rate of each VC with end systems, cells per second, in order of VC.
    /// The rates share the targets of feedback on the links that give it. A VC has data for at most
    /// `most(vc)` cells per second.
    pub fn fair_rates(
        &self,
        scenario: &Scenario,
        topology: &Topology,
        most: impl Fn(&Vc) -> f64,
    ) -> Vec<(usize, f64)> {
        let capacities = self.all.iter().map(|site| {
            let (target, rate) = (site.feedback.target(), site.capacity);
            (target * rate - higher_rate(scenario, topology, site.link)).max(0.0)
        });
        let capacities: Vec<f64> = capacities.collect();
        let mut vcs = Vec::new();
        let mut fair = Vec::new();
        for (index, vc) in scenario.vcs.iter().enumerate() {
            let Some(abr) = &vc.abr else { continue };
            let path = topology.data_path(index);
            let terms = subscriber(scenario, vc.weight, abr, path[0]);
            let links = path.iter().filter_map(|&link| self.of_link[link]);
            let pcr = terms.pcr.min(most(vc));
            vcs.push(index);
            fair.push(FairVc {
                mcr: terms.mcr.min(pcr),
                pcr,
                weight: terms.weight,
                links: links.map(|site| site as usize).collect(),
            });
        }
        vcs.into_iter()
            .zip(fair_rates(&fair, &capacities))
            .collect()
    }
}

/// VC of `flow`, and the link over which the opposite flow leaves the switch at place `at` of the
/// path.
fn way_there(topology: &Topology, flow: FlowId, at: usize) -> (usize, usize) {
    let flow = &topology.flows[flow.index()];
    let opposite = topology.flow(flow.vc, flow.kind.opposite());
    let opposite = &topology.flows[opposite.index()];
    (flow.vc, opposite.path[opposite.path.len() - at])
}

/// Mean rate of the classes above ABR on `link`, cells per second.
pub fn higher_rate(scenario: &Scenario, topology: &Topology, link: usize) -> f64 {
    let crossing = topology.crossing[link].iter();
    let rates = crossing.map(|id| {
        let flow = &topology.flows[id.index()];
        let vc = &scenario.vcs[flow.vc];
        let is_higher = flow.kind.is_data() && vc.class < Class::Abr;
        let rate = vc.offered_rate().filter(|_| is_higher);
        Format::AAL5.cells_in(rate.unwrap_or(0.0))
    });
    rates.sum()
}

fn subscribers(scenario: &Scenario, topology: &Topology, link: usize) -> Vec<Subscriber> {
    let mut found = Vec::new();
    for &id in &topology.crossing[link] {
        let flow = &topology.flows[id.index()];
        let vc = &scenario.vcs[flow.vc];
        let Some(abr) = vc.abr.as_ref().filter(|_| !flow.kind.is_rm()) else {
            continue;
        };
        found.push(Subscriber {
            vc: flow.vc,
            flows: [id, topology.flow(flow.vc, flow.kind.rm())],
            terms: subscriber(scenario, vc.weight, abr, flow.path[0]),
        });
    }
    found
}

/// PCR and MCR of an end system that sends on link `first`, cells per second.
fn rates(scenario: &Scenario, abr: &AbrParams, first: usize) -> [f64; 2] {
    let pcr = abr.pcr.unwrap_or(scenario.links[first].rate);
    [cells_per_second(pcr), abr.mcr.map_or(0.0, cells_per_second)]
}

/// Parameters that a port knows of a VC whose end system sends on link `first`.
fn subscriber(scenario: &Scenario, weight: u64, abr: &AbrParams, first: usize) -> SubscriberTerms {
    let [pcr, mcr] = rates(scenario, abr, first);
    SubscriberTerms {
        mcr,
        pcr,
        weight: weight as f64,
        fair: pcr,
    }
}

/// Terms of the end system that sends `flow`, of a VC with `abr`.
pub fn terms(
    scenario: &Scenario,
    topology: &Topology,
    abr: &AbrParams,
    flow: FlowId,
) -> EndSystemTerms {
    let flow = &topology.flows[flow.index()];
    let [pcr, mcr] = rates(scenario, abr, flow.path[0]);
    let frtt = abr
        .frtt
        .unwrap_or_else(|| round_trip(scenario, topology, flow.vc));
    let first = abr.icr.map_or(pcr, cells_per_second);
    EndSystemTerms {
        pcr,
        mcr,
        icr: first
            .min(abr.tbe as f64 / frtt.as_seconds(Format::AAL5.clock))
            .max(mcr),
        nrm: abr.nrm,
        trm: abr.trm,
        rif: abr.rif.as_f64(),
        rdf: abr.rdf.as_f64(),
        cdf: abr.cdf.as_f64(),
        adtf: abr.adtf,
        crm: abr.crm.unwrap_or(abr.tbe.div_ceil(abr.nrm)),
        rates: abr.rates,
        queue: abr.queue,
    }
}

/// Round trip of a cell through the empty network.
/// The sum has cell times, propagation, and the mean processing time of switches, there and back.
fn round_trip(scenario: &Scenario, topology: &Topology, vc: usize) -> Span {
    let mut takes = Span::ZERO;
    for kind in FlowKind::FRAMES {
        for &link in &topology.flows[topology.flow(vc, kind).index()].path {
            let spec = &scenario.links[link];
            takes += scenario.format.cell_time(spec.rate) + spec.delay;
            let switch = topology.enters[link].and_then(|s| scenario.switches[s].processing);
            takes += switch.map_or(Span::ZERO, |p| p.mean);
        }
    }
    takes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scenario::read_toml;

    /// Terms of the sender in a network with one VC, these end systems, and links of 1 Mb/s.
    fn terms_of(abr: &str) -> EndSystemTerms {
        let text = format!(
            r#"
            name = "one"
            duration = "1 s"
            host = [{{ name = "a" }}, {{ name = "b" }}]
            switch = [{{ name = "s", processing = {{ kind = "latency", per = "cell", mean = "1 ms" }} }}]
            link = [
                {{ from = "a", to = "s", rate = "1 Mbps", delay = "10 ms" }},
                {{ from = "s", to = "b", rate = "1 Mbps", delay = "38.152 ms" }},
            ]
            vc = [{{ from = "a", to = "b", route = ["s"], class = "abr", abr = {abr}, traffic = "udp" }}]
            "#
        );
        let scenario = read_toml(&text, "", &[]).expect("it is right");
        let topology = Topology::new(&scenario).expect("it is right");
        let abr = scenario.vcs[0].abr.expect("it has end systems");
        let flow = topology.flow(0, FlowKind::Data);
        terms(&scenario, &topology, &abr, flow)
    }

    /// Cells per second at 1 Mb/s.
    const LINE: f64 = 1e6 / 424.0;

    // Each way has two cell times of 0.424 ms, 48.152 ms and 1 ms, so FRTT is 100 ms.
    #[test]
    fn icr_is_at_most_tbe_over_frtt_but_at_least_mcr() {
        let near =
            |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-9, "{found}");
        near(terms_of("{ tbe = \"100 cells\" }").icr, 1000.0);
        near(
            terms_of("{ tbe = \"100 cells\", frtt = \"200 ms\" }").icr,
            500.0,
        );
        near(terms_of("{ tbe = \"300 cells\" }").icr, LINE);
        near(
            terms_of("{ tbe = \"100 cells\", icr = \"0.1 Mbps\" }").icr,
            0.1 * LINE,
        );
        near(
            terms_of("{ tbe = \"100 cells\", mcr = \"0.5 Mbps\" }").icr,
            0.5 * LINE,
        );
    }

    #[test]
    fn crm_is_tbe_over_nrm_rounded_up() {
        assert_eq!(terms_of("{ tbe = \"96 cells\" }").crm, 3);
        assert_eq!(terms_of("{ tbe = \"97 cells\" }").crm, 4);
        assert_eq!(terms_of("{ tbe = \"97 cells\", nrm = 16 }").crm, 7);
        assert_eq!(terms_of("{ tbe = \"97 cells\", crm = 1 }").crm, 1);
        assert_eq!(terms_of("{}").crm, 524_288);
    }

    // The target 0.9 x 10 Mb/s minus 2 Mb/s of VBR cells above leaves 7 Mb/s for both ABR VCs. CBR
    // cells in the ABR class, and the load that the ABR VCs offer, are not above.
    #[test]
    fn fair_rates_share_what_the_classes_above_leave() {
        let text = r#"
            duration = "1 s"
            host = [{ name = "a" }, { name = "b" }]
            switch = [{ name = "s", abr = { feedback = { kind = "oracle-rate", target = 0.9 } } }]
            link = [
                { from = "a", to = "s", rate = "100 Mbps", delay = "1 ms" },
                { from = "s", to = "b", rate = "10 Mbps", delay = "1 ms" },
            ]
            vc = [
                { from = "a", to = "b", class = "abr", abr = {}, traffic = { kind = "udp", rate = "1 Mbps" } },
                { from = "a", to = "b", class = "abr", abr = {}, traffic = "udp" },
                { from = "a", to = "b", class = "abr", traffic = { kind = "cbr", rate = "3 Mbps" } },
                { from = "a", to = "b", class = "vbr", traffic = { kind = "cbr", rate = "2 Mbps" } },
            ]
        "#;
        let scenario = read_toml(text, "", &[]).expect("it is right");
        let topology = Topology::new(&scenario).expect("it is right");
        let sites = Sites::new(&scenario, &topology);
        let to_b = scenario.links.iter().position(|link| link.to == "b");
        let site = sites.all.iter().find(|site| Some(site.link) == to_b);
        let subscribers = &site.expect("it gives feedback").subscribers;
        let fair: Vec<f64> = subscribers.iter().map(|s| mbps(s.terms.fair)).collect();
        assert_eq!(fair.len(), 2);
        assert!(
            fair.iter().all(|rate| (rate - 3.5).abs() < 1e-9),
            "{fair:?}"
        );
    }

    #[test]
    fn rates_not_told_are_those_of_the_line_and_none() {
        let terms = terms_of("{}");
        assert_eq!((terms.pcr, terms.mcr, terms.icr), (LINE, 0.0, LINE));
        assert_eq!((terms.nrm, terms.trm), (32, Span::from_milliseconds(100)));
    }
}
