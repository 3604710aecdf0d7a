//! Warnings about queues and schedulers.
//!
//! * Frames that never fit, and buffers in which nothing can wait.
//! * Policies that never refuse, or nearly always do.
//! * Programs that read contracts where no VC has one.
//! * Shares that a common buffer undoes.
//! * Schedulers for classes that no VC uses.

use super::named;
use crate::ground::format::Clock;
use crate::ground::units::Span;
use crate::port::drop::{DropRule, Policy};
use crate::run::resolved::{Resolved, ResolvedPort};
use crate::text::notation::show::show_cells;
use crate::text::program::names::Known;
use crate::text::registry::MAX_CELLS;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{
    Class, ClassQueue, DropPolicy, Scenario, Scheduler, Size, Switch, Threshold,
};
use std::collections::{BTreeMap, BTreeSet};

/// Notes about frames longer than a buffer on their path.
pub(super) fn long_frames(net: &Resolved<'_>) -> Vec<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut cut: BTreeMap<(&str, u64, u64), Vec<&str>> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let Some(frame) = vc.traffic.frame(scenario.format) else {
            continue;
        };
        let cells = u64::from(frame.size.cells());
        for &link in topology.data_path(index) {
            let port = net.port(link).filter(|port| port.can_queue);
            let buffer = port.and_then(|port| port.queue(vc.class).room());
            // One more cell fits, since it is in service.
            if let Some(buffer) = buffer.filter(|&k| k + 1 < cells) {
                let name = scenario.links[link].name.as_str();
                cut.entry((name, cells, buffer)).or_default().push(&vc.name);
            }
        }
    }
    let sentence = |((link, cells, buffer), vcs): ((&str, u64, u64), Vec<&str>)| {
        format!(
            "a frame of {} has {cells} cells, but only {buffer} can wait at {link}, so even a single frame may lose cells; \
             use a larger `buffer` or smaller frames",
            named(&vcs)
        )
    };
    cut.into_iter().map(sentence).collect()
}

/// Notes about programs that read the rates or burst of a contract where no VC has a contract.
pub(super) fn programs_without_contracts(net: &Resolved<'_>) -> Vec<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut found: BTreeMap<(Class, String), Vec<&str>> = BTreeMap::new();
    for (link, port) in net.ports() {
        for &class in &topology.classes[link] {
            let DropPolicy::Program(policy) = &port.queue(class).drop else {
                continue;
            };
            let of_contract = [Known::Mcr, Known::Pcr, Known::Scr, Known::Cdvt, Known::Mbs];
            let uses = &policy.program.uses;
            let read = of_contract.into_iter().filter(|&name| uses.knows(name));
            let read: Vec<&str> = read.map(Known::word).collect();
            let flows = topology.crossing[link].iter();
            let mut flows = flows.map(|id| &topology.flows[id.index()]);
            let has_data =
                flows.any(|flow| flow.kind.is_data() && scenario.vcs[flow.vc].class == class);
            let contracts = topology.contracts(scenario, link, class);
            if !read.is_empty() && has_data && contracts.iter().all(Option::is_none) {
                let name = scenario.links[link].name.as_str();
                found
                    .entry((class, read.join(", ")))
                    .or_default()
                    .push(name);
            }
        }
    }
    let sentence = |((class, read), ports): ((Class, String), Vec<&str>)| {
        format!(
            "the program of the class {} at {} reads {read}, which is 0 because no VC there has a contract{}",
            class.name(),
            named(&ports),
            match scenario.format.is_aal5() {
                true => "; give its VCs a `contract`",
                false => "",
            }
        )
    };
    found.into_iter().map(sentence).collect()
}

/// Notes about RED policies that divide their probability by the cells of a segment where a segment
/// is one packet.
pub(super) fn divided_probabilities(net: &Resolved<'_>) -> Option<String> {
    if !net.scenario.format.is_ethernet {
        return None;
    }
    let divides = |class: &Class, port: &ResolvedPort<'_>| match &port.queue(*class).drop {
        DropPolicy::AtmRed(red) | DropPolicy::CellRed(red) => red.segment_cells > Some(1),
        _ => false,
    };
    let ports = net.ports().filter(|&(link, port)| {
        let mut classes = net.topology.classes[link].iter();
        classes.any(|class| divides(class, port))
    });
    let names = ports.map(|(link, _)| net.scenario.links[link].name.as_str());
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "RED at {} divides `max_p` by the cells of a segment, but in the format ethernet a segment is one packet; \
             use `segment_cells = \"1 cell\"`",
            named(&names)
        )
    })
}

