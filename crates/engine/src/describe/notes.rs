//! What is allowed and hardly meant.

use super::cost::{acks_per_segment, round_trip};
use crate::aal5::ACK_CELLS;
use crate::build::queueing_links;
use crate::flow::FlowKind;
use crate::notation::show::{show_bytes, show_cells, show_rate};
use crate::port::drop::{DropRule, Policy};
use crate::registry::MAX_CELLS;
use crate::scenario::{
    Class, ClassQueue, DropPolicy, Feedback, Link, Police, Scenario, Scheduler, TcpParams,
};
use crate::topology::{HostLoad, Topology};
use crate::units::{BitRate, CELL_BITS, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Nothing to send, shares that no scheduler looks at, sources that never start or may be drawn to start too late, hosts with more
/// cells than their link can take, frames that never fit, windows that fill no share of a link, links too slow for the ACKs of such a share, VCs of the class abr without feedback, feedback that knows no minimum rates, schedulers for classes that nobody
/// uses, buffers in which nothing can wait, policies that never refuse, or refuse most of the time, shares that a common buffer undoes, contracts that a link cannot
/// keep, tags that are read further on. `fair` are the [fair goodputs](super::fair_goodput) of VCs.
pub(super) fn notes(
    scenario: &Scenario,
    topology: &Topology,
    fair: &[(usize, f64)],
) -> Vec<String> {
    let mut notes = Vec::from_iter(nothing_to_send(scenario));
    notes.extend(unused_shares(scenario, topology));
    notes.extend(late_sources(scenario));
    notes.extend(short_lives(scenario));
    notes.extend(overloaded_hosts(scenario, topology));
    notes.extend(long_frames(scenario, topology));
    notes.extend(small_windows(scenario, topology, fair));
    notes.extend(slow_ways_back(scenario, topology, fair));
    notes.extend(sustained_rates(scenario, topology));
    notes.extend(exported_tags(scenario, topology));
    notes.extend(without_feedback(scenario, topology));
    notes.extend(shares_beside_minimum_rates(scenario, topology));
    notes.extend(nothing_to_hold(scenario, topology));
    for settings in settings(scenario, topology) {
        notes.extend(settings.unused_scheduler());
        for queue in settings.queues {
            if settings.used.contains(&queue.class) {
                notes.extend(settings.common_buffer(queue));
                notes.extend(settings.idle_policy(queue));
                notes.extend(settings.low_threshold(queue));
            }
        }
    }
    notes
}

/// The first of some names, and how many more there are.
fn some(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_string(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
        [] => String::new(),
    }
}

/// A scenario without VCs.
fn nothing_to_send(scenario: &Scenario) -> Option<String> {
    let is_idle = scenario.vcs.is_empty();
    is_idle.then(|| "the scenario has no VC, so nothing is sent".into())
}

/// Guarantees and weights of VCs that no port serves one by one, each class told once.
fn unused_shares(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut unused: BTreeMap<(&str, Class), Vec<&str>> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let path = topology.data_path(index).iter();
        let mut ports = path.filter(|&&link| topology.switch_of[link].is_some());
        let served = ports.any(|&link| topology.scheduler(scenario, link).serves_vcs_of(vc.class));
        for (field, given) in [
            ("guarantee", vc.guarantee.is_some()),
            ("weight", vc.weight != 1),
        ] {
            if given && !served {
                unused.entry((field, vc.class)).or_default().push(&vc.name);
            }
        }
    }
    let sentence = |((field, class), names): (&(&str, Class), &Vec<&str>)| {
        format!(
            "the {field} of {} has no effect: no port on the way has a per-vc scheduler for the class {}",
            some(names),
            class.name()
        )
    };
    unused.iter().map(sentence).collect()
}

/// Sources that start after the end.
fn late_sources(scenario: &Scenario) -> Option<String> {
    let vcs = scenario.vcs.iter();
    let late = vcs.filter(|vc| vc.start >= scenario.duration);
    let late: Vec<&str> = late.map(|vc| vc.name.as_str()).collect();
    let sentence = |names: &[&str]| {
        format!(
            "no data from {}: the start is the end of the run or later",
            some(names)
        )
    };
    (!late.is_empty()).then(|| sentence(&late))
}

