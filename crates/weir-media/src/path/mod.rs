//! The mechanism of every sender: numbers packets, paces them, sends probes and padding, takes feedback and runs the
//! controller. Packets come from a [`PacketSource`]: simulated video ([`MediaSender`](crate::MediaSender)), or the
//! packets of an application ([`Endpoint`](crate::Endpoint)).

mod pacing;
mod packets;
mod rtcp;
mod source;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use weir_cc::coupled::sbd::FlowStatistics;
use weir_cc::history::{NumberError, SendHistory};
use weir_cc::pacer::Pacer;
use weir_cc::prober::Prober;
use weir_cc::{
    AllocatedRate, Controller, Decision, PathEvent, SendState, SendTime, SentPacket, StreamsConfig, Target,
};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::AbsSendTime;
use weir_wire::media::{MediaHeader, StampExtension};

use crate::climb::LayerClimb;
use crate::detection::DetectionSide;
use crate::guard::{Breakers, FeedbackGuard};
use crate::path_config::PathConfig;
use crate::rtcp_interval::RtcpInterval;
use crate::sources::StreamIdentity;
use crate::streams::SenderStreams;
use crate::timer::SenderTimer;

pub(crate) use packets::{DepartedPacket, OutgoingPacket, ReportedPacket};
pub(crate) use source::PacketSource;

/// Time for which the history waits for feedback on a packet.
const HISTORY_HORIZON: TimeDelta = TimeDelta::from_secs(5);

/// Phases of a sender, with the time of its start while it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Sending(SendTime),
    Paused(SendTime),
    Stopped,
}

impl Phase {
    fn started(self) -> Option<SendTime> {
        match self {
            Self::Sending(started) | Self::Paused(started) => Some(started),
            Self::New | Self::Stopped => None,
        }
    }
}

/// The sender of a path, with the packets of `S`.
#[derive(Debug)]
pub(crate) struct PathSender<S> {
    pub(crate) source: S,
    streams: SenderStreams,
    pacer: Pacer,
    prober: Prober,
    /// Padding up to the next layer of the source.
    climb: Option<LayerClimb>,
    /// Time at which the climb is polled next.
    climb_due: SendTime,
    /// Rate up to which padding fills.
    padding: DataRate,
    guard: FeedbackGuard,
    history: SendHistory,
    /// Statistics of the flow's packets, computed at the sender.
    statistics: Option<Box<FlowStatistics>>,
    controller: Box<dyn Controller>,
    config: PathConfig,
    rtcp_interval: RtcpInterval,
    rng: Pcg64Mcg,
    phase: Phase,
    report_due: SendTime,
    /// Number of the last report as records, modulo 256.
    reports: u8,
    controller_due: SendTime,
    /// Time at which the next packet may leave, with its timer ([`Self::next_departure`]).
    departure: Option<(SendTime, SenderTimer)>,
    target: Target,
    target_changed: bool,
    /// The streams as last reported to the controller.
    reported_streams: Option<StreamsConfig>,
}

impl<S: PacketSource> PathSender<S> {
    /// A sender that has not started yet, of streams of which the first is video. `seed` is that of the times of its
    /// reports.
    pub(crate) fn new(
        controller: Box<dyn Controller>,
        config: PathConfig,
        identities: &[StreamIdentity],
        source: S,
        seed: u64,
    ) -> Self {
        let target = controller.target();
        let mut history = SendHistory::new(HISTORY_HORIZON);
        history.set_ecn(config.ecn);
        let mut guard = FeedbackGuard::new(&config, &*controller, seed);
        if !identities.is_empty() {
            guard.add_breakers(Breakers::of(0, &config));
        }
        let detection = config.detection.and_then(|detection| detection.at(DetectionSide::Sender));
        Self {
            source,
            streams: SenderStreams::new(identities, config.names_packets_by_stream()),
            pacer: Pacer::new(config.pacer_lateness),
            prober: Prober::new(),
            climb: config.climbs.then(|| LayerClimb::new(config.limits.max())),
            climb_due: SendTime::MAX,
            padding: DataRate::ZERO,
            guard,
            history,
            statistics: detection.and_then(|config| FlowStatistics::new(config).ok()).map(Box::new),
            controller,
            rtcp_interval: config.rtcp_interval,
            config,
            rng: Pcg64Mcg::seed_from_u64(seed),
            phase: Phase::New,
            report_due: SendTime::MAX,
            reports: 0,
            controller_due: SendTime::MAX,
            departure: None,
            target,
            target_changed: true,
            reported_streams: None,
        }
    }

