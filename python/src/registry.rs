//! The controllers of this process: those that ship, and registered Python classes.
//!
//! A class is registered in the process, or for a call of this package, which its thread alone sees. Each plan keeps the registry that
//! it was made with.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use weir_scenario::registry::Registry;

use crate::controller::{ClassFactory, ClassKind};
use crate::error;

/// Classes, each of its own name.
type ClassList = Vec<Arc<ClassFactory>>;

/// The classes of the process.
static CLASSES: Mutex<ClassList> = Mutex::new(Vec::new());

thread_local! {
    /// The classes of the calls that are under way on this thread; a call within another one comes after it.
    static CALLS: RefCell<Vec<ClassList>> = const { RefCell::new(Vec::new()) };
}

/// Adds the functions to the module.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(register, module)?)?;
    module.add_function(wrap_pyfunction!(unregister, module)?)?;
    module.add_function(wrap_pyfunction!(registered, module)?)
}

/// The registered classes: those of the process, and those of the calls of this thread, which replace others of their names.
pub(crate) fn classes() -> Vec<Arc<ClassFactory>> {
    let mut all = CLASSES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    CALLS.with_borrow(|calls| calls.iter().flatten().for_each(|class| add_to(&mut all, class.clone())));
    all
}

/// Adds a class, in place of one of the same name.
fn add_to(classes: &mut ClassList, class: Arc<ClassFactory>) {
    classes.retain(|own| own.name() != class.name());
    classes.push(class);
}

/// Changes the classes of the last call of this thread, or those of the process: outside of a call, or if `in_process`.
fn change(in_process: bool, change: impl FnOnce(&mut ClassList)) {
    // Kept until the locks are free, as a class may run code at its end.
    let _before = CALLS.with_borrow_mut(|calls| {
        let mut of_process;
        let classes = if let Some(classes) = calls.last_mut().filter(|_| !in_process) {
            classes
        } else {
            of_process = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
            &mut *of_process
        };
        let before = classes.clone();
        change(classes);
        before
    });
}

/// Begins a call on this thread: classes that are registered until [`end_call`] are registered for it.
pub(crate) fn begin_call() {
    CALLS.with_borrow_mut(|calls| calls.push(Vec::new()));
}

/// Ends the last call of this thread, and takes the names of its classes away.
pub(crate) fn end_call() {
    // Dropped outside of the borrow, as a class may run code at its end.
    let ended = CALLS.with_borrow_mut(Vec::pop);
    drop(ended);
}

/// The controllers that ship, and the registered classes.
pub(crate) fn registry() -> Registry {
    let with = |registry: Registry, class: Arc<ClassFactory>| registry.with_factory(class);
    classes().into_iter().fold(Registry::standard(), with)
}

/// Gives a class a name among the controllers: for the call of this thread, or in the process if there is none or if `in_process`. A
/// class of the same name is replaced.
#[pyfunction]
#[pyo3(signature = (name, cls, *, at_receiver = false, in_process = false))]
fn register(name: &str, cls: Bound<'_, PyAny>, at_receiver: bool, in_process: bool) -> PyResult<()> {
    let valid = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || !name.chars().all(valid) {
        return Err(error::setting(format_args!(
            "`{name}` is no name of a controller; it may have letters, digits, `-`, `_` and `.`"
        )));
    }
    let kind = if at_receiver { ClassKind::Estimator } else { ClassKind::Controller };
    let factory = Arc::new(ClassFactory::new(name, &cls, kind)?);
    let alone = Registry::standard().with_factory(factory.clone());
    weir_scenario::registry::with_references(alone).check().map_err(error::setting)?;
    change(in_process, |classes| add_to(classes, factory));
    Ok(())
}

/// Takes the name of a class away: from the call of this thread, or in the process if there is none. An unknown name is ignored.
#[pyfunction]
fn unregister(name: &str) {
    change(false, |classes| classes.retain(|own| own.name() != name));
}

/// The registered classes: name, class, and whether it is mounted at the receiver.
#[pyfunction]
fn registered(py: Python<'_>) -> Vec<(String, Py<PyAny>, bool)> {
    let row = |class: &Arc<ClassFactory>| {
        (class.name().to_owned(), class.class(py), class.kind() == ClassKind::Estimator)
    };
    classes().iter().map(row).collect()
}
