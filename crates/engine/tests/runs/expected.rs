//! Tests the predicted cost of a run against what runs do.

use cellyard_engine::scenario::{Scenario, read_toml};
use cellyard_engine::testing::run_tally;
use cellyard_engine::{Kernel, describe};

/// Tolerated factor between prediction and count.
const FACTOR: f64 = 3.0;

fn read(text: &str, set: &[(&str, &str)]) -> Scenario {
    let set: Vec<_> = set
        .iter()
        .map(|&(k, v)| (k.to_string(), v.to_string()))
        .collect();
    read_toml(text, "", &set).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

/// Checks that predicted counts of cells and frames match those of a run.
fn check(name: &str, scenario: &Scenario) {
    let expected = describe(scenario).expect("it can be built").expected;
    let tally = run_tally(scenario, None, Kernel::Auto, false).expect("it runs");
    let cells = tally.link_cells.iter().sum::<u64>() as f64;
    let frames = tally.flows.iter().map(|flow| flow.frames_sent).sum::<u64>() as f64;
    for (what, expected, made) in [
        ("cells", expected.cells, cells),
        ("frames", expected.frames, frames),
    ] {
        let factor = expected.max(1.0) / made.max(1.0);
        assert!(
            (1.0 / FACTOR..=FACTOR).contains(&factor),
            "{name}: {expected:.0} {what} expected, {made:.0} made"
        );
    }
}

#[test]
fn all_examples_do_what_is_expected() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the examples")
        .map(|entry| entry.expect("an example").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 10);
    for path in names {
        let text = std::fs::read_to_string(&path).expect("an example");
        check(&path.display().to_string(), &read(&text, &[]));
    }
}

const DIRECT: &str = r#"
duration = "10 ms"
host = [{ name = "a" }, { name = "b" }]
link = [{ from = "a", to = "b", rate = "1 Tbps" }]
vc = [{ from = "a", to = "b", traffic = { kind = "tcp", rwnd = "1 MB" } }]
"#;

#[test]
fn without_a_port_that_can_queue_cells_are_expected_all_the_same() {
    check("direct", &read(DIRECT, &[]));
    for (set, to) in [
        ("link.delay", "1 ms"),
        ("link.rate", "10 Mbps"),
        ("vc.traffic.mss", "9140 bytes"),
        ("duration", "20 us"),
    ] {
        check(&format!("{set} = {to}"), &read(DIRECT, &[(set, to)]));
    }
    let day = describe(&read(DIRECT, &[("duration", "86400 s")]))
        .expect("it can be built")
        .expected;
    assert!(day.cells > 1e14 && day.cpu_s > 1e5, "{day:?}");
}

#[test]
fn what_is_handed_over_at_the_start_is_expected() {
    let text = r#"
duration = "1 us"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "w" }]
link = [{ from = "a", to = "w", rate = "1 Tbps" }, { from = "w", to = "b", rate = "1 Tbps" }]
vc = [{ count = 5, from = "a", to = "b", traffic = { kind = "tcp", mss = "1 byte", rwnd = "1 GiB", initial_window = 100000 } }]
"#;
    check("burst", &read(text, &[]));
    check("burst for longer", &read(text, &[("duration", "10 ms")]));
    check(
        "file",
        &read(text, &[("vc.traffic.file_size", "1000 bytes")]),
    );
}

#[test]
fn stops_files_and_rates_are_expected() {
    let text = include_str!("../../../../examples/zero-loss.toml");
    for (set, to) in [
        ("vc.stop", "100 ms"),
        ("vc.start", "9.9 s"),
        ("vc.traffic.file_size", "20000 bytes"),
        ("vc.traffic", "{ kind = \"cbr\", rate = \"1 Mbps\" }"),
        (
            "vc.traffic",
            "{ kind = \"vbr\", rate = \"10 Mbps\", on = \"10 ms\", off = \"30 ms\" }",
        ),
        ("vc.traffic.delayed_ack", "200 ms"),
    ] {
        check(&format!("{set} = {to}"), &read(text, &[(set, to)]));
    }
}

#[test]
fn cells_that_are_looked_at_one_by_one_are_expected_to_take_longer() {
    let seconds = |text, set: &[(&str, &str)]| {
        let expected = describe(&read(text, set))
            .expect("it can be built")
            .expected;
        expected.cpu_s / expected.station_cells
    };
    let lan = include_str!("../../../../examples/lan-5.toml");
    let together = seconds(lan, &[]);
    for text in [
        include_str!("../../../../examples/two-hops.toml"),
        include_str!("../../../../examples/abr-shares.toml"),
    ] {
        assert!(seconds(text, &[]) > 1.3 * together);
    }
    for (set, factor) in [
        (
            (
                "switch.west.ubr.drop",
                "{ policy = \"cell-red\", min_th = \"200 cells\", max_th = \"800 cells\" }",
            ),
            1.5,
        ),
        (
            ("switch.west.ubr.drop", "{ policy = \"fba\", r = 0.2 }"),
            1.3,
        ),
        (
            (
                "switch.west.scheduler",
                "{ kind = \"per-vc\", class = \"ubr\" }",
            ),
            3.0,
        ),
        (
            ("probe", "[{ what = \"queue\", of = \"west->east\" }]"),
            2.0,
        ),
        (
            (
                "probe",
                "[{ what = \"queue\", of = \"west->east\", interval = \"1 us\" }]",
            ),
            3.0,
        ),
        (("link.source->west.rate", "100 Mbps"), 2.0),
    ] {
        let found = seconds(lan, &[set]) / together;
        assert!((factor..10.0 * factor).contains(&found), "{set:?}: {found}");
    }
}

