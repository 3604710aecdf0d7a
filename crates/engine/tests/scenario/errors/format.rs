//! Errors of the format, and of what a format lacks.

use super::spoil::{GOOD, all_say, only, pair, says};
use cellyard_engine::format::{Clock, Format};
use cellyard_engine::scenario::{read_toml, write_toml};

/// Cells of 256 bytes.
const CELLS: &str = r#"{ cell = "256 bytes", carries = "240 bytes", frame_overhead = "4 bytes" }"#;

/// `GOOD` in a format.
fn in_format(format: &str) -> String {
    format!("format = {format}\n{GOOD}")
}

/// The only problem of `GOOD` in cells of 256 bytes, with `from` replaced by `to`.
fn lacking(from: &str, to: &str) -> String {
    lacking_in(CELLS, from, to)
}

/// The only problem of `GOOD` in `format`, with `from` replaced by `to`.
fn lacking_in(format: &str, from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from} is unique");
    only(&in_format(format).replace(from, to))
}

const TCP: &str = "traffic = { kind = \"tcp\", recovery = \"reno\" }";

/// A table with the traffic and the policy of `GOOD` for `T` and `D` in its rows.
fn in_full(table: &str) -> String {
    let drop = "drop = { policy = \"epd\", threshold = \"800 cells\" }";
    let table = table.replace(" T ", &format!(" {TCP} "));
    table
        .replace("-> T\\n", &format!("-> {TCP}\\n"))
        .replace(" D ", &format!(" {drop} "))
}

