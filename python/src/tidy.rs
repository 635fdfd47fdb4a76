//! The long table of runs as NumPy columns.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use weir_measure::results::AxisValues;
use weir_measure::results::{TableColumn, TextColumn, TidyTable};

use crate::columns::list;

/// The columns of numbers, the categories and codes of the columns of texts, and the names of all columns in order.
pub(crate) type TidyColumns<'py> = (Bound<'py, PyDict>, Bound<'py, PyDict>, Bound<'py, PyList>);

/// The columns of `table`.
pub(crate) fn tidy_columns<'py>(py: Python<'py>, table: &TidyTable) -> PyResult<TidyColumns<'py>> {
    let (numbers, texts, names) = (PyDict::new(py), PyDict::new(py), PyList::empty(py));
    let text = |name: &str, column: &TextColumn| {
        texts.set_item(name, (list(py, &column.categories)?, PyArray1::from_slice(py, &column.codes)))
    };
    for (name, column) in table.columns() {
        match column {
            TableColumn::Runs(runs) => numbers.set_item(name, PyArray1::from_slice(py, runs))?,
            TableColumn::Seeds(seeds) => numbers.set_item(name, PyArray1::from_slice(py, seeds))?,
            TableColumn::Values(values) => numbers.set_item(name, PyArray1::from_slice(py, values))?,
            TableColumn::Text(column) => text(name, column)?,
            TableColumn::Axis(axis) => match &axis.values {
                AxisValues::Numbers(values, _) => {
                    numbers.set_item(name, PyArray1::from_slice(py, values))?;
                }
                AxisValues::Texts(column) => text(name, column)?,
            },
        }
        names.append(name)?;
    }
    Ok((numbers, texts, names))
}
