//! Collects the problems of a scenario as they are found.

use super::problem::{Place, Problem};
use super::tree::{Node, Value};
use crate::ground::format::Format;
use crate::text::notation::words::{meant, shorten};
use crate::text::program::parse::Mistake;
use crate::text::program::{Shown, show};
use crate::text::registry::Default;
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};

/// Problems found so far in the scenario with root `root`.
#[derive(Debug)]
pub(crate) struct Report<'t> {
    file: String,
    root: &'t Node,
    /// Format of the scenario, by which quantities are read and shown.
    pub format: Format,
    problems: Vec<Problem>,
    /// Number of problems found but not kept.
    more: usize,
    /// Paths of problems that are reported only once, with what was allowed.
    once: HashSet<(String, String)>,
    /// Defaults already read. Thousands of entries may leave out the same field.
    pub defaults: HashMap<*const Default, Json>,
}

/// Merges the problems of one override that reaches several elements of a list.
fn once_per_override(found: Vec<Problem>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::with_capacity(found.len());
    let mut seen = HashMap::new();
    for next in found {
        if next.file == OVERRIDE {
            let path = any_position(&next.path);
            let said = (path.clone(), next.value.clone(), next.message.clone());
            if let Some(&first) = seen.get(&said) {
                let first: &mut Problem = &mut problems[first];
                first.path = path;
                continue;
            }
            seen.insert(said, problems.len());
        }
        problems.push(next);
    }
    problems
}

/// The path with `[*]` for every position in a list.
fn any_position(path: &str) -> String {
    let mut steps = path.split('[');
    let first = steps.next().unwrap_or_default().to_string();
    steps.fold(first, |made, step| {
        let rest = step.split_once(']').map_or("", |(_, rest)| rest);
        format!("{made}[*]{rest}")
    })
}

/// Name of the source of values set outside a scenario file, for messages.
const OVERRIDE: &str = "override";

/// Number of problems reported one by one, in the order of the text. Suggestions for misspelt names
/// stop at this number too, since each compares all names.
const MOST_TOLD: usize = 50;

/// Number of problems kept at a time. Beyond it, those later in the text are only counted.
const MOST_KEPT: usize = 1000;

impl<'t> Report<'t> {
    pub(crate) fn new(file: &str, root: &'t Node, problems: Vec<Problem>) -> Report<'t> {
        Report {
            file: file.to_string(),
            root,
            format: Format::AAL5,
            problems,
            more: 0,
            once: HashSet::new(),
            defaults: HashMap::new(),
        }
    }

    /// Adds a problem that group members or several places may share. Does nothing if the path
    /// already has a problem with the same `allowed`.
    pub(crate) fn add_once(&mut self, path: &str, message: String, allowed: String) {
        if self.once.insert((path.to_string(), allowed.clone())) {
            self.add(path, message, allowed, None);
        }
    }

    /// Whether the text or an override gives the field at `path`.
    pub(crate) fn is_written(&self, path: &str) -> bool {
        let (_, exact) = self.root.nearest(path);
        exact
    }

    /// The text that is written at `path`, if one is.
    pub(crate) fn text_at(&self, path: &str) -> Option<&str> {
        match self.root.nearest(path) {
            (node, true) => node.text(),
            _ => None,
        }
    }

    /// Adds a problem of the field at `path`. A field that is not written is placed at the nearest
    /// one around it.
    pub(crate) fn add(
        &mut self,
        path: &str,
        message: impl Into<String>,
        allowed: impl Into<String>,
        suggestion: Option<String>,
    ) {
        let (node, exact) = self.root.nearest(path);
        // The path is enough to show a whole table.
        let shown = match node.value {
            Value::Table(_) => String::new(),
            _ if exact => node.show(),
            _ => String::new(),
        };
        let place = node.place;
        self.add_at(place, path, shown, message, allowed, suggestion);
    }

    /// Adds a problem of a field whose place and value are known.
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
                OVERRIDE.into()
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
            excerpt: String::new(),
        });
        if self.problems.len() >= 2 * MOST_KEPT {
            self.keep(MOST_KEPT);
        }
    }

    /// Adds a mistake in the program at `path`, whose text is `text`.
    pub(crate) fn add_mistake(&mut self, path: &str, text: &str, mistake: Mistake) {
        let Shown {
            line,
            column,
            excerpt,
        } = show(text, mistake.at);
        let place = if text.contains('\n') {
            format!("line {line}, column {column}")
        } else {
            format!("column {column}")
        };
        let message = format!("{} ({place})", mistake.message);
        let (node, _) = self.root.nearest(path);
        self.add_at(
            node.place,
            path,
            String::new(),
            message,
            "",
            mistake.suggestion,
        );
        if let Some(added) = self.problems.last_mut() {
            added.excerpt = excerpt;
        }
    }

    /// Keeps the first `most` distinct problems in the order of the text and counts the rest.
    fn keep(&mut self, most: usize) {
        self.problems.sort_by_key(|p| (p.line, p.column));
        self.problems.dedup();
        self.problems = once_per_override(std::mem::take(&mut self.problems));
        self.more += self.problems.len().saturating_sub(most);
        self.problems.truncate(most);
    }

    /// The candidate nearest to `name`, in backticks. `None` once there are very many problems.
    pub(crate) fn suggest<'a>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        (self.problems.len() < MOST_TOLD)
            .then(|| meant(name, candidates))
            .flatten()
    }

    /// Number of problems kept so far.
    pub(crate) fn count(&self) -> usize {
        self.problems.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// The first distinct problems in the order of the text. A last one counts the rest.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.keep(MOST_TOLD);
        if self.more > 0 {
            self.problems.push(Problem {
                file: self.file,
                line: 0,
                column: 0,
                path: String::new(),
                value: String::new(),
                message: format!("and {} more", self.more),
                allowed: String::new(),
                suggestion: None,
                excerpt: String::new(),
            });
        }
        self.problems
    }
}
