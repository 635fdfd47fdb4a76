//! Controllers as Python classes.
//!
//! A class has a [factory](ClassFactory) in the registry. Its halves make an instance for a flow at the first packet, so that a
//! validation of a scenario makes none. A [run](crate::world) binds the halves to their flows before it begins.

mod binding;
mod estimator;
mod factory;
mod feedback;
mod instance;
mod rule;

pub(crate) use binding::{CallbackFailure, FailureSlot, bind, of_call, with_a_class};
pub(crate) use factory::{ClassFactory, ClassKind};

use pyo3::prelude::*;

/// Adds the classes that Python sees.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<feedback::Feedback>()?;
    module.add_class::<feedback::Limits>()
}
