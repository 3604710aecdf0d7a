//! Tests of valid and invalid overrides.

use super::spoil::{GOOD, all_say, overridden, pair, says};
use cellyard_engine::format::Clock;
use cellyard_engine::scenario::{Size, read_toml};

#[test]
fn overrides_reach_every_field() {
    let set =
        |path: &str, value: &str| read_toml(GOOD, "test.toml", &[(path.into(), value.into())]);
    assert_eq!(
        set("duration", "2 s")
            .unwrap()
            .duration
            .as_seconds(Clock::AAL5),
        2.0
    );
    for path in ["switch.west.ubr.buffer", "switch.0.ubr.buffer"] {
        let buffer = set(path, "2000 cells").unwrap().switches[0].queues[0].buffer;
        assert_eq!(buffer, Some(Size::Cells(2000)), "{path}");
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
    // A component given only by its name becomes a table. A missing component is created.
    assert!(set("vc.traffic", "tcp").is_ok());
    let text = GOOD.replace("{ kind = \"tcp\", recovery = \"reno\" }", "\"tcp\"");
    assert!(read_toml(&text, "", &[("vc.traffic.mss".into(), "1 kB".into())]).is_ok());
    assert!(set("measure.warm_up", "10 ms").is_ok());
}

#[test]
fn what_was_computed_is_rounded_to_what_the_model_can_tell_apart() {
    let set = |path: &str, value: &str| {
        read_toml(GOOD, "test.toml", &[(path.into(), value.into())]).map_err(|p| p[0].to_string())
    };
    let drop = "switch.west.ubr.drop";
    let policy = |z: &str| set(drop, &format!("{{ policy = \"fba\", z = {z} }}"));
    assert_eq!(policy("0.30000000000000004"), policy("0.3"));
    assert_eq!(policy("0.16666666666666666"), policy("0.166667"));
    assert_eq!(
        set("link.lose_probability", "0.33333333333333331"),
        set("link.lose_probability", "0.333333333333")
    );
    assert_eq!(
        set("link.lose_probability", "5.6e-17"),
        set("link.lose_probability", "0")
    );
    says(
        &set("link.lose_probability", "1e-15").unwrap_err(),
        &["has more than 12 decimals"],
    );
    assert_eq!(
        set("link.rate", "34.166666666666664 Mbps"),
        set("link.rate", "34.166667 Mbps")
    );
    assert_eq!(
        set("host.source.count", "3.0"),
        set("host.source.count", "3")
    );
    says(
        &set("seed", "1.5").unwrap_err(),
        &["seed = 1.5: is not a whole number"],
    );
    says(
        &set("link.rate", "0.2 bps").unwrap_err(),
        &["at least 1 kbps"],
    );
    says(
        &set("switch.west.ubr.buffer", "333.3 cells").unwrap_err(),
        &["is not a whole number of cells"],
    );
}

#[test]
fn an_override_can_take_a_field_away() {
    let read = |overrides: &[(&str, &str)]| {
        overridden(GOOD, overrides).map_err(|found| found[0].to_string())
    };
    let seed = |value| read(&[("seed", value)]).unwrap().seed;
    assert_eq!((seed("7"), seed("default")), (7, seed("1")));
    // `default` works whether or not the field or its parents were given, and for all elements of a
    // list at once.
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
    // In quotes, `default` is an ordinary text.
    assert_eq!(read(&[("name", "\"default\"")]).unwrap().name, "default");
    says(
        &read(&[("switch.west.ubr.bufer", "default")]).unwrap_err(),
        &[
            "override: switch.west.ubr.bufer = default: unknown field",
            "`buffer`?",
        ],
    );
    says(
        &read(&[("vc.0", "default")]).unwrap_err(),
        &["an element of a list has no default"],
    );
    says(
        &read(&[("duration", "default")]).unwrap_err(),
        &["duration: is missing"],
    );
}

/// Two groups, a single VC, and links with and without names.
const GROUPS: &str = r#"
name = "groups"
duration = "1 s"
host = [{ name = "a", count = 3 }, { name = "b", count = 3 }, { name = "c" }, { name = "d", count = 1 }]
switch = [{ name = "west" }, { name = "east" }]
link = [
  { from = "a", to = "west", rate = "10 Mbps" },
  { from = "c", to = "west", rate = "10 Mbps" },
  { from = "d", to = "west", rate = "10 Mbps" },
  { name = "trunk", from = "west", to = "east", rate = "10 Mbps" },
  { name = "out", from = "east", to = "b", rate = "10 Mbps" },
]
vc = [
  { from = "a", to = "b", traffic = "tcp" },
  { from = "c", to = "b1", traffic = "tcp" },
  { name = "x", count = 2, from = "c", to = "b2", traffic = "tcp" },
  { from = "c", to = "b3", traffic = "tcp" },
]
"#;

#[test]
fn things_can_be_named_as_results_name_them() {
    let set = |path: &str, value: &str| {
        read_toml(GROUPS, "test.toml", &[(path.into(), value.into())]).map_err(|found| {
            assert_eq!(found.len(), 1, "{found:#?}");
            found[0].to_string()
        })
    };
    let starts = |path: &str| -> Vec<_> {
        let vcs = set(path, "1 s").unwrap().vcs;
        let late = vcs
            .iter()
            .filter(|vc| vc.start.as_seconds(Clock::AAL5) == 1.0);
        late.map(|vc| vc.name.clone()).collect()
    };
    // Names of things that one entry makes, alone or with others.
    for name in ["vc4", "vc7", "vc2", "x2"] {
        assert_eq!(starts(&format!("vc.{name}.start")), [name]);
    }
    assert_eq!(starts("vc.x.start"), ["x1", "x2"]);
    assert_eq!(
        set("link.d1->west.rate", "1 Mbps"),
        set("link.2.rate", "1 Mbps")
    );
    assert!(
        set(
            "host.d1.processing",
            "{ kind = \"latency\", mean = \"1 us\" }"
        )
        .is_ok()
    );
    all_say(
        |path| set(path, "1 kB").expect_err("the path is wrong"),
        r#"
        host.a3.count => did you mean `host.a.count`?
        vc.vc8.start => no vc is called `vc8`; did you mean `vc7`?
        vc.zz.start => no vc is called `zz` (allowed: 0 to 3, x, vc1 to vc4, vc7, *)
        vc.vc01.start => no vc is called `vc01`
        vc.x3.start => no vc is called `x3`
        host.a4.count => no host is called `a4`
        link.a4->west.rate => no link is called `a4->west`
        trunk.ubr.buffer => trunk.ubr.buffer = 1 kB: names a link, not a field of the
            | field of the scenario; did you mean `link.trunk.ubr.buffer`?
        west => did you mean `switch.west`?
        vc7.start => did you mean `vc.vc7.start`?
        x1.start => did you mean `vc.x1.start`?
        "#,
    );
}

#[test]
fn an_override_that_is_wrong_for_all_elements_is_said_once() {
    let found = |path: &str, value: &str| {
        read_toml(GOOD, "test.toml", &[(path.into(), value.into())]).unwrap_err()
    };
    let said = found("link.*.delay", "5 parsec");
    assert_eq!(said.len(), 1, "{said:#?}");
    says(
        &said[0].to_string(),
        &["override: link[*].delay = \"5 parsec\": unknown unit `parsec`"],
    );
    assert_eq!(found("link.1.delay", "5 parsec")[0].path, "link[1].delay");
    assert_eq!(found("link[1].delay", "5 parsec")[0].path, "link[1].delay");
}

#[test]
fn wrong_overrides_are_named_as_such() {
    let set = |path: &str, value: &str| {
        let found = read_toml(GOOD, "test.toml", &[(path.into(), value.into())]).unwrap_err();
        assert_eq!(found.len(), 1, "{found:#?}");
        found[0].to_string()
    };
    all_say(
        pair(set),
        r#"
        switch.wset.ubr.buffer -> 1 cell =>
            | override: switch.wset.ubr.buffer = 1 cell: no switch is called `wset` | `west`?
        switch.7.ubr.buffer -> 1 cell => no switch is called `7`
            | (allowed: 0 to 1, west, east, *)
        "#,
    );
    // `cbr`, a field of all switches, is as near.
    let core = ("switch.cor.ubr.buffer".into(), "1 cell".into());
    let found = read_toml(&GOOD.replace("west", "core"), "test.toml", &[core]).unwrap_err();
    says(&found[0].to_string(), &["did you mean `core`?"]);
    says(
        &set("probe.0.interval", "1 s"),
        &["the scenario has no probe"],
    );
    for (path, meant) in [
        ("vc.trafic.recovery", "traffic"),
        ("vc.strat", "start"),
        ("host.cuont", "count"),
        ("link.dely", "delay"),
    ] {
        says(&set(path, "1 s"), &[&format!("did you mean `{meant}`?")]);
    }
    all_say(
        pair(set),
        r#"
        duration -> 1 => override: duration = 1: missing unit
        duration.x -> 1 => `duration` is a string and has no field `x`
        sedd -> 1 => override: sedd = 1: unknown field | `seed`?
        a..b -> 1 => invalid path
        "#,
    );
    says(
        &set("", "1"),
        &["override: \"\" = 1: invalid path (allowed: "],
    );
    says(&set("", ""), &["override: \"\": invalid path (allowed: "]);
    says(
        &set("vc.0.traffic.mss", "1 s\nx = 3"),
        &["mss = \"1 s x = 3\": unknown unit"],
    );
}

#[test]
fn a_link_back_is_told_as_that_of_the_link_there() {
    for name in ["west->source2", "west->source", "east->west"] {
        let own = [(format!("link.{name}.delay"), "1 ms".to_string())];
        let problems = read_toml(GOOD, "test.toml", &own).expect_err("no element is called so");
        let told = problems[0].to_string();
        says(
            &told,
            &[
                "is the backward direction of `link.",
                "has its rate, changes and delay",
                "duplex = false",
            ],
        );
    }
}
