//! Promises of the reader for any text, checked here and by `fuzz/fuzz_targets/reader.rs`.

use cellyard_engine::describe;
use cellyard_engine::scenario::*;
use std::ops::Range;

/// Longest message, in characters.
pub const LONGEST_MESSAGE: usize = 1_000;
/// Size limit: a longer text is not a scenario file and takes long to read. 10 000 TCPs over as
/// many links take 7 MB.
const LARGEST_FILE: usize = 16 << 20;
/// Limit on the components of a scenario that is also described.
const DESCRIBED: usize = 300;

pub fn message(problem: &Problem) -> Result<(), String> {
    let shown = problem.to_string();
    let placed = match problem.file.as_str() {
        "fuzz.toml" => problem.line > 0 && problem.column > 0,
        "override" => !problem.path.is_empty() || !problem.value.is_empty(),
        _ => false,
    };
    if !placed {
        return Err(format!("no place: {problem:?}"));
    }
    if problem.message.is_empty() {
        return Err(format!("no message: {problem:?}"));
    }
    if shown.chars().count() > LONGEST_MESSAGE {
        return Err(format!("{} characters: {shown}", shown.chars().count()));
    }
    // A program's line and its caret follow in their own lines.
    let lines = shown.lines().count();
    let has_excerpt = !problem.excerpt.is_empty() && lines == 3;
    if shown.lines().any(|line| line.chars().any(char::is_control)) || (lines > 1 && !has_excerpt) {
        return Err(format!("control characters: {shown:?}"));
    }
    Ok(())
}

/// The problems that must have a place: all but the last one that only counts the rest when there
/// are more than 50.
fn told(problems: &[Problem]) -> &[Problem] {
    match problems {
        [first @ .., last] if first.len() == 50 && is_rest(&last.message) => first,
        all => all,
    }
}

fn is_rest(message: &str) -> bool {
    let number = message
        .strip_prefix("and ")
        .and_then(|rest| rest.strip_suffix(" more"));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Whether the text is accepted, or which promise is broken.
///
/// # Errors
/// What the reader did and promises not to do.
pub fn check(text: &str, overrides: &[(String, String)]) -> Result<bool, String> {
    let scenario = match read_toml(text, "fuzz.toml", overrides) {
        Err(problems) if problems.is_empty() => return Err("refused without a reason".into()),
        Err(problems) => {
            told(&problems).iter().try_for_each(message)?;
            return Ok(false);
        }
        Ok(scenario) => scenario,
    };
    let written = write_toml(&scenario);
    if written.len() > LARGEST_FILE {
        return Ok(true);
    }
    match read_toml(&written, "written.toml", &[]) {
        Ok(again) if again == scenario => {}
        Ok(_) => return Err(format!("reads back as another scenario:\n{written}")),
        Err(problems) => {
            return Err(format!(
                "is refused when written: {}\n{written}",
                problems[0]
            ));
        }
    }
    if scenario.links.len() + scenario.vcs.len() <= DESCRIBED {
        describe(&scenario).map_err(|error| format!("is not described: {error}"))?;
    }
    Ok(true)
}

/// Limit on cheap groups: larger ones take seconds to read, write and read again.
const CHEAP: u64 = 2_000;
const MOST: u64 = 200_000;
/// Whether a group of `count` takes long.
pub fn is_costly(count: &str) -> bool {
    count
        .parse()
        .is_ok_and(|n: u64| (CHEAP..=MOST).contains(&n))
}

/// Positions of the digits of each `count` that is too costly.
pub fn costly(text: &str) -> Vec<Range<usize>> {
    let digits = |(at, word): (usize, &str)| {
        let rest = &text[at + word.len()..];
        let digits = rest.trim_start_matches([' ', '=', '"', '\'']);
        let start = text.len() - digits.len();
        let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        start..text.len() - after.len()
    };
    let all = text.match_indices("count").map(digits);
    all.filter(|at| is_costly(&text[at.clone()])).collect()
}
