//! The words of `experiments/<paper>/<row>.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

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
    /// Which places have further seeds where they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further: Option<Further>,
    /// Formulas that those of claims may name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub formulas: BTreeMap<String, String>,
    /// What the paper claims.
    pub claims: Vec<Claim>,
    /// The paper's figures, drawn from our runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plots: Vec<Plot>,
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
    /// The variant of this name behind the one that it stands on, if it does.
    pub(super) fn layers(&self, name: &str) -> impl DoubleEndedIterator<Item = &Variant> + Clone {
        let own = self.variants.get(name);
        let below = own.and_then(|own| own.on.as_ref()).and_then(|on| self.variants.get(on));
        below.into_iter().chain(own)
    }

    /// The scenario that stands in place of the row's.
    pub(super) fn own_scenario(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|layer| layer.scenario.as_deref())
    }

    /// The analysis that stands in place of a scenario.
    pub(super) fn own_analysis(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|layer| layer.analysis.as_deref())
    }

    /// The controller that takes over its media flows.
    pub(super) fn own_controller(&self, variant: &str) -> Option<&str> {
        self.layers(variant).rev().find_map(|layer| layer.controller.as_deref())
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

/// Further seeds on the best places of the sweeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Further {
    /// A formula over all places with a value for each; the greatest, as a mean over the ordinary seeds, are the best.
    pub by: String,
    /// Which share of the places, above 0, at most 1.
    pub share: f64,
    /// How many seeds they have then, the ordinary ones included.
    #[schemars(range(min = 2, max = 1000))]
    pub seeds: u32,
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

/// What a paper claims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name within the row.
    pub id: String,
    /// Its class.
    pub class: Class,
    /// What is claimed, in a line.
    pub claim: String,
    /// The paper's value, or its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Reported>,
    /// What is computed of each seed: a formula.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Unit of the paper's value and ours.
    #[serde(default)]
    pub unit: String,
    /// Where on the sweeps it is claimed; everywhere unless given.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub selection: BTreeMap<String, Selection>,
    /// The share of the places at which it has to hold.
    #[serde(default = "everywhere")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Whether each of the places is judged, or the mean over them.
    #[serde(default)]
    pub over_places: OverPlaces,
    /// Whether further seeds of the best places count in it, where they were asked for: with each of them the other places have
    /// the values of the first seed.
    #[serde(default)]
    pub further: bool,
    /// The range that is accepted; exactly at an end is inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<Range>,
    /// On which side of zero the value lies: with a difference of two variants their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// How far beyond zero a value that is `not-below` or `not-above` may lie, in `unit`, from 0 on; 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// How the value goes along a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// What is made of the seeds' values; their mean unless given.
    #[serde(default)]
    pub over_seeds: OverSeeds,
    /// When a value outside the range is better than the paper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The tests that show it, each as `crate::path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Whether it is told and not counted: another claim counts the same, or the paper does not claim it.
    #[serde(default)]
    pub beside: bool,
    /// Whether what the paper reports is not printed in it but follows from its equations or its set-up; counted apart.
    #[serde(default)]
    pub derived: bool,
    /// As of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// As of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<bool>,
    /// As of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

const fn everywhere() -> f64 {
    1.0
}

/// What kind of claim it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Class {
    /// A number with a tolerance.
    #[default]
    Num,
    /// An order or a logical claim.
    Exact,
    /// How something goes over time.
    Shape,
    /// A closed form or a numerical proof.
    Theory,
    /// A mechanism that is there and has a test.
    Struct,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 5] = [Self::Num, Self::Exact, Self::Shape, Self::Theory, Self::Struct];

    /// As files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Num => "NUM",
            Self::Exact => "EXACT",
            Self::Shape => "SHAPE",
            Self::Theory => "THEORY",
            Self::Struct => "STRUCT",
        }
    }
}

/// What a paper reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reported {
    /// A value.
    Value(f64),
    /// Words.
    Words(String),
}

/// Which places of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Selection {
    /// These.
    These(Vec<f64>),
    /// Those of a range.
    Within(Range),
}

impl Selection {
    pub(super) fn has(&self, value: f64) -> bool {
        match self {
            // Both were read from the same text.
            Self::These(values) => values.iter().any(|own| own.to_bits() == value.to_bits()),
            Self::Within(range) => range.has(value),
        }
    }
}

/// From one number to another, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The least; no bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest; no bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Range {
    /// Whether `value` is in it.
    pub fn has(self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

/// A side of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Above it.
    Above,
    /// Below it.
    Below,
}

/// Where a value lies with respect to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Above it.
    Above,
    /// Below it.
    Below,
    /// At zero or above, or below it by the margin at most.
    NotBelow,
    /// At zero or below, or above it by the margin at most.
    NotAbove,
}

impl Order {
    /// The side of zero that is claimed, or the side towards which the value is free.
    pub(super) const fn side(self) -> Side {
        match self {
            Self::Above | Self::NotBelow => Side::Above,
            Self::Below | Self::NotAbove => Side::Below,
        }
    }

    /// Whether zero itself does not meet it.
    pub(super) const fn is_strict(self) -> bool {
        matches!(self, Self::Above | Self::Below)
    }
}

/// How a value goes along a sweep: each step from one place to the next is an order of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// Along which sweep.
    pub along: String,
    /// Whether it rises or falls.
    pub goes: Direction,
}

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Up.
    Up,
    /// Down.
    Down,
}

/// What is made of the seeds' values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverSeeds {
    /// Their mean.
    #[default]
    Mean,
    /// Their standard deviation over their mean.
    Variation,
}

/// What is made of the places of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverPlaces {
    /// Each is judged.
    #[default]
    Each,
    /// The mean over them is judged, seed by seed.
    Mean,
    /// The formula speaks of all of them at once: each value and each axis is several numbers in it, one for each place.
    All,
}

/// When a value outside the range is better than the paper's: at no more delay and no more loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Better {
    /// On which side of the range.
    pub side: Side,
    /// What must not be more than in the paper.
    pub at: Vec<NoMore>,
}

/// Something that must not be more than in the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoMore {
    /// A formula.
    pub of: String,
    /// The paper's value.
    pub than: f64,
}

pub(super) fn row_shape() -> Shape<'static> {
    static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema_for!(Row).to_value());
    Shape::new(&SCHEMA)
}
