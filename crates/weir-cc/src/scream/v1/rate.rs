//! Media rate control (RFC 8298 §4.1.3). Rates in bit/s, of payload.

use weir_units::{DataSize, TimeDelta};

use super::config::{Config, Increment};
use crate::controller::RateLimits;
use crate::packet::SentPacket;
use crate::parts::least_queued::LeastQueued;
use crate::scream::{passed, scaled};
use crate::time::SendTime;

/// Updates over which the median of the encoder's rate is taken: just more than 10 s. RFC 8298 §4.1.1.2.
const MEDIAN_LENGTH: usize = 51;
/// Number of rates under congestion whose largest is `target_bitrate_last_max`; reference implementation of 2018.
const MAXIMA: usize = 3;
/// Shortest interval of its updates; reference implementation of 2018.
const LAST_MAX_INTERVAL: TimeDelta = TimeDelta::from_secs(2);

/// Inputs of an update.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateInputs {
    pub(super) in_fast_increase: bool,
    pub(super) qdelay_trend: f64,
    pub(super) qdelay_trend_mem: f64,
}

/// Measurements of one interval of sending, in bit/s and bits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MeasuredRates {
    /// `current_rate`: the larger one of `rate_transmit` and `rate_ack`.
    current_rate: f64,
    /// `rate_media`.
    rate_media: f64,
    /// `rtp_queue_size`.
    rtp_queue_size: f64,
}

/// `target_bitrate` and the state behind it.
#[derive(Debug)]
pub(super) struct RateControl {
    target: f64,
    /// `target_bitrate_last_max`, and the rates under congestion behind it.
    last_max: f64,
    maxima: [f64; MAXIMA],
    last_max_at: Option<SendTime>,
    /// `current_rate` of the last interval.
    current_rate: f64,
    meter: Meter,
    median: Median,
    due: Option<SendTime>,
}

impl RateControl {
    pub(super) fn new(target: f64) -> Self {
        Self {
            target,
            last_max: 1.0,
            maxima: [0.0; MAXIMA],
            last_max_at: None,
            current_rate: 0.0,
            meter: Meter::default(),
            median: Median::default(),
            due: None,
        }
    }

    /// A packet has left; `queued` bytes of payload are still waiting.
    pub(super) fn on_sent(&mut self, packet: &SentPacket, queued: u64, interval: TimeDelta) {
        let latest = packet.at + interval;
        self.due = Some(self.due.map_or(latest, |due| due.min(latest)));
        self.meter.on_sent(packet.at, packet.payload.bytes(), queued);
    }

    pub(super) fn on_received(&mut self, bytes: u64) {
        self.meter.received = self.meter.received.saturating_add(bytes);
    }

    /// A loss or ECN event.
    pub(super) fn on_congestion(&mut self, now: SendTime, beta: f64, limits: &RateLimits) {
        self.note_max(now);
        self.target = limits.clamp_bps(beta * self.target);
    }

    /// Updates `target_bitrate_last_max`, near which the rate grows slowly.
    pub(super) fn note_max(&mut self, now: SendTime) {
        if passed(now, self.last_max_at, LAST_MAX_INTERVAL) {
            self.last_max_at = Some(now);
            self.maxima.rotate_right(1);
            self.maxima[0] = self.current_rate.min(self.target);
            self.last_max = self.maxima.iter().fold(1.0, |max, &rate| rate.max(max));
        }
    }

    /// Whether the time of the next update has come; if so, the one after it is an interval off.
    pub(super) fn is_due(&mut self, now: SendTime, interval: TimeDelta) -> bool {
        let due = self.due.is_some_and(|due| due <= now);
        if due {
            self.due = Some(now + interval);
        }
        due
    }

    /// An interval is over. Returns whether the rate was computed: not in an interval without any packet.
    pub(super) fn update(
        &mut self,
        now: SendTime,
        config: &Config,
        limits: &RateLimits,
        queued: u64,
        seen: &RateInputs,
    ) -> bool {
        let Some(measured) = self.measure(now, config, queued) else {
            return false;
        };
        let median = self.median.push(measured.rate_media);
        let target = config.adjust(self.target, self.last_max, &measured, seen);
        self.target = limits.clamp_bps(limit(target, median, &measured, seen));
        true
    }

