//! Figures that rows have with settings changed, run again.

use serde::Serialize;

use super::claim::Selection;
use super::judge::{Measured, needed};
use super::plan::Extent;
use super::read::{Experiment, Setting, tried_path};
use super::reproduce::Reproduction;
use super::results::{Accepted, ClaimResult, PlaceResult, measured_in_words, with_unit};
use super::row::{Row, RowForm, Tried};
use crate::form::ScenarioError;
use crate::traces::TraceStore;

/// What rows tried, each figure as a row of its own.
#[derive(Debug)]
pub struct Trials {
    rows: Vec<Experiment>,
    /// What the file says of each, and which `[[tried]]` of its row it is, from 1 on.
    tried: Vec<(Tried, usize)>,
}

/// A figure that a row has with settings changed, and what came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialResult {
    /// `PAPER/ROW`.
    pub row: String,
    /// Which `[[tried]]` of the row's file it is, from 1 on.
    pub number: usize,
    /// What is laid over the row.
    pub set: Vec<String>,
    /// Of what it is the figure: the `id` of a claim, or a formula.
    pub of: String,
    /// Unit of what is expected, measured and accepted.
    pub unit: String,
    /// The figure that is expected.
    pub expected: f64,
    /// The range outside of which it has moved.
    pub accepted: Accepted,
    /// Whose values the sweeps have.
    pub form: RowForm,
    /// How many seeds, from 1 on.
    pub seeds: u32,
    /// What was measured; on a sweep at the place that decides.
    pub measured: Option<Measured>,
    /// Whether the mean over the seeds lies outside of the range, on a sweep at more places than the claim allows.
    pub moved: bool,
    /// Where on the sweeps it was measured.
    pub places: Vec<PlaceResult>,
}

impl Trials {
    /// Those of `experiments`, in their order.
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

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Plans their runs, each once, whichever figures ask for it.
    ///
    /// # Errors
    /// A scenario that is wrong, a setting that does not exist, or a name in a formula that the scenario lacks.
    pub fn plan(&self, traces: &TraceStore) -> Result<Reproduction<'_>, ScenarioError> {
        Reproduction::plan(&self.rows, Extent::default(), traces)
    }

    /// What came out of each, out of the claims of [`Self::plan`].
    pub fn results(&self, claims: Vec<ClaimResult>) -> Vec<TrialResult> {
        let result = |((row, (tried, number)), claim): ((&Experiment, &(Tried, usize)), ClaimResult)| {
            let is_in = |place: &PlaceResult| place.measured.mean.is_some_and(|mean| tried.accept.has(mean));
            let inside = claim.places.iter().filter(|place| is_in(place)).count();
            let asked = needed(claim.places.len(), row.row.claims[0].share);
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
                moved: inside < asked.max(1),
                places: claim.places,
            }
        };
        self.rows.iter().zip(&self.tried).zip(claims).map(result).collect()
    }
}

/// What a row says of a figure with settings changed.
pub(super) struct TriedWords<'r> {
    /// What is laid over the row.
    pub(super) set: &'r [String],
    /// Of what it is, and where on the sweeps.
    pub(super) of: String,
    /// The figure with its unit, and its range.
    pub(super) figure: String,
}

/// What a row says of its figures with settings changed.
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

/// The row with one of its figures as its only claim.
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
    /// Of what it is the figure, and where on the sweeps if that is one place.
    pub fn of_in_words(&self) -> String {
        let [place] = self.places.as_slice() else { return self.of.clone() };
        let at: Vec<String> = place.at.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if at.is_empty() { self.of.clone() } else { format!("{} at {}", self.of, at.join(", ")) }
    }

    /// The figure that is expected, with its unit.
    pub fn expected_in_words(&self) -> String {
        with_unit(&self.expected.to_string(), &self.unit)
    }

    /// What was measured, with its interval and unit.
    pub fn measured_in_words(&self) -> String {
        measured_in_words(self.measured.as_ref(), &self.unit)
    }
}
