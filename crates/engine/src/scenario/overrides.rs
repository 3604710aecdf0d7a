//! Values given beside a scenario file: `switch.west.ubr.buffer` = `2000 cells`.
//!
//! A path leads through fields and, in lists, through positions from 0, names (a group's name for its entry),
//! `*` for all, the name that results give to a thing (`vc1`), which sets that one alone, or directly to a field of all elements
//! (`vc.traffic.mss`). A value is TOML; what is not TOML is a text. The bare word `default` takes the field away, so that
//! it has its default again.

use super::alone::{Alone, BESIDE, OF_GROUP};
use super::members::{self, Maker, label};
use super::problem::Problem;
use super::syntax::from_toml;
use super::tree::{Field, Node, Value};
use crate::class::Class;
use crate::notation::words::{list, meant, shorten};
use crate::registry::{Family, Kind};

/// What a value is set to that shall not be set any more.
const DEFAULT: &str = "default";

/// Sets the value at `path` of the scenario `root`, or takes it away when `text` is [`DEFAULT`].
/// What it sets of one member of a group goes to `alone`.
pub(super) fn apply(
    root: &mut Node,
    alone: &mut Alone,
    path: &str,
    text: &str,
) -> Result<(), Box<Problem>> {
    let position;
    let mut member = None;
    let mut steps: Vec<&str> = path.split('.').collect();
    let problem = |message: String, allowed: String, suggestion: Option<String>| {
        Box::new(Problem {
            file: "override".into(),
            line: 0,
            column: 0,
            path: match path {
                "" => "\"\"".into(), // a place all the same
                _ => shorten(path),
            },
            value: shorten(text),
            message,
            allowed,
            suggestion,
        })
    };
    if steps.iter().any(|s| s.is_empty()) || steps.len() > 12 {
        let allowed = "fields, positions and names with dots between: switch.west.ubr.buffer";
        return Err(problem("is not a path".into(), allowed.into(), None));
    }
    match named(root, &steps) {
        Named::AsWritten => {}
        Named::Sole(at) => {
            position = at.to_string();
            steps[1] = &position;
        }
        Named::OneOf(list, maker) => {
            let own = steps.get(2).filter(|field| !OF_GROUP.contains(field));
            if own.is_none() {
                let (message, meant) = not_its_own(root, list, maker, &steps);
                let allowed = "its other fields: it is a member of a group, and has these of it";
                return Err(problem(message, allowed.into(), meant));
            }
            member = Some((list, maker));
        }
        Named::Back(there) => {
            let message = format!(
                "`{}` is the link back of `link.{there}`, whose rate and delay it has",
                shorten(steps[1])
            );
            let allowed = "the link there; or `duplex = false` there and an element of its own";
            return Err(problem(message, allowed.into(), None));
        }
        Named::In(field) => {
            let message = format!("is no field of a scenario, but the name of a {field}");
            let meant = format!("`{}`", shorten(&format!("{field}.{path}")));
            return Err(problem(message, String::new(), Some(meant)));
        }
    }
    let value = (text.trim() != DEFAULT).then(|| parse(text));
    let done = match member.and_then(|(list, maker)| alone.values(root, list, maker, steps[1])) {
        Some(values) => set(values, steps[0], &steps[2..], value.as_ref()),
        None => set_all(root, alone, &steps, value.as_ref()),
    };
    done.map_err(|lost| {
        let mut candidates = lost.candidates;
        if !lost.fields.is_empty() {
            candidates.extend(members::numbered_names(root, steps[0]));
            candidates.push("*".into());
        }
        let candidates = candidates.iter().map(|c| c.as_str());
        let allowed = list(candidates.clone());
        let suggestion = meant(&lost.step, candidates.chain(lost.fields));
        problem(lost.message, shorten(&allowed), suggestion)
    })
}

