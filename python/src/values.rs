//! Values of Python as TOML, and JSON as values of Python.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The greatest depth of nested values.
const DEEPEST: usize = 32;

/// A dictionary with text as keys as a table of TOML; keys with the value `None` are left out.
pub(crate) fn table(dict: &Bound<'_, PyDict>) -> PyResult<toml::Table> {
    nested(dict, "", DEEPEST)
}

/// `place`, a dotted path, as the beginning of a message.
fn in_place(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}

fn nested(dict: &Bound<'_, PyDict>, place: &str, depth: usize) -> PyResult<toml::Table> {
    let mut table = toml::Table::new();
    for (key, value) in dict {
        let key: String = key
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("{}a key must be text, not {key}", in_place(place))))?;
        let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        if !value.is_none() {
            table.insert(key, value_at(&value, &place, depth)?);
        }
    }
    Ok(table)
}

/// A value of TOML.
pub(crate) fn value(value: &Bound<'_, PyAny>, place: &str) -> PyResult<toml::Value> {
    value_at(value, place, DEEPEST)
}

fn value_at(value: &Bound<'_, PyAny>, place: &str, depth: usize) -> PyResult<toml::Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PyTypeError::new_err(format!("{place}: is nested more than {DEEPEST} times")));
    };
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(toml::Value::String(text.extract()?));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(toml::Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let number: i64 = value.extract().map_err(|_| {
            PyTypeError::new_err(format!(
                "{place}: the number {value} is beyond 64 bits; give it as text with a unit"
            ))
        })?;
        return Ok(toml::Value::Integer(number));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(toml::Value::Float(value.extract()?));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(toml::Value::Table(nested(dict, place, depth)?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value
            .try_iter()?
            .enumerate()
            .map(|(index, item)| value_at(&item?, &format!("{place}.{index}"), depth));
        return Ok(toml::Value::Array(items.collect::<PyResult<_>>()?));
    }
    // Numbers of NumPy, which are no subclasses of Python's.
    if let Ok(item) = value.call_method0("item")
        && !item.is(value)
    {
        return value_at(&item, place, depth);
    }
    let kind = value.get_type().name()?.to_string();
    Err(PyTypeError::new_err(format!(
        "{place}: a scenario takes text, numbers, booleans, lists and dictionaries, not {kind}"
    )))
}

/// A value of JSON as Python's.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    use serde_json::Value;
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(from_json(py, item)?))?;
            list.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            fields.iter().try_for_each(|(key, value)| dict.set_item(key, from_json(py, value)?))?;
            dict.into_any()
        }
    })
}
