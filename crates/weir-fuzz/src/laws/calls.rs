//! Calls to a sender half, chosen by bytes.

use weir_cc::testing::{Call, TimedCall};
use weir_cc::{
    ApparentDelay, ArrivalTime, DcccReport, Ecn, Fate, LawReport, NadaDelayReport, NadaReport, OwnReport,
    PacketResult, PathEvent, RateLimits, ReceptionReport, SendState, SendTime, SentPacket, TfrcReport,
};
use weir_units::{DataRate, TimeDelta};

use crate::input::{Course, Input};

/// Limits from 1 bit/s to 20 Mbit/s, and now and then of any size.
///
/// # Panics
/// Never: they are in order.
pub fn limits(input: &mut Input<'_>) -> RateLimits {
    let mut bounds = [(); 3].map(|()| {
        let bps = if input.seldom(4) { input.u64() >> input.below(64) } else { input.below(20_000_000) };
        DataRate::from_bps(bps.max(1))
    });
    bounds.sort_unstable();
    let [min, start, max] = bounds;
    RateLimits::new(min, start, max).expect("they are in order")
}

/// Calls of every kind, with numbers likely and not, by a clock that now and then is set.
#[derive(Debug, Default)]
pub struct Calls {
    course: Course,
}

impl Calls {
    /// The next call.
    pub fn next(&mut self, input: &mut Input<'_>) -> TimedCall {
        let step = self.course.step(input);
        let state =
            SendState { in_flight: input.size(), queued: input.size(), application_limited: input.flag() };
        (step, call(input), state)
    }
}

fn call(input: &mut Input<'_>) -> Call {
    match input.below(19) {
        0..4 => Call::Sent(input.size(), input.flag()),
        4..6 => {
            let results = (0..input.below(8)).map(|_| result(input)).collect();
            let at = input.flag().then(|| ArrivalTime::from_nanos(input.u64() as i64));
            Call::Packets(results, at, rtt(input), input.byte())
        }
        6..8 => Call::Ceiling(input.rate()),
        8..10 => Call::Reception(reception(input), rtt(input)),
        10..14 => Call::Law(report(input), rtt(input)),
        14..17 => Call::Timeout,
        17 => Call::Event(match input.below(4) {
            0 => PathEvent::Limits(limits(input)),
            1 => PathEvent::Paused,
            2 => PathEvent::Resumed,
            _ => PathEvent::RouteChanged,
        }),
        _ => Call::Adopt(input.rate()),
    }
}

fn rtt(input: &mut Input<'_>) -> Option<TimeDelta> {
    input.flag().then(|| input.span())
}

/// Any of the four.
pub(super) fn ecn(input: &mut Input<'_>) -> Ecn {
    input.one_of(&[Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce])
}

fn result(input: &mut Input<'_>) -> PacketResult {
    let size = input.size();
    let sent = SentPacket {
        id: input.u64(),
        at: SendTime::from_nanos(input.u64() as i64),
        size,
        payload: size,
        padding: input.flag(),
        probe: None,
    };
    let at = ArrivalTime::from_nanos(input.u64() as i64);
    let fate = match input.below(3) {
        0 => Fate::Arrived { at, ecn: ecn(input) },
        1 => Fate::Missing,
        _ => Fate::Recovered { at, ecn: ecn(input) },
    };
    PacketResult { sent, fate }
}

fn reception(input: &mut Input<'_>) -> ReceptionReport {
    ReceptionReport {
        fraction_lost: input.byte(),
        cumulative_lost: input.u32() as i32,
        highest_sequence: input.u32(),
        jitter: input.u32(),
        last_sender_report: input.u32(),
        delay_since_last_sender_report: input.u32(),
    }
}

fn report(input: &mut Input<'_>) -> LawReport {
    match input.below(5) {
        0 => LawReport::Nada(NadaReport {
            ramp_up: input.flag(),
            congestion: input.span(),
            receive_rate: input.rate(),
        }),
        1 => LawReport::Dccc(DcccReport {
            delay: ApparentDelay::between(SendTime::ZERO, ArrivalTime::ZERO + input.span()),
            sending_rate: input.rate(),
            interarrival: input.span(),
            packet_size: input.size(),
            at: ArrivalTime::from_nanos(input.u64() as i64),
        }),
        2 => LawReport::Tfrc(TfrcReport {
            loss_event_rate: match input.below(6) {
                0 => 0.0,
                1 => f64::from_bits(input.u64()),
                _ => f64::from(input.u16()) / 65_535.0,
            },
            receive_rate: input.rate(),
        }),
        3 => LawReport::NadaDelay(NadaDelayReport { congestion: input.span(), reference: input.span() }),
        _ => {
            let name = input.u32().to_be_bytes();
            let length = input.below(1 + OwnReport::MAX_LEN as u64) as usize;
            LawReport::Own(OwnReport::new(name, input.bytes(length)).expect("it is short enough"))
        }
    }
}