    /// Scales every rate by `factor` for coupling: the target becomes `share`.
    pub(super) fn scale(&mut self, share: f64, factor: f64) {
        self.target = share;
        self.last_max *= factor;
        self.current_rate *= factor;
        self.maxima.iter_mut().chain(&mut self.median.rates).for_each(|rate| *rate *= factor);
        self.meter.transmitted = scaled(self.meter.transmitted, factor);
        self.meter.received = scaled(self.meter.received, factor);
    }

    /// An interval is over in which no rate may be computed: the meters begin anew.
    pub(super) fn measure_only(&mut self, now: SendTime, config: &Config, queued: u64) {
        self.measure(now, config, queued);
    }

    /// Reads the meters. Returns `None` without any traffic; then no update is due before the next packet.
    fn measure(&mut self, now: SendTime, config: &Config, queued: u64) -> Option<MeasuredRates> {
        let measured = self.meter.read(now, config.rate_adjust_interval, queued);
        if measured.is_none() {
            self.due = None;
        }
        self.current_rate = measured.map_or(0.0, |measured| measured.current_rate);
        measured
    }

    pub(super) fn target(&self) -> f64 {
        self.target
    }

    pub(super) fn set(&mut self, target: f64) {
        self.target = target;
    }

    pub(super) fn next_timeout(&self) -> Option<SendTime> {
        self.due
    }

    pub(super) fn current_rate(&self) -> f64 {
        self.current_rate
    }

    pub(super) fn last_max(&self) -> f64 {
        self.last_max
    }
}

impl Config {
    /// The target after an interval, without its limit. RFC 8298 §4.1.3.
    fn adjust(&self, target: f64, last_max: f64, measured: &MeasuredRates, seen: &RateInputs) -> f64 {
        let step = self.ramp_up_speed.bps_f64().min(target / 2.0) * self.rate_adjust_interval.secs_f64();
        // Near `target_bitrate_last_max` growth is slower.
        let distance = 4.0 * (target - last_max) / last_max;
        let scale = (distance * distance).clamp(0.2, 1.0);
        if seen.in_fast_increase {
            return target + step * scale;
        }
        let current = measured.current_rate;
        // The trend of the queue delay and the RTP queue lower the rate that the path has shown.
        let shown = current * (1.0 - self.pre_congestion_guard * seen.qdelay_trend)
            - self.tx_queue_size_factor * measured.rtp_queue_size;
        let mut increment = match self.increment {
            Increment::Difference => shown - target,
            Increment::Literal => shown,
        };
        if increment > 0.0 {
            increment = step.min(increment * scale);
        }
        let target = target + increment;
        // Without traffic the queue's delay is unknown.
        let queue_delay = if current > 0.0 { measured.rtp_queue_size / current } else { 0.0 };
        if queue_delay > self.rtp_qdelay_th.secs_f64() {
            self.target_rate_scale_rtp_qdelay * target
        } else {
            target
        }
    }
}

/// The target never runs far ahead of the source's or the path's rate. RFC 8298 §4.1.3.
fn limit(target: f64, median: f64, measured: &MeasuredRates, seen: &RateInputs) -> f64 {
    if measured.current_rate <= 0.0 {
        return target;
    }
    let rate = measured.current_rate.max(measured.rate_media).max(median);
    target.min(rate * (2.0 - seen.qdelay_trend_mem))
}

/// Bytes of an interval.
#[derive(Debug, Default)]
struct Meter {
    began: Option<SendTime>,
    transmitted: u64,
    received: u64,
    /// RTP queue at the beginning, and the least since.
    queued_before: u64,
    least_queued: LeastQueued,
}

impl Meter {
    fn on_sent(&mut self, at: SendTime, bytes: u64, queued: u64) {
        if self.began.is_none() {
            *self = Self { began: Some(at), received: self.received, ..Self::default() };
        }
        self.transmitted = self.transmitted.saturating_add(bytes);
        self.least_queued.on_sent(DataSize::from_bytes(queued));
    }

