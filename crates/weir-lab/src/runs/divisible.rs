//! Many runs that machines can divide among them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::RunError;
use super::shard::Shard;
use super::store::Store;
use crate::traces::TraceStore;

/// Runs of which a part can be made and kept, and what comes of all of them together.
pub trait Shardable {
    /// What is kept of a run: by itself, whatever others come to.
    type Kept: Serialize + DeserializeOwned;
    /// What comes of all of them.
    type Whole;

    /// How many runs `shard` makes.
    fn runs_of(&self, shard: Shard) -> usize;

    /// How many runs make the whole; at most so many where what some come to asks for others.
    fn runs(&self) -> usize {
        self.runs_of(Shard::WHOLE)
    }

    /// Makes the runs of `shard` alone on so many threads, those that `store` has not, and puts them there; `done` is called
    /// after each run, from any thread.
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

    /// Makes all runs in the same way, and the whole of them.
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
