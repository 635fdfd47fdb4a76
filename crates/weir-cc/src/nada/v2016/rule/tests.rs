//! The rate of nada-2016 (`nada::v2016::rule`): accelerated ramp-up and gradual update.

use weir_units::{DataRate, DataSize};

use super::*;
use crate::controller::LimitingFactor;
use crate::controller::{Controller, Pacing, PathEvent, Target};
use crate::decision::{ChangeReason, Decision};
use crate::nada::NadaPacing;
use crate::packet::{SendState, SentPacket};
use crate::report::{Feedback, NadaReport};

fn kbps(rate: u64) -> DataRate {
    DataRate::from_kbps(rate)
}

fn ms(ms: i64) -> TimeDelta {
    TimeDelta::from_millis(ms)
}

/// Checks that `value` is `expected` within 1e-6, relative.
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{value} instead of {expected}");
}

/// 50 to 2500 kbit/s, from 500 kbit/s.
fn limits() -> RateLimits {
    RateLimits::new(kbps(50), kbps(500), kbps(2500)).unwrap()
}

fn sender(config: Config) -> Nada2016 {
    Nada2016::new(config, limits()).unwrap()
}

fn report(x_n: i64, receive_rate: u64) -> NadaReport {
    NadaReport { ramp_up: true, congestion: ms(x_n), receive_rate: kbps(receive_rate) }
}

fn tell_with(sender: &mut Nada2016, at: i64, report: NadaReport, rtt: Option<i64>, queued: u64) -> Decision {
    let feedback = Feedback::Native { report: NativeReport::Nada(report), rtt: rtt.map(ms) };
    let state = SendState { queued: DataSize::from_bytes(queued), ..SendState::default() };
    sender.on_feedback(SendTime::from_millis(at), &feedback, &state).unwrap()
}

/// By an RTT of 100 ms and with an empty buffer.
fn deliver(sender: &mut Nada2016, at: i64, report: NadaReport) -> Decision {
    tell_with(sender, at, report, Some(100), 0)
}

fn signals(sender: &Nada2016) -> [f64; 4] {
    let mut out = [0.0; 4];
    assert_eq!(sender.signals().len(), out.len());
    sender.read_signals(&mut out);
    out
}

#[test]
fn ramp_up_follows_the_receive_rate_even_downwards() {
    let mut sender = sender(Config::nada_2016());
    // γ = min(0.2, 50/(300 + 100)) = 0.125: 480·1.125 = 540; 50/(100 + 100) = 0.25 > 0.2: 600·1.2 = 720.
    assert_eq!(tell_with(&mut sender, 100, report(9, 480), Some(300), 0).rate, kbps(540));
    let decision = deliver(&mut sender, 200, report(9, 600));
    assert_eq!((decision.base, decision.rate, decision.why), (kbps(540), kbps(720), ChangeReason::Growth));
    assert_eq!(sender.target().limiting_factor, LimitingFactor::RampUp);
    // No maximum with the old rate: 300·1.2 = 360.
    assert_eq!(deliver(&mut sender, 300, report(0, 300)).rate, kbps(360));
    assert_eq!(deliver(&mut sender, 400, report(0, 0)).rate, kbps(360), "an unknown receive rate holds");
    // The last RTT known counts, and before the first one none: γ = 0.2.
    assert_eq!(tell_with(&mut sender, 500, report(0, 300), None, 0).rate, kbps(360));
    assert!(signals(&sender)[1].is_nan());
}

