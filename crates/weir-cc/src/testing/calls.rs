//! Arbitrary calls to a sender half.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::{PathEvent, RateLimits};
use crate::packet::{Ecn, PacketFate, PacketResult, SendState, SentPacket};
use crate::report::{
    DcccReport, NadaDelayReport, NadaReport, NativeReport, OwnReport, ReceptionReport, TfrcReport,
};
use crate::time::{ApparentDelay, ArrivalTime, SendTime};

fn rate() -> impl Strategy<Value = DataRate> {
    prop_oneof![any::<u64>(), 0..10_000_000_u64].prop_map(DataRate::from_bps)
}

pub(super) fn size() -> impl Strategy<Value = DataSize> {
    prop_oneof![any::<u64>(), 0..3000_u64].prop_map(DataSize::from_bytes)
}

pub(super) fn span() -> impl Strategy<Value = TimeDelta> {
    prop_oneof![any::<i64>(), -1_000_000_000..5_000_000_000_i64].prop_map(TimeDelta::from_nanos)
}

/// A time step, mostly short, now and then a jump to anywhere within a year.
pub(super) fn step() -> impl Strategy<Value = TimeDelta> {
    const YEAR: i64 = 31_536_000_000_000_000;
    prop_oneof![
        20 => 0..300_000_000_i64,
        1 => -YEAR..YEAR,
    ]
    .prop_map(TimeDelta::from_nanos)
}

pub(super) fn ecn() -> impl Strategy<Value = Ecn> {
    prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce])
}

/// Arbitrary limits, from 1 bit/s to 20 Mbit/s.
///
/// # Panics
/// Never: the limits are in order.
pub fn limits() -> impl Strategy<Value = RateLimits> {
    // Bounds of any size, including those that an `f64` cannot represent.
    let any_size = (any::<u64>(), 0..64_u32).prop_map(|(bps, shift)| (bps >> shift).max(1));
    let bound = prop_oneof![3 => 1..20_000_000_u64, 1 => any_size];
    prop::array::uniform3(bound).prop_map(|mut bounds| {
        bounds.sort_unstable();
        let [min, start, max] = bounds.map(DataRate::from_bps);
        RateLimits::new(min, start, max).unwrap()
    })
}

/// A call to a sender half.
#[derive(Clone, Debug)]
pub enum Call {
    /// A packet left: its size, and whether it was padding.
    Sent(DataSize, bool),
    /// [`Feedback::Packets`](crate::Feedback::Packets): the fates, the time of the report, the round-trip time, and the
    /// number of missing reports.
    Packets(Vec<PacketResult>, Option<ArrivalTime>, Option<TimeDelta>, u8),
    /// [`Feedback::Ceiling`](crate::Feedback::Ceiling).
    Ceiling(DataRate),
    /// [`Feedback::Reception`](crate::Feedback::Reception), with the round-trip time.
    Reception(ReceptionReport, Option<TimeDelta>),
    /// [`Feedback::Native`](crate::Feedback::Native), with the round-trip time.
    Native(NativeReport, Option<TimeDelta>),
    /// A timeout, due or not.
    Timeout,
    /// An event outside the controller.
    Event(PathEvent),
    /// An allocation of the coupler.
    Allocation(DataRate),
}

/// A call, the time since the previous call, and the state of the endpoint.
pub type TimedCall = (TimeDelta, Call, SendState);

/// Calls as from [`calls`]; the controller's own reports among them have the name that the controller accepts, if there
/// is one.
pub(super) fn calls_to(name: Option<[u8; 4]>) -> impl Strategy<Value = Vec<TimedCall>> {
    calls().prop_map(move |mut calls| {
        for (_, call, _) in &mut calls {
            if let (Call::Native(NativeReport::Own(report), _), Some(name)) = (call, name) {
                *report = OwnReport::new(name, report.bytes()).expect("it is as long as before");
            }
        }
        calls
    })
}

/// Up to 200 arbitrary calls: of every kind, with plausible and implausible numbers, and clocks that are set now and
/// then.
pub fn calls() -> impl Strategy<Value = Vec<TimedCall>> {
    let state = (size(), size(), any::<bool>()).prop_map(|(in_flight, queued, application_limited)| {
        SendState { in_flight, queued, application_limited }
    });
    prop::collection::vec((step(), call(), state), 0..200)
}

