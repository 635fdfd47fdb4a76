//! Statistics over runs: the mean and its confidence interval.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two-sided confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Quantiles of Student's t are computed once for this many degrees of freedom.
const TABULATED: usize = 128;

/// The mean of `values`, or `None` without any.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation (divisor n − 1), or `None` for fewer than two values.
pub fn sample_sd(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Largest distance between the cumulative distributions of two samples (Kolmogorov and Smirnov); NaN where one is empty.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    let up_to = |values: &[f64], x: f64| {
        values.iter().filter(|value| **value <= x).count() as f64 / values.len() as f64
    };
    a.iter().chain(b).map(|&x| (up_to(a, x) - up_to(b, x)).abs()).fold(f64::NAN, f64::max)
}

/// Half the width of the 95 % confidence interval of the mean, by Student's t: t(0.975, n − 1) · s / √n. `None` for
/// fewer than two values; zero where all values are equal.
pub fn half_width_95(values: &[f64]) -> Option<f64> {
    let sd = sample_sd(values)?;
    Some(t_quantile(values.len() - 1) * sd / (values.len() as f64).sqrt())
}

/// Fewer runs than this are never split into two kinds.
const LEAST_RUNS: usize = 10;
/// The gap between two kinds is more than this share of the range of all runs, …
const GAP_OF_RANGE: f64 = 0.5;
/// … and more than this share of their mean.
const GAP_OF_MEAN: f64 = 0.2;
/// Least share of the runs on each side of the gap, …
const LEAST_SIDE: f64 = 0.2;
/// … and least number of them.
const LEAST_ON_A_SIDE: usize = 3;

/// A group of similar runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// The mean of its runs.
    pub mean: f64,
    /// Their number.
    pub runs: usize,
}

/// The two kinds of runs, the lower first, if their mean represents neither. The result is `None` for runs of one
/// kind, and for fewer than ten. Runs are of two kinds if the largest gap between neighbouring values is more than
/// half of the range of all and more than 20 % of their mean. At least 20 % of the runs must lie on each side of
/// it, and at least three.
pub fn two_kinds(values: &[f64]) -> Option<[Kind; 2]> {
    if values.len() < LEAST_RUNS || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let gap_before = |at: usize| sorted[at] - sorted[at - 1];
    let at = (1..sorted.len()).max_by(|&a, &b| gap_before(a).total_cmp(&gap_before(b)))?;
    let (low, high) = sorted.split_at(at);
    let range = sorted[sorted.len() - 1] - sorted[0];
    let wide = gap_before(at) > GAP_OF_RANGE * range && gap_before(at) > GAP_OF_MEAN * mean(values)?.abs();
    let least = (LEAST_SIDE * values.len() as f64).max(LEAST_ON_A_SIDE as f64);
    let both = low.len().min(high.len()) as f64 >= least;
    let kind = |side: &[f64]| Some(Kind { mean: mean(side)?, runs: side.len() });
    if wide && both { Some([kind(low)?, kind(high)?]) } else { None }
}

/// Both kinds as text, with so many decimals, each with its number of runs: `40 (2), 100 (8)`. The result is
/// `None` for runs of one kind, and where both look alike.
pub fn kinds_in_words(kinds: Option<[Kind; 2]>, decimals: usize) -> Option<String> {
    let [low, high] = kinds?;
    let mean = |kind: Kind| format!("{:.decimals$}", kind.mean);
    let words = format!("{} ({}), {} ({})", mean(low), low.runs, mean(high), high.runs);
    (mean(low) != mean(high)).then_some(words)
}

/// A mean with the half width of its 95 % confidence interval: the result that tables, suites and claims print.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval, or `None` for a single value.
    pub half_width: Option<f64>,
    /// The two kinds of the runs ([`two_kinds`]), or `None` for runs of one kind.
    pub kinds: Option<[Kind; 2]>,
}

