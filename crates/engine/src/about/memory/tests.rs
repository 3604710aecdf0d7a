//! Tests of the predicted memory.

use super::*;
use crate::text::scenario::read_toml;

fn need_of(text: &str, kernel: Kernel) -> MemoryNeed {
    let net = read_toml(text, "", &[]).expect("it reads");
    let net = Resolved::new(&net).expect("it holds together");
    let options = Options {
        kernel,
        ..Options::default()
    };
    need(&net, &options)
}

const WINDOWS: &str = r#"
duration = "1 us"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "w" }]
link = [{ from = "a", to = "w", rate = "1 Tbps" }, { from = "w", to = "b", rate = "1 Tbps" }]
vc = [{ count = 400, from = "a", to = "b", traffic = { kind = "tcp", mss = "1 byte", rwnd = "1 GiB", initial_window = 1000000 } }]
"#;

#[test]
fn windows_count_as_far_as_the_run_can_open_them() {
    let found = need_of(WINDOWS, Kernel::Auto);
    assert!(
        found.bytes > 40e9 && found.cause.contains("initial_window"),
        "{found:?}"
    );
    let closed = WINDOWS.replace("1000000", "1");
    assert!(need_of(&closed, Kernel::Auto).bytes < 1e9);
}

#[test]
fn a_window_counts_no_more_than_the_file_that_it_sends() {
    let file = WINDOWS.replace("initial_window", "file_size = \"1 kB\", initial_window");
    let small = file.replace("1 GiB", "1 kB");
    let [file, small] = [file, small].map(|text| need_of(&text, Kernel::Auto).bytes);
    assert!(file <= small && small > 1e6, "{file} {small}");
    let large = need_of(WINDOWS, Kernel::Auto).bytes;
    assert!(file < large / 100.0, "{file} {large}");
}

#[test]
fn queues_count_where_cells_are_kept() {
    let net = |load: &str| {
        format!(
            r#"
duration = "1000 s"
host = [{{ name = "a", count = 2 }}, {{ name = "b" }}]
switch = [{{ name = "w" }}]
link = [{{ from = "a", to = "w", rate = "155.52 Mbps" }}, {{ from = "w", to = "b", rate = "155.52 Mbps" }}]
vc = [{{ from = "a", to = "b", traffic = {{ kind = "poisson", rate = "{load}" }} }}]
"#
        )
    };
    let over = need_of(&net("155.52 Mbps"), Kernel::Slotted);
    assert!(
        over.bytes > 30e9 && over.cause.contains("queues"),
        "{over:?}"
    );
    assert!(need_of(&net("155.52 Mbps"), Kernel::Auto).bytes < 1e6);
    assert!(need_of(&net("70 Mbps"), Kernel::Slotted).bytes < 1e6);
}

#[test]
fn policies_of_minimum_rates_bound_a_queue_without_a_buffer() {
    let text = |drop: &str| {
        format!(
            r#"
duration = "1000 s"
host = [{{ name = "a", count = 4 }}, {{ name = "b" }}]
switch = [{{ name = "w", gfr = {{ drop = "{drop}" }} }}]
link = [{{ from = "a", to = "w", rate = "1 Gbps" }}, {{ from = "w", to = "b", rate = "1 Gbps" }}]
[[vc]]
from = "a"
to = "b"
class = "gfr"
contract = {{ mcr = "1 Mbps" }}
traffic = "udp"
"#
        )
    };
    let need = |text: &str| need_of(text, Kernel::Slotted).bytes;
    let bounded = text("gcra-round-robin");
    assert!(need(&text("tail-drop")) > 1e9);
    assert!(need(&bounded) < 1e7, "{}", need(&bounded));
    // No bound if the rates exceed the link, or another class takes it.
    assert!(need(&bounded.replace("mcr = \"1 Mbps\"", "scr = \"999 Mbps\"")) > 1e9);
    let other =
        "[[vc]]\nfrom = \"a1\"\nto = \"b\"\ntraffic = { kind = \"cbr\", rate = \"999 Mbps\" }\n";
    assert!(need(&format!("{bounded}{other}")) > 1e9);
}

