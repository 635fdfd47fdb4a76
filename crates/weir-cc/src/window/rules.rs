//! Rules on which TCP stacks differ and window algorithms do not, and the growth common to most algorithms. That is
//! slow start, then a number of segments per round trip.

use crate::window::{Ack, Congestion, MIN_SSTHRESH, Window};

/// Counting rules for acknowledgements and reductions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// `L`, the most segments by which one acknowledgement opens the window in slow start (RFC 3465 §2.3).
    pub slow_start_limit: f64,
    /// The same in the slow start after a timeout, where one acknowledgement may cover data that arrived long before.
    pub limit_after_timeout: f64,
    /// Whether, in congestion avoidance, an acknowledgement counts once, however many segments it acknowledges. With
    /// delayed acknowledgements the window then gains half a segment per round trip (RFC 5681 §3.1 eq. (3)).
    pub counts_acknowledgements: bool,
    /// Whether the window grows even while the application limits sending, against RFC 7661.
    pub unused_window_grows: bool,
    /// Base of a reduction.
    pub reduces: Reduced,
}

/// Base of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduced {
    /// The flight (RFC 5681 §3.1 eq. (4)).
    Flight,
    /// The window.
    Window,
    /// The window, to a whole number of segments.
    WholeWindow,
}

impl Default for Rules {
    /// Segments are counted, in slow start two per acknowledgement at most, after a timeout one (RFC 3465 §2.3).
    fn default() -> Self {
        Self { slow_start_limit: 2.0, ..Self::rfc_5681() }
    }
}

impl Rules {
    /// RFC 5681 §3.1: one segment per acknowledgement in slow start; afterwards segments are counted, as recommended.
    pub const fn rfc_5681() -> Self {
        Self {
            slow_start_limit: 1.0,
            limit_after_timeout: 1.0,
            counts_acknowledgements: false,
            unused_window_grows: false,
            reduces: Reduced::Flight,
        }
    }

    /// Linux: every segment counts, also in slow start, and the window is reduced, not the flight.
    pub const fn linux() -> Self {
        Self {
            slow_start_limit: f64::INFINITY,
            limit_after_timeout: f64::INFINITY,
            reduces: Reduced::Window,
            ..Self::rfc_5681()
        }
    }

    /// Linux 6: as [`Self::linux`], and windows are whole numbers, as in the kernel.
    pub const fn linux_6() -> Self {
        Self { reduces: Reduced::WholeWindow, ..Self::linux() }
    }

    /// ns-3 up to 3.26: acknowledgements count, and the window grows whether it is used or not.
    pub const fn ns3_26() -> Self {
        Self { counts_acknowledgements: true, unused_window_grows: true, ..Self::rfc_5681() }
    }

    /// The threshold after a reduction to `left` segments.
    pub(super) fn threshold(&self, left: f64) -> f64 {
        let whole = self.reduces == Reduced::WholeWindow;
        (if whole { libm::trunc(left) } else { left }).max(MIN_SSTHRESH)
    }

    /// Whether the window may grow at all.
    pub(super) fn applies(&self, ack: &Ack) -> bool {
        ack.window_limited || self.unused_window_grows
    }
}

/// Slow start by the rules of a stack.
#[derive(Clone, Debug, Default)]
pub(super) struct SlowStart {
    pub(super) rules: Rules,
    /// Whether a timeout was the last congestion, and the threshold has not been reached since.
    after_timeout: bool,
}

impl SlowStart {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, after_timeout: false }
    }

    /// Takes an acknowledgement of `acked` segments (RFC 3465 §2.2), which opens the window, at most up to the
    /// threshold. Returns the segments that are left over for congestion avoidance.
    pub(super) fn on_ack(&mut self, window: &mut Window, acked: f64) -> f64 {
        if !window.in_slow_start() {
            self.after_timeout = false;
            return acked;
        }
        let Rules { slow_start_limit, limit_after_timeout, .. } = self.rules;
        let limit = if self.after_timeout { limit_after_timeout } else { slow_start_limit };
        let opened = window.cwnd + acked.min(limit);
        window.cwnd = opened.min(window.ssthresh);
        opened - window.cwnd
    }

    /// Congestion with `flight` segments outstanding: returns the base of the reduction, in segments.
    pub(super) fn on_congestion(&mut self, window: &Window, kind: Congestion, flight: f64) -> f64 {
        self.after_timeout = kind == Congestion::Timeout;
        if self.rules.reduces == Reduced::Flight { flight } else { window.cwnd }
    }

    /// The last congestion was spurious.
    pub(super) fn on_undo(&mut self) {
        self.after_timeout = false;
    }
}