    /// Reads the interval up to `now`; the next one begins. Returns `None` if there was none, or no traffic in it.
    fn read(&mut self, now: SendTime, usual: TimeDelta, queued: u64) -> Option<MeasuredRates> {
        let began = self.began?;
        if self.transmitted == 0 && self.received == 0 && queued == 0 {
            *self = Self::default();
            return None;
        }
        let elapsed = now - began;
        let seconds = if elapsed > TimeDelta::ZERO { elapsed } else { usual }.secs_f64();
        let rate = |bytes: u64| 8.0 * bytes as f64 / seconds;
        let produced = self.transmitted.saturating_add(queued).saturating_sub(self.queued_before);
        let measured = MeasuredRates {
            current_rate: rate(self.transmitted.max(self.received)),
            rate_media: rate(produced),
            rtp_queue_size: self.least_queued.on_report(DataSize::from_bytes(queued)).bits_f64(),
        };
        *self = Self { began: Some(now), queued_before: queued, ..Self::default() };
        Some(measured)
    }
}

/// `rate_media_median`.
#[derive(Debug)]
struct Median {
    rates: [f64; MEDIAN_LENGTH],
    next: usize,
    count: usize,
}

impl Default for Median {
    fn default() -> Self {
        Self { rates: [0.0; MEDIAN_LENGTH], next: 0, count: 0 }
    }
}

impl Median {
    /// The median of the last rates, this one included.
    fn push(&mut self, rate: f64) -> f64 {
        self.rates[self.next] = rate;
        self.next = (self.next + 1) % MEDIAN_LENGTH;
        self.count = (self.count + 1).min(MEDIAN_LENGTH);
        let mut sorted = self.rates;
        let known = &mut sorted[..self.count];
        *known.select_nth_unstable_by(self.count / 2, f64::total_cmp).1
    }
}

#[cfg(test)]
mod tests {
    use weir_units::{DataRate, DataSize};

    use super::*;

    const CONFIG: Config = Config::RFC_8298;
    const CALM: RateInputs = RateInputs { in_fast_increase: false, qdelay_trend: 0.0, qdelay_trend_mem: 0.0 };
    const FAST: RateInputs = RateInputs { in_fast_increase: true, ..CALM };

