//! The private module `cellyard._engine`: converts arguments, releases the interpreter lock, calls
//! the engine and maps errors.
//!
//! Scenarios, registry and results cross as JSON text, recorded points as arrays.
//! `python/cellyard/` gives them their types.

mod batch;
mod clock;
mod recorded;
mod tree;

use cellyard_engine::format::Format;
use cellyard_engine::scenario::{self, Heading, Problem, Scenario};
use cellyard_engine::{describe, registry, results};
use pyo3::exceptions::{PyArithmeticError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyAny, PyDict, PyList, PyString};
use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Builds a `cellyard.errors.ScenarioError` with all problems.
fn scenario_error(py: Python<'_>, problems: &[Problem]) -> PyErr {
    let raise = || -> PyResult<PyErr> {
        let errors = py.import("cellyard.system.errors")?;
        let problem = errors.getattr("Problem")?;
        let list = PyList::empty(py);
        for p in problems {
            list.append(problem.call1((
                p.to_string(),
                p.line,
                p.column,
                &p.path,
                &p.value,
                &p.message,
                &p.allowed,
                &p.suggestion,
                &p.excerpt,
            ))?)?;
        }
        Ok(PyErr::from_value(
            errors.getattr("ScenarioError")?.call1((list,))?,
        ))
    };
    raise().unwrap_or_else(|failed| failed)
}

/// Interval at which signals are checked while the engine works, and stack size of its thread: that
/// of a main thread.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const STACK_BYTES: usize = 8 << 20;

/// Runs `work` on a separate thread with the interpreter lock released, so that signals are handled
/// meanwhile.
///
/// An exception from a signal handler is raised here at once. The thread cannot be stopped, so it
/// then runs to its end for nothing. Reading and describing take time linear in the input.
fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, result) = channel();
    let result = Mutex::new(result); // so that it may be waited at without the lock
    let thread = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || drop(done.send(work())))?;
    loop {
        let found = py.detach(|| {
            let result = result.lock().unwrap_or_else(PoisonError::into_inner);
            result.recv_timeout(LOOK_EVERY)
        });
        match found {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("nothing was sent");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// A scenario together with its canonical form.
struct CachedScenario {
    canonical: PyBackedStr,
    scenario: Scenario,
}

/// The scenario that was handed out last. The next call is most often about it, and parsing it
/// again would take as long as the rest of the call.
static LAST: Mutex<Option<Arc<CachedScenario>>> = Mutex::new(None);

/// Returns the scenario that was handed out last, if `canonical` is its canonical form.
fn last(canonical: &str) -> Option<Arc<CachedScenario>> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.clone().filter(|last| *last.canonical == *canonical)
}

/// Calls `work` with the scenario that `canonical`, a canonical form from this module, describes.
fn with_scenario<T>(
    canonical: &str,
    work: impl FnOnce(&Scenario) -> Result<T, String>,
) -> Result<T, String> {
    if let Some(last) = last(canonical) {
        return work(&last.scenario);
    }
    work(&serde_json::from_str(canonical).map_err(|e| e.to_string())?)
}

/// Reads a scenario and returns canonical JSON. Keeps the scenario as the last one, with the same
/// text: a copy would take as much memory as the scenario.
fn handed_out<'py>(
    py: Python<'py>,
    read: impl FnOnce() -> Result<Scenario, Vec<Problem>> + Send + 'static,
) -> PyResult<Bound<'py, PyString>> {
    let read =
        || read().map(|scenario| serde_json::to_string(&scenario).map(|json| (scenario, json)));
    let (scenario, json) = interruptible(py, read)?
        .map_err(|problems| scenario_error(py, &problems))?
        .map_err(|e| PyValueError::new_err(e.to_string()))?;
    let text = PyString::new(py, &json);
    drop(json);
    let known = CachedScenario {
        canonical: text.clone().try_into()?,
        scenario,
    };
    let before = LAST
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .replace(Arc::new(known));
    drop(before);
    Ok(text)
}

/// Returns what `work` makes of a scenario in canonical JSON.
fn made_of<T: Send + 'static>(
    py: Python<'_>,
    scenario_json: PyBackedStr,
    work: impl FnOnce(&Scenario) -> Result<T, String> + Send + 'static,
) -> PyResult<T> {
    interruptible(py, move || with_scenario(&scenario_json, work))?.map_err(PyValueError::new_err)
}

/// Returns the version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Imports numpy and what its arrays need, unless already imported.
#[pyfunction]
fn prepare_arrays(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    numpy::PyArray1::<f64>::zeros(py, 0, false);
    Ok(())
}

