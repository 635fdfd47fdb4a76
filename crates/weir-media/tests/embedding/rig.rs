//! An endpoint over a simulated path: a link with drop-tail in one direction, only a delay in the other.

use std::collections::VecDeque;

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::nada::{self, Nada, NadaObserver};
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::scream::{self, v2::ScreamV2};
use weir_cc::{
    Arrival, ArrivalTime, AtSender, Controller, DataRate, DataSize, RateLimits, Receiver, SendTime, TimeDelta,
};
use weir_media::feedback::FeedbackWriter;
use weir_media::{
    Endpoint, EndpointConfig, EndpointEvent, PacketMeta, PayloadHandle, StreamConfig, StreamId,
};
use weir_wire::media::{ExtensionIds, MediaHeader};
use weir_wire::seq::Unwrapper;

pub(crate) const VIDEO: u32 = 0x0051_EE75;
pub(crate) const RECEIVER: u32 = 0x00C0_FFEE;
pub(crate) const DELAY: TimeDelta = TimeDelta::from_millis(25);
const QUEUE: TimeDelta = TimeDelta::from_millis(300);
/// Payload of each packet in bytes.
pub(crate) const PAYLOAD: u16 = 1200;

/// Rates of 50 to 4000 kbit/s, from 1 Mbit/s.
pub(crate) fn limits() -> RateLimits {
    RateLimits::new(DataRate::from_kbps(50), DataRate::from_mbps(1), DataRate::from_mbps(4)).unwrap()
}

pub(crate) fn gcc() -> Box<dyn Controller> {
    // No receiver reports come here, only feedback.
    let config = Config { report_patience: TimeDelta::ZERO, ..Config::default() };
    Box::new(GoogCc::new(config, limits()).unwrap())
}

pub(crate) fn scream_v2() -> Box<dyn Controller> {
    Box::new(ScreamV2::new(scream::v2::Config::default(), limits()).unwrap())
}

pub(crate) fn nada_at_sender() -> Box<dyn Controller> {
    let config = nada::Config::default();
    let observer = NadaObserver::new(config).unwrap();
    Box::new(AtSender::new(observer, Nada::new(config, limits()).unwrap(), &[]))
}

