//! Queue delay as in LEDBAT (RFC 6817), and the smoothed round-trip time (RFC 6298). Both in seconds.

use weir_units::TimeDelta;

use crate::parts::base_delay::BaseDelay;
use crate::time::{ApparentDelay, ArrivalTime};

/// Smallest queue delay that is taken for a changed clock.
const CLOCK_STEP: TimeDelta = TimeDelta::from_secs(10);
/// Upper bound of a round-trip time, in s.
const MAX_RTT: f64 = 10.0;
/// Lower bound of a round-trip time, in s.
const MIN_RTT: f64 = 1e-4;
/// Weight of the newest round-trip time (RFC 6298 §2.3).
const RTT_GAIN: f64 = 0.125;

/// The queue delay (`qdelay`): the one-way delay above its base.
#[derive(Debug, Default)]
pub(super) struct QueueDelay {
    base: BaseDelay,
    qdelay: f64,
}

impl QueueDelay {
    /// Takes in a packet that arrived `at` with `delay`. The queue delay is `owd − base` without smoothing (RFC 8298
    /// §4.1.2).
    pub(super) fn on_packet(&mut self, at: ArrivalTime, delay: ApparentDelay) {
        let mut queue = delay - self.base.on_arrival(at, delay);
        if queue >= CLOCK_STEP {
            self.base.restart();
            queue = delay - self.base.on_arrival(at, delay);
        }
        self.qdelay = queue.secs_f64().max(0.0);
    }

    /// `qdelay` in s; 0 before the first packet.
    pub(super) fn get(&self) -> f64 {
        self.qdelay
    }
}

/// The smoothed round-trip time (`s_rtt`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SmoothedRtt(Option<(f64, TimeDelta)>);

impl SmoothedRtt {
    pub(super) fn on_sample(&mut self, rtt: TimeDelta) {
        let sample = rtt.secs_f64().clamp(MIN_RTT, MAX_RTT);
        let smoothed = self.get().map_or(sample, |old| old + RTT_GAIN * (sample - old));
        self.0 = Some((smoothed, TimeDelta::from_secs_f64(smoothed)));
    }

    /// `s_rtt` in s, or `None` before the first sample.
    pub(super) fn get(self) -> Option<f64> {
        self.0.map(|(seconds, _)| seconds)
    }

    /// `s_rtt` as a time span.
    pub(super) fn span(self) -> Option<TimeDelta> {
        self.0.map(|(_, span)| span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SendTime;

    /// The queue delay in s after a packet that left at `ms` and took `delay_ms`.
    fn packet(queue: &mut QueueDelay, ms: i64, delay_ms: i64) -> f64 {
        let at = ArrivalTime::from_millis(7_200_000 + ms + delay_ms);
        queue.on_packet(at, ApparentDelay::between(SendTime::from_millis(ms), at));
        queue.get()
    }

    #[test]
    fn the_first_packet_has_no_queue_and_the_lowest_is_the_base() {
        let mut queue = QueueDelay::default();
        assert_eq!(packet(&mut queue, 0, 40), 0.0);
        assert_eq!(packet(&mut queue, 50, 65), 0.025);
        assert_eq!(packet(&mut queue, 100, 30), 0.0);
        assert_eq!(packet(&mut queue, 150, 65), 0.035);
    }

    #[test]
    fn a_clock_that_leaps_is_not_a_queue() {
        let mut queue = QueueDelay::default();
        packet(&mut queue, 0, 40);
        assert_eq!(packet(&mut queue, 50, 9_040), 9.0);
        assert_eq!(packet(&mut queue, 100, 12_040), 0.0);
        assert_eq!(packet(&mut queue, 150, 12_050), 0.01);
    }

    #[test]
    fn the_round_trip_time_is_smoothed_by_an_eighth() {
        let mut rtt = SmoothedRtt::default();
        assert_eq!(rtt.get(), None);
        rtt.on_sample(TimeDelta::from_millis(80));
        assert_eq!(rtt.get(), Some(0.08));
        // 0.08 + (0.16 − 0.08)/8 = 0.09.
        rtt.on_sample(TimeDelta::from_millis(160));
        assert!((rtt.get().unwrap() - 0.09).abs() < 1e-12);
        rtt.on_sample(TimeDelta::from_secs(-5));
        assert!(rtt.get().unwrap() > 0.0);
    }
}
