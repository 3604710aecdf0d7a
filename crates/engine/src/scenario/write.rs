//! A scenario as TOML with nothing left to defaults or groups; reads back as the same scenario.

use super::model::{Class, ClassQueue, Scenario, Traffic, Vc};
use super::record::{Record, fraction};
use crate::notation::show::{show_bytes, show_cells, show_duration, show_rate, show_ratio};
use crate::registry::{Component, Family, Kind};
use crate::units::{BitRate, Span};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::borrow::Cow;

/// Writes `scenario` as TOML.
pub fn write_toml(scenario: &Scenario) -> String {
    let mut out = String::new();
    let top = Family::Scenario.components();
    fields(&top[0], &record(&alone(scenario)), None, &mut out);
    for (family, value) in [
        (Family::Ensemble, record(&scenario.ensemble)),
        (Family::Measure, record(&scenario.measure)),
    ] {
        out += &format!("\n[{}]\n", family.name());
        fields(&family.components()[0], &value, None, &mut out);
    }
    for host in &scenario.hosts {
        entry(Family::Host, &record(host), None, &mut out);
    }
    for switch in &scenario.switches {
        entry(
            Family::Switch,
            &with_queues(record(switch), &switch.queues),
            None,
            &mut out,
        );
    }
    for link in &scenario.links {
        let mut value = with_queues(record(link), &link.queues);
        value.insert("duplex".into(), json!(false));
        entry(Family::Link, &value, None, &mut out);
    }
    vcs(&scenario.vcs, &mut out);
    for probe in &scenario.probes {
        entry(Family::Probe, &record(probe), None, &mut out);
    }
    out
}

/// The scenario without what it lists, which is written entry by entry.
fn alone(scenario: &Scenario) -> Scenario {
    Scenario {
        name: scenario.name.clone(),
        seed: scenario.seed,
        duration: scenario.duration,
        tie_order: scenario.tie_order,
        tie_offset: scenario.tie_offset,
        arrival_first: scenario.arrival_first,
        timer_phase: scenario.timer_phase,
        timers: scenario.timers,
        ensemble: scenario.ensemble.clone(),
        measure: scenario.measure.clone(),
        hosts: Vec::new(),
        switches: Vec::new(),
        links: Vec::new(),
        vcs: Vec::new(),
        probes: Vec::new(),
    }
}

/// The VCs. What they carry is most of it, and often the same of many in a row: then it is made once.
fn vcs(vcs: &[Vc], out: &mut String) {
    const FIELD: &str = "traffic";
    let parameters = Family::Vc.components()[0].parameters;
    let kind = parameters.iter().find(|p| p.name == FIELD).map(|p| &p.kind);
    let mut last: Option<(&Traffic, Option<String>)> = None;
    for vc in vcs {
        if last
            .as_ref()
            .is_none_or(|(traffic, _)| **traffic != vc.traffic)
        {
            let value = json!(vc.traffic);
            last = Some((&vc.traffic, kind.and_then(|kind| toml(kind, &value))));
        }
        let text = last.as_ref().and_then(|(_, text)| text.as_deref());
        // Its own text is there already: anything small will do in its place.
        let traffic = Traffic::Cbr { rate: BitRate(1) };
        let rest = Vc {
            traffic,
            ..vc.clone()
        };
        entry(
            Family::Vc,
            &record(&rest),
            text.map(|text| (FIELD, text)),
            out,
        );
    }
}

fn record(value: &impl Serialize) -> Record {
    match serde_json::to_value(value) {
        Ok(Json::Object(map)) => map,
        other => unreachable!("components are tables: {other:?}"),
    }
}

/// Class queues as fields named after their class.
fn with_queues(mut record: Record, queues: &[ClassQueue]) -> Record {
    for class in Class::ALL {
        if let Some(queue) = queues.iter().find(|q| q.class == class) {
            record.insert(class.name().into(), json!(queue));
        }
    }
    record
}

/// A field whose text is there already.
type Ready<'a> = Option<(&'static str, &'a str)>;

fn entry(family: Family, record: &Record, ready: Ready<'_>, out: &mut String) {
    out.extend(["\n[[", family.name(), "]]\n"]);
    fields(component(family, record), record, ready, out);
}

/// Which component of `family` the record is.
fn component(family: Family, record: &Record) -> &'static Component {
    let named = family
        .tag()
        .and_then(|tag| family.find(record.get(tag)?.as_str()?));
    named.unwrap_or(&family.components()[0])
}

/// One line per field.
fn fields(component: &Component, record: &Record, ready: Ready<'_>, out: &mut String) {
    for (name, value) in written(component, record, ready) {
        out.extend([name, " = ", &value, "\n"]);
    }
}

/// The fields of `record` that have a value, as TOML.
fn written<'a>(
    component: &Component,
    record: &Record,
    ready: Ready<'a>,
) -> Vec<(&'static str, Cow<'a, str>)> {
    let tag = component
        .family
        .tag()
        .map(|tag| (tag, json!(component.name).to_string().into()));
    let given = component.parameters.iter().filter_map(|parameter| {
        if let Some((other, choices)) = component.only_with(parameter.name)
            && !choices.contains(&record.get(other)?.as_str()?)
        {
            return None;
        }
        let text = match ready.filter(|(name, _)| *name == parameter.name) {
            Some((_, text)) => text.into(),
            None => toml(&parameter.kind, record.get(parameter.name)?)?.into(),
        };
        Some((parameter.name, text))
    });
    tag.into_iter().chain(given).collect()
}

/// `value` as TOML; `None` when it is left out.
fn toml(kind: &Kind, value: &Json) -> Option<String> {
    let quoted = |text: String| format!("\"{text}\"");
    Some(match kind {
        Kind::Cells {
            unlimited: true, ..
        } if value.is_null() => quoted("unlimited".into()),
        Kind::Number { .. } if value.is_null() => quoted("unlimited".into()),
        _ if value.is_null() => return None,
        Kind::Rate { .. } => quoted(show_rate(BitRate(value.as_u64()?))),
        Kind::Duration { .. } => quoted(show_duration(Span(value.as_u64()?))),
        Kind::Cells { .. } => quoted(show_cells(value.as_u64()?)),
        Kind::Bytes { .. } => quoted(show_bytes(value.as_u64()?)),
        Kind::Decimal { .. } => show_ratio(fraction(value)?),
        Kind::Threshold => match value["cells"].as_u64() {
            Some(cells) => quoted(show_cells(cells)),
            None => show_ratio(fraction(&value["fraction"])?),
        },
        // JSON's escapes are TOML's; names and texts have no control characters.
        Kind::Text | Kind::Name | Kind::Choice(_) | Kind::Reference(_) => value.to_string(),
        Kind::Bool | Kind::Integer { .. } | Kind::Number { .. } => value.to_string(),
        Kind::List(Kind::One(_)) => return None,
        Kind::List(item) => {
            let items = value.as_array()?.iter().filter_map(|v| toml(item, v));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Kind::One(Family::Ensemble | Family::Measure) => return None,
        Kind::One(family) => {
            let record = value.as_object()?;
            let fields = written(component(*family, record), record, None);
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    })
}