    /// Adds a stream, with circuit breakers if it is video. Returns its place.
    pub(crate) fn add_stream(&mut self, identity: StreamIdentity, is_video: bool) -> usize {
        let place = self.streams.add(identity);
        if is_video {
            self.guard.add_breakers(Breakers::of(place, &self.config));
        }
        place
    }

    /// Packets always wait from now on: they leave at the target rate.
    pub(crate) fn pace_at_target(&mut self) {
        self.config.always_waits = true;
    }

    /// Transport-wide feedback may name any of these streams of the transport, which other senders have besides.
    pub(crate) fn share_transport(&mut self, sources: &[u32]) {
        self.streams.share_transport(sources);
    }

    /// Place of the stream with the identifier `ssrc`.
    pub(crate) fn find_stream(&self, ssrc: u32) -> Option<usize> {
        self.streams.find(ssrc)
    }

    /// Starts the sender, unless it has started before. Returns whether it did.
    pub(crate) fn start(&mut self, now: SendTime) -> bool {
        if self.phase != Phase::New {
            return false;
        }
        self.phase = Phase::Sending(now);
        self.source.start(now);
        self.report_due = now + self.rtcp_interval.draw(&mut self.rng);
        self.report_streams(now);
        true
    }

    /// Stops the sender: no packet leaves any more, and waiting packets are dropped.
    pub(crate) fn stop(&mut self) {
        self.phase = Phase::Stopped;
        self.clear_queues();
    }

    /// No packets and no reports leave until [`Self::resume`]; waiting packets are dropped. Feedback on packets in
    /// flight is still taken, and the controller's timer goes on. Twice is harmless.
    pub(crate) fn pause(&mut self, now: SendTime) -> Option<Decision> {
        let Phase::Sending(started) = self.phase else { return None };
        self.phase = Phase::Paused(started);
        self.guard.rest();
        self.climb.iter_mut().for_each(LayerClimb::rest);
        self.report_due = SendTime::MAX;
        self.source.pause();
        self.clear_queues();
        self.on_event(now, PathEvent::Paused)
    }

    fn clear_queues(&mut self) {
        self.source.clear();
        self.prober.clear();
        self.departure = self.next_departure();
    }

    /// Packets leave again after a pause.
    pub(crate) fn resume(&mut self, now: SendTime) -> Option<Decision> {
        let Phase::Paused(started) = self.phase else { return None };
        self.phase = Phase::Sending(started);
        self.source.resume(now, started);
        self.report_due = now + self.rtcp_interval.draw(&mut self.rng);
        self.on_event(now, PathEvent::Resumed)
    }

    /// Time of the start, while the sender has started and not stopped.
    pub(crate) fn started(&self) -> Option<SendTime> {
        self.phase.started()
    }

    /// The next timer of the mechanism or of the source, and its time; of several at once the one that is served first.
    pub(crate) fn next_timer(&self) -> Option<(SendTime, SenderTimer)> {
        self.phase.started()?;
        let [first, second] = self.source.timers();
        let mut next = (self.controller_due.min(self.climb_due), SenderTimer::Controller);
        for timer in [
            first,
            second,
            self.departure.unwrap_or((SendTime::MAX, SenderTimer::Pacer)),
            (self.report_due, SenderTimer::Report),
            (self.guard.next_timeout().unwrap_or(SendTime::MAX), SenderTimer::Breaker),
        ] {
            if timer.0 < next.0 {
                next = timer;
            }
        }
        Some(next).filter(|&(due, _)| due < SendTime::MAX)
    }

    /// Calls the controller if its timer is due, and stops media if there was no feedback on it for too long.
    pub(crate) fn on_timeout(&mut self, now: SendTime) -> Option<Decision> {
        self.phase.started()?;
        if self.guard.on_timeout(now) {
            return self.pause(now);
        }
        if self.climb_due <= now {
            self.pace(now);
        }
        if self.controller_due > now {
            return None;
        }
        let decision = self.controller.on_timeout(now, &self.state());
        self.refresh(now);
        decision
    }

