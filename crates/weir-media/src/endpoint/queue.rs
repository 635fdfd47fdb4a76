//! The packets of an endpoint that wait in front of its pacer, and those that may be sent again.

use std::collections::VecDeque;

use weir_cc::{Feedback, PacketFate, Probe, SendTime, StreamsConfig, Target};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::rtcp::Nack;

use super::config::{EndpointConfig, StreamConfig, StreamKind};
use super::encoders::SharingEncoders;
use super::event::{EndpointEvent, StreamId};
use super::payload::Payload;
use super::sent::SentPackets;
use super::stats::StreamCounts;
use crate::climb::NextLayer;
use crate::content::PADDING_PAYLOAD;
use crate::frame_dropper::FrameDropper;
use crate::path::PacketSource;
use crate::retransmissions::Retransmissions;
use crate::timer::SenderTimer;

/// Most events that wait for the embedder. Later ones are counted and dropped.
const MOST_EVENTS: usize = 4096;

/// Bytes of the original sequence number behind the header of a retransmission (RFC 4588 §4).
const ORIGINAL_LEN: usize = 2;
/// Most probes that wait for the embedder's own pacer.
const MOST_PROBES: usize = 8;

/// Description of a packet that the embedder queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PacketMeta {
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker: the last packet of a frame.
    pub marker: bool,
    /// Time after which the packet is dropped if it has not left ([`SendTime::MAX`]: never). The next call of
    /// [`Endpoint::on_timeout`](crate::Endpoint::on_timeout) or
    /// [`Endpoint::poll_packet`](crate::Endpoint::poll_packet) drops it.
    pub expires: SendTime,
}

impl PacketMeta {
    /// A packet that does not expire.
    pub const fn new(timestamp: u32, marker: bool) -> Self {
        Self { timestamp, marker, expires: SendTime::MAX }
    }
}

/// A packet that waits.
#[derive(Debug)]
pub(super) struct QueuedPacket<P> {
    pub(super) stream: usize,
    pub(super) payload: P,
    pub(super) meta: PacketMeta,
    pub(super) queued: SendTime,
}

/// A packet that was sent.
#[derive(Clone, Debug)]
pub(super) struct SentPayload<P> {
    pub(super) payload: P,
    pub(super) timestamp: u32,
    pub(super) marker: bool,
}

/// A stream of the embedder.
#[derive(Debug)]
pub(super) struct QueueStream<P> {
    pub(super) config: StreamConfig,
    /// Place of the stream in the mechanism, and that of its retransmissions.
    pub(super) place: usize,
    pub(super) retransmission_place: Option<usize>,
    /// Recently sent packets, kept also where no retransmissions were negotiated: they are named when they are lost.
    pub(super) recent: Retransmissions<SentPayload<P>>,
    pub(super) counts: StreamCounts,
}

/// The packet that leaves next.
#[derive(Debug)]
pub(super) enum NextPacket<P> {
    Media(QueuedPacket<P>),
    /// A packet that is sent again, with its first sequence number.
    Retransmission {
        stream: usize,
        sequence: u16,
        packet: SentPayload<P>,
        padding: bool,
    },
    Padding {
        stream: usize,
    },
}

/// Packets of all streams of an endpoint.
#[derive(Debug)]
pub(super) struct PacketQueue<P> {
    pub(super) streams: Vec<QueueStream<P>>,
    pub(super) encoders: SharingEncoders,
    pub(super) sent: SentPackets,
    audio: VecDeque<QueuedPacket<P>>,
    media: VecDeque<QueuedPacket<P>>,
    /// Payload bytes in `media`.
    queued: DataSize,
    /// No waiting packet expires before this time.
    next_expiry: SendTime,
    /// No sent packet becomes too old to be sent again before this time.
    kept_until: SendTime,
    events: VecDeque<EndpointEvent<P>>,
    dropped_events: u64,
    /// Probes for the embedder's own pacer.
    probes: VecDeque<Probe>,
    skip_above: Option<TimeDelta>,
    frame_dropper: FrameDropper,
    pub(super) rtt: Option<TimeDelta>,
    /// Share of packets lost by the last receiver report.
    pub(super) fraction_lost: Option<f64>,
}

