//! Tests of the rules, one by one. Segments are of 1250 bytes and round trips of 100 ms: ten segments are 1 Mbit/s.

mod presence;

use weir_units::{DataRate, DataSize, TimeDelta};

use super::{Config, Conversion, Mixed};
use crate::coupled::coupler::{Coupler, Refusal};
use crate::coupled::message::{
    CouplerAction, CouplingMessage, CwndUpdate, FlowId, FlowParameters, Join, Update, WindowEvent, Windowed,
};
use crate::decision::{ChangeReason, Decision};
use crate::time::SendTime;
use crate::window::Window;

const MEDIA: FlowId = FlowId(1);
const DATA: FlowId = FlowId(2);
const MS: fn(i64) -> SendTime = SendTime::from_millis;
const KBPS: fn(u64) -> DataRate = DataRate::from_kbps;

/// A coupler and its last actions.
pub(super) struct Call {
    pub(super) mixed: Mixed,
    /// The newest rates and windows by flow, in kbit/s and segments.
    rates: [Option<f64>; 4],
    windows: [Option<f64>; 4],
    reductions: u32,
}

pub(super) fn parameters(priority: f64, desired: Option<u64>) -> FlowParameters {
    FlowParameters { priority, desired: desired.map(KBPS), least: DataRate::ZERO }
}

pub(super) fn media(start: u64, parameters: FlowParameters) -> CouplingMessage {
    CouplingMessage::Join(Join { parameters, start: KBPS(start), present: KBPS(start), window: None })
}

/// The join of a data flow with a window of `cwnd` segments.
pub(super) fn data(cwnd: f64, parameters: FlowParameters) -> CouplingMessage {
    let window = Window { cwnd, ssthresh: f64::INFINITY };
    let base_rtt = Some(TimeDelta::from_millis(100));
    let windowed = Windowed { window, segment: DataSize::from_bytes(1250), base_rtt };
    CouplingMessage::Join(Join { parameters, start: KBPS(100), present: KBPS(100), window: Some(windowed) })
}

/// The update of a media flow that decides `rate` from `base`, in kbit/s.
pub(super) fn update(base: u64, rate: u64, why: ChangeReason) -> CouplingMessage {
    let rtt = Some(TimeDelta::from_millis(100));
    let decision = Decision { rate: KBPS(rate), base: KBPS(base), why, rtt };
    CouplingMessage::Update(Update { decision, window: None, epoch: 0, has_feedback: true })
}

/// A window event that changed the window from `before` to `after` segments.
pub(super) fn update_of(event: WindowEvent, before: f64, after: f64, srtt_ms: i64) -> CouplingMessage {
    let window = |cwnd| Window { cwnd, ssthresh: 5.0 };
    CouplingMessage::Window(CwndUpdate {
        event,
        before: window(before),
        after: window(after),
        acked: 1.0,
        flight: before,
        window_limited: true,
        srtt: Some(TimeDelta::from_millis(srtt_ms)),
        base_rtt: Some(TimeDelta::from_millis(100)),
    })
}

impl Call {
    pub(super) fn by(config: Config) -> Self {
        let mixed = Mixed::new(config).unwrap();
        Self { mixed, rates: [None; 4], windows: [None; 4], reductions: 0 }
    }

    /// Media at `kbps` kbit/s and data with equal priorities that have this sum, at 1 s.
    fn with_sum(config: Config, kbps: u64) -> Self {
        let mut call = Self::by(config);
        call.send_message(0, MEDIA, media(kbps, parameters(1.0, None)));
        call.send_message(1000, DATA, data(10.0, parameters(1.0, None)));
        call.send_message(1000, MEDIA, update(kbps / 2, kbps / 2, ChangeReason::Growth));
        call
    }

    fn send_message(&mut self, ms: i64, member: FlowId, message: CouplingMessage) {
        self.mixed.on_message(MS(ms), member, &message).unwrap();
        self.take_actions();
    }

    /// Stores the actions of the coupler: rates in kbit/s, windows in segments, and the number of reductions.
    fn take_actions(&mut self) {
        while let Some((FlowId(flow), action)) = self.mixed.poll_action() {
            match action {
                CouplerAction::Rate { rate, .. } => self.rates[flow as usize] = Some(rate.bps_f64() / 1e3),
                CouplerAction::Window(window) => self.windows[flow as usize] = Some(window.cwnd),
                CouplerAction::Reduce => self.reductions += 1,
                other => panic!("{other:?}"),
            }
        }
    }

