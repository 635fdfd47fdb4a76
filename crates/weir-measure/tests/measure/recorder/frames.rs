//! Frames: their delay, their use, their freezes.

use weir_world::Loss;

use super::*;

#[test]
fn a_frame_is_as_late_as_its_last_packet() {
    let mut run = Run::new(plan(2000, vec![media("a")]));
    run.captures(0, 100, 3, 3000);
    run.captures(1, 133, 1, 900);
    run.brings(0, 150);
    run.brings(0, 160);
    run.brings(0, 190);
    run.brings(1, 253);
    let flow = &run.metrics().flows[0];
    // 190 − 100 = 90 ms and 253 − 133 = 120 ms.
    assert_eq!((flow.frame_delay_ms.mean, flow.frame_delay_ms.max), (Some(105.0), Some(120.0)));
    assert_eq!((flow.frames_sent, flow.frames_complete, flow.frames_lost), (Some(2.0), Some(2.0), Some(0.0)));
}

#[test]
fn a_frame_that_lost_a_packet_is_never_complete() {
    let mut run = Run::new(plan(2000, vec![media("a")]));
    run.captures(0, 100, 2, 2000);
    run.captures(1, 133, 2, 2000);
    let packet = PacketMeta { frame: 0, ..data(110, 1000) };
    run.0.dropped(Time::from_millis(120), 0, 0, &packet, Loss::Random);
    run.brings(0, 150);
    run.brings(0, 151);
    run.brings(1, 180);
    let flow = &run.metrics().flows[0];
    // Frame 0 is lost; of frame 1 a packet is still under way.
    assert_eq!((flow.frames_sent, flow.frames_complete, flow.frames_lost), (Some(2.0), Some(0.0), Some(1.0)));
    assert_eq!(flow.frame_delay_ms.mean, None);
}

#[test]
fn skipped_frames_and_key_frames_are_counted_in_the_window() {
    let mut run = Run::within(plan(4000, vec![media("a")]), 1000, 3000);
    let frame = |number, packets, key| FrameMeta { number, packets, bytes: 1000 * u32::from(packets), key };
    // Of two skipped frames and three key frames one each is captured before the window.
    for (at, frame) in [
        (900, frame(0, 1, true)),
        (950, frame(1, 0, false)),
        (1000, frame(1, 1, true)),
        (1500, frame(2, 0, false)),
        (2000, frame(2, 1, true)),
        (2500, frame(3, 1, false)),
    ] {
        run.0.frame(Time::from_millis(at), 0, &frame);
    }
    let flow = &run.metrics().flows[0];
    assert_eq!((flow.frames_sent, flow.frames_skipped, flow.key_frames), (Some(3.0), Some(1.0), Some(2.0)));
}

#[test]
fn frames_are_useful_up_to_150_ms_after_their_capture() {
    let mut run = Run::within(plan(4000, vec![media("a")]), 1000, 3000);
    // Complete before the window; after 150 ms; after 151 ms; captured before and complete in the window.
    for (number, captured, complete) in [(0, 500, 600), (2, 1500, 1650), (3, 2000, 2151), (1, 950, 1000)] {
        run.captures(number, captured, 1, 1000 * (number + 1));
        run.brings(number, complete);
    }
    let flow = &run.metrics().flows[0];
    // 3000 + 2000 bytes in 2 s.
    assert_eq!(flow.useful_rate_bps, Some(20_000.0));
    // By capture: frames 2 and 3. By completion: 1, 2 and 3, after 50, 150 and 151 ms.
    assert_eq!((flow.frames_sent, flow.frames_complete), (Some(2.0), Some(2.0)));
    near(flow.frame_delay_ms.mean, 117.0, 1e-9);
}

/// Frames complete every 33 ms from 0 to 1980 ms, then after `gap` ms, then every 33 ms up to 4 s.
fn with_gap(run: &mut Run, gap: u64) {
    let after = 1980 + gap;
    let times = (0..=60).map(|k| 33 * k).chain((after..4000).step_by(33));
    for (number, at) in times.enumerate() {
        run.captures(number as u32, at, 1, 1000);
        run.brings(number as u32, at);
    }
}

