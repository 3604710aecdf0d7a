//! Warnings about ABR: VCs without feedback, ports that feedback overloads, and rates above what
//! minimum rates or targets leave.

use super::{largest, named};
use crate::ground::flow::FlowKind;
use crate::ground::format::Format;
use crate::ground::units::{BitRate, Ratio};
use crate::network::abr::{Sites, higher_rate};
use crate::run::resolved::Resolved;
use crate::text::notation::show::{show_rate, show_ratio};
use crate::text::scenario::fair_goodput::MOST_VCS;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, Feedback, Link, Scenario, Vc};
use std::collections::BTreeMap;

/// All warnings about ABR.
pub(super) fn notes(net: &Resolved<'_>) -> Vec<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut notes = without_feedback(net);
    if scenario.vcs.iter().all(|vc| vc.abr.is_none()) {
        return notes;
    }
    notes.extend(shares_beside_minimum_rates(net));
    notes.extend(targets_above_the_rate(net));
    let shares = shares(scenario, topology);
    notes.extend(ports_beyond_feedback(net, &shares));
    notes.extend(late_stops(scenario, &shares));
    notes
}

/// Notes about VCs of the class abr that have no end systems or get no feedback.
fn without_feedback(net: &Resolved<'_>) -> Vec<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let (mut plain, mut untold) = (Vec::new(), Vec::new());
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let mut flows = FlowKind::FRAMES
            .map(|kind| &topology.flows[topology.flow(index, kind).index()])
            .into_iter();
        let has_feedback = |&link: &usize| {
            let queue = net.queue(link, vc.class);
            queue.is_some_and(|queue| queue.feedback.is_some())
        };
        if vc.abr.is_some() && !flows.any(|flow| flow.path.iter().any(has_feedback)) {
            untold.push(vc.name.as_str());
        } else if vc.abr.is_none() && vc.class == Class::Abr {
            plain.push(vc.name.as_str());
        }
    }
    let sentences = [
        (
            plain,
            "no rate control for",
            "the class is abr, but `abr` is not set; set `abr = {}` to follow feedback",
        ),
        (
            untold,
            "no feedback for",
            "no port on the route gives any, so the rate starts at the ICR and grows to the PCR; set `abr.feedback` on a switch",
        ),
    ];
    let told = sentences.iter().filter(|(names, ..)| !names.is_empty());
    told.map(|(names, what, why)| format!("{what} {}: {why}", named(names)))
        .collect()
}

/// Notes about ports where ERICA's equal shares and the minimum rates above them exceed the link's
/// rate.
fn shares_beside_minimum_rates(net: &Resolved<'_>) -> Vec<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let sentence = |(index, link): (usize, &Link)| {
        let feedback = net.queue(index, Class::Abr)?.given.feedback.as_ref()?;
        // Use the lowest target: ERICA+ lowers it as the queue grows.
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
                "{kind} at {} gives each VC at least {}, and {} more by `mcr`: together {}, above the {} of the link; \
                 use erica-mcr, which shares only what minimum rates leave",
                link.name,
                show_rate(BitRate(share)),
                named(&above),
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

/// Notes about ports where ERICA may let several VCs exceed the link's rate for ever.
///
/// MaxAllocPrevious repeats the largest rate while the load is at most 1 + delta times the target.
/// Names the port that accepts the most.
fn targets_above_the_rate(net: &Resolved<'_>) -> Option<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut ports = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        let port = net.port(index).filter(|port| port.can_queue);
        let feedback = port.and_then(|port| port.queue(Class::Abr).given.feedback.as_ref());
        let Some(Feedback::Erica(erica) | Feedback::EricaMcr(erica)) = feedback else {
            continue;
        };
        let flows = topology.crossing[index].iter();
        let data = flows.map(|id| &topology.flows[id.index()]);
        let vcs = data.filter(|f| f.kind.is_data() && scenario.vcs[f.vc].abr.is_some());
        if erica.max_alloc_previous
            && exceeds_the_rate(erica.target, erica.delta)
            && vcs.count() > 1
        {
            let accepted = erica.target.as_f64() * (1.0 + erica.delta.as_f64());
            ports.push((accepted, link.name.as_str(), erica));
        }
    }
    let (accepted, erica, names) = largest(ports.into_iter())?;
    Some(format!(
        "the feedback of {names} accepts {accepted:.4} times the link rate (target {} times 1 + delta {}), so its queue may grow until the end; \
         lower `target` or `delta`, or use erica-plus",
        show_ratio(erica.target),
        show_ratio(erica.delta),
    ))
}

