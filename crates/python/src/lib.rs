//! The private module `cellyard._engine`: converts, releases the interpreter lock, calls the engine, maps errors.
//! Scenarios, registry and results cross as JSON text, recorded points as arrays; `python/cellyard/` gives them their types.

mod batch;
mod clock;

use cellyard_engine::scenario::{self, Problem, Scenario};
use cellyard_engine::{describe, registry, results};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Raises `cellyard.errors.ScenarioError` with everything that is wrong.
fn scenario_error(py: Python<'_>, problems: &[Problem]) -> PyErr {
    let raise = || -> PyResult<PyErr> {
        let errors = py.import("cellyard.errors")?;
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

/// Scenario in its canonical form, as this module hands it out.
fn parse(canonical: &str) -> PyResult<Scenario> {
    serde_json::from_str(canonical).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn canonical(scenario: &Scenario) -> PyResult<String> {
    serde_json::to_string(scenario).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
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
    text: &str,
    file: &str,
    overrides: Vec<(String, String)>,
) -> PyResult<String> {
    let scenario = py
        .detach(|| scenario::read_toml(text, file, &overrides))
        .map_err(|problems| scenario_error(py, &problems))?;
    canonical(&scenario)
}

/// Canonical JSON of the scenario whose TOML data are given as JSON; `overrides` as in `read_toml`.
#[pyfunction]
fn read_json(py: Python<'_>, text: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    let value = serde_json::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let scenario = py
        .detach(|| scenario::read_json(&value, &overrides))
        .map_err(|problems| scenario_error(py, &problems))?;
    canonical(&scenario)
}

/// TOML of a canonical scenario, every default filled in.
#[pyfunction]
fn write_toml(scenario_json: &str) -> PyResult<String> {
    Ok(scenario::write_toml(&parse(scenario_json)?))
}

/// Topology, ports that can queue and expected cost of a canonical scenario, as JSON.
#[pyfunction(name = "describe")]
fn describe_json(scenario_json: &str) -> PyResult<String> {
    let described = describe(&parse(scenario_json)?);
    described
        .map(|d| d.to_string())
        .map_err(|e| PyValueError::new_err(e.to_string()))
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

/// The one of `known` that `word` is most probably a misspelling of.
#[pyfunction]
fn nearest(word: &str, known: Vec<String>) -> Option<String> {
    cellyard_engine::nearest(word, known.iter().map(String::as_str)).map(str::to_string)
}

/// Private module of the package `cellyard`.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(build, module)?)?;
    module.add_function(wrap_pyfunction!(read_toml, module)?)?;
    module.add_function(wrap_pyfunction!(read_json, module)?)?;
    module.add_function(wrap_pyfunction!(write_toml, module)?)?;
    module.add_function(wrap_pyfunction!(describe_json, module)?)?;
    module.add_function(wrap_pyfunction!(registry_json, module)?)?;
    module.add_function(wrap_pyfunction!(json_schema, module)?)?;
    module.add_function(wrap_pyfunction!(results_schema, module)?)?;
    module.add_function(wrap_pyfunction!(nearest, module)?)?;
    module.add_class::<batch::Batch>()
}
