//! Endpoints of embedders: calls in any order, with any times, packets, feedback and numbers.

use weir_cc::{Ecn, PathEvent, RateLimits, Reception, SendTime};
use weir_media::allocation::EncoderStream;
use weir_media::{
    EncoderDescription, Endpoint, EndpointConfig, EndpointError, JoinedResult, PacketKind, PacketMeta,
    PacketNumbering, PayloadHandle, SentReport, StreamConfig, StreamId,
};
use weir_registry::Registry;
use weir_units::{DataRate, TimeDelta};
use weir_wire::RtpPacket;

use crate::input::Input;

/// Most calls of an input.
const MOST_CALLS: usize = 2000;
/// Most times that timers are served at one moment.
const MOST_ROUNDS: usize = 10;
/// Most packets that leave at one moment.
const MOST_PACKETS: usize = 20_000;
/// Most packets that wait.
const MOST_WAITING: usize = 200;

/// The endpoint under test.
struct FuzzedEndpoint {
    now: SendTime,
    endpoint: Endpoint<PayloadHandle>,
    streams: Vec<StreamId>,
    numbering: PacketNumbering,
    number: u16,
    limits: RateLimits,
}

impl FuzzedEndpoint {
    fn any(input: &mut Input<'_>) -> Self {
        let registry = Registry::standard();
        let names: Vec<&str> =
            registry.controller_names().filter_map(|name| registry.by_packets(name).ok()).collect();
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(5000)).expect("in order");
        let name = input.one_of(&names);
        let controller = registry.build_by_packets(name, None, limits, 1.0).expect("by packets");
        let numbering = if input.flag() { PacketNumbering::Given } else { PacketNumbering::Own };
        let config = EndpointConfig {
            numbering,
            foreign_pacer: input.flag(),
            remb: input.flag(),
            most_packets: MOST_WAITING,
            ..EndpointConfig::new(limits)
        };
        let mut endpoint = Endpoint::new(controller, config, input.u64());
        let streams = [
            StreamConfig::video(1, 96).with_retransmissions(2, 97),
            StreamConfig::audio(3, 111),
            StreamConfig::video(4, 98),
            StreamConfig::data(5, 99),
        ];
        let streams = streams[..usize::from(input.byte() % 5)].iter();
        let streams = streams.map(|&config| endpoint.add_stream(config).expect("sources differ")).collect();
        Self { now: SendTime::ZERO, endpoint, streams, numbering, number: input.u16(), limits }
    }

    fn sent(&mut self, input: &mut Input<'_>, stream: StreamId) -> SentReport {
        self.number = self.number.wrapping_add(if input.flag() { 1 } else { input.u16() });
        SentReport {
            stream,
            sequence: input.u16(),
            timestamp: input.u32(),
            number: self.number,
            header: u16::from(input.byte()),
            payload: input.u16(),
            kind: match input.byte() % 3 {
                0 => PacketKind::Media,
                1 => PacketKind::Retransmission { padding: input.flag() },
                _ => PacketKind::Padding,
            },
            probe: None,
        }
    }

    /// A call with any arguments; errors are fine.
    fn call(&mut self, input: &mut Input<'_>) {
        let before = TimeDelta::from_millis(i64::from(input.byte()));
        let now = if input.byte() == 0 { self.now - before } else { self.now };
        let stream = self.streams.get(usize::from(input.byte()) % 4).copied();
        match (input.byte() % 9, stream) {
            (0..=2, Some(stream)) => {
                let payload = PayloadHandle { place: 0, size: input.u16() % 1500 };
                let expires = if input.flag() {
                    SendTime::MAX
                } else {
                    now + TimeDelta::from_millis(i64::from(input.byte()))
                };
                let meta = PacketMeta { expires, ..PacketMeta::new(input.u32(), input.flag()) };
                _ = self.endpoint.queue(now, stream, payload, meta);
            }
            (3, _) => {
                let length = usize::from(input.byte());
                _ = self.endpoint.on_rtcp(now, input.bytes(length));
            }
            (4, Some(stream)) => {
                let packet = self.sent(input, stream);
                _ = self.endpoint.on_sent(now, &packet);
            }
            (5, Some(stream)) => {
                let packet = self.sent(input, stream);
                let arrival = weir_cc::ArrivalTime::from_millis(i64::from(input.u32()));
                let reception = if input.flag() { Reception::At(arrival) } else { Reception::Missing };
                let result = JoinedResult { packet, departure: now - before, reception, ecn: Ecn::Ce };
                _ = self.endpoint.on_results(now, &[result], None);
            }
            (6, _) => {
                _ = match input.byte() % 4 {
                    0 => self.endpoint.pause(now),
                    1 => self.endpoint.resume(now),
                    2 => self.endpoint.on_event(now, PathEvent::RouteChanged),
                    _ => self.endpoint.on_event(now, PathEvent::Limits(self.limits)),
                };
            }
            (7, _) => {
                let rates = EncoderStream::new(input.rate(), input.rate());
                _ = self.endpoint.add_encoder(now, EncoderDescription::single(rates));
            }
            (8, Some(stream)) => _ = self.endpoint.set_highest_rate(now, stream, input.rate()),
            _ => self.now += TimeDelta::from_millis(i64::from(input.byte())),
        }
    }

    /// Time goes on to the next timer, or by a step; everything that is due is taken.
    fn advance(&mut self, input: &mut Input<'_>) {
        let step = self.now + TimeDelta::from_micros(i64::from(input.u16()));
        let due = self.endpoint.next_timeout().unwrap_or(step);
        self.now = due.clamp(self.now, step.max(self.now));
        for round in 0.. {
            assert!(
                round < MOST_ROUNDS,
                "{:?} is due at {:?} without end",
                self.endpoint.next_timeout(),
                self.now
            );
            self.serve();
            if self.endpoint.next_timeout().is_none_or(|next| next > self.now) {
                break;
            }
        }
        assert_eq!(self.endpoint.stats().events_dropped, 0, "events are polled");
        let target = self.endpoint.target();
        assert!(target.media_rate <= self.limits.max(), "{target:?}");
    }

    /// Serves the timers that are due, and takes what the endpoint has.
    fn serve(&mut self) {
        self.endpoint.on_timeout(self.now).expect("time goes on");
        let mut out = vec![0; 1600];
        for left in 0.. {
            assert!(left < MOST_PACKETS, "packets leave without end");
            let departure = match self.numbering {
                PacketNumbering::Own => self.endpoint.poll_packet(self.now, &mut out),
                PacketNumbering::Given => {
                    self.number = self.number.wrapping_add(1);
                    self.endpoint.poll_packet_as(self.now, self.number, &mut out)
                }
            };
            if let Err(EndpointError::NumberWentBack { .. }) = departure {
                // The numbers of the input are any; the next call goes on.
                self.number = self.endpoint.next_number() as u16;
                continue;
            }
            let Some(departure) = departure.expect("the buffer is large") else { break };
            let packet = RtpPacket::parse(&out[..departure.length]).expect("RTP");
            assert_eq!(packet.sequence, departure.sequence);
        }
        while self.endpoint.poll_rtcp(self.now, &mut out).expect("time goes on").is_some() {}
        while self.endpoint.poll_event().is_some() {}
        while self.endpoint.poll_probe().is_some() {}
    }
}

pub(crate) fn endpoints(data: &[u8]) {
    let mut input = Input::new(data);
    let mut fuzzed = FuzzedEndpoint::any(&mut input);
    for _ in 0..MOST_CALLS {
        if input.is_empty() {
            break;
        }
        if input.flag() {
            fuzzed.advance(&mut input);
        } else {
            fuzzed.call(&mut input);
        }
    }
}