#[test]
fn gradual_update_is_that_of_the_paper() {
    let mut sender = sender(Config::nada_2016());
    // x_d = 110 − 0, x_o = 110 − 20·2500/500 = 10; K1 = 0.5·100/500² = 2e-4, K2 = 0.5·2/500 = 2e-3:
    // 500·(1 − 2e-4·10 − 2e-3·110) = 500·(1 − 0.002 − 0.22) = 389.
    let decision = deliver(&mut sender, 100, report(110, 500));
    assert_eq!((decision.rate, decision.why), (kbps(389), ChangeReason::Delay));
    assert_eq!(sender.found(), LimitingFactor::Delay);
    let [x_n, x_o, x_d, r_n] = signals(&sender);
    assert_eq!((x_n, x_d), (110.0, 110.0));
    near(x_o, 10.0);
    near(r_n, 389e3);
    // 200 ms later: K1 = 4e-4; x_o = 100 − 20·2500/389 = −28.534704, x_d = −10:
    // 389·(1 + 4e-4·28.534704 + 2e-3·10) = 389·1.0314138816 = 401.22.
    let decision = deliver(&mut sender, 300, report(100, 500));
    near(decision.rate.bps_f64() / 1e3, 401.22);
}

#[test]
fn the_reproduction_doubles_the_gains_and_halves_the_reference() {
    let mut sender = sender(Config::reproduction());
    // x_o = 60 − 10·2500/500 = 10, x_d = 60: 500·(1 − 4e-4·10 − 4e-3·60) = 500·(1 − 0.004 − 0.24) = 378.
    assert_eq!(deliver(&mut sender, 100, report(60, 500)).rate, kbps(378));
    assert_eq!(sender.target().pacing, Pacing::Unpaced);
}

#[test]
fn ten_milliseconds_divide_the_modes() {
    let cause_after = |report| {
        let mut sender = sender(Config::nada_2016());
        deliver(&mut sender, 100, report);
        sender.found()
    };
    let almost = NadaReport { congestion: TimeDelta::from_micros(9_999), ..report(0, 500) };
    assert_eq!(cause_after(almost), LimitingFactor::RampUp);
    assert_eq!(cause_after(report(10, 500)), LimitingFactor::Delay);
    // The receiver's ramp-up bit counts too.
    let forbidden = NadaReport { ramp_up: false, ..report(0, 500) };
    assert_eq!(cause_after(forbidden), LimitingFactor::Delay);
}

#[test]
fn the_change_is_taken_against_the_report_before_in_either_mode() {
    let mut sender = sender(Config::nada_2016());
    deliver(&mut sender, 100, report(8, 0));
    deliver(&mut sender, 200, report(30, 0));
    assert_eq!(signals(&sender)[2], 22.0);
}

#[test]
fn at_equilibrium_the_rate_stands_in_either_form() {
    // Paper: 20·2500/500 = 100.
    let config = Config { offset_form: OffsetForm::Paper, ..Config::nada_2016() };
    near(config.gradual(500e3, &limits(), ms(100), 100.0, 0.0).rate, 500e3);
    // zhu-06: (2500 − 50)/(500 − 50)·20 = 108.888…
    let config = Config { offset_form: OffsetForm::Zhu06, ..Config::nada_2016() };
    let update = config.gradual(500e3, &limits(), ms(100), 980.0 / 9.0, 0.0);
    near(update.rate, 500e3);
    near(update.offset, 0.0);
}

#[test]
fn zhu_06_counts_rates_from_the_minimum_and_weighs_by_priority() {
    let config = Config { offset_form: OffsetForm::Zhu06, priority: 2.0, ..Config::nada_2016() };
    // θ = 2·2450·20 = 98 000 kbit/s·ms; x̂ = 100 + 2·500·(10/100) = 200 ms; κ·δ/τ² = 2e-4 /ms:
    // 500 + 2e-4·(98 000 − 450·200) = 500 + 2e-4·8000 = 501.6.
    near(config.gradual(500e3, &limits(), ms(100), 100.0, 10.0).rate, 501.6e3);
    // From the minimum on there is only θ: 50 + 2e-4·98 000 = 69.6.
    near(config.gradual(50e3, &limits(), ms(100), 100.0, 10.0).rate, 69.6e3);
    // In the paper's form: x_o = 110 − 2·20·2500/500 = −90: 500·(1 + 2e-4·90) = 509.
    let config = Config { priority: 2.0, ..Config::nada_2016() };
    near(config.gradual(500e3, &limits(), ms(100), 110.0, 0.0).rate, 509e3);
}

