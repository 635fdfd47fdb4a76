//! CUBIC: the window follows a cubic function of the time since the last congestion (RFC 9438).
//!
//! Variants: RFC 9438, and the forms of Linux 3.16 and Linux 6 in whole numbers, each with divergences of its own
//! (`linux_3_16.rs`, `linux_6.rs`).
//!
//! Divergences from RFC 9438:
//! 1. No HyStart++: slow start ends at congestion or at `ssthresh`, or with [HyStart](super::hystart) if asked for.
//! 2. Where an epoch begins above `W_max`, `W_max` becomes the window (the RFC is silent; Linux does so).

mod epoch;
mod form;
mod linux_3_16;
mod linux_6;

use weir_units::TimeDelta;

use crate::time::SendTime;
use crate::window::hystart::HyStart;
use crate::window::rules::{Rules, SlowStart};
use crate::window::{Ack, Congestion, Delivery, MIN_SSTHRESH, Window, WindowAlgorithm};

use epoch::{Epoch, k};
use form::AvoidanceForm;
use linux_6::AvoidanceStep;

/// Time after the beginning of an epoch, right after a recovery, in which round-trip samples are no measure of the path
/// (`bictcp_acked`).
const IGNORED_TIME: TimeDelta = TimeDelta::from_secs(1);

/// `β_cubic`, the factor of the multiplicative decrease (RFC 9438 §4.6).
const BETA: f64 = 0.7;

/// `α_cubic` in segments per round trip: with `β_cubic` as fast as Reno on average (RFC 9438 §4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// Limit of the target, as a factor on the window (RFC 9438 §4.2).
const MAX_GROWTH: f64 = 1.5;

/// The CUBIC window algorithm, with fast convergence.
#[derive(Clone, Debug)]
pub struct Cubic {
    slow_start: SlowStart,
    hystart: Option<HyStart>,
    form: AvoidanceForm,
    /// `W_max` in segments; zero before the first congestion and after a timeout.
    w_max: f64,
    /// `cwnd_prior`, the window at the last congestion, in segments.
    cwnd_prior: f64,
    /// The present stage of congestion avoidance.
    epoch: Option<Epoch>,
    /// Time of the last acknowledgement.
    last_ack: SendTime,
    /// The least round-trip time of data, since the last timeout; [`TimeDelta::MAX`] before the first.
    least_rtt: TimeDelta,
    /// State before the last congestion (RFC 9438 §4.9.2).
    before: Option<Before>,
}

/// State that an undone reduction restores, besides the window.
#[derive(Clone, Copy, Debug)]
struct Before {
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

impl Default for Cubic {
    fn default() -> Self {
        Self::with_form(AvoidanceForm::Rfc, Rules::default(), None)
    }
}

impl Cubic {
    /// The algorithm at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The algorithm by the rules of a stack, with an end to slow start before congestion if asked for.
    pub fn with_rules(rules: Rules, hystart: Option<HyStart>) -> Self {
        Self::with_form(AvoidanceForm::Rfc, rules, hystart)
    }

    /// The algorithm as in Linux 3.16, with an end to slow start before congestion if asked for.
    pub fn linux_3_16(hystart: Option<HyStart>) -> Self {
        Self::with_form(AvoidanceForm::linux_3_16(), Rules::linux(), hystart)
    }

    /// The algorithm as in Linux 6, with an end to slow start before congestion if asked for.
    pub fn linux_6(hystart: Option<HyStart>) -> Self {
        Self::with_form(AvoidanceForm::linux_6(), Rules::linux_6(), hystart)
    }

    fn with_form(form: AvoidanceForm, rules: Rules, hystart: Option<HyStart>) -> Self {
        Self {
            slow_start: SlowStart::new(rules),
            hystart,
            form,
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            last_ack: SendTime::ZERO,
            least_rtt: TimeDelta::MAX,
            before: None,
        }
    }