/// CPU time expected of an example with `set` changed.
fn cpu_s(text: &str, set: &[(&str, &str)]) -> f64 {
    let expected = describe(&read(text, set))
        .expect("it can be built")
        .expected;
    expected.cpu_s
}

#[test]
fn programs_take_time_by_their_steps() {
    let lan = include_str!("../../../../examples/lan-5.toml");
    let drop = "switch.west.ubr.drop";
    let with = |asked: &str, text: &str| {
        let program = format!(r#"{{ policy = "program", asked = "{asked}", program = "{text}" }}"#);
        cpu_s(lan, &[(drop, &program)])
    };
    let short = "if X > 900 { refuse }";
    let long = "if X > 900 and X * X * X * X > 0 { refuse }";
    assert!(with("cells", short) < with("cells", long));
    // A frame has 12 cells or more, and only the first is asked about.
    let more = |asked| with(asked, long) - with(asked, short);
    assert!(more("cells") > 11.0 * more("frames"));
    let ranked = include_str!("../../../../examples/program-scheduler-per-vc.toml");
    let by_weight = (
        "switch.west.scheduler",
        r#"{ kind = "per-vc", class = "ubr" }"#,
    );
    assert!(cpu_s(ranked, &[]) > 1.2 * cpu_s(ranked, &[by_weight]));
}

/// Cells of `lan-5` with `set` changed that its bottleneck sends, and the most that are expected.
fn sent_and_most(set: &[(&str, &str)]) -> (u64, u64) {
    let scenario = read(include_str!("../../../../examples/lan-5.toml"), set);
    let described = describe(&scenario).expect("it can be built");
    let tally = run_tally(&scenario, None, Kernel::Auto, false).expect("it runs");
    let mut links = scenario.links.iter();
    let middle = links.position(|link| link.name == "west->east");
    let sent = tally.link_cells[middle.expect("a link")];
    (sent, described.max_bottleneck_cells)
}

#[test]
fn a_burst_counts_with_its_peak_rate() {
    let burst = r#"{ kind = "udp", rate = "155.52 Mbps", datagram_size = "1472 bytes", on = "200 us", off = "1 s" }"#;
    for (format, cells) in [("ethernet", 5 * 3), ("aal5", 5 * 3 * 32)] {
        let (sent, most) = sent_and_most(&[
            ("vc.traffic", burst),
            ("format", format),
            ("duration", "10 ms"),
        ]);
        assert_eq!(sent, cells, "{format}");
        assert!(sent <= most && most <= 2 * sent, "{format}: {most}");
    }
}

#[test]
fn the_first_frame_of_each_source_counts_in_a_short_run() {
    let udp = r#"{ kind = "udp", rate = "1 Mbps", datagram_size = "1472 bytes" }"#;
    let cbr = r#"{ kind = "cbr", rate = "1 Mbps" }"#;
    for (traffic, format) in [(udp, "ethernet"), (cbr, "aal5")] {
        let (sent, most) = sent_and_most(&[
            ("vc.traffic", traffic),
            ("format", format),
            ("duration", "500 us"),
        ]);
        assert!(5 <= sent && sent <= most, "{format}: {sent} of {most}");
    }
}

/// Compares predictions with the CPU seconds that runs of 1000 VCs under a program took on one idle
/// core.
#[test]
fn programs_rank_the_vcs_that_wait() {
    let fifo = include_str!("../../../../examples/program-scheduler-fifo.toml");
    let per_vc = include_str!("../../../../examples/program-scheduler-per-vc.toml");
    let of_1000 = |text: &str| text.replace("count = 5", "count = 1000");
    let buffer = "switch.west.ubr.buffer";
    let poisson = ("vc.traffic", "{ kind = \"poisson\", rate = \"140 kbps\" }");
    for (text, set, measured) in [
        (fifo, vec![("duration", "3 s")], 0.07),
        (fifo, vec![("duration", "10 s")], 0.13),
        (fifo, vec![("duration", "30 s")], 0.23),
        (
            per_vc,
            vec![("duration", "3 s"), (buffer, "200000 cells")],
            12.8,
        ),
        (
            per_vc,
            vec![("duration", "3 s"), (buffer, "3000 cells")],
            0.04,
        ),
        (
            per_vc,
            vec![("duration", "3 s"), (buffer, "200000 cells"), poisson],
            0.28,
        ),
    ] {
        let told = cpu_s(&of_1000(text), &set);
        assert!(
            (measured / 2.0..=2.0 * measured).contains(&told),
            "{set:?}: {told} s told, {measured} s measured"
        );
    }
}

/// With the first frames of all TCPs in one buffer, each loses a cell of every frame, and sends one
/// frame after each timeout: 3 s, 9 s and 21 s after the start.
#[test]
fn tcps_that_lose_every_frame_together_are_found() {
    let text = include_str!("../../../../examples/lan-5.toml").replace("count = 5", "count = 200");
    for (duration, frames) in [("2 s", 200), ("8 s", 400), ("20 s", 600), ("30 s", 800)] {
        let scenario = read(&text, &[("duration", duration)]);
        let tally = run_tally(&scenario, None, Kernel::Auto, false).expect("it runs");
        let sent: u64 = tally.flows.iter().map(|flow| flow.frames_sent).sum();
        let told = describe(&scenario)
            .expect("it can be built")
            .expected
            .frames;
        assert_eq!((sent, told), (frames, frames as f64), "{duration}");
    }
}
