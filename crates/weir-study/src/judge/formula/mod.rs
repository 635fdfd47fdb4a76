//! Formulas of checks and claims: small expressions over the metrics of a run, its time series and the axes of a sweep.
//!
//! ```text
//! coupled:links.bottleneck.queue_ms.mean - alone:links.bottleneck.queue_ms.mean
//! jain(coupled:flows.*.sent.bytes)
//! mean(between(coupled:series.flows.video-1.send_rate_bps, 40, 60)) / $capacity
//! ```
//!
//! `VARIANT:PATH` is a value of the run of that variant. The path has the keys of the results; elements of arrays go by
//! their `name`. `*` stands for any name or, after a part of it, for any rest. A path with `*` is several values, and a
//! path that begins with `series.` is a time series. `$AXIS` is the value of an axis at the place of the sweep. Each
//! run is judged by itself: two variants in a formula are runs of the same seed. `[a, b]` is several numbers. Over all
//! places at once, each value and each `$AXIS` is several numbers, one for each place.

use std::collections::BTreeMap;

mod courses;
mod evaluate;
mod functions;
mod parse;

pub(crate) use courses::{UniformSeries, distance};
pub(crate) use evaluate::{Harvested, KnownValues, evaluate, value};
pub(crate) use functions::Function;
pub(crate) use parse::{fill, parse_any, parse_as};

/// Formula with matching kinds of its parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Formula {
    /// Constant.
    Number(f64),
    /// Value of an axis of the sweep.
    Axis(String),
    /// Measured value.
    Measure(Leaf),
    /// Negated formula.
    Negative(Box<Formula>),
    /// Two formulas with an operator.
    Two(Operator, Box<Formula>, Box<Formula>),
    /// List of numbers.
    List(Vec<Formula>),
    /// Call of a function.
    Call(Function, Vec<Formula>),
}

/// Value of the runs of a variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Leaf {
    /// Name of the variant.
    pub(crate) variant: String,
    /// Path in the results.
    pub(crate) path: String,
}

/// Scope of a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Single place of the sweeps.
    #[default]
    Place,
    /// All places at once.
    AllPlaces,
}

/// Context in which a formula is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormulaContext<'a> {
    /// Scope of the formula.
    pub(crate) scope: Scope,
    /// Formulas that it may name.
    pub(crate) named: &'a BTreeMap<String, String>,
}

/// Operator between two formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

/// Kind of a part of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Single number.
    Number,
    /// Number for each of several flows or links.
    Several,
    /// Time series.
    UniformSeries,
    /// Time series for each of several flows or links.
    Courses,
}

impl Kind {
    /// Name of the kind in messages.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Several => "several numbers",
            Self::UniformSeries => "a course over time",
            Self::Courses => "several courses over time",
        }
    }
}

impl Leaf {
    /// Whether the path leads to a time series.
    pub(crate) fn is_series(path: &str) -> bool {
        path.starts_with("series.")
    }

    pub(crate) fn kind(&self) -> Kind {
        match (Self::is_series(&self.path), self.path.contains('*')) {
            (false, false) => Kind::Number,
            (false, true) => Kind::Several,
            (true, false) => Kind::UniformSeries,
            (true, true) => Kind::Courses,
        }
    }
}

impl Formula {
    /// Measured values that the formula needs.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        match self {
            Self::Number(_) | Self::Axis(_) => Vec::new(),
            Self::Measure(leaf) => vec![leaf],
            Self::Negative(of) => of.leaves(),
            Self::Two(_, left, right) => left.leaves().into_iter().chain(right.leaves()).collect(),
            Self::List(arguments) | Self::Call(_, arguments) => {
                arguments.iter().flat_map(Self::leaves).collect()
            }
        }
    }

    /// Axes that the formula names.
    pub(crate) fn axes(&self) -> Vec<&str> {
        match self {
            Self::Number(_) | Self::Measure(_) => Vec::new(),
            Self::Axis(name) => vec![name],
            Self::Negative(of) => of.axes(),
            Self::Two(_, left, right) => left.axes().into_iter().chain(right.axes()).collect(),
            Self::List(arguments) | Self::Call(_, arguments) => {
                arguments.iter().flat_map(Self::axes).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
