//! NADA's warped delay: fig. 2 of nada-vs-gcc-2016.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::nada::v2016::Config;
use weir_units::TimeDelta;

use crate::analysis::entry::Analysis;
use crate::analysis::range::{LONGER, check, span};
use weir_form::Problem;

/// The curve of fig. 2, by the controller's own function.
pub(in crate::analysis) struct Warp;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `QTH`, delay from which warping begins.
    threshold: TimeDelta,
    /// `QMAX`, the delay that is warped to 0, above the threshold.
    end: TimeDelta,
    /// The longest delay of the curve.
    longest: TimeDelta,
    /// Points of the curve, from a delay of 0 on.
    #[schemars(range(min = 3, max = 100_000))]
    points: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// The delays, in ms.
    delay_ms: Vec<f64>,
    /// `d̃` of each, in ms.
    warped_ms: Vec<f64>,
    /// The greatest `d̃`, in ms.
    largest_ms: f64,
    /// `d̃` at a delay of 0, in ms.
    at_zero_ms: f64,
    /// `d̃` at half the threshold, in ms.
    at_half_threshold_ms: f64,
    /// `d̃` at the threshold, in ms.
    at_threshold_ms: f64,
    /// `d̃` in the middle between threshold and end, in ms.
    at_middle_ms: f64,
    /// `d̃` at the end, in ms.
    at_end_ms: f64,
    /// The greatest `d̃` of the curve beyond the end, in ms; 0 where the curve ends before.
    beyond_end_ms: f64,
    /// Points between the threshold and the end at which the curve does not fall.
    not_falling: usize,
    /// The greatest jump at the threshold and at the end, over a nanosecond, in ms.
    largest_jump_ms: f64,
    /// Delay from which on `d̃` is below 10 ms again, so that accelerated ramp-up takes the delay for small, in ms.
    again_below_10_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        let config = Config::nada_2016();
        Self {
            threshold: config.warp_threshold,
            end: config.warp_end,
            longest: TimeDelta::from_millis(500),
            points: 501,
        }
    }
}

impl Analysis for Warp {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "nada-warp";
    const SUMMARY: &'static str = "The delay that NADA steers by, over the delay that there is";
    const SOURCE: &'static str = "nada-vs-gcc-2016 fig. 2; zhu-06 §4.3";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        check([
            ("threshold", span(parameters.threshold), LONGER),
            ("end", parameters.end > parameters.threshold, "a time above `threshold`"),
            ("longest", span(parameters.longest), LONGER),
        ])?;
        let config =
            Config { warp_threshold: parameters.threshold, warp_end: parameters.end, ..Config::nada_2016() };
        let (threshold, end) = (parameters.threshold.millis_f64(), parameters.end.millis_f64());
        let step = parameters.longest.millis_f64() / f64::from(parameters.points - 1);
        let delay_ms: Vec<f64> = (0..parameters.points).map(|n| step * f64::from(n)).collect();
        let warped_ms: Vec<f64> = delay_ms.iter().map(|&delay| config.warped(delay)).collect();
        let points = || delay_ms.iter().copied().zip(warped_ms.iter().copied());
        let falling: Vec<f64> =
            points().filter(|&(d, _)| d >= threshold && d <= end).map(|(_, warped)| warped).collect();
        let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let jump = |at: f64| (config.warped(at + 1e-6) - config.warped(at - 1e-6)).abs();
        Ok(Results {
            largest_ms: greatest(&mut warped_ms.iter().copied()),
            at_zero_ms: config.warped(0.0),
            at_half_threshold_ms: config.warped(threshold / 2.0),
            at_threshold_ms: config.warped(threshold),
            at_middle_ms: config.warped(f64::midpoint(threshold, end)),
            at_end_ms: config.warped(end),
            beyond_end_ms: greatest(&mut points().filter(|&(d, _)| d > end).map(|(_, warped)| warped)),
            not_falling: falling.windows(2).filter(|pair| pair[1] >= pair[0]).count(),
            largest_jump_ms: jump(threshold).max(jump(end)),
            again_below_10_ms: below(&config, 10.0, threshold, end),
            delay_ms,
            warped_ms,
        })
    }
}

/// The delay at which the falling part reaches `level`, or the threshold where it begins below `level`.
fn below(config: &Config, level: f64, threshold: f64, end: f64) -> f64 {
    let (mut low, mut high) = (threshold, end);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if config.warped(middle) > level { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_that_of_figure_2() {
        let results = Warp::run(&Parameters::default()).unwrap();
        let Results { at_zero_ms, at_half_threshold_ms, at_threshold_ms, at_middle_ms, at_end_ms, .. } =
            results;
        // In the middle the delay is 50/16.
        assert_eq!([at_zero_ms, at_half_threshold_ms, at_threshold_ms, at_end_ms], [0.0, 25.0, 50.0, 0.0]);
        assert!((at_middle_ms - 3.125).abs() < 1e-9);
        assert_eq!((results.largest_ms, results.beyond_end_ms, results.not_falling), (50.0, 0.0, 0));
        assert!(results.largest_jump_ms < 1e-4);
        // 50·((400 − d)/350)⁴ = 10: d = 400 − 350·0.2^(1/4) = 165.94.
        assert!((results.again_below_10_ms - 165.94).abs() < 0.01);
    }
}