/// Sources whose start a replication may draw at their stop or later.
fn short_lives(scenario: &Scenario) -> Option<String> {
    let drawn = &scenario.ensemble;
    let short = scenario.vcs.iter().filter(|vc| {
        let phase = vc.traffic.start_phase().filter(|_| drawn.vbr_phase);
        let latest = vc.start + drawn.start_jitter + phase.unwrap_or(Span::ZERO);
        vc.stop.is_some_and(|stop| stop < latest)
    });
    let short: Vec<&str> = short.map(|vc| vc.name.as_str()).collect();
    let sentence = |names: &[&str]| {
        format!(
            "no data from {} in some replications: the ensemble may draw a start that is not before the stop",
            some(names)
        )
    };
    (!short.is_empty()).then(|| sentence(&short))
}

/// Links of hosts whose sources of cells bring more than they can send.
fn overloaded_hosts(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let loads = topology.host_loads(scenario);
    let links = scenario.links.iter().zip(loads);
    let sentence = |(link, load): (&Link, HostLoad)| {
        format!(
            "the cell sources of the host {} offer {:.3} Mb/s to the link {}, which has {:.3} Mb/s: its queue at the host grows \
             while they send, and cells that are never sent count neither as lost nor as delayed",
            link.from,
            load.offered_bps / 1e6,
            link.name,
            load.rate_bps / 1e6,
        )
    };
    let overloaded = links.filter(|(_, load)| load.is_too_much());
    overloaded.map(sentence).collect()
}

/// Frames that are longer than a buffer on their way.
fn long_frames(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut cut: BTreeMap<(&str, u64, u64), Vec<&str>> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let Some(frame) = vc.traffic.frame() else {
            continue;
        };
        let cells = u64::from(frame.cells);
        for &link in topology.data_path(index) {
            let buffer = topology.switch_of[link]
                .and_then(|_| topology.queue(scenario, link, vc.class).buffer);
            // One cell is in service.
            if let Some(buffer) = buffer.filter(|&k| k + 1 < cells) {
                let name = scenario.links[link].name.as_str();
                cut.entry((name, cells, buffer)).or_default().push(&vc.name);
            }
        }
    }
    let sentence = |((link, cells, buffer), vcs): ((&str, u64, u64), Vec<&str>)| {
        format!(
            "a frame of {} has {cells} cells, more than the {buffer} that can wait at {link}",
            some(&vcs)
        )
    };
    cut.into_iter().map(sentence).collect()
}

/// TCPs whose window is less than their fair share of the links in a round trip.
fn small_windows(
    scenario: &Scenario,
    topology: &Topology,
    fair: &[(usize, f64)],
) -> Option<String> {
    let (mut first, mut names) = (None, Vec::new());
    for &(index, share) in fair {
        let vc = &scenario.vcs[index];
        let Some((tcp, frame)) = vc.traffic.tcp().zip(vc.traffic.frame()) else {
            continue;
        };
        let round = round_trip(scenario, topology, index, f64::from(frame.cells));
        let window = 8.0 * tcp.rwnd as f64;
        if window < ENOUGH * share * round && !fits_window(tcp) {
            names.push(vc.name.as_str());
            first.get_or_insert((tcp.rwnd, window / round, round, share));
        }
    }
    let (rwnd, most, round, share) = first?;
    Some(format!(
        "the window of {}, {}, lets {:.3} Mb/s pass in its round trip of {:.3} ms, less than a fair share of the links, {:.3} Mb/s: \
         that takes `rwnd` of {} or more",
        some(&names),
        show_bytes(rwnd),
        most / 1e6,
        round * 1e3,
        share / 1e6,
        show_bytes((share * round / 8.0).ceil() as u64),
    ))
}

/// Whether a TCP sends files that go at once.
fn fits_window(tcp: &TcpParams) -> bool {
    tcp.file_size.is_some_and(|bytes| bytes <= tcp.rwnd)
}

/// A window, or a link for ACKs, that is so much of what a share takes is not told of.
const ENOUGH: f64 = 0.9;

