//! Writes a scenario as TOML without relying on defaults or groups. Reading it gives an equal
//! scenario.

use super::model::{Class, ClassQueue, Host, Link, Scenario, Traffic, Vc};
use super::program::shown;
use super::record::{Record, complete, fraction};
use super::threshold::{Size, Threshold};
use crate::ground::format::Clock;
use crate::ground::units::{BitRate, Span};
use crate::text::notation::show::{show_bytes, show_cells, show_duration, show_rate, show_ratio};
use crate::text::program::Value;
use crate::text::registry::{Component, Family, Kind, NONE};
use serde::Serialize;
use serde_json::{Value as Json, json};

/// Writes `scenario` as TOML.
pub fn write_toml(scenario: &Scenario) -> String {
    toml_pieces(scenario).concat()
}

/// Size above which a piece of a text ends, bytes.
const PIECE_BYTES: usize = 1 << 20;

/// Writes `scenario` as TOML, in pieces of about a megabyte. A caller that converts and frees them
/// one by one needs no room for two copies of the text.
pub fn toml_pieces(scenario: &Scenario) -> Vec<String> {
    let mut out = String::new();
    let top = Family::Scenario.components();
    let clock = scenario.format.clock;
    fields(&top[0], &record(&without_lists(scenario)), clock, &mut out);
    for (family, value) in [
        (Family::Ensemble, record(&scenario.ensemble)),
        (Family::Measure, record(&scenario.measure)),
    ] {
        out += &format!("\n[{}]\n", family.name());
        fields(&family.components()[0], &value, clock, &mut out);
    }
    let mut pieces = vec![out];
    let hosts = |host| written_host(host, clock);
    alike(&scenario.hosts, hosts, &mut pieces);
    for switch in &scenario.switches {
        let value = with_queues(record(switch), &switch.queues);
        entry(Family::Switch, &value, clock, last_piece(&mut pieces));
    }
    let links = |link| written_link(link, clock);
    alike(&scenario.links, links, &mut pieces);
    let mut traffic = LastTraffic::default();
    let vcs = |vc| written_vc(vc, clock, &mut traffic);
    alike(&scenario.vcs, vcs, &mut pieces);
    for probe in &scenario.probes {
        entry(
            Family::Probe,
            &record(probe),
            clock,
            last_piece(&mut pieces),
        );
    }
    pieces
}

/// The piece to continue; a new one after a full one.
fn last_piece(pieces: &mut Vec<String>) -> &mut String {
    if pieces.last().is_none_or(|last| last.len() > PIECE_BYTES) {
        pieces.push(String::new());
    }
    pieces.last_mut().expect("there is one")
}

