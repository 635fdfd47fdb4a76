//! Arbitrary messages, as hosts send them and as none should.

use alloc::vec::Vec;

use proptest::prelude::*;
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::coupled::{CouplingMessage, CwndUpdate, FlowParameters, Join, Update, WindowEvent, Windowed};
use crate::decision::{ChangeReason, Decision};
use crate::window::Window;

/// Values that no amount above zero has.
pub const IMPOSSIBLE: [f64; 4] = [0.0, -1.0, f64::NAN, f64::INFINITY];

/// Every kind of window event.
pub const EVENTS: [WindowEvent; 8] = [
    WindowEvent::Acknowledged,
    WindowEvent::Repairing,
    WindowEvent::RecoveryEntered,
    WindowEvent::RecoveryLeft,
    WindowEvent::TimedOut,
    WindowEvent::Reduced,
    WindowEvent::Marked,
    WindowEvent::Idle,
];

fn number() -> impl Strategy<Value = f64> {
    let odd: Vec<f64> = IMPOSSIBLE.into_iter().chain([1e300, f64::MIN_POSITIVE]).collect();
    prop_oneof![12 => 1.0..100.0_f64, 1 => prop::sample::select(odd)]
}

fn rate() -> impl Strategy<Value = DataRate> {
    let usual = (1000_u64..20_000_000).prop_map(DataRate::from_bps);
    prop_oneof![12 => usual, 1 => Just(DataRate::ZERO), 1 => Just(DataRate::MAX)]
}

fn rtt() -> impl Strategy<Value = Option<TimeDelta>> {
    let odd = prop_oneof![Just(0), Just(-5), Just(i64::MAX / 1000)];
    prop::option::of(prop_oneof![12 => 1_000_i64..1_000_000, 1 => odd].prop_map(TimeDelta::from_micros))
}

/// Windows, some of them impossible.
pub fn window() -> impl Strategy<Value = Window> {
    (number(), number()).prop_map(|(cwnd, ssthresh)| Window { cwnd, ssthresh })
}

fn windowed() -> impl Strategy<Value = Windowed> {
    let segment = prop_oneof![12 => 500_u64..1500, 1 => Just(0)];
    (window(), segment, rtt()).prop_map(|(window, segment, base_rtt)| Windowed {
        window,
        segment: DataSize::from_bytes(segment),
        base_rtt,
    })
}

/// Parameters, some of them impossible.
pub fn parameters() -> impl Strategy<Value = FlowParameters> {
    let least = prop_oneof![Just(DataRate::ZERO), (0_u64..300).prop_map(DataRate::from_kbps)];
    let priority = prop_oneof![8 => 0.05..8.0, 1 => number()];
    (priority, prop::option::of(rate()), least).prop_map(|(priority, desired, least)| FlowParameters {
        priority,
        desired,
        least,
    })
}

/// Window events, half of them acknowledgements.
pub fn window_event() -> impl Strategy<Value = CwndUpdate> {
    let event = prop_oneof![Just(WindowEvent::Acknowledged), prop::sample::select(&EVENTS[..])];
    let amounts = (0.0..10.0_f64, number(), any::<bool>());
    (event, window(), window(), amounts, rtt(), rtt()).prop_map(
        |(event, before, after, (acked, flight, window_limited), srtt, base_rtt)| CwndUpdate {
            event,
            before,
            after,
            acked,
            flight,
            window_limited,
            srtt,
            base_rtt,
        },
    )
}

fn update() -> impl Strategy<Value = Update> {
    let why = prop::sample::select(&ChangeReason::ALL[..]);
    let decision = (rate(), rate(), why, rtt());
    let has_feedback = prop::bool::weighted(0.8);
    (decision, prop::option::of(windowed()), 0_u32..40, has_feedback).prop_map(
        |((rate, base, why, rtt), window, epoch, has_feedback)| {
            let decision = Decision { rate, base, why, rtt };
            Update { decision, window, epoch, has_feedback }
        },
    )
}

/// Messages of any kind but statistics.
pub fn message() -> impl Strategy<Value = CouplingMessage> {
    let join = (parameters(), rate(), rate(), prop::option::of(windowed())).prop_map(
        |(parameters, start, present, window)| {
            CouplingMessage::Join(Join { parameters, start, present, window })
        },
    );
    prop_oneof![
        3 => join,
        8 => update().prop_map(CouplingMessage::Update),
        8 => window_event().prop_map(CouplingMessage::Window),
        1 => parameters().prop_map(CouplingMessage::FlowParameters),
        1 => Just(CouplingMessage::Pause),
        1 => Just(CouplingMessage::Withdraw),
        1 => Just(CouplingMessage::Leave),
    ]
}
