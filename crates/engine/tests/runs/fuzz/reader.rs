//! Fuzzes the reader. Any text is either a scenario that survives writing and reading, or is
//! refused in short messages that name their place.

use super::campaign::{self, Input, Outcome};
use super::promise::{self, LONGEST_MESSAGE, is_costly, message};
use super::{bases, mutate};
use crate::common::draws::Draws;
use cellyard_engine::scenario::*;

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
    // Sometimes keep the text intact, so that only the overrides are wrong.
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

/// Percentage of texts with costly counts that stay as they are.
const KEPT: u64 = 3;

/// `text` with costly counts usually cut to at most two digits.
fn affordable(text: String, draws: &mut Draws) -> String {
    let mut made = text.clone();
    for at in promise::costly(&text).into_iter().rev() {
        if !draws.chance(KEPT) {
            made.replace_range(at.start + 2..at.end, "");
        }
    }
    made
}

fn check(input: &Text) -> Result<Outcome, String> {
    let is_accepted = promise::check(&input.text, &input.overrides)?;
    Ok(if is_accepted {
        Outcome::Accepted
    } else {
        Outcome::Refused
    })
}

#[test]
fn any_text_is_read_and_written_the_same_or_refused_with_its_place() {
    let bases = bases::all();
    let counts = campaign::run("reader", 4_000, |draws| make(&bases, draws), check);
    // The campaign is useful only if both outcomes are frequent.
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
        excerpt: String::new(),
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
