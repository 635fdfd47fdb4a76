//! Feedback as bytes, for a media stack that has packets of its own: the sender numbers RTP packets by its send
//! history, the receiver writes transport-wide feedback or RFC 8888, the sender reads it, and the controller decides. A
//! link in memory takes the place of your sockets: `cargo run --release -p weir-media --example feedback`.

use std::collections::VecDeque;
use std::error::Error;

use weir_cc::gcc::goog_cc::{Config, GoogCc};
use weir_cc::history::SendHistory;
use weir_cc::packet_feedback::PacketFeedback;
use weir_cc::{Arrival, ArrivalTime, Controller, DataRate, DataSize, RateLimits, Receiver};
use weir_cc::{SendState, SendTime, StreamsConfig, Target, TimeDelta};
use weir_media::PacketFormat;
use weir_media::feedback::{FeedbackReader, FeedbackWriter, StreamNumbers};
use weir_wire::rtp::{Extension, RtpHeader, RtpPacket};
use weir_wire::{ParseError, WriteError, rtcp, seq::Unwrapper};

/// Source identifiers of the video and of its receiver.
const VIDEO: u32 = 0x0051_EE75;
const RECEIVER: u32 = 0x00C0_FFEE;
/// Number of the header extension with the transport-wide sequence number in your SDP.
const TRANSPORT_SEQUENCE: u8 = 5;
/// RFC 3550 §5.1: a stream's sequence numbers begin anywhere.
const FIRST_SEQUENCE: u16 = 65_000;

fn main() -> Result<(), Box<dyn Error>> {
    for format in [PacketFormat::TransportWide, PacketFormat::Rfc8888] {
        println!("{format:?}");
        call(format, |second, capacity, target| {
            let (rate, factor) = (target.media_rate.bps() / 1000, target.limiting_factor.name());
            println!("{second:>2} s: {rate:>4} kbit/s of {capacity}, limited by {factor}");
        })?;
    }
    Ok(())
}

/// State of the sending end of your stack for each path.
struct Sender {
    controller: GoogCc,
    history: SendHistory,
    numbers: StreamNumbers,
    reader: FeedbackReader,
    sequence: u16,
}

impl Sender {
    /// Sends a packet; returns its bytes, of which `payload` follow the header.
    fn send(&mut self, now: SendTime, payload: usize) -> Result<Vec<u8>, WriteError> {
        // The number goes into the header, and the header's length into the history.
        let number = (self.history.next_number() as u16).to_be_bytes();
        let header = RtpHeader {
            padding: false,
            marker: true,
            payload_type: 96,
            sequence: self.sequence,
            timestamp: ((now - SendTime::ZERO).nanos() * 9 / 100_000) as u32,
            ssrc: VIDEO,
            csrcs: &[],
            extensions: &[Extension { id: TRANSPORT_SEQUENCE, data: &number }],
        };
        let mut bytes = vec![0; header.wire_len() + payload];
        let length = header.write(&mut bytes)?;
        let size = |bytes: usize| DataSize::from_bytes(bytes as u64);
        let sent = self.history.on_media_sent(now, size(length), size(payload));
        self.numbers.on_sent(VIDEO, self.sequence, sent.id);
        self.controller.on_sent(&sent, &self.state());
        self.sequence = self.sequence.wrapping_add(1);
        Ok(bytes)
    }

    /// Takes RTCP. A malformed message is an error; the messages before it count.
    fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> Result<(), ParseError> {
        for message in rtcp::messages(bytes) {
            let state = self.state();
            if let Some(report) = self.reader.read(now, &message?, &self.numbers, &self.history)
                && let Some(feedback) = self.history.join(now, &report)
            {
                self.controller.on_feedback(now, &feedback, &state);
            }
        }
        Ok(())
    }

    fn state(&self) -> SendState {
        SendState { in_flight: self.history.in_flight(), ..SendState::default() }
    }
}

/// State of the receiving end.
struct FarEnd {
    format: PacketFormat,
    numbers: Unwrapper,
    arrivals: PacketFeedback,
    writer: FeedbackWriter,
}

impl FarEnd {
    fn new(format: PacketFormat) -> Self {
        let writer = match format {
            PacketFormat::TransportWide => FeedbackWriter::transport_wide(RECEIVER, VIDEO),
            PacketFormat::Rfc8888 => FeedbackWriter::rfc_8888(RECEIVER, VIDEO),
        };
        let arrivals = PacketFeedback::new(TimeDelta::from_millis(50));
        Self { format, numbers: Unwrapper::new(), arrivals, writer }
    }

