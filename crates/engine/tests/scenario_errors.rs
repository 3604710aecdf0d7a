//! Every kind of bad scenario: the place, the message, and what else is said about it.

use cellyard_engine::scenario::{Problem, read_json, read_toml};

/// A small network that is right; the tests spoil one thing of it.
const GOOD: &str = r#"name = "good"
duration = "1 s"
host = [{ name = "source", count = 3 }, { name = "sink", count = 3 }]
[[switch]]
name = "west"
ubr = { buffer = "1000 cells", drop = { policy = "epd", threshold = "800 cells" } }
[[switch]]
name = "east"
[[link]]
from = "source"
to = "west"
rate = "155.52 Mbps"
[[link]]
from = "west"
to = "east"
rate = "155.52 Mbps"
delay = "5 us"
[[link]]
from = "east"
to = "sink"
rate = "10 Mbps"
[[vc]]
from = "source"
to = "sink"
traffic = { kind = "tcp", recovery = "reno" }
"#;

fn problems(text: &str) -> Vec<Problem> {
    read_toml(text, "test.toml", &[]).expect_err("the scenario is wrong")
}

/// `GOOD` with `from` replaced by `to`: exactly one problem, as printed.
fn spoilt(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from} is unique");
    only(&GOOD.replace(from, to))
}

/// The only problem of a text, as printed.
fn only(text: &str) -> String {
    let found = problems(text);
    let shown: Vec<String> = found.iter().map(Problem::to_string).collect();
    assert_eq!(found.len(), 1, "{shown:#?}");
    assert!(
        !shown[0].contains('\n') && shown[0].len() < 600,
        "{}",
        shown[0]
    );
    shown[0].clone()
}

/// The only problem of `GOOD` with something after it.
fn with(rest: &str) -> String {
    only(&format!("{GOOD}{rest}"))
}

#[track_caller]
fn says(problem: &str, parts: &[&str]) {
    for part in parts {
        assert!(problem.contains(part), "`{part}` is not in: {problem}");
    }
}

#[test]
fn good_is_good() {
    read_toml(GOOD, "test.toml", &[]).expect("the scenario is right");
}

#[test]
fn not_toml_names_line_and_column() {
    says(
        &only("duration = \"1 s\"\nname = = 3\n"),
        &["test.toml:2:8:", "not TOML"],
    );
    says(
        &only("duration = \"1 s\"\nduration = \"2 s\"\n"),
        &["test.toml:2:", "duplicate key"],
    );
    says(
        &problems("\u{0}\u{1}binary")[0].to_string(),
        &["test.toml:1:1:", "not TOML"],
    );
}

#[test]
fn unknown_fields_suggest_the_nearest() {
    let p = spoilt("buffer = \"1000 cells\"", "bufer = \"1000 cells\"");
    says(
        &p,
        &[
            "test.toml:6:9: switch[0].ubr.bufer = \"1000 cells\": is an unknown field",
            "`buffer`?",
        ],
    );
    says(
        &with("weigth = 3\n"),
        &["test.toml:26:1: vc[0].weigth = 3", "did you mean `weight`?"],
    );
    says(
        &spoilt("threshold = \"800 cells\"", "z = 0.8"),
        &["switch[0].ubr.drop.z = 0.8: `epd` has no such field; selective-drop, fba has it"],
    );
}

#[test]
fn wrong_and_missing_units_list_the_units() {
    let p = spoilt("rate = \"10 Mbps\"", "rate = \"10 mbps\"");
    says(
        &p,
        &[
            "test.toml:21:8: link[2].rate",
            "unknown unit `mbps`",
            "bps, kbps, Mbps",
            "\"10 Mbps\"?",
        ],
    );
    says(
        &spoilt("rate = \"10 Mbps\"", "rate = 10e6"),
        &["has no unit", "units: bps"],
    );
    says(
        &spoilt("\"5 us\"", "\"5\""),
        &["has no unit", "units: s, ms, us, ns"],
    );
    says(
        &spoilt("\"1000 cells\"", "1000"),
        &["buffer = 1000: has no unit", "did you mean \"1000 cells\"?"],
    );
    says(
        &spoilt("\"1000 cells\"", "\"1000 bytes\""),
        &["unknown unit `bytes`", "units: cells"],
    );
    says(&spoilt("\"1000 cells\"", "true"), &["is a truth value"]);
}

