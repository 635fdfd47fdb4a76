//! Statistics of the capacity of a link over time: rate, its variation and correlation, fades and outages.

use serde::Serialize;
use weir_net::Trace;

/// Length of a bin of the rate, in ms.
const BIN_MS: u64 = 100;
/// Share of the mean rate below which a bin is in a fade.
const FADE: f64 = 0.25;
/// Shortest outage, a time without an opportunity, in ms.
const OUTAGE_MS: u64 = 200;
/// Number of bits of an opportunity.
const PACKET_BITS: f64 = 12_000.0;

/// Statistics of a trace over its length, by its rate in bins of 100 ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TraceStatistics {
    /// Mean rate in Mbit/s.
    pub mean_mbps: f64,
    /// Standard deviation of the rate in Mbit/s.
    pub deviation_mbps: f64,
    /// Standard deviation of the rate in bins of 10 ms, over the mean.
    pub burstiness: f64,
    /// Correlation of the rate with that 0.1 s, 1 s and 10 s later.
    pub autocorrelation: [f64; 3],
    /// Stretches of bins with less than a quarter of the mean rate, per minute.
    pub fades_per_minute: f64,
    /// Their mean length in seconds.
    pub fade_seconds: f64,
    /// The mean rate within them over that of the whole.
    pub fade_depth: f64,
    /// Times of 200 ms or longer without any opportunity, per minute.
    pub outages_per_minute: f64,
    /// Their mean length in seconds.
    pub outage_seconds: f64,
}

impl TraceStatistics {
    /// The statistics of `trace`; NaN for a mean over no values.
    pub fn of(trace: &Trace) -> Self {
        let times: Vec<u64> = trace.opportunities().map(|at| at.nanos() / 1_000_000).collect();
        let length_ms = trace.duration().nanos() as u64 / 1_000_000;
        let minutes = length_ms as f64 / 60_000.0;
        let rates = rates(&times, length_ms, BIN_MS);
        let (mean, deviation) = moments(&rates);
        let (fine_mean, fine_deviation) = moments(&self::rates(&times, length_ms, BIN_MS / 10));
        let fades = stretches(&rates, |rate| rate < FADE * mean);
        let depths = fades.iter().map(|fade| moments(fade).0 / mean);
        // The last one lasts until the first opportunity of the next cycle.
        let later = times.iter().skip(1).copied().chain(times.first().map(|first| first + length_ms));
        let gaps = times.iter().zip(later).map(|(at, next)| next - at);
        let outages: Vec<f64> = gaps.filter(|&gap| gap >= OUTAGE_MS).map(|gap| gap as f64 / 1e3).collect();
        Self {
            mean_mbps: mean,
            deviation_mbps: deviation,
            burstiness: fine_deviation / fine_mean,
            autocorrelation: [1, 10, 100].map(|lag| autocorrelation(&rates, lag)),
            fades_per_minute: fades.len() as f64 / minutes,
            fade_seconds: mean_of(fades.iter().map(|fade| fade.len() as f64 * BIN_MS as f64 / 1e3)),
            fade_depth: mean_of(depths),
            outages_per_minute: outages.len() as f64 / minutes,
            outage_seconds: mean_of(outages.iter().copied()),
        }
    }

    /// Each statistic with its name.
    pub fn named(&self) -> [(&'static str, f64); 11] {
        let [short, middle, long] = self.autocorrelation;
        [
            ("mean rate (Mbit/s)", self.mean_mbps),
            ("deviation (Mbit/s)", self.deviation_mbps),
            ("autocorrelation at 0.1 s", short),
            ("autocorrelation at 1 s", middle),
            ("autocorrelation at 10 s", long),
            ("deviation over 10 ms / mean", self.burstiness),
            ("fades per minute", self.fades_per_minute),
            ("length of a fade (s)", self.fade_seconds),
            ("depth of a fade / mean", self.fade_depth),
            ("outages per minute", self.outages_per_minute),
            ("length of an outage (s)", self.outage_seconds),
        ]
    }
}

/// Rate in Mbit/s in each whole bin of `bin_ms` milliseconds.
fn rates(times: &[u64], length_ms: u64, bin_ms: u64) -> Vec<f64> {
    let mut counts = vec![0_u32; (length_ms / bin_ms) as usize];
    for time in times {
        if let Some(count) = counts.get_mut((time / bin_ms) as usize) {
            *count += 1;
        }
    }
    counts.iter().map(|&count| f64::from(count) * PACKET_BITS / (1e3 * bin_ms as f64)).collect()
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let mean = mean_of(values.iter().copied());
    (mean, mean_of(values.iter().map(|value| (value - mean) * (value - mean))).sqrt())
}

/// Autocorrelation of the values at a lag of `lag` places.
fn autocorrelation(values: &[f64], lag: usize) -> f64 {
    let (mean, deviation) = moments(values);
    let later = values.get(lag..).unwrap_or_default();
    mean_of(values.iter().zip(later).map(|(one, other)| (one - mean) * (other - mean)))
        / (deviation * deviation)
}

/// The longest runs of consecutive values for which `in_it` is true.
fn stretches(values: &[f64], in_it: impl Fn(f64) -> bool) -> Vec<&[f64]> {
    values.chunk_by(|&one, &other| in_it(one) == in_it(other)).filter(|stretch| in_it(stretch[0])).collect()
}

#[cfg(test)]
mod tests {
    use weir_net::Time;
    use weir_units::{DataRate, TimeDelta};

    use super::*;

    #[test]
    fn statistics_of_a_made_up_link_are_those_that_it_was_made_with() {
        // 2.4 Mbit/s and 0 alternate every second: 20 packets in each bin of 100 ms, or none.
        let trace = Trace::from_rate(TimeDelta::from_secs(60), |at| {
            let on = (at - Time::ZERO).nanos() / 1_000_000_000 % 2 == 0;
            if on { DataRate::from_kbps(2400) } else { DataRate::ZERO }
        });
        let own = TraceStatistics::of(&trace);
        let near = |actual: f64, expected: f64| {
            assert!((actual - expected).abs() < 0.02 * expected.abs().max(1.0), "{actual} for {expected}");
        };
        near(own.mean_mbps, 1.2);
        near(own.deviation_mbps, 1.2);
        near(own.autocorrelation[0], 0.8);
        near(own.autocorrelation[1], -1.0);
        near(own.autocorrelation[2], 1.0);
        near(own.fades_per_minute, 30.0);
        near(own.fade_seconds, 1.0);
        near(own.fade_depth, 0.0);
        near(own.outages_per_minute, 30.0);
        near(own.outage_seconds, 1.0);
    }

    #[test]
    fn a_link_without_outages_has_no_length_of_them() {
        let own =
            TraceStatistics::of(&Trace::from_rate(TimeDelta::from_secs(10), |_| DataRate::from_mbps(12)));
        assert_eq!((own.outages_per_minute, own.fades_per_minute), (0.0, 0.0));
        assert!(own.deviation_mbps < 0.02, "{}", own.deviation_mbps);
        assert!(own.outage_seconds.is_nan() && own.fade_depth.is_nan());
    }
}
