//! Tests of the registry: complete, consistent, and usable as documented.

use cellyard_engine::registry::{
    Component, Default, Family, Kind, Parameter, as_json, json_schema,
};
use cellyard_engine::scenario::{Problem, Scenario, read_toml};
use cellyard_engine::{Options, run};
use serde_json::json;
use std::sync::atomic::AtomicBool;

/// A small scenario around one component, given as TOML.
fn around(family: Family, component: &str) -> Result<Scenario, Vec<Problem>> {
    let put = |of: Family| if of == family { component } else { "" };
    let field = |name: &str, of: Family| match put(of) {
        "" => String::new(),
        text => format!("{name} = {text}"),
    };
    let traffic = match put(Family::Traffic) {
        "" => "\"tcp\"",
        text => text,
    };
    let mut queue = vec!["buffer = \"1000 cells\"".to_string()];
    queue.extend([field("police", Family::Police), field("drop", Family::Drop)]);
    // Average-queue probes need a policy that keeps an average.
    queue.extend((family == Family::Probe).then(|| "drop = \"atm-red\", alpha = 1".to_string()));
    queue.retain(|field| !field.is_empty());
    let text = format!(
        r#"
duration = "1 s"
{format}
{probe}
[[host]]
name = "a"
{processing}
[[host]]
name = "b"
[[switch]]
name = "s"
{scheduler}
{pool}
ubr = {{ {queue} }}
{feedback}
[[link]]
from = "a"
to = "s"
rate = "10 Mbps"
[[link]]
from = "s"
to = "b"
rate = "10 Mbps"
[[vc]]
name = "v"
from = "a"
to = "b"
{contract}
traffic = {traffic}
{abr}
"#,
        format = field("format", Family::Format),
        contract = match family {
            Family::Format => "", // Only one has contracts.
            _ => "contract = { mcr = \"1 Mbps\" }",
        },
        probe = match put(Family::Probe) {
            "" => String::new(),
            text => format!("probe = [{text}]"),
        },
        processing = field("processing", Family::Processing),
        scheduler = match family {
            // Credit probes need a scheduler with credit.
            Family::Probe => "scheduler = { kind = \"guaranteed-rate\", gr = 0.5 }".into(),
            _ => field("scheduler", Family::Scheduler),
        },
        pool = match put(Family::Pool) {
            // Probes of pools need one.
            "" if family == Family::Probe => "pool = { buffer = \"99 cells\" }".into(),
            "" => String::new(),
            pool => format!("pool = {pool}"),
        },
        queue = queue.join(", "),
        feedback = match put(Family::Feedback) {
            "" => String::new(),
            text => format!("abr = {{ feedback = {text} }}"),
        },
        abr = match family {
            Family::Abr => format!("class = \"abr\"\nabr = {component}"),
            Family::Shape => format!("shape = {component}"),
            // Feedback and some probes need VCs of the class abr with end systems.
            Family::Feedback | Family::Probe => "class = \"abr\"\nabr = {}".into(),
            _ => String::new(),
        },
    );
    read_toml(&text, "around.toml", &[])
}

/// A value for a required parameter.
fn sample(parameter: &Parameter) -> String {
    let text = match parameter.kind {
        Kind::Rate { .. } => "\"1 Mbps\"",
        Kind::Duration { .. } => "\"5 ms\"",
        Kind::Cells { .. } | Kind::Places { .. } => "\"10 cells\"",
        Kind::Bytes { .. } => "\"9216 bytes\"",
        Kind::Decimal { .. } => "0.5",
        Kind::Reference(&[Family::Link, ..]) => "\"s->b\"",
        Kind::Reference(&[Family::Switch]) => "\"s\"",
        Kind::Choice([first, ..]) => return format!("\"{}\"", first.name),
        Kind::Reference(&[Family::Vc]) => "\"v\"",
        Kind::Program => "\"number\"",
        ref kind => panic!("no sample of {kind:?}"),
    };
    text.to_string()
}