#[test]
fn rates_and_times_keep_to_their_range() {
    for (rate, message) in [
        ("0 Mbps", "must be at least 1 kbps"),
        ("-5 Mbps", "must not be negative"),
        ("2 Tbps", "must be at most 1 Tbps"),
        ("10.5 bps", "is not a whole number of bps"),
        ("1e99 bps", "is too large"),
    ] {
        says(&spoilt("10 Mbps", rate), &["link[2].rate", message]);
    }
    says(
        &spoilt("\"5 us\"", "\"1001 s\""),
        &["link[1].delay", "must be at most 1000 s"],
    );
    says(
        &spoilt("\"1 s\"", "\"100001 s\""),
        &["test.toml:2:12: duration", "at most 100000 s"],
    );
    says(&spoilt("\"1 s\"", "\"0 s\""), &["must be at least 1 ns"]);
}

#[test]
fn buffers_and_thresholds() {
    let p = spoilt("\"1000 cells\"", "\"0 cells\"");
    assert_eq!(
        p,
        "test.toml:6:18: switch[0].ubr.buffer = \"0 cells\": must be at least 1 cell \
         (allowed: \"1 cell\" to \"1000000000 cells\", or \"unlimited\"; units: cells, cell)"
    );
    says(
        &spoilt("\"800 cells\"", "\"1001 cells\""),
        &[
            "switch[0].ubr.drop.threshold",
            "T is above the buffer K = 1000 cells",
        ],
    );
    let r = |r: &str| spoilt("policy = \"epd\", threshold = \"800 cells\"", r);
    says(
        &r("policy = \"fba\", r = \"1001 cells\""),
        &["drop.r", "R is above the buffer"],
    );
    says(
        &r("policy = \"fba\", r = 1.1"),
        &["drop.r = 1.1: is more than the whole buffer"],
    );
    says(
        &r("policy = \"fba\", r = 900"),
        &["did you mean \"900 cells\"?"],
    );
    says(
        &r("policy = \"fba\", k_fba = \"899 cells\""),
        &["k_fba", "is below R = 900 cells"],
    );
    says(
        &r("policy = \"epd\", reserve = \"1001 cells\""),
        &["leaves no threshold"],
    );
    says(
        &r("policy = \"selective-drop\", z = -0.1"),
        &["z = -0.1: must not be negative"],
    );
    says(
        &r("policy = \"selective-drop\", z = 0.1234567"),
        &["has more than 6 decimals"],
    );
    says(
        &r("policy = \"red\""),
        &["drop.policy = \"red\": is no drop", "fba"],
    );
    says(&r("policy = \"fbaa\""), &["did you mean `fba`?"]);
    says(
        &r("threshold = \"8 cells\""),
        &["switch[0].ubr.drop.policy: is missing"],
    );
}

#[test]
fn missing_fields_are_named() {
    says(
        &spoilt("rate = \"10 Mbps\"\n", ""),
        &["test.toml:18:1:", "link[2].rate: is missing"],
    );
    says(
        &spoilt("duration = \"1 s\"\n", ""),
        &["duration: is missing", "units: s, ms"],
    );
    says(
        &spoilt("traffic = { kind = \"tcp\", recovery = \"reno\" }", ""),
        &["vc[0].traffic: is missing"],
    );
    says(
        &spoilt("kind = \"tcp\", recovery = \"reno\"", "recovery = \"reno\""),
        &["vc[0].traffic.kind: is missing"],
    );
}

