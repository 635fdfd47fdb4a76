//! Numbers worked by hand for each form of the rate control.

use super::*;

fn aimd(config: AimdConfig, start: u64) -> Aimd {
    let kbps = DataRate::from_kbps;
    Aimd::new(config, RateLimits::new(kbps(5), kbps(start), kbps(10_000)).unwrap())
}

fn kbps(rate: u64) -> Option<DataRate> {
    DataRate::from_kbps(rate).into()
}

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

#[track_caller]
fn assert_near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6 * b, "{a} instead of {b}");
}

#[test]
fn the_constants_of_each_form_are_within_range() {
    for config in [AimdConfig::draft_02(), AimdConfig::libwebrtc_2016(), AimdConfig::libwebrtc_2025()] {
        assert!(config.rules().iter().all(|rule| rule.1));
        assert!(config.link_capacity.rules().iter().all(|rule| rule.1));
    }
    let wrong = AimdConfig { additive: Additive::Slope { least: f64::NAN }, ..AimdConfig::default() };
    assert_eq!(wrong.rules().iter().find(|rule| !rule.1).map(|rule| rule.0), Some("additive"));
}

#[test]
fn without_a_capacity_growth_is_eight_per_cent_per_second_and_at_least_a_step() {
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 1000);
    // Hold → Increase: no time has passed, the least step of 1 kbit/s.
    assert_near(a.update(BandwidthUsage::Normal, kbps(1000), at(0)), 1_001_000.0);
    // 1001·1.08 = 1081.08; two seconds count as one.
    assert_near(a.update(BandwidthUsage::Normal, kbps(1000), at(1000)), 1_081_080.0);
    assert_near(a.update(BandwidthUsage::Normal, kbps(1000), at(3000)), 1_167_566.4);
    // 50 ms: 1167.5664·(1.08^0.05 − 1) = 1167.5664·0.00385547 = 4.50151.
    assert_near(a.update(BandwidthUsage::Normal, kbps(1000), at(3050)) - 1_167_566.4, 4501.5118);
}

#[test]
fn growth_ends_above_the_receive_rate_in_each_forms_own_way() {
    // 1.5·600 + 10 = 910, reached from 900 with the step of 1 s = 72; then held where R falls.
    let mut today = aimd(AimdConfig::libwebrtc_2025(), 900);
    today.update(BandwidthUsage::Under, kbps(600), at(0));
    today.update(BandwidthUsage::Normal, kbps(600), at(0));
    assert_near(today.update(BandwidthUsage::Normal, kbps(600), at(1000)), 910_000.0);
    assert_near(today.update(BandwidthUsage::Normal, kbps(300), at(2000)), 910_000.0);
    // 2016: the step to 972 is refused.
    let mut before = aimd(AimdConfig::libwebrtc_2016(), 900);
    assert_near(before.update(BandwidthUsage::Normal, kbps(600), at(0)), 900_000.0);
    assert_near(before.update(BandwidthUsage::Normal, kbps(600), at(1000)), 900_000.0);
    // And A is not pulled down where 1.5·500 = 750 lie below it.
    assert_near(before.update(BandwidthUsage::Normal, kbps(500), at(2000)), 900_000.0);
    // The draft: A < 1.5·R, whatever A was.
    let mut draft = aimd(AimdConfig::draft_02(), 900);
    assert_near(draft.update(BandwidthUsage::Normal, kbps(400), at(0)), 600_000.0);
}

#[test]
fn a_decrease_goes_below_the_receive_rate_and_learns_the_capacity() {
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 1000);
    // 0.85·900 − 5 = 760.
    assert_near(a.update(BandwidthUsage::Over, kbps(900), at(0)), 760_000.0);
    assert_eq!((a.state(), a.capacity().mean()), (RateState::Hold, Some(900e3)));
    // R above A: 0.85·R − 5 = 845 would raise A, 0.85·C̄ = 765 too: A stays.
    assert_near(a.update(BandwidthUsage::Over, kbps(1000), at(300)), 760_000.0);
    // 2016: without the 5 kbit/s.
    let mut before = aimd(AimdConfig::libwebrtc_2016(), 1000);
    assert_near(before.update(BandwidthUsage::Over, kbps(900), at(0)), 765_000.0);
}

