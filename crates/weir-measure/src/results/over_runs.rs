//! Statistics over runs, computed from the values of single runs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stats::Estimate;

/// A metric of one run; Its value is `None` where it is not defined (the delay of a flow that received nothing).
pub type Value = Option<f64>;

/// A metric over runs: percentiles and the like are taken per run, then averaged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistic {
    /// The mean over the runs that have a value.
    pub mean: f64,
    /// Half the width of the mean's 95 % confidence interval (Student's t); null for a single run.
    pub ci95: Option<f64>,
    /// Number of runs in which the metric is not defined; left out if zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Values that can be summarised over runs.
pub trait OverRuns {
    /// The type with a [`Statistic`] in place of each [`Value`].
    type Summary;

    /// Statistics over the first run and the others, in the order of seeds.
    fn over_runs(first: &Self, others: &[&Self]) -> Self::Summary;

    /// Removes every value, as of a run that shall not count.
    fn clear_values(&mut self);
}

impl OverRuns for Value {
    type Summary = Option<Statistic>;

    fn over_runs(first: &Self, others: &[&Self]) -> Option<Statistic> {
        let finite = |value: &Self| value.filter(|v| v.is_finite());
        let values: Vec<f64> =
            core::iter::once(first).chain(others.iter().copied()).filter_map(finite).collect();
        let Estimate { mean, half_width, .. } = Estimate::of(&values)?;
        Some(Statistic { mean, ci95: half_width, missing: others.len() + 1 - values.len() })
    }

    fn clear_values(&mut self) {
        *self = None;
    }
}

impl<T: OverRuns> OverRuns for Vec<T> {
    type Summary = Vec<T::Summary>;

    /// Statistics of each element. Runs with fewer elements than the first have no value for the further ones.
    fn over_runs(first: &Self, others: &[&Self]) -> Self::Summary {
        let summarise = |(i, element): (usize, &T)| {
            let same: Vec<&T> = others.iter().filter_map(|other| other.get(i)).collect();
            T::over_runs(element, &same)
        };
        first.iter().enumerate().map(summarise).collect()
    }

    fn clear_values(&mut self) {
        self.iter_mut().for_each(T::clear_values);
    }
}

impl<T: OverRuns> OverRuns for BTreeMap<String, T> {
    type Summary = BTreeMap<String, T::Summary>;

    /// Statistics for each name of the first run.
    fn over_runs(first: &Self, others: &[&Self]) -> Self::Summary {
        let summarise = |(name, element): (&String, &T)| {
            let same: Vec<&T> = others.iter().filter_map(|other| other.get(name)).collect();
            (name.clone(), T::over_runs(element, &same))
        };
        first.iter().map(summarise).collect()
    }

    fn clear_values(&mut self) {
        self.values_mut().for_each(T::clear_values);
    }
}

/// Metrics in a fixed order, each under a name: the rows of the tidy table.
pub(super) trait NamedMetrics {
    /// Adds the names of the metrics at `path` to `names`.
    fn add_names(path: &str, names: &mut Vec<String>);

    /// Calls `take` with the place of each metric's name, the first of which is `first`, its index in the innermost
    /// list, and its value. Returns the place behind the last one.
    fn each_value(&self, first: usize, take: &mut TakeValue<'_>) -> usize;
}

/// Receives the place of a metric's name, the index in the innermost list, and the value.
pub(super) type TakeValue<'t> = dyn FnMut(usize, Option<usize>, Value) + 't;

/// Number of names of `T`.
pub(super) fn number_of_names<T: NamedMetrics>() -> usize {
    let mut names = Vec::new();
    T::add_names("", &mut names);
    names.len()
}

impl NamedMetrics for Value {
    fn add_names(path: &str, names: &mut Vec<String>) {
        names.push(path.to_owned());
    }

    fn each_value(&self, first: usize, take: &mut TakeValue<'_>) -> usize {
        take(first, None, *self);
        first + 1
    }
}

impl<T: NamedMetrics> NamedMetrics for Vec<T> {
    fn add_names(path: &str, names: &mut Vec<String>) {
        T::add_names(&format!("{path}[]"), names);
    }

    fn each_value(&self, first: usize, take: &mut TakeValue<'_>) -> usize {
        for (index, element) in self.iter().enumerate() {
            element.each_value(first, &mut |name, _, value| take(name, Some(index), value));
        }
        first + number_of_names::<T>()
    }
}

/// Windows repeat the names of the whole run.
impl<T> NamedMetrics for BTreeMap<String, T> {
    fn add_names(_: &str, _: &mut Vec<String>) {}

    fn each_value(&self, first: usize, _: &mut TakeValue<'_>) -> usize {
        first
    }
}

/// Adds the names of the field that `field` reads.
pub(super) fn add_names_of<S, T: NamedMetrics>(
    _field: fn(&S) -> &T,
    (path, key): (&str, String),
    names: &mut Vec<String>,
) {
    let below = if path.is_empty() { key } else { format!("{path}.{key}") };
    T::add_names(&below, names);
}

/// Implements [`OverRuns`] and [`NamedMetrics`] for each field. Fields before the semicolon are taken from the first run
/// and have no metrics. The optional function makes a field's name its key.
macro_rules! over_runs {
    ($type:ident { $($fields:tt)* }) => { over_runs!($type, str::to_owned; { $($fields)* }); };
    ($type:ident, $key:expr; { $($kept:ident),*; $($field:ident),* $(,)? }) => {
        impl OverRuns for $type<Value> {
            type Summary = $type<Option<Statistic>>;

            fn over_runs(first: &Self, others: &[&Self]) -> Self::Summary {
                $type {
                    $($kept: first.$kept.clone(),)*
                    $($field: {
                        let others: Vec<_> = others.iter().map(|run| &run.$field).collect();
                        OverRuns::over_runs(&first.$field, &others)
                    },)*
                }
            }

            fn clear_values(&mut self) {
                $(self.$field.clear_values();)*
            }
        }

        impl NamedMetrics for $type<Value> {
            fn add_names(path: &str, names: &mut Vec<String>) {
                $(add_names_of(|own: &Self| &own.$field, (path, $key(stringify!($field))), names);)*
            }

            fn each_value(&self, first: usize, take: &mut TakeValue<'_>) -> usize {
                let next = first;
                $(let next = self.$field.each_value(next, take);)*
                next
            }
        }
    };
}
pub(super) use over_runs;
