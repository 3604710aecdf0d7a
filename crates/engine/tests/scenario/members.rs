//! Tests of group members that are set individually, by their names in results.

use crate::errors::spoil::{all_say, overridden, pair};
use cellyard_engine::format::Clock;
use cellyard_engine::scenario::*;
use cellyard_engine::units::{BitRate, Span};
use cellyard_engine::{Options, run};
use std::sync::atomic::AtomicBool;

/// Groups of every kind, named and unnamed, and a second path between the switches.
const NETWORK: &str = r#"
duration = "100 ms"
host = [{ name = "a", count = 3 }, { name = "b", count = 3 }, { name = "c" }]
switch = [{ name = "s", count = 2 }, { name = "by" }]
link = [
  { from = "a", to = "s1", rate = "10 Mbps", delay = "5 us" },
  { from = "c", to = "s1", rate = "10 Mbps" },
  { name = "trunk", from = "s1", to = "s2", rate = "10 Mbps", ubr = { buffer = "90 cells", drop = "selective-drop" } },
  { from = "s1", to = "by", rate = "10 Mbps" },
  { from = "by", to = "s2", rate = "10 Mbps" },
  { name = "out", from = "s2", to = "b", rate = "10 Mbps" },
]
vc = [
  { name = "x", count = 2, from = "c", to = "b2", traffic = { kind = "cbr", rate = "1 Mbps" } },
  { from = "a", to = "b", traffic = "tcp" },
  { from = "c", to = "b1", traffic = { kind = "tcp", mss = "1 kB" } },
]
probe = [{ what = "cwnd", of = "vc", interval = "10 ms" }]
"#;

fn set(overrides: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    overridden(NETWORK, overrides)
}

fn right(overrides: &[(&str, &str)]) -> Scenario {
    set(overrides).unwrap_or_else(|found| panic!("{found:#?}"))
}

fn wrong(overrides: &[(&str, &str)]) -> String {
    let found = set(overrides).expect_err("something is wrong");
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0].to_string()
}

#[test]
fn a_member_set_to_what_it_has_changes_nothing() {
    let plain = right(&[]);
    let result = |scenario: &Scenario| {
        // A replication draws from the streams named after members.
        let never = AtomicBool::new(false);
        let done = run(scenario, Some(3), &Options::default(), &never);
        serde_json::to_value(done.expect("it runs")).expect("results are plain data")
    };
    for (path, value) in [
        ("host.a2.processing", "default"),
        ("switch.s1.scheduler", "strict-priority"),
        ("link.a3->s1.delay", "5 us"),
        ("link.out2.rate", "10 Mbps"),
        ("vc.x1.traffic.rate", "1 Mbps"),
        ("vc.vc4.traffic", "tcp"),
        ("vc.vc4.route", "[\"s1\", \"s2\"]"),
    ] {
        let same = right(&[(path, value)]);
        assert_eq!(same, plain, "{path}");
        assert_eq!(result(&same), result(&plain), "{path}");
    }
}

