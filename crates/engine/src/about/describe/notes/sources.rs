//! Warnings about sources: nothing to send, starts that come too late, and hosts that exceed their
//! link.

use super::{largest, named};
use crate::ground::units::Span;
use crate::text::registry::Family;
use crate::text::scenario::topology::{HostLoad, Topology};
use crate::text::scenario::{Link, Scenario};
use std::collections::BTreeMap;

/// Notes about a scenario without VCs.
pub(super) fn nothing_to_send(scenario: &Scenario) -> Option<String> {
    let is_idle = scenario.vcs.is_empty();
    is_idle.then(|| "the scenario has no VC, so nothing is sent; add a [[vc]]".into())
}

/// Notes about sources that start after the end of the run.
pub(super) fn late_sources(scenario: &Scenario) -> Option<String> {
    let vcs = scenario.vcs.iter();
    let late = vcs.filter(|vc| vc.start >= scenario.duration);
    let late: Vec<&str> = late.map(|vc| vc.name.as_str()).collect();
    let sentence = |names: &[&str]| {
        format!(
            "no data from {}: `start` is not before the end of the run; use an earlier `start` or a longer `duration`",
            named(names)
        )
    };
    (!late.is_empty()).then(|| sentence(&late))
}

/// Notes about sources whose random start in a replication may fall at their stop or later.
pub(super) fn short_lives(scenario: &Scenario) -> Option<String> {
    let drawn = &scenario.ensemble;
    let short = scenario.vcs.iter().filter(|vc| {
        let phase = vc.traffic.start_phase().filter(|_| drawn.vbr_phase);
        let latest = vc.start + drawn.start_jitter + phase.unwrap_or(Span::ZERO);
        vc.stop.is_some_and(|stop| stop < latest)
    });
    let short: Vec<&str> = short.map(|vc| vc.name.as_str()).collect();
    let sentence = |names: &[&str]| {
        format!(
            "no data from {} in some replications: the start drawn at random may not be before `stop`; use a later `stop` or limit the draws in `ensemble`",
            named(names)
        )
    };
    (!short.is_empty()).then(|| sentence(&short))
}

/// Notes about replications of a scenario that does not state `ensemble.start_jitter`: they delay TCPs
/// that send files and start at one instant, which spreads the burst.
pub(super) fn drawn_starts(scenario: &Scenario) -> Option<String> {
    let mut together: BTreeMap<Span, usize> = BTreeMap::new();
    for vc in scenario
        .vcs
        .iter()
        .filter(|vc| vc.start < scenario.duration)
    {
        if vc.traffic.tcp().is_some_and(|tcp| tcp.file_size.is_some()) {
            *together.entry(vc.start).or_default() += 1;
        }
    }
    let most = together.into_values().max().filter(|&count| count > 1)?;
    let ensemble = Family::Ensemble.find("ensemble")?;
    let jitter = ensemble.parameter("start_jitter")?;
    Some(format!(
        "{most} TCPs that send files start at one instant, but each replication delays each of them at random, by up to \
         {} (the default of `ensemble.start_jitter`); state \"0 s\" to keep them together",
        jitter.default_text()
    ))
}

/// Notes about host links whose cell sources exceed the link's rate.
pub(super) fn overloaded_hosts(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let loads = topology.host_loads(scenario);
    let noun = scenario.format.noun();
    let links = scenario.links.iter().zip(loads);
    let sentence = |(link, load): (&Link, HostLoad)| {
        if let Some(bits) = load.waiting_bits {
            return format!(
                "the {noun} sources of the host {} offer {:.3} Mb/s in the mean to the link {}, whose rate changes: up to {} bytes wait at the \
                 host, and count neither as lost nor as delayed; use lower rates",
                link.from,
                load.offered_bps / 1e6,
                link.name,
                (bits / 8.0).ceil(),
            );
        }
        format!(
            "the {noun} sources of the host {} offer {:.3} Mb/s to the link {}, which has {:.3} Mb/s: {noun}s that wait at the host \
             count neither as lost nor as delayed; use lower rates",
            link.from,
            load.offered_bps / 1e6,
            link.name,
            load.rate_bps / 1e6,
        )
    };
    let overloaded = links.filter(|(_, load)| load.is_too_much());
    overloaded.map(sentence).collect()
}

/// Notes about shapers that are not slower than the link behind them. Names the fastest.
pub(super) fn fast_shapers(scenario: &Scenario, topology: &Topology) -> Option<String> {
    let fast = scenario.vcs.iter().enumerate().filter_map(|(index, vc)| {
        let (rate, link) = (
            vc.shape?.rate,
            &scenario.links[topology.data_path(index)[0]],
        );
        let fastest = link.highest_rate();
        (rate >= fastest).then_some((rate.0 as f64, vc.name.as_str(), link))
    });
    let (rate, link, names) = largest(fast)?;
    Some(format!(
        "the shaper of {names} is not slower than the link behind it: {:.3} Mb/s, and {} has {}{:.3} Mb/s; lower `shape.rate`",
        rate / 1e6,
        link.name,
        if link.changes_rate() { "at most " } else { "" },
        link.highest_rate().0 as f64 / 1e6,
    ))
}

