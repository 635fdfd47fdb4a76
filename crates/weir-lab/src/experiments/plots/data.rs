//! What is drawn, as plain data that serialises with stable keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::words::{Axis, PlotKind};
use weir_measure::results::Value;

/// A plot, evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlotResult {
    /// `PAPER/ROW`.
    pub row: String,
    /// Its name within the row.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How it is drawn.
    pub kind: PlotKind,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// Whether a unit is as long upwards as to the right.
    pub equal: bool,
    /// Where on the sweeps it is, but for those on its axes.
    pub at: BTreeMap<String, f64>,
    /// What is drawn.
    pub lines: Vec<PlotLine>,
}

/// One thing of a plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlotLine {
    /// What the legend calls it.
    pub name: String,
    /// Its values.
    #[serde(flatten)]
    pub drawn: Drawn,
}

/// The values of a line, thinned to what can be seen; null where there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "kebab-case")]
pub enum Drawn {
    /// A line through points.
    Points {
        /// To the right.
        x: Vec<Value>,
        /// Upwards.
        y: Vec<Value>,
    },
    /// A number everywhere along the axis to the right.
    Level {
        /// The number.
        y: Value,
    },
    /// Points with 95 % intervals.
    Means {
        /// Places on the sweep.
        x: Vec<f64>,
        /// Means over the seeds.
        y: Vec<Value>,
        /// Half the widths of the intervals.
        ci95: Vec<Value>,
    },
    /// A bar.
    Bar {
        /// The mean over the seeds.
        y: Value,
        /// Half the width of its 95 % interval.
        ci95: Value,
        /// The paper's number.
        paper: Value,
    },
    /// A number over two sweeps.
    Grid {
        /// Places to the right.
        x: Vec<f64>,
        /// Places upwards.
        y: Vec<f64>,
        /// For each place upwards the means of those to the right.
        z: Vec<Vec<Value>>,
    },
}
