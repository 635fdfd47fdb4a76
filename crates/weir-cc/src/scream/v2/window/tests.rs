//! The reference window of SCReAM v2 (`scream::v2::window`): reactions to congestion, and growth.

use weir_units::DataSize;

use super::*;
use crate::packet::{Ecn, PacketFate, PacketResult, SentPacket};
use crate::scream::fixture::ms;
use crate::scream::network::Acknowledged;
use crate::scream::v2::path::PathFeedback;
use crate::time::ArrivalTime;

/// 20 000 bytes in 50 ms, of which 1 Mbit/s is the target, far from the maximum.
const STANDING: FeedbackState =
    FeedbackState { s_rtt: 0.05, qdelay_target: 0.06, target_rate: 1e6, max_rate: 10e6 };

fn config() -> Config {
    Config::default()
}

/// Checks that `value` is `expected` within 1e-6, relative.
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{value} instead of {expected}");
}

/// A path on which packets of 1000 bytes leave each 10 ms, and each came after `qdelay(ms)` s, with `ecn`.
fn path(until: i64, qdelay: impl Fn(i64) -> f64, ecn: Ecn) -> Path {
    let mut path = Path::new(&config());
    for (id, at) in (0..until).step_by(10).enumerate() {
        let sent = SentPacket::new(id as u64, ms(at), DataSize::from_bytes(1000));
        path.on_sent(&config(), &sent);
        let delay = TimeDelta::from_secs_f64(0.025 + qdelay(at));
        let arrival = ArrivalTime::from_millis(7_200_000 + at) + delay;
        let results = [PacketResult { sent, fate: PacketFate::Arrived { at: Some(arrival), ecn } }];
        let feedback = PathFeedback {
            results: &results,
            rtt: Some(TimeDelta::from_millis(50)),
            qdelay_target: 0.06,
            ref_wnd: Some(20_000.0),
            idle: false,
        };
        path.on_feedback(ms(at) + TimeDelta::from_millis(50), &config(), &feedback);
    }
    path
}

/// A path whose queue is empty for 2 s.
fn empty_queue() -> Path {
    path(2000, |_| 0.0, Ecn::Ect1)
}

/// A window of 20 000 bytes, last congested at 40 000, with as much in flight as it takes.
fn window() -> RefWindow {
    let mut window = RefWindow::new(20_000.0);
    window.ref_wnd_i = 40_000.0;
    window.mss_share = 0.05;
    window.bytes_in_flight.push(ms(0), FLIGHT_STEP, 20_000);
    window
}

const CLEAN: AckOutcome = AckOutcome {
    acked: Acknowledged {
        bytes: Some(10_000),
        received: 10_000,
        marked_bytes: 0,
        arrived: 10,
        marked: 0,
        newest: None,
    },
    loss_event: false,
};
const LOST: AckOutcome = AckOutcome { loss_event: true, ..CLEAN };

/// Feedback on 10 packets with `bytes` bytes marked.
fn marked(bytes: u64) -> AckOutcome {
    let acked = Acknowledged { marked_bytes: bytes, marked: (bytes / 1000) as u32, ..CLEAN.acked };
    AckOutcome { acked, ..CLEAN }
}

/// The window's update by feedback at `at` ms.
fn feed(
    window: &mut RefWindow,
    at: i64,
    path: &Path,
    standing: &FeedbackState,
    outcome: &AckOutcome,
) -> WindowUpdate {
    window.on_feedback(ms(at), &config(), path, standing, outcome, 20_000)
}

#[test]
fn a_loss_event_and_a_classic_mark_cut_by_their_factors_and_then_it_grows() {
    let path = path(2000, |_| 0.0, Ecn::Ect0);
    // After the cut the 10 000 acknowledged bytes add growth: 0.05 of them, and no multiplicative part right after
    // congestion.
    let mut lost = window();
    assert_eq!(feed(&mut lost, 1000, &path, &STANDING, &LOST), WindowUpdate::Reduced(ChangeReason::Loss));
    near(lost.ref_wnd(), 14_000.0 + 500.0);
    let mut classic = window();
    assert_eq!(
        feed(&mut classic, 1000, &path, &STANDING, &marked(2000)),
        WindowUpdate::Reduced(ChangeReason::Mark)
    );
    near(classic.ref_wnd(), 16_000.0 + 400.0);
}

