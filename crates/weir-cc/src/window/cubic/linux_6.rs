//! The CUBIC of Linux 6 (`net/ipv4/tcp_cubic.c`, unchanged since 5.16): whole windows and whole ticks. A number of
//! acknowledged *segments* opens the window by a segment.
//!
//! Divergences from Linux 6:
//! 1. `K` comes from an exact cube root; the kernel's is within 0.2 %.
//! 2. A tick is 4 ms (250 per second, as Debian and Ubuntu configured it for long and the measured kernel has it).

use weir_units::TimeDelta;

use super::epoch::Epoch;
use crate::time::SendTime;
use crate::window::{Congestion, Window};

/// `C` in segments/s³ (`bic_scale` · 10 / 1024).
const C: f64 = 410.0 / 1024.0;

/// Acknowledged segments per segment of the window and eight of them after which `W_est` grows by a segment
/// (`beta_scale`): 15/8 or 1 / 0.533.
const PER_ESTIMATE: f64 = 15.0 / 8.0;

/// Upper bound of the acknowledged segments for one more segment before the first loss: growth of 5 % per round trip
/// at least.
const MAX_PACE_BEFORE_LOSS: f64 = 20.0;

/// Lower bound of the acknowledged segments that open the window by a segment.
const MIN_PACE: f64 = 2.0;

/// Ticks per second (`HZ`).
const TICKS: i64 = 250;

/// Ticks for which the pace is kept while the window stays the same (`HZ / 32`).
const PACE_TICKS: i64 = TICKS / 32;

/// Units per second of the kernel's clock of the cubic function (`BICTCP_HZ`).
const PARTS: f64 = 1024.0;

/// State of the algorithm in Linux.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Linux6 {
    /// Acknowledged segments that open the window by one (`cnt`).
    pace: f64,
    /// Segments acknowledged since the window last opened (`snd_cwnd_cnt`).
    counted: f64,
    /// Window in segments for which `pace` holds (`last_cwnd`), and the tick since which it holds (`last_time`).
    paced: (f64, i64),
    /// Acknowledged segments that have not yet brought `W_est` a segment (`ack_cnt`).
    unspent: f64,
}

/// An acknowledgement in congestion avoidance.
#[derive(Clone, Copy, Debug)]
pub(super) struct AvoidanceStep {
    pub(super) now: SendTime,
    /// Segments acknowledged.
    pub(super) acked: f64,
    /// `W_max` in segments; zero if no loss has given it since the beginning or the last timeout.
    pub(super) w_max: f64,
    /// Time by which the cubic function is evaluated ahead of now.
    pub(super) ahead: TimeDelta,
}

impl Linux6 {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Resets the count after congestion, and the whole state after a timeout.
    pub(super) fn on_congestion(&mut self, kind: Congestion) {
        self.counted = 0.0;
        if kind == Congestion::Timeout {
            *self = Self::new();
        }
    }

    /// Takes an acknowledgement in congestion avoidance.
    pub(super) fn avoid_congestion(
        &mut self,
        window: &mut Window,
        epoch: &mut Option<Epoch>,
        step: &AvoidanceStep,
    ) {
        self.unspent += step.acked;
        let (cwnd, since) = self.paced;
        if cwnd != window.cwnd || ticks(step.now) - since > PACE_TICKS {
            self.set_pace(window.cwnd, epoch, step);
        }
        self.open(window, step.acked);
    }

    fn set_pace(&mut self, cwnd: f64, epoch: &mut Option<Epoch>, step: &AvoidanceStep) {
        let tick = ticks(step.now);
        // The cubic function is evaluated once per tick, except where an epoch begins.
        let looks = epoch.is_none() || self.paced.1 != tick;
        let epoch = epoch.get_or_insert_with(|| {
            self.unspent = step.acked;
            Epoch::begin(step.now, cwnd, step.w_max, k)
        });
        if looks {
            self.paced = (cwnd, tick);
            let pace = cubic_pace(cwnd, tick, epoch, step.ahead);
            self.pace = if step.w_max > 0.0 { pace } else { pace.min(MAX_PACE_BEFORE_LOSS) };
        }
        self.count_estimate(cwnd, epoch);
        // Reno would have a larger window: the pace is at least Reno's.
        if epoch.w_est > cwnd {
            self.pace = self.pace.min(libm::trunc(cwnd / (epoch.w_est - cwnd)));
        }
        self.pace = self.pace.max(MIN_PACE);
    }

    /// Lets `W_est` grow with the acknowledged segments.
    fn count_estimate(&mut self, cwnd: f64, epoch: &mut Epoch) {
        let per_estimate = libm::trunc(cwnd * PER_ESTIMATE).max(1.0);
        if self.unspent > per_estimate {
            // The greatest whole number of times that leaves a remainder above zero.
            let gained = libm::ceil(self.unspent / per_estimate) - 1.0;
            self.unspent -= gained * per_estimate;
            epoch.w_est += gained;
        }
    }

