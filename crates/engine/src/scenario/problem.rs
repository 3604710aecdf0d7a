//! What is wrong with a scenario: every problem with its place, value, and what is allowed.

use super::tree::{Node, Place, Value};
use std::fmt;

/// One thing that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, or `override` for a value given beside it.
    pub file: String,
    /// Line, from 1; 0 when the text has no lines (overrides, Python values).
    pub line: usize,
    /// Column in characters, from 1; 0 likewise.
    pub column: usize,
    /// The field: `switch[0].ubr.drop.threshold`; empty for the file as a whole.
    pub path: String,
    /// Its value as given, shortened to some 60 characters; empty when it is missing.
    pub value: String,
    /// What is wrong.
    pub message: String,
    /// What is allowed; may be empty.
    pub allowed: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl fmt::Display for Problem {
    /// `scenario.toml:12:5: switch[0].ubr.buffer = "0 cells": must be at least 1 cell (allowed: ...)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, " {}", self.path)?;
            if !self.value.is_empty() {
                write!(f, " = {}", self.value)?;
            }
            write!(f, ":")?;
        }
        write!(f, " {}", self.message)?;
        if !self.allowed.is_empty() {
            write!(f, " (allowed: {})", self.allowed)?;
        }
        if let Some(suggestion) = &self.suggestion {
            write!(f, "; did you mean {suggestion}?")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Longest value or name in a message, in characters.
const LONGEST: usize = 60;

/// `text` on one line and cut to some 60 characters, the middle left out.
pub(crate) fn shorten(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let head: String = text.chars().take(LONGEST + 1).map(clean).collect();
    if head.chars().count() <= LONGEST {
        return head;
    }
    let tail: Vec<char> = text.chars().rev().take(15).map(clean).collect();
    let head: String = head.chars().take(LONGEST - 18).collect();
    format!("{head}...{}", tail.iter().rev().collect::<String>())
}

/// The candidate that `name` is most probably a misspelling of; the first in the alphabet of equally near ones.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > 64 {
        return None;
    }
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (distance(&lower, &c.to_lowercase()), c))
        .filter(|&(d, c)| d <= (length.max(c.chars().count()) / 3).max(1) && d < length)
        .min()
        .map(|(_, c)| c)
}

/// Edit distance with transpositions of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = a[i - 1] == b[j - 1];
            row[j] = (last[j - 1] + usize::from(!same))
                .min(last[j] + 1)
                .min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Problems found so far in the scenario with root `root`.
#[derive(Debug)]
pub(crate) struct Report<'t> {
    file: String,
    root: &'t Node,
    problems: Vec<Problem>,
}

/// Problems up to which misspelt names are compared with all others.
const MOST_SUGGESTIONS: usize = 50;

impl<'t> Report<'t> {
    pub(crate) fn new(file: &str, root: &'t Node, problems: Vec<Problem>) -> Report<'t> {
        Report {
            file: file.to_string(),
            root,
            problems,
        }
    }

    /// Something wrong with the field at `path`. A field that is not written is placed at the nearest one around it.
    pub(crate) fn add(
        &mut self,
        path: &str,
        message: impl Into<String>,
        allowed: impl Into<String>,
        suggestion: Option<String>,
    ) {
        let (node, exact) = self.root.nearest(path);
        // A table as a whole is told by its path.
        let shown = match node.value {
            Value::Table(_) => String::new(),
            _ if exact => node.show(),
            _ => String::new(),
        };
        let place = node.place;
        self.add_at(place, path, shown, message, allowed, suggestion);
    }

    /// Something wrong with a field whose place and value are known.
    pub(crate) fn add_at(
        &mut self,
        place: Place,
        path: &str,
        value: String,
        message: impl Into<String>,
        allowed: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.problems.push(Problem {
            file: if place.from_override {
                "override".into()
            } else {
                self.file.clone()
            },
            line: place.line as usize,
            column: place.column as usize,
            path: shorten(path),
            value,
            message: message.into(),
            allowed: allowed.into(),
            suggestion,
        });
    }

    /// The candidate nearest to `name`, in backticks; none once there are very many problems.
    pub(crate) fn suggest<'a>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        (self.problems.len() < MOST_SUGGESTIONS)
            .then(|| nearest(name, candidates))
            .flatten()
            .map(|n| format!("`{n}`"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// All problems in the order of the text, each once.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|p| (p.line, p.column));
        self.problems.dedup();
        self.problems
    }
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
    }

    #[test]
    fn distance_counts_edits_and_swaps() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
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
