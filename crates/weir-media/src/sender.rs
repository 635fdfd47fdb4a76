//! The sending end of a media flow. Frames go encoder → packetiser → pacer → network; while a probe is being sent, the
//! prober replaces the pacer. Feedback goes guard → history → controller, which steers encoder and pacer.

mod rtcp;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use weir_cc::coupled::sbd::FlowStatistics;
use weir_cc::history::SendHistory;
use weir_cc::pacer::Pacer;
use weir_cc::prober::Prober;
use weir_cc::{
    AllocatedRate, Controller, Decision, Pacing, PathEvent, SendState, SendTime, StreamsConfig, Target,
};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::AbsSendTime;
use weir_wire::media::{MediaHeader, StampExtension, header_len};

use crate::audio::AudioSource;
use crate::chromium::ChromiumSender;
use crate::config::{CountedBytes, MediaConfig};
use crate::content::{Content, MediaPacket, PADDING_PAYLOAD, SentFrame};
use crate::detection::DetectionSide;
use crate::encoder::Encoder;
use crate::frame_dropper::FrameDropper;
use crate::guard::FeedbackGuard;
use crate::packetiser::Packetiser;
use crate::rtcp_interval::RtcpInterval;
use crate::sources::{Kind, Sources};
use crate::streams::SenderStreams;
use crate::timer::SenderTimer;

/// Time for which the history waits for feedback on a packet.
const HISTORY_HORIZON: TimeDelta = TimeDelta::from_secs(5);

/// Frames up to this late are still captured; later ones are skipped.
const MOST_LATE_FRAMES: f64 = 2.0;

/// Seeds of the randomness of a [`MediaSender`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderSeeds {
    /// Seed of the encoder.
    pub encoder: u64,
    /// Seed of the times of its reports.
    pub rtcp: u64,
}

/// Phases of a flow, with the time of its start while it lasts.
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

/// The sending end of a media flow. A [`Session`](crate::Session) drives it; to drive it alone, at
/// [`Self::next_timeout`] or when RTCP comes, call [`Self::on_timeout`], [`Self::poll_frame`], [`Self::poll_packet`]
/// and [`Self::poll_rtcp`] until they have nothing.
#[derive(Debug)]
pub struct MediaSender {
    streams: SenderStreams,
    encoder: Encoder,
    audio: Option<AudioSource>,
    frame_dropper: FrameDropper,
    packetiser: Packetiser,
    pacer: Pacer,
    prober: Prober,
    guard: FeedbackGuard,
    history: SendHistory,
    /// Statistics of the flow's packets, computed at the sender.
    statistics: Option<Box<FlowStatistics>>,
    controller: Box<dyn Controller>,
    /// Parts between controller and encoder as in Chromium, and retransmissions.
    chromium: Option<Box<ChromiumSender>>,
    /// Whether video packets carry a frame marking.
    marks_frames: bool,
    counted: CountedBytes,
    rtcp_interval: RtcpInterval,
    rng: Pcg64Mcg,
    phase: Phase,
    frame_due: SendTime,
    report_due: SendTime,
    controller_due: SendTime,
    target: Target,
    target_changed: bool,
    /// The streams as last reported to the controller.
    streams_told: Option<StreamsConfig>,
}