/// Warnings about the settings of each switch and each port.
pub(super) fn of_settings(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let mut notes = Vec::new();
    for settings in settings(scenario, topology) {
        notes.extend(settings.unused_scheduler());
        for queue in settings.queues {
            if settings.used.contains(&queue.class) {
                notes.extend(settings.common_buffer(queue));
                notes.extend(settings.idle_policy(queue));
                notes.extend(settings.low_threshold(queue, scenario.format.noun()));
            }
        }
    }
    notes
}

/// Notes about buffers with a limit in a network where no cell can wait at any port.
pub(super) fn nothing_to_hold(net: &Resolved<'_>) -> Option<String> {
    let has_limit = |settings: &Settings| {
        let mut queues = settings.queues.iter();
        queues.any(|queue| queue.buffer.is_some() && settings.used.contains(&queue.class))
    };
    let limited = settings(net.scenario, &net.topology).find(has_limit)?;
    let noun = net.scenario.format.noun();
    let none_waits = net.ports().all(|(_, port)| !port.can_queue);
    none_waits.then(|| {
        format!(
            "the buffer of {} has no effect, because no {noun} can wait: each port has one input, whose {noun}s arrive no faster than they leave; \
             add inputs or use a slower link",
            limited.name
        )
    })
}

/// Notes about pools in which no port takes part.
pub(super) fn unused_pools(net: &Resolved<'_>) -> Vec<String> {
    let pools = net.scenario.switches.iter().zip(&net.topology.pools);
    let unused = pools.filter(|(_, pool)| pool.as_ref().is_some_and(|p| p.links.is_empty()));
    let noun = net.scenario.format.noun();
    let comes = |name: &str| {
        let links = net.scenario.links.iter().enumerate();
        let mut ports = links.filter(|(_, link)| link.from == name);
        ports.any(|(link, _)| !net.topology.used_classes(net.scenario, link).is_empty())
    };
    let note = |(switch, _): (&Switch, _)| {
        let name = &switch.name;
        if !comes(name) {
            return format!(
                "the pool of {name} has no effect, because no {noun} comes to its ports"
            );
        }
        format!(
            "the pool of {name} has no effect, because no {noun} can wait at its ports: each has one input, whose {noun}s arrive no faster than they leave; \
             add inputs or use a slower link"
        )
    };
    unused.map(note).collect()
}

/// Settings of all ports of a switch, or of one port.
struct Settings<'s> {
    name: &'s str,
    scheduler: Option<&'s Scheduler>,
    queues: &'s [ClassQueue],
    /// Classes of the VCs that cross any of the ports.
    used: BTreeSet<Class>,
    /// Whether the switch has a pool, which limits its queues.
    pooled: bool,
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
            pooled: switch.pool.is_some(),
        })
        .collect();
    for (link, switch) in topology.switch_of.iter().enumerate() {
        if let Some(switch) = *switch {
            at_switches[switch].used.extend(&topology.classes[link]);
        }
    }
    let links = scenario.links.iter().zip(&topology.classes);
    let links = links.zip(&topology.switch_of);
    let at_ports = links.map(|((link, classes), switch)| Settings {
        name: &link.name,
        scheduler: link.scheduler.as_deref(),
        queues: &link.queues,
        used: classes.iter().copied().collect(),
        pooled: switch.is_some_and(|switch| scenario.switches[switch].pool.is_some()),
    });
    let all = at_switches.into_iter().chain(at_ports.collect::<Vec<_>>());
    all.filter(|settings| !settings.used.is_empty())
}

