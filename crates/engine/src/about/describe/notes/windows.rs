//! Warnings about TCP windows, and links for ACKs, that hold TCPs below a fair share of the links.

use super::{largest, named};
use crate::about::describe::cost::{acks_per_segment, round_trip};
use crate::ground::flow::FlowKind;
use crate::run::resolved::Resolved;
use crate::text::notation::show::show_bytes;
use crate::text::scenario::topology::Topology;
use crate::text::scenario::{Class, Scenario, TcpParams};
use std::collections::BTreeMap;

/// Notes about TCPs whose window is less than their fair share of the links in a round trip. Names
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

/// Notes that no buffer limits a queue, since the windows of the TCPs are smaller than every buffer
/// where their data can wait. Names the port that they come nearest to filling. Of a pool, other queues
/// may leave less than a buffer.
pub(super) fn bounded_queues(net: &Resolved<'_>) -> Option<String> {
    let scenario = net.scenario;
    let mut bounded: Vec<(f64, usize, [u64; 2])> = Vec::new();
    for (link, port) in net.ports().filter(|(_, port)| port.can_queue) {
        if port.shared().is_some() {
            return None;
        }
        for &class in &net.topology.classes[link] {
            let queue = port.queue(class);
            let windows = windows_at(net, link, class)?;
            let least = queue
                .room()
                .unwrap_or(u64::MAX)
                .min(queue.smallest_refusal());
            if windows.cells >= least {
                return None;
            }
            if windows.limited == 0 || least == u64::MAX {
                continue;
            }
            let filled = windows.cells as f64 / least as f64;
            bounded.push((filled, link, [windows.limited, windows.cells]));
        }
    }
    let most = bounded
        .into_iter()
        .max_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
    let (_, link, [tcps, cells]) = most;
    let (noun, name) = (scenario.format.noun(), &scenario.links[link].name);
    let tcps = match tcps {
        1 => "1 TCP".to_string(),
        _ => format!("{tcps} TCPs"),
    };
    Some(format!(
        "no buffer limits a queue, but `rwnd` does: at {name}, the windows of {tcps} hold at most {cells} {noun}s together \
         (retransmissions aside), too few for a refusal; with a larger `rwnd` the buffer may matter"
    ))
}

/// Windows of the TCPs of one class that can wait at a port.
struct Windows {
    /// Number of TCPs whose data `rwnd` limits.
    limited: u64,
    /// Cells that the windows hold, and the ACKs of others.
    cells: u64,
}

/// The windows at the port of `link`; `None` if other traffic can wait there.
fn windows_at(net: &Resolved<'_>, link: usize, class: Class) -> Option<Windows> {
    let (format, mut windows) = (
        net.scenario.format,
        Windows {
            limited: 0,
            cells: 0,
        },
    );
    for id in &net.topology.crossing[link] {
        let flow = &net.topology.flows[id.index()];
        let vc = &net.scenario.vcs[flow.vc];
        if vc.class != class {
            continue;
        }
        let tcp = vc.traffic.tcp()?;
        if vc.abr.is_some() {
            return None; // its RM cells wait too
        }
        let bytes = tcp.file_size.map_or(tcp.rwnd, |size| size.min(tcp.rwnd));
        let (full, rest) = (bytes / tcp.mss, bytes % tcp.mss);
        // Only the last segment of a file is not full.
        let short = u64::from(rest > 0 && tcp.file_size.is_some_and(|size| size % tcp.mss > 0));
        let data = full * u64::from(format.segment(tcp.mss).cells())
            + short * u64::from(format.segment(rest.max(1)).cells());
        let acks = (full + short) * u64::from(format.ack(4).cells());
        let sends = flow.kind.is_data() || tcp.both_ways;
        let answers = !flow.kind.is_data() || tcp.both_ways;
        windows.limited += u64::from(sends && !fits_window(tcp));
        windows.cells += u64::from(sends) * data + u64::from(answers) * acks;
    }
    Some(windows)
}

/// Whether a TCP sends files that fit into one window.
fn fits_window(tcp: &TcpParams) -> bool {
    tcp.file_size.is_some_and(|bytes| bytes <= tcp.rwnd)
}

/// A window or ACK link with at least this fraction of what the fair share needs is not reported.
const ENOUGH: f64 = 0.9;