    /// Opens the window by the counted segments (`tcp_cong_avoid_ai`). A count for a slower pace opens it by one
    /// segment only.
    fn open(&mut self, window: &mut Window, acked: f64) {
        if self.counted >= self.pace {
            self.counted = 0.0;
            window.cwnd += 1.0;
        }
        self.counted += acked;
        if self.counted >= self.pace {
            let opened = libm::trunc(self.counted / self.pace);
            self.counted -= opened * self.pace;
            window.cwnd += opened;
        }
    }
}

/// Acknowledged segments that open the window by one by the cubic function, at this tick of the clock.
fn cubic_pace(cwnd: f64, tick: i64, epoch: &Epoch, ahead: TimeDelta) -> f64 {
    let since = tick - ticks(epoch.start) + ticks_up(ahead);
    let from_k = libm::floor(since as f64 * PARTS / TICKS as f64) / PARTS - epoch.k;
    let target = epoch.w_max + libm::trunc(C * from_k * from_k * from_k);
    if target > cwnd { libm::trunc(cwnd / (target - cwnd)) } else { 100.0 * cwnd }
}

/// `K` in whole parts of a second, in seconds.
fn k(segments: f64) -> f64 {
    libm::floor(libm::cbrt(segments / C) * PARTS) / PARTS
}

const TICK: TimeDelta = TimeDelta::from_micros(1_000_000 / TICKS);

/// Whole ticks since the clock began.
fn ticks(time: SendTime) -> i64 {
    time.nanos().div_euclid(TICK.nanos())
}

/// The ticks that a time takes, a begun one counting whole (`usecs_to_jiffies`).
fn ticks_up(time: TimeDelta) -> i64 {
    time.nanos().div_euclid(TICK.nanos()) + i64::from(time.nanos().rem_euclid(TICK.nanos()) > 0)
}

#[cfg(test)]
mod tests {
    use super::super::Cubic;
    use super::*;
    use crate::window::test_support::delivery;
    use crate::window::{Ack, Delivery, WindowAlgorithm};

