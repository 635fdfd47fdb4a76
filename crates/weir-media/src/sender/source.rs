//! Simulated media in front of a sender's pacer: an encoder, audio beside it, and the packets that wait.

use weir_cc::{SendTime, StreamsConfig, Target};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::media::MediaHeader;
use weir_wire::rtcp::Nack;

use crate::audio::AudioSource;
use crate::chromium::ChromiumSender;
use crate::climb::NextLayer;
use crate::config::MediaConfig;
use crate::content::{Content, PADDING_PAYLOAD, SentFrame};
use crate::encoder::Encoder;
use crate::frame_dropper::FrameDropper;
use crate::packetiser::Packetiser;
use crate::path::PacketSource;
use crate::sources::Kind;
use crate::timer::SenderTimer;

/// Frames up to this late are still captured; later ones are skipped.
const MOST_LATE_FRAMES: f64 = 2.0;

/// Simulated video and audio, with the queue of video packets.
#[derive(Debug)]
pub(super) struct MediaSource {
    encoder: Encoder,
    audio: Option<AudioSource>,
    frame_dropper: FrameDropper,
    packetiser: Packetiser,
    /// Parts between controller and encoder as in Chromium, and retransmissions.
    chromium: Option<Box<ChromiumSender>>,
    frame_due: SendTime,
}

/// A frame that was captured or skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct CapturedFrame {
    pub(super) frame: SentFrame,
    /// Whether the queue was empty before, if the frame was queued.
    pub(super) was_empty: Option<bool>,
}

impl MediaSource {
    pub(super) fn new(config: &MediaConfig, seed: u64) -> Self {
        Self {
            encoder: Encoder::new(config.encoder, config.limits.start(), seed),
            audio: config.audio.map(AudioSource::new),
            frame_dropper: FrameDropper::default(),
            packetiser: Packetiser::new(config.payload_limit),
            chromium: config.chromium.map(|chromium| Box::new(ChromiumSender::new(chromium, config))),
            frame_due: SendTime::MAX,
        }
    }

    /// Whether a frame is due.
    #[inline]
    pub(super) fn is_frame_due(&self, now: SendTime) -> bool {
        self.frame_due <= now
    }

    /// Captures or skips the frame that is due, in a flow that started at `started`. `packets_wait` says whether packets
    /// wait for more than the encoder, and `holds_layer` whether its next layer stays off.
    pub(super) fn capture_frame(
        &mut self,
        now: SendTime,
        started: SendTime,
        target: &Target,
        packets_wait: bool,
        holds_layer: bool,
    ) -> CapturedFrame {
        if now - self.frame_due > TimeDelta::from_secs_f64(MOST_LATE_FRAMES / self.encoder.frame_rate()) {
            self.encoder.go_on(now - started);
        }
        let greedy = self.encoder.is_greedy();
        let elapsed = if greedy { now - started } else { self.encoder.next_capture() };
        let mut unwanted = self.frame_dropper.drops(target, self.encoder.min_rate());
        if let Some(chromium) = &mut self.chromium {
            unwanted |= chromium.drops_frame(self.encoder.frame_rate());
        }
        let rate = match self.encoder.next_layer() {
            Some(next) if holds_layer => {
                self.encoder_rate(target).min(next.needed.saturating_sub(DataRate::from_bps(1)))
            }
            _ => self.encoder_rate(target),
        };
        if (unwanted || self.is_behind(target) || self.encoder.drops(rate)) && self.encoder.skip() {
            self.frame_due = started + self.encoder.next_capture();
            let number = self.encoder.frames();
            let frame = SentFrame { number, packets: 0, size: DataSize::ZERO, key: false };
            return CapturedFrame { frame, was_empty: None };
        }
        let frame = self.encoder.capture(rate);
        if let Some(chromium) = &mut self.chromium {
            chromium.on_frame(now, frame.size, frame.key, &self.encoder);
        }
        let was_empty = Some(self.packetiser.is_empty());
        let packets = self.packetiser.push(&frame, Kind::Video.ticks(elapsed));
        self.frame_due = started + self.encoder.next_capture();
        if greedy && packets_wait {
            self.frame_due = SendTime::MAX; // until the packet has left
        }
        let frame = SentFrame { number: frame.number, packets, size: frame.size, key: frame.key };
        CapturedFrame { frame, was_empty }
    }

    /// Recording time and payload of the audio packet that is due, if one is due.
    pub(super) fn poll_audio(&mut self, now: SendTime) -> Option<(SendTime, u16)> {
        self.audio.as_mut().and_then(|audio| audio.poll(now))
    }

