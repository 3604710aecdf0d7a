//! Parts of the engine exposed for its own tests and benchmarks only.

pub use crate::about::describe::cost::expected;
pub use crate::ground::event::{EventList, Kind};
pub use crate::ground::flow::{FlowId, FlowKind};
pub use crate::ground::rng::{Step, Stream};
pub use crate::host::tcp::{Receiver, SegmentOutcome, Sender};
pub use crate::network::tally::{
    AbrTally, DropCounts, DropReason, FlowTally, LinkDrops, MeasuredPort, SenderCounters, Tally,
    Transfer, VcTally, Where, digest,
};
pub use crate::run::resolved::Resolved;
pub use crate::text::scenario::topology::Topology;

use crate::about::session::Session;
use crate::ground::units::Time;
#[cfg(any(feature = "fast-paths", debug_assertions))]
pub use crate::port::fast_paths::without_fast_paths;
#[cfg(feature = "fast-paths")]
pub use crate::port::fast_paths::{FastPath, all_fast_paths};
use crate::text::options::{Kernel, Options, RunError};
use crate::text::registry::{self, Component, Family};
use crate::text::scenario::report::Report;
use crate::text::scenario::{Scenario, tree, validate};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

/// Runs `scenario` and returns the plain counters.
///
/// # Errors
/// See [`crate::run`].
pub fn run_tally(
    scenario: &Scenario,
    replication: Option<u64>,
    kernel: Kernel,
    digest: bool,
) -> Result<Tally, RunError> {
    let options = Options {
        kernel,
        digest,
        ..Options::default()
    };
    let mut session = Session::new(scenario, replication, &options)?;
    session.advance_until(Time::NEVER, &AtomicBool::new(false))?;
    Ok(session.counted().1)
}

/// Runs the twin and returns its counters, including the digest.
///
/// # Panics
/// If the scenario does not pass the reader's checks, or the cell counts do not balance.
pub fn run_twin(scenario: &Scenario, replication: Option<u64>) -> Tally {
    run_tally(scenario, replication, Kernel::Twin, true).expect("the scenario is consistent")
}

/// Whether the rules of the reader between the fields of `component` allow these values, in the form
/// of the model.
pub fn is_allowed(component: &Component, values: &Map<String, Value>) -> bool {
    let root = tree::from_json(&Value::Null);
    let mut report = Report::new("", &root, Vec::new());
    validate::component(component, values, "", &mut report);
    report.is_empty()
}

/// Components of `families`, and choices of their parameters, that occur in none of `scenarios`:
/// the gaps in tests that use these scenarios.
pub fn left_out<'s>(
    scenarios: impl IntoIterator<Item = &'s Scenario>,
    families: &[Family],
) -> Vec<String> {
    let mut said = HashSet::new();
    for scenario in scenarios {
        let document = serde_json::to_value(scenario).expect("a scenario is data");
        note(&document, "", &mut said);
    }
    let mut lacking = Vec::new();
    for component in families.iter().flat_map(|family| family.components()) {
        let tag = component.family.tag().map(|tag| (tag, component.name));
        let choices = component.parameters.iter().flat_map(|parameter| {
            let choices = match parameter.kind {
                registry::Kind::Choice(choices) => choices,
                _ => &[],
            };
            choices.iter().map(|choice| (parameter.name, choice.name))
        });
        let missing = tag.into_iter().chain(choices).filter(|(field, value)| {
            let pair = (field.to_string(), value.to_string());
            !said.contains(&pair)
        });
        let lines = missing.map(|(field, value)| format!("{field} = {value} ({})", component.name));
        lacking.extend(lines);
    }
    lacking
}

/// Records each text in a scenario together with its field name.
fn note(value: &Value, field: &str, said: &mut HashSet<(String, String)>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, inner)| note(inner, key, said)),
        Value::Array(items) => items.iter().for_each(|item| note(item, field, said)),
        Value::String(text) => {
            said.insert((field.into(), text.clone()));
        }
        _ => {}
    }
}

/// Whether the drop policy of `queue` may push out waiting cells.
pub fn pushes_out(queue: &crate::text::scenario::ClassQueue) -> bool {
    queue.drop.abilities().pushes_out
}
