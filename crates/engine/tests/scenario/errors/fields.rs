//! Errors of fields, values and the rules between them.

use super::spoil::{GOOD, all_say, only, pair, problems, says, spoilt, with};
use cellyard_engine::scenario::{Problem, read_json, read_toml};
use cellyard_engine::units::Span;

#[test]
fn good_is_good() {
    read_toml(GOOD, "test.toml", &[]).expect("the scenario is right");
}

#[test]
fn not_toml_names_line_and_column() {
    all_say(
        only,
        r#"
        duration = soon\n => test.toml:1:12: not TOML: a text must be in quotes
        duration 1\n => test.toml:1:10: not TOML: key with no value; expected `=`
        duration = "1 s"\nname = = 3\n => test.toml:2:8: | not TOML
        duration = "1 s"\nduration = "2 s"\n => test.toml:2: | duplicate key `duration`
        "#,
    );
    says(
        &problems("\u{0}\u{1}binary")[0].to_string(),
        &["test.toml:1:1:", "not TOML"],
    );
}

#[test]
fn unknown_fields_suggest_the_nearest() {
    says(
        &spoilt("buffer = \"1000 cells\"", "bufer = \"1000 cells\""),
        &[
            "test.toml:6:9: switch[0].ubr.bufer = \"1000 cells\": unknown field",
            "`buffer`?",
        ],
    );
    all_say(
        with,
        r#"
        weigth = 3\n => test.toml:26:1: vc[0].weigth = 3 | did you mean `weight`?
        mss = "512 bytes"\n => vc[0].mss = "512 bytes": unknown field
            | did you mean `traffic.mss`?
        "#,
    );
    says(
        &spoilt("threshold = \"800 cells\"", "z = 0.8"),
        &["switch[0].ubr.drop.z = 0.8: is not a field of `epd`, but of selective-drop, fba, dfba"],
    );
}

#[test]
fn wrong_and_missing_units_list_the_units() {
    all_say(
        pair(spoilt),
        r#"
        rate = "10 Mbps" -> rate = "10 mbps" => test.toml:21:8: link[2].rate
            | unknown unit `mbps` | bps, kbps, Mbps | "10 Mbps"?
        rate = "10 Mbps" -> rate = 10e6 => missing unit | units: bps
        "5 us" -> "5" => missing unit | units: s, ms, us, ns
        "1000 cells" -> 1000 => buffer = 1000: missing unit | did you mean "1000 cells"?
        "1000 cells" -> "1000 bytes" => is in bytes, but must be in cells, here of 53 bytes
            | did you mean "18 cells"?
        "1000 cells" -> true => must not be a boolean
        "#,
    );
}

#[test]
fn no_value_is_suggested_that_would_be_refused_too() {
    for (from, to) in [
        ("\"1000 cells\"", "-5"),
        ("\"1000 cells\"", "\"0\""),
        ("\"1000 cells\"", "1000000000000"),
        ("\"10 Mbps\"", "\"-10 mbps\""),
        ("\"5 us\"", "\"-5 usec\""),
    ] {
        let problem = spoilt(from, to);
        assert!(!problem.contains("did you mean"), "{problem}");
    }
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
    all_say(
        pair(spoilt),
        r#"
        "5 us" -> "1001 s" => link[1].delay | must be at most 1000 s
        "1 s" -> "100001 s" => test.toml:2:12: duration | at most 100000 s
        "1 s" -> "0 s" => must be at least 1 ns
        "#,
    );
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
        &spoilt(
            "\"1000 cells\", drop = { policy = \"epd\", threshold = \"800 cells\" }",
            "\"500 cells\", drop = \"dfba\"",
        ),
        &["drop.high: H = 1000 cells by default, which is above the buffer K = 500 cells"],
    );
    all_say(
        r,
        r#"
        policy = "fba", r = "1001 cells" => drop.r | R is above the buffer
        policy = "fba", r = 1.1 => drop.r = 1.1: is more than the whole buffer
        policy = "fba", r = 900 => did you mean "900 cells"?
        policy = "fba", k_fba = "899 cells" => k_fba | is below R = 900 cells
        policy = "epd", reserve = "1001 cells" => more than the buffer of 1000 cells
        policy = "selective-drop", z = -0.1 => z = -0.1: must not be negative
        policy = "selective-drop", z = 0.1234567 => has more than 6 decimals
        policy = "red" => drop.policy = "red": unknown drop policy; did you mean `atm-red`, `cell-red`
        policy = "zz" => drop.policy = "zz": unknown drop policy (allowed: | fba
        policy = "fbaa" => did you mean `fba`?
        threshold = "8 cells" => switch[0].ubr.drop.policy: is missing
        "#,
    );
}

