//! Tests that captures of whole runs, read back octet by octet, agree with the results.

use crate::common::build::{ms, us};
use crate::common::draws::Draws;
use crate::common::formats::in_ethernet;
use crate::common::hostile::hostile;
use crate::common::{self, build, probes::captures, random};
use cellyard_engine::results::RunResult;
use cellyard_engine::scenario::*;
use cellyard_engine::testing::DropReason;
use cellyard_engine::units::Time;
use cellyard_engine::{About, Kernel, Options, RunError, Session, run};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

const ABOUT: About<'static> = About {
    application: "test",
    run: "of a test",
};

const UNLIMITED: u64 = u64::MAX;

/// The result of a run and the files of its captures, written in `parts` parts.
fn captured(
    net: &Scenario,
    kernel: Kernel,
    limit: u64,
    parts: u64,
) -> Result<(RunResult, Vec<Vec<u8>>), RunError> {
    let options = Options {
        kernel,
        captures: Some(limit),
        ..Options::default()
    };
    let mut session = Session::new(net, None, &options)?;
    let mut files = Vec::new();
    for part in 1..=parts {
        let until = match part == parts {
            true => Time::NEVER,
            false => Time(session.end().0 / parts * part),
        };
        session.advance_until(until, &NEVER)?;
        let parts = session.captured(&ABOUT);
        files.resize(parts.len(), Vec::new());
        for (file, part) in files.iter_mut().zip(parts) {
            file.extend(part.bytes);
        }
    }
    Ok((session.finish(), files))
}

/// The result as text, so that results with NaN compare equal.
fn json(result: &RunResult) -> String {
    serde_json::to_string(result).expect("a result is data")
}

/// A packet read back from a capture.
#[derive(Debug)]
struct Packet {
    interface: u32,
    nanoseconds: u64,
    octets: Vec<u8>,
    whole: u32,
    comment: String,
}

fn word(octets: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(octets[at..at + 4].try_into().unwrap())
}

fn short(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(octets[at..at + 2].try_into().unwrap())
}

/// The packets of a capture file. Panics unless its blocks are complete.
fn packets(file: &[u8]) -> Vec<Packet> {
    let (mut rest, mut found) = (file, Vec::new());
    assert_eq!(word(rest, 0), 0x0A0D_0D0A);
    while !rest.is_empty() {
        let length = word(rest, 4) as usize;
        assert_eq!(word(rest, length - 4) as usize, length);
        if word(rest, 0) == 6 {
            let kept = word(rest, 20) as usize;
            let options = &rest[28 + kept.next_multiple_of(4)..length - 4];
            found.push(Packet {
                interface: word(rest, 8),
                nanoseconds: u64::from(word(rest, 12)) << 32 | u64::from(word(rest, 16)),
                octets: rest[28..28 + kept].to_vec(),
                whole: word(rest, 24),
                comment: comment(options),
            });
        }
        rest = &rest[length..];
    }
    assert!(found.is_sorted_by_key(|packet| packet.nanoseconds));
    found
}

fn comment(options: &[u8]) -> String {
    let value = option(options, 1).unwrap_or_default();
    String::from_utf8(value.to_vec()).unwrap()
}

/// The value of the first option of this kind.
fn option(mut options: &[u8], kind: u16) -> Option<&[u8]> {
    while !options.is_empty() {
        let [code, length] = [0, 2].map(|at| u16::from_le_bytes([options[at], options[at + 1]]));
        let value = &options[4..4 + usize::from(length)];
        if code == kind {
            return Some(value);
        }
        options = &options[4 + usize::from(length).next_multiple_of(4)..];
    }
    None
}

/// Link type and length of the check sequence of each interface of a file.
fn interfaces(file: &[u8]) -> Vec<(u16, Option<Vec<u8>>)> {
    let (mut rest, mut found) = (file, Vec::new());
    while !rest.is_empty() {
        let length = word(rest, 4) as usize;
        if word(rest, 0) == 1 {
            let check = option(&rest[16..length - 4], 13);
            found.push((word(rest, 8) as u16, check.map(<[u8]>::to_vec)));
        }
        rest = &rest[length..];
    }
    found
}