/// A default as TOML.
fn literal(default: &Default) -> Option<String> {
    match *default {
        Default::Text(text) => Some(format!("\"{text}\"")),
        Default::Integer(integer) => Some(integer.to_string()),
        Default::Decimal(decimal) => Some(decimal.to_string()),
        Default::Bool(truth) => Some(truth.to_string()),
        Default::EmptyList => Some("[]".into()),
        Default::AllDefaults => Some("{}".into()),
        Default::Required | Default::Multiple(..) | Default::Implied(..) | Default::Derived(_) => {
            None
        }
    }
}

fn table(component: &Component, also: Option<String>) -> String {
    let tag = component.family.tag().expect("a family with a tag");
    let required = component.parameters.iter().filter(|p| p.is_required());
    // One of two texts, neither of which is required by itself.
    let needs_text = component.family == Family::Drop && component.own.is_some();
    let fields = [format!("{tag} = \"{}\"", component.name)]
        .into_iter()
        .chain(required.map(|p| format!("{} = {}", p.name, sample(p))))
        .chain(needs_text.then(|| "refuse = \"false\"".to_string()))
        .chain(also);
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

fn tagged() -> impl Iterator<Item = &'static Component> {
    Family::ALL
        .into_iter()
        .filter(|f| f.tag().is_some())
        .flat_map(|f| f.components())
}

#[test]
fn every_component_reads_with_its_defaults() {
    for component in tagged() {
        let given = table(component, None);
        let whole = around(component.family, &given)
            .unwrap_or_else(|p| panic!("{}: {p:#?}", component.name));
        if component.has_shorthand() {
            let short = around(component.family, &format!("\"{}\"", component.name));
            assert_eq!(short, Ok(whole), "{}", component.name);
        }
    }
}

/// A probe's name is its series' name, except for traces, which have no series. The documentation
/// of each mechanism states its source and limits in a sentence.
#[test]
fn every_mechanism_has_a_source_and_limits() {
    let is_sentence = |text: &str| text.ends_with('.') && text.len() > 20;
    let families = [
        Family::Drop,
        Family::Scheduler,
        Family::Police,
        Family::Feedback,
    ];
    let components: Vec<&Component> = families.iter().flat_map(|f| f.components()).collect();
    assert!(components.len() > 20);
    for component in components {
        let complete = !component.source.is_empty() && is_sentence(component.limits);
        assert!(complete, "{}", component.name);
    }
    let tcp = Family::Traffic.find("tcp").expect("a TCP");
    let recovery = tcp.parameter("recovery").expect("it has one").kind;
    let Kind::Choice(recoveries) = recovery else {
        panic!("{recovery:?}")
    };
    for recovery in recoveries {
        let complete = !recovery.source.is_empty() && is_sentence(recovery.limits);
        assert!(complete, "{}", recovery.name);
    }
}

#[test]
fn every_probe_records_a_series() {
    for component in Family::Probe.components() {
        let scenario = around(component.family, &table(component, None)).expect("it reads");
        let never = AtomicBool::new(false);
        let result = run(&scenario, None, &Options::default(), &never).expect("it runs");
        let series = result.series.iter().find(|s| s.what == component.name);
        let points = series.map_or(0, |series| series.value.len());
        let has_series = !matches!(component.name, "trace" | "capture");
        assert_eq!(points > 1, has_series, "{}", component.name);
    }
}

#[test]
fn writing_a_default_changes_nothing() {
    for component in tagged() {
        let plain = around(component.family, &table(component, None)).expect("the defaults read");
        for parameter in component
            .parameters
            .iter()
            .filter(|p| component.only_with(p.name).is_none())
        {
            if let Some(value) = literal(&parameter.default) {
                let given = table(component, Some(format!("{} = {value}", parameter.name)));
                let read = around(component.family, &given);
                assert_eq!(
                    read.as_ref(),
                    Ok(&plain),
                    "{} of {}",
                    parameter.name,
                    component.name
                );
            }
        }
    }
}

