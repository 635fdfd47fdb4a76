//! One endpoint, its far end and its embedder.

use weir_cc::{ArrivalTime, Ecn, PathEvent, Reception, SendTime};
use weir_media::{
    Endpoint, EndpointConfig, EndpointError, JoinedResult, PacketFormat, PacketNumbering, PayloadHandle,
    SentReport, StreamConfig, StreamId,
};
use weir_units::TimeDelta;
use weir_wire::RtpPacket;

use super::far_end::FarEnd;
use super::foreign::{self, ForeignPacer};
use super::ledger::PayloadLedger;
use super::settings;
use crate::input::Input;

/// Most times that timers are served at one moment.
const MOST_ROUNDS: usize = 10;
/// Most packets that leave at one moment.
const MOST_PACKETS: usize = 20_000;

/// The endpoint under test.
pub(super) struct FuzzedEndpoint {
    now: SendTime,
    endpoint: Endpoint<PayloadHandle>,
    streams: Vec<(StreamId, StreamConfig)>,
    numbering: PacketNumbering,
    foreign_pacer: bool,
    pacer: ForeignPacer,
    ledger: PayloadLedger,
    far_end: FarEnd,
    /// The last RTCP of the far end.
    report: Vec<u8>,
}

impl FuzzedEndpoint {
    pub(super) fn any(input: &mut Input<'_>) -> Self {
        let numbering = if input.flag() { PacketNumbering::Given } else { PacketNumbering::Own };
        let format = if input.flag() { PacketFormat::TransportWide } else { PacketFormat::Rfc8888 };
        let foreign_pacer = input.flag();
        let controller = settings::controller(input);
        let config = EndpointConfig { foreign_pacer, ..settings::config(numbering, format, input) };
        let mut endpoint = Endpoint::new(controller, config, input.u64());
        let (configs, mut ledger) = (settings::streams(1, input), PayloadLedger::default());
        let mut add = |config: StreamConfig| {
            ledger.add(&config);
            (endpoint.add_stream(config).expect("sources differ"), config)
        };
        let streams = configs.iter().map(|&config| add(config)).collect();
        let pacer = ForeignPacer::after(input.u16());
        let far_end = FarEnd::any(format, &configs, input);
        Self {
            now: SendTime::ZERO,
            endpoint,
            streams,
            numbering,
            foreign_pacer,
            pacer,
            ledger,
            far_end,
            report: Vec::new(),
        }
    }

    /// A call with any arguments, or time goes on.
    pub(super) fn step(&mut self, input: &mut Input<'_>) {
        if input.flag() {
            self.advance(input);
        } else {
            self.call(input);
        }
    }

    /// The application stops: no payload is left.
    pub(super) fn end(mut self) {
        self.endpoint.pause(self.now).expect("time goes on");
        self.poll_events();
        self.ledger.check(&self.endpoint.stats());
        self.ledger.check_empty();
    }