/// The file of the capture of `layer` at `of`.
fn file<'f>(net: &Scenario, files: &'f [Vec<u8>], layer: Layer, of: &str) -> &'f [u8] {
    let captures = net.probes.iter().filter(|p| p.what == Observable::Capture);
    let mut captures = captures.zip(files);
    let found = captures.find(|(probe, _)| probe.layer == Some(layer) && probe.of == of);
    found.expect("it is captured").1
}

/// The network of the first study with five TCPs and buffers that lose cells.
fn lan(change: impl Fn(&mut Scenario)) -> Scenario {
    let tcp = |_| Traffic::Tcp(Box::new(build::tcp()));
    let policy = build::epd(800);
    let mut net = build::dumbbell(5, us(5), ms(1_000), Some(1000), policy, tcp);
    change(&mut net);
    net.probes = captures(&net);
    net
}

fn with_trace(net: &Scenario) -> RunResult {
    let mut net = net.clone();
    let vcs = net.vcs.iter();
    net.probes = vcs
        .map(|vc| Probe::new(Observable::Trace, vc.name.as_str()))
        .collect();
    run(&net, None, &Options::default(), &NEVER).expect("it runs")
}

#[test]
fn every_cell_that_a_link_carries_and_every_dropped_one_is_in_the_file() {
    let net = lan(|_| ());
    let (result, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    let cells = packets(file(&net, &files, Layer::Cells, "s-t"));
    let port = result.ports.iter().find(|port| port.name == "s-t").unwrap();
    let sent = cells.iter().filter(|cell| cell.interface == 0).count();
    assert_eq!(sent as u64, port.sent_cells);
    let trace = with_trace(&net).trace;
    let here = trace.iter().filter(|drop| drop.port == "s-t");
    let drops: Vec<&Packet> = cells.iter().filter(|cell| cell.interface == 1).collect();
    assert!(drops.len() > 100);
    assert_eq!(here.clone().count(), drops.len());
    // Packets of one instant may differ in order.
    let mut told: Vec<(u64, String)> = here
        .map(|drop| {
            let mut text = format!(
                "dropped: {}; queue X={} Y_i={} N_a={}",
                drop.reason.name(),
                drop.waiting_cells.unwrap(),
                drop.waiting_of_vc_cells.unwrap(),
                drop.active_vcs.unwrap(),
            );
            if let Some(threshold) = drop.threshold_cells {
                text += &format!(" threshold={threshold}");
            }
            let (vc, kind) = (&drop.vc, drop.direction.name());
            text += &format!("; {vc} {kind} frame {} cell {}", drop.frame, drop.cell);
            ((drop.time_s * 1e9).round() as u64, text)
        })
        .collect();
    told.sort();
    let mut found: Vec<(u64, String)> = drops
        .iter()
        .map(|cell| (cell.nanoseconds, cell.comment.clone()))
        .collect();
    found.sort();
    for (told, found) in told.iter().zip(&found) {
        assert!(told.0.abs_diff(found.0) <= 1);
        assert_eq!(told.1, found.1);
    }
}

/// Reassembles AAL5 as a receiver does: cells up to the AAU bit. The frames captured on the link
/// must agree.
#[test]
fn frames_are_what_the_cells_of_the_link_reassemble_to() {
    let net = lan(|_| ());
    let (_, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    let mut cells_of: HashMap<u16, usize> = HashMap::new();
    let mut ends = Vec::new();
    for cell in packets(file(&net, &files, Layer::Cells, "s-t")) {
        assert_eq!((cell.octets.len(), cell.whole, cell.octets[8]), (20, 68, 3));
        if cell.interface == 0 {
            let header = u32::from_be_bytes(cell.octets[16..].try_into().unwrap());
            let vci = (header >> 4) as u16;
            *cells_of.entry(vci).or_default() += 1;
            if header >> 1 & 7 == 1 {
                ends.push((cell.nanoseconds, vci, cells_of.remove(&vci).unwrap()));
            }
        }
    }
    let frames = packets(file(&net, &files, Layer::Frames, "s-t"));
    let on_link = |frame: &&Packet| frame.interface == 0;
    let whole: Vec<_> = frames.iter().filter(on_link).collect();
    assert!(whole.len() > 1000);
    let mut ends = ends.into_iter();
    for frame in whole {
        // Frames that have lost cells appear in between.
        let vci = (u32::from_be_bytes(frame.octets[16..20].try_into().unwrap()) >> 4) as u16;
        let cells = (frame.octets.len() - 20) / 48;
        let here = |end: &(u64, u16, usize)| end.0 == frame.nanoseconds;
        assert_eq!(
            ends.find(here),
            Some((frame.nanoseconds, vci, cells)),
            "{}",
            frame.comment
        );
    }
}

/// Fields of a TCP segment: source port, sequence number, bytes of data, flags.
fn tcp(octets: &[u8]) -> (u16, u32, usize, u8) {
    let header = usize::from(octets[32] >> 4) * 4;
    let sequence = u32::from_be_bytes(octets[24..28].try_into().unwrap());
    (
        short(octets, 20),
        sequence,
        octets.len() - 20 - header,
        octets[33],
    )
}

#[test]
fn a_host_has_every_segment_of_its_tcp() {
    let net = lan(|_| ());
    let (result, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    let all = packets(file(&net, &files, Layer::Segments, "a0"));
    let real = all.iter().filter(|packet| packet.comment.is_empty());
    let (data, acks): (Vec<_>, Vec<_>) = real
        .map(|packet| tcp(&packet.octets))
        .partition(|&(_, _, bytes, _)| bytes > 0);
    let vc = &result.vcs[0];
    assert_eq!(data.len() as u64, vc.tcp.segments);
    // Data below the highest byte sent are retransmissions.
    let mut highest = 0;
    let again = data.iter().filter(|&&(_, sequence, bytes, _)| {
        let end = sequence + bytes as u32;
        let again = end <= highest;
        highest = highest.max(end);
        again
    });
    assert_eq!(again.count() as u64, vc.tcp.retransmitted_segments);
    assert!(vc.tcp.retransmitted_segments > 0 && acks.len() > 100);
    // The handshake that the capture adds, since the model has none.
    let made_up: Vec<_> = all
        .iter()
        .filter(|packet| !packet.comment.is_empty())
        .collect();
    assert!(
        made_up
            .iter()
            .all(|p| p.comment.starts_with("not simulated"))
    );
    let flags: Vec<u8> = made_up.iter().map(|p| tcp(&p.octets).3).collect();
    assert_eq!(flags, [0x02, 0x12, 0x10]);
    assert_eq!(tcp(&made_up[0].octets).1 + 1, data[0].1);
}

/// Captures three files, each on a connection that opens with SYN, SYN-ACK and ACK.
#[test]
fn connections_of_the_model_open_as_it_says_and_have_ports_of_their_own() {
    let net = lan(|net| {
        for vc in &mut net.vcs {
            if let Traffic::Tcp(tcp) = &mut vc.traffic {
                tcp.file_size = Some(5000);
                tcp.files = Some(3);
                tcp.next_file = NextFile::NewConnection;
                tcp.handshake = true;
            }
        }
    });
    let (_, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    let all = packets(file(&net, &files, Layer::Segments, "a0"));
    assert!(all.iter().all(|packet| packet.comment.is_empty()));
    let found: Vec<_> = all.iter().map(|packet| tcp(&packet.octets)).collect();
    let opening: Vec<u8> = found
        .iter()
        .map(|found| found.3)
        .filter(|f| f & 2 > 0)
        .collect();
    assert_eq!(opening, [0x02, 0x12].repeat(3));
    let mut ports: Vec<u16> = found.iter().map(|found| found.0).collect();
    ports.retain(|&port| port != 5001);
    ports.dedup();
    assert_eq!(ports, [1024, 1029, 1034]);
    for port in ports {
        let of_port = || found.iter().filter(|found| found.0 == port);
        let numbers: Vec<u32> = of_port().map(|found| found.1).collect();
        // The SYN, the ACK of the SYN-ACK, and the data.
        assert_eq!(numbers[..3], [0, 1, 1]);
        let bytes: usize = of_port().map(|found| found.2).sum();
        assert_eq!(bytes, 5000);
    }
}

#[test]
fn a_window_and_a_vc_choose_what_is_captured() {
    let mut net = lan(|_| ());
    let all = |net: &Scenario| {
        captured(net, Kernel::Auto, UNLIMITED, 1)
            .expect("it runs")
            .1
    };
    let whole = all(&net);
    for probe in &mut net.probes {
        probe.vc = Some("vc2".into());
        probe.from = Some(ms(500));
        probe.to = Some(ms(1_000));
    }
    net.probes
        .retain(|probe| ["s-t", "a2", "b2"].contains(&probe.of.as_str()));
    let some = all(&net);
    let whole_net = lan(|_| ());
    for (probe, some) in net.probes.iter().zip(&some) {
        let layer = probe.layer.unwrap();
        let window = 500_000_000..1_000_000_000;
        let is_of = |packet: &&Packet| {
            let of_vc = layer == Layer::Segments
                || u32::from_be_bytes(packet.octets[16..20].try_into().unwrap()) >> 4 == 34;
            of_vc && window.contains(&packet.nanoseconds)
        };
        let expected = packets(file(&whole_net, &whole, layer, &probe.of));
        let expected = expected.iter().filter(is_of).map(|packet| &packet.octets);
        let found = packets(some);
        let real = |packet: &&Packet| !packet.comment.starts_with("not simulated");
        let found = found.iter().filter(real).map(|packet| &packet.octets);
        assert!(found.clone().count() > 50, "{layer:?}");
        assert!(found.eq(expected), "{layer:?} of {}", probe.of);
    }
}

#[test]
fn a_file_ends_with_the_last_packet_within_its_limit_and_says_so() {
    let mut net = lan(|_| ());
    net.probes.truncate(1);
    net.probes[0].of = "s-t".into();
    let (whole, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    let all = packets(&files[0]);
    for parts in [1, 7] {
        let (result, files) = captured(&net, Kernel::Auto, 1_000_000, parts).expect("it runs");
        assert!((999_700..=1_000_000).contains(&files[0].len()));
        let some = packets(&files[0]);
        let (last, before) = some.split_last().unwrap();
        let same = before.iter().zip(&all).all(|(a, b)| a.octets == b.octets);
        assert!(same && last.octets == all[before.len()].octets);
        assert!(
            last.comment
                .contains("its limit of 1000000 bytes is reached")
        );
        assert_eq!(result, whole);
    }
}

/// The rates of RM cells that leave on a link: forward, then backward.
fn rates(file: &[u8]) -> [Vec<(u16, String)>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for cell in packets(file) {
        if cell.octets.len() == 68 {
            let backward = cell.octets[21] >> 7;
            let er = short(&cell.octets, 22);
            found[usize::from(backward)].push((er, cell.comment));
        }
    }
    found
}

#[test]
fn rm_cells_say_what_they_are_told_on_their_way() {
    let net = read_toml(include_str!("../../../../examples/abr-erica.toml"), "", &[]);
    let mut net = net.expect("it reads");
    net.duration = ms(200);
    net.probes = captures(&net);
    let vc = &net.vcs[0];
    let (from, to) = (vc.from.clone(), vc.to.clone());
    let nodes: Vec<String> = [vec![from], vc.route.clone(), vec![to]].concat();
    let (_, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    let of_link = |a: &str, b: &str| {
        let link = net.links.iter().find(|l| l.from == a && l.to == b).unwrap();
        rates(file(&net, &files, Layer::Cells, &link.name))
    };
    let hops: Vec<[Vec<(u16, String)>; 2]> = nodes
        .windows(2)
        .rev()
        .map(|hop| of_link(&hop[1], &hop[0]))
        .collect();
    let [first, last] = [&hops[0][1], &hops[hops.len() - 1][1]];
    assert!(first.len() > 50, "{}", first.len());
    // At the turning point, cells carry what the source requested; on their way back, what the
    // switches allow.
    let asked = |rates: &[(u16, String)]| rates.iter().map(|rate| rate.0).max();
    assert_eq!(asked(first), first.iter().map(|rate| rate.0).min());
    assert!(last.iter().any(|rate| Some(rate.0) < asked(first)));
    assert!(
        last.iter()
            .all(|rate| rate.1.starts_with("RM cell, backward: ER "))
    );
}

#[test]
fn cells_of_a_link_that_loses_frames_leave_and_are_lost() {
    let net = lan(|net| {
        let trunk = net.links.iter_mut().find(|l| l.name == "s-t").unwrap();
        trunk.lose_frames = vec![3, 5];
    });
    let (_, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    let cells = packets(file(&net, &files, Layer::Cells, "s-t"));
    let lost: Vec<&Packet> = cells
        .iter()
        .filter(|cell| cell.comment.contains(DropReason::Link.name()))
        .collect();
    assert_eq!(lost.len(), 24);
    for cell in lost {
        let same = |other: &&Packet| other.nanoseconds == cell.nanoseconds;
        assert_eq!(cells.iter().filter(same).count(), 2);
    }
}

/// Three TCPs and a UDP share a port of 100 Mb/s that drops Ethernet frames. The third TCP opens
/// with a handshake.
const ETHERNET: &str = r#"
name = "frames"
format = "ethernet"
duration = "0.5 s"
host = [{ name = "source", count = 4 }, { name = "sink", count = 4 }]
switch = [{ name = "west", ubr = { buffer = "30 cells" } }, { name = "east" }]
link = [
    { from = "source", to = "west", rate = "1 Gbps", delay = "50 us" },
    { from = "west", to = "east", rate = "100 Mbps", delay = "50 us" },
    { from = "east", to = "sink", rate = "1 Gbps", delay = "50 us" },
]
vc = [
    { from = "source1", to = "sink1", traffic = { kind = "tcp", recovery = "sack", mss = "1460 bytes" } },
    { from = "source2", to = "sink2", traffic = { kind = "tcp", recovery = "sack", mss = "1000 bytes" } },
    { from = "source3", to = "sink3", traffic = { kind = "tcp", recovery = "reno", handshake = true } },
    { from = "source4", to = "sink4", traffic = { kind = "udp", rate = "5 Mbps", datagram_size = "10 bytes" } },
]
"#;

/// The check sequence of IEEE 802.3 clause 3.2.9, bit by bit.
fn check_sequence(octets: &[u8]) -> u32 {
    !octets.iter().fold(!0, |register: u32, &octet| {
        (0..8).fold(register ^ u32::from(octet), |r, _| {
            r >> 1 ^ if r & 1 == 1 { 0xEDB8_8320 } else { 0 }
        })
    })
}

/// The IP packet of an Ethernet frame. Panics unless the frame is right.
fn packet_of(frame: &Packet) -> &[u8] {
    let octets = &frame.octets;
    assert_eq!(frame.whole as usize, octets.len());
    let packet = &octets[14..14 + usize::from(short(octets, 16))];
    // Addresses: 02:00 and the IP address.
    for (mac, ip) in [(0, 16), (6, 12)] {
        assert_eq!(octets[mac..mac + 2], [2, 0]);
        assert_eq!(octets[mac + 2..mac + 6], packet[ip..ip + 4]);
    }
    assert_eq!(octets[12..14], [8, 0]);
    let (rest, check) = octets.split_at(octets.len() - 4);
    assert_eq!(rest.len(), 14 + packet.len().max(46));
    assert!(rest[14 + packet.len()..].iter().all(|&octet| octet == 0));
    assert_eq!(check, check_sequence(rest).to_le_bytes());
    packet
}

#[test]
fn a_link_of_ethernet_has_its_frames_and_the_dropped_ones() {
    assert_eq!(check_sequence(b"123456789"), 0xCBF4_3926);
    let mut net = read_toml(ETHERNET, "", &[]).expect("it is right");
    net.probes = captures(&net);
    let (result, files) = captured(&net, Kernel::Auto, UNLIMITED, 3).expect("it runs");
    let link = file(&net, &files, Layer::Frames, "west->east");
    assert_eq!(interfaces(link), [(1, Some(vec![4])), (1, Some(vec![4]))]);
    assert!(link == file(&net, &files, Layer::Cells, "west->east"));
    let hosts = interfaces(file(&net, &files, Layer::Segments, "source1"));
    assert_eq!(hosts, [(101, None)]);

    let frames = packets(link);
    let (sent, dropped): (Vec<&Packet>, Vec<_>) = frames.iter().partition(|f| f.interface == 0);
    let port = result.ports.iter().find(|p| p.name == "west->east");
    assert_eq!(sent.len() as u64, port.expect("a port").sent_cells);
    let mut told: Vec<String> = with_trace(&net)
        .trace
        .iter()
        .map(|drop| {
            format!(
                "dropped: {}; queue X={} Y_i={} N_a={} threshold=30; {} data frame {} cell 0",
                drop.reason.name(),
                drop.waiting_cells.unwrap(),
                drop.waiting_of_vc_cells.unwrap(),
                drop.active_vcs.unwrap(),
                drop.vc,
                drop.frame,
            )
        })
        .collect();
    let mut found: Vec<&str> = dropped.iter().map(|f| f.comment.as_str()).collect();
    told.sort();
    found.sort();
    assert!(found.len() > 20 && told == found);

    // At 100 Mb/s a byte takes 80 ns. A frame takes 8 bytes more before it and 12 behind it. A SYN
    // has options that the model does not count.
    let is_syn = |f: &&Packet| packet_of(f)[9] == 6 && packet_of(f)[33] & 2 > 0;
    let (syns, others): (Vec<&Packet>, Vec<_>) = frames.iter().partition(is_syn);
    assert!(!syns.is_empty() && syns.iter().all(|syn| syn.octets.len() == 66));
    assert_eq!(others.iter().map(|f| f.octets.len()).min(), Some(64));
    assert_eq!(others.iter().map(|f| f.octets.len()).max(), Some(1_518));
    let mut in_step = 0;
    for pair in sent.windows(2).filter(|pair| !is_syn(&pair[1])) {
        let apart = pair[1].nanoseconds - pair[0].nanoseconds;
        let takes = 80 * (pair[1].octets.len() as u64 + 20);
        assert!(apart >= takes);
        in_step += usize::from(apart == takes);
    }
    assert!(in_step > sent.len() / 2);
}

/// The segments of a host, without the headers of Ethernet, are those that its link carries.
#[test]
fn frames_of_ethernet_carry_the_segments_of_their_host() {
    let mut net = read_toml(ETHERNET, "", &[]).expect("it is right");
    net.probes = captures(&net);
    for vc in &net.vcs {
        if matches!(vc.traffic, Traffic::Tcp(_)) {
            let sequence = Probe::new(Observable::Sequence, vc.name.as_str());
            net.probes.push(sequence);
        }
    }
    let (result, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    for (number, vc) in net.vcs.iter().enumerate() {
        let host = packets(file(&net, &files, Layer::Segments, &vc.from));
        let ours = |packet: &&Packet| {
            !packet.comment.starts_with("not simulated")
                && packet.octets[12..16] == [10, 0, 0, 1 + number as u8]
        };
        let segments: Vec<&[u8]> = host.iter().filter(ours).map(|p| &p.octets[..]).collect();
        let link = packets(file(
            &net,
            &files,
            Layer::Frames,
            &format!("{}->west", vc.from),
        ));
        assert!(link.len() > 20, "{}", link.len());
        assert!(
            link.iter()
                .map(packet_of)
                .eq(segments[..link.len()].iter().copied())
        );
        let numbers = result.series.iter().find(|series| series.of == vc.name);
        if let Some(numbers) = numbers {
            // The model counts from 0, a capture from the SYN.
            let first = match &vc.traffic {
                Traffic::Tcp(tcp) => u32::from(!tcp.handshake),
                _ => 0,
            };
            let found: Vec<f64> = segments
                .iter()
                .map(|octets| tcp(octets))
                .filter(|&(_, _, bytes, flags)| bytes > 0 || flags & 2 > 0)
                .map(|(_, sequence, ..)| f64::from(sequence - first))
                .collect();
            assert_eq!(numbers.value, found, "{}", vc.name);
        }
    }
}

/// Checks that files and results do not depend on the kernel, nor on the number of parts in which
/// files are written.
fn depends_on_the_scenario_alone(mut net: Scenario, parts: u64) -> Result<(), TestCaseError> {
    let bare = run(&net, None, &Options::default(), &NEVER).expect("it runs");
    net.probes = captures(&net);
    let (result, files) = captured(&net, Kernel::Auto, UNLIMITED, 1).expect("it runs");
    prop_assert_eq!(json(&result), json(&bare));
    files.iter().for_each(|file| drop(packets(file)));
    for (kernel, parts) in [
        (Kernel::Auto, parts),
        (Kernel::Slotted, 1),
        (Kernel::Arithmetic, 1),
    ] {
        let Ok((result, others)) = captured(&net, kernel, UNLIMITED, parts) else {
            prop_assert_eq!(kernel, Kernel::Arithmetic);
            continue;
        };
        prop_assert_eq!(json(&result), json(&bare));
        for ((file, other), probe) in files.iter().zip(&others).zip(&net.probes) {
            let (layer, of) = (probe.layer, &probe.of);
            prop_assert!(file == other, "{layer:?} of {of} by {kernel:?} in {parts}");
        }
    }
    for (index, link) in net.links.iter().enumerate() {
        let cells = packets(&files[2 * index]);
        let sent = cells.iter().filter(|cell| cell.interface == 0).count() as u64;
        let port = bare.ports.iter().find(|port| port.name == link.name);
        prop_assert!(
            port.is_none_or(|port| port.sent_cells == sent),
            "{}",
            link.name
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::config(40))]

    #[test]
    fn captures_depend_on_the_scenario_alone(case in random::networks(1_000, 4, 4), parts in 2u64..40) {
        depends_on_the_scenario_alone(case.scenario, parts)?;
    }

    #[test]
    fn captures_of_ethernet_depend_on_the_scenario_alone(
        case in random::networks(1_000, 4, 4),
        mtu in prop::sample::select(vec![1_500, 9_000]),
        equal in any::<bool>(),
        parts in 2u64..40,
    ) {
        depends_on_the_scenario_alone(in_ethernet(case, mtu, equal).scenario, parts)?;
    }

    /// With extreme settings every file is complete and the result equals that of a run without
    /// captures. Frames have 64 kB, rates reach 1 Tb/s, and links hold a thousand seconds.
    #[test]
    fn hostile_networks_are_captured(case in random::cases(300), seed in any::<u64>()) {
        let case = hostile(case, &mut Draws(seed));
        let text = write_toml(&case.scenario);
        let Ok(mut net) = read_toml(&text, "hostile.toml", &[]) else {
            return Ok(());
        };
        let Ok(bare) = run(&net, None, &Options::default(), &NEVER) else {
            return Ok(());
        };
        net.probes = captures(&net);
        let (result, files) = captured(&net, Kernel::Auto, 1_000_000, 3).expect("it runs");
        prop_assert_eq!(json(&result), json(&bare));
        files.iter().for_each(|file| drop(packets(file)));
    }
}
