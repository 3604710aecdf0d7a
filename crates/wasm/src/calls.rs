//! The calls of the interface: a request as JSON text in, an answer as JSON text out.

use cellyard_engine::format::Constants;
use cellyard_engine::results::Dropped;
use cellyard_engine::scenario::{self, Node, Probe, Problem, Scenario, Value};
use cellyard_engine::units::{Span, Time};
use cellyard_engine::{About, Description, Options, Session, describe, registry};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

/// Largest memory of a run, in bytes. A browser gives a page up to 4 GB; needing more is an error,
/// not a trap.
const MEMORY: u64 = 1_000_000_000;

/// Largest size of a capture file, in bytes.
const CAPTURE_LIMIT: u64 = 100_000_000;

/// Flag of interruption, which is never set: the page ends its worker instead, or takes short
/// steps.
static NEVER: AtomicBool = AtomicBool::new(false);

/// A scenario as the page sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Text of the scenario file.
    toml: String,
    /// Paths and values, as for `--set`.
    #[serde(default)]
    overrides: Vec<(String, String)>,
    /// Probes in canonical form, instead of the scenario's. Without them, those of the scenario are
    /// used.
    probes: Option<Vec<Probe>>,
    /// Number of a replication, which makes its random draws. Without it the run makes none.
    replication: Option<u64>,
}

/// An answer, or the problems found, each as text.
pub type Answer = Result<Json, Vec<String>>;

/// Returns the answer as JSON text; problems become `{"errors": [...]}`.
pub fn text(answer: Answer) -> String {
    written(answer.map(|answer| answer.to_string()))
}

/// Returns an answer that is text already; problems become `{"errors": [...]}`.
pub fn written(answer: Result<String, Vec<String>>) -> String {
    answer.unwrap_or_else(|errors| json!({ "errors": errors }).to_string())
}

/// Returns a list of one problem.
fn problem(error: impl ToString) -> Vec<String> {
    vec![error.to_string()]
}

fn request(text: &str) -> Result<Request, Vec<String>> {
    serde_json::from_str(text).map_err(problem)
}

/// Reads the scenario of a request.
pub fn scenario(text: &str) -> Result<Scenario, Vec<String>> {
    let request = request(text)?;
    let mut scenario = scenario::read_toml(&request.toml, "scenario", &request.overrides)
        .map_err(|problems| problems.iter().map(Problem::to_string).collect::<Vec<_>>())?;
    if let Some(probes) = request.probes {
        // The reader has checked the scenario's own probes, and nobody these.
        let never = |probe: &Probe| {
            [probe.interval, probe.envelope].contains(&Some(Span(0))) || probe.every == Some(0)
        };
        if let Some(place) = probes.iter().position(never) {
            return Err(problem(format!(
                "probes[{place}]: `interval`, `envelope` and `every` must be at least 1"
            )));
        }
        scenario.probes = probes;
    }
    Ok(scenario)
}

/// What [`read`] answers. It is written as text at once: as a tree of values, the description of a
/// large network would take several times as much memory.
#[derive(Serialize)]
struct Reading<'s> {
    tree: Json,
    scenario: &'s Scenario,
    description: Description<'s>,
    format: Constants,
    toml: String,
}

/// Returns the file as data (`tree`), the canonical scenario with every default (`scenario`), its
/// ports and cost (`description`), the constants of its format (`format`), and the file with every
/// default (`toml`), as JSON text.
pub fn read(text: &str) -> Result<String, Vec<String>> {
    let tree = scenario::from_toml(&request(text)?.toml, "scenario")
        .map_err(|problems| problems.iter().map(Problem::to_string).collect::<Vec<_>>())?;
    let tree = data(&tree);
    let scenario = scenario(text)?;
    let reading = Reading {
        tree,
        scenario: &scenario,
        description: describe(&scenario).map_err(problem)?,
        format: scenario.format.constants(),
        toml: scenario::write_toml(&scenario),
    };
    serde_json::to_string(&reading).map_err(problem)
}

fn data(node: &Node) -> Json {
    match &node.value {
        Value::Text(text) | Value::Other(text) => json!(text),
        Value::Integer(number) => json!(number.to_string().parse::<i64>().ok()),
        Value::Decimal(text) => text
            .parse::<f64>()
            .map_or(json!(text), |number| json!(number)),
        Value::Bool(truth) => json!(truth),
        Value::List(items) => items.iter().map(data).collect(),
        Value::Table(fields) => fields
            .iter()
            .map(|f| (f.name.clone(), data(&f.node)))
            .collect(),
    }
}

/// Returns every component with its parameters.
pub fn components() -> Answer {
    Ok(registry::as_json())
}

/// Returns the version of the engine and a hash of its sources.
pub fn build() -> &'static str {
    concat!(
        env!("CARGO_PKG_VERSION"),
        "+",
        env!("CELLYARD_ENGINE_SOURCES")
    )
}

