//! A scenario as written: values with their places in the text, from TOML or from JSON.

use super::problem::{Problem, shorten};
use toml::de::{DeTable, DeValue};

/// Where a value stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    /// From 1; 0 when there is no text.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// Whether it was given beside the text.
    pub from_override: bool,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub place: Place,
}

/// A value as written.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    /// A number with a point or an exponent, as written.
    Decimal(String),
    Bool(bool),
    List(Vec<Node>),
    Table(Vec<Field>),
    /// Anything a scenario has no use for: dates, null.
    Other(String),
}

/// A key of a table with its value.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    pub place: Place,
    pub node: Node,
}

impl Node {
    /// The value as it would be written, shortened to some 60 characters.
    pub(crate) fn show(&self) -> String {
        let mut text = String::new();
        self.show_into(&mut text);
        shorten(&text)
    }

    fn show_into(&self, out: &mut String) {
        // Enough for a shortened value, however long or deep the whole is.
        if out.len() > 400 {
            return;
        }
        match &self.value {
            Value::Text(t) => *out += &format!("\"{t}\""),
            Value::Integer(i) => *out += &i.to_string(),
            Value::Decimal(d) | Value::Other(d) => *out += d,
            Value::Bool(b) => *out += &b.to_string(),
            Value::List(items) => {
                *out += "[";
                for (i, item) in items.iter().take(200).enumerate() {
                    *out += if i > 0 { ", " } else { "" };
                    item.show_into(out);
                }
                *out += "]";
            }
            Value::Table(fields) => {
                *out += "{";
                for (i, field) in fields.iter().take(200).enumerate() {
                    *out += if i > 0 { ", " } else { "" };
                    *out += &format!("{} = ", field.name);
                    field.node.show_into(out);
                }
                *out += "}";
            }
        }
    }

    /// What kind of value it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "an integer",
            Value::Decimal(_) => "a decimal",
            Value::Bool(_) => "a truth value",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(_) => "neither text, number, truth value, list nor table",
        }
    }

    /// The field `name` of a table.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(fields) => fields.iter().find(|f| f.name == name).map(|f| &f.node),
            _ => None,
        }
    }

    /// The elements of a list; none of anything else.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(t) => Some(t),
            _ => None,
        }
    }

    /// The node at `path` (`switch[0].ubr.buffer`), or the innermost one around it that exists, and whether it is
    /// the very one.
    pub(crate) fn nearest(&self, path: &str) -> (&Node, bool) {
        let mut node = self;
        for step in path.split(['.', '[']).filter(|s| !s.is_empty()) {
            let next = match step.strip_suffix(']') {
                Some(index) => index.parse().ok().and_then(|i: usize| node.items().get(i)),
                None => node.get(step),
            };
            match next {
                Some(next) => node = next,
                None => return (node, false),
            }
        }
        (node, true)
    }
}

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
                message: format!("not TOML: {}", shorten(e.message())),
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

/// Takes over JSON values; nulls in tables count as left out.
pub(crate) fn from_json(json: &serde_json::Value) -> Node {
    use serde_json::Value as Json;
    let place = Place::default();
    let value = match json {
        Json::Null => Value::Other("null".into()),
        Json::Bool(b) => Value::Bool(*b),
        Json::String(s) => Value::Text(s.clone()),
        Json::Number(n) => match n.to_string() {
            text if text.contains(['.', 'e', 'E']) => Value::Decimal(text),
            text => text.parse().map_or(Value::Decimal(text), Value::Integer),
        },
        Json::Array(items) => Value::List(items.iter().map(from_json).collect()),
        Json::Object(map) => Value::Table(
            map.iter()
                .filter(|(_, v)| !v.is_null())
                .map(|(name, v)| Field {
                    name: name.clone(),
                    place,
                    node: from_json(v),
                })
                .collect(),
        ),
    };
    Node { value, place }
}
