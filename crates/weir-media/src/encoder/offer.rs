//! A source whose highest rate changes over time.

use weir_units::{DataRate, TimeDelta};

/// Largest number of steps of a source's highest rate.
pub const RATE_STEPS: usize = 4;

/// The highest rate of a source from certain times on, counted from its start. Examples are a call that begins at a low
/// rate, and a camera that is switched on later. Without any step the rate is constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSteps {
    steps: [(TimeDelta, DataRate); RATE_STEPS],
    count: usize,
}

impl RateSteps {
    /// No steps.
    pub const NONE: Self = Self { steps: [(TimeDelta::ZERO, DataRate::ZERO); RATE_STEPS], count: 0 };

    /// These steps, or `None` if they are more than [`RATE_STEPS`] or their times do not rise. A step before zero holds
    /// from the start.
    pub fn new(steps: &[(TimeDelta, DataRate)]) -> Option<Self> {
        if steps.len() > RATE_STEPS || steps.windows(2).any(|pair| pair[1].0 <= pair[0].0) {
            return None;
        }
        let mut own = Self { count: steps.len(), ..Self::NONE };
        own.steps.iter_mut().zip(steps).for_each(|(own, step)| *own = *step);
        Some(own)
    }

    /// The rate in force at `elapsed` after the start, or `None` before the first step.
    pub fn at(&self, elapsed: TimeDelta) -> Option<DataRate> {
        let begun = self.iter().take_while(|&(from, _)| from <= elapsed);
        begun.last().map(|(_, rate)| rate)
    }

    /// The same steps on a clock that was at `start` when the source started.
    #[must_use]
    pub fn counted_from(self, start: TimeDelta) -> Self {
        Self { steps: self.steps.map(|(at, rate)| (at - start, rate)), ..self }
    }

    /// The steps in order.
    pub fn iter(&self) -> impl Iterator<Item = (TimeDelta, DataRate)> {
        self.steps.iter().copied().take(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Encoder, EncoderConfig};
    use super::*;

    const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;
    const S: fn(i64) -> TimeDelta = TimeDelta::from_secs;

    #[test]
    fn the_last_step_that_has_begun_holds() {
        let steps = RateSteps::new(&[(S(0), KBPS(150)), (S(10), KBPS(2500)), (S(20), KBPS(600))]).unwrap();
        let at = |seconds| steps.at(S(seconds));
        assert_eq!([at(0), at(9), at(10), at(30)], [150, 150, 2500, 600].map(|kbps| Some(KBPS(kbps))));
        assert_eq!((at(-1), RateSteps::NONE.at(S(5))), (None, None));
        // A source that starts at 15 s begins within the second step.
        let later = steps.counted_from(S(15));
        assert_eq!((later.at(S(0)), later.at(S(5))), (Some(KBPS(2500)), Some(KBPS(600))));
    }

    #[test]
    fn steps_rise_in_time_and_are_not_many() {
        assert_eq!(RateSteps::new(&[(S(1), KBPS(1)), (S(1), KBPS(2))]), None);
        let many: Vec<_> = (0..5).map(|at| (S(at), KBPS(1))).collect();
        assert_eq!(RateSteps::new(&many), None);
        assert!(RateSteps::new(&many[1..]).is_some());
    }

    #[test]
    fn an_encoder_offers_no_more_than_the_step_in_force_and_says_so() {
        let max_rates = RateSteps::new(&[(S(0), KBPS(240)), (S(1), KBPS(2400))]).unwrap();
        let mut encoder = Encoder::new(EncoderConfig { max_rates, ..EncoderConfig::papers() }, KBPS(300), 1);
        assert_eq!(encoder.max_rate(), KBPS(240));
        // 240 and 2400 kbit/s at 30 frames/s.
        let sizes: Vec<u64> = (0..32).map(|_| encoder.capture(KBPS(9000)).size.bytes()).collect();
        assert_eq!((sizes[0], sizes[29], sizes[30], sizes[31]), (1000, 1000, 10_000, 10_000));
        assert_eq!(encoder.max_rate(), KBPS(2400));
        // Below the step the target counts.
        assert_eq!(encoder.capture(KBPS(480)).size.bytes(), 2000);
    }

    #[test]
    fn a_frame_that_is_skipped_takes_the_step_too() {
        let max_rates = RateSteps::new(&[(S(0), KBPS(240)), (S(1), KBPS(2400))]).unwrap();
        let mut encoder = Encoder::new(EncoderConfig { max_rates, ..EncoderConfig::papers() }, KBPS(300), 1);
        assert!((0..30).all(|_| encoder.skip()));
        assert_eq!(encoder.max_rate(), KBPS(240));
        assert!(encoder.skip());
        assert_eq!(encoder.max_rate(), KBPS(2400));
    }
}