    /// Packets were queued, of which the first came into an empty queue if `was_empty` says so.
    pub(crate) fn on_queued(&mut self, now: SendTime, was_empty: bool) {
        if was_empty {
            self.pacer.on_queued(now);
        }
        self.start_probe();
        self.departure = self.next_departure();
    }

    /// The source has dropped waiting packets.
    pub(crate) fn on_dropped(&mut self) {
        self.departure = self.next_departure();
    }

    /// Removes old packets and late probes, before packets are polled.
    pub(crate) fn expire(&mut self, now: SendTime) {
        let (old, late, expired) =
            (self.history.expire(now), self.prober.expire(now), self.source.expire(now));
        // Old packets matter to a full window alone.
        if old && self.target.window.is_some() || late || expired {
            self.departure = self.next_departure();
        }
    }

    /// Whether packets may leave at all: the sender has started, and does not pause.
    pub(crate) fn is_sending(&self) -> bool {
        matches!(self.phase, Phase::Sending(_))
    }

    /// Whether a paced packet, media or padding, may leave now.
    pub(crate) fn may_send(&self, now: SendTime) -> bool {
        self.departure.is_some_and(|(due, _)| due <= now)
    }

    /// Sends `packet`.
    pub(crate) fn send(&mut self, now: SendTime, packet: &OutgoingPacket) -> DepartedPacket {
        if self.guard.skips_number(now, &self.history) {
            self.history.leave_out(now);
        }
        let number = self.history.next_number();
        let &OutgoingPacket { stream, payload, .. } = packet;
        let (ssrc, sequence, timestamp) = self.streams.on_sent(stream, number, packet.timestamp, payload);
        let header = MediaHeader {
            payload_type: packet.payload_type,
            marker: packet.marker,
            sequence,
            timestamp,
            ssrc,
            abs_send_time: AbsSendTime::from_nanos(now.nanos()),
            transport_sequence: number as u16,
            stamp: self.stamp(),
            frame_marking: packet.marking.filter(|_| self.config.marks_frames),
            original: packet.original,
        };
        let (header_bytes, counted) = self.config.counted.of(header.wire_len() as u64, u64::from(payload));
        let probe = if packet.paced { self.prober.current() } else { None };
        let probe_id = probe.map(|probe| probe.id);
        let sent = self.history.on_sent(now, header_bytes, counted, packet.padding, probe_id);
        self.guard.on_sent(now, stream, DataSize::from_bytes(u64::from(payload)));
        if packet.paced {
            // Pacer and prober count what the target counts.
            self.pacer.on_sent(now, counted);
            self.prober.on_sent(now, counted);
        }
        if let Some(climb) = self.climb.as_mut().filter(|_| !packet.padding) {
            climb.on_media(now, counted);
        }
        self.controller.on_sent(&sent, &self.state());
        self.controller_due = self.controller.next_timeout().unwrap_or(SendTime::MAX);
        self.departure = self.next_departure();
        DepartedPacket { header, probe, sent }
    }

    /// Records a packet that left at `at` without the mechanism's pacer.
    pub(crate) fn record(&mut self, at: SendTime, packet: &ReportedPacket) -> SentPacket {
        let number = self.history.next_number();
        let timestamp = (!packet.padding).then_some(packet.timestamp);
        self.streams.on_sent_as(packet.stream, packet.sequence, number, timestamp, packet.payload);
        let sizes = self.config.counted.of(u64::from(packet.header), u64::from(packet.payload));
        let sent = self.history.on_sent(at, sizes.0, sizes.1, packet.padding, packet.probe);
        if let Some(climb) = self.climb.as_mut().filter(|_| !packet.padding) {
            climb.on_media(at, sizes.1);
        }
        self.guard.on_sent(at, packet.stream, DataSize::from_bytes(u64::from(packet.payload)));
        self.controller.on_sent(&sent, &self.state());
        self.controller_due = self.controller.next_timeout().unwrap_or(SendTime::MAX);
        self.departure = self.next_departure();
        sent
    }

    /// Rate up to which padding fills what media leaves.
    pub(crate) fn padding(&self) -> DataRate {
        self.padding
    }

