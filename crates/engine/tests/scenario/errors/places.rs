//! Errors of buffers and thresholds in bytes and in time.

use super::spoil::{overridden, problem_of};

const PACKETS: &str = r#"name = "packets"
duration = "1 s"
format = "ethernet"
host = [{ name = "a", count = 2 }, { name = "b", count = 2 }]
switch = [{ name = "s", ubr = { buffer = "256 kB" }, vbr = { buffer = "64 kB" } }]
link = [
  { from = "a", to = "s", rate = "1 Gbps" },
  { from = "s", to = "b", rate = "1 Gbps" },
]
vc = [
  { from = "a1", to = "b1", traffic = { kind = "tcp", mss = "1460 bytes" } },
  { from = "a2", to = "b1", class = "vbr", traffic = { kind = "udp" } },
]
"#;

/// The first problem of the scenario with one override, without its place; empty if it is valid.
fn problem(path: &str, value: &str) -> String {
    problem_of(PACKETS, path, value)
}

#[test]
fn buffers_in_bytes_time_and_packets_are_read() {
    for buffer in ["1 byte", "256 kB", "1 GB", "1 us", "8 s"] {
        assert_eq!(problem("switch.s.ubr.buffer", buffer), "", "{buffer}");
    }
    for drop in [
        "{ policy = \"epd\", threshold = \"200 kB\" }",
        "{ policy = \"epd\", reserve = \"9 kB\" }",
        "{ policy = \"epd\", reserve = 0.1 }",
        "{ policy = \"epd\", threshold = 0.9 }",
        "{ policy = \"selective-drop\", r = \"100 kB\" }",
        "{ policy = \"packet-red\", min_th = \"30 kB\", max_th = \"90 kB\" }",
        "{ policy = \"program\", refuse = \"X > R\", R = \"9 kB\" }",
        "{ policy = \"program\", refuse = \"X > R\", R = \"0.9 K\" }",
    ] {
        assert_eq!(problem("switch.s.ubr.drop", drop), "", "{drop}");
    }
}

#[test]
fn what_is_not_in_the_unit_of_the_port_is_refused() {
    let drop = |value: &str| problem("switch.s.ubr.drop", value);
    assert_eq!(
        problem("switch.s.vbr.buffer", "9 packets"),
        "switch[0].ubr.buffer: counts bytes, but vbr at s->b1 counts cells | the unit of vbr, or \"unlimited\""
    );
    assert_eq!(
        drop("{ policy = \"epd\", threshold = \"9 packets\" }"),
        "switch[0].ubr.drop.threshold: is in cells, but the queue counts bytes | bytes, or a fraction of the buffer"
    );
    assert_eq!(
        drop("{ policy = \"program\", refuse = \"X > R\", R = \"9 cells\" }"),
        "switch[0].ubr.drop.R: is in cells, but the queue counts bytes | bytes, or a fraction of the buffer"
    );
    assert_eq!(
        drop("epd"),
        "switch[0].ubr.drop: has no default threshold in a queue that counts bytes | { policy = \"epd\", threshold = 0.9 }, or \
         a `reserve`"
    );
    assert_eq!(
        drop("{ policy = \"epd\", reserve = \"257 kB\" }"),
        "switch[0].ubr.drop.reserve: is 257000 bytes, more than the buffer of 256000 bytes | at most the buffer"
    );
    assert_eq!(
        drop("{ policy = \"packet-red\", min_th = \"9 kB\", max_th = \"5 kB\" }"),
        "switch[0].ubr.drop.min_th: is 9000 bytes, not below max_th = 5000 bytes | below max_th"
    );
}

/// 1 Gb/s sends 125 bytes in 1 us, and 1 GB in 8 s.
#[test]
fn a_time_that_is_no_buffer_at_the_rate_of_a_port_is_refused() {
    let buffer = |time: &str| problem("switch.s.ubr.buffer", time);
    assert_eq!(
        buffer("7 ns"),
        "switch[0].ubr.buffer: is 0 bytes at the rate of s->a1 | 1 byte to 1000000000 bytes"
    );
    assert_eq!(
        buffer("9 s"),
        "switch[0].ubr.buffer: is 1125000000 bytes at the rate of s->a1 | 1 byte to 1000000000 bytes"
    );
}

/// The format is Ethernet even so: no other error follows.
#[test]
fn a_buffer_in_bytes_is_no_error_beside_an_mtu_that_is_one() {
    let found = overridden(
        PACKETS,
        &[("format", "{ kind = \"ethernet\", mtu = \"70 kB\" }")],
    );
    let found = found.expect_err("no header has such a length");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "format.mtu");
}

#[test]
fn cells_of_aal5_are_not_counted_in_bytes() {
    let text = PACKETS.replace("format = \"ethernet\"\n", "");
    let found = overridden(&text, &[]).expect_err("ATM cells have one size");
    assert!(found[0].path == "switch[0].vbr.buffer" || found[0].path == "switch[0].ubr.buffer");
    assert!(found[0].to_string().contains("cells"), "{}", found[0]);
}
