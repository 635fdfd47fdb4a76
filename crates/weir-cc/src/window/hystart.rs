//! HyStart: slow start ends before the queue overflows (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011;
//! as in Linux). The sign is a train of acknowledgements as long as the path holds, or a rise of the round-trip time.
//!
//! A round trip begins with the first acknowledgement of data sent after the beginning of the one before. The last
//! acknowledgement of a flight would be followed by a pause that breaks every train. The least round-trip time is that
//! of data; the handshake's small packets take less.
//!
//! Divergences from Linux:
//! 1. Nothing is looked for in recovery, where a window below the threshold is no slow start.
//! 2. For 3.16: round-trip times are not rounded to milliseconds, and the acknowledgement that begins a round counts for
//!    it; there it still counts for the round before.

use weir_units::TimeDelta;

use crate::time::SendTime;
use crate::window::Delivery;
use crate::window::rounds::Rounds;

/// Window in segments below which the end of slow start is not looked for (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;

/// Acknowledgements this far apart at most belong to one train (`hystart_ack_delta`).
const ACK_DELTA: TimeDelta = TimeDelta::from_millis(2);

/// Samples of a round whose minimum is compared (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;

/// Limits of an acknowledgement train and of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Length that a train may have as a share of the smallest round-trip time,
    pub train: f64,
    /// plus this time, for which a host may hold acknowledgements up (`hystart_ack_delay`, at the rates used here
    /// always at its maximum).
    pub train_slack: TimeDelta,
    /// Rise of the round-trip time above its minimum, as a share of it, that ends slow start,
    pub delay: f64,
    /// at least this long (`HYSTART_DELAY_MIN`)
    pub delay_min: TimeDelta,
    /// and at most this long (`HYSTART_DELAY_MAX`).
    pub delay_max: TimeDelta,
    /// Whether a short round trip after the first eight of a round can still prevent the end of slow start.
    pub later_samples: bool,
}

impl Config {
    /// Linux since 5.16: an eighth of the round-trip time, 4 to 16 ms (since 3.19).
    pub const fn linux() -> Self {
        let (delay_min, delay_max) = (TimeDelta::from_millis(4), TimeDelta::from_millis(16));
        let train_slack = TimeDelta::from_millis(1);
        Self { train: 0.5, train_slack, delay: 0.125, delay_min, delay_max, later_samples: true }
    }

    /// Linux up to 3.18: a sixteenth.
    pub const fn linux_3_16() -> Self {
        Self { delay: 0.0625, train_slack: TimeDelta::ZERO, later_samples: false, ..Self::linux() }
    }

    /// The same for a sender that paces its segments, whose acknowledgements come spread over half the round trip
    /// anyway (present Linux).
    #[must_use]
    pub const fn paced(self) -> Self {
        Self { train: 1.0, ..self }
    }

    /// ns-3: the round-trip time has to double.
    pub const fn ns3() -> Self {
        Self { train: 1.0, delay: 1.0, delay_max: TimeDelta::from_secs(1), ..Self::linux_3_16() }
    }
}

/// Detector of the end of slow start.
#[derive(Clone, Debug)]
pub struct HyStart {
    config: Config,
    rounds: Rounds,
    round_start: SendTime,
    /// Time of the last acknowledgement of the train.
    train_end: SendTime,
    samples: u32,
    /// The least of the round's samples.
    round_min: TimeDelta,
    /// Whether the end has been found: then the search stops until a timeout.
    found: bool,
}

impl HyStart {
    /// A detector at the start of a connection.
    pub fn new(config: Config) -> Self {
        let start = SendTime::ZERO;
        let round_min = TimeDelta::MAX;
        Self {
            config,
            rounds: Rounds::default(),
            round_start: start,
            train_end: start,
            samples: 0,
            round_min,
            found: false,
        }
    }