    fn avoid_congestion(&mut self, window: &mut Window, ack: &Ack, acked: f64) {
        let (lossless, ahead) = (self.w_max <= 0.0, self.ahead());
        match &mut self.form {
            AvoidanceForm::Rfc => self.follow_cubic(window, ack, acked),
            AvoidanceForm::Linux316(counts) => {
                let epoch =
                    self.epoch.get_or_insert_with(|| Epoch::begin(ack.now, window.cwnd, self.w_max, k));
                counts.avoid_congestion(window, ack, epoch, lossless);
            }
            AvoidanceForm::Linux6(counts) => {
                let step = AvoidanceStep { now: ack.now, acked, w_max: self.w_max, ahead };
                counts.avoid_congestion(window, &mut self.epoch, &step);
            }
        }
    }

    fn follow_cubic(&mut self, window: &mut Window, ack: &Ack, acked: f64) {
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(ack.now, window.cwnd, self.w_max, k));
        let t = (ack.now - epoch.start).secs_f64();
        let share = acked / window.cwnd;
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        epoch.w_est += alpha * share; // RFC 9438 §4.3, figure 4
        if epoch.w_cubic(t) < epoch.w_est {
            window.cwnd = window.cwnd.max(epoch.w_est);
        } else {
            let ahead = epoch.w_cubic(t + ack.srtt.secs_f64());
            let target = ahead.max(window.cwnd).min(MAX_GROWTH * window.cwnd);
            window.cwnd += share * (target - window.cwnd); // RFC 9438 §4.4, §4.5
        }
    }

    /// Time by which Linux 6 evaluates the cubic function ahead of now.
    fn ahead(&self) -> TimeDelta {
        if self.least_rtt == TimeDelta::MAX { TimeDelta::ZERO } else { self.least_rtt }
    }

    /// Takes a round-trip sample of data. Returns whether it is a measure of the path.
    fn note_rtt(&mut self, now: SendTime, rtt: TimeDelta) -> bool {
        let is_measure = self.epoch.is_none_or(|epoch| now - epoch.start >= IGNORED_TIME);
        if is_measure {
            self.least_rtt = self.least_rtt.min(rtt);
        }
        is_measure
    }
}

