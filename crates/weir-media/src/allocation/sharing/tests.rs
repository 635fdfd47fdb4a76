use proptest::prelude::*;

use super::*;

const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;

fn stream(min: u64, max: u64) -> EncoderStream {
    EncoderStream::new(KBPS(min), KBPS(max))
}

fn enforced(stream: EncoderStream) -> EncoderStream {
    EncoderStream { is_min_enforced: true, ..stream }
}

/// Shares in bit/s at a rate, which the streams keep.
fn step<const N: usize>(streams: &mut [EncoderStream; N], rate: DataRate) -> [u64; N] {
    let mut shares = Vec::new();
    RateSharing::default().share(rate, streams, &mut shares);
    for (stream, share) in streams.iter_mut().zip(&shares) {
        stream.allocated = Some(*share);
    }
    std::array::from_fn(|at| shares[at].bps())
}

/// Each row in kbit/s: a rate, and the share of each stream, one after the other.
fn table<const N: usize>(mut streams: [EncoderStream; N], rows: &[(u64, [u64; N])]) {
    for (row, &(rate, shares)) in rows.iter().enumerate() {
        let found = step(&mut streams, KBPS(rate)).map(|rate| rate / 1000);
        assert_eq!(found, shares, "row {row}, at {rate} kbit/s");
    }
}

#[test]
fn enforced_minimums_come_first_and_the_rest_is_shared_up_to_twice_the_highest_rates() {
    table(
        [enforced(stream(100, 300)), enforced(stream(200, 300))],
        &[
            (200, [100, 200]), // too low for both, yet both have their minimum
            (500, [200, 300]), // 300 of minimums, 100 more for each
            (600, [300, 300]), // the second is full at 300, the first has the rest
            (900, [450, 450]), // 300 beyond the highest rates, 150 for each
            (1500, [600, 600]),
            (0, [0, 0]),
            (1, [100, 200]),
        ],
    );
}

#[test]
fn targets_come_before_priorities() {
    let second = EncoderStream { target: KBPS(300), ..stream(100, 300) };
    table(
        [enforced(stream(100, 1500)), enforced(second)],
        &[(100, [100, 100]), (200, [100, 100]), (300, [100, 200]), (400, [100, 300]), (800, [500, 300])],
    );
}

#[test]
fn streams_are_paused_in_the_order_of_the_list_and_the_others_share_the_rest_evenly() {
    table(
        [stream(100, 400), stream(200, 400), stream(300, 400)],
        &[
            (690, [130, 230, 330]), // 600 of minimums, 30 for each
            (300, [100, 200, 0]),
            (500, [200, 300, 0]), // 100 + 200 needed; the third, paused, needs 330 of the other 200
            (629, [264, 364, 0]), // 329 left are below 330; 164.5 for each of the two
            (630, [100, 200, 330]),
            (10, [0, 0, 0]),
            (0, [0, 0, 0]),
            (230, [230, 0, 0]), // 120 to resume; 110 left are below 220
        ],
    );
}

#[test]
fn a_paused_stream_resumes_20_kbit_or_a_tenth_above_its_minimum() {
    table([stream(30, 300)], &[(30, [30]), (20, [0]), (30, [0]), (49, [0]), (50, [50]), (30, [30])]);
    table(
        [stream(300, 600)],
        &[(300, [300]), (200, [0]), (300, [0]), (329, [0]), (330, [330]), (300, [300])],
    );
}

#[test]
fn a_stream_without_minimum_pauses_at_rate_zero_and_resumes_at_20_kbit() {
    table([stream(0, 100)], &[(10, [0]), (20, [20]), (1, [1]), (0, [0]), (19, [0]), (20, [20])]);
}

#[test]
fn enforced_and_other_streams_mix() {
    table(
        [enforced(stream(6, 30)), stream(30, 2500)],
        &[
            (36, [6, 30]),
            (35, [30, 0]), // 29 left are below 30; the first has up to its highest rate
            (5, [6, 0]),
            (55, [30, 0]),
            (56, [6, 50]), // 30 + 20 to resume
            (56, [16, 40]),
        ],
    );
}

#[test]
fn an_enforced_minimum_counts_once_after_a_rate_of_zero() {
    // 10 + 40 needed; the rest of 60 is shared: 5 for each.
    table([enforced(stream(10, 30)), stream(20, 100)], &[(60, [25, 35]), (0, [0, 0]), (52, [11, 41])]);
}

#[test]
fn protection_raises_the_need() {
    let mut streams = [stream(100, 400)];
    let mut share = |protection, kbps| {
        streams[0].protection = protection;
        step(&mut streams, KBPS(kbps)).map(|rate| rate / 1000)[0]
    };
    assert_eq!([share(0.0, 150), share(0.0, 200)], [150, 200]);
    // 100 × 1.4 = 140; paused (100 + 20) × 1.4 = 168.
    assert_eq!([share(0.4, 140), share(0.4, 121), share(0.4, 167), share(0.4, 168)], [140, 0, 0, 168]);
    assert_eq!([share(0.0, 167), share(0.0, 120)], [167, 120]);

    let mut streams = [stream(100, 400), stream(200, 400)];
    assert_eq!(step(&mut streams, KBPS(300)), [100_000, 200_000]);
    streams[1].protection = 0.5;
    // 200 × 1.5 = 300 beside 100; to resume, 220 × 1.5 = 330.
    let rows =
        [(330, [330, 0]), (100, [100, 0]), (99, [0, 0]), (119, [0, 0]), (120, [120, 0]), (429, [400, 0])];
    table(streams, &[&rows[..], &[(430, [100, 330])]].concat());
}