impl<P: Payload> PacketQueue<P> {
    pub(super) fn new(config: &EndpointConfig) -> Self {
        Self {
            streams: Vec::new(),
            encoders: SharingEncoders::default(),
            sent: SentPackets::default(),
            audio: VecDeque::new(),
            media: VecDeque::new(),
            queued: DataSize::ZERO,
            next_expiry: SendTime::MAX,
            kept_until: SendTime::MAX,
            events: VecDeque::new(),
            dropped_events: 0,
            probes: VecDeque::new(),
            skip_above: config.skip_above,
            frame_dropper: FrameDropper::default(),
            rtt: None,
            fraction_lost: None,
        }
    }

    /// Number of waiting packets.
    pub(super) fn len(&self) -> usize {
        self.audio.len() + self.media.len()
    }

    /// Whether no paced packet waits.
    pub(super) fn is_empty(&self) -> bool {
        self.media.is_empty()
    }

    /// Queues a packet behind those of its priority.
    pub(super) fn push(&mut self, packet: QueuedPacket<P>, target: &Target) {
        let (stream, marker) = (packet.stream, packet.meta.marker);
        self.next_expiry = self.next_expiry.min(packet.meta.expires);
        if self.streams[stream].config.kind == StreamKind::Audio {
            self.audio.push_back(packet);
            return;
        }
        self.queued += DataSize::from_bytes(packet.payload.size() as u64);
        self.media.push_back(packet);
        if marker && self.streams[stream].config.kind == StreamKind::Video {
            let is_behind = self.skip_above.is_some_and(|limit| self.queued / target.media_rate > limit);
            if self.frame_dropper.drops(target, DataRate::ZERO) || is_behind {
                self.emit(EndpointEvent::LeaveOutFrame(StreamId(stream)));
            }
        }
    }

    /// The media packet `sequence` of `stream` left at `now`.
    pub(super) fn on_media(
        &mut self,
        now: SendTime,
        stream: usize,
        (sequence, payload): (u16, u16),
        packet: SentPayload<P>,
    ) {
        let recent = &mut self.streams[stream].recent;
        recent.on_sent(now, sequence, payload, packet);
        self.kept_until = self.kept_until.min(recent.kept_until());
    }

    /// The audio packet that leaves next.
    pub(super) fn next_audio(&self) -> Option<&QueuedPacket<P>> {
        self.audio.front()
    }

    pub(super) fn pop_audio(&mut self) -> Option<QueuedPacket<P>> {
        self.audio.pop_front()
    }

    /// The paced packet that leaves now: a retransmission, media, or padding.
    pub(super) fn pop(&mut self, now: SendTime) -> Option<NextPacket<P>> {
        for (stream, packets) in self.streams.iter_mut().enumerate() {
            if let Some((sequence, packet)) = packets.recent.pop(now) {
                return Some(NextPacket::Retransmission { stream, sequence, packet, padding: false });
            }
        }
        if let Some(packet) = self.media.pop_front() {
            self.queued = self.queued.saturating_sub(DataSize::from_bytes(packet.payload.size() as u64));
            return Some(NextPacket::Media(packet));
        }
        if let Some((stream, (sequence, packet))) = self.padding_content() {
            let packet = packet.clone();
            return Some(NextPacket::Retransmission { stream, sequence, packet, padding: true });
        }
        self.first_paced().map(|stream| NextPacket::Padding { stream })
    }

    /// The stream in which padding alone travels.
    fn first_paced(&self) -> Option<usize> {
        self.streams.iter().position(|packets| packets.config.kind != StreamKind::Audio)
    }

    /// Payload of the packet that leaves next, with the original sequence number of a retransmission.
    pub(super) fn next_body(&self) -> usize {
        if let Some(packet) = self.audio.front() {
            return packet.payload.size();
        }
        if let Some(payload) = self.streams.iter().find_map(|packets| packets.recent.peek()) {
            return ORIGINAL_LEN + usize::from(payload);
        }
        if let Some(packet) = self.media.front() {
            return packet.payload.size();
        }
        let repeated = self.padding_content().map(|(_, (_, packet))| ORIGINAL_LEN + packet.payload.size());
        repeated.unwrap_or(usize::from(PADDING_PAYLOAD))
    }

