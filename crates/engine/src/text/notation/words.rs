//! Formats names and values for sentences: lists, shortened values, and suggestions.

use strsim::osa_distance;

/// Joins names with commas.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Limit on the names suggested for one word.
const MOST_NEAR: usize = 5;

/// Longest value or name in a message, in characters.
const LONGEST: usize = 60;

/// Replaces control characters, so that messages stay on one line.
fn clean(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// Puts `text` on one line and shortens it to about 60 characters by leaving out the middle.
pub(crate) fn shorten(text: &str) -> String {
    let head: String = text.chars().take(LONGEST + 1).map(clean).collect();
    if head.chars().count() <= LONGEST {
        return head;
    }
    let tail: Vec<char> = text.chars().rev().take(15).map(clean).collect();
    let head: String = head.chars().take(LONGEST - 18).collect();
    format!("{head}...{}", tail.iter().rev().collect::<String>())
}

/// Candidates that `word` probably means, ignoring case.
///
/// In order of preference: candidates with `word` as a whole part between dashes (`red` in
/// `atm-red`), the nearest misspelling, candidates of which one part is misspelt, or the candidate with the longest common beginning
/// (`comparison`, `compare`). Empty when no candidate is near.
pub fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let length = word.chars().count();
    if length > 64 {
        return Vec::new();
    }
    let lower = word.to_lowercase();
    let mut all: Vec<&str> = candidates.into_iter().collect();
    all.sort_unstable();
    all.dedup();
    let has_part = |c: &&str| length > 1 && c.to_lowercase().split('-').any(|part| part == lower);
    let parts: Vec<&str> = all.iter().copied().filter(has_part).collect();
    if (1..=MOST_NEAR).contains(&parts.len()) && !all.contains(&word) {
        return parts;
    }
    let distance = |c: &str| osa_distance(&lower, &c.to_lowercase());
    let distances = all.iter().map(|&c| (distance(c), c));
    let misspelt = distances
        .filter(|&(d, c)| d <= (length.max(c.chars().count()) / 3).max(1) && d < length)
        .min();
    if let Some((_, found)) = misspelt {
        return vec![found];
    }
    let misspells_part = |c: &&str| {
        let mut parts = c
            .split('-')
            .filter(|part| part.len() > 2 && part.len() < c.len());
        length > 2 && parts.any(|part| distance(part) <= 1)
    };
    let parts: Vec<&str> = all.iter().copied().filter(misspells_part).collect();
    if (1..=MOST_NEAR).contains(&parts.len()) {
        return parts;
    }
    let shared = |c: &str| {
        let letters = lower.chars().zip(c.chars());
        letters.take_while(|(a, b)| a == b).count()
    };
    let beginnings = all.iter().map(|&c| (shared(c), c));
    let most = beginnings
        .filter(|&(n, c)| n >= 4 && 2 * n >= length.max(c.chars().count()))
        .max_by_key(|&(n, c)| (n, std::cmp::Reverse(c)));
    most.map(|(_, c)| c).into_iter().collect()
}

/// The first candidate that [`near`] finds.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    near(word, candidates).first().copied()
}

/// The candidates that [`near`] finds, in backticks and on one line. An override can create fields
/// with arbitrary names.
pub(crate) fn meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let clean_name = |n: &str| format!("`{}`", n.chars().map(clean).collect::<String>());
    let names: Vec<String> = near(word, candidates).into_iter().map(clean_name).collect();
    let (last, others) = names.split_last()?;
    Some(match others {
        [] => last.clone(),
        _ => format!("{} or {last}", others.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_recognised() {
        let names = ["buffer", "drop", "rest_of_frame"];
        assert_eq!(nearest("bufer", names), Some("buffer"));
        assert_eq!(nearest("Buffer", names), Some("buffer"));
        assert_eq!(nearest("dorp", names), Some("drop"));
        assert_eq!(nearest("threshold", names), None);
        assert_eq!(nearest("x", ["r", "z"]), None);
        assert_eq!(nearest("ab", ["ad", "ac"]), Some("ac"));
    }

    #[test]
    fn a_part_of_names_suggests_all_of_them() {
        let names = ["tail-drop", "packet-red", "epd", "atm-red", "cell-red"];
        let all = Some("`atm-red`, `cell-red` or `packet-red`".to_string());
        assert_eq!(meant("red", names), all);
        assert_eq!(meant("redd", names), all);
        assert_eq!(meant("Rde", names), all);
        assert_eq!(meant("re", ["atm-rd"]), None);
        assert_eq!(nearest("comparison", ["table", "compare"]), Some("compare"));
        assert_eq!(nearest("compete", ["table", "compound-rate-of-all"]), None);
    }

    #[test]
    fn what_was_meant_has_no_control_characters() {
        let names = ["link", "switch\u{11}"];
        assert_eq!(meant("switch", names), Some("`switch `".to_string()));
    }

    #[test]
    fn long_values_are_shortened_to_one_line() {
        let text = format!("a\n{}z", "b".repeat(40_000));
        let short = shorten(&text);
        assert_eq!(short.chars().count(), LONGEST);
        assert!(short.starts_with("a bbb") && short.ends_with("bz"));
        assert_eq!(shorten("5 us"), "5 us");
    }
}
