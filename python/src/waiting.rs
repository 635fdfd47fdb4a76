//! Long calls: the interpreter's lock is free, progress is shown, and Ctrl-C ends them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Time between two looks at signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// The state of a long call, which its runs share.
#[derive(Debug, Default)]
pub(crate) struct CallState {
    ended: AtomicBool,
    done: AtomicUsize,
    /// The exception that ended the runs.
    raised: Mutex<Option<PyErr>>,
}

impl CallState {
    /// Whether the runs shall end.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Ends the runs if `looked` is an exception; the first one is raised.
    fn end_by(&self, looked: PyResult<()>) {
        if let Err(error) = looked {
            self.ended.store(true, Ordering::Relaxed);
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Ends the runs if a signal came.
    pub(crate) fn look(&self, py: Python<'_>) {
        self.end_by(py.check_signals());
    }

    /// The exception that ended the runs.
    fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Counts a run that is over.
    pub(crate) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Progress of a call: a function of the runs that are over and of all runs.
pub(crate) struct CallProgress<'py> {
    pub(crate) function: Option<Bound<'py, PyAny>>,
    pub(crate) all: usize,
}

impl CallProgress<'_> {
    fn show(&self, state: &CallState, last: &mut Option<usize>) -> PyResult<()> {
        let done = state.done.load(Ordering::Relaxed);
        let Some(function) = self.function.as_ref().filter(|_| *last != Some(done)) else { return Ok(()) };
        *last = Some(done);
        function.call1((done, self.all)).map(drop)
    }
}

/// The result of `work` on a thread of its own, while this thread looks at signals and shows progress. A signal, or a failure of the
/// progress function, ends the runs and is raised.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    state: &CallState,
    progress: &CallProgress<'_>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let waited = thread::scope(|scope| {
        // The receiver lives until the thread is over.
        scope.spawn(move || sender.send(work()));
        let mut last = None;
        loop {
            // Borrowed mutably, as a shared reference to a receiver stays on its thread.
            let own = &mut receiver;
            match py.detach(move || own.recv_timeout(INTERVAL)) {
                Ok(result) => return state.raised().map_or_else(|| Ok(Some(result)), Err),
                Err(RecvTimeoutError::Timeout) => {}
                // The thread has panicked; the scope passes that on.
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
            if !state.is_ended() {
                state.end_by(py.check_signals().and_then(|()| progress.show(state, &mut last)));
            }
        }
    })?;
    progress.show(state, &mut None)?;
    waited.ok_or_else(|| crate::error::RunError::new_err("the runs ended without a result"))
}

/// The result of `work` on this thread, which keeps the interpreter's lock: for calls in which a class takes part. `work` counts runs by
/// the function that it gets, which looks at signals and shows progress.
pub(crate) fn attend<T>(
    state: &CallState,
    progress: &CallProgress<'_>,
    work: impl FnOnce(&(dyn Fn() + Sync)) -> T,
) -> PyResult<T> {
    let function = progress.function.as_ref().map(|function| function.clone().unbind());
    let all = progress.all;
    let done = || {
        state.count();
        Python::attach(|py| {
            let progress = CallProgress { function: function.as_ref().map(|own| own.bind(py).clone()), all };
            state.end_by(py.check_signals().and_then(|()| progress.show(state, &mut None)));
        });
    };
    let result = work(&done);
    state.raised().map_or(Ok(result), Err)
}
