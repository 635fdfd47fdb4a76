//! The words of a claim in a row, and of what judges it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