#[test]
fn a_receive_rate_above_the_rate_falls_back_to_the_capacity() {
    let mut a = aimd(AimdConfig::libwebrtc_2016(), 1000);
    a.update(BandwidthUsage::Over, kbps(1000), at(0));
    a.set_rate(900e3, at(10));
    // 0.85·1100 = 935 > 900; C̄ = 1000: 850. 1100 is within C̄'s update: 0.95·1000 + 0.05·1100 = 1005.
    assert_near(a.update(BandwidthUsage::Over, kbps(1100), at(500)), 850_000.0);
    assert_near(a.capacity().mean().unwrap(), 1_005_000.0);
}

#[test]
fn near_the_capacity_growth_is_half_a_packet_per_response_time() {
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 1000);
    a.set_rtt(TimeDelta::from_millis(100));
    a.update(BandwidthUsage::Over, kbps(1000), at(0));
    a.update(BandwidthUsage::Normal, kbps(850), at(100));
    // A = 845 kbit/s: frame 28 166.7 bit in 3 packets of 9388.9; slope 9388.9/(2·0.2 s) = 23 472 bit/s².
    assert_near(a.rate(), 845_000.0);
    assert_near(a.update(BandwidthUsage::Normal, kbps(850), at(1100)), 845_000.0 + 23_472.22);
    // Time is not cut: from 868 472 (4 packets? 28 949/9600 = 3.02: 7237.3 bit) 18 093.2·2 s.
    assert_near(a.update(BandwidthUsage::Normal, kbps(850), at(3100)), 868_472.22 + 36_186.343);
}

#[test]
fn the_slope_and_the_step_have_a_floor() {
    // 30 kbit/s: 1000-bit packets, 1000/(2·0.3) = 1667 bit/s² < 4000.
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 40);
    a.update(BandwidthUsage::Over, kbps(40), at(0));
    let before = a.rate();
    a.update(BandwidthUsage::Normal, kbps(40), at(10));
    assert_near(a.update(BandwidthUsage::Normal, kbps(40), at(1010)) - before, 4000.0);
    // The draft's step is at least 1 kbit/s per update.
    let mut draft = aimd(AimdConfig { returns_to_hold: true, ..AimdConfig::draft_02() }, 40);
    draft.update(BandwidthUsage::Over, kbps(40), at(0));
    let before = draft.rate();
    draft.update(BandwidthUsage::Normal, kbps(40), at(10));
    assert_near(draft.rate() - before, 1000.0);
}

#[test]
fn the_draft_grows_additively_only_within_the_spread() {
    let mut a = aimd(AimdConfig::draft_02(), 2000);
    a.update(BandwidthUsage::Over, kbps(2000), at(0));
    assert_near(a.rate(), 1_700_000.0);
    assert_eq!(a.state(), RateState::Decrease);
    a.update(BandwidthUsage::Normal, kbps(1990), at(100));
    assert_eq!(a.state(), RateState::Hold, "the draft passes through Hold");
    // Near: 1700/30 = 56.67 kbit in 6 packets of 9444; Δ = 0 after Hold: the floor of 1000.
    assert_near(a.update(BandwidthUsage::Normal, kbps(1990), at(200)), 1_701_000.0);
    // 0.5·(150/300)·P, P = 56 700/6 = 9450: 2362.5.
    assert_near(a.update(BandwidthUsage::Normal, kbps(1990), at(350)), 1_703_362.5);
    // Far below C̄ − 3σ = 2000 − 3·28.3: multiplicative, 8 % in a second.
    assert_near(a.update(BandwidthUsage::Normal, kbps(1500), at(1350)), 1_703_362.5 * 1.08);
}

