//! Likelihood of the observations for a channel.

use super::config::LossV2Config;
use super::observations::{Observation, Observations};

/// Least distance of probabilities from 0 and 1.
const LEAST_PROBABILITY: f64 = 1e-6;

/// Model of a channel, which loses a share of all packets and all data above its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Channel {
    /// `b` in bit/s.
    pub(super) bandwidth: f64,
    /// `p`.
    pub(super) inherent_loss: f64,
}

impl Channel {
    /// `P`: the probability that a packet sent at `rate` is lost.
    pub(super) fn loss_probability(&self, rate: f64) -> f64 {
        let (p, b) = (self.inherent_loss.clamp(0.0, 1.0), self.bandwidth);
        let loss = if rate > b { p + (1.0 - p) * (rate - b) / rate } else { p };
        loss.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    }
}

/// The likelihood of the observations, with a preference for higher bandwidths while the loss is low.
#[derive(Debug)]
pub(super) struct LikelihoodModel<'a> {
    config: &'a LossV2Config,
    observations: &'a Observations,
    /// The preference per kbit/s and per logarithm of it, at the present average loss.
    bias: f64,
    log_bias: f64,
}

impl<'a> LikelihoodModel<'a> {
    pub(super) fn new(config: &'a LossV2Config, observations: &'a Observations, average_loss: f64) -> Self {
        // g(c) = c·(ℓ₀ − ℓ) / (s + |ℓ₀ − ℓ|)
        let below = config.bias_loss - average_loss;
        let turn = below / (config.bias_smoothing + below.abs());
        Self { config, observations, bias: config.bias * turn, log_bias: config.log_bias * turn }
    }

    /// `candidate` with the inherent loss that fits better, by Newton's method.
    pub(super) fn fit(&self, candidate: &Channel) -> Channel {
        let mut channel = *candidate;
        channel.inherent_loss = self.feasible(&channel);
        for _ in 0..self.config.newton_steps {
            let (first, second) = self.derivatives(&channel);
            channel.inherent_loss -= self.config.newton_step * first / second;
            channel.inherent_loss = self.feasible(&channel);
        }
        channel
    }

    fn feasible(&self, channel: &Channel) -> f64 {
        let config = self.config;
        let most = if channel.bandwidth > 0.0 {
            (config.inherent_loss_offset + config.inherent_loss_balance.bps_f64() / channel.bandwidth)
                .min(1.0)
        } else {
            1.0
        };
        channel.inherent_loss.max(config.least_inherent_loss).min(most)
    }

    /// First and second derivative of the log-likelihood by the loss probability.
    fn derivatives(&self, channel: &Channel) -> (f64, f64) {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, observation) in self.observations.weighted() {
            let loss = channel.loss_probability(observation.rate);
            let (lost, received) = (observation.lost / loss, observation.received / (1.0 - loss));
            first += weight * (lost - received);
            second -= weight * (lost / loss + received / (1.0 - loss));
        }
        (first, if second < 0.0 { second } else { -LEAST_PROBABILITY })
    }

    /// The log-likelihood of the observations and the preference for the bandwidth.
    pub(super) fn objective(&self, channel: &Channel) -> f64 {
        let logs = Logs::of(channel);
        let kbps = libm::round(channel.bandwidth / 1e3);
        let preference = self.bias * kbps + self.log_bias * libm::log1p(kbps);
        let mut objective = 0.0;
        for (weight, observation) in self.observations.weighted() {
            objective += weight * (logs.likelihood(channel, observation) + observation.sent() * preference);
        }
        objective
    }
}

/// Logarithms that all observations share. Most observations are below the bandwidth; those above it need one more
/// logarithm only if packets were lost.
#[derive(Clone, Copy, Debug)]
struct Logs {
    lost: f64,
    received: f64,
    /// `ln((1 − p)·b)`.
    carried: f64,
}

impl Logs {
    fn of(channel: &Channel) -> Self {
        let loss = channel.loss_probability(0.0);
        let received = libm::log(1.0 - loss);
        Self { lost: libm::log(loss), received, carried: received + libm::log(channel.bandwidth.max(1.0)) }
    }

    /// `lost·ln P + received·ln(1 − P)`.
    fn likelihood(&self, channel: &Channel, observation: &Observation) -> f64 {
        if observation.rate <= channel.bandwidth {
            return observation.lost * self.lost + observation.received * self.received;
        }
        // 1 − P = (1 − p)·b/s
        let arrives = (self.carried - observation.ln_rate).max(LN_LEAST_PROBABILITY);
        let lost = if observation.lost > 0.0 {
            observation.lost * libm::log(channel.loss_probability(observation.rate))
        } else {
            0.0
        };
        lost + observation.received * arrives
    }
}

/// `ln` of [`LEAST_PROBABILITY`].
const LN_LEAST_PROBABILITY: f64 = -13.815_510_557_964_274;
