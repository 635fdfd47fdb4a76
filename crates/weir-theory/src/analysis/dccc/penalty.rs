//! Analysis `dccc-penalty`: the delay price over the one-way delay (dccc-2017 eq. (16) and fig. 2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::dccc::Config;
use weir_units::TimeDelta;

use crate::analysis::entry::Analysis;
use crate::analysis::range::{LONGER, NO_SHORTER, affordable, check, span};
use weir_form::Problem;

/// The curves `v/β` of fig. 2.
pub(in crate::analysis) struct Penalty;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `p`, delays of the return path, one curve each.
    return_delays: Vec<TimeDelta>,
    /// `T`, the delay up to which there is no delay price.
    threshold: TimeDelta,
    /// `β`, scale of the price, by which curves are divided.
    #[schemars(range(min = 0.001, max = 1.0))]
    price_scale: f64,
    /// The longest one-way delay of a curve, above the threshold.
    longest: TimeDelta,
    /// Points of a curve, from a delay of 0 on.
    #[schemars(range(min = 3, max = 100_000))]
    points: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// `e`, the one-way delays of all curves, in ms.
    owd_ms: Vec<f64>,
    /// A curve for each delay of the return path.
    curves: Vec<PenaltyCurve>,
    /// Points at or below the threshold at which a curve has a price.
    priced_below_threshold: usize,
    /// Steps above the threshold at which a curve does not rise.
    not_rising: usize,
    /// Pairs of steps above the threshold of which the second rises by no less: there the curve is not concave.
    not_concave: usize,
    /// The greatest distance between two curves at the longest delay.
    spread_at_longest: f64,
    /// The least `v/β` of all curves at a delay of 10 000 s.
    limit: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PenaltyCurve {
    /// `p` as text, such as `25ms`.
    name: String,
    /// `v/β` at each delay.
    price: Vec<f64>,
}

impl Default for Parameters {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            return_delays: [10, 25, 50, 100].map(ms).to_vec(),
            threshold: ms(100),
            price_scale: Config::default().price_scale,
            longest: ms(1000),
            points: 1001,
        }
    }
}

/// Greatest number of points of all curves.
const MAX_VALUES: f64 = 2e6;

impl Analysis for Penalty {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "dccc-penalty";
    const SUMMARY: &'static str = "DCCC's price of delay over the one-way delay, for several return delays";
    const SOURCE: &'static str = "dccc-2017 eq. (16), fig. 2";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        parameters.check()?;
        let delays = parameters.delays();
        let curves: Vec<PenaltyCurve> =
            parameters.return_delays.iter().map(|&back| parameters.curve(&delays, back)).collect();
        let first_priced = delays.iter().position(|&e| e > parameters.threshold).unwrap_or(delays.len());
        let of_all = |count: fn(&[f64]) -> usize| {
            curves.iter().map(|curve| count(&curve.price[first_priced.saturating_sub(1)..])).sum()
        };
        let free = curves.iter().flat_map(|curve| &curve.price[..first_priced]);
        let last = |of: fn(f64, f64) -> f64, start: f64| {
            curves.iter().filter_map(|curve| curve.price.last()).fold(start, |sum, &price| of(sum, price))
        };
        let long = TimeDelta::from_secs(10_000);
        let limits = parameters.return_delays.iter().map(|&back| parameters.price(long, back));
        Ok(Results {
            owd_ms: delays.iter().map(|e| e.millis_f64()).collect(),
            priced_below_threshold: free.filter(|&&price| price != 0.0).count(),
            not_rising: of_all(|rising| rising.windows(2).filter(|w| w[1] <= w[0]).count()),
            not_concave: of_all(|rising| rising.windows(3).filter(|w| w[2] - w[1] >= w[1] - w[0]).count()),
            spread_at_longest: last(f64::max, 0.0) - last(f64::min, 1.0),
            limit: limits.fold(1.0, f64::min),
            curves,
        })
    }
}

impl Parameters {
    fn check(&self) -> Result<(), Problem> {
        let paths = (0..self.return_delays.len()).map(|i| format!("return_delays.{i}"));
        check(paths.zip(&self.return_delays).map(|(path, &back)| (path, span(back), LONGER)))?;
        check([
            ("return_delays", !self.return_delays.is_empty(), "one time at least"),
            ("threshold", !self.threshold.is_negative(), NO_SHORTER),
            ("longest", self.longest > self.threshold, "a time above `threshold`"),
        ])?;
        let values = self.return_delays.len() as f64 * f64::from(self.points);
        affordable("points", values, MAX_VALUES, "points of all curves", "`points` or `return_delays`")
    }

    fn delays(&self) -> Vec<TimeDelta> {
        let steps = i64::from(self.points - 1);
        let step = |n: i64| self.longest.scale(n as f64 / steps as f64);
        (0..=steps).map(step).collect()
    }

    fn curve(&self, delays: &[TimeDelta], back: TimeDelta) -> PenaltyCurve {
        PenaltyCurve { name: back.to_string(), price: delays.iter().map(|&e| self.price(e, back)).collect() }
    }

    /// `v/β` at a one-way delay, by the controller's own equation.
    fn price(&self, e: TimeDelta, back: TimeDelta) -> f64 {
        let config = Config { price_scale: self.price_scale, ..Config::default() };
        config.delay_price(e - self.threshold, e + back) / self.price_scale
    }
}