/// A controller's name and its constructor.
pub(crate) type NamedController = (&'static str, fn() -> Box<dyn Controller>);

/// Controllers by per-packet feedback: rate, window, and a measurement at the sender.
pub(crate) const CONTROLLERS: [NamedController; 3] =
    [("gcc", gcc), ("scream-v2", scream_v2), ("nada-at-sender", nada_at_sender)];

/// Sender time of `ms` milliseconds.
pub(crate) fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

/// The receiving end: per-packet feedback each 50 ms on packets with a transport-wide number.
pub(crate) struct FarEnd {
    numbers: Unwrapper,
    arrivals: PacketFeedback,
    writer: FeedbackWriter,
}

impl FarEnd {
    pub(crate) fn new() -> Self {
        Self {
            numbers: Unwrapper::new(),
            arrivals: PacketFeedback::new(TimeDelta::from_millis(50)),
            writer: FeedbackWriter::transport_wide(RECEIVER, VIDEO),
        }
    }

    /// The packet `number` of `bytes` bytes arrives.
    pub(crate) fn on_packet(&mut self, now: SendTime, number: u16, bytes: u64) {
        let number = self.numbers.unwrap(number);
        let now = ArrivalTime::from_nanos(now.nanos());
        self.arrivals.on_arrival(&Arrival::new(number, SendTime::ZERO, now, DataSize::from_bytes(bytes)));
    }

    /// The reports that are due.
    pub(crate) fn reports(&mut self, now: SendTime) -> Vec<Vec<u8>> {
        let (mut room, mut reports) = ([0; 1200], Vec::new());
        while let Some(report) = self.arrivals.poll_report(ArrivalTime::from_nanos(now.nanos())) {
            let mut length = self.writer.write(&report, &mut room);
            while let Some(written) = length {
                reports.push(room[..written].to_vec());
                length = self.writer.write_rest(&mut room);
            }
        }
        reports
    }
}

/// A link with a queue of 300 ms, and the way back.
pub(crate) struct Network {
    pub(crate) capacity: DataRate,
    free: SendTime,
    /// Arrivals at the far end: time, transport-wide number and bytes.
    there: VecDeque<(SendTime, u16, u64)>,
    pub(crate) back: VecDeque<(SendTime, Vec<u8>)>,
    pub(crate) far_end: FarEnd,
    /// Longest wait of a packet in the queue.
    pub(crate) longest_wait: TimeDelta,
    pub(crate) dropped: u32,
}

impl Network {
    pub(crate) fn new(capacity: DataRate) -> Self {
        Self {
            capacity,
            free: SendTime::ZERO,
            there: VecDeque::new(),
            back: VecDeque::new(),
            far_end: FarEnd::new(),
            longest_wait: TimeDelta::ZERO,
            dropped: 0,
        }
    }

    /// The packet `number` of `bytes` bytes enters the link.
    pub(crate) fn send(&mut self, now: SendTime, number: u16, bytes: usize) {
        let begin = self.free.max(now);
        if begin - now > QUEUE {
            self.dropped += 1;
            return;
        }
        self.longest_wait = self.longest_wait.max(begin - now);
        self.free = begin + DataSize::from_bytes(bytes as u64) / self.capacity;
        self.there.push_back((self.free + DELAY, number, bytes as u64));
    }

    /// Moves packets and reports to `now`; returns the reports that reach the sender.
    pub(crate) fn deliver(&mut self, now: SendTime) -> Vec<Vec<u8>> {
        while let Some(&(at, number, bytes)) = self.there.front().filter(|(at, ..)| *at <= now) {
            self.far_end.on_packet(at, number, bytes);
            self.there.pop_front();
        }
        let reports = self.far_end.reports(now);
        self.back.extend(reports.into_iter().map(|report| (now + DELAY, report)));
        let mut arrived = Vec::new();
        while self.back.front().is_some_and(|(at, _)| *at <= now) {
            arrived.extend(self.back.pop_front().map(|(_, report)| report));
        }
        arrived
    }
}

/// A camera of 30 pictures a second at the endpoint's target, and what the endpoint did.
pub(crate) struct Call {
    pub(crate) endpoint: Endpoint<PayloadHandle>,
    pub(crate) stream: StreamId,
    pub(crate) network: Network,
    pub(crate) events: Vec<EndpointEvent<PayloadHandle>>,
    /// Times and lengths of the packets that left.
    pub(crate) departures: Vec<(SendTime, usize)>,
    /// Whether the picture does not move: its frames have a twentieth of the target.
    pub(crate) is_still: bool,
    now: i64,
    next_frame: i64,
    frames: u64,
}

impl Call {
    pub(crate) fn new(controller: Box<dyn Controller>, capacity: DataRate, config: EndpointConfig) -> Self {
        let mut endpoint = Endpoint::new(controller, config, 7);
        let stream = endpoint.add_stream(StreamConfig::video(VIDEO, 96)).unwrap();
        Self {
            endpoint,
            stream,
            network: Network::new(capacity),
            events: Vec::new(),
            departures: Vec::new(),
            is_still: false,
            now: 0,
            next_frame: 0,
            frames: 0,
        }
    }

    /// Runs the call for `seconds`, in steps of a millisecond.
    pub(crate) fn run(&mut self, seconds: i64) {
        let end = self.now + 1000 * seconds;
        while self.now < end {
            let now = at(self.now);
            if self.now >= self.next_frame {
                self.queue_frame(now);
            }
            for report in self.network.deliver(now) {
                self.endpoint.on_rtcp(now, &report).unwrap();
            }
            if self.endpoint.next_timeout().is_some_and(|due| due <= now) {
                self.endpoint.on_timeout(now).unwrap();
            }
            let mut out = [0; 1500];
            while let Some(departure) = self.endpoint.poll_packet(now, &mut out).unwrap() {
                let header = MediaHeader::parse(&out[..departure.length], &ExtensionIds::default()).unwrap();
                assert_eq!(header.transport_sequence, departure.transport_sequence);
                self.network.send(now, departure.transport_sequence, departure.length);
                self.departures.push((now, departure.length));
            }
            while self.endpoint.poll_rtcp(now, &mut out).unwrap().is_some() {}
            self.events.extend(std::iter::from_fn(|| self.endpoint.poll_event()));
            self.now += 1;
        }
    }

    fn queue_frame(&mut self, now: SendTime) {
        self.next_frame += 33;
        let share = if self.is_still { 20.0 } else { 1.0 };
        let bytes = (self.endpoint.target().media_rate.bps_f64() / 8.0 / 30.0 / share) as u64;
        let packets = bytes.div_ceil(u64::from(PAYLOAD)).max(1);
        for packet in 0..packets {
            let payload = PayloadHandle { place: self.frames, size: (bytes / packets) as u16 };
            let meta = PacketMeta::new((self.frames * 3000) as u32, packet + 1 == packets);
            self.endpoint.queue(now, self.stream, payload, meta).unwrap();
        }
        self.frames += 1;
    }

    /// Mean rate on the wire between two times in seconds.
    pub(crate) fn rate(&self, from: i64, to: i64) -> DataRate {
        let (from, to) = (at(from * 1000), at(to * 1000));
        let within = self.departures.iter().filter(|(at, _)| (from..to).contains(at));
        let bytes: usize = within.map(|(_, length)| length).sum();
        DataSize::from_bytes(bytes as u64) / (to - from)
    }
}
