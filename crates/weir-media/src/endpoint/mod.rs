//! An endpoint with the packets of an application: one peer, one controller, any number of RTP streams.

mod config;
mod encoders;
mod error;
mod event;
mod group;
mod payload;
mod queue;
mod reported;
mod sent;
mod stats;

use weir_cc::{AllocatedRate, Controller, Decision, PathEvent, Record, SendTime, Target};
use weir_units::DataRate;
use weir_wire::media::header_len;

use crate::content::PADDING_PAYLOAD;
use crate::content::write_padding;
use crate::path::{DepartedPacket, OutgoingPacket, PathSender};
use crate::rtcp_outcome::RtcpOutcome;
use crate::sources::StreamIdentity;
use error::LONGEST_PAYLOAD;
use queue::{NextPacket, PacketQueue, QueueStream, QueuedPacket, SentPayload};
use stats::StreamCounts;

pub use config::{EndpointConfig, PacketNumbering, RetransmissionStream, StreamConfig, StreamKind};
pub use encoders::EncoderDescription;
pub use error::EndpointError;
pub use event::{Departure, EncoderId, EndpointEvent, LayerAllocation, PacketBatch, PacketKind, StreamId};
pub use group::{EndpointGroup, GroupError};
pub use payload::{Payload, PayloadHandle};
pub use queue::PacketMeta;
pub use reported::{JoinedResult, PacerRates, SentReport};
pub use stats::{EndpointStats, QualityLimitation, StreamStats};

/// Most packets of a batch: the limit of Linux.
const MOST_SEGMENTS: usize = 64;

/// The sending end of a call, for applications with encoders, packets and sockets of their own. The endpoint queues
/// packets, paces them, sends probes, padding and retransmissions, reads RTCP, and runs the controller. `P` is the
/// application's payload.
///
/// The endpoint does no IO and reads no clock: every call has the time, which must not run back. After each call of
/// [`Self::queue`], [`Self::on_rtcp`] and [`Self::on_timeout`], call [`Self::poll_packet`], [`Self::poll_rtcp`] and
/// [`Self::poll_event`] until they have nothing, and sleep until [`Self::next_timeout`].
#[derive(Debug)]
pub struct Endpoint<P> {
    path: PathSender<PacketQueue<P>>,
    config: EndpointConfig,
    latest: SendTime,
    /// Records of joined results, reused.
    records: Vec<Record>,
}

impl<P: Payload> Endpoint<P> {
    /// An endpoint under `controller`, which gets per-packet feedback. `seed` is that of the times of its reports and of
    /// the skipped numbers.
    pub fn new(controller: Box<dyn Controller>, config: EndpointConfig, seed: u64) -> Self {
        let queue = PacketQueue::new(&config);
        let path = PathSender::new(controller, config.mechanism(), &[], queue, seed);
        Self { path, config, latest: SendTime::from_nanos(i64::MIN), records: Vec::new() }
    }

    /// Adds a stream.
    ///
    /// # Errors
    /// [`EndpointError::SourceTaken`] if a stream has the source identifier, or that of its retransmissions.
    pub fn add_stream(&mut self, config: StreamConfig) -> Result<StreamId, EndpointError> {
        let retransmission = config.retransmission;
        let taken = |ssrc| self.path.find_stream(ssrc).is_some();
        let again = retransmission.filter(|stream| taken(stream.ssrc) || stream.ssrc == config.ssrc);
        if let Some(ssrc) = again.map(|stream| stream.ssrc).or(Some(config.ssrc).filter(|&ssrc| taken(ssrc)))
        {
            return Err(EndpointError::SourceTaken { ssrc });
        }
        let clock_hz = config.clock_hz;
        let identity = StreamIdentity { ssrc: config.ssrc, clock_hz, reported: true };
        let place = self.path.add_stream(identity, config.kind != StreamKind::Audio);
        let retransmission_place = retransmission.map(|stream| {
            self.path.add_stream(StreamIdentity { ssrc: stream.ssrc, clock_hz, reported: false }, false)
        });
        if config.kind == StreamKind::Data {
            self.path.pace_at_target();
        }
        let streams = &mut self.path.source.streams;
        let counts = StreamCounts::default();
        let recent = crate::retransmissions::Retransmissions::new();
        streams.push(QueueStream { config, place, retransmission_place, recent, counts });
        Ok(StreamId(streams.len() - 1))
    }

