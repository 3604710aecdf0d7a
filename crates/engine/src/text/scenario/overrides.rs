//! Overrides: values set outside a scenario file, such as `switch.west.ubr.buffer` = `2000 cells`.
//!
//! A path is a series of steps. In a table, a step names a field. In a list, a step is one of:
//!
//! - a position, from 0, which may be in brackets as in messages (`switch[0].ubr`);
//! - a name, where a group's name means its entry;
//! - `*` for all elements;
//! - a name from results (`vc1`), which sets that one thing individually;
//! - a field of the elements, which is then set in all of them (`vc.traffic.mss`).
//!
//! A value is TOML; anything else is a text. The bare word `default` removes the field, which then
//! has its default again.

use super::individual::{GROUP_FIELDS, IndividualMembers, OUTSIDE_TEXT};
use super::members::{self, Maker, label};
use super::problem::Problem;
use super::syntax::from_toml;
use super::tree::{Field, Node, Value};
use crate::ground::class::Class;
use crate::text::notation::words::{list, meant, shorten};
use crate::text::registry::{Family, Kind};

/// Value that removes a field, so that its default applies.
const DEFAULT: &str = "default";

/// Sets the value at `path` of the scenario `root`, or removes it when `text` is [`DEFAULT`].
/// Values of one group member go to `individual`.
pub(super) fn apply(
    root: &mut Node,
    individual: &mut IndividualMembers,
    path: &str,
    text: &str,
) -> Result<(), Box<Problem>> {
    let position;
    let mut member = None;
    let dotted = without_brackets(path);
    let mut steps: Vec<&str> = dotted.split('.').collect();
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
            excerpt: String::new(),
        })
    };
    if steps.iter().any(|s| s.is_empty()) || steps.len() > 12 {
        let allowed = "fields, positions and names separated by dots, as in switch.west.ubr.buffer";
        return Err(problem("invalid path".into(), allowed.into(), None));
    }
    match named(root, &steps) {
        NamedStep::AsWritten => {}
        NamedStep::Sole(at) => {
            position = at.to_string();
            steps[1] = &position;
        }
        NamedStep::OneOf(list, maker) => {
            let field = steps.get(2).filter(|field| !GROUP_FIELDS.contains(field));
            if field.is_none() {
                let (message, meant) = shared_field_problem(root, list, maker, &steps);
                let allowed = "a field of the member that the group does not share";
                return Err(problem(message, allowed.into(), meant));
            }
            member = Some((list, maker));
        }
        NamedStep::Back(there) => {
            let message = format!(
                "`{}` is the backward direction of `link.{there}` and has its rate, changes and delay",
                shorten(steps[1])
            );
            let allowed = "the forward link; or `duplex = false` on it and a separate link back";
            return Err(problem(message, allowed.into(), None));
        }
        NamedStep::In(field) => {
            let message = format!("names a {field}, not a field of the scenario");
            let meant = format!("`{}`", shorten(&format!("{field}.{path}")));
            return Err(problem(message, String::new(), Some(meant)));
        }
    }
    let value = (text.trim() != DEFAULT).then(|| parse(text));
    let done = match member.and_then(|(list, maker)| individual.values(root, list, maker, steps[1]))
    {
        Some(values) => set(values, steps[0], &steps[2..], value.as_ref()),
        None => set_all(root, individual, &steps, value.as_ref()),
    };
    done.map_err(|missing| {
        let mut candidates = missing.candidates;
        if !missing.fields.is_empty() {
            candidates.extend(members::numbered_names(root, steps[0]));
            candidates.push("*".into());
        }
        let candidates = candidates.iter().map(|c| c.as_str());
        let allowed = list(candidates.clone());
        let suggestion =
            meant(&missing.step, candidates).or_else(|| meant(&missing.step, missing.fields));
        problem(missing.message, shorten(&allowed), suggestion)
    })
}

/// `path` with positions in brackets as their own steps: `switch[0].ubr` is `switch.0.ubr`.
fn without_brackets(path: &str) -> String {
    let mut parts = path.split('[');
    let mut dotted = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.split_once(']') {
            Some((position, rest))
                if !position.is_empty() && position.bytes().all(|b| b.is_ascii_digit()) =>
            {
                dotted += &format!(".{position}{rest}");
            }
            _ => dotted += &format!("[{part}"),
        }
    }
    dotted
}

