//! Random numbers of a link: one generator for each use, and the jitter models.
//!
//! [`Jitter`] has the formulas of the jitter models; the half-normal one is the truncated Gaussian of RFC 8868 §4.5. A
//! seed gives the same values on every processor and in every release.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;
use weir_units::TimeDelta;

use crate::changes::ExtraDelay;
use crate::config::Jitter;

/// Separate random generators for jitter, loss and queue: each draws the same values whether the others are used or not.
pub(crate) struct RandomStreams {
    pub(crate) jitter: Pcg64,
    pub(crate) loss: Pcg64,
    pub(crate) queue: Pcg64,
}

impl RandomStreams {
    /// The generators of a link from its seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut root = Pcg64::seed_from_u64(seed);
        let mut next = || Pcg64::from_rng(&mut root);
        Self { jitter: next(), loss: next(), queue: next() }
    }
}

/// Source of each packet's delay beyond the least propagation delay, in ns: the jitter, and the scheduled changes of
/// the delay.
#[derive(Clone, Debug)]
pub(crate) struct JitterSource {
    model: Jitter,
    rng: Pcg64,
    /// Index of the next delay of [`Jitter::Trace`].
    next: usize,
    /// Scheduled changes of the delay.
    extra: Option<ExtraDelay>,
}

impl JitterSource {
    /// The source, or `None` for a link without jitter and without changes of delay.
    pub(crate) fn new(model: Jitter, extra: Option<ExtraDelay>, rng: Pcg64) -> Option<Self> {
        let any = model != Jitter::None || extra.is_some();
        any.then_some(Self { model, rng, next: 0, extra })
    }

    /// The part of the delay in ns that scheduled changes make, for a packet that leaves the queue at `departure` ns.
    #[inline]
    pub(crate) fn extra(&self, departure: u64) -> u64 {
        self.extra.as_ref().map_or(0, |extra| extra.at(departure))
    }

    /// Ends the scheduled changes of the delay.
    pub(crate) fn end_changes(&mut self) {
        self.extra = None;
    }

    /// The jitter of the next packet, in ns.
    pub(crate) fn draw(&mut self) -> u64 {
        match self.model {
            Jitter::None => 0,
            Jitter::HalfNormal { sd, max } => clip(self.normal(sd).abs(), max),
            Jitter::Uniform { max } => clip(self.rng.random::<f64>() * max.nanos() as f64, max),
            Jitter::ClippedNormal { mean, sd, max } => clip(mean.nanos() as f64 + self.normal(sd), max),
            Jitter::Trace(ref delays) => {
                let delay = delays.get(self.next).map_or(0, |delay| delay.nanos().max(0) as u64);
                self.next = (self.next + 1) % delays.len().max(1);
                delay
            }
        }
    }

    /// A normally distributed value with mean 0 and this standard deviation, in ns.
    fn normal(&mut self, sd: TimeDelta) -> f64 {
        self.rng.sample::<f64, _>(StandardNormal) * sd.nanos() as f64
    }
}