/// Each of 1000 VCs has a data and an ACK flow at both ports of the switches.
#[test]
fn each_state_of_a_vc_counts_at_each_port_that_it_crosses() {
    let net = |states: &str| {
        format!(
            r#"
duration = "1 us"
host = [{{ name = "a" }}, {{ name = "b" }}]
switch = [{{ name = "w", ubr = {{ buffer = "9 cells", drop = {{ policy = "program", program = "{states} if X > 3 {{ refuse }}" }} }} }}]
link = [{{ from = "a", to = "w", rate = "1 Gbps" }}, {{ from = "w", to = "b", rate = "1 Gbps" }}]
vc = [{{ count = 1000, from = "a", to = "b", traffic = {{ kind = "udp", rate = "1 kbps" }} }}]
"#
        )
    };
    let need = |states: &str| {
        let text = net(states);
        let net = read_toml(&text, "", &[]).expect("it reads");
        let net = Resolved::new(&net).expect("it holds together");
        let flows: usize = net
            .ports()
            .map(|(link, _)| net.topology.crossing[link].len())
            .sum();
        (need(&net, &Options::default()).bytes, flows)
    };
    let ((none, flows), (two, _)) = (
        need(""),
        need("vc state a = 0\\nvc state b = 0\\na = X\\nb = a\\n"),
    );
    assert!(flows >= 1000, "{flows}");
    // Two values of 16 bytes for each flow; the registers are few.
    let states = 2.0 * 16.0 * flows as f64;
    assert!(
        (states..states + 1_000.0).contains(&(two - none)),
        "{none} {two}"
    );
}

#[test]
fn a_port_whose_credit_is_watched_keeps_cells() {
    let net = |probe: &str| {
        format!(
            r#"
duration = "1000 s"
host = [{{ name = "a", count = 2 }}, {{ name = "b" }}]
switch = [{{ name = "w", scheduler = {{ kind = "guaranteed-rate", class = "ubr", gr = 0.5 }} }}]
link = [{{ from = "a", to = "w", rate = "155.52 Mbps" }}, {{ from = "w", to = "b", rate = "155.52 Mbps" }}]
vc = [{{ from = "a", to = "b", traffic = {{ kind = "poisson", rate = "155.52 Mbps" }} }}]
{probe}
"#
        )
    };
    let watched = "probe = [{ what = \"credit\", of = \"w->b\", interval = \"1 s\" }]";
    assert!(need_of(&net(watched), Kernel::Auto).bytes > 30e9);
    let queue = watched.replace("credit", "queue");
    assert!(need_of(&net(&queue), Kernel::Auto).bytes < 1e6);
}

#[test]
fn transfers_count_as_far_as_their_files_and_the_links_let_them_end() {
    let net = |tcp: &str| {
        format!(
            r#"
duration = "1000 s"
host = [{{ name = "a" }}, {{ name = "b" }}]
link = [{{ from = "a", to = "b", rate = "155.52 Mbps" }}]
vc = [{{ from = "a", to = "b", traffic = {{ kind = "tcp", {tcp} }} }}]
"#
        )
    };
    let need = |tcp: &str| need_of(&net(tcp), Kernel::Auto);
    // A transfer takes two cells of 2.7 us and no delay: 183 million transfers.
    let small = need("file_size = \"1 byte\", files = \"unlimited\"");
    assert!(
        small.bytes > 180e9 && small.cause.contains("transfers"),
        "{small:?}"
    );
    for little in [
        "file_size = \"1 byte\"",
        "file_size = \"1 byte\", files = 1000",
        "file_size = \"1 byte\", files = \"unlimited\", file_gap = \"1 s\"",
        "file_size = \"10 MB\", files = \"unlimited\"",
    ] {
        assert!(need(little).bytes < 3e6, "{little}: {:?}", need(little));
    }
}

#[test]
fn the_examples_need_little() {
    let text = include_str!("../../../../../examples/lan-5.toml");
    for kernel in [Kernel::Auto, Kernel::Slotted] {
        assert!(need_of(text, kernel).bytes < 50e6);
    }
}

/// In 5 s without a rate, 60 Mb/s of cells wait at the host: 708 000. Behind the host, a port with two
/// inputs keeps them.
#[test]
fn what_waits_for_a_rate_counts_at_hosts_and_behind_them() {
    let net = |changes: &str| {
        format!(
            r#"
duration = "10 s"
host = [{{ name = "a", count = 2 }}, {{ name = "b" }}]
switch = [{{ name = "w" }}]
link = [{{ from = "a", to = "w", rate = "100 Mbps", changes = [{changes}] }}, {{ from = "w", to = "b", rate = "155.52 Mbps" }}]
vc = [{{ from = "a", to = "b", traffic = {{ kind = "cbr", rate = "60 Mbps" }} }}]
"#
        )
    };
    let pause = net("{ at = \"1 s\", rate = \"0 bps\" }, { at = \"6 s\", rate = \"100 Mbps\" }");
    let [steady, pause] = [net(""), pause].map(|text| need_of(&text, Kernel::Auto));
    let cells = 2.0 * 300e6 / 424.0;
    let more = pause.bytes - steady.bytes;
    assert!(more >= cells * QUEUED_CELL_BYTES, "{more}");
    assert!(more < 1.1 * cells * QUEUED_CELL_BYTES, "{more}");
}