    /// The packet that leaves now: a retransmission, video, or padding.
    pub(super) fn pop(&mut self, now: SendTime) -> Content {
        let repeated = self.chromium.as_mut().and_then(|chromium| chromium.pop(now));
        let content = match repeated {
            Some((sequence, position)) => Content::Retransmission(sequence, position),
            None => self.packetiser.pop().map_or(Content::Padding, Content::Video),
        };
        if self.frame_due == SendTime::MAX && self.packetiser.is_empty() {
            self.frame_due = now;
        }
        content
    }

    /// A packet with `content` left.
    pub(super) fn on_sent(&mut self, now: SendTime, content: Content, header: &MediaHeader) {
        let Some(chromium) = &mut self.chromium else { return };
        let size = DataSize::from_bytes(header.wire_len() as u64 + u64::from(content.payload()));
        match content {
            Content::Video(position) => chromium.on_media(now, size, header.sequence, position),
            Content::Retransmission(..) => chromium.on_retransmission(now, size),
            Content::Audio(..) | Content::Padding => {}
        }
    }

    /// Whether the queue in front of the pacer is above the encoder's limit.
    fn is_behind(&self, target: &Target) -> bool {
        let limit = self.encoder.skip_above();
        limit.is_some_and(|limit| self.packetiser.queued() / target.media_rate > limit)
    }

    /// Target for the encoder.
    fn encoder_rate(&self, target: &Target) -> DataRate {
        self.chromium.as_ref().map_or_else(|| self.video_rate(target), |chromium| chromium.encoder_rate())
    }

    /// Share of the target that is left for video.
    fn video_rate(&self, target: &Target) -> DataRate {
        target.media_rate.saturating_sub(self.audio_rate())
    }

    fn audio_rate(&self) -> DataRate {
        self.audio.as_ref().map_or(DataRate::ZERO, AudioSource::rate)
    }
}

impl PacketSource for MediaSource {
    fn start(&mut self, now: SendTime) {
        self.frame_due = now;
        self.audio.iter_mut().for_each(|audio| audio.start(now));
    }

    fn pause(&mut self) {
        self.frame_due = SendTime::MAX;
        self.audio.iter_mut().for_each(AudioSource::stop);
    }

    fn resume(&mut self, now: SendTime, started: SendTime) {
        self.encoder.resume(now - started);
        self.start(now);
    }

    fn clear(&mut self) {
        self.packetiser.clear();
        self.chromium.iter_mut().for_each(|chromium| chromium.clear());
    }

    #[inline]
    fn timers(&self) -> [(SendTime, SenderTimer); 2] {
        let audio = self.audio.as_ref().map_or(SendTime::MAX, AudioSource::due);
        [(self.frame_due, SenderTimer::Capture), (audio, SenderTimer::Audio)]
    }

    #[inline]
    fn next_payload(&self) -> Option<u16> {
        self.chromium.as_ref().and_then(|chromium| chromium.peek()).or_else(|| self.packetiser.peek())
    }

    fn padding_payload(&self) -> Option<u16> {
        Some(PADDING_PAYLOAD)
    }

    fn queued(&self) -> DataSize {
        self.packetiser.queued()
    }

    fn is_application_limited(&self, target: &Target) -> bool {
        self.encoder.max_rate() < self.video_rate(target)
    }

    fn next_layer(&self, target: &Target) -> Option<NextLayer> {
        let next = self.encoder.next_layer()?;
        let video = match self.chromium.as_ref().map(|chromium| chromium.encoder_rate()) {
            // The encoder gets a share of the target for video.
            Some(rate) if !rate.is_zero() => {
                next.needed.scale((self.video_rate(target).bps_f64() / rate.bps_f64()).max(1.0))
            }
            _ => next.needed,
        };
        Some(NextLayer { needed: video + self.audio_rate(), ..next })
    }

    fn streams(&self) -> StreamsConfig {
        let usable = self.encoder.max_rate() + self.audio_rate();
        StreamsConfig { usable, screen: self.encoder.is_screen() }
    }

    fn on_target(&mut self, now: SendTime, target: &Target, _held: Option<DataRate>) {
        let video = self.video_rate(target);
        if let Some(chromium) = &mut self.chromium {
            chromium.on_target(now, video, &self.encoder);
        }
    }

    fn on_round_trip(&mut self, rtt: TimeDelta) {
        self.chromium.iter_mut().for_each(|chromium| chromium.on_rtt(rtt));
    }

    fn on_key_frame_request(&mut self, stream: usize) {
        if stream == 0 {
            self.encoder.request_key_frame();
        }
    }

    fn on_packet_request(&mut self, now: SendTime, stream: usize, request: &Nack<'_>, target: &Target) {
        if let Some(chromium) = self.chromium.as_deref_mut().filter(|_| stream == 0) {
            chromium.on_request(now, request.sequences(), target.sending_rate);
        }
    }
}
