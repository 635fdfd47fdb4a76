//! The equations of the control law, without state.

use weir_units::TimeDelta;

use super::config::Config;

/// `g`, by how much more was sent than received, both in the same unit and above 0: the gradient of the delay, or the
/// loss. Eqs. (22), (24).
pub fn mismatch(sent: f64, received: f64) -> f64 {
    (sent - received) / received
}

impl Config {
    /// `v`, the price of a delay `excess` above `T`, at most `β`; `rtt` is above 0. Eq. (16), divergences 1, 2 and 14.
    pub fn delay_price(&self, excess: TimeDelta, rtt: TimeDelta) -> f64 {
        let least = if self.clamp_delay_price { 0.0 } else { -1.0 };
        let ratio = excess.secs_f64() / self.price_time.unwrap_or(rtt).secs_f64();
        self.price_scale * ratio.clamp(least, 1.0)
    }

    /// `U'(x)` of the rate `x` in bit/s: the price at equilibrium. Eq. (10).
    pub fn marginal_utility(&self, x: f64) -> f64 {
        self.utility_weight.bps_f64() / x
    }

    /// The rate that follows `x` (bit/s) at the price of delay `v` and the mismatch `g`. Eq. (25), divergence 1.
    pub(super) fn step(&self, x: f64, v: f64, g: f64) -> f64 {
        let g = self.g_max.map_or(g, |most| g.min(most));
        x + self.gain * x * (self.marginal_utility(x) - v - g)
    }

