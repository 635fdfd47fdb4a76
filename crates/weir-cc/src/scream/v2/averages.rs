//! Averages behind the reference window: the share of marked packets, and the queue delay. Times in s.

use weir_units::TimeDelta;

use super::config::Config;
use crate::scream::passed;
use crate::time::SendTime;

/// Longest interval of the updates of `l4s_alpha`.
const ALPHA_INTERVAL: TimeDelta = TimeDelta::from_millis(10);
/// Round trips between two updates of the slow average of the least queue delay.
const SLOW_ROUND_TRIPS: f64 = 100.0;
/// Weight of a higher least queue delay in its slow average.
const SLOW_GAIN: f64 = 0.125;
/// Weight of the newest spread of the queue delay in its average.
const SPREAD_GAIN: f64 = 1.0 / 32.0;
/// Share by which the bounds of the queue delay close in at each update.
const BOUND_GAIN: f64 = 1.0 / 16.0;

/// `l4s_alpha`: the share of marked packets, averaged.
#[derive(Debug, Default)]
pub(super) struct L4sAlpha {
    alpha: f64,
    /// The share at the last update.
    fraction: f64,
    delivered: u32,
    marked: u32,
    updated: Option<SendTime>,
}

impl L4sAlpha {
    /// Takes the numbers of packets that have arrived, and of the marked ones. Updated every min(10 ms, `s_rtt`).
    pub(super) fn on_feedback(
        &mut self,
        now: SendTime,
        config: &Config,
        s_rtt: TimeDelta,
        arrived: u32,
        marked: u32,
    ) {
        self.delivered = self.delivered.saturating_add(arrived);
        self.marked = self.marked.saturating_add(marked);
        if self.delivered == 0 || !passed(now, self.updated, ALPHA_INTERVAL.min(s_rtt)) {
            return;
        }
        self.fraction = f64::from(self.marked) / f64::from(self.delivered);
        if self.fraction >= self.alpha {
            self.alpha += config.l4s_gain_up * (self.fraction - self.alpha);
        } else {
            self.alpha *= 1.0 - config.l4s_gain_down;
        }
        (self.delivered, self.marked, self.updated) = (0, 0, Some(now));
    }

    pub(super) fn get(&self) -> f64 {
        self.alpha
    }

    /// Whether every packet came marked at the last update.
    pub(super) fn all_marked(&self) -> bool {
        self.fraction >= 1.0
    }
}

/// The queue delay over several spans of time.
#[derive(Debug)]
pub(super) struct QueueDelayAverages {
    /// Falls at once, rises slowly; above the slow average of the least queue delay.
    average: f64,
    /// The least queue delay since the last update of its slow average.
    least: f64,
    /// Slow average of the least queue delay: falls at once.
    slow_least: f64,
    slow_updated: Option<SendTime>,
    /// Bounds of the recent queue delay, which close in on each other.
    low: f64,
    high: f64,
    /// Average of the distance of the bounds.
    spread: f64,
    updated: Option<SendTime>,
}

impl Default for QueueDelayAverages {
    fn default() -> Self {
        Self {
            average: 0.0,
            least: f64::INFINITY,
            slow_least: 0.0,
            slow_updated: None,
            low: f64::INFINITY,
            high: 0.0,
            spread: 0.0,
            updated: None,
        }
    }
}

impl QueueDelayAverages {
    /// A packet has arrived after a queue delay of `qdelay`.
    pub(super) fn on_packet(&mut self, qdelay: f64, qdelay_target: f64) {
        self.low = self.low.min(qdelay);
        self.high = self.high.max(qdelay).min(qdelay_target);
    }

    /// The feedback is over; its newest packet had a queue delay of `qdelay`. Updated every min(`reaction_interval`,
    /// `s_rtt`).
    pub(super) fn on_feedback(&mut self, now: SendTime, config: &Config, s_rtt: f64, qdelay: f64) {
        if !passed(now, Some(*self.updated.get_or_insert(now)), config.interval(s_rtt)) {
            return;
        }
        self.updated = Some(now);
        self.average_least(now, s_rtt);
        self.least = self.least.min(qdelay);
        let above = qdelay - self.slow_least;
        self.average = above.min(self.average + config.qdelay_avg_gain * (above - self.average));
        let threshold = config.latency_spread_threshold.secs_f64();
        self.spread += SPREAD_GAIN * ((self.high - self.low).clamp(0.0, 2.0 * threshold) - self.spread);
        self.high -= BOUND_GAIN * self.high;
        self.low += BOUND_GAIN * (self.high - self.low);
    }