/// `nanos` rounded, with values below 0 set to 0 and values above `max` set to `max`.
fn clip(nanos: f64, max: TimeDelta) -> u64 {
    // `as` saturates, so negative values give 0.
    (nanos.round() as u64).min(max.nanos().max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LossModel, LossSource};

    const DRAWS: usize = 1_000_000;

    /// Mean, standard deviation and maximum in milliseconds.
    fn moments(model: Jitter) -> (f64, f64, f64) {
        let mut source = JitterSource::new(model, None, RandomStreams::new(7).jitter).unwrap();
        let (mut sum, mut squares, mut max) = (0.0, 0.0, 0.0_f64);
        for _ in 0..DRAWS {
            let x = source.draw() as f64 / 1e6;
            sum += x;
            squares += x * x;
            max = max.max(x);
        }
        let mean = sum / DRAWS as f64;
        (mean, (squares / DRAWS as f64 - mean * mean).sqrt(), max)
    }

    /// Checks that `value` is `expected` within `tolerance`.
    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} is not within {tolerance} of {expected}");
    }

    #[test]
    fn half_normal_jitter_has_the_moments_of_a_truncated_gaussian() {
        // s = 5 ms, N = 3: mean = s·sqrt(2/π)·(1 - e^-4.5) + N·s·erfc(3/√2)
        //   = 5·0.797885·0.988891 + 15·0.0026998 = 3.94510 + 0.04050 = 3.9856 ms.
        // Standard deviation: 2.998 ms. Standard error of the mean: 0.003 ms.
        let (sd, max) = (TimeDelta::from_millis(5), TimeDelta::from_millis(15));
        let (mean, deviation, largest) = moments(Jitter::HalfNormal { sd, max });
        assert_near(mean, 3.9856, 0.012);
        assert_near(deviation, 2.998, 0.012);
        assert_eq!(largest, 15.0);
    }

    #[test]
    fn uniform_jitter_fills_its_range_evenly() {
        // Mean 30/2 = 15 ms, standard deviation 30/√12 = 8.660 ms; standard error 0.0087 ms.
        let (mean, deviation, largest) = moments(Jitter::Uniform { max: TimeDelta::from_millis(30) });
        assert_near(mean, 15.0, 0.035);
        assert_near(deviation, 8.660, 0.025);
        assert!(largest > 29.99 && largest <= 30.0, "{largest}");
    }

    #[test]
    fn clipped_normal_jitter_piles_up_at_its_ends() {
        // N(10, 5²) clipped to [0, 20] is symmetric: mean 10 ms. In units of 5 ms the clip stands at c = 2, and
        // E[x²] = erf(2/√2) - 2·c·φ(c) + c²·erfc(2/√2) = 0.954500 - 0.215964 + 0.182001 = 0.920537,
        // hence the standard deviation 5·0.959446 = 4.7972 ms.
        let ms = TimeDelta::from_millis;
        let (mean, deviation, largest) =
            moments(Jitter::ClippedNormal { mean: ms(10), sd: ms(5), max: ms(20) });
        assert_near(mean, 10.0, 0.02);
        assert_near(deviation, 4.7972, 0.015);
        assert_eq!(largest, 20.0);
    }

    #[test]
    fn a_jitter_trace_is_used_over_and_over() {
        let delays: Vec<TimeDelta> = [3, 1, 4].map(TimeDelta::from_millis).into();
        let mut source =
            JitterSource::new(Jitter::Trace(delays.into()), None, RandomStreams::new(1).jitter).unwrap();
        let drawn: Vec<u64> = (0..7).map(|_| source.draw() / 1_000_000).collect();
        assert_eq!(drawn, [3, 1, 4, 3, 1, 4, 3]);
    }

    #[test]
    fn the_same_seed_draws_the_same_values_and_another_seed_others() {
        let model = Jitter::Uniform { max: TimeDelta::from_secs(1) };
        let values = |seed| {
            let mut source = JitterSource::new(model.clone(), None, RandomStreams::new(seed).jitter).unwrap();
            [source.draw(), source.draw(), source.draw()]
        };
        assert_eq!(values(1), values(1));
        assert_ne!(values(1), values(2));
        let RandomStreams { mut jitter, mut loss, mut queue } = RandomStreams::new(1);
        let draws = [jitter.random::<u64>(), loss.random::<u64>(), queue.random::<u64>()];
        assert!(draws[0] != draws[1] && draws[1] != draws[2] && draws[0] != draws[2]);
    }

    #[test]
    fn draws_stay_the_same_in_every_release() {
        // No theory gives these values: they are those of the current release. A change alters every published
        // run.
        let max = TimeDelta::from_secs(1);
        let mut uniform =
            JitterSource::new(Jitter::Uniform { max }, None, RandomStreams::new(1).jitter).unwrap();
        assert_eq!([uniform.draw(), uniform.draw(), uniform.draw()], [512_605_720, 748_278_125, 315_034_493]);
        let mut normal = JitterSource::new(
            Jitter::HalfNormal { sd: max, max: max * 3 },
            None,
            RandomStreams::new(1).jitter,
        )
        .unwrap();
        assert_eq!([normal.draw(), normal.draw(), normal.draw()], [61_179_868, 562_553_168, 770_714_163]);
        let mut loss = LossSource::new(LossModel::Bernoulli(0.5), None, RandomStreams::new(1).loss).unwrap();
        assert_eq!((0..16).map(|i| u32::from(loss.draw(0)) << i).sum::<u32>(), 23_499);
    }
}
