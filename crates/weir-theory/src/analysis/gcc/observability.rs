//! Proposition 1 of gcc-2016: with frames of constant size, capacity and gradient are not separately observable.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_cc::ArrivalTime;
use weir_cc::gcc::send_side::{BandwidthUsage, BurstSample, Config};
use weir_units::{DataRate, TimeDelta};

use crate::analysis::entry::Analysis;
use crate::analysis::range::{FASTER, LONGER, check, moving, span};
use weir_form::Problem;

/// Ranks of the observability matrix, and the filter with and without frames of varying size.
pub(in crate::analysis) struct Observability;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::analysis) struct Parameters {
    /// `C`, the capacity that the filter should find.
    capacity: DataRate,
    /// `ΔL` where it is constant, and its maximum where it varies, in bytes.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    size_delta_bytes: f64,
    /// Time between frames.
    frame_interval: TimeDelta,
    /// Number of frames that the filter receives.
    #[schemars(range(min = 10, max = 1_000_000))]
    frames: u32,
    /// Growth of the queue from frame to frame, in ms: the gradient `m` that the filter should find.
    #[schemars(range(min = 0.0, max = 1000.0))]
    growth_ms: f64,
    /// Half the range of the delay's uniform noise, in ms.
    #[schemars(range(min = 0.0, max = 1000.0))]
    noise_ms: f64,
    /// Number of pairs of sizes whose rank is computed.
    #[schemars(range(min = 1, max = 100_000))]
    pairs: u32,
    /// Seed of the random draws.
    seed: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::analysis) struct Results {
    /// Pairs of two different `ΔL`.
    unequal_pairs: u32,
    /// Number of them for which `[[ΔL0, 1], [ΔL1, 1]]` has rank 2.
    unequal_of_rank_two: u32,
    /// Pairs of equal `ΔL`.
    equal_pairs: u32,
    /// Number of them for which it has rank 1.
    equal_of_rank_one: u32,
    /// Rank of the model with the gradient alone, `[[1], [1]]`: always 1, which suffices.
    scalar_rank: usize,
    /// The filter where sizes vary.
    varying: FoundSlope,
    /// The filter where all sizes differ by the same amount.
    constant: FoundSlope,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundSlope {
    /// `1/C` of the filter at the end, in ms per byte.
    slope_ms_per_byte: f64,
    /// The corresponding capacity, in bit/s; null where `1/C` is not above 0.
    capacity_bps: Option<f64>,
    /// Distance of `1/C` from its true value, over the true value.
    error: f64,
    /// The gradient `m` at the end, in ms.
    gradient_ms: f64,
    /// Distance of the gradient from `growth_ms`, in ms.
    gradient_error_ms: f64,
    /// Distance of the filter's `ΔL/C + m` from that of the path at the greatest `ΔL`, in ms. The filter leaves this part of the
    /// delays unexplained.
    unexplained_ms: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            capacity: DataRate::from_mbps(1),
            size_delta_bytes: 500.0,
            frame_interval: TimeDelta::from_millis(33),
            frames: 2000,
            growth_ms: 2.0,
            noise_ms: 0.5,
            pairs: 100,
            seed: 1,
        }
    }
}

impl Analysis for Observability {
    type Parameters = Parameters;
    type Results = Results;

    const NAME: &'static str = "kalman-observability";
    const SUMMARY: &'static str =
        "Whether a Kalman filter can tell capacity from gradient, by the sizes of frames";
    const SOURCE: &'static str = "gcc-2016 proposition 1; nada-vs-gcc-2016 eq. (7)";

    fn run(parameters: &Parameters) -> Result<Results, Problem> {
        check([
            ("capacity", moving(parameters.capacity), FASTER),
            ("frame_interval", span(parameters.frame_interval), LONGER),
        ])?;
        let mut dice = Pcg64Mcg::seed_from_u64(parameters.seed);
        let (unequal, equal): (Vec<usize>, Vec<usize>) =
            (0..parameters.pairs).map(|_| parameters.ranks(&mut dice)).unzip();
        let of_rank = |ranks: &[usize], rank: usize| ranks.iter().filter(|own| **own == rank).count() as u32;
        Ok(Results {
            unequal_pairs: parameters.pairs,
            unequal_of_rank_two: of_rank(&unequal, 2),
            equal_pairs: parameters.pairs,
            equal_of_rank_one: of_rank(&equal, 1),
            scalar_rank: rank([[1.0, 0.0], [1.0, 0.0]]),
            varying: parameters.filtered(&mut dice, true),
            constant: parameters.filtered(&mut dice, false),
        })
    }
}