#[test]
fn references_must_exist() {
    let p = spoilt("from = \"west\"", "from = \"wset\"");
    says(
        &p,
        &[
            "test.toml:14:8: link[1].from = \"wset\"",
            "no host or switch",
            "did you mean `west`?",
        ],
    );
    says(
        &with("route = [\"west\", \"aest\"]"),
        &["vc[0].route[1]", "no switch has this name"],
    );
    let p = with("[[probe]]\nwhat = \"queue\"\nof = \"west->eats\"\n");
    says(
        &p,
        &["probe[0].of", "no link has this name", "`west->east`"],
    );
    says(
        &with("[[probe]]\nwhat = \"cwnd\"\nof = \"vc9\"\n"),
        &["no VC has this name"],
    );
    says(
        &with("[[probe]]\nwhat = \"queeu\"\nof = \"vc9\"\n"),
        &["is no probe", "`queue`?"],
    );
    says(
        &with("[[probe]]\nwhat = \"queue\"\nof = \"sink1->east\"\n"),
        &["leaves a host"],
    );
    says(
        &with("[[probe]]\nwhat = \"goodput\"\nof = \"vc1\"\n"),
        &["probe[0].interval: is missing"],
    );
    says(
        &with("[[probe]]\nwhat = \"queue\"\nof = \"west->east\"\nvc = \"vc\"\n"),
        &["probe[0].vc", "is a group"],
    );
    says(
        &with("[[probe]]\nwhat = \"queue\"\nof = \"west->east\"\nevery = 2\ninterval = \"1 s\"\n"),
        &["excludes `interval`"],
    );
}

#[test]
fn routes_are_checked() {
    let p = spoilt(
        "from = \"west\"\nto = \"east\"\n",
        "from = \"west\"\nto = \"east\"\nduplex = false\n",
    );
    says(
        &p,
        &["test.toml:23:1: vc[0]: there is no path of links both ways between source1 and sink1"],
    );
    let p = with("route = [\"west\"]");
    says(
        &p,
        &[
            "test.toml:26:9: vc[0].route",
            "there is no link from west to sink1",
        ],
    );
    says(
        &with("route = [\"west\", \"east\", \"west\"]"),
        &["vc[0].route[2]", "closes a loop"],
    );
    says(
        &with("route = [\"west\", \"sink2\", \"east\"]"),
        &["vc[0].route[1]", "is a host"],
    );
    let p = spoilt(
        "from = \"source\"\nto = \"sink\"",
        "from = \"west\"\nto = \"sink\"",
    );
    says(
        &p,
        &["vc[0].from = \"west\": is a switch", "allowed: a host"],
    );
    says(
        &spoilt("to = \"sink\"\ntraffic", "to = \"source\"\ntraffic"),
        &["vc[0].to", "is the same as `from`"],
    );
    says(
        &spoilt(
            "from = \"west\"\nto = \"east\"",
            "from = \"west\"\nto = \"west\"",
        ),
        &["link[1].to", "the same"],
    );
}

#[test]
fn hosts_do_not_switch() {
    let text = r#"
        duration = "1 s"
        host = [{ name = "a" }, { name = "b" }, { name = "c" }]
        link = [{ from = "a", to = "b", rate = "1 Mbps" }, { from = "b", to = "c", rate = "1 Mbps" }]
        vc = [{ from = "a", to = "c", traffic = "tcp" }]"#;
    says(
        &only(text),
        &["vc[0]", "no path of links both ways between a and c"],
    );
}

