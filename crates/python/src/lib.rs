//! The private module `cellyard._engine`: converts, releases the interpreter lock, calls the engine, maps errors.
//! Scenarios, registry and results cross as JSON text, recorded points as arrays; `python/cellyard/` gives them their types.

mod batch;
mod clock;
mod recorded;
mod tree;

use cellyard_engine::scenario::{self, Heading, Problem, Scenario};
use cellyard_engine::{describe, registry, results};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyAny, PyDict, PyList};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Raises `cellyard.errors.ScenarioError` with everything that is wrong.
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
            ))?)?;
        }
        Ok(PyErr::from_value(
            errors.getattr("ScenarioError")?.call1((list,))?,
        ))
    };
    raise().unwrap_or_else(|failed| failed)
}

/// How often a signal is looked for while the engine works, and the stack of the thread that does: that of a main thread.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const STACK_BYTES: usize = 8 << 20;

/// Does `work` on a thread of its own with the interpreter lock released, so that a signal is heard meanwhile: what its handler
/// raises is raised here at once. The thread, which nobody can stop, then works to its end for nothing; what reading and describing
/// take is linear in what may be given.
fn heard<T: Send + 'static>(
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

/// A scenario beside its canonical form.
struct Known {
    canonical: String,
    scenario: Scenario,
}

/// The one that was handed out last: what is asked next is most often about it, and reading it again takes as long as the rest.
static LAST: Mutex<Option<Arc<Known>>> = Mutex::new(None);

/// The one that was handed out last, if `canonical` is its form.
fn last(canonical: &str) -> Option<Arc<Known>> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.clone().filter(|last| last.canonical == canonical)
}

/// What `work` makes of the scenario in its canonical form, as this module hands it out.
fn with_scenario<T>(
    canonical: &str,
    work: impl FnOnce(&Scenario) -> Result<T, String>,
) -> Result<T, String> {
    if let Some(last) = last(canonical) {
        return work(&last.scenario);
    }
    work(&serde_json::from_str(canonical).map_err(|e| e.to_string())?)
}

/// The canonical form of a scenario, which is kept as the last one.
fn canonical(scenario: Scenario) -> Result<String, String> {
    let canonical = serde_json::to_string(&scenario).map_err(|e| e.to_string())?;
    let known = Known {
        canonical: canonical.clone(),
        scenario,
    };
    let before = LAST
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .replace(Arc::new(known));
    drop(before);
    Ok(canonical)
}

/// What was read, as canonical JSON.
fn handed_out(
    py: Python<'_>,
    read: impl FnOnce() -> Result<Scenario, Vec<Problem>> + Send + 'static,
) -> PyResult<String> {
    heard(py, || read().map(canonical))?
        .map_err(|problems| scenario_error(py, &problems))?
        .map_err(PyValueError::new_err)
}

/// What `work` makes of a canonical scenario.
fn made_of<T: Send + 'static>(
    py: Python<'_>,
    scenario_json: PyBackedStr,
    work: impl FnOnce(&Scenario) -> Result<T, String> + Send + 'static,
) -> PyResult<T> {
    heard(py, move || with_scenario(&scenario_json, work))?.map_err(PyValueError::new_err)
}

/// Version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Imports numpy and what arrays of it need, if that has not been done.
#[pyfunction]
fn prepare_arrays(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    numpy::PyArray1::<f64>::zeros(py, 0, false);
    Ok(())
}

/// Version of the engine and a hash of its sources: the same build gives the same results.
#[pyfunction]
fn build() -> &'static str {
    concat!(
        env!("CARGO_PKG_VERSION"),
        "+",
        env!("CELLYARD_ENGINE_SOURCES")
    )
}

/// Canonical JSON of the scenario in the TOML `text`, which `file` names in error messages.
/// `overrides` are (dotted path, TOML value or bare word).
#[pyfunction]
fn read_toml(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<(String, String)>,
) -> PyResult<String> {
    handed_out(py, move || scenario::read_toml(&text, &file, &overrides))
}

