//! Presence of flows in the mixed coupler (`coupled::mixed`): without feedback, alone, bounded, refused or gone. Rates are
//! in kbit/s, windows in segments and times in ms.

use super::*;

/// The actions that a flow has now.
fn actions_of(mixed: &mut Mixed, member: FlowId) -> Vec<CouplerAction> {
    let actions = core::iter::from_fn(|| mixed.poll_action());
    actions.filter_map(|(of, action)| (of == member).then_some(action)).collect()
}

#[test]
fn media_without_feedback_takes_no_part_while_data_is_acknowledged() {
    let mut call = Call::with_sum(Config::default(), 2000);
    let (mut window, mut rate) = (10.0, 1000);
    for ack in 0..400 {
        let now = 1100 + 10 * ack;
        call.send_message(now, DATA, update_of(WindowEvent::Acknowledged, window, window + 0.1, 100));
        window = call.data_window().unwrap_or(window);
        if ack % 100 == 50 {
            call.send_message(now + 5, MEDIA, update(rate, rate / 2, ChangeReason::Timeout));
            rate /= 2;
        }
    }
    assert!(call.sum() > 2200.0, "data has what media left, and grows: {}", call.sum());
    // The flow gets feedback again, and begins with no more than its start rate.
    let before = call.sum();
    call.send_message(5200, MEDIA, update(rate, rate + 1, ChangeReason::Growth));
    assert!(call.sum() >= before && call.sum() < before + 2001.0);
    call.send_message(5400, MEDIA, update(rate, rate, ChangeReason::Growth));
    assert!(call.media_rate().unwrap() > 62.0);
}

#[test]
fn missing_feedback_of_all_flows_cuts_the_sum() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(2000, MEDIA, update(1000, 500, ChangeReason::Timeout));
    call.close(1000.0);
}

#[test]
fn a_timer_that_reduces_leaves_no_window_behind() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.mixed.on_message(MS(2500), DATA, &update_of(WindowEvent::TimedOut, 10.0, 10.0, 100)).unwrap();
    assert_eq!(actions_of(&mut call.mixed, DATA), [CouplerAction::Reduce]);
    // Nor does another flow's decision lift the window before the reduction is sent.
    call.mixed.on_message(MS(2501), MEDIA, &update(500, 450, ChangeReason::Delay)).unwrap();
    assert_eq!(actions_of(&mut call.mixed, DATA), []);
}

#[test]
fn a_decrease_without_congestion_bounds_one_flow_and_cuts_no_other() {
    for why in ChangeReason::ALL {
        let mut call = Call::with_sum(Config::default(), 2000);
        // The data flow has been without acknowledgements for a second. A timeout of media is thus one of all flows, and
        // cuts the sum.
        call.send_message(2000, MEDIA, update(1000, 600, why));
        let bounds = matches!(why, ChangeReason::Ceiling | ChangeReason::Application | ChangeReason::Limits);
        call.close(if bounds { 2000.0 } else { 1200.0 });
        assert_eq!(call.media_rate(), Some(600.0), "{why:?}");
        // The bound stays as it is, and may rise by the flow's own rate.
        call.send_message(2100, MEDIA, update(600, 600, ChangeReason::Growth));
        assert_eq!(call.media_rate(), Some(600.0), "{why:?}");
        call.send_message(2800, MEDIA, update(600, 660, ChangeReason::Growth));
        assert_eq!(call.media_rate(), Some(660.0), "{why:?}");
    }
}

#[test]
fn alone_a_flow_follows_its_controller_whatever_moved_it() {
    for why in ChangeReason::ALL {
        let mut call = Call::by(Config::default());
        call.send_message(
            0,
            MEDIA,
            media(1000, FlowParameters { least: KBPS(300), ..parameters(0.3, None) }),
        );
        for (step, (base, rate)) in
            [(1000, 600), (600, 600), (600, 200), (200, 900), (900, 899)].into_iter().enumerate()
        {
            call.send_message(50 * step as i64, MEDIA, update(base, rate, why));
            assert_eq!(call.media_rate(), Some(rate as f64), "{why:?}");
        }
    }
}

#[test]
fn a_refused_message_still_gets_an_action() {
    let mut mixed = Mixed::new(Config::default()).unwrap();
    let timer = update_of(WindowEvent::TimedOut, 10.0, 10.0, 100);
    assert!(mixed.on_message(MS(0), DATA, &timer).is_err());
    assert_eq!(actions_of(&mut mixed, DATA), [CouplerAction::Reduce], "it has not joined");
    mixed.on_message(MS(0), DATA, &data(10.0, parameters(1.0, None))).unwrap();
    actions_of(&mut mixed, DATA);
    assert!(mixed.on_message(MS(1), DATA, &update_of(WindowEvent::TimedOut, f64::NAN, 10.0, 100)).is_err());
    assert_eq!(actions_of(&mut mixed, DATA), [CouplerAction::Reduce], "its window is impossible");
    mixed.on_message(MS(2), MEDIA, &media(300, parameters(1.0, None))).unwrap();
    actions_of(&mut mixed, MEDIA);
    assert!(mixed.on_message(MS(3), MEDIA, &update(0, 1, ChangeReason::Growth)).is_err());
    assert!(matches!(actions_of(&mut mixed, MEDIA)[..], [CouplerAction::Rate { .. }]));
}