/// Links that could not carry the ACKs of TCPs, were these to get their fair shares of the links there; told is the one that has the least
/// of what it would take.
fn slow_ways_back(
    scenario: &Scenario,
    topology: &Topology,
    fair: &[(usize, f64)],
) -> Option<String> {
    let mut needs: BTreeMap<usize, (f64, Vec<&str>)> = BTreeMap::new();
    for &(index, share) in fair {
        let vc = &scenario.vcs[index];
        let Some(tcp) = vc.traffic.tcp().filter(|tcp| !fits_window(tcp)) else {
            continue;
        };
        let acks = acks_per_segment(tcp) * share / (8 * tcp.mss) as f64;
        let bits = acks * (u64::from(ACK_CELLS) * CELL_BITS) as f64;
        for &link in &topology.flows[topology.flow(index, FlowKind::Ack).index()].path {
            let (sum, names) = needs.entry(link).or_default();
            *sum += bits;
            names.push(&vc.name);
        }
    }
    let part = |link: usize, bits: f64| scenario.links[link].rate.0 as f64 / bits;
    let slow = needs
        .iter()
        .filter(|&(&link, &(bits, _))| part(link, bits) < ENOUGH);
    let slow: Vec<_> = slow.collect();
    let (&link, (bits, names)) = slow
        .iter()
        .copied()
        .min_by(|(a, (x, _)), (b, (y, _))| part(**a, *x).total_cmp(&part(**b, *y)))?;
    let Link { name, rate, .. } = &scenario.links[link];
    Some(format!(
        "were {} to get fair shares of the links, the ACKs would take {:.3} Mb/s of {name}{}, which has {}: while none \
         is dropped, what comes back holds the goodput down to {:.1} % of these shares",
        some(names),
        bits / 1e6,
        match slow.len() - 1 {
            0 => String::new(),
            others => format!(" (and too much of {others} more links)"),
        },
        show_rate(*rate),
        100.0 * part(link, *bits),
    ))
}

/// Links that have less than the contracts of the VCs on them sustain together; minimum rates alone are refused then.
fn sustained_rates(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut sums: BTreeMap<usize, (u64, Vec<&str>)> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let rate = vc
            .contract
            .and_then(|contract| contract.scr.or(contract.mcr));
        for &link in topology.data_path(index) {
            if let Some(rate) = rate {
                let (sum, names) = sums.entry(link).or_default();
                *sum = sum.saturating_add(rate.0);
                names.push(&vc.name);
            }
        }
    }
    let sentence = |(link, (sum, names)): (usize, (u64, Vec<&str>))| {
        let Link { name, rate, .. } = &scenario.links[link];
        (sum > rate.0).then(|| {
            format!(
                "the contracts of {} sustain {} on {name}, which has {}: not all can be kept",
                some(&names),
                show_rate(BitRate(sum)),
                show_rate(*rate)
            )
        })
    };
    sums.into_iter().filter_map(sentence).collect()
}

/// Tags that a drop policy exports and that a port further on the way looks at.
fn exported_tags(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut read: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let mut exporter = None;
        for &link in topology.data_path(index) {
            if topology.switch_of[link].is_none() {
                continue;
            }
            let queue = topology.queue(scenario, link, vc.class);
            let name = scenario.links[link].name.as_str();
            if let (Some(exporter), Some(reader)) = (exporter, reader_of_tags(&queue)) {
                read.entry((exporter, name, reader))
                    .or_default()
                    .push(&vc.name);
            }
            exporter = exporter.or(queue.drop.abilities().exports_tags.then_some(name));
        }
    }
    let sentence = |((exporter, reader, what), vcs): ((&str, &str, &str), Vec<&str>)| {
        format!(
            "the tags that {exporter} exports with cells of {} are read at {reader}: {what}",
            some(&vcs)
        )
    };
    read.into_iter().map(sentence).collect()
}

/// What a class queue does with the tags of cells that come with one; none of them begins a frame.
fn reader_of_tags(queue: &ClassQueue) -> Option<&'static str> {
    match queue.police {
        Some(Police::FGcra { .. }) => {
            return Some(
                "f-gcra drops cells that are tagged where the first of their frame is not",
            );
        }
        Some(Police::Gcra { .. }) => {
            return Some("gcra tests cells with a tag against the peak rate alone");
        }
        None => {}
    }
    queue.drop.abilities().reads_tags
}

