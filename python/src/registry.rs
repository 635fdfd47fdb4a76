//! The controllers of this process: those that ship, and registered Python classes.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use weir_scenario::registry::Registry;

use crate::controller::{ClassFactory, ClassKind};
use crate::error;

static CLASSES: Mutex<Vec<Arc<ClassFactory>>> = Mutex::new(Vec::new());

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(register, module)?)?;
    module.add_function(wrap_pyfunction!(unregister, module)?)?;
    module.add_function(wrap_pyfunction!(registered, module)?)
}

/// The registered classes.
pub(crate) fn classes() -> Vec<Arc<ClassFactory>> {
    CLASSES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The controllers that ship, and the registered classes.
pub(crate) fn registry() -> Registry {
    let with = |registry: Registry, class: Arc<ClassFactory>| registry.with_factory(class);
    classes().into_iter().fold(Registry::standard(), with)
}

/// Gives a class a name among the controllers. A class of the same name is replaced.
#[pyfunction]
#[pyo3(signature = (name, class, *, at_receiver = false))]
fn register(name: &str, class: Bound<'_, PyAny>, at_receiver: bool) -> PyResult<()> {
    let valid = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || !name.chars().all(valid) {
        return Err(error::setting(format_args!(
            "`{name}` is no name of a controller; it may have letters, digits, `-`, `_` and `.`"
        )));
    }
    let kind = if at_receiver { ClassKind::Estimator } else { ClassKind::Controller };
    let factory = Arc::new(ClassFactory::new(name, &class, kind)?);
    let alone = Registry::standard().with_factory(factory.clone());
    weir_scenario::registry::with_references(alone).check().map_err(error::setting)?;
    let mut classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    classes.retain(|own| own.name() != name);
    classes.push(factory);
    Ok(())
}

/// Takes the name of a class away; a name that none has is ignored.
#[pyfunction]
fn unregister(name: &str) {
    CLASSES.lock().unwrap_or_else(PoisonError::into_inner).retain(|own| own.name() != name);
}

/// The registered classes: name, class, and whether it is mounted at the receiver.
#[pyfunction]
fn registered(py: Python<'_>) -> Vec<(String, Py<PyAny>, bool)> {
    let row = |class: &Arc<ClassFactory>| {
        (class.name().to_owned(), class.class(py), class.kind() == ClassKind::Estimator)
    };
    classes().iter().map(row).collect()
}
