//! Network congestion control: the congestion window (RFC 8298 §4.1.2.2). Sizes in bytes, delays in s.

use weir_units::TimeDelta;

use super::config::Config;
use crate::scream::recent_max::RecentMax;
use crate::scream::{passed, scaled};
use crate::time::SendTime;

/// Steps in which the maximum in flight is remembered.
const STEPS: usize = 10;
/// Factor on the bytes in flight plus the bytes acknowledged below which the window is in use in fast increase. RFC
/// 8298 §4.1.2.2.
const FAST_USE: f64 = 1.5;
/// The same outside fast increase.
const SLOW_USE: f64 = 1.25;

/// Inputs of an update of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowInputs {
    pub(super) bytes_in_flight: u64,
    pub(super) qdelay: f64,
    pub(super) qdelay_target: f64,
    pub(super) qdelay_trend: f64,
}

/// `cwnd` and whether it may double.
#[derive(Debug)]
pub(super) struct ScreamWindow {
    cwnd: f64,
    in_fast_increase: bool,
    /// `bytes_newly_acked`, since the last update.
    newly_acked: u64,
    max_bytes_in_flight: RecentMax<STEPS>,
    /// Time since which the trend has been low without a reaction to congestion.
    calm_since: Option<SendTime>,
}

impl ScreamWindow {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            cwnd: config.min_cwnd.bytes_f64(),
            in_fast_increase: true,
            newly_acked: 0,
            max_bytes_in_flight: RecentMax::new(),
            calm_since: None,
        }
    }

    /// Records the bytes in flight at `now`.
    pub(super) fn on_flight(&mut self, now: SendTime, config: &Config, bytes: u64) {
        let step = TimeDelta::from_nanos(config.bytes_in_flight_memory.nanos() / STEPS as i64);
        self.max_bytes_in_flight.push(now, step, bytes);
    }

    pub(super) fn on_acked(&mut self, bytes: u64) {
        self.newly_acked = self.newly_acked.saturating_add(bytes);
    }

    /// A loss or ECN event.
    pub(super) fn on_congestion(&mut self, now: SendTime, config: &Config, beta: f64) {
        self.in_fast_increase = false;
        self.calm_since = Some(now);
        self.cwnd = config.min_cwnd.bytes_f64().max(beta * self.cwnd);
    }

    /// Feedback without an event. Returns whether fast increase ended by it.
    pub(super) fn update(&mut self, config: &Config, seen: &WindowInputs) -> bool {
        let acked = core::mem::take(&mut self.newly_acked);
        let ended = self.in_fast_increase && seen.qdelay_trend >= config.qdelay_trend_th;
        self.in_fast_increase &= !ended;
        self.cwnd = if self.in_fast_increase {
            self.cwnd + fast_increment(self.cwnd, acked, seen)
        } else {
            let grown = self.cwnd + config.increment(self.cwnd, acked, seen);
            // `MAX_BYTES_IN_FLIGHT_HEAD_ROOM`: the window must not outgrow the bytes in flight.
            let limit = config.bytes_in_flight_head_room * self.max_bytes_in_flight.max() as f64;
            grown.min(limit).max(config.min_cwnd.bytes_f64())
        };
        ended
    }

    /// RFC 8298 §4.1.2.2: fast increase resumes after the trend has been low for long enough.
    pub(super) fn resume(&mut self, now: SendTime, config: &Config, qdelay_trend: f64) {
        if qdelay_trend >= config.qdelay_trend_lo {
            self.calm_since = None;
            return;
        }
        let since = *self.calm_since.get_or_insert(now);
        self.in_fast_increase |= now - since >= config.resume_fast_increase;
        if now < since {
            self.calm_since = Some(now);
        }
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(super) fn in_fast_increase(&self) -> bool {
        self.in_fast_increase
    }

    /// The window shrinks by `factor` without an event: feedback is missing.
    pub(super) fn shrink(&mut self, config: &Config, factor: f64) {
        self.cwnd = config.min_cwnd.bytes_f64().max(factor * self.cwnd);
        self.calm_since = None;
    }

    /// Scales the window by `factor` for coupling, and the bytes in it.
    pub(super) fn scale(&mut self, factor: f64) {
        self.cwnd *= factor;
        self.newly_acked = scaled(self.newly_acked, factor);
        self.max_bytes_in_flight.scale(factor);
    }
}

