//! Errors about shared memories of switches.

use super::spoil::{overridden, problem_of};
use cellyard_engine::scenario::{Scenario, Size};

const NET: &str = r#"name = "pooled"
duration = "1 s"
format = "ethernet"
host = [{ name = "a", count = 2 }, { name = "b", count = 2 }]
switch = [{ name = "s", pool = { buffer = "2000 cells" }, ubr = { alpha = 1, reserve = "5 cells" } }]
link = [
  { from = "a", to = "s", rate = "10 Gbps" },
  { from = "s", to = "b", rate = "1 Gbps" },
]
vc = [{ from = "a", to = "b", count = 2, traffic = "tcp" }]
"#;

fn problem(path: &str, value: &str) -> String {
    problem_of(NET, path, value)
}

/// The problem of the network in AAL5 with these overrides.
fn in_aal5(path: &str, value: &str) -> String {
    problem_of(&NET.replace("format = \"ethernet\"", ""), path, value)
}

#[test]
fn alpha_is_an_integer_or_a_ratio_within_its_range() {
    for alpha in ["1", "64", "\"1\"", "\"1/128\"", "\"3/7\"", "0.5"] {
        assert_eq!(problem("switch.s.ubr.alpha", alpha), "", "{alpha}");
    }
    let least = "switch[0].ubr.alpha: is \"1/129\", below \"1/128\" | a number or a ratio, from \"1/128\" to 64";
    assert_eq!(problem("switch.s.ubr.alpha", "\"1/129\""), least);
    assert!(problem("switch.s.ubr.alpha", "0").contains("is 0, below"));
    assert!(problem("switch.s.ubr.alpha", "65").contains("must be at most 64"));
}

#[test]
fn without_a_pool_there_is_no_threshold_and_no_reserve() {
    let text = NET.replace("pool = { buffer = \"2000 cells\" }, ", "");
    assert_eq!(
        problem_of(&text, "switch.s.ubr", "{ alpha = 1 }"),
        "switch[0].ubr.alpha: compares the queue with the free part of a pool, and the switch has none | a switch with a `pool`, or no `alpha`"
    );
    let text = text.replace("alpha = 1, ", "");
    assert_eq!(
        problem_of(&text, "switch.s.ubr.reserve", "\"5 cells\""),
        "switch[0].ubr.reserve: is a part of a pool, and the switch has none | a switch with a `pool`, or no `reserve`"
    );
    let text = text.replace(", ubr = { reserve = \"5 cells\" }", "");
    assert_eq!(
        problem_of(&text, "link.s->b.ubr", "{ alpha = 1 }"),
        "link[1].ubr.alpha: compares the queue with the free part of a pool, and the switch has none | a switch with a `pool`, or no `alpha`"
    );
}

#[test]
fn names_of_pools_need_one() {
    let text = NET.replace("pool = { buffer = \"2000 cells\" }, ", "");
    for name in ["free", "pool", "reserve"] {
        let program = format!("{{ drop = {{ policy = \"program\", refuse = \"X > {name}\" }} }}");
        assert_eq!(problem("switch.s.ubr", &program), "");
        assert_eq!(
            problem_of(&text, "switch.s.ubr", &program),
            format!(
                "switch[0].ubr.drop: uses `{name}`, which is of a pool, and the switch has none | a switch with a `pool`, or a program without this name"
            )
        );
    }
}

#[test]
fn probes_of_pools_need_what_they_record() {
    let probe = |text: &str, what: &str, more: &str| {
        let probe = format!("[{{ what = \"{what}\", {more} }}]");
        problem_of(text, "probe", &probe)
    };
    let without = NET.replace(
        "pool = { buffer = \"2000 cells\" }, ubr = { alpha = 1, reserve = \"5 cells\" }",
        "",
    );
    assert_eq!(probe(NET, "pool", "of = \"s\""), "");
    assert_eq!(probe(NET, "threshold", "of = \"s->b\""), "");
    assert_eq!(
        probe(&without, "pool", "of = \"s\""),
        "probe[0].of: no pool: the switch has no pool | a switch with a `pool`"
    );
    assert_eq!(
        probe(NET, "pool", "of = \"a\""),
        "probe[0].of: no switch has this name | the name of a switch or of a group"
    );
    assert_eq!(
        probe(&without, "threshold", "of = \"s->b\""),
        "probe[0].of: no threshold: the switch has no pool | a switch with a `pool`"
    );
    assert_eq!(
        probe(NET, "threshold", "of = \"a->s\""),
        "probe[0].of: leaves a host | a link that leaves a switch"
    );
    assert_eq!(
        probe(NET, "threshold", "of = \"s->b1\", class = \"cbr\""),
        "probe[0].of: no threshold: no such queue there has `alpha` | a port where a queue has `alpha`"
    );
    let several = NET.replace("ubr = {", "gfr = { alpha = 2 }, ubr = {");
    assert_eq!(
        probe(&several, "threshold", "of = \"s->b1\", class = \"gfr\""),
        ""
    );
    assert_eq!(
        probe(&several, "threshold", "of = \"s->b1\""),
        "probe[0].class: is missing: queues of several classes have `alpha` there | one of these classes"
    );
}

#[test]
fn reserves_fit_into_the_pool() {
    assert_eq!(
        problem("switch.s.ubr.reserve", "\"1001 cells\""),
        "switch[0].pool: its queues reserve 2002 cells at 2 ports, the pool has 2000 cells | a larger `buffer`, or smaller reserves"
    );
    assert_eq!(problem("switch.s.ubr.reserve", "\"1000 cells\""), "");
}

