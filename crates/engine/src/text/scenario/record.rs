//! Records: the checked fields of a component, in the serde form of the types in `model`.
//!
//! A faulty field is missing from its record. A field that was left out and has no default is null.

use crate::ground::units::Ratio;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// The checked fields of one component.
pub(crate) type Record = Map<String, Json>;

/// The text `name` of a record. `None` when it was faulty or left out.
pub(crate) fn text<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
    record.get(name).and_then(Json::as_str)
}

/// The number `name` of a record. `None` when it was faulty or left out.
pub(crate) fn number(record: &Record, name: &str) -> Option<u64> {
    record.get(name).and_then(Json::as_u64)
}

/// The component `name` of a record. `None` when it was faulty or left out.
pub(crate) fn object<'r>(record: &'r Record, name: &str) -> Option<&'r Record> {
    record.get(name).and_then(Json::as_object)
}

/// Whether the field `name` was left out.
pub(crate) fn is_left_out(record: &Record, name: &str) -> bool {
    record.get(name).is_some_and(Json::is_null)
}

/// Reads `value`, a field of a record, as a fraction.
pub(crate) fn fraction(value: &Json) -> Option<Ratio> {
    Some(Ratio::new(value["num"].as_u64()?, value["den"].as_u64()?))
}

/// The entries of one list of the scenario. `None` stands for an entry that is not a table.
pub(crate) fn entries<'r>(scenario: &'r Record, list: &str) -> Vec<Option<&'r Record>> {
    let items = scenario.get(list).and_then(Json::as_array);
    items.map_or(Vec::new(), |items| {
        items.iter().map(Json::as_object).collect()
    })
}

/// Converts a value to a type of the model. `None` while something in it is faulty.
pub(crate) fn complete<T: DeserializeOwned>(value: &Json) -> Option<T> {
    T::deserialize(value).ok()
}

/// Converts the field `name` of a record without faults to a type of the model.
pub(crate) fn field<T: DeserializeOwned>(record: &Record, name: &str) -> T {
    let value = record.get(name).unwrap_or(&Json::Null);
    T::deserialize(value).expect("the registry has the fields of the model")
}

/// The path of `field` below `path`.
pub(crate) fn join(path: &str, field: &str) -> String {
    if path.is_empty() {
        field.to_string()
    } else {
        format!("{path}.{field}")
    }
}