/// VCs of the class abr whose sources ask nobody, or are told nothing.
fn without_feedback(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let (mut plain, mut untold) = (Vec::new(), Vec::new());
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let mut flows = FlowKind::FRAMES
            .map(|kind| &topology.flows[topology.flow(index, kind).index()])
            .into_iter();
        let tells = |&link: &usize| {
            let queue = topology.switch_of[link].map(|_| topology.queue(scenario, link, vc.class));
            queue.is_some_and(|queue| queue.feedback.is_some())
        };
        if vc.abr.is_some() && !flows.any(|flow| flow.path.iter().any(tells)) {
            untold.push(vc.name.as_str());
        } else if vc.abr.is_none() && vc.class == Class::Abr {
            plain.push(vc.name.as_str());
        }
    }
    let sentences = [
        (
            plain,
            "without `abr`: no rate is kept to, as in the class ubr",
        ),
        (
            untold,
            "with `abr`, and no port on the way gives feedback: the rate begins at the ICR and grows to the PCR",
        ),
    ];
    let told = sentences.iter().filter(|(names, _)| !names.is_empty());
    told.map(|(names, how)| format!("{} of the class abr is {how}", some(names)))
        .collect()
}

/// Ports at which ERICA tells equal shares that, with the minimum rates above them, are more than the link has.
fn shares_beside_minimum_rates(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let sentence = |(index, link): (usize, &Link)| {
        topology.switch_of[index]?;
        let feedback = topology.queue(scenario, index, Class::Abr).feedback?;
        // The least target: ERICA+ has less of one the longer the queue is.
        let (kind, target) = match feedback {
            Feedback::Erica(erica) => ("erica", erica.target),
            Feedback::EricaPlus(erica) => ("erica-plus", erica.qdlf),
            Feedback::EricaMcr(_)
            | Feedback::RelativeRate { .. }
            | Feedback::Efci { .. }
            | Feedback::OracleRate { .. } => return None,
        };
        let crossing = topology.crossing[index].iter();
        let data = crossing.map(|id| &topology.flows[id.index()]);
        let vcs = data.filter(|flow| flow.kind.is_data());
        let vcs = vcs.filter_map(|flow| {
            let vc = &scenario.vcs[flow.vc];
            let abr = vc.abr.as_ref()?;
            Some((vc.name.as_str(), abr.mcr.map_or(0, |mcr| mcr.0), abr.pcr))
        });
        let vcs: Vec<_> = vcs.collect();
        let share = (target.as_f64() * link.rate.0 as f64 / vcs.len() as f64) as u64;
        let told = |&(_, mcr, pcr): &(&str, u64, Option<BitRate>)| {
            mcr.max(share.min(pcr.map_or(u64::MAX, |pcr| pcr.0)))
        };
        let sum: u64 = vcs.iter().map(told).sum();
        let above = vcs.iter().filter(|&&(_, mcr, _)| mcr > share);
        let above: Vec<&str> = above.map(|&(name, ..)| name).collect();
        (sum > link.rate.0 && !above.is_empty()).then(|| {
            format!(
                "{kind} tells all at {} a share of {} at least, and the mcr of {} is more: together {}, where the link has {}; \
                 erica-mcr shares what minimum rates leave",
                link.name,
                show_rate(BitRate(share)),
                some(&above),
                show_rate(BitRate(sum)),
                show_rate(link.rate),
            )
        })
    };
    scenario
        .links
        .iter()
        .enumerate()
        .filter_map(sentence)
        .collect()
}

/// Buffers with a limit in a network where no cell can wait at any port.
fn nothing_to_hold(scenario: &Scenario, topology: &Topology) -> Option<String> {
    let has_limit = |settings: &Settings| {
        let mut queues = settings.queues.iter();
        queues.any(|queue| queue.buffer.is_some() && settings.used.contains(&queue.class))
    };
    let limited = settings(scenario, topology).find(has_limit)?;
    let none_waits = !queueing_links(scenario, topology).contains(&true);
    none_waits.then(|| {
        format!(
            "the buffer of {} stays empty, as no port can queue: each has one input, whose cells come no faster than they leave",
            limited.name
        )
    })
}

/// Settings made for all ports of a switch, or for one port.
struct Settings<'s> {
    name: &'s str,
    scheduler: Option<&'s Scheduler>,
    queues: &'s [ClassQueue],
    /// Classes of the VCs that cross any of the ports.
    used: BTreeSet<Class>,
}

/// All settings at ports that carry anything.
fn settings<'s>(scenario: &'s Scenario, topology: &Topology) -> impl Iterator<Item = Settings<'s>> {
    let mut at_switches: Vec<Settings<'s>> = scenario
        .switches
        .iter()
        .map(|switch| Settings {
            name: &switch.name,
            scheduler: Some(&switch.scheduler),
            queues: &switch.queues,
            used: BTreeSet::new(),
        })
        .collect();
    for (link, switch) in topology.switch_of.iter().enumerate() {
        if let Some(switch) = *switch {
            at_switches[switch].used.extend(&topology.classes[link]);
        }
    }
    let links = scenario.links.iter().zip(&topology.classes);
    let at_ports = links.map(|(link, classes)| Settings {
        name: &link.name,
        scheduler: link.scheduler.as_ref(),
        queues: &link.queues,
        used: classes.iter().copied().collect(),
    });
    let all = at_switches.into_iter().chain(at_ports.collect::<Vec<_>>());
    all.filter(|settings| !settings.used.is_empty())
}