    /// A recent packet of the first stream with retransmissions, whose bytes padding repeats.
    fn padding_content(&self) -> Option<(usize, (u16, &SentPayload<P>))> {
        let mut streams = self.streams.iter().enumerate();
        streams.find_map(|(stream, packets)| {
            packets.retransmission_place?;
            Some((stream, packets.recent.longest_recent()?))
        })
    }

    /// Drops waiting packets whose time has passed. Returns whether there were any.
    pub(super) fn expire_waiting(&mut self, now: SendTime) -> bool {
        if self.next_expiry >= now {
            return false;
        }
        self.next_expiry = SendTime::MAX;
        let waiting = self.len();
        for _ in 0..self.audio.len() {
            let packet = self.audio.pop_front().and_then(|packet| self.unless_expired(now, packet));
            self.audio.extend(packet);
        }
        for _ in 0..self.media.len() {
            let Some(packet) = self.media.pop_front() else { break };
            let size = DataSize::from_bytes(packet.payload.size() as u64);
            match self.unless_expired(now, packet) {
                Some(packet) => self.media.push_back(packet),
                None => self.queued = self.queued.saturating_sub(size),
            }
        }
        self.len() < waiting
    }

    /// The packet, or an event if its time has passed.
    fn unless_expired(&mut self, now: SendTime, packet: QueuedPacket<P>) -> Option<QueuedPacket<P>> {
        if packet.meta.expires < now {
            self.on_expired(packet);
            return None;
        }
        self.next_expiry = self.next_expiry.min(packet.meta.expires);
        Some(packet)
    }

    fn on_expired(&mut self, packet: QueuedPacket<P>) {
        let QueuedPacket { stream, payload, .. } = packet;
        self.streams[stream].counts.expired += 1;
        self.emit(EndpointEvent::Expired { stream: StreamId(stream), payload });
    }

    /// Queues an event for the embedder.
    pub(super) fn emit(&mut self, event: EndpointEvent<P>) {
        push(&mut self.events, &mut self.dropped_events, event);
    }

    pub(super) fn poll_event(&mut self) -> Option<EndpointEvent<P>> {
        self.events.pop_front()
    }

    pub(super) fn poll_probe(&mut self) -> Option<Probe> {
        self.probes.pop_front()
    }

    /// Events that were dropped, as the embedder did not poll them.
    pub(super) fn dropped_events(&self) -> u64 {
        self.dropped_events
    }

    /// The embedder's stream at `place` of the mechanism.
    fn stream_at(&self, place: usize) -> Option<usize> {
        self.streams.iter().position(|packets| packets.place == place)
    }

    fn highest_rate(&self) -> DataRate {
        if !self.encoders.is_empty() {
            return self.encoders.highest_rate();
        }
        let mut sum = DataRate::ZERO;
        for packets in &self.streams {
            if packets.config.highest_rate.is_zero() {
                return DataRate::ZERO;
            }
            sum += packets.config.highest_rate;
        }
        sum
    }
}

/// Queues an event behind the others, or counts it as dropped.
fn push<P>(events: &mut VecDeque<EndpointEvent<P>>, dropped: &mut u64, event: EndpointEvent<P>) {
    event.trace();
    if events.len() < MOST_EVENTS {
        events.push_back(event);
    } else {
        *dropped += 1;
    }
}

impl<P: Payload> PacketSource for PacketQueue<P> {
    fn start(&mut self, _now: SendTime) {}

    fn pause(&mut self) {}

    fn resume(&mut self, _now: SendTime, _started: SendTime) {}

    fn clear(&mut self) {
        while let Some(packet) = self.audio.pop_front().or_else(|| self.media.pop_front()) {
            self.on_expired(packet);
        }
        self.queued = DataSize::ZERO;
        self.next_expiry = SendTime::MAX;
        self.streams.iter_mut().for_each(|packets| packets.recent.clear());
    }