#[test]
fn options_of_choices_exist_and_read_with_these_choices_alone() {
    for component in tagged() {
        for parameter in component.parameters {
            let Kind::Choice(choices) = parameter.kind else {
                continue;
            };
            for option in choices.iter().flat_map(|c| c.options) {
                let option = component.parameter(option).expect("a parameter");
                let value = literal(&option.default).expect("options have defaults");
                for choice in choices {
                    let also = format!(
                        "{} = \"{}\", {} = {value}",
                        parameter.name, choice.name, option.name
                    );
                    let read = around(component.family, &table(component, Some(also.clone())));
                    let has_meaning = choice.options.contains(&option.name);
                    assert_eq!(read.is_ok(), has_meaning, "{also}");
                }
            }
        }
    }
}

#[test]
fn what_components_imply_is_the_default_of_a_parameter() {
    let all = || Family::ALL.into_iter().flat_map(|f| f.components());
    let mut implied = 0;
    for component in all() {
        for (name, value) in component.implies {
            let of = |p: &&Parameter| matches!(p.default, Default::Implied(f, _) if f == component.family);
            let mut parameters = all().filter_map(|c| c.parameter(name));
            let parameter = parameters
                .find(of)
                .expect("a parameter with such a default");
            let Kind::Choice(choices) = parameter.kind else {
                panic!("{name} is no choice");
            };
            assert!(choices.iter().any(|c| c.name == *value), "{value}");
            let text = parameter.default_text();
            assert!(
                text.contains(&format!("{value} for {}, ", component.name)),
                "{text}"
            );
            implied += 1;
        }
    }
    assert!(implied > 0);
}

#[test]
fn mechanisms_have_formula_and_source_and_everything_has_help() {
    for family in Family::ALL {
        for component in family.components() {
            assert_eq!(component.family, family);
            let mechanism = matches!(family, Family::Drop | Family::Scheduler | Family::Traffic);
            if mechanism {
                assert!(
                    !component.formula.is_empty() && !component.source.is_empty(),
                    "{}",
                    component.name
                );
            }
            assert!(component.help.ends_with('.'), "{}", component.name);
            for parameter in component.parameters {
                assert!(
                    parameter.help.ends_with('.'),
                    "{} of {}",
                    parameter.name,
                    component.name
                );
                if let Kind::Choice(choices) = parameter.kind {
                    assert!(
                        choices.iter().all(|c| c.help.ends_with('.')),
                        "{}",
                        parameter.name
                    );
                    if parameter.name == "recovery" {
                        assert!(
                            choices
                                .iter()
                                .all(|c| !c.formula.is_empty() && !c.source.is_empty())
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn names_are_unique_in_their_family() {
    for family in Family::ALL {
        let unique = |names: Vec<&str>| {
            let mut sorted = names.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), names.len(), "{names:?}");
        };
        unique(family.components().iter().map(|c| c.name).collect());
        for component in family.components() {
            unique(component.parameters.iter().map(|p| p.name).collect());
        }
    }
}

#[test]
fn exports_hold_every_component_and_parameter() {
    let (json, schema) = (as_json(), json_schema());
    for (i, family) in Family::ALL.into_iter().enumerate() {
        assert_eq!(json["families"][i]["name"], family.name());
        for (k, component) in family.components().iter().enumerate() {
            let entry = &json["families"][i]["components"][k];
            assert_eq!(entry["name"], component.name);
            let object = match family.tag() {
                Some(tag) => {
                    let named = format!("{}.{}", family.name(), component.name);
                    let object = &schema["$defs"][&named];
                    assert_eq!(object["properties"][tag]["const"], component.name);
                    let chosen = &schema["$defs"][family.name()]["then"]["allOf"][k];
                    assert_eq!(chosen["then"]["$ref"], format!("#/$defs/{named}"));
                    object
                }
                None => &schema["$defs"][family.name()],
            };
            let others = &object["additionalProperties"];
            assert_eq!(others.is_object(), component.own.is_some());
            assert_eq!(*others == json!(false), component.own.is_none());
            for (n, parameter) in component.parameters.iter().enumerate() {
                assert_eq!(entry["parameters"][n]["name"], parameter.name);
                assert!(
                    object["properties"][parameter.name].is_object(),
                    "{}",
                    parameter.name
                );
                let required = object["required"].as_array().expect("a list");
                assert_eq!(
                    required.iter().any(|r| r == parameter.name),
                    parameter.is_required()
                );
            }
        }
    }
}