#[test]
fn orders_are_numbered_on_when_a_flow_joins_again() {
    let mut mixed = Mixed::new(Config::default()).unwrap();
    let mut newest = 0;
    for joined in 0..3 {
        mixed.on_message(MS(joined), MEDIA, &media(300, parameters(1.0, None))).unwrap();
        mixed.on_message(MS(joined), MEDIA, &update(300, 310, ChangeReason::Growth)).unwrap();
        for action in actions_of(&mut mixed, MEDIA) {
            assert!(action.epoch() > newest, "{} after {newest}", action.epoch());
            newest = action.epoch();
        }
        mixed.on_message(MS(joined), MEDIA, &CouplingMessage::Pause).unwrap();
    }
}

#[test]
fn a_flow_without_messages_for_long_counts_as_paused_until_its_next_message() {
    let mut call = Call::with_sum(Config::default(), 2000);
    let mut window = 10.0;
    for ack in 0..60 {
        call.send_message(1100 + 100 * ack, DATA, update_of(WindowEvent::Acknowledged, window, window, 100));
        window = call.data_window().unwrap_or(window);
        let now = MS(1101 + 100 * ack);
        if call.mixed.next_timeout().is_some_and(|due| due <= now) {
            call.mixed.on_timeout(now);
            call.take_actions();
        }
    }
    assert!(window > 18.0, "all is data's: {window}");
    let before = call.sum();
    call.send_message(7500, MEDIA, update(1000, 1001, ChangeReason::Growth));
    assert!(call.sum() >= before);
    assert!(call.data_window().unwrap() < window, "and yields when media is back");
}

#[test]
fn round_trips_of_no_time_and_of_ages_are_bounded() {
    let mut call = Call::with_sum(Config::default(), 2000);
    let CouplingMessage::Window(lost) = update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100) else {
        unreachable!()
    };
    let ages = Some(TimeDelta::from_secs(1_000_000));
    call.send_message(1100, DATA, CouplingMessage::Window(CwndUpdate { srtt: ages, base_rtt: ages, ..lost }));
    call.close(1000.0);
    call.send_message(22_000, MEDIA, update(500, 400, ChangeReason::Delay));
    assert!(call.sum() < 1000.0, "the loss is not answered for ever: {}", call.sum());
    let mut call = Call::with_sum(Config::by_base_rtt(), 20_000);
    let CouplingMessage::Window(acknowledged) = update_of(WindowEvent::Acknowledged, 10.0, 10.0, 100) else {
        unreachable!()
    };
    let none = Some(TimeDelta::from_nanos(1));
    call.send_message(1100, MEDIA, CouplingMessage::Pause);
    call.send_message(
        1100,
        DATA,
        CouplingMessage::Window(CwndUpdate { srtt: none, base_rtt: none, ..acknowledged }),
    );
    assert!(call.sum() <= 1e6, "a window of two segments is no petabit: {}", call.sum());
}

#[test]
fn a_bound_that_does_not_bind_any_more_is_forgotten() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(1100, MEDIA, update(1000, 500, ChangeReason::Ceiling));
    assert_eq!(call.media_rate(), Some(500.0));
    // Two losses leave 250 each, which is less than the bound; a half more is 375.
    call.send_message(1300, DATA, update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100));
    call.send_message(1600, DATA, update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100));
    assert_eq!(call.media_rate(), Some(250.0));
    call.send_message(1900, MEDIA, update(250, 375, ChangeReason::Growth));
    // The other flow leaves a sum of 750, of which this flow takes half as much again as it had.
    call.send_message(2500, DATA, CouplingMessage::Leave);
    assert_eq!(call.media_rate(), Some(562.5));
}

#[test]
fn a_flow_may_use_half_as_much_again_as_it_has_in_flight() {
    let mut call = Call::with_sum(Config::default(), 8000);
    let CouplingMessage::Window(unused) = update_of(WindowEvent::Acknowledged, 40.0, 40.0, 100) else {
        unreachable!()
    };
    let unused = CouplingMessage::Window(CwndUpdate { window_limited: false, flight: 15.0, ..unused });
    call.send_message(1100, DATA, unused);
    assert_eq!(call.media_rate(), Some(4000.0), "not before it has left some for a round trip");
    call.send_message(1200, DATA, unused);
    // 1.5 · (15 + 1) segments are 2400 kbit/s.
    assert_eq!(call.media_rate(), Some(5600.0));
    let limited = update_of(WindowEvent::Acknowledged, 40.0, 40.0, 100);
    call.send_message(1300, DATA, limited);
    assert_eq!(call.media_rate(), Some(4000.0), "and all of its share again");
}
