//! Parts of a result besides verdicts.

use std::collections::BTreeMap;

use serde::Serialize;
use weir_measure::results::Value;

/// Mean of a check's differences, run by run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Less {
    /// The mean, in the check's unit.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval.
    pub ci95: Value,
}

/// Case at one place of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweptCase {
    /// Name of the swept case.
    pub case: String,
    /// Value of each key.
    pub at: BTreeMap<String, String>,
}
