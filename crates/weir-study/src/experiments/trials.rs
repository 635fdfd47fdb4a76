//! Repeated runs of figures with settings changed.

use serde::Serialize;

use super::claim::Selection;
use super::plan::Extent;
use super::read::{Experiment, Setting, tried_path};
use super::reproduce::Reproduction;
use super::results::{Accepted, ClaimResult, PlaceResult, measured_in_words, with_unit};
use super::row::{Row, RowForm, Tried};
use crate::judge::{MeasuredPlace, needed};
use weir_form::ScenarioError;
use weir_import::traces::TraceStore;

/// Figures with settings changed, each as a row of its own.
#[derive(Debug)]
pub struct Trials {
    rows: Vec<Experiment>,
    /// Keys of each figure, and its number among the `[[tried]]` of its row, from 1 on.
    tried: Vec<(Tried, usize)>,
}

/// Figure of a row with settings changed, with its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialResult {
    /// `PAPER/ROW`.
    pub row: String,
    /// Number among the `[[tried]]` of the row's file, from 1 on.
    pub number: usize,
    /// Settings applied to the row.
    pub set: Vec<String>,
    /// Source of the figure: the `id` of a claim, or a formula.
    pub of: String,
    /// Unit of the expected, measured and accepted values.
    pub unit: String,
    /// Expected figure.
    pub expected: f64,
    /// Range outside of which the figure counts as moved.
    pub accepted: Accepted,
    /// Form from which the sweeps take their values.
    pub form: RowForm,
    /// Number of seeds, from 1 on.
    pub seeds: u32,
    /// Measured value; on a sweep that of the deciding place.
    pub measured: Option<MeasuredPlace>,
    /// Whether the mean over the seeds lies outside of the range, on a sweep at more places than the claim allows.
    pub moved: bool,
    /// Places of the sweeps at which the figure was measured.
    pub places: Vec<PlaceResult>,
}

impl Trials {
    /// Figures of `experiments`, in their order.
    pub fn of(experiments: &[Experiment]) -> Self {
        let of_row = |experiment: &Experiment| {
            let tried = experiment.row.tried.iter().enumerate();
            tried
                .map(|(index, tried)| (alone(experiment, index), (tried.clone(), index + 1)))
                .collect::<Vec<_>>()
        };
        let (rows, tried) = experiments.iter().flat_map(of_row).unzip();
        Self { rows, tried }
    }

    /// Whether there are no figures.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Plans the runs of the figures, each once.
    ///
    /// # Errors
    /// A scenario has a mistake, a setting does not exist, or the scenario lacks a name of a formula.
    pub fn plan(&self, traces: &TraceStore) -> Result<Reproduction<'static>, ScenarioError> {
        Reproduction::plan(&self.rows, Extent::default(), traces)
    }

    /// Result of each figure, from the claims of [`Self::plan`].
    pub fn results(&self, claims: Vec<ClaimResult>) -> Vec<TrialResult> {
        let result = |((row, (tried, number)), claim): ((&Experiment, &(Tried, usize)), ClaimResult)| {
            let is_in = |place: &PlaceResult| place.measured.mean.is_some_and(|mean| tried.accept.has(mean));
            let inside = claim.places.iter().filter(|place| is_in(place)).count();
            let needed_places = needed(claim.places.len(), row.row.claims[0].share);
            TrialResult {
                row: claim.row,
                number: *number,
                set: tried.set.clone(),
                of: tried.of.clone().or_else(|| tried.claim.clone()).unwrap_or_default(),
                unit: claim.unit,
                expected: tried.expected,
                accepted: claim.accepted,
                form: tried.form,
                seeds: tried.seeds,
                measured: claim.measured,
                moved: inside < needed_places.max(1),
                places: claim.places,
            }
        };
        self.rows.iter().zip(&self.tried).zip(claims).map(result).collect()
    }
}

/// Description of a figure with settings changed.
pub(super) struct TriedWords<'r> {
    /// Settings applied to the row.
    pub(super) set: &'r [String],
    /// Source of the figure, with its place of the sweeps.
    pub(super) of: String,
    /// Figure with its unit and range.
    pub(super) figure: String,
}

/// Descriptions of a row's figures with settings changed.
pub(super) fn tried_in_words(row: &Row) -> impl Iterator<Item = TriedWords<'_>> {
    row.tried.iter().map(|tried| {
        let claim = tried.row(row).claims.swap_remove(0);
        let place = |(axis, selection): (&String, &Selection)| match selection {
            Selection::These(values) => {
                let values: Vec<String> = values.iter().map(f64::to_string).collect();
                format!("{axis} = {}", values.join(", "))
            }
            Selection::Within(range) => format!("{axis} {}", Accepted::from(*range).in_words()),
        };
        let places: Vec<String> = claim.selection.iter().map(place).collect();
        let at = if places.is_empty() { String::new() } else { format!(" at {}", places.join(", ")) };
        let figure = with_unit(&tried.expected.to_string(), &claim.unit);
        TriedWords {
            set: &tried.set,
            of: format!("{}{at}", tried.of.as_ref().or(tried.claim.as_ref()).map_or("", String::as_str)),
            figure: format!("{figure} ({})", Accepted::from(tried.accept).in_words()),
        }
    })
}

/// Row with one of its figures as its only claim.
fn alone(experiment: &Experiment, index: usize) -> Experiment {
    let tried = &experiment.row.tried[index];
    let setting = |(at, text): (usize, &String)| {
        let at = tried_path(index).with("set").item(at);
        Setting { text: text.clone(), at: Some(at) }
    };
    Experiment {
        row: tried.row(&experiment.row),
        formulas: vec![experiment.tried[index].clone()],
        plots: Vec::new(),
        tried: Vec::new(),
        laid: tried.set.iter().enumerate().map(setting).collect(),
        ..experiment.clone()
    }
}

impl TrialResult {
    /// Source of the figure, with its place of the sweeps if there is only one.
    pub fn of_in_words(&self) -> String {
        let [place] = self.places.as_slice() else { return self.of.clone() };
        let at: Vec<String> = place.at.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if at.is_empty() { self.of.clone() } else { format!("{} at {}", self.of, at.join(", ")) }
    }

    /// Expected figure, with its unit.
    pub fn expected_in_words(&self) -> String {
        with_unit(&self.expected.to_string(), &self.unit)
    }

    /// Measured figure, with its interval and unit.
    pub fn measured_in_words(&self) -> String {
        measured_in_words(self.measured.as_ref(), &self.unit)
    }
}