impl WindowAlgorithm for Cubic {
    fn reset(&mut self) {
        if let Some(hystart) = &mut self.hystart {
            hystart.reset();
        }
        *self = Self::with_form(self.form.restarted(), self.slow_start.rules, self.hystart.take());
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        if let Some(hystart) = &mut self.hystart {
            hystart.count(delivery);
        }
        let is_measure = delivery.rtt.is_some_and(|rtt| self.note_rtt(delivery.now, rtt));
        if is_measure
            && window.in_slow_start()
            && !delivery.recovering
            && let Some(hystart) = &mut self.hystart
            && hystart.ends_slow_start(window.cwnd, delivery, self.least_rtt)
        {
            window.ssthresh = window.cwnd;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let since = ack.now - self.last_ack;
        self.last_ack = ack.now;
        if let AvoidanceForm::Linux316(counts) = &mut self.form {
            counts.count_segments(ack.acked);
        }
        // RFC 9438 §4.2: time in which the application limits sending does not count.
        if !self.slow_start.rules.applies(ack) {
            if let Some(epoch) = &mut self.epoch
                && self.form.leaves_out_limited_time()
            {
                epoch.leave_out(since);
            }
            return;
        }
        let rest = self.slow_start.on_ack(window, ack.acked);
        if rest > 0.0 {
            self.avoid_congestion(window, ack, rest);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, now: SendTime, kind: Congestion, flight: f64) {
        self.form.on_congestion(kind);
        let (beta, round) = (self.form.beta(), |segments| self.form.rounded(segments));
        let w_max = match kind {
            Congestion::Timeout => 0.0, // RFC 9438 §4.8: the next epoch starts flat, where it starts
            _ if window.cwnd < self.w_max => round(window.cwnd * f64::midpoint(1.0, beta)), // RFC 9438 §4.7
            Congestion::Loss | Congestion::Ecn => window.cwnd,
        };
        let before = Before { w_max: self.w_max, cwnd_prior: self.cwnd_prior, epoch: self.epoch };
        let reduced = self.slow_start.on_congestion(window, kind, flight);
        window.ssthresh = round(reduced * beta).max(MIN_SSTHRESH); // RFC 9438 §4.6
        self.cwnd_prior = window.cwnd;
        window.cwnd = window.ssthresh;
        self.w_max = w_max;
        self.epoch = None;
        self.before = Some(before);
        if kind == Congestion::Timeout {
            self.least_rtt = TimeDelta::MAX;
            if let Some(hystart) = &mut self.hystart {
                hystart.on_timeout(now, flight);
            }
        }
    }

    fn on_undo(&mut self, _window: &mut Window, _now: SendTime) {
        self.slow_start.on_undo();
        if let Some(before) = self.before.take()
            && self.form.undoes()
        {
            (self.w_max, self.cwnd_prior, self.epoch) = (before.w_max, before.cwnd_prior, before.epoch);
        }
    }

    fn on_idle(&mut self, _window: &mut Window, idle: TimeDelta) {
        self.last_ack += idle;
        if let Some(epoch) = &mut self.epoch {
            epoch.leave_out(idle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::hystart;
    use crate::window::test_support::delivery;

    /// Whether `value` is `expected` within `tolerance`.
    fn close(value: f64, expected: f64, tolerance: f64) -> bool {
        (value - expected).abs() <= tolerance
    }

    fn ack_at(ms: i64, acked: f64) -> Ack {
        let rtt = TimeDelta::from_millis(100);
        Ack { now: SendTime::from_millis(ms), acked, srtt: rtt, min_rtt: rtt, window_limited: true }
    }

    /// The algorithm and its window after a loss at `cwnd` segments, all in flight.
    fn after_loss(cwnd: f64) -> (Cubic, Window) {
        let mut algorithm = Cubic::new();
        let mut window = Window { cwnd, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, cwnd);
        (algorithm, window)
    }

    #[test]
    fn alpha_matches_reno_with_the_milder_decrease() {
        // 3 · 0.3 / 1.7 = 0.5294.
        assert!(close(ALPHA, 0.5294, 0.00005));
    }

    #[test]
    fn loss_reduces_to_seven_tenths_of_the_flight() {
        let (algorithm, window) = after_loss(100.0);
        assert_eq!(window, Window { cwnd: 70.0, ssthresh: 70.0 });
        assert_eq!(algorithm.w_max, 100.0);
        let mut algorithm = Cubic::new();
        let mut window = Window { cwnd: 4.0, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 2.0);
        assert_eq!(window.ssthresh, 2.0);
    }

    #[test]
    fn fast_convergence_gives_way_when_the_window_did_not_recover() {
        // Loss at 100, then at 80 < 100: W_max = 80 · 1.7 / 2 = 68. A loss at 90 ≥ 68 takes 90 itself.
        let (mut algorithm, mut window) = after_loss(100.0);
        window.cwnd = 80.0;
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 80.0);
        assert!(close(algorithm.w_max, 68.0, 1e-9));
        window.cwnd = 90.0;
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 90.0);
        assert_eq!(algorithm.w_max, 90.0);
    }

    #[test]
    fn growth_towards_the_cubic_function_is_spread_over_a_window_of_acknowledgements() {
        // W_max 1000, cwnd 700, K = cbrt(300 / 0.4) = 9.0856 s. At t = 1: W(1) = 1000 - 0.4 · 8.0856³ = 788.56,
        // W(1.1) = 1000 - 0.4 · 7.9856³ = 796.30. From 700, 7 segments bring (796.30 - 700) · 7 / 700 = 0.9630.
        let (mut algorithm, mut window) = after_loss(1000.0);
        algorithm.on_ack(&mut window, &ack_at(0, 1.0));
        window.cwnd = 700.0;
        algorithm.on_ack(&mut window, &ack_at(1000, 7.0));
        assert!(close(window.cwnd, 700.963, 0.0005), "{}", window.cwnd);
    }

    #[test]
    fn window_grows_by_half_per_round_trip_at_most() {
        // W(50.1) is far above 1.5 · 70: one segment brings (105 - 70) / 70 = 0.5.
        let (mut algorithm, mut window) = after_loss(100.0);
        algorithm.on_ack(&mut window, &ack_at(0, 1.0));
        window.cwnd = 70.0;
        algorithm.on_ack(&mut window, &ack_at(50_000, 1.0));
        assert!(close(window.cwnd, 70.5, 1e-9));
    }

    #[test]
    fn small_windows_grow_as_reno_would_and_by_one_segment_beyond_the_last_maximum() {
        // W_max 10, cwnd 7, RTT 100 ms: within a round trip the cubic function gains next to nothing, W_est 0.529.
        let (mut algorithm, mut window) = after_loss(10.0);
        algorithm.on_ack(&mut window, &ack_at(0, 7.0));
        assert!(close(window.cwnd, 7.529, 0.0005), "{}", window.cwnd);
        // 4 round trips later W_est has passed cwnd_prior 10 and gains a whole segment per window.
        let mut rounds = 0;
        while window.cwnd < 10.0 {
            rounds += 1;
            let acked = window.cwnd;
            algorithm.on_ack(&mut window, &ack_at(100 * rounds, acked));
        }
        assert_eq!(rounds, 5);
        let before = window.cwnd;
        algorithm.on_ack(&mut window, &ack_at(100 * rounds, before));
        assert!(close(window.cwnd, before + 1.0, 1e-9));
    }

    #[test]
    fn after_a_timeout_the_cubic_function_starts_flat_at_the_threshold() {
        let mut algorithm = Cubic::new();
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Timeout, 100.0);
        window.cwnd = 69.0;
        // One segment ends slow start at 70, the next begins the epoch: K = 0, W_max = 70.
        algorithm.on_ack(&mut window, &ack_at(1000, 1.0));
        algorithm.on_ack(&mut window, &ack_at(1000, 1.0));
        let epoch = algorithm.epoch.expect("congestion avoidance has begun");
        assert_eq!((epoch.k, epoch.w_max), (0.0, 70.0));
    }

    /// Acknowledges single segments, 5 ms apart, until slow start ends; `rtt` in ms, the smallest was 100.
    fn slow_start(algorithm: &mut Cubic, window: &mut Window, from_ms: i64, rtt: i64) {
        for number in 0..200 {
            let now = from_ms + 5 * number;
            let delivery =
                Delivery { rtt: Some(TimeDelta::from_millis(rtt)), ..delivery(now, 1.0, window.cwnd) };
            algorithm.on_delivery(window, &delivery);
            if !window.in_slow_start() {
                return;
            }
            algorithm.on_ack(window, &ack_at(now, 1.0));
        }
    }

    /// The algorithm with HyStart after slow start ended at a window of 60 because the round-trip time rose.
    fn left_slow_start() -> (Cubic, Window) {
        let mut algorithm = Cubic::with_rules(Rules::linux(), Some(HyStart::new(hystart::Config::linux())));
        let mut window = Window { cwnd: 51.0, ssthresh: 51.0 };
        algorithm.on_delivery(&mut window, &delivery(900, 1.0, 51.0));
        window.ssthresh = f64::INFINITY;
        slow_start(&mut algorithm, &mut window, 1000, 130);
        assert_eq!(window, Window { cwnd: 59.0, ssthresh: 59.0 });
        (algorithm, window)
    }

    #[test]
    fn slow_start_after_a_timeout_goes_on_to_the_threshold() {
        let (mut algorithm, mut window) = left_slow_start();
        algorithm.on_congestion(&mut window, SendTime::from_millis(2000), Congestion::Timeout, 59.0);
        window.cwnd = 1.0;
        slow_start(&mut algorithm, &mut window, 3000, 100);
        // 0.7 · 59.
        assert!(window.cwnd >= 41.3 && close(window.ssthresh, 41.3, 1e-9), "{window:?}");
    }

    #[test]
    fn slow_start_after_an_idle_time_goes_on_to_the_threshold() {
        let (mut algorithm, mut window) = left_slow_start();
        window.cwnd = 10.0;
        algorithm.on_idle(&mut window, TimeDelta::from_secs(1));
        slow_start(&mut algorithm, &mut window, 3000, 100);
        assert_eq!(window, Window { cwnd: 59.0, ssthresh: 59.0 });
    }

    #[test]
    fn long_round_trips_in_recovery_do_not_end_slow_start() {
        let mut algorithm = Cubic::with_rules(Rules::linux(), Some(HyStart::new(hystart::Config::linux())));
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::from_millis(1000), Congestion::Loss, 100.0);
        // Proportional rate reduction: the window follows the flight.
        window.cwnd = 30.0;
        for number in 0..20 {
            let rtt = Some(TimeDelta::from_millis(200));
            let delivery = Delivery { rtt, recovering: true, ..delivery(1100 + 5 * number, 1.0, 90.0) };
            algorithm.on_delivery(&mut window, &delivery);
        }
        assert_eq!(window, Window { cwnd: 30.0, ssthresh: 70.0 });
    }

    #[test]
    fn false_timeout_gives_the_epoch_back() {
        // W_max 100 of a loss; the timeout forgets it, its undo brings it back, with the epoch that had begun.
        let (mut algorithm, mut window) = after_loss(100.0);
        algorithm.on_ack(&mut window, &ack_at(0, 1.0));
        let epoch = algorithm.epoch.expect("congestion avoidance has begun");
        algorithm.on_congestion(&mut window, SendTime::from_millis(500), Congestion::Timeout, 70.0);
        assert_eq!((algorithm.w_max, algorithm.epoch.is_none()), (0.0, true));
        algorithm.on_undo(&mut window, SendTime::from_millis(800));
        let given_back = algorithm.epoch.expect("it goes on");
        assert_eq!((algorithm.w_max, algorithm.cwnd_prior), (100.0, 100.0));
        assert_eq!((given_back.start, given_back.k), (epoch.start, epoch.k));
    }

    #[test]
    fn in_linux_a_false_timeout_gives_back_the_window_alone() {
        let mut algorithm = Cubic::linux_6(None);
        let mut window = Window { cwnd: 100.0, ssthresh: 100.0 };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 100.0);
        algorithm.on_congestion(&mut window, SendTime::from_millis(500), Congestion::Timeout, 70.0);
        algorithm.on_undo(&mut window, SendTime::from_millis(800));
        assert_eq!(algorithm.w_max, 0.0);
    }