#[test]
fn missing_fields_are_named() {
    all_say(
        pair(spoilt),
        r#"
        rate = "10 Mbps"\n ->  => test.toml:18:1: | link[2].rate: is missing
        duration = "1 s"\n ->  => duration: is missing | units: s, ms
        traffic = { kind = "tcp", recovery = "reno" } ->  => vc[0].traffic: is missing
        kind = "tcp", recovery = "reno" -> recovery = "reno" =>
            | vc[0].traffic.kind: is missing (allowed:
        # A tag name that belongs to another family.
        kind = "tcp", recovery -> what = "tcp", recovery =>
            | vc[0].traffic.kind: is missing, and `what` is an unknown field; did you mean `kind`?
        "#,
    );
}

#[test]
fn measured_time_lies_within_the_run() {
    all_say(
        pair(spoilt),
        r#"
        duration = "1 s"\n -> duration = "1 s"\nmeasure = { warm_up = "1 s" }\n =>
            | measure.warm_up | leaves no time to measure
        duration = "1 s"\n -> duration = "1 s"\nmeasure = { warm_up = "0.5 s", window = "0.6 s" }\n =>
            | measure.window | ends after the run: warm-up and window together last 1.1 s
        "#,
    );
}

#[test]
fn options_belong_to_their_recovery() {
    let tcp = |options: &str| spoilt("recovery = \"reno\"", options);
    for option in ["sack_blocks = 2", "sack_pipe = \"rfc6675\""] {
        says(
            &tcp(&format!("recovery = \"reno\", {option}")),
            &[
                "vc[0].traffic.sack_",
                "has no effect with recovery = \"reno\"",
            ],
        );
    }
    all_say(
        tcp,
        r#"
        recovery = "sack", reno_fast_retransmit = "nothing" => reno_fast_retransmit
            | with recovery = reno
        recovery = "vanilla", dupack_threshold = 3 => dupack_threshold | with recovery = tahoe
        recovery = "newreno" => is not one of the choices | did you mean `new-reno`?
        rwnd = "511 bytes" => rwnd | smaller than one segment
        max_rto = "1 s" => initial_rto | is 3 s by default, above max_rto
        sack_blocks = 5, recovery = "sack" => must be at most 4
        processing = { kind = "server", per = "cell", mean = "1 us" } =>
            | only a switch can process cell by cell
        processing = { kind = "server", mean = "1 us", spread = "2 us" } =>
            | is larger than the mean, so some times would be negative
        "#,
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
    all_say(
        west,
        r#"
        "guaranteed-rate" => switch[0].scheduler.gr: is missing
        "strict" => unknown scheduler
        "#,
    );
    let text = GOOD.replace(
        "name = \"west\"\n",
        "name = \"west\"\nscheduler = \"per-vc\"\n",
    );
    let text = text + "guarantee = \"60 Mbps\"\n";
    says(
        &only(&text),
        &[
            "vc[0].guarantee = \"60 Mbps\"",
            "brings the guarantees on west->east above the rate of the link",
            "at most 155.52 Mbps in total",
        ],
    );
    read_toml(&text.replace("60 Mbps", "51.84 Mbps"), "", &[]).expect("three times a third fits");
    // Six primes of 20 bits; the seventh weight has a common multiple with each.
    let weights = [999_983, 999_979, 999_961, 999_959, 999_953, 999_931, 1];
    let vc = |weight: &u64| {
        format!(
            "[[vc]]\nfrom = \"source1\"\nto = \"sink1\"\ntraffic = \"tcp\"\nweight = {weight}\n"
        )
    };
    let vcs: String = weights.iter().map(vc).collect();
    let text = text.replace("guarantee = \"60 Mbps\"\n", &vcs);
    says(
        &only(&text),
        &[
            "switch[0].scheduler = \"per-vc\"",
            "the weights 1, 999931, 999953, 999959, 999961 and 2 more of its VCs at west->source1 exactly",
            "allowed: a least common multiple of at most 2^96 times the smallest weight, for instance with 999932 for 999931, ",
        ],
    );
    let near = [
        (999_983, 999_984),
        (999_979, 999_980),
        (999_961, 999_960),
        (999_959, 999_960),
        (999_953, 999_952),
    ];
    let near = near.iter().fold(text, |text, (weight, near): &(u64, u64)| {
        text.replace(&weight.to_string(), &near.to_string())
    });
    read_toml(&near.replace("999931", "999932"), "", &[]).expect("these have been suggested");
    says(
        &spoilt(
            "rate = \"155.52 Mbps\"\n[[link]]\nfrom = \"west\"",
            "rate = \"155.52 Mbps\"\nscheduler = \"fifo\"\n[[link]]\nfrom = \"west\"",
        ),
        &["link[0].scheduler", "leaves a host"],
    );
}

#[test]
fn only_guaranteed_rate_has_credit() {
    let probe = "probe = [{ what = \"credit\", of = \"west->east\" }]\n";
    says(
        &only(&format!("{probe}{GOOD}")),
        &[
            "probe[0].of",
            "no credit: its scheduler is not guaranteed-rate",
        ],
    );
    let scheduler = "name = \"west\"\nscheduler = { kind = \"guaranteed-rate\", gr = 0.5 }\n";
    let text = format!("{probe}{GOOD}").replace("name = \"west\"\n", scheduler);
    read_toml(&text, "", &[]).expect("the port has a credit");
    // A faulty scheduler of a port does not fall back to the switch's.
    let own = "to = \"east\"\nscheduler = { kind = \"guaranteed-rate\" }\n";
    let text = format!("{probe}{GOOD}").replace("to = \"east\"\n", own);
    says(&only(&text), &["link[1].scheduler.gr: is missing"]);
}

#[test]
fn only_what_a_source_has_can_be_recorded() {
    let text = GOOD.replace(
        "{ kind = \"tcp\", recovery = \"reno\" }",
        "{ kind = \"cbr\", rate = \"1 Mbps\" }",
    );
    let of_vc = |what: &str| format!("probe = [{{ {what}, of = \"vc\" }}]\n{text}");
    for what in ["cwnd", "ssthresh", "sequence"] {
        says(
            &only(&of_vc(&format!("what = \"{what}\""))),
            &[
                &format!("probe[0].of = \"vc\": no {what}: it is not TCP"),
                "a VC with TCP traffic",
            ],
        );
    }
    for what in [
        "what = \"delivered\"",
        "what = \"goodput\", interval = \"1 ms\"",
    ] {
        says(
            &only(&of_vc(what)),
            &["it carries no frames", "a VC with traffic tcp or udp"],
        );
    }
    read_toml(&of_vc("what = \"trace\""), "", &[]).expect("every cell can be dropped");
}

#[test]
fn sources_fit_the_link_of_their_host() {
    let traffic = |t: &str| spoilt("{ kind = \"tcp\", recovery = \"reno\" }", t);
    for kind in ["cbr", "poisson"] {
        says(
            &traffic(&format!(
                "{{ kind = \"{kind}\", rate = \"155.52001 Mbps\" }}"
            )),
            &[
                "vc[0].traffic.rate",
                "is above the rate of the link source1->west",
                "at most 155.52 Mbps",
            ],
        );
    }
    let vbr = |t: &str| {
        traffic(&format!(
            "{{ kind = \"vbr\", on = \"1 ms\", off = \"1 ms\", {t} }}"
        ))
    };
    all_say(
        vbr,
        r#"
        rate = "156 Mbps" => is above the rate of the link source1->west
        amplitude = 1.1 => amplitude = 1.1: must be at most 1
        amplitude = 0 => must be above 0
        "#,
    );
    // A cell takes 424 us at 1 Mb/s. Bursts of one cell every 4 us would need 106 Mb/s.
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
        &["cannot be combined with `rate`"],
    );
}

/// A cell takes 424 us at 1 Mb/s. A burst of 425 us sends its second cell at 424 us, which lasts
/// until 848 us.
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
fn a_source_stops_after_its_start() {
    let times = |times: &str| format!("{GOOD}{times}\n");
    for (given, start) in [
        ("stop = \"0 s\"", "0 s"),
        ("start = \"20 ms\"\nstop = \"20 ms\"", "20 ms"),
        ("start = \"20 ms\"\nstop = \"5 ms\"", "20 ms"),
    ] {
        let message = format!(
            "is not after the start, so nothing would be sent (allowed: later than {start}, the start; or left out)"
        );
        says(&only(&times(given)), &["vc[0].stop = \"", &message]);
    }
    says(
        &only(&times("stop = \"5\"")),
        &["vc[0].stop = \"5\": missing unit"],
    );
    // Instants beyond the run of 1 s are refused for traffic of every kind.
    for traffic in [
        "kind = \"tcp\"",
        "kind = \"cbr\", rate = \"1 Mbps\"",
        "kind = \"poisson\", rate = \"1 Mbps\"",
        "kind = \"vbr\", rate = \"1 Mbps\", on = \"1 s\", off = \"1 s\"",
    ] {
        let good = times("start = \"1 ms\"\nstop = \"1000 s\"")
            .replace("kind = \"tcp\", recovery = \"reno\"", traffic);
        let scenario = read_toml(&good, "", &[]).expect("it may stop after the end");
        let stops = scenario.vcs.iter().map(|vc| vc.stop);
        assert!(stops.eq([Some(Span::from_milliseconds(1_000_000)); 3]));
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
            "could still have cells in transit after",
            "at most 350000 s",
        ],
    );
    // 943 396 cells of 0.424 s each would wait beyond 2^63 ticks.
    let slow = GOOD.replace("rate = \"10 Mbps\"", "rate = \"1 kbps\"");
    let burst = "kind = \"vbr\", rate = \"100 Mbps\", on = \"4 s\", off = \"4 s\"";
    let text = slow
        .replace("kind = \"tcp\", recovery = \"reno\"", burst)
        .replace("duration = \"1 s\"", "duration = \"4 s\"");
    says(
        &problems(&text)[0].to_string(),
        &["could still have cells", "at most 350000 s"],
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
fn of_very_many_problems_the_first_are_told_and_the_rest_counted() {
    let text = |n: usize| format!("{GOOD}{}", "[[link]]\nname = 1\nrate = 2\n".repeat(n));
    for (n, more) in [(12, None), (13, Some(2)), (20_000, Some(79_950))] {
        // Each table lacks `name`, `from`, `to` and `rate`.
        let found = problems(&text(n));
        assert_eq!(found.len(), (4 * n).min(50) + usize::from(more.is_some()));
        let lines = found.iter().take(50).map(|p| p.line);
        assert!(lines.is_sorted());
        assert_eq!((found[0].line, found[47].line), (26, 26 + 3 * 11 + 2));
        let last = more.map(|more| format!("test.toml: and {more} more"));
        let told = found.get(50).map(|p| p.to_string());
        assert_eq!(told, last);
    }
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
    let list = "1,".repeat(10_000);
    for (text, part, message) in [
        (format!("{long} = 1\n"), "vc[0].kkk", "unknown field"),
        (
            format!("class = \"{long}\"\n"),
            "...kkk",
            "is not one of the choices",
        ),
        (format!("class = [{list}]\n"), "class", "must not be a list"),
    ] {
        says(&with(&text), &[part, message]);
    }
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
            "scenario: seed = 1.5: is not a whole number",
            "tie_order = [\"fixed\"]: must not be a list",
            "host[1].name",
        ],
    );
    assert_eq!(
        read_json(&serde_json::json!([1]), &[]).unwrap_err()[0].message,
        "must not be a list"
    );
}
