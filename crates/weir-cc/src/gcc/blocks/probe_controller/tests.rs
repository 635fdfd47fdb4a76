//! The probe controller (`gcc::blocks::probe_controller`), by the constants of libwebrtc's `ProbeController`.

use super::*;

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// 50 kbit/s to 5 Mbit/s, from 300 kbit/s.
fn limits() -> RateLimits {
    RateLimits::new(kbps(50), kbps(300), kbps(5000)).unwrap()
}

/// That of a shared screen: periodic probes are on.
fn controller() -> ProbeController {
    let mut controller = ProbeController::new(ProbeControllerConfig::LIBWEBRTC_2025, limits());
    controller.set_screen(true);
    controller
}

/// No probe.
const NONE: [u64; 0] = [];

/// Requested rates, in kbit/s.
fn asked(controller: &mut ProbeController) -> Vec<u64> {
    core::iter::from_fn(|| controller.poll()).map(|probe| probe.rate.bps() / 1000).collect()
}

/// A controller whose first probes showed `estimate` and whose waiting is over at 2 s.
fn complete(estimate: u64) -> ProbeController {
    let mut controller = controller();
    controller.start(at(0));
    asked(&mut controller);
    controller.on_timeout(at(1001));
    controller.on_estimate(at(2000), kbps(estimate), EstimateLimit::Delay);
    controller
}

#[test]
fn the_first_probes_are_3_and_6_times_the_start_rate() {
    let mut controller = controller();
    controller.start(at(0));
    // 15 ms at 900 kbit/s = 1687 bytes, at 1800 kbit/s = 3375.
    let probes: Vec<Probe> = core::iter::from_fn(|| controller.poll()).collect();
    let as_tuple =
        |probe: &Probe| (probe.id.get(), probe.rate.bps() / 1000, probe.packets, probe.size.bytes());
    assert_eq!(probes.iter().map(as_tuple).collect::<Vec<_>>(), [(1, 900, 5, 1687), (2, 1800, 5, 3375)]);
    controller.start(at(10));
    assert_eq!(asked(&mut controller), NONE, "only once");
}

#[test]
fn a_result_above_70_percent_leads_to_a_probe_of_twice_the_estimate() {
    let mut controller = controller();
    controller.start(at(0));
    asked(&mut controller);
    // 0.7 · 1800 = 1260.
    controller.on_estimate(at(100), kbps(1260), EstimateLimit::Delay);
    assert_eq!(asked(&mut controller), NONE);
    controller.on_estimate(at(150), kbps(1261), EstimateLimit::Delay);
    assert_eq!(asked(&mut controller), [2522]);
    // 0.7 · 2522 = 1765.4; then the maximum ends it.
    controller.on_estimate(at(250), kbps(2500), EstimateLimit::Delay);
    assert_eq!(asked(&mut controller), [5000]);
    controller.on_estimate(at(350), kbps(4900), EstimateLimit::Delay);
    assert_eq!(asked(&mut controller), NONE);
}

#[test]
fn waiting_ends_after_a_second() {
    let mut controller = controller();
    controller.start(at(0));
    asked(&mut controller);
    let due = Some(at(1000) + TimeDelta::from_nanos(1));
    assert_eq!(controller.next_timeout(), due);
    controller.on_timeout(at(1000));
    assert_eq!(controller.next_timeout(), due, "the result may come after just a second");
    controller.on_timeout(at(1001));
    assert_eq!(controller.next_timeout(), None);
    controller.on_estimate(at(1001), kbps(1700), EstimateLimit::Delay);
    assert_eq!(asked(&mut controller), NONE);
}

#[test]
fn a_limited_source_is_probed_for_each_5_s_at_twice_the_estimate() {
    let mut controller = complete(1000);
    controller.on_alr(at(3100), Some(at(3000)));
    assert_eq!(controller.next_timeout(), Some(at(8000)));
    controller.on_timeout(at(7999));
    assert_eq!(asked(&mut controller), NONE);
    controller.on_timeout(at(8000));
    assert_eq!(asked(&mut controller), [2000]);
    // Waiting until 9 s, then 5 s after the last.
    controller.on_timeout(at(9001));
    assert_eq!(controller.next_timeout(), Some(at(13_000)));
    controller.on_alr(at(9100), None);
    assert_eq!(controller.next_timeout(), None);
}