impl MediaSender {
    /// A sender that has not started yet, whose video has the source identifier `ssrc`.
    pub fn new(controller: Box<dyn Controller>, config: MediaConfig, ssrc: u32, seeds: SenderSeeds) -> Self {
        let target = controller.target();
        let mut history = SendHistory::new(HISTORY_HORIZON);
        history.set_ecn(config.ecn);
        let detection = config.detection.and_then(|detection| detection.at(DetectionSide::Sender));
        Self {
            streams: SenderStreams::new(Sources::new(ssrc, &config)),
            encoder: Encoder::new(config.encoder, config.limits.start(), seeds.encoder),
            audio: config.audio.map(AudioSource::new),
            frame_dropper: FrameDropper::default(),
            packetiser: Packetiser::new(config.payload_limit),
            pacer: Pacer::new(config.pacer_lateness),
            prober: Prober::new(),
            guard: FeedbackGuard::new(&config, &*controller, seeds.rtcp),
            history,
            statistics: detection.and_then(|config| FlowStatistics::new(config).ok()).map(Box::new),
            controller,
            chromium: config.chromium.map(|chromium| Box::new(ChromiumSender::new(chromium, &config))),
            marks_frames: config.key_frame_requests.is_some(),
            counted: config.counted,
            rtcp_interval: RtcpInterval::of(&config),
            rng: Pcg64Mcg::seed_from_u64(seeds.rtcp),
            phase: Phase::New,
            frame_due: SendTime::MAX,
            report_due: SendTime::MAX,
            controller_due: SendTime::MAX,
            target,
            target_changed: true,
            streams_told: None,
        }
    }

    /// Starts the flow: the first frame is captured now. A sender starts once.
    pub fn start(&mut self, now: SendTime) {
        if self.phase != Phase::New {
            return;
        }
        self.phase = Phase::Sending(now);
        self.frame_due = now;
        self.audio.iter_mut().for_each(|audio| audio.start(now));
        self.report_due = now + self.rtcp_interval.draw(&mut self.rng);
        self.tell_streams(now);
    }

    /// Stops the flow: no packet leaves any more, and packets waiting in the pacer are dropped.
    pub fn stop(&mut self) {
        self.phase = Phase::Stopped;
        self.clear_queues();
    }

    /// The application stops sending on purpose: no frames, no packets, no reports; packets waiting in the pacer are
    /// dropped. Feedback on packets in flight is still taken, and the controller's timer goes on. Twice is harmless.
    pub fn pause(&mut self, now: SendTime) -> Option<Decision> {
        let Phase::Sending(started) = self.phase else { return None };
        self.phase = Phase::Paused(started);
        self.guard.rest();
        self.frame_due = SendTime::MAX;
        self.report_due = SendTime::MAX;
        self.audio.iter_mut().for_each(AudioSource::stop);
        self.clear_queues();
        self.on_event(now, PathEvent::Paused)
    }

    /// Drops the packets that wait, and the probes.
    fn clear_queues(&mut self) {
        self.packetiser.clear();
        self.prober.clear();
        self.chromium.iter_mut().for_each(|chromium| chromium.clear());
    }

    /// The application sends again: a frame is captured now, a key frame if the encoder makes any. Sequence numbers go
    /// on without a gap; RTP timestamps include the pause.
    pub fn resume(&mut self, now: SendTime) -> Option<Decision> {
        let Phase::Paused(started) = self.phase else { return None };
        self.phase = Phase::Sending(started);
        self.encoder.resume(now - started);
        self.frame_due = now;
        self.audio.iter_mut().for_each(|audio| audio.start(now));
        self.report_due = now + self.rtcp_interval.draw(&mut self.rng);
        self.on_event(now, PathEvent::Resumed)
    }

    /// Time of the next timer. Unset while stopped, and while paused if the controller has no timer.
    pub fn next_timeout(&self) -> Option<SendTime> {
        self.next_timer().map(|(due, _)| due)
    }

    /// The next timer and its time; of several at once the one that is served first.
    pub fn next_timer(&self) -> Option<(SendTime, SenderTimer)> {
        self.phase.started()?;
        let timers = [
            (self.controller_due, SenderTimer::Controller),
            (self.frame_due, SenderTimer::Capture),
            (self.audio.as_ref().map_or(SendTime::MAX, AudioSource::due), SenderTimer::Audio),
            self.departure_due().unwrap_or((SendTime::MAX, SenderTimer::Pacer)),
            (self.report_due, SenderTimer::Report),
            (self.guard.next_timeout().unwrap_or(SendTime::MAX), SenderTimer::Breaker),
        ];
        timers.into_iter().min_by_key(|&(due, _)| due).filter(|&(due, _)| due < SendTime::MAX)
    }