    /// The smoothed rate after `sample`. Eq. (49).
    pub(super) fn smoothed(&self, old: Option<f64>, sample: f64) -> f64 {
        old.map_or(sample, |old| self.smoothing * old + (1.0 - self.smoothing) * sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    /// Whether `a` is `b` within 1e-9, relative.
    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn the_price_of_delay_follows_equation_16() {
        let config = Config::default();
        // 0.1 · 30/150 = 0.02; below T it is free; it saturates at β.
        assert!(close(config.delay_price(ms(30), ms(150)), 0.02));
        assert_eq!(config.delay_price(ms(-30), ms(150)), 0.0);
        assert_eq!(config.delay_price(ms(7_200_000), ms(150)), 0.1);
        // By 100 ms whatever the round-trip time: 0.1 · 30/100 = 0.03.
        let same_for_all = Config { price_time: Some(ms(100)), ..config };
        assert!(close(same_for_all.delay_price(ms(30), ms(150)), 0.03));
        assert!(close(same_for_all.delay_price(ms(30), ms(300)), 0.03));
        let printed = Config { clamp_delay_price: false, ..config };
        assert!(close(printed.delay_price(ms(-30), ms(150)), -0.02));
    }

    #[test]
    fn the_price_of_delay_grows_ever_more_slowly_towards_beta() {
        // Fig. 2: T = 100 ms, backward delay 10 to 100 ms.
        let config = Config::default();
        let price = |e: i64, back: i64| config.delay_price(ms(e - 100), ms(e + back)) / config.price_scale;
        for back in [10, 25, 50, 100] {
            let values: Vec<f64> = (100..1000).map(|e| price(e, back)).collect();
            assert_eq!(values[0], 0.0);
            assert!(values.windows(2).all(|w| w[1] > w[0]));
            assert!(values.windows(3).all(|w| w[2] - w[1] < w[1] - w[0]));
            assert!(price(1_000_000, back) > 0.999);
        }
        assert!(price(1000, 10) - price(1000, 100) < 0.1);
    }

    #[test]
    fn the_mismatch_is_the_gradient_of_the_delay_or_the_loss() {
        // Eq. (21): at 100 packets/s and 0.5 ms more delay with each, 1/(10 + 0.5) ms = 95.24 packets/s arrive. The
        // delay grows by 0.5 ms in 10 ms: 0.05, and 100/95.24 − 1 = 0.05.
        assert!(close(mismatch(100.0, 1000.0 / 10.5), 0.05));
        // Eq. (23): 2 % of loss is 0.02/0.98.
        assert!(close(mismatch(100.0, 98.0), 0.02 / 0.98));
        // A queue that drains: more comes than is sent.
        assert!(close(mismatch(100.0, 125.0), -0.2));
    }

    #[test]
    fn the_rate_follows_equation_25() {
        let config = Config::default();
        // No price: 0.4 · 20 = 8 kbit/s whatever the rate.
        assert!(close(config.step(200e3, 0.0, 0.0), 208e3));
        assert!(close(config.step(3e6, 0.0, 0.0), 3.008e6));
        // 1000 · (1 − 0.4 · (0.03 + 0.05)) + 8 = 976 kbit/s.
        assert!(close(config.step(1e6, 0.03, 0.05), 976e3));
        // A draining queue raises the rate: 1000 · (1 + 0.04) + 8.
        assert!(close(config.step(1e6, 0.0, -0.1), 1.048e6));
        // At v = h/x the rate is at equilibrium.
        assert!(close(config.step(1e6, 0.02, 0.0), 1e6));
        // g = 3: 1000 · (1 − 1.2) + 8 < 0, which the limits raise to the minimum; with g_max = 1: 608.
        assert!(config.step(1e6, 0.0, 3.0) < 0.0);
        assert!(close(Config { g_max: Some(1.0), ..config }.step(1e6, 0.0, 3.0), 608e3));
    }

    #[test]
    fn smoothing_follows_equation_49() {
        let config = Config { smoothing: 0.5, ..Config::default() };
        assert_eq!(config.smoothed(None, 1e6), 1e6);
        assert_eq!(config.smoothed(Some(1e6), 2e6), 1.5e6);
        assert_eq!(Config::default().smoothed(Some(1e6), 2e6), 2e6);
    }

    /// The sampled loop of one flow alone at `x` (bit/s): packets of one round are reported at the start of the round
    /// after the next. Relative excess of the rate, and of the queue in round trips, after each of so many rounds.
    fn rounds(config: &Config, x: f64, kick: f64, rounds: usize) -> Vec<f64> {
        const RTT: f64 = 0.15;
        let capacity = x;
        // Where the delay price equals h/x: (e − T)/RTT.
        let standing = config.marginal_utility(x) / config.price_scale * RTT;
        let (mut older, mut rate, mut queue) = (x, x * (1.0 + kick), 0.0);
        let mut excess = Vec::new();
        for _ in 0..rounds {
            // Of the round before the last: its rate, and the queue at its middle.
            let growth = older / capacity - 1.0;
            let delay = standing + (queue + growth / 2.0) * RTT;
            let rtt = RTT + (queue + growth / 2.0) * RTT;
            let v = config.delay_price(TimeDelta::from_secs_f64(delay), TimeDelta::from_secs_f64(rtt));
            let next = config.step(rate, v, growth);
            queue += growth;
            (older, rate) = (rate, next);
            excess.push(rate / x - 1.0);
        }
        excess
    }

    fn largest(values: &[f64]) -> f64 {
        values.iter().fold(0.0, |most, value| value.abs().max(most))
    }

    #[test]
    fn the_sampled_loop_is_stable_up_to_its_critical_gain() {
        // Linearised: y[n+2] = (1 − ηa)·y[n+1] − η·((β − a)·(p[n] + y[n]/2) + y[n]), p[n+1] = p[n] + y[n]. The largest
        // gain with all roots within the unit circle is 0.970, 0.957, 0.948 at 500, 1000, 2500 kbit/s.
        for (x, critical) in [(500e3, 0.970), (1e6, 0.957), (2.5e6, 0.948)] {
            let swing = |gain| {
                let excess = rounds(&Config { gain, ..Config::default() }, x, 1e-3, 3000);
                largest(&excess[2900..])
            };
            assert!(swing(critical - 0.01) < 1e-5, "{x}: {}", swing(critical - 0.01));
            assert!(swing(critical + 0.01) > 1e-2, "{x}: {}", swing(critical + 0.01));
        }
    }

    #[test]
    fn the_queue_settles_by_the_slow_root() {
        // Real roots at η = 0.4: 0.934, 0.905, 0.885; the others, of modulus 0.66, are gone after 60 rounds.
        for (x, root) in [(500e3, 0.934), (1e6, 0.905), (2.5e6, 0.885)] {
            let excess = rounds(&Config::default(), x, 1e-3, 70);
            let ratio = excess[69] / excess[68];
            assert!((ratio - root).abs() < 2e-3, "{x}: {ratio}");
        }
    }
}
