//! The words of `[[plots]]` in a row.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chart::Bounds;
use crate::scenario::Named;

/// A figure of the paper, drawn from our runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Its name within the row.
    pub id: String,
    /// What it shows, in a line.
    pub title: String,
    /// How it is drawn.
    pub kind: PlotKind,
    /// The axis to the right; bars need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Axis>,
    /// The axis upwards.
    pub y: Axis,
    /// Which place of the sweeps; of each sweep that is not named the first value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, f64>,
    /// The sweep on the axis to the right, of a `sweep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub along: Option<String>,
    /// The sweep on the axis to the right, of a `map`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub across: Option<String>,
    /// The sweep on the axis upwards, of a `map`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<String>,
    /// Whether a unit is as long upwards as to the right, of a `curve`.
    #[serde(default)]
    pub equal: bool,
    /// The paper's numbers beside ours, by the names of the bars.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paper: BTreeMap<String, f64>,
    /// What is drawn, by the name that the legend shows.
    pub lines: Named<LineOf>,
}

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// Courses over time, of the first seed; a number is a level.
    #[default]
    Course,
    /// Cumulative distributions, of the values of all seeds.
    Cdf,
    /// Numbers along a sweep, each the mean over the seeds with its 95 % interval.
    Sweep,
    /// Numbers beside each other, each the mean over the seeds with its 95 % interval.
    Bars,
    /// Curves through points, of the first seed; two numbers are a point.
    Curve,
    /// A number over two sweeps, the mean over the seeds.
    Map,
}

impl PlotKind {
    /// As files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Course => "course",
            Self::Cdf => "cdf",
            Self::Sweep => "sweep",
            Self::Bars => "bars",
            Self::Curve => "curve",
            Self::Map => "map",
        }
    }
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// What is on it, with its unit.
    pub label: String,
    /// Where it begins; by the data unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Where it ends; by the data unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// Whether it is logarithmic.
    #[serde(default)]
    pub log: bool,
}

impl Axis {
    pub(in crate::experiments) fn bounds(&self) -> Bounds {
        Bounds { from: self.from, to: self.to, log: self.log }
    }
}

/// What a line is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LineOf {
    /// A formula.
    Formula(String),
    /// A formula for each axis, of a `curve`.
    Points {
        /// To the right.
        x: String,
        /// Upwards.
        y: String,
    },
}