/// Increment of fast increase: as much as was acknowledged, while the window is in use. RFC 8298 §4.1.2.2.
fn fast_increment(cwnd: f64, acked: u64, seen: &WindowInputs) -> f64 {
    let used = FAST_USE * seen.bytes_in_flight as f64 + acked as f64;
    if used > cwnd { acked as f64 } else { 0.0 }
}

impl Config {
    /// Increment, or decrement, by the distance from the delay target. RFC 8298 §4.1.2.2.
    fn increment(&self, cwnd: f64, acked: u64, seen: &WindowInputs) -> f64 {
        let off_target = (seen.qdelay_target - seen.qdelay) / seen.qdelay_target;
        let used = SLOW_USE * seen.bytes_in_flight as f64 + acked as f64;
        // An unused window does not grow.
        if off_target > 0.0 && used <= cwnd {
            return 0.0;
        }
        self.gain * off_target * acked as f64 * self.mss.bytes_f64() / cwnd
    }

    /// `send_wnd + bytes_in_flight`: bytes that may be in flight. RFC 8298 §4.1.2.5.
    pub(super) fn sendable(&self, cwnd: f64, seen_qdelay: f64, qdelay_target: f64) -> f64 {
        if seen_qdelay <= qdelay_target { cwnd + self.mss.bytes_f64() } else { cwnd }
    }

    /// The pacing rate in bit/s. RFC 8298 §4.1.2.6.
    pub(super) fn pacing_rate(&self, cwnd: f64, s_rtt: f64) -> f64 {
        self.rate_pace_min.bps_f64().max(8.0 * cwnd / s_rtt)
    }
}

