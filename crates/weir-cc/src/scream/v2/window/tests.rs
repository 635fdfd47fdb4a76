use super::*;

/// The default, and the text as it is printed.
const LATE: Config = Config::LATE;
const PRINTED: Config = Config { spread_reactions: false, ..LATE };
const EARLY: Config = Config::early();
/// Of 50 ms: 20 000 bytes are 3.2 Mbit/s; `alpha_limit` = 2·8000/(3.2e6·0.05) = 0.1.
const SEEN: Seen = Seen { s_rtt: 0.05, qdelay: 0.0, qdelay_target: 0.06, target_rate: 3.2e6, l4s: true };
const CLEAN: News =
    News { acked: Some(10_000), received: 10_000, marked_bytes: 0, arrived: 10, marked: 0, lost: false };
const LOST: News = News { lost: true, ..CLEAN };
const MARKED: News = News { marked_bytes: 2000, marked: 2, ..CLEAN };

fn ms(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9 * expected.abs(), "{value} instead of {expected}");
}

/// A window of 20 000 bytes, of which 20 000 have been in flight, last congested at 0 with 40 000.
fn window(alpha: f64, qdelay_avg: f64) -> RefWindow {
    let mut window = RefWindow::new(&LATE);
    window.ref_wnd = 20_000.0;
    window.ref_wnd_i = 40_000.0;
    window.congested_at = Some(ms(0));
    window.l4s_alpha.alpha = alpha;
    window.qdelay_avg.on_feedback(ms(0), TimeDelta::from_millis(50), 1.0, qdelay_avg);
    window.on_flight(ms(0), TimeDelta::from_millis(50), 20_000);
    window
}

/// What the window does at feedback of `news`, its averages left alone.
fn react(window: &mut RefWindow, at: i64, config: &Config, seen: &Seen, news: &News) -> Option<Why> {
    window.note_signs(ms(at), config, news);
    window.react(ms(at), config, seen)
}

fn grow(window: &mut RefWindow, at: i64, config: &Config, seen: &Seen, news: &News) {
    let scale = window.distance_scale(config, seen.l4s);
    window.grow(ms(at), config, seen, news, scale);
}

#[test]
fn loss_and_classic_marks_cut_by_their_factors() {
    for config in [LATE, PRINTED, EARLY] {
        let mut lost = window(0.0, 0.0);
        assert_eq!(react(&mut lost, 1000, &config, &SEEN, &LOST), Some(Why::Loss));
        near(lost.ref_wnd, 14_000.0);
        let mut marked = window(0.0, 0.0);
        assert_eq!(react(&mut marked, 1000, &config, &Seen { l4s: false, ..SEEN }, &MARKED), Some(Why::Mark));
        near(marked.ref_wnd, 16_000.0);
        assert_eq!(react(&mut marked, 1000, &config, &SEEN, &CLEAN), None);
    }
}

#[test]
fn an_l4s_mark_cuts_by_half_of_alpha() {
    // r = 0.05. Early: 0.2/2·0.9 = 0.09.
    let mut early = window(0.2, 0.0);
    react(&mut early, 1000, &EARLY, &SEEN, &MARKED);
    near(early.ref_wnd, 20_000.0 * 0.91);
    // Late: 0.2/2·0.95 = 0.095, with a queue of more than a quarter of the target; two such reactions fit into 50 ms.
    for (config, backoff) in [(PRINTED, 0.095), (LATE, 0.0475)] {
        let mut late = window(0.2, 0.0);
        react(&mut late, 1000, &config, &Seen { qdelay: 0.016, ..SEEN }, &MARKED);
        near(late.ref_wnd, 20_000.0 * (1.0 - backoff));
        // With a short queue and at 39/40 of the last congested window: (8/40)² = 0.04, at least 0.1, at least 0.25.
        let mut short = window(0.2, 0.0);
        short.ref_wnd_i = 20_000.0 * 40.0 / 39.0;
        react(&mut short, 1000, &config, &SEEN, &MARKED);
        near(short.ref_wnd, 20_000.0 * (1.0 - backoff * 0.25));
    }
}

