//! Instances of a class: one for each flow and run.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_cc::RateLimits;
use weir_registry::Options;

use super::binding::FlowBinding;
use super::feedback::Limits;
use crate::values::from_json;

/// A class with its name among the controllers.
#[derive(Debug)]
pub(super) struct SharedClass {
    name: String,
    class: Py<PyAny>,
}

impl SharedClass {
    pub(super) fn new(name: &str, class: &Bound<'_, PyAny>) -> Self {
        Self { name: name.to_owned(), class: class.clone().unbind() }
    }

    pub(super) fn class(&self, py: Python<'_>) -> Py<PyAny> {
        self.class.clone_ref(py)
    }
}

/// The instance for a flow, made at its first use.
#[derive(Debug)]
pub(super) struct ClassInstance {
    class: Arc<SharedClass>,
    options: Option<Options>,
    limits: RateLimits,
    binding: Arc<FlowBinding>,
    object: Option<Py<PyAny>>,
}

impl ClassInstance {
    /// An instance that is not made yet. `options` are keyword arguments of the class.
    pub(super) fn new(
        class: &Arc<SharedClass>,
        options: Option<&Options>,
        limits: RateLimits,
        binding: &Arc<FlowBinding>,
    ) -> Self {
        Self {
            class: Arc::clone(class),
            options: options.cloned(),
            limits,
            binding: Arc::clone(binding),
            object: None,
        }
    }

    /// Constructs the object once: `class(limits, seed, **options)`, or `class(**options)` without `with_limits`.
    pub(super) fn make(&mut self, at_s: f64, with_limits: bool) {
        if self.object.is_some() || self.binding.has_failed() {
            return;
        }
        let made = Python::attach(|py| {
            let options = PyDict::new(py);
            for (key, value) in self.options.iter().flatten() {
                options.set_item(key, from_json(py, value)?)?;
            }
            let class = self.class.class.bind(py);
            let object = if with_limits {
                class.call((Limits::from(self.limits), self.binding.seed()), Some(&options))
            } else {
                class.call((), Some(&options))
            };
            object.map(Bound::unbind)
        });
        match made {
            Ok(object) => self.object = Some(object),
            Err(error) => self.raised(at_s, "__init__", error),
        }
    }

    /// The method `name`, or `None` if the instance has none.
    pub(super) fn method(&self, name: &str) -> Option<Py<PyAny>> {
        let object = self.object.as_ref()?;
        Python::attach(|py| object.bind(py).getattr(name).ok().map(Bound::unbind))
    }

    /// Whether a call of this run has failed: no further one is made.
    pub(super) fn has_failed(&self) -> bool {
        self.binding.has_failed()
    }

    /// Keeps an exception of the method `method`.
    pub(super) fn raised(&self, at_s: f64, method: &str, error: PyErr) {
        let problem = format!("{}.{method} raised {error}", self.class.name);
        self.binding.fail(at_s, problem, Some(error));
    }

    /// The rate in bit/s that the method `method` returned: a finite number of at least zero. Another value is a failure.
    pub(super) fn rate(&self, at_s: f64, method: &str, value: &Bound<'_, PyAny>) -> Option<f64> {
        match value.extract::<f64>() {
            Ok(rate) if rate.is_finite() && rate >= 0.0 => Some(rate),
            _ => {
                let shown = value.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string());
                let problem = format!(
                    "{}.{method} returned {shown}; a rate is a finite number of bit/s, not below zero",
                    self.class.name
                );
                self.binding.fail(at_s, problem, None);
                None
            }
        }
    }
}