#[test]
fn formats_are_read_and_written() {
    for (format, expected) in [
        ("\"aal5\"", Format::AAL5),
        (CELLS, Format::cells(256, 240, 4)),
        (
            r#"{ cell = "64 B", carries = "64 B" }"#,
            Format::cells(64, 64, 0),
        ),
        (
            r#"{ kind = "cells", cell = "256 bytes", carries = "240 bytes" }"#,
            Format::cells(256, 240, 0),
        ),
        (r#"{ kind = "aal5" }"#, Format::AAL5),
        ("\"ethernet\"", Format::ETHERNET),
        (r#"{ kind = "ethernet" }"#, Format::ETHERNET),
        (
            r#"{ kind = "ethernet", mtu = "1500 bytes" }"#,
            Format::ETHERNET,
        ),
        (
            r#"{ kind = "ethernet", mtu = "9 kB" }"#,
            Format::ethernet(9_000),
        ),
    ] {
        let scenario = read_toml(&in_format(format), "test.toml", &[]).expect("it is right");
        assert_eq!(scenario.format, expected);
        let written = write_toml(&scenario);
        let read = read_toml(&written, "written.toml", &[]);
        assert_eq!(read.as_ref(), Ok(&scenario), "{written}");
        let json = serde_json::to_string(&scenario).expect("plain data");
        assert_eq!(json.contains("format"), !expected.is_aal5(), "{json}");
        assert_eq!(serde_json::from_str(&json).ok(), Some(scenario));
    }
}

/// A table is written by its name or without `kind` if that means the same.
#[test]
fn a_format_is_written_in_its_shortest_form() {
    let line = |format: &str| {
        let scenario = read_toml(&in_format(format), "test.toml", &[]).expect("it is right");
        let written = write_toml(&scenario);
        let mut lines = written.lines().map(str::to_string);
        lines.find(|line| line.starts_with("format"))
    };
    for (format, expected) in [
        (r#"{ kind = "ethernet" }"#, "\"ethernet\""),
        (
            r#"{ mtu = "9 kB", kind = "ethernet" }"#,
            r#"{ kind = "ethernet", mtu = "9000 bytes" }"#,
        ),
        (
            &CELLS.replace("{ ", "{ kind = \"cells\", "),
            r#"{ cell = "256 bytes", carries = "240 bytes", frame_overhead = "4 bytes" }"#,
        ),
    ] {
        assert_eq!(line(format), Some(format!("format = {expected}")));
    }
}

/// `format.mtu` set from outside needs the format `ethernet`, by its name or as a table.
#[test]
fn an_mtu_can_be_set_where_packets_are() {
    let set = |format: &str| {
        let set = [("format.mtu".into(), "9000 bytes".into())];
        read_toml(&in_format(format), "test.toml", &set).map(|scenario| scenario.format)
    };
    let tables = ["\"ethernet\"", r#"{ kind = "ethernet", mtu = "1 kB" }"#];
    for format in tables {
        assert_eq!(set(format), Ok(Format::ethernet(9_000)));
    }
    let told = |text: &str| {
        let set = [("format.mtu".into(), "9000 bytes".into())];
        let problems = read_toml(text, "test.toml", &set).expect_err("it is wrong");
        assert_eq!(problems.len(), 1, "{problems:#?}");
        problems[0].to_string()
    };
    says(
        &told(&in_format("\"aal5\"")),
        &["format.mtu = \"9000 bytes\": is not a field of `aal5`, but of ethernet"],
    );
    says(
        &told(GOOD),
        &[
            "format.kind: is missing",
            "did you mean `kind = \"ethernet\"`?",
        ],
    );
}

#[test]
fn an_mtu_must_be_possible() {
    all_say(
        |mtu| {
            only(&in_format(&format!(
                "{{ kind = \"ethernet\", mtu = {mtu} }}"
            )))
        },
        r#"
        "75 bytes" => test.toml:1:37: format.mtu = "75 bytes": must be at least 76 bytes
            | "76 bytes" to "65535 bytes"
        "65536 bytes" => format.mtu = "65536 bytes": must be at most 65535 bytes
        "9000" => format.mtu = "9000": missing unit | did you mean "9000 bytes"?
        9000 => format.mtu = 9000: missing unit
        "#,
    );
    // The longest segment and datagram fit, and those with a byte more do not.
    let sent = |mtu: u64, traffic: &str, field: &str, bytes: u64| {
        let format = in_format(&format!("{{ kind = \"ethernet\", mtu = \"{mtu} bytes\" }}"));
        let traffic = format!("traffic = {{ {traffic}, {field} = \"{bytes} bytes\" }}");
        read_toml(&format.replace(TCP, &traffic), "test.toml", &[]).is_ok()
    };
    for mtu in [76, 1_499, 1_500, 9_000, 65_535] {
        let segments = "kind = \"tcp\", rwnd = \"1 MB\"";
        assert!(sent(mtu, segments, "mss", mtu - 40) && !sent(mtu, segments, "mss", mtu - 39));
        let datagrams = "kind = \"udp\"";
        assert!(sent(mtu, datagrams, "datagram_size", mtu - 28));
        assert!(!sent(mtu, datagrams, "datagram_size", mtu - 27));
    }
}

#[test]
fn aal5_states_lengths_of_16_bits() {
    let sent = |traffic: &str| only(&GOOD.replace(TCP, &format!("traffic = {traffic}")));
    all_say(
        sent,
        r#"
        { kind = "tcp", mss = "65488 bytes", rwnd = "1 MB" } =>
            | vc[0].traffic.mss = "65488 bytes": is 65488 bytes, too much for a packet of 65527 bytes, with its headers
            | at most 65487 bytes
        { kind = "udp", datagram_size = "65500 bytes" } => vc[0].traffic.datagram_size | at most 65499 bytes
        "#,
    );
}

#[test]
fn quantities_are_those_of_the_format() {
    let text = in_format(CELLS).replace("rate = \"10 Mbps\"", "rate = \"1000 cells/s\"");
    let scenario = read_toml(&text, "test.toml", &[]).expect("it is right");
    assert_eq!(scenario.duration.0, Clock::FINE.ticks_per_second);
    let slow = scenario.links.iter().find(|link| link.to == "sink1");
    assert_eq!(slow.map(|link| link.rate.0), Some(2_048_000));
    let overridden = [("format".into(), "aal5".into())];
    let scenario = read_toml(&text, "test.toml", &overridden).expect("it is right");
    assert!(scenario.format.is_aal5());
}

#[test]
fn cells_must_be_possible() {
    let cells = |cell: &str, carries: &str| {
        only(&in_format(&format!(
            "{{ cell = \"{cell} bytes\", carries = \"{carries} bytes\" }}"
        )))
    };
    all_say(
        pair(cells),
        r#"
        256 -> 257 => format.carries = "257 bytes": is 257 bytes, above the cell
            | at most 256 bytes
        0 -> 240 => test.toml:1:19: format.cell = "0 bytes": must be at least 32 bytes
        256 -> 0 => format.carries = "0 bytes": must be at least 32 bytes
        9217 -> 240 => format.cell = "9217 bytes": must be at most 9216 bytes
        "#,
    );
    all_say(
        |format| only(&in_format(format)),
        r#"
        { cell = "256 bytes" } => format.carries: is missing
        { cell = "256 bytes", carried = "240 bytes", carries = "240 bytes" } => format.carried
            | unknown field | did you mean `carries`?
        { cell = "256 cells", carries = "240 bytes" } =>
            | format.cell = "256 cells": unknown unit `cells`
        "aal" => format = "aal": unknown format | did you mean `aal5`?
        { kind = "ethernt" } => format.kind = "ethernt": unknown format | did you mean `ethernet`?
        { mtu = "9 kB" } => format.kind: is missing | did you mean `kind = "ethernet"`?
        { kind = "ethernet", cell = "256 bytes" } => format.cell
            | is not a field of `ethernet`, but of cells
        53 => format = 53: must not be a
            | one of aal5, cells, ethernet, or a table with it as `kind`
        "#,
    );
}

#[test]
fn mechanisms_of_aal5_are_refused() {
    const TABLE: &str = r#"
        T -> T\ncontract = { mcr = "1 Mbps" } => vc[0].contract: the `contract`
            | is defined for the format aal5 only | format = "aal5"
        T -> T\nclass = "abr"\nabr = {} => vc[0].abr: the `abr`
            | is defined for the format aal5 only
        D -> drop = "gcra-epd" => switch[0].ubr.drop = "gcra-epd": the drop policy `gcra-epd`
            | is defined for the format aal5 only
        D -> police = "gcra" => switch[0].ubr.police = "gcra": the policer `gcra`
            | is defined for the format aal5 only
        T -> T\n[[probe]]\nwhat = "capture"\nof = "west->east" =>
            | probe[0]: the probe `capture` is defined for the formats aal5 and ethernet only
            | format = "aal5" or "ethernet"
        "#;
    all_say(pair(lacking), &in_full(TABLE));
}

#[test]
fn ethernet_lacks_what_needs_cells_of_one_length() {
    const ETHERNET: &str = "\"ethernet\"";
    let traffic = |traffic: &str| lacking_in(ETHERNET, TCP, &format!("traffic = {traffic}"));
    all_say(
        traffic,
        r#"
        { kind = "tcp", mss = "1461 bytes" } =>
            | vc[0].traffic.mss = "1461 bytes": is 1461 bytes, too much for a packet of 1500 bytes, the MTU, with its headers
            | at most 1460 bytes, or format = { kind = "ethernet", mtu = "1501 bytes" })
        { kind = "udp", rate = "1 Mbps", datagram_size = "1473 bytes" } =>
            | vc[0].traffic.datagram_size
            | at most 1472 bytes, or format = { kind = "ethernet", mtu = "1501 bytes" }
        "#,
    );
    for kind in ["cbr", "poisson"] {
        says(
            &traffic(&format!("{{ kind = \"{kind}\", rate = \"1 Mbps\" }}")),
            &[
                &format!(
                    "vc[0].traffic: the kind of traffic `{kind}` is defined for formats other than ethernet"
                ),
                "another format, or one of tcp, udp)",
            ],
        );
    }
    const TABLE: &str = r#"
        rate = "10 Mbps" -> rate = "1000 cells/s" =>
            | has the unit `cells/s`, which the format ethernet lacks: its packets differ in length
            | units: bps, kbps, Mbps, Gbps, Tbps)
        T -> T\nguarantee = "1 Mbps" => vc[0].guarantee | counts slots of one length
            | another format, or `weight`
        D -> drop = "dfba" => the drop policy `dfba` | is defined for the format aal5 only
        "#;
    let in_ethernet = |from: &str, to: &str| lacking_in(ETHERNET, from, to);
    all_say(pair(in_ethernet), &in_full(TABLE));
}

#[test]
fn times_end_earlier_with_the_finer_tick() {
    says(
        &lacking("duration = \"1 s\"", "duration = \"5000 s\""),
        &[
            "duration = \"5000 s\": must be at most 4000 s",
            "\"1 ns\" to \"4000 s\"",
        ],
    );
}

#[test]
fn a_cell_must_not_take_too_long() {
    let jumbo = in_format(r#"{ cell = "9216 bytes", carries = "9216 bytes" }"#);
    says(
        &only(&jumbo.replace("rate = \"10 Mbps\"", "rate = \"4 kbps\"")),
        &[
            "link[2].rate = \"4 kbps\": must be at least 4.348 kbps",
            "\"4.348 kbps\" to \"1 Tbps\"",
        ],
    );
}

#[test]
fn the_option_of_a_syn_must_not_add_a_cell() {
    let text = in_format(r#"{ cell = "64 bytes", carries = "40 bytes" }"#);
    says(
        &only(&text.replace("recovery = \"reno\"", "handshake = true")),
        &["vc[0].traffic.handshake = true: needs frames that take more cells than an ACK"],
    );
}

#[test]
fn small_packets_may_wait_for_long() {
    let small = "traffic = { kind = \"udp\", rate = \"10 Mbps\", datagram_size = \"18 bytes\" }";
    let text = in_format("\"ethernet\"")
        .replace(TCP, small)
        .replace("duration = \"1 s\"", "duration = \"3000 s\"");
    let read = read_toml(&text, "test.toml", &[]);
    assert!(read.is_ok(), "{:?}", read.err());
}