    /// Takes a packet. Your socket has its ECN field: `Arrival::ecn`.
    fn on_packet(&mut self, at: ArrivalTime, bytes: &[u8]) -> Result<(), ParseError> {
        let packet = RtpPacket::parse(bytes)?;
        let number = match (self.format, packet.extension(TRANSPORT_SEQUENCE)) {
            (PacketFormat::TransportWide, Some(&[high, low])) => u16::from_be_bytes([high, low]),
            (PacketFormat::TransportWide, _) => return Ok(()), // of no number: feedback cannot report it
            (PacketFormat::Rfc8888, _) => packet.sequence,
        };
        let size = DataSize::from_bytes(packet.payload.len() as u64);
        // The departure time is of no interest here: the sender knows it.
        self.arrivals.on_arrival(&Arrival::new(self.numbers.unwrap(number), SendTime::ZERO, at, size));
        Ok(())
    }

    /// RTCP that is due.
    fn poll_rtcp(&mut self, now: ArrivalTime, out: &mut Vec<Vec<u8>>) {
        let mut room = [0; 1200];
        while let Some(report) = self.arrivals.poll_report(now) {
            let mut length = self.writer.write(&report, &mut room);
            while let Some(written) = length {
                out.push(room[..written].to_vec());
                length = self.writer.write_rest(&mut room);
            }
        }
    }
}

/// Runs a call of 40 s; reports the capacity and the target each second to `observe`.
pub(crate) fn call(
    format: PacketFormat,
    mut observe: impl FnMut(i64, DataRate, Target),
) -> Result<(), Box<dyn Error>> {
    let limits = RateLimits::new(DataRate::from_kbps(50), DataRate::from_mbps(1), DataRate::from_mbps(10))?;
    // No receiver reports come here, only feedback.
    let config = Config { report_patience: TimeDelta::ZERO, ..Config::default() };
    let mut sender = Sender {
        controller: GoogCc::new(config, limits)?,
        history: SendHistory::new(TimeDelta::from_secs(5)),
        numbers: StreamNumbers::new(),
        reader: FeedbackReader::new(),
        sequence: FIRST_SEQUENCE,
    };
    sender.controller.on_streams(SendTime::ZERO, StreamsConfig::camera(limits.max()));
    let mut far_end = FarEnd::new(format);
    let (mut link, mut link_free) = (VecDeque::<(SendTime, Vec<u8>)>::new(), SendTime::ZERO);
    let (mut back, mut credit) = (Vec::new(), DataSize::ZERO);

    for ms in 1..=40_000 {
        let now = SendTime::from_millis(ms);
        let capacity = DataRate::from_mbps(if ms <= 20_000 { 3 } else { 1 });
        // Your encoder and pacer; here packets of 1200 bytes at the target, without probes.
        credit += sender.controller.target().media_rate * TimeDelta::from_millis(1);
        while credit >= DataSize::from_bytes(1200) {
            credit = credit.saturating_sub(DataSize::from_bytes(1200));
            let bytes = sender.send(now, 1200)?;
            let begin = link_free.max(now);
            if begin - now <= TimeDelta::from_millis(300) {
                link_free = begin + DataSize::from_bytes(bytes.len() as u64) / capacity;
                link.push_back((link_free + TimeDelta::from_millis(25), bytes));
            }
        }
        // The receiver's clock is hours off; only differences of its times matter.
        let there = ArrivalTime::from_millis(ms + 7_200_000);
        while let Some((_, bytes)) = link.front().filter(|(at, _)| *at <= now) {
            far_end.on_packet(there, bytes)?;
            link.pop_front();
        }
        far_end.poll_rtcp(there, &mut back);
        for bytes in back.drain(..) {
            sender.on_rtcp(now, &bytes)?;
        }
        if sender.controller.next_timeout().is_some_and(|due| due <= now) {
            let state = sender.state();
            sender.controller.on_timeout(now, &state);
        }
        while sender.controller.poll_probe().is_some() {}
        if ms % 1000 == 0 {
            observe(ms / 1000, capacity, sender.controller.target());
        }
    }
    Ok(())
}
