//! Worlds other than the simulator in which a run can be made.

use std::fmt::Debug;

use weir_measure::metrics::Recorder;
use weir_world::RunSpec;

use super::error::RunError;

/// The description of a run with its recorder, made anew by each call.
pub type Plan<'a> = dyn FnMut() -> Result<(RunSpec, Recorder), RunError> + 'a;

/// A run that a world has made.
#[derive(Debug)]
pub struct WorldRun {
    /// The recorder, after the run.
    pub recorder: Recorder,
    /// Whether the run counts in means and rankings: the world may find that it was disturbed.
    pub counts: bool,
}

/// A world that makes runs, such as real sockets. A store keeps results of the simulator alone.
pub trait RunWorld: Debug + Sync {
    /// Makes the run `name` that `plan` describes, and shows it to the recorder. A world may call `plan` again and repeat the
    /// run.
    ///
    /// # Errors
    /// Errors of `plan`; the world lacks something that the run needs, or fails.
    fn run(&self, name: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError>;

    /// Whether it is the simulator under supervision: its results are the simulator's, and a store may keep them.
    fn is_simulator(&self) -> bool {
        false
    }
}
