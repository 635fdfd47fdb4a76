//! Keys of a claim in a row, and of its judgement.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Claim of a paper.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Name of the claim within the row.
    pub id: String,
    /// Class of the claim.
    pub class: Class,
    /// Statement of the claim, in a line.
    pub claim: String,
    /// Value or statement of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Reported>,
    /// Formula that is evaluated for each seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Unit of the paper's value and of the measured one.
    #[serde(default)]
    pub unit: String,
    /// Places of the sweeps for which the claim is made; all of them unless given.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub selection: BTreeMap<String, Selection>,
    /// Share of the places at which the claim has to hold.
    #[serde(default = "everywhere")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Whether each place is judged, or the mean over the places.
    #[serde(default)]
    pub over_places: OverPlaces,
    /// Accepted range; both ends are inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<Range>,
    /// Side of zero on which the value lies; for a difference of two variants their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<SignOrder>,
    /// Distance beyond zero that a value may have with `not-below` or `not-above`, in `unit`, from 0 on; 0 unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Direction of the value along a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// Statistic over the values of the seeds; their mean unless given.
    #[serde(default)]
    pub over_seeds: OverSeeds,
    /// Conditions under which a value outside the range is better than the paper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<BetterConditions>,
    /// Tests that show the claim, each as `crate::path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Whether the claim is reported and not counted, as another claim covers it or the paper does not make it.
    #[serde(default)]
    pub beside: bool,
    /// Whether the paper does not print the value, so that it was derived from equations or set-up; counted separately.
    #[serde(default)]
    pub derived: bool,
    /// Stand-in as in the row, for this claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Calibration as in the row, for this claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<bool>,
    /// Cause as in the row, for this claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

const fn everywhere() -> f64 {
    1.0
}

/// Class of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Class {
    /// Number with a tolerance.
    #[default]
    Num,
    /// Order or logical claim.
    Exact,
    /// Development over time.
    Shape,
    /// Closed form or numerical proof.
    Theory,
    /// Mechanism that exists and has a test.
    Struct,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 5] = [Self::Num, Self::Exact, Self::Shape, Self::Theory, Self::Struct];

    /// Name of the class in files.
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

/// Statement of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reported {
    /// Number.
    Value(f64),
    /// Text.
    Words(String),
}

/// Places of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Selection {
    /// List of values.
    These(Vec<f64>),
    /// Range of values.
    Within(Range),
}

impl Selection {
    pub(super) fn has(&self, value: f64) -> bool {
        match self {
            // Both values were read from the same text, so that their bits are equal.
            Self::These(values) => values.iter().any(|own| own.to_bits() == value.to_bits()),
            Self::Within(range) => range.has(value),
        }
    }
}

/// Range of numbers, with both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Least value; no bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Greatest value; no bound unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Range {
    /// Whether `value` lies in the range.
    pub fn has(self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

/// Side of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NumberSide {
    /// Above the number.
    Above,
    /// Below the number.
    Below,
}

/// Position of a value with respect to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SignOrder {
    /// Above zero.
    Above,
    /// Below zero.
    Below,
    /// At or above zero, or below it by at most the margin.
    NotBelow,
    /// At or below zero, or above it by at most the margin.
    NotAbove,
}

impl SignOrder {
    /// Side of zero that is claimed, or towards which the value may lie freely.
    pub(super) const fn side(self) -> NumberSide {
        match self {
            Self::Above | Self::NotBelow => NumberSide::Above,
            Self::Below | Self::NotAbove => NumberSide::Below,
        }
    }

    /// Whether a value of zero fails.
    pub(super) const fn is_strict(self) -> bool {
        matches!(self, Self::Above | Self::Below)
    }
}

/// Direction of a value along a sweep; each step from one place to the next is judged as an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// Name of the sweep.
    pub along: String,
    /// Whether the value rises or falls.
    pub goes: TrendDirection,
}

/// Direction of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrendDirection {
    /// Rising values.
    Up,
    /// Falling values.
    Down,
}

/// Statistic over the values of the seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverSeeds {
    /// Mean of the values.
    #[default]
    Mean,
    /// Coefficient of variation: standard deviation over mean.
    Variation,
}

/// Judgement over the places of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverPlaces {
    /// Each place is judged.
    #[default]
    Each,
    /// The mean over the places is judged, seed by seed.
    Mean,
    /// The formula covers all places at once: each value and each axis in it is several numbers, one for each place.
    All,
}

/// Conditions under which a value outside the range is better than the paper's: no more delay and no more loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BetterConditions {
    /// Side of the range on which the value is better.
    pub side: NumberSide,
    /// Quantities that must not exceed those of the paper.
    pub at: Vec<NoMore>,
}

/// Quantity that must not exceed that of the paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoMore {
    /// Formula of the quantity.
    pub of: String,
    /// Value of the paper.
    pub than: f64,
}
