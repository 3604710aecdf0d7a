//! What the links of a scenario could deliver to frames, were they shared fairly: a yardstick for `max_goodput`.
//!
//! Every VC that carries frames gets its max-min fair rate (`abr/feedback/fair.rs`) of what the sources of single cells leave of each link on its way,
//! which have their mean rates whatever their class, and no UDP more than it sends, no ABR VC more than its PCR. All send full frames from start to end.
//! Not counted: what the windows of a TCP allow, ACKs, RM cells, the shares of schedulers, and target utilisations.

use crate::abr::feedback::fair::{FairVc, fair_rates};
use crate::scenario::{Scenario, Vc};
use crate::topology::Topology;
use crate::units::CELL_BITS;

/// Most VCs of which it is told: the time that it takes grows with the square of their number.
const MOST_VCS: usize = 2000;

/// The sum of these goodputs, bits per second; `None` where there are none.
pub(super) fn sum(goodputs: &[(usize, f64)]) -> Option<u64> {
    let goodputs = goodputs.iter().map(|&(_, goodput)| goodput);
    goodputs
        .reduce(|sum, next| sum + next)
        .map(|sum| sum.round() as u64)
}

/// The VCs that carry frames, each with its goodput in bits per second; none where there are many VCs.
pub(super) fn fair_goodputs(scenario: &Scenario, topology: &Topology) -> Vec<(usize, f64)> {
    let sending = |(_, vc): &(usize, &Vc)| vc.start < scenario.duration;
    let vcs: Vec<(usize, &Vc)> = scenario.vcs.iter().enumerate().filter(sending).collect();
    if vcs.len() > MOST_VCS {
        return Vec::new();
    }
    let cells_per_second = |bits: f64| bits / CELL_BITS as f64;
    let wants = vcs.iter().map(|&(index, vc)| {
        let offered = vc.traffic.offered_rate();
        let pcr = vc
            .abr
            .as_ref()
            .and_then(|abr| abr.pcr)
            .map(|pcr| pcr.0 as f64);
        let most = [offered, pcr].into_iter().flatten();
        let most = cells_per_second(most.fold(f64::INFINITY, f64::min));
        FairVc {
            mcr: if vc.traffic.frame().is_some() {
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
        .map(|link| cells_per_second(link.rate.0 as f64))
        .collect();
    let rates = fair_rates(&wants, &links);
    let goodputs = vcs.iter().zip(rates).filter_map(|(&(index, vc), rate)| {
        let frame = vc.traffic.frame()?;
        Some((
            index,
            rate / f64::from(frame.cells) * (8 * frame.bytes) as f64,
        ))
    });
    goodputs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::read_toml;

    fn told(text: &str, overrides: &[(&str, &str)]) -> Option<u64> {
        let own: Vec<_> = overrides
            .iter()
            .map(|&(path, value)| (path.to_string(), value.to_string()))
            .collect();
        let scenario = read_toml(text, "", &own).expect("the scenario is valid");
        let topology = Topology::new(&scenario).expect("it can be built");
        sum(&fair_goodputs(&scenario, &topology))
    }

    #[test]
    fn one_bottleneck_gives_the_payload_of_its_rate() {
        let lan = include_str!("../../../../examples/lan-5.toml");
        assert_eq!(told(lan, &[]), Some(125_198_491));
        // 9180 of 193 * 53 bytes.
        let mss = ("vc.traffic.mss", "9180 bytes");
        assert_eq!(told(lan, &[mss]), Some(139_571_180));
        assert_eq!(told(lan, &[("vc.start", "10 s")]), None);
    }

    #[test]
    fn sources_of_cells_take_their_mean_rates() {
        let vbr = include_str!("../../../../examples/vbr-guaranteed-rate.toml");
        assert_eq!(told(vbr, &[]), Some(62_599_245));
        let cbr = include_str!("../../../../examples/cbr.toml");
        assert_eq!(told(cbr, &[]), None);
    }

    // Two hops of 100 Mb/s: a TCP over both and one over each get half each, unless a UDP sends less than that.
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
        // 544 bytes with all headers, 12 cells.
        let tcp = |megabits: f64| megabits * 1e6 * 488.0 / (12.0 * 53.0);
        let near = |found: Option<u64>, expected: f64| {
            let found = found.expect("frames are carried") as f64;
            assert!((found - expected).abs() <= 1.0, "{found} {expected}");
        };
        near(told(text, &[]), tcp(150.0));
        // 532 bytes, 12 cells.
        let udp = r#"{ kind = "udp", rate = "20 Mbps", datagram_size = "488 bytes" }"#;
        near(
            told(text, &[("vc.last.traffic", udp)]),
            tcp(80.0 + 20.0) + 20e6 * 488.0 / (12.0 * 53.0),
        );
    }
}