    /// A call with any arguments; errors are fine.
    fn call(&mut self, input: &mut Input<'_>) {
        let before = TimeDelta::from_millis(i64::from(input.byte()));
        let now = if input.byte() == 0 { self.now - before } else { self.now };
        let stream = self.streams.get(usize::from(input.byte()) % 4).copied();
        match (input.byte() % 13, stream) {
            (0..=2, Some((stream, _))) if self.foreign_pacer => self.depart(now, stream, input),
            (0..=2, Some((stream, _))) => {
                let meta = settings::meta(now, input);
                // A frame of some packets: of one alone few are lost.
                for _ in 0..=input.byte() % 16 {
                    let payload = self.ledger.next(input.u16() % 1500);
                    if self.endpoint.queue(now, stream, payload, meta).is_ok() {
                        self.ledger.on_queued(stream, payload);
                    }
                }
            }
            (3, _) => {
                let length = usize::from(input.byte());
                _ = self.endpoint.on_rtcp(now, input.bytes(length));
            }
            (4, Some((stream, _))) => {
                let number = self.pacer.number.wrapping_add(input.u16());
                let packet = SentReport { number, ..foreign::any(stream, input.u16(), input) };
                self.report_sent(now, &packet);
            }
            (5, Some((stream, _))) => {
                let number = self.pacer.number.wrapping_add(input.u16());
                let packet = SentReport { number, ..foreign::any(stream, input.u16(), input) };
                let arrival = ArrivalTime::from_millis(i64::from(input.u32()));
                let reception = if input.flag() { Reception::At(arrival) } else { Reception::Missing };
                let departure = self.now - before;
                self.report_results(now, &[JoinedResult { packet, departure, reception, ecn: Ecn::Ce }]);
            }
            (6, _) => {
                _ = match input.byte() % 4 {
                    0 => self.endpoint.pause(now),
                    1 => self.endpoint.resume(now),
                    2 => self.endpoint.on_event(now, PathEvent::RouteChanged),
                    _ => self.endpoint.on_event(now, PathEvent::Limits(settings::limits())),
                };
            }
            (7, _) => {
                let encoder = self.endpoint.add_encoder(now, settings::encoder(input));
                if let Some(encoder) = encoder.ok().filter(|_| input.flag()) {
                    _ = self.endpoint.replace_encoder(now, encoder, settings::encoder(input));
                }
            }
            (8, Some((stream, _))) => _ = self.endpoint.set_highest_rate(now, stream, input.rate()),
            (9, Some((_, config))) => self.far_end.request_key_frame(self.now, config.ssrc),
            (10, _) => self.far_end.change(input),
            (11, _) => {
                let results = self.pacer.results(self.now, input);
                self.report_results(now, &results);
            }
            (12, _) => {
                // A report as an attacker may change it, or an old one again.
                let place = usize::from(input.u16()) % self.report.len().max(1);
                self.report.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= input.byte());
                _ = self.endpoint.on_rtcp(now, &self.report);
            }
            _ => self.now += TimeDelta::from_millis(i64::from(input.byte())),
        }
        self.poll_events();
        self.ledger.check(&self.endpoint.stats());
    }

    /// A packet of the embedder's own pacer leaves, and is reported at once or later.
    fn depart(&mut self, now: SendTime, stream: StreamId, input: &mut Input<'_>) {
        let is_given = self.numbering == PacketNumbering::Given;
        if !is_given {
            self.pacer.number = (self.endpoint.next_number() as u16).wrapping_sub(1);
        }
        let packet = self.pacer.depart(self.now, stream, is_given, input);
        let at_once = !is_given || input.flag();
        if at_once {
            self.report_sent(now, &packet);
        }
        let config = self.streams[stream.index()].1;
        self.far_end.send_header(self.now, &config, &packet);
    }

    fn report_sent(&mut self, now: SendTime, packet: &SentReport) {
        match self.endpoint.on_sent(now, packet) {
            Ok(()) => self.ledger.on_reported(packet),
            Err(EndpointError::TimeWentBack { .. } | EndpointError::NumberWentBack { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    fn report_results(&mut self, now: SendTime, results: &[JoinedResult]) {
        // A number that follows those before it is that of a packet which was not reported.
        let next = self.endpoint.next_number();
        let mut newest = next.checked_sub(1).map(|newest| newest as u16);
        let mut unreported = Vec::new();
        for result in results {
            let ahead = newest.map_or(1, |newest| result.packet.number.wrapping_sub(newest));
            if (1..=0x7FFF).contains(&ahead) {
                newest = Some(result.packet.number);
                unreported.push(result.packet);
            }
        }
        match self.endpoint.on_results(now, results, None) {
            Ok(()) => unreported.iter().for_each(|packet| self.ledger.on_reported(packet)),
            Err(error) => {
                let errors =
                    matches!(error, EndpointError::TimeWentBack { .. } | EndpointError::WrongNumbering);
                assert!(errors, "{error}");
                assert_eq!(self.endpoint.next_number(), next, "a refused report has no effect");
            }
        }
    }

    /// Time goes on to the next timer, or by a step; everything that is due is taken.
    fn advance(&mut self, input: &mut Input<'_>) {
        let step = self.now + TimeDelta::from_micros(i64::from(input.u16()));
        let due = self.endpoint.next_timeout().unwrap_or(step);
        self.now = due.clamp(self.now, step.max(self.now));
        for report in self.far_end.deliver(self.now) {
            self.endpoint.on_rtcp(self.now, &report).expect("time goes on");
            self.poll_events();
            self.report = report;
        }
        let polls_packets = !input.seldom(8);
        for round in 0.. {
            let next = self.endpoint.next_timeout();
            assert!(round < MOST_ROUNDS, "{next:?} is due at {:?} without end", self.now);
            self.serve(polls_packets);
            if !polls_packets || self.endpoint.next_timeout().is_none_or(|next| next > self.now) {
                break;
            }
        }
        self.ledger.check(&self.endpoint.stats());
        let target = self.endpoint.target();
        assert!(target.media_rate <= settings::limits().max(), "{target:?}");
        _ = self.endpoint.pacer_rates();
    }

    /// Serves the timers that are due, and takes what the endpoint has.
    fn serve(&mut self, polls_packets: bool) {
        self.endpoint.on_timeout(self.now).expect("time goes on");
        let mut out = [0; 1600];
        if polls_packets {
            self.poll_packets(&mut out);
        }
        while let Some(length) = self.endpoint.poll_rtcp(self.now, &mut out).expect("time goes on") {
            self.far_end.send_datagram(self.now, &out[..length]);
        }
        self.poll_events();
        while let Some(probe) = self.endpoint.poll_probe() {
            self.pacer.on_probe(&probe);
        }
        self.pacer.on_probes_polled();
    }

    fn poll_packets(&mut self, out: &mut [u8]) {
        for left in 0.. {
            assert!(left < MOST_PACKETS, "packets leave without end");
            let departure = match self.numbering {
                PacketNumbering::Own => self.endpoint.poll_packet(self.now, out),
                PacketNumbering::Given => {
                    let number = self.pacer.number.wrapping_add(1);
                    self.pacer.number = number;
                    self.endpoint.poll_packet_as(self.now, number, out)
                }
            };
            if let Err(EndpointError::NumberWentBack { .. }) = departure {
                // The numbers of the input are any; the next call goes on.
                self.pacer.number = (self.endpoint.next_number() as u16).wrapping_sub(1);
                continue;
            }
            let Some(departure) = departure.expect("the buffer is large") else { break };
            let packet = RtpPacket::parse(&out[..departure.length]).expect("RTP");
            assert_eq!(packet.sequence, departure.sequence);
            self.ledger.on_departure(&departure);
            self.far_end.send_datagram(self.now, &out[..departure.length]);
        }
    }

    fn poll_events(&mut self) {
        while let Some(event) = self.endpoint.poll_event() {
            self.ledger.on_event(&event);
        }
    }
}
