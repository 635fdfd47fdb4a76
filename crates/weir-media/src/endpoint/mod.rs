//! An endpoint with the packets of an application: one peer, one controller, any number of RTP streams.

mod config;
mod encoders;
mod error;
mod event;
mod group;
mod payload;
mod queue;
mod reported;
mod sending;
mod sent;
mod stats;

use weir_cc::{AllocatedRate, Controller, Decision, PathEvent, Record, SendTime, Target};
use weir_units::{DataRate, DataSize};
use weir_wire::media::LONGEST_LEN;

use crate::path::PathSender;
use crate::rtcp_outcome::RtcpOutcome;
use crate::sources::StreamIdentity;
use queue::{PacketQueue, QueueStream, QueuedPacket};
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

/// Longest header of a packet in bytes, with the original sequence number of a retransmission.
const MOST_HEADER: usize = LONGEST_LEN;
/// A time before all others.
const EARLIEST: SendTime = SendTime::from_nanos(i64::MIN);

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
    /// Departure of the last packet that was reported.
    recorded: SendTime,
    /// Whether streams were added that the controller does not know yet.
    streams_changed: bool,
    /// Records of joined results, reused.
    records: Vec<Record>,
}

impl<P: Payload> Endpoint<P> {
    /// An endpoint under `controller`, which gets per-packet feedback. `seed` is that of the times of its reports and of
    /// the skipped numbers.
    pub fn new(controller: Box<dyn Controller>, config: EndpointConfig, seed: u64) -> Self {
        let queue = PacketQueue::new(&config);
        let path = PathSender::new(controller, config.mechanism(), &[], queue, seed);
        Self {
            path,
            config,
            latest: EARLIEST,
            recorded: EARLIEST,
            streams_changed: false,
            records: Vec::new(),
        }
    }

    /// Adds a stream.
    ///
    /// # Errors
    /// [`EndpointError::SourceTaken`] if a stream has the source identifier, or that of its retransmissions;
    /// [`EndpointError::InvalidStream`] for a payload type above 127, and for a clock without ticks.
    pub fn add_stream(&mut self, config: StreamConfig) -> Result<StreamId, EndpointError> {
        let retransmission = config.retransmission;
        let payload_types = [Some(config.payload_type), retransmission.map(|stream| stream.payload_type)];
        if config.clock_hz == 0 || payload_types.into_iter().flatten().any(|payload_type| payload_type > 127)
        {
            return Err(EndpointError::InvalidStream { ssrc: config.ssrc });
        }
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
        self.streams_changed = true;
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
    /// If the time ran back, there is no such stream, the endpoint is paused, the queue is full, or the payload is too
    /// long.
    pub fn queue(
        &mut self,
        now: SendTime,
        stream: StreamId,
        payload: P,
        meta: PacketMeta,
    ) -> Result<(), EndpointError> {
        self.begin(now)?;
        self.stream_mut(stream)?;
        if !self.path.is_sending() {
            return Err(EndpointError::Paused);
        }
        if self.config.foreign_pacer {
            return Err(EndpointError::ForeignPacer);
        }
        let bytes = payload.size();
        let most = usize::from(self.config.most_bytes).saturating_sub(MOST_HEADER);
        if bytes > most {
            return Err(EndpointError::PayloadTooLong { bytes, most });
        }
        if self.path.source.len() >= self.config.most_packets {
            return Err(EndpointError::QueueFull);
        }
        let (was_empty, target) = (self.path.source.is_empty(), *self.path.target());
        self.path.source.push(QueuedPacket { stream: stream.0, payload, meta, queued: now }, &target);
        self.path.on_queued(now, was_empty && !self.path.source.is_empty());
        if meta.marker {
            self.path.on_media_queued(now);
        }
        Ok(())
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
        if self.path.source.expire_waiting(now) {
            self.path.on_dropped();
        }
        let decision = self.path.on_timeout(now);
        self.on_outcome(RtcpOutcome { decision, ..RtcpOutcome::default() });
        Ok(())
    }

    /// Time of the next call of [`Self::on_timeout`] and [`Self::poll_packet`]. A past time means at once.
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.path.next_timer().map(|(due, _)| due)
    }

    /// Writes the RTCP packet that is due into `out` and returns its length, at most
    /// [`EndpointConfig::most_bytes`]; call until `None`. The reports on many streams are several packets.
    ///
    /// # Errors
    /// If the time ran back.
    pub fn poll_rtcp(&mut self, now: SendTime, out: &mut [u8]) -> Result<Option<usize>, EndpointError> {
        self.begin(now)?;
        let most = out.len().min(usize::from(self.config.most_bytes));
        Ok(self.path.poll_rtcp(now, &mut out[..most]))
    }

    /// The next event; call until `None`.
    pub fn poll_event(&mut self) -> Option<EndpointEvent<P>> {
        if self.path.take_target_change() {
            let event = EndpointEvent::Target(*self.path.target());
            event.trace();
            return Some(event);
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

    /// Payload bytes that wait in front of the pacer.
    pub fn queued(&self) -> DataSize {
        self.path.state().queued
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
        if now == SendTime::MAX {
            return Err(EndpointError::NoTime);
        }
        self.latest = now;
        let started = self.path.start(now);
        if std::mem::take(&mut self.streams_changed) && !started {
            self.path.report_streams(now);
        }
        Ok(())
    }

    fn stream_mut(&mut self, stream: StreamId) -> Result<&mut QueueStream<P>, EndpointError> {
        self.path.source.streams.get_mut(stream.0).ok_or(EndpointError::UnknownStream)
    }
}