#[test]
fn after_a_time_without_congestion_the_window_goes_back_to_what_was_in_flight() {
    let restored = |config: &Config, at: i64| {
        let mut window = window(0.2, 0.0);
        window.on_flight(ms(at - 60), TimeDelta::from_millis(50), 12_000);
        window.on_flight(ms(at), TimeDelta::from_millis(50), 8000);
        react(&mut window, at, config, &Seen { qdelay: 0.016, ..SEEN }, &MARKED);
        (window.ref_wnd, window.l4s_alpha.alpha)
    };
    // Early, after 5 s: 12 000, a quarter less; α = 0.25. Before: 20 000·(1 − 0.09).
    assert_eq!(restored(&EARLY, 5000), (9000.0, 0.25));
    near(restored(&EARLY, 4990).0, 18_200.0);
    // Late, after 100 round trips of 50 ms. Half of α = 0.1 by 1 − 1/20, of which two fit into a round trip.
    for (config, backoff) in [(PRINTED, 0.095), (LATE, 0.0475)] {
        let (late, alpha) = restored(&config, 5000);
        near(late, 12_000.0 * (1.0 - backoff));
        assert_eq!(alpha, 0.2);
    }
}

#[test]
fn a_long_queue_stands_for_marks_where_none_come() {
    // qdelay_avg = 45 ms, half of the target 30 ms: excess 0.5.
    let seen = Seen { qdelay: 0.045, ..SEEN };
    // Early: 0.5/2 = 0.25.
    let mut early = window(0.0, 0.045);
    assert_eq!(react(&mut early, 1000, &EARLY, &seen, &CLEAN), Some(Why::Delay));
    near(early.ref_wnd, 15_000.0);
    // Late: 2·0.1·0.5 = 0.1; 0.1/2·0.95 = 0.0475.
    let mut late = window(0.0, 0.045);
    assert_eq!(react(&mut late, 1000, &PRINTED, &seen, &CLEAN), Some(Why::Delay));
    near(late.ref_wnd, 20_000.0 * 0.9525);
    // With marks of L4S coming the queue is left to them.
    for config in [LATE, PRINTED] {
        assert_eq!(react(&mut window(0.1, 0.045), 1000, &config, &seen, &CLEAN), None);
    }
    // Beside a loss: the early text reacts to both, the late one to the loss.
    let mut both = window(0.0, 0.045);
    react(&mut both, 1000, &EARLY, &seen, &LOST);
    near(both.ref_wnd, 20_000.0 * 0.7 * 0.75);
    for config in [LATE, PRINTED] {
        let mut one = window(0.0, 0.045);
        react(&mut one, 1000, &config, &seen, &LOST);
        near(one.ref_wnd, 14_000.0);
    }
}

#[test]
fn reactions_keep_a_distance_and_a_minimum() {
    for config in [LATE, PRINTED] {
        let mut window = window(0.0, 0.0);
        react(&mut window, 1000, &config, &SEEN, &LOST);
        // VIRTUAL_RTT = 25 ms is below the round-trip time.
        assert_eq!(react(&mut window, 1024, &config, &SEEN, &LOST), None);
        assert_eq!(react(&mut window, 1025, &config, &SEEN, &LOST), Some(Why::Loss));
        near(window.ref_wnd, 9800.0);
        // The window of the first congestion is kept for 10 round trips.
        assert_eq!(window.ref_wnd_i, 20_000.0);
        react(&mut window, 1500, &config, &SEEN, &LOST);
        assert_eq!(window.ref_wnd_i, 9800.0);
        (0..20).for_each(|n| _ = react(&mut window, 2000 + 25 * n, &config, &SEEN, &LOST));
        assert_eq!(window.ref_wnd, 3000.0);
    }
}

