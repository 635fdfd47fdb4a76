//! Evaluation of a formula in the runs of one seed.

use serde::{Deserialize, Serialize};

use super::courses::{
    UniformSeries, correlation, distance, known, mean, number_or_none, numbers_or_none, quantile, ranks,
    rescaled, share, variation, where_other,
};
use super::{Formula, Function, Leaf, Operator};
use weir_measure::metrics::jain;

/// Value of a run under one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Harvested {
    /// Number; NaN if the run has none.
    Number(#[serde(deserialize_with = "number_or_none")] f64),
    /// Number for each flow or link that matches the path.
    Several(#[serde(deserialize_with = "numbers_or_none")] Vec<f64>),
    /// Time series of a number.
    UniformSeries(UniformSeries),
    /// Time series for each flow or link that matches the path.
    Courses(Vec<UniformSeries>),
}

/// Known values for the evaluation of a formula.
pub(crate) struct KnownValues<'a> {
    /// Value of each axis at the place.
    pub(crate) axes: &'a dyn Fn(&str) -> Option<Harvested>,
    /// Measured values.
    pub(crate) measured: &'a dyn Fn(&Leaf) -> Option<Harvested>,
}

/// Value of `formula`, or `None` if a needed value is missing.
pub(crate) fn evaluate(formula: &Formula, known: &KnownValues<'_>) -> Option<f64> {
    let Harvested::Number(number) = value(formula, known)? else { return None };
    number.is_finite().then_some(number)
}

/// Value of `formula` of any kind, or `None` if a needed value is missing.
pub(crate) fn value(formula: &Formula, known: &KnownValues<'_>) -> Option<Harvested> {
    match formula {
        Formula::Number(number) => Some(Harvested::Number(*number)),
        Formula::Axis(name) => (known.axes)(name),
        Formula::Measure(leaf) => (known.measured)(leaf),
        Formula::Negative(of) => Some(value(of, known)?.map(&|x| -x)),
        Formula::Two(operator, left, right) => {
            let operate = |a: f64, b: f64| match operator {
                Operator::Plus => a + b,
                Operator::Minus => a - b,
                Operator::Times => a * b,
                Operator::Over => a / b,
            };
            value(left, known)?.with(value(right, known)?, &operate)
        }
        Formula::List(items) => {
            let number = |of: &Formula| match value(of, known)? {
                Harvested::Number(number) => Some(number),
                _ => None,
            };
            items.iter().map(number).collect::<Option<Vec<f64>>>().map(Harvested::Several)
        }
        Formula::Call(function, arguments) => {
            let arguments: Option<Vec<Harvested>> = arguments.iter().map(|of| value(of, known)).collect();
            call(*function, &arguments?)
        }
    }
}

impl Harvested {
    fn map(self, change: &dyn Fn(f64) -> f64) -> Self {
        let all = |values: Vec<f64>| values.into_iter().map(change).collect();
        let course = |course: UniformSeries| UniformSeries { values: all(course.values), ..course };
        match self {
            Self::Number(x) => Self::Number(change(x)),
            Self::Several(values) => Self::Several(all(values)),
            Self::UniformSeries(own) => Self::UniformSeries(course(own)),
            Self::Courses(own) => Self::Courses(own.into_iter().map(course).collect()),
        }
    }