/// Meaning of a path step that is a name from results.
enum NamedStep {
    /// No name from results: the path applies as written.
    AsWritten,
    /// The only thing that the element at this position makes.
    Sole(usize),
    /// One of several things that an element of this list makes.
    OneOf(&'static str, Maker),
    /// The link back of the link with this name.
    Back(String),
    /// An element of this list, which the path leaves out.
    In(&'static str),
}

/// Position of the link whose backward link is called `name`: `b->a`, or a name with `-back`.
fn forward_link_of(root: &Node, field: &str, name: &str) -> Option<usize> {
    let there = match (name.strip_suffix("-back"), name.split_once("->")) {
        (Some(there), _) => there.to_string(),
        (None, Some((a, b))) => format!("{b}->{a}"),
        (None, None) => return None,
    };
    let items = root.get(field).filter(|_| field == "link")?.items();
    let group = elements(items, field, &there).first().copied();
    group.or_else(|| members::maker(root, field, &there).map(|maker| maker.at))
}

fn named(root: &Node, steps: &[&str]) -> NamedStep {
    let scenario = &Family::Scenario.components()[0];
    if scenario.parameter(steps[0]).is_none() {
        return members::list_with(root, steps[0]).map_or(NamedStep::AsWritten, NamedStep::In);
    }
    let (&[field, name, ..], Some(list)) = (steps, root.get(steps[0])) else {
        return NamedStep::AsWritten;
    };
    let known = family(field).map_or(&[][..], Family::components);
    let is_field = known.iter().any(|c| c.parameter(name).is_some());
    if is_field || !elements(list.items(), field, name).is_empty() {
        return NamedStep::AsWritten;
    }
    let maker = members::maker(root, field, name).zip(members::list_of(field));
    match maker {
        None => match forward_link_of(root, field, name) {
            Some(at) => {
                let there = label(&list.items()[at], field);
                NamedStep::Back(there.unwrap_or_else(|| at.to_string()))
            }
            None => NamedStep::AsWritten,
        },
        Some((maker, _)) if maker.makes == 1 => NamedStep::Sole(maker.at),
        Some((maker, list)) => NamedStep::OneOf(list, maker),
    }
}

/// Fault of a path that leads to a whole group member, or to a field that it shares with its group.
/// Suggests what can be set instead.
fn shared_field_problem(
    root: &Node,
    list: &str,
    maker: Maker,
    steps: &[&str],
) -> (String, Option<String>) {
    let items = root.get(list).map_or(&[][..], Node::items);
    let group = items.get(maker.at).and_then(|item| label(item, list));
    let group = format!("{list}.{}", group.unwrap_or_else(|| maker.at.to_string()));
    let name = shorten(steps[1]);
    let makes = format!(
        "`{name}` is one of the {} members of `{group}`",
        maker.makes
    );
    let rest = steps[2..].iter().map(|step| format!(".{step}"));
    let all = format!("`{}`", shorten(&(group + &rest.collect::<String>())));
    match steps.get(2) {
        Some(field) => (format!("{makes}, which share `{field}`"), Some(all)),
        None => (format!("{makes}, not an element of the list"), None),
    }
}

/// Sets the value in the written elements, and in members set individually before that belong to
/// them.
fn set_all(
    root: &mut Node,
    individual: &mut IndividualMembers,
    steps: &[&str],
    value: Option<&Node>,
) -> Result<(), MissingStep> {
    let (list, rest) = (steps[0], &steps[1..]);
    let reached = root
        .get(list)
        .and_then(|node| reached(node.items(), list, rest));
    set(root, "", steps, value)?;
    if rest.is_empty() {
        individual.forget(list);
    }
    let (chosen, rest) = reached.unwrap_or_default();
    let mut members = individual.values_of_members(list, &chosen);
    members.try_for_each(|values| set(values, list, rest, value))
}

/// A path that leads nowhere.
struct MissingStep {
    step: String,
    message: String,
    candidates: Vec<String>,
    /// Fields of the elements of a list, where the step names none of them.
    fields: Vec<&'static str>,
}

impl MissingStep {
    fn new(step: &str, message: impl Into<String>, candidates: Vec<String>) -> MissingStep {
        MissingStep {
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
            place: OUTSIDE_TEXT,
        },
    };
    mark(&mut node);
    node
}

fn mark(node: &mut Node) {
    node.place = OUTSIDE_TEXT;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(mark),
        Value::Table(fields) => fields.iter_mut().for_each(|f| {
            f.place = OUTSIDE_TEXT;
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

/// Sets the value at `steps` below `node`, the value of `field`. Without a value, removes the field
/// of the last step.
fn set(
    node: &mut Node,
    field: &str,
    steps: &[&str],
    value: Option<&Node>,
) -> Result<(), MissingStep> {
    let Some((&step, rest)) = steps.split_first() else {
        let no_default = || MissingStep::new(field, "an element of a list has no default", vec![]);
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
            Err(MissingStep::new(step, message, vec![]))
        }
    }
}

/// Turns a component given only by its name into a table.
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

/// The value of the field `step` of a table, created if missing. `None` when nothing is left to do:
/// the field was removed or has its default.
fn field_of<'f>(
    fields: &'f mut Vec<Field>,
    field: &str,
    step: &str,
    rest: &[&str],
    value: Option<&Node>,
) -> Result<Option<&'f mut Node>, MissingStep> {
    let at = match fields.iter().position(|f| f.name == step) {
        Some(at) if rest.is_empty() && value.is_none() => {
            fields.remove(at);
            return Ok(None);
        }
        Some(at) => at,
        None if value.is_none() => return absent(field, step).map(|()| None),
        None if field.is_empty() && is_list(step) && !rest.is_empty() => {
            let candidates = fields.iter().map(|f| f.name.clone()).collect();
            return Err(MissingStep::new(
                step,
                format!("the scenario has no {step}"),
                candidates,
            ));
        }
        None => {
            let node = Node {
                value: Value::Table(Vec::new()),
                place: OUTSIDE_TEXT,
            };
            fields.push(Field {
                name: step.into(),
                place: OUTSIDE_TEXT,
                node,
            });
            fields.len() - 1
        }
    };
    Ok(Some(&mut fields[at].node))
}

/// Sets the value in the elements that the first step selects.
fn set_in_list(
    items: &mut [Node],
    field: &str,
    steps: &[&str],
    value: Option<&Node>,
) -> Result<(), MissingStep> {
    if let Some((chosen, rest)) = reached(items, field, steps) {
        let mut chosen = chosen.into_iter();
        return chosen.try_for_each(|i| set(&mut items[i], field, rest, value));
    }
    let step = steps[0];
    let labels = items.iter().filter_map(|item| label(item, field));
    let message = format!("no {field} is called `{}`", shorten(step));
    let positions = positions(items.len()).into_iter();
    let components = family(field).map_or(&[][..], Family::components).iter();
    Err(MissingStep {
        fields: components
            .flat_map(|c| c.parameters)
            .map(|p| p.name)
            .collect(),
        ..MissingStep::new(step, message, positions.chain(labels).collect())
    })
}

/// The elements that the first step selects, and the remaining steps. If the step is a field of the
/// elements, all are selected.
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

/// Accepts the removal of a field that has no value, provided that such a field exists.
fn absent(field: &str, step: &str) -> Result<(), MissingStep> {
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
    Err(MissingStep::new(step, "unknown field", candidates))
}

/// Text that lists the positions of a list of `n`.
fn positions(n: usize) -> Option<String> {
    match n {
        0 => None,
        1 => Some("0".into()),
        n => Some(format!("0 to {}", n - 1)),
    }
}

/// Whether `field` is a list of the scenario.
fn is_list(field: &str) -> bool {
    let scenario = &Family::Scenario.components()[0];
    let parameter = scenario.parameter(field);
    parameter.is_some_and(|p| matches!(p.kind, Kind::List(_)))
}

/// Positions of the elements of a list that `step` selects.
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
