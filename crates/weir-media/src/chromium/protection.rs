//! Share of the rate that retransmissions and redundancy take.

use weir_cc::SendTime;
use weir_units::DataSize;

use super::window::RateWindow;

/// Greatest share that is taken from the target.
const MOST: f64 = 0.5;

/// Share of retransmissions and redundancy among all that was sent of a video in the last second, at most half. libwebrtc's
/// `FecControllerDefault` assumes that the next second needs as much.
#[derive(Clone, Debug, Default)]
pub struct ProtectionShare {
    media: RateWindow,
    protection: RateWindow,
}

impl ProtectionShare {
    /// Counts an RTP packet of media.
    pub fn on_media(&mut self, now: SendTime, size: DataSize) {
        self.media.add(now, size.bytes());
    }

    /// Counts an RTP packet with a retransmission or redundancy.
    pub fn on_protection(&mut self, now: SendTime, size: DataSize) {
        self.protection.add(now, size.bytes());
    }

    /// The share, from 0 to a half.
    pub fn share(&mut self, now: SendTime) -> f64 {
        let Some(protection) = self.protection.per_second(now) else { return 0.0 };
        let media = self.media.per_second(now).unwrap_or(0.0);
        (protection / (protection + media).max(1.0)).min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_the_last_second_and_at_most_half() {
        let mut share = ProtectionShare::default();
        let at = SendTime::from_millis;
        let size = DataSize::from_bytes(1000);
        (0..100).for_each(|n| share.on_media(at(10 * n), size));
        assert_eq!(share.share(at(990)), 0.0);
        (0..25).for_each(|n| share.on_protection(at(4 * n), size));
        // 25 packets in 991 ms beside 100.
        assert!((share.share(at(990)) - 0.2).abs() < 1e-9);
        (0..400).for_each(|_| share.on_protection(at(995), size));
        assert_eq!(share.share(at(995)), 0.5);
        assert_eq!(share.share(at(3000)), 0.0);
    }
}
