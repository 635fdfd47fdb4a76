//! Calls in steps, for environments of reinforcement learning: `weir.gym` wraps them.
//!
//! | file | content |
//! |---|---|
//! | `call.rs` | A call, and its scenario. |
//! | `played.rs` | A call that is over, to be measured later. |
//! | `sender.rs` | The sender half, which takes its rate from outside. |
//! | `account.rs` | The counts of a step, from feedback. |
//! | `observation.rs` | Observations, measures and rewards of them. |

mod account;
mod call;
mod observation;
mod played;
mod sender;

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::scenario::Scenario;

use call::{CallEnd, CallPlan, CallSlot, span};
use observation::{ENTRIES, MEASURES, RewardWeights};
use played::{PlayedCall, of_flow};

/// The most calls of an environment.
const MOST_CALLS: usize = 65_536;

/// Adds the class of calls, and the names of its values.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ENV_ENTRIES", ENTRIES.to_vec())?;
    module.add("ENV_MEASURES", MEASURES.to_vec())?;
    module.add_class::<PlayedCall>()?;
    module.add_class::<SteppedCalls>()
}

/// Calls of one scenario that take their steps together.
#[pyclass(module = "weir._weir")]
struct SteppedCalls {
    plan: Arc<CallPlan>,
    /// Behind a lock that is never taken, as all methods have the class for themselves: parts of a run are not `Sync`.
    calls: Mutex<Vec<CallSlot>>,
    weights: RewardWeights,
    pool: Option<ThreadPool>,
}

/// Observation, reward and end of a step of the only call.
type StepValues<'py> = (Bound<'py, PyArray1<f32>>, f64, bool);
/// Observations, rewards and ends of a step of all calls.
type StepArrays<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<bool>>);

