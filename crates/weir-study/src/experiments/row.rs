//! Keys of `experiments/<paper>/<row>.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::claim::{Claim, Range, Selection};
use super::plots::Plot;
use weir_form::Shape;
use weir_scenario::scenario::{FurtherWindow, Named};

/// Row of a paper: the runs, and the claims of the paper about them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Title, in a line.
    pub title: String,
    /// Statement of the paper.
    #[serde(default)]
    pub words: String,
    /// Open parameters of the paper, with the chosen values and the reasons.
    #[serde(default)]
    pub open: String,
    /// Description of a stand-in for something that is not available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Whether open parameters were chosen by this row.
    #[serde(default)]
    pub calibration: bool,
    /// Cause of claims that are not reproduced, with the experiment that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Number of seeds, from 1 on.
    #[serde(default)]
    pub seeds: Seeds,
    /// Scenario of the row: the name of a template or of a shipped scenario, or a table with a scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<ScenarioSource>,
    /// Settings applied to the scenario: each a `path=value`, in which `<FORMULA>` is a number that follows from the
    /// axes.
    #[serde(default)]
    pub set: Vec<String>,
    /// Additional windows for all measurements, in place of those of the scenario.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub windows: Named<FurtherWindow>,
    /// Variants that are compared, each with settings applied to the scenario after the sweeps.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub variants: Named<ComparedVariant>,
    /// Sweeps, in all combinations.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub sweeps: Named<Sweep>,
    /// Named formulas, for use in those of claims.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub formulas: BTreeMap<String, String>,
    /// Claims of the paper.
    pub claims: Vec<Claim>,
    /// Figures of the paper, drawn from our runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<Plot>,
    /// Figures of the row with settings changed, on which causes rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
}

/// Source of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ScenarioSource {
    /// Name of a template or of a shipped scenario.
    Name(String),
    /// Table with the scenario itself.
    Inline(#[schemars(with = "serde_json::Map<String, serde_json::Value>")] toml::Table),
}

/// Number of seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Number in the quick form.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 1000))]
    pub quick: u32,
    /// Number in the full form.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1000))]
    pub full: u32,
}

impl Default for Seeds {
    fn default() -> Self {
        Self { quick: five(), full: ten() }
    }
}

const fn five() -> u32 {
    5
}

const fn ten() -> u32 {
    10
}

/// Variant that is compared with others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComparedVariant {
    /// Other variant on which this one is based: its source and settings come first. That variant must not have such a
    /// base itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Scenario in place of the row's, a template or a shipped one. Settings of the row and its sweeps are not applied
    /// to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Analysis in place of a scenario, by its name in `weir analyse`; the settings are its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// Controller of all media flows, applied after all settings; those of the scenario unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// Settings applied to the scenario.
    #[serde(default)]
    pub set: Vec<String>,
}

impl Row {
    /// Variant of this name, after the one on which it is based, if any; both with their names.
    pub(super) fn layers(
        &self,
        name: &str,
    ) -> impl DoubleEndedIterator<Item = (&str, &ComparedVariant)> + Clone {
        let named = |name: &str| self.variants.iter().find(|(own, _)| *own == name);
        let own = named(name);
        let below = own.and_then(|(_, own)| own.on.as_deref()).and_then(named);
        below.into_iter().chain(own)
    }

    /// Scenario of the variant in place of the row's.
    pub(super) fn own_scenario(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|(_, layer)| layer.scenario.as_deref())
    }

    /// Analysis of the variant in place of a scenario.
    pub(super) fn own_analysis(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|(_, layer)| layer.analysis.as_deref())
    }

    /// Controller of all media flows of the variant.
    pub(super) fn own_controller(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|(_, layer)| layer.controller.as_deref())
    }

    /// Whether all of its variants are analyses.
    pub(super) fn has_analyses_alone(&self) -> bool {
        self.variants.names().all(|name| self.own_analysis(name).is_some())
    }

    /// Whether a variant has a scenario or analysis of its own, to which the row's settings are not applied.
    pub(super) fn is_by_itself(&self, variant: &str) -> bool {
        self.own_scenario(variant).is_some() || self.own_analysis(variant).is_some()
    }
}

