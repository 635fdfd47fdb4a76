//! The least window, which permits the lowest rate.

use crate::controller::RateLimits;

/// Bytes in flight at `rate` (bit/s of payload) over `seconds`, where `payload_share` of a packet is payload.
pub(crate) fn window_of(rate: f64, seconds: f64, payload_share: f64) -> f64 {
    rate / 8.0 * seconds / payload_share
}

/// Lower bound of every window. With a smaller one the packets that the pacer sends at the lowest rate, times
/// `headroom`, would not fit, and the backlog at the sender would never drain.
pub(crate) fn least_window(limits: &RateLimits, headroom: f64, seconds: f64, payload_share: f64) -> f64 {
    window_of(limits.min().bps_f64() * headroom, seconds, payload_share)
}

#[cfg(test)]
mod tests {
    use weir_units::DataRate;

    use super::*;

    #[test]
    fn the_lowest_rate_fits_with_headroom() {
        let kbps = DataRate::from_kbps;
        let limits = RateLimits::new(kbps(80), kbps(300), kbps(2500)).unwrap();
        // 80 kbit/s are 10 bytes/ms: 1000 of payload in 100 ms, 1250 on the wire at a share of 0.8, and half as much again.
        assert_eq!(least_window(&limits, 1.5, 0.1, 0.8), 1875.0);
        assert_eq!(window_of(80e3, 0.1, 1.0), 1000.0);
    }
}