#[pymethods]
impl SteppedCalls {
    #[new]
    #[pyo3(signature = (scenario, flow, interval, reports, weights, calls, threads))]
    fn new(
        scenario: &Scenario,
        flow: Option<String>,
        interval: &str,
        reports: &str,
        weights: (f64, f64, f64),
        calls: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let (interval, reports) = (span("interval", interval)?, span("reports", reports)?);
        let plan = Arc::new(CallPlan { scenario: scenario.clone(), flow, interval, reports });
        let (rate, delay, loss) = weights;
        if !(1..=MOST_CALLS).contains(&calls) {
            return Err(crate::error::setting(format!("there must be 1 to {MOST_CALLS} calls, not {calls}")));
        }
        let base = Arc::new(plan.scenario(&[])?);
        let calls = Mutex::new((0..calls).map(|_| CallSlot::new(Arc::clone(&base))).collect());
        // A pool costs a single call more than it gains.
        let pool = (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).build()).transpose();
        let pool = pool
            .map_err(|error| PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}")))?;
        Ok(Self { plan, calls, weights: RewardWeights { rate, delay, loss }, pool })
    }

    /// Begins calls: for each its index, the seed of its run, and its own settings.
    fn begin(&mut self, py: Python<'_>, begins: Vec<(usize, u64, Vec<String>)>) -> PyResult<()> {
        let Self { plan, calls, pool, .. } = self;
        let calls = slots(calls);
        let mut chosen: Vec<Option<(u64, Vec<String>)>> = vec![None; calls.len()];
        for (index, seed, own) in begins {
            let Some(place) = chosen.get_mut(index) else {
                return Err(PyValueError::new_err(format!(
                    "there is no call {index}: there are {}",
                    calls.len()
                )));
            };
            *place = Some((seed, own));
        }
        let begin = |(slot, chosen): (&mut CallSlot, Option<(u64, Vec<String>)>)| {
            let Some((seed, own)) = chosen else { return Ok(()) };
            slot.begin(plan, seed, own)
        };
        py.detach(|| match pool {
            Some(pool) => pool.install(|| calls.par_iter_mut().zip(chosen).map(begin).collect()),
            None => calls.iter_mut().zip(chosen).try_for_each(begin),
        })
    }

    /// A step of the first call: its observation, its reward, and whether it was the last step. `None`, and no step, unless
    /// the action is an array of one float32.
    fn step_one<'py>(
        &mut self,
        py: Python<'py>,
        action: &Bound<'py, PyAny>,
    ) -> PyResult<Option<StepValues<'py>>> {
        let Ok(action) = action.cast::<PyArray1<f32>>() else { return Ok(None) };
        let Some(action) = action.get_owned(0).filter(|_| action.len() == 1) else { return Ok(None) };
        finite(action, None)?;
        let slot = slots(&mut self.calls).first_mut().expect("there is at least one call");
        let (reward, is_last) = slot.step(action, self.weights)?.ok_or_else(|| not_begun(None))?;
        let observation = slot.observer().map_or([0.0; ENTRIES.len()], |observer| observer.observation);
        Ok(Some((PyArray1::from_slice(py, &observation), reward, is_last)))
    }

    /// A step of all calls that are `active`; others keep their observation, with the reward 0.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: PyReadonlyArray1<'py, f32>,
        active: PyReadonlyArray1<'py, bool>,
    ) -> PyResult<StepArrays<'py>> {
        let (actions, active) = (actions.as_array().to_vec(), active.as_array().to_vec());
        let Self { calls, weights, pool, .. } = self;
        let calls = slots(calls);
        for length in [actions.len(), active.len()] {
            if length != calls.len() {
                return Err(wrong_shape(length, calls.len()));
            }
        }
        for (index, (&action, &active)) in actions.iter().zip(&active).enumerate() {
            if active {
                finite(action, Some(index))?;
            }
        }
        let step = |((slot, &action), &active): ((&mut CallSlot, &f32), &bool)| {
            if active { slot.step(action, *weights) } else { Ok(Some((0.0, false))) }
        };
        let taken: PyResult<Vec<Option<(f64, bool)>>> = py.detach(|| match pool {
            Some(pool) => {
                let calls = calls.par_iter_mut().zip(&actions).zip(&active);
                pool.install(|| calls.map(step).collect())
            }
            None => calls.iter_mut().zip(&actions).zip(&active).map(step).collect(),
        });
        let taken = taken?;
        if let Some(index) = taken.iter().position(Option::is_none) {
            return Err(not_begun(Some(index)));
        }
        let (rewards, ends): (Vec<f64>, Vec<bool>) = taken.into_iter().flatten().unzip();
        Ok((self.observations(py)?, PyArray1::from_vec(py, rewards), PyArray1::from_vec(py, ends)))
    }

    /// The last observations; those of calls without a step are zero.
    fn observations<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let calls = slots(&mut self.calls);
        let rows =
            calls.iter().flat_map(|slot| slot.observer().map_or([0.0; ENTRIES.len()], |own| own.observation));
        PyArray1::from_vec(py, rows.collect()).reshape([calls.len(), ENTRIES.len()])
    }

    /// The measures of the last steps; those of calls without a step are zero.
    fn measures<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let calls = slots(&mut self.calls);
        let rows =
            calls.iter().flat_map(|slot| slot.observer().map_or([0.0; MEASURES.len()], |own| own.measures));
        PyArray1::from_vec(py, rows.collect()).reshape([calls.len(), MEASURES.len()])
    }

    /// Ends a call: the metrics of the flow, or a [`PlayedCall`] that computes them.
    fn finish<'py>(&mut self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let slot = slots(&mut self.calls).get_mut(index);
        match slot.map_or(Ok(None), CallSlot::finish)?.ok_or_else(|| not_begun(Some(index)))? {
            CallEnd::Measured(flow) => of_flow(py, &flow),
            CallEnd::Played(seed, own, rates) => {
                Ok(Bound::new(py, PlayedCall::of(&self.plan, seed, own, &rates))?.into_any())
            }
        }
    }
}

/// The calls behind the lock.
fn slots(calls: &mut Mutex<Vec<CallSlot>>) -> &mut Vec<CallSlot> {
    calls.get_mut().unwrap_or_else(PoisonError::into_inner)
}

fn finite(action: f32, call: Option<usize>) -> PyResult<()> {
    if action.is_finite() {
        return Ok(());
    }
    let place = call.unwrap_or_default();
    Err(PyValueError::new_err(format!("action[{place}] is {action}: an action is a number from -1 to 1")))
}

fn wrong_shape(length: usize, calls: usize) -> PyErr {
    PyValueError::new_err(format!("there are {length} actions: there must be {calls}, one for each call"))
}

fn not_begun(call: Option<usize>) -> PyErr {
    let place = call.map_or_else(String::new, |index| format!("call {index}: "));
    PyRuntimeError::new_err(format!("{place}no step is left: call reset() first"))
}