/// What the names that results give to things mean in a path.
enum Named {
    /// Nothing more than is written.
    AsWritten,
    /// The one thing that the element at this position makes.
    Sole(usize),
    /// One of several that an element of this list makes.
    OneOf(&'static str, Maker),
    /// The link back of what is called so.
    Back(String),
    /// An element of this list, which is not named.
    In(&'static str),
}

/// The position of the link of which `name`, `b->a` or with `-back`, is the link back.
fn back_of(root: &Node, field: &str, name: &str) -> Option<usize> {
    let there = match (name.strip_suffix("-back"), name.split_once("->")) {
        (Some(there), _) => there.to_string(),
        (None, Some((a, b))) => format!("{b}->{a}"),
        (None, None) => return None,
    };
    let items = root.get(field).filter(|_| field == "link")?.items();
    let group = elements(items, field, &there).first().copied();
    group.or_else(|| members::maker(root, field, &there).map(|maker| maker.at))
}

fn named(root: &Node, steps: &[&str]) -> Named {
    let scenario = &Family::Scenario.components()[0];
    if scenario.parameter(steps[0]).is_none() {
        return members::list_with(root, steps[0]).map_or(Named::AsWritten, Named::In);
    }
    let (&[field, name, ..], Some(list)) = (steps, root.get(steps[0])) else {
        return Named::AsWritten;
    };
    let known = family(field).map_or(&[][..], Family::components);
    let is_field = known.iter().any(|c| c.parameter(name).is_some());
    if is_field || !elements(list.items(), field, name).is_empty() {
        return Named::AsWritten;
    }
    let maker = members::maker(root, field, name).zip(members::list_of(field));
    match maker {
        None => match back_of(root, field, name) {
            Some(at) => {
                let there = label(&list.items()[at], field);
                Named::Back(there.unwrap_or_else(|| at.to_string()))
            }
            None => Named::AsWritten,
        },
        Some((maker, _)) if maker.makes == 1 => Named::Sole(maker.at),
        Some((maker, list)) => Named::OneOf(list, maker),
    }
}

/// Says that a path leads to a member of a group as a whole, or to a field that it has of its group; and what sets that.
fn not_its_own(root: &Node, list: &str, maker: Maker, steps: &[&str]) -> (String, Option<String>) {
    let items = root.get(list).map_or(&[][..], Node::items);
    let group = items.get(maker.at).and_then(|item| label(item, list));
    let group = format!("{list}.{}", group.unwrap_or_else(|| maker.at.to_string()));
    let name = shorten(steps[1]);
    let makes = format!("`{name}` is one of {} that `{group}` makes", maker.makes);
    let rest = steps[2..].iter().map(|step| format!(".{step}"));
    let all = format!("`{}`", shorten(&(group + &rest.collect::<String>())));
    match steps.get(2) {
        Some(field) => (format!("{makes}, which have one `{field}`"), Some(all)),
        None => (format!("{makes}, and no element"), None),
    }
}

/// Sets the value in what is written, and in the members that were set alone before, where it is theirs too.
fn set_all(
    root: &mut Node,
    alone: &mut Alone,
    steps: &[&str],
    value: Option<&Node>,
) -> Result<(), Lost> {
    let (list, rest) = (steps[0], &steps[1..]);
    let reached = root
        .get(list)
        .and_then(|node| reached(node.items(), list, rest));
    set(root, "", steps, value)?;
    if rest.is_empty() {
        alone.forget(list);
    }
    let (chosen, rest) = reached.unwrap_or_default();
    let mut members = alone.made_by(list, &chosen);
    members.try_for_each(|values| set(values, list, rest, value))
}

/// Where a path leads nowhere.
struct Lost {
    step: String,
    message: String,
    candidates: Vec<String>,
    /// What elements of a list have, where none of them was meant.
    fields: Vec<&'static str>,
}

impl Lost {
    fn new(step: &str, message: impl Into<String>, candidates: Vec<String>) -> Lost {
        Lost {
            step: step.into(),
            message: message.into(),
            candidates,
            fields: Vec::new(),
        }
    }
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
            place: BESIDE,
        },
    };
    mark(&mut node);
    node
}

fn mark(node: &mut Node) {
    node.place = BESIDE;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(mark),
        Value::Table(fields) => fields.iter_mut().for_each(|f| {
            f.place = BESIDE;
            mark(&mut f.node);
        }),
        _ => {}
    }
}

/// The family of the components that a field holds.
fn family(field: &str) -> Option<Family> {
    match Class::find(field) {
        Some(_) => Some(Family::Queue),
        None => Family::ALL.into_iter().find(|f| f.name() == field),
    }
}

