//! Rules on which TCP stacks differ and window laws do not, and the growth that most laws have in common: slow start,
//! then so many segments per round trip.

use crate::window::{Ack, Window};

/// What acknowledgements and reductions are counted by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// `L`, by how many segments one acknowledgement opens the window in slow start at most (RFC 3465 §2.3).
    pub slow_start_limit: f64,
    /// Whether, in congestion avoidance, an acknowledgement counts once, however many segments it acknowledges: with
    /// delayed acknowledgements the window then gains half a segment per round trip (RFC 5681 §3.1 eq. (3)).
    pub counts_acknowledgements: bool,
    /// Whether the window grows even while the application limits sending, against RFC 7661.
    pub unused_window_grows: bool,
    /// Whether congestion reduces the window itself and not what is in flight (RFC 5681 §3.1 eq. (4)).
    pub reduces_window: bool,
}

impl Default for Rules {
    /// Segments are counted, two per acknowledgement at most in slow start (RFC 3465).
    fn default() -> Self {
        Self { slow_start_limit: 2.0, ..Self::rfc_5681() }
    }
}

impl Rules {
    /// RFC 5681 §3.1: one segment per acknowledgement in slow start; afterwards segments are counted, as recommended.
    pub const fn rfc_5681() -> Self {
        Self {
            slow_start_limit: 1.0,
            counts_acknowledgements: false,
            unused_window_grows: false,
            reduces_window: false,
        }
    }

    /// Linux: every segment counts, also in slow start, and the window is what is reduced.
    pub const fn linux() -> Self {
        Self { slow_start_limit: f64::INFINITY, reduces_window: true, ..Self::rfc_5681() }
    }

    /// ns-3 up to 3.26: acknowledgements count, and the window grows whether it is used or not.
    pub const fn ns3_26() -> Self {
        Self { counts_acknowledgements: true, unused_window_grows: true, ..Self::rfc_5681() }
    }

    /// Whether the window may grow at all.
    pub(super) fn applies(&self, ack: &Ack) -> bool {
        ack.window_limited || self.unused_window_grows
    }

    /// What congestion reduces, in segments, with `flight` segments outstanding.
    pub(super) fn at_congestion(&self, window: &Window, flight: f64) -> f64 {
        if self.reduces_window { window.cwnd } else { flight }
    }

    /// Slow start (RFC 3465 §2.2): opens the window, at most up to the threshold, and returns the segments that are
    /// left over for congestion avoidance.
    pub(super) fn slow_start(&self, window: &mut Window, acked: f64) -> f64 {
        if !window.in_slow_start() {
            return acked;
        }
        let opened = window.cwnd + acked.min(self.slow_start_limit);
        window.cwnd = opened.min(window.ssthresh);
        opened - window.cwnd
    }
}

/// Reno's growth: slow start, then one segment more per window acknowledged (RFC 5681 §3.1, RFC 3465 §2.1).
#[derive(Clone, Debug, Default)]
pub(super) struct RenoGrowth {
    rules: Rules,
    /// Segments acknowledged in congestion avoidance that have not yet opened the window (RFC 3465 §2.1).
    counted: f64,
}

impl RenoGrowth {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, counted: 0.0 }
    }

    /// New data was acknowledged; where congestion avoidance applies, each segment counts `increase` times.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack, increase: impl FnOnce(f64) -> f64) {
        if !self.rules.applies(ack) {
            return;
        }
        let rest = self.rules.slow_start(window, ack.acked);
        if rest <= 0.0 {
            return;
        }
        let increase = increase(window.cwnd);
        if self.rules.counts_acknowledgements {
            window.cwnd += increase / window.cwnd; // RFC 5681 eq. (3)
            return;
        }
        self.counted += increase * rest;
        if self.counted >= window.cwnd {
            let whole = libm::trunc(self.counted / window.cwnd);
            self.counted -= whole * window.cwnd;
            window.cwnd += whole;
        }
    }

    /// Congestion: what was counted is forgotten. Returns what is to be reduced.
    pub(super) fn on_congestion(&mut self, window: &Window, flight: f64) -> f64 {
        self.counted = 0.0;
        self.rules.at_congestion(window, flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::test_support::ack;

    #[test]
    fn slow_start_stops_at_the_threshold_and_leaves_the_rest() {
        // 9 + 2 = 11 passes the threshold of 9.5: 1.5 segments are left for congestion avoidance.
        let rules = Rules::default();
        let mut window = Window { cwnd: 9.0, ssthresh: 9.5 };
        assert_eq!(rules.slow_start(&mut window, 2.0), 1.5);
        assert_eq!(window.cwnd, 9.5);
        assert_eq!(rules.slow_start(&mut window, 2.0), 2.0);
    }

    #[test]
    fn one_acknowledgement_opens_the_window_by_as_much_as_the_stack_allows() {
        // 5 segments at once: RFC 5681 takes 1, RFC 3465 takes 2, Linux takes all.
        for (rules, opened) in [
            (Rules::rfc_5681(), 11.0),
            (Rules::default(), 12.0),
            (Rules::linux(), 15.0),
            (Rules::ns3_26(), 11.0),
        ] {
            let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
            assert_eq!(rules.slow_start(&mut window, 5.0), 0.0);
            assert_eq!(window.cwnd, opened);
        }
    }

    /// What a round trip of 20 segments, acknowledged two by two, adds to a window of 20.
    fn gain_per_round(rules: Rules) -> f64 {
        let mut window = Window { cwnd: 20.0, ssthresh: 20.0 };
        let mut growth = RenoGrowth::new(rules);
        for _ in 0..10 {
            growth.on_ack(&mut window, &ack(0, 2.0), |_| 1.0);
        }
        window.cwnd - 20.0
    }

    #[test]
    fn counting_acknowledgements_halves_the_growth() {
        assert_eq!(gain_per_round(Rules::default()), 1.0);
        assert_eq!(gain_per_round(Rules::linux()), 1.0);
        // Ten times 1/cwnd, the window growing on the way: 20² + 20 = 420, √420.25 = 20.5 but for the discrete steps.
        let slow = gain_per_round(Rules::ns3_26());
        assert!((slow - 0.495).abs() < 0.005, "{slow}");
    }

    #[test]
    fn only_old_ns3_grows_a_window_that_is_not_used() {
        for (rules, expected) in [(Rules::default(), 10.0), (Rules::ns3_26(), 11.0)] {
            let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
            let idle = Ack { window_limited: false, ..ack(0, 1.0) };
            RenoGrowth::new(rules).on_ack(&mut window, &idle, |_| 1.0);
            assert_eq!(window.cwnd, expected);
        }
    }

    #[test]
    fn one_acknowledgement_of_many_windows_adds_a_segment_for_each() {
        let mut window = Window { cwnd: 4.0, ssthresh: 4.0 };
        RenoGrowth::new(Rules::default()).on_ack(&mut window, &ack(0, 9.0), |_| 1.0);
        // 9 = 2 · 4 + 1.
        assert_eq!(window.cwnd, 6.0);
    }
}