    /// The newest rate of [`MEDIA`] in kbit/s.
    fn media_rate(&self) -> Option<f64> {
        self.rates[MEDIA.0 as usize]
    }

    /// The newest window of [`DATA`] in segments.
    fn data_window(&self) -> Option<f64> {
        self.windows[DATA.0 as usize]
    }

    /// `S_CR` in kbit/s.
    fn sum(&self) -> f64 {
        self.mixed.aggregate(MEDIA).or(self.mixed.aggregate(DATA)).unwrap().sum / 1e3
    }

    /// Checks that the aggregate is `sum` kbit/s within 0.01.
    fn close(&self, sum: f64) {
        assert!((self.sum() - sum).abs() < 0.01, "{} for {sum}", self.sum());
    }
}

#[test]
fn rule_1_a_window_is_the_share_in_a_round_trip_and_two_segments_at_least() {
    let mut call = Call::with_sum(Config::default(), 2000);
    assert_eq!((call.media_rate(), call.data_window()), (Some(1000.0), None), "ten segments are its share");
    call.send_message(1100, DATA, update_of(WindowEvent::Acknowledged, 12.0, 12.1, 100));
    assert_eq!(call.data_window(), Some(10.0), "not what its own controller made of it");
    // The window makes up for a queue of 20 ms, not for all of one of 30 ms, and by `Base` for none.
    let mut steady = Call::with_sum(Config { led_shrink_per_rtt: 0.0, ..Config::default() }, 2000);
    steady.send_message(1200, DATA, update_of(WindowEvent::Acknowledged, 12.0, 12.1, 120));
    assert_eq!(steady.data_window(), Some(12.0));
    steady.send_message(1300, DATA, update_of(WindowEvent::Acknowledged, 12.0, 12.1, 130));
    assert_eq!(steady.data_window(), Some(12.0));
    steady.send_message(1400, DATA, update_of(WindowEvent::Acknowledged, 12.0, 12.1, 130));
    assert_eq!(steady.data_window(), Some(13.0), "twelve and a half in the mean");
    let mut by_base = Call::with_sum(Config { led_shrink_per_rtt: 0.0, ..Config::by_base_rtt() }, 2000);
    by_base.send_message(1200, DATA, update_of(WindowEvent::Acknowledged, 12.0, 12.1, 130));
    assert_eq!(by_base.data_window(), Some(10.0));
    let bounded = Conversion::Smoothed { longest_queue: TimeDelta::from_millis(10) };
    let mut bounded =
        Call::with_sum(Config { conversion: bounded, led_shrink_per_rtt: 0.0, ..Config::default() }, 2000);
    bounded.send_message(1200, DATA, update_of(WindowEvent::Acknowledged, 12.0, 12.1, 400));
    assert_eq!(bounded.data_window(), Some(11.0));
    let mut narrow = Call::with_sum(Config::default(), 100);
    narrow.send_message(1100, DATA, update_of(WindowEvent::Acknowledged, 10.0, 10.1, 100));
    assert_eq!(narrow.data_window(), Some(2.0));
}

#[test]
fn rule_1_windows_are_whole_segments_whose_mean_is_the_limit() {
    let mut call = Call::with_sum(Config::default(), 1300);
    let mut total = 0.0;
    for ack in 0..100 {
        call.send_message(1100 + ack, DATA, update_of(WindowEvent::Acknowledged, 7.0, 7.1, 100));
        let window = call.data_window().unwrap();
        assert!(window == 6.0 || window == 7.0, "{window}");
        total += window;
    }
    assert!((total / 100.0 - 6.5).abs() < 0.011, "{total}");
}

#[test]
fn rule_2_media_moves_the_sum_for_all_and_data_does_not() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(1100, MEDIA, update(1000, 1010, ChangeReason::Growth));
    call.close(2020.0);
    call.send_message(1200, MEDIA, update(1010, 909, ChangeReason::Delay));
    call.close(1818.0);
    assert_eq!(call.media_rate(), Some(909.0));
    for ack in 0..50 {
        call.send_message(1201 + ack, DATA, update_of(WindowEvent::Acknowledged, 9.0, 9.1, 100));
    }
    call.close(1818.0);
    // A limit of a receiver or a source is no sign for the others: it bounds the flow, and they have the rest.
    call.send_message(1300, MEDIA, update(909, 500, ChangeReason::Ceiling));
    call.close(1818.0);
    assert_eq!(call.media_rate(), Some(500.0));
}

