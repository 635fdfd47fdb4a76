//! What a claim says of results: a small formula over the metrics of a run, its series and the axes of a sweep.
//!
//! ```text
//! coupled:links.bottleneck.queue_ms.mean - alone:links.bottleneck.queue_ms.mean
//! jain(coupled:flows.*.sent.bytes)
//! mean(between(coupled:series.flows.video-1.send_rate_bps, 40, 60)) / $capacity
//! ```
//!
//! `VARIANT:PATH` is a value of the run of that variant: the path is that of the keys in the results, elements of arrays go by
//! their `name`, and `*` stands for any name or, behind a part of it, for any rest. A path with `*` is several values, one
//! that begins with `series.` a course over time. `$AXIS` is where on the sweep it is. Each run is judged by itself: two variants
//! in a formula are runs of the same seed. `[a, b]` is several numbers. Over all places at once, each value and each `$AXIS` is
//! several numbers, one for each place.

use std::collections::BTreeMap;

mod courses;
mod evaluate;
mod functions;
mod parse;

pub(super) use courses::Course;
pub(super) use evaluate::{Harvested, Known, evaluate, value};
pub(super) use functions::Function;
pub(super) use parse::{fill, parse_any, parse_as};

/// A formula whose parts fit together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula {
    /// A number.
    Number(f64),
    /// Where on an axis of the sweep it is.
    Axis(String),
    /// What was measured.
    Measure(Leaf),
    /// Less than nothing.
    Negative(Box<Formula>),
    /// Two of them.
    Two(Operator, Box<Formula>, Box<Formula>),
    /// Several numbers, one by one.
    List(Vec<Formula>),
    /// Something made of others.
    Call(Function, Vec<Formula>),
}

/// A value of the runs of a variant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Leaf {
    /// The variant.
    pub(super) variant: String,
    /// Where it stands in the results.
    pub(super) path: String,
}

/// Of what a formula speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scope {
    /// Of one place of the sweeps.
    #[default]
    Place,
    /// Of all of them at once.
    AllPlaces,
}

/// How a formula is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    /// Of what it speaks.
    pub(super) scope: Scope,
    /// Formulas that it may name.
    pub(super) named: &'a BTreeMap<String, String>,
}

/// How two are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

/// What a part of a formula amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number.
    Number,
    /// One number for each of several flows or links.
    Several,
    /// A number over time.
    Course,
    /// One course for each of several flows or links.
    Courses,
}

impl Kind {
    /// How a message calls it.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Several => "several numbers",
            Self::Course => "a course over time",
            Self::Courses => "several courses over time",
        }
    }
}

impl Leaf {
    /// Whether it is a course over time.
    pub(super) fn is_series(path: &str) -> bool {
        path.starts_with("series.")
    }

    pub(super) fn kind(&self) -> Kind {
        match (Self::is_series(&self.path), self.path.contains('*')) {
            (false, false) => Kind::Number,
            (false, true) => Kind::Several,
            (true, false) => Kind::Course,
            (true, true) => Kind::Courses,
        }
    }
}

impl Formula {
    /// Everything measured that it needs.
    pub(super) fn leaves(&self) -> Vec<&Leaf> {
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

    /// The axes that it names.
    pub(super) fn axes(&self) -> Vec<&str> {
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
