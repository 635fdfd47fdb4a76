//! Time for which each factor has limited a flow, and its mean target rate.

use weir_cc::{LimitingFactor, Target};
use weir_net::Time;

use super::span::{ActiveSpan, Stretches};

/// Sum of the time under each limiting factor, and integral of the target rate.
#[derive(Debug)]
pub(super) struct LimitingFactors {
    /// The part of the measurement window in which the flow is active.
    active: Stretches,
    since: Option<(Time, LimitingFactor, f64)>,
    nanos: [u64; LimitingFactor::ALL.len()],
    /// Integral of the target sending rate, in bit/s · ns.
    rate_time: f64,
}

impl LimitingFactors {
    pub(super) fn new(active: Stretches) -> Self {
        Self { active, since: None, nanos: [0; LimitingFactor::ALL.len()], rate_time: 0.0 }
    }

    pub(super) fn target(&mut self, now: Time, target: &Target) {
        self.advance(now);
        self.since = Some((now, target.limiting_factor, target.sending_rate.bps_f64()));
    }

    /// Adds the time up to `now`.
    pub(super) fn advance(&mut self, now: Time) {
        if let Some((since, factor, rate)) = &mut self.since {
            let counted = self.active.nanos_in(ActiveSpan::new(*since, now));
            self.nanos[*factor as usize] += counted;
            self.rate_time += *rate * counted as f64;
            *since = now;
        }
    }

    /// Seconds under `factor`, or `None` if there was no target.
    pub(super) fn seconds(&self, factor: LimitingFactor) -> Option<f64> {
        self.since.map(|_| self.nanos[factor as usize] as f64 / 1e9)
    }

    /// The mean target sending rate in bit/s over the time with a target.
    pub(super) fn mean_rate(&self) -> Option<f64> {
        let nanos: u64 = self.nanos.iter().sum();
        (nanos > 0).then(|| self.rate_time / nanos as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_numbered_in_the_order_of_all() {
        for (index, factor) in LimitingFactor::ALL.into_iter().enumerate() {
            assert_eq!(factor as usize, index);
        }
    }
}
