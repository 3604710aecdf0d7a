//! Goodputs of fair shares of the links, and their sum: the largest possible goodput, to which
//! efficiency is relative.
//!
//! Every VC that carries frames gets its max-min fair rate (`ground/fair.rs`). Sources of
//! single cells take their mean rates first, regardless of class; the rest of each link is shared.
//! A UDP VC gets at most its offered rate, an ABR VC at most its PCR, a shaped VC at most the rate of
//! its shaper. All VCs send full frames, or files, from start to end.
//!
//! Ignored: TCP windows, bursts of shapers, ACKs, RM cells, scheduler shares and target utilisations.

use crate::ground::fair::{FairVc, fair_rates};
use crate::ground::flow::FlowKind;
use crate::ground::units::BitRate;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Carries, MaxGoodput, Scenario, Vc};

/// Largest number of VCs for which fair shares are computed. The time grows with its square.
pub(crate) const MOST_VCS: usize = 2000;

/// The goodput to which efficiency is relative (`measure.max_goodput`); `None` if the scenario
/// states none.
pub(crate) fn max_goodput(scenario: &Scenario, topology: &Topology) -> Option<BitRate> {
    match scenario.measure.max_goodput? {
        MaxGoodput::Stated(rate) => Some(rate),
        MaxGoodput::FairShares => sum(&fair_goodputs(scenario, topology)).map(BitRate),
    }
}

/// Why the fair shares have no sum, and what would give one; `None` if they have a sum.
pub(crate) fn unknown(scenario: &Scenario, topology: &Topology) -> Option<(String, String)> {
    let sending = sending(scenario);
    if let Some(link) = changing(scenario, topology) {
        let message = format!(
            "cannot be computed: the rate of {} changes",
            scenario.links[link].name
        );
        return Some((message, "a rate, or no `changes` on links of data".into()));
    }
    if sending.len() > MOST_VCS {
        let message = format!(
            "cannot be computed for more than {MOST_VCS} VCs, and {} start before the end of the run",
            sending.len()
        );
        return Some((message, format!("a rate, or at most {MOST_VCS} VCs")));
    }
    let none = !sending
        .iter()
        .any(|(_, vc)| vc.traffic.carries() == Carries::Frames);
    none.then(|| {
        (
            "cannot be computed: no VC that carries frames starts before the end of the run".into(),
            "a rate, or a VC with traffic tcp or udp".into(),
        )
    })
}

/// The first link whose rate changes among those that the shares depend on.
pub(crate) fn changing(scenario: &Scenario, topology: &Topology) -> Option<usize> {
    let sending = sending(scenario);
    let ways = sending.iter().flat_map(|&(index, vc)| {
        let back = topology.flow(index, FlowKind::Ack);
        let back = topology.flows[back.index()].path.iter();
        let back = back.filter(|_| vc.traffic.sends_both_ways());
        topology.data_path(index).iter().chain(back)
    });
    let mut links = ways.copied();
    links.find(|&link| scenario.links[link].changes_rate())
}

/// The VCs that start before the end.
fn sending(scenario: &Scenario) -> Vec<(usize, &Vc)> {
    let vcs = scenario.vcs.iter().enumerate();
    vcs.filter(|(_, vc)| vc.start < scenario.duration).collect()
}

/// Sum of these goodputs, bits per second; `None` for an empty list.
pub(crate) fn sum(goodputs: &[(usize, f64)]) -> Option<u64> {
    let goodputs = goodputs.iter().map(|&(_, goodput)| goodput);
    goodputs
        .reduce(|sum, next| sum + next)
        .map(|sum| sum.round() as u64)
}

