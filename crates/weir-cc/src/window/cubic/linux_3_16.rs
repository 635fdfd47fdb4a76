//! The CUBIC of Linux 3.16 (`net/ipv4/tcp_cubic.c` of 3.10 and 3.18, which agree). Windows are whole, the cubic
//! function is evaluated one smallest round-trip time ahead, and a number of acknowledgements opens the window by a
//! segment.
//!
//! Divergences from Linux 3.16:
//! 1. Time is not rounded to ticks; `C` is 0.4 and not 410/1024; `K` comes from an exact cube root.
//! 2. Slow start ends at the threshold; Linux goes on to one segment beyond it, also after each recovery.
//! 3. The smallest round-trip time is that of the whole connection; Linux measures it anew after a timeout.
//! 4. Time in which the application limits sending does not count, as in RFC 9438; Linux began to leave out idle time
//!    in 4.3.

use weir_units::TimeDelta;

use super::epoch::{C, Epoch};
use crate::time::SendTime;
use crate::window::{Ack, Congestion, Window};

/// Acknowledgements per segment of the window after which `W_est` grows by a segment (`beta_scale` / 8): 1 / 0.533.
const PER_ESTIMATE: f64 = 15.0 / 8.0;

/// Upper bound of the acknowledgements for one more segment before the first loss: growth of 5 % per round trip at
/// least.
const MAX_PACE_BEFORE_LOSS: f64 = 20.0;

/// Time for which the pace is kept while the window stays the same (`HZ / 32`).
const PACE_TIME: TimeDelta = TimeDelta::from_micros(31_250);

/// Initial number of segments per acknowledgement (`delayed_ack`).
const INITIAL_RATIO: f64 = 2.0;

/// State of the algorithm in Linux.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linux316 {
    /// Acknowledgements that open the window by a segment (`cnt`).
    pace: f64,
    /// Acknowledgements since the window last opened (`snd_cwnd_cnt`).
    counted: f64,
    /// Window in segments for which `pace` holds, and the time since which it holds.
    paced: (f64, SendTime),
    /// Acknowledgements that have not yet brought `W_est` a segment (`ack_cnt`).
    unspent: f64,
    /// Smoothed number of segments per acknowledgement (`delayed_ack`).
    ratio: f64,
}

impl Linux316 {
    pub(super) fn new() -> Self {
        Self { pace: 1.0, counted: 0.0, paced: (0.0, SendTime::ZERO), unspent: 0.0, ratio: INITIAL_RATIO }
    }

    /// Takes in an acknowledgement of `acked` segments, also one that opens no window.
    pub(super) fn count_segments(&mut self, acked: f64) {
        self.ratio = (self.ratio + (acked - self.ratio) / 16.0).clamp(1.0 / 16.0, 32.0);
    }

    /// Resets the counts after congestion.
    pub(super) fn on_congestion(&mut self, kind: Congestion) {
        let ratio = if kind == Congestion::Timeout { INITIAL_RATIO } else { self.ratio };
        *self = Self { ratio, ..Self::new() };
    }

    /// Takes in an acknowledgement in congestion avoidance. `lossless` says that no loss has given a maximum since
    /// the beginning or the last timeout.
    pub(super) fn avoid_congestion(
        &mut self,
        window: &mut Window,
        ack: &Ack,
        epoch: &mut Epoch,
        lossless: bool,
    ) {
        self.unspent += 1.0;
        let (cwnd, since) = self.paced;
        if cwnd != window.cwnd || ack.now - since > PACE_TIME {
            self.paced = (window.cwnd, ack.now);
            self.pace = self.pace_at(window.cwnd, ack, epoch, lossless);
        }
        if self.counted >= self.pace {
            window.cwnd += 1.0;
            self.counted = 0.0;
        } else {
            self.counted += 1.0;
        }
    }

    fn pace_at(&mut self, cwnd: f64, ack: &Ack, epoch: &mut Epoch, lossless: bool) -> f64 {
        let from_k = (ack.now - epoch.start + ack.min_rtt).secs_f64() - epoch.k;
        let target = epoch.w_max + libm::trunc(C * from_k * from_k * from_k);
        let mut segments = if target > cwnd { libm::trunc(cwnd / (target - cwnd)) } else { 100.0 * cwnd };
        if lossless {
            segments = segments.min(MAX_PACE_BEFORE_LOSS);
        }
        let per_estimate = libm::trunc(cwnd * PER_ESTIMATE).max(1.0);
        while self.unspent > per_estimate {
            self.unspent -= per_estimate;
            epoch.w_est += 1.0;
        }
        // Reno would have a larger window: the pace is at least Reno's.
        if epoch.w_est > cwnd {
            segments = segments.min(libm::trunc(cwnd / (epoch.w_est - cwnd)));
        }
        libm::trunc(segments / self.ratio).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cubic;
    use super::*;
    use crate::window::WindowAlgorithm;

    const INFINITE: f64 = f64::INFINITY;

    /// An acknowledgement of two segments; times in µs.
    fn ack(at: i64, rtt: i64) -> Ack {
        let rtt = TimeDelta::from_micros(rtt);
        Ack {
            now: SendTime::from_nanos(1000 * at),
            acked: 2.0,
            srtt: rtt * 5,
            min_rtt: rtt,
            window_limited: true,
        }
    }

    /// The algorithm and its window after a loss at `cwnd` segments.
    fn after_loss(cwnd: f64) -> (Cubic, Window) {
        let mut algorithm = Cubic::linux_3_16(None);
        let mut window = Window { cwnd, ssthresh: INFINITE };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, cwnd);
        (algorithm, window)
    }

