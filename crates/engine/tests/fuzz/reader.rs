//! Any text is either a scenario that is written and read back as the same one, or refused in short messages that name their place.

use crate::campaign::{self, Input, Outcome};
use crate::common::draws::Draws;
use crate::{bases, mutate};
use cellyard_engine::describe;
use cellyard_engine::scenario::*;

/// Most characters of a message.
const LONGEST_MESSAGE: usize = 1_000;
/// Components up to which a scenario is also described.
const DESCRIBED: usize = 300;

struct Text {
    text: String,
    overrides: Vec<(String, String)>,
}

impl Input for Text {
    fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = vec![("toml", self.text.clone())];
        if !self.overrides.is_empty() {
            files.push(("overrides", format!("{:?}\n", self.overrides)));
        }
        files
    }
}

fn make(bases: &[String], draws: &mut Draws) -> Text {
    let base = &bases[draws.below(bases.len())];
    let overridden = draws.chance(15);
    // With overrides, now and then they alone are wrong.
    let text = match overridden && draws.chance(50) {
        true => base.clone(),
        false => mutate::spoil(base, bases, draws),
    };
    let mut overrides = if overridden {
        mutate::overrides(draws)
    } else {
        Vec::new()
    };
    let text = affordable(text, draws);
    for (path, value) in &mut overrides {
        if path.ends_with("count") && is_costly(value) && !draws.chance(KEPT) {
            *value = "200".into();
        }
    }
    Text { text, overrides }
}

/// More components of a group than these, as far as they are allowed, take seconds to be read, written and read again.
const CHEAP: u64 = 2_000;
const MOST: u64 = 200_000;
/// Percent of the texts with so many that stay as they are.
const KEPT: u64 = 3;

fn is_costly(count: &str) -> bool {
    count
        .parse()
        .is_ok_and(|n: u64| (CHEAP..=MOST).contains(&n))
}

/// `text`, most often with two digits at most in a `count` that would be costly.
fn affordable(text: String, draws: &mut Draws) -> String {
    let mut made = text.clone();
    for (at, word) in text
        .match_indices("count")
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        let rest = &text[at + word.len()..];
        let gap = rest.len() - rest.trim_start_matches([' ', '=', '"', '\'']).len();
        let digits = &rest[gap..];
        let digits = &digits[..digits.len()
            - digits
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len()];
        if is_costly(digits) && !draws.chance(KEPT) {
            let start = at + word.len() + gap;
            made.replace_range(start + 2..start + digits.len(), "");
        }
    }
    made
}

fn message(problem: &Problem) -> Result<(), String> {
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
    if shown.chars().any(char::is_control) {
        return Err(format!("control characters: {shown:?}"));
    }
    Ok(())
}

/// Those that must have a place: of more than 50 the first, followed by one that says how many more there are.
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

fn check(input: &Text) -> Result<Outcome, String> {
    let scenario = match read_toml(&input.text, "fuzz.toml", &input.overrides) {
        Err(problems) if problems.is_empty() => return Err("refused without a reason".into()),
        Err(problems) => {
            told(&problems).iter().try_for_each(message)?;
            return Ok(Outcome::Refused);
        }
        Ok(scenario) => scenario,
    };
    let written = write_toml(&scenario);
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
    Ok(Outcome::Accepted)
}

#[test]
fn any_text_is_read_and_written_the_same_or_refused_with_its_place() {
    let bases = bases::all();
    let counts = campaign::run("reader", 4_000, |draws| make(&bases, draws), check);
    // Worth its time only if both happen often.
    if campaign::is_small() {
        assert!(
            counts.accepted > 200 && counts.refused > 2_000,
            "{counts:?}"
        );
    }
}

#[test]
fn costly_counts_are_made_small_but_for_some() {
    let text = "host = [{ count = 200000 }, { count=\"65487\" }, { count = 1999 }, { count = 200001 }, { count = 1_9999 }]";
    let cheap = "host = [{ count = 20 }, { count=\"65\" }, { count = 1999 }, { count = 200001 }, { count = 1_9999 }]";
    let made: Vec<String> = (0..1_000)
        .map(|case| affordable(text.into(), &mut Draws::of_case(3, case)))
        .collect();
    let kept = made.iter().filter(|made| made.contains("200000")).count();
    assert!(
        made.iter().filter(|made| *made == cheap).count() > 900 && (10..60).contains(&kept),
        "{kept}"
    );
}

#[test]
fn a_message_without_place_or_with_controls_or_without_end_is_found() {
    let good = Problem {
        file: "fuzz.toml".into(),
        line: 3,
        column: 1,
        path: "vc[0]".into(),
        value: String::new(),
        message: "is wrong".into(),
        allowed: String::new(),
        suggestion: None,
    };
    assert_eq!(message(&good), Ok(()));
    let spoilt: [fn(&mut Problem); 5] = [
        |p| p.line = 0,
        |p| p.file = "elsewhere".into(),
        |p| p.message.clear(),
        |p| p.value = "\u{1b}".into(),
        |p| p.allowed = "x".repeat(LONGEST_MESSAGE),
    ];
    for spoil in spoilt {
        let mut bad = good.clone();
        spoil(&mut bad);
        assert!(message(&bad).is_err(), "{bad:?}");
    }
}

#[test]
fn more_than_50_problems_are_told_with_the_number_of_the_rest() {
    let vc = "[[vc]]\nfrom = 1\nto = 2\n".repeat(60);
    let text = Text {
        text: vc,
        overrides: Vec::new(),
    };
    assert_eq!(check(&text), Ok(Outcome::Refused));
}
