//! Parses TOML text into a tree of values.

use super::problem::{Place, Problem};
use super::tree::{Field, Node, Value};
use crate::text::notation::words::shorten;
use toml::de::{DeTable, DeValue, Error};

/// Number of bytes between two counts of [`Lines`].
const STEP: usize = 256;

/// Index that turns byte offsets into places. Holds the line starts of a text and the number of
/// characters before each [`STEP`]th byte.
///
/// Each lookup reads at most [`STEP`] bytes, however long the line is.
struct Lines<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
    counts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        let ends = text.match_indices('\n').map(|(i, _)| i + 1);
        let text = text.as_bytes();
        let mut counts = vec![0];
        for chunk in text.chunks(STEP) {
            counts.push(counts[counts.len() - 1] + characters(chunk));
        }
        Lines {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
            counts,
        }
    }

    /// Number of characters that begin before `offset`.
    fn before(&self, offset: usize) -> usize {
        self.counts[offset / STEP] + characters(self.rest(offset))
    }

    /// The bytes between the last count and `offset`.
    fn rest(&self, offset: usize) -> &'a [u8] {
        &self.text[offset / STEP * STEP..offset]
    }

    fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&s| s <= offset);
        let start = self.starts[line - 1];
        Place {
            line: line as u32,
            column: (self.before(offset) - self.before(start)) as u32 + 1,
            from_override: false,
        }
    }
}

/// Number of characters that begin in `bytes` of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    let begins = |&&byte: &&u8| byte & 0b1100_0000 != 0b1000_0000;
    bytes.iter().filter(begins).count()
}

/// Limit on the syntax errors reported for a text. Later ones often only follow from the first.
const MOST_SYNTAX_ERRORS: usize = 5;

/// Number of bytes after the first syntax error that are searched for more.
const SEARCHED: usize = 64 * 1024;

/// Limit on the tables in a text. Each takes about 1 kB while the text is read.
const MOST_TABLES: usize = 500_000;

/// Offset of the first table beyond the limit. Braces in texts and comments count as tables; no
/// scenario that can run has enough of them to matter.
fn one_table_too_many(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins = |&(i, &byte): &(usize, &u8)| {
        byte == b'{' || byte == b'[' && (i == 0 || bytes[i - 1] == b'\n')
    };
    let mut tables = bytes.iter().enumerate().filter(begins);
    tables.nth(MOST_TABLES).map(|(i, _)| i)
}

/// Parses TOML text, which `file` names in problems. Returns the first few syntax errors if it
/// fails.
pub fn from_toml(text: &str, file: &str) -> Result<Node, Vec<Problem>> {
    let lines = Lines::new(text);
    if let Some(offset) = one_table_too_many(text) {
        let place = lines.place(offset);
        return Err(vec![Problem {
            file: file.to_string(),
            line: place.line as usize,
            column: place.column as usize,
            path: String::new(),
            value: String::new(),
            message: "too many tables".into(),
            allowed: format!("at most {MOST_TABLES}; use `count` for identical components"),
            suggestion: None,
            excerpt: String::new(),
        }]);
    }
    match DeTable::parse(text) {
        Ok(table) => Ok(Node {
            value: table_from(table.into_inner(), &lines),
            place: lines.place(0),
        }),
        Err(first) => Err(syntax_errors(text, file, &lines, first)),
    }
}

/// The first errors of a text, including `first`. The parser keeps all errors it finds, so it gets
/// only the part that is searched.
fn syntax_errors(text: &str, file: &str, lines: &Lines<'_>, first: Error) -> Vec<Problem> {
    let searched = first.span().map_or(0, |s| s.start) + SEARCHED;
    let line = lines.starts.partition_point(|&s| s <= searched);
    let end = lines.starts.get(line).copied().unwrap_or(text.len());
    let mut errors = DeTable::parse_recoverable(&text[..end]).1;
    if end < text.len() {
        // Drop errors about constructs left open where the text was cut.
        let last = lines.starts[line - 1];
        errors.retain(|e| e.span().is_some_and(|s| s.end < last));
    }
    errors.push(first);
    errors.sort_by_key(|e| e.span().map_or(0, |s| s.start));
    let mut problems: Vec<Problem> = Vec::new();
    for error in &errors {
        let place = lines.place(error.span().map_or(0, |s| s.start));
        if problems
            .last()
            .is_some_and(|p| p.line == place.line as usize)
        {
            continue;
        }
        if problems.len() == MOST_SYNTAX_ERRORS {
            break;
        }
        let message = sentence(&shorten(error.message()));
        problems.push(Problem {
            file: file.to_string(),
            line: place.line as usize,
            column: place.column as usize,
            path: String::new(),
            value: String::new(),
            message: format!("not TOML: {message}{}", repeated(text, error)),
            allowed: String::new(),
            suggestion: None,
            excerpt: String::new(),
        });
    }
    problems
}

