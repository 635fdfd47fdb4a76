//! Many runs that several machines can divide among them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::RunError;
use super::shard::Shard;
use super::store::Store;
use weir_import::traces::TraceStore;

/// Runs that can be made and kept in parts, and combined into one result.
pub trait Shardable {
    /// The stored result of a run, independent of all others.
    type Kept: Serialize + DeserializeOwned;
    /// The combined result of all runs.
    type Whole;

    /// Number of runs in `shard`.
    fn runs_of(&self, shard: Shard) -> usize;

    /// Number of runs of the whole; an upper limit where results of some runs ask for others.
    fn runs(&self) -> usize {
        self.runs_of(Shard::WHOLE)
    }

    /// Makes the runs of `shard` that `store` lacks, on `jobs` threads, and stores them; `done` is called after each run, from
    /// any thread.
    ///
    /// # Errors
    /// A run cannot be made.
    fn run_shard(
        &self,
        shard: Shard,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Self::Kept>,
        done: &(dyn Fn() + Sync),
    ) -> Result<(), RunError>;

    /// Makes all runs in the same way, and combines them.
    ///
    /// # Errors
    /// A run cannot be made.
    fn run(
        &self,
        jobs: usize,
        traces: &TraceStore,
        store: &impl Store<Self::Kept>,
        done: &(dyn Fn() + Sync),
    ) -> Result<Self::Whole, RunError>;
}