    /// Result of `operate` on both, element by element, or `None` if their lengths differ.
    fn with(self, other: Self, operate: &dyn Fn(f64, f64) -> f64) -> Option<Self> {
        let all = |a: &[f64], b: &[f64]| -> Option<Vec<f64>> {
            (a.len() == b.len()).then(|| a.iter().zip(b).map(|(&a, &b)| operate(a, b)).collect())
        };
        let course = |a: &UniformSeries, b: &UniformSeries| {
            let values = a.goes_with(b).then(|| all(&a.values, &b.values))??;
            Some(UniformSeries { values, ..*a })
        };
        Some(match (self, other) {
            (one, Self::Number(b)) => one.map(&|a| operate(a, b)),
            (Self::Number(a), other) => other.map(&|b| operate(a, b)),
            (Self::Several(a), Self::Several(b)) => Self::Several(all(&a, &b)?),
            (Self::UniformSeries(a), Self::UniformSeries(b)) => Self::UniformSeries(course(&a, &b)?),
            (Self::Courses(a), Self::Courses(b)) if a.len() == b.len() => {
                Self::Courses(a.iter().zip(&b).map(|(a, b)| course(a, b)).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    fn numbers(&self) -> &[f64] {
        match self {
            Self::Several(values) => values,
            Self::UniformSeries(course) => &course.values,
            Self::Number(_) | Self::Courses(_) => &[],
        }
    }

    /// Numbers of `other`, each paired with a number of this value by place or time, or `None` if they do not match.
    fn paired<'o>(&self, other: &'o Self) -> Option<&'o [f64]> {
        let goes = match (self, other) {
            (Self::UniformSeries(own), Self::UniformSeries(other)) => own.goes_with(other),
            _ => true,
        };
        (goes && self.numbers().len() == other.numbers().len()).then(|| other.numbers())
    }

    fn all_numbers(&self, change: impl Fn(&[f64]) -> Vec<f64>) -> Option<Self> {
        match self {
            Self::Several(values) => Some(Self::Several(change(values))),
            Self::UniformSeries(course) => {
                Some(Self::UniformSeries(UniformSeries { values: change(&course.values), ..*course }))
            }
            Self::Number(_) | Self::Courses(_) => None,
        }
    }

    fn number(&self) -> f64 {
        if let Self::Number(number) = self { *number } else { f64::NAN }
    }

    fn each_course(&self, change: impl Fn(&UniformSeries) -> UniformSeries) -> Option<Self> {
        match self {
            Self::UniformSeries(course) => Some(Self::UniformSeries(change(course))),
            Self::Courses(courses) => Some(Self::Courses(courses.iter().map(change).collect())),
            Self::Number(_) | Self::Several(_) => None,
        }
    }
}

fn call(function: Function, arguments: &[Harvested]) -> Option<Harvested> {
    let first = arguments.first()?;
    let numbers = first.numbers();
    let given = |index: usize| arguments.get(index).map_or(f64::NAN, Harvested::number);
    let number = match function {
        Function::Between => return first.each_course(|course| course.between(given(1), given(2))),
        Function::Smooth => return first.each_course(|course| course.smooth(given(1))),
        Function::Slope => return first.each_course(UniformSeries::slope),
        Function::Abs => return Some(first.clone().map(&f64::abs)),
        Function::Ln => return Some(first.clone().map(&libm::log)),
        Function::Sqrt => return Some(first.clone().map(&f64::sqrt)),
        Function::Filled => {
            let number = given(1);
            return Some(first.clone().map(&|value| if value.is_nan() { number } else { value }));
        }
        Function::Rank => return first.all_numbers(ranks),
        Function::Rescaled => return first.all_numbers(rescaled),
        Function::During => {
            let other = first.paired(arguments.get(1)?)?;
            return first.all_numbers(|numbers| where_other(numbers, other, given(2), given(3)));
        }
        Function::Fairness => return fairness(first).map(Harvested::UniformSeries),
        Function::Sum => match first {
            // If one of several flows has no value, there is no sum. In a time series such moments are left out.
            Harvested::Several(values) => values.iter().sum(),
            _ => known(numbers).iter().sum(),
        },
        Function::Mean => mean(numbers),
        Function::Least => known(numbers).into_iter().fold(f64::NAN, f64::min),
        Function::Greatest => known(numbers).into_iter().fold(f64::NAN, f64::max),
        Function::Jain => jain(numbers)?,
        Function::Variation => variation(numbers),
        Function::Quantile => quantile(numbers, given(1)),
        Function::Above => share(numbers, |value| value > given(1)),
        Function::Below => share(numbers, |value| value < given(1)),
        Function::SettlingTime => {
            let Harvested::UniformSeries(course) = first else { return None };
            course.until(given(1), given(2), given(3))
        }
        Function::Episodes => {
            let Harvested::UniformSeries(course) = first else { return None };
            course.episodes(given(1))
        }
        Function::Correlation => correlation(numbers, first.paired(arguments.get(1)?)?),
        Function::KolmogorovSmirnov => distance(numbers, arguments.get(1)?.numbers()),
    };
    Some(Harvested::Number(number))
}

fn fairness(of: &Harvested) -> Option<UniformSeries> {
    let Harvested::Courses(courses) = of else { return None };
    let first = courses.first()?;
    let length = first.values.len();
    if !courses.iter().all(|course| course.goes_with(first) && course.values.len() == length) {
        return None;
    }
    let index = |moment: usize| {
        let rates: Vec<f64> = courses.iter().map(|course| course.values[moment]).collect();
        jain(&rates).unwrap_or(f64::NAN)
    };
    Some(UniformSeries { values: (0..length).map(index).collect(), ..*first })
}