#[test]
fn a_member_is_set_alone_and_reads_back() {
    let plain = right(&[]);
    let altered = |path: &str, value: &str, alter: &dyn Fn(&mut Scenario)| {
        let mut expected = plain.clone();
        alter(&mut expected);
        let found = right(&[(path, value)]);
        assert_ne!(expected, plain, "{path}");
        assert_eq!(found, expected, "{path}");
        assert_eq!(read_toml(&write_toml(&found), "again", &[]), Ok(found));
    };
    let late = Span::from_milliseconds(7);
    // The VCs are x1, x2, vc3, vc4, vc5, vc6. The first unnamed one is the third of all.
    for (name, at) in [("x1", 0), ("x2", 1), ("vc3", 2), ("vc4", 3), ("vc5", 4)] {
        assert_eq!(plain.vcs[at].name, name);
        let path = format!("vc.{name}.start");
        altered(&path, "7 ms", &|s| s.vcs[at].start = late);
    }
    altered("vc.vc5.traffic.mss", "1000 bytes", &|s| {
        let Traffic::Tcp(tcp) = &mut s.vcs[4].traffic else {
            panic!("no TCP")
        };
        tcp.mss = 1000;
    });
    altered("vc.vc3.route", "[\"s1\", \"by\", \"s2\"]", &|s| {
        s.vcs[2].route.insert(1, "by".into())
    });
    altered("switch.s2.scheduler", "fifo", &|s| {
        s.switches[1].scheduler = Scheduler::Fifo
    });
    // Rate and delay of a link apply in both directions, the rest only forwards.
    altered("link.a2->s1.rate", "5 Mbps", &|s| {
        assert_eq!(s.links[2].name, "a2->s1");
        s.links[2].rate = BitRate(5_000_000);
        s.links[3].rate = BitRate(5_000_000);
    });
    let out3 = plain.links.iter().position(|l| l.name == "out3").unwrap();
    altered("link.out3.lose_frames", "[2, 4]", &|s| {
        s.links[out3].lose_frames = vec![2, 4]
    });
    let lent = "{ kind = \"latency\", mean = \"1 us\" }";
    let host = right(&[("host.b3.processing", lent)]).hosts;
    let with: Vec<_> = host.iter().filter(|h| h.processing.is_some()).collect();
    assert_eq!((with.len(), with[0].name.as_str()), (1, "b3"));
}

#[test]
fn a_rate_that_follows_the_link_of_a_member_follows_its_own() {
    let vbr = "{ kind = \"vbr\", amplitude = 0.5, on = \"1 ms\", off = \"1 ms\" }";
    let sources = [("vc.1.traffic", vbr), ("probe", "[]")];
    let rates = |more: &[(&str, &str)]| -> Vec<_> {
        let of = |vc: &Vc| match vc.traffic {
            Traffic::Vbr { rate, .. } => rate.0,
            _ => panic!("no bursts"),
        };
        right(&[&sources, more].concat()).vcs[2..5]
            .iter()
            .map(of)
            .collect()
    };
    assert_eq!(rates(&[]), [5_000_000; 3]);
    assert_eq!(
        rates(&[("link.a2->s1.rate", "4 Mbps")]),
        [5_000_000, 2_000_000, 5_000_000]
    );
}

#[test]
fn what_is_set_last_counts() {
    let starts = |overrides: &[(&str, &str)]| -> Vec<_> {
        let vcs = right(overrides).vcs;
        vcs.iter()
            .map(|vc| vc.start.as_seconds(Clock::AAL5) * 1e3)
            .collect()
    };
    let (own, all, group) = (
        ("vc.vc4.start", "1 ms"),
        ("vc.start", "2 ms"),
        ("vc.1.start", "3 ms"),
    );
    assert_eq!(starts(&[own, all]), [2.0; 6]);
    assert_eq!(starts(&[own, ("vc.*.start", "2 ms")]), [2.0; 6]);
    assert_eq!(starts(&[all, own]), [2.0, 2.0, 2.0, 1.0, 2.0, 2.0]);
    assert_eq!(starts(&[own, group]), [0.0, 0.0, 3.0, 3.0, 3.0, 0.0]);
    assert_eq!(starts(&[own, ("vc.x.start", "3 ms")])[3], 1.0);
    assert_eq!(starts(&[group, own, ("vc.vc4.start", "default")])[3], 0.0);
    // Values that another override sets are kept.
    let both = right(&[own, ("vc.1.weight", "5"), ("vc.vc4.stop", "50 ms")]);
    let vc = &both.vcs[3];
    assert_eq!(
        (vc.start, vc.stop, vc.weight),
        (
            Span::from_milliseconds(1),
            Some(Span::from_milliseconds(50)),
            5
        )
    );
    // Replacing a list discards what was set in it.
    let list = "[{ from = \"a\", to = \"b\", traffic = \"tcp\" }]";
    assert_eq!(
        starts(&[own, ("probe", "[]"), ("vc", list), ("vc.vc2.start", "9 ms")]),
        [0.0, 9.0, 0.0]
    );
}

