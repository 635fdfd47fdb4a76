//! Push-back: while the bytes in flight exceed a window, the encoder should lower its rate (libwebrtc's congestion
//! window and `CongestionWindowPushbackController`, on by default since February 2021). The target rate stays;
//! frames are left out.

use weir_units::{DataRate, DataSize, TimeDelta};

/// Constants of push-back.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct PushBackConfig {
    /// Whether frames are left out at all. libwebrtc.
    pub enabled: bool,
    /// Time at the target rate that the window holds beyond a round-trip time. libwebrtc.
    pub queue: TimeDelta,
    /// Rate below which no frame is left out. libwebrtc.
    pub min_rate: DataRate,
}

impl Default for PushBackConfig {
    fn default() -> Self {
        Self::LIBWEBRTC_2025
    }
}

impl PushBackConfig {
    /// 350 ms and 30 kbit/s. libwebrtc of June 2025.
    pub const LIBWEBRTC_2025: Self =
        Self { enabled: true, queue: TimeDelta::from_millis(350), min_rate: DataRate::from_kbps(30) };

    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 1] {
        [("queue", !self.queue.is_negative(), "0 or longer")]
    }
}

/// Least window, two packets of full size. libwebrtc.
const MIN_WINDOW: f64 = 3000.0;
/// Fill of an overfull window, and the factor on the rate with each packet, tick and feedback. libwebrtc.
const OVERFULL: (f64, f64) = (1.5, 0.9);
/// Fill of a full window, and the factor on the rate.
const FULL: (f64, f64) = (1.0, 0.95);
/// Fill below which push-back ends at once. libwebrtc.
const EMPTY: f64 = 0.1;
/// Factor by which the rate recovers otherwise. libwebrtc.
const RECOVERY_FACTOR: f64 = 1.05;
/// Least ratio, below any meaningful rate; a ratio of zero could not recover.
const MIN_RATIO: f64 = 1e-100;

/// The window, and the share of the target that it permits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PushBack {
    config: PushBackConfig,
    /// In bytes, or `None` before the first feedback.
    window: Option<f64>,
    /// Bytes in flight.
    outstanding: f64,
    /// Allowed share of the rate, in (0, 1].
    ratio: f64,
}

impl PushBack {
    /// Push-back that allows the whole rate.
    pub(crate) fn new(config: PushBackConfig) -> Self {
        Self { config, window: None, outstanding: 0.0, ratio: 1.0 }
    }

