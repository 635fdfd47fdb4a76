//! HyStart: slow start ends before the queue overflows, once acknowledgements come in as long a train as the path
//! holds, or once the round-trip time rises (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011; as in Linux).
//!
//! Divergences from Linux:
//! 1. Round-trip times are not rounded to milliseconds.
//! 2. The smallest round-trip time is that of the whole connection; Linux leaves out samples of the first second after
//!    a loss and begins anew after a timeout.
//! 3. Nothing is looked for in recovery, where a window below the threshold is no slow start.

use weir_units::TimeDelta;

use crate::time::SendTime;
use crate::window::Delivery;
use crate::window::rounds::Rounds;

/// Below this window, in segments, nothing is looked for (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;

/// Acknowledgements this far apart at most belong to one train (`hystart_ack_delta`).
const ACK_DELTA: TimeDelta = TimeDelta::from_millis(2);

/// Samples of a round whose minimum is compared (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;

/// What counts as too long a train and too long a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// A train may last this share of the smallest round-trip time.
    pub train: f64,
    /// The round-trip time may exceed its minimum by this share of it,
    pub delay: f64,
    /// but at least by this (`HYSTART_DELAY_MIN`)
    pub delay_min: TimeDelta,
    /// and at most by this (`HYSTART_DELAY_MAX`).
    pub delay_max: TimeDelta,
}

impl Config {
    /// Linux since 3.19: an eighth of the round-trip time, 4 to 16 ms.
    pub const fn linux() -> Self {
        let (delay_min, delay_max) = (TimeDelta::from_millis(4), TimeDelta::from_millis(16));
        Self { train: 0.5, delay: 0.125, delay_min, delay_max }
    }

    /// Linux up to 3.18: a sixteenth.
    pub const fn linux_3_16() -> Self {
        Self { delay: 0.0625, ..Self::linux() }
    }

    /// The same for a sender that paces its segments, whose acknowledgements come spread over half the round trip
    /// anyway (present Linux).
    #[must_use]
    pub const fn paced(self) -> Self {
        Self { train: 1.0, ..self }
    }

    /// ns-3: the round-trip time has to double.
    pub const fn ns3() -> Self {
        Self { train: 1.0, delay: 1.0, delay_max: TimeDelta::from_secs(1), ..Self::linux() }
    }
}

/// Looks for the end of slow start.
#[derive(Clone, Debug)]
pub struct HyStart {
    config: Config,
    rounds: Rounds,
    round_start: SendTime,
    /// When the last acknowledgement of the train came.
    train_end: SendTime,
    samples: u32,
    /// The least of the round's first samples.
    round_min: TimeDelta,
}

impl HyStart {
    /// One that has seen nothing yet.
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
        }
    }

    /// Another slow start is to come: what was seen of the last one does not count for it.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.config);
    }

    /// Whether slow start should end here, at a window of `cwnd` segments.
    pub(super) fn ends_slow_start(&mut self, cwnd: f64, delivery: &Delivery) -> bool {
        if self.rounds.begins(delivery) {
            self.round_start = delivery.now;
            self.train_end = delivery.now;
            self.samples = 0;
            self.round_min = TimeDelta::MAX;
        }
        let Some(rtt) = delivery.rtt.filter(|_| cwnd >= LOW_WINDOW) else { return false };
        self.train_is_long(delivery) || self.delay_is_long(rtt, delivery.min_rtt)
    }

    fn train_is_long(&mut self, delivery: &Delivery) -> bool {
        if delivery.now - self.train_end > ACK_DELTA {
            return false;
        }
        self.train_end = delivery.now;
        delivery.now - self.round_start > delivery.min_rtt.scale(self.config.train)
    }

    fn delay_is_long(&mut self, rtt: TimeDelta, min_rtt: TimeDelta) -> bool {
        if self.samples < SAMPLES {
            self.samples += 1;
            self.round_min = self.round_min.min(rtt);
            return false;
        }
        let excess = min_rtt.scale(self.config.delay).clamp(self.config.delay_min, self.config.delay_max);
        self.round_min - min_rtt > excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(i64) -> TimeDelta = TimeDelta::from_micros;

    /// At which acknowledgement of a round slow start ends: they come `gap` µs apart and carry these round-trip times, in
    /// ms; the smallest so far was 100 ms.
    fn ends_at(config: Config, cwnd: f64, gap: i64, rtts: &[i64]) -> Option<usize> {
        let mut hystart = HyStart::new(config);
        let start = SendTime::from_millis(1000);
        (0..).zip(rtts).position(|(number, &rtt)| {
            let delivery = Delivery {
                now: start + US(gap * number),
                delivered: 1.0,
                marked: 0.0,
                outstanding: 100.0,
                rtt: Some(US(1000 * rtt)),
                min_rtt: US(100_000),
                recovering: false,
            };
            hystart.ends_slow_start(cwnd, &delivery)
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
    fn slow_start_ends_when_a_train_fills_half_the_round_trip() {
        // 1 ms apart: the 51st acknowledgement after the first is the first beyond 50 ms. 3 ms apart there is no train.
        assert_eq!(ends_at(Config::linux(), 20.0, 1000, &[100; 90]), Some(51));
        assert_eq!(ends_at(Config::linux(), 20.0, 3000, &[100; 90]), None);
        assert_eq!(ends_at(Config::ns3(), 20.0, 1000, &[100; 90]), None);
        // With pacing the whole of it.
        let paced = Config::linux().paced();
        assert_eq!(
            [Config::linux(), paced].map(|config| ends_at(config, 20.0, 2000, &[100; 90])),
            [Some(26), Some(51)]
        );
    }

    #[test]
    fn small_windows_are_left_alone() {
        assert_eq!(ends_at(Config::linux(), 15.0, 1000, &[300; 90]), None);
    }
}
