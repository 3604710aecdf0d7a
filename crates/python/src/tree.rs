//! Converts TOML text to Python data, with the place of each key and list entry.

use cellyard_engine::scenario::{Node, Place, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Converts a tree. Stores in `places` the line and column of each key and list entry, by its path
/// from the root.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    tree: &Node,
    places: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    Tree {
        py,
        places,
        path: Vec::new(),
    }
    .convert(tree)
}

struct Tree<'a, 'py> {
    py: Python<'py>,
    places: &'a Bound<'py, PyDict>,
    /// Path to the node being converted: keys and indices of entries.
    path: Vec<Bound<'py, PyAny>>,
}

impl<'py> Tree<'_, 'py> {
    fn convert(&mut self, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match &node.value {
            // No description uses dates, so they become text, which is rejected like any other
            // unsuitable text.
            Value::Text(text) | Value::Other(text) => Ok(text.into_pyobject(py)?.into_any()),
            Value::Integer(number) => Ok(number.into_pyobject(py)?.into_any()),
            Value::Decimal(text) => match text.parse::<f64>() {
                Ok(number) => Ok(number.into_pyobject(py)?.into_any()),
                Err(_) => Ok(text.into_pyobject(py)?.into_any()),
            },
            Value::Bool(truth) => Ok(truth.into_pyobject(py)?.to_owned().into_any()),
            Value::List(items) => {
                let list = PyList::empty(py);
                for (number, item) in items.iter().enumerate() {
                    let step = number.into_pyobject(py)?.into_any();
                    list.append(self.below(step, item.place, item)?)?;
                }
                Ok(list.into_any())
            }
            Value::Table(fields) => {
                let table = PyDict::new(py);
                for field in fields {
                    let step = (&field.name).into_pyobject(py)?.into_any();
                    table.set_item(&field.name, self.below(step, field.place, &field.node)?)?;
                }
                Ok(table.into_any())
            }
        }
    }

    fn below(
        &mut self,
        step: Bound<'py, PyAny>,
        place: Place,
        node: &Node,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.path.push(step);
        let path = PyTuple::new(self.py, &self.path)?;
        self.places.set_item(path, (place.line, place.column))?;
        let converted = self.convert(node);
        self.path.pop();
        converted
    }
}
