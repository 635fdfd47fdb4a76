//! The queue-delay target, and its adaptation to flows that fill the queue (RFC 8298 §4.1.2.3).

/// Number of feedbacks over which the variance is computed.
const VARIANCE_LENGTH: usize = 200;
/// Number of feedbacks over which the mean is computed.
const MEAN_LENGTH: usize = 50;

/// Constants of the competing-flow compensation; times in s.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompetitionConfig {
    /// `QDELAY_TARGET_LO`.
    pub(super) low: f64,
    /// `QDELAY_TARGET_HI`.
    pub(super) high: f64,
    /// `loss_event_rate` above which other flows count as loss-based.
    pub(super) loss_threshold: f64,
    /// Variance of the normalised queue delay below which the target follows it.
    pub(super) variance_threshold: f64,
    /// Whether the target adapts to competing flows.
    pub(super) enabled: bool,
}

/// The queue-delay target (`qdelay_target`).
#[derive(Debug)]
pub(super) struct QdelayTarget {
    config: CompetitionConfig,
    history: NormHistory,
    target: f64,
}

impl QdelayTarget {
    pub(super) fn new(config: CompetitionConfig) -> Self {
        Self { config, history: NormHistory::new(), target: config.low }
    }

    /// Updates the target on feedback with the queue delay `qdelay` in s.
    pub(super) fn on_feedback(&mut self, qdelay: f64, loss_event_rate: f64) {
        if !self.config.enabled {
            return;
        }
        self.history.push(qdelay / self.config.low);
        let variance = self.history.variance();
        let wanted = (self.history.recent_mean() + libm::sqrt(variance)) * self.config.low;
        self.target = self.config.target(self.target, wanted, variance, loss_event_rate);
    }

    /// The target in s.
    pub(super) fn get(&self) -> f64 {
        self.target
    }
}

/// Recent normalised queue delays (`qdelay_norm_hist`) in millionths, with running sums. The sums are whole numbers,
/// so that they never drift.
#[derive(Debug)]
struct NormHistory {
    /// Ring of values; `next` is the place of the oldest.
    values: [u64; VARIANCE_LENGTH],
    next: usize,
    sum: u64,
    squares: u128,
    recent_sum: u64,
}

/// Number of millionths in one.
const WHOLE: f64 = 1e6;

impl NormHistory {
    fn new() -> Self {
        Self { values: [0; VARIANCE_LENGTH], next: 0, sum: 0, squares: 0, recent_sum: 0 }
    }

    fn push(&mut self, normalised: f64) {
        // Beyond a billion all queues are the same; sums stay far below their limits.
        let value = (normalised * WHOLE).clamp(0.0, 1e15) as u64;
        let square = |value: u64| u128::from(value) * u128::from(value);
        let oldest = core::mem::replace(&mut self.values[self.next], value);
        let leaving = self.values[(self.next + VARIANCE_LENGTH - MEAN_LENGTH) % VARIANCE_LENGTH];
        self.sum = self.sum + value - oldest;
        self.squares = self.squares + square(value) - square(oldest);
        self.recent_sum = self.recent_sum + value - leaving;
        self.next = (self.next + 1) % VARIANCE_LENGTH;
    }

    /// Variance of the whole history.
    fn variance(&self) -> f64 {
        let count = VARIANCE_LENGTH as u128;
        let scaled = count * self.squares - u128::from(self.sum) * u128::from(self.sum);
        scaled as f64 / (VARIANCE_LENGTH * VARIANCE_LENGTH) as f64 / (WHOLE * WHOLE)
    }

    /// Mean of the newest values.
    fn recent_mean(&self) -> f64 {
        self.recent_sum as f64 / MEAN_LENGTH as f64 / WHOLE
    }
}

impl CompetitionConfig {
    /// The target that follows `old` (RFC 8298 §4.1.2.3).
    fn target(&self, old: f64, wanted: f64, variance: f64, loss_event_rate: f64) -> f64 {
        let target = if loss_event_rate > self.loss_threshold {
            1.5 * wanted
        } else if variance < self.variance_threshold {
            wanted
        } else if wanted < self.low {
            (0.5 * old).max(wanted)
        } else {
            0.9 * old
        };
        target.max(self.low).min(self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: CompetitionConfig = CompetitionConfig {
        low: 0.1,
        high: 0.4,
        loss_threshold: 0.002,
        variance_threshold: 0.2,
        enabled: true,
    };

    /// Checks that `value` is `expected` within 1e-9.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} instead of {expected}");
    }

    #[test]
    fn each_branch_of_the_rule() {
        // Losses: 1.5·0.2. A steady queue: as asked for. Noise: 0.9·0.3, or towards the value asked for, by half at
        // most.
        near(CONFIG.target(0.3, 0.2, 0.5, 0.003), 0.3);
        near(CONFIG.target(0.3, 0.2, 0.1, 0.001), 0.2);
        near(CONFIG.target(0.3, 0.2, 0.5, 0.001), 0.27);
        near(CONFIG.target(0.3, 0.09, 0.5, 0.001), 0.15);
        // Bounds.
        near(CONFIG.target(0.3, 0.9, 0.1, 0.0), 0.4);
        near(CONFIG.target(0.3, 0.05, 0.1, 0.0), 0.1);
    }

    #[test]
    fn a_steady_long_queue_raises_the_target_to_it() {
        let mut target = QdelayTarget::new(CONFIG);
        near(target.get(), 0.1);
        (0..200).for_each(|_| target.on_feedback(0.25, 0.0));
        // Variance 0, mean 2.5: 2.5·0.1.
        near(target.get(), 0.25);
        near(target.history.recent_mean(), 2.5);
    }

    #[test]
    fn mean_and_variance_cover_their_lengths() {
        let mut target = QdelayTarget::new(CONFIG);
        (0..50).for_each(|_| target.on_feedback(0.2, 0.0));
        // A quarter of the 200 is 2, the rest 0: mean 0.5, variance (50·1.5² + 150·0.5²)/200 = 0.75.
        near(target.history.variance(), 0.75);
        near(target.history.recent_mean(), 2.0);
        (0..50).for_each(|_| target.on_feedback(0.1, 0.0));
        near(target.history.recent_mean(), 1.0);
    }

    #[test]
    fn without_compensation_the_target_stays() {
        let mut target = QdelayTarget::new(CompetitionConfig { enabled: false, ..CONFIG });
        (0..200).for_each(|_| target.on_feedback(0.3, 0.5));
        near(target.get(), 0.1);
    }
}
