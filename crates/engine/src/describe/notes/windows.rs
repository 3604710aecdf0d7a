//! Warnings about TCP windows, and links for ACKs, that hold TCPs below a fair share of the links.

use super::{largest, named};
use crate::describe::cost::{acks_per_segment, round_trip};
use crate::flow::FlowKind;
use crate::notation::show::{show_bytes, show_rate};
use crate::scenario::topology::Topology;
use crate::scenario::{Link, Scenario, TcpParams};
use std::collections::BTreeMap;

/// Warns about TCPs whose window is less than their fair share of the links in a round trip. Names
/// the TCP that needs the largest window.
pub(super) fn small_windows(
    scenario: &Scenario,
    topology: &Topology,
    fair: &[(usize, f64)],
) -> Option<String> {
    let small = fair.iter().filter_map(|&(index, share)| {
        let vc = &scenario.vcs[index];
        let tcp = vc.traffic.tcp().filter(|tcp| !fits_window(tcp))?;
        let size = vc.traffic.frame_size(scenario.format);
        let round = round_trip(scenario, topology, index, size);
        let is_small = 8.0 * (tcp.rwnd as f64) < ENOUGH * share * round;
        is_small.then_some((
            share * round / 8.0,
            vc.name.as_str(),
            (tcp.rwnd, round, share),
        ))
    });
    let (needed, (rwnd, round, share), names) = largest(small)?;
    Some(format!(
        "the window of {names}, {}, allows only {:.3} Mb/s at a round trip of {:.3} ms, less than a fair share of the links, {:.3} Mb/s; \
         use `rwnd` of at least {}",
        show_bytes(rwnd),
        8.0 * rwnd as f64 / round / 1e6,
        round * 1e3,
        share / 1e6,
        show_bytes(needed.ceil() as u64),
    ))
}

/// Whether a TCP sends files that fit into one window.
fn fits_window(tcp: &TcpParams) -> bool {
    tcp.file_size.is_some_and(|bytes| bytes <= tcp.rwnd)
}

/// A window or ACK link with at least this fraction of what the fair share needs is not reported.
const ENOUGH: f64 = 0.9;

/// Warns about links that could not carry the ACKs of TCPs at their fair shares. Names the link
/// with the smallest fraction.
pub(super) fn slow_ways_back(
    scenario: &Scenario,
    topology: &Topology,
    fair: &[(usize, f64)],
) -> Option<String> {
    let bits_of_ack = scenario.format.ack(0).line_bits();
    let mut needs: BTreeMap<usize, (f64, Vec<&str>)> = BTreeMap::new();
    for &(index, share) in fair {
        let vc = &scenario.vcs[index];
        let tcp = vc.traffic.tcp().filter(|tcp| !fits_window(tcp));
        let Some((tcp, unit)) = tcp.zip(vc.traffic.unit(scenario.format)) else {
            continue;
        };
        let segments = share / (8 * unit.bytes) as f64 * unit.frames as f64;
        let acks = acks_per_segment(tcp) * segments;
        let bits = acks * bits_of_ack;
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
        "the ACKs of {} need {:.3} Mb/s of {name} for fair shares of the links, but it has {}: unless ACKs are lost, \
         goodput is limited to {:.1} % of these shares; raise its rate{}",
        named(names),
        bits / 1e6,
        show_rate(*rate),
        100.0 * part(link, *bits),
        match slow.len() - 1 {
            0 => String::new(),
            others => format!(" (also on {others} more)"),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{notes_of, notes_of_lan};

    // 8 Mb/s of cells carry 6.44 Mb/s of data in segments of 512 bytes: 1572 per second. Each needs
    // an ACK of 848 bits.
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
        let slow = "the ACKs of vc1 and 1 more need 1.333 Mb/s of b->s for fair shares of the links, but it has 640 kbps: unless ACKs are lost, \
                    goodput is limited to 48.0 % of these shares; raise its rate";
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
            matches!(delayed, [note] if note.contains("limited to 9.6 % of these shares")),
            "{delayed:?}"
        );
    }

    #[test]
    fn windows_below_a_fair_share_are_noted() {
        // The round trip is 1 s plus the transmission of a frame and its ACK. Five TCPs on 125 Mb/s
        // need 3.13 MB each per round trip.
        let delay = ("link.west->east.delay", "500 ms");
        let small = "the window of vc1 and 4 more, 65535 bytes, allows only 0.524 Mb/s at a round trip of 1000.069 ms, less than a fair share of \
                     the links, 25.040 Mb/s; use `rwnd` of at least 3130179 bytes";
        assert_eq!(notes_of_lan(&[delay]), [small]);
        let rwnd = |bytes| ("vc.traffic.rwnd", bytes);
        assert!(notes_of_lan(&[delay, rwnd("2900000 bytes")]).is_empty());
        let file = ("vc.traffic.file_size", "60000 bytes");
        assert!(notes_of_lan(&[delay, file]).is_empty());
    }

    // The advice fits all TCPs that the note counts.
    #[test]
    fn the_largest_window_that_is_needed_is_noted() {
        let notes = |rwnd: &str| {
            notes_of(&format!(
                r#"
                duration = "1 s"
                host = [{{ name = "a" }}, {{ name = "b" }}, {{ name = "c" }}]
                switch = [{{ name = "s" }}, {{ name = "t" }}]
                link = [
                    {{ from = "a", to = "s", rate = "50 Mbps" }},
                    {{ from = "s", to = "t", rate = "50 Mbps", delay = "20 ms" }},
                    {{ from = "t", to = "b", rate = "50 Mbps" }},
                    {{ from = "t", to = "c", rate = "50 Mbps", delay = "200 ms" }},
                ]
                vc = [
                    {{ name = "near", from = "a", to = "b", traffic = {{ kind = "tcp", rwnd = "{rwnd}" }} }},
                    {{ name = "far", from = "a", to = "c", traffic = {{ kind = "tcp", rwnd = "{rwnd}" }} }},
                ]
                "#
            ))
        };
        let [note] = &notes("65535 bytes")[..] else {
            panic!("one note");
        };
        assert!(
            note.starts_with("the window of far and 1 more, 65535 bytes, allows only 1.19"),
            "{note}"
        );
        let (_, rwnd) = note.rsplit_once("at least ").expect("advice");
        assert!(notes(rwnd).is_empty(), "{note}");
    }
}