#[test]
fn rule_2_two_media_flows_count_by_their_parts() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(1000, FlowId(3), media(300, parameters(2.0, None)));
    call.close(2300.0);
    // 575, 575, 1150; media has three quarters, and a tenth more of a half of that is a tenth of a third.
    for step in 1..20 {
        call.send_message(1000 + 200 * step, FlowId(3), update(1, 1, ChangeReason::Growth));
        call.send_message(1000 + 200 * step, MEDIA, update(575, 575, ChangeReason::Growth));
    }
    assert_eq!((call.media_rate(), call.rates[3]), (Some(575.0), Some(1150.0)));
    call.send_message(5000, MEDIA, update(1000, 1300, ChangeReason::Growth));
    call.close(2300.0 * 1.1);
}

#[test]
fn rule_3_one_loss_event_in_two_round_trips_whoever_saw_it() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(1100, DATA, update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100));
    call.close(1000.0);
    assert_eq!(
        (call.media_rate(), call.data_window()),
        (Some(500.0), None),
        "the flow itself recovers by its own rules"
    );
    call.send_message(1200, MEDIA, update(500, 400, ChangeReason::Loss));
    call.send_message(1250, DATA, update_of(WindowEvent::Marked, 10.0, 5.0, 100));
    call.close(1000.0);
    call.send_message(1299, MEDIA, update(500, 600, ChangeReason::Growth));
    call.close(1000.0);
    call.send_message(1300, MEDIA, update(500, 550, ChangeReason::Growth));
    call.close(1100.0);
    call.send_message(1400, MEDIA, update(550, 440, ChangeReason::Loss));
    call.close(880.0);
    call.send_message(1500, DATA, update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100));
    call.close(880.0);
}

#[test]
fn rule_3_a_loss_may_take_only_the_datas_part_until_media_confirms_it() {
    let config = Config { partial_loss: true, ..Config::default() };
    let mut call = Call::with_sum(config, 2000);
    call.send_message(1100, DATA, update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100));
    call.close(1500.0);
    call.send_message(1150, MEDIA, update(750, 600, ChangeReason::Delay));
    call.close(1000.0);
    let mut call = Call::with_sum(config, 2000);
    call.send_message(1100, DATA, update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100));
    call.send_message(1250, MEDIA, update(750, 600, ChangeReason::Delay));
    call.close(1500.0);
}

#[test]
fn rule_4_without_a_leader_data_grows_by_a_segment_a_round_trip_and_keeps_the_queue_short() {
    let mut call = Call::with_sum(Config::default(), 1000);
    call.send_message(2000, MEDIA, CouplingMessage::Pause);
    call.close(1000.0);
    let mut window = 10.0;
    // Ten acknowledgements are a round trip: a segment in 100 ms is 100 kbit/s.
    for ack in 0..10 {
        call.send_message(
            2100 + 10 * ack,
            DATA,
            update_of(WindowEvent::Acknowledged, window, window + 0.1, 100),
        );
        window = call.data_window().unwrap();
    }
    assert!((1090.0..1101.0).contains(&call.sum()), "{}", call.sum());
    let grown = call.sum();
    call.send_message(2300, DATA, update_of(WindowEvent::Acknowledged, window, window + 0.1, 134));
    assert!((call.sum() - grown).abs() < 0.5);
    for ack in 0..10 {
        call.send_message(2400 + 10 * ack, DATA, update_of(WindowEvent::Acknowledged, 10.0, 10.1, 190));
    }
    let left = call.sum() / grown;
    assert!((0.94..0.98).contains(&left), "5 % in a round trip of about 20 segments: {left}");
}

#[test]
fn rule_4_media_that_has_all_it_can_use_does_not_lead() {
    let mut call = Call::by(Config::default());
    call.send_message(0, MEDIA, media(400, parameters(1.0, Some(400))));
    call.send_message(0, DATA, data(10.0, parameters(1.0, None)));
    call.send_message(10, MEDIA, update(100, 200, ChangeReason::Growth));
    for ack in 0..200 {
        call.send_message(100 + 10 * ack, DATA, update_of(WindowEvent::Acknowledged, 20.0, 20.1, 100));
        call.send_message(100 + 10 * ack, MEDIA, update(400, 400, ChangeReason::Growth));
    }
    assert_eq!(call.media_rate(), Some(400.0));
    assert!(call.sum() > 1500.0, "data takes what media leaves: {}", call.sum());
    let before = call.sum();
    call.send_message(3000, MEDIA, update(400, 300, ChangeReason::Delay));
    assert!(call.sum() < before, "but media still reports congestion");
}