    /// Calls the controller if its timer is due, and stops media if there was no feedback on it for too long.
    pub fn on_timeout(&mut self, now: SendTime) -> Option<Decision> {
        self.phase.started()?;
        if self.guard.on_timeout(now) {
            return self.pause(now);
        }
        if self.controller_due > now {
            return None;
        }
        let decision = self.controller.on_timeout(now, &self.state());
        self.refresh(now);
        decision
    }

    /// Captures the next frame if it is due; call until `None`. After a delay of more than two frames the missed frames
    /// are skipped: frames, and the times of audio, go on from now. Numbers count captured frames, RTP timestamps the
    /// time that has passed.
    pub fn poll_frame(&mut self, now: SendTime) -> Option<SentFrame> {
        let started = self.phase.started().filter(|_| self.frame_due <= now)?;
        if now - self.frame_due > TimeDelta::from_secs_f64(MOST_LATE_FRAMES / self.encoder.frame_rate()) {
            self.encoder.go_on(now - started);
        }
        let greedy = self.encoder.is_greedy();
        let elapsed = if greedy { now - started } else { self.encoder.next_capture() };
        let mut unwanted = self.frame_dropper.drops(&self.target, self.encoder.min_rate());
        if let Some(chromium) = &mut self.chromium {
            unwanted |= chromium.drops_frame(self.encoder.frame_rate());
        }
        if (unwanted || self.is_behind()) && self.encoder.skip() {
            self.frame_due = started + self.encoder.next_capture();
            self.tell_streams(now);
            let number = self.encoder.frames();
            return Some(SentFrame { number, packets: 0, size: DataSize::ZERO, key: false });
        }
        let rate =
            self.chromium.as_ref().map_or_else(|| self.video_rate(), |chromium| chromium.encoder_rate());
        let frame = self.encoder.capture(rate);
        if let Some(chromium) = &mut self.chromium {
            chromium.on_frame(now, frame.size, frame.key, &self.encoder);
        }
        if self.packetiser.is_empty() {
            self.pacer.on_queued(now);
        }
        let packets = self.packetiser.push(&frame, Kind::Video.ticks(elapsed));
        self.frame_due = started + self.encoder.next_capture();
        if greedy && self.packets_wait() {
            self.frame_due = SendTime::MAX; // until the packet has left
        }
        self.tell_prober();
        self.tell_streams(now);
        Some(SentFrame { number: frame.number, packets, size: frame.size, key: frame.key })
    }

    /// The next packet that may leave now; call until `None`.
    pub fn poll_packet(&mut self, now: SendTime) -> Option<MediaPacket> {
        let started = self.phase.started()?;
        self.history.expire(now);
        self.prober.expire(now);
        if let Some((recorded, payload)) = self.audio.as_mut().and_then(|audio| audio.poll(now)) {
            let timestamp = Kind::Audio.ticks(recorded - started);
            return Some(self.emit(now, Content::Audio(timestamp, payload)));
        }
        self.departure_due().filter(|&(due, _)| due <= now)?;
        let repeated = self.chromium.as_mut().and_then(|chromium| chromium.pop(now));
        let content = match repeated {
            Some((sequence, position)) => Content::Retransmission(sequence, position),
            None => self.packetiser.pop().map_or(Content::Padding, Content::Video),
        };
        if self.frame_due == SendTime::MAX && self.packetiser.is_empty() {
            self.frame_due = now;
        }
        Some(self.emit(now, content))
    }

    /// Payload of the packet that is next to leave.
    fn peek(&self) -> Option<u16> {
        self.chromium.as_ref().and_then(|chromium| chromium.peek()).or_else(|| self.packetiser.peek())
    }

    /// The stream of `content`. Padding travels with retransmissions where there are any.
    fn kind_of(&self, content: Content) -> Kind {
        match content {
            Content::Padding
                if self.chromium.as_ref().is_some_and(|chromium| chromium.has_retransmissions()) =>
            {
                Kind::Retransmission
            }
            content => content.kind(),
        }
    }

