//! A stage of congestion avoidance, in which the window follows the cubic function.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// `C` in segments/s³ (RFC 9438 §5).
pub(super) const C: f64 = 0.4;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    /// `t_epoch`, later by the time in which the application limited sending.
    pub(super) start: SendTime,
    /// `K`, the time in seconds at which the cubic function reaches `w_max`.
    pub(super) k: f64,
    /// `W_max` in segments.
    pub(super) w_max: f64,
    /// `W_est`, the window of Reno in this epoch, in segments.
    pub(super) w_est: f64,
}

impl Epoch {
    /// Begins an epoch at a window of `cwnd`. `duration` computes `K` from the segments up to `w_max`.
    pub(super) fn begin(start: SendTime, cwnd: f64, w_max: f64, duration: impl FnOnce(f64) -> f64) -> Self {
        let w_max = w_max.max(cwnd);
        Self { start, k: duration(w_max - cwnd), w_max, w_est: cwnd }
    }

    /// `W_cubic(t)` in segments, `t` in seconds (RFC 9438 §4.2, figure 1).
    pub(super) fn w_cubic(&self, t: f64) -> f64 {
        let from_k = t - self.k;
        C * from_k * from_k * from_k + self.w_max
    }

    /// Excludes `time` from the epoch.
    pub(super) fn leave_out(&mut self, time: TimeDelta) {
        self.start += time;
    }
}

/// `K`: time in seconds in which the cubic function rises to `W_max`, `segments` above the beginning of an epoch (RFC
/// 9438 §4.2, figure 2).
pub(super) fn k(segments: f64) -> f64 {
    libm::cbrt(segments / C)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor of the multiplicative decrease.
    const BETA: f64 = 0.7;

    /// Whether `value` is `expected` within `tolerance`.
    fn close(value: f64, expected: f64, tolerance: f64) -> bool {
        (value - expected).abs() <= tolerance
    }

    #[test]
    fn k_is_the_cube_root_of_the_reduction_over_c() {
        // W_max 100, reduced to 70: cbrt(30 / 0.4) = cbrt(75) = 4.217 s.
        for (w_max, expected) in [(20.0, 2.466), (50.0, 3.347), (100.0, 4.217), (200.0, 5.313)] {
            let epoch = Epoch::begin(SendTime::ZERO, BETA * w_max, w_max, k);
            assert!(close(epoch.k, expected, 0.0005), "{w_max}: {}", epoch.k);
        }
    }

    #[test]
    fn cubic_function_passes_the_reduced_window_and_w_max() {
        // K = 4.217: W(0) = 100 - 0.4 · 75 = 70; W(K) = 100; W(K + 1) = 100.4; W(2) = 100 - 0.4 · 2.217³ = 95.64.
        let epoch = Epoch::begin(SendTime::ZERO, 70.0, 100.0, k);
        assert!(close(epoch.w_cubic(0.0), 70.0, 1e-9));
        assert!(close(epoch.w_cubic(epoch.k), 100.0, 1e-9));
        assert!(close(epoch.w_cubic(epoch.k + 1.0), 100.4, 1e-9));
        assert!(close(epoch.w_cubic(2.0), 95.64, 0.01));
    }
}
