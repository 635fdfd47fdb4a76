//! Models of random loss, and the draws they take.

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::error::ConfigError;
use crate::schedule::Schedule;

/// Random loss after the queue: a lost packet has used the link. Probabilities lie in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LossModel {
    /// No random loss.
    #[default]
    None,
    /// Each packet is lost with this probability, independently of all others.
    Bernoulli(f64),
    /// The model of Gilbert (1960) and Elliott (1963): a chain of two states, good and bad. The chain takes one
    /// step before each packet, and begins in the good state.
    GilbertElliott {
        /// Probability per packet of a step from good to bad, p.
        to_bad: f64,
        /// Probability per packet of a step from bad to good, r; the mean stay in the bad state is 1/r packets.
        to_good: f64,
        /// Loss probability in the bad state, 1 − h.
        loss_in_bad: f64,
        /// Loss probability in the good state, 1 − k.
        loss_in_good: f64,
    },
}

impl LossModel {
    /// Losses in bursts: a simple Gilbert model (every packet is lost in the bad state and none in the good one).
    /// The mean loss is `mean` in [0, 1), bursts have `burst` packets on average, r = 1/b and p = L·r/(1 − L).
    ///
    /// # Errors
    /// A mean outside [0, 1), or bursts shorter than one packet or than the mean demands, which is L/(1 − L).
    pub fn bursts(mean: f64, burst: f64) -> Result<Self, ConfigError> {
        if !(0.0..1.0).contains(&mean) {
            return Err(ConfigError::LossOutOfRange);
        }
        let to_good = 1.0 / burst;
        let to_bad = mean * to_good / (1.0 - mean);
        if !(burst.is_finite() && burst >= 1.0 && to_bad <= 1.0) {
            return Err(ConfigError::LossBurstTooShort);
        }
        Ok(Self::GilbertElliott { to_bad, to_good, loss_in_bad: 1.0, loss_in_good: 0.0 })
    }

    /// The long-run share of packets lost. A chain that never leaves a state is in the good one.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::None => 0.0,
            Self::Bernoulli(probability) => probability,
            Self::GilbertElliott { to_bad, to_good, loss_in_bad, loss_in_good } => {
                let bad = if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
                bad * loss_in_bad + (1.0 - bad) * loss_in_good
            }
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let probabilities = match *self {
            Self::None => [0.0; 4],
            Self::Bernoulli(probability) => [probability; 4],
            Self::GilbertElliott { to_bad, to_good, loss_in_bad, loss_in_good } => {
                [to_bad, to_good, loss_in_bad, loss_in_good]
            }
        };
        let valid = probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        if valid { Ok(()) } else { Err(ConfigError::LossOutOfRange) }
    }
}

/// Decides for each packet whether it is lost.
#[derive(Clone, Debug)]
pub(crate) struct LossSource {
    model: LossModel,
    bad: bool,
    changes: Option<Schedule<LossModel>>,
    rng: Pcg64,
}

impl LossSource {
    /// A source that begins with `model`, or `None` where no packet is ever lost.
    pub(crate) fn new(model: LossModel, changes: Option<Schedule<LossModel>>, rng: Pcg64) -> Option<Self> {
        let never = matches!(model, LossModel::None) || model == LossModel::Bernoulli(0.0);
        (!never || changes.is_some()).then_some(Self { model, bad: false, changes, rng })
    }

    /// A source that loses no packet until [`Self::replace_from`].
    pub(crate) fn none(rng: Pcg64) -> Self {
        Self { model: LossModel::None, bad: false, changes: None, rng }
    }

    /// Replaces the model for packets that come out at `at` ns or later; changes scheduled from then on end.
    pub(crate) fn replace_from(&mut self, at: u64, model: LossModel) {
        match &mut self.changes {
            Some(changes) => changes.replace_from(at, model),
            None => self.changes = Schedule::new(std::iter::once((at, model))),
        }
    }

