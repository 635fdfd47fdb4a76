use proptest::prelude::*;

use super::*;
use crate::allocation::{MAX_LAYERS, MAX_TEMPORAL_LAYERS};

const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;

fn simulcast(priority: u32, kbps: &[u64]) -> ForwardedTrack {
    let rates: Vec<DataRate> = kbps.iter().map(|&kbps| KBPS(kbps)).collect();
    ForwardedTrack::new(priority, LayerCoding::Simulcast, &rates)
}

/// Chooses layers, which the tracks keep.
fn step(tracks: &mut [ForwardedTrack], rate: DataRate) -> (Vec<TrackSelection>, Option<NextStep>) {
    let mut selections = Vec::new();
    let next = LayerForwarding::default().select(rate, tracks, &mut selections);
    for (track, selection) in tracks.iter_mut().zip(&selections) {
        track.present = selection.layer;
    }
    (selections, next)
}

/// Spatial layers as text, by track: `-` for a paused one, and `!` for a key frame.
fn shown(selections: &[TrackSelection]) -> String {
    let one = |selection: &TrackSelection| {
        let layer = selection.layer.map_or("-".to_owned(), |layer| layer.spatial.to_string());
        layer + if selection.needs_key_frame { "!" } else { "" }
    };
    selections.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// A rate in kbit/s, the layers, and the next step: its track, the rate that it adds, and the rate that it needs.
type Row<'a> = (u64, &'a str, Option<(usize, u64, u64)>);