    /// Number of acknowledgements, `gap` µs apart, until the window opens; at most 1000.
    fn until_it_opens(algorithm: &mut Cubic, window: &mut Window, from: i64, gap: i64, rtt: i64) -> i64 {
        let before = window.cwnd;
        let opens = |&number: &i64| {
            algorithm.on_ack(window, &ack(from + gap * number, rtt));
            window.cwnd > before
        };
        (0..1000).find(opens).expect("it opens") + 1
    }

    #[test]
    fn reductions_leave_whole_windows() {
        // 101 · 717 / 1024 = 70.7. Fast convergence: 90 · 1741 / 2048 = 76.5.
        let (mut algorithm, mut window) = after_loss(101.0);
        assert_eq!(window, Window { cwnd: 70.0, ssthresh: 70.0 });
        window.cwnd = 90.0;
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 90.0);
        assert_eq!((window.cwnd, algorithm.w_max), (63.0, 76.0));
    }

    #[test]
    fn without_a_loss_the_window_grows_by_five_per_cent_per_round_trip() {
        // Slow start left at 40: 20 segments bring one more, which are 10 acknowledgements, and the next opens the window.
        let mut algorithm = Cubic::linux_3_16(None);
        let mut window = Window { cwnd: 40.0, ssthresh: 40.0 };
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 0, 1000, 100_000), 11);
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 11_000, 1000, 100_000), 11);
        // A timeout forgets the maximum.
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Timeout, 42.0);
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 1_000_000, 1000, 100_000), 11);
    }

    #[test]
    fn acknowledgements_are_weighed_by_the_segments_that_they_bring() {
        // One segment each: after 64 acknowledgements the ratio is 1 + (15/16)^64 = 1.016, and 20 / 1.016 makes 19.
        let mut algorithm = Cubic::linux_3_16(None);
        let mut window = Window { cwnd: 40.0, ssthresh: 40.0 };
        let mut opened = Vec::new();
        for number in 0..200 {
            let before = window.cwnd;
            algorithm.on_ack(&mut window, &Ack { acked: 1.0, ..ack(1000 * number, 100_000) });
            if window.cwnd > before {
                opened.push(number);
            }
        }
        let last = &opened[opened.len() - 2..];
        assert_eq!(last[1] - last[0], 20, "{opened:?}");
    }

    #[test]
    fn cubic_function_is_looked_at_one_smallest_round_trip_ahead() {
        // W_max 1000, cwnd 700: K = cbrt(300 / 0.4) = 9.0856 s. At t = 1 s: 1000 - ⌊0.4 · 7.9856³⌋ = 1000 - 203 = 797,
        // ⌊700 / 97⌋ = 7 segments, 3 acknowledgements, and the next opens the window.
        let (mut algorithm, mut window) = after_loss(1000.0);
        algorithm.on_ack(&mut window, &ack(0, 100_000));
        assert_eq!(window.cwnd, 700.0);
        assert_eq!(
            until_it_opens(&mut algorithm, &mut window, 1_000_000, 10, 100_000),
            3,
            "one was counted before"
        );
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 1_000_030, 10, 100_000), 4);
    }

    #[test]
    fn reno_friendly_growth_counts_acknowledgements() {
        // From W_max 100 on the cubic function gains less than a segment in the first second. 1000 acknowledgements of two
        // segments make W_est 100 + 1000 / 187…196 = 105; the RFC would be at 100 + 0.529 · 2000 / 105 = 110.
        let (mut algorithm, mut window) = after_loss(100.0);
        window.cwnd = 100.0;
        for number in 0..1000 {
            algorithm.on_ack(&mut window, &ack(1000 * number, 1000));
        }
        assert!((104.0..=105.0).contains(&window.cwnd), "{window:?}");
    }

    #[test]
    fn an_acknowledgement_opens_the_window_by_a_segment_at_most() {
        // Far beyond K each second acknowledgement opens the window: one is counted, the next finds the count reached.
        let (mut algorithm, mut window) = after_loss(100.0);
        algorithm.on_ack(&mut window, &ack(0, 100_000));
        for number in 0..20 {
            algorithm.on_ack(&mut window, &ack(60_000_000 + number, 100_000));
        }
        assert_eq!(window.cwnd, 80.0);
    }
}
