//! Functions of formulas, with the kinds of their arguments and results.

use super::Kind;

/// Function of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// Sum.
    Sum,
    /// Arithmetic mean.
    Mean,
    /// Least value.
    Least,
    /// Greatest value.
    Greatest,
    /// Jain's index.
    Jain,
    /// Coefficient of variation: standard deviation over mean.
    Variation,
    /// Number below which the given share of all values lies.
    Quantile,
    /// Share of the values above a number.
    Above,
    /// Share of the values below a number.
    Below,
    /// Absolute value.
    Abs,
    /// Natural logarithm, without a value for arguments of zero or below.
    Ln,
    /// Square root, without a value for arguments below zero.
    Sqrt,
    /// Ranks from 1 on; equal values have the mean of their ranks.
    Rank,
    /// Values shifted and scaled so that the least is 0 and the greatest 1.
    Rescaled,
    /// Values with a number in place of missing ones.
    Filled,
    /// Slope of a time series from step to step, per second.
    Slope,
    /// Part of a time series from one second of the run to another.
    Between,
    /// Time series, or several numbers, where another one lies between two numbers; no value elsewhere.
    During,
    /// Time series of means over a number of seconds.
    Smooth,
    /// Jain's index over several time series at each moment.
    Fairness,
    /// Second from which on a time series stays between two numbers for a number of seconds.
    SettlingTime,
    /// Number of rises of a time series above a number.
    Episodes,
    /// Pearson's correlation of two time series.
    Correlation,
    /// Largest distance of two distributions (Kolmogorov and Smirnov).
    KolmogorovSmirnov,
}

/// Kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    /// Value of any kind; the function applies to each number.
    Each,
    /// Single number.
    Number,
    /// Several numbers: of flows, or over time.
    Numbers,
    /// Time series.
    Series,
    /// Time series, one or several.
    AnySeries,
    /// Several time series.
    SeveralSeries,
}

impl ArgumentKind {
    /// Whether a value of the kind `kind` may be the argument.
    pub(super) const fn fits(self, kind: Kind) -> bool {
        match self {
            Self::Each => true,
            Self::Number => matches!(kind, Kind::Number),
            Self::Numbers => matches!(kind, Kind::Several | Kind::UniformSeries),
            Self::Series => matches!(kind, Kind::UniformSeries),
            Self::AnySeries => matches!(kind, Kind::UniformSeries | Kind::Courses),
            Self::SeveralSeries => matches!(kind, Kind::Courses),
        }
    }

    /// Description of the argument, for errors.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Each => "a number, several of them, or series",
            Self::Number => "a number",
            Self::Numbers => "several numbers, such as `flows.*.rate_bps` or a series",
            Self::Series => "a series",
            Self::AnySeries => "one series or several",
            Self::SeveralSeries => "several series, such as `series.flows.*.send_rate_bps`",
        }
    }
}

/// All functions, by name.
pub(super) const FUNCTIONS: [(&str, Function); 24] = [
    ("sum", Function::Sum),
    ("mean", Function::Mean),
    ("least", Function::Least),
    ("greatest", Function::Greatest),
    ("jain", Function::Jain),
    ("variation", Function::Variation),
    ("quantile", Function::Quantile),
    ("above", Function::Above),
    ("below", Function::Below),
    ("size", Function::Abs),
    ("ln", Function::Ln),
    ("sqrt", Function::Sqrt),
    ("rank", Function::Rank),
    ("rescaled", Function::Rescaled),
    ("filled", Function::Filled),
    ("slope", Function::Slope),
    ("between", Function::Between),
    ("during", Function::During),
    ("smooth", Function::Smooth),
    ("fairness", Function::Fairness),
    ("until", Function::SettlingTime),
    ("episodes", Function::Episodes),
    ("correlation", Function::Correlation),
    ("distance", Function::KolmogorovSmirnov),
];

impl Function {
    /// Kinds of the arguments, in order. Their number is that of the arguments.
    pub(super) const fn takes(self) -> &'static [ArgumentKind] {
        match self {
            Self::Sum
            | Self::Mean
            | Self::Least
            | Self::Greatest
            | Self::Jain
            | Self::Variation
            | Self::Rank
            | Self::Rescaled => &[ArgumentKind::Numbers],
            Self::Quantile | Self::Above | Self::Below => &[ArgumentKind::Numbers, ArgumentKind::Number],
            Self::Abs | Self::Ln | Self::Sqrt => &[ArgumentKind::Each],
            Self::Filled => &[ArgumentKind::Each, ArgumentKind::Number],
            Self::Slope => &[ArgumentKind::AnySeries],
            Self::Between => &[ArgumentKind::AnySeries, ArgumentKind::Number, ArgumentKind::Number],
            Self::During => {
                &[ArgumentKind::Numbers, ArgumentKind::Numbers, ArgumentKind::Number, ArgumentKind::Number]
            }
            Self::Smooth => &[ArgumentKind::AnySeries, ArgumentKind::Number],
            Self::Fairness => &[ArgumentKind::SeveralSeries],
            Self::SettlingTime => {
                &[ArgumentKind::Series, ArgumentKind::Number, ArgumentKind::Number, ArgumentKind::Number]
            }
            Self::Episodes => &[ArgumentKind::Series, ArgumentKind::Number],
            Self::Correlation | Self::KolmogorovSmirnov => &[ArgumentKind::Numbers, ArgumentKind::Numbers],
        }
    }

    /// Kind of the result for a first argument of the kind `first`.
    pub(super) const fn makes(self, first: Kind) -> Kind {
        match self {
            Self::Between
            | Self::During
            | Self::Smooth
            | Self::Abs
            | Self::Ln
            | Self::Sqrt
            | Self::Rank
            | Self::Rescaled
            | Self::Filled
            | Self::Slope => first,
            Self::Fairness => Kind::UniformSeries,
            _ => Kind::Number,
        }
    }
}