impl Settings<'_> {
    /// A scheduler for a class that no VC has there.
    fn unused_scheduler(&self) -> Option<String> {
        let class = self.scheduler?.class()?;
        (!self.used.contains(&class)).then(|| {
            format!(
                "the scheduler of {} is for the class {}, which no VC has there",
                self.name,
                class.name()
            )
        })
    }

    /// A buffer shared by VCs that are served one by one.
    fn common_buffer(&self, queue: &ClassQueue) -> Option<String> {
        let class = queue.class;
        let one_by_one = self.scheduler?.serves_vcs_of(class);
        (one_by_one && queue.buffer.is_some() && !facts(queue).counts_by_vc).then(|| {
            format!(
                "the VCs of the class {} share one buffer at {}: when it is full, arrivals decide who gets \
                 in, and thereby the shares; a drop policy that counts by VC keeps them apart",
                class.name(),
                self.name
            )
        })
    }

    /// A policy that would refuse if the buffer had a limit.
    fn idle_policy(&self, queue: &ClassQueue) -> Option<String> {
        (queue.buffer.is_none() && facts(queue).needs_limit).then(|| {
            format!(
                "the drop policy of the class {} of {} refuses nothing: its buffer is unlimited",
                queue.class.name(),
                self.name
            )
        })
    }

    /// A threshold of EPD that is low for what is kept back of a small buffer, as by the default.
    fn low_threshold(&self, queue: &ClassQueue) -> Option<String> {
        let DropPolicy::Epd {
            threshold: None,
            reserve: Some(reserve),
        } = queue.drop
        else {
            return None;
        };
        let buffer = queue.buffer.filter(|&buffer| reserve > buffer / 2)?;
        let threshold = buffer.saturating_sub(reserve);
        Some(format!(
            "epd of the class {} at {} refuses new frames while more than {threshold} of {buffer} cells wait: its reserve, {}, is more than \
             half of the buffer; a smaller `reserve`, or a `threshold`, lets more in",
            queue.class.name(),
            self.name,
            show_cells(reserve)
        ))
    }
}

/// What the drop policy of a queue looks at, and when it speaks.
struct PolicyFacts {
    counts_by_vc: bool,
    /// Whether it refuses frames of a buffer with a limit, but none of one without.
    needs_limit: bool,
}

fn facts(queue: &ClassQueue) -> PolicyFacts {
    let policy = |buffer| Policy::new(&queue.drop, buffer, &[]);
    let refuses = |buffer| policy(buffer).smallest_refusal() < u64::MAX;
    PolicyFacts {
        counts_by_vc: policy(queue.buffer).needs().vc_counts,
        needs_limit: refuses(Some(MAX_CELLS)) && !refuses(None),
    }
}

#[cfg(test)]
mod tests {
    use crate::describe::describe;
    use crate::scenario::read_toml;

    /// The notes on the scenario that `text` is.
    fn notes_of(text: &str) -> Vec<String> {
        let scenario = read_toml(text, "", &[]).expect("the scenario is valid");
        describe(&scenario).expect("it can be built").notes
    }

    /// Two sources of cells and a TCP at the host `a`, whose link has 1 Mb/s.
    fn host_notes(first: &str, second: &str) -> Vec<String> {
        let text = format!(
            r#"
            duration = "1 s"
            host = [{{ name = "a" }}, {{ name = "b" }}]
            switch = [{{ name = "s" }}]
            link = [
                {{ from = "a", to = "s", rate = "1 Mbps" }},
                {{ from = "s", to = "b", rate = "10 Mbps" }},
            ]
            vc = [
                {{ from = "a", to = "b", traffic = {{ kind = "cbr", rate = "900 kbps" }} }},
                {{ from = "a", to = "b", {first} }},
                {{ from = "a", to = "b", {second} }},
            ]
            "#
        );
        notes_of(&text)
    }