/// Columns of a dropped cell, in this order. Texts are indices into [`Run::names`]; unknown values
/// are NaN.
const DROP: [&str; 21] = [
    "time_s",
    "port",
    "vc",
    "direction",
    "frame",
    "cell",
    "reason",
    "waiting_cells",
    "waiting_of_vc_cells",
    "active_vcs",
    "threshold_cells",
    "average_queue_cells",
    "drop_probability",
    "policy_state",
    "waiting_bytes",
    "waiting_of_vc_bytes",
    "threshold_bytes",
    "average_queue_bytes",
    "free_places",
    "dynamic_threshold_places",
    "pool_queues",
];

/// A run in progress, and the scenario to which it refers.
pub struct Run {
    /// Texts of dropped cells: ports, VCs, directions, reasons, states of programs.
    names: Vec<String>,
    /// Indices of these texts.
    places: HashMap<String, usize>,
    session: Option<Session<'static>>,
    scenario: *mut Scenario,
}

#[allow(unsafe_code)]
impl Drop for Run {
    fn drop(&mut self) {
        self.session = None;
        // SAFETY: the pointer comes from `into_raw`, and nothing refers to the scenario any more.
        drop(unsafe { Box::from_raw(self.scenario) });
    }
}

impl Run {
    /// Creates a run of the scenario of a request, at time 0.
    #[allow(unsafe_code)]
    pub fn new(text: &str) -> Result<Run, Vec<String>> {
        let replication = request(text)?.replication;
        let mut run = Run {
            names: Vec::new(),
            places: HashMap::new(),
            session: None,
            scenario: Box::into_raw(Box::new(scenario(text)?)),
        };
        let options = Options {
            memory: Some(MEMORY),
            captures: Some(CAPTURE_LIMIT),
            ..Options::default()
        };
        // SAFETY: the scenario lives until the run is dropped, which drops the session first.
        let scenario: &'static Scenario = unsafe { &*run.scenario };
        run.session = Some(Session::new(scenario, replication, &options).map_err(problem)?);
        Ok(run)
    }

    /// Continues the run until `seconds`, and returns how far the run has got as `reached`.
    ///
    /// Each series with new points has an entry in `series`. `points` holds its `n` times from
    /// index `from`, followed by its `n` values. `drops` has only the names that are new.
    pub fn advance(&mut self, seconds: f64, points: &mut Vec<f64>) -> Answer {
        let session = self
            .session
            .as_mut()
            .ok_or_else(|| problem("the run is finished"))?;
        let clock = session.clock();
        let ticks = (seconds.max(0.0) * clock.ticks_per_second as f64) as u64;
        let until = Time(ticks.min(session.end().0));
        let reached = session.advance_until(until, &NEVER).map_err(problem)?;
        points.clear();
        let (series, drops) = session.drain();
        let mut found = Vec::new();
        for record in &series {
            found.push(json!({
                "what": record.what, "of": record.of, "class": record.class, "vc": record.vc, "unit": record.unit,
                "statistic": record.statistic, "from": points.len(), "n": record.time_s.len(),
            }));
            points.extend(&record.time_s);
            points.extend(&record.value);
        }
        let end = session.end();
        let from = points.len();
        let known = self.names.len();
        let columns = self.columns(&drops);
        columns.iter().for_each(|column| points.extend(column));
        Ok(json!({
            "reached": reached.as_seconds(clock), "end": end.as_seconds(clock), "ended": reached >= end, "series": found,
            "drops": {"columns": DROP, "names": self.names[known..], "from": from, "n": drops.len()},
        }))
    }

    /// Returns the bytes that the first capture of the run has recorded since the last call.
    pub fn capture(&mut self) -> Vec<u8> {
        let about = About {
            application: concat!("Cellyard ", env!("CARGO_PKG_VERSION"), ", explorer"),
            run: concat!("of the engine ", env!("CELLYARD_ENGINE_SOURCES")),
        };
        let parts = self.session.as_mut().map(|s| s.captured(&about));
        let first = parts.and_then(|parts| parts.into_iter().next());
        first.map_or(Vec::new(), |part| part.bytes)
    }