    /// Whether a packet that comes out at `exit` ns is lost.
    pub(crate) fn draw(&mut self, exit: u64) -> bool {
        if let Some(model) = self.changes.as_mut().and_then(|changes| changes.due(exit)) {
            (self.model, self.bad) = (model, false);
        }
        let probability = match self.model {
            LossModel::None => return false,
            LossModel::Bernoulli(probability) => probability,
            LossModel::GilbertElliott { to_bad, to_good, loss_in_bad, loss_in_good } => {
                let leave = if self.bad { to_good } else { to_bad };
                self.bad ^= self.rng.random::<f64>() < leave;
                if self.bad { loss_in_bad } else { loss_in_good }
            }
        };
        self.rng.random::<f64>() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomStreams;

    const DRAWS: usize = 1_000_000;

    fn losses(model: LossModel) -> Vec<bool> {
        let mut source = LossSource::new(model, None, RandomStreams::new(3).loss).unwrap();
        (0..DRAWS).map(|_| source.draw(0)).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64
    }

    fn mean_burst(lost: &[bool]) -> f64 {
        let bursts = lost.windows(2).filter(|pair| pair[0] && !pair[1]).count();
        share(lost) * lost.len() as f64 / bursts as f64
    }

    /// Checks that `value` is `expected` within `tolerance`.
    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} is not within {tolerance} of {expected}");
    }

    #[test]
    fn independent_loss_hits_the_configured_share() {
        // Binomial, p = 0.02, n = 10⁶: standard error 1.4e-4. Bursts are geometric: 1/(1 - 0.02) = 1.0204 on average.
        let lost = losses(LossModel::Bernoulli(0.02));
        assert_near(share(&lost), 0.02, 5.0e-4);
        assert_near(mean_burst(&lost), 1.0204, 0.004);
        assert!(losses(LossModel::Bernoulli(1.0))[..1000].iter().all(|&lost| lost));
        assert!(LossSource::new(LossModel::Bernoulli(0.0), None, RandomStreams::new(3).loss).is_none());
    }

    #[test]
    fn a_gilbert_chain_loses_its_stationary_share_in_bursts_of_its_mean_stay() {
        // p = 0.01, r = 0.5: P(B) = 0.01/0.51 = 1.9608 %, bursts of 1/0.5 = 2 packets.
        let (to_bad, to_good) = (0.01, 0.5);
        let model = LossModel::GilbertElliott { to_bad, to_good, loss_in_bad: 1.0, loss_in_good: 0.0 };
        assert_near(model.mean(), 0.019_608, 1e-6);
        let lost = losses(model);
        assert_near(share(&lost), 0.019_608, 0.001);
        assert_near(mean_burst(&lost), 2.0, 0.05);
    }

    #[test]
    fn losses_within_the_states_weigh_with_the_time_spent_there() {
        // P(B) = 0.1/0.5 = 0.2: 0.2·0.5 + 0.8·0.05 = 0.14.
        let model =
            LossModel::GilbertElliott { to_bad: 0.1, to_good: 0.4, loss_in_bad: 0.5, loss_in_good: 0.05 };
        assert_near(model.mean(), 0.14, 1e-12);
        assert_near(share(&losses(model)), 0.14, 0.003);
    }

    #[test]
    fn bursts_have_the_mean_loss_and_the_mean_length_asked_for() {
        // L = 2 %, b = 3: r = 0.3333, p = 0.02·0.3333/0.98 = 0.006803.
        let model = LossModel::bursts(0.02, 3.0).unwrap();
        let LossModel::GilbertElliott { to_bad, to_good, .. } = model else { panic!("{model:?}") };
        assert_near(to_bad, 0.006_803, 1e-6);
        assert_near(to_good, 1.0 / 3.0, 1e-12);
        let lost = losses(model);
        assert_near(share(&lost), 0.02, 0.001);
        assert_near(mean_burst(&lost), 3.0, 0.1);
    }

    #[test]
    fn models_that_are_none_are_refused() {
        assert_eq!(LossModel::bursts(1.0, 3.0), Err(ConfigError::LossOutOfRange));
        assert_eq!(LossModel::bursts(0.02, 0.5), Err(ConfigError::LossBurstTooShort));
        assert_eq!(LossModel::bursts(0.02, f64::NAN), Err(ConfigError::LossBurstTooShort));
        // 80 % on average in bursts of 1 would need more than one step to the bad state per packet.
        assert_eq!(LossModel::bursts(0.8, 1.0), Err(ConfigError::LossBurstTooShort));
        let wrong =
            LossModel::GilbertElliott { to_bad: 0.1, to_good: 1.1, loss_in_bad: 1.0, loss_in_good: 0.0 };
        assert_eq!(wrong.validate(), Err(ConfigError::LossOutOfRange));
    }

    #[test]
    fn a_chain_that_never_leaves_a_state_is_in_the_good_one() {
        let chain = |to_bad, to_good| LossModel::GilbertElliott {
            to_bad,
            to_good,
            loss_in_bad: 0.5,
            loss_in_good: 0.1,
        };
        assert_eq!(chain(0.0, 0.0).mean(), 0.1);
        assert_eq!(chain(0.0, 0.3).mean(), 0.1);
        // Three quarters of the time in the bad state: 0.75 · 0.5 + 0.25 · 0.1.
        assert!((chain(0.3, 0.1).mean() - 0.4).abs() < 1e-12);
        // The chain never leaves the bad state again.
        assert_eq!(chain(0.3, 0.0).mean(), 0.5);
    }

    #[test]
    fn bursts_are_at_least_a_packet_long_and_as_long_as_the_mean_demands() {
        // Of two in three packets bursts are two packets long at least: p = L·r/(1 − L) = 2r.
        assert!(LossModel::bursts(2.0 / 3.0, 2.01).is_ok() && LossModel::bursts(2.0 / 3.0, 1.9).is_err());
        assert!(LossModel::bursts(0.1, 1.0).is_ok() && LossModel::bursts(0.1, 0.99).is_err());
        assert!(LossModel::bursts(0.0, 1.0).is_ok() && LossModel::bursts(1.0, 1e9).is_err());
        assert!(LossModel::bursts(0.1, f64::INFINITY).is_err());
    }
}