/// Whether target (1 + delta) is above 1.
fn exceeds_the_rate(target: Ratio, delta: Ratio) -> bool {
    let [target_num, target_den, num, den] =
        [target.num, target.den, delta.num, delta.den].map(u128::from);
    target_num * (den + num) > target_den * den
}

/// VCs with ABR end systems and feedback on their path, each with its fair rate among greedy
/// sources, in bits per second.
fn shares(scenario: &Scenario, topology: &Topology) -> Vec<(usize, f64)> {
    if scenario.vcs.len() > MOST_VCS {
        return Vec::new();
    }
    let sites = Sites::new(scenario, topology);
    let offered = |vc: &Vc| {
        let offered = vc.traffic.offered_rate();
        offered.map_or(f64::INFINITY, |bps| Format::AAL5.cells_in(bps))
    };
    let rates = sites.fair_rates(scenario, topology, offered);
    let has_feedback = |&(vc, _): &(usize, f64)| {
        let mut links = topology.data_path(vc).iter();
        links.any(|&link| sites.of_link(link).is_some())
    };
    let found = rates.into_iter().filter(has_feedback);
    found
        .map(|(vc, rate)| (vc, rate * Format::AAL5.cell_bits as f64))
        .collect()
}

/// Notes about ports without feedback that carry less than feedback elsewhere lets their VCs send.
/// Names the port with the smallest fraction.
fn ports_beyond_feedback(net: &Resolved<'_>, shares: &[(usize, f64)]) -> Option<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut loads: BTreeMap<usize, (f64, Vec<&str>)> = BTreeMap::new();
    for &(vc, rate) in shares {
        for &link in topology.data_path(vc) {
            let (sum, names) = loads.entry(link).or_default();
            *sum += rate;
            names.push(&scenario.vcs[vc].name);
        }
    }
    let part = |link: usize, load: f64| {
        let higher = higher_rate(scenario, topology, link) * Format::AAL5.cell_bits as f64;
        (scenario.mean_rate(link) - higher) / load
    };
    let lacks_feedback = |link: usize| {
        let port = net.port(link).filter(|port| port.can_queue);
        port.is_some_and(|port| port.queue(Class::Abr).feedback.is_none())
    };
    let loads = loads.into_iter();
    let slow =
        loads.filter(|&(link, (load, _))| lacks_feedback(link) && part(link, load) < 1.0 - 1e-9);
    let mut slow: Vec<_> = slow
        .map(|(link, (load, names))| (part(link, load), link, load, names))
        .collect();
    slow.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, link, load, names) = slow.first()?;
    let spec = &scenario.links[*link];
    let remedy = match spec.changes_rate() {
        true => "",
        false => "set `abr.feedback` there or ",
    };
    Some(format!(
        "feedback lets {} send {:.3} Mb/s through {}, which has {} and no feedback, so its queue grows; {remedy}lower `pcr`{}",
        named(names),
        load / 1e6,
        spec.name,
        scenario.shown_rate(*link),
        match slow.len() - 1 {
            0 => String::new(),
            others => format!(" (also at {others} more)"),
        },
    ))
}

/// Queueing after the stop that is at most this fraction of the active time is not reported.
const SHORT: f64 = 0.05;