impl Settings<'_> {
    /// Notes about a scheduler for a class that no VC uses there.
    fn unused_scheduler(&self) -> Option<String> {
        let class = self.scheduler?.class()?;
        (!self.used.contains(&class)).then(|| {
            format!(
                "the scheduler of {} treats the class {} separately, but no VC of this class crosses it; change the class of one of them",
                self.name,
                class.name()
            )
        })
    }

    /// Notes about a buffer shared by VCs that are served one by one.
    fn common_buffer(&self, queue: &ClassQueue) -> Option<String> {
        let class = queue.class;
        let one_by_one = self.scheduler?.serves_vcs_of(class);
        let is_limited = queue.buffer.is_some() || self.pooled;
        (one_by_one && is_limited && !facts(queue).counts_by_vc).then(|| {
            format!(
                "the VCs of the class {} share one buffer at {}: when it is full, the order of arrival decides the shares; \
                 use a drop policy that counts by VC, such as selective-drop",
                class.name(),
                self.name
            )
        })
    }

    /// Notes about a policy that would refuse only if the buffer had a limit.
    fn idle_policy(&self, queue: &ClassQueue) -> Option<String> {
        let is_limited = queue.buffer.is_some() || self.pooled;
        (!is_limited && facts(queue).needs_limit).then(|| {
            format!(
                "the drop policy of the class {} at {} drops nothing, because the buffer is unlimited; set `buffer`",
                queue.class.name(),
                self.name
            )
        })
    }

    /// Notes about an EPD threshold that is low because the reserve is large for a small buffer, as
    /// the default can be.
    fn low_threshold(&self, queue: &ClassQueue, noun: &str) -> Option<String> {
        let DropPolicy::Epd {
            threshold: None,
            reserve: Some(Threshold::Cells(reserve)),
        } = queue.drop
        else {
            return None;
        };
        let Some(Size::Cells(buffer)) = queue.buffer else {
            return None;
        };
        let buffer = Some(buffer).filter(|&buffer| reserve > buffer / 2)?;
        let threshold = buffer.saturating_sub(reserve);
        Some(format!(
            "epd of the class {} at {} refuses new frames while more than {threshold} of {buffer} {noun}s wait, because `reserve`, {}, is more \
             than half of the buffer; lower `reserve` or set `threshold`",
            queue.class.name(),
            self.name,
            show_cells(reserve)
        ))
    }
}

/// What the drop policy of a queue counts, and when it acts.
struct PolicyFacts {
    counts_by_vc: bool,
    /// Whether the policy refuses frames only in a buffer with a limit.
    needs_limit: bool,
}