#[test]
fn policies_that_push_out_are_refused() {
    let refused = "switch[0].ubr.drop: pushes cells out of its own queue, but with a pool other queues may have the places | a policy that does not push out, or a switch without a pool";
    for drop in ["drop-from-front", "frame-drop-from-front"] {
        assert_eq!(problem("switch.s.ubr.drop", drop), refused);
    }
    let program =
        "{ policy = \"program\", asked = \"cells\", program = \"if X > 9 { push_out_cell }\" }";
    assert!(
        problem("switch.s.ubr.drop", program).contains("pushes cells out"),
        "{}",
        problem("switch.s.ubr.drop", program)
    );
}

#[test]
fn arrivals_come_first() {
    assert_eq!(
        problem("arrival_first", "false"),
        "arrival_first: is not defined with a pool, which switch s has: all departures of an instant would free places first | true, or switches without a pool"
    );
}

#[test]
fn memory_cells_are_for_packets() {
    assert_eq!(problem("switch.s.pool.cell", "\"254 bytes\""), "");
    assert_eq!(
        in_aal5("switch.s.pool.cell", "\"254 bytes\""),
        "switch[0].pool.cell: has no effect: in this format each cell takes one place, or its bytes | no `cell`, or format = \"ethernet\""
    );
    assert_eq!(
        problem(
            "switch.s.pool",
            "{ buffer = \"200 bytes\", cell = \"254 bytes\" }"
        ),
        "switch[0].pool.buffer: is less than a memory cell | at least `cell`"
    );
    assert_eq!(
        problem("switch.s.pool", "{ cell = \"254 bytes\" }")
            .split(" | ")
            .next(),
        Some("switch[0].pool.buffer: is missing")
    );
}

#[test]
fn a_pool_has_one_unit() {
    assert_eq!(
        problem("switch.s.ubr.reserve", "\"5 kB\""),
        "switch[0].ubr.reserve: counts bytes, but the pool counts cells | cells, the unit of the pool"
    );
    assert_eq!(
        problem("switch.s.ubr.buffer", "\"5 kB\""),
        "switch[0].ubr.buffer: counts bytes, but the pool at s->a1 counts cells | the unit of the pool, or \"unlimited\""
    );
    // A sum of two units says nothing.
    assert_eq!(
        problem("switch.s.ubr.reserve", "\"5 kB\"").lines().count(),
        1
    );
    let drop = "{ policy = \"epd\", threshold = \"9 kB\" }";
    assert!(problem("switch.s.ubr.drop", drop).contains("is in bytes, but the queue counts cells"));
    assert!(in_aal5("switch.s.pool.buffer", "\"5 kB\"").starts_with("switch[0].pool.buffer: "));
}

#[test]
fn memory_cells_are_not_packets() {
    let pool = (
        "switch.s.pool",
        "{ buffer = \"2000 cells\", cell = \"254 bytes\" }",
    );
    for (path, value, at) in [
        (
            "switch.s.pool.buffer",
            "\"2000 packets\"",
            "switch[0].pool.buffer",
        ),
        (
            "switch.s.ubr.reserve",
            "\"5 packets\"",
            "switch[0].ubr.reserve",
        ),
        (
            "switch.s.ubr.buffer",
            "\"1 packet\"",
            "switch[0].ubr.buffer",
        ),
    ] {
        assert!(overridden(NET, &[(path, value)]).is_ok());
        let problems = overridden(NET, &[pool, (path, value)]).expect_err("packets");
        let found: Vec<&str> = problems
            .iter()
            .map(|problem| problem.path.as_str())
            .collect();
        assert_eq!(found, [at]);
        assert!(problems[0].message.contains("the pool counts memory cells"));
    }
    assert!(overridden(NET, &[pool]).is_ok());
}

/// Lengths of the first queue of the switch after reading.
fn read(set: &[(&str, &str)]) -> Scenario {
    overridden(NET, set).expect("it reads")
}

#[test]
fn bytes_become_memory_cells() {
    let net = read(&[
        (
            "switch.s.pool",
            "{ buffer = \"1000 kB\", cell = \"254 bytes\" }",
        ),
        ("switch.s.ubr.reserve", "\"1778 bytes\""),
        ("switch.s.ubr.buffer", "\"1000 bytes\""),
    ]);
    let switch = &net.switches[0];
    assert_eq!(
        switch.pool.map(|pool| pool.buffer),
        Some(Size::Cells(3_937))
    );
    assert_eq!(switch.queues[0].reserve, Some(Size::Cells(7)));
    assert_eq!(switch.queues[0].buffer, Some(Size::Cells(3)));
    let net = read(&[
        (
            "switch.s.pool",
            "{ buffer = \"1000 cells\", cell = \"254 bytes\" }",
        ),
        ("switch.s.ubr.reserve", "\"1779 bytes\""),
        ("link.s->b.ubr", "{ reserve = \"255 bytes\" }"),
    ]);
    assert_eq!(net.switches[0].queues[0].reserve, Some(Size::Cells(8)));
    let link = net
        .links
        .iter()
        .find(|link| link.name == "s->b1")
        .expect("a link");
    assert_eq!(link.queues[0].reserve, Some(Size::Cells(2)));
}
