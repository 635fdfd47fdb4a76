//! Many runs, on several threads.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::error::RunError;
use super::session::Ran;
use super::store::Store;
use super::task::Task;
use weir_import::traces::TraceStore;

/// Makes runs.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// Threads; the results do not depend on them.
    pub jobs: usize,
    /// Called after each run, from any thread.
    pub done: &'a (dyn Fn() + Sync),
}

impl fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("jobs", &self.jobs).finish_non_exhaustive()
    }
}

impl Runner<'_> {
    /// Folds the run of each task by `fold`, which also receives the task's index, and returns the results in the order of the
    /// tasks. A result that `store` has under a task's key is taken from there, unless the task captures packets. New results are
    /// stored as soon as they are made, so that they stay when another task fails.
    ///
    /// # Errors
    /// The error of the first task in order that fails, whatever the number of threads; tasks after it may not have been run.
    pub fn run<T: Send>(
        &self,
        tasks: &[Task<'_>],
        traces: &TraceStore,
        store: &impl Store<T>,
        fold: impl Fn(usize, Ran) -> T + Sync,
    ) -> Result<Vec<T>, RunError> {
        self.each(tasks.len(), |index| tasks[index].make(traces, store, |ran| Ok(fold(index, ran))))
    }

    /// The results of `make` for each index below `count`, in order.
    ///
    /// # Errors
    /// The error of the first index that fails, as for [`Self::run`].
    pub fn each<T: Send>(
        &self,
        count: usize,
        make: impl Fn(usize) -> Result<T, RunError> + Sync,
    ) -> Result<Vec<T>, RunError> {
        let &Self { jobs, done } = self;
        let first_failed = AtomicUsize::new(usize::MAX);
        let run_one = |index: usize| {
            // Every task before the first that fails is run, so that it is the same one each time.
            if index > first_failed.load(Ordering::Relaxed) {
                return None;
            }
            let outcome = make(index);
            if outcome.is_err() {
                first_failed.fetch_min(index, Ordering::Relaxed);
            }
            done();
            Some(outcome)
        };
        if jobs.min(count) <= 1 {
            // A single job runs on this thread: glibc gives other threads heaps of their own, a fifth of which stays unused in a
            // large run.
            return (0..count).filter_map(run_one).collect();
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(jobs)
            .build()
            .map_err(|error| RunError::Threads { jobs, problem: error.to_string() })?;
        // Collecting keeps the order of the tasks, whatever the order in which they end. Threads take one task at a time, as runs
        // of a millisecond stand beside runs of ten seconds. A thread with a fixed part of them would end long after the others.
        let outcomes: Vec<_> =
            pool.install(|| (0..count).into_par_iter().with_max_len(1).map(run_one).collect());
        outcomes.into_iter().flatten().collect()
    }
}
