//! Packets with extension IDs of their own, and a sender that reads the feedback.

use std::collections::BTreeMap;

use weir_cc::history::SendHistory;
use weir_cc::{ArrivalTime, DataSize, Ecn, Reception, Report, SendTime};
use weir_units::TimeDelta;
use weir_wire::rtp::write_padding;
use weir_wire::{AbsSendTime, Extension, RtpHeader, rtcp};

use super::super::{IncomingStream, ReceivedExtensions, ReceivingConfig, ReceivingEndpoint};
use crate::RetransmissionStream;
use crate::feedback::{FeedbackReader, StreamNumbers};

/// Source identifiers.
pub(super) const RECEIVER: u32 = 2;
pub(super) const VIDEO: u32 = 0xCAFE;
pub(super) const VIDEO_RTX: u32 = 0xCAFF;
pub(super) const AUDIO: u32 = 0xA0D10;

pub(super) const RTX_TYPE: u8 = 99;

pub(super) const IDS: ReceivedExtensions = ReceivedExtensions {
    transport_sequence: Some(12),
    abs_send_time: Some(1),
    stamp: None,
    frame_marking: Some(200),
};

pub(super) fn at(ms: i64) -> ArrivalTime {
    ArrivalTime::from_millis(ms)
}

pub(super) fn config() -> ReceivingConfig {
    ReceivingConfig { extensions: IDS, ..ReceivingConfig::new(RECEIVER) }
}

/// A stream of video with retransmissions and requests.
pub(super) fn video() -> IncomingStream {
    let retransmission = Some(RetransmissionStream { ssrc: VIDEO_RTX, payload_type: RTX_TYPE });
    IncomingStream { retransmission, nack: true, ..IncomingStream::new(VIDEO, 90_000) }
}

pub(super) fn audio() -> IncomingStream {
    IncomingStream::new(AUDIO, 48_000)
}

/// An endpoint with both streams.
pub(super) fn endpoint(config: ReceivingConfig) -> ReceivingEndpoint {
    with_streams(ReceivingEndpoint::new(config).unwrap())
}

/// `endpoint` with both streams.
pub(super) fn with_streams(mut endpoint: ReceivingEndpoint) -> ReceivingEndpoint {
    endpoint.add_stream(video()).unwrap();
    endpoint.add_stream(audio()).unwrap();
    endpoint
}

/// An RTP packet to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct MadePacket<'a> {
    pub(super) ssrc: u32,
    pub(super) sequence: u16,
    pub(super) timestamp: u32,
    pub(super) payload_type: u8,
    /// Number of the transport.
    pub(super) number: Option<u16>,
    /// Departure in ms.
    pub(super) sent: Option<i64>,
    pub(super) payload: &'a [u8],
    pub(super) padding: usize,
}

impl MadePacket<'_> {
    /// A packet of 100 bytes of payload.
    pub(super) fn new(ssrc: u32, sequence: u16) -> Self {
        Self {
            ssrc,
            sequence,
            timestamp: u32::from(sequence) * 3000,
            payload_type: 96,
            number: None,
            sent: None,
            payload: &[7; 100],
            padding: 0,
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let number = self.number.unwrap_or(0).to_be_bytes();
        let sent = AbsSendTime::from_nanos(self.sent.unwrap_or(0) * 1_000_000).ticks().to_be_bytes();
        let mut extensions = Vec::new();
        if self.number.is_some() {
            extensions.push(Extension { id: 12, data: &number });
        }
        if self.sent.is_some() {
            extensions.push(Extension { id: 1, data: &sent[1..] });
        }
        let header = RtpHeader {
            padding: self.padding > 0,
            marker: true,
            payload_type: self.payload_type,
            sequence: self.sequence,
            timestamp: self.timestamp,
            ssrc: self.ssrc,
            csrcs: &[],
            extensions: &extensions,
        };
        let mut bytes = vec![0; header.wire_len() + self.payload.len() + self.padding];
        let length = header.write(&mut bytes).unwrap();
        bytes[length..length + self.payload.len()].copy_from_slice(self.payload);
        write_padding(&mut bytes[length + self.payload.len()..]).unwrap();
        bytes
    }

    /// The packet comes at `ms`, and is one for the application.
    pub(super) fn comes(&self, endpoint: &mut ReceivingEndpoint, ms: i64) -> super::super::ReceivedPacket {
        endpoint.on_packet(at(ms), &self.bytes(), Ecn::Ect1).unwrap().expect("of a stream")
    }
}

/// All RTCP that is due at `ms`.
pub(super) fn rtcp_at(endpoint: &mut ReceivingEndpoint, ms: i64) -> Vec<Vec<u8>> {
    let mut out = [0; 1200];
    let mut packets = Vec::new();
    while let Some(length) = endpoint.poll_report(at(ms), &mut out) {
        packets.push(out[..length].to_vec());
    }
    packets
}

/// A sender of packets of two streams, which reads the feedback.
#[derive(Debug)]
pub(super) struct FarEnd {
    history: SendHistory,
    numbers: StreamNumbers,
    reader: FeedbackReader,
    /// Arrival in ms of each packet, by its number in the history modulo 65 536; `None`: reported as missing.
    pub(super) reported: BTreeMap<u16, Option<i64>>,
    /// ECN field of those that arrived.
    pub(super) marks: BTreeMap<u16, Ecn>,
}

impl FarEnd {
    pub(super) fn new() -> Self {
        Self {
            history: SendHistory::new(TimeDelta::from_secs(60)),
            numbers: StreamNumbers::new(),
            reader: FeedbackReader::new(),
            reported: BTreeMap::new(),
            marks: BTreeMap::new(),
        }
    }

    /// Sends the packet `sequence` of a stream; returns its number of the transport.
    pub(super) fn send(&mut self, ssrc: u32, sequence: u16) -> u16 {
        let size = DataSize::from_bytes(100);
        let sent = self.history.on_media_sent(SendTime::ZERO, size, size);
        self.numbers.on_sent(ssrc, sequence, sent.id);
        sent.id as u16
    }

    /// Reads RTCP.
    pub(super) fn on_rtcp(&mut self, packets: &[Vec<u8>]) {
        for message in packets.iter().flat_map(|bytes| rtcp::messages(bytes)) {
            let read =
                self.reader.read(SendTime::from_millis(50), &message.unwrap(), &self.numbers, &self.history);
            let Some(Report::Packets { records, .. }) = read else { continue };
            for record in records {
                let arrived = match record.reception {
                    Reception::Missing => None,
                    // Times of RFC 8888 are late by up to 1/1024 s.
                    Reception::At(at) => Some(at.nanos() / 1_000_000),
                    Reception::Untimed => panic!("{record:?}"),
                };
                if arrived.is_some() {
                    self.marks.insert(record.sequence, record.ecn);
                }
                // Transport-wide feedback reports an arrival once, and as missing where reports overlap.
                let before = self.reported.insert(record.sequence, arrived).flatten();
                if arrived.is_none() && before.is_some() {
                    self.reported.insert(record.sequence, before);
                }
            }
        }
    }
}