/// Whether a further loss or ECN event counts: not within a round-trip time of the last one. RFC 8298 §4.1.2.4.
pub(super) fn counts(now: SendTime, last: Option<SendTime>, s_rtt: Option<TimeDelta>) -> bool {
    passed(now, last, s_rtt.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config::RFC_8298;

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    fn seen(bytes_in_flight: u64, qdelay: f64, qdelay_trend: f64) -> WindowInputs {
        WindowInputs { bytes_in_flight, qdelay, qdelay_target: 0.1, qdelay_trend }
    }

    /// Checks that `value` is `expected` within 1e-9, relative.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected.abs(), "{value} instead of {expected}");
    }

    fn window(cwnd: f64) -> ScreamWindow {
        ScreamWindow { cwnd, ..ScreamWindow::new(&CONFIG) }
    }

    #[test]
    fn fast_increase_adds_what_was_acknowledged_while_the_window_is_used() {
        let mut window = window(3000.0);
        window.on_acked(1000);
        // 1.5·1400 + 1000 = 3100 > 3000.
        assert!(!window.update(&CONFIG, &seen(1400, 0.0, 0.1)));
        near(window.cwnd(), 4000.0);
        window.on_acked(1000);
        // 3100 ≤ 4000: not in use.
        window.update(&CONFIG, &seen(1400, 0.0, 0.1));
        near(window.cwnd(), 4000.0);
    }

    #[test]
    fn a_trend_at_the_threshold_ends_fast_increase() {
        let mut window = window(10_000.0);
        window.on_flight(ms(0), &CONFIG, 10_000);
        window.on_acked(2000);
        assert!(window.update(&CONFIG, &seen(8000, 0.05, 0.2)));
        assert!(!window.in_fast_increase());
        // off = 0.5, 1.25·8000 + 2000 > 10000: 0.5·2000·1000/10000 = 100.
        near(window.cwnd(), 10_100.0);
    }

    #[test]
    fn above_the_target_the_window_shrinks_and_what_was_acked_counts_once() {
        let mut window = ScreamWindow { in_fast_increase: false, ..window(10_000.0) };
        window.on_flight(ms(0), &CONFIG, 10_000);
        window.on_acked(5000);
        // off = (0.1 − 0.3)/0.1 = −2: −2·5000·1000/10000 = −1000.
        window.update(&CONFIG, &seen(0, 0.3, 0.0));
        near(window.cwnd(), 9000.0);
        window.update(&CONFIG, &seen(0, 0.3, 0.0));
        near(window.cwnd(), 9000.0);
    }

    #[test]
    fn below_the_target_an_unused_window_does_not_grow() {
        let mut window = ScreamWindow { in_fast_increase: false, ..window(10_000.0) };
        window.on_flight(ms(0), &CONFIG, 10_000);
        window.on_acked(2000);
        // 1.25·6400 + 2000 = 10 000 ≤ 10 000.
        window.update(&CONFIG, &seen(6400, 0.05, 0.0));
        near(window.cwnd(), 10_000.0);
    }

    #[test]
    fn the_window_stays_between_its_minimum_and_what_was_in_flight() {
        let mut window = ScreamWindow { in_fast_increase: false, ..window(20_000.0) };
        window.on_flight(ms(0), &CONFIG, 10_000);
        window.on_acked(1000);
        window.update(&CONFIG, &seen(10_000, 0.05, 0.0));
        near(window.cwnd(), 11_000.0);
        window.on_congestion(ms(10), &CONFIG, 0.8);
        near(window.cwnd(), 8800.0);
        (0..20).for_each(|_| window.on_congestion(ms(10), &CONFIG, 0.8));
        near(window.cwnd(), 3000.0);
        // Five seconds later no bytes have been in flight.
        window.on_flight(ms(5500), &CONFIG, 100);
        window.cwnd = 20_000.0;
        window.update(&CONFIG, &seen(100, 0.05, 0.0));
        near(window.cwnd(), 3000.0);
    }

    #[test]
    fn fast_increase_resumes_after_five_calm_seconds() {
        let mut window = window(10_000.0);
        window.on_congestion(ms(0), &CONFIG, 0.9);
        window.resume(ms(4999), &CONFIG, 0.1);
        assert!(!window.in_fast_increase());
        window.resume(ms(4999), &CONFIG, 0.2);
        window.resume(ms(6000), &CONFIG, 0.1);
        window.resume(ms(10_999), &CONFIG, 0.1);
        assert!(!window.in_fast_increase(), "the trend was high");
        window.resume(ms(11_000), &CONFIG, 0.1);
        assert!(window.in_fast_increase());
    }

    #[test]
    fn send_window_and_pacing_rate() {
        // A packet more while the queue is short.
        near(CONFIG.sendable(10_000.0, 0.1, 0.1), 11_000.0);
        near(CONFIG.sendable(10_000.0, 0.11, 0.1), 10_000.0);
        // 8·10000/0.1 = 800 kbit/s; never below 50.
        near(CONFIG.pacing_rate(10_000.0, 0.1), 800e3);
        near(CONFIG.pacing_rate(3000.0, 1.0), 50e3);
    }

    #[test]
    fn events_count_once_per_round_trip() {
        let rtt = Some(TimeDelta::from_millis(80));
        assert!(counts(ms(0), None, rtt));
        assert!(!counts(ms(79), Some(ms(0)), rtt));
        assert!(counts(ms(80), Some(ms(0)), rtt));
        assert!(counts(ms(1), Some(ms(0)), None));
        assert!(counts(ms(0), Some(ms(5000)), rtt), "the clock was set back");
    }
}
