//! Errors of shapers.

use super::spoil::problem_of;

const NET: &str = r#"name = "shaped"
duration = "1 s"
format = "ethernet"
host = [{ name = "a" }, { name = "b" }]
link = [{ from = "a", to = "b", rate = "100 Mbps" }]
vc = [
  { name = "tcp", from = "a", to = "b", traffic = { kind = "tcp", mss = "1460 bytes" } },
  { name = "udp", from = "a", to = "b", traffic = { kind = "udp", datagram_size = "100 bytes" } },
]
"#;

#[test]
fn a_bucket_holds_the_longest_frame_that_passes_it() {
    let of = |vc: &str, burst: &str, more: &str| {
        let value = format!("{{ rate = \"1 Mbps\", burst = \"{burst} bytes\"{more} }}");
        problem_of(NET, &format!("vc.{vc}.shape"), &value)
    };
    assert_eq!(of("tcp", "1538", ""), "");
    assert_eq!(of("tcp", "1538", ", both_ways = true"), "");
    let short = "vc[0].shape.burst: is 1537 bytes, so the longest frame, which has 1538 bytes on the line, could never leave \
                 | at least 1538 bytes";
    assert_eq!(of("tcp", "1537", ""), short);
    // A datagram of 100 bytes has 28 of headers and 38 of Ethernet.
    assert_eq!(of("udp", "166", ""), "");
    assert!(of("udp", "165", "").ends_with("| at least 166 bytes"));
    // ACKs with three blocks are longer than segments of one byte, but only `both_ways` shapes them.
    let text = NET.replace("\"1460 bytes\"", "\"1 byte\", recovery = \"sack\"");
    let of = |burst: u64, both: bool| {
        let value =
            format!("{{ rate = \"1 Mbps\", burst = \"{burst} bytes\", both_ways = {both} }}");
        problem_of(&text, "vc.tcp.shape", &value)
    };
    assert_eq!(of(84, false), "");
    assert!(of(105, true).ends_with("| at least 106 bytes"));
    assert_eq!(of(106, true), "");
    // In cells, all of their bytes count: 32 of 53 for 1460 bytes.
    let text = NET.replace("format = \"ethernet\"\n", "");
    let value = "{ rate = \"1 Mbps\", burst = \"1695 bytes\" }";
    assert!(problem_of(&text, "vc.tcp.shape", value).ends_with("| at least 1696 bytes"));
}

#[test]
fn a_shaper_needs_frames_and_a_way() {
    let shape = "{ rate = \"1 Mbps\", burst = \"20 kB\" }";
    let text = NET.replace("format = \"ethernet\"\n", "");
    let cells = text.replace(
        "kind = \"udp\", datagram_size = \"100 bytes\"",
        "kind = \"cbr\", rate = \"1 Mbps\"",
    );
    assert_eq!(
        problem_of(&cells, "vc.udp.shape", shape),
        "vc[1].shape: requires traffic with frames, but cbr sends single cells | traffic tcp or udp, or no shape"
    );
    let abr = text.replace(
        "name = \"tcp\",",
        "name = \"tcp\", class = \"abr\", abr = {},",
    );
    assert_eq!(
        problem_of(&abr, "vc.tcp.shape", shape),
        "vc[0].shape: cannot be combined with `abr`, whose end systems pace the cells | one of the two"
    );
    let both = "{ rate = \"1 Mbps\", burst = \"20 kB\", both_ways = true }";
    assert_eq!(
        problem_of(NET, "vc.udp.shape", both),
        "vc[1].shape.both_ways: has no effect: nothing flows back with traffic udp | false, or traffic tcp"
    );
    let without = problem_of(NET, "vc.tcp.shape", "{ rate = \"1 Mbps\" }");
    assert!(
        without.starts_with("vc[0].shape.burst: is missing | \"1 byte\" to"),
        "{without}"
    );
}

/// What 100 Mb/s offer in a second takes 100 000 s at 1 kb/s, and time ends at 14 000 s.
#[test]
fn what_waits_must_be_able_to_leave_before_the_latest_time() {
    let found = problem_of(
        NET,
        "vc.udp.shape",
        "{ rate = \"1 kbps\", burst = \"20 kB\" }",
    );
    assert!(
        found.starts_with("vc[1]: could still have packets in transit after"),
        "{found}"
    );
}
