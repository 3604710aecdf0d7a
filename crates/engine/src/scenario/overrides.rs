//! Values given beside a scenario file: `switch.west.ubr.buffer` = `2000 cells`.
//!
//! A path leads through fields and, in lists, through positions from 0, names (a group's name for its entry),
//! `*` for all, or directly to a field of all elements (`vc.traffic.mss`). A value is TOML; what is not TOML is a text. The
//! bare word `default` takes the field away, so that it has its default again.

use super::notation::list;
use super::problem::{Problem, nearest, shorten};
use super::tree::{Field, Node, Place, Value, from_toml};
use crate::registry::Family;

const PLACE: Place = Place {
    line: 0,
    column: 0,
    from_override: true,
};

/// What a value is set to that shall not be set any more.
const DEFAULT: &str = "default";

/// Sets the value at `path` of the scenario `root`, or takes it away when `text` is [`DEFAULT`].
pub(crate) fn apply(root: &mut Node, path: &str, text: &str) -> Result<(), Box<Problem>> {
    let steps: Vec<&str> = path.split('.').collect();
    let problem = |message: String, allowed: String, suggestion: Option<String>| {
        Box::new(Problem {
            file: "override".into(),
            line: 0,
            column: 0,
            path: shorten(path),
            value: shorten(text),
            message,
            allowed,
            suggestion,
        })
    };
    if steps.iter().any(|s| s.is_empty()) || steps.len() > 12 {
        let allowed = "fields, positions and names with dots between: switch.west.ubr.buffer";
        return Err(problem("is no path".into(), allowed.into(), None));
    }
    let value = (text.trim() != DEFAULT).then(|| parse(text));
    set(root, "", &steps, value.as_ref()).map_err(|lost| {
        let allowed = list(lost.candidates.iter().map(|c| c.as_str()));
        let candidates = lost.candidates.iter().map(|c| c.as_str());
        let suggestion = nearest(&lost.step, candidates).map(|n| format!("`{n}`"));
        problem(lost.message, shorten(&allowed), suggestion)
    })
}

/// Where a path leads nowhere.
struct Lost {
    step: String,
    message: String,
    candidates: Vec<String>,
}

fn parse(text: &str) -> Node {
    let parsed = (!text.contains(['\n', '\r']))
        .then(|| from_toml(&format!("x = {text}"), "").ok())
        .flatten();
    let mut node = match parsed {
        Some(Node {
            value: Value::Table(mut fields),
            ..
        }) if fields.len() == 1 => fields.remove(0).node,
        _ => Node {
            value: Value::Text(text.to_string()),
            place: PLACE,
        },
    };
    mark(&mut node);
    node
}

fn mark(node: &mut Node) {
    node.place = PLACE;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(mark),
        Value::Table(fields) => fields.iter_mut().for_each(|f| {
            f.place = PLACE;
            mark(&mut f.node);
        }),
        _ => {}
    }
}

/// The family of the components that a field holds.
fn family(field: &str) -> Option<Family> {
    match field {
        "cbr" | "vbr" | "abr" | "gfr" | "ubr" => Some(Family::Queue),
        _ => Family::ALL.into_iter().find(|f| f.name() == field),
    }
}