/// The scenario without its lists, which are written entry by entry.
fn without_lists(scenario: &Scenario) -> Scenario {
    Scenario {
        name: scenario.name.clone(),
        seed: scenario.seed,
        format: scenario.format,
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

/// Fields with their values as TOML.
type Written = Vec<(&'static str, String)>;

/// Things of which there may be thousands that differ in few texts.
trait WrittenAlike {
    const FAMILY: Family;

    /// Whether all fields but the [`WrittenAlike::individual_text`] ones are equal.
    fn is_like(&self, other: &Self) -> bool;

    /// The text of a field in which similar things may differ. The field is never left out.
    fn individual_text(&self, field: &str) -> Option<&str>;
}

impl WrittenAlike for Host {
    const FAMILY: Family = Family::Host;

    fn is_like(&self, other: &Host) -> bool {
        let Host {
            name: _,
            processing,
        } = self;
        *processing == other.processing
    }

    fn individual_text(&self, field: &str) -> Option<&str> {
        (field == "name").then_some(&self.name)
    }
}

impl WrittenAlike for Link {
    const FAMILY: Family = Family::Link;

    fn is_like(&self, other: &Link) -> bool {
        let Link {
            name: _,
            from: _,
            to: _,
            rate,
            changes,
            delay,
            lose_frames,
            lose_probability,
            scheduler,
            queues,
        } = self;
        (rate, changes, delay) == (&other.rate, &other.changes, &other.delay)
            && (lose_frames, lose_probability) == (&other.lose_frames, &other.lose_probability)
            && (scheduler, queues) == (&other.scheduler, &other.queues)
    }

    fn individual_text(&self, field: &str) -> Option<&str> {
        let texts = [("name", &self.name), ("from", &self.from), ("to", &self.to)];
        texts
            .into_iter()
            .find(|(name, _)| *name == field)
            .map(|(_, text)| text.as_str())
    }
}

impl WrittenAlike for Vc {
    const FAMILY: Family = Family::Vc;

    fn is_like(&self, other: &Vc) -> bool {
        let Vc {
            name: _,
            from: _,
            to: _,
            route,
            class,
            weight,
            guarantee,
            start,
            stop,
            contract,
            abr,
            shape,
            traffic,
        } = self;
        (route, class, weight) == (&other.route, &other.class, &other.weight)
            && (guarantee, start, stop) == (&other.guarantee, &other.start, &other.stop)
            && (contract, abr, shape) == (&other.contract, &other.abr, &other.shape)
            && *traffic == other.traffic
    }

    fn individual_text(&self, field: &str) -> Option<&str> {
        let texts = [("name", &self.name), ("from", &self.from), ("to", &self.to)];
        texts
            .into_iter()
            .find(|(name, _)| *name == field)
            .map(|(_, text)| text.as_str())
    }
}

/// Writes entries. `written` runs once for several similar entries in a row.
fn alike<'s, T: WrittenAlike>(
    all: &'s [T],
    mut written: impl FnMut(&'s T) -> Written,
    pieces: &mut Vec<String>,
) {
    let mut last: Option<(&T, Written)> = None;
    for item in all {
        if !last.as_ref().is_some_and(|(like, _)| item.is_like(like)) {
            last = Some((item, written(item)));
        }
        let out = last_piece(pieces);
        head(T::FAMILY, out);
        for (field, text) in last.iter().flat_map(|(_, fields)| fields) {
            match item.individual_text(field) {
                Some(text) => line(field, &quoted(text), out),
                None => line(field, text, out),
            }
        }
    }
}

fn written_host(host: &Host, clock: Clock) -> Written {
    written(&Family::Host.components()[0], &record(host), None, clock)
}

fn written_link(link: &Link, clock: Clock) -> Written {
    let mut value = with_queues(record(link), &link.queues);
    value.insert("duplex".into(), json!(false));
    written(&Family::Link.components()[0], &value, None, clock)
}

/// The traffic written last. Traffic is most of a VC's text, and many VCs differ only in their
/// start.
#[derive(Default)]
struct LastTraffic<'s>(Option<(&'s Traffic, String)>);

fn written_vc<'s>(vc: &'s Vc, clock: Clock, last: &mut LastTraffic<'s>) -> Written {
    const FIELD: &str = "traffic";
    let component = &Family::Vc.components()[0];
    if last.0.as_ref().is_none_or(|(t, _)| **t != vc.traffic) {
        let parameter = component.parameters.iter().find(|p| p.name == FIELD);
        let text = parameter.and_then(|p| toml(&p.kind, &json!(vc.traffic), clock));
        last.0 = text.map(|text| (&vc.traffic, text));
    }
    // Placeholder: the text of the real traffic is already there.
    let traffic = Traffic::Cbr { rate: BitRate(1) };
    let rest = Vc {
        traffic,
        ..vc.clone()
    };
    let ready = last.0.as_ref().map(|(_, text)| (FIELD, text.as_str()));
    written(component, &record(&rest), ready, clock)
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

/// A field whose text is already made.
type Ready<'a> = Option<(&'static str, &'a str)>;

fn entry(family: Family, record: &Record, clock: Clock, out: &mut String) {
    head(family, out);
    fields(component(family, record), record, clock, out);
}

fn head(family: Family, out: &mut String) {
    out.extend(["\n[[", family.name(), "]]\n"]);
}

fn line(field: &str, text: &str, out: &mut String) {
    out.extend([field, " = ", text, "\n"]);
}

/// The component of `family` that the record describes.
fn component(family: Family, record: &Record) -> &'static Component {
    let named = family
        .tag()
        .and_then(|tag| family.find(record.get(tag)?.as_str()?));
    named
        .or(family.untagged())
        .unwrap_or(&family.components()[0])
}

