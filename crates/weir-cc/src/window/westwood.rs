//! Westwood+: congestion sets the window to the measured capacity of the path, `BWE · RTTmin`, and not to half of the
//! window. Growth is as in Reno. Sources: Mascolo et al., "TCP Westwood: bandwidth estimation for enhanced transport
//! over wireless links", MobiCom 2001; Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New
//! Reno, and Vegas TCP", CCR 2004.
//!
//! Variants: Westwood+ as in Linux; Westwood+ as in ns-3; and Westwood, with a sample per acknowledgement, in the two
//! forms that ns-3 had. The first form takes the sample over the time since the last acknowledgement, as in the paper
//! of 2001. In ns-3 this form was in use until its congestion control became a class of its own in 3.25, and again
//! since commit 0e685cb, so in 3.37; 3.38 has no more of it. The second form, between these, takes the sample over the
//! whole round trip. That form takes each acknowledgement for all that a round trip brings and nearly always ends at
//! the smallest window.
//!
//! Divergences:
//! 1. Before the first sample of the bandwidth half of what is in flight stands for `BWE · RTTmin`.
//! 2. Congestion never opens the window, even if the estimate exceeds it (as the paper of 2001, unlike ns-3).
//! 3. The estimate also counts in recovery and sets the threshold there at once; Linux does so at the end of recovery.
//! 4. Acknowledgements that come at the same time are one; ns-3 takes the second for an infinite bandwidth.

use weir_units::TimeDelta;

use crate::time::SendTime;
use crate::window::rules::{RenoGrowth, Rules};
use crate::window::{Ack, Congestion, Delivery, Window, WindowAlgorithm};

/// Shortest window of a bandwidth sample in Linux (`TCP_WESTWOOD_RTT_MIN`).
const LINUX_SHORTEST: TimeDelta = TimeDelta::from_millis(50);

/// Method of the bandwidth estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    /// A sample per round trip, 50 ms at least, through two filters that each keep 7/8 (Linux).
    #[default]
    Linux,
    /// A sample per round trip through Tustin's filter with 0.9, from 0 on (ns-3, `WESTWOODPLUS`).
    Ns3,
    /// A sample per acknowledgement, over the time since the last, through the same filter (the `WESTWOOD` of ns-3.37, its
    /// default).
    Ns3AckSpacing,
    /// A sample per acknowledgement, over the whole round-trip time, through the same filter (the `WESTWOOD` of ns-3 from
    /// 3.25 on, before commit 0e685cb).
    Ns3PerAck,
}

/// The Westwood window algorithm.
#[derive(Clone, Debug, Default)]
pub struct Westwood {
    estimator: Estimator,
    growth: RenoGrowth,
    /// Segments that have arrived since `window_start`.
    arrived: f64,
    window_start: Option<SendTime>,
    rtt: TimeDelta,
    /// `RTTmin`; in Linux since the last timeout.
    min_rtt: TimeDelta,
    /// Whether `RTTmin` stands; if not, the next round trip replaces it (`reset_rtt_min`).
    rtt_min_stands: bool,
    /// `b_k` in segments per second.
    sample: f64,
    /// Output of the first of Linux's filters.
    first: f64,
    /// `BWE` in segments per second, or `None` before the first sample.
    bandwidth: Option<f64>,
}

impl Westwood {
    /// Westwood+ as in Linux.
    pub fn new() -> Self {
        Self::default()
    }

    /// The algorithm by the rules of a stack.
    pub fn with_rules(estimator: Estimator, rules: Rules) -> Self {
        Self { estimator, growth: RenoGrowth::new(rules), ..Self::default() }
    }

    /// Counts arrived segments; returns a sample of the bandwidth, in segments per second, once there is one.
    fn count(&mut self, delivery: &Delivery) -> Option<f64> {
        if self.rtt <= TimeDelta::ZERO {
            return None;
        }
        if self.estimator == Estimator::Ns3PerAck {
            return Some(delivery.delivered / self.rtt.secs_f64());
        }
        let start = *self.window_start.get_or_insert(delivery.now);
        self.arrived += delivery.delivered;
        let length = delivery.now - start;
        if length < self.shortest_window() || length <= TimeDelta::ZERO {
            return None;
        }
        self.window_start = Some(delivery.now);
        Some(core::mem::take(&mut self.arrived) / length.secs_f64())
    }