/// Canonical JSON of the scenario whose TOML data are given as JSON; `overrides` as in `read_toml`.
#[pyfunction]
fn read_json(py: Python<'_>, text: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    let value = serde_json::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
    handed_out(py, move || scenario::read_json(&value, &overrides))
}

/// The data of any TOML `text`, and the place (line, column) of each key and list entry by its way down. Errors of syntax are
/// those of a scenario; `file` names the text in them.
#[pyfunction]
fn read_tree<'py>(
    py: Python<'py>,
    text: String,
    file: String,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let tree = heard(py, move || scenario::from_toml(&text, &file))?
        .map_err(|problems| scenario_error(py, &problems))?;
    let places = PyDict::new(py);
    Ok((tree::to_python(py, &tree, &places)?, places))
}

/// TOML of a canonical scenario, every default filled in.
#[pyfunction]
fn write_toml(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<String> {
    made_of(py, scenario_json, |scenario| {
        Ok(scenario::write_toml(scenario))
    })
}

/// Topology, ports that can queue and expected cost of a canonical scenario, as JSON.
#[pyfunction(name = "describe")]
fn describe_json(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<String> {
    made_of(py, scenario_json, |scenario| {
        let described = describe(scenario).map_err(|e| e.to_string())?;
        serde_json::to_string(&described).map_err(|e| e.to_string())
    })
}

/// A canonical scenario at a glance, as JSON: what it amounts to in all, and its VCs by the ways they take.
#[pyfunction(name = "outline")]
fn outline_json(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<String> {
    made_of(py, scenario_json, |scenario| {
        let found = cellyard_engine::outline(scenario).map_err(|e| e.to_string())?;
        serde_json::to_string(&found).map_err(|e| e.to_string())
    })
}

/// Name and seed of a canonical scenario.
#[pyfunction]
fn heading(scenario_json: &str) -> PyResult<(String, u64)> {
    if let Some(last) = last(scenario_json) {
        return Ok((last.scenario.name.clone(), last.scenario.seed));
    }
    let found: Result<Heading, _> = serde_json::from_str(scenario_json);
    found
        .map(|heading| (heading.name, heading.seed))
        .map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Sentences about what is allowed in a canonical scenario and hardly meant.
#[pyfunction(name = "notes")]
fn notes_of(py: Python<'_>, scenario_json: PyBackedStr) -> PyResult<Vec<String>> {
    made_of(py, scenario_json, |scenario| {
        cellyard_engine::notes(scenario).map_err(|e| e.to_string())
    })
}

/// All components with their parameters, as JSON.
#[pyfunction(name = "registry")]
fn registry_json() -> String {
    registry::as_json().to_string()
}

/// JSON Schema of a scenario.
#[pyfunction]
fn json_schema() -> String {
    registry::json_schema().to_string()
}

/// JSON Schema of a run's result.
#[pyfunction]
fn results_schema() -> String {
    results::json_schema().to_string()
}

/// Those of `known` that `word` probably stands for.
#[pyfunction]
fn near(word: &str, known: Vec<String>) -> Vec<String> {
    let found = cellyard_engine::near(word, known.iter().map(String::as_str));
    found.into_iter().map(str::to_string).collect()
}

/// Private module of the package `cellyard`.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(prepare_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(read_toml, module)?)?;
    module.add_function(wrap_pyfunction!(read_json, module)?)?;
    module.add_function(wrap_pyfunction!(read_tree, module)?)?;
    module.add_function(wrap_pyfunction!(write_toml, module)?)?;
    module.add_function(wrap_pyfunction!(describe_json, module)?)?;
    module.add_function(wrap_pyfunction!(outline_json, module)?)?;
    module.add_function(wrap_pyfunction!(heading, module)?)?;
    module.add_function(wrap_pyfunction!(notes_of, module)?)?;
    module.add_function(wrap_pyfunction!(registry_json, module)?)?;
    module.add_function(wrap_pyfunction!(json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(results_schema, module)?)?;
    module.add_function(wrap_pyfunction!(near, module)?)?;
    module.add_class::<batch::Batch>()
}