impl Parameters {
    /// A random size between the maximum and its negative, in whole bytes.
    fn size(&self, dice: &mut impl Rng) -> f64 {
        (self.size_delta_bytes * dice.random_range(-1.0..=1.0_f64)).round()
    }

    /// Rank of the observability matrix for two different sizes, and for two equal ones.
    fn ranks(&self, dice: &mut impl Rng) -> (usize, usize) {
        let first = self.size(dice);
        let other = first + 1.0 + self.size(dice).abs();
        let of = |a: f64, b: f64| rank([[a, 1.0], [b, 1.0]]);
        (of(first, other), of(first, first))
    }

    /// Runs the filter on a path whose queue grows evenly: `d = ΔL/C + m` and noise.
    fn filtered(&self, dice: &mut impl Rng, varying: bool) -> FoundSlope {
        let truth = 8e3 / self.capacity.bps_f64();
        let mut filter = Config::nada_vs_gcc_2016().two_state();
        for _ in 0..self.frames {
            let size_delta = if varying { self.size(dice) } else { self.size_delta_bytes };
            let noise = self.noise_ms * dice.random_range(-1.0..=1.0_f64);
            let gradient = TimeDelta::from_millis_f64(truth * size_delta + self.growth_ms + noise);
            let sample = BurstSample {
                inter_departure: self.frame_interval,
                inter_arrival: self.frame_interval + gradient,
                size_delta,
                arrival: ArrivalTime::ZERO,
            };
            filter.update(&sample, BandwidthUsage::Normal);
        }
        let (slope, gradient) = (filter.slope(), filter.estimate());
        let gradient_error = gradient - self.growth_ms;
        FoundSlope {
            slope_ms_per_byte: slope,
            capacity_bps: (slope > 0.0).then(|| 8e3 / slope),
            error: (slope / truth - 1.0).abs(),
            gradient_ms: gradient,
            gradient_error_ms: gradient_error.abs(),
            unexplained_ms: ((slope - truth) * self.size_delta_bytes + gradient_error).abs(),
        }
    }
}

/// Number of singular values above the rounding error: the sum of their squares is the sum of all squares, and their product is
/// the determinant.
fn rank([[a, b], [c, d]]: [[f64; 2]; 2]) -> usize {
    let greatest = libm::hypot(libm::hypot(a, b), libm::hypot(c, d));
    let least = (a * d - b * c).abs() / greatest.max(f64::MIN_POSITIVE);
    let above = 1e-9 * greatest.max(1.0);
    usize::from(greatest > above) + usize::from(least > above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unequal_sizes_give_the_matrix_its_rank() {
        let results = Observability::run(&Parameters::default()).unwrap();
        assert_eq!((results.unequal_of_rank_two, results.equal_of_rank_one), (100, 100));
        assert_eq!(results.scalar_rank, 1);
        assert_eq!(rank([[100.0, 1.0], [200.0, 1.0]]), 2);
        assert_eq!(rank([[100.0, 1.0], [100.0, 1.0]]), 1);
        assert_eq!(rank([[0.0, 0.0], [0.0, 0.0]]), 0);
    }

    #[test]
    fn the_filter_finds_capacity_and_gradient_only_where_sizes_vary() {
        for seed in 1..=10 {
            let parameters = Parameters { seed, ..Parameters::default() };
            let Results { varying, constant, .. } = Observability::run(&parameters).unwrap();
            assert!(varying.error < 0.1 && varying.gradient_error_ms < 0.5, "{varying:?}");
            // 2 ms of growth are as much as 250 bytes more: in any state of the filter, ΔL/C and m together are the delay.
            assert!(constant.error > 0.1 && constant.gradient_error_ms > 0.5, "{constant:?}");
            assert!(constant.unexplained_ms < 0.5, "{constant:?}");
        }
    }

    #[test]
    fn without_growth_equal_sizes_find_the_capacity_by_where_the_filter_begins() {
        let parameters = Parameters { growth_ms: 0.0, ..Parameters::default() };
        let results = Observability::run(&parameters).unwrap();
        assert!(results.constant.error < 0.1, "{results:?}");
    }
}