impl Estimate {
    /// The estimate from `values`, or `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self { mean: mean(values)?, half_width: half_width_95(values), kinds: two_kinds(values) })
    }

    /// Whether the interval holds `limit`, so that the mean may lie on either side of it. Never true for a single
    /// value, nor where all values are equal.
    pub fn leaves_open(&self, limit: f64) -> bool {
        self.half_width.is_some_and(|half| half > 0.0 && (self.mean - limit).abs() <= half)
    }

    /// Whether the interval excludes zero; never for a single value, which has no interval.
    pub fn excludes_zero(&self) -> bool {
        self.half_width.is_some_and(|half| self.mean.abs() > half)
    }
}

/// The mean of the differences `a − b`, run by run. Both must come from the same seeds in the same order, so that
/// the common part of the runs cancels. Returns `None` if the lengths differ or there are no runs.
/// [`Estimate::excludes_zero`] is whether the two differ (no correction for multiple comparisons is applied).
pub fn paired_difference(a: &[f64], b: &[f64]) -> Option<Estimate> {
    if a.len() != b.len() {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    Estimate::of(&differences)
}

/// The 97.5 % quantile of Student's t; infinite for no degree of freedom.
fn t_quantile(freedom: usize) -> f64 {
    static TABLE: Quantiles = Quantiles::of(1.0 - (1.0 - CONFIDENCE) / 2.0);
    TABLE.at(freedom)
}

/// A quantile of Student's t by degrees of freedom, infinite for none.
pub(super) struct Quantiles {
    probability: f64,
    table: OnceLock<[f64; TABULATED]>,
}

impl Quantiles {
    /// The quantile for `probability`, in (0, 1).
    pub(super) const fn of(probability: f64) -> Self {
        Self { probability, table: OnceLock::new() }
    }

    pub(super) fn at(&self, freedom: usize) -> f64 {
        let table = self.table.get_or_init(|| core::array::from_fn(|freedom| self.compute(freedom)));
        table.get(freedom).copied().unwrap_or_else(|| self.compute(freedom))
    }

    /// The quantile to twelve digits: later ones of transcendental functions differ between processors.
    fn compute(&self, freedom: usize) -> f64 {
        let t = StudentsT::new(0.0, 1.0, freedom as f64);
        let quantile = t.map_or(f64::INFINITY, |t| t.inverse_cdf(self.probability));
        (quantile * 1e12).round() / 1e12
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `actual` is `expected` within `tolerance`.
    fn close(actual: f64, expected: f64, tolerance: f64) {
        assert!((actual - expected).abs() <= tolerance, "{actual} is not {expected}");
    }

    #[test]
    fn quantiles_of_t_are_those_of_the_tables() {
        let table = [
            (1, 12.7062),
            (2, 4.3027),
            (3, 3.1824),
            (4, 2.7764),
            (5, 2.5706),
            (9, 2.2622),
            (19, 2.0930),
            (29, 2.0452),
            (99, 1.9842),
            (299, 1.9679),
        ];
        for (freedom, expected) in table {
            close(t_quantile(freedom), expected, 5e-5);
        }
    }

    #[test]
    fn ten_runs_give_an_interval() {
        // Sum 266.0, mean 26.6; squared deviations 0.25 + 0.16 + 1.44 + 0.04 + 2.56 + 0.36 + 0.81 + 0.49 + 0 + 0.01
        // = 6.12; s = √(6.12 / 9) = 0.8246; half width 2.2622 · 0.8246 / √10 = 0.590.
        let runs = [26.1, 27.0, 25.4, 26.8, 28.2, 26.0, 27.5, 25.9, 26.6, 26.5];
        let estimate = Estimate::of(&runs).unwrap();
        close(estimate.mean, 26.6, 1e-9);
        close(sample_sd(&runs).unwrap(), 0.8246, 5e-5);
        close(estimate.half_width.unwrap(), 0.590, 5e-4);
    }

    #[test]
    fn one_run_has_no_interval_and_equal_runs_have_one_of_width_zero() {
        assert_eq!(Estimate::of(&[3.0]), Some(Estimate { mean: 3.0, half_width: None, kinds: None }));
        let equal = Estimate { mean: 3.0, half_width: Some(0.0), kinds: None };
        assert_eq!(Estimate::of(&[3.0, 3.0]), Some(equal));
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn a_limit_is_open_while_the_interval_holds_it() {
        // 26.6 ± 0.590, as above.
        let runs = [26.1, 27.0, 25.4, 26.8, 28.2, 26.0, 27.5, 25.9, 26.6, 26.5];
        let open = |limit| Estimate::of(&runs).unwrap().leaves_open(limit);
        assert!(open(26.02) && open(26.6) && open(27.18));
        assert!(!open(26.0) && !open(27.2));
        assert!(!Estimate::of(&[3.0]).unwrap().leaves_open(3.0), "one run leaves nothing open");
        assert!(!Estimate::of(&[3.0, 3.0]).unwrap().leaves_open(3.0), "nor do equal ones");
    }

    #[test]
    fn runs_are_of_two_kinds_where_a_gap_parts_them() {
        // Seven around 100 and three at 40: the gap of 58 is all but 5 of the range of 63, and 71 % of the mean of 82.2.
        let mut runs = [98.0, 99.0, 100.0, 101.0, 102.0, 100.0, 103.0, 40.0, 40.0, 40.0];
        let kinds = two_kinds(&runs).unwrap();
        assert_eq!((kinds[0].mean, kinds[0].runs, kinds[1].runs), (40.0, 3, 7));
        close(kinds[1].mean, 100.428_571, 1e-6);
        assert_eq!(Estimate::of(&runs).unwrap().kinds, Some(kinds));
        assert_eq!(kinds_in_words(Some(kinds), 1).unwrap(), "40.0 (3), 100.4 (7)");
        let alike = kinds.map(|kind| Kind { mean: kind.mean / 1e3, ..kind });
        assert_eq!((kinds_in_words(Some(alike), 0), kinds_in_words(None, 0)), (None, None));
        assert_eq!(two_kinds(&runs[1..]), None, "nine runs are too few");
        // Two are no kind, and of twenty runs three are less than a fifth.
        let twenty = |few: usize| [[40.0; 20].as_slice(), &[100.0; 20]].concat()[20 - few..40 - few].to_vec();
        assert!(two_kinds(&twenty(4)).is_some() && two_kinds(&twenty(3)).is_none());
        runs[9] = 100.0;
        assert_eq!(two_kinds(&runs), None);
    }

    #[test]
    fn a_gap_has_to_be_wide_beside_the_range_and_beside_the_mean() {
        let two = |low: f64, high: f64| [low, low, low, low, low, high, high, high, high, high];
        // Exactly 20 % of the mean of 100, and more.
        assert_eq!(two_kinds(&two(90.0, 110.0)), None);
        assert!(two_kinds(&two(89.0, 111.0)).is_some());
        // Gaps of 5, 5 and 10 within 20: half of the range is not more than half; 10.1 of 20 are.
        let spread = |gap: f64| [0.0, 5.0, 0.0, 5.0, 0.0, 5.0 + gap, 20.0, 20.0, 20.0, 20.0];
        assert_eq!(two_kinds(&spread(10.0)), None);
        assert!(two_kinds(&spread(10.1)).is_some());
        assert_eq!(two_kinds(&[7.0; 12]), None);
        assert!(two_kinds(&two(-1.0, 1.0)).is_some(), "around zero");
        assert_eq!(two_kinds(&two(1.0, f64::NAN)), None);
    }

    #[test]
    fn common_effects_of_runs_cancel_in_paired_differences() {
        // Differences −1, −1.2, −0.8: mean −1, s = √((0.04 + 0.04) / 2) = 0.2, half width 4.3027 · 0.2 / √3 = 0.4968.
        let (a, b) = ([10.0, 20.0, 30.0], [11.0, 21.2, 30.8]);
        let difference = paired_difference(&a, &b).unwrap();
        close(difference.mean, -1.0, 1e-9);
        close(difference.half_width.unwrap(), 0.4968, 5e-5);
        assert!(difference.excludes_zero());
        // Unpaired, the runs scatter far more than the two differ.
        assert!(half_width_95(&a).unwrap() > 20.0);
        assert_eq!(paired_difference(&a, &b[..2]), None);
        assert!(!paired_difference(&[1.0], &[2.0]).unwrap().excludes_zero());
    }
}