#[test]
fn no_probe_is_sent_under_another_limit_and_later_it_is_retried() {
    for limited in [EstimateLimit::DelayIncreased, EstimateLimit::Loss, EstimateLimit::Rtt] {
        let mut controller = complete(1000);
        controller.on_alr(at(3000), Some(at(3000)));
        controller.on_estimate(at(7000), kbps(1000), limited);
        controller.on_timeout(at(8000));
        assert_eq!(asked(&mut controller), NONE, "{limited:?}");
        assert_eq!(controller.next_timeout(), Some(at(8025)));
        controller.on_estimate(at(8010), kbps(1000), EstimateLimit::Delay);
        controller.on_timeout(at(8025));
        assert_eq!(asked(&mut controller), [2000]);
    }
}

#[test]
fn while_loss_limits_and_the_rate_grows_probes_are_at_most_half_again() {
    let mut controller = complete(1000);
    controller.on_alr(at(3000), Some(at(3000)));
    controller.on_estimate(at(7000), kbps(1000), EstimateLimit::LossIncreasing);
    controller.on_timeout(at(8000));
    assert_eq!(asked(&mut controller), [1500]);
    controller.on_estimate(at(8100), kbps(1400), EstimateLimit::Delay);
    assert_eq!(asked(&mut controller), NONE, "a bounded probe has no further ones");
}

#[test]
fn the_rate_before_a_drop_is_probed_if_the_source_was_limited() {
    let mut controller = complete(2000);
    controller.on_alr(at(2000), Some(at(2000)));
    controller.on_alr(at(3000), None);
    // 1320 are 66 %.
    controller.on_estimate(at(3000), kbps(1319), EstimateLimit::DelayIncreased);
    controller.on_estimate(at(3500), kbps(1319), EstimateLimit::Delay);
    // 0.85 · 2000 = 1700; 0.95 · 1700 = 1615 > 1319.
    controller.on_recovered(at(3500));
    assert_eq!(asked(&mut controller), [1700]);
    controller.on_recovered(at(3600));
    assert_eq!(asked(&mut controller), NONE, "not twice in 5 s");
}

#[test]
fn a_drop_is_not_probed_for_without_reason() {
    let dropped = |estimate| {
        let mut controller = complete(2000);
        controller.on_alr(at(2000), Some(at(2000)));
        controller.on_estimate(at(3000), kbps(estimate), EstimateLimit::Delay);
        controller
    };
    // 1321 are more than 66 % of 2000.
    let mut small = dropped(1321);
    small.on_recovered(at(3500));
    assert_eq!(asked(&mut small), NONE);
    // A drop of 5 s ago is forgotten.
    let mut late = dropped(1000);
    late.on_recovered(at(8000));
    assert_eq!(asked(&mut late), NONE);
    // The source was limited 3 s ago.
    let mut unlimited = dropped(1000);
    unlimited.on_alr(at(3100), None);
    unlimited.on_recovered(at(6100));
    assert_eq!(asked(&mut unlimited), NONE);
    // 0.95 · 1700 = 1615: the estimate is there already.
    let mut recovered = dropped(1000);
    recovered.on_estimate(at(3400), kbps(1615), EstimateLimit::Delay);
    recovered.on_recovered(at(3500));
    assert_eq!(asked(&mut recovered), NONE);
}

#[test]
fn a_raised_maximum_is_probed_for() {
    let mut controller = complete(1000);
    controller.set_limits(at(3000), RateLimits::new(kbps(50), kbps(300), kbps(8000)).unwrap());
    assert_eq!(asked(&mut controller), [8000]);
    controller.set_limits(at(4000), limits());
    assert_eq!(asked(&mut controller), NONE);
}