    #[test]
    fn a_buffer_in_which_nothing_can_wait_is_noted() {
        let notes = |rate: &str, buffer: &str| {
            let text = format!(
                r#"
                duration = "1 s"
                host = [{{ name = "a", count = 5 }}, {{ name = "b", count = 5 }}]
                switch = [{{ name = "s", ubr = {{ buffer = "{buffer}" }} }}]
                link = [
                    {{ from = "a", to = "s", rate = "10 Mbps" }},
                    {{ from = "s", to = "b", rate = "{rate}" }},
                ]
                vc = [{{ from = "a", to = "b", traffic = {{ kind = "tcp" }} }}]
                "#
            );
            notes_of(&text)
        };
        let found = notes("10 Mbps", "1000 cells");
        let note = "the buffer of s stays empty, as no port can queue: each has one input, whose cells come no faster than they leave";
        assert_eq!(found, [note]);
        assert!(notes("9 Mbps", "1000 cells").is_empty());
        assert!(notes("10 Mbps", "unlimited").is_empty());
    }

    #[test]
    fn equal_shares_that_minimum_rates_go_beyond_are_noted() {
        let notes = |feedback: &str, mcr: &str| {
            notes_of(&format!(
                r#"
                duration = "1 s"
                host = [{{ name = "a", count = 2 }}, {{ name = "b" }}]
                switch = [{{ name = "s", abr = {{ feedback = {feedback} }} }}]
                link = [{{ from = "a", to = "s", rate = "10 Mbps" }}, {{ from = "s", to = "b", rate = "10 Mbps" }}]
                vc = [
                    {{ name = "one", from = "a1", to = "b", class = "abr", abr = {{ mcr = "{mcr}" }}, traffic = {{ kind = "tcp", rwnd = "60000 bytes" }} }},
                    {{ name = "two", from = "a2", to = "b", class = "abr", abr = {{}}, traffic = {{ kind = "tcp", rwnd = "60000 bytes" }} }},
                ]
                "#
            ))
        };
        // Half of 9 Mb/s for the second, and 5.6 for the first, are more than 10.
        let note = "erica tells all at s->b a share of 4.5 Mbps at least, and the mcr of one is more: together 10.1 Mbps, \
            where the link has 10 Mbps; erica-mcr shares what minimum rates leave";
        assert_eq!(notes("\"erica\"", "5.6 Mbps"), [note]);
        assert!(notes("\"erica\"", "5.5 Mbps").is_empty());
        assert!(notes("\"erica-mcr\"", "5.6 Mbps").is_empty());
        // The share of ERICA+ falls to half of the link's.
        assert!(notes("\"erica-plus\"", "7.5 Mbps").is_empty());
        assert_eq!(notes("\"erica-plus\"", "7.6 Mbps").len(), 1);
    }