#[test]
fn the_window_grows_by_a_packet_per_round_trip_and_a_share_of_itself() {
    // Scale: (4·20/40)² = 4, at most 1. 10 000 of 20 000 bytes: 500. A long time after congestion:
    // 1 + 0.02·20 = 1.4.
    let mut early = window(0.0, 0.0);
    grow(&mut early, 60_000, &EARLY, &SEEN, &CLEAN);
    near(early.ref_wnd, 20_700.0);
    for config in [LATE, PRINTED] {
        // Late: by 1 − 1/20 besides; the queue is empty.
        let mut late = window(0.0, 0.0);
        grow(&mut late, 60_000, &config, &SEEN, &CLEAN);
        near(late.ref_wnd, 20_000.0 + 665.0);
    }
    // 1 s of 4 s (early) or 5 s (late) after congestion: 1 + 0.4/4, 1 + 0.4/5.
    let mut early = window(0.0, 0.0);
    grow(&mut early, 1000, &EARLY, &SEEN, &CLEAN);
    near(early.ref_wnd, 20_550.0);
    for config in [LATE, PRINTED] {
        let mut late = window(0.0, 0.0);
        grow(&mut late, 1000, &config, &SEEN, &CLEAN);
        near(late.ref_wnd, 20_000.0 + 475.0 * 1.08);
    }
}

#[test]
fn growth_is_slower_near_the_last_congestion_over_short_paths_and_before_a_queue() {
    // At the window of the last congestion: scale 0.1. Early without L4S: 500·0.1·(1 + 0.4·0.1).
    let mut classic = window(0.0, 0.0);
    classic.ref_wnd_i = 20_000.0;
    grow(&mut classic, 60_000, &EARLY, &Seen { l4s: false, ..SEEN }, &CLEAN);
    near(classic.ref_wnd, 20_052.0);
    // Early with L4S: at least 0.02/0.05 = 0.4: 500·0.4·1.16.
    let mut l4s = window(0.0, 0.0);
    l4s.ref_wnd_i = 20_000.0;
    grow(&mut l4s, 60_000, &EARLY, &SEEN, &CLEAN);
    near(l4s.ref_wnd, 20_232.0);
    for config in [LATE, PRINTED] {
        // 12.5 ms: a quarter. Late: 500·0.25·0.95·1.4.
        let mut short = window(0.0, 0.0);
        grow(&mut short, 60_000, &config, &Seen { s_rtt: 0.0125, ..SEEN }, &CLEAN);
        near(short.ref_wnd, 20_000.0 + 166.25);
        // A queue of half a quarter of the target halves it (late, no marks); marked bytes do not count.
        let mut queue = window(0.0, 0.0075);
        grow(&mut queue, 60_000, &config, &SEEN, &MARKED);
        near(queue.ref_wnd, 20_000.0 + 0.5 * 0.8 * 665.0);
    }
}

#[test]
fn the_window_does_not_outgrow_what_is_in_flight() {
    for config in [LATE, PRINTED] {
        let mut window = window(0.0, 0.0);
        window.ref_wnd = 31_000.0;
        // 1000 + 1.5·20 000.
        grow(&mut window, 60_000, &config, &SEEN, &CLEAN);
        assert_eq!(window.ref_wnd, 31_000.0);
        window.on_flight(ms(0), TimeDelta::from_millis(50), 30_000);
        grow(&mut window, 60_000, &config, &SEEN, &CLEAN);
        assert!(window.ref_wnd > 31_000.0);
    }
}

#[test]
fn both_implementations_spread_a_reaction_over_the_round_trip() {
    // Two reactions fit into 50 ms. The delay's share is the whole excess of 0.5: 0.5/2/2·0.95.
    let config = Config::LATE;
    let seen = Seen { qdelay: 0.045, ..SEEN };
    let mut delayed = window(0.0, 0.045);
    assert_eq!(react(&mut delayed, 1000, &config, &seen, &CLEAN), Some(Why::Delay));
    near(delayed.ref_wnd, 20_000.0 * (1.0 - 0.125 * 0.95));
    // Of marks: 0.2/2/2·0.95. Over a path shorter than VIRTUAL_RTT there is one reaction in a round trip.
    let mut marked = window(0.2, 0.0);
    react(&mut marked, 1000, &config, &Seen { qdelay: 0.016, ..SEEN }, &MARKED);
    near(marked.ref_wnd, 20_000.0 * (1.0 - 0.05 * 0.95));
    let mut short = window(0.2, 0.0);
    react(&mut short, 1000, &config, &Seen { qdelay: 0.016, s_rtt: 0.02, ..SEEN }, &MARKED);
    near(short.ref_wnd, 20_000.0 * (1.0 - 0.1 * 0.95));
    // A loss is not spread.
    let mut lost = window(0.0, 0.045);
    react(&mut lost, 1000, &config, &seen, &LOST);
    near(lost.ref_wnd, 14_000.0);
}

