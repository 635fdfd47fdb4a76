//! The flow of a controller's halves, and the failure of a run under a class.
//!
//! The registry builds a controller before its flow is known. Each thread therefore lists the bindings that it made, each
//! with the address of the sender half. [`bind`] finds these addresses in a finished [`RunSpec`], and fills in flow and seed.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use weir_cc::Controller;
use weir_world::{RunSpec, Traffic, stream};

use crate::error::ControllerError;

/// Name of the random stream from which the seeds of instances come.
const PURPOSE: &str = "python controller";

thread_local! {
    /// Bindings that were made on this thread, the oldest first. Those whose halves have ended leave with the next binding.
    static BUILT: RefCell<Vec<Weak<FlowBinding>>> = const { RefCell::new(Vec::new()) };
    /// Number of bindings that were made on this thread.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
    /// The flow of all halves that are built on this thread during [`of_call`].
    static FLOW: RefCell<Option<BoundFlow>> = const { RefCell::new(None) };
}

/// The flow of the halves of a controller, known once the run is built.
#[derive(Debug)]
pub(super) struct FlowBinding {
    /// Address of the sender half, by which its flow is found.
    address: OnceLock<usize>,
    flow: OnceLock<BoundFlow>,
}

/// A flow of a run.
#[derive(Clone, Debug)]
pub(super) struct BoundFlow {
    name: String,
    /// Seed of the instance: a hash of the run's seed and of the flow.
    pub(super) seed: u64,
    failure: Arc<FailureSlot>,
}

impl FlowBinding {
    /// A binding of halves that are being built.
    pub(super) fn new() -> Arc<Self> {
        let flow = FLOW.with_borrow(Clone::clone).map_or_else(OnceLock::new, OnceLock::from);
        let binding = Arc::new(Self { address: OnceLock::new(), flow });
        BUILT.with_borrow_mut(|built| {
            built.retain(|own| own.strong_count() > 0);
            built.push(Arc::downgrade(&binding));
        });
        NUMBER.set(NUMBER.get() + 1);
        binding
    }

    /// The binding of the sender half that was built last, for the receiver half that belongs to it.
    pub(super) fn last() -> Arc<Self> {
        let last = BUILT.with_borrow(|built| built.last().and_then(Weak::upgrade));
        last.unwrap_or_else(Self::new)
    }

    /// Records the address of the sender half.
    pub(super) fn set_sender(&self, half: &dyn Controller) {
        // A second call changes nothing.
        let _ = self.address.set(address(half));
    }

    /// Seed of the instance; 0 outside of a run.
    pub(super) fn seed(&self) -> u64 {
        self.flow.get().map_or(0, |flow| flow.seed)
    }

    /// Keeps the failure of a callback; the first one of a run counts.
    pub(super) fn fail(&self, at_s: f64, problem: String, error: Option<PyErr>) {
        if let Some(BoundFlow { name, failure, .. }) = self.flow.get() {
            failure.put(CallbackFailure { flow: name.clone(), at_s, problem, error });
        }
    }

    /// Whether the run has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.flow.get().is_some_and(|flow| flow.failure.is_set())
    }
}

fn address(half: &dyn Controller) -> usize {
    std::ptr::from_ref(half).cast::<()>() as usize
}

/// Runs `plan`. Returns its result, and whether it built a controller that is a class on this thread.
pub(crate) fn with_a_class<T>(plan: impl FnOnce() -> T) -> (T, bool) {
    let before = NUMBER.get();
    let planned = plan();
    (planned, NUMBER.get() > before)
}

/// Runs `replay` and returns its result. Controllers that it builds on this thread are bound to the recorded call `call`.
pub(crate) fn of_call<T>(call: &str, failure: &Arc<FailureSlot>, replay: impl FnOnce() -> T) -> T {
    FLOW.set(Some(BoundFlow { name: call.to_owned(), seed: 0, failure: Arc::clone(failure) }));
    let replayed = replay();
    FLOW.take();
    replayed
}

/// Binds the halves of classes in `spec` to their flows, and returns whether there is one. They were built on this thread.
pub(crate) fn bind(spec: &RunSpec, failure: &Arc<FailureSlot>) -> bool {
    let built: Vec<Arc<FlowBinding>> =
        BUILT.with_borrow(|built| built.iter().filter_map(Weak::upgrade).collect());
    if built.is_empty() {
        return false;
    }
    let mut has_class = false;
    for flow in &spec.flows {
        let Traffic::Media(media) = &flow.traffic else { continue };
        let Some(sender) = &media.sender else { continue };
        let at = address(&**sender);
        if let Some(binding) = built.iter().find(|binding| binding.address.get() == Some(&at)) {
            let seed = stream(spec.seed, &flow.name, PURPOSE);
            let bound = BoundFlow { name: flow.name.clone(), seed, failure: Arc::clone(failure) };
            // Each half is in one flow.
            let _ = binding.flow.set(bound);
            has_class = true;
        }
    }
    has_class
}

/// The place of a run's failure.
#[derive(Debug, Default)]
pub(crate) struct FailureSlot {
    set: AtomicBool,
    failure: Mutex<Option<CallbackFailure>>,
}

impl FailureSlot {
    fn put(&self, failure: CallbackFailure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        self.set.store(true, Ordering::Relaxed);
    }

    /// Whether there is a failure.
    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Relaxed)
    }

    /// The failure.
    pub(crate) fn take(&self) -> Option<CallbackFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A call of a class that failed.
#[derive(Debug)]
pub(crate) struct CallbackFailure {
    flow: String,
    /// Simulated time in seconds.
    at_s: f64,
    problem: String,
    /// The exception that was raised.
    error: Option<PyErr>,
}

impl fmt::Display for CallbackFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flow, at_s, problem, .. } = self;
        write!(f, "flow {flow}, at {at_s:.3} s: {problem}")
    }
}

impl std::error::Error for CallbackFailure {}

impl CallbackFailure {
    /// The exception to raise for the run `run`, with that of the class as its cause.
    pub(crate) fn raised_in(self, run: &str) -> PyErr {
        let text = format!("{run}, {self}");
        Python::attach(|py| match self.error {
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => error,
            cause => {
                let raised = ControllerError::new_err(text);
                raised.set_cause(py, cause);
                raised
            }
        })
    }
}