    #[test]
    fn round_trips_right_after_a_recovery_are_not_taken_for_the_least() {
        let (mut algorithm, mut window) = after_loss(100.0);
        let with_rtt =
            |ms, rtt| Delivery { rtt: Some(TimeDelta::from_millis(rtt)), ..delivery(ms, 1.0, 50.0) };
        algorithm.on_delivery(&mut window, &with_rtt(0, 80));
        algorithm.on_ack(&mut window, &ack_at(0, 1.0));
        algorithm.on_delivery(&mut window, &with_rtt(999, 60));
        assert_eq!(algorithm.least_rtt, TimeDelta::from_millis(80));
        algorithm.on_delivery(&mut window, &with_rtt(1000, 70));
        assert_eq!(algorithm.least_rtt, TimeDelta::from_millis(70));
        // A timeout forgets it: the path may have changed.
        algorithm.on_congestion(&mut window, SendTime::from_millis(2000), Congestion::Timeout, 50.0);
        algorithm.on_delivery(&mut window, &with_rtt(3000, 90));
        assert_eq!(algorithm.least_rtt, TimeDelta::from_millis(90));
    }

    #[test]
    fn time_in_which_the_application_limits_does_not_count() {
        let (mut algorithm, mut window) = after_loss(100.0);
        algorithm.on_ack(&mut window, &ack_at(0, 1.0));
        algorithm.on_ack(&mut window, &ack_at(100, 1.0));
        let cwnd = window.cwnd;
        algorithm.on_ack(&mut window, &Ack { window_limited: false, ..ack_at(5100, 1.0) });
        assert_eq!(window.cwnd, cwnd);
        algorithm.on_idle(&mut window, TimeDelta::from_secs(10));
        // 100 ms before the pause and 20 ms after it.
        algorithm.on_ack(&mut window, &ack_at(15_120, 1.0));
        let epoch = algorithm.epoch.expect("congestion avoidance goes on");
        assert_eq!(SendTime::from_millis(15_120) - epoch.start, TimeDelta::from_millis(120));
    }
}
