//! The entry of a class in the registry.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::rate_controller::{FlowContext, RateController};
use weir_cc::{Controller, RateLimits, Receiver, TimeDelta};
use weir_registry::{ControllerEdition, ControllerFactory, ControllerInfo, Half, Options};

use super::binding::FlowBinding;
use super::estimator::{CeilingRule, EstimatorReceiver};
use super::instance::{ClassInstance, SharedClass};
use super::rule::ClassRule;
use crate::error;

/// Interval of per-packet reports unless the class has another, that of `gcc`.
const USUAL_INTERVAL: TimeDelta = TimeDelta::from_millis(50);
/// Time without feedback after which the rate is halved, that of `gcc-2016`.
const FEEDBACK_TIMEOUT: TimeDelta = TimeDelta::from_secs(3);
/// Valid intervals in seconds.
const INTERVALS: std::ops::RangeInclusive<f64> = 0.001..=60.0;

/// The interface of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassKind {
    /// A controller at the sender: `on_feedback`.
    Controller,
    /// An estimator at the receiver with AlphaRTC's interface.
    Estimator,
}

impl ClassKind {
    /// The methods that a class needs.
    const fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Controller => &["on_feedback"],
            Self::Estimator => &["report_states", "get_estimated_bandwidth"],
        }
    }
}

/// A maker of controllers by a class.
#[derive(Debug)]
pub(crate) struct ClassFactory {
    info: ControllerInfo,
    class: Arc<SharedClass>,
    kind: ClassKind,
    feedback_interval: TimeDelta,
    /// Interval of `on_timeout`, if the class has it.
    timer: Option<TimeDelta>,
    version: Option<String>,
}

impl ClassFactory {
    /// The factory of the controller `name`.
    pub(crate) fn new(name: &str, class: &Bound<'_, PyAny>, kind: ClassKind) -> PyResult<Self> {
        if !class.is_callable() {
            return Err(PyTypeError::new_err(format!("`{name}`: {class} is no class")));
        }
        for method in kind.needs() {
            if !class.hasattr(*method)? {
                return Err(PyTypeError::new_err(format!("`{name}`: {class} has no method `{method}`")));
            }
        }
        let text =
            |attribute: &str| class.getattr(attribute).ok().and_then(|text| text.extract::<String>().ok());
        let summary = text("__doc__").and_then(|doc| Some(doc.trim().lines().next()?.to_owned()));
        let place = [text("__module__"), text("__qualname__")].into_iter().flatten().collect::<Vec<_>>();
        let interval = |attribute: &str| interval(name, class, attribute);
        let feedback_interval = interval("feedback_interval")?.unwrap_or(USUAL_INTERVAL);
        let has_timeout = kind == ClassKind::Controller && class.hasattr("on_timeout")?;
        let timer = interval("interval")?.filter(|_| has_timeout);
        if has_timeout && timer.is_none() {
            return Err(error::setting(format_args!(
                "`{name}`: {class} has `on_timeout` without a class attribute `interval`, the seconds between two calls"
            )));
        }
        let version = match class.getattr("version") {
            Ok(version) if !version.is_none() => Some(version.str()?.extract()?),
            _ => None,
        };
        let (placement, feedback) = match kind {
            ClassKind::Controller => (
                "sender",
                format!("the arrival of each packet (transport-wide feedback), each {feedback_interval}"),
            ),
            ClassKind::Estimator => ("receiver", format!("REMB, each {}", super::estimator::INTERVAL)),
        };
        let info = ControllerInfo {
            name: name.to_owned().into(),
            summary: summary.unwrap_or_default().into(),
            source: format!("the Python class {}", place.join(".")).into(),
            placement: placement.into(),
            feedback: feedback.into(),
            ..ControllerInfo::default()
        };
        let class = Arc::new(SharedClass::new(name, class));
        Ok(Self { info, class, kind, feedback_interval, timer, version })
    }

    /// The name of the controller.
    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    /// The class.
    pub(crate) fn class(&self, py: Python<'_>) -> Py<PyAny> {
        self.class.class(py)
    }

    /// The interface of the class.
    pub(crate) fn kind(&self) -> ClassKind {
        self.kind
    }
}

/// The interval in seconds that a class has as an attribute.
fn interval(name: &str, class: &Bound<'_, PyAny>, attribute: &str) -> PyResult<Option<TimeDelta>> {
    let Ok(value) = class.getattr(attribute) else { return Ok(None) };
    // A callable is a method or property of that name: the interval is then the usual one.
    if value.is_none() || value.is_callable() {
        return Ok(None);
    }
    match value.extract::<f64>() {
        Ok(seconds) if INTERVALS.contains(&seconds) => Ok(Some(TimeDelta::from_secs_f64(seconds))),
        _ => Err(error::setting(format_args!(
            "`{name}`: `{attribute}` is {value}; it is a time in seconds from {} to {}",
            INTERVALS.start(),
            INTERVALS.end()
        ))),
    }
}

impl ControllerFactory for ClassFactory {
    fn info(&self) -> &ControllerInfo {
        &self.info
    }

    fn sender(&self, options: Option<&Options>, limits: RateLimits, _: f64) -> Half<dyn Controller> {
        let binding = FlowBinding::new();
        let context = FlowContext::new(limits, Some(FEEDBACK_TIMEOUT));
        let half: Box<dyn Controller> = match self.kind {
            ClassKind::Controller => {
                let instance = ClassInstance::new(&self.class, options, limits, &binding);
                Box::new(RateController::new_by(ClassRule::new(instance, self.timer), context))
            }
            ClassKind::Estimator => {
                Box::new(RateController::new_by(CeilingRule { binding: Arc::clone(&binding) }, context))
            }
        };
        binding.set_sender(&*half);
        Ok(half)
    }

    fn receiver(&self, options: Option<&Options>, limits: RateLimits, _: f64) -> Half<dyn Receiver> {
        Ok(match self.kind {
            ClassKind::Controller => Box::new(PacketFeedback::new(self.feedback_interval)),
            ClassKind::Estimator => {
                // The registry builds the sender half first: the last binding is that of this flow.
                let instance = ClassInstance::new(&self.class, options, limits, &FlowBinding::last());
                Box::new(EstimatorReceiver::new(instance))
            }
        })
    }

    fn edition(&self) -> ControllerEdition {
        self.version.clone().map_or(ControllerEdition::Unknown, ControllerEdition::Version)
    }
}