#[test]
fn names_are_unique() {
    says(
        &spoilt("name = \"east\"", "name = \"west\""),
        &["switch[1].name", "duplicate name"],
    );
    says(
        &spoilt("name = \"east\"", "name = \"source2\""),
        &["switch[1].name", "duplicate name"],
    );
    says(
        &spoilt("name = \"east\"", "name = \"sink\""),
        &["switch[1].name", "duplicate name"],
    );
    says(
        &with("[[link]]\nfrom = \"east\"\nto = \"west\"\nrate = \"1 Mbps\"\n"),
        &["link[3]", "is a second link between east and west"],
    );
    let p = with(
        "name = \"x\"\n[[vc]]\nname = \"x2\"\nfrom = \"source1\"\nto = \"sink1\"\ntraffic = \"tcp\"\n",
    );
    says(&p, &["vc[1].name", "duplicate name"]);
    says(
        &spoilt("name = \"east\"", "name = \"e st\""),
        &["has the character ' '"],
    );
    says(
        &spoilt("name = \"east\"", "name = \"7\""),
        &["has digits only"],
    );
}

#[test]
fn counts_are_checked_before_anything_is_made() {
    says(
        &spoilt("name = \"sink\", count = 3", "name = \"sink\", count = 0"),
        &["host[1].count", "at least 1"],
    );
    says(
        &spoilt("name = \"sink\", count = 3", "name = \"sink\", count = -2"),
        &["at least 1"],
    );
    says(
        &spoilt(
            "name = \"sink\", count = 3",
            "name = \"sink\", count = 1_000_000_001",
        ),
        &["must be at most 1000000000"],
    );
    let p = spoilt(
        "name = \"sink\", count = 3",
        "name = \"sink\", count = 10_000_000",
    );
    says(
        &p,
        &[
            "test.toml:3:66: host[1].count = 10000000: makes 40000013 components in all, whose description alone would take",
            " GB ",
        ],
    );
    says(
        &with("count = 10_000_000\n"),
        &["vc[0].count", "components in all", "at most 200000"],
    );
    says(
        &spoilt("name = \"sink\", count = 3", "name = \"sink\", count = 2"),
        &["vc[0].to", "is a group of 2"],
    );
    says(
        &with("count = 4\n"),
        &["vc[0].count", "differs from the 3 members"],
    );
}

#[test]
fn measured_time_lies_within_the_run() {
    let p = spoilt(
        "duration = \"1 s\"\n",
        "duration = \"1 s\"\nmeasure = { warm_up = \"1 s\" }\n",
    );
    says(&p, &["measure.warm_up", "leaves nothing"]);
    let p = spoilt(
        "duration = \"1 s\"\n",
        "duration = \"1 s\"\nmeasure = { warm_up = \"0.5 s\", window = \"0.6 s\" }\n",
    );
    says(
        &p,
        &[
            "measure.window",
            "ends beyond the run: warm-up and window take 1.1 s",
        ],
    );
}

#[test]
fn options_belong_to_their_recovery() {
    let tcp = |options: &str| spoilt("recovery = \"reno\"", options);
    for option in ["sack_blocks = 2", "sack_pipe = \"rfc6675\""] {
        let p = tcp(&format!("recovery = \"reno\", {option}"));
        says(
            &p,
            &[
                "vc[0].traffic.sack_",
                "has no meaning with recovery = \"reno\"",
            ],
        );
    }
    says(
        &tcp("recovery = \"sack\", reno_fast_retransmit = \"nothing\""),
        &["reno_fast_retransmit", "with recovery = reno"],
    );
    says(
        &tcp("recovery = \"vanilla\", dupack_threshold = 3"),
        &["dupack_threshold", "with recovery = tahoe"],
    );
    says(
        &tcp("recovery = \"newreno\""),
        &["is none of the choices", "did you mean `new-reno`?"],
    );
    says(
        &tcp("rwnd = \"511 bytes\""),
        &["rwnd", "smaller than one segment"],
    );
    says(
        &tcp("max_rto = \"1 s\""),
        &["initial_rto", "is 3 s, above max_rto"],
    );
    says(
        &tcp("sack_blocks = 5, recovery = \"sack\""),
        &["must be at most 4"],
    );
    says(
        &tcp("processing = { kind = \"server\", per = \"cell\", mean = \"1 us\" }"),
        &["only switches work cell by cell"],
    );
    says(
        &tcp("processing = { kind = \"server\", mean = \"1 us\", spread = \"2 us\" }"),
        &["would make times negative"],
    );
}