#[test]
fn rule_5_a_share_that_is_given_up_goes_to_media_without_a_jump() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(1300, DATA, CouplingMessage::Leave);
    assert_eq!(call.media_rate(), Some(1500.0));
    assert_eq!(call.mixed.next_timeout(), Some(MS(1500)));
    call.mixed.on_timeout(MS(1499));
    call.take_actions();
    assert_eq!(call.media_rate(), Some(1500.0));
    call.mixed.on_timeout(MS(1500));
    call.take_actions();
    assert_eq!((call.media_rate(), call.mixed.next_timeout()), (Some(2000.0), Some(MS(5000))));
}

#[test]
fn rule_5_data_takes_all_of_a_pause_and_media_comes_back_from_its_start_rate() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(2000, MEDIA, CouplingMessage::Pause);
    let mut window = 10.0;
    for _ in 0..4 {
        call.send_message(2100, DATA, update_of(WindowEvent::Acknowledged, window, window, 100));
        window = call.data_window().unwrap();
    }
    assert_eq!(window, 20.0, "three segments an acknowledgement");
    call.send_message(3000, MEDIA, media(300, parameters(1.0, None)));
    assert_eq!(call.media_rate(), Some(450.0));
    assert!(call.data_window().unwrap() < 10.2, "data yields at once");
    // The growth of a flow below its share is no evidence of free capacity.
    let before = call.sum();
    call.send_message(3050, MEDIA, update(450, 900, ChangeReason::Growth));
    call.close(before);
}

#[test]
fn rule_6_a_data_flow_that_joins_takes_its_share_and_opens_its_window_by_acknowledgements() {
    let mut call = Call::with_sum(Config::default(), 8000);
    assert_eq!((call.media_rate(), call.data_window()), (Some(4000.0), None));
    call.send_message(1100, DATA, update_of(WindowEvent::Acknowledged, 10.0, 11.0, 100));
    assert_eq!(call.data_window(), Some(13.0));
}

#[test]
fn rule_7_a_flow_in_recovery_gets_no_window() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(1100, DATA, update_of(WindowEvent::RecoveryEntered, 10.0, 5.0, 100));
    call.send_message(1150, DATA, update_of(WindowEvent::Repairing, 5.0, 5.0, 100));
    call.send_message(1400, MEDIA, update(500, 250, ChangeReason::Delay));
    assert_eq!(call.data_window(), None);
    call.send_message(1500, DATA, update_of(WindowEvent::RecoveryLeft, 5.0, 5.0, 100));
    assert_eq!(call.data_window(), Some(2.5));
}

#[test]
fn rule_8_a_timeout_only_retransmits_while_other_flows_get_feedback() {
    let mut call = Call::with_sum(Config::default(), 2000);
    call.send_message(1100, MEDIA, update(1000, 1000, ChangeReason::Growth));
    call.send_message(1250, DATA, update_of(WindowEvent::TimedOut, 10.0, 10.0, 100));
    assert_eq!((call.data_window(), call.reductions), (Some(5.0), 0));
    call.close(1000.0);
    call.send_message(2500, DATA, update_of(WindowEvent::TimedOut, 10.0, 10.0, 100));
    assert_eq!((call.data_window(), call.reductions), (Some(5.0), 1), "and no window after it");
}

#[test]
fn ledbat_leads_a_tcp_and_a_window_in_its_join_is_none_of_a_tcps() {
    let mut call = Call::by(Config::ledbat());
    call.send_message(0, MEDIA, data(10.0, parameters(1.0, None)));
    call.send_message(0, DATA, data(10.0, parameters(1.0, None)));
    call.send_message(100, MEDIA, update(500, 500, ChangeReason::Delay));
    let before = call.sum();
    call.send_message(200, MEDIA, update(500, 510, ChangeReason::Growth));
    call.close(before * 1.02);
    call.send_message(300, DATA, update_of(WindowEvent::Acknowledged, 5.0, 5.2, 300));
    call.close(before * 1.02);
    let mut all = Call::by(Config::ledbat_sum_all());
    all.send_message(0, MEDIA, media(1000, parameters(1.0, None)));
    all.send_message(0, DATA, data(5.0, parameters(1.0, None)));
    all.send_message(100, MEDIA, update(500, 510, ChangeReason::Growth));
    all.close(1005.0);
    all.send_message(200, DATA, update_of(WindowEvent::Acknowledged, 5.0, 5.2, 100));
    assert!(all.sum() > 1005.0);
}

