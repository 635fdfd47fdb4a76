//! HighSpeed TCP: the larger the window, the faster it grows and the less congestion takes (RFC 3649).
//!
//! Variants: `a(w)` and `b(w)` by their formulas, or from the RFC's table as Linux and ns-3 do, which rounds `a(w)` up.
//!
//! Divergences from RFC 3649:
//! 1. Never less than Reno's one segment per round trip, though the formula dips to 0.97 just above `Low_Window`; the
//!    program of the RFC's appendix C does the same.
//! 2. Congestion reduces what is in flight (RFC 5681 eq. (4)), unless the [`Rules`] say otherwise.
//! 3. `a(w)` is computed once per whole segment of the window.

use crate::time::SendTime;
use crate::window::rules::{RenoGrowth, Rules};
use crate::window::{Ack, Congestion, Window, WindowAlgorithm};

/// `Low_Window` in segments: up to here HighSpeed TCP is Reno (RFC 3649 §5).
const LOW_WINDOW: f64 = 38.0;

/// `High_Window` in segments (RFC 3649 §5).
const HIGH_WINDOW: f64 = 83_000.0;

/// `High_Decrease`, the decrease at `High_Window` (RFC 3649 §5).
const HIGH_DECREASE: f64 = 0.1;

/// The decrease of Reno.
const LOW_DECREASE: f64 = 0.5;

/// The windows of the RFC's table in segments: up to the first one `a(w)` is 1, up to the second 2, and so on (RFC 3649
/// appendix B, table 12).
const TABLE: [u32; 73] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596,
    5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10_661, 11_358, 12_082, 12_834, 13_614,
    14_424, 15_265, 16_137, 17_042, 17_981, 18_955, 19_965, 21_013, 22_101, 23_230, 24_402, 25_618, 26_881,
    28_193, 29_557, 30_975, 32_450, 33_986, 35_586, 37_253, 38_992, 40_808, 42_707, 44_694, 46_776, 48_961,
    51_258, 53_677, 56_230, 58_932, 61_799, 64_851, 68_113, 71_617, 75_401, 79_517, 84_035, 89_053, 94_717,
];

/// Source of `a(w)` and `b(w)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Response {
    /// The formulas of RFC 3649 §5.
    #[default]
    Formula,
    /// The table of RFC 3649 appendix B, with its rounding.
    Table,
}

/// The HighSpeed window algorithm.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    response: Response,
    growth: RenoGrowth,
    /// `a(w)` and the whole number of segments that it was computed for.
    increase: (f64, f64),
}

/// Initial value, which is of no window.
const UNKNOWN: (f64, f64) = (1.0, 0.0);

impl Default for HighSpeed {
    fn default() -> Self {
        Self::with_rules(Response::Formula, Rules::default())
    }
}

impl HighSpeed {
    /// The algorithm by the RFC's formulas, at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The algorithm by the rules of a stack.
    pub fn with_rules(response: Response, rules: Rules) -> Self {
        Self { response, growth: RenoGrowth::new(rules), increase: UNKNOWN }
    }
}

impl Response {
    /// `a(w)`: segments by which a window of `w` grows per round trip.
    fn increase(self, w: f64) -> f64 {
        if w <= LOW_WINDOW {
            return 1.0;
        }
        match self {
            Self::Formula => {
                let p = 0.078 / libm::pow(w, 1.2); // RFC 3649 §5, from eq. (1)
                let b = decrease(w);
                (w * w * p * 2.0 * b / (2.0 - b)).max(1.0) // eq. (2)
            }
            Self::Table => (row(w) + 1) as f64,
        }
    }

    /// `b(w)`: the share by which congestion reduces a window of `w`.
    fn decrease(self, w: f64) -> f64 {
        match self {
            Self::Formula => decrease(w),
            Self::Table => libm::round(decrease(f64::from(TABLE[row(w)])) * 100.0) / 100.0,
        }
    }
}