    /// Sends a packet with `content`.
    fn emit(&mut self, now: SendTime, content: Content) -> MediaPacket {
        if self.guard.skips_number(now, &self.history) {
            self.history.leave_out(now);
        }
        let (number, payload) = (self.history.next_number(), content.payload());
        let kind = self.kind_of(content);
        let (ssrc, sequence, timestamp) = self.streams.on_sent(kind, number, content.timestamp(), payload);
        let header = MediaHeader {
            payload_type: content.payload_type(),
            marker: content.is_last_of_frame(),
            sequence,
            timestamp,
            ssrc,
            abs_send_time: AbsSendTime::from_nanos(now.nanos()),
            transport_sequence: number as u16,
            stamp: self.stamp(),
            frame_marking: content.marking().filter(|_| self.marks_frames),
            original: content.original(),
        };
        let bytes = DataSize::from_bytes(u64::from(payload));
        let (header_bytes, counted) = self.counted.of(&header, payload);
        let (paced, padding) = (!content.is_audio(), matches!(content, Content::Padding));
        let probe = if paced { self.prober.current() } else { None };
        let sent = self.history.on_sent(now, header_bytes, counted, padding, probe.map(|probe| probe.id));
        self.guard.on_sent(now, kind, bytes);
        if paced {
            // Pacer and prober count what the target counts.
            self.pacer.on_sent(now, counted);
            self.prober.on_sent(now, counted);
        }
        if let Some(chromium) = &mut self.chromium {
            let size = DataSize::from_bytes(header.wire_len() as u64) + bytes;
            match content {
                Content::Video(position) => chromium.on_media(now, size, sequence, position),
                Content::Retransmission(..) => chromium.on_retransmission(now, size),
                Content::Audio(..) | Content::Padding => {}
            }
        }
        self.controller.on_sent(&sent, &self.state());
        self.controller_due = self.controller.next_timeout().unwrap_or(SendTime::MAX);
        MediaPacket { header, payload, frame: content.frame(), audio: content.is_audio(), probe }
    }

    /// Writes the RTCP packet that is due into `out` and returns its length; call until `None`.
    pub fn poll_rtcp(&mut self, now: SendTime, out: &mut [u8]) -> Option<usize> {
        self.phase.started()?;
        if self.report_due > now {
            return None;
        }
        self.report_due = now + self.rtcp_interval.draw(&mut self.rng);
        self.streams.write_sender_reports(now, out)
    }

    /// Takes an event outside the controller. A change of route ends the present probe, and the controller gets no more
    /// feedback on packets sent before it.
    pub fn on_event(&mut self, now: SendTime, mut event: PathEvent) -> Option<Decision> {
        if let PathEvent::Limits(limits) = &mut event {
            *limits = self.guard.configure_limits(*limits);
        }
        if event == PathEvent::RouteChanged {
            self.history.change_route(now);
            self.prober.clear();
            self.statistics.iter_mut().for_each(|statistics| statistics.reset());
            self.guard.rest();
        }
        let decision = self.controller.on_event(now, event);
        self.refresh(now);
        decision
    }

    /// Whether a stream of this flow has the same source identifier as a stream of `other`.
    pub(crate) fn shares_a_source_with(&self, other: &Self) -> bool {
        let own = self.streams.sources();
        other.streams.sources().iter().any(|(_, ssrc)| own.kind(ssrc).is_some())
    }

    /// Applies an allocation by the coupler. Returns the rate that the controller took.
    pub fn apply_allocation(&mut self, now: SendTime, share: AllocatedRate) -> DataRate {
        let taken = self.controller.apply_allocation(now, share);
        self.refresh(now);
        taken
    }

    /// Payload bytes waiting in front of the pacer.
    pub fn queued(&self) -> DataSize {
        self.packetiser.queued()
    }

    /// The controller's present target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Whether the flow has started, and not stopped.
    pub fn has_started(&self) -> bool {
        self.phase.started().is_some()
    }