#[test]
fn the_shaping_buffer_moves_both_rates_without_a_cap() {
    let mut sender = sender(Config::nada_2016());
    // 0.1 · 8 · 2000 · 30 = 48 kbit/s; 20 000 bytes: 480 kbit/s.
    tell_with(&mut sender, 100, report(0, 0), None, 2000);
    assert_eq!((sender.target().media_rate, sender.target().sending_rate), (kbps(452), kbps(548)));
    tell_with(&mut sender, 200, report(0, 0), None, 20_000);
    assert_eq!((sender.target().media_rate, sender.target().sending_rate), (kbps(50), kbps(980)));
    tell_with(&mut sender, 300, report(0, 0), None, 100_000);
    assert_eq!(sender.target().sending_rate, kbps(2500), "no more than the maximum");
    // The backlog when the report comes counts, also where all had left a moment ago.
    let size = DataSize::from_bytes(1000);
    let at = SendTime::from_millis(350);
    let packet = SentPacket::new(0, at, size);
    sender.on_sent(&packet, &SendState::default());
    tell_with(&mut sender, 400, report(0, 0), None, 2000);
    assert_eq!((sender.target().media_rate, sender.target().sending_rate), (kbps(452), kbps(548)));
}

#[test]
fn an_encoder_that_overshoots_for_five_seconds_fills_the_buffer_to_a_balance_and_it_drains_behind_it() {
    let mut sender = sender(Config::nada_2016());
    let (mut bits, mut now) = (0.0_f64, 0);
    // The encoder makes `excess` times its target rate; the buffer is reported ten times a second. An unknown
    // receive rate holds R_n at 500 kbit/s. With b bits both rates are 30·0.1·b/s off it, one below and one above.
    let mut run = |excess: f64, tenths: u32| {
        for _ in 0..tenths {
            now += 100;
            tell_with(&mut sender, now, report(0, 0), None, libm::round(bits / 8.0) as u64);
            let Target { media_rate, sending_rate, .. } = sender.target();
            bits = (bits + 0.1 * (excess * media_rate.bps_f64() - sending_rate.bps_f64())).max(0.0);
        }
        (bits, sender.target().media_rate.bps_f64(), sender.target().sending_rate.bps_f64())
    };
    // 1.2·(500 − 3·b) = 500 + 3·b at b = 100/6.6 = 15.1515 kbit: 454.545 and 545.455 kbit/s.
    let (bits, media, sending) = run(1.2, 50);
    assert!((bits - 15_151.5).abs() < 10.0, "{bits} bits");
    assert!((media - 454_545.0).abs() < 30.0 && (sending - 545_455.0).abs() < 30.0, "{media} and {sending}");
    // Behind it 0.1 s · 2·3/s of it leave in each tenth of a second: 15151.5·0.4⁵ = 155.2 bits after half a second.
    let (bits, ..) = run(1.0, 5);
    assert!((bits - 155.2).abs() < 5.0, "{bits} bits");
    let (bits, media, sending) = run(1.0, 15);
    assert!(bits < 8.0 && media > 499_970.0 && sending < 500_030.0, "{bits} bits, {media} and {sending}");
}