/// Reno's growth: slow start, then one segment more per window acknowledged (RFC 5681 §3.1, RFC 3465 §2.1).
#[derive(Clone, Debug, Default)]
pub(super) struct RenoGrowth {
    slow_start: SlowStart,
    /// Segments acknowledged in congestion avoidance that have not yet opened the window (RFC 3465 §2.1).
    counted: f64,
}

impl RenoGrowth {
    pub(super) fn new(rules: Rules) -> Self {
        Self { slow_start: SlowStart::new(rules), counted: 0.0 }
    }

    /// A new state with the same rules.
    pub(super) fn restarted(&self) -> Self {
        Self::new(self.slow_start.rules)
    }

    /// New data was acknowledged; where congestion avoidance applies, each segment counts `increase` times.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack, increase: impl FnOnce(f64) -> f64) {
        let rules = self.slow_start.rules;
        if !rules.applies(ack) {
            return;
        }
        let rest = self.slow_start.on_ack(window, ack.acked);
        if rest <= 0.0 {
            return;
        }
        let increase = increase(window.cwnd);
        if rules.counts_acknowledgements {
            window.cwnd += increase / window.cwnd; // RFC 5681 eq. (3)
            return;
        }
        // RFC 3465 §2.1: the window opens by a segment once a whole window is acknowledged.
        self.counted += increase * rest;
        if self.counted >= window.cwnd {
            let whole = libm::trunc(self.counted / window.cwnd);
            self.counted -= whole * window.cwnd;
            window.cwnd += whole;
        }
    }

    /// Congestion: forgets the count. Returns the base of the reduction.
    pub(super) fn on_congestion(&mut self, window: &Window, kind: Congestion, flight: f64) -> f64 {
        self.counted = 0.0;
        self.slow_start.on_congestion(window, kind, flight)
    }

    /// The slow-start threshold after a reduction to `left` segments.
    pub(super) fn threshold(&self, left: f64) -> f64 {
        self.slow_start.rules.threshold(left)
    }

    /// The last congestion was spurious. The count from before it stays lost all the same, as in Linux.
    pub(super) fn on_undo(&mut self) {
        self.slow_start.on_undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::test_support::ack;

    #[test]
    fn slow_start_stops_at_the_threshold_and_leaves_the_rest() {
        // 9 + 2 = 11 passes the threshold of 9.5: 1.5 segments are left for congestion avoidance.
        let mut slow_start = SlowStart::default();
        let mut window = Window { cwnd: 9.0, ssthresh: 9.5 };
        assert_eq!(slow_start.on_ack(&mut window, 2.0), 1.5);
        assert_eq!(window.cwnd, 9.5);
        assert_eq!(slow_start.on_ack(&mut window, 2.0), 2.0);
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
            assert_eq!(SlowStart::new(rules).on_ack(&mut window, 5.0), 0.0);
            assert_eq!(window.cwnd, opened);
        }
    }

    #[test]
    fn after_a_timeout_one_segment_opens_the_window_until_the_threshold_is_reached() {
        for (rules, opened) in [(Rules::default(), 2.0), (Rules::rfc_5681(), 2.0), (Rules::linux(), 6.0)] {
            let mut slow_start = SlowStart::new(rules);
            let mut window = Window { cwnd: 1.0, ssthresh: 8.0 };
            slow_start.on_congestion(&window, Congestion::Timeout, 16.0);
            slow_start.on_ack(&mut window, 5.0);
            assert_eq!(window.cwnd, opened);
        }
        let mut slow_start = SlowStart::default();
        let mut window = Window { cwnd: 1.0, ssthresh: 2.0 };
        slow_start.on_congestion(&window, Congestion::Timeout, 4.0);
        for _ in 0..2 {
            slow_start.on_ack(&mut window, 5.0);
        }
        // Slow start after an idle time is a different case.
        window = Window { cwnd: 10.0, ssthresh: 20.0 };
        slow_start.on_ack(&mut window, 5.0);
        assert_eq!(window.cwnd, 12.0);
    }

    /// Growth of a window of 20 in a round trip of 20 segments, acknowledged two by two.
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
