//! The aggregate of coupled windows, and each flow's share of it.

use super::flow::Flow;

/// Greatest sum in bytes, because reported values can be arbitrary.
const MAX_SUM: f64 = 1e15;

/// The sums of windows, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowShares {
    /// `sum_cwnd`.
    sum: f64,
    /// `sum_ssthresh`, or `None` before the first congestion.
    threshold: Option<f64>,
    /// Threshold per unit of weight.
    threshold_level: f64,
    /// The sum of weights.
    weights: f64,
    /// Share per unit of weight, of a flow that can use it.
    level: f64,
    /// Whether some flows leave a part of their shares to others.
    capped: bool,
}

impl WindowShares {
    pub(super) const fn sum(&self) -> f64 {
        self.sum
    }

    pub(super) const fn weights(&self) -> f64 {
        self.weights
    }

    pub(super) const fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    pub(super) fn set_threshold(&mut self, threshold: f64) {
        self.threshold = Some(threshold.clamp(1.0, MAX_SUM));
        self.threshold_level = threshold.clamp(1.0, MAX_SUM) / self.weights;
    }

    /// Whether the aggregate is in slow start, so that all flows have one ratio of share to threshold.
    pub(super) fn in_slow_start(&self) -> bool {
        self.threshold.is_none_or(|threshold| self.sum < threshold)
    }

    /// Sets the sum.
    pub(super) fn set_sum(&mut self, sum: f64, flows: &[Flow]) {
        self.sum = if sum.is_nan() { 1.0 } else { sum.clamp(1.0, MAX_SUM) };
        if self.capped {
            self.recompute(flows);
        } else {
            self.level = self.sum / self.weights;
        }
    }

    /// Sets the aggregate to the window of the only flow.
    pub(super) fn set_to_only_flow(&mut self, window: f64, threshold: f64, flows: &[Flow]) {
        self.threshold = None;
        if threshold.is_finite() {
            self.set_threshold(threshold);
        }
        self.set_sum(window, flows);
    }

    /// Recomputes the levels after a change of weights or desired windows.
    pub(super) fn recompute(&mut self, flows: &[Flow]) {
        self.weights = flows.iter().map(|flow| flow.weight).sum();
        self.level = self.sum / self.weights;
        if let Some(threshold) = self.threshold {
            self.set_threshold(threshold);
        }
        let max_min_level =
            flows.iter().any(|flow| flow.cap < f64::INFINITY).then(|| self.max_min_level(flows)).flatten();
        self.capped = max_min_level.is_some();
        self.level = max_min_level.unwrap_or(self.level);
    }

    /// Weighted max-min: the level of the flows that can use more, which get what the others leave, or `None` if no
    /// flow can. The level never falls when a flow proves to be limited. Each pass thus finds at least one more
    /// limited flow, or is the last.
    fn max_min_level(&self, flows: &[Flow]) -> Option<f64> {
        let mut level = self.level;
        for _ in flows {
            let (mut left, mut weights) = (self.sum, 0.0);
            for flow in flows {
                if flow.cap <= flow.weight * level { left -= flow.cap } else { weights += flow.weight }
            }
            let next = left / weights;
            if weights <= 0.0 || next.is_nan() {
                return None;
            }
            if next <= level {
                break;
            }
            level = next;
        }
        Some(level)
    }

    /// The share of a flow in bytes.
    pub(super) fn share(&self, flow: &Flow) -> f64 {
        let share = flow.weight * self.level;
        if self.capped { share.min(flow.cap) } else { share }
    }

    /// The share if every flow used all of its share.
    pub(super) fn fair_share(&self, flow: &Flow) -> f64 {
        flow.weight * (self.sum / self.weights)
    }

    /// `ssshare`, the threshold of a flow in bytes, or `None` without a threshold.
    pub(super) fn threshold_share(&self, flow: &Flow) -> Option<f64> {
        self.threshold.map(|_| flow.weight * self.threshold_level)
    }
}

#[cfg(test)]
mod tests {
    use weir_units::{DataRate, DataSize};

    use super::*;
    use crate::coupled::message::{FlowParameters, Windowed};
    use crate::time::SendTime;
    use crate::window::Window;

    /// A flow that can use at most `cap` segments.
    fn flow(weight: f64, cap: f64) -> Flow {
        let parameters = FlowParameters { priority: weight, desired: None, least: DataRate::ZERO };
        let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        let windowed = Windowed { window, segment: DataSize::from_bytes(1000), base_rtt: None };
        Flow { cap, ..Flow::new(SendTime::ZERO, parameters, &windowed) }
    }

    /// The shares of `flows` in an aggregate window of `sum` segments.
    fn shares(sum: f64, flows: &[Flow]) -> Vec<f64> {
        let mut shares = WindowShares::default();
        shares.recompute(flows);
        shares.set_sum(sum, flows);
        shares.recompute(flows);
        flows.iter().map(|flow| shares.share(flow)).collect()
    }

    const GREEDY: f64 = f64::INFINITY;

    #[test]
    fn shares_follow_weights() {
        assert_eq!(shares(12.0, &[flow(1.0, GREEDY), flow(1.0, GREEDY), flow(2.0, GREEDY)]), [3.0, 3.0, 6.0]);
    }

    #[test]
    fn unusable_share_goes_to_the_other_flows_by_weight() {
        // 24: 6, 6, 12. The first can use 3: 21 are left for 1 + 2.
        assert_eq!(shares(24.0, &[flow(1.0, 3.0), flow(1.0, GREEDY), flow(2.0, GREEDY)]), [3.0, 7.0, 14.0]);
        // 7 is above the second's 6.5 then: 14.5 for the last.
        assert_eq!(shares(24.0, &[flow(1.0, 3.0), flow(1.0, 6.5), flow(2.0, GREEDY)]), [3.0, 6.5, 14.5]);
    }

    #[test]
    fn unusable_share_goes_to_another_limited_flow() {
        assert_eq!(shares(24.0, &[flow(1.0, 3.0), flow(1.0, 100.0)]), [3.0, 21.0]);
        // Both below their limits.
        assert_eq!(shares(24.0, &[flow(1.0, 13.0), flow(2.0, 17.0)]), [8.0, 16.0]);
    }

    #[test]
    fn no_rate_is_left_over_where_no_flow_can_use_it() {
        assert_eq!(shares(24.0, &[flow(1.0, 3.0), flow(1.0, 4.0)]), [12.0, 12.0]);
    }

    #[test]
    fn a_sum_is_finite_whatever_is_reported() {
        let flows = [flow(1.0, GREEDY)];
        assert_eq!(shares(f64::NAN, &flows), [1.0]);
        assert_eq!(shares(f64::INFINITY, &flows), [MAX_SUM]);
        assert_eq!(shares(-5.0, &flows), [1.0]);
    }
}
