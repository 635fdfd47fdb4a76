//! The objective of gcc-2016: throughput's utility less that of delay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::{DataRate, TimeDelta};

use crate::analysis::entry::Analysis;
use crate::analysis::range::{FASTER, LONGER, check, moving, refused, span};
use crate::form::Problem;

/// Eqs. (19) to (21).
pub(in crate::analysis) struct Utility;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `x_i`, mean throughput of each flow.
    rates: Vec<DataRate>,
    /// `y_i`, mean queuing delay of each flow, in the same order.
    delays: Vec<TimeDelta>,
    /// `α`, exponent of throughput.
    #[schemars(range(min = 0.0, max = 100.0))]
    alpha: f64,
    /// `β`, exponent of delay.
    #[schemars(range(min = 0.0, max = 100.0))]
    beta: f64,
    /// `δ`, weight of delay.
    #[schemars(range(min = 0.0, max = 1000.0))]
    delta: f64,
    /// Unit of `x`; the paper does not say which.
    rate_unit: DataRate,
    /// Unit of `y`; the paper does not say which.
    delay_unit: TimeDelta,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// Eq. (21).
    utility: f64,
    /// Eq. (19): the part of throughput.
    throughput: f64,
    /// What delay takes away, `δ` included.
    delay: f64,
    /// `U^α(x_i)` of each flow.
    flow_throughput: Vec<f64>,
    /// `U^β(y_i)` of each flow.
    flow_delay: Vec<f64>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            rates: vec![DataRate::from_kbps(800)],
            delays: vec![TimeDelta::from_millis(20)],
            alpha: 2.0,
            beta: 1.0,
            delta: 0.15,
            rate_unit: DataRate::from_mbps(1),
            delay_unit: TimeDelta::from_millis(1),
        }
    }
}

impl Analysis for Utility {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "gcc-utility";
    const SUMMARY: &'static str = "The objective by which gcc-2016 chose its gains: throughput against delay";
    const SOURCE: &'static str = "gcc-2016 eqs (19) to (21)";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        parameters.check()?;
        let Parameters { rates, delays, alpha, beta, delta, rate_unit, delay_unit } = parameters;
        let x = rates.iter().map(|rate| rate.bps_f64() / rate_unit.bps_f64());
        let y = delays.iter().map(|delay| delay.secs_f64() / delay_unit.secs_f64());
        let flow_throughput: Vec<f64> = x.map(|x| utility(x, *alpha)).collect();
        let flow_delay: Vec<f64> = y.map(|y| utility(y, *beta)).collect();
        let throughput: f64 = flow_throughput.iter().sum();
        let delay = delta * flow_delay.iter().sum::<f64>();
        if !(throughput - delay).is_finite() {
            let right = "exponents, or units nearer to the values: the utility is beyond all numbers";
            return Err(refused("alpha", right));
        }
        Ok(Results { utility: throughput - delay, throughput, delay, flow_throughput, flow_delay })
    }
}

impl Parameters {
    fn check(&self) -> Result<(), Problem> {
        if self.rates.is_empty() || self.rates.len() != self.delays.len() {
            return Err(refused("delays", "a delay for each of `rates`, one at least"));
        }
        let rates = self.rates.iter().enumerate();
        check(rates.map(|(i, &rate)| (format!("rates.{i}"), moving(rate), FASTER)))?;
        let delays = self.delays.iter().enumerate();
        check(delays.map(|(i, &delay)| (format!("delays.{i}"), span(delay), LONGER)))?;
        check([("rate_unit", moving(self.rate_unit), FASTER), ("delay_unit", span(self.delay_unit), LONGER)])
    }
}

/// `x^{1−α}/(1−α)`, and at `α` = 1 the logarithm, to which its differences tend. Eq. (20).
fn utility(x: f64, alpha: f64) -> f64 {
    if alpha == 1.0 { libm::log(x) } else { libm::pow(x, 1.0 - alpha) / (1.0 - alpha) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    }

    #[test]
    fn two_flows_by_hand() {
        // −1/0.5 − 1/2 = −2.5; ln 10 + ln 40 = ln 400; −2.5 − 0.15·5.9914645 = −3.3987197.
        let parameters = Parameters {
            rates: [500, 2000].map(DataRate::from_kbps).to_vec(),
            delays: [10, 40].map(TimeDelta::from_millis).to_vec(),
            ..Parameters::default()
        };
        let results = Utility::run(&parameters).unwrap();
        close(results.throughput, -2.5);
        close(results.delay, 0.15 * 5.991_464_547_107_982);
        close(results.utility, -3.398_719_682_066_197);
    }

    #[test]
    fn near_an_exponent_of_one_differences_are_those_of_the_logarithm() {
        let difference = |alpha| utility(3.0, alpha) - utility(2.0, alpha);
        assert!((difference(1.0 + 1e-7) - difference(1.0)).abs() < 1e-6);
        close(difference(0.0), 1.0);
    }

    #[test]
    fn a_utility_beyond_all_numbers_is_refused() {
        let parameters =
            Parameters { rates: vec![DataRate::from_bps(1)], alpha: 100.0, ..Parameters::default() };
        assert!(Utility::run(&parameters).unwrap_err().message.contains("`alpha`"));
    }

    #[test]
    fn a_rate_without_a_delay_is_refused() {
        let parameters = Parameters { delays: Vec::new(), ..Parameters::default() };
        assert!(Utility::run(&parameters).is_err());
    }
}
