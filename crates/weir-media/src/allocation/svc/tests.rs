use proptest::prelude::*;

use super::*;

const BPS: fn(u64) -> DataRate = DataRate::from_bps;

fn layers<const N: usize>(kbps: [(u64, u64, u64); N]) -> [VideoLayer; N] {
    kbps.map(|(min, target, max)| {
        let [min, target, max] = [min, target, max].map(DataRate::from_kbps);
        VideoLayer::new(min, target, max)
    })
}

/// libwebrtc's layers of VP9 at 320 × 180, 640 × 360 and 1280 × 720. The lowest rate is the square root of the pixels
/// times 600, less 95 000 bit/s. The highest is 1.6 a pixel and 50 000 bit/s, and the target is the mean.
const VP9: [(u64, u64, u64); 3] = [(49, 95, 142), (193, 305, 418), (481, 1002, 1524)];
/// libwebrtc's quality layers of a shared screen.
const SCREEN: [(u64, u64, u64); 3] = [(30, 150, 250), (200, 350, 500), (500, 950, 950)];

fn shown(rates: &LayerRates) -> [u64; 3] {
    [0, 1, 2].map(|layer| rates.rate(layer).map_or(0, DataRate::bps))
}

/// Each row in bit/s: a rate, and the rates of three layers, one after the other.
fn table(rule: LayerSwitching, layers: &[VideoLayer], rows: &[(u64, [u64; 3])]) {
    let mut before = None;
    for (row, &(rate, expected)) in rows.iter().enumerate() {
        let rates = rule.svc_rates(BPS(rate), None, layers, before.as_ref());
        assert_eq!(shown(&rates), expected, "row {row}, at {rate} bit/s");
        before = Some(rates);
    }
}

#[test]
fn the_lowest_rates_of_two_and_three_layers_are_those_of_the_source() {
    let threshold = |rule: LayerSwitching, of, number| rule.svc_threshold(&layers(of), number).bps();
    let camera = |number| threshold(LayerSwitching::svc(VideoContent::Camera), VP9, number);
    // Two layers: 193 000 × 1.55. Three: 481 000 × (1 + 0.55 + 0.55²) = 891 052.5, and rounding of each part.
    assert_eq!([0, 1, 2, 3, 4].map(camera), [0, 49_000, 299_150, 891_052, 0]);
    let screen = |number| threshold(LayerSwitching::svc(VideoContent::Screen), SCREEN, number);
    // 150 + 200, 150 + 350 + 500.
    assert_eq!([1, 2, 3].map(screen), [30_000, 350_000, 1_000_000]);
}

#[test]
fn a_camera_has_powers_of_55_percent_in_each_layer() {
    table(
        LayerSwitching::svc(VideoContent::Camera),
        &layers(VP9),
        &[
            (24_500, [24_500, 0, 0]), // half of the minimum
            (299_149, [142_000, 0, 0]),
            (299_150, [106_150, 193_000, 0]), // 299 150 × 0.55 / 1.55 = 106 150
            (400_000, [141_935, 258_065, 0]),
            (891_051, [142_000, 418_000, 0]), // 316 179 and 574 872: both above their highest
            // 145 502, 264 550 and 481 000; 3 502 of the first go to the second.
            (891_052, [142_000, 268_052, 481_000]),
            (3_000_000, [142_000, 418_000, 1_524_000]),
            (0, [0, 0, 0]),
        ],
    );
}

#[test]
fn a_screen_has_targets_below_the_highest_layer() {
    table(
        LayerSwitching::svc(VideoContent::Screen),
        &layers(SCREEN),
        &[
            (29_000, [29_000, 0, 0]),
            (349_999, [250_000, 0, 0]),
            (350_000, [150_000, 200_000, 0]),
            (999_999, [150_000, 500_000, 0]),
            (1_000_000, [150_000, 350_000, 500_000]),
            (9_000_000, [150_000, 350_000, 950_000]),
        ],
    );
}

