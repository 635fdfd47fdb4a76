//! Tables as dictionaries of NumPy arrays.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use weir_cc::LimitingFactor;
use weir_measure::metrics::Column;

/// The values of a column of several blocks.
#[derive(Debug)]
enum ColumnValues {
    Numbers(Vec<f64>),
    /// Indices of texts; -1 for none.
    Texts(Vec<i32>, Vec<String>),
}

/// A table, gathered block by block.
#[derive(Debug, Default)]
pub(crate) struct GatheredTable {
    columns: Vec<(String, ColumnValues)>,
}

impl GatheredTable {
    /// Appends a block; all blocks have the same columns.
    pub(crate) fn add(&mut self, block: &[(String, Column<'_>)]) {
        if self.columns.is_empty() {
            let empty = |(name, column): &(String, Column<'_>)| {
                let values = match column {
                    Column::Numbers(_) => ColumnValues::Numbers(Vec::new()),
                    Column::LimitingFactors(_) => {
                        let names = LimitingFactor::ALL.iter().map(|factor| factor.name().to_owned());
                        ColumnValues::Texts(Vec::new(), names.collect())
                    }
                    Column::Words(_) => ColumnValues::Texts(Vec::new(), Vec::new()),
                };
                (name.clone(), values)
            };
            self.columns = block.iter().map(empty).collect();
        }
        for ((_, own), (_, column)) in self.columns.iter_mut().zip(block) {
            own.extend(column);
        }
    }

    /// A dictionary of arrays: numbers, or objects that are text or `None`.
    pub(crate) fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, values) in &self.columns {
            match values {
                ColumnValues::Numbers(numbers) => dict.set_item(name, PyArray1::from_slice(py, numbers))?,
                ColumnValues::Texts(codes, names) => {
                    dict.set_item(name, texts(py, names, codes.iter().copied()))?;
                }
            }
        }
        Ok(dict)
    }
}

impl ColumnValues {
    fn extend(&mut self, column: &Column<'_>) {
        match (self, column) {
            (Self::Numbers(own), Column::Numbers(numbers)) => own.extend_from_slice(numbers),
            (Self::Texts(own, _), Column::LimitingFactors(factors)) => {
                own.extend(factors.iter().map(|factor| factor.map_or(-1, |factor| factor as i32)));
            }
            (Self::Texts(own, names), Column::Words(words)) => {
                own.extend(words.iter().map(|word| word.map_or(-1, |word| code(names, word))));
            }
            _ => {}
        }
    }
}

/// The index of `word` among `names`, where it is put if it is new.
fn code(names: &mut Vec<String>, word: &str) -> i32 {
    // A column has few texts.
    let found = names.iter().position(|name| name == word);
    found.unwrap_or_else(|| {
        names.push(word.to_owned());
        names.len() - 1
    }) as i32
}

/// An array of objects: the texts of these indices, `None` for one that is out of range.
pub(crate) fn texts<'py>(
    py: Python<'py>,
    names: &[String],
    codes: impl Iterator<Item = i32>,
) -> Bound<'py, PyAny> {
    let names: Vec<Bound<'py, PyString>> = names.iter().map(|name| PyString::new(py, name)).collect();
    let objects: Vec<Py<PyAny>> = codes
        .map(|code| {
            let name = usize::try_from(code).ok().and_then(|code| names.get(code));
            name.map_or_else(|| py.None(), |name| name.clone().into_any().unbind())
        })
        .collect();
    PyArray1::from_vec(py, objects).into_any()
}

/// A list of texts.
pub(crate) fn list<T: AsRef<str>>(
    py: Python<'_>,
    texts: impl IntoIterator<Item = T>,
) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    texts.into_iter().try_for_each(|text| list.append(text.as_ref()))?;
    Ok(list)
}