#[test]
fn schedulers_and_guarantees() {
    let west = |s: &str| {
        spoilt(
            "name = \"west\"\n",
            &format!("name = \"west\"\nscheduler = {s}\n"),
        )
    };
    for (gr, message) in [
        ("1.0", "must be below 1"),
        ("1", "must be below 1"),
        ("-0.1", "must not be negative"),
    ] {
        says(
            &west(&format!("{{ kind = \"guaranteed-rate\", gr = {gr} }}")),
            &["switch[0].scheduler.gr", message],
        );
    }
    says(
        &west("\"guaranteed-rate\""),
        &["switch[0].scheduler.gr: is missing"],
    );
    says(&west("\"strict\""), &["is no scheduler"]);
    let text = GOOD.replace(
        "name = \"west\"\n",
        "name = \"west\"\nscheduler = \"per-vc\"\n",
    );
    let text = text + "guarantee = \"60 Mbps\"\n";
    says(
        &only(&text),
        &[
            "vc[0].guarantee = \"60 Mbps\"",
            "brings the guarantees at west->east above its rate",
            "at most 155.52 Mbps in all",
        ],
    );
    read_toml(&text.replace("60 Mbps", "51.84 Mbps"), "", &[]).expect("three times a third fits");
    let p = spoilt(
        "rate = \"155.52 Mbps\"\n[[link]]\nfrom = \"west\"",
        "rate = \"155.52 Mbps\"\nscheduler = \"fifo\"\n[[link]]\nfrom = \"west\"",
    );
    says(&p, &["link[0].scheduler", "leaves a host"]);
}

#[test]
fn only_guaranteed_rate_has_credit() {
    let probe = "probe = [{ what = \"credit\", of = \"west->east\" }]\n";
    says(
        &only(&format!("{probe}{GOOD}")),
        &[
            "probe[0].of",
            "has no credit: its scheduler is not guaranteed-rate",
        ],
    );
    let scheduler = "name = \"west\"\nscheduler = { kind = \"guaranteed-rate\", gr = 0.5 }\n";
    let text = format!("{probe}{GOOD}").replace("name = \"west\"\n", scheduler);
    read_toml(&text, "", &[]).expect("the port has a credit");
}

#[test]
fn sources_fit_the_link_of_their_host() {
    let traffic = |t: &str| spoilt("{ kind = \"tcp\", recovery = \"reno\" }", t);
    for kind in ["cbr", "poisson"] {
        let p = traffic(&format!(
            "{{ kind = \"{kind}\", rate = \"155.52001 Mbps\" }}"
        ));
        says(
            &p,
            &[
                "vc[0].traffic.rate",
                "is above the rate of source1->west",
                "at most 155.52 Mbps",
            ],
        );
    }
    let vbr = |t: &str| {
        traffic(&format!(
            "{{ kind = \"vbr\", on = \"1 ms\", off = \"1 ms\", {t} }}"
        ))
    };
    says(
        &vbr("rate = \"156 Mbps\""),
        &["is above the rate of source1->west"],
    );
    says(
        &vbr("amplitude = 1.1"),
        &["amplitude = 1.1: must be at most 1"],
    );
    says(&vbr("amplitude = 0"), &["must be above 0"]);
    // A cell takes 424 us at 1 Mb/s: bursts of one cell each 4 us would be 106 Mb/s.
    let bursts = |on: &str, off: &str| {
        traffic(&format!(
            "{{ kind = \"vbr\", rate = \"1 Mbps\", on = \"{on}\", off = \"{off}\" }}"
        ))
    };
    says(
        &bursts("1 us", "3 us"),
        &["vc[0].traffic.off", "too short", "at least 423 us"],
    );
    says(
        &vbr("amplitude = 0.5, rate = \"1 Mbps\""),
        &["excludes `rate`"],
    );
}