/// The parser's message as one clause, with what it expected as alternatives.
fn sentence(message: &str) -> String {
    match message.split_once(", expected ") {
        Some(("string values must be quoted", _)) => "a text must be in quotes".into(),
        Some((what, "nothing")) => what.into(),
        Some((what, expected)) => {
            let alternatives: Vec<_> = expected.split(", ").collect();
            format!("{what}; expected {}", alternatives.join(" or "))
        }
        None => message.into(),
    }
}

/// The key that the text repeats, if that is the error.
fn repeated(text: &str, error: &Error) -> String {
    let key = error.span().and_then(|span| text.get(span));
    match (error.message(), key) {
        ("duplicate key", Some(key)) => format!(" `{}`", shorten(key)),
        _ => String::new(),
    }
}

fn table_from(table: DeTable<'_>, lines: &Lines<'_>) -> Value {
    let mut fields: Vec<Field> = table
        .into_iter()
        .map(|(key, value)| Field {
            place: lines.place(key.span().start),
            name: key.into_inner().into_owned(),
            node: node_from(value.span().start, value.into_inner(), lines),
        })
        .collect();
    fields.sort_by_key(|f| (f.place.line, f.place.column));
    Value::Table(fields)
}

fn node_from(offset: usize, value: DeValue<'_>, lines: &Lines<'_>) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(i) => i128::from_str_radix(i.as_str(), i.radix())
            .map_or_else(|_| Value::Decimal(i.as_str().to_string()), Value::Integer),
        DeValue::Float(x) => Value::Decimal(x.as_str().to_string()),
        DeValue::Boolean(b) => Value::Bool(b),
        DeValue::Datetime(d) => Value::Other(d.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| node_from(item.span().start, item.into_inner(), lines))
                .collect(),
        ),
        DeValue::Table(table) => table_from(table, lines),
    };
    Node {
        value,
        place: lines.place(offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_count_the_characters_of_their_line(
            words in proptest::collection::vec("[a\u{e9}\u{20ac}\u{1f600} ]{0,90}|\n", 0..12)
        ) {
            let text = words.concat();
            let lines = Lines::new(&text);
            let ends = [text.len(), text.len() + 1];
            for offset in text.char_indices().map(|(i, _)| i).chain(ends) {
                let before = &text[..offset.min(text.len())];
                let line = before.rsplit('\n').next().unwrap_or_default();
                let place = lines.place(offset);
                prop_assert_eq!(place.line as usize, before.matches('\n').count() + 1);
                prop_assert_eq!(place.column as usize, line.chars().count() + 1);
            }
        }
    }

    #[test]
    fn a_place_costs_the_same_however_long_its_line_is() {
        for length in [1_000, 1_000_000] {
            let text = "\u{e9}".repeat(length);
            let lines = Lines::new(&text);
            let looked_at = (0..text.len()).map(|offset| lines.rest(offset).len());
            assert!(looked_at.max() < Some(STEP));
        }
    }

    #[test]
    fn a_text_of_very_many_tables_is_refused_before_it_is_read() {
        for table in ["[[vc]]\nx=1\n", "{x=1},\n"] {
            let text = table.repeat(MOST_TABLES);
            assert_eq!(one_table_too_many(&text), None);
            let found = from_toml(&(text.clone() + table), "").expect_err("too many");
            let line = text.matches('\n').count() + 1;
            assert_eq!((found.len(), found[0].line), (1, line));
            assert_eq!(found[0].message, "too many tables");
        }
    }

    #[test]
    fn errors_of_a_text_without_end_are_sought_in_its_beginning() {
        let text = format!("a = 1\n{}", "= \n".repeat(1_000_000));
        let lines = Lines::new(&text);
        let first = DeTable::parse(&text).expect_err("it is not TOML");
        let found = syntax_errors(&text, "", &lines, first);
        let at: Vec<usize> = found.iter().map(|p| p.line).collect();
        assert_eq!(at, [2, 3, 4, 5, 6]);
        // Constructs left open where the search ends are not errors.
        for [opens, goes_on, closes] in [["[\n", "1,\n", "]"], ["\"\"\"\n", "text\n", "\"\"\""]] {
            let text = format!("a = = 1\nb = {opens}{}{closes}\n", goes_on.repeat(100_000));
            let found = from_toml(&text, "").expect_err("it is not TOML");
            assert_eq!(found.iter().map(|p| p.line).collect::<Vec<_>>(), [1]);
        }
    }
}