#[test]
fn a_long_queue_is_braked_although_media_leads() {
    let mut call = Call::with_sum(Config::default(), 2000);
    // A delayed acknowledgement waits for 10 ms: that is no queue.
    call.send_message(1100, DATA, update_of(WindowEvent::Acknowledged, 10.0, 10.0, 122));
    call.close(2000.0);
    call.send_message(1100, DATA, update_of(WindowEvent::Acknowledged, 10.0, 10.0, 140));
    assert!(call.sum() < 2000.0);
}

#[test]
fn a_flow_that_does_not_use_its_window_leaves_it_to_others() {
    let mut call = Call::with_sum(Config::default(), 4000);
    let CouplingMessage::Window(unused) = update_of(WindowEvent::Acknowledged, 20.0, 20.0, 100) else {
        unreachable!()
    };
    let unused = CouplingMessage::Window(CwndUpdate { window_limited: false, flight: 3.0, ..unused });
    call.send_message(1100, DATA, unused);
    call.send_message(1200, DATA, unused);
    // Ten segments are always allowed.
    assert_eq!(call.media_rate(), Some(3000.0));
    call.send_message(1300, DATA, update_of(WindowEvent::Idle, 20.0, 20.0, 100));
    call.send_message(1500, MEDIA, update(3000, 3000, ChangeReason::Growth));
    assert_eq!(call.media_rate(), Some(4000.0));
}

#[test]
fn alone_a_media_flow_has_what_its_controller_computes() {
    let mut call = Call::by(Config::default());
    call.send_message(0, MEDIA, media(300, parameters(0.3, None)));
    let mut rate = 300;
    for (step, next) in [450_u64, 1350, 1147, 1147, 333, 3330].into_iter().enumerate() {
        call.send_message(
            50 * step as i64,
            MEDIA,
            update(rate, next, if next < rate { ChangeReason::Delay } else { ChangeReason::Probe }),
        );
        assert_eq!(call.media_rate(), Some(next as f64));
        rate = next;
    }
}

#[test]
fn implausible_messages_are_refused() {
    let mut mixed = Mixed::new(Config::default()).unwrap();
    let mut send = |member, message: CouplingMessage| mixed.on_message(MS(0), member, &message);
    assert_eq!(send(MEDIA, update(1, 1, ChangeReason::Growth)), Err(Refusal::UnknownFlow(MEDIA)));
    for priority in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(send(MEDIA, media(300, parameters(priority, None))), Err(Refusal::Priority(MEDIA)));
    }
    assert_eq!(send(MEDIA, media(0, parameters(1.0, None))), Err(Refusal::Amount(MEDIA)));
    assert_eq!(send(DATA, data(f64::NAN, parameters(1.0, None))), Err(Refusal::Amount(DATA)));
    assert_eq!(send(MEDIA, media(300, parameters(1.0, None))), Ok(()));
    assert_eq!(send(MEDIA, media(300, parameters(1.0, None))), Err(Refusal::JoinedAlready(MEDIA)));
    assert_eq!(send(MEDIA, update_of(WindowEvent::Acknowledged, 1.0, 1.0, 100)), Err(Refusal::Kind(MEDIA)));
    assert_eq!(send(MEDIA, update(0, 1, ChangeReason::Growth)), Err(Refusal::Amount(MEDIA)));
    assert_eq!(send(DATA, data(10.0, parameters(1.0, None))), Ok(()));
    assert_eq!(
        send(DATA, update_of(WindowEvent::Acknowledged, f64::NAN, 1.0, 100)),
        Err(Refusal::Amount(DATA))
    );
    assert_eq!(send(MEDIA, CouplingMessage::Leave), Ok(()));
    assert_eq!(send(MEDIA, CouplingMessage::Pause), Err(Refusal::UnknownFlow(MEDIA)));
}

#[test]
fn data_alone_starts_slowly_while_no_queue_stands() {
    let grown = |srtt_ms| {
        let mut call = Call::by(Config::default());
        call.send_message(0, MEDIA, data(10.0, parameters(1.0, None)));
        call.send_message(0, DATA, data(10.0, parameters(1.0, None)));
        call.close(1000.0);
        call.send_message(100, DATA, update_of(WindowEvent::Acknowledged, 5.0, 6.0, srtt_ms));
        call.sum()
    };
    // A segment for a segment is 100 kbit/s.
    assert!((grown(100) - 1100.0).abs() < 0.01, "{}", grown(100));
    // Once a queue of more than 25 ms persists, no more than one in a round trip.
    assert!(grown(160) < 1011.0, "{}", grown(160));
}