    fn average_least(&mut self, now: SendTime, s_rtt: f64) {
        let interval = TimeDelta::from_secs_f64(SLOW_ROUND_TRIPS * s_rtt);
        if passed(now, Some(*self.slow_updated.get_or_insert(now)), interval) && self.least.is_finite() {
            let rise = self.slow_least + SLOW_GAIN * (self.least - self.slow_least);
            (self.slow_least, self.least) = (self.least.min(rise), f64::INFINITY);
            self.slow_updated = Some(now);
        }
    }

    /// Forgets the least delay, as the base delay is another one.
    pub(super) fn forget_least(&mut self) {
        self.slow_least = 0.0;
    }

    /// The average queue delay above the slow average of the least.
    pub(super) fn average(&self) -> f64 {
        self.average
    }

    /// Slow average of the least queue delay.
    pub(super) fn slow_least(&self) -> f64 {
        self.slow_least
    }

    /// 1 while the queue delay is even, 0 from a spread of `latency_spread_threshold` on.
    pub(super) fn evenness(&self, config: &Config) -> f64 {
        (1.0 - self.spread / config.latency_spread_threshold.secs_f64()).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(50);

    /// Checks that `value` is `expected` within 1e-12.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} instead of {expected}");
    }

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn alpha_counts_what_arrived_between_updates() {
        let (mut alpha, config) = (L4sAlpha::default(), Config::default());
        alpha.on_feedback(ms(0), &config, RTT, 4, 0);
        alpha.on_feedback(ms(5), &config, RTT, 4, 4);
        near(alpha.get(), 0.0);
        // 4 of 8: 0.5/8.
        alpha.on_feedback(ms(10), &config, RTT, 4, 0);
        near(alpha.get(), 0.0625);
        alpha.on_feedback(ms(40), &config, RTT, 0, 0);
        near(alpha.get(), 0.0625);
        // Fewer marks: 127/128 of it, whatever their share is.
        alpha.on_feedback(ms(50), &config, RTT, 100, 1);
        near(alpha.get(), 0.0625 * 127.0 / 128.0);
        assert!(!alpha.all_marked());
        alpha.on_feedback(ms(60), &config, RTT, 3, 3);
        assert!(alpha.all_marked());
    }

    /// Feedback of one packet each 30 ms from `from` on, with queue delays in ms.
    fn feed(averages: &mut QueueDelayAverages, from: i64, qdelays: &[f64]) {
        for (place, qdelay) in qdelays.iter().enumerate() {
            averages.on_packet(qdelay / 1e3, 0.06);
            averages.on_feedback(ms(from + 30 * place as i64), &Config::default(), 0.05, qdelay / 1e3);
        }
    }

    #[test]
    fn the_average_queue_delay_falls_at_once_and_rises_by_a_quarter() {
        let mut averages = QueueDelayAverages::default();
        // The first feedback begins the interval.
        feed(&mut averages, 0, &[80.0, 80.0]);
        near(averages.average(), 0.02);
        averages.on_feedback(ms(59), &Config::default(), 0.05, 0.08);
        near(averages.average(), 0.02);
        feed(&mut averages, 60, &[80.0]);
        near(averages.average(), 0.035);
        feed(&mut averages, 90, &[10.0]);
        near(averages.average(), 0.01);
    }

    #[test]
    fn the_least_queue_delay_of_a_hundred_round_trips_moves_its_slow_average() {
        let mut averages = QueueDelayAverages::default();
        // 5 s of 16 ms: an eighth of it, and so much less is the average then.
        feed(&mut averages, 0, &[16.0; 169]);
        near(averages.slow_least(), 0.002);
        near(averages.average(), 0.014);
        // Once 1 ms in the next 5 s.
        feed(&mut averages, 5070, &[1.0]);
        feed(&mut averages, 5100, &[16.0; 170]);
        near(averages.slow_least(), 0.001);
        averages.forget_least();
        near(averages.slow_least(), 0.0);
    }

    #[test]
    fn an_even_queue_delay_has_no_spread_however_long_it_is() {
        let config = Config::default();
        let mut even = QueueDelayAverages::default();
        feed(&mut even, 0, &[50.0; 2000]);
        assert!(even.evenness(&config) > 0.65, "{}", even.evenness(&config));
        let mut uneven = QueueDelayAverages::default();
        feed(&mut uneven, 0, &[0.0, 50.0].repeat(1000));
        assert_eq!(uneven.evenness(&config), 0.0);
    }
}
