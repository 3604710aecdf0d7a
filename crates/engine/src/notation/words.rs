//! Names and values in sentences: listed, shortened, and what was probably meant.

use strsim::osa_distance;

/// Names with commas between.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Longest value or name in a message, in characters.
const LONGEST: usize = 60;

/// A character as messages have it: on one line.
fn clean(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// `text` on one line and cut to some 60 characters, the middle left out.
pub(crate) fn shorten(text: &str) -> String {
    let head: String = text.chars().take(LONGEST + 1).map(clean).collect();
    if head.chars().count() <= LONGEST {
        return head;
    }
    let tail: Vec<char> = text.chars().rev().take(15).map(clean).collect();
    let head: String = head.chars().take(LONGEST - 18).collect();
    format!("{head}...{}", tail.iter().rev().collect::<String>())
}

/// The candidate that `word` is most probably a misspelling of, upper and lower case alike; the first in the alphabet of
/// equally near ones. `None` when none is near, by edits and swaps of neighbours: a third of the longer word, at least one.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > 64 {
        return None;
    }
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (osa_distance(&lower, &c.to_lowercase()), c))
        .filter(|&(d, c)| d <= (length.max(c.chars().count()) / 3).max(1) && d < length)
        .min()
        .map(|(_, c)| c)
}

/// What [`nearest`] finds, in backticks and on one line: an override can have made a field of any name.
pub(crate) fn meant<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|n| format!("`{}`", n.chars().map(clean).collect::<String>()))
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
