//! Values of runs as a mean with its interval, for checks and claims alike.

use serde::{Deserialize, Serialize};
use weir_measure::results::Value;
use weir_measure::results::stats::{Estimate, Kind};

/// Measured value at a place of a sweep, or of a check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredPlace {
    /// Mean over the runs that have a value; `runs` counts these.
    pub mean: Value,
    /// Half the width of its 95 % interval.
    pub ci95: Value,
    /// Number of runs that have a value.
    pub runs: usize,
    /// The two kinds of runs, if there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<[Kind; 2]>,
}

/// Values of the runs that have a finite one.
pub(crate) fn known(runs: &[Value]) -> Vec<f64> {
    runs.iter().flatten().copied().filter(|value| value.is_finite()).collect()
}

impl MeasuredPlace {
    /// Measured value over the runs that have one.
    pub(crate) fn of(runs: &[Value]) -> Self {
        let known = known(runs);
        let estimate = Estimate::of(&known);
        Self {
            mean: estimate.map(|estimate| estimate.mean),
            ci95: estimate.and_then(|estimate| estimate.half_width),
            runs: known.len(),
            kinds: estimate.and_then(|estimate| estimate.kinds),
        }
    }

    /// Mean with its interval, or `None` without a value.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        Some(Estimate { mean: self.mean?, half_width: self.ci95, kinds: self.kinds })
    }
}