/// Sets the value at `steps` of `node`, which is the value of `field`; without a value the last step's field is removed.
fn set(node: &mut Node, field: &str, steps: &[&str], value: Option<&Node>) -> Result<(), Lost> {
    let Some((&step, rest)) = steps.split_first() else {
        let no_default = || Lost::new(field, "is an element of a list and has no default", vec![]);
        *node = value.cloned().ok_or_else(no_default)?;
        return Ok(());
    };
    name_to_table(node, field);
    let kind = node.kind();
    match &mut node.value {
        Value::Table(fields) => match field_of(fields, field, step, rest, value)? {
            Some(found) => set(found, step, rest, value),
            None => Ok(()),
        },
        Value::List(items) => set_in_list(items, field, steps, value),
        _ => {
            let message = format!("`{field}` is {kind} and has no field `{}`", shorten(step));
            Err(Lost::new(step, message, vec![]))
        }
    }
}

/// A component given by its name alone becomes a table.
fn name_to_table(node: &mut Node, field: &str) {
    let tag = family(field).and_then(Family::tag);
    if let (Value::Text(name), Some(tag)) = (&node.value, tag) {
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
}

/// The value of the field `step` of a table, which is made if it is missing; `None` when nothing is left to do, as it was
/// taken away or has its default.
fn field_of<'f>(
    fields: &'f mut Vec<Field>,
    field: &str,
    step: &str,
    rest: &[&str],
    value: Option<&Node>,
) -> Result<Option<&'f mut Node>, Lost> {
    let at = match fields.iter().position(|f| f.name == step) {
        Some(at) if rest.is_empty() && value.is_none() => {
            fields.remove(at);
            return Ok(None);
        }
        Some(at) => at,
        None if value.is_none() => return absent(field, step).map(|()| None),
        None if field.is_empty() && is_list(step) && !rest.is_empty() => {
            let candidates = fields.iter().map(|f| f.name.clone()).collect();
            return Err(Lost::new(
                step,
                format!("the scenario has no {step}"),
                candidates,
            ));
        }
        None => {
            let node = Node {
                value: Value::Table(Vec::new()),
                place: BESIDE,
            };
            fields.push(Field {
                name: step.into(),
                place: BESIDE,
                node,
            });
            fields.len() - 1
        }
    };
    Ok(Some(&mut fields[at].node))
}

/// Sets the value in the elements that the first step means, or in all when it is one of their fields.
fn set_in_list(
    items: &mut [Node],
    field: &str,
    steps: &[&str],
    value: Option<&Node>,
) -> Result<(), Lost> {
    if let Some((chosen, rest)) = reached(items, field, steps) {
        let mut chosen = chosen.into_iter();
        return chosen.try_for_each(|i| set(&mut items[i], field, rest, value));
    }
    let step = steps[0];
    let labels = items.iter().filter_map(|item| label(item, field));
    let message = format!("no {field} is called `{}`", shorten(step));
    let positions = positions(items.len()).into_iter();
    let components = family(field).map_or(&[][..], Family::components).iter();
    Err(Lost {
        fields: components
            .flat_map(|c| c.parameters)
            .map(|p| p.name)
            .collect(),
        ..Lost::new(step, message, positions.chain(labels).collect())
    })
}

/// The elements that the first step means, or all when it is one of their fields, and the steps that lead on from there.
fn reached<'s, 't>(
    items: &[Node],
    field: &str,
    steps: &'s [&'t str],
) -> Option<(Vec<usize>, &'s [&'t str])> {
    let (&step, rest) = steps.split_first()?;
    let chosen = elements(items, field, step);
    if !chosen.is_empty() {
        return Some((chosen, rest));
    }
    let known = family(field).map_or(&[][..], Family::components);
    let is_field = known.iter().any(|c| c.parameter(step).is_some());
    is_field.then(|| ((0..items.len()).collect(), steps))
}

/// A field without a value has its default already, if there is such a field.
fn absent(field: &str, step: &str) -> Result<(), Lost> {
    let family = match field {
        "" => Some(Family::Scenario),
        _ => family(field),
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
    Err(Lost::new(step, "is an unknown field", candidates))
}

/// How positions of a list of `n` are written.
fn positions(n: usize) -> Option<String> {
    match n {
        0 => None,
        1 => Some("0".into()),
        n => Some(format!("0 to {}", n - 1)),
    }
}

/// Whether it is a list of the scenario.
fn is_list(field: &str) -> bool {
    let scenario = &Family::Scenario.components()[0];
    let parameter = scenario.parameter(field);
    parameter.is_some_and(|p| matches!(p.kind, Kind::List(_)))
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
