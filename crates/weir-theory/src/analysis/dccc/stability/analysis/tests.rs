//! Margins, the hull of eq. (40) and refused parameters. Another program computed the reference values;
//! `experiments/dccc-2017/sec4B.toml` has those of the margins.

use super::*;

fn of(kbps: u64, change: impl Fn(Parameters) -> Parameters) -> Results {
    let parameters = Parameters { rate: DataRate::from_kbps(kbps), ..Parameters::default() };
    DcccLoop::run(&change(parameters)).unwrap()
}

/// Checks that `value` is `expected` within `tolerance`.
fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

#[test]
fn margins_of_one_and_of_two_links_are_the_reference_values() {
    for (kbps, crossover, phase, gain, delay, phase_two, gain_two) in [
        (500, 4.041, 60.67, 3.853, 262.1, 40.9, 1.926),
        (1000, 4.076, 56.67, 3.804, 242.7, 38.8, 1.902),
        (2500, 4.099, 54.31, 3.773, 231.2, 37.6, 1.887),
    ] {
        let one = of(kbps, |defaults| defaults);
        close(one.crossover_rad_per_s, crossover, 1e-3);
        close(one.phase_margin_deg, phase, 0.01);
        close(one.gain_margin, gain, 1e-3);
        close(one.delay_margin_ms, delay, 0.1);
        let two = of(kbps, |defaults| Parameters { links: 2, ..defaults });
        close(two.phase_margin_deg, phase_two, 0.1);
        close(two.gain_margin, gain_two, 1e-3);
        assert_eq!((one.stable, two.stable), (1, 1));
    }
}

#[test]
fn zero_pole_and_gain_are_those_of_eq_43() {
    let results = of(1000, |defaults| Parameters { rtt: TimeDelta::from_millis(50), ..defaults });
    // (β − a)/RTT = (0.1 − 0.02)/0.05, η·a/RTT = 0.4·0.02/0.05, η/RTT = 0.4/0.05.
    close(results.zero_rad_per_s, 1.6, 1e-9);
    close(results.pole_rad_per_s, 0.16, 1e-9);
    close(results.gain_per_s, 8.0, 1e-9);
    close(results.crossover_rad_per_s, 8.151, 1e-3);
}

#[test]
fn margins_shrink_with_the_gain_and_with_beta() {
    for (factor, phase, gain) in [(0.25, 50.4, 15.2), (2.0, 39.4, 1.91), (3.75, 2.1, 1.02)] {
        let results = of(1000, |defaults| Parameters { gain_factor: factor, ..defaults });
        close(results.phase_margin_deg, phase, 0.1);
        close(results.gain_margin, gain, 0.05);
    }
    close(of(1000, |defaults| Parameters { price_scale: 0.5, ..defaults }).phase_margin_deg, 18.3, 0.1);
}

#[test]
fn four_times_the_gain_encircles_minus_one() {
    let four = of(1000, |defaults| Parameters { gain_factor: 4.0, ..defaults });
    assert_eq!((four.encirclements, four.stable, four.hull_stable), (2, 0, 0));
    // The gain η = 3.75 · 0.4 = 1.5 has a gain margin of 1.02, as the test above shows.
    close(of(1000, |defaults| defaults).critical_gain.unwrap(), 1.5 * 1.02, 0.01);
}

#[test]
fn the_hull_of_one_flow_ends_where_its_curve_crosses_the_axis() {
    let results = of(1000, |defaults| Parameters { links: 2, ..defaults });
    close(results.hull_least_real, -1.0 / 1.902, 1e-3);
    let others = |defaults| Parameters {
        other_rates: vec![DataRate::from_kbps(500)],
        other_rtts: vec![TimeDelta::from_millis(300)],
        ..defaults
    };
    assert!(of(1000, others).hull_least_real <= of(1000, |defaults| defaults).hull_least_real);
}

#[test]
fn the_sampled_loop_has_less_margin_than_the_continuous_one() {
    let results = of(1000, |defaults| defaults);
    close(results.sampled.critical_gain, 0.957, 1e-3);
    assert!(results.sampled.phase_margin_deg.unwrap() < results.phase_margin_deg);
    assert!(results.sampled.gain_margin.unwrap() < results.gain_margin);
    assert_eq!(results.sampled.root_moduli.len(), 3);
    let three = of(1000, |defaults| Parameters { links: 3, ..defaults });
    assert_eq!((three.stable, three.sampled.stable), (1, 0));
}

/// `K·e^{−jW}/(jW)` encircles −1 two more times at π/2, 5π/2, 9π/2 and so on.
#[test]
fn many_links_and_high_gains_are_unstable() {
    for (links, factor, times) in [(30, 1.0, 4), (100, 1.0, 14), (100, 10.0, 128), (100, 1000.0, 12_732)] {
        let results = of(1000, |defaults| Parameters { links, gain_factor: factor, ..defaults });
        assert_eq!((results.encirclements, results.stable, results.hull_stable), (times, 0, 0), "{links}");
        assert!(results.phase_margin_deg < 0.0 && results.gain_margin < 1.0, "{results:?}");
        // For one link the critical gain is 0.4 · 3.80 = 1.52: the gain times its margin. Links multiply the gain.
        close(results.critical_gain.unwrap() * f64::from(links), 1.52, 0.03);
        // With this gain at half the sampling rate there is no crossover, hence no margin.
        assert_eq!((results.sampled.phase_margin_deg, results.sampled.stable), (None, 0));
    }
}

/// The expected value is a minimum over frequencies far beyond all crossings.
#[test]
fn the_hull_of_slow_and_fast_flows_is_searched_at_all_relevant_frequencies() {
    for rtts in [[100, 100], [30, 400], [10, 1000], [250, 60]] {
        let parameters = Parameters {
            links: 2,
            gain_factor: 3.0,
            other_rates: [210, 3000].map(DataRate::from_kbps).to_vec(),
            other_rtts: rtts.map(TimeDelta::from_millis).to_vec(),
            ..Parameters::default()
        };
        let flows = parameters.flows();
        let everywhere = frequencies(0.02, 400.0, 20_000).into_iter().map(|w| {
            let points: Vec<_> = flows.iter().map(|(flow, scale)| flow.ratio(w * scale) * 2.0).collect();
            least_real(&points)
        });
        let expected = everywhere.fold(0.0, f64::min);
        close(DcccLoop::run(&parameters).unwrap().hull_least_real, expected, 2e-3);
    }
}

#[test]
fn round_trip_times_more_than_a_factor_of_100_apart_are_refused() {
    let apart = Parameters {
        other_rates: vec![DataRate::from_kbps(1000)],
        other_rtts: vec![TimeDelta::from_secs(11)],
        ..Parameters::default()
    };
    assert_eq!(DcccLoop::run(&apart).unwrap_err().message, "`other_rtts` is out of range");
}

#[test]
fn a_rate_below_every_equilibrium_is_refused() {
    let slow = Parameters { rate: DataRate::from_kbps(200), ..Parameters::default() };
    assert!(DcccLoop::run(&slow).is_err());
}
