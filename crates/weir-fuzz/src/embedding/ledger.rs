//! Books of an embedder: payloads that wait at an endpoint, and counts of all that left it.

use std::collections::BTreeMap;

use weir_media::allocation::LayerRates;
use weir_media::{
    Departure, EndpointEvent, EndpointStats, PacketKind, PayloadHandle, SentReport, StreamConfig, StreamId,
    StreamKind, StreamStats,
};

/// A payload that was queued.
#[derive(Clone, Copy, Debug)]
struct WaitingPayload {
    stream: usize,
    size: u16,
}

/// Every payload leaves or expires once, and statistics are the sums of what the embedder saw.
#[derive(Debug, Default)]
pub(super) struct PayloadLedger {
    /// Length of each payload, by its place.
    sizes: Vec<u16>,
    waiting: BTreeMap<u64, WaitingPayload>,
    streams: Vec<(StreamKind, StreamStats)>,
}

impl PayloadLedger {
    /// A stream was added.
    pub(super) fn add(&mut self, config: &StreamConfig) {
        let stats = StreamStats {
            ssrc: config.ssrc,
            packets_sent: 0,
            bytes_sent: 0,
            header_bytes_sent: 0,
            retransmitted_packets_sent: 0,
            retransmitted_bytes_sent: 0,
            total_packet_send_delay: 0.0,
            nack_count: 0,
            pli_count: 0,
            padding_packets_sent: 0,
            padding_bytes_sent: 0,
            packets_expired: 0,
            packets_reported_lost: 0,
        };
        self.streams.push((config.kind, stats));
    }

    /// The payload that is queued next.
    pub(super) fn next(&self, size: u16) -> PayloadHandle {
        PayloadHandle { place: self.sizes.len() as u64, size }
    }

    /// The payload was queued.
    pub(super) fn on_queued(&mut self, stream: StreamId, payload: PayloadHandle) {
        self.waiting.insert(payload.place, WaitingPayload { stream: stream.index(), size: payload.size });
        self.sizes.push(payload.size);
    }

    /// The payload no longer waits.
    fn take(&mut self, stream: StreamId, payload: PayloadHandle) {
        let waiting = self.waiting.remove(&payload.place);
        let waiting = waiting.unwrap_or_else(|| panic!("{payload:?} does not wait"));
        assert_eq!((waiting.stream, waiting.size), (stream.index(), payload.size));
    }

    /// The payload has left before.
    fn check_sent(&self, payload: PayloadHandle) {
        assert!(!self.waiting.contains_key(&payload.place), "{payload:?} has not left yet");
        assert_eq!(self.sizes.get(payload.place as usize), Some(&payload.size));
    }

    /// A packet left the endpoint.
    pub(super) fn on_departure(&mut self, departure: &Departure<PayloadHandle>) {
        match (departure.kind, departure.payload) {
            (PacketKind::Media, Some(payload)) => self.take(departure.stream, payload),
            (PacketKind::Retransmission { .. }, Some(payload)) => self.check_sent(payload),
            (PacketKind::Padding, None) => {}
            (kind, payload) => panic!("{kind:?} with {payload:?}"),
        }
        let (header, length) = (departure.header as u64, departure.length as u64);
        self.count(departure.stream, departure.kind, header, length - header);
    }

    /// A packet was reported that left without the endpoint.
    pub(super) fn on_reported(&mut self, packet: &SentReport) {
        self.count(packet.stream, packet.kind, packet.header.into(), packet.payload.into());
    }

    fn count(&mut self, stream: StreamId, kind: PacketKind, header: u64, payload: u64) {
        let stats = &mut self.streams[stream.index()].1;
        stats.packets_sent += 1;
        stats.header_bytes_sent += header;
        match kind {
            PacketKind::Media => stats.bytes_sent += payload,
            PacketKind::Retransmission { padding: false } => {
                stats.bytes_sent += payload;
                stats.retransmitted_packets_sent += 1;
                stats.retransmitted_bytes_sent += payload;
            }
            PacketKind::Retransmission { padding: true } | PacketKind::Padding => {
                stats.header_bytes_sent += payload;
                stats.padding_packets_sent += 1;
                stats.padding_bytes_sent += payload;
            }
        }
    }

    /// The endpoint had an event.
    pub(super) fn on_event(&mut self, event: &EndpointEvent<PayloadHandle>) {
        match event {
            EndpointEvent::Expired { stream, payload } => {
                self.take(*stream, *payload);
                self.streams[stream.index()].1.packets_expired += 1;
            }
            EndpointEvent::Lost { stream, payload, .. } => {
                if let Some(payload) = payload {
                    self.check_sent(*payload);
                }
                self.streams[stream.index()].1.packets_reported_lost += 1;
            }
            EndpointEvent::KeyFrameRequest(stream) => self.streams[stream.index()].1.pli_count += 1,
            EndpointEvent::Allocation(allocation) => {
                // The lowest layer has its least rate in any case.
                let exceeds =
                    |layers: &LayerRates| layers.layers_on() > 1 && layers.total() > allocation.rate;
                assert!(!allocation.layers.as_ref().is_some_and(exceeds), "{allocation:?}");
            }
            _ => {}
        }
    }

    /// The endpoint's statistics are these sums.
    pub(super) fn check(&self, stats: &EndpointStats) {
        assert_eq!(stats.events_dropped, 0, "events are polled");
        let paced =
            self.waiting.values().filter(|waiting| self.streams[waiting.stream].0 != StreamKind::Audio);
        let queued: u64 = paced.map(|waiting| u64::from(waiting.size)).sum();
        assert_eq!(stats.queued_bytes, queued, "bytes that wait");
        assert_eq!(stats.streams.len(), self.streams.len());
        for (stats, (_, expected)) in stats.streams.iter().zip(&self.streams) {
            // Times of departures and numbers of requests are not kept here.
            let (total_packet_send_delay, nack_count) = (stats.total_packet_send_delay, stats.nack_count);
            assert!(total_packet_send_delay >= 0.0, "{stats:?}");
            assert_eq!(*stats, StreamStats { total_packet_send_delay, nack_count, ..*expected });
        }
    }

    /// The endpoint pauses and holds no payload any more.
    pub(super) fn check_empty(&self) {
        assert!(self.waiting.is_empty(), "payloads are gone without an event: {:?}", self.waiting);
    }
}