/// Sets the value at `steps` of `node`, which is the value of `field`; without a value the last step's field is removed.
fn set(node: &mut Node, field: &str, steps: &[&str], value: Option<&Node>) -> Result<(), Lost> {
    let Some((&step, rest)) = steps.split_first() else {
        let Some(value) = value else {
            return Err(Lost {
                step: field.into(),
                message: "is an element of a list and has no default".into(),
                candidates: Vec::new(),
            });
        };
        *node = value.clone();
        return Ok(());
    };
    let tag = family(field).and_then(Family::tag);
    if let (Value::Text(name), Some(tag)) = (&node.value, tag) {
        // A component given by its name alone becomes a table.
        let name = Node {
            value: Value::Text(name.clone()),
            place: node.place,
        };
        node.value = Value::Table(vec![Field {
            name: tag.into(),
            place: node.place,
            node: name,
        }]);
    }
    match &mut node.value {
        Value::Table(fields) => {
            let at = fields.iter().position(|f| f.name == step);
            let at = match at {
                Some(at) if rest.is_empty() && value.is_none() => {
                    fields.remove(at);
                    return Ok(());
                }
                None if value.is_none() => return absent(field, step),
                Some(at) => at,
                None if field.is_empty() && is_list(step) && !rest.is_empty() => {
                    return Err(Lost {
                        step: step.into(),
                        message: format!("the scenario has no {step}"),
                        candidates: fields.iter().map(|f| f.name.clone()).collect(),
                    });
                }
                None => {
                    fields.push(Field {
                        name: step.into(),
                        place: PLACE,
                        node: Node {
                            value: Value::Table(Vec::new()),
                            place: PLACE,
                        },
                    });
                    fields.len() - 1
                }
            };
            set(&mut fields[at].node, step, rest, value)
        }
        Value::List(items) => {
            let chosen = elements(items, field, step);
            if !chosen.is_empty() {
                return chosen
                    .into_iter()
                    .try_for_each(|i| set(&mut items[i], field, rest, value));
            }
            let known = family(field).map_or(&[][..], Family::components);
            if known.iter().any(|c| c.parameter(step).is_some()) {
                return items
                    .iter_mut()
                    .try_for_each(|item| set(item, field, steps, value));
            }
            let group = items
                .iter()
                .find_map(|item| label(item, field).filter(|group| is_member(step, group)));
            Err(Lost {
                step: step.into(),
                message: match group {
                    Some(group) => format!(
                        "`{step}` is one of the group `{group}`, whose members are all alike"
                    ),
                    None => format!("no {field} is called `{}`", shorten(step)),
                },
                candidates: positions(items.len())
                    .into_iter()
                    .chain(items.iter().filter_map(|item| label(item, field)))
                    .collect(),
            })
        }
        _ => Err(Lost {
            step: step.into(),
            message: format!(
                "`{field}` is {} and has no field `{}`",
                node.kind(),
                shorten(step)
            ),
            candidates: Vec::new(),
        }),
    }
}

/// A field without a value has its default already, if there is such a field.
fn absent(field: &str, step: &str) -> Result<(), Lost> {
    let family = if field.is_empty() {
        Some(Family::Scenario)
    } else {
        family(field)
    };
    let components = family.map_or(&[][..], Family::components);
    let mut candidates: Vec<String> = Vec::new();
    for parameter in components.iter().flat_map(|c| c.parameters) {
        if parameter.name == step {
            return Ok(());
        }
        if !candidates.iter().any(|c| c == parameter.name) {
            candidates.push(parameter.name.into());
        }
    }
    Err(Lost {
        step: step.into(),
        message: "is an unknown field".into(),
        candidates,
    })
}

/// How positions of a list of `n` are written.
fn positions(n: usize) -> Option<String> {
    match n {
        0 => None,
        1 => Some("0".into()),
        n => Some(format!("0 to {}", n - 1)),
    }
}

fn is_list(field: &str) -> bool {
    matches!(field, "host" | "switch" | "link" | "vc" | "probe")
}

/// The elements of a list that `step` means.
fn elements(items: &[Node], field: &str, step: &str) -> Vec<usize> {
    if step == "*" {
        return (0..items.len()).collect();
    }
    if let Ok(index) = step.parse::<usize>() {
        return (index < items.len()).then_some(index).into_iter().collect();
    }
    let matches = |item: &Node| label(item, field).as_deref() == Some(step);
    (0..items.len()).filter(|&i| matches(&items[i])).collect()
}

/// Whether `name` is that of a numbered member of `group`.
fn is_member(name: &str, group: &str) -> bool {
    let number = name.strip_prefix(group);
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// What an element of a list goes by: its name, or the default name of a link.
fn label(item: &Node, field: &str) -> Option<String> {
    let text = |name: &str| item.get(name).and_then(Node::text);
    match (text("name"), field) {
        (Some(name), _) => Some(name.to_string()),
        (None, "link") => Some(format!("{}->{}", text("from")?, text("to")?)),
        _ => None,
    }
}
