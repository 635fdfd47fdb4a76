//! The words of `experiments/<paper>/<row>.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::claim::{Claim, Range, Selection};
use super::plots::Plot;
use crate::form::Shape;
use crate::scenario::{FurtherWindow, Named};

/// A row of a paper: what is run, and what the paper claims of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What it is, in a line.
    pub title: String,
    /// What the paper says.
    #[serde(default)]
    pub words: String,
    /// What the paper leaves open, what was taken for it, and why.
    #[serde(default)]
    pub open: String,
    /// What stands in for something that cannot be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Whether open parameters were chosen on it.
    #[serde(default)]
    pub calibration: bool,
    /// Why what is not reproduced is not, and by which experiment that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// How many seeds, from 1 on.
    #[serde(default)]
    pub seeds: Seeds,
    /// What is run: the name of a template or of a shipped scenario, or a scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Source>,
    /// What is laid over it: each a `path=value`; `<FORMULA>` in it is a number that follows from the axes.
    #[serde(default)]
    pub set: Vec<String>,
    /// Windows in which everything is measured too, in place of those of the scenario.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub windows: Named<FurtherWindow>,
    /// What is compared: each with what it lays over the scenario after the sweeps.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub variants: Named<Variant>,
    /// What is varied, all with all.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub sweeps: Named<Sweep>,
    /// Formulas that those of claims may name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub formulas: BTreeMap<String, String>,
    /// What the paper claims.
    pub claims: Vec<Claim>,
    /// The paper's figures, drawn from our runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<Plot>,
    /// Figures that the row has with settings changed: what causes rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
}

/// Where a scenario comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Source {
    /// A template or a shipped scenario, by its name.
    Name(String),
    /// The scenario itself.
    Inline(#[schemars(with = "serde_json::Map<String, serde_json::Value>")] toml::Table),
}

/// How many seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// In the quick form.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 1000))]
    pub quick: u32,
    /// In the full form.
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

/// One of the things that are compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Another variant, without one itself, whose source and settings come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// A scenario in place of the row's, a template or a shipped one; nothing of the row and its sweeps is laid over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// An analysis in place of a scenario, as `weir analyse` calls it; what is set are its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// The controller that takes over all media flows, behind all that is set; those of the scenario unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// What it lays over the scenario.
    #[serde(default)]
    pub set: Vec<String>,
}

impl Row {
    /// The variant of this name behind the one that it stands on, if it does, with their names.
    pub(super) fn layers(&self, name: &str) -> impl DoubleEndedIterator<Item = (&str, &Variant)> + Clone {
        let named = |name: &str| self.variants.iter().find(|(own, _)| *own == name);
        let own = named(name);
        let below = own.and_then(|(_, own)| own.on.as_deref()).and_then(named);
        below.into_iter().chain(own)
    }

    /// The scenario that stands in place of the row's.
    pub(super) fn own_scenario(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|(_, layer)| layer.scenario.as_deref())
    }

    /// The analysis that stands in place of a scenario.
    pub(super) fn own_analysis(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|(_, layer)| layer.analysis.as_deref())
    }

    /// The controller that takes over its media flows.
    pub(super) fn own_controller(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|(_, layer)| layer.controller.as_deref())
    }

    /// Whether none of its variants has a scenario.
    pub(super) fn has_analyses_alone(&self) -> bool {
        self.variants.names().all(|name| self.own_analysis(name).is_some())
    }

    /// Whether a variant is run by itself, without what the row says of its scenario.
    pub(super) fn is_by_itself(&self, variant: &str) -> bool {
        self.own_scenario(variant).is_some() || self.own_analysis(variant).is_some()
    }
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// What is laid over the scenario; its value is `<$NAME>`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Its values in the quick form.
    pub quick: Values,
    /// Its values in the full form; those of the quick one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<Values>,
}

/// The values on a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Values {
    /// These.
    These(Vec<f64>),
    /// So many from one to another, each the same factor above the one before: an axis of a grid.
    Grid(Grid),
}

/// Points from one value to another, each the same factor above the one before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The first value, above zero.
    pub from: f64,
    /// The last one.
    pub to: f64,
    /// How many.
    #[schemars(range(min = 2, max = 1000))]
    pub points: u32,
}

impl Values {
    /// The values; of a grid so many of them, if it is told how many.
    pub fn list(&self, points: Option<u32>) -> Vec<f64> {
        match self {
            Self::These(values) => values.clone(),
            Self::Grid(grid) => {
                let last = points.unwrap_or(grid.points).max(2) - 1;
                let step = libm::log(grid.to / grid.from) / f64::from(last);
                let between = (1..last).map(|index| grid.from * libm::exp(step * f64::from(index)));
                std::iter::once(grid.from).chain(between).chain([grid.to]).collect()
            }
        }
    }
}

/// A figure that a row has with settings changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// What is laid over the scenario of each variant, behind all else: each a `path=value`, as of the row.
    #[serde(default)]
    pub set: Vec<String>,
    /// The claim of the row whose formula, places and unit the figure has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The formula of the figure, in place of the claim's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Unit of the figure, in place of the claim's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Where on the sweeps the figure is taken, in place of the claim's places.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub selection: BTreeMap<String, Selection>,
    /// The figure that is expected: the mean over the seeds, at each of the places.
    pub expected: f64,
    /// The range outside of which the figure has moved.
    pub accept: Range,
    /// How many seeds, from 1 on.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 1000))]
    pub seeds: u32,
    /// Whose values the sweeps have.
    #[serde(default)]
    pub form: RowForm,
}

/// How much of a row is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowForm {
    /// The quick values of the sweeps, and the quick number of seeds.
    #[default]
    Quick,
    /// The full ones.
    Full,
}

impl Tried {
    /// The row that has the figure as its only claim, which is judged by the range.
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

/// JSON Schema of files of rows.
pub fn row_schema() -> &'static serde_json::Value {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema_for!(Row).to_value());
    &SCHEMA
}

pub(super) fn row_shape() -> Shape<'static> {
    Shape::new(row_schema())
}
