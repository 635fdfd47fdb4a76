//! Keys of `[[plots]]` in a row.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use weir_report::chart::Bounds;
use weir_scenario::scenario::Named;

/// Figure of the paper, drawn from our runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// Name of the plot within the row.
    pub id: String,
    /// Title of the plot, in a line.
    pub title: String,
    /// Kind of the plot.
    pub kind: PlotKind,
    /// Horizontal axis; bars need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Axis>,
    /// Vertical axis.
    pub y: Axis,
    /// Place of the sweeps; for a sweep that is not named its first value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, f64>,
    /// Sweep on the horizontal axis, for a `sweep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub along: Option<String>,
    /// Sweep on the horizontal axis, for a `map`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub across: Option<String>,
    /// Sweep on the vertical axis, for a `map`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<String>,
    /// Whether a unit has the same length on both axes, for a `curve`.
    #[serde(default)]
    pub equal: bool,
    /// Numbers of the paper to show beside ours, by the names of the bars.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub paper: BTreeMap<String, f64>,
    /// Lines of the plot, by their names in the legend.
    pub lines: Named<LineOf>,
}

/// Kind of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// Time series of the first seed; a single number is a horizontal line.
    #[default]
    Course,
    /// Cumulative distributions of the values of all seeds.
    Cdf,
    /// Numbers along a sweep, each the mean over the seeds with its 95 % interval.
    Sweep,
    /// Numbers beside each other, each the mean over the seeds with its 95 % interval.
    Bars,
    /// Curves through points, of the first seed; two numbers are a point.
    Curve,
    /// Number over two sweeps, the mean over the seeds.
    Map,
}

impl PlotKind {
    /// Name of the kind in files.
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

/// Axis of a plot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Quantity of the axis, with its unit.
    pub label: String,
    /// Lower end; by the data unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Upper end; by the data unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// Whether the axis is logarithmic.
    #[serde(default)]
    pub log: bool,
}

impl Axis {
    pub(in crate::experiments) fn bounds(&self) -> Bounds {
        Bounds { from: self.from, to: self.to, log: self.log }
    }
}

/// Formula or formulas of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LineOf {
    /// Formula of the line.
    Formula(String),
    /// Formulas of both axes, for a `curve`.
    Points {
        /// Horizontal formula.
        x: String,
        /// Vertical formula.
        y: String,
    },
}
