//! Values given beside a scenario, right and wrong.

use crate::spoil::{GOOD, says};
use cellyard_engine::scenario::read_toml;

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