/// Chooses layers for one row after the other.
fn table(mut tracks: Vec<ForwardedTrack>, rows: &[Row<'_>]) {
    for (row, &(rate, layers, expected)) in rows.iter().enumerate() {
        let (selections, next) = step(&mut tracks, KBPS(rate));
        let next = next.map(|next| (next.track, next.added.bps() / 1000, next.at.bps() / 1000));
        assert_eq!((shown(&selections).as_str(), next), (layers, expected), "row {row}, at {rate} kbit/s");
    }
}

#[test]
fn one_track_goes_up_step_by_step_and_down_at_once() {
    table(
        vec![simulcast(1, &[100, 350, 900])],
        &[
            (119, "-", Some((0, 100, 120))),  // 100 + 20
            (120, "0!", Some((0, 250, 385))), // 350 + 35
            (384, "0", Some((0, 250, 385))),
            (2000, "1!", Some((0, 550, 990))), // 900 + 90; the rate is there, but one step at a time
            (2000, "2!", None),
            (900, "2", None),
            (899, "1!", Some((0, 550, 990))),
            (989, "1", Some((0, 550, 990))),
            (990, "2!", None),
            (100, "0!", Some((0, 250, 385))),
            (99, "-", Some((0, 100, 120))),
        ],
    );
}

#[test]
fn the_lowest_layers_of_all_come_first_and_then_the_highest_priority() {
    let layers = [100, 350, 900];
    table(
        vec![simulcast(1, &layers), simulcast(9, &layers), simulcast(5, &layers)],
        &[
            (2000, "- 0! -", Some((2, 100, 220))), // 100 + 120
            (2000, "- 0 0!", Some((0, 100, 320))),
            (2000, "0! 0 0", Some((1, 250, 585))), // 200 + 385
            (2000, "0 1! 0", Some((2, 250, 835))), // 100 + 350 + 385; the second needs 200 + 990
            (2000, "0 2! 0", Some((2, 250, 1385))),
            (2000, "0 2 1!", Some((0, 250, 1635))), // 900 + 350 + 385; the third needs 1000 + 990
            (2000, "0 2 2!", Some((0, 250, 2185))), // 1990 are the 1000 + 990
            (2000, "0 2 2", Some((0, 250, 2185))),
            (1899, "0 2 1!", Some((0, 250, 1635))), // 1900 were needed; the first goes up in the next call
            (1899, "1! 2 1", Some((2, 550, 1990))),
            (1100, "0! 2 0!", Some((2, 250, 1385))),
            (1099, "0 1! 0", Some((2, 250, 835))),
            (1099, "0 1 1!", Some((0, 250, 1085))),
            (500, "0 0! 0!", Some((1, 250, 585))),
            (299, "- 0 0", Some((0, 100, 320))),
            (199, "- 0 -", Some((2, 100, 220))),
        ],
    );
}

#[test]
fn a_step_of_a_higher_priority_takes_the_rate_of_lower_ones() {
    let mut tracks = vec![simulcast(2, &[100]), simulcast(1, &[100, 800])];
    let settled = |tracks: &mut Vec<ForwardedTrack>, rate| {
        let all: Vec<String> = (0..6).map(|_| shown(&step(tracks, KBPS(rate)).0)).collect();
        all[5].clone()
    };
    assert_eq!(settled(&mut tracks, 1000), "0 1");
    // The first track's publisher sends a higher layer now: 600 + 60 + 100.
    tracks[0] = ForwardedTrack { present: tracks[0].present, ..simulcast(2, &[100, 600]) };
    assert_eq!(shown(&step(&mut tracks, KBPS(759)).0), "0 0!", "900 have no place");
    assert_eq!(shown(&step(&mut tracks, KBPS(760)).0), "1! 0");
    // A third of the highest priority joins, and the last one pauses for it: 300 + 30 of 760.
    tracks.push(simulcast(3, &[300]));
    tracks[0].rates[0][0] = KBPS(380);
    let (selections, next) = step(&mut tracks, KBPS(760));
    assert_eq!(shown(&selections), "0! - 0!");
    // 300 + 380 + 120.
    assert_eq!(next.map(|next| (next.track, next.at)), Some((1, KBPS(800))));
}

#[test]
fn equal_tracks_go_up_in_turn() {
    let layers = [100, 350, 900];
    table(
        vec![simulcast(1, &layers), simulcast(1, &layers)],
        &[
            (2000, "0! -", Some((1, 100, 220))),
            (2000, "0 0!", Some((0, 250, 485))),
            (2000, "1! 0", Some((1, 250, 735))), // the step of the lower track comes before 900 + 90
            (2000, "1 1!", Some((0, 550, 1340))), // 350 + 990
            (2000, "2! 1", Some((1, 550, 1890))),
            (2000, "2 2!", None),
            (1799, "2 1!", Some((1, 550, 1890))),
            (1249, "1! 1", Some((0, 550, 1340))),
            (699, "1 0!", Some((1, 250, 735))),
            (734, "1 0", Some((1, 250, 735))),
        ],
    );
}

#[test]
fn a_layer_that_ends_is_replaced_by_the_one_below() {
    let mut tracks = vec![ForwardedTrack {
        present: Some(LayerChoice { spatial: 2, temporal: 0 }),
        ..simulcast(1, &[100, 350, 0])
    }];
    let (selections, next) = step(&mut tracks, KBPS(2000));
    assert_eq!((shown(&selections), selections[0].rate, next), ("1!".to_owned(), KBPS(350), None));
    tracks[0].rates = simulcast(1, &[0, 0, 900]).rates;
    let (selections, _) = step(&mut tracks, KBPS(2000));
    assert_eq!(shown(&selections), "2!", "the only one left is a step up");
    tracks[0].rates = simulcast(1, &[]).rates;
    let (selections, next) = step(&mut tracks, KBPS(2000));
    assert_eq!((shown(&selections), next), ("-".to_owned(), None));
}

#[test]
fn temporal_layers_and_lower_spatial_layers_need_no_key_frame() {
    let layer = |spatial, temporal| Some(LayerChoice { spatial, temporal });
    let mut track = ForwardedTrack::new(1, LayerCoding::Svc, &[]);
    track.rates[0] = [60, 40, 0, 0].map(KBPS);
    track.rates[1] = [120, 80, 0, 0].map(KBPS);
    // With all below: 60, 100, 180, 300 kbit/s.
    let rows = [
        (1000, layer(0, 0), true),
        (1000, layer(0, 1), false),
        (1000, layer(1, 0), true),
        (1000, layer(1, 1), false),
        (299, layer(1, 0), false),
        (179, layer(0, 1), false),
        (1000, layer(1, 0), true),
        (59, None, false),
        (1000, layer(0, 0), true),
    ];
    let mut tracks = [track];
    for (row, (rate, expected, key)) in rows.into_iter().enumerate() {
        let selection = step(&mut tracks, KBPS(rate)).0[0];
        assert_eq!((selection.layer, selection.needs_key_frame), (expected, key), "row {row}");
    }
}

#[test]
fn rates_that_cross_do_not_switch_to_and_fro() {
    let mut track = simulcast(1, &[]);
    track.rates[0] = [80, 120, 0, 0].map(KBPS);
    track.rates[1][0] = KBPS(195);
    track.present = Some(LayerChoice { spatial: 0, temporal: 1 });
    let mut tracks = [track];
    // 200 kbit/s; the layer above has 195 and needs 195 + 20.
    let mut at = |above, rate| {
        tracks[0].rates[1][0] = KBPS(above);
        shown(&step(&mut tracks, KBPS(rate)).0)
    };
    assert_eq!([at(195, 214), at(205, 214), at(195, 214), at(195, 215)], ["0", "0", "0", "1!"]);
    assert_eq!([at(205, 215), at(195, 215), at(205, 215), at(205, 204)], ["1", "1", "1", "0!"]);
}

fn rates() -> impl Strategy<Value = DataRate> {
    prop_oneof![
        2 => Just(0),
        1 => Just(u64::MAX),
        1 => 0..100_u64,
        9 => (0..40_u64).prop_map(|steps| steps * 50_000),
        1 => 0..=u64::MAX,
    ]
    .prop_map(DataRate::from_bps)
}

fn coding() -> impl Strategy<Value = LayerCoding> {
    prop_oneof![Just(LayerCoding::Simulcast), Just(LayerCoding::Svc)]
}

fn any_track() -> impl Strategy<Value = ForwardedTrack> {
    let grid = prop::array::uniform5(prop::array::uniform4(rates()));
    let present = prop::option::of((0..7_usize, 0..6_usize));
    (0..4_u32, coding(), grid, present).prop_map(|(priority, coding, rates, present)| ForwardedTrack {
        priority,
        coding,
        rates,
        present: present.map(|(spatial, temporal)| LayerChoice { spatial, temporal }),
    })
}

/// Each layer that a track can have at all, from the lowest.
fn layers(track: &ForwardedTrack) -> Vec<(LayerChoice, DataRate)> {
    let places = (0..MAX_LAYERS * MAX_TEMPORAL_LAYERS).map(|place| LayerChoice {
        spatial: place / MAX_TEMPORAL_LAYERS,
        temporal: place % MAX_TEMPORAL_LAYERS,
    });
    places.filter_map(|layer| Some((layer, track.rate(layer)?))).collect()
}

fn cheapest(track: &ForwardedTrack) -> u128 {
    layers(track).iter().map(|&(_, rate)| u128::from(rate.bps())).min().unwrap_or(0)
}

proptest! {
    #[test]
    fn selections_fit_the_rate_and_go_up_by_one_step(
        tracks in prop::collection::vec(any_track(), 0..6),
        rate in rates(),
    ) {
        let mut selections = Vec::new();
        LayerForwarding::default().select(rate, &tracks, &mut selections);
        let total: u128 = selections.iter().map(|selection| u128::from(selection.rate.bps())).sum();
        prop_assert!(total <= u128::from(rate.bps()));
        let mut up = 0;
        for (selection, track) in selections.iter().zip(&tracks) {
            let Some(layer) = selection.layer else {
                prop_assert!(selection.rate.is_zero() && !selection.needs_key_frame);
                continue;
            };
            prop_assert_eq!(Some(selection.rate), track.rate(layer));
            let kept = track.present.and_then(|present| layers(track).into_iter().rfind(|at| at.0 <= present));
            if kept.is_none_or(|(kept, rate)| layer > kept && selection.rate >= rate) {
                up += 1;
            }
            let passed = layers(track).into_iter().filter(|&(other, _)| {
                kept.is_none_or(|(kept, _)| other > kept) && other < layer
            });
            prop_assert!(passed.into_iter().all(|(_, rate)| rate >= selection.rate), "layers passed over cost no less");
        }
        prop_assert!(up <= 1);
    }

    #[test]
    fn a_track_pauses_only_if_it_does_not_fit_beside_lowest_layers_of_its_priority_and_higher(
        tracks in prop::collection::vec(any_track(), 1..6),
        rate in rates(),
    ) {
        let mut tracks = tracks;
        for track in &mut tracks {
            // A present layer that costs more than one above is kept while it fits; the rates crossed while it was on.
            let crossed = track.present.and_then(|present| {
                let kept = layers(track).into_iter().rfind(|&(layer, _)| layer <= present)?;
                layers(track).into_iter().find(|&(layer, rate)| layer > kept.0 && rate <= kept.1)
            });
            track.present = crossed.map_or(track.present, |_| None);
        }
        let mut selections = Vec::new();
        LayerForwarding::default().select(rate, &tracks, &mut selections);
        for (at, track) in tracks.iter().enumerate() {
            let kept = track.present.is_some_and(|present| layers(track).iter().any(|&(layer, _)| layer <= present));
            if !kept || selections[at].layer.is_some() {
                continue;
            }
            let others = tracks.iter().zip(&selections).filter(|(other, selection)| {
                other.priority >= track.priority && selection.layer.is_some()
            });
            let needed: u128 = others.map(|(other, _)| cheapest(other)).sum();
            prop_assert!(needed + cheapest(track) > u128::from(rate.bps()), "track {at} is paused for nothing");
        }
    }

    #[test]
    fn the_next_step_is_taken_at_its_rate_and_not_below(
        tracks in prop::collection::vec(any_track(), 1..5),
        rate in (0..60_u64).prop_map(|steps| DataRate::from_bps(steps * 70_000)),
    ) {
        let mut tracks = tracks;
        let mut selections = Vec::new();
        let rule = LayerForwarding::default();
        let mut calls = 0;
        let next = loop {
            let before: Vec<_> = tracks.iter().map(|track| track.present).collect();
            let next = rule.select(rate, &tracks, &mut selections);
            for (track, selection) in tracks.iter_mut().zip(&selections) {
                track.present = selection.layer;
            }
            if tracks.iter().map(|track| track.present).eq(before) {
                break next;
            }
            calls += 1;
            prop_assert!(calls < 1000, "the layers settle");
        };
        let settled = selections.clone();
        prop_assert!(settled.iter().all(|selection| !selection.needs_key_frame));
        for (at, paused) in settled.iter().enumerate().filter(|(_, selection)| selection.layer.is_none()) {
            let track = &tracks[at];
            let others = settled.iter().filter(|other| {
                other.layer.is_some() && tracks[other.track].priority >= track.priority
            });
            let lowest = |of: &TrackSelection| {
                let place = of.steps.after(None)?;
                Some(TrackSteps::choice(&tracks[of.track], place).1)
            };
            let Some(needed) = lowest(paused).map(|rate| rule.margin.above(rate).bps()) else { continue };
            let needed = u128::from(needed) + others.map(|other| u128::from(lowest(other).unwrap().bps())).sum::<u128>();
            prop_assert!(needed > u128::from(rate.bps()), "track {at} stays paused beside lower priorities");
        }
        let Some(next) = next else { return Ok(()) };
        prop_assert!(next.at > rate);
        if next.at < DataRate::MAX {
            rule.select(DataRate::from_bps(next.at.bps() - 1), &tracks, &mut selections);
            prop_assert!(selections.iter().zip(&settled).all(|(a, b)| a.layer == b.layer), "below");
            rule.select(next.at, &tracks, &mut selections);
            prop_assert_eq!(selections[next.track].layer, Some(next.layer));
            prop_assert_eq!(selections[next.track].rate.saturating_sub(settled[next.track].rate), next.added);
        }
    }

    #[test]
    fn one_track_has_no_lower_layer_at_a_higher_rate(track in any_track(), one in rates(), other in rates()) {
        let layer = |rate| {
            let mut selections = Vec::new();
            LayerForwarding::default().select(rate, &[track], &mut selections);
            selections[0].layer
        };
        prop_assert!(layer(one.min(other)) <= layer(one.max(other)));
    }

    #[test]
    fn the_order_of_the_list_decides_between_equal_priorities_alone(
        tracks in prop::collection::vec(any_track(), 1..6),
        rate in rates(),
    ) {
        let mut tracks = tracks;
        for (at, track) in tracks.iter_mut().enumerate() {
            track.priority = at as u32;
        }
        let select = |tracks: &[ForwardedTrack]| {
            let mut selections = Vec::new();
            LayerForwarding::default().select(rate, tracks, &mut selections);
            selections.iter().map(|selection| (selection.layer, selection.needs_key_frame)).collect::<Vec<_>>()
        };
        let mut reversed = tracks.clone();
        reversed.reverse();
        let mut back = select(&reversed);
        back.reverse();
        prop_assert_eq!(select(&tracks), back);
    }
}
