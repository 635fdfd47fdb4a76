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
    /// The natural logarithm; no value of what is not above zero.
    Ln,
    /// The square root; no value of what is below zero.
    Sqrt,
    /// The places in order of size, from 1 on; what is equal shares the mean of its places.
    Rank,
    /// All of them moved and stretched so that the least is 0 and the greatest 1.
    Rescaled,
    /// How fast a course rises from step to step, per second.
    Slope,
    /// The part of a course from one second of the run to another.
    Between,
    /// A course, or several numbers, where another one lies between two numbers; no value elsewhere.
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
    /// Whatever there is, each by itself.
    Each,
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
            Self::Each => true,
            Self::Number => matches!(kind, Kind::Number),
            Self::Numbers => matches!(kind, Kind::Several | Kind::Course),
            Self::Course => matches!(kind, Kind::Course),
            Self::AnyCourse => matches!(kind, Kind::Course | Kind::Courses),
            Self::Courses => matches!(kind, Kind::Courses),
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Each => "a number, several of them, or series",
            Self::Number => "a number",
            Self::Numbers => "several numbers, such as `flows.*.rate_bps` or a series",
            Self::Course => "a series",
            Self::AnyCourse => "one series or several",
            Self::Courses => "several series, such as `series.flows.*.send_rate_bps`",
        }
    }
}

/// Every function, by its name.
pub(super) const FUNCTIONS: [(&str, Function); 23] = [
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
    ("ln", Function::Ln),
    ("sqrt", Function::Sqrt),
    ("rank", Function::Rank),
    ("rescaled", Function::Rescaled),
    ("slope", Function::Slope),
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
            Self::Sum
            | Self::Mean
            | Self::Least
            | Self::Greatest
            | Self::Jain
            | Self::Variation
            | Self::Rank
            | Self::Rescaled => &[Takes::Numbers],
            Self::Quantile | Self::Above | Self::Below => &[Takes::Numbers, Takes::Number],
            Self::Size | Self::Ln | Self::Sqrt => &[Takes::Each],
            Self::Slope => &[Takes::AnyCourse],
            Self::Between => &[Takes::AnyCourse, Takes::Number, Takes::Number],
            Self::During => &[Takes::Numbers, Takes::Numbers, Takes::Number, Takes::Number],
            Self::Smooth => &[Takes::AnyCourse, Takes::Number],
            Self::Fairness => &[Takes::Courses],
            Self::Until => &[Takes::Course, Takes::Number, Takes::Number, Takes::Number],
            Self::Episodes => &[Takes::Course, Takes::Number],
            Self::Correlation | Self::Distance => &[Takes::Numbers, Takes::Numbers],
        }
    }

    /// What comes out where `first` goes in first.
    pub(super) const fn makes(self, first: Kind) -> Kind {
        match self {
            Self::Between
            | Self::During
            | Self::Smooth
            | Self::Size
            | Self::Ln
            | Self::Sqrt
            | Self::Rank
            | Self::Rescaled
            | Self::Slope => first,
            Self::Fairness => Kind::Course,
            _ => Kind::Number,
        }
    }
}