#[test]
fn a_freeze_is_three_mean_intervals_and_150_ms_more_than_one() {
    let freezes = |gap| {
        let mut run = Run::new(plan(4000, vec![media("a")]));
        with_gap(&mut run, gap);
        let flow = run.metrics().flows.remove(0);
        (flow.freezes, flow.freeze_seconds, flow.longest_freeze_seconds)
    };
    // Mean (29 · 33 + 200) / 30 = 38 ms, threshold max(114, 188) = 188 ms.
    assert_eq!(freezes(200), (Some(1.0), Some(0.2), Some(0.2)));
    assert_eq!(freezes(185), (Some(0.0), Some(0.0), Some(0.0)));
}

#[test]
fn the_longest_of_two_freezes_is_not_their_sum() {
    let mut run = Run::new(plan(6000, vec![media("a")]));
    // Frames each 33 ms; after the thirtieth nothing for 300 ms, after the sixtieth for 500 ms, and none missing at the end.
    let times = (0..30).map(|k| 33 * k).chain((0..30).map(|k| 1257 + 33 * k)).chain((2714..6000).step_by(33));
    for (number, at) in times.enumerate() {
        run.captures(number as u32, at, 1, 1000);
        run.brings(number as u32, at);
    }
    let flow = &run.metrics().flows[0];
    assert_eq!(flow.freezes, Some(2.0));
    near(flow.freeze_seconds, 0.8, 1e-9);
    near(flow.longest_freeze_seconds, 0.5, 1e-9);
}

#[test]
fn freezes_count_within_the_window_only() {
    let mut run = Run::within(plan(4000, vec![media("a")]), 2500, 4000);
    with_gap(&mut run, 200);
    assert_eq!(run.metrics().flows[0].freezes, Some(0.0));
}

#[test]
fn a_picture_that_stands_still_to_the_end_is_frozen() {
    let mut run = Run::new(plan(6000, vec![media("a")]));
    with_gap(&mut run, 33);
    // The last frame comes at 1980 + 33 · 61 = 3993 ms; until 6 s nothing follows: 2.007 s.
    let flow = &run.metrics().flows[0];
    assert_eq!((flow.freezes, flow.freeze_seconds), (Some(1.0), Some(2.007)));
}

#[test]
fn other_flows_have_no_frames() {
    let mut run = Run::new(plan(2000, vec![FlowPlan { kind: FlowKind::Tcp, ..media("tcp") }]));
    run.captures(0, 100, 1, 1000);
    run.brings(0, 150);
    let flow = &run.metrics().flows[0];
    assert_eq!((flow.frames_sent, flow.freezes, flow.useful_rate_bps), (None, None, None));
}

/// A media flow that pauses from 2 to 6 s.
fn pausing() -> FlowPlan {
    FlowPlan { pauses: vec![(Time::from_millis(2000), Time::from_millis(6000))], ..media("a") }
}

#[test]
fn a_pause_is_no_freeze_and_leaves_no_mark_on_the_mean() {
    let mut run = Run::new(plan(10_000, vec![pausing()]));
    // The last frame before the pause arrives in it, the first afterwards 100 ms after the pause.
    let times = (0..60).map(|k| 33 * k).chain((6000..9900).step_by(33));
    for (number, at) in times.enumerate() {
        run.captures(number as u32, at, 1, 1000);
        run.brings(number as u32, at + 100);
    }
    let flow = &run.metrics().flows[0];
    assert_eq!((flow.freezes, flow.freeze_seconds), (Some(0.0), Some(0.0)));
    // 60 + 119 frames of 1000 bytes in 6 s of activity.
    near(flow.useful_rate_bps, 179.0 * 8000.0 / 6.0, 1e-6);
}

#[test]
fn a_picture_that_freezes_before_a_pause_is_frozen_until_it_begins() {
    let mut run = Run::new(plan(5000, vec![pausing()]));
    for number in 0..30u32 {
        run.captures(number, 33 * u64::from(number), 1, 1000);
        run.brings(number, 33 * u64::from(number));
    }
    let flow = &run.metrics().flows[0];
    // From the last frame, at 957 ms, to 2 s; the run ends within the pause.
    assert_eq!(flow.freezes, Some(1.0));
    near(flow.freeze_seconds, 1.043, 1e-9);
}