    /// The algorithm and its window after a loss at `cwnd` segments; round trips took 100 ms at least.
    fn after_loss(cwnd: f64) -> (Cubic, Window) {
        let (mut algorithm, mut window) = lossless(cwnd);
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, cwnd);
        (algorithm, window)
    }

    /// The same after a slow start that ended at `cwnd` without a loss.
    fn lossless(cwnd: f64) -> (Cubic, Window) {
        let mut algorithm = Cubic::linux_6(None);
        let mut window = Window { cwnd, ssthresh: cwnd };
        algorithm.on_delivery(&mut window, &delivery(0, 1.0, cwnd));
        (algorithm, window)
    }

    /// An acknowledgement of `acked` segments arrives at `ms`.
    fn acknowledge(algorithm: &mut Cubic, window: &mut Window, ms: i64, acked: f64) {
        let rtt = TimeDelta::from_millis(500); // smoothed and of the handshake: neither is looked at
        let now = SendTime::from_millis(ms);
        algorithm.on_ack(window, &Ack { now, acked, srtt: rtt, min_rtt: rtt, window_limited: true });
    }

    /// Number of segments, acknowledged one by one every `gap` ms from `from` on, until the window opens; at most 1000.
    fn until_it_opens(algorithm: &mut Cubic, window: &mut Window, from: i64, gap: i64) -> i64 {
        let before = window.cwnd;
        let opens = |&number: &i64| {
            acknowledge(algorithm, window, from + gap * number, 1.0);
            window.cwnd > before
        };
        (0..1000).find(opens).expect("it opens") + 1
    }

    #[test]
    fn reductions_leave_whole_windows() {
        // 33 · 717 / 1024 = 23.1. The same window again is no less than W_max 33, one less is: 32 · 1741 / 2048 = 27.2.
        let (mut algorithm, mut window) = after_loss(33.0);
        assert_eq!((window.cwnd, window.ssthresh, algorithm.w_max), (23.0, 23.0, 33.0));
        for (cwnd, w_max) in [(33.0, 33.0), (32.0, 27.0)] {
            window.cwnd = cwnd;
            algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, cwnd);
            assert_eq!(algorithm.w_max, w_max);
        }
    }

    #[test]
    fn before_a_loss_the_window_grows_by_five_per_cent_per_round_trip() {
        // 20 segments bring one more, however acknowledgements group them.
        let (mut algorithm, mut window) = lossless(56.0);
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 0, 5), 20);
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 100, 5), 20);
        for number in 0..10 {
            acknowledge(&mut algorithm, &mut window, 200 + 5 * number, 2.0);
        }
        assert_eq!(window.cwnd, 59.0);
    }

    #[test]
    fn k_is_the_time_in_which_the_reduction_is_regained() {
        // 10 segments: cbrt(10 · 1024 / 410) = 2.9231 s = 2993.2 parts; 30: 4.2158 s = 4316.97 parts.
        assert_eq!([k(10.0), k(30.0)].map(|k| k * PARTS), [2993.0, 4316.0]);
    }

    #[test]
    fn whole_segments_of_the_cubic_function_bring_the_last_maximum_back_before_k() {
        // W_max 33, window 23, K = 2993 parts. W_max - ⌊0.4004 · d³⌋ reaches 33 once d is below cbrt(1 / 0.4004) = 1.357 s,
        // that is 2.9229 - 1.357 = 1.566 s after the beginning, looked at 100 ms ahead.
        let epoch = Epoch { start: SendTime::ZERO, k: 2993.0 / PARTS, w_max: 33.0, w_est: 23.0 };
        let pace =
            |ms| cubic_pace(32.0, ticks(SendTime::from_millis(ms)), &epoch, TimeDelta::from_millis(100));
        assert_eq!(pace(1464), 3200.0);
        assert_eq!(pace(1468), 32.0);
    }

    #[test]
    fn cubic_function_is_looked_at_one_least_round_trip_ahead() {
        // W_max 1000, window 700: K = cbrt(300 · 1024 / 410) = 9.0825 s = 9300 parts. At 1 s, 250 ticks and 25 more:
        // 1126 parts; 8174 / 1024 = 7.9824 s before K, ⌊0.4004 · 508.63⌋ = 203: 797, ⌊700 / 97⌋ = 7 segments.
        let (mut algorithm, mut window) = after_loss(1000.0);
        acknowledge(&mut algorithm, &mut window, 0, 1.0);
        assert_eq!(window.cwnd, 700.0);
        // A segment was counted before.
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 1000, 0), 6);
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 1000, 0), 7);
    }

    #[test]
    fn estimate_of_reno_grows_by_a_segment_per_fifteen_eighths_of_a_window() {
        // From W_max 100 on the cubic function gains nothing within a second. ⌊100 · 15 / 8⌋ = 187 segments and one beyond
        // make W_est 101: then 100 more open the window, if what was counted on the way does not open it at once.
        let (mut algorithm, mut window) = after_loss(100.0);
        window.cwnd = 100.0;
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 0, 1), 193);
        assert_eq!(window.cwnd, 101.0);
    }

    #[test]
    fn estimate_goes_on_beyond_the_last_maximum_as_before() {
        // W_max 10, window 7, round trips of 100 ms: K = 1.957 s. The kernel was measured to gain 17 segments in 1.88 s, 0.53
        // per round trip counted in whole windows.
        let (mut algorithm, mut window) = after_loss(10.0);
        let mut rounds = 0;
        while window.cwnd < 24.0 && rounds < 100 {
            for number in 0..window.cwnd as i64 {
                acknowledge(&mut algorithm, &mut window, 50 * rounds + 4 * number, 1.0);
            }
            rounds += 1;
        }
        assert!((30..=42).contains(&rounds), "{rounds} round trips of 50 ms");
    }

    #[test]
    fn window_grows_by_half_per_round_trip_at_most() {
        // Far beyond K each second segment opens the window.
        let (mut algorithm, mut window) = after_loss(100.0);
        acknowledge(&mut algorithm, &mut window, 0, 1.0);
        for number in 0..20 {
            acknowledge(&mut algorithm, &mut window, 60_000 + 4 * number, 2.0);
        }
        assert_eq!(window.cwnd, 90.0);
    }

    #[test]
    fn acknowledgements_counted_for_a_slower_growth_open_the_window_once() {
        let mut counts = Linux6 { pace: 4.0, counted: 90.0, ..Linux6::new() };
        let mut window = Window { cwnd: 50.0, ssthresh: 50.0 };
        counts.open(&mut window, 2.0);
        assert_eq!((window.cwnd, counts.counted), (51.0, 2.0));
        // Two more make 4, which is the pace; nine make two and one left.
        counts.open(&mut window, 2.0);
        counts.open(&mut window, 9.0);
        assert_eq!((window.cwnd, counts.counted), (54.0, 1.0));
    }

    #[test]
    fn timeout_forgets_all_that_was_counted() {
        let (mut algorithm, mut window) = after_loss(100.0);
        acknowledge(&mut algorithm, &mut window, 0, 5.0);
        algorithm.on_congestion(&mut window, SendTime::from_millis(1000), Congestion::Timeout, 70.0);
        // Slow start ended at 49: the maximum is forgotten, and 20 segments bring one.
        window.cwnd = 49.0;
        let rtt = Some(TimeDelta::from_millis(100));
        algorithm.on_delivery(&mut window, &Delivery { rtt, ..delivery(2000, 1.0, 49.0) });
        assert_eq!(until_it_opens(&mut algorithm, &mut window, 2000, 1), 20);
    }
}