/// Returns the version of the engine and a hash of its sources. Equal builds give equal results.
#[pyfunction]
fn build() -> &'static str {
    concat!(
        env!("CARGO_PKG_VERSION"),
        "+",
        env!("CELLYARD_ENGINE_SOURCES")
    )
}

/// Returns canonical JSON of the scenario in the TOML `text`. Error messages name `file`.
/// `overrides` are pairs of a dotted path and a TOML value or bare word.
#[pyfunction]
fn read_toml(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<(String, String)>,
) -> PyResult<Bound<'_, PyString>> {
    handed_out(py, move || scenario::read_toml(&text, &file, &overrides))
}

/// Returns canonical JSON of the scenario whose TOML data are given as JSON. `overrides` are those
/// of `read_toml`.
#[pyfunction]
fn read_json<'py>(
    py: Python<'py>,
    text: &str,
    overrides: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyString>> {
    let value = serde_json::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
    handed_out(py, move || scenario::read_json(&value, &overrides))
}

/// Returns the data of any TOML `text`, and the place (line, column) of each key and list entry by
/// its path from the root. Syntax errors are reported as for a scenario and name `file`.
#[pyfunction]
fn read_tree<'py>(
    py: Python<'py>,
    text: String,
    file: String,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let tree = interruptible(py, move || scenario::from_toml(&text, &file))?
        .map_err(|problems| scenario_error(py, &problems))?;
    let places = PyDict::new(py);
    Ok((tree::to_python(py, &tree, &places)?, places))
}

