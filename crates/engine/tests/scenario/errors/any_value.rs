//! Tests that any value in any place is refused without a panic.

use cellyard_engine::scenario::read_toml;

/// Other values. Few of them are valid anywhere.
const OTHERS: &[&str] = &[
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

/// Paths of lists and tables.
const PATHS: &[&str] = &[
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
];

/// A scenario with every kind of field.
const EVERYTHING: &str = include_str!("../../runs/fuzz/everything.toml");

/// Variants of `text` with another value in place of each text, number or truth value.
fn with_other_values(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices(" = ") {
        let rest = &text[at + 3..];
        let end = match rest.as_bytes()[0] {
            b'"' => 2 + rest[1..].find('"').expect("the text ends"),
            b'[' | b'{' => continue,
            _ => rest.find([',', ' ', '\n']).expect("the line ends"),
        };
        let (before, after) = (&text[..at + 3], &rest[end..]);
        out.extend(OTHERS.iter().map(|other| format!("{before}{other}{after}")));
    }
    out
}

/// Replaces every value of a scenario with every kind of field, one at a time. Nothing may panic,
/// and every message must be one line, except for the place in a program.
#[test]
fn any_value_in_any_place_is_accepted_or_reported() {
    let text = EVERYTHING;
    read_toml(text, "test.toml", &[]).expect("the scenario is right");
    let mut reported = 0;
    for spoilt in with_other_values(text) {
        if let Err(problems) = read_toml(&spoilt, "test.toml", &[]) {
            reported += 1;
            assert!(!problems.is_empty());
            for problem in problems {
                let shown = problem.to_string();
                let is_short = shown.len() < 700 && problem.line > 0;
                let is_line = !shown.contains('\n') || !problem.excerpt.is_empty();
                assert!(is_short && is_line, "{shown}");
            }
        }
    }
    for (path, value) in PATHS
        .iter()
        .flat_map(|p| OTHERS.iter().map(move |o| (p, o)))
    {
        let set = [(path.to_string(), value.to_string())];
        reported += usize::from(read_toml(text, "test.toml", &set).is_err());
    }
    assert!(reported > 700, "{reported}");
}