#[test]
fn a_loss_is_answered_once_in_a_round_trip_and_a_mark_once_in_30_ms() {
    let path = empty_queue();
    let mut window = window();
    feed(&mut window, 1000, &path, &STANDING, &LOST);
    assert_eq!(
        feed(&mut window, 1049, &path, &STANDING, &LOST),
        WindowUpdate::Grown,
        "an update without a reaction"
    );
    assert_eq!(feed(&mut window, 1051, &path, &STANDING, &LOST), WindowUpdate::Reduced(ChangeReason::Loss));
    assert_eq!(feed(&mut window, 1079, &path, &STANDING, &marked(1000)), WindowUpdate::Kept);
    assert_eq!(
        feed(&mut window, 1081, &path, &STANDING, &marked(1000)),
        WindowUpdate::Reduced(ChangeReason::Mark)
    );
    for at in (2000..9000).step_by(100) {
        feed(&mut window, at, &path, &STANDING, &AckOutcome { acked: Acknowledged::default(), ..LOST });
    }
    near(window.ref_wnd(), 2000.0);
}

#[test]
fn an_l4s_mark_cuts_by_half_of_alpha_spread_over_the_reactions_of_a_round_trip() {
    // A queue of 20 ms, above a quarter of the target; the spread of an even queue is small.
    let marks = |qdelay: f64| path(2000, move |_| qdelay, Ecn::Ect1);
    let (long, short) = (marks(0.02), marks(0.0));
    for (path, share) in [(&long, 1.0), (&short, short.averages().evenness(&config()))] {
        let alpha = path.l4s_alpha().get();
        let mut window = window();
        feed(&mut window, 1000, path, &STANDING, &marked(10_000));
        let cut = alpha / 2.0 * share / (50.0 / 30.0);
        near(window.ref_wnd(), libm::floor(20_000.0 * (1.0 - cut)));
    }
}

#[test]
fn a_queue_above_half_of_the_target_counts_as_marks() {
    // The first packet is the base; then 45 ms: half of what is above 30 ms, halved, in two shares of 30 of 50 ms.
    let path = path(2000, |at| if at == 0 { 0.0 } else { 0.045 }, Ecn::NotEct);
    near(path.averages().average(), 0.045);
    let mut delayed = window();
    assert_eq!(
        feed(&mut delayed, 1000, &path, &STANDING, &CLEAN),
        WindowUpdate::Reduced(ChangeReason::Delay)
    );
    let cut = 0.25 * 0.36;
    let grown = 10_000.0 * 0.05 * path.averages().evenness(&config()).max(0.1);
    near(delayed.ref_wnd(), libm::floor(20_000.0 * (1.0 - cut)) + libm::floor(grown + 0.5));
    // A rate below the acknowledged rate has already been reduced: a quarter of the reaction.
    let mut yielded = window();
    let standing = FeedbackState { target_rate: 0.7 * path.acked_rate(), ..STANDING };
    feed(&mut yielded, 1000, &path, &standing, &CLEAN);
    near(yielded.ref_wnd(), libm::floor(20_000.0 * (1.0 - cut / 4.0)) + libm::floor(grown + 0.5));
}

#[test]
fn it_grows_by_a_packet_per_round_trip_and_a_share_of_itself() {
    let path = empty_queue();
    let grown = |change: &dyn Fn(&mut RefWindow), standing: &FeedbackState, outcome: &AckOutcome| {
        let mut window = window();
        window.updated_at = Some(ms(0));
        change(&mut window);
        feed(&mut window, 60_000, &path, standing, outcome);
        window.ref_wnd() - 20_000.0
    };
    // 500 of 10 000 bytes, by 1 + 0.02·20 a long time after congestion.
    near(grown(&|_| {}, &STANDING, &CLEAN), 700.0);
    // 5 s of 10 s after it.
    near(grown(&|window| window.reacted_at = Some(ms(55_000)), &STANDING, &CLEAN), 600.0);
    // Marked bytes do not count.
    near(grown(&|window| window.reacted_at = Some(ms(59_999)), &STANDING, &marked(2000)), 400.0);
    // At the window of the last congestion: a quarter, and a tenth of the share.
    near(grown(&|window| window.ref_wnd_i = 20_000.0, &STANDING, &CLEAN), libm::floor(125.0 * 1.04 + 0.5));
    // Over 12.5 ms half as fast.
    near(grown(&|_| {}, &FeedbackState { s_rtt: 0.0125, ..STANDING }, &CLEAN), 350.0);
    // At the maximum rate not at all.
    near(grown(&|_| {}, &FeedbackState { target_rate: 10e6, ..STANDING }, &CLEAN), 0.0);
}