    /// Checks that `value` is `expected` within 1e-9, relative.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected.abs(), "{value} instead of {expected}");
    }

    fn measured(current_rate: f64, rtp_queue_size: f64) -> MeasuredRates {
        MeasuredRates { current_rate, rate_media: current_rate, rtp_queue_size }
    }

    fn limits() -> RateLimits {
        let kbps = DataRate::from_kbps;
        RateLimits::new(kbps(100), kbps(300), kbps(2500)).unwrap()
    }

    /// Sender time of `ms` milliseconds.
    fn ms(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// A packet of `bytes` bytes leaves at `at`, in ms, with `queued` bytes behind it.
    fn send(control: &mut RateControl, at: i64, bytes: u64, queued: u64) {
        let size = DataSize::from_bytes(bytes);
        let packet = SentPacket::new(0, ms(at), size);
        control.on_sent(&packet, queued, CONFIG.rate_adjust_interval);
    }

    #[test]
    fn fast_increase_grows_by_the_ramp_up_speed_and_slower_near_the_last_maximum() {
        // min(200, 500)·0.2 = 40 kbit/s; last_max = 1 bit/s: scale 1.
        near(CONFIG.adjust(1e6, 1.0, &measured(1e6, 0.0), &FAST), 1.04e6);
        // A low rate: 100/2·0.2 = 10.
        near(CONFIG.adjust(1e5, 1.0, &measured(1e5, 0.0), &FAST), 1.1e5);
        // At the last maximum: scale 0.2. At 85 % of it: (4·0.15)² = 0.36.
        near(CONFIG.adjust(1e6, 1e6, &measured(1e6, 0.0), &FAST), 1.008e6);
        near(CONFIG.adjust(8.5e5, 1e6, &measured(1e6, 0.0), &FAST), 8.5e5 + 0.36 * 4e4);
    }

    #[test]
    fn outside_fast_increase_the_target_goes_to_the_rate_that_the_path_showed() {
        // 1000·(1 − 0.1·0.5) − 0 − 900 = 50 kbit/s, at most 40.
        let seen = RateInputs { qdelay_trend: 0.5, ..CALM };
        near(CONFIG.adjust(9e5, 1.0, &measured(1e6, 0.0), &seen), 9.4e5);
        // Below: the whole way at once. 950 − 1200 = −250.
        near(CONFIG.adjust(1.2e6, 1.0, &measured(1e6, 0.0), &seen), 9.5e5);
        // 10 kbit of queue: 10 ms at 1 Mbit/s, below 20 ms. 1000 − 10 − 980 = 10.
        near(CONFIG.adjust(9.8e5, 1.0, &measured(1e6, 1e4), &CALM), 9.9e5);
        // 30 kbit, 30 ms: (1000 − 30)·0.95.
        near(CONFIG.adjust(9.8e5, 1.0, &measured(1e6, 3e4), &CALM), 0.95 * 9.7e5);
    }

    #[test]
    fn the_literal_increment_only_rises() {
        let literal = Config { increment: Increment::Literal, ..CONFIG };
        near(literal.adjust(1.2e6, 1.0, &measured(1e6, 0.0), &CALM), 1.24e6);
    }

    #[test]
    fn the_target_is_limited_by_what_is_sent_and_the_trend_of_the_past() {
        let seen = RateInputs { qdelay_trend_mem: 0.5, ..FAST };
        near(limit(5e6, 0.0, &measured(1e6, 0.0), &seen), 1.5e6);
        near(limit(5e6, 2e6, &measured(1e6, 0.0), &seen), 3e6);
        near(limit(1e6, 2e6, &measured(1e6, 0.0), &seen), 1e6);
        near(limit(5e6, 0.0, &measured(0.0, 0.0), &seen), 5e6);
    }

    #[test]
    fn an_interval_measures_what_was_sent_received_and_produced() {
        let mut meter = Meter::default();
        meter.on_sent(ms(0), 4000, 9000);
        meter.on_sent(ms(100), 6000, 5000);
        meter.received = 8000;
        // 10 000 bytes in 200 ms; 10 000 + 7000 produced; the queue was never below 5000 bytes.
        let read = meter.read(ms(200), CONFIG.rate_adjust_interval, 7000).unwrap();
        assert_eq!(read, MeasuredRates { current_rate: 4e5, rate_media: 6.8e5, rtp_queue_size: 4e4 });
        // Another 5000 sent, 2000 left: the encoder produced no more.
        meter.on_sent(ms(300), 5000, 2000);
        let read = meter.read(ms(400), CONFIG.rate_adjust_interval, 2000).unwrap();
        assert_eq!(read, MeasuredRates { current_rate: 2e5, rate_media: 0.0, rtp_queue_size: 1.6e4 });
        assert!(meter.read(ms(600), CONFIG.rate_adjust_interval, 1).is_some());
        assert_eq!(meter.read(ms(800), CONFIG.rate_adjust_interval, 0), None);
    }

    #[test]
    fn the_median_covers_the_last_fifty_one_rates() {
        let mut median = Median::default();
        near(median.push(5.0), 5.0);
        near(median.push(1.0), 5.0);
        near(median.push(2.0), 2.0);
        (0..51).for_each(|_| _ = median.push(7.0));
        near(median.push(1.0), 7.0);
    }

    #[test]
    fn an_event_lowers_the_rate_and_remembers_what_was_reached() {
        let mut control = RateControl::new(1e6);
        control.current_rate = 9e5;
        control.on_congestion(ms(0), 0.9, &limits());
        assert_eq!((control.target(), control.last_max()), (9e5, 9e5));
        control.current_rate = 1e5;
        control.on_congestion(ms(1999), 0.9, &limits());
        assert_eq!((control.target(), control.last_max()), (8.1e5, 9e5));
        for at in [2000, 4000, 6000] {
            control.note_max(ms(at));
        }
        assert_eq!(control.last_max(), 1e5, "of the last three");
        (0..30).for_each(|_| control.on_congestion(ms(6000), 0.9, &limits()));
        assert_eq!(control.target(), 1e5);
    }

    #[test]
    fn no_rate_is_computed_without_packets_sent() {
        let mut control = RateControl::new(3e5);
        assert_eq!(control.next_timeout(), None);
        send(&mut control, 0, 7500, 0);
        assert_eq!(control.next_timeout(), Some(ms(200)));
        assert!(!control.is_due(ms(199), CONFIG.rate_adjust_interval));
        assert!(control.is_due(ms(200), CONFIG.rate_adjust_interval));
        // 300 kbit/s, doubled by the limit; 300/2·0.2 = 30 kbit/s more.
        assert!(control.update(ms(200), &CONFIG, &limits(), 0, &FAST));
        near(control.target(), 3.3e5);
        assert!(!control.update(ms(400), &CONFIG, &limits(), 0, &FAST));
        assert_eq!((control.target(), control.next_timeout()), (3.3e5, None));
    }
}