    /// Returns dropped cells as columns, as there can be millions.
    fn columns(&mut self, drops: &[Dropped]) -> [Vec<f64>; DROP.len()] {
        let mut columns: [Vec<f64>; DROP.len()] =
            std::array::from_fn(|_| Vec::with_capacity(drops.len()));
        let count = |number: Option<u64>| number.map_or(f64::NAN, |number| number as f64);
        for drop in drops {
            let values = [
                drop.time_s,
                self.number(&drop.port),
                self.number(&drop.vc),
                self.number(drop.direction.name()),
                f64::from(drop.frame),
                f64::from(drop.cell),
                self.number(drop.reason.name()),
                count(drop.waiting_cells),
                count(drop.waiting_of_vc_cells),
                count(drop.active_vcs),
                drop.threshold_cells.unwrap_or(f64::NAN),
                drop.average_queue_cells.unwrap_or(f64::NAN),
                drop.drop_probability.unwrap_or(f64::NAN),
                drop.policy_state
                    .as_deref()
                    .map_or(f64::NAN, |state| self.number(state)),
                count(drop.waiting_bytes),
                count(drop.waiting_of_vc_bytes),
                drop.threshold_bytes.unwrap_or(f64::NAN),
                drop.average_queue_bytes.unwrap_or(f64::NAN),
                count(drop.free_places),
                drop.dynamic_threshold_places.unwrap_or(f64::NAN),
                drop.pool_queues
                    .as_deref()
                    .map_or(f64::NAN, |queues| self.number(queues)),
            ];
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
        columns
    }

    /// Returns the index of a text, adding the text when it is new.
    fn number(&mut self, name: &str) -> f64 {
        if let Some(&place) = self.places.get(name) {
            return place as f64;
        }
        let place = self.names.len();
        self.names.push(name.to_string());
        self.places.insert(name.to_string(), place);
        place as f64
    }

    /// Returns the result of a run that has ended, as JSON text. The result contains only points
    /// and drops not handed out before, among them the last point of each series.
    pub fn finish(mut self) -> Result<String, Vec<String>> {
        let session = self
            .session
            .take()
            .ok_or_else(|| problem("the run is finished"))?;
        if session.reached() < session.end() {
            return Err(problem("the run has not ended"));
        }
        serde_json::to_string(&session.finish()).map_err(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAN: &str = include_str!("../../../examples/lan-5.toml");

    fn short(probes: Json) -> String {
        json!({"toml": LAN, "overrides": [["duration", "0.5 s"]], "probes": probes}).to_string()
    }

    #[test]
    fn a_scenario_is_told_as_data_with_its_ports_and_every_default() {
        let found: Json = serde_json::from_str(&read(&short(json!([]))).unwrap()).unwrap();
        assert_eq!(found["tree"]["switch"][0]["ubr"]["buffer"], "1000 cells");
        assert_eq!(found["scenario"]["duration"], 12_636_000_000_000_u64);
        assert_eq!(found["description"]["vcs"], 5);
        assert_eq!(found["format"]["ticks_per_second"], 25_272_000_000_000_u64);
        assert!(found["toml"].as_str().unwrap().contains("tie_order"));
    }

    #[test]
    fn what_is_wrong_is_a_list_of_texts() {
        for wrong in ["", "{}", r#"{"toml": "["}"#, r#"{"toml": "", "more": 1}"#] {
            assert!(!read(wrong).unwrap_err().is_empty(), "{wrong}");
            assert!(written(read(wrong)).starts_with(r#"{"errors":["#));
        }
    }

    #[test]
    fn probes_that_would_never_end_are_refused() {
        for field in ["interval", "envelope", "every"] {
            let probe = |value: u64| json!([{"what": "queue", "of": "west->east", field: value}]);
            assert!(Run::new(&short(probe(1_000_000_000))).is_ok(), "{field}");
            let errors = Run::new(&short(probe(0))).err().unwrap();
            assert!(errors[0].starts_with("probes[0]"), "{errors:?}");
        }
    }

    #[test]
    fn steps_hand_out_points_once_and_the_result_comes_at_the_end() {
        let probes = json!([{"what": "queue", "of": "west->east", "class": null, "vc": null,
                             "interval": null, "every": null}]);
        let mut run = Run::new(&short(probes)).unwrap();
        let mut points = Vec::new();
        let first = run.advance(0.1, &mut points).unwrap();
        let n = first["series"][0]["n"].as_u64().unwrap() as usize;
        assert!(n > 100 && points.len() == 2 * n && points[n - 1] <= 0.1);
        let latest = points[n - 1];
        let early = Run::new(&short(json!([]))).unwrap().finish();
        assert_eq!(early.unwrap_err(), ["the run has not ended"]);
        let last = run.advance(f64::INFINITY, &mut points).unwrap();
        assert_eq!(last["ended"], true);
        assert!(points[0] > latest && run.finish().unwrap().starts_with('{'));
    }

    #[test]
    fn a_capture_is_handed_out_in_parts() {
        let probes = json!([{"what": "capture", "of": "west->east", "layer": "cells",
                             "class": null, "vc": null, "interval": null, "every": null}]);
        let file = |steps: &[f64]| {
            let mut run = Run::new(&short(probes.clone())).unwrap();
            let parts = steps.iter().map(|&until| {
                run.advance(until, &mut Vec::new()).unwrap();
                run.capture()
            });
            parts.collect::<Vec<_>>().concat()
        };
        let whole = file(&[1.0]);
        assert!(whole.starts_with(&0x0A0D_0D0A_u32.to_le_bytes()) && whole.len() > 100_000);
        assert!(file(&[0.1, 0.2, 1.0]) == whole);
    }
}