#[test]
fn a_receive_rate_above_the_spread_forgets_the_capacity() {
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 1000);
    a.update(BandwidthUsage::Over, kbps(1000), at(0));
    a.update(BandwidthUsage::Normal, kbps(1061), at(100));
    assert_eq!(a.capacity().mean(), None);
    // And one below it, at a decrease, makes the estimate begin anew.
    a.update(BandwidthUsage::Over, kbps(1000), at(200));
    a.update(BandwidthUsage::Over, kbps(500), at(500));
    assert_eq!(a.capacity().mean(), Some(500e3));
}

#[test]
fn persistent_overuse_waits_a_round_trip_unless_far_below() {
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 1000);
    assert!(a.may_reduce_again(None, at(0)), "nothing has changed yet");
    a.set_rtt(TimeDelta::from_millis(50));
    a.set_rate(1e6, at(0));
    assert!(!a.may_reduce_again(kbps(500), at(49)) && a.may_reduce_again(kbps(500), at(50)));
    assert!(a.may_reduce_again(kbps(499), at(1)));
    assert!(a.may_reduce_again(kbps(500), at(-3_600_000)), "the clock was set back");
    a.set_rtt(TimeDelta::from_secs(5));
    assert!(!a.may_reduce_again(None, at(199)) && a.may_reduce_again(None, at(200)));
    a.halve(at(200));
    assert_near(a.rate(), 500_000.0);
    // In 2016 A − R had to be above 1.05·R: 1000 / 2.05 = 487.8.
    let mut a = aimd(AimdConfig::libwebrtc_2016(), 1000);
    a.set_rate(1e6, at(0));
    assert!(!a.may_reduce_again(kbps(488), at(1)) && a.may_reduce_again(kbps(487), at(1)));
}

#[test]
fn an_unknown_receive_rate_is_the_last_known_one() {
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 1000);
    // The start rate first: 0.85·1000 − 5.
    assert_near(a.update(BandwidthUsage::Over, None, at(0)), 845_000.0);
    a.update(BandwidthUsage::Normal, kbps(700), at(100));
    assert_near(a.update(BandwidthUsage::Over, None, at(400)), 590_000.0);
}

#[test]
fn the_rate_stays_within_the_limits() {
    let mut a = aimd(AimdConfig::libwebrtc_2025(), 1000);
    a.set_rate(f64::NAN, at(0));
    assert_near(a.rate(), 5000.0);
    a.set_rate(1e12, at(0));
    assert_near(a.rate(), 10e6);
    a.update(BandwidthUsage::Over, kbps(0), at(1000));
    assert_near(a.rate(), 5000.0);
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_kbps(50), DataRate::from_kbps(60));
    a.set_limits(limits.unwrap());
    assert_near(a.rate(), 50e3);
}

#[test]
fn in_2016_growth_is_refused_only_above_100_kbit_received_or_150_kbit_sent() {
    // From Hold without time: a step of 1 kbit/s. 150 exceed 1.5·90 = 135, but not 150; 151 exceed both.
    let mut low = aimd(AimdConfig::libwebrtc_2016(), 149);
    assert_near(low.update(BandwidthUsage::Normal, kbps(90), at(0)), 150_000.0);
    assert_near(low.update(BandwidthUsage::Normal, kbps(90), at(0)), 150_000.0);
    // With a bound of R itself: 106 exceed 100 and 104, of which only 104 count, as more than 100 is received.
    let config = AimdConfig { bound_factor: 1.0, ..AimdConfig::libwebrtc_2016() };
    assert_near(aimd(config, 105).update(BandwidthUsage::Normal, kbps(100), at(0)), 106_000.0);
    assert_near(aimd(config, 105).update(BandwidthUsage::Normal, kbps(104), at(0)), 105_000.0);
}
