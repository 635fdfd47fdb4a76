//! Statistics over runs: the mean and how far it can be trusted.

use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two-sided confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Quantiles of Student's t are computed once for this many degrees of freedom.
const TABULATED: usize = 128;

/// The mean of `values`; `None` without any.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation (divisor n − 1); `None` for fewer than two values.
pub fn sample_sd(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Half the width of the 95 % confidence interval of the mean, by Student's t: t(0.975, n − 1) · s / √n. `None` for
/// fewer than two values; zero where all values are equal.
pub fn half_width_95(values: &[f64]) -> Option<f64> {
    let sd = sample_sd(values)?;
    Some(t_quantile(values.len() - 1) * sd / (values.len() as f64).sqrt())
}

/// A mean with the half width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; `None` for a single value.
    pub half_width: Option<f64>,
}

impl Estimate {
    /// The estimate from `values`; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self { mean: mean(values)?, half_width: half_width_95(values) })
    }

    /// Whether the interval excludes zero; never for a single value, of which nothing can be said.
    pub fn excludes_zero(&self) -> bool {
        self.half_width.is_some_and(|half| self.mean.abs() > half)
    }
}

/// The mean of the differences `a − b`, run by run. Both must come from the same seeds in the same order: then what
/// the runs have in common cancels. `None` if the lengths differ or nothing is there. [`Estimate::excludes_zero`]
/// tells whether the two differ (no correction for multiple comparisons is applied).
pub fn paired_difference(a: &[f64], b: &[f64]) -> Option<Estimate> {
    if a.len() != b.len() {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    Estimate::of(&differences)
}

/// The 97.5 % quantile of Student's t; infinite for no degree of freedom.
fn t_quantile(freedom: usize) -> f64 {
    static TABLE: OnceLock<[f64; TABULATED]> = OnceLock::new();
    let table = TABLE.get_or_init(|| core::array::from_fn(compute_t_quantile));
    table.get(freedom).copied().unwrap_or_else(|| compute_t_quantile(freedom))
}

/// To twelve digits: the last ones of a series of transcendental functions differ between processors.
fn compute_t_quantile(freedom: usize) -> f64 {
    let upper = 1.0 - (1.0 - CONFIDENCE) / 2.0;
    let quantile = StudentsT::new(0.0, 1.0, freedom as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(upper));
    (quantile * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(Estimate::of(&[3.0]), Some(Estimate { mean: 3.0, half_width: None }));
        assert_eq!(Estimate::of(&[3.0, 3.0]), Some(Estimate { mean: 3.0, half_width: Some(0.0) }));
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn what_runs_have_in_common_cancels_in_paired_differences() {
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
