//! The one place where runs are made.
//!
//! A [`Runner`] takes [tasks](Task), makes the runs on as many threads as it is told, and folds each into
//! what is wanted of it. What comes out has the order of the tasks, whatever the number of threads. A [`Store`] keeps
//! what was folded under its task's key, which stands for all that the result depends on: what is there already is not run
//! again, so that an interrupted grid goes on, and what several machines made comes together. Such runs are [`Shardable`] into
//! [shards](Shard). `weir reproduce`, `weir run --sweep` and `weir suite` keep a [`Log`] in `--out`.

mod capture;
mod divisible;
mod error;
mod fingerprint;
mod runner;
mod shard;
mod store;
mod task;

pub use capture::{Capture, CaptureFile, check_links};
pub use divisible::Shardable;
pub use error::RunError;
pub(crate) use fingerprint::fingerprint;
pub use runner::Runner;
pub use shard::Shard;
pub use store::{Both, Log, NoStore, Store, StoreError};
pub use task::{BUILT_FROM, Ran, Task, Watched, kept_or_made, key};
