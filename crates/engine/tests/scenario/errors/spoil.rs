//! A small valid scenario, and helpers that spoil one part of it and return the problem.

use cellyard_engine::scenario::{Problem, Scenario, read_toml};

/// A small valid network. Tests spoil one part of it.
pub const GOOD: &str = r#"name = "good"
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

/// `text` with overrides, as read.
pub fn overridden(text: &str, set: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    let set = set.iter().map(|&(path, value)| (path.into(), value.into()));
    read_toml(text, "test.toml", &set.collect::<Vec<_>>())
}

/// The first problem of `text` with a value for one path, without its place; empty if it is valid.
pub fn problem_of(text: &str, path: &str, value: &str) -> String {
    let found = overridden(text, &[(path, value)]);
    let found = found.err().and_then(|all| all.into_iter().next());
    found.map_or(String::new(), |problem| {
        format!(
            "{}: {} | {}",
            problem.path, problem.message, problem.allowed
        )
    })
}

pub fn problems(text: &str) -> Vec<Problem> {
    read_toml(text, "test.toml", &[]).expect_err("the scenario is wrong")
}

/// The only problem of `GOOD` with `from` replaced by `to`, as printed.
pub fn spoilt(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from} is unique");
    only(&GOOD.replace(from, to))
}

/// The only problem of a text, as printed.
pub fn only(text: &str) -> String {
    let found = problems(text);
    let shown: Vec<String> = found.iter().map(Problem::to_string).collect();
    assert_eq!(found.len(), 1, "{shown:#?}");
    assert!(
        (shown[0].lines().count() == 1 || !found[0].excerpt.is_empty()) && shown[0].len() < 600,
        "{}",
        shown[0]
    );
    shown[0].clone()
}

/// The only problem of `GOOD` with `rest` appended.
pub fn with(rest: &str) -> String {
    only(&format!("{GOOD}{rest}"))
}

#[track_caller]
pub fn says(problem: &str, parts: &[&str]) {
    for part in parts {
        assert!(problem.contains(part), "`{part}` is not in: {problem}");
    }
}

/// Checks a table of errors. A row has what is given to `problem`, `=>`, and parts of the message,
/// separated by `|`. A row that begins with `|` has further parts, one with `#` is a comment, and
/// `\n` stands for a line break.
#[track_caller]
pub fn all_say(problem: impl Fn(&str) -> String, table: &str) {
    let mut found = String::new();
    let rows = table.lines().map(str::trim);
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let parts = match row.split_once(" =>") {
            Some((given, parts)) => {
                found = problem(&given.replace("\\n", "\n"));
                parts
            }
            None => row.strip_prefix('|').expect("further parts"),
        };
        for part in parts.split(" | ").map(str::trim) {
            says(&found, &[part]);
        }
    }
}

/// For [`all_say`]: a problem of two texts, given as `from -> to`.
pub fn pair(problem: impl Fn(&str, &str) -> String) -> impl Fn(&str) -> String {
    move |given| {
        let (from, to) = given
            .split_once("->")
            .filter(|(from, _)| from.is_empty())
            .or_else(|| given.split_once(" ->"))
            .expect("two texts");
        problem(from, to.trim_start())
    }
}
