//! Tests of groups, names, defaults and routes.

use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Ratio, Span};

fn read(text: &str) -> Scenario {
    read_toml(text, "test.toml", &[]).unwrap_or_else(|p| panic!("{p:#?}"))
}

const LAN: &str = r#"
duration = "1 s"
host = [{ name = "source", count = 2 }, { name = "sink", count = 2 }, { name = "one" }]
switch = [{ name = "west" }, { name = "east" }]
link = [
    { from = "source", to = "west", rate = "10 Mbps", delay = "1 us" },
    { name = "trunk", from = "west", to = "east", rate = "10 Mbps", ubr = { buffer = "9 cells", drop = "ppd" }, lose_frames = [3] },
    { name = "tail", from = "east", to = "sink", rate = "10 Mbps" },
    { from = "one", to = "west", rate = "20 Mbps" },
]
"#;

fn names<'a>(all: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    all.into_iter().map(String::as_str).collect()
}

#[test]
fn groups_expand_pairwise_and_one_to_many() {
    let s = read(&format!(
        "{LAN}vc = [{{ from = \"source\", to = \"sink\", traffic = \"tcp\" }}]"
    ));
    assert_eq!(
        names(s.hosts.iter().map(|h| &h.name)),
        ["source1", "source2", "sink1", "sink2", "one"]
    );
    assert_eq!(
        names(s.links.iter().map(|l| &l.name)),
        [
            "source1->west",
            "west->source1",
            "source2->west",
            "west->source2",
            "trunk",
            "trunk-back",
            "tail1",
            "tail1-back",
            "tail2",
            "tail2-back",
            "one->west",
            "west->one"
        ]
    );
    let ends: Vec<_> = s
        .vcs
        .iter()
        .map(|v| (v.name.as_str(), v.from.as_str(), v.to.as_str()))
        .collect();
    assert_eq!(
        ends,
        [("vc1", "source1", "sink1"), ("vc2", "source2", "sink2")]
    );
    assert!(s.vcs.iter().all(|v| v.route == ["west", "east"]));
}

#[test]
fn way_back_has_equal_rate_and_delay_and_nothing_else() {
    let s = read(LAN);
    let (there, back) = (&s.links[4], &s.links[5]);
    assert_eq!((back.rate, back.delay), (there.rate, there.delay));
    assert_eq!((back.from.as_str(), back.to.as_str()), ("east", "west"));
    assert_eq!(there.lose_frames, [3]);
    assert_eq!(there.queues[0].rest_of_frame, RestOfFrame::DropButEom);
    assert!(back.lose_frames.is_empty() && back.queues.is_empty());
}

#[test]
fn vcs_by_count_share_their_hosts_and_groups_can_be_probed() {
    let s = read(&format!(
        r#"{LAN}
vc = [
    {{ from = "one", to = "sink2", count = 3, traffic = "tcp" }},
    {{ name = "video", from = "source", to = "one", traffic = {{ kind = "vbr", amplitude = 0.5, on = "1 ms", off = "2 ms" }} }},
]
probe = [
    {{ what = "cwnd", of = "vc" }},
    {{ what = "trace", of = "video" }},
    {{ what = "queue", of = "tail", vc = "vc2", class = "ubr", every = 10 }},
]"#
    ));
    assert_eq!(
        names(s.vcs.iter().map(|v| &v.name)),
        ["vc1", "vc2", "vc3", "video1", "video2"]
    );
    assert!(
        s.vcs[..3]
            .iter()
            .all(|v| v.from == "one" && v.to == "sink2" && v.class == Class::Ubr)
    );
    assert_eq!(s.vcs[3].class, Class::Vbr);
    // Half of the rate of the source's own link.
    let half = Traffic::Vbr {
        rate: BitRate(5_000_000),
        on: Span::from_milliseconds(1),
        off: Span::from_milliseconds(2),
    };
    assert_eq!(s.vcs[3].traffic, half);
    assert_eq!(
        names(s.probes.iter().map(|p| &p.of)),
        ["vc1", "vc2", "vc3", "video1", "video2", "tail1", "tail2"]
    );
    assert_eq!(s.probes[5].every, Some(10));
    assert_eq!(s.probes[5].vc.as_deref(), Some("vc2"));
}

#[test]
fn a_group_of_one_is_a_group() {
    let text = format!("{LAN}vc = [{{ from = \"source\", to = \"sink\", traffic = \"tcp\" }}]")
        .replace("count = 2", "count = 1");
    let s = read(&text);
    assert_eq!(
        names(s.hosts.iter().map(|h| &h.name)),
        ["source1", "sink1", "one"]
    );
    assert_eq!(s.vcs.len(), 1);
}