#[test]
fn with_hysteresis_a_layer_is_switched_on_above_the_rate_at_which_it_stays() {
    for (content, of, two, three) in
        [(VideoContent::Camera, VP9, 299_150, 891_052), (VideoContent::Screen, SCREEN, 350_000, 1_000_000)]
    {
        let rule = LayerSwitching { content, hysteresis: 1.1 };
        let mut before = None;
        let (two_on, three_on) = (two * 11 / 10, three * 11 / 10);
        let rows = [
            (50_000, 1, Some(two_on)),
            (two, 1, Some(two_on)),
            (two_on, 2, Some(three_on)),
            (two, 2, Some(three_on)),
            (two - 1, 1, Some(two_on)),
            (three, 2, Some(three_on)), // 891 052 / 1.1 is enough for two layers
            (three_on + 1, 3, None),
            (three, 3, None),
            (three - 1, 2, Some(three_on)),
        ];
        for (row, (stable, number, next)) in rows.into_iter().enumerate() {
            let rates = rule.svc_rates(BPS(5_000_000), Some(BPS(stable)), &layers(of), before.as_ref());
            let found = (rates.layers_on(), rates.next.map(DataRate::bps), rates.is_limited);
            assert_eq!(found, (number, next, next.is_some()), "{content:?}, row {row}");
            before = Some(rates);
        }
    }
}

#[test]
fn inactive_layers_end_the_layers() {
    let rule = LayerSwitching::svc(VideoContent::Camera);
    let rates = |active: [bool; 3]| {
        let mut layers = layers(VP9);
        for (layer, active) in layers.iter_mut().zip(active) {
            layer.is_active = active;
        }
        shown(&rule.svc_rates(BPS(10_000_000), None, &layers, None))
    };
    assert_eq!(rates([true, true, false]), [142_000, 418_000, 0]);
    assert_eq!(rates([true, false, true]), [142_000, 0, 0]);
    assert_eq!(rates([false, true, true]), [0, 418_000, 1_524_000]);
    assert_eq!(rates([false, false, false]), [0, 0, 0]);
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
    let layer = (rates(), rates(), rates(), prop::bool::weighted(0.9))
        .prop_map(|(min, target, max, is_active)| VideoLayer { min, target, max, is_active });
    prop::collection::vec(layer, 0..8)
}

fn rule() -> impl Strategy<Value = LayerSwitching> {
    let content = prop_oneof![Just(VideoContent::Camera), Just(VideoContent::Screen)];
    let hysteresis = prop_oneof![Just(1.0), Just(f64::NAN), 0.0..3.0_f64, Just(f64::INFINITY)];
    (content, hysteresis).prop_map(|(content, hysteresis)| LayerSwitching { content, hysteresis })
}

proptest! {
    #[test]
    fn no_more_than_the_rate_is_allocated_and_no_layer_but_the_lowest_is_below_its_minimum(
        rule in rule(),
        layers in some_layers(),
        sequence in prop::collection::vec((rates(), prop::option::of(rates())), 1..5),
    ) {
        let mut before = None;
        for (rate, stable) in sequence {
            let rates = rule.svc_rates(rate, stable, &layers, before.as_ref());
            let all = (0..MAX_LAYERS).map(|layer| rates.rate(layer).unwrap_or_default());
            prop_assert!(all.clone().map(|rate| u128::from(rate.bps())).sum::<u128>() <= u128::from(rate.bps()));
            let first = layers.iter().position(|layer| layer.is_active);
            for (at, rate) in all.enumerate().filter(|(_, rate)| !rate.is_zero()) {
                prop_assert!(layers[at].is_active && rate <= layers[at].in_order().max);
                prop_assert!(Some(at) == first || rate >= layers[at].min);
            }
            before = Some(rates);
        }
    }

    #[test]
    fn a_higher_rate_has_no_fewer_layers(
        rule in rule(),
        steps in prop::collection::vec((1..400_u64, 0..400_u64, 0..400_u64), 1..5),
        before in prop::option::of(0..4000_u64),
        one in 0..4000_u64,
        other in 0..4000_u64,
    ) {
        // Layers as encoders have them: each costs more than the one below.
        let mut below = 0;
        let layers: Vec<VideoLayer> = steps
            .iter()
            .map(|&(min, target, max)| {
                let layer = VideoLayer::new(
                    DataRate::from_kbps(below + min),
                    DataRate::from_kbps(below + min + target),
                    DataRate::from_kbps(below + min + target + max),
                );
                below += min + target + max;
                layer
            })
            .collect();
        let rates = |rate: u64, before| rule.svc_rates(DataRate::from_kbps(rate), None, &layers, before);
        let before = before.map(|rate| rates(rate, None));
        let (lower, higher) = (rates(one.min(other), before.as_ref()), rates(one.max(other), before.as_ref()));
        prop_assert!(lower.layers_on() <= higher.layers_on());
        prop_assert!(lower.total() <= higher.total());
        if let Some(next) = lower.next.filter(|next| *next < DataRate::from_mbps(100)) {
            let at_next = rule.svc_rates(next, None, &layers, Some(&lower));
            prop_assert!(at_next.layers_on() > lower.layers_on(), "the next layer is on at the rate it needs");
        }
    }
}
