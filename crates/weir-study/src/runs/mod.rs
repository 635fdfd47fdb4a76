//! The one place where runs are made.
//!
//! A [`Runner`] takes [tasks](Task), makes the runs on the given number of threads, and folds each into the wanted result.
//! Results have the order of the tasks, whatever the number of threads. A [`Store`] keeps folded results under their task's key,
//! which stands for everything that the result depends on. A run with a stored result is not repeated. So an interrupted grid
//! continues, and results of several machines combine. For that, groups of runs are [`Shardable`] into [shards](Shard). `weir
//! reproduce`, `weir run --sweep` and `weir suite` keep a [`Log`] in `--out`.

mod capture;
mod divisible;
mod error;
mod fingerprint;
mod runner;
mod session;
mod shard;
mod store;
mod table_run;
mod task;
mod world;

pub use capture::{Capture, CaptureFile, check_links};
pub use divisible::Shardable;
pub use error::RunError;
pub(crate) use fingerprint::fingerprint;
pub use runner::Runner;
pub use session::{Ran, RunSession};
pub use shard::Shard;
pub use store::{Both, NoStore, ResultLog, Store, StoreError};
pub use table_run::{StoredMetrics, TableRun, axis_value, table_axes, table_schema, tidy_table};
pub use task::{BUILT_FROM, Task, Watched, kept_or_made, key};
pub use world::{Plan, RunWorld, WorldRun};