#[test]
fn priorities_share_the_rate_above_the_minimums() {
    let stream = |min, max, priority| {
        let (min, max) = (DataRate::from_bps(min), DataRate::from_bps(max));
        EncoderStream { priority, allocated: Some(max), ..EncoderStream::new(min, max) }
    };
    let share = |mut streams: [EncoderStream; 3], bps| step(&mut streams, DataRate::from_bps(bps));
    // 70 × 2 / 14, × 4 / 14, × 8 / 14.
    assert_eq!(share([stream(0, 100, 2.0), stream(0, 100, 4.0), stream(0, 100, 8.0)], 70), [10, 20, 40]);
    // 60 above the minimums; the third's part of 34 is more than 30. Of the other 30 a third and two thirds.
    assert_eq!(share([stream(10, 40, 2.0), stream(10, 40, 4.0), stream(10, 40, 8.0)], 90), [20, 30, 40]);
    // The first's part of 14 is more than 10; 90 × 4 / 12 and × 8 / 12.
    assert_eq!(share([stream(0, 10, 2.0), stream(0, 60, 4.0), stream(0, 60, 8.0)], 100), [10, 30, 60]);
    // 80 above the minimums: full are the second at 80 × 4 / 14 ≥ 20 and the third at 60 × 8 / 10 ≥ 40.
    assert_eq!(share([stream(10, 40, 2.0), stream(10, 30, 4.0), stream(10, 50, 8.0)], 110), [30, 30, 50]);
    // Without weight a stream stays at its minimum, and 10 are left.
    assert_eq!(share([stream(10, 40, 0.0), stream(10, 20, 1.0), stream(10, 20, f64::NAN)], 50), [10, 20, 10]);
}

#[test]
fn media_alone_gets_no_more_than_its_highest_rate() {
    let mut shares = vec![KBPS(7); 9];
    let rule = RateSharing { most_of_max: 1, ..RateSharing::default() };
    rule.share(KBPS(5000), &[stream(10, 300), stream(10, 400)], &mut shares);
    assert_eq!(shares, [KBPS(300), KBPS(400)]);
    rule.share(KBPS(5000), &[], &mut shares);
    assert_eq!(shares, []);
}

fn rates() -> impl Strategy<Value = DataRate> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        0..200_u64,
        (0..40_u64).prop_map(|steps| steps * 50_000),
        0..=u64::MAX,
    ]
    .prop_map(DataRate::from_bps)
}

fn streams() -> impl Strategy<Value = EncoderStream> {
    let priority =
        prop_oneof![Just(1.0), 0.0..10.0_f64, Just(f64::INFINITY), Just(-1.0), Just(1e-300), Just(1e300)];
    (rates(), rates(), rates(), priority, any::<bool>(), -0.5..1.5_f64, proptest::option::of(rates()))
        .prop_map(|(min, target, max, priority, is_min_enforced, protection, allocated)| EncoderStream {
            min,
            target,
            max,
            priority,
            is_min_enforced,
            protection,
            allocated,
        })
}

fn sum(rates: impl IntoIterator<Item = DataRate>) -> u128 {
    rates.into_iter().map(|rate| u128::from(rate.bps())).sum()
}

proptest! {
    #[test]
    fn no_more_than_the_rate_or_the_enforced_minimums_is_shared(
        streams in prop::collection::vec(streams(), 0..6),
        rate in rates(),
        most_of_max in 0..4_u32,
    ) {
        let mut shares = Vec::new();
        let rule = RateSharing { most_of_max, ..RateSharing::default() };
        rule.share(rate, &streams, &mut shares);
        let enforced = sum(streams.iter().filter(|stream| stream.is_min_enforced).map(|stream| stream.min));
        prop_assert!(sum(shares.iter().copied()) <= u128::from(rate.bps()).max(enforced));
        for (share, stream) in shares.iter().zip(&streams) {
            if !rate.is_zero() {
                prop_assert!(*share >= stream.min || share.is_zero() && !stream.is_min_enforced);
            }
            let most = u128::from(stream.most().bps()) * u128::from(most_of_max.max(1));
            prop_assert!(u128::from(share.bps()) <= most.max(u128::from(stream.min.bps())));
        }
    }

    #[test]
    fn a_single_stream_has_more_at_a_higher_rate(stream in streams(), one in rates(), other in rates()) {
        // Without weight it would stay at its minimum where minimums fit.
        let stream = EncoderStream { priority: 1.0, ..stream };
        let share = |rate| {
            let mut shares = Vec::new();
            RateSharing::default().share(rate, &[stream], &mut shares);
            shares[0]
        };
        prop_assert!(share(one.min(other)) <= share(one.max(other)));
    }

    #[test]
    fn all_of_the_rate_is_shared_between_the_sums_of_minimums_and_maximums(
        streams in prop::collection::vec((1..1000_u64, 0..1000_u64, 1..9_u32), 1..6),
        part in 0..=1000_u64,
    ) {
        let streams: Vec<EncoderStream> = streams
            .iter()
            .map(|&(min, more, priority)| EncoderStream { priority: f64::from(priority), ..stream(min, min + more) })
            .collect();
        let [least, most] = [|s: &EncoderStream| s.min, |s: &EncoderStream| s.max].map(|rate| {
            streams.iter().map(|stream| rate(stream).bps()).sum::<u64>()
        });
        let rate = least + (most - least) / 1000 * part;
        let mut shares = Vec::new();
        RateSharing::default().share(DataRate::from_bps(rate), &streams, &mut shares);
        let left = u128::from(rate) - sum(shares.iter().copied());
        // Whole numbers of bit/s are lost by truncation, at most one a stream.
        prop_assert!(left <= streams.len() as u128, "{left} bit/s are left");
        prop_assert!(shares.iter().zip(&streams).all(|(share, stream)| stream.min <= *share && *share <= stream.max));
    }
}