    /// Restarts for another connection.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.config);
    }

    /// Timeout: slow start is to come again, and `outstanding` segments belong to the round before.
    pub(super) fn on_timeout(&mut self, now: SendTime, outstanding: f64) {
        self.found = false;
        self.begin_round(now, outstanding);
    }

    /// Counts arrived segments, in slow start or not.
    pub(super) fn count(&mut self, delivery: &Delivery) {
        self.rounds.count(delivery.delivered);
    }

    /// Whether slow start should end here, at a window of `cwnd` segments, where the smallest round-trip time of data
    /// was `least`; after [`Self::count`].
    pub(super) fn ends_slow_start(&mut self, cwnd: f64, delivery: &Delivery, least: TimeDelta) -> bool {
        let Some(rtt) = delivery.rtt.filter(|_| !self.found) else { return false };
        if self.rounds.is_passed() {
            self.begin_round(delivery.now, delivery.outstanding);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        self.found = self.train_is_long(delivery.now, least) || self.delay_is_long(rtt, least);
        self.found
    }

    fn begin_round(&mut self, now: SendTime, outstanding: f64) {
        self.rounds.begin(outstanding);
        self.round_start = now;
        self.train_end = now;
        self.samples = 0;
        self.round_min = TimeDelta::MAX;
    }

    fn train_is_long(&mut self, now: SendTime, least: TimeDelta) -> bool {
        // A longer pause between acknowledgements breaks the train.
        if now - self.train_end > ACK_DELTA {
            return false;
        }
        self.train_end = now;
        now - self.round_start > (least + self.config.train_slack).scale(self.config.train)
    }

    fn delay_is_long(&mut self, rtt: TimeDelta, least: TimeDelta) -> bool {
        let first = self.samples < SAMPLES;
        if first || self.config.later_samples {
            self.round_min = self.round_min.min(rtt);
        }
        if first {
            self.samples += 1;
            return false;
        }
        let excess = least.scale(self.config.delay).clamp(self.config.delay_min, self.config.delay_max);
        self.round_min - least > excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(i64) -> TimeDelta = TimeDelta::from_micros;

    /// The least round-trip time of these tests.
    const LEAST: TimeDelta = TimeDelta::from_millis(100);

    /// A delivery of one segment at `us` µs.
    fn delivery(us: i64, outstanding: f64, rtt_ms: i64) -> Delivery {
        Delivery {
            now: SendTime::from_nanos(1000 * us),
            delivered: 1.0,
            marked: 0.0,
            outstanding,
            rtt: Some(US(1000 * rtt_ms)),
            min_rtt: TimeDelta::ZERO,
            recovering: false,
        }
    }

    /// Passes a delivery to `hystart`. Returns whether slow start ends.
    fn deliver(hystart: &mut HyStart, cwnd: f64, delivery: &Delivery) -> bool {
        hystart.count(delivery);
        hystart.ends_slow_start(cwnd, delivery, LEAST)
    }

    /// Number of the acknowledgement of a round at which slow start ends. They come `gap` µs apart with these
    /// round-trip times, in ms; the smallest so far was 100 ms.
    fn ends_at(config: Config, cwnd: f64, gap: i64, rtts: &[i64]) -> Option<usize> {
        let mut hystart = HyStart::new(config);
        (0..).zip(rtts).position(|(number, &rtt)| {
            deliver(&mut hystart, cwnd, &delivery(1_000_000 + gap * number, 1000.0, rtt))
        })
    }

    #[test]
    fn slow_start_ends_when_the_least_of_eight_samples_has_risen_too_far() {
        // An eighth of 100 ms is 12.5 ms, a sixteenth 6.25 ms, the whole 100 ms; the ninth sample decides.
        for (config, within, beyond) in
            [(Config::linux(), 112, 113), (Config::linux_3_16(), 106, 107), (Config::ns3(), 200, 201)]
        {
            assert_eq!(ends_at(config, 20.0, 5000, &[beyond; 12]), Some(8));
            assert_eq!(ends_at(config, 20.0, 5000, &[within; 12]), None);
            let mut one_is_low = [beyond; 12];
            one_is_low[3] = within;
            assert_eq!(ends_at(config, 20.0, 5000, &one_is_low), None);
        }
    }

    #[test]
    fn ninth_sample_speaks_against_the_end_in_present_linux_only() {
        let mut ninth_is_low = [113; 12];
        ninth_is_low[8] = 100;
        assert_eq!(ends_at(Config::linux(), 20.0, 5000, &ninth_is_low), None);
        assert_eq!(ends_at(Config::linux_3_16(), 20.0, 5000, &ninth_is_low), Some(8));
    }

    #[test]
    fn slow_start_ends_when_a_train_fills_half_the_round_trip() {
        // 1 ms apart: the 51st acknowledgement after the first is the first beyond (100 + 1) / 2 ms, and beyond 50 ms. 3 ms
        // apart there is no train.
        assert_eq!(ends_at(Config::linux(), 20.0, 1000, &[100; 90]), Some(51));
        assert_eq!(ends_at(Config::linux(), 20.0, 3000, &[100; 90]), None);
        assert_eq!(ends_at(Config::ns3(), 20.0, 1000, &[100; 90]), None);
        // 250 µs apart: 203 quarters are 50.75 ms, 201 are 50.25.
        assert_eq!(ends_at(Config::linux_3_16(), 20.0, 250, &[100; 220]), Some(201));
        assert_eq!(ends_at(Config::linux(), 20.0, 250, &[100; 220]), Some(203));
        // With pacing all of the round-trip time counts.
        let paced = Config::linux().paced();
        assert_eq!(
            [Config::linux(), paced].map(|config| ends_at(config, 20.0, 2000, &[100; 90])),
            [Some(26), Some(51)]
        );
    }

    /// Flight, and the number of its acknowledgement, at which slow start ends. Flights of `flight` segments are 100 ms
    /// apart; acknowledgements come `gap` µs apart in trains with a pause between.
    fn ends_in_flight(flight: i64, gap: i64) -> Option<(i64, i64)> {
        let mut hystart = HyStart::new(Config::linux());
        let acks = (0..4).flat_map(|round| (0..flight).map(move |number| (round, number)));
        acks.into_iter().find(|&(round, number)| {
            // Each acknowledgement releases the segment of the next flight.
            let outstanding = (flight - 1) as f64;
            let now = 1_000_000 + 100_000 * round + gap * number;
            deliver(&mut hystart, 20.0, &delivery(now, outstanding, 100))
        })
    }

    #[test]
    fn pause_between_flights_does_not_break_the_train() {
        // 60 acknowledgements 1 ms apart, then 41 ms without one. The first of a flight begins the round, and the 51st after
        // it is beyond 50.5 ms.
        assert_eq!(ends_in_flight(60, 1000), Some((0, 51)));
        // 40 acknowledgements do not last that long in any flight, and the pause is no part of a train.
        assert_eq!(ends_in_flight(40, 1000), None);
    }

    #[test]
    fn round_begins_with_the_first_acknowledgement_of_what_was_sent_after_it_began() {
        let mut hystart = HyStart::new(Config::linux());
        // The first acknowledgement begins a round with 9 more outstanding. The train of the next, after a pause of 60 ms,
        // counts from its own first acknowledgement on.
        for number in 0..10 {
            assert!(!deliver(&mut hystart, 20.0, &delivery(1_000_000 + 1000 * number, 9.0, 100)));
        }
        assert_eq!(hystart.round_start, SendTime::from_millis(1000));
        assert!(!deliver(&mut hystart, 20.0, &delivery(1_100_000, 9.0, 100)));
        assert_eq!(hystart.round_start, SendTime::from_millis(1100));
    }

    #[test]
    fn end_is_found_once_until_a_timeout() {
        let mut hystart = HyStart::new(Config::linux());
        let ends = |hystart: &mut HyStart, from: i64| {
            (0..30).position(|number| deliver(hystart, 20.0, &delivery(from + 5000 * number, 100.0, 120)))
        };
        assert_eq!(ends(&mut hystart, 1_000_000), Some(8));
        assert_eq!(ends(&mut hystart, 2_000_000), None);
        // Data outstanding at the timeout still belongs to the round before, which began with it.
        hystart.on_timeout(SendTime::from_millis(3000), 3.0);
        assert_eq!(ends(&mut hystart, 3_200_000), Some(11));
    }

    #[test]
    fn small_windows_are_left_alone() {
        assert_eq!(ends_at(Config::linux(), 15.0, 1000, &[300; 90]), None);
    }
}