    /// Forgets everything.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.config);
    }

    /// Sets the window for a target of `rate` (bit/s) on a path of the round-trip time `rtt`, averaged with the
    /// window before.
    pub(crate) fn set_window(&mut self, rate: f64, rtt: TimeDelta) {
        let bytes = rate / 8.0 * (rtt + self.config.queue).secs_f64();
        let smoothed = self.window.map_or(bytes, |window| f64::midpoint(window, bytes));
        self.window = Some(smoothed.max(MIN_WINDOW));
    }

    /// Sets the bytes in flight.
    pub(crate) fn set_outstanding(&mut self, size: DataSize) {
        self.outstanding = size.bytes_f64();
    }

    /// Updates the ratio, after a packet has left, a tick, or feedback.
    pub(crate) fn update(&mut self) {
        let Some(window) = self.window else { return };
        let fill = self.outstanding / window;
        self.ratio = if fill > OVERFULL.0 {
            (self.ratio * OVERFULL.1).max(MIN_RATIO)
        } else if fill > FULL.0 {
            (self.ratio * FULL.1).max(MIN_RATIO)
        } else if fill < EMPTY {
            1.0
        } else {
            (self.ratio * RECOVERY_FACTOR).min(1.0)
        };
    }

    /// Whether the encoder should use less than the rate.
    pub(crate) fn holds_back(&self) -> bool {
        self.config.enabled && self.ratio < 1.0
    }

    /// Rate in bit/s that the encoder should use of `rate` (bit/s), where it may not use less than `min`.
    pub(crate) fn allowed(&self, rate: f64, min: f64) -> f64 {
        if !self.holds_back() {
            return rate;
        }
        let floor = self.config.min_rate.bps_f64().max(min).min(rate);
        (rate * self.ratio).max(floor)
    }

    /// Scales the rate by `factor` for coupling, and with it the window.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.window = self.window.map(|window| window * factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(50);

    fn push_back() -> PushBack {
        PushBack::new(PushBackConfig::LIBWEBRTC_2025)
    }

    /// The allowed share of 1 Mbit/s after `updates` updates with `bytes` in flight.
    fn share(push_back: &mut PushBack, bytes: u64, updates: usize) -> f64 {
        push_back.set_outstanding(DataSize::from_bytes(bytes));
        (0..updates).for_each(|_| push_back.update());
        push_back.allowed(1e6, 0.0) / 1e6
    }

    #[test]
    fn the_window_is_the_target_for_a_round_trip_and_350_ms() {
        let mut push_back = push_back();
        push_back.set_window(1e6, RTT);
        // 1 Mbit/s for 400 ms = 50 000 bytes.
        assert_eq!(push_back.window, Some(50_000.0));
        // Half of 50 000 and half of 25 000.
        push_back.set_window(0.5e6, RTT);
        assert_eq!(push_back.window, Some(37_500.0));
        (0..100).for_each(|_| push_back.set_window(1e3, RTT));
        assert_eq!(push_back.window, Some(3000.0));
    }

    #[test]
    fn a_full_window_lowers_the_share_and_an_empty_one_gives_it_back() {
        let mut push_back = push_back();
        assert_eq!(share(&mut push_back, 1_000_000, 5), 1.0, "there is no window before the first feedback");
        push_back.set_window(1e6, RTT);
        assert_eq!(share(&mut push_back, 50_000, 5), 1.0);
        assert!((share(&mut push_back, 50_001, 2) - 0.9025).abs() < 1e-12);
        // 0.9025 · 0.9.
        assert!((share(&mut push_back, 75_001, 1) - 0.81225).abs() < 1e-12);
        assert!((share(&mut push_back, 5000, 1) - 0.852_862_5).abs() < 1e-12);
        assert_eq!(share(&mut push_back, 4999, 1), 1.0);
    }

    #[test]
    fn thirty_kbit_a_second_and_the_minimum_are_always_allowed() {
        let mut push_back = push_back();
        push_back.set_window(1e6, RTT);
        assert_eq!(share(&mut push_back, 1_000_000, 100_000), 0.03);
        assert_eq!((push_back.allowed(20e3, 0.0), push_back.allowed(1e6, 50e3)), (20e3, 50e3));
        push_back.set_outstanding(DataSize::from_bytes(20_000));
        (0..5000).for_each(|_| push_back.update());
        assert_eq!(push_back.allowed(1e6, 0.0), 1e6, "it comes back however long it lasted");
    }

    #[test]
    fn coupling_scales_the_window() {
        let mut push_back = push_back();
        push_back.scale(2.0);
        assert_eq!(push_back.window, None);
        push_back.set_window(1e6, RTT);
        push_back.scale(0.5);
        assert_eq!((share(&mut push_back, 25_000, 1), share(&mut push_back, 25_001, 1)), (1.0, 0.95));
    }

    #[test]
    fn no_queue_is_shorter_than_nothing() {
        let allowed = |queue| {
            let [(name, holds, _)] = PushBackConfig { queue, ..PushBackConfig::LIBWEBRTC_2025 }.rules();
            (name, holds)
        };
        assert_eq!(allowed(TimeDelta::ZERO), ("queue", true));
        assert_eq!(allowed(TimeDelta::from_nanos(-1)), ("queue", false));
    }

    #[test]
    fn it_can_be_switched_off() {
        let config = PushBackConfig { enabled: false, ..PushBackConfig::LIBWEBRTC_2025 };
        let mut push_back = PushBack::new(config);
        push_back.set_window(1e6, RTT);
        assert_eq!(share(&mut push_back, 1_000_000, 100), 1.0);
    }
}
