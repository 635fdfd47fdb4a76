//! The encoder's target out of the controller's.

use weir_cc::SendTime;
use weir_units::{DataRate, DataSize};

use super::adjuster::BitrateAdjuster;
use super::headers::HeaderRates;
use super::protection::ProtectionShare;

/// Parts between the controller's target and the encoder's, each of which may be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct EncoderTargetParts {
    /// Headers and payload descriptors are taken off.
    pub headers: bool,
    /// The target is lowered by the encoder's overshoot ([`BitrateAdjuster`]).
    pub adjuster: bool,
    /// The share of retransmissions and redundancy is taken off ([`ProtectionShare`]).
    pub protection: bool,
}

impl EncoderTargetParts {
    /// All parts.
    pub const ALL: Self = Self { headers: true, adjuster: true, protection: true };
    /// No part: the encoder's target is the controller's.
    pub const NONE: Self = Self { headers: false, adjuster: false, protection: false };
}

/// Follows what a sender of one video stream sends and encodes, and computes the encoder's target from the controller's.
#[derive(Clone, Debug)]
pub struct EncoderTarget {
    parts: EncoderTargetParts,
    headers: HeaderRates,
    protection: ProtectionShare,
    adjuster: BitrateAdjuster,
}

impl EncoderTarget {
    /// A sender of packets of at most `packet` bytes at the IP layer, with `headers` outside of their payload.
    pub fn new(parts: EncoderTargetParts, packet: DataSize, headers: DataSize) -> Self {
        Self {
            parts,
            headers: HeaderRates::new(packet, headers),
            protection: ProtectionShare::default(),
            adjuster: BitrateAdjuster::default(),
        }
    }

    /// Counts an RTP packet of media with `descriptor` bytes of payload that the encoder did not make.
    pub fn on_media(&mut self, now: SendTime, size: DataSize, descriptor: u64) {
        self.headers.on_packet(now, descriptor);
        self.protection.on_media(now, size);
    }

    /// Counts an RTP packet with a retransmission or redundancy.
    pub fn on_protection(&mut self, now: SendTime, size: DataSize) {
        self.protection.on_protection(now, size);
    }

    /// Takes an encoded frame.
    pub fn on_frame(&mut self, now: SendTime, size: DataSize) {
        self.adjuster.on_frame(now, size);
    }

    /// The encoder was set up anew, as for another resolution.
    pub fn on_layout_change(&mut self) {
        self.adjuster.reset();
    }

    /// The encoder's target where the controller's is `target`: whole kbit/s before the adjustment, as libwebrtc's allocator of
    /// VP8 gives them. libwebrtc computes it with each target of the controller and at least once a second.
    pub fn compute(&mut self, now: SendTime, target: DataRate, most: DataRate, frame_rate: f64) -> DataRate {
        let mut media = target;
        if self.parts.headers {
            media = media.saturating_sub(self.headers.of(target));
        }
        if self.parts.protection {
            media = media.scale(1.0 - self.protection.share(now));
        }
        if self.parts.headers {
            media = media.saturating_sub(self.headers.descriptors(now, media));
        }
        let media = DataRate::from_kbps(media.min(most).bps() / 1000);
        if self.parts.adjuster { self.adjuster.adjust(now, media, frame_rate) } else { media }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_takes_its_share() {
        let target = |parts: EncoderTargetParts| {
            let mut sender = EncoderTarget::new(parts, DataSize::from_bytes(1228), DataSize::from_bytes(52));
            let at = |n: i64| SendTime::from_millis(10 * n);
            (0..100).for_each(|n| sender.on_media(at(n), DataSize::from_bytes(1000), 6));
            (0..100).for_each(|n| sender.on_protection(at(n), DataSize::from_bytes(250)));
            let most = DataRate::from_kbps(2000);
            sender.compute(at(99), DataRate::from_kbps(1000), most, 30.0).bps() / 1000
        };
        let none = EncoderTargetParts::NONE;
        assert_eq!(target(none), 1000);
        // 1000 - 42.4 - 4.8.
        assert_eq!(target(EncoderTargetParts { headers: true, ..none }), 952);
        assert_eq!(target(EncoderTargetParts { adjuster: true, ..none }), 833);
        assert_eq!(target(EncoderTargetParts { protection: true, ..none }), 800);
        // (1000 - 42.4) · 0.8 - 4.8 = 761 kbit/s, divided by 1.2.
        assert_eq!(target(EncoderTargetParts::ALL), 634);
    }

    #[test]
    fn the_encoders_highest_rate_bounds_the_target() {
        let mut sender = EncoderTarget::new(
            EncoderTargetParts::NONE,
            DataSize::from_bytes(1228),
            DataSize::from_bytes(52),
        );
        let most = DataRate::from_kbps(800);
        assert_eq!(sender.compute(SendTime::ZERO, DataRate::from_kbps(1000), most, 30.0), most);
    }
}
