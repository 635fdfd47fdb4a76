//! Against closed forms and against reference values that were integrated independently (explicit Euler in double
//! precision by another program).

use super::*;

const STEP: f64 = 0.5e-3;

fn link(capacity: f64, cross_traffic: f64, queue_limit: f64) -> FluidLink {
    FluidLink { capacity, cross_traffic, queue_limit, propagation: 0.025 }
}

/// Table I with `T` = 100 ms.
fn flow(route: &[usize], active: (f64, f64)) -> FluidFlow {
    FluidFlow {
        route: route.to_vec(),
        return_delay: 0.025,
        active,
        start_rate: 200e3,
        utility_weight: 20e3,
        price_scale: 0.1,
        gain: 0.4,
        threshold: 0.1,
    }
}

fn close(actual: f64, expected: f64, share: f64) {
    assert!((actual - expected).abs() <= share * expected, "{actual} is not {expected}");
}

#[test]
fn one_flow_settles_where_price_and_utility_meet() {
    let result = integrate(&[link(1.5e6, 0.0, 1.0)], &[flow(&[0], (0.0, 60.0))], 60.0, STEP).unwrap();
    // Eq. (18): e = (e_b·a + T)/(1 − a), a = h/(βx) = 0.1333: 119.23 ms, 94.23 of them in the queue.
    close(result.queue(0, 59.0), 0.094_23, 1e-3);
    close(result.rate(0, 59.0), 1.5e6, 1e-3);
    let reached = result.rates[0].iter().position(|&rate| rate >= 1.5e6).unwrap() as f64 * STEP;
    close(reached, 8.18, 0.01);
    let peak = result.rates[0].iter().copied().fold(0.0, f64::max);
    close(peak, 1519.8e3, 2e-3);
}

#[test]
fn three_flows_over_a_long_queue_share_as_in_figure_5() {
    let flows = [flow(&[0], (2.0, 320.0)), flow(&[0], (4.0, 320.0)), flow(&[0], (100.0, 260.0))];
    let result = integrate(&[link(3.5e6, 500e3, 0.325)], &flows, 300.0, STEP).unwrap();
    for (at, rates) in [
        (20.0, [1599e3, 1405e3, 0.0]),
        (50.0, [1532e3, 1468e3, 0.0]),
        (99.0, [1505e3, 1495e3, 0.0]),
        (120.0, [1150e3, 1147e3, 704e3]),
        (150.0, [1032e3, 1032e3, 936e3]),
        (255.0, [1000e3, 1000e3, 1000e3]),
    ] {
        for (flow, expected) in rates.into_iter().enumerate() {
            close(result.rate(flow, at), expected, 0.01);
        }
    }
    close(result.queue(0, 255.0), 0.106_25, 5e-3);
}

#[test]
fn a_short_queue_is_shared_by_loss_as_in_figure_6() {
    let flows = [flow(&[0], (2.0, 320.0)), flow(&[0], (4.0, 320.0)), flow(&[0], (100.0, 260.0))];
    let result = integrate(&[link(3.5e6, 500e3, 0.0625)], &flows, 256.0, STEP).unwrap();
    // x = ((c − u) + √((c − u)² + 4·N·h·c))/(2N): 1523.0 with two, 1022.8 with three.
    close(result.rate(0, 99.0), 1523.0e3, 5e-3);
    close(result.rate(2, 255.0), 1022.8e3, 5e-3);
}

#[test]
fn a_parking_lot_charges_who_passes_both_links() {
    let links = [link(2e6, 0.0, 1.0), link(2e6, 0.0, 1.0)];
    let flows = [flow(&[0, 1], (0.0, 400.0)), flow(&[0], (0.0, 400.0)), flow(&[1], (0.0, 400.0))];
    let result = integrate(&links, &flows, 400.0, STEP).unwrap();
    let rate = |flow| result.rate(flow, 399.0);
    close(rate(0) + rate(1), 2e6, 1e-3);
    close(rate(1), rate(2), 1e-3);
    // At rest each flow's utility is its price: h/x = β(e − T)/(e + e_b).
    let queue = result.queue(0, 399.0);
    let price = |e: f64| 0.1 * (e - 0.1) / (e + 0.025);
    close(20e3 / rate(1), price(queue + 0.025), 0.01);
    close(20e3 / rate(0), price(2.0 * (queue + 0.025)), 0.01);
    assert!(rate(0) < 0.7 * rate(1), "{} beside {}", rate(0), rate(1));
}

/// Links whose ends are closer than a step: data that leaves one still arrives at the next.
#[test]
fn a_wide_link_without_length_before_a_bottleneck_changes_nothing() {
    for propagation in [0.0, 0.1e-3] {
        let wide = FluidLink { propagation, ..link(3e6, 0.0, 1.0) };
        let flow = flow(&[0, 1, 2], (0.0, 60.0));
        let result = integrate(&[wide, wide, link(1.5e6, 0.0, 1.0)], &[flow], 60.0, STEP).unwrap();
        close(result.rate(0, 59.0), 1.5e6, 1e-3);
        close(result.queue(2, 59.0), 0.094_23, 5e-3);
        assert!(result.queue(0, 59.0) <= 0.0 && result.queue(1, 59.0) <= 0.0);
    }
}

#[test]
fn cross_traffic_alone_fills_a_queue() {
    // 1.5 Mbit/s into 1 Mbit/s: half a second of queue per second.
    let result = integrate(&[link(1e6, 1.5e6, 9.0)], &[], 10.0, STEP).unwrap();
    close(result.queue(0, 4.0), 2.0, 1e-3);
}

#[test]
fn beyond_the_stable_gain_it_oscillates_for_ever() {
    let spread = |gain: f64| {
        let flow = FluidFlow { gain, start_rate: 990e3, ..flow(&[0], (0.0, 201.0)) };
        let result = integrate(&[link(1e6, 0.0, 2.0)], &[flow], 200.0, STEP).unwrap();
        let late = &result.rates[0][(180.0 / STEP) as usize..];
        late.iter().copied().fold(0.0, f64::max) - late.iter().copied().fold(f64::INFINITY, f64::min)
    };
    // By theory the limit of stability is η = 1.52.
    assert!(spread(1.40) < 2e3, "{}", spread(1.40));
    assert!(spread(1.60) > 20e3, "{}", spread(1.60));
}

#[test]
fn parameters_that_cannot_be_integrated_are_named() {
    let (good, one) = (link(1e6, 0.0, 1.0), flow(&[0], (0.0, 1.0)));
    assert_eq!(integrate(&[good], std::slice::from_ref(&one), 1.0, 1e-3), Err(FluidError::Time));
    assert_eq!(integrate(&[good], std::slice::from_ref(&one), f64::NAN, STEP), Err(FluidError::Time));
    let bad = FluidLink { capacity: 0.0, ..good };
    assert_eq!(
        integrate(&[good, bad], std::slice::from_ref(&one), 1.0, STEP),
        Err(FluidError::Link { index: 1 })
    );
    let lost = FluidFlow { route: vec![1], ..one };
    assert_eq!(integrate(&[good], &[lost], 1.0, STEP), Err(FluidError::Flow { index: 0 }));
}