#[test]
fn shortest_route_is_the_first_in_scenario_order() {
    let square = |first: &str, second: &str| {
        read(&format!(
            r#"
duration = "1 s"
host = [{{ name = "a" }}, {{ name = "b" }}]
switch = [{{ name = "w" }}, {{ name = "n" }}, {{ name = "s" }}, {{ name = "e" }}]
link = [
    {{ from = "a", to = "w", rate = "1 Mbps" }}, {{ from = "e", to = "b", rate = "1 Mbps" }},
    {{ from = "w", to = "{first}", rate = "1 Mbps" }}, {{ from = "w", to = "{second}", rate = "1 Mbps" }},
    {{ from = "n", to = "e", rate = "1 Mbps" }}, {{ from = "s", to = "e", rate = "1 Mbps" }},
]
vc = [{{ from = "a", to = "b", traffic = "tcp" }}, {{ from = "b", to = "a", route = ["e", "s", "w"], traffic = "tcp" }}]"#
        ))
    };
    assert_eq!(square("n", "s").vcs[0].route, ["w", "n", "e"]);
    assert_eq!(square("s", "n").vcs[0].route, ["w", "s", "e"]);
    assert_eq!(square("n", "s").vcs[1].route, ["e", "s", "w"]);
}

#[test]
fn defaults_are_those_of_the_model_page() {
    let s = read(&format!(
        "{LAN}vc = [{{ from = \"source1\", to = \"sink1\", traffic = \"tcp\" }}]"
    ));
    assert_eq!(
        (s.seed, s.tie_order, s.tie_offset),
        (1, TieOrder::Rotating, 0)
    );
    assert!(s.arrival_first && s.timer_phase == Span::ZERO);
    assert_eq!(
        s.ensemble,
        Ensemble {
            start_jitter: Span::from_microseconds(100),
            timer_phase: true,
            tie_offset: true,
            vbr_phase: false,
        }
    );
    assert_eq!(
        s.measure,
        Measure {
            warm_up: Span::ZERO,
            window: None,
            max_goodput: None
        }
    );
    assert_eq!(s.switches[0].scheduler, Scheduler::StrictPriority);
    assert!(s.switches[0].queues.is_empty() && s.switches[0].processing.is_none());
    let Traffic::Tcp(tcp) = &s.vcs[0].traffic else {
        panic!("no TCP");
    };
    assert_eq!(**tcp, TcpParams::default());
    assert_eq!(
        (tcp.recovery, tcp.estimator, tcp.sack_pipe),
        (Recovery::Reno, Estimator::Bsd, SackPipe::Counter)
    );
    assert_eq!(tcp.reno_fast_retransmit, RenoFastRetransmit::MissingSegment);
    assert_eq!((tcp.mss, tcp.rwnd, tcp.initial_window), (512, 65_535, 1));
    let (ms, times) = (Span::from_milliseconds, [100, 200, 3_000, 64_000]);
    assert_eq!(
        [tcp.granularity, tcp.min_rto, tcp.initial_rto, tcp.max_rto],
        times.map(ms)
    );
    assert_eq!((tcp.dupack_threshold, tcp.sack_blocks), (3, 3));
    assert_eq!((tcp.initial_ssthresh, tcp.file_size), (None, None));
    assert_eq!((tcp.delayed_ack, tcp.processing), (None, None));
}

#[test]
fn drop_policies_by_name_take_the_defaults_of_the_studies() {
    let policy = |drop: &str| {
        let s = read(&LAN.replace(
            "{ name = \"west\" }",
            &format!("{{ name = \"west\", ubr = {{ drop = {drop} }} }}"),
        ));
        s.switches[0].queues[0].drop.clone()
    };
    let (r, z) = (Threshold::Fraction(Ratio::new(9, 10)), Ratio::new(8, 10));
    assert_eq!(policy("\"tail-drop\""), DropPolicy::TailDrop);
    assert_eq!(
        policy("\"epd\""),
        DropPolicy::Epd {
            threshold: None,
            reserve: None
        }
    );
    assert_eq!(
        policy("\"selective-drop\""),
        DropPolicy::SelectiveDrop { r, z }
    );
    assert_eq!(policy("\"fba\""), DropPolicy::Fba { r, z, k_fba: None });
    assert_eq!(
        policy("{ policy = \"fba\", r = \"7 cells\", z = \"1/3\", k_fba = \"8 cells\" }"),
        DropPolicy::Fba {
            r: Threshold::Cells(7),
            z: Ratio::new(1, 3),
            k_fba: Some(Size::Cells(8))
        }
    );
}
