//! Random variables of web traffic: sizes and numbers of requests.

use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;
use weir_units::DataSize;
use weir_world::random::unit;
use weir_world::{WebSizes, WebTraffic};

/// Size of a response, from the log-normal body or the Pareto tail.
pub(crate) fn response_size(rng: &mut Pcg64Mcg, sizes: &WebSizes) -> DataSize {
    let bytes = if unit(rng) <= sizes.tail {
        sizes.tail_from * libm::pow(unit(rng), -1.0 / sizes.tail_exponent)
    } else {
        let z: f64 = StandardNormal.sample(rng);
        sizes.median * libm::exp(sizes.sigma * z)
    };
    DataSize::from_bytes_f64(bytes.min(sizes.largest).round().max(1.0))
}

/// Number of requests of a session.
pub(crate) fn session_requests(rng: &mut Pcg64Mcg, web: &WebTraffic) -> u32 {
    let mean = web.requests.max(1.0);
    if mean <= 1.0 {
        return 1;
    }
    // P(N > n) = (1 − 1/mean)^n.
    let n = libm::ceil(libm::log(unit(rng)) / libm::log(1.0 - 1.0 / mean));
    n.clamp(1.0, 1e6) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::generator;
    use weir_units::{DataRate, TimeDelta};

    #[test]
    fn drawn_sizes_have_the_mean_of_the_formula() {
        let sizes = WebSizes::default();
        let mut rng = generator(1, "web", "sizes");
        let n = 400_000;
        let drawn = (0..n).map(|_| response_size(&mut rng, &sizes).bytes_f64()).sum::<f64>() / f64::from(n);
        // The standard deviation of a size is about 4 means: of this mean 0.7 %.
        assert!((drawn / sizes.mean() - 1.0).abs() < 0.02, "{drawn} instead of {}", sizes.mean());
        let below = (0..n).filter(|_| response_size(&mut rng, &sizes).bytes_f64() < 11_579.0).count();
        assert!((below as f64 / f64::from(n) - 0.465).abs() < 0.003, "half of the body: {below}");
    }

    #[test]
    fn sessions_have_the_mean_number_of_requests() {
        let web = WebTraffic {
            load: DataRate::from_mbps(1),
            requests: 4.0,
            think: TimeDelta::from_secs(1),
            least_extra: TimeDelta::ZERO,
            most_extra: TimeDelta::ZERO,
            sizes: WebSizes::default(),
        };
        let mut rng = generator(1, "web", "requests");
        let n = 100_000;
        let mean = (0..n).map(|_| f64::from(session_requests(&mut rng, &web))).sum::<f64>() / f64::from(n);
        // Standard deviation √12 = 3.46; of the mean 0.011.
        assert!((mean - 4.0).abs() < 0.04, "{mean}");
        assert_eq!(session_requests(&mut rng, &WebTraffic { requests: 1.0, ..web }), 1);
    }
}