/// Pictures of one packet per frame, captured 33 ms apart from 0 on, and how long each is under way; a lost one
/// has `None`.
fn viewed(keys: &[u32], delays: &[Option<u64>]) -> weir_measure::results::Pictures<Value> {
    let mut run = Run::new(plan(4000, vec![media("a")]));
    for number in 0..delays.len() as u32 {
        let frame = FrameMeta { number, packets: 1, bytes: 1000, key: keys.contains(&number) };
        run.0.frame(Time::from_millis(33 * u64::from(number)), 0, &frame);
    }
    let mut events: Vec<(u64, u32, bool)> = delays
        .iter()
        .enumerate()
        .map(|(n, delay)| (33 * n as u64 + delay.unwrap_or(10), n as u32, delay.is_some()))
        .collect();
    events.sort_unstable();
    for (at, number, arrives) in events {
        if arrives {
            run.brings(number, at);
        } else {
            let packet = PacketMeta { frame: number, ..data(at, 1000) };
            run.0.dropped(Time::from_millis(at), 0, 0, &packet, Loss::Random);
        }
    }
    run.metrics().flows.remove(0).pictures
}

#[test]
fn a_gap_lowers_the_harmonic_frame_rate_by_its_square() {
    // Ten intervals of 33 ms: 30.3 frames/s.
    near(viewed(&[], &[Some(50); 11]).harmonic_frame_rate, 1.0 / 0.033, 1e-9);
    // One frame of eleven is lost: eight of 33 and one of 66 ms: 0.330 / (8 · 0.033² + 0.066²) = 25.25.
    let mut delays = [Some(50); 11];
    delays[5] = None;
    near(viewed(&[], &delays).harmonic_frame_rate, 25.2525, 1e-3);
}

#[test]
fn the_playout_shows_on_time_late_or_not_at_all() {
    // On time; 20 ms late, so that the next one waits behind it no longer than its own due time; 1001 ms late; overtaken.
    let pictures = viewed(&[], &[Some(150), Some(170), Some(150), Some(1001), Some(100), None]);
    near(pictures.shown_on_time, 3.0 / 6.0, 1e-12);
    near(pictures.shown_late, 1.0 / 6.0, 1e-12);
    near(pictures.discarded, 1.0 / 6.0, 1e-12);
    // Frame 1 arrives at 33 + 300 ms, after frame 2, at 66 + 150.
    near(viewed(&[], &[Some(150), Some(300), Some(150)]).discarded, 1.0 / 3.0, 1e-12);
    // Frame 1 is shown at 33 + 400, frames 2 and 3, due at 216 and 249, with it.
    near(viewed(&[], &[Some(150), Some(400), Some(400), Some(390)]).shown_late, 3.0 / 4.0, 1e-12);
}

#[test]
fn after_a_loss_nothing_is_decodable_up_to_the_next_key_frame() {
    let mut delays = [Some(50); 20];
    delays[4] = None;
    // 0 to 3, and 10 to 19 from the second key frame on.
    near(viewed(&[0, 10], &delays).decodable, 14.0 / 20.0, 1e-12);
    near(viewed(&[0], &delays).decodable, 4.0 / 20.0, 1e-12);
    assert_eq!(viewed(&[], &delays).decodable, None);
    // A late frame delays decoding; a lost key frame does not repair the chain.
    delays[4] = Some(300);
    near(viewed(&[0], &delays).decodable, 1.0, 1e-12);
    delays[0] = None;
    near(viewed(&[0], &delays).decodable, 0.0, 1e-12);
}

#[test]
fn seconds_with_fewer_than_twenty_frames_are_slow() {
    let mut run = Run::new(plan(4000, vec![media("a")]));
    // 20 in the first second, 19 in the second, 60 in the third, none in the fourth.
    let times =
        (0..20).map(|k| 50 * k).chain((0..19).map(|k| 1000 + 50 * k)).chain((0..60).map(|k| 2000 + 16 * k));
    for (number, at) in times.enumerate() {
        run.captures(number as u32, at, 1, 1000);
        run.brings(number as u32, at);
    }
    let pictures = run.metrics().flows.remove(0).pictures;
    assert_eq!((pictures.slow_seconds, pictures.frame_rate), (Some(0.5), Some(99.0 / 4.0)));
}
