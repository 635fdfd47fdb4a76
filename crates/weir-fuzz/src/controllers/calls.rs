//! Calls to a sender half, chosen by bytes.

use std::collections::VecDeque;

use weir_cc::testing::{Call, TimedCall};
use weir_cc::{
    ApparentDelay, ArrivalTime, DcccReport, Ecn, NadaDelayReport, NadaReport, NativeReport, OwnReport,
    PacketFate, PacketResult, PathEvent, RateLimits, ReceptionReport, SendState, SendTime, SentPacket,
    TfrcReport,
};
use weir_units::{DataRate, TimeDelta};

use crate::input::{ClockReadings, Input};

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

/// Number of the last departed packets that results cover.
const REMEMBERED: usize = 256;

/// Calls of every kind, by a clock that now and then is set. Most results are of packets that left, a while later; now and then one is of
/// any number and any time.
#[derive(Debug, Default)]
pub struct Calls {
    course: ClockReadings,
    now: SendTime,
    /// The number of departed packets, and the last of them.
    count: u64,
    sent: VecDeque<SentPacket>,
}

impl Calls {
    /// The next call.
    pub fn next(&mut self, input: &mut Input<'_>) -> TimedCall {
        let step = self.course.step(input);
        self.now += step;
        let state =
            SendState { in_flight: input.size(), queued: input.size(), application_limited: input.flag() };
        let call = match input.below(19) {
            0..4 => self.send(input),
            4..6 => self.report(input),
            other => call(other, input),
        };
        (step, call, state)
    }

    fn send(&mut self, input: &mut Input<'_>) -> Call {
        let (size, padding) = (input.size(), input.flag());
        self.count += 1;
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        let sent = SentPacket { id: self.count, at: self.now, size, payload: size, padding, probe: None };
        self.sent.push_back(sent);
        Call::Sent(size, padding)
    }

    /// A report on up to sixteen packets in a row that arrived one after the other.
    fn report(&mut self, input: &mut Input<'_>) -> Call {
        let first = input.below(1 + self.sent.len() as u64) as usize;
        let mut at =
            ArrivalTime::ZERO + (self.now - SendTime::ZERO) + TimeDelta::from_micros(input.u16().into());
        let mut result = |&sent: &SentPacket| {
            at += TimeDelta::from_micros(input.u16().into());
            if input.seldom(32) { any_result(input) } else { PacketResult { sent, fate: fate(input, at) } }
        };
        let results = self.sent.iter().skip(first).take(16).map(&mut result).collect();
        let made = input.flag().then(|| if input.seldom(8) { any_arrival(input) } else { at });
        Call::Packets(results, made, rtt(input), input.byte())
    }
}

fn call(kind: u64, input: &mut Input<'_>) -> Call {
    match kind {
        6..8 => Call::Ceiling(input.rate()),
        8..10 => Call::Reception(reception(input), rtt(input)),
        10..14 => Call::Native(report(input), rtt(input)),
        14..17 => Call::Timeout,
        17 => Call::Event(match input.below(5) {
            0 => PathEvent::Limits(limits(input)),
            1 => PathEvent::Paused,
            2 => PathEvent::Resumed,
            3 => PathEvent::DelayRefuted,
            _ => PathEvent::RouteChanged,
        }),
        _ => Call::Allocation(input.rate()),
    }
}

fn rtt(input: &mut Input<'_>) -> Option<TimeDelta> {
    input.flag().then(|| input.span())
}

/// An arbitrary ECN codepoint.
pub(super) fn ecn(input: &mut Input<'_>) -> Ecn {
    input.one_of(&[Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce])
}

fn any_arrival(input: &mut Input<'_>) -> ArrivalTime {
    ArrivalTime::from_nanos(input.u64() as i64)
}

fn fate(input: &mut Input<'_>, at: ArrivalTime) -> PacketFate {
    let at = (!input.seldom(8)).then_some(at);
    match input.below(4) {
        0 => PacketFate::Missing,
        1 => PacketFate::Recovered { at, ecn: ecn(input) },
        _ => PacketFate::Arrived { at, ecn: ecn(input) },
    }
}

fn any_result(input: &mut Input<'_>) -> PacketResult {
    let size = input.size();
    let sent = SentPacket {
        id: input.u64(),
        at: SendTime::from_nanos(input.u64() as i64),
        size,
        payload: size,
        padding: input.flag(),
        probe: None,
    };
    let at = any_arrival(input);
    PacketResult { sent, fate: fate(input, at) }
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

fn report(input: &mut Input<'_>) -> NativeReport {
    match input.below(5) {
        0 => NativeReport::Nada(NadaReport {
            ramp_up: input.flag(),
            congestion: input.span(),
            receive_rate: input.rate(),
        }),
        1 => NativeReport::Dccc(DcccReport {
            delay: ApparentDelay::between(SendTime::ZERO, ArrivalTime::ZERO + input.span()),
            sending_rate: input.rate(),
            interarrival: input.span(),
            packet_size: input.size(),
            at: any_arrival(input),
        }),
        2 => NativeReport::Tfrc(TfrcReport {
            loss_event_rate: match input.below(6) {
                0 => 0.0,
                1 => f64::from_bits(input.u64()),
                _ => f64::from(input.u16()) / 65_535.0,
            },
            receive_rate: input.rate(),
        }),
        3 => NativeReport::NadaDelay(NadaDelayReport { congestion: input.span(), reference: input.span() }),
        _ => {
            let name = input.u32().to_be_bytes();
            let length = input.below(1 + OwnReport::MAX_LEN as u64) as usize;
            NativeReport::Own(OwnReport::new(name, input.bytes(length)).expect("it is short enough"))
        }
    }
}