#[test]
fn a_loss_that_comes_too_soon_after_a_reaction_is_answered_later() {
    for config in [LATE, PRINTED] {
        let mut late = window(0.0, 0.0);
        react(&mut late, 1000, &config, &SEEN, &LOST);
        assert_eq!(react(&mut late, 1010, &config, &SEEN, &LOST), None);
        assert_eq!(react(&mut late, 1025, &config, &SEEN, &CLEAN), Some(Why::Loss));
        assert_eq!(react(&mut late, 1050, &config, &SEEN, &CLEAN), None);
    }
    // The early text knows the present feedback only.
    let mut early = window(0.0, 0.0);
    react(&mut early, 1000, &EARLY, &SEEN, &LOST);
    react(&mut early, 1010, &EARLY, &SEEN, &LOST);
    assert_eq!(react(&mut early, 1025, &EARLY, &SEEN, &CLEAN), None);
}

#[test]
fn caution_goes_by_losses_and_marks_and_restoration_by_any_reaction() {
    let seen = Seen { qdelay: 0.045, ..SEEN };
    let mut early = window(0.0, 0.045);
    react(&mut early, 60_000, &EARLY, &seen, &CLEAN);
    assert_eq!(early.post_congestion(ms(60_000), &EARLY, 0.05), 0.0);
    for config in [LATE, PRINTED] {
        // A reaction to delay at 60 s: growth at once is that of a flow that met congestion at 0 (late text).
        let mut late = window(0.0, 0.045);
        react(&mut late, 60_000, &config, &seen, &CLEAN);
        assert_eq!(late.post_congestion(ms(60_000), &config, 0.05), 1.0);
        assert!(!late.is_calm(ms(60_000), &config, 0.05) && late.is_calm(ms(65_000), &config, 0.05));
        // The window of after the delay stays at the next mark: there was a reaction within 100 round trips.
        let before = late.ref_wnd;
        late.l4s_alpha.alpha = 0.2;
        late.on_flight(ms(60_040), TimeDelta::from_millis(50), 5000);
        late.on_flight(ms(60_100), TimeDelta::from_millis(50), 5000);
        react(&mut late, 60_100, &config, &Seen { qdelay: 0.016, ..SEEN }, &MARKED);
        assert!(late.ref_wnd > 0.9 * before, "{before} → {}", late.ref_wnd);
    }
}

#[test]
fn a_queue_above_half_of_the_target_is_a_reaction_although_its_average_is_not() {
    for config in [LATE, PRINTED] {
        let mut late = window(0.0, 0.02);
        let seen = Seen { qdelay: 0.045, ..SEEN };
        assert_eq!(react(&mut late, 1000, &config, &seen, &CLEAN), Some(Why::Delay));
        assert_eq!((late.ref_wnd, late.ref_wnd_i), (20_000.0, 20_000.0));
        assert_eq!(react(&mut late, 1010, &config, &seen, &LOST), None, "within VIRTUAL_RTT of it");
    }
}

#[test]
fn the_late_text_grows_by_the_distance_before_the_reduction() {
    // Before: at the last congested window, scale 0.1, at least 0.25. After 0.7 of it: (8·0.3)² is more than 1.
    let grown = |config: &Config| {
        let mut window = window(0.0, 0.0);
        window.ref_wnd_i = 20_000.0;
        window.note_signs(ms(60_000), config, &LOST);
        window.update(ms(60_000), config, &SEEN, &LOST, false);
        window.ref_wnd - 14_000.0
    };
    // 10 000·(1/14)·0.25·(1 − 1/14).
    for config in [LATE, PRINTED] {
        near(grown(&config), 10_000.0 / 14.0 * 0.25 * (1.0 - 1.0 / 14.0));
    }
    // (4·0.3)² is at most 1: 10 000·(1/14).
    near(grown(&EARLY), 10_000.0 / 14.0);
}
