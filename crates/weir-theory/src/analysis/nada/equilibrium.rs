//! NADA's rate at rest: eq. (9) of nada-vs-gcc-2016.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::nada::v2016::Config;
use weir_units::{DataRate, TimeDelta};

use crate::analysis::entry::Analysis;
use crate::analysis::range::{FASTER, LONGER, check, moving, span};
use weir_form::Problem;

/// Eq. (9), and the cases in which it has no solution.
pub(in crate::analysis) struct NadaEquilibrium;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `C`.
    capacity: DataRate,
    /// `N`, flows that share it.
    #[schemars(range(min = 1, max = 1000))]
    flows: u32,
    /// `R_max`.
    max_rate: DataRate,
    /// `x_ref`.
    reference: TimeDelta,
    /// `QTH`: the delay signal is at most this.
    threshold: TimeDelta,
    /// `D_loss`, penalty at a loss ratio of 1.
    loss_penalty: TimeDelta,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// `R_n`, the rate of each flow, in bit/s: its share of the capacity, at most `R_max`.
    rate_bps: f64,
    /// `x_n = x_ref·R_max/R_n`, the signal that holds that rate, in ms; 0 where all have `R_max` and the link is not full.
    signal_ms: f64,
    /// `R_n·x_n`, in kbit/s·ms: `x_ref·R_max` where the link is full.
    product_kbps_ms: f64,
    /// The queuing delay that gives this signal, in ms, or null where delay alone never does.
    queue_ms: Option<f64>,
    /// `x_ref·R_max/QTH`, the lowest rate at rest without loss, in bit/s.
    least_rate_bps: f64,
    /// 1 if the flows can rest without loss, else 0.
    rests_without_loss: u8,
    /// The loss ratio whose penalty has to be added to the greatest delay signal. The ratio is 0 where no loss is needed, and
    /// null where even a loss ratio of 1 would not suffice.
    loss_ratio: Option<f64>,
}

impl Default for Parameters {
    fn default() -> Self {
        let config = Config::nada_2016();
        Self {
            capacity: DataRate::from_mbps(2),
            flows: 1,
            max_rate: DataRate::from_kbps(2500),
            reference: config.reference_congestion,
            threshold: config.warp_threshold,
            loss_penalty: config.loss_penalty,
        }
    }
}

impl Analysis for NadaEquilibrium {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "nada-equilibrium";
    const SUMMARY: &'static str =
        "Signal and queue at which NADA's flows rest, and below which rate they cannot";
    const SOURCE: &'static str = "nada-vs-gcc-2016 eq. (9)";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        check([
            ("capacity", moving(parameters.capacity), FASTER),
            ("max_rate", moving(parameters.max_rate), FASTER),
            ("reference", span(parameters.reference), LONGER),
            ("threshold", span(parameters.threshold), LONGER),
            ("loss_penalty", span(parameters.loss_penalty), LONGER),
        ])?;
        let most = parameters.max_rate.bps_f64();
        let share = parameters.capacity.bps_f64() / f64::from(parameters.flows);
        let rate = share.min(most);
        let threshold = parameters.threshold.millis_f64();
        // A flow at R_max is limited by R_max alone.
        let full = share <= most;
        let signal = if full { parameters.reference.millis_f64() * most / rate } else { 0.0 };
        let rests = signal <= threshold;
        let loss_ratio = (signal - threshold).max(0.0) / parameters.loss_penalty.millis_f64();
        Ok(Results {
            rate_bps: rate,
            signal_ms: signal,
            product_kbps_ms: rate / 1e3 * signal,
            queue_ms: rests.then_some(signal),
            least_rate_bps: parameters.reference.millis_f64() * most / threshold,
            rests_without_loss: u8::from(rests),
            loss_ratio: Some(loss_ratio).filter(|&ratio| ratio <= 1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The equilibrium of `flows` flows over `kbps`, with a reference of `reference` ms.
    fn of(kbps: u64, flows: u32, reference: i64) -> Results {
        let parameters = Parameters {
            capacity: DataRate::from_kbps(kbps),
            flows,
            reference: TimeDelta::from_millis(reference),
            ..Parameters::default()
        };
        NadaEquilibrium::run(&parameters).unwrap()
    }

    #[test]
    fn rate_and_signal_multiply_to_a_constant() {
        for (kbps, flows) in [(2000, 1), (2000, 2), (4500, 3), (600, 1)] {
            assert!((of(kbps, flows, 20).product_kbps_ms - 50_000.0).abs() < 1e-6);
        }
        // 20·2500/2000 = 25 ms.
        assert!((of(2000, 1, 20).signal_ms - 25.0).abs() < 1e-9);
        assert_eq!(of(2000, 1, 20).queue_ms, Some(of(2000, 1, 20).signal_ms));
    }

    #[test]
    fn below_the_limit_only_loss_makes_up_the_signal() {
        assert_eq!(of(2000, 1, 20).least_rate_bps, 1e6);
        assert_eq!(of(2000, 1, 10).least_rate_bps, 0.5e6);
        // 600 kbit/s: 83.3 ms, 33.3 above the greatest delay signal: a loss ratio of 0.0333.
        let starved = of(600, 1, 20);
        assert_eq!((starved.rests_without_loss, starved.queue_ms), (0, None));
        assert!((starved.loss_ratio.unwrap() - 1.0 / 30.0).abs() < 1e-9);
        assert_eq!(of(1000, 1, 20).rests_without_loss, 1);
    }

    #[test]
    fn a_link_that_is_not_full_has_no_queue() {
        for (kbps, flows) in [(10_000, 1), (10_000, 3), (2501, 1)] {
            let idle = of(kbps, flows, 20);
            assert_eq!((idle.rate_bps, idle.signal_ms, idle.queue_ms), (2.5e6, 0.0, Some(0.0)));
            assert_eq!((idle.rests_without_loss, idle.loss_ratio), (1, Some(0.0)));
        }
        assert_eq!(of(2500, 1, 20).queue_ms, Some(20.0));
        let least = Parameters {
            capacity: DataRate::from_mbps(10),
            max_rate: DataRate::from_kbps(1),
            ..Parameters::default()
        };
        assert_eq!(NadaEquilibrium::run(&least).unwrap().signal_ms, 0.0);
    }

    #[test]
    fn there_is_no_loss_ratio_where_total_loss_is_not_enough() {
        // 50 000 kbit/s·ms over 47.7 kbit/s are 1048 ms: 998 above the threshold; over 47 they are 1064.
        assert!((of(47, 1, 20).loss_ratio, of(1, 1, 20).loss_ratio) == (None, None));
        assert!(of(48, 1, 20).loss_ratio.is_some_and(|ratio| ratio > 0.99));
    }
}