/// Notes about links that could not carry the ACKs of TCPs at their fair shares. Names the link
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
    let part = |link: usize, bits: f64| scenario.mean_rate(link) / bits;
    let slow = needs
        .iter()
        .filter(|&(&link, &(bits, _))| part(link, bits) < ENOUGH);
    let slow: Vec<_> = slow.collect();
    let (&link, (bits, names)) = slow
        .iter()
        .copied()
        .min_by(|(a, (x, _)), (b, (y, _))| part(**a, *x).total_cmp(&part(**b, *y)))?;
    Some(format!(
        "the ACKs of {} need {:.3} Mb/s of {} for fair shares of the links, but it has {}: unless ACKs are lost, \
         goodput is limited to {:.1} % of these shares; raise its rate{}",
        named(names),
        bits / 1e6,
        scenario.links[link].name,
        scenario.shown_rate(link),
        100.0 * part(link, *bits),
        match slow.len() - 1 {
            0 => String::new(),
            others => format!(" (also on {others} more)"),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{notes_of, notes_of_lan, notes_with};

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
        let changes =
            r#"1000 kbps", changes = [{ at = "0.5 s", rate = "280 kbps" }], delay = "0 s"#;
        let mean = slow.replace("has 640 kbps", "has 640 kbps in the mean");
        assert_eq!(notes(changes, ""), [mean]);
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

    // Windows of 65535 bytes hold 44 segments of 1460 bytes, a packet each; files of 100 000 bytes
    // have 68 full segments and a short one.
    #[test]
    fn windows_that_no_buffer_can_limit_are_noted() {
        let notes = |buffer: &str, traffic: &str, set: &[(&str, &str)]| {
            let text = format!(
                r#"
                duration = "1 s"
                format = "ethernet"
                host = [{{ name = "a", count = 64 }}, {{ name = "b" }}]
                switch = [{{ name = "s", ubr = {{ buffer = "{buffer}" }} }}]
                link = [
                    {{ from = "a", to = "s", rate = "10 Gbps" }}, {{ from = "s", to = "b", rate = "10 Gbps" }},
                ]
                vc = [{{ from = "a", to = "b", traffic = {{ kind = "tcp", mss = "1460 bytes"{traffic} }} }}]
            "#
            );
            let all = notes_with(&text, set);
            all.into_iter()
                .filter(|note| note.starts_with("no buffer limits"))
                .collect::<Vec<_>>()
        };
        let bounded = |cells: u64| {
            vec![format!(
                "no buffer limits a queue, but `rwnd` does: at s->b, the windows of 64 TCPs hold at most {cells} packets together \
                 (retransmissions aside), too few for a refusal; with a larger `rwnd` the buffer may matter"
            )]
        };
        let none = Vec::<String>::new();
        assert_eq!(notes("4992 cells", "", &[]), bounded(2816));
        assert_eq!(notes("2817 cells", "", &[]), bounded(2816));
        assert_eq!(notes("2816 cells", "", &[]), none);
        assert_eq!(notes("unlimited", "", &[]), none);
        let larger = ", rwnd = \"4 MB\"";
        assert_eq!(notes("4992 cells", larger, &[]), none);
        let file = ", file_size = \"100000 bytes\"";
        assert_eq!(notes("4992 cells", file, &[]), bounded(2880));
        // Files that fit into the window are limited by their size.
        let small = ", file_size = \"60000 bytes\"";
        assert_eq!(notes("4992 cells", small, &[]), none);
        // A policy may act below the buffer, and other traffic may fill it.
        let epd = (
            "switch.s.ubr.drop",
            "{ policy = \"epd\", threshold = \"2800 cells\" }",
        );
        assert_eq!(notes("4992 cells", "", &[epd]), none);
        let high = (
            "switch.s.ubr.drop",
            "{ policy = \"epd\", threshold = \"3000 cells\" }",
        );
        assert_eq!(notes("4992 cells", "", &[high]), bounded(2816));
        let udp = ("vc.vc7.traffic", "udp");
        assert_eq!(notes("4992 cells", "", &[udp]), none);
        // Other queues of a pool may leave less.
        let pool = ("switch.s.pool", "{ buffer = \"9000 cells\" }");
        assert_eq!(notes("4992 cells", "", &[pool]), none);
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
