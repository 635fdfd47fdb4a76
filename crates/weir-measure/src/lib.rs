//! What runs amount to: the recorder that watches one, its metrics, and statistics over many.
//!
//! The lab builds runs and shows results; here is what computes for each packet. [`simulate`] is where the two engines, of
//! simulation and of measuring, become one piece of code.

pub mod metrics;
pub mod results;

use weir_sim::{Simulation, SpecError};
use weir_world::RunSpec;

use metrics::Recorder;

/// Simulates `spec` while `recorder` watches, and gives it back.
///
/// # Errors
/// What `spec` says makes no sense.
pub fn simulate(spec: RunSpec, recorder: Recorder) -> Result<Recorder, SpecError> {
    Ok(Simulation::new(spec, recorder)?.run())
}
