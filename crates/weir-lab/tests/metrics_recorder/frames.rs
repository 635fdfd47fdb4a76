//! Frames: their delay, their use, their freezes.

use super::*;
use weir_sim::Loss;

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
        (flow.freezes, flow.freeze_seconds)
    };
    // Mean (29 · 33 + 200) / 30 = 38 ms, threshold max(114, 188) = 188 ms.
    assert_eq!(freezes(200), (Some(1.0), Some(0.2)));
    assert_eq!(freezes(185), (Some(0.0), Some(0.0)));
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