/// Notes about sources that offer more than their shaper lets go. Names that with the largest
/// excess.
pub(super) fn overloaded_shapers(scenario: &Scenario) -> Option<String> {
    let over = scenario.vcs.iter().filter_map(|vc| {
        let offered = vc.traffic.offered_rate()?;
        let rate = vc.shape?.rate.0 as f64;
        let is_too_much = offered > rate * (1.0 + 1e-9) && vc.start < scenario.duration;
        is_too_much.then_some((offered - rate, vc.name.as_str(), (offered, rate)))
    });
    let (_, (offered, rate), names) = largest(over)?;
    Some(format!(
        "the source of {names} offers {:.3} Mb/s to its shaper, which lets {:.3} Mb/s go: {}s that wait at the host count neither \
         as lost nor as delayed; use a lower rate of the source",
        offered / 1e6,
        rate / 1e6,
        scenario.format.noun(),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{notes_of, notes_of_lan};
    use super::drawn_starts;
    use crate::text::scenario::read_toml;

    /// Warnings for two cell sources and a TCP at the host `a`, whose link has 1 Mb/s.
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
        // One source sends 200 kb/s half of the time; another starts too late.
        let vbr = r#"traffic = { kind = "vbr", rate = "200 kbps", on = "50 ms", off = "50 ms" }"#;
        assert!(host_notes(vbr, tcp).is_empty());
        let late = format!(r#"start = "1 s", {}"#, cbr("800 kbps"));
        let found = host_notes(&late, tcp);
        assert!(matches!(&found[..], [note] if note.starts_with("no data from")));
    }

    #[test]
    fn a_host_whose_link_pauses_is_noted_if_cells_wait_then() {
        let notes = |more: &str| {
            let text = format!(
                r#"
                duration = "10 s"
                host = [{{ name = "a" }}, {{ name = "b" }}]
                link = [{{ from = "a", to = "b", rate = "100 Mbps", changes = [{{ at = "2 s", rate = "0 bps" }}, {{ at = "4 s", rate = "100 Mbps" }}] }}]
                vc = [{{ from = "a", to = "b", {more} }}]
                "#
            );
            notes_of(&text)
        };
        let cbr = r#"traffic = { kind = "cbr", rate = "60 Mbps" }"#;
        let waits = "the cell sources of the host a offer 60.000 Mb/s in the mean to the link a->b, whose rate changes: up to 15000000 bytes wait \
                     at the host, and count neither as lost nor as delayed; use lower rates";
        assert_eq!(notes(cbr), [waits]);
        assert!(notes(&format!(r#"start = "4 s", {cbr}"#)).is_empty());
        assert!(notes(r#"traffic = { kind = "tcp" }"#).is_empty());
    }

    #[test]
    fn shapers_as_fast_as_the_link_or_slower_than_the_source_are_noted() {
        let notes = |rate: &str, traffic: &str| {
            let shape = format!("{{ rate = \"{rate}\", burst = \"20 kB\" }}");
            let all = notes_of_lan(&[("vc.shape", &shape), ("vc.traffic", traffic)]);
            let shaped = all.into_iter().filter(|note| note.contains("shaper"));
            shaped.collect::<Vec<_>>()
        };
        let udp = "{ kind = \"udp\", rate = \"20 Mbps\" }";
        assert_eq!(notes("155.519 Mbps", "tcp"), [""; 0]);
        let fast = "the shaper of vc1 and 4 more is not slower than the link behind it: 155.520 Mb/s, and source1->west has \
                    155.520 Mb/s; lower `shape.rate`";
        assert_eq!(notes("155.52 Mbps", "tcp"), [fast]);
        assert_eq!(notes("20 Mbps", udp), [""; 0]);
        let slow = "the source of vc1 and 4 more offers 20.000 Mb/s to its shaper, which lets 19.000 Mb/s go: cells that wait at \
                    the host count neither as lost nor as delayed; use a lower rate of the source";
        assert_eq!(notes("19 Mbps", udp), [slow]);
    }

    #[test]
    fn a_scenario_without_vcs_is_noted() {
        assert_eq!(
            notes_of_lan(&[("vc", "[]")]),
            ["the scenario has no VC, so nothing is sent; add a [[vc]]"]
        );
    }

    #[test]
    fn drawn_starts_are_of_the_files_that_start_together() {
        let count = |overrides: &[(&str, &str)]| {
            let overrides = overrides
                .iter()
                .map(|&(path, value)| (path.into(), value.into()));
            let overrides: Vec<(String, String)> = overrides.collect();
            let lan = include_str!("../../../../../../examples/lan-5.toml");
            let note = drawn_starts(&read_toml(lan, "", &overrides).expect("it is valid"));
            note.and_then(|note| note.split(' ').next()?.parse().ok())
        };
        let files = ("vc.traffic.file_size", "1 MB");
        assert_eq!(count(&[]), None);
        assert_eq!(count(&[files]), Some(5));
        assert_eq!(count(&[files, ("vc.vc1.start", "1 us")]), Some(4));
        assert_eq!(count(&[files, ("vc.start", "10 s")]), None);
    }

    #[test]
    fn starts_that_come_too_late_are_noted() {
        let late = "no data from vc1 and 4 more: `start` is not before the end of the run; use an earlier `start` or a longer `duration`";
        assert_eq!(notes_of_lan(&[("vc.start", "10 s")]), [late]);
        let short = "no data from vc1 and 4 more in some replications: the start drawn at random may not be before `stop`; \
                     use a later `stop` or limit the draws in `ensemble`";
        let stop = |stop| ("vc.stop", stop);
        assert_eq!(notes_of_lan(&[stop("99 us")]), [short]);
        assert!(notes_of_lan(&[stop("100 us")]).is_empty());
        let video = "{ kind = \"vbr\", rate = \"1 Mbps\", on = \"1 s\", off = \"1 s\" }";
        let bursts = [("vc.traffic", video), stop("1 s")];
        assert!(notes_of_lan(&bursts).is_empty());
        let phase = ("ensemble.vbr_phase", "true");
        assert_eq!(notes_of_lan(&[&bursts[..], &[phase]].concat()), [short]);
    }
}
