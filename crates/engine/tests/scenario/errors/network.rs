//! Errors of networks: names, references, routes, groups.

use super::spoil::{all_say, only, pair, says, spoilt, with};

#[test]
fn references_must_exist() {
    all_say(
        pair(spoilt),
        r#"
        from = "west" -> from = "wset" => test.toml:14:8: link[1].from = "wset"
            | no host or switch | did you mean `west`?
        to = "sink"\ntraffic -> to = "sinc"\ntraffic =>
            | vc[0].to = "sinc": no host has this name; did you mean `sink`?
        "#,
    );
    all_say(
        with,
        r#"
        route = ["west", "aest"] => vc[0].route[1] | no switch has this name
        [[probe]]\nwhat = "queue"\nof = "west->eats"\n => probe[0].of | no link has this name
            | `west->east`
        [[probe]]\nwhat = "cwnd"\nof = "vc9"\n => no VC has this name
            | did you mean `vc`?
        [[probe]]\nwhat = "cwnd"\nof = "zz"\n => no VC has this name
            | the name of a VC or of a group
        "#,
    );
    let all = |what: &str| with(&format!("[[probe]]\nwhat = \"{what}\"\nof = \"*\"\n"));
    let group = "patterns are not allowed; to select several, use the name of their group";
    says(&all("queue"), &["probe[0].of = \"*\"", group]);
    says(&all("cwnd"), &[group, "or `vc` for all unnamed VCs"]);
    all_say(
        with,
        r#"
        [[probe]]\nwhat = "queeu"\nof = "vc9"\n => unknown probe | `queue`?
        [[probe]]\nwhat = "queue"\nof = "sink1->east"\n => leaves a host
        [[probe]]\nwhat = "goodput"\nof = "vc1"\n => probe[0].interval: is missing
        [[probe]]\nwhat = "queue"\nof = "west->east"\nvc = "vc"\n => probe[0].vc | names a group
        [[probe]]\nwhat = "queue"\nof = "west->east"\nevery = 2\ninterval = "1 s"\n =>
            | cannot be combined with `interval`
        [[probe]]\nwhat = "queue"\nof = "west->east"\nevery = 2\nenvelope = "1 s"\n =>
            | probe[0].envelope | cannot be combined with `every`
        [[probe]]\nwhat = "cwnd"\nof = "vc"\nenvelope = "100 ns"\n => probe[0].envelope
            | records | at most 10000000 points
        [[probe]]\nwhat = "queue"\nof = "east->sink2"\nvc = "vc1"\n =>
            | probe[0].vc = "vc1": does not cross east->sink2 (allowed: a VC that crosses it)
        "#,
    );
}

#[test]
fn routes_are_checked() {
    says(
        &spoilt(
            "from = \"west\"\nto = \"east\"\n",
            "from = \"west\"\nto = \"east\"\nduplex = false\n",
        ),
        &[
            "test.toml:23:1: vc[0]: no path with links in both directions connects source1 and sink1",
        ],
    );
    all_say(
        with,
        r#"
        route = ["west"] => test.toml:26:9: vc[0].route | there is no link from west to sink1
        route = ["west", "east", "west"] => vc[0].route[2] | is listed twice
        route = ["west", "sink2", "east"] => vc[0].route[1] | names a host
        "#,
    );
    all_say(
        pair(spoilt),
        r#"
        from = "source"\nto = "sink" -> from = "west"\nto = "sink" =>
            | vc[0].from = "west": names a switch | allowed: a host
        to = "sink"\ntraffic -> to = "source"\ntraffic => vc[0].to
            | is the same as `from` (allowed: another host)
        from = "west"\nto = "east" -> from = "west"\nto = "west" => link[1].to | the same
        "#,
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
        &[
            "vc[0]",
            "no path with links in both directions connects a and c",
        ],
    );
}

#[test]
fn names_are_unique() {
    all_say(
        pair(spoilt),
        r#"
        name = "east" -> name = "west" => switch[1].name | duplicate name
        name = "east" -> name = "source2" => switch[1].name | duplicate name
        name = "east" -> name = "sink" => switch[1].name | duplicate name
        "#,
    );
    all_say(
        with,
        r#"
        [[link]]\nfrom = "east"\nto = "west"\nrate = "1 Mbps"\n => link[3]
            | second link between east and west
        name = "x"\n[[vc]]\nname = "x2"\nfrom = "source1"\nto = "sink1"\ntraffic = "tcp"\n =>
            | vc[1].name | duplicate name
        "#,
    );
    all_say(
        pair(spoilt),
        r#"
        name = "east" -> name = "e st" => contains the character ' '
        name = "east" -> name = "7" => contains only digits
        "#,
    );
}

#[test]
fn counts_are_checked_before_anything_is_made() {
    all_say(
        pair(spoilt),
        r#"
        name = "sink", count = 3 -> name = "sink", count = 0 => host[1].count | at least 1
        name = "sink", count = 3 -> name = "sink", count = -2 => at least 1
        name = "sink", count = 3 -> name = "sink", count = 1_000_000_001 =>
            | must be at most 1000000000
        "#,
    );
    says(
        &spoilt(
            "name = \"sink\", count = 3",
            "name = \"sink\", count = 10_000_000",
        ),
        &[
            "test.toml:3:66: host[1].count = 10000000: makes 40000013 components in total, whose description alone would take",
            " GB ",
        ],
    );
    says(
        &with("count = 10_000_000\n"),
        &["vc[0].count", "components in total", "at most 1000000"],
    );
    says(
        &spoilt("name = \"sink\", count = 3", "name = \"sink\", count = 2"),
        &["vc[0].to", "names a group of 2"],
    );
    says(
        &with("count = 4\n"),
        &[
            "vc[0].count",
            "differs from the size of the groups, which is 3",
        ],
    );
}

#[test]
fn a_class_served_vc_by_vc_has_no_front_to_drop_from() {
    let drop = "drop = { policy = \"epd\", threshold = \"800 cells\" }";
    let front = "drop = \"drop-from-front\"";
    let per_vc =
        |class: &str| format!("{front} }}\nscheduler = {{ kind = \"per-vc\", class = \"{class}\"");
    says(
        &spoilt(drop, &per_vc("ubr")),
        &[
            "test.toml:6:39: switch[0].ubr.drop = \"drop-from-front\"",
            "needs one queue for the class ubr, but the scheduler of west->source1 keeps a queue for each VC",
            "another drop policy, or a scheduler other than per-vc",
        ],
    );
    for fits in [front, &per_vc("gfr")] {
        let text = super::spoil::GOOD.replace(drop, fits);
        cellyard_engine::scenario::read_toml(&text, "", &[]).expect("there is one front");
    }
}
