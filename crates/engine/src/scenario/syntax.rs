//! TOML text to a tree of values.

use super::problem::{Place, Problem};
use super::tree::{Field, Node, Value};
use crate::notation::words::shorten;
use toml::de::{DeTable, DeValue};

/// Line starts of a text, to turn offsets into places.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        let ends = text.match_indices('\n').map(|(i, _)| i + 1);
        Lines {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|&s| s <= offset);
        let start = self.starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or("");
        Place {
            line: line as u32,
            column: before.chars().count() as u32 + 1,
            from_override: false,
        }
    }
}

/// Syntax errors reported of one text; what follows the first ones is often their echo.
const MOST_SYNTAX_ERRORS: usize = 5;

/// Parses TOML text.
pub(crate) fn from_toml(text: &str, file: &str) -> Result<Node, Vec<Problem>> {
    let lines = Lines::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(Node {
            value: table_from(table.into_inner(), &lines),
            place: lines.place(0),
        });
    }
    let mut problems: Vec<Problem> = errors
        .iter()
        .map(|e| {
            let place = lines.place(e.span().map_or(0, |s| s.start));
            Problem {
                file: file.to_string(),
                line: place.line as usize,
                column: place.column as usize,
                path: String::new(),
                value: String::new(),
                message: format!("not TOML: {}{}", shorten(e.message()), repeated(text, e)),
                allowed: String::new(),
                suggestion: None,
            }
        })
        .collect();
    problems.sort_by_key(|p| (p.line, p.column));
    problems.dedup_by_key(|p| p.line);
    problems.truncate(MOST_SYNTAX_ERRORS);
    Err(problems)
}

/// The key, if the error is that it was there before.
fn repeated(text: &str, error: &toml::de::Error) -> String {
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
