//! The request of a reproduction.

use std::path::PathBuf;

use weir_form::ScenarioError;
use weir_scenario::registry::Registry;

use crate::experiments::{self, Experiment, Extent, Provenance, Reproduction, RowForm};

/// A reproduction, as far as results depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReproductionRequest<'a> {
    /// The rows; those of the paper, or all, if none is named.
    pub rows: &'a [String],
    /// The paper whose rows are run.
    pub paper: Option<&'a str>,
    /// Extent of the runs.
    pub extent: Extent,
    /// Settings laid over the scenarios of the rows.
    pub set: &'a [String],
    /// The directories of traces that were named.
    pub data: &'a [PathBuf],
    /// Whether figures with settings changed are run in place of the rows.
    pub tried: bool,
    /// Whether the runs are real ones.
    pub live: bool,
}

impl ReproductionRequest<'_> {
    /// The rows, with the settings.
    ///
    /// # Errors
    /// An unknown row or paper, or an invalid file.
    pub fn open(&self, registry: &Registry) -> Result<Vec<Experiment>, ScenarioError> {
        let rows = experiments::open(registry, self.rows, self.paper)?;
        Ok(rows.into_iter().map(|row| row.changed(self.set)).collect())
    }

    /// The words of the command `weir reproduce` that makes the same results, without options of the output.
    pub fn words(&self) -> Vec<String> {
        let Extent { full, runs, grid, .. } = self.extent;
        let mut words = vec!["weir".to_owned(), "reproduce".to_owned()];
        words.extend(self.rows.iter().cloned());
        let mut option = |name: &str, value: Option<String>| {
            words.push(name.to_owned());
            words.extend(value);
        };
        let flags = [
            ("--all", self.rows.is_empty() && self.paper.is_none()),
            ("--tried", self.tried),
            ("--full", full),
            ("--live", self.live),
        ];
        flags.iter().filter(|(_, given)| *given).for_each(|(name, _)| option(name, None));
        let numbers = [("--runs", runs), ("--grid", grid)];
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?.to_string())));
        let paper = self.paper.iter().map(|paper| ("--paper", (*paper).to_owned()));
        let set = self.set.iter().map(|set| ("--set", set.clone()));
        let data = self.data.iter().map(|data| ("--data", data.to_string_lossy().into_owned()));
        paper.chain(numbers).chain(set).chain(data).for_each(|(name, value)| option(name, Some(value)));
        words
    }

    /// Provenance of the results of `planned`, the runs of this request.
    pub fn provenance(&self, planned: &Reproduction<'_>) -> Provenance {
        Provenance {
            form: Some(if self.extent.full { RowForm::Full } else { RowForm::Quick }),
            seeds: planned.seeds(),
            changed: self.set.to_vec(),
            ..Provenance::of(&self.words())
        }
    }
}
