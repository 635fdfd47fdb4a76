//! Random noise of frame sizes and intervals.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

/// Bound of normal noise in standard deviations, so that no frame is negative or absurd.
const NOISE_LIMIT: f64 = 3.0;

/// Draws uniformly from [0, 1), with 53 random bits.
pub(super) fn unit(rng: &mut Pcg64Mcg) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Draws uniformly from `[1 - spread, 1 + spread]`.
pub(crate) fn spread_factor(rng: &mut Pcg64Mcg, spread: f64) -> f64 {
    1.0 + spread * (2.0 * unit(rng) - 1.0)
}

/// Draws from the normal distribution of mean zero and deviation `sd`, limited to three deviations. For zero no
/// random number is drawn.
pub(super) fn clipped_normal(rng: &mut Pcg64Mcg, sd: f64) -> f64 {
    if sd == 0.0 {
        return 0.0;
    }
    let z: f64 = StandardNormal.sample(rng);
    z.clamp(-NOISE_LIMIT, NOISE_LIMIT) * sd
}

/// Draws from the Laplace distribution of mean zero and this scale. For zero no random number is drawn.
pub(super) fn laplace(rng: &mut Pcg64Mcg, scale: f64) -> f64 {
    if scale == 0.0 {
        return 0.0;
    }
    // Half a step keeps u off both ends.
    laplace_of(unit(rng) - 0.5 + 0.5 / (1u64 << 53) as f64, scale)
}

/// Value of the Laplace distribution for the uniform value `u` in (−0.5, 0.5).
pub(super) fn laplace_of(u: f64, scale: f64) -> f64 {
    let magnitude = -scale * libm::log(1.0 - 2.0 * u.abs());
    if u < 0.0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn laplace_noise_has_the_scale_and_no_mean() {
        // 0.15 · ln 2 = 0.10397.
        assert!((laplace_of(0.25, 0.15) - 0.103_972).abs() < 1e-6);
        assert_eq!(laplace_of(-0.25, 0.15), -laplace_of(0.25, 0.15));
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| laplace(&mut rng, 0.15)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let sd = (draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n)).sqrt();
        // 0.15 · √2 = 0.2121; standard error of the mean 0.00067.
        assert!(mean.abs() < 0.002, "{mean}");
        assert!((sd - 0.2121).abs() < 0.003, "{sd}");
    }
}