    /// Whether the target changed since the last call.
    pub fn take_target_change(&mut self) -> bool {
        std::mem::take(&mut self.target_changed)
    }

    /// The controller, to observe its signals.
    pub fn controller(&self) -> &dyn Controller {
        &*self.controller
    }

    fn state(&self) -> SendState {
        SendState {
            in_flight: self.history.in_flight(),
            queued: self.packetiser.queued(),
            application_limited: self.encoder.max_rate() < self.video_rate(),
        }
    }

    /// Whether a window or exact pacing, and not the encoder, decides when a packet leaves.
    fn packets_wait(&self) -> bool {
        self.target.window.is_some() || matches!(self.target.pacing, Pacing::Exact(_))
    }

    /// Whether the queue in front of the pacer is above the encoder's limit.
    fn is_behind(&self) -> bool {
        let limit = self.encoder.skip_above();
        limit.is_some_and(|limit| self.packetiser.queued() / self.target.media_rate > limit)
    }

    /// Share of the target that is left for video.
    fn video_rate(&self) -> DataRate {
        self.target.media_rate.saturating_sub(self.audio_rate())
    }

    fn audio_rate(&self) -> DataRate {
        self.audio.as_ref().map_or(DataRate::ZERO, AudioSource::rate)
    }

    /// Time at which the next packet, media or padding, may leave, or `None` if none waits. A probe has its own pace.
    /// With a full window packets wait for feedback, or until the history gives up the oldest packet.
    fn departure_due(&self) -> Option<(SendTime, SenderTimer)> {
        if matches!(self.phase, Phase::Paused(_)) {
            return None;
        }
        let paced = |due| (due, SenderTimer::Pacer);
        let probing = self.prober.next_departure();
        let Some(payload) = self.peek() else {
            let padding = DataSize::from_bytes(u64::from(PADDING_PAYLOAD));
            return probing.or_else(|| self.pacer.next_padding(padding)).map(paced);
        };
        if let Some(window) = self.target.window {
            let in_flight = self.history.in_flight();
            let size = DataSize::from_bytes(
                (header_len(self.stamp(), self.marks_frames) + usize::from(payload)) as u64,
            );
            // One packet may always leave, however small the window.
            if !in_flight.is_zero() && in_flight + size > window {
                return self.history.next_expiry().map(|due| (due, SenderTimer::Window));
            }
        }
        Some(paced(probing.unwrap_or_else(|| self.pacer.next_departure())))
    }

    /// Reports the streams to the controller, if they have changed since the last call.
    fn tell_streams(&mut self, now: SendTime) {
        let usable = self.encoder.max_rate() + self.audio_rate();
        let streams = StreamsConfig { usable, screen: self.encoder.is_screen() };
        if self.streams_told.replace(streams) != Some(streams) {
            self.controller.on_streams(now, streams);
            self.refresh(now);
        }
    }

    /// Lets the prober begin a probe if a packet waits.
    fn tell_prober(&mut self) {
        if let Some(payload) = self.peek() {
            self.prober.on_queued(DataSize::from_bytes(u64::from(payload)));
        }
    }

    fn stamp(&self) -> Option<StampExtension> {
        self.controller.stamp().map(|stamp| StampExtension::new(stamp.rtt.nanos(), stamp.rate.bps()))
    }

    fn refresh(&mut self, now: SendTime) {
        self.controller_due = self.controller.next_timeout().unwrap_or(SendTime::MAX);
        let target = self.controller.target();
        match &mut self.chromium {
            None => self.pacer.apply(now, &target),
            Some(chromium) => self.pacer.apply(now, &chromium.paced(&target, self.packetiser.queued())),
        }
        self.target_changed |= target != self.target;
        self.target = target;
        let video = self.video_rate();
        if let Some(chromium) = &mut self.chromium {
            chromium.on_target(now, video, &self.encoder);
        }
        while let Some(probe) = self.controller.poll_probe() {
            self.prober.push(now, probe);
        }
        self.tell_prober();
    }
}
