//! Verdicts on claims, from the values of runs.
//!
//! Mean, interval and the verdict over several places are those of checks. Two rules differ. The range of a claim has
//! the tolerance with which a paper is read, so that most runs have to lie in it, and the interval of the mean does not
//! count. An order is a statement beyond chance, which a single run cannot show; a limit of a suite is a requirement,
//! which a single run keeps or misses.

#[cfg(test)]
mod tests;

use super::claim::{NumberSide, Range, SignOrder, TrendDirection};
use crate::judge::measured::known;
use crate::judge::{MeasuredPlace, Verdict};
use weir_measure::results::Value;
use weir_measure::results::stats::{Estimate, mean, sample_sd};

/// Least share of runs in the range.
const RUNS_INSIDE: f64 = 0.7;
/// Least share of runs on the claimed side.
const RUNS_ON_THE_SIDE: f64 = 0.8;

/// Verdict on one place, with its basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlaceVerdict {
    pub(super) verdict: Verdict,
    pub(super) measured: MeasuredPlace,
    /// Share of the runs in the range, or on the claimed side.
    pub(super) inside: f64,
    /// Distance of the mean from the limit; negative outside.
    pub(super) margin: f64,
}

fn share(runs: &[Value], holds: impl Fn(f64) -> bool) -> f64 {
    let inside = runs.iter().flatten().filter(|value| holds(**value)).count();
    inside as f64 / runs.len().max(1) as f64
}

impl PlaceVerdict {
    /// Judges whether the runs lie in `range`. A run without a value counts as outside.
    pub(super) fn in_range(runs: &[Value], range: Range) -> Self {
        let measured = MeasuredPlace::of(runs);
        let inside = share(runs, |value| range.has(value));
        let verdict = match measured.mean {
            Some(mean) if range.has(mean) && inside >= RUNS_INSIDE => Verdict::Passed,
            Some(mean) if range.has(mean) => Verdict::TwoKinds,
            _ => Verdict::Missed,
        };
        Self {
            verdict,
            measured,
            inside,
            margin: measured.mean.map_or(f64::NEG_INFINITY, |mean| distance_inside(range, mean)),
        }
    }

    /// Judges whether the coefficient of variation of the runs lies in `range`.
    pub(super) fn variation_in_range(runs: &[Value], range: Range) -> Self {
        let values = known(runs);
        let variation = mean(&values).and_then(|mean| Some(sample_sd(&values)? / mean.abs()));
        // The variation counts only if every run has a value.
        let variation = variation.filter(|_| values.len() == runs.len());
        let one = Self::in_range(&[variation], range);
        Self { measured: MeasuredPlace { runs: values.len(), ..one.measured }, ..one }
    }

    /// Judges whether the runs' values, differences run by run, lie on a side of zero beyond chance. For an order that
    /// equal values meet, the limit is its `margin`, in the unit of the values, in place of zero. The whole interval
    /// and most runs must not exceed it.
    pub(super) fn in_order(runs: &[Value], order: SignOrder, margin: f64) -> Self {
        let measured = MeasuredPlace::of(runs);
        let sign = if order.side() == NumberSide::Above { 1.0 } else { -1.0 };
        let strict = order.is_strict();
        // Distance of a value beyond the limit, on the claimed side.
        let above = |value: f64| if strict { sign * value } else { sign * value + margin };
        let holds = |value: f64| if strict { above(value) > 0.0 } else { above(value) >= 0.0 };
        let inside = share(runs, holds);
        // The order holds if the worse end of the interval and most runs lie on the claimed side. If even the better
        // end lies on the other side, it does not hold; else the runs do not decide.
        let verdict = match measured.estimate() {
            None => Verdict::Missed,
            Some(Estimate { mean, half_width, .. }) => match half_width {
                Some(half) if holds(mean - sign * half) && inside >= RUNS_ON_THE_SIDE => Verdict::Passed,
                Some(half) if above(mean + sign * half) < 0.0 => Verdict::Missed,
                _ => Verdict::Open,
            },
        };
        Self { verdict, measured, inside, margin: measured.mean.map_or(f64::NEG_INFINITY, above) }
    }

    /// Same judgement, but with the verdict `Better` under three conditions. The mean lies on `side` of `range`; enough
    /// runs lie there or in the range; and no quantity of `no_more` exceeds the paper's. Each of these quantities has
    /// the runs' values and the paper's value.
    pub(super) fn unless_better(
        self,
        runs: &[Value],
        range: Range,
        side: NumberSide,
        no_more: &[(Vec<Value>, f64)],
    ) -> Self {
        let is_beyond = |value: f64| match side {
            NumberSide::Above => range.max.is_some_and(|max| value > max),
            NumberSide::Below => range.min.is_some_and(|min| value < min),
        };
        let so_good = share(runs, |value| range.has(value) || is_beyond(value)) >= RUNS_INSIDE;
        let beyond = so_good && self.measured.mean.is_some_and(is_beyond);
        let within = |(runs, paper): &(Vec<Value>, f64)| {
            let measured = MeasuredPlace::of(runs);
            // A run without a value cannot show that the quantity is within the paper's.
            measured.runs == runs.len() && measured.mean.is_some_and(|mean| mean <= *paper)
        };
        if beyond && !no_more.is_empty() && no_more.iter().all(within) {
            return Self { verdict: Verdict::Better, ..self };
        }
        self
    }
}

impl TrendDirection {
    /// Side of zero for each step.
    pub(super) const fn order(self) -> SignOrder {
        match self {
            Self::Up => SignOrder::Above,
            Self::Down => SignOrder::Below,
        }
    }
}

/// Distance of `value` from the nearer end of `range`; negative outside.
fn distance_inside(range: Range, value: f64) -> f64 {
    let above = range.min.map_or(f64::INFINITY, |min| value - min);
    let below = range.max.map_or(f64::INFINITY, |max| max - value);
    above.min(below)
}