#[test]
fn in_the_frameworks_code_a_step_loses_up_to_a_kilobit() {
    let config = Config { offset_form: OffsetForm::Paper, ..Config::framework() };
    // κ = 1, x_ref = 10: equilibrium 50 ms at 500 kbit/s; K1·δ: 4e-4.
    // +1 ms: −0.2 kbit/s + 0.5 → trunc 0. −5 ms: +1.0 + 0.5 → 1. −20 ms: +4 + 0.5 → 4.
    near(config.gradual(500e3, &limits(), ms(100), 51.0, 0.0).rate, 500e3);
    near(config.gradual(500e3, &limits(), ms(100), 45.0, 0.0).rate, 501e3);
    near(config.gradual(500e3, &limits(), ms(100), 30.0, 0.0).rate, 504e3);
    // +10 ms: −2.0 + 0.5 = −1.5 → −1: less than computed.
    near(config.gradual(500e3, &limits(), ms(100), 60.0, 0.0).rate, 499e3);
    // Ramp-up: 333.4 → 333; γ = min(0.5, 50/300) = 1/6: 388.5 → 389 (half up).
    near(config.ramp_up(333.4e3, ms(300)), 389e3);
    near(Config::nada_2016().ramp_up(333.4e3, ms(400)), 375.075e3);
}

#[test]
fn in_the_frameworks_code_gamma_goes_by_the_least_delays() {
    let mut sender = sender(Config::framework());
    // RTT_min = 100 and δ_min = 100 (the interval of the first report): 50/200 = 0.25.
    assert_eq!(tell_with(&mut sender, 100, report(0, 400), Some(300), 0).rate, kbps(500));
    // RTT_min = 60, δ_min = 40: 50/100 = 0.5.
    assert_eq!(tell_with(&mut sender, 140, report(0, 400), Some(60), 0).rate, kbps(600));
    // They only decrease.
    assert_eq!(tell_with(&mut sender, 540, report(0, 400), Some(500), 0).rate, kbps(600));
    // Another path: again 100, and 100 of the first report.
    sender.on_event(SendTime::from_millis(600), PathEvent::RouteChanged);
    assert_eq!(tell_with(&mut sender, 700, report(0, 400), Some(300), 0).rate, kbps(500));
}

#[test]
fn in_the_frameworks_code_the_first_report_is_no_change() {
    let first_change = |config| {
        let mut sender = sender(config);
        deliver(&mut sender, 100, report(60, 500));
        signals(&sender)[2]
    };
    assert_eq!((first_change(Config::framework()), first_change(Config::nada_2016())), (0.0, 60.0));
}

#[test]
fn time_that_runs_backwards_moves_nothing() {
    let mut sender = sender(Config::nada_2016());
    deliver(&mut sender, 1000, report(100, 500));
    let before = sender.target().media_rate;
    assert_eq!(deliver(&mut sender, 0, report(100, 500)).rate, before);
}

#[test]
fn one_second_without_reports_halves_the_rate_and_forgets_the_signal() {
    let mut sender = sender(Config::nada_2016());
    deliver(&mut sender, 100, report(30, 500));
    let rate = sender.target().media_rate;
    let size = DataSize::from_bytes(1200);
    let at = SendTime::from_millis(110);
    let packet = SentPacket::new(0, at, size);
    sender.on_sent(&packet, &SendState::default());
    assert_eq!(sender.next_timeout(), Some(SendTime::from_millis(1110)));
    let decision = sender.on_timeout(SendTime::from_millis(1110), &SendState::default()).unwrap();
    assert_eq!(decision.rate, rate.scale(0.5));
    assert!(signals(&sender)[..3].iter().all(|value| value.is_nan()));
    // The next one counts for an interval and against itself: 20·2500/R is the equilibrium.
    let x = TimeDelta::from_millis_f64(50e6 / decision.rate.bps_f64());
    let held = deliver(&mut sender, 9000, NadaReport { congestion: x, ..report(0, 0) });
    assert!(held.rate.bps().abs_diff(decision.rate.bps()) <= 1, "{held:?}");
}

#[test]
fn a_factor_paces_at_the_target_rate() {
    let sender = sender(Config { pacing: NadaPacing::Factor(2.5), ..Config::nada_2016() });
    assert_eq!((sender.target().pacing, sender.target().sending_rate), (Pacing::Factor(2.5), kbps(500)));
}