fn call() -> impl Strategy<Value = Call> {
    let rtt = || prop::option::of(span());
    let results = prop::collection::vec(packet_result(), 0..8);
    let made = prop::option::of(any::<i64>().prop_map(ArrivalTime::from_nanos));
    let event = prop_oneof![
        limits().prop_map(PathEvent::Limits),
        Just(PathEvent::Paused),
        Just(PathEvent::Resumed),
        Just(PathEvent::RouteChanged),
        Just(PathEvent::DelayRefuted)
    ];
    prop_oneof![
        4 => (size(), any::<bool>()).prop_map(|(size, padding)| Call::Sent(size, padding)),
        2 => (results, made, rtt(), any::<u8>())
            .prop_map(|(results, at, rtt, missed)| Call::Packets(results, at, rtt, missed)),
        2 => rate().prop_map(Call::Ceiling),
        2 => (reception_report(), rtt()).prop_map(|(report, rtt)| Call::Reception(report, rtt)),
        4 => (own_report(), rtt()).prop_map(|(report, rtt)| Call::Native(report, rtt)),
        3 => Just(Call::Timeout),
        1 => event.prop_map(Call::Event),
        1 => rate().prop_map(Call::Allocation),
    ]
}

fn packet_result() -> impl Strategy<Value = PacketResult> {
    let arrival_time = || prop::option::weighted(0.9, any::<i64>().prop_map(ArrivalTime::from_nanos));
    let fate = prop_oneof![
        (arrival_time(), ecn()).prop_map(|(at, ecn)| PacketFate::Arrived { at, ecn }),
        Just(PacketFate::Missing),
        (arrival_time(), ecn()).prop_map(|(at, ecn)| PacketFate::Recovered { at, ecn }),
    ];
    (any::<u64>(), any::<i64>(), size(), any::<bool>(), fate).prop_map(
        |(id, departure, size, padding, fate)| {
            let at = SendTime::from_nanos(departure);
            PacketResult { sent: SentPacket { id, at, size, payload: size, padding, probe: None }, fate }
        },
    )
}

fn reception_report() -> impl Strategy<Value = ReceptionReport> {
    (any::<u8>(), any::<i32>(), prop::array::uniform4(any::<u32>())).prop_map(
        |(fraction_lost, cumulative_lost, [highest_sequence, jitter, last_sender_report, delay])| {
            ReceptionReport {
                fraction_lost,
                cumulative_lost,
                highest_sequence,
                jitter,
                last_sender_report,
                delay_since_last_sender_report: delay,
            }
        },
    )
}

fn own_report() -> impl Strategy<Value = NativeReport> {
    let nada = (any::<bool>(), span(), rate()).prop_map(|(ramp_up, congestion, receive_rate)| {
        NativeReport::Nada(NadaReport { ramp_up, congestion, receive_rate })
    });
    let dccc = (span(), rate(), span(), size(), any::<i64>()).prop_map(
        |(delay, sending_rate, interarrival, packet_size, at)| {
            let delay = ApparentDelay::between(SendTime::ZERO, ArrivalTime::ZERO + delay);
            let at = ArrivalTime::from_nanos(at);
            NativeReport::Dccc(DcccReport { delay, sending_rate, interarrival, packet_size, at })
        },
    );
    let loss_event_rate = prop_oneof![4 => 0.0..=1.0, 1 => Just(0.0), 1 => any::<f64>()];
    let tfrc = (loss_event_rate, rate()).prop_map(|(loss_event_rate, receive_rate)| {
        NativeReport::Tfrc(TfrcReport { loss_event_rate, receive_rate })
    });
    let nada_delay = (span(), span()).prop_map(|(congestion, reference)| {
        NativeReport::NadaDelay(NadaDelayReport { congestion, reference })
    });
    let bytes = prop::collection::vec(any::<u8>(), 0..=OwnReport::MAX_LEN);
    let own = (any::<[u8; 4]>(), bytes).prop_map(|(name, bytes)| {
        NativeReport::Own(OwnReport::new(name, &bytes).expect("it is short enough"))
    });
    prop_oneof![nada, dccc, tfrc, nada_delay, own]
}