#[test]
fn bytes_marked_since_the_last_update_do_not_grow_the_window() {
    let path = empty_queue();
    let grown = |marked_bytes: u64| {
        let mut window = window();
        (window.updated_at, window.reacted_at) = (Some(ms(59_990)), Some(ms(59_999)));
        // Neither an update nor a reaction: both are less than 30 ms ago.
        assert_eq!(feed(&mut window, 60_000, &path, &STANDING, &marked(marked_bytes)), WindowUpdate::Kept);
        assert_eq!(feed(&mut window, 60_025, &path, &STANDING, &CLEAN), WindowUpdate::Grown);
        window.ref_wnd() - 20_000.0
    };
    // Both reports, less the marked bytes, times a share of 0.05, and 1 + 0.02·20·26 ms/10 s of it.
    near(grown(0), libm::floor(1000.0 * 1.00104 + 0.5));
    near(grown(4000), libm::floor(800.0 * 1.00104 + 0.5));
}

#[test]
fn growth_is_slow_while_the_queue_delay_varies() {
    let varying = path(4000, |at| if at % 100 < 50 { 0.0 } else { 0.02 }, Ecn::NotEct);
    near(varying.averages().evenness(&config()), 0.0);
    let mut window = window();
    window.updated_at = Some(ms(0));
    feed(&mut window, 60_000, &varying, &STANDING, &CLEAN);
    near(window.ref_wnd(), 20_070.0);
}

#[test]
fn it_does_not_outgrow_what_is_in_flight() {
    let path = empty_queue();
    let mut window = window();
    // 1000 + 1.5·20 000.
    window.ref_wnd = 31_000.0;
    feed(&mut window, 60_000, &path, &STANDING, &CLEAN);
    assert_eq!(feed(&mut window, 60_040, &path, &STANDING, &CLEAN), WindowUpdate::Grown);
    near(window.ref_wnd(), 31_000.0);
    assert!(!window.is_idle());
    window.ref_wnd = 31_001.0;
    feed(&mut window, 60_080, &path, &STANDING, &CLEAN);
    assert!(window.is_idle());
}

#[test]
fn near_the_maximum_rate_the_window_is_what_that_rate_needs() {
    let path = empty_queue();
    let mut window = window();
    window.ref_wnd = 40_000.0;
    window.updated_at = Some(ms(0));
    // 1.5·2 Mbit/s·51 ms/8 = 19 125, less than the 20 000 bytes in flight.
    let standing = FeedbackState { target_rate: 1.96e6, max_rate: 2e6, ..STANDING };
    feed(&mut window, 60_000, &path, &standing, &CLEAN);
    assert!(window.ref_wnd() < 22_000.0, "{}", window.ref_wnd());
}

#[test]
fn the_window_of_the_last_congestion_is_kept_until_the_window_grows() {
    let path = empty_queue();
    let mut window = window();
    feed(&mut window, 1000, &path, &STANDING, &AckOutcome { acked: Acknowledged::default(), ..LOST });
    feed(&mut window, 1060, &path, &STANDING, &AckOutcome { acked: Acknowledged::default(), ..LOST });
    near(window.ref_wnd_i(), 20_000.0);
    feed(&mut window, 1100, &path, &STANDING, &CLEAN);
    feed(&mut window, 1200, &path, &STANDING, &LOST);
    assert!(window.ref_wnd_i() < 12_000.0, "{}", window.ref_wnd_i());
}

#[test]
fn after_a_time_without_congestion_an_l4s_mark_takes_the_window_to_what_was_in_flight() {
    let path = empty_queue();
    let restored = |at: i64| {
        let mut window = window();
        window.reacted_at = Some(ms(0));
        window.ref_wnd = 30_000.0;
        window.on_feedback(ms(at - 60), &config(), &path, &STANDING, &CLEAN, 12_000);
        feed(&mut window, at, &path, &STANDING, &marked(10_000));
        window.ref_wnd()
    };
    // 100 round trips of 50 ms.
    assert!(restored(4990) > 28_000.0, "{}", restored(4990));
    assert!(restored(5100) < 12_500.0, "{}", restored(5100));
}