    /// Least duration of a bandwidth sample.
    fn shortest_window(&self) -> TimeDelta {
        match self.estimator {
            Estimator::Linux => self.rtt.max(LINUX_SHORTEST),
            Estimator::Ns3 | Estimator::Ns3PerAck => self.rtt,
            Estimator::Ns3AckSpacing => TimeDelta::ZERO,
        }
    }

    /// Linux measures the least round trip of data, anew after each timeout.
    fn note_rtt(&mut self, rtt: TimeDelta, least: TimeDelta) {
        self.rtt = rtt;
        self.min_rtt = match self.estimator {
            Estimator::Linux if self.rtt_min_stands => self.min_rtt.min(rtt),
            Estimator::Linux => rtt,
            _ => least,
        };
        self.rtt_min_stands = true;
    }

    fn filter(&mut self, sample: f64) {
        let bandwidth = match (self.estimator, self.bandwidth) {
            (Estimator::Linux, None) => {
                self.first = sample;
                sample
            }
            (Estimator::Linux, Some(before)) => {
                self.first = (7.0 * self.first + sample) / 8.0;
                (7.0 * before + self.first) / 8.0
            }
            (_, before) => 0.9 * before.unwrap_or(0.0) + 0.1 * f64::midpoint(sample, self.sample),
        };
        self.sample = sample;
        self.bandwidth = Some(bandwidth);
    }
}

impl WindowAlgorithm for Westwood {
    fn reset(&mut self) {
        *self = Self { estimator: self.estimator, growth: self.growth.restarted(), ..Self::default() };
    }

    fn on_delivery(&mut self, _window: &mut Window, delivery: &Delivery) {
        if let Some(rtt) = delivery.rtt {
            self.note_rtt(rtt, delivery.min_rtt);
        }
        if let Some(sample) = self.count(delivery) {
            self.filter(sample);
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.growth.on_ack(window, ack, |_| 1.0);
    }

    fn on_congestion(&mut self, window: &mut Window, _now: SendTime, kind: Congestion, flight: f64) {
        let reduced = self.growth.on_congestion(window, kind, flight);
        // `BWE · RTTmin`, or half of the base before the first sample (divergence 1).
        let carried = self.bandwidth.map_or(reduced / 2.0, |bandwidth| bandwidth * self.min_rtt.secs_f64());
        window.ssthresh = self.growth.threshold(carried);
        // Congestion never opens the window (divergence 2).
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.rtt_min_stands &= kind != Congestion::Timeout;
    }

    fn on_undo(&mut self, _window: &mut Window, _now: SendTime) {
        self.growth.on_undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::test_support::{ack, delivery};

    /// The window after a loss at `cwnd` segments.
    fn congested(algorithm: &mut Westwood, cwnd: f64) -> Window {
        let mut window = Window { cwnd, ssthresh: f64::INFINITY };
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, cwnd);
        window
    }

    /// `count` acknowledgements of 2 segments, 10 ms apart from 10 ms on, at a round-trip time of 100 ms.
    fn fed(estimator: Estimator, count: i64) -> Westwood {
        let mut algorithm = Westwood::with_rules(estimator, Rules::default());
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        for number in 1..=count {
            algorithm.on_delivery(&mut window, &delivery(10 * number, 2.0, 20.0));
        }
        algorithm
    }

    #[test]
    fn linux_takes_the_first_sample_as_it_is_and_filters_twice() {
        // The first round trip from 10 to 110 ms brings 11 acknowledgements of 2: 22 / 0.1 s = 220/s, the next ones 200/s.
        assert_eq!(fed(Estimator::Linux, 10).bandwidth, None);
        assert!((fed(Estimator::Linux, 11).bandwidth.unwrap() - 220.0).abs() < 1e-9);
        // (7 · 220 + 200) / 8 = 217.5, (7 · 220 + 217.5) / 8 = 219.6875.
        assert!((fed(Estimator::Linux, 21).bandwidth.unwrap() - 219.6875).abs() < 1e-9);
    }

    #[test]
    fn ns3_starts_from_zero_with_tustins_filter() {
        // 0.1 · (220 + 0) / 2 = 11; then 0.9 · 11 + 0.1 · (200 + 220) / 2 = 30.9.
        assert!((fed(Estimator::Ns3, 11).bandwidth.unwrap() - 11.0).abs() < 1e-9);
        assert!((fed(Estimator::Ns3, 21).bandwidth.unwrap() - 30.9).abs() < 1e-9);
    }

    #[test]
    fn estimate_times_the_least_round_trip_is_what_congestion_leaves() {
        // 220/s over 100 ms are 22 segments, whatever the window was.
        assert!((congested(&mut fed(Estimator::Linux, 11), 60.0).cwnd - 22.0).abs() < 1e-9);
        let small = congested(&mut fed(Estimator::Linux, 11), 10.0);
        assert_eq!(small.cwnd, 10.0);
        assert!((small.ssthresh - 22.0).abs() < 1e-9);
        assert_eq!(congested(&mut Westwood::new(), 30.0).ssthresh, 15.0);
    }

    #[test]
    fn least_round_trip_is_measured_anew_after_a_timeout() {
        let rtt_of = |algorithm: &mut Westwood, ms| {
            let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
            let rtt = Some(TimeDelta::from_millis(ms));
            algorithm.on_delivery(&mut window, &Delivery { rtt, ..delivery(2000, 2.0, 20.0) });
            algorithm.min_rtt
        };
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        let mut algorithm = fed(Estimator::Linux, 11);
        assert_eq!(rtt_of(&mut algorithm, 300), TimeDelta::from_millis(100));
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Loss, 20.0);
        assert_eq!(rtt_of(&mut algorithm, 300), TimeDelta::from_millis(100));
        algorithm.on_congestion(&mut window, SendTime::ZERO, Congestion::Timeout, 20.0);
        // The threshold of the timeout itself still uses the old one: 220/s over 100 ms.
        assert!((window.ssthresh - 22.0).abs() < 1.0, "{window:?}");
        assert_eq!(rtt_of(&mut algorithm, 300), TimeDelta::from_millis(300));
        assert_eq!(rtt_of(&mut algorithm, 250), TimeDelta::from_millis(250));
    }

