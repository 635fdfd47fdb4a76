//! Metrics of runs: the recorder that observes one, its metrics, and statistics over many.
//!
//! `weir-study` builds runs and shows results; this crate holds the computations per packet. [`simulate`] compiles the
//! two engines, of simulation and of measuring, into one piece of code.
//!
//! ```
//! use weir_measure::metrics::{FlowPlan, LinkPlan, MeasurePlan, Recorder};
//! use weir_measure::results::FlowKind;
//! use weir_net::{LinkConfig, Service, Time};
//! use weir_units::{DataRate, DataSize, TimeDelta};
//! use weir_world::{FlowSpec, LinkSpec, RunSpec, Traffic};
//!
//! fn main() -> Result<(), weir_sim::SpecError> {
//!     let service = Service::Constant(DataRate::from_mbps(1));
//!     let config = LinkConfig::new(service.clone(), TimeDelta::from_millis(20));
//!     let link = |name| LinkSpec::bottleneck(name, config.clone());
//!     let (rate, packet_size) = (DataRate::from_kbps(500), DataSize::from_bytes(1250));
//!     let end = Time::from_millis(10_000);
//!     let run = RunSpec::over(vec![link("forward"), link("back")], end)
//!         .with(FlowSpec::new("steady", Traffic::Constant { rate, packet_size }));
//!     let links = ["forward", "back"].map(|name| LinkPlan::bottleneck(name, service.clone()));
//!     let plan = MeasurePlan::new(end, vec![FlowPlan::new("steady", FlowKind::Constant)], links.into());
//!     let metrics = weir_measure::simulate(run, Recorder::new(plan))?.finish().metrics;
//!     println!("{:?} packets", metrics.flows[0].received.packets);
//!     assert!(metrics.flows[0].received.packets > Some(490.0));
//!     Ok(())
//! }
//! ```

mod csv_fields;
pub mod metrics;
pub mod results;

use weir_net::Time;
use weir_sim::{Simulation, SpecError};
use weir_world::RunSpec;

use metrics::Recorder;

/// Simulates `spec` under the observation of `recorder`, and returns the recorder.
///
/// # Errors
/// An invalid `spec`.
pub fn simulate(spec: RunSpec, recorder: Recorder) -> Result<Recorder, SpecError> {
    Ok(MeasuredRun::new(spec, recorder)?.finish())
}

/// A simulation under the observation of a recorder, in as many steps as the caller wants. [`simulate`] makes one step of it.
#[derive(Debug)]
pub struct MeasuredRun {
    simulation: Simulation<Recorder>,
}

impl MeasuredRun {
    /// A simulation of `spec` before its first event.
    ///
    /// # Errors
    /// An invalid `spec`.
    pub fn new(spec: RunSpec, recorder: Recorder) -> Result<Self, SpecError> {
        Ok(Self { simulation: Simulation::new(spec, recorder)? })
    }

    /// Runs all events up to and including `until`, but not past the end of the spec.
    pub fn run_until(&mut self, until: Time) {
        self.simulation.run_until(until);
    }

    /// The recorder, during the run.
    pub fn recorder(&self) -> &Recorder {
        self.simulation.monitor()
    }

    /// Runs to the end, and returns the recorder.
    pub fn finish(self) -> Recorder {
        self.simulation.run()
    }
}
