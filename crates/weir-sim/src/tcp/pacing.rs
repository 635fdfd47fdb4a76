//! Pacing of a TCP sender: segments leave one at a time, somewhat faster than the mean rate of the window, as in
//! Linux with fair queueing.

use weir_cc::SendTime;
use weir_cc::window::Window;
use weir_units::TimeDelta;

/// Ratio of the pacing rate to the window per round trip while the window is below half of `ssthresh`
/// (`tcp_pacing_ss_ratio`).
const SLOW_START_FACTOR: f64 = 2.0;

/// Ratio of the pacing rate to the window per round trip otherwise (`tcp_pacing_ca_ratio`).
const AVOIDANCE_FACTOR: f64 = 1.2;

/// Pacer of segments.
#[derive(Clone, Debug)]
pub(super) struct SegmentPacer {
    enabled: bool,
    next: SendTime,
    /// Whether a segment waits for `next`.
    holding: bool,
}

impl SegmentPacer {
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, next: SendTime::ZERO, holding: false }
    }

    /// Whether the next segment must wait.
    pub(super) fn holds(&mut self, now: SendTime) -> bool {
        self.holding = self.enabled && now < self.next;
        self.holding
    }

    /// Takes a segment that leaves, with `flight` segments outstanding afterwards. The pacing rate follows the window
    /// or, if it is larger as in recovery, `flight`.
    pub(super) fn on_sent(&mut self, now: SendTime, window: &Window, flight: u32, srtt: Option<TimeDelta>) {
        let Some(srtt) = srtt.filter(|_| self.enabled) else { return };
        self.next = self.next.max(now) + srtt.scale(1.0 / per_round_trip(window, flight));
    }

    /// Time at which a waiting segment may leave.
    pub(super) fn release(&self) -> Option<SendTime> {
        self.holding.then_some(self.next)
    }

    /// Ends the wait until the next call of [`Self::holds`].
    pub(super) fn clear(&mut self) {
        self.holding = false;
    }
}

/// Segments per round trip at the pacing rate, with `flight` outstanding.
pub(super) fn per_round_trip(window: &Window, flight: u32) -> f64 {
    let factor = if window.cwnd < window.ssthresh / 2.0 { SLOW_START_FACTOR } else { AVOIDANCE_FACTOR };
    factor * window.cwnd.max(f64::from(flight)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_spread_over_the_round_trip_at_twice_or_1_2_times_the_windows_rate() {
        // 100 ms over 10 segments: 10 ms, at twice the rate 5 ms, at 1.2 times 8.333 ms. In recovery 40 outstanding ones
        // count and not the window of 2: 100 / 48 = 2.083 ms.
        let srtt = Some(TimeDelta::from_millis(100));
        for (cwnd, ssthresh, flight, micros) in
            [(10.0, f64::INFINITY, 1, 5000), (10.0, 15.0, 10, 8333), (2.0, 4.0, 40, 2083)]
        {
            let mut pacing = SegmentPacer::new(true);
            assert!(!pacing.holds(SendTime::ZERO));
            pacing.on_sent(SendTime::ZERO, &Window { cwnd, ssthresh }, flight, srtt);
            let at = |micros| SendTime::from_nanos(1000 * micros);
            assert!(pacing.holds(at(micros - 1)));
            assert_eq!(pacing.release().map(|at| at.nanos() / 1000), Some(micros));
            assert!(!pacing.holds(at(micros + 1)));
            assert_eq!(pacing.release(), None);
        }
    }

    #[test]
    fn without_pacing_nothing_waits() {
        let mut pacing = SegmentPacer::new(false);
        let window = Window { cwnd: 1.0, ssthresh: 2.0 };
        pacing.on_sent(SendTime::ZERO, &window, 1, Some(TimeDelta::from_secs(1)));
        assert!(!pacing.holds(SendTime::ZERO));
    }
}
