//! NewReno: one segment more per round trip, half the window on congestion (RFC 5681, RFC 6582).
//!
//! Divergences from RFC 5681, unless other [`Rules`] are given:
//! 1. Bytes are counted, not acknowledgements (RFC 3465), as RFC 5681 §3.1 recommends: delayed acknowledgements
//!    do not slow the growth down.
//! 2. The window does not grow while the application limits sending (RFC 7661).

use crate::time::SendTime;
use crate::window::rules::{RenoGrowth, Rules};
use crate::window::{Ack, Congestion, Window, WindowAlgorithm};

/// The NewReno window algorithm.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    growth: RenoGrowth,
}

impl NewReno {
    /// The algorithm at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The algorithm by the rules of a stack.
    pub fn with_rules(rules: Rules) -> Self {
        Self { growth: RenoGrowth::new(rules) }
    }
}

impl WindowAlgorithm for NewReno {
    fn reset(&mut self) {
        self.growth = self.growth.restarted();
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.growth.on_ack(window, ack, |_| 1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, _now: SendTime, kind: Congestion, flight: f64) {
        let reduced = self.growth.on_congestion(window, kind, flight);
        window.ssthresh = self.growth.threshold(reduced / 2.0); // RFC 5681 eq. (4)
        window.cwnd = window.ssthresh;
    }

    fn on_undo(&mut self, _window: &mut Window, _now: SendTime) {
        self.growth.on_undo();
    }
}

#[cfg(test)]
mod tests {
    use weir_units::TimeDelta;

    use super::*;

    fn ack(acked: f64) -> Ack {
        let rtt = TimeDelta::from_millis(100);
        Ack { now: SendTime::ZERO, acked, srtt: rtt, min_rtt: rtt, window_limited: true }
    }

    #[test]
    fn slow_start_doubles_the_window_per_round_trip() {
        // 10 segments, acknowledged two by two: 10 + 5 · 2 = 20.
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        let mut algorithm = NewReno::new();
        for _ in 0..5 {
            algorithm.on_ack(&mut window, &ack(2.0));
        }
        assert_eq!(window.cwnd, 20.0);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_window_acknowledged() {
        // From 10: after 10 segments 11, after 11 more 12, however acknowledgements group them.
        for per_ack in [1.0, 2.0] {
            let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
            let mut algorithm = NewReno::new();
            let mut acked = 0.0;
            while acked < 10.0 {
                assert_eq!(window.cwnd, 10.0);
                algorithm.on_ack(&mut window, &ack(per_ack));
                acked += per_ack;
            }
            assert_eq!(window.cwnd, 11.0);
            while acked < 20.0 {
                algorithm.on_ack(&mut window, &ack(per_ack));
                acked += per_ack;
            }
            assert_eq!(window.cwnd, 11.0);
            algorithm.on_ack(&mut window, &ack(per_ack));
            assert_eq!(window.cwnd, 12.0);
        }
    }

    #[test]
    fn congestion_halves_what_is_in_flight_but_leaves_two_segments() {
        let mut algorithm = NewReno::new();
        // 21 / 2 = 10.5: the flight counts, not the window.
        let mut window = Window { cwnd: 30.0, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 21.0);
        assert_eq!(window, Window { cwnd: 10.5, ssthresh: 10.5 });
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Timeout, 3.0);
        assert_eq!(window.ssthresh, 2.0);
    }

    #[test]
    fn linux_halves_the_window_and_not_the_flight() {
        // Linux 6 in whole numbers.
        for (rules, left) in [(Rules::linux(), 15.5), (Rules::linux_6(), 15.0)] {
            let mut window = Window { cwnd: 31.0, ssthresh: f64::INFINITY };
            let mut algorithm = NewReno::with_rules(rules);
            algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 21.0);
            assert_eq!(window, Window { cwnd: left, ssthresh: left });
        }
    }

    #[test]
    fn after_a_false_timeout_slow_start_is_no_longer_that_after_one() {
        let mut algorithm = NewReno::new();
        let mut window = Window { cwnd: 30.0, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Timeout, 30.0);
        // The transport has restored the window.
        window = Window { cwnd: 30.0, ssthresh: f64::INFINITY };
        algorithm.on_undo(&mut window, SendTime::ZERO);
        algorithm.on_ack(&mut window, &ack(2.0));
        assert_eq!(window.cwnd, 32.0);
    }

    #[test]
    fn congestion_forgets_what_was_counted() {
        let mut algorithm = NewReno::new();
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
        algorithm.on_ack(&mut window, &ack(9.0));
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 10.0);
        algorithm.on_ack(&mut window, &ack(4.0));
        assert_eq!(window.cwnd, 5.0);
    }

    #[test]
    fn window_stands_still_while_the_application_limits() {
        let mut algorithm = NewReno::new();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        algorithm.on_ack(&mut window, &Ack { window_limited: false, ..ack(2.0) });
        assert_eq!(window.cwnd, 10.0);
    }
}