/// A cell takes 424 us at 1 Mb/s; a burst of 425 us sends its second cell at 424 us, which then lasts until 848 us.
#[test]
fn pauses_between_bursts_are_long_enough_to_the_tick() {
    let bursts = |on: &str, off: &str| {
        let vbr = format!(r#"kind = "vbr", rate = "1 Mbps", on = "{on}", off = "{off}""#);
        GOOD.replace("kind = \"tcp\", recovery = \"reno\"", &vbr)
    };
    // 423 us are 423 x 25 272 000 ticks.
    for on in ["1 us", "425 us"] {
        read_toml(&bursts(on, "423 us"), "", &[]).expect("the pause is just long enough");
        for short in ["422999 ns", "10690055999 ticks"] {
            says(
                &only(&bursts(on, short)),
                &["vc[0].traffic.off", "too short", "at least 423 us"],
            );
        }
    }
}

#[test]
fn instants_stay_within_64_bits() {
    let text = GOOD
        .replace("duration = \"1 s\"", "duration = \"100000 s\"")
        .replace("\"10 Mbps\"", "\"1 kbps\"")
        .replace("recovery = \"reno\"", "rwnd = \"1 GiB\"");
    says(
        &only(&text),
        &[
            "vc[0]",
            "could still have cells on their way after",
            "at most 500000 s",
        ],
    );
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_text() {
    let text = GOOD
        .replace("buffer = \"1000 cells\"", "buffer = \"0 cells\"")
        .replace("rate = \"10 Mbps\"", "rate = \"10\"")
        .replace("delay = \"5 us\"", "delay = \"-5 us\"")
        .replace("recovery = \"reno\"", "recovery = \"ren\", mss = 512")
        + "wieght = 1\n[[probe]]\nwhat = \"queue\"\nof = \"nowhere\"\n";
    let lines: Vec<usize> = problems(&text).iter().map(|p| p.line).collect();
    assert_eq!(lines, [6, 17, 21, 25, 25, 26, 29]);
}

#[test]
fn long_and_deep_input_gives_one_short_line() {
    let key = vec!["a"; 20_000].join(".");
    says(
        &only(&format!("{key} = 1\n")),
        &["test.toml:1:", "recursion limit"],
    );
    says(
        &only(&format!(
            "x = {}1{}\n",
            "[".repeat(20_000),
            "]".repeat(20_000)
        )),
        &["test.toml:1:"],
    );
    says(
        &only(&format!("x = {}\n", "{a=".repeat(20_000))),
        &["test.toml:1:"],
    );
    let long = "k".repeat(40_000);
    says(
        &with(&format!("{long} = 1\n")),
        &["vc[0].kkk", "unknown field"],
    );
    says(
        &with(&format!("class = \"{long}\"\n")),
        &["...kkk", "is none of the choices"],
    );
    says(
        &with(&format!("class = [{}]\n", "1,".repeat(10_000))),
        &["is a list"],
    );
    let p = read_toml(GOOD, "test.toml", &[(key, "1".into())]).unwrap_err();
    assert_eq!(p.len(), 1);
    assert!(p[0].to_string().len() < 300, "{}", p[0]);
}

#[test]
fn json_has_the_same_checks_without_lines() {
    let value = serde_json::json!({
        "duration": "1 s",
        "host": [{ "name": "a", "processing": null }, { "name": "a" }],
        "seed": 1.5,
        "tie_order": ["fixed"],
    });
    let found = read_json(&value, &[]).unwrap_err();
    let shown: Vec<String> = found.iter().map(Problem::to_string).collect();
    assert_eq!(found.len(), 3, "{shown:#?}");
    says(
        &shown.join("\n"),
        &[
            "scenario: seed = 1.5: is a decimal",
            "tie_order = [\"fixed\"]: is a list",
            "host[1].name",
        ],
    );
    assert_eq!(
        read_json(&serde_json::json!([1]), &[]).unwrap_err()[0].message,
        "is a list"
    );
}

#[test]
fn overrides_reach_every_field() {
    let set =
        |path: &str, value: &str| read_toml(GOOD, "test.toml", &[(path.into(), value.into())]);
    assert_eq!(set("duration", "2 s").unwrap().duration.as_seconds(), 2.0);
    for path in ["switch.west.ubr.buffer", "switch.0.ubr.buffer"] {
        let buffer = set(path, "2000 cells").unwrap().switches[0].queues[0].buffer;
        assert_eq!(buffer, Some(2000), "{path}");
    }
    assert_eq!(set("host.source.count", "3").unwrap().hosts.len(), 6);
    assert_eq!(
        set("link.west->east.rate", "\"1 Mbps\"").unwrap().links[6]
            .rate
            .0,
        1_000_000
    );
    assert!(
        set("link.rate", "1 Mbps")
            .unwrap()
            .links
            .iter()
            .all(|l| l.rate.0 == 1_000_000)
    );
    assert!(set("switch.*.scheduler", "fifo").is_ok());
    assert!(set("vc.0.traffic.mss", "1460 bytes").is_ok());
    assert!(set("link.1.lose_frames", "[14, 28]").unwrap().links[6].lose_frames == [14, 28]);
    // A component given by its name becomes a table; one that is not there is made.
    assert!(set("vc.traffic", "tcp").is_ok());
    let text = GOOD.replace("{ kind = \"tcp\", recovery = \"reno\" }", "\"tcp\"");
    assert!(read_toml(&text, "", &[("vc.traffic.mss".into(), "1 kB".into())]).is_ok());
    assert!(set("measure.warm_up", "10 ms").is_ok());
}

#[test]
fn an_override_can_take_a_field_away() {
    let read = |overrides: &[(&str, &str)]| {
        let own: Vec<_> = overrides
            .iter()
            .map(|&(path, value)| (path.to_string(), value.to_string()))
            .collect();
        read_toml(GOOD, "test.toml", &own).map_err(|found| found[0].to_string())
    };
    let seed = |value| read(&[("seed", value)]).unwrap().seed;
    assert_eq!((seed("7"), seed("default")), (7, seed("1")));
    // Whether the field or what is around it was given or not; for all elements of a list at once.
    let queues = |overrides: &[(&str, &str)]| read(overrides).unwrap().switches[0].queues.clone();
    assert!(queues(&[("switch.west.ubr", "default")]).is_empty());
    assert_eq!(queues(&[("switch.*.gfr.buffer", "default")]), queues(&[]));
    assert_eq!(
        queues(&[
            (
                "switch.west.ubr.drop",
                "{ policy = \"epd\", threshold = \"9 cells\" }"
            ),
            ("switch.west.ubr.drop.threshold", "default"),
        ]),
        queues(&[("switch.west.ubr.drop", "epd")])
    );
    // In quotes it is a text like any other.
    assert_eq!(read(&[("name", "\"default\"")]).unwrap().name, "default");
    says(
        &read(&[("switch.west.ubr.bufer", "default")]).unwrap_err(),
        &[
            "override: switch.west.ubr.bufer = default: is an unknown field",
            "`buffer`?",
        ],
    );
    says(
        &read(&[("vc.0", "default")]).unwrap_err(),
        &["is an element of a list and has no default"],
    );
    says(
        &read(&[("duration", "default")]).unwrap_err(),
        &["duration: is missing"],
    );
}

#[test]
fn wrong_overrides_are_named_as_such() {
    let set = |path: &str, value: &str| {
        let found = read_toml(GOOD, "test.toml", &[(path.into(), value.into())]).unwrap_err();
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0].to_string()
    };
    says(
        &set("switch.wset.ubr.buffer", "1 cell"),
        &[
            "override: switch.wset.ubr.buffer = 1 cell: no switch is called `wset`",
            "`west`?",
        ],
    );
    says(
        &set("switch.7.ubr.buffer", "1 cell"),
        &["no switch is called `7`", "(allowed: 0 to 1, west, east)"],
    );
    says(
        &set("probe.0.interval", "1 s"),
        &["the scenario has no probe"],
    );
    says(
        &set("duration", "1"),
        &["override: duration = 1: has no unit"],
    );
    says(
        &set("duration.x", "1"),
        &["`duration` is a text and has no field `x`"],
    );
    says(
        &set("sedd", "1"),
        &["override: sedd = 1: is an unknown field", "`seed`?"],
    );
    says(&set("a..b", "1"), &["is no path"]);
    says(
        &set("vc.0.traffic.mss", "1 s\nx = 3"),
        &["mss = \"1 s x = 3\": has the unknown unit"],
    );
}

/// Every value of a scenario with many kinds of fields, one at a time, becomes something else: no panic, and every
/// message is one line.
#[test]
fn any_value_in_any_place_is_accepted_or_reported() {
    let text = format!(
        r#"tie_order = "fixed"
timer_phase = "1 ms"
probe = [{{ what = "queue", of = "west->east", class = "ubr", vc = "v1", every = 3 }}]
measure = {{ warm_up = "1 ms", window = "1 ms", max_goodput = "1 Mbps" }}
ensemble = {{ start_jitter = "1 us", timer_phase = true }}
{GOOD}name = "v"
route = ["west", "east"]
class = "ubr"
weight = 2
guarantee = "1 Mbps"
start = "1 ms"
[[link]]
name = "side"
from = "west"
to = "source1x"
rate = "1 Mbps"
duplex = true
lose_frames = [1]
lose_probability = 0.5
scheduler = {{ kind = "per-vc", class = "ubr", unit = "cell" }}
[[host]]
name = "source1x"
count = 1
processing = {{ kind = "server", per = "frame", mean = "1 us", spread = "1 us" }}
"#
    )
    .replace(
        "host = [{ name = \"source\", count = 3 }, { name = \"sink\", count = 3 }]\n",
        "",
    ) + "[[host]]\nname = \"source\"\ncount = 3\n[[host]]\nname = \"sink\"\ncount = 3\n";
    read_toml(&text, "test.toml", &[]).expect("the scenario is right");
    let others = [
        "0",
        "-1",
        "1.5",
        "nan",
        "true",
        "\"\"",
        "\"west\"",
        "\"1 s\"",
        "\"0 cells\"",
        "[]",
        "[[]]",
        "[3, \"x\"]",
        "{}",
        "{ kind = \"vbr\" }",
        "{ policy = 3 }",
        "1979-05-27",
        "\"vc\"",
        "18446744073709551615",
        "\"1/3\"",
    ];
    let mut reported = 0;
    for (at, _) in text.match_indices(" = ") {
        let rest = &text[at + 3..];
        let end = match rest.as_bytes()[0] {
            b'"' => 2 + rest[1..].find('"').expect("the text ends"),
            b'[' | b'{' => continue,
            _ => rest.find([',', ' ', '\n']).expect("the line ends"),
        };
        for other in others {
            let spoilt = format!("{}{other}{}", &text[..at + 3], &rest[end..]);
            if let Err(problems) = read_toml(&spoilt, "test.toml", &[]) {
                reported += 1;
                assert!(!problems.is_empty());
                for problem in problems {
                    let shown = problem.to_string();
                    assert!(
                        !shown.contains('\n') && shown.len() < 700 && problem.line > 0,
                        "{shown}"
                    );
                }
            }
        }
    }
    for (path, value) in [
        "host",
        "switch",
        "link",
        "vc",
        "probe",
        "vc.0",
        "vc.0.route",
        "link.0",
        "vc.0.traffic",
        "measure",
    ]
    .iter()
    .flat_map(|p| others.map(|o| (*p, o)))
    {
        let set = [(path.to_string(), value.to_string())];
        reported += usize::from(read_toml(&text, "test.toml", &set).is_err());
    }
    assert!(reported > 700, "{reported}");
}