    fn expire(&mut self, now: SendTime) -> bool {
        if self.kept_until < now {
            let kept_until = |packets: &mut QueueStream<P>| {
                packets.recent.expire(now);
                packets.recent.kept_until()
            };
            self.kept_until = self.streams.iter_mut().map(kept_until).min().unwrap_or(SendTime::MAX);
        }
        self.expire_waiting(now)
    }

    fn timers(&self) -> [(SendTime, SenderTimer); 2] {
        let audio = self.audio.front().map_or(SendTime::MAX, |packet| packet.queued);
        // A packet may still leave at the time itself. An endpoint does not say which timer is next.
        let expiry = self.next_expiry + TimeDelta::from_nanos(1);
        [(audio, SenderTimer::Audio), (expiry, SenderTimer::Pacer)]
    }

    fn next_payload(&self) -> Option<u16> {
        let again = self.streams.iter().find_map(|packets| packets.recent.peek());
        again.or_else(|| self.media.front().map(|packet| packet.payload.size() as u16))
    }

    fn padding_payload(&self) -> Option<u16> {
        let repeated = self.padding_content().map(|(_, (_, packet))| packet.payload.size() as u16);
        repeated.or_else(|| self.first_paced().map(|_| PADDING_PAYLOAD))
    }

    fn queued(&self) -> DataSize {
        self.queued
    }

    fn is_application_limited(&self, target: &Target) -> bool {
        let highest = self.highest_rate();
        !highest.is_zero() && highest < target.media_rate
    }

    fn next_layer(&self, _target: &Target) -> Option<NextLayer> {
        self.encoders.next_layer()
    }

    fn streams(&self) -> StreamsConfig {
        StreamsConfig::camera(self.highest_rate())
    }

    fn on_target(&mut self, _now: SendTime, target: &Target, held: Option<DataRate>) {
        let Self { encoders, events, dropped_events, .. } = self;
        let rate = held.map_or(target.media_rate, |held| held.min(target.media_rate));
        encoders.share(rate, |allocation| {
            push(events, dropped_events, EndpointEvent::Allocation(allocation));
        });
    }

    fn on_probe(&mut self, probe: Probe) {
        if self.probes.len() < MOST_PROBES {
            self.probes.push_back(probe);
        }
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Feedback::Reception { report, .. } = feedback {
            self.fraction_lost = Some(f64::from(report.fraction_lost) / 256.0);
        }
        let Feedback::Packets { results, .. } = feedback else { return };
        for result in *results {
            if result.fate != PacketFate::Missing {
                continue;
            }
            let Some((stream, sequence)) = self.sent.find(result.sent.id) else { continue };
            let packets = &mut self.streams[usize::from(stream)];
            packets.counts.lost += 1;
            let payload = packets.recent.content(sequence).map(|packet| packet.payload.clone());
            self.emit(EndpointEvent::Lost { stream: StreamId(usize::from(stream)), sequence, payload });
        }
    }

    fn on_round_trip(&mut self, rtt: TimeDelta) {
        self.rtt = Some(rtt);
        self.streams.iter_mut().for_each(|packets| packets.recent.on_round_trip(rtt));
        self.emit(EndpointEvent::RoundTrip(rtt));
    }

    fn on_key_frame_request(&mut self, stream: usize) {
        if let Some(stream) = self.stream_at(stream) {
            self.streams[stream].counts.key_frame_requests += 1;
            self.emit(EndpointEvent::KeyFrameRequest(StreamId(stream)));
        }
    }

    fn on_packet_request(&mut self, now: SendTime, stream: usize, request: &Nack<'_>, target: &Target) {
        let Some(stream) = self.stream_at(stream) else { return };
        let repeating = self.streams.iter().filter(|packets| packets.retransmission_place.is_some()).count();
        let packets = &mut self.streams[stream];
        packets.counts.packet_requests += 1;
        if packets.retransmission_place.is_some() {
            // All streams together repeat at most the target.
            let rate = target.sending_rate.scale(1.0 / repeating as f64);
            for sequence in request.sequences() {
                packets.recent.on_request(now, sequence, rate);
            }
        }
    }
}
