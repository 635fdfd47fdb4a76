use proptest::prelude::*;

use super::*;
use crate::allocation::VideoContent;

const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;

fn layers<const N: usize>(kbps: [(u64, u64, u64); N]) -> [VideoLayer; N] {
    kbps.map(|(min, target, max)| VideoLayer::new(KBPS(min), KBPS(target), KBPS(max)))
}

/// Rates of three layers in kbit/s; zero for off.
fn shown(rates: &LayerRates) -> [u64; 3] {
    [0, 1, 2].map(|layer| rates.rate(layer).map_or(0, |rate| rate.bps() / 1000))
}

/// Each row in kbit/s: a rate, the rates of three layers, and the rate that the next layer needs, one after the other.
fn table(rule: LayerSwitching, layers: &[VideoLayer], rows: &[(u64, [u64; 3], Option<u64>)]) {
    let mut before = None;
    for (row, &(rate, expected, next)) in rows.iter().enumerate() {
        let rates = rule.simulcast_rates(KBPS(rate), None, layers, before.as_ref());
        let found = (shown(&rates), rates.next.map(|rate| rate.bps() / 1000), rates.is_limited);
        assert_eq!(found, (expected, next, next.is_some()), "row {row}, at {rate} kbit/s");
        before = Some(rates);
    }
}

const THREE: [(u64, u64, u64); 3] = [(10, 100, 500), (50, 500, 1000), (2000, 3000, 4000)];

#[test]
fn each_layer_has_its_target_and_the_highest_the_rest() {
    let camera = LayerSwitching::simulcast(VideoContent::Camera);
    table(
        camera,
        &layers(THREE),
        &[
            (10, [10, 0, 0], Some(160)), // 100 + 1.2 × 50
            (0, [10, 0, 0], Some(160)),
            (100, [100, 0, 0], Some(160)),
            (159, [159, 0, 0], Some(160)),
            (160, [100, 60, 0], Some(3000)), // 100 + 500 + 1.2 × 2000
            (150, [100, 50, 0], Some(3000)), // on, the layer needs its minimum alone
            (149, [149, 0, 0], Some(160)),
            (150, [150, 0, 0], Some(160)),
            (1100, [100, 1000, 0], Some(3000)),
            (2999, [100, 1000, 0], Some(3000)), // 1899 have no place
            (3000, [100, 500, 2400], None),
            (2600, [100, 500, 2000], None),
            (2599, [100, 1000, 0], Some(3000)),
            (4600, [100, 500, 4000], None),
            (5500, [100, 500, 4000], None),
            (0, [10, 0, 0], Some(160)),
        ],
    );
}

#[test]
fn the_first_allocation_has_no_margin() {
    let rule = LayerSwitching::simulcast(VideoContent::Camera);
    table(rule, &layers(THREE), &[(150, [100, 50, 0], Some(3000)), (2600, [100, 1000, 0], Some(3000))]);
    table(rule, &layers(THREE), &[(2600, [100, 500, 2000], None)]);
}

#[test]
fn a_screen_needs_35_percent_more_to_be_switched_on() {
    let rule = LayerSwitching::simulcast(VideoContent::Screen);
    table(
        rule,
        &layers([(50, 200, 1000), (600, 1250, 1250)]),
        &[
            (800, [200, 600, 0], None),
            (799, [799, 0, 0], Some(1010)), // 200 + 1.35 × 600
            (800, [800, 0, 0], Some(1010)),
            (1009, [1000, 0, 0], Some(1010)),
            (1010, [200, 810, 0], None),
            (800, [200, 600, 0], None),
        ],
    );
}

#[test]
fn the_margin_ends_at_the_target() {
    let rule = LayerSwitching::simulcast(VideoContent::Camera);
    // 1.2 × 500 is more than the target of 550.
    let two = layers([(50, 100, 100), (500, 550, 800)]);
    table(
        rule,
        &two,
        &[(90, [90, 0, 0], Some(650)), (649, [100, 0, 0], Some(650)), (650, [100, 550, 0], None)],
    );
}

#[test]
fn inactive_layers_are_off_and_count_for_none() {
    let rule = LayerSwitching::simulcast(VideoContent::Camera);
    let mut three = layers(THREE);
    three[1].is_active = false;
    table(
        rule,
        &three,
        &[
            (0, [10, 0, 0], Some(2500)), // 100 + 1.2 × 2000
            (2499, [500, 0, 0], Some(2500)),
            (3100, [100, 0, 3000], None),
            (2100, [100, 0, 2000], None),
            (5000, [100, 0, 4000], None),
        ],
    );
    three[0].is_active = false;
    table(rule, &three, &[(0, [0, 0, 2000], None), (3500, [0, 0, 3500], None)]);
    three[2].is_active = false;
    table(rule, &three, &[(9000, [0, 0, 0], None)]);
    table(rule, &[], &[(9000, [0, 0, 0], None)]);
}