    /// Adds an encoder. Encoders share the target ([`EndpointEvent::Allocation`]); their highest rates then stand for those
    /// of the streams.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn add_encoder(
        &mut self,
        now: SendTime,
        encoder: EncoderDescription,
    ) -> Result<EncoderId, EndpointError> {
        self.begin(now)?;
        let id = self.path.source.encoders.add(encoder);
        self.path.on_streams_changed(now);
        Ok(id)
    }

    /// Replaces the description of an encoder, as after a change of its resolution or priority.
    ///
    /// # Errors
    /// If the time ran back, or there is no such encoder.
    pub fn replace_encoder(
        &mut self,
        now: SendTime,
        encoder: EncoderId,
        description: EncoderDescription,
    ) -> Result<(), EndpointError> {
        self.begin(now)?;
        if !self.path.source.encoders.replace(encoder, description) {
            return Err(EndpointError::UnknownEncoder);
        }
        self.path.on_streams_changed(now);
        Ok(())
    }

    /// Changes the highest rate that a stream can use, zero where it is unknown.
    ///
    /// # Errors
    /// If the time ran back, or there is no such stream.
    pub fn set_highest_rate(
        &mut self,
        now: SendTime,
        stream: StreamId,
        rate: DataRate,
    ) -> Result<(), EndpointError> {
        self.begin(now)?;
        self.stream_mut(stream)?.config.highest_rate = rate;
        self.path.report_streams(now);
        Ok(())
    }

    /// Queues a packet of a stream. Audio leaves at once; other packets leave when pacer, window and probes allow it.
    ///
    /// # Errors
    /// If the time ran back, there is no such stream, the queue is full, or the payload is too long.
    pub fn queue(
        &mut self,
        now: SendTime,
        stream: StreamId,
        payload: P,
        meta: PacketMeta,
    ) -> Result<(), EndpointError> {
        self.begin(now)?;
        self.stream_mut(stream)?;
        let bytes = payload.size();
        if bytes > LONGEST_PAYLOAD {
            return Err(EndpointError::PayloadTooLong { bytes });
        }
        if self.path.source.len() >= self.config.most_packets {
            return Err(EndpointError::QueueFull);
        }
        let (was_empty, target) = (self.path.source.is_empty(), *self.path.target());
        self.path.source.push(QueuedPacket { stream: stream.0, payload, meta, queued: now }, &target);
        self.path.on_queued(now, was_empty && !self.path.source.is_empty());
        Ok(())
    }

    /// The next packet that may leave now, written into `out`; call until `None`. A payload without
    /// [bytes](Payload::bytes) is the embedder's to write, behind the header.
    ///
    /// # Errors
    /// If the time ran back, `out` is shorter than the packet, or packets are numbered by the embedder. The packet stays
    /// in the queue.
    pub fn poll_packet(
        &mut self,
        now: SendTime,
        out: &mut [u8],
    ) -> Result<Option<Departure<P>>, EndpointError> {
        if self.config.numbering != PacketNumbering::Own {
            return Err(EndpointError::WrongNumbering);
        }
        self.poll(now, None, out)
    }

    /// The next packet that may leave now, with the transport-wide sequence number `number`: [`Self::poll_packet`] for
    /// [`PacketNumbering::Given`].
    ///
    /// # Errors
    /// As [`Self::poll_packet`], and if the number does not follow the number before it.
    pub fn poll_packet_as(
        &mut self,
        now: SendTime,
        number: u16,
        out: &mut [u8],
    ) -> Result<Option<Departure<P>>, EndpointError> {
        if self.config.numbering != PacketNumbering::Given {
            return Err(EndpointError::WrongNumbering);
        }
        if !self.path.may_be_next(number) {
            return Err(EndpointError::NumberWentBack { number });
        }
        self.poll(now, Some(number), out)
    }

    fn poll(
        &mut self,
        now: SendTime,
        number: Option<u16>,
        out: &mut [u8],
    ) -> Result<Option<Departure<P>>, EndpointError> {
        self.begin(now)?;
        self.path.expire(now);
        if !self.may_send(now) {
            return Ok(None);
        }
        let needed = self.next_length();
        if out.len() < needed {
            return Err(EndpointError::BufferTooSmall { needed, available: out.len() });
        }
        let next = match self.path.source.pop_audio() {
            Some(packet) => Some(NextPacket::Media(packet)),
            None => self.path.source.pop(now),
        };
        Ok(next.map(|next| self.send(now, number, next, out)))
    }

    /// Whether a packet may leave now.
    fn may_send(&self, now: SendTime) -> bool {
        self.path.is_sending() && (self.path.source.next_audio().is_some() || self.path.may_send(now))
    }

    /// The packets that may leave now, one behind the other in `out`, for segmentation offload (`UDP_SEGMENT`): all have
    /// the same length, but the last one may be shorter. Call until `None`. Payloads must have [bytes](Payload::bytes).
    ///
    /// # Errors
    /// As [`Self::poll_packet`].
    pub fn poll_batch(
        &mut self,
        now: SendTime,
        out: &mut [u8],
    ) -> Result<Option<PacketBatch>, EndpointError> {
        let Some(first) = self.poll_packet(now, out)? else { return Ok(None) };
        let mut batch = PacketBatch { segment: first.length, length: first.length, packets: 1 };
        while batch.length.is_multiple_of(batch.segment)
            && batch.packets < MOST_SEGMENTS
            && self.may_send(now)
            && self.next_length() <= batch.segment.min(out.len() - batch.length)
            && let Some(next) = self.poll_packet(now, &mut out[batch.length..])?
        {
            batch.length += next.length;
            batch.packets += 1;
        }
        Ok(Some(batch))
    }

    /// Length of the packet that leaves next.
    fn next_length(&self) -> usize {
        header_len(self.path.stamp(), false) + self.path.source.next_body()
    }

    /// Sends a packet and writes it into `out`.
    fn send(
        &mut self,
        now: SendTime,
        number: Option<u16>,
        next: NextPacket<P>,
        out: &mut [u8],
    ) -> Departure<P> {
        let packets = |stream: usize| &self.path.source.streams[stream];
        let (stream, kind, payload, packet) = match next {
            NextPacket::Media(QueuedPacket { stream, payload, meta, queued }) => {
                let config = &packets(stream).config;
                let outgoing = OutgoingPacket {
                    stream: packets(stream).place,
                    payload_type: config.payload_type,
                    timestamp: Some(meta.timestamp),
                    payload: payload.size() as u16,
                    marker: meta.marker,
                    marking: None,
                    original: None,
                    padding: false,
                    paced: config.kind != StreamKind::Audio,
                    number,
                };
                self.path.source.streams[stream].counts.send_delay += now - queued;
                (stream, PacketKind::Media, Some(payload), outgoing)
            }
            NextPacket::Retransmission { stream, sequence, packet, padding } => {
                let again = packets(stream).config.retransmission;
                let outgoing = OutgoingPacket {
                    stream: packets(stream).retransmission_place.unwrap_or(packets(stream).place),
                    payload_type: again
                        .map_or(packets(stream).config.payload_type, |again| again.payload_type),
                    timestamp: Some(packet.timestamp),
                    payload: packet.payload.size() as u16,
                    marker: packet.marker,
                    marking: None,
                    original: Some(sequence),
                    padding,
                    paced: true,
                    number,
                };
                (stream, PacketKind::Retransmission { padding }, Some(packet.payload), outgoing)
            }
            NextPacket::Padding { stream } => {
                let outgoing = OutgoingPacket {
                    stream: packets(stream).place,
                    payload_type: packets(stream).config.payload_type,
                    timestamp: None,
                    payload: PADDING_PAYLOAD,
                    marker: false,
                    marking: None,
                    original: None,
                    padding: true,
                    paced: true,
                    number,
                };
                (stream, PacketKind::Padding, None, outgoing)
            }
        };
        let DepartedPacket { header, probe, sent } = self.path.send(now, &packet);
        self.count(now, stream, kind, &packet, &header, sent.id);
        if let (PacketKind::Media, Some(payload)) = (kind, &payload) {
            let recent = &mut self.path.source.streams[stream].recent;
            let sent =
                SentPayload { payload: payload.clone(), timestamp: header.timestamp, marker: header.marker };
            recent.on_sent(now, header.sequence, packet.payload, sent);
        }
        let start = header.write(&self.config.extension_ids, out).unwrap_or_default();
        let length = start + usize::from(packet.payload);
        match &payload {
            Some(payload) => {
                let bytes = payload.bytes();
                out[start..start + bytes.len()].copy_from_slice(bytes);
            }
            None => write_padding(&mut out[..length], start),
        }
        Departure {
            stream: StreamId(stream),
            kind,
            length,
            header: start,
            payload,
            sequence: header.sequence,
            transport_sequence: header.transport_sequence,
            probe,
        }
    }

    /// Counts a packet that left.
    fn count(
        &mut self,
        now: SendTime,
        stream: usize,
        kind: PacketKind,
        packet: &OutgoingPacket,
        header: &weir_wire::media::MediaHeader,
        id: u64,
    ) {
        let media = (kind == PacketKind::Media).then_some(stream as u16);
        self.path.source.sent.on_sent(now, id, media, header.sequence);
        let counts = &mut self.path.source.streams[stream].counts;
        counts.headers += header.wire_len() as u64;
        let (packets, payload) = match kind {
            PacketKind::Media => (&mut counts.packets, &mut counts.payload),
            PacketKind::Retransmission { padding: false } => {
                (&mut counts.repeated_packets, &mut counts.repeated_payload)
            }
            _ => (&mut counts.padding_packets, &mut counts.padding_payload),
        };
        *packets += 1;
        *payload += u64::from(packet.payload);
    }

    /// Takes an RTCP compound packet from the peer. Malformed parts and parts about other streams are skipped.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn on_rtcp(&mut self, now: SendTime, bytes: &[u8]) -> Result<(), EndpointError> {
        self.begin(now)?;
        let outcome = self.path.on_rtcp(now, bytes);
        self.on_outcome(outcome);
        Ok(())
    }

    fn on_outcome(&mut self, outcome: RtcpOutcome) {
        self.on_decision(outcome.decision);
        while let Some(alarm) = self.path.take_alarm() {
            self.path.source.emit(EndpointEvent::Alarm(alarm));
        }
    }

    fn on_decision(&mut self, decision: Option<Decision>) {
        if let Some(decision) = decision {
            self.path.source.emit(EndpointEvent::Decision(decision));
        }
    }

    /// Serves the timers that are due. An early call is harmless.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn on_timeout(&mut self, now: SendTime) -> Result<(), EndpointError> {
        self.begin(now)?;
        let decision = self.path.on_timeout(now);
        self.on_outcome(RtcpOutcome { decision, ..RtcpOutcome::default() });
        Ok(())
    }

    /// Time of the next call of [`Self::on_timeout`] and [`Self::poll_packet`]. A past time means at once.
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.path.next_timer().map(|(due, _)| due)
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn poll_rtcp(&mut self, now: SendTime, out: &mut [u8]) -> Result<Option<usize>, EndpointError> {
        self.begin(now)?;
        Ok(self.path.poll_rtcp(now, out))
    }

    /// The next event; call until `None`.
    pub fn poll_event(&mut self) -> Option<EndpointEvent<P>> {
        if self.path.take_target_change() {
            return Some(EndpointEvent::Target(*self.path.target()));
        }
        self.path.source.poll_event()
    }

    /// The application stops sending on purpose: waiting packets are dropped, and no packet leaves until
    /// [`Self::resume`]. Feedback is still taken.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn pause(&mut self, now: SendTime) -> Result<(), EndpointError> {
        self.begin(now)?;
        let decision = self.path.pause(now);
        self.on_decision(decision);
        Ok(())
    }

    /// The application sends again, after a pause or after a circuit breaker stopped media.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn resume(&mut self, now: SendTime) -> Result<(), EndpointError> {
        self.begin(now)?;
        let decision = self.path.resume(now);
        self.on_decision(decision);
        Ok(())
    }

    /// Takes an event outside the controller: new limits, or another route.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn on_event(&mut self, now: SendTime, event: PathEvent) -> Result<(), EndpointError> {
        self.begin(now)?;
        let decision = self.path.on_event(now, event);
        self.on_decision(decision);
        Ok(())
    }

    /// Applies an allocation by a coupler. Returns the rate that the controller took.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn apply_allocation(
        &mut self,
        now: SendTime,
        share: AllocatedRate,
    ) -> Result<DataRate, EndpointError> {
        self.begin(now)?;
        Ok(self.path.apply_allocation(now, share))
    }

    /// Restricts the sources that report on the streams to those that the peer announced. While the list is empty, any
    /// source that knows the identifiers of the streams is believed.
    pub fn believe_only(&mut self, reporters: &[u32]) {
        self.path.believe_only(reporters);
    }

    /// The controller's present target.
    pub fn target(&self) -> &Target {
        self.path.target()
    }

    /// The controller, to observe its signals.
    pub fn controller(&self) -> &dyn Controller {
        self.path.controller()
    }

    /// Statistics so far.
    pub fn stats(&self) -> EndpointStats {
        let (target, state, source) = (self.path.target(), self.path.state(), &self.path.source);
        let streams = source.streams.iter();
        EndpointStats {
            available_outgoing_bitrate: target.sending_rate.bps_f64(),
            target_bitrate: target.media_rate.bps_f64(),
            current_round_trip_time: source.rtt.map_or(f64::NAN, weir_units::TimeDelta::secs_f64),
            fraction_lost: source.fraction_lost.unwrap_or(f64::NAN),
            quality_limitation_reason: QualityLimitation::of(target.limiting_factor),
            queued_bytes: state.queued.bytes(),
            bytes_in_flight: state.in_flight.bytes(),
            reports_refused: self.path.refused_reports().total(),
            events_dropped: source.dropped_events(),
            streams: streams.map(|packets| StreamStats::new(packets.config.ssrc, &packets.counts)).collect(),
        }
    }

    /// Source identifiers of the streams that reports cover.
    fn sources(&self) -> impl Iterator<Item = u32> {
        self.path.source.streams.iter().map(|packets| packets.config.ssrc)
    }

    /// Takes the time of a call. The first call starts the endpoint.
    fn begin(&mut self, now: SendTime) -> Result<(), EndpointError> {
        if now < self.latest {
            return Err(EndpointError::TimeWentBack { now, latest: self.latest });
        }
        self.latest = now;
        self.path.start(now);
        Ok(())
    }

    fn stream_mut(&mut self, stream: StreamId) -> Result<&mut QueueStream<P>, EndpointError> {
        self.path.source.streams.get_mut(stream.0).ok_or(EndpointError::UnknownStream)
    }
}
