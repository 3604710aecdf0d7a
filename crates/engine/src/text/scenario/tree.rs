//! A scenario as written: a tree of values with their places in the text.

use super::problem::Place;
use crate::text::notation::words::shorten;

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Position of its beginning in the text.
    pub place: Place,
}

/// A value as written.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// A number with a point or an exponent, as written.
    Decimal(String),
    /// A truth value.
    Bool(bool),
    /// A list.
    List(Vec<Node>),
    /// A table, its keys in the order of the text.
    Table(Vec<Field>),
    /// Anything that a scenario cannot use: dates, null.
    Other(String),
}

/// A key of a table with its value.
#[derive(Clone, Debug)]
pub struct Field {
    /// The key.
    pub name: String,
    /// Where the key begins.
    pub place: Place,
    /// The value of the key.
    pub node: Node,
}

impl Node {
    /// The value as TOML would write it, shortened to about 60 characters.
    pub(crate) fn show(&self) -> String {
        let mut text = String::new();
        self.show_into(&mut text);
        shorten(&text)
    }

    fn show_into(&self, out: &mut String) {
        // Enough for the shortened text. This bounds the work for long or deep values.
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

    /// Name of the kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Decimal(_) => "a decimal",
            Value::Bool(_) => "a boolean",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(_) => "a date, a time or null",
        }
    }

    /// The field `name` of a table.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(fields) => fields.iter().find(|f| f.name == name).map(|f| &f.node),
            _ => None,
        }
    }

    /// The field `name` of a table, for changes.
    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(fields) => {
                let mut fields = fields.iter_mut();
                fields.find(|f| f.name == name).map(|f| &mut f.node)
            }
            _ => None,
        }
    }

    /// The elements of a list; empty for any other value.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if the value is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(t) => Some(t),
            _ => None,
        }
    }

    /// The node at `path` (`switch[0].ubr.buffer`), or the innermost existing one around it. The
    /// flag says whether the path was found in full.
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

/// Converts JSON values. Nulls in tables count as left out.
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