/// `b(w)` (RFC 3649 §5, eq. (3)); a window beyond `High_Window` loses no less than one of that size.
fn decrease(w: f64) -> f64 {
    let share =
        libm::log(w.clamp(LOW_WINDOW, HIGH_WINDOW) / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    LOW_DECREASE + (HIGH_DECREASE - LOW_DECREASE) * share
}

/// The row of the table that a window of `w` segments falls into.
fn row(w: f64) -> usize {
    TABLE.partition_point(|&limit| f64::from(limit) < w).min(TABLE.len() - 1)
}

impl WindowAlgorithm for HighSpeed {
    fn reset(&mut self) {
        self.growth = self.growth.restarted();
        self.increase = UNKNOWN;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let (response, cached) = (self.response, &mut self.increase);
        self.growth.on_ack(window, ack, |cwnd| {
            let whole = libm::floor(cwnd);
            if cached.1 != whole {
                *cached = (response.increase(whole), whole);
            }
            cached.0
        });
    }

    fn on_congestion(&mut self, window: &mut Window, _now: SendTime, kind: Congestion, flight: f64) {
        let reduced = self.growth.on_congestion(window, kind, flight);
        let left = (1.0 - self.response.decrease(reduced)) * reduced;
        let left = if self.response == Response::Table { libm::floor(left) } else { left };
        window.ssthresh = self.growth.threshold(left);
        window.cwnd = window.ssthresh;
    }

    fn on_undo(&mut self, _window: &mut Window, _now: SendTime) {
        self.growth.on_undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::test_support::ack;

    /// Whether `value` is `expected` within `tolerance`.
    fn close(value: f64, expected: f64, tolerance: f64) -> bool {
        (value - expected).abs() <= tolerance
    }

    #[test]
    fn formulas_meet_the_rfcs_table() {
        // RFC 3649 appendix B: window, a(w) there, b(w) there; a(w) with 0.078 instead of 1/12.8 is a little less.
        for (w, a, b) in [
            (118.0, 2.01, 0.441),
            (221.0, 3.00, 0.408),
            (347.0, 4.01, 0.385),
            (1058.0, 8.01, 0.327),
            (5036.0, 20.0, 0.246),
            (9991.0, 29.0, 0.210),
            (83_000.0, 70.7, 0.100),
        ] {
            assert!(
                close(Response::Formula.increase(w), a, 0.005 * a),
                "a({w}) = {}",
                Response::Formula.increase(w)
            );
            assert!(
                close(Response::Formula.decrease(w), b, 0.0005),
                "b({w}) = {}",
                Response::Formula.decrease(w)
            );
        }
    }

    #[test]
    fn table_is_what_the_rfcs_program_prints() {
        // Appendix B, table 13: a row begins where a(w), with 1/12.8 for 0.078, exceeds the row before by more than 1.
        let (mut last, mut rows) = (1.0, vec![38]);
        for w in 38..100_000 {
            let b = LOW_DECREASE
                + (HIGH_DECREASE - LOW_DECREASE) * libm::log(f64::from(w) / 38.0)
                    / libm::log(83_000.0 / 38.0);
            let w2 = f64::from(w) * f64::from(w);
            let a = w2 * 2.0 * b / ((2.0 - b) * libm::pow(f64::from(w), 1.2) * 12.8);
            if a > last + 1.0 {
                rows.push(w);
                last = a;
            }
        }
        assert_eq!(rows, TABLE);
    }

    #[test]
    fn table_rounds_the_increase_up_and_the_decrease_to_hundredths() {
        let table = Response::Table;
        let increases = [38.0, 39.0, 118.0, 119.0, 221.0, 222.0, 1e6].map(|w| table.increase(w));
        assert_eq!(increases, [1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 73.0]);
        let decreases = [10.0, 100.0, 200.0, 300.0, 400.0, 600.0, 1700.0].map(|w| table.decrease(w));
        assert_eq!(decreases, [0.5, 0.44, 0.41, 0.38, 0.37, 0.35, 0.30]);
    }

    #[test]
    fn small_windows_are_renos() {
        let mut algorithm = HighSpeed::new();
        let mut window = Window { cwnd: 30.0, ssthresh: 30.0 };
        for _ in 0..15 {
            algorithm.on_ack(&mut window, &ack(0, 2.0));
        }
        assert_eq!(window.cwnd, 31.0);
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 30.0);
        assert_eq!(window, Window { cwnd: 15.0, ssthresh: 15.0 });
    }

    #[test]
    fn large_windows_grow_by_many_segments_per_round_trip_and_lose_less() {
        // a(347) = 4.01: 351 segments acknowledged, counted four times, make 1407.5; windows of 347, 348, 349 and 350 take
        // 1394 of them, 351 more are not there.
        let mut algorithm = HighSpeed::new();
        let mut window = Window { cwnd: 347.0, ssthresh: 300.0 };
        for _ in 0..351 {
            algorithm.on_ack(&mut window, &ack(0, 1.0));
        }
        assert_eq!(window.cwnd, 351.0);
        // b(347) = 0.385: 347 · 0.615 = 213.4.
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 347.0);
        assert!(close(window.cwnd, 213.4, 0.2), "{}", window.cwnd);
    }

    #[test]
    fn table_leaves_whole_segments() {
        // 101 · 0.56 = 56.56.
        let mut window = Window { cwnd: 101.0, ssthresh: f64::INFINITY };
        let mut algorithm = HighSpeed::with_rules(Response::Table, Rules::ns3_26());
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 101.0);
        assert_eq!(window.ssthresh, 56.0);
    }
}
