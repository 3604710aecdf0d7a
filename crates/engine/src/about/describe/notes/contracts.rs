//! Warnings about promises to VCs: shares that no scheduler uses, contracts beyond a link's rate,
//! and tags that a later port reads.

use super::named;
use crate::ground::units::BitRate;
use crate::run::resolved::Resolved;
use crate::text::notation::show::show_rate;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, ClassQueue, Police, Scenario, Scheduler};
use std::collections::BTreeMap;

/// Notes about guarantees and weights of VCs that no port serves per VC, once per class.
pub(super) fn unused_shares(net: &Resolved<'_>) -> Vec<String> {
    let mut unused: BTreeMap<(&str, Class), Vec<&str>> = BTreeMap::new();
    for (index, vc) in net.scenario.vcs.iter().enumerate() {
        let used = |by: fn(&Scheduler, Class) -> bool| {
            let path = net.topology.data_path(index).iter();
            let mut ports = path.filter_map(|&link| net.port(link));
            ports.any(|port| by(port.scheduler, vc.class))
        };
        for (field, given, by) in [
            (
                "guarantee",
                vc.guarantee.is_some(),
                Scheduler::guarantees_vcs_of as fn(&Scheduler, Class) -> bool,
            ),
            ("weight", vc.weight != 1, Scheduler::weighs_vcs_of),
        ] {
            if given && !used(by) {
                unused.entry((field, vc.class)).or_default().push(&vc.name);
            }
        }
    }
    let sentence = |((field, class), names): (&(&str, Class), &Vec<&str>)| {
        format!(
            "the {field} of {} has no effect: no port on the route has a per-vc scheduler for the class {}; add one or leave out `{field}`",
            named(names),
            class.name()
        )
    };
    unused.iter().map(sentence).collect()
}

/// Notes about links slower than the sum of the sustained rates on them. Minimum rates alone never
/// get here unless the rate changes: the reader refuses such sums.
pub(super) fn sustained_rates(scenario: &Scenario, topology: &Topology) -> Vec<String> {
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
        let spec = &scenario.links[link];
        let rate = spec.lowest_rate();
        let (at_times, remedy) = match spec.changes_rate() {
            true => (" at times", "lower these rates or raise that of the link"),
            false => ("", "lower `scr` or use a faster link"),
        };
        (sum > rate.0).then(|| {
            format!(
                "the contracts of {} promise {} in total on {}, which has only {}{at_times}, so not all can be kept; {remedy}",
                named(&names),
                show_rate(BitRate(sum)),
                spec.name,
                show_rate(rate)
            )
        })
    };
    sums.into_iter().filter_map(sentence).collect()
}

/// Notes about tags that a drop policy exports and a later port on the path reads.
pub(super) fn exported_tags(net: &Resolved<'_>) -> Vec<String> {
    let (scenario, topology) = (net.scenario, &net.topology);
    let mut read: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for (index, vc) in scenario.vcs.iter().enumerate() {
        let mut exporter = None;
        for &link in topology.data_path(index) {
            let Some(queue) = net.queue(link, vc.class) else {
                continue;
            };
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
            "cells of {} that {exporter} tags keep the tag at {reader}: {what}; leave out `export_tag` to avoid this",
            named(&vcs)
        )
    };
    read.into_iter().map(sentence).collect()
}

/// What a class queue does with the tags of arriving cells, if it reads them. Tags that a drop
/// policy exports are never on the first cell of a frame.
fn reader_of_tags(queue: &ClassQueue) -> Option<&'static str> {
    match queue.police {
        Some(Police::FGcra { .. }) => {
            return Some("f-gcra drops a tagged cell if the first cell of its frame is not tagged");
        }
        Some(Police::Gcra { .. }) => {
            return Some("gcra tests tagged cells only against the peak rate");
        }
        None => {}
    }
    queue.drop.abilities().reads_tags
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes_of;

    /// Warnings for a VC with `contract` from host `a` over the switches s, t and u to b. `first`
    /// is the GFR queue of s, `second` that of u.
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
        notes_of(&text)
    }

    #[test]
    fn contracts_that_a_link_cannot_keep_are_noted() {
        let notes = |contract| contract_notes(contract, "", "");
        assert!(notes(r#"scr = "5 Mbps""#).is_empty());
        let found = notes(r#"scr = "6 Mbps""#);
        let links = ["s->t", "t->u", "u->b"];
        let expected = links.map(|link| {
            format!("the contracts of v1 and 1 more promise 12 Mbps in total on {link}, which has only 10 Mbps, so not all can be kept; \
                 lower `scr` or use a faster link")
        });
        assert_eq!(found, expected);
        assert!(notes(r#"pcr = "60 Mbps""#).is_empty());
    }

    /// The reader compares minimum rates with the rate at time 0 only.
    #[test]
    fn minimum_rates_that_a_rate_does_not_keep_at_times_are_noted() {
        let notes = |later: &str| {
            let text = format!(
                r#"
                duration = "1 s"
                host = [{{ name = "a" }}, {{ name = "b" }}]
                link = [{{ from = "a", to = "b", rate = "10 Mbps", changes = [{{ at = "0.5 s", rate = "{later}" }}] }}]
                vc = [{{ name = "v", from = "a", to = "b", class = "gfr", traffic = "tcp", contract = {{ mcr = "6 Mbps" }} }}]
                "#
            );
            notes_of(&text)
        };
        let note = "the contracts of v promise 6 Mbps in total on a->b, which has only 5 Mbps at times, so not all can be kept; \
                    lower these rates or raise that of the link";
        assert_eq!(notes("5 Mbps"), [note]);
        assert!(notes("6 Mbps").is_empty());
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
        let begins = "cells of v1 and 1 more that s->t tags keep the tag at u->b: ";
        for (second, reader) in [
            (r#"police = "f-gcra""#.to_string(), "f-gcra drops"),
            (r#"police = "gcra""#.to_string(), "gcra tests"),
            (
                r#"buffer = "1000 cells", drop = "dfba""#.to_string(),
                "dfba looks only",
            ),
            (scheme(false), "its buckets count"),
        ] {
            let found = notes(true, &second);
            assert!(
                matches!(&found[..], [note] if note.starts_with(&format!("{begins}{reader}"))),
                "{found:?}"
            );
            assert!(notes(false, &second).is_empty());
        }
    }
}
