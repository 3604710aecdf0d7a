//! Errors about rates of links that change.

use super::spoil::problem_of;

const NET: &str = r#"name = "changing"
duration = "1 s"
host = [{ name = "a" }, { name = "b" }, { name = "c" }]
switch = [{ name = "s", gfr = { buffer = "100 cells" } }]
link = [{ from = "a", to = "s", rate = "100 Mbps" }, { from = "s", to = "b", rate = "50 Mbps" }]
vc = [
  { name = "v", from = "a", to = "b", traffic = "tcp" },
  { name = "cells", from = "b", to = "a", traffic = { kind = "cbr", rate = "1 Mbps" } },
]
"#;

/// The problem if the rate of `link` is 10 Mb/s from half a second on, in a network with `more`.
fn changed(link: &str, [from, to]: [&str; 2]) -> String {
    let text = NET.replace(from, to);
    assert!(from.is_empty() || text != NET, "nothing is replaced");
    let change = "[{ at = \"0.5 s\", rate = \"10 Mbps\" }]";
    problem_of(&text, &format!("link.{link}.changes"), change)
}

#[test]
fn changes_ascend_within_the_run() {
    let of = |changes: &str| problem_of(NET, "link.a->s.changes", changes);
    assert_eq!(of("[]"), "");
    assert_eq!(
        of("[{ at = \"1 ns\", rate = \"0 bps\" }, { at = \"999 ms\", rate = \"0 bps\" }]"),
        ""
    );
    assert_eq!(
        of("[{ at = \"2 ms\", rate = \"0 bps\" }, { at = \"2 ms\", rate = \"1 Mbps\" }]"),
        "link[0].changes[1].at: is 2 ms, not after the change before it | above 2 ms"
    );
    assert_eq!(
        of("[{ at = \"1 s\", rate = \"0 bps\" }]"),
        "link[0].changes[0].at: is 1 s, not before the end of the run | below the duration, 1 s"
    );
    let rate = "\"1 kbps\" to \"1 Tbps\", or 0 bps; units: bps, kbps, Mbps, Gbps, Tbps, cells/s";
    assert_eq!(
        of("[{ at = \"1 ms\", rate = \"999 bps\" }]"),
        format!("link[0].changes[0].rate: must be at least 1 kbps | {rate}")
    );
    assert_eq!(
        of("[{ at = \"1 ms\" }]"),
        format!("link[0].changes[0].rate: is missing | {rate}")
    );
    assert_eq!(
        of("[{ at = \"1 ms\", rate = \"1 Mbps\", delay = \"1 ms\" }]"),
        "link[0].changes[0].delay: unknown field | at, rate"
    );
}

#[test]
fn credits_and_targets_of_one_rate_are_refused() {
    let plain = ["", ""];
    assert_eq!(
        (changed("a->s", plain), changed("s->b", plain)),
        (String::new(), String::new())
    );
    let rated =
        "name = \"s\", scheduler = { kind = \"guaranteed-rate\", class = \"gfr\", gr = 0.5 },";
    let rated = ["name = \"s\",", rated];
    assert_eq!(
        changed("s->b", rated),
        "link[1].changes: cannot be at the port s->b: the credit of its scheduler `guaranteed-rate` counts slots of one length \
         | no changes, or another scheduler"
    );
    // The link back from the switch is a port too.
    let duplex = changed("a->s", rated);
    assert_eq!(
        duplex,
        "link[0].changes: cannot be at the port s->a: the credit of its scheduler `guaranteed-rate` counts slots of one length \
         | no changes, or another scheduler; or `duplex = false` and a separate link back, as this is the port of the way back"
    );
    let one_way = [
        "to = \"s\", rate = \"100 Mbps\" }",
        "to = \"s\", rate = \"100 Mbps\", duplex = false }, { from = \"s\", to = \"a\", rate = \"10 Mbps\", duplex = false }",
    ];
    let text = NET
        .replace(rated[0], rated[1])
        .replace(one_way[0], one_way[1]);
    let change = "[{ at = \"0.5 s\", rate = \"10 Mbps\" }]";
    assert_eq!(problem_of(&text, "link.a->s.changes", change), "");

    let text = NET.replace(
        "name = \"s\",",
        "name = \"s\", scheduler = { kind = \"per-vc\", class = \"ubr\" },",
    );
    assert_eq!(problem_of(&text, "link.s->b.changes", change), "");
    let text = text.replace("name = \"v\",", "name = \"v\", guarantee = \"1 Mbps\",");
    assert_eq!(
        problem_of(&text, "link.s->b.changes", change),
        "link[1].changes: cannot be at the port s->b: `guarantee` of v, 1 Mbps, is a part of one rate \
         | no changes, or no guarantee"
    );

    let text = NET.replace(
        "name = \"s\",",
        "name = \"s\", abr = { feedback = \"erica\" },",
    );
    let text = text.replace("name = \"v\",", "name = \"v\", class = \"abr\", abr = {},");
    assert_eq!(
        problem_of(&text, "link.s->b.changes", change),
        "link[1].changes: cannot be at the port s->b: its feedback computes with one rate of the link \
         | no changes, or no feedback there"
    );
}

#[test]
fn fair_shares_need_the_rates_of_links_of_data() {
    let fair = [
        "duration = \"1 s\"",
        "duration = \"1 s\"\nmeasure = { max_goodput = \"fair shares\" }",
    ];
    assert_eq!(
        changed("s->b", fair),
        "measure.max_goodput: cannot be computed: the rate of s->b changes | a rate, or no `changes` on links of data"
    );
    // With `both_ways`, data also cross the links back.
    let ways = "name = \"v\", from = \"a\", to = \"b\", traffic = ";
    let back = "duplex = false }, { from = \"s\", to = \"a\", rate = \"10 Mbps\", duplex = false }";
    let text = NET.replace(fair[0], fair[1]).replace(
        "rate = \"100 Mbps\" }",
        &format!("rate = \"100 Mbps\", {back}"),
    );
    let cbr = NET
        .lines()
        .find(|line| line.contains("cbr"))
        .expect("a line");
    let text = text.replace(cbr, "");
    let change = "[{ at = \"0.5 s\", rate = \"10 Mbps\" }]";
    assert_eq!(problem_of(&text, "link.s->a.changes", change), "");
    let both = "{ kind = \"tcp\", both_ways = true }";
    let text = text.replace(&format!("{ways}\"tcp\""), &format!("{ways}{both}"));
    let found = problem_of(&text, "link.s->a.changes", change);
    assert!(found.contains("the rate of s->a changes"), "{found}");
    // No data cross this link.
    let unused = "link = [{ name = \"unused\", from = \"c\", to = \"a\", rate = \"1 Mbps\" },";
    let text = NET.replace(fair[0], fair[1]).replace("link = [", unused);
    let change = "[{ at = \"0.5 s\", rate = \"10 Mbps\" }]";
    assert_eq!(problem_of(&text, "link.unused.changes", change), "");
}
