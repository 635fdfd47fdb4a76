//! From a TOML table to a typed value.

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use toml::Table;

/// The value that `table` describes.
///
/// # Errors
/// A sentence about the first problem.
pub fn read<T: DeserializeOwned>(table: Table) -> Result<T, String> {
    weir_registry::read(object(table)?)
}

fn object(table: Table) -> Result<Map<String, Value>, String> {
    let entry = |(key, value)| match json(value) {
        Ok(value) => Ok((key, value)),
        Err(problem) => Err(format!("`{key}`: {problem}")),
    };
    table.into_iter().map(entry).collect()
}

/// The same value as JSON; a date is text.
///
/// # Errors
/// A number that is not finite.
fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::Boolean(value) => Value::Bool(value),
        toml::Value::Integer(value) => value.into(),
        toml::Value::Float(value) => {
            Value::Number(Number::from_f64(value).ok_or_else(|| format!("{value} is no finite number"))?)
        }
        toml::Value::String(value) => Value::String(value),
        toml::Value::Datetime(value) => Value::String(value.to_string()),
        toml::Value::Array(values) => Value::Array(values.into_iter().map(json).collect::<Result<_, _>>()?),
        toml::Value::Table(table) => Value::Object(object(table)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_finite_is_refused_by_its_key() {
        let table: Table = toml::from_str("a = { b = [1.0, inf] }").unwrap();
        assert_eq!(read::<Value>(table), Err("`a`: `b`: inf is no finite number".to_owned()));
        let table: Table = toml::from_str("a = 1\nb = 1979-05-27").unwrap();
        assert_eq!(read::<Value>(table), Ok(serde_json::json!({ "a": 1, "b": "1979-05-27" })));
    }
}