/// The VCs that carry frames, each with its goodput in bits per second. Empty above [`MOST_VCS`]
/// VCs, or if the rate of a link that they depend on changes.
pub(crate) fn fair_goodputs(scenario: &Scenario, topology: &Topology) -> Vec<(usize, f64)> {
    let vcs = sending(scenario);
    if vcs.len() > MOST_VCS || changing(scenario, topology).is_some() {
        return Vec::new();
    }
    let format = scenario.format;
    let wants = vcs.iter().map(|&(index, vc)| {
        let offered = vc.traffic.offered_rate();
        let pcr = vc
            .abr
            .as_ref()
            .and_then(|abr| abr.pcr)
            .map(|pcr| pcr.0 as f64);
        let most = [offered, pcr].into_iter().flatten();
        let most = format.cells_in(most.fold(vc.shaped_bits_per_second(), f64::min));
        FairVc {
            mcr: if vc.traffic.carries() == Carries::Frames {
                0.0
            } else {
                most
            },
            pcr: most,
            weight: 1.0,
            links: topology.data_path(index).to_vec(),
        }
    });
    let wants: Vec<FairVc> = wants.collect();
    let links = scenario.links.iter();
    let links: Vec<f64> = links
        .map(|link| format.cells_in(link.rate.0 as f64))
        .collect();
    let rates = fair_rates(&wants, &links);
    let goodputs = vcs.iter().zip(rates).filter_map(|(&(index, vc), rate)| {
        let unit = vc.traffic.unit(format)?;
        let cells = format.cells_in((8 * unit.line_bytes) as f64);
        Some((index, rate / cells * (8 * unit.bytes) as f64))
    });
    goodputs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::scenario::read_toml;

    fn goodput_of(text: &str, overrides: &[(&str, &str)]) -> Option<u64> {
        let overrides: Vec<_> = overrides
            .iter()
            .map(|&(path, value)| (path.to_string(), value.to_string()))
            .collect();
        let scenario = read_toml(text, "", &overrides).expect("the scenario is valid");
        let topology = Topology::new(&scenario).expect("it can be built");
        sum(&fair_goodputs(&scenario, &topology))
    }

    // Files of 100 bytes: 140 with headers and 16 of LLC/SNAP and AAL5 take 4 cells. Of 1461 bytes: a
    // frame of 32 cells, and one of 57 bytes in 2 cells.
    #[test]
    fn frames_of_files_are_as_long_as_the_files_make_them() {
        let lan = include_str!("../../../../../examples/lan-5.toml");
        let of_file = |size| {
            [
                ("vc.traffic.mss", "1460 bytes"),
                ("vc.traffic.file_size", size),
            ]
        };
        for (size, bytes, cells) in [("100 bytes", 100.0, 4.0), ("1461 bytes", 1461.0, 34.0)] {
            let right: f64 = 155_520_000.0 * bytes / (53.0 * cells);
            assert_eq!(goodput_of(lan, &of_file(size)), Some(right.round() as u64));
        }
    }

    #[test]
    fn one_bottleneck_gives_the_payload_of_its_rate() {
        let lan = include_str!("../../../../../examples/lan-5.toml");
        assert_eq!(goodput_of(lan, &[]), Some(125_198_491));
        // Each frame carries 9180 bytes in 193 cells of 53 bytes.
        let mss = ("vc.traffic.mss", "9180 bytes");
        assert_eq!(goodput_of(lan, &[mss]), Some(139_571_180));
        assert_eq!(goodput_of(lan, &[("vc.start", "10 s")]), None);
    }

    #[test]
    fn sources_of_cells_take_their_mean_rates() {
        let vbr = include_str!("../../../../../examples/vbr-guaranteed-rate.toml");
        assert_eq!(goodput_of(vbr, &[]), Some(62_599_245));
        let cbr = include_str!("../../../../../examples/cbr.toml");
        assert_eq!(goodput_of(cbr, &[]), None);
    }

    // Two links of 100 Mb/s. A TCP over both and one TCP over each get half each, unless a UDP
    // sends less than that.
    #[test]
    fn several_links_are_shared_max_min_fairly() {
        let text = r#"
            duration = "1 s"
            host = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
            switch = [{ name = "s" }, { name = "t" }, { name = "u" }]
            link = [
                { from = "a", to = "s", rate = "1 Gbps" }, { from = "b", to = "t", rate = "1 Gbps" },
                { from = "s", to = "t", rate = "100 Mbps" }, { from = "t", to = "u", rate = "100 Mbps" },
                { from = "t", to = "c", rate = "1 Gbps" }, { from = "u", to = "d", rate = "1 Gbps" },
            ]
            vc = [
                { from = "a", to = "d", traffic = { kind = "tcp", mss = "488 bytes" } },
                { from = "a", to = "c", traffic = { kind = "tcp", mss = "488 bytes" } },
                { name = "last", from = "b", to = "d", traffic = { kind = "tcp", mss = "488 bytes" } },
            ]
        "#;
        // 544 bytes with all headers: 12 cells.
        let tcp = |megabits: f64| megabits * 1e6 * 488.0 / (12.0 * 53.0);
        let near = |found: Option<u64>, expected: f64| {
            let found = found.expect("frames are carried") as f64;
            assert!((found - expected).abs() <= 1.0, "{found} {expected}");
        };
        near(goodput_of(text, &[]), tcp(150.0));
        // 532 bytes with all headers: 12 cells.
        let udp = r#"{ kind = "udp", rate = "20 Mbps", datagram_size = "488 bytes" }"#;
        near(
            goodput_of(text, &[("vc.last.traffic", udp)]),
            tcp(80.0 + 20.0) + 20e6 * 488.0 / (12.0 * 53.0),
        );
    }

    #[test]
    fn the_largest_goodput_is_what_is_stated_or_the_sum_of_fair_shares() {
        let lan = include_str!("../../../../../examples/lan-5.toml");
        let most = |max_goodput: &str, rate: &str| {
            let overrides = [
                ("measure.max_goodput", max_goodput),
                ("link.west->east.rate", rate),
            ];
            let overrides = overrides.map(|(path, value)| (path.to_string(), value.to_string()));
            let scenario = read_toml(lan, "", &overrides).expect("the scenario is valid");
            let topology = Topology::new(&scenario).expect("it can be built");
            max_goodput_bps(&scenario, &topology)
        };
        assert_eq!(most("fair shares", "155.52 Mbps"), Some(125_198_491));
        // Half of the link rate.
        assert_eq!(most("fair shares", "77.76 Mbps"), Some(62_599_245));
        assert_eq!(most("1 Mbps", "77.76 Mbps"), Some(1_000_000));
        assert_eq!(most("default", "77.76 Mbps"), None);
    }

    fn max_goodput_bps(scenario: &Scenario, topology: &Topology) -> Option<u64> {
        max_goodput(scenario, topology).map(|rate| rate.0)
    }

    #[test]
    fn fair_shares_without_a_sum_are_refused() {
        let refused = |vcs: &str, sets: &[(&str, &str)]| {
            let text = format!(
                r#"
                duration = "1 s"
                measure = {{ max_goodput = "fair shares" }}
                host = [{{ name = "a" }}, {{ name = "b" }}]
                switch = [{{ name = "s" }}]
                link = [{{ from = "a", to = "s", rate = "1 Mbps" }}, {{ from = "s", to = "b", rate = "1 Mbps" }}]
                vc = [{vcs}]
                "#
            );
            let overrides: Vec<_> = sets
                .iter()
                .map(|&(path, value)| (path.to_string(), value.to_string()))
                .collect();
            let found = read_toml(&text, "f.toml", &overrides);
            found.map_or_else(|problems| problems[0].to_string(), |_| String::new())
        };
        let tcps = |count: usize| {
            format!(r#"{{ count = {count}, from = "a", to = "b", traffic = "tcp" }}"#)
        };
        assert_eq!(refused(&tcps(MOST_VCS), &[]), "");
        assert_eq!(
            refused(&tcps(MOST_VCS + 1), &[]),
            "f.toml:3:43: measure.max_goodput = \"fair shares\": cannot be computed for more than 2000 VCs, and 2001 start before the end of the run \
             (allowed: a rate, or at most 2000 VCs)"
        );
        let none = "f.toml:3:43: measure.max_goodput = \"fair shares\": cannot be computed: no VC that carries frames starts before the end of the run \
                    (allowed: a rate, or a VC with traffic tcp or udp)";
        assert_eq!(refused(&tcps(1), &[("vc.start", "1 s")]), none);
        let cbr = r#"{ from = "a", to = "b", traffic = { kind = "cbr", rate = "1 kbps" } }"#;
        assert_eq!(refused(cbr, &[]), none);
        let misspelt = refused(&tcps(1), &[("measure.max_goodput", "fair share")]);
        assert!(
            misspelt.contains("or \"fair shares\"; units:"),
            "{misspelt}"
        );
    }
}
