//! From a TOML table to a typed value.

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use toml::Table;

/// The value that `table` describes.
///
/// # Errors
/// A sentence about the first problem.
pub(crate) fn read<T: DeserializeOwned>(table: Table) -> Result<T, String> {
    weir_registry::read(object(table))
}

fn object(table: Table) -> Map<String, Value> {
    table.into_iter().map(|(key, value)| (key, json(value))).collect()
}

/// The same value as JSON. A date is text; a number that is not finite, which no schema lets through, is null.
fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::Boolean(value) => Value::Bool(value),
        toml::Value::Integer(value) => value.into(),
        toml::Value::Float(value) => Number::from_f64(value).map_or(Value::Null, Value::Number),
        toml::Value::String(value) => Value::String(value),
        toml::Value::Datetime(value) => Value::String(value.to_string()),
        toml::Value::Array(values) => Value::Array(values.into_iter().map(json).collect()),
        toml::Value::Table(table) => Value::Object(object(table)),
    }
}