#[test]
fn more_for_the_streams_is_probed_for_while_the_source_is_limited() {
    let allocated = |estimate, rate| {
        let mut controller = complete(estimate);
        controller.on_alr(at(2000), Some(at(2000)));
        controller.set_allocated(at(3000), kbps(rate));
        asked(&mut controller)
    };
    // Twice the estimate, 2000, bounds the second, which is 3000.
    assert_eq!(allocated(1000, 1500), [1500, 2000]);
    assert_eq!(allocated(1000, 2500), [2000]);
    assert_eq!(allocated(1000, 2000), [2000]);
    assert_eq!(allocated(1000, 1000), NONE);
    // The second was bounded: a result of 70 % of it, 1400, leads on.
    for (shown, further) in [(1399, vec![]), (1450, vec![2900])] {
        let mut controller = complete(1000);
        controller.on_alr(at(2000), Some(at(2000)));
        controller.set_allocated(at(3000), kbps(1500));
        asked(&mut controller);
        controller.on_estimate(at(3100), kbps(shown), EstimateLimit::Delay);
        assert_eq!(asked(&mut controller), further);
    }
    let mut unlimited = complete(1000);
    unlimited.set_allocated(at(3000), kbps(1500));
    assert_eq!(asked(&mut unlimited), NONE);
}

#[test]
fn no_probe_exceeds_twice_what_the_streams_can_use() {
    let mut controller = controller();
    controller.set_allocated(at(0), kbps(700));
    controller.start(at(0));
    assert_eq!(asked(&mut controller), [900, 1400]);
}

#[test]
fn initial_probes_repeat_while_no_stream_can_use_anything() {
    let config = ProbeControllerConfig { repeat_initial: true, ..ProbeControllerConfig::LIBWEBRTC_2025 };
    let mut controller = ProbeController::new(config, limits());
    controller.start(at(0));
    // 100 ms at 900 kbit/s.
    assert_eq!(controller.poll().map(|probe| probe.size.bytes()), Some(11_250));
    asked(&mut controller);
    for second in 1..5 {
        controller.on_timeout(at(second * 1001));
        assert_eq!(asked(&mut controller), [900], "at {second} s");
    }
    controller.on_timeout(at(5005));
    assert_eq!(asked(&mut controller), NONE);
    assert_eq!(controller.next_timeout(), None);
}

#[test]
fn a_restart_probes_again_with_fresh_ids() {
    let mut controller = complete(2000);
    controller.restart(at(5000), limits());
    controller.start(at(5000));
    let ids: Vec<u16> = core::iter::from_fn(|| controller.poll()).map(|probe| probe.id.get()).collect();
    assert_eq!(ids, [3, 4]);
}

#[test]
fn a_restart_begins_at_the_new_start_rate() {
    let mut controller = complete(2000);
    controller.restart(at(5000), RateLimits::new(kbps(50), kbps(100), kbps(5000)).unwrap());
    controller.start(at(5000));
    assert_eq!(asked(&mut controller), [300, 600]);
    // It was 100 before and is no drop.
    controller.on_timeout(at(6001));
    controller.on_alr(at(6001), Some(at(6001)));
    controller.on_estimate(at(11_000), kbps(90), EstimateLimit::Delay);
    controller.on_recovered(at(11_000));
    assert_eq!(asked(&mut controller), NONE);
}

#[test]
fn the_rate_before_a_drop_is_not_probed_within_5_s_of_a_restart() {
    for (ms, probes) in [(10_000, vec![]), (10_001, vec![1700])] {
        let mut controller = complete(2000);
        controller.restart(at(5000), RateLimits::new(kbps(50), kbps(2000), kbps(5000)).unwrap());
        controller.start(at(5000));
        asked(&mut controller);
        controller.on_timeout(at(6001));
        controller.on_alr(at(6001), Some(at(6001)));
        controller.on_estimate(at(9000), kbps(1000), EstimateLimit::Delay);
        controller.on_recovered(at(ms));
        assert_eq!(asked(&mut controller), probes, "{ms} ms");
    }
}

#[test]
fn without_a_maximum_no_probe_exceeds_5_mbit_a_second() {
    let limits = RateLimits::new(kbps(50), kbps(1000), DataRate::MAX).unwrap();
    let mut controller = ProbeController::new(ProbeControllerConfig::LIBWEBRTC_2025, limits);
    controller.start(at(0));
    assert_eq!(asked(&mut controller), [3000, 5000]);
}

#[test]
fn a_camera_is_not_probed_for_periodically() {
    let mut controller = complete(1000);
    controller.set_screen(false);
    controller.on_alr(at(3000), Some(at(3000)));
    controller.on_timeout(at(8000));
    assert_eq!((asked(&mut controller), controller.next_timeout()), (vec![], None));
    controller.set_screen(true);
    controller.on_timeout(at(8000));
    assert_eq!(asked(&mut controller), [2000]);
}

/// Reading of the sender's clock before it is set back.
const HOUR: i64 = 3_600_000;

