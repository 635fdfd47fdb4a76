//! The functions of formulas: what they take and what they make of it.

use super::Kind;

/// A function of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
    /// Jain's index.
    Jain,
    /// The coefficient of variation: standard deviation over mean.
    Variation,
    /// The number below which the given share of all lies.
    Quantile,
    /// The share of them that is above a number.
    Above,
    /// The share of them that is below a number.
    Below,
    /// The size without the sign.
    Size,
    /// The part of a course from one second of the run to another.
    Between,
    /// A course where another one lies between two numbers; no value elsewhere.
    During,
    /// A course in means over so many seconds.
    Smooth,
    /// Jain's index over several courses at each moment.
    Fairness,
    /// The second from which on a course stays between two numbers for so many seconds.
    Until,
    /// How often a course rises above a number.
    Episodes,
    /// Pearson's correlation of two courses.
    Correlation,
    /// The largest distance of two distributions (Kolmogorov and Smirnov).
    Distance,
}

/// What a function takes in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// One number.
    Number,
    /// Numbers: of several flows, or over time.
    Numbers,
    /// A course over time.
    Course,
    /// One course or several.
    AnyCourse,
    /// Several courses.
    Courses,
}

impl Takes {
    pub(super) const fn fits(self, kind: Kind) -> bool {
        match self {
            Self::Number => matches!(kind, Kind::Number),
            Self::Numbers => matches!(kind, Kind::Several | Kind::Course),
            Self::Course => matches!(kind, Kind::Course),
            Self::AnyCourse => matches!(kind, Kind::Course | Kind::Courses),
            Self::Courses => matches!(kind, Kind::Courses),
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Numbers => "several numbers, such as `flows.*.rate_bps` or a series",
            Self::Course => "a series",
            Self::AnyCourse => "one series or several",
            Self::Courses => "several series, such as `series.flows.*.send_rate_bps`",
        }
    }
}

/// Every function, by its name.
pub(super) const FUNCTIONS: [(&str, Function); 18] = [
    ("sum", Function::Sum),
    ("mean", Function::Mean),
    ("least", Function::Least),
    ("greatest", Function::Greatest),
    ("jain", Function::Jain),
    ("variation", Function::Variation),
    ("quantile", Function::Quantile),
    ("above", Function::Above),
    ("below", Function::Below),
    ("size", Function::Size),
    ("between", Function::Between),
    ("during", Function::During),
    ("smooth", Function::Smooth),
    ("fairness", Function::Fairness),
    ("until", Function::Until),
    ("episodes", Function::Episodes),
    ("correlation", Function::Correlation),
    ("distance", Function::Distance),
];

impl Function {
    pub(super) const fn takes(self) -> &'static [Takes] {
        match self {
            Self::Sum | Self::Mean | Self::Least | Self::Greatest | Self::Jain | Self::Variation => {
                &[Takes::Numbers]
            }
            Self::Quantile | Self::Above | Self::Below => &[Takes::Numbers, Takes::Number],
            Self::Size => &[Takes::Number],
            Self::Between => &[Takes::AnyCourse, Takes::Number, Takes::Number],
            Self::During => &[Takes::Course, Takes::Course, Takes::Number, Takes::Number],
            Self::Smooth => &[Takes::AnyCourse, Takes::Number],
            Self::Fairness => &[Takes::Courses],
            Self::Until => &[Takes::Course, Takes::Number, Takes::Number, Takes::Number],
            Self::Episodes => &[Takes::Course, Takes::Number],
            Self::Correlation => &[Takes::Course, Takes::Course],
            Self::Distance => &[Takes::Numbers, Takes::Numbers],
        }
    }

    /// What comes out where `first` goes in first.
    pub(super) const fn makes(self, first: Kind) -> Kind {
        match self {
            Self::Between | Self::During | Self::Smooth => first,
            Self::Fairness => Kind::Course,
            _ => Kind::Number,
        }
    }
}
