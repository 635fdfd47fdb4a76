//! The plan of a sweep.

use std::sync::Arc;

use weir_form::ScenarioError;
use weir_import::traces::TraceStore;

use crate::experiments::{Extent, Reproduction, SweepRequest};

/// A sweep whose runs are planned: the scenario of each place was read.
#[derive(Clone, Debug)]
pub struct PlannedSweep {
    /// The request.
    pub request: Arc<SweepRequest>,
    /// Its runs, in the order of places, controllers and seeds.
    pub runs: Reproduction<'static>,
}

impl PlannedSweep {
    /// Plans the runs of `request`.
    ///
    /// # Errors
    /// The scenario of a place has a mistake.
    pub fn new(request: SweepRequest, traces: &TraceStore) -> Result<Self, ScenarioError> {
        let extent = Extent { plots: true, ..Extent::default() };
        let runs = Reproduction::plan(&[request.experiment()?], extent, traces)?;
        Ok(Self { request: Arc::new(request), runs })
    }
}