#[test]
fn what_is_wrong_with_a_member_is_told_by_its_name() {
    all_say(
        pair(|path, value| {
            wrong(&[
                ("vc.x1.start", "1 ms"),
                ("vc.vc4.start", "1 ms"),
                (path, value),
            ])
        }),
        r#"
        vc.vc4.start -> 1 parsec => override: vc.vc4.start = "1 parsec": unknown unit
        vc.vc4.strat -> 1 ms => override: vc.vc4.strat = "1 ms": unknown field
        vc.vc4.stop -> 1 ms => override: vc.vc4.stop = "1 ms": is not after the start
        vc.x2.traffic.rate -> 20 Mbps => override: vc.x2.traffic.rate = "20 Mbps": is above the
            | above the rate of the link c->s1
        vc.vc4.route -> ["s2"] => override: vc.vc4.route = ["s2"]:
        link.a2->s1.scheduler -> fifo => override: link.a2->s1.scheduler = "fifo": applies only
            | applies only to a port, but this link leaves a host
        # A problem of all members is reported for the group.
        vc.1.traffic.mss -> 1 parsec => override: vc[*].traffic.mss = "1 parsec"
        "#,
    );
    let broken = NETWORK.replace("mss = \"1 kB\"", "mss = \"1 parsec\"");
    let own = [("vc.x1.start".to_string(), "1 ms".to_string())];
    let found = read_toml(&broken, "test.toml", &own).unwrap_err();
    assert!(found.len() == 1 && found[0].path == "vc[2].traffic.mss");
    let broken = NETWORK.replace("rate = \"1 Mbps\"", "rate = \"1 parsec\"");
    let found = read_toml(&broken, "test.toml", &own).unwrap_err();
    assert!(found.len() == 1 && found[0].path == "vc[0].traffic.rate");
}

#[test]
fn what_a_member_has_of_its_group_is_not_set_alone() {
    all_say(
        |path| wrong(&[(path, "c")]),
        r#"
        vc.vc4.from => override: vc.vc4.from = c: `vc4` is one of the 3 members of `vc.1`, which
            | which share `from`; did you mean `vc.1.from`?
        vc.x2.count => did you mean `vc.x.count`?
        host.a3.name => did you mean `host.a.name`?
        link.a2->s1.duplex => did you mean `link.a->s1.duplex`?
        vc.vc4 => override: vc.vc4 = c: `vc4` is one of the 3 members of `vc.1`, not an element of
            | not an element of the list
        "#,
    );
}

#[test]
fn a_member_that_is_gone_once_everything_is_set_is_an_error() {
    let fewer = [("host.a.count", "2"), ("host.b.count", "2")];
    for (path, value) in [
        ("vc.vc5.start", "1 ms"),
        ("vc.x2.start", "1 ms"),
        ("host.b3.processing", "default"),
        ("link.a3->s1.delay", "1 ms"),
    ] {
        let fewer = match path {
            "vc.x2.start" => &[("vc.x.name", "y")][..],
            _ => &fewer[..],
        };
        let member = path.rsplit_once('.').unwrap().0;
        let told = wrong(&[&[(path, value)], fewer].concat());
        let message = format!(
            "override: {member}: sets a member that does not exist after the other overrides"
        );
        assert!(told.starts_with(&message), "{told}");
    }
    // A later override uses the new meaning of a name: vc5 is then the single VC.
    let told = wrong(&[&fewer[..], &[("vc.vc6.start", "1 ms")]].concat());
    assert!(told.contains("no vc is called `vc6`"), "{told}");
    let late = right(&[&fewer[..], &[("vc.vc5.start", "1 ms")]].concat());
    assert_eq!(late.vcs[4].start, Span::from_milliseconds(1));
}
