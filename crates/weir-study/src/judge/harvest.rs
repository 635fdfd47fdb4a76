//! Values of a run for formulas.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::formula::Harvested;
use super::paths;
use weir_measure::metrics::{Recording, Series};

/// Values taken from a run, by path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Harvest(BTreeMap<String, Harvested>);

impl Harvest {
    /// Values at `paths` in printed results.
    pub(crate) fn of(paths: &BTreeSet<String>, results: &Value, series: Option<&Series>) -> Self {
        let take = |path: &String| Some((path.clone(), paths::harvest(path, results, series)?));
        Self(paths.iter().filter_map(take).collect())
    }

    /// Values at `paths` in the printed results of a run, and in its recorded time series.
    ///
    /// # Errors
    /// The recorded time series cannot be read.
    pub(crate) fn of_run(
        paths: &BTreeSet<String>,
        results: &Value,
        series: Option<Recording>,
    ) -> io::Result<Self> {
        let series = series.map(Recording::whole).transpose()?;
        Ok(Self::of(paths, results, series.as_ref()))
    }

    /// Value at `path`.
    pub(crate) fn get(&self, path: &str) -> Option<&Harvested> {
        self.0.get(path)
    }

    /// Whether no value was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