/// Notes about sources that stop while a long queue still waits before their ABR end systems. Names
/// the source that sends for the longest time afterwards.
fn late_stops(scenario: &Scenario, shares: &[(usize, f64)]) -> Option<String> {
    let late = shares.iter().filter_map(|&(index, rate)| {
        let vc = &scenario.vcs[index];
        let stop = vc.stop.filter(|&stop| stop < scenario.duration)?;
        let (offered, abr) = vc.traffic.offered_rate().zip(vc.abr)?;
        let clock = Format::AAL5.clock;
        let active = stop.as_seconds(clock) - vc.start.as_seconds(clock);
        let most = abr.queue.map_or(f64::INFINITY, |cells| {
            (cells * Format::AAL5.cell_bits) as f64
        });
        let rest = scenario.duration.as_seconds(clock) - stop.as_seconds(clock);
        let late = (((offered - rate) * active).min(most) / rate).min(rest);
        (late > SHORT * active).then_some((late, vc.name.as_str(), (offered, rate)))
    });
    let (longest, (offered, rate), names) = largest(late)?;
    Some(format!(
        "{names} may send for up to {longest:.3} s after `stop`: the source offers {:.3} Mb/s, feedback allows {:.3} Mb/s, and the rest waits \
         at the host; limit this queue with `abr.queue`",
        offered / 1e6,
        rate / 1e6,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes_of;

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
        // The second VC gets half of 9 Mb/s and the first 5.6 Mb/s, together more than 10 Mb/s.
        let note = "erica at s->b gives each VC at least 4.5 Mbps, and one more by `mcr`: together 10.1 Mbps, \
            above the 10 Mbps of the link; use erica-mcr, which shares only what minimum rates leave";
        assert_eq!(notes("\"erica\"", "5.6 Mbps"), [note]);
        assert!(notes("\"erica\"", "5.5 Mbps").is_empty());
        assert!(notes("\"erica-mcr\"", "5.6 Mbps").is_empty());
        // ERICA+ lowers its target to half of the link's rate.
        assert!(notes("\"erica-plus\"", "7.5 Mbps").is_empty());
        assert_eq!(notes("\"erica-plus\"", "7.6 Mbps").len(), 1);
    }

    /// Two VCs over a link with feedback, each with a last link without feedback. `last` holds the
    /// settings of that link.
    fn slow_ends(last: &str, feedback: &str, vc: &str) -> Vec<String> {
        notes_of(&format!(
            r#"
            duration = "1 s"
            host = [{{ name = "a", count = 2 }}, {{ name = "b", count = 2 }}]
            switch = [{{ name = "s" }}, {{ name = "t" }}]
            link = [
                {{ from = "a", to = "s", rate = "10 Mbps" }},
                {{ from = "s", to = "t", rate = "8 Mbps", abr = {{ feedback = "erica" }} }},
                {{ from = "t", to = "b", rate = "{last}"{feedback} }},
            ]
            vc = [{{ name = "v", from = "a", to = "b", class = "abr", {vc} }}]
            "#
        ))
    }

    #[test]
    fn a_port_without_feedback_that_is_slower_than_feedback_allows_is_noted() {
        let tcp = r#"abr = {}, traffic = "tcp""#;
        // Each VC gets half of 0.9 times 8 Mb/s.
        let note = "feedback lets v1 send 3.600 Mb/s through t->b1, which has 2 Mbps and no feedback, so its queue grows; \
                    set `abr.feedback` there or lower `pcr` (also at 1 more)";
        assert_eq!(slow_ends("2 Mbps", "", tcp), [note]);
        assert_eq!(slow_ends("3.5 Mbps", "", tcp).len(), 1);
        assert!(slow_ends("3.6 Mbps", "", tcp).is_empty());
        let feedback = r#", abr = { feedback = "erica" }"#;
        assert!(slow_ends("2 Mbps", feedback, tcp).is_empty());
        let pcr = r#"abr = { pcr = "2 Mbps" }, traffic = "tcp""#;
        assert!(slow_ends("2 Mbps", "", pcr).is_empty());
        let slow = r#"abr = {}, traffic = { kind = "udp", rate = "2 Mbps" }"#;
        assert!(slow_ends("2 Mbps", "", slow).is_empty());
        // Feedback is refused where the rate changes.
        let changes = r#", changes = [{ at = "0.5 s", rate = "1 Mbps" }]"#;
        let note = "feedback lets v1 send 3.600 Mb/s through t->b1, which has 2.5 Mbps in the mean and no feedback, so its queue \
                    grows; lower `pcr` (also at 1 more)";
        assert_eq!(slow_ends("4 Mbps", changes, tcp), [note]);
    }

    #[test]
    fn a_target_that_with_delta_is_above_the_rate_is_noted() {
        let notes = |target: &str, delta: &str, count: u32| {
            notes_of(&format!(
                r#"
                duration = "1 s"
                host = [{{ name = "a", count = {count} }}, {{ name = "b" }}]
                switch = [{{ name = "s", abr = {{ feedback = {{ kind = "erica", target = {target}, delta = {delta} }} }} }}]
                link = [{{ from = "a", to = "s", rate = "20 Mbps" }}, {{ from = "s", to = "b", rate = "10 Mbps" }}]
                vc = [{{ from = "a", to = "b", class = "abr", abr = {{}}, traffic = "tcp" }}]
                "#
            ))
        };
        let note = "the feedback of s->b accepts 1.0450 times the link rate (target 0.95 times 1 + delta 0.1), so its queue may grow until \
                    the end; lower `target` or `delta`, or use erica-plus";
        assert_eq!(notes("0.95", "0.1", 2), [note]);
        assert!(notes("0.9", "0.1", 2).is_empty());
        assert!(notes("1", "0", 2).is_empty());
        // A single VC gets back the rate that it sent.
        assert!(notes("1", "0.1", 1).is_empty());
    }

    #[test]
    fn the_target_furthest_above_the_rate_is_noted() {
        let [note] = &notes_of(
            r#"
            duration = "1 s"
            host = [{ name = "a", count = 2 }, { name = "b" }]
            switch = [{ name = "s" }, { name = "t" }]
            link = [
                { from = "a", to = "s", rate = "20 Mbps" },
                { from = "s", to = "t", rate = "10 Mbps", abr = { feedback = { kind = "erica", target = 0.95, delta = 0.1 } } },
                { from = "t", to = "b", rate = "5 Mbps", abr = { feedback = { kind = "erica", target = 1, delta = 0.1 } } },
            ]
            vc = [{ from = "a", to = "b", class = "abr", abr = {}, traffic = "tcp" }]
            "#,
        )[..] else {
            panic!("one note");
        };
        let begins = "the feedback of t->b and 1 more accepts 1.1000 times the link rate (target 1 times 1 + delta 0.1)";
        assert!(note.starts_with(begins), "{note}");
    }

    #[test]
    fn a_stop_that_takes_effect_late_is_noted() {
        let udp = |rate: &str, abr: &str, stop: &str| {
            let vc = format!(
                r#"abr = {{ {abr} }}, stop = "{stop}", traffic = {{ kind = "udp", rate = "{rate}" }}"#
            );
            slow_ends("5 Mbps", "", &vc)
        };
        let note = "v1 and 1 more may send for up to 0.533 s after `stop`: the source offers 10.000 Mb/s, feedback allows 3.600 Mb/s, \
                    and the rest waits at the host; limit this queue with `abr.queue`";
        assert_eq!(udp("10 Mbps", "", "300 ms"), [note]);
        assert!(udp("10 Mbps", r#"queue = "100 cells""#, "300 ms").is_empty());
        assert_eq!(udp("10 Mbps", r#"queue = "1000 cells""#, "300 ms").len(), 1);
        assert!(udp("3.6 Mbps", "", "300 ms").is_empty());
        assert!(udp("10 Mbps", "", "1 s").is_empty());
        // The source that sends for the longest time is named first.
        let two = r#"abr = {}, stop = "100 ms", traffic = { kind = "udp", rate = "3 Mbps" } },
            { name = "w", from = "a1", to = "b1", class = "abr", abr = {}, stop = "100 ms", traffic = { kind = "udp", rate = "6 Mbps" }"#;
        let [note] = &slow_ends("5 Mbps", "", two)[..] else {
            panic!("one note");
        };
        let begins =
            "w and 2 more may send for up to 0.150 s after `stop`: the source offers 6.000 Mb/s";
        assert!(note.starts_with(begins), "{note}");
    }
}