#[test]
fn a_clock_set_back_by_an_hour_makes_no_wait_longer_than_it_is() {
    let mut waiting = controller();
    waiting.start(at(HOUR));
    waiting.on_timeout(at(0));
    assert_eq!(waiting.next_timeout(), Some(at(1000) + TimeDelta::from_nanos(1)));
    let mut limited = complete(1000);
    limited.on_alr(at(HOUR), Some(at(HOUR)));
    assert_eq!(limited.next_timeout(), Some(at(HOUR + 5000)));
    limited.on_timeout(at(0));
    assert_eq!(limited.next_timeout(), Some(at(5000)));
    let mut retried = complete(1000);
    retried.on_alr(at(HOUR), Some(at(HOUR)));
    retried.on_estimate(at(HOUR), kbps(1000), EstimateLimit::Loss);
    retried.on_timeout(at(HOUR + 5000));
    // The retry is due 25 ms from now, the probe of a limited source 5 s from now.
    retried.on_estimate(at(0), kbps(1000), EstimateLimit::Delay);
    retried.on_timeout(at(5000));
    assert_eq!(asked(&mut retried), [2000]);
}

#[test]
fn a_clock_set_back_by_an_hour_puts_off_the_probe_for_what_a_drop_took_by_5_s() {
    let mut controller = complete(2000);
    controller.on_alr(at(HOUR), Some(at(HOUR)));
    controller.on_estimate(at(HOUR), kbps(1000), EstimateLimit::Delay);
    controller.on_recovered(at(HOUR));
    assert_eq!(asked(&mut controller), [1700]);
    controller.on_estimate(at(0), kbps(2000), EstimateLimit::Delay);
    controller.on_estimate(at(4000), kbps(1000), EstimateLimit::Delay);
    controller.on_recovered(at(5000));
    assert_eq!(asked(&mut controller), NONE);
    controller.on_recovered(at(5001));
    assert_eq!(asked(&mut controller), [1700]);
}

#[test]
fn a_clock_set_back_by_an_hour_does_not_keep_an_old_drop_or_region_for_an_hour() {
    let dropped = || {
        let mut controller = complete(2000);
        controller.on_alr(at(HOUR), Some(at(HOUR)));
        controller.on_alr(at(HOUR), None);
        controller.on_estimate(at(HOUR), kbps(1000), EstimateLimit::Delay);
        controller.on_timeout(at(0));
        controller
    };
    // The region ended 3 s ago; 1 ms less and it counts.
    for (ms, probes) in [(3000, vec![]), (2999, vec![1700])] {
        let mut controller = dropped();
        controller.on_recovered(at(ms));
        assert_eq!(asked(&mut controller), probes, "{ms} ms");
    }
    // The drop was 5 s ago.
    let mut controller = dropped();
    controller.on_alr(at(5000), Some(at(5000)));
    controller.on_recovered(at(5000));
    assert_eq!(asked(&mut controller), NONE);
}

#[test]
fn a_clock_set_back_by_an_hour_lets_initial_probes_repeat_for_five_seconds_more() {
    let config = ProbeControllerConfig { repeat_initial: true, ..ProbeControllerConfig::LIBWEBRTC_2025 };
    let mut controller = ProbeController::new(config, limits());
    controller.start(at(HOUR));
    asked(&mut controller);
    controller.on_timeout(at(0));
    let repeated = (1..10).filter(|second| {
        controller.on_timeout(at(second * 1001));
        !asked(&mut controller).is_empty()
    });
    assert_eq!(repeated.collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn an_allocated_rate_is_probed_once_and_not_while_a_result_is_pending() {
    let mut waiting = controller();
    waiting.start(at(0));
    asked(&mut waiting);
    waiting.on_alr(at(10), Some(at(10)));
    waiting.set_allocated(at(20), kbps(1500));
    assert_eq!(asked(&mut waiting), NONE);
    let mut complete_controller = complete(1000);
    complete_controller.on_alr(at(2000), Some(at(2000)));
    complete_controller.set_allocated(at(3000), kbps(1500));
    assert_eq!(asked(&mut complete_controller), [1500, 2000]);
    complete_controller.on_timeout(at(4000));
    complete_controller.set_allocated(at(4000), kbps(1500));
    assert_eq!(asked(&mut complete_controller), NONE);
}