    /// The next packet has the transport-wide number `number`, which an embedder gives, or a later one.
    pub(crate) fn skip_to(&mut self, number: u16) -> Result<(), NumberError> {
        self.history.skip_to(number)
    }

    /// The number of the next packet, unless the embedder gives it.
    pub(crate) fn next_number(&self) -> u64 {
        self.history.next_number()
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    pub(crate) fn poll_rtcp(&mut self, now: SendTime, out: &mut [u8]) -> Option<usize> {
        self.phase.started()?;
        if self.report_due > now {
            return None;
        }
        let length = self.streams.write_sender_reports(now, out);
        if length.is_none() || !self.streams.has_more_reports() {
            self.report_due = now + self.rtcp_interval.draw(&mut self.rng);
        }
        length
    }

    /// Takes an event outside the controller. A change of route ends the present probe, and the controller gets no more
    /// feedback on packets sent before it.
    pub(crate) fn on_event(&mut self, now: SendTime, mut event: PathEvent) -> Option<Decision> {
        if let PathEvent::Limits(limits) = &mut event {
            *limits = self.guard.configure_limits(*limits);
            self.climb.iter_mut().for_each(|climb| climb.set_most(limits.max()));
        }
        if event == PathEvent::RouteChanged {
            self.history.change_route(now);
            self.prober.clear();
            self.statistics.iter_mut().for_each(|statistics| statistics.reset());
            self.guard.rest();
            self.climb.iter_mut().for_each(LayerClimb::rest);
        }
        let decision = self.controller.on_event(now, event);
        self.refresh(now);
        decision
    }

    /// Whether a stream has the same source identifier as a stream of `other`.
    pub(crate) fn shares_a_stream_with(&self, other: &Self) -> bool {
        other.streams.reported().any(|ssrc| self.streams.find(ssrc).is_some())
    }

    /// Applies an allocation by the coupler. Returns the rate that the controller took.
    pub(crate) fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        let taken = self.controller.apply_allocation(now, share);
        self.refresh(now);
        taken
    }

    /// The controller's present target.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// Whether the target changed since the last call.
    pub(crate) fn take_target_change(&mut self) -> bool {
        std::mem::take(&mut self.target_changed)
    }

    /// The controller, to observe its signals.
    pub(crate) fn controller(&self) -> &dyn Controller {
        &*self.controller
    }

    pub(crate) fn state(&self) -> SendState {
        SendState {
            in_flight: self.history.in_flight(),
            queued: self.source.queued(),
            application_limited: self.source.is_application_limited(&self.target)
                || self.climb.as_ref().is_some_and(LayerClimb::is_limited),
        }
    }

    /// Reports the streams to the controller, if they have changed since the last call.
    pub(crate) fn report_streams(&mut self, now: SendTime) {
        let streams = self.source.streams();
        if self.reported_streams.replace(streams) != Some(streams) {
            self.controller.on_streams(now, streams);
            self.refresh(now);
        }
    }

    /// Reports the changed streams of the source to the controller, and the target to the source.
    pub(crate) fn on_streams_changed(&mut self, now: SendTime) {
        self.report_streams(now);
        self.refresh(now);
    }

    /// Lets the prober begin a probe if a packet waits.
    fn start_probe(&mut self) {
        if let Some(payload) = self.source.next_payload() {
            self.prober.on_queued(DataSize::from_bytes(u64::from(payload)));
        }
    }

    /// Values of the controller for the header of the packet that leaves next.
    pub(crate) fn stamp(&self) -> Option<StampExtension> {
        self.controller.stamp().map(|stamp| StampExtension::new(stamp.rtt.nanos(), stamp.rate.bps()))
    }

    /// Applies the controller's present target to pacer, prober and source.
    fn refresh(&mut self, now: SendTime) {
        self.controller_due = self.controller.next_timeout().unwrap_or(SendTime::MAX);
        let target = self.controller.target();
        self.target_changed |= target != self.target;
        self.target = target;
        self.pace(now);
        while let Some(probe) = self.controller.poll_probe() {
            if self.config.foreign_pacer {
                self.source.on_probe(probe);
            } else {
                self.prober.push(now, probe);
            }
        }
        self.start_probe();
        self.departure = self.next_departure();
    }
}