    #[test]
    fn estimate_over_the_time_since_the_last_acknowledgement_is_what_the_path_carries() {
        // 2 segments every 10 ms are 200/s, 20 per round trip.
        let mut algorithm = fed(Estimator::Ns3AckSpacing, 200);
        assert!((algorithm.bandwidth.unwrap() - 200.0).abs() < 0.01);
        assert!((congested(&mut algorithm, 60.0).cwnd - 20.0).abs() < 0.01);
        // Two at the same time are one: 4 segments in 10 ms, a twentieth of which the filter takes.
        let mut window = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        for _ in 0..2 {
            algorithm.on_delivery(&mut window, &delivery(2010, 2.0, 20.0));
        }
        assert!((algorithm.bandwidth.unwrap() - 200.0).abs() < 0.01);
        algorithm.on_delivery(&mut window, &delivery(2020, 2.0, 20.0));
        assert!((algorithm.bandwidth.unwrap() - 210.0).abs() < 0.01, "{algorithm:?}");
    }

    #[test]
    fn estimate_per_acknowledgement_collapses_the_window() {
        // Each acknowledgement of 2 segments over 100 ms is taken for 20/s, which is 2 segments per round trip.
        let mut algorithm = fed(Estimator::Ns3PerAck, 200);
        assert!((algorithm.bandwidth.unwrap() - 20.0).abs() < 0.01);
        assert_eq!(congested(&mut algorithm, 60.0), Window { cwnd: 2.0, ssthresh: 2.0 });
    }

    #[test]
    fn window_grows_as_renos() {
        let mut algorithm = Westwood::new();
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0 };
        for _ in 0..5 {
            algorithm.on_ack(&mut window, &ack(0, 2.0));
        }
        assert_eq!(window.cwnd, 11.0);
    }
}
