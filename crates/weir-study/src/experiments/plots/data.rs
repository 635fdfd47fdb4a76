//! Data of plots, in a form that serialises with stable keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::words::{Axis, PlotKind};
use weir_measure::results::Value;

/// Evaluated plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlotResult {
    /// `PAPER/ROW`.
    pub row: String,
    /// Name of the plot within the row.
    pub id: String,
    /// Title of the plot.
    pub title: String,
    /// Kind of the plot.
    pub kind: PlotKind,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Whether a unit has the same length on both axes.
    pub equal: bool,
    /// Place of the sweeps, without those on its axes.
    pub at: BTreeMap<String, f64>,
    /// Lines of the plot.
    pub lines: Vec<PlotLine>,
}

/// Line, bar or grid of a plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlotLine {
    /// Name in the legend.
    pub name: String,
    /// Values of the line.
    #[serde(flatten)]
    pub drawn: Drawn,
}

/// Values of a line, thinned to the visible resolution; null for a missing value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Drawn {
    /// Line through points.
    Points {
        /// Horizontal coordinates.
        x: Vec<Value>,
        /// Vertical coordinates.
        y: Vec<Value>,
    },
    /// Constant along the horizontal axis.
    Level {
        /// Value of the constant.
        y: Value,
    },
    /// Points with 95 % intervals.
    Means {
        /// Values of the sweep.
        x: Vec<f64>,
        /// Means over the seeds.
        y: Vec<Value>,
        /// Half the widths of the intervals.
        ci95: Vec<Value>,
    },
    /// Single bar.
    Bar {
        /// Mean over the seeds.
        y: Value,
        /// Half the width of its 95 % interval.
        ci95: Value,
        /// Number of the paper.
        paper: Value,
    },
    /// Number over two sweeps.
    Grid {
        /// Horizontal values of the sweep.
        x: Vec<f64>,
        /// Vertical values of the sweep.
        y: Vec<f64>,
        /// Means, a row for each vertical value.
        z: Vec<Vec<Value>>,
    },
}
