//! The encoder's rate while earlier frames wait in the pacer.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::controller::RateLimits;

/// Least share of the sending rate that the encoder keeps, whatever the backlog.
const MIN_SHARE: f64 = 0.5;

/// The encoder's rate with a backlog: `sending` less the rate at which `queued` leaves within `drain`. It is at least
/// half of `sending`, and within the limits. If packets left at exactly the rate of the encoder, a backlog would
/// never drain, and each large frame would add to it.
pub(crate) fn media_rate(
    limits: &RateLimits,
    sending: DataRate,
    queued: DataSize,
    drain: TimeDelta,
) -> DataRate {
    let room = sending.saturating_sub(queued / drain);
    limits.clamp(room.max(sending.scale(MIN_SHARE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoder_leaves_room_for_what_waits() {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(50), kbps(300), kbps(2500)).unwrap();
        let media = |rate, bytes| {
            media_rate(&limits, kbps(rate), DataSize::from_bytes(bytes), TimeDelta::from_millis(500))
        };
        assert_eq!(media(1000, 0), kbps(1000));
        // 6250 bytes in 0.5 s are 100 kbit/s.
        assert_eq!(media(1000, 6250), kbps(900));
        assert_eq!(media(1000, 1_000_000), kbps(500));
        assert_eq!(media(60, 1_000_000), kbps(50), "the minimum");
    }
}