    #[test]
    fn a_host_whose_cells_do_not_fit_its_link_is_noted() {
        let cbr = |rate: &str| format!(r#"traffic = {{ kind = "cbr", rate = "{rate}" }}"#);
        let tcp = r#"traffic = { kind = "tcp" }"#;
        let [note] = &host_notes(&cbr("800 kbps"), tcp)[..] else {
            panic!("one note")
        };
        let begins = "the cell sources of the host a offer 1.700 Mb/s to the link a->s, which has 1.000 Mb/s: ";
        assert!(note.starts_with(begins), "{note}");
        assert!(host_notes(&cbr("100 kbps"), tcp).is_empty());
        assert_eq!(host_notes(&cbr("100 kbps"), &cbr("1 bps")).len(), 1);
        // Half of the time 200 kb/s, and one that starts too late.
        let vbr = r#"traffic = { kind = "vbr", rate = "200 kbps", on = "50 ms", off = "50 ms" }"#;
        assert!(host_notes(vbr, tcp).is_empty());
        let late = format!(r#"start = "1 s", {}"#, cbr("800 kbps"));
        let found = host_notes(&late, tcp);
        assert!(matches!(&found[..], [note] if note.starts_with("no data from")));
    }

    /// Notes on a VC with `contract` from the host `a` over the switches s, t and u to b, `first` being the GFR queue of s and `second` that of u.
    fn contract_notes(contract: &str, first: &str, second: &str) -> Vec<String> {
        let text = format!(
            r#"
            duration = "1 s"
            host = [{{ name = "a" }}, {{ name = "b" }}]
            switch = [
                {{ name = "s", gfr = {{ {first} }} }}, {{ name = "t" }}, {{ name = "u", gfr = {{ {second} }} }},
            ]
            link = [
                {{ from = "a", to = "s", rate = "100 Mbps" }},
                {{ from = "s", to = "t", rate = "10 Mbps" }},
                {{ from = "t", to = "u", rate = "10 Mbps" }},
                {{ from = "u", to = "b", rate = "10 Mbps" }},
            ]
            vc = [{{ name = "v", count = 2, from = "a", to = "b", class = "gfr", traffic = {{ kind = "udp", rate = "1 Mbps" }}, contract = {{ {contract} }} }}]
            "#
        );
        let scenario = read_toml(&text, "", &[]).expect("the scenario is valid");
        describe(&scenario).expect("it can be built").notes
    }

    #[test]
    fn contracts_that_a_link_cannot_keep_are_noted() {
        let notes = |contract| contract_notes(contract, "", "");
        assert!(notes(r#"scr = "5 Mbps""#).is_empty());
        let found = notes(r#"scr = "6 Mbps""#);
        let links = ["s->t", "t->u", "u->b"];
        let expected = links.map(|link| {
            format!("the contracts of v1 and 1 more sustain 12 Mbps on {link}, which has 10 Mbps: not all can be kept")
        });
        assert_eq!(found, expected);
        assert!(notes(r#"pcr = "60 Mbps""#).is_empty());
    }

    // 8 Mb/s of cells are 6.44 of data in segments of 512 bytes: 1572 a second, whose ACKs are 848 bits each.
    #[test]
    fn ways_back_that_are_too_slow_for_the_acks_are_noted() {
        let notes = |back: &str, traffic: &str| {
            let text = format!(
                r#"
                duration = "1 s"
                host = [{{ name = "a" }}, {{ name = "b" }}]
                switch = [{{ name = "s" }}]
                link = [
                    {{ from = "a", to = "s", rate = "100 Mbps" }}, {{ from = "s", to = "b", rate = "8 Mbps", duplex = false }},
                    {{ from = "b", to = "s", rate = "{back}", duplex = false }},
                ]
                vc = [{{ count = 2, from = "a", to = "b", traffic = {{ kind = "tcp"{traffic} }} }}]
            "#
            );
            notes_of(&text)
        };
        let slow = "were vc1 and 1 more to get fair shares of the links, the ACKs would take 1.333 Mb/s of b->s, which has 640 kbps: while \
                    none is dropped, what comes back holds the goodput down to 48.0 % of these shares";
        assert_eq!(notes("640 kbps", ""), [slow]);
        assert!(notes("1300 kbps", "").is_empty());
        assert!(notes("640 kbps", r#", delayed_ack = "200 ms""#).is_empty());
        assert!(
            notes(
                "640 kbps",
                r#", file_size = "60000 bytes", files = "unlimited""#
            )
            .is_empty()
        );
        let delayed = &notes("64 kbps", r#", delayed_ack = "200 ms""#)[..];
        assert!(
            matches!(delayed, [note] if note.ends_with("down to 9.6 % of these shares")),
            "{delayed:?}"
        );
    }

    #[test]
    fn exported_tags_that_are_read_further_on_are_noted() {
        let scheme = |export| {
            format!(
                r#"buffer = "1000 cells", drop = {{ policy = "gcra-epd", threshold = "500 cells", export_tag = {export} }}"#
            )
        };
        let notes =
            |export, second: &str| contract_notes(r#"mcr = "1 Mbps""#, &scheme(export), second);
        assert!(notes(true, "").is_empty());
        let begins = "the tags that s->t exports with cells of v1 and 1 more are read at u->b: ";
        for (second, reader) in [
            (r#"police = "f-gcra""#.to_string(), "f-gcra drops"),
            (r#"police = "gcra""#.to_string(), "gcra tests"),
            (
                r#"buffer = "1000 cells", drop = "dfba""#.to_string(),
                "dfba looks",
            ),
            (scheme(false), "its buckets take"),
        ] {
            let found = notes(true, &second);
            assert!(
                matches!(&found[..], [note] if note.starts_with(&format!("{begins}{reader}"))),
                "{found:?}"
            );
            assert!(notes(false, &second).is_empty());
        }
    }

    #[test]
    fn settings_without_effect_are_noted() {
        let text = include_str!("../../../../examples/lan-5.toml");
        let notes = |overrides: &[(&str, &str)]| -> Vec<String> {
            let own: Vec<_> = overrides
                .iter()
                .map(|&(k, v)| (k.to_string(), v.to_string()))
                .collect();
            let scenario = read_toml(text, "lan-5.toml", &own).expect("the example is valid");
            describe(&scenario).expect("it can be built").notes
        };
        assert_eq!(
            notes(&[("vc", "[]")]),
            ["the scenario has no VC, so nothing is sent"]
        );
        let guarantee = ("vc.guarantee", "10 Mbps");
        let unused = "the guarantee of vc1 and 4 more has no effect: no port on the way has a per-vc scheduler for the class ubr";
        assert_eq!(notes(&[guarantee]), [unused]);
        assert_eq!(notes(&[guarantee, ("vc.weight", "2")]).len(), 2);
        let per_vc = |class| {
            let scheduler = "switch.west.scheduler";
            [
                guarantee,
                (scheduler, "per-vc"),
                ("switch.west.scheduler.class", class),
            ]
        };
        let shared = &notes(&per_vc("ubr"))[..];
        assert!(
            matches!(shared, [one] if one.starts_with("the VCs of the class ubr share one buffer at west"))
        );
        let mut apart = per_vc("ubr").to_vec();
        apart.push(("switch.west.ubr.drop", "selective-drop"));
        assert!(notes(&apart).is_empty());
        let nobody = "the scheduler of west is for the class gfr, which no VC has there";
        assert_eq!(notes(&per_vc("gfr")), [unused, nobody]);
        let unlimited =
            "the drop policy of the class ubr of west refuses nothing: its buffer is unlimited";
        assert_eq!(
            notes(&[("switch.west.ubr.buffer", "unlimited")]),
            [unlimited]
        );
        let buffer = |cells| ("switch.west.ubr.buffer", cells);
        let low = "epd of the class ubr at west refuses new frames while more than 0 of 200 cells wait: its reserve, 200 cells, is more than \
                   half of the buffer; a smaller `reserve`, or a `threshold`, lets more in";
        let reserve = ("switch.west.ubr.drop.reserve", "200 cells");
        assert_eq!(notes(&[buffer("200 cells"), reserve]), [low]);
        assert!(notes(&[buffer("400 cells"), reserve]).is_empty());
        assert!(notes(&[buffer("200 cells")]).is_empty());
        let threshold = ("switch.west.ubr.drop.threshold", "0 cells");
        assert!(notes(&[buffer("200 cells"), reserve, threshold]).is_empty());
        let late = "no data from vc1 and 4 more: the start is the end of the run or later";
        assert_eq!(notes(&[("vc.start", "10 s")]), [late]);
        let short = "no data from vc1 and 4 more in some replications: the ensemble may draw a start that is not before the stop";
        let stop = |stop| ("vc.stop", stop);
        assert_eq!(notes(&[stop("99 us")]), [short]);
        assert!(notes(&[stop("100 us")]).is_empty());
        let video = "{ kind = \"vbr\", rate = \"1 Mbps\", on = \"1 s\", off = \"1 s\" }";
        let bursts = [("vc.traffic", video), stop("1 s")];
        assert!(notes(&bursts).is_empty());
        let phase = ("ensemble.vbr_phase", "true");
        assert_eq!(notes(&[&bursts[..], &[phase]].concat()), [short]);
        // 1 s there and back, and the transmission of a frame and its ACK: 125 Mb/s for five take 3.13 MB each in a round trip.
        let delay = ("link.west->east.delay", "500 ms");
        let small = "the window of vc1 and 4 more, 65535 bytes, lets 0.524 Mb/s pass in its round trip of 1000.069 ms, less than a fair share of \
                     the links, 25.040 Mb/s: that takes `rwnd` of 3130179 bytes or more";
        assert_eq!(notes(&[delay]), [small]);
        let rwnd = |bytes| ("vc.traffic.rwnd", bytes);
        assert!(notes(&[delay, rwnd("2900000 bytes")]).is_empty());
        let file = ("vc.traffic.file_size", "60000 bytes");
        assert!(notes(&[delay, file]).is_empty());
        let mss = ("vc.traffic.mss", "65000 bytes");
        let long = "a frame of vc1 and 4 more has 1356 cells, more than the 1000 that can wait at west->east";
        assert_eq!(notes(&[mss]), [long]);
        assert!(notes(&[mss, ("switch.west.ubr.buffer", "1355 cells")]).is_empty());
    }
}
