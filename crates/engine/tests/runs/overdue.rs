//! Tests that waits beyond representable time (model section 2) end the run under every kernel and
//! never give a result.

use crate::common::engines::{result, under};
use cellyard_engine::scenario::read_toml;
use cellyard_engine::{Kernel, Options, RunError, run};
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// The places named by each kernel's error.
fn overdue(text: &str) -> Vec<String> {
    let net = read_toml(text, "", &[]).expect("it reads");
    let of_kernel = |kernel| match run(&net, None, &under(kernel), &NEVER) {
        Err(RunError::Overdue { place, .. }) => place,
        other => panic!("{kernel:?}: {:?}", other.map(|r| r.totals)),
    };
    let mut places: Vec<String> = [Kernel::Auto, Kernel::Slotted, Kernel::Twin]
        .map(of_kernel)
        .into();
    places.dedup();
    places
}

/// A TCP that retransmits its largest frame every millisecond.
const HASTY: &str = r#"{ kind = "tcp", mss = "65487 bytes", rwnd = "65487 bytes", granularity = "1 ms", min_rto = "1 ms", initial_rto = "1 ms", max_rto = "1 ms""#;

#[test]
fn retransmissions_pile_up_at_a_slow_nic() {
    let net = format!(
        r#"
duration = "10 s"
host = [{{ name = "a" }}, {{ name = "b" }}]
link = [{{ from = "a", to = "b", rate = "1 kbps" }}]
vc = [{{ from = "a", to = "b", traffic = {HASTY} }} }}]
"#
    );
    assert_eq!(overdue(&net), ["the NIC of link a->b"]);
}

#[test]
fn the_nic_of_a_path_is_told_before_its_links_seem_busier_than_they_can_be() {
    let net = r#"
duration = "60 s"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "w", ubr = { buffer = "10 cells", drop = "ppd" } }, { name = "e" }]
link = [
    { from = "a", to = "w", rate = "1 kbps" },
    { from = "w", to = "e", rate = "2 kbps" },
    { from = "e", to = "b", rate = "1 kbps" },
]
vc = [{ from = "a", to = "b", traffic = { kind = "tcp", recovery = "vanilla", mss = "65487 bytes", rwnd = "65487 bytes", granularity = "1 us", min_rto = "100 us", initial_rto = "1 ms", max_rto = "10 ms" } }]
"#;
    assert_eq!(overdue(net), ["the NIC of link a->w"]);
}

/// A cell source behind frames that wait in one NIC.
#[test]
fn cells_behind_a_pile_of_frames_are_overdue_too() {
    let net = format!(
        r#"
duration = "10 s"
host = [{{ name = "a" }}, {{ name = "b" }}]
link = [{{ from = "a", to = "b", rate = "1 kbps" }}]
vc = [
    {{ from = "a", to = "b", traffic = {HASTY} }} }},
    {{ from = "a", to = "b", class = "cbr", traffic = {{ kind = "cbr", rate = "1 kbps" }} }},
]
"#
    );
    assert_eq!(overdue(&net), ["the NIC of link a->b"]);
}

#[test]
fn retransmissions_pile_up_at_a_slow_port() {
    let net = format!(
        r#"
duration = "10 s"
host = [{{ name = "a" }}, {{ name = "b" }}]
switch = [{{ name = "w" }}]
link = [
    {{ from = "a", to = "w", rate = "155.52 Mbps" }},
    {{ from = "w", to = "b", rate = "1 kbps" }},
]
vc = [{{ from = "a", to = "b", traffic = {HASTY} }} }}]
"#
    );
    // Arithmetic kernel only: the others handle half a million waiting cells one by one.
    let net = read_toml(&net, "", &[]).expect("it reads");
    let place = "the port queue of link w->b".to_string();
    let done = run(&net, None, &Options::default(), &NEVER);
    assert_eq!(
        done.err(),
        Some(RunError::Overdue {
            place,
            latest: 350_000
        })
    );
}

#[test]
fn frames_pile_up_at_slow_servers() {
    let net = |host: &str, switch: &str, tcp: &str| {
        format!(
            r#"
duration = "10 s"
host = [{{ name = "a"{host} }}, {{ name = "b" }}]
switch = [{{ name = "w"{switch} }}]
link = [
    {{ from = "a", to = "w", rate = "155.52 Mbps" }},
    {{ from = "w", to = "b", rate = "155.52 Mbps" }},
]
vc = [{{ name = "v", from = "a", to = "b", traffic = {HASTY}{tcp} }} }}]
"#
        )
    };
    let server = |per: &str, mean: &str| {
        format!(
            ", processing = {{ kind = \"server\", per = \"{per}\", mean = \"{mean}\", spread = \"1 s\" }}"
        )
    };
    let slow = server("frame", "1000 s");
    assert_eq!(overdue(&net(&slow, "", "")), ["the processing of host a"]);
    assert_eq!(overdue(&net("", "", &slow)), ["the processing of vc v"]);
    let behind = ["the processing of the switch behind link a->w"];
    assert_eq!(overdue(&net("", &slow, "")), behind);
    assert_eq!(overdue(&net("", &server("cell", "2 s"), "")), behind);
}

#[test]
fn retransmissions_pile_up_at_a_slow_shaper() {
    let net = format!(
        r#"
duration = "10 s"
host = [{{ name = "a" }}, {{ name = "b" }}]
link = [{{ from = "a", to = "b", rate = "155.52 Mbps" }}]
vc = [{{ name = "v", from = "a", to = "b", shape = {{ rate = "1 kbps", burst = "80 kB" }}, traffic = {HASTY} }} }}]
"#
    );
    assert_eq!(overdue(&net), ["the shaper of vc v"]);
}

/// A slow NIC that does finish its file: being slow is not an error.
#[test]
fn what_can_leave_in_time_is_no_error() {
    let net = r#"
duration = "100000 s"
host = [{ name = "a" }, { name = "b" }]
link = [{ from = "a", to = "b", rate = "1 kbps" }]
vc = [{ from = "a", to = "b", traffic = { kind = "tcp", mss = "65487 bytes", rwnd = "65487 bytes", granularity = "1 s", min_rto = "1000 s", initial_rto = "1000 s", max_rto = "1000 s" } }]
"#;
    let net = read_toml(net, "", &[]).expect("it reads");
    for kernel in [Kernel::Auto, Kernel::Twin] {
        assert!(result(&net, None, kernel).vcs[0].goodput_mbps > 0.0);
    }
}