#[test]
fn a_lowest_layer_that_becomes_active_needs_no_margin() {
    let rule = LayerSwitching::simulcast(VideoContent::Camera);
    let mut two = layers([(50, 200, 300), (600, 1200, 2000)]);
    two[0].is_active = false;
    let before = rule.simulcast_rates(KBPS(700), None, &two, None);
    assert_eq!(shown(&before), [0, 700, 0]);
    two[0].is_active = true;
    let rates = rule.simulcast_rates(KBPS(55), None, &two, Some(&before));
    assert_eq!((shown(&rates), rates.layers_on()), ([55, 0, 0], 1));
}

#[test]
fn layers_go_in_the_order_of_their_highest_rates() {
    let rule = LayerSwitching::simulcast(VideoContent::Camera);
    let [low, middle, high] = layers(THREE);
    table(rule, &[high, low, middle], &[(150, [0, 100, 50], Some(3000)), (3000, [2400, 100, 500], None)]);
}

#[test]
fn the_stable_rate_switches_and_the_rate_is_shared() {
    let rule = LayerSwitching { hysteresis: 1.1, ..LayerSwitching::simulcast(VideoContent::Camera) };
    let mut before = None;
    let rows = [
        (150, [100, 1000, 0]),
        (149, [500, 0, 0]),
        (154, [500, 0, 0]), // 100 + 1.1 × 50 = 155
        (155, [100, 1000, 0]),
        (2800, [100, 500, 2260]), // 600 + 1.1 × 2000
        (2600, [100, 500, 2260]),
        (9999, [100, 500, 2260]), // no more than the rate
    ];
    for (stable, expected) in rows {
        let rates = rule.simulcast_rates(KBPS(2860), Some(KBPS(stable)), &layers(THREE), before.as_ref());
        assert_eq!(shown(&rates), expected, "at {stable} kbit/s");
        before = Some(rates);
    }
}

fn rates() -> impl Strategy<Value = DataRate> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        0..100_u64,
        (0..40_u64).prop_map(|steps| steps * 50_000),
        0..=u64::MAX
    ]
    .prop_map(DataRate::from_bps)
}

fn some_layers() -> impl Strategy<Value = Vec<VideoLayer>> {
    let layer = (rates(), rates(), rates(), prop::bool::weighted(0.8))
        .prop_map(|(min, target, max, is_active)| VideoLayer { min, target, max, is_active });
    prop::collection::vec(layer, 0..8)
}

fn lowest(layers: &[VideoLayer]) -> Option<DataRate> {
    let layers = layers.iter().take(MAX_LAYERS).filter(|layer| layer.is_active);
    layers.min_by_key(|layer| layer.max).map(|layer| layer.min)
}

fn sum(rates: &LayerRates) -> u128 {
    (0..MAX_LAYERS).filter_map(|layer| rates.rate(layer)).map(|rate| u128::from(rate.bps())).sum()
}

proptest! {
    #[test]
    fn no_more_than_the_rate_or_the_lowest_minimum_is_allocated(
        layers in some_layers(),
        sequence in prop::collection::vec((rates(), prop::option::of(rates())), 1..5),
        hysteresis in prop_oneof![Just(f64::NAN), 0.0..3.0_f64, Just(f64::INFINITY)],
    ) {
        let rule = LayerSwitching { content: VideoContent::Camera, hysteresis };
        let mut before = None;
        for (rate, stable) in sequence {
            let rates = rule.simulcast_rates(rate, stable, &layers, before.as_ref());
            let most = rate.max(lowest(&layers).unwrap_or_default());
            prop_assert!(sum(&rates) <= u128::from(most.bps()));
            for layer in 0..MAX_LAYERS {
                let rate = rates.rate(layer).unwrap_or_default();
                prop_assert!(rate <= layers.get(layer).map_or(DataRate::ZERO, |layer| layer.in_order().max));
                prop_assert!(rate.is_zero() || layers[layer].is_active && rate >= layers[layer].min);
            }
            before = Some(rates);
        }
    }

    #[test]
    fn a_higher_rate_has_no_fewer_layers(
        layers in some_layers(),
        earlier in prop::option::of(rates()),
        one in rates(),
        other in rates(),
    ) {
        let rule = LayerSwitching::simulcast(VideoContent::Camera);
        let before = earlier.map(|rate| rule.simulcast_rates(rate, None, &layers, None));
        let rates = |rate| rule.simulcast_rates(rate, None, &layers, before.as_ref());
        let (lower, higher) = (rates(one.min(other)), rates(one.max(other)));
        prop_assert!(lower.layers_on() <= higher.layers_on());
        if let Some(next) = lower.next.filter(|&next| next < DataRate::MAX) {
            prop_assert!(rates(next).layers_on() > lower.layers_on(), "the next layer is on at the rate it needs");
        }
    }
}
