//! The delay histogram against exact order statistics.

use proptest::prelude::*;
use weir_measure::metrics::Histogram;
use weir_units::TimeDelta;

/// A bin is at most this share of its delay wide.
const BIN: f64 = 1.0 / 256.0;

/// The histogram of these values in ns.
fn histogram(nanos: &[i64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &n in nanos {
        histogram.record(TimeDelta::from_nanos(n));
    }
    histogram
}

/// Type 7 of Hyndman and Fan 1996, in milliseconds.
fn exact_quantile_ms(nanos: &[i64], q: f64) -> f64 {
    let mut sorted = nanos.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() - 1) as f64 * q;
    let (low, high) = (sorted[rank.floor() as usize] as f64, sorted[rank.ceil() as usize] as f64);
    (low + rank.fract() * (high - low)) / 1e6
}

/// From below the smallest bin to an hour, each magnitude alike.
fn delay() -> impl Strategy<Value = i64> {
    (0_u32..42, 0.0..1.0).prop_map(|(octave, place)| ((1_u64 << octave) as f64 * (1.0 + place)) as i64)
}

proptest! {
    #[test]
    fn quantiles_are_within_a_bin_of_the_exact_ones(
        nanos in prop::collection::vec(delay(), 1..400),
        q in 0.0..=1.0,
    ) {
        let exact = exact_quantile_ms(&nanos, q);
        let found = histogram(&nanos).quantile_ms(q).unwrap();
        // Delays below 1.024 us share a bin.
        prop_assert!((found - exact).abs() <= BIN * exact + 1.024e-3, "{found} instead of {exact}");
    }

    #[test]
    fn quantiles_of_many_alike_are_within_a_bin_too(
        nanos in prop::collection::vec(25_000_000_i64..80_000_000, 500..2000),
    ) {
        let histogram = histogram(&nanos);
        for q in [0.0, 0.05, 0.5, 0.95, 0.99, 1.0] {
            let exact = exact_quantile_ms(&nanos, q);
            let found = histogram.quantile_ms(q).unwrap();
            prop_assert!((found - exact).abs() <= BIN * exact, "{found} instead of {exact}");
        }
    }

    #[test]
    fn mean_minimum_and_maximum_are_exact(nanos in prop::collection::vec(delay(), 1..200)) {
        let histogram = histogram(&nanos);
        let sum: i64 = nanos.iter().sum();
        prop_assert_eq!(histogram.mean_ms(), Some(sum as f64 / nanos.len() as f64 / 1e6));
        prop_assert_eq!(histogram.min().map(TimeDelta::nanos), nanos.iter().copied().min());
        prop_assert_eq!(histogram.max().map(TimeDelta::nanos), nanos.iter().copied().max());
    }

    #[test]
    fn merging_is_recording_everything_in_one(
        a in prop::collection::vec(delay(), 0..100),
        b in prop::collection::vec(delay(), 0..100),
    ) {
        let mut merged = histogram(&a);
        merged.merge(&histogram(&b));
        let together = histogram(&[a, b].concat());
        prop_assert_eq!(merged.count(), together.count());
        prop_assert_eq!(merged.mean_ms(), together.mean_ms());
        prop_assert_eq!((merged.min(), merged.max()), (together.min(), together.max()));
        prop_assert_eq!(merged.quantile_ms(0.5), together.quantile_ms(0.5));
        prop_assert_eq!(merged.cdf(2000), together.cdf(2000));
    }

    #[test]
    fn reducing_is_subtracting_from_each(
        nanos in prop::collection::vec(50_000_000_i64..400_000_000, 1..300),
        q in 0.0..=1.0,
    ) {
        let reduced = histogram(&nanos).reduced_by(TimeDelta::from_millis(50));
        let differences: Vec<i64> = nanos.iter().map(|n| n - 50_000_000).collect();
        let exact = exact_quantile_ms(&differences, q);
        let found = reduced.quantile_ms(q).unwrap();
        prop_assert!((found - exact).abs() <= BIN * (2.0 * exact + 50.0), "{found} instead of {exact}");
        prop_assert_eq!(reduced.mean_ms(), histogram(&differences).mean_ms());
        let (sd, expected) = (reduced.sd_ms().unwrap(), histogram(&differences).sd_ms().unwrap());
        prop_assert!((sd - expected).abs() < 1e-3, "{sd} instead of {expected}");
    }

    #[test]
    fn the_cumulative_distribution_rises_to_one(nanos in prop::collection::vec(delay(), 1..300)) {
        let points = histogram(&nanos).cdf(50);
        prop_assert!(points.len() <= 50);
        prop_assert!(points.windows(2).all(|p| p[0].delay_ms <= p[1].delay_ms && p[0].share < p[1].share));
        prop_assert_eq!(points.last().map(|p| p.share), Some(1.0));
    }
}

#[test]
fn quantiles_interpolate_between_order_statistics() {
    // 10, 20, 30, 40 ms: rank of the median 1.5, between 20 and 30 ms; of q = 0.95 rank 2.85: 30 + 0.85 · 10 = 38.5.
    let histogram = histogram(&[40_000_000, 10_000_000, 30_000_000, 20_000_000]);
    let near = |q: f64, expected: f64| {
        let found = histogram.quantile_ms(q).unwrap();
        assert!((found - expected).abs() <= expected * BIN, "{found} instead of {expected}");
    };
    near(0.5, 25.0);
    near(0.95, 38.5);
    assert_eq!(histogram.quantile_ms(0.0), Some(10.0));
    assert_eq!(histogram.quantile_ms(1.0), Some(40.0));
    assert_eq!(histogram.mean_ms(), Some(25.0));
    // Squared deviations 225 + 25 + 25 + 225 = 500; √(500 / 4) = 11.1803.
    assert!((histogram.sd_ms().unwrap() - 11.1803).abs() < 1e-4);
}

#[test]
fn an_empty_histogram_has_no_statistics() {
    let empty = Histogram::new();
    assert_eq!((empty.mean_ms(), empty.sd_ms(), empty.quantile_ms(0.5)), (None, None, None));
    assert_eq!((empty.min(), empty.max()), (None, None));
    assert!(empty.cdf(10).is_empty());
    assert_eq!(empty.reduced_by(TimeDelta::from_millis(1)), Histogram::new());
}

#[test]
fn negative_delays_count_as_zero() {
    let histogram = histogram(&[-5, 0, 0]);
    assert_eq!(histogram.max(), Some(TimeDelta::ZERO));
    assert_eq!(histogram.quantile_ms(0.5), Some(0.0));
}

#[test]
fn an_unasked_quantile_is_none() {
    assert_eq!(histogram(&[1]).quantile_ms(f64::NAN), None);
}