/// Returns a canonical scenario as TOML, with every default filled in, in pieces.
#[pyfunction]
fn write_toml(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<Vec<String>> {
    made_of(py, scenario_json, |scenario| {
        Ok(scenario::toml_pieces(scenario))
    })
}

/// Returns topology, ports that can queue and expected cost of a canonical scenario, as JSON.
#[pyfunction(name = "describe")]
fn describe_json(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<String> {
    made_of(py, scenario_json, |scenario| {
        let described = describe(scenario).map_err(|e| e.to_string())?;
        serde_json::to_string(&described).map_err(|e| e.to_string())
    })
}

/// Returns an outline of a canonical scenario as JSON: its sums, and its VCs grouped by route.
#[pyfunction(name = "outline")]
fn outline_json(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<String> {
    made_of(py, scenario_json, |scenario| {
        let found = cellyard_engine::outline(scenario).map_err(|e| e.to_string())?;
        serde_json::to_string(&found).map_err(|e| e.to_string())
    })
}

/// Returns the smallest size limit of the capture files of a canonical scenario: see
/// `cellyard_engine::least_capture_limit`.
#[pyfunction]
fn least_capture_limit(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<u64> {
    made_of(py, scenario_json, |scenario| {
        cellyard_engine::least_capture_limit(scenario).map_err(|e| e.to_string())
    })
}

/// Returns name and seed of a canonical scenario.
#[pyfunction]
fn heading(scenario_json: &str) -> PyResult<(String, u64)> {
    heading_of(scenario_json).map(|heading| (heading.name, heading.seed))
}

fn heading_of(scenario_json: &str) -> PyResult<Heading> {
    if let Some(last) = last(scenario_json) {
        return Ok(Heading {
            name: last.scenario.name.clone(),
            seed: last.scenario.seed,
            format: last.scenario.format,
        });
    }
    serde_json::from_str(scenario_json).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Returns warnings about a canonical scenario: what is valid, but probably a mistake.
#[pyfunction(name = "notes")]
fn notes_of(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<Vec<String>> {
    made_of(py, scenario_json, |scenario| {
        cellyard_engine::notes(scenario).map_err(|e| e.to_string())
    })
}

/// Returns warnings about replications: see `cellyard_engine::replication_notes`.
#[pyfunction]
fn replication_notes(
    py: Python<'_>,
    scenario_json: PyBackedStr,
    is_jitter_stated: bool,
) -> PyResult<Vec<String>> {
    made_of(py, scenario_json, move |scenario| {
        cellyard_engine::replication_notes(scenario, is_jitter_stated).map_err(|e| e.to_string())
    })
}

/// Returns what Python knows of the format of a canonical scenario, or of `aal5` without one, as JSON
/// with the names of its class `Format`.
#[pyfunction]
#[pyo3(signature = (scenario_json=None))]
fn format_constants(scenario_json: Option<&str>) -> PyResult<String> {
    let format = match scenario_json {
        Some(json) => heading_of(json)?.format,
        None => Format::AAL5,
    };
    serde_json::to_string(&format.constants()).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Returns all components with their parameters, as JSON.
#[pyfunction(name = "registry")]
fn registry_json() -> String {
    registry::as_json().to_string()
}

/// Returns the JSON Schema of a scenario.
#[pyfunction]
fn json_schema() -> String {
    registry::json_schema().to_string()
}

/// Returns the JSON Schema of the result of a run.
#[pyfunction]
fn results_schema() -> String {
    results::json_schema().to_string()
}

/// Returns the words of `known` that `word` is probably a misspelling of.
#[pyfunction]
fn near(word: &str, known: Vec<String>) -> Vec<String> {
    let found = cellyard_engine::near(word, known.iter().map(String::as_str));
    found.into_iter().map(str::to_string).collect()
}

/// Value of a state of a program.
#[derive(FromPyObject, IntoPyObject)]
enum StateValue {
    Bool(bool),
    Integer(i128),
    Float(f64),
}

/// Returns the verdict of the program at the first queue of a canonical scenario, and its states
/// afterwards: see `cellyard_engine::decide`. A failure of the program raises `ArithmeticError`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
fn decide(
    scenario_json: &str,
    known: HashMap<String, i128>,
    sums: [u64; 3],
    states: HashMap<String, StateValue>,
    draw: Bound<'_, PyAny>,
) -> PyResult<(&'static str, HashMap<String, StateValue>)> {
    use cellyard_engine::StateValue as Engine;
    let mut engine_states = HashMap::new();
    for (name, value) in states {
        let value = match value {
            StateValue::Bool(a) => Engine::Bool(a),
            StateValue::Integer(a) => Engine::Integer(a),
            StateValue::Float(a) => Engine::Float(a),
        };
        engine_states.insert(name, value);
    }
    let mut failed = None;
    let mut next = || {
        let drawn = draw.call0().and_then(|found| found.extract::<f64>());
        drawn.unwrap_or_else(|error| {
            failed.get_or_insert(error);
            0.0
        })
    };
    let given = cellyard_engine::Given {
        known: &known,
        sums,
        states: &mut engine_states,
        draw: &mut next,
    };
    let answer = with_scenario(scenario_json, |scenario| {
        Ok(cellyard_engine::decide(scenario, given))
    })
    .map_err(PyValueError::new_err)?;
    if let Some(error) = failed {
        return Err(error);
    }
    let verdict = answer
        .map_err(|(why, place)| PyArithmeticError::new_err(format!("{why}\n{}", place.excerpt)))?;
    let states = engine_states.into_iter().map(|(name, value)| {
        let value = match value {
            Engine::Bool(a) => StateValue::Bool(a),
            Engine::Integer(a) => StateValue::Integer(a),
            Engine::Float(a) => StateValue::Float(a),
        };
        (name, value)
    });
    Ok((verdict, states.collect()))
}

/// The interface of this module: functions, arguments, and documents that they return. The package
/// has the same number in `cellyard.system.interface`.
const INTERFACE: u32 = 6;

/// The private module of the package `cellyard`.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let package = module.py().import("cellyard.system.interface")?;
    package.call_method1("check", (INTERFACE,))?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(format_constants, module)?)?;
    module.add_function(wrap_pyfunction!(prepare_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(read_toml, module)?)?;
    module.add_function(wrap_pyfunction!(read_json, module)?)?;
    module.add_function(wrap_pyfunction!(read_tree, module)?)?;
    module.add_function(wrap_pyfunction!(write_toml, module)?)?;
    module.add_function(wrap_pyfunction!(describe_json, module)?)?;
    module.add_function(wrap_pyfunction!(outline_json, module)?)?;
    module.add_function(wrap_pyfunction!(least_capture_limit, module)?)?;
    module.add_function(wrap_pyfunction!(batch::memory_refusal, module)?)?;
    module.add_function(wrap_pyfunction!(heading, module)?)?;
    module.add_function(wrap_pyfunction!(notes_of, module)?)?;
    module.add_function(wrap_pyfunction!(replication_notes, module)?)?;
    module.add_function(wrap_pyfunction!(registry_json, module)?)?;
    module.add_function(wrap_pyfunction!(json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(results_schema, module)?)?;
    module.add_function(wrap_pyfunction!(near, module)?)?;
    module.add_function(wrap_pyfunction!(decide, module)?)?;
    module.add_class::<batch::Batch>()
}