fn facts(queue: &ClassQueue) -> PolicyFacts {
    let policy = |buffer| Policy::new(&queue.drop, buffer, &[], Span::ZERO, Clock::AAL5);
    let refuses = |buffer| policy(buffer).smallest_refusal() < u64::MAX;
    PolicyFacts {
        counts_by_vc: policy(None).needs().vc_counts,
        needs_limit: refuses(Some(MAX_CELLS)) && !refuses(None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{notes_of, notes_of_lan};

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
        let note = "the buffer of s has no effect, because no cell can wait: each port has one input, whose cells arrive no faster than they leave; \
                    add inputs or use a slower link";
        assert_eq!(found, [note]);
        assert_eq!(notes("10 Mbps", "5 cells"), [note]);
        assert!(notes("9 Mbps", "1000 cells").is_empty());
        assert!(notes("10 Mbps", "unlimited").is_empty());
    }

    #[test]
    fn a_pool_without_ports_is_noted_and_limits_queues() {
        let pool = |cells: &str| ("switch.west.pool", format!("{{ buffer = \"{cells}\" }}"));
        let (path, value) = pool("1000 cells");
        let unlimited = ("switch.west.ubr.buffer", "unlimited");
        let dropped = "the drop policy of the class ubr at west drops nothing, because the buffer is unlimited; set `buffer`";
        let has = |set: &[(&str, &str)]| notes_of_lan(set).iter().any(|note| note == dropped);
        assert!(has(&[unlimited]));
        assert!(!has(&[unlimited, (path, &value)]));
        let text = r#"
            duration = "1 s"
            host = [{ name = "a", count = 5 }, { name = "b", count = 5 }]
            switch = [{ name = "s", pool = { buffer = "1000 cells" } }]
            link = [{ from = "a", to = "s", rate = "10 Mbps" }, { from = "s", to = "b", rate = "10 Mbps" }]
            vc = [{ from = "a", to = "b", traffic = { kind = "tcp" } }]
        "#;
        let note = "the pool of s has no effect, because no cell can wait at its ports: each has one input, whose cells arrive no faster than they leave; \
                    add inputs or use a slower link";
        assert_eq!(notes_of(text), [note]);
        let text = text
            .replace(r#"{ name = "a""#, r#"{ name = "c" }, { name = "a""#)
            .replace(
                "link = [",
                r#"link = [{ from = "a", to = "c", rate = "10 Mbps" },"#,
            )
            .replace(r#"to = "b", traffic"#, r#"to = "c", traffic"#);
        let note = "the pool of s has no effect, because no cell comes to its ports";
        assert!(notes_of(&text).iter().any(|found| found == note));
    }

    #[test]
    fn schedulers_without_effect_are_noted() {
        let guarantee = ("vc.guarantee", "10 Mbps");
        let unused = "the guarantee of vc1 and 4 more has no effect: no port on the route has a per-vc scheduler for the class ubr; \
                      add one or leave out `guarantee`";
        assert_eq!(notes_of_lan(&[guarantee]), [unused]);
        assert_eq!(notes_of_lan(&[guarantee, ("vc.weight", "2")]).len(), 2);
        let per_vc = |class| {
            let scheduler = "switch.west.scheduler";
            [
                guarantee,
                (scheduler, "per-vc"),
                ("switch.west.scheduler.class", class),
            ]
        };
        let shared = &notes_of_lan(&per_vc("ubr"))[..];
        assert!(
            matches!(shared, [one] if one.starts_with("the VCs of the class ubr share one buffer at west"))
        );
        let mut apart = per_vc("ubr").to_vec();
        apart.push(("switch.west.ubr.drop", "selective-drop"));
        assert!(notes_of_lan(&apart).is_empty());
        let nobody = "the scheduler of west treats the class gfr separately, but no VC of this class crosses it; change the class of one of them";
        assert_eq!(notes_of_lan(&per_vc("gfr")), [unused, nobody]);
    }

    #[test]
    fn policies_that_refuse_nothing_or_too_much_are_noted() {
        let unlimited = "the drop policy of the class ubr at west drops nothing, because the buffer is unlimited; set `buffer`";
        assert_eq!(
            notes_of_lan(&[("switch.west.ubr.buffer", "unlimited")]),
            [unlimited]
        );
        let buffer = |cells| ("switch.west.ubr.buffer", cells);
        let low = "epd of the class ubr at west refuses new frames while more than 0 of 200 cells wait, because `reserve`, 200 cells, is more \
                   than half of the buffer; lower `reserve` or set `threshold`";
        let reserve = ("switch.west.ubr.drop.reserve", "200 cells");
        assert_eq!(notes_of_lan(&[buffer("200 cells"), reserve]), [low]);
        assert!(notes_of_lan(&[buffer("400 cells"), reserve]).is_empty());
        let (format, mss) = (("format", "ethernet"), ("vc.traffic.mss", "1460 bytes"));
        let found = notes_of_lan(&[buffer("200 cells"), reserve, format, mss]);
        let low = low.replace("cells wait", "packets wait");
        assert_eq!(found[0], low);
        assert!(notes_of_lan(&[buffer("200 cells")]).is_empty());
        let threshold = ("switch.west.ubr.drop.threshold", "0 cells");
        assert!(notes_of_lan(&[buffer("200 cells"), reserve, threshold]).is_empty());
    }

    #[test]
    fn programs_that_read_contracts_without_any_are_noted() {
        let drop = |text: &str| {
            let policy = format!("{{ policy = \"program\", refuse = \"{text}\" }}");
            notes_of_lan(&[("switch.west.ubr.drop", &policy)])
        };
        let note = "the program of the class ubr at west->east reads MCR, MBS, which is 0 because no VC there has a contract; \
                    give its VCs a `contract`";
        assert_eq!(drop("X > 500 and Y > MCR + MBS"), [note]);
        assert!(drop("X > 500 and Y > 100").is_empty());
        assert!(drop("X > 500 and not has_contract").is_empty());
    }

    #[test]
    fn frames_longer_than_a_buffer_are_noted() {
        let mss = ("vc.traffic.mss", "65000 bytes");
        let long = "a frame of vc1 and 4 more has 1356 cells, but only 1000 can wait at west->east, so even a single frame may lose cells; \
                    use a larger `buffer` or smaller frames";
        assert_eq!(notes_of_lan(&[mss]), [long]);
        assert!(notes_of_lan(&[mss, ("switch.west.ubr.buffer", "1355 cells")]).is_empty());
    }

    #[test]
    fn a_segment_is_one_packet_for_red_in_ethernet() {
        let found = |format, drop| {
            notes_of_lan(&[
                ("format", format),
                ("vc.traffic.mss", "1460 bytes"),
                ("switch.west.ubr.drop", drop),
            ])
        };
        let one = "{ policy = \"cell-red\", segment_cells = \"1 cell\" }";
        assert!(found("aal5", "cell-red").is_empty());
        assert!(found("ethernet", one).is_empty());
        assert!(found("ethernet", "packet-red").is_empty());
        let [note] = &found("ethernet", "cell-red")[..] else {
            panic!("one note");
        };
        assert!(
            note.contains("divides `max_p` by the cells of a segment"),
            "{note}"
        );
    }
}
