//! State of the sender around a controller.

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_wire::media::header_len;

use super::config::ChromiumConfig;
use super::rate_dropper::RateDropper;
use super::target::EncoderTarget;
use crate::config::{CountedBytes, MediaConfig};
use crate::encoder::Encoder;
use crate::packetiser::MediaPosition;
use crate::retransmissions::Retransmissions;

/// The sender around a controller.
#[derive(Debug)]
pub(crate) struct ChromiumSender {
    config: ChromiumConfig,
    encoder_target: EncoderTarget,
    /// The encoder's present target.
    rate: DataRate,
    dropper: RateDropper,
    retransmissions: Option<Retransmissions<MediaPosition>>,
    /// Resolution of the last frame.
    resolution: u8,
}

impl ChromiumSender {
    pub(crate) fn new(config: ChromiumConfig, media: &MediaConfig) -> Self {
        let below = match media.counted {
            CountedBytes::WithHeaders(below) => u64::from(below),
            CountedBytes::Payload => 0,
        };
        let headers = below + header_len(None, media.key_frame_requests.is_some()) as u64;
        let packet = headers + u64::from(media.payload_limit);
        Self {
            config,
            encoder_target: EncoderTarget::new(
                config.target,
                DataSize::from_bytes(packet),
                DataSize::from_bytes(headers),
            ),
            rate: media.limits.start(),
            dropper: RateDropper::default(),
            retransmissions: config.retransmissions.then(Retransmissions::new),
            resolution: 0,
        }
    }

    /// Rate for the encoder.
    pub(crate) fn encoder_rate(&self) -> DataRate {
        self.rate
    }

    /// The controller's target for video is `video`.
    pub(crate) fn on_target(&mut self, now: SendTime, video: DataRate, encoder: &Encoder) {
        self.rate = self.encoder_target.compute(now, video, encoder.max_rate(), encoder.frame_rate());
        self.dropper.set_rate(video);
    }

    pub(crate) fn on_rtt(&mut self, rtt: TimeDelta) {
        self.retransmissions.iter_mut().for_each(|packets| packets.on_round_trip(rtt));
    }

    /// Whether the frame that is due is left out; to be called once for each.
    pub(crate) fn drops_frame(&mut self, frame_rate: f64) -> bool {
        self.config.rate_drops && self.dropper.drops(frame_rate)
    }

    /// Takes an encoded frame.
    pub(crate) fn on_frame(&mut self, now: SendTime, size: DataSize, key: bool, encoder: &Encoder) {
        if std::mem::replace(&mut self.resolution, encoder.resolution()) != encoder.resolution() {
            self.encoder_target.on_layout_change();
        }
        self.encoder_target.on_frame(now, size);
        self.dropper.on_frame(size, key, encoder.frame_rate());
    }

    /// A packet of video of `size` was sent for the first time as `sequence`.
    pub(crate) fn on_media(&mut self, now: SendTime, size: DataSize, sequence: u16, position: MediaPosition) {
        self.encoder_target.on_media(now, size, 0);
        if let Some(retransmissions) = &mut self.retransmissions {
            retransmissions.on_sent(now, sequence, position.payload, position);
        }
    }

    /// A packet of `size` was sent again.
    pub(crate) fn on_retransmission(&mut self, now: SendTime, size: DataSize) {
        self.encoder_target.on_protection(now, size);
    }

    /// The receiver lacks these packets of the video.
    pub(crate) fn on_request(&mut self, now: SendTime, sequences: impl Iterator<Item = u16>, rate: DataRate) {
        if let Some(retransmissions) = &mut self.retransmissions {
            sequences.for_each(|sequence| _ = retransmissions.on_request(now, sequence, rate));
        }
    }

    /// Payload of the packet that is next to leave again.
    pub(crate) fn peek(&self) -> Option<u16> {
        self.retransmissions.as_ref().and_then(Retransmissions::peek)
    }

    /// The packet that leaves again now, with its sequence number.
    pub(crate) fn pop(&mut self, now: SendTime) -> Option<(u16, MediaPosition)> {
        self.retransmissions.as_mut().and_then(|retransmissions| retransmissions.pop(now))
    }

    /// Drops the packets that wait to leave again.
    pub(crate) fn clear(&mut self) {
        self.retransmissions.iter_mut().for_each(Retransmissions::clear);
    }
}