/// Appends the fields, one per line.
fn fields(component: &Component, record: &Record, clock: Clock, out: &mut String) {
    for (name, value) in written(component, record, None, clock) {
        line(name, &value, out);
    }
}

/// The fields of `record` that have a value, as TOML.
fn written(component: &Component, record: &Record, ready: Ready<'_>, clock: Clock) -> Written {
    let tag = component.tag();
    let tag = tag.map(|tag| (tag, quoted(component.name)));
    let given = component.parameters.iter().filter_map(|parameter| {
        if let Some((other, choices)) = component.only_with(parameter.name)
            && !choices.contains(&record.get(other)?.as_str()?)
        {
            return None;
        }
        let text = match ready.filter(|(name, _)| *name == parameter.name) {
            Some((_, text)) => text.to_string(),
            None => toml(&parameter.kind, record.get(parameter.name)?, clock)?,
        };
        Some((parameter.name, text))
    });
    tag.into_iter().chain(given).collect()
}

/// Quotes a text as TOML. JSON's escapes suffice, since names and texts have no control characters.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// A parameter of a program as TOML.
fn own(value: &Json, clock: Clock) -> Option<String> {
    let value: Value = serde_json::from_value(value.clone()).ok()?;
    Some(match value {
        Value::Number(number) => show_ratio(number),
        _ => format!("\"{}\"", shown(value, clock)),
    })
}

/// A size as a scenario writes it.
fn show_size(size: Size, clock: Clock) -> String {
    match size {
        Size::Cells(cells) => show_cells(cells),
        Size::Bytes { bytes } => show_bytes(bytes),
        Size::Time { time } => show_duration(time, clock),
    }
}

/// `value` as TOML, or `None` when it is left out.
fn toml(kind: &Kind, value: &Json, clock: Clock) -> Option<String> {
    let plain = |text: String| format!("\"{text}\"");
    Some(match kind {
        Kind::Cells {
            unlimited: true, ..
        }
        | Kind::Places { buffer: true, .. }
            if value.is_null() =>
        {
            plain("unlimited".into())
        }
        Kind::Number { .. } if value.is_null() => plain("unlimited".into()),
        Kind::Duration { none: true, .. } if value.is_null() => plain(NONE.into()),
        _ if value.is_null() => return None,
        Kind::Rate { .. } if value.is_string() => value.to_string(),
        Kind::Rate { .. } => plain(show_rate(BitRate(value.as_u64()?))),
        Kind::Duration { .. } => plain(show_duration(Span(value.as_u64()?), clock)),
        Kind::Cells { .. } => plain(show_cells(value.as_u64()?)),
        Kind::Bytes { .. } => plain(show_bytes(value.as_u64()?)),
        Kind::Decimal { .. } => show_ratio(fraction(value)?),
        Kind::Places { .. } => plain(show_size(complete(value)?, clock)),
        Kind::Threshold => match complete(value)? {
            Threshold::Cells(cells) => plain(show_cells(cells)),
            Threshold::Bytes(bytes) => plain(show_bytes(bytes)),
            Threshold::Fraction(fraction) => show_ratio(fraction),
        },
        Kind::Own => own(value, clock)?,
        Kind::Text | Kind::Name | Kind::Program | Kind::Choice(_) | Kind::Reference(_) => {
            value.to_string()
        }
        Kind::Bool | Kind::Integer { .. } | Kind::Number { .. } => value.to_string(),
        // Things of a scenario have separate tables.
        Kind::List(Kind::One(family)) if *family != Family::Change => return None,
        Kind::List(item) => {
            let items = value
                .as_array()?
                .iter()
                .filter_map(|v| toml(item, v, clock));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Kind::One(Family::Ensemble | Family::Measure) => return None,
        Kind::One(_) if value.is_string() => value.to_string(),
        Kind::One(family) => {
            let record = value.as_object()?;
            let component = component(*family, record);
            let fields = written(component, record, None, clock);
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            let own = record.iter().filter_map(|(name, value)| {
                let is_own = component.parameter(name).is_none() && family.tag() != Some(name);
                (is_own && component.own.is_some())
                    .then(|| Some(format!("{name} = {}", own(value, clock)?)))?
            });
            format!("{{ {} }}", fields.chain(own).collect::<Vec<_>>().join(", "))
        }
    })
}