/// Sweep over values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Settings applied to the scenario, in which `<$NAME>` is the value.
    #[serde(default)]
    pub set: Vec<String>,
    /// Values in the quick form.
    pub quick: SweepValues,
    /// Values in the full form; those of the quick form unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<SweepValues>,
}

/// Values of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SweepValues {
    /// List of values.
    These(Vec<f64>),
    /// Axis of a grid: points from one value to another, each the same factor above the one before.
    Grid(GeometricGrid),
}

/// Points from one value to another, each the same factor above the one before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometricGrid {
    /// First value, above zero.
    pub from: f64,
    /// Last value.
    pub to: f64,
    /// Number of points.
    #[schemars(range(min = 2, max = 1000))]
    pub points: u32,
}

impl SweepValues {
    /// Number of the values; of a grid with `points` points, if given.
    pub fn count(&self, points: Option<u32>) -> usize {
        match self {
            Self::These(values) => values.len(),
            Self::Grid(grid) => points.unwrap_or(grid.points).max(2) as usize,
        }
    }

    /// List of the values; of a grid with `points` points, if given.
    pub fn list(&self, points: Option<u32>) -> Vec<f64> {
        match self {
            Self::These(values) => values.clone(),
            Self::Grid(grid) => {
                let last = self.count(points) as u32 - 1;
                let step = libm::log(grid.to / grid.from) / f64::from(last);
                let between = (1..last).map(|index| grid.from * libm::exp(step * f64::from(index)));
                std::iter::once(grid.from).chain(between).chain([grid.to]).collect()
            }
        }
    }
}

/// Figure of a row with settings changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// Settings applied to the scenario of each variant after all others: each a `path=value`, as in the row.
    #[serde(default)]
    pub set: Vec<String>,
    /// Claim of the row from which the figure takes formula, places and unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// Formula of the figure, in place of the claim's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Unit of the figure, in place of the claim's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Places of the sweeps for the figure, in place of the claim's.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub selection: BTreeMap<String, Selection>,
    /// Expected figure: the mean over the seeds, at each of the places.
    pub expected: f64,
    /// Range outside of which the figure counts as moved.
    pub accept: Range,
    /// Number of seeds, from 1 on.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 1000))]
    pub seeds: u32,
    /// Form from which the sweeps take their values.
    #[serde(default)]
    pub form: RowForm,
}

/// Form of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowForm {
    /// Quick values of the sweeps, and the quick number of seeds.
    #[default]
    Quick,
    /// Full values of the sweeps, and the full number of seeds.
    Full,
}

impl Tried {
    /// Row with the figure as its only claim, judged by the range.
    pub(super) fn row(&self, row: &Row) -> Row {
        let claimed = self.claim.as_ref().and_then(|id| row.claims.iter().find(|claim| claim.id == *id));
        let claimed = claimed.cloned().unwrap_or_else(|| Claim { share: 1.0, ..Claim::default() });
        let selection = if self.selection.is_empty() { claimed.selection } else { self.selection.clone() };
        let claim = Claim {
            of: self.of.clone().or(claimed.of),
            unit: self.unit.clone().unwrap_or(claimed.unit),
            selection,
            id: claimed.id,
            claim: claimed.claim,
            share: claimed.share,
            over_places: claimed.over_places,
            over_seeds: claimed.over_seeds,
            accept: Some(self.accept),
            ..Claim::default()
        };
        let sweep = |(name, sweep): (&str, &Sweep)| {
            let full = sweep.full.as_ref().filter(|_| self.form == RowForm::Full);
            let quick = full.unwrap_or(&sweep.quick).clone();
            (name.to_owned(), Sweep { set: sweep.set.clone(), quick, full: None })
        };
        Row {
            seeds: Seeds { quick: self.seeds, full: self.seeds },
            sweeps: row.sweeps.iter().map(sweep).collect(),
            claims: vec![claim],
            plots: Vec::new(),
            tried: Vec::new(),
            ..row.clone()
        }
    }
}

/// Form of row files.
pub(super) fn row_shape() -> Shape<'static> {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema_for!(Row).to_value());
    Shape::new(&SCHEMA)
}
